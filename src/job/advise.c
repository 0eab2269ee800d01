/* advise.c: kn_advise: tries the methods of a shape one after the other and chooses (kanon/advise.h has the rule).
 *
 * The job that holds the data runs a candidate (kn_attempt_fn); this file has what is common: which are tried, for
 * how long, what a failure means, which is best. A method with a time limit of its own gets its part of the total as
 * that and may return its best so far; any other is stopped by the context's deadline.
 *
 * Time: reading, and at most the limit, as far as methods check the clock. Memory: the data and one candidate.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_job_advise.h"

#include <kanon/catalogue.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_clock.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_heuristic.h"
#include "kn_job_texts.h"
#include "kn_shape.h"

typedef struct owned_advice {
    kn_advice advice; /* first: the caller's pointer  */
    kn_arena  arena;
} owned_advice;

/* ---- One candidate ---- */

/* Methods that end by themselves at a time limit, with the best so far. */
static bool keeps_time(kn_method method)
{
    return method == KN_METHOD_OPTIMAL || method == KN_METHOD_HEURISTIC || kn_method_family(method) == KN_FAMILY_TREE;
}

static kn_spec spec_of(const kn_spec *spec, kn_method method, double seconds)
{
    kn_spec own = *spec;
    own.method = method;
    own.method_given = true;
    own.method_auto = false;
    own.time_limit = seconds;
    return own;
}

kn_spec kn_advice_spec(const kn_advice *advice, const kn_spec *spec)
{
    const kn_advice_candidate *c = &advice->candidates[advice->chosen];
    /* One that finished will finish again; one that was stopped must not search for longer than before. */
    return spec_of(spec, c->method, c->state == KN_ADVICE_STOPPED ? c->allowed : 0);
}

static kn_status set_reason(kn_advice_candidate *c, kn_context *ctx, kn_arena *arena, const char *text, kn_error *err)
{
    c->reason = kn_arena_strndup(arena, text, strlen(text));
    return c->reason ? KN_OK : kn_fail_memory(err, ctx, "trying methods");
}

/* Is it a failure of this candidate alone? */
static bool only_refused(const kn_context *ctx, kn_status st)
{
    return st == KN_USAGE || (st == KN_MEMORY && kn_memory_limited(ctx));
}

static kn_status run_one(const kn_advisor *a, kn_advice_candidate *c, kn_arena *arena, kn_error *refusal, kn_error *err)
{
    bool     own_clock = keeps_time(c->method);
    kn_spec  spec = spec_of(a->spec, c->method, own_clock ? c->allowed : 0);
    kn_error why = KN_ERROR_INIT;
    double   begin = kn_clock_seconds();
    if (!own_clock) kn_deadline_set(a->ctx, c->allowed);
    kn_status st = a->attempt(a->run, &spec, c, arena, &why);
    kn_deadline_set(a->ctx, 0);
    c->seconds = kn_clock_seconds() - begin;
    if (st == KN_CANCELLED && !kn_cancel_requested(a->ctx)) {
        c->state = KN_ADVICE_LATE;
        return set_reason(c, a->ctx, arena, "the time limit ended it before it had a release", err);
    }
    if (only_refused(a->ctx, st)) {
        c->state = KN_ADVICE_REFUSED;
        if (refusal->status == KN_OK) *refusal = why;
        return set_reason(c, a->ctx, arena, why.message, err);
    }
    if (st != KN_OK && err) *err = why;
    return st;
}

/* ---- All of them ---- */

/* The simpler ones first, by what they do and what their releases look like; of equal losses the first is chosen. */
static const kn_method preference[] = {KN_METHOD_OPTIMAL,
                                       KN_METHOD_HEURISTIC,
                                       KN_METHOD_MONDRIAN,
                                       KN_METHOD_MONDRIAN_RELAXED,
                                       KN_METHOD_MONDRIAN_1D,
                                       KN_METHOD_MONDRIAN_BEST,
                                       KN_METHOD_MONDRIAN_WORKLOAD,
                                       KN_METHOD_KMSD,
                                       KN_METHOD_KMSD_AG,
                                       KN_METHOD_SAMARATI,
                                       KN_METHOD_BOTTOM_UP,
                                       KN_METHOD_BOTTOM_UP_ROLLUP,
                                       KN_METHOD_INCOGNITO,
                                       KN_METHOD_INCOGNITO_SUPERROOTS,
                                       KN_METHOD_INCOGNITO_CUBE,
                                       KN_METHOD_DATAFLY,
                                       KN_METHOD_MIRACLE_X,
                                       KN_METHOD_MIRACLE_X_LEVEL,
                                       KN_METHOD_MIRACLE,
                                       KN_METHOD_DMIRACLE,
                                       KN_METHOD_BITMAP,
                                       KN_METHOD_GCS,
                                       KN_METHOD_OCS,
                                       KN_METHOD_ACS};
