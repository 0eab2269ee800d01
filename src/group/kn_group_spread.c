/* kn_group_spread.c: grouping many different keys: rows are spread over the buckets first, and counted in batches.
 *
 * The private table of kn_group.c pays where most rows have a key that is in it already. Where keys are many, each row
 * there costs a failed search, and later a second one in its bucket. Here a row is only appended to a list of its bucket
 * (a worker has one per bucket: 256 lines of cache that stay in the first level); a full list is counted in the bucket's
 * table under its lock, with the slots of the next keys on their way from memory. One search per row, no branch that
 * is guessed wrong before it.
 *
 * Which of both is better, a sample tells: kn_group_spread_suits. A key that very many rows have goes the other way, for
 * all its rows would meet at one lock.
 *
 * Cost: O(items) expected. Memory: that of the tables, and of the lists, at most a byte per item.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "kn_alloc.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_group_internal.h"
#include "kn_parallel.h"

enum {
    GRAIN = KN_GROUP_GRAIN / 4, /* growing tables makes ranges unequal */
    LEAST_LIST = 64,            /* keys */
    MOST_LIST = 4096,
    BESIDE =
        16,     /* keys between lists: with a power of two from list to list they would meet in few sets of the cache */
    AHEAD = 64, /* slots on their way */
    LINE = 64,  /* bytes of a line of cache */
    PIECE = 64, /* rows of the sample that stand together */
    MOST_SAMPLE = 1 << 14,
    SAMPLE_SLOTS = 1 << 15,
    SAMPLE_SHARE = 16, /* at most this part of the items */
    RARE_SHARE = 8,    /* rows with keys seen once: at least this part of the sample */
    HOT_SHARE = 32     /* rows with one key: at most this part */
};

/* A worker's lists; keys in 4 bytes where they fit. */
typedef struct spreader {
    void     *keys;  /* KN_GROUP_COUNT × capacity */
    uint32_t *used;  /* per list */
    void     *block; /* keys of one block */
} spreader;

typedef struct spreading {
    kn_grouping *g;
    uint32_t     capacity; /* of a list */
    uint32_t     stride;   /* from list to list */
    int          worker_count;
    spreader    *workers;
} spreading;

/* ---- The sample ---- */

bool kn_group_spread_suits(const kn_grouping *g)
{
    const kn_key_source *s = g->source;
    int64_t              pieces = s->items / SAMPLE_SHARE / PIECE;
    if (pieces > MOST_SAMPLE / PIECE) pieces = MOST_SAMPLE / PIECE;
    if (g->key_words != 1 || s->counts || pieces == 0) return false;
    uint64_t *keys = kn_alloc_array(g->ctx, SAMPLE_SLOTS, sizeof *keys);
    uint32_t *counts = kn_alloc_array_zero(g->ctx, SAMPLE_SLOTS, sizeof *counts);
    uint32_t  most = 0, once = 0;
    for (int64_t p = 0; p < pieces && keys && counts; p++) {
        uint64_t piece[PIECE];
        s->fill(s->arg, s->items / pieces * p, PIECE, piece);
        for (int i = 0; i < PIECE; i++) {
            uint64_t at = kn_hash_word(piece[i]) >> 32 & (SAMPLE_SLOTS - 1);
            while (counts[at] && keys[at] != piece[i]) at = (at + 1) & (SAMPLE_SLOTS - 1);
            keys[at] = piece[i];
            counts[at]++;
            once += counts[at] == 1;
            once -= counts[at] == 2;
            if (counts[at] > most) most = counts[at];
        }
    }
    KN_FREE(keys, counts);
    return most > 0 && most <= pieces * PIECE / HOT_SHARE && once >= pieces * PIECE / RARE_SHARE;
}

/* ---- Lists ---- */

/* The i-th key of a list. */
static inline uint64_t listed(const void *list, uint32_t i, int words)
{
    return words == KN_GROUP_PACKED ? ((const uint32_t *)list)[i] : ((const uint64_t *)list)[i];
}

