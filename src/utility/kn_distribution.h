/* kn_distribution.h: how the values of a column are spread in the original and in the release.
 *
 * First the cells are counted (kn_spread): those of the original by value, those of the release by what they show. A cell that
 * stands for several values is shared by them evenly: a node by its leaves, a range or a set by its values. Then they are
 * summed up in bars (kn_distribution): numbers and dates in ranges of equal width, other values the most frequent first.
 *
 * Every column is counted by itself: different threads may do different columns. The result does not depend on the order in
 * which cells are added.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_DISTRIBUTION_H
#define KN_DISTRIBUTION_H

#include <kanon/anonymize.h>

#include "kn_exact.h"
#include "kn_plan.h"

/* ---- Counting ---- */

typedef struct kn_spread {
    kn_context         *ctx;
    uint32_t            values;
    const kn_hierarchy *hierarchy; /* borrowed; NULL: none                                                       */
    int64_t            *before;    /* values + 1, the last "missing": to be filled in by the caller              */
    int64_t            *nodes;     /* per node: cells that show it                                               */
    kn_i128            *steps;     /* values + 2: what a value gets more than the one before it, in parts of a cell */
    int64_t             star;      /* cells that show "*"                                                        */
    int64_t             after;     /* all cells of the release                                                   */
    /* Once finished: */
    double *shares; /* values + 1: cells of the release                    */
    double  absent; /* cells that are shared by values that do not occur    */
} kn_spread;

/* A column of that many values, all counts 0. `hierarchy`: bound to the column; NULL: no cell is a node. */
KN_CHECK kn_status kn_spread_open(kn_spread *out, kn_context *ctx, uint32_t values, const kn_hierarchy *hierarchy,
                                  kn_error *err);
void               kn_spread_close(kn_spread *spread);

/* Adds cells of the release: that show a value (`values`: a missing cell), a node, the values low .. high, a cell of a plan,
 * "*". */
void kn_spread_value(kn_spread *spread, uint32_t value, int64_t cells);
void kn_spread_node(kn_spread *spread, uint32_t node, int64_t cells);
void kn_spread_range(kn_spread *spread, uint32_t low, uint32_t high, int64_t cells);
void kn_spread_cell(kn_spread *spread, const kn_plan *plan, const kn_cell *cell, int64_t cells);
void kn_spread_star(kn_spread *spread, int64_t cells);

/* Shares the cells out. Nothing is added afterwards. */
KN_CHECK kn_status kn_spread_finish(kn_spread *spread, kn_error *err);

/* ---- Summing up ---- */

enum { KN_DISTRIBUTION_BARS = 32 };

typedef struct kn_distribution_bar {
    kn_bar_kind kind;
    uint32_t    value; /* whose bar it is                        */
    char        label[64]; /* of a range                             */
    int64_t     before;
    double      after;
} kn_distribution_bar;

/* kn_release_distribution without its texts. */
typedef struct kn_distribution {
    bool                ordered;
    int64_t             values, folded, before, after;
    double              distance;
    int                 bar_count;
    kn_distribution_bar bars[KN_DISTRIBUTION_BARS];
} kn_distribution;

/* The values as numbers, days or microseconds since 1970. `number` NULL, or a type that is none of these: they have no order. */
typedef struct kn_distribution_order {
    kn_type type;
    double (*number)(const void *of, uint32_t value);
    const void *of;
} kn_distribution_order;

/* The order of a column of a table. */
kn_distribution_order kn_distribution_order_of(const kn_column *column);

void kn_distribution_make(kn_distribution *out, const kn_spread *finished, kn_distribution_order order);

#endif
