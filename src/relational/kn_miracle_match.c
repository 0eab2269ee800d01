/* kn_miracle_match.c: what two interned subtrees cost together (Algorithms 3 to 5 and section 4.3), with what was
 * worked out before remembered per lane.
 *
 * Costs are a function of the two numbers alone: siblings stand in the order of their trees, and ties go by position.
 * The memory is a direct-mapped table of fixed size: a cost that is pushed out is worked out again.
 *
 * Cost of a distance: the square of the siblings per pair of nodes whose cost is not remembered; miracle-x-level sorts
 * siblings once per level of the hierarchies instead.
 */
#include <string.h>

#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_hash.h"
#include "kn_miracle.h"

/* ---- Lanes ---- */

static size_t stack_level(const kn_relational_work *work)
{
    size_t n = work->most_children, size = (48 + 8 * (size_t)work->losses->width) * n + 512;
    if (work->problem->matching == KN_MATCHING_EXACT) size += n * n * sizeof(int64_t) + kn_assign_room(n);
    return size;
}

kn_status kn_lane_make(kn_lane *out, const kn_relational_work *work, const kn_store *store, const kn_tables *tables,
                       size_t places, kn_error *err)
{
    *out = (kn_lane){.work = work, .store = store, .tables = tables, .mask = places - 1};
    out->pairs = kn_alloc_array(work->ctx, places, sizeof *out->pairs);
    out->stack = kn_alloc_array(work->ctx, (size_t)work->most_depth + 1, stack_level(work));
    if (!out->pairs || !out->stack) return kn_fail_memory(err, work->ctx, "remembering costs");
    kn_lane_forget(out);
    return KN_OK;
}

void kn_lane_free(kn_lane *lane)
{
    kn_free(lane->pairs);
    kn_free(lane->stack);
    kn_free(lane->signature);
    kn_free(lane->counts);
    kn_free(lane->touched);
    *lane = (kn_lane){0};
}

void kn_lane_forget(kn_lane *lane)
{
    memset(lane->pairs, 0xff, (lane->mask + 1) * sizeof *lane->pairs);
}

static void *push(kn_lane *lane, size_t size)
{
    void *block = lane->stack + lane->top;
    lane->top += (size + 15) & ~(size_t)15;
    return block;
}

static kn_remembered *place_of(kn_remembered *entries, size_t mask, uint32_t a, uint32_t b)
{
    return &entries[(size_t)(kn_hash_word(((uint64_t)a << 32) | b) >> 20) & mask];
}

/* ---- Values ---- */

static const uint32_t *values_of(const kn_store *s, uint32_t id)
{
    return s->values + (size_t)s->trees[id].value * ((size_t)s->losses->width + 1) + 1;
}

static uint64_t value_loss(const kn_lane *lane, uint32_t a, uint32_t b)
{
    uint64_t loss;
    kn_tables_losses(lane->tables, lane->store->trees[a].table, values_of(lane->store, a), values_of(lane->store, b), 1,
                     &loss);
    return loss;
}

/* Does a matching of these siblings look at their own values only? */
static bool by_values(const kn_lane *lane, const uint32_t *a, uint32_t m, const uint32_t *b, uint32_t n)
{
    if (lane->work->problem->method == KN_RELATIONAL_MIRACLE_X) return true;
    for (uint32_t i = 0; i < m; i++)
        if (lane->store->trees[a[i]].count > 0) return false;
    for (uint32_t j = 0; j < n; j++)
        if (lane->store->trees[b[j]].count > 0) return false;
    return true;
}

static uint32_t *gather(kn_lane *lane, const uint32_t *ids, uint32_t count)
{
    size_t    width = (size_t)lane->store->losses->width;
    uint32_t *values = push(lane, sizeof *values * width * count);
    for (uint32_t i = 0; i < count; i++)
        memcpy(values + i * width, values_of(lane->store, ids[i]), width * sizeof *values);
    return values;
}

/* What was looked up in tables was worked out before. */
static void count_values(kn_lane *lane, uint32_t table, uint32_t count)
{
    if (!lane->tables->all[table]) lane->evaluations += count;
}

/* ---- Matchings of siblings `a` and `b`: pick[i] is the place in b for the i-th of a, or KN_FOREST_NONE ---- */

