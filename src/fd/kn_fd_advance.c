/* kn_fd_advance.c: failures of the search with a budget: left sides with too many exceptions, made larger (kn_fd.h).
 *
 * A candidate that fails is one failure; the sets above it that fail too are worth far more, since everything inside
 * them need never be checked. Which those are is guessed from some of the rows, for about a sixteenth of the price:
 * candidates that seem to fail are extended by columns, those with few values first, several at once, as long as the
 * set seems to fail. Only the end of such a chain is checked on all rows, and the set before it should the end turn
 * out to hold. So full checks are spent on sets near the two borders. Guesses decide what is checked and when, never
 * the result: a failure is one of all rows, and what seems to hold is checked by the caller.
 *
 * The chains of all right sides advance together, with one pass over the rows for each step.
 *
 * Cost: for each step of the longest chain about a sixteenth of a check of all chains, and two checks. Memory: 40
 * bytes for each chain, at most CHAINS for each right side.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_fd.h"

#define WHAT "searching dependencies"

enum {
    CHAINS = 256 /* for each right side at a time */
};

/* ---- The start ---- */

/* Which right sides are (nearly) constant, and which do all other columns together not determine? Both are finished.
 * */
kn_status kn_fd_advance_begin(kn_fd_search *search, kn_error *err)
{
    const kn_fd_data *d = search->data;
    kn_fd_candidate   all[KN_FD_COLUMNS];
    size_t            count = 0;
    bool              done = true;
    kn_fd_effort      effort = {.budget = search->budget};
    for (int a = 0; a < d->columns; a++) {
        if (d->constant_error[a] > search->budget) {
            if (d->columns > 1)
                all[count++] = (kn_fd_candidate){.left = kn_fd_others(search, a), .right = kn_fd_bit(a)};
            continue;
        }
        if (!kn_fd_search_found(search, a, 0, d->constant_error[a])) return kn_fail_memory(err, search->ctx, WHAT);
        if (!kn_fd_search_failed(search, a, kn_fd_others(search, a))) return kn_fail_memory(err, search->ctx, WHAT);
    }
    KN_TRY(kn_fd_validate(&done, d, search->clock, all, count, &effort, err));
    search->late = !done;
    search->checked += (int64_t)count;
    for (size_t i = 0; i < count && done; i++) {
        int a = __builtin_ctzll(all[i].right);
        if (!all[i].broken) continue;
        search->refuted++;
        if (!kn_fd_search_failed(search, a, all[i].left)) return kn_fail_memory(err, search->ctx, WHAT);
    }
    return KN_OK;
}

/* ---- Chains ---- */

/* A left side that seems to fail and grows. */
typedef struct chain {
    uint64_t left;
    uint64_t before; /* what `left` was before its last growth */
    uint64_t tried;  /* left and the columns that were refused, or are yet to come in this step */
    uint64_t step;   /* the columns to be added next; 0: the chain has ended */
    int      right;
    int      stride; /* how many columns are added at once */
} chain;

static bool inside_any(const kn_fd_list *sets, uint64_t set)
{
    for (size_t i = 0; i < sets->count; i++)
        if (!(set & ~sets->sets[i])) return true;
    return false;
}

static bool holds_any(const kn_fd_list *sets, uint64_t set)
{
    for (size_t i = 0; i < sets->count; i++)
        if (!(sets->sets[i] & ~set)) return true;
    return false;
}

/* The next columns: up to `stride` of those not tried, from the fewest values to the most. */
static void next_step(chain *c, uint64_t others)
{
    c->step = 0;
    uint64_t rest = others & ~c->tried;
    for (int i = 0; i < c->stride && rest; i++) {
        uint64_t column = kn_fd_bit(63 - __builtin_clzll(rest));
        c->step |= column;
        rest &= ~column;
    }
}

static void accept(chain *c)
{
    c->before = c->left;
    c->left |= c->step;
    c->tried |= c->step;
}

