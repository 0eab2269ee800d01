/* database/search.c: the plan of a release of a database, and what it reaches (kn_database_run.h). */
/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_bitmap.h"
#include "kn_database_run.h"
#include "kn_error.h"
#include "kn_job_texts.h"

enum { MANY_PERSONS = 500000 }; /* more than this a verifier may not be able to match without a map    */

/* ---- Promises ---- */

static kn_status find_promises(kn_database_run *run, kn_error *err)
{
    const kn_spec *spec = run->all.spec;
    run->promises =
        kn_release_alloc(&run->all, &run->all.scratch, (size_t)spec->model_count, sizeof *run->promises, err);
    if (!run->promises) return KN_MEMORY;
    for (int i = 0; i < spec->model_count; i++) {
        const kn_model *m = &spec->models[i];
        int             table, attribute;
        if (m->kind == KN_MODEL_K) {
            if (m->k > run->k) run->k = m->k;
            continue;
        }
        if (m->kind == KN_MODEL_PRESENCE) {
            run->presence = true;
            continue;
        }
        if (!m->attribute || !kn_spec_find_column(spec, m->attribute, &table, &attribute))
            return kn_fail(err, KN_USAGE, "%s names no column of the database", kn_model_name(m->kind));
        if (m->kind == KN_MODEL_ALPHA_K && m->k > run->k) run->k = m->k;
        int t = kn_database_find(run->db, spec->tables[table].name);
        run->promises[run->promise_count++] = (kn_relational_promise){
            t, kn_table_find(run->db->tables[t].table, spec->tables[table].attributes[attribute].name), *m};
    }
    return KN_OK;
}

/* ---- Methods ---- */

static kn_status cluster_trees(kn_database_run *run, int64_t k, bool *found, kn_error *err)
{
    const kn_spec         *spec = run->all.spec;
    kn_relational_problem  problem = KN_RELATIONAL_PROBLEM_INIT;
    kn_relational_counters c = {0};
    problem.forest = run->forest;
    problem.method = spec->method;
    problem.k = k;
    problem.threshold = spec->threshold;
    problem.climit = spec->climit;
    problem.seed = spec->seed;
    problem.matching = spec->matching;
    problem.leftovers = spec->leftovers;
    problem.repair = spec->diversity;
    problem.clustering = (kn_clustering)spec->clustering;
    problem.reference = spec->reference;
    problem.promise_count = run->promise_count;
    problem.promises = run->promises;
    KN_TRY(kn_relational_search(&run->plan, found, &c, run->all.ctx, &problem, err));
    if (*found) KN_TRY(kn_database_run_keep(run, err));
    run->result->head.largest_share = c.largest_share;
    const kn_release_counter counters[] = {
        {"clusters", (double)c.clusters}, {"merged", (double)c.merged},
        {"absorbed", (double)c.absorbed}, {"distances", (double)c.distances},
        {"skipped", (double)c.skipped},   {"pair_evaluations", (double)c.pair_evaluations},
        {"cuts", (double)c.cuts}};
    size_t count = sizeof counters / sizeof *counters - (spec->clustering != KN_CLUSTERING_TOP_DOWN);
    return kn_release_set_counters(&run->all, counters, count, err);
}

static kn_status cluster_bitmap(kn_database_run *run, int64_t k, bool *found, kn_error *err)
{
    const kn_spec     *spec = run->all.spec;
    kn_bitmap_problem  problem = KN_BITMAP_PROBLEM_INIT;
    kn_bitmap_counters c = {0};
    problem.forest = run->forest;
    problem.k = k;
    problem.threshold = spec->threshold;
    problem.climit = spec->climit;
    problem.seed = spec->seed;
    problem.leftovers = spec->leftovers;
    problem.complete = spec->complete;
    KN_TRY(kn_bitmap_search(&run->plan, found, &c, run->all.ctx, &problem, err));
    if (*found) KN_TRY(kn_database_run_keep(run, err));
    const kn_release_counter counters[] = {{"clusters", (double)c.clusters},
                                           {"merged", (double)c.merged},
                                           {"absorbed", (double)c.absorbed},
                                           {"distances", (double)c.distances},
                                           {"bits", (double)c.bits},
                                           {"columns", (double)c.columns},
                                           {"repeated", (double)c.repeated},
                                           {"absent_kept", (double)c.absent_kept},
                                           {"bitmap_lm", c.lm},
                                           {"bitmap_dm", (double)c.dm}};
    return kn_release_set_counters(&run->all, counters, sizeof counters / sizeof *counters, err);
}

/* ---- What it reaches ---- */

static double share(int64_t part, int64_t whole)
{
    return whole > 0 ? (double)part / (double)whole : 0;
}

