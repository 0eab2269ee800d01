/* table/release.c: kn_anonymize: the stages of a run in their order. See kn_job_anonymize.h for the stages.
 *
 * The output is opened before anything is read: a folder that cannot be written costs no search. Its temporary file is
 * removed again in every case but success and a kill.
 *
 * Memory: the table, the search and the release's order; then, with all that freed, what the verifier holds.
 */
#include "kn_job_anonymize.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "kn_alloc.h"
#include "kn_clock.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_job_advise.h"
#include "kn_job_texts.h"
#include "kn_public.h"

typedef struct owned_result {
    kn_release_result result; /* first: what the caller holds */
    kn_arena          arena;
} owned_result;

/* ---- Small things ---- */

double kn_run_clock(void)
{
    return kn_clock_seconds();
}

void *kn_run_room(kn_run *run, kn_arena *arena, size_t count, size_t size, kn_error *err)
{
    return kn_job_room(run->ctx, arena, count, size, err);
}

char *kn_run_text(kn_run *run, const char *text, kn_error *err)
{
    char *copy = kn_arena_strndup(run->arena, text, strlen(text));
    if (!copy) (void)kn_fail_memory(err, run->ctx, "making a release");
    return copy;
}

kn_status kn_run_note(kn_run *run, kn_error *err, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    kn_status st =
        kn_job_add_note(run->ctx, run->arena, &run->result->notes, &run->result->note_count, err, format, args);
    va_end(args);
    return st;
}

/* Messages name what the user gave, not the copy of it. */
static void name_streams(const kn_run *run, kn_error *err)
{
    for (int i = 0; err && i < run->spool_count; i++) {
        const kn_spool *spool = &run->spools[i];
        char           *at = strstr(err->message, spool->path);
        if (!at) continue;
        char rest[sizeof err->message];
        memcpy(rest, at + strlen(spool->path), strlen(at + strlen(spool->path)) + 1);
        size_t room = sizeof err->message - (size_t)(at - err->message);
        snprintf(at, room, "%s%s", spool->name, rest);
    }
}

void kn_run_end_search(kn_run *run)
{
    for (int q = 0; run->hierarchies && q < run->quasi_count; q++) kn_hierarchy_free(run->hierarchies[q]);
    for (int c = 0; run->table && run->column_hierarchies && c < run->table->column_count; c++)
        kn_hierarchy_free(run->column_hierarchies[c]);
    kn_plan_free(run->plan);
    kn_fulldomain_result_free(run->found);
    kn_objective_free(run->objective);
    kn_population_set_free(run->population);
    kn_requirements_free(run->requirements);
    kn_table_free(run->population_table);
    run->hierarchies = NULL;
    run->column_hierarchies = NULL;
    run->plan = NULL;
    run->found = NULL;
    run->objective = NULL;
    run->population = NULL;
    run->requirements = NULL;
    run->population_table = NULL;
}

static void end_run(kn_run *run)
{
    kn_output_abort(run->release);
    kn_public_free(run->facts);
    kn_digest_free(run->digests);
    kn_run_end_search(run);
    kn_output_abort(run->summary);
    kn_table_free(run->table);
    kn_free(run->original_rows);
    kn_free(run->map);
    for (int i = 0; run->dependencies && i < run->spec->dependency_count; i++) kn_dependency_free(run->dependencies[i]);
    if (run->keys) kn_pseudonym_forget(run->keys, (size_t)run->column_count * KN_PSEUDONYM_KEY);
    for (int i = 0; i < run->spool_count; i++) close(run->spools[i].fd);
    kn_arena_free(&run->scratch);
}

/* ---- The run ---- */

static kn_status check(const kn_spec *spec, const kn_anonymize_options *options, kn_error *err)
{
    if (options->size != sizeof *options)
        return kn_fail(err, KN_USAGE, "kn_anonymize_options was not initialized with KN_ANONYMIZE_OPTIONS_INIT");
    KN_TRY(kn_spec_check_one_table(spec, NULL, err));
    if (!spec->output && !options->dry_run) return kn_fail(err, KN_USAGE, "no output was given");
    if (spec->input_count < 1) return kn_fail(err, KN_USAGE, "no input was given");
    return KN_OK;
}