_Static_assert(sizeof preference / sizeof *preference == KN_METHODS, "every method has its place");

static kn_status list_candidates(kn_advice *out, const kn_advisor *a, kn_advice_candidate **list, kn_arena *arena,
                                 kn_error *err)
{
    *list = kn_job_alloc(a->ctx, arena, KN_METHODS, sizeof **list, err);
    if (!*list) return KN_MEMORY;
    for (int m = 0; m < KN_METHODS; m++) {
        if (kn_method_shape(preference[m]) != out->shape) continue;
        kn_advice_candidate *c = &(*list)[out->candidate_count++];
        *c = (kn_advice_candidate){.method = preference[m], .state = KN_ADVICE_LEFT_OUT};
        c->loss = c->node_survival = c->relation_survival = NAN;
        c->reason = kn_advice_left_out(a, c->method, KN_ADVICE_LEFT_OUT);
    }
    out->candidates = *list;
    return KN_OK;
}

/* Until it is tried a candidate is left out, with a reason or without one. */
static int left_to_try(const kn_advice *advice)
{
    int count = 0;
    for (int i = 0; i < advice->candidate_count; i++)
        count += advice->candidates[i].state == KN_ADVICE_LEFT_OUT && !advice->candidates[i].reason;
    return count;
}

/* If time is short, those that are sure to finish are tried first. */
enum { TURNS = 4 };

static int turn_of(kn_method method)
{
    switch (method) {
    case KN_METHOD_MONDRIAN:
    case KN_METHOD_MIRACLE_X:
    case KN_METHOD_OCS: return 0;
    case KN_METHOD_MONDRIAN_BEST:
    case KN_METHOD_MIRACLE:
    case KN_METHOD_BITMAP:
    case KN_METHOD_ACS: return 2;
    case KN_METHOD_HEURISTIC: return 3; /* depends on how optimal ended         */
    default: return 1;
    }
}

static kn_status try_one(kn_advice *out, const kn_advisor *a, kn_advice_candidate *c, double left, kn_arena *arena,
                         kn_error *refusal, kn_error *err)
{
    c->allowed = left / left_to_try(out);
    if (c->method == KN_METHOD_HEURISTIC) c->allowed = fmin(c->allowed, KN_HEURISTIC_SECONDS);
    c->state = KN_ADVICE_LATE;
    if (c->allowed > 0) return run_one(a, c, arena, refusal, err);
    return set_reason(c, a->ctx, arena, "the time limit left nothing for it", err);
}

/* `refusal` becomes the first one, if any. */
static kn_status try_all(kn_advice *out, const kn_advisor *a, kn_advice_candidate *list, kn_arena *arena,
                         kn_error *refusal, kn_error *err)
{
    double          begin = kn_clock_seconds();
    kn_advice_state optimal = KN_ADVICE_LEFT_OUT;
    for (int turn = 0; turn < TURNS; turn++)
        for (int i = 0; i < out->candidate_count; i++) {
            kn_advice_candidate *c = &list[i];
            if (turn_of(c->method) != turn) continue;
            if (kn_cancelled(a->ctx)) return kn_fail_cancelled(err);
            if (!c->reason) c->reason = kn_advice_left_out(a, c->method, optimal);
            if (c->reason) continue;
            KN_TRY(try_one(out, a, c, out->limit - (kn_clock_seconds() - begin), arena, refusal, err));
            if (c->method == KN_METHOD_OPTIMAL) optimal = c->state;
        }
    return KN_OK;
}

/* ---- The choice ---- */

static bool has_release(const kn_advice_candidate *c)
{
    return c->state == KN_ADVICE_KEPT || c->state == KN_ADVICE_STOPPED;
}

static bool better(const kn_advice_candidate *a, const kn_advice_candidate *b)
{
    if (a->state != b->state) return a->state == KN_ADVICE_KEPT;
    double x = isnan(a->loss) ? INFINITY : a->loss, y = isnan(b->loss) ? INFINITY : b->loss;
    if (x != y) return x < y;
    return a->suppressed < b->suppressed;
}

static void choose(kn_advice *advice)
{
    advice->chosen = -1;
    for (int i = 0; i < advice->candidate_count; i++) {
        const kn_advice_candidate *c = &advice->candidates[i];
        if (!has_release(c)) continue;
        if (advice->chosen < 0 || better(c, &advice->candidates[advice->chosen])) advice->chosen = i;
    }
    advice->found = advice->chosen >= 0;
}

