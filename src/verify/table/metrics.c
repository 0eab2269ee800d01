/* table/metrics.c: what the release lost, derived from both files. docs/metrics.md says what the figures mean.
 *
 * Each distinct text of a quasi-identifier gets its cost once, times the rows that show it; suppressed rows cost
 * everything. If a label is on several levels, the level is the one that fits all cells of the column (levels.c);
 * without such a level it is derived from the originals that are shown as that label, and if a choice that matters
 * remains the figure is NAN. Logarithms are rounded to 2^-52 and added as integers, so that unchanged cells lose
 * exactly nothing.
 *
 * Cost: O(rows + texts + nodes) per column; dm_star groups the original once more where rows were suppressed.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <stdatomic.h>

#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_parallel.h"
#include "kn_verify_internal.h"

#define WHAT "verifying"

enum { GRAIN = 1 << 16, FEW_TEXTS = 1024 };

#define LOG_UNIT 0x1p52L

/* One quasi-identifier. */
typedef struct column {
    const kn_vquasi *q;
    int64_t         *value_rows; /* per value and, at the end, missing: rows of the original */
    int64_t         *node_rows;
    uint32_t        *node_of_label; /* per label, at the level that fits; KN_V_NONE          */
    int64_t         *text_rows;     /* per text: rows of the release that are not suppressed */
    long double      lm, ncp, levels;
    kn_i128          logs;
    uint32_t        *first_node; /* per label, and the next one per node                       */
    uint32_t        *next_node;
    kn_arena         room;
    bool             unreadable;
    bool             unclear_cover, unclear_level; /* a label may be read in more than one way */
} column;

static kn_i128 log_units(int64_t rows)
{
    return rows > 1 ? (kn_i128)roundl(log2l((long double)rows) * LOG_UNIT) : 0;
}

/* ---- Labels ---- */

/* The node of a label: at the level that fits, or the lowest one. */
static void place_labels(column *c)
{
    const kn_vtree *t = c->q->tree;
    for (uint32_t node = t->nodes; node-- > 0;) {
        uint32_t *at = &c->node_of_label[t->label[node]];
        if (*at == KN_V_NONE || t->level[node] <= t->level[*at]) *at = node;
    }
    for (uint32_t leaf = 0; c->q->level >= 0 && leaf < t->leaves; leaf++) {
        uint32_t node = t->paths[(size_t)leaf * (t->height + 1) + (size_t)c->q->level];
        c->node_of_label[t->label[node]] = node;
    }
}

/* The node of a text if the column was not generalized to one level: the lowest with the label that covers all
 * originals shown as it; a choice between several is recorded. */
static uint32_t read_label(column *c, uint32_t text)
{
    const kn_vquasi *q = c->q;
    const kn_vtree  *t = q->tree;
    uint32_t         label = q->cells[text].label, best = KN_V_NONE;
    for (uint32_t node = c->first_node[label]; node != KN_V_NONE; node = c->next_node[node]) {
        uint32_t level = t->level[node];
        if (q->text_levels && !(q->text_levels[4 * (size_t)text + level / 64] >> level % 64 & 1)) continue;
        if (best == KN_V_NONE) {
            best = node;
            continue;
        }
        c->unclear_level = true;
        if (t->cover[node] != t->cover[best] || c->node_rows[node] != c->node_rows[best]) c->unclear_cover = true;
    }
    return best == KN_V_NONE ? c->node_of_label[label] : best;
}

/* Lists the nodes of each label, the lowest first. */
static void list_nodes(column *c)
{
    const kn_vtree *t = c->q->tree;
    for (uint32_t level = t->height + 1; level-- > 0;)
        for (uint32_t node = t->nodes; node-- > 0;) {
            if (t->level[node] != level) continue;
            c->next_node[node] = c->first_node[t->label[node]];
            c->first_node[t->label[node]] = node;
        }
}

/* ---- Cells ---- */

