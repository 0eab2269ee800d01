/* database/anatomy.c: kn_anatomy.h: groups of a plan's nodes, their numbers, their lists of values, and the cells.
 *
 * The schema is made in anatomy_schema.c; rows and their parents are those of kn_database_release.h, which numbers them
 * class by class, member by member, node by node.
 *
 * Cost: one pass over the plan, comparing neighbouring siblings, and sorting each sensitive column's rows. Memory: 4 bytes
 * per row of a table with sensitive columns, 12 per different (group, value), 12 per number up to the largest written.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_anatomy.h"

#include <stdio.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_anatomy_schema.h"
#include "kn_database_release.h"
#include "kn_error.h"
#include "kn_rng.h"
#include "kn_sort.h"

#define WHAT "making an anatomy"

enum { NUMBER_TEXT = 12 }; /* bytes of a number as text */

/* The values of one sensitive column, by group. */
typedef struct value_list {
    int64_t   rows;
    uint32_t *group, *code, *count;
} value_list;

struct kn_anatomy {
    kn_context          *ctx;
    kn_arena             arena; /* of the arrays */
    const kn_database   *original;
    kn_database_release *release;
    kn_anatomy_schema    schema;
    uint32_t           **group;   /* per table of the original and released row: its number; NULL: none */
    uint32_t            *groups;  /* per table of the original: how many                                */
    value_list          *lists;   /* per list of the schema                                             */
    char                *numbers; /* 0, 1, 2, ... as texts                                             */
    kn_release_rows     *shapes;
    kn_database_rows     rows;
};

/* ---- Cells ---- */

static kn_string number_text(const kn_anatomy *a, uint32_t number)
{
    const char *text = a->numbers + (size_t)number * NUMBER_TEXT;
    return (kn_string){text, strlen(text)};
}

static bool value_text(const kn_column *column, uint32_t code, kn_string *out)
{
    if (code >= column->dict.count) return false;
    *out = kn_dictionary_text(&column->dict, code);
    return true;
}

static bool cell(const void *arg, int table, int column, int64_t row, kn_string *out)
{
    const kn_anatomy *a = arg;
    if (table < a->original->table_count) {
        int from = a->schema.column[table][column];
        if (from < 0) {
            *out = number_text(a, a->group[table][row]);
            return true;
        }
        const kn_column *c = &a->original->tables[table].table->columns[from];
        return value_text(c, kn_column_code(c, kn_anatomy_original(a, table, row)), out);
    }
    const kn_anatomy_list_of *of = &a->schema.lists[table - a->original->table_count];
    const value_list         *list = &a->lists[table - a->original->table_count];
    if (column == 1)
        return value_text(&a->original->tables[of->table].table->columns[of->column], list->code[row], out);
    *out = number_text(a, column == 0 ? list->group[row] : list->count[row]);
    return true;
}

/* ---- Groups ---- */

static bool same_subtree(const kn_database_plan *p, uint64_t base, uint32_t x, uint32_t y)
{
    uint64_t a = base + x, b = base + y;
    size_t   width = (size_t)p->width;
    if (p->table[a] != p->table[b] || p->child_count[a] != p->child_count[b]) return false;
    if (memcmp(p->values + a * width, p->values + b * width, width * sizeof *p->values) != 0) return false;
    for (uint32_t i = 0; i < p->child_count[a]; i++)
        if (!same_subtree(p, base, p->first_child[a] + i, p->first_child[b] + i)) return false;
    return true;
}

/* For each node of a class, the first one of its group. Equal siblings are neighbours, and below equal nodes everything
 * has its counterpart. */
static void find_groups(const kn_database_plan *p, uint32_t c, uint32_t *first)
{
    uint64_t base = p->node_start[c];
    first[0] = 0;
    for (uint32_t v = 1; v < kn_database_plan_nodes(p, c); v++) {
        uint32_t up = p->parent[base + v], same = first[up], place = v - p->first_child[base + up];
        first[v] = v;
        if (same != up)
            first[v] = first[p->first_child[base + same] + place];
        else if (place > 0 && same_subtree(p, base, v - 1, v))
            first[v] = first[v - 1];
    }
}

static kn_status reserve(kn_anatomy *a, kn_error *err)
{
    const kn_database_rows *rows = kn_database_release_rows(a->release);
    for (int t = 0; t < a->original->table_count; t++) {
        if (!a->schema.grouped[t]) continue;
        a->group[t] = kn_arena_array(&a->arena, (size_t)rows->tables[t].rows + 1, sizeof **a->group);
    }
    return a->arena.failed ? kn_fail_memory(err, a->ctx, WHAT) : KN_OK;
}

