/* test_verify_edges.c: the verifier where one more or one less decides: the last release that may pass, and beside it the
 * first that must not. */
#include "verify_testing.h"

/* ---- Rows ---- */

/* A share of the rows may be suppressed: of those that are left once rows with missing cells are gone. */
static void the_budget_is_of_the_rows_that_take_part(void **state)
{
    (void)state;
#define BUDGET(more)                                                                                                   \
    HEAD "attributes: {a: {role: quasi}, s: {role: sensitive}}\nprivacy: [{k: 2}]\nmissing: drop\nsuppression: "       \
         "20%\n" more
#define MISSING ",n\n,n\n,n\n,n\n,n\n,n\n,n\n,n\n,n\n,n\n"
    const char *two = "a,s\n1,u\n1,u\n1,u\n1,u\n2,v\n2,v\n2,v\n2,v\n3,w\n4,w\n" MISSING;
    const char *three = "a,s\n1,u\n1,u\n1,u\n1,u\n2,v\n2,v\n2,v\n3,w\n4,w\n5,w\n" MISSING;
    const char *shown = "a,s\n1,u\n1,u\n1,u\n1,u\n2,v\n2,v\n2,v\n";
    char        release[200];
    snprintf(release, sizeof release, "%s2,v\n*,*\n*,*\n", shown);
    expect(BUDGET(""), two, release, NULL, NULL);
    snprintf(release, sizeof release, "%s*,*\n*,*\n*,*\n", shown);
    expect(BUDGET(""), three, release, NULL, "3 rows are suppressed, at most 2 may be");
    snprintf(release, sizeof release, "%s2,v\n", shown);
    expect(BUDGET("suppressed: drop\n"), two, release, NULL, NULL);
    expect(BUDGET("suppressed: drop\n"), three, shown, NULL, "3 rows are suppressed, at most 2 may be");
}

/* ---- Cells ---- */

#define P32 "0123456789abcdef0123456789abcdef"

static void a_pseudonym_is_32_hexadecimal_digits(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool        good;
    } cases[] = {
        {P32, true},
        {"0123456789abcdef0123456789abcde", false},
        {P32 "0", false},
        {P32 P32, false},
        {"0123456789abcdef", false},
        {"0123456789abcdef0123456789abcdeF", false},
        {"0123456789abcdef0123456789abcdeg", false},
        {"0123456789abcdef0123456789abcde/", false},
        {"0123456789abcdef0123456789abcde:", false},
        {"0123456789abcdef0123456789abcde`", false},
    };
    const char *yaml = HEAD "attributes: {n: {role: identifier, pseudonym: {key-file: none.key}}, a: {role: quasi}}\n"
                            "privacy: [{k: 2}]\n";
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int map = 0; map < 2; map++) {
            char release[200];
            snprintf(release, sizeof release, "n,a\n%s,1\nfedcba9876543210fedcba9876543210,1\n", cases[i].text);
            expect(yaml, "n,a\nAnn,1\nBob,1\n", release, map ? "kanon-rowmap 1\n1\n2\n" : NULL,
                   cases[i].good ? NULL : "row 1, column \"n\": not a pseudonym");
        }
}

/* ---- Promises ---- */

/* Two of ten and two of four: nobody is absent from all classes, so min alone decides. */
static void presence_has_a_least_share(void **state)
{
    (void)state;
    file("population.csv", "a\n1\n1\n1\n1\n1\n1\n1\n1\n1\n1\n2\n2\n2\n2\n");
    static const struct {
        const char *bounds, *problem;
    } cases[] = {
        {"min: 0, max: 0.5", NULL},
        {"min: 0.2, max: 0.5", NULL},
        {"min: 0.21, max: 0.5", "delta-presence: 1 class of 2 fails, the first in row 1"},
        {"min: 0.5, max: 0.5", "delta-presence: 1 class of 2 fails, the first in row 1"},
        {"min: 0.2, max: 0.49", "delta-presence: 1 class of 2 fails, the first in row 3"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char yaml[400];
        snprintf(yaml, sizeof yaml,
                 HEAD "attributes: {a: {role: quasi}}\npopulation: population.csv\nprivacy: [{delta-presence: {%s}}]\n",
                 cases[i].bounds);
        expect(yaml, "a\n1\n1\n2\n2\n", "a\n1\n1\n2\n2\n", NULL, cases[i].problem);
        expect(yaml, "a\n1\n1\n2\n2\n", "a\n1\n1\n2\n2\n", "kanon-rowmap 1\n1\n2\n3\n4\n", cases[i].problem);
    }
}

/* A class of three of whom two are known: with k = 3 nothing may be said of them, with k = 2 the truth must. */
static void a_statistic_needs_k_known_cells(void **state)
{
    (void)state;
#define SUMMARY(k) HEAD "attributes: {a: {role: quasi, type: integer}, b: {role: quasi}}\nprivacy: [{k: " k "}]\n"
#define FIGURES(f) "a,b,rows,a_min,a_max,a_mean\n*,x,3," f "\n"
    const char *wrong = "row 1 of the summary, column \"a_m";
    verify_case c = {.yaml = SUMMARY("3"), .original = "a,b\n11,x\n14,x\n,x\n", .release = "a,b\n*,x\n*,x\n*,x\n"};
    static const struct {
        const char *figures;
        bool        three, two;
    } cases[] = {
        {",,", true, false},          {"11,14,12.5", false, true},  {"11,,", false, false},
        {",14,", false, false},       {",,12.5", false, false},     {"11,14,", false, false},
        {"12,14,12.5", false, false}, {"11,13,12.5", false, false}, {"11,14,12.6", false, false},
    };
    c.map = "kanon-rowmap 1\n1\n2\n3\n";
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char summary[200];
        snprintf(summary, sizeof summary, FIGURES("%s"), cases[i].figures);
        c.summary = summary;
        c.yaml = SUMMARY("3");
        expect_case(&c, cases[i].three ? NULL : wrong);
        c.yaml = SUMMARY("2");
        expect_case(&c, cases[i].two ? NULL : wrong);
    }
}

/* Every pair of left and right in at least k rows. */
static void a_dependency_with_k_needs_k_rows(void **state)
{
    (void)state;
    const char *two = "a,b\n1,x\n1,x\n1,x\n2,y\n2,y\n", *three = "a,b\n1,x\n1,x\n1,x\n2,y\n2,y\n2,y\n";
#define PAIRS(k)                                                                                                       \
    HEAD "attributes: {a: {role: quasi}, b: {role: quasi}}\nprivacy: [{k: 2}]\ndependencies: [\"a -" k "-> b\"]\n"
    expect(PAIRS("3"), three, three, NULL, NULL);
    expect(PAIRS("3"), two, two, NULL, "does not hold in the release: 1 group of rows violates it");
    expect(PAIRS("2"), two, two, NULL, NULL);
    expect(PAIRS("4"), three, three, NULL, "does not hold in the release: 2 groups of rows violate it");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_budget_is_of_the_rows_that_take_part),
        cmocka_unit_test(a_pseudonym_is_32_hexadecimal_digits),
        cmocka_unit_test(presence_has_a_least_share),
        cmocka_unit_test(a_statistic_needs_k_known_cells),
        cmocka_unit_test(a_dependency_with_k_needs_k_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
