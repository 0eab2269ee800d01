/* kn_table_order.c: the rows of a table in the order of their values (kn_table_select.h).
 *
 * As many columns as fit into 64 bits are the key of a radix sort; the others break ties. Rows that are equal in
 * every column are interchangeable, so a method that takes the rows in this order does not depend on the order of the
 * input. Rows that are equal only in the first columns are spread evenly by their other values: a method that
 * separates them would otherwise put rows with the same sensitive value together.
 *
 * Cost: O(rows), and comparisons among equal keys. Memory: 41 bytes per row.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_exact.h"
#include "kn_pages.h"
#include "kn_parallel.h"
#include "kn_sort.h"
#include "kn_table_select.h"

#define WHAT "ordering rows by value"

enum { GRAIN = 1 << 14 /* rows of a range */ };

typedef struct ordering {
    const kn_table *table;
    kn_sort_record *records; /* (packed columns, row) in order */
    int            *columns; /* all of them, the first ones first */
    int             count, packed, first_count;
    int             below; /* bits of a key that belong to no first column */
} ordering;

static uint32_t code_at(const ordering *o, int i, uint64_t row)
{
    return kn_column_code(&o->table->columns[o->columns[i]], (int64_t)row);
}

static int by_the_rest(const void *arg, uint64_t a, uint64_t b)
{
    const ordering *o = arg;
    for (int i = o->packed; i < o->count; i++) {
        uint32_t x = code_at(o, i, a), y = code_at(o, i, b);
        if (x != y) return x < y ? -1 : 1;
    }
    return a < b ? -1 : a > b;
}

static int bits_of(const ordering *o, int i)
{
    uint32_t most = o->table->columns[o->columns[i]].dict.count; /* the code of a missing cell */
    return most == 0 ? 0 : 32 - __builtin_clz(most);
}

/* The named columns, then the others in their order. */
static void list_columns(ordering *o, const int *first)
{
    for (int i = 0; i < o->first_count; i++) o->columns[o->count++] = first[i];
    for (int c = 0; c < o->table->column_count; c++) {
        int i = 0;
        while (i < o->first_count && first[i] != c) i++;
        if (i == o->first_count) o->columns[o->count++] = c;
    }
    for (int bits = 0; o->packed < o->count && (bits += bits_of(o, o->packed)) <= 64; o->packed++)
        if (o->packed >= o->first_count) o->below += bits_of(o, o->packed);
}

static kn_status pack_rows(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    const ordering *o = arg;
    (void)worker;
    (void)err;
    for (int64_t r = begin; r < end; r++) o->records[r] = (kn_sort_record){0, (uint64_t)r};
    for (int i = 0; i < o->packed; i++) {
        const kn_column *column = &o->table->columns[o->columns[i]];
        int              bits = bits_of(o, i);
        for (int64_t r = begin; r < end; r++) o->records[r].key = o->records[r].key << bits | kn_column_code(column, r);
    }
    return KN_OK;
}

static kn_status sort_rows(ordering *o, kn_context *ctx, kn_error *err)
{
    KN_TRY(kn_parallel_for(ctx, o->table->rows, GRAIN, pack_rows, o, err));
    return kn_sort_records(ctx, o->records, (size_t)o->table->rows, by_the_rest, o, err);
}

/* Are two records equal in the columns [0, end), of which `below` bits of their keys are none? */
static bool same(const ordering *o, int end, int below, int64_t a, int64_t b)
{
    const kn_sort_record *x = &o->records[a], *y = &o->records[b];
    if (a == b) return true;
    if (below < 64 && (x->key ^ y->key) >> below != 0) return false;
    for (int i = o->packed; i < end; i++)
        if (code_at(o, i, x->id) != code_at(o, i, y->id)) return false;
    return true;
}

/* Records [begin, end) of the list are equal in the first columns. Of n that are equal in all columns, the j-th is put
 * at (2j + 1) / 2n of the range; ties by the rows' values. */
static kn_status spread(const ordering *o, kn_context *ctx, int64_t *list, int64_t begin, int64_t end,
                        kn_sort_record *places, kn_error *err)
{
    int64_t kinds = 1, first = begin;
    for (int64_t i = begin + 1; i < end; i++) kinds += !same(o, o->count, 0, list[i - 1], list[i]);
    if (kinds == 1 || kinds == end - begin) return KN_OK; /* they are spread already */
    for (int64_t i = begin; i < end; i++) {
        if (i + 1 < end && same(o, o->count, 0, list[i], list[i + 1])) continue;
        uint64_t n = (uint64_t)(i + 1 - first);
        for (int64_t j = first; j <= i; j++)
            places[j - begin] = (kn_sort_record){(uint64_t)(((kn_u128)(2 * (uint64_t)(j - first) + 1) << 32) / n),
                                                 (uint64_t)(j - begin)};
        first = i + 1;
    }
    KN_TRY(kn_sort_records(ctx, places, (size_t)(end - begin), NULL, NULL, err));
    for (int64_t i = 0; i < end - begin; i++) places[i].id = (uint64_t)list[begin + (int64_t)places[i].id];
    for (int64_t i = 0; i < end - begin; i++) list[begin + i] = (int64_t)places[i].id;
    return KN_OK;
}

