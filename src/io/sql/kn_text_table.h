/* kn_text_table.h: CSV files as a table of a DuckDB of kanon's own (kn_connection.h): about how large it is, and a copy of it on disk.
 *
 * Cells are texts. They are read by kanon itself (kn_csv_stream.h, or the verifier's own reader): DuckDB never sees the files.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_TEXT_TABLE_H
#define KN_TEXT_TABLE_H

#include "kn_connection.h"
#include "kn_context.h"
#include "kn_csv_stream.h"

enum {
    KN_TEXT_SAMPLE = 100000, /* rows that tell how large a table is                                                 */
    KN_TEXT_ITSELF = 70,     /* bytes that a different text takes beside its own, in each of three places           */
    KN_CLASS_CELLS = 10      /* cells more for each row, of a method that shows a value otherwise in every class     */
};

/* Bytes that a release, or its verification, takes in memory at its most: a megabyte, so many for each row, for each cell of the columns that are read,
 * and three times those of the different texts (kn_connection_texts). Measured on tables whose rows, and texts, are nearly all different. */
static inline double kn_table_needs(double rows, int columns, double texts)
{
    return (1 << 20) + rows * (40 + 12 * (double)columns) + 3 * texts;
}

/* Bytes of a CSV file that are held while it is read whole, whatever its size (kn_csv_read.c; the verifier's own reader holds less). */
static inline double kn_text_window(const kn_context *ctx)
{
    return (double)kn_context_threads(ctx) * (1 << 21);
}

/* Can these files be read so: are they all CSV, and is there a libduckdb? Not so where their sizes alone say that they fit the memory
 * limit, or there is none. */
bool kn_text_table_possible(kn_context *ctx, const char *const *paths, int count);

/* Do files fit the memory limit, by their first rows, which are consumed? `columns`: those of the rows; `besides`: cells more for each. */
KN_CHECK kn_status kn_text_table_fits(bool *out, const kn_connection *c, kn_context *ctx, struct ArrowArrayStream *first,
                                      const kn_csv_seen *seen, const char *const *columns, int count, int besides,
                                      const char *what, kn_error *err);

/* Keeps all rows on disk, under this name (kn_connection_keep), and adds what stands behind FROM for them. */
KN_CHECK kn_status kn_text_table_keep(kn_buffer *to, const kn_connection *c, const char *name, struct ArrowArrayStream *rows,
                                      const kn_csv_seen *seen, const char *what, kn_error *err);

/* Both for files that kn_csv_stream.h reads: `first` rows of them, or all. */
KN_CHECK kn_status kn_text_files_fit(bool *out, const kn_connection *c, kn_context *ctx, const char *const *paths, int count,
                                     const kn_csv_options *options, int besides, kn_error *err);
KN_CHECK kn_status kn_text_files_keep(kn_buffer *to, const kn_connection *c, kn_context *ctx, const char *name,
                                      const char *const *paths, int count, const kn_csv_options *options, kn_error *err);

/* The different rows of options->columns as counted rows, if the files do not fit; else *out is NULL, and they can be read whole. */
KN_CHECK kn_status kn_text_files_group(kn_table **out, kn_context *ctx, const char *const *paths, int count,
                                       const kn_csv_options *options, kn_error *err);

#endif
