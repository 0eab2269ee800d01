/* kn_records_database.c: the persons of a database as tree records. The rule is in kn_records.h.
 *
 * Cost: linear in the rows, except for sorting siblings. Paper: sections I, II-C (the relational scenario), IV (TPC-H;
 * docs/errata.md K17).
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_forest.h"
#include "kn_records.h"

#define ROOT KN_RECORDS_ROOT
#define NONE UINT32_MAX
#define WHAT "records of a database"

/* A class: one column of one table. */
typedef struct column_class {
    int        table, column;
    bool       negative, unrelated;
    char      *name;
    uint32_t  *value_of_code; /* codes + 1; NONE: a missing cell */
    kn_string *texts;         /* of a column without a hierarchy */
} column_class;

typedef struct work {
    kn_context          *ctx;
    const kn_forest     *forest;
    const kn_database   *db;
    const kn_spec_class *wanted;
    int                  wanted_count;
    int                  count;
    column_class        *classes;
    int                 *first_class; /* per table, and one more: its classes in `by_table` */
    int                 *by_table;
    kn_vocabulary       *vocabulary;
    kn_record_node      *nodes;
    void                *scratch;
    uint32_t            *head; /* per node of the forest's entity */
    size_t               node_room, head_room;
    kn_records          *out;
    size_t               parent_capacity, value_capacity;
} work;

static const kn_database_column *column_of(const work *w, int table, int column)
{
    return &w->db->tables[table].columns[column];
}

static bool has_class(const work *w, int table, int column)
{
    const kn_database_column *c = column_of(w, table, column);
    return c->has_role && (c->role == KN_ROLE_QUASI || c->role == KN_ROLE_SENSITIVE);
}

static const char *column_name(const work *w, int table, int column)
{
    return w->db->tables[table].table->columns[column].name;
}

/* ---- Which columns, in which order ---- */

static kn_status add_class(work *w, int table, int column, kn_error *err)
{
    column_class *c = &w->classes[w->count];
    const char   *first = w->db->tables[table].name, *second = column_name(w, table, column);
    size_t        a = strlen(first), b = strlen(second);
    *c = (column_class){.table = table, .column = column, .name = kn_alloc(w->ctx, a + b + 2)};
    if (!c->name) return kn_fail_memory(err, w->ctx, WHAT);
    memcpy(c->name, first, a);
    c->name[a] = '.';
    memcpy(c->name + a + 1, second, b + 1);
    w->count++;
    return KN_OK;
}

/* "table.column", or "column" where only one table has it. */
static kn_status find_class(const work *w, const char *name, int *table, int *column, kn_error *err)
{
    int found = 0;
    for (int t = 0; t < w->db->table_count; t++) {
        const kn_database_table *s = &w->db->tables[t];
        size_t                   size = strlen(s->name);
        bool                     named = strncmp(name, s->name, size) == 0 && name[size] == '.';
        for (int c = 0; c < s->table->column_count; c++) {
            bool whole = named && strcmp(name + size + 1, column_name(w, t, c)) == 0;
            if (!has_class(w, t, c) || (!whole && strcmp(name, column_name(w, t, c)) != 0)) continue;
            *table = t;
            *column = c;
            if (whole) return KN_OK;
            found++;
        }
    }
    if (found == 1) return KN_OK;
    return kn_fail(err, KN_INPUT, "%s: class \"%s\": %s", w->db->source, name,
                   found ? "several tables have that column; TABLE.COLUMN says which"
                         : "no quasi-identifier or sensitive column is called so");
}

static kn_status wanted_classes(work *w, kn_error *err)
{
    for (int i = 0; i < w->wanted_count; i++) {
        int table = -1, column = -1;
        if (w->wanted[i].has_hierarchy)
            return kn_fail(err, KN_INPUT,
                           "%s: class \"%s\": the hierarchy of a database's column is declared below its table",
                           w->db->source, w->wanted[i].name);
        KN_TRY(find_class(w, w->wanted[i].name, &table, &column, err));
        for (int c = 0; c < i; c++)
            if (w->classes[c].table == table && w->classes[c].column == column)
                return kn_fail(err, KN_INPUT, "%s: class \"%s\" is there twice", w->db->source, w->classes[c].name);
        if ((w->wanted[i].negative || w->wanted[i].negative_relations) &&
            column_of(w, table, column)->role == KN_ROLE_SENSITIVE)
            return kn_fail(
                err, KN_INPUT,
                "%s: class \"%s\": nobody is assumed to know values of a sensitive column, nor that they are "
                "absent",
                w->db->source, w->wanted[i].name);
        KN_TRY(add_class(w, table, column, err));
        w->classes[w->count - 1].negative = w->wanted[i].negative;
        w->classes[w->count - 1].unrelated = w->wanted[i].negative_relations;
    }
    return KN_OK;
}

