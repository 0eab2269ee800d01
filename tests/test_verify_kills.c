/* test_verify_kills.c: single steps of the verifier of tables, each on the smallest release that shows whether it is right. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <time.h>

#include "kn_verify_internal.h"
#include "verify_testing.h"

/* ---- Levels ---- */

/* The label p stands on two levels: the level that the whole column has decides which of the two is meant. */
static void a_label_on_two_levels(void **state)
{
    (void)state;
    static const struct {
        const char *original, *release, *map;
        double      lm, prec;
    } cases[] = {
        {"a\n1\n2\n1\n2\n", "a\np\np\np\np\n", "kanon-rowmap 1\n1\n2\n3\n4\n", 1 / 3.0, 1 - 1 / 3.0},
        {"a\n1\n2\n3\n3\n", "a\np\np\np\np\n", "kanon-rowmap 1\n1\n2\n3\n4\n", 2 / 3.0, 1 - 2 / 3.0},
    };
    kn_context *ctx = testing_context(1);
    file("tree.csv", "1;p;p;*\n2;p;p;*\n3;q;p;*\n4;r;r;*\n");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kn_error          err = KN_ERROR_INIT;
        kn_verify_report *r = NULL;
        verify_case       c = {.yaml = HEAD "attributes: {a: {role: quasi, hierarchy: tree.csv}}\nprivacy: [{k: 2}]\n"
                                                  "method: samarati\n",
                               .original = cases[i].original,
                               .release = cases[i].release,
                               .map = cases[i].map};
        assert_ok(run_case(&r, ctx, &c, &err), err);
        assert_true(r->ok);
        assert_close(r->metrics[KN_METRIC_LM], cases[i].lm);
        assert_close(r->metrics[KN_METRIC_PREC], cases[i].prec);
        kn_verify_report_free(r);
    }
    testing_context_free(ctx);
}

/* A missing cell is shown as it is on every level but the last, where it is the root. */
static void levels_of_missing_cells(void **state)
{
    (void)state;
    static const struct {
        const char *release;
        int         level;
        bool        good;
    } cases[] = {
        {"a,b\np,x\np,x\n,x\n,x\n", 1, true},   {"a,b\n1,x\n1,x\n,x\n,x\n", 0, true},
        {"a,b\np,x\np,x\n,x\n,x\n", 0, false},  {"a,b\np,x\np,x\n,x\n,x\n", 2, false},
        {"a,b\n*,x\n*,x\n*,x\n*,x\n", 2, true}, {"a,b\n*,x\n*,x\n*,x\n*,x\n", 1, false},
        {"a,b\n*,x\n*,x\n,x\n,x\n", 2, false},
    };
    file("tree.csv", "1;p;*\n2;p;*\n");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int map = 0; map < 2; map++) {
            const int   levels[] = {cases[i].level, 0};
            verify_case c = {.yaml = HEAD "attributes: {a: {role: quasi, hierarchy: tree.csv}, b: {role: quasi}}\n"
                                          "privacy: [{k: 2}]\n",
                             .original = "a,b\n1,x\n1,x\n,x\n,x\n",
                             .release = cases[i].release,
                             .map = map ? "kanon-rowmap 1\n1\n2\n3\n4\n" : NULL,
                             .levels = levels,
                             .level_count = 2};
            expect_case(&c, cases[i].good ? NULL : "its cells are not those of level");
        }
}

