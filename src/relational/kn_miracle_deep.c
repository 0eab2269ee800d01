/* kn_miracle_deep.c: the cost of merging two interned subtrees if siblings are paired by the cost of their whole
 * subtrees (Algorithms 3 and 4), with earlier results remembered per lane.
 *
 * Costs are a function of the two numbers alone: siblings stand in the order of their trees, and ties go by position.
 * The memory is a direct-mapped table of fixed size: an evicted cost is computed again. A pair of siblings whose
 * lower bound (own values exactly, the rest by counts) cannot be the cheapest is not computed; nor are siblings of
 * the roots, once the whole exceeds the limit.
 *
 * Cost of a distance: the square of the siblings per pair of nodes whose cost is neither remembered nor excluded.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "kn_hash.h"
#include "kn_miracle.h"

static const uint32_t *values_of(const kn_store *s, uint32_t id)
{
    return s->values + (size_t)s->trees[id].value * ((size_t)s->losses->width + 1) + 1;
}

static uint64_t value_loss(const kn_lane *lane, uint32_t a, uint32_t b)
{
    return kn_tuple_loss(lane->tables, lane->store->trees[a].table, values_of(lane->store, a),
                         values_of(lane->store, b));
}

static kn_loss loss_of(kn_lane *lane, uint32_t a, uint32_t b);

static uint32_t own_cells(const kn_store *s, const kn_subtree *t)
{
    return (uint32_t)s->losses->cells[t->table];
}

/* A lower bound of loss_of. */
static kn_loss bound_of(const kn_lane *lane, uint32_t a, uint32_t b)
{
    const kn_store   *s = lane->store;
    const kn_subtree *x = &s->trees[a], *y = &s->trees[b];
    uint32_t          own = own_cells(s, x);
    kn_loss           rest = kn_rest_bound(x->cells - own, x->below, y->cells - own, s->losses->unit);
    return (kn_loss){value_loss(lane, a, b) + rest.sum, own + rest.cells};
}

/* ---- Matchings of siblings `a` and `b`: pick[i] is the place in b for the i-th of a, or KN_FOREST_NONE ---- */

/* The children of the roots while they are matched: what is known, and what is left. */
typedef struct watch {
    const kn_limit *limit;
    kn_loss         known;
    uint64_t        cells_a, own_a, cells_b; /* of children that are neither paired nor deleted */
} watch;

static void add_up(const kn_store *s, watch *w, const uint32_t *a, uint32_t m, const uint32_t *b, uint32_t n)
{
    for (uint32_t i = 0; i < m; i++) {
        const kn_subtree *t = &s->trees[a[i]];
        w->cells_a += t->cells;
        w->own_a += t->below;
        for (size_t q = 0; q < (size_t)s->losses->quasi[t->table]; q++)
            w->own_a += s->losses->lm[t->table * (size_t)s->losses->width + q][values_of(s, a[i])[q]];
    }
    for (uint32_t j = 0; j < n; j++) w->cells_b += s->trees[b[j]].cells;
}

static kn_loss watched(const kn_store *s, const watch *w)
{
    kn_loss rest = kn_rest_bound(w->cells_a, w->own_a, w->cells_b, s->losses->unit);
    return (kn_loss){w->known.sum + rest.sum, w->known.cells + rest.cells};
}

/* Two children became a pair. False: the whole is beyond the limit. */
static bool watch_pair(const kn_store *s, watch *w, uint32_t a, uint32_t b, kn_loss loss)
{
    watch pair = {0};
    add_up(s, &pair, &a, 1, &b, 1);
    w->known.sum += loss.sum;
    w->known.cells += loss.cells;
    w->cells_a -= pair.cells_a;
    w->own_a -= pair.own_a;
    w->cells_b -= pair.cells_b;
    return !kn_limit_passed(w->limit, watched(s, w));
}

