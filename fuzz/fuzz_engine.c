/* fuzz_engine.c: what a program and its user say about tables that stay where they are.
 *
 * The first byte chooses: n the name of a table ("duckdb:?query=...", "postgresql://...#schema.table"), s a connection string with a
 * planted password, which no message shows; o a struct of options of any size and content; anything else an engine (kanon/engine.h)
 * that answers with Arrow streams, failures and messages that follow from the bytes, and is asked to read and to release a table.
 * Statements have all their quotes in pairs, and none ends before its end.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <kanon/anonymize.h>
#include <kanon/engine.h>
#include <kanon/memory.h>

#include "arrow_fuzz.h"
#include "kn_alloc.h"
#include "kn_connection.h"
#include "kn_context.h"
#include "kn_engines.h"
#include "kn_error.h"
#include "kn_names.h"
#include "kn_options.h"
#include "kn_table.h"
#include "kn_table_name.h"
#include "kn_utf8.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { STREAMS = 40 };

/* ---- Names ---- */

static bool within(const char *name, kn_string part)
{
    return part.data >= name && part.data + part.size <= name + strlen(name);
}

/* Quoted as in a statement, it is the name again. */
static void check_quotes(kn_context *ctx, const char *name)
{
    static const kn_connection duckdb = KN_CONNECTION_INIT;
    kn_buffer                  quoted;
    kn_buffer_init(&quoted, ctx);
    kn_connection_put_name(&quoted, &duckdb, name);
    char *plain = kn_table_unquote(ctx, (kn_string){quoted.data, quoted.size});
    CHECK(plain && strcmp(plain, name) == 0);
    kn_free(plain);

    kn_string schema, table;
    kn_buffer_add(&quoted, ".x");
    CHECK(kn_table_parts((kn_string){quoted.data, quoted.size}, &schema, &table));
    CHECK(schema.size == quoted.size - 2 && kn_string_equal(table, kn_string_of("x")));
    kn_buffer_free(&quoted);
}

static void try_name(kn_context *ctx, const char *name)
{
    kn_name_parts parts = kn_table_name_split(name);
    kn_table_kind kind = kn_table_kind_of(name);
    kn_string     file = kn_table_file(name), schema, table;
    size_t        size = strlen(name);
    CHECK(parts.source.data == name && parts.source.size <= size && within(name, file));
    CHECK(!(parts.table.data && parts.query.data));
    if (parts.table.data) CHECK(parts.source.size + 1 + parts.table.size == size && name[parts.source.size] == '#');
    if (parts.query.data) CHECK(parts.query.data + parts.query.size == name + size);
    if (!parts.table.data && !parts.query.data) CHECK(parts.source.size == size);
    CHECK((kind == KN_TABLE_SERVER) <= (kn_name_server(name) != NULL && file.size == 0));
    CHECK((kind == KN_TABLE_SQLITE) <= (kn_name_sqlite(name) != NULL));
    if (parts.table.data && kn_table_parts(parts.table, &schema, &table)) {
        CHECK(within(name, schema) && within(name, table) && schema.size + 1 + table.size == parts.table.size);
        char *plain = kn_table_unquote(ctx, table);
        CHECK(plain && strlen(plain) <= table.size);
        kn_free(plain);
    }
    check_quotes(ctx, name);
    CHECK(!kn_engine_of(ctx, name, NULL));
}

static void try_secret(const char *given)
{
    static const char planted[] = "PLANTED";
    char              text[1024];
    const char       *end = strstr(given, ": ");
    int               size = (int)(end ? end - given : (ptrdiff_t)strlen(given));
    if (size > 200 || strchr(given, '/') || strstr(given, planted)) return;
    kn_error err = KN_ERROR_INIT;
    CHECK(kn_fail(&err, KN_IO, "postgresql://me:%.*s%s@host/db: gone", size, given, planted) == KN_IO);
    CHECK(!strstr(err.message, planted));
    CHECK(kn_fail(&err, KN_IO, "Postgres:host=a password=%.*s%s", size, given, planted) == KN_IO);
    CHECK(!strstr(err.message, planted));
    CHECK(kn_fail(&err, KN_IO, "postgresql://host/db?password=%.*s%s", size, given, planted) == KN_IO);
    CHECK(!strstr(err.message, planted));
    snprintf(text, sizeof text, "sqlite:%.*s?query=SELECT '%s'", size, given, planted);
    kn_hide_secrets(text, sizeof text);
    CHECK(!strstr(text, planted) || strstr(given, "query=SELECT"));
}

