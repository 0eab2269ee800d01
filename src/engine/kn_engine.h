/* kn_engine.h: tables that are grouped and released where they are (docs/big.md): DuckDB holds the rows, kanon decides.
 *
 *     kn_engine_open(&engine, ctx, names, count, columns, column_count, err);
 *     kn_engine_rows(&rows, &engine, err);               // is it too large to be read whole?
 *     kn_engine_spill(&engine, output, err);
 *     kn_engine_group(&table, &engine, csv, err);        // one counted row per combination of these columns
 *     kn_engine_write(&engine, batches, path, name, parts, err);
 *     kn_engine_close(&engine);
 *
 * Only statements are made here, and only what they answer comes here. The verifier has its own (src/verify/table/where.c).
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_ENGINE_H
#define KN_ENGINE_H

#include "kn_columnar.h"

enum { KN_ENGINE_COUNTS = 2 }; /* columns of counted rows behind the released ones: the counts, the rows before */

typedef struct kn_engine {
    kn_context   *ctx; /* NULL: not open */
    const char   *name; /* of the table, in messages; borrowed */
    const kn_connection *connection; /* the program's, or `own`         */
    kn_connection        own;
    kn_buffer     relation; /* what stands behind FROM                   */
    char         *spill;    /* the folder for what does not fit; NULL: none */
    int           claim;    /* on it                                     */
} kn_engine;

/* Opens a table that kn_columnar_stays, or one of an engine of the program ("engine:NAME#RELATION"), for reading these columns; names are
 * borrowed. All zero is a closed engine. */
KN_CHECK kn_status kn_engine_open(kn_engine *out, kn_context *ctx, const char *const *names, int count,
                                  const char *const *columns, int column_count, kn_error *err);
void               kn_engine_close(kn_engine *engine);

/* The same for a table or query of a PostgreSQL server. `lent`: a connection to its database, within a transaction; NULL: one of its
 * own. */
KN_CHECK kn_status kn_engine_open_server(kn_engine *out, kn_context *ctx, const char *name, const kn_connection *lent,
                                         const char *const *columns, int column_count, kn_error *err);

/* How many rows it has. Of Parquet their footers say so. */
KN_CHECK kn_status kn_engine_rows(int64_t *out, kn_engine *engine, kn_error *err);

/* How many different rows it has in these columns; `most` > 0: among its first so many. */
KN_CHECK kn_status kn_engine_combinations(int64_t *out, kn_engine *engine, int64_t most, const char *const *columns, int count,
                                          kn_error *err);

/* About how many bytes its different values take as texts, in these columns: by the first 100,000 rows. */
KN_CHECK kn_status kn_engine_texts(double *out, kn_engine *engine, int64_t rows, const char *const *columns, int count,
                                   kn_error *err);

/* From now on what does not fit DuckDB's memory goes to a folder beside `output` (NULL: in TMPDIR), which ends with the engine; one that
 * a killed run left is removed when the next begins. */
KN_CHECK kn_status kn_engine_spill(kn_engine *engine, const char *output, kn_error *err);

/* The distinct combinations of csv->columns as counted rows, read as a CSV file would be. */
KN_CHECK kn_status kn_engine_group(kn_table **out, kn_engine *engine, const kn_csv_options *csv, kn_error *err);

/* A name that no column has, nor the same in parentheses: for the counts, and for the places that a release needs. Freed by the caller. */
KN_CHECK kn_status kn_engine_name_counts(char **out, kn_engine *engine, const kn_csv_options *csv, kn_error *err);

/* Writes counted rows, each as often as it counts: their last columns are the counts, and how many rows stand before. As one Parquet file in place of an existing one, or
 * (`parts`) as parts of 983,040 rows in a folder; the bytes are those of a release in memory. `name`: of the output, in messages. */
KN_CHECK kn_status kn_engine_write(kn_engine *engine, const kn_batches *batches, const char *path, const char *name, bool parts,
                                   kn_error *err);

/* The same by an engine of the program, which is Spark: it writes a folder of parts, to what its name for the output says. Who
 * calls the library marks the folder as finished after it has been verified. */
KN_CHECK kn_status kn_engine_write_there(kn_engine *engine, const kn_batches *batches, const char *name, kn_error *err);

/* What stands behind FROM for that output. */
void kn_engine_put_target(kn_buffer *to, const kn_engine *engine, const char *name);

/* Spark's statement for that, behind the name of the folder: so many rows in all, of the entries of a table. */
void kn_engine_put_spark(kn_buffer *to, const kn_connection *c, const kn_batches *batches, const char *table, int64_t rows);

#endif
