/* kn_cluster.c: growing classes in a small region (kn_cluster.h).
 *
 * In the manner of greedy k-member clustering (Byun, Kamra, Bertino, Li 2007), with exact losses of the released
 * cells instead of distances: a class begins with the point that would cost the last class most, and adds, one by
 * one, the point that raises its loss least per row, until it has k rows. Remaining points go where they cost least.
 * Then points move between classes as long as the sum of the losses falls. Equal points stay together; k of them are
 * a class.
 *
 * What joining a class would cost is kept per dimension and value, and only dimensions whose cell has become wider
 * are recomputed: evaluating a point is one table look-up per dimension.
 *
 * Cost: points² × dimensions at most. Memory: a few numbers per point, dimension and class of the largest region.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_cluster.h"

#include <stdlib.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_compare.h"
#include "kn_error.h"
#include "kn_sort.h"

enum { MOVING_PASSES = 4 };

/* The cell of one dimension of one class. */
typedef struct cell_state {
    uint32_t low, high; /* positions                        */
    uint32_t distinct;  /* values, where cells are sets     */
    double   loss;      /* weighted                         */
} cell_state;

typedef struct group {
    uint32_t rows;
    uint32_t points;
    double   loss; /* sum over dimensions */
} group;

struct kn_clusterer {
    const kn_space *space;
    double         *weights;
    size_t          dimensions;
    uint32_t        most;
    /* The region's points. */
    uint32_t *order; /* records by positions, then row                                 */
    uint32_t  points;
    uint32_t *starts; /* point → its first record in `order`; points + 1 of them        */
    uint16_t *local;  /* point × dimension → which of the region's values               */
    uint32_t *values; /* dimension × most: positions of the region's values, ascending  */
    uint32_t *value_count;
    uint32_t *remaining;
    uint32_t *group_of; /* point → class */
    /* The class that grows. */
    double     *join;   /* dimension × most: loss of the cell if this value joined         */
    bool       *member; /* dimension × most: sets: is the value in?                        */
    cell_state *now;
    /* All classes. */
    group         *groups;
    uint32_t       group_count;
    cell_state    *cells;      /* class × dimension                                                */
    uint16_t      *uses;       /* sets: class × (dimension, value) → points with it; see use_at    */
    size_t        *use_offset; /* per dimension, in one class's uses                             */
    size_t         use_width;
    size_t         use_capacity;
    unsigned char *moved; /* records in their new order                                       */
    uint32_t      *fill;
};

/* ---- Making one ---- */

kn_status kn_clusterer_make(kn_clusterer **out, const kn_space *space, const kn_ratio *weights, uint32_t most,
                            kn_error *err)
{
    kn_context   *ctx = space->ctx;
    size_t        d = (size_t)space->count, n = most;
    kn_clusterer *c = kn_alloc_zero(ctx, sizeof *c);
    if (!c) return kn_fail_memory(err, ctx, "partitioning");
    c->space = space;
    c->dimensions = d;
    c->most = most;
    if (!KN_ALLOC(ctx, c->weights, d) || !KN_ALLOC(ctx, c->order, n) || !KN_ALLOC(ctx, c->starts, n + 1) ||
        !KN_ALLOC(ctx, c->local, n * d) || !KN_ALLOC(ctx, c->values, n * d) || !KN_ALLOC(ctx, c->value_count, d) ||
        !KN_ALLOC(ctx, c->remaining, n) || !KN_ALLOC(ctx, c->group_of, n) || !KN_ALLOC(ctx, c->join, n * d) ||
        !KN_ALLOC(ctx, c->member, n * d) || !KN_ALLOC(ctx, c->now, d) || !KN_ALLOC(ctx, c->groups, n) ||
        !KN_ALLOC(ctx, c->cells, n * d) || !KN_ALLOC(ctx, c->use_offset, d) || !KN_ALLOC(ctx, c->fill, n) ||
        !(c->moved = kn_alloc_array(ctx, n, space->stride))) {
        kn_clusterer_free(c);
        return kn_fail_memory(err, ctx, "partitioning");
    }
    for (size_t q = 0; q < d; q++)
        c->weights[q] = weights ? (double)weights[q].numerator / (double)weights[q].denominator : 1;
    *out = c;
    return KN_OK;
}

