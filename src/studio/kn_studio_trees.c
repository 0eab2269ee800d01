/* kn_studio_trees.c: persons of a database and records as trees, before and after: what becomes of one of them, which labels
 * are left of each class, which relations are (kn_studio_question.h).
 *
 * The release is made in memory with its row map, which says who is who. Cost: that of the release; the rows of a person are
 * found by one pass over each table for each row above.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <kanon/database.h>
#include <kanon/memory.h>
#include <kanon/records.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kn_studio_question.h"

enum { MOST_PERSONS = 12, MOST_COLUMNS = 16, MOST_LABELS = 80, MOST_NODES = 2000, MOST_CLASSES = 64, MOST_TEXT = 200 };

static json_t *text_json(const char *text, size_t size)
{
    while (size > MOST_TEXT || (size > 0 && size < MOST_TEXT && ((unsigned char)text[size] & 0xC0) == 0x80)) size--;
    json_t *out = json_stringn(text, size);
    return out ? out : json_string("\xef\xbf\xbd");
}

static json_t *tree_json(const char *kind)
{
    return json_pack("{s:s, s:[], s:[]}", "kind", kind, "cells", "children");
}

/* The release of the spec to a name in memory, with its row map. *found false: there is none, the answer says why. */
static kn_status release_to(kn_studio_question *q, const char *place, bool *found, kn_error *err)
{
    kn_anonymize_options options = KN_ANONYMIZE_OPTIONS_INIT;
    kn_release_head     *head = NULL;
    const char *const    settings[][2] = {
           {"output", place}, {"report", "memory:report.html"}, {"public-report", "memory:public.html"}};
    kn_status st = kn_memory_enable(q->ctx, err);
    for (int i = 0; i < 3 && st == KN_OK; i++)
        st = kn_spec_set_texts(q->spec, settings[i][0], &settings[i][1], 1, settings[i][0], err);
    if (st == KN_OK) st = kn_spec_set(q->spec, "keep-rowmap", "true", "keep-rowmap", err);
    if (st == KN_OK) st = kn_spec_check(q->spec, err);
    if (st == KN_OK) st = kn_anonymize_any(&head, q->ctx, q->spec, &options, err);
    *found = st == KN_OK && head->found;
    if (st == KN_OK && !*found)
        q->own = json_pack("{s:b, s:s*, s:I, s:[]}", "found", false, "reason", head->reason, "total", (json_int_t)0,
                           "persons");
    kn_release_head_free(head);
    return st;
}

/* ---- Databases ---- */

typedef struct side {
    const kn_database *database;
    const kn_schema   *schema; /* of the original: the release has its columns */
    int                left;   /* nodes that may still be shown */
} side;

static const kn_table *table_of(const side *s, int table)
{
    int at = kn_database_find(s->database, kn_schema_table_at(s->schema, table)->name);
    return at < 0 ? NULL : kn_database_content(s->database, at);
}

/* The code of a text in a column; UINT32_MAX: none. */
static uint32_t code_of(const kn_table *t, int column, const char *text, size_t size)
{
    for (uint32_t code = 0; code < kn_table_distinct(t, column); code++) {
        size_t      length = 0;
        const char *one = kn_table_text(t, column, code, &length);
        if (one && length == size && memcmp(one, text, size) == 0) return code;
    }
    return UINT32_MAX;
}

/* The key by which the rows of a table refer to their parents. */
static const kn_schema_link *link_up(const kn_schema *schema, int table)
{
    const kn_schema_table *t = kn_schema_table_at(schema, table);
    for (int i = 0; i < t->link_count; i++)
        if (kn_schema_link_at(t, i)->target == t->parent && t->parent >= 0) return kn_schema_link_at(t, i);
    return NULL;
}

static const char *column_name(const kn_schema *schema, int table, int column)
{
    return kn_schema_column_at(kn_schema_table_at(schema, table), column)->name;
}

