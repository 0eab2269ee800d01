/* kn_csv_scan.h: where the cells of a CSV text are.
 *
 * RFC 4180, extended to everyday files: records end with LF, CRLF or CR; a quote opens a quoted cell only at the
 * cell's first byte and is an ordinary character elsewhere in an unquoted cell; after a closing quote only a delimiter
 * or the end of the record may follow. The scanner reads a piece of text in memory and never copies it.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_CSV_SCAN_H
#define KN_CSV_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kn_string.h"

enum { KN_CSV_INDEX = 8192, KN_CSV_SLACK = 8, KN_CSV_MAX_RECORD = 1 << 28 /* bytes */ };

/* What is in a text besides the positions. */
typedef struct kn_csv_marks {
    bool   odd;   /* a byte that is NUL or no ASCII; otherwise it is left alone */
    bool   other; /* a quote or a CR, likewise                                  */
    size_t lines; /* LFs, added                                                 */
} kn_csv_marks;

/* Writes the positions of delimiters, quotes and line ends, relative to `text`, and returns their number; `out` has room for
 * size + KN_CSV_SLACK. */
typedef size_t (*kn_csv_index_fn)(const char *text, size_t size, char delimiter, uint32_t *out, kn_csv_marks *seen);

size_t kn_csv_index_scalar(const char *text, size_t size, char delimiter, uint32_t *out, kn_csv_marks *seen); /* by bytes */

/* The variants that this processor can run, the fastest first, the twin above last; NULL: there are no more. */
kn_csv_index_fn kn_csv_index_variant(int number);

/* One cell: `size` bytes at base + begin, without the quotes. */
typedef struct kn_csv_field {
    uint32_t begin;
    uint32_t size : 31;
    uint32_t doubled : 1; /* holds doubled quotes, to be undone by kn_csv_undouble */
} kn_csv_field;

typedef enum kn_csv_result {
    KN_CSV_OK,
    KN_CSV_MORE,         /* the text ends inside a record: call again with more of it  */
    KN_CSV_TOO_FEW,      /* cells in a record                                           */
    KN_CSV_TOO_MANY,     /* cells in a record                                           */
    KN_CSV_AFTER_QUOTE,  /* there is something between a closing quote and the delimiter */
    KN_CSV_UNTERMINATED, /* the input ends inside quotes                                */
    KN_CSV_TOO_LONG      /* a record of more than KN_CSV_MAX_RECORD bytes               */
} kn_csv_result;

typedef struct kn_csv_scanner {
    const char *base;
    size_t      size;
    bool        last; /* nothing comes after base[size - 1] */
    char        delimiter;
    size_t      at;       /* start of the next record                                       */
    size_t      error_at; /* where a result other than OK and MORE is                       */
    uint64_t    lines;    /* line ends passed                                               */
    /* Positions of delimiters, quotes and line ends in base[index_from, indexed), found many bytes at a time. */
    size_t   index_from, indexed;
    uint32_t index_count, index_next;
    bool     judged;        /* is this known: */
    uint32_t even;          /* up to this position the list is whole records of plain cells, from index_next on */
    size_t   even_columns;  /* of so many cells each */
    uint32_t index[KN_CSV_INDEX + KN_CSV_SLACK];
    kn_csv_marks     seen; /* other, lines: in these bytes; odd: in all up to `indexed` */
    kn_csv_index_fn find;
} kn_csv_scanner;

void kn_csv_scanner_init(kn_csv_scanner *scanner, const char *base, size_t size, bool last, char delimiter, size_t at);

/* Scans records of exactly `columns` cells that begin before `stop` into fields[record * columns + column], at most
 * `max_records`; blank lines are skipped (with one column, a blank line is a record with an empty cell). On any
 * result but OK the records before it are still returned. *records == 0 with OK: `stop` or the end was reached. */
kn_csv_result kn_csv_scan(kn_csv_scanner *scanner, size_t stop, int columns, kn_csv_field *fields, size_t max_records,
                          size_t *records);

/* Scans one record of any number of cells up to `capacity`; blank lines before it are skipped. *count == 0 with OK:
 * the end was reached. */
kn_csv_result kn_csv_scan_any(kn_csv_scanner *scanner, kn_csv_field *fields, size_t capacity, size_t *count);

/* Copies a cell with its doubled quotes made single; `out` has space for field->size bytes. Returns the new size. */
size_t kn_csv_undouble(char *out, const char *text, size_t size);

/* The probable beginning of the first record at or after `from`; `size`: there is none. `inside`: `from` seems to be
 * inside quotes. A guess, to be checked by the scan of the text before it. */
size_t kn_csv_guess_start(const char *base, size_t size, size_t from, bool inside);

/* Quotes in a text. */
size_t kn_csv_count_quotes(const char *text, size_t size);

/* Line ends (LF, CRLF, CR) in a text. */
uint64_t kn_csv_count_lines(const char *text, size_t size);

/* The delimiter of a sample of text: the one of , ; tab | that splits its records most evenly; ',' if none does. */
char kn_csv_sniff(const char *sample, size_t size, bool whole);

#endif
