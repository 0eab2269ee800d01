/* kn_postgres_target.c: one new table of a PostgreSQL server, in one transaction. Interface: kn_table_write.h.
 *
 * It is made under a name of its own and gets the target's at the end, so that a table that is replaced can be read
 * until then. Cells arrive as text; once all are there, columns of numbers get a type of numbers if that spells every
 * cell the same.
 *
 * Counted rows go to a temporary table first, with their counts and places; the server repeats each as often as it counts, in their order.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kn_alloc.h"
#include "kn_clock.h"
#include "kn_error.h"
#include "kn_names.h"
#include "kn_postgres_internal.h"
#include "kn_server.h"
#include "kn_sql.h"
#include "kn_table_write.h"

#define ENTRIES "kanon_release" /* the temporary table of counted rows */

enum { WHO = 160 };

typedef struct target {
    kn_pg            pg;    /* its table is the new one, under its first name */
    char            *final; /* the name that it gets                         */
    bool             replace;
    int              columns;
    kn_buffer        names, lines; /* the names of the columns, each with a NUL */
    char             temporary[40];
    kn_table_opener *opener;  /* says whether rows are counted               */
    kn_string       *cells;   /* of a counted row: cells, count, place       */
    int64_t          entries; /* counted rows so far                         */
} target;

static bool counted(const target *t)
{
    return t->opener->counted;
}

static void sink_abort(void *state)
{
    target *t = state;
    kn_buffer_free(&t->names);
    kn_buffer_free(&t->lines);
    kn_pg_close(&t->pg);
    KN_FREE(t->final, t->cells, t);
}

/* ---- Rows ---- */

/* The column of places has the name of that of counts in parentheses, which no column has (kn_engine_group). */
static void add_counts(kn_buffer *sql, const char *counts)
{
    char *places = kn_strformat(sql->ctx, "(%s)", counts);
    kn_buffer_add(sql, ", ");
    kn_sql_name(sql, counts);
    kn_buffer_add(sql, " bigint, ");
    if (places)
        kn_sql_name(sql, places);
    else
        sql->failed = true;
    kn_buffer_add(sql, " bigint");
    kn_free(places);
}

static kn_status create_entries(target *t, const kn_sink_table *table, kn_error *err)
{
    kn_buffer sql;
    t->cells = kn_alloc_array(t->pg.ctx, (size_t)t->columns + 2, sizeof *t->cells);
    if (!t->cells) return kn_fail_memory(err, t->pg.ctx, t->pg.name);
    kn_status status = kn_server_temporary(&t->pg, err);
    if (status != KN_OK) {
        kn_error said = err ? *err : (kn_error)KN_ERROR_INIT;
        return kn_fail(err, status, "%s: %s", t->pg.name, said.message);
    }
    kn_buffer_init(&sql, t->pg.ctx);
    kn_buffer_add(&sql, "CREATE TEMPORARY TABLE " ENTRIES " (");
    for (int c = 0; c < t->columns; c++) {
        kn_buffer_add(&sql, c > 0 ? ", " : "");
        kn_sql_name(&sql, table->columns[c].name);
        kn_buffer_add(&sql, " text");
    }
    add_counts(&sql, table->columns[t->columns].name);
    kn_buffer_add(&sql, ") ON COMMIT DROP");
    KN_TRY(kn_pg_run_buffer(&t->pg, &sql, PGRES_COMMAND_OK, err));
    kn_buffer_add(&sql, "COPY pg_temp." ENTRIES " FROM STDIN");
    return kn_pg_run_buffer(&t->pg, &sql, PGRES_COPY_IN, err);
}

static void add_text(kn_buffer *sql, const kn_sink_column *column)
{
    (void)column;
    kn_buffer_add(sql, " text");
}

static kn_status sink_table(void *state, const kn_sink_table *table, kn_error *err)
{
    target       *t = state;
    kn_sink_table named = *table;
    kn_buffer     sql;
    named.name = t->temporary;
    t->columns = table->column_count - counted(t);
    for (int c = 0; c < table->column_count; c++)
        kn_buffer_append(&t->names, table->columns[c].name, strlen(table->columns[c].name) + 1);
    if (t->names.failed) return kn_fail_memory(err, t->pg.ctx, t->pg.name);
    if (counted(t)) return create_entries(t, table, err);
    kn_buffer_init(&sql, t->pg.ctx);
    kn_sql_create_table(&sql, t->pg.schema, &named, add_text);
    KN_TRY(kn_pg_run_buffer(&t->pg, &sql, PGRES_COMMAND_OK, err));
    kn_buffer_add(&sql, "COPY ");
    kn_sql_table(&sql, t->pg.schema, t->temporary);
    kn_buffer_add(&sql, " FROM STDIN");
    return kn_pg_run_buffer(&t->pg, &sql, PGRES_COPY_IN, err);
}

