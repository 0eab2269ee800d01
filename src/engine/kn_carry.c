/* kn_carry.c: the statements by which kept columns are carried. Interface: kn_carry.h.
 *
 * Tables in the engine: kanon_groups (g0, g1, ...: a combination, n: its rows, id), kanon_given (n0, n1, ...) and kanon_shown, both joined. Rows find their
 * combination by its cells. Kept cells are sorted by the bytes of their released texts, which DuckDB makes for that alone: what is written
 * comes from the cells themselves (kn_arrow.h). Dates and times are in the order of their texts anyway.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_carry.h"

#include <stdio.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_value.h"

#define WHAT "carrying kept columns"

/* DuckDB's text of a positive number with a fraction as kanon's: no ".0", and an exponent only below -6 and above 20. */
#define DIGITS                                                                                                         \
    "CREATE OR REPLACE TEMP MACRO kanon_digits(s) AS CASE WHEN s = '0.0' THEN '0' WHEN NOT contains(s, 'e') THEN "     \
    "CASE WHEN suffix(s, '.0') THEN left(s, length(s) - 2) ELSE s END WHEN split_part(s, 'e', 2)::INTEGER BETWEEN 0 "  \
    "AND 20 THEN rpad(replace(split_part(s, 'e', 1), '.', ''), split_part(s, 'e', 2)::INTEGER + 1, '0') WHEN "         \
    "split_part(s, 'e', 2)::INTEGER BETWEEN -6 AND -1 THEN '0.' || repeat('0', -1 - split_part(s, 'e', 2)::INTEGER) "  \
    "|| replace(split_part(s, 'e', 1), '.', '') ELSE split_part(s, 'e', 1) || 'e' || split_part(s, 'e', 2)::INTEGER "  \
    "END"
/* Most need none of that: whole ones below 10^15, of which kanon writes every digit, also of a float that has fewer by itself, and
 * those with digits behind the point that DuckDB writes without an exponent. */
#define FRACTION                                                                                                       \
    "CREATE OR REPLACE TEMP MACRO kanon_fraction(x) AS CASE WHEN x = trunc(x) AND abs(x) < 1e15 THEN "                 \
    "x::BIGINT::VARCHAR WHEN x <> trunc(x) AND abs(x) BETWEEN 0.001 AND 1e15 THEN x::VARCHAR ELSE CASE WHEN x < 0 "    \
    "THEN '-' ELSE '' END || kanon_digits(abs(x)::VARCHAR) END"

static kn_status no_memory(const kn_carry *k, kn_error *err)
{
    return kn_fail_memory(err, k->engine->ctx, WHAT);
}

static kn_status run_text(const kn_carry *k, const char *sql, kn_error *err)
{
    return kn_connection_run(k->engine->connection, k->engine->ctx, sql, k->engine->name, err);
}

/* All three free the statement's text. */
static kn_status run(const kn_carry *k, kn_buffer *sql, kn_error *err)
{
    const char *text = kn_buffer_text(sql);
    kn_status   st = text ? run_text(k, text, err) : no_memory(k, err);
    kn_buffer_free(sql);
    return st;
}

static kn_status query(struct ArrowArrayStream *out, const kn_carry *k, kn_buffer *sql, kn_error *err)
{
    const char *text = kn_buffer_text(sql);
    kn_status   st = text ? kn_connection_query(out, k->engine->connection, k->engine->ctx, text, k->engine->name, err)
                          : no_memory(k, err);
    kn_buffer_free(sql);
    return st;
}

static kn_status number(int64_t *out, const kn_carry *k, kn_buffer *sql, kn_error *err)
{
    const char *text = kn_buffer_text(sql);
    kn_status   st = text ? kn_connection_number(out, k->engine->connection, k->engine->ctx, text, k->engine->name, err)
                          : no_memory(k, err);
    kn_buffer_free(sql);
    return st;
}

static kn_status drop(const kn_carry *k, const char *name, kn_error *err)
{
    return kn_connection_drop(k->engine->connection, k->engine->ctx, name, k->engine->name, err);
}

static void put_cell(kn_buffer *to, const kn_carry *k, const char *name)
{
    kn_buffer_add(to, "t.");
    kn_connection_put_name(to, k->engine->connection, name);
}

/* ---- Cells ---- */

bool kn_carry_is_text(const kn_carry *k, int column)
{
    kn_arrow_kind kind = k->columns[column].format.kind;
    return kind == KN_ARROW_UTF8 || kind == KN_ARROW_VIEW;
}