static json_t *row_json(side *s, int table, int64_t row);

/* The rows of a table that belong to a row of its parent. */
static void add_children(side *s, int child, const kn_table *parent, int64_t row, json_t *list)
{
    const kn_schema_link *link = link_up(s->schema, child);
    const kn_table       *t = table_of(s, child);
    int                   columns[MOST_COLUMNS];
    uint32_t              codes[MOST_COLUMNS];
    if (!link || !t || link->column_count > MOST_COLUMNS) return;
    for (int i = 0; i < link->column_count; i++) {
        int         up = kn_table_find(parent, column_name(s->schema, link->target, link->target_columns[i]));
        size_t      size = 0;
        const char *text = up < 0 ? NULL : kn_table_text(parent, up, kn_table_code(parent, up, row), &size);
        columns[i] = kn_table_find(t, column_name(s->schema, child, link->columns[i]));
        if (!text || columns[i] < 0) return;
        codes[i] = code_of(t, columns[i], text, size);
        if (codes[i] == UINT32_MAX) return;
    }
    for (int64_t r = 0; r < kn_table_rows(t) && s->left > 0; r++) {
        int same = 0;
        while (same < link->column_count && kn_table_code(t, columns[same], r) == codes[same]) same++;
        if (same == link->column_count) json_array_append_new(list, row_json(s, child, r));
    }
}

static json_t *row_json(side *s, int table, int64_t row)
{
    const kn_schema_table *about = kn_schema_table_at(s->schema, table);
    const kn_table        *t = table_of(s, table);
    json_t                *out = tree_json(about->name), *cells = json_object_get(out, "cells");
    s->left--;
    for (int i = 0; i < about->column_count; i++) {
        const kn_schema_column *column = kn_schema_column_at(about, i);
        int                     at = kn_table_find(t, column->name);
        if (at < 0 || column->key || column->foreign) continue;
        json_array_append_new(cells, json_pack("{s:s, s:o}", "name", column->name, "text",
                                               kn_studio_cell(t, at, kn_table_code(t, at, row))));
    }
    for (int i = 0; i < s->schema->table_count; i++)
        if (kn_schema_table_at(s->schema, i)->parent == table && i != table)
            add_children(s, i, t, row, json_object_get(out, "children"));
    return out;
}

/* A table of texts, whatever they look like: the row map, with a released and an original key in each row. */
static kn_status read_map(kn_table **out, kn_studio_question *q, kn_error *err)
{
    kn_csv_options csv = KN_CSV_OPTIONS_INIT;
    kn_column_type types[2 * MOST_COLUMNS];
    char           names[2 * MOST_COLUMNS][300];
    int            count = q->spec->entity_count > MOST_COLUMNS ? MOST_COLUMNS : q->spec->entity_count;
    for (int i = 0; i < 2 * count; i++) {
        snprintf(names[i], sizeof names[i], "%s %s", i < count ? "released" : "original",
                 q->spec->entity_columns[i % count]);
        types[i] = (kn_column_type){names[i], KN_TYPE_TEXT, NULL};
    }
    csv.types = types;
    csv.type_count = 2 * count;
    return kn_table_read_csv(out, q->ctx, "memory:preview.rowmap", &csv, err);
}

static bool same_cell(const kn_table *a, int column, int64_t row, const kn_table *b, int other, int64_t other_row)
{
    size_t      size = 0, other_size = 0;
    const char *x = kn_table_text(a, column, kn_table_code(a, column, row), &size);
    const char *y = kn_table_text(b, other, kn_table_code(b, other, other_row), &other_size);
    return x && y && size == other_size && memcmp(x, y, size) == 0;
}

/* The row of `in` whose key columns are these cells of `of`; -1: none. */
static int64_t find_key(const kn_table *in, const int *columns, const kn_table *of, const int *others, int64_t row,
                        int count)
{
    for (int64_t r = 0; r < kn_table_rows(in); r++) {
        int same = 0;
        while (same < count && same_cell(in, columns[same], r, of, others[same], row)) same++;
        if (same == count) return r;
    }
    return -1;
}

