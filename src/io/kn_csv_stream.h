/* kn_csv_stream.h: CSV files as a stream of Arrow batches of texts, for tables that are not read whole (docs/big.md).
 *
 * The cells are those that kn_table_read_csv_files reads: by the same grammar, header and encoding, and with the same messages.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_CSV_STREAM_H
#define KN_CSV_STREAM_H

#include <kanon/arrow.h>

#include "kn_csv_read.h"

/* What a stream has read so far; the caller's, and outlives it. */
typedef struct kn_csv_seen {
    kn_error said; /* why it failed, whatever its reader makes of that */
    int64_t  rows;
    double   part; /* of the files' bytes: 1 at the end */
} kn_csv_seen;

#define KN_CSV_SEEN_INIT {.said = KN_ERROR_INIT}

/* All rows, or at least the first `most` (0: all), of options->columns (NULL: all). Of the options those about types, missing cells and
 * formulas are not used: every cell is a text, as it stands in the file. Paths and options are borrowed until the stream is released. */
KN_CHECK kn_status kn_csv_stream_open(struct ArrowArrayStream *out, kn_context *ctx, const char *const *paths, int count,
                                      const kn_csv_options *options, int64_t most, kn_csv_seen *seen, kn_error *err);

/* Is it a file of text that can be read twice, and no table of another kind? */
bool kn_csv_stream_possible(const kn_context *ctx, const char *path);

#endif
