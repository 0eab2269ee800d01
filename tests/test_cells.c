/* test_cells.c: the rows of a source by columns (kn_cells_take): pieces of any number of rows, on any number of threads; of several
 * mistakes the first row's; rows before a failure; every allocation refused in turn. Numbers as texts, and back. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_cells.h"
#include "kn_error.h"
#include "kn_rng.h"

enum { COLUMNS = 3, MOST = 3 * KN_CELL_ROWS };

/* A source of rows whose cells say where they are. */
typedef struct source {
    int64_t rows, at;
    int64_t fails_at; /* -1: nowhere */
} source;

/* What was taken of them. */
typedef struct target {
    int64_t rows;             /* once all columns are */
    int64_t taken[COLUMNS];   /* rows of each column  */
    int64_t wrong[COLUMNS];   /* -1: none             */
    bool    refuses[COLUMNS]; /* the column fails     */
    bool    different[COLUMNS];
} target;

static kn_string text_of(int64_t row, int column, char *room)
{
    if ((row + column) % 7 == 0) return (kn_string){NULL, 0};
    if ((row + column) % 5 == 0) return (kn_string){"", 0};
    if (column == 2 && row % 3 == 0) return (kn_string){room, (size_t)snprintf(room, 40, "%lld", 70 - (long long)row)};
    if (column == 2 && row % 3 == 1) return (kn_string){room, (size_t)snprintf(room, 40, "%.15g", (double)row / 8)};
    return (kn_string){room, (size_t)snprintf(room, 40, "%lld in %d", (long long)row, column)};
}

/* Numbers as they are. */
static kn_status give(const kn_cell_sink *sink, int64_t row, int column, kn_error *err)
{
    char      room[40];
    kn_string text = text_of(row, column, room);
    if (column == 2 && text.size > 0 && row % 3 == 0) return sink->integer(sink->state, 70 - row, err);
    if (column == 2 && text.size > 0 && row % 3 == 1) return sink->real(sink->state, (double)row / 8, err);
    return sink->cell(sink->state, text, err);
}

static kn_status begin(void *state, const kn_catalog_table *table, kn_error *err)
{
    (void)table;
    (void)err;
    ((source *)state)->at = 0;
    return KN_OK;
}

static kn_status next(void *state, const kn_catalog_table *table, const kn_cell_sink *sink, int64_t most, bool *more,
                      kn_error *err)
{
    source *s = state;
    for (int64_t i = 0; i < most && s->at < s->rows; i++, s->at++)
        for (int c = 0; c < table->column_count; c++) {
            if (s->at == s->fails_at && c == 1) return kn_fail(err, KN_IO, "the source is gone");
            KN_TRY(give(sink, s->at, c, err));
        }
    *more = s->at < s->rows;
    return KN_OK;
}

static kn_status take_column(void *state, int column, const kn_cell_rows *rows, int64_t *wrong, kn_error *err)
{
    target *t = state;
    char    room[40], number[KN_NUMBER_TEXT];
    if (t->refuses[column]) return kn_fail(err, KN_INPUT, "column %d", column);
    t->different[column] =
        t->different[column] || rows->first != t->taken[column] || rows->count < 1 || rows->count > KN_CELL_ROWS;
    for (int64_t i = 0; i < rows->count; i++, t->taken[column]++) {
        kn_string expected = text_of(rows->first + i, column, room), text = kn_cell_rows_text(rows, column, i, number);
        bool      same = !text.data == !expected.data && text.size == expected.size;
        if (!same || memcmp(text.data ? text.data : "", expected.data ? expected.data : "", text.size) != 0)
            t->different[column] = true;
        if (rows->first + i == t->wrong[column]) *wrong = i;
    }
    return KN_OK;
}

static kn_status take_rows(void *state, const kn_cell_rows *rows, kn_error *err)
{
    target *t = state;
    (void)err;
    t->rows += rows->count;
    for (int c = 0; c < COLUMNS; c++) t->different[c] = t->different[c] || t->taken[c] != t->rows;
    return KN_OK;
}

static kn_status take(kn_context *ctx, source *s, target *t, kn_error *err)
{
    static kn_catalog_column columns[COLUMNS] = {{.name = "a"}, {.name = "b"}, {.name = "c"}};
    const kn_catalog_table   table = {.name = "t", .column_count = COLUMNS, .columns = columns};
    const kn_cells           cells = {.ctx = ctx, .state = s, .name = "made.db", .begin = begin, .next = next};
    const kn_cell_taker      taker = {t, take_column, take_rows};
    return kn_cells_take(&cells, &table, &taker, err);
}

