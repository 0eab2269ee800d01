/* kn_sqlite_extras.c: what a SQLite file holds besides the cells of its tables. Interface: kn_extras.h.
 *
 * First what has a name: views, triggers, indexes, SQLite's own tables, definitions of tables that hold more than
 * names, types and keys, free pages, numbers in the header, files beside it. Then the bytes: the same cells are
 * written into a new file as kn_sqlite_write.c does and both are compared, except for counters and version numbers in
 * the header. So nothing can hide in unused space, in row numbers, in the way a cell is stored or in the order of
 * pages. If they differ, the new file is vacuumed and compared once more: a release that another program wrote passes
 * once it is vacuumed.
 *
 * Cost: the file is read, written to a temporary one and read again; one that is not kanon's twice. Memory: as much as a small
 * file (IN_MEMORY); the copy of a larger one is a file without a name in TMPDIR, or /tmp.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kn_alloc.h"
#include "kn_context.h"
#include "kn_database.h"
#include "kn_error.h"
#include "kn_extras.h"
#include "kn_sql.h"
#include "kn_sqlite_internal.h"

typedef struct looking {
    kn_context       *ctx;
    const char       *path;
    const kn_catalog *original;
    sqlite3          *db, *fresh;
    FILE             *copy; /* the new file, where it is not in memory */
    kn_extras_fn      tell;
    void             *arg;
    bool              told;
} looking;

static kn_status fail_sqlite(const looking *l, sqlite3 *db, kn_error *err)
{
    int code = sqlite3_errcode(db) & 0xff;
    if (code == SQLITE_NOMEM) return kn_fail_memory(err, l->ctx, l->path);
    if (code == SQLITE_NOTADB || code == SQLITE_CORRUPT)
        return kn_fail(err, KN_INPUT, "%s: the SQLite file is damaged", l->path);
    return kn_fail(err, KN_IO, "%s: %s", l->path, sqlite3_errstr(code));
}

static void tell(looking *l, const char *sentence)
{
    l->told = true;
    l->tell(l->arg, sentence);
}

static kn_status prepare(const looking *l, sqlite3_stmt **out, const char *sql, kn_error *err)
{
    return sqlite3_prepare_v2(l->db, sql, -1, out, NULL) == SQLITE_OK ? KN_OK : fail_sqlite(l, l->db, err);
}

static kn_status ask_number(const looking *l, const char *sql, int64_t *out, kn_error *err)
{
    sqlite3_stmt *s = NULL;
    KN_TRY(prepare(l, &s, sql, err));
    bool row = sqlite3_step(s) == SQLITE_ROW;
    if (row) *out = sqlite3_column_int64(s, 0);
    sqlite3_finalize(s);
    return row ? KN_OK : fail_sqlite(l, l->db, err);
}

/* ---- Things with a name ---- */

static kn_status look_at_kinds(looking *l, kn_error *err)
{
    static const struct {
        const char *sql, *one, *many;
    } kinds[] = {
        {"SELECT count(*) FROM sqlite_schema WHERE type = 'view'", "a view", "views"},
        {"SELECT count(*) FROM sqlite_schema WHERE type = 'trigger'", "a trigger", "triggers"},
        {"SELECT count(*) FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL",
         "an index that belongs to no key", "indexes that belong to no key"},
        {"SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name LIKE 'sqlite\\_%' ESCAPE '\\'",
         "a table of SQLite's own", "tables of SQLite's own"},
        {"PRAGMA freelist_count", "a free page, which may hold what was deleted: vacuum it",
         "free pages, which may hold what was deleted: vacuum it"},
        {"SELECT count(*) FROM pragma_application_id WHERE application_id <> 0", "an application_id", ""},
        {"SELECT count(*) FROM pragma_user_version WHERE user_version <> 0", "a user_version", ""},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        int64_t count = 0;
        char    sentence[160];
        KN_TRY(ask_number(l, kinds[i].sql, &count, err));
        if (count == 1) snprintf(sentence, sizeof sentence, "the file holds %s", kinds[i].one);
        if (count > 1) snprintf(sentence, sizeof sentence, "the file holds %lld %s", (long long)count, kinds[i].many);
        if (count > 0) tell(l, sentence);
    }
    return KN_OK;
}

