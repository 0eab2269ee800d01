/* test_suda.c: minimal sample uniques, scores and contributions against all subsets tried row by row. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include <kanon/generate.h>
#include <kanon/risk.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kn_rng.h"
#include "kn_suda.h"

enum { MOST_COLUMNS = 12, MOST_ROWS = 90 };

static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"};

typedef struct sheet {
    int rows, columns;
    int cell[MOST_ROWS][MOST_COLUMNS]; /* -1: missing */
} sheet;

static sheet random_sheet(kn_rng *rng, int columns, bool missing, int values)
{
    sheet s = {.rows = 1 + (int)kn_rng_below(rng, MOST_ROWS - 1), .columns = columns};
    for (int r = 0; r < s.rows; r++)
        for (int c = 0; c < columns; c++) {
            s.cell[r][c] = (int)kn_rng_below(rng, 1 + kn_rng_below(rng, (uint64_t)values));
            if (missing && kn_rng_below(rng, 12) == 0) s.cell[r][c] = -1;
        }
    return s;
}

static kn_table *read_sheet(kn_context *ctx, const sheet *s)
{
    char  *text = malloc(64 + (size_t)s->rows * 96);
    size_t n = 0;
    assert_non_null(text);
    for (int c = 0; c < s->columns; c++) n += (size_t)sprintf(text + n, "%s,", names[c]);
    n += (size_t)sprintf(text + n, "z\n");
    for (int r = 0; r < s->rows; r++) {
        for (int c = 0; c < s->columns; c++)
            n += s->cell[r][c] < 0 ? (size_t)sprintf(text + n, ",") : (size_t)sprintf(text + n, "v%d,", s->cell[r][c]);
        n += (size_t)sprintf(text + n, "%d\n", r);
    }
    const char *path = testing_file("suda.csv", text, n);
    free(text);
    kn_table *table = NULL;
    kn_error  err = KN_ERROR_INIT;
    assert_ok(kn_table_read_csv(&table, ctx, path, NULL, &err), err);
    assert_int_equal(kn_table_rows(table), s->rows);
    return table;
}

/* ---- The twin ---- */

static bool set_aside(const sheet *s, int row, bool drop)
{
    for (int c = 0; c < s->columns && drop; c++)
        if (s->cell[row][c] < 0) return true;
    return false;
}

static bool alone(const sheet *s, int row, unsigned set, bool drop)
{
    for (int other = 0; other < s->rows; other++) {
        if (other == row || set_aside(s, other, drop)) continue;
        bool same = true;
        for (int c = 0; c < s->columns && same; c++)
            if (set >> c & 1) same = s->cell[row][c] == s->cell[other][c];
        if (same) return false;
    }
    return true;
}

/* Of one row: is each set of columns an MSU? */
static void msus_of(bool *msu, const sheet *s, int row, bool drop)
{
    for (unsigned set = 1; set < 1u << s->columns; set++) {
        msu[set] = alone(s, row, set, drop);
        for (int c = 0; c < s->columns && msu[set]; c++) /* uniqueness grows with the set: leave one out is enough */
            if (set >> c & 1 && set != 1u << c && alone(s, row, set & ~(1u << c), drop)) msu[set] = false;
    }
}

/* The published product: factors n − s, n − s − 1, ... down to n − M, without the factor 0. */
static double points_of(int columns, int max_size, int size)
{
    double product = 1;
    for (int i = size; i <= max_size; i++)
        if (i < columns) product *= columns - i;
    return product;
}

static bool near(double a, double b)
{
    return fabs(a - b) <= 1e-12 * fmax(1, fabs(b));
}

