/* table/release.c: tables as a shape of the release driver (kn_shape.h): what comes before and after the stages,
 * which are in their own files.
 *
 * Memory: the table, the search and the release's order; then, with all that freed, what the verifier holds.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <unistd.h>

#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_recipe.h"
#include "kn_release_report.h"
#include "kn_table_run.h"

static kn_status check(const kn_spec *spec, kn_error *err)
{
    KN_TRY(kn_spec_check_one_table(spec, NULL, err));
    return kn_table_run_check_streams(spec, err);
}

static kn_status begin(kn_release_run *all, const kn_release_head *of, kn_error *err)
{
    kn_table_run *run = kn_table_run_of(all);
    (void)of;
    (void)err;
    run->result = (kn_release_result *)(void *)all->head;
    run->result->utility = all->spec->utility;
    run->result->loss_bound = NAN;
    return KN_OK;
}

static kn_status count(kn_release_run *all, kn_advisor *out, kn_error *err)
{
    (void)err;
    out->count = kn_table_total(kn_table_run_of(all)->table);
    return KN_OK;
}

/* The classes of the plan, counted again by code that is independent of the method, must keep what was promised of a
 * class. (Promises about a population are checked by the verifier alone, on the written bytes.) */
static kn_status judge(kn_release_run *all, kn_advice_candidate *out, kn_error *err)
{
    const kn_table_run *run = kn_table_run_of(all);
    double              loss = run->result->metrics[run->result->utility];
    bool                shown = all->spec->suppressed == KN_SUPPRESSED_KEEP_SENSITIVE;
    int64_t             rows = kn_table_total(run->table) - (shown ? 0 : run->plan->suppressed);
    out->loss = run->result->utility == KN_METRIC_PREC ? 1 - loss : loss; /* smaller is better */
    if (run->population || run->good_rows == rows) return KN_OK;
    return kn_fail(err, KN_INTERNAL, "a mistake in kanon: classes of method %s do not keep what was promised",
                   kn_method_name(all->spec->method));
}

static void describe(kn_release_run *all, kn_private_input *out)
{
    out->budget = kn_table_run_of(all)->budget;
}

static kn_status map(kn_release_run *all, kn_output *to, kn_error *err)
{
    const kn_table_run *run = kn_table_run_of(all);
    return kn_rowmap_write(to, all->ctx, run->map, run->map_count, err);
}

static kn_status report(kn_buffer *to, kn_release_run *all, kn_error *err)
{
    const kn_table_run *run = kn_table_run_of(all);
    kn_spec             shown = *all->spec;
    if (run->linked) shown.entity = run->linked_by; /* sizes are of persons, declared or not */
    return kn_release_report_render(to, &shown, run->result, all->options->version, err);
}

void kn_table_run_end_search(kn_release_run *all)
{
    kn_table_run *run = kn_table_run_of(all);
    for (int q = 0; run->hierarchies && q < run->quasi_count; q++) kn_hierarchy_free(run->hierarchies[q]);
    for (int c = 0; run->table && run->column_hierarchies && c < run->table->column_count; c++)
        kn_hierarchy_free(run->column_hierarchies[c]);
    kn_plan_free(run->plan);
    kn_free(run->tree.cuts);
    run->tree = (kn_partition_tree){0};
    kn_recipe_free(run->kept);
    run->kept = NULL;
    kn_table_free(run->items);
    run->items = NULL;
    run->shown = NULL;
    kn_fulldomain_result_free(run->found);
    kn_objective_free(run->objective);
    kn_population_set_free(run->population);
    kn_requirements_free(run->requirements);
    kn_table_free(run->population_table);
    if (run->whole) kn_table_free(run->table);
    if (run->whole) run->table = run->whole;
    run->whole = NULL;
    run->hierarchies = NULL;
    run->column_hierarchies = NULL;
    run->plan = NULL;
    run->found = NULL;
    run->objective = NULL;
    run->population = NULL;
    run->requirements = NULL;
    run->population_table = NULL;
}

static void end(kn_release_run *all)
{
    kn_table_run *run = kn_table_run_of(all);
    kn_table_free(run->table);
    kn_table_run_end_judged(run);
    kn_carry_close(&run->carry);
    kn_engine_close(&run->writer);
    kn_engine_close(&run->engine);
    kn_free(run->original_rows);
    kn_free(run->map);
    kn_free(run->narrow_map);
    for (int i = 0; run->dependencies && i < all->spec->dependency_count; i++) kn_dependency_free(run->dependencies[i]);
    if (run->keys) kn_pseudonym_forget(run->keys, (size_t)run->column_count * KN_PSEUDONYM_KEY);
    for (int i = 0; i < run->spool_count; i++) {
        kn_alias_remove(all->ctx, &run->spools[i].alias);
        close(run->spools[i].fd);
    }
}

const kn_release_shape kn_table_shape = {.run_size = sizeof(kn_table_run),
                                         .result_size = sizeof(kn_release_result),
                                         .check = check,
                                         .begin = begin,
                                         .open = kn_table_run_open,
                                         .read = kn_table_run_read,
                                         .count = count,
                                         .search = kn_table_run_search,
                                         .measure = kn_table_run_measure,
                                         .judge = judge,
                                         .left = kn_table_run_left,
                                         .warn = kn_table_run_warn,
                                         .spread = kn_table_run_spread,
                                         .write = kn_table_run_write,
                                         .verify = kn_table_run_verify,
                                         .publish = kn_table_run_publish,
                                         .describe = describe,
                                         .map = map,
                                         .report = report,
                                         .end_search = kn_table_run_end_search,
                                         .end = end};