/* Methods that work cell by cell may mean either: what was lost cannot be told. */
static void a_label_on_two_levels_by_chance(void **state)
{
    (void)state;
    kn_context       *ctx = testing_context(1);
    kn_error          err = KN_ERROR_INIT;
    kn_verify_report *r = NULL;
    file("tree.csv", "1;p;p;*\n2;p;p;*\n3;q;p;*\n4;r;r;*\n");
    verify_case c = {.yaml = HEAD "attributes: {a: {role: quasi, hierarchy: tree.csv}}\nprivacy: [{k: 2}]\n"
                                  "method: mondrian\n",
                     .original = "a\n1\n2\n1\n2\n",
                     .release = "a\np\np\np\np\n",
                     .map = "kanon-rowmap 1\n1\n2\n3\n4\n"};
    assert_ok(run_case(&r, ctx, &c, &err), err);
    assert_true(r->ok);
    assert_true(isnan(r->metrics[KN_METRIC_LM]) && isnan(r->metrics[KN_METRIC_NCP]));
    assert_true(isnan(r->metrics[KN_METRIC_PREC]) && isnan(r->metrics[KN_METRIC_ENTROPY]));
    assert_close(r->metrics[KN_METRIC_DM], 16);
    kn_verify_report_free(r);
    testing_context_free(ctx);
}

/* A value that the hierarchy spells otherwise stands on level 0 and on no other. */
static void levels_of_values_spelled_otherwise(void **state)
{
    (void)state;
    file("tree.csv", "1;p;*\n2;p;*\n");
    for (int level = 0; level < 3; level++)
        for (int map = 0; map < 2; map++) {
            const int   levels[] = {level};
            verify_case c = {.yaml = HEAD "attributes: {a: {role: quasi, type: decimal, hierarchy: tree.csv}}\n"
                                          "privacy: [{k: 2}]\n",
                             .original = "a\n1.0\n1.0\n",
                             .release = "a\n1.0\n1.0\n",
                             .map = map ? "kanon-rowmap 1\n1\n2\n" : NULL,
                             .levels = levels,
                             .level_count = 1};
            expect_case(&c, level == 0 ? NULL : "its cells are not those of level");
        }
}

/* ---- Cells ---- */

/* A member may hold a semicolon without quotes, and the last may be an empty cell. */
static void sets_of_joined_members(void **state)
{
    (void)state;
    const char *yaml = HEAD "attributes: {a: {role: quasi}}\nprivacy: [{k: 2}]\n";
    expect(yaml, "a\nu;v\n\"\"\n", "a\n{u;v;}\n{u;v;}\n", "kanon-rowmap 1\n1\n2\n", NULL);
    expect(yaml, "a\nu;v\nw\n", "a\n{u;v;w}\n{u;v;w}\n", "kanon-rowmap 1\n1\n2\n", NULL);
    expect(yaml, "a\nu;v\nw\n", "a\n{u;v;}\n{u;v;}\n", "kanon-rowmap 1\n1\n2\n", "column \"a\"");
    expect(yaml, "a\nu;v\nw\n", "a\n{u;v;x}\n{u;v;x}\n", "kanon-rowmap 1\n1\n2\n", "column \"a\"");
}

/* z, which the original does not have, is a member once, however often the set was read: three of four leaves. */
static void members_that_the_original_lacks(void **state)
{
    (void)state;
    kn_context       *ctx = testing_context(1);
    kn_error          err = KN_ERROR_INIT;
    kn_verify_report *r = NULL;
    file("tree.csv", "\"u;v\",p,*\nw,p,*\nz,p,*\ny,p,*\n");
    verify_case c = {.yaml = HEAD "attributes: {a: {role: quasi, hierarchy: tree.csv}}\nprivacy: [{k: 2}]\n",
                     .original = "a\nu;v\nw\n",
                     .release = "a\n{z;u;v;w}\n{z;u;v;w}\n",
                     .map = "kanon-rowmap 1\n1\n2\n"};
    assert_ok(run_case(&r, ctx, &c, &err), err);
    assert_true(r->ok);
    assert_close(r->metrics[KN_METRIC_LM], 2 / 3.0);
    assert_close(r->metrics[KN_METRIC_NCP], 3 / 4.0);
    kn_verify_report_free(r);
    testing_context_free(ctx);
}

