/* kn_builder.c: collects rows of interned ids from several workers into growing per-column arrays.
 *
 * Interface and protocol: kn_builder.h. Ids are stored in 1, 2 or 4 bytes, widened as dictionaries grow (at most twice
 * per column), so that a table under construction is about as small as the finished one.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_alloc.h"
#include "kn_builder_internal.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_fault.h"
#include "kn_parallel.h"

#define WHAT "building a table"

kn_status kn_builder_create(kn_builder **out, kn_context *ctx, const kn_string *names, int column_count, int slots,
                            kn_error *err)
{
    *out = NULL;
    kn_builder *b = kn_alloc_zero(ctx, sizeof *b);
    if (!b) return kn_fail_memory(err, ctx, WHAT);
    b->ctx = ctx;
    b->slots = slots;
    b->count = -1;
    b->columns = kn_alloc_array_zero(ctx, (size_t)column_count, sizeof *b->columns);
    if (!b->columns) goto failed;
    b->column_count = column_count;
    for (int c = 0; c < column_count; c++) {
        kn_builder_column *column = &b->columns[c];
        column->width = 1;
        atomic_init(&column->missing, 0);
        column->name = kn_strndup(ctx, names[c].data, names[c].size);
        column->interners = kn_alloc_array(ctx, (size_t)slots, sizeof *column->interners);
        if (column->interners)
            for (int s = 0; s < slots; s++) kn_interner_init(&column->interners[s], ctx);
        if (!column->name || !column->interners) goto failed;
    }
    *out = b;
    return KN_OK;
failed:
    kn_builder_free(b);
    return kn_fail_memory(err, ctx, WHAT);
}

void kn_builder_free(kn_builder *b)
{
    if (!b) return;
    for (int c = 0; c < b->column_count; c++) {
        kn_builder_column *column = &b->columns[c];
        KN_FREE(column->name, column->ids);
        if (column->interners)
            for (int s = 0; s < b->slots; s++) kn_interner_free(&column->interners[s]);
        kn_free(column->interners);
    }
    KN_FREE(b->columns, b->segments, b->numbers, b);
}

kn_interner *kn_builder_interner(kn_builder *b, int column, int slot)
{
    return &b->columns[column].interners[slot];
}

void kn_builder_set_na(kn_builder *b, const kn_string *na, int count)
{
    b->na = na;
    b->na_count = count;
}

void kn_builder_set_unused(kn_builder *b)
{
    b->unused = true;
}

void kn_builder_set_count(kn_builder *b, int column)
{
    b->count = column;
}

/* Rewrites `rows` ids of `from` bytes as ids of `to` bytes, back to front in the same storage. */
static void widen(void *ids, int64_t rows, int from, int to)
{
    uint8_t  *w1 = ids;
    uint16_t *w2 = ids;
    uint32_t *w4 = ids;
    if (from == 1 && to == 2)
        for (int64_t i = rows; i-- > 0;) w2[i] = w1[i];
    else if (from == 1)
        for (int64_t i = rows; i-- > 0;) w4[i] = w1[i];
    else
        for (int64_t i = rows; i-- > 0;) w4[i] = w2[i];
}

static bool make_room(kn_builder *b, kn_builder_column *column, int64_t rows)
{
    size_t most = 0;
    for (int s = 0; s < b->slots; s++)
        if (column->interners[s].count > most) most = column->interners[s].count;
    int width = most <= UINT8_MAX ? 1 : most <= UINT16_MAX ? 2 : 4;
    if (width < column->width) width = column->width;
    if (width > column->width) {
        void *wider = kn_realloc_array(b->ctx, column->ids, column->capacity, (size_t)width);
        if (!wider) return false;
        column->ids = wider;
        widen(wider, b->rows, column->width, width);
        column->width = width;
    }
    return kn_grow(b->ctx, &column->ids, &column->capacity, (size_t)(b->rows + rows), (size_t)width);
}

typedef struct reserving {
    kn_builder *builder;
    int64_t     rows;
} reserving;

static kn_status reserve_columns(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    const reserving *r = arg;
    (void)worker;
    for (int64_t c = begin; c < end; c++)
        if (!make_room(r->builder, &r->builder->columns[c], r->rows)) return kn_fail_memory(err, r->builder->ctx, WHAT);
    return KN_OK;
}

kn_status kn_builder_reserve(kn_builder *b, int64_t rows, kn_error *err)
{
    reserving r = {b, rows};
    return rows > 0 ? kn_parallel_for(b->ctx, b->column_count, 1, reserve_columns, &r, err) : KN_OK;
}