/* Counts the keys of a list. Most are in their first slot: those are counted without a branch that could be guessed
 * wrong, the others are searched for afterwards. */
static inline bool count_list(kn_grouping *g, kn_group_table *t, const void *list, uint32_t n, int words)
{
    uint64_t places[AHEAD], elsewhere[AHEAD];
    for (uint32_t begin = 0; begin < n; begin += AHEAD) {
        uint32_t  some = n - begin < AHEAD ? n - begin : AHEAD, left = 0;
        uint64_t *records = t->records;
        for (uint32_t i = 0; i < some; i++) {
            uint64_t key = listed(list, begin + i, words);
            places[i] = kn_group_first_slot(kn_group_hash(g, &key), t->slots) * (uint64_t)(words + 1);
            __builtin_prefetch(records + places[i], 1);
        }
        for (uint32_t i = 0; i < some; i++) {
            uint64_t key = listed(list, begin + i, words), *record = records + places[i];
            bool     here = kn_record_has(record, &key, words) & (record[words] != 0);
            record[words] += here;
            elsewhere[left] = key;
            left += !here;
        }
        for (uint32_t i = 0; i < left; i++)
            if (!kn_group_table_add(g, t, &elsewhere[i], kn_group_hash(g, &elsewhere[i]), 1, words)) return false;
    }
    return true;
}

static inline void *list_of(const spreading *s, const spreader *w, uint64_t bucket, int words)
{
    size_t at = (size_t)bucket * s->stride;
    return words == KN_GROUP_PACKED ? (void *)((uint32_t *)w->keys + at) : (void *)((uint64_t *)w->keys + at);
}

static bool empty_list(spreading *s, spreader *w, uint64_t bucket)
{
    kn_grouping    *g = s->g;
    kn_group_table *t = &g->buckets[bucket].table;
    uint32_t        n = w->used[bucket];
    if (n == 0) return true;
    if (!t->records && !kn_group_table_init(g, t, g->bucket_slots)) return false;
    w->used[bucket] = 0;
    t->seen += n;
    return g->words == KN_GROUP_PACKED ? count_list(g, t, list_of(s, w, bucket, KN_GROUP_PACKED), n, KN_GROUP_PACKED)
                                       : count_list(g, t, list_of(s, w, bucket, 1), n, 1);
}

static bool empty_locked(spreading *s, spreader *w, uint64_t bucket)
{
    pthread_mutex_lock(&s->g->buckets[bucket].lock);
    bool fine = empty_list(s, w, bucket);
    pthread_mutex_unlock(&s->g->buckets[bucket].lock);
    return fine;
}

/* What the loop needs is copied first: for all the compiler knows, writing a key might change it. */
static inline bool spread_block(spreading *s, spreader *w, int n, int words)
{
    uint32_t   *used = w->used;
    uint32_t    short_line = LINE / sizeof(uint32_t), long_line = LINE / sizeof(uint64_t);
    void       *keys = w->keys, *block = w->block;
    size_t      stride = s->stride, capacity = s->capacity;
    kn_key_hash hash = s->g->hash;
    for (int i = 0; i < n; i++) {
        uint64_t key = listed(block, (uint32_t)i, words);
        uint64_t bucket = (hash ? hash(&key, 1) : kn_hash_word(key)) >> 56;
        uint32_t at = used[bucket]++;
        if (words == KN_GROUP_PACKED) {
            uint32_t *to = (uint32_t *)keys + bucket * stride + at;
            *to = (uint32_t)key;
            __builtin_prefetch(to + short_line, 1);
        } else {
            uint64_t *to = (uint64_t *)keys + bucket * stride + at;
            *to = key;
            __builtin_prefetch(to + long_line, 1);
        }
        if (at + 1 == capacity && !empty_locked(s, w, bucket)) return false;
    }
    return true;
}

