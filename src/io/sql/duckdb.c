/* sql/duckdb.c: connections to DuckDB. Interface: kn_duckdb.h.
 *
 * A statement is executed task by task, so that a cancelled run ends within a task. Rows come as they are made: neither
 * DuckDB nor the stream holds more than a few chunks of 2,048.
 *
 * Messages of DuckDB about files, names and statements are quoted; those about values (a text that is no number) are
 * replaced, as they quote cells.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_duckdb.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "kn_alloc.h"
#include "kn_context.h"
#include "kn_error.h"

enum { MESSAGE = 600, LEAST_MEMORY = 128 << 20 /* of a thread: with less it fails, spilling or not */ };

/* ---- Messages ---- */

/* The kinds of messages that name nothing but files, columns and the statement. */
static bool is_quotable(const char *message)
{
    static const char *const kinds[] = {"IO Error:",
                                        "Catalog Error:",
                                        "Binder Error:",
                                        "Parser Error:",
                                        "Permission Error:",
                                        "Out of Memory Error:",
                                        "HTTP Error:",
                                        "Missing Extension",
                                        "Not implemented Error:",
                                        "Syntax Error:",
                                        "Connection Error:",
                                        "Serialization Error:",
                                        "Invalid Configuration"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strncmp(message, kinds[i], strlen(kinds[i])) == 0) return true;
    return false;
}

/* The first line of a message that may be shown. */
static void describe(char out[static MESSAGE], const char *message)
{
    if (!message) message = "";
    const char *end = strchr(message, '\n');
    size_t      size = end ? (size_t)(end - message) : strlen(message);
    if (strncmp(message, "Parser Error:", 13) != 0 && !is_quotable(message))
        snprintf(out, MESSAGE, "DuckDB could not read a value, or the file is damaged");
    else
        snprintf(out, MESSAGE, "%.*s", size < MESSAGE - 1 ? (int)size : MESSAGE - 1, message);
}

static kn_status fail(const kn_duckdb *db, const char *what, const char *message, kn_error *err)
{
    char shown[MESSAGE];
    describe(shown, message);
    if (strncmp(shown, "Out of Memory", 13) == 0)
        return what ? kn_fail(err, KN_MEMORY, "%.300s: DuckDB: %s", what, shown)
                    : kn_fail(err, KN_MEMORY, "DuckDB: %s", shown);
    if (kn_cancelled(db->ctx)) return kn_fail_cancelled(err);
    if (!what) return kn_fail(err, strncmp(shown, "IO Error", 8) == 0 ? KN_IO : KN_INPUT, "%s", shown);
    if (strcmp(what, "the query") == 0) /* not its words (kn_path_name) */
        return kn_fail(err, KN_INPUT, "the query: DuckDB cannot run it: %.*s", (int)strcspn(shown, ":"), shown);
    if (strncmp(shown, "IO Error: No files found that match", 35) == 0)
        return kn_fail(err, KN_INPUT, "%.300s: no file matches this pattern", what);
    return kn_fail(err, KN_INPUT, "%.300s: %s", what, shown);
}

/* ---- Opening ---- */

static bool configure(const kn_duckdb *db, kn_ddb_config config, bool file)
{
    char     threads[16], memory[40];
    uint64_t half = db->ctx->memory_limit / 2;
    int most = (int)(half / LEAST_MEMORY < INT_MAX ? half / LEAST_MEMORY : INT_MAX), all = kn_context_threads(db->ctx);
    if (!kn_memory_limited(db->ctx) || most > all) most = all;
    snprintf(threads, sizeof threads, "%d", most > 1 ? most : 1);
    snprintf(memory, sizeof memory, "%" PRIu64 "B", half > LEAST_MEMORY ? half : LEAST_MEMORY);
    const char *const settings[][2] = {{"threads", threads},
                                       {"autoinstall_known_extensions", "false"},
                                       {"autoload_known_extensions", "false"},
                                       {"allow_community_extensions", "false"},
                                       {"temp_directory", ""},
                                       {kn_memory_limited(db->ctx) ? "memory_limit" : NULL, memory},
                                       {file ? "access_mode" : NULL, "READ_ONLY"}};
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        if (settings[i][0] && db->api.set_config(config, settings[i][0], settings[i][1]) != KN_DDB_OK) return false;
    return true;
}

