/* test_arrow.c: each Arrow type, shape and malformation, through the Arrow C Stream Interface. */
/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <errno.h>
#include <math.h>
#include <stdio.h>

#include "arrow_source.h"
#include "kn_arrow.h"
#include "kn_table.h"

static void takes(source *s, const kn_arrow_options *options, kn_type type, const char *expected)
{
    kn_context *ctx = testing_context(2);
    kn_error    err = KN_ERROR_INIT;
    kn_table   *t = NULL;
    assert_ok(import_with(&t, ctx, s, options, &err), err);
    check_column(t, 0, type, expected);
    kn_table_free(t);
    testing_context_free(ctx);
}

/* The import fails with a message that contains `words`. */
static void refuses(source *s, const kn_arrow_options *options, kn_status status, const char *words)
{
    kn_context *ctx = testing_context(2);
    kn_error    err = KN_ERROR_INIT;
    kn_table   *t = NULL;
    kn_status   st = import_with(&t, ctx, s, options, &err);
    if (st == KN_OK || !strstr(err.message, words)) fail_msg("expected \"%s\", got \"%s\"", words, err.message);
    assert_int_equal(st, status);
    testing_context_free(ctx);
}

/* ---- Types ---- */

static void test_integers(void **state)
{
    (void)state;
    takes(single("c", fixed(3, 1, (int8_t[]){-128, 0, 127}, NULL)), NULL, KN_TYPE_INTEGER, "-128|0|127");
    takes(single("C", fixed(3, 1, (uint8_t[]){255, 0, 7}, "101")), NULL, KN_TYPE_INTEGER, "255|-|7");
    takes(single("s", fixed(2, 2, (int16_t[]){INT16_MIN, INT16_MAX}, NULL)), NULL, KN_TYPE_INTEGER, "-32768|32767");
    takes(single("S", fixed(2, 2, (uint16_t[]){1, UINT16_MAX}, NULL)), NULL, KN_TYPE_INTEGER, "1|65535");
    takes(single("i", fixed(2, 4, (int32_t[]){INT32_MIN, INT32_MAX}, NULL)), NULL, KN_TYPE_INTEGER,
          "-2147483648|2147483647");
    takes(single("I", fixed(2, 4, (uint32_t[]){3, UINT32_MAX}, NULL)), NULL, KN_TYPE_INTEGER, "3|4294967295");
    takes(single("l", fixed(3, 8, (int64_t[]){INT64_MIN, INT64_MAX, 5}, "110")), NULL, KN_TYPE_INTEGER,
          "-9223372036854775808|9223372036854775807|-");
    takes(single("L", fixed(2, 8, (uint64_t[]){INT64_MAX, 0}, NULL)), NULL, KN_TYPE_INTEGER, "9223372036854775807|0");
    takes(single("L", fixed(3, 8, (uint64_t[]){UINT64_MAX, 2, 10}, NULL)), NULL, KN_TYPE_DECIMAL,
          "18446744073709551615|2|10");
    takes(single("i", fixed(2, 4, (int32_t[]){1, 2}, "00")), NULL, KN_TYPE_INTEGER, "-|-");
    takes(single("n", array(3, 0)), NULL, KN_TYPE_TEXT, "-|-|-");
    takes(single("n", array(3, 1)), NULL, KN_TYPE_TEXT, "-|-|-"); /* with a bitmap, as before Arrow 1.0 */
    takes(single("l", fixed(0, 8, NULL, NULL)), NULL, KN_TYPE_INTEGER, "");
}

