/* kn_mondrian_1d.c: single-dimensional partitioning (the slides' "allowable single-dimensional cut"): each dimension is
 * cut into intervals once for the whole table, and a value is released the same way in every row.
 *
 * The interval with the widest normalized range is cut next. A cut divides every region that it meets, and is
 * allowable if each part has no rows at all or satisfies the requirements; of the allowable places the one nearest to
 * the median is taken. A forbidden place never becomes allowable when other dimensions are cut: an interval without
 * an allowable place is finished. In a dimension with nodes an interval is cut only between children of its lowest
 * common ancestor.
 *
 * Cost: per cut two passes over the rows of the interval. Intervals are few: the regions are their combinations.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "kn_alloc.h"
#include "kn_bitset.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_mondrian.h"

#define WHAT "partitioning"

enum { PLACES_TRIED = 8 };

typedef struct interval {
    int     dimension;
    kn_span span; /* positions with rows at both ends */
    bool    done;
} interval;

typedef struct single {
    kn_context                 *ctx;
    const kn_space             *space;
    const kn_partition_problem *problem;
    kn_row_judge                judge;
    interval                   *intervals;
    size_t                      interval_count, interval_capacity;
    kn_regions                  regions;
    uint32_t                   *member; /* regions × dimensions: which interval */
    size_t                      member_capacity;
    uint32_t                   *counts; /* of one region, 0 between                     */
    uint32_t                   *all;    /* of all regions in the interval               */
    uint64_t                   *bad;    /* places: cutting after this position is not allowable  */
    kn_partition_counters      *counters;
} single;

static bool add_interval(single *s, interval item)
{
    if (!KN_GROW(s->ctx, &s->intervals, &s->interval_capacity, s->interval_count + 1)) return false;
    s->intervals[s->interval_count++] = item;
    return true;
}

/* `like`: the region whose intervals it shares; SIZE_MAX: the first intervals of all dimensions. */
static bool add_region(single *s, kn_region region, size_t like)
{
    size_t dimensions = (size_t)s->space->count;
    if (!KN_GROW(s->ctx, &s->member, &s->member_capacity, (s->regions.count + 1) * dimensions)) return false;
    uint32_t *mine = s->member + s->regions.count * dimensions;
    for (size_t q = 0; q < dimensions; q++) mine[q] = like == SIZE_MAX ? (uint32_t)q : s->member[like * dimensions + q];
    return kn_regions_add(&s->regions, s->ctx, region);
}

static bool inside(const single *s, size_t region, size_t which)
{
    return s->member[region * (size_t)s->space->count + (size_t)s->intervals[which].dimension] == which;
}

static kn_status begin(single *s, kn_error *err)
{
    const kn_space *space = s->space;
    kn_span        *spans = kn_alloc_array(s->ctx, (size_t)space->count, sizeof *spans);
    size_t          words = kn_bitset_words(space->most_positions);
    s->counts = kn_alloc_array_zero(s->ctx, space->most_positions, sizeof *s->counts);
    s->all = kn_alloc_array_zero(s->ctx, space->most_positions, sizeof *s->all);
    s->bad = kn_alloc_array_zero(s->ctx, words, sizeof *s->bad);
    bool ok = spans && s->counts && s->all && s->bad;
    if (ok) {
        kn_space_spans(space, (kn_region){0, space->rows, 0}, spans);
        for (int q = 0; ok && q < space->count; q++)
            ok = add_interval(s, (interval){q, spans[q], spans[q].low == spans[q].high});
        ok = ok && add_region(s, (kn_region){0, space->rows, 0}, SIZE_MAX);
    }
    kn_free(spans);
    return ok ? KN_OK : kn_fail_memory(err, s->ctx, WHAT);
}