static void look_beside(looking *l)
{
    static const char *const endings[] = {"-wal", "-journal"}; /* a reader may make an empty -wal, and -shm */
    struct stat              info;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        char name[4096], sentence[100];
        int  size = snprintf(name, sizeof name, "%s%s", l->path, endings[i]);
        if (size < 0 || (size_t)size >= sizeof name || lstat(name, &info) != 0 || info.st_size == 0) continue;
        snprintf(sentence, sizeof sentence, "a SQLite file ending in %s is beside the release", endings[i]);
        tell(l, sentence);
    }
}

/* ---- Definitions of tables ---- */

static bool in_list(const char *const *list, const char *word, size_t size)
{
    for (; *list; list++)
        if (strlen(*list) == size && sqlite3_strnicmp(*list, word, (int)size) == 0) return true;
    return false;
}

/* A word of a type that the original declares. */
static bool in_original(const kn_catalog *original, const char *word, size_t size)
{
    for (int t = 0; original && t < original->table_count; t++)
        for (int c = 0; c < original->tables[t].column_count; c++) {
            const char *type = original->tables[t].columns[c].declared;
            for (; type && *type; type++)
                if (sqlite3_strnicmp(type, word, (int)size) == 0) return true;
        }
    return false;
}

/* A table's or column's name in the file: those are checked with the release's columns. */
static kn_status is_name(const looking *l, const char *word, size_t size, bool *found, kn_error *err)
{
    sqlite3_stmt *s = NULL;
    KN_TRY(
        prepare(l, &s,
                "SELECT 1 FROM sqlite_schema t LEFT JOIN pragma_table_xinfo(t.name) c WHERE t.type = 'table' AND (?1 = "
                "t.name COLLATE NOCASE OR ?1 = c.name COLLATE NOCASE) LIMIT 1",
                err));
    bool ok = sqlite3_bind_text64(s, 1, word, size, SQLITE_STATIC, SQLITE_UTF8) == SQLITE_OK;
    int  step = ok ? sqlite3_step(s) : SQLITE_ERROR;
    *found = step == SQLITE_ROW;
    sqlite3_finalize(s);
    return step == SQLITE_ROW || step == SQLITE_DONE ? KN_OK : fail_sqlite(l, l->db, err);
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || (c & 0x80);
}

/* A name in quotes: *at is on the opening one, then after the closing one. false: it is never closed. */
static bool quoted_name(const char **at, kn_buffer *name)
{
    char close = **at == '[' ? ']' : **at;
    kn_buffer_clear(name);
    for (++*at; **at; ++*at) {
        if (**at == close) {
            if (close == ']' || (*at)[1] != close) {
                ++*at;
                return true;
            }
            ++*at;
        }
        kn_buffer_char(name, **at);
    }
    return false;
}

/* The words allowed in a definition of columns, types and keys, besides names: no default, check, comment, text. */
static bool is_allowed(const looking *l, const char *word, size_t size)
{
    static const char *const words[] = {
        "create",   "table",      "if",         "not",      "exists",    "null",      "primary", "key",     "unique",
        "foreign",  "on",         "delete",     "update",   "cascade",   "restrict",  "no",      "action",  "set",
        "asc",      "desc",       "without",    "rowid",    "strict",    "int",       "integer", "bigint",  "smallint",
        "tinyint",  "unsigned",   "references", "text",     "varchar",   "character", "varying", "char",    "nchar",
        "nvarchar", "clob",       "blob",       "real",     "double",    "precision", "float",   "numeric", "decimal",
        "boolean",  "date",       "datetime",   "time",     "timestamp", "with",      "zone",    "uuid",    "json",
        "any",      "deferrable", "initially",  "deferred", "immediate", NULL};
    return in_list(words, word, size) || in_original(l->original, word, size);
}

/* Does the definition contain only names, types and keys? */
static kn_status is_plain(const looking *l, const char *sql, bool *plain, kn_error *err)
{
    kn_buffer name;
    kn_status status = KN_OK;
    kn_buffer_init(&name, l->ctx);
    *plain = true;
    while (*plain && *sql && status == KN_OK) {
        const char *begin = sql;
        if (strchr(" \t\r\n\f(),", *sql)) {
            sql++;
        } else if (*sql == '"' || *sql == '`' || *sql == '[') {
            *plain = quoted_name(&sql, &name);
            if (name.failed) status = kn_fail_memory(err, l->ctx, l->path);
            if (*plain && status == KN_OK) status = is_name(l, name.size ? name.data : "", name.size, plain, err);
        } else if (is_letter(*sql)) {
            bool digits = true;
            for (; is_letter(*sql); sql++) digits = digits && *sql >= '0' && *sql <= '9';
            size_t size = (size_t)(sql - begin);
            if (!digits && !is_allowed(l, begin, size)) status = is_name(l, begin, size, plain, err);
        } else {
            *plain = false;
        }
    }
    kn_buffer_free(&name);
    return status;
}

