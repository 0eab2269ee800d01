/* kn_coded.c: a table as numbers in its engine, and what is asked about a node. Interface: kn_coded.h.
 *
 * Tables in the engine: kanon_values_I (v, n, r: a value, its number, its rows), kanon_levels_I (n0: a number, n1, ...: what stands for it
 * at levels 0, 1, ...) and kanon_rows (q0, q1, ...: numbers, n: rows). Only integers are compared, but for the join that makes
 * kanon_rows, which takes missing values as equal.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_coded.h"

#include <inttypes.h>
#include <stdio.h>

#include "kn_alloc.h"
#include "kn_arrow.h"
#include "kn_error.h"

#define WHAT "grouping a table where it is"

static kn_status no_memory(const kn_coded *t, kn_error *err)
{
    return kn_fail_memory(err, t->engine->ctx, WHAT);
}

static bool on_server(const kn_coded *t)
{
    return t->engine->connection->dialect == KN_DIALECT_POSTGRESQL;
}

/* ---- Statements ---- */

/* Runs a statement and frees its text. */
static kn_status run(const kn_coded *t, kn_buffer *sql, kn_error *err)
{
    const char *text = kn_buffer_text(sql);
    kn_status   st =
        text ? kn_connection_run(t->engine->connection, t->engine->ctx, text, t->engine->name, err) : no_memory(t, err);
    kn_buffer_free(sql);
    return st;
}

static kn_status ask(kn_numbers *out, int columns, const kn_coded *t, kn_buffer *sql, kn_error *err)
{
    kn_status st = kn_connection_numbers(out, columns, t->engine->connection, t->engine->ctx, kn_buffer_text(sql),
                                         t->engine->name, err);
    kn_buffer_free(sql);
    return st;
}

static kn_status drop(const kn_coded *t, const char *name, kn_error *err)
{
    return kn_connection_drop(t->engine->connection, t->engine->ctx, name, t->engine->name, err);
}

/* PostgreSQL counts a new table's rows only if it is told to, and without it joins it pair by pair. */
static kn_status look_at(const kn_coded *t, const char *name, kn_error *err)
{
    char text[80];
    if (!on_server(t)) return KN_OK;
    snprintf(text, sizeof text, "ANALYZE %s", name);
    return kn_connection_run(t->engine->connection, t->engine->ctx, text, t->engine->name, err);
}

static kn_status drop_numbered(const kn_coded *t, const char *name, int column, kn_error *err)
{
    char text[40];
    snprintf(text, sizeof text, "%s_%d", name, column);
    return drop(t, text, err);
}

/* ---- Values ---- */

static kn_status make_values(const kn_coded *t, int column, kn_error *err)
{
    kn_buffer sql;
    char      name[40];
    KN_TRY(drop_numbered(t, "kanon_values", column, err));
    kn_buffer_init(&sql, t->engine->ctx);
    kn_connection_put_create(&sql, t->engine->connection);
    kn_buffer_format(
        &sql, "kanon_values_%d AS SELECT v, CAST(row_number() OVER (ORDER BY v) - 1 AS BIGINT) AS n, r FROM (SELECT ",
        column);
    kn_connection_put_name(&sql, t->engine->connection, t->csv->columns[column]);
    kn_buffer_format(&sql, " AS v, count(*) AS r FROM %s AS t GROUP BY 1) AS g", t->engine->relation.data);
    KN_TRY(run(t, &sql, err));
    snprintf(name, sizeof name, "kanon_values_%d", column);
    return look_at(t, name, err);
}

/* The rows of a number; the number of one that takes part, once the combinations are known. */
static void put_taking_part(kn_buffer *to, int column, bool combined)
{
    if (combined)
        kn_buffer_format(
            to,
            " FROM kanon_values_%d AS t JOIN (SELECT q%d AS n, CAST(sum(n) AS BIGINT) AS r FROM kanon_rows "
            "GROUP BY 1) AS g ON g.n = t.n ORDER BY t.n",
            column, column);
    else
        kn_buffer_format(to, " FROM kanon_values_%d AS t JOIN kanon_values_%d AS g ON g.n = t.n ORDER BY t.n", column,
                         column);
}

