/* kn_node_table.h: a trie while it grows: the child of a node with a value, found by hashing, created if missing. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_NODE_TABLE_H
#define KN_NODE_TABLE_H

#include <kanon/context.h>

#include "kn_hash.h"

#define KN_NODE_TABLE_FULL (UINT32_MAX - 1)

typedef struct kn_node_table {
    kn_context *ctx;
    uint32_t    count;
    uint32_t   *parent, *value; /* of each node; parents have smaller numbers; UINT32_MAX: below the root */
    size_t      capacity;
    uint32_t   *slots; /* node + 1; 0: free */
    size_t      mask;
} kn_node_table;

/* With space for `expected` nodes before it grows. */
KN_CHECK kn_status kn_node_table_make(kn_node_table *out, kn_context *ctx, size_t expected, kn_error *err);
void               kn_node_table_free(kn_node_table *table);
void               kn_node_table_clear(kn_node_table *table); /* keeps the memory */
KN_CHECK bool      kn_node_table_grow(kn_node_table *table);

/* UINT32_MAX: no such child. */
static inline uint32_t kn_node_table_find(const kn_node_table *t, uint32_t parent, uint32_t value)
{
    size_t at = (size_t)kn_hash_word((uint64_t)parent << 32 | value) & t->mask;
    for (; t->slots[at]; at = (at + 1) & t->mask) {
        uint32_t node = t->slots[at] - 1;
        if (t->parent[node] == parent && t->value[node] == value) return node;
    }
    return UINT32_MAX;
}

/* KN_NODE_TABLE_FULL: out of memory. */
static inline uint32_t kn_node_table_child(kn_node_table *t, uint32_t parent, uint32_t value)
{
    if (t->count >= t->capacity && !kn_node_table_grow(t)) return KN_NODE_TABLE_FULL;
    size_t at = (size_t)kn_hash_word((uint64_t)parent << 32 | value) & t->mask;
    for (; t->slots[at]; at = (at + 1) & t->mask) {
        uint32_t node = t->slots[at] - 1;
        if (t->parent[node] == parent && t->value[node] == value) return node;
    }
    t->parent[t->count] = parent;
    t->value[t->count] = value;
    t->slots[at] = ++t->count;
    return t->count - 1;
}

#endif
