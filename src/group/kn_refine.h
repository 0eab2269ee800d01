/* kn_refine.h: how many rows are at risk (in classes smaller than k) for a set of columns, one column at a time.
 *
 * A kn_refiner holds a stack of partitions of a frequency set's combinations; it belongs to one thread. The frequency
 * set must outlive it.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_REFINE_H
#define KN_REFINE_H

#include "kn_freq.h"

typedef struct kn_refiner {
    const kn_freq *freq;
    int64_t        k;
    int64_t        allowed; /* rows that may be at risk: once more are, counting stops          */
    int            depth;   /* columns on the stack                                             */
    int64_t       *risk;    /* per depth: rows at risk, exact if ≤ allowed                      */
    int64_t       *begin;   /* per depth: its first range                                       */
    uint32_t      *members; /* combinations, those of one class next to each other              */
    uint32_t     (*ranges)[2]; /* classes that still matter, [first, last) in `members`          */
    size_t         range_capacity;
    uint32_t      *group, *moved, *slot, *group_count, *group_at; /* scratch of one refinement  */
    int64_t       *group_rows;
    uint64_t      *group_light; /* bitset: has a combination that can be at risk                */
    int64_t        evaluations; /* columns pushed so far                                        */
} kn_refiner;

KN_CHECK kn_status kn_refiner_init(kn_refiner *r, kn_context *ctx, const kn_freq *freq, int64_t k, int64_t allowed,
                                   kn_error *err);
void               kn_refiner_free(kn_refiner *r); /* even after a failed init, or zeroed */

/* Adds a column. *holds: at most `allowed` rows are at risk; if not, only pop may follow. */
KN_CHECK kn_status kn_refiner_push(kn_refiner *r, int column, bool *holds, kn_error *err);
void               kn_refiner_pop(kn_refiner *r, int depth); /* down to this many columns */

/* Combinations that a further column could still put at risk. */
int64_t kn_refiner_open(const kn_refiner *r);

#endif
