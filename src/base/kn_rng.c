/* kn_rng.c: xoshiro256** seeded by splitmix64; Lemire's unbiased range reduction; normal numbers by the polar method. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "kn_rng.h"

#include <math.h>

static uint64_t splitmix(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

void kn_rng_init(kn_rng *rng, uint64_t seed, uint64_t stream)
{
    uint64_t state = seed;
    uint64_t mixed = splitmix(&state) ^ (stream * 0xd1342543de82ef95u + 0x2545f4914f6cdd1du);
    for (int i = 0; i < 4; i++) rng->s[i] = splitmix(&mixed);
}

static uint64_t rotate(uint64_t x, int k)
{
    return (x << k) | (x >> (64 - k));
}

uint64_t kn_rng_next(kn_rng *rng)
{
    uint64_t *s = rng->s;
    uint64_t  result = rotate(s[1] * 5, 7) * 9;
    uint64_t  t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate(s[3], 45);
    return result;
}

double kn_rng_double(kn_rng *rng)
{
    return (double)(kn_rng_next(rng) >> 11) * 0x1.0p-53;
}

uint64_t kn_rng_below(kn_rng *rng, uint64_t bound)
{
    __extension__ typedef unsigned __int128 u128;

    u128     m = (u128)kn_rng_next(rng) * bound;
    uint64_t low = (uint64_t)m;
    if (low < bound) {
        uint64_t threshold = -bound % bound;
        while (low < threshold) {
            m = (u128)kn_rng_next(rng) * bound;
            low = (uint64_t)m;
        }
    }
    return (uint64_t)(m >> 64);
}

double kn_rng_normal(kn_rng *rng)
{
    for (;;) {
        double u = 2 * kn_rng_double(rng) - 1;
        double v = 2 * kn_rng_double(rng) - 1;
        double q = u * u + v * v;
        if (q > 0 && q < 1) return u * sqrt(-2 * log(q) / q);
    }
}
