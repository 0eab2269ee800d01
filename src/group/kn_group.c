/* kn_group.c: the parallel group-by kernel over packed keys.
 *
 * Three methods with the same result, chosen by size:
 *   dense    up to 2^16 possible keys: an array of counters per worker, added up;
 *   single   few items: one open-addressing table on one thread;
 *   buckets  all else: see below.
 *
 * Buckets. The top 8 bits of a key's hash choose one of 256 buckets, each a growing hash table with a lock. Workers do
 * not insert rows there one by one: each has a small private table (about 256 KiB, it stays in the second-level cache),
 * cut into 256 parts that belong to the buckets. A row is counted in its part; a part that is three quarters full is
 * emptied into its bucket under one lock. Frequent keys are thus counted privately, rare ones arrive in batches, every
 * access is to a small table, and the memory is that of one copy of the result, not one per worker.
 *
 * In the end the classes are sorted by key, so the result is the same for any number of threads and any hash function.
 * Keys are always compared in full: a collision never merges classes.
 *
 * Cost: O(items) expected + O(classes log classes); memory about 2.5 × classes × (words + 1) × 8 bytes.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_group.h"

#include <assert.h>
#include <pthread.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_fault.h"
#include "kn_hash.h"
#include "kn_parallel.h"
#include "kn_sort.h"

#define WHAT "grouping"

enum {
    DENSE_BITS = 16,
    SINGLE_ITEMS = 1 << 16,
    BUCKETS = 256,
    PART_BYTES = 1024,  /* of a worker's part per bucket */
    LARGE_TABLE = 2048, /* slots: smaller tables double, larger ones grow by half */
    MOST_PART_SLOTS = PART_BYTES / 8,
    PACKED = 0,
    DIGIT_BITS = 11, /* of the radix sort of packed records */
    DIGIT_MASK = (1 << DIGIT_BITS) - 1,
    GRAIN = 1 << 16
};

/* A table of records; a count of 0 marks a free slot. A record is the words of the key, then the count. Where a key fits
 * into 32 bits and so do all counts, both share one word: half the memory, twice the records per cache line. This packed
 * form goes by the number of words 0. */
typedef struct hash_table {
    uint64_t *records;
    uint64_t  slots;
    uint64_t  used;
} hash_table;

typedef struct bucket {
    pthread_mutex_t lock;
    hash_table      table;
} bucket;

/* A worker's private table. */
typedef struct worker_table {
    uint64_t *records; /* BUCKETS parts of part_slots records */
    uint32_t *used;    /* per part */
    uint64_t *keys;    /* of one block */
} worker_table;

typedef struct grouping {
    kn_context          *ctx;
    const kn_key_source *source;
    kn_key_hash          hash; /* NULL: the built-in one */
    bool                 unsorted, quiet;
    int                  words;     /* of a record's key; PACKED */
    int                  key_words; /* of a key by itself        */
    int                  stride;    /* words + 1                 */
    int                  part_slots;
    uint64_t             bucket_slots; /* at first */
    bucket              *buckets;
    int                  bucket_count; /* BUCKETS, or 1 on the single path */
    worker_table        *workers;
    int                  worker_count;
    int64_t            **dense; /* per worker */
    kn_freq             *freq;
    uint64_t            *sorted;  /* single-word records gathered from the tables */
    uint64_t            *offsets; /* of each bucket in the result */
} grouping;

static inline uint64_t hash_key(const grouping *g, const uint64_t *key)
{
    if (g->hash) return g->hash(key, g->key_words);
    return g->key_words == 1 ? kn_hash_word(key[0]) : kn_hash_words(key, g->key_words);
}

/* ---- Records. `words` is a constant wherever speed matters, so that the compiler sees one form only. ---- */

static inline uint64_t count_in(const uint64_t *record, int words)
{
    return words == PACKED ? record[0] & UINT32_MAX : record[words];
}

static inline bool has_key(const uint64_t *record, const uint64_t *key, int words)
{
    if (words == PACKED) return record[0] >> 32 == key[0];
    for (int i = 0; i < words; i++)
        if (record[i] != key[i]) return false;
    return true;
}

static inline void put(uint64_t *record, const uint64_t *key, uint64_t count, int words)
{
    if (words == PACKED) {
        record[0] = key[0] << 32 | count;
        return;
    }
    for (int i = 0; i < words; i++) record[i] = key[i];
    record[words] = count;
}

/* The key of a record: in the record itself, or unpacked into `room`. */
static inline const uint64_t *key_in(const uint64_t *record, int words, uint64_t *room)
{
    if (words != PACKED) return record;
    *room = record[0] >> 32;
    return room;
}

