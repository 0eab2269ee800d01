/* database/write.c: from a plan to a database: rows, new keys, reading back; and the verifier's answer (kn_shape.h).
 *
 * The target is written completely but not yet visible: a SQLite file or a folder under a temporary name, a schema
 * inside one transaction. It is read back from there, and what was read is verified against the original.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_anatomy.h"
#include "kn_csv_write.h"
#include "kn_database_release.h"
#include "kn_database_run.h"
#include "kn_error.h"
#include "kn_job_texts.h"
#include "kn_written.h"

/* ---- Released rows ---- */

static kn_status make_rows(kn_database_run *run, kn_error *err)
{
    if (run->all.spec->anatomy)
        return kn_anatomy_make(&run->anatomy, run->all.ctx, run->forest, run->plan, run->all.seed, err);
    kn_forest_free(run->forest); /* the plan knows the rest */
    run->forest = NULL;
    return kn_database_release_make(&run->rows, run->all.ctx, run->db, run->plan, run->all.seed, err);
}

static const kn_database_rows *rows_of(const kn_database_run *run)
{
    return run->anatomy ? kn_anatomy_rows(run->anatomy) : kn_database_release_rows(run->rows);
}

static uint32_t original_of(const kn_database_run *run, int table, int64_t row)
{
    return run->anatomy ? kn_anatomy_original(run->anatomy, table, row)
                        : kn_database_release_original(run->rows, table, row);
}

/* ---- Reading back ---- */

static const char **names_of(kn_database_run *run, const kn_table *table, const int *columns, int count, kn_error *err)
{
    const char **names = kn_release_alloc(&run->all, &run->all.scratch, (size_t)count, sizeof *names, err);
    for (int i = 0; names && i < count; i++) {
        names[i] = kn_release_text(&run->all, kn_table_name(table, columns[i]), err);
        if (!names[i]) return NULL;
    }
    return names;
}

/* The schema as a release file would describe it: a folder has no catalog. A key that no table refers to joins nothing and is
 * not read (is_unread), which leaves it to the verifier whether it is one. The texts are the run's. */
static kn_spec_table *describe(kn_database_run *run, kn_error *err)
{
    const kn_database *db = rows_of(run)->db;
    bool               folder = kn_database_writer_folder(run->writer) != NULL;
    kn_spec_table     *tables =
        kn_release_alloc(&run->all, &run->all.scratch, (size_t)db->table_count, sizeof *tables, err);
    for (int t = 0; tables && t < db->table_count; t++) {
        const kn_database_table *from = &db->tables[t];
        bool                     joins = folder || from->link < 0 || from->child_count > 0;
        tables[t] = (kn_spec_table){.has_key = true, .key_count = joins ? from->key_count : 0};
        tables[t].name = kn_release_text(&run->all, from->name, err);
        tables[t].key = names_of(run, from->table, from->key, tables[t].key_count, err);
        if (!tables[t].name || !tables[t].key) return NULL;
        if (from->link < 0) continue;
        const kn_foreign_key *f = &from->foreign[from->link];
        tables[t].parent = kn_release_text(&run->all, db->tables[from->parent].name, err);
        tables[t].parent_column_count = f->column_count;
        tables[t].parent_columns = names_of(run, from->table, f->columns, f->column_count, err);
        if (!tables[t].parent || !tables[t].parent_columns) return NULL;
    }
    return tables;
}

/* A folder has no catalog that tells which columns hold keys of references, or labels of their groups. */
static void mark_references(kn_database_run *run)
{
    for (int t = 0; t < run->db->table_count; t++) {
        const kn_database_table *from = &run->db->tables[t];
        kn_database_table       *to = &run->back->tables[kn_database_find(run->back, from->name)];
        for (int c = 0; c < from->table->column_count; c++) {
            const kn_database_column *d = &from->columns[c];
            int                       at = kn_table_find(to->table, from->table->columns[c].name);
            int                       label = d->label ? kn_table_find(to->table, d->label) : -1;
            if (at >= 0) to->columns[at].refers = d->refers;
            if (label < 0) continue;
            to->columns[label].refers = true;
            to->columns[label].label_of = from->table->columns[c].name;
        }
    }
}

