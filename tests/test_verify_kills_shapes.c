/* test_verify_kills_shapes.c: the verifier of databases and anatomies where one letter of a key, one digit of a count or one
 * row of a value decides, on small folders of files.
 * SPDX-License-Identifier: Apache-2.0 */
#include <kanon/verify.h>
#include <math.h>
#include <sys/stat.h>

#include "folder_testing.h"
#include "text_testing.h"

#define DATABASE(visit, privacy, more)                                                                                 \
    "kanon: 1\ninput: in/\noutput: out/\nentity: {table: person}\ntables:\n"                                           \
    "  person: {key: [id], attributes: {city: {role: quasi}}}\n" visit "privacy: [{k: 2}" privacy "]\n" more
#define VISIT                                                                                                          \
    "  visit: {key: [vid], parent: {table: person, columns: [id]}, attributes: {ward: {role: quasi}, ill: {role: "     \
    "sensitive}}}\n"
#define PERSONS DATABASE("", "", "")
#define RECURSIVE(c) DATABASE(VISIT, ", {l-diversity: {attribute: visit.ill, kind: recursive, l: 2, c: " c "}}", "")
#define ENTROPY(l) DATABASE(VISIT, ", {l-diversity: {attribute: visit.ill, kind: entropy, l: " l "}}", "")
#define ANATOMY DATABASE(VISIT, ", {l-diversity: {attribute: visit.ill, l: 2}}", "options: {anatomy: true}\n")

static bool   with_map;  /* out.rowmap */
static bool   unchecked; /* promises that no release is made with */
static double had_share; /* what the last report says of the most common value */

/* What is in the folders in/ and out/. `problem` NULL: it holds; else it is told so many `times`, -1:
 * not asked. Returns what the last promise reached. */
static double expect(const char *yaml, const char *problem, int times)
{
    kn_context                *ctx = testing_context(2);
    kn_error                   err = KN_ERROR_INIT;
    kn_spec                   *spec = NULL;
    kn_database_verify_report *r = NULL;
    put("spec.yaml", yaml);
    assert_ok(kn_spec_read(&spec, ctx, path_of("spec.yaml"), &err), err);
    if (!unchecked) assert_ok(kn_spec_check(spec, &err), err);
    kn_database_verify_options options = KN_DATABASE_VERIFY_OPTIONS_INIT;
    options.map_path = with_map ? path_of("out.rowmap") : NULL;
    assert_ok(kn_verify_database(&r, ctx, spec, &options, &err), err);
    int found = count_problems(r->problems, r->problem_count, problem ? problem : "");
    if (r->ok != !problem || (times >= 0 && found != times))
        fail_msg("%s; wanted: %s", r->ok ? "it holds" : "it does not hold", problem ? problem : "that it holds");
    double reached = r->models[r->model_count - 1].reached;
    had_share = r->largest_share;
    kn_database_verify_report_free(r);
    kn_spec_free(spec);
    testing_context_free(ctx);
    return reached;
}

static void empty_folders(void)
{
    static const char *const names[] = {"person", "visit", "visit_sensitive", "exam", "exam_sensitive"};
    mkdir(path_of("in"), 0700);
    mkdir(path_of("out"), 0700);
    for (int i = 0; i < 5; i++) {
        char name[40];
        snprintf(name, sizeof name, "in/%s.csv", names[i]);
        remove(path_of(name));
        snprintf(name, sizeof name, "out/%s.csv", names[i]);
        remove(path_of(name));
    }
}

/* ---- Keys ---- */

/* Thirteen persons whose keys are UUIDs that are no more than numbers; twelve are released, the tenth with this key. */
static void expect_key(const char *key, const char *problem)
{
    text in = {.size = 0}, out = {.size = 0};
    empty_folders();
    add(&in, "id,city,ref\n");
    add(&out, "id,city\n");
    for (unsigned i = 1; i <= 13; i++)
        add(&in, "00000000-0000-4000-8000-%012x,Nice,00000000-0000-4000-9000-%012x\n", i, i);
    for (unsigned i = 1; i <= 12; i++)
        if (i == 10)
            add(&out, "%s,Nice\n", key);
        else
            add(&out, "00000000-0000-4000-8000-%012x,Nice\n", i);
    put("in/person.csv", in.data);
    put("out/person.csv", out.data);
    expect(PERSONS, problem, problem != NULL);
}

