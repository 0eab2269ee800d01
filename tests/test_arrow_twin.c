/* test_arrow_twin.c: random Arrow streams against a naive twin, and every allocation refused in turn. */
/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <time.h>

#include "arrow_source.h"
#include "kn_rng.h"

/* ---- Memory ---- */

static source *mixed(void)
{
    source *s = source_new();
    schema_add(s->schema, schema("i", "number"));
    schema_add(s->schema, schema("u", "text"));
    schema_add(s->schema, encoded_schema("c", "u"));
    schema_add(s->schema, schema("tsm:", "time"));
    for (int i = 0; i < 2; i++) {
        struct ArrowArray *b = batch(s, 2);
        array_add(b, fixed(2, 4, (int32_t[]){i, 7}, NULL));
        array_add(b, utf8(2, (const char *[]){i ? "p" : "q", NULL}));
        array_add(b, encoded(fixed(2, 1, (int8_t[]){1, 0}, NULL), utf8(2, (const char *[]){"v", i ? "w" : "z"})));
        array_add(b, fixed(2, 8, (int64_t[]){i, -i}, NULL));
    }
    return s;
}

static void test_memory_refused(void **state)
{
    (void)state;
    kn_arrow_options options = KN_ARROW_OPTIONS_INIT;
    options.na = kn_default_na();
    options.na_count = -1;
    options.timezone = "+01:00";
    options.columns = (const char *const[]){"number", "text", "x", "time"};
    options.column_count = 4;
    kn_status st = KN_MEMORY;
    int64_t   n = 0;
    for (; st != KN_OK; n++) {
        testing_allocator memory = {.refuse_at = n + 1}; /* the context itself is request 0 */
        kn_context       *ctx = NULL;
        kn_error          err = KN_ERROR_INIT;
        kn_table         *t = NULL;
        assert_ok(testing_refusing_context(&ctx, &memory, 1, &err), err);
        st = import_with(&t, ctx, mixed(), &options, &err);
        if (st != KN_OK) assert_int_equal(st, KN_MEMORY);
        kn_table_free(t);
        kn_context_free(ctx);
        assert_int_equal(memory.live, 0);
    }
    assert_true(n > 20);
}

/* ---- Against a naive twin ---- */

enum { ROWS = 60, COLUMNS = 6, BATCHES = 4 };

/* What a cell should be: its text written here by other means than in the importer, or for floats the number. */
typedef struct expected {
    bool   missing;
    char   text[64];
    double number;
} expected;

static const char *const twin_formats[] = {"c",   "S",    "i",       "L",   "f", "g", "d:18,4,64", "d:38,2",
                                           "tdD", "tsu:", "tsm:UTC", "ttn", "b", "u", "U",         "vu"};

static void twin_time(char *out, int64_t micros, const char *end)
{
    time_t    seconds = (time_t)((micros - (((micros % 1000000) + 1000000) % 1000000)) / 1000000);
    int       rest = (int)(micros - (int64_t)seconds * 1000000);
    struct tm tm;
    gmtime_r(&seconds, &tm);
    char fraction[16] = "";
    if (rest) snprintf(fraction, sizeof fraction, ".%06d", rest);
    for (size_t n = strlen(fraction); n && fraction[n - 1] == '0'; n--) fraction[n - 1] = '\0';
    sprintf(out, "%04d-%02d-%02dT%02d:%02d:%02d%s%s", tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday, tm.tm_hour,
            tm.tm_min, tm.tm_sec, fraction, end);
}

static void twin_decimal(char *out, int64_t n, int scale)
{
    char digits[32];
    sprintf(digits, "%0*" PRIu64, scale + 1, n < 0 ? 0 - (uint64_t)n : (uint64_t)n);
    int whole = (int)strlen(digits) - scale;
    sprintf(out, "%s%.*s.%s", n < 0 ? "-" : "", whole, digits, digits + whole);
}

/* A number from a few magnitudes, often one seen before. */
static int64_t some_number(kn_rng *rng)
{
    int64_t n = (int64_t)(kn_rng_next(rng) >> (1 + kn_rng_below(rng, 63)));
    return kn_rng_below(rng, 2) ? n : -n;
}

