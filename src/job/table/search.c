/* table/search.c: from a table to a plan: hierarchies, population, promises, objective, search.
 *
 * A quasi-identifier without a hierarchy gets the one that suits its type, except by partitioning, which cuts it in the
 * order of its values. With a population the hierarchies cover its values too, as they do those of a population of
 * their own; without either, if a weight is declared and a model needs a population, each row stands for as many people
 * as its weight.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_column_union.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_hierarchy_make.h"
#include "kn_spec.h"
#include "kn_table_run.h"

/* ---- Hierarchies and population ---- */

static kn_status read_population(kn_table_run *run, kn_error *err)
{
    if (!run->effective.population) return KN_OK;
    if (!kn_table_run_full_domain(run))
        return kn_fail(err, KN_USAGE, "a population needs a full-domain method, such as optimal; %s has no use for it",
                       kn_method_name(run->all.spec->method));
    const kn_spec *spec = run->all.spec;
    kn_csv_options csv = spec->csv;
    csv.count = NULL; /* a population is not counted */
    kn_column_type *types =
        kn_release_alloc(&run->all, &run->all.scratch, (size_t)run->quasi_count, sizeof *types, err);
    if (!types) return KN_MEMORY;
    for (int q = 0; q < run->quasi_count; q++) {
        const kn_attribute *a = &spec->attributes[kn_spec_find(spec, run->quasi_names[q])];
        types[q] = (kn_column_type){a->name, a->type, a->format};
    }
    csv.delimiter = 0; /* the population may be written differently: detected */
    csv.types = types;
    csv.type_count = run->quasi_count;
    csv.columns = run->quasi_names;
    csv.column_count = run->quasi_count;
    return kn_table_read_csv(&run->population_table, run->all.ctx, run->effective.population, &csv, err);
}

/* The length of the place, "FILE" or "FILE:LINE:COLUMN", that a message about a column's hierarchy file begins with; 0:
 * it does not. */
static size_t place_length(const char *what, const char *path)
{
    size_t size = path ? strlen(path) : 0;
    if (size == 0 || strncmp(what, path, size) != 0) return 0;
    const char *end = strstr(what + size, ": ");
    return end ? (size_t)(end - what) : 0;
}

/* Is the column what the message, or a part of it after ": ", begins with? */
static bool names_column(const char *part, const char *name)
{
    static const char word[] = "column \"";
    size_t            size = strlen(name);
    while (part) {
        const char *rest = part + sizeof word - 1;
        if (strncmp(part, word, sizeof word - 1) == 0 && strncmp(rest, name, size) == 0 && rest[size] == '"')
            return true;
        part = strstr(part, ": ");
        if (part) part += 2;
    }
    return false;
}

/* Adds the column to a message about its hierarchy that does not name it, after the place. */
kn_status kn_table_run_at(const kn_table_run *run, const kn_attribute *a, kn_status st, kn_error *err)
{
    if (!err || (st != KN_INPUT && st != KN_USAGE)) return st;
    char what[sizeof err->message];
    memcpy(what, err->message, sizeof what);
    if (names_column(what, a->name)) return st;
    size_t place = a->has_hierarchy ? place_length(what, a->hierarchy.path) : 0;
    if (place == 0) place = place_length(what, a->hierarchy.population);
    if (place > 0) {
        int64_t line = err->line, column = err->column;
        (void)kn_fail(err, st, "%.*s: column \"%s\"%s", (int)place, what, a->name, what + place);
        err->line = line;
        err->column = column;
        return st;
    }
    if (run->all.spec->path && a->line > 0)
        return kn_fail_at(err, st, run->all.spec->path, a->line, a->column, "column \"%s\": %s", a->name, what);
    return kn_fail(err, st, "column \"%s\": %s", a->name, what);
}

static const kn_attribute *quasi_attribute(const kn_table_run *run, int q)
{
    return &run->all.spec->attributes[kn_spec_find(run->all.spec, run->quasi_names[q])];
}

bool kn_table_run_by_type(const kn_table_run *run, int q)
{
    return run->hierarchies[q] && !quasi_attribute(run, q)->has_hierarchy;
}

static kn_hierarchy_spec declared(const kn_table_run *run, const kn_attribute *a)
{
    kn_hierarchy_spec spec = a->hierarchy;
    spec.decimal = run->all.spec->csv.decimal;
    spec.timezone = run->all.spec->csv.timezone;
    return spec;
}

