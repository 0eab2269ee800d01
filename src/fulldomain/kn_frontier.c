/* kn_frontier.c: the Pareto points of k, suppressed rows and loss (kn_frontier.h).
 *
 * Nodes are visited from the top down. Counting a node once gives, for every k, the suppressed rows and the loss.
 * When one attribute is generalized less, no fewer rows are in classes below a given size, so the suppressed rows of
 * a node are a lower bound for the nodes below it. With this bound and a lower bound on the cost of the cells, a node
 * is skipped if no k can put it on the frontier. If k is the only promise, the counter of the optimal search counts
 * (kn_counter.h), otherwise the evaluator.
 *
 * Cost: at most one count per node. Memory: 8 bytes per node and k.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_frontier.h"

#include <stdlib.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_classes.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_fulldomain_methods.h"
#include "kn_lattice.h"
#include "kn_optimal_internal.h"

#define WHAT "searching for the frontier"

enum { BATCH = 32 };

typedef struct point {
    kn_quotient loss;
    double      about; /* the loss */
    int64_t     suppressed, classes, node;
} point;

typedef struct points {
    point  *items;
    int64_t count, room;
} points;

typedef struct frontier {
    kn_context                  *ctx;
    const kn_fulldomain_problem *problem;
    const int64_t               *ks;
    int                          k_count;
    kn_lattice                   lattice;
    kn_counter                  *counter;   /* NULL: not possible */
    kn_evaluator                *evaluator; /* else NULL          */
    kn_classes                  *finest;
    double                      *features;
    kn_u128                    **gaps;  /* per quasi-identifier and level: least cost that suppressing a row adds */
    int64_t                     *least; /* per node and k: least number of suppressed rows                       */
    points                       of[KN_FRONTIER_KS];
    int                         *levels;  /* of a batch */
    kn_size_buckets             *buckets; /* the same   */
    int64_t                      batch[BATCH];
    int                          batch_count;
    int64_t                      counted, rollups, keys;
} frontier;

/* ---- The frontier so far ---- */

/* Negative, 0 or positive; `about` decides if it can. */
static int compare_losses(const point *a, const point *b)
{
    double slack = 1e-9 * (a->about > b->about ? a->about : b->about);
    if (a->about + slack < b->about) return -1;
    if (b->about + slack < a->about) return 1;
    return kn_quotient_compare(a->loss, b->loss);
}

static int height_of(const kn_lattice *l, int64_t node)
{
    int height = 0;
    for (int q = 0; q < l->quasi_count; q++) height += kn_lattice_level(l, node, q);
    return height;
}

/* Is `a`, with a k at least as large, at least as good as b and, if equal, the better node? */
static bool covers(const frontier *f, const point *a, const point *b, bool larger_k)
{
    if (a->suppressed > b->suppressed) return false;
    int order = compare_losses(a, b);
    if (order != 0 || larger_k || a->suppressed < b->suppressed) return order <= 0;
    int heights[2] = {height_of(&f->lattice, a->node), height_of(&f->lattice, b->node)};
    return heights[0] != heights[1] ? heights[0] < heights[1] : a->node <= b->node;
}

static bool is_covered(const frontier *f, const point *p, int j)
{
    for (int i = j; i < f->k_count; i++)
        for (int64_t n = 0; n < f->of[i].count; n++)
            if (covers(f, &f->of[i].items[n], p, i > j)) return true;
    return false;
}

static kn_status add(frontier *f, const point *p, int j, kn_error *err)
{
    if (is_covered(f, p, j)) return KN_OK;
    for (int i = 0; i <= j; i++) {
        points *of = &f->of[i];
        int64_t left = 0;
        for (int64_t n = 0; n < of->count; n++)
            if (!covers(f, p, &of->items[n], i < j)) of->items[left++] = of->items[n];
        of->count = left;
    }
    points *of = &f->of[j];
    if (of->count == of->room) {
        int64_t room = of->room > 0 ? 2 * of->room : 16;
        point  *items = kn_realloc_array(f->ctx, of->items, (size_t)room, sizeof *items);
        if (!items) return kn_fail_memory(err, f->ctx, WHAT);
        of->items = items;
        of->room = room;
    }
    of->items[of->count++] = *p;
    return KN_OK;
}

