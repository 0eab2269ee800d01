/* kn_arrow.h: Arrow's types as readers see them: a parsed format string, checked buffers, and the text of one cell. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_ARROW_H
#define KN_ARROW_H

#include <kanon/arrow.h>

#include "kn_string.h"

/* Why a null is refused where the empty text, as which it is released, is no spelling of missing cells. */
#define KN_ARROW_NO_NULLS "a cell is null, and \"na\" does not list the empty text; add it"

typedef enum kn_arrow_kind {
    KN_ARROW_NULL,
    KN_ARROW_BOOL,
    KN_ARROW_SIGNED,
    KN_ARROW_UNSIGNED,
    KN_ARROW_FLOAT,
    KN_ARROW_DECIMAL,
    KN_ARROW_DATE,
    KN_ARROW_TIME,
    KN_ARROW_TIMESTAMP,
    KN_ARROW_UTF8, /* offsets of 4 or 8 bytes */
    KN_ARROW_VIEW  /* utf8 views of 16 bytes  */
} kn_arrow_kind;

typedef struct kn_arrow_format {
    kn_arrow_kind kind;
    int           width; /* bytes per element of the second buffer; 0: bits, or no such buffer */
    int           scale; /* DECIMAL: digits after the point; may be negative                   */
    int64_t       units; /* DATE: per day; TIME, TIMESTAMP: per second                         */
    bool          naive; /* TIMESTAMP: without a zone                                          */
} kn_arrow_format;

/* Reads a format string; false if it is malformed or of a type that tables do not have. */
bool kn_arrow_format_parse(const char *format, kn_arrow_format *out);

/* Is the type one of integers, which can be indices into a dictionary? */
static inline bool kn_arrow_is_integer(const kn_arrow_format *format)
{
    return format->kind == KN_ARROW_SIGNED || format->kind == KN_ARROW_UNSIGNED;
}

/* Elements of `width` bytes (1 to 8, a power of two) at any alignment. */
int64_t  kn_arrow_load_signed(const void *from, int width);
uint64_t kn_arrow_load_unsigned(const void *from, int width);

enum { KN_ARROW_TEXT_MAX = 192 };

/* The text of one cell of fixed width. */
typedef struct kn_arrow_cell {
    char        text[KN_ARROW_TEXT_MAX];
    size_t      size;
    bool        nan;    /* a float that is not a number: no text        */
    bool        wide;   /* an unsigned integer above the largest int64  */
    const char *reason; /* why there is no text; NULL: there is one     */
} kn_arrow_cell;

/* For SIGNED, UNSIGNED, FLOAT, DECIMAL, DATE, TIME and TIMESTAMP. `from` may be unaligned. Deterministic and the same in
 * every locale. */
void kn_arrow_cell_text(kn_arrow_cell *cell, const kn_arrow_format *format, const void *from);

/* The value of format "l", "tdD" or "g" (its low bytes) that is written exactly like the text; false: there is none. */
bool kn_arrow_value_of(const char *format, kn_string text, uint64_t *out);

/* Reads a stream as if it were a CSV file with the same cells: types are inferred from the cells' texts, the same
 * texts are missing, columns come in the requested order, and the user's types take precedence. `csv` may be NULL.
 * The stream is consumed. `name`: of a stream that kanon makes itself, for messages; NULL: somebody else's. */
KN_CHECK kn_status kn_arrow_import_as_csv(kn_table **out, kn_context *ctx, struct ArrowArrayStream *stream,
                                          const kn_csv_options *csv, const char *name, kn_error *err);

/* Why a text is not allowed in a table: not UTF-8, or a NUL inside; NULL: it is. */
const char *kn_arrow_text_reason(kn_string text);

/* The checked buffers of one array. */
typedef struct kn_arrow_view {
    const uint8_t     *validity; /* NULL: all valid                                    */
    const uint8_t     *data;     /* values, offsets, views or bits                     */
    const uint8_t     *bytes;    /* UTF8                                               */
    const void *const *pieces;   /* VIEW: the buffers of long texts                    */
    const uint8_t     *sizes;    /* VIEW: their sizes, int64 each                      */
    int64_t            piece_count;
    int64_t            start; /* index of row 0 in the buffers                      */
    int64_t            length;
} kn_arrow_view;

/* Which of the conditions for every array is violated; NULL: none. */
const char *kn_arrow_check(const struct ArrowArray *array, int64_t least_length);

/* Opens `rows` rows of an array after the first `skip`; NULL: success, else why not. */
const char *kn_arrow_open(kn_arrow_view *view, const struct ArrowArray *array, const kn_arrow_format *format, int64_t skip,
                          int64_t rows);

/* The text at an absolute index of a UTF8 or VIEW array, or why there is none. */
const char *kn_arrow_text_at(const kn_arrow_view *view, const kn_arrow_format *format, int64_t at, kn_string *out);

/* The same without looking at the bytes: for those that may be known already; else kn_arrow_text_reason. */
const char *kn_arrow_bytes_at(const kn_arrow_view *view, const kn_arrow_format *format, int64_t at, kn_string *out);

static inline bool kn_arrow_bit(const uint8_t *bits, int64_t i)
{
    return bits[i / 8] >> (i % 8) & 1;
}

static inline bool kn_arrow_valid(const kn_arrow_view *view, int64_t at)
{
    return !view->validity || kn_arrow_bit(view->validity, at);
}

#endif
