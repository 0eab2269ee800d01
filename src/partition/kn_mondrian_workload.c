/* kn_mondrian_workload.c: cuts that follow a workload (slides, "Workload-Driven Anonymization"; docs/errata.md 3.7).
 *
 * A COUNT over a region that a query covers in part is estimated as rows × share, where the share is the product over
 * the query's predicates of how much of the region's extent they cover. If n rows are spread evenly, the number of
 * those that satisfy the query deviates from that by sqrt(n × share × (1 - share)): by 0 for a region inside or
 * outside. The error of a region is the sum of these deviations over the queries, times their weights. A cut along
 * the boundary of a predicate lowers it most; a cut that makes one side covered more and the other less does, too.
 *
 * (Tried on the slides' normal tables with point, range and rectangle queries, beside the variance, rows × min(share,
 * 1 - share), all rows of a region that is covered in part, and gains weighted by the evenness of the cut: the
 * deviation and the variance gave the lowest errors, the deviation the lower ones from three dimensions on.)
 *
 * Candidates in an ordered dimension are the boundaries of the predicates that lie inside the region, and the cuts at
 * the median; in a dimension with a hierarchy, each child of the lowest common ancestor against the rest. The side of
 * a candidate reaches only as far as its rows; in the other dimensions it is assumed to be as wide as the region. If
 * no candidate gains anything the caller cuts as plain Mondrian does.
 *
 * Cost per region: one frequency set per dimension that an affected query looks at, and candidates × affected
 * queries. Both shrink with the region.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_mondrian_workload.h"

#include <math.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_error.h"

/* An interval of a predicate: on the dimension's line, and the positions it covers (first > last: none). */
typedef struct stretch {
    double   low, high;
    uint32_t first, last;
} stretch;

typedef struct predicate {
    int    dimension;
    size_t begin, end; /* stretches */
} predicate;

typedef struct query {
    double weight;
    size_t begin, end; /* predicates */
} query;

struct kn_region_workload {
    const kn_space *space;
    size_t          query_count, predicate_count, stretch_count;
    query          *queries;
    predicate      *predicates;
    stretch        *stretches;
    double         *units; /* per dimension: the length of one value on the line; 0: decimal values       */
};

/* A predicate of an affected query, for the dimension that is cut. */
typedef struct affected {
    const predicate *on;
    double           weight; /* of the query                                 */
    double           others; /* product of the shares of its other predicates */
    double           share;  /* of this one                                   */
} affected;

struct kn_cut_chooser {
    const kn_space           *space;
    const kn_region_workload *workload;
    affected                 *affected; /* of all dimensions: up to one per predicate */
    size_t                    affected_count;
    uint32_t                 *counts, *below; /* per position; counts are 0 between regions          */
    bool                     *marked;         /* per position: a cut behind it is a candidate        */
};

/* ---- Queries in positions ---- */

static double line_at(const kn_dimension *d, uint32_t position)
{
    return d->values ? d->values[position] : position;
}

