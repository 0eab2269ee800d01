/* test_verify_edges.c: the verifier where one more or one less decides: the last release that may pass, and beside it the
 * first that must not.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "kn_hash.h"
#include "kn_verify_internal.h"
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

/* The columns that a dependency does not name count in A ->> B. */
static void dependencies_of_every_kind(void **state)
{
    (void)state;
#define DEPENDENCY(d)                                                                                                  \
    HEAD "attributes: {a: {role: quasi}, b: {role: sensitive}, c: {role: keep}}\nprivacy: [{k: 2}]\n"                  \
         "dependencies: [\"" d "\"]\n"
    const char *broken = "does not hold in the release: 1 group of rows violates it";
    const char *pairs = "a,b,c\n1,x,p\n1,y,q\n2,x,p\n2,x,q\n2,y,p\n2,y,q\n";
    expect(DEPENDENCY("a ->> b"), pairs, pairs, NULL, broken);
    expect(DEPENDENCY("a ->> c"), pairs, pairs, NULL, broken);
    const char *product = "a,b,c\n1,x,p\n1,x,q\n1,y,p\n1,y,q\n2,x,p\n2,x,p\n";
    expect(DEPENDENCY("a ->> b"), product, product, NULL, NULL);
    expect(DEPENDENCY("a ->> c"), product, product, NULL, NULL);
    const char *beside = "a,b,c\n1,x,p\n1,x,q\n1,y,p\n1,y,q\n1,z,p\n1,z,q\n2,x,p\n2,x,q\n2,y,r\n";
    expect(DEPENDENCY("a ->> b"), beside, beside, NULL, broken);
    expect(DEPENDENCY("a -> b"), product, product, NULL, broken);
    expect(DEPENDENCY("b -> a"), product, product, NULL, broken);
    const char *functional = "a,b,c\n1,x,p\n1,x,q\n2,y,p\n2,y,q\n";
    expect(DEPENDENCY("a -> b"), functional, functional, NULL, NULL);
    expect(DEPENDENCY("b -> a"), functional, functional, NULL, NULL);
    expect(DEPENDENCY("a, c -> b"), functional, functional, NULL, NULL);
    expect(DEPENDENCY("a -> c"), functional, functional, NULL, "2 groups of rows violate it");
    /* Suppressed rows show nothing: they keep no dependency and break none. */
    expect(DEPENDENCY("a -> b") "suppression: {rows: 1}\n", "a,b,c\n1,x,p\n1,x,q\n1,y,p\n",
           "a,b,c\n1,x,p\n1,x,q\n*,*,*\n", NULL, NULL);
}

/* ---- Labels ---- */

/* Each value is shown as its label, in two rows. */
static void labels(const char *attribute, const char *const (*pairs)[2], size_t count, bool good)
{
    char   yaml[400], original[4000] = "a,b\n", release[4000] = "a,b\n", map[1000] = "kanon-rowmap 1\n";
    size_t at = strlen(original), to = at, m = strlen(map);
    for (size_t i = 0; i < 2 * count; i++) {
        at += (size_t)snprintf(original + at, sizeof original - at, "%s,x\n", pairs[i / 2][0]);
        to += (size_t)snprintf(release + to, sizeof release - to, "%s,x\n", pairs[i / 2][1]);
        m += (size_t)snprintf(map + m, sizeof map - m, "%zu\n", i + 1);
    }
    snprintf(yaml, sizeof yaml, HEAD "attributes: {a: %s, b: {role: keep}}\nprivacy: [{k: 2}]\n", attribute);
    expect(yaml, original, release, map, good ? NULL : "column \"a\"");
    if (good) expect(yaml, original, release, NULL, NULL); /* otherwise rows might change places */
}

/* Half past one, without a zone, is on the day that the text says, although it is the day before in UTC. */
static void clocks_of_a_place(void **state)
{
    (void)state;
    static const char original[] = "a\n2024-02-01T01:30:00\n2024-02-10T12:00:00Z\n";
#define CLOCK(zone)                                                                                                    \
    HEAD "timezone: \"" zone "\"\nattributes: {a: {role: quasi, type: datetime, hierarchy: {calendar: [month, "        \
         "year]}}}\nprivacy: [{k: 1}]\n"
    expect(CLOCK("+02:00"), original, "a\n2024-M02\n2024-M02\n", NULL, NULL);
    expect(CLOCK("+02:00"), original, "a\n2024-M01\n2024-M02\n", NULL, "cannot come from the original");
    expect(CLOCK("+00:00"), original, "a\n2024-M02\n2024-M02\n", NULL, NULL);
    static const char late[] = "a\n2024-01-31T23:30:00Z\n2024-02-10T12:00:00Z\n";
    expect(CLOCK("+02:00"), late, "a\n2024-M02\n2024-M02\n", NULL, NULL);
    expect(CLOCK("+00:00"), late, "a\n2024-M02\n2024-M02\n", NULL, "cannot come from the original");
}

