/* kanon/anonymize.h: from a spec to a release that was verified before it got its name.
 *
 * Reads the inputs, searches, recodes, writes a temporary file (mode 0600) beside the output, reads it back, verifies
 * these bytes with independent code, and renames. Files beside the release: OUTPUT.certificate.json (may be
 * published: it is made from the release and the request alone), OUTPUT.private.json (mode 0600: every figure, seed,
 * digests of the inputs) and, on request, OUTPUT.rowmap (mode 0600). A failure or cancellation leaves the old files
 * or none. The certificate gets its name last: whoever sees a certificate sees the release it belongs to. A kill
 * while the files get their names leaves a journal (kn_release_settle).
 *
 * Standard input, a pipe or a device is first copied to an unnamed file, since the verifier reads it again. A release
 * to standard output, a pipe or a device is verified in such a file and then copied; nothing is written beside it.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KANON_ANONYMIZE_H
#define KANON_ANONYMIZE_H

#include <kanon/advise.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A node of the lattice. */
typedef struct kn_release_node {
    const int *levels; /* one per quasi-identifier */
    double     loss;   /* the chosen metric        */
    int64_t    suppressed;
    int64_t    classes;
} kn_release_node;

/* A promise and what the release reaches. */
typedef struct kn_release_model {
    kn_model model;
    double   reached;  /* by the worst class of the release (see kn_model_verdict); of average risk: the average */
    double   original; /* the same of the original; NAN: not known (databases and records, but for k)           */
} kn_release_model;

typedef struct kn_release_counter {
    const char *name; /* "nodes_checked", ... */
    double      value;
} kn_release_counter;

/* What a column lost. */
typedef struct kn_release_attribute {
    const char *name;
    int         level, height; /* -1, -1 where the method has no levels */
    double      lm, ncp, prec, entropy;
} kn_release_attribute;

/* What a bar of a distribution stands for. */
typedef enum kn_bar_kind {
    KN_BAR_VALUE = 0, /* a value of the original                                                    */
    KN_BAR_RANGE,     /* the numbers or dates from one up to another                                */
    KN_BAR_OTHERS,    /* the values that have no bar of their own                                   */
    KN_BAR_ABSENT,    /* values of a hierarchy that the original does not have                      */
    KN_BAR_MISSING,   /* missing cells                                                              */
    KN_BAR_STAR,      /* cells that show *                                                          */
    KN_BAR_KINDS
} kn_bar_kind;

typedef struct kn_release_bar {
    kn_bar_kind kind;
    const char *label;  /* the value, or the ends of a range; NULL: another kind                    */
    int64_t     before; /* cells of the original                                                    */
    double      after;  /* cells of the release; one that stands for several values is shared by them evenly */
} kn_release_bar;

/* How the values of a released column are spread before and after. It shows values of the original: it is the owner's. */
typedef struct kn_release_distribution {
    const char           *table;   /* of a database; else NULL                                      */
    const char           *name;    /* of the column; of records: of the class                       */
    kn_role               role;
    bool                  ordered; /* the bars of values are in the order of numbers or dates; else the most frequent first */
    int64_t               values;  /* different ones of the original                                */
    int64_t               folded;  /* ... that have no bar of their own, and no range               */
    int64_t               before, after; /* cells; of records: nodes                                */
    double                distance; /* total variation: the share of the cells that would have to change to make one look
                                       like the other, by range or value; NAN: no cell is left      */
    int                   bar_count;
    const kn_release_bar *KN_PRIVATE(bars); /* kn_release_bar_at */
} kn_release_distribution;

struct kn_release_distributions;