static void uuids(void **state)
{
    (void)state;
    static const char no_uuid[] = "row 10: key column \"id\" holds neither a number from 1 to the number of rows nor";
    static const char old[] = "row 10: key column \"id\" holds a key of the original";
    static const struct {
        const char *key, *problem;
    } cases[] = {
        {"00000000-0000-4000-8000-00000000000a", NULL}, /* a number again, whoever had it */
        {"00000000-0000-4000-8000-00000000000d", old},  /* 13 of 12 rows */
        {"00000000-0000-4000-8000-00000000000A", old},  /* the same in a capital letter */
        {"00000000-0000-4000-9000-00000000000a", old},  /* out of another column */
        {"00000000-0000-4000-8000-00000000000g", no_uuid}, {"00000000-0000-4000-8000-00000000000G", no_uuid},
        {"00000000-0000-4000-8000-00000000000`", no_uuid}, {"00000000-0000-4000-8000-00000000000@", no_uuid},
        {"00000000-0000-4000-8000-00000000000:", no_uuid}, {"00000000-0000-4000-8000-00000000000/", no_uuid},
        {"/0000000-0000-4000-8000-00000000000a", no_uuid}, {"00000000-0000-4000-8000_00000000000a", no_uuid},
        {"0000000-00000-4000-8000-00000000000a", no_uuid}, {"00000000-0000-4000-8000-0000-000000a", no_uuid},
        {"00000000-0000-4000-8000-0000000000a", no_uuid},  {"00000000-0000-4000-8000-00000000000aa", no_uuid},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        print_message("%s\n", cases[i].key);
        expect_key(cases[i].key, cases[i].problem);
    }
}

static void many_wrong_keys(void **state)
{
    (void)state;
    empty_folders();
    put("in/person.csv", "id,city\nh1,Nice\nh2,Nice\nh3,Nice\nh4,Nice\nh5,Nice\nh6,Nice\nh7,Nice\n");
    put("out/person.csv", "id,city\ni1,Nice\ni2,Nice\ni3,Nice\ni4,Nice\ni5,Nice\ni6,Nice\ni7,Nice\n");
    expect(PERSONS, "holds neither a number", 5);
    put("out/person.csv", "id,city\n1,Nice\n2,Nice\n3,Nice\n4,Nice\n,Nice\n6,Nice\n7,Nice\n");
    expect(PERSONS, "table \"person\", row 5: key column \"id\" is empty", 1);
    for (int capital = 0; capital < 2; capital++) { /* drawn; and one of them in capital letters */
        text out = {.size = 0};
        add(&out, "id,city\n");
        for (int i = 3; i <= 9; i++)
            add(&out, "%s%d,Nice\n",
                capital && i == 3 ? "9F9F9F9F-9999-4999-8999-AF09AF09AF0" : "9f9f9f9f-9999-4999-8999-af09af09af0", i);
        put("out/person.csv", out.data);
        expect(PERSONS, capital ? "has UUIDs in lower and in upper case" : NULL, capital);
    }
    put("out/person.csv", "id,city\n1,Nice\n2,Nice\n2.0,Nice\n");
    expect(PERSONS, "row 3: key column \"id\" holds neither a number", 1);
    put("out/person.csv", "id,city\n1,Nice\n2,Nice\n9f9f9f9f-9999-4999-8999-af09af09af03,Nice\n3,Nice\n");
    expect(PERSONS, "key column \"id\" has keys of different kinds: that can mark a row", 1);
    put("out/person.csv", "id,city\n1,Nice\n2,Nice\n00000000-0000-4000-8000-000000000003,Nice\n4,Nice\n");
    expect(PERSONS, "key column \"id\" has keys of different kinds: that can mark a row", 1);
}

/* ---- Cells ---- */

/* Numbers may be spelled as numbers usually are, if all of a column are. */
static void numbers_spelled_otherwise(void **state)
{
    (void)state;
#define AGES                                                                                                           \
    "kanon: 1\ninput: in/\noutput: out/\nentity: {table: person}\ntables:\n"                                           \
    "  person: {key: [id], attributes: {city: {role: quasi}, n: {role: sensitive, type: decimal}}}\nprivacy: [{k: "    \
    "2}]\n"
    static const struct {
        const char *in[2], *out[2];
        bool        good;
    } cases[] = {
        {{"-5.0", "7.0"}, {"-5", "7"}, true},     {{"-5.0", "7.0"}, {"-5.0", "7.0"}, true},
        {{"-5.0", "7.0"}, {"-5.0", "7"}, false},  {{"5", "7"}, {"05", "07"}, false},
        {{"15", "17"}, {"015", "17"}, false},     {{"15.0", "17.0"}, {"15", "17"}, true},
        {{"-15.0", "17.0"}, {"-15", "17"}, true}, {{"-15", "17"}, {"-015", "17"}, false},
        {{"-0.50", "1.0"}, {"-0.5", "1"}, true},  {{"0.0", "1.0"}, {"-0", "1"}, false},
    };
    empty_folders();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        text in = {.size = 0}, out = {.size = 0};
        add(&in, "id,city,n\nh1,Nice,%s\nh2,Nice,%s\n", cases[i].in[0], cases[i].in[1]);
        add(&out, "id,city,n\n1,Nice,%s\n2,Nice,%s\n", cases[i].out[0], cases[i].out[1]);
        put("in/person.csv", in.data);
        put("out/person.csv", out.data);
        print_message("case %zu\n", i);
        expect(AGES, cases[i].good ? NULL : "", -1);
    }
}