static void forget_values(kn_coded_column *c)
{
    kn_table_free(c->values);
    KN_FREE(c->numbers, c->rows);
    c->values = NULL;
    c->numbers = c->rows = NULL;
}

static kn_status read_values(kn_coded *t, int column, bool combined, kn_error *err)
{
    kn_coded_column        *c = &t->columns[column];
    kn_csv_options          csv = *t->csv;
    struct ArrowArrayStream stream;
    kn_numbers              numbers;
    kn_buffer               sql;
    forget_values(c);
    kn_buffer_init(&sql, t->engine->ctx);
    kn_buffer_add(&sql, "SELECT t.n, g.r");
    put_taking_part(&sql, column, combined);
    KN_TRY(ask(&numbers, 2, t, &sql, err));
    c->numbers = numbers.columns[0];
    c->rows = numbers.columns[1];
    c->count = numbers.rows;
    kn_free(numbers.columns);
    kn_buffer_init(&sql, t->engine->ctx);
    kn_buffer_add(&sql, "SELECT t.v AS ");
    kn_connection_put_name(&sql, t->engine->connection, t->csv->columns[column]);
    put_taking_part(&sql, column, combined);
    const char *text = kn_buffer_text(&sql);
    kn_status   st = text
                         ? kn_connection_query(&stream, t->engine->connection, t->engine->ctx, text, t->engine->name, err)
                         : no_memory(t, err);
    kn_buffer_free(&sql);
    if (st != KN_OK) return st;
    csv.columns = &t->csv->columns[column];
    csv.column_count = 1;
    csv.count = NULL;
    KN_TRY(kn_arrow_import_as_csv(&c->values, t->engine->ctx, &stream, &csv, t->engine->name, err));
    if (kn_table_rows(c->values) == c->count) return KN_OK;
    return kn_fail(err, KN_INPUT, "%.300s: its values changed while they were read", t->engine->name);
}

static bool is_missing(const kn_coded_column *c, int64_t i)
{
    return kn_table_code(c->values, 0, i) == kn_table_distinct(c->values, 0);
}

/* ---- Combinations ---- */

/* A server's cells are never null (kn_server_relation), and it compares pair by pair what may be. */
static void put_join(kn_buffer *to, const kn_coded *t, int column)
{
    const char *same = on_server(t) ? "=" : kn_connection_same(t->engine->connection);
    kn_buffer_format(to, " JOIN kanon_values_%d AS v%d ON v%d.v %s t.", column, column, column, same);
    kn_connection_put_name(to, t->engine->connection, t->csv->columns[column]);
}

/* Rows with a missing quasi-identifier are left out. */
static void put_condition(kn_buffer *to, const kn_coded *t)
{
    bool any = false;
    for (int i = 0; i < t->count; i++)
        for (int64_t j = 0; t->columns[i].quasi && j < t->columns[i].count; j++) {
            if (!is_missing(&t->columns[i], j)) continue;
            kn_buffer_format(to, "%s v%d.n <> %" PRId64, any ? " AND" : " WHERE", i, t->columns[i].numbers[j]);
            any = true;
        }
}

static kn_status make_rows(const kn_coded *t, bool dropping, kn_error *err)
{
    kn_buffer sql;
    KN_TRY(drop(t, "kanon_rows", err));
    kn_buffer_init(&sql, t->engine->ctx);
    kn_connection_put_create(&sql, t->engine->connection);
    kn_buffer_add(&sql, "kanon_rows AS SELECT ");
    for (int i = 0; i < t->count; i++) kn_buffer_format(&sql, "v%d.n AS q%d, ", i, i);
    kn_buffer_format(&sql, "count(*) AS n FROM %s AS t", t->engine->relation.data);
    for (int i = 0; i < t->count; i++) put_join(&sql, t, i);
    if (dropping) put_condition(&sql, t);
    for (int i = 1; i <= t->count; i++) kn_buffer_format(&sql, i > 1 ? ", %d" : " GROUP BY %d", i);
    KN_TRY(run(t, &sql, err));
    return look_at(t, "kanon_rows", err);
}

