/* kn_measures.c: what is known of a class besides its rows: distinct persons, weights, histograms of a column.
 *
 * All three group by (columns, one more column) and fold: after sorting, the values of the extra column of one class
 * are adjacent. Cost: that of one grouping with the extra column; memory in proportion to the distinct pairs.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_freq.h"

/* Groups by (columns, extra) and folds the extra column away again. */
static kn_status group_and_fold(kn_freq **coarse, int64_t **starts, kn_freq **fine, kn_context *ctx,
                                const kn_table *table, const int *columns, int column_count, int extra, kn_error *err)
{
    *coarse = *fine = NULL;
    *starts = NULL;
    int *all = kn_alloc_array(ctx, (size_t)column_count + 1, sizeof *all);
    if (!all) return kn_fail_memory(err, ctx, "grouping");
    memcpy(all, columns, (size_t)column_count * sizeof *all);
    all[column_count] = extra;
    kn_status st = kn_freq_of_table(fine, ctx, table, all, column_count + 1, err);
    kn_free(all);
    if (st == KN_OK) st = kn_freq_fold(coarse, starts, *fine, column_count, err);
    if (st != KN_OK) {
        kn_freq_free(*fine);
        *fine = NULL;
    }
    return st;
}

kn_status kn_freq_distinct(kn_freq **out, int64_t **sizes, kn_context *ctx, const kn_table *table, const int *columns,
                           int column_count, int entity, kn_error *err)
{
    kn_freq *fine = NULL;
    int64_t *starts = NULL;
    *sizes = NULL;
    KN_TRY(group_and_fold(out, &starts, &fine, ctx, table, columns, column_count, entity, err));
    kn_freq_free(fine);
    for (int64_t i = 0; i < (*out)->classes; i++) starts[i] = starts[i + 1] - starts[i];
    *sizes = starts;
    return KN_OK;
}

kn_status kn_freq_weights(kn_freq **out, double **sums, kn_context *ctx, const kn_table *table, const int *columns,
                          int column_count, int weight, kn_error *err)
{
    *out = NULL;
    *sums = NULL;
    const kn_column     *column = &table->columns[weight];
    const kn_dictionary *dict = &column->dict;
    if (column->type != KN_TYPE_INTEGER && column->type != KN_TYPE_DECIMAL)
        return kn_fail(err, KN_INPUT, "column \"%s\" cannot be a weight: it is not a number", column->name);
    kn_freq *fine = NULL;
    int64_t *starts = NULL;
    KN_TRY(group_and_fold(out, &starts, &fine, ctx, table, columns, column_count, weight, err));
    double   *sum = kn_alloc_array_zero(ctx, (size_t)(*out)->classes, sizeof *sum);
    kn_status st = sum ? KN_OK : kn_fail_memory(err, ctx, "adding up weights");
    for (int64_t i = 0; i < (*out)->classes && st == KN_OK; i++) {
        for (int64_t j = starts[i]; j < starts[i + 1]; j++) {
            uint32_t code = kn_freq_code(fine, j, column_count);
            if (code == dict->count) continue;
            double value = dict->integers ? (double)dict->integers[code] : dict->decimals[code];
            sum[i] += value * (double)fine->counts[j];
        }
    }
    kn_free(starts);
    kn_freq_free(fine);
    if (st != KN_OK) {
        kn_freq_free(*out);
        *out = NULL;
    }
    *sums = sum;
    return st;
}

void kn_class_histograms_free(kn_class_histograms *h)
{
    KN_FREE(h->starts, h->codes, h->counts);
    *h = (kn_class_histograms){NULL, NULL, NULL};
}

kn_status kn_freq_histograms(kn_freq **out, kn_class_histograms *h, kn_context *ctx, const kn_table *table,
                             const int *columns, int column_count, int sensitive, kn_error *err)
{
    *h = (kn_class_histograms){NULL, NULL, NULL};
    kn_freq *fine = NULL;
    KN_TRY(group_and_fold(out, &h->starts, &fine, ctx, table, columns, column_count, sensitive, err));
    h->codes = kn_alloc_array(ctx, (size_t)fine->classes, sizeof *h->codes);
    if (!h->codes) {
        kn_freq_free(fine);
        kn_freq_free(*out);
        *out = NULL;
        kn_class_histograms_free(h);
        return kn_fail_memory(err, ctx, "counting values by class");
    }
    for (int64_t j = 0; j < fine->classes; j++) h->codes[j] = kn_freq_code(fine, j, column_count);
    h->counts = fine->counts; /* moved */
    fine->counts = NULL;
    kn_freq_free(fine);
    return KN_OK;
}

kn_status kn_freq_person_histograms(kn_freq **out, kn_class_histograms *h, kn_context *ctx, const kn_table *table,
                                    const int *columns, int column_count, int sensitive, int person, kn_error *err)
{
    kn_freq *fine = NULL, *values = NULL; /* by (columns, value, person), by (columns, value) */
    int64_t *starts = NULL;
    int     *all = kn_alloc_array(ctx, (size_t)column_count + 1, sizeof *all);
    *h = (kn_class_histograms){NULL, NULL, NULL};
    *out = NULL;
    if (!all) return kn_fail_memory(err, ctx, "counting values by class");
    memcpy(all, columns, (size_t)column_count * sizeof *all);
    all[column_count] = sensitive;
    kn_status st = group_and_fold(&values, &starts, &fine, ctx, table, all, column_count + 1, person, err);
    kn_free(all);
    if (st != KN_OK) return st;
    st = kn_freq_fold(out, &h->starts, values, column_count, err);
    h->codes = kn_alloc_array(ctx, (size_t)values->classes + 1, sizeof *h->codes);
    h->counts = kn_alloc_array(ctx, (size_t)values->classes + 1, sizeof *h->counts);
    if (st == KN_OK && (!h->codes || !h->counts)) st = kn_fail_memory(err, ctx, "counting values by class");
    for (int64_t j = 0; st == KN_OK && j < values->classes; j++) {
        h->codes[j] = kn_freq_code(values, j, column_count);
        h->counts[j] = starts[j + 1] - starts[j];
    }
    if (st != KN_OK) {
        kn_freq_free(*out);
        *out = NULL;
        kn_class_histograms_free(h);
    }
    kn_freq_free(fine);
    kn_freq_free(values);
    kn_free(starts);
    return st;
}