/* A quasi-identifier that is one number in two spellings: who knows which was written knows more. */
static void quasi_spelled_twice(void **state)
{
    (void)state;
    empty_folders();
    put("in/person.csv", "id,city\np1,1\np2,1\np3,1\np4,1\n");
    put("out/person.csv", "id,city\n1,1\n2,1\n3,1\n4,1\n");
    expect(PERSONS, NULL, 0);
    put("out/person.csv", "id,city\n1,1\n2,1\n3,1.0\n4,1.0\n");
    expect(PERSONS, "column \"city\": the release shows one number in two spellings", 1);
}

/* One column: a comma that is not in quotes splits a row, whatever else might stand between cells. */
static void commas_in_a_single_column(void **state)
{
    (void)state;
    kn_context                *ctx = testing_context(1);
    kn_error                   err = KN_ERROR_INIT;
    kn_spec                   *spec = NULL;
    kn_database_verify_report *r = NULL;
    empty_folders();
    put("in/person.csv", "id,city\np1,Nice\np2,Nice\n");
    put("out/person.csv", "id\n1\n2,3\n");
    put("spec.yaml", PERSONS);
    assert_ok(kn_spec_read(&spec, ctx, path_of("spec.yaml"), &err), err);
    assert_int_equal(kn_verify_database(&r, ctx, spec, NULL, &err), KN_INPUT);
    assert_non_null(strstr(err.message, "more cells than the header"));
    kn_spec_free(spec);
    testing_context_free(ctx);
}

/* Noon where clocks are two hours ahead is ten o'clock. */
static void moments_of_a_zone(void **state)
{
    (void)state;
#define ZONE(zone)                                                                                                     \
    "kanon: 1\ninput: in/\noutput: out/\ntimezone: \"" zone "\"\nentity: {table: person}\ntables:\n"                   \
    "  person: {key: [id], attributes: {city: {role: quasi}, t: {role: sensitive, type: datetime}}}\n"                 \
    "privacy: [{k: 2}]\n"
    empty_folders();
    put("in/person.csv", "id,city,t\n1,Nice,2021-07-01 12:00:00\n2,Nice,2021-07-01 10:00:00Z\n");
    put("out/person.csv", "id,city,t\n1,Nice,2021-07-01 12:00:00\n2,Nice,2021-07-01 12:00:00\n");
    expect(ZONE("+02:00"), NULL, 0);
    expect(ZONE("+00:00"), "", -1);
}

/* ---- What is told ---- */

/* Of a person's row that does not fit, what hangs from it is not told too. */
static void problems_told_once(void **state)
{
    (void)state;
    static const struct {
        const char *city, *visits, *problem;
    } cases[] = {
        {"Nice", "1,1,A,flu\n2,1,A,cold\n3,2,A,flu\n4,2,A,cold\n", NULL},
        {"Rome", "1,1,B,flu\n2,1,B,cold\n3,2,B,flu\n4,2,B,cold\n", "column \"city\": neither the original's value"},
        {"Nice", "1,1,B,flu\n2,1,A,flu\n3,2,B,flu\n4,2,A,flu\n", "it is in none of the original person's rows"},
        {"Nice", "1,1,A,flu\n2,1,A,flu\n3,2,A,flu\n4,2,A,flu\n", "cannot each be given a row"},
    };
    empty_folders();
    put("in/person.csv", "id,city\np1,Nice\np2,Nice\np3,Rome\np4,Rome\n");
    with_map = true;
    put("in/visit.csv", "vid,id,ward,ill\nv1,p1,A,flu\nv2,p1,A,cold\nv3,p2,A,flu\nv4,p2,A,cold\nv5,p3,B,flu\n");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        text people = {.size = 0}, visits = {.size = 0};
        add(&people, "id,city\n1,%s\n2,%s\n", cases[i].city, cases[i].city);
        add(&visits, "vid,id,ward,ill\n%s", cases[i].visits);
        put("out/person.csv", people.data);
        put("out/visit.csv", visits.data);
        put("out.rowmap", "released id,original id\n1,p1\n2,p2\n");
        expect(DATABASE(VISIT, "", ""), cases[i].problem, cases[i].problem ? 2 : 0);
        if (cases[i].problem) expect(DATABASE(VISIT, "", ""), "", 3); /* and that there are two */
    }
    with_map = false;
}

/* The table is told whose rows have their old keys, not the one behind it. */
static void old_keys_of_one_table(void **state)
{
    (void)state;
    enum { PEOPLE = 40 };
    text people[2] = {{.size = 0}}, visits[2] = {{.size = 0}}, map = {.size = 0};
    add(&map, "released id,original id\n");
    for (int released = 0; released < 2; released++) {
        add(&people[released], "id,city\n");
        add(&visits[released], "vid,id,ward,ill\n");
        for (int i = 1; i <= PEOPLE; i++) {
            int other = i * 7 % (PEOPLE + 1); /* another order of the same numbers */
            add(&people[released], "%d,Nice\n", i);
            add(&visits[released], "%d,%d,A,flu\n", released ? other : i, i);
            if (released) add(&map, "%d,%d\n", i, i);
        }
    }
    empty_folders();
    put("in/person.csv", people[0].data);
    put("out/person.csv", people[1].data);
    put("in/visit.csv", visits[0].data);
    put("out/visit.csv", visits[1].data);
    put("out.rowmap", map.data);
    with_map = true;
    expect(DATABASE(VISIT, "", ""), "table \"person\": 40 of 40 rows have the original's keys again", 1);
    with_map = false;
    empty_folders();
}

