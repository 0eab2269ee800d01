/* kanon/workload.h: what a release is good for: aggregate queries answered on the original and on the release.
 *
 * A workload is a list of weighted queries in a small part of SQL (docs/workload.md):
 *
 *     2.5 SELECT COUNT(*) FROM people WHERE sex = 'Male' AND age BETWEEN 20 AND 30;   -- weight 2.5; without one: 1
 *     SELECT AVG(age) FROM people WHERE disease IN ('flu', 'gout');
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KANON_WORKLOAD_H
#define KANON_WORKLOAD_H

#include <kanon/measure.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum kn_aggregate {
    KN_AGGREGATE_COUNT = 0,
    KN_AGGREGATE_SUM,
    KN_AGGREGATE_AVG,
    KN_AGGREGATE_MIN,
    KN_AGGREGATE_MAX,
    KN_AGGREGATES
} kn_aggregate;

/* "COUNT", ... Static. */
KN_API const char *kn_aggregate_name(kn_aggregate aggregate);

typedef enum kn_comparison {
    KN_COMPARE_EQUAL = 0,
    KN_COMPARE_UNEQUAL,
    KN_COMPARE_LESS,
    KN_COMPARE_AT_MOST,
    KN_COMPARE_GREATER,
    KN_COMPARE_AT_LEAST,
    KN_COMPARE_BETWEEN, /* two values, both included */
    KN_COMPARE_IN,      /* at least one value        */
    KN_COMPARE_NULL     /* IS NULL: a missing cell   */
} kn_comparison;

/* A value as written: the text of 'x' (quotes undone), or a number. Lines and columns count from 1, in characters. */
typedef struct kn_literal {
    const char *text;
    int64_t     line, column;
} kn_literal;

/* A missing cell satisfies IS NULL and nothing else, whether negated or not. */
typedef struct kn_predicate {
    const char       *attribute;
    kn_comparison     comparison;
    bool              negated; /* NOT BETWEEN, NOT IN, IS NOT NULL */
    int               value_count;
    const kn_literal *values;
    int64_t           line, column;
} kn_predicate;

typedef struct kn_query {
    double              weight; /* > 0, finite                                         */
    kn_aggregate        aggregate;
    const char         *attribute; /* what is summed up, ...; NULL with COUNT          */
    int                 predicate_count;
    const kn_predicate *KN_PRIVATE(predicates); /* kn_query_predicate_at: all must hold                                   */
    const char         *text;       /* from SELECT on, in one line, without comments   */
    int64_t             line, column;
    int64_t             attribute_line, attribute_column;
} kn_query;

/* Immutable; may be read by any thread. */
typedef struct kn_workload {
    const char     *path; /* for messages */
    int             query_count;
    const kn_query *KN_PRIVATE(queries); /* kn_workload_query_at */
} kn_workload;

KN_API const kn_query     *kn_workload_query_at(const kn_workload *workload, int index); /* NULL: none */
KN_API const kn_predicate *kn_query_predicate_at(const kn_query *query, int index);

/* Reads a workload ("-": standard input). KN_INPUT with line and column: it is none, or holds no query; the message does
 * not quote the text. KN_IO: it cannot be read. */
KN_API KN_CHECK kn_status kn_workload_read(kn_workload **out, kn_context *ctx, const char *path, kn_error *err);

/* The same from text in memory; `name` is for messages. */
KN_API KN_CHECK kn_status kn_workload_parse(kn_workload **out, kn_context *ctx, const char *name, const char *text,
                                            size_t size, kn_error *err);
KN_API void               kn_workload_free(kn_workload *workload);

/* Where the values behind SUM, AVG, MIN and MAX come from. */
typedef enum kn_answer_source {
    KN_ANSWER_COUNTED = 0, /* COUNT: none needed                                                       */
    KN_ANSWER_EXACT,       /* the column is released as it was                                         */
    KN_ANSWER_PUBLISHED,   /* means and ranges of the classes were published                           */
    KN_ANSWER_CELLS        /* nothing was published: values are assumed to be spread evenly over the cells */
} kn_answer_source;

/* "counted", "exact", "published", "cells". Static. */
KN_API const char *kn_answer_source_name(kn_answer_source source);

/* A query's answers. NAN: SUM, AVG, MIN or MAX of no value, or a bound that is not known. */
typedef struct kn_answer {
    double           original;     /* exact                                                                    */
    double           estimate;     /* on the release: rows are assumed to be spread evenly over their cells    */
    double           lower, upper; /* on the release: bounds of the original's answer                          */
    double           error;        /* relative: docs/workload.md                                               */
    kn_answer_source source;
} kn_answer;

typedef struct kn_workload_report {
    int              query_count;
    const kn_answer *KN_PRIVATE(answers); /* kn_workload_answer_at: in the workload's order                          */
    double           weight;     /* sum of the weights                               */
    double           total;      /* sum of weight × error                            */
    double           mean;       /* total / weight                                   */
    int64_t          rows, released, combinations; /* of the original, of the release; distinct ones that were looked at */
} kn_workload_report;

KN_API const kn_answer *kn_workload_answer_at(const kn_workload_report *report, int index); /* NULL: none */

/* Answers every query on both tables. The release may be of any method, made by kanon or not; cells are read as
 * kn_measure reads them. `summary` (NULL: none): a file of published means and ranges (docs/workload.md says which
 * columns it has). KN_INPUT beyond those of kn_measure: a column that one of the tables lacks, a value that is not of
 * its column's type, SUM and the like of something that is not a number (each with line and column of the workload);
 * a summary that does not fit the release. `options` may be NULL. */
KN_API KN_CHECK kn_status kn_measure_workload(kn_workload_report **out, kn_context *ctx, const kn_spec *spec,
                                              const kn_measure_options *options, const kn_workload *workload,
                                              const char *summary, kn_error *err);
KN_API void               kn_workload_report_free(kn_workload_report *report);

#ifdef __cplusplus
}
#endif

#endif
