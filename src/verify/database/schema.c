/* database/schema.c: tables and columns: what the original's keys say, what the spec says, what the release has.
 *
 * A release has the tables of the original and of each the columns that are part of a key or have a role other than
 * identifier, and nothing else. The original's keys count for both sides: kn_schema_look tells which columns they are; what
 * they hold is joined in join.c. Cost: O(columns), but for what kn_schema_look costs.
 */
#include "kn_error.h"
#include "kn_verify_database.h"

/* ---- Who the persons are ---- */

/* The spec's word, else the only table without a foreign key to another. */
static kn_status find_person(const kn_vdb *v, const kn_schema *schema, const char **out, kn_error *err)
{
    *out = v->spec->entity_table;
    if (*out) return KN_OK;
    for (int t = 0; t < schema->table_count; t++) {
        bool linked = false;
        for (int l = 0; l < schema->tables[t].link_count; l++)
            linked = linked || schema->tables[t].links[l].target >= 0;
        if (linked) continue;
        if (*out)
            return kn_fail(err, KN_INPUT,
                           "nothing says which table holds the persons; say it with entity: {table: ...}");
        *out = schema->tables[t].name;
    }
    if (!*out) return kn_fail(err, KN_INPUT, "no table holds persons: each names another");
    return KN_OK;
}

static kn_status look(kn_vdb *v, kn_error *err)
{
    kn_schema  *any = NULL;
    const char *person = v->spec->entity_table;
    if (!person) {
        KN_TRY(kn_schema_look(&any, v->ctx, v->original, NULL, err));
        kn_status status = find_person(v, any, &person, err);
        if (status == KN_OK) status = kn_schema_look(&v->schema, v->ctx, v->original, person, err);
        kn_schema_free(any);
        KN_TRY(status);
    } else {
        KN_TRY(kn_schema_look(&v->schema, v->ctx, v->original, person, err));
    }
    if (!v->schema->snowflake)
        return kn_fail(err, KN_INPUT, "the original is no snowflake around table \"%s\": %s",
                       v->schema->tables[v->schema->person].name,
                       v->schema->problem_count ? v->schema->problems[0].message : "a table is left over");
    v->person = v->schema->person;
    return KN_OK;
}

/* ---- Tables ---- */

static kn_status take_link(kn_vdb *v, int t, kn_error *err)
{
    const kn_schema_table *s = &v->schema->tables[t];
    kn_vdb_table          *to = &v->tables[t];
    for (int l = 0; l < s->link_count; l++) {
        if (s->links[l].target != s->parent) continue;
        to->link_count = s->links[l].column_count;
        to->link = s->links[l].columns;
        to->target = s->links[l].target_columns;
        return KN_OK;
    }
    return kn_fail(err, KN_INTERNAL, "table \"%s\" hangs from its parent by no key", s->name);
}

static kn_status describe_table(kn_vdb *v, int t, kn_error *err)
{
    const kn_schema_table *s = &v->schema->tables[t];
    kn_vdb_table          *to = &v->tables[t];
    size_t                 n = (size_t)s->column_count;
    bool                  *key = kn_vdb_take(v, n, sizeof *key), *primary = kn_vdb_take(v, n, sizeof *primary);
    to->name = s->name;
    to->parent = s->parent;
    to->quasi = kn_vdb_take(v, n, sizeof *to->quasi);
    to->copies = kn_vdb_take(v, n, sizeof *to->copies);
    to->hidden = kn_vdb_take(v, n, sizeof *to->hidden);
    to->lists = kn_vdb_take(v, n, sizeof *to->lists);
    to->group_column = -1;
    if (!key || !primary || !to->quasi || !to->copies || !to->hidden || !to->lists) return kn_vdb_no_memory(v, err);
    for (int c = 0; c < s->column_count; c++) {
        key[c] = s->columns[c].key || s->columns[c].foreign;
        primary[c] = s->columns[c].key;
    }
    for (int o = 0; o < v->table_count; o++) /* what others name is a key too */
        for (int l = 0; l < v->schema->tables[o].link_count; l++) {
            const kn_schema_link *link = &v->schema->tables[o].links[l];
            for (int i = 0; link->target == t && i < link->column_count; i++) key[link->target_columns[i]] = true;
        }
    to->key = key;
    to->primary = primary;
    to->original.table = kn_database_content(v->original, t);
    to->original.rows = kn_table_rows(to->original.table);
    return t == v->person ? KN_OK : take_link(v, t, err);
}

/* Parents before children; depths and children on the way. */
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
            if (c == v->person || v->tables[c].parent != v->order[i]) continue;
            v->tables[c].depth = t->depth + 1;
            children[t->child_count++] = c;
            v->order[n++] = c;
        }
        t->children = children;
    }
    if (n < v->table_count) return kn_fail(err, KN_INPUT, "a table of the original leads to no person");
    return KN_OK;
}

/* ---- Columns ---- */

static const kn_attribute *attribute_of(const kn_vdb *v, const char *table, const char *column)
{
    for (int t = 0; t < v->spec->table_count; t++) {
        const kn_spec_table *s = &v->spec->tables[t];
        for (int a = 0; strcmp(s->name, table) == 0 && a < s->attribute_count; a++)
            if (strcmp(s->attributes[a].name, column) == 0) return &s->attributes[a];
    }
    return NULL;
}

static bool is_released(const kn_vdb *v, const kn_vdb_table *t, int column, const kn_attribute *a)
{
    if (t->key[column]) return true;
    return a && a->role != KN_ROLE_IDENTIFIER && !(v->spec->anatomy && a->role == KN_ROLE_SENSITIVE);
}