static uint32_t ancestor_of_all(const kn_vtree *t, uint32_t a, uint32_t b)
{
    while (a != b) {
        if (t->level[a] <= t->level[b] && t->parent[a] != KN_V_NONE)
            a = t->parent[a];
        else
            b = t->parent[b];
    }
    return a;
}

static void add_cover(column *c, uint64_t covered, uint64_t domain, int64_t rows)
{
    if (covered <= 1) return;
    if (domain > 1) c->lm += (long double)(covered - 1) / (long double)(domain - 1) * (long double)rows;
    c->ncp += (long double)covered / (long double)domain * (long double)rows;
}

static void add_node(column *c, uint32_t node, int64_t rows)
{
    const kn_vtree *t = c->q->tree;
    int64_t         under = c->node_rows[node];
    if (t->parent[node] == KN_V_NONE) under += c->value_rows[c->q->domain.count];
    add_cover(c, t->cover[node], t->leaves, rows);
    c->levels += (long double)t->level[node] / (long double)t->height * (long double)rows;
    c->logs += log_units(under) * rows;
}

static void add_star(column *c, int64_t all, int64_t rows)
{
    c->lm += (long double)rows;
    c->ncp += (long double)rows;
    c->levels += (long double)rows;
    c->logs += log_units(all) * rows;
}

/* Values one by one: of a range or a set. */
static void add_values(column *c, const kn_vcell *cell, int64_t rows)
{
    const kn_vquasi *q = c->q;
    const kn_vtree  *t = q->tree;
    bool             set = cell->kind == KN_VCELL_SET;
    uint32_t         node = KN_V_NONE;
    int64_t          under = cell->missing ? c->value_rows[q->domain.count] : 0;
    long double      before = c->lm;
    for (uint32_t i = cell->first; i < cell->last; i++) {
        uint32_t value = set ? q->members[i] : i, leaf = t->leaf_of_value[value];
        under += c->value_rows[value];
        node = node == KN_V_NONE ? leaf : ancestor_of_all(t, node, leaf);
    }
    if (!q->attribute->has_hierarchy && !set) {
        c->lm += (long double)cell->width * (long double)rows;
        c->ncp += (long double)cell->width * (long double)rows;
    } else {
        add_cover(c, cell->last - cell->first + cell->others, q->attribute->has_hierarchy ? t->leaves : q->domain.count,
                  rows);
    }
    if (!q->attribute->has_hierarchy)
        c->levels += c->lm - before;
    else if (cell->missing)
        c->levels += (long double)rows;
    else if (node != KN_V_NONE)
        c->levels += (long double)t->level[node] / (long double)t->height * (long double)rows;
    c->logs += log_units(under) * rows;
}

static void add_text(column *c, uint32_t text, int64_t all)
{
    const kn_vquasi *q = c->q;
    const kn_vtree  *t = q->tree;
    const kn_vcell  *cell = &q->cells[text];
    int64_t          rows = c->text_rows[text];
    uint32_t         root = t->leaves ? t->paths[t->height] : KN_V_NONE;
    if (rows == 0) return;
    switch (cell->kind) {
    case KN_VCELL_MISSING: c->logs += log_units(c->value_rows[q->domain.count]) * rows; break;
    case KN_VCELL_STAR:
        /* A mask may end in "*" below the root. Where all cells are missing there is no value to lose. */
        if (t->leaves == 0) {
            c->levels += (long double)rows;
            c->logs += log_units(all) * rows;
        } else if (root == KN_V_NONE || cell->label == KN_V_NONE || t->label[root] != cell->label)
            add_star(c, all, rows);
        else
            add_node(c, q->level >= 0 ? c->node_of_label[cell->label] : read_label(c, text), rows);
        break;
    case KN_VCELL_NAMED:
        if (cell->label == KN_V_NONE)
            add_node(c, t->leaf_of_value[cell->value], rows);
        else
            add_node(c, q->level >= 0 ? c->node_of_label[cell->label] : read_label(c, text), rows);
        break;
    case KN_VCELL_RANGE:
    case KN_VCELL_SET: add_values(c, cell, rows); break;
    case KN_VCELL_UNKNOWN: c->unreadable = true; break;
    }
}

