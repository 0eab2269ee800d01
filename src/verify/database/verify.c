/* database/verify.c: the independent verifier of databases: what is read, in which order it is checked, the report.
 *
 * Multi-relational k-anonymity (Nergiz, Clifton, Nergiz 2009: Definitions 9 and 10; docs/errata.md M2, M4, M10, M12, M13).
 * First tables and columns, then keys and joins of both sides, then from the release alone classes and promises, then with the
 * original that nothing was invented, and last what was lost. A release without one of its columns is not looked at further,
 * nor is one whose rows do not join. Both sides are read here, cell by cell: nothing comes from whoever made the release but
 * who is who (the map), and that is checked.
 *
 * Cost: one join per table and side, one pass over the rows for the classes; per person the matching of kn_verify_database_
 * contain.c. Memory: both databases as texts (kn_verify_sheets.h), and about 40 bytes per row of
 * both sides.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_verify_database.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "kn_alloc.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_options.h"

/* ---- The report ---- */

void kn_vdb_problem(kn_vdb *v, const char *format, ...)
{
    kn_vdb_report *r = v->report;
    va_list        args;
    r->base.outcome = KN_OUTCOME_FAILS;
    r->failed = true;
    va_start(args, format);
    kn_verify_problem_add(r->list, &r->base.problem_count, &r->base.more_problems, &r->arena, format, args);
    va_end(args);
}

kn_status kn_vdb_no_memory(const kn_vdb *v, kn_error *err)
{
    return kn_fail_memory(err, v->ctx, "verifying a database");
}

void *kn_vdb_take(kn_vdb *v, size_t count, size_t size)
{
    void *room = kn_arena_alloc(&v->arena, (count + 1) * size);
    if (room) memset(room, 0, (count + 1) * size);
    return room;
}

void kn_database_verify_report_free(kn_database_verify_report *report)
{
    if (!report) return;
    kn_vdb_report *r = (kn_vdb_report *)report;
    kn_free(r->models);
    kn_free(r->tables);
    kn_arena_free(&r->arena);
    kn_free(r);
}

static kn_status make_report(kn_vdb *v, kn_error *err)
{
    kn_vdb_report *r = kn_alloc_zero(v->ctx, sizeof *r);
    int            tables = v->original.count;
    if (!r) return kn_vdb_no_memory(v, err);
    v->report = r;
    r->ctx = v->ctx;
    kn_arena_init(&r->arena, v->ctx);
    r->models = kn_alloc_array_zero(v->ctx, (size_t)v->spec->model_count + 1, sizeof *r->models);
    r->tables = kn_alloc_array_zero(v->ctx, (size_t)tables + 1, sizeof *r->tables);
    if (!r->models || !r->tables) return kn_vdb_no_memory(v, err);
    for (int i = 0; i < v->spec->model_count; i++) {
        const kn_model *m = &v->spec->models[i];
        r->models[i].model = *m;
        r->models[i].reached = NAN;
        if (!m->attribute) continue;
        r->models[i].model.attribute = kn_arena_strndup(&r->arena, m->attribute, strlen(m->attribute));
        if (!r->models[i].model.attribute) return kn_vdb_no_memory(v, err);
    }
    for (int t = 0; t < tables; t++) {
        const char *name = v->original.list[t].name;
        r->tables[t].name = kn_arena_strndup(&r->arena, name, strlen(name));
        r->tables[t].lm = NAN;
        if (!r->tables[t].name) return kn_vdb_no_memory(v, err);
    }
    r->base.models = r->models;
    r->base.model_count = v->spec->model_count;
    r->base.tables = r->tables;
    r->base.table_count = tables;
    r->base.problems = r->list;
    r->base.open = r->open;
    r->base.assignment = KN_ASSIGNMENT_UNDECIDED;
    r->base.lm = r->base.dm = NAN;
    return KN_OK;
}

/* ---- All of it ---- */

static kn_status check_trees(kn_vdb *v, kn_error *err)
{
    KN_TRY(kn_vdb_columns(v, err));
    KN_TRY(kn_vdb_join(v, err));
    KN_TRY(kn_vdb_keys(v, err));
    if (v->report->failed) return KN_OK; /* which rows belong to whom is not known */
    KN_TRY(kn_vdb_classes(v, err));
    KN_TRY(kn_vdb_models(v, err));
    KN_TRY(kn_vdb_assign(v, err));
    KN_TRY(kn_vdb_drawn(v, err));
    return kn_vdb_metrics(v, err);
}

/* The other way round: everybody can be told apart, and what they hide is bound to groups. */
static kn_status check_groups(kn_vdb *v, kn_error *err)
{
    KN_TRY(kn_vdb_columns(v, err));
    KN_TRY(kn_vdb_join(v, err));
    KN_TRY(kn_vdb_keys(v, err));
    if (!v->report->failed) KN_TRY(kn_vdb_anatomy_groups(v, err));
    if (v->report->failed) return KN_OK;
    KN_TRY(kn_vdb_anatomy_models(v, err));
    KN_TRY(kn_vdb_assign(v, err));
    KN_TRY(kn_vdb_drawn(v, err));
    if (v->report->base.assignment == KN_ASSIGNMENT_PROVED) KN_TRY(kn_vdb_anatomy_rows(v, err));
    return kn_vdb_metrics(v, err);
}