static kn_status sink_row(void *state, const kn_string *cells, kn_error *err)
{
    target *t = state;
    char    place[24];
    if (counted(t)) {
        memcpy(t->cells, cells, ((size_t)t->columns + 1) * sizeof *cells);
        int size = snprintf(place, sizeof place, "%lld", (long long)t->entries++);
        t->cells[t->columns + 1] = (kn_string){place, (size_t)size};
    }
    kn_pg_add_line(&t->lines, counted(t) ? t->cells : cells, t->columns + (counted(t) ? 2 : 0));
    return t->lines.size > 1 << 18 || t->lines.failed ? kn_pg_send(&t->pg, &t->lines, err) : KN_OK;
}

/* ---- Types ---- */

/* Per column one letter: are all its cells integers, or numbers, in the spelling that the server gives them? */
static kn_status find_types(target *t, char *letters, kn_error *err)
{
    PGresult *result = NULL;
    kn_buffer sql;
    kn_buffer_init(&sql, t->pg.ctx);
    const char *name = t->names.data;
    for (int c = 0; c < t->columns; c++, name += strlen(name) + 1) {
        kn_buffer_add(&sql, c ? ", CASE WHEN bool_and(" : "SELECT array_to_string(ARRAY[CASE WHEN bool_and(");
        kn_sql_name(&sql, name);
        kn_buffer_add(&sql, " ~ '^(0|-?[1-9][0-9]{0,17})$') THEN 'i' WHEN bool_and(");
        kn_sql_name(&sql, name);
        kn_buffer_add(&sql, " ~ '^(0|-?[1-9][0-9]{0,17})([.][0-9]{1,18})?$') THEN 'n' ELSE 't' END");
    }
    kn_buffer_add(&sql, "], '') FROM ");
    if (counted(t))
        kn_buffer_add(&sql, "pg_temp." ENTRIES);
    else
        kn_sql_table(&sql, t->pg.schema, t->temporary);
    const char *text = kn_buffer_text(&sql);
    kn_status   status =
        text ? kn_pg_query(&t->pg, &result, text, NULL, 0, err) : kn_fail_memory(err, t->pg.ctx, t->pg.name);
    kn_buffer_free(&sql);
    if (status == KN_OK) snprintf(letters, (size_t)t->columns + 1, "%s", t->pg.pq.getvalue(result, 0, 0));
    if (result) t->pg.pq.clear(result);
    return status;
}

static const char *type_of(char letter)
{
    return letter == 'i' ? "bigint" : letter == 'n' ? "numeric" : "text";
}

static kn_status set_types(target *t, const char *letters, kn_error *err)
{
    kn_buffer   sql;
    const char *name = t->names.data;
    bool        any = false;
    kn_buffer_init(&sql, t->pg.ctx);
    kn_buffer_add(&sql, "ALTER TABLE ");
    kn_sql_table(&sql, t->pg.schema, t->temporary);
    for (int c = 0; c < t->columns; c++, name += strlen(name) + 1) {
        const char *type = type_of(letters[c]);
        if (letters[c] != 'i' && letters[c] != 'n') continue;
        kn_buffer_add(&sql, any ? ", ALTER " : " ALTER ");
        kn_sql_name(&sql, name);
        kn_buffer_format(&sql, " TYPE %s USING ", type);
        kn_sql_name(&sql, name);
        kn_buffer_format(&sql, "::%s", type);
        any = true;
    }
    if (any) return kn_pg_run_buffer(&t->pg, &sql, PGRES_COMMAND_OK, err);
    kn_buffer_free(&sql);
    return KN_OK;
}

/* ---- Counted rows ---- */

/* The entries are sorted, not the rows: a nested loop keeps their order, which the last words make certain. Rows of a table that is made
 * so, unlike those that are inserted, stand in that order. */
static kn_status repeat_entries(target *t, const char *letters, kn_error *err)
{
    const char *name = t->names.data;
    kn_buffer   sql;
    kn_buffer_init(&sql, t->pg.ctx);
    kn_buffer_add(&sql, "CREATE TABLE ");
    kn_sql_table(&sql, t->pg.schema, t->temporary);
    for (int c = 0; c < t->columns; c++, name += strlen(name) + 1) {
        kn_buffer_add(&sql, c > 0 ? ", e." : " AS SELECT e.");
        kn_sql_name(&sql, name);
        kn_buffer_format(&sql, "::%s AS ", type_of(letters[c]));
        kn_sql_name(&sql, name);
    }
    char *place = kn_strformat(t->pg.ctx, "(%s)", name);
    kn_buffer_add(&sql, " FROM (SELECT * FROM pg_temp." ENTRIES " ORDER BY ");
    kn_sql_name(&sql, place ? place : "");
    kn_buffer_add(&sql, ") AS e CROSS JOIN LATERAL pg_catalog.generate_series(1, e.");
    kn_sql_name(&sql, name);
    kn_buffer_add(&sql, ") ORDER BY e.");
    kn_sql_name(&sql, place ? place : "");
    if (!place) sql.failed = true;
    kn_free(place);
    KN_TRY(kn_pg_run_buffer(&t->pg, &sql, PGRES_COMMAND_OK, err));
    return kn_pg_run(&t->pg, "DROP TABLE pg_temp." ENTRIES, err);
}

