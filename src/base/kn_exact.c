/* kn_exact.c: numbers as the user writes them and quotients of counts, held exactly: 0.29 of 100 rows is 29, which binary
 * floating point misses (0.29 × 100 = 28.999…; docs/errata.md 1.1). Limit: 18 digits.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kn_exact.h"

#include <kanon/diagnose.h>
#include <math.h>

bool kn_ratio_parse(const char *text, kn_ratio *out)
{
    uint64_t number = 0, denominator = 1;
    int      digits = 0, decimals = 0;
    bool     mark = false;
    for (; (*text >= '0' && *text <= '9') || (*text == '.' && !mark); text++) {
        if (*text == '.') {
            mark = true;
            continue;
        }
        if (++digits > 18) return false;
        number = number * 10 + (uint64_t)(*text - '0');
        decimals += mark;
    }
    if (digits == 0) return false;
    if (*text == '%') {
        decimals += 2;
        text++;
    }
    if (*text || decimals > 18) return false;
    for (int i = 0; i < decimals; i++) denominator *= 10;
    *out = (kn_ratio){number, denominator};
    return true;
}

bool kn_fraction_parse(const char *text, kn_fraction *out)
{
    kn_ratio ratio;
    if (!kn_ratio_parse(text, &ratio) || ratio.numerator > ratio.denominator) return false;
    *out = (kn_fraction){ratio.numerator, ratio.denominator};
    return true;
}

int64_t kn_fraction_of(kn_fraction fraction, int64_t n)
{
    return (int64_t)((kn_u128)fraction.numerator * (kn_u128)(uint64_t)n / fraction.denominator);
}

static int order(kn_u128 a, kn_u128 b)
{
    return a < b ? -1 : a > b;
}

/* Products if they fit; otherwise integer parts, then the reciprocals of the remainders (Euclid's algorithm). */
int kn_quotient_compare(kn_quotient a, kn_quotient b)
{
    if (a.denominator == 0 || b.denominator == 0) return (a.denominator == 0) - (b.denominator == 0);
    for (int sign = 1;; sign = -sign) {
        if (((a.numerator | b.denominator) >> 64) == 0 && ((b.numerator | a.denominator) >> 64) == 0)
            return sign * order(a.numerator * b.denominator, b.numerator * a.denominator);
        kn_u128 whole_a = a.numerator / a.denominator, whole_b = b.numerator / b.denominator;
        if (whole_a != whole_b) return sign * order(whole_a, whole_b);
        kn_u128 rest_a = a.numerator % a.denominator, rest_b = b.numerator % b.denominator;
        if (rest_a == 0 || rest_b == 0) return sign * order(rest_a, rest_b);
        a = (kn_quotient){a.denominator, rest_a};
        b = (kn_quotient){b.denominator, rest_b};
    }
}

double kn_quotient_double(kn_quotient q)
{
    return q.denominator == 0 ? INFINITY : (double)q.numerator / (double)q.denominator;
}