/* A visit in ward A and an exam of kind K are not the same, though each is the first text of its column. */
static void rows_of_two_tables(void **state)
{
    (void)state;
    static const char yaml[] =
        DATABASE("  visit: {key: [vid], parent: {table: person, columns: [id]}, attributes: {ward: {role: quasi}}}\n"
                 "  exam: {key: [eid], parent: {table: person, columns: [id]}, attributes: {kind: {role: quasi}}}\n",
                 "", "");
    empty_folders();
    put("in/person.csv", "id,city\np1,Nice\np2,Nice\n");
    put("out/person.csv", "id,city\n1,Nice\n2,Nice\n");
    put("in/visit.csv", "vid,id,ward\nv1,p1,A\nv2,p2,A\n");
    put("out/visit.csv", "vid,id,ward\n1,1,A\n2,2,A\n");
    put("in/exam.csv", "eid,id,kind\ne1,p1,K\ne2,p2,K\n");
    put("out/exam.csv", "eid,id,kind\n1,1,K\n2,2,K\n");
    expect(yaml, NULL, 0);
    put("out/visit.csv", "vid,id,ward\n1,1,A\n");
    put("out/exam.csv", "eid,id,kind\n1,2,K\n");
    expect(yaml, "", -1);
    empty_folders();
}

/* Released visits of a person fit one or both of the originals: whom the first takes it must be able to give back. */
static void rows_that_move_on(void **state)
{
    (void)state;
    static const char *const orders[] = {"1,1,G\n2,1,A\n3,2,G\n4,2,A\n", "1,1,A\n2,1,G\n3,2,A\n4,2,G\n"};
    empty_folders();
    put("wards.csv", "A;G;*\nB;G;*\nC;H;*\n");
    put("in/person.csv", "id,city\np1,Nice\np2,Nice\n");
    put("out/person.csv", "id,city\n1,Nice\n2,Nice\n");
    put("in/visit.csv", "vid,id,ward\nv1,p1,A\nv2,p1,B\nv3,p2,A\nv4,p2,B\n");
    put("out.rowmap", "released id,original id\n1,p1\n2,p2\n");
    for (int i = 0; i < 4; i++) {
        text visits = {.size = 0};
        add(&visits, "vid,id,ward\n%s", orders[i % 2]);
        put("out/visit.csv", visits.data);
        with_map = i >= 2;
        expect(DATABASE("  visit: {key: [vid], parent: {table: person, columns: [id]}, attributes: {ward: {role: "
                        "quasi, hierarchy: wards.csv}}}\n",
                        "", ""),
               NULL, 0);
    }
    with_map = false;
    empty_folders();
}

/* Four released visits, each of two originals or of one: the last finds its own only if two others are asked once more what they
 * fit. (Q, *) is C or D, (P, *) A or B, (*, x) A or C, (P, y) B. */
static void rows_that_are_asked_again(void **state)
{
    (void)state;
    empty_folders();
    put("wards.csv", "A;P;*\nB;P;*\nC;Q;*\nD;Q;*\n");
    put("in/person.csv", "id,city\np1,Nice\np2,Nice\n");
    put("out/person.csv", "id,city\n1,Nice\n2,Nice\n");
    put("in/visit.csv", "vid,id,ward,kind\nv1,p1,A,x\nv2,p1,B,y\nv3,p1,C,x\nv4,p1,D,y\nv5,p2,A,x\nv6,p2,B,y\nv7,p2,C,"
                        "x\nv8,p2,D,y\n");
    put("out/visit.csv", "vid,id,ward,kind\n1,1,Q,*\n2,1,P,*\n3,1,*,x\n4,1,P,y\n5,2,Q,*\n6,2,P,*\n7,2,*,x\n8,2,P,y\n");
    put("out.rowmap", "released id,original id\n1,p1\n2,p2\n");
    with_map = true;
    expect(DATABASE("  visit: {key: [vid], parent: {table: person, columns: [id]}, attributes: {ward: {role: quasi, "
                    "hierarchy: wards.csv}, kind: {role: quasi}}}\n",
                    "", ""),
           NULL, 0);
    with_map = false;
    empty_folders();
}

