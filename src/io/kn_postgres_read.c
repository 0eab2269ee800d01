/* kn_postgres_read.c: the tables of a PostgreSQL schema as texts. Interface: kn_postgres.h, kn_cells.h; one table as the
 * bytes of a CSV file is in kn_postgres_table.c.
 *
 * One read-only transaction at isolation level repeatable read sees all tables at one moment. Keys come from
 * pg_constraint; rows through COPY (SELECT ...) TO STDOUT, so that partitioned tables (and views, where the release
 * file lists them) are read like any other. COPY's text form is parsed in libpq's buffer.
 *
 * Cost: one pass over each table, on one thread.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_postgres_internal.h"
#include "kn_sql.h"

/* ---- The catalog ---- */

static bool flag(const kn_pg *pg, const PGresult *result, int row, int column)
{
    return pg->pq.getvalue(result, row, column)[0] == 't';
}

static kn_status list_columns(kn_pg *pg, kn_catalog *c, int table, const char *oid, kn_error *err)
{
    static const char sql[] = "SELECT a.attname, pg_catalog.format_type(a.atttypid, a.atttypmod), a.attnotnull, "
                              "t.typcategory = 'S' FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_type t ON t.oid = "
                              "a.atttypid WHERE a.attrelid = $1::oid AND a.attnum > 0 AND NOT a.attisdropped ORDER BY "
                              "a.attnum";
    PGresult         *result = NULL;
    bool              ok = true;
    KN_TRY(kn_pg_query(pg, &result, sql, &oid, 1, err));
    for (int i = 0; i < pg->pq.ntuples(result) && ok; i++)
        ok = kn_catalog_add_column(c, table, pg->pq.getvalue(result, i, 0), pg->pq.getvalue(result, i, 1),
                                   flag(pg, result, i, 2), flag(pg, result, i, 3)) >= 0;
    pg->pq.clear(result);
    return ok ? KN_OK : kn_fail_memory(err, pg->ctx, pg->name);
}

/* Rows of a constraint follow each other, in the order of its columns. A target in another schema is prefixed with
 * its name, so that it is never mistaken for a table of this one. */
static kn_status list_keys(kn_pg *pg, kn_catalog *c, int table, const char *oid, kn_error *err)
{
    static const char sql[] =
        "SELECT con.oid, con.contype = 'p', a.attname, CASE WHEN f.relnamespace = r.relnamespace THEN f.relname ELSE "
        "n.nspname || '.' || f.relname END, b.attname FROM pg_catalog.pg_constraint con "
        "JOIN pg_catalog.pg_class r ON r.oid = con.conrelid "
        "CROSS JOIN LATERAL pg_catalog.generate_subscripts(con.conkey, 1) AS k(i) "
        "JOIN pg_catalog.pg_attribute a ON a.attrelid = con.conrelid AND a.attnum = con.conkey[k.i] "
        "LEFT JOIN pg_catalog.pg_class f ON f.oid = con.confrelid "
        "LEFT JOIN pg_catalog.pg_namespace n ON n.oid = f.relnamespace "
        "LEFT JOIN pg_catalog.pg_attribute b ON b.attrelid = con.confrelid AND b.attnum = con.confkey[k.i] "
        "WHERE con.conrelid = $1::oid AND con.contype IN ('p', 'f') AND con.conparentid = 0 "
        "ORDER BY con.contype DESC, con.conname COLLATE \"C\", con.oid, k.i";
    PGresult   *result = NULL;
    bool        ok = true;
    int         link = -1;
    const char *last = "";
    KN_TRY(kn_pg_query(pg, &result, sql, &oid, 1, err));
    for (int i = 0; i < pg->pq.ntuples(result) && ok; i++) {
        const char *column = pg->pq.getvalue(result, i, 2);
        if (flag(pg, result, i, 1)) {
            ok = kn_catalog_add_key(c, table, column) >= 0;
            continue;
        }
        if (strcmp(last, pg->pq.getvalue(result, i, 0)) != 0)
            link = kn_catalog_add_link(c, table, pg->pq.getvalue(result, i, 3));
        last = pg->pq.getvalue(result, i, 0);
        ok = link >= 0 && kn_catalog_add_link_column(c, table, link, column, pg->pq.getvalue(result, i, 4)) >= 0;
    }
    pg->pq.clear(result);
    return ok ? KN_OK : kn_fail_memory(err, pg->ctx, pg->name);
}

