/* records/database.c: the persons of a database as records, one after the other, from its cells.
 *
 * The rule (docs/trees.md): the columns of the table of persons are side by side below the record's root; those of
 * any other row nest in one another, in the order of the classes; rows that belong to a row are below its first node
 * or, if it has none, below the node that the row itself would be below. A missing cell, and an empty one, is no
 * node. Tables are read and joined as for releases of databases (database/look.c, database/join.c).
 *
 * Cost: one pass over the tables and their joins. Memory: the tables as texts, and about 20 bytes per row.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_verify_database.h"
#include "kn_verify_records.h"

/* A class: a column, and the name of each of its texts. */
typedef struct class_column {
    kn_vclass_column at;
    kn_string       *labels; /* per text; data NULL: missing */
    kn_vdomain       domain;
    kn_vtree        *tree;
} class_column;

typedef struct telling {
    kn_vdb                 v;
    const kn_records_sink *sink;
    int                    count;
    class_column          *classes;
    int64_t                nodes; /* of the current record */
} telling;

/* ---- Classes ---- */

static const kn_attribute *role_of(const kn_vdb *v, int table, const char *column)
{
    for (int t = 0; t < v->spec->table_count; t++) {
        const kn_spec_table *s = &v->spec->tables[t];
        for (int a = 0; strcmp(s->name, v->tables[table].name) == 0 && a < s->attribute_count; a++) {
            kn_role role = s->attributes[a].role;
            if (strcmp(s->attributes[a].name, column) == 0 && (role == KN_ROLE_QUASI || role == KN_ROLE_SENSITIVE))
                return &s->attributes[a];
        }
    }
    return NULL;
}

/* "table.column", or "column" where only one table has it. */
kn_status kn_vrecords_find_column(const kn_vdb *v, const char *name, kn_vclass_column *out, kn_error *err)
{
    int found = 0;
    for (int i = 0; i < v->table_count; i++) {
        const kn_vsheet *sheet = &v->original.list[i];
        size_t           size = strlen(sheet->name);
        bool             named = strncmp(name, sheet->name, size) == 0 && name[size] == '.';
        for (int c = 0; c < sheet->column_count; c++) {
            const char *column = kn_vsheet_name(sheet, c);
            bool        whole = named && strcmp(name + size + 1, column) == 0;
            if ((!whole && strcmp(name, column) != 0) || !role_of(v, i, column)) continue;
            out->table = i;
            out->column = c;
            if (whole) return KN_OK;
            found++;
        }
    }
    if (found == 1) return KN_OK;
    return kn_fail(err, KN_INPUT, "class \"%s\": %s", name,
                   found ? "several tables have that column" : "no quasi-identifier or sensitive column is called so");
}

/* The texts of a column by what they mean: the leaf of its hierarchy, else the shortest spelling. */
static kn_status label_texts(telling *t, class_column *c, kn_error *err)
{
    kn_vdb                 *v = &t->v;
    const kn_vsheet_column *column = &v->original.list[c->at.table].columns[c->at.column];
    kn_attribute            a = *role_of(v, c->at.table, column->name);
    kn_vrows                rows = {0, NULL};
    if (a.type == KN_TYPE_AUTO && column->text) a.type = KN_TYPE_TEXT;
    KN_TRY(kn_vdomain_make(&c->domain, v->ctx, &v->plain, &a, &rows, &column->cells, NULL, v->zone, err));
    if (a.role == KN_ROLE_QUASI && a.has_hierarchy) KN_TRY(kn_vtree_make(&c->tree, v->ctx, &a, &c->domain, err));
    c->labels = kn_alloc_array_zero(v->ctx, (size_t)column->cells.count + 1, sizeof *c->labels);
    if (!c->labels) return kn_vdb_no_memory(v, err);
    for (uint32_t i = 0; i < column->cells.count; i++) {
        uint32_t value = c->domain.of_original[i];
        if (value >= KN_V_MISSING) continue;
        c->labels[i] =
            c->tree ? c->tree->labels.texts[c->tree->label[c->tree->leaf_of_value[value]]] : c->domain.spelling[value];
    }
    return KN_OK;
}