/* One cell of fixed width: its bytes and what it should be. */
static size_t twin_cell(kn_rng *rng, const char *format, void *raw, expected *e)
{
    int64_t n = some_number(rng);
    float   f = (float)n * (float)kn_rng_double(rng);
    switch (format[0]) {
    case 'c': sprintf(e->text, "%d", (int8_t)n); return *(int8_t *)raw = (int8_t)n, 1;
    case 'S': sprintf(e->text, "%d", (uint16_t)n); return *(uint16_t *)raw = (uint16_t)n, 2;
    case 'i': sprintf(e->text, "%" PRId32, (int32_t)n); return *(int32_t *)raw = (int32_t)n, 4;
    case 'L': sprintf(e->text, "%" PRIu64, (uint64_t)n); return *(uint64_t *)raw = (uint64_t)n, 8;
    case 'f': e->number = (double)f; return *(float *)raw = f, 4;
    case 'g': e->number = (double)n * kn_rng_double(rng); return *(double *)raw = e->number, 8;
    case 'd':
        twin_decimal(e->text, n, format[2] == '1' ? 4 : 2);
        ((int64_t *)raw)[0] = n;
        ((int64_t *)raw)[1] = n < 0 ? -1 : 0;
        return format[2] == '1' ? 8 : 16;
    default: break;
    }
    char whole[64];
    switch (format[1]) {
    case 'd':
        n %= 700000;
        twin_time(whole, n * INT64_C(86400000000), "");
        sprintf(e->text, "%.10s", whole);
        return *(int32_t *)raw = (int32_t)n, 4;
    case 's':
        n %= format[2] == 'u' ? INT64_C(60000000000000000) : INT64_C(60000000000000);
        twin_time(e->text, format[2] == 'u' ? n : n * 1000, format[2] == 'u' ? "" : "Z");
        return *(int64_t *)raw = n, 8;
    default:
        n = (n < 0 ? -n : n) % 86400 * 1000; /* microseconds of the first second and a half minute */
        twin_time(whole, n, "");
        strcpy(e->text, whole + 11);
        return *(int64_t *)raw = n * 1000, 8;
    }
}

static const char *const twin_words[] = {
    "", "a", "Ωmega", "exactly 12 b", "more than twelve bytes", "NA", "7", "a longer text still"};

/* An array of `length` cells behind `pad` unused ones, and what they should be. */
static struct ArrowArray *twin_values(kn_rng *rng, const char *format, int64_t pad, int64_t length, expected *out)
{
    int64_t all = pad + length;
    uint8_t valid[16] = {0}, bits[16] = {0};
    char    raw[16 * 80] = {0}, bytes[80 * 32];
    int64_t wide[81] = {0};
    int32_t narrow[81] = {0};
    size_t  width = 0;
    for (int64_t i = 0; i < all; i++) {
        expected e = {.missing = kn_rng_below(rng, 8) == 0};
        if (!e.missing) valid[i / 8] |= (uint8_t)(1 << i % 8);
        wide[i + 1] = wide[i];
        if (format[0] == 'b') {
            bool yes = kn_rng_below(rng, 2);
            strcpy(e.text, yes ? "true" : "false");
            bits[i / 8] |= (uint8_t)(yes << i % 8);
        } else if (format[0] == 'u' || format[0] == 'U' || format[0] == 'v') {
            strcpy(e.text, twin_words[kn_rng_below(rng, 8)]);
            size_t n = strlen(e.text);
            memcpy(bytes + wide[i], e.text, n);
            put_view(raw + 16 * i, e.text, (int32_t)n, 0, (int32_t)wide[i]);
            wide[i + 1] += (int64_t)n;
        } else {
            _Alignas(16) char one[16];
            width = twin_cell(rng, format, one, &e);
            memcpy(raw + (size_t)i * width, one, width);
        }
        narrow[i + 1] = (int32_t)wide[i + 1];
        if (i >= pad) out[i - pad] = e;
    }
    struct ArrowArray *a = array(length, format[0] == 'v' ? 4 : format[0] == 'u' || format[0] == 'U' ? 3 : 2);
    a->offset = pad;
    buffer(a, 0, valid, (size_t)(all + 7) / 8);
    switch (format[0]) {
    case 'b': buffer(a, 1, bits, (size_t)(all + 7) / 8); break;
    case 'u': buffer(a, 1, narrow, (size_t)(all + 1) * 4), buffer(a, 2, bytes, (size_t)wide[all]); break;
    case 'U': buffer(a, 1, wide, (size_t)(all + 1) * 8), buffer(a, 2, bytes, (size_t)wide[all]); break;
    case 'v':
        buffer(a, 1, raw, (size_t)all * 16);
        buffer(a, 2, bytes, (size_t)wide[all]);
        buffer(a, 3, &wide[all], 8);
        break;
    default: buffer(a, 1, raw, (size_t)all * width); break;
    }
    return a;
}

