/* table/apply.c: applies a recipe in place of a search. The decision of the earlier search is applied to the current
 * rows, and only the promises are checked again: classes that fail are suppressed if the budget allows it; otherwise
 * there is no such release.
 *
 * New values, which the recipe does not know, follow the rule of their hierarchy. A hierarchy from a file has no
 * rule: it is extended by the new values, each directly below its root, and their rows are suppressed unless the
 * whole column is "*". The verifier reads the extended hierarchy too; what is published is made from the declared
 * one.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_evaluate.h"
#include "kn_hierarchy_file.h"
#include "kn_recipe.h"
#include "kn_table_run.h"

/* ---- New values ---- */

static void append_quoted(kn_buffer *to, kn_string text)
{
    kn_buffer_char(to, '"');
    kn_buffer_doubled(to, text.data, text.size);
    kn_buffer_char(to, '"');
}

/* Writes the hierarchy, with the values of the column that it lacks below its root. */
static void continue_hierarchy(kn_buffer *to, const kn_hierarchy *h, const kn_column *column, const uint32_t *leaves)
{
    kn_hierarchy_format(h, ';', to);
    for (uint32_t c = 0; c < column->dict.count; c++) {
        if (leaves[c] != KN_NODE_NONE) continue;
        append_quoted(to, kn_dictionary_text(&column->dict, c));
        for (uint32_t level = 1; level < h->height; level++) kn_buffer_add(to, ";(new values)");
        kn_buffer_char(to, ';');
        append_quoted(to, kn_hierarchy_text(h, kn_hierarchy_root(h)));
        kn_buffer_char(to, '\n');
    }
}

/* Makes this run read another file as the hierarchy of a column; the request is unchanged. */
static kn_status use_file(kn_table_run *run, const char *column, const char *path, kn_error *err)
{
    const kn_spec *spec = run->all.spec;
    size_t         count = (size_t)spec->attribute_count;
    kn_attribute  *attributes = kn_release_alloc(&run->all, &run->all.scratch, count, sizeof *attributes, err);
    if (!attributes) return KN_MEMORY;
    memcpy(attributes, spec->attributes, count * sizeof *attributes);
    kn_hierarchy_spec *h = &attributes[kn_spec_find(spec, column)].hierarchy;
    h->path = path;
    h->delimiter = ';';
    run->all.chosen.attributes = run->effective.attributes = attributes;
    return KN_OK;
}

static kn_status admit(kn_table_run *run, kn_recipe_hierarchy *h, int q, kn_error *err)
{
    const kn_column    *column = &run->table->columns[run->quasi[q]];
    const kn_attribute *a = &run->all.spec->attributes[kn_spec_find(run->all.spec, h->column)];
    kn_hierarchy       *declared = NULL;
    uint32_t           *leaves = NULL, lacking = 0;
    kn_buffer           text;
    KN_TRY(kn_hierarchy_read_file(&declared, run->all.ctx, &a->hierarchy, err));
    kn_buffer_init(&text, run->all.ctx);
    kn_status st = kn_hierarchy_find_leaves(&leaves, &lacking, declared, column, run->all.spec->csv.decimal, err);
    if (st == KN_OK && lacking > 0) {
        run->new_values[q] = kn_release_alloc(&run->all, &run->all.scratch, (size_t)column->dict.count + 1, 1, err);
        for (uint32_t c = 0; run->new_values[q] && c < column->dict.count; c++)
            run->new_values[q][c] = leaves[c] == KN_NODE_NONE;
        continue_hierarchy(&text, declared, column, leaves);
        st = !run->new_values[q] ? KN_MEMORY
             : text.failed       ? kn_fail_memory(err, run->all.ctx, "new values of a column")
                                 : kn_recipe_file_put(&h->extended, run->all.ctx, run->all.spec->path, &text, err);
        if (st == KN_OK) st = use_file(run, h->column, h->extended.path, err);
    }
    kn_buffer_free(&text);
    kn_free(leaves);
    kn_hierarchy_free(declared);
    return st;
}

kn_status kn_table_run_admit(kn_table_run *run, kn_error *err)
{
    kn_recipe *recipe = run->all.recipe;
    run->new_values =
        kn_release_alloc(&run->all, &run->all.scratch, (size_t)run->quasi_count + 1, sizeof *run->new_values, err);
    if (!run->new_values) return KN_MEMORY;
    for (int i = 0; i < recipe->hierarchy_count; i++)
        for (int q = 0; q < run->quasi_count; q++)
            if (strcmp(recipe->hierarchies[i].column, run->quasi_names[q]) == 0)
                KN_TRY(admit(run, &recipe->hierarchies[i], q, err));
    return KN_OK;
}

bool kn_table_run_has_new_value(const kn_table_run *run, int64_t row)
{
    for (int q = 0; q < run->quasi_count; q++) {
        uint32_t code = kn_column_code(&run->table->columns[run->quasi[q]], row);
        bool     shown = run->result->levels && run->result->levels[q] == (int)run->hierarchies[q]->height;
        if (run->new_values[q] && !shown && run->new_values[q][code]) return true;
    }
    return false;
}

