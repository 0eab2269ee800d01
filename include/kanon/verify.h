/* kanon/verify.h: does a release keep its promises? Everything is derived anew from the bytes of the files by code that
 * shares nothing with the methods.
 *
 * From the release alone: every privacy model, no identifier or undeclared column, suppressed rows as the spec says.
 * From the release and the original: every released cell covers the original's (an ancestor, an interval or a set),
 * sensitive and kept cells are equal, no row appears that the original does not have. With a row map each released
 * row is compared with its original; without one the verifier searches for an assignment of originals to released
 * rows.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KANON_VERIFY_H
#define KANON_VERIFY_H

#include <kanon/database.h>
#include <kanon/records.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum kn_assignment {
    KN_ASSIGNMENT_PROVED = 0, /* every released row has an original of its own */
    KN_ASSIGNMENT_REFUTED,
    KN_ASSIGNMENT_UNDECIDED   /* too large to decide without a row map         */
} kn_assignment;

/* May the release be published? */
typedef enum kn_outcome {
    KN_OUTCOME_UNDECIDED = 0, /* nothing was found wrong, but something could not be decided: it must not be published yet */
    KN_OUTCOME_FAILS,         /* something does not hold                                                             */
    KN_OUTCOME_HOLDS          /* everything was derived anew and holds                                               */
} kn_outcome;

/* "holds", "does not hold", "undecided". Static. */
KN_API const char *kn_outcome_name(kn_outcome outcome);

/* "proved", ... Static. */
KN_API const char *kn_assignment_name(kn_assignment assignment);

enum { KN_VERIFY_OPEN = 8 };

typedef struct kn_verified_model {
    kn_model model;
    double   reached; /* by the worst released class; see kn_model_verdict */
    int64_t  classes; /* that violate it                                   */
    bool     holds;
} kn_verified_model;

/* What was found. Reasons say where (row of the release, column), never a value. */
typedef struct kn_verify_report {
    bool          ok; /* outcome is KN_OUTCOME_HOLDS */
    kn_outcome    outcome;
    int64_t       rows;
    int64_t       suppressed; /* rows of the original that are shown as suppressed or left out */
    int64_t       classes;    /* of rows, without the suppressed ones */
    int64_t       k;          /* smallest class, of rows or persons; where rows stay linked: of persons who look alike with
                                 all their rows; 0: none     */
    int           model_count;
    const kn_verified_model *KN_PRIVATE(models); /* kn_verified_model_at */
    kn_assignment assignment;
    int           problem_count;       /* at most 100 are kept                          */
    const char *const *problems;
    bool          more_problems;
    int           open_count; /* what could not be decided, at most KN_VERIFY_OPEN sentences */
    const char *const *open;
    char          sha256[65]; /* of the release */
    bool          linked;     /* the release shows which rows are one person's: a pseudonym, columns of the person */
    const char   *read;       /* how the tables were read: "whole"; or, as they stayed where they are, by whom: "DuckDB", "the
                                 server", "DuckDB and the server", "the engine". Static     */
    kn_kmn        kmn;         /* of a column of sets (role: set): what was promised of it; k 0: there is none */
    int64_t       items_k;     /* the fewest rows of a class that show a combination of up to m items; of a class that shows
                                  none its rows                */
    int64_t       items_combinations; /* different ones, class by class                */
    int64_t       items_violations;   /* ... that fewer than kmn.k rows of their class show */
    int64_t       items_hidden;       /* classes whose cells all show *                */
    int64_t       items, items_kept;  /* with a row map: of the original, each once per row; shown as they were */
    double        items_loss;         /* as kn_release_items has it; NAN: there is no row map, or a label is on several levels */
    double        KN_PRIVATE(metrics)[KN_METRICS]; /* kn_verified_metric; the end */
} kn_verify_report;

/* Derived anew; NAN where a cell cannot be read, or in more than one way. */
KN_API double                   kn_verified_metric(const kn_verify_report *report, kn_metric metric);
KN_API const kn_verified_model *kn_verified_model_at(const kn_verify_report *report, int index); /* NULL: none */

