/* kn_forest.c: a database → the trees of its persons, canonical and with equal subtrees under one number.
 *
 * Interface: kn_forest.h. Tables are processed from the leaves of the schema to the table of persons. Each row gets a
 * signature: the leaves of its quasi-identifiers, then, per child table, how many children it has and their numbers
 * in order. Equal signatures are found by hashing; the distinct ones are sorted, and their ranks are the numbers. Those of
 * rows without children are, if few, numbers themselves, which are worked out on all threads.
 * Rows that share a number are sorted by the other released columns and what is below them, so that the order of rows
 * never matters. A counting sort by parent puts siblings together, which then are put in order. At the end the trees are
 * written, several persons at a time.
 *
 * Cost: linear in the rows, and sorting of distinct signatures, of rows that share one, and of siblings. Memory: 16 bytes per
 * row while building, 32 more per row of those that share one number; 22 per node. Works on trees, not on the join (a
 * person without books would vanish from an inner join).
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_forest.h"

#include <string.h>

#include "kn_alloc.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_hash.h"
#include "kn_parallel.h"
#include "kn_sort.h"

#define WHAT "building entity trees"

enum {
    AT_ONCE = 1 << 10,     /* parents, numbers or persons that one thread takes at a time      */
    FEW_SIBLINGS = 24,     /* are sorted where they are                                        */
    MANY_RIVALS = 1 << 16, /* rows of one number that all threads sort together                */
    PIECES = 1 << 6,       /* of the numbers whose rows are sorted, if these are few           */
    MANY_ROWS = 1 << 14,   /* that one thread takes at a time                                  */
    MANY_NUMBERS = 1 << 20 /* for rows that have nothing below them                            */
};

/* One table while the forest is built. Rows that belong to no person have parent KN_ROW_NONE. */
typedef struct layer {
    const kn_database_table *t;
    int64_t                  rows, owned;
    uint32_t                *parent; /* NULL for the table of persons                       */
    uint32_t                *number; /* per row: its subtree, counted within the table      */
    uint32_t                *rank;   /* per row: its place among all rows, ties share the first; may be `number` */
    uint32_t                *start;  /* per row of the parent table + 1: where in `list`    */
    uint32_t                *list;   /* rows in order: by parent, then rank                 */
    uint32_t                 numbers;
    bool                     bare; /* nothing but quasi-identifiers, here and below: ranks are numbers */
} layer;

typedef struct builder {
    kn_context        *ctx;
    const kn_database *db;
    kn_forest         *f;
    layer             *layers; /* by table */
    uint32_t          *base;   /* by table: the subtrees of those before */
} builder;

/* ---- Whose row is it ---- */

static kn_status find_owners(builder *b, int table, kn_error *err)
{
    layer             *l = &b->layers[table];
    const kn_forest   *f = b->f;
    const kn_database *db = b->db;
    l->t = &db->tables[table];
    l->rows = l->owned = l->t->table->rows;
    if (table == db->entity) return KN_OK;
    const layer *above = &b->layers[l->t->parent];
    KN_TRY(kn_database_join(&l->parent, db, table, l->t->link, NULL, err));
    for (int64_t r = 0; r < l->rows; r++) {
        uint32_t named = l->parent[r];
        if (named < KN_ROW_MISSING && (!above->parent || above->parent[named] != KN_ROW_NONE)) continue;
        int64_t *count = named == KN_ROW_MISSING ? f->missing : named == KN_ROW_NONE ? f->dangling : f->lost;
        count[table]++;
        l->parent[r] = KN_ROW_NONE;
        l->owned--;
    }
    return KN_OK;
}

static void drop_rank(layer *l)
{
    if (l->rank != l->number) kn_free(l->rank);
    l->rank = NULL;
}

static inline bool owned(const layer *l, int64_t row)
{
    return !l->parent || l->parent[row] != KN_ROW_NONE;
}

/* ---- Signatures ---- */

/* Where a signature is found by its hash; with that beside it a table grows, and most misses are decided, without a look at words. */
typedef struct sign_slot {
    uint32_t number; /* UINT32_MAX: free */
    uint32_t hash;
} sign_slot;

