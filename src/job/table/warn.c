/* table/warn.c: notes on what a release does not promise although its owner may think so.
 *
 * kn_table_run_warn_of_table, of the table that was read: rows in their order; missing cells; sensitive columns of free text
 * (what of a kept column is refused, kn_kept.h). kn_table_run_warn, of the plan: rows that the kept
 * columns identify if they are known too; sensitive columns without a promise, if a whole class has one value;
 * columns of which nothing is left because they have no hierarchy.
 *
 * Cost: one group-by over the class and the kept columns, and 4 bytes per row for it; one pass per sensitive column
 * without a promise, 5 bytes per class.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_freq.h"
#include "kn_job_texts.h"
#include "kn_table_run.h"

enum {
    WORTH_LEVELS = 5,   /* values of a column above which a hierarchy may help   */
    FEW_VALUES = 10,    /* with fewer cells nothing looks like free text         */
    MANY_ROWS = 1000000 /* more than this a verifier may not be able to match without a map    */
};

static const char warning[] = "looking for what a release gives away";

/* ---- The table ---- */

static kn_status warn_of_texts(kn_table_run *run, kn_error *err)
{
    const kn_spec *spec = run->all.spec;
    for (int i = 0; i < spec->attribute_count; i++) {
        const kn_attribute *a = &spec->attributes[i];
        if (a->role != KN_ROLE_SENSITIVE) continue;
        const kn_column *c = &run->table->columns[kn_table_find(run->table, a->name)];
        int64_t          present = kn_table_total(run->table) - c->missing;
        if (c->type != KN_TYPE_TEXT || present < FEW_VALUES || 2 * (int64_t)c->dict.count <= present) continue;
        KN_TRY(kn_release_note(
            &run->all, err,
            "column \"%s\" is published as it is, and so many different texts look like free text, which "
            "may name people",
            a->name));
    }
    return KN_OK;
}

/* The class in which a row is visible, with keep-sensitive also that of the suppressed rows; -1: none. */
static int64_t shown_class(const kn_table_run *run, int64_t row)
{
    uint32_t c = run->plan->class_of_row[row];
    if (c != KN_CLASS_SUPPRESSED) return c;
    return run->all.spec->suppressed == KN_SUPPRESSED_KEEP_SENSITIVE ? (int64_t)run->plan->classes : -1;
}

/* ---- Kept columns ---- */

/* Published unchanged, without a promise about it. */
static bool is_kept(const kn_attribute *a)
{
    return a->role == KN_ROLE_KEEP || a->role == KN_ROLE_WEIGHT;
}

/* A table of the classes and the kept columns, which are borrowed. Its codes and columns are freed by the caller. */
static kn_status open_kept(kn_table *view, int **numbers, kn_table_run *run, kn_error *err)
{
    const kn_spec *spec = run->all.spec;
    size_t         most = (size_t)spec->attribute_count + 1;
    *view = (kn_table){.ctx = run->all.ctx,
                       .rows = run->plan->rows,
                       .counts = run->table->counts,
                       .total = run->table->total,
                       .column_count = 1};
    view->columns = kn_alloc_array_zero(run->all.ctx, most, sizeof *view->columns);
    *numbers = kn_alloc_array_zero(run->all.ctx, most, sizeof **numbers);
    uint32_t *codes = kn_alloc_array(run->all.ctx, (size_t)view->rows + 1, sizeof *codes);
    if (!view->columns || !*numbers || !codes) {
        kn_free(codes);
        return kn_fail_memory(err, run->all.ctx, warning);
    }
    for (int64_t row = 0; row < view->rows; row++) {
        int64_t c = shown_class(run, row);
        codes[row] = c < 0 ? run->plan->classes : (uint32_t)c;
    }
    view->columns[0] = (kn_column){.width = 4, .codes = codes, .dict.count = run->plan->classes + 1};
    for (int i = 0; i < spec->attribute_count; i++) {
        if (!is_kept(&spec->attributes[i])) continue;
        view->columns[view->column_count] = run->table->columns[kn_table_find(run->table, spec->attributes[i].name)];
        (*numbers)[view->column_count] = view->column_count;
        view->column_count++;
    }
    return KN_OK;
}

/* Rows that are unique in the released quasi-identifiers and the kept columns. */
static kn_status rows_alone(int64_t *alone, kn_table_run *run, const kn_table *view, const int *numbers, kn_error *err)
{
    kn_freq *freq = NULL;
    bool     all = run->all.spec->suppressed == KN_SUPPRESSED_KEEP_SENSITIVE;
    KN_TRY(kn_freq_of_table(&freq, run->all.ctx, view, numbers, view->column_count, err));
    for (int64_t c = 0; c < freq->classes; c++)
        *alone += freq->counts[c] == 1 && (all || kn_freq_code(freq, c, 0) < run->plan->classes);
    kn_freq_free(freq);
    return KN_OK;
}

