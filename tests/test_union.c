/* test_union.c: what two tables have in common: values of both in one dictionary, hierarchies over both against the one
 * built over the joined file, populations and weights counted row by row, some rows of a table against a file of them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include <kanon/table.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_builder.h"
#include "kn_column_union.h"
#include "kn_hierarchy_make.h"
#include "kn_requirements.h"
#include "kn_rng.h"
#include "kn_table_select.h"

enum { MOST_ROWS = 40, MOST_TEXT = 24, LEVELS = 4 };

/* ---- Tables from texts ---- */

typedef struct cells {
    int  rows, columns;
    char text[MOST_ROWS * 2][3][MOST_TEXT]; /* "": missing */
} cells;

static kn_table *make_table(kn_context *ctx, const cells *c, const kn_builder_type *types)
{
    static const char *const names[] = {"a", "b", "c"};
    kn_builder              *b = NULL;
    kn_table                *table = NULL;
    kn_error                 err = KN_ERROR_INIT;
    kn_string                titles[3];
    int64_t                  first = 0;
    uint32_t                 ids[3][MOST_ROWS * 2];
    for (int i = 0; i < 3; i++) titles[i] = (kn_string){names[i], 1};
    assert_ok(kn_builder_create(&b, ctx, titles, c->columns, 1, &err), err);
    for (int i = 0; i < c->columns; i++)
        for (int r = 0; r < c->rows; r++) {
            kn_string text = {c->text[r][i], strlen(c->text[r][i])};
            ids[i][r] = text.size == 0 ? KN_ID_MISSING : kn_intern(kn_builder_interner(b, i, 0), text);
        }
    assert_ok(kn_builder_extend(b, c->rows, 0, &first, &err), err);
    for (int i = 0; i < c->columns; i++) kn_builder_write(b, i, 0, ids[i], c->rows);
    assert_ok(kn_builder_finish(&table, b, types, NULL, &err), err);
    return table;
}

/* One column of texts; NULL-terminated. */
static kn_table *table_of(kn_context *ctx, const char *const *texts, kn_type type, const char *format)
{
    cells           c = {.columns = 1};
    kn_builder_type asked = {type, format};
    for (; texts[c.rows]; c.rows++) strcpy(c.text[c.rows][0], texts[c.rows]);
    return make_table(ctx, &c, &asked);
}

#define TEXTS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* ---- Values of both ---- */

static void check_union(kn_context *ctx, kn_table *x, kn_table *y, kn_type type, const char *const *expected)
{
    kn_column_union both;
    kn_error        err = KN_ERROR_INIT;
    assert_ok(kn_column_union_make(&both, ctx, &x->columns[0], &y->columns[0], '.', &err), err);
    assert_int_equal(both.column.type, type);
    uint32_t count = 0;
    for (; expected[count]; count++) {
        assert_true(count < both.column.dict.count);
        kn_string text = kn_dictionary_text(&both.column.dict, count);
        assert_int_equal(text.size, strlen(expected[count]));
        assert_memory_equal(text.data, expected[count], text.size);
    }
    assert_int_equal(count, both.column.dict.count);
    assert_int_equal(both.first[x->columns[0].dict.count], count);
    assert_int_equal(both.second[y->columns[0].dict.count], count);
    assert_int_equal(both.column.missing, x->columns[0].missing + y->columns[0].missing);
    kn_table whole = {.column_count = 1, .columns = &both.column};
    both.column.missing = 0; /* it has no rows */
    assert_true(kn_table_validate(&whole, NULL));
    kn_column_union_free(&both);
    kn_table_free(x);
    kn_table_free(y);
}

