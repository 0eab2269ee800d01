/* test_dependencies.c: dependencies as text, checked on tables, and what follows from them, against naive twins. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include <kanon/dependencies.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kn_rng.h"

/* ---- Text ---- */

static void texts_are_read(void **state)
{
    (void)state;
    static const struct {
        const char        *text, *written;
        kn_dependency_kind kind;
        int                left, right;
        int64_t            k;
    } cases[] = {
        {"a->b", "a -> b", KN_DEPENDENCY_FUNCTIONAL, 1, 1, 0},
        {"  a ,b\t->  c,  d ", "a, b -> c, d", KN_DEPENDENCY_FUNCTIONAL, 2, 2, 0},
        {"a ->> b", "a ->> b", KN_DEPENDENCY_MULTIVALUED, 1, 1, 0},
        {"a -3-> b", "a -3-> b", KN_DEPENDENCY_MULTISET, 1, 1, 3},
        {"\"a\"-12->b,c", "a -12-> b, c", KN_DEPENDENCY_MULTISET, 1, 2, 12},
        {"a-3->b", "a-3 -> b", KN_DEPENDENCY_FUNCTIONAL, 1, 1, 0},
        {"education-num -> education", "education-num -> education", KN_DEPENDENCY_FUNCTIONAL, 1, 1, 0},
        {"marital status -> a b", "marital status -> a b", KN_DEPENDENCY_FUNCTIONAL, 1, 1, 0},
        {"\"a, b\" -> 'c -> d'", "\"a, b\" -> \"c -> d\"", KN_DEPENDENCY_FUNCTIONAL, 1, 1, 0},
        {"\"say \"\"x\"\"\", ' y ' -> 'it''s'", "say \"x\", \" y \" -> it's", KN_DEPENDENCY_FUNCTIONAL, 2, 1, 0},
        {"'\"q' -> \"'\"", "\"\"\"q\" -> \"'\"", KN_DEPENDENCY_FUNCTIONAL, 1, 1, 0},
        {"a -> \"\"", "a -> \"\"", KN_DEPENDENCY_FUNCTIONAL, 1, 1, 0},
        {"a -> b-", "a -> \"b-\"", KN_DEPENDENCY_FUNCTIONAL, 1, 1, 0},
        {"a - b -> c", "a - b -> c", KN_DEPENDENCY_FUNCTIONAL, 1, 1, 0},
        {"größe -> 体重", "größe -> 体重", KN_DEPENDENCY_FUNCTIONAL, 1, 1, 0},
    };
    kn_context *ctx = testing_context(1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kn_error err = KN_ERROR_INIT;
        for (int again = 0; again < 2; again++) { /* what is written reads as the same */
            kn_dependency *d = NULL;
            assert_ok(kn_dependency_parse(&d, ctx, again ? cases[i].written : cases[i].text, &err), err);
            assert_string_equal(d->text, cases[i].written);
            assert_int_equal(d->kind, cases[i].kind);
            assert_int_equal(d->left_count, cases[i].left);
            assert_int_equal(d->right_count, cases[i].right);
            assert_int_equal(d->k, cases[i].k);
            kn_dependency_free(d);
        }
    }
    testing_context_free(ctx);
}

