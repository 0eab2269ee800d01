/* kn_parquet.h: Parquet files written by kanon itself, out of rows that may count.
 *
 *     kn_parquet_open(&file, ctx, columns, count, path, name, err);
 *     kn_parquet_run(file, column, kn_parquet_code(file, column, value), times);  // each column of a group, in order
 *     kn_parquet_group(file, rows, err);                                          // at most KN_PARQUET_GROUP of them
 *     kn_parquet_close(file, err);
 *
 * Rows that are equal, one behind the other, cost one run, however many they are. The bytes depend on the columns and the values
 * in their order alone.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_PARQUET_H
#define KN_PARQUET_H

#include "kn_memory_arrow.h"
#include "kn_string.h"

enum { KN_PARQUET_GROUP = 122880 }; /* rows of a group */
enum { KN_PARQUET_NULL = -1 };      /* the code of a missing cell */

typedef enum kn_parquet_type { KN_PARQUET_TEXT, KN_PARQUET_INTEGER, KN_PARQUET_DATE, KN_PARQUET_REAL } kn_parquet_type;

typedef struct kn_parquet_column {
    const char     *name;
    kn_parquet_type type;
} kn_parquet_column;

typedef struct kn_parquet kn_parquet;

/* Writes to that path, in place of what is there. `name`: of the output, in messages. Columns are copied, names borrowed. */
KN_CHECK kn_status kn_parquet_open(kn_parquet **out, kn_context *ctx, const kn_parquet_column *columns, int count,
                                   const char *path, const char *name, kn_error *err);

/* The code that a value of the group has; a new one is entered, and its bytes are borrowed until the group is written. The bytes of a
 * text; 8 of a whole number or a number, 4 of a date. `fresh`: the caller knows that it is new. A lack of memory is remembered. */
int32_t kn_parquet_code(kn_parquet *file, int column, kn_string value, bool fresh);

/* The next cells of a column. */
void kn_parquet_run(kn_parquet *file, int column, int32_t code, int64_t times);

/* Writes the group of rows and begins another; codes are new then. */
KN_CHECK kn_status kn_parquet_group(kn_parquet *file, int64_t rows, kn_error *err);

/* Ends the file; one that failed is closed alike. NULL is fine. */
KN_CHECK kn_status kn_parquet_close(kn_parquet *file, kn_error *err);
void               kn_parquet_abandon(kn_parquet *file);

/* Writes rows (kn_batches_make) as one file in place of an existing one, or (`parts`) as parts of KN_COLUMNAR_PART rows in a folder,
 * in order: FOLDER/part-00000.parquet and so on, at least one, the last with the rest. `counted`: behind the columns are two more,
 * how often a row stands, and how many stand before it. */
KN_CHECK kn_status kn_parquet_write(kn_context *ctx, const kn_batches *batches, bool counted, const char *path, bool parts,
                                    const char *name, kn_error *err);

/* Appends the bytes, compressed by Snappy (kn_snappy.c). */
void kn_snappy_put(kn_buffer *to, const char *data, size_t size);

#endif
