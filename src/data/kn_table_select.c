/* kn_table_select.c: some rows of a table as a new table (kn_table_select.h).
 *
 * Column by column, several at a time: mark the codes that the rows have, number these in their order, copy their texts
 * and numbers, write the new codes. Cost: O(rows × columns + values); memory: the new table and 4 bytes per value.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_table_select.h"

#include <string.h>

#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_parallel.h"

#define WHAT "choosing rows of a table"

#define UNUSED UINT32_MAX

typedef struct selection {
    kn_context     *ctx;
    const kn_table *from;
    kn_table       *to;
    const int64_t  *rows;
    int64_t         count;
} selection;

/* Numbers the values that the rows hold; `codes` has an entry for each code and one for "missing". */
static void number_codes(const selection *s, const kn_column *from, kn_column *to, uint32_t *codes, uint64_t *bytes)
{
    uint32_t values = from->dict.count;
    memset(codes, 0xff, ((size_t)values + 1) * sizeof *codes);
    for (int64_t i = 0; i < s->count; i++) {
        uint32_t code = kn_column_code(from, s->rows[i]);
        codes[code] = 0;
        to->missing += code == values;
    }
    *bytes = 0;
    for (uint32_t c = 0; c < values; c++) {
        if (codes[c] == UNUSED) continue;
        codes[c] = to->dict.count++;
        *bytes += kn_dictionary_text(&from->dict, c).size;
    }
    codes[values] = to->dict.count;
}

static bool copy_dictionary(kn_context *ctx, const kn_dictionary *from, kn_dictionary *to, const uint32_t *codes,
                            uint64_t bytes)
{
    to->offsets = kn_alloc_array(ctx, (size_t)to->count + 1, sizeof *to->offsets);
    to->bytes = kn_alloc(ctx, bytes + 1);
    if (from->integers) to->integers = kn_alloc_array(ctx, to->count, sizeof *to->integers);
    if (from->decimals) to->decimals = kn_alloc_array(ctx, to->count, sizeof *to->decimals);
    if (!to->offsets || !to->bytes || (from->integers && !to->integers) || (from->decimals && !to->decimals))
        return false;
    uint64_t at = 0;
    for (uint32_t c = 0; c < from->count; c++) {
        if (codes[c] == UNUSED) continue;
        kn_string text = kn_dictionary_text(from, c);
        to->offsets[codes[c]] = at;
        if (text.size) memcpy(to->bytes + at, text.data, text.size);
        at += text.size;
        if (from->integers) to->integers[codes[c]] = from->integers[c];
        if (from->decimals) to->decimals[codes[c]] = from->decimals[c];
    }
    to->offsets[to->count] = at;
    to->bytes[at] = '\0';
    return true;
}

static bool write_codes(const selection *s, const kn_column *from, kn_column *to, const uint32_t *codes)
{
    uint64_t largest = (uint64_t)to->dict.count + (to->missing > 0);
    to->width = largest <= 256 ? 1 : largest <= 65536 ? 2 : 4;
    to->codes = kn_alloc_array(s->ctx, (size_t)s->count, (size_t)to->width);
    if (!to->codes) return false;
    for (int64_t i = 0; i < s->count; i++) {
        uint32_t code = codes[kn_column_code(from, s->rows[i])];
        switch (to->width) {
        case 1: ((uint8_t *)to->codes)[i] = (uint8_t)code; break;
        case 2: ((uint16_t *)to->codes)[i] = (uint16_t)code; break;
        default: ((uint32_t *)to->codes)[i] = code; break;
        }
    }
    return true;
}

static kn_status select_columns(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    (void)worker;
    const selection *s = arg;
    for (int64_t c = begin; c < end; c++) {
        const kn_column *from = &s->from->columns[c];
        kn_column       *to = &s->to->columns[c];
        uint32_t        *codes = kn_alloc_array(s->ctx, (size_t)from->dict.count + 1, sizeof *codes);
        uint64_t         bytes = 0;
        to->type = from->type;
        to->ambiguous_date = from->ambiguous_date;
        to->respelled = from->respelled;
        to->name = kn_strndup(s->ctx, from->name, strlen(from->name));
        bool ok = codes && to->name;
        if (ok) number_codes(s, from, to, codes, &bytes);
        ok = ok && copy_dictionary(s->ctx, &from->dict, &to->dict, codes, bytes) && write_codes(s, from, to, codes);
        kn_free(codes);
        if (!ok) return kn_fail_memory(err, s->ctx, WHAT);
    }
    return KN_OK;
}

kn_status kn_table_select(kn_table **out, kn_context *ctx, const kn_table *table, const int64_t *rows, int64_t count,
                          kn_error *err)
{
    *out = NULL;
    for (int64_t i = 0; i < count; i++)
        if (rows[i] < 0 || rows[i] >= table->rows || (i > 0 && rows[i] <= rows[i - 1]))
            return kn_fail(err, KN_USAGE, "the rows chosen are not ascending rows of the table");
    kn_table *t = kn_alloc_zero(ctx, sizeof *t);
    if (!t) return kn_fail_memory(err, ctx, WHAT);
    *t = (kn_table){.ctx = ctx, .rows = count, .column_count = table->column_count, .delimiter = table->delimiter};
    t->columns = kn_alloc_array_zero(ctx, (size_t)t->column_count, sizeof *t->columns);
    if (!t->columns) {
        kn_free(t);
        return kn_fail_memory(err, ctx, WHAT);
    }
    selection s = {ctx, table, t, rows, count};
    kn_status st = kn_parallel_for(ctx, t->column_count, 1, select_columns, &s, err);
    if (st != KN_OK)
        kn_table_free(t);
    else
        *out = t;
    return st;
}