/* The slot of a key among `slots` records, or the free one where it belongs; the search begins at slot `at`. In both
 * forms the count is in the record's last word. */
static inline uint64_t *find_slot(uint64_t *base, uint64_t slots, uint64_t at, const uint64_t *key, int words)
{
    for (;;) {
        uint64_t *record = base + at * (uint64_t)(words + 1);
        if (record[words] == 0 || has_key(record, key, words)) return record;
        if (++at == slots) at = 0;
    }
}

/* The first slot to look at in a bucket's table: bits of the hash below the eight that chose the bucket, scaled, so that
 * a table can have any number of slots and grow by half instead of doubling. */
static inline uint64_t first_slot(uint64_t hash, uint64_t slots)
{
    return (hash >> 16 & UINT32_MAX) * slots >> 32;
}

static bool table_init(grouping *g, hash_table *t, uint64_t slots)
{
    t->records = kn_alloc_array_zero(g->ctx, slots * (uint64_t)g->stride, sizeof *t->records);
    t->slots = slots;
    t->used = 0;
    return t->records != NULL;
}

static bool table_grow(grouping *g, hash_table *t)
{
    hash_table larger;
    if (!table_init(g, &larger, t->slots < LARGE_TABLE ? 2 * t->slots : t->slots + t->slots / 2)) return false;
    for (uint64_t i = 0; i < t->slots; i++) {
        const uint64_t *record = t->records + i * (uint64_t)g->stride;
        if (record[g->words] == 0) continue;
        uint64_t        room;
        const uint64_t *key = key_in(record, g->words, &room);
        uint64_t        at = first_slot(hash_key(g, key), larger.slots);
        memcpy(find_slot(larger.records, larger.slots, at, key, g->words), record, (size_t)g->stride * sizeof *record);
    }
    larger.used = t->used;
    kn_free(t->records);
    *t = larger;
    return true;
}

static inline bool table_add(grouping *g, hash_table *t, const uint64_t *key, uint64_t hash, uint64_t count, int words)
{
    uint64_t *record = find_slot(t->records, t->slots, first_slot(hash, t->slots), key, words);
    if (record[words]) {
        record[words] += count;
        return true;
    }
    put(record, key, count, words);
    t->used++;
    return t->used * 5 < t->slots * 4 || table_grow(g, t);
}

/* The three forms of records, each compiled separately. */
#define BY_FORM(call, ...)                                                                                             \
    (g->words == PACKED ? call(__VA_ARGS__, PACKED)                                                                    \
     : g->words == 1    ? call(__VA_ARGS__, 1)                                                                         \
                        : call(__VA_ARGS__, g->words))

/* ---- One table, one thread ---- */

static inline bool add_block(grouping *g, const uint64_t *keys, int64_t begin, int n, int words)
{
    const int64_t *counts = g->source->counts;
    for (int i = 0; i < n; i++) {
        const uint64_t *key = keys + i * (words == PACKED ? 1 : words);
        uint64_t        count = counts ? (uint64_t)counts[begin + i] : 1;
        if (!table_add(g, &g->buckets[0].table, key, hash_key(g, key), count, words)) return false;
    }
    return true;
}

static kn_status run_single(grouping *g, kn_error *err)
{
    const kn_key_source *s = g->source;
    uint64_t            *keys = kn_alloc_array(g->ctx, KN_GROUP_BLOCK * (size_t)g->key_words, sizeof *keys);
    /* Space for all items to be distinct: clearing it costs less than growing into it. */
    bool fine = keys && table_init(g, &g->buckets[0].table, (uint64_t)s->items + (uint64_t)s->items / 3 + 64);
    for (int64_t begin = 0; begin < s->items && fine; begin += KN_GROUP_BLOCK) {
        int n = s->items - begin < KN_GROUP_BLOCK ? (int)(s->items - begin) : KN_GROUP_BLOCK;
        s->fill(s->arg, begin, n, keys);
        fine = BY_FORM(add_block, g, keys, begin, n);
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
        hashes[n] = hash_key(g, key_in(record, words, &room));
        __builtin_prefetch(t->records + first_slot(hashes[n], t->slots) * (uint64_t)(words + 1), 1);
        records[n++] = record;
    }
    bool fine = true;
    for (int i = 0; i < n && fine; i++) {
        fine = table_add(g, t, key_in(records[i], words, &room), hashes[i], count_in(records[i], words), words);
        records[i][words] = 0;
    }
    return fine;
}

