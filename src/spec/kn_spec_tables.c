/* kn_spec_tables.c: `tables:` and `entity:` of a release file: which tables of a database, joined by which keys.
 *
 * A list of tables replaces an earlier one as a whole. It is in the spec's arena and is never changed in place, so that
 * a failed change leaves the old one as it was.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "kn_error.h"
#include "kn_field.h"
#include "kn_names.h"

enum { MOST_TABLES = 4096, MOST_WEIGHT = 1000 };

static kn_status read_column_name(kn_reader *r, const kn_yaml *value, void *target)
{
    return kn_read_text(r, value, "the name of a column", target);
}

static kn_status read_table_name(kn_reader *r, const kn_yaml *value, void *target)
{
    return kn_read_text(r, value, "the name of a table", target);
}

static kn_status read_names(kn_reader *r, const kn_yaml *value, const char *const **out, int *count)
{
    return kn_read_list(r, value, "a column or a list of columns", read_column_name, out, count);
}

/* ---- One table ---- */

static kn_status read_key(kn_reader *r, const kn_yaml *value, void *target)
{
    kn_spec_table *t = target;
    t->has_key = true;
    return read_names(r, value, &t->key, &t->key_count);
}

static kn_status read_parent_columns(kn_reader *r, const kn_yaml *value, void *target)
{
    kn_spec_table *t = target;
    return read_names(r, value, &t->parent_columns, &t->parent_column_count);
}

static kn_status read_parent(kn_reader *r, const kn_yaml *value, void *target)
{
    static const kn_key keys[] = {{"table", read_table_name, offsetof(kn_spec_table, parent)},
                                  {"column", read_parent_columns, 0},
                                  {"columns", read_parent_columns, 0},
                                  KN_KEYS_END};
    kn_spec_table      *t = target;
    KN_TRY(kn_read_map(r, value, keys, target));
    if (t->parent && t->parent_column_count > 0) return KN_OK;
    return kn_field_fail(r, value, "a parent needs a table and the column (or columns) that name its rows");
}

static kn_status read_table_attributes(kn_reader *r, const kn_yaml *value, void *target)
{
    kn_spec_table *t = target;
    KN_TRY(kn_want_map(r, value, "a mapping of columns"));
    kn_attribute *list = kn_arena_alloc(&r->inner->arena, (value->count + 1) * sizeof *list);
    if (!list) return kn_field_memory(r);
    t->attributes = list;
    for (const kn_yaml *key = value->first; key; key = key->next)
        KN_TRY(kn_read_attribute_alone(r, key, key->value, &list[t->attribute_count++]));
    return KN_OK;
}

static kn_status read_weight(kn_reader *r, const kn_yaml *value, void *target)
{
    kn_spec_table *t = target;
    t->has_weight = true;
    return kn_read_whole(r, value, 0, MOST_WEIGHT, &t->weight);
}

static kn_status read_groups(kn_reader *r, const kn_yaml *value, void *target)
{
    kn_spec_table *t = target;
    return read_names(r, value, &t->groups, &t->group_count);
}

static kn_status read_ignored(kn_reader *r, const kn_yaml *value, void *target)
{
    kn_spec_table *t = target;
    return read_names(r, value, &t->ignored, &t->ignored_count);
}

static kn_status read_broader(kn_reader *r, const kn_yaml *value, void *target)
{
    return kn_read_either(r, value, "rows", "labels", "a way to be broader", &((kn_spec_table *)target)->labels);
}

/* One foreign key: a column, and a table or {table: ..., columns: [...]}. */
typedef struct spec_link {
    const char        *column, *target;
    int                count;
    const char *const *columns;
} spec_link;

static kn_status read_link_columns(kn_reader *r, const kn_yaml *value, void *target)
{
    spec_link *l = target;
    return read_names(r, value, &l->columns, &l->count);
}

static kn_status read_link(kn_reader *r, const kn_yaml *key, spec_link *l)
{
    static const kn_key keys[] = {
        {"table", read_table_name, offsetof(spec_link, target)}, {"columns", read_link_columns, 0}, KN_KEYS_END};
    const char **alone = kn_arena_array(&r->inner->arena, 1, sizeof *alone);
    *l = (spec_link){.column = kn_arena_strndup(&r->inner->arena, key->text, key->size), .count = 1, .columns = alone};
    if (!l->column || !alone) return kn_field_memory(r);
    alone[0] = l->column;
    if (key->value->kind != KN_YAML_MAP) return read_table_name(r, key->value, &l->target);
    KN_TRY(kn_read_map(r, key->value, keys, l));
    bool among = false;
    for (int i = 0; i < l->count; i++) among = among || strcmp(l->columns[i], l->column) == 0;
    if (l->target && among) return KN_OK;
    return kn_field_fail(r, key, "a link of several columns needs a table and the columns, \"%s\" among them",
                         l->column);
}

