/* kn_relational.c: the entry point of the methods on databases: checks the options, fixes the order of persons, runs
 * one of the two implementations and makes the plan.
 *
 * The forest's order depends on values alone, so the order of persons does, with a seed too: it shuffles that order.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_relational.h"

#include <kanon/catalogue.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_model.h"
#include "kn_relational_internal.h"
#include "kn_rng.h"

static kn_status check_promise(const kn_relational_promise *p, const kn_database *db, kn_error *err)
{
    if (p->table < 0 || p->table >= db->table_count || p->column < 0 ||
        p->column >= db->tables[p->table].table->column_count)
        return kn_fail(err, KN_USAGE, "dmiracle: a promise names a column that does not exist");
    if (p->model.kind < KN_MODEL_DISTINCT || p->model.kind > KN_MODEL_DELTA)
        return kn_fail(err, KN_USAGE, "dmiracle: %s is no promise about the values of a sensitive column",
                       kn_model_name(p->model.kind));
    if (p->model.kind == KN_MODEL_T_HIERARCHICAL && !db->tables[p->table].columns[p->column].hierarchy)
        return kn_fail(err, KN_USAGE, "dmiracle: the hierarchical distance needs a hierarchy of the sensitive column");
    return kn_model_check(&p->model, err);
}

static kn_status check(const kn_relational_problem *p, kn_error *err)
{
    const char *name = kn_method_name(p->method);
    if (p->method < KN_METHOD_MIRACLE || p->method > KN_METHOD_DMIRACLE)
        return kn_fail(err, KN_USAGE, "%s does not cluster the persons of a database", name);
    if (p->k < 1) return kn_fail(err, KN_USAGE, "%s: k must be at least 1", name);
    if (p->climit < 1) return kn_fail(err, KN_USAGE, "%s: climit must be at least 1", name);
    if (p->threshold.denominator == 0) return kn_fail(err, KN_USAGE, "%s: the threshold must be a number", name);
    if (p->method == KN_METHOD_MIRACLE_X_LEVEL && p->matching == KN_MATCHING_EXACT)
        return kn_fail(err, KN_USAGE, "%s has its own matching and cannot use the exact one", name);
    if (p->method != KN_METHOD_DMIRACLE && p->promise_count > 0)
        return kn_fail(err, KN_USAGE, "%s promises only k; use dmiracle for sensitive values", name);
    if (p->method == KN_METHOD_DMIRACLE && p->promise_count == 0)
        return kn_fail(err, KN_USAGE, "dmiracle needs a promise about sensitive values");
    if (p->repair == KN_DIVERSITY_DISTANCE && p->promise_count > 0 && p->clustering != KN_CLUSTERING_CDGH)
        return kn_fail(err, KN_USAGE, "dmiracle: diversity distance is for clustering cdgh, not %s",
                       kn_clustering_name(p->clustering));
    for (int i = 0; i < p->promise_count; i++) {
        KN_TRY(check_promise(&p->promises[i], p->forest->db, err));
        if (p->repair == KN_DIVERSITY_DISTANCE && kn_promise_compares(p->promises[i].model.kind))
            return kn_fail(err, KN_USAGE,
                           "dmiracle: %s compares a class with the whole table, so that no two persons are too alike "
                           "for it (diversity: distance)",
                           kn_model_name(p->promises[i].model.kind));
    }
    if (p->forest->entities > (int64_t)UINT32_MAX - 1)
        return kn_fail(err, KN_INPUT, "%s: more than 2^32 - 2 persons", name);
    return KN_OK;
}

uint32_t *kn_person_order(kn_context *ctx, int64_t entities, uint64_t seed)
{
    uint32_t *order = kn_alloc_array(ctx, entities ? (size_t)entities : 1, sizeof *order);
    if (!order) return NULL;
    for (int64_t i = 0; i < entities; i++) order[i] = (uint32_t)i;
    if (seed == 0) return order;
    kn_rng rng;
    kn_rng_init(&rng, seed, 0);
    for (int64_t i = entities - 1; i > 0; i--) {
        int64_t  j = (int64_t)kn_rng_below(&rng, (uint64_t)i + 1);
        uint32_t swap = order[i];
        order[i] = order[j];
        order[j] = swap;
    }
    return order;
}

/* M13. With `distance` a cluster must not be finished before it can be diverse. */
static int64_t least_size(const kn_relational_problem *p)
{
    int64_t k = p->k < 2 ? 2 : p->k;
    for (int i = 0; p->repair == KN_DIVERSITY_DISTANCE && i < p->promise_count; i++) {
        const kn_model *m = &p->promises[i].model;
        kn_ratio        l = m->kind == KN_MODEL_ALPHA_K ? (kn_ratio){m->bound.denominator, m->bound.numerator} : m->l;
        uint64_t        least =
            l.denominator == 0 ? INT64_MAX : l.numerator / l.denominator + (l.numerator % l.denominator != 0);
        if (m->k > k) k = m->k;
        if (least > (uint64_t)k) k = least < INT64_MAX ? (int64_t)least : INT64_MAX;
    }
    return k;
}

