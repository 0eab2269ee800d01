/* kn_columns.h: the rows of a release as columns in memory (kanon/memory.h), instead of the bytes of a CSV file. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_COLUMNS_H
#define KN_COLUMNS_H

#include "kn_recode_row.h"
#include "kn_released.h"

/* Gives the output, which is in memory, the released rows as Arrow batches; counted rows with a column of int64 behind the
 * others. `released` was made without quotes (kn_recode_input.columns_wanted). */
KN_CHECK kn_status kn_columns_put(kn_output *output, kn_context *ctx, const kn_recode_input *input,
                                  const kn_released *released, const kn_released_rows *rows, kn_error *err);

#endif
