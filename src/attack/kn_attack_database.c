/* kn_attack_database.c: the linking attack on a database (kn_attack.h): whom somebody finds who has a database of what is known
 * of persons.
 *
 * The external database is read with the spec's types, and only the tables and quasi-identifiers of the spec that it has; those
 * attacked are read as text, as in the attack on a table, with what each label covers of the external column's values. Persons
 * of both are trees; whom a released one may be is what kn_demo.h defines. Columns that refer to references are not linked: their
 * keys are those of the release.
 *
 * Cost: reading, and each external person against each class of the release (for the original, against those of its shape).
 * Memory: the external database, and one of those attacked at a time.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <kanon/database.h>
#include <stdio.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_attack.h"
#include "kn_context.h"
#include "kn_database_known.h"
#include "kn_database_roles.h"
#include "kn_database_write.h"
#include "kn_demo.h"
#include "kn_error.h"
#include "kn_options.h"
#include "kn_spec_of_database.h"

static const char what[] = "attacking a database";

/* A quasi-identifier that both have. */
typedef struct link {
    const kn_attribute *attribute;
    kn_attack_link      how;
    kn_hierarchy       *hierarchy;
    /* Of the database that is attacked at the moment: */
    kn_link_attribute cells;
    kn_cell          *room;
    kn_cell_members   members;
} link;

typedef struct job {
    kn_context              *ctx;
    kn_arena                *arena;
    const kn_spec           *spec;
    const kn_attack_options *options;
    kn_attack_report        *to;
    kn_timezone             *zone;
    kn_database *schema; /* whose keys the release has, without cells; NULL: they are in its catalog or the spec */
    kn_database *known;
    kn_forest   *persons; /* of the external database                                        */
    int          width;   /* the most quasi-identifiers of its tables, at least 1            */
    link        *links;   /* table × width + place among its quasi-identifiers               */
} job;

/* A database that is attacked. */
typedef struct target {
    const char        *path;
    kn_database       *db;
    kn_forest         *forest;
    int               *tables;  /* per table of the plan (the known ones first): its number here */
    int               *numbers; /* the other way round */
    kn_database_plan  *plan;
    kn_demo_sensitive *sensitive;
} target;

static link *link_at(const job *j, int table, int q)
{
    return &j->links[table * j->width + q];
}

/* ---- What is read of which table ---- */

/* Of the database attacked: all tables, with the linked quasi-identifiers and the sensitive columns. */
static kn_status choose_attacked(job *j, bool released, kn_spec_table **out, int *count, kn_error *err)
{
    kn_spec_table *tables = kn_arena_array(j->arena, (size_t)j->spec->table_count + 1, sizeof *tables);
    if (!tables) return kn_fail_memory(err, j->ctx, what);
    *out = tables;
    for (int i = 0; i < j->spec->table_count; i++) {
        const kn_spec_table *said = &j->spec->tables[i];
        if (said->reference) continue;
        kn_spec_table           *to = &tables[(*count)++];
        kn_attribute            *list = kn_known_table(to, j->arena, said, err);
        int                      known = kn_database_find(j->known, said->name);
        const kn_database_table *t = known >= 0 ? &j->known->tables[known] : NULL;
        if (!list) return KN_MEMORY;
        if (released) to->ignored_count = 0; /* old keys are not released */
        if (released && j->schema) KN_TRY(kn_known_keys(to, j->arena, j->schema, err));
        for (int a = 0; a < said->attribute_count; a++) {
            bool linked = false;
            for (int q = 0; t && q < t->quasi_count; q++)
                linked = linked || strcmp(t->table->columns[t->quasi[q]].name, said->attributes[a].name) == 0;
            if (linked || (said->attributes[a].role == KN_ROLE_SENSITIVE &&
                           !kn_known_refers(j->spec, said, j->known, said->attributes[a].name)))
                kn_known_add(to, list, &said->attributes[a], true);
        }
    }
    return KN_OK;
}

/* ---- Reading ---- */