/* Distinct signatures: words[offsets[i] .. offsets[i + 1]). */
typedef struct signatures {
    kn_context *ctx;
    uint32_t   *words;
    size_t      word_count, word_capacity;
    uint64_t   *offsets;
    size_t      count, capacity;
    sign_slot  *slots;
    size_t      mask;
} signatures;

static bool signatures_init(signatures *s, kn_context *ctx)
{
    *s = (signatures){.ctx = ctx, .mask = 1023};
    s->slots = kn_alloc_array(ctx, s->mask + 1, sizeof *s->slots);
    if (!KN_GROW(ctx, &s->offsets, &s->capacity, 2)) return false;
    if (!KN_GROW(ctx, &s->words, &s->word_capacity, 16)) return false; /* from the start: signatures may be empty */
    if (!s->slots) return false;
    s->offsets[0] = 0;
    memset(s->slots, 0xff, (s->mask + 1) * sizeof *s->slots);
    return true;
}

static void signatures_free(signatures *s)
{
    KN_FREE(s->words, s->offsets, s->slots);
}

static bool push(signatures *s, uint32_t word)
{
    if (s->word_count == s->word_capacity) {
        if (!KN_GROW(s->ctx, &s->words, &s->word_capacity, s->word_count + 1)) return false;
    }
    s->words[s->word_count++] = word;
    return true;
}

static bool rehash(signatures *s)
{
    size_t     mask = s->mask * 2 + 1;
    sign_slot *slots = kn_alloc_array(s->ctx, mask + 1, sizeof *slots);
    if (!slots) return false;
    memset(slots, 0xff, (mask + 1) * sizeof *slots);
    for (size_t i = 0; i <= s->mask; i++) {
        if (s->slots[i].number == UINT32_MAX) continue;
        size_t at = s->slots[i].hash & mask;
        while (slots[at].number != UINT32_MAX) at = (at + 1) & mask;
        slots[at] = s->slots[i];
    }
    kn_free(s->slots);
    s->slots = slots;
    s->mask = mask;
    return true;
}

/* The number of the signature whose words were pushed since the last call. */
static bool intern(signatures *s, uint32_t *out)
{
    uint64_t begin = s->offsets[s->count], end = s->word_count;
    size_t   size = (size_t)(end - begin) * sizeof *s->words;
    if (2 * s->count >= s->mask && !rehash(s)) return false;
    uint32_t hash = (uint32_t)kn_hash_bytes(s->words + begin, size);
    for (size_t at = hash & s->mask;; at = (at + 1) & s->mask) {
        uint32_t i = s->slots[at].number;
        if (i == UINT32_MAX) {
            if (!KN_GROW(s->ctx, &s->offsets, &s->capacity, s->count + 2)) return false;
            s->slots[at] = (sign_slot){ *out = (uint32_t)s->count++, hash};
            s->offsets[s->count] = end;
            return true;
        }
        if (s->slots[at].hash != hash || s->offsets[i + 1] - s->offsets[i] != end - begin) continue;
        if (memcmp(s->words + s->offsets[i], s->words + begin, size) != 0) continue;
        s->word_count = begin; /* known: its words are not needed twice */
        *out = i;
        return true;
    }
}

static uint32_t word_at(const signatures *s, uint64_t i, uint64_t at)
{
    uint64_t begin = s->offsets[i], end = s->offsets[i + 1];
    return begin + at < end ? s->words[begin + at] : 0;
}

static int compare_signatures(const void *arg, uint64_t a, uint64_t b)
{
    const signatures *s = arg;
    const uint32_t   *x = s->words + s->offsets[a], *y = s->words + s->offsets[b];
    uint64_t          m = s->offsets[a + 1] - s->offsets[a], n = s->offsets[b + 1] - s->offsets[b];
    for (uint64_t i = 0; i < m && i < n; i++)
        if (x[i] != y[i]) return x[i] < y[i] ? -1 : 1;
    return m < n ? -1 : m > n;
}

