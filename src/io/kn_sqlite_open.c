/* kn_sqlite_open.c: opening a SQLite file that may be malicious. Interface: kn_sqlite_internal.h.
 *
 * A file brings its own SQL: views, generated columns, defaults. Everything that SQLite advises readers to do against
 * hostile files (https://www.sqlite.org/security.html) is done: the schema is not trusted with functions that have
 * effects, triggers do not run, nothing is written, not even by PRAGMA; sizes of cells, statements and expressions
 * are limited; cells are checked against their page; and every statement can be cancelled.
 *
 * Memory: SQLite's own is not taken from the context (that could only be set for the whole process). What a
 * connection holds for long, schema and page cache, is charged to the context; cells are limited in length, under a
 * memory limit to a small part of it. Sorting uses a temporary file.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>

#include "kn_alloc.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_sqlite_internal.h"

enum {
    STEPS = 20000,            /* of SQLite's machine, between two checks for cancellation                */
    STEPS_LOADING = 100,      /* the same while the schema is read: some ten tables                      */
    LONGEST_CELL = 100000000, /* bytes; without a memory limit                                           */
    LEAST_CELL = 100000,
    CACHE_KIB = 2000, /* SQLite's default */
};

static uint64_t schema_size(sqlite3 *db)
{
    int now = 0, most = 0;
    return sqlite3_db_status(db, SQLITE_DBSTATUS_SCHEMA_USED, &now, &most, 0) == SQLITE_OK ? (uint64_t)now : 0;
}

static bool fits(sqlite3 *db, const kn_context *ctx)
{
    return ctx->memory_limit == 0 || schema_size(db) + kn_context_memory_used(ctx) <= ctx->memory_limit;
}

static int stop(void *ctx)
{
    return kn_cancelled(ctx);
}

/* While the schema is read: counted again whenever it may have doubled. */
typedef struct loading {
    kn_context *ctx;
    sqlite3    *db;
    uint64_t    calls;
} loading;

static int stop_loading(void *arg)
{
    loading *l = arg;
    l->calls++;
    bool look = (l->calls & (l->calls - 1)) == 0;
    return kn_cancelled(l->ctx) || (look && !fits(l->db, l->ctx));
}

/* A share of the memory limit, at least `least` and at most `most`. */
static int share(const kn_context *ctx, int parts, int least, int most)
{
    uint64_t part = ctx->memory_limit / (uint64_t)parts;
    if (ctx->memory_limit == 0 || part > (uint64_t)most) return most;
    return part < (uint64_t)least ? least : (int)part;
}

static void limit(sqlite3 *db, const kn_context *ctx)
{
    static const struct {
        int what, most;
    } limits[] = {
        {SQLITE_LIMIT_SQL_LENGTH, 1000000},  {SQLITE_LIMIT_EXPR_DEPTH, 200},  {SQLITE_LIMIT_COMPOUND_SELECT, 50},
        {SQLITE_LIMIT_VDBE_OP, 1000000},     {SQLITE_LIMIT_ATTACHED, 0},      {SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1000},
        {SQLITE_LIMIT_VARIABLE_NUMBER, 100}, {SQLITE_LIMIT_TRIGGER_DEPTH, 1}, {SQLITE_LIMIT_WORKER_THREADS, 0}};
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) (void)sqlite3_limit(db, limits[i].what, limits[i].most);
    (void)sqlite3_limit(db, SQLITE_LIMIT_LENGTH, share(ctx, 16, LEAST_CELL, LONGEST_CELL));
}

kn_status kn_sqlite_harden(sqlite3 *db, kn_context *ctx, const char *path, uint64_t *charged, kn_error *err)
{
    static const struct {
        int what, on;
    } switches[] = {{SQLITE_DBCONFIG_DEFENSIVE, 1},
                    {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
                    {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0},
                    {SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0},
                    {SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, 0},
                    {SQLITE_DBCONFIG_DQS_DML, 0}}; /* a column that is not there is no text */
    int  cache = share(ctx, 16 * 1024, 100, CACHE_KIB);
    char sql[200];
    *charged = 0;
    for (size_t i = 0; i < sizeof switches / sizeof *switches; i++)
        if (sqlite3_db_config(db, switches[i].what, switches[i].on, NULL) != SQLITE_OK)
            return kn_fail(err, KN_IO, "%s: this SQLite cannot read files that are not trusted", path);
    limit(db, ctx);
    (void)sqlite3_busy_timeout(db, 5000);
    loading l = {.ctx = ctx, .db = db};
    sqlite3_progress_handler(db, STEPS_LOADING, stop_loading, &l);
    snprintf(sql, sizeof sql,
             "PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0; PRAGMA temp_store = FILE; PRAGMA cache_size = -%d",
             cache);
    bool done = sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK; /* this reads the schema */
    sqlite3_progress_handler(db, STEPS, stop, ctx);
    if (!done) return kn_sqlite_fail(db, ctx, path, err);
    uint64_t held = schema_size(db) + (uint64_t)cache * 1024;
    if (!kn_memory_charge(ctx, held)) return kn_fail_memory(err, ctx, path);
    *charged = held;
    return KN_OK;
}

static bool is_query(const char *name)
{
    size_t size = strlen(name), end = sizeof KN_SQLITE_QUERY - 1;
    return size >= end && strcmp(name + size - end, KN_SQLITE_QUERY) == 0;
}

/* Of a query nothing is quoted: its words may be those of a person. */
static kn_status fail_query(sqlite3 *db, const char *name, kn_error *err)
{
    int at = -1;
#if SQLITE_VERSION_NUMBER >= 3038000
    at = sqlite3_error_offset(db);
#endif
    if (at < 0) return kn_fail(err, KN_INPUT, "%s: SQLite cannot run it (error %d)", name, sqlite3_errcode(db));
    return kn_fail(err, KN_INPUT, "%s: SQLite cannot run it, from its character %d on (error %d)", name, at + 1,
                   sqlite3_errcode(db));
}

/* SQLite's messages name tables, columns and functions, never values. */
kn_status kn_sqlite_fail(sqlite3 *db, kn_context *ctx, const char *path, kn_error *err)
{
    int code = sqlite3_errcode(db) & 0xff;
    switch (code) {
    case SQLITE_NOMEM: return kn_fail_memory(err, ctx, path);
    case SQLITE_INTERRUPT: return kn_cancelled(ctx) ? kn_fail_cancelled(err) : kn_fail_memory(err, ctx, path);
    case SQLITE_NOTADB: return kn_fail(err, KN_INPUT, "%s: not a SQLite file", path);
    case SQLITE_CORRUPT: return kn_fail(err, KN_INPUT, "%s: the SQLite file is damaged", path);
    case SQLITE_TOOBIG:
        return kn_fail(err, KN_INPUT, "%s: a cell, or a statement of its schema, is larger than %d bytes", path,
                       sqlite3_limit(db, SQLITE_LIMIT_LENGTH, -1));
    case SQLITE_ERROR:
        if (is_query(path)) return fail_query(db, path, err);
        break;
    default: break;
    }
    return kn_fail(err, code == SQLITE_ERROR ? KN_INPUT : KN_IO, "%s: %s", path, sqlite3_errmsg(db));
}
