/* kn_space_wide.c: regions of many records, on all threads (kn_space.h).
 *
 * The first cuts have a region or two to work on: here the threads share one. What is found does not depend on them.
 *
 * Cutting. The region is divided into blocks by position, and the first block is cut together with the last, the second with
 * the last but one, and so on: records on the wrong side are exchanged between the two, as kn_space_cut does between the
 * ends of a region. Each block then consists of records of the first side followed by some of the second. Only those that lie
 * on the wrong side of where the second side begins are left: as many before it as after it, exchanged in order. There are
 * few where the sides are about equally large.
 *
 * Counting. Each slice of the region has counters of its own, which are added up.
 *
 * Cost: that of the same function for small regions, and the exchanges that are left. Memory: counters for as many slices
 * as take at most half a byte per record. Limit: a dimension with more positions than an eighth of the records of half the region is
 * counted by one thread.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_parallel.h"
#include "kn_space.h"

enum {
    BLOCK = 1 << 14,  /* records, at least */
    MOST_PAIRS = 128, /* of blocks         */
    MOST_SLICES = 64,
    EXCHANGES = 1 << 12 /* of a range */
};

bool kn_space_is_wide(kn_region region)
{
    return region.end - region.begin >= KN_WIDE_RECORDS;
}

/* A range [begin, end) of a region's records. */
static kn_region part_of(kn_region region, int64_t begin, int64_t end)
{
    return (kn_region){region.begin + (uint32_t)begin, region.begin + (uint32_t)end, 0};
}

/* ---- Spans ---- */

typedef struct spanning {
    const kn_space *space;
    kn_region       region;
    kn_span        *spans; /* per slice and dimension */
    int64_t         grain;
} spanning;

static kn_status span_range(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    const spanning *s = arg;
    (void)worker;
    (void)err;
    kn_space_spans(s->space, part_of(s->region, begin, end), s->spans + begin / s->grain * s->space->count);
    return KN_OK;
}

kn_status kn_space_spans_wide(const kn_space *space, kn_region region, kn_span *spans, kn_error *err)
{
    int64_t  records = region.end - region.begin, slices = MOST_PAIRS;
    spanning s = {space, region, NULL, records / slices + 1};
    if (!kn_space_is_wide(region)) {
        kn_space_spans(space, region, spans);
        return KN_OK;
    }
    s.spans = kn_alloc_array(space->ctx, (size_t)slices * (size_t)space->count, sizeof *s.spans);
    if (!s.spans) return kn_fail_memory(err, space->ctx, "partitioning");
    slices = (records + s.grain - 1) / s.grain;
    kn_status status = kn_parallel_for(space->ctx, records, s.grain, span_range, &s, err);
    for (int q = 0; status == KN_OK && q < space->count; q++) {
        spans[q] = s.spans[q];
        for (int64_t i = 1; i < slices; i++) {
            kn_span found = s.spans[i * space->count + q];
            if (found.low < spans[q].low) spans[q].low = found.low;
            if (found.high > spans[q].high) spans[q].high = found.high;
        }
    }
    kn_free(s.spans);
    return status;
}

/* ---- Counting ---- */

typedef struct counting {
    const kn_space *space;
    kn_region       region;
    int             dimension;
    uint32_t       *counts; /* per slice and position */
    size_t          positions;
    int64_t         grain;
} counting;

static kn_status count_range(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    const counting *c = arg;
    (void)worker;
    (void)err;
    kn_space_count(c->space, part_of(c->region, begin, end), c->dimension,
                   c->counts + (size_t)(begin / c->grain) * c->positions);
    return KN_OK;
}

kn_status kn_space_count_wide(const kn_space *space, kn_region region, int dimension, uint32_t *counts, kn_error *err)
{
    counting c = {.space = space, .region = region, .dimension = dimension};
    int64_t  records = region.end - region.begin;
    c.positions = (size_t)space->dimensions[dimension].positions + 1;
    int64_t slices = records / 8 / (int64_t)c.positions;
    if (!kn_space_is_wide(region) || slices < 2) {
        kn_space_count(space, region, dimension, counts);
        return KN_OK;
    }
    c.grain = records / (slices < MOST_SLICES ? slices : MOST_SLICES) + 1;
    slices = (records + c.grain - 1) / c.grain;
    c.counts = kn_alloc_array_zero(space->ctx, (size_t)slices * c.positions, sizeof *c.counts);
    if (!c.counts) return kn_fail_memory(err, space->ctx, "partitioning");
    kn_status status = kn_parallel_for(space->ctx, records, c.grain, count_range, &c, err);
    for (size_t i = 0; status == KN_OK && i < (size_t)slices; i++)
        for (size_t p = 0; p < c.positions; p++) counts[p] += c.counts[i * c.positions + p];
    kn_free(c.counts);
    return status;
}

/* ---- Cutting ---- */

