/* kn_server.h: a table or a query of a PostgreSQL server that stays there (kn_connection.h).
 *
 * Every cell is the text that the server's COPY gives it, and so the one that a reader of the whole table sees (kn_postgres_table.c):
 * rows are grouped by these texts, byte by byte, whatever the server takes for equal.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_SERVER_H
#define KN_SERVER_H

#include "kn_connection.h"
#include "kn_row_stream.h"

struct kn_pg;

/* What a server's table takes in memory whatever its size: bytes while it is read, and while one is written; and cells more for each row that is
 * written. */
enum { KN_SERVER_READ = 3 << 20, KN_SERVER_WRITE = 9 << 19, KN_SERVER_CELLS = 9 };

/* Is it the name of a table or a query of a server? */
bool kn_server_named(const char *name);

/* Do two such names lead to the same database, by their words? */
bool kn_server_same(const char *a, const char *b);

/* A connection of its own, in one transaction at isolation level repeatable read, which sees what the name's snapshot sees; to be ended
 * by kn_connection_close. KN_IO: the server cannot be reached. */
KN_CHECK kn_status kn_server_open(kn_connection *out, kn_context *ctx, const char *name, kn_error *err);
void               kn_server_close(struct kn_pg *pg);

/* The server and the database, without a password, as long as it is open. */
const char *kn_server_shown(const kn_connection *c);

/* The same over a connection that is open, in a transaction, and stays its owner's. */
kn_connection kn_server_connection(struct kn_pg *pg);

/* KN_IO with the remedy: its role may not make temporary tables, or its server does not write. */
KN_CHECK kn_status kn_server_temporary(struct kn_pg *pg, kn_error *err);

/* What stands behind FROM for a table or query: those of the columns that exist (NULL: all). A missing cell is an empty text. */
KN_CHECK kn_status kn_server_relation(kn_buffer *to, const kn_connection *c, kn_context *ctx, const char *name,
                                      const char *const *columns, int count, kn_error *err);

/* The same for a release, all columns; a missing cell is null, and an empty text is none. */
KN_CHECK kn_status kn_server_release(kn_buffer *to, const kn_connection *c, kn_context *ctx, const char *name, kn_error *err);

/* ... by the names of its schema and itself. */
KN_CHECK kn_status kn_server_release_at(kn_buffer *to, const kn_connection *c, kn_context *ctx, const char *schema,
                                        const char *table, kn_error *err);

/* The rows of a COPY ... TO STDOUT that has begun, as a stream (server_rows.c), which takes over the columns, also on failure. `ended` is
 * called when no more rows come. */
KN_CHECK kn_status kn_server_rows(struct ArrowArrayStream *out, struct kn_pg *pg, kn_row_column *columns, int count,
                                  void (*ended)(struct kn_pg *pg), kn_error *err);

#endif
