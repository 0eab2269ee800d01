/* kn_frontier.h: the trade-off between k, suppressed rows and loss: the Pareto points of a lattice.
 *
 * A node and a k make a point: the rows of classes with fewer than k members, or that fail another promise, are
 * suppressed, which gives a loss. A point is on the frontier if no other has a k as large, as few suppressed rows and
 * as small a loss, and is better in one of them. Among equal points the node with the lower height counts, then the
 * lexicographically smaller one.
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

/* The problem's own promises of k are ignored; its budget is the most that may be suppressed. `ks`: at most
 * KN_FRONTIER_KS, ascending, the first at least 1. KN_USAGE: a lattice of more than KN_FRONTIER_NODES nodes, average
 * risk, linked rows, keep-sensitive, delta-presence with min > 0. */
KN_CHECK kn_status kn_frontier_search(kn_frontier_result **out, kn_context *ctx, const kn_fulldomain_problem *problem,
                                      const int64_t *ks, int k_count, kn_error *err);
void               kn_frontier_result_free(kn_frontier_result *result); /* NULL is fine */

#endif
