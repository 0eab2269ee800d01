/* kn_counter_split.c: counting one node in pieces, by several threads.
 *
 * Interface: kn_counter_internal.h. The entries of a set are cut into chunks. Each chunk deals its entries out to parts, by
 * bits of their keys, so that a class lies in one part; where the key space is small, the classes of the chunk instead of its
 * entries. Each part is then counted by itself, with tables that fit into the cache, and at last sums, costs and codes
 * of the parts are put together. Keys are first multiplied by an odd number, modulo a power of two, so that the parts are
 * about equally large.
 *
 * A large key space is always counted this way: random access to one large table costs more than dealing out. A smaller one
 * only where there are fewer large nodes than would keep all threads busy. What is counted is the same either way; classes of
 * a set that is kept have another order, which nothing depends on.
 *
 * Cost: entries × (look-ups + one record written and read), or entries × look-ups and the classes of chunks. Memory: 24
 * bytes per entry of the nodes that are counted together, of which there are no more than WAVE entries, or one node. Nodes for
 * which there is not so much are counted whole.
 *
 * Limits: keys of one pass (kn_counter_pass.c), and no sums by buckets: such nodes are counted whole.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "kn_alloc.h"
#include "kn_counter_internal.h"
#include "kn_error.h"
#include "kn_pages.h"
#include "kn_parallel.h"

#define WHAT "searching the lattice"

enum { LEAST = 1 << 16, CHUNK = 1 << 15, WAVE = 1 << 21, BLOCK = 256, PART_BITS = 6, PART_KEYS = 8, PART_ENTRIES = 10 };
static const uint64_t mixer = 0x9e3779b97f4a7c15u;

/* An entry, or a class of a chunk. */
typedef struct record {
    uint64_t key; /* mixed */
    uint32_t count, entry;
} record;

/* What is known of a part. */
typedef struct part {
    int64_t  begin;  /* of its classes in `found`, behind the job's first: as many as records are left free */
    int64_t  listed; /* those that are there: the suppressed ones, or all where the set is kept             */
    int64_t  at;     /* of its classes in the set                                                           */
    uint64_t classes, rows, released, squares, suppressed, lost_squares;
    kn_u128  cost;
} part;

/* A node that is counted in pieces. */
typedef struct split {
    kn_counter_job *job;
    kn_counter_pass all;
    bool            local;     /* chunks are counted first          */
    bool            within;    /* the budget                        */
    int             bits;      /* of mixed keys                     */
    int             part_bits; /* the highest of them               */
    int64_t         first;     /* of its entries in the room        */
    int64_t         chunk_size, chunks;
    uint32_t       *starts; /* per chunk: where its parts begin, and the end */
    part           *parts;
} split;

/* Kept between runs. */
typedef struct kn_counter_split_room {
    record   *records;
    uint64_t *found; /* classes: an entry above the rows */
    size_t    entries;
} kn_counter_split_room;

typedef struct wave {
    kn_counter *counter;
    split      *splits;
    int         count;
} wave;

void kn_counter_split_free(kn_context *ctx, kn_counter_split_room *room)
{
    if (!room) return;
    KN_PAGES_FREE(ctx, room->records, room->found);
    kn_free(room);
}

static int part_count(const split *s)
{
    return 1 << s->part_bits;
}

/* ---- Which ---- */

/* The possible keys of a node; 0: more than fit into one pass. */
static uint64_t space_of(const kn_counter *counter, const kn_counter_job *job)
{
    kn_u128 space = 1;
    for (int g = 0; g < counter->group_count; g++) {
        if (!job->from->codes[g]) continue;
        const kn_counter_group *group = &counter->groups[g];
        space *= group->tables[kn_counter_table_number(group, job->levels)]->distinct;
        if (space > kn_counter_key_space(counter)) return 0;
    }
    return (uint64_t)space;
}

int64_t kn_counter_split_choose(const kn_counter *counter, kn_counter_job *jobs, int64_t count)
{
    int64_t chosen = 0, all = 0, most = 0, chunk = counter->options.chunk;
    for (int64_t i = 0; i < count; i++) {
        all += jobs[i].from->classes;
        if (jobs[i].from->classes > most) most = jobs[i].from->classes;
        jobs[i].split = false;
    }
    bool idle = counter->workers > 1 && all < 2 * counter->workers * most;
    for (int64_t i = 0; i < count; i++) {
        if (chunk < 0 || jobs[i].buckets || jobs[i].from->classes < (chunk > 0 ? 1 : LEAST)) continue;
        uint64_t space = space_of(counter, &jobs[i]);
        jobs[i].split = space > 0 && (chunk > 0 || idle || space > KN_COUNTER_DENSE_NEAR);
        chosen += jobs[i].split;
    }
    return chosen;
}