/* May a cell be spelled like this? */
static bool may_be(const kn_carry *k, int column, const char *spelling)
{
    bool truth = k->columns[column].format.kind == KN_ARROW_BOOL;
    return kn_carry_is_text(k, column) || strpbrk(spelling, truth ? "tf" : "0123456789") != NULL;
}

static bool is_na_possible(const kn_carry *k, int column)
{
    for (int i = 0; i < k->na_count; i++)
        if (may_be(k, column, k->na[i])) return true;
    return false;
}

/* The text of a cell that is not missing. */
static void put_text(kn_buffer *to, const kn_carry *k, int column)
{
    const kn_carried *c = &k->columns[column];
    bool              zone = c->format.kind == KN_ARROW_TIMESTAMP && !c->format.naive;
    const char       *before = "CAST(", *behind = " AS VARCHAR)";
    if (kn_carry_is_text(k, column)) before = behind = "";
    if (c->format.kind == KN_ARROW_FLOAT) before = "kanon_fraction(", behind = ")";
    if (c->format.kind == KN_ARROW_TIMESTAMP) before = "replace(CAST(", behind = " AS VARCHAR), ' ', 'T')";
    if (zone) before = "replace(CAST(make_timestamp(epoch_us(", behind = ")) AS VARCHAR), ' ', 'T') || 'Z'";
    kn_buffer_add(to, before);
    put_cell(to, k, c->name);
    kn_buffer_add(to, behind);
}

/* Has a cell no value? */
static void put_null(kn_buffer *to, const kn_carry *k, int column)
{
    const kn_carried *c = &k->columns[column];
    put_cell(to, k, c->name);
    kn_buffer_add(to, " IS NULL");
    if (c->format.kind != KN_ARROW_FLOAT) return;
    kn_buffer_add(to, " OR isnan(");
    put_cell(to, k, c->name);
    kn_buffer_char(to, ')');
}

/* Is a cell missing? */
static void put_missing(kn_buffer *to, const kn_carry *k, int column)
{
    bool any = false;
    kn_buffer_char(to, '(');
    put_null(to, k, column);
    for (int i = 0; i < k->na_count; i++) {
        if (!may_be(k, column, k->na[i])) continue;
        if (!any) {
            kn_buffer_add(to, " OR trim(BOTH ' \t' FROM ");
            put_text(to, k, column);
        }
        kn_buffer_add(to, any ? ", " : ") IN (");
        kn_connection_put_text(to, k->engine->connection, k->na[i]);
        any = true;
    }
    kn_buffer_add(to, any ? "))" : ")");
}

/* A cell with null for a missing one, equal where kanon's text is. */
static void put_value(kn_buffer *to, const kn_carry *k, int column)
{
    kn_buffer_add(to, "CASE WHEN NOT ");
    put_missing(to, k, column);
    kn_buffer_add(to, " THEN ");
    put_cell(to, k, k->columns[column].name);
    kn_buffer_add(to, k->columns[column].format.kind == KN_ARROW_FLOAT ? " + 0 END" : " END"); /* no negative zero */
}

/* By what a column is sorted: the bytes of its text, a missing cell as it is released. */
static void put_order(kn_buffer *to, const kn_carry *k, int column)
{
    const kn_carried *c = &k->columns[column];
    bool              natural = c->format.kind == KN_ARROW_DATE || c->format.kind == KN_ARROW_TIME ||
                   (c->format.kind == KN_ARROW_TIMESTAMP && c->format.naive);
    if (natural && !*k->missing && !is_na_possible(k, column)) {
        put_cell(to, k, c->name);
        kn_buffer_add(to, " NULLS FIRST");
        return;
    }
    kn_buffer_add(to, "CASE WHEN ");
    put_missing(to, k, column);
    kn_buffer_add(to, " THEN ");
    kn_connection_put_text(to, k->engine->connection, k->missing);
    kn_buffer_add(to, " ELSE ");
    put_text(to, k, column);
    kn_buffer_add(to, " END");
}

static bool is_na(const kn_carry *k, kn_string text)
{
    text = kn_value_trim(text);
    for (int i = 0; i < k->na_count; i++)
        if (kn_string_equal(text, kn_string_of(k->na[i]))) return true;
    return false;
}

