/* kn_miracle_match.c: pairing siblings by their own values: greedily (Algorithm 5), by the cheapest assignment (M16) or
 * level by level (section 4.3, M14). Ties go by position: siblings stand in the order of their values (M8).
 *
 * Where rows that weigh are below the siblings, two of them also cost what their numbers differ by, for so many rows
 * are lost at least; the level matcher takes, of siblings that are equal on a level, those with equal numbers first.
 *
 * Cost: the greedy matching handles runs of equal siblings, not each one: at most the square of the different ones. The
 * exact one is at worst cubic in the siblings that are left when equal ones are paired. The level matcher sorts siblings once per level of the hierarchies.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_miracle.h"

/* ---- Lanes ---- */

static size_t stack_level(const kn_relational_work *work)
{
    size_t n = work->most_children, words = (size_t)work->losses->width + (size_t)work->losses->heavy;
    size_t size = (96 + 24 * words) * n + 1024;
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
    uint32_t *load;   /* likewise; NULL: none          */
    uint32_t *next;   /* the first place that is left  */
    uint32_t *left;
    size_t    room, quasi, heavy;
} runs;

static bool equal_words(const uint32_t *x, const uint32_t *y, size_t count)
{
    for (size_t q = 0; q < count; q++)
        if (x[q] != y[q]) return false;
    return true;
}

/* Is the i-th sibling, not the first, like the one before it? */
static inline bool like_last(kn_siblings s, uint32_t i, size_t width, size_t quasi, size_t heavy)
{
    const uint32_t *values = s.values + i * width;
    return equal_words(values, values - width, quasi) &&
           (heavy == 0 || equal_words(s.load + i * heavy, s.load + (i - 1) * heavy, heavy));
}

static inline runs make_runs(kn_lane *lane, kn_siblings s, size_t width, size_t quasi, size_t heavy)
{
    runs r = {.room = s.count, .quasi = quasi, .heavy = heavy};
    r.values = kn_lane_push(lane, sizeof *r.values * (quasi + r.heavy) * s.count);
    r.load = r.values + quasi * s.count;
    r.next = kn_lane_push(lane, sizeof *r.next * s.count);
    r.left = kn_lane_push(lane, sizeof *r.left * s.count);
    for (uint32_t i = 0; i < s.count; i++) {
        if (i > 0 && like_last(s, i, width, quasi, heavy)) {
            r.left[r.count - 1]++;
            continue;
        }
        for (size_t q = 0; q < quasi; q++) r.values[q * r.room + r.count] = s.values[i * width + q];
        for (size_t h = 0; h < r.heavy; h++) r.load[h * r.room + r.count] = s.load[i * heavy + h];
        r.next[r.count] = i;
        r.left[r.count++] = 1;
    }
    return r;
}

static inline void drop_run(runs *r, uint32_t at)
{
    uint32_t behind = --r->count - at;
    for (size_t q = 0; q < r->quasi; q++)
        memmove(r->values + q * r->room + at, r->values + q * r->room + at + 1, behind * sizeof *r->values);
    for (size_t h = 0; h < r->heavy; h++)
        memmove(r->load + h * r->room + at, r->load + h * r->room + at + 1, behind * sizeof *r->load);
    memmove(r->next + at, r->next + at + 1, behind * sizeof *r->next);
    memmove(r->left + at, r->left + at + 1, behind * sizeof *r->left);
}

static uint64_t apart(uint32_t x, uint32_t y)
{
    return x < y ? y - x : x - y;
}

