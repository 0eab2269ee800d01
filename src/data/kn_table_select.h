/* kn_table_select.h: some rows of a table as a new table. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_TABLE_SELECT_H
#define KN_TABLE_SELECT_H

#include "kn_table.h"

/* A table of these rows (ascending, each once) with all columns, which keep their types. It is what reading a file
 * without the other rows with the same types would give: values that no row has any more are not in the dictionaries,
 * so that codes change, and hierarchies, references and losses do not include them. (kn_table_respelled and
 * kn_table_ambiguous_dates still describe the whole file.) The new table borrows nothing. KN_USAGE if the rows are
 * not ascending rows of the table. */
KN_CHECK kn_status kn_table_select(kn_table **out, kn_context *ctx, const kn_table *table, const int64_t *rows,
                                   int64_t count, kn_error *err);

/* All rows in another order, a counted one as often as it stands for: kn_table_total of them, of which each counts 1 then. Values
 * keep their codes. (The column of counts is the one that was: it is there for its name.) */
KN_CHECK kn_status kn_table_arrange(kn_table **out, kn_context *ctx, const kn_table *table, const int64_t *rows,
                                    kn_error *err);

/* The rows in the order of their values, a counted one as often as it stands for: by these columns; rows that are equal in them
 * are spread evenly by all others (kn_table_order.c). kn_table_total of them; freed by the caller. */
KN_CHECK kn_status kn_table_order(int64_t **out, kn_context *ctx, const kn_table *table, const int *first, int first_count,
                                  kn_error *err);

#endif