static kn_status read_links(kn_reader *r, const kn_yaml *value, void *target)
{
    kn_spec_table *t = target;
    KN_TRY(kn_want_map(r, value, "a mapping of columns to tables"));
    kn_arena           *room = &r->inner->arena;
    const char        **columns = kn_arena_array(room, 2 * value->count + 1, sizeof *columns);
    int                *counts = kn_arena_array(room, value->count + 1, sizeof *counts);
    const char *const **lists = kn_arena_array(room, value->count + 1, sizeof *lists);
    if (!columns || !counts || !lists) return kn_field_memory(r);
    t->link_columns = columns;
    t->link_targets = columns + value->count;
    t->link_counts = counts;
    t->link_lists = lists;
    for (const kn_yaml *key = value->first; key; key = key->next) {
        spec_link l;
        KN_TRY(read_link(r, key, &l));
        columns[value->count + (size_t)t->link_count] = l.target;
        counts[t->link_count] = l.count;
        lists[t->link_count] = l.columns;
        columns[t->link_count++] = l.columns[0];
    }
    return KN_OK;
}

/* A reference says nothing about persons: its rows belong to nobody, and its columns are copied or left out. */
static kn_status check_reference(kn_reader *r, const kn_yaml *key, const kn_spec_table *t)
{
    if (t->groups && !t->reference)
        return kn_field_fail(r, key, "table \"%s\" is no reference: leave groups out, or say reference: true", t->name);
    if (t->labels && !t->reference)
        return kn_field_fail(r, key, "table \"%s\" is no reference: leave broader out, or say reference: true",
                             t->name);
    if (!t->reference) return KN_OK;
    if (t->parent || t->has_weight)
        return kn_field_fail(r, key, "table \"%s\" is a reference: its rows belong to nobody; leave %s out", t->name,
                             t->parent ? "parent" : "weight");
    for (int a = 0; a < t->attribute_count; a++)
        if (t->attributes[a].has_role && t->attributes[a].role != KN_ROLE_IDENTIFIER &&
            t->attributes[a].role != KN_ROLE_KEEP)
            return kn_field_fail(
                r, key,
                "table \"%s\" is a reference: its columns are copied; only the roles keep and identifier "
                "(left out) are for them",
                t->name);
    return KN_OK;
}

static kn_status read_table(kn_reader *r, const kn_yaml *key, kn_spec_table *t)
{
    static const kn_key keys[] = {{"key", read_key, 0},
                                  {"parent", read_parent, 0},
                                  {"reference", kn_read_bool, offsetof(kn_spec_table, reference)},
                                  {"groups", read_groups, 0},
                                  {"broader", read_broader, 0},
                                  {"links", read_links, 0},
                                  {"ignore", read_ignored, 0},
                                  {"weight", read_weight, 0},
                                  {"attributes", read_table_attributes, 0},
                                  KN_KEYS_END};
    kn_place            place = kn_field_place(r, key);
    if (key->size == 0) return kn_field_fail(r, key, "the name of a table is empty");
    *t = (kn_spec_table){.line = place.line, .column = place.column};
    t->name = kn_arena_strndup(&r->inner->arena, key->text, key->size);
    if (!t->name) return kn_field_memory(r);
    if (kn_yaml_missing(key->value)) return KN_OK;
    KN_TRY(kn_read_map(r, key->value, keys, t));
    return check_reference(r, key, t);
}

/* ---- All of them ---- */

/* The key of persons, if only `entity:` names it. */
static kn_status fill_entity_key(kn_reader *r, kn_spec *spec)
{
    int found = -1;
    for (int i = 0; spec->entity && spec->entity_table && i < spec->table_count; i++)
        if (strcmp(spec->tables[i].name, spec->entity_table) == 0 && !spec->tables[i].has_key) found = i;
    if (found < 0) return KN_OK;
    kn_spec_table *list = kn_arena_alloc(&r->inner->arena, (size_t)spec->table_count * sizeof *list);
    if (!list) return kn_field_memory(r);
    memcpy(list, spec->tables, (size_t)spec->table_count * sizeof *list);
    list[found].has_key = true;
    list[found].key = spec->entity_columns;
    list[found].key_count = spec->entity_count;
    spec->tables = list;
    return KN_OK;
}

