/* test_recipe.c: recipes in the library: a request written and read again is the same; a recipe read, changed and applied, with
 * an earlier release; every refused allocation. tests/recipe/run has the releases themselves.
 * SPDX-License-Identifier: Apache-2.0 */
#include "folder_testing.h"

#include <kanon/recipe.h>
#include <limits.h>
#include <sodium.h>
#include <stdlib.h>

#include "kn_spec.h"
#include "kn_spec_write.h"

static int set_up(void **state)
{
    (void)state;
    folder_set_up();
    return sodium_init() < 0;
}

static const char people[] = "zip,age,sex,diagnosis\n"
                             "47901,21,f,flu\n47902,22,m,cold\n47903,23,f,flu\n47904,24,m,cold\n"
                             "47911,31,f,cold\n47912,32,m,asthma\n47913,33,f,flu\n47914,34,m,flu\n";
static const char others[] = "zip,age,sex,diagnosis\n"
                             "47905,25,f,flu\n47906,22,m,cold\n47903,23,f,flu\n47904,24,m,cold\n"
                             "47911,31,f,cold\n47912,38,m,asthma\n47913,33,x,flu\n47914,34,m,flu\n";
#define SPEC                                                                                                           \
    "kanon: 1\ninput: in.csv\noutput: out.csv\nattributes:\n"                                                          \
    "  zip: {role: quasi, type: text, hierarchy: {mask: right}}\n"                                                     \
    "  age: {role: quasi, hierarchy: {ranges: [10, 20, 40]}}\n"                                                        \
    "  sex: {role: quasi, hierarchy: sex.csv}\n"                                                                       \
    "  diagnosis: {role: sensitive}\n"                                                                                 \
    "privacy: [{k: 2}]\nsuppression: {rows: 6}\nkeep-recipe: true\nforce: true\n"

static const char *const methods[] = {"optimal", "mondrian", "mondrian-relaxed", "kmsd"};
enum { METHODS = sizeof methods / sizeof *methods };

static void put_all(const char *method)
{
    char text[1000];
    snprintf(text, sizeof text, SPEC "method: %s\n", method);
    put("in.csv", people);
    put("other.csv", others);
    put("sex.csv", "f;*\nm;*\n");
    put("r.yaml", text);
}

static kn_status make(kn_context *ctx, kn_error *err)
{
    kn_spec           *spec = NULL;
    kn_release_result *result = NULL;
    kn_status          st = kn_spec_read(&spec, ctx, path_of("r.yaml"), err);
    if (st == KN_OK) st = kn_spec_check(spec, err);
    if (st == KN_OK) st = kn_anonymize(&result, ctx, spec, NULL, err);
    if (st == KN_OK && !result->head.found) fail_msg("%s", result->head.reason);
    kn_release_result_free(result);
    kn_spec_free(spec);
    return st;
}

static kn_status set(kn_recipe *recipe, const char *field, const char *path, kn_error *err)
{
    const char *const paths[] = {path};
    return kn_spec_set_texts(kn_recipe_spec(recipe), field, paths, 1, field, err);
}

static kn_status apply(kn_context *ctx, const char *input, const char *output, kn_error *err)
{
    kn_recipe           *recipe = NULL;
    kn_release_result   *result = NULL;
    kn_status            st = kn_recipe_read(&recipe, ctx, path_of("out.csv.recipe.json"), err);
    char                 earlier[PATH_MAX];
    kn_anonymize_options options = KN_ANONYMIZE_OPTIONS_INIT;
    snprintf(earlier, sizeof earlier, "%s", path_of("out.csv"));
    options.earlier = earlier;
    options.disjoint = true;
    if (st == KN_OK) st = set(recipe, "input", path_of(input), err);
    if (st == KN_OK) st = set(recipe, "output", path_of(output), err);
    if (st == KN_OK) st = kn_spec_check(kn_recipe_spec(recipe), err);
    if (st == KN_OK) st = kn_apply(&result, ctx, recipe, &options, err);
    if (st == KN_OK && !result->head.found) fail_msg("%s", result->head.reason);
    if (st == KN_OK) assert_true(kn_release_together(result) && kn_release_together(result)->k >= 2);
    kn_release_result_free(result);
    kn_recipe_free(recipe);
    return st;
}

/* ---- Requests ---- */

