/* test_init.c: groups of categories over random columns; kn_init of every shape with every request for memory refused. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <kanon/init.h>
#include <kanon/memory.h>
#include <string.h>

#include "kn_buffer.h"
#include "kn_hierarchy.h"
#include "kn_rng.h"
#include "testing.h"

/* ---- Groups ---- */

static kn_table *random_column(kn_context *ctx, kn_rng *rng, int values)
{
    kn_buffer      text;
    kn_table      *table = NULL;
    kn_error       err = KN_ERROR_INIT;
    kn_csv_options csv = KN_CSV_OPTIONS_INIT;
    kn_buffer_init(&text, ctx);
    kn_buffer_add(&text, "c\n");
    for (int v = 0; v < values; v++)
        for (uint64_t n = 1 + kn_rng_below(rng, 5); n > 0; n--)
            kn_buffer_format(&text, "%c%c%d\n", (char)('a' + v % 3), (char)('a' + v % 5), v);
    assert_ok(kn_memory_put(ctx, "memory:c.csv", text.data, text.size, &err), err);
    assert_ok(kn_table_read_csv(&table, ctx, "memory:c.csv", &csv, &err), err);
    kn_buffer_free(&text);
    return table;
}

/* No node but the root has more children than `most`; a chain is none. */
static void check_fan_out(const kn_hierarchy *h, uint32_t node, uint32_t most)
{
    uint32_t many = 0;
    for (uint32_t c = kn_hierarchy_child(h, node); c != KN_NODE_NONE; c = kn_hierarchy_sibling(h, c), many++)
        check_fan_out(h, c, most);
    assert_true(many <= most);
}

static void check_rows(const kn_hierarchy *h, const kn_table *table, int64_t least)
{
    uint32_t nodes = kn_hierarchy_root(h) + 1;
    int64_t *rows = test_calloc(nodes, sizeof *rows);
    for (int64_t r = 0; r < kn_table_rows(table); r++) rows[kn_hierarchy_of_code(h, kn_table_code(table, 0, r), 1)]++;
    for (uint32_t n = kn_hierarchy_level_first(h, 1); n != KN_NODE_NONE; n = kn_hierarchy_level_next(h, 1, n))
        assert_true(rows[n] >= least);
    test_free(rows);
}

static void test_groups(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(1);
    kn_rng      rng;
    kn_rng_init(&rng, testing_seed(), 0);
    for (int round = 0; round < testing_rounds(60); round++) {
        kn_table         *table = random_column(ctx, &rng, 1 + (int)kn_rng_below(&rng, 40));
        kn_hierarchy_spec spec = KN_HIERARCHY_SPEC_INIT;
        kn_hierarchy     *h = NULL;
        kn_error          err = KN_ERROR_INIT;
        const char       *reason = NULL;
        spec.kind = KN_HIERARCHY_GROUPS;
        spec.group_by = (kn_group_by)(round % KN_GROUP_BYS);
        bool prefix = spec.group_by == KN_GROUP_BY_PREFIX;
        if (!prefix) spec.fan_out = 2 + (int)kn_rng_below(&rng, 5);
        if (!prefix && round % 2) spec.group_rows = 1 + (int64_t)kn_rng_below(&rng, 12);
        assert_ok(kn_hierarchy_make(&h, ctx, table, 0, &spec, false, &err), err);
        if (!kn_hierarchy_validate(h, &reason)) fail_msg("%s", reason);
        assert_int_equal(kn_hierarchy_leaves(h), kn_table_distinct(table, 0));
        if (!prefix && spec.group_rows == 0) check_fan_out(h, kn_hierarchy_root(h), (uint32_t)spec.fan_out);
        if (spec.group_rows > 0 && kn_table_rows(table) >= spec.group_rows) check_rows(h, table, spec.group_rows);
        kn_hierarchy_free(h);
        kn_table_free(table);
    }
    kn_memory_clear(ctx);
    testing_context_free(ctx);
}

/* ---- Without memory ---- */

static const char table_text[] = "name,zip,born,town,dx\nA,47901,1960-02-01,Ashby,flu\nB,47902,1970-03-01,Bath,flu\n"
                                 "C,47911,1980-04-01,Corby,gout\nD,47912,1990-05-01,Dover,gout\n";
static const char persons_text[] = "sid,sex\n1,F\n2,M\n3,F\n4,M\n";
static const char courses_text[] = "cid,sid,course\n10,1,Algebra\n11,2,Biology\n12,3,Chemistry\n13,4,Drama\n";
static const char lines_text[] =
    "{\"id\": 1, \"ward\": [{\"name\": \"A\", \"ill\": [\"flu\", \"gout\"]}]}\n"
    "{\"id\": 2, \"ward\": [{\"name\": \"B\", \"ill\": [\"cough\"]}, {\"name\": \"C\"}]}\n";
static const char classes_text[] = "[{\"id\": 1, \"children\": [{\"class\": \"ward\", \"v\": \"A\", \"children\": "
                                   "{\"v\": \"flu\", \"class\": \"ill\"}}]},\n"
                                   " {\"id\": 2, \"children\": [{\"v\": \"B\", \"children\": [{\"class\": \"ill\", "
                                   "\"v\": \"gout\"}], \"class\": \"ward\"}]}]\n";

