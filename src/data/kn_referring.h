/* kn_referring.h: columns of a reference that persons cause: counts of the rows that refer to its rows.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_REFERRING_H
#define KN_REFERRING_H

#include "kn_table.h"

/* Columns of a table that hold a key, or the key itself. */
typedef struct kn_key_cells {
    const kn_table *table;
    const int      *columns;
    int             count;
} kn_key_cells;

/* Adds to `counts`, one per row of `to`, how many rows of `from` refer to it; with `each` given, what it says of these. Linear. */
KN_CHECK kn_status kn_count_referring(int64_t *counts, kn_context *ctx, kn_key_cells from, const int64_t *each,
                                      kn_key_cells to, kn_error *err);

/* Does a column hold these counts, row by row, and of so many rows and different counts that it is no chance? */
bool kn_holds_counts(const kn_table *table, int column, const int64_t *counts);

/* Are rows referred to as if each were made for one: never twice, and most of them? */
bool kn_made_for_one(const int64_t *counts, int64_t rows);

/* Does a column's name speak of counts, or of last times? */
bool kn_speaks_of_use(const char *name);

#endif
