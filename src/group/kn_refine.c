/* kn_refine.c: rows at risk by partition refinement (kn_refine.h).
 *
 * The combinations of a frequency set are split by one column after the other. Of each partition only the classes that
 * can still matter are kept, in the manner of TANE's stripped partitions (Huhtala, Kärkkäinen, Porkka, Toivonen 1999):
 *   - a class with fewer than k rows is at risk and stays so: its rows are added up and it is forgotten;
 *   - a combination that has k rows over all columns is never at risk, so a class of only those is forgotten. If most rows are safe, almost nothing is left after a few columns.
 *
 * Small classes are refined first: they cost least and are the likeliest to fall below k, and a set that does not hold is given
 * up as soon as too many rows are at risk.
 *
 * Many combinations are refined on all threads: classes in batches, and large ones in slices by position. The order of the
 * classes of a depth then differs from what one thread makes of few, which nothing depends on; it is the same on any number
 * of threads.
 *
 * Refining permutes combinations only inside a class, so one array of members serves all depths: a class further down
 * the stack is still the same range. Cost of a push: the members of the open classes. Memory: about 32 bytes for each
 * combination, and 4 for each possible code of the widest column.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_refine.h"

#include <stdatomic.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_bitset.h"
#include "kn_error.h"
#include "kn_parallel.h"

#define WHAT "searching sets of columns"

enum {
    SIZES = 4,
    WIDE = 1 << 15, /* combinations that all threads refine together */
    WIDE_BITS = 12, /* of the column                                 */
    BATCH = 1 << 13,
    SLICE = 1 << 12,
    MOST_SLICES = 64
};

/* Small classes come first: those above one of these and up to the next. */
static const uint32_t sizes[SIZES] = {0, 256, 16384, UINT32_MAX};

static uint32_t code_of(const kn_freq *freq, kn_field field, uint32_t member)
{
    return kn_field_get(field, freq->keys + (size_t)member * (size_t)freq->layout.words);
}

enum { FEW_BITS = 16 };

/* At least one more than the highest code of any column. Where the fields of the keys are narrow, they say enough. */
static size_t most_codes(const kn_freq *freq)
{
    uint32_t most = 0;
    int      bits = 0;
    for (int c = 0; c < freq->layout.columns; c++)
        if (freq->layout.fields[c].bits > bits) bits = freq->layout.fields[c].bits;
    if (bits <= FEW_BITS) return (size_t)1 << bits;
    for (int64_t i = 0; i < freq->classes; i++)
        for (int c = 0; c < freq->layout.columns; c++) {
            uint32_t code = kn_freq_code(freq, i, c);
            if (code > most) most = code;
        }
    return (size_t)most + 1;
}

static bool allocate(kn_refiner *r, kn_context *ctx)
{
    size_t n = (size_t)r->freq->classes + 1, depths = (size_t)r->freq->layout.columns + 2;
    r->risk = kn_alloc_array_zero(ctx, depths, sizeof *r->risk);
    r->begin = kn_alloc_array_zero(ctx, depths, sizeof *r->begin);
    r->members = kn_alloc_array(ctx, n, sizeof *r->members);
    r->group = kn_alloc_array(ctx, n, sizeof *r->group);
    r->moved = kn_alloc_array(ctx, n, sizeof *r->moved);
    r->slot = kn_alloc_array_zero(ctx, most_codes(r->freq), sizeof *r->slot);
    r->group_count = kn_alloc_array(ctx, n, sizeof *r->group_count);
    r->group_at = kn_alloc_array(ctx, n, sizeof *r->group_at);
    r->group_rows = kn_alloc_array(ctx, n, sizeof *r->group_rows);
    r->group_light = kn_alloc_array_zero(ctx, kn_bitset_words(n), sizeof *r->group_light);
    return r->risk && r->begin && r->members && r->group && r->moved && r->slot && r->group_count && r->group_at &&
           r->group_rows && r->group_light;
}

static bool add_range(kn_refiner *r, int64_t *count, uint32_t first, uint32_t last)
{
    if (!KN_GROW(r->freq->ctx, &r->ranges, &r->range_capacity, (size_t)*count + 1)) return false;
    r->ranges[*count][0] = first;
    r->ranges[*count][1] = last;
    (*count)++;
    return true;
}