/* The beginning of every result, whatever the shape of the data. A figure that a shape does not have is 0. */
typedef struct kn_release_head {
    kn_method   method;
    bool        found;    /* false: there is no such release; nothing was written                  */
    bool        complete; /* false: the time limit ended the search                                */
    const char *reason;   /* not found: why, in a sentence                                         */
    const char *nothing_left; /* nothing of use is left, as a sentence: a release only with force. NULL: something is left */
    int64_t     k;        /* the smallest class of the release: rows, persons where they have several (tables, databases);
                             of records the fewest that somebody within m and n finds, of those who find any */
    int64_t     k_before;   /* of tables and databases, as the next two                            */
    int64_t     suppressed; /* rows, persons                                                       */
    int64_t     classes;
    double      largest_share; /* of a class's members, or of the records that somebody finds, with one sensitive value;
                                  0: no such promise (databases, records)                          */
    int                       model_count;
    const kn_release_model   *KN_PRIVATE(models); /* kn_release_model_at */
    int                       counter_count;
    const kn_release_counter *counters;
    int                       dropped_count; /* what was not declared: columns, "table.column", elements and keys */
    const char *const        *dropped;
    int                       size_count, size_count_before; /* class sizes after and before, ascending (tables, databases) */
    const kn_size_count      *sizes, *sizes_before;
    int                       note_count; /* what the user should know: sentences without a value of the data */
    const char *const        *notes;
    double                    seconds_read, seconds_search, seconds_write, seconds_verify;
    char                      sha256[65]; /* of the release, where it is one file                  */
    const kn_advice          *advice; /* method: auto: what was tried and chosen; else NULL        */
    double                    work_read, work_search, work_write, work_verify; /* seconds of processor of all threads ... */
    double                    span_read, span_search, span_write, span_verify; /* ... and of steps that wait for each other */
    const struct kn_release_distributions *KN_PRIVATE(distributions); /* kn_release_distribution_at     */
    uint64_t                  KN_PRIVATE(room)[7]; /* for later versions: more of a result follows    */
} kn_release_head;

KN_API const kn_release_model *kn_release_model_at(const kn_release_head *head, int index); /* NULL: none */

/* The columns before and after, in the order of the release, where a report was asked for (kn_spec.report). NULL: none, as for
 * a table that did not fit into memory. */
KN_API const kn_release_distribution *kn_release_distribution_at(const kn_release_head *head, int index);
KN_API const kn_release_bar          *kn_release_bar_at(const kn_release_distribution *distribution, int index);

/* ---- Tables ---- */

/* This release and an earlier one, taken together (kn_apply). */
typedef struct kn_release_union {
    int64_t       rows;       /* of both, suppressed ones as far as they are shown */
    int64_t       suppressed; /* of them                                           */
    int64_t       classes;
    int64_t       k;           /* the smallest class                                */
    int           model_count; /* the spec's                                        */
    const double *reached;     /* per model, by the worst class                     */
} kn_release_union;

/* The column of sets (role: set) and what became of its items, each counted once per row. */
typedef struct kn_release_items {
    const char *name;
    int         m;       /* items that somebody may know beside the quasi-identifiers                    */
    int64_t     k;       /* the fewest rows of a class that show a combination of up to m items; of a class that shows
                            none its rows; 0: not verified yet                                           */
    int64_t     items;   /* of the original, rows that are left out aside                                */
    int64_t     kept;    /* shown as they were                                                           */
    int64_t     hidden;  /* in cells that show *                                                         */
    int64_t     classes; /* whose cells all show *                                                       */
    double      loss;    /* the mean over the items of (covered leaves - 1) / (leaves - 1); hidden: 1    */
} kn_release_items;

