/* kn_hash.h: hash functions. A hash only chooses where to look: every user compares the keys themselves. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_HASH_H
#define KN_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

__extension__ typedef unsigned __int128 kn_u128;

static inline uint64_t kn_hash_mix(uint64_t a, uint64_t b)
{
    kn_u128 m = (kn_u128)a * b;
    return (uint64_t)m ^ (uint64_t)(m >> 64);
}

/* One word: two folded multiplications, so that the top bits depend on all bits of the key. */
static inline uint64_t kn_hash_word(uint64_t key)
{
    return kn_hash_mix(key ^ 0x9e3779b97f4a7c15u, 0xd1342543de82ef95u);
}

static inline uint64_t kn_hash_words(const uint64_t *words, int count)
{
    uint64_t h = 0x2545f4914f6cdd1du;
    for (int i = 0; i < count; i++) h = kn_hash_mix(h ^ words[i], 0x9e3779b97f4a7c15u) + 0xd1342543de82ef95u;
    return kn_hash_word(h);
}

/* Short byte strings (cells); long ones go through xxHash. */
uint64_t kn_hash_bytes(const void *data, size_t size);

#endif
