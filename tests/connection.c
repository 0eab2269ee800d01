/* connection.c: statements by DuckDB in this process, and by a connection that fails in every way.
 *
 *     connection FILE.parquet FOLDER
 *
 * The file has a column n with the numbers 0 to 9,999 modulo 7, by DuckDB. tests/large/run calls it.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_connection.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kn_columnar.h"
#include "kn_engines.h"

static void need(bool held, const char *what)
{
    if (held) return;
    fprintf(stderr, "not so: %s\n", what);
    exit(1);
}

static int failing(void *state, const char *sql, char *message, size_t room)
{
    (void)sql;
    snprintf(message, room, "%s", "out of order");
    return *(int *)state;
}

static int failing_query(void *state, const char *sql, struct ArrowArrayStream *out, char *message, size_t room)
{
    out->release = NULL;
    return failing(state, sql, message, room);
}

static int failing_put(void *state, const char *name, struct ArrowArrayStream *rows, char *message, size_t room)
{
    (void)rows;
    return failing(state, name, message, room);
}

/* What a connection's numbers become. */
static void check_codes(kn_context *ctx)
{
    static const struct {
        int       code;
        kn_status status;
    } cases[] = {{0, KN_OK},      {ENOMEM, KN_MEMORY}, {EIO, KN_IO},
                 {ENOSPC, KN_IO}, {EINVAL, KN_INPUT},  {ECANCELED, KN_CANCELLED}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kn_error                err = KN_ERROR_INIT;
        int                     code = cases[i].code;
        struct ArrowArrayStream rows = {.release = NULL};
        kn_connection           c = {sizeof c, KN_DIALECT_SPARK, &code, failing, failing_query, failing_put};
        need(kn_connection_run(&c, ctx, "", "here", &err) == cases[i].status, "the status of a statement");
        if (code == EINVAL) need(strcmp(err.message, "here: out of order") == 0, "a message says where");
        need(kn_connection_query(&rows, &c, ctx, "", "here", &err) != KN_OK, "a query without rows fails");
        need(kn_connection_put(&c, ctx, "t", &rows, "here", &err) == cases[i].status, "the status of a table");
    }
}

/* Names of engines: added, replaced, removed. */
static void check_engines(kn_context *ctx)
{
    int           code = 0;
    const char   *relation = NULL;
    kn_error      err = KN_ERROR_INIT;
    kn_connection c = {sizeof c, KN_DIALECT_SPARK, &code, failing, failing_query, failing_put};
    need(!kn_engine_of(ctx, "engine:one#a.b", &relation), "no engine yet");
    need(kn_engine_add(ctx, "a#b", &c, &err) == KN_USAGE, "a mark in a name");
    need(kn_engine_add(ctx, "one", &c, &err) == KN_OK && kn_engine_add(ctx, "two", &c, &err) == KN_OK, "two engines");
    need(kn_engine_of(ctx, "engine:one#a.b", &relation) && strcmp(relation, "a.b") == 0, "a table of the first");
    need(!kn_engine_of(ctx, "engine:on#a", &relation) && !kn_engine_of(ctx, "engine:one", &relation), "other names");
    c.dialect = KN_DIALECT_POSTGRESQL;
    need(kn_engine_add(ctx, "one", &c, &err) == KN_OK, "replaced");
    need(kn_engine_of(ctx, "engine:one#a", &relation)->dialect == KN_DIALECT_POSTGRESQL, "the new one");
    kn_engine_remove(ctx, "one");
    need(!kn_engine_of(ctx, "engine:one#a", &relation) && kn_engine_of(ctx, "engine:two#a", &relation), "removed");
    c.put = NULL;
    need(kn_engine_add(ctx, "three", &c, &err) == KN_USAGE, "one without put");
}

/* Groups of the file come as rows, go back as a table, and are counted there. */
static void check_duckdb(kn_context *ctx, const char *file, const char *folder)
{
    kn_error                err = KN_ERROR_INIT;
    kn_connection           c;
    kn_buffer               sql, relation;
    struct ArrowArrayStream rows;
    int64_t                 number = 0;
    kn_buffer_init(&sql, ctx);
    kn_buffer_init(&relation, ctx);
    need(kn_connection_duckdb(&c, ctx, folder, "a test", &err) == KN_OK, err.message);
    need(kn_columnar_relation(&relation, &c, ctx, &file, 1, NULL, 0, &err) == KN_OK, err.message);
    kn_buffer_format(&sql, "SELECT n, count(*) AS rows FROM %s GROUP BY n", kn_buffer_text(&relation));
    kn_connection own;
    need(kn_connection_duckdb(&own, ctx, NULL, "a test", &err) == KN_OK, err.message);
    need(kn_connection_query(&rows, &c, ctx, kn_buffer_text(&sql), file, &err) == KN_OK, err.message);
    need(kn_connection_put(&own, ctx, "a \"map\"", &rows, file, &err) == KN_OK, err.message);
    need(kn_connection_number(&number, &own, ctx, "SELECT CAST(sum(rows) AS BIGINT) FROM \"a \"\"map\"\"\"", file,
                              &err) == KN_OK,
         err.message);
    need(number == 10000, "all rows are counted");
    need(kn_connection_number(&number, &own, ctx, "SELECT count(*) FROM \"a \"\"map\"\"\"", file, &err) == KN_OK &&
             number == 7,
         "the groups");
    need(kn_connection_run(&c, ctx, "SELECT 'x'::INTEGER", file, &err) == KN_INPUT && !strstr(err.message, "'x'"),
         "a message has no value");
    need(kn_connection_number(&number, &c, ctx, "SELECT 'x'", file, &err) == KN_INPUT, "a text is no number");
    kn_context_cancel(ctx);
    need(kn_connection_run(&c, ctx, "SELECT 1", file, &err) == KN_CANCELLED, "cancelled");
    kn_context_reset_cancel(ctx);
    kn_connection_close(&own);
    kn_connection_close(&c);
    kn_buffer_free(&sql);
    kn_buffer_free(&relation);
}

int main(int argc, char **argv)
{
    kn_context *ctx = NULL;
    kn_error    err = KN_ERROR_INIT;
    need(argc == 3, "connection FILE.parquet FOLDER");
    need(kn_context_create(&ctx, NULL, &err) == KN_OK, err.message);
    check_codes(ctx);
    check_engines(ctx);
    check_duckdb(ctx, argv[1], argv[2]);
    kn_context_free(ctx);
    return 0;
}
