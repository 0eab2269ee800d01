/* table/frontier.c: kn_frontier_find: the trade-off between k, suppressed rows and loss (kanon/frontier.h).
 *
 * The table is read and prepared as for a release; then the lattice is searched once (kn_frontier_search).
 * SPDX-License-Identifier: Apache-2.0
 */
#include <kanon/frontier.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_frontier.h"
#include "kn_table_run.h"

enum { MOST_KS = 10 };

typedef struct owned_frontier {
    kn_frontier frontier; /* first: this is what the caller gets */
    kn_arena    arena;
} owned_frontier;

const kn_frontier_point *kn_frontier_point_at(const kn_frontier *f, int64_t index)
{
    return index >= 0 && index < f->point_count ? &f->points[index] : NULL;
}

/* The requested k, then those of 2, 3, 5, 10, 20, 30, 50, 100, ... that are larger and at most the number of rows. */
static int make_ladder(int64_t *ks, const kn_spec *spec, int64_t rows)
{
    static const int steps[] = {1, 2, 3, 5};
    int              count = 0;
    int64_t          asked = 0;
    for (int i = 0; i < spec->model_count; i++)
        if (spec->models[i].kind == KN_MODEL_K && spec->models[i].k > asked) asked = spec->models[i].k;
    ks[count++] = asked > 0 ? asked : 2;
    for (int64_t ten = 1; count < MOST_KS && ten <= rows; ten *= 10)
        for (size_t i = 0; i < sizeof steps / sizeof *steps && count < MOST_KS; i++)
            if (steps[i] * ten > ks[count - 1] && steps[i] * ten <= rows) ks[count++] = steps[i] * ten;
    return count;
}

static kn_status fill_head(kn_table_run *run, kn_frontier *out, const int64_t *ks, int k_count, kn_error *err)
{
    const char **names = kn_release_alloc(&run->all, run->all.arena, (size_t)run->quasi_count, sizeof *names, err);
    int64_t     *copy = kn_release_alloc(&run->all, run->all.arena, (size_t)k_count, sizeof *copy, err);
    if (!names || !copy) return KN_MEMORY;
    memcpy(copy, ks, (size_t)k_count * sizeof *copy);
    for (int q = 0; q < run->quasi_count; q++)
        if (!(names[q] = kn_release_text(&run->all, run->quasi_names[q], err))) return KN_MEMORY;
    out->metric = run->all.spec->utility;
    out->rows = kn_table_total(run->table);
    out->budget = run->budget;
    out->quasi_count = run->quasi_count;
    out->quasi = names;
    out->ks = copy;
    out->k_count = k_count;
    return KN_OK;
}

static kn_status fill_points(kn_table_run *run, kn_frontier *out, const kn_frontier_result *found, kn_error *err)
{
    size_t             quasi = (size_t)run->quasi_count;
    kn_frontier_point *list = kn_release_alloc(&run->all, run->all.arena, (size_t)found->count, sizeof *list, err);
    if (!list) return KN_MEMORY;
    kn_objective objective = *run->objective;
    for (int64_t i = 0; i < found->count; i++) {
        const kn_frontier_item *item = &found->items[i];
        int                    *levels = kn_release_alloc(&run->all, run->all.arena, quasi, sizeof *levels, err);
        if (!levels) return KN_MEMORY;
        memcpy(levels, item->levels, quasi * sizeof *levels);
        objective.k = item->k;
        list[i] = (kn_frontier_point){item->k, item->suppressed, kn_objective_value(&objective, item->loss),
                                      item->classes, levels};
    }
    out->points = list;
    out->point_count = found->count;
    out->lattice = found->lattice;
    out->counted = found->counted;
    return KN_OK;
}

static kn_status look(kn_release_run *all, void *user, kn_error *err)
{
    kn_table_run       *run = kn_table_run_of(all);
    kn_frontier        *out = user;
    kn_frontier_result *found = NULL;
    int64_t             ks[MOST_KS];
    KN_TRY(kn_table_run_check_levels(run, "a frontier", err));
    KN_TRY(kn_table_run_prepare(run, err));
    KN_TRY(kn_table_run_warn_of_hierarchies(run, err));
    int k_count = make_ladder(ks, all->spec, kn_table_total(run->table));
    run->problem = kn_table_run_problem(run);
    KN_TRY(kn_frontier_search(&found, all->ctx, &run->problem, ks, k_count, err));
    kn_status st = fill_head(run, out, ks, k_count, err);
    if (st == KN_OK) st = fill_points(run, out, found, err);
    kn_frontier_result_free(found);
    out->notes = all->head->notes;
    out->note_count = all->head->note_count;
    out->dropped = all->head->dropped;
    out->dropped_count = all->head->dropped_count;
    return st;
}

kn_status kn_frontier_find(kn_frontier **out, kn_context *ctx, const kn_spec *spec, kn_error *err)
{
    *out = NULL;
    KN_SERVE(ctx, err);
    KN_TRY(kn_spec_check_one_table(spec, "levels are chosen for the columns of one table", err));
    owned_frontier *owned = kn_alloc_zero(ctx, sizeof *owned);
    if (!owned) return kn_fail_memory(err, ctx, "searching for the frontier");
    kn_arena_init(&owned->arena, ctx);
    kn_status st = kn_release_look(look, &owned->frontier, &owned->arena, &kn_table_shape, ctx, spec, err);
    if (st == KN_OK)
        *out = &owned->frontier;
    else
        kn_frontier_free(&owned->frontier);
    return st;
}

void kn_frontier_free(kn_frontier *frontier)
{
    if (!frontier) return;
    owned_frontier *owned = (owned_frontier *)frontier;
    kn_arena_free(&owned->arena);
    kn_free(owned);
}
