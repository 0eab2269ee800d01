/* fuzz_csv.c: bytes → CSV reader → table → CSV → table.
 *
 * The first three bytes choose delimiter, encoding, header, types, threads and the size of the pieces; the rest is the
 * file, which stands in memory under /proc. It is read in tiny pieces and whole: both must give the same table or the same
 * error at the same place. The table must be valid, and written out and read again it must have the same cells.
 * Compressed input is only decompressed, in small steps and in one.
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kn_csv_read.h"
#include "kn_csv_scan.h"
#include "kn_csv_write.h"
#include "kn_source.h"
#include "kn_table.h"
#include "kn_utf8.h"

enum { MAX_FILE = 1 << 14, WHOLE = 1 << 12, MAX_UNPACKED = 1 << 18 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(bool holds, const char *what)
{
    if (holds) return;
    fprintf(stderr, "fuzz_csv: %s\n", what);
    abort();
}

/* One file and two contexts serve all inputs: making them costs more than reading a small file. */
static struct {
    int         fd;
    char        path[64];
    kn_context *ctx[2];
} shared;

static void prepare(void)
{
    if (shared.ctx[0]) return;
    shared.fd = memfd_create("fuzz_csv", 0);
    demand(shared.fd >= 0, "no file in memory");
    snprintf(shared.path, sizeof shared.path, "/proc/self/fd/%d", shared.fd);
    for (int i = 0; i < 2; i++) {
        kn_context_options options = KN_CONTEXT_OPTIONS_INIT;
        options.threads = i + 1;
        options.memory_limit = (uint64_t)1 << 30;
        demand(kn_context_create(&shared.ctx[i], &options, NULL) == KN_OK, "no context");
    }
}

static void put_file(const void *data, size_t size)
{
    demand(ftruncate(shared.fd, 0) == 0, "the file is not emptied");
    demand(pwrite(shared.fd, data, size, 0) == (ssize_t)size, "the file is not written");
}

static kn_table *read_file(kn_context *ctx, const kn_csv_options *options, size_t piece, kn_error *err)
{
    kn_table   *table = NULL;
    const char *path = shared.path, *reason = "";
    *err = (kn_error)KN_ERROR_INIT;
    kn_status st = kn_csv_read_pieces(&table, ctx, &path, 1, options, piece, err);
    demand((st == KN_OK) == (table != NULL), "a table and an error, or neither");
    demand(st == KN_OK || st == KN_INPUT, "an unexpected status");
    demand(st == KN_OK || err->message[0] != '\0', "a failure without a message");
    if (table) demand(kn_table_validate(table, &reason), reason);
    return table;
}

static void same_table(const kn_table *a, const kn_table *b)
{
    demand(a->rows == b->rows && a->column_count == b->column_count, "tables of different sizes");
    for (int c = 0; c < a->column_count; c++) {
        const kn_column *x = &a->columns[c], *y = &b->columns[c];
        demand(strcmp(x->name, y->name) == 0, "different names");
        demand(x->type == y->type && x->width == y->width && x->missing == y->missing && x->respelled == y->respelled &&
                   x->ambiguous_date == y->ambiguous_date && x->dict.count == y->dict.count,
               "different columns");
        demand(memcmp(x->dict.offsets, y->dict.offsets, (x->dict.count + 1) * sizeof *x->dict.offsets) == 0 &&
                   memcmp(x->dict.bytes, y->dict.bytes, x->dict.offsets[x->dict.count]) == 0,
               "different dictionaries");
        demand(a->rows == 0 || memcmp(x->codes, y->codes, (size_t)a->rows * (size_t)x->width) == 0, "different codes");
        demand(kn_utf8_check(x->dict.bytes, x->dict.offsets[x->dict.count]) == x->dict.offsets[x->dict.count],
               "a dictionary is not UTF-8");
    }
}

static kn_string cell_of(const kn_table *table, int column, int64_t row)
{
    kn_string text = {NULL, 0};
    text.data = kn_table_text(table, column, kn_table_code(table, column, row), &text.size);
    return text;
}

