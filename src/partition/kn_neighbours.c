/* kn_neighbours.c: classes exchange points with their neighbours (kn_neighbours.h).
 *
 * mondrian-best finishes each bucket by itself; what lies on both sides of a bucket's border never meets. Here the classes
 * are arranged in new groups, round after round: cuts through their centres, in dimensions and at places that differ from
 * round to round, until some dozen classes are left, which then exchange points (kn_exchange.c). Classes that are near each
 * other so meet in some round. The temperature falls from round to round; what is not better in the end is forgotten.
 *
 * Parallel: groups of a round are disjoint. Cuts and exchanges come from a generator seeded by round and place, and
 * everything depends on values and their order alone.
 *
 * Cost: a few rounds of classes × log(classes), and for each group a cost that does not grow with the table. Memory: 12
 * bytes per point, 4 per class and dimension, and while records are rearranged a second copy of them.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_neighbours.h"

#include <string.h>

#include "kn_alloc.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_exchange.h"
#include "kn_parallel.h"
#include "kn_rng.h"
#include "kn_sort.h"

#define WHAT "partitioning"
#define HOT 0.03 /* the first temperature, in what a bad step usually costs */

enum {
    ROUNDS = 6,
    STEPS = 40, /* per point and round */
    GROUP_CLASSES = 64,
    GROUP_POINTS = 2048,
    GRAIN = 64,
    POLES_TRIED = 4,
    CUT_FROM = 3, /* tenths: where a cut may be */
    CUT_UP_TO = 7
};

typedef struct loss_pair {
    double before, after;
} loss_pair;

/* A class is members[begin] to members[end]. */
typedef struct span_of_points {
    uint32_t begin, end;
} span_of_points;

typedef struct worker_state {
    kn_row_judge   judge;
    kn_exchange   *exchange;
    uint32_t      *order; /* records of a region */
    unsigned char *records;
    int64_t        changes;
} worker_state;

typedef struct neighbours {
    const kn_space *space;
    kn_context     *ctx;
    kn_regions     *regions;
    uint32_t        most, most_points;
    worker_state   *workers;
    int             worker_count;
    uint32_t        point_count;
    uint32_t       *first;   /* point → its first record; one more */
    uint32_t       *starts;  /* region → its first point; one more */
    uint32_t       *members; /* points, class after class */
    uint32_t       *next;    /* ... in the groups of this round */
    span_of_points *classes;
    uint32_t        class_count;
    uint32_t       *centres; /* class × dimension: twice the middle of its positions */
    uint64_t       *order;   /* (key, class), while groups are made */
    uint32_t       *ends;    /* class of a group → end of its points, within the group */
    size_t          end_capacity, slot_capacity, count_capacity;
    uint32_t       *slots;  /* group → its first place in `ends` */
    uint32_t       *counts; /* group → its classes afterwards */
    span_of_points *next_classes;
    int             round;
    double         *weights, farthest; /* of dimensions, and their sum */
    kn_regions      groups;            /* ranges of `order` */
    uint32_t       *places;            /* group → its first place in `next` */
    size_t          place_capacity;
    loss_pair      *losses; /* per group */
    size_t          loss_capacity;
    unsigned char  *records;
} neighbours;

/* ---- Points ---- */

static uint32_t position_at(const kn_space *space, int q, uint32_t record)
{
    return kn_space_position(space, &space->dimensions[q], record);
}

static bool equal_records(const kn_space *space, uint32_t a, uint32_t b)
{
    for (int q = 0; q < space->count; q++)
        if (position_at(space, q, a) != position_at(space, q, b)) return false;
    return true;
}

static bool comes_before(const void *arg, uint32_t a, uint32_t b)
{
    const kn_space *space = arg;
    for (int q = 0; q < space->count; q++) {
        uint32_t x = position_at(space, q, a), y = position_at(space, q, b);
        if (x != y) return x < y;
    }
    return kn_space_row(space, a) < kn_space_row(space, b);
}

/* Regions that are too large to be changed count as one point. */
static bool is_fixed(const neighbours *n, kn_region region)
{
    return region.end - region.begin > n->most;
}

