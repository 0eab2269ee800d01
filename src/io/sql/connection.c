/* sql/connection.c: statements by whoever holds the tables, and DuckDB as one of them. Interface: kn_connection.h.
 *
 * A message of a connection says where; it is shown behind the name of the table. Cancellation is asked for before and after
 * every call; DuckDB's own work also ends within a task.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_connection.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_arrow.h"
#include "kn_columnar.h"
#include "kn_connection_checked.h"
#include "kn_context.h"
#include "kn_duckdb.h"
#include "kn_duckdb_source.h"
#include "kn_error.h"
#include "kn_server.h"

enum { ROOM = 600 };

/* ---- Checked calls ---- */

static kn_status judge(kn_context *ctx, int code, const char *what, char *message, kn_error *err)
{
    kn_message_clean(message, ROOM);
    if (kn_cancelled(ctx) || code == ECANCELED) return kn_fail_cancelled(err);
    if (code == 0) return KN_OK;
    kn_status st = code == ENOMEM ? KN_MEMORY : code == EIO || code == ENOSPC ? KN_IO : KN_INPUT;
    return kn_fail(err, st, "%.300s: %s", what, *message ? message : "the statement cannot be run");
}

kn_status kn_connection_run(const kn_connection *c, kn_context *ctx, const char *sql, const char *what, kn_error *err)
{
    char message[ROOM] = "";
    if (kn_cancelled(ctx)) return kn_fail_cancelled(err);
    return judge(ctx, c->run(c->state, sql, message, sizeof message), what, message, err);
}

kn_status kn_connection_query(struct ArrowArrayStream *out, const kn_connection *c, kn_context *ctx, const char *sql,
                              const char *what, kn_error *err)
{
    char message[ROOM] = "";
    *out = (struct ArrowArrayStream){.release = NULL};
    if (kn_cancelled(ctx)) return kn_fail_cancelled(err);
    kn_status st = judge(ctx, c->query(c->state, sql, out, message, sizeof message), what, message, err);
    if (st == KN_OK && !out->release) return kn_fail(err, KN_INPUT, "%.300s: the engine gives no rows", what);
    if (st == KN_OK) st = kn_connection_checked(out, ctx, what, err);
    if (st != KN_OK && out->release) out->release(out);
    return st;
}

kn_status kn_connection_put(const kn_connection *c, kn_context *ctx, const char *name, struct ArrowArrayStream *rows,
                            const char *what, kn_error *err)
{
    char message[ROOM] = "";
    int  code = kn_cancelled(ctx) ? ECANCELED : c->put(c->state, name, rows, message, sizeof message);
    if (rows->release) rows->release(rows);
    return judge(ctx, code, what, message, err);
}

/* The first cell of a batch. */
static bool first_number(int64_t *out, const struct ArrowSchema *schema, const struct ArrowArray *batch)
{
    kn_arrow_format format;
    kn_arrow_view   view;
    if (schema->n_children != 1 || batch->n_children != 1 || batch->length < 1) return false;
    if (!kn_arrow_format_parse(schema->children[0]->format, &format) || !kn_arrow_is_integer(&format)) return false;
    if (kn_arrow_open(&view, batch->children[0], &format, batch->offset, 1) != NULL) return false;
    *out = kn_arrow_valid(&view, view.start) ? kn_arrow_load_signed(view.data + view.start * format.width, format.width)
                                             : 0;
    return true;
}

kn_status kn_connection_number(int64_t *out, const kn_connection *c, kn_context *ctx, const char *sql, const char *what,
                               kn_error *err)
{
    struct ArrowArrayStream stream;
    struct ArrowSchema      schema = {.release = NULL};
    struct ArrowArray       batch = {.release = NULL};
    *out = 0;
    KN_TRY(kn_connection_query(&stream, c, ctx, sql, what, err));
    bool good = stream.get_schema(&stream, &schema) == 0 && stream.get_next(&stream, &batch) == 0 && batch.release &&
                first_number(out, &schema, &batch);
    const char *message = good ? NULL : stream.get_last_error(&stream);
    kn_status   st =
        good ? KN_OK : kn_fail(err, KN_INPUT, "%.300s: %.400s", what, message ? message : "the engine gives no number");
    if (batch.release) batch.release(&batch);
    if (schema.release) schema.release(&schema);
    stream.release(&stream);
    return st;
}

