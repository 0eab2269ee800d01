/* kn_people.c: the population of a database (kn_people.h). */
/* SPDX-License-Identifier: Apache-2.0 */
#include "kn_people.h"

#include <string.h>

#include "kn_alloc.h"
#include "kn_database_known.h"
#include "kn_database_roles.h"
#include "kn_error.h"
#include "kn_hierarchy_make.h"

static const char what[] = "reading a population";

static kn_status read_people(kn_people *p, const kn_spec *spec, bool empty, kn_error *err)
{
    kn_csv_options csv = spec->csv;
    const char   **na = NULL;
    csv.delimiter = 0; /* it may be written differently: detected */
    if (empty) KN_TRY(kn_csv_empty_is_missing(&na, p->arena.ctx, spec->population, &csv, err));
    kn_status st = kn_database_read_known(&p->db, &p->forest, &p->arena, spec->population, &csv, spec, err);
    kn_free(na);
    return st;
}

kn_status kn_people_read(kn_people **out, kn_context *ctx, const kn_spec *spec, bool empty, kn_error *err)
{
    *out = NULL;
    if (!spec->population) return KN_OK;
    kn_people *p = kn_alloc_zero(ctx, sizeof *p);
    if (!p) return kn_fail_memory(err, ctx, what);
    kn_arena_init(&p->arena, ctx);
    kn_status st = read_people(p, spec, empty, err);
    if (st == KN_OK)
        *out = p;
    else
        kn_people_free(p);
    return st;
}

void kn_people_free(kn_people *p)
{
    if (!p) return;
    for (int i = 0; p->leaves && i < p->db->table_count * p->width; i++) kn_free(p->leaves[i]);
    kn_forest_free(p->forest);
    kn_database_free(p->db);
    kn_arena_free(&p->arena);
    kn_free(p);
}

const kn_column *kn_people_column(const kn_people *people, const char *table, const char *column)
{
    int at = people ? kn_database_find(people->db, table) : -1;
    int c = at >= 0 ? kn_table_find(people->db->tables[at].table, column) : -1;
    return c >= 0 ? &people->db->tables[at].table->columns[c] : NULL;
}

static const kn_attribute *find_attribute(const kn_spec *spec, const char *table, const char *column)
{
    for (int i = 0; i < spec->table_count; i++)
        for (int a = 0; strcmp(spec->tables[i].name, table) == 0 && a < spec->tables[i].attribute_count; a++)
            if (strcmp(spec->tables[i].attributes[a].name, column) == 0) return &spec->tables[i].attributes[a];
    return NULL;
}

/* As kn_database_roles and kn_database_by_type have it. */
static kn_status find_rule(kn_hierarchy_spec *rule, kn_people *p, const kn_database *db, const kn_attribute *a,
                           const kn_column *own, const kn_column *other, kn_error *err)
{
    *rule = a->hierarchy;
    if (!a->has_hierarchy) {
        KN_TRY(kn_hierarchy_by_type_over(rule, &p->arena, own, other, a->hierarchy.decimal, err));
        if (rule->kind != KN_HIERARCHY_RANGES && rule->kind != KN_HIERARCHY_CALENDAR) {
            *rule = (kn_hierarchy_spec)KN_HIERARCHY_SPEC_INIT;
            rule->kind = KN_HIERARCHY_SUPPRESS;
        }
        rule->decimal = a->hierarchy.decimal;
    }
    rule->timezone = db->timezone;
    return KN_OK;
}

static kn_status widen_column(kn_people *p, int table, int q, kn_database *db, const kn_spec *spec, kn_error *err)
{
    kn_database_table *own = &db->tables[p->tables[table]], *other = &p->db->tables[table];
    int                c = own->quasi[q];
    const char        *name = own->table->columns[c].name;
    int                there = kn_table_find(other->table, name);
    kn_hierarchy      *made = NULL;
    kn_hierarchy_spec  rule;
    if (own->columns[c].refers)
        return kn_fail(
            err, KN_USAGE,
            "table \"%s\", column \"%s\": it refers to a reference, and who of a population has which key is "
            "not known; a database with a population has no such quasi-identifiers",
            own->name, name);
    if (there < 0)
        return kn_fail(err, KN_INPUT, "%s: table \"%s\" has no column \"%s\", which is a quasi-identifier",
                       p->db->source, own->name, name);
    const kn_attribute *a = find_attribute(spec, own->name, name);
    KN_TRY(find_rule(&rule, p, db, a, &own->table->columns[c], &other->table->columns[there], err));
    KN_TRY(kn_hierarchy_make_over(&made, &p->leaves[table * p->width + q], db->ctx, own->table, c, other->table, there,
                                  &rule, false, err));
    kn_hierarchy_free(own->columns[c].hierarchy);
    own->columns[c].hierarchy = made;
    other->quasi[q] = there;
    return KN_OK;
}

kn_status kn_people_widen(kn_people *p, kn_database *db, const kn_spec *spec, kn_error *err)
{
    int count = p->db->table_count;
    p->width = 1;
    p->tables = kn_arena_array(&p->arena, (size_t)count + 1, sizeof *p->tables);
    if (!p->tables) return kn_fail_memory(err, db->ctx, what);
    for (int t = 0; t < count; t++) {
        p->tables[t] = kn_database_find(db, p->db->tables[t].name);
        if (db->tables[p->tables[t]].quasi_count > p->width) p->width = db->tables[p->tables[t]].quasi_count;
    }
    if (p->tables[p->db->entity] != db->entity)
        return kn_fail(err, KN_INPUT, "%s: its persons are in table \"%s\", those of the database in \"%s\"",
                       p->db->source, p->db->tables[p->db->entity].name, db->tables[db->entity].name);
    p->leaves = kn_arena_array_zero(&p->arena, (size_t)count * (size_t)p->width + 1, sizeof *p->leaves);
    if (!p->leaves) return kn_fail_memory(err, db->ctx, what);
    for (int t = 0; t < count; t++)
        for (int q = 0; q < db->tables[p->tables[t]].quasi_count; q++) KN_TRY(widen_column(p, t, q, db, spec, err));
    return KN_OK;
}
