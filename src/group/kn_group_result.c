/* kn_group_result.c: from the buckets' tables to the sorted classes.
 *
 * Interface: kn_group_internal.h. Packed records are sorted as they are, by radix: the tables are dealt out by the key's
 * highest digit, and each digit's records, which fit into the cache, by the lower ones; both in parallel. The array of counts
 * is the second half that a radix sort needs, so there is no memory but the tables' and the result's. Other records are
 * gathered and sorted by kn_sort_records.
 *
 * Cost: O(classes) for packed records, else O(classes log classes).
 * SPDX-License-Identifier: Apache-2.0
 */
#include <assert.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_group_internal.h"
#include "kn_parallel.h"
#include "kn_sort.h"

enum {
    TOP_BITS = 11,        /* of the highest digit */
    DIGIT_BITS = 8,       /* of the lower ones, at most */
    MOST_DIGIT_BITS = 11, /* where there are many records */
    MANY = 2048,
    FEW = 24,          /* records that are sorted by insertion */
    DEAL_BUCKETS = 16, /* dealt out together */
    MOST_DEALS = KN_GROUP_COUNT / DEAL_BUCKETS,
    SORT_RECORDS = 1 << 15, /* not worth more than one thread */
    SPLIT_RECORDS = 1 << 14 /* of a range */
};

typedef struct result {
    kn_grouping *g;
    uint64_t    *sorted; /* gathered records; packed: later the keys */
    uint64_t     offsets[KN_GROUP_COUNT];

    /* Packed records. */
    int     top_shift, top_digits; /* of the highest digit, in a record */
    size_t *next;                  /* per deal and digit: where its next record goes */
    size_t *begins;                /* top_digits + 1: of the digits' records */
} result;

/* ---- Packed records ---- */

static void free_tables(kn_grouping *g, int first, int last)
{
    for (int b = first; b < last; b++) {
        kn_free(g->buckets[b].table.records);
        g->buckets[b].table.records = NULL;
    }
}

static int deals(const kn_grouping *g)
{
    return (g->bucket_count + DEAL_BUCKETS - 1) / DEAL_BUCKETS;
}

static int deal_end(const kn_grouping *g, int64_t deal)
{
    int end = (int)(deal + 1) * DEAL_BUCKETS;
    return end < g->bucket_count ? end : g->bucket_count;
}

/* Moves a table's records together; without a branch that would often be guessed wrong. */
static void compact(kn_group_table *t)
{
    uint64_t used = 0;
    for (uint64_t i = 0; t->records && i < t->slots; i++) {
        uint64_t record = t->records[i];
        t->records[used] = record;
        used += record != 0;
    }
}

static kn_status count_digits(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    (void)worker;
    (void)err;
    const result *r = arg;
    for (int64_t d = begin; d < end; d++) {
        size_t *next = r->next + d * r->top_digits;
        for (int b = (int)d * DEAL_BUCKETS; b < deal_end(r->g, d); b++) {
            kn_group_table *t = &r->g->buckets[b].table;
            compact(t);
            for (uint64_t i = 0; i < t->used; i++) next[t->records[i] >> r->top_shift]++;
        }
    }
    return KN_OK;
}

static kn_status deal_out(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    (void)worker;
    (void)err;
    const result *r = arg;
    for (int64_t d = begin; d < end; d++) {
        size_t *next = r->next + d * r->top_digits;
        for (int b = (int)d * DEAL_BUCKETS; b < deal_end(r->g, d); b++) {
            const kn_group_table *t = &r->g->buckets[b].table;
            for (uint64_t i = 0; i < t->used; i++) {
                uint64_t record = t->records[i];
                r->sorted[next[record >> r->top_shift]++] = record;
            }
        }
        free_tables(r->g, (int)d * DEAL_BUCKETS, deal_end(r->g, d));
    }
    return KN_OK;
}

static void sort_few(uint64_t *records, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        uint64_t held = records[i];
        size_t   at = i;
        for (; at > 0 && records[at - 1] > held; at--) records[at] = records[at - 1];
        records[at] = held;
    }
}

