/* kn_mondrian.c: greedy multidimensional partitioning, strict and relaxed (LeFevre, DeWitt, Ramakrishnan 2006; the
 * slides' "Greedy Partitioning Algorithm"; docs/errata.md 3.5).
 *
 *     Anonymize(region): for each dimension, the best first:
 *         an ordered one:      (<= median | > median), then (< median | >= median)
 *         by its hierarchy:    (one child of the lowest common ancestor | the rest), the most even split first
 *         missing cells:       (values | missing) before any other cut of the dimension
 *     the first allowable cut is made; if there is none the region is finished.
 *
 * For sizes alone this leaves no allowable cut at all: if neither median cut has k rows on both sides, none has. For
 * other requirements it means "none of the cuts tried". Relaxed: the rows that equal the median are divided, those
 * with the lowest row numbers to the first side, so that both sides are equally large. Regions that show the same
 * then become one class, so ties are divided only if promises survive that: with an entity most promises about
 * sensitive values do not, since a person of both regions counts once, and the cuts are strict.
 *
 * Best: the same cuts down to regions of some hundred rows (buckets). Each bucket is then finished twice, by further
 * cuts and by growing classes point by point (kn_cluster.c), and the better result is kept: so mondrian-best never
 * loses more than mondrian. In the end classes exchange points across the buckets' borders (kn_neighbours.c).
 *
 * Workload: before any of this, the cut that lowers the error of the problem's queries most (kn_mondrian_workload.c).
 *
 * Parallel: as long as there are few regions a round cuts each of them once, large ones one after the other with all threads
 * (kn_space_wide.c), the others in parallel; the regions of the last round are then finished by one worker each. Cuts depend on the rows of a region alone, never on the order of its
 * records, so that any number of threads gives the same regions in the same order.
 *
 * Cost: O(rows × dimensions × log(rows / k)) for evenly spread data; memory besides the records: one counter per
 * position and worker, one region per class.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_mondrian.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_cluster.h"
#include "kn_compare.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_mondrian_workload.h"
#include "kn_neighbours.h"
#include "kn_parallel.h"

#define WHAT "partitioning"

enum {
    ROUNDS_UNTIL = 64, /* regions, or of large tables: */
    ROUNDS_UNTIL_LARGE = 256,
    ROUND_RECORDS = 1 << 12, /* of a region, on average      */
    LARGE_SHARE = 16,        /* a region with more than this part of all records is cut by all threads */
    CHILDREN_TRIED = 4,
    BUCKET_CLASSES = 32, /* classes that a bucket is large enough for, within these limits: */
    LEAST_BUCKET = 256,
    MOST_BUCKET = 8192
};

typedef struct scored {
    double score;
    int    dimension;
} scored;

typedef struct worker_state {
    kn_row_judge          judge;
    uint32_t              size; /* rows of the region that is being cut */
    kn_span              *spans;
    scored               *order;
    uint32_t             *counts; /* per position; 0 between regions */
    uint32_t             *rows;   /* relaxed: row numbers of ties    */
    size_t                row_capacity;
    kn_regions            stack;
    kn_cut_chooser       *chooser;   /* workload                        */
    kn_clusterer         *clusterer; /* best                            */
    kn_regions            classes, grown;
    unsigned char        *records; /* of a bucket as the cuts left it */
    kn_partition_counters counters;
    kn_cut                cut;  /* the last that was made        */
    kn_partition_tree     made; /* all of them, where wanted     */
} worker_state;

typedef struct mondrian {
    const kn_space             *space;
    const kn_partition_problem *problem;
    kn_context                 *ctx;
    worker_state               *workers;
    int                         worker_count;
    kn_region                  *round;    /* the regions of this round                               */
    kn_region                  *next;     /* two per region: its sides, or itself and an empty one   */
    kn_regions                 *finished; /* per region of the last round                            */
    uint32_t                    bucket;   /* best: regions of this many rows are finished twice; else 0 */
    bool                        relaxed;  /* ties are divided                                        */
    kn_region_workload         *workload; /* NULL: none                                              */
} mondrian;

