/* test_value.c: numbers and dates, against regular expressions, 128-bit arithmetic, strtod and a day counter.
 * Time zones and inference have files of their own.
 * SPDX-License-Identifier: Apache-2.0 */
#define _DEFAULT_SOURCE
#include "testing.h"

#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kn_rng.h"
#include "kn_value.h"

__extension__ typedef __int128 int128;

static kn_rng rng;

static int64_t below(int64_t bound)
{
    return (int64_t)kn_rng_below(&rng, (uint64_t)bound);
}

static bool matches(const regex_t *re, const char *text)
{
    return regexec(re, text, 0, NULL, 0) == 0;
}

static regex_t compile(const char *expression)
{
    regex_t re;
    assert_int_equal(regcomp(&re, expression, REG_EXTENDED), 0);
    return re;
}

/* ---- Numbers ---- */

static void integers_are_exact(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool        strict, declared;
        int64_t     value;
    } rows[] = {
        {"0", true, true, 0},
        {"7", true, true, 7},
        {"-7", true, true, -7},
        {" 42\t", true, true, 42},
        {"9223372036854775807", true, true, INT64_MAX},
        {"-9223372036854775808", true, true, INT64_MIN},
        {"9223372036854775808", false, false, 0},
        {"-9223372036854775809", false, false, 0},
        {"99999999999999999999", false, false, 0},
        {"18446744073709551617", false, false, 0}, /* 1 modulo 2^64 */
        {"007", false, true, 7},
        {"00000000000000000000000000012", false, true, 12},
        {"+7", false, true, 7},
        {"-0", false, true, 0},
        {"00", false, true, 0},
        {"", false, false, 0},
        {" ", false, false, 0},
        {"-", false, false, 0},
        {"+", false, false, 0},
        {"--1", false, false, 0},
        {"1 2", false, false, 0},
        {"1.0", false, false, 0},
        {"1e3", false, false, 0},
        {"0x10", false, false, 0},
        {"\xd9\xa3", false, false, 0}, /* an Arabic three */
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int64_t value = -1;
        assert_int_equal(kn_parse_integer(kn_string_of(rows[i].text), &value), rows[i].strict);
        if (rows[i].strict) assert_int_equal(value, rows[i].value);
        assert_int_equal(kn_parse_declared_integer(kn_string_of(rows[i].text), &value), rows[i].declared);
        if (rows[i].declared) assert_int_equal(value, rows[i].value);
    }
    kn_string nothing = {NULL, 0}, with_nul = {"1\0", 2};
    int64_t   value;
    assert_false(kn_parse_integer(nothing, &value));
    assert_false(kn_parse_integer(with_nul, &value));
    assert_false(kn_parse_decimal(nothing, '.', NULL));
}

