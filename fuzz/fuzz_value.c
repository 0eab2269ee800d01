/* fuzz_value.c: what a cell's text means. The first byte chooses what is fuzzed; a broken invariant stops the program. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kn_value.h"

#define REQUIRE(condition)                                                                                             \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #condition);                              \
            abort();                                                                                                   \
        }                                                                                                              \
    } while (0)

static const char *const date_formats[] = {"%Y-%m-%d", "%Y/%m/%d", "%d.%m.%Y", "%m/%d/%Y", "%d %b %Y",
                                           "%d-%b-%Y", "%Y%m%d",   "%d%m%Y",   "%b%%%d/%Y"};
static const char *const time_formats[] = {"%Y-%m-%dT%H:%M:%S%z", "%Y-%m-%d %H:%M:%S%z", "%d.%m.%Y %H:%M:%S",
                                           "%Y%m%d%H%M%S",        "%H.%M.%S,%d%b%Y %z",  "[%d/%b/%Y:%H:%M:%S %z]"};

/* Cuts the text up to the next newline off. */
static kn_string next_line(kn_string *rest)
{
    const char *newline = rest->size ? memchr(rest->data, '\n', rest->size) : NULL;
    kn_string   line = {rest->data, newline ? (size_t)(newline - rest->data) : rest->size};
    size_t      used = line.size + (newline != NULL);
    rest->data += used;
    rest->size -= used;
    return line;
}

static void fuzz_integer(kn_string text)
{
    int64_t    strict, declared;
    kn_decimal d;
    char       again[32];
    if (kn_parse_integer(text, &strict)) {
        REQUIRE(kn_parse_declared_integer(text, &declared) && strict == declared);
        kn_string trimmed = kn_value_trim(text);
        snprintf(again, sizeof again, "%lld", (long long)strict);
        REQUIRE(kn_string_equal(trimmed, kn_string_of(again)));
        REQUIRE(kn_parse_decimal(text, '.', &d) && d.nearest == (double)strict);
    }
    if (kn_parse_declared_integer(text, &declared)) {
        snprintf(again, sizeof again, "%lld", (long long)declared);
        REQUIRE(kn_parse_integer(kn_string_of(again), &strict) && strict == declared);
    }
}

static int sign(int c)
{
    return (c > 0) - (c < 0);
}

static bool parse_decimal(kn_string text, kn_decimal *d)
{
    kn_decimal strict;
    bool       is = kn_parse_decimal(text, '.', &strict);
    REQUIRE(is == kn_parse_decimal(text, '.', NULL));
    if (!kn_parse_declared_decimal(text, '.', d)) {
        REQUIRE(!is);
        return false;
    }
    if (is) REQUIRE(kn_decimal_compare(&strict, d) == 0 && strict.nearest == d->nearest);
    REQUIRE(isfinite(d->nearest));
    if (d->nearest != 0) REQUIRE((d->nearest < 0) == d->negative);
    kn_string head = d->before.size ? d->before : d->after, tail = d->after.size ? d->after : d->before;
    if (head.size == 0)
        REQUIRE(d->exponent == 0 && !d->negative && d->nearest == 0);
    else
        REQUIRE(head.data[0] != '0' && tail.data[tail.size - 1] != '0');
    return true;
}

static void fuzz_decimals(kn_string text)
{
    kn_decimal d[3];
    int        n = 0;
    while (n < 3 && text.size > 0)
        if (parse_decimal(next_line(&text), &d[n])) n++;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            int c = sign(kn_decimal_compare(&d[i], &d[j]));
            REQUIRE(c == -sign(kn_decimal_compare(&d[j], &d[i])));
            if (c <= 0) REQUIRE(d[i].nearest <= d[j].nearest);
            if (c == 0) REQUIRE(d[i].exponent == d[j].exponent && d[i].negative == d[j].negative);
            for (int k = 0; k < n; k++)
                if (c <= 0 && kn_decimal_compare(&d[j], &d[k]) <= 0) REQUIRE(kn_decimal_compare(&d[i], &d[k]) <= 0);
        }
}

static void check_date(kn_string text, const char *format)
{
    int64_t days;
    int     y, m, d;
    char    iso[32];
    if (!kn_parse_date(text, format, &days)) return;
    REQUIRE(kn_format_check(format, KN_TYPE_DATE, NULL));
    kn_civil_from_days(days, &y, &m, &d);
    REQUIRE(y >= 1 && y <= 9999 && m >= 1 && m <= 12 && d >= 1 && d <= kn_days_in_month(y, m));
    REQUIRE(kn_days_from_civil(y, m, d) == days);
    snprintf(iso, sizeof iso, "%04d-%02d-%02d", y, m, d);
    int64_t again;
    REQUIRE(kn_parse_date(kn_string_of(iso), "%Y-%m-%d", &again) && again == days);
}

