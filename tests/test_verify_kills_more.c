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

/* Ann has two rows, Bob one: who knows how often somebody was there tells them apart, though all rows look alike. */
static void persons_with_more_rows(void **state)
{
    (void)state;
    verify_case c = {.yaml = HEAD "entity: who\nattributes: {n: {role: identifier, pseudonym: {key-file: none.key}}, "
                                  "a: {role: quasi}}\nprivacy: [{k: 2}]\n",
                     .original = "who,n,a\nAnn,x,1\nAnn,x,1\nBob,y,1\nBob,y,1\n",
                     .release = "n,a\n" P1 ",1\n" P1 ",1\n" P2 ",1\n" P2 ",1\n",
                     .map = MAP("1\n2\n3\n4\n")};
    expect_case(&c, NULL);
    c.original = "who,n,a\nAnn,x,1\nAnn,x,1\nBob,y,1\n";
    c.release = "n,a\n" P1 ",1\n" P1 ",1\n" P2 ",1\n";
    c.map = MAP("1\n2\n3\n");
    expect_case(&c, "k: 2 classes of 2 fail");
}

/* Persons whom two columns name. Rows that lack either are one person's; rows may be linked as with one column. */
static void persons_of_two_columns(void **state)
{
    (void)state;
#define TWO(k) HEAD "entity: [f, g]\nattributes: {a: {role: quasi}}\nprivacy: [{k: " k "}]\n"
    verify_case c = {.yaml = TWO("3"),
                     .original = "f,g,a\nA,1,1\nA,2,1\nB,1,1\nB,1,1\n",
                     .release = "a\n1\n1\n1\n1\n",
                     .map = MAP("1\n2\n3\n4\n")};
    expect_case(&c, NULL);
    c.yaml = TWO("4");
    expect_case(&c, "k: 1 class of 1 fails");
    static const char *const lacking[] = {"f,g,a\nA,1,1\nA,,1\nB,,1\nC,,1\n", "f,g,a\n1,A,1\n,A,1\n,B,1\n,C,1\n"};
    for (int i = 0; i < 2; i++) {
        c.original = lacking[i];
        c.yaml = TWO("2");
        expect_case(&c, NULL);
        c.yaml = TWO("3");
        expect_case(&c, "k: 1 class of 1 fails");
    }
    c.yaml = HEAD "entity: [f, g]\nattributes: {n: {role: identifier, pseudonym: {key-file: none.key}}, a: {role: "
                  "quasi}}\nprivacy: [{k: 2}]\nsuppression: {rows: 1}\n";
    c.original = "f,g,n,a\nA,1,x,1\nA,1,x,1\nA,2,y,1\nA,2,y,1\n";
    c.release = "n,a\n" P1 ",1\n" P1 ",1\n" P2 ",1\n" P2 ",1\n";
    expect_case(&c, NULL);
    c.release = "n,a\n" P1 ",1\n" P1 ",1\n" P2 ",1\n*,*\n";
    expect_case(&c, "1 person is shown with some of their rows only, such as that of row 3");
}

