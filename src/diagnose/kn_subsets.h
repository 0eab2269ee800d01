/* kn_subsets.h: the class sizes of many sets of columns of one table.
 *
 * A set is a bit mask over the columns of a base (at most 62 of them). The base is a frequency set of all columns, with
 * the entity column last where persons are counted.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_SUBSETS_H
#define KN_SUBSETS_H

#include "kn_freq.h"

typedef struct kn_subsets_base {
    kn_context    *ctx;
    const kn_freq *freq;
    int            columns;    /* without the entity column */
    bool           has_entity; /* freq has one column more  */
} kn_subsets_base;

/* The classes of one set: sizes (rows or persons) and rows of each. Called by several workers at once. */
typedef kn_status (*kn_subsets_visit)(void *arg, uint64_t set, const int64_t *sizes, const int64_t *rows, int64_t classes,
                                   kn_error *err);

/* Visits every set of a list, in parallel, in any order. */
KN_CHECK kn_status kn_subsets_evaluate_list(const kn_subsets_base *base, const uint64_t *sets, int64_t count,
                                         kn_subsets_visit visit, void *arg, kn_error *err);

/* Visits every subset of the columns, the empty one included, each projected from a set with one column more. */
KN_CHECK kn_status kn_subsets_evaluate_all(const kn_subsets_base *base, kn_subsets_visit visit, void *arg, kn_error *err);

/* The smallest size, 0 without classes. */
int64_t kn_subsets_smallest(const int64_t *sizes, int64_t classes);

#endif
