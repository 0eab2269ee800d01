/* table/local.c: the methods that decide row by row: partitioning and K-MSD. Their plans have no levels, their
 * counters have other names; all else is as in search.c.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "kn_error.h"
#include "kn_kmsd.h"
#include "kn_partition.h"
#include "kn_table_run.h"
#include "kn_workload_regions.h"

static const kn_attribute *attribute_of(const kn_table_run *run, int q)
{
    return &run->all.spec->attributes[kn_spec_find(run->all.spec, run->quasi_names[q])];
}

/* mondrian-workload: the queries that the cuts follow. */
static kn_status read_queries(kn_region_queries *out, kn_table_run *run, const kn_partition_problem *problem,
                              kn_error *err)
{
    kn_workload    *workload = NULL;
    kn_timezone    *zone = NULL;
    kn_region_rules rules = {run->all.spec, NULL};
    KN_TRY(kn_workload_read(&workload, run->all.ctx, run->all.spec->workload, err));
    kn_status st =
        run->all.spec->csv.timezone ? kn_timezone_open(&zone, run->all.ctx, run->all.spec->csv.timezone, err) : KN_OK;
    rules.timezone = zone;
    if (st == KN_OK) st = kn_region_queries_make(out, run->all.ctx, workload, problem, &rules, err);
    kn_timezone_free(zone);
    kn_workload_free(workload);
    return st;
}

static kn_status search(kn_table_run *run, kn_partition_problem *problem, kn_partition_counters *counters,
                        kn_error *err)
{
    kn_region_queries queries = {.count = 0};
    if (problem->method == KN_METHOD_MONDRIAN_WORKLOAD) {
        KN_TRY(read_queries(&queries, run, problem, err));
        problem->queries = queries.queries;
        problem->query_count = queries.count;
    }
    kn_status st = kn_partition_search(&run->plan, &run->result->head.found, counters, run->all.ctx, problem, err);
    kn_region_queries_free(&queries);
    return st;
}

kn_status kn_table_run_partition_problem(kn_table_run *run, kn_partition_problem *out, kn_error *err)
{
    bool *ordered = kn_release_alloc(&run->all, &run->all.scratch, (size_t)run->quasi_count, sizeof *ordered, err);
    if (!ordered) return KN_MEMORY;
    for (int q = 0; q < run->quasi_count; q++) ordered[q] = attribute_of(run, q)->cut_by_order;
    *out = (kn_partition_problem){.table = run->table,
                                  .quasi_count = run->quasi_count,
                                  .quasi = run->quasi,
                                  .hierarchies = (const kn_hierarchy *const *)run->hierarchies,
                                  .ordered = ordered,
                                  .weights = run->weights,
                                  .requirements = run->requirements,
                                  .method = run->all.spec->method,
                                  .choose = run->all.spec->choose};
    return KN_OK;
}

kn_status kn_table_run_partition(kn_table_run *run, kn_error *err)
{
    kn_partition_counters counters;
    kn_partition_problem  problem;
    KN_TRY(kn_table_run_partition_problem(run, &problem, err));
    if (run->all.spec->keep_recipe && problem.method == KN_METHOD_MONDRIAN) problem.tree = &run->tree;
    KN_TRY(search(run, &problem, &counters, err));
    run->result->head.complete = true;
    if (!run->result->head.found)
        return kn_release_none(&run->all, "not even all rows together, as one class, satisfy the requirements", err);
    const kn_release_counter list[] = {
        {"regions", (double)counters.regions},           {"cuts", (double)counters.cuts},
        {"cuts_tried", (double)counters.cuts_tried},     {"frequency_sets", (double)counters.frequency_sets},
        {"improvements", (double)counters.improvements}, {"depth", (double)counters.depth}};
    return kn_release_set_counters(&run->all, list, sizeof list / sizeof *list, err);
}

kn_status kn_table_run_kmsd(kn_table_run *run, kn_error *err)
{
    kn_kmsd_counters counters;
    kn_kmsd_problem  problem = {.table = run->table,
                                .quasi_count = run->quasi_count,
                                .quasi = run->quasi,
                                .hierarchies = (const kn_hierarchy *const *)run->hierarchies,
                                .requirements = run->requirements,
                                /* Rows that stay visible would have to be a class. */
                                .budget = run->all.spec->suppressed == KN_SUPPRESSED_KEEP_SENSITIVE ? 0 : run->budget};
    kn_association  *associations = kn_release_alloc(&run->all, &run->all.scratch,
                                                     (size_t)run->all.spec->dependency_count, sizeof *associations, err);
    if (!associations) return KN_MEMORY;
    if (run->all.spec->method == KN_METHOD_KMSD_AG) {
        KN_TRY(kn_table_run_associations(run, associations, &problem.association_count, err));
        problem.associations = associations;
    }
    KN_TRY(kn_kmsd_search(&run->plan, &run->result->head.found, &counters, run->all.ctx, &problem, err));
    run->result->head.complete = true;
    if (!run->result->head.found)
        return kn_release_none(&run->all, "not even all rows together, as one class, satisfy the requirements", err);
    const kn_release_counter list[] = {{"steps", (double)counters.steps},
                                       {"groups", (double)counters.groups},
                                       {"associations", (double)counters.associations},
                                       {"repairs", (double)counters.repairs},
                                       {"merged", (double)counters.merged}};
    return kn_release_set_counters(&run->all, list, sizeof list / sizeof *list, err);
}
