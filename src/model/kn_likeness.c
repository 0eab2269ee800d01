/* kn_likeness.c: how much likelier a value is in a class than it may be: (alpha,k), beta-likeness, delta-disclosure.
 *
 * With c of n rows in the class and r of N in the reference, p/q = cN / (rn): the largest and the smallest c/r are
 * found in integers and decide everything but the logarithms. Cost: O(values of the class).
 *
 * delta-disclosure is strict: Brickell and Shmatikov ask it of every value of the table, and a value that a class lacks
 * has ln 0. Learning "nobody in this class has s" is a disclosure, however rare s is. Tools that skip such values
 * report what kn_delta_present gives.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>

#include "kn_model.h"

kn_quotient kn_alpha_reached(const kn_histogram *h)
{
    int64_t most = 0;
    for (int64_t i = 0; i < h->values; i++)
        if (h->counts[i] > most) most = h->counts[i];
    return (kn_quotient){(kn_u128)most, (kn_u128)h->rows};
}

/* Is a/b > c/d, for numbers >= 0; b = 0 is infinite and larger than any with d > 0? */
static inline bool larger(int64_t a, int64_t b, int64_t c, int64_t d)
{
    return (kn_u128)a * (kn_u128)d > (kn_u128)c * (kn_u128)b;
}

/* The value that is likeliest in comparison with the reference. */
static int64_t likeliest(const kn_histogram *h, const kn_reference *r)
{
    int64_t best = 0;
    for (int64_t i = 1; i < h->values; i++)
        if (larger(h->counts[i], r->counts[h->codes[i]], h->counts[best], r->counts[h->codes[best]])) best = i;
    return best;
}

static int64_t unlikeliest(const kn_histogram *h, const kn_reference *r)
{
    int64_t best = 0;
    for (int64_t i = 1; i < h->values; i++)
        if (larger(h->counts[best], r->counts[h->codes[best]], h->counts[i], r->counts[h->codes[i]])) best = i;
    return best;
}

/* p / q - 1 of the i-th value; 0 where it is not likelier. */
static kn_quotient gain(const kn_histogram *h, const kn_reference *r, int64_t i)
{
    kn_u128 here = (kn_u128)h->counts[i] * (kn_u128)r->rows;
    kn_u128 there = (kn_u128)r->counts[h->codes[i]] * (kn_u128)h->rows;
    return there != 0 && here <= there ? (kn_quotient){0, 1} : (kn_quotient){here - there, there};
}

kn_quotient kn_beta_reached(const kn_histogram *h, const kn_reference *r)
{
    return gain(h, r, likeliest(h, r));
}

/* A gain > 0 is rational and -ln q is not, so they are never equal. */
bool kn_beta_within_log(const kn_histogram *h, const kn_reference *r)
{
    for (int64_t i = 0; i < h->values; i++) {
        kn_quotient g = gain(h, r, i);
        if (g.numerator == 0) continue;
        if (g.denominator == 0) return false;
        if (kn_quotient_double(g) > log((double)r->rows / (double)r->counts[h->codes[i]])) return false;
    }
    return true;
}

bool kn_lacks_value(const kn_histogram *h, const kn_reference *r)
{
    int64_t shared = 0;
    for (int64_t i = 0; i < h->values; i++) shared += r->counts[h->codes[i]] > 0;
    return shared < (int64_t)r->occurring;
}

/* |ln(p / q)| of the i-th value. */
static double difference(const kn_histogram *h, const kn_reference *r, int64_t i)
{
    kn_u128 here = (kn_u128)h->counts[i] * (kn_u128)r->rows;
    kn_u128 there = (kn_u128)r->counts[h->codes[i]] * (kn_u128)h->rows;
    if (here == there) return 0;
    return there == 0 ? INFINITY : fabs(log((double)here / (double)there));
}

double kn_delta_present(const kn_histogram *h, const kn_reference *r)
{
    double up = difference(h, r, likeliest(h, r)), down = difference(h, r, unlikeliest(h, r));
    return up > down ? up : down;
}

double kn_delta_reached(const kn_histogram *h, const kn_reference *r)
{
    return kn_lacks_value(h, r) ? INFINITY : kn_delta_present(h, r);
}
