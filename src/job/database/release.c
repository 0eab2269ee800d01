/* database/release.c: databases as a shape of the release driver (kn_shape.h), and its first stages: the target, the
 * tables, the persons, and their trees.
 *
 * Memory: tables and trees; then tables, plan and released rows; then the release, read back; then what the verifier holds.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_database_run.h"

#include <stdio.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_database_report.h"
#include "kn_database_roles.h"
#include "kn_error.h"
#include "kn_job_texts.h"
#include "kn_kept.h"
#include "kn_written.h"

/* ---- The target ---- */

static kn_status open_target(kn_release_run *all, kn_error *err)
{
    kn_database_run *run = kn_database_run_of(all);
    kn_status        st = kn_written_open(&run->writer, all, err);
    run->result->beside = all->base;
    return st;
}

/* ---- Reading ---- */

static kn_status note_dropped(kn_database_run *run, kn_error *err)
{
    for (int t = 0; t < run->db->table_count; t++) {
        const kn_database_table *table = &run->db->tables[t];
        for (int c = 0; c < table->table->column_count; c++) {
            const kn_database_column *column = &table->columns[c];
            char                      name[300];
            if (column->has_role || kn_database_released(column)) continue;
            snprintf(name, sizeof name, "%.140s.%.140s", table->name, table->table->columns[c].name);
            if (run->all.spec->undeclared_refuse)
                return kn_fail(err, KN_INPUT, "column \"%s\" is not declared (undeclared: refuse)", name);
            KN_TRY(kn_release_drop(&run->all, name, err));
        }
    }
    return KN_OK;
}

/* A value that looks like what only a release contains. */
static kn_status check_values(const kn_database_run *run, kn_error *err)
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

static kn_status note_names(kn_database_run *run, kn_error *err)
{
    for (int t = 0; t < run->db->table_count; t++) {
        const kn_database_table *table = &run->db->tables[t];
        for (int q = 0; q < table->quasi_count; q++)
            if (table->table->rows > 1 && kn_column_cardinality(&table->table->columns[table->quasi[q]]) < 2)
                KN_TRY(kn_release_note(
                    &run->all, err,
                    "table \"%s\", column \"%s\" has the same value in every row: it tells nobody apart", table->name,
                    table->table->columns[table->quasi[q]].name));
        for (int c = 0; c < table->table->column_count; c++)
            if (table->table->columns[c].unnamed)
                KN_TRY(kn_release_note(&run->all, err,
                                       "table \"%s\": a column without a name is called \"%s\", after its place",
                                       table->name, table->table->columns[c].name));
    }
    return KN_OK;
}

static kn_status check_kept(kn_database_run *run, kn_error *err)
{
    bool some = false;
    for (int t = 0; t < run->db->table_count; t++) {
        const kn_database_table *table = &run->db->tables[t];
        for (int c = 0; c < table->table->column_count; c++) {
            char name[300];
            if (!table->columns[c].has_role || table->columns[c].role != KN_ROLE_KEEP) continue;
            snprintf(name, sizeof name, "%.140s.%.140s", table->name, table->table->columns[c].name);
            if (!run->all.spec->force)
                KN_TRY(kn_kept_check(run->all.ctx, table->table, c, name, run->all.spec->csv.decimal, err));
            some = true;
        }
    }
    if (!some) return KN_OK;
    return kn_release_note(&run->all, err,
                           "no promise covers the kept columns; what others may know of a person is a "
                           "quasi-identifier");
}

/* As for a table: warns of sensitive columns that are published and nearly identify persons, or may hold anything. */
static kn_status note_sensitive(kn_database_run *run, kn_error *err)
{
    for (int t = 0; t < run->db->table_count; t++) {
        const kn_database_table *table = &run->db->tables[t];
        for (int c = 0; c < table->table->column_count; c++) {
            const kn_column *column = &table->table->columns[c];
            int64_t          present = table->table->rows - column->missing;
            if (!table->columns[c].has_role || table->columns[c].role != KN_ROLE_SENSITIVE) continue;
            if (column->type != KN_TYPE_TEXT || present < 10 || 2 * (int64_t)column->dict.count <= present) continue;
            KN_TRY(kn_release_note(
                &run->all, err,
                "column \"%s.%s\" is published as it is, and so many different texts look like free text, "
                "which may name people",
                table->name, column->name));
        }
    }
    return KN_OK;
}