/* What the hierarchy of a quasi-identifier is made from. */
static kn_status find_rule(kn_table_run *run, int q, const kn_attribute *a, kn_error *err)
{
    const kn_column *own = &run->table->columns[run->quasi[q]];
    const kn_column *other = run->population_table ? &run->population_table->columns[q] : NULL;
    run->rules[q] = declared(run, a);
    if (a->has_hierarchy) return KN_OK;
    KN_TRY(kn_hierarchy_by_type_over(&run->rules[q], &run->all.scratch, own, other, run->all.spec->csv.decimal, err));
    run->rules[q].timezone = run->all.spec->csv.timezone;
    return KN_OK;
}

/* The hierarchy of a quasi-identifier: over the population's values too, or over those of its own population. */
static kn_status make_quasi_hierarchy(kn_table_run *run, int q, const kn_attribute *a, uint32_t **leaves, kn_error *err)
{
    kn_csv_options csv = run->all.spec->csv;
    kn_column_type type = {a->name, a->type, a->format};
    kn_table      *counts = NULL;
    csv.types = &type;
    csv.type_count = 1;
    KN_TRY(find_rule(run, q, a, err));
    const kn_hierarchy_spec *rule = &run->rules[q];
    if (rule->population) KN_TRY(kn_hierarchy_read_counts(&counts, run->all.ctx, rule->population, &csv, err));
    kn_status st = kn_hierarchy_make_over(&run->hierarchies[q], leaves, run->all.ctx, run->table, run->quasi[q],
                                          counts ? counts : run->population_table, counts ? 0 : q, rule, false, err);
    kn_table_free(counts);
    return st;
}

static kn_status make_quasi_hierarchies(kn_table_run *run, uint32_t **leaves, kn_error *err)
{
    for (int q = 0; q < run->quasi_count; q++) {
        const kn_attribute *a = quasi_attribute(run, q);
        if (!a->has_hierarchy && kn_method_family(run->all.spec->method) == KN_FAMILY_PARTITION) continue;
        kn_status st = make_quasi_hierarchy(run, q, a, &leaves[q], err);
        if (st != KN_OK) return kn_table_run_at(run, a, st, err);
    }
    return KN_OK;
}

/* Of sensitive columns, for the hierarchical distance. */
static kn_status make_sensitive_hierarchies(kn_table_run *run, kn_error *err)
{
    for (int i = 0; i < run->all.spec->attribute_count; i++) {
        const kn_attribute *a = &run->all.spec->attributes[i];
        if (a->role != KN_ROLE_SENSITIVE || !a->has_hierarchy) continue;
        int               column = kn_table_find(run->table, a->name);
        kn_hierarchy_spec spec = declared(run, a);
        kn_status         st =
            kn_hierarchy_make(&run->column_hierarchies[column], run->all.ctx, run->table, column, &spec, false, err);
        if (st != KN_OK) return kn_table_run_at(run, a, st, err);
    }
    return KN_OK;
}

static kn_status count_population(kn_table_run *run, uint32_t *const *leaves, kn_error *err)
{
    const kn_hierarchy *const *hierarchies = (const kn_hierarchy *const *)run->hierarchies;
    if (!kn_table_run_full_domain(run)) return KN_OK; /* other methods refuse models of the population themselves */
    if (run->population_table) {
        int *columns = kn_release_alloc(&run->all, &run->all.scratch, (size_t)run->quasi_count, sizeof *columns, err);
        if (!columns) return KN_MEMORY;
        for (int q = 0; q < run->quasi_count; q++) columns[q] = q;
        return kn_population_set_of_leaves(&run->population, run->all.ctx, run->population_table, columns, hierarchies,
                                           (const uint32_t *const *)leaves, run->quasi_count, err);
    }
    if (!run->requirements->population) return KN_OK;
    if (kn_spec_counts_people(run->all.spec))
        return kn_population_set_of_hierarchies(&run->population, run->all.ctx, hierarchies, run->quasi_names,
                                                run->quasi_count, err);
    if (run->weight < 0)
        return kn_fail(err, KN_USAGE, "k-map and delta-presence need a population, or k-map a column of weights");
    return kn_population_set_of_weights(&run->population, run->all.ctx, run->table, run->quasi, hierarchies,
                                        run->quasi_count, run->weight, err);
}

