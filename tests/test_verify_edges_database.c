/* test_verify_edges_database.c: the verifier of databases where one row or one cell decides, on small folders of files. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <kanon/verify.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "folder_testing.h"

/* Persons with visits, and one home each, whose key is the person's. */
#define SPEC(more)                                                                                                     \
    "kanon: 1\ninput: in/\noutput: out/\nentity: {table: person}\ntables:\n"                                           \
    "  person: {key: [id], attributes: {city: {role: quasi, hierarchy: city.csv}, name: {role: identifier}}}\n"        \
    "  visit: {key: [vid], parent: {table: person, columns: [id]}, attributes: {ward: {role: quasi}, ill: {role: "     \
    "sensitive}}}\n"                                                                                                   \
    "  home: {key: [id], parent: {table: person, columns: [id]}, attributes: {zip: {role: quasi}}}\n"                  \
    "privacy: [{k: 2}" more "]\n"

typedef struct files {
    const char *person, *visit, *home, *map;
} files;

static const files original = {"id,city,name,shoe\n01,Nice,Ann,38\n1,Lyon,Bob,44\n7,Lille,Cid,41\n8,Lille,Dan,42\n",
                               "vid,id,ward,ill\nv1,01,A,flu\nv2,1,A,cold\nv3,7,B,flu\nv4,8,B,gout\nv5,8,C,flu\n",
                               "id,zip\n01,100\n1,100\n7,200\n8,200\n", NULL};
static const files good = {"id,city\n1,South\n2,South\n3,Lille\n4,Lille\n",
                           "vid,id,ward,ill\n1,1,A,flu\n2,2,A,cold\n3,3,B,flu\n4,4,B,gout\n",
                           "id,zip\n1,100\n2,100\n3,200\n4,200\n", "released id,original id\n1,01\n2,1\n3,7\n4,8\n"};

static void write_files(const char *where, const files *f)
{
    char name[60];
    mkdir(path_of(where), 0700);
    const char *const names[] = {"person", "visit", "home"}, *const texts[] = {f->person, f->visit, f->home};
    for (int i = 0; i < 3; i++) {
        snprintf(name, sizeof name, "%s/%s.csv", where, names[i]);
        put(name, texts[i]);
    }
}

static int64_t work_limit; /* 0: the usual one */

static kn_database_verify_report *verify(kn_context *ctx, const char *yaml, const files *release, bool map)
{
    kn_error                   err = KN_ERROR_INIT;
    kn_spec                   *spec = NULL;
    kn_database_verify_report *r = NULL;
    kn_database_verify_options options = KN_DATABASE_VERIFY_OPTIONS_INIT;
    put("city.csv", "Nice;South;*\nLyon;South;*\nLille;North;*\n");
    put("spec.yaml", yaml);
    write_files("in", &original);
    write_files("out", release);
    if (map) put("out.rowmap", release->map);
    options.map_path = map ? path_of("out.rowmap") : NULL;
    options.work_limit = work_limit;
    assert_ok(kn_spec_read(&spec, ctx, path_of("spec.yaml"), &err), err);
    assert_ok(kn_spec_check(spec, &err), err);
    assert_ok(kn_verify_database(&r, ctx, spec, &options, &err), err);
    kn_spec_free(spec);
    return r;
}

/* `problem` NULL: it holds and is proved. */
static void expect(const char *yaml, const files *release, bool map, const char *problem)
{
    kn_context                *ctx = testing_context(2);
    kn_database_verify_report *r = verify(ctx, yaml, release, map);
    bool                       told = false;
    for (int i = 0; i < r->problem_count; i++) told = told || (problem && strstr(r->problems[i], problem));
    if (problem ? r->ok || !told : !r->ok) {
        for (int i = 0; i < r->problem_count; i++) print_message("  %s\n", r->problems[i]);
        fail_msg("%s; wanted: %s", r->ok ? "it holds" : "it does not hold", problem ? problem : "that it holds");
    }
    kn_database_verify_report_free(r);
    testing_context_free(ctx);
}