/* In the files of a release an empty text and a missing cell are the same: so they are in the databases compared with it. */
static kn_status like_release(const char ***na, kn_csv_options *csv, const job *j, const char *path, kn_error *err)
{
    if (kn_database_kind_of(j->options->release) != KN_DATABASE_FOLDER || !kn_database_named(path)) return KN_OK;
    return kn_csv_empty_is_missing(na, j->ctx, path, csv, err);
}

static kn_status external_csv(kn_csv_options *csv, const job *j, kn_error *err)
{
    *csv = j->spec->csv;
    if (j->options->csv) {
        *csv = (kn_csv_options)KN_CSV_OPTIONS_INIT;
        KN_TRY(kn_options_take(csv, sizeof *csv, j->options->csv, "CSV options", err));
    }
    return KN_OK;
}

static kn_status read_known(job *j, kn_error *err)
{
    kn_csv_options csv;
    const char   **na = NULL;
    KN_TRY(external_csv(&csv, j, err));
    KN_TRY(like_release(&na, &csv, j, j->options->external, err));
    kn_status st = kn_database_read_known(&j->known, &j->persons, j->arena, j->options->external, &csv, j->spec, err);
    kn_free(na);
    if (st != KN_OK) return st;
    j->to->people = j->persons->entities;
    j->width = 1;
    for (int t = 0; t < j->known->table_count; t++)
        if (j->known->tables[t].quasi_count > j->width) j->width = j->known->tables[t].quasi_count;
    j->links = kn_arena_array_zero(j->arena, (size_t)j->known->table_count * (size_t)j->width, sizeof *j->links);
    return j->links ? KN_OK : kn_fail_memory(err, j->ctx, what);
}

/* A folder has no catalog: if the original has one, the keys of its release are there. */
static kn_status read_schema(job *j, const char *original, kn_error *err)
{
    kn_database_options reading = KN_DATABASE_OPTIONS_INIT;
    kn_spec_table      *tables = NULL;
    if (kn_database_kind_of(j->options->release) != KN_DATABASE_FOLDER ||
        kn_database_kind_of(original) == KN_DATABASE_FOLDER)
        return KN_OK;
    KN_TRY(choose_attacked(j, false, &tables, &reading.table_count, err));
    reading.tables = tables;
    reading.csv = &j->spec->csv;
    KN_TRY(kn_database_read(&j->schema, j->ctx, original, &reading, err));
    KN_TRY(kn_database_choose(j->schema, j->spec->entity_table, err));
    kn_database_forget(j->schema, -1);
    return KN_OK;
}

static kn_status read_target(target *t, job *j, const char *path, bool released, kn_error *err)
{
    kn_csv_options csv = released ? kn_known_release_csv(j->spec, path) : j->spec->csv;
    kn_spec_table *tables = NULL;
    const char   **na = NULL;
    int            count = 0;
    t->path = path;
    KN_TRY(choose_attacked(j, released, &tables, &count, err));
    if (!released) KN_TRY(like_release(&na, &csv, j, path, err));
    kn_status st =
        kn_database_read_trees(&t->db, &t->forest, j->ctx, path, &csv, j->spec->entity_table, tables, count, err);
    kn_free(na);
    return st;
}

/* ---- Links ---- */

static const char *full_name(job *j, const char *table, const char *column)
{
    size_t size = strlen(table) + strlen(column) + 2;
    char  *name = kn_arena_bytes(j->arena, size);
    if (name) snprintf(name, size, "%s.%s", table, column);
    return name;
}

static const kn_attribute *find_attribute(const kn_spec *spec, const char *table, const char *column)
{
    for (int i = 0; i < spec->table_count; i++)
        for (int a = 0; strcmp(spec->tables[i].name, table) == 0 && a < spec->tables[i].attribute_count; a++)
            if (strcmp(spec->tables[i].attributes[a].name, column) == 0) return &spec->tables[i].attributes[a];
    return NULL;
}