typedef struct kn_release_result {
    kn_release_head head;
    kn_metric   utility;
    bool        optimal;  /* proved to be the best for the metric                                  */
    int64_t     rows_in;  /* rows of the inputs                                                    */
    int64_t     missing_cells; /* of the quasi-identifiers in the inputs                           */
    int64_t     missing_dropped; /* rows left out because a quasi-identifier is missing (missing: drop) */
    int64_t     rows;     /* of the release, suppressed ones as far as they are shown              */
    int64_t     average_suppressed; /* of the suppressed ones: only because of average risk        */
    double      lattice;  /* nodes of the lattice; 0 where the method has none                     */
    int         level_count;
    const int  *levels;   /* the chosen node, in the order of the quasi-identifiers                */
    int                         attribute_count;
    const kn_release_attribute *KN_PRIVATE(attributes); /* kn_release_attribute_at: the quasi-identifiers */
    int64_t                     solution_count; /* all_solutions: minimal good nodes                */
    const kn_release_node      *KN_PRIVATE(solutions); /* kn_release_solution_at */
    int64_t region_bound; /* strict partitioning in ordered dimensions, k alone: no class has more than 2d(k - 1) + m rows
                             (m: copies of the most frequent combination of original values); 0: no such bound       */
    double  c_avg_bound, dm_bound; /* what follows from it: c_avg <= bound / k, dm <= bound * rows                    */
    double  loss_bound; /* optimal, heuristic: no choice of levels loses less by the metric; NAN: nothing is known       */
    const kn_release_union *KN_PRIVATE(together); /* kn_release_together */
    const kn_release_items *KN_PRIVATE(items); /* kn_release_items_of */
    double  KN_PRIVATE(metrics)[KN_METRICS]; /* kn_release_metric; the end                                            */
} kn_release_result;

KN_API double                      kn_release_metric(const kn_release_result *result, kn_metric metric); /* NAN: none */
KN_API const kn_release_attribute *kn_release_attribute_at(const kn_release_result *result, int index);  /* NULL: none */
KN_API const kn_release_node      *kn_release_solution_at(const kn_release_result *result, int64_t index);
KN_API const kn_release_items     *kn_release_items_of(const kn_release_result *result); /* NULL: no column of sets */
KN_API const kn_release_union     *kn_release_together(const kn_release_result *result); /* NULL: no earlier release */

typedef struct kn_anonymize_options {
    size_t      size;    /* sizeof(kn_anonymize_options), set by the initializer */
    bool        all_solutions; /* also list all minimal nodes: kn_method_has_nodes, else KN_USAGE */
    bool        dry_run; /* search and measure, write nothing */
    const char *version; /* of the program, for the certificate */
    const char *earlier; /* kn_apply: an earlier release by the same recipe; the promises are counted on both together,
                            and there is no release if they do not keep one. NULL: none             */
    bool        disjoint; /* nobody is in both; without it an earlier release is refused: KN_USAGE  */
} kn_anonymize_options;

#define KN_ANONYMIZE_OPTIONS_INIT {sizeof(kn_anonymize_options), false, false, NULL, NULL, false}
KN_API void kn_anonymize_options_init(kn_anonymize_options *options, size_t size);

/* Runs a spec that passed kn_spec_check. If there is no such release, the call returns KN_OK with found == false.
 * KN_INTERNAL: the verifier rejected what was written; nothing was renamed. KN_USAGE: the output is one of the files
 * read; missing: wildcard. KN_INPUT: an empty table, a missing column, a kept column that identifies single rows
 * (more than 9 of 10 values occur once, or more than half of the cells are different texts; at least 10 cells; force
 * allows it), a value that looks like what only a release contains. KN_IO: the folder of the output is not writable,
 * the disk is full, ... */
KN_API KN_CHECK kn_status kn_anonymize(kn_release_result **out, kn_context *ctx, const kn_spec *spec,
                                       const kn_anonymize_options *options, kn_error *err);
KN_API void               kn_release_result_free(kn_release_result *result);

/* Makes a release of any shape: kn_anonymize, kn_anonymize_database or kn_anonymize_records, as kn_spec_shape says. *out is the
 * head of that function's result and may be cast to it. */
KN_API KN_CHECK kn_status kn_anonymize_any(kn_release_head **out, kn_context *ctx, const kn_spec *spec,
                                           const kn_anonymize_options *options, kn_error *err);
KN_API void               kn_release_head_free(kn_release_head *head); /* NULL is fine */

/* A run that is killed while the files of its release get their names leaves a journal. This function completes or
 * undoes such a run. kn_anonymize and the like do so themselves; call it before reading or replacing a release by
 * other means. `release` is a name as in the spec's output; without a journal beside it nothing happens. `note`
 * (KN_SETTLE_NOTE bytes) receives a sentence for the user, or an empty text. `wait`: wait some seconds for a run that
 * is just naming its files, as readers should. KN_IO: such a run is still busy, the journal is not the user's own, or
 * it cannot be settled. */