/* Columns that must not be there. A name that the original does not have is not repeated: it may be data. */
static void check_extra(kn_vdb *v, const kn_vdb_table *t)
{
    for (int c = 0; c < kn_table_columns(t->release.table); c++) {
        const char         *name = kn_table_name(t->release.table, c);
        int                 at = kn_table_find(t->original.table, name);
        const kn_attribute *a = attribute_of(v, t->name, name);
        if (c == t->group_column) continue;
        if (at < 0)
            kn_vdb_problem(v, "table \"%s\": column %d of the release is none of the original", t->name, c + 1);
        else if (!is_released(v, t, at, a))
            kn_vdb_problem(v, "table \"%s\": column \"%s\" %s and must not be in the release", t->name, name,
                           !a                              ? "has no role"
                           : a->role == KN_ROLE_IDENTIFIER ? "is an identifier"
                                                           : "is shown by groups");
    }
}

static kn_status check_columns(kn_vdb *v, kn_vdb_table *t, bool *whole, kn_error *err)
{
    int *released = kn_vdb_take(v, (size_t)kn_table_columns(t->original.table), sizeof *released);
    if (!released) return kn_vdb_no_memory(v, err);
    t->released = released;
    for (int c = 0; c < kn_table_columns(t->original.table); c++) {
        const char         *name = kn_table_name(t->original.table, c);
        const kn_attribute *a = attribute_of(v, t->name, name);
        released[c] = -1;
        if (a && !t->key[c] && v->spec->anatomy && a->role == KN_ROLE_SENSITIVE)
            t->hidden[t->hidden_count++] = (kn_vdb_column){.attribute = a, .original = c, .release = -1};
        if (!is_released(v, t, c, a)) continue;
        released[c] = kn_table_find(t->release.table, name);
        if (released[c] < 0) {
            kn_vdb_problem(v, "table \"%s\": column \"%s\" is missing from the release", t->name, name);
            *whole = false;
        }
        if (t->key[c] || !a) continue;
        bool           quasi = a->role == KN_ROLE_QUASI && !v->spec->anatomy;
        kn_vdb_column *to = quasi ? &t->quasi[t->quasi_count++] : &t->copies[t->copy_count++];
        t->shown_quasi += a->role == KN_ROLE_QUASI && !quasi;
        *to = (kn_vdb_column){.attribute = a, .original = c, .release = released[c]};
    }
    if (t->hidden_count > 0) {
        t->group_column = kn_table_find(t->release.table, v->group_name);
        if (t->group_column < 0) {
            kn_vdb_problem(v, "table \"%s\": column \"%s\" is missing from the release", t->name, v->group_name);
            *whole = false;
        }
    }
    check_extra(v, t);
    return KN_OK;
}

/* A role for what is not there, or for a key. */
static kn_status check_spec(const kn_vdb *v, kn_error *err)
{
    for (int i = 0; i < v->spec->table_count; i++) {
        const kn_spec_table *s = &v->spec->tables[i];
        int                  t = kn_database_find(v->original, s->name);
        if (t < 0) return kn_fail(err, KN_INPUT, "the original has no table \"%s\"", s->name);
        for (int a = 0; a < s->attribute_count; a++) {
            const kn_attribute *at = &s->attributes[a];
            int                 c = kn_table_find(v->tables[t].original.table, at->name);
            if (c < 0)
                return kn_fail(err, KN_INPUT, "table \"%s\" of the original has no column \"%s\"", s->name, at->name);
            if (v->tables[t].key[c] && at->role != KN_ROLE_IDENTIFIER)
                return kn_fail(err, KN_INPUT, "table \"%s\", column \"%s\" is part of a key, which has no role",
                               s->name, at->name);
        }
    }
    return KN_OK;
}

static void check_tables(kn_vdb *v, bool *whole)
{
    for (int t = 0; t < v->table_count; t++) {
        int at = kn_database_find(v->release, v->tables[t].name);
        if (at < 0) {
            kn_vdb_problem(v, "table \"%s\" is missing from the release", v->tables[t].name);
            *whole = false;
            continue;
        }
        v->tables[t].release.table = kn_database_content(v->release, at);
        v->tables[t].release.rows = kn_table_rows(v->tables[t].release.table);
    }
}

/* `lists` of the tables are those of an anatomy. */
static void check_extra_tables(kn_vdb *v, int lists)
{
    int extra = -lists;
    for (int t = 0; t < kn_database_tables(v->release); t++)
        extra += kn_database_find(v->original, kn_database_table_name(v->release, t)) < 0;
    if (extra > 0) kn_vdb_problem(v, "the release has %d table%s that must not be there", extra, extra > 1 ? "s" : "");
}

kn_status kn_vdb_schema(kn_vdb *v, bool *whole, kn_error *err)
{
    *whole = true;
    KN_TRY(look(v, err));
    v->tables = kn_vdb_take(v, (size_t)v->schema->table_count, sizeof *v->tables);
    if (!v->tables) return kn_vdb_no_memory(v, err);
    v->table_count = v->schema->table_count;
    for (int t = 0; t < v->table_count; t++) KN_TRY(describe_table(v, t, err));
    KN_TRY(check_spec(v, err));
    KN_TRY(order_tables(v, err));
    if (v->spec->anatomy) KN_TRY(kn_vdb_anatomy_names(v, err));
    check_tables(v, whole);
    for (int t = 0; t < v->table_count; t++)
        if (v->tables[t].release.table) KN_TRY(check_columns(v, &v->tables[t], whole, err));
    int lists = 0;
    if (v->spec->anatomy) KN_TRY(kn_vdb_anatomy_tables(v, whole, &lists, err));
    check_extra_tables(v, lists);
    return KN_OK;
}
