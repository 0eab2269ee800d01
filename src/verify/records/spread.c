/* records/spread.c: entropy and recursive l-diversity of the sensitive values of a class among the records that a combination
 * finds, of which each may have several of them, or none.
 *
 * Interface: kn_verify_view.h. Whichever one value of each record is looked at (a record without any has one of its own), the
 * j most frequent of these are in no more records than have the j most frequent values, and in no more than there are. The
 * promise is judged as if they were in as many (docs/errata.md K19): of the s records top(j) = min(s, c_1 + ... + c_j) have the
 * first j. Logarithms are compared with a tolerance of 10^-12 in the release's favour.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <stdlib.h>

#include "kn_compare.h"
#include "kn_verify_view.h"

#define TOLERANCE 1e-12

/* The first `j` in descending order; those behind the last count are one record each. */
static uint64_t top(const uint64_t *rising, size_t count, uint64_t of, uint64_t j)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < count && i < j && sum < of; i++) {
        uint64_t c = rising[count - 1 - i];
        sum += c < of - sum ? c : of - sum;
    }
    if (j > count) sum += j - count < of - sum ? j - count : of - sum;
    return sum;
}

static double effective(const uint64_t *rising, size_t count, uint64_t of)
{
    long double bits = 0, n = (long double)of;
    uint64_t    before = 0, first = 0, values = 0;
    bool        even = true;
    for (uint64_t j = 1; j <= count && before < of; j++, values++) {
        uint64_t    after = top(rising, count, of, j), here = after - before;
        long double share = (long double)here / n;
        if (j == 1) first = here;
        even = even && here == first;
        bits -= share * log2l(share);
        before = after;
    }
    even = even && (before == of || first == 1);
    values += of - before;
    bits += (long double)(of - before) / n * log2l(n);
    return even ? (double)values : (double)exp2l(bits);
}

bool kn_vspread_holds(const kn_model *m, uint64_t *counts, size_t count, uint64_t of, double *reached)
{
    uint64_t l = m->l.numerator / m->l.denominator;
    *reached = m->kind == KN_MODEL_RECURSIVE ? 0 : INFINITY;
    if (count == 0) return true;
    qsort(counts, count, sizeof *counts, kn_compare_u64);
    if (m->kind != KN_MODEL_RECURSIVE) {
        *reached = effective(counts, count, of);
        return *reached >= (double)m->l.numerator / (double)m->l.denominator * (1 - TOLERANCE);
    }
    if (l <= 1) return true;
    uint64_t most = top(counts, count, of, 1), rest = of - top(counts, count, of, l - 1);
    *reached = rest == 0 ? INFINITY : (double)most / (double)rest;
    return rest > 0 && kn_v_compare(most, rest, m->c.numerator, m->c.denominator) < 0;
}

void kn_vspread_add(kn_vspread *to, const kn_model *m, double reached, int64_t violations)
{
    bool worse = m->kind == KN_MODEL_RECURSIVE ? reached > to->reached : reached < to->reached;
    if (!to->any || worse) to->reached = reached;
    to->any = true;
    to->violations += violations;
}
