/* release.c: the driver of every release: the stages in their order, whatever the shape (kn_shape.h).
 *
 * The output is opened before anything is read. Everything is written under temporary names, read back and verified;
 * each figure of the verifier is compared with the plan's claim, and any difference ends the run, with the temporary
 * files removed. If an input has changed since it was read, the difference is reported as that.
 *
 * Memory: the data and the search; then data and release; then what the verifier holds.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <kanon/catalogue.h>
#include <math.h>
#include <stdalign.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "kn_alloc.h"
#include "kn_clock.h"
#include "kn_columnar.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_freq.h"
#include "kn_hierarchy_file.h"
#include "kn_job_texts.h"
#include "kn_options.h"
#include "kn_recipe.h"
#include "kn_shape.h"
#include "kn_table_name.h"
#include "kn_targets.h"

/* ---- Results ---- */

typedef struct owned_result {
    kn_arena arena;
    alignas(max_align_t) char result[]; /* the caller's pointer  */
} owned_result;

static void free_result(kn_release_head *head)
{
    if (!head) return;
    owned_result *owned = (owned_result *)(void *)((char *)head - offsetof(owned_result, result));
    kn_arena_free(&owned->arena);
    kn_free(owned);
}

/* ---- What shapes use ---- */

void *kn_release_alloc(kn_release_run *run, kn_arena *arena, size_t count, size_t size, kn_error *err)
{
    return kn_job_alloc(run->ctx, arena, count, size, err);
}

char *kn_release_text(kn_release_run *run, const char *text, kn_error *err)
{
    char *copy = kn_arena_strndup(run->arena, text, strlen(text));
    if (!copy) (void)kn_fail_memory(err, run->ctx, "making a release");
    return copy;
}

kn_status kn_release_note(kn_release_run *run, kn_error *err, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    kn_status st = kn_job_add_note(run->ctx, run->arena, &run->head->notes, &run->head->note_count, err, format, args);
    va_end(args);
    return st;
}

kn_status kn_release_move_notes(kn_release_run *run, int from, kn_error *err)
{
    kn_release_head *head = run->head;
    size_t           moved = (size_t)(head->note_count - from), kept = (size_t)from;
    if (moved == 0 || kept == 0) return KN_OK;
    const char **notes = kn_release_alloc(run, run->arena, moved + kept, sizeof *notes, err);
    if (!notes) return KN_MEMORY;
    memcpy(notes, head->notes + kept, moved * sizeof *notes);
    memcpy(notes + moved, head->notes, kept * sizeof *notes);
    head->notes = notes;
    return KN_OK;
}

kn_status kn_release_drop(kn_release_run *run, const char *name, kn_error *err)
{
    return kn_job_add_text(run->ctx, run->arena, name, &run->head->dropped, &run->head->dropped_count, err);
}

kn_status kn_release_none(kn_release_run *run, const char *why, kn_error *err)
{
    run->head->found = false;
    run->head->reason = kn_release_text(run, why, err);
    return run->head->reason ? KN_OK : KN_MEMORY;
}

kn_status kn_release_set_counters(kn_release_run *run, const kn_release_counter *counters, size_t count, kn_error *err)
{
    kn_release_counter *copy = kn_release_alloc(run, run->arena, count, sizeof *copy, err);
    if (!copy) return KN_MEMORY;
    memcpy(copy, counters, count * sizeof *copy);
    run->head->counters = copy;
    run->head->counter_count = (int)count;
    return KN_OK;
}

kn_status kn_release_set_models(kn_release_run *run, const double *original, const double *reached, kn_error *err)
{
    const kn_spec    *spec = run->spec;
    kn_release_model *models = kn_release_alloc(run, run->arena, (size_t)spec->model_count, sizeof *models, err);
    if (!models) return KN_MEMORY;
    for (int i = 0; i < spec->model_count; i++) {
        models[i] = (kn_release_model){spec->models[i], reached ? reached[i] : NAN, original ? original[i] : NAN};
        if (!spec->models[i].attribute) continue;
        models[i].model.attribute = kn_release_text(run, spec->models[i].attribute, err);
        if (!models[i].model.attribute) return KN_MEMORY;
    }
    run->head->models = models;
    run->head->model_count = spec->model_count;
    return KN_OK;
}