/* Random short texts: which of them are numbers is asked of regular expressions, their value of strtod. */
static void number_syntax_equals_regular_expressions(void **state)
{
    (void)state;
    regex_t integer = compile("^ *(0|-?[1-9][0-9]*) *$"), declared = compile("^ *[+-]?[0-9]+ *$");
    regex_t decimal = compile("^ *-?((0|[1-9][0-9]*)(\\.[0-9]*)?|\\.[0-9]+)([eE][+-]?[0-9]+)? *$");
    regex_t lenient = compile("^ *[+-]?([0-9]+(\\.[0-9]*)?|\\.[0-9]+)([eE][+-]?[0-9]+)? *$");
    int     numbers = 0;
    for (int round = 0; round < 400000; round++) {
        static const char alphabet[] = "0001234567899..--+eE, x";
        char              text[10], comma[10];
        int               n = (int)below(9);
        for (int i = 0; i < n; i++) text[i] = alphabet[below((int64_t)sizeof alphabet - 1)];
        text[n] = comma[n] = '\0';
        for (int i = 0; i < n; i++) comma[i] = text[i] == '.' ? ',' : text[i] == ',' ? '.' : text[i];

        int64_t    value, lenient_value;
        kn_decimal d, same;
        kn_string  s = kn_string_of(text);
        assert_int_equal(kn_parse_integer(s, &value), matches(&integer, text));
        assert_int_equal(kn_parse_declared_integer(s, &lenient_value), matches(&declared, text));
        if (matches(&declared, text)) assert_int_equal(lenient_value, strtoll(text, NULL, 10));
        if (matches(&integer, text)) assert_int_equal(value, lenient_value);

        bool finite = isfinite(strtod(text, NULL));
        bool is = matches(&decimal, text) && finite;
        assert_int_equal(kn_parse_decimal(s, '.', &d), is);
        assert_int_equal(kn_parse_decimal(s, '.', NULL), is);
        assert_int_equal(kn_parse_decimal(kn_string_of(comma), ',', NULL), is);
        assert_int_equal(kn_parse_declared_decimal(s, '.', &same), matches(&lenient, text) && finite);
        if (!is) continue;
        numbers++;
        assert_true(d.nearest == strtod(text, NULL));
        assert_int_equal(kn_decimal_compare(&d, &same), 0);
    }
    assert_true(numbers > 10000);
    regfree(&integer);
    regfree(&declared);
    regfree(&decimal);
    regfree(&lenient);
}

static kn_decimal decimal_of(const char *text)
{
    kn_decimal d;
    if (!kn_parse_decimal(kn_string_of(text), '.', &d)) fail_msg("not a decimal: %s", text);
    return d;
}

static int compare_texts(const char *a, const char *b)
{
    kn_decimal x = decimal_of(a), y = decimal_of(b);
    int        forth = kn_decimal_compare(&x, &y), back = kn_decimal_compare(&y, &x);
    assert_int_equal((forth > 0) - (forth < 0), (back < 0) - (back > 0));
    return (forth > 0) - (forth < 0);
}

static void decimals_have_exact_order(void **state)
{
    (void)state;
    /* Ascending; texts in one row are equal. */
    static const char *const rows[][4] = {
        {"-1e308"},
        {"-123456789012345678901234567890.5"},
        {"-123456789012345678901234567890"},
        {"-10", "-1e1", "-100e-1", "-1.0E+01"},
        {"-9.99"},
        {"-0.5", "-.5", "-5e-1", "-0.50"},
        {"-1e-999999999"},
        {"0", "-0", "0.000", "0e999999999"},
        {"1e-999999999"},
        {"1e-400", "0.1e-399"},
        {"0.00123", "123e-5", ".00123"},
        {"0.1"},
        {"0.10000000000000001", "10000000000000001e-17"}, /* the same double as 0.1 */
        {"1.5", "1.50", "15e-1", "0.15e1"},
        {"10", "1e1", "10.", "10.00"},
        {"1010.01", "101001e-2"},
        {"1010.010000000000000000000000000001"},
        {"9007199254740992"},
        {"9007199254740993"},
        {"123456789012345678901234567890"},
        {"1e30"},
        {"1.7976931348623157e308"},
    };
    kn_decimal zero = decimal_of("-0.0e5");
    assert_true(!zero.negative && zero.exponent == 0 && !signbit(zero.nearest));
    int n = sizeof rows / sizeof *rows;
    for (int i = 0; i < n; i++)
        for (int a = 0; a < 4 && rows[i][a]; a++)
            for (int j = 0; j < n; j++)
                for (int b = 0; b < 4 && rows[j][b]; b++)
                    assert_int_equal(compare_texts(rows[i][a], rows[j][b]), (i > j) - (i < j));
}