static kn_status sink_table_end(void *state, kn_error *err)
{
    target *t = state;
    KN_TRY(kn_pg_send(&t->pg, &t->lines, err));
    if (t->pg.pq.putCopyEnd(t->pg.conn, NULL) != 1) return kn_pg_fail(&t->pg, NULL, err);
    KN_TRY(kn_pg_copy_end(&t->pg, err));
    char *letters = kn_alloc_zero(t->pg.ctx, (size_t)t->columns + 1);
    if (!letters) return kn_fail_memory(err, t->pg.ctx, t->pg.name);
    kn_status status = find_types(t, letters, err);
    if (status == KN_OK) status = counted(t) ? repeat_entries(t, letters, err) : set_types(t, letters, err);
    kn_free(letters);
    return status;
}

static kn_status open_rows(kn_table_stream *out, void *state, kn_error *err)
{
    target *t = state;
    return kn_pg_stream(out, &t->pg, false, err);
}

static kn_status put_relation(kn_buffer *to, void *state, kn_error *err)
{
    target             *t = state;
    const kn_connection c = kn_server_connection(&t->pg);
    return kn_server_release_at(to, &c, t->pg.ctx, t->pg.schema, t->temporary, err);
}

/* ---- The end ---- */

/* Others see the table's number once it is committed, and no later table of that name has it. */
static kn_status sink_sync(void *state, kn_database_place *out, kn_error *err)
{
    target           *t = state;
    PGresult         *result = NULL;
    const char *const names[] = {t->pg.schema, t->final};
    kn_buffer         sql;
    kn_buffer_init(&sql, t->pg.ctx);
    if (t->replace) {
        kn_buffer_add(&sql, "DROP TABLE IF EXISTS ");
        kn_sql_table(&sql, t->pg.schema, t->final);
        KN_TRY(kn_pg_run_buffer(&t->pg, &sql, PGRES_COMMAND_OK, err));
    }
    kn_buffer_add(&sql, "ALTER TABLE ");
    kn_sql_table(&sql, t->pg.schema, t->temporary);
    kn_buffer_add(&sql, " RENAME TO ");
    kn_sql_name(&sql, t->final);
    KN_TRY(kn_pg_run_buffer(&t->pg, &sql, PGRES_COMMAND_OK, err));
    KN_TRY(kn_pg_query(&t->pg, &result,
                       "SELECT c.oid FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = "
                       "c.relnamespace WHERE n.nspname = $1 AND c.relname = $2",
                       names, 2, err));
    if (t->pg.pq.ntuples(result) == 1) out->schema = strtoull(t->pg.pq.getvalue(result, 0, 0), NULL, 10);
    t->pg.pq.clear(result);
    return out->schema > 0 ? KN_OK : kn_fail(err, KN_IO, "%s: the new table does not exist", t->pg.name);
}

static kn_status sink_commit(void *state, kn_error *err)
{
    target   *t = state;
    kn_status status = kn_pg_commit(&t->pg, err);
    sink_abort(t);
    return status;
}

/* ---- The beginning ---- */

/* The kind, server, database and table of a connection; empty: there is no such table. The kind 'i' is that of a table
 * with parts, or that is one, as a partition or by inheritance: who replaces it replaces rows of another, too. */
static kn_status identify(kn_pg *pg, const char *table, char out[WHO], kn_error *err)
{
    PGresult         *result = NULL;
    const char *const names[] = {pg->schema, table};
    KN_TRY(kn_pg_query(pg, &result,
                       "SELECT CASE WHEN EXISTS (SELECT FROM pg_catalog.pg_inherits i WHERE c.oid IN (i.inhrelid, "
                       "i.inhparent)) THEN 'i' ELSE c.relkind::text END || ' ' || "
                       "pg_catalog.pg_postmaster_start_time() || ' ' || "
                       "pg_catalog.current_database() || ' ' || c.oid FROM pg_catalog.pg_class c JOIN "
                       "pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relname = $2",
                       names, 2, err));
    snprintf(out, WHO, "%s", pg->pq.ntuples(result) == 1 ? pg->pq.getvalue(result, 0, 0) : "");
    pg->pq.clear(result);
    return KN_OK;
}

