/* kn_counter_pass.c: counting the classes of a node: the inner loop of the fast engine.
 *
 * Interface: kn_counter.h; groups, base and tables: kn_counter.c. The key of an entry is the mixed-radix number of
 * its groups' numbers at the node. If the key space is not much larger than the set, a counter per possible key is
 * used, otherwise a hash table with open addressing. In both, the first entry of a new class is recorded without a
 * branch; so the classes are visited without reading empty counters, counters are reset one by one, and the recorded
 * entry's base codes represent the class in sums of costs and in the new set. Groups whose combined key space does
 * not fit into KEY_SPACE are processed in several passes: all but the last number the classes so far, and the number
 * is part of the next pass's key.
 *
 * Cost: entries × groups look-ups and one counter each. Memory per worker: 4 bytes × key space (at most DENSE_MOST) or
 * 32 bytes and more × classes, and 8 to 12 bytes per entry.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "kn_alloc.h"
#include "kn_context.h"
#include "kn_counter_internal.h"
#include "kn_error.h"
#include "kn_parallel.h"

#define WHAT "searching the lattice"

/* Within KN_COUNTER_DENSE_NEAR the counters are in the cache and need no prefetching. */
enum { BLOCK = 256, DENSE_FIRST = 1 << 14, DENSE_MOST = 1 << 23, HASH_LEAST = 1 << 12, GRAIN_ENTRIES = 1 << 13 };

void kn_counter_scratch_free(kn_counter_scratch *s)
{
    KN_FREE(s->dense, s->hash, s->found, s->ids);
    *s = (kn_counter_scratch){0};
}

/* ---- Room ---- */

bool kn_counter_need_entries(kn_context *ctx, kn_counter_scratch *s, size_t entries)
{
    if (entries <= s->entries) return true;
    KN_FREE(s->found, s->ids);
    s->ids = NULL;
    s->found = kn_alloc_array(ctx, entries, sizeof *s->found);
    s->entries = s->found ? entries : 0;
    return s->found != NULL;
}

static bool need_ids(kn_context *ctx, kn_counter_scratch *s)
{
    if (!s->ids) s->ids = kn_alloc_array(ctx, s->entries, sizeof *s->ids);
    return s->ids != NULL;
}

bool kn_counter_need_dense(kn_context *ctx, kn_counter_scratch *s, size_t size)
{
    if (size <= s->dense_size) return true;
    if (size < DENSE_FIRST) size = DENSE_FIRST;
    kn_free(s->dense);
    s->dense = kn_alloc_array_zero(ctx, size, sizeof *s->dense);
    s->dense_size = s->dense ? size : 0;
    return s->dense != NULL;
}

/* A larger hash table with the classes found so far; their slots change. */
static bool hash_grow(kn_context *ctx, kn_counter_scratch *s, size_t size, uint32_t classes)
{
    kn_counter_slot *hash = kn_alloc_array_zero(ctx, size, sizeof *hash);
    if (!hash) return false;
    for (uint32_t c = 0; c < classes; c++) {
        kn_counter_slot from = s->hash[(uint32_t)s->found[c]];
        size_t          to = kn_counter_hash_slot(from.key, size - 1);
        while (hash[to].count != 0) to = (to + 1) & (size - 1);
        hash[to] = from;
        s->found[c] = (s->found[c] >> 32 << 32) | to;
    }
    kn_free(s->hash);
    s->hash = hash;
    s->hash_size = size;
    return true;
}

/* ---- One pass ---- */

/* Are all groups of the set narrow and in the key, so that the codes of an entry are adjacent? */
static bool is_adjacent(const kn_counter_pass *p)
{
    if (p->from->wide > 0 || p->groups != p->from->narrow || p->has_ids) return false;
    for (int g = 1; g < p->groups; g++)
        if ((const uint16_t *)p->codes[g] != (const uint16_t *)p->codes[0] + g) return false;
    return true;
}