static void count_missing(kn_coded *t)
{
    for (int i = 0; i < t->count; i++)
        for (int64_t j = 0; t->columns[i].quasi && j < t->columns[i].count; j++)
            if (is_missing(&t->columns[i], j)) t->missing_cells += t->columns[i].rows[j];
}

static kn_status open(kn_coded *t, bool dropping, kn_error *err)
{
    kn_engine *e = t->engine;
    KN_TRY(kn_engine_rows(&t->rows_in, e, err));
    for (int i = 0; i < t->count; i++) {
        KN_TRY(make_values(t, i, err));
        KN_TRY(read_values(t, i, false, err));
    }
    count_missing(t);
    dropping = dropping && t->missing_cells > 0;
    KN_TRY(make_rows(t, dropping, err));
    KN_TRY(kn_connection_number(&t->rows, e->connection, e->ctx, "SELECT CAST(sum(n) AS BIGINT) FROM kanon_rows",
                                e->name, err));
    for (int i = 0; dropping && i < t->count; i++) KN_TRY(read_values(t, i, true, err));
    if (dropping ? t->rows <= t->rows_in : t->rows == t->rows_in) return KN_OK;
    return kn_fail(err, KN_INPUT, "%.300s: the table changed while it was read", e->name);
}

kn_status kn_coded_open(kn_coded *out, kn_engine *engine, const kn_csv_options *csv, const bool *quasi, bool dropping,
                        kn_error *err)
{
    *out = (kn_coded){.engine = engine, .csv = csv, .count = csv->column_count};
    out->columns = kn_alloc_array_zero(engine->ctx, (size_t)out->count + 1, sizeof *out->columns);
    if (!out->columns) return no_memory(out, err);
    for (int i = 0; i < out->count; i++) out->columns[i].quasi = quasi[i];
    return open(out, dropping, err);
}

void kn_coded_close(kn_coded *t)
{
    kn_error ignored = KN_ERROR_INIT;
    if (!t->engine) return;
    for (int i = 0; t->columns && i < t->count; i++) {
        if (drop_numbered(t, "kanon_values", i, &ignored) == KN_OK)
            (void)!drop_numbered(t, "kanon_levels", i, &ignored);
        forget_values(&t->columns[i]);
        KN_FREE(t->columns[i].only, t->columns[i].same);
    }
    if (t->columns) (void)!drop(t, "kanon_rows", &ignored);
    kn_free(t->columns);
    *t = (kn_coded){.engine = NULL};
}

/* ---- Levels ---- */

static void look_at_level(kn_coded_column *c, int level, const int64_t *map)
{
    c->only[level] = c->count > 0 ? map[0] : -1;
    c->same[level] = true;
    for (int64_t i = 0; i < c->count; i++) {
        if (map[i] != map[0]) c->only[level] = -1;
        c->same[level] = c->same[level] && map[i] == c->numbers[i];
    }
}

kn_status kn_coded_map(kn_coded *t, int column, const int64_t *map, int levels, kn_error *err)
{
    kn_coded_column *c = &t->columns[column];
    kn_context      *ctx = t->engine->ctx;
    kn_numbers       table = {.count = levels + 1, .rows = c->count};
    char             name[40];
    snprintf(name, sizeof name, "kanon_levels_%d", column);
    c->only = kn_alloc_array(ctx, (size_t)levels + 1, sizeof *c->only);
    c->same = kn_alloc_array(ctx, (size_t)levels + 1, sizeof *c->same);
    table.columns = kn_alloc_array(ctx, (size_t)levels + 1, sizeof *table.columns);
    if (!c->only || !c->same || !table.columns) {
        kn_free(table.columns);
        return no_memory(t, err);
    }
    table.columns[0] = c->numbers;
    for (int l = 0; l < levels; l++) {
        table.columns[l + 1] = (int64_t *)(uintptr_t)(map + l * c->count); /* which is read only */
        look_at_level(c, l, table.columns[l + 1]);
    }
    c->levels = levels;
    kn_status st = kn_connection_put_numbers(t->engine->connection, ctx, name, &table, t->engine->name, err);
    kn_free(table.columns);
    return st;
}

