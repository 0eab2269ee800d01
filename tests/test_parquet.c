/* test_parquet.c: Parquet files that kanon writes itself (kn_parquet.h): counted rows give the bytes of the rows, DuckDB reads what was
 * written, Snappy's bytes can be unpacked, and refused memory is an error that leaves nothing allocated.
 * SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <kanon/table.h>

#include "kn_alloc.h"
#include "kn_buffer.h"
#include "kn_columnar.h"
#include "kn_context.h"
#include "kn_parquet.h"
#include "kn_rng.h"
#include "kn_table.h"
#include "testing.h"

/* ---- Snappy ---- */

static size_t read_varint(const unsigned char **at)
{
    size_t n = 0;
    for (int shift = 0;; shift += 7) {
        n |= (size_t)(**at & 127) << shift;
        if (!(*(*at)++ & 128)) return n;
    }
}

/* By the description of the format; fails the test where the bytes break it. */
static void unpack(const kn_buffer *packed, const char *expected, size_t size)
{
    const unsigned char *at = (const unsigned char *)packed->data, *end = at + packed->size;
    unsigned char       *out = malloc(size + 1);
    size_t               done = 0;
    assert_int_equal(read_varint(&at), size);
    while (at < end) {
        unsigned tag = *at++;
        size_t   length = (tag >> 2) + 1;
        if ((tag & 3) == 0) {
            if (tag >> 2 == 61) length = (size_t)(at[0] | at[1] << 8) + 1;
            if (tag >> 2 == 60) length = (size_t)at[0] + 1;
            at += tag >> 2 == 61 ? 2 : tag >> 2 == 60;
            assert_true(done + length <= size && length <= (size_t)(end - at));
            memcpy(out + done, at, length);
            at += length;
        } else {
            assert_int_equal(tag & 3, 2);
            size_t offset = (size_t)(at[0] | at[1] << 8);
            at += 2;
            assert_true(offset > 0 && offset <= done && done + length <= size);
            for (size_t i = 0; i < length; i++) out[done + i] = out[done + i - offset];
        }
        done += length;
    }
    assert_int_equal(done, size);
    assert_memory_equal(out, expected, size);
    free(out);
}

static void test_snappy(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(1);
    kn_rng      rng;
    kn_rng_init(&rng, testing_seed(), 0);
    for (int round = 0; round < testing_rounds(200); round++) {
        size_t size = kn_rng_below(&rng, round % 10 == 0 ? 300000 : 400), kinds = 1 + kn_rng_below(&rng, 256);
        char  *data = malloc(size + 1);
        for (size_t i = 0; i < size; i++)
            data[i] =
                i > 9 && kn_rng_below(&rng, 3) ? data[i - 1 - kn_rng_below(&rng, 9)] : (char)kn_rng_below(&rng, kinds);
        kn_buffer packed;
        kn_buffer_init(&packed, ctx);
        kn_snappy_put(&packed, data, size);
        assert_false(packed.failed);
        unpack(&packed, data, size);
        kn_buffer_free(&packed);
        free(data);
    }
    testing_context_free(ctx);
}

/* ---- Rows ---- */

enum { COLUMNS = 5, TEXTS = 100, LENGTH = 40 };

/* Random entries, and how often each stands. */
typedef struct entries {
    int64_t  count;
    int64_t *times;
    int64_t (*values)[COLUMNS]; /* -1: missing */
} entries;

static entries make_entries(kn_rng *rng, int64_t count, int64_t most, int64_t kinds)
{
    entries e = {.count = count};
    e.times = malloc((size_t)(count + 1) * sizeof *e.times);
    e.values = malloc((size_t)(count + 1) * sizeof *e.values);
    for (int64_t i = 0; i < count; i++) {
        e.times[i] = 1 + (int64_t)kn_rng_below(rng, (uint64_t)most);
        for (int c = 0; c < COLUMNS; c++)
            e.values[i][c] = kn_rng_below(rng, 9) == 0 && c > 0 ? -1 : (int64_t)kn_rng_below(rng, (uint64_t)kinds);
    }
    return e;
}

/* The text of a value: some are long, and no two are alike. */
static void text_of(char out[LENGTH + 1], int64_t value)
{
    int64_t kind = value % TEXTS;
    snprintf(out, LENGTH + 1, "%0*" PRId64, kind % 7 == 0 ? LENGTH - 1 : 4, kind);
}