static void test_floats(void **state)
{
    (void)state;
    takes(single("g", fixed(8, 8, (double[]){0.1, -0.0, 1e300, 5e-324, 123456, 1.0 / 3, -2.5e-7, 1e20}, NULL)), NULL,
          KN_TYPE_DECIMAL, "0.1|0|1e300|5e-324|123456|0.3333333333333333|-2.5e-7|100000000000000000000");
    takes(single("f", fixed(4, 4, (float[]){0.1f, 16777216, -1.5f, 1e-45f}, NULL)), NULL, KN_TYPE_DECIMAL,
          "0.1|16777216|-1.5|1e-45");
    takes(single("f", fixed(1, 4, (float[]){0.0006383f}, NULL)), NULL, KN_TYPE_DECIMAL,
          "0.0006383"); /* nearly between two */
    /* 0.1, 1, the largest, the smallest, -2 in half precision */
    takes(single("e", fixed(5, 2, (uint16_t[]){0x2e66, 0x3c00, 0x7bff, 0x0001, 0xc000}, NULL)), NULL, KN_TYPE_DECIMAL,
          "0.1|1|65504|6e-8|-2");
    int64_t          nan_count = -1;
    kn_arrow_options options = KN_ARROW_OPTIONS_INIT;
    options.nan_count = &nan_count;
    takes(single("g", fixed(4, 8, (double[]){1, (double)NAN, (double)NAN, (double)NAN}, "1101")), &options,
          KN_TYPE_DECIMAL, "1|-|-|-");
    assert_int_equal(nan_count, 2);
    takes(single("f", fixed(2, 4, (float[]){NAN, 2}, NULL)), &options, KN_TYPE_DECIMAL, "-|2");
    takes(single("e", fixed(2, 2, (uint16_t[]){0x7e00, 0x4000}, NULL)), &options, KN_TYPE_DECIMAL, "-|2");
    assert_int_equal(nan_count, 1);
    refuses(single("g", fixed(2, 8, (double[]){1, (double)-INFINITY}, NULL)), NULL, KN_INPUT,
            "column \"x\", batch 1, row 2: an infinite number");
    refuses(single("e", fixed(1, 2, (uint16_t[]){0x7c00}, NULL)), NULL, KN_INPUT, "an infinite number");
}

/* Every half-precision number's text lies nearer to it than to any other, and no shorter text of %g does. */
static void test_half_precision(void **state)
{
    (void)state;
    kn_arrow_format half, single_format;
    assert_true(kn_arrow_format_parse("e", &half));
    assert_true(kn_arrow_format_parse("g", &single_format));
    double previous = -1;
    for (uint32_t bits = 0; bits < 0x7c00; bits++) {
        uint16_t      h = (uint16_t)bits;
        kn_arrow_cell one;
        kn_arrow_cell_text(&one, &half, &h);
        assert_null(one.reason);
        one.text[one.size] = '\0';
        double value = bits < 1024 ? bits * 0x1p-24 : (1024 + bits % 1024) * pow(2, (int)(bits / 1024) - 25);
        double next =
            bits + 1 < 1024 ? (bits + 1) * 0x1p-24 : (1024 + (bits + 1) % 1024) * pow(2, (int)((bits + 1) / 1024) - 25);
        double read = strtod(one.text, NULL);
        assert_true(read > previous || bits == 0);
        assert_true(2 * read < value + next);
        if (bits > 0) assert_true(read > (previous + value) / 2 || fabs(read - value) <= fabs(read - previous));
        previous = value;
    }
}

static void test_bools(void **state)
{
    (void)state;
    struct ArrowArray *a = array(5, 2);
    buffer(a, 1, (uint8_t[]){0x68, 0x01}, 2); /* bits 3, 5, 6, 8 */
    buffer(a, 0, (uint8_t[]){0xbf, 0x01}, 2); /* bit 6 is null   */
    a->offset = 4;
    takes(single("b", a), NULL, KN_TYPE_TEXT, "false|true|-|false|true");
}

static void test_decimals(void **state)
{
    (void)state;
    takes(single("d:9,2,32", fixed(4, 4, (int32_t[]){123, -5, 0, 100000}, NULL)), NULL, KN_TYPE_DECIMAL,
          "1.23|-0.05|0.00|1000.00");
    takes(single("d:18,0,64", fixed(2, 8, (int64_t[]){-42, INT64_MIN}, NULL)), NULL, KN_TYPE_DECIMAL,
          "-42|-9223372036854775808");
    uint64_t d128[] = {1234567, 0, UINT64_MAX, UINT64_MAX, 0, 1};
    takes(single("d:38,3", fixed(3, 16, d128, NULL)), NULL, KN_TYPE_DECIMAL, "1234.567|-0.001|18446744073709551.616");
    takes(single("d:38,-2,128", fixed(3, 16, d128, NULL)), NULL, KN_TYPE_DECIMAL,
          "123456700|-100|1844674407370955161600");
    uint64_t d256[] = {0, 0, 0, (uint64_t)1 << 63, 0, 0, 1, 0};
    takes(single("d:76,1,256", fixed(2, 32, d256, NULL)), NULL, KN_TYPE_DECIMAL,
          "-5789604461865809771178549250434395392663499233282028201972879200395656481996.8|"
          "34028236692093846346337460743176821145.6");
}

