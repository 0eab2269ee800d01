/* test_refused_options.c: what a program asks of the library is done or refused (KN_USAGE), never passed over: options that
 * the data, the method or another option leaves without effect. tests/matrix does the same for the command line.
 * SPDX-License-Identifier: Apache-2.0 */
#include <kanon/kanon.h>
#include <stdio.h>
#include <string.h>

#include "testing.h"

static kn_context *ctx;
static kn_error    err;

static void put(const char *name, const char *text)
{
    assert_int_equal(kn_memory_put(ctx, name, text, strlen(text), &err), KN_OK);
}

static int set_up(void **state)
{
    (void)state;
    kn_context_options options = KN_CONTEXT_OPTIONS_INIT;
    if (kn_context_create(&ctx, &options, &err) != KN_OK || kn_memory_enable(ctx, &err) != KN_OK) return -1;
    put("memory:t.csv", "age,zip,ill\n1,x,a\n1,x,b\n2,y,a\n2,y,b\n3,x,a\n");
    put("memory:db/person.csv", "id,zip,job\n1,x,p\n2,x,q\n3,y,p\n4,y,r\n5,x,q\n");
    put("memory:r.json", "[{\"record\": {\"drug\": \"a\"}}, {\"record\": {\"drug\": \"a\"}}]\n");
    put("memory:b.txt", "a,b\na,b\n");
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    kn_context_free(ctx);
    return 0;
}

static kn_spec *spec_of(const char *text)
{
    kn_spec *spec = NULL;
    if (kn_spec_read_text(&spec, ctx, text, strlen(text), "test", &err) != KN_OK || kn_spec_check(spec, &err) != KN_OK)
        fail_msg("%s", err.message);
    return spec;
}

static kn_table *table_of(void)
{
    kn_table *table = NULL;
    assert_int_equal(kn_table_read_csv(&table, ctx, "memory:t.csv", NULL, &err), KN_OK);
    return table;
}

/* Refused, in words that name it. */
static void assert_refused(kn_status status, const char *word)
{
    assert_int_equal(status, KN_USAGE);
    if (!strstr(err.message, word)) fail_msg("no \"%s\" in: %s", word, err.message);
}

#define TABLE                                                                                                          \
    "kanon: 1\nforce: true\ninput: memory:t.csv\noutput: memory:out.csv\nprivacy: [{k: 2}]\n"                          \
    "attributes: {age: {role: quasi}, zip: {role: quasi}, ill: {role: sensitive}}\n"
#define DATABASE                                                                                                       \
    "kanon: 1\nforce: true\ninput: memory:db/\noutput: memory:dbout/\nprivacy: [{k: 2}]\n"                             \
    "entity: {table: person, key: id}\n"                                                                               \
    "tables: {person: {key: id, attributes: {zip: {role: quasi}, job: {role: sensitive}}}}\n"
#define RECORDS                                                                                                        \
    "kanon: 1\nforce: true\ninput: memory:b.txt\noutput: memory:out.txt\nprivacy: [{k-mn: {k: 2, m: 1, n: 0}}]\n"      \
    "classes: {drug: {}}\n"

/* ---- Releases ---- */

static void all_solutions_without_nodes(void **state)
{
    static const char *const specs[] = {TABLE "method: mondrian\n", TABLE "method: auto\n", DATABASE, RECORDS};
    kn_anonymize_options     options = KN_ANONYMIZE_OPTIONS_INIT;
    (void)state;
    options.all_solutions = true;
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
        kn_spec         *spec = spec_of(specs[i]);
        kn_release_head *head = NULL;
        assert_refused(kn_anonymize_any(&head, ctx, spec, &options, &err), "all solutions");
        assert_null(head);
        kn_spec_free(spec);
    }
    kn_spec           *spec = spec_of(TABLE "method: optimal\n");
    kn_release_result *result = NULL;
    assert_int_equal(kn_anonymize(&result, ctx, spec, &options, &err), KN_OK);
    assert_true(result->solution_count > 0);
    kn_release_result_free(result);
    kn_spec_free(spec);
}

