/* database/verify.c: the independent verifier of databases: what is read, the order of the checks, the report.
 *
 * Multi-relational k-anonymity (Nergiz, Clifton, Nergiz 2009: Definitions 9 and 10; docs/errata.md M2, M4, M10, M12,
 * M13). First tables and columns, then keys and joins of both sides, then from the release alone classes and
 * promises, then with the original that nothing was invented, and last what was lost. A release that lacks a column,
 * or whose rows do not join, is not checked further. Both sides are read here, cell by cell: the only thing taken
 * from the maker of the release is the map of persons, and that is checked.
 *
 * Cost: one join per table and side, one pass over the rows for the classes; per person the matching of
 * contain.c. Memory: both databases as texts (kn_verify_sheets.h), and about 20 bytes per row of
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
#include "kn_verify_rowmap.h"

/* ---- The report ---- */

typedef struct report {
    kn_database_verify_report base;
    kn_vnotes                 notes;
} report;

kn_status kn_vdb_no_memory(const kn_vdb *v, kn_error *err)
{
    return kn_fail_memory(err, v->ctx, "verifying a database");
}

void *kn_vdb_take(kn_vdb *v, size_t count, size_t size)
{
    return kn_arena_array_zero(&v->arena, count + 1, size);
}

void kn_database_verify_report_free(kn_database_verify_report *public)
{
    if (!public) return;
    kn_arena_free(&((report *)public)->notes.arena);
    kn_free(public);
}

static kn_status make_report(kn_vdb *v, kn_error *err)
{
    report *r = kn_alloc_zero(v->ctx, sizeof *r);
    int     tables = v->original.count - v->reference_count;
    if (!r) return kn_vdb_no_memory(v, err);
    v->report = &r->base;
    v->notes = &r->notes;
    KN_TRY(kn_vnotes_init(v->notes, KN_VHEAD(v->report), v->ctx, v->spec, err));
    v->verified = kn_arena_array_zero(&r->notes.arena, (size_t)tables + 1, sizeof *v->verified);
    for (int t = 0; v->verified && t < tables; t++) {
        const char *name = v->original.list[t].name;
        v->verified[t] = (kn_verified_table){.name = kn_arena_strndup(&r->notes.arena, name, strlen(name)), .lm = NAN};
    }
    r->base.tables = v->verified;
    r->base.table_count = tables;
    r->base.lm = r->base.dm = NAN;
    return r->notes.arena.failed ? kn_vdb_no_memory(v, err) : KN_OK;
}

/* ---- All of it ---- */

/* In an anatomy everybody can be distinguished, and sensitive values belong to groups. */
static kn_status check_rows(kn_vdb *v, kn_error *err)
{
    bool anatomy = v->spec->anatomy;
    KN_TRY(kn_vdb_columns(v, err));
    KN_TRY(kn_vdb_join(v, err));
    KN_TRY(kn_vdb_keys(v, err));
    if (v->notes->failed) return KN_OK; /* which rows belong to whom is not known */
    KN_TRY(anatomy ? kn_vdb_anatomy_groups(v, err) : kn_vdb_classes(v, err));
    if (v->notes->failed) return KN_OK;
    KN_TRY(kn_vdb_models(v, err));
    KN_TRY(kn_vdb_dependencies(v, err));
    KN_TRY(kn_vdb_assign(v, err));
    KN_TRY(kn_vdb_drawn(v, err));
    if (anatomy && v->report->assignment == KN_ASSIGNMENT_PROVED) KN_TRY(kn_vdb_anatomy_rows(v, err));
    return kn_vdb_metrics(v, err);
}

static kn_status check(kn_vdb *v, kn_error *err)
{
    bool whole = false;
    if (v->spec->csv.timezone) KN_TRY(kn_timezone_open(&v->zone, v->ctx, v->spec->csv.timezone, err));
    KN_TRY(kn_vdb_schema(v, &whole, err));
    if (!whole) return KN_OK;
    KN_TRY(check_rows(v, err));
    KN_TRY(kn_vdb_form(v, err));
    if (v->tables[v->person].original.rows == 0) {
        kn_vnotes_nobody(v->notes, "persons");
        return KN_OK;
    }
    kn_vnotes_judge(v->notes, true);
    if (v->report->outcome == KN_OUTCOME_UNDECIDED && v->map)
        kn_vopen(v->notes, "which of many rows that look alike are released");
    else if (v->report->outcome == KN_OUTCOME_UNDECIDED)
        kn_vopen(v->notes,
                 "whether every released person is one of the original, each another one; give the row map (--map)");
    return KN_OK;
}

void kn_vdb_free(kn_vdb *v)
{
    kn_vdb_extras_free(v);
    kn_vdb_columns_free(v);
    kn_vsheets_free(&v->original);
    kn_vsheets_free(&v->release);
    kn_vsheets_free(&v->people);
    kn_timezone_free(v->zone);
    kn_arena_free(&v->arena);
}

