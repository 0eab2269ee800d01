/* kn_tree_weights.h: what a cut loses where classes weigh differently (kn_tree.h). */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_TREE_WEIGHTS_H
#define KN_TREE_WEIGHTS_H

#include "kn_cut.h"
#include "kn_tree.h"
#include "kn_tree_cost.h"

typedef struct kn_tree_weights {
    double   *term;    /* per value: what the nodes of the original at or below it lose if a cut has it, by weight */
    uint64_t *residue; /* the same modulo the prime */
    double    total;   /* of all nodes, by weight */
    uint64_t  inverse; /* 1 / total */
    int64_t   relations; /* of the original */
    uint64_t  relations_inverse;
} kn_tree_weights;

/* *out is NULL if the problem has no weights. */
KN_CHECK kn_status kn_tree_weights_make(kn_tree_weights **out, kn_context *ctx, const kn_tree_problem *problem,
                                        kn_error *err);
void               kn_tree_weights_free(kn_tree_weights *weights); /* NULL is fine */

/* The cost of a cut whose released records have so many relations. */
kn_tree_cost kn_tree_weigh(const kn_tree_weights *weights, const uint32_t *values, uint32_t size, int64_t relations);

#endif