void kn_connection_put_name(kn_buffer *to, const kn_connection *c, const char *name)
{
    char quote = c->dialect == KN_DIALECT_SPARK ? '`' : '"';
    kn_buffer_char(to, quote);
    for (; *name; name++) {
        if (*name == quote) kn_buffer_char(to, quote);
        kn_buffer_char(to, *name);
    }
    kn_buffer_char(to, quote);
}

void kn_connection_put_text(kn_buffer *to, const kn_connection *c, const char *text)
{
    bool spark = c->dialect == KN_DIALECT_SPARK;
    kn_buffer_char(to, '\'');
    for (; *text; text++) {
        if (*text == '\'' || (*text == '\\' && spark)) kn_buffer_char(to, spark ? '\\' : '\'');
        kn_buffer_char(to, *text);
    }
    kn_buffer_char(to, '\'');
}

void kn_connection_put_create(kn_buffer *to, const kn_connection *c)
{
    kn_buffer_add(to, c->dialect == KN_DIALECT_SPARK ? "CACHE TABLE " : "CREATE TEMPORARY TABLE ");
}

kn_status kn_connection_drop(const kn_connection *c, kn_context *ctx, const char *name, const char *what, kn_error *err)
{
    char sql[200];
    snprintf(sql, sizeof sql, "DROP %s IF EXISTS %.100s", c->dialect == KN_DIALECT_SPARK ? "VIEW" : "TABLE", name);
    return kn_connection_run(c, ctx, sql, what, err);
}

const char *kn_connection_same(const kn_connection *c)
{
    return c->dialect == KN_DIALECT_SPARK ? "<=>" : "IS NOT DISTINCT FROM";
}

void kn_connection_put_target(kn_buffer *to, const kn_connection *c, const char *target)
{
    bool spark = c->dialect == KN_DIALECT_SPARK;
    kn_buffer_add(to, spark ? "parquet." : "read_parquet(");
    if (spark)
        kn_connection_put_name(to, c, target);
    else
        kn_connection_put_text(to, c, target);
    kn_buffer_add(to, spark ? "" : ")");
}

/* ---- DuckDB ---- */

#define SCANNED "kanon (rows)"

static int code_of(kn_status st, const kn_error *said, char *message, size_t room)
{
    if (st == KN_OK) return 0;
    snprintf(message, room, "%s", said->message);
    return st == KN_MEMORY ? ENOMEM : st == KN_CANCELLED ? ECANCELED : st == KN_IO ? EIO : EINVAL;
}

static int run(void *state, const char *sql, char *message, size_t room)
{
    kn_error said = KN_ERROR_INIT;
    return code_of(kn_duckdb_run(state, sql, NULL, &said), &said, message, room);
}

static int query(void *state, const char *sql, struct ArrowArrayStream *out, char *message, size_t room)
{
    kn_error said = KN_ERROR_INIT;
    return code_of(kn_duckdb_query(out, state, sql, NULL, &said), &said, message, room);
}

/* Rows whose schema is lent: DuckDB asks for it several times and never releases what it gets. */
typedef struct lending {
    struct ArrowArrayStream *rows;
    struct ArrowSchema       schema;
} lending;

static void keep_schema(struct ArrowSchema *schema)
{
    schema->release = NULL;
}

static int lend_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
    *out = ((const lending *)stream->private_data)->schema;
    out->release = keep_schema;
    return 0;
}

static int lend_next(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
    struct ArrowArrayStream *rows = ((const lending *)stream->private_data)->rows;
    return rows->get_next(rows, out);
}

static const char *lend_error(struct ArrowArrayStream *stream)
{
    struct ArrowArrayStream *rows = ((const lending *)stream->private_data)->rows;
    return rows->get_last_error(rows);
}

static void end_lending(struct ArrowArrayStream *stream)
{
    stream->release = NULL;
}

/* A view of the rows is scanned once, into the table. */
static kn_status scan(kn_duckdb *db, const char *sql, struct ArrowArrayStream *rows, kn_error *said)
{
    lending                 l = {.rows = rows};
    struct ArrowArrayStream lent = {lend_schema, lend_next, lend_error, end_lending, &l};
    if (!sql) return kn_fail_memory(said, db->ctx, "handing a table to DuckDB");
    if (rows->get_schema(rows, &l.schema) != 0) {
        const char *message = rows->get_last_error(rows);
        return kn_fail(said, KN_INPUT, "%.400s", message ? message : "a table without columns");
    }
    kn_status st = KN_OK;
    if (db->api.arrow_scan(db->connection, SCANNED, (kn_ddb_arrow_stream)(void *)&lent) != KN_DDB_OK)
        st = kn_fail(said, KN_INTERNAL, "DuckDB does not take a table's columns");
    if (st == KN_OK) st = kn_duckdb_run(db, sql, NULL, said);
    if (st == KN_OK) st = kn_duckdb_run(db, "DROP VIEW \"" SCANNED "\"", NULL, said);
    if (l.schema.release) l.schema.release(&l.schema);
    return st;
}

