/* database/join.c: which row belongs to which, on both sides, and to which person.
 *
 * Keys are compared by their texts: each column's texts are translated into the numbers of the other's dictionary. The
 * number of a key of one column is the place of its row; of several columns, rows are found in a hash table that compares
 * all of them. Rows of the original that belong to nobody
 * are ignored; the release must not have any. The rows that belong to one row are adjacent, and so are those with
 * equal copied cells.
 *
 * Cost: linear, except for the order of siblings. Memory: 12 bytes per row; 8 to 16 per row of the parent while a table is joined.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>
#include <stdlib.h>

#include "kn_alloc.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_parallel.h"
#include "kn_verify_database.h"

enum { GRAIN = 1 << 14 };

/* ---- Looking up ---- */

typedef struct lookup {
    const kn_vdb_lookup *l;
    uint32_t           **translate; /* per column: of codes of `from` */
    uint32_t            *slots;     /* row + 1; 0: free. Of a key of one column by its number */
    size_t               mask;
    uint32_t            *found;
} lookup;

static uint32_t *translate_column(kn_arena *room, const kn_vdb_lookup *l, int i)
{
    const kn_vcolumn *from = &l->from->columns[l->from_columns[i]].cells;
    uint32_t         *to = kn_varray_none(room, (size_t)from->count + 1); /* the last one: missing */
    if (!kn_vcolumn_translate(to, room->ctx, from, &l->in->columns[l->in_columns[i]].cells)) room->failed = true;
    return to;
}

static uint64_t step(uint64_t hash, uint32_t code)
{
    return kn_hash_mix(hash ^ code, 0x9e3779b97f4a7c15u) + 0xd1342543de82ef95u;
}

/* A row's slot by its key; *there: the slot has a row with that key. KN_V_NONE: a cell is missing. */
static bool hash_in(const kn_vdb_lookup *l, int64_t row, uint64_t *hash)
{
    *hash = 1;
    for (int i = 0; i < l->count; i++) {
        uint32_t code = kn_vsheet_code(l->in, l->in_columns[i], row);
        if (code == kn_vsheet_distinct(l->in, l->in_columns[i])) return false;
        *hash = step(*hash, code);
    }
    *hash = kn_hash_word(*hash);
    return true;
}

static bool same_key(const kn_vdb_lookup *l, int64_t a, int64_t b)
{
    for (int i = 0; i < l->count; i++)
        if (kn_vsheet_code(l->in, l->in_columns[i], a) != kn_vsheet_code(l->in, l->in_columns[i], b)) return false;
    return true;
}

static kn_status fill_numbers(lookup *k, kn_arena *room, kn_vdb *v, int64_t *twice, kn_error *err)
{
    const kn_vsheet *in = k->l->in;
    uint32_t         missing = kn_vsheet_distinct(in, k->l->in_columns[0]);
    k->slots = kn_arena_array_zero(room, (size_t)missing + 1, sizeof *k->slots);
    if (!k->slots) return kn_vdb_no_memory(v, err);
    for (int64_t row = 0; row < in->rows; row++) {
        uint32_t code = kn_vsheet_code(in, k->l->in_columns[0], row);
        if (code != missing && !k->slots[code])
            k->slots[code] = (uint32_t)row + 1;
        else if (*twice < 0)
            *twice = row;
    }
    return KN_OK;
}

/* Do keys come in an order, each after the one before? Then they are different, and none need be remembered. */
static bool is_ordered(const kn_vdb_lookup *l)
{
    for (int64_t row = 0; row < l->in->rows; row++) {
        int order = row == 0;
        for (int i = 0; i < l->count; i++) {
            const kn_vcolumn *c = &l->in->columns[l->in_columns[i]].cells;
            uint32_t          code = kn_vcode(c, row), before = order ? 0 : kn_vcode(c, row - 1);
            if (code == c->count) return false;
            if (order == 0 && code != before) {
                if (code < before) return false;
                order = 1;
            }
        }
        if (order == 0) return false;
    }
    return true;
}

static kn_status fill(lookup *k, kn_arena *room, kn_vdb *v, int64_t *twice, kn_error *err)
{
    *twice = -1;
    if (!k->found && k->l->count > 1 && is_ordered(k->l)) return KN_OK;
    if (k->l->count == 1) return fill_numbers(k, room, v, twice, err);
    int64_t rows = k->l->in->rows;
    size_t  size = 16;
    while (size < (size_t)rows * 2) size *= 2;
    k->slots = kn_arena_array_zero(room, size, sizeof *k->slots);
    if (!k->slots) return kn_vdb_no_memory(v, err);
    k->mask = size - 1;
    for (int64_t row = 0; row < rows; row++) {
        uint64_t hash;
        if ((row & 0xffff) == 0 && kn_cancelled(v->ctx)) return kn_fail_cancelled(err);
        bool   there = !hash_in(k->l, row, &hash);
        size_t at = (size_t)hash & k->mask;
        for (; !there && k->slots[at]; at = (at + 1) & k->mask)
            if (same_key(k->l, k->slots[at] - 1, row)) break;
        if (there || k->slots[at]) {
            if (*twice < 0) *twice = row;
            continue;
        }
        k->slots[at] = (uint32_t)row + 1;
    }
    return KN_OK;
}

