/* kn_postgres_table.c: one table, view or query of a PostgreSQL server as the bytes of a CSV file. Interface:
 * kn_table_stream.h, kn_postgres_internal.h.
 *
 * In one read-only transaction at isolation level repeatable read; a release is made from one snapshot and verified
 * against the same. Rows come through COPY. A query runs by the extended protocol, which accepts one statement.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "kn_alloc.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_postgres_internal.h"

typedef struct rows {
    kn_pg      *pg;
    bool        own;
    char       *name; /* for messages                    */
    kn_buffer   head; /* the names, not yet returned     */
    bool        open; /* rows may still come             */
    kn_csv_rows csv;
} rows;

static void close_rows(void *state)
{
    rows *r = state;
    char *line = NULL;
    while (r->open && !r->own && r->pg->pq.getCopyData(r->pg->conn, &line, 0) > 0) r->pg->pq.freemem(line);
    if (r->open && !r->own) (void)!kn_pg_copy_end(r->pg, NULL);
    if (r->own) {
        kn_pg_close(r->pg);
        kn_free(r->pg);
    }
    kn_buffer_free(&r->head);
    KN_FREE(r->name, r);
}

static kn_status more(void *state, kn_buffer *to, bool *ended, kn_error *err)
{
    rows        *r = state;
    kn_pg       *pg = r->pg;
    kn_cell_sink sink = {.state = &r->csv, .cell = kn_csv_rows_cell};
    r->csv.to = to;
    kn_buffer_append(to, r->head.data, r->head.size);
    kn_buffer_clear(&r->head);
    while (to->size < KN_TABLE_CHUNK) {
        char *line = NULL;
        int   size = pg->pq.getCopyData(pg->conn, &line, 0);
        *ended = size == -1;
        r->open = size >= 0;
        if (size == -1) return kn_pg_copy_end(pg, err);
        if (size < 0) return kn_pg_fail(pg, NULL, err);
        kn_status status = kn_pg_take_line(pg, r->csv.columns, &sink, line, size, err);
        pg->pq.freemem(line);
        if (status != KN_OK) return status;
    }
    return KN_OK;
}

/* ---- A table ---- */

static kn_status begin_table(rows *r, kn_error *err)
{
    kn_database_options options = KN_DATABASE_OPTIONS_INIT;
    kn_spec_table       wanted = {.name = r->pg->table};
    kn_catalog          catalog;
    options.tables = &wanted;
    options.table_count = 1;
    kn_catalog_init(&catalog, r->pg->ctx);
    kn_status               status = kn_pg_list(r->pg, &catalog, &options, err);
    const kn_catalog_table *table = catalog.table_count == 1 ? &catalog.tables[0] : NULL;
    if (status == KN_OK && !table)
        status = kn_fail(err, KN_INPUT, "%s: there is no table or view of that name, or you may not see it", r->name);
    if (status == KN_OK && table->column_count == 0)
        status = kn_fail(err, KN_INPUT, "%s: the table has no columns", r->name);
    r->csv.columns = table ? table->column_count : 0;
    for (int c = 0; status == KN_OK && c < table->column_count; c++)
        status = kn_csv_rows_cell(&r->csv, kn_string_of(table->columns[c].name), err);
    if (status == KN_OK) status = kn_pg_copy_begin(r->pg, table, err);
    kn_catalog_free(&catalog);
    return status;
}

/* ---- A query ---- */

/* One statement, whose result has the given status; *out is freed by pq.clear. */
static kn_status run_one(kn_pg *pg, PGresult **out, const char *before, const char *behind, ExecStatusType wanted,
                         kn_error *err)
{
    kn_buffer sql;
    size_t    size = strlen(pg->query);
    while (size > 0 && strchr(" ;\n\t\r", pg->query[size - 1])) size--;
    kn_buffer_init(&sql, pg->ctx);
    kn_buffer_add(&sql, before);
    kn_buffer_append(&sql, pg->query, size);
    kn_buffer_add(&sql, behind); /* it begins with a line end: the query may end in a comment */
    const char *text = kn_buffer_text(&sql);
    *out = text ? pg->pq.execParams(pg->conn, text, 0, NULL, NULL, NULL, NULL, 0) : NULL;
    pg->begins = (int)strlen(before);
    kn_status status = !text                                         ? kn_fail_memory(err, pg->ctx, pg->name)
                       : *out && pg->pq.resultStatus(*out) == wanted ? KN_OK
                                                                     : kn_pg_fail(pg, *out, err);
    pg->begins = 0;
    kn_buffer_free(&sql);
    return status;
}

static kn_status begin_query(rows *r, kn_error *err)
{
    kn_pg    *pg = r->pg;
    PGresult *result = NULL;
    kn_status status = run_one(pg, &result, "SELECT * FROM (", "\n) AS query LIMIT 0", PGRES_TUPLES_OK, err);
    r->csv.columns = status == KN_OK ? pg->pq.nfields(result) : 0;
    if (status == KN_OK && r->csv.columns == 0) status = kn_fail(err, KN_INPUT, "%s: it has no columns", r->name);
    for (int c = 0; status == KN_OK && c < r->csv.columns; c++)
        status = kn_csv_rows_cell(&r->csv, kn_string_of(pg->pq.fname(result, c)), err);
    pg->pq.clear(result);
    if (status != KN_OK) return status;
    status = run_one(pg, &result, "COPY (", "\n) TO STDOUT", PGRES_COPY_OUT, err);
    pg->pq.clear(result);
    return status;
}

/* ---- Interface ---- */

kn_status kn_pg_stream(kn_table_stream *out, kn_pg *pg, bool own, kn_error *err)
{
    rows *r = kn_alloc_zero(pg->ctx, sizeof *r);
    if (!r) return kn_fail_memory(err, pg->ctx, pg->name);
    kn_buffer_init(&r->head, pg->ctx);
    r->pg = pg;
    r->name = pg->query ? kn_strformat(pg->ctx, "%s, the query", pg->name)
                        : kn_strformat(pg->ctx, "%s#%s.%s", pg->name, pg->schema, pg->table);
    r->csv = (kn_csv_rows){.ctx = pg->ctx, .source = r->name, .to = &r->head};
    kn_status status = r->name ? KN_OK : kn_fail_memory(err, pg->ctx, pg->name);
    if (status == KN_OK) status = pg->query ? begin_query(r, err) : begin_table(r, err);
    r->own = own && status == KN_OK;
    r->open = status == KN_OK;
    if (status == KN_OK)
        *out = (kn_table_stream){r, r->name, more, close_rows};
    else
        close_rows(r);
    return status;
}

kn_status kn_postgres_stream(kn_table_stream *out, kn_context *ctx, const char *name, const char *snapshot,
                             kn_error *err)
{
    kn_pg *pg = kn_alloc_zero(ctx, sizeof *pg);
    if (!pg) return kn_fail_memory(err, ctx, "a connection");
    kn_status status = kn_pg_open(pg, ctx, name, NULL, err);
    if (status == KN_OK) status = kn_pg_begin(pg, snapshot, err);
    if (status == KN_OK) status = kn_pg_stream(out, pg, true, err);
    if (status == KN_OK) return KN_OK;
    kn_pg_close(pg);
    kn_free(pg);
    return status;
}