/* Puts the records of each region in order, so that equal ones are adjacent, and counts the points. */
static kn_status sort_regions(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    neighbours     *n = arg;
    const kn_space *space = n->space;
    worker_state   *w = &n->workers[worker];
    size_t          stride = space->stride;
    (void)err;
    for (int64_t r = begin; r < end; r++) {
        kn_region region = n->regions->items[r];
        uint32_t  size = region.end - region.begin, points = 1;
        for (uint32_t i = 0; i < size && !is_fixed(n, region); i++) w->order[i] = region.begin + i;
        if (!is_fixed(n, region)) {
            kn_sort_numbers(w->order, size, comes_before, space);
            for (uint32_t i = 0; i < size; i++) {
                memcpy(w->records + i * stride, space->records + (size_t)w->order[i] * stride, stride);
                points += i > 0 && !equal_records(space, w->order[i], w->order[i - 1]);
            }
            memcpy(space->records + (size_t)region.begin * stride, w->records, size * stride);
        }
        n->starts[r] = points;
    }
    return KN_OK;
}

static kn_status list_points(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    neighbours *n = arg;
    (void)worker;
    (void)err;
    for (int64_t r = begin; r < end; r++) {
        kn_region region = n->regions->items[r];
        uint32_t  p = n->starts[r];
        n->first[p++] = region.begin;
        for (uint32_t i = region.begin + 1; i < region.end && !is_fixed(n, region); i++)
            if (!equal_records(n->space, i, i - 1)) n->first[p++] = i;
    }
    return KN_OK;
}

static kn_status make_points(neighbours *n, kn_error *err)
{
    int64_t  count = (int64_t)n->regions->count;
    uint32_t points = 0;
    KN_TRY(kn_parallel_for(n->ctx, count, GRAIN, sort_regions, n, err));
    for (int64_t r = 0; r < count; r++) {
        uint32_t here = n->starts[r];
        n->starts[r] = points;
        points += here;
    }
    n->starts[count] = n->point_count = points;
    if (!KN_ALLOC(n->ctx, n->first, (size_t)points + 1) || !KN_ALLOC(n->ctx, n->members, points) ||
        !KN_ALLOC(n->ctx, n->next, points))
        return kn_fail_memory(err, n->ctx, WHAT);
    KN_TRY(kn_parallel_for(n->ctx, count, GRAIN, list_points, n, err));
    n->first[points] = n->space->rows;
    /* Classes that can change come first. */
    uint32_t at = 0;
    for (int fixed = 0; fixed < 2; fixed++) {
        for (int64_t r = 0; r < count; r++) {
            if (is_fixed(n, n->regions->items[r]) != (fixed == 1)) continue;
            n->classes[n->class_count++] = (span_of_points){at, at + n->starts[r + 1] - n->starts[r]};
            for (uint32_t p = n->starts[r]; p < n->starts[r + 1]; p++) n->members[at++] = p;
        }
    }
    return KN_OK;
}

/* ---- Groups ---- */

static kn_status find_centres(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    neighbours *n = arg;
    (void)worker;
    (void)err;
    for (int64_t c = begin; c < end; c++)
        for (int q = 0; q < n->space->count; q++) {
            uint32_t low = UINT32_MAX, high = 0;
            for (uint32_t i = n->classes[c].begin; i < n->classes[c].end; i++) {
                uint32_t at = position_at(n->space, q, n->first[n->members[i]]);
                low = at < low ? at : low;
                high = at > high ? at : high;
            }
            n->centres[c * n->space->count + q] = low / 2 + high / 2 + (low & high & 1);
        }
    return KN_OK;
}

static uint32_t class_at(const neighbours *n, uint32_t place)
{
    return (uint32_t)n->order[place];
}

/* What two classes would lose between their centres. */
static double distance(const neighbours *n, uint32_t a, uint32_t b)
{
    size_t d = (size_t)n->space->count;
    double sum = 0;
    for (size_t q = 0; q < d; q++) {
        uint32_t x = n->centres[a * d + q], y = n->centres[b * d + q];
        if (x != y)
            sum += n->weights[q] * kn_space_loss(&n->space->dimensions[q], (kn_span){x < y ? x : y, x < y ? y : x}, 2);
    }
    return sum;
}

/* Two classes far apart: of a few, the one farthest from the first, by chance. */
static void choose_poles(const neighbours *n, kn_region range, kn_rng *rng, uint32_t poles[2])
{
    double   best = -1;
    uint32_t size = range.end - range.begin;
    poles[0] = poles[1] = class_at(n, range.begin + (uint32_t)kn_rng_below(rng, size));
    for (int i = 0; i < POLES_TRIED; i++) {
        uint32_t c = class_at(n, range.begin + (uint32_t)kn_rng_below(rng, size));
        double   d = distance(n, poles[0], c);
        if (d > best) {
            best = d;
            poles[1] = c;
        }
    }
}