/* ---- Nodes ---- */

/* What a column shows: its number, one that stands for it, or the one that stands for all. */
typedef enum shown { SHOWN_ONE, SHOWN_ITSELF, SHOWN_MAPPED } shown;

static shown shown_as(const kn_coded *t, int column, const int *levels)
{
    const kn_coded_column *c = &t->columns[column];
    if (c->quasi && !levels) return SHOWN_ONE;
    if (c->levels == 0) return SHOWN_ITSELF;
    if (c->only[levels[column]] >= 0) return SHOWN_ONE;
    return c->same[levels[column]] ? SHOWN_ITSELF : SHOWN_MAPPED;
}

static void put_shown(kn_buffer *to, const kn_coded *t, int column, const int *levels)
{
    const kn_coded_column *c = &t->columns[column];
    switch (shown_as(t, column, levels)) {
    case SHOWN_ONE:
        kn_buffer_format(to, "CAST(%" PRId64 " AS BIGINT)", levels ? c->only[levels[column]] : c->numbers[0]);
        break;
    case SHOWN_ITSELF: kn_buffer_format(to, "t.q%d", column); break;
    case SHOWN_MAPPED: kn_buffer_format(to, "l%d.n%d", column, levels[column] + 1); break;
    }
}

static bool takes_part(const kn_coded *t, int column, bool all)
{
    return all || t->columns[column].quasi;
}

/* One class in so many, by what its columns show: odd factors, so that steps of a level do not meet one remainder only. */
static void put_part(kn_buffer *to, const kn_coded *t, const int *levels, int parts)
{
    kn_buffer_add(to, " WHERE (0");
    for (int i = 0; i < t->count; i++) {
        if (!t->columns[i].quasi || shown_as(t, i, levels) == SHOWN_ONE) continue;
        kn_buffer_format(to, " + %d * (", 2 * i + 1);
        put_shown(to, t, i, levels);
        kn_buffer_add(to, ")");
    }
    kn_buffer_format(to, ") %% %d = 0", parts);
}

/* The combinations at some levels as (q0, ..., n): of the quasi-identifiers, or (`all`) of all columns; of one class in `parts`. */
static void put_node(kn_buffer *to, const kn_coded *t, const int *levels, bool all, int parts)
{
    int grouped = 0, at = 0;
    kn_buffer_add(to, "SELECT ");
    for (int i = 0; i < t->count; i++) {
        if (!takes_part(t, i, all)) continue;
        put_shown(to, t, i, levels);
        kn_buffer_format(to, " AS q%d, ", i);
    }
    kn_buffer_add(to, "CAST(sum(t.n) AS BIGINT) AS n FROM kanon_rows AS t");
    for (int i = 0; i < t->count; i++)
        if (takes_part(t, i, all) && shown_as(t, i, levels) == SHOWN_MAPPED)
            kn_buffer_format(to, " JOIN kanon_levels_%d AS l%d ON l%d.n0 = t.q%d", i, i, i, i);
    if (parts > 1) put_part(to, t, levels, parts);
    for (int i = 0; i < t->count; i++) {
        if (!takes_part(t, i, all)) continue;
        at++;
        if (shown_as(t, i, levels) != SHOWN_ONE) kn_buffer_format(to, grouped++ > 0 ? ", %d" : " GROUP BY %d", at);
    }
}

kn_status kn_coded_sizes(kn_numbers *out, kn_coded *t, const int *levels, kn_error *err)
{
    kn_buffer sql;
    t->questions++;
    kn_buffer_init(&sql, t->engine->ctx);
    kn_buffer_add(&sql, "SELECT n, count(*) AS c FROM (");
    put_node(&sql, t, levels, false, 1);
    kn_buffer_add(&sql, ") AS g GROUP BY n ORDER BY n");
    return ask(out, 2, t, &sql, err);
}