bool kn_regions_add(kn_regions *regions, kn_context *ctx, kn_region region)
{
    if (!KN_GROW(ctx, &regions->items, &regions->capacity, regions->count + 1)) return false;
    regions->items[regions->count++] = region;
    return true;
}

/* Its records. */
static uint32_t size_of(kn_region region)
{
    return region.end - region.begin;
}

/* ---- Which dimension ---- */

static uint32_t distinct_in(const uint32_t *counts, kn_span span)
{
    uint32_t distinct = 0;
    for (uint32_t p = span.low; p <= span.high; p++) distinct += counts[p] > 0;
    return distinct;
}

static double entropy_of(const uint32_t *counts, kn_span span, double rows)
{
    double sum = 0;
    for (uint32_t p = span.low; p <= span.high; p++)
        if (counts[p]) sum -= counts[p] / rows * log2(counts[p] / rows);
    return sum;
}

/* The position of the middle row. */
static uint32_t median_of(const uint32_t *counts, kn_span span, uint32_t rows)
{
    uint64_t seen = 0;
    uint32_t p = span.low;
    for (; p < span.high; p++) {
        seen += counts[p];
        if (2 * seen >= rows) break;
    }
    return p;
}

static kn_span shrink(const uint32_t *counts, kn_span span)
{
    while (span.low < span.high && counts[span.low] == 0) span.low++;
    while (span.high > span.low && counts[span.high] == 0) span.high--;
    return span;
}

/* What the median cut would save, in lost cells of this dimension. */
static double saving_of(const kn_dimension *d, const uint32_t *counts, kn_span span, uint32_t rows)
{
    uint32_t median = median_of(counts, span, rows);
    if (median == span.high) median--;
    kn_span first = shrink(counts, (kn_span){span.low, median}),
            second = shrink(counts, (kn_span){median + 1, span.high});
    uint64_t before = 0;
    for (uint32_t p = first.low; p <= first.high; p++) before += counts[p];
    return rows * kn_space_loss(d, span, distinct_in(counts, span)) -
           (double)before * kn_space_loss(d, first, distinct_in(counts, first)) -
           (double)(rows - before) * kn_space_loss(d, second, distinct_in(counts, second));
}

static int by_score(const void *a, const void *b)
{
    const scored *x = a, *y = b;
    if (x->score != y->score) return x->score < y->score ? 1 : -1;
    return (x->dimension > y->dimension) - (x->dimension < y->dimension);
}

static double weight_of(const kn_partition_problem *problem, int dimension)
{
    if (!problem->weights) return 1;
    return (double)problem->weights[dimension].numerator / (double)problem->weights[dimension].denominator;
}

/* The dimensions that can be cut at all, the best first; *out: how many. */
static kn_status order_dimensions(int *out, const mondrian *m, worker_state *w, kn_region region, kn_error *err)
{
    int count = 0;
    KN_TRY(kn_space_spans_wide(m->space, region, w->spans, err));
    for (int q = 0; q < m->space->count; q++) {
        const kn_dimension *d = &m->space->dimensions[q];
        kn_span             span = w->spans[q];
        double              score;
        if (span.low == span.high) continue;
        if (m->problem->choose == KN_CHOOSE_RANGE)
            score = kn_space_loss(d, span, span.high - span.low + 1);
        else {
            KN_TRY(kn_space_count_wide(m->space, region, q, w->counts, err));
            w->counters.frequency_sets++;
            score = m->problem->choose == KN_CHOOSE_ENTROPY ? entropy_of(w->counts, span, w->size)
                                                            : saving_of(d, w->counts, span, w->size);
            memset(w->counts + span.low, 0, ((size_t)(span.high - span.low) + 1) * sizeof *w->counts);
        }
        w->order[count++] = (scored){score * weight_of(m->problem, q), q};
    }
    qsort(w->order, (size_t)count, sizeof *w->order, by_score);
    *out = count;
    return KN_OK;
}

/* ---- Cuts ---- */

/* Makes the cut if it is allowable; `first` rows would go to the first side. *middle: where the second side begins,
 * 0: the cut was not made. */
