/* records/choose.c: method: auto of tree records: each candidate on the records that were read, up to its figures
 * (kn_job_advise.h), and the run goes on with the chosen one.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_job_advise.h"
#include "kn_job_records.h"
#include "kn_job_texts.h"

/* Cuts at or below each value: 1 for itself, and the product over its children where it makes room for them. Children come
 * behind their parent. */
static kn_status count_cuts(const kn_recrun *run, int64_t *out, kn_error *err)
{
    const kn_vocabulary *v = run->records->vocabulary;
    int64_t             *below = kn_alloc_array(run->ctx, (size_t)v->nodes + 1, sizeof *below);
    if (!below) return kn_fail_memory(err, run->ctx, "trying methods");
    for (uint32_t i = 0; i < v->nodes; i++) below[i] = 1;
    for (uint32_t i = v->nodes; i-- > 0;) {
        int64_t cuts = v->end[i] > i + 1 ? below[i] + 1 : 1;
        if (cuts > KN_CUTS_MANY) cuts = KN_CUTS_MANY;
        below[i] = cuts;
        if (i == 0) break;
        int64_t *above = &below[v->parent[i]];
        *above = *above * cuts > KN_CUTS_MANY ? KN_CUTS_MANY : *above * cuts;
    }
    *out = below[0];
    kn_free(below);
    return KN_OK;
}

static kn_status judge(const kn_recrun *run, kn_advice_candidate *out, kn_arena *arena, kn_error *err)
{
    const kn_records_result *r = run->result;
    if (!r->found) {
        out->state = r->complete ? KN_ADVICE_NONE : KN_ADVICE_LATE;
        out->reason = kn_arena_strndup(arena, r->reason, strlen(r->reason));
        return out->reason ? KN_OK : kn_fail_memory(err, run->ctx, "trying methods");
    }
    out->state = r->complete ? KN_ADVICE_KEPT : KN_ADVICE_STOPPED;
    out->loss = run->spec->support.numerator > 0 ? r->dml2 : r->rpd;
    out->node_survival = r->node_survival;
    out->relation_survival = r->relation_survival;
    return KN_OK;
}

static kn_status attempt(void *arg, const kn_spec *spec, kn_advice_candidate *out, kn_arena *arena, kn_error *err)
{
    const kn_recrun  *parent = arg;
    kn_recrun         run = *parent;
    kn_records_result result = {.method = spec->method, .kmn = spec->kmn, .records = parent->result->records};
    kn_arena          texts;
    kn_arena_init(&texts, parent->ctx);
    run.spec = spec;
    run.result = &result;
    run.arena = &texts;
    kn_status st = kn_recrun_search(&run, err);
    if (st == KN_OK) st = judge(&run, out, arena, err);
    kn_recrun_end_search(&run);
    kn_arena_free(&texts);
    return st;
}

kn_status kn_recrun_try_methods(kn_recrun *run, kn_advice *out, kn_arena *arena, kn_error *err)
{
    kn_advisor advisor = {
        .ctx = run->ctx, .spec = run->spec, .count = run->records->count, .attempt = attempt, .run = run};
    KN_TRY(count_cuts(run, &advisor.cuts, err));
    return kn_advice_make(out, &advisor, arena, err);
}

kn_status kn_recrun_choose(kn_recrun *run, kn_error *err)
{
    kn_advice *advice = kn_job_room(run->ctx, run->arena, 1, sizeof *advice, err);
    if (!advice) return KN_MEMORY;
    KN_TRY(kn_recrun_try_methods(run, advice, run->arena, err));
    run->result->advice = advice;
    run->result->reason = advice->reason;
    if (!advice->found) return KN_OK;
    run->chosen = kn_advice_spec(advice, run->spec);
    run->spec = &run->chosen;
    run->result->method = run->chosen.method;
    return KN_OK;
}
