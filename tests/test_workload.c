/* test_workload.c: workloads: the parser, answers against counting value by value, published statistics, and partitioning
 * that follows a workload. Files: test_workload_files.c.
 * SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include <kanon/workload.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_partition.h"
#include "kn_rng.h"
#include "kn_summary.h"
#include "kn_table.h"
#include "kn_workload.h"
#include "kn_workload_eval.h"
#include "kn_workload_eval_condition.h"
#include "kn_workload_regions.h"

/* ---- The parser ---- */

static kn_status parse(kn_workload **out, kn_context *ctx, const char *text, kn_error *err)
{
    return kn_workload_parse(out, ctx, "w.sql", text, strlen(text), err);
}

static void test_parser(void **state)
{
    kn_context  *ctx = testing_context(1);
    kn_workload *w = NULL;
    kn_error     err = KN_ERROR_INIT;
    (void)state;
    assert_ok(parse(&w, ctx,
                    "\xEF\xBB\xBF-- first\n;; 2.5 select count ( * ) from people where sex='it''s' -- no\n and "
                    "age between -1 and 5.5e1;\n"
                    "SELECT AVG(\"marital-\"\"status\") FROM t WHERE marital-status <> 'a' AND zip not in(1,'b' , 3)\n"
                    "AND d IS NOT NULL AND e is null AND f NOT BETWEEN 1 AND 2 AND g<=3 AND h!=4 AND i>5;"
                    "SELECT MAX(x.y)",
                    &err),
              err);
    assert_int_equal(w->query_count, 3);
    const kn_query *q = &w->queries[0];
    assert_true(q->weight == 2.5);
    assert_int_equal(q->aggregate, KN_AGGREGATE_COUNT);
    assert_null(q->attribute);
    assert_string_equal(q->text, "select count(*) from people where sex = 'it''s' and age between -1 and 5.5e1");
    assert_int_equal(q->line, 2);
    assert_int_equal(q->column, 8);
    assert_int_equal(q->predicate_count, 2);
    assert_string_equal(q->predicates[0].attribute, "sex");
    assert_string_equal(q->predicates[0].values[0].text, "it's");
    assert_int_equal(q->predicates[1].comparison, KN_COMPARE_BETWEEN);
    assert_string_equal(q->predicates[1].values[1].text, "5.5e1");
    assert_int_equal(q->predicates[1].line, 3);
    q = &w->queries[1];
    assert_true(q->weight == 1);
    assert_string_equal(q->attribute, "marital-\"status");
    assert_int_equal(q->predicate_count, 8);
    assert_string_equal(q->predicates[0].attribute, "marital-status");
    assert_int_equal(q->predicates[1].value_count, 3);
    assert_true(q->predicates[1].negated && q->predicates[1].comparison == KN_COMPARE_IN);
    assert_true(q->predicates[2].negated && q->predicates[2].comparison == KN_COMPARE_NULL);
    assert_true(!q->predicates[3].negated && q->predicates[3].comparison == KN_COMPARE_NULL);
    assert_true(q->predicates[4].negated && q->predicates[4].comparison == KN_COMPARE_BETWEEN);
    assert_int_equal(q->predicates[5].comparison, KN_COMPARE_AT_MOST);
    assert_int_equal(q->predicates[6].comparison, KN_COMPARE_UNEQUAL);
    assert_int_equal(q->predicates[7].comparison, KN_COMPARE_GREATER);
    assert_string_equal(w->queries[2].attribute, "x.y");
    assert_int_equal(w->queries[2].predicate_count, 0);
    kn_workload_free(w);
    testing_context_free(ctx);
}