static kn_status connect_to(kn_duckdb *db, const char *file, const char *what, kn_error *err)
{
    kn_ddb_config config = NULL;
    char         *message = NULL;
    KN_TRY(kn_duckdb_load(&db->api, what, err));
    bool      made = db->api.create_config(&config) == KN_DDB_OK && configure(db, config, file != NULL);
    kn_status st = made ? KN_OK : kn_fail(err, KN_IO, "DuckDB does not take its settings");
    if (st == KN_OK && db->api.open_ext(file, &db->database, config, &message) != KN_DDB_OK)
        st = fail(db, file ? file : "DuckDB", message, err);
    if (st == KN_OK && db->api.connect(db->database, &db->connection) != KN_DDB_OK)
        st = kn_fail(err, KN_IO, "DuckDB gives no connection");
    if (message) db->api.free(message);
    if (config) db->api.destroy_config(&config);
    return st;
}

kn_status kn_duckdb_open(kn_duckdb **out, kn_context *ctx, const char *file, const char *what, kn_error *err)
{
    kn_duckdb *db = kn_alloc_zero(ctx, sizeof *db);
    *out = NULL;
    if (!db) return kn_fail_memory(err, ctx, "opening DuckDB");
    db->ctx = ctx;
    kn_status st = connect_to(db, file, what, err);
    if (st == KN_OK)
        *out = db;
    else
        kn_duckdb_close(db);
    return st;
}

void kn_duckdb_close(kn_duckdb *db)
{
    if (!db) return;
    if (db->connection) db->api.disconnect(&db->connection);
    if (db->database) db->api.close(&db->database);
    KN_FREE(db->spill, db);
}

/* ---- Executing ---- */

static kn_status prepare(kn_duckdb *db, const char *sql, kn_ddb_statement *out, const char *what, kn_error *err)
{
    *out = NULL;
    if (db->api.prepare(db->connection, sql, out) == KN_DDB_OK) return KN_OK;
    kn_status st = fail(db, what, *out ? db->api.prepare_error(*out) : NULL, err);
    if (*out) db->api.destroy_prepare(out);
    return st;
}

/* Runs tasks until there is a result. */
static kn_status work(kn_duckdb *db, kn_ddb_pending pending, kn_ddb_result *out, const char *what, kn_error *err)
{
    for (;;) {
        int state = db->api.pending_execute_task(pending);
        if (kn_cancelled(db->ctx)) {
            db->api.interrupt(db->connection);
            return kn_fail_cancelled(err);
        }
        if (state == KN_DDB_FAILED) return fail(db, what, db->api.pending_error(pending), err);
        if (state == KN_DDB_READY) break;
        if (state == KN_DDB_IDLE) nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL); /* others have the tasks */
    }
    if (db->api.execute_pending(pending, out) == KN_DDB_OK) return KN_OK;
    kn_status st = fail(db, what, db->api.result_error(out), err);
    db->api.destroy_result(out);
    return st;
}

static kn_status execute(kn_duckdb *db, const char *sql, bool streaming, kn_ddb_result *out, const char *what,
                         kn_error *err)
{
    kn_ddb_statement statement;
    kn_ddb_pending   pending = NULL;
    *out = (kn_ddb_result){0};
    KN_TRY(prepare(db, sql, &statement, what, err));
    int       made = streaming ? db->api.pending_prepared_streaming(statement, &pending)
                               : db->api.pending_prepared(statement, &pending);
    kn_status st = made == KN_DDB_OK ? work(db, pending, out, what, err)
                                     : fail(db, what, pending ? db->api.pending_error(pending) : NULL, err);
    if (pending) db->api.destroy_pending(&pending);
    db->api.destroy_prepare(&statement);
    return st;
}