bool kn_table_run_all_hidden(const kn_table_run *run, int q, kn_string label)
{
    const kn_spec           *spec = run->all.spec;
    const kn_hierarchy_spec *rule = &spec->attributes[kn_spec_find(spec, run->quasi_names[q])].hierarchy;
    const char              *mask = rule->mask ? rule->mask : "*";
    size_t                   size = strlen(mask), at = 0;
    if (rule->kind != KN_HIERARCHY_MASK) return false;
    while (at + size <= label.size && memcmp(label.data + at, mask, size) == 0) at += size;
    return at == label.size;
}

/* Takes a row out of its class. */
static void suppress_row(const kn_table_run *run, int64_t row)
{
    kn_plan  *plan = run->plan;
    uint32_t *c = &plan->class_of_row[row];
    if (*c == KN_CLASS_SUPPRESSED) return;
    plan->class_rows[*c] -= kn_table_weight(run->table, row);
    plan->suppressed += kn_table_weight(run->table, row);
    *c = KN_CLASS_SUPPRESSED;
}

/* Removes classes without rows; the others keep their order. */
static kn_status drop_empty_classes(kn_table_run *run, kn_error *err)
{
    kn_plan  *plan = run->plan;
    size_t    quasi = (size_t)run->quasi_count;
    uint32_t *number = kn_alloc_array(run->all.ctx, (size_t)plan->classes + 1, sizeof *number), count = 0;
    if (!number) return kn_fail_memory(err, run->all.ctx, "applying a recipe");
    for (uint32_t c = 0; c < plan->classes; c++) {
        if (plan->class_rows[c] == 0) continue;
        memmove(plan->cells + count * quasi, plan->cells + c * quasi, quasi * sizeof *plan->cells);
        plan->class_rows[count] = plan->class_rows[c];
        number[c] = count++;
    }
    for (int64_t row = 0; row < plan->rows; row++)
        if (plan->class_of_row[row] != KN_CLASS_SUPPRESSED) plan->class_of_row[row] = number[plan->class_of_row[row]];
    plan->classes = count;
    kn_free(number);
    return KN_OK;
}

/* Suppresses rows with new values. *why: why that is not possible. */
static kn_status suppress_new_values(kn_table_run *run, int64_t *count, const char **why, kn_error *err)
{
    int64_t before = run->plan->suppressed;
    bool    any = false;
    for (int q = 0; q < run->quasi_count; q++) any |= run->new_values[q] != NULL;
    if (!any) return KN_OK;
    for (int64_t row = 0; row < run->plan->rows; row++)
        if (kn_table_run_has_new_value(run, row)) {
            *count += kn_table_weight(run->table, row);
            suppress_row(run, row);
        }
    if (run->plan->suppressed == before) return KN_OK;
    if (run->linked || run->population || run->requirements->has_average ||
        run->all.spec->suppressed == KN_SUPPRESSED_KEEP_SENSITIVE)
        *why = "there are values that the hierarchies of the recipe do not have, and where rows are linked, shown "
               "although "
               "suppressed, or judged together with all others, they cannot be suppressed alone";
    return drop_empty_classes(run, err);
}

/* ---- Levels ---- */

/* Sets the recipe's levels in the hierarchies of these rows: a root stays the root, even if a mask or prefixes now
 * have more or fewer levels. */
static kn_status take_levels(kn_table_run *run, kn_error *err)
{
    int *levels = kn_release_alloc(&run->all, run->all.arena, (size_t)run->quasi_count, sizeof *levels, err);
    if (!levels) return KN_MEMORY;
    for (int q = 0; q < run->quasi_count; q++) {
        const kn_recipe_column *c = &run->all.recipe->columns[q];
        int                     height = (int)run->hierarchies[q]->height;
        levels[q] = c->level == c->height || c->level > height ? height : c->level;
    }
    run->result->levels = levels;
    run->result->level_count = run->quasi_count;
    return KN_OK;
}

kn_status kn_table_run_judge(kn_table_run *run, const int *levels, kn_verdict *verdict, kn_error *err)
{
    kn_evaluator *evaluator = NULL;
    kn_classes   *classes = NULL;
    KN_TRY(kn_evaluator_make(&evaluator, run->all.ctx, &run->problem, err));
    kn_status st = kn_classes_scan(&classes, evaluator, KN_ALL_ATTRIBUTES, levels, err);
    if (st == KN_OK) st = kn_classes_judge(verdict, evaluator, classes, err);
    kn_classes_free(classes);
    kn_evaluator_free(evaluator);
    return st;
}

/* ---- The answer ---- */

static kn_status no_release(kn_table_run *run, const char *why, kn_error *err)
{
    run->result->head.found = false;
    run->result->level_count = 0;
    run->result->levels = NULL;
    return kn_release_none(&run->all, why, err);
}

