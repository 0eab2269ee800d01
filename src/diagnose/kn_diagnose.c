/* kn_diagnose.c: the k of a table with respect to a set of columns, and what suppression could reach.
 *
 * Privacy diagnosis centre, questions 1, 2, 5 and 6 (section 4.1), with the readings of docs/errata.md 1.1 and 1.3: k is the
 * size of the smallest class; at most ⌊δ·rows⌋ rows are removed, whole classes, all classes of the smallest size first,
 * a size only if all its classes fit, never the last remaining size.
 *
 * One frequency set gives everything: class sizes are rows, distinct persons (entity) or crowds (wildcards), and the
 * rest follows from the histogram of sizes. Cost: one grouping.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <kanon/diagnose.h>

#include <string.h>

#include "kn_alloc.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_freq.h"
#include "kn_options.h"
#include "kn_parallel.h"
#include "kn_quasi.h"
#include "kn_suppression.h"
#include "kn_wildcard.h"

/* The classes of the table by S, with sizes that may differ from the number of rows. */
typedef struct classes {
    kn_freq *freq;
    int64_t *sizes; /* owned; NULL: freq->counts */
    int     *columns;
    int      entity; /* -1: none */
} classes;

static kn_status check_options(const kn_diagnose_options *o, kn_error *err)
{
    if (o->k < 0) return kn_fail(err, KN_USAGE, "k must be at least 1");
    if (!o->suppressing && o->suppress.numerator > 0)
        return kn_fail(err, KN_USAGE, "a suppression budget was given, but no rows may be removed");
    if (o->missing == KN_MISSING_WILDCARD && o->entity)
        return kn_fail(err, KN_USAGE, "missing cells as wildcards cannot be combined with an entity column");
    if (o->missing == KN_MISSING_WILDCARD && o->suppressing)
        return kn_fail(err, KN_USAGE,
                       "missing cells as wildcards cannot be combined with suppression: crowds overlap, "
                       "and removing rows makes others stand out");
    return KN_OK;
}

static kn_status find_columns(classes *c, kn_context *ctx, const kn_table *table, const kn_diagnose_options *o,
                              kn_error *err)
{
    KN_TRY(kn_quasi_find(&c->columns, ctx, table, "", o->quasi, o->quasi_count, err));
    c->entity = -1;
    if (!o->entity) return KN_OK;
    if (table->counts) return kn_quasi_fail_counted(err);
    c->entity = kn_table_find(table, o->entity);
    if (c->entity < 0) return kn_table_no_column(table, "there is", o->entity, err);
    for (int i = 0; i < o->quasi_count; i++)
        if (c->columns[i] == c->entity)
            return kn_fail(err, KN_USAGE, "column \"%s\" cannot be both the entity and a quasi-identifier", o->entity);
    if (table->columns[c->entity].missing > 0)
        return kn_fail(err, KN_INPUT, "the entity column \"%s\" has %lld missing cells; whose rows they are is unknown",
                       o->entity, (long long)table->columns[c->entity].missing);
    return KN_OK;
}

/* Sizes of crowds instead of classes: missing cells agree with anything. */
static kn_status use_wildcards(classes *c, kn_context *ctx, const kn_table *table, int count, kn_error *err)
{
    uint32_t *missing = kn_alloc_array(ctx, (size_t)count, sizeof *missing);
    if (!missing) return kn_fail_memory(err, ctx, "diagnosing");
    for (int i = 0; i < count; i++) {
        const kn_column *column = &table->columns[c->columns[i]];
        missing[i] = column->missing > 0 ? column->dict.count : UINT32_MAX;
    }
    kn_status st = kn_wildcard_sizes(&c->sizes, c->freq, missing, err);
    kn_free(missing);
    return st;
}

/* Removes the smallest sizes within the budget. */
static void suppress(kn_diagnosis *d)
{
    int64_t gone = kn_suppression_sizes(d->sizes, d->size_count, d->budget);
    for (int64_t i = 0; i < gone; i++) {
        d->suppressed += d->sizes[i].rows;
        d->suppressed_classes += d->sizes[i].classes;
    }
    d->k_after = d->size_count > 0 ? d->sizes[gone].size : 0;
}

static kn_status judge(kn_diagnosis *d, kn_context *ctx, const classes *c, const kn_diagnose_options *o, kn_error *err)
{
    const int64_t *sizes = c->sizes ? c->sizes : c->freq->counts;
    KN_TRY(kn_size_counts_make(&d->sizes, &d->size_count, ctx, sizes, c->freq->counts, c->freq->classes, err));
    for (int64_t i = 0; i < d->size_count; i++) {
        if (d->sizes[i].size == 1) d->unique_rows = d->sizes[i].rows;
        if (d->sizes[i].size >= o->k) continue;
        d->below_classes += d->sizes[i].classes;
        d->below_rows += d->sizes[i].rows;
    }
    d->classes = c->freq->classes;
    d->k = d->size_count > 0 ? d->sizes[0].size : 0;
    if (o->suppressing) d->budget = kn_fraction_of(o->suppress, c->freq->rows);
    suppress(d);
    d->holds = o->k == 0 || d->k_after >= o->k; /* no row is left: nothing is shown, and k_after is 0 */
    return KN_OK;
}

