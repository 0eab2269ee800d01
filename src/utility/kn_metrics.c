/* kn_metrics.c: every information-loss metric of a plan.
 *
 * Only the cells of each class and the classes' sizes matter, and of the table how often each value occurs.
 * Everything is added up in whole numbers (leaves, levels, spans of integers and dates; logarithms and spans of
 * decimals rounded to 2^-56 and 2^-62), so sums are exact, do not depend on order or threads, and unchanged cells
 * lose exactly 0. They become floating-point once, at the end.
 *
 * dm_star needs the classes that the suppressed rows would have been in: those of the plan's node if every column has
 * one level, otherwise those of their original values. That groups the table once more, and only if rows were
 * suppressed.
 *
 * Cost: one pass over the rows per quasi-identifier and one over the classes, both in parallel; a set costs its
 * members, a range O(1) (its values, where the hierarchy is not in the order of the values). Memory: 16 bytes per
 * value, 8 per node, and the class of each row where dm_star needs it.
 *
 * Limit: rows × 2^62 < 2^128.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_metrics.h"

#include <math.h>

#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_freq.h"
#include "kn_hash.h"
#include "kn_marginal.h"
#include "kn_parallel.h"

#define LOG_UNIT 0x1p56L  /* of logarithms        */
#define SPAN_UNIT 0x1p62L /* of spans of decimals */

enum { CLASS_GRAIN = 8192 };

/* One quasi-identifier, prepared. */
typedef struct attribute {
    const kn_column    *column;
    const kn_hierarchy *h;         /* NULL: none                                                      */
    int64_t            *below;     /* values + 2: rows with a smaller code                            */
    uint64_t           *code_logs; /* values + 1: log2 of the rows with that code                     */
    uint64_t           *node_logs; /* per node                                                        */
    bool                ordered;   /* the leaves are in the order of the codes                        */
    uint64_t            values;    /* the domain: leaves of the hierarchy, or values of the column    */
    uint64_t            width;     /* without a hierarchy: largest - smallest, of numbers and dates   */
    uint64_t            star_log;
} attribute;

/* What the cells of an attribute lost, all its rows together. */
typedef struct sums {
    kn_u128 lm;      /* of values - 1                                                   */
    kn_u128 ncp;     /* of values                                                       */
    kn_u128 levels;  /* of the height; without a hierarchy of 1, beside what lm counts  */
    kn_u128 span;    /* of the width: in both lm and ncp                                */
    kn_u128 whole;   /* cells that lost everything                                      */
    kn_u128 entropy; /* log2 of the rows under the cell, in units of LOG_UNIT           */
} sums;

typedef struct measuring {
    kn_context     *ctx;
    const kn_table *table;
    const kn_plan  *plan;
    attribute      *attributes;
    sums           *found; /* per range of classes and attribute */
    kn_marginals   *marginals;
} measuring;

/* ---- Preparing an attribute ---- */

static uint64_t log_units(int64_t rows)
{
    return rows > 1 ? (uint64_t)roundl(log2l((long double)rows) * LOG_UNIT) : 0;
}

static void attribute_free(attribute *a)
{
    KN_FREE(a->below, a->code_logs, a->node_logs);
}

/* The difference of two values of the column, in the unit of its width. */
static uint64_t span_of(const attribute *a, uint32_t low, uint32_t high)
{
    const kn_dictionary *dict = &a->column->dict;
    if (dict->integers) return (uint64_t)dict->integers[high] - (uint64_t)dict->integers[low];
    long double all = (long double)dict->decimals[dict->count - 1] - (long double)dict->decimals[0];
    long double part = (long double)dict->decimals[high] - (long double)dict->decimals[low];
    return all > 0 ? (uint64_t)roundl(part / all * SPAN_UNIT) : 0;
}

static bool has_spans(const attribute *a)
{
    return !a->h && a->column->dict.count > 0 && (a->column->dict.integers || a->column->dict.decimals);
}