static void test_parser_mistakes(void **state)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"", "w.sql: it holds no query"},
        {" -- nothing\n;", "w.sql: it holds no query"},
        {"select", "w.sql:1:7: expected COUNT(*), SUM, AVG, MIN or MAX, the file ends here"},
        {"name,age\nAnn,23", "w.sql:1:1: expected SELECT"},
        {"0 SELECT COUNT(*)", "w.sql:1:1: expected a weight above 0"},
        {"-2 SELECT COUNT(*)", "w.sql:1:1: expected a weight above 0"},
        {"SELECT COUNT(a)", "w.sql:1:14: expected * in COUNT(*)"},
        {"SELECT SUM(*)", "w.sql:1:12: expected the name of a column"},
        {"SELECT COUNT(*) x", "w.sql:1:17: expected WHERE or ;"},
        {"SELECT COUNT(*) FROM where", "w.sql:1:22: expected a name of the table: any will do"},
        {"SELECT COUNT(*)\nWHERE \xC3\xA9t\xC3\xA9 ~ 3",
         "w.sql:2:11: expected a comparison: = <> < <= > >=, [NOT] BETWEEN, [NOT] IN or IS [NOT] NULL"},
        {"SELECT COUNT(*) WHERE a = b", "w.sql:1:27: expected a value: a number or 'text'"},
        {"SELECT COUNT(*) WHERE a = 'b", "w.sql:1:27: expected a value: a number or 'text'"},
        {"SELECT COUNT(*) WHERE a = 1e", "w.sql:1:27: expected a value: a number or 'text'"},
        {"SELECT COUNT(*) WHERE a = 1 b = 2", "w.sql:1:29: expected AND or ;"},
        {"SELECT COUNT(*) WHERE a = 1 OR b = 2",
         "w.sql:1:29: OR is not supported: predicates are joined by AND; for one column use IN"},
        {"SELECT COUNT(*) WHERE a IN ()", "w.sql:1:29: expected a value: a number or 'text'"},
        {"SELECT COUNT(*) WHERE a IN (1 2)", "w.sql:1:31: expected , or )"},
        {"SELECT COUNT(*) WHERE a BETWEEN 1, 2", "w.sql:1:34: expected AND"},
        {"SELECT COUNT(*) WHERE a NOT = 2", "w.sql:1:29: expected BETWEEN or IN after NOT"},
        {"SELECT COUNT(*) WHERE a IS 2", "w.sql:1:28: expected NULL"},
        {"SELECT \xFF", "w.sql:1:8: not UTF-8 text"},
    };
    kn_context *ctx = testing_context(1);
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kn_workload *w = NULL;
        kn_error     err = KN_ERROR_INIT;
        assert_int_equal(parse(&w, ctx, cases[i].text, &err), KN_INPUT);
        assert_string_equal(err.message, cases[i].message);
        assert_null(w);
    }
    testing_context_free(ctx);
}

/* ---- Random tables, queries and plans ---- */

enum { COLUMNS = 5, MOST_ROWS = 120 };
/* a: integers with gaps; b: decimals; c: texts; d: dates; s: sensitive integers, never planned. */
static const char *const column_names[COLUMNS] = {"a", "b", "c", "d", "s"};

typedef struct setting {
    kn_table            *table;
    int                  quasi_count;
    int                  quasi[COLUMNS];
    kn_hierarchy        *made[COLUMNS];
    const kn_hierarchy  *hierarchies[COLUMNS];
    bool                 ordered[COLUMNS];
    kn_model             model;
    kn_requirements     *requirements;
    kn_partition_problem problem;
    kn_plan             *plan;
} setting;

static int put_cell(char *to, kn_rng *rng, int column, int spread)
{
    int v = (int)kn_rng_below(rng, (uint64_t)spread);
    switch (column) {
    case 0: return sprintf(to, "%d", v * v - 20);
    case 1: return sprintf(to, "%d.%d", v / 4, v % 4 * 25);
    case 2: return sprintf(to, "%c%c", 'a' + v / 4, 'a' + v % 4);
    case 3: return sprintf(to, "2020-%02d-%02d", 1 + v / 8, 1 + v % 8);
    default: return sprintf(to, "%d", v % 7);
    }
}

static kn_table *random_table(kn_context *ctx, kn_rng *rng, int rows, bool missing)
{
    static int serial;
    char       name[32], *text = malloc((size_t)rows * 64 + 64);
    size_t     n = (size_t)sprintf(text, "a,b,c,d,s\n");
    int        spread = 2 + (int)kn_rng_below(rng, 12);
    for (int r = 0; r < rows; r++)
        for (int c = 0; c < COLUMNS; c++) {
            if (!missing || kn_rng_below(rng, 8) > 0) n += (size_t)put_cell(text + n, rng, c, spread);
            text[n++] = c + 1 < COLUMNS ? ',' : '\n';
        }
    snprintf(name, sizeof name, "w%d.csv", serial++ % 20);
    const char *path = testing_file(name, text, n);
    free(text);
    kn_table      *table = NULL;
    kn_error       err = KN_ERROR_INIT;
    kn_csv_options csv = KN_CSV_OPTIONS_INIT;
    kn_column_type types[] = {{"a", KN_TYPE_INTEGER, NULL},
                              {"b", KN_TYPE_DECIMAL, NULL},
                              {"c", KN_TYPE_TEXT, NULL},
                              {"d", KN_TYPE_DATE, NULL},
                              {"s", KN_TYPE_INTEGER, NULL}};
    csv.types = types;
    csv.type_count = COLUMNS;
    assert_ok(kn_table_read_csv(&table, ctx, path, &csv, &err), err);
    return table;
}