/* Puts the `wanted` smallest of distinct numbers to the front (Hoare's selection). */
static void select_smallest(uint64_t *numbers, uint32_t count, uint32_t wanted)
{
    int64_t low = 0, high = (int64_t)count - 1, last = (int64_t)wanted - 1;
    while (low < high) {
        uint64_t pivot = numbers[low + (high - low) / 2];
        int64_t  i = low, j = high;
        while (i <= j) {
            while (numbers[i] < pivot) i++;
            while (numbers[j] > pivot) j--;
            if (i > j) break;
            uint64_t held = numbers[i];
            numbers[i++] = numbers[j];
            numbers[j--] = held;
        }
        if (last <= j)
            high = j;
        else if (last >= i)
            low = i;
        else
            return;
    }
}

static uint32_t points_in(const neighbours *n, kn_region range)
{
    uint64_t points = 0;
    for (uint32_t i = range.begin; i < range.end; i++) {
        span_of_points c = n->classes[class_at(n, i)];
        points += c.end - c.begin;
    }
    return points > UINT32_MAX ? UINT32_MAX : (uint32_t)points;
}

static kn_status make_groups(neighbours *n, uint32_t movable, int round, kn_error *err)
{
    kn_regions stack = {0};
    bool       ok = kn_regions_add(&stack, n->ctx, (kn_region){0, movable, 0});
    n->groups.count = 0;
    for (uint32_t c = 0; c < movable; c++) n->order[c] = c;
    while (ok && stack.count > 0) {
        kn_region range = stack.items[--stack.count];
        uint32_t  size = range.end - range.begin;
        kn_rng    rng;
        if (size == 1 || (size <= GROUP_CLASSES && points_in(n, range) <= n->most_points)) {
            ok = kn_regions_add(&n->groups, n->ctx, range);
            continue;
        }
        kn_rng_init(&rng, (uint64_t)round, range.begin);
        uint32_t poles[2];
        choose_poles(n, range, &rng, poles);
        for (uint32_t i = range.begin; i < range.end; i++) {
            uint32_t c = class_at(n, i);
            double   nearer = distance(n, c, poles[0]) - distance(n, c, poles[1]); /* -most to most */
            n->order[i] = (uint64_t)((nearer + n->farthest) / (2 * n->farthest) * 0xfffffff0u) << 32 | c;
        }
        uint64_t share = CUT_FROM * 100 + kn_rng_below(&rng, (CUT_UP_TO - CUT_FROM) * 100 + 1);
        uint32_t first = (uint32_t)(size * share / 1000);
        first = first == 0 ? 1 : first;
        select_smallest(n->order + range.begin, size, first);
        ok = kn_regions_add(&stack, n->ctx, (kn_region){range.begin + first, range.end, 0}) &&
             kn_regions_add(&stack, n->ctx, (kn_region){range.begin, range.begin + first, 0});
    }
    kn_free(stack.items);
    return ok ? KN_OK : kn_fail_memory(err, n->ctx, WHAT);
}

/* ---- Rounds ---- */

/* One group: gathers the points of its classes, which then exchange some. */
static kn_status exchange_groups(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    neighbours   *n = arg;
    worker_state *w = &n->workers[worker];
    for (int64_t i = begin; i < end; i++) {
        kn_region           group = n->groups.items[i];
        kn_exchange_classes classes = {n->first, n->next + n->places[i], n->ends + n->slots[i], group.end - group.begin,
                                       n->slots[i + 1] - n->slots[i]};
        uint32_t            at = 0;
        if (kn_cancelled(n->ctx)) return kn_fail_cancelled(err);
        for (uint32_t c = 0; c < classes.count; c++) {
            span_of_points from = n->classes[class_at(n, group.begin + c)];
            memcpy(classes.members + at, n->members + from.begin, (from.end - from.begin) * sizeof *n->members);
            at += from.end - from.begin;
            classes.ends[c] = at;
        }
        kn_exchange_heat heat = {.from = HOT * (ROUNDS - n->round) / ROUNDS,
                                 .to = HOT * (ROUNDS - n->round - 1) / ROUNDS,
                                 .steps = STEPS,
                                 .seed = ROUNDS + (uint64_t)n->round,
                                 .stream = (uint64_t)i};
        loss_pair       *loss = &n->losses[i];
        KN_TRY(kn_exchange_run(&loss->before, &loss->after, &w->changes, w->exchange, &classes, &heat, err));
        n->counts[i] = classes.count;
    }
    return KN_OK;
}