typedef struct cutting {
    const kn_space *space;
    kn_cut          cut;
    kn_region       region;
    uint32_t        block, blocks; /* records of a block, but of the two in the middle; how many */
    uint32_t        middle;
    uint32_t        first_side[2 * MOST_PAIRS]; /* per block: where its records of the second side begin   */
    uint32_t        before[2 * MOST_PAIRS + 1]; /* records to exchange in front of the middle, before each */
    uint32_t        after[2 * MOST_PAIRS + 1];  /* ... behind it                                           */
} cutting;

static kn_region block_at(const cutting *c, uint32_t i)
{
    uint32_t  half = c->blocks / 2, middle = c->region.begin + (c->region.end - c->region.begin) / 2;
    kn_region block = {0};
    if (i < half) {
        block.begin = c->region.begin + i * c->block;
        block.end = i == half - 1 ? middle : block.begin + c->block;
    } else {
        block.end = c->region.end - (c->blocks - 1 - i) * c->block;
        block.begin = i == half ? middle : block.end - c->block;
    }
    return block;
}

/* Cuts block i and the one as far from the end as a whole. */
static void cut_pair(cutting *c, uint32_t i)
{
    const kn_space     *space = c->space;
    const kn_dimension *d = &space->dimensions[c->cut.dimension];
    kn_region           left = block_at(c, i), right = block_at(c, c->blocks - 1 - i);
    uint32_t            low = left.begin, high = right.end;
    for (;;) {
        while (low < left.end && kn_space_goes_first(space, d, c->cut, low)) low++;
        while (high > right.begin && !kn_space_goes_first(space, d, c->cut, high - 1)) high--;
        if (low == left.end || high == right.begin) break;
        kn_space_exchange(space, low++, --high);
    }
    /* One of the two is done, and the rest of the other is cut by itself. */
    c->first_side[i] = kn_space_cut(space, (kn_region){low, left.end, 0}, c->cut);
    c->first_side[c->blocks - 1 - i] = kn_space_cut(space, (kn_region){right.begin, high, 0}, c->cut);
}

static kn_status cut_pairs(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    (void)worker;
    (void)err;
    for (int64_t i = begin; i < end; i++) cut_pair(arg, (uint32_t)i);
    return KN_OK;
}

static uint32_t between(uint32_t low, uint32_t high)
{
    return low < high ? high - low : 0;
}

/* Where the second side begins, and which records of each block lie on the wrong side of it. */
static void find_middle(cutting *c)
{
    c->middle = c->region.begin;
    for (uint32_t i = 0; i < c->blocks; i++) c->middle += c->first_side[i] - block_at(c, i).begin;
    for (uint32_t i = 0; i < c->blocks; i++) {
        kn_region block = block_at(c, i);
        uint32_t  end = block.end < c->middle ? block.end : c->middle;
        uint32_t  begin = block.begin > c->middle ? block.begin : c->middle;
        c->before[i + 1] = c->before[i] + between(c->first_side[i], end);
        c->after[i + 1] = c->after[i] + between(begin, c->first_side[i]);
    }
}

/* The i-th record to exchange in front of the middle; *block: where it was found, not behind i's. */
static uint32_t wrong_before(const cutting *c, uint32_t i, uint32_t *block)
{
    while (c->before[*block + 1] <= i) ++*block;
    return c->first_side[*block] + (i - c->before[*block]);
}

static uint32_t wrong_after(const cutting *c, uint32_t i, uint32_t *block)
{
    while (c->after[*block + 1] <= i) ++*block;
    uint32_t begin = block_at(c, *block).begin;
    return (begin > c->middle ? begin : c->middle) + (i - c->after[*block]);
}

static kn_status exchange_range(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    const cutting *c = arg;
    uint32_t       left = 0, right = 0;
    (void)worker;
    (void)err;
    for (int64_t i = begin; i < end; i++)
        kn_space_exchange(c->space, wrong_before(c, (uint32_t)i, &left), wrong_after(c, (uint32_t)i, &right));
    return KN_OK;
}

kn_status kn_space_cut_wide(uint32_t *middle, const kn_space *space, kn_region region, kn_cut cut, kn_error *err)
{
    uint32_t records = region.end - region.begin, pairs = records / (2 * BLOCK);
    if (!kn_space_is_wide(region)) {
        *middle = kn_space_cut(space, region, cut);
        return KN_OK;
    }
    if (pairs > MOST_PAIRS) pairs = MOST_PAIRS;
    cutting c = {space, cut, region, records / (2 * pairs), 2 * pairs, 0, {0}, {0}, {0}};
    KN_TRY(kn_parallel_for(space->ctx, pairs, 1, cut_pairs, &c, err));
    find_middle(&c);
    KN_TRY(kn_parallel_for(space->ctx, c.before[c.blocks], EXCHANGES, exchange_range, &c, err));
    *middle = c.middle;
    return KN_OK;
}
