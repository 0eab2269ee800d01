/* test_infer.c: the type of a column, against the definition read literally, and reading whole columns. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kn_rng.h"
#include "kn_value.h"

static kn_rng rng;

static int64_t below(int64_t bound)
{
    return (int64_t)kn_rng_below(&rng, (uint64_t)bound);
}

static const char *const date_formats[] = {"%Y-%m-%d", "%Y/%m/%d", "%Y.%m.%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y",
                                           "%d-%m-%Y", "%m-%d-%Y", "%d %b %Y", "%d-%b-%Y", "%Y%m%d"};
enum { DATE_FORMATS = 11 };

/* ---- Inference ---- */

typedef struct inferred {
    kn_type     type;
    const char *format;
    bool        ambiguous;
} inferred;

static inferred infer(kn_context *ctx, const kn_string *values, size_t count, char decimal)
{
    kn_value_rules rules = {decimal, NULL};
    kn_error       err = KN_ERROR_INIT;
    inferred       r;
    assert_ok(kn_infer_type(&r.type, &r.format, &r.ambiguous, ctx, values, count, &rules, &err), err);
    return r;
}

static void types_of_small_columns(void **state)
{
    (void)state;
    static const struct {
        char        decimal;
        const char *values[4];
        kn_type     type;
        const char *format;
        bool        ambiguous;
    } rows[] = {
        {'.', {NULL}, KN_TYPE_TEXT, NULL, false},
        {'.', {""}, KN_TYPE_TEXT, NULL, false},
        {'.', {"1", "-20", " 3"}, KN_TYPE_INTEGER, NULL, false},
        {'.', {"1", "-0"}, KN_TYPE_DECIMAL, NULL, false},
        {'.', {"1", "2.5"}, KN_TYPE_DECIMAL, NULL, false},
        {'.', {"1", "9223372036854775808"}, KN_TYPE_DECIMAL, NULL, false},
        {'.', {"1", "2,5"}, KN_TYPE_TEXT, NULL, false},
        {',', {"1", "2,5"}, KN_TYPE_DECIMAL, NULL, false},
        {',', {"1", "2.5"}, KN_TYPE_TEXT, NULL, false},
        {'.', {"1", "02138"}, KN_TYPE_TEXT, NULL, false},
        {'.', {"1", "+2"}, KN_TYPE_TEXT, NULL, false},
        {'.', {"1", "x"}, KN_TYPE_TEXT, NULL, false},
        {'.', {"20200131", "20200201"}, KN_TYPE_INTEGER, NULL, false},
        {'.', {"2020-01-31", "2020-02-29"}, KN_TYPE_DATE, "%Y-%m-%d", false},
        {'.', {"2020-01-31", "2020-02-30"}, KN_TYPE_TEXT, NULL, false},
        {'.', {"31.12.2020", "1.1.2021"}, KN_TYPE_DATE, "%d.%m.%Y", false},
        {',', {"31.12.2020", "1.1.2021"}, KN_TYPE_DATE, "%d.%m.%Y", false},
        {'.', {"03/04/2020", "05/05/2020"}, KN_TYPE_TEXT, NULL, true},
        {'.', {"04/03/2020"}, KN_TYPE_TEXT, NULL, true},
        {'.', {"02010203"}, KN_TYPE_TEXT, NULL, false},
        {'.', {"03/04/2020", "13/04/2020"}, KN_TYPE_DATE, "%d/%m/%Y", false},
        {'.', {"03/04/2020", "03/14/2020"}, KN_TYPE_DATE, "%m/%d/%Y", false},
        {'.', {"13/04/2020", "03/14/2020"}, KN_TYPE_TEXT, NULL, false},
        {'.', {"03/03/2020", "12/12/2020"}, KN_TYPE_DATE, "%d/%m/%Y", false},
        {'.', {"01-02-2020"}, KN_TYPE_TEXT, NULL, true},
        {'.', {"1 Jan 2020", "12 february 2020"}, KN_TYPE_DATE, "%d %b %Y", false},
        {'.', {"01-Jan-2020"}, KN_TYPE_DATE, "%d-%b-%Y", false},
        {'.', {"2020-01-31", "2020-01-31T12:00"}, KN_TYPE_TEXT, NULL, false},
        {'.', {"2020-01-31T12:00", "2020-01-31T12:00:01.5+02:00"}, KN_TYPE_DATETIME, "%Y-%m-%dT%H:%M:%S%z", false},
        {'.', {"2020-01-31 12:00", "2020-01-31 12:00:01"}, KN_TYPE_DATETIME, "%Y-%m-%d %H:%M:%S%z", false},
        {'.', {"31.1.2020 12:00"}, KN_TYPE_DATETIME, "%d.%m.%Y %H:%M:%S", false},
        {'.', {"1/2/2020 12:00"}, KN_TYPE_TEXT, NULL, true},
        {'.', {"1/2/2020 12:00", "1/13/2020 12:00:30"}, KN_TYPE_DATETIME, "%m/%d/%Y %H:%M:%S", false},
    };
    kn_context *ctx = testing_context(2);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        kn_string values[4];
        size_t    n = 0;
        while (n < 4 && rows[i].values[n]) {
            values[n] = kn_string_of(rows[i].values[n]);
            n++;
        }
        inferred r = infer(ctx, values, n, rows[i].decimal);
        if (r.type != rows[i].type || r.ambiguous != rows[i].ambiguous) fail_msg("row %zu: type %d", i, (int)r.type);
        if (rows[i].format)
            assert_string_equal(r.format, rows[i].format);
        else
            assert_null(r.format);
    }
    testing_context_free(ctx);
}

