/* kn_fd_search.c: all minimal dependencies X -> A, exact or with a budget of exceptions (kn_fd.h).
 *
 * For one A the left sides that fail are closed downwards: fewer rows agree on more columns, and the exceptions (g3)
 * only fall. So the minimal left sides that hold are the minimal sets with a column outside each maximal one that
 * fails: minimal hitting sets of complements (kn_fd_sets.c). The maximal failures are not known beforehand; the
 * search guesses and checks:
 *   1. find failures that are cheap to find;
 *   2. for each A compute the left sides that no known failure rules out;
 *   3. check them on the data, small ones first (kn_fd_validate.c). What holds is minimal, since every smaller
 *      left side is inside a known failure. What does not is a failure, and leads to larger ones: back to 2.
 * A left side is checked once. Only the two borders are walked, never what lies between: a search level by level (TANE:
 * Huhtala, Kärkkäinen, Porkka, Toivonen 1999) checks everything that fails.
 *
 * Where failures come from:
 *   exact (kn_fd_agree.c): two rows that agree in exactly the columns D refute every X inside D for every A outside;
 *   with a budget (kn_fd_levels.c): small left sides are all checked, where that is little work, which may find everything;
 *   then (kn_fd_advance.c) no pair refutes anything, but what fails and what is still larger and fails can be
 *   guessed from some of the rows, and only the largest is checked.
 *
 * Cost: the rounds × (failures × candidates of each A), and the checks. Memory: failures and candidates, 8 to 24
 * bytes each.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "kn_alloc.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_fd.h"
#include "kn_parallel.h"

#define WHAT "searching dependencies"

/* Candidates checked before the next look at the clock and at what was refuted. */
enum { EXACT_BATCH = 8192, BUDGET_BATCH = 4096 };

bool kn_fd_search_failed(kn_fd_search *search, int right, uint64_t left)
{
    bool changed;
    if (!kn_fd_maximal_add(&search->failing[right], search->ctx, left, &changed)) return false;
    search->changed[right] |= changed;
    return true;
}

bool kn_fd_search_found(kn_fd_search *search, int right, uint64_t left, int64_t removed)
{
    if (!KN_GROW(search->ctx, &search->results, &search->capacity, search->count + 1)) return false;
    search->results[search->count++] = (kn_fd_result){left, right, removed};
    return kn_fd_list_add(&search->valid[right], search->ctx, left);
}

void kn_fd_search_free(kn_fd_search *search)
{
    for (int a = 0; a < KN_FD_COLUMNS; a++) {
        kn_fd_list_free(&search->failing[a]);
        kn_fd_list_free(&search->open[a]);
        kn_fd_list_free(&search->valid[a]);
    }
    kn_fd_pool_free(&search->agree);
    kn_free(search->results);
}

/* ---- Step 2 ---- */

static kn_status induce_column(kn_fd_search *s, int a, kn_error *err)
{
    kn_fd_list *open = &s->open[a];
    size_t      kept = 0;
    if (!s->changed[a]) return KN_OK;
    s->changed[a] = false;
    open->count = 0;
    KN_TRY(kn_fd_hitting(open, &s->longer[a], s->clock, &s->failing[a], kn_fd_others(s, a), s->max_left, err));
    for (size_t i = 0; i < open->count; i++)
        if (!kn_fd_list_has(&s->valid[a], open->sets[i])) open->sets[kept++] = open->sets[i];
    open->count = kept;
    return KN_OK;
}

static kn_status induce_columns(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    (void)worker;
    for (int64_t a = begin; a < end; a++) KN_TRY(induce_column(arg, (int)a, err));
    return KN_OK;
}

/* ---- Step 3 ---- */

static size_t count_pairs(const kn_fd_candidate *c, size_t count)
{
    size_t pairs = 0;
    for (size_t i = 0; i < count; i++) pairs += (size_t)__builtin_popcountll(c[i].right);
    return pairs;
}

int64_t *kn_fd_candidates_reserve(kn_context *ctx, kn_fd_candidate *candidates, size_t count)
{
    kn_fd_candidate *c = candidates;
    size_t           pairs = 0;
    int64_t         *removed = kn_alloc_array(ctx, count_pairs(c, count) + 1, sizeof *removed);
    for (size_t i = 0; i < count && removed; i++) {
        c[i].removed = removed + pairs;
        pairs += (size_t)__builtin_popcountll(c[i].right);
    }
    return removed;
}

static bool take(kn_fd_search *s, const kn_fd_candidate *c, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        int at = 0;
        for (uint64_t right = c[i].right; right; right &= right - 1, at++) {
            int a = __builtin_ctzll(right);
            s->checked++;
            if (!(c[i].broken & kn_fd_bit(a))) {
                if (!kn_fd_search_found(s, a, c[i].left, s->budget > 0 ? c[i].removed[at] : 0)) return false;
                continue;
            }
            s->refuted++;
            if (s->budget > 0 && !kn_fd_search_failed(s, a, c[i].left)) return false;
        }
    }
    return true;
}

