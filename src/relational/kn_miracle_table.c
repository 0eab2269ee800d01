/* kn_miracle_table.c: a table of the cost of merging two values of a column.
 *
 * Two different leaves meet where their parents meet. So a table of all pairs of inner nodes is enough: it is small
 * even where there are thousands of leaves. A hierarchy of up to MOST_INNER inner nodes gets one, if it is small
 * compared with the data; for others the lowest common ancestor is computed each time.
 *
 * Cost: inner^2 look-ups and 4 · inner^2 + 4 · nodes bytes per column.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_miracle.h"

enum { MOST_INNER = 2048, ALWAYS = 64 };

static kn_status tabulate(kn_column_losses *c, kn_context *ctx, kn_error *err)
{
    const kn_hierarchy *h = c->hierarchy;
    uint32_t            first = h->leaves + 1, n = h->nodes - first;
    c->inner = n;
    if (!KN_ALLOC(ctx, c->above, h->nodes) || !KN_ALLOC(ctx, c->loss, (size_t)n * n))
        return kn_fail_memory(err, ctx, "tabulating losses");
    for (uint32_t v = 0; v < h->nodes; v++) c->above[v] = (v < first ? h->parent[v] : v) - first;
    for (uint32_t a = 0; a < n; a++)
        for (uint32_t b = 0; b <= a; b++)
            c->loss[(size_t)a * n + b] = c->loss[(size_t)b * n + a] =
                (uint32_t)c->lm[kn_hierarchy_lca(h, first + a, first + b)];
    return KN_OK;
}

kn_status kn_tables_make(kn_tables *out, kn_context *ctx, const kn_losses *losses, uint64_t cells, kn_error *err)
{
    size_t width = (size_t)losses->width, tables = (size_t)losses->tables;
    *out = (kn_tables){.ctx = ctx, .losses = losses};
    if (!KN_ALLOC_ZERO(ctx, out->columns, tables * width) || !KN_ALLOC_ZERO(ctx, out->all, tables))
        return kn_fail_memory(err, ctx, "tabulating losses");
    for (size_t t = 0; t < tables; t++) {
        out->all[t] = true;
        for (size_t q = 0; q < (size_t)losses->quasi[t]; q++) {
            kn_column_losses *c = &out->columns[t * width + q];
            c->hierarchy = losses->hierarchies[t * width + q];
            c->lm = losses->lm[t * width + q];
            uint64_t inner = c->hierarchy->nodes - c->hierarchy->leaves - 1;
            if (inner > MOST_INNER || (inner > ALWAYS && inner * inner > cells))
                out->all[t] = false;
            else
                KN_TRY(tabulate(c, ctx, err));
        }
    }
    return KN_OK;
}

void kn_tables_free(kn_tables *tables)
{
    for (int i = 0; tables->columns && i < tables->losses->tables * tables->losses->width; i++)
        KN_FREE(tables->columns[i].above, tables->columns[i].loss);
    KN_FREE(tables->columns, tables->all);
    *tables = (kn_tables){0};
}

void kn_column_losses_add(const kn_column_losses *c, uint32_t x, const uint32_t *ys, uint32_t count, uint64_t *sums)
{
    if (!c->loss) {
        for (uint32_t j = 0; j < count; j++) sums[j] += kn_column_loss(c, x, ys[j]);
        return;
    }
    const uint32_t *row = c->loss + (size_t)c->above[x] * c->inner;
    const uint32_t  same = x <= c->hierarchy->leaves ? x : KN_NODE_NONE;
    for (uint32_t j = 0; j < count; j++) sums[j] += ys[j] == same ? 0 : row[c->above[ys[j]]];
}