static int bits_for(uint64_t space)
{
    return space > 1 ? 64 - __builtin_clzll(space - 1) : 0;
}

static void plan_split(const kn_counter *counter, kn_counter_job *job, split *s)
{
    int64_t entries = job->from->classes;
    *s = (split){.job = job, .chunk_size = counter->options.chunk > 0 ? counter->options.chunk : CHUNK};
    kn_counter_gather(counter, job, &s->all);
    s->all.space = space_of(counter, job);
    s->all.last = true;
    s->local = s->all.space <= KN_COUNTER_DENSE_LEAST && counter->options.path != KN_COUNTER_HASH;
    s->bits = bits_for(s->all.space);
    s->chunks = (entries + s->chunk_size - 1) / s->chunk_size;
    /* Parts with few keys or few entries are not worth a visit. */
    while (s->part_bits < PART_BITS && s->bits - s->part_bits > PART_KEYS &&
           (entries >> (s->part_bits + PART_ENTRIES) > 1 || counter->options.chunk > 0))
        s->part_bits++;
}

/* ---- Chunks ---- */

static inline uint64_t mixed(const split *s, uint64_t key)
{
    return key * mixer & (((uint64_t)1 << s->bits) - 1);
}

static inline size_t part_of(const split *s, uint64_t key)
{
    return (size_t)(key >> (s->bits - s->part_bits));
}

/* From the sizes of the parts, behind the first place each, to where they begin. */
static void place_parts(const split *s, uint32_t *starts)
{
    for (int p = 0; p < part_count(s); p++) starts[p + 1] += starts[p];
}

/* Deals out the entries. `keys`: of all of them. */
static void deal_entries(const split *s, int64_t begin, int n, uint64_t *keys, uint32_t *starts, record *to)
{
    uint32_t        next[1 << PART_BITS];
    const uint32_t *counts = s->all.from->counts + begin;
    for (int at = 0; at < n; at += BLOCK)
        kn_counter_keys(&s->all, begin + at, n - at < BLOCK ? n - at : BLOCK, keys + at);
    for (int i = 0; i < n; i++) {
        keys[i] = mixed(s, keys[i]);
        starts[part_of(s, keys[i]) + 1]++;
    }
    place_parts(s, starts);
    memcpy(next, starts, (size_t)part_count(s) * sizeof *next);
    for (int i = 0; i < n; i++) to[next[part_of(s, keys[i])]++] = (record){keys[i], counts[i], (uint32_t)(begin + i)};
}

/* The same with the classes of the chunk. */
static kn_status deal_classes(const kn_counter *counter, const split *s, kn_counter_scratch *scratch, int64_t begin,
                              int n, uint32_t *starts, record *to, kn_error *err)
{
    uint32_t         next[1 << PART_BITS];
    kn_counter_pass  pass = s->all;
    kn_counter_cells cells = {NULL, 0};
    pass.begin = begin;
    pass.end = begin + n;
    pass.scratch = scratch;
    KN_TRY(kn_counter_pass_run(counter, &pass, &cells, err));
    for (uint32_t c = 0; c < pass.classes; c++) starts[part_of(s, mixed(s, (uint32_t)scratch->found[c])) + 1]++;
    place_parts(s, starts);
    memcpy(next, starts, (size_t)part_count(s) * sizeof *next);
    for (uint32_t c = 0; c < pass.classes; c++) {
        uint64_t  found = scratch->found[c], key = mixed(s, (uint32_t)found);
        uint32_t *cell = kn_counter_cell(cells, found);
        to[next[part_of(s, key)]++] = (record){key, *cell, (uint32_t)(found >> 32)};
        *cell = 0;
    }
    return KN_OK;
}

/* Which split a piece of all belongs to: *piece becomes its number there. `extra`: pieces beside the parts. */
static split *split_of(const wave *w, int64_t *piece, bool chunks, int extra)
{
    for (int i = 0; i < w->count; i++) {
        int64_t own = chunks ? w->splits[i].chunks : part_count(&w->splits[i]) + extra;
        if (*piece < own) return &w->splits[i];
        *piece -= own;
    }
    return NULL;
}