/* A set with a missing member, where the empty text is not how a missing cell is spelled. */
static void sets_with_a_missing_member(void **state)
{
    (void)state;
    const char *yaml = HEAD "na: [NA]\nattributes: {a: {role: quasi}}\nprivacy: [{k: 2}]\nmethod: kmsd\n";
    expect(yaml, "a\nNA\nx\n", "a\n{;x}\n{;x}\n", NULL, NULL);
    expect(yaml, "a\nNA\ny\n", "a\n{;x}\n{;x}\n", NULL, "cannot come from the original");
    /* The empty text is a value here, and another one. */
    yaml = HEAD "na: [NA]\nattributes: {a: {role: quasi}, b: {role: quasi}}\nprivacy: [{k: 2}]\nmethod: kmsd\n";
    expect(yaml, "a,b\nNA,1\nx,1\n,2\n,2\n", "a,b\n{;x},1\n{;x},1\n,2\n,2\n", NULL, NULL);
}

/* What a count must be, in both files. */
static void counts_of_rows(void **state)
{
    (void)state;
    static const char *const wrong[][2] = {{"y,-1", "row 2: a negative number"},
                                           {"y,", "row 2: the cell is missing"},
                                           {"y,1.5", "row 2: not an integer"},
                                           {"y,9007199254740989", "row 2: there are too many rows by here"}};
    const char              *yaml = HEAD "attributes: {a: {role: quasi}, n: {role: count}}\nprivacy: [{k: 1}]\n";
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char original[100];
        snprintf(original, sizeof original, "a,n\nx,3\n%s\n", wrong[i][0]);
        expect_error(yaml, original, "a,n\nx,3\ny,1\n", NULL, KN_INPUT, wrong[i][1]);
    }
    expect(yaml, "a,n\nx,9007199254740991\n", "a,n\nx,9007199254740991\n", NULL, NULL);
    expect(yaml, "a,n\nx,3\n", "a,n\nx,03\n", NULL, "not a number of rows as a release writes it");
}

/* A highest level above the hierarchy's is its own. */
static void levels_that_are_asked_for(void **state)
{
    (void)state;
    file("levels.csv", "a;A;*\nb;A;*\n");
    const char *yaml =
        HEAD "attributes: {a: {role: quasi, hierarchy: levels.csv, min-level: 1, max-level: 9}}\nprivacy: "
             "[{k: 1}]\nmethod: optimal\n";
    expect(yaml, "a\na\nb\n", "a\nA\nA\n", NULL, NULL);
    expect(yaml, "a\na\nb\n", "a\na\nb\n", NULL, "one of the levels 1 to 2, which were asked for");
}

/* A label that stands on two levels for different values: the original tells which node a cell shows. */
static void labels_of_two_nodes(void **state)
{
    (void)state;
    kn_context       *ctx = testing_context(1);
    kn_error          err = KN_ERROR_INIT;
    kn_verify_report *r = NULL;
    file("two.csv", "a;S;R;*\nb;T;S;*\nd;T;S;*\nc;U;R;*\n");
    const char *yaml = HEAD "attributes: {a: {role: quasi, hierarchy: two.csv}}\nprivacy: [{k: 1}]\nmethod: mondrian\n";
    assert_ok(try_verify(&r, ctx, yaml, "a\na\nb\nc\nd\n", "a\nS\nb\nc\nT\n", "kanon-rowmap 1\n1\n2\n3\n4\n", 0, &err),
              err);
    assert_true(r->ok);
    assert_close(kn_verified_metric(r, KN_METRIC_LM), 1.0 / 3 / 4); /* T: one of three steps; S of a alone: none */
    kn_verify_report_free(r);
    testing_context_free(ctx);
}

