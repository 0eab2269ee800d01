/* kn_table.c: reading a table, freeing it, checking its invariants. kn_builder.c builds one. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "kn_table.h"

#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_nearest.h"

static kn_nearest nearest(const kn_table *table, const char *name)
{
    kn_nearest near = {.text = name};
    for (int c = 0; c < table->column_count; c++) kn_nearest_try(&near, table->columns[c].name);
    return near;
}

kn_status kn_table_no_column(const kn_table *table, const char *before, const char *name, kn_error *err)
{
    kn_nearest near = nearest(table, name);
    return kn_fail(err, KN_INPUT, "%s no column \"%s\"%s%s%s", before, name, KN_MEANT(near));
}

kn_status kn_fail_column(const kn_table *table, const char *where, const char *name, kn_error *err)
{
    kn_nearest near = nearest(table, name);
    return kn_fail(err, KN_INPUT, "%s: there is no column \"%s\"%s%s%s", where, name, KN_MEANT(near));
}

kn_table *kn_table_share(const kn_table *table)
{
    kn_table *shared = (kn_table *)table; /* its cells stay as they are */
    atomic_fetch_add_explicit(&shared->shares, 1, memory_order_relaxed);
    return shared;
}

static void free_cells(kn_column *column)
{
    KN_FREE(column->codes, column->marginal, column->dict.offsets, column->dict.bytes, column->dict.integers,
            column->dict.decimals);
}

void kn_table_free(kn_table *table)
{
    if (!table || atomic_fetch_sub_explicit(&table->shares, 1, memory_order_acq_rel) > 0) return;
    for (int c = 0; table->columns && c < kn_table_all_columns(table); c++) {
        free_cells(&table->columns[c]);
        kn_free(table->columns[c].name);
    }
    KN_FREE(table->columns, table->counts, table->numbers, table);
}

void kn_table_forget(kn_table *table)
{
    if (atomic_load_explicit(&table->shares, memory_order_acquire) > 0) return;
    for (int c = 0; c < kn_table_all_columns(table); c++) {
        kn_column *column = &table->columns[c];
        free_cells(column);
        column->codes = NULL;
        column->marginal = NULL;
        column->dict = (kn_dictionary){0};
        column->missing = 0;
    }
    table->rows = table->total = 0;
}

void kn_row_list_free(kn_row_list *list)
{
    if (!list) return;
    KN_FREE(list->rows, list);
}

int64_t kn_table_rows(const kn_table *table)
{
    return table->rows;
}

int64_t kn_table_total(const kn_table *table)
{
    return table->counts ? table->total : table->rows;
}

bool kn_table_counted(const kn_table *table)
{
    return table->counts != NULL;
}

int64_t kn_table_count(const kn_table *table, int64_t row)
{
    return kn_table_weight(table, row);
}

int kn_table_columns(const kn_table *table)
{
    return table->column_count;
}

const char *kn_table_name(const kn_table *table, int column)
{
    return table->columns[column].name;
}

int kn_table_find(const kn_table *table, const char *column_name)
{
    for (int c = 0; c < table->column_count; c++)
        if (strcmp(table->columns[c].name, column_name) == 0) return c;
    return -1;
}

kn_type kn_table_type(const kn_table *table, int column)
{
    return table->columns[column].type;
}

uint32_t kn_table_distinct(const kn_table *table, int column)
{
    return table->columns[column].dict.count;
}

int64_t kn_table_missing(const kn_table *table, int column)
{
    return table->columns[column].missing;
}

int64_t kn_table_respelled(const kn_table *table, int column)
{
    return table->columns[column].respelled;
}

bool kn_table_unnamed(const kn_table *table, int column)
{
    return table->columns[column].unnamed;
}

bool kn_table_ambiguous_dates(const kn_table *table, int column)
{
    return table->columns[column].ambiguous_date;
}

int kn_table_code_width(const kn_table *table, int column)
{
    return table->columns[column].width;
}

uint64_t kn_table_bytes(const kn_table *table)
{
    uint64_t sum = table->counts ? 8 * (uint64_t)table->rows : 0;
    for (int c = 0; c < kn_table_all_columns(table); c++) {
        const kn_column     *column = &table->columns[c];
        const kn_dictionary *dict = &column->dict;
        sum += (uint64_t)table->rows * (uint64_t)column->width;
        sum += dict->offsets[dict->count] + 8 * ((uint64_t)dict->count + 1);
        if (dict->integers || dict->decimals) sum += 8 * (uint64_t)dict->count;
    }
    return sum;
}

char kn_table_delimiter(const kn_table *table)
{
    return table->delimiter;
}

uint32_t kn_table_code(const kn_table *table, int column, int64_t row)
{
    return kn_column_code(&table->columns[column], row);
}

const char *kn_table_text(const kn_table *table, int column, uint32_t code, size_t *length)
{
    const kn_dictionary *dict = &table->columns[column].dict;
    *length = 0;
    if (code >= dict->count) return NULL;
    kn_string text = kn_dictionary_text(dict, code);
    *length = text.size;
    return text.data;
}

static const char *column_fault(const kn_table *table, const kn_column *column)
{
    const kn_dictionary *dict = &column->dict;
    if (!column->name || !column->name[0]) return "a column has no name";
    if (column->width != 1 && column->width != 2 && column->width != 4) return "a code width is not 1, 2 or 4";
    if (dict->offsets[0] != 0) return "a dictionary does not begin at 0";
    for (uint32_t i = 0; i < dict->count; i++)
        if (dict->offsets[i + 1] < dict->offsets[i]) return "a dictionary's offsets decrease";
    for (uint32_t i = 1; i < dict->count; i++) {
        if (dict->integers && dict->integers[i] <= dict->integers[i - 1]) return "integers are not in order";
        if (dict->decimals && dict->decimals[i] < dict->decimals[i - 1]) return "decimals are not in order";
        if (!dict->integers && !dict->decimals &&
            kn_string_compare(kn_dictionary_text(dict, i - 1), kn_dictionary_text(dict, i)) >= 0)
            return "texts are not in order";
    }
    bool numeric = column->type == KN_TYPE_INTEGER || column->type == KN_TYPE_DATE || column->type == KN_TYPE_DATETIME;
    if (numeric != (dict->integers != NULL)) return "a column's numbers do not fit its type";
    if ((column->type == KN_TYPE_DECIMAL) != (dict->decimals != NULL)) return "a column's decimals do not fit its type";
    int64_t missing = 0;
    for (int64_t r = 0; r < table->rows; r++) {
        uint32_t code = kn_column_code(column, r);
        if (code > dict->count) return "a code is out of range";
        if (code == dict->count) missing += kn_table_weight(table, r);
    }
    if (missing != column->missing) return "missing cells are counted wrongly";
    return NULL;
}

static const char *counts_fault(const kn_table *table)
{
    int64_t sum = 0;
    for (int64_t r = 0; table->counts && r < table->rows; r++) {
        if (table->counts[r] < 1 || table->counts[r] > KN_TABLE_MOST - sum) return "a row's count is out of range";
        sum += table->counts[r];
    }
    return table->counts && sum != table->total ? "the counts do not add up" : NULL;
}

bool kn_table_validate(const kn_table *table, const char **reason)
{
    const char *fault = counts_fault(table);
    for (int c = 0; c < kn_table_all_columns(table) && !fault; c++) fault = column_fault(table, &table->columns[c]);
    if (reason) *reason = fault;
    return fault == NULL;
}
