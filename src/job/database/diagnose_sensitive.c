/* database/diagnose_sensitive.c: sensitive columns of a database (kn_diagnose_sensitive.h).
 *
 * A row's place is that of the row above it and the subtree that hangs from it: rows of one place look the same to everybody, of
 * whichever persons of a class they are. Where a person has several rows of one place nobody can tell which of them is matched with
 * which of another person: they are matched in the order of their values, by which least is hidden. The rows that belong to persons
 * become a table, with places in the stead of a key, and the models of tables are measured on it (kn_diagnose_models).
 *
 * Cost: one pass over the forest, and per sensitive column those of the models. Memory: 28 bytes per row of the forest, and a copy of
 * one table at a time.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_diagnose_sensitive.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_builder.h"
#include "kn_error.h"
#include "kn_interner.h"
#include "kn_table_select.h"

static const char what[] = "diagnosing sensitive columns";
static const char place_name[] = " place"; /* of the column of places: none is read with a space before it */

typedef struct looking {
    kn_context          *ctx;
    kn_arena            *arena;
    const kn_forest     *forest;
    uint32_t            *place; /* per node, from 1 */
    kn_sensitive_report *reports;
    int                  count;
} looking;

static bool is_sensitive(const kn_database_column *c)
{
    return c->has_role && c->role == KN_ROLE_SENSITIVE;
}

static kn_status find_places(looking *l, kn_error *err)
{
    const kn_forest *f = l->forest;
    kn_interner      ids;
    l->place = kn_alloc_array(l->ctx, (size_t)f->nodes + 1, sizeof *l->place);
    if (!l->place) return kn_fail_memory(err, l->ctx, what);
    kn_interner_init(&ids, l->ctx);
    kn_status st = KN_OK;
    for (int64_t e = 0; st == KN_OK && e < f->entities; e++)
        for (uint64_t n = f->start[e]; st == KN_OK && n < f->start[e + 1]; n++) {
            char     text[32];
            uint32_t above = f->parent[n] == KN_FOREST_NONE ? 0 : l->place[f->start[e] + f->parent[n]];
            int      size = snprintf(text, sizeof text, "%u.%u", (unsigned)above, (unsigned)f->subtree[n]);
            l->place[n] = kn_intern(&ids, (kn_string){text, (size_t)size});
            if (l->place[n] == KN_ID_FAILED) st = kn_fail_memory(err, l->ctx, what);
        }
    kn_interner_free(&ids);
    return st;
}

/* A row that belongs to somebody, with the value of the column that is looked at. */
typedef struct spot {
    uint32_t place, value, row;
    int64_t  person;
} spot;

static int compare_spots(const void *x, const void *y)
{
    const spot *a = x, *b = y;
    if (a->place != b->place) return a->place < b->place ? -1 : 1;
    if (a->person != b->person) return a->person < b->person ? -1 : 1;
    if (a->value != b->value) return a->value < b->value ? -1 : 1;
    return a->row < b->row ? -1 : a->row > b->row;
}

/* What names a row's class, per row: its place, and the how manieth of the person's it is there, by the value; NULL text: nobody's. */
static kn_status name_rows(char (*names)[24], const looking *l, int table, const kn_column *column, kn_error *err)
{
    const kn_forest *f = l->forest;
    int64_t          count = 0;
    spot            *spots = kn_alloc_array(l->ctx, (size_t)f->db->tables[table].table->rows + 1, sizeof *spots);
    if (!spots) return kn_fail_memory(err, l->ctx, what);
    for (int64_t e = 0; e < f->entities; e++)
        for (uint64_t n = f->start[e]; n < f->start[e + 1]; n++)
            if (f->table[n] == table)
                spots[count++] = (spot){l->place[n], kn_column_code(column, f->row[n]), f->row[n], e};
    qsort(spots, (size_t)count, sizeof *spots, compare_spots);
    for (int64_t i = 0, nth = 0; i < count; i++) {
        bool again = i > 0 && spots[i].place == spots[i - 1].place && spots[i].person == spots[i - 1].person;
        nth = again ? nth + 1 : 0;
        snprintf(names[spots[i].row], sizeof *names, "%u.%u", (unsigned)spots[i].place, (unsigned)nth);
    }
    kn_free(spots);
    return KN_OK;
}

