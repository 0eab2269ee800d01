/* kn_catalog.c: lists of tables, columns and keys before the tables are read.
 *
 * Interface: kn_catalog.h. Lists double in the arena, so adding costs constant time on average.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_catalog.h"

#include <string.h>

void kn_catalog_init(kn_catalog *c, kn_context *ctx)
{
    *c = (kn_catalog){.ctx = ctx};
    kn_arena_init(&c->arena, ctx);
}

void kn_catalog_free(kn_catalog *c)
{
    kn_arena_free(&c->arena);
}

/* Makes space for one more element: a new list twice as long if the old one is full (at powers of two). */
static bool room(kn_catalog *c, void *list, int count, size_t size)
{
    void *old, *wider;
    if (count & (count - 1)) return true;
    wider = kn_arena_alloc(&c->arena, (size_t)(count ? 2 * count : 1) * size);
    if (!wider) return false;
    memcpy(&old, list, sizeof old);
    if (count) memcpy(wider, old, (size_t)count * size);
    memcpy(list, &wider, sizeof wider);
    return true;
}

static const char *copy(kn_catalog *c, const char *text)
{
    return kn_arena_strndup(&c->arena, text, strlen(text));
}

int kn_catalog_add_table(kn_catalog *c, const char *name)
{
    const char *own = copy(c, name);
    if (!own || !room(c, &c->tables, c->table_count, sizeof *c->tables)) return -1;
    c->tables[c->table_count] = (kn_catalog_table){.name = own};
    return c->table_count++;
}

int kn_catalog_add_column(kn_catalog *c, int table, const char *name, const char *declared, bool not_null, bool text)
{
    kn_catalog_table *t = &c->tables[table];
    const char       *own = copy(c, name), *type = declared && *declared ? copy(c, declared) : NULL;
    if (!own || (declared && *declared && !type)) return -1;
    if (!room(c, &t->columns, t->column_count, sizeof *t->columns)) return -1;
    t->columns[t->column_count] = (kn_catalog_column){own, type, not_null, text, false, false, false};
    return t->column_count++;
}

int kn_catalog_add_key(kn_catalog *c, int table, const char *column)
{
    kn_catalog_table *t = &c->tables[table];
    const char       *own = copy(c, column);
    if (!own || !room(c, &t->key, t->key_count, sizeof *t->key)) return -1;
    t->key[t->key_count] = own;
    return t->key_count++;
}

int kn_catalog_add_link(kn_catalog *c, int table, const char *target)
{
    kn_catalog_table *t = &c->tables[table];
    const char       *own = copy(c, target);
    if (!own || !room(c, &t->links, t->link_count, sizeof *t->links)) return -1;
    t->links[t->link_count] = (kn_catalog_link){.target = own};
    return t->link_count++;
}

int kn_catalog_add_link_column(kn_catalog *c, int table, int link, const char *column, const char *target_column)
{
    kn_catalog_link *l = &c->tables[table].links[link];
    const char      *own = copy(c, column), *other = target_column ? copy(c, target_column) : NULL;
    if (!own || (target_column && !other)) return -1;
    if (!room(c, &l->columns, l->count, sizeof *l->columns)) return -1;
    if (!room(c, &l->target_columns, l->count, sizeof *l->target_columns)) return -1;
    l->columns[l->count] = own;
    l->target_columns[l->count] = other;
    return l->count++;
}

int kn_catalog_find(const kn_catalog *c, const char *table)
{
    for (int i = 0; i < c->table_count; i++)
        if (strcmp(c->tables[i].name, table) == 0) return i;
    return -1;
}

int kn_catalog_find_column(const kn_catalog_table *t, const char *column)
{
    for (int i = 0; i < t->column_count; i++)
        if (strcmp(t->columns[i].name, column) == 0) return i;
    return -1;
}

bool kn_catalog_wanted(const kn_database_options *options, const char *table)
{
    for (int i = 0; i < options->table_count; i++)
        if (strcmp(options->tables[i].name, table) == 0) return true;
    return options->table_count == 0;
}
