/* sql/server.c: statements on the tables of a PostgreSQL server, through libpq. Interface: kn_server.h.
 *
 * A query runs within a savepoint that is read-only, so that no function of the user's tables or queries can change anything in a
 * transaction that is to be committed; it is sent by the extended protocol, which accepts one statement. A table that is handed in is a
 * temporary one, filled by COPY, and gone at the end of the transaction.
 *
 * The text of a cell is made by the output function of its type, as COPY does; a cast to text would write some types otherwise (truth
 * values, padded texts, addresses). Texts are compared by their bytes: a collation may take different ones for equal.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_server.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_arrow.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_names.h"
#include "kn_postgres_internal.h"
#include "kn_sql.h"
#include "kn_table_name.h"

#define WHAT "a server's table"
#define LEAVE "ROLLBACK TO SAVEPOINT kanon_read; RELEASE SAVEPOINT kanon_read"

enum { INT8 = 20 };

/* Types whose cast to text is what their output function writes, and is quicker: int8, int2, int4, text, float4, float8, varchar, date, time,
 * timestamp, timestamptz, interval, timetz, numeric, uuid. No version of the server changes these numbers. */
static const Oid plain_types[] = {INT8, 21, 23, 25, 700, 701, 1043, 1082, 1083, 1114, 1184, 1186, 1266, 1700, 2950};

bool kn_server_named(const char *name)
{
    return kn_table_kind_of(name) == KN_TABLE_SERVER;
}

bool kn_server_same(const char *a, const char *b)
{
    kn_string x = kn_table_name_split(a).source, y = kn_table_name_split(b).source;
    return kn_server_named(a) && kn_server_named(b) && kn_string_equal(x, y);
}

/* Behind the server's name, which whoever asked puts in front. */
static int code_of(const kn_pg *pg, kn_status st, const kn_error *said, char *message, size_t room)
{
    size_t size = pg->name ? strlen(pg->name) : 0;
    bool   named = size > 0 && strncmp(said->message, pg->name, size) == 0 && said->message[size] == ':';
    if (st == KN_OK) return 0;
    snprintf(message, room, "%s", said->message + (named ? size + 2 : 0));
    return st == KN_MEMORY ? ENOMEM : st == KN_CANCELLED ? ECANCELED : st == KN_IO ? EIO : EINVAL;
}

/* ---- Statements ---- */

static int run(void *state, const char *sql, char *message, size_t room)
{
    kn_pg    *pg = state;
    kn_error  said = KN_ERROR_INIT;
    kn_status st = kn_server_temporary(pg, &said); /* these statements make and remove temporary tables */
    if (st == KN_OK) st = kn_pg_run(pg, sql, &said);
    return code_of(pg, st, &said, message, room);
}

static kn_status run_one(kn_pg *pg, PGresult **out, const char *before, const char *sql, const char *behind,
                         ExecStatusType wanted, kn_error *err)
{
    kn_buffer all;
    kn_buffer_init(&all, pg->ctx);
    kn_buffer_add(&all, before);
    kn_buffer_add(&all, sql);
    kn_buffer_add(&all, behind);
    const char *text = kn_buffer_text(&all);
    *out = text ? pg->pq.execParams(pg->conn, text, 0, NULL, NULL, NULL, NULL, 0) : NULL;
    kn_status st = !text                                         ? kn_fail_memory(err, pg->ctx, WHAT)
                   : *out && pg->pq.resultStatus(*out) == wanted ? KN_OK
                                                                 : kn_pg_fail(pg, *out, err);
    kn_buffer_free(&all);
    return st;
}

static void leave(kn_pg *pg)
{
    (void)!kn_pg_run(pg, LEAVE, NULL);
}