static void expect_both(const files *release, const char *problem)
{
    expect(SPEC(""), release, true, problem);
    expect(SPEC(""), release, false, problem);
}

static void what_is_right(void **state)
{
    (void)state;
    expect_both(&good, NULL);
    kn_context                *ctx = testing_context(1);
    kn_database_verify_report *r = verify(ctx, SPEC(", {l-diversity: {attribute: visit.ill, l: 2}}"), &good, true);
    assert_true(r->ok);
    assert_int_equal(r->persons, 4);
    assert_int_equal(r->dropped, 0);
    assert_int_equal(r->classes, 2);
    assert_int_equal(r->k, 2);
    assert_int_equal(r->table_count, 3);
    assert_int_equal(r->tables[1].rows, 4);
    assert_int_equal(r->tables[1].deleted, 1);
    assert_close(r->models[1].reached, 2);
    assert_close(r->largest_share, 0.5);
    kn_database_verify_report_free(r);
    testing_context_free(ctx);
}

/* Seven persons who each stand alone: five are named. */
static void persons_that_are_named(void **state)
{
    (void)state;
    files f = good;
    f.person = "id,city\n1,Nice\n2,Nice\n3,Lyon\n4,Lyon\n5,Lille\n6,Lille\n7,South\n";
    f.visit = "vid,id,ward,ill\n";
    f.home = "id,zip\n1,100\n2,200\n3,100\n4,200\n5,100\n6,200\n7,100\n";
    kn_context                *ctx = testing_context(1);
    kn_database_verify_report *r = verify(ctx, SPEC(""), &f, false);
    int                        named = 0;
    for (int i = 0; i < r->problem_count; i++) named += strstr(r->problems[i], "shows the tree of this one") != NULL;
    assert_int_equal(named, 5);
    assert_int_equal(r->models[0].classes, 7);
    kn_database_verify_report_free(r);
    testing_context_free(ctx);
}

static void keys(void **state)
{
    (void)state;
    files f = good;
    static const struct {
        const char *person, *problem;
    } persons[] = {
        {"id,city\n1,South\n2,South\n3,Lille\n5,Lille\n", "key column \"id\" holds neither a number"},
        {"id,city\n0,South\n2,South\n3,Lille\n4,Lille\n", "key column \"id\" holds neither a number"},
        {"id,city\n1,South\n2,South\n3,Lille\n3,Lille\n", "key column \"id\" holds one value in two rows"},
        {"id,city\n1,South\n2,South\n3,Lille\n,Lille\n", "key column \"id\" is empty"},
        {"id,city\n1,South\n2,South\n3,Lille\nx,Lille\n",
         "table \"person\", row 4: key column \"id\" holds neither a number"},
        {"id,city\nw,South\nx,South\ny,Lille\nz,Lille\n",
         "table \"person\", row 4: key column \"id\" holds neither a number"},
    };
    for (size_t i = 0; i < sizeof persons / sizeof *persons; i++) {
        f.person = persons[i].person;
        expect(SPEC(""), &f, false, persons[i].problem);
    }
    f = good; /* a key that is the parent's: one row each */
    f.home = "id,zip\n1,100\n2,100\n3,200\n4,200\n1,100\n2,100\n";
    expect_both(&f, "table \"home\", row 5: its key is missing or that of an earlier row");
    f.home = "id,zip\n,100\n2,100\n3,200\n4,200\n";
    expect_both(&f, "table \"home\", row 1: its key is missing or that of an earlier row");
    f.home = "id,zip\n1,100\n2,100\n3,200\n5,200\n";
    expect_both(&f, "table \"home\", row 4");
    f = good;
    f.visit = "vid,id,ward,ill\n1,1,A,flu\n2,2,A,cold\n3,3,B,flu\n4,9,B,gout\n";
    expect_both(&f, "table \"visit\", row 4");
}

