/* kanon/verify.h: does a release keep its promises? Everything is derived anew from the bytes of the files by code that
 * shares nothing with the methods.
 *
 * From the release alone: every privacy model, no identifier or undeclared column, suppressed rows as the spec says. From
 * the release and the original: every released cell covers the original's (an ancestor, an interval or a set), sensitive
 * and kept cells are equal, no row appears that the original has not. With a row map each released row is held against
 * its original; without one an assignment of originals to released rows is looked for.
 */
#ifndef KANON_VERIFY_H
#define KANON_VERIFY_H

#include <kanon/spec.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum kn_assignment {
    KN_ASSIGNMENT_PROVED = 0, /* every released row has an original of its own */
    KN_ASSIGNMENT_REFUTED,
    KN_ASSIGNMENT_UNDECIDED   /* too large to decide without a row map         */
} kn_assignment;

/* "proved", ... Static. */
KN_API const char *kn_assignment_name(kn_assignment assignment);

typedef struct kn_verified_model {
    kn_model model;
    double   reached; /* by the worst released class; see kn_model_verdict */
    int64_t  classes; /* that violate it                                   */
    bool     holds;
} kn_verified_model;

/* What was found. Reasons say where (row of the release, column), never a value. */
typedef struct kn_verify_report {
    bool          ok; /* all holds and the assignment is proved */
    int64_t       rows;
    int64_t       suppressed; /* rows of the original that are shown as suppressed or left out */
    int64_t       classes;    /* without the suppressed rows */
    int64_t       k;          /* smallest class; 0: none     */
    int           model_count;
    const kn_verified_model *models;
    kn_assignment assignment;
    double        metrics[KN_METRICS]; /* derived anew; NAN where a cell cannot be read, or in more than one way */
    int           problem_count;       /* at most 100 are kept                          */
    const char *const *problems;
    bool          more_problems;
    char          sha256[65]; /* of the release */
} kn_verify_report;

typedef struct kn_verify_options {
    size_t             size;      /* sizeof(kn_verify_options), set by the initializer                             */
    const char *const *originals; /* files; NULL: the spec's inputs                                                */
    int                original_count;
    const char        *release;  /* file; NULL: the spec's output                                                  */
    const char        *map_path; /* OUTPUT.rowmap; NULL: none                                                      */
    const int64_t     *map;      /* the same in memory: the original row (0-based) of each released row; NULL: none */
    int64_t            map_count;
    int64_t            work_limit; /* steps of max-flow before the answer is "undecided"; 0: 10^9                  */
    const int         *levels; /* the level that each quasi-identifier is claimed to be generalized to, in the order they
                                  were declared; checked, and used where a label stands on several levels; NULL: none */
    int                level_count;
    int64_t            suppressed; /* the rows that are claimed to be suppressed, -1: no claim; looked at where no column
                                      tells these from rows that were generalized to the top                        */
    const char        *summary; /* file of published statistics; NULL: none. Needs a row map                       */
} kn_verify_options;

#define KN_VERIFY_OPTIONS_INIT {sizeof(kn_verify_options), NULL, 0, NULL, NULL, NULL, 0, 0, NULL, 0, -1, NULL}

/* Verifies. A release that fails is not a failure of the call: see ok. KN_INPUT: a file cannot be read as a table. */
KN_API KN_CHECK kn_status kn_verify(kn_verify_report **out, kn_context *ctx, const kn_spec *spec,
                                    const kn_verify_options *options, kn_error *err);
KN_API void               kn_verify_report_free(kn_verify_report *report);

#ifdef __cplusplus
}
#endif

#endif
