/* kn_quasi.h: from the names of quasi-identifiers to columns and classes; shared by everything that examines a given
 * set. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_QUASI_H
#define KN_QUASI_H

#include "kn_freq.h"

/* The columns with these names, `count` of them, freed by the caller. `where` is empty or says which table ("the
 * population has"). KN_USAGE: none, or one twice; KN_INPUT: unknown. */
KN_CHECK kn_status kn_quasi_find(int **columns, kn_context *ctx, const kn_table *table, const char *where,
                                 const char *const *names, int count, kn_error *err);

/* The rows of a set with a missing cell in one of its first `count` columns; with `drop` their classes are taken out, and
 * so are their entries of `sizes` and `sums` (each may be NULL). */
int64_t kn_quasi_missing(kn_freq *freq, const kn_table *table, const int *columns, int count, bool drop, int64_t *sizes,
                         double *sums);

/* KN_USAGE: persons cannot be told where rows stand for several. */
kn_status kn_quasi_fail_counted(kn_error *err);

#endif