static kn_status fill_tables(kn_database_run *run, kn_error *err)
{
    kn_release_table *tables =
        kn_release_alloc(&run->all, run->all.arena, (size_t)run->db->table_count, sizeof *tables, err);
    if (!tables) return KN_MEMORY;
    run->result->table_count = run->db->table_count;
    run->result->tables = tables;
    for (int t = 0; t < run->db->table_count; t++) {
        const char *name = run->db->tables[t].name;
        tables[t].name = kn_arena_strndup(run->all.arena, name, strlen(name));
        if (!tables[t].name) return kn_fail_memory(err, run->all.ctx, "making a release");
        tables[t].rows_in = run->db->tables[t].table->rows;
        tables[t].orphans = run->forest->missing[t] + run->forest->dangling[t] + run->forest->lost[t];
        if (tables[t].orphans > 0)
            KN_TRY(kn_release_note(&run->all, err, "table \"%s\": %lld %s to nobody and %s not released", name,
                                   (long long)tables[t].orphans, tables[t].orphans == 1 ? "row belongs" : "rows belong",
                                   tables[t].orphans == 1 ? "is" : "are"));
    }
    return KN_OK;
}

/* In files an empty text and a missing cell are the same, so for a folder both are read as missing: persons who
 * differ in that alone would be two classes here, but one in the release. */
static kn_status read_database(kn_database_run *run, kn_error *err)
{
    const kn_spec      *spec = run->all.spec;
    kn_database_options options = KN_DATABASE_OPTIONS_INIT;
    kn_csv_options      csv = spec->csv;
    const char        **na = NULL;
    options.tables = spec->table_count > 0 ? spec->tables : NULL;
    options.table_count = spec->table_count;
    options.csv = &csv;
    options.snapshot = kn_input_mark_snapshot(run->all.originals.marks[0]);
    if (spec->output && kn_database_kind_of(spec->output) == KN_DATABASE_FOLDER)
        KN_TRY(kn_csv_empty_is_missing(&na, run->all.ctx, spec->inputs[0], &csv, err));
    kn_status st = kn_database_read(&run->db, run->all.ctx, spec->inputs[0], &options, err);
    kn_free(na);
    return st;
}

/* Of what the population does not have nothing is known. */
static kn_status read_people(kn_database_run *run, kn_error *err)
{
    const kn_spec *spec = run->all.spec;
    bool           files = spec->output && kn_database_kind_of(spec->output) == KN_DATABASE_FOLDER;
    KN_TRY(kn_people_read(&run->people, run->all.ctx, spec, files, err));
    for (int t = 0; run->people && t < run->db->table_count; t++)
        if (kn_database_find(run->people->db, run->db->tables[t].name) < 0)
            KN_TRY(
                kn_release_note(&run->all, err,
                                "the population has no table \"%s\": delta-presence holds for whoever knows nothing of "
                                "its rows",
                                run->db->tables[t].name));
    return KN_OK;
}

static kn_status read(kn_release_run *all, kn_error *err)
{
    kn_database_run *run = kn_database_run_of(all);
    const kn_spec   *spec = all->spec;
    KN_TRY(kn_release_originals(all, spec->inputs, spec->inputs, 1, false, err));
    KN_TRY(read_database(run, err));
    KN_TRY(kn_database_choose(run->db, spec->entity_table, err));
    KN_TRY(kn_database_roles(run->db, spec->tables, spec->table_count, err));
    KN_TRY(read_people(run, err));
    KN_TRY(kn_database_run_by_type(run, err));
    if (run->people) KN_TRY(kn_people_widen(run->people, run->db, spec, err));
    KN_TRY(kn_database_run_references(run, err));
    KN_TRY(kn_database_run_dependencies(run, err));
    KN_TRY(note_names(run, err));
    KN_TRY(note_dropped(run, err));
    KN_TRY(check_values(run, err));
    KN_TRY(check_kept(run, err));
    KN_TRY(note_sensitive(run, err));
    if (run->db->tables[run->db->entity].table->rows == 0)
        return kn_fail(err, KN_INPUT, "table \"%s\" has no rows: there are no persons",
                       run->db->tables[run->db->entity].name);
    KN_TRY(kn_forest_build(&run->forest, run->all.ctx, run->db, err));
    run->result->persons_in = run->forest->entities;
    return fill_tables(run, err);
}