typedef struct kn_verify_options {
    size_t             size;      /* sizeof(kn_verify_options), set by the initializer                             */
    const char *const *originals; /* files; NULL: the spec's inputs                                                */
    int                original_count;
    const char        *release;  /* file; NULL: the spec's output                                                  */
    const char        *map_path; /* OUTPUT.rowmap; NULL: none                                                      */
    const int64_t     *map;      /* the same in memory: the original row (0-based) of each released row; NULL: none */
    int64_t            map_count;
    int64_t            work_limit; /* steps of the search for originals before the answer is "undecided"; 0: 10^10 */
    double             time_limit; /* seconds; then the call ends with KN_UNDECIDED; 0: none                       */
    const int         *levels; /* the level that each quasi-identifier is claimed to be generalized to, in the order they
                                  were declared; checked, and used where a label is on several levels; NULL: none */
    int                level_count;
    int64_t            suppressed; /* the rows that are claimed to be suppressed, -1: no claim; looked at where no column
                                      tells these from rows that were generalized to the top                        */
    const char        *summary; /* file of published statistics; NULL: none. Needs a row map                       */
} kn_verify_options;

#define KN_VERIFY_OPTIONS_INIT {sizeof(kn_verify_options), NULL, 0, NULL, NULL, NULL, 0, 0, 0, NULL, 0, -1, NULL}
KN_API void kn_verify_options_init(kn_verify_options *options, size_t size);

/* Verifies. A release that fails is not a failure of the call: see ok. KN_INPUT: a file cannot be read as a table. */
KN_API KN_CHECK kn_status kn_verify(kn_verify_report **out, kn_context *ctx, const kn_spec *spec,
                                    const kn_verify_options *options, kn_error *err);
KN_API void               kn_verify_report_free(kn_verify_report *report);

/* Counts every promise on several releases of one request taken together, if nobody is in two of them: classes are of
 * rows that look alike in any of the files, and t, beta and delta refer to all rows that they show. Only models, k, rows,
 * classes and suppressed rows are filled in. KN_INPUT: a file with other columns. KN_USAGE: persons are to be counted. */
KN_API KN_CHECK kn_status kn_verify_together(kn_verify_report **out, kn_context *ctx, const kn_spec *spec,
                                             const char *const *releases, int count, kn_error *err);

/* ---- Databases ---- */

/* A table of the release. */
typedef struct kn_verified_table {
    const char *name;
    int64_t     rows;
    int64_t     deleted; /* rows of the original that belong to a person and are not released */
    double      lm;      /* over the original's cells of quasi-identifiers and what its rows weigh, a deleted one 1; NAN where a cell cannot be read */
} kn_verified_table;

/* What was found. Reasons say where (table, row of the release, column), never a value. */
typedef struct kn_database_verify_report {
    bool                     ok;      /* outcome is KN_OUTCOME_HOLDS                                 */
    kn_outcome               outcome;
    int64_t                  persons; /* of the release                                              */
    int64_t                  dropped; /* persons of the original that are not released               */
    int64_t                  classes; /* of persons whose trees of quasi-identifiers are equal       */
    int64_t                  k;       /* the smallest class; 0: none                                 */
    int                      table_count;
    const kn_verified_table *KN_PRIVATE(tables); /* kn_database_verified_table_at */
    int                      model_count;
    const kn_verified_model *KN_PRIVATE(models); /* kn_database_verified_model_at: `classes` counts nodes of classes
                                                    that violate it */
    double                   largest_share; /* of a node's members that one sensitive value belongs to; 0: no such promise */
    kn_assignment            assignment;
    double                   lm, dm; /* Definitions 7 and 8 (docs/errata.md M10), derived anew       */
    int                      problem_count; /* at most 100 are kept                                  */
    const char *const       *problems;
    bool                     more_problems;
    int                      open_count; /* what could not be decided, at most KN_VERIFY_OPEN sentences */
    const char *const       *open;
} kn_database_verify_report;