static kn_status measure_plan(kn_database_run *run, kn_error *err)
{
    kn_relational_metrics  *m = NULL;
    kn_database_result     *r = run->result;
    const kn_database_plan *plan = run->plan;
    KN_TRY(kn_relational_measure(&m, run->all.ctx, run->forest, plan, err));
    kn_release_table *tables = (kn_release_table *)(uintptr_t)r->tables;
    for (int t = 0; t < r->table_count; t++) {
        tables[t].cells = m->tables[t].cells;
        tables[t].lm = m->tables[t].lm;
        if (run->all.spec->anatomy) tables[t].lm = share(m->tables[t].deleted, m->tables[t].cells);
    }
    r->lm = m->lm;
    r->lm_released = m->lm_released;
    r->dm = m->dm;
    if (run->all.spec->anatomy) { /* what is not deleted shows its original values */
        r->lm = share(m->deleted, m->cells);
        r->lm_released = 0;
        r->dm = NAN;
    }
    kn_relational_metrics_free(m);
    for (uint32_t c = 0; c < plan->classes; c++) {
        int64_t size = kn_database_plan_size(plan, c);
        if (c == 0 || size < r->head.k) r->head.k = size;
        for (uint64_t v = plan->node_start[c]; v < plan->node_start[c + 1]; v++) tables[plan->table[v]].rows += size;
    }
    for (int t = 0; t < r->table_count; t++) tables[t].deleted = tables[t].rows_in - tables[t].orphans - tables[t].rows;
    r->head.classes = plan->classes;
    r->head.suppressed = plan->suppressed;
    r->persons = r->persons_in - plan->suppressed;
    return KN_OK;
}

static kn_status sizes_before(kn_database_run *run, kn_error *err)
{
    const kn_forest *f = run->forest;
    kn_release_head *head = run->all.head;
    int64_t          count = 0;
    int64_t         *sizes = kn_alloc_array(run->all.ctx, (size_t)f->entities + 1, sizeof *sizes);
    if (!sizes) return kn_fail_memory(err, run->all.ctx, "making a release");
    for (int64_t e = 0; e < f->entities; e++) { /* equal trees are neighbours */
        uint32_t tree = f->subtree[f->start[e]];
        if (e == 0 || tree != f->subtree[f->start[e - 1]]) sizes[count++] = 0;
        sizes[count - 1]++;
    }
    kn_status st =
        kn_release_sizes_of(&run->all, sizes, sizes, count, &head->sizes_before, &head->size_count_before, err);
    if (st == KN_OK) head->k_before = head->sizes_before[0].size;
    kn_free(sizes);
    return st;
}

static kn_status sizes_after(kn_database_run *run, kn_error *err)
{
    const kn_database_plan *plan = run->plan;
    int64_t                *sizes = kn_alloc_array(run->all.ctx, (size_t)plan->classes + 1, sizeof *sizes);
    if (!sizes) return kn_fail_memory(err, run->all.ctx, "making a release");
    for (uint32_t c = 0; c < plan->classes; c++) sizes[c] = kn_database_plan_size(plan, c);
    kn_status st = kn_release_sizes_of(&run->all, sizes, sizes, plan->classes, &run->all.head->sizes,
                                       &run->all.head->size_count, err);
    kn_free(sizes);
    return st;
}

/* Figures of the other promises come from the verifier, which derives them from the release. */
static kn_status list_models(kn_database_run *run, kn_error *err)
{
    KN_TRY(kn_release_set_models(&run->all, NULL, NULL, err));
    kn_release_model *models = (kn_release_model *)(uintptr_t)run->result->head.models;
    for (int i = 0; i < run->result->head.model_count; i++) {
        if (models[i].model.kind != KN_MODEL_K) continue;
        models[i].original = (double)run->result->head.k_before;
        models[i].reached = (double)run->result->head.k;
    }
    return KN_OK;
}

kn_status kn_database_run_search(kn_release_run *all, kn_error *err)
{
    kn_database_run *run = kn_database_run_of(all);
    bool             found = false;
    const char      *why = "no class of persons could be made that keeps every promise about sensitive values";
    KN_TRY(find_promises(run, err));
    if (run->forest->entities < run->k) {
        char text[200];
        snprintf(text, sizeof text, "k: it needs at least %lld persons, and table \"%.80s\" has %lld",
                 (long long)run->k, run->db->tables[run->db->entity].name, (long long)run->forest->entities);
        return kn_release_none(all, text, err);
    }
    kn_database_cluster cluster = all->spec->method == KN_METHOD_BITMAP ? cluster_bitmap : cluster_trees;
    KN_TRY(run->presence ? kn_database_run_present(run, cluster, &found, &why, err)
                         : cluster(run, run->k, &found, err));
    if (!found) return kn_release_none(all, why, err);
    run->result->head.found = true;
    return KN_OK;
}

kn_status kn_database_run_measure(kn_release_run *all, kn_error *err)
{
    kn_database_run *run = kn_database_run_of(all);
    KN_TRY(sizes_before(run, err));
    if (!run->result->head.found) return KN_OK;
    KN_TRY(measure_plan(run, err));
    KN_TRY(sizes_after(run, err));
    KN_TRY(list_models(run, err));
    int64_t suppressed = all->head->suppressed;
    if (suppressed > 0)
        KN_TRY(kn_release_note(all, err, "%lld %s not released", (long long)suppressed,
                               suppressed == 1 ? "person is" : "persons are"));
    if (run->result->persons <= MANY_PERSONS || all->spec->keep_rowmap) return KN_OK;
    return kn_release_note(all, err, KN_JOB_MAP_NEEDED("of this size"));
}

void kn_database_run_end_search(kn_release_run *all)
{
    kn_database_run *run = kn_database_run_of(all);
    kn_database_plan_free(run->plan);
    run->plan = NULL;
}
