/* kn_datafly.c: the greedy baseline (Sweeney 1997): generalize the attribute with the most distinct values, one level
 * at a time, until the remaining rows may be suppressed.
 *
 * One scan at the bottom, then roll-ups along one path to the top: at most height + 1 nodes. Of attributes with
 * equally many distinct values the first is generalized. If the requirements are not monotone a good node off the
 * path is missed.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_alloc.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_fulldomain_methods.h"
#include "kn_search.h"

/* The attribute to generalize next; -1: all are at the top. */
static int most_distinct(const kn_search *s, const int *levels)
{
    int      found = -1;
    uint32_t most = 0;
    for (int q = 0; q < s->problem->quasi_count; q++) {
        if (levels[q] == s->lattice.heights[q]) continue;
        uint32_t distinct = kn_evaluator_distinct(s->evaluator, q, levels[q]);
        if (found >= 0 && distinct <= most) continue;
        found = q;
        most = distinct;
    }
    return found;
}

static kn_status climb(kn_search *s, int *levels, kn_classes **set, kn_error *err)
{
    kn_verdict verdict;
    KN_TRY(kn_search_scan(s, set, s->all, levels, err));
    for (;;) {
        s->result->counters.candidates++;
        KN_TRY(kn_search_test(s, &verdict, *set, s->all, levels, err));
        kn_progress_add(s->ctx, 1);
        KN_TRY(kn_search_check(s, err));
        if (verdict.good) {
            KN_TRY(kn_search_offer(s, levels, &verdict, err));
            return kn_search_solution(s, levels, &verdict, err);
        }
        int q = most_distinct(s, levels);
        if (q < 0 || s->late) return KN_OK;
        levels[q]++;
        kn_classes *coarser = NULL;
        KN_TRY(kn_search_rollup(s, &coarser, *set, s->all, levels, err));
        kn_classes_free(*set);
        *set = coarser;
    }
}

kn_status kn_datafly_search(kn_fulldomain_result *result, kn_context *ctx, const kn_fulldomain_problem *problem,
                            kn_error *err)
{
    kn_search   s;
    kn_classes *set = NULL;
    int        *levels = kn_alloc_array_zero(ctx, (size_t)problem->quasi_count + 1, sizeof *levels);
    kn_status   st = kn_search_begin(&s, ctx, problem, result, err);
    if (st == KN_OK && !levels) st = kn_fail_memory(err, ctx, "searching the lattice");
    if (st == KN_OK) {
        kn_progress_begin(ctx, "searching", "nodes", (uint64_t)s.lattice.height + 1);
        st = climb(&s, levels, &set, err);
        kn_progress_end(ctx);
        result->complete = !s.late || result->found;
    }
    kn_classes_free(set);
    kn_free(levels);
    kn_search_end(&s);
    return st;
}