static void columns(void **state)
{
    (void)state;
    files f = good;
    f.person = "id,city,name\n1,South,x\n2,South,x\n3,Lille,x\n4,Lille,x\n";
    expect_both(&f, "column \"name\" is an identifier and must not be in the release");
    f.person = "id,city,shoe\n1,South,38\n2,South,44\n3,Lille,41\n4,Lille,42\n";
    expect_both(&f, "column \"shoe\" has no role and must not be in the release");
    f.person = "id,city,hat\n1,South,38\n2,South,44\n3,Lille,41\n4,Lille,42\n";
    expect_both(&f, "table \"person\": column 3 of the release is not one of the original");
    f.person = "id\n1\n2\n3\n4\n";
    expect_both(&f, "column \"city\" is missing from the release");
}

static void cells(void **state)
{
    (void)state;
    files f = good;
    f.person = "id,city\n1,North\n2,North\n3,Lille\n4,Lille\n";
    expect(SPEC(""), &f, true,
           "table \"person\", row 1, column \"city\": neither the original's value nor one above it");
    expect(SPEC(""), &f, false, "");
    f = good;
    f.visit = "vid,id,ward,ill\n1,1,A,flu\n2,2,A,cold\n3,3,B,flu\n4,4,B,cold\n"; /* another illness */
    expect_both(&f, "");
    f = good;
    f.map = "released id,original id\n1,1\n2,01\n3,7\n4,8\n"; /* texts, not numbers: 01 is somebody else */
    expect(SPEC(""), &f, true, "");
    f.map = "released id,original id\n1,01\n2,01\n3,7\n4,8\n";
    expect(SPEC(""), &f, true, "table \"person\", row 2: the row map gives somebody else the same original");
    f.map = "released id,original id\n1,01\n2,1\n3,7\n";
    expect(SPEC(""), &f, true, "table \"person\", row 4: the row map does not say who this is");
    f.map = "released id,original id\n1,01\n2,1\n3,7\n4,9\n";
    expect(SPEC(""), &f, true, "the row map's row 4 names nobody of the original");
    f.map = "released id,original id\n1,01\n2,1\n3,7\n5,8\n";
    expect(SPEC(""), &f, true, "the row map's row 4 names nobody of the release");
    f.map = "released id,original id\n1,01\n2,1\n3,7\n4,8\n1,8\n";
    expect(SPEC(""), &f, true, "the row map's row 5 names a released person that an earlier one has already");
}

static void promises(void **state)
{
    (void)state;
    files f = good;
    f.visit = "vid,id,ward,ill\n1,1,A,flu\n2,2,A,cold\n3,4,B,gout\n";
    expect_both(&f, ""); /* of the two of Lille one has a visit */
    f = good;
    expect(SPEC(", {l-diversity: {attribute: visit.ill, l: 3}}"), &f, true,
           "table \"visit\", row 1, column \"ill\": distinct");
    f.visit = "vid,id,ward,ill\n1,3,B,flu\n2,2,A,cold\n3,1,A,flu\n4,4,C,flu\n";
    expect(SPEC(", {l-diversity: {attribute: visit.ill, l: 2}}"), &f, true, "");
}

/* With a map: after one step nobody can say whether a person's rows fit, and with enough of them all do. */
static void a_search_that_is_cut_short(void **state)
{
    (void)state;
    for (work_limit = 1; work_limit <= 1000; work_limit += 999) {
        kn_context                *ctx = testing_context(1);
        kn_database_verify_report *r = verify(ctx, SPEC(""), &good, true);
        assert_int_equal(r->assignment, work_limit == 1 ? KN_ASSIGNMENT_UNDECIDED : KN_ASSIGNMENT_PROVED);
        assert_int_equal(r->ok, work_limit > 1);
        kn_database_verify_report_free(r);
        testing_context_free(ctx);
    }
    work_limit = 0;
}

int main(void)
{
    folder_set_up();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_right),
        testing_alone(persons_that_are_named),
        cmocka_unit_test(keys),
        cmocka_unit_test(columns),
        cmocka_unit_test(cells),
        cmocka_unit_test(promises),
        testing_alone(a_search_that_is_cut_short),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
