/* table/choose.c: method: auto of a table: each candidate on the table that was read, up to its figures
 * (kn_job_advise.h), and the run goes on with the chosen one.
 *
 * A candidate is a run of its own that borrows what was read and owns what it searches with, its result and its memory.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_job_advise.h"
#include "kn_job_anonymize.h"

/* Smaller is better, whatever the metric. */
static double loss_of(const kn_release_result *r)
{
    double value = r->metrics[r->utility];
    return r->utility == KN_METRIC_PREC ? 1 - value : value;
}

/* The classes of the plan, counted anew by code that knows no method, must keep what was promised of a class. (Of a
 * population they are not counted here: the verifier does that with the written bytes, as it does all of this.) */
static kn_status check_classes(const kn_run *run, kn_error *err)
{
    bool    shown = run->spec->suppressed == KN_SUPPRESSED_KEEP_SENSITIVE;
    int64_t rows = run->plan->rows - (shown ? 0 : run->plan->suppressed);
    if (run->population || run->good_rows == rows) return KN_OK;
    return kn_fail(err, KN_INTERNAL, "a mistake in kanon: classes of method %s do not keep what was promised",
                   kn_method_name(run->spec->method));
}

static kn_status judge(const kn_run *run, kn_advice_candidate *out, kn_arena *arena, kn_error *err)
{
    const kn_release_result *r = run->result;
    if (!r->found) {
        out->state = r->complete ? KN_ADVICE_NONE : KN_ADVICE_LATE;
        out->reason = kn_arena_strndup(arena, r->reason, strlen(r->reason));
        return out->reason ? KN_OK : kn_fail_memory(err, run->ctx, "trying methods");
    }
    out->state = r->complete ? KN_ADVICE_KEPT : KN_ADVICE_STOPPED;
    out->loss = loss_of(r);
    out->suppressed = r->suppressed;
    out->k = r->k;
    out->classes = r->classes;
    return check_classes(run, err);
}

static kn_status attempt(void *arg, const kn_spec *spec, kn_advice_candidate *out, kn_arena *arena, kn_error *err)
{
    const kn_run        *parent = arg;
    kn_run               run = *parent;
    kn_release_result    result = {.method = spec->method, .utility = spec->utility};
    kn_anonymize_options options = KN_ANONYMIZE_OPTIONS_INIT;
    kn_arena             texts;
    options.dry_run = true;
    kn_arena_init(&texts, parent->ctx);
    kn_arena_init(&run.scratch, parent->ctx);
    run.spec = spec;
    run.options = &options;
    run.result = &result;
    run.arena = &texts;
    kn_status st = kn_run_prepare(&run, err);
    if (st == KN_OK) st = kn_run_search(&run, err);
    if (st == KN_OK) st = kn_run_measure(&run, err);
    if (st == KN_OK) st = judge(&run, out, arena, err);
    kn_run_end_search(&run);
    kn_arena_free(&run.scratch);
    kn_arena_free(&texts);
    return st;
}

kn_status kn_run_try_methods(kn_run *run, kn_advice *out, kn_arena *arena, kn_error *err)
{
    kn_advisor advisor = {
        .ctx = run->ctx, .spec = run->spec, .count = run->table->rows, .attempt = attempt, .run = run};
    return kn_advice_make(out, &advisor, arena, err);
}

kn_status kn_run_choose(kn_run *run, kn_error *err)
{
    kn_advice *advice = kn_run_room(run, run->arena, 1, sizeof *advice, err);
    if (!advice) return KN_MEMORY;
    KN_TRY(kn_run_try_methods(run, advice, run->arena, err));
    run->result->advice = advice;
    run->result->complete = true;
    for (int i = 0; i < advice->candidate_count; i++)
        if (advice->candidates[i].state == KN_ADVICE_LATE) run->result->complete = false;
    if (!advice->found) return KN_OK;
    run->chosen = kn_advice_spec(advice, run->spec);
    run->spec = &run->chosen;
    run->effective.method = run->chosen.method;
    run->effective.method_given = true;
    run->effective.method_auto = false;
    run->result->method = run->chosen.method;
    return KN_OK;
}
