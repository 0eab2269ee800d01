/* kn_exchange.h: points that move, or change places, between some neighbouring classes, so that the classes lose less.
 *
 * Used by mondrian-best on classes of different buckets (kn_neighbours.c). A point is all records that are equal; it is never parted.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_EXCHANGE_H
#define KN_EXCHANGE_H

#include "kn_mondrian.h"

typedef struct kn_exchange kn_exchange;

/* For one worker, with its judge: at most `most` points at a time. */
KN_CHECK kn_status kn_exchange_make(kn_exchange **out, const kn_space *space, const kn_ratio *weights,
                                    kn_row_judge *judge, uint32_t most, kn_error *err);
void               kn_exchange_free(kn_exchange *exchange);

/* Some classes: class c has the points members[ends[c - 1]] (0 for the first) up to members[ends[c]]. The records of point p
 * are first[p] to first[p + 1]. */
typedef struct kn_exchange_classes {
    const uint32_t *first;
    uint32_t       *members;
    uint32_t       *ends;
    uint32_t        count, capacity;
} kn_exchange_classes;

/* How much worse a change may make things: falls from `from` to `to`, in what a change that makes things worse usually costs. */
typedef struct kn_exchange_heat {
    double   from, to;
    uint32_t steps; /* per point */
    uint64_t seed, stream;
} kn_exchange_heat;

/* Changes members, ends and count (at most `capacity`); a class may be empty in the end. Every class satisfies the requirements if it
 * did before. *before, *after: the sum of rows × weighted losses of the cells; without heat it never rises. *changes: what was
 * changed, added. Depends on the points' values and order and on the seed alone. */
KN_CHECK kn_status kn_exchange_run(double *before, double *after, int64_t *changes, kn_exchange *exchange,
                                   kn_exchange_classes *classes, const kn_exchange_heat *heat, kn_error *err);

#endif