static setting random_setting(kn_context *ctx, kn_rng *rng, int rows, bool missing, int k)
{
    setting                  s = {.table = random_table(ctx, rng, rows, missing)};
    kn_error                 err = KN_ERROR_INIT;
    static const char *const widths[] = {"5", "20", "60"};
    for (int c = 0; c < COLUMNS - 1; c++) {
        if (kn_rng_below(rng, 3) == 0 && (c < COLUMNS - 2 || s.quasi_count > 0)) continue;
        int               q = s.quasi_count++;
        kn_hierarchy_spec spec = KN_HIERARCHY_SPEC_INIT;
        s.quasi[q] = c;
        if (kn_rng_below(rng, 2) == 0) continue;
        spec.kind = c == 3 ? KN_HIERARCHY_CALENDAR : c == 2 ? KN_HIERARCHY_MASK : KN_HIERARCHY_RANGES;
        spec.widths = widths;
        spec.width_count = 3;
        assert_ok(kn_hierarchy_make(&s.made[q], ctx, s.table, c, &spec, false, &err), err);
        s.hierarchies[q] = s.made[q];
        s.ordered[q] = kn_rng_below(rng, 3) == 0;
    }
    s.model = (kn_model){.kind = KN_MODEL_K, .k = k};
    return s;
}

static void finish_setting(setting *s, kn_context *ctx, kn_method method)
{
    kn_error                err = KN_ERROR_INIT;
    kn_requirements_options options = {&s->model, 1, -1, NULL, false};
    assert_ok(kn_requirements_make(&s->requirements, ctx, s->table, &options, &err), err);
    s->problem = (kn_partition_problem){.table = s->table,
                                        .quasi_count = s->quasi_count,
                                        .quasi = s->quasi,
                                        .hierarchies = s->hierarchies,
                                        .ordered = s->ordered,
                                        .requirements = s->requirements,
                                        .method = method};
}

static void partition(setting *s, kn_context *ctx)
{
    kn_error              err = KN_ERROR_INIT;
    bool                  found = false;
    kn_partition_counters counters;
    assert_ok(kn_partition_search(&s->plan, &found, &counters, ctx, &s->problem, &err), err);
    assert_true(found);
}

static void free_setting(setting *s)
{
    kn_plan_free(s->plan);
    kn_requirements_free(s->requirements);
    for (int q = 0; q < s->quasi_count; q++) kn_hierarchy_free(s->made[q]);
    kn_table_free(s->table);
}

static int put_value(char *to, kn_rng *rng, int column)
{
    if (column == 2 || column == 3) {
        int n = sprintf(to, "'");
        n += put_cell(to + n, rng, column, 14);
        return n + sprintf(to + n, "'");
    }
    if (column == 0 && kn_rng_below(rng, 5) == 0) return sprintf(to, "%d.5", (int)kn_rng_below(rng, 100) - 20);
    return put_cell(to, rng, column, 14);
}

static int put_predicate(char *to, kn_rng *rng, int column)
{
    static const char *const signs[] = {"=", "<>", "<", "<=", ">", ">="};
    int                      n = sprintf(to, "%s ", column_names[column]);
    switch (kn_rng_below(rng, 8)) {
    case 0: return n + sprintf(to + n, "IS%s NULL", kn_rng_below(rng, 2) ? "" : " NOT");
    case 1:
    case 2:
        n += sprintf(to + n, "%sBETWEEN ", kn_rng_below(rng, 4) ? "" : "NOT ");
        n += put_value(to + n, rng, column);
        n += sprintf(to + n, " AND ");
        return n + put_value(to + n, rng, column);
    case 3:
    case 4:
        n += sprintf(to + n, "%sIN (", kn_rng_below(rng, 4) ? "" : "NOT ");
        for (int i = (int)kn_rng_below(rng, 4); i >= 0; i--) {
            n += put_value(to + n, rng, column);
            n += sprintf(to + n, "%s", i ? ", " : ")");
        }
        return n;
    default: n += sprintf(to + n, "%s ", signs[kn_rng_below(rng, 6)]); return n + put_value(to + n, rng, column);
    }
}

