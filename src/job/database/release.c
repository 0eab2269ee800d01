/* database/release.c: kn_anonymize_database: the stages of a run on a database in their order (kn_job_database.h), and the
 * first of them: the target, the tables, who is a person, and the trees.
 *
 * Memory: tables and trees; then tables, plan and released rows; then tables and what the verifier holds.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_job_database.h"

#include <kanon/report.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "kn_alloc.h"
#include "kn_database_roles.h"
#include "kn_error.h"
#include "kn_job_advise.h"
#include "kn_job_anonymize.h"
#include "kn_job_texts.h"
#include "kn_kept.h"
#include "kn_names.h"
#include "kn_targets.h"

typedef struct owned_result {
    kn_database_result result; /* first: what the caller holds */
    kn_arena           arena;
} owned_result;

/* ---- Small things ---- */

void *kn_dbrun_room(kn_dbrun *run, kn_arena *arena, size_t count, size_t size, kn_error *err)
{
    return kn_job_room(run->ctx, arena, count, size, err);
}

kn_status kn_dbrun_note(kn_dbrun *run, kn_error *err, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    kn_status st =
        kn_job_add_note(run->ctx, run->arena, &run->result->notes, &run->result->note_count, err, format, args);
    va_end(args);
    return st;
}

/* ---- The target ---- */

