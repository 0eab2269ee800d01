/* kn_miracle_bound.c: a lower bound of the distance of two trees from a short signature of each.
 *
 * Which node stands below which is ignored. In a table with m nodes in the representative and n in the entity at most
 * min(m, n) can be paired. A cell of the representative costs at least its own LM, paired or deleted. If it is paired
 * with a value in another bucket, they meet in the root; of one bucket with x and y values at most min(x, y) can stay
 * inside it. Each unpaired node costs what it weighs, and one of the entity its cells, too. The distance is the sum over these divided by the
 * cells of both less the paired ones. Fewer pairs would raise both by as much, and as the quotient is at most 1 not
 * lower it: the bound assumes min(m, n) pairs. The coarse bound is this without buckets.
 *
 * The fine bound knows the whole hierarchy instead of buckets: at most min(x, y) pairs meet at or below a hierarchy
 * node with x and y values below it. Going up from where two values meet to the root, what they cost rises step by
 * step; so against meeting in the root no more can be saved than the sum over all nodes of that step times min(x, y).
 *
 * Cost: tables × quasi-identifiers × buckets; of the coarse bound, tables; of the fine bound, the hierarchy nodes with
 * values below them.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_miracle.h"

/* The children of the root get buckets in turn, and all below them theirs: parents have larger numbers. */
static void fill_buckets(uint8_t *bucket, uint8_t *count, const kn_hierarchy *h)
{
    uint32_t root = h->nodes - 1, children = 0;
    bucket[root] = KN_BUCKETS;
    for (uint32_t n = root; n-- > 0;)
        bucket[n] = h->parent[n] == root ? (uint8_t)(children++ % KN_BUCKETS) : bucket[h->parent[n]];
    *count = children < KN_BUCKETS ? (uint8_t)children : KN_BUCKETS;
}

kn_status kn_tree_bounds_make(kn_tree_bounds *out, kn_context *ctx, const kn_losses *losses, kn_error *err)
{
    size_t count = (size_t)losses->tables * (size_t)losses->width;
    *out = (kn_tree_bounds){.ctx = ctx, .losses = losses};
    if (!KN_ALLOC_ZERO(ctx, out->bucket, count) || !KN_ALLOC_ZERO(ctx, out->base, count) ||
        !KN_ALLOC_ZERO(ctx, out->buckets, count))
        return kn_fail_memory(err, ctx, "preparing bounds");
    for (size_t i = 0; i < count; i++) {
        const kn_hierarchy *h = losses->hierarchies[i];
        if (!h) continue;
        if (!(out->bucket[i] = kn_alloc(ctx, h->nodes))) return kn_fail_memory(err, ctx, "preparing bounds");
        out->base[i] = out->nodes;
        out->nodes += h->nodes;
        fill_buckets(out->bucket[i], &out->buckets[i], h);
    }
    if (!(out->drop = kn_alloc_array_zero(ctx, out->nodes + 1, sizeof *out->drop)))
        return kn_fail_memory(err, ctx, "preparing bounds");
    for (size_t i = 0; i < count; i++) {
        const kn_hierarchy *h = losses->hierarchies[i];
        for (uint32_t n = 0; h && n + 1 < h->nodes; n++)
            out->drop[out->base[i] + n] = (uint32_t)(losses->lm[i][h->parent[n]] - losses->lm[i][n]);
    }
    return KN_OK;
}

void kn_tree_bounds_free(kn_tree_bounds *b)
{
    for (int i = 0; b->bucket && i < b->losses->tables * b->losses->width; i++) kn_free(b->bucket[i]);
    KN_FREE(b->bucket, b->drop, b->base, b->buckets);
    *b = (kn_tree_bounds){0};
}

static size_t columns_of(const kn_tree_bounds *b)
{
    return (size_t)b->losses->tables * (size_t)b->losses->width;
}

static size_t words_of(const kn_tree_bounds *b)
{
    size_t columns = columns_of(b);
    return columns * KN_BUCKETS * 12 + columns * 8 + (size_t)b->losses->tables * 12;
}