static void compare(const sheet *s, const kn_suda *r, const kn_suda_options *o)
{
    int     n = s->columns, most = o->max_size == 0 ? (n <= 10 ? n : 3) : o->max_size < n ? o->max_size : n;
    bool    drop = o->missing == KN_MISSING_DROP;
    bool   *msu = malloc(sizeof *msu << n);
    int64_t by_size[MOST_COLUMNS + 1] = {0}, by_column[MOST_COLUMNS] = {0}, special = 0, unique = 0;
    double  total = 0, column_total[MOST_COLUMNS] = {0};
    assert_non_null(msu);
    assert_int_equal(r->max_size, most);
    for (int row = 0; row < s->rows; row++) {
        double  score = 0, column[MOST_COLUMNS] = {0};
        int64_t count = 0;
        int     smallest = 0;
        if (set_aside(s, row, drop)) {
            assert_true(r->scores[row] == 0);
            continue;
        }
        unique += alone(s, row, (1u << n) - 1, drop);
        msus_of(msu, s, row, drop);
        for (unsigned set = 1; set < 1u << n; set++) {
            int size = __builtin_popcount(set);
            if (!msu[set] || size > most) continue;
            count++;
            by_size[size]++;
            if (smallest == 0 || size < smallest) smallest = size;
            score += points_of(n, most, size);
            for (int c = 0; c < n; c++)
                if (set >> c & 1) {
                    by_column[c]++;
                    column[c] += points_of(n, most, size);
                    column_total[c] += points_of(n, most, size);
                }
        }
        total += score;
        assert_true(near(r->scores[row], score));
        if (count == 0) continue;
        const kn_special_row *at = &r->special[special];
        assert_int_equal(at->row, row);
        assert_int_equal(at->msus, count);
        assert_int_equal(at->smallest, smallest);
        assert_true(near(at->score, score));
        for (int c = 0; c < n && o->row_columns; c++)
            assert_true(near(r->row_columns[special * n + c], column[c] / score));
        special++;
    }
    assert_int_equal(r->special_count, special);
    assert_int_equal(r->unique_rows, unique);
    assert_true(near(r->total, total));
    int64_t all = 0;
    for (int size = 1; size <= most; size++) {
        assert_int_equal(r->msus_by_size[size], by_size[size]);
        assert_true(r->points[size] == points_of(n, most, size));
        all += by_size[size];
    }
    assert_int_equal(r->msus, all);
    for (int c = 0; c < n; c++) {
        assert_int_equal(r->column_msus[c], by_column[c]);
        assert_true(near(r->column_share[c], total > 0 ? column_total[c] / total : 0));
    }
    if (most == n) assert_false(r->partial);
    free(msu);
}

static void every_figure_equals_trying_all_subsets(void **state)
{
    (void)state;
    kn_rng rng;
    kn_rng_init(&rng, testing_seed(), 1);
    for (int round = 0; round < testing_rounds(300); round++) {
        kn_context     *ctx = testing_context(1 << round % 4);
        bool            wide = round % 30 == 0;
        int             columns = wide ? MOST_COLUMNS : 1 + (int)kn_rng_below(&rng, 6);
        sheet           s = random_sheet(&rng, columns, round % 3 > 0, wide ? 100 : 1 + (int)kn_rng_below(&rng, 9));
        kn_table       *table = read_sheet(ctx, &s);
        kn_suda_options o = KN_SUDA_OPTIONS_INIT;
        o.quasi = names;
        o.quasi_count = columns;
        o.max_size = (int)kn_rng_below(&rng, (uint64_t)columns + 2);
        o.missing = kn_rng_below(&rng, 2) ? KN_MISSING_DROP : KN_MISSING_VALUE;
        o.row_columns = kn_rng_below(&rng, 2);
        kn_suda *r = NULL;
        kn_error err = KN_ERROR_INIT;
        /* 0: one set at a time */
        size_t batch = kn_rng_below(&rng, 2) ? 0 : kn_rng_below(&rng, 200);
        assert_ok(kn_suda_search_with(&r, ctx, table, &o, batch, &err), err);
        compare(&s, r, &o);
        kn_suda_free(r);
        kn_table_free(table);
        testing_context_free(ctx);
    }
}