static void unions_by_hand(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(1);
    check_union(ctx, table_of(ctx, TEXTS("10", "9", "", "2"), KN_TYPE_AUTO, NULL),
                table_of(ctx, TEXTS("9", "", "-3", "30"), KN_TYPE_AUTO, NULL), KN_TYPE_INTEGER,
                TEXTS("-3", "2", "9", "10", "30"));
    check_union(ctx, table_of(ctx, TEXTS("10", "2"), KN_TYPE_AUTO, NULL),
                table_of(ctx, TEXTS("2.00", "2.5", "1e1"), KN_TYPE_AUTO, NULL), KN_TYPE_DECIMAL,
                TEXTS("2", "2.5", "10")); /* in the first one's spelling */
    check_union(ctx, table_of(ctx, TEXTS("2.00", "2.5"), KN_TYPE_AUTO, NULL),
                table_of(ctx, TEXTS("2", "3"), KN_TYPE_AUTO, NULL), KN_TYPE_DECIMAL, TEXTS("2.00", "2.5", "3"));
    check_union(ctx, table_of(ctx, TEXTS("47906", "9"), KN_TYPE_AUTO, NULL),
                table_of(ctx, TEXTS("02138", "47906"), KN_TYPE_AUTO, NULL), KN_TYPE_TEXT, TEXTS("02138", "47906", "9"));
    check_union(ctx, table_of(ctx, TEXTS("2020-01-02"), KN_TYPE_AUTO, NULL),
                table_of(ctx, TEXTS("02.01.2020", "31.12.2019"), KN_TYPE_DATE, "%d.%m.%Y"), KN_TYPE_DATE,
                TEXTS("31.12.2019", "2020-01-02"));
    check_union(ctx, table_of(ctx, TEXTS("2020-01-02"), KN_TYPE_AUTO, NULL),
                table_of(ctx, TEXTS("17"), KN_TYPE_AUTO, NULL), KN_TYPE_TEXT, TEXTS("17", "2020-01-02"));
    check_union(ctx, table_of(ctx, TEXTS("", ""), KN_TYPE_AUTO, NULL),
                table_of(ctx, TEXTS("17", "5"), KN_TYPE_AUTO, NULL), KN_TYPE_INTEGER, TEXTS("5", "17"));
    check_union(ctx, table_of(ctx, TEXTS("1.5"), KN_TYPE_AUTO, NULL), table_of(ctx, TEXTS(""), KN_TYPE_AUTO, NULL),
                KN_TYPE_DECIMAL, TEXTS("1.5"));
    testing_context_free(ctx);
}

static void another_decimal_mark_is_refused(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(1);
    kn_table   *x = table_of(ctx, TEXTS("1.5"), KN_TYPE_AUTO, NULL), *y = table_of(ctx, TEXTS("2"), KN_TYPE_AUTO, NULL);
    kn_column_union both;
    kn_error        err = KN_ERROR_INIT;
    assert_int_equal(kn_column_union_make(&both, ctx, &x->columns[0], &y->columns[0], ',', &err), KN_USAGE);
    assert_string_equal(err.message, "column \"a\" has numbers with another decimal mark than ','");
    kn_table_free(x);
    kn_table_free(y);
    testing_context_free(ctx);
}

/* ---- Hierarchies over both, against the one over the joined file ---- */

typedef enum family { INTEGERS, MIXED, ZIPS, WORDS, DATES, FAMILIES } family;

static void random_cell(char *out, family f, bool population, kn_rng *rng)
{
    unsigned n = (unsigned)kn_rng_below(rng, 60), d = 1 + (unsigned)kn_rng_below(rng, 9);
    out[0] = 0;
    if (kn_rng_below(rng, 10) == 0) return;
    switch (f) {
    case INTEGERS: sprintf(out, "%u", n); break;
    case MIXED: sprintf(out, population && n % 3 ? "%u.%u" : "%u", n, d); break;
    case ZIPS: sprintf(out, population ? "%04u" : "%u", (population ? n : n + 1) * 7 % 2000); break;
    case WORDS: sprintf(out, "x%u.y%u", n % 5, n); break;
    default: sprintf(out, "20%02u-0%u-1%u", n, d, n % 10); break;
    }
}

static kn_hierarchy_spec random_spec(family f, kn_rng *rng)
{
    static const char *const widths[] = {"5", "10", "20"};
    kn_hierarchy_spec        spec = KN_HIERARCHY_SPEC_INIT;
    spec.kind = KN_HIERARCHY_SUPPRESS;
    if (f == INTEGERS || f == MIXED) {
        spec.kind = KN_HIERARCHY_RANGES;
        spec.widths = widths;
        spec.width_count = 1 + (int)kn_rng_below(rng, 3);
    } else if (f == ZIPS || (f == WORDS && kn_rng_below(rng, 2))) {
        spec.kind = KN_HIERARCHY_MASK;
    } else if (f == WORDS) {
        spec.kind = KN_HIERARCHY_PREFIX;
        spec.separator = ".";
    } else if (kn_rng_below(rng, 2)) {
        spec.kind = KN_HIERARCHY_CALENDAR;
    }
    return spec;
}

