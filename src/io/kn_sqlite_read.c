/* kn_sqlite_read.c: the tables of a SQLite file as texts. Interface: kn_sqlite.h, kn_cells.h.
 *
 * The file is opened read-only, as one that may be hostile (kn_sqlite_open.c), and read in one transaction. SQLite's
 * columns hold values of any kind: numbers become their shortest exact spelling, binary values \x and hexadecimal
 * digits. Names are compared as SQLite does, so a foreign key that spells its target in another case is found. Views
 * are read if the release file lists them.
 *
 * Cost: one pass over each table, on one thread at a time.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "kn_alloc.h"
#include "kn_cells.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_sql.h"
#include "kn_sqlite_internal.h"

typedef struct reader {
    kn_cells      cells;
    kn_context   *ctx;
    sqlite3      *db;
    char         *path;
    uint64_t      charged;
    sqlite3_stmt *rows; /* of the table that is being read; NULL: none is */
} reader;

static kn_status fail_sqlite(const reader *r, kn_error *err)
{
    return kn_sqlite_fail(r->db, r->ctx, r->path, err);
}

static kn_status prepare(const reader *r, sqlite3_stmt **out, const char *sql, const char *argument, kn_error *err)
{
    *out = NULL;
    if (sqlite3_prepare_v2(r->db, sql, -1, out, NULL) != SQLITE_OK) return fail_sqlite(r, err);
    if (argument && sqlite3_bind_text(*out, 1, argument, -1, SQLITE_TRANSIENT) != SQLITE_OK) {
        sqlite3_finalize(*out);
        *out = NULL;
        return fail_sqlite(r, err);
    }
    return KN_OK;
}

static const char *text_at(sqlite3_stmt *s, int column)
{
    const char *text = (const char *)sqlite3_column_text(s, column);
    return text ? text : "";
}

/* Finishes a statement after its last step. */
static kn_status finish(const reader *r, sqlite3_stmt *s, int step, bool memory, kn_error *err)
{
    kn_status status = memory ? KN_OK : kn_fail_memory(err, r->ctx, r->path);
    if (status == KN_OK && step != SQLITE_DONE) status = fail_sqlite(r, err);
    sqlite3_finalize(s);
    return status;
}

/* ---- The catalog ---- */

/* Declared as text, by SQLite's own rule of affinity. */
static bool is_text(const char *type)
{
    return sqlite3_strlike("%char%", type, 0) == 0 || sqlite3_strlike("%clob%", type, 0) == 0 ||
           sqlite3_strlike("%text%", type, 0) == 0;
}

static kn_status list_columns(const reader *r, kn_catalog *c, int table, kn_error *err)
{
    sqlite3_stmt *s = NULL;
    bool          ok = true;
    int           step = SQLITE_DONE;
    KN_TRY(prepare(r, &s, "SELECT name, type, \"notnull\" FROM pragma_table_xinfo(?1) WHERE hidden <> 1 ORDER BY cid",
                   c->tables[table].name, err));
    while (ok && (step = sqlite3_step(s)) == SQLITE_ROW)
        ok = kn_catalog_add_column(c, table, text_at(s, 0), text_at(s, 1), sqlite3_column_int(s, 2) != 0,
                                   is_text(text_at(s, 1))) >= 0;
    KN_TRY(finish(r, s, step, ok, err));
    KN_TRY(
        prepare(r, &s, "SELECT name FROM pragma_table_info(?1) WHERE pk > 0 ORDER BY pk", c->tables[table].name, err));
    while (ok && (step = sqlite3_step(s)) == SQLITE_ROW) ok = kn_catalog_add_key(c, table, text_at(s, 0)) >= 0;
    return finish(r, s, step, ok, err);
}

static kn_status list_links(const reader *r, kn_catalog *c, int table, kn_error *err)
{
    sqlite3_stmt *s = NULL;
    bool          ok = true;
    int           step = SQLITE_DONE, last = -1, link = -1;
    KN_TRY(prepare(r, &s,
                   "SELECT id, \"table\", \"from\", \"to\" FROM pragma_foreign_key_list(?1) ORDER BY id DESC, seq",
                   c->tables[table].name, err));
    while (ok && (step = sqlite3_step(s)) == SQLITE_ROW) {
        int         id = sqlite3_column_int(s, 0);
        const char *to = (const char *)sqlite3_column_text(s, 3);
        if (id != last) link = kn_catalog_add_link(c, table, text_at(s, 1));
        last = id;
        ok = link >= 0 && kn_catalog_add_link_column(c, table, link, text_at(s, 2), to) >= 0;
    }
    return finish(r, s, step, ok, err);
}