/* Turns the numbers in `of_row` (of the rows that somebody owns) into ranks by value. */
static kn_status rank_signatures(const signatures *s, const layer *l, uint32_t *of_row, kn_error *err)
{
    kn_sort_record *records = kn_alloc_array(s->ctx, s->count + 1, sizeof *records);
    uint32_t       *rank = kn_alloc_array(s->ctx, s->count + 1, sizeof *rank);
    kn_status       status = KN_OK;
    if (!records || !rank) {
        status = kn_fail_memory(err, s->ctx, WHAT);
    } else {
        for (size_t i = 0; i < s->count; i++)
            records[i] = (kn_sort_record){(uint64_t)word_at(s, i, 0) << 32 | word_at(s, i, 1), i};
        status = kn_sort_records(s->ctx, records, s->count, compare_signatures, s, err);
    }
    if (status == KN_OK) {
        for (size_t i = 0; i < s->count; i++) rank[records[i].id] = (uint32_t)i;
        for (int64_t r = 0; r < l->rows; r++)
            if (owned(l, r)) of_row[r] = rank[of_row[r]];
    }
    KN_FREE(records, rank);
    return status;
}

/* The numbers of a row's children, per child table. */
static bool push_children(const builder *b, signatures *s, const layer *l, int64_t row)
{
    for (int c = 0; c < l->t->child_count; c++) {
        const layer *below = &b->layers[l->t->children[c]];
        if (!push(s, below->start[row + 1] - below->start[row])) return false;
        for (uint32_t i = below->start[row]; i < below->start[row + 1]; i++)
            if (!push(s, below->number[below->list[i]])) return false;
    }
    return true;
}

static bool push_quasi(signatures *s, const layer *l, int64_t row)
{
    for (int q = 0; q < l->t->quasi_count; q++) {
        int c = l->t->quasi[q];
        if (!push(s, l->t->columns[c].hierarchy->leaf_of_code[kn_column_code(&l->t->table->columns[c], row)]))
            return false;
    }
    return true;
}

/* Released columns that are neither keys nor quasi-identifiers. */
static bool is_other(const kn_database_column *d)
{
    return d->has_role && (d->role == KN_ROLE_SENSITIVE || d->role == KN_ROLE_KEEP);
}

static bool is_bare(const builder *b, const layer *l)
{
    for (int c = 0; c < l->t->table->column_count; c++)
        if (is_other(&l->t->columns[c])) return false;
    for (int c = 0; c < l->t->child_count; c++)
        if (!b->layers[l->t->children[c]].bare) return false;
    return true;
}

/* ---- Rows that have nothing below them ---- */

/* Their signatures are the digits of a number, in whose order they are; 0: there are too many such numbers. */
static uint32_t count_plain(const layer *l)
{
    uint64_t count = l->t->child_count > 0 ? MANY_NUMBERS + 1 : 1;
    for (int q = 0; q < l->t->quasi_count && count <= MANY_NUMBERS; q++)
        count *= (uint64_t)l->t->columns[l->t->quasi[q]].hierarchy->leaves + 1; /* the last: missing */
    return count <= MANY_NUMBERS ? (uint32_t)count : 0;
}

static kn_status plain_range(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    const layer *l = arg;
    (void)worker;
    (void)err;
    for (int64_t r = begin; r < end; r++) l->number[r] = 0;
    for (int q = 0; q < l->t->quasi_count; q++) {
        const kn_column    *column = &l->t->table->columns[l->t->quasi[q]];
        const kn_hierarchy *h = l->t->columns[l->t->quasi[q]].hierarchy;
        for (int64_t r = begin; r < end; r++)
            l->number[r] = l->number[r] * (h->leaves + 1) + h->leaf_of_code[kn_column_code(column, r)];
    }
    return KN_OK;
}

typedef struct plain_ranks {
    const layer *l;
    uint32_t    *rank; /* per number */
} plain_ranks;

static kn_status rank_plain_range(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    const plain_ranks *p = arg;
    (void)worker;
    (void)err;
    for (int64_t r = begin; r < end; r++)
        if (owned(p->l, r)) p->l->number[r] = p->rank[p->l->number[r]];
    return KN_OK;
}

/* The same as by signatures, without looking them up. */
static kn_status number_plain(const builder *b, layer *l, uint32_t count, kn_error *err)
{
    plain_ranks p = {l, kn_alloc_array_zero(b->ctx, (size_t)count, sizeof *p.rank)};
    kn_status   status = p.rank ? KN_OK : kn_fail_memory(err, b->ctx, WHAT);
    if (status == KN_OK) status = kn_parallel_for(b->ctx, l->rows, MANY_ROWS, plain_range, l, err);
    for (int64_t r = 0; status == KN_OK && r < l->rows; r++)
        if (owned(l, r)) p.rank[l->number[r]] = 1;
    for (uint32_t i = 0; status == KN_OK && i < count; i++) {
        bool there = p.rank[i];
        p.rank[i] = l->numbers;
        l->numbers += there;
    }
    if (status == KN_OK) status = kn_parallel_for(b->ctx, l->rows, MANY_ROWS, rank_plain_range, &p, err);
    kn_free(p.rank);
    return status;
}