/* The number of positions before `value`, or (`or_at`) not after it. */
static uint32_t positions_before(const kn_dimension *d, double value, bool or_at)
{
    uint32_t low = 0, high = d->positions;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        double   at = line_at(d, middle);
        if (at < value || (or_at && at == value))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void kn_region_workload_free(kn_region_workload *w)
{
    if (!w) return;
    KN_FREE(w->queries, w->predicates, w->stretches, w->units, w);
}

static void add_query(kn_region_workload *w, const kn_region_query *from)
{
    query *q = &w->queries[w->query_count++];
    *q = (query){from->weight, w->predicate_count, 0};
    for (int p = 0; p < from->predicate_count; p++) {
        const kn_region_predicate *asked = &from->predicates[p];
        const kn_dimension        *d = &w->space->dimensions[asked->quasi];
        predicate                 *to = &w->predicates[w->predicate_count++];
        *to = (predicate){asked->quasi, w->stretch_count, 0};
        for (int i = 0; i < asked->interval_count; i++) {
            kn_region_interval in = asked->intervals[i];
            uint32_t           first = positions_before(d, in.low, false), behind = positions_before(d, in.high, true);
            w->stretches[w->stretch_count++] =
                behind > first ? (stretch){in.low, in.high, first, behind - 1} : (stretch){in.low, in.high, 1, 0};
        }
        to->end = w->stretch_count;
    }
    q->end = w->predicate_count;
}

kn_status kn_region_workload_make(kn_region_workload **out, const kn_space *space, const kn_partition_problem *problem,
                                  kn_error *err)
{
    kn_context         *ctx = space->ctx;
    size_t              predicates = 0, stretches = 0;
    kn_region_workload *w = kn_alloc_zero(ctx, sizeof *w);
    if (!w) return kn_fail_memory(err, ctx, "partitioning");
    for (int q = 0; q < problem->query_count; q++)
        for (int p = 0; p < problem->queries[q].predicate_count; p++) {
            predicates++;
            stretches += (size_t)problem->queries[q].predicates[p].interval_count;
        }
    w->space = space;
    if (!KN_ALLOC(ctx, w->queries, (size_t)problem->query_count + 1) || !KN_ALLOC(ctx, w->predicates, predicates + 1) ||
        !KN_ALLOC(ctx, w->stretches, stretches + 1) || !KN_ALLOC(ctx, w->units, (size_t)space->count + 1)) {
        kn_region_workload_free(w);
        return kn_fail_memory(err, ctx, "partitioning");
    }
    for (int d = 0; d < space->count; d++)
        w->units[d] = space->dimensions[d].values && space->dimensions[d].column->type == KN_TYPE_DECIMAL ? 0 : 1;
    for (int q = 0; q < problem->query_count; q++) add_query(w, &problem->queries[q]);
    *out = w;
    return KN_OK;
}

/* ---- A worker's scratch ---- */

void kn_cut_chooser_free(kn_cut_chooser *c)
{
    if (!c) return;
    KN_FREE(c->affected, c->counts, c->below, c->marked, c);
}

kn_status kn_cut_chooser_make(kn_cut_chooser **out, const kn_space *space, const kn_region_workload *workload,
                              kn_error *err)
{
    size_t          positions = (size_t)space->most_positions + 1;
    kn_cut_chooser *c = kn_alloc_zero(space->ctx, sizeof *c);
    if (!c) return kn_fail_memory(err, space->ctx, "partitioning");
    *c = (kn_cut_chooser){.space = space, .workload = workload};
    if (!KN_ALLOC(space->ctx, c->affected, workload->predicate_count + 1) ||
        !KN_ALLOC_ZERO(space->ctx, c->counts, positions) || !KN_ALLOC(space->ctx, c->below, positions) ||
        !KN_ALLOC_ZERO(space->ctx, c->marked, positions)) {
        kn_cut_chooser_free(c);
        return kn_fail_memory(err, space->ctx, "partitioning");
    }
    *out = c;
    return KN_OK;
}

/* ---- Shares ---- */

/* What the cell over these positions shows: under a hierarchy all leaves of their lowest common ancestor. */
static kn_span shown(const kn_dimension *d, kn_span span)
{
    if (span.high == d->positions) span.high = d->positions > 0 ? d->positions - 1 : 0; /* beside missing cells */
    if (span.low > span.high) span.low = span.high;
    if (!d->nodes || span.low == span.high) return span;
    uint32_t node = kn_hierarchy_lca_span(d->hierarchy, span.low, span.high);
    uint32_t last = d->hierarchy->last[node] - 1;
    return (kn_span){d->hierarchy->first[node], last < d->positions ? last : d->positions - 1};
}

/* How much of a span a predicate covers. */
static double share_of(const kn_region_workload *w, const predicate *p, kn_span span)
{
    const kn_dimension *d = &w->space->dimensions[p->dimension];
    double              unit = w->units[p->dimension], low, high, covered = 0;
    span = shown(d, span);
    low = line_at(d, span.low);
    high = line_at(d, span.high);
    for (size_t i = p->begin; i < p->end; i++) {
        const stretch *s = &w->stretches[i];
        double         from = s->low > low ? s->low : low, to = s->high < high ? s->high : high;
        if (from > to) continue;
        if (low == high) return 1;
        covered += to - from + unit;
    }
    return low == high ? 0 : covered / (high - low + unit);
}

/* Lists the predicates of the queries that cover the region in part. */
static void find_affected(kn_cut_chooser *c, const kn_span *spans)
{
    const kn_region_workload *w = c->workload;
    c->affected_count = 0;
    for (size_t q = 0; q < w->query_count; q++) {
        size_t before = c->affected_count;
        double all = 1;
        for (size_t p = w->queries[q].begin; p < w->queries[q].end && all > 0; p++) {
            const predicate *on = &w->predicates[p];
            double           share = share_of(w, on, spans[on->dimension]);
            c->affected[c->affected_count++] = (affected){on, w->queries[q].weight, 1, share};
            all *= share;
        }
        if (all <= 0 || all >= 1) {
            c->affected_count = before;
            continue;
        }
        for (size_t i = before; i < c->affected_count; i++)
            for (size_t o = before; o < c->affected_count; o++)
                if (o != i) c->affected[i].others *= c->affected[o].share;
    }
}

static double error_of(const affected *a, double rows, double share)
{
    double all = share * a->others;
    return all < 1 ? a->weight * sqrt(rows * all * (1 - all)) : 0;
}

/* By how much the error falls if a cut leaves these two spans of the dimension. */
static double gain_of(const kn_cut_chooser *c, int dimension, kn_span first, double rows, kn_span second, double rest)
{
    double gain = 0;
    for (size_t i = 0; i < c->affected_count; i++) {
        const affected *a = &c->affected[i];
        if (a->on->dimension != dimension) continue;
        gain += error_of(a, rows + rest, a->share) - error_of(a, rows, share_of(c->workload, a->on, first)) -
                error_of(a, rest, share_of(c->workload, a->on, second));
    }
    return gain;
}

/* ---- Candidates ---- */

typedef struct choice {
    kn_chosen_cut *cuts;
    int            count;
    uint64_t       smallest;
    uint32_t       rows;
} choice;

static uint32_t evenness(const kn_chosen_cut *cut, uint32_t rows)
{
    return cut->first < rows - cut->first ? cut->first : rows - cut->first;
}

/* The more gain, then the more even, then the one that was found first. */
static void consider(choice *to, kn_chosen_cut cut)
{
    int at = to->count;
    while (at > 0 &&
           (to->cuts[at - 1].gain < cut.gain ||
            (to->cuts[at - 1].gain == cut.gain && evenness(&to->cuts[at - 1], to->rows) < evenness(&cut, to->rows))))
        at--;
    if (at == KN_CUTS_CHOSEN) return;
    int last = to->count < KN_CUTS_CHOSEN ? to->count++ : KN_CUTS_CHOSEN - 1;
    for (int i = last; i > at; i--) to->cuts[i] = to->cuts[i - 1];
    to->cuts[at] = cut;
}

static bool large_enough(const choice *to, uint32_t first)
{
    return first >= to->smallest && to->rows - first >= to->smallest;
}

/* Errors below this share of the weights are rounding. */
#define LEAST_GAIN 1e-9

static void mark(kn_cut_chooser *c, kn_span span, uint32_t position)
{
    if (position >= span.low && position < span.high) c->marked[position] = true;
}

static void mark_boundaries(kn_cut_chooser *c, int dimension, kn_span span)
{
    const kn_region_workload *w = c->workload;
    for (size_t i = 0; i < c->affected_count; i++) {
        const predicate *on = c->affected[i].on;
        for (size_t s = on->begin; on->dimension == dimension && s < on->end; s++) {
            if (w->stretches[s].first > w->stretches[s].last) continue;
            if (w->stretches[s].first > 0) mark(c, span, w->stretches[s].first - 1);
            mark(c, span, w->stretches[s].last);
        }
    }
}

/* Rows before each position of the span, and the median. */
static uint32_t count_below(kn_cut_chooser *c, kn_span span, uint32_t rows)
{
    uint32_t seen = 0, median = span.high;
    for (uint32_t p = span.low; p <= span.high; p++) {
        c->below[p] = seen;
        seen += c->counts[p];
        if (2 * (uint64_t)seen >= rows && median == span.high) median = p;
    }
    return median;
}

static void consider_ordered(kn_cut_chooser *c, choice *to, int dimension, kn_span span)
{
    uint32_t median = count_below(c, span, to->rows);
    mark_boundaries(c, dimension, span);
    mark(c, span, median);
    if (median > span.low) mark(c, span, median - 1);
    for (uint32_t p = span.low; p < span.high; p++) {
        if (!c->marked[p]) continue;
        c->marked[p] = false;
        uint32_t first = c->below[p] + c->counts[p], left = p, right = p + 1;
        if (!large_enough(to, first)) continue;
        while (c->counts[left] == 0) left--;
        while (c->counts[right] == 0) right++;
        double gain =
            gain_of(c, dimension, (kn_span){span.low, left}, first, (kn_span){right, span.high}, to->rows - first);
        if (gain > LEAST_GAIN) consider(to, (kn_chosen_cut){{dimension, 0, p}, first, gain});
    }
}

/* The rest of a span without a child: as far as its rows reach. */
static kn_span rest_of(const kn_cut_chooser *c, kn_span span, uint32_t low, uint32_t high)
{
    kn_span rest = span;
    if (low <= rest.low) rest.low = high + 1;
    if (high >= rest.high) rest.high = low - 1;
    while (c->counts[rest.low] == 0) rest.low++;
    while (c->counts[rest.high] == 0) rest.high--;
    return rest;
}

static void consider_children(kn_cut_chooser *c, choice *to, int dimension, kn_span span)
{
    const kn_dimension *d = &c->space->dimensions[dimension];
    const kn_hierarchy *h = d->hierarchy;
    kn_span             values = span;
    if (values.high == h->leaves)
        for (values.high--; values.high > values.low && c->counts[values.high] == 0;) values.high--;
    if (values.low >= values.high) return;
    uint32_t parent = kn_hierarchy_lca_span(h, values.low, values.high);
    for (uint32_t child = kn_hierarchy_child(h, parent); child != KN_NODE_NONE;
         child = kn_hierarchy_sibling(h, child)) {
        uint32_t low = h->first[child] > values.low ? h->first[child] : values.low;
        uint32_t high = h->last[child] - 1 < values.high ? h->last[child] - 1 : values.high, first = 0;
        for (uint32_t p = low; p <= high && low <= high; p++) first += c->counts[p];
        if (first == 0 || !large_enough(to, first)) continue;
        kn_span in = {low, high};
        while (c->counts[in.low] == 0) in.low++;
        while (c->counts[in.high] == 0) in.high--;
        double gain = gain_of(c, dimension, in, first, rest_of(c, span, low, high), to->rows - first);
        if (gain > LEAST_GAIN)
            consider(to, (kn_chosen_cut){{dimension, h->first[child], h->last[child] - 1}, first, gain});
    }
}

int kn_choose_cuts(kn_cut_chooser *c, kn_region region, const kn_span *spans, uint64_t smallest, kn_chosen_cut *cuts,
                   int64_t *frequency_sets)
{
    choice to = {cuts, 0, smallest, kn_space_size(c->space, region)};
    find_affected(c, spans);
    for (int d = 0; d < c->space->count && c->affected_count > 0; d++) {
        kn_span span = spans[d];
        bool    looked_at = false;
        for (size_t i = 0; !looked_at && i < c->affected_count; i++) looked_at = c->affected[i].on->dimension == d;
        if (!looked_at || span.low == span.high) continue;
        kn_space_count(c->space, region, d, c->counts);
        ++*frequency_sets;
        if (c->space->dimensions[d].nodes)
            consider_children(c, &to, d, span);
        else
            consider_ordered(c, &to, d, span);
        memset(c->counts + span.low, 0, ((size_t)(span.high - span.low) + 1) * sizeof *c->counts);
    }
    return to.count;
}