static void store(kn_batch_column *c, int kind, int64_t at, int64_t value)
{
    int64_t number = value < 0 ? 0 : kind == 0 ? value % TEXTS : value * 1000003 - 5000;
    double  real = (double)number + 0.25;
    int32_t day = (int32_t)(number % 40000);
    char    index = (char)number;
    if (value >= 0 && c->validity) c->validity[at / 8] |= (uint8_t)(1 << at % 8);
    if (c->text_format) memcpy((char *)c->data + at, &index, 1);
    if (c->format[0] == 'l') memcpy((char *)c->data + 8 * at, &number, 8);
    if (c->format[0] == 'g') memcpy((char *)c->data + 8 * at, &real, 8);
    if (c->format[0] == 't') memcpy((char *)c->data + 4 * at, &day, 4);
}

static const struct {
    const char *name, *format;
    int         width;
} kinds[COLUMNS] = {{"text", "c", 1}, {"note", "c", 1}, {"number", "l", 8}, {"day", "tdD", 4}, {"real", "g", 8}};

static bool open_column(kn_context *ctx, kn_batch_column *c, int kind, int64_t rows)
{
    *c = (kn_batch_column){.name = kinds[kind].name, .format = kinds[kind].format, .width = kinds[kind].width};
    c->data = kn_alloc_array_zero(ctx, (size_t)rows + 1, (size_t)c->width);
    c->validity = kind > 0 ? kn_alloc_array_zero(ctx, (size_t)rows / 8 + 1, 1) : NULL;
    if (c->format[0] != 'c') return c->data && c->validity;
    int32_t *offsets = kn_alloc_array_zero(ctx, TEXTS + 1, sizeof *offsets);
    c->bytes = kn_alloc_array(ctx, TEXTS, LENGTH + 1);
    c->offsets = offsets;
    c->text_format = "u";
    c->entries = TEXTS;
    for (int i = 0; offsets && c->bytes && i < TEXTS; i++) {
        text_of(c->bytes + offsets[i], i);
        offsets[i + 1] = offsets[i] + (int32_t)strlen(c->bytes + offsets[i]);
    }
    return c->data && offsets && c->bytes && (kind == 0 || c->validity);
}

/* As they are, with counts and places, or each as often as it stands. */
static kn_batches *batches_of(kn_context *ctx, const entries *e, bool counted)
{
    kn_batch_column columns[COLUMNS + 2] = {{0}};
    kn_batches     *out = NULL;
    int64_t         rows = 0, all = 0, at = 0;
    for (int64_t i = 0; i < e->count; i++) all += e->times[i];
    rows = counted ? e->count : all;
    bool good = true;
    for (int c = 0; c < COLUMNS; c++) good = open_column(ctx, &columns[c], c, rows) && good;
    for (int c = COLUMNS; counted && c < COLUMNS + 2; c++) {
        columns[c] = (kn_batch_column){.name = c == COLUMNS ? "(rows)" : "((rows))", .format = "l", .width = 8};
        columns[c].data = kn_alloc_array_zero(ctx, (size_t)rows + 1, 8);
        good = columns[c].data && good;
    }
    for (int64_t i = 0; good && i < e->count; i++)
        for (int64_t n = counted ? 1 : e->times[i]; n > 0; n--, at++) {
            for (int c = 0; c < COLUMNS; c++) store(&columns[c], c > 1 ? c : 0, at, e->values[i][c]);
            if (counted) ((int64_t *)columns[COLUMNS].data)[at] = e->times[i];
        }
    if (!good)
        kn_batch_columns_free(columns, COLUMNS + 2);
    else if (kn_batches_make(&out, ctx, columns, COLUMNS + (counted ? 2 : 0), rows, NULL) != KN_OK)
        out = NULL;
    return out;
}

static void free_entries(entries *e)
{
    free(e->times);
    free(e->values);
}

/* ---- The same bytes ---- */

static void assert_same_file(const char *a, const char *b)
{
    size_t size = 0, other = 0;
    char  *x = testing_contents(a, &size), *y = testing_contents(b, &other);
    assert_int_equal(size, other);
    assert_memory_equal(x, y, size);
    free(x);
    free(y);
}

static void write_both(kn_context *ctx, const entries *e, const char *const paths[2])
{
    kn_error err = KN_ERROR_INIT;
    for (int counted = 0; counted < 2; counted++) {
        kn_batches *b = batches_of(ctx, e, counted == 1);
        assert_non_null(b);
        assert_ok(kn_parquet_write(ctx, b, counted == 1, paths[counted], false, "release", &err), err);
        kn_batches_let_go(b);
    }
}