static kn_status look_at_definitions(looking *l, kn_error *err)
{
    sqlite3_stmt *s = NULL;
    int           step = SQLITE_DONE, number = 0;
    kn_status     status = KN_OK;
    KN_TRY(prepare(
        l, &s, "SELECT sql FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'", err));
    while (status == KN_OK && (step = sqlite3_step(s)) == SQLITE_ROW) {
        const char *sql = (const char *)sqlite3_column_text(s, 0);
        bool        plain = sql != NULL;
        char        sentence[160];
        number++;
        if (sql) status = is_plain(l, sql, &plain, err);
        if (status != KN_OK || plain) continue;
        snprintf(sentence, sizeof sentence,
                 "the definition of table %d holds more than names, types and keys: a comment, a default or the like",
                 number);
        tell(l, sentence);
    }
    if (status == KN_OK && step != SQLITE_DONE) status = fail_sqlite(l, l->db, err);
    sqlite3_finalize(s);
    return status;
}

/* ---- The same cells in a new file ---- */

static const char not_fresh[] =
    "the file is not what its cells give when they are written again: bytes between them, row numbers "
    "or the way a cell is stored can mark a row; vacuum it, or write it again";

static kn_status run_fresh(const looking *l, const char *sql, kn_error *err)
{
    return sqlite3_exec(l->fresh, sql, NULL, NULL, NULL) == SQLITE_OK ? KN_OK : fail_sqlite(l, l->fresh, err);
}

/* The rows of a table. */
typedef struct copying {
    const looking *l;
    sqlite3_stmt  *from;
    char (*rooms)[KN_NUMBER_TEXT]; /* one for the number of each column */
    kn_buffer scratch;             /* of binary values, which share it  */
    int64_t   rows;
    kn_status status; /* of reading */
    kn_error *err;
} copying;

static int copy_next(void *state)
{
    copying *c = state;
    if ((c->rows++ & 0xfff) == 0 && kn_cancelled(c->l->ctx)) c->status = kn_fail_cancelled(c->err);
    if (c->scratch.failed) c->status = kn_fail_memory(c->err, c->l->ctx, c->l->path);
    int step = c->status == KN_OK ? sqlite3_step(c->from) : SQLITE_ABORT;
    if (step == SQLITE_ROW || step == SQLITE_DONE) return step;
    if (c->status == KN_OK) c->status = fail_sqlite(c->l, c->l->db, c->err);
    return SQLITE_ABORT;
}

/* The number that a numeric column holds, where its text would become that number again. */
static kn_plain copy_number(sqlite3_stmt *from, int column)
{
    int    type = sqlite3_column_type(from, column);
    double real = type == SQLITE_FLOAT ? sqlite3_column_double(from, column) : 0;
    if (type == SQLITE_INTEGER) return (kn_plain){KN_PLAIN_INTEGER, {.integer = sqlite3_column_int64(from, column)}};
    if (type == SQLITE_FLOAT && kn_plain_real(real)) return (kn_plain){KN_PLAIN_REAL, {.real = real}};
    return (kn_plain){KN_PLAIN_NONE, {0}};
}

/* Texts stay where they are until the next step. */
static kn_sqlite_value copy_cell(void *state, int column, bool numeric)
{
    copying        *c = state;
    kn_sqlite_value v = {.stays = true};
    if (numeric) v.number = copy_number(c->from, column);
    if (v.number.kind != KN_PLAIN_NONE) return v;
    if (!kn_sqlite_cell(&v.text, c->from, column, c->rooms[column], &c->scratch)) {
        c->scratch.failed = true;
        v.text = (kn_string){NULL, 0};
    }
    v.stays = !v.text.data || v.text.data != c->scratch.data;
    return v;
}

