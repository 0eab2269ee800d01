/* test_forest.c: entity trees against a naive join, whatever the order of rows; orphans; refused memory; a large one. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "kn_forest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "database_testing.h"
#include "kn_database_roles.h"
#include "testing.h"

static const char *sqlite_name(void)
{
    static char name[300];
    snprintf(name, sizeof name, "sqlite:%s", testing_file("forest.db", "", 0));
    return name;
}

static const char *write_database(const rdb *db)
{
    const char *name = sqlite_name();
    rdb_write_sqlite(db, name + strlen("sqlite:"));
    return name;
}

static void check_orphans(const rdb *r, const kn_forest *f)
{
    for (int t = 1; t < r->tables; t++) {
        int64_t missing = 0, dangling = 0, lost = 0;
        for (int i = 0; i < r->table[t].rows; i++) {
            int up = rdb_parent(r, t, i);
            missing += up == -1;
            dangling += up == -2;
            lost += up == -3;
        }
        assert_int_equal(f->missing[t], missing);
        assert_int_equal(f->dangling[t], dangling);
        assert_int_equal(f->lost[t], lost);
    }
}

/* Every entity's tree is the naive one; nodes have the same number exactly if their trees are equal. */
static void check_trees(const rdb *r, const kn_forest *f)
{
    char **texts = calloc((size_t)f->subtrees + 1, sizeof *texts);
    assert_non_null(texts);
    assert_int_equal(f->entities, r->table[0].rows);
    for (int64_t e = 0; e < f->entities; e++) {
        char *expected = rdb_tree(r, 0, (int)f->row[f->start[e]], true), *found = forest_tree(f, e, f->start[e], true);
        assert_string_equal(expected, found);
        free(expected);
        free(found);
        for (uint64_t node = f->start[e]; node < f->start[e + 1]; node++) {
            char    *text = forest_tree(f, e, node, false);
            uint32_t s = f->subtree[node];
            assert_true(s < f->subtrees);
            if (texts[s]) assert_string_equal(texts[s], text);
            if (texts[s])
                free(text);
            else
                texts[s] = text;
        }
    }
    for (uint32_t a = 0; a < f->subtrees; a++) {
        assert_non_null(texts[a]);
        for (uint32_t b = 0; b < a; b++) assert_string_not_equal(texts[a], texts[b]);
    }
    for (uint32_t a = 0; a < f->subtrees; a++) free(texts[a]);
    free(texts);
}

/* The sequence of all trees, with their nodes in order. */
static char *tell(const kn_forest *f)
{
    char  *text = NULL;
    size_t size = 0;
    FILE  *to = open_memstream(&text, &size);
    assert_non_null(to);
    for (int64_t e = 0; e < f->entities; e++)
        for (uint64_t node = f->start[e]; node < f->start[e + 1]; node++) {
            char *tree = forest_tree(f, e, node, true);
            fprintf(to, "%u %u %u %u %s\n", f->table[node], f->parent[node], f->child_count[node], f->subtree[node],
                    tree);
            free(tree);
        }
    fclose(to);
    return text;
}

static char *build_and_tell(kn_context *ctx, const rdb *r, bool check)
{
    kn_error     err = KN_ERROR_INIT;
    kn_forest   *f = NULL;
    const char  *reason = NULL;
    kn_database *db = rdb_read(ctx, r, write_database(r));
    assert_ok(kn_forest_build(&f, ctx, db, &err), err);
    if (!kn_forest_validate(f, &reason)) fail_msg("%s", reason);
    if (check) check_orphans(r, f);
    if (check) check_trees(r, f);
    char *text = tell(f);
    kn_forest_free(f);
    kn_database_free(db);
    return text;
}

static void test_random(void **state)
{
    (void)state;
    uint64_t    seed = testing_seed();
    kn_context *ctx = testing_context(2);
    for (int round = 0; round < testing_rounds(60); round++) {
        kn_rng rng;
        kn_rng_init(&rng, seed, (uint64_t)round);
        rdb  *r = rdb_random(&rng, round % 5 == 0 ? (int)kn_rng_below(&rng, 4) : (int)kn_rng_below(&rng, 40));
        char *first = build_and_tell(ctx, r, true);
        rdb_shuffle(r, &rng);
        char *second = build_and_tell(ctx, r, false);
        assert_string_equal(first, second);
        free(first);
        free(second);
        rdb_free(r);
    }
    testing_context_free(ctx);
}

