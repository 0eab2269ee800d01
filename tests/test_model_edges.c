/* test_model_edges.c: models where one more or one less decides: numbers as they are written, what a model needs at least. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <kanon/table.h>
#include <stdlib.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_model.h"
#include "kn_requirements.h"
#include "kn_row_judge.h"
#include "testing.h"

static void ratios(void **state)
{
    (void)state;
    kn_ratio r;
    assert_true(kn_ratio_parse("0.12345678901234567", &r) && r.numerator == 12345678901234567u &&
                r.denominator == 100000000000000000u);
    assert_true(kn_ratio_parse(".123456789012345678", &r) && r.numerator == 123456789012345678u &&
                r.denominator == 1000000000000000000u);
    assert_true(kn_ratio_parse(".1234567890123456%", &r) && r.denominator == 1000000000000000000u);
    assert_true(kn_ratio_parse("123456789012345678", &r) && r.numerator == 123456789012345678u && r.denominator == 1);
    assert_true(kn_ratio_parse("7.", &r) && r.numerator == 7 && r.denominator == 1);
    static const char *const bad[] = {
        "0.123456789012345678", ".12345678901234567%", "1.0000000000000000%x", "1%%", "1/", "1:", "..1", "1..", ".%"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) assert_false(kn_ratio_parse(bad[i], &r));
}

/* Whichever of the four numbers is large: no product may lose its upper bits. */
static void large_quotients(void **state)
{
    (void)state;
    const kn_u128 one = 1;
    kn_quotient   large = {one << 100, one << 60}, small = {1, one << 28};
    assert_int_equal(kn_quotient_compare(large, small), 1);
    assert_int_equal(kn_quotient_compare(small, large), -1);
    kn_quotient little = {one << 60, one << 100}, more = {one << 28, 1};
    assert_int_equal(kn_quotient_compare(little, more), -1);
    assert_int_equal(kn_quotient_compare(more, little), 1);
    assert_int_equal(kn_quotient_compare((kn_quotient){1, one << 64}, (kn_quotient){one << 100, 1}), -1);
    assert_int_equal(kn_quotient_compare((kn_quotient){one << 100, 1}, (kn_quotient){1, one << 64}), 1);
    assert_int_equal(kn_quotient_compare(large, (kn_quotient){one << 40, 1}), 0);
    assert_int_equal(kn_quotient_compare(large, (kn_quotient){(one << 40) + 1, 1}), -1);
    assert_int_equal(kn_quotient_compare((kn_quotient){(one << 100) + 1, one << 60}, (kn_quotient){one << 40, 1}), 1);
}

static kn_table *read_text(kn_context *ctx, const char *text)
{
    kn_table *t = NULL;
    kn_error  err = KN_ERROR_INIT;
    assert_ok(kn_table_read_csv(&t, ctx, testing_file("table.csv", text, strlen(text)), NULL, &err), err);
    return t;
}

/* 2.0 is 2, however it is written; what lies between needs the next whole number, by entropy alone. */
static void values_that_a_model_needs(void **state)
{
    (void)state;
    static const struct {
        kn_model_kind kind;
        kn_ratio      l;
        int64_t       needed;
    } cases[] = {
        {KN_MODEL_DISTINCT, {2, 1}, 2},  {KN_MODEL_DISTINCT, {20, 10}, 2},  {KN_MODEL_DISTINCT, {300, 100}, 3},
        {KN_MODEL_RECURSIVE, {2, 1}, 2}, {KN_MODEL_RECURSIVE, {20, 10}, 2}, {KN_MODEL_ENTROPY, {20, 10}, 2},
        {KN_MODEL_ENTROPY, {21, 10}, 3}, {KN_MODEL_ENTROPY, {19, 10}, 2},   {KN_MODEL_ENTROPY, {1, 1}, 1},
    };
    kn_context *ctx = testing_context(1);
    kn_error    err = KN_ERROR_INIT;
    kn_table   *t = read_text(ctx, "q,s\n1,x\n1,y\n2,z\n2,u\n");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kn_model                models[] = {{.kind = cases[i].kind, .attribute = "s", .l = cases[i].l, .c = {2, 1}}};
        kn_requirements_options o = {models, 1, -1, NULL, false};
        kn_requirements        *r = NULL;
        assert_ok(kn_requirements_make(&r, ctx, t, &o, &err), err);
        assert_int_equal(r->distinct[0], cases[i].needed);
        kn_requirements_free(r);
    }
    kn_table_free(t);
    testing_context_free(ctx);
}