/* ---- Bounds ---- */

static kn_status make_gaps(frontier *f, kn_error *err)
{
    const kn_objective *o = f->problem->objective;
    if (!o->cells) return KN_OK;
    f->gaps = kn_alloc_array_zero(f->ctx, (size_t)f->lattice.quasi_count, sizeof *f->gaps);
    for (int q = 0; f->gaps && q < f->lattice.quasi_count; q++) {
        size_t codes = (size_t)o->codes[q] + 1;
        f->gaps[q] = kn_alloc_array_zero(f->ctx, (size_t)f->lattice.heights[q] + 1, sizeof **f->gaps);
        if (!f->gaps[q]) return kn_fail_memory(err, f->ctx, WHAT);
        for (int l = 0; l <= f->lattice.heights[q]; l++) {
            uint64_t most = 0;
            for (size_t c = 0; c < codes; c++)
                if (o->costs[q][(size_t)l * codes + c] > most) most = o->costs[q][(size_t)l * codes + c];
            f->gaps[q][l] = o->star[q] > most ? o->star[q] - most : 0;
        }
    }
    return f->gaps ? KN_OK : kn_fail_memory(err, f->ctx, WHAT);
}

/* Can the node be on the frontier with some k? `least`: the least number of rows that each k suppresses. */
static bool promising(const frontier *f, const int *levels, int64_t node, const int64_t *least)
{
    const kn_objective *o = f->problem->objective;
    kn_node_sums        sums = {0};
    kn_u128             cells = 0, gap = 0;
    for (int q = 0; o->cells && q < f->lattice.quasi_count; q++) gap += f->gaps[q][levels[q]];
    if (o->cells) cells = kn_objective_cells_of_node(o, levels);
    for (int j = 0; j < f->k_count; j++) {
        if (least[j] > f->problem->budget) return false; /* and so do all larger ones */
        if (!o->cells) return true;
        point   p = {.suppressed = least[j], .node = node};
        kn_u128 star = 0;
        for (int q = 0; q < f->lattice.quasi_count; q++) star += o->star[q];
        /* At least so many rows are suppressed, and each adds at least the gap. */
        sums.suppressed = least[j];
        sums.rows = o->rows - least[j];
        sums.cells = cells + gap * (kn_u128)least[j] - star * (kn_u128)least[j];
        p.loss = kn_objective_loss(o, &sums);
        p.about = kn_quotient_double(p.loss);
        p.node = -1; /* among equal points it may be the better node */
        if (!is_covered(f, &p, j)) return true;
    }
    return false;
}

/* ---- Counting ---- */

typedef struct bucketing {
    const frontier         *f;
    kn_size_buckets        *to;    /* k_count + 1; the last: rows that no k suppresses */
    int64_t                *sizes; /* per k: rows of classes below it                       */
    kn_requirements_scratch scratch;
} bucketing;

static void put_class(void *arg, const kn_class_view *view, int64_t unit, int64_t rows, kn_u128 cost)
{
    (void)unit;
    bucketing             *b = arg;
    const kn_requirements *r = b->f->problem->requirements;
    int                    j = 0;
    while (j < b->f->k_count && view->persons >= b->f->ks[j]) j++;
    if (j < b->f->k_count) b->sizes[j] += rows;
    for (int m = 0; m < r->model_count && j > 0; m++)
        if (r->models[m].kind != KN_MODEL_K && !kn_requirements_holds_one(r, m, view, &b->scratch)) j = 0;
    b->to[j].rows += rows;
    b->to[j].classes++;
    b->to[j].squares += (kn_u128)rows * (kn_u128)rows;
    b->to[j].cost += cost * (kn_u128)rows;
}

/* Sets `least` to the rows that sizes alone suppress. */
static kn_status bucket_one(frontier *f, const int *levels, kn_size_buckets *to, int64_t *least, kn_error *err)
{
    bucketing   b = {.f = f, .to = to, .sizes = least};
    kn_classes *set = NULL;
    memset(least, 0, (size_t)f->k_count * sizeof *least);
    KN_TRY(kn_requirements_scratch_make(&b.scratch, f->problem->requirements, err));
    kn_status st = kn_classes_rollup(&set, f->evaluator, f->finest, levels, err);
    if (st == KN_OK) st = kn_classes_each(f->evaluator, set, put_class, &b, err);
    for (int j = 1; j < f->k_count; j++) least[j] += least[j - 1];
    kn_classes_free(set);
    kn_requirements_scratch_free(&b.scratch);
    return st;
}

