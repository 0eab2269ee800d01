/* kn_objective.c: metrics as exact sums for the search of the lattice.
 *
 * lm, ncp and prec are means of fractions part / domain with small whole numbers: covered leaves less one of leaves
 * less one, covered leaves of leaves, level of height. All get a common denominator, the least common multiple of the
 * domains, and multiplied by the attribute's weight as a whole number; so a cell's cost is a whole number too, sums
 * are exact and the mean is their sum / (rows × what a suppressed row costs). Where that does not fit, costs are
 * rounded to units of a power of two, as fine as fits: 2^-60 of what a suppressed row costs, or finer. Rounding is
 * monotone, so a more general cell never costs less, and losses are sums of whole numbers still.
 *
 * entropy is Σ log2(rows under the cell) - Σ log2(rows of the value): the second sum is the same for every node and
 * is taken off when a value is shown. Only the logarithms of primes are rounded, that of any other number is the sum
 * of its primes': so losses that are equal as real numbers (log2 3 + log2 12 = 2 log2 6) are equal. Where that could
 * break the order of numbers (rows × weights beyond 2^40 or so), and where costs of another metric had to be rounded,
 * equal losses may differ in the last units.
 *
 * Cost: one pass over the rows per quasi-identifier (each on its own worker), then levels × values. Memory: 8 bytes per
 * value and level, 8 per node while it is made.
 *
 * Limits: a suppressed row costs at most 2^62, so the costs of one row add up in 64 bits; with fewer than 2^64 rows the
 * sums of a table fit into 128. A class-size metric needs rows < 2^63: its sums are below 2^126.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_objective.h"

#include <math.h>

#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_marginal.h"
#include "kn_parallel.h"

#define ROW_BITS 62 /* the cost of a suppressed row is at most 2^62 */
#define ROW_MAX ((kn_u128)1 << ROW_BITS)

void kn_objective_free(kn_objective *o)
{
    if (!o) return;
    for (int q = 0; q < o->quasi_count; q++) {
        if (o->costs) kn_free(o->costs[q]);
        if (o->totals) kn_free(o->totals[q]);
    }
    KN_FREE(o->costs, o->totals, o->heights, o->codes, o->star, o);
}

/* ---- One unit for all ---- */

/* What a cell is measured by: cost = weight × part / domain. */
static uint32_t domain_of(kn_metric metric, const kn_hierarchy *h)
{
    if (metric == KN_METRIC_PREC) return h->height;
    if (metric == KN_METRIC_LM) return h->leaves > 1 ? h->leaves - 1 : 1;
    return h->leaves > 0 ? h->leaves : 1;
}

static uint32_t part_of(kn_metric metric, const kn_hierarchy *h, uint32_t node)
{
    if (metric == KN_METRIC_PREC) return h->level[node];
    uint32_t cover = kn_hierarchy_cover(h, node);
    if (cover <= 1) return 0;
    return metric == KN_METRIC_LM ? cover - 1 : cover;
}

