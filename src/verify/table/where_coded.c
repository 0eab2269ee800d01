/* table/where_coded.c: an original whose distinct combinations do not fit the memory, verified where it is.
 *
 * Of each column its values come here, and how many rows have them: what texts mean, the hierarchies, the metrics and what the
 * promises compare with need no more. The rows stay in the engine as numbers of values (kanon_verify_rows). The release is read as ever, and
 * everything that is promised is counted on it.
 *
 * Whether every released row has an original of its own: at the level that a column shows, its values and the released cells have codes
 * that the verifier's own reading of the hierarchy gives them. Originals count + 1, released rows - 1, and equal ones are added up: what is
 * below 0 has no original left. With one level per column a row can be shown in one way only, so that this is exact. Where
 * suppressed rows show their sensitive cells these are compared likewise, suppressed rows included.
 *
 * Cost: the engine's: one GROUP BY of the original, and one or two of that. Memory: the values of the columns, the release.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "kn_alloc.h"
#include "kn_buffer.h"
#include "kn_connection.h"
#include "kn_error.h"
#include "kn_verify_internal.h"

#define WHAT "verifying"
#define NOBODY UINT32_MAX

/* A column of the original. */
typedef struct coded_column {
    int        column; /* of the side                                        */
    bool       quasi, sensitive;
    kn_vtable *values; /* its distinct values, in the order of their numbers */
    uint32_t  *text;   /* per number: which text of the original's column; NOBODY: no row that takes part has it */
    kn_string *texts;
    int64_t   *rows;
    uint32_t   count;
} coded_column;

typedef struct kn_vcoded {
    const kn_vside *side;
    coded_column   *columns;
    int             count;
} kn_vcoded;

static kn_status no_memory(const kn_verifier *v, kn_error *err)
{
    return kn_fail_memory(err, v->ctx, WHAT);
}

/* ---- Statements ---- */

static kn_status run(const kn_verifier *v, kn_buffer *sql, kn_error *err)
{
    const kn_engine_table *t = v->where->original.table;
    const char            *text = kn_buffer_text(sql);
    kn_status              st = text ? kn_connection_run(t->connection, v->ctx, text, t->name, err) : no_memory(v, err);
    kn_buffer_free(sql);
    return st;
}

static kn_status ask(kn_numbers *out, int columns, const kn_verifier *v, kn_buffer *sql, kn_error *err)
{
    const kn_engine_table *t = v->where->original.table;
    kn_status st = kn_connection_numbers(out, columns, t->connection, v->ctx, kn_buffer_text(sql), t->name, err);
    kn_buffer_free(sql);
    return st;
}

static kn_status forget_table(const kn_verifier *v, const char *name, int number, kn_error *err)
{
    const kn_engine_table *t = v->where->original.table;
    char                   text[60];
    snprintf(text, sizeof text, number < 0 ? "%s" : "%s_%d", name, number);
    return kn_connection_drop(t->connection, v->ctx, text, t->name, err);
}

void kn_vcoded_free(kn_verifier *v)
{
    static const char *const numbered[] = {"kanon_verify_values", "kanon_verify_codes"};
    static const char *const single[] = {"kanon_verify_rows", "kanon_verify_release"};
    kn_vcoded               *k = v->where->coded;
    kn_error                 ignored = KN_ERROR_INIT; /* the session ends with them, else */
    if (!k) return;
    for (int i = 0; k->columns && i < k->count; i++) {
        coded_column *c = &k->columns[i];
        for (int t = 0; t < 2; t++) (void)!forget_table(v, numbered[t], i, &ignored);
        kn_vtable_free(c->values);
        KN_FREE(c->text, c->texts, c->rows);
    }
    for (int t = 0; t < 2; t++) (void)!forget_table(v, single[t], -1, &ignored);
    KN_FREE(k->columns, k);
    v->where->coded = NULL;
}

/* ---- Values ---- */

