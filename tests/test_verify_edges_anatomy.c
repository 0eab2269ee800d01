/* test_verify_edges_anatomy.c: the verifier of anatomies where one number decides: groups, lists and their counts. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <kanon/verify.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "folder_testing.h"

#define SPEC(privacy)                                                                                                  \
    "kanon: 1\ninput: in/\noutput: out/\nentity: {table: person}\ntables:\n"                                           \
    "  person: {key: [id], attributes: {city: {role: quasi}}}\n"                                                       \
    "  visit: {key: [vid], parent: {table: person, columns: [id]}, attributes: {ward: {role: quasi}, ill: {role: "     \
    "sensitive}}}\n"                                                                                                   \
    "privacy: [" privacy "]\noptions: {anatomy: true}\n"

#define DIVERSE "{l-diversity: {attribute: visit.ill, l: 2}}"
#define TWO "{k: 2}, " DIVERSE

typedef struct anatomy {
    const char *person, *visit, *list, *map;
} anatomy;

static const char persons[] = "id,city\n1,Nice\n2,Lyon\n3,Lille\n4,Brest\n",
                  visits[] = "vid,id,ward,ill\nv1,1,A,flu\nv2,2,B,cold\nv3,3,C,gout\nv4,4,D,flu\n";
static const anatomy good = {
    "id,city\n1,Nice\n2,Lyon\n3,Lille\n4,Brest\n", "vid,id,ward,group\n1,1,A,1\n2,2,B,1\n3,3,C,1\n4,4,D,1\n",
    "group,ill,count\n1,cold,1\n1,flu,2\n1,gout,1\n", "released id,original id\n1,1\n2,2\n3,3\n4,4\n"};

static kn_database_verify_report *verify(kn_context *ctx, const char *yaml, const char *person, const char *visit,
                                         const anatomy *a, bool map)
{
    kn_error                   err = KN_ERROR_INIT;
    kn_spec                   *spec = NULL;
    kn_database_verify_report *r = NULL;
    kn_database_verify_options options = KN_DATABASE_VERIFY_OPTIONS_INIT;
    mkdir(path_of("in"), 0700);
    mkdir(path_of("out"), 0700);
    put("spec.yaml", yaml);
    put("in/person.csv", person);
    put("in/visit.csv", visit);
    put("out/person.csv", a->person);
    put("out/visit.csv", a->visit);
    put("out/visit_sensitive.csv", a->list);
    if (map) put("out.rowmap", a->map);
    options.map_path = map ? path_of("out.rowmap") : NULL;
    assert_ok(kn_spec_read(&spec, ctx, path_of("spec.yaml"), &err), err);
    assert_ok(kn_spec_check(spec, &err), err);
    assert_ok(kn_verify_database(&r, ctx, spec, &options, &err), err);
    kn_spec_free(spec);
    return r;
}

/* `problem` NULL: it holds and is proved; with the map and without. "@...": without the map it may stay undecided. */
static void expect_of(const char *yaml, const char *person, const char *visit, const anatomy *a, const char *problem)
{
    for (int map = 0; map < 2; map++) {
        kn_context                *ctx = testing_context(2);
        kn_database_verify_report *r = verify(ctx, yaml, person, visit, a, map);
        bool                       open = problem && *problem == '@', told = open && !map;
        for (int i = 0; i < r->problem_count; i++) told = told || (problem && strstr(r->problems[i], problem + open));
        if (problem ? r->ok || !told : !r->ok) {
            for (int i = 0; i < r->problem_count; i++) print_message("  %s\n", r->problems[i]);
            fail_msg("%s; wanted: %s", r->ok ? "it holds" : "it does not hold", problem ? problem : "that it holds");
        }
        kn_database_verify_report_free(r);
        testing_context_free(ctx);
    }
}

/* One flu too few and one cold too many: both rows with flu are named, those whose value is there as often as it must be are not. */
static void rows_that_are_named(void **state)
{
    (void)state;
    anatomy a = good;
    a.list = "group,ill,count\n1,cold,2\n1,flu,1\n1,gout,1\n";
    kn_context                *ctx = testing_context(1);
    kn_database_verify_report *r = verify(ctx, SPEC(TWO), persons, visits, &a, true);
    assert_false(r->ok);
    int named = 0;
    for (int i = 0; i < r->problem_count; i++) named += strstr(r->problems[i], "lacks what the original hides") != NULL;
    assert_int_equal(named, 2);
    kn_database_verify_report_free(r);
    testing_context_free(ctx);
}

