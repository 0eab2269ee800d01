/* kn_counts.h: supports by key: a hash table from 64-bit keys (never 0) to numbers. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_COUNTS_H
#define KN_COUNTS_H

#include <kanon/context.h>

#include "kn_hash.h"

typedef struct kn_counts {
    kn_context *ctx;
    uint64_t   *keys; /* 0: free */
    int32_t    *counts;
    size_t      slots;
    size_t      used;
} kn_counts;

void          kn_counts_free(kn_counts *c);
void          kn_counts_clear(kn_counts *c); /* keeps the memory, unless it is far too much */
KN_CHECK bool kn_counts_reserve(kn_counts *c, size_t used); /* space for this many, and a few more */
KN_CHECK bool kn_counts_grow(kn_counts *c);
KN_CHECK bool kn_counts_fit(kn_counts *c); /* frees memory that is not used */

/* The first slot of a key, as a share of all slots: there may be any number of them. */
static inline size_t kn_counts_first(const kn_counts *c, uint64_t key)
{
    return (size_t)((kn_u128)kn_hash_word(key) * c->slots >> 64);
}

static inline size_t kn_counts_next(const kn_counts *c, size_t at)
{
    return at + 1 == c->slots ? 0 : at + 1;
}

static inline KN_CHECK bool kn_counts_add(kn_counts *c, uint64_t key, int32_t amount)
{
    if ((c->used + 1) * 5 > c->slots * 4 && !kn_counts_grow(c)) return false;
    size_t at = kn_counts_first(c, key);
    for (; c->keys[at] != key; at = kn_counts_next(c, at)) {
        if (c->keys[at]) continue;
        c->keys[at] = key;
        c->counts[at] = 0;
        c->used++;
        break;
    }
    c->counts[at] += amount;
    return true;
}

/* The slot of a key; SIZE_MAX: none. */
static inline size_t kn_counts_find(const kn_counts *c, uint64_t key)
{
    if (c->slots == 0) return SIZE_MAX;
    size_t at = kn_counts_first(c, key);
    for (; c->keys[at] != key; at = kn_counts_next(c, at))
        if (c->keys[at] == 0) return SIZE_MAX;
    return at;
}

static inline int32_t kn_counts_get(const kn_counts *c, uint64_t key)
{
    size_t at = kn_counts_find(c, key);
    return at == SIZE_MAX ? 0 : c->counts[at];
}

#endif