/* A row that a person would call special, with the score worked out by hand. */
static void the_score_of_a_known_row(void **state)
{
    (void)state;
    static const char text[] = "sex,age,work,town\n" /* row 4 is unique on {sex, age} and on {age, work, town} */
                               "F,16,no,A\nF,40,yes,A\nM,16,yes,A\nF,16,no,B\nM,40,no,A\nM,16,no,A\nF,16,yes,A\n"
                               "M,16,no,B\nM,16,yes,B\nF,16,yes,B\nF,40,yes,B\n";
    static const char *const all[] = {"sex", "age", "work", "town"};
    kn_context              *ctx = testing_context(1);
    kn_table                *table = NULL;
    kn_suda                 *r = NULL;
    kn_error                 err = KN_ERROR_INIT;
    kn_suda_options          o = KN_SUDA_OPTIONS_INIT;
    assert_ok(kn_table_read_csv(&table, ctx, testing_file("known.csv", text, strlen(text)), NULL, &err), err);
    o.quasi = all;
    o.quasi_count = 4;
    o.row_columns = true;
    assert_ok(kn_suda_search(&r, ctx, table, &o, &err), err);
    /* MSUs of row 4 (M,40,no,A): {sex, age} and {age, work}: 2! each */
    assert_true(r->scores[4] == 4);
    const kn_special_row *at = r->special;
    while (at->row != 4) at++;
    assert_int_equal(at->msus, 2);
    assert_int_equal(at->smallest, 2);
    const double *share = r->row_columns + (at - r->special) * 4;
    assert_true(share[0] == 0.5 && share[1] == 1 && share[2] == 0.5 && share[3] == 0);
    kn_suda_free(r);
    /* At most pairs of four columns: the product runs from 4 − 2 to 4 − 2. */
    o.max_size = 2;
    assert_ok(kn_suda_search(&r, ctx, table, &o, &err), err);
    assert_true(r->partial);
    assert_true(r->points[1] == 6 && r->points[2] == 2);
    kn_suda_free(r);
    kn_table_free(table);
    testing_context_free(ctx);
}

static void adult_like(kn_context *ctx, kn_table **table)
{
    kn_generate_options g = KN_GENERATE_OPTIONS_INIT;
    kn_error            err = KN_ERROR_INIT;
    g.kind = KN_GENERATE_ADULT_LIKE;
    g.rows = 3000;
    g.seed = 5;
    assert_ok(kn_generate_table(table, ctx, &g, &err), err);
}

static const char *const adult[] = {"sex",       "age",       "race", "marital-status", "education", "native-country",
                                    "workclass", "occupation"};

static void threads_do_not_matter(void **state)
{
    (void)state;
    static const int threads[] = {1, 2, 8};
    kn_suda         *r[3] = {NULL, NULL, NULL};
    kn_context      *ctx[3];
    kn_table        *table[3];
    kn_error         err = KN_ERROR_INIT;
    kn_suda_options  o = KN_SUDA_OPTIONS_INIT;
    o.quasi = adult;
    o.quasi_count = 8;
    o.row_columns = true;
    for (int i = 0; i < 3; i++) {
        ctx[i] = testing_context(threads[i]);
        adult_like(ctx[i], &table[i]);
        assert_ok(kn_suda_search(&r[i], ctx[i], table[i], &o, &err), err);
        assert_false(r[i]->partial);
        assert_true(r[i]->special_count == r[i]->unique_rows && r[i]->unique_rows > 1000);
        size_t n = (size_t)r[0]->special_count;
        assert_int_equal(r[i]->special_count, n);
        assert_memory_equal(r[i]->scores, r[0]->scores, 3000 * sizeof *r[0]->scores);
        assert_memory_equal(r[i]->row_columns, r[0]->row_columns, n * 8 * sizeof *r[0]->row_columns);
        assert_memory_equal(r[i]->column_share, r[0]->column_share, 8 * sizeof *r[0]->column_share);
        assert_memory_equal(r[i]->msus_by_size, r[0]->msus_by_size, 9 * sizeof *r[0]->msus_by_size);
    }
    for (int i = 0; i < 3; i++) {
        kn_suda_free(r[i]);
        kn_table_free(table[i]);
        testing_context_free(ctx[i]);
    }
}

