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

/* A text of at most KN_NEAR_SIZE bytes by its first 16 bytes, zeroes behind a shorter one; a longer one also by its last 16. */
enum { KN_NEAR_SIZE = 32, KN_NEAR_HALF = 16, KN_NEAR_WORD = 8 };

typedef struct kn_interner_near {
    uint64_t words[4];
    uint32_t size; /* UINT32_MAX: the slot is free */
    uint32_t id;
} kn_interner_near;

struct kn_interner {
    kn_context       *ctx;
    kn_string        *texts; /* texts[id - 1] */
    size_t            count, capacity;
    kn_interner_slot *slots;
    size_t            mask; /* slot count - 1, a power of two minus one */
    kn_arena          bytes;
    kn_interner_near *near; /* the short ones once more, where they are found at once; NULL: not yet, or they are too many */
    int               near_shift; /* 64 - log2 of its slots */
    size_t            near_count;
    size_t            near_longest; /* bytes of a text in it */
    bool              far; /* too many */
};

void kn_interner_init(kn_interner *interner, kn_context *ctx);
void kn_interner_free(kn_interner *interner);

/* Frees the look-up table: no more interning, the texts stay. */
void kn_interner_seal(kn_interner *interner);

/* ones[n] has 1 bits in the first n bytes. */
extern const uint64_t kn_near_ones[KN_NEAR_HALF + 1][2];

/* The words by which a short text is found. KN_NEAR_HALF bytes must be readable from its beginning on, whatever its size. `words`: how
 * many of them can be other than 0, as far as the caller knows: 1, 2 or 4 for sizes up to KN_NEAR_WORD, _HALF or _SIZE. */
static inline void kn_near_words(uint64_t out[4], const char *data, size_t size, int words)
{
    size_t first = words < 4 || size < KN_NEAR_HALF ? size : KN_NEAR_HALF;
    memcpy(&out[0], data, KN_NEAR_WORD);
    out[0] &= kn_near_ones[first][0];
    out[1] = out[2] = out[3] = 0;
    if (words == 1) return;
    memcpy(&out[1], data + KN_NEAR_WORD, KN_NEAR_WORD);
    out[1] &= kn_near_ones[first][1];
    if (words == 2) return;
    uint64_t more = 0 - (uint64_t)(size > KN_NEAR_HALF);
    memcpy(&out[2], data + size - first, KN_NEAR_HALF);
    out[2] &= more;
    out[3] &= more;
}

/* Where a text is looked for first. One multiplication: whatever a hash decides here, the words are compared. */
static inline size_t kn_near_home(const uint64_t words[4], size_t size, int shift)
{
    uint64_t first = words[0] + 2 * words[3], second = words[1] + 4 * words[2];
    return (size_t)((first ^ (second << 29 | second >> 35) ^ size) * 0x9e3779b97f4a7c15u >> shift);
}

/* The slot of a short text, readable as above, if it is where it is looked for first; else NULL. */
static inline const kn_interner_near *kn_near_find(const kn_interner_near *near, int shift, const char *data, size_t size,
                                                   int words)
{
    uint64_t at[4];
    kn_near_words(at, data, size, words);
    const kn_interner_near *slot = &near[kn_near_home(at, size, shift)];
    uint64_t                other = (at[0] ^ slot->words[0]) | (size ^ slot->size);
    if (words > 1) other |= at[1] ^ slot->words[1];
    if (words > 2) other |= (at[2] ^ slot->words[2]) | (at[3] ^ slot->words[3]);
    return other ? NULL : slot;
}

/* As kn_intern, of a text whose KN_NEAR_HALF first bytes are readable, whatever its size; afterwards it is near, if it is short
 * and they are not too many. */
uint32_t kn_intern_near(kn_interner *interner, kn_string text);

/* As kn_intern, but keeps the pointer instead of copying: the text must outlive the interner. */
uint32_t kn_intern_borrowed(kn_interner *interner, kn_string text);

/* The id of a text that was interned; 0: it was not. */
uint32_t kn_interner_find(const kn_interner *interner, kn_string text);

#endif