/* The groups' classes are all that can change; those that cannot stay behind them. */
static void take_over(neighbours *n, uint32_t *movable)
{
    uint32_t kept = 0, fixed = n->class_count - *movable;
    uint32_t points = fixed ? n->classes[*movable].begin : n->point_count;
    memcpy(n->next + points, n->members + points, (n->point_count - points) * sizeof *n->members);
    span_of_points *behind = n->classes + *movable;
    for (size_t g = 0; g < n->groups.count; g++) {
        uint32_t at = n->places[g];
        for (uint32_t c = 0; c < n->counts[g]; c++) {
            span_of_points class = {at, n->places[g] + n->ends[n->slots[g] + c]};
            if (class.end > class.begin) n->next_classes[kept++] = class;
            at = class.end;
        }
    }
    memcpy(n->next_classes + kept, behind, fixed * sizeof *behind);
    span_of_points *swap_classes = n->classes;
    n->classes = n->next_classes;
    n->next_classes = swap_classes;
    *movable = kept;
    n->class_count = kept + fixed;
    uint32_t *swap = n->members;
    n->members = n->next;
    n->next = swap;
}

static kn_status run_round(loss_pair *loss, neighbours *n, uint32_t *movable, int round, kn_error *err)
{
    KN_TRY(kn_parallel_for(n->ctx, *movable, GRAIN, find_centres, n, err));
    KN_TRY(make_groups(n, *movable, round, err));
    if (!KN_GROW(n->ctx, &n->slots, &n->slot_capacity, n->groups.count + 1) ||
        !KN_GROW(n->ctx, &n->counts, &n->count_capacity, n->groups.count + 1) ||
        !KN_GROW(n->ctx, &n->places, &n->place_capacity, n->groups.count + 1) ||
        !KN_GROW(n->ctx, &n->losses, &n->loss_capacity, n->groups.count + 1))
        return kn_fail_memory(err, n->ctx, WHAT);
    uint32_t at = 0, slot = 0;
    for (size_t g = 0; g < n->groups.count; g++) {
        uint32_t classes = n->groups.items[g].end - n->groups.items[g].begin;
        n->places[g] = at;
        n->slots[g] = slot;
        at += points_in(n, n->groups.items[g]);
        slot += classes + classes / 4 + 2;
    }
    n->slots[n->groups.count] = slot;
    if (!KN_GROW(n->ctx, &n->ends, &n->end_capacity, slot)) return kn_fail_memory(err, n->ctx, WHAT);
    n->round = round;
    KN_TRY(kn_parallel_for(n->ctx, (int64_t)n->groups.count, 1, exchange_groups, n, err));
    *loss = (loss_pair){0, 0};
    for (size_t g = 0; g < n->groups.count; g++) {
        loss->before += n->losses[g].before;
        loss->after += n->losses[g].after;
    }
    take_over(n, movable);
    return KN_OK;
}

/* *better: is there anything to gain from the classes that were found? */
static kn_status run_rounds(bool *better, neighbours *n, kn_error *err)
{
    uint32_t  movable = 0;
    double    first = 0;
    loss_pair loss = {0, 0};
    *better = false;
    while (movable < n->class_count &&
           !is_fixed(n, (kn_region){n->first[n->members[n->classes[movable].begin]],
                                    n->first[n->members[n->classes[movable].begin] + 1], 0}))
        movable++;
    if (movable < 2) return KN_OK;
    for (int round = 0; round < ROUNDS; round++) {
        KN_TRY(run_round(&loss, n, &movable, round, err));
        if (round == 0) first = loss.before;
    }
    *better = loss.after < first;
    return KN_OK;
}

/* ---- The records in their new order ---- */

static kn_status gather(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    neighbours *n = arg;
    size_t      stride = n->space->stride;
    (void)worker;
    (void)err;
    for (int64_t c = begin; c < end; c++) {
        uint32_t at = n->regions->items[c].begin;
        for (uint32_t i = n->classes[c].begin; i < n->classes[c].end; i++) {
            uint32_t p = n->members[i], rows = n->first[p + 1] - n->first[p];
            memcpy(n->records + (size_t)at * stride, n->space->records + (size_t)n->first[p] * stride, rows * stride);
            at += rows;
        }
    }
    return KN_OK;
}

static kn_status put_back(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    neighbours *n = arg;
    size_t      stride = n->space->stride;
    (void)worker;
    (void)err;
    memcpy(n->space->records + (size_t)begin * stride, n->records + (size_t)begin * stride,
           (size_t)(end - begin) * stride);
    return KN_OK;
}

