/* database/write.c: from a plan to a database: rows, new keys, reading back; and the verifier's answer (kn_shape.h).
 *
 * The target is written completely but not yet visible: a SQLite file or a folder under a temporary name, a schema
 * inside one transaction. It is read back from there, and what was read is verified against the original.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_anatomy.h"
#include "kn_csv_write.h"
#include "kn_database_release.h"
#include "kn_database_run.h"
#include "kn_error.h"
#include "kn_job_texts.h"

static kn_status no_memory(const kn_database_run *run, kn_error *err)
{
    return kn_fail_memory(err, run->all.ctx, "writing a database");
}

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
    for (int i = 0; names && i < count; i++) names[i] = kn_table_name(table, columns[i]);
    return names;
}

/* The schema as a release file would describe it: a folder has no catalog. */
static kn_spec_table *describe(kn_database_run *run, kn_error *err)
{
    const kn_database *db = rows_of(run)->db;
    kn_spec_table     *tables =
        kn_release_alloc(&run->all, &run->all.scratch, (size_t)db->table_count, sizeof *tables, err);
    for (int t = 0; tables && t < db->table_count; t++) {
        const kn_database_table *from = &db->tables[t];
        tables[t] = (kn_spec_table){.name = from->name, .has_key = true, .key_count = from->key_count};
        tables[t].key = names_of(run, from->table, from->key, from->key_count, err);
        if (!tables[t].key) return NULL;
        if (from->link < 0) continue;
        const kn_foreign_key *f = &from->foreign[from->link];
        tables[t].parent = db->tables[from->parent].name;
        tables[t].parent_column_count = f->column_count;
        tables[t].parent_columns = names_of(run, from->table, f->columns, f->column_count, err);
        if (!tables[t].parent_columns) return NULL;
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

static kn_status read_back(kn_database_run *run, kn_error *err)
{
    static const char *const empty = "";
    kn_database_options      options = KN_DATABASE_OPTIONS_INIT;
    kn_csv_options           csv = KN_CSV_OPTIONS_INIT;
    options.csv = &csv;
    options.tables = describe(run, err);
    if (!options.tables) return KN_MEMORY;
    options.table_count = rows_of(run)->db->table_count;
    if (kn_database_writer_folder(run->writer)) { /* elsewhere an empty text is a value */
        csv.na = &empty;
        csv.na_count = 1;
        csv.guarded = run->all.spec->spreadsheet_safe;
    }
    csv.decimal = run->all.spec->csv.decimal;
    csv.timezone = run->all.spec->csv.timezone;
    KN_TRY(kn_database_writer_read(&run->back, run->writer, &options, err));
    if (run->db->references) mark_references(run);
    return KN_OK;
}

/* Of a folder's files: what was written, column by column. */
static kn_status note_formulas(kn_database_run *run, kn_error *err)
{
    if (!kn_database_writer_folder(run->writer)) return KN_OK;
    for (int t = 0; t < run->back->table_count; t++) {
        const kn_table *table = run->back->tables[t].table;
        for (int c = 0; c < table->column_count; c++) {
            const kn_column *column = &table->columns[c];
            int64_t          cells = 0;
            bool             any = false;
            char             name[300];
            for (uint32_t v = 0; v < column->dict.count && !any; v++)
                any = kn_csv_formula(kn_dictionary_text(&column->dict, v));
            for (int64_t row = 0; any && row < table->rows; row++) {
                uint32_t code = kn_column_code(column, row);
                cells += code < column->dict.count && kn_csv_formula(kn_dictionary_text(&column->dict, code));
            }
            if (cells == 0) continue;
            snprintf(name, sizeof name, "%.140s.%.140s", run->back->tables[t].name, column->name);
            KN_TRY(kn_release_note(&run->all, err, "%s",
                                   kn_job_formulas_note(name, cells, run->all.spec->spreadsheet_safe).text));
        }
    }
    return KN_OK;
}

/* The number in the text of a key: a decimal, or the last part of a UUID. */
static uint32_t key_number(kn_string text)
{
    uint64_t number = 0;
    bool     uuid = text.size == 36;
    for (size_t i = uuid ? 24 : 0; i < text.size; i++) {
        char c = text.data[i];
        int  digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : 99;
        if (digit >= (uuid ? 16 : 10) || number > UINT32_MAX) return 0;
        number = number * (uuid ? 16 : 10) + (uint64_t)digit;
    }
    return number <= UINT32_MAX ? (uint32_t)number : 0;
}

/* Which original person is each person that was read back? */
static kn_status make_map(kn_database_run *run, kn_error *err)
{
    int                      entity = run->db->entity;
    const kn_database_table *original = &run->db->tables[entity];
    const kn_table          *table = run->back->tables[kn_database_find(run->back, original->name)].table;
    const kn_column *key = &table->columns[kn_table_find(table, kn_table_name(original->table, original->key[0]))];
    int64_t          rows = rows_of(run)->tables[entity].rows;
    uint32_t        *row_of_key = kn_alloc_array_zero(run->all.ctx, (size_t)rows + 1, sizeof *row_of_key);
    run->map = kn_alloc_array(run->all.ctx, (size_t)table->rows + 1, sizeof *run->map);
    bool ok = row_of_key && run->map;
    for (int64_t r = 0; ok && r < rows; r++) row_of_key[run->keys.new_key[entity][r]] = (uint32_t)r;
    for (int64_t r = 0; ok && r < table->rows; r++) {
        uint32_t code = kn_column_code(key, r);
        uint32_t number = code < key->dict.count ? key_number(kn_dictionary_text(&key->dict, code)) : 0;
        /* An invalid key is left to the verifier: the map has no person for it. */
        run->map[r] = number > 0 && number <= rows ? (int64_t)original_of(run, entity, row_of_key[number]) : -1;
    }
    kn_free(row_of_key);
    return ok ? KN_OK : no_memory(run, err);
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

kn_status kn_database_run_publish(kn_release_run *all, kn_error *err)
{
    kn_database_run *run = kn_database_run_of(all);
    kn_public_reader reader = {.state = all, .hierarchy = kn_release_read_hierarchy};
    return kn_public_of_database(&all->facts, all->ctx, all->asked, &reader, run->back,
                                 run->db->tables[run->db->entity].name, err);
}

/* ---- Files ---- */

static kn_status list_files(kn_database_run *run, kn_error *err)
{
    const char        *folder = kn_database_writer_folder(run->writer), *file = kn_database_writer_file(run->writer);
    const kn_database *db = rows_of(run)->db;
    int                own = db->table_count, copied = run->db->references ? run->db->references->table_count : 0;
    int                count = folder ? own + copied : file != NULL;
    run->all.files = kn_release_alloc(&run->all, &run->all.scratch, (size_t)count, sizeof *run->all.files, err);
    run->all.file_names =
        kn_release_alloc(&run->all, &run->all.scratch, (size_t)count, sizeof *run->all.file_names, err);
    if (!run->all.files || !run->all.file_names) return KN_MEMORY;
    for (int i = 0; i < count; i++) {
        const char *name = i < own ? db->tables[i].name : run->db->references->tables[i - own].name;
        size_t      room = folder ? strlen(folder) + strlen(name) + 6 : strlen(file) + 1;
        char       *path = kn_release_alloc(&run->all, &run->all.scratch, room, 1, err);
        if (!path) return KN_MEMORY;
        if (folder)
            snprintf(path, room, "%s/%s.csv", folder, name);
        else
            snprintf(path, room, "%s", file);
        run->all.files[i] = path;
        run->all.file_names[i] = folder ? strrchr(path, '/') + 1 : run->all.base;
    }
    run->all.file_count = count;
    run->all.seal.folder = folder != NULL;
    return KN_OK;
}

static void add_cell(kn_buffer *line, const kn_table *table, int column, int64_t row, bool first)
{
    const kn_column *c = &table->columns[column];
    uint32_t         code = kn_column_code(c, row);
    if (!first) kn_buffer_char(line, ',');
    if (code < c->dict.count) kn_csv_cell(line, kn_dictionary_text(&c->dict, code), ',');
}

/* "released C" and "original C" for each column C of the key of persons. */
kn_status kn_database_run_map(kn_release_run *all, kn_output *to, kn_error *err)
{
    kn_database_run         *run = kn_database_run_of(all);
    const kn_database_table *original = &run->db->tables[run->db->entity];
    const kn_table          *table = run->back->tables[kn_database_find(run->back, original->name)].table;
    kn_buffer                line;
    bool                     failed = false;
    kn_buffer_init(&line, run->all.ctx);
    for (int64_t r = -1; r < table->rows && !failed; r++) {
        line.size = 0;
        for (int i = 0; i < 2 * original->key_count; i++) {
            bool released = i < original->key_count;
            int  column = original->key[i % original->key_count];
            if (r >= 0) {
                if (released)
                    add_cell(&line, table, kn_table_find(table, kn_table_name(original->table, column)), r, i == 0);
                else
                    add_cell(&line, original->table, column, run->map[r], false);
                continue;
            }
            char name[300];
            snprintf(name, sizeof name, "%s %.250s", released ? "released" : "original",
                     kn_table_name(original->table, column));
            if (i > 0) kn_buffer_char(&line, ',');
            kn_csv_cell(&line, (kn_string){name, strlen(name)}, ',');
        }
        kn_buffer_char(&line, '\n');
        failed = line.failed;
        if (!failed) kn_output_write(to, line.data, line.size);
    }
    kn_buffer_free(&line);
    return failed ? no_memory(run, err) : KN_OK;
}

/* ---- All of it ---- */

static kn_status draw_seed(kn_database_run *run, kn_error *err)
{
    if (run->all.spec->seeded) return KN_OK;
    if (sodium_init() < 0) return kn_fail(err, KN_INTERNAL, "libsodium could not be initialized");
    randombytes_buf(&run->all.seed, sizeof run->all.seed);
    return KN_OK;
}

static kn_status put(kn_database_run *run, kn_error *err)
{
    KN_TRY(draw_seed(run, err));
    KN_TRY(make_rows(run, err));
    const kn_database_rows *rows = rows_of(run);
    KN_TRY(kn_key_map_draw(&run->keys, run->all.ctx, rows, err));
    KN_TRY(kn_database_writer_write_keys(run->writer, rows, &run->keys, err));
    KN_TRY(list_files(run, err));
    KN_TRY(read_back(run, err));
    KN_TRY(note_formulas(run, err));
    return make_map(run, err);
}

kn_status kn_database_run_write(kn_release_run *all, kn_error *err)
{
    kn_database_run *run = kn_database_run_of(all);
    kn_status        st = put(run, err);
    kn_key_map_free(&run->keys);
    kn_database_release_free(run->rows);
    kn_anatomy_free(run->anatomy);
    run->rows = NULL;
    run->anatomy = NULL;
    kn_database_run_end_search(all);
    kn_forest_free(run->forest);
    run->forest = NULL;
    return st;
}