static kn_status read_values(kn_verifier *v, int i, const kn_vread_options *options, kn_error *err)
{
    kn_vcoded              *k = v->where->coded;
    const kn_engine_table  *t = k->side->table;
    struct ArrowArrayStream stream;
    kn_buffer               sql;
    char                    text[100];
    KN_TRY(forget_table(v, "kanon_verify_values", i, err));
    kn_buffer_init(&sql, v->ctx);
    kn_connection_put_create(&sql, t->connection);
    kn_buffer_format(
        &sql, "kanon_verify_values_%d AS SELECT v, row_number() OVER (ORDER BY v) - 1 AS n FROM (SELECT DISTINCT ", i);
    kn_vside_put(&sql, k->side, k->columns[i].column);
    kn_buffer_format(&sql, " AS v FROM %s AS t) AS d", t->relation);
    KN_TRY(run(v, &sql, err));
    if (t->connection->dialect == KN_DIALECT_POSTGRESQL) { /* which counts a new table's rows only if it is told to */
        snprintf(text, sizeof text, "ANALYZE kanon_verify_values_%d", i);
        KN_TRY(kn_connection_run(t->connection, v->ctx, text, t->name, err));
    }
    snprintf(text, sizeof text, "SELECT v FROM kanon_verify_values_%d ORDER BY n", i);
    KN_TRY(kn_connection_query(&stream, t->connection, v->ctx, text, t->name, err));
    return kn_vtable_read_stream(&k->columns[i].values, v->ctx, &stream, t->name, options, err);
}

/* Rows that the request leaves out: with a missing quasi-identifier. */
static void put_condition(kn_buffer *to, const kn_verifier *v)
{
    const kn_vcoded *k = v->where->coded;
    bool             any = false;
    for (int i = 0; i < k->count && v->spec->missing == KN_MISSING_DROP; i++) {
        const kn_vcolumn *column = &k->columns[i].values->columns[0];
        for (int64_t n = 0; k->columns[i].quasi && n < k->columns[i].values->rows; n++) {
            if (!kn_v_is_missing(v->spec, column->texts[kn_vcode(column, n)])) continue;
            kn_buffer_format(to, "%s v%d.n <> %" PRId64, any ? " AND" : " WHERE", i, n);
            any = true;
        }
    }
}

/* A column's cells with their numbers; missing ones are equal. PostgreSQL compares arrays so by hashing, and single cells pair by pair. */
static void put_join(kn_buffer *to, const kn_vcoded *k, int i)
{
    const kn_connection *c = k->side->table->connection;
    bool                 arrays = c->dialect == KN_DIALECT_POSTGRESQL;
    kn_buffer_format(to, " JOIN kanon_verify_values_%d AS v%d ON ", i, i);
    kn_buffer_format(to, arrays ? "ARRAY[v%d.v] = ARRAY[" : "v%d.v ", i);
    if (!arrays) kn_buffer_format(to, "%s ", kn_connection_same(c));
    kn_vside_put(to, k->side, k->columns[i].column);
    kn_buffer_add(to, arrays ? "]" : "");
}

static kn_status make_rows(kn_verifier *v, kn_error *err)
{
    const kn_vcoded       *k = v->where->coded;
    const kn_engine_table *t = k->side->table;
    kn_buffer              sql;
    KN_TRY(forget_table(v, "kanon_verify_rows", -1, err));
    kn_buffer_init(&sql, v->ctx);
    kn_connection_put_create(&sql, t->connection);
    kn_buffer_add(&sql, "kanon_verify_rows AS SELECT ");
    for (int i = 0; i < k->count; i++) kn_buffer_format(&sql, "v%d.n AS q%d, ", i, i);
    kn_buffer_format(&sql, "count(*) AS n FROM %s AS t", t->relation);
    for (int i = 0; i < k->count; i++) put_join(&sql, k, i);
    put_condition(&sql, v);
    for (int i = 1; i <= k->count; i++) kn_buffer_format(&sql, i > 1 ? ", %d" : " GROUP BY %d", i);
    return run(v, &sql, err);
}