static const kn_advice_candidate *first_of(const kn_advice *advice, kn_advice_state state)
{
    for (int i = 0; i < advice->candidate_count; i++)
        if (advice->candidates[i].state == state) return &advice->candidates[i];
    return NULL;
}

/* Do all that were tried say the same? Then it is no method's fault. */
static bool same_reason(const kn_advice *advice, const char *reason)
{
    for (int i = 0; i < advice->candidate_count; i++) {
        const kn_advice_candidate *c = &advice->candidates[i];
        if (c->state == KN_ADVICE_REFUSED || (c->state == KN_ADVICE_NONE && strcmp(c->reason, reason) != 0))
            return false;
    }
    return true;
}

/* Nothing was chosen: why. */
static kn_status say_why_not(kn_advice *advice, const kn_advisor *a, kn_arena *arena, const kn_error *refusal,
                             kn_error *err)
{
    bool                       late = first_of(advice, KN_ADVICE_LATE) != NULL;
    const kn_advice_candidate *none = first_of(advice, KN_ADVICE_NONE);
    char                       why[1200];
    if (!late && !none) { /* all refused: what the first says is wrong with what was asked */
        if (err) *err = *refusal;
        return refusal->status;
    }
    if (late)
        snprintf(why, sizeof why, "no method found a release within the time limit of %g seconds; a longer one may do",
                 advice->limit);
    else if (same_reason(advice, none->reason))
        snprintf(why, sizeof why, "%s", none->reason);
    else
        snprintf(why, sizeof why, "no method keeps what was asked; %s: %.900s", kn_method_name(none->method),
                 none->reason);
    advice->reason = kn_arena_strndup(arena, why, strlen(why));
    return advice->reason ? KN_OK : kn_fail_memory(err, a->ctx, "trying methods");
}

static const char *metric_of(const kn_spec *spec, kn_shape shape)
{
    if (shape == KN_SHAPE_TABLE) return kn_metric_name(spec->utility);
    if (shape == KN_SHAPE_DATABASE) return "lm";
    return spec->support.numerator > 0 ? "dml2" : "rpd";
}

kn_status kn_advice_make(kn_advice *out, const kn_advisor *a, kn_arena *arena, kn_error *err)
{
    kn_advice_candidate *list = NULL;
    kn_error             refusal = KN_ERROR_INIT;
    double               begin = kn_clock_seconds();
    *out = (kn_advice){.shape = kn_spec_shape(a->spec), .count = a->count, .chosen = -1};
    out->metric = metric_of(a->spec, out->shape);
    out->limit = a->spec->time_limit > 0 ? a->spec->time_limit : KN_ADVICE_SECONDS;
    KN_TRY(list_candidates(out, a, &list, arena, err));
    KN_TRY(try_all(out, a, list, arena, &refusal, err));
    choose(out);
    if (!out->found) return say_why_not(out, a, arena, &refusal, err);
    KN_TRY(kn_advice_explain(out, a->ctx, arena, err));
    if (!a->settings || out->shape != KN_SHAPE_RECORDS) return KN_OK;
    return kn_advice_settings(out, a, out->limit - (kn_clock_seconds() - begin), arena, err);
}

/* ---- The front ---- */

kn_status kn_advise(kn_advice **out, kn_context *ctx, const kn_spec *spec, kn_error *err)
{
    static const kn_release_shape *const shapes[KN_SHAPES] = {[KN_SHAPE_TABLE] = &kn_table_shape,
                                                              [KN_SHAPE_DATABASE] = &kn_database_shape,
                                                              [KN_SHAPE_RECORDS] = &kn_records_shape};
    *out = NULL;
    KN_SERVE(ctx, err);
    if (spec->input_count < 1) return kn_fail(err, KN_USAGE, "no input was given");
    owned_advice *owned = kn_alloc_zero(ctx, sizeof *owned);
    if (!owned) return kn_fail_memory(err, ctx, "trying methods");
    kn_arena_init(&owned->arena, ctx);
    kn_status st = kn_release_advise(&owned->advice, &owned->arena, shapes[kn_spec_shape(spec)], ctx, spec, err);
    if (st == KN_OK)
        *out = &owned->advice;
    else
        kn_advice_free(&owned->advice);
    return st;
}

void kn_advice_free(kn_advice *advice)
{
    if (!advice) return;
    owned_advice *owned = (owned_advice *)advice;
    kn_arena_free(&owned->arena);
    kn_free(owned);
}
