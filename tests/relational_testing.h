/* relational_testing.h: small databases for the tests of the methods on databases: the paper's students, and random
 * schemas with random data. Everything is built from texts through the readers' door (kn_database.h), so that rows can
 * come in any order.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef RELATIONAL_TESTING_H
#define RELATIONAL_TESTING_H

#include "testing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kn_database_roles.h"
#include "kn_forest.h"
#include "kn_rng.h"
#include "promise_testing.h"

enum { MOST_TABLES = 4, MOST_QUASI = 3, MOST_LEVELS = 4, MOST_LEAVES = 9 };

/* A level that a leaf's path has not: unbalanced hierarchies. */
#define NO_LABEL "\1"

/* One column's hierarchy: path[leaf][level], labels as texts; the last level is the root. */
typedef struct test_tree {
    int  leaves, levels;
    char path[MOST_LEAVES][MOST_LEVELS][24];
} test_tree;

typedef struct test_row {
    int parent; /* row of the parent table */
    int quasi[MOST_QUASI]; /* a leaf; -1: missing */
    int sensitive;
} test_row;

typedef struct test_table {
    int       parent, depth, quasi_count, rows, capacity;
    test_tree trees[MOST_QUASI];
    test_row *row;
} test_table;

typedef struct test_data {
    int        tables;
    test_table table[MOST_TABLES];
} test_data;

/* A forest with all it stands on. */
typedef struct test_forest {
    kn_database *db;
    kn_forest   *forest;
    int         *original[MOST_TABLES]; /* row of the kn_table → row of the data */
} test_forest;

static inline int below(kn_rng *rng, int bound)
{
    return (int)kn_rng_below(rng, (uint64_t)bound);
}

static inline test_row *add_row(test_table *t)
{
    if (t->rows == t->capacity) {
        t->capacity = t->capacity ? t->capacity * 2 : 16;
        t->row = realloc(t->row, (size_t)t->capacity * sizeof *t->row);
        if (!t->row) abort();
    }
    t->row[t->rows] = (test_row){0};
    return &t->row[t->rows++];
}

static inline void free_data(test_data *d)
{
    for (int t = 0; t < d->tables; t++) free(d->table[t].row);
}

/* A random tree: leaves in runs that share a group on each level. */
static inline void random_tree(test_tree *tree, kn_rng *rng)
{
    tree->leaves = 2 + below(rng, MOST_LEAVES - 1);
    tree->levels = 2 + below(rng, MOST_LEVELS - 1);
    int group[MOST_LEVELS] = {0};
    for (int leaf = 0; leaf < tree->leaves; leaf++) {
        bool cut = false; /* a new group begins wherever a larger one does */
        for (int level = tree->levels - 2; level > 0; level--) {
            cut = cut || (leaf > 0 && below(rng, 3) == 0);
            if (cut) group[level]++;
            snprintf(tree->path[leaf][level], 24, "g%d.%d", level, group[level]);
        }
        snprintf(tree->path[leaf][0], 24, "v%d", leaf);
        snprintf(tree->path[leaf][tree->levels - 1], 24, "*");
    }
}

static inline test_data random_data(kn_rng *rng, int persons, int fan)
{
    test_data d = {.tables = 1 + below(rng, MOST_TABLES)};
    for (int t = 0; t < d.tables; t++) {
        test_table *table = &d.table[t];
        do table->parent = t == 0 ? -1 : below(rng, t);
        while (t > 0 && d.table[table->parent].depth == 3);
        table->depth = t == 0 ? 0 : d.table[table->parent].depth + 1;
        table->quasi_count = 1 + below(rng, MOST_QUASI);
        for (int q = 0; q < table->quasi_count; q++) random_tree(&table->trees[q], rng);
        int parents = t == 0 ? persons : d.table[table->parent].rows;
        for (int p = 0; p < parents; p++)
            for (int n = t == 0 ? 1 : below(rng, fan + 1); n > 0; n--) {
                test_row *row = add_row(table);
                row->parent = p;
                row->sensitive = below(rng, 4);
                for (int q = 0; q < table->quasi_count; q++)
                    row->quasi[q] = below(rng, 12) ? below(rng, table->trees[q].leaves) : -1;
            }
    }
    return d;
}

