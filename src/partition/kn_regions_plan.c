/* kn_regions_plan.c: finished regions → the plan (kn_mondrian.h).
 *
 * A region's cells are as narrow as its own rows allow: one value unchanged, the lowest common ancestor in a
 * hierarchy, a range between the smallest and the largest number, or the set of values that occur. Regions that show
 * the same (under a hierarchy, or with shared ties) become one class, since a reader cannot distinguish them.
 *
 * Once the cells are known only the row numbers of the points are needed: the rest is freed before the plan's own
 * arrays are made.
 *
 * Cost: a few passes over the records, parallel over regions, and a sort of the regions.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_compare.h"
#include "kn_error.h"
#include "kn_hash.h"
#include "kn_mondrian.h"
#include "kn_parallel.h"
#include "kn_sort.h"

enum { GRAIN = 256 };

typedef struct planner {
    kn_space         *space;
    const kn_regions *regions;
    const kn_span    *fixed;
    kn_cell          *cells; /* regions × dimensions                      */
    uint32_t         *members;
    size_t            member_count;
    kn_span         **spans;    /* per worker                                */
    uint32_t        **counts;   /* per worker, 0 between                     */
    uint32_t         *class_of; /* region → class                            */
    kn_plan          *plan;
    int               workers;
} planner;

/* ---- Cells ---- */

static kn_cell cell_of(const kn_dimension *d, kn_span span)
{
    if (span.low == span.high) return (kn_cell){KN_CELL_VALUE, d->code_of[span.low], 0};
    bool with_missing = span.high == d->positions;
    if (d->nodes)
        return (kn_cell){KN_CELL_NODE,
                         with_missing ? kn_hierarchy_root(d->hierarchy)
                                      : kn_hierarchy_lca_span(d->hierarchy, span.low, span.high),
                         0};
    if (with_missing) return (kn_cell){KN_CELL_STAR, 0, 0};
    if (d->ranges) return (kn_cell){KN_CELL_RANGE, d->code_of[span.low], d->code_of[span.high]};
    return (kn_cell){KN_CELL_SET, 0, 0};
}

/* Visits the values of a set: counts them, or writes them if `to` is given. */
static uint32_t list_set(planner *p, size_t region, int q, kn_span span, int worker, uint32_t *to)
{
    const kn_dimension *d = &p->space->dimensions[q];
    uint32_t           *counts = p->counts[worker], found = 0;
    if (!p->fixed) kn_space_count(p->space, p->regions->items[region], q, counts);
    for (uint32_t at = span.low; at <= span.high; at++) {
        bool in = p->fixed ? d->code_of[at] != UINT32_MAX : counts[at] > 0;
        counts[at] = 0;
        if (!in) continue;
        if (to) to[found] = d->code_of[at];
        found++;
    }
    if (to) qsort(to, found, sizeof *to, kn_compare_u32);
    return found;
}

static const kn_span *spans_of(planner *p, size_t region, int worker)
{
    if (p->fixed) return p->fixed + region * (size_t)p->space->count;
    kn_space_spans(p->space, p->regions->items[region], p->spans[worker]);
    return p->spans[worker];
}

static kn_status make_cells(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    planner *p = arg;
    (void)err;
    for (int64_t r = begin; r < end; r++) {
        const kn_span *spans = spans_of(p, (size_t)r, worker);
        for (int q = 0; q < p->space->count; q++) {
            kn_cell *cell = &p->cells[r * p->space->count + q];
            *cell = cell_of(&p->space->dimensions[q], spans[q]);
            if (cell->kind == KN_CELL_SET) cell->b = list_set(p, (size_t)r, q, spans[q], worker, NULL);
        }
    }
    return KN_OK;
}

static kn_status fill_sets(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    planner *p = arg;
    (void)err;
    for (int64_t r = begin; r < end; r++) {
        const kn_span *spans = NULL;
        for (int q = 0; q < p->space->count; q++) {
            kn_cell *cell = &p->cells[r * p->space->count + q];
            if (cell->kind != KN_CELL_SET) continue;
            if (!spans) spans = spans_of(p, (size_t)r, worker);
            (void)list_set(p, (size_t)r, q, spans[q], worker, p->members + cell->a);
        }
    }
    return KN_OK;
}

