/* test_verify_edges_records.c: the verifier of tree records where one record or one value decides, on small files. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <kanon/verify.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "folder_testing.h"

typedef struct given {
    const char *privacy, *original, *release, *map;
} given;

static bool strict, alone; /* by the verifier alone, without metrics */

static kn_records_verify_report *verify(kn_context *ctx, const given *g, const char *classes, const char *ending)
{
    kn_error                  err = KN_ERROR_INIT;
    kn_spec                  *spec = NULL;
    kn_records_verify_report *r = NULL;
    kn_records_verify_options options = KN_RECORDS_VERIFY_OPTIONS_INIT;
    char                      yaml[1000], in[40], out[40];
    snprintf(in, sizeof in, "in.%s", ending);
    snprintf(out, sizeof out, "out.%s", ending);
    snprintf(yaml, sizeof yaml, "kanon: 1\ninput: %s\noutput: %s\nclasses: {%s}\nprivacy: [{k-mn: {%s}}]\n%s", in, out,
             classes, g->privacy, strict ? "options: {strict-structure: true}\n" : "");
    put("item.csv", "a;AB;*\nb;AB;*\nc;CD;*\nd;CD;*\ne;E;*\n");
    put("spec.yaml", yaml);
    put(in, g->original);
    put(out, g->release);
    if (g->map) put("out.rowmap", g->map);
    options.map_path = g->map ? path_of("out.rowmap") : NULL;
    assert_ok(kn_spec_read(&spec, ctx, path_of("spec.yaml"), &err), err);
    assert_ok(kn_spec_check(spec, &err), err);
    assert_ok((alone ? kn_verify_records_files : kn_verify_records)(&r, ctx, spec, &options, &err), err);
    kn_spec_free(spec);
    return r;
}

/* `problem` NULL: it holds and is proved; "" anything. k is what is found, -1: not asked. */
static void expect(const given *g, const char *problem, int64_t k)
{
    kn_context               *ctx = testing_context(2);
    kn_records_verify_report *r = verify(ctx, g, "Item: {hierarchy: item.csv}", "txt");
    bool                      told = false;
    for (int i = 0; i < r->problem_count; i++) told = told || (problem && strstr(r->problems[i], problem));
    if ((problem ? r->ok || !told : !r->ok) || (k >= 0 && r->k != k)) {
        for (int i = 0; i < r->problem_count; i++) print_message("  %s\n", r->problems[i]);
        fail_msg("%s, k = %d; wanted: %s, k = %d", r->ok ? "it holds" : "it does not hold", (int)r->k,
                 problem ? problem : "that it holds", (int)k);
    }
    kn_records_verify_report_free(r);
    testing_context_free(ctx);
}

/* How often the problem is told. */
static int count_told(const given *g, const char *classes, const char *ending, const char *problem)
{
    kn_context               *ctx = testing_context(2);
    kn_records_verify_report *r = verify(ctx, g, classes, ending);
    int                       told = 0;
    for (int i = 0; i < r->problem_count; i++) {
        print_message("  %s\n", r->problems[i]);
        told += strstr(r->problems[i], problem) != NULL;
    }
    kn_records_verify_report_free(r);
    testing_context_free(ctx);
    return told;
}

/* Two records with c and d, two with c alone, three with AB. */
static const char baskets[] = "a,c,d\nb,c,d\na,c\nc\n", good[] = "AB,c,d\nAB,c,d\nAB,c\nc\n";

static void how_many_are_found(void **state)
{
    (void)state;
    expect(&(given){"k: 2, m: 1, n: 0", baskets, good, NULL}, NULL, 2);
    expect(&(given){"k: 2, m: 3, n: 0", baskets, good, NULL}, NULL, 2);
    expect(&(given){"k: 3, m: 1, n: 0", baskets, good, NULL}, "", 2);
    expect(&(given){"k: 3, m: 1, n: 0", "a,c\nb,c\na,c\nc\n", "AB,c\nAB,c\nAB,c\nc\n", NULL}, NULL, 3);
    expect(&(given){"k: 4, m: 1, n: 0", "a,c\nb,c\na,c\nc\n", "AB,c\nAB,c\nAB,c\nc\n", NULL}, "", 3);
    /* Each value in two records, each pair in one. */
    expect(&(given){"k: 2, m: 1, n: 0", "a,c\na,e\nc,e\n", "a,c\na,e\nc,e\n", NULL}, NULL, 2);
    expect(&(given){"k: 2, m: 2, n: 0", "a,c\na,e\nc,e\n", "a,c\na,e\nc,e\n", NULL}, "", 1);
    /* Each pair in two records, all three in one. */
    const char *three = "a,c,e\na,c\na,e\nc,e\n";
    expect(&(given){"k: 2, m: 2, n: 0", three, three, NULL}, NULL, 2);
    expect(&(given){"k: 2, m: 3, n: 0", three, three, NULL}, "", 1);
}