/* Writes the table as UTF-8 and reads it back: the same names and cells. */
static void read_again(const kn_table *table, kn_context *ctx, kn_csv_options options, char delimiter)
{
    kn_buffer  text;
    int        columns = table->column_count;
    kn_string *row = calloc((size_t)columns & INT32_MAX, sizeof *row);
    demand(row != NULL, "no memory");
    kn_buffer_init(&text, ctx);
    for (int c = 0; c < columns; c++) row[c] = kn_string_of(kn_table_name(table, c));
    kn_csv_row(&text, row, columns, delimiter);
    for (int64_t r = 0; r < table->rows; r++) {
        for (int c = 0; c < columns; c++) row[c] = cell_of(table, c, r);
        kn_csv_row(&text, row, columns, delimiter);
    }
    free(row);
    demand(!text.failed, "no memory");
    put_file(text.data, text.size);
    kn_buffer_free(&text);

    kn_error err;
    options.encoding = KN_ENCODING_UTF8;
    options.no_header = false;
    options.delimiter = delimiter;
    kn_table *again = read_file(ctx, &options, WHOLE, &err);
    demand(again != NULL, "what was written is not read");
    demand(again->rows == table->rows && again->column_count == columns, "read again with another size");
    for (int c = 0; c < columns; c++) {
        demand(strcmp(kn_table_name(table, c), kn_table_name(again, c)) == 0, "read again with another name");
        for (int64_t r = 0; r < table->rows; r++) {
            kn_string a = cell_of(table, c, r), b = cell_of(again, c, r);
            demand((a.data == NULL) == (b.data == NULL) && kn_string_equal(a, b), "read again with another cell");
        }
    }
    kn_table_free(again);
}

/* Reads at most MAX_UNPACKED bytes in steps; returns how it ended. */
static kn_status unpack(kn_context *ctx, size_t step, char *out, size_t *total)
{
    kn_source *source = NULL;
    *total = 0;
    kn_status st = kn_source_open(&source, ctx, shared.path, NULL);
    size_t    got = 1;
    while (st == KN_OK && got > 0 && *total < MAX_UNPACKED) {
        size_t wanted = MAX_UNPACKED - *total < step ? MAX_UNPACKED - *total : step;
        st = kn_source_read(source, out + *total, wanted, &got, NULL);
        if (st == KN_OK) *total += got;
        demand(got <= wanted, "more bytes than wanted");
    }
    kn_source_free(source);
    return st;
}

static void try_compressed(kn_context *ctx, size_t step)
{
    static char a[MAX_UNPACKED], b[MAX_UNPACKED];
    size_t      n = 0, m = 0;
    kn_status   whole = unpack(ctx, MAX_UNPACKED, a, &n), steps = unpack(ctx, step, b, &m);
    demand(whole == steps && (whole == KN_OK || whole == KN_INPUT), "unpacked to different ends");
    if (whole == KN_OK) demand(n == m && memcmp(a, b, n) == 0, "unpacked to different bytes");
}

static bool compressed(const uint8_t *p, size_t size)
{
    return size >= 4 &&
           ((p[0] == 0x1f && p[1] == 0x8b) || (p[1] == 0xb5 && p[2] == 0x2f) || (p[1] == 0x2a && p[2] == 0x4d));
}

static void try_file(const uint8_t *file, size_t size, kn_csv_options options, kn_context *ctx, size_t piece)
{
    kn_error  err, tiny_err;
    kn_table *table = read_file(ctx, &options, WHOLE, &err);
    if (options.delimiter == 0) { /* sniffing in tiny pieces would see less */
        size_t mark = size >= 3 && memcmp(file, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
        options.delimiter = kn_csv_sniff((const char *)file + mark, size - mark, true);
        if (table) demand(kn_table_delimiter(table) == options.delimiter, "sniffed differently");
    }
    kn_table *tiny = read_file(ctx, &options, piece, &tiny_err);
    demand((table != NULL) == (tiny != NULL), "read in one way only");
    if (table) {
        same_table(table, tiny);
        read_again(table, ctx, options, options.delimiter);
    } else {
        demand(err.line == tiny_err.line && err.column == tiny_err.column && strcmp(err.message, tiny_err.message) == 0,
               "different errors");
    }
    kn_table_free(table);
    kn_table_free(tiny);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char        delimiters[] = {0, ',', ';', '\t', '|', '^', ' ', 'x'};
    static const char *const none[] = {NULL};
    if (size < 3 || size > MAX_FILE) return 0;
    prepare();
    kn_csv_options options = KN_CSV_OPTIONS_INIT;
    options.delimiter = delimiters[data[0] & 7];
    options.no_header = data[0] & 8;
    options.na = data[0] & 16 ? none : NULL;
    options.decimal = data[0] & 32 ? ',' : '.';
    options.encoding = (data[1] & 3) == 1   ? KN_ENCODING_WINDOWS_1252
                       : (data[1] & 3) == 2 ? KN_ENCODING_LATIN_1
                                            : KN_ENCODING_UTF8;
    kn_context *ctx = shared.ctx[(data[1] & 12) == 12]; /* threads are slow to wake: now and then */
    size_t      piece = 1 + data[2] % 67;
    put_file(data + 3, size - 3);
    uint64_t before = kn_context_memory_used(ctx);
    if (compressed(data + 3, size - 3))
        try_compressed(ctx, piece);
    else
        try_file(data + 3, size - 3, options, ctx, piece);
    /* The pool of the second context stays once it was started. */
    if (before > 0 || ctx == shared.ctx[0]) demand(kn_context_memory_used(ctx) == before, "memory was left");
    return 0;
}