static void which_sensitive_column(void **state)
{
    (void)state;
    static const struct {
        const char *attributes, *asked, *message;
    } cases[] = {
        {"a: {role: sensitive}, b: {role: sensitive}", NULL,
         "l-diversity: there are several sensitive columns: say which as table.column"},
        {"a: {role: sensitive}, b: {role: keep}", "c", "l-diversity: there is no sensitive column \"c\""},
        {"a: {role: keep}, b: {role: keep}", NULL, "l-diversity: there is no sensitive column"},
    };
    empty_folders();
    put("in/person.csv", "id,city,a,b\np1,Nice,u,x\np2,Nice,v,y\n");
    put("out/person.csv", "id,city,a,b\n1,Nice,u,x\n2,Nice,v,y\n");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kn_context                *ctx = testing_context(1);
        kn_error                   err = KN_ERROR_INIT;
        kn_spec                   *spec = NULL;
        kn_database_verify_report *r = NULL;
        text                       yaml = {.size = 0};
        add(&yaml,
            "kanon: 1\ninput: in/\noutput: out/\nentity: {table: person}\ntables:\n  person: {key: [id], attributes: "
            "{city: {role: quasi}, %s}}\nprivacy: [{k: 2}, {l-diversity: {attribute: person.a, l: 2}}]\n",
            cases[i].attributes);
        put("spec.yaml", yaml.data);
        assert_ok(kn_spec_read(&spec, ctx, path_of("spec.yaml"), &err), err);
        kn_model models[2] = {spec->models[0], spec->models[1]};
        models[1].attribute = cases[i].asked;
        spec->models = models;
        assert_int_equal(kn_verify_database(&r, ctx, spec, NULL, &err), KN_USAGE);
        assert_string_equal(err.message, cases[i].message);
        assert_null(r);
        kn_spec_free(spec);
        testing_context_free(ctx);
    }
}

/* ---- Promises about several rows of a person ---- */

/* Persons with two visits each that show the same. */
static void put_visits(int persons, const char *const *ills)
{
    text people[2] = {{.size = 0}}, visits[2] = {{.size = 0}};
    for (int released = 0; released < 2; released++) {
        const char *old = released ? "" : "p";
        add(&people[released], "id,city\n");
        add(&visits[released], "vid,id,ward,ill\n");
        for (int i = 0; i < persons; i++) add(&people[released], "%s%d,Nice\n", old, i + 1);
        for (int i = 0; i < 2 * persons; i++)
            add(&visits[released], "%s%d,%s%d,A,%s\n", old, i + 1, old, i / 2 + 1, ills[i]);
    }
    empty_folders();
    put("in/person.csv", people[0].data);
    put("out/person.csv", people[1].data);
    put("in/visit.csv", visits[0].data);
    put("out/visit.csv", visits[1].data);
}

static void rows_dealt_to_nodes(void **state)
{
    (void)state;
    static const char *const two[] = {"flu", "cold", "flu", "gout"}, *const common[] = {"flu", "cold", "flu", "flu"},
                             *const five[] = {"flu",  "cold", "flu",  "cold", "flu",
                                              "cold", "flu",  "gout", "gout", "gout"},
                             *const rare[] = {"flu", "cold", "flu", "gout", "flu", "pox"};
    put_visits(2, two); /* a node may have one flu and one other: 1 < c 1 */
    expect(RECURSIVE("1.01"), NULL, 0);
    assert_close(expect(RECURSIVE("1"), "recursive", 1), 1);
    put_visits(5, five); /* 4, 3, 3: a node may have 2, 2, 1, and 2 < c 3 */
    expect(RECURSIVE("0.67"), NULL, 0);
    assert_close(expect(RECURSIVE("0.66"), "table \"visit\", row 1, column \"ill\": recursive", 1), 2.0 / 3);
    put_visits(3, rare); /* 3, 1, 1, 1: a node may have 2, 1, though all of them together have 3 < c 3 */
    expect(RECURSIVE("2.01"), NULL, 0);
    assert_close(expect(RECURSIVE("1.5"), "table \"visit\", row 1, column \"ill\": recursive", 1), 2);
    put_visits(2, common); /* 3, 1: a node may have two flus and nothing else */
    assert_close(expect(ENTROPY("1.2"), "table \"visit\", row 1, column \"ill\": entropy", 1), 1);
}

/* 6, 6, 2, 2: a node has 3, 3, 1, 1 if all is dealt evenly. Less even it is worse: one with 3 of the most common would do
 * with 3, 2, 2, 1. */
static void rows_dealt_evenly(void **state)
{
    (void)state;
    static const char *const ills[] = {"flu", "cold", "flu", "cold", "flu",  "cold", "flu",  "cold",
                                       "flu", "cold", "flu", "cold", "gout", "pox",  "gout", "pox"};
    put_visits(8, ills);
    double reached = 8 / pow(3, 6.0 / 8);
    assert_close(expect(ENTROPY("3.5"), NULL, 0), reached);
    assert_close(expect(ENTROPY("3.6"), "table \"visit\", row 1, column \"ill\": entropy", 1), reached);
}

