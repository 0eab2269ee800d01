/* test_diagnose.c: k, suppression, persons and missing cells against a count row by row; profiles; exact shares. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include <kanon/diagnose.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kn_rng.h"

/* ---- A random table as text, and what a patient person would say about it ---- */

enum { COLUMNS = 4, MOST_ROWS = 120 };

typedef struct sheet {
    int rows;
    int cell[MOST_ROWS][COLUMNS]; /* -1: missing */
    int person[MOST_ROWS];
} sheet;

static sheet random_sheet(kn_rng *rng, bool missing)
{
    sheet s = {.rows = 1 + (int)kn_rng_below(rng, MOST_ROWS - 1)};
    int   values = 1 + (int)kn_rng_below(rng, 5);
    for (int r = 0; r < s.rows; r++) {
        for (int c = 0; c < COLUMNS; c++) {
            s.cell[r][c] = (int)kn_rng_below(rng, 1 + kn_rng_below(rng, (uint64_t)values));
            if (missing && kn_rng_below(rng, 8) == 0) s.cell[r][c] = -1;
        }
        s.person[r] = (int)kn_rng_below(rng, 1 + (uint64_t)s.rows / 2);
    }
    return s;
}

static kn_table *read_sheet(kn_context *ctx, const sheet *s)
{
    char  *text = malloc(64 + (size_t)s->rows * 64);
    size_t n = 0;
    assert_non_null(text);
    n += (size_t)sprintf(text, "a,b,c,d,who\n");
    for (int r = 0; r < s->rows; r++) {
        for (int c = 0; c < COLUMNS; c++)
            n += s->cell[r][c] < 0 ? (size_t)sprintf(text + n, ",") : (size_t)sprintf(text + n, "v%d,", s->cell[r][c]);
        n += (size_t)sprintf(text + n, "p%d\n", s->person[r]);
    }
    char       name[32];
    static int serial;
    snprintf(name, sizeof name, "sheet%d.csv", serial++ % 50);
    const char *path = testing_file(name, text, n);
    free(text);
    kn_table *table = NULL;
    kn_error  err = KN_ERROR_INIT;
    assert_ok(kn_table_read_csv(&table, ctx, path, NULL, &err), err);
    assert_int_equal(kn_table_rows(table), s->rows);
    return table;
}

static bool agree(const sheet *s, int a, int b, int width, bool wildcard)
{
    for (int c = 0; c < width; c++) {
        int x = s->cell[a][c], y = s->cell[b][c];
        if (wildcard && (x < 0 || y < 0)) continue;
        if (x != y) return false;
    }
    return true;
}

static bool set_aside(const sheet *s, int r, int width, kn_missing how)
{
    for (int c = 0; c < width && how == KN_MISSING_DROP; c++)
        if (s->cell[r][c] < 0) return true;
    return false;
}

/* How many rows, or different persons, row r may be confused with. */
static int crowd(const sheet *s, int r, int width, kn_missing how, bool persons)
{
    bool seen[MOST_ROWS] = {false};
    int  n = 0;
    for (int q = 0; q < s->rows; q++) {
        if (set_aside(s, q, width, how) || !agree(s, r, q, width, how == KN_MISSING_WILDCARD)) continue;
        if (persons && seen[s->person[q]]) continue;
        seen[s->person[q]] = true;
        n++;
    }
    return n;
}

/* The k reached by removing sizes smallest first (docs/errata.md 1.1), row by row. */
static int suppress(const int *crowds, int rows, int64_t budget, int64_t *removed)
{
    *removed = 0;
    int largest = 0, k = 0;
    for (int r = 0; r < rows; r++)
        if (crowds[r] > largest) largest = crowds[r];
    for (int size = 1; size <= largest; size++) {
        int64_t here = 0;
        for (int r = 0; r < rows; r++) here += crowds[r] == size;
        if (here == 0) continue;
        k = size;
        if (size == largest || *removed + here > budget) break;
        *removed += here;
    }
    return k;
}

static const char *const names[] = {"a", "b", "c", "d"};

