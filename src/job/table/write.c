/* table/write.c: from a plan to files: recode, verify, compare, commit.
 *
 * Everything is written and flushed to the disk under temporary names (mode 0600) first: the release, then, when it is
 * verified, what stands beside it. The verifier reads the release's temporary file; each of its figures is held against
 * what the plan claims, and any difference ends the run. Only renames are left then, in this order:
 *
 *     row map, private file, summary, certificate, owner's report, public report, release
 *
 * so whoever sees the new release sees its certificate. A run that is killed between two renames leaves the old release
 * (or none), byte for byte; the certificate and the private file beside it may then be those of the release that did not
 * come, which shows: both hold the SHA-256 of the release they belong to. A run that fails there takes back what it has
 * renamed. A row map of the release that was replaced is removed last, if the new one is not kept.
 *
 * Standard output, a pipe or a device cannot be taken back: the release is written to a file without a name (in TMPDIR or
 * /tmp), verified and copied. Nothing stands beside a stream, so there is no certificate; a note says so.
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE
#include <kanon/report.h>
#include <kanon/verify.h>

#include <errno.h>
#include <math.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kn_alloc.h"
#include "kn_beside.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_job_anonymize.h"
#include "kn_job_publish.h"
#include "kn_job_texts.h"
#include "kn_private.h"
#include "kn_summary.h"

enum { COPY = 1 << 18 };

/* ---- What is released ---- */

static kn_status add_pseudonym(kn_run *run, const kn_attribute *a, kn_released_column *column, kn_error *err)
{
    bool           open_to_others = false;
    unsigned char *key = run->keys + (size_t)run->column_count * KN_PSEUDONYM_KEY;
    KN_TRY(kn_pseudonym_key(key, &open_to_others, run->ctx, a->pseudonym_key_file, err));
    column->kind = KN_RELEASED_PSEUDONYM;
    column->key = key;
    KN_TRY(kn_run_note(run, err, "column \"%s\": pseudonyms link this release to every other made with the same key",
                       a->name));
    if (!open_to_others) return KN_OK;
    return kn_run_note(run, err, "%s: others may read this key (chmod 600)", a->pseudonym_key_file);
}

kn_status kn_run_columns(kn_run *run, kn_error *err)
{
    size_t n = (size_t)run->table->column_count;
    run->columns = kn_run_room(run, &run->scratch, n, sizeof *run->columns, err);
    run->keys = kn_run_room(run, &run->scratch, n, KN_PSEUDONYM_KEY, err);
    if (!run->columns || !run->keys) return KN_MEMORY;
    for (int c = 0; c < run->table->column_count; c++) {
        int index = kn_spec_find(run->spec, run->table->columns[c].name);
        if (index < 0) continue; /* the entity */
        const kn_attribute *a = &run->spec->attributes[index];
        kn_released_column  column = {.kind = KN_RELEASED_COPY, .column = c, .sensitive = a->role == KN_ROLE_SENSITIVE};
        if (a->role == KN_ROLE_IDENTIFIER) {
            if (!a->pseudonym_key_file) continue;
            KN_TRY(add_pseudonym(run, a, &column, err));
        }
        if (a->role == KN_ROLE_QUASI) {
            column.kind = KN_RELEASED_QUASI;
            while (run->quasi[column.quasi] != c) column.quasi++;
        }
        run->columns[run->column_count++] = column;
    }
    return KN_OK;
}

/* A missing cell is empty, unless an empty cell is a value: then it is the first spelling that is not. */
static const char *missing_text(const kn_spec *spec)
{
    for (int i = 0; spec->csv.na && i < spec->csv.na_count; i++)
        if (spec->csv.na[i][0] == '\0') return "";
    return spec->csv.na && spec->csv.na_count > 0 ? spec->csv.na[0] : "";
}

/* ---- Recoding ---- */

static kn_status open_release(kn_run *run, kn_error *err)
{
    if (!run->to_stream) return kn_output_open(&run->release, run->ctx, run->spec->output, NULL, err);
    /* A name that nobody can foresee: a file planted under it would be followed. */
    const char *folder = getenv("TMPDIR");
    char        path[1000];
    if (sodium_init() < 0) return kn_fail(err, KN_INTERNAL, "the library of ciphers does not start");
    snprintf(path, sizeof path, "%.900s/kanon-%08x%08x", folder && *folder ? folder : "/tmp",
             (unsigned)randombytes_random(), (unsigned)randombytes_random());
    KN_TRY(kn_output_open(&run->release, run->ctx, path, &(kn_output_options){.mode = 0600}, err));
    unlink(kn_output_temporary(run->release));
    return KN_OK;
}