static kn_status make_links(job *j, const target *t, kn_error *err)
{
    const char **names = kn_arena_array(j->arena, (size_t)j->known->table_count * (size_t)j->width + 1, sizeof *names);
    if (!names) return kn_fail_memory(err, j->ctx, what);
    j->to->links = names;
    for (int k = 0; k < j->known->table_count; k++) {
        const kn_database_table *from = &j->known->tables[k];
        const kn_table          *release = t->db->tables[kn_database_find(t->db, from->name)].table;
        for (int q = 0; q < from->quasi_count; q++) {
            const char *column = from->table->columns[from->quasi[q]].name;
            link       *l = link_at(j, k, q);
            l->attribute = find_attribute(j->spec, from->name, column);
            l->members.ctx = j->ctx;
            KN_TRY(kn_attack_make_link(&l->how, &l->hierarchy, j->arena, j->spec, l->attribute, j->zone, from->table,
                                       release, err));
            names[j->to->link_count] = full_name(j, from->name, column);
            if (!names[j->to->link_count++]) return kn_fail_memory(err, j->ctx, what);
        }
    }
    if (j->to->link_count > 0) return KN_OK;
    return kn_fail(err, KN_INPUT, "%s and %s have no quasi-identifier in common: there is nothing to link them by",
                   j->options->external, t->path);
}

static void drop_cells(job *j)
{
    for (int i = 0; j->links && i < j->known->table_count * j->width; i++) {
        kn_free(j->links[i].room);
        j->links[i].room = NULL;
        if (j->links[i].members.ctx) kn_cell_members_free(&j->links[i].members);
    }
}

static kn_status read_cells(job *j, const target *t, bool released, kn_error *err)
{
    for (int k = 0; k < j->known->table_count; k++) {
        const kn_database_table *from = &j->known->tables[k];
        const kn_table          *to = t->db->tables[t->tables[k]].table;
        for (int q = 0; q < from->quasi_count; q++) {
            const kn_column *external = &from->table->columns[from->quasi[q]];
            link            *l = link_at(j, k, q);
            KN_TRY(kn_attack_read_cells(&l->cells, &l->room, &l->members, j->ctx, &l->how, external,
                                        &to->columns[kn_table_find(to, external->name)], released, false, err));
        }
    }
    return KN_OK;
}

static bool covers(const void *arg, int table, int q, uint32_t cell, uint32_t code)
{
    return kn_link_covers(&link_at(arg, table, q)->cells, cell, code);
}

/* A cell of the original is one value, or none that is known. */
static uint32_t only(const void *arg, int table, int q, uint32_t cell)
{
    const kn_cell *c = &link_at(arg, table, q)->cells.cells[cell];
    return c->kind == KN_CELL_VALUE ? c->a : UINT32_MAX;
}

/* ---- The database attacked as classes of trees ---- */

static kn_status number_tables(target *t, job *j, kn_error *err)
{
    int count = 0;
    t->tables = kn_arena_array(j->arena, (size_t)t->db->table_count + 1, sizeof *t->tables);
    t->numbers = kn_arena_array(j->arena, (size_t)t->db->table_count + 1, sizeof *t->numbers);
    if (!t->tables || !t->numbers) return kn_fail_memory(err, j->ctx, what);
    for (int k = 0; k < j->known->table_count; k++)
        t->tables[count++] = kn_database_find(t->db, j->known->tables[k].name);
    for (int n = 0; n < t->db->table_count; n++)
        if (kn_database_find(j->known, t->db->tables[n].name) < 0) t->tables[count++] = n;
    for (int n = 0; n < count; n++) t->numbers[t->tables[n]] = n;
    return KN_OK;
}

static bool first_of_class(const kn_forest *f, int64_t e)
{
    return e == 0 || f->subtree[f->start[e]] != f->subtree[f->start[e - 1]];
}

static void fill_node(kn_database_plan *p, const target *t, const job *j, uint64_t to, uint64_t from)
{
    const kn_forest *f = t->forest;
    int              known = t->numbers[f->table[from]];
    p->table[to] = (uint16_t)known;
    p->parent[to] = f->parent[from];
    p->first_child[to] = f->first_child[from];
    p->child_count[to] = f->child_count[from];
    if (known >= j->known->table_count) return;
    const kn_database_table *k = &j->known->tables[known];
    const kn_table          *table = t->db->tables[f->table[from]].table;
    for (int q = 0; q < k->quasi_count; q++) {
        int column = kn_table_find(table, k->table->columns[k->quasi[q]].name);
        p->values[to * (uint64_t)p->width + (uint64_t)q] = kn_column_code(&table->columns[column], f->row[from]);
    }
}