/* Levels and frontiers need no method: optimal has them, and so has auto, which tries it; one without any is refused. */
static void levels_without_a_named_method(void **state)
{
    static const struct {
        const char *method;
        bool        has_levels;
    } methods[] = {{"", true}, {"method: auto\n", true}, {"method: datafly\n", true}, {"method: mondrian\n", false}};
    (void)state;
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        char            text[600];
        kn_frontier    *frontier = NULL;
        kn_explanation *explanation = NULL;
        snprintf(text, sizeof text, TABLE "%s", methods[i].method);
        kn_spec  *spec = spec_of(text);
        kn_status status = kn_frontier_find(&frontier, ctx, spec, &err);
        if (methods[i].has_levels) {
            assert_int_equal(status, KN_OK);
            assert_int_equal((int)frontier->lattice,
                             6); /* "age" as it is, a range or *; the other column as it is, or * */
        } else {
            assert_refused(status, "frontier");
        }
        assert_refused(kn_explain(&explanation, ctx, spec, &err),
                       methods[i].has_levels ? "has no level to look at" : "levels");
        kn_frontier_free(frontier);
        kn_spec_free(spec);
        if (!methods[i].has_levels) continue;
        snprintf(text, sizeof text, TABLE "%slevels: [2, 0]\n", methods[i].method);
        spec = spec_of(text);
        assert_int_equal(kn_explain(&explanation, ctx, spec, &err), KN_OK);
        assert_int_equal(explanation->classes, 2);
        kn_explanation_free(explanation);
        kn_spec_free(spec);
    }
}

/* ---- Verification ---- */

static void tables(void **state)
{
    (void)state;
    kn_spec          *spec = spec_of(TABLE);
    kn_verify_report *report = NULL;
    kn_verify_options options = KN_VERIFY_OPTIONS_INIT;
    int64_t           map[] = {0, 1, 2, 3, 4};
    int               levels[] = {1, 1, 1};
    options.release = "memory:t.csv";
    options.map = map;
    options.map_count = 5;
    options.map_path = "memory:no.rowmap";
    assert_refused(kn_verify(&report, ctx, spec, &options, &err), "row map");
    options.map_path = NULL;
    options.levels = levels;
    for (options.level_count = 0; options.level_count < 4; options.level_count++) {
        if (options.level_count == 2) continue;
        assert_refused(kn_verify(&report, ctx, spec, &options, &err), "levels");
    }
    kn_spec_free(spec);
}

static void databases(void **state)
{
    (void)state;
    kn_spec                   *spec = spec_of(DATABASE);
    kn_database_verify_report *report = NULL;
    kn_database_verify_options options = KN_DATABASE_VERIFY_OPTIONS_INIT;
    kn_database_options        reading = KN_DATABASE_OPTIONS_INIT;
    kn_database               *database = NULL;
    int64_t                    map[] = {0, 1, 2, 3, 4};
    options.release = "memory:db/";
    options.snapshot = "00000003-0000001B-1";
    assert_refused(kn_verify_database(&report, ctx, spec, &options, &err), "snapshot");
    options.snapshot = NULL;
    options.map = map;
    options.map_count = 5;
    options.map_path = "memory:no.rowmap";
    assert_refused(kn_verify_database(&report, ctx, spec, &options, &err), "row map");
    reading.snapshot = "00000003-0000001B-1";
    assert_refused(kn_database_read(&database, ctx, "memory:db/", &reading, &err), "snapshot");
    reading.snapshot = NULL;
    reading.schema = "public";
    assert_refused(kn_database_read(&database, ctx, "memory:db/", &reading, &err), "schema");
    kn_spec_free(spec);
}

