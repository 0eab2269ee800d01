/* test_model_edges.c: models where one more or one less decides: numbers as they are written, what a model needs at least. */
#include <kanon/table.h>
#include <stdlib.h>
#include <string.h>

#include "kn_model.h"
#include "kn_requirements.h"
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
        kn_requirements_options o = {models, 1, -1, NULL};
        kn_requirements        *r = NULL;
        assert_ok(kn_requirements_make(&r, ctx, t, &o, &err), err);
        assert_int_equal(r->distinct[0], cases[i].needed);
        kn_requirements_free(r);
    }
    kn_table_free(t);
    testing_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(ratios), cmocka_unit_test(values_that_a_model_needs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
