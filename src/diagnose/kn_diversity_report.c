/* kn_diversity_report.c: every privacy model for one set of columns and each sensitive column.
 *
 * Per sensitive column the rows are grouped by (S, sensitive) once; the models are then applied to the classes in
 * parallel (kn_figures.c). The classes come in the same order for every sensitive column, so one flag per class says
 * which of them violate anything. Cost: one grouping per sensitive column and the models'.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_alloc.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_figures.h"
#include "kn_options.h"
#include "kn_parallel.h"

#define WHAT "measuring privacy models"

enum { GRAIN = 512 };

typedef struct work {
    const kn_inquiry    *inquiry;
    int                  sensitive;
    const kn_class_list *list;
    kn_tally            *tallies; /* per worker */
} work;

static kn_status add_range(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    work *w = arg;
    (void)err;
    kn_tally_add(&w->tallies[worker], w->inquiry, w->sensitive, w->list, begin, end, worker);
    return KN_OK;
}

/* All classes of one sensitive column into `total`. */
static kn_status tally_classes(kn_tally *total, const kn_inquiry *q, int sensitive, const kn_class_list *list,
                               kn_error *err)
{
    int               workers = kn_context_threads(q->ctx), models = q->options->requirement_count;
    kn_tally         *tallies = kn_alloc_array(q->ctx, (size_t)workers, sizeof *tallies);
    kn_model_verdict *verdicts = kn_alloc_array(q->ctx, (size_t)workers * (size_t)models + 1, sizeof *verdicts);
    kn_status         st = tallies && verdicts ? KN_OK : kn_fail_memory(err, q->ctx, WHAT);
    if (st == KN_OK) {
        for (int w = 0; w < workers; w++) kn_tally_begin(&tallies[w], verdicts + (size_t)w * (size_t)models, models);
        work job = {q, sensitive, list, tallies};
        st = kn_parallel_for(q->ctx, list->classes->classes, GRAIN, add_range, &job, err);
    }
    for (int w = 0; w < workers && st == KN_OK; w++) kn_tally_merge(total, &tallies[w], q, sensitive);
    KN_FREE(tallies, verdicts);
    return st;
}

/* Rows with a missing quasi-identifier. */
static int64_t count_missing(const kn_freq *classes, const uint32_t *missing)
{
    int64_t rows = 0;
    for (int64_t i = 0; i < classes->classes; i++) {
        bool any = false;
        for (int c = 0; c < classes->layout.columns && !any; c++)
            any = missing[c] != UINT32_MAX && kn_freq_code(classes, i, c) == missing[c];
        if (any) rows += classes->counts[i];
    }
    return rows;
}

/* `violates` is made with the first sensitive column's classes. */
static kn_status report_column(kn_model_report *report, const kn_inquiry *q, int s, const uint32_t *missing,
                               uint8_t **violates, kn_error *err)
{
    const kn_model_options *o = q->options;
    const kn_column        *column = &q->table->columns[q->sensitive[s]];
    kn_freq                *classes = NULL;
    kn_class_list           list = {.missing = o->missing == KN_MISSING_DROP ? missing : NULL};
    KN_TRY(kn_freq_histograms(&classes, &list.histograms, q->ctx, q->table, q->quasi, o->quasi_count, q->sensitive[s],
                              err));
    list.classes = classes;
    if (!*violates) *violates = kn_alloc_array_zero(q->ctx, (size_t)classes->classes + 1, sizeof **violates);
    list.violates = *violates;
    kn_tally  total;
    char     *name = kn_strndup(q->ctx, column->name, strlen(column->name)); /* the report may outlive the table */
    kn_status st = *violates && name ? KN_OK : kn_fail_memory(err, q->ctx, WHAT);
    report->sensitive[s].name = name;
    kn_tally_begin(&total, report->verdicts, 0); /* the verdicts of earlier columns stay */
    if (st == KN_OK) st = tally_classes(&total, q, s, &list, err);
    if (st == KN_OK) {
        kn_tally_end(&total, q, s);
        report->missing_rows = count_missing(classes, missing);
        report->dropped = total.dropped;
        report->classes = total.classes;
        report->k = total.smallest;
        report->sensitive[s] = (kn_sensitive_report){.name = name,
                                                     .type = column->type,
                                                     .values = column->dict.count,
                                                     .missing = column->missing,
                                                     .figures = total.figures};
        kn_count_violations(classes, *violates, &report->violating_classes, &report->violating_rows);
        report->holds = report->violating_classes == 0 && (total.classes > 0 || o->requirement_count == 0);
    }
    kn_class_histograms_free(&list.histograms);
    kn_freq_free(classes);
    return st;
}

static kn_status fill_report(kn_model_report *report, const kn_inquiry *q, kn_error *err)
{
    const kn_model_options *o = q->options;
    report->rows = kn_table_total(q->table);
    report->sensitive_count = o->sensitive_count;
    report->requirement_count = o->requirement_count;
    report->sensitive = kn_alloc_array_zero(q->ctx, (size_t)o->sensitive_count, sizeof *report->sensitive);
    report->verdicts = kn_alloc_array(q->ctx, (size_t)o->requirement_count + 1, sizeof *report->verdicts);
    uint32_t *missing = kn_alloc_array(q->ctx, (size_t)o->quasi_count, sizeof *missing);
    uint8_t  *violates = NULL;
    kn_status st = report->sensitive && report->verdicts && missing ? KN_OK : kn_fail_memory(err, q->ctx, WHAT);
    if (st == KN_OK) {
        kn_tally blank;
        kn_tally_begin(&blank, report->verdicts, o->requirement_count);
        for (int i = 0; i < o->quasi_count; i++) {
            const kn_column *column = &q->table->columns[q->quasi[i]];
            missing[i] = column->missing > 0 ? column->dict.count : UINT32_MAX;
        }
    }
    for (int s = 0; s < o->sensitive_count && st == KN_OK; s++)
        st = report_column(report, q, s, missing, &violates, err);
    KN_FREE(missing, violates);
    return st;
}

kn_status kn_diagnose_models(kn_model_report **out, kn_context *ctx, const kn_table *table,
                             const kn_model_options *options, kn_error *err)
{
    *out = NULL;
    KN_SERVE(ctx, err);
    KN_OPTIONS(kn_model_options, KN_MODEL_OPTIONS_INIT, options, "model options", err);
    kn_inquiry       q;
    kn_model_report *report = NULL;
    kn_status        st = kn_inquiry_begin(&q, ctx, table, options, err);
    if (st == KN_OK) {
        report = kn_alloc_zero(ctx, sizeof *report);
        st = report ? fill_report(report, &q, err) : kn_fail_memory(err, ctx, WHAT);
    }
    kn_inquiry_end(&q);
    if (st == KN_OK)
        *out = report;
    else
        kn_model_report_free(report);
    return st;
}

void kn_model_report_free(kn_model_report *report)
{
    if (!report) return;
    for (int s = 0; report->sensitive && s < report->sensitive_count; s++) kn_free((char *)report->sensitive[s].name);
    KN_FREE(report->sensitive, report->verdicts, report);
}