/* The classes of some rows, as a table of one column. */
static kn_status make_places(kn_table **out, const looking *l, char (*names)[24], const int64_t *rows, int64_t count,
                             kn_error *err)
{
    const kn_string       name = {place_name, sizeof place_name - 1};
    const kn_builder_type text = {KN_TYPE_TEXT, NULL};
    const kn_value_rules  rules = {.decimal = '.'};
    kn_builder           *b = NULL;
    int64_t               first = 0;
    uint32_t             *ids = kn_alloc_array(l->ctx, (size_t)count + 1, sizeof *ids);
    kn_status st = ids ? kn_builder_create(&b, l->ctx, &name, 1, 1, err) : kn_fail_memory(err, l->ctx, what);
    for (int64_t i = 0; st == KN_OK && i < count; i++) {
        ids[i] = kn_intern(kn_builder_interner(b, 0, 0), (kn_string){names[rows[i]], strlen(names[rows[i]])});
        if (ids[i] == KN_ID_FAILED) st = kn_fail_memory(err, l->ctx, what);
    }
    if (st == KN_OK) st = kn_builder_extend(b, count, 0, &first, err);
    if (st == KN_OK) {
        kn_builder_write(b, 0, first, ids, count);
        st = kn_builder_finish(out, b, &text, &rules, err);
    } else if (b) {
        kn_builder_free(b);
    }
    kn_free(ids);
    return st;
}

/* The rows of a table that belong to persons, with their classes instead of the column `key`. */
static kn_status make_table(kn_table **out, const looking *l, int table, int key, int sensitive, kn_error *err)
{
    const kn_table *from = l->forest->db->tables[table].table;
    int64_t         count = 0;
    kn_table       *places = NULL;
    char(*names)[24] = kn_alloc_array_zero(l->ctx, (size_t)from->rows + 1, sizeof *names);
    int64_t  *rows = kn_alloc_array(l->ctx, (size_t)from->rows + 1, sizeof *rows);
    kn_status st = names && rows ? KN_OK : kn_fail_memory(err, l->ctx, what);
    if (st == KN_OK) st = name_rows(names, l, table, &from->columns[sensitive], err);
    for (int64_t r = 0; st == KN_OK && r < from->rows; r++)
        if (names[r][0]) rows[count++] = r;
    if (st == KN_OK) st = kn_table_select(out, l->ctx, from, rows, count, err);
    if (st == KN_OK) st = make_places(&places, l, names, rows, count, err);
    if (st == KN_OK) {
        kn_column old = (*out)->columns[key];
        (*out)->columns[key] = places->columns[0];
        places->columns[0] = old;
    }
    kn_table_free(places);
    KN_FREE(names, rows);
    return st;
}

static kn_status tell(looking *l, const char *table, const kn_sensitive_report *found, kn_error *err)
{
    kn_sensitive_report *to = &l->reports[l->count++];
    size_t               size = strlen(table) + strlen(found->name) + 2;
    char                *name = kn_arena_array(l->arena, size, 1);
    if (!name) return kn_fail_memory(err, l->ctx, what);
    snprintf(name, size, "%s.%s", table, found->name);
    *to = *found;
    to->name = name;
    return KN_OK;
}

static kn_status look_at(looking *l, int table, int column, kn_error *err)
{
    const kn_database_table *t = &l->forest->db->tables[table];
    const char              *quasi[] = {place_name}, *sensitive[] = {t->table->columns[column].name};
    kn_model_options         o = KN_MODEL_OPTIONS_INIT;
    kn_model_report         *report = NULL;
    kn_table                *made = NULL;
    int                      key = 0; /* a table has a key, or rows refer to another by one */
    while (key < t->table->column_count && is_sensitive(&t->columns[key])) key++;
    if (key == t->table->column_count) return KN_OK;
    o.quasi = quasi;
    o.sensitive = sensitive;
    o.quasi_count = o.sensitive_count = 1;
    kn_status st = make_table(&made, l, table, key, column, err);
    if (st == KN_OK) st = kn_diagnose_models(&report, l->ctx, made, &o, err);
    if (st == KN_OK) st = tell(l, t->name, kn_sensitive_report_at(report, 0), err);
    kn_model_report_free(report);
    kn_table_free(made);
    return st;
}

kn_status kn_diagnose_sensitive(const kn_sensitive_report **out, int *count, kn_arena *arena, const kn_forest *forest,
                                kn_error *err)
{
    looking l = {.ctx = arena->ctx, .arena = arena, .forest = forest};
    int     columns = 0;
    for (int t = 0; t < forest->db->table_count; t++)
        for (int c = 0; c < forest->db->tables[t].table->column_count; c++)
            columns += is_sensitive(&forest->db->tables[t].columns[c]);
    if (columns == 0) return KN_OK;
    l.reports = kn_arena_array_zero(arena, (size_t)columns, sizeof *l.reports);
    kn_status st = l.reports ? find_places(&l, err) : kn_fail_memory(err, l.ctx, what);
    for (int t = 0; t < forest->db->table_count; t++)
        for (int c = 0; st == KN_OK && c < forest->db->tables[t].table->column_count; c++)
            if (is_sensitive(&forest->db->tables[t].columns[c])) st = look_at(&l, t, c, err);
    kn_free(l.place);
    *out = l.reports;
    *count = l.count;
    return st;
}