typedef struct listing {
    const ordering *o;
    kn_context     *ctx;
    int64_t        *list;
    bool           *begins; /* per entry: it differs from the one before in the first columns */
    int64_t         count;
    kn_sort_record *places; /* room for a place per entry */
} listing;

static kn_status list_plain(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    const listing *l = arg;
    (void)worker;
    (void)err;
    for (int64_t i = begin; i < end; i++) l->list[i] = i;
    return KN_OK;
}

static kn_status find_begins(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    const listing *l = arg;
    (void)worker;
    (void)err;
    for (int64_t i = begin; i < end; i++)
        l->begins[i] = i == 0 || !same(l->o, l->o->first_count, l->o->below, l->list[i - 1], l->list[i]);
    return KN_OK;
}

/* The entries that are equal in the first columns, where the first of them is among [first, last). */
static kn_status spread_range(void *arg, int64_t first, int64_t last, int worker, kn_error *err)
{
    const listing *l = arg;
    (void)worker;
    while (first < last && !l->begins[first]) first++;
    for (int64_t begin = first, end; begin < last; begin = end) {
        for (end = begin + 1; end < l->count && !l->begins[end];) end++;
        KN_TRY(spread(l->o, l->ctx, l->list, begin, end, l->places + begin, err));
    }
    return KN_OK;
}

static kn_status name_rows(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    const listing *l = arg;
    (void)worker;
    (void)err;
    for (int64_t i = begin; i < end; i++) l->list[i] = (int64_t)l->o->records[l->list[i]].id;
    return KN_OK;
}

static kn_status list_in_order(listing *l, kn_error *err)
{
    const kn_table *table = l->o->table;
    int64_t         n = 0;
    if (!l->places || !l->begins) return kn_fail_memory(err, l->ctx, WHAT);
    if (!table->counts) KN_TRY(kn_parallel_for(l->ctx, l->count, GRAIN, list_plain, l, err));
    for (int64_t i = 0; table->counts && i < table->rows; i++)
        for (int64_t times = kn_table_weight(table, (int64_t)l->o->records[i].id); times > 0; times--) l->list[n++] = i;
    KN_TRY(kn_parallel_for(l->ctx, l->count, GRAIN, find_begins, l, err));
    KN_TRY(kn_parallel_for(l->ctx, l->count, GRAIN, spread_range, l, err));
    return kn_parallel_for(l->ctx, l->count, GRAIN, name_rows, l, err);
}

/* A row that stands for n is listed n times. */
static kn_status list_rows(const ordering *o, kn_context *ctx, int64_t *list, int64_t count, kn_error *err)
{
    listing l = {.o = o, .ctx = ctx, .list = list, .count = count};
    l.places = kn_alloc_array(ctx, (size_t)count + 1, sizeof *l.places);
    l.begins = kn_alloc_array(ctx, (size_t)count + 1, sizeof *l.begins);
    kn_status st = list_in_order(&l, err);
    KN_PAGES_FREE(ctx, l.places, l.begins);
    return st;
}

kn_status kn_table_order(int64_t **out, kn_context *ctx, const kn_table *table, const int *first, int first_count,
                         kn_error *err)
{
    ordering o = {.table = table, .first_count = first_count};
    int64_t  count = kn_table_total(table);
    int64_t *list = kn_alloc_array(ctx, (size_t)count + 1, sizeof *list);
    o.records = kn_alloc_array(ctx, (size_t)table->rows + 1, sizeof *o.records);
    o.columns = kn_alloc_array(ctx, (size_t)(table->column_count + first_count) + 1, sizeof *o.columns);
    kn_status st = o.records && list && o.columns ? KN_OK : kn_fail_memory(err, ctx, WHAT);
    if (st == KN_OK) {
        list_columns(&o, first);
        st = sort_rows(&o, ctx, err);
    }
    if (st == KN_OK) st = list_rows(&o, ctx, list, count, err);
    KN_PAGES_FREE(ctx, o.records, o.columns);
    if (st == KN_OK)
        *out = list;
    else
        kn_free(list);
    return st;
}

/* ---- A table in this order ---- */