static kn_status count_batch(frontier *f, kn_error *err)
{
    int    quasi = f->lattice.quasi_count;
    size_t width = (size_t)f->k_count + 1;
    memset(f->buckets, 0, (size_t)f->batch_count * width * sizeof *f->buckets);
    if (!f->counter) {
        for (int i = 0; i < f->batch_count; i++)
            KN_TRY(bucket_one(f, f->levels + i * quasi, f->buckets + (size_t)i * width,
                              f->least + f->batch[i] * f->k_count, err));
        return KN_OK;
    }
    kn_counter_job jobs[BATCH];
    for (int i = 0; i < f->batch_count; i++)
        jobs[i] = (kn_counter_job){.levels = f->levels + i * quasi,
                                   .ks = f->ks,
                                   .k_count = f->k_count,
                                   .buckets = f->buckets + (size_t)i * width};
    KN_TRY(kn_counter_run_from_best(f->counter, jobs, f->batch_count, &f->rollups, &f->keys, err));
    for (int i = 0; i < f->batch_count; i++) {
        int64_t *least = f->least + f->batch[i] * f->k_count, rows = 0;
        for (int j = 0; j < f->k_count; j++) least[j] = rows += f->buckets[(size_t)i * width + (size_t)j].rows;
    }
    return KN_OK;
}

/* Adds the points of a counted node. */
static kn_status offer(frontier *f, int i, kn_error *err)
{
    const kn_size_buckets *b = f->buckets + (size_t)i * ((size_t)f->k_count + 1);
    kn_objective           o = *f->problem->objective;
    kn_node_sums           sums = {.rows = kn_table_total(f->problem->table)};
    for (int j = 0; j <= f->k_count; j++) {
        sums.classes += b[j].classes;
        sums.squares += b[j].squares;
    }
    if (o.cells) sums.cells = kn_objective_cells_of_node(&o, f->levels + i * f->lattice.quasi_count);
    for (int j = 0; j < f->k_count; j++) {
        sums.rows -= b[j].rows;
        sums.suppressed += b[j].rows;
        sums.classes -= b[j].classes;
        sums.squares -= b[j].squares;
        sums.suppressed_squares += b[j].squares;
        sums.cells -= b[j].cost;
        if (sums.suppressed > f->problem->budget || sums.rows == 0) return KN_OK;
        o.k = f->ks[j];
        point p = {.loss = kn_objective_loss(&o, &sums),
                   .suppressed = sums.suppressed,
                   .classes = sums.classes,
                   .node = f->batch[i]};
        p.about = kn_quotient_double(p.loss);
        KN_TRY(add(f, &p, j, err));
    }
    return KN_OK;
}

static kn_status run_batch(frontier *f, kn_error *err)
{
    if (f->batch_count == 0) return KN_OK;
    if (kn_cancelled(f->ctx)) return kn_fail_cancelled(err);
    KN_TRY(count_batch(f, err));
    for (int i = 0; i < f->batch_count; i++) KN_TRY(offer(f, i, err));
    f->counted += f->batch_count;
    kn_progress_add(f->ctx, f->batch_count);
    f->batch_count = 0;
    return KN_OK;
}

/* ---- From the top down ---- */

static void inherit(frontier *f, int64_t node)
{
    int64_t *least = f->least + node * f->k_count;
    memset(least, 0, (size_t)f->k_count * sizeof *least);
    for (int q = 0; q < f->lattice.quasi_count; q++) {
        int64_t above = kn_lattice_up(&f->lattice, node, q);
        if (above < 0) continue;
        for (int j = 0; j < f->k_count; j++)
            if (f->least[above * f->k_count + j] > least[j]) least[j] = f->least[above * f->k_count + j];
    }
}

