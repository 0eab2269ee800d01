/* test_verify.c: the verifier: every check on hand-made files, its formulas against naive twins, and its search for
 * originals against trying all assignments.
 * SPDX-License-Identifier: Apache-2.0 */
#include <kanon/verify.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kn_rng.h"
#include "kn_verify_flow.h"
#include "kn_verify_internal.h"
#include "testing.h"
#include "verify_testing.h"

/* ---- Hand-made releases ---- */

static const char basic_yaml[] = HEAD "attributes:\n"
                                      "  name: {role: identifier}\n"
                                      "  zip: {role: quasi, type: text, hierarchy: {mask: right}}\n"
                                      "  age: {role: quasi, type: integer, hierarchy: {ranges: [5, 10]}}\n"
                                      "  illness: {role: sensitive}\n"
                                      "  ward: {role: keep}\n"
                                      "privacy: [{k: 2}]\n"
                                      "suppression: {rows: 1}\n";
static const char basic_original[] = "name,zip,age,illness,ward,shoe\n"
                                     "Ann,47906,21,flu,A,37\n"
                                     "Bob,47905,23,cold,A,44\n"
                                     "Cid,47305,31,flu,B,41\n"
                                     "Dan,47301,38,mumps,B,40\n"
                                     "Eve,02138,70,cold,C,38\n";
static const char basic_release[] = "zip,age,illness,ward\n"
                                    "4730*,30-39,flu,B\n"
                                    "4730*,30-39,mumps,B\n"
                                    "4790*,20-24,cold,A\n"
                                    "4790*,20-24,flu,A\n"
                                    "*,*,*,*\n";
static const char basic_map[] = "kanon-rowmap 1\n3\n4\n2\n1\n5\n";

