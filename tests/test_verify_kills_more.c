/* test_verify_kills_more.c: the verifier where rows are left out or linked, and where a file is written otherwise than its
 * original, on small tables.
 * SPDX-License-Identifier: Apache-2.0 */
#include <kanon/verify.h>

#include "verify_testing.h"

#define P1 "0123456789abcdef0123456789abcdef"
#define P2 "fedcba9876543210fedcba9876543210"
#define MAP(rows) "kanon-rowmap 1\n" rows

/* ---- Rows that stay linked ---- */

static void expect_links(const verify_case *c, bool linked)
{
    kn_context       *ctx = testing_context(1);
    kn_error          err = KN_ERROR_INIT;
    kn_verify_report *r = NULL;
    assert_ok(run_case(&r, ctx, c, &err), err);
    show(r);
    assert_true(r->ok);
    assert_int_equal(r->linked, linked);
    kn_verify_report_free(r);
    testing_context_free(ctx);
}

/* Identifiers that are all different link nothing; a missing one is no second of any. */
static void identifiers_of_one_row_each(void **state)
{
    (void)state;
    verify_case c = {.yaml = HEAD "entity: who\nattributes: {n: {role: identifier, pseudonym: {key-file: none.key}}, "
                                  "a: {role: quasi}}\nprivacy: [{k: 2}]\n",
                     .original = "who,n,a\nAnn,x,1\nBob,,1\n",
                     .release = "n,a\n" P1 ",1\n,1\n",
                     .map = MAP("1\n2\n")};
    expect_links(&c, false);
    c.original = "who,n,a\nAnn,x,1\nAnn,x,1\nBob,,1\nBob,,1\n";
    c.release = "n,a\n" P1 ",1\n" P1 ",1\n,1\n,1\n";
    c.map = MAP("1\n2\n3\n4\n");
    expect_links(&c, true);
}

/* g is the same in all rows of each person that take part: what a row that is left out holds does not matter. */
static void links_of_rows_that_are_left_out(void **state)
{
    (void)state;
    verify_case c = {.yaml = HEAD "entity: who\nmissing: drop\nattributes: {a: {role: quasi}, g: {role: keep}}\n"
                                  "privacy: [{k: 2}]\n",
                     .original = "who,a,g\nAnn,1,p\nAnn,1,p\nBob,1,q\nBob,1,q\nAnn,,q\n",
                     .release = "a,g\n1,p\n1,p\n1,q\n1,q\n",
                     .map = MAP("1\n2\n3\n4\n")};
    expect_links(&c, true);
    c.original = "who,a,g\nAnn,1,p\nAnn,1,q\nBob,1,q\nBob,1,q\nAnn,,q\n";
    c.release = "a,g\n1,p\n1,q\n1,q\n1,q\n";
    expect_links(&c, false);
}

/* ---- Pseudonyms ---- */

/* One pseudonym of eight identifiers: seven rows say so, five of them are told one by one. */
static void a_pseudonym_of_many(void **state)
{
    (void)state;
    verify_case c = {.yaml = HEAD "attributes: {n: {role: identifier, pseudonym: {key-file: none.key}}, "
                                  "a: {role: quasi}}\nprivacy: [{k: 2}]\n",
                     .original = "n,a\nA,1\nB,1\nC,1\nD,1\nE,1\nF,1\nG,1\nH,1\n",
                     .release = "n,a\n" P1 ",1\n" P1 ",1\n" P1 ",1\n" P1 ",1\n" P1 ",1\n" P1 ",1\n" P1 ",1\n" P1 ",1\n",
                     .map = MAP("1\n2\n3\n4\n5\n6\n7\n8\n")};
    expect_case(&c, "row 6, column \"n\": one pseudonym stands for two identifiers");
    expect_case(&c, "column \"n\": the same in 2 more rows");
}

/* ---- How the file is written ---- */

/* A quote within a cell needs quotes around it, all of them or none. */
static void quotes_within_cells(void **state)
{
    (void)state;
    static const char told[] = "column \"a\": some cells stand in quotes and others do not";
    const char       *yaml = HEAD "attributes: {a: {role: quasi}, b: {role: quasi}}\nprivacy: [{k: 2}]\n";
    const char       *original = "a,b\n\"x\"\"y\",1\n\"x\"\"y\",1\n";
    expect(yaml, original, original, NULL, NULL);
    expect(yaml, original, "a,b\nx\"y,1\nx\"y,1\n", NULL, told);
    expect(yaml, original, "a,b\n\"x\"\"y\",1\nx\"y,1\n", NULL, told);
}

/* Names and sets with as many semicolons: the delimiter is the one that gives the names that are expected. */
static void sets_that_look_like_columns(void **state)
{
    (void)state;
    const char *yaml = HEAD "attributes: {\"p;q;r\": {role: quasi}, b: {role: quasi}}\nprivacy: [{k: 3}]\n";
    expect(yaml, "p;q;r,b\nx,1\ny,1\nz,1\n", "p;q;r,b\n{x;y;z},1\n{x;y;z},1\n{x;y;z},1\n", NULL, NULL);
}

/* ---- Rows that have no original ---- */

/* Row 2 has an illness that nobody has: that is one row, however often it is looked for. */
static void counted_once(void **state)
{
    (void)state;
    const char *yaml = HEAD "attributes: {a: {role: quasi}, s: {role: sensitive}}\nprivacy: [{k: 2}]\n"
                            "suppressed: keep-sensitive\nsuppression: {rows: 2}\n";
    const char *original = "a,s\n1,x\n1,y\n2,z\n3,w\n";
    expect(yaml, original, "a,s\n1,x\n1,y\n*,z\n*,w\n", NULL, NULL);
    expect(yaml, original, "a,s\n1,x\n1,v\n*,z\n*,w\n", NULL, "1 released row cannot come from the original");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(identifiers_of_one_row_each), cmocka_unit_test(links_of_rows_that_are_left_out),
        cmocka_unit_test(a_pseudonym_of_many),         cmocka_unit_test(quotes_within_cells),
        cmocka_unit_test(sets_that_look_like_columns), cmocka_unit_test(counted_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