/* The definition, pattern by pattern and value by value. */
static inferred infer_naively(const kn_string *values, size_t count)
{
    inferred r = {KN_TYPE_TEXT, NULL, false};
    size_t   integers = 0, decimals = 0, first = SIZE_MAX;
    int64_t  a, b;
    for (size_t i = 0; i < count; i++) {
        integers += kn_parse_integer(values[i], &a);
        decimals += kn_parse_decimal(values[i], '.', NULL);
    }
    if (decimals == count) r.type = integers == count ? KN_TYPE_INTEGER : KN_TYPE_DECIMAL;
    if (decimals == count) return r;
    for (size_t f = 0; f < DATE_FORMATS - 1; f++) { /* the last is for declared dates */
        size_t fitting = 0, different = 0;
        for (size_t i = 0; i < count; i++) {
            bool fits = kn_parse_date(values[i], date_formats[f], &a);
            fitting += fits;
            if (fits && first != SIZE_MAX && kn_parse_date(values[i], date_formats[first], &b)) different += a != b;
        }
        if (fitting < count) continue;
        if (first == SIZE_MAX) {
            first = f;
            r.type = KN_TYPE_DATE;
            r.format = date_formats[f];
        } else if (different) {
            return (inferred){KN_TYPE_TEXT, NULL, true};
        }
    }
    return r;
}

static void random_columns_equal_the_definition(void **state)
{
    (void)state;
    static const char *const pools[][6] = {
        {"1", "22", "333", "-4", "5.5", "06"},
        {"1", "22", "333", "-4", "0", "20200101"},
        {"03/03/2020", "04/04/2021", "12/12/1999", "03/04/2020", "13/04/2020", "04/13/2020"},
        {"03-03-2020", "04-04-2021", "12-12-1999", "03-04-2020", "13-04-2020", "3-Apr-2020"},
        {"2020-01-01", "2020-02-29", "2021-12-31", "0001-01-01", "9999-12-31", "2021-02-29"},
    };
    kn_context *contexts[] = {testing_context(1), testing_context(2), testing_context(8)};
    enum { MOST = 70000 };
    kn_string *values = malloc(MOST * sizeof *values);
    assert_non_null(values);
    int seen[2][KN_TYPE_DATETIME + 1] = {{0}};
    for (int round = 0; round < testing_rounds(600); round++) {
        size_t count = 1 + (size_t)(round % 20 ? below(200) : below(MOST));
        int    pool = (int)below(5), common = 1 + (int)below(6);
        for (size_t i = 0; i < count; i++) /* mostly from the front of the pool; a rare value decides */
            values[i] = kn_string_of(pools[pool][below((int64_t)count) ? below(common) : below(6)]);
        inferred expected = infer_naively(values, count);
        seen[expected.ambiguous][expected.type]++;
        for (int c = 0; c < 3; c++) {
            inferred r = infer(contexts[c], values, count, '.');
            assert_int_equal(r.type, expected.type);
            assert_int_equal(r.ambiguous, expected.ambiguous);
            if (expected.format)
                assert_string_equal(r.format, expected.format);
            else
                assert_null(r.format);
        }
    }
    assert_true(seen[1][KN_TYPE_TEXT] && seen[0][KN_TYPE_TEXT] && seen[0][KN_TYPE_INTEGER] &&
                seen[0][KN_TYPE_DECIMAL] && seen[0][KN_TYPE_DATE]);
    for (int c = 0; c < 3; c++) testing_context_free(contexts[c]);
    free(values);
}