static void test_dates_and_times(void **state)
{
    (void)state;
    takes(single("tdD", fixed(4, 4, (int32_t[]){0, -1, 19782, 2932896}, NULL)), NULL, KN_TYPE_DATE,
          "1970-01-01|1969-12-31|2024-02-29|9999-12-31");
    takes(single("tdm", fixed(2, 8, (int64_t[]){86400000, -86400000}, NULL)), NULL, KN_TYPE_DATE,
          "1970-01-02|1969-12-31");
    refuses(single("tdm", fixed(1, 8, (int64_t[]){86400001}, NULL)), NULL, KN_INPUT,
            "row 1: a date that is not a whole");
    refuses(single("tdD", fixed(1, 4, (int32_t[]){2932897}, NULL)), NULL, KN_INPUT, "outside the years");
    refuses(single("tdD", fixed(1, 4, (int32_t[]){-719163}, NULL)), NULL, KN_INPUT, "outside the years");

    takes(single("tts", fixed(2, 4, (int32_t[]){0, 86399}, NULL)), NULL, KN_TYPE_TEXT, "00:00:00|23:59:59");
    takes(single("ttm", fixed(2, 4, (int32_t[]){3600500, 1}, NULL)), NULL, KN_TYPE_TEXT, "01:00:00.5|00:00:00.001");
    takes(single("ttu", fixed(1, 8, (int64_t[]){60000010}, NULL)), NULL, KN_TYPE_TEXT, "00:01:00.00001");
    takes(single("ttn", fixed(1, 8, (int64_t[]){86399999999999}, NULL)), NULL, KN_TYPE_TEXT, "23:59:59.999999999");
    refuses(single("tts", fixed(1, 4, (int32_t[]){86400}, NULL)), NULL, KN_INPUT, "outside the day");
    refuses(single("ttn", fixed(1, 8, (int64_t[]){-1}, NULL)), NULL, KN_INPUT, "outside the day");

    takes(single("tss:UTC", fixed(2, 8, (int64_t[]){-1, 1709210096}, NULL)), NULL, KN_TYPE_DATETIME,
          "1969-12-31T23:59:59Z|2024-02-29T12:34:56Z");
    takes(single("tsm:Europe/Paris", fixed(1, 8, (int64_t[]){1500}, NULL)), NULL, KN_TYPE_DATETIME,
          "1970-01-01T00:00:01.5Z");
    takes(single("tsu:", fixed(1, 8, (int64_t[]){1}, NULL)), NULL, KN_TYPE_DATETIME, "1970-01-01T00:00:00.000001");
    takes(single("tsn:", fixed(1, 8, (int64_t[]){-1000}, NULL)), NULL, KN_TYPE_DATETIME, "1969-12-31T23:59:59.999999");
    refuses(single("tsn:", fixed(2, 8, (int64_t[]){0, 1001}, NULL)), NULL, KN_INPUT,
            "column \"x\", batch 1, row 2: a time in nanoseconds");
    refuses(single("tss:", fixed(1, 8, (int64_t[]){INT64_MAX}, NULL)), NULL, KN_INPUT, "outside the years");
    refuses(single("tss:", fixed(1, 8, (int64_t[]){INT64_MIN}, NULL)), NULL, KN_INPUT, "outside the years");
}

static void test_timezone(void **state)
{
    (void)state;
    kn_context      *ctx = testing_context(1);
    kn_error         err = KN_ERROR_INIT;
    kn_arrow_options options = KN_ARROW_OPTIONS_INIT;
    options.timezone = "+02:00";
    kn_table *t = NULL;
    assert_ok(import_with(&t, ctx, single("tss:", fixed(1, 8, (int64_t[]){7200}, NULL)), &options, &err), err);
    assert_int_equal(t->columns[0].dict.integers[0], 0);
    kn_table_free(t);
    /* a time with a zone is an instant already */
    assert_ok(import_with(&t, ctx, single("tss:Asia/Tokyo", fixed(1, 8, (int64_t[]){7200}, NULL)), &options, &err),
              err);
    assert_int_equal(t->columns[0].dict.integers[0], INT64_C(7200000000));
    kn_table_free(t);
    testing_context_free(ctx);
    options.timezone = "Nowhere/At/All";
    ledger.made = ledger.released = 0;
    ctx = testing_context(1);
    assert_int_not_equal(import_with(&t, ctx, single("n", array(1, 0)), &options, &err), KN_OK);
    testing_context_free(ctx);
}