static kn_status try_cut(uint32_t *middle, const mondrian *m, worker_state *w, kn_region region, kn_cut cut,
                         uint32_t first, kn_error *err)
{
    bool holds = true;
    *middle = 0;
    w->counters.cuts_tried++;
    if (first < w->judge.smallest || w->size - first < w->judge.smallest) return KN_OK;
    uint32_t at;
    KN_TRY(kn_space_cut_wide(&at, m->space, region, cut, err));
    if (!kn_row_judge_size_says_all(&w->judge)) {
        KN_TRY(kn_region_holds(&holds, m->space, &w->judge, (kn_region){region.begin, at, 0}, err));
        if (holds) KN_TRY(kn_region_holds(&holds, m->space, &w->judge, (kn_region){at, region.end, 0}, err));
    }
    if (holds) *middle = at;
    w->cut = cut;
    return KN_OK;
}

static uint32_t rows_between(const uint32_t *counts, uint32_t low, uint32_t high)
{
    uint32_t rows = 0;
    for (uint32_t p = low; p <= high; p++) rows += counts[p];
    return rows;
}

static kn_status cut_at_median(uint32_t *middle, const mondrian *m, worker_state *w, kn_region region, int q,
                               kn_error *err)
{
    kn_span  span = w->spans[q];
    uint32_t median = median_of(w->counts, span, w->size);
    uint32_t below = median > span.low ? rows_between(w->counts, span.low, median - 1) : 0;
    if (median < span.high)
        KN_TRY(try_cut(middle, m, w, region, (kn_cut){q, 0, median}, below + w->counts[median], err));
    if (*middle == 0 && median > span.low)
        KN_TRY(try_cut(middle, m, w, region, (kn_cut){q, 0, median - 1}, below, err));
    return KN_OK;
}

/* One child against the rest: the child whose rows are nearest to half of all, then the next nearest. */
static kn_status cut_off_child(uint32_t *middle, const mondrian *m, worker_state *w, kn_region region, int q,
                               kn_error *err)
{
    const kn_hierarchy *h = m->space->dimensions[q].hierarchy;
    kn_span             span = w->spans[q];
    uint32_t            rows = w->size, tried[CHILDREN_TRIED];
    if (span.high == h->leaves) { /* missing cells that could not be cut off: use the values                 */
        for (span.high--; w->counts[span.high] == 0;) span.high--;
        if (span.low == span.high) return KN_OK;
    }
    uint32_t parent = kn_hierarchy_lca_span(h, span.low, span.high);
    for (int tries = 0; *middle == 0 && tries < CHILDREN_TRIED; tries++) {
        uint32_t best = KN_NODE_NONE, best_rows = 0, best_gap = UINT32_MAX;
        for (uint32_t child = kn_hierarchy_child(h, parent); child != KN_NODE_NONE;
             child = kn_hierarchy_sibling(h, child)) {
            uint32_t low = h->first[child] > span.low ? h->first[child] : span.low;
            uint32_t high = h->last[child] - 1 < span.high ? h->last[child] - 1 : span.high;
            bool     seen = low > high;
            for (int t = 0; t < tries; t++) seen |= tried[t] == child;
            if (seen) continue;
            uint32_t in_child = rows_between(w->counts, low, high);
            uint32_t gap = 2 * (uint64_t)in_child > rows ? 2 * in_child - rows : rows - 2 * in_child;
            if (in_child < w->judge.smallest || rows - in_child < w->judge.smallest || gap >= best_gap) continue;
            best = child;
            best_rows = in_child;
            best_gap = gap;
        }
        if (best == KN_NODE_NONE) break;
        tried[tries] = best;
        KN_TRY(try_cut(middle, m, w, region, (kn_cut){q, h->first[best], h->last[best] - 1}, best_rows, err));
        if (kn_row_judge_size_says_all(&w->judge)) break;
    }
    return KN_OK;
}

