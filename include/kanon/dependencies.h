/* kanon/dependencies.h: what some columns of a table say about others: checked, discovered, reduced to a minimal cover.
 *
 *     a, b -> c, d     functional (FD): rows that agree on a and b agree on c and d
 *     a ->> b          multivalued (MVD): within rows of one a, every b occurs with every combination of the other
 *     columns a -3-> b         k-multiset (Huang, Song, Gao, Cai 2014, Definition 7): within rows of one a, every b
 *     that occurs occurs
 *                      in at least 3 rows; the same as "(a, b) is 3-anonymous"
 *
 * A missing cell is a value of its own everywhere here.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KANON_DEPENDENCIES_H
#define KANON_DEPENDENCIES_H

#include <kanon/diagnose.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Dependencies ---- */

typedef enum kn_dependency_kind {
    KN_DEPENDENCY_FUNCTIONAL = 0,
    KN_DEPENDENCY_MULTIVALUED,
    KN_DEPENDENCY_MULTISET
} kn_dependency_kind;

/* "functional", "multivalued", "multiset". Static. */
KN_API const char *kn_dependency_kind_name(kn_dependency_kind kind);

/* Immutable. Both sides have at least one column; no column occurs twice. */
typedef struct kn_dependency {
    kn_dependency_kind kind;
    int64_t            k; /* MULTISET: at least 2; otherwise 0 */
    int                left_count, right_count;
    const char *const *left; /* names of columns */
    const char *const *right;
    const char        *text; /* as it is written: parsing it gives the same dependency */
} kn_dependency;

/* Reads "a, b -> c", "a ->> b" or "a -3-> b". Blanks around names are ignored. A name with a comma, an arrow, or
 * quotes or blanks at its ends stands in double or single quotes, which are doubled inside. Without a blank (or
 * quote) before it, "-3" belongs to the name: "a-3->b" is a functional dependency of the column "a-3". KN_INPUT says
 * what is wrong at which character; err->column is its position in bytes, from 1. */
KN_API KN_CHECK kn_status kn_dependency_parse(kn_dependency **out, kn_context *ctx, const char *text, kn_error *err);

/* The same from names. KN_USAGE: a side is empty, a column occurs twice, k < 2. */
KN_API KN_CHECK kn_status kn_dependency_make(kn_dependency **out, kn_context *ctx, kn_dependency_kind kind, int64_t k,
                                             const char *const *left, int left_count, const char *const *right,
                                             int right_count, kn_error *err);

KN_API void kn_dependency_free(kn_dependency *dependency); /* NULL is fine */

/* ---- Checking ---- */

typedef struct kn_dependency_check {
    bool    holds;
    int64_t rows;             /* of the table                                                                      */
    int64_t groups;           /* of rows with equal left sides; MULTISET: with equal left and right sides          */
    int64_t violating_groups; /* of these, those in which it does not hold                                         */
    int64_t violating_rows;   /* rows in them                                                                      */
    int64_t removed;          /* FUNCTIONAL, MULTISET: the fewest rows without which it would hold; MULTIVALUED: -1 */
    double  error;            /* FUNCTIONAL, MULTISET: removed / rows, for FDs known as g3; 0 without rows          */
    int64_t spurious;         /* MULTIVALUED: tuples that joining (X, Y) and (X, Z) would add; otherwise 0          */
} kn_dependency_check;

/* Checks one dependency on a table. An MVD is about all columns of the table. "It does not hold" is an answer, not a
 * failure. KN_INPUT: the table lacks a column. */
KN_API KN_CHECK kn_status kn_dependency_check_table(kn_dependency_check *out, kn_context *ctx, const kn_table *table,
                                                    const kn_dependency *dependency, kn_error *err);

/* ---- What follows from what ---- */

typedef struct kn_dependency_list {
    int             count;
    kn_dependency **items; /* owned */
} kn_dependency_list;

KN_API void kn_dependency_list_free(kn_dependency_list *list); /* NULL is fine */

/* All columns that `columns` determine by the functional dependencies among `given` (others are ignored), in the
 * order they are first named: the columns themselves, then left to right in `given`. */