static kn_workload *random_workload(kn_context *ctx, kn_rng *rng, int queries, bool count_only)
{
    static const char *const numbers[] = {"a", "b", "s"};
    char                    *text = malloc((size_t)queries * 1000);
    int                      n = 0;
    for (int q = 0; q < queries; q++) {
        int aggregate = count_only ? 0 : (int)kn_rng_below(rng, KN_AGGREGATES);
        if (kn_rng_below(rng, 2))
            n += sprintf(text + n, "%d.%d ", 1 + (int)kn_rng_below(rng, 5), (int)kn_rng_below(rng, 10));
        n += sprintf(text + n, "SELECT %s(%s) FROM t", kn_aggregate_name((kn_aggregate)aggregate),
                     aggregate ? numbers[kn_rng_below(rng, 3)] : "*");
        int predicates = (int)kn_rng_below(rng, 4);
        for (int p = 0; p < predicates; p++) {
            n += sprintf(text + n, p ? " AND " : " WHERE ");
            n += put_predicate(text + n, rng, (int)kn_rng_below(rng, COLUMNS));
        }
        n += sprintf(text + n, ";\n");
    }
    kn_workload *w = NULL;
    kn_error     err = KN_ERROR_INIT;
    assert_ok(parse(&w, ctx, text, &err), err);
    free(text);
    return w;
}

/* ---- The naive twin: a value is a text; predicates are tested one by one ---- */

static double date_number(const char *text)
{
    int y, m, d;
    assert_int_equal(sscanf(text, "%d-%d-%d", &y, &m, &d), 3);
    return (double)kn_days_from_civil(y, m, d);
}

static double text_number(int column, const char *text)
{
    return column == 3 ? date_number(text) : strtod(text, NULL);
}

static int compare_texts(int column, const char *a, const char *b)
{
    if (column == 2) return strcmp(a, b);
    double x = text_number(column, a), y = text_number(column, b);
    return (x > y) - (x < y);
}

/* `value` NULL: missing. */
static bool satisfies(const kn_predicate *p, int column, const char *value)
{
    if (p->comparison == KN_COMPARE_NULL) return (value == NULL) != p->negated;
    if (!value) return false;
    bool holds = false;
    int  first = compare_texts(column, value, p->values[0].text);
    switch (p->comparison) {
    case KN_COMPARE_EQUAL: return first == 0;
    case KN_COMPARE_UNEQUAL: return first != 0;
    case KN_COMPARE_LESS: return first < 0;
    case KN_COMPARE_AT_MOST: return first <= 0;
    case KN_COMPARE_GREATER: return first > 0;
    case KN_COMPARE_AT_LEAST: return first >= 0;
    case KN_COMPARE_BETWEEN: holds = first >= 0 && compare_texts(column, value, p->values[1].text) <= 0; break;
    default:
        for (int i = 0; i < p->value_count; i++) holds |= compare_texts(column, value, p->values[i].text) == 0;
    }
    return holds != p->negated;
}

static int column_of(const char *name)
{
    for (int c = 0; c < COLUMNS; c++)
        if (strcmp(column_names[c], name) == 0) return c;
    fail();
    return -1;
}

static bool column_satisfies(const kn_query *q, int column, const char *value)
{
    for (int p = 0; p < q->predicate_count; p++)
        if (column_of(q->predicates[p].attribute) == column && !satisfies(&q->predicates[p], column, value))
            return false;
    return true;
}

static const char *value_text(const setting *s, int column, uint32_t code)
{
    static char texts[8][64];
    static int  next;
    size_t      length;
    const char *text = kn_table_text(s->table, column, code, &length);
    if (!text) return NULL;
    char *to = texts[next++ % 8];
    snprintf(to, sizeof texts[0], "%.*s", (int)length, text);
    return to;
}

typedef struct covered {
    double all, hits;    /* what the cell covers, and how much of it satisfies the query */
    double numbers, sum; /* of this, what is a number                                    */
    double low, high;
} covered;

static void cover(covered *c, const kn_query *q, int column, const char *value, double weight)
{
    c->all += weight;
    if (!column_satisfies(q, column, value)) return;
    c->hits += weight;
    if (!value || column == 2) return;
    double number = text_number(column, value);
    c->numbers += weight;
    c->sum += weight * number;
    if (!(number >= c->low)) c->low = number;
    if (!(number <= c->high)) c->high = number;
}