/* ---- The shape ---- */

static kn_status check(const kn_spec *spec, kn_error *err)
{
    if (kn_spec_shape(spec) != KN_SHAPE_DATABASE) return kn_fail(err, KN_USAGE, "the spec describes no database");
    if (kn_method_family(spec->method) != KN_FAMILY_RELATIONAL)
        return kn_fail(err, KN_USAGE, "method %s is not one for a database", kn_method_name(spec->method));
    if (spec->output && strcmp(spec->output, "-") != 0 && /* a dry run opens nothing */
        kn_database_kind_of(spec->output) == KN_DATABASE_NONE)
        return kn_fail(err, KN_USAGE, "%s: not a database: sqlite:FILE, postgresql://... or FOLDER/", spec->output);
    return spec->input_count > 1 ? kn_fail(err, KN_USAGE, "a database is one input") : KN_OK;
}

/* The search counts in the result's tables: each trial has its own. */
static kn_status begin(kn_release_run *all, const kn_release_head *of, kn_error *err)
{
    kn_database_run          *run = kn_database_run_of(all);
    const kn_database_result *from = (const kn_database_result *)(const void *)of;
    run->result = (kn_database_result *)(void *)all->head;
    if (!from) return KN_OK;
    kn_release_table *tables = kn_release_alloc(all, all->arena, (size_t)from->table_count, sizeof *tables, err);
    if (!tables) return KN_MEMORY;
    memcpy(tables, from->tables, (size_t)from->table_count * sizeof *tables);
    run->result->tables = tables;
    run->result->table_count = from->table_count;
    run->result->persons_in = from->persons_in;
    return KN_OK;
}

static kn_status count(kn_release_run *all, kn_advisor *out, kn_error *err)
{
    (void)err;
    out->count = kn_database_run_of(all)->forest->entities;
    return KN_OK;
}

static kn_status judge(kn_release_run *all, kn_advice_candidate *out, kn_error *err)
{
    const kn_database_run *run = kn_database_run_of(all);
    out->loss = run->result->lm;
    if (all->head->classes > 0 && all->head->k < run->k)
        return kn_fail(err, KN_INTERNAL, "a mistake in kanon: the plan of method %s does not keep k",
                       kn_method_name(all->spec->method));
    return KN_OK;
}

static kn_status report(kn_buffer *to, kn_release_run *all, kn_error *err)
{
    return kn_database_report_render(to, all->spec, kn_database_run_of(all)->result, all->options->version, err);
}

static void end(kn_release_run *all)
{
    kn_database_run *run = kn_database_run_of(all);
    kn_database_free(run->back);
    kn_free(run->map);
    kn_people_free(run->people);
    kn_forest_free(run->forest);
    kn_database_free(run->db);
}

const kn_release_shape kn_database_shape = {.run_size = sizeof(kn_database_run),
                                            .result_size = sizeof(kn_database_result),
                                            .check = check,
                                            .begin = begin,
                                            .open = open_target,
                                            .read = read,
                                            .count = count,
                                            .search = kn_database_run_search,
                                            .measure = kn_database_run_measure,
                                            .judge = judge,
                                            .left = kn_database_run_left,
                                            .spread = kn_database_run_spread,
                                            .write = kn_database_run_write,
                                            .verify = kn_database_run_verify,
                                            .map = kn_database_run_map,
                                            .report = report,
                                            .end_search = kn_database_run_end_search,
                                            .end = end};
