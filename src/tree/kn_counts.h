/* kn_counts.h: supports by key: a hash table from 64-bit keys (never 0) to numbers. */
#ifndef KN_COUNTS_H
#define KN_COUNTS_H

#include <kanon/context.h>

#include "kn_hash.h"

typedef struct kn_counts {
    kn_context *ctx;
    uint64_t   *keys; /* 0: free */
    int32_t    *counts;
    size_t      slots; /* 0 or a power of two */
    size_t      used;
} kn_counts;

void          kn_counts_free(kn_counts *c);
void          kn_counts_clear(kn_counts *c); /* keeps the room, unless it is far too much */
KN_CHECK bool kn_counts_grow(kn_counts *c, size_t used);

static inline KN_CHECK bool kn_counts_add(kn_counts *c, uint64_t key, int32_t amount)
{
    if ((c->used + 1) * 5 > c->slots * 3 && !kn_counts_grow(c, c->used + 1)) return false;
    size_t mask = c->slots - 1, at = (size_t)(kn_hash_word(key) >> 16) & mask;
    while (c->keys[at] != key) {
        if (c->keys[at] == 0) {
            c->keys[at] = key;
            c->counts[at] = 0;
            c->used++;
            break;
        }
        at = (at + 1) & mask;
    }
    c->counts[at] += amount;
    return true;
}

/* The slot of a key; SIZE_MAX: none. */
static inline size_t kn_counts_find(const kn_counts *c, uint64_t key)
{
    if (c->slots == 0) return SIZE_MAX;
    size_t mask = c->slots - 1, at = (size_t)(kn_hash_word(key) >> 16) & mask;
    while (c->keys[at] != key) {
        if (c->keys[at] == 0) return SIZE_MAX;
        at = (at + 1) & mask;
    }
    return at;
}

static inline int32_t kn_counts_get(const kn_counts *c, uint64_t key)
{
    size_t at = kn_counts_find(c, key);
    return at == SIZE_MAX ? 0 : c->counts[at];
}

#endif
