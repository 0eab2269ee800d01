/* test_known.c: the functions that look at records that are trees and at their release: parts of their results, what they refuse, a context
 * that is cancelled, and refused memory at every request. Figures: tests/known/run.
 * SPDX-License-Identifier: Apache-2.0 */
#include <kanon/answers.h>
#include <kanon/attack.h>
#include <kanon/measure.h>
#include <kanon/records.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "looking_testing.h"

static const char spec_text[] = "kanon: 1\ninput: people.jsonl\noutput: given.jsonl\n"
                                "classes:\n  ward: {hierarchy: ward.csv}\n  drug: {}\n  pay: {role: sensitive}\n"
                                "privacy: [{k-mn: {k: 2, m: 2, n: 1}}]\n";
static const char ward_text[] = "eyes;head;ward;*\nears;head;ward;*\nheart;chest;ward;*\n";
static const char people[] = "{\"id\": 1, \"ward\": [{\"v\": \"eyes\", \"drug\": \"salt\", \"pay\": \"low\"}]}\n"
                             "{\"id\": 2, \"ward\": [{\"v\": \"ears\", \"drug\": \"salt\", \"pay\": \"low\"}]}\n"
                             "{\"id\": 3, \"ward\": [{\"v\": \"heart\"}], \"drug\": \"salt\"}\n"
                             "{\"id\": 4, \"ward\": [{\"v\": \"heart\"}], \"drug\": \"salt\"}\n";
static const char given[] = "{\"ward\": [{\"v\": \"head\", \"drug\": \"salt\", \"pay\": \"low\"}]}\n"
                            "{\"ward\": [{\"v\": \"head\", \"drug\": \"salt\", \"pay\": \"low\"}]}\n"
                            "{\"ward\": [{\"v\": \"heart\"}], \"drug\": \"salt\"}\n"
                            "{\"ward\": [{\"v\": \"heart\"}], \"drug\": \"salt\"}\n";
static const char known[] =
    "{\"id\": 1, \"ward\": [{\"v\": \"eyes\", \"drug\": \"salt\"}]}\n{\"ward\": [{\"v\": \"skin\"}]}\n";

/* Writes a file beside the release file. */
static void put(const char *name, const char *text)
{
    testing_file(name, text, strlen(text));
}

static const char *write_all(void)
{
    put("people.jsonl", people);
    put("given.jsonl", given);
    put("known.jsonl", known);
    put("ward.csv", ward_text);
    return testing_file("spec.yaml", spec_text, sizeof spec_text - 1);
}

/* Beside the release file, as its own paths are. */
static const char *beside(char *to, size_t size, const char *spec, const char *name)
{
    snprintf(to, size, "%.*s%s", (int)(strrchr(spec, '/') - spec + 1), spec, name);
    return to;
}

static kn_status diagnose(kn_context *ctx, const kn_spec *spec, const char *path, kn_error *err)
{
    kn_records_diagnosis *d = NULL;
    kn_document          *doc = NULL;
    (void)path;
    kn_status st = kn_diagnose_records(&d, ctx, spec, NULL, err);
    if (st == KN_OK) st = kn_document_diagnose_records(&doc, ctx, d, err);
    if (st == KN_OK) {
        assert_int_equal(d->records, 4);
        assert_int_equal(d->asked.k, 2);
        assert_int_equal(d->below_records, 2);
        assert_false(d->holds);
        assert_string_equal(kn_diagnosed_class_at(d, 0)->name, "ward");
        assert_int_equal(kn_diagnosed_class_at(d, 0)->values, 3);
        assert_true(kn_diagnosed_class_at(d, 2)->sensitive);
        assert_null(kn_diagnosed_class_at(d, 3));
        assert_int_equal(kn_records_reach_at(d, 0)->unique_records, 2); /* by the ward alone */
        assert_int_equal(kn_records_reach_at(d, 2)->first_unique, 0);
        assert_null(kn_records_reach_at(d, 3));
        assert_int_equal(kn_known_classes_at(d, 1)->k, 4); /* drug */
        assert_null(kn_known_classes_at(d, d->known_count));
    }
    kn_document_free(doc);
    kn_records_diagnosis_free(d);
    return st;
}

static kn_status measure(kn_context *ctx, const kn_spec *spec, const char *path, kn_error *err)
{
    kn_records_measure_report *r = NULL;
    kn_document               *doc = NULL;
    (void)path;
    kn_status st = kn_measure_records(&r, ctx, spec, NULL, err);
    if (st == KN_OK) st = kn_document_measure_records(&doc, ctx, r, err);
    if (st == KN_OK) {
        assert_int_equal(r->suppressed, 0);
        assert_int_equal(r->nodes, 10);
        assert_int_equal(kn_measured_class_at(r, 0)->generalized, 2);
        assert_int_equal(kn_measured_class_at(r, 1)->kept, 4);
        assert_true(fabs(kn_measured_class_at(r, 0)->loss - 1.0 / 6) <
                    1e-12); /* two of four are one of two, of three */
        assert_true(r->relation_survival == 1);
        assert_null(kn_measured_class_at(r, 3));
    }
    kn_document_free(doc);
    kn_records_measure_report_free(r);
    return st;
}