kn_status kn_release_sizes_of(kn_release_run *run, const int64_t *sizes, const int64_t *rows, int64_t count,
                              const kn_size_count **out, int *out_count, kn_error *err)
{
    kn_size_histogram h = {0};
    KN_TRY(kn_size_histogram_make(&h, run->ctx, sizes, rows, count, err));
    kn_size_count *counts = kn_release_alloc(run, run->arena, (size_t)h.count, sizeof *counts, err);
    for (int64_t i = 0; counts && i < h.count; i++) counts[i] = (kn_size_count){h.sizes[i], h.classes[i], h.rows[i]};
    *out = counts;
    *out_count = (int)h.count;
    kn_size_histogram_free(&h);
    return counts ? KN_OK : KN_MEMORY;
}

kn_status kn_release_read_hierarchy(kn_hierarchy **out, void *run, const kn_attribute *attribute, kn_error *err)
{
    return kn_hierarchy_read_file(out, ((kn_release_run *)run)->ctx, &attribute->hierarchy, err);
}

/* ---- The originals ---- */

/* A digest cannot be cut. On few threads it is one more task of the reading, which all of them share. With more the others would
 * wait for it, so a thread of its own reads the files again while the search goes on. */
enum { MOST_THREADS = 2 };

kn_status kn_release_originals(kn_release_run *run, const char *const *names, const char *const *paths, int count,
                               bool digested, kn_error *err)
{
    kn_originals *o = &run->originals;
    *o = (kn_originals){.count = count, .names = names, .paths = paths, .digested = digested};
    o->marks = kn_release_alloc(run, &run->scratch, (size_t)count, sizeof *o->marks, err);
    if (!o->marks) return KN_MEMORY;
    for (int i = 0; i < count; i++) KN_TRY(kn_input_mark_take(&o->marks[i], run->ctx, paths[i], err));
    if (!digested || run->options->dry_run || kn_context_threads(run->ctx) > MOST_THREADS) return KN_OK;
    o->sums = kn_release_alloc(run, &run->scratch, (size_t)count, sizeof *o->sums, err);
    return o->sums ? KN_OK : KN_MEMORY;
}

/* A table inside a file, or of a server, has no bytes of its own either. */
static bool is_file(const char *path)
{
    return kn_table_kind_of(path) == KN_TABLE_TEXT || kn_table_file(path).size == strlen(path);
}

static kn_status digest_originals(kn_release_run *run, kn_error *err)
{
    kn_originals *o = &run->originals;
    bool          known = o->sums != NULL;
    for (int i = 0; i < o->count; i++) /* batches and tables of an engine have no bytes of their own */
        if (!kn_columnar_has_bytes(run->ctx, o->paths[i]) || !is_file(o->paths[i])) o->digested = false;
    for (int i = 0; known && i < o->count; i++) known = o->sums[i][0] != '\0';
    if (!o->digested || run->options->dry_run) return KN_OK;
    if (!known) return kn_digest_start(&o->digests, run->ctx, o->paths, o->count, err);
    o->texts = kn_release_alloc(run, &run->scratch, (size_t)o->count, sizeof *o->texts, err);
    for (int i = 0; o->texts && i < o->count; i++) o->texts[i] = o->sums[i];
    return o->texts ? KN_OK : KN_MEMORY;
}

kn_status kn_release_unchanged(const kn_release_run *run, kn_error *err)
{
    const kn_originals *o = &run->originals;
    for (int i = 0; i < o->count; i++)
        if (kn_input_mark_changed(o->marks[i]))
            return kn_fail(err, KN_INPUT, "%s: changed while it was read; nothing was written", o->names[i]);
    return KN_OK;
}

/* ---- Claims and findings ---- */

kn_status kn_release_unread(kn_status status, kn_error *err)
{
    kn_error said = err ? *err : (kn_error)KN_ERROR_INIT;
    if (status != KN_INPUT && status != KN_USAGE) return status;
    return kn_fail(err, KN_INTERNAL, "a mistake in kanon, and nothing was written: the verifier says: %s",
                   said.message);
}

kn_status kn_release_verdict(kn_outcome outcome, const char *const *problems, int count, const char *open,
                             kn_error *err)
{
    if (outcome == KN_OUTCOME_HOLDS) return KN_OK;
    if (outcome == KN_OUTCOME_UNDECIDED)
        return kn_fail(err, KN_UNDECIDED, "nothing was written: the verifier could not decide %s",
                       open ? open : "whether the release keeps its promises");
    return kn_fail(err, KN_INTERNAL, "a mistake in kanon, and nothing was written: the verifier says: %s",
                   count > 0 ? problems[0] : "the release does not hold");
}

