/* kn_relational_loss.c: the cost of a generalized cell, as an integer. See kn_relational_internal.h.
 *
 * A cell that covers f of g values costs (f - 1) / (g - 1) (Definition 7). All these fractions are whole numbers of
 * one unit, the least common multiple of the g - 1, where that is below 2^31; otherwise the unit is 2^31 and they are
 * rounded down, which keeps their order. A lost row costs a unit for each cell that it counts. Limit: fewer than
 * 2^31 cells in one tree (kn_relational.c).
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_relational_internal.h"

#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_hash.h"

static uint64_t gcd(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t r = a % b;
        a = b;
        b = r;
    }
    return a;
}

static kn_status loss_of_nodes(uint64_t **out, kn_context *ctx, const kn_hierarchy *h, uint64_t unit, kn_error *err)
{
    uint64_t *lm = kn_alloc_array_zero(ctx, h->nodes, sizeof *lm);
    *out = lm;
    if (!lm) return kn_fail_memory(err, ctx, "preparing losses");
    if (h->leaves < 2) return KN_OK;
    for (uint32_t n = 0; n < h->nodes; n++) {
        uint64_t cover = kn_hierarchy_cover(h, n);
        lm[n] = cover > 1 ? (uint64_t)((kn_u128)(cover - 1) * unit / (h->leaves - 1)) : 0;
    }
    return KN_OK;
}

/* Which tables' rows weigh, and which tables they are below of. */
static kn_status find_heavy(kn_losses *out, const kn_database *db, kn_error *err)
{
    size_t count = (size_t)out->tables;
    if (!KN_ALLOC_ZERO(out->ctx, out->heavy_table, count) || !KN_ALLOC_ZERO(out->ctx, out->heavy_loss, count) ||
        !KN_ALLOC_ZERO(out->ctx, out->carries, count))
        return kn_fail_memory(err, out->ctx, "preparing losses");
    for (int t = 0; t < out->tables; t++) {
        if (db->tables[t].weight == 0) continue;
        out->heavy_table[out->heavy] = t;
        out->heavy_loss[out->heavy++] = (uint64_t)db->tables[t].weight * out->unit;
        for (int up = db->tables[t].parent; up >= 0; up = db->tables[up].parent) out->carries[up] = true;
    }
    return KN_OK;
}

kn_status kn_losses_make(kn_losses *out, kn_context *ctx, const kn_database *db, kn_error *err)
{
    *out = (kn_losses){.ctx = ctx, .unit = 1, .tables = db->table_count, .width = 1};
    for (int t = 0; t < db->table_count; t++)
        if (db->tables[t].quasi_count > out->width) out->width = db->tables[t].quasi_count;
    size_t count = (size_t)out->tables * (size_t)out->width;
    if (!KN_ALLOC_ZERO(ctx, out->quasi, (size_t)out->tables) || !KN_ALLOC_ZERO(ctx, out->cells, (size_t)out->tables) ||
        !KN_ALLOC_ZERO(ctx, out->hierarchies, count) || !KN_ALLOC_ZERO(ctx, out->lm, count))
        return kn_fail_memory(err, ctx, "preparing losses");
    for (int t = 0; t < out->tables; t++) {
        const kn_database_table *table = &db->tables[t];
        out->quasi[t] = table->quasi_count;
        out->cells[t] = table->quasi_count + (int)table->weight;
        for (int q = 0; q < table->quasi_count; q++) {
            const kn_hierarchy *h = table->columns[table->quasi[q]].hierarchy;
            out->hierarchies[t * out->width + q] = h;
            uint64_t steps = h->leaves > 1 ? h->leaves - 1 : 1;
            if (out->unit >> 31 == 0) out->unit = out->unit / gcd(out->unit, steps) * steps;
        }
    }
    if (out->unit >> 31) out->unit = (uint64_t)1 << 31;
    for (size_t i = 0; i < count; i++)
        if (out->hierarchies[i]) KN_TRY(loss_of_nodes(&out->lm[i], ctx, out->hierarchies[i], out->unit, err));
    return find_heavy(out, db, err);
}

void kn_losses_free(kn_losses *losses)
{
    for (int i = 0; losses->lm && i < losses->tables * losses->width; i++) kn_free(losses->lm[i]);
    KN_FREE(losses->lm, losses->hierarchies, losses->quasi, losses->cells, losses->heavy_table, losses->heavy_loss,
            losses->carries);
    *losses = (kn_losses){0};
}

int kn_loss_compare(kn_loss a, kn_loss b)
{
    kn_u128 x = (kn_u128)a.sum * (b.cells ? b.cells : 1), y = (kn_u128)b.sum * (a.cells ? a.cells : 1);
    return x < y ? -1 : x > y;
}

bool kn_loss_above(kn_loss loss, uint64_t unit, kn_ratio threshold)
{
    /* A loss is at most 1; larger thresholds could overflow below. */
    if (threshold.numerator >= threshold.denominator) return false;
    return (kn_u128)loss.sum * threshold.denominator > (kn_u128)loss.cells * unit * threshold.numerator;
}