/* The names and kinds of a query's columns. */
static kn_status describe(kn_row_column **out, int *count, kn_pg *pg, const char *sql, kn_error *err)
{
    PGresult *result = NULL;
    kn_status st = run_one(pg, &result, "SELECT * FROM (", sql, "\n) AS q LIMIT 0", PGRES_TUPLES_OK, err);
    *count = 0;
    int columns = st == KN_OK ? pg->pq.nfields(result) : 0;
    *out = kn_alloc_array_zero(pg->ctx, (size_t)columns + 1, sizeof **out);
    if (st == KN_OK && !*out) st = kn_fail_memory(err, pg->ctx, WHAT);
    for (; st == KN_OK && *count < columns; (*count)++) {
        const char *name = pg->pq.fname(result, *count);
        (*out)[*count].name = kn_strndup(pg->ctx, name, strlen(name));
        (*out)[*count].numbers = pg->pq.ftype(result, *count) == INT8;
        if (!(*out)[*count].name) st = kn_fail_memory(err, pg->ctx, WHAT);
    }
    pg->pq.clear(result);
    return st;
}

static kn_status begin_rows(struct ArrowArrayStream *out, kn_pg *pg, const char *sql, kn_error *err)
{
    kn_row_column *columns = NULL;
    PGresult      *result = NULL;
    int            count = 0;
    kn_status      st = describe(&columns, &count, pg, sql, err);
    if (st == KN_OK) {
        st = run_one(pg, &result, "COPY (", sql, "\n) TO STDOUT", PGRES_COPY_OUT, err);
        pg->pq.clear(result);
    }
    if (st == KN_OK) return kn_server_rows(out, pg, columns, count, leave, err);
    for (int c = 0; columns && c < count; c++) kn_free(columns[c].name);
    kn_free(columns);
    return st;
}

static int query(void *state, const char *sql, struct ArrowArrayStream *out, char *message, size_t room)
{
    kn_pg    *pg = state;
    kn_error  said = KN_ERROR_INIT;
    kn_status st = kn_pg_run(pg,
                             "SAVEPOINT kanon_read; SET TRANSACTION READ ONLY; "
                             "SET LOCAL max_parallel_workers_per_gather TO DEFAULT",
                             &said);
    *out = (struct ArrowArrayStream){.release = NULL};
    if (st == KN_OK) st = begin_rows(out, pg, sql, &said);
    if (st != KN_OK) leave(pg);
    return code_of(pg, st, &said, message, room);
}

/* ---- A temporary table ---- */

typedef struct putting {
    kn_pg             *pg;
    struct ArrowSchema schema;
    struct ArrowArray  array;
    kn_arrow_format   *formats;
    kn_arrow_view     *views;
    kn_arrow_cell     *numbers; /* one per column: the texts of a row's numbers */
    kn_string         *cells;
    int                count;
    kn_buffer          lines;
} putting;

static void end_putting(putting *p)
{
    if (p->array.release) p->array.release(&p->array);
    if (p->schema.release) p->schema.release(&p->schema);
    kn_buffer_free(&p->lines);
    KN_FREE(p->formats, p->views, p->numbers, p->cells);
}

static bool is_text(const kn_arrow_format *f)
{
    return f->kind == KN_ARROW_UTF8 || f->kind == KN_ARROW_VIEW;
}

static kn_status open_columns(putting *p, struct ArrowArrayStream *rows, kn_error *err)
{
    kn_context *ctx = p->pg->ctx;
    if (rows->get_schema(rows, &p->schema) != 0 || p->schema.n_children < 1)
        return kn_fail(err, KN_INTERNAL, "a table without columns");
    size_t count = (size_t)p->schema.n_children;
    p->formats = kn_alloc_array_zero(ctx, count, sizeof *p->formats);
    p->views = kn_alloc_array_zero(ctx, count, sizeof *p->views);
    p->numbers = kn_alloc_array_zero(ctx, count, sizeof *p->numbers);
    p->cells = kn_alloc_array_zero(ctx, count, sizeof *p->cells);
    if (!p->formats || !p->views || !p->numbers || !p->cells) return kn_fail_memory(err, ctx, WHAT);
    for (; p->count < (int)count; p->count++) {
        const struct ArrowSchema *c = p->schema.children[p->count];
        kn_arrow_format          *f = &p->formats[p->count];
        if (c->dictionary || !kn_arrow_format_parse(c->format, f) || (!is_text(f) && f->kind != KN_ARROW_SIGNED))
            return kn_fail(err, KN_INTERNAL, "a column of neither texts nor whole numbers");
    }
    return KN_OK;
}

