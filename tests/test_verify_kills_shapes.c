/* test_verify_kills_shapes.c: the verifier of databases, anatomies and tree records where one letter of a key, one digit
 * of a count or one row of a value decides, on small folders of files.
 * SPDX-License-Identifier: Apache-2.0 */
#include <kanon/verify.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "folder_testing.h"

#define DATABASE(visit, privacy, more)                                                                                 \
    "kanon: 1\ninput: in/\noutput: out/\nentity: {table: person}\ntables:\n"                                           \
    "  person: {key: [id], attributes: {city: {role: quasi}}}\n" visit "privacy: [{k: 2}" privacy "]\n" more
#define VISIT                                                                                                          \
    "  visit: {key: [vid], parent: {table: person, columns: [id]}, attributes: {ward: {role: quasi}, ill: {role: "     \
    "sensitive}}}\n"
#define PERSONS DATABASE("", "", "")
#define RECURSIVE(c) DATABASE(VISIT, ", {l-diversity: {attribute: visit.ill, kind: recursive, l: 2, c: " c "}}", "")
#define ENTROPY DATABASE(VISIT, ", {l-diversity: {attribute: visit.ill, kind: entropy, l: 1.2}}", "")
#define ANATOMY DATABASE(VISIT, ", {l-diversity: {attribute: visit.ill, l: 2}}", "options: {anatomy: true}\n")

typedef struct text {
    char   data[4000];
    size_t size;
} text;

KN_PRINTF(2, 3)
static void add(text *t, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    t->size += (size_t)vsnprintf(t->data + t->size, sizeof t->data - t->size, format, list);
    va_end(list);
    assert_true(t->size < sizeof t->data);
}

static int count_problems(const char *const *problems, int count, const char *problem)
{
    int found = 0;
    for (int i = 0; i < count; i++) {
        found += strstr(problems[i], problem) != NULL;
        print_message("  %s\n", problems[i]);
    }
    return found;
}

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
    assert_ok(kn_spec_check(spec, &err), err);
    assert_ok(kn_verify_database(&r, ctx, spec, NULL, &err), err);
    int found = count_problems(r->problems, r->problem_count, problem ? problem : "");
    if (r->ok != !problem || (times >= 0 && found != times))
        fail_msg("%s; wanted: %s", r->ok ? "it holds" : "it does not hold", problem ? problem : "that it holds");
    double reached = r->models[r->model_count - 1].reached;
    kn_database_verify_report_free(r);
    kn_spec_free(spec);
    testing_context_free(ctx);
    return reached;
}

static void empty_folders(void)
{
    static const char *const names[] = {"person", "visit", "visit_sensitive"};
    mkdir(path_of("in"), 0700);
    mkdir(path_of("out"), 0700);
    for (int i = 0; i < 3; i++) {
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
        expect(PERSONS, capital ? "has UUIDs in small and in capital letters" : NULL, capital);
    }
    put("out/person.csv", "id,city\n1,Nice\n2,Nice\n9f9f9f9f-9999-4999-8999-af09af09af03,Nice\n3,Nice\n");
    expect(PERSONS, "key column \"id\" has keys of different kinds: that can mark a row", 1);
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
                                              "cold", "flu",  "gout", "gout", "gout"};
    put_visits(2, two); /* a node may have one flu and one other: 1 < c 1 */
    expect(RECURSIVE("1.01"), NULL, 0);
    assert_close(expect(RECURSIVE("1"), "recursive", 1), 1);
    put_visits(5, five); /* 4, 3, 3: a node may have 2, 2, 1, and 2 < c 3 */
    expect(RECURSIVE("0.67"), NULL, 0);
    assert_close(expect(RECURSIVE("0.66"), "table \"visit\", row 1, column \"ill\": recursive", 1), 2.0 / 3);
    put_visits(2, common); /* 3, 1: a node may have two flus and nothing else */
    assert_close(expect(ENTROPY, "table \"visit\", row 1, column \"ill\": entropy", 1), 1);
}

/* ---- Anatomies ---- */

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

/* ---- Tree records ---- */

static kn_status verify_records(kn_records_verify_report **r, kn_context *ctx, const char *original,
                                const char *release, int64_t k, kn_error *err)
{
    kn_spec *spec = NULL;
    put("item.csv", "a;AB;*\nb;AB;*\nc;CD;*\nd;CD;*\ne;EF;*\nf;EF;*\ng;GH;*\nh;GH;*\n");
    put("spec.yaml", "kanon: 1\ninput: in.txt\noutput: out.txt\nclasses: {Item: {hierarchy: item.csv}}\n"
                     "privacy: [{k-mn: {k: 1, m: 1, n: 0}}]\n");
    put("in.txt", original);
    put("out.txt", release);
    assert_ok(kn_spec_read(&spec, ctx, path_of("spec.yaml"), err), *err);
    assert_ok(kn_spec_check(spec, err), *err);
    spec->kmn.k = k;
    kn_status status = kn_verify_records(r, ctx, spec, NULL, err);
    kn_spec_free(spec);
    return status;
}

static void records(void **state)
{
    (void)state;
    kn_context               *ctx = testing_context(1);
    kn_error                  err = KN_ERROR_INIT;
    kn_records_verify_report *r = NULL;
    assert_ok(verify_records(&r, ctx, "a,c\nb,c\n", "AB,c\nAB,c\n", 1, &err), err);
    assert_true(r->ok);
    assert_close(r->rpd_original, 0.125);     /* 1 of 8 values */
    assert_close(r->rpd, (0.25 + 0.125) / 2); /* and 1 of 4 pairs */
    kn_records_verify_report_free(r);
    assert_ok(verify_records(&r, ctx, "a\na\n", "a\na,b,c,d,e,f,g\n", 1, &err), err);
    assert_false(r->ok);
    assert_int_equal(count_problems(r->problems, r->problem_count, "no value of the original lies at or below"), 1);
    kn_records_verify_report_free(r);
    assert_int_equal(verify_records(&r, ctx, "a\n", "a\n", 0, &err), KN_USAGE);
    assert_null(r);
    testing_context_free(ctx);
}

int main(void)
{
    folder_set_up();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(uuids),
        cmocka_unit_test(many_wrong_keys),
        cmocka_unit_test(rows_dealt_to_nodes),
        cmocka_unit_test(digits_of_counts),
        cmocka_unit_test(rows_alike),
        cmocka_unit_test(records),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
