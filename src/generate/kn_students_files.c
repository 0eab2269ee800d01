/* kn_students_files.c: the synthetic database of students as a folder or a SQLite file, which appears whole or not at all.
 * See kanon/generate.h.
 *
 * The SQLite file is made of the same lines as the folder's tables: no cell holds a comma or needs quotes.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <kanon/generate.h>
#include <string.h>

#include "kn_context.h"
#include "kn_error.h"
#include "kn_names.h"
#include "kn_sqlite.h"
#include "kn_students.h"
#include "kn_synthetic_folder.h"

enum { TABLES = 3, MOST_COLUMNS = 4 };

typedef struct made_students {
    int64_t  students;
    uint64_t seed;
} made_students;

static void students_text(const void *arg, int file, kn_buffer *to)
{
    const made_students *made = arg;
    kn_students_file(to, file, made->students, made->seed);
}

/* The tables as they stand in the folder's files, with the types and keys that files do not state. */
static const struct {
    kn_sink_table  table;
    kn_sink_column columns[MOST_COLUMNS];
} schema[TABLES] = {
    {{.name = "students", .column_count = 2, .primary_count = 1, .primary = (const int[]){0}},
     {{"Sid", "TEXT", true, true, false}, {"GPA", "REAL", false, false, false}}},
    {{.name = "courses",
      .column_count = 4,
      .primary_count = 1,
      .primary = (const int[]){0},
      .link = {1, (const int[]){1}, "students", (const char *const[]){"Sid"}}},
     {{"SCid", "TEXT", true, true, false},
      {"Sid", "TEXT", true, false, false},
      {"Course", "TEXT", false, false, false},
      {"Grade", "INTEGER", false, false, false}}},
    {{.name = "books", .column_count = 3, .link = {1, (const int[]){0}, "courses", (const char *const[]){"SCid"}}},
     {{"SCid", "TEXT", true, false, false},
      {"Book", "TEXT", false, false, false},
      {"Price", "INTEGER", false, false, false}}},
};

/* Hands on the lines below the header, cell by cell. */
static kn_status write_rows(const kn_database_sink *sink, const char *text, size_t size, int columns, kn_error *err)
{
    const char *at = memchr(text, '\n', size), *end = text + size;
    for (at++; at < end; at++) {
        kn_string cells[MOST_COLUMNS];
        for (int c = 0; c < columns; c++) {
            const char *stop = at;
            while (*stop != ',' && *stop != '\n') stop++;
            cells[c] = (kn_string){at, (size_t)(stop - at)};
            at = stop + (c + 1 < columns);
        }
        KN_TRY(sink->row(sink->state, cells, err));
    }
    return KN_OK;
}

static kn_status write_table(kn_context *ctx, const kn_database_sink *sink, int t, const made_students *made,
                             kn_error *err)
{
    kn_buffer     text;
    kn_sink_table table = schema[t].table;
    table.columns = schema[t].columns;
    kn_buffer_init(&text, ctx);
    students_text(made, t, &text);
    kn_status status = text.failed ? kn_fail_memory(err, ctx, "generating students") : KN_OK;
    if (status == KN_OK) status = sink->table(sink->state, &table, err);
    if (status == KN_OK) status = write_rows(sink, text.data, text.size, table.column_count, err);
    if (status == KN_OK) status = sink->table_end(sink->state, err);
    kn_buffer_free(&text);
    return status;
}

static kn_status write_sqlite(kn_context *ctx, const char *path, const made_students *made, kn_error *err)
{
    kn_database_sink sink;
    kn_status        status = KN_OK;
    KN_TRY(kn_sqlite_sink(&sink, ctx, path, err));
    for (int t = 0; t < TABLES && status == KN_OK; t++) status = write_table(ctx, &sink, t, made, err);
    if (status == KN_OK) status = sink.finish(sink.state, err);
    if (status == KN_OK) return sink.commit(sink.state, err);
    sink.abort(sink.state);
    return status;
}

kn_status kn_generate_students(kn_context *ctx, const char *target, int64_t students, uint64_t seed, kn_error *err)
{
    KN_SERVE(ctx, err);
    const made_students made = {students, seed};
    if (students < 0 || students > 100000000) return kn_fail(err, KN_USAGE, "from 0 to 100 million students");
    if (kn_name_sqlite(target)) return write_sqlite(ctx, kn_name_sqlite(target), &made, err);
    if (kn_name_server(target) || !kn_synthetic_folder_named(target))
        return kn_fail(err, KN_USAGE, "%s: students are written to a folder, FOLDER/, or a SQLite file, sqlite:FILE",
                       target);
    return kn_synthetic_folder(ctx, target, kn_students_file_name, students_text, &made, err);
}
