/* kn_sqlite_write.c: a database → a new SQLite file. Interface: kn_sqlite.h.
 *
 * The file is made under the temporary name of an output (kn_output.h), without a journal: if anything fails it is
 * discarded. Nothing but cells goes into it, row after row, so its bytes are a function of them (kn_sqlite_extras.c checks
 * that). Where a key is the row number (INTEGER PRIMARY KEY) and rows do not come in its order, as those of references,
 * bytes depend on that order too, and the file is vacuumed at the end. Commit closes, syncs and renames it. Cells are
 * given as texts, and as numbers where they become these anyway (kn_sqlite_insert.c).
 *
 * Limit: SQLite writes the file itself, so if the size of files is limited (RLIMIT_FSIZE) a host must ignore SIGXFSZ,
 * as the program does; the write then fails, and with it the release.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <sqlite3.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_extras.h"
#include "kn_output.h"
#include "kn_sql.h"
#include "kn_sqlite.h"
#include "kn_sqlite_internal.h"

typedef struct sqlite_sink {
    kn_context       *ctx;
    char             *path;
    kn_output        *file;
    sqlite3          *db;
    kn_sqlite_insert *insert; /* of the table that is being written */
    int               columns;
    const kn_string  *cells;     /* of the rows that are inserted */
    const kn_plain   *numbers;   /* those that are numbers; NULL: nobody looked */
    int64_t           row, rows; /* the one at hand, and how many */
    int               numbered;  /* the column that is the row number; -1: none */
    int64_t           last;      /* row number that was written                 */
    bool              unordered; /* some rows did not come in the order of their numbers */
} sqlite_sink;

/* Only the kind of failure: SQLite's messages about constraints name columns, but a message must never hold a cell. */
static kn_status fail_sqlite(const sqlite_sink *s, kn_error *err)
{
    int code = sqlite3_errcode(s->db);
    if (code == SQLITE_NOMEM) return kn_fail_memory(err, s->ctx, s->path);
    return kn_fail(err, KN_IO, "%s: cannot be written: %s", s->path, sqlite3_errstr(code));
}

static kn_status run(const sqlite_sink *s, const char *sql, kn_error *err)
{
    return sqlite3_exec(s->db, sql, NULL, NULL, NULL) == SQLITE_OK ? KN_OK : fail_sqlite(s, err);
}

static void close_database(sqlite_sink *s)
{
    kn_sqlite_insert_close(s->insert);
    s->insert = NULL;
    (void)sqlite3_close(s->db);
    s->db = NULL;
}

static void sink_abort(void *state)
{
    sqlite_sink *s = state;
    close_database(s);
    kn_output_abort(s->file);
    KN_FREE(s->path, s);
}