kn_status kn_signature_create(kn_signature **out, const kn_tree_bounds *b, size_t spots, size_t nodes, kn_error *err)
{
    size_t        columns = columns_of(b);
    size_t        words = columns + 1 + 2 * spots + nodes;
    kn_signature *s = kn_alloc(b->ctx, sizeof *s + nodes * sizeof(uint64_t) + words_of(b) + words * sizeof(uint32_t));
    *out = s;
    if (!s) return kn_fail_memory(err, b->ctx, "preparing bounds");
    s->own_below = (uint64_t *)(void *)(s + 1);
    s->least = s->own_below + nodes;
    s->own = s->least + columns * KN_BUCKETS;
    s->table_own = s->own + columns;
    s->count = (uint32_t *)(void *)(s->table_own + b->losses->tables);
    s->nodes = s->count + columns * KN_BUCKETS;
    s->spot_first = s->nodes + b->losses->tables;
    s->spotted = spots > 0;
    s->spot = s->spot_first + columns + 1;
    s->spot_count = s->spot + spots;
    s->cells_below = s->spot_count + spots;
    return KN_OK;
}

/* Bottom-up: children come after their parents. */
static void add_up(kn_signature *s, const kn_losses *losses, const kn_cluster *c)
{
    size_t width = (size_t)losses->width;
    memset(s->own_below, 0, c->nodes * sizeof *s->own_below);
    memset(s->cells_below, 0, c->nodes * sizeof *s->cells_below);
    for (uint32_t v = c->nodes; v-- > 1;) {
        size_t   t = c->table[v];
        uint64_t own = s->own_below[v];
        for (size_t q = 0; q < (size_t)losses->quasi[t]; q++)
            own += losses->lm[t * width + q][c->values[v * width + q]];
        s->own_below[c->parent[v]] += own;
        s->cells_below[c->parent[v]] += s->cells_below[v] + (uint32_t)losses->cells[t];
    }
}

/* Counts the values at or below the hierarchy nodes of one column; returns how many nodes are in `touched` now. */
static size_t touch_column(const kn_tree_bounds *b, size_t t, size_t q, const kn_cluster *c, uint32_t *counts,
                           uint32_t *touched, size_t count)
{
    size_t              width = (size_t)b->losses->width, column = t * width + q;
    const kn_hierarchy *h = b->losses->hierarchies[column];
    for (uint32_t v = 0; v < c->nodes; v++) {
        if (c->table[v] != t) continue;
        for (uint32_t n = c->values[v * width + q]; n + 1 < h->nodes; n = h->parent[n])
            if (counts[b->base[column] + n]++ == 0) touched[count++] = (uint32_t)b->base[column] + n;
    }
    return count;
}

kn_status kn_signature_make(kn_signature **out, const kn_tree_bounds *b, const kn_cluster *c, uint32_t *counts,
                            uint32_t *touched, kn_error *err)
{
    size_t        count = 0, at = 0;
    kn_signature *s = NULL;
    for (size_t t = 0; t < (size_t)b->losses->tables; t++)
        for (size_t q = 0; q < (size_t)b->losses->quasi[t]; q++)
            count = touch_column(b, t, q, c, counts, touched, count);
    kn_status st = kn_signature_create(&s, b, count + 1, c->nodes, err);
    for (size_t column = 0; s && column < columns_of(b); column++) {
        const kn_hierarchy *h = b->losses->hierarchies[column];
        s->spot_first[column] = (uint32_t)at;
        for (; h && at < count && touched[at] < b->base[column] + h->nodes; at++) {
            s->spot[at] = touched[at];
            s->spot_count[at] = counts[touched[at]];
        }
        s->spot_first[column + 1] = (uint32_t)at;
    }
    for (size_t i = 0; i < count; i++) counts[touched[i]] = 0;
    *out = s;
    if (st == KN_OK) {
        kn_signature_fill(s, b, c);
        add_up(s, b->losses, c);
    }
    return st;
}

void kn_signature_spread(const kn_signature *s, const kn_tree_bounds *b, uint32_t *counts)
{
    for (uint32_t i = 0; i < s->spot_first[columns_of(b)]; i++) counts[s->spot[i]] = s->spot_count[i];
}

void kn_signature_clear(const kn_signature *s, const kn_tree_bounds *b, uint32_t *counts)
{
    for (uint32_t i = 0; i < s->spot_first[columns_of(b)]; i++) counts[s->spot[i]] = 0;
}

void kn_signature_fill(kn_signature *s, const kn_tree_bounds *b, const kn_cluster *c)
{
    size_t width = (size_t)b->losses->width;
    memset(s->least, 0, words_of(b));
    s->cells = 0;
    for (uint32_t v = 0; v < c->nodes; v++) {
        size_t t = c->table[v];
        s->nodes[t]++;
        s->cells += (uint64_t)b->losses->cells[t];
        for (size_t q = 0; q < (size_t)b->losses->quasi[t]; q++) {
            uint32_t node = c->values[v * width + q];
            uint64_t lm = b->losses->lm[t * width + q][node];
            uint8_t  bucket = b->bucket[t * width + q][node];
            s->own[t * width + q] += lm;
            s->table_own[t] += lm;
            if (bucket == KN_BUCKETS) continue;
            size_t at = (t * width + q) * KN_BUCKETS + bucket;
            if (s->count[at]++ == 0 || lm < s->least[at]) s->least[at] = lm;
        }
    }
}

