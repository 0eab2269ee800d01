/* kn_database_plan.h: what a method on a database decides: which class each person belongs to, and for each class one
 * tree that all its members show.
 *
 * A class's tree holds, per node, one hierarchy node for each quasi-identifier of the node's table and, per member,
 * the row that the node stands for (docs/errata.md M5). Rows that no node stands for are deleted (M2); so are all
 * rows of persons in no class. Only quasi-identifiers are planned: sensitive cells come from the rows.
 *
 * Nodes of one tree are ordered level by level: the root first; the children of a node are adjacent, in the order of
 * (table, values, what is below): no two classes have the same tree.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_DATABASE_PLAN_H
#define KN_DATABASE_PLAN_H

#include "kn_forest.h"
#include "kn_plan.h"

typedef struct kn_database_plan {
    kn_context *ctx;
    int64_t     entities;
    uint32_t    classes;
    int         width;           /* of a node's values: the most quasi-identifiers of any table, at least 1       */
    uint32_t   *class_of_entity; /* entities of the forest; KN_CLASS_SUPPRESSED: dropped                          */
    int64_t     suppressed;      /* persons                                                                       */
    /* Trees: nodes node_start[c] .. node_start[c + 1] - 1 are of class c; parents and children are counted from it. */
    uint64_t *node_start; /* classes + 1 */
    uint16_t *table;
    uint32_t *parent;      /* KN_FOREST_NONE for a root                                  */
    uint32_t *first_child; /* where its children begin, also where there are none        */
    uint32_t *child_count;
    uint32_t *values;      /* nodes × width: the q-th is of the table's q-th quasi-identifier; 0 behind the last */
    /* Members: of class c member_start[c] .. member_start[c + 1] - 1, entities ascending. */
    uint64_t *member_start; /* classes + 1                                                                        */
    uint32_t *members;
    uint64_t *row_start; /* classes + 1: rows[row_start[c] + m * nodes + v] is the row that node v of class c stands
                            for in its m-th member                                                                */
    uint32_t *rows;
} kn_database_plan;

/* A plan with space for its parts, all zero. */
KN_CHECK kn_status kn_database_plan_create(kn_database_plan **out, kn_context *ctx, int64_t entities, uint32_t classes,
                                           uint64_t nodes, uint64_t rows, int width, kn_error *err);
void               kn_database_plan_free(kn_database_plan *plan); /* NULL is fine */

static inline uint32_t kn_database_plan_nodes(const kn_database_plan *plan, uint32_t c)
{
    return (uint32_t)(plan->node_start[c + 1] - plan->node_start[c]);
}

static inline int64_t kn_database_plan_size(const kn_database_plan *plan, uint32_t c)
{
    return (int64_t)(plan->member_start[c + 1] - plan->member_start[c]);
}

/* The rows of the m-th member of a class, one per node. */
static inline const uint32_t *kn_database_plan_rows(const kn_database_plan *plan, uint32_t c, int64_t m)
{
    return plan->rows + plan->row_start[c] + (uint64_t)m * kn_database_plan_nodes(plan, c);
}

/* Checks every invariant against the forest it was made for: each node stands, in every member, for a row of its table
 * that refers to its parent's row, no row twice, and covers that row's values. For tests and fuzzers; memory for it
 * comes from the plan's context, and where there is none the answer is false. */
bool kn_database_plan_validate(const kn_database_plan *plan, const kn_forest *forest, const char **reason);

#endif