static void mistakes_are_told_with_their_place(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int         column;
        const char *what;
    } cases[] = {
        {"", 1, "a dependency is expected, such as a, b -> c"},
        {"   ", 4, "a dependency is expected, such as a, b -> c"},
        {"-> b", 1, "the left side is empty"},
        {" ->> b", 2, "the left side is empty"},
        {"-3-> b", 1, "the left side is empty"},
        {"a ->", 5, "the right side is empty"},
        {"a -> ", 6, "the right side is empty"},
        {"a, -> b", 4, "a column name is missing"},
        {"a,, b -> c", 3, "a column name is missing"},
        {"a -> b,", 8, "a column name is missing"},
        {"a b", 4, "an arrow is missing: ->, ->> or -k->"},
        {"a -> b -> c", 8, "there is a second arrow"},
        {"a -> b ->> c", 8, "there is a second arrow"},
        {"a -1-> b", 3, "the k of a multiset dependency is at least 2"},
        {"a -0-> b", 3, "the k of a multiset dependency is at least 2"},
        {"a -99999999999999999999-> b", 3, "this k is too large"},
        {"\"a -> b", 1, "the quote is never closed"},
        {"\"a\"b -> c", 4, "a comma or an arrow is expected behind a quoted name"},
        {"a -> a", 6, "this column stands there already: each stands once, on one side"},
        {"a, b, \"a\" -> c", 7, "this column stands there already: each stands once, on one side"},
        {"a -> b, c, b", 12, "this column stands there already: each stands once, on one side"},
    };
    kn_context *ctx = testing_context(1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kn_error       err = KN_ERROR_INIT;
        kn_dependency *d = NULL;
        char           want[500];
        snprintf(want, sizeof want, "dependency \"%s\", character %d: %s", cases[i].text, cases[i].column,
                 cases[i].what);
        assert_int_equal(kn_dependency_parse(&d, ctx, cases[i].text, &err), KN_INPUT);
        assert_null(d);
        assert_string_equal(err.message, want);
        assert_int_equal(err.column, cases[i].column);
        assert_int_equal(kn_dependency_parse(&d, ctx, cases[i].text, NULL), KN_INPUT);
    }
    static const char *const a[] = {"a"}, *const ba[] = {"b", "a"};
    kn_dependency *d = NULL;
    kn_error       err = KN_ERROR_INIT;
    assert_int_equal(kn_dependency_make(&d, ctx, KN_DEPENDENCY_FUNCTIONAL, 0, a, 1, ba, 2, &err), KN_USAGE);
    assert_string_equal(err.message, "column \"a\" stands twice in a dependency");
    assert_int_equal(kn_dependency_make(&d, ctx, KN_DEPENDENCY_FUNCTIONAL, 0, a, 0, ba, 1, &err), KN_USAGE);
    assert_int_equal(kn_dependency_make(&d, ctx, KN_DEPENDENCY_MULTISET, 1, a, 1, ba, 1, &err), KN_USAGE);
    testing_context_free(ctx);
}

/* Any bytes: an answer, and what is read can be written and read again. */
static void no_text_is_too_odd(void **state)
{
    (void)state;
    static const char alphabet[] = "ab,->\"' 123\t";
    kn_context       *ctx = testing_context(1);
    kn_rng            rng;
    int               good = 0;
    kn_rng_init(&rng, testing_seed(), 4);
    for (int round = 0; round < 20000; round++) {
        char           text[24];
        size_t         n = kn_rng_below(&rng, sizeof text);
        kn_dependency *d = NULL, *again = NULL;
        kn_error       err = KN_ERROR_INIT;
        for (size_t i = 0; i < n; i++) text[i] = alphabet[kn_rng_below(&rng, sizeof alphabet - 1)];
        text[n] = '\0';
        if (kn_dependency_parse(&d, ctx, text, &err) != KN_OK) {
            assert_true(err.column >= 1 && err.column <= (int64_t)n + 1);
            continue;
        }
        good++;
        assert_ok(kn_dependency_parse(&again, ctx, d->text, &err), err);
        assert_string_equal(again->text, d->text);
        assert_int_equal(again->k, d->k);
        assert_int_equal(again->left_count, d->left_count);
        assert_int_equal(again->right_count, d->right_count);
        for (int i = 0; i < d->left_count; i++) assert_string_equal(again->left[i], d->left[i]);
        for (int i = 0; i < d->right_count; i++) assert_string_equal(again->right[i], d->right[i]);
        kn_dependency_free(d);
        kn_dependency_free(again);
    }
    assert_true(good > 100);
    testing_context_free(ctx);
}

/* ---- Checking ---- */

enum { MOST_COLUMNS = 6, MOST_ROWS = 30 };

typedef struct sheet {
    int rows, columns;
    int cell[MOST_ROWS][MOST_COLUMNS]; /* -1: missing */
} sheet;

static sheet random_sheet(kn_rng *rng, int most_rows)
{
    sheet s = {.rows = (int)kn_rng_below(rng, (uint64_t)most_rows + 1), .columns = 2 + (int)kn_rng_below(rng, 4)};
    int   values = 1 + (int)kn_rng_below(rng, 4);
    for (int r = 0; r < s.rows; r++)
        for (int c = 0; c < s.columns; c++) s.cell[r][c] = (int)kn_rng_below(rng, (uint64_t)values + 1) - 1;
    return s;
}