/* The schema by name: `said`, else the connection's, else the first of the search path. */
static kn_status find_schema(kn_pg *pg, const char *said, kn_error *err)
{
    if (!said) said = pg->schema;
    PGresult *result = NULL;
    char     *found = NULL;
    KN_TRY(kn_pg_query(pg, &result,
                       "SELECT nspname FROM pg_catalog.pg_namespace WHERE nspname = coalesce($1::text, "
                       "pg_catalog.current_schema())",
                       &said, 1, err));
    bool there = pg->pq.ntuples(result) == 1;
    if (there) found = kn_strndup(pg->ctx, pg->pq.getvalue(result, 0, 0), strlen(pg->pq.getvalue(result, 0, 0)));
    pg->pq.clear(result);
    if (!there) return kn_fail(err, KN_INPUT, "%s: there is no schema of that name", pg->name);
    if (!found) return kn_fail_memory(err, pg->ctx, pg->name);
    kn_free(pg->schema);
    pg->schema = found;
    return KN_OK;
}

kn_status kn_pg_list(void *state, kn_catalog *c, const kn_database_options *options, kn_error *err)
{
    static const char sql[] =
        "SELECT c.oid, c.relname, c.relkind IN ('r', 'p') AND NOT c.relispartition FROM pg_catalog.pg_class c JOIN "
        "pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relkind IN "
        "('r', 'p', 'v', 'm', 'f') ORDER BY c.relname COLLATE \"C\"";
    kn_pg    *pg = state;
    PGresult *result = NULL;
    kn_status status = KN_OK;
    KN_TRY(find_schema(pg, options->schema, err));
    const char *schema = pg->schema;
    KN_TRY(kn_pg_query(pg, &result, sql, &schema, 1, err));
    for (int i = 0; i < pg->pq.ntuples(result) && status == KN_OK; i++) {
        const char *name = pg->pq.getvalue(result, i, 1);
        if (!kn_catalog_wanted(options, name) || (!flag(pg, result, i, 2) && options->table_count == 0)) continue;
        int table = kn_catalog_add_table(c, name);
        status = table >= 0 ? list_columns(pg, c, table, pg->pq.getvalue(result, i, 0), err)
                            : kn_fail_memory(err, pg->ctx, pg->name);
        if (status == KN_OK) status = list_keys(pg, c, table, pg->pq.getvalue(result, i, 0), err);
    }
    pg->pq.clear(result);
    if (status == KN_OK && c->table_count == 0 && options->table_count == 0 && !options->schema)
        return kn_fail(err, KN_INPUT, "%s: there are no tables in schema \"%s\"; #SCHEMA at the end names another",
                       pg->name, schema);
    return status;
}

/* ---- Rows ---- */

/* What a letter after a backslash means. */
static char unescape(char c)
{
    static const char letters[] = "bfnrtv", meanings[] = "\b\f\n\r\t\v";
    const char       *found = c ? strchr(letters, c) : NULL;
    return found ? meanings[found - letters] : c;
}

/* One cell from `at`, decoded in place; returns where the next begins. */
static char *take_cell(char *at, const char *end, kn_string *out)
{
    char *from = at, *to = at;
    if (end - at >= 2 && at[0] == '\\' && at[1] == 'N') {
        *out = (kn_string){NULL, 0};
        return at + 2 < end ? at + 3 : at + 2;
    }
    while (from < end && *from != '\t') {
        if (*from == '\\' && from + 1 < end) {
            *to++ = unescape(from[1]);
            from += 2;
        } else {
            *to++ = *from++;
        }
    }
    *out = (kn_string){at, (size_t)(to - at)};
    return from < end ? from + 1 : from;
}

kn_status kn_pg_take_line(kn_pg *pg, int columns, const kn_cell_sink *sink, char *line, int size, kn_error *err)
{
    const char *end = line + size;
    while (end > line && end[-1] == '\n') end--;
    char *at = line;
    for (int c = 0; c < columns; c++) {
        kn_string cell = {"", 0};
        if (at > end) return kn_fail(err, KN_IO, "%s: the server sent a row that is too short", pg->name);
        at = take_cell(at, end, &cell);
        KN_TRY(sink->cell(sink->state, cell, err));
    }
    return KN_OK;
}