static void what_may_be_shown(void **state)
{
    (void)state;
    const char *k1 = "k: 1, m: 1, n: 0";
    expect(&(given){k1, baskets, "AB,c,d\nb,c,d\nAB,c\nc\n", NULL},
           "record 1, node 1: it shows a value above that of record 2, node 1: this is no cut through the hierarchy",
           -1);
    expect(&(given){k1, "c,d\nc,b\n", "c,d\nc,b,AB\n", NULL},
           "record 2, node 3: it shows a value above that of record 2, node 2: this is no cut through the hierarchy",
           -1);
    expect(&(given){k1, baskets, "AB,c\nAB,c\nAB,c\nc\n", NULL},
           "record 1 of the original, node 3: the release shows neither its value nor one above it", -1);
    expect(&(given){k1, baskets, "AB,c,d,e\nAB,c,d\nAB,c\nc\n", NULL},
           "record 1, node 4: no value of the original lies at or below its value", -1);
    expect(&(given){k1, baskets, "AB,c,d\nAB,c,d\nAB,c\n", NULL}, "", -1);
    expect(&(given){k1, baskets, "AB,c,d\nAB,c,d\nAB,c\nc\nc\n", NULL}, "", -1);
    expect(&(given){k1, baskets, "AB,c,d\nAB,c,d\nAB,c\nd\n", NULL}, "", -1);
    expect(&(given){k1, baskets, "AB,c,d\nAB,c,d\nAB,c\nAB,c\n", NULL}, "", -1);
    expect(&(given){k1, baskets, "AB,CD\nAB,CD\nAB,CD\nCD\n", NULL}, NULL, -1);
    expect(&(given){k1, baskets, "AB,CD\nAB,CD\nAB,CD\nAB\n", NULL}, "", -1);
}

/* Nodes that do not say their class have that of the hierarchy's part that knows them, by its name or as the only one left;
 * numbers are what they mean. */
static void classes_that_no_file_says(void **state)
{
    static const char shared[] = "Med: {value: v, hierarchy: shared.csv}, Other: {value: v, hierarchy: shared.csv}";
    static const char numbers[] = "Age: {value: v, hierarchy: {ranges: [10]}}, Item: {value: v, hierarchy: item.csv}";
    static const char trees[] = "[{\"children\": [{\"v\": \"m1\", \"children\": [{\"v\": \"d1\"}]}]}, "
                                "{\"children\": [{\"v\": \"m2\", \"children\": [{\"v\": \"d2\"}]}]}]";
    static const char ages[] = "[{\"children\": [{\"v\": \"1.50\", \"class\": \"Age\", \"children\": [{\"v\": "
                               "\"a\"}]}]}, {\"children\": [{\"v\": \"1.5\", \"class\": \"Age\", \"children\": "
                               "[{\"v\": \"b\"}]}]}]";
    static const struct {
        const char *classes, *original, *release;
        bool        proved;
    } cases[] = {
        {shared, trees,
         "[\n  {\"children\": [{\"v\": \"M\", \"children\": [{\"v\": \"Dis\"}]}]},\n  {\"children\": [{\"v\": "
         "\"M\", \"children\": [{\"v\": \"Dis\"}]}]}\n ]\n",
         true},
        {shared, trees,
         "[\n  {\"children\": [{\"v\": \"Dis\", \"children\": [{\"v\": \"M\"}]}]},\n  {\"children\": [{\"v\": "
         "\"M\", \"children\": [{\"v\": \"Dis\"}]}]}\n ]\n",
         false},
        {numbers, ages,
         "[{\"children\": [{\"v\": \"1.5\", \"class\": \"Age\", \"children\": [{\"v\": \"AB\"}]}]}, "
         "{\"children\": [{\"v\": \"1.5\", \"class\": \"Age\", \"children\": [{\"v\": \"AB\"}]}]}]",
         true},
        {numbers, ages,
         "[{\"children\": [{\"v\": \"1.5\", \"class\": \"Age\", \"children\": [{\"v\": \"AB\"}]}]}, "
         "{\"children\": [{\"v\": \"15\", \"class\": \"Age\", \"children\": [{\"v\": \"AB\"}]}]}]",
         false},
    };
    (void)state;
    put("shared.csv", "m1;M;Med;*\nm2;M;Med;*\nd1;D;Dis;*\nd2;D;Dis;*\n");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kn_context               *ctx = testing_context(1);
        given                     g = {"k: 1, m: 1, n: 0", cases[i].original, cases[i].release, NULL};
        kn_records_verify_report *r = verify(ctx, &g, cases[i].classes, "json");
        if ((r->assignment == KN_ASSIGNMENT_PROVED) != cases[i].proved) fail_msg("case %d", (int)i);
        kn_records_verify_report_free(r);
        testing_context_free(ctx);
    }
}

