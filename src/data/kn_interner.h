/* kn_interner.h: distinct texts → dense ids, for one thread at a time. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_INTERNER_H
#define KN_INTERNER_H

#include "kn_arena.h"
#include "kn_builder.h"

typedef struct kn_interner_slot {
    uint32_t id;   /* 0: free */
    uint32_t hash; /* the upper half; the lower half chose the slot */
} kn_interner_slot;

struct kn_interner {
    kn_context       *ctx;
    kn_string        *texts; /* texts[id - 1] */
    size_t            count, capacity;
    kn_interner_slot *slots;
    size_t            mask; /* slot count - 1, a power of two minus one */
    kn_arena          bytes;
};

void kn_interner_init(kn_interner *interner, kn_context *ctx);
void kn_interner_free(kn_interner *interner);

/* Frees the look-up table: no more interning, the texts stay. */
void kn_interner_seal(kn_interner *interner);

/* As kn_intern, but keeps the pointer instead of copying: the text must outlive the interner. */
uint32_t kn_intern_borrowed(kn_interner *interner, kn_string text);

/* The id of a text that was interned; 0: it was not. */
uint32_t kn_interner_find(const kn_interner *interner, kn_string text);

#endif
