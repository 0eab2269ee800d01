/* kn_samarati.c: Samarati's binary search on the height (2001; docs/errata.md 3).
 *
 * Where good is upward closed, a height has a good node if a lower one has. The nodes of the middle height are
 * counted from the rows and tested in lexicographic order until one is good; then only lower heights remain,
 * otherwise only higher ones. The answer is a good node of minimal height, the lexicographically lowest of that
 * height.
 *
 * Where the requirements are not monotone that halving would be wrong: heights are then searched one by one from
 * below, which gives the same kind of answer with more tests.
 *
 * Cost: one scan per tested node; at most log2(height) + 1 heights where good is upward closed.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "kn_alloc.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_fulldomain_methods.h"
#include "kn_search.h"

/* One height: until a node is good. */
static kn_status look_at_height(kn_search *s, int height, int *levels, kn_verdict *verdict, bool *found, kn_error *err)
{
    *found = false;
    bool more = kn_lattice_first(&s->lattice, height, levels);
    while (more) {
        KN_TRY(kn_search_check(s, err));
        if (s->late) return KN_OK;
        kn_classes *set = NULL;
        KN_TRY(kn_search_scan(s, &set, s->all, levels, err));
        kn_status st = kn_search_test(s, verdict, set, s->all, levels, err);
        kn_classes_free(set);
        if (st != KN_OK) return st;
        s->result->counters.candidates++;
        kn_progress_add(s->ctx, 1);
        if (verdict->good) {
            *found = true;
            return KN_OK;
        }
        more = kn_lattice_next(&s->lattice, levels);
    }
    return KN_OK;
}

static kn_status halve(kn_search *s, int *levels, int *best, kn_verdict *best_verdict, bool *any, kn_error *err)
{
    bool   monotone = kn_evaluator_monotone(s->evaluator);
    size_t bytes = (size_t)s->problem->quasi_count * sizeof *levels;
    int    low = 0, high = s->lattice.height, found_at = -1;
    /* The top's height is only searched if no lower one was good. */
    while (low < high || found_at != low) {
        int        middle = monotone ? low + (high - low) / 2 : low;
        bool       found;
        kn_verdict verdict;
        KN_TRY(look_at_height(s, middle, levels, &verdict, &found, err));
        if (s->late) return KN_OK;
        if (found) {
            high = found_at = middle;
            memcpy(best, levels, bytes);
            *best_verdict = verdict;
            *any = true;
        } else {
            low = middle + 1;
            if (low > high) return KN_OK; /* the top is not good */
        }
    }
    return KN_OK;
}

static kn_status run(kn_search *s, int *levels, int *best, kn_error *err)
{
    kn_verdict verdict = {0};
    bool       any = false;
    KN_TRY(halve(s, levels, best, &verdict, &any, err));
    if (!any) return KN_OK;
    KN_TRY(kn_search_offer(s, best, &verdict, err));
    return kn_search_solution(s, best, &verdict, err);
}

kn_status kn_samarati_search(kn_fulldomain_result *result, kn_context *ctx, const kn_fulldomain_problem *problem,
                             kn_error *err)
{
    kn_search s;
    int      *levels = kn_alloc_array_zero(ctx, 2 * ((size_t)problem->quasi_count + 1), sizeof *levels);
    kn_status st = kn_search_begin(&s, ctx, problem, result, err);
    if (st == KN_OK && !levels) st = kn_fail_memory(err, ctx, "searching the lattice");
    if (st == KN_OK) {
        kn_progress_begin(ctx, "searching", "nodes", 0);
        st = run(&s, levels, levels + problem->quasi_count + 1, err);
        kn_progress_end(ctx);
        result->complete = !s.late;
    }
    kn_free(levels);
    kn_search_end(&s);
    return st;
}
