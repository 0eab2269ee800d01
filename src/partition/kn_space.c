/* kn_space.c: the rows of a table as points (kn_space.h).
 *
 * Cost: one pass over a region for each operation. Memory: per record 4 bytes and, per dimension, 1, 2 or 4.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_space.h"

#include <string.h>

#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_parallel.h"

enum { GRAIN = 1 << 16 };

/* ---- Dimensions ---- */

static int width_of(uint32_t largest)
{
    return largest <= UINT8_MAX ? 1 : largest <= UINT16_MAX ? 2 : 4;
}

/* Numbers behind the positions, for columns that have them. */
static bool fill_values(kn_dimension *d, kn_context *ctx)
{
    const kn_dictionary *dict = &d->column->dict;
    if (!dict->integers && !dict->decimals) return true;
    if (!KN_ALLOC_ZERO(ctx, d->values, (size_t)d->positions + 1)) return false;
    for (uint32_t i = 0; i < d->positions; i++)
        d->values[i] = dict->integers ? (double)dict->integers[i] : dict->decimals[i];
    return true;
}

/* Are the values of the column in the order of their leaves? Then a range of leaves is a range of values. */
static bool in_code_order(const kn_dimension *d)
{
    for (uint32_t code = 0; code + 1 < d->column->dict.count; code++)
        if (d->hierarchy->leaf_of_code[code] > d->hierarchy->leaf_of_code[code + 1]) return false;
    return true;
}

static bool make_dimension(kn_dimension *d, kn_context *ctx, const kn_partition_problem *p, int q)
{
    d->column = &p->table->columns[p->quasi[q]];
    d->hierarchy = p->hierarchies ? p->hierarchies[q] : NULL;
    d->nodes = d->hierarchy && !(p->ordered && p->ordered[q]);
    d->positions = d->hierarchy ? d->hierarchy->leaves : d->column->dict.count;
    d->width = width_of(d->positions);
    if (!KN_ALLOC(ctx, d->code_of, (size_t)d->positions + 1)) return false;
    memset(d->code_of, 0xff, ((size_t)d->positions + 1) * sizeof *d->code_of);
    for (uint32_t code = 0; code <= d->column->dict.count; code++)
        d->code_of[d->hierarchy ? d->hierarchy->leaf_of_code[code] : code] = code;
    bool numbers = d->column->type != KN_TYPE_TEXT;
    d->ranges = !d->nodes && numbers && (!d->hierarchy || in_code_order(d));
    if (!d->hierarchy && numbers && !fill_values(d, ctx)) return false;
    d->extent = d->positions > 1 ? (d->values ? d->values[d->positions - 1] - d->values[0] : d->positions - 1.0) : 0;
    return true;
}

/* Wide fields first, so that each is aligned: 4-byte positions and the row number, then 2-byte, then 1-byte ones. */
static void lay_out(kn_space *space)
{
    size_t at = 0;
    for (int width = 4; width >= 1; width /= 2) {
        if (width == 4) {
            space->row_offset = at;
            at += 4;
        }
        for (int q = 0; q < space->count; q++)
            if (space->dimensions[q].width == width) {
                space->dimensions[q].offset = at;
                at += (size_t)width;
            }
    }
    space->stride = (at + 3) / 4 * 4;
}

typedef struct fill_job {
    kn_space       *space;
    const kn_table *table;
    const uint32_t *starts; /* of counted rows: the first record of each; NULL: its number */
} fill_job;

static inline size_t record_of(const uint32_t *starts, int64_t row)
{
    return starts ? starts[row] : (size_t)row;
}

/* A counted row's other records are copies of its first. */
static void repeat(const fill_job *job, int64_t begin, int64_t end)
{
    size_t stride = job->space->stride;
    for (int64_t row = begin; row < end; row++) {
        unsigned char *first = job->space->records + record_of(job->starts, row) * stride;
        for (int64_t i = 1; i < job->table->counts[row]; i++) memcpy(first + (size_t)i * stride, first, stride);
    }
}