static kn_status prepare_with(kn_table_run *run, uint32_t **leaves, kn_error *err)
{
    KN_TRY(make_quasi_hierarchies(run, leaves, err));
    KN_TRY(make_sensitive_hierarchies(run, err));
    kn_requirements_options options = {.models = run->all.spec->models,
                                       .model_count = run->all.spec->model_count,
                                       .entity = run->entity,
                                       .linked = run->linked,
                                       .hierarchies = (const kn_hierarchy *const *)run->column_hierarchies};
    KN_TRY(kn_requirements_make(&run->requirements, run->all.ctx, run->table, &options, err));
    KN_TRY(count_population(run, leaves, err));
    kn_table_free(run->population_table);
    run->population_table = NULL;
    if (!kn_table_run_full_domain(run)) return KN_OK;
    KN_TRY(kn_table_run_bounds(run, err));
    return kn_objective_make(&run->objective, run->all.ctx, run->table, run->quasi,
                             (const kn_hierarchy *const *)run->hierarchies, run->quasi_count, run->weights,
                             run->all.spec->utility, run->requirements->k, err);
}

kn_status kn_table_run_prepare(kn_table_run *run, kn_error *err)
{
    KN_TRY(kn_table_run_check_linked(run, err));
    KN_TRY(read_population(run, err));
    size_t quasi = (size_t)run->quasi_count, columns = (size_t)run->table->column_count;
    run->hierarchies = kn_release_alloc(&run->all, &run->all.scratch, quasi, sizeof *run->hierarchies, err);
    run->rules = kn_release_alloc(&run->all, &run->all.scratch, quasi, sizeof *run->rules, err);
    run->column_hierarchies =
        kn_release_alloc(&run->all, &run->all.scratch, columns, sizeof *run->column_hierarchies, err);
    uint32_t **leaves = kn_release_alloc(&run->all, &run->all.scratch, quasi, sizeof *leaves, err);
    if (!run->hierarchies || !run->rules || !run->column_hierarchies || !leaves) return KN_MEMORY;
    kn_status st = prepare_with(run, leaves, err);
    for (size_t q = 0; q < quasi; q++) kn_free(leaves[q]);
    return st;
}

/* ---- The search ---- */

static kn_status explain(kn_table_run *run, kn_error *err)
{
    char    why[400];
    int64_t lonely = 0;
    if (run->linked) KN_TRY(kn_table_run_lonely_rows(run, &lonely, err));
    if (!run->found->complete)
        snprintf(why, sizeof why, "the time limit ended the search before it had found a release");
    else if (lonely > run->budget)
        snprintf(
            why, sizeof why,
            "the released columns show which rows are one person's, and %lld row%s to persons whose number of rows "
            "too few others have; at most %lld may be suppressed: leave out the column that links them",
            (long long)lonely, lonely == 1 ? " belongs" : "s belong", (long long)run->budget);
    else if (run->low)
        KN_TRY(kn_table_run_explain_bounds(run, why, sizeof why, err));
    else
        snprintf(why, sizeof why,
                 "no choice of levels keeps all promises with at most %lld suppressed rows; not even full "
                 "generalization does",
                 (long long)run->budget);
    return kn_release_none(&run->all, why, err);
}

static kn_status copy_levels(kn_table_run *run, const int *levels, const int **out, kn_error *err)
{
    int *copy = kn_release_alloc(&run->all, run->all.arena, (size_t)run->quasi_count, sizeof *copy, err);
    if (!copy) return KN_MEMORY;
    memcpy(copy, levels, (size_t)run->quasi_count * sizeof *copy);
    *out = copy;
    return KN_OK;
}

static kn_status copy_solutions(kn_table_run *run, kn_error *err)
{
    const kn_fulldomain_result *found = run->found;
    kn_release_node            *nodes =
        kn_release_alloc(&run->all, run->all.arena, (size_t)found->solution_count, sizeof *nodes, err);
    if (!nodes) return KN_MEMORY;
    for (int64_t i = 0; i < found->solution_count; i++) {
        const kn_solution *s = &found->solutions[i];
        KN_TRY(copy_levels(run, s->levels, &nodes[i].levels, err));
        nodes[i].loss = kn_objective_value(run->objective, s->loss);
        nodes[i].suppressed = s->suppressed;
        nodes[i].classes = s->classes;
    }
    run->result->solution_count = found->solution_count;
    run->result->solutions = nodes;
    return KN_OK;
}

static kn_status size_counters(kn_table_run *run, kn_release_counter *counters, int *count, kn_error *err)
{
    const kn_fulldomain_counters *c = &run->found->counters;
    static const char *const      names[] = {"candidates", "tested", "good"};
    for (int i = 0; i < c->size_count; i++) {
        int64_t values[] = {c->sizes[i].candidates, c->sizes[i].tested, c->sizes[i].good};
        for (int j = 0; j < 3; j++) {
            char name[40];
            snprintf(name, sizeof name, "size_%d_%s", i + 1, names[j]);
            char *copy = kn_release_text(&run->all, name, err);
            if (!copy) return KN_MEMORY;
            counters[(*count)++] = (kn_release_counter){copy, (double)values[j]};
        }
    }
    return KN_OK;
}

