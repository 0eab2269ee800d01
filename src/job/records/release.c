/* records/release.c: kn_anonymize_records: reads, searches, applies, measures; write.c does the rest.
 *
 * The output is opened before anything is read. Memory: the records, the search; then records and release, twice while the
 * verifier reads them.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_job_records.h"

#include <kanon/database.h>
#include <kanon/report.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "kn_alloc.h"
#include "kn_database_roles.h"
#include "kn_error.h"
#include "kn_forest.h"
#include "kn_job_advise.h"
#include "kn_job_anonymize.h"
#include "kn_job_database.h"
#include "kn_job_texts.h"
#include "kn_public.h"
#include "kn_targets.h"

typedef struct owned_result {
    kn_records_result result; /* first: what the caller holds */
    kn_arena          arena;
} owned_result;

static void *room(kn_recrun *run, size_t count, size_t size, kn_error *err)
{
    return kn_job_room(run->ctx, run->arena, count, size, err);
}

kn_status kn_recrun_note(kn_recrun *run, kn_error *err, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    kn_status st =
        kn_job_add_note(run->ctx, run->arena, &run->result->notes, &run->result->note_count, err, format, args);
    va_end(args);
    return st;
}

/* ---- Reading ---- */

kn_records_options kn_recrun_reading(const kn_recrun *run)
{
    kn_records_options options = KN_RECORDS_OPTIONS_INIT;
    options.record = run->spec->record;
    options.classes = run->spec->classes;
    options.class_count = run->spec->class_count;
    options.delimiter = run->spec->csv.delimiter;
    return options;
}

