/* test_catalogue.c: the catalogue names what the library has, all of it, and what it says agrees with the rest of the
 * library. That each entry runs is tests/voice/run's.
 * SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include <kanon/catalogue.h>
#include <string.h>

static void check_text(const char *text)
{
    assert_non_null(text);
    size_t length = strlen(text);
    assert_true(length > 0);
    assert_true(text[length - 1] != '.' && text[length - 1] != ' ' && text[0] != ' ');
}

static void methods(void **state)
{
    (void)state;
    int defaults[KN_SHAPES] = {0};
    for (int m = 0; m < KN_METHODS; m++) {
        const kn_method_entry *e = kn_catalogue_method(m);
        kn_method              parsed;
        assert_string_equal(e->name, kn_method_name((kn_method)m));
        assert_true(kn_method_parse(e->name, &parsed) && (int)parsed == m);
        defaults[kn_method_shape((kn_method)m)] += kn_method_is_default((kn_method)m);
    }
    for (int shape = 0; shape < KN_SHAPES; shape++) assert_int_equal(defaults[shape], 1);
    for (int m = 0; m < KN_CATALOGUE_METHODS; m++) {
        const kn_method_entry *e = kn_catalogue_method(m);
        check_text(e->kind);
        check_text(e->paper);
        check_text(e->cost);
        check_text(e->use);
    }
    assert_string_equal(kn_catalogue_method(KN_CATALOGUE_AUTO)->name, "auto");
}

/* A spec that names no method takes the default of its shape. */
static void defaults_are_taken(void **state)
{
    (void)state;
    static const char *const texts[KN_SHAPES][3] = {
        {"[a.csv]", "attributes", "{a: quasi}"},
        {"[db/]", "tables", "{p: {key: id, attributes: {a: quasi}}}"},
        {"[a.xml]", "classes", "{a: {}}"},
    };
    kn_context *ctx = testing_context(1);
    for (int shape = 0; shape < KN_SHAPES; shape++) {
        kn_error err = KN_ERROR_INIT;
        kn_spec *spec = NULL;
        assert_ok(kn_spec_create(&spec, ctx, &err), err);
        assert_ok(kn_spec_set(spec, "input", texts[shape][0], "input", &err), err);
        assert_ok(kn_spec_set(spec, "output", "o", "output", &err), err);
        assert_ok(kn_spec_set(spec, texts[shape][1], texts[shape][2], "data", &err), err);
        const char *promise = shape == KN_SHAPE_RECORDS ? "[{k-mn: {k: 2, m: 1, n: 0}}]" : "[{k: 2}]";
        assert_ok(kn_spec_set(spec, "privacy", promise, "privacy", &err), err);
        if (shape == KN_SHAPE_DATABASE)
            assert_ok(kn_spec_set(spec, "entity", "{table: p, key: id}", "entity", &err), err);
        assert_ok(kn_spec_check(spec, &err), err);
        assert_int_equal(kn_spec_shape(spec), shape);
        assert_true(kn_method_is_default(spec->method));
        assert_int_equal(kn_method_shape(spec->method), shape);
        kn_spec_free(spec);
    }
    testing_context_free(ctx);
}

/* Fields of use to some methods and not to others; a name that is no field is nobody's business. */
static void fields(void **state)
{
    (void)state;
    static const struct {
        const char *field;
        kn_method   uses, not ;
    } cases[] = {{"anatomy", KN_METHOD_DMIRACLE, KN_METHOD_MIRACLE},
                 {"g", KN_METHOD_GCS, KN_METHOD_ACS},
                 {"seed", KN_METHOD_HEURISTIC, KN_METHOD_OPTIMAL},
                 {"choose", KN_METHOD_MONDRIAN, KN_METHOD_MONDRIAN_1D},
                 {"row-order", KN_METHOD_KMSD_AG, KN_METHOD_MONDRIAN_RELAXED},
                 {"matching", KN_METHOD_MIRACLE_X, KN_METHOD_MIRACLE_X_LEVEL},
                 {"keep-order", KN_METHOD_KMSD, KN_METHOD_OCS}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_true(kn_method_uses(cases[i].uses, cases[i].field));
        assert_false(kn_method_uses(cases[i].not, cases[i].field));
    }
    for (int m = 0; m < KN_METHODS; m++) {
        assert_true(kn_method_uses((kn_method)m, "output"));
        assert_true(kn_method_uses((kn_method)m, "nonsense"));
        assert_int_equal(kn_method_has_nodes((kn_method)m), kn_method_family((kn_method)m) == KN_FAMILY_FULL_DOMAIN);
    }
}

static void models(void **state)
{
    (void)state;
    for (int i = 0; i < KN_CATALOGUE_MODELS; i++) {
        const kn_model_entry *e = kn_catalogue_model(i);
        bool                  kept = false;
        check_text(e->example);
        check_text(e->says);
        check_text(e->paper);
        check_text(e->use);
        if (e->needs) check_text(e->needs);
        for (int m = 0; m < KN_METHODS; m++) kept = kept || kn_method_keeps((kn_method)m, i);
        assert_true(kept);
        if (i == KN_CATALOGUE_KMN) continue;
        assert_string_equal(e->name, kn_model_name((kn_model_kind)i));
        assert_true(!e->variant == !kn_model_variant((kn_model_kind)i));
        if (e->variant) assert_string_equal(e->variant, kn_model_variant((kn_model_kind)i));
        assert_int_equal(strncmp(e->example, e->name, strlen(e->name)), 0);
        if (e->variant) assert_non_null(strstr(e->example, e->variant));
    }
    assert_string_equal(kn_catalogue_model(KN_CATALOGUE_KMN)->name, "k-mn");
}

static void metrics(void **state)
{
    (void)state;
    for (int i = 0; i < KN_CATALOGUE_METRICS; i++) {
        const kn_metric_entry *e = kn_catalogue_metric(i);
        check_text(e->name);
        check_text(e->says);
        check_text(e->range);
        check_text(e->paper);
        check_text(e->use);
        assert_true(e->shapes > 0 && e->shapes < 1u << KN_SHAPES);
        if (i < KN_METRICS) assert_string_equal(e->name, kn_metric_name((kn_metric)i));
        for (int j = 0; j < i; j++) assert_string_not_equal(e->name, kn_catalogue_metric(j)->name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(methods), cmocka_unit_test(defaults_are_taken),
        cmocka_unit_test(fields),  cmocka_unit_test(models),
        cmocka_unit_test(metrics),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