static void compare(const sheet *s, const kn_diagnosis *d, const kn_diagnose_options *o)
{
    int     crowds[MOST_ROWS], looked_at = 0, k = 0, unique = 0, below = 0;
    int64_t missing = 0, removed = 0;
    for (int r = 0; r < s->rows; r++) {
        missing += set_aside(s, r, o->quasi_count, KN_MISSING_DROP);
        if (set_aside(s, r, o->quasi_count, o->missing)) continue;
        int n = crowd(s, r, o->quasi_count, o->missing, o->entity != NULL);
        crowds[looked_at++] = n;
        if (k == 0 || n < k) k = n;
        unique += n == 1;
        below += n < o->k;
    }
    assert_int_equal(d->rows, s->rows);
    assert_int_equal(d->k, k);
    assert_int_equal(d->unique_rows, unique);
    assert_int_equal(d->missing_rows, missing);
    assert_int_equal(d->dropped, s->rows - looked_at);
    assert_int_equal(d->below_rows, below);
    int64_t budget = o->suppressing ? (int64_t)o->suppress.numerator * looked_at / (int64_t)o->suppress.denominator : 0;
    assert_int_equal(d->budget, budget);
    assert_int_equal(d->k_after, suppress(crowds, looked_at, budget, &removed));
    assert_int_equal(d->suppressed, removed);
    assert_int_equal(d->holds, o->k == 0 || (looked_at > 0 && d->k_after >= o->k));
    for (int64_t i = 0; i < d->size_count; i++) {
        int64_t rows = 0;
        for (int r = 0; r < looked_at; r++) rows += crowds[r] == d->sizes[i].size;
        assert_int_equal(rows, d->sizes[i].rows);
    }
}

static void every_answer_equals_counting_row_by_row(void **state)
{
    (void)state;
    kn_rng rng;
    kn_rng_init(&rng, testing_seed(), 1);
    for (int round = 0; round < testing_rounds(600); round++) {
        kn_context         *ctx = testing_context(1 + round % 2);
        sheet               s = random_sheet(&rng, round % 3 > 0);
        kn_table           *table = read_sheet(ctx, &s);
        kn_diagnose_options o = KN_DIAGNOSE_OPTIONS_INIT;
        o.quasi = names;
        o.quasi_count = 1 + (int)kn_rng_below(&rng, COLUMNS);
        o.missing = (kn_missing)kn_rng_below(&rng, 3);
        o.k = (int64_t)kn_rng_below(&rng, 8);
        if (o.missing != KN_MISSING_WILDCARD) {
            o.entity = kn_rng_below(&rng, 2) ? "who" : NULL;
            o.suppressing = kn_rng_below(&rng, 2);
            o.suppress = (kn_fraction){kn_rng_below(&rng, 101), 100};
            if (!o.suppressing) o.suppress.numerator = 0;
        }
        kn_diagnosis *d = NULL;
        kn_error      err = KN_ERROR_INIT;
        assert_ok(kn_diagnose(&d, ctx, table, &o, &err), err);
        compare(&s, d, &o);
        kn_diagnosis_free(d);
        kn_table_free(table);
        testing_context_free(ctx);
    }
}

static void bad_questions_are_refused(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(1);
    kn_error    err = KN_ERROR_INIT;
    kn_rng      rng;
    kn_rng_init(&rng, 7, 7);
    sheet s = random_sheet(&rng, true);
    while (s.rows < MOST_ROWS / 2) s = random_sheet(&rng, true); /* enough to have missing cells everywhere */
    kn_table           *table = read_sheet(ctx, &s);
    kn_diagnosis       *d = NULL;
    kn_diagnose_options o = KN_DIAGNOSE_OPTIONS_INIT;
    assert_int_equal(kn_diagnose(&d, ctx, table, &o, &err), KN_USAGE); /* empty S */
    const char *unknown[] = {"a", "nowhere"};
    o.quasi = unknown;
    o.quasi_count = 2;
    assert_int_equal(kn_diagnose(&d, ctx, table, &o, &err), KN_INPUT);
    assert_string_equal(err.message, "there is no column \"nowhere\"");
    const char *twice[] = {"a", "b", "a"};
    o.quasi = twice;
    o.quasi_count = 3;
    assert_int_equal(kn_diagnose(&d, ctx, table, &o, &err), KN_USAGE);
    o.quasi = names;
    o.entity = "b";
    assert_int_equal(kn_diagnose(&d, ctx, table, &o, &err), KN_USAGE); /* entity is a QI */
    o.quasi_count = 1;
    assert_int_equal(kn_diagnose(&d, ctx, table, &o, &err), KN_INPUT); /* entity has missing cells */
    o.entity = NULL;
    o.k = -1;
    assert_int_equal(kn_diagnose(&d, ctx, table, &o, &err), KN_USAGE);
    o.k = 2;
    o.missing = KN_MISSING_WILDCARD;
    o.suppressing = true;
    assert_int_equal(kn_diagnose(&d, ctx, table, &o, &err), KN_USAGE);
    o.suppressing = false;
    o.entity = "who";
    assert_int_equal(kn_diagnose(&d, ctx, table, &o, &err), KN_USAGE);
    assert_null(d);
    kn_table_free(table);
    testing_context_free(ctx);
}

