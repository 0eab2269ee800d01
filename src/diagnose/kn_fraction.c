/* kn_fraction.c: shares as the user writes them, held exactly: 0.29 of 100 rows is 29, which binary floating point
 * misses (0.29 × 100 = 28.999…; ERRATA 1.1). Limit: 17 decimals. */
#include <kanon/diagnose.h>

#include "kn_hash.h"

bool kn_fraction_parse(const char *text, kn_fraction *out)
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
    if (number > denominator) return false;
    *out = (kn_fraction){number, denominator};
    return true;
}

int64_t kn_fraction_of(kn_fraction fraction, int64_t n)
{
    return (int64_t)((kn_u128)fraction.numerator * (kn_u128)(uint64_t)n / fraction.denominator);
}