/* Persons are counted once, and once for each of their values. */
static void rows_of_persons(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(1);
    kn_error    err = KN_ERROR_INIT;
    kn_table   *t = read_text(ctx, "who,s\nA,x\nA,x\nB,x\nC,y\nA,y\nD,z\nB,x\n");
    static const struct {
        kn_model model;
        uint32_t rows[7], count;
        bool     persons, plain; /* does it hold of persons, and of rows? */
    } cases[] = {
        {{.kind = KN_MODEL_K, .k = 3}, {0, 1, 2, 3}, 4, true, true},
        {{.kind = KN_MODEL_K, .k = 4}, {0, 1, 2, 3}, 4, false, true},
        {{.kind = KN_MODEL_K, .k = 2}, {0, 1, 4}, 3, false, true},
        {{.kind = KN_MODEL_K, .k = 3}, {6, 5, 4}, 3, true, true},
        {{.kind = KN_MODEL_DISTINCT, .attribute = "s", .l = {2, 1}}, {0, 1, 2, 3}, 4, true, true},
        {{.kind = KN_MODEL_DISTINCT, .attribute = "s", .l = {3, 1}}, {0, 1, 2, 3}, 4, false, false},
        {{.kind = KN_MODEL_DISTINCT, .attribute = "s", .l = {3, 1}}, {0, 3, 5}, 3, true, true},
        {{.kind = KN_MODEL_DISTINCT, .attribute = "s", .l = {2, 1}}, {0, 1, 2, 6}, 4, false, false},
        /* x: two of three persons, but three of four rows */
        {{.kind = KN_MODEL_ALPHA_K, .attribute = "s", .bound = {2, 3}, .k = 3}, {0, 1, 2, 3}, 4, true, false},
        {{.kind = KN_MODEL_ALPHA_K, .attribute = "s", .bound = {3, 4}, .k = 3}, {0, 1, 2, 3}, 4, true, true},
        {{.kind = KN_MODEL_ALPHA_K, .attribute = "s", .bound = {66, 100}, .k = 3}, {0, 1, 2, 3}, 4, false, false},
        /* x: A and B, y: A and C: two of three persons have either, two of four rows */
        {{.kind = KN_MODEL_ALPHA_K, .attribute = "s", .bound = {2, 3}, .k = 3}, {0, 2, 3, 4}, 4, true, true},
        {{.kind = KN_MODEL_ALPHA_K, .attribute = "s", .bound = {1, 2}, .k = 3}, {0, 2, 3, 4}, 4, false, true},
        {{.kind = KN_MODEL_ALPHA_K, .attribute = "s", .bound = {49, 100}, .k = 3}, {0, 2, 3, 4}, 4, false, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int entity = -1; entity < 1; entity++) {
            kn_model                models[] = {cases[i].model};
            kn_requirements_options o = {models, 1, entity, NULL, false};
            kn_requirements        *r = NULL;
            kn_row_judge            judge = {0};
            bool                    holds = false;
            assert_ok(kn_requirements_make(&r, ctx, t, &o, &err), err);
            assert_ok(kn_row_judge_make(&judge, ctx, t, r, &err), err);
            for (int again = 0; again < 2; again++) { /* nothing is left of the class before */
                assert_ok(kn_row_judge_holds(&holds, &judge, cases[i].rows, sizeof(uint32_t), cases[i].count, &err),
                          err);
                if (holds != (entity < 0 ? cases[i].plain : cases[i].persons))
                    fail_msg("case %zu, %s: %d", i, entity < 0 ? "rows" : "persons", holds);
            }
            kn_row_judge_free(&judge);
            kn_row_judge_free(&judge); /* nothing is left to be freed */
            kn_requirements_free(r);
        }
    kn_table_free(t);
    testing_context_free(ctx);
}

/* No class of less than 1 / risk rows can be part of a release with that average risk, and no larger one is asked for. */
static void smallest_for_an_average(void **state)
{
    (void)state;
    static const struct {
        kn_ratio risk;
        int64_t  smallest;
    } cases[] = {{{2, 5}, 3}, {{1, 4}, 4}, {{3, 3}, 1}, {{3, 10}, 4}};
    kn_context *ctx = testing_context(1);
    kn_error    err = KN_ERROR_INIT;
    kn_table   *t = read_text(ctx, "a\n1\n1\n");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kn_model                model = {.kind = KN_MODEL_AVERAGE_RISK, .bound = cases[i].risk};
        kn_requirements_options o = {&model, 1, -1, NULL, false};
        kn_requirements        *r = NULL;
        kn_row_judge            judge = {0};
        assert_ok(kn_requirements_make(&r, ctx, t, &o, &err), err);
        assert_ok(kn_row_judge_make(&judge, ctx, t, r, &err), err);
        assert_int_equal(judge.smallest, cases[i].smallest);
        kn_row_judge_free(&judge);
        kn_requirements_free(r);
    }
    kn_table_free(t);
    testing_context_free(ctx);
}

