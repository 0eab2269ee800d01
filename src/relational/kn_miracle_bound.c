/* kn_miracle_bound.c: a lower bound of the distance of two trees from a short signature of each.
 *
 * Forget who hangs from whom. In a table with m nodes in the representative and n in the entity at most min(m, n) can be
 * paired. A cell of the representative costs at least its own LM, paired or deleted. If it is paired with a value in
 * another bucket, they meet in the root; of one bucket with x and y values at most min(x, y) can stay inside it. Each node
 * of the entity that stays alone costs its cells. The distance is the sum over these divided by the cells of both less the
 * paired ones. Fewer pairs would raise both by as much, and as the quotient is at most 1 not lower it: the bound assumes
 * min(m, n) pairs.
 *
 * Cost: tables × quasi-identifiers × KN_BUCKETS.
 */
#include <string.h>

#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_miracle.h"

kn_status kn_bounds_make(kn_bounds *out, kn_context *ctx, const kn_losses *losses, kn_error *err)
{
    size_t count = (size_t)losses->tables * (size_t)losses->width;
    *out = (kn_bounds){.ctx = ctx, .losses = losses};
    if (!(out->bucket = kn_alloc_array_zero(ctx, count, sizeof *out->bucket)))
        return kn_fail_memory(err, ctx, "preparing bounds");
    for (size_t i = 0; i < count; i++) {
        const kn_hierarchy *h = losses->hierarchies[i];
        if (!h) continue;
        if (!(out->bucket[i] = kn_alloc(ctx, h->nodes))) return kn_fail_memory(err, ctx, "preparing bounds");
        for (uint32_t n = 0; n < h->nodes; n++)
            out->bucket[i][n] = n == h->nodes - 1
                                    ? KN_BUCKETS
                                    : (uint8_t)(kn_hierarchy_ancestor(h, h->first[n], h->height - 1) % KN_BUCKETS);
    }
    return KN_OK;
}

void kn_bounds_free(kn_bounds *b)
{
    for (int i = 0; b->bucket && i < b->losses->tables * b->losses->width; i++) kn_free(b->bucket[i]);
    kn_free(b->bucket);
    *b = (kn_bounds){0};
}

static size_t columns_of(const kn_bounds *b)
{
    return (size_t)b->losses->tables * (size_t)b->losses->width;
}

static size_t words_of(const kn_bounds *b)
{
    size_t columns = columns_of(b);
    return columns * KN_BUCKETS * 12 + columns * 8 + (size_t)b->losses->tables * 4;
}

kn_status kn_signature_create(kn_signature **out, const kn_bounds *b, kn_error *err)
{
    kn_signature *s = kn_alloc(b->ctx, sizeof *s + words_of(b));
    *out = s;
    if (!s) return kn_fail_memory(err, b->ctx, "preparing bounds");
    s->least = (uint64_t *)(void *)(s + 1);
    s->own = s->least + columns_of(b) * KN_BUCKETS;
    s->count = (uint32_t *)(void *)(s->own + columns_of(b));
    s->nodes = s->count + columns_of(b) * KN_BUCKETS;
    return KN_OK;
}

void kn_signature_fill(kn_signature *s, const kn_bounds *b, const kn_cluster *c)
{
    size_t width = (size_t)b->losses->width;
    memset(s->least, 0, words_of(b));
    s->cells = 0;
    for (uint32_t v = 0; v < c->nodes; v++) {
        size_t t = c->table[v];
        s->nodes[t]++;
        s->cells += (uint64_t)b->losses->quasi[t];
        for (size_t q = 0; q < (size_t)b->losses->quasi[t]; q++) {
            uint32_t node = c->values[v * width + q];
            uint64_t lm = b->losses->lm[t * width + q][node];
            uint8_t  bucket = b->bucket[t * width + q][node];
            s->own[t * width + q] += lm;
            if (bucket == KN_BUCKETS) continue;
            size_t at = (t * width + q) * KN_BUCKETS + bucket;
            if (s->count[at]++ == 0 || lm < s->least[at]) s->least[at] = lm;
        }
    }
}

/* One column: what the representative's cells cost at least. */
static uint64_t column_bound(const kn_bounds *b, size_t column, uint32_t nodes, const kn_signature *x, const kn_signature *y)
{
    const kn_hierarchy *h = b->losses->hierarchies[column];
    uint64_t            apart = b->losses->lm[column][h->nodes - 1], sum = 0, inside = 0;
    for (size_t i = column * KN_BUCKETS; i < (column + 1) * KN_BUCKETS; i++) {
        uint64_t pairs = x->count[i] < y->count[i] ? x->count[i] : y->count[i];
        sum += pairs * (x->least[i] > y->least[i] ? x->least[i] : y->least[i]);
        inside += pairs;
    }
    sum += (nodes - inside) * apart;
    return sum > x->own[column] ? sum : x->own[column];
}

kn_loss kn_signature_bound(const kn_bounds *b, const kn_signature *x, const kn_signature *y)
{
    size_t  width = (size_t)b->losses->width;
    kn_loss bound = {0, x->cells + y->cells};
    for (size_t t = 0; t < (size_t)b->losses->tables; t++) {
        uint64_t quasi = (uint64_t)b->losses->quasi[t], pairs = x->nodes[t] < y->nodes[t] ? x->nodes[t] : y->nodes[t];
        if (x->nodes[t] > 0)
            for (size_t q = 0; q < quasi; q++) bound.sum += column_bound(b, t * width + q, x->nodes[t], x, y);
        bound.sum += (y->nodes[t] - pairs) * quasi * b->losses->unit;
        bound.cells -= pairs * quasi;
    }
    return bound;
}