/* Moves the `wanted` records with the lowest row numbers to the front of a region. */
static kn_status move_lowest_rows(const mondrian *m, worker_state *w, kn_region region, uint32_t wanted, kn_error *err)
{
    const kn_space *space = m->space;
    if (wanted == 0 || wanted == size_of(region)) return KN_OK;
    if (!KN_GROW(m->ctx, &w->rows, &w->row_capacity, size_of(region))) return kn_fail_memory(err, m->ctx, WHAT);
    for (uint32_t i = 0; i < size_of(region); i++) w->rows[i] = kn_space_row(space, region.begin + i);
    qsort(w->rows, size_of(region), sizeof *w->rows, kn_compare_u32);
    /* Row numbers are a field of the record like any other: cut by it. */
    kn_dimension by_row = {.offset = space->row_offset, .width = 4};
    kn_space     view = *space;
    view.dimensions = &by_row;
    view.count = 1;
    (void)kn_space_cut(&view, region, (kn_cut){0, 0, w->rows[wanted - 1]});
    return KN_OK;
}

/* Relaxed: both sides get half of the rows, those that equal the median go where they are needed. */
static kn_status cut_in_half(uint32_t *middle, const mondrian *m, worker_state *w, kn_region region, int q,
                             kn_error *err)
{
    kn_span   span = w->spans[q];
    uint32_t  median = median_of(w->counts, span, size_of(region)), half = size_of(region) / 2;
    kn_region ties = region;
    bool      holds = true;
    w->counters.cuts_tried++;
    if (half < w->judge.smallest) return KN_OK;
    if (median > span.low) KN_TRY(kn_space_cut_wide(&ties.begin, m->space, region, (kn_cut){q, 0, median - 1}, err));
    KN_TRY(kn_space_cut_wide(&ties.end, m->space, ties, (kn_cut){q, median, median}, err));
    uint32_t at = region.begin + half;
    KN_TRY(move_lowest_rows(m, w, ties, at - ties.begin, err));
    if (!kn_row_judge_size_says_all(&w->judge)) {
        KN_TRY(kn_region_holds(&holds, m->space, &w->judge, (kn_region){region.begin, at, 0}, err));
        if (holds) KN_TRY(kn_region_holds(&holds, m->space, &w->judge, (kn_region){at, region.end, 0}, err));
    }
    if (holds) *middle = at;
    return KN_OK;
}

static kn_status cut_dimension(uint32_t *middle, const mondrian *m, worker_state *w, kn_region region, int q,
                               kn_error *err)
{
    const kn_dimension *d = &m->space->dimensions[q];
    if (w->spans[q].high == d->positions) {
        uint32_t missing = w->counts[d->positions];
        KN_TRY(try_cut(middle, m, w, region, (kn_cut){q, 0, d->positions - 1}, w->size - missing, err));
        if (*middle) return KN_OK;
    }
    if (m->relaxed) return cut_in_half(middle, m, w, region, q, err);
    if (d->nodes) return cut_off_child(middle, m, w, region, q, err);
    return cut_at_median(middle, m, w, region, q, err);
}

/* The allowable cut that lowers the workload's error most; none where no query is affected. */
static kn_status cut_for_workload(uint32_t *middle, const mondrian *m, worker_state *w, kn_region region, kn_error *err)
{
    kn_chosen_cut cuts[KN_CUTS_CHOSEN];
    int           count =
        kn_choose_cuts(w->chooser, region, w->spans, (uint64_t)w->judge.smallest, cuts, &w->counters.frequency_sets);
    for (int i = 0; *middle == 0 && i < count; i++)
        KN_TRY(try_cut(middle, m, w, region, cuts[i].cut, cuts[i].first, err));
    return KN_OK;
}

/* Cuts a region once; *middle 0: there is no allowable cut. */
static kn_status cut_region(uint32_t *middle, const mondrian *m, worker_state *w, kn_region region, kn_error *err)
{
    *middle = 0;
    w->size = kn_space_size(m->space, region);
    if (w->size < 2 * (uint64_t)w->judge.smallest) return KN_OK;
    if (kn_cancelled(m->ctx)) return kn_fail_cancelled(err);
    int count = 0;
    KN_TRY(order_dimensions(&count, m, w, region, err));
    if (w->chooser) KN_TRY(cut_for_workload(middle, m, w, region, err));
    for (int i = 0; *middle == 0 && i < count; i++) {
        int     q = w->order[i].dimension;
        kn_span span = w->spans[q];
        KN_TRY(kn_space_count_wide(m->space, region, q, w->counts, err));
        w->counters.frequency_sets++;
        kn_status status = cut_dimension(middle, m, w, region, q, err);
        memset(w->counts + span.low, 0, ((size_t)(span.high - span.low) + 1) * sizeof *w->counts);
        KN_TRY(status);
    }
    if (*middle == 0) return KN_OK;
    if (m->problem->tree) {
        if (!KN_GROW(m->ctx, &w->made.cuts, &w->made.capacity, w->made.count + 1))
            return kn_fail_memory(err, m->ctx, WHAT);
        w->made.cuts[w->made.count++] =
            (kn_partition_cut){region.begin, *middle, region.end, w->cut.dimension, w->cut.low, w->cut.high, -1, -1};
    }
    w->counters.cuts++;
    if (region.depth + 1 > w->counters.depth) w->counters.depth = region.depth + 1;
    return KN_OK;
}

