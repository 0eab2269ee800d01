/* kn_tree_reference.h: the plain algorithm (Algorithms 1 to 4 with the readings of docs/errata.md 5), which the fast
 * path is tested against. They share no code but the meaning of a plan (kn_records_plan.h).
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_TREE_REFERENCE_H
#define KN_TREE_REFERENCE_H

#include "kn_tree.h"

/* Fills in `out`, which owns the plan afterwards; the options were checked by kn_tree_search. */
KN_CHECK kn_status kn_tree_reference_search(kn_tree_result *out, kn_context *ctx, const kn_tree_problem *problem,
                                            kn_error *err);

#endif