static void same_labels(const kn_hierarchy *h, uint32_t leaf, const kn_hierarchy *expected, uint32_t expected_leaf)
{
    for (uint32_t level = 0; level <= expected->height; level++) {
        if (leaf == h->leaves && level < h->height) { /* missing */
            assert_int_equal(expected_leaf, expected->leaves);
            continue;
        }
        uint32_t  a = kn_hierarchy_ancestor(h, leaf, level), b = kn_hierarchy_ancestor(expected, expected_leaf, level);
        kn_string x = kn_hierarchy_text(h, a), y = kn_hierarchy_text(expected, b);
        assert_int_equal(h->last[a] - h->first[a], expected->last[b] - expected->first[b]);
        assert_true(kn_string_equal(x, y));
    }
}

static void hierarchies_equal_the_joined_table(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(1);
    kn_error    err = KN_ERROR_INIT;
    kn_rng      rng;
    kn_rng_init(&rng, testing_seed(), 1);
    for (int round = 0; round < testing_rounds(2000); round++) {
        family f = (family)kn_rng_below(&rng, FAMILIES);
        cells  sample = {.columns = 1}, population = {.columns = 1}, joined = {.columns = 1};
        sample.rows = 1 + (int)kn_rng_below(&rng, MOST_ROWS);
        population.rows = 1 + (int)kn_rng_below(&rng, MOST_ROWS);
        for (int r = 0; r < sample.rows; r++) random_cell(sample.text[r][0], f, false, &rng);
        for (int r = 0; r < population.rows; r++) random_cell(population.text[r][0], f, true, &rng);
        joined.rows = sample.rows + population.rows;
        memcpy(joined.text, sample.text, (size_t)sample.rows * sizeof *sample.text);
        memcpy(joined.text + sample.rows, population.text, (size_t)population.rows * sizeof *sample.text);
        kn_table         *x = make_table(ctx, &sample, NULL), *y = make_table(ctx, &population, NULL);
        kn_table         *z = make_table(ctx, &joined, NULL);
        kn_hierarchy_spec spec = random_spec(f, &rng);
        kn_hierarchy     *h = NULL, *expected = NULL;
        uint32_t         *leaves = NULL;
        kn_status         st = kn_hierarchy_make(&expected, ctx, z, 0, &spec, false, &err);
        assert_int_equal(kn_hierarchy_make_over(&h, &leaves, ctx, x, 0, y, 0, &spec, false, &err), st);
        if (st == KN_OK) {
            const char *reason = NULL;
            if (!kn_hierarchy_validate(h, &reason)) fail_msg("%s", reason);
            assert_int_equal(h->height, expected->height);
            assert_int_equal(h->leaves, expected->leaves);
            assert_int_equal(h->codes, x->columns[0].dict.count);
            assert_int_equal(h->missing, x->columns[0].missing > 0);
            for (int r = 0; r < joined.rows; r++) {
                bool     in_sample = r < sample.rows;
                uint32_t code = in_sample ? kn_table_code(x, 0, r) : kn_table_code(y, 0, r - sample.rows);
                same_labels(h, in_sample ? h->leaf_of_code[code] : leaves[code], expected,
                            expected->leaf_of_code[kn_table_code(z, 0, r)]);
            }
        }
        kn_free(leaves);
        kn_hierarchy_free(h);
        kn_hierarchy_free(expected);
        kn_table_free(x);
        kn_table_free(y);
        kn_table_free(z);
    }
    testing_context_free(ctx);
}

static void hierarchies_from_files(void **state)
{
    (void)state;
    static const char text[] = "a1;a;*\na2;a;*\nb1;b;*\n";
    kn_context       *ctx = testing_context(1);
    kn_error          err = KN_ERROR_INIT;
    kn_table         *x = table_of(ctx, TEXTS("a1", "b1"), KN_TYPE_AUTO, NULL);
    kn_table         *y = table_of(ctx, TEXTS("b1", "", "a2"), KN_TYPE_AUTO, NULL);
    kn_table         *bad = table_of(ctx, TEXTS("a1", "secret"), KN_TYPE_AUTO, NULL);
    kn_hierarchy_spec spec = KN_HIERARCHY_SPEC_INIT;
    kn_hierarchy     *h = NULL;
    uint32_t         *leaves = NULL;
    spec.path = testing_file("union.csv", text, strlen(text));
    assert_ok(kn_hierarchy_make_over(&h, &leaves, ctx, x, 0, y, 0, &spec, false, &err), err);
    assert_true(leaves[0] == 1 && leaves[1] == 2 && leaves[2] == 3);
    assert_true(h->leaf_of_code[0] == 0 && h->leaf_of_code[1] == 2);
    kn_hierarchy_free(h);
    kn_free(leaves);
    assert_ok(kn_hierarchy_make_over(&h, &leaves, ctx, x, 0, NULL, 0, &spec, false, &err), err);
    assert_null(leaves);
    kn_hierarchy_free(h);
    assert_int_equal(kn_hierarchy_make_over(&h, &leaves, ctx, x, 0, bad, 0, &spec, false, &err), KN_INPUT);
    assert_true(h == NULL && leaves == NULL);
    assert_non_null(strstr(err.message, "population: "));
    assert_non_null(strstr(err.message, "data row 2"));
    assert_null(strstr(err.message, "secret"));
    assert_int_equal(kn_hierarchy_make_over(&h, &leaves, ctx, bad, 0, x, 0, &spec, false, &err), KN_INPUT);
    assert_int_equal(kn_hierarchy_make_over(&h, &leaves, ctx, x, 0, y, 7, &spec, false, &err), KN_USAGE);
    assert_int_equal(kn_hierarchy_make_over(&h, &leaves, ctx, x, 7, y, 0, &spec, false, &err), KN_USAGE);
    spec.size = 0;
    assert_int_equal(kn_hierarchy_make_over(&h, &leaves, ctx, x, 0, y, 0, &spec, false, &err), KN_USAGE);
    kn_table_free(x);
    kn_table_free(y);
    kn_table_free(bad);
    testing_context_free(ctx);
}

