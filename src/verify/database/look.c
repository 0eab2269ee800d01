/* database/look.c: which rows of the original belong to which: its catalog's keys, overridden by the spec.
 *
 * A key that the spec names replaces the declared one; a parent that it names replaces the foreign keys to tables
 * that are read. What must then hold (section 4.1): the table of persons has a key and refers to no other table,
 * every other table refers to one, and following these leads to the table of persons. Cost: O(tables x columns), and
 * one pass over each table for its key.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_verify_database.h"

/* Columns that refer to a row of another table. */
typedef struct naming {
    int  target, count;
    int *columns, *targets;
} naming;

typedef struct keys {
    const kn_spec_table *said; /* NULL: nothing */
    int                  link_count;
    naming              *links;
} keys;

/* ---- What is declared ---- */

static kn_status find_columns(kn_vdb *v, int table, const char *const *names, int count, int **out, kn_error *err)
{
    const kn_vsheet *sheet = &v->original.list[table];
    *out = kn_vdb_take(v, (size_t)count, sizeof **out);
    if (!*out) return kn_vdb_no_memory(v, err);
    for (int i = 0; i < count; i++) {
        (*out)[i] = kn_vsheet_find(sheet, names[i]);
        if ((*out)[i] < 0)
            return kn_fail(err, KN_INPUT, "%s: table \"%s\" has no column \"%s\"", v->original.cells->name, sheet->name,
                           names[i]);
    }
    return KN_OK;
}

static kn_status take_key(kn_vdb *v, int t, const keys *k, kn_error *err)
{
    const kn_catalog_table *declared = v->original.list[t].declared;
    bool                    said = k->said && k->said->has_key;
    const char *const      *names = said ? k->said->key : declared->key;
    int                    *columns = NULL;
    v->tables[t].key_count = said ? k->said->key_count : declared->key_count;
    KN_TRY(find_columns(v, t, names, v->tables[t].key_count, &columns, err));
    v->tables[t].key_columns = columns;
    return KN_OK;
}

static bool same_numbers(const int *a, const int *b, int count)
{
    return memcmp(a, b, (size_t)count * sizeof *a) == 0;
}

/* `targets` NULL: the target's key. The same key given twice counts once. */
static kn_status add_link(kn_vdb *v, int t, keys *k, const char *target, const char *const *names,
                          const char *const *targets, int count, kn_error *err)
{
    naming              n = {.target = kn_vsheets_find(&v->original, target), .count = count};
    const kn_vdb_table *to = &v->tables[n.target];
    KN_TRY(find_columns(v, t, names, count, &n.columns, err));
    if (targets) KN_TRY(find_columns(v, n.target, targets, count, &n.targets, err));
    if (!targets && to->key_count != count)
        return kn_fail(err, KN_INPUT, "%s: table \"%s\" refers to rows of \"%s\" by %d columns, whose key has %d",
                       v->original.cells->name, v->original.list[t].name, target, count, to->key_count);
    if (!targets && !(n.targets = kn_vdb_take(v, (size_t)count, sizeof(int)))) return kn_vdb_no_memory(v, err);
    if (!targets) memcpy(n.targets, to->key_columns, (size_t)count * sizeof(int));
    for (int l = 0; l < k->link_count; l++)
        if (k->links[l].target == n.target && k->links[l].count == count &&
            same_numbers(k->links[l].columns, n.columns, count) && same_numbers(k->links[l].targets, n.targets, count))
            return KN_OK;
    k->links[k->link_count++] = n;
    return KN_OK;
}

/* ---- What the spec says over it ---- */

static bool named(const char *const *names, int count, const char *name)
{
    for (int i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0) return true;
    return false;
}

static bool is_parent(const kn_catalog_link *link, const kn_spec_table *said)
{
    bool same = strcmp(link->target, said->parent) == 0 && link->count == said->parent_column_count;
    for (int i = 0; same && i < link->count; i++) same = strcmp(link->columns[i], said->parent_columns[i]) == 0;
    return same;
}

/* A declared foreign key that is not used shows rows of a table by their old keys: none of its columns may be
 * released. */
