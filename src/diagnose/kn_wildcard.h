/* kn_wildcard.h: missing cells that agree with anything. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_WILDCARD_H
#define KN_WILDCARD_H

#include "kn_freq.h"

/* For each class of `freq`: the number of rows that may equal its rows when the codes `missing[c]` agree with every
 * code. `missing[c]` is UINT32_MAX for a column without missing cells. `sizes` (one per class) is freed by the caller. */
KN_CHECK kn_status kn_wildcard_sizes(int64_t **sizes, const kn_freq *freq, const uint32_t *missing, kn_error *err);

#endif
