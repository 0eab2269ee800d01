/* test_generate_shapes.c: synthetic databases and tree records: the same bytes on any number of threads, the same content
 * in every form, nothing half-written, every failure of memory.
 * SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "testing.h"

#include <kanon/database.h>
#include <kanon/generate.h>
#include <kanon/records.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A path in the folder of this test's files at which nothing is yet. */
static const char *fresh(const char *name)
{
    const char *path = testing_file(name, "", 0);
    unlink(path);
    return path;
}

static char *content(const char *path, size_t *size)
{
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    char *data = NULL;
    *size = 0;
    for (size_t n = 1; n > 0; *size += n) {
        data = realloc(data, *size + 65536 + 1);
        assert_non_null(data);
        n = fread(data + *size, 1, 65536, f);
    }
    data[*size] = '\0';
    fclose(f);
    return data;
}

static char *patients(const char *name, int threads, int64_t records, uint64_t seed, size_t *size)
{
    kn_context *ctx = testing_context(threads);
    kn_error    err = KN_ERROR_INIT;
    const char *path = fresh(name);
    assert_ok(kn_generate_patient_records(ctx, path, records, seed, &err), err);
    testing_context_free(ctx);
    return content(path, size);
}

/* ---- Bytes ---- */

static void any_number_of_threads_gives_the_same_bytes(void **state)
{
    (void)state;
    const char *names[] = {"p.xml", "p.jsonl"};
    for (int form = 0; form < 2; form++) {
        size_t size, other_size;
        char  *one = patients(names[form], 1, 5000, 3, &size);
        for (int threads = 2; threads <= 8; threads *= 4) {
            char *other = patients(names[form], threads, 5000, 3, &other_size);
            assert_int_equal(size, other_size);
            assert_memory_equal(one, other, size);
            free(other);
        }
        char *other = patients(names[form], 2, 5000, 4, &other_size);
        assert_false(size == other_size && memcmp(one, other, size) == 0);
        free(other);
        free(one);
    }
}

static void more_records_start_with_fewer(void **state)
{
    (void)state;
    const char *names[] = {"p.xml", "p.ndjson"}, *ends[] = {"</patients>\n", ""};
    for (int form = 0; form < 2; form++) {
        size_t  whole_size, size, end = strlen(ends[form]);
        int64_t counts[] = {0, 1, 1023, 1024, 1025, 2999};
        char   *whole = patients(names[form], 2, 3000, 1, &whole_size);
        for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
            char *start = patients(names[form], 2, counts[i], 1, &size);
            assert_true(size >= end && size < whole_size);
            assert_string_equal(start + size - end, ends[form]);
            assert_memory_equal(start, whole, size - end);
            free(start);
        }
        free(whole);
    }
}

/* The first records of each form: a change here is a change of everybody's synthetic data. */
static void the_first_records_are_known(void **state)
{
    (void)state;
    size_t size;
    char  *xml = patients("p.xml", 1, 2, 1, &size);
    assert_string_equal(xml, "<patients>\n"
                             "<patient id=\"1\">\n"
                             "  <hospital name=\"General Hospital\">\n"
                             "    <disease name=\"Bronchitis\"/>\n"
                             "  </hospital>\n"
                             "</patient>\n"
                             "<patient id=\"2\">\n"
                             "  <hospital name=\"River Hospital\">\n"
                             "    <disease name=\"Hypertension\">\n"
                             "      <drug name=\"Ramipril\"/>\n"
                             "    </disease>\n"
                             "  </hospital>\n"
                             "  <hospital name=\"Old Mill Clinic\">\n"
                             "    <disease name=\"Diarrhea\">\n"
                             "      <drug name=\"Loperamide\"/>\n"
                             "    </disease>\n"
                             "    <disease name=\"Appendicitis\">\n"
                             "      <drug name=\"Morphine\"/>\n"
                             "    </disease>\n"
                             "    <disease name=\"Gastritis\">\n"
                             "      <drug name=\"Ibuprofen\"/>\n"
                             "    </disease>\n"
                             "  </hospital>\n"
                             "</patient>\n"
                             "</patients>\n");
    free(xml);
    char *lines = patients("p.jsonl", 1, 2, 1, &size);
    assert_string_equal(
        lines,
        "{\"id\": 1, \"hospital\": [{\"name\": \"General Hospital\", \"disease\": [{\"name\": \"Bronchitis\"}]}]}\n"
        "{\"id\": 2, \"hospital\": [{\"name\": \"River Hospital\", \"disease\": [{\"name\": \"Hyperten"
        "sion\", \"drug\": [{\"name\": \"Ramipril\"}]}]}, {\"name\": \"Old Mill Clinic\", \"disease\":"
        " [{\"name\": \"Diarrhea\", \"drug\": [{\"name\": \"Loperamide\"}]}, {\"name\": \"Appendicitis"
        "\", \"drug\": [{\"name\": \"Morphine\"}]}, {\"name\": \"Gastritis\", \"drug\": [{\"name\": \"Ibu"
        "profen\"}]}]}]}\n");
    free(lines);
}