/* ---- Rounds, then regions to the end ---- */

static kn_status cut_once(mondrian *m, int64_t i, int worker, kn_error *err)
{
    kn_region region = m->round[i];
    uint32_t  middle = 0;
    if (size_of(region) > m->bucket) KN_TRY(cut_region(&middle, m, &m->workers[worker], region, err));
    m->next[2 * i] = (kn_region){region.begin, middle ? middle : region.end, region.depth + (middle != 0)};
    m->next[2 * i + 1] = (kn_region){middle ? middle : region.end, region.end, region.depth + 1};
    return KN_OK;
}

/* Is it cut by all threads together? Judging a side and choosing by a workload are one thread's work: several regions at
 * once are then better. */
static bool is_large(const mondrian *m, kn_region region)
{
    return kn_space_is_wide(region) && size_of(region) > m->space->rows / LARGE_SHARE && !m->workload &&
           kn_row_judge_size_says_all(&m->workers[0].judge);
}

static kn_status cut_others(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    mondrian *m = arg;
    for (int64_t i = begin; i < end; i++)
        if (!is_large(m, m->round[i])) KN_TRY(cut_once(m, i, worker, err));
    return KN_OK;
}

static kn_status cut_all(mondrian *m, int64_t count, kn_error *err)
{
    for (int64_t i = 0; i < count; i++)
        if (is_large(m, m->round[i])) KN_TRY(cut_once(m, i, 0, err));
    return kn_parallel_for(m->ctx, count, 1, cut_others, m, err);
}

/* Cuts a region to the end, or down to buckets. */
static kn_status finish_by_cuts(kn_regions *out, const mondrian *m, worker_state *w, kn_region whole, uint32_t bucket,
                                kn_error *err)
{
    w->stack.count = 0;
    if (!kn_regions_add(&w->stack, m->ctx, whole)) return kn_fail_memory(err, m->ctx, WHAT);
    while (w->stack.count > 0) {
        kn_region region = w->stack.items[--w->stack.count];
        uint32_t  middle = 0;
        bool      ok;
        if (size_of(region) > bucket) KN_TRY(cut_region(&middle, m, w, region, err));
        if (middle)
            ok = kn_regions_add(&w->stack, m->ctx, (kn_region){middle, region.end, region.depth + 1}) &&
                 kn_regions_add(&w->stack, m->ctx, (kn_region){region.begin, middle, region.depth + 1});
        else
            ok = kn_regions_add(out, m->ctx, region);
        if (!ok) return kn_fail_memory(err, m->ctx, WHAT);
    }
    return KN_OK;
}

static kn_status all_hold(bool *out, const mondrian *m, worker_state *w, const kn_regions *regions, kn_error *err)
{
    *out = true;
    for (size_t i = 0; *out && i < regions->count && !kn_row_judge_size_says_all(&w->judge); i++)
        KN_TRY(kn_region_holds(out, m->space, &w->judge, regions->items[i], err));
    return KN_OK;
}

/* Finishes a region in the better of two ways: as classes grown in it, or as its two sides, each finished in the same
 * manner. Appends the classes to `out`, in the order of the records. The depth is that of the cuts inside a bucket:
 * small. */