kn_status kn_run_open(kn_run *run, kn_error *err)
{
    KN_TRY(open_release(run, err));
    if (run->to_stream)
        snprintf(run->release_path, sizeof run->release_path, "/proc/self/fd/%d", kn_output_fd(run->release));
    return KN_OK;
}

static const char *release_path(const kn_run *run)
{
    return run->to_stream ? run->release_path : kn_output_temporary(run->release);
}

kn_recode_input kn_run_recode_input(const kn_run *run)
{
    return (kn_recode_input){.table = run->table,
                             .plan = run->plan,
                             .hierarchies = (const kn_hierarchy *const *)run->hierarchies,
                             .columns = run->columns,
                             .column_count = run->column_count,
                             .suppressed = run->spec->suppressed,
                             .keep_order = run->spec->keep_order,
                             .levels = run->result->level_count > 0,
                             .delimiter = run->delimiter,
                             .guarded = run->spec->spreadsheet_safe,
                             .missing = missing_text(run->spec)};
}

static kn_status note_formulas(kn_run *run, const int64_t *formulas, kn_error *err)
{
    for (int c = 0; c < run->column_count; c++) {
        const char *name = run->table->columns[run->columns[c].column].name;
        if (formulas[c] > 0)
            KN_TRY(
                kn_run_note(run, err, "%s", kn_job_formulas_note(name, formulas[c], run->spec->spreadsheet_safe).text));
    }
    return KN_OK;
}

static kn_status recode(kn_run *run, kn_error *err)
{
    kn_recode_input input = kn_run_recode_input(run);
    input.formulas = kn_alloc_array(run->ctx, (size_t)run->column_count + 1, sizeof *input.formulas);
    if (!input.formulas) return kn_fail_memory(err, run->ctx, "writing the release");
    kn_status st = kn_recode_write(run->release, run->ctx, &input, &run->map, &run->map_count, err);
    if (st == KN_OK) st = note_formulas(run, input.formulas, err);
    kn_free(input.formulas);
    KN_TRY(st);
    KN_TRY(kn_output_flush(run->release, err));
    for (int64_t i = 0; run->original_rows && i < run->map_count; i++) run->map[i] = run->original_rows[run->map[i]];
    return KN_OK;
}

/* ---- Verifying ---- */

static kn_status differs(kn_error *err, const char *what, double claimed, double found)
{
    return kn_fail(err, KN_INTERNAL,
                   "a mistake in kanon, and nothing was written: %s is %.17g by the plan, but %.17g in the release",
                   what, claimed, found);
}

/* Shares of a width are rounded to 2^-62 in the plan's metrics: a tiny loss beside a far value has few digits. */
static bool close_to(double a, double b)
{
    if (isnan(a) || isnan(b)) return isnan(a) && isnan(b);
    if (a == b) return true;
    return fabs(a - b) <= 1e-9 * fmax(fabs(a), fabs(b)) + 1e-18;
}

static kn_status compare_figures(const kn_release_result *claim, const kn_verify_report *found, kn_error *err)
{
    struct {
        const char *what;
        int64_t     claimed, found;
    } counts[] = {{"the number of rows", claim->rows, found->rows},
                  {"the number of suppressed rows", claim->suppressed, found->suppressed},
                  {"the number of classes", claim->classes, found->classes},
                  {"k", claim->k, found->k}};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        if (counts[i].claimed != counts[i].found)
            return differs(err, counts[i].what, (double)counts[i].claimed, (double)counts[i].found);
    if (claim->model_count != found->model_count)
        return differs(err, "the number of models", claim->model_count, found->model_count);
    for (int m = 0; m < claim->model_count; m++)
        if (!close_to(claim->models[m].reached, found->models[m].reached))
            return differs(err, kn_model_name(claim->models[m].model.kind), claim->models[m].reached,
                           found->models[m].reached);
    for (int m = 0; m < KN_METRICS; m++) /* NAN: a label that stands on several levels leaves it open */
        if (!isnan(found->metrics[m]) && !close_to(claim->metrics[m], found->metrics[m]))
            return differs(err, kn_metric_name((kn_metric)m), claim->metrics[m], found->metrics[m]);
    return KN_OK;
}

