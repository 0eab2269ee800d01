/* kn_cut.c: cuts through the vocabulary: specializing one value at a time, each cut kept once.
 *
 * Interface: kn_cut.h. Memory: the values of every cut that was reached.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_cut.h"

#include <string.h>

#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_hash.h"

#define WHAT "the cuts that were reached"

static uint64_t hash_of(const kn_cut *cut)
{
    return kn_hash_bytes(cut->values, cut->size * sizeof *cut->values);
}

static bool same(const kn_cut *a, const kn_cut *b)
{
    return a->size == b->size && memcmp(a->values, b->values, a->size * sizeof *a->values) == 0;
}

static uint64_t depths(const kn_cuts *c, const kn_cut *cut)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < cut->size; i++) sum += c->vocabulary->depth[cut->values[i]];
    return sum;
}

int kn_cut_compare(const kn_cuts *c, const kn_cut *a, const kn_cut *b)
{
    if (a->size != b->size) return a->size > b->size ? -1 : 1;
    uint64_t deep = depths(c, a), other = depths(c, b);
    if (deep != other) return deep > other ? -1 : 1;
    for (uint32_t i = 0; i < a->size; i++)
        if (a->values[i] != b->values[i]) return a->values[i] < b->values[i] ? -1 : 1;
    return 0;
}

static bool grow_slots(kn_cuts *c)
{
    size_t    n = c->slot_count ? c->slot_count * 2 : 64;
    uint32_t *slots = kn_alloc_array_zero(c->ctx, n, sizeof *slots);
    if (!slots) return false;
    for (size_t i = 0; i < c->count; i++) {
        size_t at = (size_t)hash_of(&c->cuts[i]) & (n - 1);
        while (slots[at]) at = (at + 1) & (n - 1);
        slots[at] = (uint32_t)i + 1;
    }
    kn_free(c->slots);
    c->slots = slots;
    c->slot_count = n;
    return true;
}

/* Copies the cut's values, unless the cut is already stored. */
static kn_status add(kn_cuts *c, kn_cut cut, kn_error *err)
{
    if ((c->count * 2 >= c->slot_count && !grow_slots(c)) || !KN_GROW(c->ctx, &c->cuts, &c->capacity, c->count + 1))
        return kn_fail_memory(err, c->ctx, WHAT);
    if (c->count >= UINT32_MAX - 1) return kn_fail(err, KN_MEMORY, "more than 2^32 - 2 cuts");
    size_t at = (size_t)hash_of(&cut) & (c->slot_count - 1);
    for (; c->slots[at]; at = (at + 1) & (c->slot_count - 1))
        if (same(&c->cuts[c->slots[at] - 1], &cut)) return KN_OK;
    uint32_t *values = (uint32_t *)kn_arena_alloc(&c->arena, cut.size * sizeof *values);
    if (!values) return kn_fail_memory(err, c->ctx, WHAT);
    memcpy(values, cut.values, cut.size * sizeof *values);
    cut.values = values;
    c->cuts[c->count++] = cut;
    c->slots[at] = (uint32_t)c->count;
    return KN_OK;
}

/* The leaves of the sensitive classes, and, where asked for, the tops of the others; returns how many. */
static uint32_t list_classes(const kn_vocabulary *v, bool tops, uint32_t *values)
{
    uint32_t size = 0;
    for (uint32_t u = 1; u < v->nodes; u++) {
        bool sensitive = v->sensitive[v->cls[u]];
        if (sensitive ? v->end[u] == u + 1 : tops && v->depth[u] == 1) values[size++] = u;
    }
    return size;
}

kn_status kn_cuts_make(kn_cuts *c, kn_context *ctx, const kn_vocabulary *vocabulary, kn_error *err)
{
    *c = (kn_cuts){.ctx = ctx, .vocabulary = vocabulary};
    kn_arena_init(&c->arena, ctx);
    uint32_t *values = kn_alloc_array_zero(ctx, vocabulary->nodes, sizeof *values); /* "*" is 0 */
    if (!values) return kn_fail_memory(err, ctx, WHAT);
    uint32_t  size = 1 + list_classes(vocabulary, false, values + 1);
    kn_status st = add(c, (kn_cut){size, values, UINT32_MAX, UINT32_MAX, false}, err);
    kn_free(values);
    return st;
}

void kn_cuts_free(kn_cuts *c)
{
    kn_arena_free(&c->arena);
    KN_FREE(c->cuts, c->slots);
}

/* The values of a cut with place i specialized; returns how many. */
static uint32_t specialize(const kn_cuts *c, const kn_cut *old, uint32_t i, uint32_t *values)
{
    const uint32_t *end = c->vocabulary->end;
    uint32_t        value = old->values[i], size = i;
    if (value == 0) return list_classes(c->vocabulary, true, values);
    memcpy(values, old->values, i * sizeof *values);
    for (uint32_t child = value + 1; child < end[value]; child = end[child]) values[size++] = child;
    memcpy(values + size, old->values + i + 1, (old->size - i - 1) * sizeof *values);
    return size + old->size - i - 1;
}

uint32_t kn_cuts_find(const kn_cuts *c, uint32_t number, uint32_t value, uint32_t *room)
{
    const kn_cut *old = &c->cuts[number];
    uint32_t      i = 0;
    while (i < old->size && old->values[i] != value) i++;
    if (i == old->size) return UINT32_MAX;
    kn_cut cut = {specialize(c, old, i, room), room, 0, 0, false};
    for (size_t at = (size_t)hash_of(&cut) & (c->slot_count - 1); c->slots[at]; at = (at + 1) & (c->slot_count - 1))
        if (same(&c->cuts[c->slots[at] - 1], &cut)) return c->slots[at] - 1;
    return UINT32_MAX;
}

kn_status kn_cuts_specialize(kn_cuts *c, uint32_t number, kn_error *err)
{
    kn_cut    old = c->cuts[number];
    uint32_t *values = kn_alloc_array(c->ctx, c->vocabulary->nodes, sizeof *values);
    if (!values) return kn_fail_memory(err, c->ctx, WHAT);
    kn_status st = KN_OK;
    for (uint32_t i = 0; i < old.size && st == KN_OK; i++) {
        uint32_t value = old.values[i];
        if (c->vocabulary->end[value] == value + 1) continue;
        uint32_t size = specialize(c, &old, i, values);
        if (size < old.size) continue; /* every class is sensitive: "*" has no replacement     */
        st = add(c, (kn_cut){size, values, number, value, false}, err);
    }
    kn_free(values);
    return st;
}