static kn_status insert_rows(copying *c, const char *table, kn_error *err)
{
    const looking    *l = c->l;
    kn_sqlite_insert *insert = NULL;
    kn_sqlite_source  source = {c, copy_next, copy_cell};
    int               columns = sqlite3_column_count(c->from);
    c->rooms = kn_alloc_array(l->ctx, (size_t)columns + 1, sizeof *c->rooms);
    int code = c->rooms ? kn_sqlite_insert_open(&insert, l->ctx, l->fresh, table, columns, &source) : SQLITE_NOMEM;
    if (code == SQLITE_OK) code = kn_sqlite_insert_run(insert);
    kn_status status = c->status;
    if (status == KN_OK && code != SQLITE_OK)
        status = code == SQLITE_NOMEM ? kn_fail_memory(err, l->ctx, l->path) : fail_sqlite(l, l->fresh, err);
    kn_sqlite_insert_close(insert);
    kn_free(c->rooms);
    return status;
}

static kn_status copy_rows(const looking *l, const char *table, kn_error *err)
{
    copying   c = {.l = l, .err = err};
    kn_buffer sql;
    kn_buffer_init(&sql, l->ctx);
    kn_buffer_init(&c.scratch, l->ctx);
    kn_buffer_add(&sql, "SELECT * FROM ");
    kn_sql_name(&sql, table);
    size_t plain = sql.size;
    kn_buffer_add(&sql, " ORDER BY rowid");
    const char *text = kn_buffer_text(&sql);
    kn_status   status = text ? KN_OK : kn_fail_memory(err, l->ctx, l->path);
    if (status == KN_OK && sqlite3_prepare_v2(l->db, text, -1, &c.from, NULL) != SQLITE_OK) { /* no row numbers */
        sql.size = plain;
        status = prepare(l, &c.from, kn_buffer_text(&sql), err);
    }
    if (status == KN_OK) status = insert_rows(&c, table, err);
    sqlite3_finalize(c.from);
    kn_buffer_free(&sql);
    kn_buffer_free(&c.scratch);
    return status;
}

static kn_status copy_tables(const looking *l, kn_error *err)
{
    sqlite3_stmt *s = NULL;
    kn_status     status = KN_OK;
    int           step = SQLITE_DONE;
    KN_TRY(prepare(l, &s, "SELECT name, sql FROM sqlite_schema WHERE type = 'table' ORDER BY rowid", err));
    while (status == KN_OK && (step = sqlite3_step(s)) == SQLITE_ROW) {
        status = run_fresh(l, (const char *)sqlite3_column_text(s, 1), err);
        if (status == KN_OK) status = copy_rows(l, (const char *)sqlite3_column_text(s, 0), err);
    }
    if (status == KN_OK && step != SQLITE_DONE) status = fail_sqlite(l, l->db, err);
    sqlite3_finalize(s);
    return status;
}

enum { IN_MEMORY = 1 << 23 };

static kn_status open_fresh(looking *l, const char *path, kn_error *err)
{
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
    if (sqlite3_open_v2(path, &l->fresh, flags, NULL) == SQLITE_OK) return KN_OK;
    return l->fresh ? fail_sqlite(l, l->fresh, err) : kn_fail_memory(err, l->ctx, l->path);
}

/* A file that loses its name as soon as SQLite has opened it. */
static kn_status open_copy(looking *l, kn_error *err)
{
    const char *said = getenv("TMPDIR");
    kn_buffer   name;
    kn_buffer_init(&name, l->ctx);
    kn_buffer_add(&name, said && *said ? said : "/tmp");
    kn_buffer_add(&name, "/kanon-XXXXXX");
    char *path = (char *)(uintptr_t)kn_buffer_text(&name);
    int   fd = path ? mkstemp(path) : -1;
    if (fd >= 0 && !(l->copy = fdopen(fd, "rb"))) (void)close(fd);
    if (l->copy) (void)setvbuf(l->copy, NULL, _IONBF, 0); /* what was read is not what is there once it is vacuumed */
    kn_status status = !path      ? kn_fail_memory(err, l->ctx, l->path)
                       : !l->copy ? kn_fail(err, KN_IO, "%s: cannot be written: %s", path, strerror(errno))
                                  : open_fresh(l, path, err);
    if (fd >= 0) (void)unlink(path);
    kn_buffer_free(&name);
    return status;
}