/* All values between two codes: every integer, every day (of decimals the test does not ask), `weight` in all. */
static void cover_range(covered *c, const setting *s, const kn_query *q, int column, uint32_t low, uint32_t high,
                        double weight)
{
    char text[64];
    if (column == 2) {
        for (uint32_t code = low; code <= high; code++) cover(c, q, column, value_text(s, column, code), 1);
        return;
    }
    double from = text_number(column, value_text(s, column, low)),
           to = text_number(column, value_text(s, column, high));
    if (column == 1) to = from;
    for (double v = from; v <= to; v += 1) {
        if (column == 3) {
            int y, m, d;
            kn_civil_from_days((int64_t)v, &y, &m, &d);
            snprintf(text, sizeof text, "%04d-%02d-%02d", y, m, d);
        } else
            snprintf(text, sizeof text, "%.0f", v);
        cover(c, q, column, text, weight / (to - from + 1));
    }
}

static covered cover_cell(const setting *s, const kn_query *q, int quasi, const kn_cell *cell)
{
    covered             c = {.low = NAN, .high = NAN};
    int                 column = s->quasi[quasi];
    const kn_column    *data = &s->table->columns[column];
    const kn_hierarchy *h = s->hierarchies[quasi];
    uint32_t            values = data->dict.count;
    bool anything = cell->kind == KN_CELL_STAR || (cell->kind == KN_CELL_NODE && cell->a == kn_hierarchy_root(h));
    if (anything && data->missing > 0) cover(&c, q, column, NULL, 1);
    switch (cell->kind) {
    case KN_CELL_VALUE: cover(&c, q, column, value_text(s, column, cell->a), 1); break;
    case KN_CELL_RANGE: cover_range(&c, s, q, column, cell->a, cell->b, 1); break;
    case KN_CELL_SET:
        for (uint32_t i = 0; i < cell->b; i++)
            cover(&c, q, column, value_text(s, column, s->plan->members[cell->a + i]), 1);
        break;
    default: /* hierarchies of this test have no leaves but the values */
        if (!h && values > 0) cover_range(&c, s, q, column, 0, values - 1, values);
        for (uint32_t code = 0; h && code < values; code++)
            if (anything || kn_hierarchy_covers(h, cell->a, h->leaf_of_code[code]))
                cover(&c, q, column, value_text(s, column, code), 1);
    }
    return c;
}

/* ---- Answers ---- */

typedef struct evaluation {
    kn_eval_column columns[COLUMNS];
    kn_cell       *cells[COLUMNS];
    uint32_t      *original[COLUMNS], *release[COLUMNS];
    int64_t       *ones;
    kn_eval_input  input;
} evaluation;

/* One combination per row: of the release, the row's class and its sensitive value. */
static void prepare(evaluation *e, const setting *s, const kn_workload *w)
{
    int64_t rows = s->table->rows;
    memset(e, 0, sizeof *e);
    e->ones = malloc((size_t)(rows + 1) * sizeof *e->ones);
    for (int64_t r = 0; r < rows; r++) e->ones[r] = 1;
    for (int c = 0; c < COLUMNS; c++) {
        int quasi = -1;
        for (int q = 0; q < s->quasi_count; q++)
            if (s->quasi[q] == c) quasi = q;
        const kn_column *column = &s->table->columns[c];
        e->original[c] = malloc((size_t)(rows + 1) * sizeof **e->original);
        e->release[c] = malloc((size_t)(rows + 1) * sizeof **e->release);
        e->columns[c] = (kn_eval_column){.name = column_names[c], .original = column};
        for (int64_t r = 0; r < rows; r++) e->original[c][r] = e->release[c][r] = kn_column_code(column, r);
        if (quasi < 0) {
            e->columns[c].shown = column;
            continue;
        }
        e->cells[c] = malloc((size_t)s->plan->classes * sizeof **e->cells);
        for (uint32_t i = 0; i < s->plan->classes; i++)
            e->cells[c][i] = s->plan->cells[(size_t)i * (size_t)s->quasi_count + (size_t)quasi];
        for (int64_t r = 0; r < rows; r++) e->release[c][r] = s->plan->class_of_row[r];
        e->columns[c].hierarchy = s->hierarchies[quasi];
        e->columns[c].cells = e->cells[c];
        e->columns[c].cell_count = s->plan->classes;
    }
    e->input = (kn_eval_input){.workload = w,
                               .columns = e->columns,
                               .column_count = COLUMNS,
                               .decimal = '.',
                               .members = s->plan->members,
                               .original = {rows, e->ones, (const uint32_t *const *)e->original},
                               .release = {rows, e->ones, (const uint32_t *const *)e->release}};
}