static kn_status attribute_make(attribute *a, const measuring *m, int q, kn_error *err)
{
    kn_context *ctx = m->ctx;
    uint32_t    values = a->column->dict.count, nodes = a->h ? a->h->nodes : 0;
    int64_t    *node_rows = kn_alloc_array_zero(ctx, (size_t)nodes + 1, sizeof *node_rows);
    a->below = kn_alloc_array_zero(ctx, (size_t)values + 2, sizeof *a->below);
    a->code_logs = kn_alloc_array(ctx, (size_t)values + 1, sizeof *a->code_logs);
    a->node_logs = kn_alloc_array(ctx, (size_t)nodes + 1, sizeof *a->node_logs);
    if (!node_rows || !a->below || !a->code_logs || !a->node_logs) {
        kn_free(node_rows);
        return kn_fail_memory(err, ctx, "measuring the loss");
    }
    kn_marginals_add(a->below + 1, m->marginals, q);
    if (a->h) kn_marginal_nodes(node_rows, a->h, a->below + 1);
    for (uint32_t c = 0; c <= values; c++) {
        a->code_logs[c] = log_units(a->below[c + 1]);
        a->below[c + 1] += a->below[c];
    }
    for (uint32_t n = 0; n < nodes; n++) a->node_logs[n] = log_units(node_rows[n]);
    kn_free(node_rows);
    a->ordered = true;
    for (uint32_t c = 1; a->h && c < values; c++)
        a->ordered = a->ordered && a->h->leaf_of_code[c - 1] <= a->h->leaf_of_code[c];
    a->values = a->h ? a->h->leaves : values;
    a->width = has_spans(a) ? span_of(a, 0, values - 1) : 0;
    a->star_log = log_units(kn_table_total(m->table));
    return KN_OK;
}

static kn_status attribute_range(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    const measuring *m = arg;
    (void)worker;
    for (int64_t q = begin; q < end; q++) KN_TRY(attribute_make(&m->attributes[q], m, (int)q, err));
    return KN_OK;
}

/* ---- Cells ---- */

static uint32_t range_ancestor(const attribute *a, uint32_t low, uint32_t high)
{
    const uint32_t *leaf = a->h->leaf_of_code;
    uint32_t        first = leaf[low], last = leaf[high];
    for (uint32_t c = low; !a->ordered && c <= high; c++) {
        if (leaf[c] < first) first = leaf[c];
        if (leaf[c] > last) last = leaf[c];
    }
    return kn_hierarchy_lca_span(a->h, first, last);
}

/* A cell that covers `count` values of the domain. */
static void add_cover(sums *s, uint64_t count, uint64_t rows)
{
    if (count <= 1) return;
    s->lm += (kn_u128)(count - 1) * rows;
    s->ncp += (kn_u128)count * rows;
}

static void add_range(sums *s, const attribute *a, const kn_cell *cell, uint64_t rows)
{
    if (has_spans(a))
        s->span += (kn_u128)span_of(a, cell->a, cell->b) * rows;
    else
        add_cover(s, (uint64_t)cell->b - cell->a + 1, rows);
    if (a->h) s->levels += (kn_u128)a->h->level[range_ancestor(a, cell->a, cell->b)] * rows;
    s->entropy += (kn_u128)log_units(a->below[(size_t)cell->b + 1] - a->below[cell->a]) * rows;
}

/* A missing cell is a member like others, but no value of the domain. */
static void add_set(sums *s, const attribute *a, const kn_plan *plan, const kn_cell *cell, uint64_t rows)
{
    if (cell->b == 0) return;
    const uint32_t *members = plan->members + cell->a;
    uint32_t        count = cell->b;
    int64_t         covered = 0;
    for (uint32_t i = 0; i < count; i++) covered += a->below[(size_t)members[i] + 1] - a->below[members[i]];
    add_cover(s, count - (members[count - 1] == a->column->dict.count), rows);
    if (a->h) s->levels += (kn_u128)a->h->level[kn_hierarchy_lca_codes(a->h, members, count)] * rows;
    s->entropy += (kn_u128)log_units(covered) * rows;
}

static void add_node(sums *s, const attribute *a, uint32_t node, uint64_t rows)
{
    add_cover(s, kn_hierarchy_cover(a->h, node), rows);
    s->levels += (kn_u128)a->h->level[node] * rows;
    s->entropy += (kn_u128)a->node_logs[node] * rows;
}

static bool root_is_star(const kn_hierarchy *h)
{
    kn_string label = kn_hierarchy_text(h, kn_hierarchy_root(h));
    return label.size == 1 && label.data[0] == '*';
}

/* A "*" in a class is the same to a reader whether it is a root or the lack of anything narrower: it is measured as the
 * root, value → * where there is no hierarchy. That differs from a cell that lost everything where there is one value only. */
