/* kn_bitset.h: fixed-size sets of small integers in 64-bit words; the caller owns the words. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_BITSET_H
#define KN_BITSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline size_t kn_bitset_words(size_t bits)
{
    return (bits + 63) / 64;
}

static inline void kn_bitset_set(uint64_t *words, size_t bit)
{
    words[bit / 64] |= (uint64_t)1 << (bit % 64);
}

static inline void kn_bitset_clear(uint64_t *words, size_t bit)
{
    words[bit / 64] &= ~((uint64_t)1 << (bit % 64));
}

static inline bool kn_bitset_test(const uint64_t *words, size_t bit)
{
    return (words[bit / 64] >> (bit % 64)) & 1;
}

static inline size_t kn_bitset_count(const uint64_t *words, size_t word_count)
{
    size_t n = 0;
    for (size_t i = 0; i < word_count; i++) n += (size_t)__builtin_popcountll(words[i]);
    return n;
}

/* Is every member of a also in b? */
static inline bool kn_bitset_subset(const uint64_t *a, const uint64_t *b, size_t word_count)
{
    for (size_t i = 0; i < word_count; i++)
        if (a[i] & ~b[i]) return false;
    return true;
}

/* The fastest function on this processor for the number of members that two sets have in common. All give the same
 * result. Fewer than 2^32 members. */
typedef uint32_t (*kn_bitset_common_fn)(const uint64_t *a, const uint64_t *b, size_t word_count);
kn_bitset_common_fn kn_bitset_common(void);

#endif