static void free_evaluation(evaluation *e)
{
    free(e->ones);
    for (int c = 0; c < COLUMNS; c++) {
        free(e->original[c]);
        free(e->release[c]);
        free(e->cells[c]);
    }
}

static int quasi_of(const setting *s, int column)
{
    for (int q = 0; q < s->quasi_count; q++)
        if (s->quasi[q] == column) return q;
    return -1;
}

typedef struct expected {
    double rows, count, sum, low, high; /* of the original                              */
    double expected, lower, upper;      /* of COUNT on the release                      */
    double weighed, weighed_sum;        /* of AVG on the release: rows with a number    */
    bool   decimals;                    /* an interval of decimals: not counted by value */
} expected;

static expected count_by_value(const setting *s, const kn_query *q)
{
    expected e = {.low = NAN, .high = NAN};
    int      attribute = q->attribute ? column_of(q->attribute) : -1;
    for (int64_t r = 0; r < s->table->rows; r++) {
        bool   holds = true, inside = true, touches = true;
        double share = 1, mean = NAN;
        for (int c = 0; c < COLUMNS; c++) {
            uint32_t    code = kn_table_code(s->table, c, r);
            const char *value = value_text(s, c, code);
            int         quasi = quasi_of(s, c);
            covered     cell = {.low = NAN, .high = NAN};
            holds &= column_satisfies(q, c, value);
            if (quasi >= 0) {
                const kn_cell *of =
                    &s->plan->cells[s->plan->class_of_row[r] * (uint32_t)s->quasi_count + (uint32_t)quasi];
                e.decimals |=
                    c == 1 && (of->kind == KN_CELL_RANGE || (of->kind == KN_CELL_STAR && !s->hierarchies[quasi]));
                cell = cover_cell(s, q, quasi, of);
            } else
                cover(&cell, q, c, value, 1);
            share *= cell.all > 0 ? cell.hits / cell.all : 0;
            inside &= cell.hits > cell.all - 1e-9;
            touches &= cell.hits > 0;
            if (c == attribute && cell.numbers > 0) mean = cell.sum / cell.numbers;
        }
        e.expected += share;
        e.lower += inside;
        e.upper += touches;
        if (touches && !isnan(mean)) {
            e.weighed += share;
            e.weighed_sum += share * mean;
        }
        if (!holds) continue;
        e.rows++;
        const char *value = attribute >= 0 ? value_text(s, attribute, kn_table_code(s->table, attribute, r)) : NULL;
        if (!value) continue;
        double number = text_number(attribute, value);
        e.count++;
        e.sum += number;
        if (!(number >= e.low)) e.low = number;
        if (!(number <= e.high)) e.high = number;
    }
    return e;
}

static void check_answer(const setting *s, const kn_query *q, const kn_answer *a)
{
    expected e = count_by_value(s, q);
    double   truth[] = {e.rows, e.count > 0 ? e.sum : NAN, e.count > 0 ? e.sum / e.count : NAN, e.low, e.high};
    assert_close(a->original, truth[q->aggregate]);
    if (!isnan(a->original)) {
        double slack = 1e-9 * (1 + fabs(a->original));
        if (!(a->lower <= a->original + slack && a->original <= a->upper + slack))
            fail_msg("%s: %g is not in [%g, %g]", q->text, a->original, a->lower, a->upper);
    }
    if (!isnan(a->original) && !isnan(a->estimate) &&
        (q->aggregate == KN_AGGREGATE_COUNT || q->aggregate == KN_AGGREGATE_SUM))
        assert_close(a->error, fabs(a->estimate - a->original) / (fabs(a->original) > 1 ? fabs(a->original) : 1));
    if (q->aggregate == KN_AGGREGATE_COUNT)
        assert_true(a->lower <= a->estimate + 1e-9 && a->estimate <= a->upper + 1e-9);
    if (e.decimals) return;
    if (q->aggregate == KN_AGGREGATE_COUNT) {
        assert_close(a->estimate, e.expected);
        assert_close(a->lower, e.lower);
        assert_close(a->upper, e.upper);
    } else if (q->aggregate == KN_AGGREGATE_SUM)
        assert_close(a->estimate, e.weighed > 0 ? e.weighed_sum : NAN);
    else if (q->aggregate == KN_AGGREGATE_AVG)
        assert_close(a->estimate, e.weighed > 0 ? e.weighed_sum / e.weighed : NAN);
}

