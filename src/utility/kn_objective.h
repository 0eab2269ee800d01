/* kn_objective.h: a metric prepared for searching the lattice: exact, comparable losses and lower bounds.
 *
 * Every metric over cells (lm, ncp, prec, entropy) is, for full-domain nodes, a sum over classes of
 *
 *     rows of the class × Σ over quasi-identifiers of cost[q][level][code]
 *
 * where the cost depends on the generalized cell alone, plus a constant; a suppressed row costs Σ star[q], which is at
 * most 2^62. Costs are whole numbers in one unit for all quasi-identifiers (exact for lm, ncp and prec where the common
 * denominator fits, otherwise in units of a power of two, 2^-60 of a suppressed row or finer), weights of attributes
 * included, so that sums do not depend on the order of adding, and equal losses compare equal. Metrics over class sizes
 * (dm, dm_star, c_avg) need the sizes only.
 *
 * A cell never costs less further up its hierarchy, and a suppressed cell costs most. Missing cells cost nothing below
 * the root. With weights, lm, ncp and prec are weighted means, entropy is the sum of weight × logarithm.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_OBJECTIVE_H
#define KN_OBJECTIVE_H

#include <kanon/spec.h>

#include "kn_exact.h"

typedef struct kn_objective {
    kn_context *ctx;
    kn_metric   metric;
    bool        cells; /* lm, ncp, prec, entropy */
    int64_t     rows;  /* of the table           */
    int64_t     k;     /* for c_avg              */
    int         quasi_count;
    int        *heights;   /* of the hierarchies                                                                */
    uint32_t   *codes;     /* per quasi-identifier: values of the column (that code: missing)                   */
    uint64_t  **costs;     /* cells: per quasi-identifier, [level × (codes + 1) + code]: cost of a cell of that original
                              value at that level, without the constant part                                    */
    uint64_t   *star;      /* cells: per quasi-identifier, the cost of a suppressed cell                        */
    kn_u128   **totals;    /* cells: per quasi-identifier and level, over all rows                              */
    kn_u128     base;      /* cells: the constant, part of every loss: what the original values cost (entropy)  */
    long double unit;      /* cells: value of the metric = offset + sign × (sum - base) × unit                  */
    long double offset;
    bool        descending; /* a larger value of the metric is better (prec); losses are always smaller = better */
} kn_objective;

/* `weights`: one per quasi-identifier; NULL: all 1. Every hierarchy is bound to its column. KN_USAGE: all weights are 0
 * (cells). `k` below 1 counts as 1. */
KN_CHECK kn_status kn_objective_make(kn_objective **out, kn_context *ctx, const kn_table *table, const int *quasi,
                                     const kn_hierarchy *const *hierarchies, int quasi_count, const kn_ratio *weights,
                                     kn_metric metric, int64_t k, kn_error *err);
void               kn_objective_free(kn_objective *objective);

/* What a search knows of a node when it has counted its classes. */
typedef struct kn_node_sums {
    int64_t rows;            /* released                                                           */
    int64_t suppressed;
    int64_t classes;         /* released                                                           */
    kn_u128 squares;         /* of the sizes (rows) of released classes                            */
    kn_u128 suppressed_squares; /* of the classes that are suppressed                              */
    kn_u128 cells;           /* cost of the released rows (cells only): node total less what the suppressed rows cost */
} kn_node_sums;

/* The loss: smaller is better, equal exactly where the metric is equal (costs that are rounded: up to that). A node
 * that releases nothing has the largest loss there is for c_avg (x / 0). */
kn_quotient kn_objective_loss(const kn_objective *objective, const kn_node_sums *sums);

/* The metric's value for people. */
double kn_objective_value(const kn_objective *objective, kn_quotient loss);

/* Cells: the cost of a node if nothing were suppressed: a lower bound of its loss and of every node above it. */
kn_u128 kn_objective_cells_of_node(const kn_objective *objective, const int *levels);

/* A lower bound of the loss of a node and of all nodes above it, from the class sizes of the node itself or of any
 * node below it (`squares` over all classes, `classes` all of them), whatever is suppressed up to `budget` rows.
 * Cells: from the levels alone. */
kn_quotient kn_objective_bound(const kn_objective *objective, const int *levels, kn_u128 squares, int64_t classes,
                               int64_t budget);

#endif
