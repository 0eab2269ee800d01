/* kanon/measure.h: what did a release lose? Every metric from the files alone, without the plan that made it. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KANON_MEASURE_H
#define KANON_MEASURE_H

#include <kanon/spec.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct kn_measured_attribute {
    const char *name;
    double      lm, ncp, prec, entropy;
} kn_measured_attribute;

typedef struct kn_measure_report {
    int64_t                      rows; /* of the original, without those that missing: drop leaves out       */
    int64_t                      released, suppressed, classes;
    int64_t                      k; /* smallest released class, in rows; 0: none                            */
    int                          attribute_count;
    const kn_measured_attribute *KN_PRIVATE(attributes);          /* kn_measured_attribute_at */
    double                       KN_PRIVATE(metrics)[KN_METRICS]; /* kn_measured_metric; the end */
} kn_measure_report;

/* dm_star NAN where the files do not say; c_avg INFINITY without a released row. */
KN_API double                       kn_measured_metric(const kn_measure_report *report, kn_metric metric);
KN_API const kn_measured_attribute *kn_measured_attribute_at(const kn_measure_report *report, int index); /* NULL: none */

typedef struct kn_measure_options {
    size_t             size;      /* sizeof(kn_measure_options), set by the initializer */
    const char *const *originals; /* files; NULL: the spec's inputs                     */
    int                original_count;
    const char        *release; /* file; NULL: the spec's output                        */
} kn_measure_options;

#define KN_MEASURE_OPTIONS_INIT {sizeof(kn_measure_options), NULL, 0, NULL}
KN_API void kn_measure_options_init(kn_measure_options *options, size_t size);

/* Measures any release of the quasi-identifiers in `spec`, made by kanon or not; docs/metrics.md says how cells are
 * read. Of the spec only the inputs, attributes, models and the treatment of missing and suppressed rows are used; it
 * need not pass kn_spec_check. KN_INPUT with row and column where a cell is neither a value, a label of the
 * hierarchy, an interval, a set nor "*"; a missing column; more rows than the original has. KN_USAGE: no
 * quasi-identifier, original or release. `options` may be NULL. */
KN_API KN_CHECK kn_status kn_measure(kn_measure_report **out, kn_context *ctx, const kn_spec *spec,
                                     const kn_measure_options *options, kn_error *err);
KN_API void               kn_measure_report_free(kn_measure_report *report);

/* ---- Databases ---- */

/* A table of a database; rows are those that belong to persons. */
typedef struct kn_measured_table {
    const char *name;
    int64_t     rows, released, deleted;
    int64_t     cells; /* of quasi-identifiers in all rows, and what the rows weigh beyond them          */
    double      lm;    /* of these cells: a deleted one counts 1; 0 without any                          */
} kn_measured_table;

/* A quasi-identifier of a database: the figures of a column, and what became of its cells. */
typedef struct kn_measured_column {
    int         table; /* of the report */
    const char *name;
    double      lm, ncp, prec, entropy;
    int64_t     kept, generalized, suppressed; /* cells that show their value, a broader one, nothing ("*", or deleted) */
} kn_measured_column;

typedef struct kn_database_measure_report {
    int64_t                   persons; /* of the original                                                */
    int64_t                   released, suppressed, classes;
    int64_t                   k;  /* smallest released class, in persons; 0: none                        */
    double                    lm; /* Definition 7 of the multi-relational paper, over all cells          */
    double                    lm_released; /* the same over the released cells                           */
    double                    dm;          /* Definition 8                                               */
    int                       table_count;
    const kn_measured_table  *KN_PRIVATE(tables); /* kn_measured_table_at */
    int                       column_count;
    const kn_measured_column *KN_PRIVATE(columns); /* kn_measured_column_at; the end */
} kn_database_measure_report;

/* NULL: there is none. */
KN_API const kn_measured_table  *kn_measured_table_at(const kn_database_measure_report *report, int index);
KN_API const kn_measured_column *kn_measured_column_at(const kn_database_measure_report *report, int index);

/* The same for a release of a database: its cells are read as those of a table, rows of the original that the release lacks are
 * deleted. KN_INPUT also where the release has more rows of a table, or more persons, than the original; KN_USAGE: an anatomy,
 * whose cells are as they were. */
KN_API KN_CHECK kn_status kn_measure_database(kn_database_measure_report **out, kn_context *ctx, const kn_spec *spec,
                                              const kn_measure_options *options, kn_error *err);
KN_API void               kn_database_measure_report_free(kn_database_measure_report *report);

#ifdef __cplusplus
}
#endif

#endif
