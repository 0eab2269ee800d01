/* kanon/explain.h: what one choice of levels means for a table: which promise fails, in how many classes, by how
 * much.
 *
 * Nothing is written. The spec is that of a release (kanon/spec.h), with one level for every quasi-identifier
 * (`levels`). The answer depends on the original, so it is for the owner only.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KANON_EXPLAIN_H
#define KANON_EXPLAIN_H

#include <kanon/spec.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One promise at these levels, before anything is suppressed. A class consists of rows or, if the rows of a person
 * stay linked, of persons with all their rows. */
typedef struct kn_explained_promise {
    kn_model model;
    bool     holds;
    int64_t  classes; /* that fail it; -1: not known (average risk of linked rows)                             */
    int64_t  rows;    /* in these; of average risk: in the smallest classes, to be suppressed in addition to them */
    double   worst;   /* what the worst class reaches (see kn_model_verdict); of average risk: the risk of those that
                         keep all others; NAN: there is none                                                  */
} kn_explained_promise;

typedef struct kn_explanation {
    bool               holds;  /* every promise, with what may be suppressed                                  */
    const char        *reason; /* if not: why, in a sentence; NULL: it does                                   */
    int                quasi_count;
    const char *const *quasi;
    const int         *levels, *heights; /* of each quasi-identifier                                          */
    int64_t            rows, classes;
    int64_t            failing_classes, failing_rows; /* by any promise about one class                      */
    int64_t            suppressed; /* rows that have to be suppressed                                         */
    int64_t            budget;     /* rows that may be suppressed                                             */
    kn_metric          metric;
    double             loss;       /* by the spec's `utility`, after that suppression                         */
    int                promise_count;
    const kn_explained_promise *KN_PRIVATE(promises); /* kn_explanation_promise_at: in the spec's order       */
    int                note_count, dropped_count; /* of reading, as in a release's result                     */
    const char *const *notes, *const *dropped;
} kn_explanation;

KN_API const kn_explained_promise *kn_explanation_promise_at(const kn_explanation *explanation, int index); /* NULL: none */

/* Examines the levels in a spec that passed kn_spec_check. "It does not hold" is KN_OK with holds == false. KN_USAGE:
 * not exactly one level for every quasi-identifier, a level that its hierarchy does not have, no table, a method
 * without levels. */
KN_API KN_CHECK kn_status kn_explain(kn_explanation **out, kn_context *ctx, const kn_spec *spec, kn_error *err);
KN_API void               kn_explanation_free(kn_explanation *explanation); /* NULL is fine */

#ifdef __cplusplus
}
#endif

#endif
