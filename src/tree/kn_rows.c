/* kn_rows.c: small sets of numbers with weights.
 *
 * Interface: kn_rows.h. To merge equal ones, a hash table with open addressing over the rows; rows are compared in full.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_rows.h"

#include <stdlib.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_compare.h"
#include "kn_error.h"
#include "kn_hash.h"

enum { FEWEST_SLOTS = 1 << 10 };

void kn_rows_free(kn_rows *rows)
{
    KN_FREE(rows->start, rows->members, rows->weight, rows->slots);
    *rows = (kn_rows){0};
}

uint64_t kn_rows_hash(const uint32_t *members, uint64_t count)
{
    uint64_t h = 0x2545f4914f6cdd1du ^ count;
    for (uint64_t i = 0; i < count; i++) h = kn_hash_mix(h ^ members[i], 0x9e3779b97f4a7c15u) + 0xd1342543de82ef95u;
    return kn_hash_word(h);
}

kn_status kn_rows_clear(kn_rows *rows, kn_context *ctx, bool merge, kn_error *err)
{
    rows->ctx = ctx;
    rows->count = 0;
    rows->merge = merge;
    kn_free(rows->slots);
    rows->slots = NULL;
    rows->slot_count = 0;
    if (!KN_GROW(ctx, &rows->start, &rows->start_capacity, 1)) return kn_fail_memory(err, ctx, "distinct tree records");
    rows->start[0] = 0;
    return KN_OK;
}

uint32_t *kn_rows_room(kn_rows *rows, uint64_t size)
{
    uint64_t from = rows->start[rows->count];
    if (!KN_GROW(rows->ctx, &rows->members, &rows->member_capacity, (size_t)(from + size) + 1)) return NULL;
    return rows->members + from;
}

static bool grow_slots(kn_rows *rows)
{
    size_t    n = rows->slot_count ? rows->slot_count * 2 : FEWEST_SLOTS;
    uint32_t *slots = kn_alloc_array_zero(rows->ctx, n, sizeof *slots);
    if (!slots) return false;
    for (uint32_t i = 0; i < rows->count; i++) {
        uint64_t from = rows->start[i];
        size_t   at = (size_t)kn_rows_hash(rows->members + from, rows->start[i + 1] - from) & (n - 1);
        while (slots[at]) at = (at + 1) & (n - 1);
        slots[at] = i + 1;
    }
    kn_free(rows->slots);
    rows->slots = slots;
    rows->slot_count = n;
    return true;
}

/* The equal row, or KN_ROWS_FULL and its slot. */
static uint32_t find(const kn_rows *rows, const uint32_t *members, uint64_t size, size_t *slot)
{
    size_t mask = rows->slot_count - 1, at = (size_t)kn_rows_hash(members, size) & mask;
    for (; rows->slots[at]; at = (at + 1) & mask) {
        uint32_t row = rows->slots[at] - 1;
        uint64_t start = rows->start[row];
        if (rows->start[row + 1] - start == size && memcmp(rows->members + start, members, size * sizeof *members) == 0)
            return row;
    }
    *slot = at;
    return KN_ROWS_FULL;
}

uint32_t kn_rows_close(kn_rows *rows, uint64_t size, int64_t weight)
{
    uint64_t from = rows->start[rows->count];
    size_t   slot = 0;
    if (rows->merge) {
        if (((size_t)rows->count + 1) * 2 > rows->slot_count && !grow_slots(rows)) return KN_ROWS_FULL;
        uint32_t equal = find(rows, rows->members + from, size, &slot);
        if (equal != KN_ROWS_FULL) {
            rows->weight[equal] += weight;
            return equal;
        }
    }
    if (!KN_GROW(rows->ctx, &rows->start, &rows->start_capacity, (size_t)rows->count + 2) ||
        !KN_GROW(rows->ctx, &rows->weight, &rows->weight_capacity, (size_t)rows->count + 1))
        return KN_ROWS_FULL;
    rows->weight[rows->count] = weight;
    rows->start[++rows->count] = from + size;
    if (rows->merge) rows->slots[slot] = rows->count;
    return rows->count - 1;
}

static void fit(kn_context *ctx, void **block, size_t *capacity, size_t need, size_t size)
{
    void *fitting = kn_realloc_array(ctx, *block, need, size);
    if (!fitting) return;
    *block = fitting;
    *capacity = need;
}

void kn_rows_finish(kn_rows *rows)
{
    kn_free(rows->slots);
    rows->slots = NULL;
    rows->slot_count = 0;
    fit(rows->ctx, (void **)&rows->members, &rows->member_capacity, (size_t)rows->start[rows->count] + 1,
        sizeof *rows->members);
    fit(rows->ctx, (void **)&rows->start, &rows->start_capacity, (size_t)rows->count + 1, sizeof *rows->start);
    fit(rows->ctx, (void **)&rows->weight, &rows->weight_capacity, (size_t)rows->count + 1, sizeof *rows->weight);
}

void kn_rows_sort(uint32_t *numbers, uint64_t count)
{
    if (count > 64) {
        qsort(numbers, (size_t)count, sizeof *numbers, kn_compare_u32);
        return;
    }
    for (uint64_t i = 1; i < count; i++) {
        uint32_t x = numbers[i];
        uint64_t j = i;
        for (; j > 0 && numbers[j - 1] > x; j--) numbers[j] = numbers[j - 1];
        numbers[j] = x;
    }
}
