/* kn_verify_pairs.h: original cells beside what the release shows of them (table/pairs.c). */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_VERIFY_PAIRS_H
#define KN_VERIFY_PAIRS_H

#include <stdatomic.h>

#include "kn_verify_internal.h"

/* Which class shows an original row; KN_V_NONE: it is not in the release; KN_VIMAGE_STAR: a row that is suppressed. Several threads
 * write them. */
typedef _Atomic uint32_t kn_vimage;
#define KN_VIMAGE_STAR KN_V_MISSING

static inline uint32_t kn_vimage_of(const kn_vimage *image, int64_t row)
{
    return atomic_load_explicit(&image[row], memory_order_relaxed);
}

/* Judges every distinct pair of original text and released text of a quasi-identifier: *good if each cell stands for its
 * original. Sets the levels that fit, of the column and of each text. */
KN_CHECK kn_status kn_vpairs_check(kn_verifier *v, kn_vquasi *q, const kn_vimage *image, bool *good, kn_error *err);

#endif