/* The cells of all pairs are as many: the least sum is the least loss. */
static void pick_by_values(kn_lane *lane, const uint32_t *a, uint32_t m, const uint32_t *b, uint32_t n, uint32_t *pick)
{
    bool      swapped = m > n;
    uint32_t  few = swapped ? n : m, left = swapped ? m : n, table = lane->store->trees[a[0]].table;
    size_t    width = (size_t)lane->store->losses->width;
    uint32_t *outer = gather(lane, swapped ? b : a, few), *inner = gather(lane, swapped ? a : b, left);
    uint32_t *open = push(lane, sizeof *open * left); /* places of the larger set not yet taken, ascending */
    uint64_t *loss = push(lane, sizeof *loss * left);
    for (uint32_t j = 0; j < left; j++) open[j] = j;
    for (uint32_t i = 0; i < few; i++, left--) {
        uint32_t best = 0;
        kn_tables_losses(lane->tables, (int)table, outer + i * width, inner, left, loss);
        count_values(lane, table, left);
        for (uint32_t j = 1; j < left; j++)
            if (loss[j] < loss[best]) best = j;
        if (swapped)
            pick[open[best]] = i;
        else
            pick[i] = open[best];
        memmove(open + best, open + best + 1, (left - best - 1) * sizeof *open);
        memmove(inner + best * width, inner + (best + 1) * width, (left - best - 1) * width * sizeof *inner);
    }
}

static void pick_greedily(kn_lane *lane, const uint32_t *a, uint32_t m, const uint32_t *b, uint32_t n, uint32_t *pick)
{
    if (by_values(lane, a, m, b, n)) {
        pick_by_values(lane, a, m, b, n, pick);
        return;
    }
    bool      swapped = m > n;
    uint32_t  few = swapped ? n : m, left = swapped ? m : n;
    uint32_t *open = push(lane, sizeof *open * left);
    for (uint32_t j = 0; j < left; j++) open[j] = j;
    for (uint32_t i = 0; i < few; i++, left--) {
        uint32_t best = 0;
        kn_loss  least = {0, 0};
        for (uint32_t j = 0; j < left; j++) {
            kn_loss loss = swapped ? kn_lane_loss(lane, a[open[j]], b[i]) : kn_lane_loss(lane, a[i], b[open[j]]);
            if (j > 0 && kn_loss_compare(loss, least) >= 0) continue;
            best = j;
            least = loss;
            if (loss.sum == 0) break; /* nothing is cheaper, and this is the first */
        }
        if (swapped)
            pick[open[best]] = i;
        else
            pick[i] = open[best];
        memmove(open + best, open + best + 1, (left - best - 1) * sizeof *open);
    }
}

static void pick_exactly(kn_lane *lane, const uint32_t *a, uint32_t m, const uint32_t *b, uint32_t n, uint32_t *pick)
{
    bool              swapped = m > n;
    uint32_t          rows = swapped ? n : m, columns = swapped ? m : n;
    const kn_subtree *trees = lane->store->trees;
    bool              own = lane->work->problem->method == KN_RELATIONAL_MIRACLE_X;
    int64_t          *cost = push(lane, sizeof *cost * rows * columns);
    uint32_t         *chosen = push(lane, sizeof *chosen * rows);
    for (uint32_t i = 0; i < rows; i++)
        for (uint32_t j = 0; j < columns; j++) {
            uint32_t x = swapped ? a[j] : a[i], y = swapped ? b[i] : b[j];
            uint64_t spared = own ? 0 : trees[swapped ? x : y].cells * lane->store->losses->unit;
            uint64_t loss = own ? value_loss(lane, x, y) : kn_lane_loss(lane, x, y).sum;
            if (own) count_values(lane, trees[x].table, 1);
            cost[(size_t)i * columns + j] = (int64_t)loss - (int64_t)spared;
        }
    kn_assign(cost, rows, columns, chosen, push(lane, kn_assign_room(columns)));
    for (uint32_t i = 0; i < rows; i++) {
        if (swapped)
            pick[chosen[i]] = i;
        else
            pick[i] = chosen[i];
    }
}

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

