/* test_fd_discovery.c: discovered dependencies against all left sides tried row by row; threads, limits, failures. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include <kanon/dependencies.h>
#include <kanon/generate.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kn_fd.h"
#include "kn_rng.h"

enum { MOST_COLUMNS = 9, MOST_ROWS = 80 };

typedef struct sheet {
    int rows, columns;
    int cell[MOST_ROWS][MOST_COLUMNS]; /* -1: missing */
} sheet;

/* Random columns, and columns made of others: copies under other names, sums, constants, keys, some with a few mistakes. */
static void fill_column(sheet *s, kn_rng *rng, int c, int values)
{
    int kind = (int)kn_rng_below(rng, 10), a = c ? (int)kn_rng_below(rng, (uint64_t)c) : 0;
    int b = c ? (int)kn_rng_below(rng, (uint64_t)c) : 0, mistakes = (int)kn_rng_below(rng, 3);
    for (int r = 0; r < s->rows; r++) {
        int *cell = &s->cell[r][c];
        *cell = (int)kn_rng_below(rng, (uint64_t)values);
        if (kind == 0) *cell = 7;
        if (kind == 1) *cell = r;
        if (kind == 2 && c) *cell = 90 - s->cell[r][a];
        if (kind == 3 && c) *cell = (s->cell[r][a] + s->cell[r][b] * 3) % 5;
        if (kind == 4 && c) *cell = s->cell[r][a] / 2;
        if (kind == 5 && kn_rng_below(rng, 8) == 0) *cell = -1;
        if (*cell < 0) *cell = -1;
        if (kind < 5 && mistakes && kn_rng_below(rng, 25) == 0) *cell = 3;
    }
}

static sheet random_sheet(kn_rng *rng, int most_columns, int most_rows)
{
    sheet s = {.rows = (int)kn_rng_below(rng, (uint64_t)most_rows + 1),
               .columns = 1 + (int)kn_rng_below(rng, (uint64_t)most_columns)};
    for (int c = 0; c < s.columns; c++) fill_column(&s, rng, c, 1 + (int)kn_rng_below(rng, 12));
    for (int r = 1; r < s.rows; r++) /* equal rows */
        if (kn_rng_below(rng, 5) == 0) memcpy(s.cell[r], s.cell[kn_rng_below(rng, (uint64_t)r)], sizeof s.cell[r]);
    return s;
}

static kn_table *read_sheet(kn_context *ctx, const sheet *s)
{
    size_t n = 0, size = 64 + ((size_t)s->rows + 1) * 80;
    char  *text = malloc(size);
    assert_non_null(text);
    for (int c = 0; c < s->columns; c++) n += (size_t)snprintf(text + n, size - n, "%s%c", c ? "," : "", 'a' + c);
    n += (size_t)snprintf(text + n, size - n, "\n");
    for (int r = 0; r < s->rows; r++) {
        for (int c = 0; c < s->columns; c++)
            n +=
                (size_t)snprintf(text + n, size - n, s->cell[r][c] < 0 ? "%sNA" : "%sv%d", c ? "," : "", s->cell[r][c]);
        n += (size_t)snprintf(text + n, size - n, "\n");
    }
    const char *path = testing_file("sheet.csv", text, n);
    free(text);
    kn_table *table = NULL;
    kn_error  err = KN_ERROR_INIT;
    assert_ok(kn_table_read_csv(&table, ctx, path, NULL, &err), err);
    assert_int_equal(kn_table_rows(table), s->rows);
    return table;
}

/* ---- The twin ---- */

static bool agree(const sheet *s, int a, int b, unsigned set)
{
    for (int c = 0; c < s->columns; c++)
        if (set >> c & 1 && s->cell[a][c] != s->cell[b][c]) return false;
    return true;
}

/* The fewest rows without which left -> right holds: in each group of equal left sides all but the most frequent right. */
static int exceptions(const sheet *s, unsigned left, int right)
{
    int removed = 0;
    for (int r = 0; r < s->rows; r++) {
        int  size = 0, most = 0;
        bool first = true;
        for (int q = 0; q < r; q++) first = first && !agree(s, q, r, left);
        if (!first) continue;
        for (int q = r; q < s->rows; q++) {
            int same = 0;
            if (!agree(s, q, r, left)) continue;
            size++;
            for (int p = r; p < s->rows; p++) same += agree(s, p, q, left | 1u << right);
            if (same > most) most = same;
        }
        removed += size - most;
    }
    return removed;
}