static kn_database *read_texts(kn_context *ctx, const char *persons, const char *courses, const kn_spec_table *spec)
{
    char                folder[300];
    kn_error            err = KN_ERROR_INIT;
    kn_database        *db = NULL;
    kn_database_options options = KN_DATABASE_OPTIONS_INIT;
    const char         *path = testing_file("persons.csv", persons, strlen(persons));
    testing_file("courses.csv", courses, strlen(courses));
    snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(path, '/') - path) + 1, path);
    options.tables = spec;
    options.table_count = 2;
    assert_ok(kn_database_read(&db, ctx, folder, &options, &err), err);
    return db;
}

/* Keys by their spelling: 1, 01 and 1.0 are three persons; a missing foreign key is nobody's. */
static void test_spelling(void **state)
{
    (void)state;
    static const char *const pid[] = {"pid"};
    const kn_spec_table      spec[] = {
             {.name = "persons", .has_key = true, .key_count = 1, .key = pid},
             {.name = "courses", .parent = "persons", .parent_column_count = 1, .parent_columns = pid}};
    kn_context  *ctx = testing_context(1);
    kn_error     err = KN_ERROR_INIT;
    kn_forest   *f = NULL;
    kn_database *db = read_texts(ctx, "pid,x\n1,a\n01,b\n1.0,c\n", "pid,y\n1,1\n01,2\n01,3\n1.00,4\n,5\n", spec);
    assert_ok(kn_database_choose(db, NULL, &err), err);
    assert_ok(kn_database_roles(db, NULL, 0, &err), err);
    assert_ok(kn_forest_build(&f, ctx, db, &err), err);
    assert_int_equal(f->nodes, 6);
    assert_int_equal(f->missing[1], 1);
    assert_int_equal(f->dangling[1], 1);
    for (int row = 0; row < 3; row++)
        assert_int_equal(f->child_count[f->start[f->entity_of_row[row]]], row == 0 ? 1 : row == 1 ? 2 : 0);
    kn_forest_free(f);
    kn_database_free(db);
    testing_context_free(ctx);
}

/* Each allocation refused once: an error, and nothing left. */
static void test_memory(void **state)
{
    (void)state;
    kn_rng rng;
    kn_rng_init(&rng, 4711, 0);
    rdb *r = rdb_random(&rng, 12);
    while (r->tables < 3) {
        rdb_free(r);
        r = rdb_random(&rng, 12);
    }
    const char *name = write_database(r);
    kn_status   status = KN_MEMORY;
    for (int64_t refuse = 0; status != KN_OK; refuse++) {
        testing_allocator memory = {.refuse_at = refuse};
        kn_context       *ctx = NULL;
        kn_database      *db = NULL;
        kn_forest        *f = NULL;
        kn_schema        *schema = NULL;
        kn_error          err = KN_ERROR_INIT;
        status = testing_refusing_context(&ctx, &memory, 1, &err);
        if (status == KN_OK) status = kn_database_read(&db, ctx, name, NULL, &err);
        if (status == KN_OK) status = kn_schema_look(&schema, ctx, db, "persons", &err);
        if (status == KN_OK) status = kn_database_choose(db, "persons", &err);
        if (status == KN_OK) status = kn_database_roles(db, r->spec, r->tables, &err);
        if (status == KN_OK) status = kn_forest_build(&f, ctx, db, &err);
        assert_true(status == KN_OK || status == KN_MEMORY);
        kn_schema_free(schema);
        kn_forest_free(f);
        kn_database_free(db);
        kn_context_free(ctx);
        assert_int_equal(memory.live, 0);
    }
    rdb_free(r);
}

/* 70,002 courses of three persons, nearly all of one subject, forwards or backwards. */
static char *many_courses(bool backwards)
{
    enum { ROWS = 70002 };
    char  *text = NULL;
    size_t size = 0;
    FILE  *to = open_memstream(&text, &size);
    assert_non_null(to);
    fprintf(to, "pid,subject,grade\n");
    for (int i = 0; i < ROWS; i++) {
        int row = backwards ? ROWS - 1 - i : i;
        fprintf(to, "%d,%s,%d\n", row % 3 + 1, row % 50 == 0 ? "other" : "same", row * 7919 % 5003);
    }
    fclose(to);
    return text;
}

