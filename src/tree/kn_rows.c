/* kn_rows.c: distinct small sets of numbers with weights.
 *
 * Interface: kn_rows.h. A hash table with open addressing over the rows; rows are compared in full.
 */
#include "kn_rows.h"

#include <stdlib.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_hash.h"

void kn_rows_free(kn_rows *rows)
{
    kn_free(rows->start);
    kn_free(rows->members);
    kn_free(rows->weight);
    *rows = (kn_rows){0};
}

static uint64_t hash_members(const uint32_t *members, uint64_t count)
{
    uint64_t h = 0x2545f4914f6cdd1du ^ count;
    for (uint64_t i = 0; i < count; i++) h = kn_hash_mix(h ^ members[i], 0x9e3779b97f4a7c15u) + 0xd1342543de82ef95u;
    return kn_hash_word(h);
}

kn_status kn_rows_make(kn_rows *rows, kn_row_table *table, kn_context *ctx, uint64_t most_rows, uint64_t most_members,
                       bool merge, kn_error *err)
{
    size_t size = 16;
    while (size < most_rows * 2) size *= 2;
    *rows = (kn_rows){0};
    table->mask = size - 1;
    table->slots = NULL;
    if (merge) table->slots = kn_alloc_array_zero(ctx, size, sizeof *table->slots);
    rows->start = kn_alloc_array(ctx, (size_t)most_rows + 1, sizeof *rows->start);
    rows->weight = kn_alloc_array(ctx, (size_t)most_rows + 1, sizeof *rows->weight);
    rows->members = kn_alloc_array(ctx, (size_t)most_members + 1, sizeof *rows->members);
    if ((merge && !table->slots) || !rows->start || !rows->weight || !rows->members)
        return kn_fail_memory(err, ctx, "distinct tree records");
    rows->start[0] = 0;
    return KN_OK;
}

uint32_t kn_rows_close(kn_rows *rows, kn_row_table *table, uint64_t size, int64_t weight)
{
    uint64_t        from = rows->start[rows->count];
    const uint32_t *new_one = rows->members + from;
    size_t          at = table->slots ? (size_t)hash_members(new_one, size) & table->mask : 0;
    for (; table->slots && table->slots[at]; at = (at + 1) & table->mask) {
        uint32_t row = table->slots[at] - 1;
        uint64_t start = rows->start[row];
        if (rows->start[row + 1] - start != size || memcmp(rows->members + start, new_one, size * sizeof *new_one) != 0)
            continue;
        rows->weight[row] += weight;
        return row;
    }
    rows->weight[rows->count] = weight;
    rows->count++;
    if (table->slots) table->slots[at] = rows->count;
    rows->start[rows->count] = from + size;
    return rows->count - 1;
}

void kn_rows_shrink(kn_context *ctx, kn_rows *rows)
{
    void *p = kn_realloc_array(ctx, rows->members, (size_t)rows->start[rows->count] + 1, sizeof *rows->members);
    if (p) rows->members = p;
    p = kn_realloc_array(ctx, rows->start, (size_t)rows->count + 1, sizeof *rows->start);
    if (p) rows->start = p;
    p = kn_realloc_array(ctx, rows->weight, (size_t)rows->count + 1, sizeof *rows->weight);
    if (p) rows->weight = p;
}

static int compare_numbers(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

void kn_rows_sort(uint32_t *numbers, uint64_t count)
{
    if (count > 64) {
        qsort(numbers, (size_t)count, sizeof *numbers, compare_numbers);
        return;
    }
    for (uint64_t i = 1; i < count; i++) {
        uint32_t x = numbers[i];
        uint64_t j = i;
        for (; j > 0 && numbers[j - 1] > x; j--) numbers[j] = numbers[j - 1];
        numbers[j] = x;
    }
}