/* ---- Numbers ---- */

/* Gives every row that somebody owns its number: the rank of its signature. */
static kn_status number_rows(const builder *b, layer *l, kn_error *err)
{
    uint32_t plain = count_plain(l);
    if (plain > 0) return number_plain(b, l, plain, err);
    signatures s;
    kn_status  status = KN_OK;
    bool       ok = signatures_init(&s, b->ctx);
    for (int64_t r = 0; ok && status == KN_OK && r < l->rows; r++) {
        if ((r & 0xffff) == 0 && kn_cancelled(b->ctx)) status = kn_fail_cancelled(err);
        if (!owned(l, r)) continue;
        ok = push_quasi(&s, l, r) && push_children(b, &s, l, r) && intern(&s, &l->number[r]);
    }
    if (!ok) status = kn_fail_memory(err, b->ctx, WHAT);
    if (status == KN_OK) status = rank_signatures(&s, l, l->number, err);
    l->numbers = (uint32_t)s.count;
    signatures_free(&s);
    return status;
}

/* ---- Order ---- */

/* What decides between rows with equal numbers: the other released columns, then the ranks of their children. */
typedef struct rivals {
    const builder  *b;
    const layer    *l;
    int             others; /* columns */
    const int      *other;
    const uint32_t *end; /* where each number's rows end in the list */
    uint32_t       *list;
} rivals;

static int compare_children(const rivals *r, uint64_t x, uint64_t y)
{
    for (int c = 0; c < r->l->t->child_count; c++) {
        const layer    *below = &r->b->layers[r->l->t->children[c]];
        const uint32_t *p = below->list + below->start[x], *q = below->list + below->start[y];
        uint32_t        m = below->start[x + 1] - below->start[x], n = below->start[y + 1] - below->start[y];
        if (m != n) return m < n ? -1 : 1;
        for (uint32_t i = 0; i < m; i++)
            if (below->rank[p[i]] != below->rank[q[i]]) return below->rank[p[i]] < below->rank[q[i]] ? -1 : 1;
    }
    return 0;
}

/* Except for the first column, which is in the key of the records. */
static int compare_rivals(const rivals *r, uint64_t x, uint64_t y)
{
    for (int i = 1; i < r->others; i++) {
        const kn_column *column = &r->l->t->table->columns[r->other[i]];
        uint32_t         p = kn_column_code(column, (int64_t)x), q = kn_column_code(column, (int64_t)y);
        if (p != q) return p < q ? -1 : 1;
    }
    return compare_children(r, x, y);
}

static int break_tie(const void *arg, uint64_t x, uint64_t y)
{
    int c = compare_rivals(arg, x, y);
    return c ? c : x < y ? -1 : x > y;
}

/* Rows that somebody owns, by number; equal numbers in the order of the table. `start` (numbers + 1, all 0) receives
 * where each number's rows end. */
static void by_number(const layer *l, uint32_t *start, uint32_t *list)
{
    for (int64_t r = 0; r < l->rows; r++)
        if (owned(l, r)) start[l->number[r] + 1]++;
    for (uint32_t i = 0; i < l->numbers; i++) start[i + 1] += start[i];
    for (int64_t r = 0; r < l->rows; r++)
        if (owned(l, r)) list[start[l->number[r]]++] = (uint32_t)r;
}