/* Two leaves mean 1.5: the first is the value's. */
static void the_first_leaf_of_a_value(void **state)
{
    (void)state;
    const char *yaml = HEAD "attributes: {a: {role: quasi, type: decimal, hierarchy: tree.csv}}\nprivacy: [{k: 2}]\n";
    file("tree.csv", "1.50;p;*\n1.500;q;*\n2;r;*\n");
    for (int map = 0; map < 2; map++) {
        const char *rows = map ? "kanon-rowmap 1\n1\n2\n3\n4\n" : NULL;
        expect(yaml, "a\n1.5\n1.5\n2\n2\n", "a\np\np\nr\nr\n", rows, NULL);
        expect(yaml, "a\n1.5\n1.5\n2\n2\n", "a\nq\nq\nr\nr\n", rows, "");
    }
}

/* The ends of an interval of moments may be written in either of the two usual ways, whatever the column's own format. */
static void moments_written_otherwise(void **state)
{
    (void)state;
    const char *yaml =
        HEAD "attributes: {a: {role: quasi, type: datetime, format: \"%d.%m.%Y %H:%M\"}}\nprivacy: [{k: 2}]\n";
    const char *original = "a\n01.02.2003 10:00\n02.02.2003 11:00\n";
#define BOTH(low, high) "a\n\"[" low ", " high "]\"\n\"[" low ", " high "]\"\n"
    expect(yaml, original, BOTH("2003-02-01T10:00:00Z", "2003-02-02T11:00:00Z"), NULL, NULL);
    expect(yaml, original, BOTH("2003-02-01 10:00:00Z", "2003-02-02 11:00:00Z"), NULL, NULL);
    expect(yaml, original, BOTH("2003-02-01T10:00:01Z", "2003-02-02T11:00:00Z"), NULL, "");
    expect(yaml, original, BOTH("2003-02-01T10:00:00Z", "2003-02-02T10:59:59Z"), NULL, "");
    expect(yaml, original, BOTH("2003-02-01 10:00:00Z", "2003-02-02 10:59:59Z"), NULL, "");
}

/* A calendar is of days and moments, though numbers have an order too. */
static void a_calendar_of_numbers(void **state)
{
    (void)state;
    expect_error(HEAD "attributes: {a: {role: quasi, hierarchy: {calendar: [month, year]}}}\nprivacy: [{k: 2}]\n",
                 "a\n7\n7\n", "a\n7\n7\n", NULL, KN_INPUT, "its values are not what its hierarchy needs");
}

/* ---- Populations and weights ---- */

/* The people of a class are found wherever it stands among those that begin alike. */
static void classes_in_any_order(void **state)
{
    (void)state;
#define CROWD(k)                                                                                                       \
    HEAD "attributes: {a: {role: quasi}, b: {role: quasi}}\npopulation: crowd.csv\nprivacy: [{k-map: {k: " k "}}]\n"
    file("crowd.csv", "a,b\n1,x\n1,x\n2,y\n2,y\n1,y\n1,y\n3,x\n3,x\n");
    const char *table = "a,b\n1,x\n2,y\n1,y\n3,x\n";
    expect(CROWD("2"), table, table, NULL, NULL);
    expect(CROWD("2"), table, table, "kanon-rowmap 1\n1\n2\n3\n4\n", NULL);
    expect(CROWD("3"), table, table, NULL, "k-map: 4 classes of 4 fail");
}

/* Weights whose sum passes 64 bits lose decimals, and then are refused. */
static void large_weights(void **state)
{
    (void)state;
#define WEIGHTS(k) HEAD "attributes: {a: {role: quasi}, w: {role: weight}}\nprivacy: [{k-map: {k: " k "}}]\n"
    const char *fits = "a,w\n1,9000000000000000000\n1,0.5\n1,1.5\n", *large = "a,w\n1,9e18\n1,9e18\n";
    expect(WEIGHTS("9000000000000000000"), fits, fits, NULL, NULL);
    expect(WEIGHTS("9000000000000000003"), fits, fits, NULL, "k-map");
    expect_error(WEIGHTS("2"), large, large, NULL, KN_INPUT, "the sum of the weights is too large");
}

