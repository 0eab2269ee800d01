/* kn_marginal.h: how many rows have each value of a column, and how many are below each node of its hierarchy. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_MARGINAL_H
#define KN_MARGINAL_H

#include "kn_hierarchy.h"

/* Adds the rows that a column of the table stands for to `counts` (values + 1: the last is "missing"). */
void kn_marginal_count(int64_t *counts, const kn_table *table, int column);

/* Rows at or below each node, from the counts of the column's codes; `node_rows` has one entry per node, all 0. The
 * root counts missing cells too. */
void kn_marginal_nodes(int64_t *node_rows, const kn_hierarchy *hierarchy, const int64_t *counts);

#endif