/* The released person of an original one; -1: none, or it cannot be said. */
static int64_t released_as(const kn_studio_question *q, const kn_table *before, const kn_table *after,
                           const kn_table *map, int64_t row)
{
    int count = q->spec->entity_count, was[MOST_COLUMNS], is[MOST_COLUMNS], from[MOST_COLUMNS], to[MOST_COLUMNS];
    if (count > MOST_COLUMNS || kn_table_columns(map) != 2 * count) return -1;
    for (int i = 0; i < count; i++) {
        was[i] = kn_table_find(before, q->spec->entity_columns[i]);
        is[i] = kn_table_find(after, q->spec->entity_columns[i]);
        to[i] = i;
        from[i] = count + i;
        if (was[i] < 0 || is[i] < 0) return -1;
    }
    int64_t at = find_key(map, from, before, was, row, count);
    return at < 0 ? -1 : find_key(after, is, map, to, at, count);
}

static kn_status show_persons(kn_studio_question *q, const kn_database *before, const kn_database *after,
                              const kn_schema *schema, kn_error *err)
{
    kn_table *map = NULL;
    kn_status st = read_map(&map, q, err);
    if (st != KN_OK) return st;
    side            was = {before, schema, MOST_NODES}, is = {after, schema, MOST_NODES};
    const kn_table *persons = table_of(&was, schema->person), *released = table_of(&is, schema->person);
    json_t         *list = json_array();
    int64_t         offset = kn_studio_number(q, "offset", 0);
    for (int64_t r = offset < 0 ? 0 : offset; r < kn_table_rows(persons) && r < offset + MOST_PERSONS && !q->job->stop;
         r++) {
        int64_t at = released ? released_as(q, persons, released, map, r) : -1;
        json_t *one = json_pack("{s:I, s:o}", "number", (json_int_t)r + 1, "before", row_json(&was, schema->person, r));
        if (at >= 0) json_object_set_new(one, "after", row_json(&is, schema->person, at));
        json_array_append_new(list, one);
    }
    q->own = json_pack("{s:b, s:I, s:o}", "found", true, "total", (json_int_t)kn_table_rows(persons), "persons", list);
    kn_table_free(map);
    return KN_OK;
}

static kn_status database_trees(kn_studio_question *q, kn_error *err)
{
    kn_database_options options = KN_DATABASE_OPTIONS_INIT;
    kn_database        *before = NULL, *after = NULL;
    kn_schema          *schema = NULL;
    bool                found = false;
    kn_status           st = release_to(q, "memory:preview/", &found, err);
    if (st != KN_OK || !found) return st;
    options.tables = kn_spec_table_at(q->spec, 0);
    options.table_count = q->spec->table_count;
    options.csv = kn_spec_csv(q->spec);
    st = kn_database_read(&before, q->ctx, q->spec->inputs[0], &options, err);
    if (st == KN_OK) st = kn_schema_look(&schema, q->ctx, before, q->spec->entity_table, err);
    if (st == KN_OK) {
        options.tables = NULL; /* as it was written */
        options.table_count = 0;
        options.csv = NULL;
        st = kn_database_read(&after, q->ctx, "memory:preview/", &options, err);
    }
    if (st == KN_OK && schema->person >= 0) st = show_persons(q, before, after, schema, err);
    if (st == KN_OK && !q->own) st = kn_studio_error(err, KN_USAGE, "there is no table of persons");
    kn_schema_free(schema);
    kn_database_free(before);
    kn_database_free(after);
    return st;
}

/* ---- Records ---- */

