/* kn_optimal_model.c: predicts how many rows a node suppresses before it is counted.
 *
 * The feature of a node is the sum over its attributes of the entropy of the column at the level and of the logarithm
 * of the number of its cells: about twice the logarithm of the number of classes if attributes were independent. The
 * logit of the suppressed share is close to linear in it (on Adult: within a quarter), so counted nodes are points of
 * a curve: neighbours weighted by the inverse fourth power of their distance, each moved along the common slope.
 * What is left is learned per level: each adds a number of its own to the logit, by recursive least squares over all
 * counted nodes, those near the budget with the most weight (12 attributes, 5 %: within a tenth there).
 * Predictions choose what is counted next; they never decide a result.
 *
 * Cost of a fit: grid × counted nodes, of which the latest are kept; of a counted node: levels².
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>

#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_marginal.h"
#include "kn_optimal_internal.h"
#include "kn_parallel.h"

enum { LEVELS_MOST = 256, FIRST_POINTS = 24 };

static const double usual_slope = 0.2, usual_low_slope = -0.35;
/* Of what levels add to a logit, and of what one counted node says. */
static const double first_variance = 0.1, least_noise = 0.04, far_noise = 0.1;

static double look_up(const kn_guess *g, const double *grid, double feature)
{
    double at = g->largest > 0 ? feature / g->largest * KN_MODEL_GRID : 0;
    if (at < 0) at = 0;
    if (at > KN_MODEL_GRID) at = KN_MODEL_GRID;
    int i = (int)at;
    return grid[i] + (grid[i + 1] - grid[i]) * (at - i);
}

kn_status kn_guess_make(kn_guess *g, kn_context *ctx, const kn_fulldomain_problem *p, const int *offsets,
                        const double *features, kn_error *err)
{
    *g = (kn_guess){.rows = (double)kn_table_total(p->table), .quasi_count = p->quasi_count, .offsets = offsets};
    g->middle = log(((double)p->budget + 0.5) / (g->rows - (double)p->budget + 0.5));
    for (int q = 0; q < p->quasi_count; q++) {
        g->largest += features[offsets[q]];
        g->level_count += p->hierarchies[q]->height + 1;
    }
    size_t size = g->level_count;
    if (size > LEVELS_MOST) return KN_OK;
    if (!KN_ALLOC_ZERO(ctx, g->shifts, size + 1) || !KN_ALLOC_ZERO(ctx, g->covariances, size * size + 1) ||
        !KN_ALLOC(ctx, g->gains, size + 1))
        return kn_fail_memory(err, ctx, "searching the lattice");
    for (size_t i = 0; i < size; i++) g->covariances[i * size + i] = first_variance;
    return KN_OK;
}

void kn_guess_free(kn_guess *g)
{
    KN_FREE(g->shifts, g->covariances, g->gains);
    *g = (kn_guess){0};
}

double kn_guess_shift(const kn_guess *g, const int *levels)
{
    double sum = 0;
    for (int q = 0; q < g->quasi_count && g->shifts; q++) sum += g->shifts[g->offsets[q] + levels[q]];
    return sum;
}

double kn_guess_shift_by(const kn_guess *g, int q, int from, int to)
{
    return g->shifts ? g->shifts[g->offsets[q] + to] - g->shifts[g->offsets[q] + from] : 0;
}

/* A step of recursive least squares: `error` is what the guess of the node was below what counting said. */
static void correct(kn_guess *g, const int *levels, double error, double noise)
{
    size_t size = g->level_count;
    double variance = noise;
    for (size_t i = 0; i < size; i++) {
        g->gains[i] = 0;
        for (int q = 0; q < g->quasi_count; q++)
            g->gains[i] += g->covariances[i * size + (size_t)(g->offsets[q] + levels[q])];
    }
    for (int q = 0; q < g->quasi_count; q++) variance += g->gains[g->offsets[q] + levels[q]];
    for (size_t i = 0; i < size; i++) {
        double share = g->gains[i] / variance;
        g->shifts[i] += share * error;
        for (size_t j = 0; j < size; j++) g->covariances[i * size + j] -= share * g->gains[j];
    }
}

void kn_guess_add(kn_guess *g, const int *levels, double feature, double suppressed, double low)
{
    int at = g->next;
    g->next = (at + 1) % KN_GUESS_POINTS;
    if (g->count < KN_GUESS_POINTS) g->count++;
    g->feature[at] = feature;
    double logit = log((suppressed + 0.5) / (g->rows - suppressed + 0.5));
    if (g->shifts && g->count >= FIRST_POINTS) {
        double far = logit - g->middle;
        correct(g, levels, logit - look_up(g, g->logits, feature) - kn_guess_shift(g, levels),
                least_noise + far_noise * far * far);
    }
    g->logit[at] = logit - kn_guess_shift(g, levels);
    g->low[at] = log(low + 1);
}