kn_status kn_coded_part(int64_t *out, kn_coded *t, const int *levels, int64_t least, int parts, kn_error *err)
{
    kn_engine *e = t->engine;
    kn_buffer  sql;
    t->questions++;
    kn_buffer_init(&sql, e->ctx);
    kn_buffer_add(&sql, "SELECT CAST(sum(n) AS BIGINT) FROM (");
    put_node(&sql, t, levels, false, parts);
    kn_buffer_format(&sql, ") AS g WHERE n < %" PRId64, least);
    const char *text = kn_buffer_text(&sql);
    kn_status   st = text ? kn_connection_number(out, e->connection, e->ctx, text, e->name, err) : no_memory(t, err);
    kn_buffer_free(&sql);
    return st;
}

kn_status kn_coded_small(kn_numbers *out, kn_coded *t, const int *levels, int64_t least, kn_error *err)
{
    kn_buffer sql;
    int       quasi = 0;
    t->questions++;
    kn_buffer_init(&sql, t->engine->ctx);
    kn_buffer_add(&sql, "SELECT ");
    for (int i = 0; i < t->count; i++)
        if (t->columns[i].quasi) kn_buffer_format(&sql, "coalesce(g.q%d, -1) AS s%d, ", i, i);
    kn_buffer_add(&sql, "CAST(sum(n) AS BIGINT) AS n FROM (");
    put_node(&sql, t, levels, false, 1);
    kn_buffer_format(&sql, ") AS g WHERE n < %" PRId64 " GROUP BY GROUPING SETS (", least);
    for (int i = 0; i < t->count; i++)
        if (t->columns[i].quasi) kn_buffer_format(&sql, quasi++ > 0 ? ", (g.q%d)" : "(g.q%d)", i);
    kn_buffer_add(&sql, ")");
    return ask(out, quasi + 1, t, &sql, err);
}

kn_status kn_coded_read(kn_numbers *out, kn_coded *t, const int *levels, kn_error *err)
{
    kn_buffer sql;
    t->questions++;
    kn_buffer_init(&sql, t->engine->ctx);
    put_node(&sql, t, levels, true, 1);
    return ask(out, t->count + 1, t, &sql, err);
}

/* ---- Rows ---- */

/* A value that no row which takes part has is in no table of levels, so that a join with it leaves the others out. */
static void put_level(kn_buffer *to, const kn_coded *t, int column, const int *levels)
{
    bool left_out = t->columns[column].quasi && t->rows < t->rows_in;
    if (shown_as(t, column, levels) == SHOWN_ONE && !left_out) return;
    put_join(to, t, column);
    if (left_out || shown_as(t, column, levels) == SHOWN_MAPPED)
        kn_buffer_format(to, " JOIN kanon_levels_%d AS l%d ON l%d.n0 = v%d.n", column, column, column, column);
}

void kn_coded_put_table(kn_buffer *to, const kn_coded *t, const int *levels, const char *const *others, int count)
{
    const kn_connection *c = t->engine->connection;
    kn_buffer_add(to, "(SELECT ");
    for (int i = 0; i < count; i++) {
        kn_buffer_add(to, "t.");
        kn_connection_put_name(to, c, others[i]);
        kn_buffer_add(to, ", ");
    }
    for (int i = 0; i < t->count; i++) {
        kn_buffer_add(to, i > 0 ? ", " : "");
        if (shown_as(t, i, levels) == SHOWN_ITSELF)
            kn_buffer_format(to, "v%d.n", i);
        else
            put_shown(to, t, i, levels);
        kn_buffer_add(to, " AS ");
        kn_connection_put_name(to, c, t->csv->columns[i]);
    }
    kn_buffer_format(to, " FROM %s AS t", t->engine->relation.data);
    for (int i = 0; i < t->count; i++) put_level(to, t, i, levels);
    kn_buffer_char(to, ')');
}