/* The first and last days of months, quarters, years and decades, leap years of every kind, days before 1970. */
static void days_of_the_calendar(void **state)
{
    (void)state;
    static const char *const months[][2] = {
        {"0001-01-01", "0001-M01"}, {"0001-12-31", "0001-M12"}, {"1582-10-10", "1582-M10"}, {"1600-02-29", "1600-M02"},
        {"1899-12-31", "1899-M12"}, {"1900-02-28", "1900-M02"}, {"1900-03-01", "1900-M03"}, {"1904-02-29", "1904-M02"},
        {"1969-12-31", "1969-M12"}, {"1970-01-01", "1970-M01"}, {"1996-01-31", "1996-M01"}, {"1996-02-01", "1996-M02"},
        {"1996-02-29", "1996-M02"}, {"1996-03-01", "1996-M03"}, {"1996-03-31", "1996-M03"}, {"1996-04-30", "1996-M04"},
        {"1996-05-31", "1996-M05"}, {"1996-07-31", "1996-M07"}, {"1996-08-31", "1996-M08"}, {"1996-12-31", "1996-M12"},
        {"1997-01-01", "1997-M01"}, {"1997-02-28", "1997-M02"}, {"1997-03-01", "1997-M03"}, {"2000-02-29", "2000-M02"},
        {"2000-12-31", "2000-M12"}, {"2001-01-01", "2001-M01"}, {"2100-02-28", "2100-M02"}, {"2100-03-01", "2100-M03"},
        {"2400-02-29", "2400-M02"}, {"9999-12-31", "9999-M12"},
    };
    static const char *const quarters[][2] = {
        {"1999-01-01", "1999-Q1"}, {"1999-03-31", "1999-Q1"}, {"1999-04-01", "1999-Q2"}, {"1999-06-30", "1999-Q2"},
        {"1999-07-01", "1999-Q3"}, {"1999-09-30", "1999-Q3"}, {"1999-10-01", "1999-Q4"}, {"1999-12-31", "1999-Q4"},
        {"2000-12-31", "2000-Q4"}, {"2001-01-01", "2001-Q1"},
    };
    static const char *const decades[][2] = {{"1969-12-31", "\"[1960-01-01, 1969-12-31]\""},
                                             {"1970-01-01", "\"[1970-01-01, 1979-12-31]\""},
                                             {"1979-12-31", "\"[1970-01-01, 1979-12-31]\""},
                                             {"1980-01-01", "\"[1980-01-01, 1989-12-31]\""},
                                             {"1985-06-15", "1985"},
                                             {"2000-01-01", "\"[2000-01-01, 2009-12-31]\""}};
    const char              *date = "{role: quasi, type: date, hierarchy: {calendar: [month, quarter, year, decade]}}";
    labels(date, months, sizeof months / sizeof *months, true);
    labels(date, quarters, sizeof quarters / sizeof *quarters, true);
    labels(date, decades, sizeof decades / sizeof *decades, true);
    static const char *const wrong[][2] = {{"1996-02-29", "1996-M03"},
                                           {"1996-03-01", "1996-M02"},
                                           {"1999-04-01", "1999-Q1"},
                                           {"1999-12-31", "2000"},
                                           {"1970-01-01", "1969"},
                                           {"2000-01-01", "1999"},
                                           {"1979-12-31", "\"[1980-01-01, 1989-12-31]\""},
                                           {"1900-03-01", "1900-M02"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const char *const both[][2] = {{wrong[i][0], wrong[i][1]},
                                       {"1996-02-28", "1996-M02"},
                                       {"1999-03-31", "1999-Q1"},
                                       {"2000-12-31", "2000"},
                                       {"1969-12-31", "1969"},
                                       {"1999-01-01", "1999"},
                                       {"1980-01-01", "\"[1980-01-01, 1989-12-31]\""},
                                       {"1900-02-28", "1900-M02"}};
        labels(date, both, sizeof both / sizeof *both, false);
    }
}

/* Days and moments in one column: a released day of a datetime is its beginning, in UTC. */
static void moments(void **state)
{
    (void)state;
    const char              *moment = "{role: quasi, type: datetime, hierarchy: {calendar: [day, month, year]}}";
    static const char *const days[][2] = {
        {"1969-12-31T23:59:59", "1969-12-31"}, {"1970-01-01T00:00:00", "1970-01-01"},
        {"1970-01-01T23:59:59", "1970-01-01"}, {"1970-01-02T00:00:00", "1970-01-02"},
        {"1968-02-29T12:00:00", "1968-M02"},   {"1969-01-01T00:00:00", "1969"},
        {"2000-02-29T23:59:59", "2000-02-29"},
    };
    labels(moment, days, sizeof days / sizeof *days, true);
    static const char *const wrong[][2] = {{"1969-12-31T23:59:59", "1970-01-01"},
                                           {"1970-01-01T00:00:00", "1970-01-01"},
                                           {"1969-12-31T00:00:00", "1969-12-31"}};
    labels(moment, wrong, 3, false);
    const char              *plain = "{role: quasi, type: datetime}";
    static const char *const between[][2] = {{"2001-05-06T10:00:00", "\"[2001-05-06, 2001-05-07]\""},
                                             {"2001-05-07T00:00:00", "\"[2001-05-06, 2001-05-07]\""},
                                             {"2001-05-06T00:00:00", "\"[2001-05-06, 2001-05-07]\""},
                                             {"2001-05-08T00:00:00", "2001-05-08"}};
    labels(plain, between, 4, true);
    static const char *const outside[][2] = {{"2001-05-07T00:00:01", "\"[2001-05-06, 2001-05-07]\""},
                                             {"2001-05-06T00:00:00", "\"[2001-05-06, 2001-05-07]\""}};
    labels(plain, outside, 2, false);
}

/* ---- Row maps ---- */

/* So many different cells that pairs of them are kept by hashing. */
static void many_pairs(void **state)
{
    (void)state;
    enum { ROWS = 6000 };
    char *original = malloc(ROWS * 20), *release = malloc(ROWS * 30), *map = malloc(ROWS * 10 + 40);
    assert_true(original && release && map);
    const char *yaml = HEAD "attributes: {a: {role: quasi, type: integer}, b: {role: keep}}\nprivacy: [{k: 2}]\n";
    for (int spoiled = 0; spoiled < 3; spoiled++) {
        size_t o = (size_t)sprintf(original, "a,b\n"), r = (size_t)sprintf(release, "a,b\n"),
               m = (size_t)sprintf(map, "kanon-rowmap 1\n");
        for (int i = 0; i < ROWS; i++) {
            int value = 3 * i, low = 3 * (i - i % 2), far = spoiled && i / 2 == (spoiled == 1 ? 0 : ROWS / 2 - 1);
            o += (size_t)sprintf(original + o, "%d,x\n", value);
            r += (size_t)sprintf(release + r, "\"[%d, %d]\",x\n", low, low + (far ? 2 : 3));
            m += (size_t)sprintf(map + m, "%d\n", i + 1);
        }
        expect(yaml, original, release, map, spoiled ? "column \"a\"" : NULL);
    }
    free(original);
    free(release);
    free(map);
}

/* ---- Claims ---- */

/* A level that is claimed must be that of every cell. */
static void claimed_levels(void **state)
{
    (void)state;
    static const struct {
        int  levels[2];
        bool good;
    } cases[] = {{{1, 0}, true},  {{0, 0}, false}, {{2, 0}, false}, {{1, 1}, false},
                 {{-1, 0}, true}, {{1, -1}, true}, {{9, 0}, false}, {{1, 99}, false}};
    verify_case c = {.yaml =
                         HEAD "attributes: {a: {role: quasi, type: integer, hierarchy: {ranges: [10, 20]}}, b: {role: "
                              "quasi}}\nprivacy: [{k: 2}]\n",
                     .original = "a,b\n11,x\n12,x\n23,x\n24,x\n",
                     .release = "a,b\n\"[10, 19]\",x\n\"[10, 19]\",x\n\"[20, 29]\",x\n\"[20, 29]\",x\n",
                     .level_count = 2};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int map = 0; map < 2; map++) {
            c.levels = cases[i].levels;
            c.map = map ? "kanon-rowmap 1\n1\n2\n3\n4\n" : NULL;
            expect_case(&c, cases[i].good ? NULL : "its cells are not those of level");
        }
}