static inline uint32_t cheapest_run(kn_lane *lane, uint32_t table, kn_siblings s, uint32_t i, const runs *r,
                                    uint64_t *sums)
{
    const kn_losses        *losses = lane->tables->losses;
    const uint32_t         *x = s.values + i * (size_t)losses->width;
    const kn_column_losses *columns = lane->tables->columns + (size_t)table * (size_t)losses->width;
    uint32_t                best = 0;
    memset(sums, 0, r->count * sizeof *sums);
    for (size_t q = 0; q < r->quasi; q++)
        kn_column_losses_add(&columns[q], x[q], r->values + q * r->room, r->count, sums);
    for (size_t h = 0; h < r->heavy; h++)
        for (uint32_t j = 0; j < r->count; j++)
            sums[j] += apart(s.load[i * r->heavy + h], r->load[h * r->room + j]) * losses->heavy_loss[h];
    kn_lane_count(lane, table, r->count);
    for (uint32_t j = 1; j < r->count; j++)
        if (sums[j] < sums[best]) best = j;
    return best;
}

/* The cells of all pairs are as many: the least sum is the least loss. */
static inline void pick_greedily(kn_lane *lane, uint32_t table, const kn_siblings *xs, const kn_siblings *ys,
                                 size_t heavy, uint32_t *pick)
{
    const kn_losses *losses = lane->tables->losses;
    size_t           width = (size_t)losses->width, quasi = (size_t)losses->quasi[table];
    bool             swapped = xs->count > ys->count; /* M6 */
    kn_siblings      outer = swapped ? *ys : *xs;
    runs             r = make_runs(lane, swapped ? *xs : *ys, width, quasi, heavy);
    uint64_t        *sums = kn_lane_push(lane, sizeof *sums * r.count);
    uint32_t         best = KN_FOREST_NONE;
    for (uint32_t i = 0; i < outer.count; i++) {
        /* The same sibling again: its best match is still the best, if any is left. */
        if (best == KN_FOREST_NONE || !like_last(outer, i, width, quasi, heavy))
            best = cheapest_run(lane, table, outer, i, &r, sums);
        uint32_t place = r.next[best]++;
        pick[swapped ? place : i] = swapped ? i : place;
        if (--r.left[best] > 0) continue;
        drop_run(&r, best);
        best = KN_FOREST_NONE;
    }
}

/* ---- Exactly ---- */

static uint64_t pair_cost(const kn_lane *lane, uint32_t table, const kn_siblings *xs, uint32_t i, const kn_siblings *ys,
                          uint32_t j)
{
    const kn_losses *losses = lane->tables->losses;
    size_t           width = (size_t)losses->width, heavy = xs->load ? (size_t)losses->heavy : 0;
    uint64_t         cost = kn_tuple_loss(lane->tables, table, xs->values + i * width, ys->values + j * width);
    for (size_t h = 0; h < heavy; h++)
        cost += apart(xs->load[i * heavy + h], ys->load[j * heavy + h]) * losses->heavy_loss[h];
    return cost;
}

/* The smaller set of siblings and the larger one, and the places of those that are not paired yet, ascending. */
typedef struct sides {
    kn_siblings few, many;
    uint32_t   *row, *column;
    uint32_t    rows, columns;
    size_t      width, quasi, heavy;
} sides;

/* Equal values are paired at once. Some cheapest assignment does so: the nodes above x that x shares with a and with b are
 * one above the other, so that (a, b) and (x, x) cost no more than (a, x) and (x, b), column by column. */
static void pair_equals(sides *s, bool swapped, uint32_t *pick)
{
    uint32_t i = 0, j = 0, rows = 0, columns = 0;
    while (i < s->few.count || j < s->many.count) {
        const uint32_t *x = s->few.values + i * s->width, *y = s->many.values + j * s->width;
        size_t          q = 0;
        while (i < s->few.count && j < s->many.count && q < s->quasi && x[q] == y[q]) q++;
        if (j == s->many.count || (i < s->few.count && q < s->quasi && x[q] < y[q])) {
            s->row[rows++] = i++;
        } else if (i == s->few.count || q < s->quasi) {
            s->column[columns++] = j++;
        } else {
            pick[swapped ? j : i] = swapped ? i : j;
            i++;
            j++;
        }
    }
    s->rows = rows;
    s->columns = columns;
}

