/* kn_columns.h: the rows of a release as columns in memory (kanon/memory.h), instead of the bytes of a CSV file. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_COLUMNS_H
#define KN_COLUMNS_H

#include "kn_released.h"

/* Gives the output, which is in memory, the released rows as Arrow batches: row map[i] of the table is the i-th. `released` was made
 * without quotes (kn_recode_input.columns_wanted). */
KN_CHECK kn_status kn_columns_put(kn_output *output, kn_context *ctx, const kn_recode_input *input,
                                  const kn_released *released, const int64_t *map, int64_t count, kn_error *err);

#endif