static bool close_to(double a, double b)
{
    if (isnan(a) || isnan(b)) return isnan(a) && isnan(b);
    return a == b || fabs(a - b) <= 1e-9 * fmax(fabs(a), fabs(b)) || fabs(a - b) <= 1e-15;
}

kn_status kn_release_compare(const kn_claim *claims, int count, kn_error *err)
{
    for (int i = 0; i < count; i++)
        if (!isnan(claims[i].found) && !close_to(claims[i].claimed, claims[i].found))
            return kn_fail(
                err, KN_INTERNAL,
                "a mistake in kanon, and nothing was written: %s is %.17g by the plan, but %.17g in the release",
                claims[i].what, claims[i].claimed, claims[i].found);
    return KN_OK;
}

kn_status kn_release_compare_models(kn_release_run *run, const kn_verified_model *found, int count, bool derived,
                                    kn_error *err)
{
    kn_release_model *models = (kn_release_model *)(uintptr_t)run->head->models;
    KN_TRY(kn_release_compare(&(kn_claim){"the number of models", run->head->model_count, count}, 1, err));
    for (int i = 0; i < count; i++) {
        kn_claim claim = {kn_model_name(models[i].model.kind), models[i].reached, found[i].reached};
        if (derived && isnan(claim.claimed)) claim.claimed = models[i].reached = claim.found;
        if (isnan(claim.found) && !isnan(claim.claimed))
            claim.found = INFINITY; /* an open finding counts as a difference */
        KN_TRY(kn_release_compare(&claim, 1, err));
    }
    return KN_OK;
}

/* ---- method: auto ---- */

static kn_status judge(kn_release_run *run, kn_advice_candidate *out, kn_arena *arena, kn_error *err)
{
    const kn_release_head *head = run->head;
    if (!head->found) {
        out->state = head->complete ? KN_ADVICE_NONE : KN_ADVICE_LATE;
        out->reason = kn_arena_strndup(arena, head->reason, strlen(head->reason));
        return out->reason ? KN_OK : kn_fail_memory(err, run->ctx, "trying methods");
    }
    out->state = head->complete ? KN_ADVICE_KEPT : KN_ADVICE_STOPPED;
    out->suppressed = head->suppressed;
    out->k = head->k;
    out->classes = head->classes;
    return run->shape->judge(run, out, err);
}

/* One candidate: a separate run that borrows the data and owns its search, result and memory. */
static kn_status attempt(void *arg, const kn_spec *spec, kn_advice_candidate *out, kn_arena *arena, kn_error *err)
{
    const kn_release_run   *parent = arg;
    const kn_release_shape *shape = parent->shape;
    kn_anonymize_options    options = KN_ANONYMIZE_OPTIONS_INIT;
    kn_arena                texts;
    kn_release_run         *run = kn_alloc(parent->ctx, shape->run_size);
    kn_release_head        *head = kn_alloc_zero(parent->ctx, shape->result_size);
    kn_status               st = run && head ? KN_OK : kn_fail_memory(err, parent->ctx, "trying methods");
    if (st == KN_OK) {
        memcpy(run, parent, shape->run_size);
        options.dry_run = true;
        *head = (kn_release_head){.method = spec->method, .complete = true};
        kn_arena_init(&texts, parent->ctx);
        kn_arena_init(&run->scratch, parent->ctx);
        run->spec = spec;
        run->options = &options;
        run->head = head;
        run->arena = &texts;
        st = shape->begin(run, parent->head, err);
        if (st == KN_OK) st = shape->search(run, err);
        if (st == KN_OK) st = shape->measure(run, err);
        if (st == KN_OK) st = judge(run, out, arena, err);
        shape->end_search(run);
        kn_arena_free(&run->scratch);
        kn_arena_free(&texts);
    }
    kn_free(head);
    kn_free(run);
    return st;
}

static kn_status try_methods(kn_release_run *run, kn_advice *out, bool settings, kn_arena *arena, kn_error *err)
{
    kn_advisor advisor = {.ctx = run->ctx, .spec = run->spec, .attempt = attempt, .run = run, .settings = settings};
    KN_TRY(run->shape->count(run, &advisor, err));
    return kn_advice_make(out, &advisor, arena, err);
}