/* ---- Content ---- */

static kn_records *read_records(kn_context *ctx, const char *path, const kn_spec *spec)
{
    kn_error           err = KN_ERROR_INIT;
    kn_records        *records = NULL;
    kn_records_options options = KN_RECORDS_OPTIONS_INIT;
    options.record = spec->record;
    options.classes = spec->classes;
    options.class_count = spec->class_count;
    assert_ok(kn_records_read(&records, ctx, path, &options, &err), err);
    return records;
}

/* The folder's release file reads both forms: every value has a leaf, no sibling is there twice, nothing is passed over,
 * and the trees are the same. */
static void both_forms_hold_the_same_trees(void **state)
{
    (void)state;
    enum { RECORDS = 2000 };
    kn_context *ctx = testing_context(2);
    kn_error    err = KN_ERROR_INIT;
    kn_spec    *spec = NULL;
    uint64_t    seed = testing_seed();
    const char *folder = fresh("clinic"), *lines = fresh("lines.jsonl");
    char        file[500];
    assert_ok(kn_generate_patient_records(ctx, folder, RECORDS, seed, &err), err);
    assert_ok(kn_generate_patient_records(ctx, lines, RECORDS, seed, &err), err);
    assert_int_equal(kn_generate_patient_records(ctx, folder, 1, 1, &err), KN_USAGE); /* it is not empty */
    snprintf(file, sizeof file, "%s/release.yaml", folder);
    assert_ok(kn_spec_read(&spec, ctx, file, &err), err);
    snprintf(file, sizeof file, "%s/patients.xml", folder);
    kn_records *a = read_records(ctx, file, spec), *b = read_records(ctx, lines, spec);
    assert_int_equal(kn_records_count(a), RECORDS);
    assert_int_equal(kn_records_count(b), RECORDS);
    assert_int_equal(kn_records_merged(a) + kn_records_merged(b), 0);
    assert_int_equal(kn_records_ignored(a) + kn_records_ignored(b), 0);
    int64_t nodes[3] = {0};
    for (int64_t r = 0; r < RECORDS; r++) {
        assert_int_equal(kn_records_size(a, r), kn_records_size(b, r));
        for (uint32_t n = 0; n < kn_records_size(a, r); n++) {
            size_t      size, other_size;
            const char *label = kn_records_label(a, r, n, &size), *other = kn_records_label(b, r, n, &other_size);
            assert_int_equal(size, other_size);
            assert_memory_equal(label, other, size);
            assert_int_equal(kn_records_parent(a, r, n), kn_records_parent(b, r, n));
            assert_int_equal(kn_records_class(a, r, n), kn_records_class(b, r, n));
            nodes[kn_records_class(a, r, n)]++;
        }
    }
    /* 5/3 hospitals on average, as many diseases at each, and 0.6 + 0.4 × 2/3 drugs for each of these */
    assert_in_range(nodes[0], RECORDS * 3 / 2, RECORDS * 11 / 6);
    assert_in_range(nodes[1], nodes[0] * 3 / 2, nodes[0] * 11 / 6);
    assert_in_range(nodes[2], nodes[1] * 3 / 4, nodes[1] * 19 / 20);
    kn_records_free(a);
    kn_records_free(b);
    kn_spec_free(spec);
    testing_context_free(ctx);
}

/* A cell's text; numbers as they compare, for SQLite writes 3.70 as 3.7. */
static void assert_same_cell(const kn_table *a, const kn_table *b, int column, int64_t row)
{
    size_t      size, other_size;
    const char *text = kn_table_text(a, column, kn_table_code(a, column, row), &size);
    const char *other = kn_table_text(b, column, kn_table_code(b, column, row), &other_size);
    char        number[40] = "", other_number[40] = "";
    if (size == other_size && memcmp(text, other, size) == 0) return;
    assert_true(size < sizeof number && other_size < sizeof other_number);
    memcpy(number, text, size);
    memcpy(other_number, other, other_size);
    char *end, *other_end;
    assert_true(strtod(number, &end) == strtod(other_number, &other_end));
    assert_true(end > number && *end == '\0' && *other_end == '\0');
}