/* Everything that does not depend on the method. */
static kn_status read_stages(kn_run *run, kn_error *err)
{
    bool   write = !run->options->dry_run;
    double begin = kn_run_clock();
    KN_TRY(kn_run_paths(run, err));
    if (write) KN_TRY(kn_run_open(run, err));
    KN_TRY(kn_run_read(run, err));
    if (write) KN_TRY(kn_digest_start(&run->digests, run->ctx, run->inputs, run->spec->input_count, err));
    KN_TRY(kn_run_link(run, err));
    KN_TRY(kn_run_columns(run, err));
    KN_TRY(kn_run_dependencies(run, err));
    KN_TRY(kn_run_warn(run, err));
    run->result->seconds_read = kn_run_clock() - begin;
    return KN_OK;
}

static kn_status stages(kn_run *run, kn_error *err)
{
    bool write = !run->options->dry_run;
    KN_TRY(read_stages(run, err));
    double read = kn_run_clock();
    if (run->spec->method_auto) KN_TRY(kn_run_choose(run, err));
    KN_TRY(kn_run_prepare(run, err));
    if (run->result->advice && !run->result->advice->found) {
        KN_TRY(kn_run_no_release(run, run->result->advice->reason, err));
        return kn_run_measure(run, err);
    }
    KN_TRY(kn_run_search(run, err));
    KN_TRY(kn_run_measure(run, err));
    if (run->result->found) KN_TRY(kn_run_warn_of_classes(run, err));
    if (run->result->found) KN_TRY(kn_run_warn_of_force(run, err));
    run->result->seconds_search = kn_run_clock() - read;
    return run->result->found && write ? kn_run_write(run, err) : KN_OK;
}

kn_status kn_run_advise(kn_advice *out, kn_arena *arena, kn_context *ctx, const kn_spec *spec, kn_error *err)
{
    kn_anonymize_options options = KN_ANONYMIZE_OPTIONS_INIT;
    kn_release_result    result = {.utility = spec->utility};
    kn_arena             texts;
    options.dry_run = true;
    KN_TRY(check(spec, &options, err));
    kn_run run = {.ctx = ctx, .asked = spec, .spec = spec, .options = &options, .result = &result, .arena = &texts};
    kn_arena_init(&texts, ctx);
    kn_arena_init(&run.scratch, ctx);
    kn_status st = read_stages(&run, err);
    if (st == KN_OK) st = kn_run_try_methods(&run, out, arena, err);
    if (st != KN_OK) name_streams(&run, err);
    end_run(&run);
    kn_arena_free(&texts);
    return st;
}

kn_status kn_anonymize(kn_release_result **out, kn_context *ctx, const kn_spec *spec,
                       const kn_anonymize_options *options, kn_error *err)
{
    *out = NULL;
    const kn_anonymize_options plain = KN_ANONYMIZE_OPTIONS_INIT;
    if (!options) options = &plain;
    KN_TRY(check(spec, options, err));
    owned_result *owned = kn_alloc_zero(ctx, sizeof *owned);
    if (!owned) return kn_fail_memory(err, ctx, "making a release");
    kn_arena_init(&owned->arena, ctx);
    owned->result.method = spec->method;
    owned->result.utility = spec->utility;
    kn_run run = {
        .ctx = ctx, .asked = spec, .spec = spec, .options = options, .result = &owned->result, .arena = &owned->arena};
    kn_arena_init(&run.scratch, ctx);
    kn_status st = stages(&run, err);
    if (st != KN_OK) name_streams(&run, err);
    end_run(&run);
    if (st != KN_OK)
        kn_release_result_free(&owned->result);
    else
        *out = &owned->result;
    return st;
}

void kn_release_result_free(kn_release_result *result)
{
    if (!result) return;
    owned_result *owned = (owned_result *)result;
    kn_arena_free(&owned->arena);
    kn_free(owned);
}
