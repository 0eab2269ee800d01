/* kn_sqlite_table.c: one table, view or query of a SQLite file as the bytes of a CSV file. Interface: kn_table_stream.h.
 *
 * The file is opened read-only, as one that may be hostile (kn_sqlite_open.c), and read in one transaction. A query is
 * one statement that only reads. Cells are spelled as kn_sqlite_read.c does.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_names.h"
#include "kn_sql.h"
#include "kn_sqlite_internal.h"

typedef struct rows {
    kn_cells     *cells; /* NULL: the connection is somebody else's */
    sqlite3_stmt *statement;
    char         *name;
    kn_buffer     scratch;
    kn_csv_rows   csv;
} rows;

static void close_rows(void *state)
{
    rows *r = state;
    sqlite3_finalize(r->statement);
    kn_cells_close(r->cells);
    kn_buffer_free(&r->scratch);
    KN_FREE(r->name, r);
}

static kn_status add_names(rows *r, kn_error *err)
{
    for (int c = 0; c < r->csv.columns; c++) {
        const char *name = sqlite3_column_name(r->statement, c);
        if (!name) return kn_fail_memory(err, r->csv.ctx, r->name);
        KN_TRY(kn_csv_rows_cell(&r->csv, kn_string_of(name), err));
    }
    return KN_OK;
}

static kn_status more(void *state, kn_buffer *to, bool *ended, kn_error *err)
{
    rows *r = state;
    char  room[KN_NUMBER_TEXT];
    r->csv.to = to;
    if (r->csv.rows == 0) KN_TRY(add_names(r, err));
    while (to->size < KN_TABLE_CHUNK) {
        int step = sqlite3_step(r->statement);
        *ended = step == SQLITE_DONE;
        if (*ended) return KN_OK;
        if (step != SQLITE_ROW) return kn_sqlite_fail(sqlite3_db_handle(r->statement), r->csv.ctx, r->name, err);
        for (int c = 0; c < r->csv.columns; c++) {
            kn_string text;
            if (!kn_sqlite_cell(&text, r->statement, c, room, &r->scratch))
                return kn_fail_memory(err, r->csv.ctx, r->name);
            KN_TRY(kn_csv_rows_cell(&r->csv, text, err));
        }
    }
    return KN_OK;
}

kn_status kn_sqlite_rows(kn_table_stream *out, kn_context *ctx, kn_cells *cells, sqlite3_stmt *statement, char *name,
                         kn_error *err)
{
    rows *r = kn_alloc_zero(ctx, sizeof *r);
    if (!r) return kn_fail_memory(err, ctx, name);
    *r = (rows){.cells = cells, .statement = statement, .name = name};
    kn_buffer_init(&r->scratch, ctx);
    r->csv = (kn_csv_rows){.ctx = ctx, .source = name, .columns = sqlite3_column_count(statement)};
    *out = (kn_table_stream){r, name, more, close_rows};
    return KN_OK;
}

/* ---- What is read ---- */

/* SELECT all columns FROM a table. KN_INPUT: it has none. */
static kn_status select_all(sqlite3_stmt **out, kn_context *ctx, sqlite3 *db, const kn_catalog_table *table,
                            const char *name, kn_error *err)
{
    kn_buffer sql;
    if (table->column_count == 0) return kn_fail(err, KN_INPUT, "%s: the table has no columns", name);
    kn_buffer_init(&sql, ctx);
    kn_sql_columns(&sql, "SELECT ", table);
    kn_buffer_add(&sql, " FROM ");
    kn_sql_name(&sql, table->name);
    const char *text = kn_buffer_text(&sql);
    kn_status   status = KN_OK;
    if (!text)
        status = kn_fail_memory(err, ctx, name);
    else if (sqlite3_prepare_v2(db, text, -1, out, NULL) != SQLITE_OK)
        status = kn_sqlite_fail(db, ctx, name, err);
    kn_buffer_free(&sql);
    return status;
}

static kn_status prepare_table(sqlite3_stmt **out, const kn_cells *cells, const char *wanted, const char *name,
                               kn_error *err)
{
    kn_database_options options = KN_DATABASE_OPTIONS_INIT;
    kn_spec_table       one = {.name = wanted};
    kn_catalog          catalog;
    options.tables = &one;
    options.table_count = 1;
    kn_catalog_init(&catalog, cells->ctx);
    kn_status status = cells->list(cells->state, &catalog, &options, err);
    if (status == KN_OK && catalog.table_count == 0)
        status = kn_fail(err, KN_INPUT, "%s: there is no table or view of that name", name);
    if (status == KN_OK) status = select_all(out, cells->ctx, kn_sqlite_handle(cells), &catalog.tables[0], name, err);
    kn_catalog_free(&catalog);
    return status;
}

static kn_status prepare_query(sqlite3_stmt **out, const kn_cells *cells, kn_string query, const char *name,
                               kn_error *err)
{
    sqlite3    *db = kn_sqlite_handle(cells);
    const char *rest = "";
    if (sqlite3_prepare_v2(db, query.data, (int)query.size + 1, out, &rest) != SQLITE_OK)
        return kn_sqlite_fail(db, cells->ctx, name, err);
    while (*rest && strchr(" ;\n\t\r", *rest)) rest++;
    if (*out && !*rest && sqlite3_stmt_readonly(*out) && sqlite3_column_count(*out) > 0) return KN_OK;
    return kn_fail(err, KN_USAGE, "%s: must be one SELECT", name);
}

kn_status kn_sqlite_stream(kn_table_stream *out, kn_context *ctx, const char *name, kn_error *err)
{
    kn_name_parts parts = kn_table_name_split(name);
    kn_string     file = kn_table_file(name);
    char         *path = kn_strndup(ctx, file.data, file.size), *table = NULL, *shown = NULL;
    kn_cells     *cells = NULL;
    sqlite3_stmt *statement = NULL;
    if (parts.table.data) table = kn_table_unquote(ctx, parts.table);
    if (path) shown = table ? kn_strformat(ctx, "%s#%s", path, table) : kn_strformat(ctx, "%s" KN_SQLITE_QUERY, path);
    kn_status status = shown && (table || !parts.table.data) ? KN_OK : kn_fail_memory(err, ctx, "reading a table");
    if (status == KN_OK) status = kn_sqlite_cells(&cells, ctx, path, err);
    if (status == KN_OK)
        status = table ? prepare_table(&statement, cells, table, shown, err)
                       : prepare_query(&statement, cells, parts.query, shown, err);
    if (status == KN_OK) status = kn_sqlite_rows(out, ctx, cells, statement, shown, err);
    KN_FREE(path, table);
    if (status == KN_OK) return KN_OK;
    sqlite3_finalize(statement);
    kn_cells_close(cells);
    kn_free(shown);
    return status;
}
