/* records/write.c: released records → a file: written under a temporary name, read back, verified, compared, renamed
 * (kn_job_records.h). What stands beside it gets its names first, as for tables.
 * SPDX-License-Identifier: Apache-2.0 */
#include <kanon/report.h>
#include <kanon/verify.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_beside.h"
#include "kn_context.h"
#include "kn_digest.h"
#include "kn_error.h"
#include "kn_extras.h"
#include "kn_job_anonymize.h"
#include "kn_job_publish.h"
#include "kn_job_records.h"
#include "kn_private.h"
#include "kn_records_private.h"
#include "kn_records_write.h"

/* ---- Verifying ---- */

static kn_status mistake(kn_error *err, const char *what)
{
    return kn_fail(err, KN_INTERNAL, "a mistake in kanon, and nothing was written: %s", what);
}

static bool differ(double a, double b)
{
    return !(fabs(a - b) <= 1e-9 * fmax(1e-9, fmax(fabs(a), fabs(b))));
}

static kn_status compare(kn_records_result *r, const kn_records_verify_report *v, kn_error *err)
{
    kn_release_model *models = (kn_release_model *)(uintptr_t)r->models;
    if (r->records != v->records) return mistake(err, "the number of records differs");
    if (r->nodes != v->nodes || r->relations != v->relations) return mistake(err, "the nodes or relations differ");
    if (!isnan(v->rpd) && differ(r->rpd, v->rpd)) return mistake(err, "the loss differs");
    r->k = v->k;
    r->largest_share = v->largest_share;
    for (int i = 0; i < r->model_count && i < v->model_count; i++) models[i].reached = v->models[i].reached;
    return KN_OK;
}

static kn_records_form release_form(const kn_recrun *run)
{
    return run->records->layout.form == KN_RECORDS_DATABASE ? KN_RECORDS_JSON : run->records->layout.form;
}

/* What was written, by its bytes. */
static kn_status read_back(kn_recrun *run, kn_records **out, kn_error *err)
{
    kn_records_options options = kn_recrun_reading(run);
    options.form = release_form(run);
    options.released = true;
    return kn_records_read(out, run->ctx, kn_output_temporary(run->output), &options, err);
}

typedef struct looking {
    const kn_recrun  *run;
    const kn_records *back;
} looking;

/* How the file is written: what was read back, written again. */
static kn_status look_at_form(void *state, void (*tell)(void *arg, const char *sentence), void *arg, kn_error *err)
{
    const looking *l = state;
    const kn_spec *spec = l->run->spec;
    return kn_records_extras(l->run->ctx, kn_output_temporary(l->run->output), l->back, l->run->records, spec->classes,
                             spec->class_count, tell, arg, err);
}

static kn_status verify(kn_recrun *run, kn_error *err)
{
    kn_records_verify_report *report = NULL;
    kn_records_verify_options options = KN_RECORDS_VERIFY_OPTIONS_INIT;
    kn_records               *back = NULL;
    char                      why[600];
    options.release = kn_output_temporary(run->output);
    options.map = run->original_of;
    options.map_count = run->released->count;
    kn_status st = read_back(run, &back, err);
    looking   form = {run, back};
    options.form = release_form(run);
    options.snapshot = kn_input_mark_snapshot(run->mark);
    options.look_at_form = look_at_form;
    options.form_state = &form;
    if (st == KN_OK) st = kn_verify_records_files(&report, run->ctx, run->spec, &options, err);
    bool holds = st == KN_OK && report->ok;
    if (holds) st = kn_public_of_records(&run->facts, run->ctx, run->asked, back, err);
    kn_records_free(back);
    if (!holds && (st == KN_INPUT || st == KN_USAGE)) {
        snprintf(why, sizeof why, "the verifier says: %.500s", err ? err->message : "");
        st = mistake(err, why);
    }
    if (st == KN_OK && !report->ok) {
        snprintf(why, sizeof why, "the verifier says: %.500s",
                 report->problem_count > 0 ? report->problems[0] : "the release does not hold");
        st = mistake(err, why);
    }
    if (st == KN_OK) st = compare(run->result, report, err);
    if (st != KN_OK && kn_input_mark_changed(run->mark))
        st = kn_fail(err, KN_INPUT, "%s: changed while it was read; nothing was written", run->spec->inputs[0]);
    kn_records_verify_report_free(report);
    return st;
}

/* ---- Files ---- */

enum { ROWMAP, PRIVATE, CERTIFICATE, REPORT, PAGE, BESIDE };

static kn_public_seal seal_of(kn_recrun *run)
{
    run->digest = run->result->sha256;
    return (kn_public_seal){.version = run->options->version, .file_count = 1, .digests = &run->digest};
}

static kn_status render(kn_recrun *run, kn_beside *all, const char *digest, kn_error *err)
{
    kn_records_private_input input = {.spec = run->spec,
                                      .result = run->result,
                                      .version = run->options->version,
                                      .digest = digest,
                                      .plan = run->found->plan,
                                      .vocabulary = run->records->vocabulary,
                                      .rowmap = run->spec->keep_rowmap};
    kn_buffer private;
    kn_buffer_init(&private, run->ctx);
    kn_status st = kn_records_private_render(&private, &input, err);
    if (st == KN_OK) kn_output_write(all[PRIVATE].output, private.data, private.size);
    kn_buffer_free(&private);
    kn_public_seal seal = seal_of(run);
    if (st == KN_OK) st = kn_job_certificate(all[CERTIFICATE].output, run->facts, &seal, err);
    return st;
}

