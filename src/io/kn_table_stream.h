/* kn_table_stream.h: a table that is not a text file (of a server, a SQLite file, a workbook, a statistics program) as the
 * bytes of a CSV file: names, then rows, quoted only where needed.
 *
 * So every reader of CSV, the verifier's too, reads such a table from its bytes and with its own tokenizer, and a table
 * gives the same result wherever it is. A missing cell and an empty text are both an empty cell.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_TABLE_STREAM_H
#define KN_TABLE_STREAM_H

#include <kanon/engine.h>

#include "kn_buffer.h"
#include "kn_string.h"
#include "kn_table_name.h"

typedef struct kn_table_stream {
    void       *state;
    const char *name; /* for messages, in the state; without a password */
    /* Appends some bytes, or sets *ended. One thread at a time. */
    kn_status (*more)(void *state, kn_buffer *to, bool *ended, kn_error *err);
    void (*close)(void *state);
} kn_table_stream;

/* How an uncommitted table is read: what kn_alias.table points to. */
typedef struct kn_table_opener {
    void *state;
    kn_status (*open)(kn_table_stream *out, void *state, kn_error *err);
    /* Of a server's: who asks for it by statements, what then stands behind FROM, and are the rows that come counted (kn_table_write.h)? */
    kn_connection connection; /* state NULL: no server's */
    kn_status (*relation)(kn_buffer *to, void *state, kn_error *err);
    bool counted;
} kn_table_opener;

/* Is it the name of such a table? (else of a text file, or of none) */
bool kn_table_named(const kn_context *ctx, const char *name);

/* Opens it; to be closed by its `close`. KN_INPUT: there is no such table. */
KN_CHECK kn_status kn_table_stream_open(kn_table_stream *out, kn_context *ctx, const char *name, kn_error *err);

/* ---- For those who make one ---- */

enum { KN_TABLE_CHUNK = 1 << 16 }; /* bytes to append at a time */

/* Cells, row by row, as text; the names of the columns are the first row. */
typedef struct kn_csv_rows {
    kn_context *ctx;
    const char *source; /* for messages */
    kn_buffer  *to;
    int         columns, column; /* of the next cell       */
    int64_t     rows;            /* finished, names too    */
} kn_csv_rows;

/* The next cell, as a sink of cells takes it (kn_cells.h): data NULL: missing. KN_INPUT: it is no UTF-8 text, or has a
 * NUL. */
KN_CHECK kn_status kn_csv_rows_cell(void *rows, kn_string text, kn_error *err);

/* The sources. `snapshot`: NULL: the current state. */
KN_CHECK kn_status kn_postgres_stream(kn_table_stream *out, kn_context *ctx, const char *name, const char *snapshot,
                                      kn_error *err);
KN_CHECK kn_status kn_sqlite_stream(kn_table_stream *out, kn_context *ctx, const char *name, kn_error *err);
KN_CHECK kn_status kn_workbook_stream(kn_table_stream *out, kn_context *ctx, const char *name, kn_error *err);
KN_CHECK kn_status kn_statistics_stream(kn_table_stream *out, kn_context *ctx, const char *name, kn_error *err);

/* Of a file of statistics, a row for each variable with a label, and for each of its values with one: file, variable,
 * code (missing: it is the variable's label), label. */
KN_CHECK kn_status kn_statistics_labels(kn_csv_rows *to, const char *name, kn_error *err);

#endif
