/* kn_arrow_value.c: Arrow format strings, and the text of one cell of each fixed-width type.
 *
 * Integers are written in decimal; floats with the fewest digits that give the same float back (so a float32 of 0.1
 * is "0.1", not its neighbour among the doubles), whole ones below 10^15 in full; decimals exactly, with as many
 * digits after the point as their scale; dates and times as in ISO 8601, fractions of a second without trailing
 * zeros. A value that has no exact text within kanon's range (years 1 to 9999, microseconds) has none: the caller
 * names the cell and stops.
 *
 * Cost: a few divisions per cell; floats with more than 15 digits a few library calls. Cells are read in the host's
 * byte order, at any alignment.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kn_arrow.h"
#include "kn_hash.h"
#include "kn_utf8.h"
#include "kn_value.h"

enum {
    FIRST_DAY = -719162, /* 0001-01-01 */
    LAST_DAY = 2932896,  /* 9999-12-31 */
    DAY_SECONDS = 86400,
    MAX_SCALE = 76,
    MAX_DIGITS = 80 /* of a 256-bit integer: 78 */
};

/* ---- Format strings ---- */

static bool parse_number(const char **at, int64_t *out)
{
    const char *p = *at;
    bool        negative = *p == '-';
    int64_t     n = 0;
    int         digits = 0;
    for (p += negative; *p >= '0' && *p <= '9'; p++) {
        if (++digits > 6) return false;
        n = n * 10 + (*p - '0');
    }
    *at = p;
    *out = negative ? -n : n;
    return digits > 0;
}

/* precision,scale[,bits] */
static bool parse_decimal(const char *p, kn_arrow_format *out)
{
    int64_t precision, scale, bits = 128;
    if (!parse_number(&p, &precision) || *p++ != ',' || !parse_number(&p, &scale)) return false;
    if (*p == ',') {
        p++;
        if (!parse_number(&p, &bits)) return false;
    }
    int64_t most = bits == 32 ? 9 : bits == 64 ? 18 : bits == 128 ? 38 : bits == 256 ? 76 : 0;
    if (*p || precision < 1 || precision > most || scale < -MAX_SCALE || scale > MAX_SCALE) return false;
    out->kind = KN_ARROW_DECIMAL;
    out->width = (int)(bits / 8);
    out->scale = (int)scale;
    return true;
}

static int64_t unit_per_second(char unit)
{
    switch (unit) {
    case 's': return 1;
    case 'm': return 1000;
    case 'u': return 1000000;
    case 'n': return 1000000000;
    default: return 0;
    }
}

/* What follows the 't'. */
static bool parse_temporal(const char *p, kn_arrow_format *out)
{
    if (p[0] == 'd' && (p[1] == 'D' || p[1] == 'm') && !p[2]) {
        out->kind = KN_ARROW_DATE;
        out->width = p[1] == 'D' ? 4 : 8;
        out->units = p[1] == 'D' ? 1 : DAY_SECONDS * INT64_C(1000);
        return true;
    }
    if ((p[0] != 't' && p[0] != 's') || !p[1] || (out->units = unit_per_second(p[1])) == 0) return false;
    if (p[0] == 't') {
        out->kind = KN_ARROW_TIME;
        out->width = out->units <= 1000 ? 4 : 8;
        return !p[2];
    }
    out->kind = KN_ARROW_TIMESTAMP;
    out->width = 8;
    if (p[2] != ':') return false;
    out->naive = !p[3];
    return true;
}