static kn_status chunk_range(void *arg, int64_t piece, int64_t end, int worker, kn_error *err)
{
    const wave         *w = arg;
    kn_counter         *counter = w->counter;
    kn_counter_scratch *scratch = &counter->scratch[worker];
    const split        *s = split_of(w, &piece, true, 0);
    int64_t             begin = piece * s->chunk_size, left = s->all.from->classes - begin;
    int                 n = (int)(left < s->chunk_size ? left : s->chunk_size);
    uint32_t           *starts = s->starts + piece * (part_count(s) + 1);
    record             *to = counter->room->records + s->first + begin;
    (void)end;
    kn_status st = kn_counter_need_entries(counter->ctx, scratch, (size_t)s->chunk_size + 1)
                       ? KN_OK
                       : kn_fail_memory(err, counter->ctx, WHAT);
    if (st == KN_OK && s->local)
        st = deal_classes(counter, s, scratch, begin, n, starts, to, err);
    else if (st == KN_OK)
        deal_entries(s, begin, n, scratch->found, starts, to);
    if (st != KN_OK) kn_counter_scratch_free(scratch);
    return st;
}

/* ---- Parts ---- */

/* Where the classes of the parts go. */
static void place_classes(const split *s)
{
    int64_t at = 0;
    for (int p = 0; p < part_count(s); p++) {
        s->parts[p].begin = at;
        for (int64_t c = 0; c < s->chunks; c++) {
            const uint32_t *starts = s->starts + c * (part_count(s) + 1) + p;
            at += starts[1] - starts[0];
        }
    }
}

typedef struct piece {
    const record *records;
    uint32_t      count;
} piece;

static piece piece_of(const wave *w, const split *s, int64_t chunk, int64_t p)
{
    const uint32_t *starts = s->starts + chunk * (part_count(s) + 1) + p;
    return (piece){w->counter->room->records + s->first + chunk * s->chunk_size + starts[0], starts[1] - starts[0]};
}

static __attribute__((noinline)) uint32_t count_dense(const wave *w, const split *s, int64_t p,
                                                      kn_counter_scratch *scratch)
{
    uint32_t *table = scratch->dense, m = 0, mask = (uint32_t)(((uint64_t)1 << (s->bits - s->part_bits)) - 1);
    uint64_t *found = scratch->found;
    for (int64_t c = 0; c < s->chunks; c++) {
        piece own = piece_of(w, s, c, p);
        for (uint32_t i = 0; i < own.count; i++) {
            uint32_t key = (uint32_t)own.records[i].key & mask, count = table[key];
            found[m] = (uint64_t)own.records[i].entry << 32 | key;
            m += count == 0;
            table[key] = count + own.records[i].count;
        }
    }
    return m;
}

static __attribute__((noinline)) uint32_t count_hash(const wave *w, const split *s, int64_t p, size_t mask,
                                                     kn_counter_scratch *scratch)
{
    kn_counter_slot *hash = scratch->hash;
    uint64_t        *found = scratch->found;
    uint32_t         m = 0;
    for (int64_t c = 0; c < s->chunks; c++) {
        piece own = piece_of(w, s, c, p);
        for (uint32_t i = 0; i < own.count; i++) {
            size_t slot = kn_counter_hash_slot(own.records[i].key, mask);
            while (hash[slot].count != 0 && hash[slot].key != own.records[i].key) slot = (slot + 1) & mask;
            found[m] = (uint64_t)own.records[i].entry << 32 | slot;
            m += hash[slot].count == 0;
            hash[slot].key = own.records[i].key;
            hash[slot].count += own.records[i].count;
        }
    }
    return m;
}

/* Sums of the classes found; resets the counters. */
static __attribute__((noinline)) void sum_part(const kn_counter *counter, const split *s, part *own,
                                               const kn_counter_scratch *scratch, kn_counter_cells cells,
                                               uint32_t classes)
{
    uint64_t *to = counter->room->found + s->first + own->begin, k = (uint64_t)counter->k;
    uint64_t  rows = 0, released = 0, squares = 0, suppressed = 0, lost_squares = 0;
    int64_t   listed = 0;
    bool      all = s->job->keep;
    for (uint32_t c = 0; c < classes; c++) {
        uint32_t *cell = kn_counter_cell(cells, scratch->found[c]);
        uint64_t  count = *cell;
        *cell = 0;
        to[listed] = (scratch->found[c] >> 32 << 32) | count;
        listed += all || count < k;
        if (count >= k) {
            released++;
            rows += count;
            squares += count * count;
        } else {
            suppressed += count;
            lost_squares += count * count;
        }
    }
    own->classes = classes;
    own->listed = listed;
    own->rows = rows;
    own->released = released;
    own->squares = squares;
    own->suppressed = suppressed;
    own->lost_squares = lost_squares;
}