/* A name of a class is its top, in a release: of one without a hierarchy, or of one whose hierarchy has no such label. A text
 * of the release is also known from nodes of the original that say their class. */
static void names_of_classes(void **state)
{
    static const char classes[] = "Place: {value: v}, Item: {value: v, hierarchy: item.csv}";
#define NODES(place, item) "{\"children\": [{\"v\": \"" place "\", \"children\": [{\"v\": \"" item "\"}]}]}"
#define SAID(place, item)                                                                                              \
    "{\"children\": [{\"v\": \"" place "\", \"class\": \"Place\", \"children\": [{\"v\": \"" item "\"}]}]}"
    static const char original[] = "[" SAID("p", "a") ", " SAID("q", "c") "]";
    static const struct {
        const char *release;
        bool        proved;
    } cases[] = {
        {"[\n  " NODES("Place", "Item") ",\n  " NODES("Place", "Item") "\n ]\n", true},
        {"[\n  " NODES("p", "Item") ",\n  " NODES("q", "Item") "\n ]\n", true},
        {"[\n  " NODES("Place", "a") ",\n  " NODES("Place", "c") "\n ]\n", true},
        {"[\n  " NODES("Place", "a") ",\n  " NODES("Place", "a") "\n ]\n", false},
    };
    (void)state;
    alone = true;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kn_context               *ctx = testing_context(1);
        given                     g = {"k: 1, m: 1, n: 0", original, cases[i].release, NULL};
        kn_records_verify_report *r = verify(ctx, &g, classes, "json");
        if ((r->assignment == KN_ASSIGNMENT_PROVED) != cases[i].proved) fail_msg("case %d", (int)i);
        kn_records_verify_report_free(r);
        testing_context_free(ctx);
    }
    alone = false;
}

/* How finely a release tells is unknown where it shows a value that no hierarchy has, above others too. */
static void values_of_no_hierarchy(void **state)
{
    (void)state;
    static const char classes[] = "Head: {value: v, hierarchy: head.csv}, Item: {value: v, hierarchy: item.csv}";
#define PATH(head, item)                                                                                               \
    "[{\"children\": [{\"v\": \"" head "\", \"class\": \"Head\", \"children\": [{\"v\": \"" item                       \
    "\", \"class\": \"Item\"}]}]}]"
    static const struct {
        const char *release;
        bool        known;
    } cases[] = {{PATH("h", "a"), true}, {PATH("h", "x"), false}, {PATH("x", "a"), false}};
    put("head.csv", "h;*\n");
    alone = true;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kn_context               *ctx = testing_context(1);
        given                     g = {"k: 1, m: 1, n: 0", PATH("h", "a"), cases[i].release, NULL};
        kn_records_verify_report *r = verify(ctx, &g, classes, "json");
        if (isnan(r->rpd) == cases[i].known) fail_msg("case %d: %g", (int)i, r->rpd);
        kn_records_verify_report_free(r);
        testing_context_free(ctx);
    }
    alone = false;
}