enum { KN_SETTLE_NOTE = 600 };
KN_API KN_CHECK kn_status kn_release_settle(kn_context *ctx, const char *release, bool wait, char *note, kn_error *err);

/* ---- Databases ---- */

/* A table of the release. */
typedef struct kn_release_table {
    const char *name;
    int64_t     rows_in;
    int64_t     orphans; /* rows that belong to no person: never released                      */
    int64_t     rows;
    int64_t     deleted; /* rows that belong to a person and are not released                  */
    int64_t     cells;   /* of quasi-identifiers, in the rows that belong to persons           */
    double      lm;      /* over these cells: a deleted one counts 1                           */
} kn_release_table;

typedef struct kn_database_result {
    kn_release_head         head;
    int64_t                 persons_in, persons;
    int                     table_count;
    const kn_release_table *KN_PRIVATE(tables); /* kn_release_table_at */
    double                  lm, lm_released, dm; /* Definitions 7 and 8; docs/metrics.md     */
    const char             *beside; /* the prefix of the files beside the release: BESIDE.certificate.json, ...   */
} kn_database_result;

KN_API const kn_release_table *kn_release_table_at(const kn_database_result *result, int index); /* NULL: none */

/* Runs a spec that describes a database and passed kn_spec_check: reads it, clusters its persons, writes a new
 * database with the same schema, reads it back, verifies it and only then commits: a new SQLite file, a new schema on
 * a server in one transaction, or a folder. Statuses as for kn_anonymize. KN_INPUT: the schema is not a snowflake
 * around the table of persons. KN_IO: the connection was lost; the transaction is rolled back. */
KN_API KN_CHECK kn_status kn_anonymize_database(kn_database_result **out, kn_context *ctx, const kn_spec *spec,
                                                const kn_anonymize_options *options, kn_error *err);
KN_API void               kn_database_result_free(kn_database_result *result);

/* ---- Tree records ---- */

typedef struct kn_records_result {
    kn_release_head head;
    int64_t records;              /* of the original                                                   */
    kn_kmn  kmn;                  /* what was asked                                                    */
    int64_t values, values_original; /* different ones that the records show                           */
    int64_t disassociations;      /* relations between values that vanished everywhere                 */
    int64_t nodes, nodes_original;
    int64_t relations, relations_original; /* ancestor-descendant pairs                                */
    double  node_survival, relation_survival; /* shares: nodes that show their own value, relations that remain,
                                                 possibly between broader values */
    double  relation_unchanged;   /* share of the relations that remain between the same values          */
    double  cost;                 /* RPDa, which guided the search; NAN: classes weigh differently       */
    double  rpd, rpd_original;    /* docs/metrics.md                                                   */
    double  ml2, dml2;            /* NAN: not mined (support 0)                                        */
    int64_t merged;               /* nodes of the input that were equal to a sibling                   */
    int64_t given_up;             /* nodes of the original that their record does not show, not even as a broader value; of a
                                     record left out: whose value is nowhere shown (suppression)       */
    int64_t left_out;             /* records that are not released (suppression)                       */
    double  loss;                 /* the mean over the original's nodes, by the weights of their classes, of how broad they
                                     became: 0: as it was; 1: "*", given up or left out                */
    const char *beside;           /* of a release that is a database: as kn_database_result has it; NULL: a file */
} kn_records_result;

/* Runs a spec of tree records that passed kn_spec_check: k^(m,n)-anonymity (kanon/records.h). Written, read back, verified
 * and renamed as kn_anonymize does; the output is a file. Statuses as there. */
KN_API KN_CHECK kn_status kn_anonymize_records(kn_records_result **out, kn_context *ctx, const kn_spec *spec,
                                               const kn_anonymize_options *options, kn_error *err);
KN_API void               kn_records_result_free(kn_records_result *result);

#ifdef __cplusplus
}
#endif

#endif