static uint64_t gcd(uint64_t a, uint64_t b)
{
    while (b != 0) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Is the least common multiple at most 2^62? */
static bool lcm(uint64_t *a, uint64_t b)
{
    kn_u128 m = (kn_u128)(*a / gcd(*a, b)) * b;
    if (m > ROW_MAX) return false;
    *a = (uint64_t)m;
    return true;
}

/* The weights as whole numbers without a common factor: only their proportions matter to a mean. */
static bool whole_weights(uint64_t *whole, const kn_ratio *weights, int count)
{
    uint64_t denominator = 1, common = 0;
    for (int q = 0; q < count; q++) {
        kn_ratio w = weights ? weights[q] : (kn_ratio){1, 1};
        if (!lcm(&denominator, w.denominator / gcd(w.numerator, w.denominator))) return false;
    }
    for (int q = 0; q < count; q++) {
        kn_ratio w = weights ? weights[q] : (kn_ratio){1, 1};
        uint64_t shared = gcd(w.numerator, w.denominator);
        kn_u128  scaled = (kn_u128)(w.numerator / shared) * (denominator / (w.denominator / shared));
        if (scaled > ROW_MAX) return false;
        whole[q] = (uint64_t)scaled;
        common = gcd(whole[q], common);
    }
    for (int q = 0; q < count; q++) whole[q] /= common;
    return true;
}

static long double weight_of(const kn_ratio *weights, int q)
{
    return weights ? (long double)weights[q].numerator / (long double)weights[q].denominator : 1.0L;
}

/* How a part becomes a cost. */
typedef struct unit_choice {
    bool        exact;
    bool        primes;      /* entropy: by log_by_primes                                  */
    uint64_t    denominator; /* exact: of all fractions; star = whole weight × denominator */
    uint64_t    suppressed;  /* primes: the logarithm of all rows; star = whole weight × it */
    long double scale;       /* otherwise: cost = weight × part / domain × scale, rounded  */
    long double weight;      /* what a whole weight of 1 stands for                        */
} unit_choice;

/* Fills in `star` and says how costs are made. */
static bool exact_unit(unit_choice *unit, kn_objective *o, const kn_hierarchy *const *hierarchies,
                       const kn_ratio *weights)
{
    *unit = (unit_choice){.exact = true, .denominator = 1};
    if (o->metric == KN_METRIC_ENTROPY || !whole_weights(o->star, weights, o->quasi_count)) return false;
    for (int q = 0; q < o->quasi_count; q++)
        if (!lcm(&unit->denominator, domain_of(o->metric, hierarchies[q]))) return false;
    kn_u128 row = 0;
    for (int q = 0; q < o->quasi_count; q++) {
        row += (kn_u128)o->star[q] * unit->denominator; /* below 2^124 each */
        if (row > ROW_MAX) return false;
    }
    for (int q = 0; q < o->quasi_count; q++) o->star[q] *= unit->denominator;
    return true;
}

/* log2(n) × scale as the sum of its primes'. O(√n). */
static uint64_t log_by_primes(uint64_t n, long double scale)
{
    uint64_t sum = 0;
    for (uint64_t p = 2; p * p <= n; p += p == 2 ? 1 : 2) {
        if (n % p != 0) continue;
        uint64_t log = (uint64_t)roundl(log2l((long double)p) * scale);
        for (; n % p == 0; n /= p) sum += log;
    }
    return n > 1 ? sum + (uint64_t)roundl(log2l((long double)n) * scale) : sum;
}

/* Entropy. A number has fewer than 64 primes, so the sum of their logarithms is within 32 units of its own; the next
 * number's is 1 / n bits or more away, so that with 128 n units in a bit the order of numbers is kept. */
static bool prime_unit(unit_choice *unit, kn_objective *o, const kn_ratio *weights)
{
    if (o->metric != KN_METRIC_ENTROPY || o->rows < 2 || !whole_weights(o->star, weights, o->quasi_count)) return false;
    long double row = 0, weight = 0;
    for (int q = 0; q < o->quasi_count; q++) {
        row += (long double)o->star[q] * log2l((long double)o->rows);
        if (o->star[q] > 0) weight = weight_of(weights, q) / (long double)o->star[q];
    }
    int exponent = 0;
    (void)frexpl(row, &exponent);
    *unit = (unit_choice){.primes = true, .scale = ldexpl(1.0L, ROW_BITS - 2 - exponent), .weight = weight};
    if (unit->scale < 128 * (long double)o->rows) return false;
    unit->suppressed = log_by_primes((uint64_t)o->rows, unit->scale);
    for (int q = 0; q < o->quasi_count; q++) o->star[q] *= unit->suppressed;
    return true;
}

static void rounded_unit(unit_choice *unit, kn_objective *o, const kn_ratio *weights)
{
    long double suppressed = 1; /* cost of a suppressed cell of weight 1 */
    if (o->metric == KN_METRIC_ENTROPY) suppressed = o->rows > 1 ? log2l((long double)o->rows) : 0;
    long double row = 0;
    for (int q = 0; q < o->quasi_count; q++) row += weight_of(weights, q) * suppressed;
    int exponent = 0;
    if (row > 0) (void)frexpl(row, &exponent); /* row < 2^exponent */
    /* One bit less than fits leaves a margin for the rounding of each cell. */
    *unit = (unit_choice){.denominator = 1, .scale = ldexpl(1.0L, ROW_BITS - 1 - exponent), .weight = 1};
    for (int q = 0; q < o->quasi_count; q++)
        o->star[q] = (uint64_t)roundl(weight_of(weights, q) * suppressed * unit->scale);
}

/* ---- Costs ---- */

typedef struct fill {
    kn_objective              *o;
    const kn_table            *table;
    const int                 *quasi;
    const kn_hierarchy *const *hierarchies;
    const kn_ratio            *weights;
    unit_choice                unit;
    kn_marginals              *marginals;
} fill;

static uint64_t node_cost(const fill *f, int q, uint32_t node, int64_t rows_below)
{
    const kn_hierarchy *h = f->hierarchies[q];
    if (f->o->metric == KN_METRIC_ENTROPY) {
        if (rows_below <= 1) return 0;
        if (f->unit.primes)
            return f->o->star[q] / f->unit.suppressed * log_by_primes((uint64_t)rows_below, f->unit.scale);
        return (uint64_t)roundl(weight_of(f->weights, q) * log2l((long double)rows_below) * f->unit.scale);
    }
    uint32_t part = part_of(f->o->metric, h, node), domain = domain_of(f->o->metric, h);
    if (f->unit.exact) return f->o->star[q] / domain * part; /* the domain divides the denominator */
    return (uint64_t)roundl(weight_of(f->weights, q) * ((long double)part / (long double)domain) * f->unit.scale);
}

static kn_status fill_attribute(const fill *f, int q, int64_t *counts, int64_t *node_rows, uint64_t *by_node,
                                kn_error *err)
{
    kn_objective       *o = f->o;
    const kn_hierarchy *h = f->hierarchies[q];
    size_t              codes = o->codes[q], levels = (size_t)h->height + 1;
    o->costs[q] = kn_alloc_array(o->ctx, levels * (codes + 1), sizeof *o->costs[q]);
    o->totals[q] = kn_alloc_array_zero(o->ctx, levels, sizeof *o->totals[q]);
    if (!o->costs[q] || !o->totals[q] || !counts || !node_rows || !by_node)
        return kn_fail_memory(err, o->ctx, "preparing the metric");
    kn_marginals_add(counts, f->marginals, q);
    kn_marginal_nodes(node_rows, h, counts);
    for (uint32_t n = 0; n < h->nodes; n++) by_node[n] = node_cost(f, q, n, node_rows[n]);
    for (uint32_t level = 0; level < levels; level++) {
        for (uint32_t code = 0; code <= codes; code++) {
            uint64_t cost = by_node[kn_hierarchy_of_code(h, code, level)];
            o->costs[q][level * (codes + 1) + code] = cost;
            o->totals[q][level] += (kn_u128)cost * (uint64_t)counts[code];
        }
    }
    return KN_OK;
}

static kn_status fill_range(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    const fill *f = arg;
    kn_status   st = KN_OK;
    (void)worker;
    for (int64_t q = begin; st == KN_OK && q < end; q++) {
        kn_context *ctx = f->o->ctx;
        uint32_t    nodes = f->hierarchies[q]->nodes;
        int64_t    *counts = kn_alloc_array_zero(ctx, (size_t)f->o->codes[q] + 1, sizeof *counts);
        int64_t    *node_rows = kn_alloc_array_zero(ctx, nodes, sizeof *node_rows);
        uint64_t   *by_node = kn_alloc_array(ctx, nodes, sizeof *by_node);
        st = fill_attribute(f, (int)q, counts, node_rows, by_node, err);
        KN_FREE(counts, node_rows, by_node);
    }
    return st;
}

static kn_status fill_cells(fill *f, kn_error *err)
{
    kn_objective *o = f->o;
    bool          any = !f->weights;
    for (int q = 0; f->weights && q < o->quasi_count; q++) any = any || f->weights[q].numerator > 0;
    if (!any) return kn_fail(err, KN_USAGE, "the weights of all quasi-identifiers are 0");
    if (!exact_unit(&f->unit, o, f->hierarchies, f->weights) && !prime_unit(&f->unit, o, f->weights))
        rounded_unit(&f->unit, o, f->weights);
    KN_TRY(kn_marginals_make(&f->marginals, o->ctx, f->table, f->quasi, o->quasi_count, err));
    kn_status st = kn_parallel_for(o->ctx, o->quasi_count, 1, fill_range, f, err);
    kn_marginals_free(f->marginals);
    KN_TRY(st);
    kn_u128 suppressed_row = 0;
    for (int q = 0; q < o->quasi_count; q++) {
        suppressed_row += o->star[q];
        if (o->metric == KN_METRIC_ENTROPY) o->base += o->totals[q][0];
    }
    o->descending = o->metric == KN_METRIC_PREC;
    o->offset = o->descending ? 1 : 0;
    if (o->metric == KN_METRIC_ENTROPY)
        o->unit = f->unit.weight / f->unit.scale;
    else if (suppressed_row > 0 && o->rows > 0)
        o->unit = 1 / ((long double)suppressed_row * (long double)o->rows);
    return KN_OK;
}

kn_status kn_objective_make(kn_objective **out, kn_context *ctx, const kn_table *table, const int *quasi,
                            const kn_hierarchy *const *hierarchies, int quasi_count, const kn_ratio *weights,
                            kn_metric metric, int64_t k, kn_error *err)
{
    size_t        count = (size_t)quasi_count + 1; /* never empty */
    kn_objective *o = kn_alloc_zero(ctx, sizeof *o);
    if (!o) return kn_fail_memory(err, ctx, "preparing the metric");
    o->ctx = ctx;
    o->metric = metric;
    o->cells = metric <= KN_METRIC_ENTROPY;
    o->rows = kn_table_total(table);
    o->k = k > 0 ? k : 1;
    o->quasi_count = quasi_count;
    o->heights = kn_alloc_array_zero(ctx, count, sizeof *o->heights);
    o->codes = kn_alloc_array_zero(ctx, count, sizeof *o->codes);
    o->star = kn_alloc_array_zero(ctx, count, sizeof *o->star);
    o->costs = kn_alloc_array_zero(ctx, count, sizeof *o->costs);
    o->totals = kn_alloc_array_zero(ctx, count, sizeof *o->totals);
    kn_status st = KN_OK;
    if (!o->heights || !o->codes || !o->star || !o->costs || !o->totals)
        st = kn_fail_memory(err, ctx, "preparing the metric");
    for (int q = 0; st == KN_OK && q < quasi_count; q++) {
        o->heights[q] = (int)hierarchies[q]->height;
        o->codes[q] = table->columns[quasi[q]].dict.count;
    }
    fill f = {o, table, quasi, hierarchies, weights, {.exact = false}, NULL};
    if (st == KN_OK && o->cells) st = fill_cells(&f, err);
    if (st != KN_OK) {
        kn_objective_free(o);
        return st;
    }
    *out = o;
    return KN_OK;
}

/* ---- Losses ---- */

static kn_u128 suppressed_row(const kn_objective *o)
{
    kn_u128 sum = 0;
    for (int q = 0; q < o->quasi_count; q++) sum += o->star[q];
    return sum;
}

kn_quotient kn_objective_loss(const kn_objective *o, const kn_node_sums *s)
{
    kn_u128 loss;
    switch (o->metric) {
    case KN_METRIC_DM: loss = s->squares + (kn_u128)(uint64_t)s->suppressed * (uint64_t)o->rows; break;
    case KN_METRIC_DM_STAR: loss = s->squares + s->suppressed_squares; break;
    case KN_METRIC_C_AVG:
        return (kn_quotient){(kn_u128)(uint64_t)s->rows, (kn_u128)(uint64_t)s->classes * (uint64_t)o->k};
    default: loss = s->cells + suppressed_row(o) * (uint64_t)s->suppressed; break;
    }
    return (kn_quotient){loss, 1};
}

double kn_objective_value(const kn_objective *o, kn_quotient loss)
{
    if (loss.denominator == 0) return INFINITY;
    if (!o->cells) return (double)((long double)loss.numerator / (long double)loss.denominator);
    long double lost = (long double)(loss.numerator - o->base) * o->unit;
    return (double)(o->offset + (o->descending ? -lost : lost));
}

kn_u128 kn_objective_cells_of_node(const kn_objective *o, const int *levels)
{
    kn_u128 sum = 0;
    for (int q = 0; q < o->quasi_count; q++) sum += o->totals[q][levels[q]];
    return sum;
}

/* Cells: a cell costs at least as much further up, and a suppressed one most of all. dm: merging classes adds to the
 * squares, and a suppressed class costs rows × size instead of size × size. dm_star: suppression changes nothing.
 * c_avg: above there are no more classes than here; suppressing any rows loses at least one class. */
kn_quotient kn_objective_bound(const kn_objective *o, const int *levels, kn_u128 squares, int64_t classes,
                               int64_t budget)
{
    if (o->cells) return (kn_quotient){kn_objective_cells_of_node(o, levels), 1};
    if (o->metric != KN_METRIC_C_AVG) return (kn_quotient){squares, 1};
    kn_quotient whole = {(kn_u128)(uint64_t)o->rows, (kn_u128)(uint64_t)classes * (uint64_t)o->k};
    if (budget <= 0 || classes < 2) return whole;
    int64_t     kept = budget < o->rows ? o->rows - budget : 0;
    kn_quotient less = {(kn_u128)(uint64_t)kept, (kn_u128)(uint64_t)(classes - 1) * (uint64_t)o->k};
    return kn_quotient_compare(less, whole) < 0 ? less : whole;
}