static const char *const requests[] = {
    SPEC,
    "kanon: 1\nattributes:\n  a: {role: quasi, hierarchy: {mask: left}, min-level: 1, max-level: 2}\nprivacy: [{k: "
    "2}]\n",
    "kanon: 1\nattributes:\n  a: {role: quasi, hierarchy: {mask: left}}\n  b: {role: quasi, hierarchy: suppress}\n"
    "privacy: [{k: 2}]\nlevels: [1, 0]\n",
    "kanon: 1\nattributes:\n  a: {role: quasi, hierarchy: {mask: left}}\n  b: {role: quasi, hierarchy: suppress}\n"
    "privacy: [{k: 2}]\nlevels: {b: 1}\n",
    "kanon: 1\nattributes:\n  a: quasi\n", /* no promise yet */
    "kanon: 1\nprivacy: [{k: 2}]\n",       /* no column yet */
    "kanon: 1\ndelimiter: tab\nheader: false\nencoding: latin-1\ndecimal: ','\ntimezone: Europe/Berlin\nna: ['', "
    "'n/a', \"a\\\"b\"]\n"
    "attributes:\n  'a\"b\\': {role: quasi, type: date, format: '%d.%m.%Y', hierarchy: {calendar: [month, year]}, "
    "weight: 2.5}\n"
    "  b: {role: quasi, hierarchy: {breaks: [[18, 65], [18]]}, cuts: order}\n"
    "  c: {role: quasi, hierarchy: {prefix: '.'}}\n  d: {role: quasi, hierarchy: suppress}\n"
    "  e: {role: quasi, hierarchy: {ranges: [0.5, 5], origin: 0.25}}\n"
    "  f: {role: quasi, hierarchy: {mask: left, step: 2, pad: true, character: '#'}}\n"
    "  g: {role: quasi, hierarchy: {calendar: all}}\n"
    "  h: sensitive\n  i: {role: identifier, pseudonym: {key-file: key}}\n  j: keep\n  k: weight\n"
    "entity: [i, l]\nundeclared: refuse\nmissing: drop\n"
    "privacy:\n  - k: 5\n  - l-diversity: {attribute: h, kind: recursive, l: 2, c: 3.5}\n  - t-closeness: {attribute: "
    "h, distance: "
    "ordered, t: 0.15}\n  - alpha-k: {attribute: h, alpha: 50%, k: 3}\n  - beta-likeness: {attribute: h, kind: "
    "enhanced, beta: 1.5}\n"
    "  - delta-disclosure: {attribute: h, delta: 2}\n  - max-risk: 0.2\n  - average-risk: 0.1\n  - k-map: 7\n"
    "  - delta-presence: {min: 0.1, max: 0.9}\n"
    "suppression: 2.5%\nsuppressed: keep-sensitive\ndependencies: ['b -> c', 'c ->> d']\nmethod: auto\nutility: "
    "dm\nworkload: q.sql\n"
    "options: {choose: loss, allow-broken: true}\nsummary: side\nspreadsheet-safe: true\nkeep-order: true\nforce: "
    "true\n",
};

static char *written(kn_context *ctx, const char *request)
{
    kn_spec  *spec = NULL;
    kn_error  err = KN_ERROR_INIT;
    kn_buffer text;
    kn_buffer_init(&text, ctx);
    assert_ok(kn_spec_read_text(&spec, ctx, request, strlen(request), NULL, &err), err);
    assert_ok(kn_spec_write(&text, spec, &err), err);
    kn_spec_free(spec);
    char *copy = strdup(kn_buffer_text(&text));
    kn_buffer_free(&text);
    return copy;
}

/* What is written says all that was read: every field of the last request has another value than the usual one. */
static void test_requests(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(1);
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
        char *once = written(ctx, requests[i]), *twice = written(ctx, once);
        assert_string_equal(once, twice);
        free(once);
        free(twice);
    }
    char                    *text = written(ctx, requests[6]);
    static const char *const parts[] = {"delimiter: \"\\u0009\"",
                                        "header: false",
                                        "encoding: \"latin-1\"",
                                        "decimal: \",\"",
                                        "timezone: \"Europe/Berlin\"",
                                        "na: [\"\", \"n/a\", \"a\\\"b\"]",
                                        "\"a\\\"b\\\\\": {role: quasi, type: date, format: \"%d.%m.%Y\"",
                                        "calendar: [month, year]}, weight: 2.5}",
                                        "breaks: [[\"18\", \"65\"], [\"18\"]]}, cuts: order",
                                        "prefix: \".\"",
                                        "hierarchy: suppress",
                                        "ranges: [\"0.5\", \"5\"], origin: \"0.25\"",
                                        "mask: left, step: 2, pad: true, character: \"#\"",
                                        "calendar: all",
                                        "pseudonym: {key-file: \"key\"}",
                                        "entity: [\"i\", \"l\"]",
                                        "undeclared: \"refuse\"",
                                        "missing: \"drop\"",
                                        "kind: recursive, l: 2, c: 3.5",
                                        "distance: ordered, t: 0.15",
                                        "alpha: 0.50",
                                        "kind: enhanced, beta: 1.5",
                                        "delta: 2",
                                        "max-risk: {risk: 0.2}",
                                        "average-risk: {risk: 0.1}",
                                        "k-map: {k: 7}",
                                        "min: 0.1, max: 0.9",
                                        "suppression: 0.025",
                                        "suppressed: \"keep-sensitive\"",
                                        "dependencies: [\"b -> c\", \"c ->> d\"]",
                                        "method: \"auto\"",
                                        "utility: \"dm\"",
                                        "workload: \"q.sql\"",
                                        "options: {choose: loss, allow-broken: true}",
                                        "summary: \"side\"",
                                        "spreadsheet-safe: true",
                                        "keep-order: true",
                                        "force: true"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (!strstr(text, parts[i])) fail_msg("%s is not in\n%s", parts[i], text);
    free(text);
    testing_context_free(ctx);
}

