/* kn_fulldomain_methods.h: one function per method; kn_fulldomain_search chooses. Each fills an existing result:
 * zero, with ctx, quasi_count and counters.lattice set and good = -1. On failure the caller frees the result with
 * what is in it.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_FULLDOMAIN_METHODS_H
#define KN_FULLDOMAIN_METHODS_H

#include "kn_fulldomain.h"

KN_CHECK kn_status kn_samarati_search(kn_fulldomain_result *result, kn_context *ctx,
                                      const kn_fulldomain_problem *problem, kn_error *err);
/* The same for lattices of any size. */
KN_CHECK kn_status kn_samarati_by_boxes(kn_fulldomain_result *result, const kn_fulldomain_problem *problem,
                                        kn_error *err);
KN_CHECK kn_status kn_bottom_up_search(kn_fulldomain_result *result, kn_context *ctx, /* with and without roll-up */
                                       const kn_fulldomain_problem *problem, kn_error *err);
KN_CHECK kn_status kn_incognito_search(kn_fulldomain_result *result, kn_context *ctx, /* basic, superroots, cube  */
                                       const kn_fulldomain_problem *problem, kn_error *err);
KN_CHECK kn_status kn_datafly_search(kn_fulldomain_result *result, kn_context *ctx,
                                     const kn_fulldomain_problem *problem, kn_error *err);
KN_CHECK kn_status kn_optimal_search(kn_fulldomain_result *result, kn_context *ctx,
                                     const kn_fulldomain_problem *problem, kn_error *err);
KN_CHECK kn_status kn_heuristic_search(kn_fulldomain_result *result, kn_context *ctx,
                                       const kn_fulldomain_problem *problem, kn_error *err);

/* ---- Between bounds: kn_fulldomain_bounds.c ---- */

/* The problem whose level 0 of each hierarchy is `low`. It borrows from the one it was made of. */
typedef struct kn_bounded {
    kn_fulldomain_problem problem;
    kn_objective          objective;
    kn_hierarchy         *views;
    const kn_hierarchy  **hierarchies;
    int                  *heights;
    uint64_t            **costs;
    kn_u128             **totals;
} kn_bounded;

/* KN_USAGE: bounds out of range. Nothing is left after a failure. */
KN_CHECK kn_status kn_bounded_make(kn_bounded *out, kn_context *ctx, const kn_fulldomain_problem *problem, kn_error *err);
void               kn_bounded_free(kn_bounded *bounded); /* its parts, not the struct */

/* Moves the levels of a result up by `low`. */
void kn_bounded_translate(kn_fulldomain_result *result, const int *low);

#endif
