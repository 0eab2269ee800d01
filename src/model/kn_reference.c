/* kn_reference.c: reference histograms with what the distances need of them, and scratch.
 *
 * Cumulative rows and their sums let the ordered distance skip the values that a class does not have; rows per node do
 * the same for the hierarchical one. Cost: O(values + nodes) once; 40 bytes per value and 8 per node, and for each
 * scratch 16 per value and 28 per node.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_model.h"

void kn_reference_free(kn_reference *r)
{
    kn_free(r->counts);
    kn_free(r->cumulative);
    kn_free(r->sums);
    kn_free(r->node_rows);
    *r = (kn_reference){.ctx = NULL};
}

static void sum_up(kn_reference *r)
{
    int64_t before = 0;
    r->sums[0] = 0;
    for (uint32_t i = 0; i < r->values; i++) {
        before += r->counts[i];
        r->cumulative[i] = before;
        r->sums[i + 1] = r->sums[i] + (kn_u128)before;
        r->occurring += r->counts[i] > 0;
    }
    r->occurring += r->counts[r->values] > 0;
    r->rows = before + r->counts[r->values];
    if (!r->hierarchy) return;
    const kn_hierarchy *h = r->hierarchy;
    for (uint32_t c = 0; c <= r->values; c++) r->node_rows[h->leaf_of_code[c]] += r->counts[c];
    for (uint32_t n = 0; n + 1 < h->nodes; n++) r->node_rows[h->parent[n]] += r->node_rows[n]; /* parents come later */
}

kn_status kn_reference_make(kn_reference *out, kn_context *ctx, int64_t *counts, uint32_t values,
                            const kn_hierarchy *hierarchy, kn_error *err)
{
    *out = (kn_reference){.ctx = ctx, .values = values, .counts = counts, .hierarchy = hierarchy};
    out->cumulative = kn_alloc_array(ctx, (size_t)values + 1, sizeof *out->cumulative);
    out->sums = kn_alloc_array(ctx, (size_t)values + 1, sizeof *out->sums);
    if (hierarchy) out->node_rows = kn_alloc_array_zero(ctx, hierarchy->nodes, sizeof *out->node_rows);
    if (!out->cumulative || !out->sums || (hierarchy && !out->node_rows)) {
        kn_reference_free(out);
        return kn_fail_memory(err, ctx, "measuring privacy models");
    }
    sum_up(out);
    return KN_OK;
}

kn_status kn_scratch_make(kn_scratch *out, const kn_reference *r, kn_error *err)
{
    *out = (kn_scratch){.arena = {.ctx = r->ctx}};
    size_t nodes = r->hierarchy ? r->hierarchy->nodes : 0;
    out->heap = kn_arena_array(&out->arena, (size_t)r->values + 1, sizeof *out->heap);
    out->rows = kn_arena_array_zero(&out->arena, nodes, sizeof *out->rows);
    out->surplus = kn_arena_array_zero(&out->arena, nodes, sizeof *out->surplus);
    out->touched = kn_arena_array(&out->arena, nodes, sizeof *out->touched);
    if (!out->arena.failed) return KN_OK;
    kn_scratch_free(out);
    return kn_fail_memory(err, r->ctx, "measuring privacy models");
}

void kn_scratch_free(kn_scratch *s)
{
    kn_arena_free(&s->arena);
}
