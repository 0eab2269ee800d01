/* kn_row_stream.h: rows whose cells come one after the other, as a stream of Arrow batches.
 *
 * Columns are texts, or whole numbers of 64 bits. A batch has up to 8,192 rows, fewer where cells are long. Only the source knows where
 * rows come from; it may be called by another thread than the one that opened the stream, but by one at a time.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_ROW_STREAM_H
#define KN_ROW_STREAM_H

#include <kanon/arrow.h>

#include "kn_string.h"

typedef struct kn_row_column {
    char *name; /* taken over by the stream */
    bool  numbers;
} kn_row_column;

typedef struct kn_row_batch kn_row_batch;

typedef struct kn_row_source {
    void *state;
    /* Adds rows while there is room for them; none: there are no more. */
    kn_status (*fill)(void *state, kn_row_batch *to, kn_error *err);
    void (*end)(void *state);
    kn_error   *said; /* what went wrong; the state's, or the caller's */
    const char *name; /* left out of that message: who asks says it too; NULL: none */
} kn_row_source;

/* The stream takes over the columns, an array of kn_alloc, and the source, also on failure. */
KN_CHECK kn_status kn_row_stream(struct ArrowArrayStream *out, kn_context *ctx, kn_row_column *columns, int count,
                                 const kn_row_source *source, kn_error *err);

/* For how many rows there is room; 0: the batch is full. */
int64_t kn_row_batch_room(const kn_row_batch *batch);

/* The next cell of a column; data NULL: it is missing. Cells of all columns become rows by kn_row_batch_rows. */
KN_CHECK kn_status kn_row_batch_cell(kn_row_batch *batch, int column, kn_string text, kn_error *err);
void               kn_row_batch_rows(kn_row_batch *batch, int64_t rows);

#endif
