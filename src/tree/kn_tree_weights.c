/* kn_tree_weights.c: the loss that guides a search where classes weigh differently. Interface: kn_tree_weights.h.
 *
 * What a cut does to the values is the sum of a term per value of the cut, which does not depend on the others. Cost: the nodes
 * of the original once; then the values of a cut.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_tree_weights.h"

#include "kn_alloc.h"
#include "kn_error.h"

#define WHAT "weighing classes"

static uint64_t add(uint64_t a, uint64_t b)
{
    return a + b >= KN_COST_PRIME ? a + b - KN_COST_PRIME : a + b;
}

static uint64_t weight_residue(kn_ratio weight)
{
    return kn_cost_times(weight.numerator % KN_COST_PRIME, kn_cost_inverse(weight.denominator));
}

/* Of each value: the nodes of the original at or below it. */
static void count_nodes(const kn_records *r, uint64_t *count)
{
    const kn_vocabulary *v = r->vocabulary;
    for (uint64_t i = 0; i < r->nodes; i++) count[r->value[i]]++;
    for (uint32_t u = v->nodes - 1; u > 0; u--) count[v->parent[u]] += count[u];
}

static void find_terms(kn_tree_weights *w, const kn_tree_problem *problem, const uint64_t *count)
{
    const kn_vocabulary *v = problem->records->vocabulary;
    uint64_t             total = 0;
    for (int c = 0; c < v->class_count; c++) {
        uint32_t top = v->top[c];
        double   weight = (double)problem->weights[c].numerator / (double)problem->weights[c].denominator;
        uint64_t residue = weight_residue(problem->weights[c]), all = kn_cost_inverse(v->leaves[top]);
        for (uint32_t u = top; u < v->end[top]; u++) {
            double   broad = (double)(v->leaves[u] - 1) / (double)v->leaves[top];
            uint64_t exact = kn_cost_times(v->leaves[u] - 1, all);
            w->term[u] = (double)count[u] * weight * broad;
            w->residue[u] = kn_cost_times(kn_cost_times(count[u], residue), exact);
        }
        w->total += (double)count[top] * weight;
        total = add(total, kn_cost_times(count[top], residue));
        if (v->sensitive[c]) continue; /* "*" does not stand for it */
        w->term[0] += (double)count[top] * weight;
        w->residue[0] = add(w->residue[0], kn_cost_times(count[top], residue));
    }
    w->inverse = kn_cost_inverse(total);
}

kn_status kn_tree_weights_make(kn_tree_weights **out, kn_context *ctx, const kn_tree_problem *problem, kn_error *err)
{
    const kn_records *r = problem->records;
    *out = NULL;
    if (!problem->weights) return KN_OK;
    kn_tree_weights *w = kn_alloc_zero(ctx, sizeof *w);
    size_t           n = r->vocabulary->nodes;
    uint64_t        *count = kn_alloc_array_zero(ctx, n + 1, sizeof *count);
    bool             ok = w && count && KN_ALLOC_ZERO(ctx, w->term, n) && KN_ALLOC_ZERO(ctx, w->residue, n);
    if (ok) {
        count_nodes(r, count);
        find_terms(w, problem, count);
        for (int64_t t = 0; t < r->count; t++)
            for (uint64_t i = r->start[t]; i < r->start[t + 1]; i++)
                for (uint32_t p = r->parent[i]; p != KN_RECORDS_ROOT; p = r->parent[r->start[t] + p]) w->relations++;
        w->relations_inverse = kn_cost_inverse((uint64_t)w->relations);
    }
    kn_free(count);
    if (!ok) {
        kn_tree_weights_free(w);
        return kn_fail_memory(err, ctx, WHAT);
    }
    *out = w;
    return KN_OK;
}

void kn_tree_weights_free(kn_tree_weights *weights)
{
    if (!weights) return;
    KN_FREE(weights->term, weights->residue);
    kn_free(weights);
}

kn_tree_cost kn_tree_weigh(const kn_tree_weights *weights, const uint32_t *values, uint32_t size, int64_t relations)
{
    const kn_tree_weights *w = weights;
    kn_tree_cost           cost = {0, 0, relations};
    for (uint32_t i = 0; i < size; i++) {
        cost.value += w->term[values[i]];
        cost.residue = add(cost.residue, w->residue[values[i]]);
    }
    if (w->total > 0) cost.value /= w->total;
    cost.residue = kn_cost_times(cost.residue, w->inverse);
    if (w->relations == 0) return cost;
    cost.value += 1 - (double)relations / (double)w->relations;
    cost.residue = add(cost.residue, kn_cost_times((uint64_t)(w->relations - relations), w->relations_inverse));
    return cost;
}
