/* test_verify_kills_records.c: the verifier of tree records where one value decides, or many are told.
 * SPDX-License-Identifier: Apache-2.0 */
#include <kanon/verify.h>
#include <sys/stat.h>

#include "folder_testing.h"
#include "text_testing.h"

static int relations; /* the n of k-mn */

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
    spec->kmn.n = relations;
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
    assert_ok(verify_records(&r, ctx, "a,c\nb,c\nc\n", "AB,c\nAB,c\nAB\n", 1, &err), err);
    assert_false(r->ok);
    assert_int_equal(count_problems(r->problems, r->problem_count, "no original is left that it could have been"), 1);
    kn_records_verify_report_free(r);
    assert_int_equal(verify_records(&r, ctx, "a\n", "a\n", 0, &err), KN_USAGE);
    relations = -1;
    assert_int_equal(verify_records(&r, ctx, "a\n", "a\n", 1, &err), KN_USAGE);
    relations = 0;
    assert_null(r);
    testing_context_free(ctx);
}

/* Seventy values below a head, or one of them beside it in the second record: who knows where it is finds one record. */
static void relations_of_long_records(void **state)
{
    (void)state;
    enum { VALUES = 70 };
    kn_context *ctx = testing_context(2);
    text        tree = {.size = 0};
    for (int i = 0; i < VALUES; i++) add(&tree, "i%d;*\n", i);
    put("many.csv", tree.data);
    put("head.csv", "h;*\n");
    put("spec.yaml",
        "kanon: 1\ninput: in.json\noutput: out.json\nclasses: {Head: {value: v, hierarchy: head.csv}, Item: "
        "{value: v, hierarchy: many.csv}}\nprivacy: [{k-mn: {k: 2, m: 2, n: 1}}]\n");
    for (int beside = 0; beside <= VALUES; beside++) {
        kn_error                  err = KN_ERROR_INIT;
        kn_spec                  *spec = NULL;
        kn_records_verify_report *r = NULL;
        text                      trees = {.size = 0};
        for (int record = 0; record < 2; record++) {
            add(&trees, record == 0 ? "[{\"children\": [" : ", {\"children\": [");
            bool whole = record == 0 || beside == VALUES;
            if (!whole) add(&trees, "{\"v\": \"i%d\"}, ", beside);
            add(&trees, "{\"v\": \"h\", \"children\": [");
            for (int i = 0, n = 0; i < VALUES; i++)
                if (whole || i != beside) add(&trees, "%s{\"v\": \"i%d\"}", n++ > 0 ? ", " : "", i);
            add(&trees, "]}]}");
        }
        add(&trees, ", {\"children\": [{\"v\": \"h\"}]}]\n"); /* more records have the head than any of the values */
        put("in.json", trees.data);
        put("out.json", trees.data);
        assert_ok(kn_spec_read(&spec, ctx, path_of("spec.yaml"), &err), err);
        assert_ok(kn_verify_records(&r, ctx, spec, NULL, &err), err);
        if (r->k != (beside < VALUES ? 1 : 2)) fail_msg("i%d: %d", beside, (int)r->k);
        kn_records_verify_report_free(r);
        kn_spec_free(spec);
    }
    testing_context_free(ctx);
}

/* Of 25 records each lacks another of 25 values: twenty of those who are found are told. */
static void absences_told(void **state)
{
    (void)state;
    enum { VALUES = 25 };
    kn_context               *ctx = testing_context(2);
    kn_error                  err = KN_ERROR_INIT;
    kn_spec                  *spec = NULL;
    kn_records_verify_report *r = NULL;
    text                      tree = {.size = 0}, baskets = {.size = 0};
    for (int i = 0; i < VALUES; i++) {
        add(&tree, "%c;*\n", 'a' + i);
        for (int j = 0, n = 0; j < VALUES; j++)
            if (j != i) add(&baskets, n++ > 0 ? ",%c" : "%c", 'a' + j);
        add(&baskets, "\n");
    }
    put("letters.csv", tree.data);
    put("in.txt", baskets.data);
    put("out.txt", baskets.data);
    put("spec.yaml", "kanon: 1\ninput: in.txt\noutput: out.txt\nclasses: {Item: {hierarchy: letters.csv, negative: "
                     "true}}\nprivacy: [{k-mn: {k: 2, m: 2, n: 0}}]\n");
    assert_ok(kn_spec_read(&spec, ctx, path_of("spec.yaml"), &err), err);
    assert_ok(kn_verify_records(&r, ctx, spec, NULL, &err), err);
    assert_false(r->ok);
    assert_int_equal(count_problems(r->problems, r->problem_count, ": whoever knows "), 20);
    kn_records_verify_report_free(r);
    kn_spec_free(spec);
    testing_context_free(ctx);
}

