/* test_workload_files.c: workloads and published statistics through files: measuring, releasing with a summary, verifying it;
 * what is refused; memory that runs out.
 * SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include <kanon/anonymize.h>
#include <kanon/verify.h>
#include <kanon/workload.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kn_summary.h"
#include "kn_table.h"
#include "kn_workload.h"

static void test_summary_file(void **state)
{
    static const char table[] = "age,age_min,c;d\n30,2.5,x\n31,2.5,x\n40,3.75,\"y,\"\n42,1.25,\"y,\"\n44,1.25,\"y,\"\n";
    kn_context       *ctx = testing_context(1);
    kn_table         *t = NULL;
    kn_plan          *plan = NULL;
    kn_summary       *summary = NULL;
    kn_output        *output = NULL;
    kn_error          err = KN_ERROR_INIT;
    (void)state;
    char path[4096];
    snprintf(path, sizeof path, "%s.out", testing_file("s.csv", table, sizeof table - 1));
    assert_ok(kn_table_read_csv(&t, ctx, testing_file("s.csv", table, sizeof table - 1), NULL, &err), err);
    assert_int_equal(kn_table_columns(t), 3);
    assert_ok(kn_plan_create(&plan, ctx, 5, 3, 2, &err), err);
    const uint32_t      classes[5] = {1, 1, 0, 0, 0};
    const kn_cell       cells[6] = {{KN_CELL_RANGE, 2, 4}, {KN_CELL_STAR, 0, 0},  {KN_CELL_VALUE, 1, 0},
                                    {KN_CELL_RANGE, 0, 1}, {KN_CELL_VALUE, 1, 0}, {KN_CELL_VALUE, 0, 0}};
    const int           quasi[3] = {0, 1, 2};
    const kn_hierarchy *none[3] = {NULL, NULL, NULL};
    memcpy(plan->class_of_row, classes, sizeof classes);
    memcpy(plan->cells, cells, sizeof cells);
    plan->class_rows[0] = 3;
    plan->class_rows[1] = 2;
    assert_ok(kn_summary_make(&summary, ctx, t, quasi, plan, 2, &err), err);
    assert_ok(kn_output_open(&output, ctx, path, NULL, &err), err);
    assert_ok(kn_summary_write(output, summary, t, quasi, none, plan, ',', false, "", &err), err);
    assert_ok(kn_output_commit(output, &err), err);
    char *text = testing_contents(path, NULL);
    /* The statistic's name gives way to the column's; text has no statistics; lines in the order of their bytes. */
    assert_string_equal(text, "age,age_min,c;d,rows,age_min_,age_max,age_mean,age_min_min,age_min_max,age_min_mean\n"
                              "\"[30, 31]\",2.5,x,2,30,31,30.5,2.5,2.5,2.5\n"
                              "\"[40, 44]\",*,\"y,\",3,40,44,42,1.25,3.75,2.08333333333333\n");
    free(text);
    remove(path);
    kn_summary_free(summary);
    kn_plan_free(plan);
    kn_table_free(t);
    testing_context_free(ctx);
}

/* ---- Files ---- */

static const char people[] = "name,age,city,disease,born\n"
                             "Ann,23,Lyon,flu,1990-01-02\nBea,24,Lyon,gout,1990-02-03\nCid,31,Paris,flu,1980-05-06\n"
                             "Dan,38,Lille,ulcer,1975-07-08\nEve,52,Nice,flu,1960-09-10\nFay,26,Lyon,flu,1988-11-12\n"
                             "Gil,27,Paris,ulcer,1987-03-04\n";
static const char cities[] = "Paris;North;*\nLille;North;*\nLyon;South;*\nNice;South;*\n";
static const char released[] = "age,city,disease\n\"[23, 26]\",South,flu\n[23-26],South,gout\n[23-26],South,flu\n"
                               "\"[27, 38]\",North,flu\n[27-38],North,ulcer\n27-38,North,ulcer\n*,*,*\n";