static json_t *record_json(const kn_studio_question *q, const kn_records *r, int64_t record)
{
    json_t  *root = tree_json(q->spec->record ? q->spec->record : "record");
    uint32_t size = kn_records_size(r, record);
    json_t **nodes = calloc((size_t)size + 1, sizeof(json_t *));
    for (uint32_t i = 0; nodes && i < size && i < MOST_NODES; i++) {
        size_t length = 0;
        int class = kn_records_class(r, record, i);
        int64_t     parent = kn_records_parent(r, record, i);
        const char *label = kn_records_label(r, record, i, &length);
        nodes[i] = tree_json(class < 0 ? "" : kn_spec_class_at(q->spec, class)->name);
        json_array_append_new(json_object_get(nodes[i], "cells"),
                              json_pack("{s:s, s:o}", "name", "", "text", text_json(label, length)));
        json_array_append_new(json_object_get(parent < 0 ? root : nodes[parent], "children"), nodes[i]);
    }
    free(nodes);
    return root;
}

/* How often each label of a class occurs, and how often a class stands directly below another. */
typedef struct counts {
    json_t *labels[MOST_CLASSES];
    int64_t relations[MOST_CLASSES][MOST_CLASSES];
} counts;

static void count(counts *c, const kn_records *r)
{
    for (int64_t record = 0; record < kn_records_count(r); record++)
        for (uint32_t i = 0; i < kn_records_size(r, record); i++) {
            int class = kn_records_class(r, record, i);
            int64_t     parent = kn_records_parent(r, record, i);
            int         above = parent < 0 ? -1 : kn_records_class(r, record, (uint32_t)parent);
            size_t      length = 0;
            const char *label = kn_records_label(r, record, i, &length);
            if (class < 0 || class >= MOST_CLASSES) continue;
            if (!c->labels[class]) c->labels[class] = json_object();
            json_int_t so_far = json_integer_value(json_object_getn(c->labels[class], label, length));
            (void)json_object_setn_new(c->labels[class], label, length, json_integer(so_far + 1));
            if (above >= 0 && above < MOST_CLASSES) c->relations[above][class]++;
        }
}

static json_t *labels_json(const json_t *labels)
{
    const char *label;
    json_t     *nodes, *list = json_array();
    json_object_foreach((json_t *)(uintptr_t)labels, label, nodes)
    {
        if (json_array_size(list) >= MOST_LABELS) break;
        json_array_append_new(list, json_pack("{s:o, s:O}", "label", text_json(label, strlen(label)), "nodes", nodes));
    }
    return list;
}

/* The cut of each class's vocabulary, and the relations between classes. */
static void add_cut(kn_studio_question *q, const counts *was, const counts *is)
{
    json_t *cut = json_array(), *relations = json_array();
    int     classes = q->spec->class_count < MOST_CLASSES ? q->spec->class_count : MOST_CLASSES;
    for (int i = 0; i < classes; i++) {
        const char *name = kn_spec_class_at(q->spec, i)->name;
        json_array_append_new(cut, json_pack("{s:s, s:I, s:I, s:o}", "class", name, "values",
                                             (json_int_t)json_object_size(was->labels[i]), "labels",
                                             (json_int_t)json_object_size(is->labels[i]), "some",
                                             labels_json(is->labels[i])));
        for (int j = 0; j < classes; j++)
            if (was->relations[i][j] > 0 || is->relations[i][j] > 0)
                json_array_append_new(relations, json_pack("{s:s, s:s, s:I, s:I}", "above", name, "below",
                                                           kn_spec_class_at(q->spec, j)->name, "before",
                                                           (json_int_t)was->relations[i][j], "after",
                                                           (json_int_t)is->relations[i][j]));
    }
    json_object_set_new(q->own, "cut", cut);
    json_object_set_new(q->own, "relations", relations);
}