static kn_status fill_range(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    const fill_job *job = arg;
    const kn_space *space = job->space;
    const uint32_t *starts = job->starts;
    size_t          stride = space->stride;
    (void)worker;
    (void)err;
    for (int q = 0; q < space->count; q++) {
        const kn_dimension *d = &space->dimensions[q];
        unsigned char      *records = space->records + d->offset;
        for (int64_t row = begin; row < end; row++) {
            uint32_t       code = kn_column_code(d->column, row);
            uint32_t       position = d->hierarchy ? d->hierarchy->leaf_of_code[code] : code;
            unsigned char *at = records + record_of(starts, row) * stride;
            if (d->width == 1)
                *at = (unsigned char)position;
            else if (d->width == 2)
                *(uint16_t *)(void *)at = (uint16_t)position;
            else
                *(uint32_t *)(void *)at = position;
        }
    }
    for (int64_t row = begin; row < end; row++)
        *(uint32_t *)(void *)(space->records + record_of(starts, row) * stride + space->row_offset) = (uint32_t)row;
    if (starts) repeat(job, begin, end);
    return KN_OK;
}

static kn_status fill(kn_space *space, const kn_table *table, kn_error *err)
{
    fill_job  job = {space, table, NULL};
    uint32_t *starts = NULL, at = 0;
    if (space->rows != table->rows) {
        if (!KN_ALLOC(space->ctx, starts, (size_t)table->rows + 1))
            return kn_fail_memory(err, space->ctx, "partitioning");
        for (int64_t row = 0; row < table->rows; at += (uint32_t)table->counts[row++]) starts[row] = at;
        job.starts = starts;
    }
    kn_status status = kn_parallel_for(space->ctx, table->rows, GRAIN, fill_range, &job, err);
    kn_free(starts);
    return status;
}

kn_status kn_space_make(kn_space *out, kn_context *ctx, const kn_partition_problem *p, kn_error *err)
{
    *out = (kn_space){.ctx = ctx, .count = p->quasi_count};
    if (kn_table_total(p->table) >= UINT32_MAX - 1)
        return kn_fail(err, KN_USAGE, "partitioning takes at most 4,294,967,294 rows; this table has more");
    if (p->method != KN_METHOD_MONDRIAN_BEST && p->method != KN_METHOD_MONDRIAN_RELAXED) out->counts = p->table->counts;
    out->rows = (uint32_t)(out->counts ? p->table->rows : kn_table_total(p->table));
    out->table_rows = p->table->rows;
    if (!KN_ALLOC_ZERO(ctx, out->dimensions, (size_t)p->quasi_count)) return kn_fail_memory(err, ctx, "partitioning");
    for (int q = 0; q < p->quasi_count; q++) {
        if (!make_dimension(&out->dimensions[q], ctx, p, q)) goto memory;
        if (out->dimensions[q].positions + 1 > out->most_positions)
            out->most_positions = out->dimensions[q].positions + 1;
    }
    lay_out(out);
    out->records = kn_alloc_array(ctx, (size_t)out->rows + 1, out->stride);
    if (!out->records) goto memory;
    kn_status status = fill(out, p->table, err);
    if (status != KN_OK) kn_space_free(out);
    return status;
memory:
    kn_space_free(out);
    return kn_fail_memory(err, ctx, "partitioning");
}

void kn_space_free(kn_space *space)
{
    for (int q = 0; space->dimensions && q < space->count; q++)
        KN_FREE(space->dimensions[q].code_of, space->dimensions[q].values);
    KN_FREE(space->dimensions, space->records);
    *space = (kn_space){0};
}

static kn_status keep_range(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    const kn_space *space = arg;
    (void)worker;
    (void)err;
    for (int64_t i = begin; i < end; i++) {
        uint32_t row = kn_space_row(space, (uint32_t)i);
        memcpy(space->records + (size_t)i * sizeof row, &row, sizeof row);
    }
    return KN_OK;
}

typedef struct wave {
    kn_space *space;
    int64_t   begin;
} wave;

static kn_status keep_wave(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    const wave *w = arg;
    return keep_range(w->space, w->begin + begin, w->begin + end, worker, err);
}

/* In waves: the row numbers of records [begin, end) end before record `begin` if end is as many times begin as a record is
 * larger than a row number. So no thread writes what another one still reads. */
kn_status kn_space_keep_rows(kn_space *space, kn_error *err)
{
    int64_t times = (int64_t)(space->stride / sizeof(uint32_t)), end = space->rows < GRAIN ? space->rows : GRAIN;
    if (times > 1) KN_TRY(keep_range(space, 0, end, 0, err));
    for (int64_t begin = end; times > 1 && begin < space->rows; begin = end) {
        wave w = {space, begin};
        end = begin * times < space->rows ? begin * times : space->rows;
        KN_TRY(kn_parallel_for(space->ctx, end - begin, GRAIN / 4, keep_wave, &w, err));
    }
    space->stride = sizeof(uint32_t);
    space->row_offset = 0;
    void *smaller = kn_realloc_array(space->ctx, space->records, (size_t)space->rows + 1, space->stride);
    if (smaller) space->records = smaller; /* otherwise the old block is kept    */
    return KN_OK;
}