static const target nothing = {.wrong = {-1, -1, -1}};

static void assert_same(const target *t)
{
    for (int c = 0; c < COLUMNS; c++) assert_false(t->different[c]);
}

static void all_rows_in_their_order(void **state)
{
    (void)state;
    static const int64_t counts[] = {0,       1, KN_CELL_ROWS - 1, KN_CELL_ROWS, KN_CELL_ROWS + 1, 2 * KN_CELL_ROWS,
                                     MOST - 1};
    static const int     threads[] = {1, 2, 3, 8};
    for (size_t n = 0; n < sizeof threads / sizeof *threads; n++) {
        kn_context *ctx = testing_context(threads[n]);
        for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
            source   s = {.rows = counts[i], .fails_at = -1};
            target   t = nothing;
            kn_error err = KN_ERROR_INIT;
            assert_ok(take(ctx, &s, &t, &err), err);
            assert_int_equal(t.rows, counts[i]);
            assert_same(&t);
        }
        testing_context_free(ctx);
    }
}

/* `t.wrong` and where the source fails; the message, and the rows that were taken before. */
static void expect(target t, int64_t fails_at, kn_status status, const char *message, int64_t rows)
{
    for (int threads = 1; threads <= 8; threads = threads == 1 ? 2 : threads * 4) {
        kn_context *ctx = testing_context(threads);
        for (int round = 0; round < 5; round++) {
            source   s = {.rows = MOST - 5, .fails_at = fails_at};
            target   own = t;
            kn_error err = KN_ERROR_INIT;
            assert_int_equal(take(ctx, &s, &own, &err), status);
            assert_string_equal(err.message, message);
            assert_int_equal(own.rows, rows);
            assert_same(&own);
        }
        testing_context_free(ctx);
    }
}

static void the_first_mistake_is_reported(void **state)
{
    (void)state;
    const int64_t piece = KN_CELL_ROWS;
    expect((target){.wrong = {piece + 9, piece + 8, -1}}, -1, KN_INPUT,
           "made.db: table \"t\", column \"b\", row 8201: not UTF-8", piece);
    expect((target){.wrong = {-1, 9, 9}}, -1, KN_INPUT, "made.db: table \"t\", column \"b\", row 10: not UTF-8", 0);
    expect(nothing, piece + 3, KN_IO, "the source is gone", piece + 3);
    expect(nothing, 0, KN_IO, "the source is gone", 0);
    expect((target){.wrong = {piece + 2, -1, -1}}, piece + 3, KN_INPUT,
           "made.db: table \"t\", column \"a\", row 8195: not UTF-8", piece);
    expect((target){.wrong = {-1, -1, 5}}, piece + 3, KN_INPUT, "made.db: table \"t\", column \"c\", row 6: not UTF-8",
           0);
}

static void a_column_that_fails(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(2);
    source      s = {.rows = MOST, .fails_at = -1};
    target      t = nothing;
    kn_error    err = KN_ERROR_INIT;
    t.refuses[1] = true;
    assert_int_equal(take(ctx, &s, &t, &err), KN_INPUT);
    assert_string_equal(err.message, "column 1");
    assert_int_equal(t.rows, 0);
    testing_context_free(ctx);
}

static void memory_that_is_refused(void **state)
{
    (void)state;
    kn_status status = KN_MEMORY;
    int64_t   tries = 0;
    for (; status != KN_OK; tries++) {
        testing_allocator memory = {.refuse_at = tries};
        kn_context       *ctx = NULL;
        source            s = {.rows = KN_CELL_ROWS + 10, .fails_at = -1};
        target            t = nothing;
        kn_error          err = KN_ERROR_INIT;
        status = testing_refusing_context(&ctx, &memory, 1, &err);
        if (status == KN_OK) status = take(ctx, &s, &t, &err);
        kn_context_free(ctx);
        assert_int_equal(memory.live, 0);
        assert_same(&t);
        if (status != KN_OK) assert_int_equal(status, KN_MEMORY);
    }
    assert_true(tries > 3);
}

/* ---- Numbers ---- */

