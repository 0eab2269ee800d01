/* kn_grouping.h: rows grouped by what they show: group numbers in the order of first rows, refined by one more attribute at
 * a time.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_GROUPING_H
#define KN_GROUPING_H

#include "kn_hierarchy.h"

typedef struct kn_grouping {
    kn_context *ctx;
    uint32_t    rows;
    uint32_t    groups;
    uint32_t   *group_of; /* rows                                                           */
    uint32_t   *sizes;    /* groups                                                         */
    uint32_t   *starts;   /* groups + 1: where its rows begin in `members`; see kn_grouping_list */
    uint32_t   *members;  /* rows by group, ascending inside each; without `starts` room for them */
} kn_grouping;

/* All rows in one group (none for an empty table). */
KN_CHECK kn_status kn_grouping_make(kn_grouping *out, kn_context *ctx, uint32_t rows, kn_error *err);
void               kn_grouping_free(kn_grouping *grouping);

/* Splits each group by the labels that its rows show: `nodes[row]` of `hierarchy`. Nodes with equal labels are the same to
 * a reader, and here. It is to be listed anew; where it fails, the grouping is freed. */
KN_CHECK kn_status kn_grouping_refine(kn_grouping *grouping, const uint32_t *nodes, const kn_hierarchy *hierarchy,
                                      kn_error *err);

/* How many groups with fewer than `least` rows kn_grouping_refine would make. */
KN_CHECK kn_status kn_grouping_count(int64_t *out, const kn_grouping *grouping, const uint32_t *nodes,
                                     const kn_hierarchy *hierarchy, uint32_t least, kn_error *err);

/* Fills in `starts` and `members`. */
KN_CHECK kn_status kn_grouping_list(kn_grouping *grouping, kn_error *err);

#endif
