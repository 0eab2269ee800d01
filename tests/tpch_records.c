/* tpch_records.c: see tpch_records.h. Distributions as in TPC-H: everything uniform but the price of an order, which is the
 * sum over 1 to 7 lines of quantity × unit price, of which at most three lines are kept.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tpch_records.h"

#include <stdio.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_rng.h"
#include "kn_string.h"
#include "kn_vocabulary.h"

enum { NATION, MONTH, PRICE, MANUFACTURER, BRAND, QUANTITY, CLASSES, MOST_NODES = 32 };

static const struct {
    const char *name;
    int         leaves;
} classes[CLASSES] = {{"nation", 25},      {"date", 80},  {"price", 91},
                      {"manufacturer", 5}, {"brand", 25}, {"quantity", 50}};

/* The subtree of leaves [from, to), whose groups have `span` leaves at most. */
static void write_class(kn_vocabulary *v, int cls, int from, int to, int span, uint32_t parent, uint32_t *at)
{
    uint32_t u = (*at)++;
    int      depth = parent == 0 ? 1 : v->depth[parent] + 1;
    char     label[32];
    size_t   size = (size_t)snprintf(label, sizeof label, to - from == 1 ? "%d" : "%d-%d", from, to - 1);
    if (depth == 1) size = (size_t)snprintf(label, sizeof label, "%s", classes[cls].name);
    memcpy(v->label_bytes + v->label_start[u], label, size);
    v->label_start[u + 1] = v->label_start[u] + size;
    v->parent[u] = parent;
    v->depth[u] = (uint16_t)depth;
    v->cls[u] = (uint16_t)cls;
    v->leaves[u] = (uint32_t)(to - from);
    while (span >= to - from && span > 1) span /= 5;
    if (to - from > 1)
        for (int i = from; i < to; i += span) write_class(v, cls, i, i + span < to ? i + span : to, span, u, at);
    v->end[u] = *at;
    for (uint32_t c = u + 1; c < *at; c = v->end[c])
        if (v->height[u] <= v->height[c]) v->height[u] = (uint16_t)(v->height[c] + 1);
}

static kn_vocabulary *make_vocabulary(kn_context *ctx)
{
    enum { ROOM = 512 };
    kn_vocabulary *v = kn_alloc_zero(ctx, sizeof *v);
    if (!v) return NULL;
    v->ctx = ctx;
    v->class_count = CLASSES;
    v->class_names = kn_alloc_array_zero(ctx, CLASSES, sizeof *v->class_names);
    v->sensitive = kn_alloc_array_zero(ctx, CLASSES, sizeof *v->sensitive);
    v->negative = kn_alloc_array_zero(ctx, CLASSES, sizeof *v->negative);
    v->unrelated = kn_alloc_array_zero(ctx, CLASSES, sizeof *v->unrelated);
    v->top = kn_alloc_array_zero(ctx, CLASSES, sizeof *v->top);
    v->parent = kn_alloc_array_zero(ctx, ROOM, sizeof *v->parent);
    v->end = kn_alloc_array_zero(ctx, ROOM, sizeof *v->end);
    v->leaves = kn_alloc_array_zero(ctx, ROOM, sizeof *v->leaves);
    v->cls = kn_alloc_array_zero(ctx, ROOM, sizeof *v->cls);
    v->depth = kn_alloc_array_zero(ctx, ROOM, sizeof *v->depth);
    v->height = kn_alloc_array_zero(ctx, ROOM, sizeof *v->height);
    v->label_start = kn_alloc_array_zero(ctx, ROOM + 1, sizeof *v->label_start);
    v->label_bytes = kn_alloc_zero(ctx, ROOM * 16);
    if (!v->class_names || !v->sensitive || !v->negative || !v->top || !v->parent || !v->end || !v->leaves || !v->cls ||
        !v->depth || !v->height || !v->label_start || !v->label_bytes) {
        kn_vocabulary_free(v);
        return NULL;
    }
    v->label_bytes[0] = '*';
    v->label_start[1] = 1;
    v->parent[0] = UINT32_MAX;
    v->cls[0] = KN_VOCABULARY_NO_CLASS;
    uint32_t at = 1;
    for (int c = 0; c < CLASSES; c++) {
        v->top[c] = at;
        v->class_names[c] = kn_strndup(ctx, classes[c].name, strlen(classes[c].name));
        write_class(v, c, 0, classes[c].leaves, 125, 0, &at);
        v->leaves[0] += (uint32_t)classes[c].leaves;
        if (v->height[0] <= v->height[v->top[c]]) v->height[0] = (uint16_t)(v->height[v->top[c]] + 1);
    }
    v->end[0] = v->nodes = at;
    return v;
}

