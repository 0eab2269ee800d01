/* kn_database_persons.c: a database with its roles and hierarchies, and the trees of its persons, for whoever looks at one
 * without releasing it; hierarchies of numbers and dates by type. Interface: kn_database_roles.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_alloc.h"
#include "kn_database_roles.h"
#include "kn_error.h"
#include "kn_hierarchy_make.h"
#include "kn_people.h"

kn_status kn_database_by_type(bool *taken, kn_hierarchy_spec *rule, kn_arena *arena, kn_database *db, int table,
                              const kn_attribute *a, const kn_column *population, kn_error *err)
{
    kn_database_table *t = &db->tables[table];
    int                c = kn_table_find(t->table, a->name);
    kn_hierarchy      *made = NULL;
    *taken = false;
    if (a->role != KN_ROLE_QUASI || a->has_hierarchy) return KN_OK;
    if (t->columns[c].refers) return KN_OK; /* it has the one of its reference */
    KN_TRY(kn_hierarchy_by_type_over(rule, arena, &t->table->columns[c], population, a->hierarchy.decimal, err));
    if (rule->kind != KN_HIERARCHY_RANGES && rule->kind != KN_HIERARCHY_CALENDAR) return KN_OK;
    rule->timezone = db->timezone;
    KN_TRY(kn_hierarchy_make(&made, db->ctx, t->table, c, rule, false, err));
    kn_hierarchy_free(t->columns[c].hierarchy);
    t->columns[c].hierarchy = made;
    *taken = true;
    return KN_OK;
}

static kn_status all_by_type(kn_database *db, const kn_spec *spec, const kn_people *people, kn_error *err)
{
    kn_arena  arena;
    kn_status st = KN_OK;
    kn_arena_init(&arena, db->ctx);
    for (int i = 0; i < spec->table_count; i++)
        for (int a = 0; a < spec->tables[i].attribute_count && st == KN_OK && !spec->tables[i].reference; a++) {
            kn_hierarchy_spec rule;
            bool              taken;
            st = kn_database_by_type(
                &taken, &rule, &arena, db, kn_database_find(db, spec->tables[i].name), &spec->tables[i].attributes[a],
                kn_people_column(people, spec->tables[i].name, spec->tables[i].attributes[a].name), err);
        }
    kn_arena_free(&arena);
    return st;
}

/* Beyond those that the spec declares; with a population, all of them over the values of both. */
static kn_status make_hierarchies(kn_database *db, const kn_spec *spec, bool empty, kn_error *err)
{
    kn_people *people;
    KN_TRY(kn_people_read(&people, db->ctx, spec, empty, err));
    kn_status st = all_by_type(db, spec, people, err);
    if (st == KN_OK && people) st = kn_people_widen(people, db, spec, err);
    kn_people_free(people);
    return st;
}

kn_status kn_database_read_persons(kn_database **db, kn_forest **forest, kn_context *ctx, const char *input,
                                   const kn_spec *spec, bool empty, kn_error *err)
{
    kn_database_options reading = KN_DATABASE_OPTIONS_INIT;
    kn_csv_options      csv = spec->csv;
    const char        **na = NULL;
    *db = NULL;
    *forest = NULL;
    reading.tables = spec->table_count > 0 ? spec->tables : NULL;
    reading.table_count = spec->table_count;
    reading.csv = &csv;
    if (empty) KN_TRY(kn_csv_empty_is_missing(&na, ctx, input, &csv, err));
    kn_status st = kn_database_read(db, ctx, input, &reading, err);
    kn_free(na);
    KN_TRY(st);
    KN_TRY(kn_database_choose(*db, spec->entity_table, err));
    KN_TRY(kn_database_roles(*db, spec->tables, spec->table_count, err));
    KN_TRY(make_hierarchies(*db, spec, empty, err));
    if ((*db)->tables[(*db)->entity].table->rows == 0)
        return kn_fail(err, KN_INPUT, "table \"%s\" has no rows: there are no persons",
                       (*db)->tables[(*db)->entity].name);
    return kn_forest_build(forest, ctx, *db, err);
}