static void test_text(void **state)
{
    (void)state;
    const char *texts[] = {"b", NULL, "", "Zürich", "b", "10"};
    takes(single("u", utf8(6, texts)), NULL, KN_TYPE_TEXT, "b|-||Zürich|b|10");
    struct ArrowArray *large = array(2, 3);
    buffer(large, 1, (int64_t[]){2, 5, 6}, 24);
    buffer(large, 2, "__abcd", 6);
    takes(single("U", large), NULL, KN_TYPE_TEXT, "abc|d");
    struct ArrowArray *empty = array(2, 3); /* no bytes at all: the buffer may be absent */
    buffer(empty, 1, (int32_t[]){0, 0, 0}, 12);
    takes(single("u", empty), NULL, KN_TYPE_TEXT, "|");

    const char *numbers[] = {"3", "20", NULL, "NA", " n/a ", "3"};
    takes(single("u", utf8(6, numbers)), NULL, KN_TYPE_TEXT, "3|20|-|NA| n/a |3");
    kn_arrow_options options = KN_ARROW_OPTIONS_INIT;
    options.na = (const char *const[]){"NA", "n/a", NULL};
    options.na_count = -1;
    takes(single("u", utf8(6, numbers)), &options, KN_TYPE_TEXT, "3|20|-|-|-|3");
    options.infer_text = true;
    takes(single("u", utf8(6, numbers)), &options, KN_TYPE_INTEGER, "3|20|-|-|-|3");
    options.na_count = 1;
    takes(single("u", utf8(6, numbers)), &options, KN_TYPE_TEXT, "3|20|-|-| n/a |3");
    refuses(single("u", utf8(2, (const char *[]){"ok", "a\xff"})), NULL, KN_INPUT,
            "column \"x\", batch 1, row 2: a text that is not valid UTF-8");
    struct ArrowArray *nul = array(1, 3);
    buffer(nul, 1, (int32_t[]){0, 3}, 8);
    buffer(nul, 2, "a\0b", 3);
    refuses(single("u", nul), NULL, KN_INPUT, "column \"x\", batch 1, row 1: a NUL byte");
}

/* Short texts that differ in one byte only, each of them twice, and one that is no text after one that is. */
static void test_short_texts(void **state)
{
    (void)state;
    enum { LONGEST = 18 };
    const char *texts[2 * (LONGEST + 1)];
    char        room[LONGEST + 1][LONGEST + 1], expected[2048];
    for (int size = 1; size <= LONGEST; size++) {
        expected[0] = '\0';
        for (int i = 0; i < 2 * (size + 1); i++) { /* the last one has no other byte */
            char *text = room[i / 2];
            memset(text, 'a', (size_t)size);
            text[size] = '\0';
            if (i / 2 < size) text[i / 2] = 'b';
            texts[i] = text;
            strcat(strcat(expected, i ? "|" : ""), text);
        }
        takes(single("u", utf8(2 * (size + 1), texts)), NULL, KN_TYPE_TEXT, expected);
    }
    refuses(single("u", utf8(3, (const char *[]){"a\xc3\xa4", "a\xc3\xa4", "a\xc3("})), NULL, KN_INPUT,
            "row 3: a text that is not valid UTF-8");
    refuses(single("u", utf8(3, (const char *[]){"abcdefgh", "abcdefgh",
                                                 "abcd\xff"
                                                 "fgh"})),
            NULL, KN_INPUT, "row 3: a text that is not valid UTF-8");
}

static struct ArrowArray *views(int32_t length, int32_t piece, int32_t offset)
{
    char               records[3][16];
    struct ArrowArray *a = array(3, 5);
    put_view(records[0], "twelve bytes", 12, 0, 0);
    put_view(records[1], "a longer text", length, piece, offset);
    put_view(records[2], "", 0, 0, 0);
    buffer(a, 1, records, sizeof records);
    buffer(a, 2, "", 0);
    buffer(a, 3, "__a longer text", 15);
    buffer(a, 4, (int64_t[]){0, 15}, 16);
    return a;
}