/* ---- Reading ---- */

static void cells_that_mean_nothing(void **state)
{
    (void)state;
    const char *yaml = HEAD "attributes: {a: {role: quasi}, b: {role: quasi}}\nprivacy: [{k: 2}]\n";
    expect(yaml, "a,b\n1,x\n1,x\n", "a,b\n7,x\n1,x\n", NULL, "row 1, column \"a\": neither a value of the original");
    expect(yaml, "a,b\n1,x\n1,x\n", "a,b\n1,x\n1,y\n", NULL, "row 2, column \"b\": neither a value of the original");
}

static void a_database_is_no_table(void **state)
{
    (void)state;
    expect_error(
        "kanon: 1\ninput: db/\noutput: out/\nentity: {table: p}\ntables: {p: {attributes: {a: {role: quasi}}}}\n"
        "privacy: [{k: 2}]\n",
        "a\n1\n1\n", "a\n1\n1\n", NULL, KN_USAGE, "");
}

/* ---- Populations and weights ---- */

/* Rows that are left out because a cell is missing stand for nobody. */
static void weights_of_rows_that_take_part(void **state)
{
    (void)state;
#define WEIGHED(k)                                                                                                     \
    HEAD "attributes: {a: {role: quasi}, w: {role: weight}}\nmissing: drop\nprivacy: [{k-map: {k: " k "}}]\n"
    const char *original = "a,w\n1,2\n1,3\n,7\n2,4\n2,1\n", *release = "a,w\n*,2\n*,3\n*,4\n*,1\n";
    expect(WEIGHED("10"), original, release, NULL, NULL);
    expect(WEIGHED("11"), original, release, NULL, "k-map: 1 class of 1 fails");
    expect(WEIGHED("5"), original, "a,w\n1,2\n1,3\n2,4\n2,1\n", NULL, NULL);
    expect(WEIGHED("6"), original, "a,w\n1,2\n1,3\n2,4\n2,1\n", NULL, "k-map: 2 classes of 2 fail");
    expect_error(WEIGHED("2"), "a,w\n1,2\n1,-3\n", "a,w\n1,2\n1,-3\n", NULL, KN_INPUT, "not a positive number");
}

/* Tenths are counted exactly: ten of them are one person, nine are none. */
static void weights_with_decimals(void **state)
{
    (void)state;
    char original[400] = "a,w\n";
    for (int i = 0; i < 20; i++) strcat(original, i % 2 ? "1,0.1\n" : "1,0.10\n");
#define TENTHS(k) HEAD "attributes: {a: {role: quasi}, w: {role: weight}}\nprivacy: [{k-map: {k: " k "}}]\n"
    expect(TENTHS("2"), original, original, NULL, NULL);
    expect(TENTHS("3"), original, original, NULL, "k-map");
    original[strlen(original) - 7] = '\0'; /* one row less: 1.9 */
    expect(TENTHS("2"), original, original, NULL, "k-map");
    expect(TENTHS("1"), original, original, NULL, NULL);
    expect(TENTHS("5"), "a,w\n1,2.5e0\n1,25e-1\n", "a,w\n1,2.5e0\n1,25e-1\n", NULL, NULL);
    expect(TENTHS("6"), "a,w\n1,2.5e0\n1,25e-1\n", "a,w\n1,2.5e0\n1,25e-1\n", NULL, "k-map");
    expect(TENTHS("1500"), "a,w\n1,1e3\n1,500.0000001\n", "a,w\n1,1e3\n1,500.0000001\n", NULL, NULL);
    expect(TENTHS("1501"), "a,w\n1,1e3\n1,500.0000001\n", "a,w\n1,1e3\n1,500.0000001\n", NULL, "k-map");
}

