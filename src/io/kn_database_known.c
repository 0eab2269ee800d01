/* kn_database_known.c: reads what is known of persons (kn_database_known.h): once to see what there is, then the tables and
 * columns that the spec has, with its types.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_database_known.h"

#include <kanon/database.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_database_roles.h"
#include "kn_database_write.h"
#include "kn_error.h"

static const char what[] = "reading a database";

bool kn_known_refers(const kn_spec *spec, const kn_spec_table *t, const kn_database *db, const char *column)
{
    int at = kn_database_find(db, t->name);
    for (int i = 0; i < t->link_count; i++)
        if (strcmp(t->link_columns[i], column) == 0) return true;
    for (int f = 0; at >= 0 && f < db->tables[at].foreign_count; f++) {
        const kn_foreign_key *key = &db->tables[at].foreign[f];
        for (int i = 0; i < spec->table_count; i++)
            for (int c = 0; spec->tables[i].reference && c < key->column_count; c++)
                if (strcmp(key->target_name, spec->tables[i].name) == 0 &&
                    strcmp(db->tables[at].table->columns[key->columns[c]].name, column) == 0)
                    return true;
    }
    return false;
}

kn_attribute *kn_known_table(kn_spec_table *to, kn_arena *arena, const kn_spec_table *from, kn_error *err)
{
    kn_attribute *list = kn_arena_array(arena, (size_t)from->attribute_count + 1, sizeof *list);
    if (!list) (void)kn_fail_memory(err, arena->ctx, what);
    *to = *from;
    to->attributes = list;
    to->attribute_count = to->link_count = 0;
    return list;
}

void kn_known_add(kn_spec_table *to, kn_attribute *list, const kn_attribute *a, bool text)
{
    kn_attribute *copy = &list[to->attribute_count++];
    *copy = *a;
    copy->has_hierarchy = false;
    if (!text) return;
    copy->type = KN_TYPE_TEXT;
    copy->format = NULL;
}

kn_csv_options kn_known_release_csv(const kn_spec *spec, const char *release)
{
    static const char *const empty = "";
    kn_csv_options           csv = KN_CSV_OPTIONS_INIT;
    csv.guarded = spec->spreadsheet_safe;
    if (kn_database_kind_of(release) != KN_DATABASE_FOLDER) return csv;
    csv.na = &empty;
    csv.na_count = 1;
    return csv;
}

static const char *const *copy_names(kn_arena *arena, const kn_database_table *t, const int *columns, int count)
{
    const char **names = kn_arena_array(arena, (size_t)count + 1, sizeof *names);
    for (int i = 0; names && i < count; i++) {
        const char *name = t->table->columns[columns[i]].name;
        names[i] = kn_arena_strndup(arena, name, strlen(name));
    }
    return names;
}

kn_status kn_known_keys(kn_spec_table *to, kn_arena *arena, const kn_database *db, kn_error *err)
{
    int at = kn_database_find(db, to->name);
    if (at < 0) return KN_OK;
    const kn_database_table *t = &db->tables[at];
    to->has_key = true;
    to->key_count = t->link < 0 || t->child_count > 0 ? t->key_count : 0; /* others may not be keys of the release */
    to->key = copy_names(arena, t, t->key, to->key_count);
    if (t->link >= 0) {
        const kn_foreign_key *f = &t->foreign[t->link];
        const char           *parent = db->tables[t->parent].name;
        to->parent = kn_arena_strndup(arena, parent, strlen(parent));
        to->parent_column_count = f->column_count;
        to->parent_columns = copy_names(arena, t, f->columns, f->column_count);
    }
    return arena->failed ? kn_fail_memory(err, arena->ctx, what) : KN_OK;
}

/* The tables of the spec that there are, with the quasi-identifiers that there are. */
static kn_status choose(kn_spec_table **out, int *count, kn_arena *arena, const kn_spec *spec, const kn_database *there,
                        kn_error *err)
{
    kn_spec_table *tables = kn_arena_array(arena, (size_t)spec->table_count + 1, sizeof *tables);
    if (!tables) return kn_fail_memory(err, arena->ctx, what);
    *out = tables;
    for (int i = 0; i < spec->table_count; i++) {
        const kn_spec_table *said = &spec->tables[i];
        int                  at = kn_database_find(there, said->name);
        if (said->reference || at < 0) continue;
        kn_spec_table *to = &tables[(*count)++];
        kn_attribute  *list = kn_known_table(to, arena, said, err);
        if (!list) return KN_MEMORY;
        to->ignored_count = 0;
        for (int a = 0; a < said->attribute_count; a++) {
            const kn_attribute *one = &said->attributes[a];
            if (one->role == KN_ROLE_QUASI && kn_table_find(there->tables[at].table, one->name) >= 0 &&
                !kn_known_refers(spec, said, there, one->name))
                kn_known_add(to, list, one, false);
        }
    }
    return KN_OK;
}