static inline __attribute__((always_inline)) void few_keys(const kn_counter_pass *p, int64_t begin, int n, int groups,
                                                           uint64_t *keys)
{
    const uint16_t *codes = (const uint16_t *)p->codes[0] + begin * groups, *ids[4] = {NULL};
    uint64_t        distinct[4] = {0};
    for (int g = 0; g < groups; g++) ids[g] = p->table[g]->ids, distinct[g] = p->table[g]->distinct;
    for (int i = 0; i < n; i++, codes += groups) {
        uint64_t key = ids[0][codes[0]];
        for (int g = 1; g < groups; g++) key = key * distinct[g] + ids[g][codes[g]];
        keys[i] = key;
    }
}

/* The same as below for two to four groups, in one loop; false: not possible. */
static bool adjacent_keys(const kn_counter_pass *p, int64_t begin, int n, uint64_t *keys)
{
    switch (p->groups) {
    case 2: few_keys(p, begin, n, 2, keys); return true;
    case 3: few_keys(p, begin, n, 3, keys); return true;
    case 4: few_keys(p, begin, n, 4, keys); return true;
    default: return false;
    }
}

void kn_counter_keys(const kn_counter_pass *p, int64_t begin, int n, uint64_t *keys)
{
    if (p->adjacent && adjacent_keys(p, begin, n, keys)) return;
    if (p->has_ids)
        for (int i = 0; i < n; i++) keys[i] = p->scratch->ids[begin + i];
    else
        memset(keys, 0, (size_t)n * sizeof *keys);
    for (int g = 0; g < p->groups; g++) {
        uint64_t distinct = p->table[g]->distinct;
        if (p->group[g]->wide) {
            const uint32_t *codes = (const uint32_t *)p->codes[g] + begin * p->from->wide, *ids = p->table[g]->ids;
            for (int i = 0; i < n; i++) keys[i] = keys[i] * distinct + ids[codes[i * p->from->wide]];
        } else {
            const uint16_t *codes = (const uint16_t *)p->codes[g] + begin * p->from->narrow, *ids = p->table[g]->ids;
            for (int i = 0; i < n; i++) keys[i] = keys[i] * distinct + ids[codes[i * p->from->narrow]];
        }
    }
}

/* Counts (or numbers: add == NULL) the keys of a block. */
static __attribute__((noinline)) void dense_block(kn_counter_pass *p, const uint64_t *keys, int64_t begin, int n,
                                                  const uint32_t *add)
{
    uint32_t *table = p->scratch->dense, m = p->classes;
    uint64_t *found = p->scratch->found;
    if (p->space > KN_COUNTER_DENSE_NEAR)
        for (int i = 0; i < n; i++) __builtin_prefetch(&table[keys[i]], 1);
    for (int i = 0; i < n; i++) {
        uint32_t key = (uint32_t)keys[i], count = table[key];
        found[m] = (uint64_t)(begin + i) << 32 | key;
        m += count == 0;
        table[key] = add ? count + add[i] : count == 0 ? m : count;
        if (!add) p->scratch->ids[begin + i] = table[key] - 1;
    }
    p->classes = m;
}

static __attribute__((noinline)) bool hash_block(kn_counter_pass *p, kn_context *ctx, const uint64_t *keys,
                                                 int64_t begin, int n, const uint32_t *add)
{
    kn_counter_scratch *s = p->scratch;
    if (((size_t)p->classes + (size_t)n) * 2 > s->hash_size) {
        size_t size = s->hash_size ? s->hash_size * 4 : HASH_LEAST;
        while (((size_t)p->classes + (size_t)n) * 2 > size) size *= 4;
        if (!hash_grow(ctx, s, size, p->classes)) return false;
    }
    size_t   mask = s->hash_size - 1;
    uint32_t m = p->classes;
    for (int i = 0; i < n; i++) __builtin_prefetch(&s->hash[kn_counter_hash_slot(keys[i], mask)], 1);
    for (int i = 0; i < n; i++) {
        size_t slot = kn_counter_hash_slot(keys[i], mask);
        while (s->hash[slot].count != 0 && s->hash[slot].key != keys[i]) slot = (slot + 1) & mask;
        uint32_t count = s->hash[slot].count;
        s->hash[slot].key = keys[i];
        s->found[m] = (uint64_t)(begin + i) << 32 | slot;
        m += count == 0;
        s->hash[slot].count = add ? count + add[i] : count == 0 ? m : count;
        if (!add) s->ids[begin + i] = s->hash[slot].count - 1;
    }
    p->classes = m;
    return true;
}

