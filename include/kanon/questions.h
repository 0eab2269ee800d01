/* kanon/questions.h: the twelve questions of the privacy diagnosis centre (section 4.1 of the paper), over any of k, the
 * attribute set S and the suppression threshold δ.
 *
 *      given       asked        call
 *   1  k, S        yes or no    kn_diagnose, holds
 *   2  S           k            kn_diagnose, k
 *   3  k           S            kn_diagnose_sets, maximal and minimal_violating
 *   4              S and k      kn_diagnose_sets, sets
 *   5  k, S, δ     yes or no    kn_diagnose with suppression, holds
 *   6  S, δ        k            kn_diagnose with suppression, k_after
 *   7  k, δ        S            kn_diagnose_sets with KN_SUPPRESS_GIVEN
 *   8  δ           S and k      the same
 *   9  k, S        δ            kn_diagnosis_removal
 *  10  k           S and δ      kn_diagnose_sets with KN_SUPPRESS_ASKED, sets[].removed
 *  11  S           δ and k      kn_diagnosis_step
 *  12              S, δ and k   kn_diagnose_sets with KN_SUPPRESS_ASKED, sets[].steps
 *
 * "k-anonymous" means at least k; `at_most` asks for at most k instead.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KANON_QUESTIONS_H
#define KANON_QUESTIONS_H

#include <kanon/diagnose.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One step of the staircase of question 11: removing `removed` rows (all classes smaller than k) reaches k. */
typedef struct kn_step {
    int64_t k;
    int64_t removed;
} kn_step;

/* Question 11: the number of steps, one per class size, and step i of a diagnosis. Removing more never lowers k. */
KN_API int64_t kn_diagnosis_steps(const kn_diagnosis *diagnosis);
KN_API kn_step kn_diagnosis_step(const kn_diagnosis *diagnosis, int64_t i);

/* Question 9. At least k: the fewest rows whose removal leaves a table that is k-anonymous; -1 if only an empty table
 * would be. At most k: the most rows that may be removed so that it is still at most k-anonymous; -1 if it is not
 * even now. */
KN_API int64_t kn_diagnosis_removal(const kn_diagnosis *diagnosis, int64_t k, bool at_most);

/* The rows that the suppression asked for by these options removes (questions 5 to 9): those in classes smaller than `k`,
 * the k_after of the diagnosis. Freed by kn_row_list_free. */
KN_API KN_CHECK kn_status kn_suppressed_rows(kn_row_list **out, kn_context *ctx, const kn_table *table,
                                             const kn_diagnose_options *options, int64_t k, kn_error *err);

typedef enum kn_suppress_mode {
    KN_SUPPRESS_NONE = 0, /* questions 3 and 4  */
    KN_SUPPRESS_GIVEN,    /* questions 7 and 8  */
    KN_SUPPRESS_ASKED     /* questions 10 and 12 */
} kn_suppress_mode;

typedef enum kn_set_algorithm {
    KN_SETS_FAST = 0, /* one frequency set, projections, borders from both sides            */
    KN_SETS_PAPER     /* Algorithms 1 and 2 as published: level by level, one scan per call */
} kn_set_algorithm;

typedef struct kn_sets_options {
    size_t             size; /* sizeof(kn_sets_options), set by the initializer            */
    const char *const *over; /* the columns whose subsets are examined                     */
    int                over_count;
    const char        *entity; /* as in kn_diagnose_options                                 */
    int64_t            k;      /* 0: asked for                                              */
    bool               at_most;
    kn_suppress_mode   suppress_mode;
    kn_fraction        suppress;
    kn_set_algorithm   algorithm;
    int                max_size;   /* examine sets of at most this many columns; 0: all     */
    double             time_limit; /* seconds; 0: none. Questions 3 and 7, fast             */
} kn_sets_options;

#define KN_SETS_OPTIONS_INIT                                                                                           \
    {sizeof(kn_sets_options), NULL, 0, NULL, 0, false, KN_SUPPRESS_NONE, {0, 1}, KN_SETS_FAST, 0, 0}
KN_API void kn_sets_options_init(kn_sets_options *options, size_t size);

/* A set of columns: indexes into `over`, ascending. */
typedef struct kn_column_set {
    int        count;
    const int *columns;
} kn_column_set;

/* What is known of one set. */
typedef struct kn_set_answer {
    kn_column_set set;
    int64_t       k;       /* questions 4 and 8 (there: after suppression)                                 */
    int64_t       removed; /* question 10: rows, -1: impossible; question 8: rows suppressed               */
    int64_t       step_count; /* question 12 */
    kn_step      *steps;
} kn_set_answer;

typedef struct kn_sets_diagnosis {
    int64_t        rows;
    int64_t        budget; /* rows that may be removed */
    /* Questions 3 and 7: both borders. With at_most, `maximal` are the largest sets above k and `minimal_violating` the
     * smallest sets at most k: which of the two is the answer depends on how the question is read. */
    int64_t        maximal_count, minimal_count;
    kn_column_set *maximal, *minimal_violating;
    /* Questions 4, 8, 10 and 12: every non-empty set (up to max_size), smaller sets first. */
    int64_t        set_count;
    kn_set_answer *KN_PRIVATE(sets); /* kn_set_answer_at */
    int64_t        calls;    /* how often the k of a set was computed     */
    bool           complete; /* false: cut short by max_size, time_limit or too many maximal sets to list  */
    bool           minimal_complete; /* is `minimal_violating` complete at least? (every set listed is right) */
    const char    *why_partial; /* static; NULL when complete */
} kn_sets_diagnosis;

KN_API const kn_set_answer *kn_set_answer_at(const kn_sets_diagnosis *diagnosis, int64_t index); /* NULL: none */

/* Answers for all subsets of a list of columns. Listing every set is limited to 20 columns, or what max_size leaves. */
KN_API KN_CHECK kn_status kn_diagnose_sets(kn_sets_diagnosis **out, kn_context *ctx, const kn_table *table,
                                           const kn_sets_options *options, kn_error *err);
KN_API void               kn_sets_diagnosis_free(kn_sets_diagnosis *diagnosis);

#ifdef __cplusplus
}
#endif

#endif