/* By the definition: as few digits as give the number again. */
static size_t shortest(double value, char *room)
{
    int size = 0;
    for (int digits = 15; digits <= 17; digits++) {
        size = snprintf(room, KN_NUMBER_TEXT, "%.*g", digits, value);
        if (strtod(room, NULL) == value) break;
    }
    return (size_t)size;
}

static void check_real(double value)
{
    char      room[KN_NUMBER_TEXT], expected[KN_NUMBER_TEXT];
    kn_string text = kn_real_text(value, room);
    double    again = 0;
    assert_int_equal(text.size, shortest(value, expected));
    assert_memory_equal(text.data, expected, text.size);
    bool     taken = kn_plain_decimal(text, &again);
    kn_plain plain = kn_plain_of(text);
    if (taken) assert_true(again == value);
    if (kn_plain_real(value)) assert_true(taken);
    assert_int_equal(plain.kind == KN_PLAIN_REAL, taken);
    if (taken) assert_true(plain.real == value);
}

static void numbers_as_texts(void **state)
{
    static const int64_t ends[] = {
        0, 1, -1, 9, 10, 99, 100, INT64_MAX, INT64_MIN, 999999999999999999, -999999999999999999};
    char   room[KN_NUMBER_TEXT], expected[KN_NUMBER_TEXT];
    kn_rng rng;
    (void)state;
    kn_rng_init(&rng, testing_seed(), 0);
    for (int i = 0; i < 20000; i++) {
        int64_t   number = i < 11 ? ends[i] : (int64_t)kn_rng_next(&rng) >> kn_rng_below(&rng, 64), again = 0;
        kn_string text = kn_integer_text(number, room);
        int       size = snprintf(expected, sizeof expected, "%lld", (long long)number);
        assert_int_equal(text.size, size);
        assert_memory_equal(text.data, expected, text.size);
        assert_int_equal(kn_plain_integer(text, &again), size - (number < 0) <= 18);
        if (size - (number < 0) <= 18) assert_true(again == number);
        kn_plain plain = kn_plain_of(text);
        assert_int_equal(plain.kind, size - (number < 0) <= 18 ? KN_PLAIN_INTEGER : KN_PLAIN_NONE);
        if (plain.kind == KN_PLAIN_INTEGER) assert_true(plain.integer == number);
        check_real((double)number / (double)(1 + kn_rng_below(&rng, 1000)));
        double amount = (double)(number % 100000000000) / 100;
        check_real(amount);
        assert_int_equal(kn_plain_real(amount), number % 100000000000 % 100 != 0);
        uint64_t bits = kn_rng_next(&rng);
        double   any;
        memcpy(&any, &bits, sizeof any);
        if (any == any && any - any == 0) check_real(any);
    }
}

/* Whatever has a point and at most fifteen digits is the number nearest to it, or not taken. */
static void texts_as_numbers(void **state)
{
    static const char *const none[] = {
        "", "-", ".", "1.", ".5", "-.5", "1.0", "-0.0", "1e3", "1.5e3", "1.2.3", "1234567890.123456", "0x1.8"};
    kn_rng rng;
    (void)state;
    kn_rng_init(&rng, testing_seed(), 1);
    for (int i = 0; i < 20000; i++) {
        char   text[40];
        double number = 0;
        int    digits = (int)kn_rng_below(&rng, 8), whole = (int)kn_rng_below(&rng, 10000000);
        int    part = (int)kn_rng_below(&rng, 10000000),
            size = snprintf(text, sizeof text, "%s%d.%0*d", i % 2 ? "-" : "", whole, digits + 1, part);
        bool taken = kn_plain_decimal((kn_string){text, (size_t)size}, &number);
        if (taken) assert_true(number == strtod(text, NULL));
        if (part % 10 && size - i % 2 <= 16) assert_true(taken);
    }
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        double number;
        assert_false(kn_plain_decimal(kn_string_of(none[i]), &number));
        assert_int_equal(kn_plain_of(kn_string_of(none[i])).kind, KN_PLAIN_NONE);
    }
    assert_int_equal(kn_plain_of((kn_string){NULL, 0}).kind, KN_PLAIN_NONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_rows_in_their_order), cmocka_unit_test(the_first_mistake_is_reported),
        cmocka_unit_test(a_column_that_fails),     testing_alone(memory_that_is_refused),
        testing_alone(numbers_as_texts),           testing_alone(texts_as_numbers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