static void check_time(kn_string text, const char *format)
{
    int64_t micros;
    if (!kn_parse_datetime(text, format, NULL, &micros)) return;
    REQUIRE(kn_format_check(format, KN_TYPE_DATETIME, NULL));
    int64_t limit = (int64_t)86400 * 1000000;
    REQUIRE(micros >= (kn_days_from_civil(1, 1, 1) - 1) * limit);
    REQUIRE(micros < (kn_days_from_civil(9999, 12, 31) + 2) * limit);
}

/* A pattern on the first line, texts on the others. */
static void fuzz_format(kn_string text)
{
    char      format[64];
    kn_string line = next_line(&text);
    size_t    n = line.size < sizeof format - 1 ? line.size : sizeof format - 1;
    if (n) memcpy(format, line.data, n);
    format[n] = '\0';
    const char *reason = NULL;
    bool        date = kn_format_check(format, KN_TYPE_DATE, &reason);
    REQUIRE(date || reason);
    REQUIRE(!(date && kn_format_check(format, KN_TYPE_DATETIME, NULL)));
    while (text.size > 0) {
        line = next_line(&text);
        check_date(line, format);
        check_time(line, format);
    }
}

/* Every line is a value: what is inferred can be read, and what cannot be read is named. */
static void fuzz_infer(kn_context *ctx, kn_string text)
{
    enum { MOST = 200 };
    kn_string      values[MOST];
    int64_t        integers[MOST];
    kn_decimal     decimals[MOST];
    size_t         count = 0, bad = SIZE_MAX;
    kn_value_rules rules = {text.size % 2 ? '.' : ',', NULL};
    while (count < MOST && text.size > 0) values[count++] = next_line(&text);
    kn_type     type;
    const char *format;
    bool        ambiguous;
    REQUIRE(kn_infer_type(&type, &format, &ambiguous, ctx, values, count, &rules, NULL) == KN_OK);
    bool dated = type == KN_TYPE_DATE || type == KN_TYPE_DATETIME;
    REQUIRE((format != NULL) == dated && (!ambiguous || type == KN_TYPE_TEXT) && type != KN_TYPE_AUTO);
    if (type != KN_TYPE_TEXT)
        REQUIRE(kn_parse_values(ctx, values, count, type, format, &rules, integers, decimals, &bad, NULL) == KN_OK);
    for (kn_type t = KN_TYPE_INTEGER; t <= KN_TYPE_DATETIME; t++) {
        kn_error  err = KN_ERROR_INIT;
        kn_status st = kn_parse_values(ctx, values, count, t, NULL, &rules, integers, decimals, &bad, &err);
        REQUIRE(st == KN_OK || (st == KN_INPUT && bad < count && err.message[0]));
        if (t == type) REQUIRE(st == KN_OK);
        if (t == KN_TYPE_DATE && ambiguous) REQUIRE(st == KN_INPUT);
    }
}

static void fuzz_timezone(kn_context *ctx, kn_string bytes)
{
    kn_timezone *zone;
    kn_error     err = KN_ERROR_INIT;
    if (kn_timezone_parse(&zone, ctx, "fuzzed", bytes.data, bytes.size, &err) != KN_OK) {
        REQUIRE(zone == NULL && err.message[0]);
        return;
    }
    static const int64_t locals[] = {INT64_MIN, -62135596800, -1, 0, 1577836800, 1593561600, 253402300799, INT64_MAX};
    for (size_t i = 0; i < sizeof locals / sizeof *locals; i++) {
        int32_t offset = kn_timezone_offset(zone, locals[i]);
        REQUIRE(offset >= -26 * 3600 && offset <= 26 * 3600);
    }
    kn_timezone_free(zone);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1) return 0;
    kn_string          text = {(const char *)data + 1, size - 1};
    kn_context_options options = KN_CONTEXT_OPTIONS_INIT;
    kn_context        *ctx = NULL;
    options.threads = 1;
    if (kn_context_create(&ctx, &options, NULL) != KN_OK) return 0;
    switch (data[0]) {
    case 'i': fuzz_integer(text); break;
    case 'n': fuzz_decimals(text); break;
    case 'd':
        for (size_t f = 0; f < sizeof date_formats / sizeof *date_formats; f++) check_date(text, date_formats[f]);
        break;
    case 't':
        for (size_t f = 0; f < sizeof time_formats / sizeof *time_formats; f++) check_time(text, time_formats[f]);
        break;
    case 'f': fuzz_format(text); break;
    case 'c': fuzz_infer(ctx, text); break;
    case 'z': fuzz_timezone(ctx, text); break;
    default: break;
    }
    REQUIRE(kn_context_memory_used(ctx) == 0);
    kn_context_free(ctx);
    return 0;
}