static kn_status create(const putting *p, const char *name, kn_error *err)
{
    kn_buffer sql;
    kn_buffer_init(&sql, p->pg->ctx);
    kn_buffer_add(&sql, "DROP TABLE IF EXISTS ");
    kn_sql_table(&sql, "pg_temp", name);
    kn_buffer_add(&sql, "; CREATE TEMPORARY TABLE ");
    kn_sql_name(&sql, name);
    for (int c = 0; c < p->count; c++) {
        kn_buffer_add(&sql, c ? ", " : " (");
        kn_sql_name(&sql, p->schema.children[c]->name);
        kn_buffer_add(&sql, is_text(&p->formats[c]) ? " text COLLATE \"C\"" : " bigint");
    }
    kn_buffer_add(&sql, ") ON COMMIT DROP");
    KN_TRY(kn_pg_run_buffer(p->pg, &sql, PGRES_COMMAND_OK, err));
    kn_buffer_add(&sql, "COPY ");
    kn_sql_table(&sql, "pg_temp", name);
    kn_buffer_add(&sql, " FROM STDIN");
    return kn_pg_run_buffer(p->pg, &sql, PGRES_COPY_IN, err);
}

static kn_status put_row(putting *p, int64_t row, kn_error *err)
{
    for (int c = 0; c < p->count; c++) {
        const kn_arrow_view   *v = &p->views[c];
        const kn_arrow_format *f = &p->formats[c];
        int64_t                at = v->start + row;
        const char            *wrong = NULL;
        p->cells[c] = (kn_string){NULL, 0};
        if (!kn_arrow_valid(v, at)) continue;
        if (is_text(f)) {
            wrong = kn_arrow_bytes_at(v, f, at, &p->cells[c]);
            if (!wrong && !p->cells[c].data) p->cells[c].data = "";
        } else {
            kn_arrow_cell_text(&p->numbers[c], f, v->data + at * f->width);
            p->cells[c] = (kn_string){p->numbers[c].text, p->numbers[c].size};
        }
        if (wrong) return kn_fail(err, KN_INTERNAL, "%s", wrong);
    }
    kn_pg_add_line(&p->lines, p->cells, p->count);
    return p->lines.size > 1 << 18 || p->lines.failed ? kn_pg_send(p->pg, &p->lines, err) : KN_OK;
}

static kn_status put_rows(putting *p, struct ArrowArrayStream *rows, kn_error *err)
{
    for (;;) {
        int code = rows->get_next(rows, &p->array);
        if (code == ENOMEM) return kn_fail_memory(err, p->pg->ctx, WHAT);
        if (code != 0) return kn_fail(err, KN_INTERNAL, "its rows cannot be read");
        if (!p->array.release) break;
        for (int c = 0; c < p->count; c++) {
            const char *wrong =
                kn_arrow_open(&p->views[c], p->array.children[c], &p->formats[c], p->array.offset, p->array.length);
            if (wrong) return kn_fail(err, KN_INTERNAL, "%s", wrong);
        }
        for (int64_t row = 0; row < p->array.length; row++) KN_TRY(put_row(p, row, err));
        p->array.release(&p->array);
    }
    KN_TRY(kn_pg_send(p->pg, &p->lines, err));
    return p->pg->pq.putCopyEnd(p->pg->conn, NULL) == 1 ? kn_pg_copy_end(p->pg, err) : kn_pg_fail(p->pg, NULL, err);
}