static void add_star(sums *s, const attribute *a, uint64_t rows)
{
    if (a->h && root_is_star(a->h)) {
        add_node(s, a, kn_hierarchy_root(a->h), rows);
        return;
    }
    if (!a->h && a->values <= 1)
        s->levels += rows;
    else
        s->whole += rows;
    s->entropy += (kn_u128)a->star_log * rows;
}

static void add_cell(sums *s, const attribute *a, const kn_plan *plan, const kn_cell *cell, uint64_t rows)
{
    switch (cell->kind) {
    case KN_CELL_VALUE: s->entropy += (kn_u128)a->code_logs[cell->a] * rows; break;
    case KN_CELL_NODE: add_node(s, a, cell->a, rows); break;
    case KN_CELL_RANGE: add_range(s, a, cell, rows); break;
    case KN_CELL_SET: add_set(s, a, plan, cell, rows); break;
    default: add_star(s, a, rows); break;
    }
}

static kn_status class_range(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    const measuring *m = arg;
    size_t           quasi = (size_t)m->plan->quasi_count;
    sums            *found = m->found + (size_t)(begin / CLASS_GRAIN) * quasi;
    (void)worker;
    (void)err;
    for (int64_t i = begin; i < end; i++)
        for (size_t q = 0; q < quasi; q++)
            add_cell(&found[q], &m->attributes[q], m->plan, &m->plan->cells[(size_t)i * quasi + q],
                     (uint64_t)m->plan->class_rows[i]);
    return KN_OK;
}

/* Adds up the classes; the result is found[0 .. quasi_count - 1], suppressed rows included. */
static kn_status add_up(measuring *m, kn_error *err)
{
    const kn_plan *plan = m->plan;
    size_t         quasi = (size_t)plan->quasi_count, ranges = plan->classes / CLASS_GRAIN + 1;
    m->found = kn_alloc_array_zero(m->ctx, ranges, (quasi + 1) * sizeof *m->found);
    if (!m->found) return kn_fail_memory(err, m->ctx, "measuring the loss");
    KN_TRY(kn_parallel_for(m->ctx, plan->classes, CLASS_GRAIN, class_range, m, err));
    for (size_t q = 0; q < quasi; q++) {
        sums *all = &m->found[q];
        for (size_t r = 1; r < ranges; r++) {
            const sums *part = &m->found[r * quasi + q];
            all->lm += part->lm;
            all->ncp += part->ncp;
            all->levels += part->levels;
            all->span += part->span;
            all->whole += part->whole;
            all->entropy += part->entropy;
        }
        all->whole += (uint64_t)plan->suppressed;
        all->entropy += (kn_u128)m->attributes[q].star_log * (uint64_t)plan->suppressed;
    }
    return KN_OK;
}

/* ---- Values ---- */

typedef struct means {
    long double lm, ncp, levels, entropy;
} means;

static long double share(kn_u128 sum, uint64_t domain)
{
    return sum == 0 || domain == 0 ? 0 : (long double)sum / (long double)domain;
}

static means means_of(const attribute *a, const sums *s, int64_t rows)
{
    means       r = {0, 0, 0, 0};
    kn_u128     before = 0;
    long double n = (long double)rows;
    if (rows == 0) return r;
    long double spans = share(s->span, a->width);
    r.lm = (share(s->lm, a->values - 1) + spans + (long double)s->whole) / n;
    r.ncp = (share(s->ncp, a->values) + spans + (long double)s->whole) / n;
    r.levels = a->h ? (share(s->levels, a->h->height) + (long double)s->whole) / n : r.lm + share(s->levels, 1) / n;
    for (uint32_t c = 0; c <= a->column->dict.count; c++)
        before += (kn_u128)a->code_logs[c] * (uint64_t)(a->below[(size_t)c + 1] - a->below[c]);
    r.entropy =
        (s->entropy >= before ? (long double)(s->entropy - before) : -(long double)(before - s->entropy)) / LOG_UNIT;
    return r;
}

static void cell_metrics(kn_metrics *out, const measuring *m, const kn_ratio *weights)
{
    long double lm = 0, ncp = 0, levels = 0, entropy = 0, all = 0;
    for (int q = 0; q < m->plan->quasi_count; q++) {
        means       r = means_of(&m->attributes[q], &m->found[q], kn_table_total(m->table));
        long double w = weights ? (long double)weights[q].numerator / (long double)weights[q].denominator : 1;
        out->per_attribute[q] =
            (kn_attribute_loss){(double)r.lm, (double)r.ncp, (double)(1 - r.levels), (double)r.entropy};
        lm += w * r.lm;
        ncp += w * r.ncp;
        levels += w * r.levels;
        entropy += w * r.entropy;
        all += w;
    }
    if (all == 0) all = 1; /* no quasi-identifier: nothing is lost */
    out->value[KN_METRIC_LM] = (double)(lm / all);
    out->value[KN_METRIC_NCP] = (double)(ncp / all);
    out->value[KN_METRIC_PREC] = (double)(1 - levels / all);
    out->value[KN_METRIC_ENTROPY] = (double)entropy;
}

