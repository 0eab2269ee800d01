/* database/schema.c: tables and columns: those of the original according to the spec, and those of the release.
 *
 * A release has the tables of the original and of each the columns that are part of a key or have a role other than
 * identifier, and nothing else. The original's keys count for both sides: look.c finds which columns they are; what
 * they hold is joined in join.c. Cost: O(columns).
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_error.h"
#include "kn_verify_database.h"

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

/* Forbidden columns. A name that the original does not have is not quoted: it may be data. */
static void check_extra(kn_vdb *v, const kn_vdb_table *t)
{
    for (int c = 0; c < t->release.table->column_count; c++) {
        const char         *name = kn_vsheet_name(t->release.table, c);
        int                 at = kn_vsheet_find(t->original.table, name);
        const kn_attribute *a = attribute_of(v, t->name, name);
        if (c == t->group_column || kn_vdb_is_added(t, c)) continue;
        if (at < 0)
            kn_vproblem(v->notes, "table \"%s\": column %d of the release is not one of the original", t->name, c + 1);
        else if (!is_released(v, t, at, a))
            kn_vproblem(v->notes, "table \"%s\": column \"%s\" %s and must not be in the release", t->name, name,
                        !a                              ? "has no role"
                        : a->role == KN_ROLE_IDENTIFIER ? "is an identifier"
                                                        : "is shown by groups");
    }
}

static kn_status check_columns(kn_vdb *v, kn_vdb_table *t, bool *whole, kn_error *err)
{
    int *released = kn_vdb_take(v, (size_t)t->original.table->column_count, sizeof *released);
    if (!released) return kn_vdb_no_memory(v, err);
    t->released = released;
    KN_TRY(kn_vdb_find_labels(v, t, whole, err));
    for (int c = 0; c < t->original.table->column_count; c++) {
        const char         *name = kn_vsheet_name(t->original.table, c);
        const kn_attribute *a = attribute_of(v, t->name, name);
        released[c] = -1;
        if (a && !t->key[c] && v->spec->anatomy && a->role == KN_ROLE_SENSITIVE)
            t->hidden[t->hidden_count++] = (kn_vdb_column){.attribute = a, .original = c, .release = -1};
        if (!is_released(v, t, c, a)) continue;
        t->columns++;
        released[c] = kn_vsheet_find(t->release.table, name);
        if (released[c] < 0) {
            kn_vproblem(v->notes, "table \"%s\": column \"%s\" is missing from the release", t->name, name);
            *whole = false;
        }
        const kn_vdb_refer *several = kn_vdb_whole(t, c);
        if (t->key[c] || !a || (several && several->columns[0] != c)) continue;
        bool           quasi = a->role == KN_ROLE_QUASI && !v->spec->anatomy;
        kn_vdb_column *to = quasi ? &t->quasi[t->quasi_count++] : &t->copies[t->copy_count++];
        t->shown_quasi += a->role == KN_ROLE_QUASI && !quasi;
        *to = (kn_vdb_column){.attribute = a, .original = c, .release = released[c]};
    }
    t->columns += t->hidden_count;
    if (t->hidden_count > 0) {
        t->group_column = kn_vsheet_find(t->release.table, v->group_name);
        if (t->group_column < 0) {
            kn_vproblem(v->notes, "table \"%s\": column \"%s\" is missing from the release", t->name, v->group_name);
            *whole = false;
        }
    }
    check_extra(v, t);
    return KN_OK;
}

/* A role for a column that does not exist, or for a key. */
static kn_status check_spec(const kn_vdb *v, kn_error *err)
{
    for (int i = 0; i < v->spec->table_count; i++) {
        const kn_spec_table *s = &v->spec->tables[i];
        int                  t = kn_vsheets_find(&v->original, s->name);
        if (t < 0) return kn_fail(err, KN_INPUT, "the original has no table \"%s\"", s->name);
        if (s->reference) continue;
        for (int a = 0; a < s->attribute_count; a++) {
            const kn_attribute *at = &s->attributes[a];
            int                 c = kn_vsheet_find(v->tables[t].original.table, at->name);
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
        int at = kn_vsheets_find(&v->release, v->tables[t].name);
        if (at < 0) {
            kn_vproblem(v->notes, "table \"%s\" is missing from the release", v->tables[t].name);
            *whole = false;
            continue;
        }
        v->tables[t].release.table = &v->release.list[at];
        v->tables[t].release.rows = v->release.list[at].rows;
    }
}

/* `lists` of the tables are those of an anatomy. */
static void check_extra_tables(kn_vdb *v, int lists)
{
    int extra = -lists;
    for (int t = 0; t < v->release.count; t++) extra += kn_vsheets_find(&v->original, v->release.list[t].name) < 0;
    if (extra > 0)
        kn_vproblem(v->notes, "the release has %d table%s that must not be there", extra, extra > 1 ? "s" : "");
}

kn_status kn_vdb_schema(kn_vdb *v, bool *whole, kn_error *err)
{
    *whole = true;
    KN_TRY(kn_vdb_look(v, err));
    KN_TRY(check_spec(v, err));
    if (v->spec->anatomy) kn_vdb_anatomy_names(v);
    check_tables(v, whole);
    KN_TRY(kn_vdb_check_references(v, whole, err));
    for (int t = 0; t < v->table_count; t++)
        if (v->tables[t].release.table) KN_TRY(check_columns(v, &v->tables[t], whole, err));
    for (int t = 0; *whole && t < v->table_count; t++) KN_TRY(kn_vdb_take_labels(v, &v->tables[t], err));
    check_extra_tables(v, v->spec->anatomy ? kn_vdb_anatomy_tables(v, whole) : 0);
    return KN_OK;
}
