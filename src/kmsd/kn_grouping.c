/* kn_grouping.c: grouping rows attribute by attribute (kn_grouping.h), on all threads.
 *
 * Refining. Rows are cut into chunks by position. Each chunk counts its distinct (group, label) pairs in a hash table of its
 * own, numbered in the order of its rows. The pairs of all chunks are then joined, divided by their hash: a pair belongs to
 * the first chunk that has it, which therefore counts all its rows. Numbering what belongs to each chunk, chunk after chunk,
 * numbers the groups by their first rows, whatever the number of threads.
 *
 * Listing. Rows are dealt out to blocks of neighbouring groups, then put in order inside each block.
 *
 * Cost: one look-up per row and attribute, two per pair of a chunk. Memory: 4 bytes per row and group, 16 per pair of a
 * chunk, and tables of 16 bytes per two thirds of the groups to come.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_grouping.h"

#include <string.h>

#include "kn_alloc.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_hash.h"
#include "kn_pages.h"
#include "kn_parallel.h"

#define WHAT "grouping rows"

enum {
    CHUNK_ROWS = 1 << 14, /* at least */
    MOST_CHUNKS = 64,
    FIRST_SLOTS = 1024,
    PARTS = 64, /* of the pairs, by the highest bits of their hash */
    PART_SHIFT = 58,
    BLOCKS = 256 /* of neighbouring groups, with about as many rows each */
};

typedef struct slot {
    uint64_t key;
    uint32_t group; /* UINT32_MAX: empty */
} slot;

typedef struct table {
    kn_context *ctx;
    slot       *slots;
    size_t      mask;
    size_t      used;
} table;

static bool table_make(table *t, kn_context *ctx, size_t size)
{
    *t = (table){.ctx = ctx, .mask = size - 1};
    t->slots = kn_alloc_array(ctx, size, sizeof *t->slots);
    if (t->slots) memset(t->slots, 0xff, size * sizeof *t->slots);
    return t->slots != NULL;
}

static slot *find(const table *t, uint64_t key)
{
    size_t at = (size_t)kn_hash_word(key) & t->mask;
    while (t->slots[at].group != UINT32_MAX && t->slots[at].key != key) at = (at + 1) & t->mask;
    return &t->slots[at];
}

static bool grow(table *t)
{
    table larger;
    if (!table_make(&larger, t->ctx, 2 * (t->mask + 1))) return false;
    for (size_t i = 0; i <= t->mask; i++)
        if (t->slots[i].group != UINT32_MAX) *find(&larger, t->slots[i].key) = t->slots[i];
    larger.used = t->used;
    kn_free(t->slots);
    *t = larger;
    return true;
}

kn_status kn_grouping_make(kn_grouping *out, kn_context *ctx, uint32_t rows, kn_error *err)
{
    *out = (kn_grouping){.ctx = ctx, .rows = rows, .groups = rows > 0};
    if (!(out->group_of = kn_pages_zero(ctx, (size_t)rows + 1, sizeof *out->group_of)) ||
        !KN_ALLOC(ctx, out->sizes, 1)) {
        kn_grouping_free(out);
        return kn_fail_memory(err, ctx, WHAT);
    }
    out->sizes[0] = rows;
    return KN_OK;
}

void kn_grouping_free(kn_grouping *grouping)
{
    KN_FREE(grouping->group_of, grouping->sizes, grouping->starts, grouping->members);
    *grouping = (kn_grouping){0};
}

/* ---- Refining: each chunk by itself ---- */

/* The pairs of a chunk. */
typedef struct chunk {
    uint64_t *keys;              /* later: to which chunk (high half) and pair of it (low half) this one belongs */
    uint32_t *counts;            /* rows; later: the number of its group                                         */
    uint32_t *order;             /* the pairs by part                                                            */
    uint32_t  count, own;        /* own: those that belong to it */
    uint32_t  starts[PARTS + 1]; /* of the parts in `order` */
    uint32_t  first_group;       /* the number of the first that belongs to it */
} chunk;

typedef struct refining {
    const kn_grouping  *from;
    kn_grouping        *out; /* the same, each row's number being replaced by the next; NULL: groups are only counted */
    const uint32_t     *nodes;
    const kn_hierarchy *h;
    uint32_t            chunk_rows, chunk_count;
    chunk              *chunks;
    uint32_t            least;   /* if they are counted: those ...     */
    _Atomic int64_t     smaller; /* ... that have fewer rows than this */
} refining;

static uint32_t chunk_rows_of(uint32_t rows)
{
    uint32_t most = rows / MOST_CHUNKS + 1;
    return most > CHUNK_ROWS ? most : CHUNK_ROWS;
}