/* Is the i-th of `places` like the one before it? */
static bool like_before(const sides *s, const kn_siblings *of, const uint32_t *places, uint32_t i)
{
    return i > 0 && equal_words(of->values + places[i] * s->width, of->values + places[i - 1] * s->width, s->quasi) &&
           (s->heavy == 0 ||
            equal_words(of->load + places[i] * s->heavy, of->load + places[i - 1] * s->heavy, s->heavy));
}

static void pick_exactly(kn_lane *lane, uint32_t table, const kn_siblings *xs, const kn_siblings *ys, uint32_t *pick)
{
    const kn_losses *losses = lane->tables->losses;
    bool             swapped = xs->count > ys->count;
    sides            s = {.few = swapped ? *ys : *xs,
                          .many = swapped ? *xs : *ys,
                          .width = (size_t)losses->width,
                          .quasi = (size_t)losses->quasi[table],
                          .heavy = xs->load ? (size_t)losses->heavy : 0};
    s.row = kn_lane_push(lane, sizeof *s.row * s.few.count);
    s.column = kn_lane_push(lane, sizeof *s.column * s.many.count);
    for (s.rows = 0; s.rows < s.few.count; s.rows++) s.row[s.rows] = s.rows;
    for (s.columns = 0; s.columns < s.many.count; s.columns++) s.column[s.columns] = s.columns;
    if (lane->sum_only) pair_equals(&s, swapped, pick);
    if (s.rows == 0) return;
    int64_t  *cost = kn_lane_push(lane, sizeof *cost * s.rows * s.columns);
    uint32_t *chosen = kn_lane_push(lane, sizeof *chosen * s.rows);
    for (uint32_t i = 0; i < s.rows; i++) { /* equal siblings cost the same */
        int64_t *to = cost + (size_t)i * s.columns;
        bool     again = like_before(&s, &s.few, s.row, i);
        if (again) memcpy(to, to - s.columns, s.columns * sizeof *to);
        for (uint32_t j = 0; !again && j < s.columns; j++)
            to[j] = like_before(&s, &s.many, s.column, j)
                        ? to[j - 1]
                        : (int64_t)pair_cost(lane, table, &s.few, s.row[i], &s.many, s.column[j]);
    }
    kn_lane_count(lane, table, s.rows * s.columns);
    kn_assign(cost, s.rows, s.columns, !lane->sum_only, chosen, kn_lane_push(lane, kn_assign_room(s.columns)));
    for (uint32_t i = 0; i < s.rows; i++) {
        uint32_t x = s.row[i], y = s.column[chosen[i]];
        pick[swapped ? y : x] = swapped ? x : y;
    }
}

/* ---- Level by level ---- */

/* Siblings lifted to a level: `width` words each, the nodes and then the load, of which `words` are compared. */
typedef struct lift {
    const uint32_t *nodes;
    size_t          width, words;
} lift;

