/* kn_records_shown.c: the records that a released database shows: the rule of kn_records_of_database (kn_records.h), with labels of
 * any level.
 *
 * Interface: kn_database_roles.h. A cell * is any value of its class: the class's top, unless the hierarchy has a name for that.
 * Cost and memory: those of the database and of its forest.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "kn_alloc.h"
#include "kn_database_roles.h"
#include "kn_error.h"
#include "kn_records_read.h"

#define WHAT "reading a released database"

kn_spec_table *kn_records_schema(kn_arena *arena, const kn_database *db, const kn_class_column *columns, int count)
{
    kn_spec_table *tables = kn_arena_array_zero(arena, (size_t)db->table_count + 1, sizeof *tables);
    for (int t = 0; tables && t < db->table_count; t++) {
        const kn_database_table *from = &db->tables[t];
        const kn_foreign_key    *up = from->link >= 0 ? &from->foreign[from->link] : NULL;
        size_t                   width = (size_t)from->table->column_count + 1;
        const char             **key = kn_arena_array_zero(arena, width, sizeof *key);
        const char             **link = kn_arena_array_zero(arena, width, sizeof *link);
        kn_attribute            *shown = kn_arena_array_zero(arena, width, sizeof *shown);
        if (!key || !link || !shown) return NULL;
        for (int i = 0; i < from->key_count; i++) key[i] = from->table->columns[from->key[i]].name;
        for (int i = 0; up && i < up->column_count; i++) link[i] = from->table->columns[up->columns[i]].name;
        tables[t] = (kn_spec_table){.name = from->name, .has_key = true, .key_count = from->key_count, .key = key};
        if (up) {
            tables[t].parent = db->tables[from->parent].name;
            tables[t].parent_columns = link;
            tables[t].parent_column_count = up->column_count;
        }
        for (int c = 0; c < count; c++)
            if (columns[c].table == t)
                shown[tables[t].attribute_count++] =
                    (kn_attribute){.name = from->table->columns[columns[c].column].name,
                                   .has_role = true,
                                   .role = KN_ROLE_KEEP,
                                   .type = KN_TYPE_TEXT};
        tables[t].attributes = shown;
    }
    return tables;
}

typedef struct telling {
    const kn_forest          *forest;
    const kn_records_options *options;
    const kn_records_sink    *sink;
    kn_class_column          *columns; /* per class */
    int64_t                  *head;    /* per node of the forest's entity */
    int64_t                   nodes;
} telling;

/* "table.column", or "column" where only one table has it. */
static kn_status find_column(const kn_database *db, const char *name, kn_class_column *out, kn_error *err)
{
    int found = 0;
    for (int t = 0; t < db->table_count; t++) {
        const kn_database_table *table = &db->tables[t];
        size_t                   size = strlen(table->name);
        bool                     named = strncmp(name, table->name, size) == 0 && name[size] == '.';
        int                      whole = named ? kn_table_find(table->table, name + size + 1) : -1;
        int                      plain = kn_table_find(table->table, name);
        if (whole < 0 && (plain < 0 || table->columns[plain].key || table->columns[plain].foreign)) continue;
        *out = (kn_class_column){t, whole >= 0 ? whole : plain};
        if (whole >= 0) return KN_OK;
        found++;
    }
    if (found == 1) return KN_OK;
    return kn_fail(err, KN_INPUT, "%s: class \"%s\": %s", db->source, name,
                   found ? "several tables have that column" : "no column is called so");
}

static kn_status tell_row(telling *t, uint64_t first, uint64_t node, kn_error *err)
{
    static const kn_records_place nowhere = {"the database", 0, 0};
    const kn_forest              *f = t->forest;
    int                           table = f->table[node];
    bool                          person = table == f->db->entity;
    int64_t from = f->parent[node] == KN_FOREST_NONE ? -1 : t->head[f->parent[node]], above = from;
    t->head[node - first] = from;
    for (int c = 0; c < t->options->class_count; c++) {
        if (t->columns[c].table != table) continue;
        const kn_column *column = &f->db->tables[table].table->columns[t->columns[c].column];
        uint32_t         code = kn_column_code(column, f->row[node]);
        if (code >= column->dict.count) continue;
        kn_string text = kn_dictionary_text(&column->dict, code);
        if (kn_string_equal(text, kn_string_of("*"))) text = kn_string_of(t->options->classes[c].name);
        KN_TRY(t->sink->node(t->sink->state, above, c, text, &nowhere, err));
        if (!person && above == from) t->head[node - first] = t->nodes;
        if (!person) above = t->nodes;
        t->nodes++;
    }
    return KN_OK;
}

static kn_status tell(void *state, const kn_records_sink *sink, kn_records_layout *layout, kn_error *err)
{
    telling         *t = state;
    const kn_forest *f = t->forest;
    kn_records_place nowhere = {"the database", 0, 0};
    size_t           room = 0;
    t->sink = sink;
    layout->form = KN_RECORDS_DATABASE;
    for (int64_t r = 0; r < f->entities; r++) {
        uint64_t first = f->start[f->entity_of_row[r]], end = f->start[f->entity_of_row[r] + 1];
        if (!KN_GROW(f->ctx, &t->head, &room, (size_t)(end - first))) return kn_fail_memory(err, f->ctx, WHAT);
        t->nodes = 0;
        KN_TRY(sink->record(sink->state, (kn_string){NULL, 0}, &nowhere, err));
        for (uint64_t node = first; node < end; node++) KN_TRY(tell_row(t, first, node, err));
    }
    return KN_OK;
}

kn_status kn_records_read_shown(kn_records **out, kn_context *ctx, kn_database *db, const kn_spec_table *tables,
                                const char *entity, const kn_records_options *options, kn_error *err)
{
    telling           t = {.options = options};
    kn_records_teller from = {&t, tell};
    kn_forest        *forest = NULL;
    *out = NULL;
    t.columns = kn_alloc_array_zero(ctx, (size_t)options->class_count + 1, sizeof *t.columns);
    kn_status st = t.columns ? kn_database_choose(db, entity, err) : kn_fail_memory(err, ctx, WHAT);
    for (int c = 0; c < options->class_count && st == KN_OK; c++)
        st = find_column(db, options->classes[c].name, &t.columns[c], err);
    if (st == KN_OK) st = kn_database_roles(db, tables, db->table_count, err);
    if (st == KN_OK) st = kn_forest_build(&forest, ctx, db, err);
    t.forest = forest;
    if (st == KN_OK) st = kn_records_read_told(out, ctx, &from, options, err);
    kn_forest_free(forest);
    KN_FREE(t.columns, t.head);
    return st;
}