/* The texts that rows which take part have, and how many. */
static kn_status count_texts(kn_verifier *v, int i, int64_t *total, kn_error *err)
{
    coded_column     *c = &v->where->coded->columns[i];
    const kn_vcolumn *values = &c->values->columns[0];
    kn_numbers        found;
    kn_buffer         sql;
    kn_buffer_init(&sql, v->ctx);
    kn_buffer_format(&sql, "SELECT q%d, CAST(sum(n) AS BIGINT) AS n FROM kanon_verify_rows GROUP BY 1", i);
    KN_TRY(ask(&found, 2, v, &sql, err));
    uint32_t *place = kn_alloc_array(v->ctx, (size_t)values->count + 1, sizeof *place);
    c->text = kn_alloc_array(v->ctx, (size_t)c->values->rows + 1, sizeof *c->text);
    c->texts = kn_alloc_array(v->ctx, (size_t)values->count + 1, sizeof *c->texts);
    c->rows = kn_alloc_array_zero(v->ctx, (size_t)values->count + 1, sizeof *c->rows);
    bool room = place && c->text && c->texts && c->rows;
    for (uint32_t t = 0; room && t < values->count; t++) place[t] = NOBODY;
    for (int64_t n = 0; room && n < c->values->rows; n++) c->text[n] = NOBODY;
    *total = 0;
    for (int64_t f = 0; room && f < found.rows; f++) {
        int64_t  n = found.columns[0][f];
        uint32_t text = kn_vcode(values, n);
        if (place[text] == NOBODY) {
            place[text] = c->count;
            c->texts[c->count++] = values->texts[text];
        }
        c->text[n] = place[text];
        c->rows[place[text]] += found.columns[1][f];
        *total += found.columns[1][f];
    }
    kn_free(place);
    kn_numbers_free(&found);
    return room ? KN_OK : no_memory(v, err);
}

/* A table that has the columns, without rows of its own. */
static kn_status make_original(kn_verifier *v, const kn_vread_options *options, int64_t total, kn_error *err)
{
    const kn_vcoded        *k = v->where->coded;
    const kn_engine_table  *t = k->side->table;
    struct ArrowArrayStream stream;
    kn_buffer               sql;
    kn_buffer_init(&sql, v->ctx);
    kn_buffer_add(&sql, "SELECT ");
    for (int i = 0; i < k->count; i++) {
        kn_buffer_add(&sql, i > 0 ? ", " : "");
        kn_vside_put(&sql, k->side, k->columns[i].column);
        kn_buffer_add(&sql, " AS ");
        kn_connection_put_name(&sql, t->connection, k->side->names[k->columns[i].column]);
    }
    kn_buffer_format(&sql, " FROM %s AS t LIMIT 0", t->relation);
    const char *text = kn_buffer_text(&sql);
    kn_status   st = text ? kn_connection_query(&stream, t->connection, v->ctx, text, t->name, err) : no_memory(v, err);
    kn_buffer_free(&sql);
    if (st != KN_OK) return st;
    KN_TRY(kn_vtable_read_stream(&v->original, v->ctx, &stream, t->name, options, err));
    if (v->original->column_count != k->count)
        return kn_fail(err, KN_INPUT, "%.300s: the engine answers with other columns than were asked for", t->name);
    for (int i = 0; i < k->count; i++) {
        v->original->columns[i].texts = k->columns[i].texts;
        v->original->columns[i].count = k->columns[i].count;
        v->original->columns[i].rows = k->columns[i].rows;
    }
    v->original->counts = kn_arena_array_zero(&v->original->arena, 1, sizeof *v->original->counts);
    v->original->total = total;
    if (!v->original->counts) return no_memory(v, err);
    return kn_vtable_take_names(v->original, k->side->names, k->side->count, err);
}

static kn_status open_columns(kn_verifier *v, kn_error *err)
{
    kn_vwhere *w = v->where;
    w->squares = NAN;
    w->coded = kn_alloc_zero(v->ctx, sizeof *w->coded);
    if (!w->coded) return no_memory(v, err);
    w->coded->side = &w->original;
    w->coded->columns = kn_alloc_array_zero(v->ctx, (size_t)v->spec->attribute_count + 1, sizeof *w->coded->columns);
    if (!w->coded->columns) return no_memory(v, err);
    for (int i = 0; i < v->spec->attribute_count; i++) {
        const kn_attribute *a = &v->spec->attributes[i];
        int                 column = kn_vside_find(&w->original, a->name);
        if (!kn_verify_is_released(v->spec, a) || a->role == KN_ROLE_KEEP || column < 0) continue;
        w->coded->columns[w->coded->count++] = (coded_column){
            .column = column, .quasi = a->role == KN_ROLE_QUASI, .sensitive = a->role == KN_ROLE_SENSITIVE};
    }
    return KN_OK;
}