/* 1, 1.0 and 1.00 are one value where both files have numbers, three texts where one has words. */
static void a_population_written_otherwise(void **state)
{
    (void)state;
#define PEOPLE(k) HEAD "attributes: {a: {role: quasi}}\npopulation: people.csv\nprivacy: [{k-map: {k: " k "}}]\n"
    file("people.csv", "a\n1.0\n1\n1.00\n2.5\n");
    expect(PEOPLE("3"), "a\n1\n1\n", "a\n1\n1\n", NULL, NULL);
    expect(PEOPLE("4"), "a\n1\n1\n", "a\n1\n1\n", NULL, "k-map");
    file("people.csv", "a\n1.0\n1\n1.00\nword\n");
    expect(PEOPLE("1"), "a\n1\n1\n", "a\n1\n1\n", NULL, NULL);
    expect(PEOPLE("2"), "a\n1\n1\n", "a\n1\n1\n", NULL, "k-map");
    file("people.csv", "a\n1\n1\n2\n3\n4\n");
    expect(PEOPLE("2"), "a\n1\n1\n", "a\n1\n1\n", NULL, NULL);
    expect(PEOPLE("3"), "a\n1\n1\n", "a\n1\n1\n", NULL, "k-map");
    expect(PEOPLE("5"), "a\n1\n2\n", "a\n*\n*\n", NULL, NULL);
    expect(PEOPLE("6"), "a\n1\n2\n", "a\n*\n*\n", NULL, "k-map");
    expect(PEOPLE("4"), "a\n1\n3\n", "a\n[1-3]\n[1-3]\n", NULL, NULL);
    expect(PEOPLE("5"), "a\n1\n3\n", "a\n[1-3]\n[1-3]\n", NULL, "k-map");
    file("people.csv", "b\n1\n");
    expect_error(PEOPLE("2"), "a\n1\n1\n", "a\n1\n1\n", NULL, KN_INPUT, "there is no column \"a\"");
}

/* ---- Summaries ---- */

static void every_class_stands_in_the_summary_once(void **state)
{
    (void)state;
    verify_case c = {.yaml = HEAD
                     "attributes: {a: {role: quasi, type: integer}, d: {role: quasi, type: date}}\nprivacy: [{k: 2}]\n"
                     "suppression: {rows: 1}\n",
                     .original = "a,d\n1,2001-02-03\n3,2001-02-05\n7,2001-02-04\n8,2001-02-04\n99,2009-09-09\n",
                     .release = "a,d\n[1-3],\"[2001-02-03, 2001-02-05]\"\n[1-3],\"[2001-02-03, 2001-02-05]\"\n"
                                "[7-8],2001-02-04\n[7-8],2001-02-04\n*,*\n",
                     .map = "kanon-rowmap 1\n1\n2\n3\n4\n5\n"};
#define TOP "a,d,rows,a_min,a_max,a_mean,d_min,d_max\n"
#define ONE "[1-3],\"[2001-02-03, 2001-02-05]\",2,1,3,2,2001-02-03,2001-02-05\n"
#define TWO "[7-8],2001-02-04,2,7,8,7.5,2001-02-04,2001-02-04\n"
    static const struct {
        const char *summary, *problem;
    } cases[] = {
        {TOP ONE TWO, NULL},
        {TOP TWO ONE, NULL},
        {"d,rows,a_mean,a_max,a_min,a,d_max,d_min\n"
         "2001-02-04,2,7.5,8,7,[7-8],2001-02-04,2001-02-04\n\"[2001-02-03, "
         "2001-02-05]\",2,2,3,1,[1-3],2001-02-05,2001-02-03\n",
         NULL},
        {TOP ONE, "a class is missing from the summary"},
        {TOP ONE TWO TWO, "row 3 of the summary is about a class that was there before"},
        {TOP ONE TWO "[1-3],2001-02-04,2,1,3,2,2001-02-03,2001-02-05\n",
         "row 3 of the summary is about no class of the release"},
        {TOP ONE TWO "*,*,1,,,,,\n", "row 3 of the summary is about no class of the release"},
        {TOP ONE "[7-8],2001-02-04,3,7,8,7.5,2001-02-04,2001-02-04\n",
         "row 2 of the summary: the class does not have that many rows"},
        {TOP ONE "[7-8],2001-02-04,1,7,8,7.5,2001-02-04,2001-02-04\n",
         "row 2 of the summary: the class does not have that many rows"},
        {TOP ONE "[7-8],2001-02-04,x,7,8,7.5,2001-02-04,2001-02-04\n",
         "row 2 of the summary: the class does not have that many rows"},
        {TOP ONE "[7-8],2001-02-04,2,7,8,7.5000001,2001-02-04,2001-02-04\n", "row 2 of the summary, column \"a_mean\""},
        {TOP ONE "[7-8],2001-02-04,2,7,8,7.5,2001-02-03,2001-02-04\n", "row 2 of the summary, column \"d_min\""},
        {TOP ONE "[7-8],2001-02-04,2,7,8,7.5,2001-02-04,2001-02-05\n", "row 2 of the summary, column \"d_max\""},
        {"a,d,rows,a_min,a_max,a_mean,d_min\n", "the summary has no column \"d_max\""},
        {"a,d,rows,a_min,a_max,a_mean,d_min,d_max,d_mean\n", "the summary has a column that is not a statistic"},
        {"a,rows,a_min,a_max,a_mean,d_min,d_max\n", "the summary has no column \"d\""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        c.summary = cases[i].summary;
        expect_case(&c, cases[i].problem);
    }
    c.summary = cases[0].summary;
    c.map = NULL;
    expect_case(&c, "a summary can be checked with a row map only");
}

/* ---- Metrics ---- */

/* A column's weight counts its loss; the sum is divided by the sum of the weights. */
static void weighted_losses(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(1);
    static const struct {
        const char *a, *b;
        double      lm, prec;
    } cases[] = {
        {"1", "1", 0.5 * 0.5 + 0.5 * 0, 1 - 0.5 * 0.5},
        {"3", "1", 0.75 * 0.5, 1 - 0.75 * 0.5},
        {"1", "3", 0.25 * 0.5, 1 - 0.25 * 0.5},
        {"0", "1", 0, 1},
        {"0.5", "0", 0.5, 0.5},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char              yaml[600];
        kn_error          err = KN_ERROR_INIT;
        kn_verify_report *r = NULL;
        snprintf(yaml, sizeof yaml,
                 HEAD "attributes: {a: {role: quasi, hierarchy: tree.csv, weight: %s}, b: {role: quasi, weight: %s}}\n"
                      "privacy: [{k: 2}]\n",
                 cases[i].a, cases[i].b);
        file("tree.csv", "1;p;*\n2;p;*\n3;q;*\n4;q;*\n5;q;*\n");
        verify_case c = {.yaml = yaml,
                         .original = "a,b\n1,x\n2,x\n3,x\n3,x\n",
                         .release = "a,b\n*,x\n*,x\n3,x\n3,x\n",
                         .map = "kanon-rowmap 1\n1\n2\n3\n4\n"};
        assert_ok(run_case(&r, ctx, &c, &err), err);
        assert_true(r->ok);
        assert_close(r->metrics[KN_METRIC_LM], cases[i].lm);
        assert_close(r->metrics[KN_METRIC_PREC], cases[i].prec);
        assert_close(r->metrics[KN_METRIC_DM], 8);
        kn_verify_report_free(r);
    }
    testing_context_free(ctx);
}

/* ---- Intervals ---- */

static void ends_that_cannot_be_read(void **state)
{
    (void)state;
    static const char *const cells[] = {"\"[1, x]\"", "\"[x, 9]\"", "\"[x, y]\"", "\"[1, 9\"",
                                        "\"1, 9]\"",  "\"[9, 1]\"", "[]"};
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
        char release[100];
        snprintf(release, sizeof release, "a\n%s\n%s\n", cells[i], cells[i]);
        expect(HEAD "attributes: {a: {role: quasi, type: integer}}\nprivacy: [{k: 2}]\n", "a\n1\n9\n", release, NULL,
               "");
    }
}