static kn_table *read_sheet(kn_context *ctx, const sheet *s)
{
    char   text[4096];
    size_t n = 0;
    for (int c = 0; c < s->columns; c++) n += (size_t)sprintf(text + n, "%s%c", c ? "," : "", 'a' + c);
    n += (size_t)sprintf(text + n, "\n");
    for (int r = 0; r < s->rows; r++) {
        for (int c = 0; c < s->columns; c++)
            n += (size_t)(s->cell[r][c] < 0 ? sprintf(text + n, "%sNA", c ? "," : "")
                                            : sprintf(text + n, "%sv%d", c ? "," : "", s->cell[r][c]));
        n += (size_t)sprintf(text + n, "\n");
    }
    kn_table *table = NULL;
    kn_error  err = KN_ERROR_INIT;
    assert_ok(kn_table_read_csv(&table, ctx, testing_file("sheet.csv", text, n), NULL, &err), err);
    return table;
}

static bool agree(const sheet *s, int a, int b, unsigned set)
{
    for (int c = 0; c < s->columns; c++)
        if (set >> c & 1 && s->cell[a][c] != s->cell[b][c]) return false;
    return true;
}

static bool first_of(const sheet *s, int r, unsigned set)
{
    for (int q = 0; q < r; q++)
        if (agree(s, q, r, set)) return false;
    return true;
}

/* The least removal by trying every set of rows. */
static int least_removal(const sheet *s, unsigned x, unsigned y)
{
    int best = s->rows;
    for (unsigned keep = 0; keep < 1u << s->rows; keep++) {
        int  removed = s->rows - __builtin_popcount(keep);
        bool holds = removed < best;
        for (int a = 0; a < s->rows && holds; a++)
            for (int b = 0; b < a && holds; b++)
                if (keep >> a & keep >> b & 1 && agree(s, a, b, x) && !agree(s, a, b, y)) holds = false;
        if (holds) best = removed;
    }
    return best;
}

static kn_dependency_check naive(const sheet *s, kn_dependency_kind kind, int k, unsigned x, unsigned y)
{
    kn_dependency_check c = {.rows = s->rows, .holds = true, .removed = kind == KN_DEPENDENCY_MULTIVALUED ? -1 : 0};
    unsigned all = (1u << s->columns) - 1, z = all & ~x & ~y, by = kind == KN_DEPENDENCY_MULTISET ? x | y : x;
    for (int r = 0; r < s->rows; r++) {
        if (!first_of(s, r, by)) continue;
        int  size = 0, ys = 0, zs = 0, tuples = 0, most = 0;
        bool bad;
        c.groups++;
        for (int q = 0; q < s->rows; q++) {
            int same = 0;
            if (!agree(s, q, r, by)) continue;
            size++;
            for (int p = 0; p < s->rows; p++) same += agree(s, p, q, x | y);
            if (same > most) most = same;
            ys += first_of(s, q, x | y);
            zs += first_of(s, q, x | z);
            tuples += first_of(s, q, all);
        }
        switch (kind) {
        case KN_DEPENDENCY_FUNCTIONAL: bad = ys > 1; break;
        case KN_DEPENDENCY_MULTISET: bad = size < k; break;
        default:
            /* By definition: for every two rows there is one with the Y of the first and the Z of the second. */
            bad = false;
            for (int q = 0; q < s->rows; q++)
                for (int p = 0; p < s->rows; p++) {
                    bool there = !agree(s, q, r, x) || !agree(s, p, r, x);
                    for (int t = 0; t < s->rows; t++) there = there || (agree(s, t, q, x | y) && agree(s, t, p, x | z));
                    if (!there) bad = true;
                }
            c.spurious += (int64_t)ys * zs - tuples;
        }
        if (!bad) continue;
        c.holds = false;
        c.violating_groups++;
        c.violating_rows += size;
        if (kind == KN_DEPENDENCY_FUNCTIONAL) c.removed += size - most;
        if (kind == KN_DEPENDENCY_MULTISET) c.removed += size;
    }
    c.error = c.rows > 0 && c.removed > 0 ? (double)c.removed / (double)c.rows : 0;
    return c;
}