/* Sorts records by bits [32, end), a digit at a time from the lowest; returns where they are then: `records` or `room`. The
 * digits of many records are larger: fewer passes. */
static uint64_t *sort_digits(uint64_t *records, uint64_t *room, size_t n, int end)
{
    int passes = (end - 32 + (n < MANY ? DIGIT_BITS : MOST_DIGIT_BITS) - 1) / (n < MANY ? DIGIT_BITS : MOST_DIGIT_BITS);
    for (int pass = 0, shift = 32; pass < passes; pass++) {
        int    bits = (end - shift + passes - pass - 1) / (passes - pass);
        size_t next[1 << MOST_DIGIT_BITS], mask = ((size_t)1 << bits) - 1, at = 0;
        memset(next, 0, (mask + 1) * sizeof *next);
        for (size_t i = 0; i < n; i++) next[records[i] >> shift & mask]++;
        for (size_t d = 0; d <= mask; d++) {
            size_t count = next[d];
            next[d] = at;
            at += count;
        }
        for (size_t i = 0; i < n; i++) room[next[records[i] >> shift & mask]++] = records[i];
        uint64_t *swap = records;
        records = room;
        room = swap;
        shift += bits;
    }
    return records;
}

/* Sorts and unpacks the records of the highest digits [begin, end). */
static kn_status sort_range(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    (void)worker;
    (void)err;
    const result *r = arg;
    uint64_t     *keys = r->sorted, *counts = (uint64_t *)r->g->freq->counts;
    for (int64_t d = begin; d < end; d++) {
        size_t    first = r->begins[d], n = r->begins[d + 1] - first;
        uint64_t *records = keys + first;
        if (n <= FEW)
            sort_few(records, n);
        else
            records = sort_digits(records, counts + first, n, r->top_shift);
        for (size_t i = 0; i < n; i++) {
            uint64_t record = records[i];
            keys[first + i] = record >> 32;
            counts[first + i] = record & UINT32_MAX;
        }
    }
    return KN_OK;
}

/* Where the records of each digit begin, and in them those of each deal. */
static void place_digits(result *r)
{
    size_t at = 0;
    int    n = deals(r->g);
    for (int d = 0; d < r->top_digits; d++) {
        r->begins[d] = at;
        for (int i = 0; i < n; i++) {
            size_t *next = r->next + i * r->top_digits + d, count = *next;
            *next = at;
            at += count;
        }
    }
    r->begins[r->top_digits] = at;
}

static kn_status sort_packed(result *r, kn_error *err)
{
    kn_grouping *g = r->g;
    int          bits = g->source->bits, top = bits < TOP_BITS ? bits : TOP_BITS;
    r->top_digits = 1 << top;
    r->top_shift = 32 + bits - top;
    r->next = kn_alloc_array_zero(g->ctx, (size_t)deals(g) * (size_t)r->top_digits, sizeof *r->next);
    r->begins = kn_alloc_array(g->ctx, (size_t)r->top_digits + 1, sizeof *r->begins);
    kn_status st = r->next && r->begins ? KN_OK : kn_fail_memory(err, g->ctx, KN_GROUP_WHAT);
    if (st == KN_OK) st = kn_parallel_for(g->ctx, deals(g), 1, count_digits, r, err);
    if (st == KN_OK) place_digits(r);
    if (st == KN_OK) st = kn_parallel_for(g->ctx, deals(g), 1, deal_out, r, err);
    int grain = g->freq->classes < SORT_RECORDS ? r->top_digits : r->top_digits / 128 + 1;
    if (st == KN_OK) st = kn_parallel_for(g->ctx, r->top_digits, grain, sort_range, r, err);
    KN_FREE(r->next, r->begins);
    return st;
}

static kn_status unpack_range(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    (void)worker;
    (void)err;
    const result *r = arg;
    for (int64_t b = begin; b < end; b++) {
        uint64_t             *keys = r->sorted + r->offsets[b];
        int64_t              *counts = r->g->freq->counts + r->offsets[b];
        const kn_group_table *t = &r->g->buckets[b].table;
        for (uint64_t i = 0; t->records && i < t->slots; i++) {
            uint64_t record = t->records[i];
            if (record == 0) continue;
            *keys++ = record >> 32;
            *counts++ = (int64_t)(record & UINT32_MAX);
        }
        free_tables(r->g, (int)b, (int)b + 1);
    }
    return KN_OK;
}