static const char queries[] = "2 SELECT COUNT(*) FROM p WHERE age BETWEEN 24 AND 30 AND disease IN ('flu','gout');\n"
                              "SELECT COUNT(*) FROM p WHERE city = 'Lyon';\nSELECT AVG(age);\n"
                              "SELECT SUM(age) WHERE disease <> 'flu';\nSELECT MIN(age) WHERE city = 'Paris';\n"
                              "SELECT MAX(age) WHERE age < 30; SELECT COUNT(*)";
static const char statistics[] = "age,city,rows,age_min,age_max,age_mean\n\"[23, 26]\",South,3,23,26,24.3333333333333\n"
                                 "\"[27, 38]\",North,3,27,38,32\n";

static kn_status measure_files(kn_workload_report **out, kn_context *ctx, const char *release, const char *workload,
                               const char *summary, kn_error *err)
{
    kn_spec           *spec = NULL;
    kn_workload       *w = NULL;
    kn_measure_options options = KN_MEASURE_OPTIONS_INIT;
    const char        *original = testing_file("people.csv", people, sizeof people - 1);
    char               text[4200];
    snprintf(text, sizeof text, "{hierarchy: '%s'}", testing_file("city.csv", cities, sizeof cities - 1));
    options.originals = &original;
    options.original_count = 1;
    options.release = testing_file("released.csv", release, strlen(release));
    kn_status st = kn_spec_create(&spec, ctx, err);
    if (st == KN_OK) st = kn_spec_set_role(spec, "age", KN_ROLE_QUASI, err);
    if (st == KN_OK) st = kn_spec_set_role(spec, "city", KN_ROLE_QUASI, err);
    if (st == KN_OK) st = kn_spec_set_attribute(spec, "city", text, NULL, err);
    if (st == KN_OK) st = kn_workload_parse(&w, ctx, "w.sql", workload, strlen(workload), err);
    if (st == KN_OK)
        st = kn_measure_workload(out, ctx, spec, &options, w,
                                 summary ? testing_file("summary.csv", summary, strlen(summary)) : NULL, err);
    kn_workload_free(w);
    kn_spec_free(spec);
    return st;
}

static void test_files(void **state)
{
    kn_context         *ctx = testing_context(2);
    kn_workload_report *r = NULL;
    kn_error            err = KN_ERROR_INIT;
    (void)state;
    assert_ok(measure_files(&r, ctx, released, queries, NULL, &err), err);
    assert_int_equal(r->query_count, 7);
    assert_int_equal(r->rows, 7);
    assert_int_equal(r->released, 6);
    const double truth[] = {2, 3, 221.0 / 7, 89, 27, 27, 7};
    /* COUNT of the first: 2 flu + 1 gout, 3/4 of them; 1 flu, 4/12 of it. */
    const double estimates[] = {2.25 + 4.0 / 12, 1.5, 28.5, 24.5 + 65, 27, 29, 6};
    const double lower[] = {0, 0, 23, 23 + 2 * 27, 23, 23, 6}, upper[] = {5, 4, 52, 26 + 76 + 52, 52, 29, 7};
    for (int q = 0; q < 7; q++) {
        assert_close(r->answers[q].original, truth[q]);
        assert_close(r->answers[q].estimate, estimates[q]);
        assert_close(r->answers[q].lower, lower[q]);
        assert_close(r->answers[q].upper, upper[q]);
        assert_int_equal(r->answers[q].source, q >= 2 && q < 6 ? KN_ANSWER_CELLS : KN_ANSWER_COUNTED);
    }
    assert_close(r->weight, 8);
    assert_close(r->total, r->mean * 8);
    kn_workload_report_free(r);
    assert_ok(measure_files(&r, ctx, released, "SELECT AVG(age); SELECT MIN(age) WHERE city IN ('Paris', 'Lille')",
                            statistics, &err),
              err);
    assert_close(r->answers[0].estimate, (3 * 24.3333333333333 + 3 * 32) / 6);
    assert_int_equal(r->answers[0].source, KN_ANSWER_PUBLISHED);
    assert_close(r->answers[1].upper, 27);
    kn_workload_report_free(r);
    testing_context_free(ctx);
}