static kn_status copy_counters(kn_table_run *run, kn_error *err)
{
    const kn_fulldomain_counters *c = &run->found->counters;
    const kn_release_counter      plain[] = {{"candidates", (double)c->candidates},
                                             {"nodes_checked", (double)c->nodes_checked},
                                             {"nodes_marked", (double)c->nodes_marked},
                                             {"table_scans", (double)c->table_scans},
                                             {"rollups", (double)c->rollups},
                                             {"projections", (double)c->projections},
                                             {"nodes_measured", (double)c->nodes_measured},
                                             {"boxes", (double)c->boxes},
                                             {"keys", (double)c->keys}};
    int                           n = (int)(sizeof plain / sizeof *plain), count = n;
    kn_release_counter           *counters =
        kn_release_alloc(&run->all, run->all.arena, (size_t)n + 3 * (size_t)c->size_count, sizeof *counters, err);
    if (!counters) return KN_MEMORY;
    memcpy(counters, plain, sizeof plain);
    KN_TRY(size_counters(run, counters, &count, err));
    run->result->head.counters = counters;
    run->result->head.counter_count = count;
    run->result->lattice = c->lattice;
    return KN_OK;
}

/* ---- A class that looks suppressed ---- */

/* Does some column distinguish a suppressed row from one that is "*" in every quasi-identifier? */
static bool telling_column(const kn_table_run *run)
{
    bool shown = run->all.spec->suppressed == KN_SUPPRESSED_KEEP_SENSITIVE;
    for (int i = 0; i < run->column_count; i++)
        if (run->columns[i].kind != KN_RELEASED_QUASI && !(shown && run->columns[i].sensitive)) return true;
    return false;
}

static bool star_cell(const kn_table_run *run, uint32_t class_index, int q)
{
    const kn_cell *cell = &run->plan->cells[(size_t)class_index * (size_t)run->quasi_count + (size_t)q];
    if (cell->kind != KN_CELL_NODE) return cell->kind == KN_CELL_STAR;
    kn_string label = kn_hierarchy_text(run->hierarchies[q], cell->a);
    return label.size == 1 && label.data[0] == '*';
}

/* The class that shows only stars; `classes`: there is none. */
static uint32_t starred_class(const kn_table_run *run)
{
    for (uint32_t c = 0; c < run->plan->classes; c++) {
        int q = 0;
        while (q < run->quasi_count && star_cell(run, c, q)) q++;
        if (q == run->quasi_count) return c;
    }
    return run->plan->classes;
}

/* The first quasi-identifier whose "*" in that class is a label for some of the values only; -1: there is none. */
static int partial_star(const kn_table_run *run, uint32_t class_index)
{
    for (int q = 0; q < run->quasi_count; q++) {
        const kn_cell *cell = &run->plan->cells[(size_t)class_index * (size_t)run->quasi_count + (size_t)q];
        if (cell->kind == KN_CELL_NODE && cell->a != kn_hierarchy_root(run->hierarchies[q])) return q;
    }
    return -1;
}

/* If no column distinguishes them, the rows of a class of stars and the suppressed rows are the same to every reader.
 * They are counted as a reader counts them: as suppressed if the budget allows that many, else as a class. Under
 * delta-presence no row can be suppressed, so they are a class, if its stars can stand for them. The bytes do not
 * change. */
static kn_status count_stars(kn_table_run *run, kn_error *err)
{
    kn_plan *plan = run->plan;
    uint32_t star = starred_class(run), last = plan->classes - 1;
    if (run->all.spec->suppressed == KN_SUPPRESSED_DROP || star == plan->classes || telling_column(run)) return KN_OK;
    bool suppress = !run->requirements->absent_fails && plan->suppressed + plan->class_rows[star] <= run->budget;
    int  partial = suppress || plan->suppressed == 0 ? -1 : partial_star(run, star);
    if (partial >= 0)
        return kn_fail(err, KN_USAGE,
                       "column \"%s\": suppressed rows would be written like a group of values whose label in the "
                       "hierarchy is *; give it another one",
                       run->quasi_names[partial]);
    for (int64_t row = 0; row < plan->rows; row++) {
        uint32_t *c = &plan->class_of_row[row];
        if (*c == (suppress ? star : KN_CLASS_SUPPRESSED))
            *c = suppress ? KN_CLASS_SUPPRESSED : star;
        else if (suppress && *c == last)
            *c = star;
    }
    if (!suppress) {
        plan->class_rows[star] += plan->suppressed;
        plan->suppressed = 0;
        return KN_OK;
    }
    size_t quasi = (size_t)run->quasi_count;
    plan->suppressed += plan->class_rows[star];
    plan->class_rows[star] = plan->class_rows[last];
    memmove(plan->cells + star * quasi, plan->cells + last * quasi, quasi * sizeof *plan->cells);
    plan->classes--;
    return KN_OK;
}