kn_status kn_duckdb_run(kn_duckdb *db, const char *sql, const char *what, kn_error *err)
{
    kn_ddb_result result;
    KN_TRY(execute(db, sql, false, &result, what, err));
    db->api.destroy_result(&result);
    return KN_OK;
}

kn_status kn_duckdb_number(int64_t *out, kn_duckdb *db, const char *sql, const char *what, kn_error *err)
{
    kn_ddb_result     result;
    struct ArrowArray array = {.release = NULL};
    *out = 0;
    KN_TRY(execute(db, sql, false, &result, what, err));
    kn_ddb_arrow_options options = db->api.result_get_arrow_options(&result);
    kn_ddb_chunk         chunk = db->api.fetch_chunk(result);
    kn_ddb_error         error = chunk ? db->api.data_chunk_to_arrow(options, chunk, &array) : NULL;
    bool good = array.release && array.n_children == 1 && array.length == 1 && array.children[0]->n_buffers == 2;
    if (good) memcpy(out, array.children[0]->buffers[1], sizeof *out);
    if (array.release) array.release(&array);
    if (error) db->api.destroy_error_data(&error);
    if (chunk) db->api.destroy_data_chunk(&chunk);
    if (options) db->api.destroy_arrow_options(&options);
    db->api.destroy_result(&result);
    return good ? KN_OK : kn_fail(err, KN_INTERNAL, "%.300s: DuckDB gives no number", what);
}

/* ---- Columns ---- */

void kn_duckdb_columns_free(kn_duckdb_columns *c)
{
    for (int i = 0; c->names && i < c->count; i++) kn_free(c->names[i]);
    KN_FREE(c->names, c->types, c->json);
    *c = (kn_duckdb_columns){0};
}

static bool is_json(const kn_duckdb *db, kn_ddb_statement statement, int column)
{
    kn_ddb_type type = db->api.prepared_statement_column_logical_type(statement, (uint64_t)column);
    char       *alias = type ? db->api.logical_type_get_alias(type) : NULL;
    bool        json = alias && strcmp(alias, "JSON") == 0;
    if (alias) db->api.free(alias);
    if (type) db->api.destroy_logical_type(&type);
    return json;
}

static kn_status take_columns(kn_duckdb_columns *out, kn_duckdb *db, kn_ddb_statement statement, kn_error *err)
{
    int count = (int)db->api.prepared_statement_column_count(statement);
    out->ctx = db->ctx;
    bool room = KN_ALLOC_ZERO(db->ctx, out->names, (size_t)count + 1) &&
                KN_ALLOC_ZERO(db->ctx, out->types, (size_t)count + 1) &&
                KN_ALLOC_ZERO(db->ctx, out->json, (size_t)count + 1);
    for (int i = 0; room && i < count; i++) {
        const char *name = db->api.prepared_statement_column_name(statement, (uint64_t)i);
        out->names[i] = name ? kn_strndup(db->ctx, name, strlen(name)) : NULL;
        if (name) db->api.free((void *)(uintptr_t)name); /* the one name that belongs to the caller */
        if (!out->names[i]) room = false;
        out->types[i] = db->api.prepared_statement_column_type(statement, (uint64_t)i);
        out->json[i] = is_json(db, statement, i);
        out->count++;
    }
    return room ? KN_OK : kn_fail_memory(err, db->ctx, "reading the names of the columns");
}

kn_status kn_duckdb_describe(kn_duckdb_columns *out, kn_duckdb *db, const char *sql, const char *what, kn_error *err)
{
    kn_ddb_statement statement;
    *out = (kn_duckdb_columns){0};
    KN_TRY(prepare(db, sql, &statement, what, err));
    kn_status st = take_columns(out, db, statement, err);
    db->api.destroy_prepare(&statement);
    if (st != KN_OK) kn_duckdb_columns_free(out);
    return st;
}

