/* kn_uniques.c: two estimates of the number of population uniques from the class sizes of a random sample.
 *
 * Notation: the sample has n records in u classes, c_j of them of size j; the population has N records.
 *
 * Zayatz (Estimation of the number of unique population elements using a sample, US Bureau of the Census, 1991): take
 * the sample's shares c_j/u for the shares of the population's class sizes. Of a class of size j, a sample of n out of N
 * holds exactly one record with the hypergeometric probability h_j; by Bayes a sample unique is a population unique with
 * probability p = c_1 h_1 / Σ c_j h_j, and the estimate is c_1 p N/n.
 *
 * Pitman (Random discrete distributions invariant under size-biased permutation, 1996; Hoshino, Applying Pitman's
 * sampling formula to microdata disclosure risk assessment, J. Official Statistics 17(4), 2001): the two-parameter
 * model, in which a new record opens a class of its own with probability (θ + uα)/(θ + n) and joins a class of size j
 * with probability (j − α)/(θ + n); 0 ≤ α < 1, θ > −α. Log-likelihood up to a constant
 *     Σ_{i=1}^{u-1} log(θ + iα) − Σ_{i=1}^{n-1} log(θ + i) + Σ_j c_j Σ_{l=1}^{j-1} log(l − α),
 * maximized by bisection in α of its derivative along the best θ(α), which is found by bisection too: slower than
 * Newton's method and never astray. The estimate is the expected number of uniques among N records,
 *     N Π_{i=1}^{N-1} (θ + α + i − 1)/(θ + i)   (≈ Γ(θ+1)/Γ(θ+α) N^α, Hoshino's form).
 *
 * Sums of up to N terms are taken by the Euler-Maclaurin formula behind the first ones: relative error below 1e-12.
 * Cost: a few milliseconds, independent of n and N; Zayatz: as many steps as the largest class has records, at most.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_uniques.h"

#include <math.h>

enum { DIRECT = 64 }; /* terms added one by one */

static int64_t classes_of_size(const kn_size_histogram *h, int64_t size)
{
    for (int64_t i = 0; i < h->count && h->sizes[i] <= size; i++)
        if (h->sizes[i] == size) return h->classes[i];
    return 0;
}

static int64_t records(const kn_size_histogram *h)
{
    int64_t n = 0;
    for (int64_t i = 0; i < h->count; i++) n += h->sizes[i] * h->classes[i];
    return n;
}

/* What needs no model; true if that settles it. */
static bool settle(kn_uniques_estimate *e, const kn_size_histogram *h, int64_t population)
{
    int64_t n = records(h), uniques = classes_of_size(h, 1);
    if (n < population && uniques > 0) return false;
    e->status = n >= population && n > 0 ? KN_ESTIMATE_CENSUS : KN_ESTIMATE_NO_UNIQUES;
    e->uniques = (double)uniques;
    e->share = population > 0 ? (double)uniques / (double)population : 0;
    return true;
}

kn_uniques_estimate kn_uniques_zayatz(const kn_size_histogram *h, int64_t population)
{
    kn_uniques_estimate e = {KN_UNIQUES_ZAYATZ, KN_ESTIMATE_OK, NAN, NAN, NAN, NAN};
    if (settle(&e, h, population)) return e;
    /* h_j = (n/N) j Π_{t=1}^{j-1} (N−n−t+1)/(N−t); n/N cancels. */
    double  big = (double)population, n = (double)records(h), single = (double)classes_of_size(h, 1);
    double  product = 1, sum = 0;
    int64_t size = 1;
    for (int64_t i = 0; i < h->count && product > 0; i++) {
        for (; size < h->sizes[i] && product > 0; size++) {
            double left = big - n - (double)size + 1;
            product *= left > 0 ? left / (big - (double)size) : 0;
        }
        sum += (double)h->classes[i] * (double)h->sizes[i] * product;
    }
    e.uniques = single * (single / sum) * (big / n);
    e.share = e.uniques / big;
    return e;
}

/* ---- Sums ---- */

/* Σ_{i=0}^{m-1} 1/(x + i), x > 0. */
static double harmonic(double x, double m)
{
    double sum = 0, a = x, i = 0;
    for (; i < DIRECT && i < m; i++, a++) sum += 1 / a;
    if (i >= m) return sum;
    double b = x + m, left = m - i;
    return sum + log1p(left / a) + (1 / a - 1 / b) / 2 + (1 / (a * a) - 1 / (b * b)) / 12 -
           (1 / (a * a * a * a) - 1 / (b * b * b * b)) / 120;
}

/* y − log(1 + y), also for small y. */
static double log_gap(double y)
{
    if (y > 0.05) return y - log1p(y);
    double sum = 0, power = y * y;
    for (int k = 2; k < 20; k++, power *= -y) sum += power / k;
    return sum;
}

/* θ is handed on as t = θ + α > 0, which stays exact where θ is close to −α. */

/* Σ_{i=1}^{m} 1/(θ + iα) */
static double sum_openings(double t, double alpha, double m)
{
    return alpha > 0 ? harmonic(t / alpha, m) / alpha : m / t;
}

