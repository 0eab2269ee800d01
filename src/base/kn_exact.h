/* kn_exact.h: quotients of integers, compared without rounding. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_EXACT_H
#define KN_EXACT_H

#include <kanon/models.h>

#include "kn_hash.h"

__extension__ typedef __int128 kn_i128;

/* x / 0 is infinite for every x. */
typedef struct kn_quotient {
    kn_u128 numerator, denominator;
} kn_quotient;

/* Negative, 0 or positive, exactly. */
int    kn_quotient_compare(kn_quotient a, kn_quotient b);
double kn_quotient_double(kn_quotient q);

static inline kn_quotient kn_quotient_of(kn_ratio ratio)
{
    kn_quotient q = {ratio.numerator, ratio.denominator};
    return q;
}

#endif