static kn_dependency *random_dependency(kn_context *ctx, kn_rng *rng, const sheet *s, unsigned *x, unsigned *y,
                                        int64_t k)
{
    static const char *const names[] = {"a", "b", "c", "d", "e", "f"};
    const char              *left[MOST_COLUMNS], *right[MOST_COLUMNS];
    int                      n = 0, m = 0;
    kn_dependency           *d = NULL;
    kn_error                 err = KN_ERROR_INIT;
    do {
        n = m = 0;
        *x = *y = 0;
        for (int c = 0; c < s->columns; c++) {
            int side = (int)kn_rng_below(rng, 3);
            if (side == 0) left[n++] = names[c], *x |= 1u << c;
            if (side == 1) right[m++] = names[c], *y |= 1u << c;
        }
    } while (n == 0 || m == 0);
    assert_ok(kn_dependency_make(&d, ctx, (kn_dependency_kind)kn_rng_below(rng, 3), k, left, n, right, m, &err), err);
    return d;
}

static void checks_equal_comparing_all_rows(void **state)
{
    (void)state;
    kn_rng rng;
    int    held[3] = {0}, broken[3] = {0};
    kn_rng_init(&rng, testing_seed(), 1);
    for (int round = 0; round < 600; round++) {
        kn_context         *ctx = testing_context(1 << round % 3);
        sheet               s = random_sheet(&rng, round % 4 ? MOST_ROWS : 8);
        kn_table           *table = read_sheet(ctx, &s);
        unsigned            x, y;
        int                 k = 2 + (int)kn_rng_below(&rng, 3);
        kn_dependency      *d = random_dependency(ctx, &rng, &s, &x, &y, k);
        kn_dependency_check have, want = naive(&s, d->kind, k, x, y);
        kn_error            err = KN_ERROR_INIT;
        assert_ok(kn_dependency_check_table(&have, ctx, table, d, &err), err);
        assert_int_equal(have.holds, want.holds);
        assert_int_equal(have.rows, want.rows);
        assert_int_equal(have.groups, want.groups);
        assert_int_equal(have.violating_groups, want.violating_groups);
        assert_int_equal(have.violating_rows, want.violating_rows);
        assert_int_equal(have.removed, want.removed);
        assert_int_equal(have.spurious, want.spurious);
        assert_true(have.error == want.error);
        if (d->kind == KN_DEPENDENCY_FUNCTIONAL && s.rows <= 8) assert_int_equal(have.removed, least_removal(&s, x, y));
        (have.holds ? held : broken)[d->kind]++;
        kn_dependency_free(d);
        kn_table_free(table);
        testing_context_free(ctx);
    }
    for (int kind = 0; kind < 3; kind++) assert_true(held[kind] > 0 && broken[kind] > 0);
}

static void a_column_that_is_not_there(void **state)
{
    (void)state;
    static const char   text[] = "a,b\n1,2\n";
    kn_context         *ctx = testing_context(1);
    kn_table           *table = NULL;
    kn_dependency      *d = NULL;
    kn_dependency_check check;
    kn_error            err = KN_ERROR_INIT;
    assert_ok(kn_table_read_csv(&table, ctx, testing_file("ab.csv", text, strlen(text)), NULL, &err), err);
    assert_ok(kn_dependency_parse(&d, ctx, "a -> c", &err), err);
    assert_int_equal(kn_dependency_check_table(&check, ctx, table, d, &err), KN_INPUT);
    assert_string_equal(err.message, "there is no column \"c\"");
    kn_dependency_free(d);
    assert_ok(kn_dependency_parse(&d, ctx, "a ->> b", &err), err); /* no column is left for Z */
    assert_ok(kn_dependency_check_table(&check, ctx, table, d, &err), err);
    assert_true(check.holds && check.spurious == 0 && check.groups == 1);
    kn_context_cancel(ctx);
    assert_int_equal(kn_dependency_check_table(&check, ctx, table, d, &err), KN_CANCELLED);
    kn_dependency_free(d);
    kn_table_free(table);
    testing_context_free(ctx);
}

/* ---- What follows ---- */

typedef struct rule {
    unsigned left, right;
} rule;

/* X -> Y follows iff it holds in every table of two rows in which the rules do: these agree in some set, closed under them. */
static unsigned twin_closure(const rule *rules, int count, int columns, unsigned x)
{
    unsigned all = (1u << columns) - 1, result = all;
    for (unsigned set = 0; set <= all; set++) {
        bool closed = !(x & ~set);
        for (int i = 0; i < count && closed; i++)
            if (!(rules[i].left & ~set) && rules[i].right & ~set) closed = false;
        if (closed) result &= set;
    }
    return result;
}

static const char *const letters[] = {"a", "b", "c", "d", "e", "f"};

static int names_of(const char **out, unsigned set)
{
    int n = 0;
    for (int c = 0; c < 6; c++)
        if (set >> c & 1) out[n++] = letters[c];
    return n;
}

