/* kn_optimal_model.c: predicts how many rows a node suppresses before it is counted.
 *
 * The feature of a node is the sum over its attributes of the entropy of the column at the level and of the logarithm
 * of the number of its cells: about twice the logarithm of the number of classes if attributes were independent. The
 * logit of the suppressed share is close to linear in it (on Adult: within a quarter), so counted nodes are points of
 * a curve: neighbours weighted by the inverse fourth power of their distance, each moved along the common slope.
 * Predictions choose what is counted next; they never decide a result.
 *
 * Cost of a fit: grid × counted nodes, of which the latest are kept.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>

#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_marginal.h"
#include "kn_optimal_internal.h"
#include "kn_parallel.h"

static const double usual_slope = 0.2, usual_low_slope = -0.35;

void kn_guess_add(kn_guess *g, double feature, double suppressed, double low)
{
    int at = g->next;
    g->next = (at + 1) % KN_GUESS_POINTS;
    if (g->count < KN_GUESS_POINTS) g->count++;
    g->feature[at] = feature;
    g->logit[at] = log((suppressed + 0.5) / (g->rows - suppressed + 0.5));
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

static double curve(const kn_guess *g, const double *y, double slope, double feature)
{
    double sum = 0, weights = 0;
    for (int i = 0; i < g->count; i++) {
        double distance = feature - g->feature[i], w = 1 / (distance * distance + 0.25);
        w *= w;
        sum += w * (y[i] + slope * distance);
        weights += w;
    }
    return weights > 0 ? sum / weights : slope * feature;
}

void kn_guess_fit(kn_guess *g)
{
    double slope = slope_of(g, g->logit, usual_slope), low_slope = slope_of(g, g->low, usual_low_slope);
    for (int i = 0; i <= KN_MODEL_GRID + 1; i++) {
        double feature = g->largest * i / KN_MODEL_GRID;
        double logit = curve(g, g->logit, slope, feature);
        g->suppressed[i] = g->rows / (1 + exp(-logit));
        g->low_at[i] = curve(g, g->low, low_slope, feature);
    }
}

static double look_up(const kn_guess *g, const double *grid, double feature)
{
    double at = g->largest > 0 ? feature / g->largest * KN_MODEL_GRID : 0;
    if (at < 0) at = 0;
    if (at > KN_MODEL_GRID) at = KN_MODEL_GRID;
    int i = (int)at;
    return grid[i] + (grid[i + 1] - grid[i]) * (at - i);
}

double kn_guess_suppressed(const kn_guess *g, double feature)
{
    return look_up(g, g->suppressed, feature);
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