/* ---- Suppressed rows that show their sensitive cells ---- */

/* A row that is left out for a missing cell lends its sensitive value to nobody. */
static void values_of_rows_that_are_left_out(void **state)
{
    (void)state;
    const char *yaml = HEAD "attributes: {a: {role: quasi}, s: {role: sensitive}, w: {role: keep}}\nprivacy: [{k: 2}]\n"
                            "missing: drop\nsuppressed: keep-sensitive\nsuppression: {rows: 2}\n";
    const char *original = "a,s,w\n1,u,p\n1,v,p\n2,w,p\n3,y,p\n,x,p\n";
    expect(yaml, original, "a,s,w\n1,u,p\n1,v,p\n*,w,*\n*,y,*\n", NULL, NULL);
    expect(yaml, original, "a,s,w\n1,u,p\n1,v,p\n*,w,*\n*,x,*\n", NULL, "1 released row cannot come from the original");
    expect(yaml, original, "a,s,w\n1,u,p\n1,v,p\n*,w,*\n*,w,*\n", NULL, "such as row 4");
    expect(yaml, original, "a,s,w\n1,u,p\n1,v,p\n*,u,*\n*,y,*\n", NULL, "such as row 3");
}

/* With a least share nobody may be suppressed: rows that are "*" throughout are one class at the top, whatever the budget. */
static void presence_and_suppressed_rows(void **state)
{
    (void)state;
    file("population.csv", "a\n1\n1\n2\n2\n3\n3\n");
#define ABSENCE(min)                                                                                                   \
    HEAD "attributes: {a: {role: quasi}}\npopulation: population.csv\nsuppression: {rows: 3}\n"                        \
         "privacy: [{delta-presence: {min: " min ", max: 0.5}}]\n"
    expect(ABSENCE("0.5"), "a\n1\n2\n3\n", "a\n*\n*\n*\n", NULL, NULL);
    expect(ABSENCE("0.5"), "a\n1\n2\n3\n", "a\n1\n2\n3\n", NULL, NULL);
    expect(ABSENCE("0.5"), "a\n1\n2\n3\n", "a\n1\n2\n*\n", NULL, "delta-presence");
    expect(ABSENCE("0.1"), "a\n1\n2\n", "a\n1\n2\n", NULL, "somebody of the population is in no class");
    expect(ABSENCE("0"), "a\n1\n2\n", "a\n1\n2\n", NULL, NULL);
}