typedef struct kn_name_list {
    int          count;
    const char **names; /* owned, as are the texts */
} kn_name_list;

KN_API KN_CHECK kn_status kn_dependency_closure(kn_name_list **out, kn_context *ctx, const kn_dependency *const *given,
                                                int given_count, const char *const *columns, int column_count,
                                                kn_error *err);
KN_API void               kn_name_list_free(kn_name_list *list);

/* Does the functional dependency follow from those among `given`? */
KN_API KN_CHECK kn_status kn_dependency_implied(bool *out, kn_context *ctx, const kn_dependency *const *given,
                                                int given_count, const kn_dependency *dependency, kn_error *err);

/* A minimal cover of the functional dependencies among `given`: no left side has a superfluous column, no dependency
 * follows from the others, and together they imply the same. Equal left sides are joined, in the order of their first
 * appearance; dependencies with long left sides are dropped first. Cycles are fine. */
KN_API KN_CHECK kn_status kn_dependency_cover(kn_dependency_list **out, kn_context *ctx,
                                              const kn_dependency *const *given, int given_count, kn_error *err);

/* ---- Discovery ---- */

typedef struct kn_discover_options {
    size_t             size;    /* sizeof(kn_discover_options), set by the initializer                   */
    const char *const *columns; /* search among these; NULL: all. At most 64                             */
    int                column_count;
    kn_fraction        error;      /* the share of rows that may be exceptions (g3); 0: exact             */
    int                max_left;   /* left sides of at most this many columns; 0: any                     */
    double             time_limit; /* seconds; 0: none                                                    */
} kn_discover_options;

#define KN_DISCOVER_OPTIONS_INIT {sizeof(kn_discover_options), NULL, 0, {0, 1}, 0, 0}
KN_API void kn_discover_options_init(kn_discover_options *options, size_t size);

/* left -> right, and for no proper part of the left side. */
typedef struct kn_found_dependency {
    int        left_count; /* 0: the column is constant (but for the exceptions) */
    const int *left;       /* columns of the table, ascending                    */
    int        right;
    int64_t    removed;    /* exceptions: the fewest rows without which it would hold */
} kn_found_dependency;

typedef struct kn_discovery {
    int64_t              rows;
    int64_t              combinations; /* different rows                                                        */
    int64_t              budget;       /* exceptions allowed                                                    */
    int64_t              count;
    kn_found_dependency *KN_PRIVATE(found); /* kn_found_dependency_at: by size of the left side, then by its columns,
                                               then by the right side */
    int64_t              checked;    /* candidates that were checked on the table                               */
    int64_t              refuted;    /* of these, those that did not hold                                       */
    int64_t              agree_sets; /* exact search: different sets of columns on which two rows were found to agree */
    int64_t              rounds;     /* rounds of making and checking candidates                                */
    bool                 complete;   /* false: cut short by a limit; what is listed is right and minimal          */
    const char          *why_partial; /* static; NULL when complete */
    double seconds, work, span; /* by the clock; of processor: of all threads, and of steps that wait for each other */
    int complete_left; /* all with at most so many columns on the left are listed; 0: all constants         */
} kn_discovery;

KN_API const kn_found_dependency *kn_found_dependency_at(const kn_discovery *discovery, int64_t index); /* NULL: none */

/* Finds all minimal functional dependencies X -> A of a table. The answer and its counters do not depend on the
 * number of threads, except what a time limit cut short. */
KN_API KN_CHECK kn_status kn_discover_dependencies(kn_discovery **out, kn_context *ctx, const kn_table *table,
                                                   const kn_discover_options *options, kn_error *err);
KN_API void               kn_discovery_free(kn_discovery *discovery);

/* The result as dependencies, one per left side: X -> A, B, C. Constants, which have no left side, are left out. */
KN_API KN_CHECK kn_status kn_discovery_list(kn_dependency_list **out, kn_context *ctx, const kn_discovery *discovery,
                                            const kn_table *table, kn_error *err);

#ifdef __cplusplus
}
#endif

#endif