/* Losses of one tree must fit (kn_relational_loss.c). */
static kn_status check_cells(const kn_relational_work *work, const kn_forest *f, kn_error *err)
{
    for (int64_t e = 0; e < f->entities; e++) {
        uint64_t cells = 0;
        for (uint64_t n = f->start[e]; n < f->start[e + 1]; n++) cells += (uint64_t)work->losses->cells[f->table[n]];
        if (cells >= (uint64_t)1 << 31)
            return kn_fail(err, KN_INPUT,
                           "the rows of one person count more than 2^31 - 1 cells; give smaller weights");
    }
    return KN_OK;
}

static void measure_forest(kn_relational_work *work, const kn_forest *f)
{
    for (uint64_t n = 0; n < f->nodes; n++)
        if (f->child_count[n] > work->most_children) work->most_children = f->child_count[n];
    for (int t = 0; t < f->db->table_count; t++)
        if ((uint32_t)f->db->tables[t].depth > work->most_depth) work->most_depth = (uint32_t)f->db->tables[t].depth;
}

/* The shares of sensitive values in the finished classes. */
static kn_status measure_shares(kn_relational_work *work, kn_error *err)
{
    kn_codes  codes = {0};
    kn_status st = KN_OK;
    for (size_t i = 0; st == KN_OK && i < work->done.count && work->problem->promise_count > 0; i++) {
        bool good;
        st = kn_cluster_diverse(&good, &work->counters->largest_share, work->ctx, work->problem, work->done.items[i],
                                &codes, err);
    }
    kn_codes_free(&codes);
    return st;
}

/* With references, where there are promises. */
static kn_status search(kn_database_plan **out, bool *found, kn_relational_counters *counters, kn_context *ctx,
                        const kn_relational_problem *problem, kn_error *err)
{
    const kn_forest   *forest = problem->forest;
    kn_losses          losses = {0};
    kn_relational_work work = {
        .ctx = ctx, .problem = problem, .losses = &losses, .k = problem->k, .counters = counters};
    if (problem->method == KN_METHOD_DMIRACLE) work.k = least_size(problem);
    if (forest->entities < work.k) return KN_OK;
    measure_forest(&work, forest);
    uint32_t *order = kn_person_order(ctx, forest->entities, problem->seed);
    if (!order) return kn_fail_memory(err, ctx, "ordering persons");
    work.order = order;
    kn_status st = kn_losses_make(&losses, ctx, forest->db, err);
    if (st == KN_OK) st = check_cells(&work, forest, err);
    if (st == KN_OK) st = problem->reference ? kn_miracle_reference(&work, err) : kn_miracle_fast(&work, err);
    if (st == KN_OK) st = measure_shares(&work, err);
    if (st == KN_OK && work.done.count > 0) {
        st = kn_relational_make_plan(out, ctx, forest, losses.width, &work.done, err);
        if (st == KN_OK) counters->suppressed = (*out)->suppressed;
        *found = st == KN_OK;
    }
    kn_cluster_list_free(&work.done);
    kn_losses_free(&losses);
    kn_free(order);
    return st;
}

kn_status kn_relational_search(kn_database_plan **out, bool *found, kn_relational_counters *counters, kn_context *ctx,
                               const kn_relational_problem *problem, kn_error *err)
{
    kn_relational_problem whole = *problem;
    *out = NULL;
    *found = false;
    *counters = (kn_relational_counters){0};
    KN_TRY(check(problem, err));
    KN_TRY(kn_promise_references_make(&whole.references, ctx, problem, err));
    kn_status st = search(out, found, counters, ctx, &whole, err);
    kn_promise_references_free(whole.references, whole.promise_count);
    return st;
}