static void test_answers(void **state)
{
    static const kn_method methods[] = {KN_METHOD_MONDRIAN, KN_METHOD_MONDRIAN_1D, KN_METHOD_MONDRIAN_BEST};
    kn_rng                 rng;
    (void)state;
    kn_rng_init(&rng, testing_seed(), 1);
    for (int round = 0; round < testing_rounds(150); round++) {
        kn_context  *ctx = testing_context(1 + round % 3);
        int          k = 1 + (int)kn_rng_below(&rng, 8), rows = k + (int)kn_rng_below(&rng, MOST_ROWS - 8);
        setting      s = random_setting(ctx, &rng, rows, kn_rng_below(&rng, 2), k);
        kn_workload *w = random_workload(ctx, &rng, 30, false);
        kn_answer    answers[30];
        kn_error     err = KN_ERROR_INIT;
        evaluation   e;
        finish_setting(&s, ctx, methods[kn_rng_below(&rng, 3)]);
        partition(&s, ctx);
        prepare(&e, &s, w);
        assert_ok(kn_workload_eval(answers, ctx, &e.input, &err), err);
        for (int q = 0; q < w->query_count; q++) check_answer(&s, &w->queries[q], &answers[q]);
        free_evaluation(&e);
        kn_workload_free(w);
        free_setting(&s);
        testing_context_free(ctx);
    }
}

/* ---- Partitioning that follows a workload ---- */

static double mean_error(kn_context *ctx, const setting *s, const kn_workload *w)
{
    kn_answer *answers = malloc((size_t)w->query_count * sizeof *answers);
    kn_error   err = KN_ERROR_INIT;
    double     total = 0, weight = 0;
    evaluation e;
    prepare(&e, s, w);
    assert_ok(kn_workload_eval(answers, ctx, &e.input, &err), err);
    for (int q = 0; q < w->query_count; q++) {
        total += w->queries[q].weight * answers[q].error;
        weight += w->queries[q].weight;
    }
    free_evaluation(&e);
    free(answers);
    return total / weight;
}

static bool same_plans(const kn_plan *a, const kn_plan *b)
{
    return a->classes == b->classes &&
           memcmp(a->class_of_row, b->class_of_row, (size_t)a->rows * sizeof *a->class_of_row) == 0 &&
           memcmp(a->cells, b->cells, (size_t)a->classes * (size_t)a->quasi_count * sizeof *a->cells) == 0;
}

static uint32_t position(const setting *s, int q, int64_t row)
{
    uint32_t code = kn_column_code(&s->table->columns[s->quasi[q]], row);
    return s->hierarchies[q] ? s->hierarchies[q]->leaf_of_code[code] : code;
}

/* No cut of an ordered dimension between two positions leaves k rows of a class on both sides. */
static void assert_minimal(const setting *s, int k)
{
    for (uint32_t c = 0; c < s->plan->classes; c++)
        for (int q = 0; q < s->quasi_count; q++) {
            if (s->hierarchies[q]) continue;
            uint32_t values = s->table->columns[s->quasi[q]].dict.count;
            for (uint32_t p = 0; p < values; p++) {
                int64_t below = 0;
                for (int64_t r = 0; r < s->plan->rows; r++)
                    below += s->plan->class_of_row[r] == c && position(s, q, r) <= p;
                assert_false(below >= k && s->plan->class_rows[c] - below >= k);
            }
        }
}