const char *kn_carry_text(kn_string *out, kn_arrow_cell *cell, const kn_carry *k, int column, const kn_arrow_view *view,
                          int64_t at)
{
    const kn_arrow_format *f = &k->columns[column].format;
    *out = kn_string_of(k->missing);
    if (f->kind == KN_ARROW_NULL || !kn_arrow_valid(view, at)) return NULL;
    kn_string   text = {cell->text, 0};
    const char *reason = NULL;
    if (f->kind == KN_ARROW_BOOL) {
        text = kn_string_of(kn_arrow_bit(view->data, at) ? "true" : "false");
    } else if (kn_carry_is_text(k, column)) {
        reason = kn_arrow_text_at(view, f, at, &text);
    } else {
        kn_arrow_cell_text(cell, f, view->data + at * f->width);
        reason = cell->reason;
        text.size = cell->size;
        if (cell->nan) return NULL;
    }
    if (!reason && !is_na(k, text)) *out = text;
    return reason;
}

/* ---- Combinations ---- */

static kn_status describe(kn_carry *k, kn_error *err)
{
    struct ArrowArrayStream stream;
    struct ArrowSchema      schema = {.release = NULL};
    kn_buffer               sql;
    kn_buffer_init(&sql, k->engine->ctx);
    for (int i = 0; i < k->count; i++) {
        kn_buffer_add(&sql, i > 0 ? ", " : "SELECT ");
        put_cell(&sql, k, k->columns[i].name);
    }
    kn_buffer_format(&sql, " FROM %s AS t LIMIT 0", k->engine->relation.data);
    KN_TRY(query(&stream, k, &sql, err));
    bool good = stream.get_schema(&stream, &schema) == 0 && schema.n_children == k->count;
    for (int i = 0; good && i < k->count; i++)
        good =
            !schema.children[i]->dictionary && kn_arrow_format_parse(schema.children[i]->format, &k->columns[i].format);
    if (schema.release) schema.release(&schema);
    stream.release(&stream);
    return good
               ? KN_OK
               : kn_fail(err, KN_INPUT, "%.300s: a kept column is of a type that kanon does not read", k->engine->name);
}

/* A null is released as the empty text, which must be a spelling of missing cells then. */
static kn_status check_nulls(const kn_carry *k, kn_error *err)
{
    for (int i = 0; i < k->na_count; i++)
        if (!*k->na[i]) return KN_OK;
    for (int i = 0; i < k->count; i++) {
        int64_t   nulls = 0;
        kn_buffer sql;
        kn_buffer_init(&sql, k->engine->ctx);
        kn_buffer_format(&sql, "SELECT count(*) FROM %s AS t WHERE ", k->engine->relation.data);
        put_null(&sql, k, i);
        KN_TRY(number(&nulls, k, &sql, err));
        if (nulls > 0)
            return kn_fail(err, KN_INPUT, "%.300s: column \"%.200s\": " KN_ARROW_NO_NULLS, k->engine->name,
                           k->columns[i].name);
    }
    return KN_OK;
}

/* The spellings of missing cells, without spaces around them. */
static kn_status take_na(kn_carry *k, const kn_csv_options *csv, kn_error *err)
{
    const char *const *na = csv->na ? csv->na : kn_default_na();
    int                count = csv->na ? csv->na_count : 0;
    while (!csv->na && na[count]) count++;
    const char **out = kn_arena_array(&k->arena, (size_t)count + 1, sizeof *out);
    if (!out) return no_memory(k, err);
    for (; k->na_count < count; k->na_count++) {
        kn_string text = kn_value_trim(kn_string_of(na[k->na_count]));
        out[k->na_count] = kn_arena_strndup(&k->arena, text.data, text.size);
        if (!out[k->na_count]) return no_memory(k, err);
    }
    k->na = out;
    return KN_OK;
}