/* NULL: there is none. */
KN_API const kn_verified_table *kn_database_verified_table_at(const kn_database_verify_report *report, int index);
KN_API const kn_verified_model *kn_database_verified_model_at(const kn_database_verify_report *report, int index);

typedef struct kn_database_verify_options {
    size_t         size;     /* sizeof(kn_database_verify_options), set by the initializer                             */
    const char    *original; /* database; NULL: the spec's input                                                       */
    const char    *release;  /* database; NULL: the spec's output                                                      */
    const char    *map_path; /* OUTPUT.rowmap: which original person each released person is; NULL: none               */
    const int64_t *map;      /* the same in memory: the original's row of the table of persons for each row of the
                                release's, in the order it was read; NULL: none                                        */
    int64_t        map_count;
    int64_t        work_limit; /* pairs of rows that are compared before the answer is "undecided"; 0: 10^10                */
    double         time_limit; /* seconds; then the call ends with KN_UNDECIDED; 0: none                               */
    const char    *snapshot; /* PostgreSQL: the original is this exported snapshot; NULL: the current state            */
    const struct kn_cells *cells; /* internal: the release before it is committed; NULL: by its name                   */
} kn_database_verify_options;

#define KN_DATABASE_VERIFY_OPTIONS_INIT {sizeof(kn_database_verify_options), NULL, NULL, NULL, NULL, 0, 0, 0, NULL, NULL}
KN_API void kn_database_verify_options_init(kn_database_verify_options *options, size_t size);

/* Verifies a release of a database (multi-relational k-anonymity: Definitions 9 and 10). From the release alone:
 * every person's tree of quasi-identifiers equals that of at least k - 1 others, every promise about sensitive
 * values, keys that are atomic and join, no forbidden column. Against the original: every released person is an
 * original one with rows removed and quasi-identifiers generalized; nothing else changed, nobody occurs twice. The
 * row map is a CSV file (mode 0600) with, for each column C of the key of persons, "released C", then "original C".
 * For an anatomy (spec->anatomy) `classes` are groups of rows and `k` the fewest persons of a group; lm counts deleted
 * cells only and dm is NAN. KN_INPUT: a file cannot be read as a database; KN_USAGE: the spec does not describe one. */
KN_API KN_CHECK kn_status kn_verify_database(kn_database_verify_report **out, kn_context *ctx, const kn_spec *spec,
                                             const kn_database_verify_options *options, kn_error *err);

KN_API void               kn_database_verify_report_free(kn_database_verify_report *report);

/* ---- Tree records ---- */

/* What was found. Reasons say where (record and node of a file, both counted from 1), never a value. */
typedef struct kn_records_verify_report {
    bool                     ok;      /* outcome is KN_OUTCOME_HOLDS                                                   */
    kn_outcome               outcome;
    int64_t                  records; /* of the release                                                                */
    kn_kmn                   kmn;     /* the promise that was checked                                                  */
    kn_semantics             semantics;
    bool                     strict; /* moved nodes were checked too (S1)                                              */
    bool                     absent; /* attackers may also know that values (of negative classes) are absent (III-G)   */
    int64_t                  k; /* the fewest records that somebody within m and n finds, of those who find any; exact.
                                   0: nobody finds any, or it was not decided                                          */
    bool                     decided;      /* false: there are too many combinations to count (work_limit)             */
    int64_t                  combinations; /* different ones that occur: values with relations between them, nothing absent */
    int64_t                  violations;   /* ... that fewer than kmn.k records have                                   */
    int                      model_count;  /* the spec's; only l-diversity (distinct) of sensitive classes is known    */
    const kn_verified_model *KN_PRIVATE(models); /* kn_records_verified_model_at: `classes` counts combinations;
                                                    `reached`: one over the largest share */
    double                   largest_share; /* of the records that somebody finds, with one sensitive value; 0: no such
                                               promise                                                                 */
    kn_assignment            assignment;
    double                   rpd, rpd_original; /* equation 3 with |C(u)| per class (K2); NAN where a label is unknown */
    int64_t                  nodes, nodes_original; /* without the records' roots                                      */
    int64_t                  relations, relations_original; /* pairs of a node and one above it                        */
    int                      problem_count; /* at most 100 are kept                                                    */
    const char *const       *problems;
    bool                     more_problems;
    int                      open_count; /* what could not be decided, at most KN_VERIFY_OPEN sentences                */
    const char *const       *open;
    char                     sha256[65]; /* of the release; empty where it was not read from one file                  */
    int64_t                  given_up; /* nodes of the original whose record shows neither their value nor one above it; without a map at least so many */
    int64_t                  left_out; /* records of the original that the release lacks                               */
    double                   loss; /* as kn_records_result has it; NAN where a label is unknown                        */
} kn_records_verify_report;