/* Puts rows with one number in order and ranks them: `first` is the place of their first among all rows. */
static kn_status rank_rivals(const rivals *r, uint32_t *list, uint32_t count, uint32_t first, kn_sort_record *room,
                             kn_error *err)
{
    const layer *l = r->l;
    uint32_t     rank = first;
    if (count == 1) {
        l->rank[*list] = rank;
        return KN_OK;
    }
    for (uint32_t i = 0; i < count; i++)
        room[i] =
            (kn_sort_record){r->others > 0 ? kn_column_code(&l->t->table->columns[r->other[0]], list[i]) : 0, list[i]};
    KN_TRY(kn_sort_records(r->b->ctx, room, count, break_tie, r, err));
    for (uint32_t i = 0; i < count; i++) {
        if (i > 0 && (room[i].key != room[i - 1].key || compare_rivals(r, room[i - 1].id, room[i].id) != 0))
            rank = first + i;
        list[i] = (uint32_t)room[i].id;
        l->rank[list[i]] = rank;
    }
    return KN_OK;
}

/* The rows of numbers [begin, end) that are alike in number: all of those, or only those of many rows, or of few. */
static kn_status rank_numbers(const rivals *r, int64_t begin, int64_t end, bool many, kn_error *err)
{
    uint32_t  most = 0, at = begin > 0 ? r->end[begin - 1] : 0, from = at;
    kn_status status = KN_OK;
    for (int64_t n = begin; n < end; at = r->end[n++])
        if ((r->end[n] - at >= MANY_RIVALS) == many && r->end[n] - at > most) most = r->end[n] - at;
    if (most == 0) return KN_OK;
    kn_sort_record *room = kn_alloc_array(r->b->ctx, (size_t)most, sizeof *room);
    if (!room) return kn_fail_memory(err, r->b->ctx, WHAT);
    at = from;
    for (int64_t n = begin; n < end && status == KN_OK; at = r->end[n++])
        if (r->end[n] > at && (r->end[n] - at >= MANY_RIVALS) == many)
            status = rank_rivals(r, r->list + at, r->end[n] - at, at, room, err);
    kn_free(room);
    return status;
}

static kn_status rank_range(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    (void)worker;
    return rank_numbers(arg, begin, end, false, err);
}

/* Fills in the ranks, `list` being by number, and puts it in their order. `end`: where each number's rows end. Where many rows
 * share a number they are sorted on all threads; else several numbers are at a time. */
static kn_status rank_rows(const builder *b, layer *l, const uint32_t *end, uint32_t *list, kn_error *err)
{
    rivals    r = {.b = b, .l = l, .end = end, .list = list};
    int      *others = kn_alloc_array(b->ctx, (size_t)l->t->table->column_count + 1, sizeof *others);
    kn_status status = others ? KN_OK : kn_fail_memory(err, b->ctx, WHAT);
    for (int c = 0; status == KN_OK && c < l->t->table->column_count; c++)
        if (is_other(&l->t->columns[c])) others[r.others++] = c;
    r.other = others;
    if (status == KN_OK) status = rank_numbers(&r, 0, l->numbers, true, err);
    int64_t piece = l->numbers / PIECES + 1 < AT_ONCE ? l->numbers / PIECES + 1 : AT_ONCE;
    if (status == KN_OK) status = kn_parallel_for(b->ctx, l->numbers, piece, rank_range, &r, err);
    kn_free(others);
    return status;
}

/* All rows that somebody owns, by rank; equal ranks in the order of the table. */
static kn_status sort_rows(const builder *b, layer *l, uint32_t **out, kn_error *err)
{
    uint32_t *start = kn_alloc_array_zero(b->ctx, (size_t)l->numbers + 1, sizeof *start);
    uint32_t *list = *out = kn_alloc_array(b->ctx, (size_t)l->owned + 1, sizeof *list);
    kn_status status = KN_OK;
    if (!start || !list) {
        status = kn_fail_memory(err, b->ctx, WHAT);
    } else {
        by_number(l, start, list);
        if (l->rank != l->number) status = rank_rows(b, l, start, list, err);
    }
    kn_free(start);
    return status;
}

/* Siblings in the order of the table → by rank, those with equal ranks as they were. */
static kn_status sort_siblings(const builder *b, const layer *l, uint32_t *list, uint32_t count, kn_error *err)
{
    if (count <= FEW_SIBLINGS) {
        for (uint32_t i = 1; i < count; i++) {
            uint32_t row = list[i], at = i;
            for (; at > 0 && l->rank[list[at - 1]] > l->rank[row]; at--) list[at] = list[at - 1];
            list[at] = row;
        }
        return KN_OK;
    }
    kn_sort_record *room = kn_alloc_array(b->ctx, (size_t)count, sizeof *room);
    if (!room) return kn_fail_memory(err, b->ctx, WHAT);
    for (uint32_t i = 0; i < count; i++) room[i] = (kn_sort_record){l->rank[list[i]], list[i]};
    kn_status status = kn_sort_records(b->ctx, room, count, NULL, NULL, err);
    for (uint32_t i = 0; i < count; i++) list[i] = (uint32_t)room[i].id;
    kn_free(room);
    return status;
}