static void pick_by_level(kn_lane *lane, const uint32_t *a, uint32_t m, const uint32_t *b, uint32_t n, uint32_t *pick)
{
    const kn_losses *losses = lane->store->losses;
    uint32_t         table = lane->store->trees[a[0]].table;
    uint32_t        *above_a = gather(lane, a, m), *above_b = gather(lane, b, n);
    lift             l = {above_a, (size_t)losses->width, (size_t)losses->quasi[table]}, r = l;
    bool            *in_a = push(lane, m), *in_b = push(lane, n);
    uint32_t        *x = push(lane, sizeof *x * m), *y = push(lane, sizeof *y * n);
    uint32_t        *spare = push(lane, sizeof *spare * (m > n ? m : n));
    r.nodes = above_b;
    memset(in_a, 0, m);
    memset(in_b, 0, n);
    for (uint32_t left = m < n ? m : n, level = 0; left > 0; level++) {
        uint32_t xs = unmatched(x, m, in_a), ys = unmatched(y, n, in_b), i = 0, j = 0;
        lift_all(losses, table, level, above_a, m);
        lift_all(losses, table, level, above_b, n);
        sort_lifted(&l, x, xs, spare);
        sort_lifted(&r, y, ys, spare);
        while (i < xs && j < ys) {
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
    }
}

static void match(kn_lane *lane, const uint32_t *a, uint32_t m, const uint32_t *b, uint32_t n, uint32_t *pick)
{
    for (uint32_t i = 0; i < m; i++) pick[i] = KN_FOREST_NONE;
    if (m == 1 && n == 1)
        pick[0] = 0;
    else if (lane->work->problem->method == KN_RELATIONAL_MIRACLE_X_LEVEL)
        pick_by_level(lane, a, m, b, n, pick);
    else if (lane->work->problem->matching == KN_MATCHING_EXACT)
        pick_exactly(lane, a, m, b, n, pick);
    else
        pick_greedily(lane, a, m, b, n, pick);
}

/* ---- Siblings table by table ---- */

/* How many of `ids` from `at` on are of the first one's table. */
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

static void add_siblings(kn_lane *lane, kn_loss *loss, const uint32_t *a, uint32_t m, const uint32_t *b, uint32_t n)
{
    const kn_store *s = lane->store;
    size_t          top = lane->top;
    uint32_t       *pick = push(lane, sizeof *pick * m);
    uint64_t        alone = 0; /* cells of b that nobody took */
    match(lane, a, m, b, n, pick);
    for (uint32_t j = 0; j < n; j++) alone += s->trees[b[j]].cells;
    for (uint32_t i = 0; i < m; i++) {
        if (pick[i] == KN_FOREST_NONE) {
            add_deleted(s, loss, a[i]);
            continue;
        }
        kn_loss below = kn_lane_loss(lane, a[i], b[pick[i]]);
        loss->sum += below.sum;
        loss->cells += below.cells;
        alone -= s->trees[b[pick[i]]].cells;
    }
    loss->sum += alone * s->losses->unit;
    loss->cells += alone;
    lane->top = top;
}

kn_loss kn_lane_loss(kn_lane *lane, uint32_t a, uint32_t b)
{
    const kn_store   *s = lane->store;
    const kn_subtree *x = &s->trees[a], *y = &s->trees[b];
    if (x->count + y->count == 0 && lane->tables->all[x->table])
        return (kn_loss){value_loss(lane, a, b), (uint64_t)s->losses->quasi[x->table]};
    kn_remembered *known = place_of(lane->pairs, lane->mask, a, b);
    uint64_t       key = ((uint64_t)a << 32) | b;
    if (known->key == key) return (kn_loss){known->sum, known->cells};
    kn_loss loss = {value_loss(lane, a, b), (uint64_t)s->losses->quasi[x->table]};
    lane->evaluations++;
    for (uint32_t i = 0, j = 0; i < x->count || j < y->count;) {
        const uint32_t *p = s->pool + x->first + i, *q = s->pool + y->first + j;
        if (j == y->count || (i < x->count && s->trees[*p].table < s->trees[*q].table)) {
            add_deleted(s, &loss, *p);
            i++;
        } else if (i == x->count || s->trees[*q].table < s->trees[*p].table) {
            add_deleted(s, &loss, *q);
            j++;
        } else {
            uint32_t m = run_length(s, p, x->count - i), n = run_length(s, q, y->count - j);
            add_siblings(lane, &loss, p, m, q, n);
            i += m;
            j += n;
        }
    }
    *known = (kn_remembered){key, loss.sum, loss.cells};
    return loss;
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
        uint32_t *pick = push(lane, sizeof *pick * m);
        match(lane, a->ids + first, m, b->ids + second, n, pick);
        for (uint32_t k = 0; k < m; k++)
            if (pick[k] != KN_FOREST_NONE) collect(lane, a, first + k, b, second + pick[k], at, pairs, count);
        lane->top = top;
        i += m;
        j += n;
    }
}

uint32_t kn_lane_pairs(kn_lane *lane, const kn_cluster *a, const kn_cluster *b, kn_pair *pairs)
{
    uint32_t count = 0;
    collect(lane, a, 0, b, 0, KN_FOREST_NONE, pairs, &count);
    return count;
}