/* The answer as one text: "left mask>right:removed" each, ascending. */
static void naive(char *out, size_t size, const sheet *s, int budget, int max_left)
{
    size_t n = 0;
    int   *removed = malloc(sizeof *removed << s->columns);
    assert_non_null(removed);
    for (int right = 0; right < s->columns; right++) {
        for (unsigned left = 0; left < 1u << s->columns; left++) {
            removed[left] = left >> right & 1 ? -1 : exceptions(s, left, right);
            bool minimal = removed[left] >= 0 && removed[left] <= budget && __builtin_popcount(left) <= max_left;
            for (int c = 0; c < s->columns && minimal; c++)
                if (left >> c & 1 && removed[left & ~(1u << c)] <= budget) minimal = false;
            if (minimal) n += (size_t)snprintf(out + n, size - n, "%d<%x:%d\n", right, left, removed[left]);
            assert_true(n < size);
        }
    }
    out[n] = '\0';
    free(removed);
}

static void found(char *out, size_t size, const sheet *s, const kn_discovery *d)
{
    size_t n = 0;
    out[0] = '\0';
    for (int right = 0; right < s->columns; right++)
        for (unsigned left = 0; left < 1u << s->columns; left++)
            for (int64_t i = 0; i < d->count; i++) {
                const kn_found_dependency *f = &d->found[i];
                unsigned                   mask = 0;
                for (int j = 0; j < f->left_count; j++) mask |= 1u << f->left[j];
                if (f->right != right || mask != left) continue;
                n += (size_t)snprintf(out + n, size - n, "%d<%x:%d\n", right, left, (int)f->removed);
                assert_true(n < size);
            }
}

static void sorted(const kn_discovery *d)
{
    for (int64_t i = 1; i < d->count; i++) {
        const kn_found_dependency *a = &d->found[i - 1], *b = &d->found[i];
        assert_true(a->left_count <= b->left_count);
        int at = 0;
        while (a->left_count == b->left_count && at < a->left_count && a->left[at] == b->left[at]) at++;
        if (a->left_count < b->left_count) continue;
        if (at < a->left_count)
            assert_true(a->left[at] < b->left[at]);
        else
            assert_true(a->right < b->right);
    }
}

static void everything_found_equals_trying_all_left_sides(void **state)
{
    (void)state;
    static char want[1 << 16], have[1 << 16];
    kn_rng      rng;
    kn_rng_init(&rng, testing_seed(), 1);
    for (int round = 0; round < testing_rounds(400); round++) {
        static const int    threads[] = {1, 2, 8};
        kn_context         *ctx = testing_context(threads[round % 3]);
        sheet               s = random_sheet(&rng, round % 20 ? 6 : 8, round % 4 ? 24 : MOST_ROWS);
        kn_table           *table = read_sheet(ctx, &s);
        kn_discover_options o = KN_DISCOVER_OPTIONS_INIT;
        kn_discovery       *d = NULL;
        kn_error            err = KN_ERROR_INIT;
        if (round % 2) o.error = (kn_fraction){kn_rng_below(&rng, 31), 100};
        o.max_left = kn_rng_below(&rng, 3) ? 0 : 1 + (int)kn_rng_below(&rng, 4);
        int budget = (int)(o.error.numerator * (uint64_t)s.rows / 100), most = o.max_left ? o.max_left : MOST_COLUMNS;
        assert_ok(kn_discover_dependencies(&d, ctx, table, &o, &err), err);
        naive(want, sizeof want, &s, budget, most);
        found(have, sizeof have, &s, d);
        if (strcmp(want, have) != 0) print_message("round %d, %d rows, budget %d\n", round, s.rows, budget);
        assert_string_equal(have, want);
        sorted(d);
        assert_int_equal(d->budget, budget);
        assert_int_equal(d->rows, s.rows);
        if (o.max_left == 0) assert_true(d->complete && !d->why_partial);
        assert_int_equal(d->complete_left, d->complete || most > s.columns ? s.columns : most);
        kn_discovery_free(d);
        kn_table_free(table);
        testing_context_free(ctx);
    }
}

/* ---- Larger tables: every left side held against the check, which groups the table anew ---- */

static kn_table *adult_like(kn_context *ctx, int64_t rows)
{
    kn_generate_options g = KN_GENERATE_OPTIONS_INIT;
    kn_error            err = KN_ERROR_INIT;
    kn_table           *table = NULL;
    g.kind = KN_GENERATE_ADULT_LIKE;
    g.rows = rows;
    g.seed = 3;
    assert_ok(kn_generate_table(&table, ctx, &g, &err), err);
    return table;
}