/* ---- Rows ---- */

typedef struct rows {
    kn_duckdb           *db;
    kn_ddb_result        result;
    kn_ddb_arrow_options options;
    bool                 owned; /* the connection */
    char                 message[MESSAGE];
} rows;

/* Keeps the message of a failed conversion; NULL is success. */
static bool converted(rows *r, kn_ddb_error error)
{
    if (!error) return true;
    bool good = !r->db->api.error_data_has_error(error);
    if (!good) describe(r->message, r->db->api.error_data_message(error));
    r->db->api.destroy_error_data(&error);
    return good;
}

static int give_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
    rows                *r = stream->private_data;
    const kn_duckdb_api *api = &r->db->api;
    uint64_t             count = api->column_count(&r->result);
    kn_ddb_type         *types = kn_alloc_array_zero(r->db->ctx, (size_t)count + 1, sizeof *types);
    const char         **names = kn_alloc_array_zero(r->db->ctx, (size_t)count + 1, sizeof *names);
    bool                 good = types && names;
    *out = (struct ArrowSchema){.format = NULL};
    for (uint64_t i = 0; good && i < count; i++) {
        types[i] = api->column_logical_type(&r->result, i);
        names[i] = api->column_name(&r->result, i);
    }
    int code = !good ? ENOMEM : converted(r, api->to_arrow_schema(r->options, types, names, count, out)) ? 0 : EIO;
    for (uint64_t i = 0; types && i < count; i++)
        if (types[i]) api->destroy_logical_type(&types[i]);
    KN_FREE(types, (void *)names);
    return code;
}

static int give_next(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
    rows                *r = stream->private_data;
    const kn_duckdb_api *api = &r->db->api;
    *out = (struct ArrowArray){.length = 0};
    kn_ddb_chunk chunk = api->fetch_chunk(r->result);
    if (!chunk) { /* the end, or a failure on the way */
        const char *message = api->result_error(&r->result);
        if (!message || !*message) return 0;
        describe(r->message, message);
        return EIO;
    }
    int code = converted(r, api->data_chunk_to_arrow(r->options, chunk, out)) ? 0 : EIO;
    api->destroy_data_chunk(&chunk);
    return code;
}

static const char *last_error(struct ArrowArrayStream *stream)
{
    const rows *r = stream->private_data;
    return r->message[0] ? r->message : NULL;
}

static void end_rows(struct ArrowArrayStream *stream)
{
    rows *r = stream->private_data;
    stream->release = NULL;
    if (r->options) r->db->api.destroy_arrow_options(&r->options);
    r->db->api.destroy_result(&r->result);
    if (r->owned) kn_duckdb_close(r->db);
    kn_free(r);
}

kn_status kn_duckdb_query(struct ArrowArrayStream *out, kn_duckdb *db, const char *sql, const char *what, kn_error *err)
{
    rows *r = kn_alloc_zero(db->ctx, sizeof *r);
    *out = (struct ArrowArrayStream){.release = NULL};
    kn_status st = r ? execute(db, sql, true, &r->result, what, err) : kn_fail_memory(err, db->ctx, "reading rows");
    if (st != KN_OK) {
        kn_free(r);
        return st;
    }
    r->db = db;
    r->options = db->api.result_get_arrow_options(&r->result);
    *out = (struct ArrowArrayStream){give_schema, give_next, last_error, end_rows, r};
    return KN_OK;
}

kn_status kn_duckdb_stream(struct ArrowArrayStream *out, kn_duckdb *db, const char *sql, const char *what,
                           kn_error *err)
{
    kn_status st = kn_duckdb_query(out, db, sql, what, err);
    if (st == KN_OK)
        ((rows *)out->private_data)->owned = true;
    else
        kn_duckdb_close(db);
    return st;
}