/* Takes groups out of the paths of some leaves, where the group keeps others. */
static inline void unbalance(test_tree *tree, kn_rng *rng)
{
    for (int leaf = 0; leaf < tree->leaves; leaf++)
        for (int level = 1; level < tree->levels - 1 && below(rng, 3) == 0; level++)
            strcpy(tree->path[leaf][level], NO_LABEL);
}

/* Anything but even: a third of the persons has nothing, few have much; several tables hang from one; tables without a
 * row or a quasi-identifier; few values, so that siblings and whole trees are alike; unbalanced hierarchies. */
static inline test_data ragged_data(kn_rng *rng, int persons)
{
    test_data d = {.tables = 2 + below(rng, MOST_TABLES - 1)};
    for (int t = 0; t < d.tables; t++) {
        test_table *table = &d.table[t];
        do table->parent = t == 0 ? -1 : below(rng, 2) ? 0 : below(rng, t);
        while (t > 0 && d.table[table->parent].depth == 3);
        table->depth = t == 0 ? 0 : d.table[table->parent].depth + 1;
        table->quasi_count = t == 0 ? 1 + below(rng, 2) : below(rng, MOST_QUASI + 1);
        int values[MOST_QUASI] = {0};
        for (int q = 0; q < table->quasi_count; q++) {
            random_tree(&table->trees[q], rng);
            unbalance(&table->trees[q], rng);
            values[q] = 1 + below(rng, table->trees[q].leaves);
        }
        int parents = t == 0 ? persons : d.table[table->parent].rows;
        if (t > 0 && below(rng, 8) == 0) continue;
        for (int p = 0; p < parents; p++) {
            int n = t == 0 ? 1 : below(rng, 3) == 0 ? 0 : below(rng, 12) ? below(rng, 4) : below(rng, t == 1 ? 20 : 9);
            for (; n > 0; n--) {
                test_row *row = add_row(table);
                row->parent = p;
                row->sensitive = below(rng, 4);
                for (int q = 0; q < table->quasi_count; q++)
                    row->quasi[q] = below(rng, 6) ? below(rng, values[q]) : -1;
            }
        }
    }
    return d;
}

/* The table as CSV, its rows in the order of `order`: id, up, q0.., s. */
static inline char *table_text(const test_table *t, int number, const int *order)
{
    size_t capacity = 256 + (size_t)t->rows * 96, at = 0;
    char  *text = malloc(capacity);
    if (!text) abort();
#define PUT(...) at += (size_t)snprintf(text + at, capacity - at, __VA_ARGS__)
    PUT("id,up");
    for (int q = 0; q < t->quasi_count; q++) PUT(",q%d", q);
    PUT(",s\n");
    for (int i = 0; i < t->rows; i++) {
        const test_row *row = &t->row[order[i]];
        PUT("r%d-%d,r%d-%d", number, order[i], t->parent, row->parent);
        for (int q = 0; q < t->quasi_count; q++)
            PUT(",%s", row->quasi[q] < 0 ? "" : t->trees[q].path[row->quasi[q]][0]);
        PUT(",%d\n", row->sensitive);
    }
#undef PUT
    return text;
}

static inline const char *tree_file(const test_tree *tree, int table, int q)
{
    char   name[32], text[MOST_LEAVES * MOST_LEVELS * 26];
    size_t at = 0;
    for (int leaf = 0; leaf < tree->leaves; leaf++)
        for (int level = 0; level < tree->levels; level++)
            if (strcmp(tree->path[leaf][level], NO_LABEL) != 0)
                at += (size_t)snprintf(text + at, sizeof text - at, "%s%s", tree->path[leaf][level],
                                       level == tree->levels - 1 ? "\n" : ";");
    snprintf(name, sizeof name, "tree%d-%d.csv", table, q);
    return testing_file(name, text, at);
}

static inline void test_forest_free(test_forest *f)
{
    kn_forest_free(f->forest);
    kn_database_free(f->db);
    for (int t = 0; t < MOST_TABLES; t++) free(f->original[t]);
}