kn_status kn_refiner_init(kn_refiner *r, kn_context *ctx, const kn_freq *freq, int64_t k, int64_t allowed,
                          kn_error *err)
{
    *r = (kn_refiner){.freq = freq, .k = k, .allowed = allowed};
    if (freq->classes >= UINT32_MAX)
        return kn_fail(err, KN_USAGE, "more than 2^32 different rows: too many to search sets of columns");
    if (!allocate(r, ctx)) {
        kn_refiner_free(r);
        return kn_fail_memory(err, ctx, WHAT);
    }
    int64_t ranges = 0;
    for (int64_t i = 0; i < freq->classes; i++) r->members[i] = (uint32_t)i;
    if (freq->rows < k)
        r->risk[0] = freq->rows;
    else if (!add_range(r, &ranges, 0, (uint32_t)freq->classes)) {
        kn_refiner_free(r);
        return kn_fail_memory(err, ctx, WHAT);
    }
    r->begin[1] = ranges;
    return KN_OK;
}

void kn_refiner_free(kn_refiner *r)
{
    KN_FREE(r->risk, r->begin, r->members, r->ranges, r->group, r->moved, r->slot, r->group_count, r->group_at,
            r->group_rows, r->group_light);
    *r = (kn_refiner){0};
}

/* Numbers the codes of a class in order of appearance and sums the rows of each; returns how many there are. */
static uint32_t count_groups(kn_refiner *r, kn_field field, uint32_t first, uint32_t last)
{
    const kn_freq *freq = r->freq;
    uint32_t       groups = 0;
    for (uint32_t i = first; i < last; i++) {
        uint32_t member = r->members[i];
        uint32_t code = code_of(freq, field, member);
        uint32_t g = r->slot[code];
        if (g == 0) {
            g = r->slot[code] = ++groups;
            r->group_count[g - 1] = 0;
            r->group_rows[g - 1] = 0;
            kn_bitset_clear(r->group_light, g - 1);
        }
        g--;
        r->group[i] = g;
        r->group_count[g]++;
        r->group_rows[g] += freq->counts[member];
        if (freq->counts[member] < r->k) kn_bitset_set(r->group_light, g);
    }
    for (uint32_t i = first; i < last; i++) r->slot[code_of(freq, field, r->members[i])] = 0;
    return groups;
}

/* Puts the members of a class in order of their groups and keeps the groups that can still matter. */
static bool split(kn_refiner *r, uint32_t groups, uint32_t first, uint32_t last, int64_t *ranges)
{
    uint32_t at = first;
    for (uint32_t g = 0; g < groups; g++) {
        r->group_at[g] = at;
        at += r->group_count[g];
    }
    for (uint32_t i = first; i < last; i++) r->moved[r->group_at[r->group[i]]++] = r->members[i];
    memcpy(r->members + first, r->moved + first, (size_t)(last - first) * sizeof *r->members);
    for (uint32_t g = 0; g < groups; g++) {
        if (r->group_rows[g] < r->k || !kn_bitset_test(r->group_light, g)) continue;
        if (!add_range(r, ranges, r->group_at[g] - r->group_count[g], r->group_at[g])) return false;
    }
    return true;
}

/* Refines the classes of this depth that have more than `above` and at most `up_to` combinations. */
static bool refine(kn_refiner *r, kn_field field, uint32_t above, uint32_t up_to, int64_t *ranges, int64_t *risk)
{
    int64_t end = r->begin[r->depth + 1];
    for (int64_t i = r->begin[r->depth]; i < end && *risk <= r->allowed; i++) {
        uint32_t first = r->ranges[i][0], last = r->ranges[i][1];
        if (last - first <= above || last - first > up_to) continue;
        uint32_t groups = count_groups(r, field, first, last);
        for (uint32_t g = 0; g < groups; g++)
            if (r->group_rows[g] < r->k) *risk += r->group_rows[g];
        if (*risk <= r->allowed && !split(r, groups, first, last, ranges)) return false;
    }
    return true;
}

/* ---- Many combinations, on all threads ---- */

/* The classes of this depth with more than `above` and at most `up_to` combinations, in batches. */
typedef struct batching {
    kn_refiner     *r;
    kn_field        field;
    uint32_t        above, up_to;
    int64_t        *starts; /* per batch: its first range; one more */
    kn_refiner     *parts;  /* per batch: scratch and ranges of its own, the other arrays are r's */
    int64_t        *counts; /* per batch: of its ranges */
    int64_t         batches;
    _Atomic int64_t risk;
} batching;

static bool make_part(kn_refiner *part, const kn_refiner *r, kn_field field)
{
    size_t      codes = (size_t)1 << field.bits;
    kn_context *ctx = r->freq->ctx;
    *part = *r;
    part->ranges = NULL;
    part->range_capacity = 0;
    part->slot = kn_alloc_array_zero(ctx, codes, sizeof *part->slot);
    part->group_count = kn_alloc_array(ctx, codes, sizeof *part->group_count);
    part->group_at = kn_alloc_array(ctx, codes, sizeof *part->group_at);
    part->group_rows = kn_alloc_array(ctx, codes, sizeof *part->group_rows);
    part->group_light = kn_alloc_array_zero(ctx, kn_bitset_words(codes), sizeof *part->group_light);
    return part->slot && part->group_count && part->group_at && part->group_rows && part->group_light;
}