/* Which rows the recipe cannot place, behind a number of suppressed ones. */
static void say_which(char out[320], const kn_table_run *run, int64_t fresh, int64_t unknown)
{
    char why[2][160] = {"", ""};
    if (fresh > 0 || !run->all.recipe->join.cells)
        snprintf(why[0], sizeof why[0], " (%lld for values that its hierarchies do not have)", (long long)fresh);
    if (unknown > 0)
        snprintf(why[1], sizeof why[1], " (%lld for combinations of values that none or several of its classes cover)",
                 (long long)unknown);
    snprintf(out, 320, "%s%s", why[0], why[1]);
}

/* Why there is no release: more rows would be suppressed than may be. */
static kn_status too_many(kn_table_run *run, int64_t fresh, int64_t unknown, kn_error *err)
{
    char text[500], which[320];
    say_which(which, run, fresh, unknown);
    snprintf(text, sizeof text,
             "by this recipe %lld of these rows would have to be suppressed%s, and the budget allows %lld",
             (long long)run->plan->suppressed, which, (long long)run->budget);
    return no_release(run, text, err);
}

/* Completes the result once there is a plan; `good`: the promises about all rows together hold; `unknown`: rows that are
 * suppressed since the recipe has no class for them. */
static kn_status settle(kn_table_run *run, bool good, int64_t unknown, kn_error *err)
{
    const char *why = NULL;
    int64_t     fresh = 0;
    char        which[320];
    KN_TRY(suppress_new_values(run, &fresh, &why, err));
    if (why) return no_release(run, why, err);
    if (run->plan->suppressed > run->budget) return too_many(run, fresh, unknown, err);
    if (!good) return no_release(run, "by this recipe these rows do not keep what is promised", err);
    run->result->head.found = true;
    run->unplaced = fresh + unknown;
    say_which(which, run, fresh, unknown);
    if (run->unplaced > 0)
        KN_TRY(kn_release_note(&run->all, err, "by this recipe %lld of these rows %s suppressed%s",
                               (long long)run->plan->suppressed, run->plan->suppressed == 1 ? "is" : "are", which));
    if (run->all.options->earlier) return kn_table_run_check_earlier(run, err);
    return kn_release_note(&run->all, err,
                           "every promise was counted on these rows alone: what this release and an earlier one, taken "
                           "together, tell about somebody is not known");
}

/* ---- Cuts, join tables ---- */

/* For each quasi-identifier with a hierarchy: which leaves are new values. */
static kn_status new_leaves(kn_table_run *run, const bool ***out, kn_error *err)
{
    bool **leaves = kn_release_alloc(&run->all, &run->all.scratch, (size_t)run->quasi_count + 1, sizeof *leaves, err);
    if (!leaves) return KN_MEMORY;
    for (int q = 0; q < run->quasi_count; q++) {
        const kn_hierarchy *h = run->hierarchies[q];
        if (!run->new_values[q] || !h) continue;
        leaves[q] = kn_release_alloc(&run->all, &run->all.scratch, (size_t)h->leaves + 1, 1, err);
        if (!leaves[q]) return KN_MEMORY;
        for (uint32_t c = 0; c < h->codes; c++) leaves[q][h->leaf_of_code[c]] = run->new_values[q][c];
    }
    *out = (const bool **)leaves;
    return KN_OK;
}

/* No suppressed row would have to form a class? */
static bool keeps_suppressed(const kn_table_run *run)
{
    bool shown = run->all.spec->suppressed == KN_SUPPRESSED_KEEP_SENSITIVE && run->plan->suppressed > 0;
    return !shown;
}

static kn_status apply_cuts(kn_table_run *run, kn_error *err)
{
    kn_partition_problem problem;
    kn_partition_tree    tree = {0};
    const bool         **lacking = NULL;
    KN_TRY(kn_table_run_partition_problem(run, &problem, err));
    KN_TRY(new_leaves(run, &lacking, err));
    kn_status st = kn_table_run_find_cuts(run, &tree, err);
    if (st == KN_OK) st = kn_partition_apply(&run->plan, run->all.ctx, &problem, &tree, lacking, err);
    kn_free(tree.cuts);
    if (st != KN_OK) return st;
    return settle(run, keeps_suppressed(run), 0, err);
}

static kn_status apply_join(kn_table_run *run, kn_error *err)
{
    int64_t unknown = 0;
    KN_TRY(kn_table_run_apply_join(run, &unknown, err));
    return settle(run, keeps_suppressed(run), unknown, err);
}

kn_status kn_table_run_apply(kn_table_run *run, kn_error *err)
{
    kn_verdict verdict = {.good = true};
    run->result->head.complete = true;
    kn_recipe_kind kind = kn_recipe_kind_of(run->all.recipe->method);
    if (kind != KN_RECIPE_LEVELS) return kind == KN_RECIPE_CUTS ? apply_cuts(run, err) : apply_join(run, err);
    run->problem = kn_table_run_problem(run);
    KN_TRY(take_levels(run, err));
    KN_TRY(kn_table_run_judge(run, run->result->levels, &verdict, err));
    KN_TRY(kn_fulldomain_plan(&run->plan, run->all.ctx, &run->problem, run->result->levels, err));
    return settle(run, verdict.good, 0, err);
}