static kn_status choose(kn_release_run *run, kn_error *err)
{
    kn_advice *advice = kn_release_alloc(run, run->arena, 1, sizeof *advice, err);
    if (!advice) return KN_MEMORY;
    KN_TRY(try_methods(run, advice, false, run->arena, err));
    run->head->advice = advice;
    if (!advice->found) {
        for (int i = 0; i < advice->candidate_count; i++)
            if (advice->candidates[i].state == KN_ADVICE_LATE) run->head->complete = false;
        return kn_release_none(run, advice->reason, err);
    }
    run->chosen = kn_advice_spec(advice, run->spec);
    run->spec = &run->chosen;
    run->head->method = run->chosen.method;
    return KN_OK;
}

/* ---- The stages ---- */

static kn_status check(const kn_release_shape *shape, const kn_spec *spec, const kn_anonymize_options *options,
                       kn_error *err)
{
    KN_TRY(shape->check(spec, err));
    if (!spec->output && !options->dry_run) return kn_fail(err, KN_USAGE, "no output was given");
    if (spec->input_count < 1) return kn_fail(err, KN_USAGE, "no input was given");
    if (options->earlier && !options->disjoint)
        return kn_fail(err, KN_USAGE,
                       "what two releases tell together can be counted only if nobody is in both: say so "
                       "(disjoint), or leave the earlier release out");
    if (options->disjoint && !options->earlier)
        return kn_fail(err, KN_USAGE, "disjoint is about an earlier release; give one, or leave it out");
    if (options->earlier && options->dry_run)
        return kn_fail(err, KN_USAGE,
                       "promises are counted on an earlier release and a written one; a dry run writes "
                       "none");
    if (options->all_solutions && (spec->method_auto || !kn_method_has_nodes(spec->method)))
        return kn_fail(err, KN_USAGE,
                       "all solutions: only methods with one level for a whole column have nodes to list; take method "
                       "optimal, or do not ask for them");
    return options->dry_run ? kn_target_name_check(spec, err) : KN_OK; /* else checked when it is opened */
}

/* What was used so far: seconds by the clock, and of processors (kn_meter.h). */
typedef struct moment {
    double seconds, work, span;
} moment;

static moment now(const kn_release_run *run)
{
    kn_effort effort = kn_meter_read(run->ctx);
    return (moment){kn_clock_seconds(), (double)effort.work * 1e-9, (double)effort.span * 1e-9};
}

static moment between(moment begin, moment end)
{
    return (moment){end.seconds - begin.seconds, end.work - begin.work, end.span - begin.span};
}

static kn_status open_and_read(kn_release_run *run, kn_error *err)
{
    bool   write = !run->options->dry_run;
    moment begin = now(run);
    if (write) KN_TRY(run->shape->open(run, err));
    KN_TRY(run->shape->read(run, err));
    KN_TRY(digest_originals(run, err));
    moment took = between(begin, now(run));
    run->head->seconds_read = took.seconds;
    run->head->work_read = took.work;
    run->head->span_read = took.span;
    return KN_OK;
}

static kn_status check_left(kn_release_run *run, kn_error *err)
{
    const char *nothing = NULL, *why = NULL;
    KN_TRY(run->shape->left(run, &nothing, &why, err));
    run->head->nothing_left = nothing;
    if (!nothing) return KN_OK;
    return run->spec->force ? kn_release_note(run, err, "nothing is left: %s", nothing)
                            : kn_release_none(run, why, err);
}

static kn_status search(kn_release_run *run, kn_error *err)
{
    moment begin = now(run);
    if (run->spec->method_auto) KN_TRY(choose(run, err));
    if (!run->head->advice || run->head->advice->found) KN_TRY(run->shape->search(run, err));
    KN_TRY(run->shape->measure(run, err));
    if (run->head->found) KN_TRY(check_left(run, err));
    if (run->head->found && run->shape->warn) KN_TRY(run->shape->warn(run, err));
    moment took = between(begin, now(run));
    run->head->seconds_search = took.seconds;
    run->head->work_search = took.work;
    run->head->span_search = took.span;
    return KN_OK;
}

static kn_status verify(kn_release_run *run, kn_error *err)
{
    kn_status st = run->shape->verify(run, err);
    if (st == KN_OK || st == KN_MEMORY || st == KN_CANCELLED) return st;
    KN_TRY(kn_release_unchanged(run, err));
    return st;
}