static kn_status packed_result(result *r, kn_error *err)
{
    kn_grouping *g = r->g;
    kn_freq     *f = g->freq;
    f->counts = kn_alloc_array(g->ctx, (size_t)f->classes, sizeof *f->counts);
    if (!f->counts) return kn_fail_memory(err, g->ctx, KN_GROUP_WHAT);
    static_assert(sizeof *f->counts == sizeof *r->sorted, "counts are room for records");
    KN_TRY(g->unsorted ? kn_parallel_for(g->ctx, g->bucket_count, DEAL_BUCKETS, unpack_range, r, err)
                       : sort_packed(r, err));
    f->keys = r->sorted;
    r->sorted = NULL;
    return KN_OK;
}

/* ---- Other records ---- */

static inline void copy_used(const kn_grouping *g, const kn_group_table *t, uint64_t *to, int words)
{
    (void)g;
    for (uint64_t i = 0; i < t->slots; i++) {
        const uint64_t *record = t->records + i * (uint64_t)(words + 1);
        if (record[words] == 0) continue;
        for (int w = 0; w <= words; w++) to[w] = record[w];
        to += words + 1;
    }
}

/* Copies the records of bucket after bucket to where `offsets` says, freeing each table. */
static kn_status gather_range(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    (void)worker;
    (void)err;
    const result *r = arg;
    kn_grouping  *g = r->g;
    for (int64_t b = begin; b < end; b++) {
        kn_group_table *t = &g->buckets[b].table;
        uint64_t       *to = r->sorted + r->offsets[b] * (uint64_t)g->stride;
        if (t->records) KN_GROUP_BY_FORM(copy_used, g, t, to);
        free_tables(g, (int)b, (int)b + 1);
    }
    return KN_OK;
}

typedef struct splitting {
    result *r;
    int64_t begin;
} splitting;

static kn_status split_counts(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    (void)worker;
    (void)err;
    const result *r = arg;
    for (int64_t i = begin; i < end; i++) r->g->freq->counts[i] = (int64_t)r->sorted[2 * i + 1];
    return KN_OK;
}

static kn_status split_keys(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    (void)worker;
    (void)err;
    const splitting *s = arg;
    for (int64_t i = s->begin + begin; i < s->begin + end; i++) s->r->sorted[i] = s->r->sorted[2 * i];
    return KN_OK;
}

/* Keys are moved together in waves: those of [n, 2n) go to where the records of [n / 2, n) were, which are no longer needed. */
static kn_status split(result *r, kn_error *err)
{
    int64_t   n = r->g->freq->classes, end = n < SPLIT_RECORDS ? n : SPLIT_RECORDS;
    splitting s = {r, 0};
    KN_TRY(kn_parallel_for(r->g->ctx, n, SPLIT_RECORDS, split_counts, r, err));
    KN_TRY(split_keys(&s, 0, end, 0, err));
    for (s.begin = end; s.begin < n; s.begin = end) {
        end = 2 * s.begin < n ? 2 * s.begin : n;
        KN_TRY(kn_parallel_for(r->g->ctx, end - s.begin, SPLIT_RECORDS, split_keys, &s, err));
    }
    return KN_OK;
}

/* One word: the records are (key, count) and are sorted and split where they are. */
static kn_status sort_narrow(result *r, kn_error *err)
{
    kn_grouping    *g = r->g;
    kn_freq        *f = g->freq;
    size_t          n = (size_t)f->classes;
    kn_sort_record *records = (kn_sort_record *)(void *)r->sorted;
    static_assert(sizeof *records == 2 * sizeof *r->sorted, "a record is a key and a count");
    if (!g->unsorted) KN_TRY(kn_sort_records(g->ctx, records, n, NULL, NULL, err));
    f->counts = kn_alloc_array(g->ctx, n, sizeof *f->counts);
    if (!f->counts) return kn_fail_memory(err, g->ctx, KN_GROUP_WHAT);
    KN_TRY(split(r, err));
    f->keys = kn_realloc_array(g->ctx, r->sorted, n, sizeof *f->keys);
    if (!f->keys) return kn_fail_memory(err, g->ctx, KN_GROUP_WHAT);
    r->sorted = NULL;
    return KN_OK;
}