/* A share that no decimal is cannot be written. */
static void test_inexact(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(1);
    kn_spec    *spec = NULL;
    kn_error    err = KN_ERROR_INIT;
    kn_model    third = {.kind = KN_MODEL_MAX_RISK, .bound = {1, 3}};
    kn_buffer   text;
    kn_buffer_init(&text, ctx);
    assert_ok(kn_spec_create(&spec, ctx, &err), err);
    assert_ok(kn_spec_set_model(spec, &third, &err), err);
    assert_int_equal(kn_spec_write(&text, spec, &err), KN_USAGE);
    kn_buffer_free(&text);
    kn_spec_free(spec);
    testing_context_free(ctx);
}

/* ---- Applying ---- */

static void test_same_bytes(void **state)
{
    (void)state;
    for (int m = 0; m < METHODS; m++) {
        kn_context *ctx = testing_context(2);
        kn_error    err = KN_ERROR_INIT;
        put_all(methods[m]);
        assert_ok(make(ctx, &err), err);
        assert_ok(apply(ctx, "in.csv", "again.csv", &err), err);
        char *first = get("out.csv"), *second = get("again.csv");
        assert_string_equal(first, second);
        free(first);
        free(second);
        assert_ok(apply(ctx, "other.csv", "other-out.csv", &err), err);
        testing_context_free(ctx);
    }
}

static void test_changed_request(void **state)
{
    (void)state;
    kn_context        *ctx = testing_context(1);
    kn_error           err = KN_ERROR_INIT;
    kn_recipe         *recipe = NULL;
    kn_release_result *result = NULL;
    put_all("optimal");
    assert_ok(make(ctx, &err), err);
    assert_ok(kn_recipe_read(&recipe, ctx, path_of("out.csv.recipe.json"), &err), err);
    assert_ok(set(recipe, "input", path_of("in.csv"), &err), err);
    assert_ok(set(recipe, "output", path_of("x.csv"), &err), err);
    assert_ok(kn_spec_set_role(kn_recipe_spec(recipe), "diagnosis", KN_ROLE_QUASI, &err), err);
    assert_int_equal(kn_apply(&result, ctx, recipe, NULL, &err), KN_USAGE);
    assert_null(result);
    kn_recipe_free(recipe);
    testing_context_free(ctx);
}

static void test_refused_memory(void **state)
{
    (void)state;
    for (int m = 0; m < METHODS; m++) {
        int64_t at = 0, step = testing_step();
        put_all(methods[m]);
        for (kn_status st = KN_MEMORY; st != KN_OK; at += step) {
            testing_allocator allocator = {.refuse_at = at};
            kn_context       *ctx = NULL;
            kn_error          err = KN_ERROR_INIT;
            st = testing_refusing_context(&ctx, &allocator, 1, &err);
            if (st == KN_OK) st = make(ctx, &err);
            if (st == KN_OK) st = apply(ctx, "other.csv", "other-out.csv", &err);
            if (st != KN_OK && st != KN_MEMORY)
                fail_msg("%s: request %lld: %s", methods[m], (long long)at, err.message);
            kn_context_free(ctx);
            assert_int_equal(allocator.live, 0);
        }
        print_message("%s: %lld requests\n", methods[m], (long long)at);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_requests), cmocka_unit_test(test_inexact),
                                       cmocka_unit_test(test_same_bytes), cmocka_unit_test(test_changed_request),
                                       cmocka_unit_test(test_refused_memory)};
    return cmocka_run_group_tests(tests, set_up, NULL);
}
