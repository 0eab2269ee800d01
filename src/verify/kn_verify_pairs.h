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

/* The distinct pairs of original text and released text of a quasi-identifier. First all originals are seen, some at a time, each once:
 * image[i] is that of row begin + i. Then the pairs are judged: *good if each cell stands for its original; the levels that
 * fit are set, of the column and of each text. */
typedef struct kn_vpairs kn_vpairs;

/* Are the pairs of all columns so few that they can be held at the same time? */
bool kn_vpairs_few(const kn_verifier *v);

KN_CHECK kn_status kn_vpairs_open(kn_vpairs **out, kn_verifier *v, kn_vquasi *q, kn_error *err);
KN_CHECK kn_status kn_vpairs_see(kn_vpairs *pairs, const kn_vimage *image, int64_t begin, int64_t end, kn_error *err);
KN_CHECK kn_status kn_vpairs_judge(kn_vpairs *pairs, bool *good, kn_error *err);
void               kn_vpairs_free(kn_vpairs *pairs);

#endif
