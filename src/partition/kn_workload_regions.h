/* kn_workload_regions.h: a workload as partitioning needs it (method mondrian-workload). */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_WORKLOAD_REGIONS_H
#define KN_WORKLOAD_REGIONS_H

#include <kanon/workload.h>

#include "kn_arena.h"
#include "kn_partition.h"
#include "kn_value.h"

typedef struct kn_region_queries {
    kn_arena         arena; /* of what the queries point to */
    int              count;
    kn_region_query *queries;
} kn_region_queries;

typedef struct kn_region_rules {
    const kn_spec     *spec; /* formats and the decimal mark */
    const kn_timezone *timezone;
} kn_region_rules;

/* The queries of a workload for a problem's table, quasi-identifiers and hierarchies. Every aggregate counts as
 * COUNT: only its predicates matter. A query's weight is divided by the size of its answer, since errors are
 * relative, and multiplied by the share of rows that satisfy its predicates on other columns. KN_INPUT with the
 * workload's line and column: a column that the table lacks, a value that is not of its column's type. */
KN_CHECK kn_status kn_region_queries_make(kn_region_queries *out, kn_context *ctx, const kn_workload *workload,
                                          const kn_partition_problem *problem, const kn_region_rules *rules,
                                          kn_error *err);
void               kn_region_queries_free(kn_region_queries *queries);

#endif