static kn_status open_output(kn_recrun *run, kn_error *err)
{
    const char *output = run->spec->output;
    struct stat x, y;
    if (strcmp(output, "-") == 0)
        return kn_fail(err, KN_USAGE, "records are released to a file: --output FILE is needed");
    if (stat(output, &x) == 0 && stat(run->spec->inputs[0], &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino)
        return kn_fail(err, KN_USAGE, "the output would overwrite the input");
    KN_TRY(kn_targets_check(run->ctx, run->spec, output, err));
    KN_TRY(kn_output_open(&run->output, run->ctx, output, NULL, err));
    return kn_output_is_stream(run->output) ? kn_fail(err, KN_USAGE, "%s: exists and is not a file", output) : KN_OK;
}

static kn_status read_records(kn_recrun *run, kn_error *err)
{
    kn_records_options options = kn_recrun_reading(run);
    kn_records_result *r = run->result;
    if (strcmp(run->spec->inputs[0], "-") == 0)
        return kn_fail(err, KN_USAGE, "records are read twice: they cannot come from standard input");
    KN_TRY(kn_input_mark_take(&run->mark, run->ctx, run->spec->inputs[0], err));
    if (run->spec->table_count > 0)
        KN_TRY(kn_records_read_persons(&run->records, run->ctx, run->spec->inputs[0], run->spec,
                                       kn_input_mark_snapshot(run->mark), err));
    else
        KN_TRY(kn_records_read(&run->records, run->ctx, run->spec->inputs[0], &options, err));
    if (run->records->count == 0) return kn_fail(err, KN_INPUT, "%s: there are no records", run->spec->inputs[0]);
    r->records = run->records->count;
    r->merged = kn_records_merged(run->records);
    for (int i = 0; i < kn_records_ignored(run->records); i++)
        KN_TRY(kn_job_add_text(run->ctx, run->arena, kn_records_ignored_name(run->records, i), &r->dropped,
                               &r->dropped_count, err));
    if (r->dropped_count > 0 && run->spec->undeclared_refuse)
        return kn_fail(err, KN_INPUT, "\"%s\" belongs to no class (undeclared: refuse)", r->dropped[0]);
    if (run->records->orphans > 0)
        KN_TRY(kn_recrun_note(run, err, "%lld %s to nobody and %s not released", (long long)run->records->orphans,
                              run->records->orphans == 1 ? "row belongs" : "rows belong",
                              run->records->orphans == 1 ? "is" : "are"));
    if (r->merged > 0)
        KN_TRY(kn_recrun_note(run, err, "%lld %s equal to a sibling: how often somebody has a value is not released",
                              (long long)r->merged, r->merged == 1 ? "node was" : "nodes were"));
    return KN_OK;
}

/* ---- Searching ---- */

static int64_t promised_l(const kn_spec *spec)
{
    int64_t l = 0;
    for (int i = 0; i < spec->model_count; i++) {
        const kn_model *m = &spec->models[i];
        if (m->kind == KN_MODEL_DISTINCT && (int64_t)(m->l.numerator / m->l.denominator) > l)
            l = (int64_t)(m->l.numerator / m->l.denominator);
    }
    return l;
}

static kn_status copy_counters(kn_recrun *run, kn_error *err)
{
    const kn_tree_counters  *c = &run->found->counters;
    const kn_release_counter counters[] = {
        {"cuts", (double)c->cuts},           {"value_checks", (double)c->value_checks},
        {"passed", (double)c->passed},       {"intersections", (double)c->intersections},
        {"relations", (double)c->relations}, {"disassociations_tried", (double)c->disassociations}};
    size_t              count = sizeof counters / sizeof *counters;
    kn_release_counter *copy = room(run, count, sizeof *copy, err);
    if (!copy) return KN_MEMORY;
    memcpy(copy, counters, sizeof counters);
    run->result->counters = copy;
    run->result->counter_count = (int)count;
    return KN_OK;
}

static const char *showing(const kn_vocabulary *v)
{
    for (int c = 0; c < v->class_count; c++)
        if (v->sensitive[c]) return "sensitive values and * alone";
    return "* alone";
}

static kn_status no_release(kn_recrun *run, kn_error *err)
{
    char why[200];
    if (!run->found->complete)
        snprintf(why, sizeof why, "the time limit ended the search before it had found a release");
    else if (run->records->count < run->spec->kmn.k)
        snprintf(why, sizeof why, "k-mn: it needs at least %lld records, and there %s %lld",
                 (long long)run->spec->kmn.k, run->records->count == 1 ? "is" : "are", (long long)run->records->count);
    else
        snprintf(why, sizeof why, "not even records that show %s keep what was asked",
                 showing(run->records->vocabulary));
    run->result->reason = kn_arena_strndup(run->arena, why, strlen(why));
    return run->result->reason ? KN_OK : kn_fail_memory(err, run->ctx, "making a release");
}

static kn_status search(kn_recrun *run, kn_error *err)
{
    const kn_spec  *spec = run->spec;
    kn_tree_problem problem = KN_TREE_PROBLEM_INIT;
    problem.records = run->records;
    problem.method = spec->method;
    problem.k = spec->kmn.k;
    problem.m = spec->kmn.m;
    problem.n = spec->kmn.n;
    problem.g = (int)spec->g;
    problem.semantics = spec->semantics;
    problem.strict = spec->strict_structure;
    problem.time_limit = spec->time_limit;
    problem.l = promised_l(spec);
    problem.reference = spec->reference;
    KN_TRY(kn_tree_search(&run->found, run->ctx, &problem, err));
    run->result->found = run->found->found;
    run->result->complete = run->found->complete;
    KN_TRY(copy_counters(run, err));
    return run->found->found ? KN_OK : no_release(run, err);
}

/* ---- Measuring ---- */

static kn_status count_values(kn_recrun *run, const kn_records *records, int64_t *out, kn_error *err)
{
    bool *seen = kn_alloc_array_zero(run->ctx, (size_t)records->vocabulary->nodes + 1, sizeof *seen);
    if (!seen) return kn_fail_memory(err, run->ctx, "making a release");
    *out = 0;
    for (uint64_t i = 0; i < records->nodes; i++) {
        *out += !seen[records->value[i]];
        seen[records->value[i]] = true;
    }
    kn_free(seen);
    return KN_OK;
}

static kn_status list_models(kn_recrun *run, kn_error *err)
{
    const kn_spec    *spec = run->spec;
    kn_release_model *models = room(run, (size_t)spec->model_count, sizeof *models, err);
    if (!models) return KN_MEMORY;
    for (int i = 0; i < spec->model_count; i++) {
        models[i] = (kn_release_model){spec->models[i], NAN, NAN};
        const char *name = models[i].model.attribute;
        if (name && !(models[i].model.attribute = kn_arena_strndup(run->arena, name, strlen(name))))
            return kn_fail_memory(err, run->ctx, "making a release");
    }
    run->result->models = models;
    run->result->model_count = spec->model_count;
    return KN_OK;
}

static kn_status measure(kn_recrun *run, kn_error *err)
{
    const kn_spec          *spec = run->spec;
    kn_records_result      *r = run->result;
    kn_tree_metrics         m;
    kn_tree_metrics_options options = KN_TREE_METRICS_OPTIONS_INIT;
    options.mine = spec->support.numerator > 0;
    if (options.mine) options.support = (double)spec->support.numerator / (double)spec->support.denominator;
    KN_TRY(kn_records_apply(&run->released, &run->original_of, run->ctx, run->records, run->found->plan, err));
    KN_TRY(kn_tree_measure(&m, run->ctx, run->records, run->released, run->original_of, &options, err));
    r->nodes = m.nodes;
    r->nodes_original = m.nodes_original;
    r->relations = m.relations;
    r->relations_original = m.relations_original;
    r->node_survival = m.node_survival;
    r->relation_survival = m.relation_survival;
    r->relation_unchanged = m.relation_unchanged;
    r->rpd = m.rpd;
    r->rpd_original = m.rpd_original;
    r->ml2 = m.ml2;
    r->dml2 = m.dml2;
    r->cost = run->found->cost;
    r->disassociations = run->found->plan->disassociation_count;
    KN_TRY(count_values(run, run->records, &r->values_original, err));
    KN_TRY(count_values(run, run->released, &r->values, err));
    return list_models(run, err);
}

kn_status kn_recrun_search(kn_recrun *run, kn_error *err)
{
    KN_TRY(search(run, err));
    return run->result->found ? measure(run, err) : KN_OK;
}

void kn_recrun_end_search(kn_recrun *run)
{
    kn_records_free(run->released);
    kn_free(run->original_of);
    kn_tree_result_free(run->found);
    run->released = NULL;
    run->original_of = NULL;
    run->found = NULL;
}

/* ---- The run ---- */

static kn_status check(const kn_spec *spec, const kn_anonymize_options *options, kn_error *err)
{
    if (options->size != sizeof *options)
        return kn_fail(err, KN_USAGE, "kn_anonymize_options was not initialized with KN_ANONYMIZE_OPTIONS_INIT");
    if (kn_spec_shape(spec) != KN_SHAPE_RECORDS) return kn_fail(err, KN_USAGE, "the spec describes no tree records");
    if (kn_method_family(spec->method) != KN_FAMILY_TREE)
        return kn_fail(err, KN_USAGE, "method %s is not one for trees", kn_method_name(spec->method));
    if (!spec->output && !options->dry_run) return kn_fail(err, KN_USAGE, "no output was given");
    if (spec->input_count != 1) return kn_fail(err, KN_USAGE, "tree records are one input");
    return KN_OK;
}

static kn_status stages(kn_recrun *run, kn_error *err)
{
    bool   write = !run->options->dry_run;
    double begin = kn_run_clock();
    KN_TRY(kn_target_name_check(run->spec, err));
    if (write) KN_TRY(open_output(run, err));
    KN_TRY(read_records(run, err));
    double read = kn_run_clock();
    run->result->seconds_read = read - begin;
    if (run->spec->method_auto) KN_TRY(kn_recrun_choose(run, err));
    if (!run->result->advice || run->result->advice->found) KN_TRY(kn_recrun_search(run, err));
    run->result->seconds_search = kn_run_clock() - read;
    if (!run->result->found)
        return write && run->spec->report ? kn_records_report_write(run->ctx, run->spec->report, run->spec, run->result,
                                                                    run->options->version, err)
                                          : KN_OK;
    KN_TRY(kn_recrun_warn(run, err));
    return write ? kn_recrun_write(run, err) : KN_OK;
}

static void end_run(kn_recrun *run)
{
    kn_output_abort(run->output);
    kn_public_free(run->facts);
    kn_recrun_end_search(run);
    kn_records_free(run->records);
    kn_input_mark_free(run->mark);
}

kn_status kn_recrun_advise(kn_advice *out, kn_arena *arena, kn_context *ctx, const kn_spec *spec, kn_error *err)
{
    kn_anonymize_options options = KN_ANONYMIZE_OPTIONS_INIT;
    kn_records_result    result = {.found = false};
    kn_arena             texts;
    options.dry_run = true;
    KN_TRY(check(spec, &options, err));
    kn_recrun run = {.ctx = ctx, .asked = spec, .spec = spec, .options = &options, .result = &result, .arena = &texts};
    kn_arena_init(&texts, ctx);
    kn_status st = read_records(&run, err);
    if (st == KN_OK) st = kn_recrun_try_methods(&run, out, arena, err);
    end_run(&run);
    kn_arena_free(&texts);
    return st;
}

kn_status kn_anonymize_records(kn_records_result **out, kn_context *ctx, const kn_spec *spec,
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
    owned->result.kmn = spec->kmn;
    kn_recrun run = {
        .ctx = ctx, .asked = spec, .spec = spec, .options = options, .result = &owned->result, .arena = &owned->arena};
    kn_status st = stages(&run, err);
    end_run(&run);
    if (st != KN_OK)
        kn_records_result_free(&owned->result);
    else
        *out = &owned->result;
    return st;
}

void kn_records_result_free(kn_records_result *result)
{
    if (!result) return;
    owned_result *owned = (owned_result *)result;
    kn_arena_free(&owned->arena);
    kn_free(owned);
}