typedef struct arranging {
    const kn_table *from;
    kn_table       *to;
    const int64_t  *rows;
} arranging;

/* Four at a time: this is all that counted rows cost a method that takes rows one by one. */
#define GATHER(TYPE)                                                                                                   \
    do {                                                                                                               \
        const TYPE *old = from->codes;                                                                                 \
        TYPE *new = to->codes;                                                                                         \
        int64_t i = begin;                                                                                             \
        for (; i + 4 <= end; i += 4) {                                                                                 \
            TYPE a = old[rows[i]], b = old[rows[i + 1]], c = old[rows[i + 2]], d = old[rows[i + 3]];                   \
            new[i] = a, new[i + 1] = b, new[i + 2] = c, new[i + 3] = d;                                                \
        }                                                                                                              \
        for (; i < end; i++) new[i] = old[rows[i]];                                                                    \
    } while (0)

static void gather(const kn_column *from, kn_column *to, const int64_t *rows, int64_t begin, int64_t end)
{
    switch (from->width) {
    case 1: GATHER(uint8_t); break;
    case 2: GATHER(uint16_t); break;
    default: GATHER(uint32_t); break;
    }
}

static void *copy(kn_context *ctx, const void *from, size_t count, size_t size)
{
    void *to = from ? kn_alloc_array(ctx, count + 1, size) : NULL;
    return to ? memcpy(to, from, count * size) : NULL;
}

static kn_status arrange_columns(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    (void)worker;
    const arranging *a = arg;
    kn_context      *ctx = a->to->ctx;
    for (int64_t c = begin; c < end; c++) {
        const kn_column     *from = &a->from->columns[c];
        const kn_dictionary *dict = &from->dict;
        kn_column           *to = &a->to->columns[c];
        *to = *from;
        to->name = kn_strndup(ctx, from->name, strlen(from->name));
        to->codes = kn_alloc_array_zero(ctx, (size_t)a->to->rows + 1, (size_t)from->width);
        to->dict.offsets = copy(ctx, dict->offsets, (size_t)dict->count + 1, sizeof *dict->offsets);
        to->dict.bytes = copy(ctx, dict->bytes, (size_t)dict->offsets[dict->count], 1);
        to->dict.integers = copy(ctx, dict->integers, dict->count, sizeof *dict->integers);
        to->dict.decimals = copy(ctx, dict->decimals, dict->count, sizeof *dict->decimals);
        bool numbers = (!dict->integers || to->dict.integers) && (!dict->decimals || to->dict.decimals);
        if (!to->name || !to->codes || !to->dict.offsets || !to->dict.bytes || !numbers)
            return kn_fail_memory(err, ctx, WHAT);
    }
    return KN_OK;
}

static int64_t pieces(const kn_table *table)
{
    return (table->rows + GRAIN - 1) / GRAIN;
}

/* A piece of the rows of one column after the other. */
static kn_status gather_pieces(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    (void)worker;
    (void)err;
    const arranging *a = arg;
    for (int64_t i = begin; i < end; i++) {
        int64_t c = i / pieces(a->to), first = i % pieces(a->to) * GRAIN, last = first + GRAIN;
        gather(&a->from->columns[c], &a->to->columns[c], a->rows, first, last < a->to->rows ? last : a->to->rows);
    }
    return KN_OK;
}

kn_status kn_table_arrange(kn_table **out, kn_context *ctx, const kn_table *table, const int64_t *rows, kn_error *err)
{
    int64_t   count = kn_table_total(table);
    kn_table *to = kn_alloc_zero(ctx, sizeof *to);
    *out = NULL;
    if (!to) return kn_fail_memory(err, ctx, WHAT);
    *to = (kn_table){.ctx = ctx, .rows = count, .column_count = table->column_count, .delimiter = table->delimiter};
    to->columns = kn_alloc_array_zero(ctx, (size_t)to->column_count + 1, sizeof *to->columns);
    if (table->counts) to->counts = kn_alloc_array(ctx, (size_t)count + 1, sizeof *to->counts);
    kn_status st = to->columns && (!table->counts || to->counts) ? KN_OK : kn_fail_memory(err, ctx, WHAT);
    for (int64_t i = 0; st == KN_OK && to->counts && i < count; i++) to->counts[i] = 1;
    to->total = count;
    arranging a = {table, to, rows};
    if (st == KN_OK) st = kn_parallel_for(ctx, kn_table_all_columns(to), 1, arrange_columns, &a, err);
    if (st == KN_OK) st = kn_parallel_for(ctx, to->column_count * pieces(to), 1, gather_pieces, &a, err);
    if (st != KN_OK)
        kn_table_free(to);
    else
        *out = to;
    return st;
}
