/* kn_sqlite_internal.h: what the readers and the writer of SQLite files share; a connection to a file that is not trusted. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_SQLITE_INTERNAL_H
#define KN_SQLITE_INTERNAL_H

#include <sqlite3.h>

#include "kn_buffer.h"
#include "kn_number_text.h"
#include "kn_sqlite.h"
#include "kn_string.h"
#include "kn_table_stream.h"

/* The text of a cell: numbers in their shortest exact spelling, binary values as \x and hexadecimal digits; data
 * NULL: NULL. It is valid until the next step, or is in `room` or `scratch`. false: out of memory. */
bool kn_sqlite_cell(kn_string *out, sqlite3_stmt *statement, int column, char room[KN_NUMBER_TEXT], kn_buffer *scratch);

/* The connection of what kn_sqlite_cells opened. */
sqlite3 *kn_sqlite_handle(const kn_cells *cells);

/* The rows of a statement as the bytes of a CSV file. `cells` NULL: the connection stays open; else closed with the
 * stream, as are the statement and `name`; all that is the caller's after a failure. */
KN_CHECK kn_status kn_sqlite_rows(kn_table_stream *out, kn_context *ctx, kn_cells *cells, sqlite3_stmt *statement, char *name,
                                  kn_error *err);

/* Prepares a new connection for a file that may be hostile, and reads its schema. `charged`: its memory is counted as
 * the context's until it is discharged. KN_IO: this SQLite cannot do that; KN_MEMORY: the schema is too large. */
KN_CHECK kn_status kn_sqlite_harden(sqlite3 *db, kn_context *ctx, const char *path, uint64_t *charged, kn_error *err);

/* A cell that is inserted: a number, or a text. */
typedef struct kn_sqlite_value {
    kn_plain  number;
    kn_string text;  /* if it is no number; data NULL: missing   */
    bool      stays; /* until the next row is asked for          */
} kn_sqlite_value;

/* Rows that are inserted into a table, asked for one after the other, and each cell of a row once. Results are SQLite's
 * codes. `next`: SQLITE_ROW, SQLITE_DONE, or why there is none. `cell`: `numeric` columns turn texts into numbers (SQLite's
 * affinity); those may be given as numbers, as kn_plain_of finds them, which is the same in half the time. */
typedef struct kn_sqlite_source {
    void *state;
    int (*next)(void *state);
    kn_sqlite_value (*cell)(void *state, int column, bool numeric);
} kn_sqlite_source;

typedef struct kn_sqlite_insert kn_sqlite_insert;

/* One at a time on a connection. *out is to be closed after a failure too. Run: all rows that the source has; SQLITE_OK,
 * or what went wrong, which is also the connection's last error. It may run again. */
int  kn_sqlite_insert_open(kn_sqlite_insert **out, kn_context *ctx, sqlite3 *db, const char *table, int columns,
                           const kn_sqlite_source *source);
int  kn_sqlite_insert_run(kn_sqlite_insert *insert);
const bool *kn_sqlite_insert_numeric(const kn_sqlite_insert *insert); /* per column */
void kn_sqlite_insert_close(kn_sqlite_insert *insert); /* NULL is fine */

/* What went wrong last, in words without values; of a query, without its words. */
#define KN_SQLITE_QUERY ", the query" /* the end of a query's name in messages */
kn_status kn_sqlite_fail(sqlite3 *db, kn_context *ctx, const char *path, kn_error *err);

#endif