static kn_status choose_classes(work *w, kn_error *err)
{
    size_t most = (size_t)w->wanted_count + 1;
    for (int t = 0; t < w->db->table_count; t++) most += (size_t)w->db->tables[t].table->column_count;
    w->classes = kn_alloc_array_zero(w->ctx, most, sizeof *w->classes);
    w->first_class = kn_alloc_array_zero(w->ctx, (size_t)w->db->table_count + 1, sizeof *w->first_class);
    w->by_table = kn_alloc_array_zero(w->ctx, most, sizeof *w->by_table);
    if (!w->classes || !w->first_class || !w->by_table) return kn_fail_memory(err, w->ctx, WHAT);
    if (w->wanted_count > 0) {
        KN_TRY(wanted_classes(w, err));
    } else {
        for (int i = 0; i < w->db->table_count; i++)
            for (int c = 0, t = w->db->order[i]; c < w->db->tables[t].table->column_count; c++)
                if (has_class(w, t, c)) KN_TRY(add_class(w, t, c, err));
    }
    if (w->count == 0) return kn_fail(err, KN_INPUT, "%s: no column is a quasi-identifier or sensitive", w->db->source);
    int at = 0;
    for (int t = 0; t < w->db->table_count; t++) {
        w->first_class[t] = at;
        for (int c = 0; c < w->count; c++)
            if (w->classes[c].table == t) w->by_table[at++] = c;
    }
    w->first_class[w->db->table_count] = at;
    return KN_OK;
}

/* ---- Their values ---- */

/* Of sensitive columns a hierarchy only says how far values are apart. */
static const kn_hierarchy *hierarchy_of(const kn_database_column *column)
{
    return column->role == KN_ROLE_SENSITIVE ? NULL : column->hierarchy;
}

static kn_status set_domain(work *w, column_class *c, kn_vocabulary_domain *d, kn_error *err)
{
    const kn_database_column *column = column_of(w, c->table, c->column);
    const kn_dictionary      *dict = &w->db->tables[c->table].table->columns[c->column].dict;
    *d = (kn_vocabulary_domain){.name = c->name,
                                .sensitive = column->role == KN_ROLE_SENSITIVE,
                                .negative = c->negative,
                                .unrelated = c->unrelated};
    d->node = KN_NODE_NONE;
    d->hierarchy = hierarchy_of(column);
    if (d->hierarchy) {
        d->node = kn_vocabulary_top(d->hierarchy, c->name);
        return KN_OK;
    }
    c->texts = kn_alloc_array(w->ctx, (size_t)dict->count + 1, sizeof *c->texts);
    if (!c->texts) return kn_fail_memory(err, w->ctx, WHAT);
    for (uint32_t i = 0; i < dict->count; i++) c->texts[i] = kn_dictionary_text(dict, i);
    d->texts = c->texts;
    d->text_count = dict->count;
    return KN_OK;
}

static kn_status find_values(work *w, int cls, kn_error *err)
{
    column_class        *c = &w->classes[cls];
    const kn_hierarchy  *h = hierarchy_of(column_of(w, c->table, c->column));
    const kn_dictionary *dict = &w->db->tables[c->table].table->columns[c->column].dict;
    c->value_of_code = kn_alloc_array(w->ctx, (size_t)dict->count + 1, sizeof *c->value_of_code);
    if (!c->value_of_code) return kn_fail_memory(err, w->ctx, WHAT);
    for (uint32_t i = 0; i < dict->count; i++) {
        kn_string label = h ? kn_hierarchy_text(h, h->leaf_of_code[i]) : kn_dictionary_text(dict, i);
        c->value_of_code[i] = kn_vocabulary_find(w->vocabulary, cls, label);
    }
    c->value_of_code[dict->count] = NONE;
    return KN_OK;
}

static kn_status make_vocabulary(work *w, kn_error *err)
{
    kn_vocabulary_domain *domains = kn_alloc_array_zero(w->ctx, (size_t)w->count, sizeof *domains);
    kn_status             st = domains ? KN_OK : kn_fail_memory(err, w->ctx, WHAT);
    for (int c = 0; c < w->count && st == KN_OK; c++) st = set_domain(w, &w->classes[c], &domains[c], err);
    if (st == KN_OK) st = kn_vocabulary_assemble(&w->vocabulary, w->ctx, domains, w->count, err);
    kn_free(domains);
    for (int c = 0; c < w->count && st == KN_OK; c++) st = find_values(w, c, err);
    return st;
}

/* ---- Records ---- */

static kn_status nesting(const work *w, uint32_t above, uint32_t below, kn_error *err)
{
    const kn_vocabulary *v = w->vocabulary;
    if (above == NONE || v->cls[above] < v->cls[below]) return KN_OK;
    return kn_fail(err, KN_INPUT, "%s: class \"%s\" would stand below \"%s\": classes nest the other way round",
                   w->db->source, v->class_names[v->cls[below]], v->class_names[v->cls[above]]);
}

/* The cells of one row, below `from`; *head: the node above their children. */
static kn_status add_row(work *w, uint64_t node, uint32_t from, uint32_t *count, uint32_t *head, kn_error *err)
{
    const kn_forest *f = w->forest;
    int              table = f->table[node];
    bool             person = table == w->db->entity;
    uint32_t         above = from;
    *head = from;
    for (int i = w->first_class[table]; i < w->first_class[table + 1]; i++) {
        const column_class *c = &w->classes[w->by_table[i]];
        const kn_column    *column = &w->db->tables[table].table->columns[c->column];
        uint32_t            value = c->value_of_code[kn_column_code(column, f->row[node])];
        if (value == NONE) continue;
        KN_TRY(nesting(w, above == ROOT ? NONE : w->nodes[above].value, value, err));
        w->nodes[*count] = (kn_record_node){above, value};
        if (!person) {
            if (*head == from) *head = *count;
            above = *count;
        }
        (*count)++;
    }
    return KN_OK;
}