static kn_status check_left_out(const kn_vdb *v, int t, const kn_catalog_link *link, const kn_spec_table *said,
                                kn_error *err)
{
    const kn_vdb_table *table = &v->tables[t];
    for (int i = 0; i < link->count; i++) {
        bool shown = false;
        for (int k = 0; k < table->key_count; k++)
            shown = shown || strcmp(kn_vsheet_name(&v->original.list[t], table->key_columns[k]), link->columns[i]) == 0;
        for (int a = 0; a < said->attribute_count; a++)
            shown = shown || (strcmp(said->attributes[a].name, link->columns[i]) == 0 &&
                              said->attributes[a].role != KN_ROLE_IDENTIFIER);
        if (shown && !named(said->parent_columns, said->parent_column_count, link->columns[i]))
            return kn_fail(err, KN_INPUT,
                           "%s: table \"%s\", column \"%s\" names rows of \"%s\" by their old keys, and must not be "
                           "released",
                           v->original.cells->name, said->name, link->columns[i], link->target);
    }
    return KN_OK;
}

static kn_status take_links(kn_vdb *v, int t, keys *k, kn_error *err)
{
    const kn_catalog_table *declared = v->original.list[t].declared;
    const kn_spec_table    *said = k->said && k->said->parent ? k->said : NULL;
    bool                    known = false;
    k->links = kn_vdb_take(v, (size_t)declared->link_count + 1, sizeof *k->links);
    if (!k->links) return kn_vdb_no_memory(v, err);
    for (int l = 0; l < declared->link_count; l++) {
        const kn_catalog_link *link = &declared->links[l];
        bool                   parent = said && is_parent(link, said);
        if (kn_vsheets_find(&v->original, link->target) < 0) continue; /* a column like any other */
        if (said && !parent) {
            KN_TRY(check_left_out(v, t, link, said, err));
        } else if (!parent || !known) {
            const char *const *targets = link->target_columns[0] ? link->target_columns : NULL;
            KN_TRY(add_link(v, t, k, link->target, link->columns, targets, link->count, err));
        }
        known = known || parent;
    }
    if (!said || known) return KN_OK;
    if (kn_vsheets_find(&v->original, said->parent) < 0)
        return kn_fail(err, KN_INPUT, "%s: there is no table \"%s\"", v->original.cells->name, said->parent);
    return add_link(v, t, k, said->parent, said->parent_columns, NULL, said->parent_column_count, err);
}

/* ---- Who the persons are ---- */

/* The one named by the spec, else the only table without a foreign key to another. */
static kn_status find_person(kn_vdb *v, const keys *all, kn_error *err)
{
    v->person = -1;
    if (v->spec->entity_table) {
        v->person = kn_vsheets_find(&v->original, v->spec->entity_table);
        if (v->person >= 0) return KN_OK;
        return kn_fail(err, KN_INPUT, "%s: there is no table \"%s\"", v->original.cells->name, v->spec->entity_table);
    }
    for (int t = 0; t < v->table_count; t++) {
        if (all[t].link_count > 0) continue;
        if (v->person >= 0)
            return kn_fail(err, KN_INPUT,
                           "nothing says which table holds the persons; say it with entity: {table: ...}");
        v->person = t;
    }
    return v->person >= 0 ? KN_OK : kn_fail(err, KN_INPUT, "no table holds persons: each refers to another");
}

static kn_status no_snowflake(const kn_vdb *v, int table, const char *why, kn_error *err)
{
    return kn_fail(err, KN_INPUT, "the original is not a snowflake around table \"%s\": table \"%s\" %s",
                   v->tables[v->person].name, v->tables[table].name, why);
}

static kn_status check_shape(const kn_vdb *v, const keys *all, kn_error *err)
{
    for (int t = 0; t < v->table_count; t++) {
        if (t == v->person && v->tables[t].key_count == 0) return no_snowflake(v, t, "has no primary key", err);
        if (t == v->person && all[t].link_count > 0) return no_snowflake(v, t, "has a foreign key", err);
        if (t != v->person && all[t].link_count > 1)
            return no_snowflake(v, t, "has several foreign keys to listed tables", err);
        if (t != v->person && (all[t].link_count == 0 || all[t].links[0].target == t))
            return no_snowflake(v, t, "leads to no person", err);
    }
    return KN_OK;
}

/* Does every row have a key, and a unique one? References to it are checked again when rows are joined. */
static kn_status check_key(kn_vdb *v, int t, kn_error *err)
{
    const kn_vdb_table *table = &v->tables[t];
    int64_t             twice = -1;
    const kn_vsheet    *sheet = table->original.table;
    kn_vdb_lookup       l = {sheet, sheet, table->key_columns, table->key_columns, table->key_count};
    if (table->key_count == 0) return KN_OK;
    KN_TRY(kn_vdb_look_up(NULL, &twice, v, &l, err));
    return twice < 0 ? KN_OK
                     : no_snowflake(v, t, "has a key that is missing in some rows, or the same in several", err);
}

