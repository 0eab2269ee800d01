/* kn_group.c: the parallel group-by kernel over packed keys.
 *
 * Four methods with the same result, chosen by size and by a sample of the keys:
 *   dense    up to 2^16 possible keys: an array of counters per worker, added up;
 *   single   few items: one open-addressing table on one thread;
 *   buckets  many items: see below;
 *   spread   many items with many different keys of one word: kn_group_spread.c.
 *
 * Buckets. The top 8 bits of a key's hash choose one of 256 buckets, each a growing hash table with a lock. Workers do
 * not insert rows there one by one: each has a small private table (about 256 KiB, it stays in the second-level cache),
 * cut into 256 parts that belong to the buckets. A row is counted in its part; a part that is three quarters full is
 * emptied into its bucket under one lock. Frequent keys are thus counted privately, rare ones arrive in batches, every
 * access is to a small table, and the memory is that of one copy of the result, not one per worker.
 *
 * In the end the classes are sorted by key (kn_group_result.c), so the result is the same for any number of threads and any hash function.
 * Keys are always compared in full: a collision never merges classes.
 *
 * Cost: O(items) expected + O(classes log classes); memory about 2.5 × classes × (words + 1) × 8 bytes.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_group.h"

#include <string.h>

#include "kn_alloc.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_fault.h"
#include "kn_group_internal.h"
#include "kn_parallel.h"

#define WHAT KN_GROUP_WHAT

enum {
    DENSE_BITS = 16,
    SINGLE_ITEMS = 1 << 16,
    BUCKETS = KN_GROUP_COUNT,
    PART_BYTES = 1024,  /* of a worker's part per bucket */
    LARGE_TABLE = 2048, /* slots: smaller tables double, larger ones grow by half */
    MOST_PART_SLOTS = PART_BYTES / 8,
    PACKED = KN_GROUP_PACKED,
    GRAIN = KN_GROUP_GRAIN
};

typedef kn_grouping    grouping;
typedef kn_group_table hash_table;

/* A worker's private table. */
typedef struct kn_group_worker {
    uint64_t *records; /* BUCKETS parts of part_slots records */
    uint32_t *used;    /* per part */
    uint64_t *keys;    /* of one block */
} worker_table;

/* ---- Tables ---- */

bool kn_group_table_init(kn_grouping *g, kn_group_table *t, uint64_t slots)
{
    t->records = kn_alloc_array_zero(g->ctx, slots * (uint64_t)g->stride, sizeof *t->records);
    t->slots = slots;
    t->used = 0;
    return t->records != NULL;
}

/* Small tables double, larger ones grow by half. Where it is known what share of a bucket's items has come, the rest may bring
 * new keys too, about as the square root: a step that leaves room for them saves moving all records again. */
static uint64_t larger_size(const kn_grouping *g, const kn_group_table *t)
{
    uint64_t least = t->slots < LARGE_TABLE ? 2 * t->slots : t->slots + t->slots / 2;
    if (g->expected == 0) return least;
    uint64_t factor = 8; /* in eighths: 3/2 of the root, at most 5 */
    while (factor < 40 && factor * factor * t->seen < 144 * g->expected) factor++;
    return t->slots * factor / 8 > least ? t->slots * factor / 8 : least;
}

bool kn_group_table_grow(kn_grouping *g, kn_group_table *t)
{
    kn_group_table larger = {.seen = t->seen};
    if (!kn_group_table_init(g, &larger, larger_size(g, t))) return false;
    for (uint64_t i = 0; i < t->slots; i++) {
        const uint64_t *record = t->records + i * (uint64_t)g->stride;
        if (record[g->words] == 0) continue;
        uint64_t        room;
        const uint64_t *key = kn_record_key(record, g->words, &room);
        uint64_t        at = kn_group_first_slot(kn_group_hash(g, key), larger.slots);
        memcpy(kn_record_find(larger.records, larger.slots, at, key, g->words), record,
               (size_t)g->stride * sizeof *record);
    }
    larger.used = t->used;
    kn_free(t->records);
    *t = larger;
    return true;
}

/* ---- One table, one thread ---- */

static inline bool add_block(grouping *g, const uint64_t *keys, int64_t begin, int n, int words)
{
    const int64_t *counts = g->source->counts;
    for (int i = 0; i < n; i++) {
        const uint64_t *key = keys + i * (words == PACKED ? 1 : words);
        uint64_t        count = counts ? (uint64_t)counts[begin + i] : 1;
        if (!kn_group_table_add(g, &g->buckets[0].table, key, kn_group_hash(g, key), count, words)) return false;
    }
    return true;
}