static kn_status group_classes(kn_diagnosis *d, classes *c, kn_context *ctx, const kn_table *table,
                               const kn_diagnose_options *o, kn_error *err)
{
    KN_TRY(find_columns(c, ctx, table, o, err));
    d->rows = kn_table_total(table);
    if (o->entity)
        KN_TRY(kn_freq_distinct(&c->freq, &c->sizes, ctx, table, c->columns, o->quasi_count, c->entity, err));
    else
        KN_TRY(kn_freq_of_table(&c->freq, ctx, table, c->columns, o->quasi_count, err));
    bool drop = o->missing == KN_MISSING_DROP;
    d->missing_rows = kn_quasi_missing(c->freq, table, c->columns, o->quasi_count, drop, c->sizes, NULL);
    d->dropped = drop ? d->missing_rows : 0;
    d->persons = o->entity ? table->columns[c->entity].dict.count : c->freq->rows;
    return o->missing == KN_MISSING_WILDCARD ? use_wildcards(c, ctx, table, o->quasi_count, err) : KN_OK;
}

static void free_classes(classes *c)
{
    kn_freq_free(c->freq);
    KN_FREE(c->sizes, c->columns);
}

kn_status kn_diagnose(kn_diagnosis **out, kn_context *ctx, const kn_table *table, const kn_diagnose_options *options,
                      kn_error *err)
{
    *out = NULL;
    KN_SERVE(ctx, err);
    KN_OPTIONS(kn_diagnose_options, KN_DIAGNOSE_OPTIONS_INIT, options, "diagnose options", err);
    KN_TRY(check_options(options, err));
    kn_diagnosis *d = kn_alloc_zero(ctx, sizeof *d);
    if (!d) return kn_fail_memory(err, ctx, "diagnosing");
    classes   c = {NULL, NULL, NULL, -1};
    kn_status st = group_classes(d, &c, ctx, table, options, err);
    if (st == KN_OK) st = judge(d, ctx, &c, options, err);
    free_classes(&c);
    if (st != KN_OK) {
        kn_diagnosis_free(d);
        return st;
    }
    *out = d;
    return KN_OK;
}

void kn_diagnosis_free(kn_diagnosis *diagnosis)
{
    if (!diagnosis) return;
    KN_FREE(diagnosis->sizes, diagnosis);
}

/* ---- Which rows go ---- */

typedef struct rows_job {
    const classes  *c;
    const kn_table *table;
    int64_t         k;
    uint8_t        *below; /* per row */
} rows_job;

static kn_status mark_range(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    (void)worker;
    rows_job      *job = arg;
    const int64_t *sizes = job->c->sizes ? job->c->sizes : job->c->freq->counts;
    int64_t       *class_of = kn_alloc_array(job->c->freq->ctx, (size_t)(end - begin), sizeof *class_of);
    if (!class_of) return kn_fail_memory(err, job->c->freq->ctx, "finding the rows to suppress");
    kn_status st = kn_freq_classify(job->c->freq, job->table, job->c->columns, begin, end - begin, class_of, err);
    for (int64_t i = 0; i < end - begin && st == KN_OK; i++)
        job->below[begin + i] = class_of[i] >= 0 && sizes[class_of[i]] < job->k;
    kn_free(class_of);
    return st;
}

static kn_status list_rows(kn_row_list *list, kn_context *ctx, const uint8_t *below, int64_t rows, kn_error *err)
{
    for (int64_t r = 0; r < rows; r++) list->count += below[r];
    list->rows = kn_alloc_array(ctx, (size_t)list->count, sizeof *list->rows);
    if (!list->rows) return kn_fail_memory(err, ctx, "finding the rows to suppress");
    int64_t at = 0;
    for (int64_t r = 0; r < rows; r++)
        if (below[r]) list->rows[at++] = r;
    return KN_OK;
}

kn_status kn_suppressed_rows(kn_row_list **out, kn_context *ctx, const kn_table *table,
                             const kn_diagnose_options *options, int64_t k, kn_error *err)
{
    *out = NULL;
    KN_SERVE(ctx, err);
    KN_OPTIONS(kn_diagnose_options, KN_DIAGNOSE_OPTIONS_INIT, options, "diagnose options", err);
    KN_TRY(check_options(options, err));
    classes      c = {NULL, NULL, NULL, -1};
    kn_diagnosis d = {0};
    kn_row_list *list = kn_alloc_zero(ctx, sizeof *list);
    uint8_t     *below = kn_alloc_zero(ctx, (size_t)table->rows);
    kn_status    st = list && below ? group_classes(&d, &c, ctx, table, options, err)
                                    : kn_fail_memory(err, ctx, "finding the rows to suppress");
    rows_job     job = {&c, table, k, below};
    if (st == KN_OK) st = kn_parallel_for(ctx, table->rows, 1 << 16, mark_range, &job, err);
    if (st == KN_OK) st = list_rows(list, ctx, below, table->rows, err);
    free_classes(&c);
    kn_free(below);
    if (st == KN_OK)
        *out = list;
    else
        kn_row_list_free(list);
    return st;
}
