/* kn_node_table.c: a trie while it grows.
 *
 * Interface: kn_node_table.h. One hash table with open addressing, at most half full; keys are compared in full. Limits:
 * 2^32 - 3 nodes.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_node_table.h"

#include <string.h>

#include "kn_alloc.h"
#include "kn_error.h"

static bool resize(kn_node_table *t, size_t capacity)
{
    uint32_t *parent = kn_realloc_array(t->ctx, t->parent, capacity, sizeof *parent);
    if (parent) t->parent = parent;
    uint32_t *value = kn_realloc_array(t->ctx, t->value, capacity, sizeof *value);
    if (value) t->value = value;
    uint32_t *slots = kn_alloc_array_zero(t->ctx, capacity * 2, sizeof *slots);
    if (!parent || !value || !slots) {
        kn_free(slots);
        return false;
    }
    size_t mask = capacity * 2 - 1;
    for (uint32_t i = 0; i < t->count; i++) {
        size_t at = (size_t)kn_hash_word((uint64_t)t->parent[i] << 32 | t->value[i]) & mask;
        while (slots[at]) at = (at + 1) & mask;
        slots[at] = i + 1;
    }
    kn_free(t->slots);
    t->slots = slots;
    t->mask = mask;
    t->capacity = capacity;
    return true;
}

kn_status kn_node_table_make(kn_node_table *t, kn_context *ctx, size_t expected, kn_error *err)
{
    *t = (kn_node_table){.ctx = ctx};
    size_t capacity = 64;
    while (capacity < expected) capacity *= 2;
    return resize(t, capacity) ? KN_OK : kn_fail_memory(err, ctx, "a trie of tree records");
}

void kn_node_table_free(kn_node_table *t)
{
    KN_FREE(t->parent, t->value, t->slots);
    *t = (kn_node_table){0};
}

void kn_node_table_clear(kn_node_table *t)
{
    memset(t->slots, 0, (t->mask + 1) * sizeof *t->slots);
    t->count = 0;
}

bool kn_node_table_grow(kn_node_table *t)
{
    return t->capacity < KN_NODE_TABLE_FULL / 2 && resize(t, t->capacity * 2);
}
