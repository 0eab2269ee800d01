/* database/choose.c: method: auto of a database: each candidate on the trees that were built, up to its figures
 * (kn_job_advise.h), and the run goes on with the chosen one.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "kn_error.h"
#include "kn_job_advise.h"
#include "kn_job_database.h"

static kn_status judge(const kn_dbrun *run, kn_advice_candidate *out, kn_arena *arena, kn_error *err)
{
    const kn_database_result *r = run->result;
    if (!r->found) {
        out->state = KN_ADVICE_NONE;
        out->reason = kn_arena_strndup(arena, r->reason, strlen(r->reason));
        return out->reason ? KN_OK : kn_fail_memory(err, run->ctx, "trying methods");
    }
    out->state = KN_ADVICE_KEPT;
    out->loss = r->lm;
    out->suppressed = r->suppressed;
    out->k = r->k;
    out->classes = r->classes;
    if (r->classes > 0 && r->k < run->k)
        return kn_fail(err, KN_INTERNAL, "a mistake in kanon: the plan of method %s does not keep k",
                       kn_method_name(run->spec->method));
    return KN_OK;
}

/* The search counts into the result's tables: each candidate has its own. */
static kn_status search(kn_dbrun *run, const kn_database_result *from, kn_error *err)
{
    kn_release_table *tables = kn_dbrun_room(run, run->arena, (size_t)from->table_count, sizeof *tables, err);
    if (!tables) return KN_MEMORY;
    memcpy(tables, from->tables, (size_t)from->table_count * sizeof *tables);
    run->result->tables = tables;
    run->result->table_count = from->table_count;
    run->result->persons_in = from->persons_in;
    return kn_dbrun_search(run, err);
}

static kn_status attempt(void *arg, const kn_spec *spec, kn_advice_candidate *out, kn_arena *arena, kn_error *err)
{
    const kn_dbrun    *parent = arg;
    kn_dbrun           run = *parent;
    kn_database_result result = {.method = spec->method};
    kn_arena           texts;
    kn_arena_init(&texts, parent->ctx);
    kn_arena_init(&run.scratch, parent->ctx);
    run.spec = spec;
    run.result = &result;
    run.arena = &texts;
    kn_status st = search(&run, parent->result, err);
    if (st == KN_OK) st = judge(&run, out, arena, err);
    kn_database_plan_free(run.plan);
    kn_arena_free(&run.scratch);
    kn_arena_free(&texts);
    return st;
}

kn_status kn_dbrun_try_methods(kn_dbrun *run, kn_advice *out, kn_arena *arena, kn_error *err)
{
    kn_advisor advisor = {
        .ctx = run->ctx, .spec = run->spec, .count = run->forest->entities, .attempt = attempt, .run = run};
    return kn_advice_make(out, &advisor, arena, err);
}

kn_status kn_dbrun_choose(kn_dbrun *run, kn_error *err)
{
    kn_advice *advice = kn_dbrun_room(run, run->arena, 1, sizeof *advice, err);
    if (!advice) return KN_MEMORY;
    KN_TRY(kn_dbrun_try_methods(run, advice, run->arena, err));
    run->result->advice = advice;
    run->result->reason = advice->reason;
    if (!advice->found) return kn_dbrun_sizes_before(run, err);
    run->chosen = kn_advice_spec(advice, run->spec);
    run->spec = &run->chosen;
    run->result->method = run->chosen.method;
    return KN_OK;
}