/* Are all of them without children? */
static bool are_leaves(const kn_store *s, const uint32_t *a, uint32_t m, const uint32_t *b, uint32_t n)
{
    for (uint32_t i = 0; i < m; i++)
        if (s->trees[a[i]].count > 0) return false;
    for (uint32_t j = 0; j < n; j++)
        if (s->trees[b[j]].count > 0) return false;
    return true;
}

static uint32_t *gather(kn_lane *lane, const uint32_t *ids, uint32_t count)
{
    size_t    width = (size_t)lane->store->losses->width;
    uint32_t *values = kn_lane_push(lane, sizeof *values * width * count);
    for (uint32_t i = 0; i < count; i++)
        memcpy(values + i * width, values_of(lane->store, ids[i]), width * sizeof *values);
    return values;
}

/* The open place of `many` that costs least with `x`; of equal ones the first. */
static uint32_t cheapest(kn_lane *lane, uint32_t x, const uint32_t *many, const uint32_t *open, uint32_t left,
                         bool swapped, kn_loss *bounds, kn_loss *out)
{
    uint32_t first = 0, best = KN_FOREST_NONE;
    for (uint32_t j = 0; j < left; j++) {
        uint32_t y = many[open[j]];
        bounds[j] = j > 0 && y == many[open[j - 1]] ? bounds[j - 1]
                    : swapped                       ? bound_of(lane, y, x)
                                                    : bound_of(lane, x, y);
        if (kn_loss_compare(bounds[j], bounds[first]) < 0) first = j;
    }
    kn_loss least = {0, 0};
    for (uint32_t round = 0; round <= left; round++) {
        uint32_t j = round == 0 ? first : round - 1, y = many[open[j]];
        if (round > 0) {
            int c = kn_loss_compare(bounds[j], least);
            if (j == first || c > 0 || (c == 0 && j > best)) continue;
            if (j > 0 && y == many[open[j - 1]]) continue; /* its earlier twin represents both   */
        }
        kn_loss loss = swapped ? loss_of(lane, y, x) : loss_of(lane, x, y);
        int     c = round == 0 ? -1 : kn_loss_compare(loss, least);
        if (c > 0 || (c == 0 && j > best)) continue;
        best = j;
        least = loss;
    }
    *out = least;
    return best;
}

static bool pick_greedily(kn_lane *lane, const uint32_t *a, uint32_t m, const uint32_t *b, uint32_t n, uint32_t *pick,
                          watch *w)
{
    bool            swapped = m > n; /* M6 */
    uint32_t        few = swapped ? n : m, left = swapped ? m : n;
    const uint32_t *many = swapped ? a : b;
    uint32_t       *open = kn_lane_push(lane, sizeof *open * left); /* places not yet taken, ascending */
    kn_loss        *bounds = kn_lane_push(lane, sizeof *bounds * left);
    for (uint32_t j = 0; j < left; j++) open[j] = j;
    for (uint32_t i = 0; i < few; i++, left--) {
        kn_loss  loss;
        uint32_t best = cheapest(lane, swapped ? b[i] : a[i], many, open, left, swapped, bounds, &loss);
        uint32_t x = swapped ? open[best] : i, y = swapped ? i : open[best];
        pick[x] = y;
        if (w && !watch_pair(lane->store, w, a[x], b[y], loss)) return false;
        memmove(open + best, open + best + 1, (left - best - 1) * sizeof *open);
    }
    return true;
}

static void pick_exactly(kn_lane *lane, const uint32_t *a, uint32_t m, const uint32_t *b, uint32_t n, uint32_t *pick)
{
    bool              swapped = m > n;
    uint32_t          rows = swapped ? n : m, columns = swapped ? m : n;
    const kn_subtree *trees = lane->store->trees;
    int64_t          *cost = kn_lane_push(lane, sizeof *cost * rows * columns);
    uint32_t         *chosen = kn_lane_push(lane, sizeof *chosen * rows);
    for (uint32_t i = 0; i < rows; i++)
        for (uint32_t j = 0; j < columns; j++) {
            uint32_t x = swapped ? a[j] : a[i], y = swapped ? b[i] : b[j];
            uint64_t spared = trees[swapped ? x : y].cells * lane->store->losses->unit;
            cost[(size_t)i * columns + j] = (int64_t)loss_of(lane, x, y).sum - (int64_t)spared;
        }
    kn_assign(cost, rows, columns, true, chosen, kn_lane_push(lane, kn_assign_room(columns)));
    for (uint32_t i = 0; i < rows; i++) pick[swapped ? chosen[i] : i] = swapped ? i : chosen[i];
}

