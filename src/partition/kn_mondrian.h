/* kn_mondrian.h: what the strict, the relaxed and the single-dimensional method share: lists of finished regions. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_MONDRIAN_H
#define KN_MONDRIAN_H

#include "kn_row_judge.h"
#include "kn_space.h"

typedef struct kn_regions {
    kn_region *items;
    size_t     count, capacity;
} kn_regions;

/* May the records of this region be a class? */
static inline kn_status kn_region_holds(bool *out, const kn_space *space, kn_row_judge *judge, kn_region region,
                                        kn_error *err)
{
    const unsigned char *rows = space->records + (size_t)region.begin * space->stride + space->row_offset;
    return kn_row_judge_holds(out, judge, rows, space->stride, region.end - region.begin, err);
}

/* A judge of regions, which counts rows as the space does. */
static inline kn_status kn_region_judge_make(kn_row_judge *out, const kn_space *space,
                                             const kn_partition_problem *problem, kn_error *err)
{
    kn_status status = kn_row_judge_make(out, space->ctx, problem->table, problem->requirements, err);
    if (status == KN_OK) out->weights = space->counts;
    return status;
}

KN_CHECK bool kn_regions_add(kn_regions *regions, kn_context *ctx, kn_region region);

/* Strict (mondrian) and relaxed partitioning: the finished regions, in the order of the cuts. The caller frees items. */
KN_CHECK kn_status kn_mondrian_run(kn_regions *out, kn_partition_counters *counters, const kn_space *space,
                                   const kn_partition_problem *problem, kn_error *err);

/* mondrian-1d: a cut goes through the whole table. `spans` (regions × dimensions, freed by the caller) are the intervals
 * that each region's cells show: those of the whole table, not what its own rows need. */
KN_CHECK kn_status kn_mondrian_1d_run(kn_regions *out, kn_span **spans, kn_partition_counters *counters,
                                      const kn_space *space, const kn_partition_problem *problem, kn_error *err);

/* The plan of finished regions. `spans` NULL: a region's cells show no more than its own rows need. Regions that show
 * the same become one class. Consumes the space: only its row numbers are left. */
KN_CHECK kn_status kn_regions_plan(kn_plan **out, kn_space *space, const kn_regions *regions, const kn_span *spans,
                                   kn_error *err);

#endif
