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
    const char        *map;     /* of records: the row map of the release; NULL: none   */
} kn_measure_options;

#define KN_MEASURE_OPTIONS_INIT {sizeof(kn_measure_options), NULL, 0, NULL, NULL}
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

/* ---- Records that are trees ---- */

/* A class of the original: what became of its nodes. All but the first two and `values` are -1, or NAN, where it is not known
 * which released record is whose. */
typedef struct kn_measured_class {
    const char *name;
    int64_t     nodes;
    int64_t     kept, generalized, suppressed; /* the released record shows the value, a broader one of the class, nothing ("*") */
    double      loss;   /* how broad they became, on average: 0 as they were, 1 nothing is shown        */
    int64_t     values; /* different ones                                                               */
    int64_t     values_kept; /* of these, shown anywhere                                                */
} kn_measured_class;

typedef struct kn_records_measure_report {
    int64_t                  records; /* of the original                                               */
    int64_t                  released, suppressed;
    int64_t                  nodes, nodes_released;
    int64_t                  relations, relations_released;
    int64_t                  values, values_released; /* different ones                                 */
    double                   rpd, rpd_original;
    double                   loss, node_survival; /* NAN: which released record is whose is not known: see map  */
    double                   relation_survival, relation_unchanged; /* likewise                         */
    double                   ml2, dml2; /* NAN: likewise, or the spec has no `support`                  */
    int                      class_count;
    const kn_measured_class *KN_PRIVATE(classes); /* kn_measured_class_at; the end */
} kn_records_measure_report;

KN_API const kn_measured_class *kn_measured_class_at(const kn_records_measure_report *report, int index); /* NULL: none */

/* The same for records that are trees, of which only the values, hierarchies, weights and `support` of the spec are used; for persons
 * of a database it passed kn_spec_check or kn_spec_check_use. Without a row map released records are assigned by the values that they
 * show. Where that leaves a choice, or a value shows as several, what depends on it is not known. KN_INPUT: a released value that is none
 * of the original or its hierarchy; more records than the original; a released record that shows what no record of the original can;
 * a row map that is none of this release. */
KN_API KN_CHECK kn_status kn_measure_records(kn_records_measure_report **out, kn_context *ctx, const kn_spec *spec,
                                             const kn_measure_options *options, kn_error *err);
KN_API void               kn_records_measure_report_free(kn_records_measure_report *report);

#ifdef __cplusplus
}
#endif

#endif