kn_status kn_pg_copy_begin(kn_pg *pg, const kn_catalog_table *t, kn_error *err)
{
    kn_buffer sql;
    kn_buffer_init(&sql, pg->ctx);
    kn_sql_columns(&sql, "COPY (SELECT ", t);
    kn_buffer_add(&sql, " FROM ");
    kn_sql_table(&sql, pg->schema, t->name);
    kn_buffer_add(&sql, ") TO STDOUT");
    return kn_pg_run_buffer(pg, &sql, PGRES_COPY_OUT, err);
}

static kn_status begin_rows(void *state, const kn_catalog_table *t, kn_error *err)
{
    return kn_pg_copy_begin(state, t, err);
}

static kn_status next_rows(void *state, const kn_catalog_table *t, const kn_cell_sink *sink, int64_t most, bool *more,
                           kn_error *err)
{
    kn_pg *pg = state;
    *more = false;
    for (int64_t i = 0; i < most; i++) {
        char *line = NULL;
        int   size = pg->pq.getCopyData(pg->conn, &line, 0);
        if (size == -1) return kn_pg_copy_end(pg, err);
        if (size < 0) return kn_pg_fail(pg, NULL, err);
        kn_status status = kn_pg_take_line(pg, t->column_count, sink, line, size, err);
        pg->pq.freemem(line);
        if (status != KN_OK) return status;
    }
    *more = true;
    return KN_OK;
}

static kn_status extras(void *state, const kn_catalog *original, kn_extras_fn report, void *arg, kn_error *err)
{
    (void)original;
    return kn_pg_extras(state, report, arg, err);
}

/* ---- Sources ---- */

static void keep_open(void *state)
{
    (void)state;
}

kn_cells kn_pg_cells(kn_pg *pg)
{
    return (kn_cells){pg->ctx, pg, pg->name, kn_pg_list, begin_rows, next_rows, NULL, extras, keep_open, false};
}

/* With its own connection. */
typedef struct own {
    kn_pg    pg;
    kn_cells cells;
} own;

static void close_own(void *state)
{
    own *o = state; /* the connection stands first */
    kn_pg_close(&o->pg);
    kn_free(o);
}

kn_status kn_pg_begin(kn_pg *pg, const char *snapshot, kn_error *err)
{
    return kn_pg_begin_at(pg, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", snapshot, err);
}

kn_status kn_pg_begin_at(kn_pg *pg, const char *begin, const char *snapshot, kn_error *err)
{
    char sql[160];
    KN_TRY(kn_pg_run(pg, begin, err));
    if (snapshot) {
        if (strlen(snapshot) > 60 || snapshot[strspn(snapshot, "0123456789ABCDEFabcdef-")])
            return kn_fail(err, KN_USAGE, "%s: not a snapshot of a server", pg->name);
        snprintf(sql, sizeof sql, "SET TRANSACTION SNAPSHOT '%s'", snapshot);
        kn_status status = kn_pg_run(pg, sql, err);
        if (status == KN_IO || status == KN_INPUT)
            return kn_fail(err, KN_IO, "%s: the server no longer keeps the snapshot that was read", pg->name);
        if (status != KN_OK) return status;
    }
    return kn_pg_run(pg, KN_PG_IN_ORDER, err);
}

kn_status kn_postgres_cells(kn_cells **out, kn_context *ctx, const char *name, const char *snapshot, kn_error *err)
{
    own *o = kn_alloc_zero(ctx, sizeof *o);
    *out = NULL;
    if (!o) return kn_fail_memory(err, ctx, "postgresql");
    kn_status status = kn_pg_open(&o->pg, ctx, name, NULL, err);
    if (status == KN_OK) status = kn_pg_begin(&o->pg, snapshot, err);
    o->cells = kn_pg_cells(&o->pg);
    o->cells.close = close_own;
    if (status == KN_OK)
        *out = &o->cells;
    else
        close_own(o);
    return status;
}

kn_status kn_pg_export(kn_pg *pg, char *snapshot, size_t size, kn_error *err)
{
    PGresult *result = NULL;
    KN_TRY(kn_pg_begin(pg, NULL, err));
    KN_TRY(kn_pg_query(pg, &result, "SELECT pg_catalog.pg_export_snapshot()", NULL, 0, err));
    snprintf(snapshot, size, "%s", pg->pq.ntuples(result) == 1 ? pg->pq.getvalue(result, 0, 0) : "");
    pg->pq.clear(result);
    return KN_OK;
}
