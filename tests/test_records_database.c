/* test_records_database.c: persons of a database as tree records, against a naive reading of the same tables. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "database_testing.h"
#include "kn_alloc.h"
#include "records_testing.h"

enum { MOST_PATHS = 6000 };

/* Paths from the root, each once, sorted. */
typedef struct paths {
    int   count;
    char *path[MOST_PATHS];
} paths;

static char *add_path(paths *p, const char *above, const char *label)
{
    char *text = malloc(strlen(above) + strlen(label) + 2);
    sprintf(text, "%s/%s", above, label);
    for (int i = 0; i < p->count; i++)
        if (strcmp(p->path[i], text) == 0) {
            free(text);
            return p->path[i];
        }
    assert_true(p->count < MOST_PATHS);
    p->path[p->count++] = text;
    return text;
}

static void paths_free(paths *p)
{
    for (int i = 0; i < p->count; i++) free(p->path[i]);
    p->count = 0;
}

static bool same_paths(const paths *a, const paths *b)
{
    if (a->count != b->count) return false;
    for (int i = 0; i < a->count; i++) {
        bool found = false;
        for (int j = 0; j < b->count && !found; j++) found = strcmp(a->path[i], b->path[j]) == 0;
        if (!found) return false;
    }
    return true;
}

/* The rule, row by row, on texts. */
static void naive_row(const rdb *db, int table, int row, const char *above, paths *out)
{
    const rdb_table *t = &db->table[table];
    const char      *head = above, *last = above;
    for (int i = 0; i < db->spec[table].attribute_count; i++) {
        int  c = t->columns - db->spec[table].attribute_count + i;
        char label[200];
        if (!t->cell[row][c] || (t->role[c] != KN_ROLE_QUASI && t->role[c] != KN_ROLE_SENSITIVE)) continue;
        snprintf(label, sizeof label, "%s.%s=%s", t->name, t->column[c], t->cell[row][c]);
        const char *own = add_path(out, table == 0 ? above : last, label);
        if (table > 0 && head == above) head = own;
        last = own;
    }
    if (table == 0) head = above;
    for (int u = 1; u < db->tables; u++)
        for (int r = 0; db->table[u].parent == table && r < db->table[u].rows; r++)
            if (rdb_parent(db, u, r) == row) naive_row(db, u, r, head, out);
}

static void record_paths(const kn_records *r, int64_t record, paths *out)
{
    uint32_t     count = kn_records_size(r, record);
    const char **own = calloc((size_t)count + 1, sizeof *own);
    for (uint32_t i = 0; i < count; i++) {
        char        label[200];
        size_t      size;
        const char *text = kn_records_label(r, record, i, &size);
        int64_t     parent = kn_records_parent(r, record, i);
        snprintf(label, sizeof label, "%s=%.*s", r->vocabulary->class_names[kn_records_class(r, record, i)], (int)size,
                 text);
        own[i] = add_path(out, parent < 0 ? "" : own[parent], label);
    }
    assert_int_equal(out->count, count); /* siblings differ */
    free(own);
}

static void test_random(void **state)
{
    (void)state;
    static paths expected, found;
    kn_rng       rng;
    kn_rng_init(&rng, testing_seed(), 0);
    int merged = 0;
    for (int round = 0; round < 40; round++) {
        rdb        *db = rdb_random(&rng, 1 + (int)kn_rng_below(&rng, 12));
        kn_context *ctx = testing_context(1);
        kn_error    err = KN_ERROR_INIT;
        kn_forest  *f = NULL;
        kn_records *r = NULL;
        char        name[300];
        const char *reason = NULL;
        snprintf(name, sizeof name, "sqlite:%s", testing_file("records.db", "", 0));
        rdb_write_sqlite(db, name + strlen("sqlite:"));
        kn_database *d = rdb_read(ctx, db, name);
        assert_ok(kn_forest_build(&f, ctx, d, &err), err);
        kn_status st = kn_records_of_database(&r, ctx, f, NULL, 0, &err);
        if (st != KN_OK) {
            assert_int_equal(st, KN_INPUT);
            assert_non_null(strstr(err.message, "no column is a quasi-identifier or sensitive"));
        } else {
            if (!kn_records_validate(r, &reason) || !kn_vocabulary_validate(r->vocabulary, &reason))
                fail_msg("%s", reason);
            assert_int_equal(kn_records_count(r), db->table[0].rows);
            for (int64_t p = 0; p < f->entities; p++) { /* in the order of their table */
                naive_row(db, 0, (int)p, "", &expected);
                record_paths(r, p, &found);
                if (!same_paths(&expected, &found)) fail_msg("round %d, person %" PRId64 ": another tree", round, p);
                paths_free(&expected);
                paths_free(&found);
            }
            merged += kn_records_merged(r) > 0;
        }
        kn_records_free(r);
        kn_forest_free(f);
        kn_database_free(d);
        rdb_free(db);
        testing_context_free(ctx);
    }
    assert_true(merged > 3);
}