/* ---- Populations ---- */

/* Two columns: zips and numbers. */
static cells random_people(kn_rng *rng, int rows)
{
    cells c = {.rows = rows, .columns = 2};
    for (int r = 0; r < rows; r++)
        for (int i = 0; i < 2; i++)
            if (kn_rng_below(rng, 8)) sprintf(c.text[r][i], i ? "%u" : "z%u", (unsigned)kn_rng_below(rng, 4));
    return c;
}

static void check_population(const kn_population_set *p, const kn_table *table, const uint32_t *const *leaves,
                             const int64_t *weights)
{
    int64_t total = 0, counted = 0;
    assert_int_equal(p->quasi_count, 2);
    for (int64_t i = 0; i < p->count; i++) {
        const uint32_t *here = p->leaves + 2 * i;
        int64_t         sum = 0;
        if (i > 0) assert_true(here[-2] < here[0] || (here[-2] == here[0] && here[-1] < here[1]));
        for (int64_t r = 0; r < table->rows; r++)
            if (leaves[0][kn_table_code(table, 0, r)] == here[0] && leaves[1][kn_table_code(table, 1, r)] == here[1])
                sum += weights ? weights[r] : 1;
        assert_int_equal(p->counts[i], sum);
        counted += sum;
    }
    for (int64_t r = 0; r < table->rows; r++) total += weights ? weights[r] : 1;
    assert_int_equal(counted, total);
}

static void populations_equal_counting(void **state)
{
    (void)state;
    kn_error err = KN_ERROR_INIT;
    kn_rng   rng;
    kn_rng_init(&rng, testing_seed(), 2);
    for (int round = 0; round < testing_rounds(500); round++) {
        kn_context       *ctx = testing_context(1 + round % 3);
        cells             sample = random_people(&rng, 1 + (int)kn_rng_below(&rng, 10));
        cells             people = random_people(&rng, (int)kn_rng_below(&rng, MOST_ROWS));
        kn_builder_type   types[] = {{KN_TYPE_TEXT, NULL}, {KN_TYPE_INTEGER, NULL}, {KN_TYPE_DECIMAL, NULL}};
        kn_table         *x = make_table(ctx, &sample, types), *y = make_table(ctx, &people, types);
        kn_hierarchy_spec specs[2] = {KN_HIERARCHY_SPEC_INIT, KN_HIERARCHY_SPEC_INIT};
        kn_hierarchy     *h[2];
        uint32_t         *leaves[2];
        const int         columns[] = {0, 1};
        specs[0].kind = KN_HIERARCHY_MASK;
        specs[1].kind = KN_HIERARCHY_SUPPRESS;
        for (int i = 0; i < 2; i++)
            assert_ok(kn_hierarchy_make_over(&h[i], &leaves[i], ctx, x, i, y, i, &specs[i], false, &err), err);
        kn_population_set         *p = NULL;
        const kn_hierarchy *const *trees = (const kn_hierarchy *const *)h;
        assert_ok(kn_population_set_of_leaves(&p, ctx, y, columns, trees, (const uint32_t *const *)leaves, 2, &err),
                  err);
        check_population(p, y, (const uint32_t *const *)leaves, NULL);
        assert_int_equal(p->unit, 1);
        kn_population_set_free(p);
        for (int i = 0; i < 2; i++) {
            kn_hierarchy_free(h[i]);
            kn_free(leaves[i]);
        }
        kn_table_free(x);
        kn_table_free(y);
        testing_context_free(ctx);
    }
}