/* ---- Tables ---- */

static kn_status describe_table(kn_vdb *v, int t, const keys *all, kn_error *err)
{
    kn_vdb_table *to = &v->tables[t];
    size_t        n = (size_t)v->original.list[t].column_count;
    bool         *key = kn_vdb_take(v, n, sizeof *key), *primary = kn_vdb_take(v, n, sizeof *primary);
    to->quasi = kn_vdb_take(v, n, sizeof *to->quasi);
    to->copies = kn_vdb_take(v, n, sizeof *to->copies);
    to->hidden = kn_vdb_take(v, n, sizeof *to->hidden);
    to->lists = kn_vdb_take(v, n, sizeof *to->lists);
    to->group_column = -1;
    if (!key || !primary || !to->quasi || !to->copies || !to->hidden || !to->lists) return kn_vdb_no_memory(v, err);
    for (int i = 0; i < to->key_count; i++) key[to->key_columns[i]] = primary[to->key_columns[i]] = true;
    for (int o = 0; o < v->table_count; o++) /* what refers to others, and what others refer to, is a key too */
        for (int l = 0; l < all[o].link_count; l++) {
            const naming *link = &all[o].links[l];
            for (int i = 0; o == t && i < link->count; i++) key[link->columns[i]] = true;
            for (int i = 0; link->target == t && i < link->count; i++) key[link->targets[i]] = true;
        }
    to->key = key;
    to->primary = primary;
    to->parent = -1;
    if (t == v->person) return KN_OK;
    to->parent = all[t].links[0].target;
    to->link_count = all[t].links[0].count;
    to->link = all[t].links[0].columns;
    to->target = all[t].links[0].targets;
    return KN_OK;
}

/* Orders parents before children; also sets depths and children. */
static kn_status order_tables(kn_vdb *v, kn_error *err)
{
    int n = 0;
    v->order = kn_vdb_take(v, (size_t)v->table_count, sizeof *v->order);
    if (!v->order) return kn_vdb_no_memory(v, err);
    v->order[n++] = v->person;
    for (int i = 0; i < n; i++) {
        kn_vdb_table *t = &v->tables[v->order[i]];
        int          *children = kn_vdb_take(v, (size_t)v->table_count, sizeof *children);
        if (!children) return kn_vdb_no_memory(v, err);
        for (int c = 0; c < v->table_count; c++) {
            if (v->tables[c].parent != v->order[i]) continue;
            v->tables[c].depth = t->depth + 1;
            children[t->child_count++] = c;
            v->order[n++] = c;
        }
        t->children = children;
    }
    if (n < v->table_count) return kn_fail(err, KN_INPUT, "a table of the original leads to no person");
    return KN_OK;
}

kn_status kn_vdb_look(kn_vdb *v, kn_error *err)
{
    keys *all = kn_vdb_take(v, (size_t)v->original.count, sizeof *all);
    v->tables = kn_vdb_take(v, (size_t)v->original.count, sizeof *v->tables);
    if (!v->tables || !all) return kn_vdb_no_memory(v, err);
    v->table_count = v->original.count;
    for (int t = 0; t < v->table_count; t++) {
        v->tables[t].name = v->original.list[t].name;
        v->tables[t].original.table = &v->original.list[t];
        v->tables[t].original.rows = v->original.list[t].rows;
        for (int i = 0; i < v->spec->table_count; i++)
            if (strcmp(v->spec->tables[i].name, v->tables[t].name) == 0) all[t].said = &v->spec->tables[i];
        KN_TRY(take_key(v, t, &all[t], err));
    }
    for (int t = 0; t < v->table_count; t++) KN_TRY(take_links(v, t, &all[t], err));
    KN_TRY(find_person(v, all, err));
    KN_TRY(check_shape(v, all, err));
    for (int t = 0; t < v->table_count; t++) KN_TRY(describe_table(v, t, all, err));
    KN_TRY(order_tables(v, err));
    for (int t = 0; t < v->table_count; t++) KN_TRY(check_key(v, t, err));
    return KN_OK;
}