static unsigned set_of(const char *const *names, int count)
{
    unsigned set = 0;
    for (int i = 0; i < count; i++) set |= 1u << (names[i][0] - 'a');
    return set;
}

static kn_dependency *from_sets(kn_context *ctx, unsigned left, unsigned right)
{
    const char    *x[6], *y[6];
    kn_dependency *d = NULL;
    kn_error       err = KN_ERROR_INIT;
    int            n = names_of(x, left), m = names_of(y, right);
    assert_ok(kn_dependency_make(&d, ctx, KN_DEPENDENCY_FUNCTIONAL, 0, x, n, y, m, &err), err);
    return d;
}

static int random_rules(rule *rules, kn_rng *rng, int columns)
{
    int count = (int)kn_rng_below(rng, 9);
    for (int i = 0; i < count; i++) {
        unsigned all = (1u << columns) - 1;
        rules[i].left = 1u << kn_rng_below(rng, (uint64_t)columns);
        if (kn_rng_below(rng, 2)) rules[i].left |= (unsigned)kn_rng_next(rng) & all;
        rules[i].right = (unsigned)kn_rng_next(rng) & (unsigned)kn_rng_next(rng) & all & ~rules[i].left;
        if (!rules[i].right) i--, count--;
    }
    return count;
}

/* Is the cover one: equivalent, nothing to spare on any left side, no rule of one column that the rest implies? */
static void check_cover(const kn_dependency_list *cover, const rule *rules, int count, int columns)
{
    rule single[64], less[64];
    int  n = 0;
    for (int i = 0; i < cover->count; i++) {
        const kn_dependency *d = cover->items[i];
        for (int j = 0; j < i; j++)
            assert_int_not_equal(set_of(d->left, d->left_count),
                                 set_of(cover->items[j]->left, cover->items[j]->left_count));
        for (int j = 0; j < d->right_count; j++)
            single[n++] = (rule){set_of(d->left, d->left_count), set_of(&d->right[j], 1)};
    }
    for (unsigned x = 0; x < 1u << columns; x++)
        assert_int_equal(twin_closure(single, n, columns, x), twin_closure(rules, count, columns, x));
    for (int i = 0; i < n; i++) {
        memcpy(less, single, sizeof less);
        less[i].right = 0;
        assert_true(single[i].right & ~twin_closure(less, n, columns, single[i].left));
        for (int c = 0; c < columns; c++)
            if (single[i].left >> c & 1)
                assert_true(single[i].right & ~twin_closure(single, n, columns, single[i].left & ~(1u << c)));
    }
}

static void closure_and_cover_equal_all_two_row_tables(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(1);
    kn_rng      rng;
    int         implied_ones = 0;
    kn_rng_init(&rng, testing_seed(), 2);
    for (int round = 0; round < 400; round++) {
        int                 columns = 2 + (int)kn_rng_below(&rng, 5);
        rule                rules[8];
        int                 count = random_rules(rules, &rng, columns);
        kn_dependency      *given[10];
        kn_dependency_list *cover = NULL;
        kn_error            err = KN_ERROR_INIT;
        for (int i = 0; i < count; i++) given[i] = from_sets(ctx, rules[i].left, rules[i].right);
        /* Others are passed over. */
        assert_ok(kn_dependency_parse(&given[count], ctx, "a ->> b", &err), err);
        const kn_dependency *const *all = (const kn_dependency *const *)given;
        for (unsigned x = 0; x < 1u << columns; x++) {
            const char   *names[6];
            int           n = names_of(names, x);
            kn_name_list *closure = NULL;
            assert_ok(kn_dependency_closure(&closure, ctx, all, count + 1, names, n, &err), err);
            unsigned want = twin_closure(rules, count, columns, x);
            assert_int_equal(closure->count, __builtin_popcount(want));
            assert_int_equal(set_of(closure->names, closure->count), want);
            for (int i = 0; i < n; i++) assert_string_equal(closure->names[i], names[i]);
            kn_name_list_free(closure);
            for (int c = 0; c < columns && n > 0; c++) {
                bool implied = false;
                if (x >> c & 1) continue;
                kn_dependency *d = from_sets(ctx, x, 1u << c);
                assert_ok(kn_dependency_implied(&implied, ctx, all, count + 1, d, &err), err);
                assert_int_equal(implied, want >> c & 1);
                implied_ones += implied;
                kn_dependency_free(d);
            }
        }
        assert_ok(kn_dependency_cover(&cover, ctx, all, count + 1, &err), err);
        check_cover(cover, rules, count, columns);
        kn_dependency_list_free(cover);
        bool implied;
        assert_int_equal(kn_dependency_implied(&implied, ctx, all, count, given[count], &err), KN_USAGE);
        for (int i = 0; i <= count; i++) kn_dependency_free(given[i]);
    }
    assert_true(implied_ones > 100);
    testing_context_free(ctx);
}

