/* test_persons.c: the functions that look at the persons of a database and of its release: parts of their results, what they refuse,
 * and refused memory at every request. Figures: tests/persons/run.
 * SPDX-License-Identifier: Apache-2.0 */
#include <kanon/answers.h>
#include <kanon/measure.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "looking_testing.h"

static const char spec_text[] =
    "kanon: 1\ninput: clinic/\noutput: given/\nentity: {table: people, key: id}\n"
    "tables:\n  people: {key: id, attributes: {sex: {role: quasi}, pay: {role: sensitive}}}\n"
    "  visits: {key: vid, parent: {table: people, column: person}, attributes: {ward: {role: quasi, hierarchy: "
    "ward.csv}}}\n"
    "privacy: [{k: 2}]\n";

static const char ward_text[] = "eyes;head;*\nears;head;*\nheart;chest;*\n";

/* Writes a file into a folder beside the release file. */
static void put(const char *folder, const char *name, const char *text)
{
    char path[512], place[600];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    snprintf(place, sizeof place, "%s", testing_file("spec.yaml", spec_text, sizeof spec_text - 1));
    snprintf(strrchr(place, '/') + 1, 80, "%s", folder);
    (void)mkdir(place, 0700);
    testing_file(path, text, strlen(text));
}

static const char *write_all(void)
{
    put("clinic", "people.csv", "id,sex,pay\n1,F,1\n2,F,2\n3,M,3\n4,M,4\n");
    put("clinic", "visits.csv", "vid,person,ward\na,1,eyes\nb,2,ears\nc,3,heart\nd,4,heart\ne,9,heart\n");
    put("given", "people.csv", "id,sex,pay\n1,F,1\n2,F,2\n3,M,3\n4,M,4\n");
    put("given", "visits.csv", "vid,person,ward\n1,1,head\n2,2,head\n3,3,heart\n4,4,heart\n");
    put("known", "people.csv", "id,sex\nx,F\ny,M\n");
    put("known", "visits.csv", "vid,person,ward\n1,x,eyes\n2,y,heart\n");
    testing_file("ward.csv", ward_text, sizeof ward_text - 1);
    return testing_file("spec.yaml", spec_text, sizeof spec_text - 1);
}

/* Beside the release file, as its own paths are. */
static void beside(char *to, size_t size, const char *spec, const char *name)
{
    snprintf(to, size, "%.*s%s", (int)(strrchr(spec, '/') - spec + 1), spec, name);
}

static kn_status diagnose(kn_context *ctx, const kn_spec *spec, const char *path, kn_error *err)
{
    kn_database_diagnose_options o = KN_DATABASE_DIAGNOSE_OPTIONS_INIT;
    kn_database_diagnosis       *d = NULL;
    kn_document                 *doc = NULL;
    (void)path;
    o.k = 2;
    kn_status st = kn_diagnose_database(&d, ctx, spec, &o, err);
    if (st == KN_OK) st = kn_document_diagnose_database(&doc, ctx, d, &o, err);
    if (st == KN_OK) {
        assert_int_equal(d->k, 1);
        assert_int_equal(d->classes, 3);
        assert_int_equal(d->below_persons, 2);
        assert_false(d->holds);
        assert_int_equal(kn_diagnosed_table_at(d, 1)->orphans, 1);
        assert_int_equal(kn_diagnosed_size_at(d, 1)->rows, 2);
        assert_string_equal(kn_diagnosed_table_at(d, kn_known_at(d, 1)->tables[0])->name, "visits");
        assert_int_equal(kn_known_at(d, 0)->k, 2); /* sex */
        assert_null(kn_known_at(d, d->known_count));
    }
    kn_document_free(doc);
    kn_database_diagnosis_free(d);
    return st;
}

static kn_status measure(kn_context *ctx, const kn_spec *spec, const char *path, kn_error *err)
{
    kn_database_measure_report *r = NULL;
    kn_document                *doc = NULL;
    (void)path;
    kn_status st = kn_measure_database(&r, ctx, spec, NULL, err);
    if (st == KN_OK) st = kn_document_measure_database(&doc, ctx, r, err);
    if (st == KN_OK) {
        assert_int_equal(r->k, 2);
        assert_true(r->dm == 8);
        assert_int_equal(kn_measured_table_at(r, 1)->released, 4);
        assert_int_equal(kn_measured_column_at(r, 1)->generalized, 2);
        assert_null(kn_measured_column_at(r, 2));
    }
    kn_document_free(doc);
    kn_database_measure_report_free(r);
    return st;
}

static kn_status attack(kn_context *ctx, const kn_spec *spec, const char *path, kn_error *err)
{
    kn_attack_options o = KN_ATTACK_OPTIONS_INIT;
    kn_attack_report *r = NULL;
    kn_document      *doc = NULL;
    char              release[512], known[512];
    beside(release, sizeof release, path, "given/");
    beside(known, sizeof known, path, "known/");
    o.release = release;
    o.external = known;
    kn_status st = kn_attack(&r, ctx, spec, &o, err);
    if (st == KN_OK) st = kn_document_attack(&doc, ctx, r, err);
    if (st == KN_OK) {
        assert_true(r->database);
        assert_int_equal(r->before.unique, 1);
        assert_int_equal(r->after.least, 2);
        assert_int_equal(r->after.below, 0);
        assert_string_equal(r->links[1], "visits.ward");
    }
    kn_document_free(doc);
    kn_attack_report_free(r);
    return st;
}

static void test_diagnose(void **state)
{
    (void)state;
    looking_refused(write_all(), diagnose);
}

static void test_measure(void **state)
{
    (void)state;
    looking_refused(write_all(), measure);
}

static void test_attack(void **state)
{
    (void)state;
    looking_refused(write_all(), attack);
}

static void test_refused(void **state)
{
    const char                  *path = write_all();
    kn_context                  *ctx = testing_context(1);
    kn_spec                     *spec = NULL;
    kn_error                     err = KN_ERROR_INIT;
    kn_database_diagnosis       *d = NULL;
    kn_database_measure_report  *r = NULL;
    kn_database_diagnose_options o = KN_DATABASE_DIAGNOSE_OPTIONS_INIT;
    (void)state;
    assert_ok(kn_spec_read(&spec, ctx, path, &err), err);
    o.k = -1;
    assert_int_equal(kn_diagnose_database(&d, ctx, spec, &o, &err), KN_USAGE);
    o.k = 0;
    o.max_size = -1;
    assert_int_equal(kn_diagnose_database(&d, ctx, spec, &o, &err), KN_USAGE);
    assert_int_equal(kn_diagnose_database(&d, ctx, NULL, NULL, &err), KN_USAGE);
    assert_int_equal(kn_measure_database(&r, ctx, NULL, NULL, &err), KN_USAGE);
    put("given", "people.csv", "id,sex,pay\n1,F,1\n");
    assert_int_equal(kn_measure_database(&r, ctx, spec, NULL, &err), KN_OK); /* three visits are nobody's */
    assert_int_equal(r->suppressed, 3);
    assert_int_equal(kn_measured_table_at(r, 1)->released, 1);
    kn_database_measure_report_free(r);
    kn_spec_free(spec);
    testing_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_diagnose), cmocka_unit_test(test_measure),
                                       cmocka_unit_test(test_attack), cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