/* The common case without an array of keys: the whole node in one dense pass, and all groups narrow, so that the
 * codes of an entry are adjacent. Each number of groups is a function of its own: everything stays in registers. */
static inline __attribute__((always_inline)) void fused(kn_counter_pass *p, int groups)
{
    const uint16_t *codes = (const uint16_t *)p->codes[0] + p->begin * groups, *t0 = p->table[0]->ids, *t1 = NULL,
                   *t2 = NULL, *t3 = NULL;
    uint32_t d1 = 0, d2 = 0, d3 = 0;
    if (groups > 1) t1 = p->table[1]->ids, d1 = p->table[1]->distinct;
    if (groups > 2) t2 = p->table[2]->ids, d2 = p->table[2]->distinct;
    if (groups > 3) t3 = p->table[3]->ids, d3 = p->table[3]->distinct;
    uint32_t       *table = p->scratch->dense;
    uint64_t       *found = p->scratch->found, entry = (uint64_t)p->begin << 32;
    const uint32_t *add = p->from->counts + p->begin, *end = p->from->counts + p->end;
    for (; add < end; add++, codes += groups, entry += (uint64_t)1 << 32) {
        uint32_t key = t0[codes[0]];
        if (groups > 1) key = key * d1 + t1[codes[1]];
        if (groups > 2) key = key * d2 + t2[codes[2]];
        if (groups > 3) key = key * d3 + t3[codes[3]];
        uint32_t count = table[key];
        *found = entry | key;
        found += count == 0;
        table[key] = count + *add;
    }
    p->classes = (uint32_t)(found - p->scratch->found);
}

static __attribute__((noinline)) void fused_1(kn_counter_pass *p)
{
    fused(p, 1);
}

static __attribute__((noinline)) void fused_2(kn_counter_pass *p)
{
    fused(p, 2);
}

static __attribute__((noinline)) void fused_3(kn_counter_pass *p)
{
    fused(p, 3);
}

static __attribute__((noinline)) void fused_4(kn_counter_pass *p)
{
    fused(p, 4);
}

static bool run_fused(kn_counter_pass *p)
{
    if (!p->adjacent || !p->last) return false;
    switch (p->groups) {
    case 1: fused_1(p); return true;
    case 2: fused_2(p); return true;
    case 3: fused_3(p); return true;
    case 4: fused_4(p); return true;
    default: return false;
    }
}

static bool is_dense(const kn_counter *counter, const kn_counter_pass *p)
{
    if (counter->options.path == KN_COUNTER_HASH) return false;
    if (p->space <= KN_COUNTER_DENSE_LEAST) return true;
    if (p->space > DENSE_MOST) return false;
    return counter->options.path == KN_COUNTER_DENSE ||
           p->space / KN_COUNTER_DENSE_PER_ENTRY <= (uint64_t)(p->end - p->begin);
}

/* Counts (or numbers) the classes. */
kn_status kn_counter_pass_run(const kn_counter *counter, kn_counter_pass *p, kn_counter_cells *out, kn_error *err)
{
    kn_counter_scratch *s = p->scratch;
    bool                dense = is_dense(counter, p);
    int64_t             n = p->end;
    uint64_t            keys[BLOCK];
    if (dense && !kn_counter_need_dense(counter->ctx, s, (size_t)p->space))
        return kn_fail_memory(err, counter->ctx, WHAT);
    if (!p->last && !need_ids(counter->ctx, s)) return kn_fail_memory(err, counter->ctx, WHAT);
    bool done = dense && p->space <= KN_COUNTER_DENSE_NEAR && run_fused(p);
    for (int64_t begin = p->begin; !done && begin < n; begin += BLOCK) {
        int             size = n - begin < BLOCK ? (int)(n - begin) : BLOCK;
        const uint32_t *add = p->last ? p->from->counts + begin : NULL;
        kn_counter_keys(p, begin, size, keys);
        if (dense)
            dense_block(p, keys, begin, size, add);
        else if (!hash_block(p, counter->ctx, keys, begin, size, add))
            return kn_fail_memory(err, counter->ctx, WHAT);
    }
    *out = dense ? (kn_counter_cells){s->dense, 1}
                 : (kn_counter_cells){s->hash ? &s->hash->count : NULL, sizeof *s->hash / 4};
    return KN_OK;
}