/* Σ_{i=1}^{m} i/(θ + iα) */
static double sum_weighted_openings(double t, double alpha, double m)
{
    if (alpha <= 0) return m * (m + 1) / 2 / t;
    double sum = 0, i = 0;
    while (i < DIRECT && i < m) {
        sum += (i + 1) / (t + i * alpha);
        i++;
    }
    if (i >= m) return sum;
    double x = t / alpha - 1, a = x + i, b = x + m, y = (m - i) / a;
    double tail = i * y + x * log_gap(y);
    tail += (m / b - i / a) / 2 + (x / (b * b) - x / (a * a)) / 12 - (x / (b * b * b * b) - x / (a * a * a * a)) / 120;
    return sum + tail / alpha;
}

/* Σ_{i=1}^{m} log(1 − (1 − α)/(θ + i)) */
static double sum_log_alone(double theta, double alpha, double m)
{
    double c = alpha - 1, sum = 0, i = 1;
    for (; i <= 16 * DIRECT && i <= m; i++) sum += log1p(c / (theta + i));
    if (i > m) return sum;
    double a = theta + i - 1, b = theta + m;
    sum += b * log1p(c / b) - a * log1p(c / a) + c * log((b + c) / (a + c));
    return sum + (log1p(c / b) - log1p(c / a)) / 2 - (c / (b * (b + c)) - c / (a * (a + c))) / 12;
}

/* ---- Pitman ---- */

typedef struct pitman {
    const kn_size_histogram *sizes;
    double                   n, u;
} pitman;

static double slope_theta(const pitman *p, double t, double alpha)
{
    return sum_openings(t, alpha, p->u - 1) - harmonic(t + 1 - alpha, p->n - 1);
}

static double sum_joins(const pitman *p, double alpha)
{
    double sum = 0;
    for (int64_t i = 0; i < p->sizes->count; i++)
        sum += (double)p->sizes->classes[i] * harmonic(1 - alpha, (double)p->sizes->sizes[i] - 1);
    return sum;
}

static double slope_alpha(const pitman *p, double t, double alpha)
{
    return sum_weighted_openings(t, alpha, p->u - 1) - sum_joins(p, alpha);
}

/* The best t = θ + α for an α: with 1 < u < n the slope falls from +∞ at 0 to below 0. NaN if it does not. */
static double best_t(const pitman *p, double alpha)
{
    double low = log(1e-15), high = log(1e30);
    if (!(slope_theta(p, exp(low), alpha) > 0) || !(slope_theta(p, exp(high), alpha) < 0)) return NAN;
    for (int i = 0; i < 100; i++) {
        double middle = (low + high) / 2;
        if (middle <= low || middle >= high) break;
        if (slope_theta(p, exp(middle), alpha) > 0)
            low = middle;
        else
            high = middle;
    }
    return exp((low + high) / 2);
}

/* A maximum of the likelihood, or DIVERGED. */
static kn_estimate_status maximize(const pitman *p, double *theta, double *alpha)
{
    *alpha = 0;
    double t = *theta = best_t(p, 0);
    if (isnan(t)) return KN_ESTIMATE_DIVERGED;
    if (slope_alpha(p, t, 0) <= 0) return KN_ESTIMATE_OK; /* Ewens' model fits best */
    double low = 0, high = 1 - 1e-12;
    for (int i = 0; i < 100; i++) {
        double middle = (low + high) / 2;
        if (middle <= low || middle >= high) break;
        t = best_t(p, middle);
        if (isnan(t)) return KN_ESTIMATE_DIVERGED;
        if (slope_alpha(p, t, middle) > 0)
            low = middle;
        else
            high = middle;
    }
    *alpha = (low + high) / 2;
    t = best_t(p, *alpha);
    *theta = t - *alpha;
    /* Both slopes must vanish, measured by what they are a difference of; NaN fails. */
    bool flat = fabs(slope_theta(p, t, *alpha)) <= 1e-6 * sum_openings(t, *alpha, p->u - 1) &&
                fabs(slope_alpha(p, t, *alpha)) <= 1e-6 * sum_joins(p, *alpha);
    return flat ? KN_ESTIMATE_OK : KN_ESTIMATE_DIVERGED;
}

kn_uniques_estimate kn_uniques_pitman(const kn_size_histogram *h, int64_t population)
{
    kn_uniques_estimate e = {KN_UNIQUES_PITMAN, KN_ESTIMATE_OK, NAN, NAN, NAN, NAN};
    if (settle(&e, h, population)) return e;
    int64_t classes = 0;
    for (int64_t i = 0; i < h->count; i++) classes += h->classes[i];
    pitman p = {h, (double)records(h), (double)classes};
    e.status = p.u < 2 || p.u >= p.n ? KN_ESTIMATE_NO_MAXIMUM : maximize(&p, &e.theta, &e.alpha);
    double big = (double)population;
    if (e.status == KN_ESTIMATE_OK) {
        e.uniques = exp(log(big) + sum_log_alone(e.theta, e.alpha, big - 1));
        e.share = e.uniques / big;
        if (!isfinite(e.uniques) || e.uniques > big * (1 + 1e-9)) e.status = KN_ESTIMATE_DIVERGED;
    }
    if (e.status != KN_ESTIMATE_OK) e.uniques = e.share = e.theta = e.alpha = NAN;
    return e;
}