static void a_cycle_has_a_cover(void **state)
{
    (void)state;
    static const char *const texts[] = {"a -> b", "b -> c", "c -> a", "a -> c", "a, c -> d"};
    kn_context              *ctx = testing_context(1);
    kn_dependency           *given[5];
    kn_dependency_list      *cover = NULL;
    kn_error                 err = KN_ERROR_INIT;
    for (int i = 0; i < 5; i++) assert_ok(kn_dependency_parse(&given[i], ctx, texts[i], &err), err);
    assert_ok(kn_dependency_cover(&cover, ctx, (const kn_dependency *const *)given, 5, &err), err);
    assert_int_equal(cover->count, 3);
    assert_string_equal(cover->items[0]->text, "a -> b");
    assert_string_equal(cover->items[1]->text, "b -> c");
    assert_string_equal(cover->items[2]->text, "c -> a, d");
    kn_dependency_list_free(cover);
    for (int i = 0; i < 5; i++) kn_dependency_free(given[i]);
    testing_context_free(ctx);
}

/* ---- Memory ---- */

static kn_status all_of_it(kn_context *ctx, const kn_table *table, kn_error *err)
{
    static const char *const texts[] = {"a -> b", "b -> c, \"a\"", "a, b -> c", "a ->> b", "a -2-> c"};
    static const char *const a[] = {"a"};
    kn_dependency           *d[5] = {NULL};
    kn_dependency_list      *cover = NULL;
    kn_name_list            *closure = NULL;
    kn_dependency_check      check;
    bool                     implied;
    kn_status                st = KN_OK;
    for (int i = 0; i < 5 && st == KN_OK; i++) st = kn_dependency_parse(&d[i], ctx, texts[i], err);
    for (int i = 0; i < 5 && st == KN_OK; i++) st = kn_dependency_check_table(&check, ctx, table, d[i], err);
    const kn_dependency *const *given = (const kn_dependency *const *)d;
    if (st == KN_OK) st = kn_dependency_cover(&cover, ctx, given, 5, err);
    if (st == KN_OK) st = kn_dependency_closure(&closure, ctx, given, 5, a, 1, err);
    if (st == KN_OK) st = kn_dependency_implied(&implied, ctx, given, 5, d[2], err);
    kn_dependency_list_free(cover);
    kn_name_list_free(closure);
    for (int i = 0; i < 5; i++) kn_dependency_free(d[i]);
    return st;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    kn_rng rng;
    kn_rng_init(&rng, 7, 1);
    kn_context *home = testing_context(1);
    sheet       s = random_sheet(&rng, MOST_ROWS);
    s.columns = 4;
    kn_table *table = read_sheet(home, &s);
    kn_status st = KN_MEMORY;
    int64_t   refuse = 0;
    for (; st != KN_OK; refuse++) {
        testing_allocator memory = {.refuse_at = refuse};
        kn_context       *ctx = NULL;
        kn_error          err = KN_ERROR_INIT;
        st = testing_refusing_context(&ctx, &memory, 1, &err);
        if (st == KN_OK) st = all_of_it(ctx, table, &err);
        if (st != KN_OK) assert_int_equal(st, KN_MEMORY);
        kn_context_free(ctx);
        assert_int_equal(memory.live, 0);
    }
    assert_true(refuse > 60);
    kn_table_free(table);
    testing_context_free(home);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_are_read),
        cmocka_unit_test(mistakes_are_told_with_their_place),
        cmocka_unit_test(no_text_is_too_odd),
        cmocka_unit_test(checks_equal_comparing_all_rows),
        cmocka_unit_test(a_column_that_is_not_there),
        cmocka_unit_test(closure_and_cover_equal_all_two_row_tables),
        cmocka_unit_test(a_cycle_has_a_cover),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests_name("dependencies", tests, NULL, NULL);
}