KN_API const kn_verified_model *kn_records_verified_model_at(const kn_records_verify_report *report, int index);

typedef struct kn_records_verify_options {
    size_t         size;     /* sizeof(kn_records_verify_options), set by the initializer                              */
    const char    *original; /* file; NULL: the spec's input                                                           */
    const char    *release;  /* file; NULL: the spec's output                                                          */
    const char    *map_path; /* OUTPUT.rowmap: "kanon-rowmap 1", then the original's record of each released one,
                                counted from 1; NULL: none                                                             */
    const int64_t *map;      /* the same in memory, counted from 0; NULL: none                                         */
    int64_t        map_count;
    int64_t        work_limit;   /* sets of values that are counted, and steps of the search; 0: 2 * 10^10, and
                                    5 * 10^7 sets of one record                                                        */
    double         time_limit;   /* seconds; then the call ends with KN_UNDECIDED; 0: none                             */
    const char    *snapshot; /* of a database on a PostgreSQL server, as kn_database_verify_options has it             */
    kn_records_form form;    /* of the release; KN_RECORDS_AUTO: by its name                                           */
    /* internal: calls `report` with a sentence for everything in the release's file that is not written as kanon
     * writes it. */
    kn_status (*look_at_form)(void *state, void (*report)(void *arg, const char *sentence), void *arg, kn_error *err);
    void          *form_state;
    const struct kn_cells *cells; /* internal: a release that is a database, before it is committed; NULL: by its name */
} kn_records_verify_options;

#define KN_RECORDS_VERIFY_OPTIONS_INIT                                                                                         \
    {sizeof(kn_records_verify_options), NULL, NULL, NULL, NULL, 0, 0, 0, NULL, KN_RECORDS_AUTO, NULL, NULL, NULL}
KN_API void kn_records_verify_options_init(kn_records_verify_options *options, size_t size);

/* Verifies a release of tree records. From the release alone: k^(m,n)-anonymity (Definition 1: every set of up to m
 * values with up to n relations between them is found in no record or in at least k), under spec->semantics;
 * l-diversity of sensitive classes; with spec->strict_structure no rare position that betrays a moved node; for
 * negative classes also what is known to be absent, where a value that stands for several is absent only if all of
 * the original's values below it are. Against the original: one cut through the hierarchies, the same in every
 * record; each released record is an original one with values generalized to the cut and some relations removed: no
 * node is lost or added, no relation is invented, no record is missing or occurs twice. Within the budget of
 * spec->suppression values may be given up, in every record or in some, and records may be missing. KN_INPUT: a file cannot be
 * read; KN_USAGE: the spec does not describe tree records. */
KN_API KN_CHECK kn_status kn_verify_records(kn_records_verify_report **out, kn_context *ctx, const kn_spec *spec,
                                            const kn_records_verify_options *options, kn_error *err);

/* The same without the digest; how the release's file is written is checked only by options->look_at_form, if given. */
KN_API KN_CHECK kn_status kn_verify_records_files(kn_records_verify_report **out, kn_context *ctx, const kn_spec *spec,
                                                  const kn_records_verify_options *options, kn_error *err);
KN_API void               kn_records_verify_report_free(kn_records_verify_report *report);

#ifdef __cplusplus
}
#endif

#endif