static int by_later_words(const void *arg, uint64_t a, uint64_t b)
{
    const result   *r = arg;
    const uint64_t *x = r->sorted + a * (uint64_t)r->g->stride, *y = r->sorted + b * (uint64_t)r->g->stride;
    for (int w = 1; w < r->g->words; w++)
        if (x[w] != y[w]) return x[w] < y[w] ? -1 : 1;
    return 0;
}

typedef struct ordering {
    result         *r;
    kn_sort_record *order;
} ordering;

static kn_status order_range(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    (void)worker;
    (void)err;
    const ordering *o = arg;
    size_t          stride = (size_t)o->r->g->words + 1;
    for (int64_t i = begin; i < end; i++) o->order[i] = (kn_sort_record){o->r->sorted[(size_t)i * stride], (uint64_t)i};
    return KN_OK;
}

static kn_status copy_range(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    (void)worker;
    (void)err;
    const ordering *o = arg;
    kn_freq        *f = o->r->g->freq;
    size_t          words = (size_t)o->r->g->words;
    for (int64_t i = begin; i < end; i++) {
        const uint64_t *record = o->r->sorted + o->order[i].id * (words + 1);
        memcpy(f->keys + (size_t)i * words, record, words * sizeof *f->keys);
        f->counts[i] = (int64_t)record[words];
    }
    return KN_OK;
}

/* Several words: an order is sorted, then the records are copied by it. */
static kn_status sort_wide(result *r, kn_error *err)
{
    kn_grouping *g = r->g;
    kn_freq     *f = g->freq;
    size_t       n = (size_t)f->classes;
    ordering     o = {r, kn_alloc_array(g->ctx, n, sizeof *o.order)};
    kn_status    st = o.order ? KN_OK : kn_fail_memory(err, g->ctx, KN_GROUP_WHAT);
    if (st == KN_OK) st = kn_parallel_for(g->ctx, f->classes, SPLIT_RECORDS, order_range, &o, err);
    if (st == KN_OK && !g->unsorted) st = kn_sort_records(g->ctx, o.order, n, by_later_words, r, err);
    if (st == KN_OK) {
        f->keys = kn_alloc_array(g->ctx, n * (size_t)g->words, sizeof *f->keys);
        f->counts = kn_alloc_array(g->ctx, n, sizeof *f->counts);
        if (!f->keys || !f->counts) st = kn_fail_memory(err, g->ctx, KN_GROUP_WHAT);
    }
    if (st == KN_OK) st = kn_parallel_for(g->ctx, f->classes, SPLIT_RECORDS, copy_range, &o, err);
    kn_free(o.order);
    return st;
}

static kn_status other_result(result *r, kn_error *err)
{
    KN_TRY(kn_parallel_for(r->g->ctx, r->g->bucket_count, 4, gather_range, r, err));
    return r->g->words == 1 ? sort_narrow(r, err) : sort_wide(r, err);
}

kn_status kn_group_result(kn_grouping *g, kn_error *err)
{
    result   r = {.g = g};
    uint64_t total = 0;
    for (int b = 0; b < g->bucket_count; b++) {
        r.offsets[b] = total;
        total += g->buckets[b].table.used;
    }
    g->freq->classes = (int64_t)total;
    r.sorted = kn_alloc_array(g->ctx, total * (uint64_t)g->stride, sizeof *r.sorted);
    if (!r.sorted) return kn_fail_memory(err, g->ctx, KN_GROUP_WHAT);
    kn_status st = g->words == KN_GROUP_PACKED ? packed_result(&r, err) : other_result(&r, err);
    kn_free(r.sorted);
    return st;
}