static const char bundle_text[] =
    "{\"resourceType\": \"Bundle\", \"entry\": [\n"
    "{\"resource\": {\"resourceType\": \"Patient\", \"id\": \"1\", \"gender\": \"male\", \"name\": [{\"family\": "
    "\"A\"}]}},\n"
    "{\"resource\": {\"resourceType\": \"Patient\", \"id\": \"2\", \"gender\": \"female\"}},\n"
    "{\"resource\": {\"resourceType\": \"Condition\", \"subject\": {\"reference\": \"Patient/1\"}, \"code\": "
    "{\"coding\": "
    "[{\"system\": \"s\", \"code\": \"I10\"}]}}},\n"
    "{\"resource\": {\"resourceType\": \"Condition\", \"subject\": {\"reference\": \"Patient/2\"}, \"code\": "
    "{\"coding\": "
    "[{\"system\": \"s\", \"code\": \"E11\"}, {\"system\": \"t\", \"code\": \"x\"}]}, \"onsetDateTime\": "
    "\"2020\"}}]}\n";

static kn_status put(kn_context *ctx, const char *name, const char *text, kn_error *err)
{
    return kn_memory_put(ctx, name, text, strlen(text), err);
}

static kn_status draft(kn_context *ctx, const char *input, kn_draft **out, kn_error *err)
{
    kn_init_options options = KN_INIT_OPTIONS_INIT;
    options.files = true;
    kn_status st = put(ctx, "memory:t.csv", table_text, err);
    if (st == KN_OK) st = put(ctx, "memory:db/students.csv", persons_text, err);
    if (st == KN_OK) st = put(ctx, "memory:db/courses.csv", courses_text, err);
    if (st == KN_OK) st = put(ctx, "memory:r.jsonl", lines_text, err);
    if (st == KN_OK) st = put(ctx, "memory:c.json", classes_text, err);
    if (st == KN_OK) st = put(ctx, "memory:b.json", bundle_text, err);
    return st == KN_OK ? kn_init(out, ctx, &input, 1, &options, err) : st;
}

/* A table that was read already makes the same draft, and is not read again: there need not be a file. */
static void test_given_table(void **state)
{
    (void)state;
    static const char *const input = "memory:t.csv", *const gone = "memory:gone.csv";
    kn_context     *ctx = testing_context(1);
    kn_init_options options = KN_INIT_OPTIONS_INIT;
    kn_error        err = KN_ERROR_INIT;
    kn_draft       *read = NULL, *given = NULL;
    kn_table       *table = NULL;
    assert_int_equal(put(ctx, input, table_text, &err), KN_OK);
    assert_int_equal(kn_init(&read, ctx, &input, 1, &options, &err), KN_OK);
    assert_int_equal(kn_table_read_csv_files(&table, ctx, &input, 1, NULL, &err), KN_OK);
    options.table = table;
    assert_int_equal(kn_init(&given, ctx, &gone, 1, &options, &err), KN_OK);
    assert_non_null(strstr(given->text, "gone.csv"));
    const char *after = strstr(given->text, "output:"), *before = strstr(read->text, "output:");
    assert_string_equal(after, before);
    kn_draft_free(read);
    kn_draft_free(given);
    kn_table_free(table);
    kn_context_free(ctx);
}

/* What it writes is a release file that can be read; whatever memory is refused, nothing is left. */
static void test_memory(void **state)
{
    (void)state;
    static const char *const inputs[] = {"memory:t.csv", "memory:r.jsonl", "memory:c.json", "memory:b.json"};
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++) {
        int64_t at = 0, step = testing_step();
        for (kn_status st = KN_MEMORY; st != KN_OK; at += step) {
            testing_allocator allocator = {.refuse_at = at};
            kn_context       *ctx = NULL;
            kn_draft         *d = NULL;
            kn_spec          *spec = NULL;
            kn_error          err = KN_ERROR_INIT;
            st = testing_refusing_context(&ctx, &allocator, 1, &err);
            if (st == KN_OK) st = draft(ctx, inputs[i], &d, &err);
            if (st == KN_OK) st = kn_spec_read_text(&spec, ctx, d->text, strlen(d->text), NULL, &err);
            if (st != KN_OK && st != KN_MEMORY) fail_msg("request %lld: %s", (long long)at, err.message);
            kn_spec_free(spec);
            kn_draft_free(d);
            kn_context_free(ctx);
            assert_int_equal(allocator.live, 0);
        }
        print_message("%lld requests\n", (long long)at);
    }
}

/* A database in memory; what is said of its columns. */
static void test_database(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(1);
    kn_draft   *d = NULL;
    kn_error    err = KN_ERROR_INIT;
    assert_ok(draft(ctx, "memory:db/", &d, &err), err);
    assert_int_equal(d->shape, KN_SHAPE_DATABASE);
    assert_non_null(strstr(d->text, "entity: {table: students, key: sid}"));
    assert_non_null(strstr(d->text, "parent: {table: students, column: sid}"));
    assert_int_equal(d->column_count, 5);
    assert_null(kn_draft_column_at(d, 0)->role);
    assert_string_equal(kn_draft_column_at(d, 1)->role, "quasi");
    assert_int_equal(d->file_count, 1);
    assert_null(kn_draft_file_at(d, 1));
    kn_draft_free(d);
    kn_memory_clear(ctx);
    testing_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_groups),
        cmocka_unit_test(test_given_table),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_database),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