/* More classes than the first tables of hashes hold, their rows far apart. */
static void many_classes(void **state)
{
    (void)state;
    enum { CLASSES = 5000 };
    kn_context       *ctx = testing_context(2);
    kn_error          err = KN_ERROR_INIT;
    kn_verify_report *r = NULL;
    char             *table = malloc(2 * CLASSES * 40), *map = malloc(2 * CLASSES * 10 + 40);
    assert_true(table && map);
    size_t t = (size_t)sprintf(table, "a,b,s\n"), m = (size_t)sprintf(map, "kanon-rowmap 1\n");
    for (int i = 0; i < 2 * CLASSES; i++) {
        unsigned value = (unsigned)(i % CLASSES) * 7919u % CLASSES;
        t += (size_t)sprintf(table + t, "%u,x%u,%d\n", value, value / 3, i < CLASSES);
        m += (size_t)sprintf(map + m, "%d\n", i + 1);
    }
    verify_case c = {.yaml =
                         HEAD "attributes: {a: {role: quasi, type: integer}, b: {role: quasi}, s: {role: sensitive}}\n"
                              "privacy: [{k: 2}, {l-diversity: {kind: distinct, l: 2}}]\n",
                     .original = table,
                     .release = table};
    for (int with_map = 0; with_map < 2; with_map++) {
        c.map = with_map ? map : NULL;
        assert_ok(run_case(&r, ctx, &c, &err), err);
        assert_true(r->ok);
        assert_int_equal(r->classes, CLASSES);
        assert_int_equal(r->k, 2);
        assert_close(r->metrics[KN_METRIC_DM], 4.0 * CLASSES);
        kn_verify_report_free(r);
    }
    free(table);
    free(map);
    testing_context_free(ctx);
}

/* Five rows take part; two are shown as p, two as they are, one is suppressed. */
static void losses_by_hand(void **state)
{
    (void)state;
    kn_context       *ctx = testing_context(1);
    kn_error          err = KN_ERROR_INIT;
    kn_verify_report *r = NULL;
    file("tree.csv", "1;p;*\n2;p;*\n3;q;*\n4;q;*\n5;q;*\n");
#define LOSSES(rows)                                                                                                   \
    HEAD "attributes: {a: {role: quasi, hierarchy: tree.csv}, s: {role: keep}}\nprivacy: [{k: 2}]\nmissing: drop\n"    \
         "suppression: {rows: " rows "}\n"
    verify_case c = {.yaml = LOSSES("1"),
                     .original = "a,s\n,x\n1,x\n2,x\n3,x\n,x\n3,x\n5,x\n",
                     .release = "a,s\np,x\np,x\n3,x\n3,x\n*,*\n",
                     .map = "kanon-rowmap 1\n2\n3\n4\n6\n7\n"};
    assert_ok(run_case(&r, ctx, &c, &err), err);
    assert_true(r->ok);
    assert_int_equal(r->classes, 2);
    assert_int_equal(r->suppressed, 1);
    assert_close(r->metrics[KN_METRIC_LM], (2 * 1 / 4.0 + 1) / 5);
    assert_close(r->metrics[KN_METRIC_NCP], (2 * 2 / 5.0 + 1) / 5);
    assert_close(r->metrics[KN_METRIC_PREC], 1 - (2 * 1 / 2.0 + 1) / 5);
    assert_close(r->metrics[KN_METRIC_DM], 4 + 4 + 1 * 5);
    assert_close(r->metrics[KN_METRIC_DM_STAR], 4 + 4 + 1);
    assert_close(r->metrics[KN_METRIC_C_AVG], 4 / (2 * 2.0));
    /* p: one of the two below it; *: one of all five, each twice or once below the root */
    assert_close(r->metrics[KN_METRIC_ENTROPY], 2 * log2(2.0) + log2(5.0));
    kn_verify_report_free(r);
    c = (verify_case){.yaml = LOSSES("5"), .original = c.original, .release = "a,s\n*,*\n*,*\n*,*\n*,*\n*,*\n"};
    assert_ok(run_case(&r, ctx, &c, &err), err);
    assert_true(r->ok);
    assert_int_equal(r->classes, 0);
    assert_int_equal(r->k, 0);
    assert_close(r->metrics[KN_METRIC_LM], 1);
    assert_close(r->metrics[KN_METRIC_PREC], 0);
    assert_close(r->metrics[KN_METRIC_DM], 25);
    assert_true(isinf(r->metrics[KN_METRIC_C_AVG]));
    kn_verify_report_free(r);
    testing_context_free(ctx);
}

/* ---- Hashes ---- */

enum { COLLIDING = 1 << 18 };