/* ---- Reading whole columns ---- */

typedef struct parsed {
    kn_status  status;
    kn_error   err;
    size_t     first_bad;
    int64_t    integers[4];
    kn_decimal decimals[4];
} parsed;

static parsed parse(kn_context *ctx, kn_type type, const char *format, const char *a, const char *b, const char *c)
{
    kn_value_rules rules = {'.', NULL};
    kn_string      values[] = {kn_string_of(a), kn_string_of(b), kn_string_of(c)};
    parsed         p = {.first_bad = SIZE_MAX};
    p.status = kn_parse_values(ctx, values, 3, type, format, &rules, p.integers, p.decimals, &p.first_bad, &p.err);
    return p;
}

static void columns_are_read_as_declared(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(1);
    parsed      p = parse(ctx, KN_TYPE_INTEGER, NULL, "007", "+7", "-0");
    assert_int_equal(p.status, KN_OK);
    assert_true(p.integers[0] == 7 && p.integers[1] == 7 && p.integers[2] == 0);
    p = parse(ctx, KN_TYPE_DECIMAL, NULL, "007.50", "+7.5", "75e-1");
    assert_int_equal(p.status, KN_OK);
    assert_int_equal(kn_decimal_compare(&p.decimals[0], &p.decimals[1]), 0);
    assert_int_equal(kn_decimal_compare(&p.decimals[1], &p.decimals[2]), 0);
    p = parse(ctx, KN_TYPE_DATE, NULL, "19700102", "19700103", "19700104");
    assert_int_equal(p.status, KN_OK);
    assert_true(p.integers[0] == 1 && p.integers[2] == 3);
    p = parse(ctx, KN_TYPE_DATE, NULL, "3/1/1970", "4/1/1970", "31/1/1970");
    assert_int_equal(p.status, KN_OK);
    assert_true(p.integers[0] == 2 && p.integers[2] == 30);
    p = parse(ctx, KN_TYPE_DATETIME, NULL, "1970-01-01T00:00", "1970-01-01T00:01Z", "1970-01-01T00:00:02");
    assert_int_equal(p.status, KN_OK);
    assert_true(p.integers[1] == 60000000 && p.integers[2] == 2000000);

    p = parse(ctx, KN_TYPE_INTEGER, NULL, "1", "1.0", "");
    assert_true(p.status == KN_INPUT && p.first_bad == 1);
    assert_string_equal(p.err.message, "a value is not an integer");
    p = parse(ctx, KN_TYPE_DATE, "%d.%m.%Y", "1.1.2020", "1.2.2020", "30.2.2020");
    assert_true(p.status == KN_INPUT && p.first_bad == 2);
    p = parse(ctx, KN_TYPE_DATE, NULL, "1/2/2020", "13/1/2020", "1/13/2020"); /* no pattern fits all */
    assert_true(p.status == KN_INPUT && p.first_bad == 2);
    p = parse(ctx, KN_TYPE_DATE, NULL, "3/3/2020", "3/4/2020", "5/6/2020"); /* two do */
    assert_true(p.status == KN_INPUT && p.first_bad == 1);
    assert_non_null(strstr(p.err.message, "by %d/%m/%Y and by %m/%d/%Y"));
    p = parse(ctx, KN_TYPE_DATE, "%d.%y", "1", "1", "1");
    assert_int_equal(p.status, KN_USAGE);
    p = parse(ctx, KN_TYPE_INTEGER, "%Y-%m-%d", "1", "1", "1");
    assert_int_equal(p.status, KN_USAGE);
    p = parse(ctx, KN_TYPE_TEXT, NULL, "1", "1", "1");
    assert_int_equal(p.status, KN_USAGE);
    testing_context_free(ctx);
}