static uint32_t chunk_end(const refining *r, int64_t c)
{
    uint64_t end = (uint64_t)(c + 1) * r->chunk_rows;
    return end < r->from->rows ? (uint32_t)end : r->from->rows;
}

/* Numbers the pairs of a chunk in the order of its rows. */
static bool number_rows(const refining *r, chunk *c, table *t, uint32_t begin, uint32_t end)
{
    size_t              keys = 0, counts = 0;
    const kn_hierarchy *h = r->h;
    for (uint32_t row = begin; row < end; row++) {
        uint32_t node = r->nodes[row],
                 label = node == h->leaves ? UINT32_MAX : h->label[node]; /* missing is no empty text */
        uint64_t key = (uint64_t)r->from->group_of[row] << 32 | label;
        slot    *s = find(t, key);
        if (s->group == UINT32_MAX) {
            if (3 * (t->used + 1) > 2 * t->mask) {
                if (!grow(t)) return false;
                s = find(t, key);
            }
            if (!KN_GROW(t->ctx, &c->keys, &keys, (size_t)c->count + 1) ||
                !KN_GROW(t->ctx, &c->counts, &counts, (size_t)c->count + 1))
                return false;
            *s = (slot){key, c->count};
            t->used++;
            c->keys[c->count] = key;
            c->counts[c->count++] = 0;
        }
        if (r->out) r->out->group_of[row] = s->group;
        c->counts[s->group]++;
    }
    return true;
}

static bool order_by_part(kn_context *ctx, chunk *c)
{
    uint32_t next[PARTS] = {0};
    c->order = kn_alloc_array(ctx, (size_t)c->count + 1, sizeof *c->order);
    if (!c->order) return false;
    for (uint32_t i = 0; i < c->count; i++) next[kn_hash_word(c->keys[i]) >> PART_SHIFT]++;
    for (int p = 0; p < PARTS; p++) {
        c->starts[p + 1] = c->starts[p] + next[p];
        next[p] = c->starts[p];
    }
    for (uint32_t i = 0; i < c->count; i++) c->order[next[kn_hash_word(c->keys[i]) >> PART_SHIFT]++] = i;
    return true;
}

static kn_status number_range(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    (void)worker;
    refining *r = arg;
    for (int64_t i = begin; i < end; i++) {
        table  t = {0};
        chunk *c = &r->chunks[i];
        bool   fine = table_make(&t, r->from->ctx, FIRST_SLOTS) &&
                    number_rows(r, c, &t, (uint32_t)i * r->chunk_rows, chunk_end(r, i));
        kn_free(t.slots);
        if (fine && r->chunk_count > 1) fine = order_by_part(r->from->ctx, c);
        if (!fine) return kn_fail_memory(err, r->from->ctx, WHAT);
    }
    return KN_OK;
}

/* ---- Refining: all chunks together ---- */

/* Finds out to which chunk the pairs of part p belong, and counts their rows there. */
static bool join_part(refining *r, table *t, int64_t p)
{
    uint64_t *owners = NULL; /* per pair of the part */
    size_t    capacity = 0;
    bool      fine = true;
    for (uint32_t i = 0; i < r->chunk_count && fine; i++) {
        chunk *c = &r->chunks[i];
        for (uint32_t j = c->starts[p]; j < c->starts[p + 1] && fine; j++) {
            uint32_t pair = c->order[j];
            uint64_t key = c->keys[pair];
            if (3 * (t->used + 1) > 2 * t->mask) fine = grow(t);
            slot *s = find(t, key);
            if (fine && s->group == UINT32_MAX) {
                fine = KN_GROW(t->ctx, &owners, &capacity, t->used + 1);
                if (!fine) break;
                owners[t->used] = (uint64_t)i << 32 | pair;
                *s = (slot){key, (uint32_t)t->used++};
            } else if (fine) {
                r->chunks[owners[s->group] >> 32].counts[(uint32_t)owners[s->group]] += c->counts[pair];
            }
            if (fine) c->keys[pair] = owners[s->group];
        }
    }
    int64_t smaller = 0;
    for (size_t i = 0; fine && i < t->used; i++)
        smaller += r->chunks[owners[i] >> 32].counts[(uint32_t)owners[i]] < r->least;
    atomic_fetch_add_explicit(&r->smaller, smaller, memory_order_relaxed);
    kn_free(owners);
    return fine;
}

static kn_status join_range(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    (void)worker;
    refining *r = arg;
    for (int64_t p = begin; p < end; p++) {
        table t = {0};
        bool  fine = table_make(&t, r->from->ctx, FIRST_SLOTS) && join_part(r, &t, p);
        kn_free(t.slots);
        if (!fine) return kn_fail_memory(err, r->from->ctx, WHAT);
    }
    return KN_OK;
}