typedef struct siblings {
    const builder *b;
    const layer   *l;
} siblings;

static kn_status sort_families(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    const siblings *s = arg;
    const layer    *l = s->l;
    (void)worker;
    for (int64_t p = begin; p < end; p++)
        KN_TRY(sort_siblings(s->b, l, l->list + l->start[p], l->start[p + 1] - l->start[p], err));
    return KN_OK;
}

/* Makes start and list of a child table: first in the table's order, in which siblings are mostly neighbours. */
static kn_status by_parent(const builder *b, layer *l, kn_error *err)
{
    size_t parents = (size_t)b->layers[l->t->parent].rows;
    l->start = kn_alloc_array_zero(b->ctx, parents + 2, sizeof *l->start);
    l->list = kn_alloc_array(b->ctx, (size_t)l->owned + 1, sizeof *l->list);
    if (!l->start || !l->list) return kn_fail_memory(err, b->ctx, WHAT);
    /* Counts two places up; after adding, start[p + 1] is where p's rows begin, and filling moves it to their end. */
    for (int64_t r = 0; r < l->rows; r++)
        if (owned(l, r)) l->start[l->parent[r] + 2]++;
    for (size_t p = 0; p < parents; p++) l->start[p + 2] += l->start[p + 1];
    for (int64_t r = 0; r < l->rows; r++)
        if (owned(l, r)) l->list[l->start[l->parent[r] + 1]++] = (uint32_t)r;
    siblings s = {b, l};
    return kn_parallel_for(b->ctx, (int64_t)parents, AT_ONCE, sort_families, &s, err);
}

static kn_status order_layer(builder *b, int table, kn_error *err)
{
    layer *l = &b->layers[table];
    l->number = kn_alloc_array(b->ctx, (size_t)l->rows + 1, sizeof *l->number);
    if (!l->number) return kn_fail_memory(err, b->ctx, WHAT);
    KN_TRY(number_rows(b, l, err));
    l->bare = is_bare(b, l);
    /* Rows with equal numbers are equal, or there are none: ranks are numbers. */
    bool same = l->bare || (int64_t)l->numbers == l->owned;
    l->rank = same ? l->number : kn_alloc_array(b->ctx, (size_t)l->rows + 1, sizeof *l->rank);
    if (!l->rank) return kn_fail_memory(err, b->ctx, WHAT);
    uint32_t *ranked = NULL;
    bool      persons = table == b->db->entity;
    kn_status status = persons || !same ? sort_rows(b, l, &ranked, err) : KN_OK;
    if (persons)
        l->list = ranked;
    else
        kn_free(ranked);
    if (status == KN_OK && !persons) status = by_parent(b, l, err);
    for (int c = 0; c < l->t->child_count; c++) drop_rank(&b->layers[l->t->children[c]]); /* no longer needed */
    return status;
}

/* ---- Writing the trees ---- */

static kn_status make_room(builder *b, kn_error *err)
{
    kn_forest *f = b->f;
    uint64_t   subtrees = 0;
    f->entities = b->layers[b->db->entity].rows;
    for (int t = 0; t < b->db->table_count; t++) {
        b->base[t] = (uint32_t)subtrees;
        f->nodes += (uint64_t)b->layers[t].owned;
        subtrees += b->layers[t].numbers;
    }
    f->subtrees = (uint32_t)subtrees;
    size_t n = (size_t)f->nodes + 1;
    f->start = kn_alloc_array(b->ctx, (size_t)f->entities + 1, sizeof *f->start);
    f->entity_of_row = kn_alloc_array(b->ctx, (size_t)f->entities + 1, sizeof *f->entity_of_row);
    f->parent = kn_alloc_array(b->ctx, n, sizeof *f->parent);
    f->first_child = kn_alloc_array(b->ctx, n, sizeof *f->first_child);
    f->child_count = kn_alloc_array(b->ctx, n, sizeof *f->child_count);
    f->table = kn_alloc_array(b->ctx, n, sizeof *f->table);
    f->row = kn_alloc_array(b->ctx, n, sizeof *f->row);
    f->subtree = kn_alloc_array(b->ctx, n, sizeof *f->subtree);
    f->example = kn_alloc_array(b->ctx, (size_t)subtrees + 1, sizeof *f->example);
    bool ok = f->start && f->entity_of_row && f->parent && f->first_child && f->child_count && f->table && f->row &&
              f->subtree && f->example;
    return ok ? KN_OK : kn_fail_memory(err, b->ctx, WHAT);
}