static kn_status attack(kn_context *ctx, const kn_spec *spec, const char *path, kn_error *err)
{
    kn_attack_options o = KN_ATTACK_OPTIONS_INIT;
    kn_attack_report *r = NULL;
    kn_document      *doc = NULL;
    char              release[512], external[512];
    o.release = beside(release, sizeof release, path, "given.jsonl");
    o.external = beside(external, sizeof external, path, "known.jsonl");
    kn_status st = kn_attack(&r, ctx, spec, &o, err);
    if (st == KN_OK) st = kn_document_attack(&doc, ctx, r, err);
    if (st == KN_OK) {
        assert_true(r->records);
        assert_int_equal(r->k, 2);
        assert_int_equal(r->people, 2);
        assert_int_equal(r->before.unique, 1);
        assert_int_equal(r->before.none, 1);
        assert_int_equal(r->after.least, 2);
        assert_int_equal(r->after.below, 0);
        assert_int_equal(r->after.unplaced, 1); /* skin */
        assert_int_equal(r->after.certain[0], 1);
        assert_string_equal(r->links[1], "drug");
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
    const char                 *path = write_all();
    kn_context                 *ctx = testing_context(1);
    kn_spec                    *spec = NULL;
    kn_error                    err = KN_ERROR_INIT;
    kn_records_diagnosis       *d = NULL;
    kn_records_measure_report  *r = NULL;
    kn_records_diagnose_options o = KN_RECORDS_DIAGNOSE_OPTIONS_INIT;
    kn_measure_options          m = KN_MEASURE_OPTIONS_INIT;
    char                        map[512];
    (void)state;
    assert_ok(kn_spec_read(&spec, ctx, path, &err), err);
    o.kmn = (kn_kmn){2, 17, 0};
    assert_int_equal(kn_diagnose_records(&d, ctx, spec, &o, &err), KN_USAGE);
    o.kmn = (kn_kmn){2, 2, 2};
    assert_int_equal(kn_diagnose_records(&d, ctx, spec, &o, &err), KN_USAGE);
    assert_int_equal(kn_diagnose_records(&d, ctx, NULL, NULL, &err), KN_USAGE);
    assert_int_equal(kn_measure_records(&r, ctx, NULL, NULL, &err), KN_USAGE);
    m.map = beside(map, sizeof map, path, "map");
    put("map", "kanon-rowmap 1\n1\n2\n3\n3\n");
    assert_int_equal(kn_measure_records(&r, ctx, spec, &m, &err), KN_INPUT); /* one original twice */
    put("map", "kanon-rowmap 1\n1\n2\n3\n");
    assert_int_equal(kn_measure_records(&r, ctx, spec, &m, &err), KN_INPUT);
    put("given.jsonl", "{\"ward\": [{\"v\": \"head\"}]}\n{\"ward\": [{\"v\": \"heart\"}], \"drug\": \"salt\"}\n");
    assert_int_equal(kn_measure_records(&r, ctx, spec, NULL, &err), KN_INPUT); /* nobody is there without a drug */
    put("given.jsonl", "{\"ward\": [{\"v\": \"heart\"}], \"drug\": \"sand\"}\n");
    assert_int_equal(kn_measure_records(&r, ctx, spec, NULL, &err), KN_INPUT); /* nobody has it */
    put("given.jsonl", "{\"ward\": [{\"v\": \"heart\"}], \"drug\": \"salt\"}\n");
    assert_ok(kn_measure_records(&r, ctx, spec, NULL, &err), err);
    assert_int_equal(r->suppressed, 3);
    assert_int_equal(kn_measured_class_at(r, 0)->kept, 1); /* the two are equal: one of them is left out */
    kn_records_measure_report_free(r);
    kn_spec_free(spec);
    testing_context_free(ctx);
}

static void test_cancelled(void **state)
{
    look *const functions[] = {diagnose, measure, attack};
    const char *path = write_all();
    (void)state;
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        kn_context *ctx = testing_context(2);
        kn_spec    *spec = NULL;
        kn_error    err = KN_ERROR_INIT;
        assert_ok(kn_spec_read(&spec, ctx, path, &err), err);
        kn_context_cancel(ctx);
        assert_int_equal(functions[i](ctx, spec, path, &err), KN_CANCELLED);
        kn_spec_free(spec);
        testing_context_free(ctx);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_diagnose), cmocka_unit_test(test_measure),
                                       cmocka_unit_test(test_attack), cmocka_unit_test(test_refused),
                                       cmocka_unit_test(test_cancelled)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
