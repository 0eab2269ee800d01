/* kn_hierarchy_bind.c: finds the leaf of every value of a column.
 *
 * Text is matched by its bytes. Numbers and dates are matched by spelling first and then by value (1.50 and 1.5; a date
 * spelled in another way than the leaf's YYYY-MM-DD), which is computed only if a spelling was not found.
 *
 * Cost: O(leaves + values) expected; by value O((leaves + values) log leaves). Memory: 8 bytes per leaf, by value 64.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_compare.h"
#include "kn_error.h"
#include "kn_hash.h"
#include "kn_hierarchy.h"
#include "kn_sort.h"
#include "kn_value.h"

#define NONE KN_NODE_NONE

/* ---- By spelling ---- */

static bool match_spelling(const kn_hierarchy *h, const kn_column *column, uint32_t *leaf_of_code, uint32_t *unmatched)
{
    size_t size = 64;
    while (size / 2 < h->leaves) size *= 2;
    uint32_t *slots = kn_alloc_array(h->ctx, size, sizeof *slots);
    if (!slots) return false;
    memset(slots, 0xff, size * sizeof *slots);
    for (uint32_t leaf = 0; leaf < h->leaves; leaf++) {
        kn_string text = kn_hierarchy_text(h, leaf);
        size_t    at = kn_hash_bytes(text.data, text.size) & (size - 1);
        while (slots[at] != NONE) at = (at + 1) & (size - 1);
        slots[at] = leaf;
    }
    *unmatched = 0;
    for (uint32_t c = 0; c < column->dict.count; c++) {
        kn_string text = kn_dictionary_text(&column->dict, c);
        size_t    at = kn_hash_bytes(text.data, text.size) & (size - 1);
        while (slots[at] != NONE && !kn_string_equal(kn_hierarchy_text(h, slots[at]), text)) at = (at + 1) & (size - 1);
        leaf_of_code[c] = slots[at];
        *unmatched += slots[at] == NONE;
    }
    kn_free(slots);
    return true;
}

/* ---- By value ---- */

/* What a leaf or a cell means: a decimal number, or days or microseconds. */
typedef struct meaning {
    kn_decimal number;
    int64_t    time;
    uint32_t   leaf;
} meaning;

static bool read_meaning(kn_string text, kn_type type, char decimal, meaning *out)
{
    switch (type) {
    case KN_TYPE_INTEGER:
    case KN_TYPE_DECIMAL: return kn_parse_declared_decimal(text, decimal, &out->number);
    case KN_TYPE_DATE: return kn_parse_date(text, "%Y-%m-%d", &out->time);
    case KN_TYPE_DATETIME:
        return kn_parse_datetime(text, "%Y-%m-%dT%H:%M:%S%z", NULL, &out->time) ||
               kn_parse_datetime(text, "%Y-%m-%d %H:%M:%S%z", NULL, &out->time);
    case KN_TYPE_AUTO:
    case KN_TYPE_TEXT: break;
    }
    return false;
}

static int compare_value(const meaning *a, const meaning *b, kn_type type)
{
    if (kn_type_is_number(type)) return kn_decimal_compare(&a->number, &b->number);
    return a->time < b->time ? -1 : a->time > b->time;
}

static int compare_meanings(const void *type, const void *a, const void *b)
{
    const meaning *x = a, *y = b;
    int            c = compare_value(x, y, *(const kn_type *)type);
    return c ? c : kn_compare_u32(&x->leaf, &y->leaf);
}

/* The first leaf with the same value. */
static uint32_t find_meaning(const meaning *list, size_t count, const meaning *wanted, kn_type type)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_value(&list[middle], wanted, type) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && compare_value(&list[low], wanted, type) == 0 ? list[low].leaf : NONE;
}

static bool match_value(const kn_hierarchy *h, const kn_column *column, char decimal, uint32_t *leaf_of_code,
                        uint32_t *unmatched)
{
    meaning *list = kn_alloc_array(h->ctx, h->leaves, sizeof *list);
    if (!list) return false;
    size_t count = 0;
    for (uint32_t leaf = 0; leaf < h->leaves; leaf++) {
        list[count] = (meaning){.leaf = leaf};
        count += read_meaning(kn_hierarchy_text(h, leaf), column->type, decimal, &list[count]);
    }
    kn_sort_in_place(list, count, sizeof(meaning), compare_meanings, &column->type);
    for (uint32_t c = 0; c < column->dict.count; c++) {
        if (leaf_of_code[c] != NONE) continue;
        meaning wanted = {.leaf = 0};
        /* The column's own reading of a date (its pattern, its time zone) is in the dictionary already. */
        if (!kn_type_is_number(column->type))
            wanted.time = column->dict.integers[c];
        else if (!read_meaning(kn_dictionary_text(&column->dict, c), column->type, decimal, &wanted))
            continue;
        leaf_of_code[c] = find_meaning(list, count, &wanted, column->type);
        *unmatched -= leaf_of_code[c] != NONE;
    }
    kn_free(list);
    return true;
}