static size_t widest(const single *s)
{
    size_t best = SIZE_MAX;
    double most = -1;
    for (size_t i = 0; i < s->interval_count; i++) {
        const interval *v = &s->intervals[i];
        if (v->done) continue;
        double width = kn_space_loss(&s->space->dimensions[v->dimension], v->span, v->span.high - v->span.low + 1);
        if (width > most) {
            most = width;
            best = i;
        }
    }
    return best;
}

/* Marks the places where some region would get a part that is too small, and adds up the interval's frequency set. */
static void mark_bad_places(single *s, size_t which)
{
    const interval *v = &s->intervals[which];
    kn_span         span = v->span;
    memset(s->bad, 0, kn_bitset_words(s->space->most_positions) * sizeof *s->bad);
    for (size_t r = 0; r < s->regions.count; r++) {
        if (!inside(s, r, which)) continue;
        kn_region region = s->regions.items[r];
        int64_t   before = 0, rows = kn_space_size(s->space, region);
        kn_space_count(s->space, region, v->dimension, s->counts);
        s->counters->frequency_sets++;
        for (uint32_t p = span.low; p <= span.high; p++) {
            before += s->counts[p];
            s->all[p] += s->counts[p];
            s->counts[p] = 0;
            int64_t after = rows - before;
            if ((before > 0 && before < s->judge.smallest) || (after > 0 && after < s->judge.smallest))
                kn_bitset_set(s->bad, p);
        }
    }
    const kn_dimension *d = &s->space->dimensions[v->dimension];
    if (!d->nodes || span.high == d->positions) return;
    uint32_t parent = kn_hierarchy_lca_span(d->hierarchy, span.low, span.high);
    uint32_t child = kn_hierarchy_child(d->hierarchy, parent);
    for (uint32_t p = span.low; p < span.high; p++) {
        while (child != KN_NODE_NONE && d->hierarchy->last[child] - 1 < p)
            child = kn_hierarchy_sibling(d->hierarchy, child);
        if (child == KN_NODE_NONE || d->hierarchy->last[child] - 1 != p) kn_bitset_set(s->bad, p);
    }
}

/* The allowable place nearest to the median, or UINT32_MAX. Places without rows of their own are the same cut as the one
 * before them. */
static uint32_t nearest_place(const single *s, kn_span span)
{
    uint64_t rows = 0, before = 0, best_gap = UINT64_MAX;
    uint32_t best = UINT32_MAX;
    for (uint32_t p = span.low; p <= span.high; p++) rows += s->all[p];
    for (uint32_t p = span.low; p < span.high; p++) {
        before += s->all[p];
        uint64_t gap = 2 * before > rows ? 2 * before - rows : rows - 2 * before;
        if (kn_bitset_test(s->bad, p) || gap >= best_gap) continue;
        if (s->all[p] == 0 && p > span.low && !kn_bitset_test(s->bad, p - 1)) continue;
        best = p;
        best_gap = gap;
    }
    return best;
}

/* Do both parts of every region that the cut divides satisfy the requirements? Moves records inside regions only. */
static kn_status holds_everywhere(bool *out, single *s, size_t which, kn_cut cut, kn_error *err)
{
    *out = true;
    for (size_t r = 0; *out && r < s->regions.count; r++) {
        if (!inside(s, r, which)) continue;
        kn_region region = s->regions.items[r];
        uint32_t  at = kn_space_cut(s->space, region, cut);
        if (at == region.begin || at == region.end) continue;
        KN_TRY(kn_region_holds(out, s->space, &s->judge, (kn_region){region.begin, at, 0}, err));
        if (*out) KN_TRY(kn_region_holds(out, s->space, &s->judge, (kn_region){at, region.end, 0}, err));
    }
    return KN_OK;
}

