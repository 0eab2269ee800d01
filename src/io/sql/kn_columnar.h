/* kn_columnar.h: tables that come as Arrow batches instead of text, whatever they come from.
 *
 * That is a table in memory (kanon/memory.h) and whatever DuckDB reads: Parquet files, folders and patterns of them,
 * JSON Lines, tables and queries of DuckDB. Methods and verifier both start here; a cell's text is kn_arrow.h's
 * (docs/big.md says which type becomes which text).
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_COLUMNAR_H
#define KN_COLUMNAR_H

#include <kanon/arrow.h>

#include "kn_connection.h"
#include "kn_csv_read.h"
#include "kn_memory_arrow.h"

typedef enum kn_columnar_kind {
    KN_COLUMNAR_NONE, /* a file of text, or nothing           */
    KN_COLUMNAR_MEMORY,
    KN_COLUMNAR_PARQUET,
    KN_COLUMNAR_JSON_LINES,
    KN_COLUMNAR_DUCKDB, /* duckdb:FILE#table, duckdb:FILE?query=... */
    KN_COLUMNAR_ENGINE  /* engine:NAME#RELATION                     */
} kn_columnar_kind;

/* By the name; a file that is not named .parquet, by its first and last bytes. */
kn_columnar_kind kn_columnar_kind_of(const kn_context *ctx, const char *name);

/* Is it one file, whose bytes are the table? Not so tables in memory, in parts, and of DuckDB. */
bool kn_columnar_has_bytes(const kn_context *ctx, const char *name);

/* May two reads give the rows in another order? Those of a query may. */
bool kn_columnar_volatile(const char *name);

/* The rows, in the order of the source. `columns` (NULL: all): the others may be left out, or of types that kanon does not
 * read; some may not exist. Several names must be of Parquet or JSON Lines, and are one table. To be released by the
 * caller. KN_INPUT: there is no such table, or a wanted column is of a type that kanon does not read. */
KN_CHECK kn_status kn_columnar_open(struct ArrowArrayStream *out, kn_context *ctx, const char *const *names, int count,
                                const char *const *columns, int column_count, kn_error *err);

/* Can such a table stay where it is: does DuckDB read it? */
bool kn_columnar_stays(const kn_context *ctx, const char *name);

/* What stands behind FROM for such a table, in a DuckDB of kanon's own (kn_connection.h): the columns that are wanted, of the types
 * whose cells have the text that kn_columnar_open gives. KN_INPUT as there. */
KN_CHECK kn_status kn_columnar_relation(kn_buffer *to, const kn_connection *c, kn_context *ctx, const char *const *names,
                                        int count, const char *const *columns, int column_count, kn_error *err);

/* Which option for CSV files does not apply to such a table; NULL: none. */
const char *kn_columnar_useless(const struct ArrowSchema *schema, const kn_csv_options *options);

/* Reads it as if it were a CSV file; the names of its columns, as kn_csv_read_names gives them. */
KN_CHECK kn_status kn_columnar_read_table(kn_table **out, kn_context *ctx, const char *const *names, int count,
                                      const kn_csv_options *options, kn_error *err);
KN_CHECK kn_status kn_columnar_read_names(kn_csv_names *out, kn_context *ctx, const char *name,
                                      const kn_csv_options *options, kn_error *err);

/* Can a release be written as Parquet to this output? KN_IO: there is no libduckdb. KN_USAGE: the name is one in memory. */
KN_CHECK kn_status kn_columnar_ready(kn_context *ctx, const char *output, kn_error *err);

/* Copies all rows of a source that DuckDB reads, as Parquet, into an existing file. */
KN_CHECK kn_status kn_columnar_copy(kn_context *ctx, const char *name, const char *path, kn_error *err);

enum { KN_COLUMNAR_PART = 983040 }; /* rows of a part of a release */

/* Makes a file's bytes durable. */
KN_CHECK kn_status kn_columnar_sync(const char *path, const char *name, kn_error *err);

/* The text of a statement that names the files of a source: a path that exists is no pattern, and a folder is all Parquet
 * files in it. */
void kn_columnar_put_path(kn_buffer *to, const kn_context *ctx, const char *name);

#endif
