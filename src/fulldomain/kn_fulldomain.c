/* kn_fulldomain.c: full-domain generalization: chooses the method. One file per method: kn_samarati.c, kn_bottom_up.c,
 * kn_incognito.c, kn_datafly.c, kn_optimal.c, kn_heuristic.c. kn_fulldomain_plan.c makes the plan.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_fulldomain.h"

#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_fulldomain_methods.h"
#include "kn_lattice.h"

int kn_standing_compare(kn_standing a, kn_standing b, int quasi_count)
{
    int order = kn_quotient_compare(a.loss, b.loss);
    if (order != 0) return order;
    if (a.suppressed != b.suppressed) return a.suppressed < b.suppressed ? -1 : 1;
    return kn_levels_compare_by_height(a.levels, b.levels, quasi_count);
}

/* The bounds of the optimal search and the heuristic assume that classes are suppressed as a whole. */
static bool bounds_hold(const kn_fulldomain_problem *p)
{
    return !p->requirements->linked || p->objective->cells;
}

static kn_status run_method(kn_fulldomain_result *r, kn_context *ctx, const kn_fulldomain_problem *p, kn_error *err)
{
    switch (p->method) {
    case KN_METHOD_OPTIMAL:
        return bounds_hold(p) ? kn_optimal_search(r, ctx, p, err) : kn_bottom_up_search(r, ctx, p, err);
    case KN_METHOD_SAMARATI: return kn_samarati_search(r, ctx, p, err);
    case KN_METHOD_BOTTOM_UP:
    case KN_METHOD_BOTTOM_UP_ROLLUP: return kn_bottom_up_search(r, ctx, p, err);
    case KN_METHOD_INCOGNITO:
    case KN_METHOD_INCOGNITO_SUPERROOTS:
    case KN_METHOD_INCOGNITO_CUBE: return kn_incognito_search(r, ctx, p, err);
    case KN_METHOD_HEURISTIC:
        if (bounds_hold(p)) return kn_heuristic_search(r, ctx, p, err);
        return kn_fail(err, KN_USAGE,
                       "%s cannot optimize %s where the rows of a person stay linked; choose another metric, "
                       "such as lm, or use the method %s",
                       kn_method_name(p->method), kn_metric_name(p->objective->metric),
                       kn_method_name(KN_METHOD_OPTIMAL));
    case KN_METHOD_DATAFLY: return kn_datafly_search(r, ctx, p, err);
    default: return kn_fail(err, KN_USAGE, "this method does not search a lattice");
    }
}

static kn_status run_whole(kn_fulldomain_result *r, kn_context *ctx, const kn_fulldomain_problem *p, kn_error *err)
{
    r->counters.lattice = 1;
    for (int q = 0; q < p->quasi_count; q++) r->counters.lattice *= kn_hierarchy_levels(p->hierarchies[q]);
    return run_method(r, ctx, p, err);
}

static kn_status run_bounded(kn_fulldomain_result *r, kn_context *ctx, const kn_fulldomain_problem *p, kn_error *err)
{
    kn_bounded b;
    KN_TRY(kn_bounded_make(&b, ctx, p, err));
    kn_status st = run_whole(r, ctx, &b.problem, err);
    if (st == KN_OK) kn_bounded_translate(r, p->low);
    kn_bounded_free(&b);
    return st;
}

kn_status kn_fulldomain_search(kn_fulldomain_result **out, kn_context *ctx, const kn_fulldomain_problem *problem,
                               kn_error *err)
{
    *out = NULL;
    if (problem->quasi_count < 1) return kn_fail(err, KN_USAGE, "there is no quasi-identifier to generalize");
    kn_fulldomain_result *r = kn_alloc_zero(ctx, sizeof *r);
    if (!r) return kn_fail_memory(err, ctx, "searching the lattice");
    r->ctx = ctx;
    r->quasi_count = problem->quasi_count;
    r->good = -1;
    kn_status st = problem->low ? run_bounded(r, ctx, problem, err) : run_whole(r, ctx, problem, err);
    if (st != KN_OK) {
        kn_fulldomain_result_free(r);
        return st;
    }
    *out = r;
    return KN_OK;
}

void kn_fulldomain_result_free(kn_fulldomain_result *r)
{
    if (!r) return;
    kn_free(r->best.levels);
    for (int64_t i = 0; i < r->solution_count; i++) kn_free(r->solutions[i].levels);
    kn_free(r->solutions);
    for (int64_t i = 0; i < r->trace_count; i++) kn_free(r->trace[i].levels);
    KN_FREE(r->trace, r->counters.sizes, r);
}
