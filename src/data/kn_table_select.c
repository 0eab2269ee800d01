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
    bool            counted; /* the new table has counts */
} selection;

/* Numbers the values that the rows hold; `codes` has an entry for each code and one for "missing". */
static void number_codes(const selection *s, const kn_column *from, kn_column *to, uint32_t *codes, uint64_t *bytes)
{
    uint32_t values = from->dict.count;
    memset(codes, 0xff, ((size_t)values + 1) * sizeof *codes);
    for (int64_t i = 0; i < s->count; i++) {
        uint32_t code = kn_column_code(from, s->rows[i]);
        codes[code] = 0;
        if (code == values) to->missing += kn_table_weight(s->to, i);
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
        to->asked = from->asked;
        to->mark = from->mark;
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

static kn_status select_counts(const selection *s, kn_error *err)
{
    if (!s->counted) return KN_OK;
    s->to->counts = kn_alloc_array(s->ctx, (size_t)s->count + 1, sizeof *s->to->counts);
    if (!s->to->counts) return kn_fail_memory(err, s->ctx, WHAT);
    for (int64_t i = 0; i < s->count; i++) s->to->total += s->to->counts[i] = s->from->counts[s->rows[i]];
    return KN_OK;
}

static kn_status make_table(kn_table **out, selection *s, kn_error *err)
{
    kn_table *t = s->to = kn_alloc_zero(s->ctx, sizeof *t);
    if (!t) return kn_fail_memory(err, s->ctx, WHAT);
    *t = (kn_table){
        .ctx = s->ctx, .rows = s->count, .column_count = s->from->column_count, .delimiter = s->from->delimiter};
    t->columns = kn_alloc_array_zero(s->ctx, (size_t)t->column_count + 1, sizeof *t->columns);
    kn_status st = t->columns ? select_counts(s, err) : kn_fail_memory(err, s->ctx, WHAT);
    if (st == KN_OK) st = kn_parallel_for(s->ctx, kn_table_all_columns(t), 1, select_columns, s, err);
    if (st != KN_OK)
        kn_table_free(t);
    else
        *out = t;
    return st;
}

kn_status kn_table_select(kn_table **out, kn_context *ctx, const kn_table *table, const int64_t *rows, int64_t count,
                          kn_error *err)
{
    *out = NULL;
    for (int64_t i = 0; i < count; i++)
        if (rows[i] < 0 || rows[i] >= table->rows || (i > 0 && rows[i] <= rows[i - 1]))
            return kn_fail(err, KN_USAGE, "the rows chosen are not ascending rows of the table");
    selection s = {.ctx = ctx, .from = table, .rows = rows, .count = count, .counted = table->counts != NULL};
    return make_table(out, &s, err);
}
