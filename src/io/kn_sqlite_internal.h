/* kn_sqlite_internal.h: what the readers and the writer of SQLite files share. */
#ifndef KN_SQLITE_INTERNAL_H
#define KN_SQLITE_INTERNAL_H

#include <sqlite3.h>

#include "kn_buffer.h"
#include "kn_string.h"

enum { KN_SQLITE_NUMBER = 40 }; /* bytes: room for a number as text */

/* The text of a cell: numbers in their shortest exact spelling, binary values as \x and hexadecimal digits; data NULL: NULL. It
 * lives until the next step, or in `room` or `scratch`. false: memory is out. */
bool kn_sqlite_cell(kn_string *out, sqlite3_stmt *statement, int column, char room[KN_SQLITE_NUMBER], kn_buffer *scratch);

/* A name, quoted for SQL. */
void kn_sqlite_name(kn_buffer *sql, const char *name);

#endif