static kn_status divide(single *s, size_t which, uint32_t place, kn_error *err)
{
    interval v = s->intervals[which];
    kn_span  low = {v.span.low, place}, high = {place + 1, v.span.high};
    while (s->all[low.high] == 0) low.high--;
    while (s->all[high.low] == 0) high.low++;
    s->intervals[which] = (interval){v.dimension, low, low.low == low.high};
    if (!add_interval(s, (interval){v.dimension, high, high.low == high.high}))
        return kn_fail_memory(err, s->ctx, WHAT);
    uint32_t new_interval = (uint32_t)s->interval_count - 1;
    size_t   count = s->regions.count, dimensions = (size_t)s->space->count;
    for (size_t r = 0; r < count; r++) {
        if (!inside(s, r, which)) continue;
        kn_region region = s->regions.items[r];
        uint32_t  at = kn_space_cut(s->space, region, (kn_cut){v.dimension, 0, place});
        if (at == region.end) continue;
        size_t second = r;
        if (at > region.begin) {
            s->regions.items[r] = (kn_region){region.begin, at, region.depth + 1};
            if (!add_region(s, (kn_region){at, region.end, region.depth + 1}, r))
                return kn_fail_memory(err, s->ctx, WHAT);
            second = s->regions.count - 1;
            if (region.depth + 1 > s->counters->depth) s->counters->depth = region.depth + 1;
        }
        s->member[second * dimensions + (size_t)v.dimension] = new_interval;
    }
    s->counters->cuts++;
    return KN_OK;
}

static kn_status cut_interval(single *s, size_t which, kn_error *err)
{
    kn_span   span = s->intervals[which].span;
    int       dimension = s->intervals[which].dimension;
    uint32_t  place = UINT32_MAX;
    kn_status status = KN_OK;
    mark_bad_places(s, which);
    for (int tries = 0; tries < PLACES_TRIED; tries++) {
        bool holds = true;
        place = nearest_place(s, span);
        s->counters->cuts_tried++;
        if (place == UINT32_MAX || kn_row_judge_size_says_all(&s->judge)) break;
        status = holds_everywhere(&holds, s, which, (kn_cut){dimension, 0, place}, err);
        if (status != KN_OK || holds) break;
        kn_bitset_set(s->bad, place);
        place = UINT32_MAX;
    }
    if (status == KN_OK && place == UINT32_MAX)
        s->intervals[which].done = true;
    else if (status == KN_OK)
        status = divide(s, which, place, err);
    memset(s->all + span.low, 0, ((size_t)(span.high - span.low) + 1) * sizeof *s->all);
    return status;
}

static kn_status hand_over(kn_regions *out, kn_span **spans, single *s, kn_error *err)
{
    size_t cells = s->regions.count * (size_t)s->space->count;
    *spans = kn_alloc_array(s->ctx, cells + 1, sizeof **spans);
    if (!*spans) return kn_fail_memory(err, s->ctx, WHAT);
    for (size_t i = 0; i < cells; i++) (*spans)[i] = s->intervals[s->member[i]].span;
    *out = s->regions;
    s->regions = (kn_regions){0};
    return KN_OK;
}

kn_status kn_mondrian_1d_run(kn_regions *out, kn_span **spans, kn_partition_counters *counters, const kn_space *space,
                             const kn_partition_problem *problem, kn_error *err)
{
    single s = {.ctx = space->ctx, .space = space, .problem = problem, .counters = counters};
    *out = (kn_regions){0};
    *spans = NULL;
    KN_TRY(kn_region_judge_make(&s.judge, space, problem, err));
    kn_progress_begin(space->ctx, WHAT, "cuts", 0);
    kn_status status = begin(&s, err);
    while (status == KN_OK) {
        size_t which = widest(&s);
        if (which == SIZE_MAX) break;
        if (kn_cancelled(space->ctx))
            status = kn_fail_cancelled(err);
        else
            status = cut_interval(&s, which, err);
        kn_progress_add(space->ctx, 1);
    }
    if (status == KN_OK) status = hand_over(out, spans, &s, err);
    kn_progress_end(space->ctx);
    kn_row_judge_free(&s.judge);
    KN_FREE(s.intervals, s.regions.items, s.member, s.counts, s.all, s.bad);
    return status;
}
