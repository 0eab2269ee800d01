/* kn_builder_counts.c: rows that represent several: takes the column of counts out of a table under construction.
 *
 * The counts are read before any other column is encoded, so that rows with count 0 leave no trace in types or
 * dictionaries. The column itself stays after the table's columns, where writers find it. Cost: O(rows), and O(rows ×
 * columns) if rows are left out. Interface: kn_builder_internal.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "kn_alloc.h"
#include "kn_builder_internal.h"
#include "kn_error.h"

#define WHAT "counting rows"

/* Moves the entries of the kept rows to the front; `rows` are their indices, ascending. */
static void keep_entries(void *entries, int width, const int64_t *rows, int64_t count)
{
    char  *bytes = entries;
    size_t size = (size_t)width;
    for (int64_t i = 0; i < count; i++) memmove(bytes + (size_t)i * size, bytes + (size_t)rows[i] * size, size);
}

static void keep_segments(kn_builder *b, const int64_t *rows, int64_t count)
{
    int64_t at = 0;
    size_t  kept = 0;
    for (size_t s = 0; s < b->segment_count; s++) {
        kn_segment segment = b->segments[s];
        int64_t    first = at;
        while (at < count && rows[at] < segment.first + segment.rows) at++;
        if (at > first) b->segments[kept++] = (kn_segment){first, at - first, segment.slot};
    }
    b->segment_count = kept;
}

/* Leaves out the rows with count 0. */
static kn_status leave_out(kn_table *table, kn_builder *b, kn_error *err)
{
    int64_t *rows = kn_alloc_array(b->ctx, (size_t)b->rows + 1, sizeof *rows), count = 0;
    if (!rows) return kn_fail_memory(err, b->ctx, WHAT);
    for (int64_t r = 0; r < b->rows; r++)
        if (table->counts[r] > 0) rows[count++] = r;
    for (int c = 0; c < b->column_count; c++) {
        kn_builder_column *column = &b->columns[c];
        if (c != b->count && column->ids) keep_entries(column->ids, column->width, rows, count);
    }
    keep_entries(table->columns[b->count].codes, table->columns[b->count].width, rows, count);
    keep_entries(table->counts, sizeof *table->counts, rows, count);
    keep_segments(b, rows, count);
    for (int64_t i = 0; i < count; i++) rows[i]++;
    b->numbers = rows;
    b->rows = table->rows = count;
    b->unused = true;
    return KN_OK;
}

/* Reports the first row whose code is in [least, most]. */
static kn_status fail_row(const kn_table *table, const kn_column *column, uint32_t least, uint32_t most,
                          const char *what, kn_error *err)
{
    int64_t row = 0;
    while (row < table->rows && (kn_column_code(column, row) < least || kn_column_code(column, row) > most)) row++;
    return kn_fail(err, KN_INPUT, "column \"%s\" counts rows; row %lld: %s", column->name, (long long)row + 1, what);
}

static kn_status check_column(const kn_table *table, const kn_column *column, kn_error *err)
{
    const kn_dictionary *dict = &column->dict;
    uint32_t             negative = 0;
    while (negative < dict->count && dict->integers[negative] < 0) negative++;
    if (column->missing > 0) return fail_row(table, column, dict->count, dict->count, "the cell is missing", err);
    if (negative > 0) return fail_row(table, column, 0, negative - 1, "a negative number", err);
    return KN_OK;
}

kn_status kn_counts_take(kn_table *table, kn_builder *b, const kn_value_rules *rules, kn_error *err)
{
    const kn_builder_type integer = {KN_TYPE_INTEGER, NULL};
    kn_column            *column = &table->columns[b->count];
    KN_TRY(kn_encode_column(column, b, &b->columns[b->count], &integer, rules, err));
    KN_TRY(check_column(table, column, err));
    table->counts = kn_alloc_array(b->ctx, (size_t)b->rows + 1, sizeof *table->counts);
    if (!table->counts) return kn_fail_memory(err, b->ctx, WHAT);
    table->column_count--;
    bool none = false;
    for (int64_t r = 0; r < b->rows; r++) {
        int64_t count = column->dict.integers[kn_column_code(column, r)];
        if (count > KN_TABLE_MOST - table->total)
            return kn_fail(err, KN_INPUT, "column \"%s\" counts rows; row %lld: there are more than %lld rows by here",
                           column->name, (long long)r + 1, (long long)KN_TABLE_MOST);
        table->counts[r] = count;
        table->total += count;
        none |= count == 0;
    }
    return none ? leave_out(table, b, err) : KN_OK;
}

void kn_counts_settle(kn_table *table, int column)
{
    if (!table->counts) return;
    kn_column counts = table->columns[column];
    memmove(table->columns + column, table->columns + column + 1,
            (size_t)(table->column_count - column) * sizeof *table->columns);
    table->columns[table->column_count] = counts;
    for (int c = 0; c < table->column_count; c++) {
        kn_column *one = &table->columns[c];
        int64_t    missing = 0;
        for (int64_t r = 0; one->missing > 0 && r < table->rows; r++)
            if (kn_column_code(one, r) == one->dict.count) missing += table->counts[r];
        one->missing = missing;
    }
}