/* Each finding once, five of a kind at most; a map that is too long; and one that is found by what is absent. */
static void what_is_told(void **state)
{
    (void)state;
    const char *item = "Item: {hierarchy: item.csv}", *absent = "Item: {hierarchy: item.csv, negative: true}";
    given       unique = {"k: 2, m: 1, n: 0", "a\nb\nc\n", "a\nb\nc\n", NULL};
    for (int i = 1; i <= 3; i++) {
        char problem[60];
        snprintf(problem, sizeof problem, "record %d: whoever knows node 1 finds 1 record, fewer than 2", i);
        assert_int_equal(count_told(&unique, item, "txt", problem), 1);
    }
    put("letters.csv",
        "a;A;*\nb;A;*\nc;C;*\nd;C;*\ne;E;*\nf;E;*\ng;G;*\nh;G;*\ni;I;*\nj;I;*\nk;K;*\nl;K;*\nm;M;*\nn;M;*\n");
    given no_cut = {"k: 1, m: 1, n: 0", "a,b,c,d,e,f,g,h,i,j,k,l,m,n\n", "A,a,C,c,E,e,G,g,I,i,K,k,M,m\n", NULL};
    assert_int_equal(count_told(&no_cut, "Item: {hierarchy: letters.csv}", "txt", "this is no cut"), 5);
    given map = {"k: 1, m: 1, n: 0", "a\nb\n", "a\nb\n", "kanon-rowmap 1\n1\n2\n1\n"};
    assert_int_equal(count_told(&map, item, "txt", "the map has 3 entries for 2 released records"), 1);
    given lacking = {"k: 2, m: 1, n: 0", "a\na\nc\n", "a\na\nc\n", NULL};
    lacking.original = lacking.release = "a,c\na,c\na\n"; /* without c there is one */
    assert_int_equal(count_told(&lacking, absent, "txt",
                                "1 combination with absent values is found in fewer than 2 records; the rarest in 1"),
                     1);
}

/* Of two promises about a class the stricter one decides, whichever comes first; one about no class is not kept. */
static void two_promises_about_a_class(void **state)
{
    (void)state;
    static const char classes[] =
        "Ill: {value: v, role: sensitive}, Other: {value: v, role: sensitive}, Item: {value: v}";
#define ILL(ill) "{\"children\": [{\"v\": \"" ill "\", \"class\": \"Ill\"}, {\"v\": \"a\", \"class\": \"Item\"}]}"
    static const char trees[] = "[\n  " ILL("x") ",\n  " ILL("x") ",\n  " ILL("y") ",\n  " ILL("z") "\n ]\n";
    static const struct {
        const char *attribute;
        uint64_t    l[2];
        const char *problem;
    } cases[] = {
        {"Ill", {1, 2}, NULL},
        {"Ill", {2, 1}, NULL},
        {"Ill", {2, 3}, "have the same value of class \"Ill\""},
        {"Ill", {3, 2}, "have the same value of class \"Ill\""},
        {"Nothing", {1, 1}, "promise 1 cannot be made about tree records"},
        {"Item", {1, 1}, "promise 1 cannot be made about tree records"},
    };
    put("in.json", trees);
    put("out.json", trees);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kn_context               *ctx = testing_context(1);
        kn_error                  err = KN_ERROR_INIT;
        kn_spec                  *spec = NULL;
        kn_records_verify_report *r = NULL;
        kn_model                  models[2];
        char                      yaml[400];
        bool                      told = false;
        snprintf(yaml, sizeof yaml,
                 "kanon: 1\ninput: in.json\noutput: out.json\nclasses: {%s}\nprivacy: [{k-mn: {k: 1, m: 1, n: 0}}]\n",
                 classes);
        put("spec.yaml", yaml);
        assert_ok(kn_spec_read(&spec, ctx, path_of("spec.yaml"), &err), err);
        for (int m = 0; m < 2; m++)
            models[m] = (kn_model){.kind = KN_MODEL_DISTINCT, .attribute = cases[i].attribute, .l = {cases[i].l[m], 1}};
        spec->models = models;
        spec->model_count = 2;
        assert_ok(kn_verify_records(&r, ctx, spec, NULL, &err), err);
        for (int p = 0; p < r->problem_count; p++)
            told = told || !cases[i].problem || strstr(r->problems[p], cases[i].problem);
        if (told != (cases[i].problem != NULL)) fail_msg("case %d", (int)i);
        if (i >= 4) assert_false(r->models[0].holds);
        kn_records_verify_report_free(r);
        kn_spec_free(spec);
        testing_context_free(ctx);
    }
}