static void a_population_without_a_leaf(void **state)
{
    (void)state;
    kn_context       *ctx = testing_context(1);
    kn_error          err = KN_ERROR_INIT;
    kn_table         *x = table_of(ctx, TEXTS("a1", "a2"), KN_TYPE_AUTO, NULL);
    kn_table         *y = table_of(ctx, TEXTS("a1", "hidden"), KN_TYPE_AUTO, NULL);
    kn_hierarchy_spec spec = KN_HIERARCHY_SPEC_INIT;
    kn_hierarchy     *h = NULL;
    uint32_t         *leaves = NULL;
    spec.kind = KN_HIERARCHY_SUPPRESS;
    assert_ok(kn_hierarchy_make(&h, ctx, x, 0, &spec, false, &err), err);
    assert_int_equal(kn_hierarchy_match(&leaves, h, &y->columns[0], y->rows, '.', false, &err), KN_INPUT);
    assert_null(leaves);
    assert_null(strstr(err.message, "hidden"));
    kn_hierarchy_free(h);
    kn_table_free(x);
    kn_table_free(y);
    testing_context_free(ctx);
}

/* ---- Weights ---- */

typedef struct weighing {
    kn_table          *table;
    kn_hierarchy      *h[2];
    kn_population_set *set;
    kn_error           err;
    kn_status          status;
} weighing;

static weighing weigh(kn_context *ctx, const cells *c, kn_type type)
{
    kn_builder_type   types[] = {{KN_TYPE_TEXT, NULL}, {KN_TYPE_TEXT, NULL}, {type, NULL}};
    weighing          w = {.err = KN_ERROR_INIT, .table = make_table(ctx, c, types)};
    kn_hierarchy_spec spec = KN_HIERARCHY_SPEC_INIT;
    const int         columns[] = {0, 1};
    spec.kind = KN_HIERARCHY_SUPPRESS;
    for (int i = 0; i < 2; i++) assert_ok(kn_hierarchy_make(&w.h[i], ctx, w.table, i, &spec, false, &w.err), w.err);
    w.status =
        kn_population_set_of_weights(&w.set, ctx, w.table, columns, (const kn_hierarchy *const *)w.h, 2, 2, &w.err);
    return w;
}

static void weighing_end(weighing *w)
{
    kn_population_set_free(w->set);
    for (int i = 0; i < 2; i++) kn_hierarchy_free(w->h[i]);
    kn_table_free(w->table);
}

static void weights_equal_adding_up(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(1);
    kn_rng      rng;
    kn_rng_init(&rng, testing_seed(), 3);
    for (int round = 0; round < testing_rounds(800); round++) {
        cells   c = random_people(&rng, 1 + (int)kn_rng_below(&rng, MOST_ROWS));
        int64_t millionths[MOST_ROWS], unit = 1;
        int     decimals = (int)kn_rng_below(&rng, 9), most = 0;
        c.columns = 3;
        for (int r = 0; r < c.rows; r++) { /* digits by hand: what lies behind the sixth is cut off */
            unsigned whole = (unsigned)kn_rng_below(&rng, 3000), digits[8] = {0};
            int      used = 0;
            for (int i = 0; i < decimals; i++) {
                digits[i] = (unsigned)kn_rng_below(&rng, 3) ? 0 : (unsigned)kn_rng_below(&rng, 10);
                if (digits[i]) used = i + 1;
            }
            if (used > most) most = used;
            char *to = c.text[r][2];
            to += sprintf(to, decimals ? "%u." : "%u", whole);
            for (int i = 0; i < decimals; i++) to += sprintf(to, "%u", digits[i]);
            millionths[r] = whole;
            for (int i = 0; i < 6; i++) millionths[r] = millionths[r] * 10 + digits[i];
        }
        for (int i = 0; i < 6; i++) unit *= i < most ? 10 : 1;
        for (int r = 0; r < c.rows; r++) millionths[r] /= 1000000 / unit;
        weighing w = weigh(ctx, &c, decimals ? KN_TYPE_DECIMAL : KN_TYPE_INTEGER);
        assert_ok(w.status, w.err);
        assert_int_equal(w.set->unit, unit);
        const uint32_t *leaves[] = {w.h[0]->leaf_of_code, w.h[1]->leaf_of_code};
        check_population(w.set, w.table, leaves, millionths);
        weighing_end(&w);
    }
    testing_context_free(ctx);
}