kn_status kn_vcoded_read(kn_verifier *v, const kn_vread_options *options, kn_error *err)
{
    int64_t total = 0, same = 0;
    KN_TRY(open_columns(v, err));
    for (int i = 0; i < v->where->coded->count; i++) KN_TRY(read_values(v, i, options, err));
    KN_TRY(make_rows(v, err));
    for (int i = 0; i < v->where->coded->count; i++) {
        KN_TRY(count_texts(v, i, &total, err));
        if (i > 0 && total != same)
            return kn_fail(err, KN_INPUT, "%.300s changed while it was verified", v->where->original.table->name);
        same = total;
    }
    return make_original(v, options, total, err);
}

/* ---- Codes ---- */

static kn_vquasi *quasi_of(const kn_verifier *v, const char *name)
{
    for (int i = 0; i < v->quasi_count; i++)
        if (strcmp(v->quasi[i].attribute->name, name) == 0) return &v->quasi[i];
    return NULL;
}

static kn_vcopy *copy_of(const kn_verifier *v, const char *name)
{
    for (int i = 0; i < v->copy_count; i++)
        if (strcmp(v->copies[i].attribute->name, name) == 0) return &v->copies[i];
    return NULL;
}

static int64_t copied_code(uint32_t value)
{
    return value == KN_V_NONE ? KN_VCODE_NO_RELEASE : value == KN_V_MISSING ? KN_VCODE_MISSING : (int64_t)value;
}

/* Of a text of the original; *node: the node of the hierarchy that stands for it. */
static int64_t original_code(const kn_verifier *v, const kn_vquasi *q, const kn_vcopy *c, uint32_t text, int64_t *node)
{
    *node = 0;
    if (!q) return c->exact ? (int64_t)text : copied_code(c->domain.of_original[text]);
    const kn_vtree *t = q->tree;
    uint32_t        value = q->domain.of_original[text];
    bool            top = (uint32_t)q->level == t->height;
    if (!top) *node = -1; /* a missing cell is one of its own */
    if (!top && value < KN_V_MISSING)
        *node = t->paths[(size_t)t->leaf_of_value[value] * (t->height + 1) + (size_t)q->level];
    return kn_vquasi_code(v, q, q->level, value);
}

/* Hands the engine what a column's numbers are compared by: number, code, node. */
static kn_status put_codes(kn_verifier *v, int i, kn_error *err)
{
    const kn_vcoded       *k = v->where->coded;
    const kn_engine_table *t = k->side->table;
    const coded_column    *c = &k->columns[i];
    const char            *name = k->side->names[c->column];
    const kn_vquasi       *q = quasi_of(v, name);
    const kn_vcopy        *copy = copy_of(v, name);
    size_t                 many = (size_t)c->values->rows + 1;
    int64_t               *columns[3], rows = 0;
    char                   table[40];
    snprintf(table, sizeof table, "kanon_verify_codes_%d", i);
    for (int j = 0; j < 3; j++) columns[j] = kn_alloc_array(v->ctx, many, sizeof *columns[j]);
    bool room = columns[0] && columns[1] && columns[2];
    for (int64_t n = 0; room && n < c->values->rows; n++) {
        if (c->text[n] == NOBODY) continue;
        columns[0][rows] = n;
        columns[1][rows] = original_code(v, q, copy, c->text[n], &columns[2][rows]);
        rows++;
    }
    kn_numbers numbers = {3, rows, columns};
    kn_status  st =
        room ? kn_connection_put_numbers(t->connection, v->ctx, table, &numbers, t->name, err) : no_memory(v, err);
    KN_FREE(columns[0], columns[1], columns[2]);
    return st;
}