/* ---- Regions ---- */

/* One loop per width: the compiler then knows what it reads. */
#define EACH_POSITION(space, region, dimension, position, body)                                                        \
    do {                                                                                                               \
        const unsigned char *at_ = (space)->records + (size_t)(region).begin * (space)->stride + (dimension)->offset;  \
        const size_t         stride_ = (space)->stride;                                                                \
        switch ((dimension)->width) {                                                                                  \
        case 1:                                                                                                        \
            for (uint32_t i_ = (region).begin; i_ < (region).end; i_++, at_ += stride_) {                              \
                uint32_t position = *at_;                                                                              \
                body;                                                                                                  \
            }                                                                                                          \
            break;                                                                                                     \
        case 2:                                                                                                        \
            for (uint32_t i_ = (region).begin; i_ < (region).end; i_++, at_ += stride_) {                              \
                uint32_t position = *(const uint16_t *)(const void *)at_;                                              \
                body;                                                                                                  \
            }                                                                                                          \
            break;                                                                                                     \
        default:                                                                                                       \
            for (uint32_t i_ = (region).begin; i_ < (region).end; i_++, at_ += stride_) {                              \
                uint32_t position = *(const uint32_t *)(const void *)at_;                                              \
                body;                                                                                                  \
            }                                                                                                          \
        }                                                                                                              \
    } while (0)

void kn_space_spans(const kn_space *space, kn_region region, kn_span *spans)
{
    enum { BLOCK = 512 }; /* records that stay in the cache while one dimension after the other looks at them */
    for (int q = 0; q < space->count; q++) spans[q] = (kn_span){UINT32_MAX, 0};
    for (uint32_t begin = region.begin; begin < region.end; begin += BLOCK) {
        kn_region block = {begin, region.end - begin > BLOCK ? begin + BLOCK : region.end, 0};
        for (int q = 0; q < space->count; q++) {
            uint32_t low = spans[q].low, high = spans[q].high;
            EACH_POSITION(space, block, &space->dimensions[q], position, {
                low = position < low ? position : low;
                high = position > high ? position : high;
            });
            spans[q] = (kn_span){low, high};
        }
        if (region.end - begin <= BLOCK) break; /* begin must not pass 2^32 */
    }
}

void kn_space_count(const kn_space *space, kn_region region, int dimension, uint32_t *counts)
{
    const kn_dimension *d = &space->dimensions[dimension];
    if (!space->counts) EACH_POSITION(space, region, d, position, counts[position]++);
    for (uint32_t i = region.begin; space->counts && i < region.end; i++)
        counts[kn_space_position(space, d, i)] += (uint32_t)space->counts[kn_space_row(space, i)];
}

uint32_t kn_space_size(const kn_space *space, kn_region region)
{
    int64_t rows = 0;
    if (!space->counts) return region.end - region.begin;
    for (uint32_t i = region.begin; i < region.end; i++) rows += space->counts[kn_space_row(space, i)];
    return (uint32_t)rows;
}

uint32_t kn_space_cut(const kn_space *space, kn_region region, kn_cut cut)
{
    const kn_dimension *d = &space->dimensions[cut.dimension];
    uint32_t            low = region.begin, high = region.end;
    /* From both ends: records on the wrong side are exchanged. */
    for (;;) {
        while (low < high && kn_space_goes_first(space, d, cut, low)) low++;
        while (low < high && !kn_space_goes_first(space, d, cut, high - 1)) high--;
        if (low >= high) return low;
        kn_space_exchange(space, low++, --high);
    }
}

double kn_space_loss(const kn_dimension *d, kn_span span, uint32_t distinct)
{
    if (span.low == span.high) return 0;
    if (span.high == d->positions) return d->positions > 1; /* a root above one value costs nothing */
    if (d->nodes) {
        uint32_t node = kn_hierarchy_lca_span(d->hierarchy, span.low, span.high);
        return (kn_hierarchy_cover(d->hierarchy, node) - 1.0) / (d->hierarchy->leaves - 1.0);
    }
    if (d->values) return d->extent > 0 ? (d->values[span.high] - d->values[span.low]) / d->extent : 0;
    return ((d->ranges ? span.high - span.low + 1.0 : distinct) - 1.0) / (d->positions - 1.0);
}
