/* kn_miracle_match.c: pairing siblings by their own values: greedily (Algorithm 5), by the cheapest assignment (M16) or
 * level by level (section 4.3, M14). Ties go by position: siblings stand in the order of their values (M8).
 *
 * Cost: the greedy matching handles runs of equal siblings, not each one: at most the square of the different ones. The
 * exact one is cubic. The level matcher sorts siblings once per level of the hierarchies.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_miracle.h"

/* ---- Lanes ---- */

static size_t stack_level(const kn_relational_work *work)
{
    size_t n = work->most_children, size = (96 + 24 * (size_t)work->losses->width) * n + 1024;
    if (work->problem->matching == KN_MATCHING_EXACT) size += n * n * sizeof(int64_t) + kn_assign_room(n);
    return size;
}

kn_status kn_lane_make(kn_lane *out, const kn_relational_work *work, const kn_store *store, const kn_tables *tables,
                       size_t places, kn_error *err)
{
    bool flat = kn_matches_values(work->problem);
    *out = (kn_lane){.work = work, .store = store, .tables = tables, .mask = places - 1};
    if (places > 0) out->pairs = kn_alloc_array(work->ctx, places, sizeof *out->pairs);
    out->stack = kn_alloc_array(work->ctx, flat ? 1 : (size_t)work->most_depth + 1, stack_level(work));
    if ((places > 0 && !out->pairs) || !out->stack) return kn_fail_memory(err, work->ctx, "remembering costs");
    kn_lane_forget(out);
    return KN_OK;
}

void kn_lane_free(kn_lane *lane)
{
    KN_FREE(lane->pairs, lane->stack, lane->queue, lane->signature, lane->counts, lane->touched);
    *lane = (kn_lane){0};
}

void kn_lane_forget(kn_lane *lane)
{
    if (lane->pairs) memset(lane->pairs, 0xff, (lane->mask + 1) * sizeof *lane->pairs);
}

kn_status kn_lane_room(kn_lane *lane, uint32_t nodes, kn_error *err)
{
    kn_context *ctx = lane->work->ctx;
    return KN_GROW(ctx, &lane->queue, &lane->queue_capacity, nodes) ? KN_OK : kn_fail_memory(err, ctx, "pairing rows");
}

bool kn_matches_values(const kn_relational_problem *problem)
{
    return problem->method == KN_METHOD_MIRACLE_X || problem->method == KN_METHOD_MIRACLE_X_LEVEL;
}

/* ---- Greedily ---- */

/* Siblings with equal values, one behind the other: of equal losses the first place wins, so only the first that is
 * left of each run has to be looked at. */
typedef struct runs {
    uint32_t  count;
    uint32_t *values; /* column by column, `room` each */
    uint32_t *next;   /* the first place that is left  */
    uint32_t *left;
    size_t    room, quasi;
} runs;

static bool equal_tuples(const uint32_t *x, const uint32_t *y, size_t quasi)
{
    for (size_t q = 0; q < quasi; q++)
        if (x[q] != y[q]) return false;
    return true;
}

static runs make_runs(kn_lane *lane, const uint32_t *values, uint32_t count, size_t width, size_t quasi)
{
    runs r = {.room = count, .quasi = quasi};
    r.values = kn_lane_push(lane, sizeof *r.values * quasi * count);
    r.next = kn_lane_push(lane, sizeof *r.next * count);
    r.left = kn_lane_push(lane, sizeof *r.left * count);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t *tuple = values + i * width;
        if (i > 0 && equal_tuples(tuple, tuple - width, quasi)) {
            r.left[r.count - 1]++;
            continue;
        }
        for (size_t q = 0; q < quasi; q++) r.values[q * r.room + r.count] = tuple[q];
        r.next[r.count] = i;
        r.left[r.count++] = 1;
    }
    return r;
}

static void drop_run(runs *r, uint32_t at)
{
    uint32_t behind = --r->count - at;
    for (size_t q = 0; q < r->quasi; q++)
        memmove(r->values + q * r->room + at, r->values + q * r->room + at + 1, behind * sizeof *r->values);
    memmove(r->next + at, r->next + at + 1, behind * sizeof *r->next);
    memmove(r->left + at, r->left + at + 1, behind * sizeof *r->left);
}