/* persons(nation), orders(date, price), item(brand, quantity): docs/errata.md K17. */
static rdb *shop(void)
{
    static const char *const rows[3][4][5] = {
        {{"1", "DE", NULL}, {"2", NULL, NULL}},
        {{"a", "1", "May", "10"}, {"b", "1", "June", "10"}, {"c", "2", NULL, "20"}},
        {{"a", "X", "3"}, {"a", "X", "4"}, {"c", "Y", NULL}, {"b", NULL, NULL}}};
    static const char *const columns[3][4] = {
        {"cid", "nation"}, {"oid", "cid", "date", "price"}, {"oid", "brand", "quantity"}};
    static const char *const names[3] = {"persons", "orders", "item"};
    static const int         width[3] = {2, 4, 3}, count[3] = {2, 3, 4}, keys[3] = {1, 1, 0}, from[3] = {0, 1, 0};
    rdb                     *db = calloc(1, sizeof *db);
    db->tables = 3;
    for (int t = 0; t < 3; t++) {
        rdb_table *table = &db->table[t];
        strcpy(table->name, names[t]);
        table->parent = t - 1;
        table->key_count = keys[t];
        table->link_count = t > 0;
        table->link_from = from[t];
        table->columns = width[t];
        table->rows = count[t];
        table->cell = calloc((size_t)count[t], sizeof *table->cell);
        int first = t == 0 ? 1 : from[t] + 1, used = 0;
        for (int c = 0; c < width[t]; c++) {
            strcpy(table->column[c], columns[t][c]);
            table->role[c] = KN_ROLE_QUASI;
            for (int r = 0; r < count[t]; r++) table->cell[r][c] = rows[t][r][c] ? strdup(rows[t][r][c]) : NULL;
            if (c < first) continue;
            table->attributes[used++] = (kn_attribute){.name = table->column[c],
                                                       .role = KN_ROLE_QUASI,
                                                       .type = KN_TYPE_TEXT,
                                                       .hierarchy = KN_HIERARCHY_SPEC_INIT,
                                                       .weight = {1, 1},
                                                       .has_role = true};
        }
        table->key[0] = table->column[0];
        table->link[0] = table->column[from[t]];
        db->spec[t] = (kn_spec_table){.name = table->name,
                                      .has_key = true,
                                      .key_count = keys[t],
                                      .key = table->key,
                                      .parent = t ? names[t - 1] : NULL,
                                      .parent_column_count = t > 0,
                                      .parent_columns = table->link,
                                      .attribute_count = used,
                                      .attributes = table->attributes};
    }
    return db;
}

static const char *line_with(const kn_records *r, const char *part)
{
    for (int64_t i = 0; i < kn_records_count(r); i++)
        if (strstr(record_line(r, i), part)) return record_line(r, i);
    fail_msg("no record has %s", part);
    return "";
}