static bool is_listed(const kn_discovery *d, unsigned left, int right, int64_t removed)
{
    for (int64_t i = 0; i < d->count; i++) {
        const kn_found_dependency *f = &d->found[i];
        unsigned                   mask = 0;
        for (int j = 0; j < f->left_count; j++) mask |= 1u << f->left[j];
        if (f->right == right && mask == left) return f->removed == removed;
    }
    return false;
}

static int64_t checked_exceptions(kn_context *ctx, const kn_table *table, unsigned left, int right)
{
    const char         *names[16], *name = kn_table_name(table, right);
    int                 count = 0;
    kn_dependency      *one = NULL;
    kn_dependency_check answer;
    kn_error            err = KN_ERROR_INIT;
    for (int c = 0; c < kn_table_columns(table); c++)
        if (left >> c & 1) names[count++] = kn_table_name(table, c);
    assert_ok(kn_dependency_make(&one, ctx, KN_DEPENDENCY_FUNCTIONAL, 0, names, count, &name, 1, &err), err);
    assert_ok(kn_dependency_check_table(&answer, ctx, table, one, &err), err);
    kn_dependency_free(one);
    return answer.removed;
}

/* Rows without which a column would be constant. */
static int64_t not_most_common(const kn_table *table, int column)
{
    int64_t *counts = calloc((size_t)kn_table_distinct(table, column) + 1, sizeof *counts), most = 0;
    assert_non_null(counts);
    for (int64_t r = 0; r < kn_table_rows(table); r++) {
        int64_t n = ++counts[kn_table_code(table, column, r)];
        if (n > most) most = n;
    }
    free(counts);
    return kn_table_rows(table) - most;
}

static void compare_with_checks(const kn_discovery *d, kn_context *ctx, const kn_table *table)
{
    int      columns = kn_table_columns(table);
    int64_t *removed = malloc(sizeof *removed << columns), expected = 0;
    assert_non_null(removed);
    for (int right = 0; right < columns; right++)
        for (unsigned left = 0; left < 1u << columns; left++) {
            if (left >> right & 1) continue;
            removed[left] = left ? checked_exceptions(ctx, table, left, right) : not_most_common(table, right);
            bool minimal = removed[left] <= d->budget;
            for (int c = 0; c < columns && minimal; c++)
                if (left >> c & 1 && removed[left & ~(1u << c)] <= d->budget) minimal = false;
            if (!minimal) continue;
            assert_true(is_listed(d, left, right, removed[left]));
            expected++;
        }
    assert_int_equal(d->count, expected);
    free(removed);
}

static void a_larger_table_on_any_number_of_threads(void **state)
{
    (void)state;
    static const int         threads[] = {1, 2, 8};
    static const kn_fraction errors[] = {{0, 1}, {1, 100}, {15, 100}, {0, 1}};
    static const int64_t     rows[] = {3000, 1500, 1500, 60000}; /* the last: several ranges of rows of each column */
    for (int e = 0; e < 4; e++) {
        kn_discovery *first = NULL;
        kn_context   *home = NULL;
        for (int t = 0; t < 3; t++) {
            kn_context         *ctx = testing_context(threads[t]);
            kn_table           *table = adult_like(ctx, rows[e]);
            kn_discover_options o = KN_DISCOVER_OPTIONS_INIT;
            kn_discovery       *d = NULL;
            kn_error            err = KN_ERROR_INIT;
            o.error = errors[e];
            assert_ok(kn_discover_dependencies(&d, ctx, table, &o, &err), err);
            assert_true(d->complete);
            assert_true(d->span > 0 && d->span <= d->work && d->seconds > 0);
            if (t == 0) {
                if (e < 3) compare_with_checks(d, ctx, table);
                if (e == 2) assert_true(d->count > 10);
                first = d;
                home = ctx;
            } else {
                assert_int_equal(d->count, first->count);
                assert_int_equal(d->checked, first->checked);
                assert_int_equal(d->refuted, first->refuted);
                assert_int_equal(d->agree_sets, first->agree_sets);
                assert_true(e < 3 || d->combinations > 20000);
                assert_int_equal(d->rounds, first->rounds);
                for (int64_t i = 0; i < d->count; i++) {
                    assert_int_equal(d->found[i].right, first->found[i].right);
                    assert_int_equal(d->found[i].left_count, first->found[i].left_count);
                    assert_int_equal(d->found[i].removed, first->found[i].removed);
                    assert_memory_equal(d->found[i].left, first->found[i].left,
                                        (size_t)d->found[i].left_count * sizeof(int));
                }
                kn_discovery_free(d);
            }
            kn_table_free(table);
            if (t > 0) testing_context_free(ctx);
        }
        kn_discovery_free(first);
        testing_context_free(home);
    }
}

