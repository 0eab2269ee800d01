/* kn_fulldomain_bounds.c: a search between bounds: the lattice whose bottom is `low` and whose top is `high`.
 *
 * Methods see hierarchies and objective through views whose level 0 is the lowest allowed level, so that no method
 * has to handle bounds and every cell costs the same as in the whole hierarchy. Results are converted back to the
 * levels of the problem. Cost: none beyond the search.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_fulldomain_methods.h"

static kn_status check_bounds(const kn_fulldomain_problem *p, kn_error *err)
{
    for (int q = 0; q < p->quasi_count; q++) {
        int height = kn_hierarchy_levels(p->hierarchies[q]) - 1;
        if (p->low[q] < 0 || p->low[q] > p->high[q] || p->high[q] > height)
            return kn_fail(err, KN_USAGE, "column \"%s\" has the levels 0 to %d, not %d to %d",
                           kn_table_name(p->table, p->quasi[q]), height, p->low[q], p->high[q]);
    }
    return KN_OK;
}

static void fill_views(kn_bounded *b, const kn_fulldomain_problem *p)
{
    const kn_objective *o = p->objective;
    b->objective = *o;
    b->objective.heights = b->heights;
    b->objective.costs = b->costs;
    b->objective.totals = b->totals;
    for (int q = 0; q < p->quasi_count; q++) {
        b->views[q] = kn_hierarchy_view(p->hierarchies[q], (uint32_t)p->low[q], (uint32_t)p->high[q]);
        b->hierarchies[q] = &b->views[q];
        b->heights[q] = p->high[q] - p->low[q];
        if (!o->cells) continue;
        b->costs[q] = o->costs[q] + (size_t)p->low[q] * ((size_t)o->codes[q] + 1);
        b->totals[q] = o->totals[q] + p->low[q];
    }
    b->problem = *p;
    b->problem.hierarchies = b->hierarchies;
    b->problem.objective = &b->objective;
    b->problem.low = b->problem.high = NULL;
}

kn_status kn_bounded_make(kn_bounded *b, kn_context *ctx, const kn_fulldomain_problem *problem, kn_error *err)
{
    size_t count = (size_t)problem->quasi_count;
    *b = (kn_bounded){0};
    KN_TRY(check_bounds(problem, err));
    b->views = kn_alloc_array_zero(ctx, count, sizeof *b->views);
    b->hierarchies = kn_alloc_array_zero(ctx, count, sizeof *b->hierarchies);
    b->heights = kn_alloc_array_zero(ctx, count, sizeof *b->heights);
    b->costs = kn_alloc_array_zero(ctx, count, sizeof *b->costs);
    b->totals = kn_alloc_array_zero(ctx, count, sizeof *b->totals);
    if (!b->views || !b->hierarchies || !b->heights || !b->costs || !b->totals) {
        kn_bounded_free(b);
        return kn_fail_memory(err, ctx, "searching the lattice");
    }
    fill_views(b, problem);
    return KN_OK;
}

void kn_bounded_free(kn_bounded *b)
{
    KN_FREE(b->views, b->hierarchies, b->heights, b->costs, b->totals);
}

static void raise(int *levels, const int *low, int count)
{
    for (int q = 0; levels && q < count; q++) levels[q] += low[q];
}

void kn_bounded_translate(kn_fulldomain_result *r, const int *low)
{
    raise(r->best.levels, low, r->quasi_count);
    for (int64_t i = 0; i < r->solution_count; i++) raise(r->solutions[i].levels, low, r->quasi_count);
    for (int64_t i = 0; i < r->trace_count; i++)
        for (int q = 0; q < r->quasi_count; q++)
            if (r->trace[i].attributes >> q & 1) r->trace[i].levels[q] += low[q];
}
