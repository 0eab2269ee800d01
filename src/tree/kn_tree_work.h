/* kn_tree_work.h: what the searches share: evaluating one cut. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_TREE_WORK_H
#define KN_TREE_WORK_H

#include "kn_cut.h"
#include "kn_structure.h"

/* Algorithm 1. */
KN_CHECK kn_status kn_value_check(const kn_projection *projection, kn_combinations *scratch,
                                  const kn_tree_problem *problem, bool *ok, kn_error *err);

/* Sets of values of one record that are counted. A release that shows more of them could not be verified in
 * reasonable time. */
enum { KN_TREE_MOST_SETS = 50000000 };

/* KN_INPUT if a release of some record may show more sets of up to m values than that. */
KN_CHECK kn_status kn_tree_check_size(kn_context *ctx, const kn_tree_problem *problem, kn_error *err);

/* Is each sensitive value in at most 1 / l of the records of every combination (K18)? */
KN_CHECK kn_status kn_diversity_check(kn_structure *structure, kn_combinations *scratch, bool *ok, kn_error *err);

#endif