static kn_status run_single(grouping *g, kn_error *err)
{
    const kn_key_source *s = g->source;
    uint64_t            *keys = kn_alloc_array(g->ctx, KN_GROUP_BLOCK * (size_t)g->key_words, sizeof *keys);
    /* Space for all items to be distinct: clearing it costs less than growing into it. */
    bool fine = keys && kn_group_table_init(g, &g->buckets[0].table, (uint64_t)s->items + (uint64_t)s->items / 3 + 64);
    for (int64_t begin = 0; begin < s->items && fine; begin += KN_GROUP_BLOCK) {
        int n = s->items - begin < KN_GROUP_BLOCK ? (int)(s->items - begin) : KN_GROUP_BLOCK;
        s->fill(s->arg, begin, n, keys);
        fine = KN_GROUP_BY_FORM(add_block, g, keys, begin, n);
    }
    kn_free(keys);
    return fine ? KN_OK : kn_fail_memory(err, g->ctx, WHAT);
}

/* ---- Buckets ---- */

/* Moves a worker's part into its bucket and clears it. The slots are prefetched: the bucket's table is often not in
 * the cache, and the requests overlap. */
static inline bool move_part(grouping *g, uint64_t *part, hash_table *t, int words)
{
    uint64_t *records[MOST_PART_SLOTS], room;
    uint64_t  hashes[MOST_PART_SLOTS];
    int       n = 0;
    for (int i = 0; i < g->part_slots; i++) {
        uint64_t *record = part + i * (words + 1);
        if (record[words] == 0) continue;
        hashes[n] = kn_group_hash(g, kn_record_key(record, words, &room));
        __builtin_prefetch(t->records + kn_group_first_slot(hashes[n], t->slots) * (uint64_t)(words + 1), 1);
        records[n++] = record;
    }
    bool fine = true;
    for (int i = 0; i < n && fine; i++) {
        fine = kn_group_table_add(g, t, kn_record_key(records[i], words, &room), hashes[i],
                                  kn_record_count(records[i], words), words);
        records[i][words] = 0;
    }
    return fine;
}

static bool empty_part(grouping *g, worker_table *w, int part)
{
    hash_table *t = &g->buckets[part].table;
    if (!t->records && !kn_group_table_init(g, t, g->bucket_slots)) return false;
    w->used[part] = 0;
    uint64_t *records = w->records + (uint64_t)part * (uint64_t)(g->part_slots * g->stride);
    return KN_GROUP_BY_FORM(move_part, g, records, t);
}

static inline bool count_key(grouping *g, worker_table *w, const uint64_t *key, uint64_t hash, uint64_t count,
                             int words)
{
    uint64_t  part = hash >> 56;
    uint64_t  slots = (uint64_t)g->part_slots;
    uint64_t *base = w->records + part * (uint64_t)(g->part_slots * (words + 1));
    uint64_t *record = kn_record_find(base, slots, hash >> 40 & (slots - 1), key, words);
    if (record[words]) {
        record[words] += count;
        return true;
    }
    kn_record_put(record, key, count, words);
    if (++w->used[part] * 4 < (uint32_t)g->part_slots * 3) return true;
    pthread_mutex_lock(&g->buckets[part].lock);
    bool fine = empty_part(g, w, (int)part);
    pthread_mutex_unlock(&g->buckets[part].lock);
    return fine;
}

static bool worker_start(grouping *g, worker_table *w)
{
    if (w->records) return true;
    w->records = kn_alloc_array_zero(g->ctx, (size_t)BUCKETS * (size_t)(g->part_slots * g->stride), sizeof *w->records);
    w->used = kn_alloc_array_zero(g->ctx, BUCKETS, sizeof *w->used);
    w->keys = kn_alloc_array(g->ctx, KN_GROUP_BLOCK * (size_t)g->key_words, sizeof *w->keys);
    return w->records && w->used && w->keys;
}

static inline bool count_block(grouping *g, worker_table *w, int64_t begin, int n, int words)
{
    const int64_t *counts = g->source->counts;
    for (int i = 0; i < n; i++) {
        const uint64_t *key = w->keys + i * (words == PACKED ? 1 : words);
        uint64_t        hash = kn_group_hash(g, key);
        if (!count_key(g, w, key, hash, counts ? (uint64_t)counts[begin + i] : 1, words)) return false;
    }
    return true;
}