static void test_views(void **state)
{
    (void)state;
    takes(single("vu", views(13, 1, 2)), NULL, KN_TYPE_TEXT, "twelve bytes|a longer text|");
    refuses(single("vu", views(13, 1, 3)), NULL, KN_INPUT, "row 2: a text outside its buffer");
    refuses(single("vu", views(13, 1, -1)), NULL, KN_INPUT, "a text outside its buffer");
    refuses(single("vu", views(13, 0, 0)), NULL, KN_INPUT, "a text outside its buffer");
    refuses(single("vu", views(13, 2, 2)), NULL, KN_INPUT, "a text in a buffer that is not there");
    refuses(single("vu", views(13, -1, 2)), NULL, KN_INPUT, "a text in a buffer that is not there");
    refuses(single("vu", views(-1, 1, 2)), NULL, KN_INPUT, "a text of negative length");
    refuses(single("vu", views(INT32_MAX, 1, 2)), NULL, KN_INPUT, "a text outside its buffer");
    struct ArrowArray *a = views(13, 1, 2);
    a->buffers[4] = NULL;
    refuses(single("vu", a), NULL, KN_INPUT, "a buffer is missing");
}

/* ---- Shape ---- */

static void test_dictionaries(void **state)
{
    (void)state;
    /* another dictionary per batch, a null entry, a null index with a wild value under it, an unused bad entry */
    source *s = source_new();
    schema_add(s->schema, encoded_schema("c", "u"));
    array_add(batch(s, 4),
              encoded(fixed(4, 1, (int8_t[]){1, 0, 99, 1}, "1101"), utf8(2, (const char *[]){"red", "blue"})));
    array_add(batch(s, 3), encoded(fixed(3, 1, (int8_t[]){0, 1, 2}, NULL),
                                   utf8(4, (const char *[]){"blue", NULL, "green", "\xff"})));
    takes(s, NULL, KN_TYPE_TEXT, "blue|red|-|blue|blue|-|green");
    /* a dictionary longer than the batch, seen through an offset; values that are numbers, with an unsigned 64-bit one */
    struct ArrowArray *longer = fixed(6, 8, (uint64_t[]){9, 8, 7, 6, 5, UINT64_MAX}, NULL);
    longer->offset = 1;
    longer->length = 5;
    s = source_new();
    schema_add(s->schema, encoded_schema("L", "L"));
    array_add(batch(s, 2), encoded(fixed(2, 8, (uint64_t[]){4, 0}, NULL), longer));
    takes(s, NULL, KN_TYPE_DECIMAL, "18446744073709551615|8");
    int64_t          nan_count = 0;
    kn_arrow_options options = KN_ARROW_OPTIONS_INIT;
    options.nan_count = &nan_count;
    s = source_new();
    schema_add(s->schema, encoded_schema("s", "f"));
    array_add(batch(s, 3), encoded(fixed(3, 2, (int16_t[]){0, 1, 0}, NULL), fixed(2, 4, (float[]){NAN, 1}, NULL)));
    takes(s, &options, KN_TYPE_DECIMAL, "-|1|-");
    assert_int_equal(nan_count, 2);
    s = source_new();
    schema_add(s->schema, encoded_schema("I", "n"));
    array_add(batch(s, 1), encoded(fixed(1, 4, (uint32_t[]){1}, NULL), array(2, 0)));
    takes(s, NULL, KN_TYPE_TEXT, "-");

    static const char *const indices[] = {"c", "C", "s", "S", "i", "I", "l", "L"};
    for (int i = 0; i < 8; i++) {
        uint64_t bad[] = {2, UINT64_MAX}; /* little-endian: one past the end, and -1 or the largest */
        for (int b = 0; b < 2; b++) {
            s = source_new();
            schema_add(s->schema, encoded_schema(indices[i], "u"));
            array_add(batch(s, 1),
                      encoded(fixed(1, (size_t)1 << i / 2, &bad[b], NULL), utf8(2, (const char *[]){"a", "b"})));
            refuses(s, NULL, KN_INPUT, "column \"x\", batch 1, row 1: an index outside the dictionary");
        }
    }
}

static void test_offsets(void **state)
{
    (void)state;
    /* struct offset 1, child offset 2: row 0 stands at 3 */
    source            *s = single("i", fixed(8, 4, (int32_t[]){0, 1, 2, 3, 4, 5, 6, 7}, "11101111"));
    struct ArrowArray *child = s->batches[0]->children[0];
    child->offset = 2;
    child->length = 5;
    s->batches[0]->offset = 1;
    s->batches[0]->length = 3;
    takes(s, NULL, KN_TYPE_INTEGER, "-|4|5");
    s = single("u", utf8(4, (const char *[]){"a", "b", NULL, "d"}));
    s->batches[0]->children[0]->offset = 1;
    s->batches[0]->children[0]->length = 3;
    s->batches[0]->offset = 1;
    s->batches[0]->length = 2;
    takes(s, NULL, KN_TYPE_TEXT, "-|d");
    /* a bitmap of the rows themselves, all set in the slice */
    s = single("i", fixed(3, 4, (int32_t[]){1, 2, 3}, NULL));
    buffer(s->batches[0], 0, (uint8_t[]){0x06}, 1);
    s->batches[0]->offset = 1;
    s->batches[0]->length = 2;
    takes(s, NULL, KN_TYPE_INTEGER, "2|3");
}