static void expect(const char *yaml, const anatomy *a, const char *problem)
{
    expect_of(yaml, persons, visits, a, problem);
}

static void lists(void **state)
{
    (void)state;
    static const struct {
        const char *list, *problem;
    } cases[] = {
        {"group,ill,count\n1,gout,1\n1,flu,2\n1,cold,1\n", NULL},
        {"group,ill,count\n1,cold,1\n1,flu,1\n1,gout,1\n", "group 1 does not have as many values"},
        {"group,ill,count\n1,cold,1\n1,flu,3\n1,gout,1\n", "group 1 does not have as many values"},
        {"group,ill,count\n1,cold,999999999999999999\n1,flu,2\n1,gout,1\n", "group 1 does not have as many values"},
        {"group,ill,count\n1,cold,2\n1,flu,1\n1,gout,1\n",
         "@row 4: table \"visit_sensitive\" lacks what the original hides here"},
        {"group,ill,count\n1,cold,2\n1,flu,2\n",
         "@row 3: table \"visit_sensitive\" lacks what the original hides here"},
        {"group,ill,count\n1,cold,1\n1,flu,2\n1,plague,1\n", "row 3: a value that the original does not have"},
        {"group,ill,count\n1,cold,1\n1,flu,1\n1,flu,1\n1,gout,1\n", "row 3: the group has this value already"},
        {"group,ill,count\n1,cold,1\n1,flu,2\n2,gout,1\n", "row 3: no group, or no count"},
        {"group,ill,count\n0,cold,1\n1,flu,2\n1,gout,1\n", "row 1: no group, or no count"},
        {"group,ill,count\n01,cold,1\n1,flu,2\n1,gout,1\n", "row 1: no group, or no count"},
        {"group,ill,count\n1,cold,1\n1,flu,2\n1,gout,01\n", "row 3: no group, or no count"},
        {"group,ill,count\n1,cold,1\n1,flu,2\n1,gout,0\n", "row 3: no group, or no count"},
        {"group,ill,count\n1,cold,1\n1,flu,2\n1,gout,1:\n", "row 3: no group, or no count"},
        {"group,ill,count\n1,cold,1\n1,flu,2\n1,gout,/\n", "row 3: no group, or no count"},
        {"group,ill,count\n1,cold,1\n1,flu,2\n1,gout,\n", "row 3: no group, or no count"},
        {"group,ill,count\n1,cold,1\n1,flu,2\n1,gout,1111111111111111111\n", "row 3: no group, or no count"},
    };
    anatomy a = good;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        a.list = cases[i].list;
        expect(SPEC(TWO), &a, cases[i].problem);
    }
}

static void groups(void **state)
{
    (void)state;
    static const struct {
        const char *visit, *list, *problem;
    } cases[] = {
        {"vid,id,ward,group\n1,1,A,1\n2,2,B,1\n3,3,C,2\n4,4,D,2\n",
         "group,ill,count\n1,cold,1\n1,flu,1\n2,flu,1\n2,gout,1\n", NULL},
        {"vid,id,ward,group\n1,1,A,1\n2,2,B,1\n3,3,C,2\n4,4,D,2\n", "group,ill,count\n1,cold,1\n1,gout,1\n2,flu,2\n",
         ""},
        {"vid,id,ward,group\n1,1,A,1\n2,2,B,1\n3,3,C,1\n4,4,D,2\n",
         "group,ill,count\n1,cold,1\n1,flu,1\n1,gout,1\n2,flu,1\n",
         "group 2 has the rows of 1 person: k does not hold"},
        {"vid,id,ward,group\n1,1,A,1\n2,2,B,1\n3,3,C,3\n4,4,D,3\n",
         "group,ill,count\n1,cold,1\n1,flu,1\n2,flu,1\n2,gout,1\n",
         "table \"visit\", row 3: column \"group\" holds no number"},
        {"vid,id,ward,group\n1,1,A,0\n2,2,B,0\n3,3,C,1\n4,4,D,1\n",
         "group,ill,count\n1,cold,1\n1,flu,1\n2,flu,1\n2,gout,1\n",
         "table \"visit\", row 1: column \"group\" holds no number"},
        {"vid,id,ward,group\n1,1,A,1\n2,2,B,1\n3,3,C,1\n4,4,D,\n", "group,ill,count\n1,cold,1\n1,flu,2\n1,gout,1\n",
         "table \"visit\", row 4: column \"group\" holds no number"},
        {"vid,id,ward,group\n1,1,A,1\n2,1,B,1\n3,3,C,1\n4,4,D,1\n", "group,ill,count\n1,cold,1\n1,flu,2\n1,gout,1\n",
         "its person has more or fewer rows in the group than others"},
        {"vid,id,ward,group\n1,1,A,1\n2,2,B,1\n3,3,C,1\n4,4,E,1\n", "group,ill,count\n1,cold,1\n1,flu,2\n1,gout,1\n",
         ""},
    };
    anatomy a = good;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        a.visit = cases[i].visit;
        a.list = cases[i].list;
        expect(SPEC(TWO), &a, cases[i].problem);
    }
}