kn_status kn_carry_open(kn_carry *out, kn_engine *engine, const kn_csv_options *csv, const bool *kept,
                        const char *missing, bool guarded, kn_error *err)
{
    size_t count = (size_t)csv->column_count;
    *out = (kn_carry){.engine = engine, .csv = *csv, .all = csv->column_count, .missing = missing, .guarded = guarded};
    kn_arena_init(&out->arena, engine->ctx);
    out->columns = kn_arena_array_zero(&out->arena, count + 1, sizeof *out->columns);
    const char **others = kn_arena_array(&out->arena, count + 1, sizeof *others);
    out->rows = kn_arena_strndup(&out->arena, engine->relation.data, strlen(engine->relation.data));
    if (out->arena.failed) return no_memory(out, err);
    KN_TRY(take_na(out, csv, err));
    out->csv.column_count = 0;
    out->csv.columns = others;
    for (int i = 0; i < csv->column_count; i++) {
        const char *name = kn_arena_strndup(&out->arena, csv->columns[i], strlen(csv->columns[i]));
        if (!name) return no_memory(out, err);
        if (kept[i])
            out->columns[out->count++] = (kn_carried){.name = name, .place = i};
        else
            others[out->csv.column_count++] = name;
    }
    KN_TRY(describe(out, err));
    KN_TRY(check_nulls(out, err));
    bool fractions = false;
    for (int i = 0; i < out->count; i++) fractions = fractions || out->columns[i].format.kind == KN_ARROW_FLOAT;
    if (fractions) KN_TRY(run_text(out, DIGITS, err));
    return fractions ? run_text(out, FRACTION, err) : KN_OK;
}

void kn_carry_close(kn_carry *k)
{
    static const char *const tables[] = {"kanon_shown", "kanon_given", "kanon_groups"};
    if (!k->engine) return;
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) (void)!drop(k, tables[i], NULL);
    kn_arena_free(&k->arena);
    *k = (kn_carry){.engine = NULL};
}

static kn_status make_groups(const kn_carry *k, kn_error *err)
{
    kn_buffer sql;
    KN_TRY(drop(k, "kanon_groups", err));
    kn_buffer_init(&sql, k->engine->ctx);
    kn_connection_put_create(&sql, k->engine->connection);
    kn_buffer_add(&sql, "kanon_groups AS SELECT *, row_number() OVER () AS id FROM (SELECT ");
    for (int i = 0; i < k->csv.column_count; i++) {
        put_cell(&sql, k, k->csv.columns[i]);
        kn_buffer_format(&sql, " AS g%d, ", i);
    }
    kn_buffer_format(&sql, "count(*) AS n FROM %s AS t GROUP BY ", k->rows);
    for (int i = 0; i < k->csv.column_count; i++) kn_buffer_format(&sql, i > 0 ? ", %d" : "%d", i + 1);
    kn_buffer_add(&sql, ") AS g");
    return run(k, &sql, err);
}

kn_status kn_carry_group(kn_table **out, kn_carry *k, kn_error *err)
{
    struct ArrowArrayStream stream;
    char                   *counts = NULL;
    kn_csv_options          csv = k->csv;
    kn_buffer               sql;
    *out = NULL;
    KN_TRY(make_groups(k, err));
    KN_TRY(kn_engine_name_counts(&counts, k->engine, &csv, err));
    kn_buffer_init(&sql, k->engine->ctx);
    kn_buffer_add(&sql, "SELECT ");
    for (int i = 0; i < csv.column_count; i++) {
        kn_buffer_format(&sql, "g%d AS ", i);
        kn_connection_put_name(&sql, k->engine->connection, csv.columns[i]);
        kn_buffer_add(&sql, ", ");
    }
    kn_buffer_add(&sql, "n AS ");
    kn_connection_put_name(&sql, k->engine->connection, counts);
    kn_buffer_add(&sql, " FROM kanon_groups ORDER BY id");
    csv.count = counts;
    kn_status st = query(&stream, k, &sql, err);
    if (st == KN_OK) st = kn_arrow_import_as_csv(out, k->engine->ctx, &stream, &csv, k->engine->name, err);
    kn_free(counts);
    return st;
}

kn_status kn_carry_numbers(kn_numbers *out, kn_carry *k, const char *relation, kn_error *err)
{
    kn_buffer sql;
    *out = (kn_numbers){0};
    k->rows = kn_arena_strndup(&k->arena, relation, strlen(relation));
    if (!k->rows) return no_memory(k, err);
    KN_TRY(make_groups(k, err));
    kn_buffer_init(&sql, k->engine->ctx);
    kn_buffer_add(&sql, "SELECT ");
    for (int i = 0; i < k->csv.column_count; i++) kn_buffer_format(&sql, "g%d, ", i);
    kn_buffer_add(&sql, "n FROM kanon_groups ORDER BY id");
    kn_status st = kn_connection_numbers(out, k->csv.column_count + 1, k->engine->connection, k->engine->ctx,
                                         kn_buffer_text(&sql), k->engine->name, err);
    kn_buffer_free(&sql);
    return st;
}