static kn_status check_asked(const kn_spec *spec, kn_error *err)
{
    if (kn_spec_shape(spec) != KN_SHAPE_DATABASE) return kn_fail(err, KN_USAGE, "the spec describes no database");
    if (spec->dependency_count > 0 && spec->anatomy)
        return kn_fail(err, KN_USAGE, "dependencies are not checked in an anatomy: leave `dependencies` out");
    if (spec->model_count < 1) return kn_fail(err, KN_USAGE, "nothing is promised: no privacy model is given");
    return KN_OK;
}

/* ---- Reading ---- */

/* Everything is read of the release, since everything must be allowed. In files it has one spelling of "missing". */
static kn_vsheets_options of_release(const kn_vdb *v, kn_csv_options *csv)
{
    static const char *const empty[] = {""};
    kn_vsheets_options       read = {.csv = csv, .release = true};
    if (v->source[1]->file) {
        csv->na = empty;
        csv->na_count = 1;
        read.guarded = v->spec->spreadsheet_safe;
    }
    return read;
}

/* Both at the same time. What is wrong with the original is reported first. */
static kn_status read_both(kn_vdb *v, kn_error *err)
{
    const kn_spec            *spec = v->spec;
    kn_csv_options            csv = KN_CSV_OPTIONS_INIT;
    kn_vsheets_options        before = {.tables = spec->tables, .table_count = spec->table_count, .csv = &spec->csv};
    kn_vsheets_options        after = of_release(v, &csv);
    kn_vsheets               *sheets[] = {&v->original, &v->release};
    const kn_vsheets_options *options[] = {&before, &after};
    kn_error                  later = KN_ERROR_INIT;
    KN_TRY(kn_vdb_sort_tables(v, &before.tables, err));
    before.empty = v->source[1]->file != NULL;
    if (!v->source[0]->file) v->plain.csv.decimal = '.'; /* as engines spell numbers */
    KN_TRY(kn_vsheets_open(&v->original, v->source[0], &before, err));
    kn_vdb_extras_start(v);
    kn_status release = kn_vsheets_open(&v->release, v->source[1], &after, &later);
    KN_TRY(kn_vsheets_fill(sheets, options, release == KN_OK ? 2 : 1, err));
    if (release != KN_OK && err) *err = later;
    return release;
}

static kn_status verify(kn_database_verify_report **out, kn_vdb *v, kn_error *err)
{
    static const char *const nothing[1] = {NULL};
    v->plain = *v->spec;
    v->plain.csv.na = nothing;
    v->plain.csv.na_count = 0;
    kn_arena_init(&v->arena, v->ctx);
    kn_status status = read_both(v, err);
    if (status == KN_OK && v->spec->population) status = kn_vdb_read_people(v, v->source[2], err);
    if (status == KN_OK) status = make_report(v, err);
    if (v->options->time_limit > 0) kn_deadline_set(v->ctx, v->options->time_limit);
    if (status == KN_OK) status = check(v, err);
    status = kn_verify_in_time(v->ctx, v->options->time_limit, status, err);
    kn_vdb_free(v);
    if (status == KN_OK)
        *out = v->report;
    else
        kn_database_verify_report_free(v->report);
    return status;
}

kn_status kn_verify_database(kn_database_verify_report **out, kn_context *ctx, const kn_spec *spec,
                             const kn_database_verify_options *options, kn_error *err)
{
    kn_cells *original = NULL, *release = NULL, *people = NULL;
    *out = NULL;
    KN_SERVE(ctx, err);
    KN_OPTIONS(kn_database_verify_options, KN_DATABASE_VERIFY_OPTIONS_INIT, options, "verification options", err);
    KN_TRY(check_asked(spec, err));
    KN_TRY(kn_vrowmap_once(options->map, options->map_path, err));
    const char *from = options->original ? options->original : spec->input_count == 1 ? spec->inputs[0] : NULL;
    const char *to = options->release ? options->release : spec->output;
    if (!from) return kn_fail(err, KN_USAGE, "no original was given");
    if (!to && !options->cells) return kn_fail(err, KN_USAGE, "no release was given");
    kn_vdb    v = {.ctx = ctx, .spec = spec, .options = options};
    kn_status status = kn_cells_open(&original, ctx, from, options->snapshot, err);
    if (status == KN_OK && !options->cells) status = kn_cells_open(&release, ctx, to, NULL, err);
    if (status == KN_OK && spec->population && kn_database_named(spec->population))
        status = kn_cells_open(&people, ctx, spec->population, NULL, err);
    v.source[0] = original;
    v.source[2] = people;
    v.source[1] = options->cells ? options->cells : release;
    if (status == KN_OK) status = verify(out, &v, err);
    kn_cells_close(original);
    kn_cells_close(release);
    kn_cells_close(people);
    return status;
}
