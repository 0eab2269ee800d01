/* kn_marginal.c: counts of one column's values and of its hierarchy's nodes. O(rows), O(values + nodes).
 *
 * Several columns of a long table are counted piece by piece, on all threads: a piece counts for itself and then adds what it
 * found, so that threads seldom meet. A column of many values would add as much as it counts and is left to whoever asks
 * for it. Memory: 8 bytes per value of the columns that have few.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_marginal.h"

#include <stdatomic.h>

#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_parallel.h"

enum { PIECE = 1 << 16, LONG = 4 * PIECE, FEW = 2048 };

/* One loop per width: the choice in kn_column_code would cost more than the counting. */
static void count_rows(int64_t *counts, const kn_table *table, const kn_column *column, int64_t begin, int64_t end)
{
    if (table->counts) {
        for (int64_t row = begin; row < end; row++) counts[kn_column_code(column, row)] += table->counts[row];
        return;
    }
    switch (column->width) {
    case 1:
        for (int64_t row = begin; row < end; row++) counts[((const uint8_t *)column->codes)[row]]++;
        break;
    case 2:
        for (int64_t row = begin; row < end; row++) counts[((const uint16_t *)column->codes)[row]]++;
        break;
    default:
        for (int64_t row = begin; row < end; row++) counts[((const uint32_t *)column->codes)[row]]++;
        break;
    }
}

void kn_marginal_count(int64_t *counts, const kn_table *table, int column_index)
{
    const kn_column *column = &table->columns[column_index];
    if (column->marginal)
        for (uint32_t code = 0; code <= column->dict.count; code++) counts[code] += column->marginal[code];
    else
        count_rows(counts, table, column, 0, table->rows);
}

/* ---- Several columns ---- */

struct kn_marginals {
    const kn_table  *table;
    const int       *columns;
    int64_t          pieces;
    _Atomic int64_t *rows; /* FEW per column; NULL: the table is short */
};

static bool has_few(const kn_column *column)
{
    return !column->marginal && column->dict.count < FEW;
}

static kn_status piece_range(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    const kn_marginals *m = arg;
    (void)worker;
    (void)err;
    for (int64_t r = begin; r < end; r++) {
        int64_t          i = r / m->pieces, first = r % m->pieces * PIECE, counts[FEW] = {0};
        const kn_column *column = &m->table->columns[m->columns[i]];
        if (!has_few(column)) continue;
        count_rows(counts, m->table, column, first, m->table->rows - first < PIECE ? m->table->rows : first + PIECE);
        for (uint32_t code = 0; code <= column->dict.count; code++)
            if (counts[code]) atomic_fetch_add_explicit(&m->rows[i * FEW + code], counts[code], memory_order_relaxed);
    }
    return KN_OK;
}

kn_status kn_marginals_make(kn_marginals **out, kn_context *ctx, const kn_table *table, const int *columns, int count,
                            kn_error *err)
{
    kn_marginals *m = kn_alloc_zero(ctx, sizeof *m);
    *out = NULL;
    if (!m) return kn_fail_memory(err, ctx, "counting values");
    *m = (kn_marginals){.table = table, .columns = columns, .pieces = (table->rows + PIECE - 1) / PIECE};
    kn_status st = KN_OK;
    if (table->rows >= LONG && count > 0) {
        m->rows = kn_alloc_array_zero(ctx, (size_t)count * FEW, sizeof *m->rows);
        st = m->rows ? kn_parallel_for(ctx, count * m->pieces, 1, piece_range, m, err)
                     : kn_fail_memory(err, ctx, "counting values");
    }
    if (st == KN_OK)
        *out = m;
    else
        kn_marginals_free(m);
    return st;
}

void kn_marginals_add(int64_t *counts, const kn_marginals *m, int i)
{
    const kn_column *column = &m->table->columns[m->columns[i]];
    if (!m->rows || !has_few(column)) {
        kn_marginal_count(counts, m->table, m->columns[i]);
        return;
    }
    for (uint32_t code = 0; code <= column->dict.count; code++)
        counts[code] += atomic_load_explicit(&m->rows[(int64_t)i * FEW + code], memory_order_relaxed);
}

void kn_marginals_free(kn_marginals *m)
{
    if (m) kn_free(m->rows);
    kn_free(m);
}

void kn_marginal_nodes(int64_t *node_rows, const kn_hierarchy *h, const int64_t *counts)
{
    for (uint32_t c = 0; c <= h->codes; c++) node_rows[h->leaf_of_code[c]] += counts[c];
    for (uint32_t n = 0; n + 1 < h->nodes; n++) node_rows[h->parent[n]] += node_rows[n]; /* parents come later */
}
