/* kn_sqlite_target.c: one new table of a SQLite file, in one transaction. Interface: kn_table_write.h.
 *
 * The file keeps its other tables; if there is none, it is made. The transaction begins with the first row and ends
 * with the commit; until then changed pages stay in memory (cache_spill), since a file that is being written could not
 * be read by the verifier. That memory is counted. The table is made under a name of its own and gets the target's at
 * the end.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kn_alloc.h"
#include "kn_clock.h"
#include "kn_error.h"
#include "kn_names.h"
#include "kn_sql.h"
#include "kn_sqlite_internal.h"
#include "kn_table_write.h"

typedef struct target {
    kn_context   *ctx;
    sqlite3      *db;
    char         *path, *final;
    char          temporary[40];
    bool          replace, made; /* made: the file did not exist */
    sqlite3_stmt *insert;
    int           columns;
    uint64_t      charged, schema;
} target;

static kn_status failed(const target *t, kn_error *err)
{
    int code = sqlite3_errcode(t->db);
    if (code == SQLITE_NOMEM) return kn_fail_memory(err, t->ctx, t->path);
    return kn_fail(err, KN_IO, "%s: cannot be written: %s", t->path, sqlite3_errstr(code));
}

static kn_status run(const target *t, const char *sql, kn_error *err)
{
    return sqlite3_exec(t->db, sql, NULL, NULL, NULL) == SQLITE_OK ? KN_OK : failed(t, err);
}

static kn_status run_buffer(const target *t, kn_buffer *sql, kn_error *err)
{
    const char *text = kn_buffer_text(sql);
    kn_status   status = text ? run(t, text, err) : kn_fail_memory(err, t->ctx, t->path);
    kn_buffer_free(sql);
    return status;
}

static void sink_abort(void *state)
{
    target     *t = state;
    struct stat info;
    sqlite3_finalize(t->insert);
    if (t->db && !sqlite3_get_autocommit(t->db)) (void)sqlite3_exec(t->db, "ROLLBACK", NULL, NULL, NULL);
    (void)sqlite3_close(t->db);
    if (t->made && stat(t->path, &info) == 0 && info.st_size == 0) unlink(t->path);
    kn_memory_discharge(t->ctx, t->charged + t->schema);
    KN_FREE(t->path, t->final, t);
}

/* ---- Rows ---- */

static void add_nothing(kn_buffer *sql, const kn_sink_column *column)
{
    (void)sql;
    (void)column;
}

static kn_status sink_table(void *state, const kn_sink_table *table, kn_error *err)
{
    target       *t = state;
    kn_sink_table named = *table;
    kn_buffer     sql;
    named.name = t->temporary;
    t->columns = table->column_count;
    KN_TRY(run(t, "BEGIN IMMEDIATE", err));
    kn_buffer_init(&sql, t->ctx);
    kn_sql_create_table(&sql, NULL, &named, add_nothing);
    KN_TRY(run_buffer(t, &sql, err));
    kn_sql_insert(&sql, t->temporary, t->columns);
    const char *text = kn_buffer_text(&sql);
    kn_status   status = KN_OK;
    if (!text)
        status = kn_fail_memory(err, t->ctx, t->path);
    else if (sqlite3_prepare_v2(t->db, text, -1, &t->insert, NULL) != SQLITE_OK)
        status = failed(t, err);
    kn_buffer_free(&sql);
    return status;
}

static int bind(const target *t, int at, kn_string cell)
{
    int64_t number;
    if (!cell.data) return sqlite3_bind_null(t->insert, at);
    if (kn_plain_integer(cell, &number)) return sqlite3_bind_int64(t->insert, at, number);
    return sqlite3_bind_text64(t->insert, at, cell.data, cell.size, SQLITE_STATIC, SQLITE_UTF8);
}

static kn_status sink_row(void *state, const kn_string *cells, kn_error *err)
{
    target  *t = state;
    bool     ok = true;
    uint64_t size = 16;
    for (int c = 0; c < t->columns && ok; c++) {
        ok = bind(t, c + 1, cells[c]) == SQLITE_OK;
        size += cells[c].size + 2;
    }
    if (!kn_memory_charge(t->ctx, size)) return kn_fail_memory(err, t->ctx, t->path);
    t->charged += size;
    ok = ok && sqlite3_step(t->insert) == SQLITE_DONE;
    if (ok) ok = sqlite3_reset(t->insert) == SQLITE_OK;
    return ok ? KN_OK : failed(t, err);
}

static kn_status sink_table_end(void *state, kn_error *err)
{
    target *t = state;
    (void)err;
    sqlite3_finalize(t->insert);
    t->insert = NULL;
    return KN_OK;
}