/* Persons come by turns: each counts once, however many rows with that illness are theirs. */
static void persons_by_turns(void **state)
{
    (void)state;
    empty_folders();
    put("in/person.csv", "id,city\np1,Nice\np2,Nice\np3,Nice\n");
    put("out/person.csv", "id,city\n1,Nice\n2,Nice\n3,Nice\n");
    put("in/visit.csv", "vid,id,ward,ill\n1,p1,A,flu\n2,p2,A,flu\n3,p3,A,flu\n4,p1,A,flu\n5,p2,A,flu\n6,p3,A,cold\n");
    put("out/visit.csv", "vid,id,ward,ill\n1,1,A,flu\n2,2,A,flu\n3,3,A,flu\n4,1,A,flu\n5,2,A,flu\n6,3,A,cold\n");
    expect(DATABASE(VISIT, ", {l-diversity: {attribute: visit.ill, l: 1}}", ""), NULL, 0);
    assert_close(had_share, 1);
}

/* The smallest class decides over the risk, wherever it stands. Only the verifier knows that promise of a database. */
static void the_largest_risk(void **state)
{
    (void)state;
    static const char *const rows[] = {"Nice\nNice\nRome\nRome\nRome\n", "Rome\nRome\nRome\nNice\nNice\n"};
    unchecked = true;
    for (int i = 0; i < 2; i++) {
        text in = {.size = 0}, out = {.size = 0};
        add(&in, "id,city\n");
        add(&out, "id,city\n");
        for (int row = 0; row < 5; row++) {
            add(&in, "p%d,%.5s", row, rows[i] + 5 * row);
            add(&out, "%d,%.5s", row + 1, rows[i] + 5 * row);
        }
        empty_folders();
        put("in/person.csv", in.data);
        put("out/person.csv", out.data);
        assert_close(expect(DATABASE("", ", {max-risk: {risk: 0.5}}", ""), NULL, 0), 0.5);
        assert_close(expect(DATABASE("", ", {max-risk: {risk: 0.4}}", ""), "max-risk does not hold", 1), 0.5);
    }
    unchecked = false;
}

/* ---- Anatomies ---- */

/* The group may stand in any column, the first too. */
static void groups_in_the_first_column(void **state)
{
    (void)state;
    empty_folders();
    put("in/person.csv", "id,city\np1,Nice\np2,Nice\n");
    put("out/person.csv", "id,city\n1,Nice\n2,Nice\n");
    put("in/visit.csv", "vid,id,ward,ill\nv1,p1,A,flu\nv2,p2,A,cold\n");
    put("out/visit.csv", "group,vid,id,ward\n1,1,1,A\n1,2,2,A\n");
    put("out/visit_sensitive.csv", "group,ill,count\n1,cold,1\n1,flu,1\n");
    expect(ANATOMY, NULL, 0);
}

static void digits_of_counts(void **state)
{
    (void)state;
    text people[2] = {{.size = 0}}, visits[2] = {{.size = 0}};
    for (int released = 0; released < 2; released++) {
        const char *old = released ? "" : "p";
        add(&people[released], "id,city\n");
        add(&visits[released], "vid,id,ward,%s\n", released ? "group" : "ill");
        for (int i = 1; i <= 18; i++) add(&people[released], "%s%d,Nice\n", old, i);
        for (int i = 1; i <= 18; i++)
            add(&visits[released], "%s%d,%s%d,A,%s\n", old, i, old, i, released ? "1" : i <= 9 ? "flu" : "cold");
    }
    empty_folders();
    put("in/person.csv", people[0].data);
    put("out/person.csv", people[1].data);
    put("in/visit.csv", visits[0].data);
    put("out/visit.csv", visits[1].data);
    put("out/visit_sensitive.csv", "group,ill,count\n1,cold,9\n1,flu,9\n");
    expect(ANATOMY, NULL, 0);
    put("out/visit_sensitive.csv", "group,ill,count\n1,cold,8\n1,flu,9\n");
    expect(ANATOMY, "group 1 does not have as many values", 1);
}

/* Seven groups of two, the last five of them with one value: five are told, and the worst decides. */
static void groups_that_fail(void **state)
{
    (void)state;
    static const char yaml[] = DATABASE(VISIT, ", {l-diversity: {attribute: visit.ill, kind: recursive, l: 2, c: 9}}",
                                        "options: {anatomy: true}\n");
    text              people[2] = {{.size = 0}}, visits[2] = {{.size = 0}}, list = {.size = 0};
    add(&list, "group,ill,count\n1,cold,1\n1,flu,1\n2,cold,1\n2,flu,2\n");
    for (int i = 3; i <= 8; i++) add(&list, "%d,flu,2\n", i);
    for (int released = 0; released < 2; released++) {
        const char *old = released ? "" : "p";
        add(&people[released], "id,city\n");
        add(&visits[released], "vid,id,ward,%s\n", released ? "group" : "ill");
        for (int i = 1; i <= 17; i++) {
            char group[4];
            snprintf(group, sizeof group, "%d", i <= 2 ? 1 : i <= 5 ? 2 : i / 2);
            add(&people[released], "%s%d,Nice\n", old, i);
            add(&visits[released], "%s%d,%s%d,A,%s\n", old, i, old, i,
                released           ? group
                : i == 1 || i == 3 ? "cold"
                                   : "flu");
        }
    }
    empty_folders();
    put("in/person.csv", people[0].data);
    put("out/person.csv", people[1].data);
    put("in/visit.csv", visits[0].data);
    put("out/visit.csv", visits[1].data);
    put("out/visit_sensitive.csv", list.data);
    assert_true(isinf(expect(yaml, "recursive l-diversity does not hold for group", 5)));
    empty_folders();
}

