/* kn_mdg.h: minimal distance generalization (K-MSD, section 5, item 2; docs/errata.md R3 and R4). */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_MDG_H
#define KN_MDG_H

#include "kn_hierarchy.h"

typedef struct kn_mdg kn_mdg;

/* For one worker and one hierarchy. Memory: about 100 bytes for each node of the hierarchy, and what the largest group
 * needs. */
KN_CHECK kn_status kn_mdg_make(kn_mdg **out, kn_context *ctx, const kn_hierarchy *hierarchy, kn_error *err);
void               kn_mdg_free(kn_mdg *mdg);

/* Raises rows of one group (`rows`, ascending, at least k) until no value that they show has fewer than k of them; nodes[row]
 * is read and written. *steps: how many times a value was generalized. */
KN_CHECK kn_status kn_mdg_group(kn_mdg *mdg, const uint32_t *rows, uint32_t count, uint32_t k, uint32_t *nodes,
                                int64_t *steps, kn_error *err);

#endif