static void records(void **state)
{
    (void)state;
    kn_spec                  *spec = spec_of(RECORDS);
    kn_records_verify_report *report = NULL;
    kn_records_verify_options options = KN_RECORDS_VERIFY_OPTIONS_INIT;
    kn_records_options        reading = KN_RECORDS_OPTIONS_INIT;
    kn_records               *read = NULL;
    int64_t                   map[] = {0, 1};
    options.release = "memory:b.txt";
    options.snapshot = "00000003-0000001B-1";
    assert_refused(kn_verify_records(&report, ctx, spec, &options, &err), "snapshot");
    options.snapshot = NULL;
    options.map = map;
    options.map_count = 2;
    options.map_path = "memory:no.rowmap";
    assert_refused(kn_verify_records(&report, ctx, spec, &options, &err), "row map");
    reading.classes = kn_spec_class_at(spec, 0);
    reading.class_count = 1;
    reading.record = "person";
    assert_refused(kn_records_read(&read, ctx, "memory:b.txt", &reading, &err), "record");
    reading.record = NULL;
    reading.delimiter = ';';
    assert_refused(kn_records_read(&read, ctx, "memory:r.json", &reading, &err), "delimiter");
    kn_spec_free(spec);
}

/* ---- Looking at a table ---- */

static void diagnoses(void **state)
{
    (void)state;
    static const char *const names[] = {"age", "zip"};
    kn_table                *table = table_of();
    kn_diagnose_options      diagnose = KN_DIAGNOSE_OPTIONS_INIT;
    kn_sets_options          sets = KN_SETS_OPTIONS_INIT;
    kn_risk_options          risk = KN_RISK_OPTIONS_INIT;
    kn_diagnosis            *one = NULL;
    kn_sets_diagnosis       *many = NULL;
    kn_risk                 *measured = NULL;
    diagnose.quasi = sets.over = risk.quasi = names;
    diagnose.quasi_count = sets.over_count = risk.quasi_count = 2;
    diagnose.suppress = sets.suppress = risk.sampling = (kn_fraction){1, 10};
    assert_refused(kn_diagnose(&one, ctx, table, &diagnose, &err), "suppression");
    assert_refused(kn_diagnose_sets(&many, ctx, table, &sets, &err), "suppression");
    assert_refused(kn_risk_measure(&measured, ctx, table, &risk, &err), "sampling");
    sets.suppress.numerator = 0;
    sets.time_limit = 10; /* without k */
    assert_refused(kn_diagnose_sets(&many, ctx, table, &sets, &err), "time limit");
    sets.k = 2;
    sets.algorithm = KN_SETS_PAPER;
    assert_refused(kn_diagnose_sets(&many, ctx, table, &sets, &err), "time limit");
    sets.algorithm = KN_SETS_FAST;
    assert_int_equal(kn_diagnose_sets(&many, ctx, table, &sets, &err), KN_OK);
    kn_sets_diagnosis_free(many);
    kn_table_free(table);
}

static void attacks(void **state)
{
    (void)state;
    kn_spec          *spec = spec_of(TABLE);
    kn_attack_options options = KN_ATTACK_OPTIONS_INIT;
    kn_attack_report *report = NULL;
    options.release = options.external = options.original = "memory:t.csv";
    options.no_original = true;
    assert_refused(kn_attack(&report, ctx, spec, &options, &err), "original");
    kn_spec_free(spec);
}

static void generators(void **state)
{
    (void)state;
    kn_table *table = NULL;
    for (int i = 0; i < 4; i++) {
        kn_generate_options options = KN_GENERATE_OPTIONS_INIT;
        options.rows = 3;
        options.kind = i < 2 ? KN_GENERATE_ADULT_LIKE : KN_GENERATE_UNIFORM;
        if (i == 0) options.attributes = 2;
        if (i == 1) options.cardinality = 3;
        if (i == 2) options.mean = 1;
        if (i == 3) options.deviation = 1;
        assert_refused(kn_generate_table(&table, ctx, &options, &err), "normal");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_solutions_without_nodes),
        cmocka_unit_test(levels_without_a_named_method),
        cmocka_unit_test(tables),
        cmocka_unit_test(databases),
        cmocka_unit_test(records),
        cmocka_unit_test(diagnoses),
        cmocka_unit_test(attacks),
        cmocka_unit_test(generators),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