static void free_part_scratch(kn_refiner *part)
{
    KN_FREE(part->slot, part->group_count, part->group_at, part->group_rows, part->group_light);
}

static kn_status refine_batch(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    batching *b = arg;
    (void)worker;
    for (int64_t batch = begin; batch < end; batch++) {
        kn_refiner *part = &b->parts[batch];
        bool        fine = make_part(part, b->r, b->field);
        for (int64_t i = b->starts[batch]; fine && i < b->starts[batch + 1] && b->risk <= b->r->allowed; i++) {
            uint32_t first = b->r->ranges[i][0], last = b->r->ranges[i][1];
            if (last - first <= b->above || last - first > b->up_to) continue;
            uint32_t groups = count_groups(part, b->field, first, last);
            int64_t  risk = 0;
            for (uint32_t g = 0; g < groups; g++)
                if (part->group_rows[g] < part->k) risk += part->group_rows[g];
            if (risk > 0) atomic_fetch_add(&b->risk, risk);
            fine = split(part, groups, first, last, &b->counts[batch]);
        }
        free_part_scratch(part);
        if (!fine) return kn_fail_memory(err, b->r->freq->ctx, WHAT);
    }
    return KN_OK;
}

/* Cuts the ranges of this depth into batches of about as many combinations. */
static bool make_batches(batching *b)
{
    kn_context *ctx = b->r->freq->ctx;
    int64_t     first = b->r->begin[b->r->depth], end = b->r->begin[b->r->depth + 1], members = 0;
    size_t      most = (size_t)(kn_refiner_open(b->r) / BATCH) + 2;
    b->starts = kn_alloc_array(ctx, most + 1, sizeof *b->starts);
    b->parts = kn_alloc_array_zero(ctx, most, sizeof *b->parts);
    b->counts = kn_alloc_array_zero(ctx, most, sizeof *b->counts);
    if (!b->starts || !b->parts || !b->counts) return false;
    b->starts[0] = first;
    for (int64_t i = first; i < end; i++) {
        uint32_t size = b->r->ranges[i][1] - b->r->ranges[i][0];
        if (size > b->above && size <= b->up_to) members += size;
        if (members < BATCH && i + 1 < end) continue;
        b->starts[++b->batches] = i + 1;
        members = 0;
    }
    return true;
}

static kn_status refine_batches(kn_refiner *r, kn_field field, uint32_t above, uint32_t up_to, int64_t *ranges,
                                int64_t *risk, kn_error *err)
{
    batching  b = {.r = r, .field = field, .above = above, .up_to = up_to, .risk = *risk};
    kn_status st = make_batches(&b) ? KN_OK : kn_fail_memory(err, r->freq->ctx, WHAT);
    if (st == KN_OK) st = kn_parallel_for(r->freq->ctx, b.batches, 1, refine_batch, &b, err);
    for (int64_t i = 0; st == KN_OK && i < b.batches; i++)
        for (int64_t j = 0; st == KN_OK && j < b.counts[i]; j++)
            if (!add_range(r, ranges, b.parts[i].ranges[j][0], b.parts[i].ranges[j][1]))
                st = kn_fail_memory(err, r->freq->ctx, WHAT);
    for (int64_t i = 0; b.parts && i < b.batches; i++) kn_free(b.parts[i].ranges);
    *risk = b.risk;
    KN_FREE(b.starts, b.parts, b.counts);
    return st;
}

/* A large class, in slices. */
typedef struct tally {
    int64_t  rows;
    uint32_t count, at; /* at: where the next member of this code goes */
    bool     light;
} tally;

typedef struct slicing {
    kn_refiner *r;
    kn_field    field;
    uint32_t    first, last;
    int64_t     grain;
    size_t      codes, slices;
    tally      *tallies; /* per slice and code */
} slicing;

static kn_status count_slice(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    const slicing *s = arg;
    const kn_freq *freq = s->r->freq;
    tally         *tallies = s->tallies + (size_t)(begin / s->grain) * s->codes;
    (void)worker;
    (void)err;
    for (int64_t i = s->first + begin; i < s->first + end; i++) {
        uint32_t member = s->r->members[i], code = code_of(freq, s->field, member);
        s->r->group[i] = code;
        tallies[code].count++;
        tallies[code].rows += freq->counts[member];
        tallies[code].light |= freq->counts[member] < s->r->k;
    }
    return KN_OK;
}

