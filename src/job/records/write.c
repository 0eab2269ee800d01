/* records/write.c: released records → bytes, and the verifier's answer (kn_shape.h). */
/* SPDX-License-Identifier: Apache-2.0 */
#include "kn_error.h"
#include "kn_extras.h"
#include "kn_records_run.h"
#include "kn_records_write.h"

kn_status kn_records_run_write(kn_release_run *all, kn_error *err)
{
    kn_records_run   *run = kn_records_run_of(all);
    kn_records_layout layout = run->records->layout;
    const kn_spec    *spec = all->spec;
    if (run->writer) return kn_records_run_put(run, err);
    if (layout.form == KN_RECORDS_DATABASE) layout.classes = true; /* it has no form of its own        */
    KN_TRY(kn_records_write(all->output, all->ctx, run->released, &layout, spec->classes, spec->class_count, err));
    KN_TRY(kn_output_flush(all->output, err));
    all->files = kn_release_alloc(all, &all->scratch, 1, sizeof *all->files, err);
    if (!all->files) return KN_MEMORY;
    all->files[0] = kn_output_temporary(all->output);
    all->file_count = 1;
    return KN_OK;
}

static kn_records_form release_form(const kn_records_run *run)
{
    return run->records->layout.form == KN_RECORDS_DATABASE ? KN_RECORDS_JSON : run->records->layout.form;
}

/* Reads back what was written. */
static kn_status read_back(kn_records_run *run, kn_error *err)
{
    kn_records_options options = kn_records_reading(run->all.spec);
    options.form = release_form(run);
    options.released = true;
    return kn_records_read(&run->back, run->all.ctx, kn_output_temporary(run->all.output), &options, err);
}

static kn_status compare(kn_records_run *run, const kn_records_verify_report *v, kn_error *err)
{
    kn_records_result *r = run->result;
    kn_claim           claims[] = {{"the number of records", (double)(r->records - r->left_out), (double)v->records},
                                   {"the number of nodes", (double)r->nodes, (double)v->nodes},
                                   {"the number of relations", (double)r->relations, (double)v->relations},
                                   {"the number of nodes given up", (double)r->given_up, (double)v->given_up},
                                   {"the loss", r->loss, v->loss},
                                   {"rpd", r->rpd, v->rpd}};
    KN_TRY(kn_release_compare(claims, sizeof claims / sizeof *claims, err));
    r->head.k = v->k;
    r->head.largest_share = v->largest_share;
    return kn_release_compare_models(&run->all, v->models, v->model_count, true, err);
}

/* Checks how the file is written: what was read back is written again. */
static kn_status look_at_form(void *state, void (*tell)(void *arg, const char *sentence), void *arg, kn_error *err)
{
    const kn_records_run *run = state;
    const kn_spec        *spec = run->all.spec;
    return kn_records_extras(run->all.ctx, kn_output_temporary(run->all.output), run->back, run->records, spec->classes,
                             spec->class_count, tell, arg, err);
}

kn_status kn_records_run_verify(kn_release_run *all, kn_error *err)
{
    kn_records_run           *run = kn_records_run_of(all);
    kn_records_verify_report *report = NULL;
    kn_records_verify_options options = KN_RECORDS_VERIFY_OPTIONS_INIT;
    kn_cells                 *cells = NULL;
    options.release = run->writer ? all->spec->output : kn_output_temporary(all->output);
    options.map = run->writer ? run->map : run->original_of;
    options.map_count = run->back_db ? run->back->count : run->released->count;
    options.form = release_form(run);
    options.snapshot = kn_input_mark_snapshot(all->originals.marks[0]);
    if (!run->writer) options.look_at_form = look_at_form;
    options.form_state = run;
    kn_status st = run->writer ? kn_database_writer_cells(&cells, run->writer, err) : read_back(run, err);
    options.cells = cells;
    if (st == KN_OK) st = kn_verify_records_files(&report, all->ctx, all->spec, &options, err);
    kn_cells_close(cells);
    st = report ? kn_release_verdict(report->outcome, report->problems, report->problem_count,
                                     report->open_count > 0 ? report->open[0] : NULL, err)
                : kn_release_unread(st, err);
    if (st == KN_OK) st = compare(run, report, err);
    kn_records_verify_report_free(report);
    return st;
}

kn_status kn_records_run_publish(kn_release_run *all, kn_error *err)
{
    return kn_public_of_records(&all->facts, all->ctx, all->asked, kn_records_run_of(all)->back, err);
}