static bool has_kept(const kn_spec *spec)
{
    bool found = false;
    for (int i = 0; i < spec->attribute_count; i++) found |= is_kept(&spec->attributes[i]);
    return found;
}

static kn_status count_alone(int64_t *alone, kn_table_run *run, kn_error *err)
{
    kn_table  view;
    int      *numbers = NULL;
    kn_status st = open_kept(&view, &numbers, run, err);
    if (st == KN_OK) st = rows_alone(alone, run, &view, numbers, err);
    if (view.columns) kn_free(view.columns[0].codes);
    kn_free(view.columns);
    kn_free(numbers);
    return st;
}

static kn_status warn_of_kept(kn_table_run *run, kn_error *err)
{
    int64_t alone = 0, rows = kn_table_total(run->table);
    if (!has_kept(run->all.spec)) return KN_OK;
    kn_status st = run->carried ? kn_table_run_carried_alone(&alone, run, err) : count_alone(&alone, run, err);
    if (st != KN_OK || alone == 0) return st;
    return kn_release_note(&run->all, err,
                           "no promise covers the kept columns: of %lld %s %lld %s alone for whoever knows these, too; "
                           "what others may know is a quasi-identifier",
                           (long long)rows, rows == 1 ? "row" : "rows", (long long)alone,
                           alone == 1 ? "stands" : "stand");
}

/* ---- Sensitive columns ---- */

static bool promised(const kn_spec *spec, const char *attribute)
{
    for (int m = 0; m < spec->model_count; m++)
        if (spec->models[m].attribute && strcmp(spec->models[m].attribute, attribute) == 0) return true;
    return false;
}

static kn_status warn_of_missing(kn_table_run *run, kn_error *err)
{
    const kn_spec *spec = run->all.spec;
    for (int i = 0; i < spec->attribute_count; i++) {
        const kn_attribute *a = &spec->attributes[i];
        if (a->role != KN_ROLE_SENSITIVE || !promised(spec, a->name)) continue;
        const kn_column *c = &run->table->columns[kn_table_find(run->table, a->name)];
        if (c->missing == 0) continue;
        KN_TRY(kn_release_note(&run->all, err,
                               "column \"%s\": %lld missing cells count as one more value in what is promised of it",
                               a->name, (long long)c->missing));
    }
    return KN_OK;
}

/* Rows in classes that all have the same value; a class with a missing cell is none. `first` and `mixed` have one entry
 * per class, and one for the suppressed rows. */
static int64_t rows_alike(const kn_table_run *run, const kn_column *column, uint32_t *first, uint8_t *mixed)
{
    int64_t rows = 0;
    for (int64_t c = 0; c <= run->plan->classes; c++) first[c] = UINT32_MAX;
    memset(mixed, 0, (size_t)run->plan->classes + 1);
    for (int64_t row = 0; row < run->plan->rows; row++) {
        int64_t  c = shown_class(run, row);
        uint32_t code = kn_column_code(column, row);
        if (c < 0) continue;
        if (first[c] == UINT32_MAX) first[c] = code;
        mixed[c] |= first[c] != code || code == column->dict.count;
    }
    for (int64_t row = 0; row < run->plan->rows; row++) {
        int64_t c = shown_class(run, row);
        if (c >= 0 && !mixed[c]) rows += kn_table_weight(run->table, row);
    }
    return rows;
}

static kn_status warn_of_sensitive(kn_table_run *run, uint32_t *first, uint8_t *mixed, kn_error *err)
{
    const kn_spec *spec = run->all.spec;
    for (int i = 0; i < spec->attribute_count; i++) {
        const kn_attribute *a = &spec->attributes[i];
        if (a->role != KN_ROLE_SENSITIVE || promised(spec, a->name)) continue;
        int64_t rows = rows_alike(run, &run->table->columns[kn_table_find(run->table, a->name)], first, mixed);
        if (rows == 0) continue;
        KN_TRY(kn_release_note(&run->all, err,
                               "column \"%s\": %lld %s value away, since all who look alike have the same; "
                               "l-diversity would not allow it",
                               a->name, (long long)rows, rows == 1 ? "row gives its" : "rows give their"));
    }
    return KN_OK;
}

/* ---- Without a hierarchy ---- */

kn_status kn_table_run_warn_of_hierarchies(kn_table_run *run, kn_error *err)
{
    for (int q = 0; q < run->quasi_count; q++)
        if (kn_table_run_by_type(run, q) && run->rules[q].kind != KN_HIERARCHY_SUPPRESS)
            KN_TRY(kn_release_say_by_type(&run->all, run->quasi_names[q], &run->rules[q],
                                          run->table->columns[run->quasi[q]].type, err));
    if (!run->population || !run->population->apart) return KN_OK;
    return kn_release_note(&run->all, err,
                           "k-map is counted from below: the hierarchies' populations say how many people have each "
                           "value, not how many have them together; a class has at least so many");
}