static inline void test_add_table(kn_database *db, kn_context *ctx, const test_data *d, int t, const int *order)
{
    kn_error          err = KN_ERROR_INIT;
    kn_csv_options    csv = KN_CSV_OPTIONS_INIT;
    kn_column_type    types[2 + MOST_QUASI] = {{"id", KN_TYPE_TEXT, NULL}, {"up", KN_TYPE_TEXT, NULL}};
    const char *const quasi[] = {"q0", "q1", "q2"};
    const char *const key[] = {"id"};
    char              name[32], *text = table_text(&d->table[t], t, order);
    kn_table         *table;
    for (int q = 0; q < d->table[t].quasi_count; q++) types[2 + q] = (kn_column_type){quasi[q], KN_TYPE_TEXT, NULL};
    csv.types = types;
    csv.type_count = 2 + d->table[t].quasi_count;
    snprintf(name, sizeof name, "table%d.csv", t);
    assert_ok(kn_table_read_csv(&table, ctx, testing_file(name, text, strlen(text)), &csv, &err), err);
    free(text);
    snprintf(name, sizeof name, "t%d", t);
    assert_ok(kn_database_add(db, name, table, &err), err);
    assert_ok(kn_database_set_key(db, t, key, 1, &err), err);
}

static inline void test_set_roles(kn_database *db, const test_data *d)
{
    kn_error          err = KN_ERROR_INIT;
    kn_spec_table     specs[MOST_TABLES] = {0};
    kn_attribute      attributes[MOST_TABLES][MOST_QUASI + 1];
    const char *const quasi[] = {"q0", "q1", "q2"}, *const names[] = {"t0", "t1", "t2", "t3"};
    memset(attributes, 0, sizeof attributes);
    for (int t = 0; t < d->tables; t++) {
        int count = d->table[t].quasi_count;
        for (int q = 0; q < count; q++) {
            kn_hierarchy_spec spec = KN_HIERARCHY_SPEC_INIT;
            spec.path = tree_file(&d->table[t].trees[q], t, q);
            attributes[t][q] = (kn_attribute){.name = quasi[q],
                                              .role = KN_ROLE_QUASI,
                                              .has_role = true,
                                              .weight = {1, 1},
                                              .has_hierarchy = true,
                                              .hierarchy = spec};
        }
        attributes[t][count] =
            (kn_attribute){.name = "s", .role = KN_ROLE_SENSITIVE, .has_role = true, .weight = {1, 1}};
        attributes[t][count].has_hierarchy = true;
        for (int i = 0; i < d->table[t].rows; i++)
            if (d->table[t].row[i].sensitive >= PROMISED_VALUES) attributes[t][count].has_hierarchy = false;
        attributes[t][count].hierarchy = (kn_hierarchy_spec)KN_HIERARCHY_SPEC_INIT;
        attributes[t][count].hierarchy.path = testing_file("values.csv", PROMISED_TREE, strlen(PROMISED_TREE));
        specs[t] = (kn_spec_table){.name = names[t], .attribute_count = count + 1, .attributes = attributes[t]};
    }
    assert_ok(kn_database_roles(db, specs, d->tables, &err), err);
}

/* `rng` NULL: rows as they are; else shuffled. */
static inline test_forest make_forest(kn_context *ctx, const test_data *d, kn_rng *rng)
{
    test_forest       f = {0};
    kn_error          err = KN_ERROR_INIT;
    const char *const up[] = {"up"};
    assert_ok(kn_database_create(&f.db, ctx, "test", &err), err);
    for (int t = 0; t < d->tables; t++) {
        int rows = d->table[t].rows;
        f.original[t] = malloc((size_t)(rows + 1) * sizeof(int));
        for (int i = 0; i < rows; i++) f.original[t][i] = i;
        for (int i = rows - 1; rng && i > 0; i--) {
            int j = below(rng, i + 1), swap = f.original[t][i];
            f.original[t][i] = f.original[t][j];
            f.original[t][j] = swap;
        }
        test_add_table(f.db, ctx, d, t, f.original[t]);
    }
    for (int t = 1; t < d->tables; t++) {
        char target[16];
        snprintf(target, sizeof target, "t%d", d->table[t].parent);
        assert_ok(kn_database_link(f.db, t, up, 1, target, NULL, &err), err);
    }
    assert_ok(kn_database_choose(f.db, "t0", &err), err);
    test_set_roles(f.db, d);
    assert_ok(kn_forest_build(&f.forest, ctx, f.db, &err), err);
    return f;
}

#endif