static kn_status check_inputs(target *t, const kn_table_target *wanted, const char *who, kn_error *err)
{
    for (int i = 0; i < wanted->input_count; i++) {
        char  other[WHO] = "";
        kn_pg pg = {0};
        if (!kn_name_server(wanted->inputs[i])) continue;
        kn_status status = kn_pg_open(&pg, t->pg.ctx, wanted->inputs[i], NULL, err);
        if (status == KN_OK && pg.table) status = identify(&pg, pg.table, other, err);
        bool query = status == KN_OK && pg.query;
        kn_pg_close(&pg);
        KN_TRY(status);
        if (query)
            return kn_fail(err, KN_USAGE,
                           "the output would replace a table, and the input is a query, which may read "
                           "it; name another output, or remove the table first");
        if (strcmp(who, other) == 0)
            return kn_fail(err, KN_USAGE, "the output would replace the input; name another table");
    }
    return KN_OK;
}

static kn_status check_schema(target *t, kn_error *err)
{
    PGresult         *result = NULL;
    const char *const names[] = {t->pg.schema};
    KN_TRY(kn_pg_query(&t->pg, &result,
                       "SELECT pg_catalog.has_schema_privilege(oid, 'CREATE') FROM pg_catalog.pg_namespace WHERE "
                       "nspname = $1",
                       names, 1, err));
    bool there = t->pg.pq.ntuples(result) == 1, may = there && t->pg.pq.getvalue(result, 0, 0)[0] == 't';
    t->pg.pq.clear(result);
    if (!there)
        return kn_fail(err, KN_INPUT, "%s: there is no schema \"%s\"; create it first", t->pg.name, t->pg.schema);
    return may ? KN_OK
               : kn_fail(err, KN_IO, "%s: this role may not create tables in schema \"%s\" (GRANT CREATE ON SCHEMA)",
                         t->pg.name, t->pg.schema);
}

static kn_status begin(target *t, const kn_table_target *wanted, kn_error *err)
{
    char who[WHO] = "";
    if (!t->pg.table)
        return kn_fail(err, KN_USAGE, "%s: a release goes to a table, not to a query: postgresql://...#SCHEMA.TABLE",
                       t->pg.name);
    KN_TRY(check_schema(t, err));
    KN_TRY(identify(&t->pg, t->pg.table, who, err));
    if (*who && !wanted->replace)
        return kn_fail(err, KN_USAGE, "%s#%s.%s: exists already; --replace replaces it, or name another table",
                       t->pg.name, t->pg.schema, t->pg.table);
    if (*who == 'i')
        return kn_fail(err, KN_USAGE, "%s#%s.%s: exists, and has parts or is a part of another table; name another",
                       t->pg.name, t->pg.schema, t->pg.table);
    if (*who && *who != 'r' && *who != 'p')
        return kn_fail(err, KN_USAGE, "%s#%s.%s: exists and is not a table; name another", t->pg.name, t->pg.schema,
                       t->pg.table);
    if (*who) KN_TRY(check_inputs(t, wanted, who, err));
    snprintf(t->temporary, sizeof t->temporary, "kanon-%ld-%llx", (long)getpid(), (unsigned long long)kn_clock_ns());
    t->final = t->pg.table;
    t->pg.table = kn_strndup(t->pg.ctx, t->temporary, strlen(t->temporary));
    if (!t->pg.table) return kn_fail_memory(err, t->pg.ctx, t->pg.name);
    return kn_pg_run(&t->pg, "BEGIN ISOLATION LEVEL REPEATABLE READ; " KN_PG_IN_ORDER "; " KN_PG_NO_COMPILING, err);
}

kn_status kn_postgres_table_sink(kn_database_sink *out, kn_table_opener *opener, kn_context *ctx, const char *name,
                                 const kn_table_target *wanted, kn_error *err)
{
    target *t = kn_alloc_zero(ctx, sizeof *t);
    if (!t) return kn_fail_memory(err, ctx, "writing a table");
    kn_buffer_init(&t->names, ctx);
    kn_buffer_init(&t->lines, ctx);
    t->replace = wanted->replace;
    kn_status status = kn_pg_open(&t->pg, ctx, name, NULL, err);
    if (status == KN_OK) status = begin(t, wanted, err);
    if (status != KN_OK) {
        sink_abort(t);
        return status;
    }
    *opener = (kn_table_opener){
        .state = t, .open = open_rows, .connection = kn_server_connection(&t->pg), .relation = put_relation};
    t->opener = opener;
    *out = (kn_database_sink){.state = t,
                              .table = sink_table,
                              .row = sink_row,
                              .table_end = sink_table_end,
                              .commit = sink_commit,
                              .abort = sink_abort,
                              .sync = sink_sync,
                              .detach = sink_abort};
    return KN_OK;
}