static void test_counted(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(1);
    kn_rng      rng;
    kn_rng_init(&rng, testing_seed(), 0);
    const char *paths[2] = {testing_file("rows.parquet", "", 0), testing_file("counted.parquet", "", 0)};
    for (int round = 0; round < testing_rounds(24); round++) {
        int64_t kinds_of = round % 3 == 0 ? 3 : round % 3 == 1 ? 200 : 1000000;
        entries e = make_entries(&rng, (int64_t)kn_rng_below(&rng, 4000), round % 2 ? 3 : 300, kinds_of);
        write_both(ctx, &e, paths);
        assert_same_file(paths[0], paths[1]);
        free_entries(&e);
    }
    testing_context_free(ctx);
}

/* ---- Read by DuckDB ---- */

static void assert_cell(const kn_table *t, int64_t row, int kind, int64_t value)
{
    char      expected[80] = "";
    int64_t   number = value * 1000003 - 5000;
    uint32_t  code = kn_column_code(&t->columns[kind], row);
    kn_string text =
        code < t->columns[kind].dict.count ? kn_dictionary_text(&t->columns[kind].dict, code) : (kn_string){"", 0};
    if (value >= 0 && kind < 2) text_of(expected, value);
    if (value >= 0 && kind == 2) snprintf(expected, sizeof expected, "%" PRId64, number);
    if (value >= 0 && kind == 4) snprintf(expected, sizeof expected, "%.2f", (double)number + 0.25);
    if (value < 0 || kind != 3) { /* a day is compared by what others read (tests/duckdb) */
        assert_int_equal(text.size, strlen(expected));
        assert_memory_equal(text.data, expected, text.size);
    }
}

static void test_read(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(1);
    kn_rng      rng;
    kn_rng_init(&rng, testing_seed(), 0);
    kn_error err = KN_ERROR_INIT;
    if (kn_columnar_ready(ctx, "x.parquet", &err) != KN_OK) {
        print_message("skipped: %s\n", err.message);
        testing_context_free(ctx);
        return;
    }
    const char *paths[2] = {testing_file("r.parquet", "", 0), testing_file("c.parquet", "", 0)};
    for (int round = 0; round < testing_rounds(6); round++) {
        entries e = make_entries(&rng, 2000, round % 2 ? 2 : 200, round < 2 ? 5 : 1000000);
        write_both(ctx, &e, paths);
        kn_column_type types[COLUMNS];
        kn_csv_options csv = KN_CSV_OPTIONS_INIT;
        kn_table      *t = NULL;
        for (int c = 0; c < COLUMNS; c++) types[c] = (kn_column_type){kinds[c].name, KN_TYPE_TEXT, NULL};
        csv.types = types;
        csv.type_count = COLUMNS;
        assert_ok(kn_table_read_csv(&t, ctx, paths[1], &csv, &err), err);
        int64_t row = 0;
        for (int64_t i = 0; i < e.count; i++)
            for (int64_t n = 0; n < e.times[i]; n++, row++)
                for (int c = 0; c < COLUMNS; c++) assert_cell(t, row, c, e.values[i][c]);
        assert_int_equal(t->rows, row);
        kn_table_free(t);
        free_entries(&e);
    }
    testing_context_free(ctx);
}

/* ---- Without memory ---- */

static void test_refused(void **state)
{
    (void)state;
    kn_rng rng;
    kn_rng_init(&rng, testing_seed(), 0);
    entries     e = make_entries(&rng, 300, 3, 1000000);
    const char *path = testing_file("refused.parquet", "", 0);
    bool        done = false;
    for (int64_t n = 0; !done; n += testing_step()) {
        testing_allocator allocator = {.refuse_at = -1};
        kn_context       *ctx = NULL;
        kn_error          err = KN_ERROR_INIT;
        assert_int_equal(testing_refusing_context(&ctx, &allocator, 1, &err), KN_OK);
        kn_batches *b = batches_of(ctx, &e, true);
        assert_non_null(b);
        allocator.refuse_at = allocator.requests + n;
        kn_status st = kn_parquet_write(ctx, b, true, path, false, "release", &err);
        assert_true(st == KN_OK || st == KN_MEMORY);
        done = st == KN_OK;
        kn_batches_let_go(b);
        kn_context_free(ctx);
        assert_int_equal(allocator.live, 0);
    }
    free_entries(&e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_snappy), cmocka_unit_test(test_counted),
                                       cmocka_unit_test(test_read), cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