/* ---- One node ---- */

kn_u128 kn_counter_cost_of(const kn_counter_pass *all, const uint64_t *small, int64_t count, uint64_t below)
{
    kn_u128 cost = 0;
    for (int64_t c = 0; c < count; c++) {
        uint64_t row = 0;
        if ((uint32_t)small[c] >= below) continue;
        for (int g = 0; g < all->groups; g++)
            row += all->table[g]
                       ->costs[kn_counter_code(all->from, all->group[g], all->codes[g], (int64_t)(small[c] >> 32))];
        cost += (kn_u128)row * (uint32_t)small[c];
    }
    return cost;
}

void kn_counter_note_values(const kn_counter *counter, const kn_counter_pass *all, int quasi, const uint64_t *small,
                            int64_t count, uint64_t below, uint32_t *lost)
{
    int                     g = 0, a = 0, offset = counter->options.value_offsets[quasi];
    const kn_counter_group *group = &counter->groups[counter->group_of[quasi]];
    while (g < all->groups && all->group[g] != group) g++;
    if (g == all->groups || offset < 0) return;
    while (group->attributes[a] != quasi) a++;
    for (int64_t c = 0; c < count; c++) {
        if ((uint32_t)small[c] >= below) continue;
        uint32_t code = kn_counter_code(all->from, group, all->codes[g], (int64_t)(small[c] >> 32));
        lost[(uint32_t)offset + group->parts[(size_t)code * (size_t)group->count + (size_t)a]] += (uint32_t)small[c];
    }
}

/* Visits the classes of the last pass: sums, and the set if needed. Resets the counters to 0. */
static __attribute__((noinline)) void sum_classes(const kn_counter *counter, const kn_counter_pass *all,
                                                  kn_counter_job *job, kn_counter_cells counts, uint32_t classes)
{
    uint64_t *found = all->scratch->found; /* on the way, those that were visited become the suppressed ones */
    bool      cells = counter->cells;
    uint64_t  k = (uint64_t)counter->k, star = 0;
    uint64_t  rows = 0, released = 0, squares = 0, suppressed = 0, lost_squares = 0; /* rows < 2^32 */
    uint32_t  small = 0;
    for (int g = 0; g < all->groups; g++) star += all->group[g]->star;
    for (uint32_t c = 0; c < classes; c++) {
        uint32_t *cell = kn_counter_cell(counts, found[c]);
        uint64_t  count = *cell;
        if (job->set) job->set->counts[c] = (uint32_t)count;
        *cell = 0;
        if (count >= k) {
            released++;
            rows += count;
            squares += count * count;
            continue;
        }
        suppressed += count;
        lost_squares += count * count;
        found[small++] = (found[c] >> 32 << 32) | count;
    }
    kn_u128 cost = 0;
    if (cells && suppressed <= (uint64_t)counter->problem->budget) { /* the cost of a bad node is not needed */
        cost = kn_counter_cost_of(all, found, small, UINT64_MAX);
        for (int q = 0; job->lost && q < counter->problem->quasi_count; q++)
            kn_counter_note_values(counter, all, q, found, small, UINT64_MAX, job->lost);
    }
    job->classes = classes;
    job->sums = (kn_node_sums){.rows = (int64_t)rows, .suppressed = (int64_t)suppressed, .classes = (int64_t)released};
    job->sums.squares = squares;
    job->sums.suppressed_squares = lost_squares;
    if (cells) job->excess = (kn_u128)star * suppressed - cost;
    job->sums.cells = cost; /* of the suppressed rows; the caller subtracts it */
}

