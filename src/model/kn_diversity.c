/* kn_diversity.c: l-diversity: distinct, entropy and recursive (Machanavajjhala et al. 2006, definitions 4.1 and 4.2).
 *
 * Cost: distinct O(1), entropy O(values of the class), recursive that times log(rows): the sum of the l - 1 largest
 * counts is found by bisection over counts, which needs neither sorting nor memory.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>

#include "kn_model.h"

int64_t kn_distinct_reached(const kn_histogram *h)
{
    return h->values;
}

/* Base 2, so that shares which are powers of two come out exactly. */
double kn_entropy_reached(const kn_histogram *h)
{
    bool   equal = true;
    double sum = 0, n = (double)h->rows;
    for (int64_t i = 0; i < h->values; i++) {
        double count = (double)h->counts[i];
        equal = equal && h->counts[i] == h->counts[0];
        sum += count * log2(n / count);
    }
    double l = exp2(sum / n);
    return equal || l > (double)h->values ? (double)h->values : l;
}

static int64_t count_above(const kn_histogram *h, int64_t bound, int64_t *sum)
{
    int64_t above = 0;
    *sum = 0;
    for (int64_t i = 0; i < h->values; i++) {
        if (h->counts[i] <= bound) continue;
        above++;
        *sum += h->counts[i];
    }
    return above;
}

/* The sum of the `wanted` largest counts; 0 < wanted <= values. */
static int64_t sum_of_largest(const kn_histogram *h, int64_t wanted)
{
    int64_t low = 0, high = h->rows, sum; /* the bound sought: the smallest with fewer than `wanted` counts above it */
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (count_above(h, middle, &sum) < wanted)
            high = middle;
        else
            low = middle + 1;
    }
    int64_t above = count_above(h, low, &sum);
    return sum + (wanted - above) * low;
}

kn_quotient kn_recursive_reached(const kn_histogram *h, uint64_t l)
{
    if (l <= 1) return (kn_quotient){0, 1};
    if (l > (uint64_t)h->values) return (kn_quotient){1, 0};
    int64_t most = 0;
    for (int64_t i = 0; i < h->values; i++)
        if (h->counts[i] > most) most = h->counts[i];
    int64_t rest = h->rows - (l == 2 ? most : sum_of_largest(h, (int64_t)l - 1));
    return (kn_quotient){(kn_u128)most, (kn_u128)rest};
}
