/* kn_csv_write.h: CSV text (RFC 4180): '\n' line ends, quotes only where they are needed. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_CSV_WRITE_H
#define KN_CSV_WRITE_H

#include <kanon/table.h>

#include "kn_buffer.h"
#include "kn_string.h"

/* May this character separate cells? Any ASCII character but a quote, a line end, a NUL or a space. */
bool kn_csv_delimiter_ok(char delimiter);

/* Does this text need quotes? (a delimiter, a quote or a line end in it, or a byte order mark at its start) */
bool kn_csv_needs_quotes(kn_string text, char delimiter);

/* Appends one cell, quoted if needed. A failure is remembered by the buffer. */
void kn_csv_cell(kn_buffer *to, kn_string text, char delimiter);

/* Would a spreadsheet execute this text? It begins with '=', '+', '-', '@', a tab or a carriage return, goes on, and is no
 * number. */
bool kn_csv_formula(kn_string text);

/* Does a guarded file add an apostrophe before it? To a formula, and to one that already has apostrophes, so that no
 * two texts look the same. */
bool kn_csv_guards(kn_string text);

/* The same cell in a guarded file, and back. */
void      kn_csv_guarded_cell(kn_buffer *to, kn_string text, char delimiter);
kn_string kn_csv_unguarded(kn_string text);

/* Appends one row with its line end. A single empty cell is written "" since an empty line would not be a row. */
void kn_csv_row(kn_buffer *to, const kn_string *cells, int count, char delimiter);

#endif