static void students_in_sqlite_are_those_of_the_folder(void **state)
{
    (void)state;
    kn_context  *ctx = testing_context(2);
    kn_error     err = KN_ERROR_INIT;
    kn_database *a = NULL, *b = NULL;
    uint64_t     seed = testing_seed();
    char         folder[500], sqlite[500];
    snprintf(folder, sizeof folder, "%s/", fresh("school"));
    snprintf(sqlite, sizeof sqlite, "sqlite:%s", fresh("school.db"));
    assert_ok(kn_generate_students(ctx, folder, 300, seed, &err), err);
    assert_ok(kn_generate_students(ctx, sqlite, 200, seed, &err), err);
    assert_ok(kn_generate_students(ctx, sqlite, 300, seed, &err), err); /* it is replaced */
    assert_ok(kn_database_read(&a, ctx, folder, NULL, &err), err);
    assert_ok(kn_database_read(&b, ctx, sqlite, NULL, &err), err);
    const char *names[] = {"students", "courses", "books"};
    assert_int_equal(kn_database_tables(b), 3);
    for (int t = 0; t < 3; t++) {
        const kn_table *of_a = kn_database_content(a, kn_database_find(a, names[t]));
        const kn_table *of_b = kn_database_content(b, kn_database_find(b, names[t]));
        assert_int_equal(kn_table_rows(of_a), kn_table_rows(of_b));
        assert_int_equal(kn_table_columns(of_a), kn_table_columns(of_b));
        for (int c = 0; c < kn_table_columns(of_a); c++) {
            assert_string_equal(kn_table_name(of_a, c), kn_table_name(of_b, c));
            for (int64_t r = 0; r < kn_table_rows(of_a); r++) assert_same_cell(of_a, of_b, c, r);
        }
    }
    kn_database_free(a);
    kn_database_free(b);
    testing_context_free(ctx);
}

/* ---- Failures ---- */

static void impossible_numbers_are_refused(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(1);
    kn_error    err = KN_ERROR_INIT;
    const char *path = fresh("none.xml");
    assert_int_equal(kn_generate_patient_records(ctx, path, -1, 1, &err), KN_USAGE);
    assert_int_equal(kn_generate_patient_records(ctx, path, INT64_MAX, 1, &err), KN_USAGE);
    assert_int_equal(kn_generate_students(ctx, path, -1, 1, &err), KN_USAGE);
    assert_int_equal(kn_generate_students(ctx, path, 1, 1, &err), KN_USAGE); /* neither a folder nor SQLite */
    assert_int_equal(kn_generate_patient_records(ctx, fresh("none.json"), 1, 1, &err), KN_USAGE);
    assert_int_equal(kn_generate_patient_records(ctx, "", 1, 1, &err), KN_USAGE);
    assert_int_equal(access(path, F_OK), -1);
    assert_int_equal(kn_generate_students(ctx, "sqlite:/dev/null/none.db", 1, 1, &err), KN_IO);
    assert_int_equal(kn_generate_patient_records(ctx, "/dev/null/none.xml", 1, 1, &err), KN_IO);
    testing_context_free(ctx);
}

static void no_allocation_failure_leaks(void **state)
{
    (void)state;
    const char *names[] = {"alloc.xml", "alloc-folder", "alloc.db"};
    for (int target = 0; target < 3; target++) {
        kn_status status = KN_MEMORY;
        int64_t   at = 0;
        for (; status != KN_OK; at++) {
            testing_allocator  memory = {.refuse_at = at};
            kn_allocator       allocator = testing_failing_allocator(&memory);
            kn_context_options options = KN_CONTEXT_OPTIONS_INIT;
            kn_context        *ctx = NULL;
            kn_error           err = KN_ERROR_INIT;
            const char        *path = fresh(names[target]);
            char               sqlite[500];
            options.allocator = &allocator;
            options.threads = 2;
            snprintf(sqlite, sizeof sqlite, "sqlite:%s", path);
            status = kn_context_create(&ctx, &options, &err);
            if (status == KN_OK)
                status = target < 2 ? kn_generate_patient_records(ctx, path, 1500, 1, &err)
                                    : kn_generate_students(ctx, sqlite, 50, 1, &err);
            assert_true(status == KN_OK || status == KN_MEMORY);
            assert_true(status == KN_OK || err.message[0] != '\0');
            assert_int_equal(access(path, F_OK), status == KN_OK ? 0 : -1);
            kn_context_free(ctx);
            assert_int_equal(memory.live, 0);
        }
        assert_true(at > 4);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_number_of_threads_gives_the_same_bytes),
        cmocka_unit_test(more_records_start_with_fewer),
        cmocka_unit_test(the_first_records_are_known),
        cmocka_unit_test(both_forms_hold_the_same_trees),
        cmocka_unit_test(students_in_sqlite_are_those_of_the_folder),
        cmocka_unit_test(impossible_numbers_are_refused),
        cmocka_unit_test(no_allocation_failure_leaks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
