/* kn_frontier.h: what more privacy, fewer suppressed rows and less loss cost each other: the Pareto points of a lattice.
 *
 * A node and a k make a point: the rows of the classes that have fewer than k members, or fail another promise, are
 * suppressed; what is lost then. A point is on the frontier if no other has a k as large, as few suppressed rows and as small a
 * loss, and is better in one of them; of equal ones the node of the lower height, then the lexicographically lower one.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_FRONTIER_H
#define KN_FRONTIER_H

#include "kn_counter.h"
#include "kn_fulldomain.h"

enum { KN_FRONTIER_KS = 32, KN_FRONTIER_NODES = 1000000 };

typedef struct kn_frontier_item {
    int64_t     k, suppressed, classes;
    kn_quotient loss;
    int64_t     node; /* of the lattice between the bounds */
    int        *levels;
} kn_frontier_item;

typedef struct kn_frontier_result {
    kn_context       *ctx;
    int64_t           count; /* by k, then by suppressed rows, ascending */
    kn_frontier_item *items;
    double            lattice;
    int64_t           counted; /* nodes */
} kn_frontier_result;

/* Of the problem's own promises those of k count for nothing; its budget is what may be suppressed at most. `ks`: at most
 * KN_FRONTIER_KS, ascending, the first at least 1. KN_USAGE: a lattice of more than KN_FRONTIER_NODES nodes, average risk, linked
 * rows, keep-sensitive, delta-presence with min > 0. */
KN_CHECK kn_status kn_frontier_search(kn_frontier_result **out, kn_context *ctx, const kn_fulldomain_problem *problem,
                                      const int64_t *ks, int k_count, kn_error *err);
void               kn_frontier_result_free(kn_frontier_result *result); /* NULL is fine */

#endif