/* Does nothing that is made from what is read back look at its cells? Facts are about quasi-identifiers and who looks alike in
 * them, the map about persons' keys. Persons are read whole: the map is of their rows as the verifier reads them, and an engine that is
 * asked for keys alone may give rows in another order, that of an index. The verifier, which reads the release itself, looks at
 * everything. */
static bool is_unread(const void *arg, const char *table, const char *column)
{
    const kn_database *db = ((const kn_database_run *)arg)->db;
    int                t = kn_database_find(db, table), c = t < 0 ? -1 : kn_table_find(db->tables[t].table, column);
    if (c < 0 || t == db->entity) return false;
    const kn_database_column *d = &db->tables[t].columns[c];
    if (d->refers || (d->has_role && d->role == KN_ROLE_QUASI)) return false;
    return d->key || (d->has_role && (d->role == KN_ROLE_SENSITIVE || d->role == KN_ROLE_KEEP));
}

static kn_status read_back(kn_database_run *run, const kn_spec_table *tables, int count, kn_error *err)
{
    static const char *const empty = "";
    kn_database_options      options = KN_DATABASE_OPTIONS_INIT;
    kn_csv_options           csv = KN_CSV_OPTIONS_INIT;
    options.csv = &csv;
    options.tables = tables;
    options.table_count = count;
    if (kn_database_writer_folder(run->writer)) { /* elsewhere an empty text is a value */
        csv.na = &empty;
        csv.na_count = 1;
        csv.guarded = run->all.spec->spreadsheet_safe;
    }
    csv.decimal = run->all.spec->csv.decimal;
    csv.timezone = run->all.spec->csv.timezone;
    kn_database_unread unread = {run, is_unread};
    bool               folder = kn_database_writer_folder(run->writer) != NULL; /* which may hold formulas anywhere */
    KN_TRY(kn_database_writer_read(&run->back, run->writer, &options, folder ? NULL : &unread, err));
    if (run->db->references) mark_references(run);
    return KN_OK;
}

/* ---- Verifying ---- */

static const kn_verified_table *same_table(const kn_database_verify_report *v, const char *name)
{
    for (int t = 0; t < v->table_count; t++)
        if (strcmp(v->tables[t].name, name) == 0) return &v->tables[t];
    return NULL;
}

static kn_status compare_tables(kn_database_run *run, const kn_database_verify_report *v, kn_error *err)
{
    const kn_database_result *r = run->result;
    for (int t = 0; t < r->table_count; t++) {
        const kn_verified_table *same = same_table(v, r->tables[t].name);
        kn_claim                 claims[] = {
                            {"the number of rows of a table", (double)r->tables[t].rows, same ? (double)same->rows : -1},
                            {"the number of deleted rows of a table", (double)r->tables[t].deleted, same ? (double)same->deleted : -1},
                            {"the loss of a table", r->tables[t].lm, same ? same->lm : -1}};
        KN_TRY(kn_release_compare(claims, 3, err));
    }
    return KN_OK;
}

static kn_status compare(kn_database_run *run, const kn_database_verify_report *v, kn_error *err)
{
    kn_database_result *r = run->result;
    if (run->all.spec->anatomy) { /* its classes are groups of rows, which only the verifier counts */
        kn_release_model *models = (kn_release_model *)(uintptr_t)r->head.models;
        for (int i = 0; i < r->head.model_count; i++) models[i].reached = NAN;
        r->head.classes = v->classes;
        r->head.k = v->k;
    }
    kn_claim claims[] = {{"the number of persons", (double)r->persons, (double)v->persons},
                         {"the number of persons left out", (double)r->head.suppressed, (double)v->dropped},
                         {"the number of classes", (double)r->head.classes, (double)v->classes},
                         {"k", (double)r->head.k, (double)v->k},
                         {"lm", r->lm, v->lm},
                         {"dm", r->dm, v->dm}};
    KN_TRY(kn_release_compare(claims, 6, err));
    KN_TRY(kn_release_compare_models(&run->all, v->models, v->model_count, true, err));
    r->head.largest_share = v->largest_share;
    return compare_tables(run, v, err);
}

