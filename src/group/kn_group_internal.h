/* kn_group_internal.h: what the files of the group-by kernel share: records, hash tables, a grouping under way.
 *
 * Only for kn_group*.c. Tables are owned by the grouping; the functions on one table need its bucket's lock, or that
 * nobody else has the bucket.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_GROUP_INTERNAL_H
#define KN_GROUP_INTERNAL_H

#include <pthread.h>

#include "kn_group.h"
#include "kn_hash.h"

#define KN_GROUP_WHAT "grouping"

enum {
    KN_GROUP_COUNT = 256,      /* of buckets */
    KN_GROUP_GRAIN = 1 << 16,  /* items of a range */
    KN_GROUP_PACKED = 0        /* the number of words that stands for the packed form */
};

/* A table of records; a count of 0 marks a free slot. A record is the words of the key, then the count. Where a key fits
 * into 32 bits and so do all counts, both share one word: half the memory, twice the records per cache line. This packed
 * form goes by the number of words 0. */
typedef struct kn_group_table {
    uint64_t *records; /* NULL: no table yet */
    uint64_t  slots;
    uint64_t  used;
    uint64_t  seen; /* items counted here, where kn_grouping.expected is set */
} kn_group_table;

typedef struct kn_group_bucket {
    pthread_mutex_t lock;
    kn_group_table  table;
} kn_group_bucket;

typedef struct kn_grouping {
    kn_context          *ctx;
    const kn_key_source *source;
    kn_key_hash          hash; /* NULL: the built-in one */
    bool                 unsorted, quiet;
    int                  words;        /* of a record's key; KN_GROUP_PACKED */
    int                  key_words;    /* of a key by itself                 */
    int                  stride;       /* words + 1                          */
    uint64_t             bucket_slots; /* at first */
    uint64_t             expected;     /* items of a bucket in the end; 0: unknown */
    kn_group_bucket     *buckets;
    int                  bucket_count; /* KN_GROUP_COUNT, or 1 on the single path */
    kn_freq             *freq;

    /* Of kn_group.c alone. */
    struct kn_group_worker *workers;
    int                     worker_count;
    int                     part_slots;
    int64_t               **dense; /* per worker */
} kn_grouping;

bool kn_group_table_init(kn_grouping *g, kn_group_table *table, uint64_t slots);
bool kn_group_table_grow(kn_grouping *g, kn_group_table *table);

/* kn_group_spread.c: is it the better way for these keys (a sample decides)? And the way itself: counts all items into
 * the buckets' tables. Only for keys of one word. */
bool               kn_group_spread_suits(const kn_grouping *g);
KN_CHECK kn_status kn_group_spread(kn_grouping *g, kn_error *err);

/* kn_group_result.c: the classes of all buckets, sorted, as g->freq; the tables are freed on the way. */
KN_CHECK kn_status kn_group_result(kn_grouping *g, kn_error *err);

static inline uint64_t kn_group_hash(const kn_grouping *g, const uint64_t *key)
{
    if (g->hash) return g->hash(key, g->key_words);
    return g->key_words == 1 ? kn_hash_word(key[0]) : kn_hash_words(key, g->key_words);
}

/* ---- Records. `words` is a constant wherever speed matters, so that the compiler sees one form only. ---- */

static inline uint64_t kn_record_count(const uint64_t *record, int words)
{
    return words == KN_GROUP_PACKED ? record[0] & UINT32_MAX : record[words];
}

static inline bool kn_record_has(const uint64_t *record, const uint64_t *key, int words)
{
    if (words == KN_GROUP_PACKED) return record[0] >> 32 == key[0];
    for (int i = 0; i < words; i++)
        if (record[i] != key[i]) return false;
    return true;
}

static inline void kn_record_put(uint64_t *record, const uint64_t *key, uint64_t count, int words)
{
    if (words == KN_GROUP_PACKED) {
        record[0] = key[0] << 32 | count;
        return;
    }
    for (int i = 0; i < words; i++) record[i] = key[i];
    record[words] = count;
}

/* The key of a record: in the record itself, or unpacked into `room`. */
static inline const uint64_t *kn_record_key(const uint64_t *record, int words, uint64_t *room)
{
    if (words != KN_GROUP_PACKED) return record;
    *room = record[0] >> 32;
    return room;
}

/* The slot of a key among `slots` records, or the free one where it belongs; the search begins at slot `at`. In both
 * forms the count is in the record's last word. */
static inline uint64_t *kn_record_find(uint64_t *base, uint64_t slots, uint64_t at, const uint64_t *key, int words)
{
    for (;;) {
        uint64_t *record = base + at * (uint64_t)(words + 1);
        if (record[words] == 0 || kn_record_has(record, key, words)) return record;
        if (++at == slots) at = 0;
    }
}

/* ---- A bucket's table ---- */

/* The first slot to look at in a bucket's table: bits of the hash below the eight that chose the bucket, scaled, so that
 * a table can have any number of slots and grow by half instead of doubling. */
static inline uint64_t kn_group_first_slot(uint64_t hash, uint64_t slots)
{
    return (hash >> 16 & UINT32_MAX) * slots >> 32;
}

static inline bool kn_group_table_add(kn_grouping *g, kn_group_table *t, const uint64_t *key, uint64_t hash,
                                      uint64_t count, int words)
{
    uint64_t *record = kn_record_find(t->records, t->slots, kn_group_first_slot(hash, t->slots), key, words);
    if (record[words]) {
        record[words] += count;
        return true;
    }
    kn_record_put(record, key, count, words);
    t->used++;
    return t->used * 5 < t->slots * 4 || kn_group_table_grow(g, t);
}

/* The three forms of records, each compiled separately. */
#define KN_GROUP_BY_FORM(call, ...)                                                                                    \
    (g->words == KN_GROUP_PACKED ? call(__VA_ARGS__, KN_GROUP_PACKED)                                                  \
     : g->words == 1             ? call(__VA_ARGS__, 1)                                                                \
                                 : call(__VA_ARGS__, g->words))

#endif
