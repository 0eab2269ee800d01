/* database/look.c: which rows of the original belong to which: its catalog's keys, overridden by the spec.
 *
 * A key that the spec names replaces the declared one; a parent that it names replaces the foreign keys to tables
 * that are read. What must then hold (section 4.1): the table of persons has a key and refers to no other table,
 * every other table refers to one, and following these leads to the table of persons. A reference to a table that another
 * of the references leads to anyway is not needed: it must refer to the same rows, and is left out. Cost: O(tables x
 * columns), and one pass over each table for its key and for each such reference.
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

/* Does a column hold keys of a reference, by the spec or by the catalog? */
static bool is_of_reference(const kn_vdb *v, int t, const kn_spec_table *said, const char *column)
{
    const kn_catalog_table *declared = v->original.list[t].declared;
    for (int l = 0; l < declared->link_count; l++)
        if (named(declared->links[l].columns, declared->links[l].count, column) &&
            kn_vsheets_find(&v->original, declared->links[l].target) >= v->table_count)
            return true;
    for (int l = 0; l < said->link_count; l++)
        if (named(said->link_lists[l], said->link_counts[l], column) &&
            kn_vsheets_find(&v->original, said->link_targets[l]) >= v->table_count)
            return true;
    return false;
}

/* A declared foreign key that is not used shows rows of a table by their old keys: none of its columns may be
 * released, but for those that hold keys of a reference, which everybody may know. */
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
        if (shown && !named(said->parent_columns, said->parent_column_count, link->columns[i]) &&
            !is_of_reference(v, t, said, link->columns[i]))
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
    k->links = kn_vdb_take(v, (size_t)declared->link_count + 1 + (size_t)(k->said ? k->said->link_count : 0),
                           sizeof *k->links);
    if (!k->links) return kn_vdb_no_memory(v, err);
    for (int l = 0; l < declared->link_count; l++) {
        const kn_catalog_link *link = &declared->links[l];
        bool                   parent = said && is_parent(link, said);
        int                    target = kn_vsheets_find(&v->original, link->target);
        if (target < 0 || target >= v->table_count) continue; /* a column like any other, or one of a reference */
        if (k->said && kn_vdb_ignored(k->said, link->columns, link->count)) {
            KN_TRY(check_left_out(v, t, link, k->said, err));
            continue;
        }
        if (said && !parent) {
            KN_TRY(check_left_out(v, t, link, said, err));
        } else if (!parent || !known) {
            const char *const *targets = link->target_columns[0] ? link->target_columns : NULL;
            KN_TRY(add_link(v, t, k, link->target, link->columns, targets, link->count, err));
        }
        known = known || parent;
    }
    for (int l = 0; k->said && l < k->said->link_count; l++) {
        int target = kn_vsheets_find(&v->original, k->said->link_targets[l]);
        if (target >= 0 && target < v->table_count && !said)
            KN_TRY(add_link(v, t, k, k->said->link_targets[l], k->said->link_lists[l], NULL, k->said->link_counts[l],
                            err));
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

/* ---- References that are not needed ---- */

/* Does a table lead to another? Every table on the way refers to one (has_path). */
static bool leads_to(const keys *all, int from, int to)
{
    while (from != to && all[from].link_count > 0) from = all[from].links[0].target;
    return from == to;
}

/* Does a table lead to persons by tables that refer to one each? */
static bool has_path(const kn_vdb *v, const keys *all, int table)
{
    int steps = 0;
    while (table != v->person && all[table].link_count == 1 && steps++ < v->table_count)
        table = all[table].links[0].target;
    return table == v->person && all[table].link_count == 0;
}

static bool is_missing(const kn_vsheet *sheet, const naming *n, int64_t row)
{
    for (int i = 0; i < n->count; i++)
        if (kn_vsheet_code(sheet, n->columns[i], row) == kn_vsheet_distinct(sheet, n->columns[i])) return true;
    return false;
}

static kn_status rows_of(kn_vdb *v, int table, const naming *n, uint32_t **out, kn_error *err)
{
    const kn_vsheet *sheet = v->tables[table].original.table;
    kn_vdb_lookup    l = {v->tables[n->target].original.table, sheet, n->targets, n->columns, n->count};
    int64_t          twice = -1;
    *out = kn_vdb_take(v, (size_t)sheet->rows, sizeof **out);
    if (!*out) return kn_vdb_no_memory(v, err);
    return kn_vdb_look_up(*out, &twice, v, &l, err);
}

/* Does every row that the first reference gives a row of `spare`'s table, by the tables between, refer to it? All tables
 * between refer to one table by now. */
static kn_status check_agrees(kn_vdb *v, int t, const keys *all, const naming *first, const naming *spare,
                              kn_error *err)
{
    uint32_t *row = NULL, *said = NULL;
    int64_t   rows = v->tables[t].original.rows;
    KN_TRY(rows_of(v, t, first, &row, err));
    KN_TRY(rows_of(v, t, spare, &said, err));
    for (int at = first->target; at != spare->target; at = all[at].links[0].target) {
        uint32_t *up = NULL;
        KN_TRY(rows_of(v, at, &all[at].links[0], &up, err));
        for (int64_t i = 0; i < rows; i++)
            if (row[i] != KN_V_NONE) row[i] = up[row[i]];
    }
    for (int64_t i = 0; i < rows; i++)
        if (row[i] != KN_V_NONE && said[i] != row[i] && !is_missing(v->tables[t].original.table, spare, i))
            return kn_fail(err, KN_INPUT,
                           "the original's table \"%s\" has foreign keys that do not agree whose row it is",
                           v->tables[t].name);
    return KN_OK;
}

/* What is left out shows old keys: it must not be released. */
static kn_status check_spare(const kn_vdb *v, int t, const keys *k, const naming *spare, kn_error *err)
{
    const kn_vdb_table *table = &v->tables[t];
    for (int i = 0; i < spare->count; i++) {
        const char *name = kn_vsheet_name(table->original.table, spare->columns[i]);
        bool        shown = false, used = false;
        for (int c = 0; c < k->links[0].count; c++) used = used || k->links[0].columns[c] == spare->columns[i];
        for (int c = 0; c < table->key_count; c++) shown = shown || table->key_columns[c] == spare->columns[i];
        for (int a = 0; k->said && a < k->said->attribute_count; a++)
            shown = shown || (strcmp(k->said->attributes[a].name, name) == 0 &&
                              k->said->attributes[a].role != KN_ROLE_IDENTIFIER);
        if (shown && !used)
            return kn_fail(err, KN_INPUT, "%s: table \"%s\", column \"%s\" holds old keys, and must not be released",
                           v->original.cells->name, table->name, name);
    }
    return KN_OK;
}

/* Leaves out the references of a table that another of them makes needless; the tables they refer to have a path. */
static kn_status leave_out(kn_vdb *v, int t, keys *all, kn_error *err)
{
    keys *k = &all[t];
    int   first = -1;
    for (int l = 0; l < k->link_count; l++) {
        bool above = false; /* on the way of another one */
        for (int o = 0; o < k->link_count; o++)
            above = above ||
                    (k->links[o].target != k->links[l].target && leads_to(all, k->links[o].target, k->links[l].target));
        if (above) continue;
        if (first >= 0) return KN_OK; /* two of which neither makes the other needless: check_shape refuses it */
        first = l;
    }
    naming kept = k->links[first];
    k->links[first] = k->links[0];
    k->links[0] = kept;
    for (int l = 1; l < k->link_count; l++) {
        KN_TRY(check_agrees(v, t, all, &kept, &k->links[l], err));
        KN_TRY(check_spare(v, t, k, &k->links[l], err));
    }
    k->link_count = 1;
    return KN_OK;
}

/* From persons outwards, until nothing is left to be left out. */
static kn_status leave_out_all(kn_vdb *v, keys *all, kn_error *err)
{
    for (bool again = true; again;) {
        again = false;
        for (int t = 0; t < v->table_count; t++) {
            bool ready = t != v->person && all[t].link_count > 1;
            for (int l = 0; ready && l < all[t].link_count; l++) ready = has_path(v, all, all[t].links[l].target);
            if (!ready) continue;
            KN_TRY(leave_out(v, t, all, err));
            again = again || all[t].link_count == 1;
        }
    }
    return KN_OK;
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
    v->table_count = v->original.count - v->reference_count;
    for (int t = 0; t < v->table_count; t++) {
        v->tables[t].name = v->original.list[t].name;
        v->tables[t].original.table = &v->original.list[t];
        v->tables[t].original.rows = v->original.list[t].rows;
        all[t].said = kn_vdb_said(v, v->tables[t].name);
        KN_TRY(take_key(v, t, &all[t], err));
        KN_TRY(kn_vdb_refers(v, t, err));
    }
    KN_TRY(kn_vdb_references(v, err));
    for (int t = 0; t < v->table_count; t++) KN_TRY(take_links(v, t, &all[t], err));
    KN_TRY(find_person(v, all, err));
    KN_TRY(leave_out_all(v, all, err));
    KN_TRY(check_shape(v, all, err));
    for (int t = 0; t < v->table_count; t++) KN_TRY(describe_table(v, t, all, err));
    KN_TRY(order_tables(v, err));
    for (int t = 0; t < v->table_count; t++) KN_TRY(check_key(v, t, err));
    return KN_OK;
}
