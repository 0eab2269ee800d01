/* database/anatomy_schema.c: kn_anatomy_schema.h. A database without rows from which the writer takes the schema.
 *
 * Cost: tables × columns × columns, for unused names.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_anatomy_schema.h"

#include <string.h>

#include "kn_alloc.h"
#include "kn_buffer.h"
#include "kn_error.h"

#define WHAT "making an anatomy"

static bool is_sensitive(const kn_database_column *c)
{
    return c->has_role && c->role == KN_ROLE_SENSITIVE;
}

/* ---- Names ---- */

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool same_name(const char *a, const char *b)
{
    while (*a && lower(*a) == lower(*b)) a++, b++;
    return lower(*a) == lower(*b);
}

static bool is_column(const kn_database *db, const char *name)
{
    for (int t = 0; t < db->table_count; t++)
        for (int c = 0; c < db->tables[t].table->column_count; c++)
            if (same_name(db->tables[t].table->columns[c].name, name)) return true;
    return false;
}

static bool is_table(const kn_database *db, const char *name)
{
    for (int t = 0; t < db->table_count; t++)
        if (same_name(db->tables[t].name, name)) return true;
    return false;
}

/* The first of base, base_2, base_3, ... that the database does not use. NULL: out of memory. */
static char *free_name(kn_arena *arena, const char *base, const kn_database *db,
                       bool (*taken)(const kn_database *db, const char *name))
{
    kn_buffer   name;
    const char *text;
    kn_buffer_init(&name, arena->ctx);
    kn_buffer_add(&name, base);
    for (int n = 2; (text = kn_buffer_text(&name)) && taken(db, text); n++) {
        kn_buffer_clear(&name);
        kn_buffer_format(&name, "%s_%d", base, n);
    }
    char *copy = text ? kn_arena_strndup(arena, text, strlen(text)) : NULL;
    kn_buffer_free(&name);
    return copy;
}

/* ---- Tables ---- */

static kn_table *empty_table(kn_context *ctx, const char *const *names, int count)
{
    kn_table *t = kn_alloc_zero(ctx, sizeof *t);
    if (!t) return NULL;
    t->ctx = ctx;
    t->delimiter = ',';
    t->columns = kn_alloc_array_zero(ctx, (size_t)count + 1, sizeof *t->columns);
    for (int c = 0; t->columns && c < count; c++) {
        t->columns[c].type = KN_TYPE_TEXT;
        t->columns[c].width = 1;
        t->columns[c].name = kn_strndup(ctx, names[c], strlen(names[c]));
        t->column_count = c + 1;
        if (!t->columns[c].name) break;
    }
    if (t->columns && (count == 0 || t->columns[count - 1].name)) return t;
    kn_table_free(t);
    return NULL;
}

/* A column that is written unchanged. */
static bool set_column(kn_context *ctx, kn_database_column *c, const char *declared)
{
    c->has_role = true;
    c->role = KN_ROLE_KEEP;
    if (!declared) return true;
    c->declared = kn_strndup(ctx, declared, strlen(declared));
    return c->declared != NULL;
}

/* `names` and s->column[t] hold all columns and one more. */
static kn_status add_table(kn_anatomy_schema *s, const kn_database_table *t, int number, const char **names,
                           kn_error *err)
{
    int *from = s->column[number], count = 0;
    for (int c = 0; c < t->table->column_count; c++) {
        if (is_sensitive(&t->columns[c])) continue;
        names[count] = t->table->columns[c].name;
        from[count++] = c;
    }
    if (s->grouped[number]) {
        names[count] = s->group_name;
        from[count++] = -1;
    }
    kn_table *table = empty_table(s->ctx, names, count);
    if (!table) return kn_fail_memory(err, s->ctx, WHAT);
    KN_TRY(kn_database_add(s->db, t->name, table, err));
    kn_database_column *columns = s->db->tables[number].columns;
    for (int c = 0; c < count; c++) {
        const kn_database_column *old = from[c] < 0 ? NULL : &t->columns[from[c]];
        if (!set_column(s->ctx, &columns[c], old ? old->declared : "bigint")) return kn_fail_memory(err, s->ctx, WHAT);
        if (!old) continue;
        columns[c].not_null = old->not_null;
        columns[c].has_role = old->has_role;
        if (old->has_role && old->role != KN_ROLE_QUASI) columns[c].role = old->role;
    }
    for (int i = 0; i < t->key_count; i++) names[i] = t->table->columns[t->key[i]].name;
    return kn_database_set_key(s->db, number, names, t->key_count, err);
}

static kn_status add_link(kn_anatomy_schema *s, const kn_database *original, int number, const char **names,
                          kn_error *err)
{
    const kn_database_table *t = &original->tables[number], *parent = &original->tables[t->parent < 0 ? 0 : t->parent];
    if (t->link < 0) return KN_OK;
    const kn_foreign_key *f = &t->foreign[t->link];
    const char          **targets = names + f->column_count;
    for (int i = 0; i < f->column_count; i++) {
        names[i] = t->table->columns[f->columns[i]].name;
        targets[i] = parent->table->columns[f->target_columns[i]].name;
    }
    return kn_database_link(s->db, number, names, f->column_count, parent->name, targets, err);
}