static kn_status open_rows(kn_table_stream *out, void *state, kn_error *err)
{
    target       *t = state;
    sqlite3_stmt *statement = NULL;
    kn_buffer     sql;
    kn_buffer_init(&sql, t->ctx);
    kn_buffer_add(&sql, "SELECT * FROM ");
    kn_sql_name(&sql, t->temporary);
    const char *text = kn_buffer_text(&sql);
    char       *name = kn_strformat(t->ctx, "%s#%s", t->path, t->final);
    kn_status   status = KN_OK;
    if (!text || !name)
        status = kn_fail_memory(err, t->ctx, t->path);
    else if (sqlite3_prepare_v2(t->db, text, -1, &statement, NULL) != SQLITE_OK)
        status = failed(t, err);
    kn_buffer_free(&sql);
    if (status == KN_OK) status = kn_sqlite_rows(out, t->ctx, NULL, statement, name, err);
    if (status == KN_OK) return KN_OK;
    sqlite3_finalize(statement);
    kn_free(name);
    return status;
}

/* ---- The end ---- */

static kn_status number_of(sqlite3 *db, const char *sql, const char *argument, int64_t *out)
{
    sqlite3_stmt *s = NULL;
    bool          good = sqlite3_prepare_v2(db, sql, -1, &s, NULL) == SQLITE_OK;
    if (good && argument) good = sqlite3_bind_text(s, 1, argument, -1, SQLITE_STATIC) == SQLITE_OK;
    good = good && sqlite3_step(s) == SQLITE_ROW;
    if (good) *out = sqlite3_column_int64(s, 0);
    sqlite3_finalize(s);
    return good ? KN_OK : KN_IO;
}

static const char is_there[] = "SELECT count(*) FROM sqlite_schema WHERE name = ?1 COLLATE NOCASE";

/* The number of the schema's version: each change of the schema makes it larger. */
static kn_status sink_sync(void *state, kn_database_place *out, kn_error *err)
{
    target   *t = state;
    kn_buffer sql;
    int64_t   version = 0;
    kn_buffer_init(&sql, t->ctx);
    if (t->replace) {
        kn_buffer_add(&sql, "DROP TABLE IF EXISTS ");
        kn_sql_name(&sql, t->final);
        KN_TRY(run_buffer(t, &sql, err));
    }
    kn_buffer_add(&sql, "ALTER TABLE ");
    kn_sql_name(&sql, t->temporary);
    kn_buffer_add(&sql, " RENAME TO ");
    kn_sql_name(&sql, t->final);
    KN_TRY(run_buffer(t, &sql, err));
    if (number_of(t->db, "PRAGMA schema_version", NULL, &version) != KN_OK) return failed(t, err);
    out->schema = (uint64_t)version;
    return KN_OK;
}

static kn_status sink_commit(void *state, kn_error *err)
{
    target   *t = state;
    kn_status status = run(t, "COMMIT", err);
    sink_abort(t);
    return status;
}

kn_status kn_sqlite_committed(bool *out, kn_context *ctx, const char *name, uint64_t schema, kn_error *err)
{
    kn_string file = kn_table_file(name);
    char *path = kn_strndup(ctx, file.data, file.size), *table = kn_table_unquote(ctx, kn_table_name_split(name).table);
    sqlite3 *db = NULL;
    int64_t  version = 0, there = 0;
    *out = false;
    kn_status status = path && table ? KN_OK : kn_fail_memory(err, ctx, "looking at a release");
    if (status == KN_OK && access(path, F_OK) == 0) { /* for writing: what a killed run left is rolled back */
        bool good = sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) == SQLITE_OK &&
                    number_of(db, "PRAGMA schema_version", NULL, &version) == KN_OK &&
                    number_of(db, is_there, table, &there) == KN_OK;
        if (!good) status = kn_fail(err, KN_IO, "%s: the file cannot be opened", path);
        *out = good && there > 0 && (uint64_t)version >= schema;
    }
    (void)sqlite3_close(db);
    KN_FREE(path, table);
    return status;
}

/* ---- The beginning ---- */

