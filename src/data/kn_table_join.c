/* kn_table_join.c: several columns as one: equal where all of them are (kn_table_add_joined in kanon/table.h).
 *
 * Pair by pair: rows are sorted by (number so far, code of the next column) and numbered in that order, so that the
 * result depends only on the cells. The texts are these numbers: what is compared is whether cells are equal. Cost:
 * O(columns × rows × log rows); memory: 16 bytes per row meanwhile.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_sort.h"
#include "kn_table.h"

#define WHAT "joining columns of a table"

enum { DIGITS = 10 };

/* Numbers the pairs of a row's number and its code in a column; rows without a cell have the number UINT32_MAX. */
static kn_status number_pairs(const kn_table *t, const kn_column *c, uint32_t *numbers, kn_sort_record *order,
                              uint32_t *count, kn_error *err)
{
    size_t n = 0;
    for (int64_t row = 0; row < t->rows; row++) {
        uint32_t code = kn_column_code(c, row);
        if (code == c->dict.count) numbers[row] = UINT32_MAX;
        if (numbers[row] == UINT32_MAX) continue;
        order[n++] = (kn_sort_record){(uint64_t)numbers[row] << 32 | code, (uint64_t)row};
    }
    KN_TRY(kn_sort_records(t->ctx, order, n, NULL, NULL, err));
    *count = 0;
    for (size_t i = 0; i < n; i++) {
        if (i > 0 && order[i].key != order[i - 1].key) ++*count;
        numbers[order[i].id] = *count;
    }
    *count += n > 0;
    return KN_OK;
}

/* The column of these numbers, at the end of the table, which has space for it. */
static bool fill(kn_table *t, kn_column *to, const char *name, uint32_t *numbers, uint32_t count)
{
    *to = (kn_column){.type = KN_TYPE_TEXT, .width = 4, .codes = numbers};
    to->name = kn_strndup(t->ctx, name, strlen(name));
    to->dict.offsets = kn_alloc_array(t->ctx, (size_t)count + 1, sizeof *to->dict.offsets);
    to->dict.bytes = kn_alloc(t->ctx, (size_t)count * DIGITS + 1);
    to->dict.count = count;
    if (!to->name || !to->dict.offsets || !to->dict.bytes) return false;
    for (uint32_t i = 0; i < count; i++) {
        to->dict.offsets[i] = (uint64_t)i * DIGITS;
        snprintf(to->dict.bytes + (size_t)i * DIGITS, DIGITS + 1, "%0*" PRIu32, DIGITS, i);
    }
    to->dict.offsets[count] = (uint64_t)count * DIGITS;
    to->dict.bytes[(size_t)count * DIGITS] = '\0';
    for (int64_t row = 0; row < t->rows; row++)
        if (numbers[row] == UINT32_MAX) {
            numbers[row] = count;
            to->missing++;
        }
    return true;
}

static kn_status number_rows(const kn_table *t, const char *const *columns, int count, uint32_t *numbers,
                             uint32_t *values, kn_error *err)
{
    kn_sort_record *order = kn_alloc_array(t->ctx, (size_t)t->rows + 1, sizeof *order);
    if (!order) return kn_fail_memory(err, t->ctx, WHAT);
    kn_status st = KN_OK;
    for (int i = 0; i < count && st == KN_OK; i++) {
        int at = kn_table_find(t, columns[i]);
        st = at < 0 ? kn_table_no_column(t, "there is", columns[i], err)
                    : number_pairs(t, &t->columns[at], numbers, order, values, err);
    }
    kn_free(order);
    return st;
}

kn_status kn_table_add_joined(kn_table *t, const char *const *columns, int count, const char *name, kn_error *err)
{
    KN_SERVE(t->ctx, err);
    uint32_t values = 0;
    if (atomic_load_explicit(&t->shares, memory_order_relaxed) > 0)
        return kn_fail(err, KN_USAGE, "the table cannot change while an Arrow stream shows it");
    if (t->counts) return kn_fail(err, KN_USAGE, "the columns of a counted table cannot be joined");
    if (kn_table_find(t, name) >= 0) return kn_fail(err, KN_USAGE, "there is a column \"%s\" already", name);
    kn_column *all = kn_realloc_array(t->ctx, t->columns, (size_t)t->column_count + 1, sizeof *all);
    if (!all) return kn_fail_memory(err, t->ctx, WHAT);
    t->columns = all;
    uint32_t *numbers = kn_alloc_array_zero(t->ctx, (size_t)t->rows + 1, sizeof *numbers);
    kn_status st = numbers ? number_rows(t, columns, count, numbers, &values, err) : kn_fail_memory(err, t->ctx, WHAT);
    if (st != KN_OK) {
        kn_free(numbers);
        return st;
    }
    kn_column *to = &t->columns[t->column_count++]; /* the table frees what it got of it */
    return fill(t, to, name, numbers, values) ? KN_OK : kn_fail_memory(err, t->ctx, WHAT);
}
