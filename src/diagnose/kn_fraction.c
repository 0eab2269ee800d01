/* kn_fraction.c: shares as the user writes them, held exactly: 0.29 of 100 rows is 29, which binary floating point
 * misses (0.29 × 100 = 28.999…; ERRATA 1.1). Limit: 18 digits. */
#include <kanon/diagnose.h>
#include <kanon/models.h>

#include "kn_hash.h"

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