static kn_status verify(kn_run *run, kn_error *err)
{
    kn_verify_options options = KN_VERIFY_OPTIONS_INIT;
    options.originals = run->inputs;
    options.original_count = run->spec->input_count;
    options.release = release_path(run);
    options.map = run->map;
    options.map_count = run->map_count;
    if (run->result->level_count > 0) options.levels = run->result->levels; /* a label may stand on several: checked */
    options.level_count = run->result->level_count;
    options.suppressed = run->result->suppressed;
    if (run->summary) options.summary = kn_output_temporary(run->summary);
    kn_verify_report *report = NULL;
    kn_status         st = kn_verify(&report, run->ctx, &run->effective, &options, err);
    if (st == KN_INPUT || st == KN_USAGE) { /* it cannot read what was just written or already read */
        kn_error why = err ? *err : (kn_error)KN_ERROR_INIT;
        st = kn_fail(err, KN_INTERNAL, "a mistake in kanon, and nothing was written: the verifier says: %s",
                     why.message);
    }
    if (st == KN_OK && !report->ok)
        st = kn_fail(err, KN_INTERNAL, "a mistake in kanon, and nothing was written: the verifier says: %s",
                     report->problem_count > 0 ? report->problems[0] : "the release does not hold");
    else if (st == KN_OK)
        st = compare_figures(run->result, report, err);
    const char *changed = st == KN_INTERNAL ? kn_run_changed_input(run) : NULL;
    if (changed) st = kn_fail(err, KN_INPUT, "%s: changed while it was read; nothing was written", changed);
    if (report) memcpy(run->result->sha256, report->sha256, sizeof run->result->sha256);
    kn_verify_report_free(report);
    return st;
}

/* ---- What stands beside the release ---- */

enum { ROWMAP, PRIVATE, SUMMARY, CERTIFICATE, REPORT, PAGE, BESIDE };

static kn_public_seal seal_of(kn_run *run)
{
    run->digest = run->result->sha256;
    return (kn_public_seal){.version = run->options->version, .file_count = 1, .digests = &run->digest};
}

static kn_status write_texts(kn_run *run, kn_beside *all, kn_error *err)
{
    kn_private_input input = {.spec = run->spec,
                              .result = run->result,
                              .version = run->options->version,
                              .seed = run->spec->seed,
                              .budget = run->budget,
                              .rowmap = run->spec->keep_rowmap};
    KN_TRY(kn_digest_wait(run->digests, &input.digests, err));
    kn_buffer private;
    kn_buffer_init(&private, run->ctx);
    kn_status st = kn_private_render(&private, &input, err);
    if (st == KN_OK) kn_output_write(all[PRIVATE].output, private.data, private.size);
    kn_buffer_free(&private);
    if (st != KN_OK) return st;
    kn_public_seal seal = seal_of(run);
    return kn_job_certificate(all[CERTIFICATE].output, run->facts, &seal, err);
}

static kn_status write_beside(kn_run *run, kn_beside *all, kn_error *err)
{
    if (run->spec->keep_rowmap) {
        KN_TRY(kn_beside_open(&all[ROWMAP], run->ctx, run->spec->output, KN_ROWMAP_SUFFIX, 0600, err));
        KN_TRY(kn_rowmap_write(all[ROWMAP].output, run->ctx, run->map, run->map_count, err));
        KN_TRY(kn_beside_settle(&all[ROWMAP], err));
    }
    if (run->summary) { /* it was written while the plan was there */
        kn_output *summary = run->summary;
        run->summary = NULL;
        KN_TRY(kn_beside_take(&all[SUMMARY], run->ctx, summary, run->spec->output, KN_SUMMARY_SUFFIX, err));
        KN_TRY(kn_beside_settle(&all[SUMMARY], err));
    }
    KN_TRY(kn_beside_open(&all[PRIVATE], run->ctx, run->spec->output, KN_PRIVATE_SUFFIX, 0600, err));
    KN_TRY(kn_beside_open(&all[CERTIFICATE], run->ctx, run->spec->output, KN_CERTIFICATE_SUFFIX, 0, err));
    KN_TRY(write_texts(run, all, err));
    KN_TRY(kn_beside_settle(&all[PRIVATE], err));
    return kn_beside_settle(&all[CERTIFICATE], err);
}

static kn_status write_report(kn_run *run, kn_beside *b, kn_error *err)
{
    const char *path = run->spec->report;
    if (!path) return KN_OK;
    KN_TRY(kn_beside_before(b, run->ctx, path, err));
    kn_spec shown = *run->spec;
    if (run->linked) shown.entity = run->linked_by; /* sizes are of persons, declared or not */
    kn_status st = kn_release_report_write(run->ctx, path, &shown, run->result, run->options->version, err);
    kn_beside_after(b);
    return st;
}

static kn_status write_page(kn_run *run, kn_beside *b, kn_error *err)
{
    const char    *path = run->spec->public_report;
    kn_public_seal seal = seal_of(run);
    if (!path) return KN_OK;
    KN_TRY(kn_beside_before(b, run->ctx, path, err));
    kn_status st = kn_job_public_page(path, run->facts, &seal, err);
    kn_beside_after(b);
    return st;
}

