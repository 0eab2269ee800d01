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

#endif