static kn_u128 squares_of(const int64_t *sizes, int64_t count)
{
    kn_u128 sum = 0;
    for (int64_t i = 0; i < count; i++) sum += (kn_u128)(uint64_t)sizes[i] * (uint64_t)sizes[i];
    return sum;
}

static void class_metrics(kn_metrics *out, const measuring *m, int64_t k)
{
    const kn_plan *plan = m->plan;
    kn_u128        squares = squares_of(plan->class_rows, plan->classes);
    int64_t        released = 0;
    for (uint32_t i = 0; i < plan->classes; i++) released += plan->class_rows[i];
    out->value[KN_METRIC_DM] =
        (double)(squares + (kn_u128)(uint64_t)plan->suppressed * (uint64_t)kn_table_total(m->table));
    out->value[KN_METRIC_DM_STAR] = plan->suppressed == 0 ? (double)squares : NAN;
    out->value[KN_METRIC_C_AVG] = INFINITY;
    if (plan->classes > 0)
        out->value[KN_METRIC_C_AVG] =
            (double)((long double)released / ((long double)plan->classes * (long double)(k > 0 ? k : 1)));
}

/* ---- dm_star where rows were suppressed ---- */

static void free_maps(kn_rollup *by, int count)
{
    for (int q = 0; by && q < count; q++) kn_free((void *)by[q].map);
    kn_free(by);
}

/* All classes of the plan's node. */
static kn_status squares_of_node(kn_u128 *out, const measuring *m, const kn_freq *finest, kn_error *err)
{
    const kn_plan *plan = m->plan;
    kn_rollup     *by = kn_alloc_array_zero(m->ctx, (size_t)plan->quasi_count, sizeof *by);
    kn_freq       *classes = NULL;
    kn_status      st = by ? KN_OK : kn_fail_memory(err, m->ctx, "measuring the loss");
    for (int q = 0; st == KN_OK && q < plan->quasi_count; q++) {
        const kn_hierarchy *h = m->attributes[q].h;
        uint32_t           *map = kn_alloc_array(m->ctx, (size_t)h->codes + 1, sizeof *map);
        if (!map) {
            st = kn_fail_memory(err, m->ctx, "measuring the loss");
            break;
        }
        by[q].map = map;
        kn_hierarchy_level_map(h, (uint32_t)plan->levels[q], map, &by[q].distinct, NULL);
    }
    if (st == KN_OK) st = kn_freq_rollup_unsorted(&classes, finest, by, err);
    if (st == KN_OK) *out = squares_of(classes->counts, classes->classes);
    kn_freq_free(classes);
    free_maps(by, plan->quasi_count);
    return st;
}

/* The suppressed rows alone, by their original values. */
static kn_status squares_of_suppressed(kn_u128 *out, const measuring *m, const kn_freq *finest, const int *quasi,
                                       kn_error *err)
{
    enum { CHUNK = 4096 };
    const kn_plan *plan = m->plan;
    int64_t       *sizes = kn_alloc_array_zero(m->ctx, (size_t)finest->classes + 1, sizeof *sizes);
    int64_t       *found = kn_alloc_array(m->ctx, CHUNK, sizeof *found);
    kn_status      st = sizes && found ? KN_OK : kn_fail_memory(err, m->ctx, "measuring the loss");
    for (int64_t begin = 0; st == KN_OK && begin < plan->rows; begin += CHUNK) {
        int64_t n = plan->rows - begin < CHUNK ? plan->rows - begin : CHUNK;
        st = kn_freq_classify(finest, m->table, quasi, begin, n, found, err);
        for (int64_t i = 0; st == KN_OK && i < n; i++)
            if (plan->class_of_row[begin + i] == KN_CLASS_SUPPRESSED)
                sizes[found[i]] += kn_table_weight(m->table, begin + i);
    }
    if (st == KN_OK) *out = squares_of(plan->class_rows, plan->classes) + squares_of(sizes, finest->classes);
    KN_FREE(sizes, found);
    return st;
}

