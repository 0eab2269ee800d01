/* kn_sqlite.h: SQLite files as databases. Only its sources know libsqlite3. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_SQLITE_H
#define KN_SQLITE_H

#include "kn_cells.h"
#include "kn_database_write.h"

/* Opens a file, read-only and in one transaction. */
KN_CHECK kn_status kn_sqlite_cells(kn_cells **out, kn_context *ctx, const char *path, kn_error *err);

/* A new file beside the target, which it replaces at the end. */
KN_CHECK kn_status kn_sqlite_sink(kn_database_sink *out, kn_context *ctx, const char *path, kn_error *err);

/* Was a table of this name committed, with this number (kn_database_place.schema) or a later one? */
KN_CHECK kn_status kn_sqlite_committed(bool *out, kn_context *ctx, const char *name, uint64_t schema, kn_error *err);

#endif
