/* kn_sqlite_insert.c: rows into a table of a SQLite file, many by one statement. Interface: kn_sqlite_internal.h.
 *
 * A statement per row costs more than its row: SQLite opens and closes its cursors each time. Here the rows are a virtual
 * table, INSERT INTO t SELECT * FROM it, whose cells SQLite asks for one after the other. Cells are texts; SQLite's own
 * rule of affinity turns them into numbers in columns declared so, as it does with texts that are bound to a statement.
 * A source may give plain numbers to such columns as numbers, which is the same in half the time.
 *
 * The table's name begins with sqlite_, so no table of a file can have it. A connection has one such table at a time.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>

#include "kn_alloc.h"
#include "kn_sql.h"
#include "kn_sqlite_internal.h"

#define ROWS_NAME "sqlite_kanon_rows"

struct kn_sqlite_insert {
    kn_context      *ctx;
    sqlite3_stmt    *statement;
    int              columns;
    bool            *numeric; /* per column: its affinity is one of numbers */
    kn_sqlite_source source;
};

typedef struct row_table {
    sqlite3_vtab            base;
    const kn_sqlite_insert *insert;
} row_table;

typedef struct row_cursor {
    sqlite3_vtab_cursor base;
    bool                ended;
} row_cursor;

/* ---- The virtual table ---- */

static int connect_rows(sqlite3 *db, void *arg, int argc, const char *const *argv, sqlite3_vtab **out, char **message)
{
    const kn_sqlite_insert *insert = arg;
    kn_buffer               sql;
    char                    column[32];
    (void)argc;
    (void)argv;
    (void)message;
    kn_buffer_init(&sql, insert->ctx);
    kn_buffer_add(&sql, "CREATE TABLE x(");
    for (int c = 0; c < insert->columns; c++) {
        snprintf(column, sizeof column, "%sc%d", c ? ", " : "", c);
        kn_buffer_add(&sql, column);
    }
    kn_buffer_char(&sql, ')');
    const char *text = kn_buffer_text(&sql);
    int         code = text ? sqlite3_declare_vtab(db, text) : SQLITE_NOMEM;
    kn_buffer_free(&sql);
    row_table *t = code == SQLITE_OK ? sqlite3_malloc(sizeof *t) : NULL;
    if (!t) return code == SQLITE_OK ? SQLITE_NOMEM : code;
    *t = (row_table){.insert = insert};
    *out = &t->base;
    return SQLITE_OK;
}

static int disconnect_rows(sqlite3_vtab *table)
{
    sqlite3_free(table);
    return SQLITE_OK;
}

static int choose_plan(sqlite3_vtab *table, sqlite3_index_info *info)
{
    (void)table;
    info->estimatedCost = 1;
    return SQLITE_OK;
}

static int open_cursor(sqlite3_vtab *table, sqlite3_vtab_cursor **out)
{
    (void)table;
    row_cursor *c = sqlite3_malloc(sizeof *c);
    if (!c) return SQLITE_NOMEM;
    *c = (row_cursor){.ended = false};
    *out = &c->base;
    return SQLITE_OK;
}

static int close_cursor(sqlite3_vtab_cursor *cursor)
{
    sqlite3_free(cursor);
    return SQLITE_OK;
}

static const kn_sqlite_insert *insert_of(const sqlite3_vtab_cursor *cursor)
{
    return ((const row_table *)(const void *)cursor->pVtab)->insert;
}

static int next_row(sqlite3_vtab_cursor *cursor)
{
    row_cursor             *c = (row_cursor *)(void *)cursor;
    const kn_sqlite_source *source = &insert_of(cursor)->source;
    int                     step = source->next(source->state);
    c->ended = step != SQLITE_ROW;
    return step == SQLITE_ROW || step == SQLITE_DONE ? SQLITE_OK : step;
}

static int first_row(sqlite3_vtab_cursor *cursor, int plan, const char *words, int argc, sqlite3_value **argv)
{
    (void)plan;
    (void)words;
    (void)argc;
    (void)argv;
    return next_row(cursor);
}

static int at_end(sqlite3_vtab_cursor *cursor)
{
    return ((row_cursor *)(void *)cursor)->ended;
}