static int compare_lifted(const lift *l, uint32_t i, const lift *r, uint32_t j)
{
    const uint32_t *x = l->nodes + i * l->width, *y = r->nodes + j * r->width;
    for (size_t q = 0; q < l->words; q++)
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

static void lift_all(const kn_losses *losses, uint32_t table, uint32_t level, uint32_t *nodes, size_t width,
                     uint32_t count)
{
    for (size_t q = 0; q < (size_t)losses->quasi[table]; q++) {
        const kn_hierarchy *h = losses->hierarchies[table * (size_t)losses->width + q];
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

/* Nodes and load of siblings, losses->width + heavy words each. */
static uint32_t *copy_siblings(kn_lane *lane, const kn_siblings *s, size_t quasi, size_t heavy)
{
    size_t    from = (size_t)lane->tables->losses->width, width = from + heavy;
    uint32_t *copy = kn_lane_push(lane, sizeof *copy * width * s->count);
    if (heavy == 0) return memcpy(copy, s->values, sizeof *copy * width * s->count);
    for (size_t i = 0; i < s->count; i++) {
        memcpy(copy + i * width, s->values + i * from, quasi * sizeof *copy);
        memcpy(copy + i * width + quasi, s->load + i * heavy, heavy * sizeof *copy);
    }
    return copy;
}

/* What is not matched yet, while siblings are matched level by level. */
typedef struct leveling {
    bool     *in_a, *in_b; /* is it matched? */
    uint32_t *x, *y, *spare;
    uint32_t *pick;
} leveling;

/* Pairs siblings that are equal, `m` and `n` of them; returns how many pairs it made. */
static inline uint32_t pick_equal(leveling s, const lift *l, uint32_t m, const lift *r, uint32_t n)
{
    uint32_t xs_left = unmatched(s.x, m, s.in_a), ys_left = unmatched(s.y, n, s.in_b), i = 0, j = 0, pairs = 0;
    sort_lifted(l, s.x, xs_left, s.spare);
    sort_lifted(r, s.y, ys_left, s.spare);
    while (i < xs_left && j < ys_left) {
        int c = compare_lifted(l, s.x[i], r, s.y[j]);
        if (c < 0)
            i++;
        else if (c > 0)
            j++;
        else {
            s.pick[s.x[i]] = s.y[j];
            s.in_a[s.x[i++]] = s.in_b[s.y[j++]] = true;
            pairs++;
        }
    }
    return pairs;
}

static void pick_by_level(kn_lane *lane, uint32_t table, const kn_siblings *xs, const kn_siblings *ys, uint32_t *pick)
{
    const kn_losses *losses = lane->tables->losses;
    uint32_t         m = xs->count, n = ys->count;
    size_t           quasi = (size_t)losses->quasi[table], heavy = xs->load ? (size_t)losses->heavy : 0;
    size_t           width = (size_t)losses->width + heavy;
    uint32_t        *above_a = copy_siblings(lane, xs, quasi, heavy), *above_b = copy_siblings(lane, ys, quasi, heavy);
    lift             l = {above_a, width, quasi}, r = {above_b, width, quasi};
    leveling         s = {.in_a = kn_lane_push(lane, m), .in_b = kn_lane_push(lane, n), .pick = pick};
    s.x = kn_lane_push(lane, sizeof *s.x * m);
    s.y = kn_lane_push(lane, sizeof *s.y * n);
    s.spare = kn_lane_push(lane, sizeof *s.spare * (m > n ? m : n));
    memset(s.in_a, 0, m);
    memset(s.in_b, 0, n);
    for (uint32_t left = m < n ? m : n, level = 0; left > 0; level++) {
        uint32_t before = left;
        lift_all(losses, table, level, above_a, width, m);
        lift_all(losses, table, level, above_b, width, n);
        l.words = r.words = quasi + heavy;
        left -= pick_equal(s, &l, m, &r, n);
        l.words = r.words = quasi;
        if (heavy > 0) left -= pick_equal(s, &l, m, &r, n);
        kn_lane_count(lane, table, before - left);
    }
}

/* ---- Any of them ---- */

void kn_match_values(kn_lane *lane, uint32_t table, const kn_siblings *xs, const kn_siblings *ys, uint32_t *pick)
{
    size_t top = lane->top;
    for (uint32_t i = 0; i < xs->count; i++) pick[i] = KN_FOREST_NONE;
    if (xs->count == 1 && ys->count == 1)
        pick[0] = 0;
    else if (lane->work->problem->method == KN_METHOD_MIRACLE_X_LEVEL)
        pick_by_level(lane, table, xs, ys, pick);
    else if (lane->work->problem->matching == KN_MATCHING_EXACT)
        pick_exactly(lane, table, xs, ys, pick);
    else if (xs->load)
        pick_greedily(lane, table, xs, ys, (size_t)lane->tables->losses->heavy, pick);
    else
        pick_greedily(lane, table, xs, ys, 0, pick);
    lane->top = top;
}