static kn_status check(kn_vdb *v, kn_error *err)
{
    kn_database_verify_report *r = &v->report->base;
    bool                       whole = false;
    if (v->spec->csv.timezone) KN_TRY(kn_timezone_open(&v->zone, v->ctx, v->spec->csv.timezone, err));
    KN_TRY(kn_vdb_schema(v, &whole, err));
    if (!whole) return KN_OK;
    if (v->spec->anatomy)
        KN_TRY(check_groups(v, err));
    else
        KN_TRY(check_trees(v, err));
    KN_TRY(kn_vdb_form(v, err));
    r->outcome = kn_verify_outcome(v->report->failed, r->assignment, true, r->models, r->model_count);
    r->ok = r->outcome == KN_OUTCOME_HOLDS;
    if (r->outcome == KN_OUTCOME_UNDECIDED)
        kn_verify_open_add(
            v->report->open, &r->open_count, &v->report->arena,
            v->map
                ? "which of many rows that look alike are released"
                : "whether every released person is one of the original, each another one; give the row map (--map)");
    return KN_OK;
}

static void free_rows(kn_vdb_rows *r)
{
    kn_free(r->parent);
    kn_free(r->person);
    kn_free(r->mark);
    kn_free(r->start);
    kn_free(r->list);
}

void kn_vdb_free(kn_vdb *v)
{
    kn_vdb_columns_free(v);
    kn_vdb_anatomy_free(v);
    for (int t = 0; t < v->table_count; t++) {
        free_rows(&v->tables[t].original);
        free_rows(&v->tables[t].release);
        kn_free(v->tables[t].subtree);
        kn_free(v->tables[t].position);
    }
    kn_free(v->class_of);
    kn_free(v->sizes);
    kn_free(v->map);
    kn_vsheets_free(&v->original);
    kn_vsheets_free(&v->release);
    kn_timezone_free(v->zone);
    kn_arena_free(&v->arena);
}

static kn_status check_asked(const kn_spec *spec, kn_error *err)
{
    if (kn_spec_shape(spec) != KN_SHAPE_DATABASE) return kn_fail(err, KN_USAGE, "the spec describes no database");
    if (spec->dependency_count > 0)
        return kn_fail(err, KN_USAGE, "dependencies are not checked in databases: leave `dependencies` out");
    if (spec->model_count < 1) return kn_fail(err, KN_USAGE, "nothing was promised: the spec has no privacy model");
    return KN_OK;
}

/* ---- Reading ---- */

static kn_status read_original(kn_vdb *v, kn_error *err)
{
    const kn_spec     *spec = v->spec;
    kn_vsheets_options read = {.tables = spec->tables, .table_count = spec->table_count, .csv = &spec->csv};
    read.empty = v->source[1]->file != NULL;
    if (!v->source[0]->file) v->plain.csv.decimal = '.'; /* as engines spell numbers */
    return kn_vsheets_read(&v->original, v->source[0], &read, err);
}

/* Everything that is there, for what is there must be allowed. A release in files has one spelling of "missing". */
static kn_status read_release(kn_vdb *v, kn_error *err)
{
    static const char *const empty[] = {""};
    kn_csv_options           csv = KN_CSV_OPTIONS_INIT;
    kn_vsheets_options       read = {.csv = &csv, .release = true};
    if (v->source[1]->file) {
        csv.na = empty;
        csv.na_count = 1;
        read.guarded = v->spec->spreadsheet_safe;
    }
    return kn_vsheets_read(&v->release, v->source[1], &read, err);
}

static kn_status verify(kn_database_verify_report **out, kn_vdb *v, kn_error *err)
{
    static const char *const nothing[1] = {NULL};
    v->plain = *v->spec;
    v->plain.csv.na = nothing;
    v->plain.csv.na_count = 0;
    kn_arena_init(&v->arena, v->ctx);
    kn_status status = read_original(v, err);
    if (status == KN_OK) status = read_release(v, err);
    if (status == KN_OK) status = make_report(v, err);
    if (v->options->time_limit > 0) kn_deadline_set(v->ctx, v->options->time_limit);
    if (status == KN_OK) status = check(v, err);
    status = kn_verify_in_time(v->ctx, v->options->time_limit, status, err);
    kn_vdb_free(v);
    if (status == KN_OK)
        *out = &v->report->base;
    else if (v->report)
        kn_database_verify_report_free(&v->report->base);
    return status;
}

kn_status kn_verify_database(kn_database_verify_report **out, kn_context *ctx, const kn_spec *spec,
                             const kn_database_verify_options *options, kn_error *err)
{
    kn_cells *original = NULL, *release = NULL;
    *out = NULL;
    KN_SERVE(ctx, err);
    KN_OPTIONS(kn_database_verify_options, KN_DATABASE_VERIFY_OPTIONS_INIT, options, "verification options", err);
    KN_TRY(check_asked(spec, err));
    const char *from = options->original ? options->original : spec->input_count == 1 ? spec->inputs[0] : NULL;
    const char *to = options->release ? options->release : spec->output;
    if (!from) return kn_fail(err, KN_USAGE, "no original was given");
    if (!to && !options->cells) return kn_fail(err, KN_USAGE, "no release was given");
    kn_vdb    v = {.ctx = ctx, .spec = spec, .options = options};
    kn_status status = kn_cells_open(&original, ctx, from, options->snapshot, err);
    if (status == KN_OK && !options->cells) status = kn_cells_open(&release, ctx, to, NULL, err);
    v.source[0] = original;
    v.source[1] = options->cells ? options->cells : release;
    if (status == KN_OK) status = verify(out, &v, err);
    kn_cells_close(original);
    kn_cells_close(release);
    return status;
}
