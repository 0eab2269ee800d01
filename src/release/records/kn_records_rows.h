/* kn_records_rows.h: released records that came from a database → the rows of one with its schema.
 *
 * What is written is read back as the same records by the rule of kn_records_of_database (kn_records.h), and is the only way to
 * write them with these three:
 *
 *   - Nodes of one table that are below one another are one row, from the first to the last: a node with two below it is in two.
 *   - What belongs to a node of another table belongs to the only row that begins with it, or, if there are several, to one more
 *     that shows this node alone.
 *   - Where no row of a table in between is known any more, because a relation was removed or a value given up, there is an empty
 *     row of that table, one for all that belongs there.
 *
 * A class's top shows *, unless its hierarchy has a name for it.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_RECORDS_ROWS_H
#define KN_RECORDS_ROWS_H

#include "kn_database_write.h"
#include "kn_records.h"

typedef struct kn_records_rows kn_records_rows;

/* `columns`: per class, of `db`. All are borrowed. Columns of `db` that are no class's lose their role, and with `texts` all others
 * are written as text. KN_USAGE: a record shows "*" without a class. `seed` is that of the new keys. */
KN_CHECK kn_status kn_records_rows_make(kn_records_rows **out, kn_context *ctx, kn_database *db, const kn_records *released,
                                        const kn_class_column *columns, bool texts, uint64_t seed, kn_error *err);
void               kn_records_rows_free(kn_records_rows *rows); /* NULL is fine */

/* The writer's input; valid as long as the rows. The row of a person is the number of the record. */
const kn_database_rows *kn_records_rows_of(const kn_records_rows *rows);

#endif
