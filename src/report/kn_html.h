/* kn_html.h: writing a page of HTML into a buffer: escaped text, numbers, sections, tables.
 *
 * The page is HTML 5 and well-formed XML at the same time, holds its own style and refuses every request to the outside
 * (Content-Security-Policy). All functions append; a failure is the buffer's. Numbers do not depend on the locale.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_HTML_H
#define KN_HTML_H

#include "kn_buffer.h"

/* Text escaped for content and for attributes in double quotes. Control characters, direction marks, noncharacters and
 * bytes that are not UTF-8 become visible: \n, \t, \xNN, \uNNNN. */
void kn_html_text(kn_buffer *to, const char *text);

/* A name that came with the data, kept apart from the direction of the text around it. */
void kn_html_name(kn_buffer *to, const char *name);

/* How wide a name is once escaped, in columns of a terminal, of which the widest letters take two: a measure for labels. */
int kn_html_width(const char *text);

/* Escapes as much of a name as fits into this many columns; an ellipsis replaces the rest. */
void kn_html_text_fit(kn_buffer *to, const char *text, int columns);

void kn_html_integer(kn_buffer *to, int64_t value);                                       /* 1,234,567               */
void kn_html_count(kn_buffer *to, int64_t value, const char *one, const char *many);      /* "1 row", "2,345 rows"   */
void kn_html_decimal(kn_buffer *to, double value, int digits);                            /* rounded, at most 6 digits */
void kn_html_percent(kn_buffer *to, double share); /* "4.1 %", "0 %", "100 %"; never 0 or 100 by rounding alone */
void kn_html_share(kn_buffer *to, int64_t part, int64_t whole); /* the same of a part */

/* ---- The page ---- */

void kn_html_begin(kn_buffer *to, const char *title); /* up to and with <main> */
void kn_html_end(kn_buffer *to);

/* A section with a heading; `title` is escaped. */
void kn_html_section(kn_buffer *to, const char *title);
void kn_html_section_end(kn_buffer *to);

/* What the user should know, as a section with a list; nothing where there is nothing. */
void kn_html_notes(kn_buffer *to, const char *const *notes, int count);

/* A table: `titles` are plain text, `aligns` holds one letter per column: 'l'eft, 'r'ight, or 'w' for a column of words, which
 * is the last. Rows are written cell by cell: open,
 * append escaped content, and the next opening closes the last one. */
typedef struct kn_html_table {
    kn_buffer  *to;
    const char *aligns;
    bool        in_row;
    int         column; /* of the open cell; -1: none */
} kn_html_table;

void kn_html_table_begin(kn_html_table *table, kn_buffer *to, const char *aligns, const char *const *titles);
void kn_html_table_row(kn_html_table *table);
void kn_html_table_cell(kn_html_table *table);
void kn_html_table_end(kn_html_table *table);

#endif
