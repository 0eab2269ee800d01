/* kn_postgres_write.c: a database → a new schema of a PostgreSQL database, in one transaction. Interface: kn_postgres.h.
 *
 * The schema must not exist: nothing is ever replaced. Rows go through COPY FROM STDIN; the transaction stays open
 * while what was written is read back and verified, and a connection that ends before the commit leaves nothing.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_postgres_internal.h"
#include "kn_sql.h"

typedef struct pg_sink {
    kn_pg     pg;
    int       columns;
    kn_buffer lines;
    kn_cells  cells;
} pg_sink;

static void sink_abort(void *state)
{
    pg_sink *s = state;
    kn_buffer_free(&s->lines);
    kn_pg_close(&s->pg);
    kn_free(s);
}

/* The type of a new column. A type from a server's catalog is kept; a SQLite file may declare anything, and a
 * user-defined type may not exist: those become text. A key must be of a type that numbers fit as
 * they are: characters of a fixed number would add blanks, or have too few. */
static const char *type_of(const kn_sink_column *column)
{
    static const struct {
        const char *begins;
        bool        key;
    } known[] = {{"smallint", true}, {"integer", true},    {"bigint", true}, {"numeric", true},
                 {"text", true},     {"character", false}, {"uuid", true},   {"real", false},
                 {"double", false},  {"boolean", false},   {"date", false},  {"time", false}};
    const char *type = column->type;
    if (!type || strspn(type, "abcdefghijklmnopqrstuvwxyz0123456789 (),") != strlen(type)) return "text";
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strncmp(type, known[i].begins, strlen(known[i].begins)) == 0)
            return column->key && !known[i].key ? "text" : type;
    return "text";
}

static void add_type(kn_buffer *sql, const kn_sink_column *column)
{
    kn_buffer_char(sql, ' ');
    kn_buffer_add(sql, type_of(column));
}

static kn_status sink_table(void *state, const kn_sink_table *t, kn_error *err)
{
    pg_sink  *s = state;
    kn_buffer sql;
    kn_buffer_init(&sql, s->pg.ctx);
    kn_sql_create_table(&sql, s->pg.schema, t, add_type);
    KN_TRY(kn_pg_run_buffer(&s->pg, &sql, PGRES_COMMAND_OK, err));
    kn_buffer_add(&sql, "COPY ");
    kn_sql_table(&sql, s->pg.schema, t->name);
    kn_buffer_add(&sql, " FROM STDIN");
    s->columns = t->column_count;
    return kn_pg_run_buffer(&s->pg, &sql, PGRES_COPY_IN, err);
}

kn_status kn_pg_send(kn_pg *pg, kn_buffer *lines, kn_error *err)
{
    if (lines->failed) return kn_fail_memory(err, pg->ctx, pg->name);
    bool ok = lines->size == 0 || pg->pq.putCopyData(pg->conn, lines->data, (int)lines->size) == 1;
    kn_buffer_clear(lines);
    return ok ? KN_OK : kn_pg_fail(pg, NULL, err);
}

static void add_cell(kn_buffer *to, kn_string cell)
{
    if (!cell.data) {
        kn_buffer_add(to, "\\N");
        return;
    }
    size_t done = 0;
    for (size_t i = 0; i < cell.size; i++) {
        char c = cell.data[i], letter = c == '\\' ? '\\' : c == '\t' ? 't' : c == '\n' ? 'n' : c == '\r' ? 'r' : 0;
        if (!letter) continue;
        kn_buffer_append(to, cell.data + done, i - done);
        kn_buffer_char(to, '\\');
        kn_buffer_char(to, letter);
        done = i + 1;
    }
    kn_buffer_append(to, cell.data + done, cell.size - done);
}

void kn_pg_add_line(kn_buffer *to, const kn_string *cells, int count)
{
    for (int c = 0; c < count; c++) {
        if (c > 0) kn_buffer_char(to, '\t');
        add_cell(to, cells[c]);
    }
    kn_buffer_char(to, '\n');
}

static kn_status sink_row(void *state, const kn_string *cells, kn_error *err)
{
    pg_sink *s = state;
    kn_pg_add_line(&s->lines, cells, s->columns);
    return s->lines.size > 1 << 18 || s->lines.failed ? kn_pg_send(&s->pg, &s->lines, err) : KN_OK;
}

static kn_status sink_table_end(void *state, kn_error *err)
{
    pg_sink *s = state;
    KN_TRY(kn_pg_send(&s->pg, &s->lines, err));
    return s->pg.pq.putCopyEnd(s->pg.conn, NULL) == 1 ? kn_pg_copy_end(&s->pg, err) : kn_pg_fail(&s->pg, NULL, err);
}