static void shares_are_exact(void **state)
{
    (void)state;
    kn_fraction f;
    assert_true(kn_fraction_parse("0.29", &f));
    assert_int_equal(kn_fraction_of(f, 100), 29); /* 0.29 * 100 is 28.999... in binary */
    assert_true(kn_fraction_parse("29%", &f));
    assert_int_equal(kn_fraction_of(f, 100), 29);
    assert_true(kn_fraction_parse("0.5%", &f));
    assert_int_equal(kn_fraction_of(f, 1000), 5);
    assert_true(kn_fraction_parse("1", &f));
    assert_int_equal(kn_fraction_of(f, INT64_MAX), INT64_MAX);
    assert_true(kn_fraction_parse(".1", &f));
    assert_int_equal(kn_fraction_of(f, 19), 1);
    assert_true(kn_fraction_parse("0.000000000000000001", &f) == false || kn_fraction_of(f, INT64_MAX) == 9);
    static const char *const bad[] = {"",      "1.01", "-0.1", "101%", "0,5",  "1e-3",
                                      "0.1.2", "%",    ".",    " 0.1", "0.1x", "0.00000000000000000000001",
                                      "nan"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) assert_false(kn_fraction_parse(bad[i], &f));
    for (int percent = 0; percent <= 100; percent++) { /* never one less, never one more */
        char text[16];
        snprintf(text, sizeof text, "%d.%02d", percent / 100, percent % 100);
        assert_true(kn_fraction_parse(text, &f));
        for (int n = 0; n < 1000; n++) assert_int_equal(kn_fraction_of(f, n), n * percent / 100);
    }
}

static void profiles_count_right(void **state)
{
    (void)state;
    static const char text[] = "patient_id,age,zip,note,diagnosis,site\n"
                               "1,30,02138,,flu,A\n"
                               "2,30,02139,x,flu,A\n"
                               "3,41,02139,NA,gout,A\n"
                               "4,55,02139,x,flu,A\n";
    kn_context       *ctx = testing_context(1);
    kn_table         *table = NULL;
    kn_profile       *p = NULL;
    kn_error          err = KN_ERROR_INIT;
    assert_ok(kn_table_read_csv(&table, ctx, testing_file("profile.csv", text, strlen(text)), NULL, &err), err);
    assert_ok(kn_profile_table(&p, ctx, table, &err), err);
    assert_int_equal(p->rows, 4);
    assert_int_equal(p->columns, 6);
    assert_string_equal(kn_role_name(p->column[0].role), "identifier");
    assert_int_equal(p->column[0].unique_rows, 4);
    assert_true(fabs(p->column[0].entropy - 2) < 1e-12);
    assert_int_equal(p->column[1].type, KN_TYPE_INTEGER);
    assert_int_equal(p->column[1].unique_rows, 2);
    assert_true(fabs(p->column[1].entropy - 1.5) < 1e-12);
    assert_int_equal(p->column[2].type, KN_TYPE_TEXT); /* a leading zero keeps it a text */
    assert_int_equal(p->column[3].missing, 2);
    assert_int_equal(p->column[3].distinct, 1);
    assert_int_equal(p->column[4].role, KN_ROLE_SENSITIVE);
    assert_int_equal(p->column[4].most_common_rows, 3);
    assert_int_equal(p->column[5].role, KN_ROLE_KEEP);
    assert_true(p->column[5].entropy == 0);
    kn_profile_free(p);
    kn_table_free(table);
    testing_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_answer_equals_counting_row_by_row),
        cmocka_unit_test(bad_questions_are_refused),
        cmocka_unit_test(shares_are_exact),
        cmocka_unit_test(profiles_count_right),
    };
    return cmocka_run_group_tests_name("diagnose", tests, NULL, NULL);
}
