/* kn_postgres_internal.h: a connection to a server, shared by reading and writing. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_POSTGRES_INTERNAL_H
#define KN_POSTGRES_INTERNAL_H

#include "kn_buffer.h"
#include "kn_libpq.h"
#include "kn_postgres.h"
#include "kn_table_stream.h"

typedef struct kn_pg {
    kn_context       *ctx;
    kn_libpq          pq;     /* its functions                                   */
    PGconn           *conn;
    PQconninfoOption *info;   /* the user's text, for the secrets in it          */
    char             *name;   /* for messages: server and database, no password  */
    char             *schema; /* NULL: not given                                 */
    char             *table;  /* the same: of "#schema.table"                     */
    char             *query;  /* the same: of "?query="                           */
    int               begins; /* characters before it in the statement that runs; 0: it does not */
} kn_pg;

/* Connects; to be closed with kn_pg_close, even on failure. */
KN_CHECK kn_status kn_pg_open(kn_pg *pg, kn_context *ctx, const char *name, const char *schema, kn_error *err);
void               kn_pg_close(kn_pg *pg);

/* Runs a statement whose result is not needed. */
KN_CHECK kn_status kn_pg_run(kn_pg *pg, const char *sql, kn_error *err);

/* Runs a statement of one result; `out` is freed with pq.clear. Parameters are texts. */
KN_CHECK kn_status kn_pg_query(kn_pg *pg, PGresult **out, const char *sql, const char *const *parameters, int count,
                               kn_error *err);

/* What went wrong, without password or cell: `result` may be NULL (the connection failed). */
kn_status kn_pg_fail(kn_pg *pg, const PGresult *result, kn_error *err);

/* Runs the statement in `sql`, which is freed. `wanted`: the expected status. */
KN_CHECK kn_status kn_pg_run_buffer(kn_pg *pg, kn_buffer *sql, ExecStatusType wanted, kn_error *err);

/* The rows of one table, or of the query, of the name within the transaction that is open. `own`: the connection is
 * closed and freed with the stream. One stream of a connection at a time. */
KN_CHECK kn_status kn_pg_stream(kn_table_stream *out, kn_pg *pg, bool own, kn_error *err);

/* Begins a read-only transaction, of a snapshot if there is one; the tables of the schema; the rows of one, by COPY in
 * its text form, of which a line becomes cells in place. */
KN_CHECK kn_status kn_pg_begin(kn_pg *pg, const char *snapshot, kn_error *err);
KN_CHECK kn_status kn_pg_begin_at(kn_pg *pg, const char *begin, const char *snapshot, kn_error *err); /* by another BEGIN */
KN_CHECK kn_status kn_pg_list(void *pg, kn_catalog *catalog, const kn_database_options *options, kn_error *err);
KN_CHECK kn_status kn_pg_copy_begin(kn_pg *pg, const kn_catalog_table *table, kn_error *err);
KN_CHECK kn_status kn_pg_take_line(kn_pg *pg, int columns, const kn_cell_sink *sink, char *line, int size, kn_error *err);

/* Rows to a COPY FROM STDIN: a line of cells, and lines to the server. COMMIT. */
void               kn_pg_add_line(kn_buffer *to, const kn_string *cells, int count);
KN_CHECK kn_status kn_pg_send(kn_pg *pg, kn_buffer *lines, kn_error *err);
KN_CHECK kn_status kn_pg_commit(kn_pg *pg, kn_error *err);

/* The end of a COPY: how the server says it went. */
KN_CHECK kn_status kn_pg_copy_end(kn_pg *pg, kn_error *err);

/* What the schema holds besides tables and their keys, within the open transaction. */
KN_CHECK kn_status kn_pg_extras(kn_pg *pg, kn_extras_fn report, void *arg, kn_error *err);

/* Within a transaction: makes rows come in the same order each time, since scans of large tables then start at their
 * beginning and in one process. */
#define KN_PG_IN_ORDER "SET LOCAL synchronize_seqscans = off; SET LOCAL max_parallel_workers_per_gather = 0"

/* Within a transaction: statements are not compiled. The server knows nothing of new tables, and would compile for seconds what runs for
 * less. Servers before version 11 have no such setting. */
#define KN_PG_NO_COMPILING                                                                                         \
    "SELECT pg_catalog.set_config(name, 'off', true) FROM pg_catalog.pg_settings WHERE name = 'jit'"

/* The tables of the schema within the transaction that is open, as long as the connection is. */
kn_cells kn_pg_cells(kn_pg *pg);

/* Begins a transaction and exports its snapshot, which others can use as long as it lasts. */
KN_CHECK kn_status kn_pg_export(kn_pg *pg, char *snapshot, size_t size, kn_error *err);

#endif
