/* kn_partition.c: the entry point of the Mondrian family: points, regions, plan (kn_partition.h).
 *
 * Cost: see kn_mondrian.c and kn_mondrian_1d.c. Memory: the points (kn_space.h), one number per row for the plan, and
 * the classes.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_partition.h"

#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_mondrian.h"

static kn_status whole_table_holds(bool *out, const kn_space *space, const kn_partition_problem *problem, kn_error *err)
{
    kn_row_judge judge;
    KN_TRY(kn_region_judge_make(&judge, space, problem, err));
    kn_status status = kn_region_holds(out, space, &judge, (kn_region){0, space->rows, 0}, err);
    kn_row_judge_free(&judge);
    return status;
}

static kn_status partition(kn_plan **out, kn_partition_counters *counters, kn_space *space,
                           const kn_partition_problem *problem, kn_error *err)
{
    kn_regions regions = {0};
    kn_span   *spans = NULL;
    kn_status  status = problem->method == KN_METHOD_MONDRIAN_1D
                            ? kn_mondrian_1d_run(&regions, &spans, counters, space, problem, err)
                            : kn_mondrian_run(&regions, counters, space, problem, err);
    if (status == KN_OK) status = kn_regions_plan(out, space, &regions, spans, err);
    if (status == KN_OK) counters->regions = (int64_t)regions.count;
    KN_FREE(regions.items, spans);
    return status;
}

kn_status kn_partition_search(kn_plan **out, bool *found, kn_partition_counters *counters, kn_context *ctx,
                              const kn_partition_problem *problem, kn_error *err)
{
    kn_space space;
    *out = NULL;
    *found = false;
    *counters = (kn_partition_counters){0};
    KN_TRY(kn_space_make(&space, ctx, problem, err));
    kn_status status = space.rows == 0 ? KN_OK : whole_table_holds(found, &space, problem, err);
    if (status == KN_OK && *found) status = partition(out, counters, &space, problem, err);
    kn_space_free(&space);
    return status;
}