static void test_shop(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(1);
    rdb        *db = shop();
    kn_error    err = KN_ERROR_INIT;
    kn_forest  *f = NULL;
    kn_records *r = NULL;
    char        name[300];
    snprintf(name, sizeof name, "sqlite:%s", testing_file("shop.db", "", 0));
    rdb_write_sqlite(db, name + strlen("sqlite:"));
    kn_database *d = rdb_read(ctx, db, name);
    assert_ok(kn_forest_build(&f, ctx, d, &err), err);
    assert_ok(kn_records_of_database(&r, ctx, f, NULL, 0, &err), err);
    assert_string_equal(line_with(r, "DE"), "DE June(10) May(10 X(3 4))");
    assert_string_equal(line_with(r, "20"), "20(Y)"); /* no date: the price stands for the order */
    assert_int_equal(r->vocabulary->class_count, 5);
    assert_string_equal(r->vocabulary->class_names[1], "orders.date");
    kn_records_free(r);

    kn_spec_class some[3] = {{.name = "date"}, {.name = "item.brand", .negative = true}, {.name = "price"}};
    assert_ok(kn_records_of_database(&r, ctx, f, some, 2, &err), err);
    assert_string_equal(line_with(r, "May"), "June May(X)");
    assert_true(!r->vocabulary->negative[0] && r->vocabulary->negative[1]);
    assert_string_equal(line_with(r, "Y"), "Y");
    kn_records_free(r);
    static const struct {
        kn_spec_class classes[3];
        const char   *message;
    } wrong[] = {
        {{{.name = "brand"}, {.name = "date"}, {.name = "price"}},
         "class \"item.brand\" would stand below \"orders.date\": classes nest the other way round"},
        {{{.name = "date"}, {.name = "item.date"}, {.name = "price"}},
         "class \"item.date\": no quasi-identifier or sensitive column is called so"},
        {{{.name = "cid"}, {.name = "date"}, {.name = "price"}}, "class \"cid\": no quasi-identifier"},
        {{{.name = "date"}, {.name = "orders.date"}, {.name = "price"}}, "class \"orders.date\" is there twice"},
        {{{.name = "date", .has_hierarchy = true}, {.name = "price"}, {.name = "brand"}},
         "the hierarchy of a database's column is declared below its table"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(kn_records_of_database(&r, ctx, f, wrong[i].classes, 3, &err), KN_INPUT);
        if (!strstr(err.message, wrong[i].message)) fail_msg("%s", err.message);
        assert_null(r);
    }
    kn_forest_free(f);
    kn_database_free(d);
    rdb_free(db);
    testing_context_free(ctx);
}

/* Refuses every allocation in turn while records are made; the database was read before in another context. */
static void test_failing_memory(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(1);
    rdb        *db = shop();
    kn_error    err = KN_ERROR_INIT;
    kn_forest  *f = NULL;
    char        name[300];
    snprintf(name, sizeof name, "sqlite:%s", testing_file("shop.db", "", 0));
    rdb_write_sqlite(db, name + strlen("sqlite:"));
    kn_database *d = rdb_read(ctx, db, name);
    assert_ok(kn_forest_build(&f, ctx, d, &err), err);
    for (int64_t refuse_at = 1;; refuse_at++) {
        testing_allocator  memory = {.refuse_at = refuse_at};
        kn_context_options options = KN_CONTEXT_OPTIONS_INIT;
        kn_allocator       allocator = testing_failing_allocator(&memory);
        kn_context        *failing = NULL;
        kn_records        *r = NULL;
        options.threads = 1;
        options.allocator = &allocator;
        kn_status st = kn_context_create(&failing, &options, &err);
        if (st == KN_OK) st = kn_records_of_database(&r, failing, f, NULL, 0, &err);
        kn_records_free(r);
        kn_context_free(failing);
        assert_int_equal(memory.live, 0);
        if (st == KN_OK) {
            assert_true(refuse_at > 20);
            break;
        }
        assert_int_equal(st, KN_MEMORY);
    }
    kn_forest_free(f);
    kn_database_free(d);
    rdb_free(db);
    testing_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_shop),
        cmocka_unit_test(test_failing_memory),
    };
    return cmocka_run_group_tests_name("records of databases", tests, NULL, NULL);
}