kn_status kn_server_temporary(kn_pg *pg, kn_error *err)
{
    PGresult *result = NULL;
    KN_TRY(kn_pg_query(pg, &result,
                       "SELECT pg_catalog.has_database_privilege(pg_catalog.current_database(), 'TEMPORARY'), "
                       "pg_catalog.current_setting('transaction_read_only') = 'off'",
                       NULL, 0, err));
    bool may = pg->pq.getvalue(result, 0, 0)[0] == 't', writes = pg->pq.getvalue(result, 0, 1)[0] == 't';
    pg->pq.clear(result);
    if (!may)
        return kn_fail(err, KN_IO,
                       "this role may not make temporary tables, which this needs (GRANT TEMPORARY ON DATABASE)");
    return writes ? KN_OK
                  : kn_fail(err, KN_IO,
                            "this role or server may only read, and this needs temporary tables; name a server and a "
                            "role that may write");
}

/* So that the server knows how small it is. */
static kn_status analyze(kn_pg *pg, const char *name, kn_error *err)
{
    kn_buffer sql;
    kn_buffer_init(&sql, pg->ctx);
    kn_buffer_add(&sql, "ANALYZE ");
    kn_sql_table(&sql, "pg_temp", name);
    return kn_pg_run_buffer(pg, &sql, PGRES_COMMAND_OK, err);
}

static int put(void *state, const char *name, struct ArrowArrayStream *rows, char *message, size_t room)
{
    kn_error said = KN_ERROR_INIT;
    putting  p = {.pg = state};
    kn_buffer_init(&p.lines, p.pg->ctx);
    kn_status st = kn_server_temporary(p.pg, &said);
    if (st == KN_OK) st = open_columns(&p, rows, &said);
    if (st == KN_OK) st = create(&p, name, &said);
    if (st == KN_OK) st = put_rows(&p, rows, &said);
    if (st == KN_OK) st = analyze(p.pg, name, &said);
    end_putting(&p);
    if (rows->release) rows->release(rows);
    return code_of(p.pg, st, &said, message, room);
}

/* ---- Connections ---- */

kn_connection kn_server_connection(kn_pg *pg)
{
    return (kn_connection){sizeof(kn_connection), KN_DIALECT_POSTGRESQL, pg, run, query, put};
}

const char *kn_server_shown(const kn_connection *c)
{
    return ((const kn_pg *)c->state)->name;
}

void kn_server_close(kn_pg *pg)
{
    kn_pg_close(pg);
    kn_free(pg);
}

kn_status kn_server_open(kn_connection *out, kn_context *ctx, const char *name, kn_error *err)
{
    const kn_alias *alias = kn_alias_find(ctx, name);
    kn_pg          *pg = kn_alloc_zero(ctx, sizeof *pg);
    *out = (kn_connection)KN_CONNECTION_INIT;
    if (!pg) return kn_fail_memory(err, ctx, WHAT);
    kn_status st = kn_pg_open(pg, ctx, name, NULL, err);
    if (st == KN_OK)
        st = kn_pg_begin_at(pg, "BEGIN ISOLATION LEVEL REPEATABLE READ", alias ? alias->snapshot : NULL, err);
    if (st == KN_OK) st = kn_pg_run(pg, KN_PG_NO_COMPILING, err);
    if (st == KN_OK)
        *out = kn_server_connection(pg);
    else
        kn_server_close(pg);
    return st;
}

/* ---- What stands behind FROM ---- */

static bool is_wanted(const char *name, const char *const *columns, int count)
{
    for (int i = 0; i < count; i++)
        if (strcmp(columns[i], name) == 0) return true;
    return !columns;
}

static bool is_plain(Oid type)
{
    for (size_t i = 0; i < sizeof plain_types / sizeof *plain_types; i++)
        if (plain_types[i] == type) return true;
    return false;
}

