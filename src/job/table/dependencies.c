/* table/dependencies.c: the dependencies that a release file declares: read, checked on the original, kept.
 *
 * A dependency must hold in the original, or the run ends with the number of rows that violate it (unless broken ones
 * are allowed). K-MSD-AG keeps those among quasi-identifiers. Full-domain methods keep them by raising the right
 * sides' levels, one level of one attribute at a time, until they hold: at the top they do. A dependency that any
 * other method breaks is refused, or reported if that is allowed. Only what a reader sees counts: equal texts are
 * equal values, suppressed rows show nothing.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_nearest.h"
#include "kn_released.h"
#include "kn_table_run.h"

/* ---- Reading ---- */

/* Names the place: the field of the release file, or the flag. */
static kn_status about(const kn_table_run *run, int i, kn_status status, kn_error *err)
{
    char why[sizeof err->message];
    if (!err || (status != KN_INPUT && status != KN_USAGE)) return status;
    memcpy(why, err->message, sizeof why);
    return kn_fail(err, status, "dependency %d (%s): %s", i + 1, run->all.spec->dependencies[i], why);
}

static kn_status no_column(const kn_table_run *run, const char *name, kn_error *err)
{
    kn_nearest near = {.text = name};
    for (int i = 0; i < run->all.spec->attribute_count; i++) kn_nearest_try(&near, run->all.spec->attributes[i].name);
    return kn_fail(err, KN_INPUT, "there is no declared column \"%s\"%s%s%s", name, KN_MEANT(near));
}

static kn_status check_names(const kn_table_run *run, const char *const *names, int count, kn_error *err)
{
    for (int i = 0; i < count; i++) {
        int index = kn_spec_find(run->all.spec, names[i]);
        if (index >= 0 && run->all.spec->attributes[index].role == KN_ROLE_IDENTIFIER)
            return kn_fail(err, KN_INPUT, "the column \"%s\" is an identifier and not released", names[i]);
        if (index < 0 || kn_table_find(run->table, names[i]) < 0) return no_column(run, names[i], err);
    }
    return KN_OK;
}

static kn_status check_original(kn_table_run *run, int i, kn_error *err)
{
    kn_dependency_check  found;
    const kn_dependency *d = run->dependencies[i];
    if (d->kind == KN_DEPENDENCY_MULTISET) return KN_OK; /* what the release must reach, not what the original has */
    KN_TRY(kn_dependency_check_table(&found, run->all.ctx, run->table, d, err));
    if (found.holds || run->all.spec->allow_broken) return KN_OK;
    return kn_fail(
        err, KN_INPUT, "it does not hold in the original: %lld rows in %lld group%s violate it; allow-broken goes on",
        (long long)found.violating_rows, (long long)found.violating_groups, found.violating_groups == 1 ? "" : "s");
}

kn_status kn_table_run_dependencies(kn_table_run *run, kn_error *err)
{
    const kn_spec *spec = run->all.spec;
    run->dependencies =
        kn_release_alloc(&run->all, &run->all.scratch, (size_t)spec->dependency_count, sizeof *run->dependencies, err);
    if (!run->dependencies) return KN_MEMORY;
    for (int i = 0; i < spec->dependency_count; i++) {
        kn_status            st = kn_dependency_parse(&run->dependencies[i], run->all.ctx, spec->dependencies[i], err);
        const kn_dependency *d = run->dependencies[i];
        if (st == KN_OK) st = check_names(run, d->left, d->left_count, err);
        if (st == KN_OK) st = check_names(run, d->right, d->right_count, err);
        if (st == KN_OK) st = check_original(run, i, err);
        if (st != KN_OK) return about(run, i, st, err);
    }
    return KN_OK;
}

/* ---- Among quasi-identifiers ---- */