static source *three_columns(void)
{
    source *s = source_new();
    schema_add(s->schema, schema("i", "number"));
    schema_add(s->schema, schema("z", "binary"));
    schema_add(s->schema, schema("u", NULL));
    struct ArrowArray *b = batch(s, 2);
    array_add(b, fixed(2, 4, (int32_t[]){4, 5}, NULL));
    array_add(b, utf8(2, (const char *[]){"\xff", "\xfe"}));
    array_add(b, utf8(2, (const char *[]){"p", "q"}));
    return s;
}

static void test_columns(void **state)
{
    (void)state;
    refuses(three_columns(), NULL, KN_INPUT,
            "column \"binary\" has the format \"z\": kanon does not read such columns (bytes); leave it out");
    kn_arrow_options options = KN_ARROW_OPTIONS_INIT;
    options.columns = (const char *const[]){"c3", "number"};
    options.column_count = 2;
    kn_context *ctx = testing_context(2);
    kn_error    err = KN_ERROR_INIT;
    kn_table   *t = NULL;
    assert_ok(import_with(&t, ctx, three_columns(), &options, &err), err);
    assert_int_equal(kn_table_columns(t), 2);
    assert_string_equal(kn_table_name(t, 0), "number");
    assert_string_equal(kn_table_name(t, 1), "c3");
    check_column(t, 0, KN_TYPE_INTEGER, "4|5");
    check_column(t, 1, KN_TYPE_TEXT, "p|q");
    kn_table_free(t);
    testing_context_free(ctx);
    options.columns = (const char *const[]){"number", "nothing"};
    refuses(three_columns(), &options, KN_USAGE, "there is no column \"nothing\"");
    options.columns = (const char *const[]){"number", "binarry"}; /* its name is near, its type cannot be read */
    refuses(three_columns(), &options, KN_USAGE, "there is no column \"binarry\"; did you mean \"binary\"?");
    options.column_count = 0;
    refuses(three_columns(), &options, KN_USAGE, "no column is asked for");
    options = (kn_arrow_options){0};
    refuses(three_columns(), &options, KN_USAGE, "size field");
}

/* ---- Refusals ---- */

static void test_formats_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {"z",         "Z",
                                      "vz",        "w:4",
                                      "+l",        "+L",
                                      "+s",        "+m",
                                      "+w:3",      "+ud:0",
                                      "+us:0",     "+r",
                                      "tDs",       "tDn",
                                      "tiM",       "tiD",
                                      "tin",       "",
                                      "x",         "ii",
                                      "uu",        "td",
                                      "tdX",       "tdDD",
                                      "tt",        "ttx",
                                      "ttss",      "ts",
                                      "tss",       "tsx:",
                                      "t",         "d",
                                      "d:",        "d:5",
                                      "d:5,",      "d:0,0",
                                      "d:39,0",    "d:10,2,32",
                                      "d:19,0,64", "d:77,0,256",
                                      "d:5,2,12",  "d:5,2,128x",
                                      "d:5,2,",    "d:5,77",
                                      "d:5,-77",   "d:99999999999999999999,1",
                                      "d:-5,2",    "+"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        refuses(single(bad[i], array(0, 2)), NULL, KN_INPUT, "column \"x\" has the format");
        source *s = source_new();
        schema_add(s->schema, encoded_schema("i", bad[i]));
        array_add(batch(s, 0), encoded(array(0, 2), array(0, 2)));
        refuses(s, NULL, KN_INPUT, "column \"x\" has the format");
    }
    refuses(single("tDu", array(0, 2)), NULL, KN_INPUT, "such columns (durations); leave it out, or make it text");
    refuses(single("+vl", array(0, 2)), NULL, KN_INPUT, "such columns (lists); leave it out, or make it text");
    refuses(single("\xff\n\x01", array(0, 2)), NULL, KN_INPUT,
            "has the format \"???\": kanon does not read such columns;");
    source *s = source_new();
    schema_add(s->schema, schema("i", "x"))->format = NULL;
    refuses(s, NULL, KN_INPUT, "has the format \"\"");
}