static int by_hash(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Two different texts whose hashes begin alike, among those of numbers. */
static void colliding_texts(char *a, char *b, size_t size)
{
    uint64_t *list = malloc(COLLIDING * sizeof *list);
    assert_non_null(list);
    for (uint32_t i = 0; i < COLLIDING; i++) {
        char text[20];
        int  n = snprintf(text, sizeof text, "t%u", i);
        list[i] = (kn_hash_bytes(text, (size_t)n) >> 32) << 32 | i;
    }
    qsort(list, COLLIDING, sizeof *list, by_hash);
    size_t at = 1;
    while (at < COLLIDING && list[at] >> 32 != list[at - 1] >> 32) at++;
    assert_true(at < COLLIDING);
    snprintf(a, size, "t%u", (unsigned)(uint32_t)list[at - 1]);
    snprintf(b, size, "t%u", (unsigned)(uint32_t)list[at]);
    free(list);
}

/* A hash is never trusted: what it says is compared. */
static void texts_with_one_hash(void **state)
{
    (void)state;
    char        a[20], b[20], original[100], release[100];
    kn_texts    texts;
    kn_context *ctx = testing_context(1);
    colliding_texts(a, b, sizeof a);
    kn_texts_init(&texts, ctx);
    assert_int_equal(kn_texts_add(&texts, kn_string_of(a), true), 0);
    assert_int_equal(kn_texts_find(&texts, kn_string_of(b)), KN_V_NONE);
    assert_int_equal(kn_texts_add(&texts, kn_string_of(b), true), 1);
    assert_int_equal(kn_texts_add(&texts, kn_string_of(a), true), 0);
    assert_int_equal(kn_texts_find(&texts, kn_string_of(b)), 1);
    kn_texts_free(&texts);
    testing_context_free(ctx);
    snprintf(original, sizeof original, "a\n%s\n%s\n", a, a);
    snprintf(release, sizeof release, "a\n%s\n%s\n", b, b);
    expect(HEAD "attributes: {a: {role: quasi}}\nprivacy: [{k: 2}]\n", original, original, NULL, NULL);
    expect(HEAD "attributes: {a: {role: quasi}}\nprivacy: [{k: 2}]\n", original, release, NULL,
           "neither a value of the original");
    snprintf(release, sizeof release, "a\n%s\n%s\n", a, b);
    expect(HEAD "attributes: {a: {role: quasi}}\nprivacy: [{k: 2}]\n", release, release, NULL,
           "k: 2 classes of 2 fail");
}

/* Products of 192 bits, with carries. */
static void large_fractions(void **state)
{
    (void)state;
    kn_u128  x = ((kn_u128)1 << 90) + UINT64_MAX;
    uint64_t k = 1000000000000000003u;
    assert_int_equal(kn_v_compare(x * 6, x * 10, 3 * k, 5 * k), 0);
    assert_int_equal(kn_v_compare(x * 6 + 1, x * 10, 3 * k, 5 * k), 1);
    assert_int_equal(kn_v_compare(x * 6 - 1, x * 10, 3 * k, 5 * k), -1);
    assert_int_equal(kn_v_compare(x * 6, x * 10 + 1, 3 * k, 5 * k), -1);
    assert_int_equal(kn_v_compare(x * 6, x * 10 - 1, 3 * k, 5 * k), 1);
    assert_int_equal(kn_v_compare(x * 6, x * 10, 3 * k + 1, 5 * k), -1);
    assert_int_equal(kn_v_compare(x * 6, x * 10, 3 * k, 5 * k + 1), 1);
    assert_int_equal(kn_v_compare(0, 1, 0, 5), 0);
    assert_int_equal(kn_v_compare(1, 0, 1, 0), 0);
    assert_int_equal(kn_v_compare(1, 1, 1, 0), -1);
}

/* Texts are ordered by all their bytes, the first first. */
static void ordered_texts(void **state)
{
    (void)state;
    const char *table = "q,s\n1,aaaaaaa2x\n1,aaaaaaa2x\n2,bbbbbbb1x\n2,ccccccc3x\n";
#define ORDERED(t)                                                                                                     \
    HEAD "attributes: {q: {role: quasi}, s: {role: sensitive}}\nprivacy: [{t-closeness: {distance: ordered, t: " t     \
         "}}]\n"
    expect(ORDERED("0.375"), table, table, NULL, NULL);
    expect(ORDERED("0.374"), table, table, NULL, "t-closeness (ordered)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_budget_is_of_the_rows_that_take_part),
        cmocka_unit_test(a_pseudonym_is_32_hexadecimal_digits),
        cmocka_unit_test(presence_has_a_least_share),
        cmocka_unit_test(a_statistic_needs_k_known_cells),
        cmocka_unit_test(a_dependency_with_k_needs_k_rows),
        cmocka_unit_test(dependencies_of_every_kind),
        cmocka_unit_test(days_of_the_calendar),
        cmocka_unit_test(clocks_of_a_place),
        testing_alone(labels_of_two_nodes),
        cmocka_unit_test(sets_with_a_missing_member),
        cmocka_unit_test(counts_of_rows),
        cmocka_unit_test(levels_that_are_asked_for),
        cmocka_unit_test(moments),
        cmocka_unit_test(many_pairs),
        cmocka_unit_test(claimed_levels),
        cmocka_unit_test(cells_that_mean_nothing),
        testing_alone(a_database_is_no_table),
        cmocka_unit_test(weights_of_rows_that_take_part),
        cmocka_unit_test(weights_with_decimals),
        cmocka_unit_test(a_population_written_otherwise),
        cmocka_unit_test(every_class_stands_in_the_summary_once),
        testing_alone(weighted_losses),
        cmocka_unit_test(ends_that_cannot_be_read),
        cmocka_unit_test(values_of_rows_that_are_left_out),
        cmocka_unit_test(presence_and_suppressed_rows),
        cmocka_unit_test(many_classes),
        testing_alone(losses_by_hand),
        cmocka_unit_test(texts_with_one_hash),
        testing_alone(large_fractions),
        cmocka_unit_test(ordered_texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