/* The weight's column may be the first: four people of either kind, weighing 1, 4, 4, 4 and 4, 1, 1, 1. */
static void weights_in_the_first_column(void **state)
{
    (void)state;
    kn_context       *ctx = testing_context(1);
    kn_error          err = KN_ERROR_INIT;
    kn_builder_type   types[] = {{KN_TYPE_INTEGER, NULL}, {KN_TYPE_TEXT, NULL}};
    kn_hierarchy_spec spec = KN_HIERARCHY_SPEC_INIT;
    cells             c = {.rows = 8, .columns = 2};
    for (int r = 0; r < 8; r++) {
        strcpy(c.text[r][0], (r % 4 == 0) == (r < 4) ? "1" : "4");
        strcpy(c.text[r][1], r < 4 ? "a" : "b");
    }
    kn_table          *table = make_table(ctx, &c, types);
    kn_hierarchy      *h = NULL;
    kn_population_set *set = NULL;
    const int          columns[] = {1};
    spec.kind = KN_HIERARCHY_SUPPRESS;
    assert_ok(kn_hierarchy_make(&h, ctx, table, 1, &spec, false, &err), err);
    assert_ok(kn_population_set_of_weights(&set, ctx, table, columns, (const kn_hierarchy *const *)&h, 1, 0, &err),
              err);
    assert_int_equal(set->count, 2);
    assert_int_equal(set->counts[0] + set->counts[1], 13 + 7);
    assert_int_equal(set->counts[0] > set->counts[1] ? set->counts[1] : set->counts[0], 7);
    kn_population_set_free(set);
    kn_hierarchy_free(h);
    kn_table_free(table);
    testing_context_free(ctx);
}

