/* kn_postgres_read.c: a schema of a PostgreSQL database → a database. Interface: kn_postgres.h.
 *
 * One read-only transaction at isolation level repeatable read sees all tables at one moment. Keys come from pg_constraint;
 * rows through COPY (SELECT ...) TO STDOUT, so that partitioned tables (and views, where the release file lists them) are
 * read like any other. COPY's text form is taken apart in the buffer that libpq gives.
 *
 * Cost: one pass over each table, on one thread.
 */
#include <string.h>

#include "kn_alloc.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_postgres_internal.h"

/* ---- The catalog ---- */

static bool flag(const PGresult *result, int row, int column)
{
    return PQgetvalue(result, row, column)[0] == 't';
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
    for (int i = 0; i < PQntuples(result) && ok; i++)
        ok = kn_catalog_add_column(c, table, PQgetvalue(result, i, 0), PQgetvalue(result, i, 1), flag(result, i, 2),
                                   flag(result, i, 3)) >= 0;
    PQclear(result);
    return ok ? KN_OK : kn_fail_memory(err, pg->ctx, pg->name);
}

/* Rows of a constraint follow each other, in the order of its columns. A target in another schema gets its name in front,
 * so that it is never taken for a table of this one. */
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
    for (int i = 0; i < PQntuples(result) && ok; i++) {
        const char *column = PQgetvalue(result, i, 2);
        if (flag(result, i, 1)) {
            ok = kn_catalog_add_key(c, table, column) >= 0;
            continue;
        }
        if (strcmp(last, PQgetvalue(result, i, 0)) != 0) link = kn_catalog_add_link(c, table, PQgetvalue(result, i, 3));
        last = PQgetvalue(result, i, 0);
        ok = link >= 0 && kn_catalog_add_link_column(c, table, link, column, PQgetvalue(result, i, 4)) >= 0;
    }
    PQclear(result);
    return ok ? KN_OK : kn_fail_memory(err, pg->ctx, pg->name);
}

kn_status kn_pg_find_schema(kn_pg *pg, const char *said, kn_error *err)
{
    if (!said) said = pg->schema;
    PGresult *result = NULL;
    char     *found = NULL;
    KN_TRY(kn_pg_query(pg, &result,
                       "SELECT nspname FROM pg_catalog.pg_namespace WHERE nspname = coalesce($1::text, "
                       "pg_catalog.current_schema())",
                       &said, 1, err));
    bool there = PQntuples(result) == 1;
    if (there) found = kn_strndup(pg->ctx, PQgetvalue(result, 0, 0), strlen(PQgetvalue(result, 0, 0)));
    PQclear(result);
    if (!there) return kn_fail(err, KN_INPUT, "%s: there is no schema of that name", pg->name);
    if (!found) return kn_fail_memory(err, pg->ctx, pg->name);
    kn_free(pg->schema);
    pg->schema = found;
    return KN_OK;
}

static kn_status list(void *state, kn_catalog *c, const kn_database_options *options, kn_error *err)
{
    static const char sql[] =
        "SELECT c.oid, c.relname, c.relkind IN ('r', 'p') FROM pg_catalog.pg_class c JOIN "
        "pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relkind IN "
        "('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition ORDER BY c.relname COLLATE \"C\"";
    kn_pg    *pg = state;
    PGresult *result = NULL;
    kn_status status = KN_OK;
    KN_TRY(kn_pg_find_schema(pg, options->schema, err));
    const char *schema = pg->schema;
    KN_TRY(kn_pg_query(pg, &result, sql, &schema, 1, err));
    for (int i = 0; i < PQntuples(result) && status == KN_OK; i++) {
        const char *name = PQgetvalue(result, i, 1);
        if (!kn_catalog_wanted(options, name) || (!flag(result, i, 2) && options->table_count == 0)) continue;
        int table = kn_catalog_add_table(c, name);
        status = table >= 0 ? list_columns(pg, c, table, PQgetvalue(result, i, 0), err)
                            : kn_fail_memory(err, pg->ctx, pg->name);
        if (status == KN_OK) status = list_keys(pg, c, table, PQgetvalue(result, i, 0), err);
    }
    PQclear(result);
    return status;
}

/* ---- Rows ---- */

