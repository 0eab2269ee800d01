/* kn_connection.h: tables that stay where they are, asked by statements (kanon/engine.h): checked calls, and the DuckDB in this process.
 *
 *     kn_connection_duckdb(&c, ctx, spill, what, err);
 *     kn_columnar_relation(&relation, &c, ctx, names, count, columns, column_count, err);
 *     kn_connection_query(&stream, &c, ctx, "SELECT ... FROM ...", what, err);
 *     kn_connection_close(&c);
 *
 * `what` begins messages: the name of a table or of an output. Methods and verifier both ask through these functions, and each
 * makes its own statements. A stream ends before the next statement of its connection is run.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_CONNECTION_H
#define KN_CONNECTION_H

#include <kanon/engine.h>

#include "kn_buffer.h"

/* A table that stays where it is. */
typedef struct kn_engine_table {
    const kn_connection *connection;
    const char          *relation; /* what stands behind FROM */
    const char          *name;     /* for messages            */
} kn_engine_table;

/* Executes a statement whose rows nobody needs. */
KN_CHECK kn_status kn_connection_run(const kn_connection *c, kn_context *ctx, const char *sql, const char *what, kn_error *err);

/* The rows of a query, to be released by the caller. */
KN_CHECK kn_status kn_connection_query(struct ArrowArrayStream *out, const kn_connection *c, kn_context *ctx, const char *sql,
                                       const char *what, kn_error *err);

/* The one whole number that a query gives; a missing one is 0. */
KN_CHECK kn_status kn_connection_number(int64_t *out, const kn_connection *c, kn_context *ctx, const char *sql, const char *what,
                                        kn_error *err);

/* How many bytes the different texts of these columns take, KN_TEXT_ITSELF for each with them, in the first rows (KN_TEXT_SAMPLE) of what
 * stands behind FROM. */
KN_CHECK kn_status kn_connection_texts(double *out, const kn_connection *c, kn_context *ctx, const char *relation,
                                       const char *const *columns, int count, const char *what, kn_error *err);

/* Whole numbers in columns of equal length. All zero is none. */
typedef struct kn_numbers {
    int       count;
    int64_t   rows;
    int64_t **columns;
} kn_numbers;

/* The rows of a query whose so many columns are whole numbers; a missing one is 0. `sql` may be NULL: no memory was left for it. */
KN_CHECK kn_status kn_connection_numbers(kn_numbers *out, int columns, const kn_connection *c, kn_context *ctx, const char *sql,
                                         const char *what, kn_error *err);
void               kn_numbers_free(kn_numbers *numbers);

/* Makes a temporary table of whole numbers, whose columns are n0, n1, ... */
KN_CHECK kn_status kn_connection_put_numbers(const kn_connection *c, kn_context *ctx, const char *name, const kn_numbers *numbers,
                                             const char *what, kn_error *err);

/* Makes a temporary table of these rows, which are consumed. */
KN_CHECK kn_status kn_connection_put(const kn_connection *c, kn_context *ctx, const char *name, struct ArrowArrayStream *rows,
                                     const char *what, kn_error *err);

/* A name in double quotes, or in backquotes where the dialect has those. */
void kn_connection_put_name(kn_buffer *to, const kn_connection *c, const char *name);

/* A text in single quotes. */
void kn_connection_put_text(kn_buffer *to, const kn_connection *c, const char *text);

/* What stands before the name of a table that a query makes for the session ("CREATE TEMPORARY TABLE "), and removing one. */
void               kn_connection_put_create(kn_buffer *to, const kn_connection *c);
KN_CHECK kn_status kn_connection_drop(const kn_connection *c, kn_context *ctx, const char *name, const char *what, kn_error *err);

/* The operator that takes missing values as equal. */
const char *kn_connection_same(const kn_connection *c);

/* What stands behind FROM for a release that the engine wrote: Spark a folder of Parquet, others a file. */
void kn_connection_put_target(kn_buffer *to, const kn_connection *c, const char *target);

/* A new DuckDB without a file, in half of the memory limit. `spill`: an existing folder for what does not fit; NULL: nowhere.
 * KN_IO: there is no libduckdb. */
KN_CHECK kn_status kn_connection_duckdb(kn_connection *out, kn_context *ctx, const char *spill, const char *what, kn_error *err);
KN_CHECK kn_status kn_connection_spill(const kn_connection *c, const char *spill, const char *what, kn_error *err);

/* Of such a DuckDB, once it has a folder for what does not fit: keeps these rows, which are consumed, in a file of this name there, in
 * place of an earlier one, and adds what stands behind FROM for them. */
KN_CHECK kn_status kn_connection_keep(kn_buffer *to, const kn_connection *c, const char *name, struct ArrowArrayStream *rows,
                                      const char *what, kn_error *err);
void               kn_connection_close(kn_connection *c); /* of kn_connection_duckdb or kn_server_open; all zero is fine */

#endif