static kn_status find_classes(telling *t, kn_error *err)
{
    const kn_spec *spec = t->v.spec;
    t->classes = kn_alloc_array_zero(t->v.ctx, (size_t)spec->class_count + 1, sizeof *t->classes);
    if (!t->classes) return kn_vdb_no_memory(&t->v, err);
    for (; t->count < spec->class_count; t->count++) {
        class_column *c = &t->classes[t->count];
        KN_TRY(kn_vrecords_find_column(&t->v, spec->classes[t->count].name, &c->at, err));
        KN_TRY(label_texts(t, c, err));
    }
    return KN_OK;
}

/* ---- Persons ---- */

/* The cells of a row below the node `from`, and the rows that belong to it. */
static kn_status tell_row(telling *t, int table, uint32_t row, int64_t from, kn_error *err)
{
    static const kn_records_place nowhere = {"the database", 0, 0};
    const kn_vdb                 *v = &t->v;
    const kn_vdb_table           *own = &v->tables[table];
    int64_t                       above = from, head = from;
    for (int c = 0; c < t->count; c++) {
        const class_column *cls = &t->classes[c];
        if (cls->at.table != table) continue;
        kn_string text = cls->labels[kn_vsheet_code(own->original.table, cls->at.column, row)];
        if (!text.data) continue;
        KN_TRY(t->sink->node(t->sink->state, above, c, text, &nowhere, err));
        if (table != v->person && head == from) head = t->nodes;
        if (table != v->person) above = t->nodes;
        t->nodes++;
    }
    for (int i = 0; i < own->child_count; i++) {
        const kn_vdb_rows *below = &v->tables[own->children[i]].original;
        for (uint32_t r = below->start[row]; r < below->start[row + 1]; r++)
            KN_TRY(tell_row(t, own->children[i], below->list[r], head, err));
    }
    return KN_OK;
}

static kn_status tell_all(telling *t, const kn_vpersons *persons, const kn_cells *cells, kn_error *err)
{
    static const char *const nothing[1] = {NULL};
    const kn_spec           *spec = persons->spec;
    kn_vdb                  *v = &t->v;
    kn_records_place         nowhere = {"the database", 0, 0};
    kn_vsheets_options       read = {
              .tables = spec->tables, .table_count = spec->table_count, .csv = &spec->csv, .empty = true};
    v->plain = *spec;
    v->plain.csv.na = nothing;
    v->plain.csv.na_count = 0;
    if (!cells->file) v->plain.csv.decimal = '.'; /* as engines spell numbers */
    if (spec->csv.timezone) KN_TRY(kn_timezone_open(&v->zone, v->ctx, spec->csv.timezone, err));
    KN_TRY(kn_vsheets_read(&v->original, cells, &read, err));
    KN_TRY(kn_vdb_look(v, err));
    KN_TRY(kn_vdb_join_original(v, err));
    KN_TRY(find_classes(t, err));
    for (int64_t p = 0; p < v->tables[v->person].original.rows; p++) {
        t->nodes = 0;
        KN_TRY(t->sink->record(t->sink->state, (kn_string){NULL, 0}, &nowhere, err));
        KN_TRY(tell_row(t, v->person, (uint32_t)p, -1, err));
    }
    return KN_OK;
}

kn_status kn_vrecords_tell_persons(void *state, const kn_records_sink *sink, kn_records_layout *layout, kn_error *err)
{
    const kn_vpersons *persons = state;
    telling            t = {.v = {.ctx = persons->ctx, .spec = persons->spec}, .sink = sink};
    kn_cells          *cells = NULL;
    *layout = (kn_records_layout){.form = KN_RECORDS_DATABASE};
    KN_TRY(kn_cells_open(&cells, persons->ctx, persons->input, persons->snapshot, err));
    kn_arena_init(&t.v.arena, persons->ctx);
    kn_status st = tell_all(&t, persons, cells, err);
    for (int c = 0; t.classes && c < persons->spec->class_count; c++) {
        kn_vdomain_free(&t.classes[c].domain);
        kn_vtree_free(t.classes[c].tree);
        kn_free(t.classes[c].labels);
    }
    kn_free(t.classes);
    kn_vdb_free(&t.v);
    kn_cells_close(cells);
    return st;
}