static kn_status give_names(kn_run *run, kn_beside *all, kn_error *err)
{
    for (int i = ROWMAP; i <= CERTIFICATE; i++) KN_TRY(kn_beside_commit(&all[i], err));
    KN_TRY(write_report(run, &all[REPORT], err));
    KN_TRY(write_page(run, &all[PAGE], err));
    kn_output *release = run->release;
    run->release = NULL;
    return kn_output_commit(release, err);
}

static kn_status commit_files(kn_run *run, kn_error *err)
{
    kn_beside   all[BESIDE] = {{0}};
    struct stat release = {0};
    kn_status   st = kn_settle(run->release, run->spec->output, err);
    if (st == KN_OK && fstat(kn_output_fd(run->release), &release) != 0)
        st = kn_fail(err, KN_IO, "%s: writing failed: %s", run->spec->output, strerror(errno));
    if (st == KN_OK) st = write_beside(run, all, err);
    if (st == KN_OK && kn_cancelled(run->ctx)) st = kn_fail_cancelled(err);
    if (st == KN_OK) st = give_names(run, all, err);
    /* What failed may be the last sync of the folder: a release that has its name keeps what stands beside it. */
    bool back = st != KN_OK && !kn_has_name(run->spec->output, &release);
    for (int i = 0; i < BESIDE; i++) kn_beside_end(&all[i], back);
    if (st == KN_OK && !run->spec->keep_rowmap) kn_beside_remove(run->ctx, run->spec->output, KN_ROWMAP_SUFFIX);
    if (st == KN_OK && !run->spec->summary) kn_beside_remove(run->ctx, run->spec->output, KN_SUMMARY_SUFFIX);
    return st;
}

/* ---- Streams ---- */

static kn_status copy_out(kn_run *run, kn_output *to, char *buffer, kn_error *err)
{
    int fd = kn_output_fd(run->release);
    for (off_t at = 0;;) {
        ssize_t n = pread(fd, buffer, COPY, at);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return kn_fail(err, KN_IO, "the verified release cannot be read back: %s", strerror(errno));
        if (n == 0) return KN_OK;
        kn_output_write(to, buffer, (size_t)n);
        at += n;
    }
}

static kn_status commit_stream(kn_run *run, kn_error *err)
{
    kn_output *to = NULL;
    kn_beside  report = {0}, page = {0};
    char      *buffer = kn_alloc(run->ctx, COPY);
    if (!buffer) return kn_fail_memory(err, run->ctx, "writing the release");
    kn_status st = kn_output_open(&to, run->ctx, run->spec->output, NULL, err);
    if (st == KN_OK) st = copy_out(run, to, buffer, err);
    kn_free(buffer);
    if (st == KN_OK)
        st = kn_output_commit(to, err);
    else
        kn_output_abort(to);
    if (st == KN_OK) st = write_report(run, &report, err);
    if (st == KN_OK) st = write_page(run, &page, err);
    kn_beside_end(&report, false);
    kn_beside_end(&page, false);
    if (st != KN_OK) return st;
    return kn_run_note(run, err, "the release went to a stream: no certificate%s was written",
                       run->spec->keep_rowmap ? ", private file or row map" : " or private file");
}

/* ---- What the release tells by itself ---- */

static kn_status see_release(kn_run *run, kn_error *err)
{
    kn_public_csv csv = {release_path(run), run->delimiter, missing_text(run->spec)};
    if (run->to_stream && !run->spec->public_report) return KN_OK;
    return kn_public_of_table(&run->facts, run->ctx, run->asked, &csv, err);
}

/* ---- All of it ---- */

/* The verifier needs memory for both files; nothing but the map is needed any more. */
static void forget_search(kn_run *run)
{
    kn_run_end_search(run);
    kn_table_free(run->table);
    kn_free(run->original_rows);
    kn_pseudonym_forget(run->keys, (size_t)run->column_count * KN_PSEUDONYM_KEY);
    run->table = NULL;
    run->original_rows = NULL;
}

kn_status kn_run_write(kn_run *run, kn_error *err)
{
    double begin = kn_run_clock();
    KN_TRY(recode(run, err));
    KN_TRY(kn_run_summary(run, err));
    forget_search(run);
    double written = kn_run_clock();
    run->result->seconds_write = written - begin;
    KN_TRY(verify(run, err));
    double verified = kn_run_clock();
    run->result->seconds_verify = verified - written;
    KN_TRY(see_release(run, err));
    KN_TRY(run->to_stream ? commit_stream(run, err) : commit_files(run, err));
    run->result->seconds_write += kn_run_clock() - verified;
    return KN_OK;
}