/* Persons whose trees are equal in the linked columns are a class; in a forest they are neighbours. */
static kn_status plan_target(target *t, const job *j, kn_error *err)
{
    const kn_forest *f = t->forest;
    uint64_t         nodes = 0, at = 0, rows = 0;
    uint32_t         classes = 0, c = 0;
    for (int64_t e = 0; e < f->entities; e++) {
        if (!first_of_class(f, e)) continue;
        classes++;
        nodes += f->start[e + 1] - f->start[e];
    }
    KN_TRY(kn_database_plan_create(&t->plan, j->ctx, f->entities, classes, nodes, f->nodes, j->width, err));
    kn_database_plan *p = t->plan;
    for (int64_t e = 0; e < f->entities; e++) {
        uint64_t count = f->start[e + 1] - f->start[e];
        if (first_of_class(f, e)) {
            p->node_start[c] = at;
            p->member_start[c] = (uint64_t)e;
            p->row_start[c++] = rows;
            for (uint64_t v = 0; v < count; v++) fill_node(p, t, j, at++, f->start[e] + v);
        }
        p->members[e] = (uint32_t)e;
        p->class_of_entity[e] = c - 1;
        for (uint64_t v = 0; v < count; v++) p->rows[rows++] = f->row[f->start[e] + v];
    }
    p->node_start[c] = at;
    p->member_start[c] = (uint64_t)f->entities;
    p->row_start[c] = rows;
    return KN_OK;
}

/* ---- Sensitive columns ---- */

/* Those of the release; its original has them, too. */
static kn_status find_sensitive(target *t, job *j, bool released, kn_error *err)
{
    size_t n = 1;
    int    count = 0;
    for (int i = 0; i < t->db->table_count; i++) n += (size_t)t->db->tables[i].table->column_count;
    const char **names = kn_arena_array(j->arena, n, sizeof *names);
    t->sensitive = kn_arena_array(j->arena, n, sizeof *t->sensitive);
    if (!names || !t->sensitive) return kn_fail_memory(err, j->ctx, what);
    for (int i = 0; i < t->db->table_count; i++)
        for (int c = 0; c < t->db->tables[i].table->column_count; c++) {
            const kn_database_column *column = &t->db->tables[i].columns[c];
            if (!column->has_role || column->role != KN_ROLE_SENSITIVE) continue;
            t->sensitive[count] = (kn_demo_sensitive){t->numbers[i], c};
            names[count] = full_name(j, t->db->tables[i].name, t->db->tables[i].table->columns[c].name);
            if (!names[count++]) return kn_fail_memory(err, j->ctx, what);
        }
    if (!released) return KN_OK;
    j->to->sensitive = names;
    j->to->sensitive_count = count;
    return KN_OK;
}

/* ---- Attacking ---- */

/* Has a person a value that the hierarchy of its column lacks? */
static bool is_strange(const job *j, int64_t person)
{
    const kn_forest *f = j->persons;
    for (uint64_t v = f->start[person]; v < f->start[person + 1]; v++) {
        const kn_database_table *t = &j->known->tables[f->table[v]];
        for (int q = 0; q < t->quasi_count; q++) {
            const kn_column *column = &t->table->columns[t->quasi[q]];
            if (kn_attack_strange(&link_at(j, f->table[v], q)->how, column, kn_column_code(column, f->row[v])))
                return true;
        }
    }
    return false;
}