static void test_file_mistakes(void **state)
{
    static const struct {
        const char *workload, *summary, *message;
    } cases[] = {
        {"SELECT COUNT(*) WHERE aeg = 1", NULL,
         "w.sql:1:23: the original has no column \"aeg\"; did you mean \"age\"?"},
        {"SELECT COUNT(*)\nWHERE born > '1980-01-01'", NULL, "w.sql:2:7: the release has no column \"born\""},
        {"SELECT COUNT(*) WHERE age = 'x'", NULL,
         "w.sql:1:29: column \"age\" is compared with a value that is not an integer"},
        {"SELECT SUM(city)", NULL, "w.sql:1:12: SUM needs numbers: column \"city\" is of type text"},
        {"SELECT SUM(age)", "age,city,rows\n\"[23, 26]\",South,3\n", "statistics of a quasi-identifier"},
        {"SELECT SUM(age)", "age,city,age_mean\n\"[23, 27]\",South,3\n",
         "row 1 is about a class that the release does not have"},
        {"SELECT SUM(age)", "age,age_mean\n\"[23, 26]\",3\n", "there is no column \"city\""},
    };
    kn_context *ctx = testing_context(1);
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kn_workload_report *r = NULL;
        kn_error            err = KN_ERROR_INIT;
        assert_int_equal(measure_files(&r, ctx, released, cases[i].workload, cases[i].summary, &err), KN_INPUT);
        if (!strstr(err.message, cases[i].message)) fail_msg("%s", err.message);
    }
    testing_context_free(ctx);
}

static void test_memory(void **state)
{
    (void)state;
    for (int64_t refuse = 0;; refuse += testing_step()) {
        testing_allocator   memory = {.refuse_at = refuse};
        kn_context         *ctx = NULL;
        kn_context_options  options = KN_CONTEXT_OPTIONS_INIT;
        kn_allocator        allocator = testing_failing_allocator(&memory);
        kn_workload_report *r = NULL;
        kn_error            err = KN_ERROR_INIT;
        options.allocator = &allocator;
        options.threads = 1;
        kn_status st = kn_context_create(&ctx, &options, &err);
        if (st == KN_OK) st = measure_files(&r, ctx, released, queries, statistics, &err);
        kn_workload_report_free(r);
        kn_context_free(ctx);
        assert_int_equal(memory.live, 0);
        if (st == KN_OK) break;
        assert_int_equal(st, KN_MEMORY);
        assert_null(r);
    }
}

/* A run with a summary and a workload, each request for memory refused in turn; then the summary is spoilt. */
static kn_status anonymize(kn_context *ctx, const char *output, kn_error *err)
{
    kn_spec           *spec = NULL;
    kn_release_result *result = NULL;
    const char        *input = testing_file("people.csv", people, sizeof people - 1);
    const char        *workload = testing_file("w.sql", queries, sizeof queries - 1);
    kn_model           k = {.kind = KN_MODEL_K, .k = 2};
    kn_status          st = kn_spec_create(&spec, ctx, err);
    if (st == KN_OK) st = kn_spec_set_texts(spec, "input", &input, 1, NULL, err);
    if (st == KN_OK) st = kn_spec_set_texts(spec, "output", &output, 1, NULL, err);
    if (st == KN_OK) st = kn_spec_set_texts(spec, "workload", &workload, 1, NULL, err);
    if (st == KN_OK) st = kn_spec_set(spec, "method", "mondrian-workload", NULL, err);
    if (st == KN_OK) st = kn_spec_set(spec, "summary", "side", NULL, err);
    if (st == KN_OK) st = kn_spec_set(spec, "keep-rowmap", "true", NULL, err);
    if (st == KN_OK) st = kn_spec_set_role(spec, "age", KN_ROLE_QUASI, err);
    if (st == KN_OK) st = kn_spec_set_role(spec, "city", KN_ROLE_QUASI, err);
    if (st == KN_OK) st = kn_spec_set_role(spec, "disease", KN_ROLE_SENSITIVE, err);
    if (st == KN_OK) st = kn_spec_set_model(spec, &k, err);
    if (st == KN_OK) st = kn_spec_check(spec, err);
    if (st == KN_OK) st = kn_anonymize(&result, ctx, spec, NULL, err);
    if (st == KN_OK) assert_true(result->head.found);
    kn_release_result_free(result);
    kn_spec_free(spec);
    return st;
}