void kn_clusterer_free(kn_clusterer *c)
{
    if (!c) return;
    void *parts[] = {c->weights,   c->order,    c->starts,     c->local,  c->values, c->value_count,
                     c->remaining, c->group_of, c->join,       c->member, c->now,    c->groups,
                     c->cells,     c->uses,     c->use_offset, c->moved,  c->fill};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) kn_free(parts[i]);
    kn_free(c);
}

/* ---- The points of a region ---- */

static uint32_t position_at(const kn_clusterer *c, size_t q, uint32_t record)
{
    return kn_space_position(c->space, &c->space->dimensions[q], record);
}

static bool equal_points(const kn_clusterer *c, uint32_t a, uint32_t b)
{
    for (size_t q = 0; q < c->dimensions; q++)
        if (position_at(c, q, a) != position_at(c, q, b)) return false;
    return true;
}

static bool comes_before(const void *arg, uint32_t a, uint32_t b)
{
    const kn_clusterer *c = arg;
    for (size_t q = 0; q < c->dimensions; q++) {
        uint32_t x = position_at(c, q, a), y = position_at(c, q, b);
        if (x != y) return x < y;
    }
    return kn_space_row(c->space, a) < kn_space_row(c->space, b);
}

static void number_values(kn_clusterer *c, size_t q)
{
    uint32_t *values = c->values + q * c->most, count = 0;
    for (uint32_t p = 0; p < c->points; p++) values[p] = position_at(c, q, c->order[c->starts[p]]);
    qsort(values, c->points, sizeof *values, kn_compare_u32);
    for (uint32_t p = 0; p < c->points; p++)
        if (p == 0 || values[p] != values[count - 1]) values[count++] = values[p];
    c->value_count[q] = count;
    for (uint32_t p = 0; p < c->points; p++) {
        uint32_t  position = position_at(c, q, c->order[c->starts[p]]);
        uint32_t *found = bsearch(&position, values, count, sizeof *values, kn_compare_u32);
        c->local[p * c->dimensions + q] = (uint16_t)(found - values);
    }
}

static void take_points(kn_clusterer *c, kn_region region)
{
    uint32_t n = region.end - region.begin;
    for (uint32_t i = 0; i < n; i++) c->order[i] = region.begin + i;
    kn_sort_numbers(c->order, n, comes_before, c);
    c->points = 0;
    for (uint32_t i = 0; i < n; i++)
        if (i == 0 || !equal_points(c, c->order[i], c->order[i - 1])) c->starts[c->points++] = i;
    c->starts[c->points] = n;
    for (size_t q = 0; q < c->dimensions; q++) number_values(c, q);
}

static uint32_t weight_of(const kn_clusterer *c, uint32_t point)
{
    return c->starts[point + 1] - c->starts[point];
}

/* ---- Losses ---- */

static double loss_of(const kn_clusterer *c, size_t q, uint32_t low, uint32_t high, uint32_t distinct)
{
    return c->weights[q] * kn_space_loss(&c->space->dimensions[q], (kn_span){low, high}, distinct);
}

double kn_cluster_loss(kn_clusterer *c, kn_region region)
{
    double sum = 0;
    for (size_t q = 0; q < c->dimensions; q++) {
        const kn_dimension *d = &c->space->dimensions[q];
        uint32_t            low = UINT32_MAX, high = 0, distinct = 0;
        for (uint32_t i = region.begin; i < region.end; i++) {
            uint32_t p = position_at(c, q, i);
            low = p < low ? p : low;
            high = p > high ? p : high;
            if (!d->nodes && !d->ranges) c->fill[i - region.begin] = p;
        }
        if (!d->nodes && !d->ranges) {
            uint32_t n = region.end - region.begin;
            qsort(c->fill, n, sizeof *c->fill, kn_compare_u32);
            for (uint32_t i = 0; i < n; i++) distinct += i == 0 || c->fill[i] != c->fill[i - 1];
        }
        sum += loss_of(c, q, low, high, distinct);
    }
    return sum * (region.end - region.begin);
}

/* ---- Growing ---- */

static void refresh_join(kn_clusterer *c, size_t q)
{
    const cell_state *now = &c->now[q];
    const uint32_t   *values = c->values + q * c->most;
    double           *join = c->join + q * c->most;
    const bool       *member = c->member + q * c->most;
    for (uint32_t v = 0; v < c->value_count[q]; v++) {
        uint32_t low = values[v] < now->low ? values[v] : now->low,
                 high = values[v] > now->high ? values[v] : now->high;
        join[v] = member[v] ? now->loss : loss_of(c, q, low, high, now->distinct + 1);
    }
}