/* 64 values of k, ten rows each; b and c are functions of k but for mistakes, which stand only at every fourth value:
 * the rows that the search guesses from have all of them or none. */
static kn_table *misleading_table(kn_context *ctx, kn_rng *rng, int residue, int mistakes)
{
    enum { ROWS = 640 };
    char  *text = malloc(ROWS * 32 + 32);
    size_t n = 0;
    assert_non_null(text);
    n += (size_t)sprintf(text, "k,b,c,d,e\n");
    for (int r = 0; r < ROWS; r++) {
        int  k = r % 64, b = k * 5 % 37, c = k % 11, d = (int)kn_rng_below(rng, 9), e = (int)kn_rng_below(rng, 30);
        bool wrong = k % 4 == residue && (int)kn_rng_below(rng, 160) < mistakes;
        if (wrong) b = c = (int)kn_rng_below(rng, 11);
        n += (size_t)sprintf(text + n, "%02d,%02d,%02d,%02d,%02d\n", k, b, c, d, e);
    }
    const char *path = testing_file("misleading.csv", text, n);
    kn_table   *table = NULL;
    kn_error    err = KN_ERROR_INIT;
    free(text);
    assert_ok(kn_table_read_csv(&table, ctx, path, NULL, &err), err);
    return table;
}

static void guesses_from_some_rows_may_mislead(void **state)
{
    (void)state;
    kn_rng rng;
    kn_rng_init(&rng, testing_seed(), 5);
    for (int round = 0; round < 24; round++) {
        kn_context         *ctx = testing_context(1 + round % 2);
        int                 mistakes = 8 + (int)kn_rng_below(&rng, 50);
        kn_table           *table = misleading_table(ctx, &rng, round % 4, mistakes);
        kn_discover_options o = KN_DISCOVER_OPTIONS_INIT;
        kn_discovery       *d = NULL;
        kn_error            err = KN_ERROR_INIT;
        o.error = (kn_fraction){(uint64_t)mistakes / 2 + kn_rng_below(&rng, (uint64_t)mistakes), 640};
        assert_ok(kn_discover_dependencies(&d, ctx, table, &o, &err), err);
        assert_true(d->complete);
        compare_with_checks(d, ctx, table);
        kn_discovery_free(d);
        kn_table_free(table);
        testing_context_free(ctx);
    }
}

/* ---- Levels, and the search for the border ---- */

static int compare_found(const void *a, const void *b)
{
    const kn_fd_result *x = a, *y = b;
    if (x->right != y->right) return x->right - y->right;
    return x->left < y->left ? -1 : x->left > y->left;
}

typedef struct way {
    double work; /* of the levels */
    bool   apart;
    int    max_left;
} way;

static kn_fd_search searched(kn_context *ctx, const kn_fd_data *data, int64_t budget, way how)
{
    kn_error     err = KN_ERROR_INIT;
    kn_fd_clock  clock;
    kn_fd_search s = {.ctx = ctx,
                      .data = data,
                      .clock = &clock,
                      .budget = budget,
                      .max_left = how.max_left,
                      .level_work = how.work,
                      .apart = how.apart};
    kn_fd_clock_start(&clock, ctx, 0);
    assert_ok(kn_fd_search_run(&s, &err), err);
    assert_false(s.late);
    if (s.count > 1) qsort(s.results, s.count, sizeof *s.results, compare_found);
    return s;
}

static void same_results(const kn_fd_search *a, const kn_fd_search *b)
{
    assert_int_equal(a->count, b->count);
    assert_int_equal(a->cut, b->cut);
    for (size_t i = 0; i < a->count; i++) {
        assert_memory_equal(&a->results[i].left, &b->results[i].left, sizeof a->results[i].left);
        assert_int_equal(a->results[i].right, b->results[i].right);
        assert_int_equal(a->results[i].removed, b->results[i].removed);
    }
}

