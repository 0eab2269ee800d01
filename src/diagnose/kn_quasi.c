/* kn_quasi.c: names of quasi-identifiers to columns; classes with missing cells set aside. Cost: one pass over the
 * classes, none where no column has a missing cell.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kn_quasi.h"

#include <string.h>

#include "kn_alloc.h"
#include "kn_error.h"

kn_status kn_quasi_find(int **columns, kn_context *ctx, const kn_table *table, const char *where,
                        const char *const *names, int count, kn_error *err)
{
    *columns = NULL;
    if (count < 1) return kn_fail(err, KN_USAGE, "the set of quasi-identifiers is empty");
    int *found = kn_alloc_array(ctx, (size_t)count, sizeof *found);
    if (!found) return kn_fail_memory(err, ctx, "finding columns");
    kn_status st = KN_OK;
    for (int i = 0; i < count && st == KN_OK; i++) {
        found[i] = kn_table_find(table, names[i]);
        if (found[i] < 0) st = kn_table_no_column(table, where[0] ? where : "there is", names[i], err);
        for (int j = 0; j < i && st == KN_OK; j++)
            if (found[j] == found[i])
                st = kn_fail(err, KN_USAGE, "column \"%s\" is named twice among the quasi-identifiers", names[i]);
    }
    if (st != KN_OK)
        kn_free(found);
    else
        *columns = found;
    return st;
}

static bool has_missing(const kn_freq *freq, int64_t i, const kn_table *table, const int *columns, int count)
{
    for (int q = 0; q < count; q++) {
        const kn_column *column = &table->columns[columns[q]];
        if (column->missing > 0 && kn_freq_code(freq, i, q) == column->dict.count) return true;
    }
    return false;
}

int64_t kn_quasi_missing(kn_freq *freq, const kn_table *table, const int *columns, int count, bool drop, int64_t *sizes,
                         double *sums)
{
    bool any = false;
    for (int q = 0; q < count; q++) any |= table->columns[columns[q]].missing > 0;
    if (!any) return 0;
    int     words = freq->layout.words;
    int64_t kept = 0, rows = 0;
    for (int64_t i = 0; i < freq->classes; i++) {
        bool out = has_missing(freq, i, table, columns, count);
        if (out) rows += freq->counts[i];
        if (out && drop) continue;
        memmove(freq->keys + kept * words, freq->keys + i * words, (size_t)words * sizeof *freq->keys);
        freq->counts[kept] = freq->counts[i];
        if (sizes) sizes[kept] = sizes[i];
        if (sums) sums[kept] = sums[i];
        kept++;
    }
    freq->classes = kept;
    if (drop) freq->rows -= rows;
    return rows;
}

kn_status kn_quasi_fail_counted(kn_error *err)
{
    return kn_fail(err, KN_USAGE,
                   "a counted row stands for several and does not say whose they are: leave the entity out");
}