static void refuse(chain *c)
{
    if (c->stride == 1)
        c->tried |= c->step;
    else
        c->stride /= 2;
}

/* Goes on with what is known without looking at the data; false: the chain has ended. */
static bool prepare(const kn_fd_search *s, chain *c)
{
    uint64_t others = kn_fd_others(s, c->right);
    for (;;) {
        next_step(c, others);
        if (!c->step) return false;
        if (holds_any(&s->valid[c->right], c->left | c->step))
            refuse(c);
        else if (inside_any(&s->failing[c->right], c->left | c->step))
            accept(c);
        else
            return true;
    }
}

/* Takes up to CHAINS of the candidates of each right side that seem to fail. */
static size_t begin_chains(const kn_fd_search *s, chain *chains, const kn_fd_candidate *c, size_t n)
{
    int    taken[KN_FD_COLUMNS] = {0};
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        for (uint64_t right = c[i].broken; right; right &= right - 1) {
            int a = __builtin_ctzll(right);
            if (taken[a]++ >= CHAINS) continue;
            int rest = __builtin_popcountll(kn_fd_others(s, a) & ~c[i].left);
            chains[count++] = (chain){.left = c[i].left,
                                      .before = c[i].left,
                                      .tried = c[i].left,
                                      .right = a,
                                      .stride = rest > 1 ? rest / 2 : 1};
        }
    return count;
}

/* Asks for a left side, once. The lists have space for CHAINS. */
static void ask(kn_fd_list *list, uint64_t set)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->sets[i] == set) return;
    list->sets[list->count++] = set;
}

/* One candidate for each left side that a chain wants to know of. */
static size_t gather(const kn_fd_search *s, chain *chains, size_t count, kn_fd_list *left)
{
    size_t asked = 0;
    for (int a = 0; a < s->data->columns; a++) left[a].count = 0;
    for (size_t i = 0; i < count; i++) {
        chain *c = &chains[i];
        if (!prepare(s, c)) continue;
        ask(&left[c->right], c->left | c->step);
        asked++;
    }
    return asked;
}

/* The ends of the chains that are not known to fail. */
static size_t gather_ends(const kn_fd_search *s, const chain *chains, size_t count, kn_fd_list *left)
{
    size_t asked = 0;
    for (int a = 0; a < s->data->columns; a++) left[a].count = 0;
    for (size_t i = 0; i < count; i++) {
        const chain *c = &chains[i];
        if (inside_any(&s->failing[c->right], c->left)) continue;
        ask(&left[c->right], c->left);
        asked++;
    }
    return asked;
}

static bool broke(const kn_fd_candidate *found, size_t count, uint64_t left, int right)
{
    for (size_t i = 0; i < count; i++)
        if (found[i].left == left) return found[i].broken & kn_fd_bit(right);
    return false;
}

static kn_status step_chains(kn_fd_search *s, chain *chains, size_t count, kn_fd_list *left, bool *more, kn_error *err)
{
    kn_fd_candidate *asked = NULL;
    size_t           n = 0;
    bool             done = false;
    kn_fd_effort     effort = {.budget = s->budget, .guess = true};
    *more = gather(s, chains, count, left) > 0;
    if (!*more) return KN_OK;
    kn_status st = kn_fd_candidates_make(&asked, &n, s->data, left, err);
    if (st == KN_OK) st = kn_fd_validate(&done, s->data, s->clock, asked, n, &effort, err);
    s->late = !done;
    *more = st == KN_OK && done;
    for (size_t i = 0; i < count && *more; i++) {
        chain *c = &chains[i];
        if (!c->step) continue;
        if (broke(asked, n, c->left | c->step, c->right))
            accept(c);
        else
            refuse(c);
    }
    kn_free(asked);
    return st;
}