static kn_status move_slice(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    const slicing *s = arg;
    tally         *tallies = s->tallies + (size_t)(begin / s->grain) * s->codes;
    (void)worker;
    (void)err;
    for (int64_t i = s->first + begin; i < s->first + end; i++)
        s->r->moved[tallies[s->r->group[i]].at++] = s->r->members[i];
    return KN_OK;
}

static kn_status take_slice(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    const slicing *s = arg;
    (void)worker;
    (void)err;
    memcpy(s->r->members + s->first + begin, s->r->moved + s->first + begin,
           (size_t)(end - begin) * sizeof *s->r->members);
    return KN_OK;
}

/* Places the codes one after the other and adds what can still matter as ranges; false: out of memory. */
static bool place_codes(const slicing *s, int64_t *ranges, int64_t *risk)
{
    uint32_t at = s->first;
    for (size_t code = 0; code < s->codes; code++) {
        uint32_t begin = at;
        int64_t  rows = 0;
        bool     light = false;
        for (size_t i = 0; i < s->slices; i++) {
            tally *t = &s->tallies[i * s->codes + code];
            t->at = at;
            at += t->count;
            rows += t->rows;
            light |= t->light;
        }
        if (rows < s->r->k)
            *risk += rows;
        else if (light && !add_range(s->r, ranges, begin, at))
            return false;
    }
    return true;
}

static kn_status refine_large(kn_refiner *r, kn_field field, uint32_t first, uint32_t last, int64_t *ranges,
                              int64_t *risk, kn_error *err)
{
    kn_context *ctx = r->freq->ctx;
    int64_t     n = last - first;
    slicing     s = {
            r, field, first, last, n / MOST_SLICES + 1 > SLICE ? n / MOST_SLICES + 1 : SLICE, (size_t)1 << field.bits,
            0, NULL};
    s.slices = (size_t)((n + s.grain - 1) / s.grain);
    s.tallies = kn_alloc_array_zero(ctx, s.slices * s.codes, sizeof *s.tallies);
    kn_status st = s.tallies ? kn_parallel_for(ctx, n, s.grain, count_slice, &s, err) : kn_fail_memory(err, ctx, WHAT);
    if (st == KN_OK && !place_codes(&s, ranges, risk)) st = kn_fail_memory(err, ctx, WHAT);
    if (st == KN_OK && *risk <= r->allowed) {
        st = kn_parallel_for(ctx, n, s.grain, move_slice, &s, err);
        if (st == KN_OK) st = kn_parallel_for(ctx, n, s.grain, take_slice, &s, err);
    }
    kn_free(s.tallies);
    return st;
}

static kn_status refine_wide(kn_refiner *r, kn_field field, int64_t *ranges, int64_t *risk, kn_error *err)
{
    for (size_t i = 0; i + 2 < SIZES && *risk <= r->allowed; i++)
        KN_TRY(refine_batches(r, field, sizes[i], sizes[i + 1], ranges, risk, err));
    int64_t end = r->begin[r->depth + 1];
    for (int64_t i = r->begin[r->depth]; i < end && *risk <= r->allowed; i++)
        if (r->ranges[i][1] - r->ranges[i][0] > sizes[SIZES - 2])
            KN_TRY(refine_large(r, field, r->ranges[i][0], r->ranges[i][1], ranges, risk, err));
    return KN_OK;
}

/* ---- A column ---- */

kn_status kn_refiner_push(kn_refiner *r, int column, bool *holds, kn_error *err)
{
    kn_field field = r->freq->layout.fields[column];
    int64_t  ranges = r->begin[r->depth + 1], risk = r->risk[r->depth];
    bool     fine = true;
    r->evaluations++;
    if (field.bits <= WIDE_BITS && kn_refiner_open(r) >= WIDE)
        KN_TRY(refine_wide(r, field, &ranges, &risk, err));
    else
        for (size_t i = 0; fine && i + 1 < SIZES; i++) fine = refine(r, field, sizes[i], sizes[i + 1], &ranges, &risk);
    if (!fine) return kn_fail_memory(err, r->freq->ctx, WHAT);
    r->depth++;
    r->risk[r->depth] = risk;
    r->begin[r->depth + 1] = ranges;
    *holds = risk <= r->allowed;
    return KN_OK;
}

void kn_refiner_pop(kn_refiner *r, int depth)
{
    if (depth < r->depth) r->depth = depth;
}

int64_t kn_refiner_open(const kn_refiner *r)
{
    int64_t open = 0;
    for (int64_t i = r->begin[r->depth]; i < r->begin[r->depth + 1]; i++) open += r->ranges[i][1] - r->ranges[i][0];
    return open;
}