/* The number of levels that are looked at is a matter of work alone: none, some, all find the same. */
static void levels_and_the_border_find_the_same(void **state)
{
    (void)state;
    kn_rng rng;
    int    settled = 0, unsettled = 0;
    kn_rng_init(&rng, testing_seed(), 6);
    for (int round = 0; round < testing_rounds(200); round++) {
        kn_context *ctx = testing_context(1 + round % 3);
        sheet       s = random_sheet(&rng, MOST_COLUMNS, MOST_ROWS);
        kn_table   *table = read_sheet(ctx, &s);
        kn_fd_data *data = NULL;
        kn_error    err = KN_ERROR_INIT;
        int         columns[MOST_COLUMNS];
        int64_t     budget = 1 + (int64_t)kn_rng_below(&rng, 8);
        for (int c = 0; c < s.columns; c++) columns[c] = c;
        assert_ok(kn_fd_data_make(&data, ctx, table, columns, s.columns, &err), err);
        double       work = (double)data->rows * (double)(1 + kn_rng_below(&rng, 60)) + 1;
        kn_fd_search border = searched(ctx, data, budget, (way){0, false, KN_FD_COLUMNS});
        kn_fd_search some = searched(ctx, data, budget, (way){work, round % 2, KN_FD_COLUMNS});
        kn_fd_search all = searched(ctx, data, budget, (way){KN_FD_LEVEL_WORK, false, KN_FD_COLUMNS});
        kn_fd_search apart = searched(ctx, data, budget, (way){KN_FD_LEVEL_WORK, true, KN_FD_COLUMNS});
        assert_true(all.settled && apart.settled);
        settled += some.settled;
        unsettled += !some.settled;
        same_results(&border, &some);
        same_results(&border, &all);
        same_results(&border, &apart);
        assert_int_equal(all.checked, apart.checked);
        assert_int_equal(all.refuted, apart.refuted);
        kn_fd_search_free(&border);
        kn_fd_search_free(&some);
        kn_fd_search_free(&all);
        kn_fd_search_free(&apart);
        kn_fd_data_free(data);
        kn_table_free(table);
        testing_context_free(ctx);
    }
    assert_true(settled > 0 && unsettled > 0);
}

/* Columns of 2 to 40 values, every third one a function of another but for mistakes; every `heavy`-th row twice or more. */
static kn_table *wide_table(kn_context *ctx, kn_rng *rng, int columns, int rows, int heavy)
{
    enum { MOST = 64 };
    int    cell[MOST];
    char  *text = malloc((size_t)(rows + 1) * (size_t)columns * 24);
    size_t n = 0;
    assert_non_null(text);
    for (int c = 0; c < columns; c++) n += (size_t)sprintf(text + n, "c%d%c", c, c + 1 < columns ? ',' : '\n');
    for (int r = 0; r < rows; r++)
        for (int again = heavy && r % heavy == 0 ? 2 + r % 3 : 1; again > 0; again--)
            for (int c = 0; c < columns; c++) {
                bool made = c % 3 == 2 && kn_rng_below(rng, 200) > 0;
                if (again == 1 || heavy == 0 || again == 2 + r % 3)
                    cell[c] = made ? cell[c - 1] * 7 % 11 : (int)kn_rng_below(rng, (uint64_t)(2 + c * 5 % 39));
                n += (size_t)sprintf(text + n, "v%d%c", cell[c], c + 1 < columns ? ',' : '\n');
            }
    kn_table *table = NULL;
    kn_error  err = KN_ERROR_INIT;
    assert_ok(kn_table_read_csv(&table, ctx, testing_file("wide.csv", text, n), NULL, &err), err);
    free(text);
    return table;
}

/* All right sides at once find what each by itself does: few columns and many, equal rows, budgets of few and many digits. */
static void together_and_apart_find_the_same(void **state)
{
    (void)state;
    static const struct {
        int     columns, rows, heavy, max_left;
        int64_t budget;
    } cases[] = {{7, 600, 0, 64, 6},   {16, 500, 0, 4, 31}, {17, 400, 3, 3, 32}, {33, 300, 0, 3, 3},
                 {40, 200, 2, 2, 100}, {64, 150, 0, 2, 1},  {12, 3, 0, 64, 1},   {9, 900, 5, 64, 2}};
    kn_rng rng;
    kn_rng_init(&rng, testing_seed(), 7);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kn_context *ctx = testing_context(1 + (int)i % 3);
        kn_table   *table = wide_table(ctx, &rng, cases[i].columns, cases[i].rows, cases[i].heavy);
        kn_fd_data *data = NULL;
        kn_error    err = KN_ERROR_INIT;
        int         columns[KN_FD_COLUMNS];
        for (int c = 0; c < cases[i].columns; c++) columns[c] = c;
        assert_ok(kn_fd_data_make(&data, ctx, table, columns, cases[i].columns, &err), err);
        kn_fd_search together = searched(ctx, data, cases[i].budget, (way){KN_FD_LEVEL_WORK, false, cases[i].max_left});
        kn_fd_search apart = searched(ctx, data, cases[i].budget, (way){KN_FD_LEVEL_WORK, true, cases[i].max_left});
        same_results(&together, &apart);
        assert_true(together.settled && together.checked > 0);
        assert_int_equal(together.checked, apart.checked);
        assert_int_equal(together.refuted, apart.refuted);
        kn_fd_search_free(&together);
        kn_fd_search_free(&apart);
        kn_fd_data_free(data);
        kn_table_free(table);
        testing_context_free(ctx);
    }
}