/* The same by size. What no k within the budget suppresses costs nobody anything. */
static void sum_buckets(const kn_counter *counter, const kn_counter_pass *all, kn_counter_job *job,
                        kn_counter_cells counts, uint32_t classes)
{
    const uint64_t  *found = all->scratch->found;
    kn_size_buckets *to = job->buckets;
    int64_t          rows = 0, below = 0; /* classes smaller than that are suppressed by some k within the budget */
    for (uint32_t c = 0; c < classes; c++) {
        int64_t count = *kn_counter_cell(counts, found[c]);
        int     j = 0;
        while (j < job->k_count && count >= job->ks[j]) j++;
        to[j].rows += count;
        to[j].classes++;
        to[j].squares += (kn_u128)(uint64_t)count * (uint64_t)count;
    }
    for (int j = 0; j < job->k_count && (rows += to[j].rows) <= counter->problem->budget; j++) below = job->ks[j];
    for (uint32_t c = 0; c < classes; c++) {
        uint32_t *cell = kn_counter_cell(counts, found[c]);
        int64_t   count = *cell;
        uint64_t  row = 0;
        int       j = 0;
        *cell = 0;
        if (!counter->cells || count >= below) continue;
        while (count >= job->ks[j]) j++;
        for (int g = 0; g < all->groups; g++)
            row += all->table[g]
                       ->costs[kn_counter_code(all->from, all->group[g], all->codes[g], (int64_t)(found[c] >> 32))];
        to[j].cost += (kn_u128)row * (uint64_t)count;
    }
    job->classes = classes;
}

void kn_counter_copy_codes(const kn_counter *counter, const kn_counter_set *from, const uint64_t *found,
                           kn_counter_set *set, int64_t begin, int64_t end)
{
    for (int64_t c = begin; c < end; c++) {
        int64_t at = (int64_t)(found[c - begin] >> 32);
        for (int g = 0; g < counter->group_count; g++) {
            if (!set->codes[g]) continue;
            uint32_t code = kn_counter_code(from, &counter->groups[g], from->codes[g], at);
            if (counter->groups[g].wide)
                ((uint32_t *)set->codes[g])[c * set->wide] = code;
            else
                ((uint16_t *)set->codes[g])[c * set->narrow] = (uint16_t)code;
        }
    }
}

void kn_counter_gather(const kn_counter *counter, const kn_counter_job *job, kn_counter_pass *all)
{
    all->from = job->from;
    all->end = job->from->classes;
    for (int g = 0; g < counter->group_count; g++) {
        if (!job->from->codes[g]) continue;
        const kn_counter_group *group = &counter->groups[g];
        all->group[all->groups] = group;
        all->table[all->groups] = group->tables[kn_counter_table_number(group, job->levels)];
        all->codes[all->groups++] = job->from->codes[g];
    }
    all->adjacent = !counter->options.generic && is_adjacent(all);
}

kn_u128 kn_counter_cells_of(const kn_counter *counter, const kn_counter_job *job)
{
    kn_u128 sum = 0;
    for (int q = 0; q < counter->problem->quasi_count; q++)
        if (job->from->codes[counter->group_of[q]]) sum += counter->problem->objective->totals[q][job->levels[q]];
    return sum;
}

static void undo(kn_counter_scratch *s, kn_counter_cells counts, uint32_t classes)
{
    for (uint32_t c = 0; c < classes; c++) *kn_counter_cell(counts, s->found[c]) = 0;
}

/* Runs all passes. After a failure the tables are freed with what is left in them. */
static kn_status count_node(const kn_counter *counter, kn_counter_job *job, kn_counter_scratch *scratch, kn_error *err)
{
    kn_counter_pass all = {.scratch = scratch};
    kn_counter_gather(counter, job, &all);
    if (!kn_counter_need_entries(counter->ctx, scratch, (size_t)job->from->classes + 1))
        return kn_fail_memory(err, counter->ctx, WHAT);
    uint64_t         most = kn_counter_key_space(counter);
    kn_counter_cells counts = {NULL, 0};
    uint32_t         before = 0;
    for (int g = 0; g < all.groups;) {
        kn_counter_pass p = {.from = job->from, .end = job->from->classes, .scratch = scratch};
        p.has_ids = g > 0;
        p.space = g > 0 ? before : 1;
        do {
            p.space *= all.table[g]->distinct;
            p.group[p.groups] = all.group[g];
            p.table[p.groups] = all.table[g];
            p.codes[p.groups++] = all.codes[g++];
        } while (g < all.groups && (kn_u128)p.space * all.table[g]->distinct <= most);
        p.last = g == all.groups;
        p.adjacent = !counter->options.generic && is_adjacent(&p);
        kn_status st = kn_counter_pass_run(counter, &p, &counts, err);
        if (st != KN_OK) {
            kn_counter_scratch_free(scratch);
            return st;
        }
        before = p.classes;
        if (!p.last) undo(scratch, counts, p.classes);
    }
    if (job->keep) {
        job->set = kn_counter_set_new(counter, job->from, before);
        if (!job->set) {
            kn_counter_scratch_free(scratch);
            return kn_fail_memory(err, counter->ctx, WHAT);
        }
        kn_counter_copy_codes(counter, job->from, scratch->found, job->set, 0, before);
    }
    if (job->buckets) {
        sum_buckets(counter, &all, job, counts, before);
        return KN_OK;
    }
    sum_classes(counter, &all, job, counts, before);
    if (counter->problem->objective->cells) job->sums.cells = kn_counter_cells_of(counter, job) - job->sums.cells;
    return KN_OK;
}

