/* spread_testing.h: entropy and recursive l-diversity of values that records may have several of, by its definition
 * (docs/errata.md K19), one record at a time.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef SPREAD_TESTING_H
#define SPREAD_TESTING_H

#include <kanon/models.h>
#include <math.h>

/* `with`: how many of the `found` records have each value. */
static inline bool naive_spread(const kn_model *m, const int64_t *with, int values, int64_t found)
{
    int64_t left[256], r[512], rest = found, tail = 0;
    int     count = 0;
    bool    any = false;
    for (int i = 0; i < values; i++) any = any || with[i] > 0;
    for (int i = 0; i < values; i++) left[i] = with[i];
    while (rest > 0) {
        int most = 0;
        for (int i = 0; i < values; i++)
            if (left[i] > left[most]) most = i;
        r[count] = values == 0 || left[most] == 0 ? 1 : left[most] < rest ? left[most] : rest;
        rest -= r[count++];
        if (values > 0) left[most] = 0;
    }
    if (!any) return true;
    if (m->kind == KN_MODEL_RECURSIVE) {
        for (int i = 0; i < count; i++)
            if ((uint64_t)i + 1 >= m->l.numerator) tail += r[i];
        return m->l.numerator <= 1 || r[0] * (int64_t)m->c.denominator < tail * (int64_t)m->c.numerator;
    }
    double entropy = 0;
    for (int i = 0; i < count; i++) entropy -= (double)r[i] / (double)found * log((double)r[i] / (double)found);
    return entropy >= log((double)m->l.numerator / (double)m->l.denominator) - 1e-9;
}

#endif