static void test_partition(void **state)
{
    kn_rng   rng;
    uint64_t seed = testing_seed();
    double   plain = 0, followed = 0;
    int      better = 0, worse = 0;
    (void)state;
    /* Validity on tables that differ from run to run; what is gained on average, on the same 120 tables every time. */
    for (int round = -40; round < 120; round++) {
        kn_plan    *first = NULL;
        kn_context *contexts[3];
        setting     settings[3];
        double      errors[2] = {0, 0};
        for (int i = 0; i < 3; i++) { /* on 1, 2 and 8 threads */
            kn_context *ctx = contexts[i] = testing_context(i == 2 ? 8 : i + 1);
            setting    *s = &settings[i];
            kn_error    err = KN_ERROR_INIT;
            const char *reason = "";
            kn_rng_init(&rng, round < 0 ? seed : 1, 100 + (uint64_t)round);
            int  k = 1 + (int)kn_rng_below(&rng, 8), rows = 2 * k + (int)kn_rng_below(&rng, 400);
            bool missing = kn_rng_below(&rng, 3) == 0;
            *s = random_setting(ctx, &rng, rows, missing, k);
            finish_setting(s, ctx, KN_METHOD_MONDRIAN);
            kn_workload      *w = random_workload(ctx, &rng, 12, true);
            kn_region_queries queries;
            kn_region_rules   rules = {NULL, NULL};
            if (i == 0) {
                partition(s, ctx);
                errors[0] = mean_error(ctx, s, w);
                kn_plan_free(s->plan);
            }
            assert_ok(kn_region_queries_make(&queries, ctx, w, &s->problem, &rules, &err), err);
            s->problem.queries = queries.queries;
            s->problem.query_count = queries.count;
            partition(s, ctx);
            if (!kn_plan_validate(s->plan, s->table, s->quasi, s->hierarchies, &reason)) fail_msg("%s", reason);
            assert_int_equal(s->plan->suppressed, 0);
            for (uint32_t c = 0; c < s->plan->classes; c++) assert_true(s->plan->class_rows[c] >= k);
            if (i == 0) {
                first = s->plan;
                errors[1] = mean_error(ctx, s, w);
                if (round % 4 == 0) assert_minimal(s, k);
            } else
                assert_true(same_plans(first, s->plan));
            kn_region_queries_free(&queries);
            kn_workload_free(w);
        }
        for (int i = 0; i < 3; i++) {
            free_setting(&settings[i]);
            testing_context_free(contexts[i]);
        }
        if (round < 0) continue;
        plain += errors[0];
        followed += errors[1];
        better += errors[1] < errors[0];
        worse += errors[1] > errors[0];
    }
    print_message("mean error: mondrian %.4f, following the workload %.4f; lower in %d, higher in %d of 120\n",
                  plain / 120, followed / 120, better, worse);
    assert_true(followed < plain);
    assert_true(better > worse);
}

/* ---- Published statistics ---- */

static void test_summary(void **state)
{
    kn_rng rng;
    (void)state;
    kn_rng_init(&rng, testing_seed(), 3);
    for (int round = 0; round < testing_rounds(60); round++) {
        kn_context *ctx = testing_context(1 + round % 2);
        int         k = 1 + (int)kn_rng_below(&rng, 8), rows = k + (int)kn_rng_below(&rng, MOST_ROWS - 8);
        setting     s = random_setting(ctx, &rng, rows, kn_rng_below(&rng, 2), k);
        kn_summary *summary = NULL;
        kn_error    err = KN_ERROR_INIT;
        finish_setting(&s, ctx, KN_METHOD_MONDRIAN);
        partition(&s, ctx);
        assert_ok(kn_summary_make(&summary, ctx, s.table, s.quasi, s.plan, k, &err), err);
        for (uint32_t c = 0; c < s.plan->classes; c++)
            for (int q = 0; q < s.quasi_count; q++) {
                const kn_summary_cell *cell = &summary->cells[c * (uint32_t)s.quasi_count + (uint32_t)q];
                int                    known = 0, column = s.quasi[q];
                double                 sum = 0, low = NAN, high = NAN;
                for (int64_t r = 0; r < s.table->rows; r++) {
                    const char *text = value_text(&s, column, kn_table_code(s.table, column, r));
                    if (s.plan->class_of_row[r] != c || !text || column == 2) continue;
                    double number = text_number(column, text);
                    known++;
                    sum += number;
                    if (!(number >= low)) low = number;
                    if (!(number <= high)) high = number;
                }
                bool silent = known == 0 || known < k;
                assert_true(isnan(cell->mean) == (silent || column >= 2));
                assert_true((cell->low == UINT32_MAX) == silent && (cell->high == UINT32_MAX) == silent);
                if (silent) continue;
                assert_close(text_number(column, value_text(&s, column, cell->low)), low);
                assert_close(text_number(column, value_text(&s, column, cell->high)), high);
                if (column < 2) assert_close(cell->mean, sum / known);
            }
        kn_summary_free(summary);
        free_setting(&s);
        testing_context_free(ctx);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parser),    cmocka_unit_test(test_parser_mistakes), cmocka_unit_test(test_answers),
        cmocka_unit_test(test_partition), cmocka_unit_test(test_summary),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