static void begin_group(kn_clusterer *c, uint32_t point)
{
    for (size_t q = 0; q < c->dimensions; q++) {
        uint32_t v = c->local[point * c->dimensions + q], position = c->values[q * c->most + v];
        memset(c->member + q * c->most, 0, c->value_count[q] * sizeof *c->member);
        c->member[q * c->most + v] = true;
        c->now[q] = (cell_state){position, position, 1, 0};
        refresh_join(c, q);
    }
    c->groups[c->group_count] = (group){weight_of(c, point), 1, 0};
    c->group_of[point] = c->group_count;
}

static void join_group(kn_clusterer *c, uint32_t point)
{
    group *g = &c->groups[c->group_count];
    for (size_t q = 0; q < c->dimensions; q++) {
        uint32_t    v = c->local[point * c->dimensions + q], position = c->values[q * c->most + v];
        cell_state *now = &c->now[q];
        if (c->member[q * c->most + v]) continue;
        c->member[q * c->most + v] = true;
        now->loss = c->join[q * c->most + v];
        now->low = position < now->low ? position : now->low;
        now->high = position > now->high ? position : now->high;
        now->distinct++;
        refresh_join(c, q);
    }
    g->loss = 0;
    for (size_t q = 0; q < c->dimensions; q++) g->loss += c->now[q].loss;
    g->rows += weight_of(c, point);
    g->points++;
    c->group_of[point] = c->group_count;
}

static double loss_with(const kn_clusterer *c, uint32_t point)
{
    const uint16_t *local = c->local + point * c->dimensions;
    const double   *join = c->join;
    double          sum = 0;
    for (size_t q = 0; q < c->dimensions; q++, join += c->most) sum += join[local[q]];
    return sum;
}

/* The place in `remaining` of the point that costs the class least per row (or, as a seed of the next one, most). */
static uint32_t best_remaining(const kn_clusterer *c, uint32_t count, bool farthest)
{
    const group *g = &c->groups[c->group_count];
    double       rows = g->rows, base = g->loss * rows, best = 0;
    uint32_t     at = 0;
    for (uint32_t i = 0; i < count; i++) {
        double with = loss_with(c, c->remaining[i]);
        if (farthest) {
            if (i == 0 || with > best) {
                best = with;
                at = i;
            }
            continue;
        }
        double weight = weight_of(c, c->remaining[i]), cost = ((rows + weight) * with - base) / weight;
        if (i == 0 || cost < best) {
            best = cost;
            at = i;
        }
    }
    return at;
}

static void close_group(kn_clusterer *c)
{
    memcpy(c->cells + c->group_count * c->dimensions, c->now, c->dimensions * sizeof *c->now);
    c->group_count++;
}

/* Keeps the order of `remaining`, so that ties are decided by the points' own order. */
static uint32_t take(kn_clusterer *c, uint32_t at, uint32_t *count)
{
    uint32_t point = c->remaining[at];
    memmove(c->remaining + at, c->remaining + at + 1, (--*count - at) * sizeof *c->remaining);
    return point;
}

/* Returns the number of remaining points, too few for another class. */
static uint32_t grow_groups(kn_clusterer *c, uint32_t k)
{
    uint32_t count = 0, rows = 0;
    c->group_count = 0;
    for (uint32_t p = 0; p < c->points; p++) {
        if (weight_of(c, p) >= k) {
            begin_group(c, p);
            close_group(c);
            continue;
        }
        c->remaining[count++] = p;
        rows += weight_of(c, p);
    }
    for (bool first = true; rows >= k; first = false) {
        uint32_t seed = 0;
        if (!first) {
            c->group_count--; /* its joining costs are still in place */
            seed = best_remaining(c, count, true);
            c->group_count++;
        }
        begin_group(c, take(c, seed, &count));
        while (c->groups[c->group_count].rows < k && count > 0)
            join_group(c, take(c, best_remaining(c, count, false), &count));
        rows -= c->groups[c->group_count].rows;
        close_group(c);
    }
    return count;
}

/* ---- Moving ---- */

static bool is_set(const kn_clusterer *c, size_t q)
{
    return !c->space->dimensions[q].nodes && !c->space->dimensions[q].ranges;
}

static uint16_t *use_at(const kn_clusterer *c, uint32_t g, size_t q, uint32_t v)
{
    return c->uses + g * c->use_width + c->use_offset[q] + v;
}