/* Numbers the groups 0, 1, ... per table, in the order of released rows. `first`, `number` and `next` are scratch for the
 * nodes of a class, the same, and the tables. */
static void place_groups(kn_anatomy *a, const kn_database_plan *p, uint32_t *first, uint32_t *number, uint32_t *next)
{
    for (uint32_t c = 0; c < p->classes; c++) {
        uint32_t nodes = kn_database_plan_nodes(p, c);
        find_groups(p, c, first);
        for (uint32_t v = 0; v < nodes; v++)
            if (first[v] == v) number[v] = a->groups[p->table[p->node_start[c] + v]]++;
        for (int64_t m = 0; m < kn_database_plan_size(p, c); m++)
            for (uint32_t v = 0; v < nodes; v++) {
                int t = p->table[p->node_start[c] + v];
                if (a->group[t]) a->group[t][next[t]] = number[first[v]];
                next[t]++;
            }
    }
}

/* Gives the groups of a table their drawn numbers. */
static kn_status draw_numbers(kn_anatomy *a, int t, uint64_t seed, kn_error *err)
{
    uint32_t  n = a->groups[t];
    uint32_t *drawn = kn_alloc_array(a->ctx, (size_t)n + 1, sizeof *drawn);
    kn_rng    rng;
    if (!drawn) return kn_fail_memory(err, a->ctx, WHAT);
    kn_rng_init(&rng, seed, ((uint64_t)1 << 32) + (uint64_t)t); /* a stream that no table's keys are drawn from */
    for (uint32_t i = 0; i < n; i++) {
        uint32_t j = (uint32_t)kn_rng_below(&rng, (uint64_t)i + 1);
        drawn[i] = drawn[j];
        drawn[j] = i + 1;
    }
    for (int64_t row = 0; row < a->shapes[t].rows; row++) a->group[t][row] = drawn[a->group[t][row]];
    kn_free(drawn);
    return KN_OK;
}

static kn_status make_groups(kn_anatomy *a, const kn_database_plan *p, uint64_t seed, kn_error *err)
{
    uint32_t most = 0;
    for (uint32_t c = 0; c < p->classes; c++)
        if (kn_database_plan_nodes(p, c) > most) most = kn_database_plan_nodes(p, c);
    uint32_t *room = kn_alloc_array_zero(a->ctx, 2 * (size_t)most + (size_t)a->original->table_count, sizeof *room);
    kn_status st = room ? reserve(a, err) : kn_fail_memory(err, a->ctx, WHAT);
    if (st == KN_OK) place_groups(a, p, room, room + most, room + 2 * most);
    kn_free(room);
    for (int t = 0; t < a->original->table_count; t++) {
        if (!a->schema.grouped[t]) a->groups[t] = 0;
        if (st == KN_OK && a->group[t]) st = draw_numbers(a, t, seed, err);
    }
    return st;
}

/* ---- Lists ---- */

/* Runs of equal (group, value) in sorted records; with `list` they are stored. */
static int64_t count_runs(const kn_sort_record *records, int64_t rows, value_list *list)
{
    int64_t runs = 0;
    for (int64_t i = 0, j; i < rows; i = j, runs++) {
        for (j = i + 1; j < rows && records[j].key == records[i].key;) j++;
        if (!list) continue;
        list->group[runs] = (uint32_t)(records[i].key >> 32);
        list->code[runs] = (uint32_t)records[i].key;
        list->count[runs] = (uint32_t)(j - i);
    }
    return runs;
}

static kn_status make_list(kn_anatomy *a, value_list *list, const kn_anatomy_list_of *of, kn_error *err)
{
    const kn_column *column = &a->original->tables[of->table].table->columns[of->column];
    int64_t          rows = a->shapes[of->table].rows;
    kn_sort_record  *records = kn_alloc_array(a->ctx, (size_t)rows + 1, sizeof *records);
    if (!records) return kn_fail_memory(err, a->ctx, WHAT);
    for (int64_t row = 0; row < rows; row++) {
        uint32_t code = kn_column_code(column, kn_anatomy_original(a, of->table, row));
        records[row] = (kn_sort_record){(uint64_t)a->group[of->table][row] << 32 | code, (uint64_t)row};
    }
    kn_status st = kn_sort_records(a->ctx, records, (size_t)rows, NULL, NULL, err);
    if (st == KN_OK) {
        size_t n = (size_t)(list->rows = count_runs(records, rows, NULL));
        list->group = kn_arena_array(&a->arena, n, sizeof *list->group);
        list->code = kn_arena_array(&a->arena, n, sizeof *list->code);
        list->count = kn_arena_array(&a->arena, n, sizeof *list->count);
        if (a->arena.failed)
            st = kn_fail_memory(err, a->ctx, WHAT);
        else
            (void)count_runs(records, rows, list);
    }
    kn_free(records);
    return st;
}