static bool worker_start(spreading *s, spreader *w)
{
    if (w->block) return true;
    size_t size = s->g->words == KN_GROUP_PACKED ? sizeof(uint32_t) : sizeof(uint64_t);
    w->keys = kn_alloc_array(s->g->ctx, (size_t)KN_GROUP_COUNT * s->stride, size);
    w->used = kn_alloc_array_zero(s->g->ctx, KN_GROUP_COUNT, sizeof *w->used);
    if (!w->keys || !w->used) return false;
    return (w->block = kn_alloc_array(s->g->ctx, KN_GROUP_BLOCK, size)) != NULL;
}

static void fill_block(const kn_grouping *g, int64_t begin, int n, void *block)
{
    const kn_key_source *from = g->source;
    if (g->words != KN_GROUP_PACKED) {
        from->fill(from->arg, begin, n, block);
    } else if (from->fill_short) {
        from->fill_short(from->arg, begin, n, block);
    } else {
        uint64_t keys[KN_GROUP_BLOCK];
        from->fill(from->arg, begin, n, keys);
        for (int i = 0; i < n; i++) ((uint32_t *)block)[i] = (uint32_t)keys[i];
    }
}

static kn_status spread_range(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    spreading   *s = arg;
    spreader    *w = &s->workers[worker];
    kn_grouping *g = s->g;
    if (!worker_start(s, w)) return kn_fail_memory(err, g->ctx, KN_GROUP_WHAT);
    int64_t items = end - begin;
    for (; begin < end; begin += KN_GROUP_BLOCK) {
        int n = end - begin < KN_GROUP_BLOCK ? (int)(end - begin) : KN_GROUP_BLOCK;
        fill_block(g, begin, n, w->block);
        if (!(g->words == KN_GROUP_PACKED ? spread_block(s, w, n, KN_GROUP_PACKED) : spread_block(s, w, n, 1)))
            return kn_fail_memory(err, g->ctx, KN_GROUP_WHAT);
    }
    if (!g->quiet) kn_progress_add(g->ctx, (uint64_t)items);
    return KN_OK;
}

/* What is left in the lists of buckets [begin, end); nobody else touches them now. */
static kn_status empty_range(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    (void)worker;
    spreading *s = arg;
    for (int64_t b = begin; b < end; b++)
        for (int w = 0; w < s->worker_count; w++)
            if (s->workers[w].block && !empty_list(s, &s->workers[w], (uint64_t)b))
                return kn_fail_memory(err, s->g->ctx, KN_GROUP_WHAT);
    return KN_OK;
}

kn_status kn_group_spread(kn_grouping *g, kn_error *err)
{
    spreading s = {.g = g, .capacity = LEAST_LIST, .worker_count = kn_context_threads(g->ctx)};
    int64_t   share = g->source->items / KN_GROUP_COUNT / s.worker_count / (g->words == KN_GROUP_PACKED ? 4 : 8);
    while (s.capacity < MOST_LIST && 2 * (int64_t)s.capacity <= share) s.capacity *= 2;
    s.stride = s.capacity + BESIDE;
    g->bucket_slots = LEAST_LIST;
    g->expected = (uint64_t)g->source->items / KN_GROUP_COUNT;
    s.workers = kn_alloc_array_zero(g->ctx, (size_t)s.worker_count, sizeof *s.workers);
    if (!s.workers) return kn_fail_memory(err, g->ctx, KN_GROUP_WHAT);
    if (!g->quiet) kn_progress_begin(g->ctx, KN_GROUP_WHAT, "rows", (uint64_t)g->source->items);
    kn_status st = kn_parallel_for(g->ctx, g->source->items, GRAIN, spread_range, &s, err);
    if (!g->quiet) kn_progress_end(g->ctx);
    if (st == KN_OK) st = kn_parallel_for(g->ctx, KN_GROUP_COUNT, 4, empty_range, &s, err);
    for (int w = 0; w < s.worker_count; w++) KN_FREE(s.workers[w].keys, s.workers[w].used, s.workers[w].block);
    kn_free(s.workers);
    return st;
}
