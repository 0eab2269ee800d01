/* kn_sqlite_internal.h: a connection to a SQLite file that is not trusted, for those who read it. */
#ifndef KN_SQLITE_INTERNAL_H
#define KN_SQLITE_INTERNAL_H

#include <sqlite3.h>

#include "kn_sqlite.h"

/* Sets a new connection up for a file that may be hostile, and reads its schema. `charged`: what it holds is counted as the
 * context's until it is discharged. KN_IO: this SQLite cannot; KN_MEMORY: the schema is too large. */
KN_CHECK kn_status kn_sqlite_harden(sqlite3 *db, kn_context *ctx, const char *path, uint64_t *charged, kn_error *err);

/* What went wrong last, in words without values. */
kn_status kn_sqlite_fail(sqlite3 *db, kn_context *ctx, const char *path, kn_error *err);

#endif