static kn_status walk(frontier *f, const int64_t *starts, const uint32_t *nodes, kn_error *err)
{
    int quasi = f->lattice.quasi_count;
    for (int h = f->lattice.height; h >= 0; h--) {
        for (int64_t i = starts[h]; i < starts[h + 1]; i++) {
            int levels[64];
            kn_lattice_levels(&f->lattice, nodes[i], levels);
            inherit(f, nodes[i]);
            if (!promising(f, levels, nodes[i], f->least + (int64_t)nodes[i] * f->k_count)) continue;
            memcpy(f->levels + f->batch_count * quasi, levels, (size_t)quasi * sizeof *levels);
            f->batch[f->batch_count++] = nodes[i];
            if (f->batch_count == BATCH) KN_TRY(run_batch(f, err));
        }
        KN_TRY(run_batch(f, err));
    }
    return KN_OK;
}

/* ---- All of it ---- */

static kn_status check(const kn_fulldomain_problem *p, kn_error *err)
{
    const kn_requirements *r = p->requirements;
    if (r->has_average)
        return kn_fail(err, KN_USAGE,
                       "average-risk is a promise about all classes together, which has no frontier; "
                       "promise max-risk, or leave it out");
    if (r->linked)
        return kn_fail(err, KN_USAGE,
                       "the released columns show which rows are one person's, and a frontier is one of "
                       "rows; leave out the column that links them");
    if (r->absent_fails)
        return kn_fail(err, KN_USAGE, "delta-presence with min above 0 leaves nothing to suppress; leave min out");
    if (p->suppressed == KN_SUPPRESSED_KEEP_SENSITIVE && p->budget > 0)
        return kn_fail(err, KN_USAGE,
                       "suppressed: keep-sensitive makes the suppressed rows a class of their own, which has "
                       "no frontier; take star or drop");
    return KN_OK;
}

static kn_status prepare(frontier *f, kn_error *err)
{
    const kn_fulldomain_problem *p = f->problem;
    size_t                       quasi = (size_t)p->quasi_count, levels = 0;
    int                         *heights = kn_alloc_array(f->ctx, quasi, sizeof *heights);
    if (!heights) return kn_fail_memory(err, f->ctx, WHAT);
    for (int q = 0; q < p->quasi_count; q++) {
        heights[q] = kn_hierarchy_levels(p->hierarchies[q]) - 1;
        levels += (size_t)heights[q] + 1;
    }
    kn_status st = kn_lattice_make(&f->lattice, f->ctx, heights, p->quasi_count, err);
    kn_free(heights);
    if (st != KN_OK) return st;
    if (quasi > 64 || f->lattice.count < 0 || f->lattice.count > KN_FRONTIER_NODES)
        return kn_fail(err, KN_USAGE,
                       "there are %.0f choices of levels, more than the %d that a frontier is made of; bound "
                       "them by min-level and max-level",
                       f->lattice.nodes, KN_FRONTIER_NODES);
    f->least = kn_alloc_array(f->ctx, (size_t)f->lattice.count * (size_t)f->k_count, sizeof *f->least);
    f->levels = kn_alloc_array(f->ctx, BATCH * quasi, sizeof *f->levels);
    f->buckets = kn_alloc_array(f->ctx, BATCH * ((size_t)f->k_count + 1), sizeof *f->buckets);
    f->features = kn_alloc_array(f->ctx, levels, sizeof *f->features);
    if (!f->least || !f->levels || !f->buckets || !f->features) return kn_fail_memory(err, f->ctx, WHAT);
    KN_TRY(make_gaps(f, err));
    const kn_requirements *r = p->requirements;
    bool                   sizes = r->k_only && r->entity < 0 && kn_counter_possible(p);
    for (int m = 0; m < r->model_count; m++) sizes = sizes && r->models[m].kind == KN_MODEL_K;
    if (sizes) {
        kn_counter_options options = {.features = f->features};
        KN_TRY(kn_guess_features(f->features, f->ctx, p, err));
        return kn_counter_make(&f->counter, f->ctx, p, &options, err);
    }
    int zero[64] = {0};
    KN_TRY(kn_evaluator_make(&f->evaluator, f->ctx, p, err));
    return kn_classes_scan_sorted(&f->finest, f->evaluator, KN_ALL_ATTRIBUTES, zero, err);
}