static bool side_of(const kn_table_run *run, const char *const *names, int count, uint64_t *out)
{
    *out = 0;
    for (int i = 0; i < count; i++) {
        int q = 0;
        while (q < run->quasi_count && strcmp(run->quasi_names[q], names[i]) != 0) q++;
        if (q == run->quasi_count || q >= 64) return false;
        *out |= (uint64_t)1 << q;
    }
    return true;
}

kn_status kn_table_run_associations(kn_table_run *run, kn_association *out, int *count, kn_error *err)
{
    *count = 0;
    for (int i = 0; i < run->all.spec->dependency_count; i++) {
        const kn_dependency *d = run->dependencies[i];
        kn_association       a;
        if (d->kind == KN_DEPENDENCY_MULTISET) continue;
        bool left = side_of(run, d->left, d->left_count, &a.left),
             right = side_of(run, d->right, d->right_count, &a.right);
        if (left && right)
            out[(*count)++] = a;
        else if ((left || right) && !run->all.spec->allow_broken) {
            (void)kn_fail(err, KN_USAGE,
                          "kmsd-ag keeps dependencies among quasi-identifiers; this one also names a column that is "
                          "published as it is; allow-broken goes on");
            return about(run, i, KN_USAGE, err);
        }
    }
    return KN_OK;
}

/* ---- In the release ---- */

/* The release as a table: per released column the rank of each row's text. Suppressed rows are left out. */
typedef struct view {
    kn_table   table;
    kn_column *columns;
} view;

static void close_view(view *v)
{
    for (int i = 0; v->columns && i < v->table.column_count; i++) kn_free(v->columns[i].codes);
    kn_free(v->table.counts);
    kn_free(v->columns);
}

static kn_status fill_column(kn_table_run *run, const kn_released_texts *t, kn_column *column, int c, kn_error *err)
{
    const kn_plan *plan = run->plan;
    uint32_t      *codes = kn_alloc_array(run->all.ctx, (size_t)plan->rows + 1, sizeof *codes);
    int64_t        n = 0;
    if (!codes) return kn_fail_memory(err, run->all.ctx, "checking dependencies");
    *column = (kn_column){.name = run->table->columns[run->columns[c].column].name, .type = KN_TYPE_TEXT, .width = 4};
    column->codes = codes;
    column->dict.count = t->distinct;
    for (int64_t row = 0; row < plan->rows; row++) {
        uint32_t class_index = plan->class_of_row[row];
        if (class_index == KN_CLASS_SUPPRESSED) continue;
        uint32_t id = t->kind == KN_RELEASED_QUASI ? t->ids_of_classes[class_index] : kn_column_code(t->column, row);
        codes[n++] = kn_released_rank(t, id);
    }
    return KN_OK;
}

/* The rows that are left, and what they stand for. */
static kn_status count_view(view *v, const kn_table_run *run, kn_error *err)
{
    const kn_plan *plan = run->plan;
    if (run->table->counts) v->table.counts = kn_alloc_array(run->all.ctx, (size_t)plan->rows + 1, sizeof(int64_t));
    if (run->table->counts && !v->table.counts) return kn_fail_memory(err, run->all.ctx, "checking dependencies");
    for (int64_t row = 0; row < plan->rows; row++) {
        if (plan->class_of_row[row] == KN_CLASS_SUPPRESSED) continue;
        if (v->table.counts) v->table.counts[v->table.rows] = run->table->counts[row];
        v->table.total += kn_table_weight(run->table, row);
        v->table.rows++;
    }
    return KN_OK;
}

static kn_status open_view(view *v, kn_table_run *run, kn_error *err)
{
    kn_recode_input input = kn_table_run_recode_input(run);
    kn_released    *released = NULL;
    *v = (view){.table = {.ctx = run->all.ctx}};
    KN_TRY(count_view(v, run, err));
    KN_TRY(kn_released_make(&released, run->all.ctx, &input, err));
    v->columns = kn_alloc_array_zero(run->all.ctx, (size_t)run->column_count + 1, sizeof *v->columns);
    kn_status st = v->columns ? KN_OK : kn_fail_memory(err, run->all.ctx, "checking dependencies");
    v->table.columns = v->columns;
    for (int c = 0; st == KN_OK && c < run->column_count; c++) {
        v->table.column_count = c + 1;
        st = fill_column(run, &released->columns[c], &v->columns[c], c, err);
    }
    kn_released_free(released);
    return st;
}

