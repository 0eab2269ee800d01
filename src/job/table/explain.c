/* table/explain.c: kn_explain: checks one choice of levels against every promise (kanon/explain.h).
 *
 * The table is read and prepared as for a release; then the one node is counted (kn_fulldomain_explain).
 * SPDX-License-Identifier: Apache-2.0
 */
#include <kanon/explain.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_table_run.h"

typedef struct owned_explanation {
    kn_explanation explanation; /* first: this is what the caller gets */
    kn_arena       arena;
} owned_explanation;

const kn_explained_promise *kn_explanation_promise_at(const kn_explanation *e, int index)
{
    return index >= 0 && index < e->promise_count ? &e->promises[index] : NULL;
}

static kn_status check_fixed(const kn_table_run *run, kn_error *err)
{
    for (int q = 0; q < run->quasi_count; q++)
        if (!run->low || run->low[q] != run->high[q])
            return kn_fail(err, KN_USAGE,
                           "column \"%s\" has no level to look at: give one for every quasi-identifier (--node 1,0,2)",
                           run->quasi_names[q]);
    return KN_OK;
}

/* ---- Promises ---- */

static kn_explained_promise average_promise(const kn_model *m, const kn_node_failures *f, bool linked)
{
    kn_explained_promise p = {.model = *m, .holds = f->average.rows == 0, .rows = f->average.rows};
    p.classes = linked && f->average.rows > 0 ? -1 : f->average.classes;
    p.worst = f->average.worst;
    return p;
}

static kn_status fill_promises(kn_table_run *run, kn_explanation *out, const kn_node_failures *f,
                               const kn_failures *models, kn_error *err)
{
    const kn_spec         *spec = run->all.spec;
    const kn_requirements *r = run->requirements;
    kn_explained_promise  *list =
        kn_release_alloc(&run->all, run->all.arena, (size_t)spec->model_count, sizeof *list, err);
    if (!list) return KN_MEMORY;
    for (int i = 0; i < spec->model_count; i++) {
        list[i] = average_promise(&spec->models[i], f, r->linked);
        for (int m = 0; m < r->model_count; m++)
            if (r->asked[m] == i)
                list[i] = (kn_explained_promise){spec->models[i], models[m].classes == 0, models[m].classes,
                                                 models[m].rows, models[m].worst};
        if (!spec->models[i].attribute) continue;
        list[i].model.attribute = kn_release_text(&run->all, spec->models[i].attribute, err);
        if (!list[i].model.attribute) return KN_MEMORY;
    }
    out->promises = list;
    out->promise_count = spec->model_count;
    return KN_OK;
}

/* ---- All of it ---- */

static kn_status fill_levels(kn_table_run *run, kn_explanation *out, kn_error *err)
{
    size_t       quasi = (size_t)run->quasi_count;
    int         *levels = kn_release_alloc(&run->all, run->all.arena, quasi, sizeof *levels, err);
    int         *heights = kn_release_alloc(&run->all, run->all.arena, quasi, sizeof *heights, err);
    const char **names = kn_release_alloc(&run->all, run->all.arena, quasi, sizeof *names, err);
    if (!levels || !heights || !names) return KN_MEMORY;
    for (int q = 0; q < run->quasi_count; q++) {
        levels[q] = run->low[q];
        heights[q] = kn_hierarchy_levels(run->hierarchies[q]) - 1;
        names[q] = kn_release_text(&run->all, run->quasi_names[q], err);
        if (!names[q]) return KN_MEMORY;
    }
    out->quasi_count = run->quasi_count;
    out->quasi = names;
    out->levels = levels;
    out->heights = heights;
    return KN_OK;
}

void kn_table_run_node_reason(const kn_table_run *run, const kn_node_failures *f, char *out, size_t size)
{
    if (!f->kept_fail)
        snprintf(out, size, "%lld rows have to be suppressed; at most %lld may be", (long long)f->suppressed,
                 (long long)run->budget);
    else if (run->requirements->absent_fails)
        snprintf(out, size, "of some people of the population it would be known that they are absent");
    else
        snprintf(out, size,
                 "the %lld suppressed rows, which show their sensitive values, do not keep every promise themselves",
                 (long long)f->suppressed);
}

static kn_status say_why(kn_table_run *run, kn_explanation *out, const kn_node_failures *f, kn_error *err)
{
    char why[300];
    if (f->good) return KN_OK;
    kn_table_run_node_reason(run, f, why, sizeof why);
    out->reason = kn_release_text(&run->all, why, err);
    return out->reason ? KN_OK : KN_MEMORY;
}

static kn_status look(kn_release_run *all, void *user, kn_error *err)
{
    kn_table_run    *run = kn_table_run_of(all);
    kn_explanation  *out = user;
    kn_node_failures f;
    KN_TRY(kn_table_run_check_levels(run, "levels", err));
    KN_TRY(kn_table_run_prepare(run, err));
    KN_TRY(kn_table_run_warn_of_hierarchies(run, err));
    KN_TRY(check_fixed(run, err));
    kn_failures *models =
        kn_release_alloc(all, &all->scratch, (size_t)run->requirements->model_count + 1, sizeof *models, err);
    if (!models) return KN_MEMORY;
    run->problem = kn_table_run_problem(run);
    KN_TRY(kn_fulldomain_explain(&f, models, all->ctx, &run->problem, run->low, err));
    out->holds = f.good;
    out->rows = kn_table_total(run->table);
    out->classes = f.classes;
    out->failing_classes = f.any.classes;
    out->failing_rows = f.any.rows;
    out->suppressed = f.suppressed;
    out->budget = run->budget;
    out->metric = all->spec->utility;
    out->loss = kn_objective_value(run->objective, f.loss);
    KN_TRY(fill_levels(run, out, err));
    KN_TRY(fill_promises(run, out, &f, models, err));
    KN_TRY(say_why(run, out, &f, err));
    out->notes = all->head->notes;
    out->note_count = all->head->note_count;
    out->dropped = all->head->dropped;
    out->dropped_count = all->head->dropped_count;
    return KN_OK;
}

kn_status kn_explain(kn_explanation **out, kn_context *ctx, const kn_spec *spec, kn_error *err)
{
    *out = NULL;
    KN_SERVE(ctx, err);
    KN_TRY(kn_spec_check_one_table(spec, "levels are chosen for the columns of one table", err));
    owned_explanation *owned = kn_alloc_zero(ctx, sizeof *owned);
    if (!owned) return kn_fail_memory(err, ctx, "explaining a choice of levels");
    kn_arena_init(&owned->arena, ctx);
    kn_status st = kn_release_look(look, &owned->explanation, &owned->arena, &kn_table_shape, ctx, spec, err);
    if (st == KN_OK)
        *out = &owned->explanation;
    else
        kn_explanation_free(&owned->explanation);
    return st;
}

void kn_explanation_free(kn_explanation *explanation)
{
    if (!explanation) return;
    owned_explanation *owned = (owned_explanation *)explanation;
    kn_arena_free(&owned->arena);
    kn_free(owned);
}