static kn_status add_list(kn_anatomy_schema *s, const kn_database *original, int t, int c, kn_error *err)
{
    const kn_database_table *table = &original->tables[t];
    const char              *column = table->table->columns[c].name;
    int                      sensitive = 0;
    kn_buffer                base;
    for (int i = 0; i < table->table->column_count; i++) sensitive += is_sensitive(&table->columns[i]);
    kn_buffer_init(&base, s->ctx);
    kn_buffer_format(&base, "%s_%s", table->name, sensitive > 1 ? column : "sensitive");
    const char *text = kn_buffer_text(&base);
    char       *name = text ? free_name(&s->arena, text, s->db, is_table) : NULL;
    const char *names[3] = {s->group_name, column, s->count_name};
    kn_table   *content = name ? empty_table(s->ctx, names, 3) : NULL;
    kn_status   st = content ? kn_database_add(s->db, name, content, err) : kn_fail_memory(err, s->ctx, WHAT);
    kn_buffer_free(&base);
    KN_TRY(st);
    kn_database_table *list = &s->db->tables[s->db->table_count - 1];
    list->depth = 0;
    if (!set_column(s->ctx, &list->columns[0], "bigint") ||
        !set_column(s->ctx, &list->columns[1], table->columns[c].declared) ||
        !set_column(s->ctx, &list->columns[2], "bigint"))
        return kn_fail_memory(err, s->ctx, WHAT);
    s->lists[s->list_count++] = (kn_anatomy_list_of){t, c};
    return KN_OK;
}

/* ---- The whole ---- */

static kn_status reserve(kn_anatomy_schema *s, const kn_database *original, kn_error *err)
{
    size_t lists = 0;
    s->column = kn_arena_array_zero(&s->arena, (size_t)s->tables, sizeof *s->column);
    s->grouped = kn_arena_array_zero(&s->arena, (size_t)s->tables, sizeof *s->grouped);
    s->group_name = free_name(&s->arena, "group", original, is_column);
    s->count_name = free_name(&s->arena, "count", original, is_column);
    if (s->arena.failed || !s->group_name || !s->count_name) return kn_fail_memory(err, s->ctx, WHAT);
    for (int t = 0; t < s->tables; t++) {
        const kn_database_table *table = &original->tables[t];
        for (int c = 0; c < table->table->column_count; c++) {
            s->grouped[t] |= is_sensitive(&table->columns[c]);
            lists += is_sensitive(&table->columns[c]);
        }
        s->column[t] = kn_arena_array_zero(&s->arena, (size_t)table->table->column_count + 1, sizeof **s->column);
    }
    s->lists = kn_arena_array_zero(&s->arena, lists + 1, sizeof *s->lists);
    return s->arena.failed ? kn_fail_memory(err, s->ctx, WHAT) : KN_OK;
}

static kn_status add_all(kn_anatomy_schema *s, const kn_database *original, const char **names, kn_error *err)
{
    for (int t = 0; t < s->tables; t++) KN_TRY(add_table(s, &original->tables[t], t, names, err));
    for (int t = 0; t < s->tables; t++) KN_TRY(add_link(s, original, t, names, err));
    KN_TRY(kn_database_choose(s->db, original->tables[original->entity].name, err));
    for (int t = 0; t < s->tables; t++)
        for (int c = 0; c < original->tables[t].table->column_count; c++)
            if (is_sensitive(&original->tables[t].columns[c])) KN_TRY(add_list(s, original, t, c, err));
    int *order = kn_realloc_array(s->ctx, s->db->order, (size_t)s->db->table_count, sizeof *order);
    if (!order) return kn_fail_memory(err, s->ctx, WHAT);
    s->db->order = order;
    for (int t = s->tables; t < s->db->table_count; t++) order[t] = t;
    return KN_OK;
}

kn_status kn_anatomy_schema_make(kn_anatomy_schema *s, kn_context *ctx, const kn_database *original, kn_error *err)
{
    int columns = 0;
    *s = (kn_anatomy_schema){.ctx = ctx, .arena = {.ctx = ctx}, .tables = original->table_count};
    KN_TRY(reserve(s, original, err));
    KN_TRY(kn_database_create(&s->db, ctx, original->source, err));
    for (int t = 0; t < s->tables; t++)
        if (original->tables[t].table->column_count > columns) columns = original->tables[t].table->column_count;
    const char **names = kn_arena_array_zero(&s->arena, 2 * (size_t)columns + 2, sizeof *names);
    return names ? add_all(s, original, names, err) : kn_fail_memory(err, s->ctx, WHAT);
}

void kn_anatomy_schema_free(kn_anatomy_schema *s)
{
    kn_arena_free(&s->arena);
    kn_database_free(s->db);
    *s = (kn_anatomy_schema){0};
}
