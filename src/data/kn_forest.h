/* kn_forest.h: each person with all rows that belong to them as a tree, all trees in flat arrays.
 *
 * Nodes of one person (an entity) are adjacent, level by level: the root first, then its children, then theirs; the
 * children of a node are adjacent. Children are ordered by (table, quasi-identifiers, what is below, other released
 * columns): by values alone, never by the order of rows, so that equal trees have equal arrays. Entities are ordered
 * the same way. Rows that are equal in all of this are interchangeable, and keep the order of the tables.
 *
 * Subtrees with equal quasi-identifiers everywhere have the same number; numbers ascend in that order, table by table.
 *
 * A forest never changes once built and may be read by any thread. It borrows the database.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_FOREST_H
#define KN_FOREST_H

#include "kn_database.h"

#define KN_FOREST_NONE UINT32_MAX

typedef struct kn_forest {
    kn_context        *ctx;
    const kn_database *db;
    int64_t            entities;
    uint64_t           nodes;
    uint64_t          *start; /* entities + 1: nodes start[e] .. start[e + 1] - 1 are of entity e; the first is its root */
    /* Per node. Parents and children are counted from the entity's first node. */
    uint32_t *parent;      /* KN_FOREST_NONE for a root                             */
    uint32_t *first_child; /* where its children begin, also where there are none   */
    uint32_t *child_count;
    uint16_t *table;
    uint32_t *row;
    uint32_t *subtree;
    /* Per subtree. */
    uint32_t  subtrees;
    uint64_t *example; /* the first node with that subtree                     */
    /* Per table: rows that belong to no person. */
    int64_t *missing;  /* a column of their foreign key is missing             */
    int64_t *dangling; /* it refers to a row that does not exist               */
    int64_t *lost;     /* the row it refers to belongs to no person            */
    int64_t *entity_of_row; /* of the person table: which entity a row is      */
} kn_forest;

/* Builds the forest of a database whose table of persons is chosen and whose roles are set. Linear in the rows,
 * except for sorting distinct subtrees. KN_INPUT: more than 2^32 - 3 rows. */
KN_CHECK kn_status kn_forest_build(kn_forest **out, kn_context *ctx, const kn_database *db, kn_error *err);
void               kn_forest_free(kn_forest *forest); /* NULL is fine */

/* The leaf of a quasi-identifier (the q-th of the node's table) in its hierarchy. */
static inline uint32_t kn_forest_leaf(const kn_forest *f, uint64_t node, int q)
{
    const kn_database_table *t = &f->db->tables[f->table[node]];
    int                      c = t->quasi[q];
    return t->columns[c].hierarchy->leaf_of_code[kn_column_code(&t->table->columns[c], f->row[node])];
}

/* Checks every invariant; for tests. */
bool kn_forest_validate(const kn_forest *forest, const char **reason);

#endif