/* What names a person is read as its type says: as texts 1 and 1.0 are two persons. */
static void persons_by_the_type_of_their_key(void **state)
{
    (void)state;
#define KEY(type)                                                                                                      \
    HEAD "entity: who\nattributes: {who: {role: identifier" type "}, a: {role: quasi}}\nprivacy: [{k: 2}]\n"
    verify_case c = {.original = "who,a\n1,1\n1.0,1\n", .release = "a\n1\n1\n", .map = MAP("1\n2\n")};
    c.yaml = KEY(", type: text");
    expect_case(&c, NULL);
    c.yaml = KEY(", type: decimal");
    expect_case(&c, "k: 1 class of 1 fails");
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

/* The header's line ends count too, behind one name in quotes as well. */
static void lines_that_end_otherwise(void **state)
{
    (void)state;
    const char *yaml = HEAD "attributes: {a: {role: quasi}}\nprivacy: [{k: 2}]\n";
    expect(yaml, "a\n1\n1\n", "\"a\"\n1\n1\n", NULL, NULL);
    expect(yaml, "a\n1\n1\n", "\"a\"\r\n1\n1\n", NULL, "rows end in different ways");
    expect(yaml, "a\n1\n1\n", "a\r\n1\n1\n", NULL, "rows end in different ways");
}

/* What a spreadsheet would execute has an apostrophe in front; a number, with its exponent, needs none. */
static void cells_that_are_executed(void **state)
{
    (void)state;
    static const struct {
        const char *cell;
        bool        formula;
    } cases[] = {
        {"+1e5", false},  {"+1e-5", false}, {"-1E+05", false}, {"+12", false}, {"-1.5", false},  {"+", false},
        {"+1e,5", true},  {"+1e+", true},   {"+1e-", true},    {"+1e", true},  {"+e5", true},    {"-1e5x", true},
        {"+1e5+1", true}, {"=1", true},     {"@x", true},      {"-x", true},   {"+1e+-5", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char table[100];
        snprintf(table, sizeof table, "a,s\n1,\"%s\"\n1,\"%s\"\n", cases[i].cell, cases[i].cell);
        expect(HEAD "attributes: {a: {role: quasi}, s: {role: keep, type: text}}\nprivacy: [{k: 2}]\n"
                    "spreadsheet-safe: true\n",
               table, table, NULL, cases[i].formula ? "a spreadsheet would execute a cell of the release" : NULL);
    }
}

/* ---- What cells mean ---- */

/* Days have dashes, and one stands between two of them. */
static void dashes_between_days(void **state)
{
    (void)state;
    const char *yaml = HEAD "attributes: {d: {role: quasi, type: date}}\nprivacy: [{k: 2}]\n";
    const char *days = "d\n2001-02-03\n2001-02-05\n";
    expect(yaml, days, "d\n2001-02-03-2001-02-05\n2001-02-03-2001-02-05\n", NULL, NULL);
    expect(yaml, days, "d\n2001-02-03-2001-02-04\n2001-02-03-2001-02-04\n", NULL, "cannot come from the original");
}

/* 2.0 is the other row's value, however it is spelled. */
static void values_of_other_rows(void **state)
{
    (void)state;
    const char *yaml = HEAD "attributes: {a: {role: quasi, type: decimal}}\nprivacy: [{k: 1}]\nforce: true\n";
    expect(yaml, "a\n1\n2\n", "a\n2.0\n1.0\n", MAP("1\n2\n"), "row 1, column \"a\"");
}

/* A missing value is below the root alone, whatever that is called. */
static void missing_below_the_root(void **state)
{
    (void)state;
    file("tree.csv", "1;p;top\n2;p;top\n3;q;top\n");
    const char *yaml = HEAD "attributes: {a: {role: quasi, hierarchy: tree.csv}}\nprivacy: [{k: 2}]\n";
    for (int i = 0; i < 2; i++) {
        const char *map = i ? MAP("1\n2\n") : NULL;
        expect(yaml, "a\n1\n\n", "a\ntop\ntop\n", map, NULL);
        expect(yaml, "a\n1\n\n", "a\np\np\n", map, "");
    }
}

/* ---- Hierarchies ---- */

#define TREE HEAD "attributes: {a: {role: quasi, hierarchy: tree.csv}, b: {role: quasi}}\nprivacy: [{k: 2}]\n"

/* Labels with quotes that mean themselves, and a first letter that begins as the mark of UTF-8 does. */
static void labels_as_they_stand(void **state)
{
    (void)state;
    file("tree.csv", "x\"\"y;p;*\n\"z\"\"\";p;*\n");
    expect(TREE, "a,b\nx\"\"y,1\n\"z\"\"\",1\n", "a,b\np,1\np,1\n", NULL, NULL);
    file("tree.csv", "\xef\xbb\x80;p;*\nz;p;*\n");
    expect(TREE, "a,b\n\xef\xbb\x80,1\nz,1\n", "a,b\np,1\np,1\n", NULL, NULL);
    file("tree.csv", "\xef\xbb\xbfx;p;*\nz;p;*\n");
    expect(TREE, "a,b\nx,1\nz,1\n", "a,b\np,1\np,1\n", NULL, NULL);
}

/* Semicolons split every line, but commas leave one root: these are meant. */
static void the_delimiter_that_leaves_one_root(void **state)
{
    (void)state;
    file("tree.csv", "x;1,p,*\nx;2,p,*\n");
    expect(TREE, "a,b\nx;1,u\nx;2,u\n", "a,b\np,u\np,u\n", NULL, NULL);
    file("tree.csv", "5\" pipe,p,*\n6\" pipe,p,*\n"); /* no delimiter is above doubt: the only one that splits */
    expect(TREE, "a,b\n\"5\"\" pipe\",u\n\"6\"\" pipe\",u\n", "a,b\np,u\np,u\n", NULL, NULL);
}

/* Quotes around a cell with one inside speak for the comma: the semicolon leaves them in the middle of a cell. */
static void quotes_that_fit_a_delimiter(void **state)
{
    (void)state;
    file("tree.csv", "p;1,\"xx\"\"y\",*\np;2,\"xx\"\"y\",*\n");
    expect(TREE, "a,b\np;1,u\np;2,u\n", "a,b\n\"xx\"\"y\",u\n\"xx\"\"y\",u\n", NULL, NULL);
}

/* A line with one label is no path. */
static void paths_of_one_label(void **state)
{
    (void)state;
    file("tree.csv", "1\n2\n");
    expect_error(TREE, "a,b\n1,u\n2,u\n", "a,b\n1,u\n2,u\n", NULL, KN_INPUT, "tree.csv:1: a leaf without a root");
}

/* Breaks have more decimals than the values. */
static void breaks_between_values(void **state)
{
    (void)state;
    const char *yaml = HEAD "attributes: {a: {role: quasi, type: decimal, hierarchy: {breaks: [[1.25, 2.75]]}}}\n"
                            "privacy: [{k: 2}]\nmethod: optimal\n";
    expect(yaml, "a\n1.5\n2.5\n", "a\n\"[1.25, 2.75)\"\n\"[1.25, 2.75)\"\n", NULL, NULL);
    expect(yaml, "a\n1\n2.5\n", "a\n\"[1.25, 2.75)\"\n\"[1.25, 2.75)\"\n", NULL, "");
}

/* Texts stand one behind the other in memory: b.c has two parts, though what follows it begins with a separator. */
static void parts_end_with_the_value(void **state)
{
    (void)state;
    expect(HEAD "attributes: {a: {role: quasi, hierarchy: {prefix: \".\"}}}\nprivacy: [{k: 2}]\nmethod: optimal\n",
           "a\nb.c\n.x\nb.c.d\n.x\n", "a\nb.c\n.x\nb.c\n.x\n", MAP("1\n2\n3\n4\n"), NULL);
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

/* Two classes lack an original; the first row of either is told. */
static void the_first_row_is_told(void **state)
{
    (void)state;
    const char *yaml = HEAD "attributes: {a: {role: quasi, type: integer}}\nprivacy: [{k: 2}]\n";
    expect(yaml, "a\n1\n1\n3\n4\n5\n6\n", "a\n1\n1\n[2-4]\n[2-4]\n[2-4]\n[5-6]\n", NULL,
           "is left for it; such as row 3");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        testing_alone(identifiers_of_one_row_each),
        testing_alone(links_of_rows_that_are_left_out),
        cmocka_unit_test(a_pseudonym_of_many),
        cmocka_unit_test(quotes_within_cells),
        cmocka_unit_test(sets_that_look_like_columns),
        cmocka_unit_test(counted_once),
        cmocka_unit_test(persons_by_the_type_of_their_key),
        cmocka_unit_test(persons_with_more_rows),
        cmocka_unit_test(persons_of_two_columns),
        cmocka_unit_test(lines_that_end_otherwise),
        cmocka_unit_test(cells_that_are_executed),
        cmocka_unit_test(dashes_between_days),
        cmocka_unit_test(values_of_other_rows),
        cmocka_unit_test(missing_below_the_root),
        cmocka_unit_test(labels_as_they_stand),
        cmocka_unit_test(the_delimiter_that_leaves_one_root),
        cmocka_unit_test(quotes_that_fit_a_delimiter),
        testing_alone(paths_of_one_label),
        cmocka_unit_test(breaks_between_values),
        cmocka_unit_test(parts_end_with_the_value),
        cmocka_unit_test(the_first_row_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