/* ---- A column ---- */

/* The texts of the original's rows are counted by all threads, those of the release class by class. */
typedef struct tally {
    const kn_verifier *v;
    const kn_vcolumn  *column;
    _Atomic int64_t   *rows; /* per text */
} tally;

static kn_status tally_range(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    (void)worker, (void)err;
    const tally       *t = arg;
    const kn_verifier *v = t->v;
    int64_t            few[FEW_TEXTS] = {0};
    bool               direct = t->column->count > FEW_TEXTS;
    for (int64_t row = begin; row < end; row++) {
        if (v->dropped && v->dropped[row]) continue;
        uint32_t text = kn_vcode(t->column, row);
        int64_t  rows = kn_vcount(v->original, row);
        if (direct)
            atomic_fetch_add_explicit(&t->rows[text], rows, memory_order_relaxed);
        else
            few[text] += rows;
    }
    for (uint32_t text = 0; !direct && text < t->column->count; text++)
        if (few[text]) atomic_fetch_add_explicit(&t->rows[text], few[text], memory_order_relaxed);
    return KN_OK;
}

static kn_status count_rows(const kn_verifier *v, column *c, kn_error *err)
{
    const kn_vquasi *q = c->q;
    tally            t = {.v = v, .column = q->original};
    t.rows = kn_alloc_array_zero(v->ctx, (size_t)q->original->count + 1, sizeof *t.rows);
    c->value_rows = kn_arena_array_zero(&c->room, (size_t)q->domain.count + 1, sizeof *c->value_rows);
    c->text_rows = kn_arena_array_zero(&c->room, (size_t)q->release->count + 1, sizeof *c->text_rows);
    kn_status st = t.rows && !c->room.failed ? kn_parallel_for(v->ctx, v->original->rows, GRAIN, tally_range, &t, err)
                                             : kn_fail_memory(err, v->ctx, WHAT);
    for (uint32_t text = 0; st == KN_OK && text < q->original->count; text++) {
        uint32_t value = q->domain.of_original[text];
        int64_t  elsewhere = q->original->rows ? q->original->rows[text] : 0;
        if (t.rows[text] + elsewhere > 0) /* a text of dropped rows alone may have no value */
            c->value_rows[value == KN_V_MISSING ? q->domain.count : value] += t.rows[text] + elsewhere;
    }
    for (uint32_t k = 0; st == KN_OK && k < v->classes.count; k++)
        c->text_rows[kn_vcode(q->release, v->classes.first[k])] += v->shown[k];
    kn_free(t.rows);
    return st;
}

static kn_status measure_column(const kn_verifier *v, column *c, kn_error *err)
{
    const kn_vquasi *q = c->q;
    c->node_rows = kn_arena_array_zero(&c->room, (size_t)q->tree->nodes + 1, sizeof *c->node_rows);
    c->node_of_label = kn_varray_none(&c->room, (size_t)q->tree->labels.count + 1);
    c->first_node = kn_varray_none(&c->room, (size_t)q->tree->labels.count + 1);
    c->next_node = kn_arena_array(&c->room, (size_t)q->tree->nodes + 1, sizeof *c->next_node);
    if (c->room.failed) return kn_fail_memory(err, v->ctx, WHAT);
    for (uint32_t value = 0; value < q->domain.count; value++)
        for (uint32_t node = q->tree->leaf_of_value[value]; node != KN_V_NONE; node = q->tree->parent[node])
            c->node_rows[node] += c->value_rows[value];
    place_labels(c);
    if (q->level < 0) list_nodes(c);
    for (uint32_t text = 0; text < q->release->count; text++) add_text(c, text, v->originals);
    add_star(c, v->originals, v->suppressed);
    for (uint32_t value = 0; value <= q->domain.count; value++)
        c->logs -= log_units(c->value_rows[value]) * c->value_rows[value];
    return KN_OK;
}