static kn_status write_and_commit(kn_release_run *run, kn_error *err)
{
    moment begin = now(run);
    if (run->spec->report) KN_TRY(run->shape->spread(run, err));
    KN_TRY(run->shape->write(run, err));
    if (run->file_count > 0) KN_TRY(kn_digest_start(&run->digests, run->ctx, run->files, run->file_count, err));
    moment written = now(run);
    KN_TRY(verify(run, err));
    if (!run->head->found) return kn_release_report(run, err);
    moment verified = now(run);
    if (run->shape->publish) KN_TRY(run->shape->publish(run, err));
    KN_TRY(kn_release_commit(run, err));
    moment verifying = between(written, verified), writing = between(begin, written),
           rest = between(verified, now(run));
    run->head->seconds_verify = verifying.seconds;
    run->head->work_verify = verifying.work;
    run->head->span_verify = verifying.span;
    run->head->seconds_write = writing.seconds + rest.seconds;
    run->head->work_write = writing.work + rest.work;
    run->head->span_write = writing.span + rest.span;
    return KN_OK;
}

static kn_status stages(kn_release_run *run, kn_error *err)
{
    KN_TRY(open_and_read(run, err));
    KN_TRY(search(run, err));
    if (run->options->dry_run) return KN_OK;
    return run->head->found ? write_and_commit(run, err) : kn_release_report(run, err);
}

/* ---- A run ---- */

static kn_status begin(kn_release_run **out, const kn_release_shape *shape, kn_context *ctx, const kn_spec *spec,
                       const kn_anonymize_options *options, kn_error *err)
{
    KN_TRY(check(shape, spec, options, err));
    owned_result   *owned = kn_alloc_zero(ctx, sizeof *owned + shape->result_size);
    kn_release_run *run = kn_alloc_zero(ctx, shape->run_size);
    if (!owned || !run) {
        kn_free(owned);
        kn_free(run);
        return kn_fail_memory(err, ctx, "making a release");
    }
    kn_arena_init(&owned->arena, ctx);
    *run = (kn_release_run){.ctx = ctx, .shape = shape, .asked = spec, .spec = spec, .options = options};
    run->seed = spec->seed;
    run->head = (kn_release_head *)(void *)owned->result;
    *run->head = (kn_release_head){.method = spec->method, .complete = true};
    run->arena = &owned->arena;
    kn_arena_init(&run->scratch, ctx);
    *out = run;
    return shape->begin(run, NULL, err);
}

static void end(kn_release_run *run)
{
    if (!run) return;
    kn_digest_free(run->digests); /* before anything else: they read what is written, beside this thread */
    kn_digest_free(run->originals.digests);
    if (!run->base) kn_output_abort(run->output);
    run->shape->end_search(run);
    run->shape->end(run); /* before the set: what it asked a server may have been asked over the set's connection */
    kn_set_end(run->set);
    kn_public_free(run->facts);
    for (int i = 0; run->originals.marks && i < run->originals.count; i++) kn_input_mark_free(run->originals.marks[i]);
    kn_arena_free(&run->scratch);
    kn_free(run);
}

/* What `auto` chose, and hierarchies that are continued, are the run's: the request stays as it was. */
static void take_recipe(kn_release_run *run, kn_recipe *recipe)
{
    run->recipe = recipe;
    run->chosen = *run->asked;
    run->chosen.method = run->head->method = recipe->method;
    run->chosen.method_auto = false;
    run->spec = &run->chosen;
}

static kn_status make(kn_release_head **out, const kn_release_shape *shape, kn_context *ctx, const kn_spec *spec,
                      kn_recipe *recipe, const kn_anonymize_options *options, kn_error *err)
{
    *out = NULL;
    KN_OPTIONS(kn_anonymize_options, KN_ANONYMIZE_OPTIONS_INIT, options, "anonymize options", err);
    kn_release_run *run = NULL;
    kn_status       st = begin(&run, shape, ctx, spec, options, err);
    if (st == KN_OK && options->earlier && !recipe)
        st = kn_fail(err, KN_USAGE, "an earlier release is for rows that are released by its recipe (kn_apply)");
    if (st == KN_OK && recipe) take_recipe(run, recipe);
    kn_meter_start(ctx, NULL);
    if (st == KN_OK) st = stages(run, err);
    kn_meter_stop(ctx);
    kn_release_head *head = run ? run->head : NULL;
    end(run);
    if (st == KN_OK)
        *out = head;
    else
        free_result(head);
    return st;
}