/* X above Y, Y above Z and X above Z, each in another branch of one record and all in one branch of the others, of which all but
 * one have W, too: who knows a path and that there is no W finds one record, in whatever order they come. */
static void paths_of_one_record(void **state)
{
    (void)state;
    static const char branches[] = "{\"children\": [{\"v\": \"X\", \"children\": [{\"v\": \"Y\"}]}, "
                                   "{\"v\": \"Y\", \"children\": [{\"v\": \"Z\"}]}, "
                                   "{\"v\": \"X\", \"children\": [{\"v\": \"Z\"}]}]}",
                      branch[] = "{\"children\": [{\"v\": \"X\", \"children\": [{\"v\": \"Y\", "
                                 "\"children\": [{\"v\": \"Z\"}]}]}]}",
                      other[] = "{\"children\": [{\"v\": \"W\"}, {\"v\": \"X\", \"children\": [{\"v\": \"Y\", "
                                "\"children\": [{\"v\": \"Z\"}]}]}]}";
    kn_context *ctx = testing_context(1);
    for (const char *letter = "WXYZ"; *letter; letter++) {
        char name[] = "?.csv", line[] = "?;*\n";
        name[0] = line[0] = *letter;
        put(name, line);
    }
    put("spec.yaml",
        "kanon: 1\ninput: in.json\noutput: out.json\nclasses: {w: {value: v, hierarchy: W.csv, negative: true}, "
        "x: {value: v, hierarchy: X.csv}, y: {value: v, hierarchy: Y.csv}, z: {value: v, hierarchy: Z.csv}}\n"
        "privacy: [{k-mn: {k: 2, m: 4, n: 2}}]\noptions: {semantics: paths}\n");
    for (int turn = 0; turn < 2; turn++) {
        kn_error                  err = KN_ERROR_INIT;
        kn_spec                  *spec = NULL;
        kn_records_verify_report *r = NULL;
        text                      trees = {.size = 0};
        add(&trees, "[%s, %s, %s, %s]\n", turn ? branch : branches, turn ? branches : branch, other, other);
        put("in.json", trees.data);
        put("out.json", trees.data);
        assert_ok(kn_spec_read(&spec, ctx, path_of("spec.yaml"), &err), err);
        assert_ok(kn_verify_records(&r, ctx, spec, NULL, &err), err);
        assert_true(r->decided);
        assert_int_equal(r->k, 1);
        kn_records_verify_report_free(r);
        kn_spec_free(spec);
    }
    testing_context_free(ctx);
}

/* Seventeen values, present and absent, are more than are counted together: undecided, not proved. */
static void too_many_absences(void **state)
{
    (void)state;
    kn_context               *ctx = testing_context(1);
    kn_error                  err = KN_ERROR_INIT;
    kn_spec                  *spec = NULL;
    kn_records_verify_report *r = NULL;
    text                      tree = {.size = 0};
    for (int i = 0; i < 18; i++) add(&tree, "%c;*\n", 'a' + i);
    put("letters.csv", tree.data);
    for (int i = 0; i < 2; i++)
        put(i == 0 ? "in.txt" : "out.txt", "a,b\na,b\nc,d,e\nc,d,e\nf,g,h,i,j,k,l,m,n,o,p,q,r\n"
                                           "f,g,h,i,j,k,l,m,n,o,p,q,r\n");
    put("spec.yaml", "kanon: 1\ninput: in.txt\noutput: out.txt\nclasses: {Item: {hierarchy: letters.csv, negative: "
                     "true}}\nprivacy: [{k-mn: {k: 2, m: 17, n: 0}}]\n");
    assert_ok(kn_spec_read(&spec, ctx, path_of("spec.yaml"), &err), err);
    assert_ok(kn_verify_records(&r, ctx, spec, NULL, &err), err);
    assert_int_equal(r->outcome, KN_OUTCOME_UNDECIDED);
    assert_int_equal(count_problems(r->open, r->open_count, "too many combinations with absent values"), 1);
    kn_records_verify_report_free(r);
    kn_spec_free(spec);
    testing_context_free(ctx);
}

