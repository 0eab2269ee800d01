/* kn_rng.h: seeded random numbers (xoshiro256**, Blackman and Vigna 2018), one stream per chunk of work.
 *
 * Equal (seed, stream) give equal numbers on every machine and with any number of threads. Not for secrets.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_RNG_H
#define KN_RNG_H

#include <stdint.h>

typedef struct kn_rng {
    uint64_t s[4];
} kn_rng;

void     kn_rng_init(kn_rng *rng, uint64_t seed, uint64_t stream);
uint64_t kn_rng_next(kn_rng *rng);                   /* 64 random bits                     */
double   kn_rng_double(kn_rng *rng);                 /* [0, 1)                             */
uint64_t kn_rng_below(kn_rng *rng, uint64_t bound);  /* [0, bound), without bias; bound > 0 */
double   kn_rng_normal(kn_rng *rng);                 /* mean 0, deviation 1                */

#endif