static kn_status tell(kn_attack_table *out, const job *j, const kn_demo_found *found, bool released, kn_error *err)
{
    int64_t  people = j->persons->entities, unplaced = 0;
    int      width = j->to->sensitive_count;
    int64_t *certain = kn_arena_array_zero(j->arena, (size_t)width + 1, sizeof *certain);
    int64_t *ones = kn_alloc_array(j->ctx, (size_t)people + 1, sizeof *ones);
    if (!certain || !ones) {
        kn_free(ones);
        return kn_fail_memory(err, j->ctx, what);
    }
    for (int64_t e = 0; e < people; e++) {
        ones[e] = 1;
        unplaced += released && found->candidates[e] == 0 && is_strange(j, e);
        for (int s = 0; s < width; s++) certain[s] += found->certain[e * width + s];
    }
    kn_status st =
        kn_attack_tell(out, j->arena, found->candidates, ones, people, unplaced, j->to->k, certain, width, err);
    kn_free(ones);
    return st;
}

static kn_status count(kn_attack_table *out, job *j, const target *t, bool released, kn_error *err)
{
    const kn_tree_cells cells = {j, covers, released ? NULL : only};
    int64_t            *targets = kn_alloc_array(j->ctx, (size_t)j->persons->entities + 1, sizeof *targets);
    kn_demo_found       found = {0};
    if (!targets) return kn_fail_memory(err, j->ctx, what);
    for (int64_t e = 0; e < j->persons->entities; e++) targets[e] = e;
    const kn_demo_input in = {.forest = j->persons,
                              .plan = t->plan,
                              .deleted = released,
                              .target_count = j->persons->entities,
                              .targets = targets,
                              .sensitive_count = j->to->sensitive_count,
                              .sensitive = t->sensitive,
                              .some = j->options->some_rows,
                              .cells = &cells,
                              .released = t->db,
                              .tables = t->tables};
    kn_status           st = kn_demo_count(&found, j->ctx, &in, err);
    if (st == KN_OK) st = tell(out, j, &found, released, err);
    if (st == KN_OK) out->rows = t->forest->entities;
    kn_demo_found_free(&found);
    kn_free(targets);
    return st;
}

static kn_status attack(kn_attack_table *out, job *j, const char *path, bool released, kn_error *err)
{
    target    t = {0};
    kn_status st = read_target(&t, j, path, released, err);
    if (st == KN_OK) st = number_tables(&t, j, err);
    if (st == KN_OK && released) st = make_links(j, &t, err);
    if (st == KN_OK) st = find_sensitive(&t, j, released, err);
    if (st == KN_OK) st = read_cells(j, &t, released, err);
    if (st == KN_OK) st = plan_target(&t, j, err);
    if (st == KN_OK) st = count(out, j, &t, released, err);
    drop_cells(j);
    kn_database_plan_free(t.plan);
    kn_forest_free(t.forest);
    kn_database_free(t.db);
    return st;
}

static kn_status run(job *j, kn_error *err)
{
    const kn_attack_options *o = j->options;
    const char *original = o->original ? o->original : j->spec->input_count > 0 ? j->spec->inputs[0] : NULL;
    if (j->spec->csv.timezone) KN_TRY(kn_timezone_open(&j->zone, j->ctx, j->spec->csv.timezone, err));
    KN_TRY(read_known(j, err));
    if (!o->no_original && original) KN_TRY(read_schema(j, original, err));
    KN_TRY(attack(&j->to->after, j, o->release, true, err));
    if (o->no_original || !original) return KN_OK;
    KN_TRY(attack(&j->to->before, j, original, false, err));
    j->to->has_before = true;
    return KN_OK;
}

kn_status kn_attack_database(kn_attack_report *to, kn_arena *arena, const kn_spec *spec,
                             const kn_attack_options *options, kn_error *err)
{
    KN_TRY(kn_spec_check_is_database(spec, err));
    if (spec->missing != KN_MISSING_VALUE)
        return kn_fail(err, KN_USAGE, "in a database a missing cell is a value of its own (missing: value)");
    job j = {.ctx = arena->ctx, .arena = arena, .spec = spec, .options = options, .to = to};
    to->database = true;
    kn_status st = run(&j, err);
    for (int i = 0; j.links && i < j.known->table_count * j.width; i++) kn_hierarchy_free(j.links[i].hierarchy);
    kn_forest_free(j.persons);
    kn_database_free(j.known);
    kn_database_free(j.schema);
    kn_timezone_free(j.zone);
    return st;
}
