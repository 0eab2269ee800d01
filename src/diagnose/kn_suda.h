/* kn_suda.h: the search for special uniques with its batch size as a parameter, for tests. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_SUDA_H
#define KN_SUDA_H

#include <kanon/risk.h>

/* kn_suda_search, working on as many sets at a time as have bitmaps of `batch_bytes` (at least one). */
KN_CHECK kn_status kn_suda_search_with(kn_suda **out, kn_context *ctx, const kn_table *table,
                                       const kn_suda_options *options, size_t batch_bytes, kn_error *err);

#endif