static int compare_points(const void *a, const void *b)
{
    const point *x = a, *y = b;
    if (x->suppressed != y->suppressed) return x->suppressed < y->suppressed ? -1 : 1;
    return kn_quotient_compare(x->loss, y->loss);
}

static kn_status take(kn_frontier_result *r, frontier *f, const int *low, kn_error *err)
{
    int64_t count = 0;
    for (int j = 0; j < f->k_count; j++) count += f->of[j].count;
    r->items = kn_alloc_array_zero(f->ctx, (size_t)count + 1, sizeof *r->items);
    if (!r->items) return kn_fail_memory(err, f->ctx, WHAT);
    for (int j = 0; j < f->k_count; j++) {
        if (f->of[j].count > 0) qsort(f->of[j].items, (size_t)f->of[j].count, sizeof(point), compare_points);
        for (int64_t i = 0; i < f->of[j].count; i++) {
            const point      *p = &f->of[j].items[i];
            kn_frontier_item *to = &r->items[r->count++];
            *to = (kn_frontier_item){f->ks[j], p->suppressed, p->classes, p->loss, p->node, NULL};
            if (!KN_ALLOC(f->ctx, to->levels, (size_t)f->lattice.quasi_count)) return kn_fail_memory(err, f->ctx, WHAT);
            kn_lattice_levels(&f->lattice, p->node, to->levels);
            for (int q = 0; low && q < f->lattice.quasi_count; q++) to->levels[q] += low[q];
        }
    }
    r->lattice = f->lattice.nodes;
    r->counted = f->counted;
    return KN_OK;
}

static void frontier_free(frontier *f)
{
    for (int q = 0; f->gaps && q < f->lattice.quasi_count; q++) kn_free(f->gaps[q]);
    for (int j = 0; j < f->k_count; j++) kn_free(f->of[j].items);
    kn_counter_free(f->counter);
    kn_classes_free(f->finest);
    kn_evaluator_free(f->evaluator);
    KN_FREE(f->features, f->gaps, f->least, f->levels, f->buckets);
    kn_lattice_free(&f->lattice);
}

static kn_status search(kn_frontier_result *r, kn_context *ctx, const kn_fulldomain_problem *problem, const int *low,
                        const int64_t *ks, int k_count, kn_error *err)
{
    frontier  f = {.ctx = ctx, .problem = problem, .ks = ks, .k_count = k_count};
    int64_t  *starts = NULL;
    uint32_t *nodes = NULL;
    kn_status st = prepare(&f, err);
    if (st == KN_OK) st = kn_lattice_by_height(&f.lattice, &starts, &nodes, err);
    if (st == KN_OK) {
        kn_progress_begin(ctx, "searching", "nodes", 0);
        st = walk(&f, starts, nodes, err);
        kn_progress_end(ctx);
    }
    if (st == KN_OK) st = take(r, &f, low, err);
    KN_FREE(starts, nodes);
    frontier_free(&f);
    return st;
}

kn_status kn_frontier_search(kn_frontier_result **out, kn_context *ctx, const kn_fulldomain_problem *problem,
                             const int64_t *ks, int k_count, kn_error *err)
{
    kn_bounded b;
    *out = NULL;
    KN_TRY(check(problem, err));
    kn_frontier_result *r = kn_alloc_zero(ctx, sizeof *r);
    if (!r) return kn_fail_memory(err, ctx, WHAT);
    r->ctx = ctx;
    kn_status st = problem->low ? kn_bounded_make(&b, ctx, problem, err) : KN_OK;
    if (st == KN_OK) {
        st = search(r, ctx, problem->low ? &b.problem : problem, problem->low, ks, k_count, err);
        if (problem->low) kn_bounded_free(&b);
    }
    if (st == KN_OK)
        *out = r;
    else
        kn_frontier_result_free(r);
    return st;
}

void kn_frontier_result_free(kn_frontier_result *r)
{
    if (!r) return;
    for (int64_t i = 0; r->items && i < r->count; i++) kn_free(r->items[i].levels);
    KN_FREE(r->items, r);
}