static void bad_questions_are_refused(void **state)
{
    (void)state;
    static const char        text[] = "a,b\n1,2\n1,3\n";
    static const char *const ab[] = {"a", "b"}, *const twice[] = {"a", "a"}, *const unknown[] = {"a", "nowhere"};
    kn_context     *ctx = testing_context(1);
    kn_table       *table = NULL;
    kn_suda        *r = NULL;
    kn_error        err = KN_ERROR_INIT;
    kn_suda_options o = KN_SUDA_OPTIONS_INIT;
    assert_ok(kn_table_read_csv(&table, ctx, testing_file("two.csv", text, strlen(text)), NULL, &err), err);
    assert_int_equal(kn_suda_search(&r, ctx, table, NULL, &err), KN_USAGE);
    assert_int_equal(kn_suda_search(&r, ctx, table, &o, &err), KN_USAGE); /* no columns */
    o.quasi = twice;
    o.quasi_count = 2;
    assert_int_equal(kn_suda_search(&r, ctx, table, &o, &err), KN_USAGE);
    o.quasi = unknown;
    assert_int_equal(kn_suda_search(&r, ctx, table, &o, &err), KN_INPUT);
    assert_string_equal(err.message, "there is no column \"nowhere\"");
    o.quasi = ab;
    o.max_size = -1;
    assert_int_equal(kn_suda_search(&r, ctx, table, &o, &err), KN_USAGE);
    o.max_size = 0;
    o.missing = KN_MISSING_WILDCARD;
    assert_int_equal(kn_suda_search(&r, ctx, table, &o, &err), KN_USAGE);
    o.missing = KN_MISSING_VALUE;
    kn_context_cancel(ctx);
    assert_int_equal(kn_suda_search(&r, ctx, table, &o, &err), KN_CANCELLED);
    assert_null(r);
    kn_context_reset_cancel(ctx);
    assert_ok(kn_suda_search(&r, ctx, table, &o, &err), err);
    assert_int_equal(r->msus, 2); /* {b} for both rows */
    kn_suda_free(r);
    kn_table_free(table);
    testing_context_free(ctx);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    kn_rng rng;
    kn_rng_init(&rng, 11, 3);
    kn_context     *home = testing_context(1);
    sheet           s = random_sheet(&rng, 5, true, 6);
    kn_table       *table = read_sheet(home, &s);
    kn_suda_options o = KN_SUDA_OPTIONS_INIT;
    o.quasi = names;
    o.quasi_count = 5;
    o.row_columns = true;
    kn_status st = KN_MEMORY;
    int64_t   refuse = 0;
    for (; st != KN_OK; refuse += testing_step()) {
        testing_allocator memory = {.refuse_at = refuse};
        kn_context       *ctx = NULL;
        kn_suda          *r = NULL;
        kn_error          err = KN_ERROR_INIT;
        st = testing_refusing_context(&ctx, &memory, 1 + (int)(refuse % 2), &err);
        if (st == KN_OK) st = kn_suda_search(&r, ctx, table, &o, &err);
        if (st != KN_OK) {
            assert_int_equal(st, KN_MEMORY);
            assert_null(r);
        } else {
            compare(&s, r, &o);
        }
        kn_suda_free(r);
        kn_context_free(ctx);
        assert_int_equal(memory.live, 0);
    }
    assert_true(refuse > 30);
    kn_table_free(table);
    testing_context_free(home);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_figure_equals_trying_all_subsets),
        cmocka_unit_test(the_score_of_a_known_row),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(bad_questions_are_refused),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests_name("suda", tests, NULL, NULL);
}
