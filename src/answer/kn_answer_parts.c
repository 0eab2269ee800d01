/* kn_answer_parts.c: parts of several answers. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
#include <math.h>

#include "kn_answer.h"
#include "kn_error.h"

typedef struct metrics {
    double lm, ncp, prec, entropy, dm, dm_star, c_avg; /* in the order of kn_metric */
} metrics;

static_assert(sizeof(metrics) == KN_METRICS * sizeof(double), "every metric has its field");

static const kn_field_row metrics_rows[] = {
    KN_FIELD(metrics, lm, KN_F_SHARE,
             "how many of a column's values a cell may stand for, on average: 0 as it was, 1 all lost"),
    KN_FIELD(metrics, ncp, KN_F_SHARE, "the same as a share of all values of the column: 0 as it was, 1 all lost"),
    KN_FIELD(metrics, prec, KN_F_SHARE,
             "how many levels of its hierarchy a cell kept, on average: 1 as it was, 0 all lost"),
    KN_FIELD(metrics, entropy, KN_F_BITS, "by how much the cells say less than they did"),
    KN_FIELD(metrics, dm, KN_F_NUMBER, "sum of squared class sizes; a suppressed row costs all rows"),
    KN_FIELD(metrics, dm_star, KN_F_NUMBER, "the same with suppressed rows left in their classes"),
    KN_FIELD(metrics, c_avg, KN_F_NUMBER, "rows of the average class, in units of k"),
};
const kn_fields kn_metrics_part = KN_FIELDS(metrics, "metrics", metrics_rows, NULL);

static const kn_field_row sizes_rows[] = {
    KN_FIELD(kn_size_count, size, KN_F_COUNT, "rows, or persons, of a class"),
    KN_FIELD(kn_size_count, classes, KN_F_CLASSES, "classes of that size"),
    KN_FIELD(kn_size_count, rows, KN_F_ROWS, "rows in them"),
};
const kn_fields kn_sizes_part = KN_FIELDS(kn_size_count, "sizes", sizes_rows, NULL);

double kn_ratio_number(kn_ratio ratio)
{
    return ratio.denominator ? (double)ratio.numerator / (double)ratio.denominator : NAN;
}

double kn_model_asked(const kn_model *m)
{
    switch (m->kind) {
    case KN_MODEL_K:
    case KN_MODEL_K_MAP: return (double)m->k;
    case KN_MODEL_DISTINCT:
    case KN_MODEL_ENTROPY: return kn_ratio_number(m->l);
    case KN_MODEL_RECURSIVE: return kn_ratio_number(m->c);
    default: return kn_ratio_number(m->bound);
    }
}

kn_status kn_answer_begin(kn_document **out, kn_context *ctx, const kn_fields *answer, const void *from, kn_error *err)
{
    KN_TRY(kn_document_begin(out, ctx, answer, err));
    kn_put_struct(kn_document_top(*out), from);
    return KN_OK;
}

kn_status kn_answer_of(kn_document **out, kn_context *ctx, const kn_fields *answer, const void *from, kn_error *err)
{
    kn_document *doc;
    KN_TRY(kn_answer_begin(&doc, ctx, answer, from, err));
    return kn_document_end(out, doc, err);
}

/* ---- Processor time ---- */

static const kn_field_row effort_rows[] = {
    KN_VALUE("work", KN_F_SECONDS, "processor time of all threads of kanon, none of an engine's"),
    KN_VALUE("span", KN_F_SECONDS,
             "of it, the longest chain of steps that wait for each other: what one thread does alone, and the longest "
             "piece of each part that is divided among threads"),
    KN_VALUE("parallelism", KN_F_NUMBER,
             "work / span: more processors than this are of no use; null: nothing was done"),
};
const kn_fields kn_effort_part = KN_FIELDS_PUT("effort", effort_rows);

void kn_put_effort(kn_to to, const char *name, double work, double span)
{
    kn_to one = kn_put_object(to, name);
    kn_put_number(one, "work", work);
    kn_put_number(one, "span", span);
    kn_put_number(one, "parallelism", span > 0 ? work / span : NAN);
}