static uint32_t cheapest_run(kn_lane *lane, uint32_t table, const uint32_t *x, const runs *r, uint64_t *sums)
{
    const kn_column_losses *columns = lane->tables->columns + (size_t)table * (size_t)lane->tables->losses->width;
    uint32_t                best = 0;
    memset(sums, 0, r->count * sizeof *sums);
    for (size_t q = 0; q < r->quasi; q++)
        kn_column_losses_add(&columns[q], x[q], r->values + q * r->room, r->count, sums);
    kn_lane_count(lane, table, r->count);
    for (uint32_t j = 1; j < r->count; j++)
        if (sums[j] < sums[best]) best = j;
    return best;
}

/* The cells of all pairs are as many: the least sum is the least loss. */
static void pick_greedily(kn_lane *lane, uint32_t table, const uint32_t *xs, uint32_t m, const uint32_t *ys, uint32_t n,
                          uint32_t *pick)
{
    const kn_losses *losses = lane->tables->losses;
    size_t           width = (size_t)losses->width, quasi = (size_t)losses->quasi[table];
    bool             swapped = m > n; /* M6 */
    const uint32_t  *outer = swapped ? ys : xs;
    uint32_t         few = swapped ? n : m;
    runs             r = make_runs(lane, swapped ? xs : ys, swapped ? m : n, width, quasi);
    uint64_t        *sums = kn_lane_push(lane, sizeof *sums * r.count);
    uint32_t         best = KN_FOREST_NONE;
    for (uint32_t i = 0; i < few; i++) {
        const uint32_t *x = outer + i * width;
        /* The same tuple again: its best match is still the best, if any is left. */
        if (best == KN_FOREST_NONE || !equal_tuples(x, x - width, quasi)) best = cheapest_run(lane, table, x, &r, sums);
        uint32_t place = r.next[best]++;
        pick[swapped ? place : i] = swapped ? i : place;
        if (--r.left[best] > 0) continue;
        drop_run(&r, best);
        best = KN_FOREST_NONE;
    }
}

/* ---- Exactly ---- */

static void pick_exactly(kn_lane *lane, uint32_t table, const uint32_t *xs, uint32_t m, const uint32_t *ys, uint32_t n,
                         uint32_t *pick)
{
    size_t    width = (size_t)lane->tables->losses->width;
    bool      swapped = m > n;
    uint32_t  rows = swapped ? n : m, columns = swapped ? m : n;
    int64_t  *cost = kn_lane_push(lane, sizeof *cost * rows * columns);
    uint32_t *chosen = kn_lane_push(lane, sizeof *chosen * rows);
    for (uint32_t i = 0; i < rows; i++)
        for (uint32_t j = 0; j < columns; j++) {
            uint32_t x = swapped ? j : i, y = swapped ? i : j;
            cost[(size_t)i * columns + j] = (int64_t)kn_tuple_loss(lane->tables, table, xs + x * width, ys + y * width);
        }
    kn_lane_count(lane, table, rows * columns);
    kn_assign(cost, rows, columns, chosen, kn_lane_push(lane, kn_assign_room(columns)));
    for (uint32_t i = 0; i < rows; i++) pick[swapped ? chosen[i] : i] = swapped ? i : chosen[i];
}

/* ---- Level by level ---- */

/* Siblings lifted to a level: `width` nodes each. */
typedef struct lift {
    const uint32_t *nodes;
    size_t          width, quasi;
} lift;

static int compare_lifted(const lift *l, uint32_t i, const lift *r, uint32_t j)
{
    const uint32_t *x = l->nodes + i * l->width, *y = r->nodes + j * r->width;
    for (size_t q = 0; q < l->quasi; q++)
        if (x[q] != y[q]) return x[q] < y[q] ? -1 : 1;
    return 0;
}

