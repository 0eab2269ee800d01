/* kn_miracle_table.c: what two values of a column cost together, looked up.
 *
 * A hierarchy of up to MOST_NODES nodes gets a table of all pairs, if it is small beside the data; larger ones are
 * asked for the lowest common ancestor each time.
 *
 * Cost: nodes^2 look-ups and 4 · nodes^2 bytes per column.
 */
#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_miracle.h"

enum { MOST_NODES = 4096, ALWAYS = 64 };

static kn_status tabulate(uint32_t **out, kn_context *ctx, const kn_hierarchy *h, const uint64_t *lm, kn_error *err)
{
    size_t    n = h->nodes;
    uint32_t *loss = kn_alloc_array(ctx, n * n, sizeof *loss);
    if (!loss) return kn_fail_memory(err, ctx, "tabulating losses");
    *out = loss;
    for (uint32_t a = 0; a < n; a++)
        for (uint32_t b = 0; b <= a; b++) loss[a * n + b] = loss[b * n + a] = (uint32_t)lm[kn_hierarchy_lca(h, a, b)];
    return KN_OK;
}

kn_status kn_tables_make(kn_tables *out, kn_context *ctx, const kn_losses *losses, uint64_t cells, kn_error *err)
{
    size_t width = (size_t)losses->width, tables = (size_t)losses->tables;
    *out = (kn_tables){.ctx = ctx, .losses = losses};
    out->loss = kn_alloc_array_zero(ctx, tables * width, sizeof *out->loss);
    out->all = kn_alloc_array_zero(ctx, tables, sizeof *out->all);
    if (!out->loss || !out->all) return kn_fail_memory(err, ctx, "tabulating losses");
    for (size_t t = 0; t < tables; t++) {
        out->all[t] = true;
        for (size_t q = 0; q < (size_t)losses->quasi[t]; q++) {
            const kn_hierarchy *h = losses->hierarchies[t * width + q];
            uint64_t            n = h->nodes;
            if (n > MOST_NODES || (n > ALWAYS && n * n > cells))
                out->all[t] = false;
            else
                KN_TRY(tabulate(&out->loss[t * width + q], ctx, h, losses->lm[t * width + q], err));
        }
    }
    return KN_OK;
}

void kn_tables_free(kn_tables *tables)
{
    for (int i = 0; tables->loss && i < tables->losses->tables * tables->losses->width; i++) kn_free(tables->loss[i]);
    kn_free(tables->loss);
    kn_free(tables->all);
    *tables = (kn_tables){0};
}

void kn_tables_losses(const kn_tables *tables, int table, const uint32_t *x, const uint32_t *ys, uint32_t count,
                      uint64_t *out)
{
    const kn_losses *losses = tables->losses;
    size_t           width = (size_t)losses->width;
    for (uint32_t j = 0; j < count; j++) out[j] = 0;
    for (size_t q = 0; q < (size_t)losses->quasi[table]; q++) {
        size_t              column = (size_t)table * width + q;
        const kn_hierarchy *h = losses->hierarchies[column];
        if (tables->loss[column]) {
            const uint32_t *row = tables->loss[column] + (size_t)x[q] * h->nodes;
            for (uint32_t j = 0; j < count; j++) out[j] += row[ys[j * width + q]];
        } else {
            const uint64_t *lm = losses->lm[column];
            for (uint32_t j = 0; j < count; j++) {
                uint32_t y = ys[j * width + q];
                out[j] += lm[x[q] == y ? y : kn_hierarchy_lca(h, x[q], y)];
            }
        }
    }
}