static bool same_file(const char *a, const char *b)
{
    struct stat x, y;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

static const char *without_scheme(const char *name)
{
    const char *file = kn_name_sqlite(name);
    return file ? file : name;
}

/* A SQLite file's own name, a folder's without its slashes, of a server the name of the new schema. */
static kn_status find_base(kn_dbrun *run, kn_error *err)
{
    const char *output = run->spec->output, *from = without_scheme(output);
    size_t      size = strlen(from);
    if (kn_database_kind_of(output) == KN_DATABASE_POSTGRES) {
        const char *schema = strrchr(output, '#');
        from = schema ? schema + 1 : "release";
        if (strchr(from, '/')) return kn_fail(err, KN_USAGE, "the name of a schema has no slash");
        size = strlen(from);
    }
    while (size > 1 && from[size - 1] == '/') size--;
    run->base = kn_arena_strndup(run->arena, from, size);
    run->result->beside = run->base;
    return run->base ? KN_OK : kn_fail_memory(err, run->ctx, "making a release");
}

/* Does a path lie directly in a folder? */
static bool lies_in(kn_dbrun *run, const char *path, const char *folder)
{
    const char *slash = strrchr(path, '/');
    char       *parent = slash ? kn_arena_strndup(&run->scratch, path, (size_t)(slash - path) + 1) : NULL;
    return same_file(parent ? parent : ".", folder);
}

static kn_status check_target(kn_dbrun *run, kn_error *err)
{
    const char      *output = run->spec->output, *input = run->spec->inputs[0];
    kn_database_kind kind = kn_database_kind_of(output);
    if (kind == KN_DATABASE_POSTGRES) return KN_OK;
    if (same_file(without_scheme(output), without_scheme(input)))
        return kn_fail(err, KN_USAGE, "the output would overwrite the input");
    if (kn_database_kind_of(input) == KN_DATABASE_FOLDER && lies_in(run, run->base, input))
        return kn_fail(err, KN_USAGE, "the output would lie in the folder that is read");
    return KN_OK;
}

kn_status kn_dbrun_open(kn_dbrun *run, kn_error *err)
{
    const char *output = run->spec->output;
    KN_TRY(find_base(run, err));
    KN_TRY(check_target(run, err));
    KN_TRY(kn_targets_check(run->ctx, run->spec, run->base, err));
    KN_TRY(kn_database_writer_open(&run->writer, run->ctx, output, NULL, err));
    if (run->spec->spreadsheet_safe && !kn_database_writer_guard(run->writer))
        return kn_fail(err, KN_USAGE,
                       "spreadsheet-safe is for CSV, and the output is no folder of such files; leave it out");
    return KN_OK;
}

/* ---- Reading ---- */

static kn_status note_dropped(kn_dbrun *run, kn_error *err)
{
    for (int t = 0; t < run->db->table_count; t++) {
        const kn_database_table *table = &run->db->tables[t];
        for (int c = 0; c < table->table->column_count; c++) {
            const kn_database_column *column = &table->columns[c];
            char                      name[300];
            if (column->has_role || kn_database_released(column)) continue;
            snprintf(name, sizeof name, "%.140s.%.140s", table->name, table->table->columns[c].name);
            if (run->spec->undeclared_refuse)
                return kn_fail(err, KN_INPUT, "column \"%s\" is not declared (undeclared: refuse)", name);
            KN_TRY(
                kn_job_add_text(run->ctx, run->arena, name, &run->result->dropped, &run->result->dropped_count, err));
        }
    }
    return KN_OK;
}

/* A value that cannot be told from what only a release holds. */
static kn_status check_values(const kn_dbrun *run, kn_error *err)
{
    for (int t = 0; t < run->db->table_count; t++) {
        const kn_database_table *table = &run->db->tables[t];
        for (int q = 0; q < table->quasi_count; q++) {
            const kn_column *c = &table->table->columns[table->quasi[q]];
            for (uint32_t v = 0; v < c->dict.count; v++)
                if (kn_string_equal(kn_dictionary_text(&c->dict, v), (kn_string){"*", 1}))
                    return kn_fail(
                        err, KN_INPUT,
                        "table \"%s\", column \"%s\": the data hold the value *, which stands for any value in "
                        "a release; write it otherwise, or name it as a spelling of missing cells (na)",
                        table->name, c->name);
        }
    }
    return KN_OK;
}

static kn_status note_names(kn_dbrun *run, kn_error *err)
{
    for (int t = 0; t < run->db->table_count; t++) {
        const kn_database_table *table = &run->db->tables[t];
        for (int q = 0; q < table->quasi_count; q++)
            if (table->table->rows > 1 && kn_column_cardinality(&table->table->columns[table->quasi[q]]) < 2)
                KN_TRY(kn_dbrun_note(
                    run, err, "table \"%s\", column \"%s\" has the same value in every row: it tells nobody apart",
                    table->name, table->table->columns[table->quasi[q]].name));
        for (int c = 0; c < table->table->column_count; c++)
            if (table->table->columns[c].unnamed)
                KN_TRY(kn_dbrun_note(run, err,
                                     "table \"%s\": a column without a name is called \"%s\", after its place",
                                     table->name, table->table->columns[c].name));
    }
    return KN_OK;
}

static kn_status check_kept(kn_dbrun *run, kn_error *err)
{
    bool some = false;
    for (int t = 0; t < run->db->table_count; t++) {
        const kn_database_table *table = &run->db->tables[t];
        for (int c = 0; c < table->table->column_count; c++) {
            char name[300];
            if (!table->columns[c].has_role || table->columns[c].role != KN_ROLE_KEEP) continue;
            snprintf(name, sizeof name, "%.140s.%.140s", table->name, table->table->columns[c].name);
            if (!run->spec->force) KN_TRY(kn_kept_check(run->ctx, table->table, c, name, run->spec->csv.decimal, err));
            some = true;
        }
    }
    if (!some) return KN_OK;
    return kn_dbrun_note(run, err,
                         "no promise covers the kept columns; what others may know of a person is a "
                         "quasi-identifier");
}

/* As of a table: a sensitive column that nearly tells its owner, or may hold anything, is published as it is. */
static kn_status note_sensitive(kn_dbrun *run, kn_error *err)
{
    for (int t = 0; t < run->db->table_count; t++) {
        const kn_database_table *table = &run->db->tables[t];
        for (int c = 0; c < table->table->column_count; c++) {
            const kn_column *column = &table->table->columns[c];
            int64_t          present = table->table->rows - column->missing;
            if (!table->columns[c].has_role || table->columns[c].role != KN_ROLE_SENSITIVE) continue;
            if (column->type != KN_TYPE_TEXT || present < 10 || 2 * (int64_t)column->dict.count <= present) continue;
            KN_TRY(kn_dbrun_note(
                run, err,
                "column \"%s.%s\" is published as it is, and so many different texts look like free text, "
                "which may name people",
                table->name, column->name));
        }
    }
    return KN_OK;
}

static kn_status fill_tables(kn_dbrun *run, kn_error *err)
{
    kn_release_table *tables = kn_dbrun_room(run, run->arena, (size_t)run->db->table_count, sizeof *tables, err);
    if (!tables) return KN_MEMORY;
    run->result->table_count = run->db->table_count;
    run->result->tables = tables;
    for (int t = 0; t < run->db->table_count; t++) {
        const char *name = run->db->tables[t].name;
        tables[t].name = kn_arena_strndup(run->arena, name, strlen(name));
        if (!tables[t].name) return kn_fail_memory(err, run->ctx, "making a release");
        tables[t].rows_in = run->db->tables[t].table->rows;
        tables[t].orphans = run->forest->missing[t] + run->forest->dangling[t] + run->forest->lost[t];
        if (tables[t].orphans > 0)
            KN_TRY(kn_dbrun_note(run, err, "table \"%s\": %lld %s to nobody and %s not released", name,
                                 (long long)tables[t].orphans, tables[t].orphans == 1 ? "row belongs" : "rows belong",
                                 tables[t].orphans == 1 ? "is" : "are"));
    }
    return KN_OK;
}

/* Files cannot tell an empty text from a missing cell, so for a folder it is read as one: persons who differ in that alone
 * would be two classes here, and one to whoever sees the release. */
static kn_status read_database(kn_dbrun *run, kn_error *err)
{
    const kn_spec      *spec = run->spec;
    kn_database_options options = KN_DATABASE_OPTIONS_INIT;
    const char        **na = NULL;
    options.tables = spec->table_count > 0 ? spec->tables : NULL;
    options.table_count = spec->table_count;
    options.csv = spec->csv;
    KN_TRY(kn_input_mark_take(&run->mark, run->ctx, spec->inputs[0], err));
    options.snapshot = kn_input_mark_snapshot(run->mark);
    if (spec->output && kn_database_kind_of(spec->output) == KN_DATABASE_FOLDER)
        KN_TRY(kn_csv_empty_is_missing(&na, run->ctx, spec->inputs[0], &options.csv, err));
    kn_status st = kn_database_read(&run->db, run->ctx, spec->inputs[0], &options, err);
    kn_free(na);
    return st;
}

kn_status kn_dbrun_read(kn_dbrun *run, kn_error *err)
{
    const kn_spec *spec = run->spec;
    KN_TRY(read_database(run, err));
    KN_TRY(kn_database_choose(run->db, spec->entity_table, err));
    KN_TRY(kn_database_roles(run->db, spec->tables, spec->table_count, err));
    KN_TRY(note_names(run, err));
    KN_TRY(note_dropped(run, err));
    KN_TRY(check_values(run, err));
    KN_TRY(check_kept(run, err));
    KN_TRY(note_sensitive(run, err));
    if (run->db->tables[run->db->entity].table->rows == 0)
        return kn_fail(err, KN_INPUT, "table \"%s\" has no rows: there are no persons",
                       run->db->tables[run->db->entity].name);
    KN_TRY(kn_forest_build(&run->forest, run->ctx, run->db, err));
    run->result->persons_in = run->forest->entities;
    return fill_tables(run, err);
}

/* ---- The run ---- */

static kn_status check(const kn_spec *spec, const kn_anonymize_options *options, kn_error *err)
{
    if (options->size != sizeof *options)
        return kn_fail(err, KN_USAGE, "kn_anonymize_options was not initialized with KN_ANONYMIZE_OPTIONS_INIT");
    if (kn_spec_shape(spec) != KN_SHAPE_DATABASE) return kn_fail(err, KN_USAGE, "the spec describes no database");
    if (kn_method_family(spec->method) != KN_FAMILY_RELATIONAL)
        return kn_fail(err, KN_USAGE, "method %s is not one for a database", kn_method_name(spec->method));
    if (!spec->output && !options->dry_run) return kn_fail(err, KN_USAGE, "no output was given");
    if (spec->output && strcmp(spec->output, "-") != 0 && /* a dry run opens nothing */
        kn_database_kind_of(spec->output) == KN_DATABASE_NONE)
        return kn_fail(err, KN_USAGE, "%s: not a database: sqlite:FILE, postgresql://... or FOLDER/", spec->output);
    if (spec->input_count != 1) return kn_fail(err, KN_USAGE, "a database is one input");
    return KN_OK;
}

static kn_status stages(kn_dbrun *run, kn_error *err)
{
    bool   write = !run->options->dry_run;
    double begin = kn_run_clock();
    if (write) KN_TRY(kn_dbrun_open(run, err));
    KN_TRY(kn_dbrun_read(run, err));
    double read = kn_run_clock();
    run->result->seconds_read = read - begin;
    if (run->spec->method_auto) KN_TRY(kn_dbrun_choose(run, err));
    if (!run->result->advice || run->result->advice->found) KN_TRY(kn_dbrun_search(run, err));
    run->result->seconds_search = kn_run_clock() - read;
    if (run->result->found && write) return kn_dbrun_write(run, err);
    return write && run->spec->report ? kn_database_report_write(run->ctx, run->spec->report, run->spec, run->result,
                                                                 run->options->version, err)
                                      : KN_OK;
}

static void end_run(kn_dbrun *run)
{
    kn_database_writer_abort(run->writer);
    kn_database_plan_free(run->plan);
    kn_forest_free(run->forest);
    kn_database_free(run->db);
    kn_input_mark_free(run->mark);
    kn_arena_free(&run->scratch);
}

kn_status kn_dbrun_advise(kn_advice *out, kn_arena *arena, kn_context *ctx, const kn_spec *spec, kn_error *err)
{
    kn_anonymize_options options = KN_ANONYMIZE_OPTIONS_INIT;
    kn_database_result   result = {.found = false};
    kn_arena             texts;
    options.dry_run = true;
    KN_TRY(check(spec, &options, err));
    kn_dbrun run = {.ctx = ctx, .asked = spec, .spec = spec, .options = &options, .result = &result, .arena = &texts};
    kn_arena_init(&texts, ctx);
    kn_arena_init(&run.scratch, ctx);
    kn_status st = kn_dbrun_read(&run, err);
    if (st == KN_OK) st = kn_dbrun_try_methods(&run, out, arena, err);
    end_run(&run);
    kn_arena_free(&texts);
    return st;
}

kn_status kn_anonymize_database(kn_database_result **out, kn_context *ctx, const kn_spec *spec,
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
    kn_dbrun run = {
        .ctx = ctx, .asked = spec, .spec = spec, .options = options, .result = &owned->result, .arena = &owned->arena};
    kn_arena_init(&run.scratch, ctx);
    kn_status st = stages(&run, err);
    end_run(&run);
    if (st != KN_OK)
        kn_database_result_free(&owned->result);
    else
        *out = &owned->result;
    return st;
}

void kn_database_result_free(kn_database_result *result)
{
    if (!result) return;
    owned_result *owned = (owned_result *)result;
    kn_arena_free(&owned->arena);
    kn_free(owned);
}