static double slope_of(const kn_guess *g, const double *y, double usual)
{
    double n = g->count, fs = 0, ys = 0, ff = 0, fy = 0;
    for (int i = 0; i < g->count; i++) {
        fs += g->feature[i];
        ys += y[i];
    }
    for (int i = 0; i < g->count; i++) {
        ff += (g->feature[i] - fs / n) * (g->feature[i] - fs / n);
        fy += (g->feature[i] - fs / n) * (y[i] - ys / n);
    }
    double slope = g->count > 2 && ff > 1e-9 ? fy / ff : usual;
    return slope * usual > 0 ? slope : usual;
}

/* The points one after the other, each for the whole grid: the sums do not wait for each other. */
typedef struct sums {
    double weights[KN_MODEL_GRID + 2], logits[KN_MODEL_GRID + 2], lows[KN_MODEL_GRID + 2];
} sums;

static void add_point(const kn_guess *g, sums *s, int point, double slope, double low_slope)
{
    double step = g->largest / KN_MODEL_GRID, feature = g->feature[point], logit = g->logit[point], low = g->low[point];
    for (int i = 0; i <= KN_MODEL_GRID + 1; i++) {
        double distance = step * i - feature, w = 1 / (distance * distance + 0.25);
        w *= w;
        s->weights[i] += w;
        s->logits[i] += w * (logit + slope * distance);
        s->lows[i] += w * (low + low_slope * distance);
    }
}

void kn_guess_fit(kn_guess *g)
{
    double slope = slope_of(g, g->logit, usual_slope), low_slope = slope_of(g, g->low, usual_low_slope);
    sums   s = {0};
    for (int point = 0; point < g->count; point++) add_point(g, &s, point, slope, low_slope);
    for (int i = 0; i <= KN_MODEL_GRID + 1; i++) {
        double feature = g->largest * i / KN_MODEL_GRID;
        g->logits[i] = g->count > 0 ? s.logits[i] / s.weights[i] : slope * feature;
        g->low_at[i] = g->count > 0 ? s.lows[i] / s.weights[i] : low_slope * feature;
    }
}

double kn_guess_logit(const kn_guess *g, double feature, double shift)
{
    return look_up(g, g->logits, feature) + shift;
}

double kn_guess_suppressed(const kn_guess *g, double feature, double shift)
{
    return g->rows / (1 + exp(-kn_guess_logit(g, feature, shift)));
}

double kn_guess_low(const kn_guess *g, double feature)
{
    return look_up(g, g->low_at, feature);
}

/* ---- Features ---- */

static kn_status attribute_features(double *out, kn_context *ctx, const kn_fulldomain_problem *p, int q,
                                    const int64_t *counts, kn_error *err)
{
    const kn_hierarchy *h = p->hierarchies[q];
    uint32_t           *map = kn_alloc_array(ctx, (size_t)h->codes + 1, sizeof *map);
    int64_t            *cells = kn_alloc_array(ctx, (size_t)h->codes + 2, sizeof *cells);
    if (!map || !cells) {
        KN_FREE(map, cells);
        return kn_fail_memory(err, ctx, "searching the lattice");
    }
    double rows = (double)kn_table_total(p->table);
    for (uint32_t level = 0; level <= h->height; level++) {
        uint32_t distinct = 0;
        double   entropy = 0;
        kn_hierarchy_level_map(h, level, map, &distinct, NULL);
        for (uint32_t i = 0; i <= h->codes + 1; i++) cells[i] = 0;
        for (uint32_t c = 0; c < h->codes + h->missing; c++) cells[map[c]] += counts[c];
        for (uint32_t i = 0; i < distinct; i++)
            if (cells[i] > 0) entropy += (double)cells[i] / rows * log2(rows / (double)cells[i]);
        out[level] = entropy + log2(distinct > 0 ? distinct : 1);
    }
    KN_FREE(map, cells);
    return KN_OK;
}

typedef struct guessing {
    kn_context                  *ctx;
    const kn_fulldomain_problem *problem;
    double                      *out;
    const kn_marginals          *marginals;
} guessing;

static kn_status features_range(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    const guessing              *g = arg;
    const kn_fulldomain_problem *p = g->problem;
    (void)worker;
    for (int64_t q = begin; q < end; q++) {
        const kn_column *column = &p->table->columns[p->quasi[q]];
        int64_t         *counts = kn_alloc_array_zero(g->ctx, (size_t)column->dict.count + 1, sizeof *counts);
        double          *out = g->out;
        if (!counts) return kn_fail_memory(err, g->ctx, "searching the lattice");
        for (int64_t before = 0; before < q; before++) out += p->hierarchies[before]->height + 1;
        kn_marginals_add(counts, g->marginals, (int)q);
        kn_status st = attribute_features(out, g->ctx, p, (int)q, counts, err);
        kn_free(counts);
        if (st != KN_OK) return st;
    }
    return KN_OK;
}

kn_status kn_guess_features(double *out, kn_context *ctx, const kn_fulldomain_problem *p, kn_error *err)
{
    kn_marginals *marginals = NULL;
    KN_TRY(kn_marginals_make(&marginals, ctx, p->table, p->quasi, p->quasi_count, err));
    guessing  g = {ctx, p, out, marginals};
    kn_status st = kn_parallel_for(ctx, p->quasi_count, 1, features_range, &g, err);
    kn_marginals_free(marginals);
    return st;
}
