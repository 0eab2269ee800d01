/* kn_duckdb.h: a DuckDB inside the process: open, execute, fetch batches.
 *
 *     kn_duckdb_open(&db, ctx, NULL, what, err);                     // no file: tables are only read
 *     kn_duckdb_stream(&stream, db, "SELECT ...", what, err);  // batches as they come; the stream owns the connection
 *
 * A connection is used by one thread at a time. It gets half of the memory limit; its own threads are as many as the
 * context's, as long as each has 128 MB of that. It spills nowhere unless it is told to, and neither installs nor loads extensions. Messages name files, columns and the statement's
 * own words, never what a cell holds.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_DUCKDB_H
#define KN_DUCKDB_H

#include <kanon/context.h>

#include "kn_buffer.h"
#include "kn_duckdb_api.h"

typedef struct kn_duckdb {
    kn_context       *ctx;
    kn_duckdb_api     api;
    kn_ddb_database   database;
    kn_ddb_connection connection;
    char             *spill; /* the folder for what does not fit; NULL: none */
} kn_duckdb;

/* Opens a database file for reading; NULL: none, in memory. `what` needs it, for messages. KN_IO: libduckdb is not there;
 * KN_INPUT: the file cannot be opened. */
KN_CHECK kn_status kn_duckdb_open(kn_duckdb **out, kn_context *ctx, const char *file, const char *what, kn_error *err);
void               kn_duckdb_close(kn_duckdb *db); /* NULL is fine */

/* Executes a statement whose rows nobody needs. `what` begins its messages; NULL: nothing does, and a failure of the
 * system is KN_IO. */
KN_CHECK kn_status kn_duckdb_run(kn_duckdb *db, const char *sql, const char *what, kn_error *err);

/* The one whole number that a query gives. */
KN_CHECK kn_status kn_duckdb_number(int64_t *out, kn_duckdb *db, const char *sql, const char *what, kn_error *err);

/* The columns that a query has, without executing it. */
typedef struct kn_duckdb_columns {
    kn_context *ctx;
    int         count;
    char      **names;
    int        *types; /* KN_DDB_*        */
    bool       *json;  /* a text of JSON */
} kn_duckdb_columns;

KN_CHECK kn_status kn_duckdb_describe(kn_duckdb_columns *out, kn_duckdb *db, const char *sql, const char *what,
                                      kn_error *err);
void               kn_duckdb_columns_free(kn_duckdb_columns *columns);

/* The rows of a query; the connection outlives the stream, and runs nothing else before its end. A failure while rows come is
 * the callback's EIO, and get_last_error says why. */
KN_CHECK kn_status kn_duckdb_query(struct ArrowArrayStream *out, kn_duckdb *db, const char *sql, const char *what,
                                   kn_error *err);

/* The same. The stream takes over the connection, also on failure, and closes it at its end. */
KN_CHECK kn_status kn_duckdb_stream(struct ArrowArrayStream *out, kn_duckdb *db, const char *sql, const char *what,
                                    kn_error *err);

#endif