static bool empty_part(grouping *g, worker_table *w, int part)
{
    hash_table *t = &g->buckets[part].table;
    if (!t->records && !table_init(g, t, g->bucket_slots)) return false;
    w->used[part] = 0;
    uint64_t *records = w->records + (uint64_t)part * (uint64_t)(g->part_slots * g->stride);
    return BY_FORM(move_part, g, records, t);
}

static inline bool count_key(grouping *g, worker_table *w, const uint64_t *key, uint64_t hash, uint64_t count,
                             int words)
{
    uint64_t  part = hash >> 56;
    uint64_t  slots = (uint64_t)g->part_slots;
    uint64_t *base = w->records + part * (uint64_t)(g->part_slots * (words + 1));
    uint64_t *record = find_slot(base, slots, hash >> 40 & (slots - 1), key, words);
    if (record[words]) {
        record[words] += count;
        return true;
    }
    put(record, key, count, words);
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
        uint64_t        hash = hash_key(g, key);
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
        if (!BY_FORM(count_block, g, w, begin, n)) return kn_fail_memory(err, g->ctx, WHAT);
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
    kn_status st = kn_parallel_for(g->ctx, g->source->items, GRAIN, count_range, g, err);
    if (!g->quiet) kn_progress_end(g->ctx);
    if (st == KN_OK) st = kn_parallel_for(g->ctx, BUCKETS, 8, empty_range, g, err);
    free_workers(g);
    return st;
}

/* ---- From tables to the sorted result ---- */

static inline void copy_used(const grouping *g, const hash_table *t, uint64_t *to, int words)
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
    grouping *g = arg;
    for (int64_t b = begin; b < end; b++) {
        hash_table *t = &g->buckets[b].table;
        uint64_t   *to = g->sorted + g->offsets[b] * (uint64_t)g->stride;
        if (t->records) BY_FORM(copy_used, g, t, to);
        kn_free(t->records);
        t->records = NULL;
    }
    return KN_OK;
}

/* Packed records are sorted as they are, by the key's digits from the lowest, and unpacked. */
static kn_status sort_packed(grouping *g, kn_error *err)
{
    kn_freq  *f = g->freq;
    size_t    n = (size_t)f->classes;
    uint64_t *room = g->unsorted ? NULL : kn_alloc_array(g->ctx, n, sizeof *room);
    f->counts = kn_alloc_array(g->ctx, n, sizeof *f->counts);
    if ((!room && !g->unsorted) || !f->counts) {
        kn_free(room);
        return kn_fail_memory(err, g->ctx, WHAT);
    }
    for (int shift = 32; shift < 32 + g->source->bits && !g->unsorted; shift += DIGIT_BITS) {
        size_t next[1 << DIGIT_BITS] = {0}, at = 0;
        for (size_t i = 0; i < n; i++) next[g->sorted[i] >> shift & DIGIT_MASK]++;
        for (size_t d = 0; d <= DIGIT_MASK; d++) {
            size_t count = next[d];
            next[d] = at;
            at += count;
        }
        for (size_t i = 0; i < n; i++) room[next[g->sorted[i] >> shift & DIGIT_MASK]++] = g->sorted[i];
        uint64_t *swap = g->sorted;
        g->sorted = room;
        room = swap;
    }
    for (size_t i = 0; i < n; i++) {
        f->counts[i] = (int64_t)(g->sorted[i] & UINT32_MAX);
        g->sorted[i] >>= 32;
    }
    kn_free(room);
    f->keys = g->sorted;
    g->sorted = NULL;
    return KN_OK;
}

/* One word: the records are (key, count) and are sorted and split where they are. */
static kn_status sort_narrow(grouping *g, kn_error *err)
{
    kn_freq        *f = g->freq;
    size_t          n = (size_t)f->classes;
    kn_sort_record *records = (kn_sort_record *)(void *)g->sorted;
    static_assert(sizeof *records == 2 * sizeof *g->sorted, "a record is a key and a count");
    if (!g->unsorted) KN_TRY(kn_sort_records(g->ctx, records, n, NULL, NULL, err));
    f->counts = kn_alloc_array(g->ctx, n, sizeof *f->counts);
    if (!f->counts) return kn_fail_memory(err, g->ctx, WHAT);
    for (size_t i = 0; i < n; i++) f->counts[i] = (int64_t)g->sorted[2 * i + 1];
    for (size_t i = 0; i < n; i++) g->sorted[i] = g->sorted[2 * i];
    f->keys = kn_realloc_array(g->ctx, g->sorted, n, sizeof *f->keys);
    if (!f->keys) return kn_fail_memory(err, g->ctx, WHAT);
    g->sorted = NULL;
    return KN_OK;
}