static kn_status star_metric(kn_metrics *out, const measuring *m, const int *quasi, bool rows_known, kn_error *err)
{
    const kn_plan *plan = m->plan;
    if (plan->suppressed == 0 || plan->quasi_count == 0 || (plan->level_count == 0 && !rows_known)) return KN_OK;
    kn_freq  *finest = NULL;
    kn_u128   squares = 0;
    kn_status st = kn_freq_of_table(&finest, m->ctx, m->table, quasi, plan->quasi_count, err);
    if (st != KN_OK) return st;
    if (plan->level_count > 0)
        st = squares_of_node(&squares, m, finest, err);
    else
        st = squares_of_suppressed(&squares, m, finest, quasi, err);
    if (st == KN_OK) out->value[KN_METRIC_DM_STAR] = (double)squares;
    kn_freq_free(finest);
    return st;
}

/* ---- All of them ---- */

void kn_metrics_free(kn_metrics *metrics)
{
    if (!metrics) return;
    KN_FREE(metrics->per_attribute, metrics);
}

static bool weightless(const kn_ratio *weights, int count)
{
    if (!weights || count == 0) return false;
    for (int q = 0; q < count; q++)
        if (weights[q].numerator > 0) return false;
    return true;
}

static kn_status measure(kn_metrics *out, measuring *m, const int *quasi, const kn_ratio *weights, int64_t k,
                         bool rows_known, kn_error *err)
{
    KN_TRY(kn_marginals_make(&m->marginals, m->ctx, m->table, quasi, m->plan->quasi_count, err));
    kn_status st = kn_parallel_for(m->ctx, m->plan->quasi_count, 1, attribute_range, m, err);
    kn_marginals_free(m->marginals);
    KN_TRY(st);
    KN_TRY(add_up(m, err));
    cell_metrics(out, m, weights);
    class_metrics(out, m, k);
    return star_metric(out, m, quasi, rows_known, err);
}

static kn_status measure_plan(kn_metrics **out, kn_context *ctx, const kn_table *table, const int *quasi,
                              const kn_hierarchy *const *hierarchies, const kn_ratio *weights, const kn_plan *plan,
                              int64_t k, bool rows_known, kn_error *err)
{
    size_t count = (size_t)plan->quasi_count;
    if (weightless(weights, plan->quasi_count))
        return kn_fail(err, KN_USAGE, "the weights of all quasi-identifiers are 0");
    measuring   m = {ctx, table, plan, kn_alloc_array_zero(ctx, count + 1, sizeof *m.attributes), NULL, NULL};
    kn_metrics *metrics = kn_alloc_zero(ctx, sizeof *metrics);
    if (metrics) metrics->per_attribute = kn_alloc_array_zero(ctx, count + 1, sizeof *metrics->per_attribute);
    kn_status st = KN_OK;
    if (!m.attributes || !metrics || !metrics->per_attribute) st = kn_fail_memory(err, ctx, "measuring the loss");
    for (size_t q = 0; st == KN_OK && q < count; q++) {
        m.attributes[q].column = &table->columns[quasi[q]];
        m.attributes[q].h = hierarchies ? hierarchies[q] : NULL;
    }
    if (st == KN_OK) {
        metrics->quasi_count = plan->quasi_count;
        st = measure(metrics, &m, quasi, weights, k, rows_known, err);
    }
    for (size_t q = 0; m.attributes && q < count; q++) attribute_free(&m.attributes[q]);
    KN_FREE(m.attributes, m.found);
    if (st != KN_OK)
        kn_metrics_free(metrics);
    else
        *out = metrics;
    return st;
}

kn_status kn_metrics_of_plan(kn_metrics **out, kn_context *ctx, const kn_table *table, const int *quasi,
                             const kn_hierarchy *const *hierarchies, const kn_ratio *weights, const kn_plan *plan,
                             int64_t k, kn_error *err)
{
    return measure_plan(out, ctx, table, quasi, hierarchies, weights, plan, k, true, err);
}

kn_status kn_metrics_of_release(kn_metrics **out, kn_context *ctx, const kn_table *table, const int *quasi,
                                const kn_hierarchy *const *hierarchies, const kn_ratio *weights, const kn_plan *plan,
                                int64_t k, kn_error *err)
{
    return measure_plan(out, ctx, table, quasi, hierarchies, weights, plan, k, false, err);
}
