/* table/local.c: the methods that decide row by row: partitioning and K-MSD. Their plans have no levels, and their
 * counters have other names; everything else is as in search.c.
 *
 * A method that may separate rows that are equal in the quasi-identifiers (mondrian-relaxed, kmsd) gets the rows in
 * the order of their values, so that its release does not depend on the order of the input (unless `row-order: input` asks for
 * that), and counted rows one by one.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_kmsd.h"
#include "kn_parallel.h"
#include "kn_partition.h"
#include "kn_recipe.h"
#include "kn_table_run.h"
#include "kn_table_select.h"
#include "kn_workload_regions.h"

/* ---- Rows one by one ---- */

static bool parts_equal_rows(const kn_table_run *run)
{
    return kn_recipe_parts_equal_rows(run->all.spec->method);
}

kn_status kn_table_run_expand(kn_table_run *run, kn_error *err)
{
    kn_table *rows = NULL;
    int64_t  *list = NULL;
    if (!parts_equal_rows(run) || !run->table->counts) return KN_OK;
    if (run->table->total >= UINT32_MAX - 1)
        return kn_fail(err, KN_USAGE,
                       "method %s looks at rows one by one and takes at most 4,294,967,294; this table stands for more",
                       kn_method_name(run->all.spec->method));
    kn_status st = kn_table_order(&list, run->all.ctx, run->table, run->quasi, run->quasi_count, err);
    if (st == KN_OK) st = kn_table_arrange(&rows, run->all.ctx, run->table, list, err);
    kn_free(list);
    if (st == KN_MEMORY && run->large)
        return kn_fail(err, KN_MEMORY,
                       "method %s looks at rows one by one, and %" PRId64
                       " of them do not fit the memory limit; give a larger --memory-limit, or take method mondrian or "
                       "optimal, which look at different rows only",
                       kn_method_name(run->all.spec->method), run->table->total);
    if (st != KN_OK) return st;
    run->whole = run->table;
    run->table = rows;
    return KN_OK;
}

/* The rows of an uncounted table in the order of their values, while a method runs. */
typedef struct ordered_rows {
    kn_table *table;
    int64_t  *order; /* NULL: the rows as they are */
} ordered_rows;

static kn_status order_rows(ordered_rows *o, const kn_table_run *run, kn_error *err)
{
    *o = (ordered_rows){.table = run->table};
    if (run->table->counts || !parts_equal_rows(run)) return KN_OK; /* already in order, or need not be */
    if (run->all.spec->input_order) return KN_OK;
    KN_TRY(kn_table_order(&o->order, run->all.ctx, run->table, run->quasi, run->quasi_count, err));
    kn_status st = kn_table_arrange(&o->table, run->all.ctx, run->table, o->order, err);
    if (st == KN_OK) return KN_OK;
    kn_free(o->order);
    return st;
}

typedef struct returning {
    const int64_t  *order;
    const uint32_t *from;
    uint32_t       *to;
} returning;

static kn_status return_range(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    const returning *r = arg;
    (void)worker;
    (void)err;
    for (int64_t i = begin; i < end; i++) r->to[r->order[i]] = r->from[i];
    return KN_OK;
}

/* Converts the plan of the ordered rows to one of the table's rows. */
static kn_status end_order(ordered_rows *o, kn_table_run *run, kn_status st, kn_error *err)
{
    if (!o->order) return st;
    kn_plan  *plan = st == KN_OK ? run->plan : NULL;
    uint32_t *classes = plan ? kn_alloc_array(run->all.ctx, (size_t)plan->rows + 1, sizeof *classes) : NULL;
    if (plan && !classes) st = kn_fail_memory(err, run->all.ctx, "planning a release");
    if (classes)
        st = kn_parallel_for(run->all.ctx, plan->rows, 1 << 14, return_range,
                             &(returning){o->order, plan->class_of_row, classes}, err);
    if (classes) {
        kn_free(plan->class_of_row);
        plan->class_of_row = classes;
    }
    kn_table_free(o->table);
    kn_free(o->order);
    return st;
}

/* ---- Partitioning ---- */

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
    ordered_rows          rows;
    KN_TRY(kn_table_run_partition_problem(run, &problem, err));
    if (run->all.spec->keep_recipe && kn_recipe_kind_of(problem.method) == KN_RECIPE_CUTS) problem.tree = &run->tree;
    KN_TRY(order_rows(&rows, run, err));
    problem.table = rows.table;
    KN_TRY(end_order(&rows, run, search(run, &problem, &counters, err), err));
    run->result->head.complete = true;
    if (!run->result->head.found)
        return kn_release_none(&run->all, "not even all rows together, as one class, keep the promises", err);
    const kn_release_counter list[] = {
        {"regions", (double)counters.regions},           {"cuts", (double)counters.cuts},
        {"cuts_tried", (double)counters.cuts_tried},     {"frequency_sets", (double)counters.frequency_sets},
        {"improvements", (double)counters.improvements}, {"depth", (double)counters.depth}};
    return kn_release_set_counters(&run->all, list, sizeof list / sizeof *list, err);
}

/* ---- K-MSD ---- */

kn_status kn_table_run_kmsd(kn_table_run *run, kn_error *err)
{
    kn_kmsd_counters counters;
    kn_kmsd_problem  problem = {.table = run->table,
                                .quasi_count = run->quasi_count,
                                .quasi = run->quasi,
                                .hierarchies = (const kn_hierarchy *const *)run->hierarchies,
                                .requirements = run->requirements,
                                /* Suppressed rows that keep their sensitive values would have to form a class. */
                                .budget = run->all.spec->suppressed == KN_SUPPRESSED_KEEP_SENSITIVE ? 0 : run->budget};
    kn_association  *associations = kn_release_alloc(&run->all, &run->all.scratch,
                                                     (size_t)run->all.spec->dependency_count, sizeof *associations, err);
    if (!associations) return KN_MEMORY;
    if (run->all.spec->method == KN_METHOD_KMSD_AG) {
        KN_TRY(kn_table_run_associations(run, associations, &problem.association_count, err));
        problem.associations = associations;
    }
    ordered_rows rows;
    KN_TRY(order_rows(&rows, run, err));
    problem.table = rows.table;
    kn_status st = kn_kmsd_search(&run->plan, &run->result->head.found, &counters, run->all.ctx, &problem, err);
    KN_TRY(end_order(&rows, run, st, err));
    run->result->head.complete = true;
    if (!run->result->head.found)
        return kn_release_none(&run->all, "not even all rows together, as one class, keep the promises", err);
    const kn_release_counter list[] = {{"steps", (double)counters.steps},
                                       {"groups", (double)counters.groups},
                                       {"associations", (double)counters.associations},
                                       {"repairs", (double)counters.repairs},
                                       {"merged", (double)counters.merged}};
    return kn_release_set_counters(&run->all, list, sizeof list / sizeof *list, err);
}