static const char *column_name(const kn_catalog_table *t, const char *name)
{
    for (int i = 0; i < t->column_count; i++)
        if (sqlite3_stricmp(t->columns[i].name, name) == 0) return t->columns[i].name;
    return name;
}

/* Spells the names in foreign keys as their tables do. */
static void respell(kn_catalog *c)
{
    for (int t = 0; t < c->table_count; t++)
        for (int l = 0; l < c->tables[t].link_count; l++) {
            kn_catalog_link *link = &c->tables[t].links[l];
            for (int i = 0; i < link->count; i++) link->columns[i] = column_name(&c->tables[t], link->columns[i]);
            for (int u = 0; u < c->table_count; u++) {
                if (sqlite3_stricmp(c->tables[u].name, link->target) != 0) continue;
                link->target = c->tables[u].name;
                for (int i = 0; i < link->count; i++)
                    if (link->target_columns[i])
                        link->target_columns[i] = column_name(&c->tables[u], link->target_columns[i]);
            }
        }
}

static kn_status list(void *state, kn_catalog *c, const kn_database_options *options, kn_error *err)
{
    const reader *r = state;
    sqlite3_stmt *s = NULL;
    bool          ok = true;
    int           step = SQLITE_DONE;
    KN_TRY(prepare(r, &s,
                   "SELECT name, type FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE "
                   "'sqlite\\_%' ESCAPE '\\' ORDER BY name",
                   NULL, err));
    while (ok && (step = sqlite3_step(s)) == SQLITE_ROW) {
        bool view = strcmp(text_at(s, 1), "view") == 0;
        if (!kn_catalog_wanted(options, text_at(s, 0)) || (view && options->table_count == 0)) continue;
        ok = kn_catalog_add_table(c, text_at(s, 0)) >= 0;
    }
    KN_TRY(finish(r, s, step, ok, err));
    for (int t = 0; t < c->table_count; t++) {
        KN_TRY(list_columns(r, c, t, err));
        KN_TRY(list_links(r, c, t, err));
    }
    respell(c);
    return KN_OK;
}

/* ---- Rows ---- */

static kn_string blob_text(kn_buffer *to, const unsigned char *bytes, int size)
{
    static const char hex[] = "0123456789abcdef";
    kn_buffer_clear(to);
    kn_buffer_add(to, "\\x");
    for (int i = 0; i < size; i++) {
        kn_buffer_char(to, hex[bytes[i] >> 4]);
        kn_buffer_char(to, hex[bytes[i] & 15]);
    }
    return (kn_string){to->data, to->size};
}

/* A cell of this type. */
static bool text_of(kn_string *out, sqlite3_stmt *s, int c, int type, char room[KN_NUMBER_TEXT], kn_buffer *scratch)
{
    *out = (kn_string){NULL, 0};
    switch (type) {
    case SQLITE_NULL: return true;
    case SQLITE_INTEGER: *out = kn_integer_text(sqlite3_column_int64(s, c), room); return true;
    case SQLITE_FLOAT: *out = kn_real_text(sqlite3_column_double(s, c), room); return true;
    case SQLITE_BLOB:
        *out = blob_text(scratch, sqlite3_column_blob(s, c), sqlite3_column_bytes(s, c));
        return !scratch->failed;
    default:
        out->data = (const char *)sqlite3_column_text(s, c);
        out->size = (size_t)sqlite3_column_bytes(s, c);
        return out->data != NULL;
    }
}

bool kn_sqlite_cell(kn_string *out, sqlite3_stmt *s, int c, char room[KN_NUMBER_TEXT], kn_buffer *scratch)
{
    return text_of(out, s, c, sqlite3_column_type(s, c), room, scratch);
}

static kn_status select_all(const reader *r, sqlite3_stmt **out, const kn_catalog_table *t, kn_error *err)
{
    kn_buffer sql;
    kn_buffer_init(&sql, r->ctx);
    kn_sql_columns(&sql, "SELECT ", t);
    kn_buffer_add(&sql, " FROM ");
    kn_sql_name(&sql, t->name);
    const char *text = kn_buffer_text(&sql);
    kn_status   status = text ? prepare(r, out, text, NULL, err) : kn_fail_memory(err, r->ctx, r->path);
    kn_buffer_free(&sql);
    return status;
}

