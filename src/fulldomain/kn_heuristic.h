/* kn_heuristic.h: the anytime search of lattices too large to enumerate, with its limits. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_HEURISTIC_H
#define KN_HEURISTIC_H

#include "kn_fulldomain.h"

#define KN_HEURISTIC_SECONDS 10.0 /* where neither a time nor a node limit is given */

typedef struct kn_heuristic_options {
    int64_t node_limit;    /* nodes to count at most (a batch may exceed it); 0: none                   */
    bool    greedy;        /* end after the plain descent from the top: the baseline for comparisons     */
    bool    prove;         /* go on until the best node is proved: the method optimal               */
    double  without_limit; /* seconds where the problem has no time limit; 0: none                      */
} kn_heuristic_options;

/* kn_heuristic_search with given limits. The result depends on the problem and its seed alone unless the time
 * limit ended it (complete is then false). */
KN_CHECK kn_status kn_heuristic_search_within(kn_fulldomain_result *result, kn_context *ctx,
                                              const kn_fulldomain_problem *problem,
                                              const kn_heuristic_options *options, kn_error *err);

#endif