static kn_status finish_best(kn_regions *out, double *loss, mondrian *m, worker_state *w, kn_region region,
                             kn_error *err)
{
    const kn_space *space = m->space;
    unsigned char  *records = space->records + (size_t)region.begin * space->stride, *kept = NULL;
    size_t          bytes = size_of(region) * space->stride, before = out->count;
    uint32_t        middle = 0;
    double          sides[2] = {0, 0}, grown = 0;
    bool            better = false;
    KN_TRY(cut_region(&middle, m, w, region, err));
    if (middle) {
        KN_TRY(finish_best(out, &sides[0], m, w, (kn_region){region.begin, middle, region.depth + 1}, err));
        KN_TRY(finish_best(out, &sides[1], m, w, (kn_region){middle, region.end, region.depth + 1}, err));
        *loss = sides[0] + sides[1];
    } else {
        if (!kn_regions_add(out, m->ctx, region)) return kn_fail_memory(err, m->ctx, WHAT);
        *loss = kn_cluster_loss(w->clusterer, region);
    }
    if (size_of(region) < 2 * (uint64_t)w->judge.smallest || *loss == 0) return KN_OK;
    kept = kn_alloc(m->ctx, bytes);
    if (!kept) return kn_fail_memory(err, m->ctx, WHAT);
    memcpy(kept, records, bytes);
    w->grown.count = 0;
    kn_status status = kn_cluster_region(&w->grown, &grown, w->clusterer, region, (uint32_t)w->judge.smallest, err);
    if (status == KN_OK && grown < *loss) status = all_hold(&better, m, w, &w->grown, err);
    if (better) {
        *loss = grown;
        out->count = before;
        w->counters.improvements++;
        for (size_t i = 0; status == KN_OK && i < w->grown.count; i++)
            if (!kn_regions_add(out, m->ctx, w->grown.items[i])) status = kn_fail_memory(err, m->ctx, WHAT);
    } else
        memcpy(records, kept, bytes);
    kn_free(kept);
    return status;
}

/* A bucket: the better way at every scale, then points move between its classes. If the requirements are more than a
 * size, all moves of a bucket are undone if a class then fails. */
static kn_status finish_bucket(kn_regions *out, mondrian *m, worker_state *w, kn_region bucket, kn_error *err)
{
    const kn_space *space = m->space;
    unsigned char  *records = space->records + (size_t)bucket.begin * space->stride;
    size_t          bytes = size_of(bucket) * space->stride;
    double          loss = 0;
    bool            hold = false;
    w->classes.count = 0;
    KN_TRY(finish_best(&w->classes, &loss, m, w, bucket, err));
    memcpy(w->records, records, bytes);
    w->grown.count = 0;
    for (size_t i = 0; i < w->classes.count; i++)
        if (!kn_regions_add(&w->grown, m->ctx, w->classes.items[i])) return kn_fail_memory(err, m->ctx, WHAT);
    KN_TRY(kn_cluster_improve(&w->grown, &loss, w->clusterer, bucket, (uint32_t)w->judge.smallest, err));
    KN_TRY(all_hold(&hold, m, w, &w->grown, err));
    if (!hold) memcpy(records, w->records, bytes);
    const kn_regions *kept = hold ? &w->grown : &w->classes;
    for (size_t i = 0; i < kept->count; i++)
        if (!kn_regions_add(out, m->ctx, kept->items[i])) return kn_fail_memory(err, m->ctx, WHAT);
    return KN_OK;
}

static kn_status finish_region(kn_regions *out, mondrian *m, worker_state *w, kn_region region, kn_error *err)
{
    kn_regions buckets = {0};
    if (m->bucket == 0) return finish_by_cuts(out, m, w, region, 0, err);
    kn_status status = finish_by_cuts(&buckets, m, w, region, m->bucket, err);
    for (size_t i = 0; status == KN_OK && i < buckets.count; i++) {
        /* A bucket that could not be cut small enough (too many equal points) stays as it is. */
        if (size_of(buckets.items[i]) <= m->bucket)
            status = finish_bucket(out, m, w, buckets.items[i], err);
        else if (!kn_regions_add(out, m->ctx, buckets.items[i]))
            status = kn_fail_memory(err, m->ctx, WHAT);
        if (status == KN_OK && kn_cancelled(m->ctx)) status = kn_fail_cancelled(err);
    }
    kn_free(buckets.items);
    return status;
}

