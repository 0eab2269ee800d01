/* kn_kept.h: may a column be published as it is? */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_KEPT_H
#define KN_KEPT_H

#include "kn_table.h"

/* KN_INPUT if a kept column would identify single rows: of at least 10 cells more than 9 of 10 have a unique value,
 * or it is text and more than half of its cells differ (the measures of kn_profile). `name` is its name in messages. */
KN_CHECK kn_status kn_kept_check(kn_context *ctx, const kn_table *table, int column, const char *name, char decimal,
                                 kn_error *err);

/* The same by figures: cells that are not missing, different ones, and those that one row alone has, if `unique` >= 0. *texts: it depends on
 * whether they are texts. */
KN_CHECK kn_status kn_kept_judge(int64_t present, int64_t distinct, int64_t unique, const char *name, bool *texts, kn_error *err);

/* Are its values texts, neither numbers nor dates? */
KN_CHECK kn_status kn_kept_are_texts(kn_context *ctx, const kn_string *values, uint32_t count, char decimal, bool *out,
                                     kn_error *err);

#endif