/* The same page size, encoding and the like: none of these reveals anything about a row. */
static kn_status make_fresh(looking *l, bool small, kn_error *err)
{
    static const char *const settings[] = {"page_size", "encoding", "auto_vacuum"};
    KN_TRY(small ? open_fresh(l, "", err) : open_copy(l, err));
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        sqlite3_stmt *s = NULL;
        char          sql[100];
        snprintf(sql, sizeof sql, "PRAGMA %s", settings[i]);
        KN_TRY(prepare(l, &s, sql, err));
        const char *value = sqlite3_step(s) == SQLITE_ROW ? (const char *)sqlite3_column_text(s, 0) : NULL;
        snprintf(sql, sizeof sql, "PRAGMA %s = '%s'", settings[i], value ? value : "");
        sqlite3_finalize(s);
        KN_TRY(run_fresh(l, sql, err));
    }
    KN_TRY(run_fresh(l, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN", err));
    KN_TRY(copy_tables(l, err));
    return run_fresh(l, "COMMIT", err);
}

/* Change counters, the program's version, and whether a log was used: they differ between writings. */
static bool is_counter(int64_t at)
{
    return (at >= 18 && at < 20) || (at >= 24 && at < 28) || (at >= 40 && at < 44) || (at >= 92 && at < 100);
}

/* `fresh` NULL: the copy's. */
static kn_status compare_bytes(const looking *l, const unsigned char *fresh, int64_t size, bool *same, kn_error *err)
{
    unsigned char piece[1 << 14], other[1 << 14];
    int64_t       at = 0;
    FILE         *file = fopen(l->path, "rb");
    if (!file) return kn_fail(err, KN_IO, "%s: cannot be read: %s", l->path, strerror(errno));
    *same = true;
    if (!fresh) rewind(l->copy);
    for (size_t got; *same && (got = fread(piece, 1, sizeof piece, file)) > 0; at += (int64_t)got) {
        const unsigned char *there = fresh ? fresh + at : other;
        *same = fresh ? at + (int64_t)got <= size : fread(other, 1, got, l->copy) == got;
        if (*same && memcmp(piece, there, got) == 0) continue; /* all but the header, mostly */
        for (size_t i = 0; *same && i < got; i++) *same = piece[i] == there[i] || is_counter(at + (int64_t)i);
    }
    if (*same && !fresh) size = fgetc(l->copy) == EOF ? at : at + 1;
    bool failed = ferror(file) != 0 || (l->copy && ferror(l->copy) != 0);
    fclose(file);
    *same = *same && at == size;
    return failed ? kn_fail(err, KN_IO, "%s: cannot be read", l->path) : KN_OK;
}

static kn_status compare_fresh(const looking *l, bool *same, kn_error *err)
{
    sqlite3_int64 size = 0;
    if (l->copy) return compare_bytes(l, NULL, 0, same, err);
    unsigned char *bytes = sqlite3_serialize(l->fresh, "main", &size, 0);
    kn_status      status = bytes ? compare_bytes(l, bytes, size, same, err) : kn_fail_memory(err, l->ctx, l->path);
    sqlite3_free(bytes);
    return status;
}

static kn_status look_at_bytes(looking *l, kn_error *err)
{
    struct stat file;
    bool        small = stat(l->path, &file) == 0 && file.st_size <= IN_MEMORY, same = false;
    kn_status   status = make_fresh(l, small, err);
    int         code = status == KN_OK ? SQLITE_OK : sqlite3_errcode(l->fresh) & 0xff;
    if (code == SQLITE_CONSTRAINT || code == SQLITE_MISMATCH) { /* two keys with one text, or a key that is none */
        tell(l, not_fresh);
        status = KN_OK;
    } else {
        if (status == KN_OK) status = compare_fresh(l, &same, err);
        if (status == KN_OK && !same) status = run_fresh(l, "VACUUM", err);
        if (status == KN_OK && !same) status = compare_fresh(l, &same, err);
        if (status == KN_OK && !same) tell(l, not_fresh);
    }
    (void)sqlite3_close(l->fresh);
    if (l->copy) fclose(l->copy);
    return status;
}

kn_status kn_sqlite_extras(kn_context *ctx, const char *path, const kn_catalog *original, kn_extras_fn fn, void *arg,
                           kn_error *err)
{
    looking   l = {.ctx = ctx, .path = path, .original = original, .tell = fn, .arg = arg};
    kn_status status = KN_OK;
    look_beside(&l);
    if (sqlite3_open_v2(path, &l.db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK)
        status = l.db ? fail_sqlite(&l, l.db, err) : kn_fail_memory(err, ctx, path);
    if (status == KN_OK) (void)sqlite3_db_config(l.db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    if (status == KN_OK) status = look_at_kinds(&l, err);
    if (status == KN_OK) status = look_at_definitions(&l, err);
    if (status == KN_OK && !l.told) status = look_at_bytes(&l, err);
    (void)sqlite3_close(l.db);
    return status;
}