static source *plain(void)
{
    return single("i", fixed(2, 4, (int32_t[]){1, 2}, NULL));
}

static void test_schemas_refused(void **state)
{
    (void)state;
    source *s = plain();
    s->schema->format = "i";
    refuses(s, NULL, KN_INPUT, "not a stream of tables");
    s = plain();
    s->schema->format = NULL;
    refuses(s, NULL, KN_INPUT, "not a stream of tables");
    refuses(source_new(), NULL, KN_INPUT, "no columns");
    s = plain();
    schema_add(s->schema, schema("i", "x"));
    refuses(s, NULL, KN_INPUT, "two columns are named \"x\"");
    s = plain();
    schema_add(s->schema, schema("i", "\xc3("));
    refuses(s, NULL, KN_INPUT, "the name of column 2 is not valid UTF-8");
    s = plain();
    schema_add(s->schema, NULL);
    refuses(s, NULL, KN_INPUT, "the schema of column 2 is missing");
    s = plain();
    schema_add(s->schema->children[0], schema("i", "y"));
    refuses(s, NULL, KN_INPUT, "have no children");
    s = source_new();
    schema_add(s->schema, encoded_schema("g", "u"));
    refuses(s, NULL, KN_INPUT, "must be integers");
    s = source_new();
    schema_add(s->schema, encoded_schema("i", "i"))->dictionary->dictionary = schema("u", "");
    refuses(s, NULL, KN_INPUT, "a dictionary of its own");
}

static void test_arrays_refused(void **state)
{
    (void)state;
    enum { CASES = 24 };
    static const char *const words[CASES] = {"batch 1: a wrong number of columns",
                                             "batch 1: a wrong number of buffers",
                                             "batch 1: a length that cannot be",
                                             "batch 1: an offset that cannot be",
                                             "batch 1, row 2: the row itself is null",
                                             "batch 1: nulls without a bitmap",
                                             "column \"x\", batch 1: the array is missing",
                                             "column \"x\", batch 1: the array is shorter",
                                             "column \"x\", batch 1: the array is shorter",
                                             "column \"x\", batch 1: a length that cannot be",
                                             "column \"x\", batch 1: an offset that cannot be",
                                             "column \"x\", batch 1: an offset that cannot be",
                                             "column \"x\", batch 1: a wrong number of buffers",
                                             "column \"x\", batch 1: a wrong number of buffers",
                                             "column \"x\", batch 1: the buffers are missing",
                                             "column \"x\", batch 1: a buffer is missing",
                                             "column \"x\", batch 1: nulls without a bitmap",
                                             "column \"x\", batch 1: a count of nulls that cannot be",
                                             "column \"x\", batch 1: a count of nulls that cannot be",
                                             "column \"x\", batch 1: children where",
                                             "column \"x\", batch 1: a dictionary that the schema",
                                             "batch 1: the buffers are missing",
                                             "batch 1: a dictionary that the schema",
                                             "batch 1: a length that cannot be"};
    for (int i = 0; i < CASES; i++) {
        source             *s = plain();
        struct ArrowArray  *b = s->batches[0], *c = b->children[0];
        const void        **buffers = c->buffers, **top = b->buffers;
        struct ArrowArray **children = b->children;
        switch (i) {
        case 0: array_add(b, array(2, 2)); break;
        case 1: b->n_buffers = 0; break;
        case 2: b->length = -1; break;
        case 3: b->offset = -1; break;
        case 4: buffer(b, 0, "\x01", 1); break;
        case 5: b->null_count = 1; break;
        case 6: drop_array(c), free(c), children[0] = NULL; break;
        case 7: c->length = 1; break;
        case 8: b->offset = 1; break;
        case 9: c->length = INT64_MIN; break;
        case 10: c->offset = -5; break;
        case 11: c->offset = INT64_MAX; break;
        case 12: c->n_buffers = 3; break;
        case 13: c->n_buffers = 0; break;
        case 14: c->buffers = NULL; break;
        case 15: c->buffers[1] = NULL; break;
        case 16: c->null_count = 1; break;
        case 17: c->null_count = -2; break;
        case 18: c->null_count = 3; break;
        case 19: array_add(c, array(2, 2)); break;
        case 20: c->dictionary = array(0, 2); break;
        case 21: b->buffers = NULL; break;
        case 22: b->dictionary = array(0, 2); break;
        default: b->length = INT64_MAX; break;
        }
        refuses(s, NULL, KN_INPUT, words[i]);
        if (i == 14) free(buffers);
        if (i == 21) free(top);
    }
}

