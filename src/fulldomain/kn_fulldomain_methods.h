/* kn_fulldomain_methods.h: one function per method; kn_fulldomain_search chooses. Each fills an existing result:
 * zero, with ctx, quasi_count and counters.lattice set and good = -1. On failure the caller frees the result with
 * what is in it.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_FULLDOMAIN_METHODS_H
#define KN_FULLDOMAIN_METHODS_H

#include "kn_fulldomain.h"

KN_CHECK kn_status kn_samarati_search(kn_fulldomain_result *result, kn_context *ctx,
                                      const kn_fulldomain_problem *problem, kn_error *err);
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

#endif