/* ---- Options ---- */

static int run_nothing(void *state, const char *sql, char *message, size_t room)
{
    (void)state, (void)sql, (void)message, (void)room;
    return 0;
}

/* A struct of a program that was compiled for another version: what it sets is taken, or refused with a word. */
static void try_options(kn_context *ctx, input *in)
{
    size_t         known = sizeof(kn_csv_options), size = below(in, 4) ? 8u * (size_t)below(in, 40) : (size_t)take(in);
    size_t         room = size < sizeof size ? sizeof size : size;
    unsigned char *given = block(room);
    kn_csv_options options = KN_CSV_OPTIONS_INIT;
    kn_error       err = KN_ERROR_INIT;
    memset(given, 0, room);
    if (rarely(in, 2)) fill(in, given, room);
    memcpy(given, &size, sizeof size);
    bool rest = false;
    for (size_t i = known; i < size; i++) rest = rest || given[i];
    kn_status st = kn_options_take(&options, known, given, "options", &err);
    CHECK((st == KN_OK) == (size >= sizeof size && size % sizeof size == 0 && !rest));
    CHECK(st == KN_OK || (st == KN_USAGE && err.message[0]));
    CHECK(options.size == known);
    if (st == KN_OK && size > sizeof size)
        CHECK(memcmp((char *)&options + sizeof size, given + sizeof size,
                     (size < known ? size : known) - sizeof size) == 0);
    free(given);

    char          name[8] = "";
    kn_connection connection = KN_CONNECTION_INIT;
    fill(in, name, sizeof name - 1);
    connection.size = rarely(in, 8) ? (size_t)below(in, (int64_t)sizeof connection + 1) : sizeof connection;
    connection.run = run_nothing;
    bool fine = kn_engine_add(ctx, name, &connection, &err) == KN_OK;
    CHECK(!fine); /* two functions are missing */
}

/* ---- An engine ---- */

typedef struct world {
    input    *in;
    producer *streams[STREAMS];
    int       count;
} world;

/* Quotes come in pairs, and outside of them nothing ends the statement. */
static void check_statement(const char *sql, kn_dialect dialect)
{
    char quote = '\0';
    for (const char *c = sql; *c; c++) {
        if (quote) {
            if (dialect == KN_DIALECT_SPARK && quote == '\'' && *c == '\\' && c[1]) c++;
            if (*c == quote) quote = '\0'; /* two of them end it and begin it */
        } else if (*c == '"' || *c == '\'' || (*c == '`' && dialect == KN_DIALECT_SPARK)) {
            quote = *c;
        } else {
            CHECK(*c != ';' && strncmp(c, "--", 2) != 0);
        }
    }
    CHECK(!quote);
}

static kn_dialect dialect_now;

/* Sometimes it fails, and says whatever. */
static int may_fail(world *w, char *message, size_t room)
{
    static const int numbers[] = {EIO, ENOMEM, ECANCELED, EINVAL, -1, INT32_MAX};
    if (!rarely(w->in, 16)) return 0;
    fill(w->in, message, room < 20 ? room : 20); /* without an end */
    return numbers[below(w->in, 6)];
}

static int engine_run(void *state, const char *sql, char *message, size_t room)
{
    check_statement(sql, dialect_now);
    return may_fail(state, message, room);
}

static int engine_query(void *state, const char *sql, struct ArrowArrayStream *out, char *message, size_t room)
{
    world *w = state;
    check_statement(sql, dialect_now);
    int failed = may_fail(w, message, room);
    if (!failed && w->count == STREAMS) failed = EIO;
    if (failed) return failed;
    producer *p = block(sizeof *p);
    *out = make_stream(p, w->in);
    w->streams[w->count++] = p;
    return 0;
}