/* The nodes of a row and what is below it. */
static uint64_t count_nodes(const builder *b, const layer *l, uint32_t row)
{
    uint64_t count = 1;
    for (int c = 0; c < l->t->child_count; c++) {
        const layer *below = &b->layers[l->t->children[c]];
        uint32_t     begin = below->start[row], end = below->start[row + 1];
        if (below->t->child_count == 0)
            count += end - begin;
        else
            for (uint32_t i = begin; i < end; i++) count += count_nodes(b, below, below->list[i]);
    }
    return count;
}

static kn_status count_range(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    const builder *b = arg;
    const layer   *persons = &b->layers[b->db->entity];
    (void)worker;
    (void)err;
    for (int64_t e = begin; e < end; e++) b->f->start[e] = count_nodes(b, persons, persons->list[e]);
    return KN_OK;
}

static void write_node(const builder *b, uint64_t node, int table, uint32_t row, uint32_t parent)
{
    kn_forest *f = b->f;
    f->table[node] = (uint16_t)table;
    f->row[node] = row;
    f->parent[node] = parent;
    f->subtree[node] = b->base[table] + b->layers[table].number[row];
}

/* Appends the children of a node to the nodes of its entity. */
static void write_children(const builder *b, uint64_t first, uint64_t node, uint64_t *next)
{
    kn_forest   *f = b->f;
    const layer *l = &b->layers[f->table[node]];
    uint64_t     begin = *next;
    for (int c = 0; c < l->t->child_count; c++) {
        int          table = l->t->children[c];
        const layer *below = &b->layers[table];
        for (uint32_t i = below->start[f->row[node]]; i < below->start[f->row[node] + 1]; i++)
            write_node(b, (*next)++, table, below->list[i], (uint32_t)(node - first));
    }
    f->first_child[node] = (uint32_t)(begin - first);
    f->child_count[node] = (uint32_t)(*next - begin);
}

static kn_status write_range(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    const builder *b = arg;
    kn_forest     *f = b->f;
    const layer   *persons = &b->layers[b->db->entity];
    (void)worker;
    (void)err;
    for (int64_t e = begin; e < end; e++) {
        uint64_t first = f->start[e], next = first;
        f->entity_of_row[persons->list[e]] = e;
        write_node(b, next++, b->db->entity, persons->list[e], KN_FOREST_NONE);
        for (uint64_t node = first; node < next; node++) write_children(b, first, node, &next);
    }
    return KN_OK;
}

/* How many nodes each person has tells where they begin. */
static kn_status write_trees(builder *b, kn_error *err)
{
    kn_forest *f = b->f;
    uint64_t   next = 0;
    KN_TRY(kn_parallel_for(b->ctx, f->entities, AT_ONCE, count_range, b, err));
    for (int64_t e = 0; e < f->entities; e++) {
        uint64_t count = f->start[e];
        f->start[e] = next;
        next += count;
    }
    f->start[f->entities] = next;
    KN_TRY(kn_parallel_for(b->ctx, f->entities, AT_ONCE, write_range, b, err));
    for (uint64_t node = f->nodes; node-- > 0;) f->example[f->subtree[node]] = node; /* backwards: the first one */
    return KN_OK;
}

/* ---- All of it ---- */

static kn_status check_database(const kn_database *db, kn_error *err)
{
    uint64_t rows = 0;
    if (db->entity < 0 || !db->order) return kn_fail(err, KN_USAGE, "%s: no table of persons was chosen", db->source);
    for (int t = 0; t < db->table_count; t++) {
        if (!db->tables[t].quasi) return kn_fail(err, KN_USAGE, "%s: the roles of columns are not set", db->source);
        rows += (uint64_t)db->tables[t].table->rows;
    }
    return rows < UINT32_MAX - 2 ? KN_OK : kn_fail(err, KN_INPUT, "%s: more than 2^32 - 3 rows", db->source);
}