/* A cell's text. `release`: a missing one stays null. */
static void put_cell(kn_buffer *to, const char *name, Oid type, bool release)
{
    bool cast = is_plain(type);
    bool wrapped = cast != release; /* format() makes an empty text of what is missing */
    if (wrapped) kn_buffer_add(to, cast ? "coalesce(" : "nullif(");
    kn_buffer_add(to, cast ? "" : "pg_catalog.format('%s', ");
    kn_sql_name(to, name);
    kn_buffer_add(to, cast ? "::text" : ")");
    if (wrapped) kn_buffer_add(to, ", '')");
    kn_buffer_add(to, " COLLATE \"C\" AS ");
    kn_sql_name(to, name);
}

static kn_status put_columns(kn_buffer *to, kn_pg *pg, const char *source, const char *const *columns, int count,
                             bool release, kn_error *err)
{
    PGresult *result = NULL;
    int       put_so_far = 0;
    KN_TRY(run_one(pg, &result, "SELECT * FROM ", source, " LIMIT 0", PGRES_TUPLES_OK, err));
    kn_buffer_add(to, "(SELECT ");
    for (int c = 0; c < pg->pq.nfields(result); c++) {
        const char *name = pg->pq.fname(result, c);
        if (!is_wanted(name, columns, count)) continue;
        kn_buffer_add(to, put_so_far++ > 0 ? ", " : "");
        put_cell(to, name, pg->pq.ftype(result, c), release);
    }
    kn_buffer_format(to, " FROM %s)", source);
    pg->pq.clear(result);
    return kn_buffer_text(to) ? KN_OK : kn_fail_memory(err, pg->ctx, WHAT);
}

/* "schema"."table", or a query in parentheses; it may end in a comment. */
static kn_status put_source(kn_buffer *to, kn_context *ctx, const char *name, kn_error *err)
{
    kn_name_parts parts = kn_table_name_split(name);
    kn_string     schema, table;
    if (parts.query.data) {
        size_t size = parts.query.size;
        while (size > 0 && strchr(" ;\n\t\r", parts.query.data[size - 1])) size--;
        kn_buffer_char(to, '(');
        kn_buffer_append(to, parts.query.data, size);
        kn_buffer_add(to, "\n) AS source");
    } else if (kn_table_parts(parts.table, &schema, &table)) {
        char *first = kn_table_unquote(ctx, schema), *second = kn_table_unquote(ctx, table);
        if (first && second) kn_sql_table(to, first, second);
        if (!first || !second) to->failed = true;
        KN_FREE(first, second);
    }
    return kn_buffer_text(to) ? KN_OK : kn_fail_memory(err, ctx, WHAT);
}

static kn_status put_relation(kn_buffer *to, const kn_connection *c, kn_context *ctx, const char *name,
                              const char *const *columns, int count, bool release, kn_error *err)
{
    kn_buffer source;
    kn_buffer_init(&source, ctx);
    kn_status st = put_source(&source, ctx, name, err);
    if (st == KN_OK) st = put_columns(to, c->state, source.data, columns, count, release, err);
    kn_buffer_free(&source);
    return st;
}

kn_status kn_server_relation(kn_buffer *to, const kn_connection *c, kn_context *ctx, const char *name,
                             const char *const *columns, int count, kn_error *err)
{
    return put_relation(to, c, ctx, name, columns, count, false, err);
}

kn_status kn_server_release(kn_buffer *to, const kn_connection *c, kn_context *ctx, const char *name, kn_error *err)
{
    return put_relation(to, c, ctx, name, NULL, 0, true, err);
}

kn_status kn_server_release_at(kn_buffer *to, const kn_connection *c, kn_context *ctx, const char *schema,
                               const char *table, kn_error *err)
{
    kn_buffer source;
    kn_buffer_init(&source, ctx);
    kn_sql_table(&source, schema, table);
    const char *text = kn_buffer_text(&source);
    kn_status   st = text ? put_columns(to, c->state, text, NULL, 0, true, err) : kn_fail_memory(err, ctx, WHAT);
    kn_buffer_free(&source);
    return st;
}