kn_status kn_carry_figures_of(kn_carry_figures *out, const kn_carry *k, int column, kn_error *err)
{
    kn_numbers numbers;
    kn_buffer  sql;
    *out = (kn_carry_figures){0};
    kn_buffer_init(&sql, k->engine->ctx);
    kn_buffer_add(
        &sql, "SELECT CAST(coalesce(sum(n), 0) AS BIGINT), count(*), count(CASE WHEN n = 1 THEN 1 END) FROM (SELECT "
              "count(*) AS n FROM (SELECT ");
    put_value(&sql, k, column);
    kn_buffer_format(&sql, " AS v FROM %s AS t) AS c WHERE v IS NOT NULL GROUP BY v) AS g", k->engine->relation.data);
    kn_status st = kn_connection_numbers(&numbers, 3, k->engine->connection, k->engine->ctx, kn_buffer_text(&sql),
                                         k->engine->name, err);
    kn_buffer_free(&sql);
    if (st == KN_OK && numbers.rows == 1)
        *out = (kn_carry_figures){numbers.columns[0][0], numbers.columns[1][0], numbers.columns[2][0]};
    kn_numbers_free(&numbers);
    return st;
}

/* ---- Rows ---- */

kn_status kn_carry_give(const kn_carry *k, const kn_numbers *numbers, kn_error *err)
{
    kn_buffer sql;
    KN_TRY(
        kn_connection_put_numbers(k->engine->connection, k->engine->ctx, "kanon_given", numbers, k->engine->name, err));
    KN_TRY(drop(k, "kanon_shown", err));
    kn_buffer_init(&sql, k->engine->ctx);
    kn_connection_put_create(&sql, k->engine->connection);
    kn_buffer_add(&sql, "kanon_shown AS SELECT * FROM kanon_groups JOIN kanon_given ON n0 = id");
    KN_TRY(run(k, &sql, err));
    return drop(k, "kanon_given", err);
}

/* Behind FROM: every row that is shown with its combination. */
static void put_joined(kn_buffer *to, const kn_carry *k)
{
    kn_buffer_format(to, " FROM %s AS t JOIN kanon_shown AS g ON ", k->rows);
    for (int i = 0; i < k->csv.column_count; i++) {
        kn_buffer_add(to, i > 0 ? " AND " : "");
        put_cell(to, k, k->csv.columns[i]);
        kn_buffer_format(to, " %s g.g%d", kn_connection_same(k->engine->connection), i);
    }
}

kn_status kn_carry_alone(int64_t *out, const kn_carry *k, int numbers, kn_error *err)
{
    kn_buffer sql;
    kn_buffer_init(&sql, k->engine->ctx);
    kn_buffer_add(&sql, "SELECT count(*) FROM (SELECT ");
    for (int i = 1; i <= numbers; i++) kn_buffer_format(&sql, "g.n%d, ", i);
    for (int i = 0; i < k->count; i++) {
        put_value(&sql, k, i);
        kn_buffer_format(&sql, " AS v%d, ", i);
    }
    kn_buffer_add(&sql, "count(*) AS r");
    put_joined(&sql, k);
    for (int i = 1; i <= numbers + k->count; i++) kn_buffer_format(&sql, i > 1 ? ", %d" : " GROUP BY %d", i);
    kn_buffer_add(&sql, ") AS c WHERE r = 1");
    return number(out, k, &sql, err);
}

kn_status kn_carry_rows(struct ArrowArrayStream *out, const kn_carry *k, int column, const kn_carry_release *release,
                        kn_error *err)
{
    kn_buffer sql;
    kn_buffer_init(&sql, k->engine->ctx);
    kn_buffer_add(&sql, "SELECT ");
    if (column < 0) kn_buffer_add(&sql, "g.n1");
    for (int i = 0; i < k->count; i++) {
        if (column >= 0 && column != i) continue;
        kn_buffer_add(&sql, column < 0 ? ", " : "");
        put_cell(&sql, k, k->columns[i].name);
    }
    put_joined(&sql, k);
    if (column < 0) kn_buffer_add(&sql, " ORDER BY g.n2");
    for (int i = 0; column < 0 && i < release->order_count; i++) {
        kn_buffer_add(&sql, ", ");
        if (release->order[i] >= 0)
            put_order(&sql, k, release->order[i]);
        else
            kn_buffer_format(&sql, "g.n%d", -release->order[i]);
    }
    return query(out, k, &sql, err);
}