static void promises(void **state)
{
    (void)state;
    expect(SPEC("{k: 4}, " DIVERSE), &good, NULL);
    expect(SPEC("{k: 5}, " DIVERSE), &good, "group 1 has the rows of 4 persons: k does not hold");
    expect(SPEC("{k: 2}, {l-diversity: {attribute: visit.ill, kind: distinct, l: 3}}"), &good, NULL);
    expect(SPEC("{k: 2}, {l-diversity: {attribute: visit.ill, kind: distinct, l: 4}}"), &good,
           "does not hold for group 1");
    expect(SPEC("{k: 2}, {l-diversity: {attribute: visit.ill, kind: entropy, l: 2.82}}"), &good, NULL); /* 2^1.5 */
    expect(SPEC("{k: 2}, {l-diversity: {attribute: visit.ill, kind: entropy, l: 2.83}}"), &good,
           "does not hold for group 1");
    expect(SPEC("{k: 2}, {l-diversity: {attribute: visit.ill, kind: recursive, l: 2, c: 1.01}}"), &good,
           NULL); /* 2 < c (1 + 1) */
    expect(SPEC("{k: 2}, {l-diversity: {attribute: visit.ill, kind: recursive, l: 2, c: 1}}"), &good,
           "does not hold for group 1");
    expect(SPEC("{k: 2}, {l-diversity: {attribute: visit.ill, kind: recursive, l: 3, c: 2.01}}"), &good,
           NULL); /* 2 < c 1 */
    expect(SPEC("{k: 2}, {l-diversity: {attribute: visit.ill, kind: recursive, l: 3, c: 2}}"), &good,
           "does not hold for group 1");
    kn_context                *ctx = testing_context(1);
    kn_database_verify_report *r = verify(ctx, SPEC(TWO), persons, visits, &good, true);
    assert_int_equal(r->k, 4);
    assert_int_equal(r->classes, 1);
    assert_int_equal(r->persons, 4);
    assert_close(r->models[0].reached, 4);
    assert_close(r->models[1].reached, 3);
    assert_close(r->largest_share, 0.5);
    kn_database_verify_report_free(r);
    testing_context_free(ctx);
}

/* Numbers of two digits, and rows of a group far apart. */
static void many_groups(void **state)
{
    (void)state;
    enum { GROUPS = 19 };
    static char person[2000] = "id,city\n", visit[4000] = "vid,id,ward,ill\n", shown[4000] = "vid,id,ward,group\n",
                list[4000] = "group,ill,count\n", map[2000] = "released id,original id\n", drawn[2000] = "id,city\n";
    for (int i = 0; i < 2 * GROUPS; i++) { /* keys that were drawn anew */
        sprintf(strchr(person, '\0'), "%d,c%d\n", 501 + i, i);
        int key = 7 * i % (2 * GROUPS) + 1;
        sprintf(strchr(drawn, '\0'), "%d,c%d\n", key, i);
        sprintf(strchr(visit, '\0'), "v%d,%d,w,%s%d\n", i + 1, 501 + i, i < GROUPS ? "x" : "y", i % GROUPS);
        sprintf(strchr(shown, '\0'), "%d,%d,w,%d\n", i + 1, key, i % GROUPS + 1);
        sprintf(strchr(list, '\0'), "%d,%s%d,1\n", i / 2 + 1, i % 2 ? "y" : "x", i / 2);
        sprintf(strchr(map, '\0'), "%d,%d\n", key, 501 + i);
    }
    anatomy a = {drawn, shown, list, map};
    expect_of(SPEC(TWO), person, visit, &a, NULL);
    char *nine = strstr(list, "\n19,");
    memcpy(nine, "\n20,", 4);
    expect_of(SPEC(TWO), person, visit, &a, "no group, or no count");
}

int main(void)
{
    folder_set_up();
    const struct CMUnitTest tests[] = {cmocka_unit_test(lists), cmocka_unit_test(groups), cmocka_unit_test(promises),
                                       cmocka_unit_test(many_groups), testing_alone(rows_that_are_named)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
