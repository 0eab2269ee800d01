/* kn_interner.h: distinct texts → dense ids, for one thread at a time. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_INTERNER_H
#define KN_INTERNER_H

#include "kn_arena.h"
#include "kn_builder.h"
#include "kn_hash.h"

typedef struct kn_interner_slot {
    uint32_t id;   /* 0: free */
    uint32_t hash; /* the upper half; the lower half chose the slot */
} kn_interner_slot;

/* A text of at most KN_NEAR_SIZE bytes by its first and its last 16 bytes, which are the same if it has no more; shorter ones end
 * in zeroes. */
enum { KN_NEAR_SIZE = 32, KN_NEAR_HALF = 16 };

typedef struct kn_interner_near {
    uint64_t words[4];
    uint32_t size;
    uint32_t id; /* 0: free */
} kn_interner_near;

struct kn_interner {
    kn_context       *ctx;
    kn_string        *texts; /* texts[id - 1] */
    size_t            count, capacity;
    kn_interner_slot *slots;
    size_t            mask; /* slot count - 1, a power of two minus one */
    kn_arena          bytes;
    kn_interner_near *near; /* the short ones once more, where they are found at once; NULL: not yet, or they are too many */
    size_t            near_mask, near_count;
    bool              far; /* too many */
};

void kn_interner_init(kn_interner *interner, kn_context *ctx);
void kn_interner_free(kn_interner *interner);

/* Frees the look-up table: no more interning, the texts stay. */
void kn_interner_seal(kn_interner *interner);

/* The words by which a short text is found. KN_NEAR_HALF bytes must be readable from its beginning on, whatever its size. */
static inline void kn_near_words(uint64_t words[4], const char *data, size_t size)
{
    static const unsigned char ones[2 * KN_NEAR_HALF] = {255, 255, 255, 255, 255, 255, 255, 255,
                                                         255, 255, 255, 255, 255, 255, 255, 255};
    size_t                     first = size < KN_NEAR_HALF ? size : KN_NEAR_HALF;
    uint64_t                   mask[2];
    memcpy(mask, ones + KN_NEAR_HALF - first, sizeof mask);
    memcpy(words, data, KN_NEAR_HALF);
    memcpy(words + 2, data + size - first, KN_NEAR_HALF);
    for (int i = 0; i < 4; i++) words[i] &= mask[i % 2];
}

static inline size_t kn_near_hash(const uint64_t words[4], size_t size)
{
    return (size_t)kn_hash_mix(words[0] ^ words[3] ^ 0x9e3779b97f4a7c15u, words[1] ^ words[2] ^ size ^ 0xd1342543de82ef95u);
}

/* The id of a short text, readable as above, in an interner with a `near`; 0: it is not there. */
static inline uint32_t kn_near_find(const kn_interner *in, const char *data, size_t size)
{
    uint64_t words[4];
    kn_near_words(words, data, size);
    for (size_t at = kn_near_hash(words, size) & in->near_mask;; at = (at + 1) & in->near_mask) {
        const kn_interner_near *slot = &in->near[at];
        uint64_t                other = (words[0] ^ slot->words[0]) | (words[1] ^ slot->words[1]) | (words[2] ^ slot->words[2]) |
                         (words[3] ^ slot->words[3]) | (size ^ slot->size);
        if (!slot->id || !other) return slot->id;
    }
}

/* As kn_intern, of a text whose KN_NEAR_HALF first bytes are readable, whatever its size; afterwards it is near, if it is short
 * and they are not too many. */
uint32_t kn_intern_near(kn_interner *interner, kn_string text);

/* As kn_intern, but keeps the pointer instead of copying: the text must outlive the interner. */
uint32_t kn_intern_borrowed(kn_interner *interner, kn_string text);

/* The id of a text that was interned; 0: it was not. */
uint32_t kn_interner_find(const kn_interner *interner, kn_string text);

#endif