static bool is_own(const refining *r, int64_t c, uint32_t pair)
{
    return r->chunks[c].keys[pair] == ((uint64_t)c << 32 | pair);
}

static kn_status count_own(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    (void)worker;
    (void)err;
    refining *r = arg;
    for (int64_t c = begin; c < end; c++)
        for (uint32_t i = 0; i < r->chunks[c].count; i++) r->chunks[c].own += is_own(r, c, i);
    return KN_OK;
}

static kn_status number_own(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    (void)worker;
    (void)err;
    refining *r = arg;
    for (int64_t c = begin; c < end; c++) {
        uint32_t group = r->chunks[c].first_group;
        for (uint32_t i = 0; i < r->chunks[c].count; i++) {
            if (!is_own(r, c, i)) continue;
            r->out->sizes[group] = r->chunks[c].counts[i];
            r->chunks[c].counts[i] = group++;
        }
    }
    return KN_OK;
}

static kn_status renumber_range(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    (void)worker;
    (void)err;
    refining *r = arg;
    for (int64_t i = begin; i < end; i++) {
        chunk *c = &r->chunks[i];
        for (uint32_t j = 0; j < c->count; j++)
            if (!is_own(r, i, j)) c->counts[j] = r->chunks[c->keys[j] >> 32].counts[(uint32_t)c->keys[j]];
        for (uint32_t row = (uint32_t)i * r->chunk_rows; row < chunk_end(r, i); row++)
            r->out->group_of[row] = c->counts[r->out->group_of[row]];
    }
    return KN_OK;
}

static kn_status join_chunks(refining *r, kn_error *err)
{
    kn_context *ctx = r->from->ctx;
    KN_TRY(kn_parallel_for(ctx, PARTS, 1, join_range, r, err));
    KN_TRY(kn_parallel_for(ctx, r->chunk_count, 1, count_own, r, err));
    for (uint32_t c = 0; c < r->chunk_count; c++) {
        r->chunks[c].first_group = r->out->groups;
        r->out->groups += r->chunks[c].own;
    }
    if (!KN_ALLOC(ctx, r->out->sizes, (size_t)r->out->groups + 1)) return kn_fail_memory(err, ctx, WHAT);
    KN_TRY(kn_parallel_for(ctx, r->chunk_count, 1, number_own, r, err));
    return kn_parallel_for(ctx, r->chunk_count, 1, renumber_range, r, err);
}

static kn_status refine(refining *r, kn_error *err)
{
    KN_TRY(kn_parallel_for(r->from->ctx, r->chunk_count, 1, number_range, r, err));
    if (r->chunk_count > 1) return join_chunks(r, err);
    if (r->chunk_count == 0) return KN_OK;
    r->out->groups = r->chunks[0].count; /* its numbers are those of the groups */
    r->out->sizes = r->chunks[0].counts;
    r->chunks[0].counts = NULL;
    return KN_OK;
}

static bool begin(refining *r)
{
    r->chunk_rows = chunk_rows_of(r->from->rows);
    r->chunk_count = (uint32_t)(((uint64_t)r->from->rows + r->chunk_rows - 1) / r->chunk_rows);
    r->chunks = kn_alloc_array_zero(r->from->ctx, (size_t)r->chunk_count + 1, sizeof *r->chunks);
    return r->chunks != NULL;
}

static void end(refining *r)
{
    for (uint32_t c = 0; r->chunks && c < r->chunk_count; c++)
        KN_FREE(r->chunks[c].keys, r->chunks[c].counts, r->chunks[c].order);
    kn_free(r->chunks);
}

kn_status kn_grouping_refine(kn_grouping *g, const uint32_t *nodes, const kn_hierarchy *h, kn_error *err)
{
    refining r = {.from = g, .out = g, .nodes = nodes, .h = h};
    KN_FREE(g->sizes, g->starts);
    *g = (kn_grouping){.ctx = g->ctx, .rows = g->rows, .group_of = g->group_of, .members = g->members};
    kn_status status = begin(&r) ? refine(&r, err) : kn_fail_memory(err, g->ctx, WHAT);
    end(&r);
    if (status != KN_OK) kn_grouping_free(g);
    return status;
}

kn_status kn_grouping_count(int64_t *out, const kn_grouping *from, const uint32_t *nodes, const kn_hierarchy *h,
                            uint32_t least, kn_error *err)
{
    refining  r = {.from = from, .nodes = nodes, .h = h, .least = least};
    kn_status status = begin(&r) ? kn_parallel_for(from->ctx, r.chunk_count, 1, number_range, &r, err)
                                 : kn_fail_memory(err, from->ctx, WHAT);
    if (status == KN_OK && r.chunk_count > 1) status = kn_parallel_for(from->ctx, PARTS, 1, join_range, &r, err);
    for (uint32_t i = 0; status == KN_OK && r.chunk_count == 1 && i < r.chunks[0].count; i++)
        r.smaller += r.chunks[0].counts[i] < least;
    *out = r.smaller;
    end(&r);
    return status;
}