/* Counts, for every class, the points with each value: what a class shows after a point left. */
static kn_status count_uses(kn_clusterer *c, kn_error *err)
{
    c->use_width = 0;
    for (size_t q = 0; q < c->dimensions; q++) {
        c->use_offset[q] = c->use_width;
        c->use_width += c->value_count[q];
    }
    if (!KN_GROW(c->space->ctx, &c->uses, &c->use_capacity, c->group_count * c->use_width))
        return kn_fail_memory(err, c->space->ctx, "partitioning");
    memset(c->uses, 0, c->group_count * c->use_width * sizeof *c->uses);
    for (uint32_t p = 0; p < c->points; p++)
        for (size_t q = 0; q < c->dimensions && c->group_of[p] != UINT32_MAX; q++)
            ++*use_at(c, c->group_of[p], q, c->local[p * c->dimensions + q]);
    return KN_OK;
}

/* The cell of a class with value v in or, with `without`, with one point of it less. */
static cell_state changed_cell(const kn_clusterer *c, uint32_t g, size_t q, uint32_t v, bool without)
{
    cell_state      cell = c->cells[g * c->dimensions + q];
    const uint32_t *values = c->values + q * c->most;
    uint16_t        uses = *use_at(c, g, q, v);
    if (without ? uses > 1 : uses > 0) return cell;
    if (!without) {
        cell.low = values[v] < cell.low ? values[v] : cell.low;
        cell.high = values[v] > cell.high ? values[v] : cell.high;
        cell.distinct++;
    } else {
        const uint16_t *row = use_at(c, g, q, 0);
        uint32_t        low = v, high = v;
        cell.distinct--;
        if (values[v] == cell.low) {
            do low++;
            while (row[low] == 0);
            cell.low = values[low];
        }
        if (values[v] == cell.high) {
            do high--;
            while (row[high] == 0);
            cell.high = values[high];
        }
        if (!is_set(c, q) && cell.low == c->cells[g * c->dimensions + q].low &&
            cell.high == c->cells[g * c->dimensions + q].high)
            return cell;
    }
    cell.loss = loss_of(c, q, cell.low, cell.high, cell.distinct);
    return cell;
}

static double changed_loss(const kn_clusterer *c, uint32_t g, uint32_t point, bool without)
{
    double sum = 0;
    for (size_t q = 0; q < c->dimensions; q++)
        sum += changed_cell(c, g, q, c->local[point * c->dimensions + q], without).loss;
    return sum;
}

static void change_group(kn_clusterer *c, uint32_t g, uint32_t point, bool without)
{
    double sum = 0;
    for (size_t q = 0; q < c->dimensions; q++) {
        uint32_t   v = c->local[point * c->dimensions + q];
        cell_state cell = changed_cell(c, g, q, v, without);
        uint16_t  *use = use_at(c, g, q, v);
        *use = (uint16_t)(without ? *use - 1 : *use + 1);
        c->cells[g * c->dimensions + q] = cell;
        sum += cell.loss;
    }
    c->groups[g].loss = sum;
    c->groups[g].rows = without ? c->groups[g].rows - weight_of(c, point) : c->groups[g].rows + weight_of(c, point);
    c->groups[g].points = without ? c->groups[g].points - 1 : c->groups[g].points + 1;
    c->group_of[point] = g;
}

/* The class that a point would cost least, other than its own; *cost: by how much the sum would rise. */
static uint32_t cheapest_group(const kn_clusterer *c, uint32_t point, double *cost)
{
    uint32_t best = UINT32_MAX;
    double   weight = weight_of(c, point);
    for (uint32_t g = 0; g < c->group_count; g++) {
        if (g == c->group_of[point]) continue;
        double rows = c->groups[g].rows, rise = -rows * c->groups[g].loss;
        if (best != UINT32_MAX && rise + (rows + weight) * c->groups[g].loss >= *cost) continue;
        rise += (rows + weight) * changed_loss(c, g, point, false);
        if (best == UINT32_MAX || rise < *cost) {
            *cost = rise;
            best = g;
        }
    }
    return best;
}

static bool move_points(kn_clusterer *c, uint32_t k)
{
    bool any = false;
    for (uint32_t p = 0; p < c->points; p++) {
        uint32_t     from = c->group_of[p];
        const group *g = &c->groups[from];
        double       cost = 0;
        if (g->points < 2 || g->rows - weight_of(c, p) < k || g->loss == 0) continue;
        double   gain = g->rows * g->loss - (g->rows - weight_of(c, p)) * changed_loss(c, from, p, true);
        uint32_t to = gain > 0 ? cheapest_group(c, p, &cost) : UINT32_MAX;
        if (to == UINT32_MAX || cost >= gain * (1 - 1e-9)) continue;
        change_group(c, from, p, true);
        change_group(c, to, p, false);
        any = true;
    }
    return any;
}