/* The first dependency that the plan breaks, or -1; `groups`: how many violate it. */
static kn_status first_broken(kn_table_run *run, int *out, int64_t *groups, kn_error *err)
{
    view      v;
    kn_status st = open_view(&v, run, err);
    *out = -1;
    for (int i = 0; st == KN_OK && *out < 0 && i < run->all.spec->dependency_count; i++) {
        kn_dependency_check found;
        st = kn_dependency_check_table(&found, run->all.ctx, &v.table, run->dependencies[i], err);
        if (st != KN_OK || found.holds) continue;
        *out = i;
        *groups = found.violating_groups;
    }
    close_view(&v);
    return st;
}

/* The quasi-identifier of the right side whose next level is nearest to its top; -1: all are there. */
static int next_to_raise(const kn_table_run *run, const kn_dependency *d, const int *levels)
{
    int best = -1, best_left = 0;
    for (int i = 0; i < d->right_count; i++)
        for (int q = 0; q < run->quasi_count; q++) {
            int left = (int)run->hierarchies[q]->height - levels[q];
            if (strcmp(run->quasi_names[q], d->right[i]) != 0 || left == 0) continue;
            if (best < 0 || left > best_left) {
                best = q;
                best_left = left;
            }
        }
    return best;
}

static kn_status raise_levels(kn_table_run *run, const kn_dependency *d, bool *raised, kn_error *err)
{
    int *levels = kn_release_alloc(&run->all, run->all.arena, (size_t)run->quasi_count, sizeof *levels, err);
    if (!levels) return KN_MEMORY;
    memcpy(levels, run->result->levels, (size_t)run->quasi_count * sizeof *levels);
    int q = next_to_raise(run, d, levels);
    *raised = q >= 0;
    if (q < 0) return KN_OK;
    levels[q]++;
    run->result->levels = levels;
    run->result->optimal = false;
    kn_plan_free(run->plan);
    run->plan = NULL;
    return kn_fulldomain_plan(&run->plan, run->all.ctx, &run->problem, levels, err);
}

kn_status kn_table_run_keep_dependencies(kn_table_run *run, kn_error *err)
{
    int64_t groups = 0;
    int     broken = -1;
    bool    raised = true, any = false;
    if (run->all.spec->dependency_count == 0 || !run->result->head.found) return KN_OK;
    KN_TRY(first_broken(run, &broken, &groups, err));
    while (broken >= 0 && raised && kn_table_run_full_domain(run) && !run->all.spec->allow_broken) {
        KN_TRY(raise_levels(run, run->dependencies[broken], &raised, err));
        any |= raised;
        if (raised) KN_TRY(first_broken(run, &broken, &groups, err));
    }
    if (any)
        KN_TRY(kn_release_note(&run->all, err,
                               "levels were raised beyond what the promises need, to keep the dependencies"));
    if (broken < 0 && run->plan->suppressed <= run->budget) return KN_OK;
    if (run->all.spec->allow_broken)
        return kn_release_note(&run->all, err, "the release breaks the dependency %s in %lld group%s of rows",
                               run->dependencies[broken]->text, (long long)groups, groups == 1 ? "" : "s");
    char why[1000];
    if (broken >= 0)
        snprintf(why, sizeof why,
                 "the release would break the dependency %s in %lld group%s of rows; method kmsd-ag keeps dependencies "
                 "among "
                 "quasi-identifiers, allow-broken goes on",
                 run->dependencies[broken]->text, (long long)groups, groups == 1 ? "" : "s");
    else
        snprintf(why, sizeof why, "keeping the dependencies would suppress more rows than may be");
    run->result->head.found = false;
    return kn_release_none(&run->all, why, err);
}