/* False: by `w` the loss is beyond the limit. */
static bool match(kn_lane *lane, const uint32_t *a, uint32_t m, const uint32_t *b, uint32_t n, uint32_t *pick, watch *w)
{
    for (uint32_t i = 0; i < m; i++) pick[i] = KN_FOREST_NONE;
    if (m == 1 && n == 1) {
        pick[0] = 0;
    } else if (are_leaves(lane->store, a, m, b, n) && lane->work->problem->matching == KN_MATCHING_GREEDY) {
        kn_siblings xs = {m, gather(lane, a, m), NULL}, ys = {n, gather(lane, b, n), NULL};
        kn_match_values(lane, lane->store->trees[a[0]].table, &xs, &ys, pick);
    } else if (lane->work->problem->matching == KN_MATCHING_EXACT) {
        pick_exactly(lane, a, m, b, n, pick);
    } else {
        return pick_greedily(lane, a, m, b, n, pick, w);
    }
    return true;
}

/* ---- Siblings table by table ---- */

/* How many of `ids` are of the first one's table. */
static uint32_t run_length(const kn_store *s, const uint32_t *ids, uint32_t count)
{
    uint32_t n = 1;
    while (n < count && s->trees[ids[n]].table == s->trees[ids[0]].table) n++;
    return n;
}

static void add_deleted(const kn_store *s, kn_loss *loss, uint32_t id)
{
    loss->sum += s->trees[id].cells * s->losses->unit;
    loss->cells += s->trees[id].cells;
}

/* What the matched siblings cost; with `w` watched while they are matched, and false if they are beyond the limit. */
static bool add_siblings(kn_lane *lane, kn_loss *loss, const uint32_t *a, uint32_t m, const uint32_t *b, uint32_t n,
                         watch *w)
{
    const kn_store *s = lane->store;
    size_t          top = lane->top;
    uint32_t       *pick = kn_lane_push(lane, sizeof *pick * m);
    uint64_t        alone = 0; /* cells of b that were not paired */
    bool            whole = match(lane, a, m, b, n, pick, w);
    for (uint32_t j = 0; whole && j < n; j++) alone += s->trees[b[j]].cells;
    for (uint32_t i = 0; whole && i < m; i++) {
        if (pick[i] == KN_FOREST_NONE) {
            add_deleted(s, loss, a[i]);
            continue;
        }
        kn_loss below = loss_of(lane, a[i], b[pick[i]]);
        loss->sum += below.sum;
        loss->cells += below.cells;
        alone -= s->trees[b[pick[i]]].cells;
    }
    loss->sum += alone * s->losses->unit;
    loss->cells += alone;
    lane->top = top;
    return whole;
}

/* Adds what stands below two nodes. */
static bool add_children(kn_lane *lane, kn_loss *loss, const kn_subtree *x, const kn_subtree *y, watch *w)
{
    const kn_store *s = lane->store;
    for (uint32_t i = 0, j = 0; i < x->count || j < y->count;) {
        const uint32_t *p = s->pool + x->first + i, *q = s->pool + y->first + j;
        uint32_t        m = 0, n = 0;
        if (j == y->count || (i < x->count && s->trees[*p].table < s->trees[*q].table)) {
            add_deleted(s, loss, p[m++]);
        } else if (i == x->count || s->trees[*q].table < s->trees[*p].table) {
            add_deleted(s, loss, q[n++]);
        } else {
            m = run_length(s, p, x->count - i);
            n = run_length(s, q, y->count - j);
            if (!add_siblings(lane, loss, p, m, q, n, w)) return false;
        }
        i += m;
        j += n;
        if (!w) continue;
        w->known = *loss; /* all up to here, and the rest from the beginning */
        w->cells_a = w->own_a = w->cells_b = 0;
        add_up(s, w, s->pool + x->first + i, x->count - i, s->pool + y->first + j, y->count - j);
    }
    return true;
}