static int by_later_words(const void *arg, uint64_t a, uint64_t b)
{
    const grouping *g = arg;
    const uint64_t *x = g->sorted + a * (uint64_t)g->stride, *y = g->sorted + b * (uint64_t)g->stride;
    for (int w = 1; w < g->words; w++)
        if (x[w] != y[w]) return x[w] < y[w] ? -1 : 1;
    return 0;
}

/* Several words: an order is sorted, then the records are copied by it. */
static kn_status sort_wide(grouping *g, kn_error *err)
{
    kn_freq        *f = g->freq;
    size_t          n = (size_t)f->classes, words = (size_t)g->words;
    kn_sort_record *order = kn_alloc_array(g->ctx, n, sizeof *order);
    kn_status       st = order ? KN_OK : kn_fail_memory(err, g->ctx, WHAT);
    if (st == KN_OK) {
        for (size_t i = 0; i < n; i++) order[i] = (kn_sort_record){g->sorted[i * (words + 1)], i};
        if (!g->unsorted) st = kn_sort_records(g->ctx, order, n, by_later_words, g, err);
    }
    if (st == KN_OK) {
        f->keys = kn_alloc_array(g->ctx, n * words, sizeof *f->keys);
        f->counts = kn_alloc_array(g->ctx, n, sizeof *f->counts);
        if (!f->keys || !f->counts) st = kn_fail_memory(err, g->ctx, WHAT);
    }
    for (size_t i = 0; i < n && st == KN_OK; i++) {
        const uint64_t *record = g->sorted + order[i].id * (words + 1);
        memcpy(f->keys + i * words, record, words * sizeof *f->keys);
        f->counts[i] = (int64_t)record[words];
    }
    kn_free(order);
    return st;
}

static kn_status gather(grouping *g, kn_error *err)
{
    uint64_t total = 0;
    uint64_t offsets[BUCKETS];
    for (int b = 0; b < g->bucket_count; b++) {
        offsets[b] = total;
        total += g->buckets[b].table.used;
    }
    g->offsets = offsets;
    g->freq->classes = (int64_t)total;
    g->sorted = kn_alloc_array(g->ctx, total * (uint64_t)g->stride, sizeof *g->sorted);
    if (!g->sorted) return kn_fail_memory(err, g->ctx, WHAT);
    kn_status st = kn_parallel_for(g->ctx, g->bucket_count, 8, gather_range, g, err);
    g->offsets = NULL;
    if (st == KN_OK)
        st = g->words == PACKED ? sort_packed(g, err) : g->words == 1 ? sort_narrow(g, err) : sort_wide(g, err);
    kn_free(g->sorted);
    g->sorted = NULL;
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

static kn_status run_hashed(grouping *g, bool single, kn_error *err)
{
    g->bucket_count = single ? 1 : BUCKETS;
    g->buckets = kn_alloc_array_zero(g->ctx, (size_t)g->bucket_count, sizeof *g->buckets);
    if (!g->buckets) return kn_fail_memory(err, g->ctx, WHAT);
    for (int b = 0; b < g->bucket_count; b++) pthread_mutex_init(&g->buckets[b].lock, NULL);
    kn_status st = single ? run_single(g, err) : run_buckets(g, err);
    if (st == KN_OK) st = gather(g, err);
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

static kn_group_path choose_path(const kn_key_source *source)
{
    /* Clearing and reading 2^bits counters must not cost more than counting the items. */
    if (source->words == 1 && source->bits <= DENSE_BITS && (int64_t)1 << source->bits <= 4 * source->items + 64)
        return KN_GROUP_DENSE;
    return source->items <= SINGLE_ITEMS ? KN_GROUP_SINGLE : KN_GROUP_BUCKETS;
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
    kn_group_path path = options && options->path != KN_GROUP_AUTO ? options->path : choose_path(source);
    if (path == KN_GROUP_DENSE && (source->words > 1 || source->bits > DENSE_BITS)) path = KN_GROUP_BUCKETS;
    KN_TRY(path == KN_GROUP_DENSE ? run_dense(&g, err) : run_hashed(&g, path == KN_GROUP_SINGLE, err));
    if (kn_fault("group-merge-lost") && freq->classes > 1) freq->classes--;
    freq->rows = 0;
    for (int64_t i = 0; i < freq->classes; i++) {
        if (kn_fault("group-count-plus-one")) freq->counts[i]++;
        freq->rows += freq->counts[i];
    }
    return KN_OK;
}