/* Users who give no hierarchy may not know that a text then is the value or *. */
static kn_status warn_of_levels(kn_table_run *run, kn_error *err)
{
    for (int q = 0; run->result->levels && q < run->quasi_count; q++) {
        if (!kn_table_run_by_type(run, q) || run->rules[q].kind != KN_HIERARCHY_SUPPRESS) continue;
        if (run->result->levels[q] == 0) continue;
        if (run->table->columns[run->quasi[q]].dict.count < WORTH_LEVELS) continue;
        KN_TRY(kn_release_note(
            &run->all, err,
            "column \"%s\" is * in every row, since it has no hierarchy; --hierarchy gives it levels, and "
            "the mondrian methods need none",
            run->quasi_names[q]));
    }
    return KN_OK;
}

/* Nobody named a method, and a hierarchy is lacking: what was done instead of all or nothing. */
static kn_status say_what_was_tried(kn_table_run *run, kn_error *err)
{
    const kn_spec *spec = run->all.spec;
    const char    *first = NULL;
    int            many = 0;
    for (int i = 0; i < spec->attribute_count; i++) {
        if (spec->attributes[i].role != KN_ROLE_QUASI || spec->attributes[i].has_hierarchy) continue;
        if (!first) first = spec->attributes[i].name;
        many++;
    }
    if (!spec->method_unasked || !first) return KN_OK;
    return kn_release_note(
        &run->all, err,
        "column \"%s\"%s no hierarchy: the methods that fit were tried (--method auto), since some need "
        "none; kanon init writes hierarchies",
        first, many > 1 ? " and others have" : " has");
}

/* ---- The notes ---- */

kn_status kn_table_run_warn_of_table(kn_table_run *run, kn_error *err)
{
    run->result->missing_cells = run->missing_cells;
    if (run->all.spec->keep_order)
        KN_TRY(kn_release_note(&run->all, err, "the rows keep their order, which may reveal whose they are"));
    if (run->all.spec->input_order)
        KN_TRY(
            kn_release_note(&run->all, err,
                            "which of equal rows rise follows from the order of the input (row-order: input); whoever "
                            "knows that order may conclude whose they are"));
    if (run->missing_cells > 0)
        KN_TRY(kn_release_note(&run->all, err, "%lld %s of the quasi-identifiers %s missing (missing: %s)",
                               (long long)run->missing_cells, run->missing_cells == 1 ? "cell" : "cells",
                               run->missing_cells == 1 ? "is" : "are", kn_missing_name(run->all.spec->missing)));
    bool asked = run->budget > 0 || run->all.spec->suppressed != KN_SUPPRESSED_STAR;
    bool cuts = kn_method_family(run->all.spec->method) == KN_FAMILY_PARTITION && !run->all.spec->method_auto;
    if (asked && cuts && !run->all.recipe) /* by a recipe they may */
        KN_TRY(kn_release_note(&run->all, err, "method %s suppresses no row, however many may be",
                               kn_method_name(run->all.spec->method)));
    KN_TRY(warn_of_missing(run, err));
    return warn_of_texts(run, err);
}

static kn_status warn_of_classes(kn_table_run *run, kn_error *err)
{
    uint32_t *first = kn_alloc_array(run->all.ctx, (size_t)run->plan->classes + 1, sizeof *first);
    uint8_t  *mixed = kn_alloc_array(run->all.ctx, (size_t)run->plan->classes + 1, sizeof *mixed);
    kn_status st = KN_OK;
    if (!first || !mixed)
        st = kn_fail_memory(err, run->all.ctx, warning);
    else
        st = warn_of_sensitive(run, first, mixed, err);
    kn_free(first);
    kn_free(mixed);
    if (st == KN_OK) st = warn_of_kept(run, err);
    if (st == KN_OK && !kn_table_run_full_domain(run) && run->plan->rows > MANY_ROWS && !run->table->counts &&
        !run->all.spec->keep_rowmap)
        st = kn_release_note(&run->all, err, KN_JOB_MAP_NEEDED("of this size"));
    if (st == KN_OK) st = kn_table_run_warn_of_hierarchies(run, err);
    return st == KN_OK ? warn_of_levels(run, err) : st;
}

kn_status kn_table_run_warn(kn_release_run *all, kn_error *err)
{
    KN_TRY(say_what_was_tried(kn_table_run_of(all), err));
    KN_TRY(kn_table_run_items(kn_table_run_of(all), err));
    KN_TRY(warn_of_classes(kn_table_run_of(all), err));
    return kn_table_run_warn_of_force(kn_table_run_of(all), err);
}