typedef struct maker {
    kn_rng         rng;
    uint32_t       leaf[CLASSES][128];
    kn_record_node nodes[MOST_NODES];
    uint32_t       count;
} maker;

static uint32_t put(maker *m, uint32_t parent, int cls, uint64_t leaf)
{
    m->nodes[m->count] = (kn_record_node){parent, m->leaf[cls][leaf]};
    return m->count++;
}

static void make_order(maker *m)
{
    uint32_t date = put(m, KN_RECORDS_ROOT, MONTH, kn_rng_below(&m->rng, 80));
    uint64_t lines = 1 + kn_rng_below(&m->rng, 7), kept = 1 + kn_rng_below(&m->rng, 3), total = 0;
    for (uint64_t i = 0; i < lines; i++) {
        uint64_t quantity = kn_rng_below(&m->rng, 50), brand = kn_rng_below(&m->rng, 25);
        total += (quantity + 1) * (900 + kn_rng_below(&m->rng, 1200));
        if (i >= kept) continue;
        uint32_t manufacturer = put(m, date, MANUFACTURER, brand / 5);
        put(m, put(m, manufacturer, BRAND, brand), QUANTITY, quantity);
    }
    put(m, date, PRICE, total / 6100 < 91 ? total / 6100 : 90);
}

kn_records *tpch_records(kn_context *ctx, int64_t count, uint64_t seed)
{
    kn_error       err = KN_ERROR_INIT;
    kn_vocabulary *v = make_vocabulary(ctx);
    kn_records    *r;
    if (!v) return NULL;
    if (kn_records_create(&r, ctx, v, true, count, (uint64_t)count * 24, &err) != KN_OK) {
        kn_vocabulary_free(v);
        return NULL;
    }
    maker    m;
    char     scratch[MOST_NODES * KN_RECORD_SCRATCH];
    uint64_t at = 0;
    kn_rng_init(&m.rng, seed, 0);
    for (uint32_t u = 1, filled[CLASSES] = {0}; u < v->nodes; u++)
        if (v->end[u] == u + 1) m.leaf[v->cls[u]][filled[v->cls[u]]++] = u;
    for (int64_t t = 0; t < count; t++) {
        m.count = 0;
        put(&m, KN_RECORDS_ROOT, NATION, kn_rng_below(&m.rng, 25));
        for (uint64_t orders = 1 + kn_rng_below(&m.rng, 2); orders > 0; orders--) make_order(&m);
        m.count = kn_record_canonical(m.nodes, m.count, scratch);
        for (uint32_t i = 0; i < m.count; i++, at++) {
            r->parent[at] = m.nodes[i].parent;
            r->value[at] = m.nodes[i].value;
        }
        r->start[t + 1] = at;
    }
    r->nodes = at;
    uint32_t *p = kn_realloc_array(ctx, r->parent, (size_t)at + 1, sizeof *p);
    if (p) r->parent = p;
    p = kn_realloc_array(ctx, r->value, (size_t)at + 1, sizeof *p);
    if (p) r->value = p;
    return r;
}