static uint32_t find(const lookup *k, int64_t row)
{
    const kn_vdb_lookup *l = k->l;
    uint64_t             hash = 1;
    if (l->count == 1) {
        uint32_t code = k->translate[0][kn_vsheet_code(l->from, l->from_columns[0], row)];
        return code == KN_V_NONE || k->slots[code] == 0 ? KN_V_NONE : k->slots[code] - 1;
    }
    for (int i = 0; i < l->count; i++) {
        uint32_t code = k->translate[i][kn_vsheet_code(l->from, l->from_columns[i], row)];
        if (code == KN_V_NONE) return KN_V_NONE;
        hash = step(hash, code);
    }
    for (size_t at = (size_t)kn_hash_word(hash) & k->mask; k->slots[at]; at = (at + 1) & k->mask) {
        uint32_t in = k->slots[at] - 1;
        bool     same = true;
        for (int i = 0; same && i < l->count; i++)
            same = kn_vsheet_code(l->in, l->in_columns[i], in) ==
                   k->translate[i][kn_vsheet_code(l->from, l->from_columns[i], row)];
        if (same) return in;
    }
    return KN_V_NONE;
}

static kn_status find_range(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    lookup *k = arg;
    (void)worker;
    (void)err;
    for (int64_t row = begin; row < end; row++) k->found[row] = find(k, row);
    return KN_OK;
}

kn_status kn_vdb_look_up(uint32_t *found, int64_t *twice, kn_vdb *v, const kn_vdb_lookup *l, kn_error *err)
{
    kn_arena  room = {.ctx = v->ctx};
    lookup    k = {.l = l, .found = found};
    kn_status status = fill(&k, &room, v, twice, err);
    if (found) k.translate = kn_arena_array(&room, (size_t)l->count + 1, sizeof *k.translate);
    for (int i = 0; k.translate && i < l->count; i++) k.translate[i] = translate_column(&room, l, i);
    if (status == KN_OK && room.failed) status = kn_vdb_no_memory(v, err);
    if (status == KN_OK && found) status = kn_parallel_for(v->ctx, l->from->rows, GRAIN, find_range, &k, err);
    kn_arena_free(&room);
    return status;
}

/* ---- One table ---- */

static kn_vdb_rows *side_of(kn_vdb *v, int table, bool release)
{
    return release ? &v->tables[table].release : &v->tables[table].original;
}

static kn_status join_parent(kn_vdb *v, int t, bool release, kn_error *err)
{
    const kn_vdb_table *table = &v->tables[t], *up = &v->tables[table->parent];
    int                *columns = kn_vdb_take(v, (size_t)table->link_count * 2, sizeof *columns);
    int64_t             twice = -1;
    if (!columns) return kn_vdb_no_memory(v, err);
    for (int i = 0; i < table->link_count; i++) {
        columns[i] = release ? up->released[table->target[i]] : table->target[i];
        columns[table->link_count + i] = release ? table->released[table->link[i]] : table->link[i];
    }
    kn_vdb_lookup l = {side_of(v, table->parent, release)->table, side_of(v, t, release)->table, columns,
                       columns + table->link_count, table->link_count};
    kn_vdb_rows  *r = side_of(v, t, release);
    r->parent = kn_arena_array(&v->arena, (size_t)r->rows + 1, sizeof *r->parent);
    if (!r->parent) return kn_vdb_no_memory(v, err);
    KN_TRY(kn_vdb_look_up(r->parent, &twice, v, &l, err));
    if (twice < 0) return KN_OK;
    if (!release)
        return kn_fail(err, KN_INPUT, "table \"%s\" of the %s: two rows have the same key", up->name,
                       v->of_people ? "population" : "original");
    kn_vproblem(v->notes, "table \"%s\", row %" PRId64 ": its key is missing or that of an earlier row", up->name,
                twice + 1);
    return KN_OK;
}

static void find_persons(kn_vdb *v, int t, bool release)
{
    kn_vdb_rows *r = side_of(v, t, release);
    int          shown = 0;
    r->above = t == v->person ? NULL : side_of(v, v->tables[t].parent, release);
    for (int64_t row = 0; row < r->rows; row++) {
        bool owned = kn_vdb_person_of(r, (uint32_t)row) != KN_V_NONE;
        r->owned += owned;
        if (release && !owned && shown++ < KN_VDB_SHOWN)
            kn_vproblem(v->notes, "table \"%s\", row %" PRId64 ": it belongs to nobody", v->tables[t].name, row + 1);
    }
    if (shown > KN_VDB_SHOWN) kn_vproblem(v->notes, "table \"%s\": %d rows belong to nobody", v->tables[t].name, shown);
}

/* ---- Siblings ---- */

typedef struct marking {
    const kn_vdb_table *table;
    kn_vdb_rows        *rows;
    bool                release;
} marking;