static kn_status rearrange(neighbours *n, kn_error *err)
{
    uint32_t at = 0;
    KN_FREE(n->next, n->centres, n->order, n->ends);
    n->next = n->centres = n->ends = NULL;
    n->order = NULL;
    n->records = kn_alloc_array(n->ctx, n->space->rows, n->space->stride);
    if (!n->records || !KN_GROW(n->ctx, &n->regions->items, &n->regions->capacity, n->class_count))
        return kn_fail_memory(err, n->ctx, WHAT);
    for (uint32_t c = 0; c < n->class_count; c++) {
        kn_region *region = &n->regions->items[c];
        region->begin = at;
        region->depth = 0;
        for (uint32_t i = n->classes[c].begin; i < n->classes[c].end; i++)
            at += n->first[n->members[i] + 1] - n->first[n->members[i]];
        region->end = at;
    }
    n->regions->count = n->class_count;
    KN_TRY(kn_parallel_for(n->ctx, n->class_count, GRAIN, gather, n, err));
    return kn_parallel_for(n->ctx, n->space->rows, 1 << 16, put_back, n, err);
}

/* ---- All together ---- */

static kn_status make(neighbours *n, const kn_partition_problem *problem, kn_error *err)
{
    size_t count = n->regions->count, largest = 0;
    for (size_t r = 0; r < count; r++) {
        size_t size = n->regions->items[r].end - n->regions->items[r].begin;
        if (!is_fixed(n, n->regions->items[r]) && size > largest) largest = size;
    }
    size_t most = n->space->rows / (size_t)problem->requirements->k + count + 1;
    if (!KN_ALLOC_ZERO(n->ctx, n->workers, (size_t)n->worker_count) || !KN_ALLOC(n->ctx, n->starts, count + 1) ||
        !KN_ALLOC(n->ctx, n->classes, most) || !KN_ALLOC(n->ctx, n->next_classes, most) ||
        !KN_ALLOC(n->ctx, n->order, most) || !KN_ALLOC(n->ctx, n->centres, most * (size_t)n->space->count))
        return kn_fail_memory(err, n->ctx, WHAT);
    if (!KN_ALLOC(n->ctx, n->weights, (size_t)n->space->count)) return kn_fail_memory(err, n->ctx, WHAT);
    for (int q = 0; q < n->space->count; q++) {
        const kn_ratio *weight = problem->weights ? &problem->weights[q] : NULL;
        n->weights[q] = weight ? (double)weight->numerator / (double)weight->denominator : 1;
        n->farthest += n->weights[q];
    }
    if (n->farthest <= 0) n->farthest = 1;
    for (int i = 0; i < n->worker_count; i++) {
        worker_state *w = &n->workers[i];
        w->records = kn_alloc_array(n->ctx, largest + 1, n->space->stride);
        if (!w->records || !KN_ALLOC(n->ctx, w->order, largest + 1)) return kn_fail_memory(err, n->ctx, WHAT);
        KN_TRY(kn_region_judge_make(&w->judge, n->space, problem, err));
    }
    return KN_OK;
}

/* For as many points as a group can have. */
static kn_status make_exchanges(neighbours *n, const kn_partition_problem *problem, kn_error *err)
{
    uint32_t most = n->most_points < n->point_count ? n->most_points : n->point_count;
    for (int i = 0; i < n->worker_count; i++)
        KN_TRY(kn_exchange_make(&n->workers[i].exchange, n->space, problem->weights, &n->workers[i].judge, most, err));
    return KN_OK;
}

kn_status kn_neighbours_improve(kn_regions *regions, int64_t *changes, const kn_space *space,
                                const kn_partition_problem *problem, uint32_t most, kn_error *err)
{
    neighbours n = {.space = space, .ctx = space->ctx, .regions = regions, .most = most};
    n.most_points = most > GROUP_POINTS ? most : GROUP_POINTS;
    n.worker_count = kn_context_threads(space->ctx);
    bool      better = false;
    kn_status status = make(&n, problem, err);
    if (status == KN_OK) status = make_points(&n, err);
    if (status == KN_OK) status = make_exchanges(&n, problem, err);
    if (status == KN_OK) status = run_rounds(&better, &n, err);
    if (status == KN_OK && better) status = rearrange(&n, err);
    for (int i = 0; n.workers && i < n.worker_count; i++) {
        worker_state *w = &n.workers[i];
        if (better) *changes += w->changes;
        kn_exchange_free(w->exchange);
        kn_row_judge_free(&w->judge);
        KN_FREE(w->order, w->records);
    }
    KN_FREE(n.workers, n.first, n.starts, n.members, n.next, n.classes, n.centres, n.order, n.ends, n.groups.items,
            n.places, n.losses, n.records, n.slots, n.counts, n.next_classes, n.weights);
    return status;
}
