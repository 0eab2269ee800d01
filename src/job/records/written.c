/* records/written.c: persons of a database that are released as trees, written as a database again; and reading one.
 *
 * Interface: kn_records_run.h. kn_records_rows.h says which rows there are. Memory: the original's tables until the end.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_written.h"

#include <kanon/database.h>

#include "kn_alloc.h"
#include "kn_database_roles.h"
#include "kn_error.h"
#include "kn_records_rows.h"
#include "kn_records_run.h"

/* Cells of files: an empty one is missing, all are texts. */
static kn_database_options reading(kn_csv_options *csv, const kn_spec *spec, const kn_spec_table *tables, int count,
                                   bool folder)
{
    static const char *const empty = "";
    kn_database_options      options = KN_DATABASE_OPTIONS_INIT;
    *csv = (kn_csv_options)KN_CSV_OPTIONS_INIT;
    if (folder) {
        csv->na = &empty;
        csv->na_count = 1;
        csv->guarded = spec->spreadsheet_safe;
    }
    options.csv = csv;
    options.tables = tables;
    options.table_count = count;
    return options;
}

static kn_status read_back(kn_records_run *run, kn_error *err)
{
    const kn_spec     *spec = run->all.spec;
    kn_records_options options = kn_records_reading(spec);
    kn_csv_options     csv;
    kn_spec_table     *tables =
        kn_records_schema(&run->all.scratch, run->db, run->records->columns, run->records->vocabulary->class_count);
    if (!tables) return kn_fail_memory(err, run->all.ctx, "writing a database");
    kn_database_options from =
        reading(&csv, spec, tables, run->db->table_count, kn_database_writer_folder(run->writer) != NULL);
    KN_TRY(kn_database_writer_read(&run->back_db, run->writer, &from, NULL, err));
    options.released = true;
    return kn_records_read_shown(&run->back, run->all.ctx, run->back_db, tables, run->db->tables[run->db->entity].name,
                                 &options, err);
}

static uint32_t original_record(const void *arg, int64_t row)
{
    return (uint32_t)((const kn_records_run *)arg)->original_of[row];
}

static kn_status put(kn_records_run *run, kn_records_rows *rows, kn_error *err)
{
    kn_key_map keys = {0};
    kn_written w = {.db = run->db};
    uint32_t  *by_key = NULL;
    kn_status  st = kn_key_map_draw(&keys, run->all.ctx, kn_records_rows_of(rows), err);
    if (st == KN_OK) st = kn_database_writer_write_keys(run->writer, kn_records_rows_of(rows), &keys, err);
    if (st == KN_OK) st = kn_written_files(&run->all, run->writer, run->db, NULL, err);
    if (st == KN_OK) st = read_back(run, err);
    if (st == KN_OK) st = kn_written_formulas(&run->all, run->writer, run->back_db, err);
    w.back = run->back_db;
    if (st == KN_OK)
        st = kn_written_persons(&by_key, &run->all, keys.new_key[run->db->entity], run->released->count,
                                original_record, run, err);
    if (st == KN_OK) st = kn_written_map(&run->map, &run->all, &w, by_key, run->released->count, err);
    kn_free(by_key);
    kn_key_map_free(&keys);
    return st;
}

kn_status kn_records_run_put(kn_records_run *run, kn_error *err)
{
    const kn_spec   *spec = run->all.spec;
    kn_records_rows *rows = NULL;
    bool             other = kn_database_kind_of(spec->output) != kn_database_kind_of(spec->inputs[0]);
    KN_TRY(kn_written_seed(&run->all, err));
    KN_TRY(kn_records_rows_make(&rows, run->all.ctx, run->db, run->released, run->records->columns, other,
                                run->all.seed, err));
    kn_status st = put(run, rows, err);
    kn_records_rows_free(rows);
    return st;
}

/* A folder has no catalog: its schema is the original's. */
static kn_status read_database(kn_records **out, kn_context *ctx, const char *release, const char *original,
                               const kn_spec *spec, kn_arena *room, kn_error *err)
{
    kn_records_options options = kn_records_reading(spec);
    kn_records        *before = NULL;
    kn_database       *db = NULL, *shown = NULL;
    kn_csv_options     csv;
    kn_spec_table     *tables = NULL;
    options.released = true;
    kn_status st = kn_records_read_persons(&before, &db, ctx, original, spec, NULL, err);
    if (st == KN_OK) tables = kn_records_schema(room, db, before->columns, before->vocabulary->class_count);
    if (st == KN_OK && !tables) st = kn_fail_memory(err, ctx, "reading a released database");
    if (st == KN_OK) {
        kn_database_options from =
            reading(&csv, spec, tables, db->table_count, kn_database_kind_of(release) == KN_DATABASE_FOLDER);
        st = kn_database_read(&shown, ctx, release, &from, err);
    }
    if (st == KN_OK) st = kn_records_read_shown(out, ctx, shown, tables, db->tables[db->entity].name, &options, err);
    kn_database_free(shown);
    kn_database_free(db);
    kn_records_free(before);
    return st;
}

kn_status kn_records_read_release(kn_records **out, kn_context *ctx, const char *release, const char *original,
                                  const kn_spec *spec, kn_error *err)
{
    kn_records_options options = kn_records_reading(spec);
    kn_arena           room = {.ctx = ctx};
    *out = NULL;
    options.released = true;
    if (spec->table_count == 0 || !release || !kn_database_named(release))
        return kn_records_read(out, ctx, release, &options, err);
    kn_status st = read_database(out, ctx, release, original ? original : spec->inputs[0], spec, &room, err);
    kn_arena_free(&room);
    return st;
}