/* ---- Hitting sets ---- */

static void hitting_sets_equal_trying_all(void **state)
{
    (void)state;
    kn_rng rng;
    kn_rng_init(&rng, testing_seed(), 2);
    kn_context *ctx = testing_context(1);
    kn_fd_clock clock;
    kn_fd_clock_start(&clock, ctx, 0);
    for (int round = 0; round < testing_rounds(500); round++) {
        int        columns = 1 + (int)kn_rng_below(&rng, 9), count = (int)kn_rng_below(&rng, 12);
        int        most = 1 + (int)kn_rng_below(&rng, 9);
        uint64_t   all = ((uint64_t)1 << columns) - 1, expected = 0;
        kn_fd_list sets = {0}, out = {0};
        bool       cut, changed;
        kn_error   err = KN_ERROR_INIT;
        for (int i = 0; i < count; i++) assert_true(kn_fd_maximal_add(&sets, ctx, kn_rng_next(&rng) & all, &changed));
        assert_ok(kn_fd_hitting(&out, &cut, &clock, &sets, all, most, &err), err);
        kn_fd_list_sort(&out);
        for (uint64_t set = 0; set <= all; set++) {
            bool minimal = true;
            for (int drop = -1; drop < columns; drop++) { /* it hits; without any one of its columns it does not */
                if (drop >= 0 && !(set >> drop & 1)) continue;
                uint64_t less = drop < 0 ? set : set & ~kn_fd_bit(drop);
                bool     hits = true;
                for (size_t i = 0; i < sets.count; i++) hits = hits && (less & ~sets.sets[i]);
                if (hits != (drop < 0)) minimal = false;
            }
            if (minimal && __builtin_popcountll(set) > most) assert_true(cut);
            if (!minimal || __builtin_popcountll(set) > most) continue;
            assert_true(kn_fd_list_has(&out, set));
            expected++;
        }
        assert_int_equal(out.count, expected);
        kn_fd_list_free(&sets);
        kn_fd_list_free(&out);
    }
    testing_context_free(ctx);
}

/* ---- Limits and failures ---- */

static void sixty_four_columns(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(2);
    char        text[4096];
    size_t      n = 0;
    for (int columns = 64; columns <= 65; columns++) {
        /* Column i is 1 in row i alone: any two columns are independent enough; row 0 has none. */
        n = 0;
        char *csv = malloc(70 * 600);
        assert_non_null(csv);
        for (int c = 0; c < columns; c++) n += (size_t)sprintf(csv + n, "c%d%s", c, c + 1 < columns ? "," : "\n");
        for (int r = 0; r <= columns; r++)
            for (int c = 0; c < columns; c++)
                n += (size_t)sprintf(csv + n, "%d%s", r == c + 1, c + 1 < columns ? "," : "\n");
        kn_table           *table = NULL;
        kn_discovery       *d = NULL;
        kn_discover_options o = KN_DISCOVER_OPTIONS_INIT;
        kn_error            err = KN_ERROR_INIT;
        assert_ok(kn_table_read_csv(&table, ctx, testing_file("wide.csv", csv, n), NULL, &err), err);
        if (columns == 65) {
            assert_int_equal(kn_discover_dependencies(&d, ctx, table, &o, &err), KN_USAGE);
            snprintf(text, sizeof text, "65 columns are too many to search for dependencies: choose at most 64");
            assert_string_equal(err.message, text);
        } else {
            assert_ok(kn_discover_dependencies(&d, ctx, table, &o, &err), err);
            assert_true(d->complete);
            assert_int_equal(d->count, 0); /* the row of zeros and the row with A = 1 agree in all else */
            kn_discovery_free(d);
            o.error = (kn_fraction){1, 64}; /* one exception: each column is nearly constant */
            assert_ok(kn_discover_dependencies(&d, ctx, table, &o, &err), err);
            assert_int_equal(d->count, 64);
            for (int i = 0; i < 64; i++)
                assert_true(d->found[i].left_count == 0 && d->found[i].right == i && d->found[i].removed == 1);
            kn_discovery_free(d);
        }
        kn_table_free(table);
        free(csv);
    }
    testing_context_free(ctx);
}