bool kn_arrow_format_parse(const char *format, kn_arrow_format *out)
{
    static const struct {
        char    letter;
        uint8_t kind, width;
    } letters[] = {
        {'n', KN_ARROW_NULL, 0},   {'b', KN_ARROW_BOOL, 0},     {'c', KN_ARROW_SIGNED, 1}, {'C', KN_ARROW_UNSIGNED, 1},
        {'s', KN_ARROW_SIGNED, 2}, {'S', KN_ARROW_UNSIGNED, 2}, {'i', KN_ARROW_SIGNED, 4}, {'I', KN_ARROW_UNSIGNED, 4},
        {'l', KN_ARROW_SIGNED, 8}, {'L', KN_ARROW_UNSIGNED, 8}, {'e', KN_ARROW_FLOAT, 2},  {'f', KN_ARROW_FLOAT, 4},
        {'g', KN_ARROW_FLOAT, 8},  {'u', KN_ARROW_UTF8, 4},     {'U', KN_ARROW_UTF8, 8},
    };
    *out = (kn_arrow_format){.kind = KN_ARROW_NULL};
    if (!format || !format[0]) return false;
    if (format[0] == 'd' && format[1] == ':') return parse_decimal(format + 2, out);
    if (format[0] == 't') return parse_temporal(format + 1, out);
    if (strcmp(format, "vu") == 0) {
        out->kind = KN_ARROW_VIEW;
        out->width = 16;
        return true;
    }
    if (format[1]) return false;
    for (size_t i = 0; i < sizeof letters / sizeof *letters; i++) {
        if (letters[i].letter != format[0]) continue;
        out->kind = (kn_arrow_kind)letters[i].kind;
        out->width = letters[i].width;
        return true;
    }
    return false;
}

/* ---- Reading elements ---- */

uint64_t kn_arrow_load_unsigned(const void *from, int width)
{
    uint8_t  u8;
    uint16_t u16;
    uint32_t u32;
    uint64_t u64;
    switch (width) {
    case 1: memcpy(&u8, from, 1); return u8;
    case 2: memcpy(&u16, from, 2); return u16;
    case 4: memcpy(&u32, from, 4); return u32;
    default: memcpy(&u64, from, 8); return u64;
    }
}

int64_t kn_arrow_load_signed(const void *from, int width)
{
    int8_t  i8;
    int16_t i16;
    int32_t i32;
    int64_t i64;
    switch (width) {
    case 1: memcpy(&i8, from, 1); return i8;
    case 2: memcpy(&i16, from, 2); return i16;
    case 4: memcpy(&i32, from, 4); return i32;
    default: memcpy(&i64, from, 8); return i64;
    }
}

/* ---- Numbers ---- */

static void put(kn_arrow_cell *cell, const char *text, size_t size)
{
    memcpy(cell->text + cell->size, text, size);
    cell->size += size;
}

static void put_zeros(kn_arrow_cell *cell, int count)
{
    for (; count > 0; count--) cell->text[cell->size++] = '0';
}

/* n in decimal, padded with zeros to `least` digits. */
static void put_unsigned(kn_arrow_cell *cell, uint64_t n, int least)
{
    char  digits[20];
    char *p = digits + sizeof digits;
    for (; n > 0 || least > 0; n /= 10, least--) *--p = (char)('0' + n % 10);
    put(cell, p, (size_t)(digits + sizeof digits - p));
}

static void put_signed(kn_arrow_cell *cell, int64_t n)
{
    if (n < 0) cell->text[cell->size++] = '-';
    put_unsigned(cell, n < 0 ? 0 - (uint64_t)n : (uint64_t)n, 1);
}

/* The digits of an integer with `scale` of them after the point. */
static void put_scaled(kn_arrow_cell *cell, const char *digits, int count, int scale)
{
    if (scale <= 0) {
        put(cell, digits, (size_t)count);
        if (digits[0] != '0') put_zeros(cell, -scale);
        return;
    }
    if (count <= scale) {
        put(cell, "0.", 2);
        put_zeros(cell, scale - count);
        put(cell, digits, (size_t)count);
        return;
    }
    put(cell, digits, (size_t)(count - scale));
    put(cell, ".", 1);
    put(cell, digits + count - scale, (size_t)scale);
}