static kn_status verify(bool *ok, kn_context *ctx, const char *output, const char *summary, kn_error *err)
{
    kn_spec          *spec = NULL;
    kn_verify_report *report = NULL;
    kn_verify_options options = KN_VERIFY_OPTIONS_INIT;
    const char       *input = testing_file("people.csv", people, sizeof people - 1);
    char              map[4200];
    kn_model          k = {.kind = KN_MODEL_K, .k = 2};
    snprintf(map, sizeof map, "%s.rowmap", output);
    options.originals = &input;
    options.original_count = 1;
    options.release = output;
    options.map_path = map;
    options.summary = summary;
    kn_status st = kn_spec_create(&spec, ctx, err);
    if (st == KN_OK) st = kn_spec_set_role(spec, "age", KN_ROLE_QUASI, err);
    if (st == KN_OK) st = kn_spec_set_role(spec, "city", KN_ROLE_QUASI, err);
    if (st == KN_OK) st = kn_spec_set_role(spec, "disease", KN_ROLE_SENSITIVE, err);
    if (st == KN_OK) st = kn_spec_set_model(spec, &k, err);
    if (st == KN_OK) st = kn_verify(&report, ctx, spec, &options, err);
    if (st == KN_OK) *ok = report->ok;
    kn_verify_report_free(report);
    kn_spec_free(spec);
    return st;
}

static void test_release(void **state)
{
    char output[4096], summary[4200];
    (void)state;
    snprintf(output, sizeof output, "%s.release", testing_file("people.csv", people, sizeof people - 1));
    snprintf(summary, sizeof summary, "%s.summary.csv", output);
    for (int64_t refuse = 0;; refuse += testing_step()) {
        testing_allocator  memory = {.refuse_at = refuse};
        kn_context        *ctx = NULL;
        kn_context_options options = KN_CONTEXT_OPTIONS_INIT;
        kn_allocator       allocator = testing_failing_allocator(&memory);
        kn_error           err = KN_ERROR_INIT;
        options.allocator = &allocator;
        options.threads = 1;
        kn_status st = kn_context_create(&ctx, &options, &err);
        if (st == KN_OK) st = anonymize(ctx, output, &err);
        kn_context_free(ctx);
        assert_int_equal(memory.live, 0);
        if (st == KN_OK) break;
        assert_int_equal(st, KN_MEMORY);
    }
    kn_context *ctx = testing_context(1);
    kn_error    err = KN_ERROR_INIT;
    bool        ok = false;
    assert_ok(verify(&ok, ctx, output, summary, &err), err);
    assert_true(ok);
    /* Every digit behind the header, changed alone, and every line left out is noticed. */
    char *text = testing_contents(summary, NULL);
    int   changes = 0;
    for (char *at = strchr(text, '\n'); *at; at++) {
        if (*at < '0' || *at > '9') continue;
        char was = *at;
        *at = was == '9' ? '8' : (char)(was + 1);
        assert_ok(verify(&ok, ctx, output, testing_file("spoilt.csv", text, strlen(text)), &err), err);
        /* The last two of 15 digits of a mean are beyond what is compared. */
        if (ok && strspn(at, "0123456789") > 2) fail_msg("not noticed: %s", at);
        *at = was;
        changes += !ok;
    }
    assert_true(changes > 20);
    for (char *line = strchr(text, '\n') + 1; *line; line = strchr(line, '\n') + 1) {
        char spoilt[1 << 12];
        int  n = snprintf(spoilt, sizeof spoilt, "%.*s%s", (int)(line - text), text, strchr(line, '\n') + 1);
        assert_ok(verify(&ok, ctx, output, testing_file("spoilt.csv", spoilt, (size_t)n), &err), err);
        assert_false(ok);
    }
    free(text);
    testing_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        testing_alone(test_summary_file), cmocka_unit_test(test_files),   testing_alone(test_file_mistakes),
        testing_alone(test_memory),       cmocka_unit_test(test_release),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