static kn_remembered *place_of(const kn_lane *lane, uint64_t key)
{
    return &lane->pairs[(size_t)(kn_hash_word(key) >> 20) & lane->mask];
}

static kn_loss loss_of(kn_lane *lane, uint32_t a, uint32_t b)
{
    const kn_subtree *x = &lane->store->trees[a], *y = &lane->store->trees[b];
    uint64_t          key = ((uint64_t)a << 32) | b;
    if (x->count + y->count == 0 && lane->tables->all[x->table])
        return (kn_loss){value_loss(lane, a, b), own_cells(lane->store, x)};
    kn_remembered *known = place_of(lane, key);
    if (known->key == key) return (kn_loss){known->sum, known->cells};
    kn_loss loss = {value_loss(lane, a, b), own_cells(lane->store, x)};
    lane->evaluations++;
    (void)add_children(lane, &loss, x, y, NULL);
    *known = (kn_remembered){key, loss.sum, loss.cells};
    return loss;
}

bool kn_deep_loss(kn_lane *lane, const kn_cluster *a, const kn_cluster *b, const kn_limit *limit, kn_loss *out)
{
    const kn_store   *s = lane->store;
    const kn_subtree *x = &s->trees[a->ids[0]], *y = &s->trees[b->ids[0]];
    watch             w = {.limit = limit};
    uint64_t          key = ((uint64_t)a->ids[0] << 32) | b->ids[0];
    kn_remembered    *known = place_of(lane, key);
    if (known->key == key) {
        *out = (kn_loss){known->sum, known->cells};
        return true;
    }
    kn_loss loss = {value_loss(lane, a->ids[0], b->ids[0]), own_cells(s, x)};
    w.known = loss;
    lane->evaluations++;
    add_up(s, &w, s->pool + x->first, x->count, s->pool + y->first, y->count);
    if (!add_children(lane, &loss, x, y, &w)) {
        lane->top = 0;
        *out = watched(s, &w);
        return false;
    }
    *known = (kn_remembered){key, loss.sum, loss.cells};
    *out = loss;
    return true;
}

/* ---- Pairs ---- */

static void collect(kn_lane *lane, const kn_cluster *a, uint32_t x, const kn_cluster *b, uint32_t y, uint32_t parent,
                    kn_pair *pairs, uint32_t *count)
{
    uint32_t at = (*count)++;
    pairs[at] = (kn_pair){x, y, parent};
    for (uint32_t i = 0, j = 0; i < a->child_count[x] && j < b->child_count[y];) {
        uint32_t first = a->first_child[x] + i, second = b->first_child[y] + j;
        if (a->table[first] != b->table[second]) {
            if (a->table[first] < b->table[second])
                i++;
            else
                j++;
            continue;
        }
        uint32_t  m = run_length(lane->store, a->ids + first, a->child_count[x] - i);
        uint32_t  n = run_length(lane->store, b->ids + second, b->child_count[y] - j);
        size_t    top = lane->top;
        uint32_t *pick = kn_lane_push(lane, sizeof *pick * m);
        (void)match(lane, a->ids + first, m, b->ids + second, n, pick, NULL);
        for (uint32_t k = 0; k < m; k++)
            if (pick[k] != KN_FOREST_NONE) collect(lane, a, first + k, b, second + pick[k], at, pairs, count);
        lane->top = top;
        i += m;
        j += n;
    }
}

uint32_t kn_deep_pairs(kn_lane *lane, const kn_cluster *a, const kn_cluster *b, kn_pair *pairs)
{
    uint32_t count = 0;
    collect(lane, a, 0, b, 0, KN_FOREST_NONE, pairs, &count);
    return count;
}
