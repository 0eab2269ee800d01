/* kn_number_text.c: the shortest decimal that is a number again, and plain texts as numbers. Interface: kn_number_text.h.
 *
 * Amounts of money and the like are spelled without the C library, whose way costs ten times as much.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_number_text.h"

#include <stdio.h>
#include <stdlib.h>

static size_t write_integer(int64_t value, char *room)
{
    char     digits[24];
    size_t   size = 0, at = 0;
    uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    do digits[size++] = (char)('0' + rest % 10);
    while (rest /= 10);
    if (value < 0) room[at++] = '-';
    while (size > 0) room[at++] = digits[--size];
    return at;
}

/* Up to four digits after the point and fifteen in all. The quotient of two exact numbers is rounded once, so it is the
 * number if and only if that is the nearest one to the decimal. Returns how many digits are behind the point of the number
 * *whole / *unit; -1: it is no such number. */
static int find_short(double value, int64_t *whole, int64_t *unit)
{
    double size = value < 0 ? -value : value, power = 1;
    *unit = 1;
    if (!(size < 1e11) || size < 1e-4) return -1; /* zero has a sign: not here */
    for (int digits = 0; digits <= 4; digits++, power *= 10, *unit *= 10) {
        *whole = (int64_t)(size * power + 0.5);
        if ((double)*whole / power == size) return digits;
    }
    return -1;
}

/* Returns the size, 0: it is no such number. */
static size_t write_short(double value, char *room)
{
    int64_t whole = 0, unit = 1;
    size_t  at = 0;
    int     digits = find_short(value, &whole, &unit);
    if (digits < 0) return 0;
    if (value < 0) room[at++] = '-';
    at += write_integer(whole / unit, room + at);
    if (digits == 0) return at;
    room[at++] = '.';
    for (unit /= 10; unit > 0; unit /= 10) room[at++] = (char)('0' + whole / unit % 10);
    return at;
}

kn_string kn_integer_text(int64_t value, char room[KN_NUMBER_TEXT])
{
    return (kn_string){room, write_integer(value, room)};
}

kn_string kn_real_text(double value, char room[KN_NUMBER_TEXT])
{
    size_t size = write_short(value, room);
    if (size > 0) return (kn_string){room, size};
    for (int digits = 15; digits <= 17; digits++) {
        size = (size_t)snprintf(room, KN_NUMBER_TEXT, "%.*g", digits, value);
        if (strtod(room, NULL) == value) break;
    }
    for (size_t i = 0; i < size; i++)
        if (room[i] == ',') room[i] = '.'; /* of the host's locale */
    return (kn_string){room, size};
}

/* Digits from `at` on, behind those before; where they end. */
static size_t read_digits(kn_string text, size_t at, int64_t *whole)
{
    for (; at < text.size && kn_is_digit(text.data[at]); at++) *whole = *whole * 10 + (text.data[at] - '0');
    return at;
}

bool kn_plain_integer(kn_string text, int64_t *out)
{
    size_t sign = text.size > 1 && text.data[0] == '-', digits = text.size - sign;
    if (digits == 0 || digits > 18 || (text.data[sign] == '0' && (digits > 1 || sign))) return false;
    *out = 0;
    if (read_digits(text, sign, out) < text.size) return false;
    if (sign) *out = -*out;
    return true;
}

/* Both numbers of the quotient are exact, so it is rounded once. */
bool kn_plain_decimal(kn_string text, double *out)
{
    static const double powers[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14};
    size_t              sign = text.size > 0 && text.data[0] == '-';
    int64_t             whole = 0, all;
    if (text.size > sign + 16) return false;
    size_t point = read_digits(text, sign, &whole), begin = point + 1;
    all = whole;
    if (point == sign || begin >= text.size || text.data[point] != '.') return false;
    if (read_digits(text, begin, &all) < text.size) return false;
    *out = (double)all / powers[text.size - begin];
    if (*out == (double)whole) return false;
    if (sign) *out = -*out;
    return true;
}

kn_plain kn_plain_of(kn_string text)
{
    kn_plain out = {KN_PLAIN_NONE, {0}};
    if (text.data && kn_plain_integer(text, &out.integer)) {
        out.kind = KN_PLAIN_INTEGER;
    } else if (text.data) {
        double real = 0;
        if (kn_plain_decimal(text, &real)) out = (kn_plain){KN_PLAIN_REAL, {.real = real}};
    }
    return out;
}

bool kn_plain_real(double value)
{
    int64_t whole, unit;
    return find_short(value, &whole, &unit) > 0;
}
