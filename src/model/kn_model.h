/* kn_model.h: privacy models as functions of one class's histogram and a reference histogram. See kanon/models.h for
 * what the models mean.
 *
 * For each model there is a function "what this class reaches" and the generic pair kn_model_reached and
 * kn_model_satisfied, for lists of models. Nothing here allocates or fails, except making references and scratch; any
 * thread may call any function, with a scratch of its own.
 *
 * How exact: counts are integers, so distinct l, recursive c, all three t, alpha and basic beta are reached as exact
 * quotients and compared with the exact number that the user wrote: no rounding decides. Logarithms cannot be exact: for
 * entropy l, the -ln q bound of enhanced beta and delta the nearest double is compared with the nearest double of the
 * parameter, without tolerance. A class whose values are all equally frequent has entropy l = their number exactly, and
 * sums run in ascending order of codes, so equal histograms always get equal answers.
 *
 * Limit: rows × rows × values < 2^127; 2^42 rows are always possible.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_MODEL_H
#define KN_MODEL_H

#include <kanon/models.h>

#include "kn_arena.h"
#include "kn_exact.h"
#include "kn_hierarchy.h"
#include "kn_model_terms.h"

/* ---- Histograms ---- */

/* One class: the values it has, codes ascending, each with its rows (with an entity: its persons, see kn_requirements.h).
 * Borrowed. */
typedef struct kn_histogram {
    const uint32_t *codes;
    const int64_t  *counts; /* > 0          */
    int64_t         values; /* >= 1         */
    int64_t         rows;   /* their sum    */
} kn_histogram;

/* The whole table, or whatever classes are compared with. A class may have a value that the reference lacks (of
 * another table): it is then infinitely likelier than expected. */
typedef struct kn_reference {
    kn_context         *ctx;
    uint32_t            values;    /* of the column; that code is "missing"                                     */
    uint32_t            occurring; /* codes with rows, "missing" included                                       */
    int64_t             rows;
    int64_t            *counts;     /* values + 1                                                               */
    int64_t            *cumulative; /* values: rows with this value or a smaller one                            */
    kn_u128            *sums;       /* values + 1: sum of cumulative[0 .. i - 1]                                */
    const kn_hierarchy *hierarchy;  /* borrowed; NULL: none                                                     */
    int64_t            *node_rows;  /* per node of the hierarchy: rows at or below it                           */
} kn_reference;

/* Takes ownership of `counts` (values + 1 entries), even on failure. `hierarchy`: NULL, or bound to the column. */
KN_CHECK kn_status kn_reference_make(kn_reference *out, kn_context *ctx, int64_t *counts, uint32_t values,
                                     const kn_hierarchy *hierarchy, kn_error *err);
void               kn_reference_free(kn_reference *reference);

/* Working memory for one thread and one reference. */
typedef struct kn_scratch {
    kn_arena  arena;
    kn_i128  *heap;     /* values; used if class and reference differ in missing cells    */
    int64_t  *rows;     /* per node, 0 between calls                                      */
    kn_u128  *surplus;  /* per node, 0 between calls                                      */
    uint32_t *touched;  /* nodes                                                          */
} kn_scratch;

KN_CHECK kn_status kn_scratch_make(kn_scratch *out, const kn_reference *reference, kn_error *err);
void               kn_scratch_free(kn_scratch *scratch);

/* ---- What a class reaches ---- */

int64_t     kn_distinct_reached(const kn_histogram *h);
double      kn_entropy_reached(const kn_histogram *h);              /* exp(H) */
kn_quotient kn_recursive_reached(const kn_histogram *h, uint64_t l); /* every larger c suffices; 0 for l = 1 */

kn_quotient kn_t_equal_reached(const kn_histogram *h, const kn_reference *r);
kn_quotient kn_t_ordered_reached(const kn_histogram *h, const kn_reference *r, kn_scratch *scratch);
kn_quotient kn_t_hierarchical_reached(const kn_histogram *h, const kn_reference *r, kn_scratch *scratch);

kn_quotient kn_alpha_reached(const kn_histogram *h);
kn_quotient kn_beta_reached(const kn_histogram *h, const kn_reference *r);
bool        kn_beta_within_log(const kn_histogram *h, const kn_reference *r); /* is every gain <= -ln q? */

bool   kn_lacks_value(const kn_histogram *h, const kn_reference *r); /* of those that the reference has */
double kn_delta_present(const kn_histogram *h, const kn_reference *r); /* over the class's own values   */
double kn_delta_reached(const kn_histogram *h, const kn_reference *r); /* INFINITY if it lacks a value  */

/* ---- Any model ---- */

/* A requirement must have passed kn_model_check, and with hierarchical distance the reference must have a hierarchy.
 * For k-map, delta-presence and average risk a class alone does not suffice: NAN and false. */
double kn_model_reached(const kn_model *model, const kn_histogram *h, const kn_reference *r, kn_scratch *scratch);
bool   kn_model_satisfied(const kn_model *model, const kn_histogram *h, const kn_reference *r, kn_scratch *scratch);

/* Is the larger parameter the stronger promise (k, l)? Otherwise the smaller one is. */
bool kn_model_larger_is_stronger(kn_model_kind kind);

/* Two classes that satisfy a model satisfy it together, for every model here, if their counts add up (one row per
 * person); so without suppression a table stays good when it is generalized. With a budget for suppression (docs/errata.md 3)
 * that is only true of models for which a class that contains a satisfying one satisfies it too: sizes, distinct l and
 * k-map; for these it does not need counts that add up either. */
bool kn_model_monotone(kn_model_kind kind, bool suppressing);

#endif