static void bad_questions_are_refused(void **state)
{
    (void)state;
    static const char *const twice[] = {"sex", "sex"}, *const unknown[] = {"sex", "sax"};
    kn_context         *ctx = testing_context(1);
    kn_table           *table = adult_like(ctx, 200);
    kn_discovery       *d = NULL;
    kn_error            err = KN_ERROR_INIT;
    kn_discover_options o = KN_DISCOVER_OPTIONS_INIT;
    o.columns = twice;
    o.column_count = 2;
    assert_int_equal(kn_discover_dependencies(&d, ctx, table, &o, &err), KN_USAGE);
    assert_string_equal(err.message, "column \"sex\" is named twice");
    o.columns = unknown;
    assert_int_equal(kn_discover_dependencies(&d, ctx, table, &o, &err), KN_INPUT);
    assert_string_equal(err.message, "there is no column \"sax\"; did you mean \"sex\"?");
    o.column_count = 0;
    assert_int_equal(kn_discover_dependencies(&d, ctx, table, &o, &err), KN_USAGE);
    o.columns = NULL;
    o.max_left = -1;
    assert_int_equal(kn_discover_dependencies(&d, ctx, table, &o, &err), KN_USAGE);
    o.max_left = 0;
    o.error = (kn_fraction){3, 2};
    assert_int_equal(kn_discover_dependencies(&d, ctx, table, &o, &err), KN_USAGE);
    o.error = (kn_fraction){0, 0};
    assert_int_equal(kn_discover_dependencies(&d, ctx, table, &o, &err), KN_USAGE);
    o.error = (kn_fraction){0, 1};
    o.time_limit = -1;
    assert_int_equal(kn_discover_dependencies(&d, ctx, table, &o, &err), KN_USAGE);
    assert_null(d);
    kn_table_free(table);
    testing_context_free(ctx);
}

/* Cancels the context once the search is under way. */
static void cancel_when_searching(void *user, const kn_progress *progress)
{
    if (strcmp(progress->stage, "searching") == 0) kn_context_cancel(*(kn_context **)user);
}

static void a_search_can_be_stopped(void **state)
{
    (void)state;
    for (int e = 0; e < 2; e++) {
        kn_context         *ctx = NULL;
        kn_context_options  co = KN_CONTEXT_OPTIONS_INIT;
        kn_error            err = KN_ERROR_INIT;
        kn_discovery       *d = NULL;
        kn_discover_options o = KN_DISCOVER_OPTIONS_INIT;
        co.threads = 2;
        co.progress = cancel_when_searching;
        co.progress_user = &ctx;
        assert_ok(kn_context_create(&ctx, &co, &err), err);
        kn_table *table = adult_like(ctx, 4000);
        if (e) o.error = (kn_fraction){1, 100};
        kn_context_reset_cancel(ctx);
        /* The callback comes at most a few times a second: cancelled here, or before. */
        kn_context_cancel(ctx);
        assert_int_equal(kn_discover_dependencies(&d, ctx, table, &o, &err), KN_CANCELLED);
        assert_null(d);
        kn_context_reset_cancel(ctx);
        kn_status st = kn_discover_dependencies(&d, ctx, table, &o, &err);
        assert_true(st == KN_OK || st == KN_CANCELLED);
        kn_discovery_free(d);
        d = NULL;
        kn_context_reset_cancel(ctx);
        /* No time at all: an answer all the same, and what it lists is right. */
        o.time_limit = 1e-9;
        st = kn_discover_dependencies(&d, ctx, table, &o, &err);
        if (st == KN_OK) {
            assert_false(d->complete);
            assert_string_equal(d->why_partial, "the time limit was reached");
        }
        kn_discovery_free(d);
        kn_table_free(table);
        testing_context_free(ctx);
    }
}