static void lowest_bad_value_for_any_threads(void **state)
{
    (void)state;
    enum { N = 200000 };
    kn_string *values = malloc(N * sizeof *values);
    int64_t   *out = malloc(N * sizeof *out);
    char      *texts = malloc(N * 12);
    assert_true(values && out && texts);
    for (int threads = 1; threads <= 8; threads *= 2) {
        kn_context *ctx = testing_context(threads);
        for (int round = 0; round < 20; round += TESTING_SANITIZED ? 3 : 1) {
            for (int i = 0; i < N; i++) {
                sprintf(texts + 12 * i, "%04d-%02d-%02d", i / 360 % 9999 + 1, i / 30 % 12 + 1, i % 28 + 1);
                values[i] = kn_string_of(texts + 12 * i);
            }
            size_t lowest = SIZE_MAX, first_bad = SIZE_MAX;
            for (int bad = 0; bad < round; bad++) {
                /* From round 6 on towards the ends of ranges, so that several ranges fail at about the same time. */
                size_t at = (size_t)(round < 6 ? below(N) : bad % 4 * 16384 + 14000 + below(2000));
                values[at] = kn_string_of("2021-02-29");
                if (at < lowest) lowest = at;
            }
            kn_error    err = KN_ERROR_INIT;
            const char *format = round % 2 ? "%Y-%m-%d" : NULL;
            kn_status   st = kn_parse_values(ctx, values, N, KN_TYPE_DATE, format, NULL, out, NULL, &first_bad, &err);
            assert_int_equal(st, round ? KN_INPUT : KN_OK);
            assert_int_equal(first_bad, lowest);
            for (int i = 0; !round && i < N; i++)
                assert_int_equal(out[i], kn_days_from_civil(i / 360 % 9999 + 1, i / 30 % 12 + 1, i % 28 + 1));
        }
        kn_context_cancel(ctx);
        size_t      bad;
        kn_type     type;
        const char *format;
        bool        ambiguous;
        values[0] = values[1] = kn_string_of("2020-01-01");
        for (int i = 0; i < N; i++) values[i] = values[0];
        assert_int_equal(kn_infer_type(&type, &format, &ambiguous, ctx, values, N, NULL, NULL), KN_CANCELLED);
        assert_int_equal(kn_parse_values(ctx, values, N, KN_TYPE_DATE, NULL, NULL, out, NULL, &bad, NULL),
                         KN_CANCELLED);
        testing_context_free(ctx);
    }
    free(values);
    free(out);
    free(texts);
}

/* One value decides, wherever it stands and whichever thread comes to it. */
static void a_single_value_is_never_overlooked(void **state)
{
    (void)state;
    enum { N = 150000 };
    kn_string *values = malloc(N * sizeof *values);
    assert_non_null(values);
    for (int i = 0; i < N; i++) values[i] = kn_string_of("3/3/2020");
    for (int threads = 2; threads <= 8; threads *= 2) {
        kn_context *ctx = testing_context(threads);
        for (int round = 0; round < testing_rounds(25); round++) {
            size_t at = (size_t)below(N);
            values[at] = kn_string_of("x");
            inferred r = infer(ctx, values, N, '.');
            assert_true(r.type == KN_TYPE_TEXT && !r.ambiguous);
            values[at] = kn_string_of("4/3/2020");
            r = infer(ctx, values, N, '.');
            assert_true(r.type == KN_TYPE_TEXT && r.ambiguous);
            values[at] = values[at ? 0 : 1];
        }
        testing_context_free(ctx);
    }
    free(values);
}

/* The pool is the only thing here that allocates; without it the same is found by one thread. */
static void inference_needs_no_memory(void **state)
{
    (void)state;
    enum { N = 50000 };
    static kn_string values[N];
    for (int i = 0; i < N; i++) values[i] = kn_string_of(i == N - 1 ? "1.5" : "1");
    testing_allocator memory = {.refuse_at = -1};
    kn_context       *ctx = NULL;
    kn_error          err = KN_ERROR_INIT;
    assert_ok(testing_refusing_context(&ctx, &memory, 4, &err), err);
    memory.refuse_at = memory.requests;
    assert_int_equal(infer(ctx, values, N, '.').type, KN_TYPE_DECIMAL);
    kn_context_free(ctx);
    assert_int_equal(memory.live, 0);
}

int main(void)
{
    kn_rng_init(&rng, testing_seed(), 0);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(types_of_small_columns),
        cmocka_unit_test(random_columns_equal_the_definition),
        cmocka_unit_test(columns_are_read_as_declared),
        cmocka_unit_test(lowest_bad_value_for_any_threads),
        cmocka_unit_test(a_single_value_is_never_overlooked),
        cmocka_unit_test(inference_needs_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