static bool need_hash(kn_context *ctx, kn_counter_scratch *scratch, size_t size)
{
    if (size <= scratch->hash_size) return true;
    kn_free(scratch->hash);
    scratch->hash = kn_alloc_array_zero(ctx, size, sizeof *scratch->hash);
    scratch->hash_size = scratch->hash ? size : 0;
    return scratch->hash != NULL;
}

static kn_status part_range(void *arg, int64_t p, int64_t end, int worker, kn_error *err)
{
    const wave         *w = arg;
    kn_counter         *counter = w->counter;
    kn_counter_scratch *scratch = &counter->scratch[worker];
    const split        *s = split_of(w, &p, false, 0);
    int64_t             records = 0;
    int                 bits = s->bits - s->part_bits;
    (void)end;
    for (int64_t c = 0; c < s->chunks; c++) records += piece_of(w, s, c, p).count;
    bool dense = counter->options.path != KN_COUNTER_HASH && bits <= 22 &&
                 (counter->options.path == KN_COUNTER_DENSE || bits <= 16 ||
                  (uint64_t)1 << bits <= KN_COUNTER_DENSE_PER_ENTRY * (uint64_t)records);
    size_t slots = 64;
    while (slots < 2 * (size_t)records) slots *= 2;
    bool ok = kn_counter_need_entries(counter->ctx, scratch, (size_t)records + 1) &&
              (dense ? kn_counter_need_dense(counter->ctx, scratch, (size_t)1 << bits)
                     : need_hash(counter->ctx, scratch, slots));
    if (!ok) {
        kn_counter_scratch_free(scratch);
        return kn_fail_memory(err, counter->ctx, WHAT);
    }
    uint32_t         classes = dense ? count_dense(w, s, p, scratch) : count_hash(w, s, p, slots - 1, scratch);
    kn_counter_cells cells = {dense ? scratch->dense : &scratch->hash->count, dense ? 1 : sizeof *scratch->hash / 4};
    sum_part(counter, s, &s->parts[p], scratch, cells, classes);
    return KN_OK;
}

/* ---- Together ---- */

static kn_status sum_up(const kn_counter *counter, split *s, kn_error *err)
{
    kn_counter_job *job = s->job;
    uint64_t        squares = 0, lost_squares = 0;
    int64_t         classes = 0;
    job->sums = (kn_node_sums){0};
    for (int p = 0; p < part_count(s); p++) {
        part *own = &s->parts[p];
        own->at = classes;
        classes += (int64_t)own->classes;
        job->sums.rows += (int64_t)own->rows;
        job->sums.suppressed += (int64_t)own->suppressed;
        job->sums.classes += (int64_t)own->released;
        squares += own->squares; /* rows < 2^32 */
        lost_squares += own->lost_squares;
    }
    job->classes = classes;
    job->sums.squares = squares;
    job->sums.suppressed_squares = lost_squares;
    s->within = counter->cells && job->sums.suppressed <= counter->problem->budget;
    if (job->keep) job->set = kn_counter_set_new(counter, job->from, classes);
    return job->keep && !job->set ? kn_fail_memory(err, counter->ctx, WHAT) : KN_OK;
}

/* One part: the cost of its suppressed rows, its classes in the set. Behind the parts, one quasi-identifier each: the values
 * of suppressed rows. */
static kn_status settle_range(void *arg, int64_t p, int64_t end, int worker, kn_error *err)
{
    const wave     *w = arg;
    kn_counter     *counter = w->counter;
    split          *s = split_of(w, &p, false, counter->problem->quasi_count);
    kn_counter_job *job = s->job;
    uint64_t        k = (uint64_t)counter->k;
    const uint64_t *found = counter->room->found + s->first;
    (void)end;
    (void)worker;
    (void)err;
    if (p >= part_count(s)) {
        for (int i = 0; s->within && job->lost && i < part_count(s); i++)
            kn_counter_note_values(counter, &s->all, (int)p - part_count(s), found + s->parts[i].begin,
                                   s->parts[i].listed, k, job->lost);
        return KN_OK;
    }
    part *own = &s->parts[p];
    found += own->begin;
    if (s->within) own->cost = kn_counter_cost_of(&s->all, found, own->listed, k);
    if (!job->set) return KN_OK;
    kn_counter_copy_codes(counter, job->from, found, job->set, own->at, own->at + own->listed);
    for (int64_t c = 0; c < own->listed; c++) job->set->counts[own->at + c] = (uint32_t)found[c];
    return KN_OK;
}