static int give_cell(sqlite3_vtab_cursor *cursor, sqlite3_context *to, int column)
{
    const kn_sqlite_insert *insert = insert_of(cursor);
    kn_sqlite_value         v = insert->source.cell(insert->source.state, column, insert->numeric[column]);
    if (v.number.kind == KN_PLAIN_INTEGER)
        sqlite3_result_int64(to, v.number.integer);
    else if (v.number.kind == KN_PLAIN_REAL)
        sqlite3_result_double(to, v.number.real);
    else if (v.text.data)
        sqlite3_result_text64(to, v.text.data, v.text.size, v.stays ? SQLITE_STATIC : SQLITE_TRANSIENT, SQLITE_UTF8);
    else
        sqlite3_result_null(to);
    return SQLITE_OK;
}

static int row_number(sqlite3_vtab_cursor *cursor, sqlite3_int64 *out)
{
    (void)cursor;
    *out = 0;
    return SQLITE_OK;
}

static const sqlite3_module rows_module = {.xConnect = connect_rows,
                                           .xBestIndex = choose_plan,
                                           .xDisconnect = disconnect_rows,
                                           .xOpen = open_cursor,
                                           .xClose = close_cursor,
                                           .xFilter = first_row,
                                           .xNext = next_row,
                                           .xEof = at_end,
                                           .xColumn = give_cell,
                                           .xRowid = row_number};

/* ---- The statement ---- */

/* SQLite's rule: what a declared type contains, in this order. */
static bool is_numeric(const char *type)
{
    static const char *const texts[] = {"%char%", "%clob%", "%text%", "%blob%"};
    if (sqlite3_strlike("%int%", type, 0) == 0) return true;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (sqlite3_strlike(texts[i], type, 0) == 0) return false;
    return *type != '\0' && sqlite3_stricmp(type, "any") != 0; /* of a strict table: as it is */
}

static int find_numeric(kn_sqlite_insert *insert, sqlite3 *db, const char *table)
{
    sqlite3_stmt *s = NULL;
    insert->numeric = kn_alloc_zero(insert->ctx, (size_t)insert->columns + 1);
    if (!insert->numeric) return SQLITE_NOMEM;
    int code = sqlite3_prepare_v2(db, "SELECT type FROM pragma_table_info(?1) ORDER BY cid", -1, &s, NULL);
    if (code == SQLITE_OK) code = sqlite3_bind_text(s, 1, table, -1, SQLITE_STATIC);
    for (int c = 0; code == SQLITE_OK && sqlite3_step(s) == SQLITE_ROW; c++) {
        const char *type = (const char *)sqlite3_column_text(s, 0);
        if (c < insert->columns) insert->numeric[c] = type && is_numeric(type);
    }
    int end = sqlite3_finalize(s);
    return code == SQLITE_OK ? end : code;
}

int kn_sqlite_insert_open(kn_sqlite_insert **out, kn_context *ctx, sqlite3 *db, const char *table, int columns,
                          const kn_sqlite_source *source)
{
    kn_buffer         sql;
    kn_sqlite_insert *insert = *out = kn_alloc_zero(ctx, sizeof *insert);
    if (!insert) return SQLITE_NOMEM;
    *insert = (kn_sqlite_insert){.ctx = ctx, .columns = columns, .source = *source};
    kn_buffer_init(&sql, ctx);
    kn_buffer_add(&sql, "INSERT INTO ");
    kn_sql_name(&sql, table);
    kn_buffer_add(&sql, " SELECT * FROM " ROWS_NAME);
    const char *text = kn_buffer_text(&sql);
    int         code = text ? sqlite3_create_module(db, ROWS_NAME, &rows_module, insert) : SQLITE_NOMEM;
    if (code == SQLITE_OK) code = find_numeric(insert, db, table);
    if (code == SQLITE_OK) code = sqlite3_prepare_v2(db, text, -1, &insert->statement, NULL);
    kn_buffer_free(&sql);
    return code;
}

int kn_sqlite_insert_run(kn_sqlite_insert *insert)
{
    int code = sqlite3_step(insert->statement);
    return code == SQLITE_DONE ? sqlite3_reset(insert->statement) : code;
}

const bool *kn_sqlite_insert_numeric(const kn_sqlite_insert *insert)
{
    return insert->numeric;
}

void kn_sqlite_insert_close(kn_sqlite_insert *insert)
{
    if (!insert) return;
    sqlite3_finalize(insert->statement);
    KN_FREE(insert->numeric, insert);
}