static struct ArrowArray *twin_encoded(kn_rng *rng, const char *format, int64_t pad, int64_t length, expected *out)
{
    int64_t            entries = 1 + (int64_t)kn_rng_below(rng, ROWS);
    expected           values[ROWS];
    struct ArrowArray *dictionary = twin_values(rng, format, (int64_t)kn_rng_below(rng, 3), entries, values);
    uint16_t           indices[80] = {0};
    char               valid[81] = "";
    for (int64_t i = 0; i < pad + length; i++) {
        bool null = kn_rng_below(rng, 8) == 0;
        indices[i] = null ? 9999 : (uint16_t)kn_rng_below(rng, (uint64_t)entries);
        valid[i] = null ? '0' : '1';
        if (i >= pad) out[i - pad] = null ? (expected){.missing = true} : values[indices[i]];
    }
    struct ArrowArray *a = encoded(fixed(pad + length, 2, indices, valid), dictionary);
    a->offset = pad;
    a->length = length;
    return a;
}

static int digits_of(const char *text)
{
    int count = 0, zeros = 0; /* zeros that may be behind the last digit */
    for (; *text && *text != 'e'; text++) {
        if (*text < '0' || *text > '9' || (*text == '0' && count == 0)) continue;
        zeros = *text == '0' ? zeros + 1 : 0;
        count++;
    }
    return count - zeros;
}

/* The fewest digits that read as the number, by trying. */
static int fewest_digits(float number)
{
    char text[32];
    for (int digits = 1;; digits++) {
        snprintf(text, sizeof text, "%.*e", digits - 1, (double)number);
        if (digits == 9 || strtof(text, NULL) == number) return digits_of(text);
    }
}

static void check_twin(const kn_table *t, int column, const char *format, const expected *e)
{
    for (int64_t r = 0; r < kn_table_rows(t); r++) {
        char        one[256];
        const char *text = cell(t, column, r, one, sizeof one);
        if (e[r].missing || !text) {
            if (e[r].missing != !text) fail_msg("row %d of a column %s: missing or not", (int)r, format);
        } else if (format[0] == 'g') {
            assert_true(strtod(text, NULL) == e[r].number);
        } else if (format[0] == 'f') {
            assert_true(strtof(text, NULL) == (float)e[r].number);
            if (trunc(e[r].number) != e[r].number) /* whole ones have all their digits */
                assert_true(digits_of(text) <= fewest_digits((float)e[r].number));
        } else {
            assert_string_equal(text, e[r].text);
        }
    }
}

static void test_twin(void **state)
{
    (void)state;
    uint64_t seed = testing_seed();
    for (uint64_t round = 0; round < (uint64_t)testing_rounds(400); round++) {
        kn_rng rng;
        kn_rng_init(&rng, seed, round);
        static expected cells[COLUMNS][ROWS * BATCHES];
        const char     *formats[COLUMNS];
        bool            coded[COLUMNS];
        source         *s = source_new();
        for (int c = 0; c < COLUMNS; c++) {
            char name[8];
            sprintf(name, "col%d", c);
            formats[c] = twin_formats[kn_rng_below(&rng, sizeof twin_formats / sizeof *twin_formats)];
            coded[c] = kn_rng_below(&rng, 3) == 0;
            struct ArrowSchema *one = schema_add(s->schema, schema(coded[c] ? "S" : formats[c], name));
            if (coded[c]) one->dictionary = schema(formats[c], NULL);
        }
        int64_t rows = 0;
        for (uint64_t b = kn_rng_below(&rng, BATCHES + 1); b > 0; b--) {
            int64_t            skip = (int64_t)kn_rng_below(&rng, 4), length = (int64_t)kn_rng_below(&rng, ROWS - 4);
            struct ArrowArray *a = batch(s, length);
            a->offset = skip;
            for (int c = 0; c < COLUMNS; c++) {
                expected e[ROWS];
                int64_t  pad = (int64_t)kn_rng_below(&rng, 12);
                array_add(a, (coded[c] ? twin_encoded : twin_values)(&rng, formats[c], pad, skip + length, e));
                memcpy(&cells[c][rows], e + skip, (size_t)length * sizeof *e);
            }
            rows += length;
        }
        kn_context *ctx = testing_context(1 + (int)(round % 3));
        kn_error    err = KN_ERROR_INIT;
        kn_table   *t = NULL;
        assert_ok(import_with(&t, ctx, s, NULL, &err), err);
        assert_int_equal(kn_table_rows(t), rows);
        for (int c = 0; c < COLUMNS; c++) check_twin(t, c, formats[c], cells[c]);
        kn_table_free(t);
        testing_context_free(ctx);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        testing_alone(test_memory_refused),
        cmocka_unit_test(test_twin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