kn_status kn_database_run_verify(kn_release_run *all, kn_error *err)
{
    kn_database_run           *run = kn_database_run_of(all);
    kn_database_verify_report *report = NULL;
    kn_database_verify_options options = KN_DATABASE_VERIFY_OPTIONS_INIT;
    kn_cells                  *cells = NULL;
    KN_TRY(kn_database_writer_cells(&cells, run->writer, err));
    options.cells = cells;
    options.snapshot = kn_input_mark_snapshot(all->originals.marks[0]);
    options.map = run->map;
    options.map_count =
        run->back->tables[kn_database_find(run->back, run->db->tables[run->db->entity].name)].table->rows;
    kn_status st = kn_verify_database(&report, all->ctx, all->spec, &options, err);
    kn_cells_close(cells);
    st = report ? kn_release_verdict(report->outcome, report->problems, report->problem_count,
                                     report->open_count > 0 ? report->open[0] : NULL, err)
                : kn_release_unread(st, err);
    if (st == KN_OK) st = compare(run, report, err);
    kn_database_verify_report_free(report);
    return st;
}

/* ---- All of it ---- */

static kn_written written(const kn_database_run *run)
{
    return (kn_written){run->db, run->back};
}

static uint32_t original_person(const void *arg, int64_t row)
{
    const kn_database_run *run = arg;
    return original_of(run, run->db->entity, row);
}

/* "released C" and "original C" for each column C of the key of persons. */
kn_status kn_database_run_map(kn_release_run *all, kn_output *to, kn_error *err)
{
    const kn_database_run *run = kn_database_run_of(all);
    kn_written             w = written(run);
    return kn_written_rowmap(to, all, &w, run->map, err);
}

/* What was needed to write. */
static void let_go(kn_database_run *run)
{
    kn_key_map_free(&run->keys);
    kn_database_release_free(run->rows);
    kn_anatomy_free(run->anatomy);
    run->rows = NULL;
    run->anatomy = NULL;
    kn_database_run_end_search(&run->all);
    kn_forest_free(run->forest);
    run->forest = NULL;
    kn_people_free(run->people);
    run->people = NULL;
    kn_database_forget(run->db, run->db->entity);
}

static kn_status write_rows(kn_database_run *run, uint32_t **by_key, int64_t *persons, kn_error *err)
{
    KN_TRY(kn_written_seed(&run->all, err));
    KN_TRY(make_rows(run, err));
    const kn_database_rows *rows = rows_of(run);
    KN_TRY(kn_key_map_draw(&run->keys, run->all.ctx, rows, err));
    KN_TRY(kn_database_writer_write_keys(run->writer, rows, &run->keys, err));
    KN_TRY(kn_written_files(&run->all, run->writer, rows->db, run->db->references, err));
    *persons = rows->tables[run->db->entity].rows;
    return kn_written_persons(by_key, &run->all, run->keys.new_key[run->db->entity], *persons, original_person, run,
                              err);
}

/* What the release shows by itself, while what was read back is here: the verifier reads all of it again, and needs the memory. */
static kn_status take_facts(kn_database_run *run, kn_error *err)
{
    const char      *persons = run->db->tables[run->db->entity].name;
    kn_public_reader reader = {.state = &run->all, .hierarchy = kn_release_read_hierarchy};
    KN_TRY(kn_public_of_database(&run->all.facts, run->all.ctx, run->all.asked, &reader, run->back, persons, err));
    kn_database_forget(run->back, kn_database_find(run->back, persons));
    return KN_OK;
}

static kn_status read_and_map(kn_database_run *run, const kn_spec_table *tables, int count, const uint32_t *by_key,
                              int64_t persons, kn_error *err)
{
    KN_TRY(read_back(run, tables, count, err));
    KN_TRY(kn_written_formulas(&run->all, run->writer, run->back, err));
    kn_written w = written(run);
    KN_TRY(kn_written_map(&run->map, &run->all, &w, by_key, persons, err));
    return take_facts(run, err);
}

kn_status kn_database_run_write(kn_release_run *all, kn_error *err)
{
    kn_database_run *run = kn_database_run_of(all);
    kn_spec_table   *tables = NULL;
    uint32_t        *by_key = NULL;
    int64_t          persons = 0;
    int              count = 0;
    kn_status        st = write_rows(run, &by_key, &persons, err);
    if (st == KN_OK) {
        count = rows_of(run)->db->table_count;
        tables = describe(run, err);
        if (!tables) st = KN_MEMORY;
    }
    let_go(run);
    if (st == KN_OK) st = read_and_map(run, tables, count, by_key, persons, err);
    kn_free(by_key);
    return st;
}