/* ---- All of them ---- */

int64_t kn_v_requested_k(const kn_spec *spec)
{
    int64_t k = 1;
    for (int i = 0; i < spec->model_count; i++) {
        const kn_model *m = &spec->models[i];
        int64_t         here = 0;
        if (m->kind == KN_MODEL_K || m->kind == KN_MODEL_ALPHA_K) here = m->k;
        if (m->kind == KN_MODEL_MAX_RISK && m->bound.numerator > 0)
            here =
                (int64_t)(m->bound.denominator / m->bound.numerator + (m->bound.denominator % m->bound.numerator != 0));
        if (here > k) k = here;
    }
    return k;
}

static void class_metrics(const kn_verifier *v, double *metrics)
{
    kn_u128 squares = 0;
    int64_t shown = 0;
    for (uint32_t c = 0; c < v->classes.count; c++) {
        squares += (kn_u128)v->shown[c] * (kn_u128)v->shown[c];
        shown += v->shown[c];
    }
    metrics[KN_METRIC_DM] = (double)(squares + (kn_u128)v->suppressed * (kn_u128)v->originals);
    metrics[KN_METRIC_DM_STAR] = v->suppressed == 0 ? (double)squares : NAN;
    metrics[KN_METRIC_C_AVG] = INFINITY;
    if (v->class_count > 0)
        metrics[KN_METRIC_C_AVG] =
            (double)((long double)shown / ((long double)v->class_count * (long double)kn_v_requested_k(v->spec)));
}

/* Per text of the original: its value, or (`node`) the node that stands for it at the column's level. */
static uint32_t *parts_of(kn_arena *room, const kn_vquasi *q, bool node)
{
    const kn_vtree *t = q->tree;
    uint32_t       *parts = kn_arena_array(room, (size_t)q->original->count + 1, sizeof *parts);
    for (uint32_t text = 0; parts && text < q->original->count; text++) {
        uint32_t value = q->domain.of_original[text];
        bool     top = node && q->level == (int)t->height;
        parts[text] = top ? 0 : value;
        if (node && !top && value < KN_V_MISSING)
            parts[text] = t->paths[(size_t)t->leaf_of_value[value] * (t->height + 1) + (size_t)q->level];
    }
    return parts;
}

/* dm_star: the classes of the suppressed rows if they were not. With a level per column all classes of that node;
 * otherwise the suppressed rows by their own values. */
static kn_status star_metric(const kn_verifier *v, double *out, kn_error *err)
{
    bool       node = true;
    kn_arena   room = {.ctx = v->ctx};
    kn_vgroups g = {0};
    for (int i = 0; i < v->quasi_count; i++) node = node && v->quasi[i].level >= 0;
    if (!node && !v->map_ok) return KN_OK;
    kn_vkey *keys = kn_arena_array_zero(&room, (size_t)v->quasi_count + 1, sizeof *keys);
    bool    *omit = node ? v->dropped : kn_arena_array_zero(&room, (size_t)v->original->rows + 1, sizeof *omit);
    for (int64_t row = 0; omit && !node && v->dropped && row < v->original->rows; row++) omit[row] = v->dropped[row];
    for (int64_t row = 0; omit && !node && row < v->release->rows; row++) /* shown: the row map says which */
        if (!v->starred[row]) omit[kn_vmapped(v, row)] = true;
    if (keys) keys[0].omit = omit;
    for (int i = 0; i < v->quasi_count && !room.failed; i++) {
        const kn_vquasi *q = &v->quasi[i];
        keys[i + 1] = (kn_vkey){.column = q->original, .translate = parts_of(&room, q, node)};
    }
    kn_status st = room.failed ? kn_fail_memory(err, v->ctx, WHAT)
                               : kn_vgroup_sizes(&g, v->ctx, v->original->rows, v->original->counts, keys,
                                                 v->quasi_count + 1, err);
    kn_u128   squares = 0;
    for (uint32_t c = 0; st == KN_OK && c < g.count; c++) squares += (kn_u128)g.rows[c] * (kn_u128)g.rows[c];
    for (uint32_t c = 0; !node && c < v->classes.count; c++) squares += (kn_u128)v->shown[c] * (kn_u128)v->shown[c];
    if (st == KN_OK) *out = (double)squares;
    kn_vgroups_free(&g);
    kn_arena_free(&room);
    return st;
}

