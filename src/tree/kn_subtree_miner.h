/* kn_subtree_miner.h: frequent subtrees of tree records at one level of their hierarchies, and how many survive. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_SUBTREE_MINER_H
#define KN_SUBTREE_MINER_H

#include "kn_records.h"

typedef struct kn_mining_problem {
    const kn_records *original, *released;
    const uint32_t   *image;     /* per value: its ancestor at this level; a value above the level: itself             */
    const double     *steps;     /* per value of the level: how far the release generalized it beyond, on average      */
    int64_t           threshold; /* records from which a subtree is frequent, in the original as in the release; >= 1  */
    int               largest;   /* nodes of a subtree at most, without the record's root                              */
    bool              embedded;  /* an edge of a subtree may skip nodes                                                */
} kn_mining_problem;

typedef struct kn_mining {
    int64_t frequent; /* subtrees of the original                            */
    int64_t kept;     /* ... that are frequent in the release too            */
    double  distance; /* sum of dtree (equation 6) over all frequent ones    */
} kn_mining;

/* A subtree holds the record's root and is connected; its siblings differ. It occurs in a record if its nodes have nodes of
 * the record of their own, with the same values, such that a child's stands below its parent's: directly, or anywhere where embedded.
 * A relation of a subtree is broken if no released record has any that it can have become. Runs on all workers; the result
 * does not depend on their number. */
KN_CHECK kn_status kn_subtree_mine(kn_mining *out, kn_context *ctx, const kn_mining_problem *problem, kn_error *err);

#endif