/* Where only a moved node can stand: the first record that shows it is told, its node, and how many such places there are. */
static void places_of_moved_nodes(void **state)
{
    (void)state;
    enum { MANY = 300 };
    static const char classes[] = "Head: {value: v, hierarchy: head.csv}, Item: {value: v, hierarchy: many.csv}";
    char             *original = malloc(40 * MANY), *release = malloc(40 * MANY), *tree = malloc(10 * MANY);
    assert_true(original && release && tree);
    put("head.csv", "h;*\n");
    put("many.csv", "a;*\nb;*\n");
#define BELOW "{\"children\": [{\"v\": \"h\", \"children\": [{\"v\": \"a\"}, {\"v\": \"b\"}]}]}"
#define BESIDE "{\"children\": [{\"v\": \"h\", \"children\": [{\"v\": \"a\"}]}, {\"v\": \"b\"}]}"
    given g = {"k: 3, m: 1, n: 0", "[" BELOW ", " BELOW ", " BELOW "]", "[" BELOW ", " BESIDE ", " BESIDE "]", NULL};
    strict = true;
    assert_int_equal(count_told(&g, classes, "json",
                                "record 2, node 3: only a moved node can stand there, and 2 records show it (1 such "
                                "positions in all)"),
                     1);
    g.privacy = "k: 2, m: 1, n: 0";
    assert_int_equal(count_told(&g, classes, "json", "only a moved node can stand there"), 0);
    /* A hidden value that fewer than k records have may stand alone at the root; one that k have may not. */
    static const char hidden[] =
        "Head: {value: v, hierarchy: head.csv}, Item: {value: v, hierarchy: many.csv, role: sensitive}";
    g = (given){"k: 2, m: 1, n: 0", "[" BELOW ", " BELOW "]", "[" BELOW ", " BESIDE "]", NULL};
    assert_int_equal(count_told(&g, hidden, "json", "only a moved node can stand there"), 1);
    g.privacy = "k: 3, m: 1, n: 0";
    assert_int_equal(count_told(&g, hidden, "json", "only a moved node can stand there"), 0);
    size_t in = (size_t)sprintf(original, "[{\"children\": [{\"v\": \"h\", \"children\": ["), at = 0;
    size_t out = (size_t)sprintf(release, "[{\"children\": [{\"v\": \"h\"}");
    for (int i = 0; i < MANY; i++) {
        at += (size_t)sprintf(tree + at, "i%d;*\n", i);
        in += (size_t)sprintf(original + in, "%s{\"v\": \"i%d\"}", i ? ", " : "", i);
        out += (size_t)sprintf(release + out, ", {\"v\": \"i%d\"}", i);
    }
    sprintf(original + in, "]}]}]");
    sprintf(release + out, "]}]");
    put("many.csv", tree);
    g.original = original;
    g.release = release;
    assert_int_equal(count_told(&g, classes, "json",
                                "record 1, node 2: only a moved node can stand there, and 1 records show it (300 such "
                                "positions in all)"),
                     1);
    strict = false;
    free(original);
    free(release);
    free(tree);
}

int main(void)
{
    folder_set_up();
    const struct CMUnitTest tests[] = {cmocka_unit_test(how_many_are_found),
                                       cmocka_unit_test(what_may_be_shown),
                                       cmocka_unit_test(classes_that_no_file_says),
                                       testing_alone(names_of_classes),
                                       cmocka_unit_test(what_is_told),
                                       testing_alone(values_of_no_hierarchy),
                                       cmocka_unit_test(two_promises_about_a_class),
                                       cmocka_unit_test(places_of_moved_nodes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
