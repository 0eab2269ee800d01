/* kn_plan.h: what a method on a table decides: which class each row belongs to, and which cells each class shows.
 *
 * A method makes a plan and never writes data; recoding, metrics and writing use the plan alone. Only the
 * quasi-identifiers are planned: all other cells are copied, dropped or replaced independently of the method.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_PLAN_H
#define KN_PLAN_H

#include "kn_hierarchy.h"

#define KN_CLASS_SUPPRESSED UINT32_MAX

typedef enum kn_cell_kind {
    KN_CELL_VALUE = 0, /* a: the code of a value of the table (the number of values: a missing cell)                */
    KN_CELL_NODE,      /* a: a node of the column's hierarchy                                                       */
    KN_CELL_RANGE,     /* a .. b: codes, both inclusive, of an ordered column: from its a-th to its b-th value      */
    KN_CELL_SET,       /* a: where its codes begin in `members`, b: how many (ascending, at least 2; a cell read back
                          from a release that covers no value of the column: 0)                                 */
    KN_CELL_STAR       /* anything                                                                                  */
} kn_cell_kind;

typedef struct kn_cell {
    uint32_t kind;
    uint32_t a, b;
} kn_cell;

typedef struct kn_plan {
    kn_context *ctx;
    int64_t     rows;         /* that the table holds; sums of rows below count those that they stand for */
    int         quasi_count;
    uint32_t    classes;      /* distinct combinations of cells: no two classes show the same       */
    uint32_t   *class_of_row; /* rows; KN_CLASS_SUPPRESSED                                          */
    kn_cell    *cells;        /* classes × quasi_count                                              */
    int64_t    *class_rows;   /* classes; > 0                                                       */
    int64_t     suppressed;   /* rows                                                               */
    uint32_t   *members;      /* of sets; NULL where there are none                                 */
    size_t      member_count;
    int         level_count;  /* quasi_count where the whole domain went to one level each; else 0  */
    int        *levels;       /* the node: one level per quasi-identifier                           */
} kn_plan;

/* A plan with space for its parts, all zero; `members` and `levels` stay NULL. */
KN_CHECK kn_status kn_plan_create(kn_plan **out, kn_context *ctx, int64_t rows, int quasi_count, uint32_t classes,
                                  kn_error *err);
void               kn_plan_free(kn_plan *plan); /* NULL is fine */

/* Does the cell cover a code of the column? `hierarchy` may be NULL where the cell is no node. */
bool kn_cell_covers(const kn_plan *plan, const kn_cell *cell, uint32_t code, const kn_hierarchy *hierarchy);

/* Two cells of one column, with the members of sets in `members`: the same kind and the same codes? Equal cells have
 * equal hashes. */
bool     kn_cell_equal(const uint32_t *members, const kn_cell *x, const kn_cell *y);
uint64_t kn_cell_hash(const uint32_t *members, const kn_cell *cell);

/* Checks every invariant, and that every row's values are covered by its class's cells; for tests and fuzzers.
 * `quasi` are the columns of the table; `hierarchies` one per quasi-identifier (NULL: none). */
bool kn_plan_validate(const kn_plan *plan, const kn_table *table, const int *quasi,
                      const kn_hierarchy *const *hierarchies, const char **reason);

#endif
