/* kn_optimal_bound.c: losses split into an increasing and a decreasing part, and combined again into lower bounds.
 *
 * Let v be any node, u below it, w above it; s(x) the suppressed rows at x, N all rows. Going up, classes merge, cells
 * cost no less, and (for class sizes) no row becomes suppressed that was not.
 *
 *   cells     low(u) = cost of u with nothing suppressed; high(w) = Σ over rows suppressed at w of (star - cost at w).
 *             Those rows are suppressed at v too, where they cost no more unsuppressed: loss(v) >= low(u) + high(w).
 *             Nor can they cost more there than the most expensive cells of v's levels: high is also at least s(w) × Σ
 *             over attributes of (star - largest cost at v's level).
 *   dm        low(u) = Σ |E|² over all classes; high(w) = Σ over suppressed classes of |E| (N - |E|): the same
 *             argument.
 *   dm_star   low alone: suppression costs nothing.
 *   c_avg     Each class released at v contains one released at u, or at least k rows suppressed at u and not at v.
 *             With m(u) = k × released classes + s(u) that is at most (m(u) - s(v)) / k classes for N - s(v) rows, and
 *             the quotient falls with fewer rows suppressed: loss(v) >= k (N - s(w)) / (m(u) - s(w)). low(u) = N -
 *             m(u), high(w) = s(w). Where more than sizes decides: no more classes than u has, no fewer rows than N -
 *             budget.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>

#include "kn_optimal_internal.h"

static int bits_of(kn_u128 n)
{
    int bits = 0;
    for (; n > 0; n >>= 1) bits++;
    return bits;
}

void kn_bounds_make(kn_bounds *b, const kn_fulldomain_problem *problem, bool by_size)
{
    const kn_objective *o = problem->objective;
    *b = (kn_bounds){
        .problem = problem, .by_size = by_size, .exact = true, .rows = (uint64_t)kn_table_total(problem->table)};
    b->k = problem->requirements->k > 0 ? (uint64_t)problem->requirements->k : 1;
    kn_u128 most = 0, star = 0;
    if (o->cells) {
        for (int q = 0; q < o->quasi_count; q++) star += o->star[q];
        most = star * b->rows;
    } else if (o->metric != KN_METRIC_C_AVG) {
        most = (kn_u128)b->rows * b->rows;
    } else {
        b->shift = 60 - bits_of(b->rows); /* upwards: fixed-point digits */
        b->exact = false;
        return;
    }
    int bits = bits_of(most);
    b->shift = bits > 61 ? bits - 61 : 0;
    b->exact = b->shift == 0;
    b->star = (double)(star >> b->shift);
}

uint64_t kn_bounds_low_of_level(const kn_bounds *b, int quasi, int level)
{
    const kn_objective *o = b->problem->objective;
    return o->cells ? (uint64_t)(o->totals[quasi][level] >> b->shift) : 0;
}

uint64_t kn_bounds_gap_of_level(const kn_bounds *b, int quasi, int level)
{
    const kn_objective *o = b->problem->objective;
    if (!o->cells) return 0;
    const kn_column *column = &b->problem->table->columns[b->problem->quasi[quasi]];
    const uint64_t  *costs = o->costs[quasi] + (size_t)level * ((size_t)o->codes[quasi] + 1);
    uint64_t         most = 0;
    for (uint32_t code = 0; code < kn_column_cardinality(column); code++)
        if (costs[code] > most) most = costs[code];
    return most < o->star[quasi] ? (o->star[quasi] - most) >> b->shift : 0;
}

uint64_t kn_bounds_low(const kn_bounds *b, const kn_node_sums *sums, int64_t classes)
{
    const kn_objective *o = b->problem->objective;
    if (o->cells) return 0; /* known from the levels */
    if (o->metric != KN_METRIC_C_AVG) return (uint64_t)((sums->squares + sums->suppressed_squares) >> b->shift);
    kn_u128 most = (kn_u128)(uint64_t)classes;
    if (b->by_size) most = (kn_u128)(uint64_t)sums->classes * b->k + (uint64_t)sums->suppressed;
    return most < b->rows ? b->rows - (uint64_t)most : 0;
}

uint64_t kn_bounds_high(const kn_bounds *b, const kn_node_sums *sums, kn_u128 excess)
{
    const kn_objective *o = b->problem->objective;
    if (o->cells) return (uint64_t)(excess >> b->shift);
    if (o->metric == KN_METRIC_C_AVG) return (uint64_t)sums->suppressed;
    if (o->metric == KN_METRIC_DM_STAR) return 0;
    return (uint64_t)(((kn_u128)(uint64_t)sums->suppressed * b->rows - sums->suppressed_squares) >> b->shift);
}

static uint64_t fixed_point(const kn_bounds *b, uint64_t rows, uint64_t classes)
{
    if (classes == 0) return KN_BOUND_NOTHING;
    return (uint64_t)(((kn_u128)rows << b->shift) / classes);
}

uint64_t kn_bounds_join(const kn_bounds *b, uint64_t low, uint64_t high)
{
    if (high >= KN_BOUND_BAD) return KN_BOUND_BAD;
    if (b->problem->objective->metric != KN_METRIC_C_AVG) return low + high;
    uint64_t most = b->rows - low;
    if (b->by_size) { /* no whole number of classes: the quotient would not fall evenly */
        if (most < high + b->k) return KN_BOUND_NOTHING;
        return (uint64_t)((((kn_u128)(b->rows - high) * b->k) << b->shift) / (most - high));
    }
    uint64_t budget = (uint64_t)b->problem->budget;
    return fixed_point(b, budget < b->rows ? b->rows - budget : 0, most);
}

uint64_t kn_bounds_score(const kn_bounds *b, kn_quotient loss)
{
    if (b->problem->objective->metric != KN_METRIC_C_AVG) return (uint64_t)(loss.numerator >> b->shift);
    return fixed_point(b, (uint64_t)loss.numerator,
                       (uint64_t)(loss.denominator / (kn_u128)(uint64_t)b->problem->objective->k));
}

kn_quotient kn_bounds_loss(const kn_bounds *b, uint64_t score)
{
    const kn_objective *o = b->problem->objective;
    if (o->metric != KN_METRIC_C_AVG) return (kn_quotient){(kn_u128)score << b->shift, 1};
    return (kn_quotient){score, (kn_u128)(uint64_t)o->k << b->shift};
}

/* ---- Guesses ---- */

double kn_bounds_guess_high(const kn_bounds *b, double low, double suppressed)
{
    double rows = (double)b->rows;
    if (rows <= 0) return 0;
    switch (b->problem->objective->metric) {
    case KN_METRIC_DM: return ldexp(suppressed * rows, -b->shift);
    case KN_METRIC_DM_STAR: return 0;
    case KN_METRIC_C_AVG: return suppressed;
    default: return suppressed * (b->star - low / rows);
    }
}

double kn_bounds_guess_join(const kn_bounds *b, double low, double high)
{
    if (b->problem->objective->metric != KN_METRIC_C_AVG) return low + high;
    double rows = (double)b->rows, most = rows - low;
    if (!b->by_size)
        return most >= 1 ? ldexp((rows - (double)b->problem->budget) / most, b->shift) : (double)KN_BOUND_NOTHING;
    double classes = (most - high) / (double)b->k;
    return classes >= 0.5 ? ldexp((rows - high) / classes, b->shift) : (double)KN_BOUND_NOTHING;
}