static void add_up(const kn_verifier *v, const column *columns, double *metrics)
{
    long double lm = 0, ncp = 0, levels = 0, logs = 0, weights = 0, rows = (long double)v->originals;
    bool        unreadable = false, cover = false, level = false;
    for (int i = 0; i < v->quasi_count; i++) {
        const column *c = &columns[i];
        kn_ratio      r = c->q->attribute->weight;
        long double   w = r.denominator ? (long double)r.numerator / (long double)r.denominator : 1;
        unreadable = unreadable || c->unreadable;
        cover = cover || c->unclear_cover;
        level = level || c->unclear_level;
        lm += w * c->lm;
        ncp += w * c->ncp;
        levels += w * c->levels;
        logs += w * (long double)c->logs / LOG_UNIT;
        weights += w;
    }
    if (weights == 0) weights = 1;
    if (rows == 0) rows = 1;
    metrics[KN_METRIC_LM] = unreadable || cover ? NAN : (double)(lm / (rows * weights));
    metrics[KN_METRIC_NCP] = unreadable || cover ? NAN : (double)(ncp / (rows * weights));
    metrics[KN_METRIC_PREC] = unreadable || level ? NAN : (double)(1 - levels / (rows * weights));
    metrics[KN_METRIC_ENTROPY] = unreadable || cover ? NAN : (double)logs;
}

typedef struct measuring {
    kn_verifier *v;
    column      *columns;
} measuring;

static kn_status measure_range(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    (void)worker;
    const measuring *m = arg;
    for (int64_t i = begin; i < end; i++) KN_TRY(measure_column(m->v, &m->columns[i], err));
    return KN_OK;
}

kn_status kn_verify_metrics(kn_verifier *v, kn_error *err)
{
    double *metrics = v->report->metrics;
    if (kn_vtotal(v->release) > v->originals) return KN_OK; /* of another original: nothing is a share of its rows */
    column   *columns = kn_alloc_array_zero(v->ctx, (size_t)v->quasi_count + 1, sizeof *columns);
    measuring m = {v, columns};
    kn_status st = columns ? KN_OK : kn_fail_memory(err, v->ctx, WHAT);
    for (int i = 0; columns && i < v->quasi_count; i++)
        columns[i] = (column){.q = &v->quasi[i], .room = {.ctx = v->ctx}};
    for (int i = 0; st == KN_OK && i < v->quasi_count; i++) st = count_rows(v, &columns[i], err);
    if (st == KN_OK) st = kn_parallel_for(v->ctx, v->quasi_count, 1, measure_range, &m, err);
    if (st == KN_OK) {
        add_up(v, columns, metrics);
        class_metrics(v, metrics);
        if (v->suppressed > 0 && v->where && v->where->coded)
            metrics[KN_METRIC_DM_STAR] = v->where->squares;
        else if (v->suppressed > 0)
            st = star_metric(v, &metrics[KN_METRIC_DM_STAR], err);
    }
    for (int i = 0; columns && i < v->quasi_count; i++) kn_arena_free(&columns[i].room);
    kn_free(columns);
    return st;
}