/* Stable; small sets, and those in order already, by insertion. */
static void sort_lifted(const lift *l, uint32_t *places, uint32_t count, uint32_t *spare)
{
    if (count <= 12) {
        for (uint32_t i = 1; i < count; i++) {
            uint32_t place = places[i], at = i;
            for (; at > 0 && compare_lifted(l, places[at - 1], l, place) > 0; at--) places[at] = places[at - 1];
            places[at] = place;
        }
        return;
    }
    uint32_t half = count / 2, i = 0, j = half, at = 0;
    sort_lifted(l, places, half, spare);
    sort_lifted(l, places + half, count - half, spare);
    if (compare_lifted(l, places[half - 1], l, places[half]) <= 0) return;
    memcpy(spare, places, count * sizeof *places);
    while (i < half && j < count)
        places[at++] = compare_lifted(l, spare[i], l, spare[j]) <= 0 ? spare[i++] : spare[j++];
    while (i < half) places[at++] = spare[i++];
    while (j < count) places[at++] = spare[j++];
}

static void lift_all(const kn_losses *losses, uint32_t table, uint32_t level, uint32_t *nodes, uint32_t count)
{
    size_t width = (size_t)losses->width;
    for (size_t q = 0; q < (size_t)losses->quasi[table]; q++) {
        const kn_hierarchy *h = losses->hierarchies[table * width + q];
        for (uint32_t i = 0; i < count; i++) {
            uint32_t *node = &nodes[i * width + q];
            if (h->level[*node] < level) *node = kn_hierarchy_ancestor(h, h->first[*node], level);
        }
    }
}

/* Drops matched places; the others stay in order. */
static uint32_t unmatched(uint32_t *places, uint32_t count, const bool *taken)
{
    uint32_t left = 0;
    for (uint32_t i = 0; i < count; i++)
        if (!taken[i]) places[left++] = i;
    return left;
}

static uint32_t *copy_tuples(kn_lane *lane, const uint32_t *values, uint32_t count)
{
    size_t    size = sizeof *values * (size_t)lane->tables->losses->width * count;
    uint32_t *copy = kn_lane_push(lane, size);
    return memcpy(copy, values, size);
}

static void pick_by_level(kn_lane *lane, uint32_t table, const uint32_t *xs, uint32_t m, const uint32_t *ys, uint32_t n,
                          uint32_t *pick)
{
    const kn_losses *losses = lane->tables->losses;
    uint32_t        *above_a = copy_tuples(lane, xs, m), *above_b = copy_tuples(lane, ys, n);
    lift             l = {above_a, (size_t)losses->width, (size_t)losses->quasi[table]}, r = l;
    bool            *in_a = kn_lane_push(lane, m), *in_b = kn_lane_push(lane, n);
    uint32_t        *x = kn_lane_push(lane, sizeof *x * m), *y = kn_lane_push(lane, sizeof *y * n);
    uint32_t        *spare = kn_lane_push(lane, sizeof *spare * (m > n ? m : n));
    r.nodes = above_b;
    memset(in_a, 0, m);
    memset(in_b, 0, n);
    for (uint32_t left = m < n ? m : n, level = 0; left > 0; level++) {
        uint32_t before = left, xs_left = unmatched(x, m, in_a), ys_left = unmatched(y, n, in_b), i = 0, j = 0;
        lift_all(losses, table, level, above_a, m);
        lift_all(losses, table, level, above_b, n);
        sort_lifted(&l, x, xs_left, spare);
        sort_lifted(&r, y, ys_left, spare);
        while (i < xs_left && j < ys_left) {
            int c = compare_lifted(&l, x[i], &r, y[j]);
            if (c < 0)
                i++;
            else if (c > 0)
                j++;
            else {
                pick[x[i]] = y[j];
                in_a[x[i++]] = in_b[y[j++]] = true;
                left--;
            }
        }
        kn_lane_count(lane, table, before - left);
    }
}

/* ---- Any of them ---- */

void kn_match_values(kn_lane *lane, uint32_t table, const uint32_t *xs, uint32_t m, const uint32_t *ys, uint32_t n,
                     uint32_t *pick)
{
    size_t top = lane->top;
    for (uint32_t i = 0; i < m; i++) pick[i] = KN_FOREST_NONE;
    if (m == 1 && n == 1)
        pick[0] = 0;
    else if (lane->work->problem->method == KN_METHOD_MIRACLE_X_LEVEL)
        pick_by_level(lane, table, xs, m, ys, n, pick);
    else if (lane->work->problem->matching == KN_MATCHING_EXACT)
        pick_exactly(lane, table, xs, m, ys, n, pick);
    else
        pick_greedily(lane, table, xs, m, ys, n, pick);
    lane->top = top;
}