/* Persons of a database as records: a class is a quasi-identifier or a sensitive column of the table that it names. */
static void classes_of_columns(void **state)
{
    (void)state;
    static const struct {
        const char *class, *message;
    } cases[] = {
        {"visit.name", NULL},
        {"city", NULL},
        {"person.name", "class \"person.name\": no quasi-identifier or sensitive column is called so"},
        {"person.id", "class \"person.id\": no quasi-identifier or sensitive column is called so"},
        {"shoe", "class \"shoe\": no quasi-identifier or sensitive column is called so"},
        {"ward", "class \"ward\": several tables have that column"},
    };
    mkdir(path_of("in"), 0700);
    put("in/person.csv", "id,city,name,shoe,ward\np1,Nice,Ann,38,A\np2,Nice,Bob,44,A\n");
    put("in/visit.csv", "vid,id,ward,name\nv1,p1,A,x\nv2,p2,A,x\n");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kn_context               *ctx = testing_context(1);
        kn_error                  err = KN_ERROR_INIT;
        kn_spec                  *spec = NULL;
        kn_records_verify_report *r = NULL;
        text                      yaml = {.size = 0}, out = {.size = 0};
        add(&yaml,
            "kanon: 1\ninput: in/\noutput: out.json\nentity: {table: person}\ntables:\n"
            "  person: {key: [id], attributes: {city: {role: quasi}, name: {role: identifier}, ward: {role: quasi}}}\n"
            "  visit: {key: [vid], parent: {table: person, columns: [id]}, attributes: {ward: {role: quasi}, name: "
            "{role: "
            "quasi}}}\nclasses: {\"%s\": {}}\nprivacy: [{k-mn: {k: 2, m: 1, n: 0}}]\n",
            cases[i].class);
        const char *value = i == 0 ? "x" : "Nice";
        for (int record = 0; record < 2; record++)
            add(&out, "%s{\"children\": [{\"v\": \"%s\", \"class\": \"%s\"}]}", record ? ",\n  " : "[\n  ", value,
                cases[i].class);
        add(&out, "\n ]\n");
        put("spec.yaml", yaml.data);
        put("out.json", out.data);
        assert_ok(kn_spec_read(&spec, ctx, path_of("spec.yaml"), &err), err);
        kn_status status = kn_verify_records_files(&r, ctx, spec, NULL, &err);
        if (!cases[i].message) assert_ok(status, err);
        if (cases[i].message && status == KN_OK) fail_msg("wanted: %s", cases[i].message);
        if (cases[i].message) assert_string_equal(err.message, cases[i].message);
        kn_records_verify_report_free(r);
        kn_spec_free(spec);
        testing_context_free(ctx);
    }
}

/* What is to be compared must be given. */
static void files_that_are_not_given(void **state)
{
    (void)state;
    kn_context               *ctx = testing_context(1);
    kn_error                  err = KN_ERROR_INIT;
    kn_spec                  *spec = NULL;
    kn_records_verify_report *r = NULL;
    put("in.txt", "a\n");
    put("spec.yaml", "kanon: 1\nclasses: {Item: {}}\nprivacy: [{k-mn: {k: 1, m: 1, n: 0}}]\n");
    assert_ok(kn_spec_read(&spec, ctx, path_of("spec.yaml"), &err), err);
    kn_records_verify_options options = KN_RECORDS_VERIFY_OPTIONS_INIT;
    for (int i = 0; i < 2; i++) {
        options.original = i == 0 ? path_of("in.txt") : NULL;
        options.release = i == 1 ? path_of("in.txt") : NULL;
        assert_int_equal(kn_verify_records_files(&r, ctx, spec, &options, &err), KN_USAGE);
        assert_string_equal(err.message, i == 0 ? "no release was given" : "no original was given");
    }
    kn_spec_free(spec);
    testing_context_free(ctx);
}

int main(void)
{
    folder_set_up();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records),
        cmocka_unit_test(relations_of_long_records),
        cmocka_unit_test(absences_told),
        cmocka_unit_test(paths_of_one_record),
        cmocka_unit_test(too_many_absences),
        testing_alone(classes_of_columns),
        testing_alone(files_that_are_not_given),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