/* What a letter behind a backslash stands for. */
static char unescape(char c)
{
    switch (c) {
    case 'b': return '\b';
    case 'f': return '\f';
    case 'n': return '\n';
    case 'r': return '\r';
    case 't': return '\t';
    case 'v': return '\v';
    default: return c;
    }
}

/* One cell from `at`, taken apart in place; returns where the next begins. */
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

static kn_status feed_line(kn_pg *pg, kn_feed *feed, char *line, int size, kn_error *err)
{
    const char *end = line + size;
    while (end > line && end[-1] == '\n') end--;
    char *at = line;
    for (int c = 0; c < feed->column_count; c++) {
        kn_string cell = {"", 0};
        if (at > end) return kn_fail(err, KN_IO, "%s: the server sent a row that is too short", pg->name);
        at = take_cell(at, end, &cell);
        KN_TRY(kn_feed_cell(feed, cell, err));
    }
    return KN_OK;
}

/* The end of a COPY: what the server says of it. */
static kn_status copy_end(kn_pg *pg, kn_error *err)
{
    kn_status status = KN_OK;
    for (PGresult *result; (result = PQgetResult(pg->conn)) != NULL;) {
        if (status == KN_OK && PQresultStatus(result) != PGRES_COMMAND_OK) status = kn_pg_fail(pg, result, err);
        PQclear(result);
    }
    if (status == KN_OK && PQstatus(pg->conn) != CONNECTION_OK)
        status = kn_fail(err, KN_IO, "%s: the server went away", pg->name);
    return status;
}

static kn_status copy_rows(kn_pg *pg, kn_feed *feed, kn_error *err)
{
    for (;;) {
        char     *line = NULL;
        int       size = PQgetCopyData(pg->conn, &line, 0);
        kn_status status = KN_OK;
        if (size == -1) return copy_end(pg, err);
        if (size < 0) return kn_pg_fail(pg, NULL, err);
        status = feed_line(pg, feed, line, size, err);
        PQfreemem(line);
        if (status != KN_OK) return status;
    }
}

static kn_status copy_begin(kn_pg *pg, const kn_catalog_table *t, kn_error *err)
{
    kn_buffer sql;
    kn_buffer_init(&sql, pg->ctx);
    for (int c = 0; c < t->column_count; c++) {
        kn_buffer_add(&sql, c ? ", " : "COPY (SELECT ");
        kn_pg_name(&sql, t->columns[c].name);
    }
    kn_buffer_add(&sql, " FROM ");
    kn_pg_name(&sql, pg->schema);
    kn_buffer_char(&sql, '.');
    kn_pg_name(&sql, t->name);
    kn_buffer_add(&sql, ") TO STDOUT");
    const char *text = kn_buffer_text(&sql);
    PGresult   *result = text ? PQexec(pg->conn, text) : NULL;
    kn_status   status = KN_OK;
    if (!text)
        status = kn_fail_memory(err, pg->ctx, pg->name);
    else if (!result || PQresultStatus(result) != PGRES_COPY_OUT)
        status = kn_pg_fail(pg, result, err);
    PQclear(result);
    kn_buffer_free(&sql);
    return status;
}

static kn_status read_table(void *state, kn_table **out, const kn_catalog_table *t, const kn_builder_type *types,
                            const kn_database_options *options, kn_error *err)
{
    kn_pg  *pg = state;
    kn_feed feed;
    KN_TRY(kn_feed_open(&feed, pg->ctx, pg->name, t, err));
    kn_status status = copy_begin(pg, t, err);
    if (status == KN_OK) status = copy_rows(pg, &feed, err);
    if (status == KN_OK) return kn_feed_finish(out, &feed, types, options, err);
    kn_feed_abort(&feed);
    return status;
}

kn_status kn_pg_read(kn_database **out, kn_pg *pg, const kn_database_options *options, kn_error *err)
{
    kn_database_source source = {pg, pg->name, list, read_table};
    return kn_database_read_source(out, pg->ctx, &source, options, err);
}

kn_status kn_postgres_read(kn_database **out, kn_context *ctx, const char *name, const kn_database_options *options,
                           kn_error *err)
{
    kn_pg pg;
    *out = NULL;
    KN_TRY(kn_pg_open(&pg, ctx, name, NULL, err));
    kn_status status = kn_pg_run(&pg, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", err);
    if (status == KN_OK) status = kn_pg_read(out, &pg, options, err);
    kn_pg_close(&pg);
    return status;
}
