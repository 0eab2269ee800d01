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

/* Adds what was counted. */
static inline void kn_tree_count(kn_tree_counters *to, const kn_tree_counters *from)
{
    to->cuts += from->cuts;
    to->value_checks += from->value_checks;
    to->passed += from->passed;
    to->intersections += from->intersections;
    to->relations += from->relations;
    to->disassociations += from->disassociations;
}

/* One search, without suppression. */
KN_CHECK kn_status kn_tree_search_once(kn_tree_result **out, kn_context *ctx, const kn_tree_problem *problem,
                                       kn_error *err);

/* May anything be given up? Then several, of which the one that loses least is taken (kn_tree_suppress.c). */
static inline bool kn_tree_suppresses(const kn_tree_problem *p)
{
    return p->spare_nodes > 0 || p->spare_records > 0;
}

KN_CHECK kn_status kn_tree_search_suppressing(kn_tree_result **out, kn_context *ctx, const kn_tree_problem *problem,
                                              kn_error *err);

/* What a plan loses of the records, and how much of the budget it takes. */
typedef struct kn_tree_loss {
    double  loss; /* kn_tree_breadth, and the share of the original's relations that are gone, added up */
    int64_t given_up, left_out;
} kn_tree_loss;

KN_CHECK kn_status kn_tree_lose(kn_tree_loss *out, kn_context *ctx, const kn_records *records,
                                const kn_records_plan *plan, const kn_ratio *weights, kn_error *err);

#endif