/* ---- All together ---- */

/* Puts the records into the order of their classes. */
static kn_status write_back(kn_regions *out, kn_clusterer *c, kn_region region, kn_error *err)
{
    const kn_space *space = c->space;
    uint32_t        at = 0;
    for (uint32_t g = 0; g < c->group_count; g++) {
        kn_region done = {region.begin + at, region.begin + at + c->groups[g].rows, region.depth};
        c->fill[g] = at;
        at += c->groups[g].rows;
        if (!kn_regions_add(out, space->ctx, done)) return kn_fail_memory(err, space->ctx, "partitioning");
    }
    for (uint32_t p = 0; p < c->points; p++)
        for (uint32_t i = c->starts[p]; i < c->starts[p + 1]; i++)
            memcpy(c->moved + (size_t)c->fill[c->group_of[p]]++ * space->stride,
                   space->records + (size_t)c->order[i] * space->stride, space->stride);
    memcpy(space->records + (size_t)region.begin * space->stride, c->moved, (size_t)at * space->stride);
    return KN_OK;
}

static double total_loss(const kn_clusterer *c)
{
    double sum = 0;
    for (uint32_t g = 0; g < c->group_count; g++) sum += c->groups[g].rows * c->groups[g].loss;
    return sum;
}

kn_status kn_cluster_region(kn_regions *out, double *loss, kn_clusterer *c, kn_region region, uint32_t k, kn_error *err)
{
    take_points(c, region);
    uint32_t left_over = grow_groups(c, k);
    for (uint32_t i = 0; i < left_over; i++) c->group_of[c->remaining[i]] = UINT32_MAX;
    KN_TRY(count_uses(c, err));
    for (uint32_t i = 0; i < left_over; i++) {
        double   cost = 0;
        uint32_t g = cheapest_group(c, c->remaining[i], &cost);
        change_group(c, g, c->remaining[i], false);
    }
    for (int pass = 0; pass < MOVING_PASSES && move_points(c, k); pass++) {
    }
    *loss = total_loss(c);
    return write_back(out, c, region, err);
}

/* The cells of a class from the values that its points have. */
static void read_cells(kn_clusterer *c, uint32_t g)
{
    c->groups[g].loss = 0;
    for (size_t q = 0; q < c->dimensions; q++) {
        const uint16_t *uses = use_at(c, g, q, 0);
        const uint32_t *values = c->values + q * c->most;
        cell_state      cell = {UINT32_MAX, 0, 0, 0};
        for (uint32_t v = 0; v < c->value_count[q]; v++) {
            if (uses[v] == 0) continue;
            if (cell.distinct++ == 0) cell.low = values[v];
            cell.high = values[v];
        }
        cell.loss = loss_of(c, q, cell.low, cell.high, cell.distinct);
        c->cells[g * c->dimensions + q] = cell;
        c->groups[g].loss += cell.loss;
    }
}

kn_status kn_cluster_improve(kn_regions *classes, double *loss, kn_clusterer *c, kn_region region, uint32_t k,
                             kn_error *err)
{
    /* The class of each record is read before the points are reordered. */
    for (size_t g = 0; g < classes->count; g++)
        for (uint32_t i = classes->items[g].begin; i < classes->items[g].end; i++)
            c->fill[i - region.begin] = (uint32_t)g;
    take_points(c, region);
    c->group_count = (uint32_t)classes->count;
    for (uint32_t g = 0; g < c->group_count; g++)
        c->groups[g] = (group){classes->items[g].end - classes->items[g].begin, 0, 0};
    for (uint32_t p = 0; p < c->points; p++) {
        c->group_of[p] = c->fill[c->order[c->starts[p]] - region.begin];
        c->groups[c->group_of[p]].points++;
    }
    KN_TRY(count_uses(c, err));
    for (uint32_t g = 0; g < c->group_count; g++) read_cells(c, g);
    for (int pass = 0; pass < MOVING_PASSES && move_points(c, k); pass++) {
    }
    *loss = total_loss(c);
    classes->count = 0;
    return write_back(classes, c, region, err);
}