static kn_status write_numbers(kn_anatomy *a, kn_error *err)
{
    uint32_t most = 0;
    for (int t = 0; t < a->original->table_count; t++)
        if (a->groups[t] > most) most = a->groups[t];
    for (int i = 0; i < a->schema.list_count; i++)
        for (int64_t row = 0; row < a->lists[i].rows; row++)
            if (a->lists[i].count[row] > most) most = a->lists[i].count[row];
    a->numbers = kn_arena_array(&a->arena, (size_t)most + 1, NUMBER_TEXT);
    if (!a->numbers) return kn_fail_memory(err, a->ctx, WHAT);
    for (uint64_t n = 0; n <= most; n++) (void)snprintf(a->numbers + n * NUMBER_TEXT, NUMBER_TEXT, "%u", (unsigned)n);
    return KN_OK;
}

/* ---- The whole ---- */

static kn_status fill(kn_anatomy *a, const kn_database_plan *plan, uint64_t seed, kn_error *err)
{
    const kn_database *db = a->original;
    KN_TRY(kn_anatomy_schema_make(&a->schema, a->ctx, db, err));
    KN_TRY(kn_database_release_make(&a->release, a->ctx, db, plan, seed, err));
    size_t tables = (size_t)db->table_count, lists = (size_t)a->schema.list_count;
    a->group = kn_arena_array_zero(&a->arena, tables, sizeof *a->group);
    a->groups = kn_arena_array_zero(&a->arena, tables, sizeof *a->groups);
    a->lists = kn_arena_array_zero(&a->arena, lists + 1, sizeof *a->lists);
    a->shapes = kn_arena_array_zero(&a->arena, tables + lists, sizeof *a->shapes);
    if (a->arena.failed) return kn_fail_memory(err, a->ctx, WHAT);
    memcpy(a->shapes, kn_database_release_rows(a->release)->tables, tables * sizeof *a->shapes);
    KN_TRY(make_groups(a, plan, seed, err));
    for (int i = 0; i < a->schema.list_count; i++) {
        KN_TRY(make_list(a, &a->lists[i], &a->schema.lists[i], err));
        a->shapes[db->table_count + i].rows = a->lists[i].rows;
    }
    KN_TRY(write_numbers(a, err));
    a->rows = (kn_database_rows){.db = a->schema.db, .tables = a->shapes, .cell = cell, .arg = a, .seed = seed};
    return KN_OK;
}

kn_status kn_anatomy_make(kn_anatomy **out, kn_context *ctx, const kn_forest *forest, const kn_database_plan *plan,
                          uint64_t seed, kn_error *err)
{
    *out = NULL;
    kn_anatomy *a = kn_alloc_zero(ctx, sizeof *a);
    if (!a) return kn_fail_memory(err, ctx, WHAT);
    a->ctx = ctx;
    kn_arena_init(&a->arena, ctx);
    a->original = forest->db;
    kn_status st = fill(a, plan, seed, err);
    if (st == KN_OK)
        *out = a;
    else
        kn_anatomy_free(a);
    return st;
}

void kn_anatomy_free(kn_anatomy *a)
{
    if (!a) return;
    kn_arena_free(&a->arena);
    kn_database_release_free(a->release);
    kn_anatomy_schema_free(&a->schema);
    kn_free(a);
}

const kn_database_rows *kn_anatomy_rows(const kn_anatomy *a)
{
    return &a->rows;
}

uint32_t kn_anatomy_original(const kn_anatomy *a, int table, int64_t row)
{
    return kn_database_release_original(a->release, table, row);
}

uint32_t kn_anatomy_group(const kn_anatomy *a, int table, int64_t row)
{
    return a->group[table] ? a->group[table][row] : 0;
}

int64_t kn_anatomy_groups(const kn_anatomy *a)
{
    int64_t groups = 0;
    for (int t = 0; t < a->original->table_count; t++) groups += a->groups[t];
    return groups;
}

const char *kn_anatomy_group_name(const kn_anatomy *a)
{
    return a->schema.group_name;
}

const char *kn_anatomy_count_name(const kn_anatomy *a)
{
    return a->schema.count_name;
}

int kn_anatomy_list(const kn_anatomy *a, int table, int column)
{
    for (int i = 0; i < a->schema.list_count; i++)
        if (a->schema.lists[i].table == table && a->schema.lists[i].column == column)
            return a->original->table_count + i;
    return -1;
}