static void test_text_offsets_refused(void **state)
{
    (void)state;
    static const int32_t bad[][4] = {{0, 3, 2, 4}, {-1, 0, 1, 1}, {0, 1, 0, 1}, {5, 4, 4, 4}};
    for (size_t i = 0; i < 4; i++) {
        struct ArrowArray *a = array(3, 3);
        buffer(a, 1, bad[i], 16);
        buffer(a, 2, "abcd", 4);
        refuses(single("u", a), NULL, KN_INPUT, "text offsets that run backwards");
    }
    struct ArrowArray *a = utf8(3, (const char *[]){"abc", NULL, "d"}); /* also under a null */
    ((int32_t *)((void **)a->private_data)[1])[2] = 2;
    refuses(single("u", a), NULL, KN_INPUT, "row 2: text offsets that run backwards");
    a = utf8(1, (const char *[]){"abc"});
    a->buffers[2] = NULL;
    refuses(single("u", a), NULL, KN_INPUT, "row 1: a buffer is missing");
}

static void test_dictionaries_refused(void **state)
{
    (void)state;
    for (int i = 0; i < 5; i++) {
        static const char *const words[] = {"the dictionary is missing", "a dictionary of its own",
                                            "a length that cannot", "a wrong number of buffers",
                                            "row 1: a text that is not valid UTF-8"};
        source                  *s = source_new();
        schema_add(s->schema, encoded_schema("i", "u"));
        struct ArrowArray *d = i == 0 ? NULL : utf8(1, (const char *[]){i == 4 ? "\xff" : "a"});
        array_add(batch(s, 1), encoded(fixed(1, 4, (int32_t[]){0}, NULL), d));
        if (i == 1) d->dictionary = utf8(1, (const char *[]){"a"});
        if (i == 2) d->length = -1;
        if (i == 3) d->n_buffers = 2;
        refuses(s, NULL, KN_INPUT, words[i]);
    }
}

static void test_producer_fails(void **state)
{
    (void)state;
    source *s = plain();
    s->schema_error = ENOSYS;
    refuses(s, NULL, KN_IO, "the producer failed giving its schema: Function not implemented");
    kn_arrow_options options = KN_ARROW_OPTIONS_INIT;
    for (int quoted = 0; quoted < 2; quoted++) {
        options.producer_messages = quoted;
        s = plain();
        s->next_error = EIO;
        kn_context *ctx = testing_context(1);
        kn_error    err = KN_ERROR_INIT;
        kn_table   *t = NULL;
        assert_int_equal(import_with(&t, ctx, s, &options, &err), KN_IO);
        assert_non_null(strstr(err.message, "giving its next batch: Input/output error"));
        assert_int_equal(strstr(err.message, "the cat ate it") != NULL, quoted);
        testing_context_free(ctx);
    }
    struct ArrowArrayStream released = {0};
    kn_context             *ctx = testing_context(1);
    kn_table               *t = NULL;
    assert_int_equal(kn_table_import_arrow(&t, ctx, &released, NULL, NULL), KN_USAGE);
    assert_int_equal(kn_table_import_arrow(&t, ctx, NULL, NULL, NULL), KN_USAGE);
    kn_error err = KN_ERROR_INIT;
    kn_context_cancel(ctx);
    assert_int_equal(import_with(&t, ctx, plain(), NULL, &err), KN_CANCELLED);
    testing_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_integers),
        cmocka_unit_test(test_floats),
        testing_alone(test_half_precision),
        cmocka_unit_test(test_bools),
        cmocka_unit_test(test_decimals),
        cmocka_unit_test(test_dates_and_times),
        testing_alone(test_timezone),
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_short_texts),
        cmocka_unit_test(test_views),
        cmocka_unit_test(test_dictionaries),
        cmocka_unit_test(test_offsets),
        cmocka_unit_test(test_columns),
        cmocka_unit_test(test_formats_refused),
        cmocka_unit_test(test_schemas_refused),
        cmocka_unit_test(test_arrays_refused),
        cmocka_unit_test(test_text_offsets_refused),
        cmocka_unit_test(test_dictionaries_refused),
        cmocka_unit_test(test_producer_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
