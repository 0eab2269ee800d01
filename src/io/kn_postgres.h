/* kn_postgres.h: PostgreSQL as a source and a sink. Only its sources know libpq.
 *
 * A name is "postgresql://..." as libpq reads it, or "postgresql:" and libpq's keywords ("postgresql:service=clinic";
 * with nothing after it, the environment alone). The fragment of a URI is a schema: "postgresql://host/db#clinic". No
 * message holds a password or a cell.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_POSTGRES_H
#define KN_POSTGRES_H

#include "kn_cells.h"
#include "kn_database_write.h"

/* The tables of one schema in one repeatable-read transaction. `snapshot`: an exported one; NULL: the current state. */
KN_CHECK kn_status kn_postgres_cells(kn_cells **out, kn_context *ctx, const char *name, const char *snapshot, kn_error *err);

/* Does the schema in the name exist, with this number? */
KN_CHECK kn_status kn_postgres_committed(bool *out, kn_context *ctx, const char *name, uint64_t schema, kn_error *err);

/* A new schema, in a transaction that commit ends. */
KN_CHECK kn_status kn_postgres_sink(kn_database_sink *out, kn_context *ctx, const char *name, const char *schema,
                                    kn_error *err);

#endif