/* ---- Binding ---- */

static kn_status fail_unmatched(const kn_hierarchy *h, const kn_column *column, int64_t rows,
                                const uint32_t *leaf_of_code, uint32_t unmatched, bool show_values, kn_error *err)
{
    int64_t  row = 0;
    uint32_t code = 0;
    for (; row < rows; row++) {
        code = kn_column_code(column, row);
        if (code < column->dict.count && leaf_of_code[code] == NONE) break;
    }
    if (row == rows) { /* a dictionary may hold values that no row has */
        row = -1;
        for (code = 0; leaf_of_code[code] != NONE; code++) {
        }
    }
    char value[160] = "";
    if (show_values) {
        kn_string text = kn_dictionary_text(&column->dict, code);
        size_t    shown = text.size < 100 ? text.size : 100;
        /* Not in the middle of a character. */
        while (shown > 0 && shown < text.size && ((unsigned char)text.data[shown] & 0xc0) == 0x80) shown--;
        value[0] = ':';
        value[1] = ' ';
        memcpy(value + 2, text.data, shown);
        memcpy(value + 2 + shown, shown < text.size ? "..." : "", shown < text.size ? 4 : 1);
    }
    return kn_fail(err, KN_INPUT,
                   "%s: column \"%s\" has %" PRIu32
                   " value%s without a leaf in the hierarchy, first in data row %" PRId64 "%s",
                   h->name, column->name, unmatched, unmatched == 1 ? "" : "s", row + 1, value);
}

kn_status kn_hierarchy_find_leaves(uint32_t **out, uint32_t *lacking, const kn_hierarchy *h, const kn_column *column,
                                   char decimal, kn_error *err)
{
    uint32_t *leaf_of_code = kn_alloc_array(h->ctx, (size_t)column->dict.count + 1, sizeof *leaf_of_code);
    bool      ok = leaf_of_code && match_spelling(h, column, leaf_of_code, lacking);
    *out = NULL;
    if (ok && *lacking && column->type != KN_TYPE_TEXT) ok = match_value(h, column, decimal, leaf_of_code, lacking);
    if (!ok) {
        kn_free(leaf_of_code);
        return kn_fail_memory(err, h->ctx, "binding a hierarchy");
    }
    leaf_of_code[column->dict.count] = h->leaves;
    *out = leaf_of_code;
    return KN_OK;
}

kn_status kn_hierarchy_match(uint32_t **out, const kn_hierarchy *h, const kn_column *column, int64_t rows, char decimal,
                             bool show_values, kn_error *err)
{
    uint32_t lacking = 0;
    KN_TRY(kn_hierarchy_find_leaves(out, &lacking, h, column, decimal, err));
    if (lacking == 0) return KN_OK;
    kn_status status = fail_unmatched(h, column, rows, *out, lacking, show_values, err);
    kn_free(*out);
    *out = NULL;
    return status;
}

kn_status kn_hierarchy_bind_column(kn_hierarchy *h, const kn_column *column, int64_t rows, char decimal,
                                   bool show_values, kn_error *err)
{
    uint32_t *leaf_of_code = NULL;
    KN_TRY(kn_hierarchy_match(&leaf_of_code, h, column, rows, decimal, show_values, err));
    return kn_hierarchy_set_leaves(h, column, leaf_of_code, err);
}

kn_status kn_hierarchy_bind(kn_hierarchy *h, const kn_table *table, int column, char decimal, bool show_values,
                            kn_error *err)
{
    if (column < 0 || column >= table->column_count) return kn_fail(err, KN_USAGE, "there is no column %d", column);
    if (decimal != '.' && decimal != ',') return kn_fail(err, KN_USAGE, "the decimal mark is '.' or ','");
    return kn_hierarchy_bind_column(h, &table->columns[column], table->rows, decimal, show_values, err);
}

kn_status kn_hierarchy_set_people(kn_hierarchy *h, const kn_table *counts, const uint32_t *leaves, kn_error *err)
{
    int64_t *people = kn_alloc_array_zero(h->ctx, (size_t)h->leaves + 2, sizeof *people);
    if (!people) return kn_fail_memory(err, h->ctx, "attaching a population");
    for (int64_t row = 0; row < counts->rows; row++) {
        uint32_t leaf = leaves[kn_column_code(&counts->columns[0], row)];
        if (people[leaf + 1] > 0) {
            kn_free(people);
            return kn_fail(err, KN_INPUT, "population: line %lld counts the people of a leaf that has a count already",
                           (long long)kn_table_number(counts, row));
        }
        people[leaf + 1] = kn_table_weight(counts, row);
    }
    for (uint32_t leaf = 0; leaf <= h->leaves; leaf++) people[leaf + 1] += people[leaf];
    kn_free(h->people);
    h->people = people;
    return KN_OK;
}