/* What is left of trees when rows have no numbers: their shape, and the grades in their order. */
static uint64_t *shape_of(const char *courses, int threads, uint64_t *count)
{
    static const char *const pid[] = {"pid"};
    kn_hierarchy_spec        none = KN_HIERARCHY_SPEC_INIT;
    const kn_attribute       attributes[] = {
              {.name = "subject", .role = KN_ROLE_QUASI, .hierarchy = none, .weight = {1, 1}, .has_role = true},
              {.name = "grade", .role = KN_ROLE_SENSITIVE, .hierarchy = none, .weight = {1, 1}, .has_role = true}};
    const kn_spec_table spec[] = {{.name = "persons", .has_key = true, .key_count = 1, .key = pid},
                                  {.name = "courses",
                                   .parent = "persons",
                                   .parent_column_count = 1,
                                   .parent_columns = pid,
                                   .attributes = attributes,
                                   .attribute_count = 2}};
    kn_context         *ctx = testing_context(threads);
    kn_error            err = KN_ERROR_INIT;
    kn_forest          *f = NULL;
    const char         *reason = NULL;
    kn_database        *db = read_texts(ctx, "pid,x\n1,a\n2,b\n3,c\n", courses, spec);
    assert_ok(kn_database_choose(db, NULL, &err), err);
    assert_ok(kn_database_roles(db, spec, 2, &err), err);
    assert_ok(kn_forest_build(&f, ctx, db, &err), err);
    if (!kn_forest_validate(f, &reason)) fail_msg("%s", reason);
    const kn_table *table = db->tables[1].table;
    uint64_t       *shape = calloc(f->nodes + 1, sizeof *shape);
    assert_non_null(shape);
    for (uint64_t node = 0; node < f->nodes; node++) {
        uint32_t grade = f->table[node] == 1 ? kn_column_code(&table->columns[2], f->row[node]) : f->row[node];
        shape[node] = (uint64_t)f->subtree[node] << 32 | grade;
        assert_true(f->example[f->subtree[node]] <= node);
        if (node > 0 && f->table[node] == 1 && f->table[node - 1] == 1) assert_true(shape[node - 1] <= shape[node]);
    }
    *count = f->nodes;
    kn_forest_free(f);
    kn_database_free(db);
    testing_context_free(ctx);
    return shape;
}

/* Large families, and so many rows of one number that all threads sort them. */
static void test_many(void **state)
{
    (void)state;
    char     *courses[] = {many_courses(false), many_courses(true)};
    uint64_t  nodes = 0, count = 0;
    uint64_t *first = shape_of(courses[0], 1, &nodes);
    for (int i = 0; i < 2; i++) {
        uint64_t *other = shape_of(courses[i], 3, &count);
        assert_int_equal(count, nodes);
        assert_memory_equal(first, other, nodes * sizeof *first);
        free(other);
        free(courses[i]);
    }
    free(first);
}

/* Keys of two columns that repeat, among few and among many rows with the same first or second part; some are missing. */
static void test_key_faults(void **state)
{
    (void)state;
    enum { ROWS = 300 };
    static const char *const key[] = {"pid", "x"}, *const pid[] = {"pid"};
    const kn_spec_table spec[] = {{.name = "persons", .has_key = true, .key_count = 2, .key = key},
                                  {.name = "courses", .has_key = true, .key_count = 1, .key = pid}};
    kn_context         *ctx = testing_context(2);
    for (int parts = 2; parts <= 64; parts *= 2) {
        char   *text = NULL;
        size_t  size = 0;
        FILE   *to = open_memstream(&text, &size);
        kn_rng  rng;
        int     cells[ROWS][2];
        int64_t expected = 0, found = -1;
        kn_rng_init(&rng, 5, (uint64_t)parts);
        fprintf(to, "pid,x\n");
        for (int i = 0; i < ROWS; i++) {
            bool again = false;
            cells[i][0] = (int)kn_rng_below(&rng, (uint64_t)parts);
            cells[i][1] = (int)kn_rng_below(&rng, 40);
            for (int j = 0; j < i; j++) again = again || (cells[i][0] == cells[j][0] && cells[i][1] == cells[j][1]);
            expected += again || cells[i][1] == 0;
            if (cells[i][1] == 0)
                fprintf(to, "%d,\n", cells[i][0]);
            else
                fprintf(to, "%d,v%d\n", cells[i][0], cells[i][1]);
        }
        fclose(to);
        kn_error     err = KN_ERROR_INIT;
        kn_database *db = read_texts(ctx, text, "pid,y\n1,1\n2,1\n1,2\n1,3\n", spec);
        assert_ok(kn_database_key_faults(&found, db, kn_database_find(db, "persons"), &err), err);
        assert_int_equal(found, expected);
        assert_ok(kn_database_key_faults(&found, db, kn_database_find(db, "courses"), &err), err);
        assert_int_equal(found, 2);
        kn_database_free(db);
        free(text);
    }
    testing_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random), cmocka_unit_test(test_spelling),
                                       cmocka_unit_test(test_memory), cmocka_unit_test(test_many),
                                       cmocka_unit_test(test_key_faults)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