typedef struct run {
    kn_counter     *counter;
    kn_counter_job *jobs;
} run;

static kn_status run_range(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    run *r = arg;
    for (int64_t i = begin; i < end; i++)
        if (!r->jobs[i].split) KN_TRY(count_node(r->counter, &r->jobs[i], &r->counter->scratch[worker], err));
    return KN_OK;
}

/* Jobs that a thread takes at once: waking one up takes as long as going through some thousand entries. */
static int64_t grain_of(const kn_counter_job *jobs, int64_t count)
{
    int64_t entries = 1;
    for (int64_t i = 0; i < count; i++)
        if (!jobs[i].split) entries += jobs[i].from->classes;
    return GRAIN_ENTRIES * count / entries + 1;
}

kn_status kn_counter_run(kn_counter *counter, kn_counter_job *jobs, int64_t count, kn_error *err)
{
    for (int64_t i = 0; i < count; i++) jobs[i].set = NULL;
    KN_TRY(kn_counter_tables_need(counter, jobs, count, err));
    run       r = {counter, jobs};
    kn_status st = KN_OK;
    int64_t   whole = 0;
    if (kn_counter_split_choose(counter, jobs, count) > 0) st = kn_counter_split_run(counter, jobs, count, err);
    for (int64_t i = 0; i < count; i++) whole += !jobs[i].split;
    if (whole > 0 && st == KN_OK) st = kn_parallel_for(counter->ctx, count, grain_of(jobs, count), run_range, &r, err);
    for (int64_t i = 0; st != KN_OK && i < count; i++) {
        kn_counter_set_free(jobs[i].set);
        jobs[i].set = NULL;
    }
    return st;
}

kn_status kn_counter_run_from_best(kn_counter *counter, kn_counter_job *jobs, int64_t count, int64_t *rollups,
                                   int64_t *keys, kn_error *err)
{
    for (int64_t i = 0; i < count; i++)
        jobs[i].from = counter->hubs ? kn_counter_hubs_source(counter->hubs, jobs[i].levels) : counter->base;
    KN_TRY(kn_counter_run(counter, jobs, count, err));
    *rollups += count;
    for (int64_t i = 0; i < count; i++) *keys += jobs[i].from->classes;
    return counter->hubs ? kn_counter_hubs_plan(counter->hubs, counter, keys, err) : KN_OK;
}

kn_status kn_counter_project(kn_counter_set **out, kn_counter *counter, uint64_t groups, kn_error *err)
{
    *out = NULL;
    void **codes = kn_alloc_array_zero(counter->ctx, (size_t)counter->group_count + 1, sizeof *codes);
    int   *levels = kn_alloc_array_zero(counter->ctx, (size_t)counter->problem->quasi_count + 1, sizeof *levels);
    if (!codes || !levels) {
        KN_FREE(codes, levels);
        return kn_fail_memory(err, counter->ctx, WHAT);
    }
    kn_counter_set view = *counter->base;
    view.codes = codes;
    for (int g = 0; g < counter->group_count && g < 64; g++)
        if (groups >> g & 1) codes[g] = counter->base->codes[g];
    kn_counter_job job = {.levels = levels, .from = &view, .keep = true};
    kn_status      st = kn_counter_run(counter, &job, 1, err);
    *out = job.set;
    KN_FREE(codes, levels);
    return st;
}
