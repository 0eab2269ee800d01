/* kn_spread.c: entropy and recursive l-diversity of sensitive values that records may have several of. See kn_spread.h.
 *
 * Cost: sorting the counts.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_spread.h"

#include <math.h>
#include <stdlib.h>

#include "kn_exact.h"

static int falling(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x < y) - (x > y);
}

/* Base 2, as for tables: shares which are powers of two come out exactly, and so does the number of equally frequent values. */
static bool entropy_holds(const kn_model *m, const int64_t *r, size_t count, int64_t ones, int64_t support)
{
    double sum = (double)ones * log2((double)support), n = (double)support, values = (double)count + (double)ones;
    bool   equal = ones == 0 || r[0] == 1;
    for (size_t i = 0; i < count; i++) {
        sum += (double)r[i] * log2(n / (double)r[i]);
        equal = equal && r[i] == r[0];
    }
    double reached = exp2(sum / n);
    if (equal || reached > values) reached = values;
    return reached >= (double)m->l.numerator / (double)m->l.denominator;
}

/* r_1 < c (r_l + r_(l+1) + ...). */
static bool recursive_holds(const kn_model *m, const int64_t *r, size_t count, int64_t ones, int64_t support)
{
    uint64_t l = m->l.numerator / m->l.denominator;
    int64_t  rest = support;
    if (l <= 1) return true;
    for (size_t i = 0; i < count && i < l - 1; i++) rest -= r[i];
    if (count < l - 1) rest -= l - 1 - count < (uint64_t)ones ? (int64_t)(l - 1 - count) : ones;
    return (kn_u128)(uint64_t)r[0] * m->c.denominator < (kn_u128)(uint64_t)rest * m->c.numerator;
}

bool kn_spread_holds(const kn_model *model, int64_t *counts, size_t count, int64_t support)
{
    int64_t left = support;
    size_t  kept = 0;
    if (count == 0) return true;
    qsort(counts, count, sizeof *counts, falling);
    for (; kept < count && left > 0; kept++) {
        if (counts[kept] > left) counts[kept] = left;
        left -= counts[kept];
    }
    return model->kind == KN_MODEL_RECURSIVE ? recursive_holds(model, counts, kept, left, support)
                                             : entropy_holds(model, counts, kept, left, support);
}
