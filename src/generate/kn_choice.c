/* kn_choice.c: alias tables (Walker 1977, Vose's construction 1991) in whole numbers.
 *
 * Each of the n slots holds total / n of the mass: its own value's, topped up with one other value's. To stay within
 * whole numbers all weights are multiplied by n, so that a slot holds exactly `total`.
 *
 * Cost: O(n) to build, one random number to draw. Limits: thresholds have 32 bits, so the probability of a value is off
 * by at most 2^-32 per slot.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_choice.h"

void kn_choice_init(kn_choice *slots, const uint32_t *weights, int count)
{
    uint64_t total = 0;
    for (int i = 0; i < count; i++) total += weights[i];

    uint64_t mass[KN_CHOICE_MAX];
    uint32_t small[KN_CHOICE_MAX], large[KN_CHOICE_MAX];
    int      small_count = 0, large_count = 0;
    for (int i = 0; i < count; i++) {
        mass[i] = (uint64_t)weights[i] * (uint64_t)count;
        if (mass[i] < total)
            small[small_count++] = (uint32_t)i;
        else
            large[large_count++] = (uint32_t)i;
    }
    while (small_count > 0) { /* the masses average `total`: while one is below, another is above */
        uint32_t s = small[--small_count], l = large[large_count - 1];
        slots[s].threshold = (uint32_t)((mass[s] << 32) / total);
        slots[s].other = l;
        mass[l] -= total - mass[s];
        if (mass[l] < total) {
            large_count--;
            small[small_count++] = l;
        }
    }
    while (large_count > 0) {
        uint32_t l = large[--large_count];
        slots[l].threshold = UINT32_MAX;
        slots[l].other = l;
    }
}