static int put(void *state, const char *name, struct ArrowArrayStream *rows, char *message, size_t room)
{
    kn_duckdb *db = state;
    kn_error   said = KN_ERROR_INIT;
    kn_buffer  sql;
    kn_buffer_init(&sql, db->ctx);
    kn_buffer_add(&sql, "CREATE OR REPLACE TEMP TABLE ");
    kn_duckdb_name(&sql, name);
    kn_buffer_add(&sql, " AS SELECT * FROM \"" SCANNED "\"");
    kn_status st = scan(db, kn_buffer_text(&sql), rows, &said);
    kn_buffer_free(&sql);
    if (rows->release) rows->release(rows);
    return code_of(st, &said, message, room);
}

kn_status kn_connection_spill(const kn_connection *c, const char *spill, const char *what, kn_error *err)
{
    kn_duckdb *db = c->state;
    kn_buffer  sql;
    kn_free(db->spill);
    db->spill = kn_strndup(db->ctx, spill, strlen(spill));
    if (!db->spill) return kn_fail_memory(err, db->ctx, "opening DuckDB");
    kn_buffer_init(&sql, db->ctx);
    kn_buffer_add(&sql, "SET temp_directory = ");
    kn_duckdb_text(&sql, spill);
    const char *text = kn_buffer_text(&sql);
    kn_status   st = text ? kn_duckdb_run(db, text, what, err) : kn_fail_memory(err, db->ctx, "opening DuckDB");
    kn_buffer_free(&sql);
    return st;
}

/* In small groups of rows, which every thread holds until they are whole. */
#define AS_PARQUET " (FORMAT parquet, COMPRESSION snappy, ROW_GROUP_SIZE 40960, USE_TMP_FILE false)"

static kn_status copy_rows(kn_duckdb *db, const char *path, struct ArrowArrayStream *rows, kn_error *said)
{
    kn_buffer sql;
    kn_buffer_init(&sql, db->ctx);
    kn_buffer_add(&sql, "COPY (SELECT * FROM \"" SCANNED "\") TO ");
    kn_duckdb_text(&sql, path);
    kn_buffer_add(&sql, AS_PARQUET);
    kn_status st = scan(db, kn_buffer_text(&sql), rows, said);
    kn_buffer_free(&sql);
    return st;
}

kn_status kn_connection_keep(kn_buffer *to, const kn_connection *c, const char *name, struct ArrowArrayStream *rows,
                             const char *what, kn_error *err)
{
    kn_duckdb *db = c->state;
    kn_error   said = KN_ERROR_INIT;
    char      *path = kn_strformat(db->ctx, "%s/%s.parquet", db->spill, name);
    kn_status  st = path ? copy_rows(db, path, rows, &said) : kn_fail_memory(&said, db->ctx, "keeping rows");
    rows->release(rows);
    kn_buffer_add(to, "read_parquet(");
    if (path) kn_columnar_put_path(to, db->ctx, path);
    kn_buffer_add(to, ", hive_partitioning = false)");
    if (st == KN_OK && !kn_buffer_text(to)) st = kn_fail_memory(&said, db->ctx, "keeping rows");
    kn_free(path);
    if (st == KN_OK) return KN_OK;
    return st == KN_CANCELLED ? kn_fail_cancelled(err) : kn_fail(err, st, "%.300s: %.600s", what, said.message);
}

kn_status kn_connection_duckdb(kn_connection *out, kn_context *ctx, const char *spill, const char *what, kn_error *err)
{
    kn_duckdb *db = NULL;
    *out = (kn_connection)KN_CONNECTION_INIT;
    KN_TRY(kn_duckdb_open(&db, ctx, NULL, what, err));
    *out = (kn_connection){sizeof *out, KN_DIALECT_DUCKDB, db, run, query, put};
    kn_status st = spill ? kn_connection_spill(out, spill, what, err) : KN_OK;
    if (st != KN_OK) kn_connection_close(out);
    return st;
}

void kn_connection_close(kn_connection *c)
{
    if (c->dialect == KN_DIALECT_POSTGRESQL)
        kn_server_close(c->state);
    else
        kn_duckdb_close(c->state);
    *c = (kn_connection)KN_CONNECTION_INIT;
}
