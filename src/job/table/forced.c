/* table/forced.c: which levels and suppressed rows a promise beyond k forced (kn_table_run_warn_of_force,
 * kn_table_run.h).
 *
 * Whoever knows the method knows that it stops at levels below which a promise fails (minimality: Wong et al.,
 * "Minimality attack in privacy preserving data publishing", VLDB 2007). Where k alone would still hold one level
 * below and another promise would not, or where k alone would show a row that is suppressed, some class breaks that
 * promise, and somebody who knows the quasi-identifiers may conclude whose. A note says for which columns and how
 * many rows. Levels that were asked for, or that a recipe has, say nothing, and neither do those of a method
 * (datafly) that may stop above the lowest ones. Persons are counted as the search counts them.
 *
 * Cost: the table grouped once, then one roll-up for each column above level 0, and the table grouped again for each
 * where k alone would hold; nothing if only class sizes are promised.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_error.h"
#include "kn_evaluate.h"
#include "kn_table_run.h"

typedef struct forcing {
    kn_table_run         *run;
    kn_fulldomain_problem problem; /* the run's, with promises of sizes alone */
    kn_requirements      *sizes;
    kn_evaluator         *evaluator;
    kn_classes           *lowest;
    int                  *levels;
} forcing;

/* k, and models equivalent to it: whoever knows how they decided learns how many rows look alike, but nothing about
 * them. */
static bool is_of_sizes(const kn_model *m)
{
    return m->kind == KN_MODEL_K || m->kind == KN_MODEL_MAX_RISK || m->kind == KN_MODEL_AVERAGE_RISK;
}

static kn_status prepare(forcing *f, kn_error *err)
{
    kn_table_run           *run = f->run;
    size_t                  count = (size_t)run->all.spec->model_count;
    kn_model               *models = kn_release_alloc(&run->all, &run->all.scratch, count + 1, sizeof *models, err);
    kn_requirements_options options = {.models = models, .entity = run->entity, .linked = run->linked};
    f->levels = kn_release_alloc(&run->all, &run->all.scratch, (size_t)run->quasi_count, sizeof *f->levels, err);
    if (!models || !f->levels) return KN_MEMORY;
    for (size_t i = 0; i < count; i++)
        if (is_of_sizes(&run->all.spec->models[i])) models[options.model_count++] = run->all.spec->models[i];
    models[options.model_count++] = (kn_model){.kind = KN_MODEL_K, .k = run->requirements->k}; /* that of alpha-k */
    KN_TRY(kn_requirements_make(&f->sizes, run->all.ctx, run->table, &options, err));
    f->problem = run->problem;
    f->problem.requirements = f->sizes;
    f->problem.population = NULL;
    KN_TRY(kn_evaluator_make(&f->evaluator, run->all.ctx, &f->problem, err));
    for (int q = 0; q < run->quasi_count; q++) f->levels[q] = run->result->levels[q] - (run->result->levels[q] > 0);
    KN_TRY(kn_classes_scan(&f->lowest, f->evaluator, KN_ALL_ATTRIBUTES, f->levels, err));
    for (int q = 0; q < run->quasi_count; q++) f->levels[q] = run->result->levels[q];
    return KN_OK;
}

/* What would k alone do at these levels? */
static kn_status judge(const forcing *f, kn_verdict *verdict, kn_error *err)
{
    kn_classes *classes = NULL;
    KN_TRY(kn_classes_rollup(&classes, f->evaluator, f->lowest, f->levels, err));
    kn_status st = kn_classes_judge(verdict, f->evaluator, classes, err);
    kn_classes_free(classes);
    return st;
}

static kn_status look_at_levels(forcing *f, kn_error *err)
{
    kn_table_run *run = f->run;
    kn_verdict    sizes, all = {.good = true};
    for (int q = 0; q < run->quasi_count && !run->all.recipe; q++) {
        if (f->levels[q] == (run->low ? run->low[q] : 0)) continue;
        f->levels[q]--;
        KN_TRY(judge(f, &sizes, err));
        if (sizes.good) KN_TRY(kn_table_run_judge(run, f->levels, &all, err));
        f->levels[q]++;
        if (sizes.good && !all.good)
            KN_TRY(kn_release_note(
                &run->all, err,
                "\"%s\" is at level %d because of a promise beyond k: k alone would hold at level %d, and whoever "
                "knows the method may conclude that somebody there would have been given away",
                run->quasi_names[q], f->levels[q], f->levels[q] - 1));
    }
    return KN_OK;
}

static kn_status look_at_rows(const forcing *f, kn_error *err)
{
    kn_verdict verdict;
    KN_TRY(judge(f, &verdict, err));
    int64_t forced = f->run->plan->suppressed - verdict.sums.suppressed;
    if (!verdict.good || forced <= 0 || f->run->unplaced > 0) return KN_OK;
    return kn_release_note(
        &f->run->all, err,
        "%lld %s suppressed because of a promise beyond k: k alone would show %s, and whoever knows the "
        "method and misses %s may conclude that %s would have been given away",
        (long long)forced, forced == 1 ? "row is" : "rows are", forced == 1 ? "it" : "them",
        forced == 1 ? "it" : "them", forced == 1 ? "it" : "they");
}

kn_status kn_table_run_warn_of_force(kn_table_run *run, kn_error *err)
{
    forcing f = {.run = run};
    bool    beyond = false;
    for (int i = 0; i < run->all.spec->model_count; i++) beyond |= !is_of_sizes(&run->all.spec->models[i]);
    if (!beyond || run->result->level_count != run->quasi_count) return KN_OK;
    kn_status st = prepare(&f, err);
    if (st == KN_OK) st = look_at_levels(&f, err);
    if (st == KN_OK) st = look_at_rows(&f, err);
    kn_classes_free(f.lowest);
    kn_evaluator_free(f.evaluator);
    kn_requirements_free(f.sizes);
    return st;
}