/* Two lists whose names differ in the size of letters alone: the second gets a number. */
static void lists_of_the_same_name(void **state)
{
    (void)state;
    empty_folders();
    put("in/person.csv", "id,city\np1,Nice\np2,Nice\n");
    put("out/person.csv", "id,city\n1,Nice\n2,Nice\n");
    put("in/visit.csv", "vid,id,ward,ill,ILL\nv1,p1,A,flu,x\nv2,p2,A,cold,y\n");
    put("out/visit.csv", "vid,id,ward,group\n1,1,A,1\n2,2,A,1\n");
    put("out/visit_ill.csv", "group,ill,count\n1,cold,1\n1,flu,1\n");
    put("out/visit_ILL_2.csv", "group,ILL,count\n1,x,1\n1,y,1\n");
    expect(
        DATABASE("  visit: {key: [vid], parent: {table: person, columns: [id]}, attributes: {ward: {role: quasi}, ill: "
                 "{role: sensitive}, ILL: {role: sensitive}}}\n",
                 ", {l-diversity: {attribute: visit.ill, l: 2}}", "options: {anatomy: true}\n"),
        NULL, 0);
    remove(path_of("out/visit_ill.csv"));
    remove(path_of("out/visit_ILL_2.csv"));
    empty_folders();
}

/* A value that a group does not list is not the missing one that it does. */
static void a_missing_value_stands_for_no_other(void **state)
{
    (void)state;
    empty_folders();
    put("in/person.csv", "id,city\np1,Nice\np2,Nice\np3,Nice\np4,Nice\n");
    put("out/person.csv", "id,city\n1,Nice\n2,Nice\n3,Nice\n4,Nice\n");
    put("in/visit.csv", "vid,id,ward,ill\nv1,p1,A,flu\nv2,p2,A,cold\nv3,p3,B,gout\nv4,p4,B,\n");
    put("out/visit.csv", "vid,id,ward,group\n1,1,A,1\n2,2,A,1\n3,3,B,2\n4,4,B,2\n");
    put("out/visit_sensitive.csv", "group,ill,count\n1,cold,1\n1,flu,1\n2,gout,1\n2,,1\n");
    expect(ANATOMY, NULL, 0);
    put("out/visit_sensitive.csv", "group,ill,count\n1,flu,1\n1,,1\n2,gout,1\n2,,1\n");
    expect(ANATOMY, "", -1);
    empty_folders();
}

/* Two rows of a person that show the same, in two groups: which is which is told by the lists. */
static void rows_alike(void **state)
{
    (void)state;
    empty_folders();
    put("in/person.csv", "id,city\np1,Nice\np2,Nice\n");
    put("out/person.csv", "id,city\n1,Nice\n2,Nice\n");
    put("in/visit.csv", "vid,id,ward,ill\nv1,p1,A,flu\nv2,p1,A,cold\nv3,p2,A,gout\nv4,p2,A,pox\n");
    put("out/visit.csv", "vid,id,ward,group\n1,1,A,1\n2,1,A,2\n3,2,A,1\n4,2,A,2\n");
    static const char *const        good[] = {"1,cold,1\n1,pox,1\n2,flu,1\n2,gout,1\n",
                                              "1,flu,1\n1,gout,1\n2,cold,1\n2,pox,1\n",
                                              "1,cold,1\n1,gout,1\n2,flu,1\n2,pox,1\n"},
                             *const bad[] = {"1,cold,1\n1,flu,1\n2,gout,1\n2,pox,1\n",
                                             "1,cold,1\n1,pox,1\n2,cold,1\n2,gout,1\n"};
    for (size_t i = 0; i < 5; i++) {
        text list = {.size = 0};
        add(&list, "group,ill,count\n%s", i < 3 ? good[i] : bad[i - 3]);
        put("out/visit_sensitive.csv", list.data);
        expect(ANATOMY, i < 3 ? NULL : "", -1);
    }
}

/* Person 1 could have either row in either group; if it is the wrong one, what another hides is in neither. */
static void rows_to_exchange(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        text visits = {.size = 0};
        bool turned = i & 1, good = i < 2;
        add(&visits, "vid,id,ward,ill\nv1,p1,A,%s\nv2,p1,A,%s\n", turned ? "cold" : "flu", turned ? "flu" : "cold");
        add(&visits, "v3,p2,A,cold\nv4,p2,A,pox\nv5,p3,A,flu\nv6,p3,A,gout\n");
        empty_folders();
        put("in/person.csv", "id,city\np1,Nice\np2,Nice\np3,Nice\n");
        put("out/person.csv", "id,city\n1,Nice\n2,Nice\n3,Nice\n");
        put("in/visit.csv", visits.data);
        put("out/visit.csv", "vid,id,ward,group\n1,1,A,1\n2,1,A,2\n3,2,A,1\n4,2,A,2\n5,3,A,1\n6,3,A,2\n");
        put("out/visit_sensitive.csv",
            good ? "group,ill,count\n1,cold,1\n1,flu,1\n1,gout,1\n2,cold,1\n2,flu,1\n2,pox,1\n"
                 : "group,ill,count\n1,cold,2\n1,gout,1\n2,cold,1\n2,flu,1\n2,pox,1\n");
        expect(ANATOMY, good ? NULL : "", -1);
    }
}