static void end_rows(reader *r)
{
    sqlite3_finalize(r->rows);
    r->rows = NULL;
}

static kn_status begin_rows(void *state, const kn_catalog_table *t, kn_error *err)
{
    reader *r = state;
    end_rows(r); /* of a table that was not read to its end */
    return select_all(r, &r->rows, t, err);
}

/* Numbers are spelled by whoever takes them, where that is not the thread that reads. */
static kn_status give_cell(const reader *r, int c, const kn_cell_sink *sink, kn_buffer *scratch, kn_error *err)
{
    char      room[KN_NUMBER_TEXT];
    kn_string text;
    int       type = sqlite3_column_type(r->rows, c);
    if (sink->integer && type == SQLITE_INTEGER)
        return sink->integer(sink->state, sqlite3_column_int64(r->rows, c), err);
    if (sink->integer && type == SQLITE_FLOAT) return sink->real(sink->state, sqlite3_column_double(r->rows, c), err);
    if (!text_of(&text, r->rows, c, type, room, scratch)) return kn_fail_memory(err, r->ctx, r->path);
    return sink->cell(sink->state, text, err);
}

static kn_status next_rows(void *state, const kn_catalog_table *t, const kn_cell_sink *sink, int64_t most, bool *more,
                           kn_error *err)
{
    reader   *r = state;
    kn_buffer scratch;
    kn_status status = KN_OK;
    int       step = SQLITE_ROW;
    kn_buffer_init(&scratch, r->ctx);
    for (int64_t i = 0; i < most && status == KN_OK && (step = sqlite3_step(r->rows)) == SQLITE_ROW; i++)
        for (int c = 0; c < t->column_count && status == KN_OK; c++) status = give_cell(r, c, sink, &scratch, err);
    if (status == KN_OK && step != SQLITE_ROW && step != SQLITE_DONE) status = fail_sqlite(r, err);
    *more = status == KN_OK && step == SQLITE_ROW;
    kn_buffer_free(&scratch);
    if (!*more) end_rows(r);
    return status;
}

static kn_status extras(void *state, const kn_catalog *original, kn_extras_fn tell, void *arg, kn_error *err)
{
    const reader *r = state;
    return kn_sqlite_extras(r->ctx, r->path, original, tell, arg, err);
}

/* ---- The file ---- */

static void close_file(void *state)
{
    reader *r = state;
    end_rows(r);
    (void)sqlite3_close(r->db);
    kn_memory_discharge(r->ctx, r->charged);
    KN_FREE(r->path, r);
}

static kn_status open_file(reader *r, kn_error *err)
{
    if (sqlite3_open_v2(r->path, &r->db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK) {
        if (!r->db) return kn_fail_memory(err, r->ctx, r->path);
        bool missing = (sqlite3_errcode(r->db) & 0xff) == SQLITE_CANTOPEN;
        return kn_fail(err, missing ? KN_INPUT : KN_IO, "%s: the file cannot be opened", r->path);
    }
    KN_TRY(kn_sqlite_harden(r->db, r->ctx, r->path, &r->charged, err));
    return sqlite3_exec(r->db, "BEGIN", NULL, NULL, NULL) == SQLITE_OK ? KN_OK : fail_sqlite(r, err);
}

kn_status kn_sqlite_cells(kn_cells **out, kn_context *ctx, const char *path, kn_error *err)
{
    reader *r = kn_alloc_zero(ctx, sizeof *r);
    *out = NULL;
    if (!r) return kn_fail_memory(err, ctx, path);
    r->ctx = ctx;
    r->path = kn_strndup(ctx, path, strlen(path));
    kn_status status = r->path ? open_file(r, err) : kn_fail_memory(err, ctx, path);
    r->cells = (kn_cells){ctx, r, r->path, list, begin_rows, next_rows, NULL, extras, close_file, true};
    if (status == KN_OK)
        *out = &r->cells;
    else
        close_file(r);
    return status;
}

sqlite3 *kn_sqlite_handle(const kn_cells *cells)
{
    const reader *r = cells->state;
    return r->db;
}