static int64_t released_code(const kn_verifier *v, const kn_vcoded *k, int i, int64_t row)
{
    const char      *name = k->side->names[k->columns[i].column];
    const kn_vquasi *q = quasi_of(v, name);
    if (q) return kn_vcell_code(q, q->level, &q->cells[kn_vcode(q->release, row)]);
    const kn_vcopy *c = copy_of(v, name);
    uint32_t        text = kn_vcode(c->release, row);
    return copied_code(c->exact ? c->exact[text] : c->of_release[text]);
}

/* Hands the engine the release as codes. `sensitive`: of the sensitive columns, and with suppressed rows. */
static kn_status put_release(kn_verifier *v, bool sensitive, kn_error *err)
{
    const kn_vcoded       *k = v->where->coded;
    const kn_engine_table *t = k->side->table;
    kn_numbers             numbers = {.count = k->count + 1};
    numbers.columns = kn_alloc_array_zero(v->ctx, (size_t)k->count + 2, sizeof *numbers.columns);
    bool room = numbers.columns != NULL;
    for (int i = 0; room && i <= k->count; i++) {
        numbers.columns[i] = kn_alloc_array_zero(v->ctx, (size_t)v->release->rows + 1, sizeof **numbers.columns);
        room = numbers.columns[i] != NULL;
    }
    for (int64_t row = 0; room && row < v->release->rows; row++) {
        if (!sensitive && v->starred[row]) continue;
        for (int i = 0; i < k->count; i++)
            if (!sensitive || k->columns[i].sensitive) numbers.columns[i][numbers.rows] = released_code(v, k, i, row);
        numbers.columns[k->count][numbers.rows++] = kn_vcount(v->release, row);
    }
    kn_status st =
        room ? kn_connection_put_numbers(t->connection, v->ctx, "kanon_verify_release", &numbers, t->name, err)
             : no_memory(v, err);
    kn_numbers_free(&numbers);
    return st;
}

/* ---- Comparing ---- */

static bool compared(const kn_vcoded *k, int i, bool sensitive)
{
    return !sensitive || k->columns[i].sensitive;
}

/* The original at the levels: the columns' codes (which: 1) or nodes (2), and the rows. */
static void put_original(kn_buffer *to, const kn_vcoded *k, int which, bool sensitive)
{
    for (int i = 0; i < k->count; i++)
        if (compared(k, i, sensitive)) kn_buffer_format(to, "c%d.n%d AS x%d, ", i, which, i);
    kn_buffer_add(to, "t.n AS n FROM kanon_verify_rows AS t");
    for (int i = 0; i < k->count; i++)
        if (compared(k, i, sensitive))
            kn_buffer_format(to, " JOIN kanon_verify_codes_%d AS c%d ON c%d.n0 = t.q%d", i, i, i, i);
}

static void put_groups(kn_buffer *to, const kn_vcoded *k, bool sensitive)
{
    int put = 0;
    for (int i = 0; i < k->count; i++)
        if (compared(k, i, sensitive)) kn_buffer_format(to, put++ > 0 ? ", x%d" : " GROUP BY x%d", i);
}

/* How many released rows have no original left, and how many originals no row. */
static kn_status compare(kn_verifier *v, bool sensitive, int64_t *invented, int64_t *left, kn_error *err)
{
    const kn_vcoded *k = v->where->coded;
    kn_numbers       found;
    kn_buffer        sql;
    KN_TRY(put_release(v, sensitive, err));
    kn_buffer_init(&sql, v->ctx);
    kn_buffer_add(&sql,
                  "SELECT CAST(coalesce(sum(CASE WHEN n < 0 THEN -n ELSE 0 END), 0) AS BIGINT) AS a, "
                  "CAST(coalesce(sum(CASE WHEN n > 0 THEN n ELSE 0 END), 0) AS BIGINT) AS b FROM (SELECT sum(n) AS n "
                  "FROM (SELECT ");
    put_original(&sql, k, 1, sensitive);
    kn_buffer_add(&sql, " UNION ALL SELECT ");
    for (int i = 0; i < k->count; i++)
        if (compared(k, i, sensitive)) kn_buffer_format(&sql, "n%d AS x%d, ", i, i);
    kn_buffer_format(&sql, "-n%d AS n FROM kanon_verify_release) AS u", k->count);
    put_groups(&sql, k, sensitive);
    kn_buffer_add(&sql, ") AS g");
    KN_TRY(ask(&found, 2, v, &sql, err));
    bool good = found.rows == 1;
    *invented = good ? found.columns[0][0] : 0;
    *left = good ? found.columns[1][0] : 0;
    kn_numbers_free(&found);
    return good ? KN_OK : kn_fail(err, KN_INPUT, "%.300s: the engine gives no numbers", k->side->table->name);
}