static kn_status count_range(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    grouping     *g = arg;
    worker_table *w = &g->workers[worker];
    if (!worker_start(g, w)) return kn_fail_memory(err, g->ctx, WHAT);
    int64_t items = end - begin;
    for (; begin < end; begin += KN_GROUP_BLOCK) {
        int n = end - begin < KN_GROUP_BLOCK ? (int)(end - begin) : KN_GROUP_BLOCK;
        g->source->fill(g->source->arg, begin, n, w->keys);
        if (!KN_GROUP_BY_FORM(count_block, g, w, begin, n)) return kn_fail_memory(err, g->ctx, WHAT);
    }
    if (!g->quiet) kn_progress_add(g->ctx, (uint64_t)items);
    return KN_OK;
}

/* What is left in the workers' parts goes into buckets [begin, end); nobody else touches them now. */
static kn_status empty_range(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    (void)worker;
    grouping *g = arg;
    for (int64_t b = begin; b < end; b++)
        for (int w = 0; w < g->worker_count; w++)
            if (g->workers[w].records && !empty_part(g, &g->workers[w], (int)b))
                return kn_fail_memory(err, g->ctx, WHAT);
    return KN_OK;
}

static void free_workers(grouping *g)
{
    for (int w = 0; w < g->worker_count && g->workers; w++) {
        KN_FREE(g->workers[w].records, g->workers[w].used, g->workers[w].keys);
    }
    kn_free(g->workers);
    g->workers = NULL;
}

static kn_status run_buckets(grouping *g, kn_error *err)
{
    /* Classes of a finer set rarely shrink to a few: space for half of them to be distinct saves most of the growing. */
    g->bucket_slots = 64 + (g->source->counts ? (uint64_t)g->source->items / BUCKETS * 2 / 3 : 0);
    g->part_slots = 8;
    while (g->part_slots * 2 * g->stride * 8 <= PART_BYTES) g->part_slots *= 2;
    g->worker_count = kn_context_threads(g->ctx);
    g->workers = kn_alloc_array_zero(g->ctx, (size_t)g->worker_count, sizeof *g->workers);
    if (!g->workers) return kn_fail_memory(err, g->ctx, WHAT);
    if (!g->quiet) kn_progress_begin(g->ctx, WHAT, "rows", (uint64_t)g->source->items);
    int64_t   grain = g->words > 1 ? GRAIN / 4 : GRAIN; /* all buckets grow at about one time: not all for one range */
    kn_status st = kn_parallel_for(g->ctx, g->source->items, grain, count_range, g, err);
    if (!g->quiet) kn_progress_end(g->ctx);
    if (st == KN_OK) st = kn_parallel_for(g->ctx, BUCKETS, 8, empty_range, g, err);
    free_workers(g);
    return st;
}

static void free_buckets(grouping *g)
{
    for (int b = 0; b < g->bucket_count; b++) {
        kn_free(g->buckets[b].table.records);
        pthread_mutex_destroy(&g->buckets[b].lock);
    }
    kn_free(g->buckets);
}

static kn_status run_hashed(grouping *g, kn_group_path path, kn_error *err)
{
    g->bucket_count = path == KN_GROUP_SINGLE ? 1 : BUCKETS;
    g->buckets = kn_alloc_array_zero(g->ctx, (size_t)g->bucket_count, sizeof *g->buckets);
    if (!g->buckets) return kn_fail_memory(err, g->ctx, WHAT);
    for (int b = 0; b < g->bucket_count; b++) pthread_mutex_init(&g->buckets[b].lock, NULL);
    kn_status st = path == KN_GROUP_SINGLE   ? run_single(g, err)
                   : path == KN_GROUP_SPREAD ? kn_group_spread(g, err)
                                             : run_buckets(g, err);
    if (st == KN_OK) st = kn_group_result(g, err);
    free_buckets(g);
    return st;
}

/* ---- Dense counters ---- */

static kn_status dense_range(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    grouping *g = arg;
    size_t    size = (size_t)1 << g->source->bits;
    if (!g->dense[worker]) g->dense[worker] = kn_alloc_array_zero(g->ctx, size, sizeof **g->dense);
    int64_t *counters = g->dense[worker];
    if (!counters) return kn_fail_memory(err, g->ctx, WHAT);
    const int64_t *counts = g->source->counts;
    uint64_t       keys[KN_GROUP_BLOCK];
    for (; begin < end; begin += KN_GROUP_BLOCK) {
        int n = end - begin < KN_GROUP_BLOCK ? (int)(end - begin) : KN_GROUP_BLOCK;
        g->source->fill(g->source->arg, begin, n, keys);
        for (int i = 0; i < n; i++) counters[keys[i]] += counts ? counts[begin + i] : 1;
    }
    return KN_OK;
}