/* ---- Listing ---- */

typedef struct listing {
    kn_grouping *g;
    uint32_t     chunk_rows, chunk_count;
    uint32_t    *next; /* per chunk and block: where its next row goes */
    uint32_t     begins[BLOCKS + 1];
} listing;

/* In which block a row's group is: by where the group begins (starts[i + 1], as long as nothing is placed). */
static uint32_t block_of(const kn_grouping *g, uint32_t row)
{
    return (uint32_t)((uint64_t)g->starts[g->group_of[row] + 1] * BLOCKS / g->rows);
}

static uint32_t listing_end(const listing *l, int64_t c)
{
    uint64_t end = (uint64_t)(c + 1) * l->chunk_rows;
    return end < l->g->rows ? (uint32_t)end : l->g->rows;
}

static kn_status count_blocks(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    (void)worker;
    (void)err;
    const listing *l = arg;
    for (int64_t c = begin; c < end; c++)
        for (uint32_t row = (uint32_t)c * l->chunk_rows; row < listing_end(l, c); row++)
            l->next[c * BLOCKS + block_of(l->g, row)]++;
    return KN_OK;
}

static void place_blocks(listing *l)
{
    uint32_t at = 0;
    for (int b = 0; b < BLOCKS; b++) {
        l->begins[b] = at;
        for (uint32_t c = 0; c < l->chunk_count; c++) {
            uint32_t *next = &l->next[c * BLOCKS + (uint32_t)b], count = *next;
            *next = at;
            at += count;
        }
    }
    l->begins[BLOCKS] = at;
}

static kn_status deal_rows(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    (void)worker;
    (void)err;
    const listing *l = arg;
    for (int64_t c = begin; c < end; c++)
        for (uint32_t row = (uint32_t)c * l->chunk_rows; row < listing_end(l, c); row++)
            l->g->members[l->next[c * BLOCKS + block_of(l->g, row)]++] = row;
    return KN_OK;
}

/* Puts the rows of a block's groups in order. The rows of a block of one group are. */
static kn_status place_rows(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    (void)worker;
    const listing *l = arg;
    kn_grouping   *g = l->g;
    for (int64_t b = begin; b < end; b++) {
        uint32_t  first = l->begins[b], count = l->begins[b + 1] - first;
        uint32_t *members = g->members + first;
        if (count == 0) continue;
        if (g->sizes[g->group_of[members[0]]] == count) {
            g->starts[g->group_of[members[0]] + 1] += count;
            continue;
        }
        uint32_t *dealt = kn_alloc_array(g->ctx, count, sizeof *dealt);
        if (!dealt) return kn_fail_memory(err, g->ctx, WHAT);
        memcpy(dealt, members, count * sizeof *dealt);
        for (uint32_t i = 0; i < count; i++) g->members[g->starts[g->group_of[dealt[i]] + 1]++] = dealt[i];
        kn_free(dealt);
    }
    return KN_OK;
}

kn_status kn_grouping_list(kn_grouping *g, kn_error *err)
{
    listing l = {.g = g, .chunk_rows = chunk_rows_of(g->rows)};
    if (g->starts) return KN_OK;
    l.chunk_count = (uint32_t)(((uint64_t)g->rows + l.chunk_rows - 1) / l.chunk_rows);
    l.next = kn_alloc_array_zero(g->ctx, (size_t)(l.chunk_count + 1) * BLOCKS, sizeof *l.next);
    if (!l.next || !KN_ALLOC_ZERO(g->ctx, g->starts, (size_t)g->groups + 2) ||
        (!g->members && !KN_ALLOC(g->ctx, g->members, (size_t)g->rows + 1))) {
        kn_free(l.next);
        return kn_fail_memory(err, g->ctx, WHAT);
    }
    /* starts[i + 1] first holds where the next row of group i goes, and where group i + 1 begins when all are placed. */
    for (uint32_t i = 0; i + 1 < g->groups; i++) g->starts[i + 2] = g->starts[i + 1] + g->sizes[i];
    kn_status status = kn_parallel_for(g->ctx, l.chunk_count, 1, count_blocks, &l, err);
    if (status == KN_OK) {
        place_blocks(&l);
        status = kn_parallel_for(g->ctx, l.chunk_count, 1, deal_rows, &l, err);
    }
    if (status == KN_OK) status = kn_parallel_for(g->ctx, BLOCKS, 4, place_rows, &l, err);
    kn_free(l.next);
    return status;
}