/* One column: what the representative's cells cost at least. */
static uint64_t column_bound(const kn_tree_bounds *b, size_t column, uint32_t nodes, const kn_signature *x,
                             const kn_signature *y)
{
    const kn_hierarchy *h = b->losses->hierarchies[column];
    uint64_t            apart = b->losses->lm[column][h->nodes - 1], sum = 0, inside = 0;
    for (size_t i = column * KN_BUCKETS; i < column * KN_BUCKETS + b->buckets[column]; i++) {
        uint64_t pairs = x->count[i] < y->count[i] ? x->count[i] : y->count[i];
        sum += pairs * (x->least[i] > y->least[i] ? x->least[i] : y->least[i]);
        inside += pairs;
    }
    sum += (nodes - inside) * apart;
    return sum > x->own[column] ? sum : x->own[column];
}

/* The same from all hierarchy nodes of the column. */
static uint64_t fine_column_bound(const kn_tree_bounds *b, size_t column, uint32_t nodes, const kn_signature *x,
                                  const kn_signature *other, const uint32_t *counts)
{
    const kn_hierarchy *h = b->losses->hierarchies[column];
    uint64_t            sum = nodes * b->losses->lm[column][h->nodes - 1], saved = 0;
    for (uint32_t i = other->spot_first[column]; i < other->spot_first[column + 1]; i++) {
        uint32_t here = counts[other->spot[i]], there = other->spot_count[i];
        saved += (uint64_t)b->drop[other->spot[i]] * (here < there ? here : there);
    }
    sum = sum > saved ? sum - saved : 0;
    return sum > x->own[column] ? sum : x->own[column];
}

/* `other` NULL: by buckets. */
static kn_loss bound_of(const kn_tree_bounds *b, const kn_signature *x, const kn_signature *y,
                        const kn_signature *other, const uint32_t *counts)
{
    size_t  width = (size_t)b->losses->width;
    kn_loss bound = {0, x->cells + y->cells};
    for (size_t t = 0; t < (size_t)b->losses->tables; t++) {
        uint64_t quasi = (uint64_t)b->losses->quasi[t], pairs = x->nodes[t] < y->nodes[t] ? x->nodes[t] : y->nodes[t];
        for (size_t q = 0; q < quasi && x->nodes[t] > 0; q++)
            bound.sum += other ? fine_column_bound(b, t * width + q, x->nodes[t], x, other, counts)
                               : column_bound(b, t * width + q, x->nodes[t], x, y);
        bound.sum += (y->nodes[t] - pairs) * quasi * b->losses->unit;
        bound.cells -= pairs * quasi;
    }
    for (int h = 0; h < b->losses->heavy; h++) { /* what is not paired, on either side */
        int      t = b->losses->heavy_table[h];
        uint64_t weight = (uint64_t)(b->losses->cells[t] - b->losses->quasi[t]), m = x->nodes[t], n = y->nodes[t];
        bound.sum += (m < n ? n - m : m - n) * b->losses->heavy_loss[h];
        bound.cells -= (m < n ? m : n) * weight;
    }
    return bound;
}

kn_loss kn_signature_coarse_bound(const kn_tree_bounds *b, const kn_signature *x, const kn_signature *y)
{
    kn_loss bound = {0, 0};
    for (size_t t = 0; t < (size_t)b->losses->tables; t++) {
        uint64_t cells = (uint64_t)b->losses->cells[t];
        kn_loss  rest = kn_rest_bound(x->nodes[t] * cells, x->table_own[t], y->nodes[t] * cells, b->losses->unit);
        bound.sum += rest.sum;
        bound.cells += rest.cells;
    }
    return bound;
}

kn_loss kn_signature_bound(const kn_tree_bounds *bounds, const kn_signature *representative, const kn_signature *entity)
{
    return bound_of(bounds, representative, entity, NULL, NULL);
}

kn_loss kn_signature_fine_bound(const kn_tree_bounds *bounds, const kn_signature *representative,
                                const kn_signature *entity, const kn_signature *other, const uint32_t *counts)
{
    return bound_of(bounds, representative, entity, other, counts);
}