static kn_status sink_cells(void *state, kn_cells **out, kn_error *err)
{
    pg_sink *s = state;
    (void)err;
    s->cells = kn_pg_cells(&s->pg);
    *out = &s->cells;
    return KN_OK;
}

/* Others see the schema's number once it is committed, and no later schema of that name has it. */
static kn_status sink_sync(void *state, kn_database_place *out, kn_error *err)
{
    pg_sink          *s = state;
    PGresult         *result = NULL;
    const char *const names[] = {s->pg.schema};
    KN_TRY(kn_pg_query(&s->pg, &result, "SELECT oid FROM pg_catalog.pg_namespace WHERE nspname = $1", names, 1, err));
    if (s->pg.pq.ntuples(result) == 1) out->schema = strtoull(s->pg.pq.getvalue(result, 0, 0), NULL, 10);
    s->pg.pq.clear(result);
    return out->schema > 0 ? KN_OK : kn_fail(err, KN_IO, "%s: the new schema does not exist", s->pg.name);
}

kn_status kn_postgres_committed(bool *out, kn_context *ctx, const char *name, uint64_t schema, kn_error *err)
{
    kn_pg     pg = {0};
    PGresult *result = NULL;
    char      number[24];
    snprintf(number, sizeof number, "%llu", (unsigned long long)schema);
    kn_status         st = kn_pg_open(&pg, ctx, name, NULL, err);
    const char *const parameters[] = {pg.schema, number, pg.table};
    static const char of_schema[] = "SELECT 1 FROM pg_catalog.pg_namespace WHERE nspname = $1 AND oid::text = $2";
    static const char of_table[] = "SELECT 1 FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = "
                                   "c.relnamespace WHERE n.nspname = $1 AND c.oid::text = $2 AND c.relname = $3";
    if (st == KN_OK) st = kn_pg_query(&pg, &result, pg.table ? of_table : of_schema, parameters, pg.table ? 3 : 2, err);
    *out = st == KN_OK && pg.pq.ntuples(result) == 1;
    if (result) pg.pq.clear(result);
    kn_pg_close(&pg);
    return st;
}

kn_status kn_pg_commit(kn_pg *pg, kn_error *err)
{
    PGresult *result = pg->pq.exec(pg->conn, "COMMIT");
    kn_status status = KN_OK;
    if (!result || pg->pq.resultStatus(result) != PGRES_COMMAND_OK)
        status = kn_pg_fail(pg, result, err);
    else if (strcmp(pg->pq.cmdStatus(result), "COMMIT") != 0) /* a transaction that had failed */
        status = kn_fail(err, KN_IO, "%s: the server rolled the release back", pg->name);
    pg->pq.clear(result);
    return status;
}

static kn_status sink_commit(void *state, kn_error *err)
{
    pg_sink  *s = state;
    kn_status status = kn_pg_commit(&s->pg, err);
    sink_abort(s);
    return status;
}

static kn_status begin(pg_sink *s, kn_error *err)
{
    kn_buffer sql;
    if (!s->pg.schema)
        return kn_fail(err, KN_USAGE, "%s: name the new schema: postgresql://.../database#SCHEMA", s->pg.name);
    KN_TRY(kn_pg_run(&s->pg, "BEGIN; " KN_PG_IN_ORDER, err));
    kn_buffer_init(&sql, s->pg.ctx);
    kn_buffer_add(&sql, "CREATE SCHEMA ");
    kn_sql_name(&sql, s->pg.schema);
    return kn_pg_run_buffer(&s->pg, &sql, PGRES_COMMAND_OK, err);
}

kn_status kn_postgres_sink(kn_database_sink *out, kn_context *ctx, const char *name, const char *schema, kn_error *err)
{
    pg_sink *s = kn_alloc_zero(ctx, sizeof *s);
    if (!s) return kn_fail_memory(err, ctx, "writing a database");
    kn_buffer_init(&s->lines, ctx);
    kn_status status = kn_pg_open(&s->pg, ctx, name, schema, err);
    if (status == KN_OK) status = begin(s, err);
    if (status != KN_OK) {
        sink_abort(s);
        return status;
    }
    *out = (kn_database_sink){s,          NULL, sink_table, sink_row,  sink_table_end, NULL, sink_cells, sink_commit,
                              sink_abort, NULL, NULL,       sink_sync, sink_abort,     NULL, NULL};
    return KN_OK;
}
