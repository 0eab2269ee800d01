/* kn_fulldomain_explain.c: what fails at one node: each promise alone, all promises together, and what must be
 * suppressed.
 *
 * The classes are counted and judged as in the search; then each promise is checked again on every class. Cost: one
 * grouping of the rows, and one check per class and promise.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>

#include "kn_alloc.h"
#include "kn_classes.h"
#include "kn_error.h"

#define WHAT "explaining a choice of levels"

typedef struct explaining {
    const kn_requirements  *requirements;
    kn_requirements_scratch scratch;
    kn_node_failures       *all;
    kn_failures            *models;
    int64_t                *last;               /* per model, and then of any: the unit that failed last */
    int64_t                 unit;               /* the last one                                          */
    int64_t                 held, held_persons; /* classes that hold                       */
    int64_t                 persons;            /* of the unit                             */
} explaining;

static void add(kn_failures *f, int64_t *last, int64_t unit, int64_t rows)
{
    if (*last == unit) return;
    *last = unit;
    f->classes++;
    f->rows += rows;
}

static void end_unit(explaining *x)
{
    if (x->unit < 0 || x->last[x->requirements->model_count] == x->unit) return;
    x->held++;
    x->held_persons += x->persons;
}

static void ask(void *arg, const kn_class_view *view, int64_t unit, int64_t rows, kn_u128 cost)
{
    (void)cost;
    explaining            *x = arg;
    const kn_requirements *r = x->requirements;
    if (unit != x->unit) {
        end_unit(x);
        x->all->classes++;
    }
    x->unit = unit;
    x->persons = view->persons;
    for (int i = 0; i < r->model_count; i++) {
        double reached = kn_requirements_reached(r, i, view, &x->scratch), *worst = &x->models[i].worst;
        bool   larger = kn_model_larger_is_stronger(r->models[i].kind);
        if (isnan(*worst) || (larger ? reached < *worst : reached > *worst)) *worst = reached;
        if (kn_requirements_holds_one(r, i, view, &x->scratch)) continue;
        add(&x->models[i], &x->last[i], unit, rows);
        add(&x->all->any, &x->last[r->model_count], unit, rows);
    }
}

static kn_status explain(kn_node_failures *out, explaining *x, kn_evaluator *e, const kn_classes *set, kn_error *err)
{
    const kn_fulldomain_problem *p = e->problem;
    kn_verdict                   verdict;
    KN_TRY(p->requirements->linked ? kn_classes_decide_linked(&verdict, NULL, NULL, e, set, err)
                                   : kn_classes_decide(&verdict, NULL, NULL, e, set, err));
    KN_TRY(kn_classes_each(e, set, ask, x, err));
    end_unit(x);
    out->good = verdict.good;
    out->kept_fail = !verdict.good && verdict.sums.suppressed <= p->budget;
    out->suppressed = verdict.sums.suppressed;
    out->average.rows = verdict.average_suppressed;
    if (!p->requirements->linked) out->average.classes = x->held - verdict.sums.classes;
    if (p->requirements->has_average && x->held_persons > 0)
        out->average.worst = (double)x->held / (double)x->held_persons;
    out->loss = kn_objective_loss(p->objective, &verdict.sums);
    return KN_OK;
}

static kn_status make_room(explaining *x, kn_context *ctx, kn_error *err)
{
    int count = x->requirements->model_count;
    if (!KN_ALLOC(ctx, x->last, (size_t)count + 1)) return kn_fail_memory(err, ctx, WHAT);
    for (int i = 0; i <= count; i++) x->last[i] = -1;
    for (int i = 0; i < count; i++) x->models[i] = (kn_failures){.worst = NAN};
    return kn_requirements_scratch_make(&x->scratch, x->requirements, err);
}

kn_status kn_fulldomain_explain(kn_node_failures *out, kn_failures *models, kn_context *ctx,
                                const kn_fulldomain_problem *problem, const int *levels, kn_error *err)
{
    kn_evaluator *e = NULL;
    kn_classes   *set = NULL;
    explaining    x = {.requirements = problem->requirements, .all = out, .models = models, .unit = -1};
    *out = (kn_node_failures){.any = {.worst = NAN}, .average = {.worst = NAN}};
    for (int q = 0; q < problem->quasi_count; q++)
        if (levels[q] < 0 || levels[q] >= kn_hierarchy_levels(problem->hierarchies[q]))
            return kn_fail(err, KN_USAGE, "column \"%s\" has no level %d",
                           kn_table_name(problem->table, problem->quasi[q]), levels[q]);
    kn_status st = make_room(&x, ctx, err);
    if (st == KN_OK) st = kn_evaluator_make(&e, ctx, problem, err);
    if (st == KN_OK) st = kn_classes_scan_sorted(&set, e, KN_ALL_ATTRIBUTES, levels, err);
    if (st == KN_OK) st = explain(out, &x, e, set, err);
    kn_classes_free(set);
    kn_evaluator_free(e);
    kn_requirements_scratch_free(&x.scratch);
    kn_free(x.last);
    return st;
}
