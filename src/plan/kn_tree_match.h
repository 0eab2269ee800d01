/* kn_tree_match.h: may somebody, whose rows are known, be a person of a released class? Both are trees.
 *
 * A released tree is consistent with a known one if the cells of its root cover those of the known root, and, table
 * by table, its children can be assigned different children of the known root with which they are consistent. No known
 * child may be left over, unless rows may have been deleted. Where only some rows are known it is the other way round: each known
 * child is assigned a released one.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_TREE_MATCH_H
#define KN_TREE_MATCH_H

#include "kn_database_plan.h"

/* Which values a released cell covers, where that is not for the hierarchies of the known columns to say. Values are codes of
 * the known column, cells whatever the plan holds. */
typedef struct kn_tree_cells {
    const void *arg;
    bool (*covers)(const void *arg, int table, int quasi, uint32_t cell, uint32_t code);
    uint32_t (*only)(const void *arg, int table, int quasi, uint32_t cell); /* the only value that it covers; UINT32_MAX: none.
                                                                               NULL: cells cover any number of values */
} kn_tree_cells;

typedef struct kn_tree_match {
    const kn_forest        *forest;  /* what is known                                                              */
    const kn_database_plan *plan;    /* what is released                                                           */
    bool                    deleted; /* rows may have been deleted                                                 */
    bool                    some;    /* only some rows are known: each must be among those released, others may be there, too */
    const kn_tree_cells    *cells;   /* NULL: the plan holds nodes of the known columns' hierarchies               */
    const int              *numbers; /* per table of the forest: its number in the plan; NULL: the same            */
} kn_tree_match;

typedef struct kn_tree_matcher kn_tree_matcher;

/* For one thread. Borrows the input. */
KN_CHECK kn_status kn_tree_matcher_make(kn_tree_matcher **out, kn_context *ctx, const kn_tree_match *in, kn_error *err);
void               kn_tree_matcher_free(kn_tree_matcher *matcher); /* NULL is fine */

/* Is the tree of a class consistent with the tree of an entity? KN_MEMORY only. */
KN_CHECK kn_status kn_tree_consistent(bool *out, kn_tree_matcher *matcher, int64_t entity, uint32_t class_number,
                                      kn_error *err);

#endif
