/* kn_population.h: the classes of a sample looked up in a population. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_POPULATION_H
#define KN_POPULATION_H

#include "kn_freq.h"

typedef struct kn_population {
    int64_t *sizes; /* per class of the sample: rows of the population; 0: none. Freed by the caller */
    int64_t  rows;  /* of the population, looked at */
    int64_t  dropped;
    int64_t  classes;
    int64_t  uniques; /* classes of one row */
} kn_population;

/* Matches by value where both columns are numbers, or both dates, or both times, else by text; a missing cell matches a
 * missing cell. `sample` is the sample's set over `columns`, `drop` sets the population's rows with a missing cell aside.
 * KN_INPUT where the population misses a column. */
KN_CHECK kn_status kn_population_match(kn_population *out, kn_context *ctx, const kn_table *table, const int *columns,
                                       const kn_freq *sample, const kn_table *population, const char *const *names,
                                       bool drop, kn_error *err);

#endif