/* The number of the released record of each original one, from 0; -1: none. From malloc; NULL: memory ran out. */
static int64_t *read_record_map(const char *text, size_t size, int64_t records)
{
    int64_t    *to = malloc(((size_t)records + 1) * sizeof *to), at = 0;
    const char *line = memchr(text, '\n', size), *end = text + size;
    for (int64_t i = 0; to && i < records; i++) to[i] = -1;
    for (; to && line && line + 1 < end; line = memchr(line + 1, '\n', (size_t)(end - line - 1)), at++) {
        int64_t original = strtoll(line + 1, NULL, 10);
        if (original >= 1 && original <= records) to[original - 1] = at;
    }
    return to;
}

static kn_status show_records(kn_studio_question *q, const kn_records *before, const kn_records *after, const char *map,
                              kn_error *err)
{
    const void *bytes = NULL;
    size_t      size = 0;
    kn_status   st = kn_memory_get(&bytes, &size, q->ctx, map, err);
    if (st != KN_OK) return st;
    int64_t total = kn_records_count(before), offset = kn_studio_number(q, "offset", 0),
            *to = read_record_map(bytes, size, total);
    counts *was = calloc(1, sizeof *was), *is = calloc(1, sizeof *is);
    json_t *list = json_array();
    if (to && was && is) {
        for (int64_t r = offset < 0 ? 0 : offset; r < total && r < offset + MOST_PERSONS; r++) {
            json_t *one = json_pack("{s:I, s:o}", "number", (json_int_t)r + 1, "before", record_json(q, before, r));
            if (to[r] >= 0 && to[r] < kn_records_count(after))
                json_object_set_new(one, "after", record_json(q, after, to[r]));
            json_array_append_new(list, one);
        }
        q->own = json_pack("{s:b, s:I, s:O}", "found", true, "total", (json_int_t)total, "persons", list);
        count(was, before);
        count(is, after);
        add_cut(q, was, is);
        for (int i = 0; i < MOST_CLASSES; i++) {
            json_decref(was->labels[i]);
            json_decref(is->labels[i]);
        }
    } else
        st = kn_studio_error(err, KN_MEMORY, "out of memory while comparing records");
    json_decref(list);
    free(to);
    free(was);
    free(is);
    return st;
}

static kn_status record_trees(kn_studio_question *q, kn_error *err)
{
    kn_records_options options = KN_RECORDS_OPTIONS_INIT;
    kn_records        *before = NULL, *after = NULL;
    const char        *ending = q->spec->output ? strrchr(q->spec->output, '.') : NULL;
    char               place[80], map[100];
    bool               found = false;
    if (q->spec->table_count > 0)
        return kn_studio_error(err, KN_USAGE, "persons of a database are not compared as records");
    snprintf(place, sizeof place, "memory:preview%.40s", ending ? ending : ".xml");
    snprintf(map, sizeof map, "%s.rowmap", place);
    kn_status st = release_to(q, place, &found, err);
    if (st != KN_OK || !found) return st;
    options.record = q->spec->record;
    options.classes = kn_spec_class_at(q->spec, 0);
    options.class_count = q->spec->class_count;
    options.delimiter = kn_spec_csv(q->spec)->delimiter;
    options.resources = kn_spec_resource_at(q->spec, 0);
    options.resource_count = q->spec->resource_count;
    options.more = q->spec->inputs + 1;
    options.more_count = q->spec->input_count - 1;
    st = kn_records_read(&before, q->ctx, q->spec->inputs[0], &options, err);
    options.more_count = 0;
    options.released = true;
    if (st == KN_OK) st = kn_records_read(&after, q->ctx, place, &options, err);
    if (st == KN_OK) st = show_records(q, before, after, map, err);
    kn_records_free(before);
    kn_records_free(after);
    return st;
}

kn_status kn_studio_answer_trees(kn_studio_question *q, kn_error *err)
{
    switch (kn_spec_shape(q->spec)) {
    case KN_SHAPE_DATABASE: return database_trees(q, err);
    case KN_SHAPE_RECORDS: return record_trees(q, err);
    default: return kn_studio_error(err, KN_USAGE, "a table has rows, no trees");
    }
}