/* Four persons with two visits alike and two exams alike in each: of the 4,096 ways in which rows could be their originals two
 * give the first lists, and none the second. */
static void exams_of_visits_alike(void **state)
{
    (void)state;
    static const struct {
        const char *ills, *groups, *list;
    } cases[] = {
        {"ababcbbdacbdcbda", "2143432132141423",
         "1,b,1\n1,c,2\n1,d,1\n2,a,1\n2,b,2\n2,c,1\n3,a,1\n3,b,2\n3,d,1\n4,a,2\n4,b,1\n4,d,1\n"},
        {"dccaadbddbbbaccb", "3214214323412134",
         "1,b,2\n1,d,2\n2,a,2\n2,b,1\n2,d,1\n3,b,1\n3,c,2\n3,d,1\n4,a,1\n4,b,1\n4,c,2\n"},
    };
    empty_folders();
    put("in/person.csv", "id,city\np1,Nice\np2,Nice\np3,Nice\np4,Nice\n");
    put("out/person.csv", "id,city\n1,Nice\n2,Nice\n3,Nice\n4,Nice\n");
    put("out.rowmap", "released id,original id\n1,p1\n2,p2\n3,p3\n4,p4\n");
    with_map = true;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        text visits[2] = {{.size = 0}}, exams[2] = {{.size = 0}}, list = {.size = 0};
        for (int released = 0; released < 2; released++) {
            const char *old = released ? "" : "o";
            add(&visits[released], "vid,id,ward\n");
            for (int v = 0; v < 8; v++)
                add(&visits[released], "%s%d,%s%d,A\n", old, v + 1, released ? "" : "p", v / 2 + 1);
            add(&exams[released], "eid,vid,kind,%s\n", released ? "group" : "ill");
            for (int e = 0; e < 16; e++)
                add(&exams[released], "%s%d,%s%d,K,%c\n", old, e + 1, old, e / 2 + 1,
                    released ? cases[i].groups[e] : cases[i].ills[e]);
        }
        add(&list, "group,ill,count\n%s", cases[i].list);
        put("in/visit.csv", visits[0].data);
        put("out/visit.csv", visits[1].data);
        put("in/exam.csv", exams[0].data);
        put("out/exam.csv", exams[1].data);
        put("out/exam_sensitive.csv", list.data);
        expect(
            "kanon: 1\ninput: in/\noutput: out/\nentity: {table: person}\ntables:\n"
            "  person: {key: [id], attributes: {city: {role: quasi}}}\n"
            "  visit: {key: [vid], parent: {table: person, columns: [id]}, attributes: {ward: {role: quasi}}}\n"
            "  exam: {key: [eid], parent: {table: visit, columns: [vid]}, attributes: {kind: {role: quasi}, ill: "
            "{role: "
            "sensitive}}}\nprivacy: [{k: 2}, {l-diversity: {attribute: exam.ill, l: 2}}]\noptions: {anatomy: true}\n",
            i == 0 ? NULL : "", -1);
    }
    with_map = false;
    empty_folders();
}

int main(void)
{
    folder_set_up();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(uuids),
        cmocka_unit_test(many_wrong_keys),
        cmocka_unit_test(rows_dealt_to_nodes),
        cmocka_unit_test(rows_dealt_evenly),
        cmocka_unit_test(numbers_spelled_otherwise),
        cmocka_unit_test(quasi_spelled_twice),
        testing_alone(commas_in_a_single_column),
        cmocka_unit_test(moments_of_a_zone),
        cmocka_unit_test(problems_told_once),
        cmocka_unit_test(old_keys_of_one_table),
        cmocka_unit_test(rows_of_two_tables),
        cmocka_unit_test(rows_that_move_on),
        cmocka_unit_test(rows_that_are_asked_again),
        testing_alone(which_sensitive_column),
        cmocka_unit_test(persons_by_turns),
        cmocka_unit_test(the_largest_risk),
        cmocka_unit_test(groups_in_the_first_column),
        cmocka_unit_test(digits_of_counts),
        cmocka_unit_test(groups_that_fail),
        cmocka_unit_test(lists_of_the_same_name),
        cmocka_unit_test(a_missing_value_stands_for_no_other),
        cmocka_unit_test(rows_alike),
        cmocka_unit_test(rows_to_exchange),
        cmocka_unit_test(exams_of_visits_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