static kn_status make_room(work *w, int64_t entity, size_t widest, kn_error *err)
{
    size_t rows = (size_t)(w->forest->start[entity + 1] - w->forest->start[entity]), need = rows * widest;
    if (need >= ROOT) return kn_fail(err, KN_INPUT, "%s: a person with too many rows", w->db->source);
    if (rows > w->head_room) {
        kn_free(w->head);
        w->head_room = 0;
        w->head = kn_alloc_array(w->ctx, rows, sizeof *w->head);
        if (!w->head) return kn_fail_memory(err, w->ctx, WHAT);
        w->head_room = rows;
    }
    if (need <= w->node_room) return KN_OK;
    KN_FREE(w->nodes, w->scratch);
    w->node_room = 0;
    w->nodes = kn_alloc_array(w->ctx, need, sizeof *w->nodes);
    w->scratch = kn_alloc_array(w->ctx, need, KN_RECORD_SCRATCH);
    if (!w->nodes || !w->scratch) return kn_fail_memory(err, w->ctx, WHAT);
    w->node_room = need;
    return KN_OK;
}

static kn_status add_record(work *w, int64_t entity, kn_error *err)
{
    const kn_forest *f = w->forest;
    kn_records      *out = w->out;
    uint64_t         first = f->start[entity];
    uint32_t         count = 0;
    for (uint64_t n = first; n < f->start[entity + 1]; n++) {
        uint32_t from = f->parent[n] == KN_FOREST_NONE ? ROOT : w->head[f->parent[n]];
        KN_TRY(add_row(w, n, from, &count, &w->head[n - first], err));
    }
    uint32_t left = kn_record_canonical(w->nodes, count, w->scratch);
    out->merged += count - left;
    size_t need = (size_t)out->nodes + left + 1;
    if (!KN_GROW(w->ctx, &out->parent, &w->parent_capacity, need) ||
        !KN_GROW(w->ctx, &out->value, &w->value_capacity, need))
        return kn_fail_memory(err, w->ctx, WHAT);
    for (uint32_t i = 0; i < left; i++, out->nodes++) {
        out->parent[out->nodes] = w->nodes[i].parent;
        out->value[out->nodes] = w->nodes[i].value;
    }
    return KN_OK;
}

static kn_status make(work *w, kn_error *err)
{
    KN_TRY(choose_classes(w, err));
    KN_TRY(make_vocabulary(w, err));
    KN_TRY(kn_records_create(&w->out, w->ctx, w->vocabulary, true, w->forest->entities, 0, err));
    size_t widest = 1;
    for (int t = 0; t < w->db->table_count; t++) {
        size_t width = (size_t)(w->first_class[t + 1] - w->first_class[t]);
        if (width > widest) widest = width;
    }
    w->parent_capacity = w->value_capacity = 1; /* what records of no node have */
    for (int64_t r = 0; r < w->forest->entities; r++) {
        int64_t entity = w->forest->entity_of_row[r];
        KN_TRY(make_room(w, entity, widest, err));
        KN_TRY(add_record(w, entity, err));
        w->out->start[r + 1] = w->out->nodes;
    }
    w->out->layout.form = KN_RECORDS_DATABASE;
    w->out->columns = kn_alloc_array(w->ctx, (size_t)w->count, sizeof *w->out->columns);
    if (!w->out->columns) return kn_fail_memory(err, w->ctx, WHAT);
    for (int c = 0; c < w->count; c++)
        w->out->columns[c] = (kn_class_column){w->classes[c].table, w->classes[c].column};
    return KN_OK;
}

kn_status kn_records_of_database(kn_records **out, kn_context *ctx, const kn_forest *forest,
                                 const kn_spec_class *classes, int class_count, kn_error *err)
{
    work w = {.ctx = ctx, .forest = forest, .db = forest->db, .wanted = classes, .wanted_count = class_count};
    *out = NULL;
    if (w.db->references)
        return kn_fail(
            err, KN_USAGE,
            "%s: table \"%s\" is a reference, which only a release of a database has; for tree records leave it "
            "and the links to it out",
            w.db->source, w.db->references->tables[0].name);
    kn_status st = make(&w, err);
    for (int c = 0; w.classes && c < w.count; c++) {
        KN_FREE(w.classes[c].name, w.classes[c].value_of_code, w.classes[c].texts);
    }
    KN_FREE(w.classes, w.first_class, w.by_table, w.nodes, w.scratch, w.head);
    if (st == KN_OK) {
        *out = w.out;
        return KN_OK;
    }
    *out = NULL;
    if (!w.out) kn_vocabulary_free(w.vocabulary);
    kn_records_free(w.out);
    return st;
}