static kn_status finish(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    mondrian *m = arg;
    for (int64_t i = begin; i < end; i++) {
        KN_TRY(finish_region(&m->finished[i], m, &m->workers[worker], m->round[i], err));
        kn_progress_add(m->ctx, size_of(m->round[i]));
    }
    return KN_OK;
}

static int64_t rounds_until(const kn_space *space)
{
    int64_t regions = space->rows / ROUND_RECORDS;
    return regions < ROUNDS_UNTIL ? ROUNDS_UNTIL : regions > ROUNDS_UNTIL_LARGE ? ROUNDS_UNTIL_LARGE : regions;
}

/* Cuts every region once a round until there are many, or no more can be cut. Sets *count. */
static kn_status run_rounds(mondrian *m, int64_t *count, kn_error *err)
{
    m->round[0] = (kn_region){0, m->space->rows, 0};
    *count = 1;
    while (*count < rounds_until(m->space)) {
        int64_t after = 0;
        KN_TRY(cut_all(m, *count, err));
        for (int64_t i = 0; i < 2 * *count; i++)
            if (size_of(m->next[i]) > 0) m->next[after++] = m->next[i];
        memcpy(m->round, m->next, (size_t)after * sizeof *m->round);
        if (after == *count) break;
        *count = after;
    }
    return KN_OK;
}

static kn_status join(kn_regions *out, mondrian *m, int64_t count, kn_error *err)
{
    size_t total = 0;
    for (int64_t i = 0; i < count; i++) total += m->finished[i].count;
    if (!KN_ALLOC(m->ctx, out->items, total + 1)) return kn_fail_memory(err, m->ctx, WHAT);
    out->capacity = total + 1;
    for (int64_t i = 0; i < count; i++) {
        if (m->finished[i].count)
            memcpy(out->items + out->count, m->finished[i].items, m->finished[i].count * sizeof *out->items);
        out->count += m->finished[i].count;
    }
    return KN_OK;
}

static int by_region(const void *a, const void *b)
{
    const kn_partition_cut *x = a, *y = b;
    if (x->begin != y->begin) return x->begin < y->begin ? -1 : 1;
    return (x->end < y->end) - (x->end > y->end);
}

/* The cut of a region; -1: it was not cut. */
static int64_t find_cut(const kn_partition_tree *tree, uint32_t begin, uint32_t end)
{
    kn_partition_cut        key = {.begin = begin, .end = end};
    const kn_partition_cut *found = tree->count ? bsearch(&key, tree->cuts, tree->count, sizeof key, by_region) : NULL;
    return found ? found - tree->cuts : -1;
}

/* The cuts of all workers as a tree: a region comes before its sides. */
static kn_status join_cuts(kn_partition_tree *out, mondrian *m, kn_error *err)
{
    size_t total = 0;
    for (int i = 0; i < m->worker_count; i++) total += m->workers[i].made.count;
    *out = (kn_partition_tree){.capacity = total + 1};
    if (!KN_ALLOC(m->ctx, out->cuts, total + 1)) return kn_fail_memory(err, m->ctx, WHAT);
    for (int i = 0; i < m->worker_count; i++) {
        const kn_partition_tree *made = &m->workers[i].made;
        if (made->count) memcpy(out->cuts + out->count, made->cuts, made->count * sizeof *made->cuts);
        out->count += made->count;
    }
    if (out->count) qsort(out->cuts, out->count, sizeof *out->cuts, by_region);
    for (size_t i = 0; i < out->count; i++) {
        kn_partition_cut *c = &out->cuts[i];
        c->first = find_cut(out, c->begin, c->middle);
        c->second = find_cut(out, c->middle, c->end);
    }
    return KN_OK;
}

