/* kn_neighbours.h: finished classes brought together with their neighbours, again and again, to exchange points.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_NEIGHBOURS_H
#define KN_NEIGHBOURS_H

#include "kn_mondrian.h"

/* Improves the regions, which cover all records and never part equal ones; regions of more than `most` records stay as they are.
 * Records are rearranged and the regions replaced; the sum of the losses never rises, and every region satisfies the requirements.
 * *changes: what was changed, added. */
KN_CHECK kn_status kn_neighbours_improve(kn_regions *regions, int64_t *changes, const kn_space *space,
                                         const kn_partition_problem *problem, uint32_t most, kn_error *err);

#endif