static kn_status write_texts(kn_recrun *run, kn_beside *all, kn_error *err)
{
    kn_digest_job     *job = NULL;
    const char        *paths[] = {kn_output_temporary(run->output), run->spec->inputs[0]};
    const char *const *digests = NULL;
    int                count = run->records->layout.form == KN_RECORDS_DATABASE ? 1 : 2;
    KN_TRY(kn_digest_start(&job, run->ctx, paths, count, err));
    kn_status st = kn_digest_wait(job, &digests, err);
    if (st == KN_OK) {
        snprintf(run->result->sha256, sizeof run->result->sha256, "%s", digests[0]);
        st = render(run, all, count > 1 ? digests[1] : NULL, err);
    }
    kn_digest_free(job);
    return st;
}

static kn_status write_beside(kn_recrun *run, kn_beside *all, kn_error *err)
{
    const char *output = run->spec->output;
    if (run->spec->keep_rowmap) {
        KN_TRY(kn_beside_open(&all[ROWMAP], run->ctx, output, KN_ROWMAP_SUFFIX, 0600, err));
        KN_TRY(kn_rowmap_write(all[ROWMAP].output, run->ctx, run->original_of, run->released->count, err));
    }
    KN_TRY(kn_beside_open(&all[PRIVATE], run->ctx, output, KN_PRIVATE_SUFFIX, 0600, err));
    KN_TRY(kn_beside_open(&all[CERTIFICATE], run->ctx, output, KN_CERTIFICATE_SUFFIX, 0, err));
    KN_TRY(write_texts(run, all, err));
    for (int i = 0; i < BESIDE; i++) KN_TRY(kn_beside_settle(&all[i], err));
    return KN_OK;
}

static kn_status write_report(kn_recrun *run, kn_beside *b, kn_error *err)
{
    const char *path = run->spec->report;
    if (!path) return KN_OK;
    KN_TRY(kn_beside_before(b, run->ctx, path, err));
    kn_status st = kn_records_report_write(run->ctx, path, run->spec, run->result, run->options->version, err);
    kn_beside_after(b);
    return st;
}

static kn_status write_page(kn_recrun *run, kn_beside *b, kn_error *err)
{
    const char    *path = run->spec->public_report;
    kn_public_seal seal = seal_of(run);
    if (!path) return KN_OK;
    KN_TRY(kn_beside_before(b, run->ctx, path, err));
    kn_status st = kn_job_public_page(path, run->facts, &seal, err);
    kn_beside_after(b);
    return st;
}

static kn_status commit(kn_recrun *run, kn_error *err)
{
    kn_beside   all[BESIDE] = {{0}};
    struct stat release = {0};
    kn_status   st = kn_settle(run->output, run->spec->output, err);
    if (st == KN_OK && fstat(kn_output_fd(run->output), &release) != 0)
        st = kn_fail(err, KN_IO, "%s: writing failed", run->spec->output);
    if (st == KN_OK) st = write_beside(run, all, err);
    if (st == KN_OK && kn_cancelled(run->ctx)) st = kn_fail_cancelled(err);
    for (int i = 0; i <= CERTIFICATE && st == KN_OK; i++) st = kn_beside_commit(&all[i], err);
    if (st == KN_OK) st = write_report(run, &all[REPORT], err);
    if (st == KN_OK) st = write_page(run, &all[PAGE], err);
    if (st == KN_OK) {
        kn_output *output = run->output;
        run->output = NULL;
        st = kn_output_commit(output, err);
    }
    /* What failed may be the last sync of the folder: a release that has its name keeps what stands beside it. */
    bool back = st != KN_OK && !kn_has_name(run->spec->output, &release);
    for (int i = 0; i < BESIDE; i++) kn_beside_end(&all[i], back);
    if (st == KN_OK && !run->spec->keep_rowmap) kn_beside_remove(run->ctx, run->spec->output, KN_ROWMAP_SUFFIX);
    return st;
}

kn_status kn_recrun_write(kn_recrun *run, kn_error *err)
{
    double            begin = kn_run_clock();
    kn_records_layout layout = run->records->layout;
    if (layout.form == KN_RECORDS_DATABASE) layout.classes = true; /* there is no form that it came in */
    KN_TRY(kn_records_write(run->output, run->ctx, run->released, &layout, run->spec->classes, run->spec->class_count,
                            err));
    KN_TRY(kn_output_flush(run->output, err));
    double written = kn_run_clock();
    run->result->seconds_write = written - begin;
    KN_TRY(verify(run, err));
    double verified = kn_run_clock();
    run->result->seconds_verify = verified - written;
    KN_TRY(commit(run, err));
    run->result->seconds_write += kn_run_clock() - verified;
    return KN_OK;
}