static kn_status make_release(kn_release_head **out, const kn_release_shape *shape, kn_context *ctx,
                              const kn_spec *spec, const kn_anonymize_options *options, kn_error *err)
{
    return make(out, shape, ctx, spec, NULL, options, err);
}

kn_status kn_release_apply(kn_release_head **out, const kn_release_shape *shape, kn_context *ctx, kn_recipe *recipe,
                           const kn_anonymize_options *options, kn_error *err)
{
    return make(out, shape, ctx, recipe->spec, recipe, options, err);
}

kn_status kn_release_look(kn_look_fn look, void *user, kn_arena *arena, const kn_release_shape *shape, kn_context *ctx,
                          const kn_spec *spec, kn_error *err)
{
    kn_anonymize_options options = KN_ANONYMIZE_OPTIONS_INIT;
    kn_release_run      *run = NULL;
    options.dry_run = true;
    kn_status st = begin(&run, shape, ctx, spec, &options, err);
    if (run) run->arena = arena; /* notes and dropped names go into the answer     */
    if (st == KN_OK) st = open_and_read(run, err);
    if (st == KN_OK) st = look(run, user, err);
    kn_release_head *head = run ? run->head : NULL;
    end(run);
    free_result(head);
    return st;
}

static kn_status look_for_methods(kn_release_run *run, void *user, kn_error *err)
{
    kn_advice *out = user;
    KN_TRY(try_methods(run, out, true, run->arena, err));
    out->notes = run->head->notes;
    out->note_count = run->head->note_count;
    out->dropped = run->head->dropped;
    out->dropped_count = run->head->dropped_count;
    return KN_OK;
}

kn_status kn_release_advise(kn_advice *out, kn_arena *arena, const kn_release_shape *shape, kn_context *ctx,
                            const kn_spec *spec, kn_error *err)
{
    return kn_release_look(look_for_methods, out, arena, shape, ctx, spec, err);
}

/* ---- The public functions ---- */

kn_status kn_anonymize(kn_release_result **out, kn_context *ctx, const kn_spec *spec,
                       const kn_anonymize_options *options, kn_error *err)
{
    *out = NULL;
    KN_SERVE(ctx, err);
    kn_release_head *head = NULL;
    kn_status        st = make_release(&head, &kn_table_shape, ctx, spec, options, err);
    *out = (kn_release_result *)(void *)head;
    return st;
}

kn_status kn_anonymize_database(kn_database_result **out, kn_context *ctx, const kn_spec *spec,
                                const kn_anonymize_options *options, kn_error *err)
{
    *out = NULL;
    KN_SERVE(ctx, err);
    kn_release_head *head = NULL;
    kn_status        st = make_release(&head, &kn_database_shape, ctx, spec, options, err);
    *out = (kn_database_result *)(void *)head;
    return st;
}

kn_status kn_anonymize_records(kn_records_result **out, kn_context *ctx, const kn_spec *spec,
                               const kn_anonymize_options *options, kn_error *err)
{
    *out = NULL;
    KN_SERVE(ctx, err);
    kn_release_head *head = NULL;
    kn_status        st = make_release(&head, &kn_records_shape, ctx, spec, options, err);
    *out = (kn_records_result *)(void *)head;
    return st;
}

kn_status kn_anonymize_any(kn_release_head **out, kn_context *ctx, const kn_spec *spec,
                           const kn_anonymize_options *options, kn_error *err)
{
    const kn_release_shape *const shapes[] = {[KN_SHAPE_TABLE] = &kn_table_shape,
                                              [KN_SHAPE_DATABASE] = &kn_database_shape,
                                              [KN_SHAPE_RECORDS] = &kn_records_shape};
    return make_release(out, shapes[kn_spec_shape(spec)], ctx, spec, options, err);
}

void kn_release_head_free(kn_release_head *head)
{
    free_result(head);
}

void kn_release_result_free(kn_release_result *result)
{
    free_result(result ? &result->head : NULL);
}

void kn_database_result_free(kn_database_result *result)
{
    free_result(result ? &result->head : NULL);
}

void kn_records_result_free(kn_records_result *result)
{
    free_result(result ? &result->head : NULL);
}