/* Divides by ten a number of `words` words, least significant first, and returns the remainder. */
static int divide_by_ten(uint64_t *words, int count)
{
    uint64_t rest = 0;
    for (int i = count - 1; i >= 0; i--) {
        kn_u128 n = (kn_u128)rest << 64 | words[i];
        words[i] = (uint64_t)(n / 10);
        rest = (uint64_t)(n % 10);
    }
    return (int)rest;
}

static void decimal_text(kn_arrow_cell *cell, const kn_arrow_format *format, const uint8_t *from)
{
    uint64_t words[4] = {0};
    int      count = format->width / 8;
    if (count == 0) {
        words[0] = (uint64_t)kn_arrow_load_signed(from, 4);
        count = 1;
    } else {
        for (int i = 0; i < count; i++) {
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
            words[count - 1 - i] = kn_arrow_load_unsigned(from + 8 * i, 8);
#else
            words[i] = kn_arrow_load_unsigned(from + 8 * i, 8);
#endif
        }
    }
    if (words[count - 1] >> 63) { /* negative: two's complement */
        cell->text[cell->size++] = '-';
        uint64_t carry = 1;
        for (int i = 0; i < count; i++) {
            words[i] = ~words[i] + carry;
            carry = carry && words[i] == 0;
        }
    }
    char  digits[MAX_DIGITS];
    char *p = digits + sizeof digits;
    do {
        *--p = (char)('0' + divide_by_ten(words, count));
        while (count > 1 && words[count - 1] == 0) count--;
    } while (count > 1 || words[0] > 0);
    put_scaled(cell, p, (int)(digits + sizeof digits - p), format->scale);
}

static double half_to_double(uint16_t bits)
{
    int    exponent = bits >> 10 & 31, fraction = bits & 1023;
    double value;
    if (exponent == 31)
        value = fraction ? (double)NAN : (double)INFINITY;
    else if (exponent == 0)
        value = ldexp(fraction, -24);
    else
        value = ldexp(1024 + fraction, exponent - 25);
    return bits >> 15 ? -value : value;
}

/* Would the decimal that was read as `read`, as a number of the format's precision, be `value`? Certain when true: rounding to a double
 * keeps it on its side of the middle between two neighbours, which is a double. */
static bool same_float(double read, double value, int width)
{
    if (width == 8) return !(read < value || read > value);
    int    bits = width == 4 ? FLT_MANT_DIG : 11, least = width == 4 ? FLT_MIN_EXP : -13, exponent;
    double mantissa = frexp(value, &exponent);
    double ulp = ldexp(1, (exponent < least ? least : exponent) - bits);
    /* The neighbour below a power of two is only half as far away, except among the smallest numbers. */
    bool near = read < value && !(mantissa > 0.5) && exponent > least;
    return fabs(read - value) < (near ? 0.25 : 0.5) * ulp;
}

/* A decimal m / 10^k with m < 10^15 that reads as the value, the shortest there is; exact, as both are doubles and the
 * division rounds correctly. Most numbers that people write down are of this kind. */
static bool put_short_float(kn_arrow_cell *cell, double value, int width)
{
    static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9, 1e10,
                                    1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20};
    if (value < 1e-6) return false;
    for (int k = 0; k < (int)(sizeof powers / sizeof *powers); k++) {
        double m = nearbyint(value * powers[k]);
        if (m >= 1e15) return false;
        if (!same_float(m / powers[k], value, width)) continue;
        kn_arrow_cell digits = {.size = 0};
        put_unsigned(&digits, (uint64_t)m, 1);
        put_scaled(cell, digits.text, (int)digits.size, k);
        return true;
    }
    return false;
}

/* d.ddd × 10^exponent: in place where that is short, with an exponent otherwise. */
static void put_float(kn_arrow_cell *cell, const char *digits, int count, int exponent)
{
    if (exponent >= -6 && exponent <= 20) {
        put_scaled(cell, digits, count, count - 1 - exponent);
    } else {
        put_scaled(cell, digits, count, count - 1);
        put(cell, "e", 1);
        put_signed(cell, exponent);
    }
}