static void weights_by_hand(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(1);
    static const struct {
        const char *weights[4];
        kn_type     type;
        int64_t     unit, sum; /* unit 0: refused */
        const char *message;
    } cases[] = {
        {{"0.1", "0.1", "0.1", "0.7"}, KN_TYPE_DECIMAL, 10, 10, NULL},
        {{"1e3", "2.5e-1", "0", "00.5"}, KN_TYPE_DECIMAL, 100, 100075, NULL},
        {{"0.33333339", "0.00000001", "5.", ".5"}, KN_TYPE_DECIMAL, 1000000, 5833333, NULL},
        {{"9e18", "0.25", "0.5", "1"}, KN_TYPE_DECIMAL, 1, 9000000000000000001, NULL},
        {{"9000000000000.5", "0.25", "0.5", "1"}, KN_TYPE_DECIMAL, 100, 900000000000225, NULL},
        {{"900000000000000000.5", "0", "0.5", "1"}, KN_TYPE_DECIMAL, 10, 9000000000000000020, NULL},
        {{"1e30", "0", "0", "0"}, KN_TYPE_DECIMAL, 0, 0, "column \"c\" cannot be a weight: its sum is too large"},
        {{"9e18", "1e18", "1", "1"}, KN_TYPE_DECIMAL, 0, 0, "column \"c\" cannot be a weight: its sum is too large"},
        {{"9223372036854775807", "1", "1", "1"},
         KN_TYPE_INTEGER,
         0,
         0,
         "column \"c\" cannot be a weight: its sum is too large"},
        {{"1", "2", "-7", "-8"},
         KN_TYPE_INTEGER,
         0,
         0,
         "column \"c\" cannot be a weight: the cell in data row 3 is negative"},
        {{"1", "-0.25", "", "1"},
         KN_TYPE_DECIMAL,
         0,
         0,
         "column \"c\" cannot be a weight: the cell in data row 2 is negative"},
        {{"1", "1", "1", ""},
         KN_TYPE_INTEGER,
         0,
         0,
         "column \"c\" cannot be a weight: the cell in data row 4 is missing"},
        {{"1", "-0.0", "1", "1"}, KN_TYPE_DECIMAL, 1, 3, NULL},
        {{"1", "1", "1", "x"}, KN_TYPE_TEXT, 0, 0, "column \"c\" cannot be a weight: it is not a number"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cells c = {.rows = 4, .columns = 3};
        for (int r = 0; r < 4; r++) {
            strcpy(c.text[r][0], "x");
            strcpy(c.text[r][2], cases[i].weights[r]);
        }
        weighing w = weigh(ctx, &c, cases[i].type);
        if (cases[i].unit) {
            assert_ok(w.status, w.err);
            assert_int_equal(w.set->count, 1);
            assert_int_equal(w.set->unit, cases[i].unit);
            assert_int_equal(w.set->counts[0], cases[i].sum);
        } else {
            assert_int_equal(w.status, KN_INPUT);
            assert_string_equal(w.err.message, cases[i].message);
        }
        weighing_end(&w);
    }
    testing_context_free(ctx);
}

/* ---- Some rows ---- */

static void same_table(const kn_table *a, const kn_table *b)
{
    const char *reason = NULL;
    if (!kn_table_validate(a, &reason)) fail_msg("%s", reason);
    assert_int_equal(a->rows, b->rows);
    assert_int_equal(a->column_count, b->column_count);
    for (int c = 0; c < a->column_count; c++) {
        const kn_column *x = &a->columns[c], *y = &b->columns[c];
        assert_string_equal(x->name, y->name);
        assert_int_equal(x->type, y->type);
        assert_int_equal(x->width, y->width);
        assert_int_equal(x->missing, y->missing);
        assert_int_equal(x->dict.count, y->dict.count);
        for (uint32_t i = 0; i < x->dict.count; i++) {
            assert_true(kn_string_equal(kn_dictionary_text(&x->dict, i), kn_dictionary_text(&y->dict, i)));
            if (x->dict.integers) assert_int_equal(x->dict.integers[i], y->dict.integers[i]);
            if (x->dict.decimals) assert_true(x->dict.decimals[i] == y->dict.decimals[i]);
        }
        assert_memory_equal(x->codes, y->codes, (size_t)a->rows * (size_t)x->width);
    }
}

static void chosen_rows_equal_a_table_of_them(void **state)
{
    (void)state;
    kn_error err = KN_ERROR_INIT;
    kn_rng   rng;
    kn_rng_init(&rng, testing_seed(), 4);
    for (int round = 0; round < testing_rounds(1000); round++) {
        kn_context     *ctx = testing_context(1 + round % 3);
        cells           all = random_people(&rng, (int)kn_rng_below(&rng, MOST_ROWS)), some = {.columns = 3};
        kn_builder_type types[] = {{KN_TYPE_TEXT, NULL}, {KN_TYPE_INTEGER, NULL}, {KN_TYPE_DECIMAL, NULL}};
        int64_t         rows[MOST_ROWS];
        all.columns = 3;
        for (int r = 0; r < all.rows; r++) {
            sprintf(all.text[r][2], "%u.5", (unsigned)kn_rng_below(&rng, 30));
            if (kn_rng_below(&rng, 3) == 0) continue;
            rows[some.rows] = r;
            memcpy(some.text[some.rows++], all.text[r], sizeof all.text[r]);
        }
        kn_table *table = make_table(ctx, &all, types), *expected = make_table(ctx, &some, types), *chosen = NULL;
        assert_ok(kn_table_select(&chosen, ctx, table, rows, some.rows, &err), err);
        same_table(chosen, expected);
        kn_table_free(chosen);
        kn_table_free(table);
        kn_table_free(expected);
        testing_context_free(ctx);
    }
}

static void chosen_rows_narrow_the_codes(void **state)
{
    (void)state;
    enum { ROWS = 70000 };
    kn_context *ctx = testing_context(2);
    kn_error    err = KN_ERROR_INIT;
    kn_builder *b = NULL;
    kn_table   *table = NULL, *chosen = NULL;
    kn_string   title = {"n", 1};
    int64_t     first = 0, *rows = malloc(ROWS * sizeof *rows);
    uint32_t   *ids = malloc(ROWS * sizeof *ids);
    assert_true(rows && ids);
    assert_ok(kn_builder_create(&b, ctx, &title, 1, 1, &err), err);
    for (int r = 0; r < ROWS; r++) {
        char text[16];
        ids[r] = kn_intern(kn_builder_interner(b, 0, 0), (kn_string){text, (size_t)sprintf(text, "%d", ROWS - r)});
        rows[r] = r;
    }
    assert_ok(kn_builder_extend(b, ROWS, 0, &first, &err), err);
    kn_builder_write(b, 0, 0, ids, ROWS);
    assert_ok(kn_builder_finish(&table, b, NULL, NULL, &err), err);
    assert_int_equal(table->columns[0].width, 4);
    static const struct {
        int64_t rows;
        int     width;
    } cases[] = {{ROWS, 4}, {65537, 4}, {65536, 2}, {257, 2}, {256, 1}, {1, 1}, {0, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_ok(kn_table_select(&chosen, ctx, table, rows, cases[i].rows, &err), err);
        assert_int_equal(chosen->columns[0].width, cases[i].width);
        assert_true(kn_table_validate(chosen, NULL));
        for (int64_t r = 0; r < cases[i].rows; r++) {
            uint32_t  code = kn_table_code(chosen, 0, r);
            kn_string text = kn_dictionary_text(&chosen->columns[0].dict, code);
            char      expected[16];
            assert_int_equal(chosen->columns[0].dict.integers[code], ROWS - r);
            assert_int_equal(text.size, (size_t)sprintf(expected, "%d", (int)(ROWS - r)));
            assert_memory_equal(text.data, expected, text.size);
        }
        kn_table_free(chosen);
    }
    int64_t wrong[][2] = {{1, 1}, {2, 1}, {-1, 0}, {0, ROWS}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(kn_table_select(&chosen, ctx, table, wrong[i], 2, &err), KN_USAGE);
        assert_null(chosen);
    }
    free(rows);
    free(ids);
    kn_table_free(table);
    testing_context_free(ctx);
}

/* ---- Memory ---- */

static kn_status work(kn_context *ctx, const kn_table *x, const kn_table *y, kn_error *err)
{
    kn_hierarchy_spec  specs[2] = {KN_HIERARCHY_SPEC_INIT, KN_HIERARCHY_SPEC_INIT};
    kn_hierarchy      *h[2] = {NULL, NULL};
    uint32_t          *leaves[2] = {NULL, NULL};
    kn_population_set *p = NULL, *w = NULL;
    kn_table          *chosen = NULL;
    const int          columns[] = {0, 1};
    const int64_t      rows[] = {0, 2, 3};
    specs[0].kind = specs[1].kind = KN_HIERARCHY_MASK;
    kn_status st = KN_OK;
    for (int i = 0; i < 2 && st == KN_OK; i++)
        st = kn_hierarchy_make_over(&h[i], &leaves[i], ctx, x, i, y, i, &specs[i], false, err);
    const kn_hierarchy *const *trees = (const kn_hierarchy *const *)h;
    if (st == KN_OK)
        st = kn_population_set_of_leaves(&p, ctx, y, columns, trees, (const uint32_t *const *)leaves, 2, err);
    if (st == KN_OK) st = kn_population_set_of_weights(&w, ctx, x, columns, trees, 2, 2, err);
    if (st == KN_OK) st = kn_table_select(&chosen, ctx, y, rows, 3, err);
    kn_table_free(chosen);
    kn_population_set_free(p);
    kn_population_set_free(w);
    for (int i = 0; i < 2; i++) {
        kn_hierarchy_free(h[i]);
        kn_free(leaves[i]);
    }
    return st;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    kn_context *plain = testing_context(1);
    kn_rng      rng;
    kn_rng_init(&rng, 7, 0);
    cells x = random_people(&rng, 8), y = random_people(&rng, 12);
    x.columns = 3;
    for (int r = 0; r < 8; r++) sprintf(x.text[r][2], "%d.5", r);
    for (int r = 0; r < 12; r++) strcpy(y.text[r][1], r % 2 ? "007" : "z"); /* text there, numbers here */
    kn_table *sample = make_table(plain, &x, NULL), *people = make_table(plain, &y, NULL);
    int64_t   refused = 0;
    for (bool done = false; !done; refused++) {
        testing_allocator counter = {.refuse_at = refused};
        kn_context       *ctx = NULL;
        kn_error          err = KN_ERROR_INIT;
        kn_status         st = testing_refusing_context(&ctx, &counter, 1, &err);
        if (st == KN_OK) st = work(ctx, sample, people, &err);
        if (st != KN_OK && st != KN_MEMORY) fail_msg("%s", err.message);
        done = st == KN_OK;
        kn_context_free(ctx);
        assert_int_equal(counter.live, 0);
    }
    print_message("%lld allocations refused\n", (long long)refused);
    assert_true(refused > 100);
    kn_table_free(sample);
    kn_table_free(people);
    testing_context_free(plain);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unions_by_hand),
        cmocka_unit_test(another_decimal_mark_is_refused),
        cmocka_unit_test(hierarchies_equal_the_joined_table),
        cmocka_unit_test(hierarchies_from_files),
        cmocka_unit_test(populations_equal_counting),
        cmocka_unit_test(a_population_without_a_leaf),
        cmocka_unit_test(weights_equal_adding_up),
        cmocka_unit_test(weights_in_the_first_column),
        cmocka_unit_test(weights_by_hand),
        cmocka_unit_test(chosen_rows_equal_a_table_of_them),
        cmocka_unit_test(chosen_rows_narrow_the_codes),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