static void hostile_decimals_are_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "",
        ".",
        "-",
        "-.",
        "e5",
        ".e5",
        "1e",
        "1e+",
        "inf",
        "nan",
        "-inf",
        "Infinity",
        "0x1p3",
        "1,234.5",
        "1.2.3",
        "007.5",
        "02138",
        "00",
        "-007.5",
        "00.5",
        "1 000",
        "1_000",
        "1e5.0",
        "1e400",
        "-1e400",
        "1.8e308",
        "1e1000000000",
        "1e-1000000000",
        "0e1000000000",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        assert_false(kn_parse_decimal(kn_string_of(texts[i]), '.', NULL));
        kn_decimal d;
        assert_false(kn_parse_decimal(kn_string_of(texts[i]), '.', &d));
    }
    char *exponent = malloc(700);
    assert_non_null(exponent);
    for (int sign = 0; sign < 2; sign++) { /* an exponent of hundreds of digits */
        strcpy(exponent, sign ? "1e-" : "1e");
        size_t n = strlen(exponent);
        memset(exponent + n, '9', 600);
        exponent[n + 600] = '\0';
        assert_false(kn_parse_decimal(kn_string_of(exponent), '.', NULL));
        memset(exponent + n, '0', 599); /* leading zeros are no harm */
        assert_true(kn_parse_decimal(kn_string_of(exponent), '.', NULL));
    }
    memset(exponent, '1', 400); /* too large for a double without any exponent */
    exponent[400] = '\0';
    assert_false(kn_parse_decimal(kn_string_of(exponent), '.', NULL));
    exponent[1] = '.';
    assert_true(kn_parse_decimal(kn_string_of(exponent), '.', NULL));
    free(exponent);
}

static int128 power10(int n)
{
    int128 p = 1;
    while (n-- > 0) p *= 10;
    return p;
}

/* A random decimal and its value times 10^20. */
static int128 random_decimal(char *text)
{
    int     fraction = (int)below(8), exponent = (int)below(13) - 6;
    int64_t whole = below(4) ? below((int64_t)power10((int)below(9))) : 0, part = below((int64_t)power10(fraction));
    bool    negative = below(2);
    int     n = sprintf(text, "%s%" PRId64, negative ? "-" : "", whole);
    if (fraction) n += sprintf(text + n, ".%0*" PRId64, fraction, part);
    if (exponent || below(2)) n += sprintf(text + n, "e%d", exponent);
    int128 scaled = (whole * power10(fraction) + part) * power10(20 - fraction + exponent);
    return negative ? -scaled : scaled;
}

static void decimal_order_equals_128_bit_arithmetic(void **state)
{
    (void)state;
    for (int round = 0; round < 300000; round++) {
        char   a[64], b[64];
        int128 x = random_decimal(a), y = random_decimal(b);
        assert_int_equal(compare_texts(a, b), (x > y) - (x < y));
        assert_true(decimal_of(a).nearest == strtod(a, NULL));
    }
}

/* Long numbers, and those half-way between two doubles, round as strtod does. */
static void nearest_double_is_correctly_rounded(void **state)
{
    (void)state;
    char text[2200];
    for (int round = 0; round < 20000; round++) {
        int n = sprintf(text, "%" PRId64, below(9) + 1), digits = (int)below(round % 100 ? 40 : 1000);
        if (n + digits > 300) text[n++] = '.';
        for (int i = 0; i < digits; i++) {
            if (i == digits / 2 && !strchr(text, '.')) text[n++] = '.';
            text[n++] = (char)('0' + below(10));
            text[n] = '\0';
        }
        sprintf(text + n, "e%d", (int)below(700) - 400);
        kn_decimal d;
        if (!kn_parse_decimal(kn_string_of(text), '.', &d)) {
            assert_true(isinf(strtod(text, NULL)));
            continue;
        }
        assert_true(d.nearest == strtod(text, NULL));
    }
    for (int round = 0; round < 2000; round++) { /* 2^53 + odd lies between two doubles; a far digit decides */
        int64_t odd = ((int64_t)1 << 53) + 2 * below(1 << 20) + 1;
        int     zeros = 700 + (int)below(400);
        int     n = sprintf(text, "%" PRId64 ".", odd);
        memset(text + n, '0', (size_t)zeros);
        strcpy(text + n + zeros, "1");
        assert_true(decimal_of(text).nearest == (double)(odd + 1));
        text[n + zeros] = '0';
        double even = decimal_of(text).nearest;
        assert_true(even == (double)odd && ((int64_t)even & 3) == 0);
    }
    assert_true(decimal_of("2.4703282292062327e-324").nearest == 0);
    assert_true(decimal_of("2.4703282292062328e-324").nearest > 0);
}