/* A type's name goes into the statement as it is in the catalog: only valid types are accepted. */
static void add_type(kn_buffer *sql, const kn_sink_column *column)
{
    const char *type = column->type;
    if (!type || strspn(type, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_ (),") != strlen(type))
        return;
    int open = 0;
    for (const char *c = type; *c; c++) open += *c == '(' ? 1 : *c == ')' ? -1 : 0;
    if (open != 0 || (strchr(type, ',') && !strchr(type, '('))) return;
    kn_buffer_char(sql, ' ');
    kn_buffer_add(sql, type);
}

static kn_status create_table(sqlite_sink *s, const kn_sink_table *t, kn_error *err)
{
    kn_buffer sql;
    kn_buffer_init(&sql, s->ctx);
    kn_sql_create_table(&sql, NULL, t, add_type);
    const char *text = kn_buffer_text(&sql);
    kn_status   status = text ? run(s, text, err) : kn_fail_memory(err, s->ctx, s->path);
    kn_buffer_free(&sql);
    return status;
}

static int next_row(void *state)
{
    sqlite_sink *s = state;
    return ++s->row < s->rows ? SQLITE_ROW : SQLITE_DONE;
}

static kn_plain number_at(const sqlite_sink *s, size_t at)
{
    return s->numbers ? s->numbers[at] : kn_plain_of(s->cells[at]);
}

static kn_sqlite_value cell_of_row(void *state, int column, bool numeric)
{
    const sqlite_sink *s = state;
    size_t             at = (size_t)s->row * (size_t)s->columns + (size_t)column;
    kn_sqlite_value    v = {.text = s->cells[at], .stays = true};
    if (numeric) v.number = number_at(s, at);
    return v;
}

/* SQLite's rule: a key of one column that is declared so. */
static int number_column(const kn_sink_table *t)
{
    const char *type = t->primary_count == 1 ? t->columns[t->primary[0]].type : NULL;
    return type && sqlite3_stricmp(type, "integer") == 0 ? t->primary[0] : -1;
}

static void check_order(sqlite_sink *s)
{
    for (int64_t r = 0; r < s->rows && s->numbered >= 0 && !s->unordered; r++) {
        kn_plain cell = number_at(s, (size_t)r * (size_t)s->columns + (size_t)s->numbered);
        s->unordered = cell.kind != KN_PLAIN_INTEGER || cell.integer < s->last;
        s->last = cell.integer;
    }
}

static kn_status sink_table(void *state, const kn_sink_table *t, kn_error *err)
{
    sqlite_sink     *s = state;
    kn_sqlite_source source = {s, next_row, cell_of_row};
    KN_TRY(create_table(s, t, err));
    s->columns = t->column_count;
    s->numbered = number_column(t);
    s->last = INT64_MIN;
    int code = kn_sqlite_insert_open(&s->insert, s->ctx, s->db, t->name, t->column_count, &source);
    if (code == SQLITE_NOMEM) return kn_fail_memory(err, s->ctx, s->path);
    return code == SQLITE_OK ? KN_OK : fail_sqlite(s, err);
}

static kn_status sink_rows(void *state, const kn_string *cells, const kn_plain *numbers, int64_t count, kn_error *err)
{
    sqlite_sink *s = state;
    s->cells = cells;
    s->numbers = numbers;
    s->row = -1;
    s->rows = count;
    check_order(s);
    return kn_sqlite_insert_run(s->insert) == SQLITE_OK ? KN_OK : fail_sqlite(s, err);
}

static kn_status sink_row(void *state, const kn_string *cells, kn_error *err)
{
    return sink_rows(state, cells, NULL, 1, err);
}

static const bool *sink_numeric(void *state)
{
    return kn_sqlite_insert_numeric(((const sqlite_sink *)state)->insert);
}

static kn_status sink_table_end(void *state, kn_error *err)
{
    sqlite_sink *s = state;
    (void)err;
    kn_sqlite_insert_close(s->insert);
    s->insert = NULL;
    return KN_OK;
}

static kn_status sink_finish(void *state, kn_error *err)
{
    sqlite_sink *s = state;
    KN_TRY(run(s, s->unordered ? "COMMIT; VACUUM" : "COMMIT", err));
    close_database(s);
    return KN_OK;
}

static kn_status sink_cells(void *state, kn_cells **out, kn_error *err)
{
    const sqlite_sink *s = state;
    return kn_sqlite_cells(out, s->ctx, kn_output_temporary(s->file), err);
}

static kn_status sink_sync(void *state, kn_database_place *out, kn_error *err)
{
    sqlite_sink *s = state;
    close_database(s);
    KN_TRY(kn_output_sync(s->file, err));
    out->temporary = kn_output_temporary(s->file);
    out->target = kn_output_target(s->file);
    out->mode = kn_output_mode(s->file);
    return KN_OK;
}

static void sink_detach(void *state)
{
    sqlite_sink *s = state;
    kn_output_detach(s->file);
    s->file = NULL;
    sink_abort(s); /* what is left of it */
}

static kn_status sink_commit(void *state, kn_error *err)
{
    sqlite_sink *s = state;
    close_database(s);
    kn_output *file = s->file;
    s->file = NULL;
    kn_status status = kn_output_commit(file, err);
    sink_abort(s); /* what is left of it */
    return status;
}

static kn_status open_sink(sqlite_sink *s, const char *path, kn_error *err)
{
    s->path = kn_strndup(s->ctx, path, strlen(path));
    if (!s->path) return kn_fail_memory(err, s->ctx, "writing a SQLite file");
    KN_TRY(kn_output_open(&s->file, s->ctx, path, NULL, err));
    const char *temporary = kn_output_temporary(s->file);
    if (!temporary) return kn_fail(err, KN_USAGE, "%s: a SQLite file cannot be written to a stream", path);
    if (sqlite3_open_v2(temporary, &s->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK)
        return s->db ? fail_sqlite(s, err) : kn_fail_memory(err, s->ctx, path);
    return run(s, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN", err);
}

kn_status kn_sqlite_sink(kn_database_sink *out, kn_context *ctx, const char *path, kn_error *err)
{
    sqlite_sink *s = kn_alloc_zero(ctx, sizeof *s);
    if (!s) return kn_fail_memory(err, ctx, "writing a SQLite file");
    s->ctx = ctx;
    kn_status status = open_sink(s, path, err);
    if (status != KN_OK) {
        sink_abort(s);
        return status;
    }
    *out = (kn_database_sink){s,           NULL,       sink_table,  sink_row,   sink_table_end,
                              sink_finish, sink_cells, sink_commit, sink_abort, kn_output_temporary(s->file),
                              NULL,        sink_sync,  sink_detach, sink_rows,  sink_numeric};
    return KN_OK;
}
