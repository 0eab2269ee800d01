/* test_verify_edges_records.c: the verifier of tree records where one record or one value decides, on small files. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <kanon/verify.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "folder_testing.h"

typedef struct given {
    const char *privacy, *original, *release, *map;
} given;

static kn_records_verify_report *verify(kn_context *ctx, const given *g, const char *classes, const char *ending)
{
    kn_error                  err = KN_ERROR_INIT;
    kn_spec                  *spec = NULL;
    kn_records_verify_report *r = NULL;
    kn_records_verify_options options = KN_RECORDS_VERIFY_OPTIONS_INIT;
    char                      yaml[1000], in[40], out[40];
    snprintf(in, sizeof in, "in.%s", ending);
    snprintf(out, sizeof out, "out.%s", ending);
    snprintf(yaml, sizeof yaml, "kanon: 1\ninput: %s\noutput: %s\nclasses: {%s}\nprivacy: [{k-mn: {%s}}]\n", in, out,
             classes, g->privacy);
    put("item.csv", "a;AB;*\nb;AB;*\nc;CD;*\nd;CD;*\ne;E;*\n");
    put("spec.yaml", yaml);
    put(in, g->original);
    put(out, g->release);
    if (g->map) put("out.rowmap", g->map);
    options.map_path = g->map ? path_of("out.rowmap") : NULL;
    assert_ok(kn_spec_read(&spec, ctx, path_of("spec.yaml"), &err), err);
    assert_ok(kn_spec_check(spec, &err), err);
    assert_ok(kn_verify_records(&r, ctx, spec, &options, &err), err);
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
    expect(&(given){k1, baskets, "AB,c,d\nb,c,d\nAB,c\nc\n", NULL}, "this is no cut through the hierarchy", -1);
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

int main(void)
{
    folder_set_up();
    const struct CMUnitTest tests[] = {cmocka_unit_test(how_many_are_found), cmocka_unit_test(what_may_be_shown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