/* The c of recursive (c, l)-diversity: the most frequent over what is left without the l - 1 most frequent. */
static void frequent_values(void **state)
{
    (void)state;
    const uint32_t codes[] = {0, 1, 2, 3, 4};
    const int64_t  counts[] = {3, 5, 3, 3, 1};
    kn_histogram   h = {codes, counts, 5, 15};
    static const struct {
        uint64_t l;
        kn_u128  numerator, denominator;
    } cases[] = {{0, 0, 1}, {1, 0, 1}, {2, 5, 10}, {3, 5, 7}, {4, 5, 4}, {5, 5, 1}, {6, 1, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kn_quotient q = kn_recursive_reached(&h, cases[i].l);
        assert_int_equal(kn_quotient_compare(q, (kn_quotient){cases[i].numerator, cases[i].denominator}), 0);
    }
}

/* Both persons have x, two of three rows: parts of the whole may be better where rows are persons', never otherwise. */
static void the_whole_of_persons(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(1);
    kn_error    err = KN_ERROR_INIT;
    kn_table   *t = read_text(ctx, "who,s\nA,x\nA,y\nB,x\n");
    kn_model    models[] = {{.kind = KN_MODEL_ALPHA_K, .attribute = "s", .bound = {1, 2}, .k = 2}};
    for (int entity = -1; entity < 1; entity++)
        for (int suppressing = 0; suppressing < 2; suppressing++) {
            kn_requirements_options o = {models, 1, entity, NULL, false};
            kn_requirements        *r = NULL;
            assert_ok(kn_requirements_make(&r, ctx, t, &o, &err), err);
            assert_int_equal(kn_requirements_feasible(r, t, NULL, suppressing, &err),
                             entity < 0 && !suppressing ? KN_UNMET : KN_OK);
            kn_requirements_free(r);
        }
    kn_table_free(t);
    testing_context_free(ctx);
}

/* Which promises a coarser table keeps too: searches skip by it. With suppressed rows only those that look at sizes and kinds. */
static void what_stays_kept(void **state)
{
    (void)state;
    static const kn_model_kind always[] = {KN_MODEL_K, KN_MODEL_DISTINCT, KN_MODEL_K_MAP, KN_MODEL_MAX_RISK};
    static const kn_model_kind whole[] = {KN_MODEL_ENTROPY,    KN_MODEL_RECURSIVE,     KN_MODEL_T_EQUAL,
                                          KN_MODEL_BETA_BASIC, KN_MODEL_BETA_ENHANCED, KN_MODEL_DELTA};
    for (size_t i = 0; i < sizeof always / sizeof *always; i++)
        assert_true(kn_model_monotone(always[i], true) && kn_model_monotone(always[i], false));
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
        assert_true(!kn_model_monotone(whole[i], true) && kn_model_monotone(whole[i], false));
}

/* The logarithm of 2 is 0.69314718055994530...: a bound that ends before the last of these digits is below it. */
static void logarithms_at_their_bound(void **state)
{
    (void)state;
    kn_context    *ctx = testing_context(1);
    kn_error       err = KN_ERROR_INIT;
    kn_reference   all;
    const uint32_t codes[] = {0, 1};
    const int64_t  equal[] = {2, 2};
    kn_histogram   h = {codes, equal, 2, 4}; /* half of the class, a quarter of the table */
    int64_t       *counts = kn_alloc_array_zero(ctx, 3, sizeof *counts);
    assert_non_null(counts);
    counts[0] = 2;
    counts[1] = 6;
    assert_ok(kn_reference_make(&all, ctx, counts, 2, NULL, &err), err);
    kn_model m = {.kind = KN_MODEL_DELTA};
    assert_true(kn_ratio_parse("0.6931471805599453", &m.bound));
    assert_false(kn_model_satisfied(&m, &h, &all, NULL));
    assert_true(kn_ratio_parse("0.693147180559946", &m.bound));
    assert_true(kn_model_satisfied(&m, &h, &all, NULL));
    kn_reference_free(&all);
    testing_context_free(ctx);
}

/* A promise that is put together by hand is looked at as one from a file. */
static void promises_that_make_no_sense(void **state)
{
    (void)state;
    kn_error err = KN_ERROR_INIT;
    kn_model m = {.kind = KN_MODEL_ALPHA_K, .attribute = "s", .k = -1, .bound = {1, 2}};
    assert_int_equal(kn_model_check(&m, &err), KN_USAGE);
    assert_non_null(strstr(err.message, "k must be at least 1"));
    m.k = 1;
    assert_ok(kn_model_check(&m, &err), err);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ratios),
        cmocka_unit_test(large_quotients),
        cmocka_unit_test(values_that_a_model_needs),
        cmocka_unit_test(rows_of_persons),
        cmocka_unit_test(smallest_for_an_average),
        cmocka_unit_test(frequent_values),
        cmocka_unit_test(the_whole_of_persons),
        cmocka_unit_test(what_stays_kept),
        cmocka_unit_test(logarithms_at_their_bound),
        cmocka_unit_test(promises_that_make_no_sense),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