static void numbers_do_not_depend_on_the_locale(void **state)
{
    (void)state;
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "de_DE", "fr_FR"};
    const char              *set = NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names && !set; i++) set = setlocale(LC_ALL, names[i]);
    if (!set) printf("no locale with a decimal comma is installed: only the C locale was tested\n");
    assert_true(decimal_of("1.5").nearest == 1.5);
    assert_true(decimal_of("3.14159265358979323846264338").nearest == 3.14159265358979323846264338);
    setlocale(LC_ALL, "C");
}

/* ---- The calendar ---- */

static void every_day_from_0001_to_9999(void **state)
{
    (void)state;
    static const int length[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int64_t          day = 0, epoch = -1;
    for (int pass = 0; pass < 2; pass++) { /* the first pass only finds 1970-01-01 */
        day = 0;
        for (int y = 1; y <= 9999; y++) {
            bool leap = (y % 4 == 0 && y % 100 != 0) || y % 400 == 0;
            for (int m = 1; m <= 12; m++) {
                int n = length[m - 1] + (m == 2 && leap);
                if (pass && kn_days_in_month(y, m) != n) fail_msg("days of %d-%d", y, m);
                for (int d = 1; d <= n; d++, day++) {
                    if (y == 1970 && m == 1 && d == 1) epoch = day;
                    if (!pass) continue;
                    int year, month, dom;
                    kn_civil_from_days(day - epoch, &year, &month, &dom);
                    if (kn_days_from_civil(y, m, d) != day - epoch || year != y || month != m || dom != d)
                        fail_msg("%d-%d-%d", y, m, d);
                }
            }
        }
    }
    assert_int_equal(day, 3652059);
    int y, m, d;
    kn_civil_from_days(INT64_MIN, &y, &m, &d);
    assert_true(y == 1 && m == 1 && d == 1);
    kn_civil_from_days(INT64_MAX, &y, &m, &d);
    assert_true(y == 9999 && m == 12 && d == 31);
    for (int y2 = 1800; y2 < 2200; y2++) {
        struct tm tm = {.tm_year = y2 - 1900, .tm_mon = y2 % 12, .tm_mday = y2 % 28 + 1};
        assert_int_equal(timegm(&tm), kn_days_from_civil(y2, y2 % 12 + 1, y2 % 28 + 1) * 86400);
    }
}

/* ---- Patterns ---- */

static const char *const date_formats[] = {"%Y-%m-%d", "%Y/%m/%d", "%Y.%m.%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y",
                                           "%d-%m-%Y", "%m-%d-%Y", "%d %b %Y", "%d-%b-%Y", "%Y%m%d"};
static const char *const time_formats[] = {"%Y-%m-%dT%H:%M:%S%z", "%Y-%m-%d %H:%M:%S%z", "%d.%m.%Y %H:%M:%S",
                                           "%d/%m/%Y %H:%M:%S", "%m/%d/%Y %H:%M:%S"};
enum { DATE_FORMATS = 11, TIME_FORMATS = 5 };

static const char *const months[] = {"January", "February", "March",     "April",   "May",      "June",
                                     "July",    "August",   "September", "October", "November", "December"};

typedef struct moment {
    int year, month, day, hour, minute, second;
} moment;

static moment random_moment(void)
{
    moment m = {(int)below(9999) + 1, (int)below(12) + 1, 0, (int)below(24), (int)below(60), (int)below(60)};
    m.day = (int)below(kn_days_in_month(m.year, m.month)) + 1;
    return m;
}

/* Writes a moment by a pattern; `narrow` leaves out leading zeros. */
static void write_moment(char *to, const char *format, moment m, bool narrow, bool long_names)
{
    for (const char *f = format; *f; f++) {
        char field[16] = {*f};
        if (*f == '%') {
            switch (*++f) {
            case 'Y': sprintf(field, "%04d", m.year); break;
            case 'b': sprintf(field, long_names ? "%s" : "%.3s", months[m.month - 1]); break;
            case 'z': field[0] = '\0'; break;
            default: {
                int v = *f == 'm' ? m.month : *f == 'd' ? m.day : *f == 'H' ? m.hour : *f == 'M' ? m.minute : m.second;
                sprintf(field, "%0*d", narrow ? 1 : 2, v);
            }
            }
        }
        strcpy(to, field);
        to += strlen(field);
    }
}

static void dates_round_trip_in_every_pattern(void **state)
{
    (void)state;
    for (int round = 0; round < 100000; round++) {
        char        text[64];
        moment      m = random_moment();
        int64_t     days = kn_days_from_civil(m.year, m.month, m.day), value;
        int         f = round % (DATE_FORMATS + TIME_FORMATS);
        bool        date = f < DATE_FORMATS, narrow = below(2);
        const char *format = date ? date_formats[f] : time_formats[f - DATE_FORMATS];
        write_moment(text, format, m, narrow, below(2));
        bool iso = format[1] == 'Y';
        bool fits =
            !narrow || !iso || (m.month > 9 && m.day > 9 && (date || (m.hour > 9 && m.minute > 9 && m.second > 9)));
        if (date) {
            assert_int_equal(kn_parse_date(kn_string_of(text), format, &value), fits);
            if (fits) assert_int_equal(value, days);
            assert_false(kn_parse_datetime(kn_string_of(text), format, NULL, &value));
        } else {
            assert_int_equal(kn_parse_datetime(kn_string_of(text), format, NULL, &value), fits);
            int64_t seconds = ((days * 24 + m.hour) * 60 + m.minute) * 60 + m.second;
            if (fits) assert_int_equal(value, seconds * 1000000);
            assert_false(kn_parse_date(kn_string_of(text), format, &value));
        }
    }
}

/* The regular expression of a pattern of numbers, and which field each of its groups is. */
static regex_t format_regex(const char *format, char *fields)
{
    char expression[256] = "^", *to = expression + 1;
    for (const char *f = format; *f; f++) {
        if (*f != '%') {
            to += sprintf(to, "[%c]", *f);
        } else {
            *fields++ = *++f;
            to += sprintf(to, *f == 'Y' ? "([0-9]{4})" : format[1] == 'Y' ? "([0-9]{2})" : "([0-9]{1,2})");
        }
    }
    strcpy(to, "$");
    return compile(expression);
}

/* Dates with one wrong or changed character: the twin is a regular expression and the lengths of months. */
static void changed_dates_are_judged_as_by_the_twin(void **state)
{
    (void)state;
    int accepted = 0;
    for (int f = 0; f < DATE_FORMATS; f++) {
        const char *format = date_formats[f];
        if (strstr(format, "%b")) continue;
        char    fields[4];
        regex_t re = format_regex(format, fields);
        for (int round = 0; round < 20000; round++) {
            char       text[64];
            regmatch_t at[4];
            int        v[128] = {0};
            int64_t    value;
            write_moment(text, format, random_moment(), below(2), false);
            size_t where = (size_t)below((int64_t)strlen(text));
            text[where] = "0123456789-/. x"[below(15)];
            kn_string s = kn_string_of(text);
            if (where == 0 || where + 1 == s.size) s = kn_value_trim(s);
            char trimmed[64];
            sprintf(trimmed, "%.*s", (int)s.size, s.data);
            bool fits = regexec(&re, trimmed, 4, at, 0) == 0;
            for (int i = 0; fits && i < 3; i++) v[(int)fields[i]] = atoi(trimmed + at[i + 1].rm_so);
            if (fits && strcmp(format, "%Y%m%d") == 0) {
                v['Y'] /= 10000;
                v['m'] = v['m'] / 100;
            }
            fits = fits && v['Y'] >= 1 && v['m'] >= 1 && v['m'] <= 12 && v['d'] >= 1 &&
                   v['d'] <= kn_days_in_month(v['Y'], v['m']);
            assert_int_equal(kn_parse_date(kn_string_of(text), format, &value), fits);
            if (fits) assert_int_equal(value, kn_days_from_civil(v['Y'], v['m'], v['d']));
            accepted += fits;
        }
        regfree(&re);
    }
    assert_true(accepted > 20000);
}

static void times_in_detail(void **state)
{
    (void)state;
    static const char iso[] = "%Y-%m-%dT%H:%M:%S%z", de[] = "%d.%m.%Y %H:%M:%S";
    static const struct {
        const char *format, *text;
        int64_t     micros; /* -1: refused */
    } rows[] = {
        {iso, "1970-01-02T00:00:00Z", 86400000000},
        {iso, "1970-01-02T00:00:00", 86400000000},
        {iso, " 1970-01-02T00:00 ", 86400000000},
        {iso, "1970-01-02T00:00Z", 86400000000},
        {iso, "1970-01-02T01:30+01:30", 86400000000},
        {iso, "1970-01-02T01:30:00+0130", 86400000000},
        {iso, "1970-01-02T00:00:00-00:00", 86400000000},
        {iso, "1970-01-01T19:00:00-05", 86400000000},
        {iso, "1970-01-01T00:00:00.5", 500000},
        {iso, "1970-01-01T00:00:00,000001Z", 1},
        {iso, "1970-01-01T00:00:59.123456", 59123456},
        {iso, "1970-01-01T00:00:00.1234567", -1},
        {iso, "1970-01-01T00:00:00.", -1},
        {iso, "1970-01-01T00:00:60", -1},
        {iso, "1970-01-01T24:00:00", -1},
        {iso, "1970-01-01T00:60", -1},
        {iso, "1970-01-01T00", -1},
        {iso, "1970-01-01T0:00", -1},
        {iso, "1970-01-01T00:00:00z", -1},
        {iso, "1970-01-01T00:00:00+1", -1},
        {iso, "1970-01-01T00:00:00+24:00", -1},
        {iso, "1970-01-01T00:00:00+01:60", -1},
        {iso, "1970-01-01T00:00:00+01:", -1},
        {iso, "1970-01-01T00:00:00 Z", -1},
        {iso, "1970-01-01 00:00:00", -1},
        {iso, "1970-02-29T00:00:00", -1},
        {iso, "0000-01-01T00:00:00", -1},
        {iso, "", -1},
        {de, "2.1.1970 0:0:0", 86400000000},
        {de, "02.01.1970 00:00", 86400000000},
        {de, "02.01.1970 00:00Z", -1},
        {"%Y%m%d%H", "1970010200", 86400000000},
        {"%d%m%Y %H%M", "02011970 0000", 86400000000},
        {"%d%m%Y %H%M", "2011970 0000", -1},
        {"%d%m%Y %H%M", "02011970 123", -1}, /* 12:3 or 1:23 */
        {"%H.%M.%S, %d.%m.%Y", "00.00.07.5, 01.01.1970", 7500000},
        {"%S.%M.%H %d.%m.%Y", "7.0.0 1.1.1970", 7000000},
        {"[%d/%b/%Y:%H:%M:%S %z]", "[01/Jan/1970:00:00:07 +0000]", 7000000},
        {"%b %d %Y %H:%M %z", "jan 1 1970 0:01", 60000000},
        {"%b %d %Y %H:%M %z", "JANUARY 1 1970 0:01 -00:01", 120000000},
        {"%b %d %Y %H:%M", "Janu 1 1970 0:01", -1},
        {"%d/%m/%Y 100%% %H:%M", "1/1/1970 100% 0:01", 60000000},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int64_t value = 0;
        bool    ok = kn_parse_datetime(kn_string_of(rows[i].text), rows[i].format, NULL, &value);
        if (ok != (rows[i].micros >= 0) || (ok && value != rows[i].micros))
            fail_msg("%s: %d, %" PRId64, rows[i].text, ok, value);
    }
    int64_t first, last;
    assert_true(kn_parse_datetime(kn_string_of("0001-01-01T00:00+23:59"), iso, NULL, &first));
    assert_true(kn_parse_datetime(kn_string_of("9999-12-31T23:59:59.999999-23:59"), iso, NULL, &last));
    assert_int_equal(last - first, (int64_t)3652059 * 86400000000 - 1 + (int64_t)2 * (23 * 60 + 59) * 60000000);
}

static void formats_are_checked(void **state)
{
    (void)state;
    static const struct {
        const char *format;
        bool        date, time;
    } rows[] = {
        {"%Y-%m-%d", true, false},        {"%d. %b %Y", true, false},      {"%Y%%%m%d", true, false},
        {"%Y-%m-%dT%H", false, true},     {"%H:%M %d/%m/%Y", false, true}, {"", false, false},
        {"%Y-%m", false, false},          {"%Y-%m-%d %Y", false, false},   {"%Y-%m-%b-%d", false, false},
        {"%y-%m-%d", false, false},       {"%Y-%m-%d %", false, false},    {"%Y-%m-%d%q", false, false},
        {" %Y-%m-%d", false, false},      {"%Y-%m-%d ", false, false},     {"%Y-%m-%d %M", false, false},
        {"%Y-%m-%d %H:%S", false, false}, {"%Y-%m-%d%z", false, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *reason = NULL;
        assert_int_equal(kn_format_check(rows[i].format, KN_TYPE_DATE, &reason), rows[i].date);
        assert_int_equal(reason == NULL, rows[i].date);
        assert_int_equal(kn_format_check(rows[i].format, KN_TYPE_DATETIME, NULL), rows[i].time);
        assert_false(kn_format_check(rows[i].format, KN_TYPE_INTEGER, &reason));
    }
    assert_false(kn_format_check(NULL, KN_TYPE_DATE, NULL));
    for (int f = 0; f < DATE_FORMATS; f++) assert_true(kn_format_check(date_formats[f], KN_TYPE_DATE, NULL));
    for (int f = 0; f < TIME_FORMATS; f++) assert_true(kn_format_check(time_formats[f], KN_TYPE_DATETIME, NULL));
    int64_t value; /* a pattern that is refused reads nothing, even where the text would match */
    assert_false(kn_parse_datetime(kn_string_of("2020-01-01 12"), "%Y-%m-%d %H:%S", NULL, &value));
    assert_false(kn_parse_date(kn_string_of("2020-01-01 2020"), "%Y-%m-%d %Y", &value));
    assert_false(kn_parse_date(kn_string_of("2020-01-01%"), "%Y-%m-%d%", &value));
}

int main(void)
{
    kn_rng_init(&rng, testing_seed(), 0);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers_are_exact),
        cmocka_unit_test(number_syntax_equals_regular_expressions),
        cmocka_unit_test(decimals_have_exact_order),
        cmocka_unit_test(hostile_decimals_are_refused),
        cmocka_unit_test(decimal_order_equals_128_bit_arithmetic),
        cmocka_unit_test(nearest_double_is_correctly_rounded),
        cmocka_unit_test(numbers_do_not_depend_on_the_locale),
        cmocka_unit_test(every_day_from_0001_to_9999),
        cmocka_unit_test(dates_round_trip_in_every_pattern),
        cmocka_unit_test(changed_dates_are_judged_as_by_the_twin),
        cmocka_unit_test(times_in_detail),
        cmocka_unit_test(formats_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