/* dm_star, where rows were suppressed: the original's classes at these levels. */
static kn_status sum_squares(kn_verifier *v, kn_error *err)
{
    const kn_vcoded *k = v->where->coded;
    kn_numbers       sizes;
    kn_u128          squares = 0;
    kn_buffer        sql;
    bool             any = false;
    if (v->suppressed == 0) return KN_OK;
    kn_buffer_init(&sql, v->ctx);
    kn_buffer_add(&sql, "SELECT n, count(*) AS c FROM (SELECT CAST(sum(n) AS BIGINT) AS n FROM (SELECT ");
    put_original(&sql, k, 2, false);
    kn_buffer_add(&sql, ") AS u");
    for (int i = 0; i < k->count; i++) {
        if (!k->columns[i].quasi) continue;
        kn_buffer_format(&sql, any ? ", x%d" : " GROUP BY x%d", i);
        any = true;
    }
    kn_buffer_add(&sql, ") AS g GROUP BY n");
    KN_TRY(ask(&sizes, 2, v, &sql, err));
    for (int64_t i = 0; i < sizes.rows; i++)
        squares += (kn_u128)sizes.columns[0][i] * (kn_u128)sizes.columns[0][i] * (kn_u128)sizes.columns[1][i];
    kn_numbers_free(&sizes);
    v->where->squares = (double)squares;
    return KN_OK;
}

/* ---- Judging ---- */

/* Several levels fit, and none is claimed: another one may be meant. */
static bool is_ambiguous(const kn_verifier *v)
{
    for (int i = 0; i < v->quasi_count && !v->options->levels; i++) {
        int fitting = 0;
        for (uint32_t level = 0; level <= v->quasi[i].tree->height; level++)
            fitting += v->quasi[i].levels[level / 64] >> level % 64 & 1;
        if (fitting > 1) return true;
    }
    return false;
}

static void judge(kn_verifier *v, int64_t invented)
{
    if (invented == 0) {
        v->report->assignment = KN_ASSIGNMENT_PROVED;
        return;
    }
    if (is_ambiguous(v)) {
        kn_vopen(v->notes,
                 "whether every released row has an original of its own: a label of the hierarchies is on several "
                 "levels; give more memory (--memory-limit)");
        return;
    }
    v->report->assignment = KN_ASSIGNMENT_REFUTED;
    kn_vproblem(v->notes,
                "%" PRId64 " released row%s cannot come from the original: no original that looks like %s and has the "
                "same sensitive cells is left",
                invented, invented == 1 ? "" : "s", invented == 1 ? "it" : "them");
}

kn_status kn_verify_coded(kn_verifier *v, kn_error *err)
{
    int64_t invented = 0, left = 0;
    v->report->assignment = KN_ASSIGNMENT_UNDECIDED;
    for (int i = 0; i < v->quasi_count; i++) {
        if (v->quasi[i].level >= 0 && !v->quasi[i].unclaimed) continue;
        kn_vopen(v->notes,
                 "whether every released row has an original of its own: the columns are not generalized to one "
                 "level each; give more memory (--memory-limit)");
        return KN_OK;
    }
    for (int i = 0; i < v->where->coded->count; i++) KN_TRY(put_codes(v, i, err));
    KN_TRY(compare(v, false, &invented, &left, err));
    if (left - invented != v->originals - (kn_vtotal(v->release) - v->star_rows))
        return kn_fail(err, KN_INPUT, "%.300s changed while it was verified", v->where->original.table->name);
    bool shown = v->spec->suppressed == KN_SUPPRESSED_KEEP_SENSITIVE && v->star_rows > 0;
    if (invented == 0 && shown) KN_TRY(compare(v, true, &invented, &left, err));
    judge(v, invented);
    return sum_squares(v, err);
}
