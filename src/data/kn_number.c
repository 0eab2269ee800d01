/* kn_number.c: integers and exact decimals.
 *
 * Interface: kn_parse_integer, kn_parse_decimal (and their declared twins), kn_decimal_compare.
 *
 * A decimal is never stored as a double: it borrows its digits from the text and is compared digit by digit, so that
 * 0.1 < 0.10000000000000001 and 1.50 = 1.5 = 15e-1. The nearest double, which distances and means are computed from, is
 * rounded correctly: by one exact operation where digits and power of ten are both exact doubles, else by strtod.
 *
 * Cost: one pass over the text, without allocation. Limits: numbers that round to infinity and exponents of more than
 * nine digits are refused.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "kn_value.h"

enum {
    MAX_WRITTEN_EXPONENT = 999999999,
    MAX_DIGITS = 800,        /* no point half-way between two doubles has more than 767 significant digits */
    LARGEST_EXPONENT = 309,  /* 0.17976931348623157 × 10^309 is the largest double                         */
    SMALLEST_EXPONENT = -323 /* 0.2470328... × 10^-323 is half of the smallest                             */
};

/* ---- Integers ---- */

static bool parse_integer(kn_string text, bool declared, int64_t *out)
{
    text = kn_value_trim(text);
    const char *p = text.data, *end = p + text.size;
    bool        negative = p < end && *p == '-';
    if (negative || (declared && p < end && *p == '+')) p++;
    if (p == end) return false;
    if (!declared && *p == '0' && (negative || end - p > 1)) return false;
    while (end - p > 1 && *p == '0') p++;
    if (end - p > 19) return false; /* 19 digits fit into 64 bits */
    uint64_t magnitude = 0;
    for (; p < end; p++) {
        if (!kn_is_digit(*p)) return false;
        magnitude = magnitude * 10 + (uint64_t)(*p - '0');
    }
    if (magnitude > (uint64_t)INT64_MAX + negative) return false;
    *out = !negative ? (int64_t)magnitude : magnitude == 0 ? 0 : -(int64_t)(magnitude - 1) - 1;
    return true;
}

bool kn_parse_integer(kn_string text, int64_t *out)
{
    return parse_integer(text, false, out);
}

bool kn_parse_declared_integer(kn_string text, int64_t *out)
{
    return parse_integer(text, true, out);
}

/* ---- Decimals ---- */

/* Copies the first `limit` significant digits; returns how many there were. */
static size_t copy_digits(const kn_decimal *d, char *to, size_t limit)
{
    size_t n = d->before.size < limit ? d->before.size : limit;
    if (n) memcpy(to, d->before.data, n);
    size_t m = d->after.size < limit - n ? d->after.size : limit - n;
    if (m) memcpy(to + n, d->after.data, m);
    return n + m;
}