static kn_status mark_range(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    marking *m = arg;
    (void)worker;
    (void)err;
    for (int64_t row = begin; row < end; row++) {
        uint64_t hash = 1;
        for (int c = 0; c < m->table->copy_count; c++) {
            const kn_vdb_column *column = &m->table->copies[c];
            uint32_t code = kn_vsheet_code(m->rows->table, m->release ? column->release : column->original, row);
            hash = step(hash, m->release ? column->of_release[code] : column->of_original[code]);
        }
        m->rows->mark[row] = (uint32_t)(kn_hash_word(hash) >> 32);
    }
    return KN_OK;
}

uint32_t kn_vdb_no_mark(void)
{
    return (uint32_t)(kn_hash_word(1) >> 32);
}

/* Few rows belong to one row, mostly: they are put in order where they are. */
enum { FEW = 24 };

static bool before(const kn_vdb_rows *r, uint32_t a, uint32_t b)
{
    return r->mark[a] != r->mark[b] ? r->mark[a] < r->mark[b] : a < b;
}

static int by_mark(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static void order_few(const kn_vdb_rows *r, uint32_t *list, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++) {
        uint32_t row = list[i], at = i;
        for (; at > 0 && before(r, row, list[at - 1]); at--) list[at] = list[at - 1];
        list[at] = row;
    }
}

static bool order_many(kn_context *ctx, const kn_vdb_rows *r, uint32_t *list, uint32_t count)
{
    uint64_t *words = kn_alloc_array(ctx, count, sizeof *words);
    for (uint32_t i = 0; words && i < count; i++) words[i] = (uint64_t)r->mark[list[i]] << 32 | list[i];
    if (words) qsort(words, count, sizeof *words, by_mark);
    for (uint32_t i = 0; words && i < count; i++) list[i] = (uint32_t)words[i];
    kn_free(words);
    return words != NULL;
}

typedef struct ordering {
    kn_vdb      *v;
    kn_vdb_rows *rows;
} ordering;

static kn_status order_range(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    const ordering *o = arg;
    (void)worker;
    for (int64_t p = begin; p < end; p++) {
        uint32_t *list = o->rows->list + o->rows->start[p], count = o->rows->start[p + 1] - o->rows->start[p];
        if (count <= FEW)
            order_few(o->rows, list, count);
        else if (!order_many(o->v->ctx, o->rows, list, count))
            return kn_vdb_no_memory(o->v, err);
    }
    return KN_OK;
}

/* Rows are counted and dealt to their parents, in their own order; then those of each parent are put in order. */
static kn_status list_siblings(kn_vdb *v, int t, bool release, kn_error *err)
{
    kn_vdb_rows *r = side_of(v, t, release);
    ordering     o = {v, r};
    int64_t      parents = side_of(v, v->tables[t].parent, release)->rows;
    r->start = kn_arena_array_zero(&v->arena, (size_t)parents + 2, sizeof *r->start);
    r->list = kn_arena_array(&v->arena, (size_t)r->rows + 1, sizeof *r->list);
    if (v->arena.failed) return kn_vdb_no_memory(v, err);
    for (int64_t row = 0; row < r->rows; row++)
        if (r->parent[row] != KN_V_NONE) r->start[r->parent[row] + 2]++;
    for (int64_t p = 0; p < parents; p++) r->start[p + 2] += r->start[p + 1];
    for (int64_t row = 0; row < r->rows; row++)
        if (r->parent[row] != KN_V_NONE) r->list[r->start[r->parent[row] + 1]++] = (uint32_t)row;
    return kn_parallel_for(v->ctx, parents, GRAIN, order_range, &o, err);
}

static kn_status join_table(kn_vdb *v, int t, bool release, kn_error *err)
{
    kn_vdb_rows *r = side_of(v, t, release);
    if (r->rows >= (int64_t)KN_V_MISSING)
        return kn_fail(err, KN_INPUT, "table \"%s\" has too many rows", v->tables[t].name);
    if (t != v->person) KN_TRY(join_parent(v, t, release, err));
    find_persons(v, t, release);
    marking m = {&v->tables[t], r, release};
    r->mark = kn_arena_array(&v->arena, (size_t)r->rows + 1, sizeof *r->mark);
    if (!r->mark) return kn_vdb_no_memory(v, err);
    KN_TRY(kn_parallel_for(v->ctx, r->rows, GRAIN, mark_range, &m, err));
    return t == v->person ? KN_OK : list_siblings(v, t, release, err);
}

kn_status kn_vdb_join_original(kn_vdb *v, kn_error *err)
{
    for (int i = 0; i < v->table_count; i++) KN_TRY(join_table(v, v->order[i], false, err));
    return KN_OK;
}

kn_status kn_vdb_join(kn_vdb *v, kn_error *err)
{
    for (int i = 0; i < v->table_count; i++) {
        int t = v->order[i];
        KN_TRY(join_table(v, t, false, err));
        KN_TRY(join_table(v, t, true, err));
        v->verified[t].rows = v->tables[t].release.rows;
    }
    return KN_OK;
}