/* ---- Summaries ---- */

/* Classes of one row, and each class in turn is the one that is left out. */
static void every_class_may_be_missing(void **state)
{
    (void)state;
    verify_case              c = {.yaml = HEAD "attributes: {a: {role: quasi, type: integer}}\nprivacy: [{k: 1}]\n",
                                  .original = "a\n1\n2\n3\n",
                                  .release = "a\n1\n2\n3\n",
                                  .map = "kanon-rowmap 1\n1\n2\n3\n"};
    static const char *const rows[] = {"1,1,1,1,1\n", "2,1,2,2,2\n", "3,1,3,3,3\n"};
    for (int left_out = 0; left_out < 4; left_out++) {
        char summary[200] = "a,rows,a_min,a_max,a_mean\n";
        for (int i = 0; i < 3; i++)
            if (i != left_out) strcat(summary, rows[i]);
        c.summary = summary;
        expect_case(&c, left_out < 3 ? "a class is missing from the summary" : NULL);
    }
}

/* ---- Calls ---- */

static void without_an_original(void **state)
{
    (void)state;
    kn_context       *ctx = testing_context(1);
    kn_error          err = KN_ERROR_INIT;
    kn_spec          *spec = NULL;
    kn_verify_report *r = NULL;
    kn_verify_options options = KN_VERIFY_OPTIONS_INIT;
    const char       *yaml = HEAD "attributes: {a: {role: quasi}}\nprivacy: [{k: 2}]\n";
    options.release = file("release.csv", "a\n1\n1\n");
    const char *const originals[] = {file("original.csv", "a\n1\n1\n")};
    options.originals = originals;
    options.original_count = 0;
    assert_ok(kn_spec_read(&spec, ctx, file("spec.yaml", yaml), &err), err);
    assert_int_equal(kn_verify(&r, ctx, spec, &options, &err), KN_USAGE);
    assert_non_null(strstr(err.message, "no original was given"));
    assert_null(r);
    kn_spec_free(spec);
    testing_context_free(ctx);
}

/* Where a mask ends in ** a lone star stands on that level, for those of the population too. */
static void a_star_above_a_mask(void **state)
{
    (void)state;
    file("crowd.csv", "a,b\n11,x\n12,x\n13,x\n14,x\n");
    for (int k = 4; k <= 5; k++)
        for (int map = 0; map < 2; map++) {
            char yaml[400];
            snprintf(yaml, sizeof yaml,
                     HEAD "attributes: {a: {role: quasi, type: text, hierarchy: {mask: right}}, b: {role: quasi}}\n"
                          "population: crowd.csv\nprivacy: [{k-map: {k: %d}}]\nmethod: optimal\n",
                     k);
            expect(yaml, "a,b\n11,x\n12,x\n", "a,b\n*,x\n*,x\n", map ? "kanon-rowmap 1\n1\n2\n" : NULL,
                   k == 4 ? NULL : "k-map");
        }
}

/* A number that no range of whole steps can hold is refused, not left without a label. */
static void numbers_beyond_all_ranges(void **state)
{
    (void)state;
    expect_error(HEAD "attributes: {a: {role: quasi, type: decimal, hierarchy: {ranges: [10]}}}\nprivacy: [{k: 2}]\n",
                 "a\n1e60\n1e60\n", "a\n*\n*\n", NULL, KN_INPUT, "");
}

/* ---- Outcomes ---- */