/* The text with the first `from` replaced; static, valid until the next call but one. */
static const char *with(const char *text, const char *from, const char *to)
{
    static char buffers[2][4000];
    static int  turn;
    char       *out = buffers[turn = !turn];
    const char *at = strstr(text, from);
    assert_non_null(at);
    snprintf(out, sizeof buffers[0], "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    return out;
}

static void test_good(void **state)
{
    (void)state;
    expect(basic_yaml, basic_original, basic_release, basic_map, NULL);
    expect(basic_yaml, basic_original, basic_release, NULL, NULL);
    kn_context       *ctx = testing_context(1);
    kn_error          err = KN_ERROR_INIT;
    kn_verify_report *r = NULL;
    assert_ok(try_verify(&r, ctx, basic_yaml, basic_original, basic_release, basic_map, 0, &err), err);
    assert_int_equal(r->rows, 5);
    assert_int_equal(r->suppressed, 1);
    assert_int_equal(r->classes, 2);
    assert_int_equal(r->k, 2);
    assert_int_equal(strlen(r->sha256), 64);
    assert_int_equal(r->model_count, 1);
    assert_true(r->models[0].holds);
    assert_int_equal((int)r->models[0].reached, 2);
    assert_string_equal(kn_assignment_name(r->assignment), "proved");
    /* zip: 5 leaves, every label covers 2: 1/4 each; age: 5 leaves, 2 each; the suppressed cells 1. */
    assert_float_equal(r->metrics[KN_METRIC_LM], (8 * 0.25 + 2) / 10, 1e-12);
    assert_float_equal(r->metrics[KN_METRIC_NCP], (8 * 0.4 + 2) / 10, 1e-12);
    assert_float_equal(r->metrics[KN_METRIC_DM], 4 + 4 + 5, 1e-12);
    assert_float_equal(r->metrics[KN_METRIC_C_AVG], 1, 1e-12);
    /* zip: level 1 of 5; ages: level 2 and level 1 of 3, no level fits all. */
    assert_float_equal(r->metrics[KN_METRIC_PREC], 1 - (4 / 5. + 2 * 2 / 3. + 2 / 3. + 2) / 10, 1e-12);
    assert_float_equal(r->metrics[KN_METRIC_ENTROPY], 8 + 2 * log2(5), 1e-9);
    kn_verify_report_free(r);
    testing_context_free(ctx);
}

static void test_spoiled(void **state)
{
    (void)state;
    static const struct {
        const char *from, *to, *problem;
    } cases[] = {
        {"4730*,30-39,flu", "47305,30-39,flu", "k: 2 classes of 3"},               /* un-generalized    */
        {"4790*,20-24,cold", "4730*,20-24,cold", "column \"zip\": the cell does"}, /* wrong ancestor    */
        {"20-24,flu", "21-25,flu",
         "neither a value"}, /* shifted interval, not integer text of a label: still an interval */
        {"flu,B", "cold,B", "column \"illness\": the cell is not"},
        {"mumps,B", "mumps,A", "column \"ward\": the cell is not"},
        {"mumps", "measles", "column \"illness\": the cell is not"},
        {"*,*,*,*", "*,*,cold,*", "column \"ward\": the cell is not"},
        {"*,*,*,*", "*,*,cold,C", "k: 1 class of 3 fails"},
        {"*,*,*,*", "02138,*,*,*", "column \"illness\": the cell is not"},
        {"4790*,20-24,flu", "4790*,,flu", "column \"age\": the cell does"},
        {"zip,age,illness", "zip,age,name", "column \"name\" is an identifier"},
        {"zip,age,illness", "zip,age,shoe", "column \"shoe\" is not declared"},
        {"zip,age,illness", "zip,age,secret", "column 3 of the release is not one"},
        {"zip,age,illness", "zip,age,secret", "column \"illness\" is missing"},
        {"*,*,*,*\n", "", "neither shown nor shown as suppressed"},
        {"*,*,*,*\n", "*,*,*,*\n*,*,*,*\n", "the release has 6 rows, the original 5"},
        {"4790*,20-24,flu,A", "*,*,*,*", "2 rows are suppressed, at most 1 may be"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *problem = cases[i].problem;
        if (strcmp(problem, "neither a value") == 0) problem = "fail"; /* 21-25 is an interval that covers 21 */
        expect(basic_yaml, basic_original, with(basic_release, cases[i].from, cases[i].to), basic_map, problem);
    }
    expect(basic_yaml, basic_original, with(basic_release, "4790*,20-24,cold", "4730*,20-24,cold"), NULL,
           "cannot come from the original");
    expect(basic_yaml, basic_original, with(basic_release, "flu,B", "cold,B"), NULL, "cannot come from the original");
}

static void test_map(void **state)
{
    (void)state;
    expect(basic_yaml, basic_original, basic_release, with(basic_map, "3\n4", "4\n3"), "column \"illness\": the cell");
    expect(basic_yaml, basic_original, basic_release, with(basic_map, "3\n4", "3\n3"), "an earlier row has already");
    expect(basic_yaml, basic_original, basic_release, with(basic_map, "5\n", "6\n"), "does not have");
    expect(basic_yaml, basic_original, basic_release, with(basic_map, "5\n", ""), "4 entries for 5 released rows");
    expect_error(basic_yaml, basic_original, basic_release, with(basic_map, "3\n", "x\n"), KN_INPUT,
                 ":2: not the number of a row");
    expect_error(basic_yaml, basic_original, basic_release, with(basic_map, "3\n", "0\n"), KN_INPUT,
                 ":2: not the number");
    expect_error(basic_yaml, basic_original, basic_release, "3\n4\n", KN_INPUT, ":1: this is not a row map");
    expect_error(basic_yaml, basic_original, basic_release, "", KN_INPUT, "this is not a row map");
}

static void test_unreadable(void **state)
{
    (void)state;
    expect_error(basic_yaml, basic_original, "zip,age,illness,ward\n4730*,30-39,flu\n", NULL, KN_INPUT, "fewer cells");
    expect_error(basic_yaml, basic_original, "", NULL, KN_INPUT, "the file is empty");
    expect_error(basic_yaml, basic_original, "zip,age,zip,ward\n", NULL, KN_INPUT, "same name");
    expect_error(basic_yaml, basic_original, "zip,age,illness,ward\n4730*,30-39,fl\xff,B\n", NULL, KN_INPUT,
                 ":2: not valid UTF-8");
    expect_error(basic_yaml, "zip,age\n1,2\n", basic_release, NULL, KN_INPUT, "has no column");
}

/* Other delimiters, quotes, a byte order mark, columns in another order. */
static void test_forms(void **state)
{
    (void)state;
    expect(basic_yaml, basic_original,
           "\xef\xbb\xbfward;illness;age;zip\r\nB;\"flu\";\"30-39\";4730*\r\nB;\"mumps\";\"30-39\";4730*\r\n"
           "A;\"cold\";\"20-24\";4790*\r\nA;\"flu\";\"20-24\";4790*\r\n*;\"*\";\"*\";*",
           basic_map, NULL);
    expect(HEAD "attributes: {a: {role: quasi, type: integer}}\nprivacy: [{k: 2}]\n", "a\n1\n1\n2\n2\n",
           "a\n1\n1\n2\n2\n", NULL, NULL);
}

/* Only quasi-identifiers, all at the top: these rows are a class, not suppressed ones. */
static void test_all_at_the_top(void **state)
{
    (void)state;
    const char *yaml = HEAD "attributes: {a: {role: quasi}, b: {role: quasi}}\nprivacy: [{k: 3}]\n";
    expect(yaml, "a,b\n1,x\n2,y\n3,z\n", "a,b\n*,*\n*,*\n*,*\n", NULL, NULL);
    expect(yaml, "a,b\n1,x\n2,y\n", "a,b\n*,*\n*,*\n", NULL, "k: 1 class of 1");
    /* So many may be suppressed: then they are, and there is no class. */
    const char *all =
        HEAD "attributes: {a: {role: quasi}, b: {role: quasi}}\nprivacy: [{k: 2}, {delta-presence: {max: 0.5}}]\n"
             "population: people.csv\nsuppression: 100%\n";
    file("people.csv", "a,b\n1,x\n2,y\n3,z\n");
    expect(all, "a,b\n1,x\n2,y\n3,z\n", "a,b\n*,*\n*,*\n*,*\n", NULL, NULL);
}

/* ---- Kinds of hierarchies ---- */

/* Each value occurs twice and is released as the label, or must not be. */
static void kind_case(const char *attribute, const char *values, const char *labels, bool good)
{
    char yaml[1000], original[2000] = "q\n", release[2000] = "q\n", map[200] = "kanon-rowmap 1\n";
    int  rows = 0;
    snprintf(yaml, sizeof yaml, HEAD "attributes: {q: %s}\nprivacy: [{k: 1}]\n", attribute);
    for (int twice = 0; twice < 2; twice++) {
        const char *v = values, *l = labels;
        while (*v) {
            size_t n = strcspn(v, "|"), m = strcspn(l, "|");
            snprintf(original + strlen(original), sizeof original - strlen(original), "\"%.*s\"\n", (int)n, v);
            snprintf(release + strlen(release), sizeof release - strlen(release), "\"%.*s\"\n", (int)m, l);
            snprintf(map + strlen(map), sizeof map - strlen(map), "%d\n", ++rows);
            v += n + (v[n] == '|');
            l += m + (l[m] == '|');
        }
    }
    expect(yaml, original, release, map, good ? NULL : "");
    if (good) expect(yaml, original, release, NULL, NULL);
}

static void test_kinds(void **state)
{
    (void)state;
    file("course.csv", "Math;Science;Any\nCS;Science;Any\nHistory;Social;Any\n1.50;Number;Any\n");
    file("course.txt", "Any\n  Science\n    Math\n    CS\n  Social\n    History\n");
    file("uneven.csv", "a;x;y;top\nb;y;top\nc;top\n");
    const char *course = "{role: quasi, type: text, hierarchy: course.csv}";
    kind_case(course, "Math|CS|History", "Science|CS|Any", true);
    kind_case(course, "Math|CS|History", "Science|Social|Any", false);
    kind_case(course, "Math|CS|History", "{Math;CS}|*|{CS;History}", true);
    kind_case(course, "Math|CS|History", "{Math;CS}|*|{CS;Math}", false);
    const char *text = "{role: quasi, type: text}"; /* quotes are doubled: these are cells of a CSV file */
    kind_case(text, "a|b|a;b", "{a;b}|{a;b}|{\"\"a;b\"\";a}", true);
    kind_case(text, "a|b|a;b", "{a;b}|{a;b}|{a;b}", false);
    kind_case(text, "a|a;b", "{a;a;b}|{a;a;b}", true); /* without quotes, but nothing else is meant */
    kind_case(text, "a|b|{a;b}", "{\"\"a\"\";\"\"b\"\"}|{a;\"\"b\"\"}|{a;b}", true);
    kind_case(text, "a|b|{a;b}", "{a;b}|{\"\"a\"\";b}|{a;b}", false);
    kind_case(text, "a\"\"b|c", "{\"\"a\"\"\"\"b\"\";c}|{\"\"c\"\";a\"\"b}", true);
    kind_case("{role: quasi, type: decimal, hierarchy: course.csv}", "1.5|1.50", "1.50|Number", true);
    kind_case("{role: quasi, hierarchy: {taxonomy: course.txt}}", "Math|CS|History", "Science|Science|Social", true);
    kind_case("{role: quasi, hierarchy: {taxonomy: course.txt}}", "Math|CS|History", "Science|Social|Social", false);
    kind_case("{role: quasi, hierarchy: uneven.csv}", "a|b|c", "y|y|c", true);
    kind_case("{role: quasi, hierarchy: uneven.csv}", "a|b|c", "x|x|c", false);
    const char *mask = "{role: quasi, type: text, hierarchy: {mask: right}}";
    kind_case(mask, "47906|47305|021", "479**|47***|02*", true);
    kind_case(mask, "47906|47305|021", "479**|47***|02**", false);
    kind_case(mask, "47906|47305|021", "*****|*****|*", true);
    kind_case("{role: quasi, type: text, hierarchy: {mask: left}}", "47906|47305", "*7906|**305", true);
    kind_case("{role: quasi, type: text, hierarchy: {mask: left}}", "47906|47305", "4790*|**305", false);
    kind_case("{role: quasi, type: text, hierarchy: {mask: right}}",
              "\xc3\xa4"
              "b|cd",
              "\xc3\xa4*|c*", true);
    const char *ranges = "{role: quasi, type: integer, hierarchy: {ranges: [5, 10]}}";
    kind_case(ranges, "23|-3|30", "[20, 24]|[-5, -1]|[30, 39]", true);
    kind_case(ranges, "23|-3|30", "[25, 29]|[-5, -1]|[30, 39]", false);
    kind_case(ranges, "23|24|30", "[23-24]|[20, 24]|[30,31)", true);
    kind_case(ranges, "23|24|30", "[23-24]|[20, 24[|[30,31)", false);
    kind_case(ranges, "23|24|30", "22-23|24-99|30-30", true);
    kind_case(ranges, "23|24|30", "22-23|25-99|30-30", false);
    kind_case("{role: quasi, type: decimal, hierarchy: {ranges: [0.5, 2.5]}}", "1.2|-0.1|2.50",
              "[1, 1.5)|[-2.5, 0)|[2.5, 3)", true);
    kind_case("{role: quasi, type: decimal, hierarchy: {ranges: [0.5, 2.5]}}", "1.2|-0.1|2.50",
              "[1, 1.5)|[-2.5, 0)|[2, 2.5)", false);
    const char *breaks = "{role: quasi, type: integer, hierarchy: {breaks: [[18, 65], [18]]}}";
    kind_case(breaks, "17|18|64|65", "(-inf, 17]|[18, 64]|[18, inf)|[65, inf)", true);
    kind_case(breaks, "17|18|64|65", "(-inf, 17]|(-inf, 17]|[18, inf)|[65, inf)", false);
    const char *calendar = "{role: quasi, type: date, hierarchy: {calendar: [month, quarter, year, decade]}}";
    kind_case(calendar, "1999-12-31|1960-02-01|2000-02-29", "1999-Q4|[1960-01-01, 1969-12-31]|2000-M02", true);
    kind_case(calendar, "1999-12-31|1960-02-01|2000-02-29", "1999-Q4|[1960-01-01, 1969-12-31]|2000-M03", false);
    kind_case(calendar, "1999-12-31|1960-02-01|2000-02-29", "1999|[1960-01-01, 1961-01-01]|*", true);
    const char *prefix = "{role: quasi, hierarchy: {prefix: .}}";
    kind_case(prefix, "a.b.c|a.b|x", "a.b|a|x", true);
    kind_case(prefix, "a.b.c|a.b|x", "a.b|x|x", false);
    kind_case("{role: quasi, hierarchy: suppress}", "a|b", "*|b", true);
    kind_case("{role: quasi, hierarchy: suppress}", "a|b", "b|b", false);
    kind_case("{role: quasi}", "1.5|2|3", "[1.5-2]|2.0|*", true);
    kind_case("{role: quasi}", "1.5|2|3", "[1.5-2]|2.1|*", false);
    kind_case("{role: quasi}", "1.5|2|3", "(-inf, 1.5]|(-inf, 2.5)|[3, inf)", true);
    kind_case("{role: quasi}", "1.5|2|3", "(-inf, 1.5)|(-inf, 2.5)|[3, inf)", false);
    kind_case("{role: quasi}", "1.5|2|3", "(-inf, 1.5]|(-inf, 2.5)|[3.1, inf)", false);
    kind_case("{role: quasi}", "1.5|2|3", "(-inf, inf)|(-inf, 2.5)|[3, inf)", true);
    kind_case("{role: quasi}", "1.5|2|3", "[-inf, 1.5]|2|3", false);
    kind_case("{role: quasi}", "1|NA|3", "1||3", true);
    kind_case("{role: quasi}", "1|NA|3", "1|*|3", true);
    kind_case("{role: quasi}", "1|NA|3", "|1|3", false);
    kind_case("{role: quasi}", "1|2|3", "||3", false);
}

/* ---- Suppressed rows, missing cells, identifiers, persons ---- */

static void test_suppressed_modes(void **state)
{
    (void)state;
    const char *drop = with(basic_yaml, "suppression:", "suppressed: drop\nsuppression:");
    char        yaml[2000];
    snprintf(yaml, sizeof yaml, "%s", drop);
    expect(yaml, basic_original, with(basic_release, "*,*,*,*\n", ""), NULL, NULL);
    expect(yaml, basic_original, with(basic_release, "*,*,*,*\n", ""), "kanon-rowmap 1\n3\n4\n2\n1\n", NULL);
    expect(yaml, basic_original, basic_release, NULL, "cannot come from the original");
    expect(yaml, basic_original, with(basic_release, "4790*,20-24,flu,A\n*,*,*,*\n", ""), NULL,
           "2 rows are suppressed");

    const char *keep = with(basic_yaml, "suppression: {rows: 1}", "suppressed: keep-sensitive\nsuppression: {rows: 2}");
    snprintf(yaml, sizeof yaml, "%s", keep);
    const char *original = "name,zip,age,illness,ward\n"
                           "Ann,47906,21,flu,A\nBob,47905,23,cold,A\nCid,47305,31,flu,B\nDan,47301,38,mumps,B\n";
    expect(yaml, original, "zip,age,illness,ward\n4790*,20-24,flu,A\n4790*,20-24,cold,A\n*,*,flu,*\n*,*,mumps,*\n",
           NULL, NULL);
    expect(yaml, original, "zip,age,illness,ward\n4790*,20-24,flu,A\n4790*,20-24,cold,A\n*,*,flu,*\n*,*,mumps,*\n",
           "kanon-rowmap 1\n1\n2\n3\n4\n", NULL);
    expect(yaml, original, "zip,age,illness,ward\n4790*,20-24,flu,A\n4790*,20-24,cold,A\n*,*,flu,*\n*,*,flu,*\n", NULL,
           "cannot come from the original");
    expect(yaml, original,
           "zip,age,illness,ward\n4790*,20-24,flu,A\n4790*,20-24,cold,A\n4730*,30-39,flu,B\n*,*,mumps,*\n", NULL,
           "k: 2 classes of 3 fail");
}

static void test_missing_dropped(void **state)
{
    (void)state;
    const char *yaml = HEAD "attributes: {a: {role: quasi}, s: {role: sensitive}}\nprivacy: [{k: 2}]\nmissing: drop\n";
    expect(yaml, "a,s\n1,x\n,y\n2,z\n", "a,s\n*,x\n*,z\n", NULL, NULL);
    expect(yaml, "a,s\n1,x\n,y\n2,z\n", "a,s\n*,x\n*,z\n", "kanon-rowmap 1\n1\n3\n", NULL);
    expect(yaml, "a,s\n1,x\n,y\n2,z\n", "a,s\n*,x\n*,y\n*,z\n", NULL, "3 rows, the original 2");
    expect(yaml, "a,s\n1,x\n,y\n2,z\n", "a,s\n*,x\n*,y\n", "kanon-rowmap 1\n1\n2\n", "must be left out");
    expect(yaml, "a,s\n1,x\n,y\n2,z\n", "a,s\n*,x\n*,y\n", NULL, "cannot come from the original");
}

#define P1 "0123456789abcdef0123456789abcdef"
#define P2 "fedcba9876543210fedcba9876543210"
#define ANN "42df7a474cd4748f61b92892f0e5ecbb"
#define BOB "35d07f89c2df3b9ebfcca1a44638778d"

static void test_pseudonyms(void **state)
{
    (void)state;
    const char *yaml = HEAD "attributes: {n: {role: identifier, pseudonym: {key-file: none.key}}, a: {role: quasi}}\n"
                            "privacy: [{k: 2}]\n";
    const char *original = "n,a\nAnn,1\nBob,1\nAnn,1\nBob,1\n", *map = "kanon-rowmap 1\n1\n2\n3\n4\n";
    expect(yaml, original, "n,a\n" P1 ",1\n" P2 ",1\n" P1 ",1\n" P2 ",1\n", map, NULL);
    expect(yaml, original, "n,a\n" P1 ",1\n" P2 ",1\n" P2 ",1\n" P1 ",1\n", map, "one identifier has two pseudonyms");
    expect(yaml, original, "n,a\n" P1 ",1\n" P1 ",1\n" P1 ",1\n" P1 ",1\n", map, "one pseudonym stands for two");
    expect(yaml, original, "n,a\nAnn,1\n" P2 ",1\nAnn,1\n" P2 ",1\n", map, "not a pseudonym");
    expect(yaml, original, "n,a\n" P1 ",1\n" P2 ",1\n" P1 ",1\n" P2 ",1\n", NULL, "without the row map or the key");
    expect(yaml, "n,a\nAnn,1\nBob,1\n", "n,a\n" P1 ",1\n" P2 ",1\n", NULL, NULL);
}

/* With a key pseudonyms are compared without a map. HMAC-SHA-256 by the SHA-256 of 32 times 'k', computed elsewhere. */
static void test_pseudonym_key(void **state)
{
    (void)state;
    file("some.key", "kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk");
    const char *yaml = HEAD "attributes: {n: {role: identifier, pseudonym: {key-file: some.key}}, a: {role: quasi}}\n"
                            "privacy: [{k: 2}]\n";
    const char *original = "n,a\nAnn,1\nAnn,1\nBob,1\nBob,1\n";
    expect(yaml, original, "n,a\n" P1 ",1\n" P1 ",1\n" BOB ",1\n" BOB ",1\n", NULL, "cannot come from the original");
    expect(yaml, original, "n,a\n" ANN ",1\n" ANN ",1\n" BOB ",1\n" BOB ",1\n", NULL, NULL);
}

static void test_entity(void **state)
{
    (void)state;
    const char *yaml = HEAD "attributes: {a: {role: quasi}, s: {role: sensitive}}\nentity: who\nprivacy: [{k: 2}]\n";
    const char *original = "who,a,s\nAnn,1,x\nAnn,1,y\nBob,2,x\nCid,2,y\n";
    expect(yaml, original, "a,s\n*,x\n*,y\n*,x\n*,y\n", "kanon-rowmap 1\n1\n2\n3\n4\n", NULL);
    expect(yaml, original, "a,s\n1,x\n1,y\n2,x\n2,y\n", "kanon-rowmap 1\n1\n2\n3\n4\n", "k: 1 class of 2 fails");
    kn_context       *ctx = testing_context(1);
    kn_error          err = KN_ERROR_INIT;
    kn_verify_report *r = NULL;
    assert_ok(try_verify(&r, ctx, yaml, original, "a,s\n*,x\n*,y\n*,x\n*,y\n", NULL, 0, &err), err);
    assert_int_equal(r->outcome, KN_OUTCOME_UNDECIDED);
    assert_int_equal(r->open_count, 1);
    assert_non_null(strstr(r->open[0], "persons cannot be counted"));
    assert_false(r->models[0].holds);
    assert_true(isnan(r->models[0].reached));
    kn_verify_report_free(r);
    testing_context_free(ctx);
}

/* ---- Promises ---- */

static void test_models_in_files(void **state)
{
    (void)state;
    file("tree.csv", "x;p;top\ny;p;top\nz;r;top\n");
    const char *original = "a,s\n1,x\n1,y\n2,x\n2,z\n", *map = "kanon-rowmap 1\n1\n2\n3\n4\n";
    static const struct {
        const char *model;
        bool        holds;
    } cases[] = {
        {"k: 2", true},
        {"k: 3", false},
        {"l-diversity: {kind: distinct, l: 2}", true},
        {"l-diversity: {kind: distinct, l: 3}", false},
        {"l-diversity: {kind: entropy, l: 2}", true},
        {"l-diversity: {kind: entropy, l: 2.01}", false},
        {"l-diversity: {kind: recursive, l: 2, c: 1.01}", true},
        {"l-diversity: {kind: recursive, l: 2, c: 1}", false},
        {"t-closeness: {distance: equal, t: 0.25}", true},
        {"t-closeness: {distance: equal, t: 0.24}", false},
        {"t-closeness: {distance: ordered, t: 0.25}", true},      /* (x,y) to (x,x,y,z): a quarter one step and back */
        {"t-closeness: {distance: hierarchical, t: 0.25}", true}, /* z to y: across the root                         */
        {"t-closeness: {distance: hierarchical, t: 0.249}", false},
        {"alpha-k: {alpha: 0.5, k: 2}", true},
        {"alpha-k: {alpha: 0.49, k: 2}", false},
        {"beta-likeness: {kind: basic, beta: 1}", true},
        {"beta-likeness: {kind: basic, beta: 0.99}", false},
        {"beta-likeness: {kind: enhanced, beta: 1}", true},
        {"delta-disclosure: {delta: 10}", false},
        {"max-risk: {risk: 0.5}", true},
        {"max-risk: {risk: 0.4}", false},
        {"average-risk: {risk: 0.5}", true},
        {"average-risk: {risk: 0.49}", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char yaml[600];
        snprintf(yaml, sizeof yaml, HEAD "attributes: {a: {role: quasi}, s: {role: sensitive%s}}\nprivacy: [{%s}]\n",
                 strstr(cases[i].model, "hierarchical") ? ", hierarchy: tree.csv" : "", cases[i].model);
        expect(yaml, original, "a,s\n1,x\n1,y\n2,x\n2,z\n", i % 2 ? map : NULL, cases[i].holds ? NULL : "");
    }
}

static void test_population(void **state)
{
    (void)state;
    file("everybody.csv", "a\n1\n1\n1\n2\n2\n3\n");
    static const struct {
        const char *model, *release;
        bool        holds;
    } cases[] = {
        {"k-map: {k: 3}", "a\n1\n1\n", true},
        {"k-map: {k: 4}", "a\n1\n1\n", false},
        {"k-map: {k: 3}", "a\n0-1\n0-1\n", true},
        {"k-map: {k: 6}", "a\n*\n*\n", true},
        {"k-map: {k: 7}", "a\n*\n*\n", false},
        {"delta-presence: {min: 0, max: 0.7}", "a\n1\n1\n", true},
        {"delta-presence: {min: 0, max: 0.6}", "a\n1\n1\n", false},
        {"delta-presence: {min: 0.1, max: 0.7}", "a\n1\n1\n", false}, /* nobody else can be there */
        {"delta-presence: {min: 0.3, max: 0.4}", "a\n*\n*\n", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char yaml[600];
        snprintf(yaml, sizeof yaml,
                 HEAD "attributes: {a: {role: quasi, hierarchy: {ranges: [2]}}}\npopulation: everybody.csv\n"
                      "privacy: [{%s}]\n",
                 cases[i].model);
        expect(yaml, "a\n1\n1\n", cases[i].release, NULL, cases[i].holds ? NULL : "");
    }
#define WEIGHTS(k) HEAD "attributes: {a: {role: quasi}, w: {role: weight}}\nprivacy: [{k-map: {k: " k "}}]\n"
    expect(WEIGHTS("5"), "a,w\n1,2.5\n1,2.5\n2,7\n", "a,w\n1,2.5\n1,2.5\n2,7\n", NULL, NULL);
    expect(WEIGHTS("6"), "a,w\n1,2.5\n1,2.5\n2,7\n", "a,w\n1,2.5\n1,2.5\n2,7\n", NULL, "k-map: 1 class of 2 fails");
}

/* ---- Formulas against naive twins ---- */

enum { MOST = 6 };

/* The cheapest way to move integer supplies (sum 0) at integer costs: repeatedly along a shortest path. */
static int64_t transport(int n, const int64_t *supply, int64_t cost[MOST + 1][MOST + 1])
{
    int64_t flow[MOST + 1][MOST + 1] = {{0}}, left[MOST + 1], total = 0;
    memcpy(left, supply, (size_t)n * sizeof *left);
    for (;;) {
        int64_t best[MOST + 1];
        int     from[MOST + 1], target = -1;
        for (int i = 0; i < n; i++) best[i] = left[i] > 0 ? 0 : INT64_MAX / 4, from[i] = -1;
        for (int round = 0; round <= n; round++)
            for (int i = 0; i < n; i++)
                for (int j = 0; j < n; j++) {
                    int64_t step = flow[j][i] > 0 ? -cost[j][i] : cost[i][j];
                    if (i == j || best[i] >= INT64_MAX / 4 || best[i] + step >= best[j]) continue;
                    best[j] = best[i] + step;
                    from[j] = i;
                }
        for (int i = 0; i < n; i++)
            if (left[i] < 0 && best[i] < INT64_MAX / 4 && (target < 0 || best[i] < best[target])) target = i;
        if (target < 0) return total;
        int at = target; /* one unit at a time */
        for (; from[at] >= 0; at = from[at]) {
            if (flow[at][from[at]] > 0)
                flow[at][from[at]]--;
            else
                flow[from[at]][at]++;
        }
        left[at]--;
        left[target]++;
        total += best[target];
    }
}

/* A random tree over `values` leaves, two groups: cost = level of the lowest common ancestor. */
static void naive_distance(kn_model_kind kind, int values, const int *group, int64_t cost[MOST + 1][MOST + 1],
                           int64_t *height)
{
    *height = kind == KN_MODEL_T_EQUAL ? 1 : kind == KN_MODEL_T_ORDERED ? (values > 2 ? values - 1 : 1) : 2;
    for (int i = 0; i <= values; i++)
        for (int j = 0; j <= values; j++) {
            bool    missing = i == values || j == values;
            int64_t d = kind == KN_MODEL_T_EQUAL          ? 1
                        : kind == KN_MODEL_T_ORDERED      ? (missing ? *height : llabs((long long)i - j))
                        : missing || group[i] != group[j] ? 2
                                                          : 1;
            cost[i][j] = i == j ? 0 : d;
        }
}

typedef struct twin_tree {
    kn_vtree tree;
    uint32_t level[MOST + 3], parent[MOST + 3], leaf[MOST];
    int64_t  counts[MOST + 3], scratch[MOST + 3];
    uint32_t touched[MOST + 3];
} twin_tree;

/* Leaves 0 .. values - 1, the groups behind them, then the root. */
static void make_tree(twin_tree *t, kn_vreference *r, int values, const int *group, const int64_t *reference)
{
    memset(t, 0, sizeof *t);
    uint32_t root = (uint32_t)values + 2;
    for (int i = 0; i < values; i++) {
        t->leaf[i] = (uint32_t)i;
        t->parent[i] = (uint32_t)(values + group[i]);
        t->counts[i] = reference[i];
        t->counts[values + group[i]] += reference[i];
    }
    t->level[values] = t->level[values + 1] = 1;
    t->parent[values] = t->parent[values + 1] = root;
    t->level[root] = 2;
    t->parent[root] = KN_V_NONE;
    t->tree =
        (kn_vtree){.leaves = (uint32_t)values, .height = 2, .nodes = root + 1, .level = t->level, .parent = t->parent};
    t->tree.leaf_of_value = t->leaf;
    r->tree = &t->tree;
    r->node_counts = t->counts;
    r->node_scratch = t->scratch;
    r->touched = t->touched;
    r->node_sum = 0;
    for (uint32_t i = 0; i < root; i++) r->node_sum += (kn_u128)t->counts[i] * (t->level[t->parent[i]] - t->level[i]);
}

static double naive_reached(const kn_model *m, int values, const int64_t *counts, const int64_t *reference, int64_t n,
                            int64_t all)
{
    double reached = 0, bits = 0;
    int    distinct = 0;
    for (int i = 0; i <= values; i++) distinct += counts[i] > 0;
    for (int i = 0; i <= values; i++) {
        double p = (double)counts[i] / (double)n, q = (double)reference[i] / (double)all;
        if (p > 0) bits += p * log2(1 / p);
        if (m->kind == KN_MODEL_ALPHA_K && p > reached) reached = p;
        if (m->kind == KN_MODEL_BETA_BASIC && p > q && p / q - 1 > reached) reached = p / q - 1;
        if (m->kind == KN_MODEL_DELTA && q > 0 && (p == 0 || fabs(log(p / q)) > reached))
            reached = p == 0 ? INFINITY : fabs(log(p / q));
    }
    if (m->kind == KN_MODEL_DISTINCT) return distinct;
    if (m->kind == KN_MODEL_ENTROPY) return exp2(bits);
    if (m->kind != KN_MODEL_RECURSIVE) return reached;
    int64_t sorted[MOST + 1], tail = 0;
    memcpy(sorted, counts, sizeof sorted);
    for (int i = 0; i <= values; i++)
        for (int j = i + 1; j <= values; j++)
            if (sorted[j] > sorted[i]) {
                int64_t x = sorted[i];
                sorted[i] = sorted[j];
                sorted[j] = x;
            }
    uint64_t l = m->l.numerator;
    for (int i = (int)l - 1; i <= values; i++) tail += sorted[i];
    return l <= 1 ? 0 : tail > 0 ? (double)sorted[0] / (double)tail : INFINITY;
}

static void compare_models(kn_rng *rng, int values, const int64_t *counts, const int64_t *reference)
{
    static const kn_model_kind kinds[] = {KN_MODEL_DISTINCT, KN_MODEL_ENTROPY,    KN_MODEL_RECURSIVE,
                                          KN_MODEL_ALPHA_K,  KN_MODEL_BETA_BASIC, KN_MODEL_DELTA,
                                          KN_MODEL_T_EQUAL,  KN_MODEL_T_ORDERED,  KN_MODEL_T_HIERARCHICAL};
    uint32_t                   codes[MOST + 1];
    int64_t                    own[MOST + 1], n = 0, all = 0;
    int                        group[MOST];
    kn_vbreak                  breaks[2 * (2 * MOST + 2)];
    twin_tree                  tree;
    kn_vhistogram              h = {codes, own, 0, 0};
    kn_vreference              r = {.values = (uint32_t)values, .counts = reference, .breaks = breaks};
    for (int i = 0; i <= values; i++) {
        all += reference[i];
        n += counts[i];
        if (counts[i] == 0) continue;
        codes[h.count] = i == values ? KN_V_MISSING : (uint32_t)i;
        own[h.count++] = counts[i];
    }
    h.total = n;
    r.total = all;
    for (int i = 0; i < values; i++) group[i] = (int)kn_rng_below(rng, 2);
    make_tree(&tree, &r, values, group, reference);
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        kn_model m = {
            .kind = kinds[k], .l = {1 + kn_rng_below(rng, 3), 1}, .c = {1, 1}, .bound = {kn_rng_below(rng, 10), 10}};
        double reached = NAN, twin;
        bool   holds = kn_vmodel_holds(&m, n, &h, &r, &reached), should;
        if (m.kind >= KN_MODEL_T_EQUAL && m.kind <= KN_MODEL_T_HIERARCHICAL) {
            int64_t cost[MOST + 1][MOST + 1], height, supply[MOST + 1];
            naive_distance(m.kind, values, group, cost, &height);
            for (int i = 0; i <= values; i++) supply[i] = counts[i] * all - reference[i] * n;
            int64_t moved = transport(values + 1, supply, cost);
            twin = (double)moved / (double)(height * n * all);
            should = moved * 10 <= (int64_t)m.bound.numerator * height * n * all;
        } else {
            twin = naive_reached(&m, values, counts, reference, n, all);
            double b = (double)m.bound.numerator / 10, l = (double)m.l.numerator;
            should = m.kind == KN_MODEL_DISTINCT || m.kind == KN_MODEL_ENTROPY ? twin >= l - 1e-9
                     : m.kind == KN_MODEL_RECURSIVE                            ? twin < 1
                     : m.kind == KN_MODEL_DELTA                                ? twin < b
                                                                               : twin <= b + 1e-12;
        }
        if (!(twin == reached || fabs(twin - reached) < 1e-9))
            fail_msg("%s: %g instead of %g", kn_model_name(m.kind), reached, twin);
        if (holds != should) fail_msg("%s: holds %d, reached %g", kn_model_name(m.kind), holds, reached);
    }
}

static void test_formulas(void **state)
{
    (void)state;
    kn_rng rng;
    kn_rng_init(&rng, testing_seed(), 1);
    for (int round = 0; round < testing_rounds(3000); round++) {
        int     values = 1 + (int)kn_rng_below(&rng, MOST);
        int64_t counts[MOST + 1] = {0}, reference[MOST + 1] = {0};
        bool    missing = kn_rng_below(&rng, 2);
        for (int i = 0; i <= values; i++) {
            if (i == values && !missing) break;
            reference[i] = 1 + (int64_t)kn_rng_below(&rng, 4);
            counts[i] = (int64_t)kn_rng_below(&rng, 3);
        }
        counts[kn_rng_below(&rng, (uint64_t)values)]++;
        compare_models(&rng, values, counts, reference);
    }
}

static void test_compare(void **state)
{
    (void)state;
    kn_u128 huge = (kn_u128)1 << 100;
    assert_int_equal(kn_v_compare(1, 3, 1, 3), 0);
    assert_true(kn_v_compare(huge, huge + 1, 1, 1) < 0);
    assert_int_equal(kn_v_compare(huge, huge * 2, 1000000000000000000u, 2000000000000000000u), 0);
    assert_true(kn_v_compare(huge + 1, huge * 2, 1000000000000000000u, 2000000000000000000u) > 0);
    assert_true(kn_v_compare(1, 0, 5, 1) > 0);
}

/* ---- The search for originals against all assignments ---- */

/* A small hierarchy; each leaf's labels. */
static const char *const leaves[4][3] = {{"a", "p", "*"}, {"b", "p", "*"}, {"c", "r", "*"}, {"d", "r", "*"}};
static const char        tree_file[] = "a;p;*\nb;p;*\nc;r;*\nd;r;*\n";

/* An integer 1 .. 5 and what may stand for it. */
static bool number_covers(const char *cell, int value)
{
    int low, high;
    if (strcmp(cell, "*") == 0) return true;
    if (sscanf(cell, "[%d-%d]", &low, &high) == 2 || sscanf(cell, "[%d, %d]", &low, &high) == 2)
        return low <= value && value <= high;
    return cell[0] != '{' ? atoi(cell) == value : strchr(cell, '0' + value) != NULL;
}

static bool leaf_covers(const char *cell, int leaf)
{
    for (int i = 0; i < 3; i++)
        if (strcmp(cell, leaves[leaf][i]) == 0) return true;
    return false;
}

typedef struct tiny {
    int  rows, released;
    int  leaf[6], number[6], secret[6];
    char cell[7][16], interval[7][16];
    int  shown[7];
} tiny;

static void random_cells(kn_rng *rng, tiny *t, int row, int leaf, int number)
{
    strcpy(t->cell[row], leaves[leaf][kn_rng_below(rng, 3)]);
    int low = number - (int)kn_rng_below(rng, 3), high = number + (int)kn_rng_below(rng, 3);
    switch (kn_rng_below(rng, 5)) {
    case 0: snprintf(t->interval[row], 16, "%d", number); break;
    case 1: snprintf(t->interval[row], 16, low < 0 ? "[%d, %d]" : "[%d-%d]", low, high); break;
    case 2: snprintf(t->interval[row], 16, "[%d, %d]", low, high); break;
    case 3: snprintf(t->interval[row], 16, "{%d;%d}", number % 5 + 1, number); break;
    default: strcpy(t->interval[row], "*"); break;
    }
}

static void random_tiny(kn_rng *rng, tiny *t)
{
    int order[6];
    t->rows = 1 + (int)kn_rng_below(rng, 6);
    t->released = 0;
    for (int i = 0; i < t->rows; i++) {
        t->leaf[i] = (int)kn_rng_below(rng, 4);
        t->number[i] = 1 + (int)kn_rng_below(rng, 5);
        t->secret[i] = (int)kn_rng_below(rng, 2);
        order[i] = i;
    }
    t->leaf[0] = 0; /* every number occurs in the file of values, see below */
    for (int i = 0; i < t->rows; i++) {
        int j = (int)kn_rng_below(rng, (uint64_t)t->rows), x = order[i];
        order[i] = order[j];
        order[j] = x;
    }
    for (int i = 0; i < t->rows; i++) {
        if (kn_rng_below(rng, 6) == 0) continue;
        t->shown[t->released] = t->secret[order[i]];
        random_cells(rng, t, t->released++, t->leaf[order[i]], t->number[order[i]]);
    }
    for (uint64_t spoil = kn_rng_below(rng, 3); spoil > 0 && t->released > 0; spoil--) {
        int row = (int)kn_rng_below(rng, (uint64_t)t->released);
        if (kn_rng_below(rng, 3) == 0) t->shown[row] = !t->shown[row];
        random_cells(rng, t, row, (int)kn_rng_below(rng, 4), 1 + (int)kn_rng_below(rng, 5));
    }
    if (t->released > 0 && t->released < t->rows && kn_rng_below(rng, 8) == 0) { /* a row twice */
        strcpy(t->cell[t->released], t->cell[0]);
        strcpy(t->interval[t->released], t->interval[0]);
        t->shown[t->released++] = t->shown[0];
    }
}

static bool may_be(const tiny *t, int released, int original)
{
    return t->shown[released] == t->secret[original] && leaf_covers(t->cell[released], t->leaf[original]) &&
           number_covers(t->interval[released], t->number[original]);
}

/* Tries every original for every released row. */
static bool assign(const tiny *t, int row, unsigned used, int *map)
{
    if (row == t->released) return true;
    for (int i = 0; i < t->rows; i++) {
        if (used >> i & 1 || !may_be(t, row, i)) continue;
        map[row] = i;
        if (assign(t, row + 1, used | 1u << i, map)) return true;
    }
    return false;
}

static void write_tiny(const tiny *t, char *original, char *release, size_t size)
{
    snprintf(original, size, "h,i,s\n");
    snprintf(release, size, "h,i,s\n");
    for (int i = 0; i < t->rows; i++)
        snprintf(original + strlen(original), size - strlen(original), "%s,%d,%d\n", leaves[t->leaf[i]][0],
                 t->number[i], t->secret[i]);
    for (int i = 0; i < t->released; i++)
        snprintf(release + strlen(release), size - strlen(release), "%s,\"%s\",%d\n", t->cell[i], t->interval[i],
                 t->shown[i]);
}

static const char tiny_yaml[] =
    HEAD "attributes: {h: {role: quasi, hierarchy: tiny.csv}, i: {role: quasi, type: integer},\n"
         "             s: {role: sensitive, type: integer}}\n"
         "privacy: [{k: 1}]\nsuppressed: drop\nsuppression: 1\n";

static void test_search(void **state)
{
    (void)state;
    kn_rng rng;
    int    proved = 0, refuted = 0;
    kn_rng_init(&rng, testing_seed(), 2);
    file("tiny.csv", tree_file);
    kn_context *ctx = testing_context(1);
    for (int round = 0; round < testing_rounds(1500); round++) {
        tiny t = {0};
        char original[400], release[600], map[200] = "kanon-rowmap 1\n";
        int  of[7];
        random_tiny(&rng, &t);
        write_tiny(&t, original, release, sizeof original);
        bool              can = assign(&t, 0, 0, of);
        kn_verify_report *r = NULL;
        kn_error          err = KN_ERROR_INIT;
        assert_ok(try_verify(&r, ctx, tiny_yaml, original, release, NULL, 0, &err), err);
        kn_assignment wanted = can ? KN_ASSIGNMENT_PROVED : KN_ASSIGNMENT_REFUTED;
        /* A cell that no value of this table can have is unreadable, which the twin does not know of. */
        if (r->assignment != wanted || (can && !r->ok && !tells(r, "neither a value"))) {
            show(r);
            fail_msg("%s instead of %s\n%s\n%s", kn_assignment_name(r->assignment), kn_assignment_name(wanted),
                     original, release);
        }
        kn_verify_report_free(r);
        proved += can;
        refuted += !can;
        for (int i = 0; can && i < t.released; i++) snprintf(map + strlen(map), 20, "%d\n", of[i] + 1);
        if (!can) continue;
        assert_ok(try_verify(&r, ctx, tiny_yaml, original, release, map, 0, &err), err);
        assert_int_equal(r->assignment, KN_ASSIGNMENT_PROVED);
        kn_verify_report_free(r);
    }
    assert_true(proved > testing_least(100) && refuted > testing_least(100));
    testing_context_free(ctx);
}

/* Random graphs with multiplicities: flow against the best of all subsets (Hall). */
static void test_flow(void **state)
{
    (void)state;
    kn_rng rng;
    kn_rng_init(&rng, testing_seed(), 3);
    kn_context *ctx = testing_context(1);
    for (int round = 0; round < testing_rounds(3000); round++) {
        uint32_t nr = 1 + (uint32_t)kn_rng_below(&rng, 5), no = 1 + (uint32_t)kn_rng_below(&rng, 6), r_of[40], o_of[40];
        int64_t  wanted[5], left[6], worst = 0, missing = 0, first_wanted[5], first_left[6];
        bool     edge[5][6] = {{false}}, decided = false;
        size_t   edges = 0;
        for (uint32_t i = 0; i < nr; i++) wanted[i] = 1 + (int64_t)kn_rng_below(&rng, 4);
        for (uint32_t i = 0; i < no; i++) left[i] = 1 + (int64_t)kn_rng_below(&rng, 4);
        for (uint32_t o = 0; o < no; o++)
            for (uint32_t i = 0; i < nr; i++) {
                edge[i][o] = kn_rng_below(&rng, 5) < 2;
                if (!edge[i][o]) continue;
                r_of[edges] = i;
                o_of[edges++] = o;
            }
        memcpy(first_wanted, wanted, sizeof wanted);
        memcpy(first_left, left, sizeof left);
        for (unsigned set = 1; set < 1u << nr; set++) { /* what a set wants beyond all its neighbours have */
            int64_t lack = 0;
            for (uint32_t i = 0; i < nr; i++) lack += set >> i & 1 ? first_wanted[i] : 0;
            for (uint32_t o = 0; o < no; o++) {
                bool near = false;
                for (uint32_t i = 0; i < nr; i++) near = near || (set >> i & 1 && edge[i][o]);
                if (near) lack -= first_left[o];
            }
            if (lack > worst) worst = lack;
        }
        kn_vflow f = {ctx, nr, no, wanted, left, edges, r_of, o_of, 0, 1000000};
        kn_error err = KN_ERROR_INIT;
        assert_ok(kn_vflow_solve(&f, &missing, &decided, &err), err);
        assert_true(decided);
        assert_int_equal(missing, worst);
    }
    testing_context_free(ctx);
}

static void test_undecided(void **state)
{
    (void)state;
    file("tiny.csv", tree_file);
    kn_context       *ctx = testing_context(1);
    kn_error          err = KN_ERROR_INIT;
    kn_verify_report *r = NULL;
    const char       *original = "h,i,s\na,1,0\nb,2,0\nc,3,0\n", *release = "h,i,s\n*,[1-2],0\n*,[2-3],0\n*,[1-3],0\n";
    assert_ok(try_verify(&r, ctx, tiny_yaml, original, release, NULL, 3, &err), err);
    assert_int_equal(r->assignment, KN_ASSIGNMENT_UNDECIDED);
    assert_int_equal(r->outcome, KN_OUTCOME_UNDECIDED);
    assert_false(r->ok);
    assert_int_equal(r->problem_count, 0);
    assert_int_equal(r->open_count, 1);
    assert_non_null(strstr(r->open[0], "give the row map"));
    kn_verify_report_free(r);
    assert_ok(try_verify(&r, ctx, tiny_yaml, original, release, NULL, 0, &err), err);
    assert_true(r->ok);
    assert_int_equal(r->outcome, KN_OUTCOME_HOLDS);
    assert_int_equal(r->open_count, 0);
    kn_verify_report_free(r);
    /* What is wrong is wrong, whatever else was not decided. */
    assert_ok(try_verify(&r, ctx, tiny_yaml, original, "h,i,s\n*,[1-2],0\n*,[2-3],0\n*,[1-3],9\n", NULL, 3, &err), err);
    assert_int_equal(r->outcome, KN_OUTCOME_FAILS);
    kn_verify_report_free(r);
    testing_context_free(ctx);
}

/* ---- The reader ---- */

/* Pieces of any size and any number of threads give what one piece gives. */
static void test_pieces(void **state)
{
    (void)state;
    kn_rng rng;
    kn_rng_init(&rng, testing_seed(), 4);
    for (int round = 0; round < testing_rounds(60); round++) {
        char   text[4000] = "x,y\n";
        size_t n = 4;
        int    rows = (int)kn_rng_below(&rng, 60);
        for (int i = 0; i < rows; i++) switch (kn_rng_below(&rng, 4)) {
            case 0: n += (size_t)snprintf(text + n, sizeof text - n, "\"a\n%d\",\"b\"\"%d\"\r\n", i % 5, i % 3); break;
            case 1: n += (size_t)snprintf(text + n, sizeof text - n, "it\"s,%d\n", i); break;
            default: n += (size_t)snprintf(text + n, sizeof text - n, "%d,\n\n", i % 7); break;
            }
        const char    *path = testing_file("pieces.csv", text, n), *names[] = {"y", "x"};
        kn_csv_options csv = KN_CSV_OPTIONS_INIT;
        csv.delimiter = ',';
        kn_vtable  *t[2] = {NULL, NULL};
        kn_context *ctx[2] = {testing_context(1), testing_context(3)};
        kn_error    err = KN_ERROR_INIT;
        for (int i = 0; i < 2; i++) {
            kn_vread_options o = {.csv = &csv, .columns = names, .column_count = 2, .digest = true};
            o.piece = i == 0 ? 1 << 16 : 1 + kn_rng_below(&rng, 40);
            assert_ok(kn_vtable_read(&t[i], ctx[i], &path, 1, &o, &err), err);
        }
        assert_int_equal(t[0]->rows, rows);
        assert_int_equal(t[1]->rows, rows);
        assert_string_equal(t[0]->sha256, t[1]->sha256);
        for (int c = 0; c < 2; c++) {
            const kn_vcolumn *a = &t[0]->columns[c], *b = &t[1]->columns[c];
            assert_int_equal(a->count, b->count);
            for (int64_t row = 0; row < rows; row++) {
                assert_int_equal(kn_vcode(a, row), kn_vcode(b, row));
                assert_true(kn_string_equal(a->texts[kn_vcode(a, row)], b->texts[kn_vcode(b, row)]));
            }
        }
        for (int i = 0; i < 2; i++) {
            kn_vtable_free(t[i]);
            testing_context_free(ctx[i]);
        }
    }
}

/* Codes of two and four bytes. */
static void test_wide_codes(void **state)
{
    (void)state;
    size_t room = 70000 * 8, n = 0;
    char  *text = malloc(room);
    assert_non_null(text);
    n += (size_t)snprintf(text, room, "v\n");
    for (int i = 0; i < 70000; i++) n += (size_t)snprintf(text + n, room - n, "%d\n", i);
    const char      *path = testing_file("wide.csv", text, n), *name = "v";
    kn_csv_options   csv = KN_CSV_OPTIONS_INIT;
    kn_vread_options o = {.csv = &csv, .columns = &name, .column_count = 1, .piece = 4096};
    kn_context      *ctx = testing_context(2);
    kn_vtable       *t = NULL;
    kn_error         err = KN_ERROR_INIT;
    assert_ok(kn_vtable_read(&t, ctx, &path, 1, &o, &err), err);
    assert_int_equal(t->rows, 70000);
    assert_int_equal(t->columns[0].width, 4);
    for (int64_t row = 0; row < t->rows; row++) assert_int_equal(kn_vcode(&t->columns[0], row), row);
    kn_vtable_free(t);
    testing_context_free(ctx);
    free(text);
}

/* ---- Failures ---- */

static void test_allocation(void **state)
{
    (void)state;
    file("tiny.csv", tree_file);
    static const char models[] =
        "privacy: [{k: 1}, {l-diversity: {kind: distinct, l: 1}}, {t-closeness: {distance: ordered, "
        "t: 1}}]\nsuppressed: drop\nsuppression: 1\n";
    char yaml[1000];
    snprintf(yaml, sizeof yaml, "%.*s%s", (int)(strstr(tiny_yaml, "privacy") - tiny_yaml), tiny_yaml, models);
    const char *original = "h,i,s\na,1,0\nb,2,0\nc,3,1\n", *release = "h,i,s\n*,[1-2],0\n*,{2;3},0\n*,[1-3],1\n";
    for (int with_map = 0; with_map < 2; with_map++) {
        bool done = false;
        for (int64_t at = 0; !done; at += testing_step()) {
            testing_allocator counting = {.refuse_at = at};
            kn_context       *ctx = NULL;
            kn_error          err = KN_ERROR_INIT;
            kn_verify_report *r = NULL;
            if (testing_refusing_context(&ctx, &counting, 1, &err) == KN_OK) {
                kn_status st = try_verify(&r, ctx, yaml, original, release,
                                          with_map ? "kanon-rowmap 1\n1\n2\n3\n" : NULL, 0, &err);
                done = st == KN_OK && counting.requests <= at;
                if (st == KN_OK && counting.requests <= at) assert_true(r->ok);
                if (st != KN_OK) assert_int_equal(st, KN_MEMORY);
                if (st != KN_OK) assert_null(r);
                kn_verify_report_free(r);
                kn_context_free(ctx);
            }
            assert_int_equal(counting.live, 0);
        }
    }
}

static void test_bad_call(void **state)
{
    (void)state;
    kn_context       *ctx = testing_context(1);
    kn_error          err = KN_ERROR_INIT;
    kn_spec          *spec = NULL;
    kn_verify_report *r = NULL;
    kn_verify_options options = {0};
    assert_ok(kn_spec_create(&spec, ctx, &err), err);
    assert_int_equal(kn_verify(&r, ctx, spec, &options, &err), KN_USAGE);
    assert_int_equal(kn_verify(&r, ctx, spec, NULL, &err), KN_USAGE);
    kn_spec_free(spec);
    kn_verify_report_free(NULL);
    testing_context_free(ctx);
}

/* At most 100 problems, in the order of the rows and columns. */
static void test_many_problems(void **state)
{
    (void)state;
    char   yaml[20000] = HEAD "attributes:\n", original[4000] = "", release[4000] = "", cells[2][2000] = {"", ""};
    size_t columns = 60;
    for (size_t c = 0; c < columns; c++) {
        snprintf(yaml + strlen(yaml), 60, "  c%zu: {role: %s}\n", c, c == 0 ? "quasi" : "keep");
        snprintf(original + strlen(original), 12, "%sc%zu", c ? "," : "", c);
        strcat(cells[0], c ? ",x" : "x");
        strcat(cells[1], c ? ",y" : "y");
    }
    strcat(yaml, "privacy: [{k: 1}]\nforce: true\n");
    strcpy(release, original);
    for (int row = 0; row < 2; row++) {
        snprintf(original + strlen(original), 300, "\n%s", cells[row]);
        snprintf(release + strlen(release), 300, "\n%s", cells[!row]);
    }
    kn_context       *ctx = testing_context(2);
    kn_error          err = KN_ERROR_INIT;
    kn_verify_report *r = NULL;
    assert_ok(try_verify(&r, ctx, yaml, original, release, "kanon-rowmap 1\n1\n2\n", 0, &err), err);
    assert_false(r->ok);
    assert_int_equal(r->problem_count, 100);
    assert_true(r->more_problems);
    assert_string_equal(r->problems[0], "row 1, column \"c0\": the cell does not stand for the original's value");
    assert_string_equal(r->problems[3], "row 2, column \"c1\": the cell is not the original's");
    kn_verify_report_free(r);
    testing_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good),
        cmocka_unit_test(test_spoiled),
        cmocka_unit_test(test_map),
        testing_alone(test_unreadable),
        cmocka_unit_test(test_forms),
        cmocka_unit_test(test_all_at_the_top),
        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_suppressed_modes),
        cmocka_unit_test(test_missing_dropped),
        cmocka_unit_test(test_pseudonyms),
        cmocka_unit_test(test_pseudonym_key),
        cmocka_unit_test(test_entity),
        cmocka_unit_test(test_models_in_files),
        cmocka_unit_test(test_population),
        testing_alone(test_formulas),
        testing_alone(test_compare),
        testing_alone(test_search),
        testing_alone(test_flow),
        testing_alone(test_undecided),
        cmocka_unit_test(test_pieces),
        cmocka_unit_test(test_wide_codes),
        testing_alone(test_allocation),
        testing_alone(test_bad_call),
        cmocka_unit_test(test_many_problems),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
