/* kn_marginal.h: how many rows have each value of a column, and how many are below each node of its hierarchy. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_MARGINAL_H
#define KN_MARGINAL_H

#include "kn_hierarchy.h"

/* Adds the rows that a column of the table stands for to `counts` (values + 1: the last is "missing"). */
void kn_marginal_count(int64_t *counts, const kn_table *table, int column);

/* The same of several columns of one table. Those of a long table are counted by kn_marginals_make, on all threads, where
 * they have few values; the others by kn_marginals_add, which any thread may call. Table and list of columns are borrowed. */
typedef struct kn_marginals kn_marginals;
KN_CHECK kn_status          kn_marginals_make(kn_marginals **out, kn_context *ctx, const kn_table *table,
                                              const int *columns, int count, kn_error *err);
void                        kn_marginals_add(int64_t *counts, const kn_marginals *marginals, int i);
void                        kn_marginals_free(kn_marginals *marginals);

/* Rows at or below each node, from the counts of the column's codes; `node_rows` has one entry per node, all 0. The
 * root counts missing cells too. */
void kn_marginal_nodes(int64_t *node_rows, const kn_hierarchy *hierarchy, const int64_t *counts);

#endif