static kn_status build(builder *b, kn_error *err)
{
    const kn_database *db = b->db;
    size_t             tables = (size_t)db->table_count;
    kn_forest         *f = b->f;
    f->ctx = b->ctx;
    f->db = db;
    f->missing = kn_alloc_array_zero(b->ctx, tables, sizeof *f->missing);
    f->dangling = kn_alloc_array_zero(b->ctx, tables, sizeof *f->dangling);
    f->lost = kn_alloc_array_zero(b->ctx, tables, sizeof *f->lost);
    b->layers = kn_alloc_array_zero(b->ctx, tables, sizeof *b->layers);
    b->base = kn_alloc_array(b->ctx, tables, sizeof *b->base);
    if (!f->missing || !f->dangling || !f->lost || !b->layers || !b->base) return kn_fail_memory(err, b->ctx, WHAT);
    for (int i = 0; i < db->table_count; i++) KN_TRY(find_owners(b, db->order[i], err));
    for (int i = db->table_count; i-- > 0;) KN_TRY(order_layer(b, db->order[i], err));
    for (int t = 0; t < db->table_count; t++) { /* no longer needed */
        drop_rank(&b->layers[t]);
        kn_free(b->layers[t].parent);
        b->layers[t].parent = NULL;
    }
    KN_TRY(make_room(b, err));
    return write_trees(b, err);
}

kn_status kn_forest_build(kn_forest **out, kn_context *ctx, const kn_database *db, kn_error *err)
{
    *out = NULL;
    KN_TRY(check_database(db, err));
    builder b = {.ctx = ctx, .db = db, .f = kn_alloc_zero(ctx, sizeof(kn_forest))};
    if (!b.f) return kn_fail_memory(err, b.ctx, WHAT);
    kn_status status = build(&b, err);
    for (int t = 0; b.layers && t < db->table_count; t++) {
        layer *l = &b.layers[t];
        drop_rank(l);
        KN_FREE(l->parent, l->number, l->start, l->list);
    }
    KN_FREE(b.layers, b.base);
    if (status == KN_OK)
        *out = b.f;
    else
        kn_forest_free(b.f);
    return status;
}

void kn_forest_free(kn_forest *f)
{
    if (!f) return;
    KN_FREE(f->start, f->parent, f->first_child, f->child_count, f->table, f->row, f->subtree, f->example, f->missing,
            f->dangling, f->lost, f->entity_of_row, f);
}

static const char *wrong_entity(const kn_forest *f, int64_t e)
{
    uint64_t first = f->start[e], count = f->start[e + 1] - first, next = 1;
    if (f->start[e + 1] <= first || f->parent[first] != KN_FOREST_NONE) return "an entity has no root";
    if (f->table[first] != f->db->entity || f->entity_of_row[f->row[first]] != e) return "a root is no person";
    for (uint64_t i = 0; i < count; i++) {
        uint64_t node = first + i;
        if (f->first_child[node] != next) return "children do not follow each other";
        if (next + f->child_count[node] > count) return "children beyond the entity";
        for (uint64_t c = next; c < next + f->child_count[node]; c++) {
            if (f->parent[first + c] != i) return "a child has another parent";
            if (f->db->tables[f->table[first + c]].parent != f->table[node]) return "a child of the wrong table";
            if (c > next && f->subtree[first + c] < f->subtree[first + c - 1]) return "children out of order";
        }
        next += f->child_count[node];
    }
    return next == count ? NULL : "nodes that are nobody's children";
}

bool kn_forest_validate(const kn_forest *f, const char **reason)
{
    *reason = NULL;
    for (int64_t e = 0; e < f->entities && !*reason; e++) {
        *reason = wrong_entity(f, e);
        if (!*reason && e > 0 && f->subtree[f->start[e]] < f->subtree[f->start[e - 1]])
            *reason = "entities out of order";
    }
    if (!*reason && f->start[f->entities] != f->nodes) *reason = "the number of nodes";
    return !*reason;
}