/* One multiplication or division of exact doubles, which IEEE 754 rounds correctly. */
static bool nearest_exactly(const kn_decimal *d, double *out)
{
    static const double ten[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    int64_t             n = (int64_t)(d->before.size + d->after.size), scale = d->exponent - n;
    if (FLT_EVAL_METHOD != 0 || n > 16 || scale < -22 || scale > 22) return false;
    uint64_t digits = 0;
    for (size_t i = 0; i < d->before.size; i++) digits = digits * 10 + (uint64_t)(d->before.data[i] - '0');
    for (size_t i = 0; i < d->after.size; i++) digits = digits * 10 + (uint64_t)(d->after.data[i] - '0');
    if (digits > (uint64_t)1 << 53) return false;
    *out = scale < 0 ? (double)digits / ten[-scale] : (double)digits * ten[scale];
    return true;
}

/* The nearest double of the magnitude; may be infinite. */
static double nearest_magnitude(const kn_decimal *d)
{
    double value;
    size_t total = d->before.size + d->after.size;
    if (total == 0 || d->exponent < SMALLEST_EXPONENT) return 0;
    if (d->exponent > LARGEST_EXPONENT) return INFINITY;
    if (nearest_exactly(d, &value)) return value;

    /* Whole digits and a power of ten: without a decimal mark strtod does not care about the locale. Digits after the
     * first MAX_DIGITS (the last of all is never 0) only mean "a little more", which a single 1 does as well. */
    char   buffer[MAX_DIGITS + 32];
    size_t n = copy_digits(d, buffer, MAX_DIGITS);
    if (n < total) buffer[n++] = '1';
    snprintf(buffer + n, sizeof buffer - n, "e%d", (int)(d->exponent - (int64_t)n));
    return strtod(buffer, NULL);
}

/* [e[±]digits] up to the end of the text. */
static bool read_exponent(const char *p, const char *end, int64_t *exponent)
{
    *exponent = 0;
    if (p == end) return true;
    if (*p != 'e' && *p != 'E') return false;
    p++;
    bool negative = p < end && *p == '-';
    if (p < end && (*p == '-' || *p == '+')) p++;
    if (p == end) return false;
    for (; p < end; p++) {
        if (!kn_is_digit(*p)) return false;
        *exponent = *exponent * 10 + (*p - '0');
        if (*exponent > MAX_WRITTEN_EXPONENT) return false;
    }
    if (negative) *exponent = -*exponent;
    return true;
}

/* Removes zeros that are not significant. */
static void normalize(kn_decimal *d)
{
    while (d->after.size > 0 && d->after.data[d->after.size - 1] == '0') d->after.size--;
    while (d->before.size > 0 && d->before.data[0] == '0') {
        d->before.data++;
        d->before.size--;
    }
    d->exponent += (int64_t)d->before.size;
    if (d->before.size == 0) {
        while (d->after.size > 0 && d->after.data[0] == '0') {
            d->after.data++;
            d->after.size--;
            d->exponent--;
        }
    }
    if (d->after.size == 0)
        while (d->before.size > 0 && d->before.data[d->before.size - 1] == '0') d->before.size--;
    if (d->before.size == 0 && d->after.size == 0) {
        d->exponent = 0;
        d->negative = false;
    }
}

static bool parse_decimal(kn_string text, char mark, bool declared, kn_decimal *out)
{
    text = kn_value_trim(text);
    const char *p = text.data, *end = p + text.size;
    kn_decimal  d = {.negative = p < end && *p == '-'};
    if (d.negative || (declared && p < end && *p == '+')) p++;

    d.before.data = p;
    while (p < end && kn_is_digit(*p)) p++;
    d.before.size = (size_t)(p - d.before.data);
    if (!declared && d.before.size > 1 && d.before.data[0] == '0') return false;
    if (p < end && *p == mark) {
        d.after.data = ++p;
        while (p < end && kn_is_digit(*p)) p++;
        d.after.size = (size_t)(p - d.after.data);
    }
    if (d.before.size + d.after.size == 0 || !read_exponent(p, end, &d.exponent)) return false;
    normalize(&d);
    if (!out && d.exponent < LARGEST_EXPONENT) return true;
    d.nearest = nearest_magnitude(&d);
    if (isinf(d.nearest)) return false;
    if (d.negative) d.nearest = -d.nearest;
    if (out) *out = d;
    return true;
}

bool kn_parse_decimal(kn_string text, char mark, kn_decimal *out)
{
    return parse_decimal(text, mark, false, out);
}

bool kn_parse_declared_decimal(kn_string text, char mark, kn_decimal *out)
{
    return parse_decimal(text, mark, true, out);
}

/* Order of 0.a and 0.b, digit by digit across the decimal marks, which may be in different places. */
static int compare_digits(const kn_decimal *a, const kn_decimal *b)
{
    kn_string x = a->before, y = b->before;
    bool      x_last = false, y_last = false;
    for (;;) {
        if (x.size == 0 && !x_last) {
            x = a->after;
            x_last = true;
        }
        if (y.size == 0 && !y_last) {
            y = b->after;
            y_last = true;
        }
        if (x.size == 0 || y.size == 0) return (x.size > 0) - (y.size > 0);
        size_t n = x.size < y.size ? x.size : y.size;
        int    c = memcmp(x.data, y.data, n);
        if (c) return c;
        x.data += n;
        x.size -= n;
        y.data += n;
        y.size -= n;
    }
}

/* -1, 0 or 1. */
static int sign_of(const kn_decimal *d)
{
    return d->before.size + d->after.size == 0 ? 0 : d->negative ? -1 : 1;
}

int kn_decimal_compare(const kn_decimal *a, const kn_decimal *b)
{
    int sa = sign_of(a), sb = sign_of(b);
    if (sa != sb) return sa < sb ? -1 : 1;
    if (sa == 0) return 0;
    int magnitude = a->exponent != b->exponent ? (a->exponent < b->exponent ? -1 : 1) : compare_digits(a, b);
    return sa < 0 ? (magnitude < 0) - (magnitude > 0) : magnitude;
}