static kn_status make_workers(mondrian *m, kn_error *err)
{
    size_t dimensions = (size_t)m->space->count;
    if (!KN_ALLOC_ZERO(m->ctx, m->workers, (size_t)m->worker_count) ||
        !KN_ALLOC(m->ctx, m->round, 2 * ROUNDS_UNTIL_LARGE) || !KN_ALLOC(m->ctx, m->next, 2 * ROUNDS_UNTIL_LARGE) ||
        !KN_ALLOC_ZERO(m->ctx, m->finished, 2 * ROUNDS_UNTIL_LARGE))
        return kn_fail_memory(err, m->ctx, WHAT);
    for (int i = 0; i < m->worker_count; i++) {
        worker_state *w = &m->workers[i];
        if (!KN_ALLOC(m->ctx, w->spans, dimensions) || !KN_ALLOC(m->ctx, w->order, dimensions) ||
            !KN_ALLOC_ZERO(m->ctx, w->counts, m->space->most_positions))
            return kn_fail_memory(err, m->ctx, WHAT);
        KN_TRY(kn_region_judge_make(&w->judge, m->space, m->problem, err));
        if (m->workload) KN_TRY(kn_cut_chooser_make(&w->chooser, m->space, m->workload, err));
        if (m->bucket == 0) continue;
        w->records = kn_alloc_array(m->ctx, m->bucket, m->space->stride);
        if (!w->records) return kn_fail_memory(err, m->ctx, WHAT);
        KN_TRY(kn_clusterer_make(&w->clusterer, m->space, m->problem->weights, m->bucket, err));
    }
    return KN_OK;
}

static uint32_t bucket_of(const kn_partition_problem *problem)
{
    int64_t rows = BUCKET_CLASSES * problem->requirements->k;
    if (problem->method != KN_METHOD_MONDRIAN_BEST) return 0;
    return (uint32_t)(rows < LEAST_BUCKET ? LEAST_BUCKET : rows > MOST_BUCKET ? MOST_BUCKET : rows);
}

static void add_counters(kn_partition_counters *to, const kn_partition_counters *from)
{
    to->cuts += from->cuts;
    to->cuts_tried += from->cuts_tried;
    to->frequency_sets += from->frequency_sets;
    to->improvements += from->improvements;
    if (from->depth > to->depth) to->depth = from->depth;
}

static void free_all(mondrian *m, kn_partition_counters *counters)
{
    for (int i = 0; m->workers && i < m->worker_count; i++) {
        worker_state *w = &m->workers[i];
        add_counters(counters, &w->counters);
        KN_FREE(w->spans, w->order, w->counts, w->rows, w->stack.items, w->classes.items, w->grown.items, w->records,
                w->made.cuts);
        kn_cut_chooser_free(w->chooser);
        kn_clusterer_free(w->clusterer);
        kn_row_judge_free(&w->judge);
    }
    for (int i = 0; m->finished && i < 2 * ROUNDS_UNTIL_LARGE; i++) kn_free(m->finished[i].items);
    kn_region_workload_free(m->workload);
    KN_FREE(m->workers, m->round, m->next, m->finished);
}

/* Classes that exchange points may show the same in the end, and are then one: promises must survive that. */
static bool may_exchange(const mondrian *m)
{
    return m->bucket > 0 && kn_requirements_monotone(m->problem->requirements, false);
}

kn_status kn_mondrian_run(kn_regions *out, kn_partition_counters *counters, const kn_space *space,
                          const kn_partition_problem *problem, kn_error *err)
{
    mondrian m = {.space = space, .problem = problem, .ctx = space->ctx, .bucket = bucket_of(problem)};
    m.relaxed = problem->method == KN_METHOD_MONDRIAN_RELAXED && kn_requirements_monotone(problem->requirements, false);
    int64_t   count = 0;
    kn_status status;
    *out = (kn_regions){0};
    m.worker_count = kn_context_threads(space->ctx);
    kn_progress_begin(space->ctx, WHAT, "rows", space->rows);
    status = problem->query_count > 0 ? kn_region_workload_make(&m.workload, space, problem, err) : KN_OK;
    if (status == KN_OK) status = make_workers(&m, err);
    if (status == KN_OK) status = run_rounds(&m, &count, err);
    if (status == KN_OK) status = kn_parallel_for(space->ctx, count, 1, finish, &m, err);
    if (status == KN_OK) status = join(out, &m, count, err);
    if (status == KN_OK && problem->tree) status = join_cuts(problem->tree, &m, err);
    free_all(&m, counters); /* its buckets' memory is the neighbours' */
    if (status == KN_OK && may_exchange(&m))
        status = kn_neighbours_improve(out, &counters->improvements, space, problem, m.bucket, err);
    kn_progress_end(space->ctx);
    return status;
}