static bool shows_sets(const kn_space *space)
{
    for (int q = 0; q < space->count; q++)
        if (!space->dimensions[q].nodes && !space->dimensions[q].ranges) return true;
    return false;
}

static kn_status place_sets(planner *p, kn_error *err)
{
    size_t cells = p->regions->count * (size_t)p->space->count;
    if (!shows_sets(p->space)) return KN_OK;
    for (size_t i = 0; i < cells; i++)
        if (p->cells[i].kind == KN_CELL_SET) {
            if (p->member_count + p->cells[i].b > UINT32_MAX)
                return kn_fail(err, KN_USAGE, "the sets of values have more than 4,294,967,295 members in all");
            p->cells[i].a = (uint32_t)p->member_count;
            p->member_count += p->cells[i].b;
        }
    if (p->member_count == 0) return KN_OK;
    if (!KN_ALLOC(p->space->ctx, p->members, p->member_count))
        return kn_fail_memory(err, p->space->ctx, "partitioning");
    return kn_parallel_for(p->space->ctx, (int64_t)p->regions->count, GRAIN, fill_sets, p, err);
}

/* ---- Classes ---- */

static bool same_cell(const planner *p, const kn_cell *a, const kn_cell *b)
{
    if (a->kind != b->kind) return false;
    if (a->kind != KN_CELL_SET) return a->a == b->a && a->b == b->b;
    return a->b == b->b && memcmp(p->members + a->a, p->members + b->a, a->b * sizeof *p->members) == 0;
}

static uint64_t hash_region(const planner *p, size_t region)
{
    uint64_t hash = 0;
    for (int q = 0; q < p->space->count; q++) {
        const kn_cell *cell = &p->cells[region * (size_t)p->space->count + (size_t)q];
        uint64_t part = cell->kind == KN_CELL_SET ? kn_hash_bytes(p->members + cell->a, cell->b * sizeof *p->members)
                                                  : (uint64_t)cell->a << 32 | cell->b;
        hash = kn_hash_mix(hash ^ part, 0x9e3779b97f4a7c15u) + cell->kind;
    }
    return hash;
}

static bool same_region(const planner *p, size_t a, size_t b)
{
    for (int q = 0; q < p->space->count; q++)
        if (!same_cell(p, &p->cells[a * (size_t)p->space->count + (size_t)q],
                       &p->cells[b * (size_t)p->space->count + (size_t)q]))
            return false;
    return true;
}

typedef struct finding {
    const planner  *p;
    kn_sort_record *records; /* hash and region */
} finding;

static kn_status hash_range(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    const finding *f = arg;
    (void)worker;
    (void)err;
    for (int64_t r = begin; r < end; r++) f->records[r] = (kn_sort_record){hash_region(f->p, (size_t)r), (uint64_t)r};
    return KN_OK;
}

/* The runs of equal hashes that begin in [from, to). */
static kn_status find_range(void *arg, int64_t from, int64_t to, int worker, kn_error *err)
{
    const finding        *f = arg;
    const kn_sort_record *records = f->records;
    size_t                n = f->p->regions->count, begin = (size_t)from, end;
    (void)worker;
    (void)err;
    while (begin > 0 && begin < (size_t)to && records[begin].key == records[begin - 1].key) begin++;
    for (; begin < (size_t)to; begin = end)
        for (end = begin; end < n && records[end].key == records[begin].key; end++) {
            size_t first = begin;
            while (first < end && !same_region(f->p, records[first].id, records[end].id)) first++;
            f->p->class_of[records[end].id] = (uint32_t)records[first].id; /* equal hashes: ids ascend */
        }
    return KN_OK;
}

/* Finds for each region the first one that shows the same, then numbers these. */
static kn_status find_classes(planner *p, uint32_t *classes, kn_error *err)
{
    size_t      n = p->regions->count;
    kn_context *ctx = p->space->ctx;
    finding     f = {p, kn_alloc_array(ctx, n + 1, sizeof *f.records)};
    if (!f.records) return kn_fail_memory(err, ctx, "partitioning");
    kn_status status = kn_parallel_for(ctx, (int64_t)n, GRAIN, hash_range, &f, err);
    if (status == KN_OK) status = kn_sort_records(ctx, f.records, n, NULL, NULL, err);
    if (status == KN_OK) status = kn_parallel_for(ctx, (int64_t)n, GRAIN, find_range, &f, err);
    kn_free(f.records);
    *classes = 0;
    if (status != KN_OK) return status; /* cancelled: there are no firsts */
    for (size_t r = 0; r < n; r++) p->class_of[r] = p->class_of[r] == r ? (*classes)++ : p->class_of[p->class_of[r]];
    return KN_OK;
}