kn_status kn_builder_extend(kn_builder *b, int64_t rows, int slot, int64_t *first_row, kn_error *err)
{
    *first_row = b->rows;
    if (rows == 0) return KN_OK;
    for (int c = 0; c < b->column_count; c++)
        if (!make_room(b, &b->columns[c], rows)) return kn_fail_memory(err, b->ctx, WHAT);
    kn_segment *last = b->segment_count ? &b->segments[b->segment_count - 1] : NULL;
    if (last && last->slot == slot) {
        last->rows += rows;
    } else {
        if (!KN_GROW(b->ctx, &b->segments, &b->segment_capacity, b->segment_count + 1))
            return kn_fail_memory(err, b->ctx, WHAT);
        b->segments[b->segment_count++] = (kn_segment){b->rows, rows, slot};
    }
    b->rows += rows;
    return KN_OK;
}

#ifdef KN_FAULTS
/* A deliberate fault: the second row gets the first row's last cell. */
static void mistake_cell(const kn_builder *b, int column_index, int64_t first_row, int64_t rows)
{
    const kn_builder_column *column = &b->columns[column_index];
    size_t                   width = (size_t)column->width;
    if (kn_fault("read-cell-above") && column_index == b->column_count - 1 && first_row == 0 && rows > 1)
        memcpy((char *)column->ids + width, column->ids, width);
}
#else
#define mistake_cell(b, column_index, first_row, rows) (void)0
#endif

void kn_builder_write(kn_builder *b, int column_index, int64_t first_row, const uint32_t *ids, int64_t rows)
{
    kn_builder_column *column = &b->columns[column_index];
    int64_t            missing = 0;
    if (rows == 0) return;
    if (column->width == 1) {
        uint8_t *to = (uint8_t *)column->ids + first_row;
        for (int64_t i = 0; i < rows; i++) to[i] = (uint8_t)ids[i];
    } else if (column->width == 2) {
        uint16_t *to = (uint16_t *)column->ids + first_row;
        for (int64_t i = 0; i < rows; i++) to[i] = (uint16_t)ids[i];
    } else {
        memcpy((uint32_t *)column->ids + first_row, ids, (size_t)rows * sizeof *ids);
    }
    mistake_cell(b, column_index, first_row, rows);
    for (int64_t i = 0, end; i < rows; i = end) { /* counted in 32 bits, which vectors hold twice as many of */
        uint32_t some = 0;
        end = rows - i < 1 << 20 ? rows : i + (1 << 20);
        for (int64_t j = i; j < end; j++) some += ids[j] == KN_ID_MISSING;
        missing += some;
    }
    if (missing) atomic_fetch_add_explicit(&column->missing, missing, memory_order_relaxed);
}

uint64_t kn_builder_needs(const kn_builder *b)
{
    /* Per distinct text while its column is encoded: lists of texts, values, order, codes and the dictionary. */
    const uint64_t per_text = 200;
    uint64_t       most = 0;
    for (int c = 0; c < b->column_count; c++) {
        uint64_t texts = 0;
        for (int s = 0; s < b->slots; s++) texts += b->columns[c].interners[s].count;
        uint64_t need = texts * per_text + (uint64_t)b->rows * (uint64_t)b->columns[c].width;
        if (need > most) most = need;
    }
    return kn_context_memory_used(b->ctx) + most;
}

kn_status kn_builder_finish(kn_table **out, kn_builder *b, const kn_builder_type *types, const kn_value_rules *rules,
                            kn_error *err)
{
    *out = NULL;
    const kn_builder_type inferred = {KN_TYPE_AUTO, NULL};
    const kn_value_rules  plain = {.decimal = '.'};
    kn_status             st = KN_OK;
    kn_table             *table = kn_alloc_zero(b->ctx, sizeof *table);
    if (!table) {
        st = kn_fail_memory(err, b->ctx, WHAT);
        goto end;
    }
    table->ctx = b->ctx;
    table->rows = b->rows;
    table->delimiter = ',';
    table->columns = kn_alloc_array_zero(b->ctx, (size_t)b->column_count, sizeof *table->columns);
    if (!table->columns) {
        st = kn_fail_memory(err, b->ctx, WHAT);
        goto end;
    }
    kn_progress_begin(b->ctx, "encoding", "columns", (uint64_t)b->column_count);
    table->column_count = b->column_count;
    if (b->count >= 0) st = kn_counts_take(table, b, rules ? rules : &plain, err);
    for (int c = 0; c < b->column_count && st == KN_OK; c++) {
        if (c == b->count) continue;
        st = kn_encode_column(&table->columns[c], b, &b->columns[c], types ? &types[c] : &inferred,
                              rules ? rules : &plain, err);
        kn_progress_add(b->ctx, 1);
    }
    kn_progress_end(b->ctx);
    if (b->count >= 0) kn_counts_settle(table, b->count);
    table->numbers = b->numbers;
    b->numbers = NULL;
end:
    kn_builder_free(b);
    if (st == KN_OK)
        *out = table;
    else
        kn_table_free(table);
    return st;
}