/* The same through the library, for all other positive numbers. */
static void put_long_float(kn_arrow_cell *cell, double value, int width)
{
    /* A decimal with this many digits survives conversion to a normal float and back, so if a shorter one exists %e
     * finds it. */
    int    digits = width == 8 ? DBL_DIG : width == 4 ? FLT_DIG : 3;
    int    most = width == 8 ? 17 : width == 4 ? 9 : 5;
    double normal = width == 8 ? DBL_MIN : width == 4 ? (double)FLT_MIN : 0x1p-14;
    if (value < normal) digits = 1;
    if (width == 8 && value >= 1e-6 && value < 1e15) digits = 16; /* put_short_float tried all of 15 */
    char text[64];
    for (;; digits++) {
        snprintf(text, sizeof text, "%.*e", digits - 1, value);
        if (digits == most || same_float(strtod(text, NULL), value, width)) break;
    }
    /* Only the digits are taken from the library's text: its decimal mark depends on the locale. */
    const char *e = strrchr(text, 'e');
    char        found[20];
    int         count = 0;
    for (const char *p = text; p < e && count < 20; p++)
        if (*p >= '0' && *p <= '9') found[count++] = *p;
    while (count > 1 && found[count - 1] == '0') count--;
    put_float(cell, found, count, atoi(e + 1));
}

static void float_text(kn_arrow_cell *cell, const kn_arrow_format *format, const void *from)
{
    double value;
    float  single;
    if (format->width == 8) {
        memcpy(&value, from, 8);
    } else if (format->width == 4) {
        memcpy(&single, from, 4);
        value = (double)single;
    } else {
        value = half_to_double((uint16_t)kn_arrow_load_unsigned(from, 2));
    }
    if (isnan(value)) {
        cell->nan = true;
        return;
    }
    if (isinf(value)) {
        cell->reason = "an infinite number cannot be a decimal";
        return;
    }
    if (fpclassify(value) == FP_ZERO) { /* also -0 */
        put(cell, "0", 1);
        return;
    }
    if (value < 0) put(cell, "-", 1);
    value = fabs(value);
    if (!put_short_float(cell, value, format->width)) put_long_float(cell, value, format->width);
}

/* ---- Dates and times ---- */

static int64_t floor_divide(int64_t n, int64_t by, int64_t *rest)
{
    int64_t quotient = n / by;
    *rest = n % by;
    if (*rest < 0) {
        *rest += by;
        quotient--;
    }
    return quotient;
}

static bool put_date(kn_arrow_cell *cell, int64_t days)
{
    if (days < FIRST_DAY || days > LAST_DAY) {
        cell->reason = "a date outside the years 1 to 9999";
        return false;
    }
    int year, month, day;
    kn_civil_from_days(days, &year, &month, &day);
    put_unsigned(cell, (uint64_t)year, 4);
    put(cell, "-", 1);
    put_unsigned(cell, (uint64_t)month, 2);
    put(cell, "-", 1);
    put_unsigned(cell, (uint64_t)day, 2);
    return true;
}

/* hh:mm:ss[.fraction]; `fraction` counts 1/units. */
static void put_time(kn_arrow_cell *cell, int64_t seconds, int64_t fraction, int64_t units)
{
    put_unsigned(cell, (uint64_t)(seconds / 3600), 2);
    put(cell, ":", 1);
    put_unsigned(cell, (uint64_t)(seconds / 60 % 60), 2);
    put(cell, ":", 1);
    put_unsigned(cell, (uint64_t)(seconds % 60), 2);
    if (fraction == 0) return;
    put(cell, ".", 1);
    put_unsigned(cell, (uint64_t)fraction, units == 1000 ? 3 : units == 1000000 ? 6 : 9);
    while (cell->text[cell->size - 1] == '0') cell->size--;
}

