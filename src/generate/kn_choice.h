/* kn_choice.h: drawing one of n values by weight in constant time.
 *
 * The tables are built in whole numbers only, so that the same seed chooses the same values on every machine.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_CHOICE_H
#define KN_CHOICE_H

#include <stdint.h>

#include "kn_rng.h"

enum { KN_CHOICE_MAX = 128 };

/* One slot of an alias table: slot i stands for value i below its threshold and for value `other` above. */
typedef struct kn_choice {
    uint32_t threshold;
    uint32_t other;
} kn_choice;

/* Fills in the `count` slots (1 .. KN_CHOICE_MAX) for as many weights, whose sum must be within 1 .. 2^32 - 1. A value of
 * weight 0 is never drawn. */
void kn_choice_init(kn_choice *slots, const uint32_t *weights, int count);

static inline uint32_t kn_choice_draw(const kn_choice *slots, uint32_t count, kn_rng *rng)
{
    uint64_t bits = kn_rng_next(rng);
    uint32_t slot = (uint32_t)(((bits >> 32) * count) >> 32);
    return (uint32_t)bits < slots[slot].threshold ? slot : slots[slot].other;
}

#endif