/* Checks one batch and learns from what it refutes; *open: how many dependencies of it were not found to hold. */
static kn_status check_batch(kn_fd_search *s, kn_fd_candidate *c, size_t count, size_t *open, kn_error *err)
{
    kn_fd_effort effort = {.budget = s->budget, .agree = s->budget > 0 ? NULL : &s->agree};
    size_t       asked = count_pairs(c, count), found = s->count, left = 0;
    bool         done = false;
    if (s->budget > 0) KN_TRY(kn_fd_advance(s, c, count, err));
    if (s->late) return KN_OK;
    for (size_t i = 0; i < count; i++)
        if (c[i].right) c[left++] = c[i];
    int64_t  *removed = s->budget > 0 ? kn_fd_candidates_reserve(s->ctx, c, left) : NULL;
    kn_status st = s->budget > 0 && !removed ? kn_fail_memory(err, s->ctx, WHAT) : KN_OK;
    if (st == KN_OK) st = kn_fd_validate(&done, s->data, s->clock, c, left, &effort, err);
    s->late = !done;
    if (done && !take(s, c, left)) st = kn_fail_memory(err, s->ctx, WHAT);
    *open = asked - (s->count - found);
    kn_free(removed);
    return st;
}

/* The lists of left sides become what was not checked of the candidates, which are all that were open. */
static void keep_unchecked(kn_fd_search *s, const kn_fd_candidate *c, size_t count)
{
    for (int a = 0; a < s->data->columns; a++) s->open[a].count = 0;
    for (size_t i = 0; i < count; i++)
        for (uint64_t right = c[i].right; right; right &= right - 1) {
            kn_fd_list *open = &s->open[__builtin_ctzll(right)];
            open->sets[open->count++] = c[i].left; /* it was there before */
        }
    for (int a = 0; a < s->data->columns; a++) kn_fd_list_sort(&s->valid[a]);
}

/* *again: something was refuted. */
static kn_status check(kn_fd_search *s, bool *again, kn_error *err)
{
    kn_fd_candidate *c = NULL;
    size_t           count = 0, at = 0, most = s->budget > 0 ? BUDGET_BATCH : EXACT_BATCH;
    *again = false;
    kn_status st = kn_fd_candidates_make(&c, &count, s->data, s->open, err);
    while (at < count && st == KN_OK) {
        size_t n = count - at < most ? count - at : most, refuted = 0;
        st = check_batch(s, c + at, n, &refuted, err);
        if (st != KN_OK || s->late) break;
        kn_progress_add(s->ctx, n);
        at += n;
        *again |= refuted > 0;
        if (refuted * 8 > n) break; /* what was learned saves more than it costs to compute candidates again */
    }
    if (st == KN_OK) keep_unchecked(s, c + at, count - at);
    kn_free(c);
    return st;
}

/* What is yet to be found has a candidate inside it, or is one: it is no smaller than the smallest. */
static void note_whole(kn_fd_search *s)
{
    int least = s->max_left + 1;
    for (int a = 0; a < s->data->columns; a++)
        for (size_t i = 0; i < s->open[a].count; i++) {
            int size = __builtin_popcountll(s->open[a].sets[i]);
            if (size < least) least = size;
        }
    if (least - 1 > s->whole) s->whole = least - 1;
}

kn_status kn_fd_search_run(kn_fd_search *s, kn_error *err)
{
    for (int a = 0; a < s->data->columns; a++)
        /* No column is constant; nearly constant ones are handled by the first step. */
        if (!kn_fd_search_failed(s, a, 0)) return kn_fail_memory(err, s->ctx, WHAT);
    KN_TRY(s->budget > 0 ? kn_fd_advance_begin(s, err) : kn_fd_agree_begin(s, err));
    if (s->budget > 0) KN_TRY(kn_fd_levels(s, err));
    for (bool again = !s->settled; again && !s->late;) {
        if (s->budget == 0) KN_TRY(kn_fd_agree_spread(s, err));
        KN_TRY(kn_parallel_for(s->ctx, s->data->columns, 1, induce_columns, s, err));
        s->rounds++;
        s->late = kn_fd_clock_passed(s->clock);
        if (kn_cancelled(s->ctx)) return kn_fail_cancelled(err);
        if (s->late) break;
        note_whole(s);
        KN_TRY(check(s, &again, err));
    }
    if (!s->late) s->whole = s->max_left;
    for (int a = 0; a < s->data->columns; a++) s->cut |= s->longer[a];
    return KN_OK;
}