static bool same_file(const char *a, kn_string b)
{
    struct stat x, y;
    char        path[4096];
    if (b.size >= sizeof path) return false;
    memcpy(path, b.data, b.size);
    path[b.size] = '\0';
    return stat(a, &x) == 0 && stat(path, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

static int see(void *state, int action, const char *table, const char *column, const char *database, const char *view)
{
    const char **looked_for = state;
    (void)column, (void)database, (void)view;
    if (action == SQLITE_READ && *looked_for && sqlite3_stricmp(table, *looked_for) == 0) *looked_for = NULL;
    return SQLITE_OK;
}

/* Is the table the target, or a view that reads it? */
static bool reads(const target *t, const char *table)
{
    const char   *looked_for = t->final;
    sqlite3_stmt *statement = NULL;
    kn_buffer     sql;
    kn_buffer_init(&sql, t->ctx);
    kn_buffer_add(&sql, "SELECT * FROM ");
    kn_sql_name(&sql, table);
    const char *text = kn_buffer_text(&sql);
    (void)sqlite3_set_authorizer(t->db, see, &looked_for);
    if (text) (void)sqlite3_prepare_v2(t->db, text, -1, &statement, NULL);
    (void)sqlite3_set_authorizer(t->db, NULL, NULL);
    sqlite3_finalize(statement);
    kn_buffer_free(&sql);
    return !text || !looked_for;
}

static kn_status check_inputs(const target *t, const kn_table_target *wanted, kn_error *err)
{
    for (int i = 0; i < wanted->input_count; i++) {
        const char *input = wanted->inputs[i];
        if (!kn_name_sqlite(input) || !same_file(t->path, kn_table_file(input))) continue;
        char *table = kn_table_unquote(t->ctx, kn_table_name_split(input).table);
        bool  same = !table || !*table || reads(t, table); /* a query may read any table */
        kn_free(table);
        if (same) return kn_fail(err, KN_USAGE, "the output would replace the input; name another table");
    }
    return KN_OK;
}

static kn_status open_file(target *t, kn_error *err)
{
    t->made = access(t->path, F_OK) != 0;
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_FULLMUTEX;
    if (sqlite3_open_v2(t->path, &t->db, flags, NULL) != SQLITE_OK)
        return t->db ? failed(t, err) : kn_fail_memory(err, t->ctx, t->path);
    KN_TRY(kn_sqlite_harden(t->db, t->ctx, t->path, &t->schema, err));
    (void)sqlite3_limit(t->db, SQLITE_LIMIT_VARIABLE_NUMBER, 32766);
    sqlite3_progress_handler(t->db, 0, NULL, NULL); /* the rows ask */
    /* Nothing stays of a table that is replaced; a view of it then shows the release. */
    KN_TRY(run(t, "PRAGMA cache_spill = OFF; PRAGMA secure_delete = ON; PRAGMA legacy_alter_table = ON", err));
    return run(t, "BEGIN IMMEDIATE; ROLLBACK", err); /* may it be written? */
}

/* Tables beside the target: whoever gets the file gets them too. */
static kn_status find_others(const target *t, bool *shared, kn_error *err)
{
    static const char others[] = "SELECT count(*) FROM sqlite_schema WHERE type IN ('table', 'view') AND name <> ?1 "
                                 "COLLATE NOCASE AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'";
    int64_t           count = 0;
    if (number_of(t->db, others, t->final, &count) != KN_OK) return kn_sqlite_fail(t->db, t->ctx, t->path, err);
    *shared = count > 0;
    return KN_OK;
}

static kn_status begin(target *t, const char *name, const kn_table_target *wanted, kn_error *err)
{
    kn_name_parts parts = kn_table_name_split(name);
    kn_string     file = kn_table_file(name);
    int64_t       there = 0, table = 0;
    if (!parts.table.data)
        return kn_fail(err, KN_USAGE, "a release goes to a table, not to a query: sqlite:FILE#TABLE");
    t->path = kn_strndup(t->ctx, file.data, file.size);
    t->final = kn_table_unquote(t->ctx, parts.table);
    if (!t->path || !t->final) return kn_fail_memory(err, t->ctx, "writing a table");
    if (sqlite3_strnicmp(t->final, "sqlite_", 7) == 0)
        return kn_fail(err, KN_USAGE, "%s: names that begin with sqlite_ are SQLite's own; name another table",
                       t->path);
    KN_TRY(open_file(t, err));
    snprintf(t->temporary, sizeof t->temporary, "kanon-%ld-%llx", (long)getpid(), (unsigned long long)kn_clock_ns());
    if (number_of(t->db, is_there, t->final, &there) != KN_OK ||
        number_of(t->db, "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = ?1 COLLATE NOCASE",
                  t->final, &table) != KN_OK)
        return kn_sqlite_fail(t->db, t->ctx, t->path, err);
    if (there && !wanted->replace)
        return kn_fail(err, KN_USAGE, "%s#%s: exists already; --replace replaces it, or name another table", t->path,
                       t->final);
    if (there && !table)
        return kn_fail(err, KN_USAGE, "%s#%s: exists and is not a table; name another", t->path, t->final);
    KN_TRY(find_others(t, wanted->shared, err));
    return there ? check_inputs(t, wanted, err) : KN_OK;
}

kn_status kn_sqlite_table_sink(kn_database_sink *out, kn_table_opener *opener, kn_context *ctx, const char *name,
                               const kn_table_target *wanted, kn_error *err)
{
    target *t = kn_alloc_zero(ctx, sizeof *t);
    if (!t) return kn_fail_memory(err, ctx, "writing a table");
    t->ctx = ctx;
    t->replace = wanted->replace;
    kn_status status = begin(t, name, wanted, err);
    if (status != KN_OK) {
        sink_abort(t);
        return status;
    }
    *opener = (kn_table_opener){.state = t, .open = open_rows};
    *out = (kn_database_sink){.state = t,
                              .table = sink_table,
                              .row = sink_row,
                              .table_end = sink_table_end,
                              .commit = sink_commit,
                              .abort = sink_abort,
                              .sync = sink_sync,
                              .detach = sink_abort};
    return KN_OK;
}