/* A parent is no reference, and some table is none. */
static kn_status check_persons(kn_reader *r, const kn_yaml *value, const kn_spec_table *list, int count)
{
    bool           persons = false;
    const kn_yaml *key = value->first;
    for (int i = 0; i < count; i++, key = key->next) {
        persons = persons || !list[i].reference;
        for (int j = 0; list[i].parent && j < count; j++)
            if (list[j].reference && strcmp(list[j].name, list[i].parent) == 0)
                return kn_field_fail(r, key, "the parent of table \"%s\" is a reference, whose rows belong to nobody",
                                     list[i].name);
    }
    return persons ? KN_OK : kn_field_fail(r, value, "every table is a reference: none holds persons");
}

kn_status kn_read_tables(kn_reader *r, const kn_yaml *value, void *target)
{
    kn_spec *spec = target;
    KN_TRY(kn_want_map(r, value, "a mapping of tables"));
    if (value->count == 0 || value->count > MOST_TABLES)
        return kn_field_fail(r, value, "from 1 to %d tables are expected here", MOST_TABLES);
    kn_spec_table *list = kn_arena_alloc(&r->inner->arena, value->count * sizeof *list);
    int            count = 0;
    if (!list) return kn_field_memory(r);
    for (const kn_yaml *key = value->first; key; key = key->next) KN_TRY(read_table(r, key, &list[count++]));
    for (int i = 0; i < count; i++) /* a parent that is not listed would never be found */
        for (int j = 0; list[i].parent && j <= count; j++) {
            if (j < count && strcmp(list[j].name, list[i].parent) == 0) break;
            if (j < count) continue;
            const kn_yaml *key = value->first;
            for (int k = 0; k < i; k++) key = key->next;
            return kn_field_fail(r, key, "the parent of table \"%s\" is not listed", list[i].name);
        }
    KN_TRY(check_persons(r, value, list, count));
    spec->tables = list;
    spec->table_count = count;
    return fill_entity_key(r, spec);
}

static kn_status read_entity_key(kn_reader *r, const kn_yaml *value, void *target)
{
    kn_spec *spec = target;
    size_t   size = 0;
    KN_TRY(read_names(r, value, &spec->entity_columns, &spec->entity_count));
    if (spec->entity_count == 0) return kn_field_fail(r, value, "an entity needs a column, or several");
    for (int i = 0; i < spec->entity_count; i++) {
        for (int j = 0; j < i; j++)
            if (strcmp(spec->entity_columns[i], spec->entity_columns[j]) == 0)
                return kn_field_fail(r, value, "a column is named twice");
        size += strlen(spec->entity_columns[i]) + 2;
    }
    char *name = kn_arena_bytes(&r->inner->arena, size + 1);
    if (!name) return kn_field_memory(r);
    spec->entity = name;
    for (int i = 0; i < spec->entity_count; i++)
        name += snprintf(name, size + 1, "%s%s", i > 0 ? ", " : "", spec->entity_columns[i]);
    return KN_OK;
}

kn_status kn_read_entity(kn_reader *r, const kn_yaml *value, void *target)
{
    static const kn_key keys[] = {
        {"key", read_entity_key, 0}, {"table", read_table_name, offsetof(kn_spec, entity_table)}, KN_KEYS_END};
    if (value->kind != KN_YAML_MAP) return read_entity_key(r, value, target);
    KN_TRY(kn_read_map(r, value, keys, target));
    if (value->count == 0) return kn_field_fail(r, value, "an entity needs a key, or a table");
    return fill_entity_key(r, target);
}

kn_status kn_read_place(kn_reader *r, const kn_yaml *value, void *target)
{
    size_t before = strlen(r->folder);
    if (value->kind != KN_YAML_TEXT) return kn_read_path(r, value, target);
    const char *text = value->text, *file = kn_name_file(text);
    if (kn_name_server(text)) return kn_read_text(r, value, "a database", target);
    if (!file) return kn_read_path(r, value, target);
    if (*file == '\0') return kn_field_fail(r, value, "%.*s must be followed by a file", (int)(file - text), text);
    if (*file == '/' || *file == '?' || before == 0) return kn_read_text(r, value, "a database", target);
    size_t prefix = (size_t)(file - text);
    char  *joined = kn_arena_bytes(&r->inner->arena, before + value->size + 1);
    if (!joined) return kn_field_memory(r);
    memcpy(joined, text, prefix);
    memcpy(joined + prefix, r->folder, before);
    memcpy(joined + prefix + before, text + prefix, value->size - prefix + 1);
    *(const char **)target = joined;
    return KN_OK;
}