static int engine_put(void *state, const char *name, struct ArrowArrayStream *rows, char *message, size_t room)
{
    struct ArrowArray batch;
    CHECK(name && *name && rows->release);
    while (rows->get_next(rows, &batch) == 0 && batch.release) batch.release(&batch);
    rows->release(rows);
    rows->release = NULL;
    return may_fail(state, message, room);
}

static void check_end(kn_status st, const kn_error *err)
{
    if (st == KN_OK) return;
    CHECK(st != KN_INTERNAL && err->message[0]);
    CHECK(kn_utf8_check(err->message, strlen(err->message)) == strlen(err->message));
}

static void read_there(kn_context *ctx)
{
    static const char *const columns[] = {"a", "b", "a\"b`c'd"};
    kn_csv_options           options = KN_CSV_OPTIONS_INIT;
    kn_table                *table = NULL;
    kn_error                 err = KN_ERROR_INIT;
    const char              *reason = "";
    options.columns = columns;
    options.column_count = 3;
    options.grouped = true;
    kn_status st = kn_table_read_csv(&table, ctx, "engine:e#t", &options, &err);
    CHECK((st == KN_OK) == (table != NULL));
    if (table) CHECK(kn_table_validate(table, &reason));
    check_end(st, &err);
    kn_table_free(table);
}

static void release_there(kn_context *ctx, const char *output)
{
    static const char  text[] = "{input: engine:e#t, attributes: {a: {role: quasi, hierarchy: suppress}, b: keep}, "
                                "privacy: [k: 2], suppression: 1, method: optimal}";
    kn_spec           *spec = NULL;
    kn_release_result *result = NULL;
    kn_error           err = KN_ERROR_INIT;
    CHECK(kn_spec_read_text(&spec, ctx, text, sizeof text - 1, "fuzz", &err) == KN_OK);
    kn_status st = kn_spec_set_texts(spec, "output", &output, 1, "output", &err);
    if (st == KN_OK) st = kn_spec_check(spec, &err);
    if (st == KN_OK) st = kn_anonymize(&result, ctx, spec, NULL, &err);
    if (st != KN_INTERNAL)
        check_end(st, &err); /* an engine that answers otherwise the second time is found by the verifier */
    kn_release_result_free(result);
    kn_spec_free(spec);
}

static void try_engine(kn_context *ctx, input *in)
{
    world         w = {.in = in};
    uint8_t       choice = take(in);
    kn_connection connection = KN_CONNECTION_INIT;
    kn_error      err = KN_ERROR_INIT;
    connection.dialect = dialect_now = (kn_dialect)(choice % 3);
    connection.state = &w;
    connection.run = engine_run;
    connection.query = engine_query;
    connection.put = engine_put;
    CHECK(kn_engine_add(ctx, "e", &connection, &err) == KN_OK);
    if (choice & 64)
        read_there(ctx);
    else
        release_there(ctx, choice & 32 ? "engine:e#out" : "memory:out.csv");
    kn_engine_remove(ctx, "e");
    for (int i = 0; i < w.count; i++) {
        end_producer(w.streams[i]);
        free(w.streams[i]);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1 || size > 1 << 14) return 0;
    kn_context        *ctx = NULL;
    kn_context_options options = KN_CONTEXT_OPTIONS_INIT;
    input              in = {data + 1, size - 1};
    options.threads = 1;
    options.memory_limit = 64 << 20;
    CHECK(kn_context_create(&ctx, &options, NULL) == KN_OK);
    CHECK(kn_memory_enable(ctx, NULL) == KN_OK);
    char *text = block(size);
    memcpy(text, data + 1, size - 1);
    text[size - 1] = '\0';
    switch (data[0]) {
    case 'n': try_name(ctx, text); break;
    case 's': try_secret(text); break;
    case 'o': try_options(ctx, &in); break;
    default: try_engine(ctx, &in); break;
    }
    free(text);
    kn_context_free(ctx);
    return 0;
}
