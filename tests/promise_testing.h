/* promise_testing.h: promises about the sensitive values of a class, other than l-diversity, by their definitions: shares
 * as floating-point numbers, sums over all values. The values are 0 .. 3; their hierarchy is low (0, 1), high (2, 3), *.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef PROMISE_TESTING_H
#define PROMISE_TESTING_H

#include <kanon/models.h>
#include <math.h>

enum { PROMISED_VALUES = 4 };

#define PROMISED_TREE "0;low;*\n1;low;*\n2;high;*\n3;high;*\n"

static inline double naive_closeness(kn_model_kind kind, const double *p, const double *q)
{
    double sum = 0, ahead = 0;
    int    values = 0;
    for (int x = 0; x < PROMISED_VALUES; x++) values += q[x] > 0;
    for (int x = 0; x < PROMISED_VALUES; x++) {
        if (kind == KN_MODEL_T_EQUAL) sum += fabs(p[x] - q[x]) / 2;
        if (kind == KN_MODEL_T_HIERARCHICAL) sum += fabs(p[x] - q[x]) / 4; /* half a leaf's way to its group */
        if (kind == KN_MODEL_T_HIERARCHICAL && x % 2) sum += fabs(p[x - 1] + p[x] - q[x - 1] - q[x]) / 4;
        ahead += p[x] - q[x];
        if (kind == KN_MODEL_T_ORDERED && q[x] > 0 && values > 1) sum += fabs(ahead) / (values - 1);
    }
    return sum;
}

/* A class with these counts, in a table with those. */
static inline bool naive_promise(const kn_model *m, const int *counts, const int *all)
{
    double p[PROMISED_VALUES], q[PROMISED_VALUES], n = 0, whole = 0;
    double bound = (double)m->bound.numerator / (double)m->bound.denominator, close = 1e-9;
    for (int x = 0; x < PROMISED_VALUES; x++) {
        n += counts[x];
        whole += all[x];
    }
    for (int x = 0; x < PROMISED_VALUES; x++) {
        p[x] = counts[x] / n;
        q[x] = all[x] / whole;
    }
    if (m->kind >= KN_MODEL_T_EQUAL && m->kind <= KN_MODEL_T_HIERARCHICAL)
        return naive_closeness(m->kind, p, q) <= bound + close;
    for (int x = 0; x < PROMISED_VALUES; x++) {
        if (m->kind == KN_MODEL_ALPHA_K && p[x] > bound + close) return false;
        if (m->kind == KN_MODEL_DELTA && q[x] > 0 && !(p[x] > 0 && fabs(log(p[x] / q[x])) < bound)) return false;
        bool basic = m->kind == KN_MODEL_BETA_BASIC, enhanced = m->kind == KN_MODEL_BETA_ENHANCED;
        if ((basic || enhanced) && p[x] > q[x] + close && (p[x] - q[x]) / q[x] > bound + close) return false;
        if (enhanced && p[x] > q[x] + close && (p[x] - q[x]) / q[x] > -log(q[x]) + close) return false;
    }
    return m->kind != KN_MODEL_ALPHA_K || n >= (double)m->k;
}

#endif