/* Checks the ends of the chains on all rows. A chain whose end holds goes back by one step. */
static kn_status check_ends(kn_fd_search *s, chain *chains, size_t count, kn_fd_list *left, kn_error *err)
{
    kn_fd_candidate *asked = NULL;
    size_t           n = 0;
    bool             done = false;
    kn_fd_effort     effort = {.budget = s->budget};
    if (s->late || gather_ends(s, chains, count, left) == 0) return KN_OK;
    kn_status st = kn_fd_candidates_make(&asked, &n, s->data, left, err);
    if (st == KN_OK) st = kn_fd_validate(&done, s->data, s->clock, asked, n, &effort, err);
    s->late = !done;
    for (size_t i = 0; i < n && st == KN_OK && done; i++) {
        s->checked += __builtin_popcountll(asked[i].right);
        s->refuted += __builtin_popcountll(asked[i].broken);
        for (uint64_t right = asked[i].broken; right && st == KN_OK; right &= right - 1)
            if (!kn_fd_search_failed(s, __builtin_ctzll(right), asked[i].left)) st = kn_fail_memory(err, s->ctx, WHAT);
    }
    for (size_t i = 0; i < count && st == KN_OK && done; i++)
        if (!inside_any(&s->failing[chains[i].right], chains[i].left)) chains[i].left = chains[i].before;
    kn_free(asked);
    return st;
}

/* ---- All of it ---- */

static kn_status run_chains(kn_fd_search *s, chain *chains, size_t count, kn_error *err)
{
    kn_fd_list left[KN_FD_COLUMNS] = {{0}};
    bool       more = true;
    kn_status  st = KN_OK;
    for (int a = 0; a < s->data->columns && st == KN_OK; a++) {
        left[a].sets = kn_alloc_array(s->ctx, CHAINS, sizeof *left[a].sets);
        if (!left[a].sets) st = kn_fail_memory(err, s->ctx, WHAT);
    }
    for (int a = 0; a < s->data->columns && st == KN_OK; a++) kn_fd_list_sort(&s->valid[a]);
    while (more && st == KN_OK) st = step_chains(s, chains, count, left, &more, err);
    for (int i = 0; i < 2 && st == KN_OK; i++) st = check_ends(s, chains, count, left, err);
    for (int a = 0; a < KN_FD_COLUMNS; a++) kn_fd_list_free(&left[a]);
    return st;
}

/* Of the candidates that seem to fail, a chain has shown most to. Those of the other chains are to be checked; those
 * that had no chain wait for the next round. */
static void sort_out(kn_fd_search *s, kn_fd_candidate *c, size_t n)
{
    int taken[KN_FD_COLUMNS] = {0};
    for (size_t i = 0; i < n; i++)
        for (uint64_t right = c[i].broken; right; right &= right - 1) {
            int  a = __builtin_ctzll(right);
            bool chained = taken[a]++ < CHAINS, fails = inside_any(&s->failing[a], c[i].left);
            if (chained && !fails) continue;
            c[i].right &= ~kn_fd_bit(a);
            s->changed[a] = true;
        }
}

kn_status kn_fd_advance(kn_fd_search *search, kn_fd_candidate *candidates, size_t count, kn_error *err)
{
    kn_fd_search *s = search;
    size_t        most = (size_t)s->data->columns * CHAINS;
    bool          done = false;
    kn_fd_effort  effort = {.budget = s->budget, .guess = true};
    KN_TRY(kn_fd_validate(&done, s->data, s->clock, candidates, count, &effort, err));
    s->late = !done;
    if (s->late) return KN_OK;
    chain    *chains = kn_alloc_array(s->ctx, most + 1, sizeof *chains);
    kn_status st = chains ? KN_OK : kn_fail_memory(err, s->ctx, WHAT);
    if (st == KN_OK) st = run_chains(s, chains, begin_chains(s, chains, candidates, count), err);
    if (st == KN_OK) sort_out(s, candidates, count);
    kn_free(chains);
    return st;
}
