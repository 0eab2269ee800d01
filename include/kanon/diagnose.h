/* kanon/diagnose.h: looking at a table without changing it: profile of its columns, k of a set of columns. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KANON_DIAGNOSE_H
#define KANON_DIAGNOSE_H

#include <kanon/table.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Profile ---- */

typedef enum kn_role {
    KN_ROLE_QUASI = 0,
    KN_ROLE_IDENTIFIER,
    KN_ROLE_SENSITIVE,
    KN_ROLE_WEIGHT,
    KN_ROLE_KEEP,
    KN_ROLE_COUNT, /* how many equal rows a row stands for */
    KN_ROLE_SET    /* a set of items in each cell, some of which may be known (k-mn) */
} kn_role;

/* "quasi", "identifier", ... as in a release file. Static. */
KN_API const char *kn_role_name(kn_role role);

typedef struct kn_column_profile {
    const char *name;
    kn_type     type;
    uint32_t    distinct;    /* values, "missing" not counted                            */
    int64_t     missing;     /* rows                                                     */
    int64_t     respelled;   /* spellings of a value beside its first (1.0 and 1.00)     */
    bool        ambiguous_dates;
    int64_t     unique_rows; /* rows whose value occurs in no other row                  */
    double      entropy;     /* bits; missing cells are a value of their own             */
    uint32_t    most_common; /* code; kn_table_distinct() if that is "missing"           */
    int64_t     most_common_rows;
    kn_role     role;   /* suggested                        */
    const char *reason; /* why, in a few words; static      */
} kn_column_profile;

typedef struct kn_profile {
    int64_t            rows;
    int                columns;
    kn_column_profile *KN_PRIVATE(column); /* kn_column_profile_at */
} kn_profile;

KN_API const kn_column_profile *kn_column_profile_at(const kn_profile *profile, int index); /* NULL: none */

/* Looks at every column. The profile may outlive the table. */
KN_API KN_CHECK kn_status kn_profile_table(kn_profile **out, kn_context *ctx, const kn_table *table, kn_error *err);
KN_API void               kn_profile_free(kn_profile *profile);

/* ---- Diagnosis ---- */

/* What a missing cell among the quasi-identifiers means. */
typedef enum kn_missing {
    KN_MISSING_VALUE = 0, /* a value of its own                                              */
    KN_MISSING_WILDCARD,  /* matches anything: a row's crowd is all rows it may equal        */
    KN_MISSING_DROP       /* such rows are set aside (and counted)                           */
} kn_missing;

KN_API const char *kn_missing_name(kn_missing missing); /* "value", "wildcard", "drop" */
KN_API bool        kn_missing_parse(const char *name, kn_missing *out);

/* An exact fraction in [0, 1], as a user writes it. */
typedef struct kn_fraction {
    uint64_t numerator, denominator;
} kn_fraction;

/* Reads a decimal ("0.05") or a percentage ("5%") without rounding; false if it is none or outside [0, 1]. */
KN_API bool kn_fraction_parse(const char *text, kn_fraction *out);

/* ⌊fraction × n⌋, exactly. */
KN_API int64_t kn_fraction_of(kn_fraction fraction, int64_t n);

typedef struct kn_diagnose_options {
    size_t             size;  /* sizeof(kn_diagnose_options), set by the initializer     */
    const char *const *quasi; /* the attribute set S: column names                       */
    int                quasi_count;
    const char        *entity; /* column that says whose row it is; NULL: one row each    */
    kn_missing         missing;
    int64_t            k;           /* asked: does it hold? 0: not asked                  */
    bool               suppressing; /* may rows be removed?                               */
    kn_fraction        suppress;    /* then at most this share of the rows                */
} kn_diagnose_options;

#define KN_DIAGNOSE_OPTIONS_INIT {sizeof(kn_diagnose_options), NULL, 0, NULL, KN_MISSING_VALUE, 0, false, {0, 1}}
KN_API void kn_diagnose_options_init(kn_diagnose_options *options, size_t size);

/* Classes of one size. */
typedef struct kn_size_count {
    int64_t size; /* rows, or persons where an entity is given */
    int64_t classes;
    int64_t rows;
} kn_size_count;

typedef struct kn_diagnosis {
    int64_t rows;         /* of the table                                                      */
    int64_t missing_rows; /* with a missing quasi-identifier                                   */
    int64_t dropped;      /* of these, set aside (KN_MISSING_DROP)                             */
    int64_t persons;      /* distinct entities, or the rows looked at                          */
    int64_t classes;
    int64_t k;            /* the smallest class; 0 if no row is left                           */
    int64_t unique_rows;  /* rows in classes of size 1                                         */
    int64_t below_classes, below_rows; /* in classes smaller than the k asked                  */
    /* With suppression: whole classes are removed, the smallest sizes first, a size only as a whole, never the last. */
    int64_t budget;       /* rows that may be removed */
    int64_t suppressed;   /* rows removed             */
    int64_t suppressed_classes;
    int64_t k_after;      /* k of what remains; = k without suppression */
    bool    holds;        /* k_after ≥ the k asked; true where none was asked; false if no row is left (classes is 0): undecided */
    int64_t        size_count; /* distinct class sizes, ascending */
    kn_size_count *sizes;
} kn_diagnosis;

/* Answers "what is the k of this table with respect to S", and with `k` and `suppress` whether and how it can hold.
 * Unknown or repeated columns, an empty S, k < 0: KN_USAGE or KN_INPUT. The answer "no" is not a failure: see holds. */
KN_API KN_CHECK kn_status kn_diagnose(kn_diagnosis **out, kn_context *ctx, const kn_table *table,
                                      const kn_diagnose_options *options, kn_error *err);
KN_API void               kn_diagnosis_free(kn_diagnosis *diagnosis);

#ifdef __cplusplus
}
#endif

#endif
