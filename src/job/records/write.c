/* records/write.c: released records → a file: written under a temporary name, read back, verified, compared, renamed
 * with what stands beside it (kn_job_records.h, kn_set.h). */
#include <kanon/verify.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_context.h"
#include "kn_digest.h"
#include "kn_error.h"
#include "kn_job_anonymize.h"
#include "kn_job_publish.h"
#include "kn_job_records.h"
#include "kn_private.h"
#include "kn_records_private.h"
#include "kn_records_report.h"
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

/* What was written, by its bytes. */
static kn_status read_back(kn_recrun *run, kn_records **out, kn_error *err)
{
    kn_records_options options = kn_recrun_reading(run);
    options.form = run->records->layout.form == KN_RECORDS_DATABASE ? KN_RECORDS_JSON : run->records->layout.form;
    options.released = true;
    return kn_records_read(out, run->ctx, kn_output_temporary(run->output), &options, err);
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
    if (st == KN_OK) st = kn_verify_records_pair(&report, run->ctx, run->spec, run->records, back, &options, err);
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
    kn_records_verify_report_free(report);
    return st;
}

/* ---- Files ---- */

static kn_public_seal seal_of(kn_recrun *run)
{
    run->digest = run->result->sha256;
    return (kn_public_seal){.version = run->options->version, .file_count = 1, .digests = &run->digest};
}

static kn_status render(kn_recrun *run, const char *digest, kn_error *err)
{
    kn_records_private_input input = {.spec = run->spec,
                                      .result = run->result,
                                      .version = run->options->version,
                                      .digest = digest,
                                      .plan = run->found->plan,
                                      .vocabulary = run->records->vocabulary,
                                      .rowmap = run->spec->keep_rowmap};
    kn_buffer                text;
    kn_buffer_init(&text, run->ctx);
    kn_status st = kn_records_private_render(&text, &input, err);
    return kn_job_put(run->set, KN_SET_PRIVATE, NULL, &text, st, err);
}

static kn_status put_private(kn_recrun *run, kn_error *err)
{
    kn_digest_job     *job = NULL;
    const char        *paths[] = {kn_output_temporary(run->output), run->spec->inputs[0]};
    const char *const *digests = NULL;
    int                count = run->records->layout.form == KN_RECORDS_DATABASE ? 1 : 2;
    KN_TRY(kn_digest_start(&job, run->ctx, paths, count, err));
    kn_status st = kn_digest_wait(job, &digests, err);
    if (st == KN_OK) {
        snprintf(run->result->sha256, sizeof run->result->sha256, "%s", digests[0]);
        st = render(run, count > 1 ? digests[1] : NULL, err);
    }
    kn_digest_free(job);
    return st;
}

static kn_status put_report(kn_recrun *run, kn_error *err)
{
    kn_buffer page;
    if (!run->spec->report) return KN_OK;
    kn_buffer_init(&page, run->ctx);
    kn_status st = kn_records_report_render(&page, run->spec, run->result, run->options->version, err);
    return kn_job_put(run->set, KN_SET_REPORT, run->spec->report, &page, st, err);
}

static kn_status commit(kn_recrun *run, kn_error *err)
{
    kn_output *map = NULL;
    if (run->spec->keep_rowmap) {
        KN_TRY(kn_set_create(run->set, &map, KN_SET_ROWMAP, NULL, err));
        KN_TRY(kn_rowmap_write(map, run->ctx, run->original_of, run->released->count, err));
    }
    KN_TRY(put_private(run, err));
    kn_public_seal seal = seal_of(run);
    KN_TRY(put_report(run, err));
    KN_TRY(kn_job_put_page(run->set, run->spec->public_report, run->facts, &seal, err));
    KN_TRY(kn_job_put_certificate(run->set, run->facts, &seal, err));
    return kn_set_commit(run->set, err);
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