/* Adds the workers' counters up and keeps those that are not zero, which are in order already. */
static kn_status dense_result(grouping *g, kn_error *err)
{
    size_t   size = (size_t)1 << g->source->bits;
    int64_t  classes = 0;
    int64_t *sum = NULL;
    for (int w = 0; w < g->worker_count; w++) {
        if (!g->dense[w]) continue;
        if (!sum) {
            sum = g->dense[w];
            continue;
        }
        for (size_t i = 0; i < size; i++) sum[i] += g->dense[w][i];
    }
    for (size_t i = 0; i < size && sum; i++) classes += sum[i] != 0;
    kn_freq *f = g->freq;
    f->classes = classes;
    f->keys = kn_alloc_array(g->ctx, (size_t)classes, sizeof *f->keys);
    f->counts = kn_alloc_array(g->ctx, (size_t)classes, sizeof *f->counts);
    if (!f->keys || !f->counts) return kn_fail_memory(err, g->ctx, WHAT);
    int64_t at = 0;
    for (size_t i = 0; i < size && sum; i++) {
        if (sum[i] == 0) continue;
        f->keys[at] = i;
        f->counts[at++] = sum[i];
    }
    return KN_OK;
}

/* In the dense path the used bits are at the low end of the word: see kn_layout_make. */
static kn_status run_dense(grouping *g, kn_error *err)
{
    g->worker_count = kn_context_threads(g->ctx);
    g->dense = kn_alloc_array_zero(g->ctx, (size_t)g->worker_count, sizeof *g->dense);
    if (!g->dense) return kn_fail_memory(err, g->ctx, WHAT);
    kn_status st = kn_parallel_for(g->ctx, g->source->items, GRAIN, dense_range, g, err);
    if (st == KN_OK) st = dense_result(g, err);
    for (int w = 0; w < g->worker_count; w++) kn_free(g->dense[w]);
    kn_free(g->dense);
    return st;
}

static kn_group_path choose_path(const grouping *g)
{
    const kn_key_source *s = g->source;
    /* Clearing and reading 2^bits counters must not cost more than counting the items. */
    if (s->words == 1 && s->bits <= DENSE_BITS && (int64_t)1 << s->bits <= 4 * s->items + 64) return KN_GROUP_DENSE;
    if (s->items <= SINGLE_ITEMS) return KN_GROUP_SINGLE;
    return kn_group_spread_suits(g) ? KN_GROUP_SPREAD : KN_GROUP_BUCKETS;
}

/* The path that was asked for, if these keys can go it. */
static kn_group_path path_of(const grouping *g, const kn_group_options *options)
{
    const kn_key_source *s = g->source;
    kn_group_path        path = options ? options->path : KN_GROUP_AUTO;
    if (path == KN_GROUP_AUTO) return choose_path(g);
    bool can = path == KN_GROUP_DENSE    ? s->words == 1 && s->bits <= DENSE_BITS
               : path == KN_GROUP_SPREAD ? s->words == 1 && !s->counts
                                         : true;
    return can ? path : KN_GROUP_BUCKETS;
}

kn_status kn_group_run(kn_freq *freq, const kn_key_source *source, const kn_group_options *options, kn_error *err)
{
    grouping g = {.ctx = freq->ctx,
                  .source = source,
                  .hash = options ? options->hash : NULL,
                  .unsorted = options && options->unsorted,
                  .quiet = options && options->quiet,
                  .words = source->words,
                  .key_words = source->words,
                  .freq = freq};
    if (source->words == 1 && source->bits <= 32 && source->total <= UINT32_MAX) g.words = PACKED;
    g.stride = g.words + 1;
    kn_group_path path = path_of(&g, options);
    KN_TRY(path == KN_GROUP_DENSE ? run_dense(&g, err) : run_hashed(&g, path, err));
    if (kn_fault("group-merge-lost") && freq->classes > 1) freq->classes--;
    freq->rows = 0;
    for (int64_t i = 0; i < freq->classes; i++) {
        if (kn_fault("group-count-plus-one")) freq->counts[i]++;
        freq->rows += freq->counts[i];
    }
    return KN_OK;
}
