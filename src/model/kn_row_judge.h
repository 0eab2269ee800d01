/* kn_row_judge.h: do these rows, as one class, satisfy the requirements?
 *
 * For methods that make classes row by row: kn_class_view is collected from the rows of the table. A judge belongs to
 * one worker.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_ROW_JUDGE_H
#define KN_ROW_JUDGE_H

#include "kn_requirements.h"

typedef struct kn_row_judge {
    kn_context             *ctx;
    const kn_table         *table;
    const kn_requirements  *requirements;
    kn_requirements_scratch scratch;
    kn_arena                arena;
    kn_histogram           *histograms; /* per sensitive column                                       */
    uint32_t              **codes;      /* per sensitive column: the values met                       */
    int64_t               **counts;
    int64_t               **rows_of;    /* per sensitive column: rows (persons) by value, 0 between   */
    uint32_t               *stamps;     /* entity: person → the last class it was met in              */
    uint32_t                stamp;
    uint64_t               *pairs;      /* entity: (value, person) of one class                       */
    size_t                  pair_capacity;
    int64_t                 smallest;   /* rows (persons) that every class must have, average risk included */
    const int64_t          *weights;    /* rows that each row stands for; NULL, as made: one          */
} kn_row_judge;

/* KN_USAGE: requirements about a population. */
KN_CHECK kn_status kn_row_judge_make(kn_row_judge *out, kn_context *ctx, const kn_table *table,
                                     const kn_requirements *requirements, kn_error *err);
void               kn_row_judge_free(kn_row_judge *judge); /* one that is all zero is fine */

/* The rows are `count` numbers of 32 bits, `stride` bytes apart. */
KN_CHECK kn_status kn_row_judge_holds(bool *out, kn_row_judge *judge, const void *rows, size_t stride, uint32_t count,
                                      kn_error *err);

/* Is `smallest`, in rows, all that a class needs? */
static inline bool kn_row_judge_size_says_all(const kn_row_judge *judge)
{
    return judge->requirements->k_only;
}

#endif
