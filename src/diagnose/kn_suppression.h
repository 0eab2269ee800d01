/* kn_suppression.h: what removing whole classes, the smallest sizes first, can reach (docs/errata.md 1.1).
 *
 * All functions look at a table's class sizes, ascending, each with its number of rows. Sizes are removed only as a
 * whole, and never the last one; so what is removed is always exactly the classes smaller than the k reached.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_SUPPRESSION_H
#define KN_SUPPRESSION_H

#include <kanon/questions.h>

/* The class sizes with their numbers of classes and rows. Freed by the caller (kn_free). */
KN_CHECK kn_status kn_size_counts_make(kn_size_count **out, int64_t *count, kn_context *ctx, const int64_t *sizes,
                                       const int64_t *rows, int64_t classes, kn_error *err);

/* How many of the sizes can be removed within a budget of rows. */
int64_t kn_suppression_sizes(const kn_size_count *sizes, int64_t count, int64_t budget);

/* The steps of the staircase; see kn_diagnosis_step. */
kn_step kn_suppression_step(const kn_size_count *sizes, int64_t count, int64_t i);

/* See kn_diagnosis_removal. */
int64_t kn_suppression_removal(const kn_size_count *sizes, int64_t count, int64_t k, bool at_most);

#endif
