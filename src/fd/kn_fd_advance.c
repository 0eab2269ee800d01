/* kn_fd_advance.c: failures of the search with a budget: left sides with too many exceptions, made larger (kn_fd.h).
 *
 * A candidate that fails is one failure; the sets above it that fail too are worth far more, since everything inside
 * them need never be looked at. So some of the refuted candidates are extended: columns are added, those with few
 * values first, several at once, as long as the set fails on a part of the rows already. A set that is far from
 * holding is seen to fail early, and one that is near the border costs no more than the part. What is not extended
 * far enough comes back as a candidate.
 *
 * The chains of all right sides go on together, one check for each step of all.
 */
#include <string.h>

#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_fd.h"

enum {
    CHAINS = 64, /* for each right side at a time       */
    PART = 2     /* one row in so many is looked at     */
};

static kn_status no_memory(const kn_fd_search *s, kn_error *err)
{
    return kn_fail_memory(err, s->ctx, "searching dependencies");
}

/* ---- The start ---- */

/* Which right sides are (nearly) constant, and which do all other columns together not determine? Both are done with.
 * */
kn_status kn_fd_advance_begin(kn_fd_search *search, kn_error *err)
{
    const kn_fd_data *d = search->data;
    kn_fd_candidate   all[KN_FD_COLUMNS];
    size_t            count = 0;
    bool              done = true;
    kn_fd_effort      effort = {.budget = search->budget, .part = 1};
    for (int a = 0; a < d->columns; a++) {
        if (d->constant_error[a] > search->budget) {
            if (d->columns > 1)
                all[count++] = (kn_fd_candidate){.left = kn_fd_others(search, a), .right = kn_fd_bit(a)};
            continue;
        }
        if (!kn_fd_search_found(search, a, 0, d->constant_error[a])) return no_memory(search, err);
        if (!kn_fd_search_failed(search, a, kn_fd_others(search, a))) return no_memory(search, err);
    }
    KN_TRY(kn_fd_validate(&done, d, search->clock, all, count, &effort, err));
    search->late = !done;
    search->checked += (int64_t)count;
    for (size_t i = 0; i < count && done; i++) {
        int a = __builtin_ctzll(all[i].right);
        if (!all[i].broken) continue;
        search->refuted++;
        if (!kn_fd_search_failed(search, a, all[i].left)) return no_memory(search, err);
    }
    return KN_OK;
}

/* ---- Chains ---- */

/* A failing left side that grows. */
typedef struct chain {
    uint64_t left;
    uint64_t tried; /* left and the columns that were refused, or are yet to come in this step */
    uint64_t step;  /* the columns to be added next; 0: the chain has ended */
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

/* Takes up to CHAINS of the refuted candidates of each right side. Every refuted one is a failure. */
static kn_status begin_chains(kn_fd_search *s, chain *chains, size_t *count, const kn_fd_candidate *c, size_t n,
                              kn_error *err)
{
    int taken[KN_FD_COLUMNS] = {0};
    *count = 0;
    for (size_t i = 0; i < n; i++)
        for (uint64_t right = c[i].broken; right; right &= right - 1) {
            int a = __builtin_ctzll(right);
            if (!kn_fd_search_failed(s, a, c[i].left)) return no_memory(s, err);
            if (taken[a]++ >= CHAINS) continue;
            int rest = __builtin_popcountll(kn_fd_others(s, a) & ~c[i].left);
            chains[(*count)++] =
                (chain){.left = c[i].left, .tried = c[i].left, .right = a, .stride = rest > 1 ? rest / 2 : 1};
        }
    return KN_OK;
}

/* One candidate for each left side that a chain wants to know of. */
static size_t gather(const kn_fd_search *s, chain *chains, size_t count, kn_fd_list *left)
{
    size_t asked = 0;
    for (int a = 0; a < s->data->columns; a++) left[a].count = 0;
    for (size_t i = 0; i < count; i++) {
        chain *c = &chains[i];
        if (!prepare(s, c)) continue;
        kn_fd_list *list = &left[c->right];
        bool        there = false;
        for (size_t j = 0; j < list->count; j++) there |= list->sets[j] == (c->left | c->step);
        if (!there) list->sets[list->count++] = c->left | c->step;
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
    kn_fd_effort     effort = {.budget = s->budget, .part = PART};
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
        if (!kn_fd_search_failed(s, c->right, c->left)) st = no_memory(s, err);
    }
    for (size_t i = 0; i < n && *more; i++) {
        s->checked += __builtin_popcountll(asked[i].right);
        s->refuted += __builtin_popcountll(asked[i].broken);
    }
    kn_free(asked);
    return st;
}

kn_status kn_fd_advance(kn_fd_search *search, const kn_fd_candidate *refuted, size_t count, kn_error *err)
{
    kn_fd_search *s = search;
    size_t        most = (size_t)s->data->columns * CHAINS, chains = 0;
    chain        *chain_list = kn_alloc_array(s->ctx, most + 1, sizeof *chain_list);
    kn_fd_list    left[KN_FD_COLUMNS] = {{0}};
    bool          more = true;
    kn_status     st = chain_list ? begin_chains(s, chain_list, &chains, refuted, count, err) : no_memory(s, err);
    for (int a = 0; a < s->data->columns && st == KN_OK; a++) {
        left[a].sets = kn_alloc_array(s->ctx, CHAINS, sizeof *left[a].sets);
        if (!left[a].sets) st = no_memory(s, err);
    }
    for (int a = 0; a < s->data->columns && st == KN_OK; a++) kn_fd_list_sort(&s->valid[a]);
    while (more && st == KN_OK) st = step_chains(s, chain_list, chains, left, &more, err);
    for (int a = 0; a < KN_FD_COLUMNS; a++) kn_fd_list_free(&left[a]);
    kn_free(chain_list);
    return st;
}