/* A promise that nobody could count is open; one that was counted and does not hold is broken. */
static void promises_that_were_not_counted(void **state)
{
    (void)state;
    static const struct {
        double     reached;
        bool       holds, counted;
        kn_outcome outcome;
    } cases[] = {{NAN, false, false, KN_OUTCOME_UNDECIDED},
                 {NAN, false, true, KN_OUTCOME_FAILS},
                 {1, false, false, KN_OUTCOME_FAILS},
                 {1, true, false, KN_OUTCOME_UNDECIDED},
                 {1, true, true, KN_OUTCOME_HOLDS}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kn_verified_model model = {.holds = cases[i].holds, .reached = cases[i].reached};
        kn_verify_report  report = {.model_count = 1, .assignment = KN_ASSIGNMENT_PROVED};
        kn_vnotes         notes = {.head = KN_VHEAD(&report), .models = &model};
        kn_vnotes_judge(&notes, cases[i].counted);
        assert_int_equal(report.outcome, cases[i].outcome);
        assert_int_equal(report.ok, cases[i].outcome == KN_OUTCOME_HOLDS);
    }
}

/* As many open points as there is space for. */
static void open_points(void **state)
{
    (void)state;
    kn_context      *ctx = testing_context(1);
    kn_error         err = KN_ERROR_INIT;
    kn_spec          spec = {.csv = KN_CSV_OPTIONS_INIT};
    kn_verify_report report = {.assignment = KN_ASSIGNMENT_PROVED};
    kn_vnotes        notes = {.failed = false};
    assert_ok(kn_vnotes_init(&notes, KN_VHEAD(&report), ctx, &spec, &err), err);
    for (int i = 0; i < KN_VERIFY_OPEN + 2; i++) kn_vopen(&notes, "open");
    assert_int_equal(report.open_count, KN_VERIFY_OPEN);
    assert_string_equal(report.open[KN_VERIFY_OPEN - 1], "open");
    kn_arena_free(&notes.arena);
    testing_context_free(ctx);
}

/* Without enough time nothing is said; the limit is this call's alone, also a second later. */
static void too_little_time(void **state)
{
    (void)state;
    kn_context       *ctx = testing_context(1);
    kn_error          err = KN_ERROR_INIT;
    kn_spec          *spec = NULL;
    kn_verify_report *r = NULL;
    kn_verify_options options = KN_VERIFY_OPTIONS_INIT;
    const char *const originals[] = {file("original.csv", "a\n1\n1\n")};
    options.originals = originals;
    options.original_count = 1;
    options.release = file("release.csv", "a\n1\n1\n");
    assert_ok(
        kn_spec_read(&spec, ctx, file("spec.yaml", HEAD "attributes: {a: {role: quasi}}\nprivacy: [{k: 2}]\n"), &err),
        err);
    options.time_limit = 1e-9;
    assert_int_equal(kn_verify(&r, ctx, spec, &options, &err), KN_UNDECIDED);
    assert_non_null(strstr(err.message, "it was not decided within 1e-09 seconds"));
    nanosleep(&(struct timespec){1, 100000000}, NULL);
    options.time_limit = 0;
    assert_ok(kn_verify(&r, ctx, spec, &options, &err), err);
    assert_true(r->ok);
    kn_verify_report_free(r);
    kn_spec_free(spec);
    testing_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        testing_alone(a_label_on_two_levels),
        cmocka_unit_test(levels_of_missing_cells),
        testing_alone(a_label_on_two_levels_by_chance),
        cmocka_unit_test(levels_of_values_spelled_otherwise),
        cmocka_unit_test(sets_of_joined_members),
        testing_alone(members_that_the_original_lacks),
        cmocka_unit_test(the_first_leaf_of_a_value),
        cmocka_unit_test(moments_written_otherwise),
        testing_alone(a_calendar_of_numbers),
        cmocka_unit_test(classes_in_any_order),
        cmocka_unit_test(large_weights),
        cmocka_unit_test(every_class_may_be_missing),
        testing_alone(without_an_original),
        cmocka_unit_test(a_star_above_a_mask),
        testing_alone(numbers_beyond_all_ranges),
        testing_alone(promises_that_were_not_counted),
        testing_alone(open_points),
        testing_alone(too_little_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