static void what_a_time_limit_leaves_is_right(void **state)
{
    (void)state;
    kn_context   *ctx = testing_context(2);
    kn_table     *table = adult_like(ctx, 1500);
    kn_discovery *all = NULL, *part = NULL;
    kn_error      err = KN_ERROR_INIT;
    for (int e = 0; e < 2; e++) {
        kn_discover_options o = KN_DISCOVER_OPTIONS_INIT;
        if (e) o.error = (kn_fraction){1, 10};
        assert_ok(kn_discover_dependencies(&all, ctx, table, &o, &err), err);
        assert_true(all->complete);
        for (double limit = 1e-6; limit < 0.1; limit *= 2) {
            o.time_limit = limit;
            assert_ok(kn_discover_dependencies(&part, ctx, table, &o, &err), err);
            for (int64_t i = 0; i < part->count; i++) {
                unsigned left = 0;
                for (int j = 0; j < part->found[i].left_count; j++) left |= 1u << part->found[i].left[j];
                assert_true(is_listed(all, left, part->found[i].right, part->found[i].removed));
            }
            if (part->complete) assert_int_equal(part->count, all->count);
            int64_t short_enough = 0, listed = 0;
            for (int64_t i = 0; i < all->count; i++) short_enough += all->found[i].left_count <= part->complete_left;
            for (int64_t i = 0; i < part->count; i++) listed += part->found[i].left_count <= part->complete_left;
            assert_int_equal(listed, short_enough);
            assert_true(part->complete_left >= 0 && part->complete_left <= kn_table_columns(table));
            kn_discovery_free(part);
        }
        kn_discovery_free(all);
    }
    kn_table_free(table);
    testing_context_free(ctx);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    kn_context *home = testing_context(1);
    kn_table   *table = adult_like(home, 250);
    for (int e = 0; e < 2; e++) {
        kn_status st = KN_MEMORY;
        int64_t   refuse = 0, count = -1;
        for (; st != KN_OK; refuse += testing_step()) {
            testing_allocator   memory = {.refuse_at = refuse};
            kn_context         *ctx = NULL;
            kn_discovery       *d = NULL;
            kn_dependency_list *list = NULL;
            kn_error            err = KN_ERROR_INIT;
            kn_discover_options o = KN_DISCOVER_OPTIONS_INIT;
            if (e) o.error = (kn_fraction){1, 10};
            st = testing_refusing_context(&ctx, &memory, 1 + (int)(refuse % 2), &err);
            if (st == KN_OK) st = kn_discover_dependencies(&d, ctx, table, &o, &err);
            if (st == KN_OK) {
                count = d->count;
                st = kn_discovery_list(&list, ctx, d, table, &err);
            }
            if (st != KN_OK) assert_int_equal(st, KN_MEMORY);
            if (st != KN_OK) assert_null(list);
            kn_dependency_list_free(list);
            kn_discovery_free(d);
            kn_context_free(ctx);
            assert_int_equal(memory.live, 0);
        }
        assert_true(refuse > 100);
        assert_true(count > 0);
    }
    kn_table_free(table);
    testing_context_free(home);
}

static void a_list_joins_equal_left_sides(void **state)
{
    (void)state;
    static const char text[] =
        "zip,\"town, name\",state,one,id\n1,A,X,k,1\n1,A,X,k,2\n2,A,X,k,3\n3,B,X,k,4\n4,C,Y,k,5\n";
    kn_context         *ctx = testing_context(1);
    kn_table           *table = NULL;
    kn_discovery       *d = NULL;
    kn_dependency_list *list = NULL;
    kn_error            err = KN_ERROR_INIT;
    assert_ok(kn_table_read_csv(&table, ctx, testing_file("towns.csv", text, strlen(text)), NULL, &err), err);
    assert_ok(kn_discover_dependencies(&d, ctx, table, NULL, &err), err);
    assert_true(d->found[0].left_count == 0 && d->found[0].right == 3);
    assert_ok(kn_discovery_list(&list, ctx, d, table, &err), err);
    assert_int_equal(list->count, 3);
    assert_string_equal(list->items[0]->text, "zip -> \"town, name\", state");
    assert_string_equal(list->items[1]->text, "\"town, name\" -> state");
    assert_string_equal(list->items[2]->text, "id -> zip, \"town, name\", state");
    kn_dependency_list_free(list);
    kn_discovery_free(d);
    kn_table_free(table);
    testing_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_found_equals_trying_all_left_sides),
        cmocka_unit_test(a_larger_table_on_any_number_of_threads),
        cmocka_unit_test(guesses_from_some_rows_may_mislead),
        cmocka_unit_test(levels_and_the_border_find_the_same),
        cmocka_unit_test(together_and_apart_find_the_same),
        cmocka_unit_test(hitting_sets_equal_trying_all),
        cmocka_unit_test(sixty_four_columns),
        cmocka_unit_test(bad_questions_are_refused),
        cmocka_unit_test(a_search_can_be_stopped),
        cmocka_unit_test(what_a_time_limit_leaves_is_right),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(a_list_joins_equal_left_sides),
    };
    return cmocka_run_group_tests_name("fd discovery", tests, NULL, NULL);
}