static void finish(const kn_counter *counter, const split *s)
{
    kn_counter_job *job = s->job;
    uint64_t        star = 0;
    kn_u128         cost = 0;
    for (int g = 0; g < s->all.groups; g++) star += s->all.group[g]->star;
    for (int p = 0; p < part_count(s); p++) cost += s->parts[p].cost;
    if (counter->cells) job->excess = (kn_u128)star * (uint64_t)job->sums.suppressed - cost;
    if (counter->problem->objective->cells) job->sums.cells = kn_counter_cells_of(counter, job) - cost;
}

/* ---- Waves ---- */

static kn_status run_wave(wave *w, kn_error *err)
{
    kn_counter *counter = w->counter;
    int64_t     chunks = 0, parts = 0, pieces = 0;
    for (int i = 0; i < w->count; i++) {
        chunks += w->splits[i].chunks;
        parts += part_count(&w->splits[i]);
        pieces += part_count(&w->splits[i]) + counter->problem->quasi_count;
    }
    KN_TRY(kn_parallel_for(counter->ctx, chunks, 1, chunk_range, w, err));
    for (int i = 0; i < w->count; i++) place_classes(&w->splits[i]);
    KN_TRY(kn_parallel_for(counter->ctx, parts, 1, part_range, w, err));
    for (int i = 0; i < w->count; i++) KN_TRY(sum_up(counter, &w->splits[i], err));
    KN_TRY(kn_parallel_for(counter->ctx, pieces, 1, settle_range, w, err));
    for (int i = 0; i < w->count; i++) finish(counter, &w->splits[i]);
    return KN_OK;
}

static bool need_room(kn_counter *counter, size_t entries)
{
    if (!counter->room) counter->room = kn_alloc_zero(counter->ctx, sizeof *counter->room);
    kn_counter_split_room *room = counter->room;
    if (!room || entries <= room->entries) return room != NULL;
    KN_PAGES_FREE(counter->ctx, room->records, room->found);
    room->entries = 0;
    room->records = kn_alloc_array(counter->ctx, entries, sizeof *room->records);
    room->found = kn_alloc_array(counter->ctx, entries, sizeof *room->found);
    if (!room->records || !room->found) return false;
    room->entries = entries;
    return true;
}

/* Room for the splits of a wave, and their own. */
static bool make_room(wave *w)
{
    size_t entries = 0, starts = 0, parts = 0;
    for (int i = 0; i < w->count; i++) {
        split *s = &w->splits[i];
        s->first = (int64_t)entries;
        entries += (size_t)s->all.from->classes + 1;
        starts += (size_t)s->chunks * ((size_t)part_count(s) + 1);
        parts += (size_t)part_count(s);
    }
    kn_context *ctx = w->counter->ctx;
    w->splits[0].starts = kn_alloc_array_zero(ctx, starts, sizeof *w->splits[0].starts);
    w->splits[0].parts = kn_alloc_array_zero(ctx, parts, sizeof *w->splits[0].parts);
    for (int i = 1; i < w->count && w->splits[0].starts && w->splits[0].parts; i++) {
        const split *before = &w->splits[i - 1];
        w->splits[i].starts = before->starts + before->chunks * (part_count(before) + 1);
        w->splits[i].parts = before->parts + part_count(before);
    }
    return w->splits[0].starts && w->splits[0].parts && need_room(w->counter, entries);
}

/* There is no memory for these: they are counted whole, and have what was taken here. */
static void leave_whole(kn_counter *counter, kn_counter_job *jobs, int64_t count)
{
    kn_counter_split_free(counter->ctx, counter->room);
    counter->room = NULL;
    for (int64_t i = 0; i < count; i++) {
        kn_counter_set_free(jobs[i].set);
        jobs[i].set = NULL;
        jobs[i].split = false;
    }
}

kn_status kn_counter_split_run(kn_counter *counter, kn_counter_job *jobs, int64_t count, kn_error *err)
{
    wave      w = {counter, kn_alloc_array(counter->ctx, (size_t)count, sizeof *w.splits), 0};
    int64_t   begin = 0, next = 0;
    kn_status st = w.splits ? KN_OK : KN_MEMORY;
    while (next < count && st == KN_OK) {
        int64_t entries = 0;
        begin = next;
        for (w.count = 0; next < count && (w.count == 0 || entries + jobs[next].from->classes <= WAVE); next++) {
            if (!jobs[next].split) continue;
            entries += jobs[next].from->classes;
            plan_split(counter, &jobs[next], &w.splits[w.count++]);
        }
        if (w.count == 0) break;
        st = make_room(&w) ? run_wave(&w, err) : KN_MEMORY;
        KN_FREE(w.splits[0].starts, w.splits[0].parts);
    }
    kn_free(w.splits);
    if (st != KN_MEMORY) return st;
    leave_whole(counter, jobs + begin, count - begin);
    return KN_OK;
}