kn_status kn_database_read_trees(kn_database **db, kn_forest **forest, kn_context *ctx, const char *path,
                                 const kn_csv_options *csv, const char *entity, const kn_spec_table *tables, int count,
                                 kn_error *err)
{
    kn_database_options reading = KN_DATABASE_OPTIONS_INIT;
    reading.tables = tables;
    reading.table_count = count;
    reading.csv = csv;
    KN_TRY(kn_database_read(db, ctx, path, &reading, err));
    KN_TRY(kn_database_choose(*db, entity, err));
    KN_TRY(kn_database_roles(*db, tables, count, err));
    return kn_forest_build(forest, ctx, *db, err);
}

static bool has_table(const kn_spec_table *tables, int count, const char *name)
{
    for (int i = 0; i < count; i++)
        if (strcmp(tables[i].name, name) == 0) return true;
    return false;
}

static kn_status read_file(kn_database **out, kn_context *ctx, const char *path, const kn_csv_options *csv,
                           const char *entity, kn_error *err)
{
    kn_table    *table = NULL;
    kn_database *db = NULL;
    if (!entity) return kn_fail(err, KN_USAGE, "%s: say which table is that of persons (entity: {table: ...})", path);
    KN_TRY(kn_table_read_csv(&table, ctx, path, csv, err));
    kn_status st = kn_database_create(&db, ctx, path, err);
    *out = db;
    if (st != KN_OK) {
        kn_table_free(table);
        return st;
    }
    KN_TRY(kn_database_add(db, entity, table, err));
    db->order = kn_alloc_array(ctx, 1, sizeof *db->order);
    if (!db->order) return kn_fail_memory(err, ctx, what);
    db->entity = db->order[0] = 0;
    db->tables[0].parent = db->tables[0].link = -1;
    return KN_OK;
}

/* Once it is known which columns there are: with the spec's types. */
static kn_status read_persons_file(kn_database **db, kn_forest **forest, kn_arena *arena, const char *path,
                                   const kn_csv_options *csv, const kn_spec_table *said, kn_error *err)
{
    kn_csv_options  typed = *csv;
    kn_column_type *types = kn_arena_array(arena, (size_t)said->attribute_count + 1, sizeof *types);
    if (!types) return kn_fail_memory(err, arena->ctx, what);
    for (int a = 0; a < said->attribute_count; a++)
        if (said->attributes[a].type != KN_TYPE_AUTO)
            types[typed.type_count++] =
                (kn_column_type){said->attributes[a].name, said->attributes[a].type, said->attributes[a].format};
    typed.types = types;
    KN_TRY(read_file(db, arena->ctx, path, &typed, said->name, err));
    KN_TRY(kn_database_roles(*db, said, 1, err));
    return kn_forest_build(forest, arena->ctx, *db, err);
}

kn_status kn_database_read_known(kn_database **db, kn_forest **forest, kn_arena *arena, const char *path,
                                 const kn_csv_options *csv, const kn_spec *spec, kn_error *err)
{
    kn_database_options all = KN_DATABASE_OPTIONS_INIT;
    kn_csv_options      untyped = *csv;
    kn_database        *there = NULL;
    kn_spec_table      *tables = NULL;
    kn_context         *ctx = arena->ctx;
    bool                file = !kn_database_named(path);
    int                 count = 0;
    untyped.types = NULL;
    untyped.type_count = untyped.column_count = 0;
    untyped.columns = NULL;
    untyped.count = NULL;
    all.csv = &untyped;
    kn_status st = file ? read_file(&there, ctx, path, &untyped, spec->entity_table, err)
                        : kn_database_read(&there, ctx, path, &all, err);
    if (st == KN_OK) st = choose(&tables, &count, arena, spec, there, err);
    kn_database_free(there);
    KN_TRY(st);
    if (spec->entity_table && !has_table(tables, count, spec->entity_table))
        return kn_fail(err, KN_INPUT, "%s: it has no table \"%s\", to which the rows of all others belong", path,
                       spec->entity_table);
    return file ? read_persons_file(db, forest, arena, path, &untyped, tables, err)
                : kn_database_read_trees(db, forest, ctx, path, &untyped, spec->entity_table, tables, count, err);
}