static void date_text(kn_arrow_cell *cell, const kn_arrow_format *format, const void *from)
{
    int64_t rest;
    int64_t days = floor_divide(kn_arrow_load_signed(from, format->width), format->units, &rest);
    if (rest != 0)
        cell->reason = "a date that is not a whole day";
    else
        (void)put_date(cell, days);
}

static void time_text(kn_arrow_cell *cell, const kn_arrow_format *format, const void *from)
{
    int64_t fraction;
    int64_t seconds = floor_divide(kn_arrow_load_signed(from, format->width), format->units, &fraction);
    if (seconds < 0 || seconds >= DAY_SECONDS)
        cell->reason = "a time outside the day";
    else
        put_time(cell, seconds, fraction, format->units);
}

static void timestamp_text(kn_arrow_cell *cell, const kn_arrow_format *format, const void *from)
{
    int64_t fraction, second;
    int64_t seconds = floor_divide(kn_arrow_load_signed(from, format->width), format->units, &fraction);
    int64_t days = floor_divide(seconds, DAY_SECONDS, &second);
    if (format->units > 1000000 && fraction % 1000 != 0) {
        cell->reason = "a time in nanoseconds that is not a whole number of microseconds";
        return;
    }
    if (!put_date(cell, days)) return;
    put(cell, "T", 1);
    put_time(cell, second, fraction, format->units);
    if (!format->naive) put(cell, "Z", 1);
}

void kn_arrow_cell_text(kn_arrow_cell *cell, const kn_arrow_format *format, const void *from)
{
    cell->size = 0;
    cell->nan = cell->wide = false;
    cell->reason = NULL;
    switch (format->kind) {
    case KN_ARROW_SIGNED: put_signed(cell, kn_arrow_load_signed(from, format->width)); break;
    case KN_ARROW_UNSIGNED: {
        uint64_t value = kn_arrow_load_unsigned(from, format->width);
        cell->wide = value > INT64_MAX;
        put_unsigned(cell, value, 1);
        break;
    }
    case KN_ARROW_FLOAT: float_text(cell, format, from); break;
    case KN_ARROW_DECIMAL: decimal_text(cell, format, from); break;
    case KN_ARROW_DATE: date_text(cell, format, from); break;
    case KN_ARROW_TIME: time_text(cell, format, from); break;
    case KN_ARROW_TIMESTAMP: timestamp_text(cell, format, from); break;
    case KN_ARROW_NULL:
    case KN_ARROW_BOOL:
    case KN_ARROW_UTF8:
    case KN_ARROW_VIEW: cell->reason = "a cell without a fixed width"; break;
    }
}

/* ---- Values of texts ---- */

static bool is_spelled_so(const char *format, const void *value, kn_string text)
{
    kn_arrow_format f;
    kn_arrow_cell   cell;
    if (!kn_arrow_format_parse(format, &f)) return false;
    kn_arrow_cell_text(&cell, &f, value);
    return !cell.reason && !cell.nan && kn_string_equal((kn_string){cell.text, cell.size}, text);
}

bool kn_arrow_value_of(const char *format, kn_string text, uint64_t *out)
{
    int64_t    whole = 0;
    kn_decimal decimal;
    *out = 0;
    if (format[0] == 'g') {
        if (!kn_parse_decimal(text, '.', &decimal)) return false;
        memcpy(out, &decimal.nearest, sizeof *out);
        return is_spelled_so(format, out, text);
    }
    if (!(format[0] == 'l' ? kn_parse_integer(text, &whole) : kn_parse_date(text, "%Y-%m-%d", &whole))) return false;
    int32_t day = (int32_t)whole;
    *out = (uint64_t)whole;
    return format[0] == 'l' ? is_spelled_so(format, out, text) : is_spelled_so(format, &day, text);
}

/* ---- Text ---- */

const char *kn_arrow_text_reason(kn_string text)
{
    size_t good = kn_utf8_check(text.data, text.size);
    if (good == text.size) return NULL;
    return text.data[good] ? "a text that is not valid UTF-8" : "a NUL byte inside a text";
}