static kn_status assign_rows(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    planner *p = arg;
    (void)worker;
    (void)err;
    for (int64_t r = begin; r < end; r++) {
        kn_region region = p->regions->items[r];
        for (uint32_t i = region.begin; i < region.end; i++)
            p->plan->class_of_row[kn_space_row(p->space, i)] = p->class_of[r];
    }
    return KN_OK;
}

/* The cells of the first region of each class move to the front: they are the plan's. */
static kn_status take_cells(planner *p, uint32_t classes, kn_error *err)
{
    size_t      dimensions = (size_t)p->space->count;
    kn_context *ctx = p->space->ctx;
    KN_TRY(kn_plan_create(&p->plan, ctx, p->space->table_rows, p->space->count, 0, err));
    int64_t *rows = kn_alloc_array_zero(ctx, (size_t)classes + 1, sizeof *rows);
    if (!rows) return kn_fail_memory(err, ctx, "partitioning");
    kn_free(p->plan->class_rows);
    p->plan->class_rows = rows;
    for (size_t r = 0; r < p->regions->count; r++) {
        uint32_t c = p->class_of[r];
        if (rows[c] == 0 && c < r)
            memmove(p->cells + c * dimensions, p->cells + r * dimensions, dimensions * sizeof *p->cells);
        rows[c] += kn_space_size(p->space, p->regions->items[r]);
    }
    kn_free(p->plan->cells);
    p->plan->cells = p->cells;
    p->plan->classes = classes;
    p->plan->members = p->members;
    p->plan->member_count = p->member_count;
    p->cells = NULL;
    p->members = NULL;
    return KN_OK;
}

static kn_status make_plan(planner *p, kn_error *err)
{
    uint32_t classes = 0;
    if (!KN_ALLOC(p->space->ctx, p->class_of, p->regions->count + 1))
        return kn_fail_memory(err, p->space->ctx, "partitioning");
    KN_TRY(find_classes(p, &classes, err));
    KN_TRY(take_cells(p, classes, err));
    return kn_parallel_for(p->space->ctx, (int64_t)p->regions->count, GRAIN, assign_rows, p, err);
}

static kn_status make_scratch(planner *p, kn_error *err)
{
    kn_context *ctx = p->space->ctx;
    p->workers = kn_context_threads(ctx);
    if (!KN_ALLOC(ctx, p->cells, p->regions->count * (size_t)p->space->count + 1) ||
        !KN_ALLOC_ZERO(ctx, p->spans, (size_t)p->workers) || !KN_ALLOC_ZERO(ctx, p->counts, (size_t)p->workers))
        return kn_fail_memory(err, ctx, "partitioning");
    for (int i = 0; i < p->workers; i++) {
        p->spans[i] = kn_alloc_array(ctx, (size_t)p->space->count, sizeof **p->spans);
        p->counts[i] = kn_alloc_array_zero(ctx, p->space->most_positions, sizeof **p->counts);
        if (!p->spans[i] || !p->counts[i]) return kn_fail_memory(err, ctx, "partitioning");
    }
    return KN_OK;
}

kn_status kn_regions_plan(kn_plan **out, kn_space *space, const kn_regions *regions, const kn_span *spans,
                          kn_error *err)
{
    planner p = {.space = space, .regions = regions, .fixed = spans};
    *out = NULL;
    kn_status status = make_scratch(&p, err);
    if (status == KN_OK) status = kn_parallel_for(space->ctx, (int64_t)regions->count, GRAIN, make_cells, &p, err);
    if (status == KN_OK) status = place_sets(&p, err);
    if (status == KN_OK) status = kn_space_keep_rows(space, err);
    if (status == KN_OK) status = make_plan(&p, err);
    if (status == KN_OK)
        *out = p.plan;
    else
        kn_plan_free(p.plan);
    for (int i = 0; i < p.workers; i++) {
        if (p.spans) kn_free(p.spans[i]);
        if (p.counts) kn_free(p.counts[i]);
    }
    KN_FREE(p.spans, p.counts, p.cells, p.members, p.class_of);
    return status;
}