kn_fulldomain_problem kn_table_run_problem(const kn_table_run *run)
{
    return (kn_fulldomain_problem){.table = run->table,
                                   .quasi_count = run->quasi_count,
                                   .quasi = run->quasi,
                                   .hierarchies = (const kn_hierarchy *const *)run->hierarchies,
                                   .requirements = run->requirements,
                                   .population = run->population,
                                   .objective = run->objective,
                                   .low = run->low,
                                   .high = run->high,
                                   .budget = run->budget,
                                   .suppressed = run->all.spec->suppressed,
                                   .method = run->all.spec->method,
                                   .time_limit = run->all.spec->time_limit,
                                   .seed = run->all.spec->seed,
                                   .all_solutions = run->all.options->all_solutions};
}

static kn_status search_full_domain(kn_table_run *run, kn_error *err)
{
    kn_release_result *result = run->result;
    run->problem = kn_table_run_problem(run);
    KN_TRY(run->judged ? kn_table_run_ask(run, err)
                       : kn_fulldomain_search(&run->found, run->all.ctx, &run->problem, err));
    result->head.complete = run->found->complete;
    result->optimal = run->found->optimal;
    if (run->found->bounded) result->loss_bound = kn_objective_value(run->objective, run->found->bound);
    KN_TRY(copy_counters(run, err));
    if (!run->found->found) return explain(run, err);
    KN_TRY(copy_solutions(run, err));
    KN_TRY(copy_levels(run, run->found->best.levels, &result->levels, err));
    result->level_count = run->quasi_count;
    result->head.found = true;
    return kn_fulldomain_plan(&run->plan, run->all.ctx, &run->problem, result->levels, err);
}

static kn_status search_by_method(kn_table_run *run, kn_error *err)
{
    switch (kn_method_family(run->all.spec->method)) {
    case KN_FAMILY_FULL_DOMAIN: return search_full_domain(run, err);
    case KN_FAMILY_PARTITION: return kn_table_run_partition(run, err);
    case KN_FAMILY_KMSD: return kn_table_run_kmsd(run, err);
    case KN_FAMILY_RELATIONAL:
    case KN_FAMILY_TREE: break;
    }
    return kn_fail(err, KN_USAGE, "method %s is not one for a table", kn_method_name(run->all.spec->method));
}

/* *unmet: nothing can satisfy the requirements; says why. */
static kn_status search_table(kn_table_run *run, bool *unmet, kn_error *err)
{
    KN_TRY(kn_table_run_prepare(run, err));
    kn_status st = kn_requirements_feasible(run->requirements, run->table, run->population, run->budget > 0, err);
    *unmet = st == KN_UNMET;
    if (st != KN_OK) return st;
    return run->all.recipe ? kn_table_run_apply(run, err) : search_by_method(run, err);
}

/* The combinations of a table that stays where it is may fit, and a search of them not. KN_MEMORY: it needs them, with the reason. */
static kn_status search_again(kn_table_run *run, bool *unmet, kn_error *err)
{
    kn_table_run_end_search(&run->all);
    kn_free(run->original_rows);
    run->original_rows = NULL;
    KN_TRY(kn_table_run_stay_apart(run, err));
    return search_table(run, unmet, err);
}

kn_status kn_table_run_search(kn_release_run *all, kn_error *err)
{
    kn_table_run      *run = kn_table_run_of(all);
    kn_release_result *result = run->result;
    kn_error           failed = KN_ERROR_INIT;
    bool               unmet = false;
    if (all->recipe) KN_TRY(kn_table_run_admit(run, err));
    KN_TRY(kn_table_run_expand(run, err));
    kn_status st = search_table(run, &unmet, &failed);
    if (st == KN_MEMORY && run->large && !run->judged && !all->asked->method_auto) { /* auto has other methods */
        failed = (kn_error)KN_ERROR_INIT;
        st = search_again(run, &unmet, &failed);
    }
    if (unmet) {
        result->head.complete = true;
        return kn_release_none(&run->all, failed.message, err);
    }
    if (st != KN_OK) {
        if (err) *err = failed;
        return st;
    }
    KN_TRY(kn_table_run_keep_dependencies(run, err));
    if (!result->head.found) return KN_OK;
    KN_TRY(kn_table_run_take_recipe(run, err));
    return count_stars(run, err);
}
