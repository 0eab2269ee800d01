/* kn_column_union.c: two columns' values as one dictionary (kn_column_union.h).
 *
 * Dictionaries are in the order of their values, so one pass merges them; only if numbers or dates must be compared
 * as text they are sorted again. Cost: O(values), with sorting O(values × log values); memory: the new dictionary, 8
 * bytes per value and, for decimals, 64.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_column_union.h"

#include <string.h>

#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_sort.h"
#include "kn_value.h"

#define WHAT "joining the values of two columns"

/* One of the two columns while the union is made. */
typedef struct side {
    const kn_column *column;
    uint32_t        *codes;    /* code → code of the union                      */
    kn_decimal      *decimals; /* per code, where values are decimals           */
    kn_sort_record  *order;    /* by text, where the column's own is another    */
} side;

typedef struct merging {
    kn_context *ctx;
    kn_type     type;
    side        sides[2];
    kn_column  *out;
} merging;

static kn_type common_type(const kn_column *a, const kn_column *b)
{
    if (a->type == b->type || b->dict.count == 0) return a->type;
    if (a->dict.count == 0) return b->type;
    return kn_type_is_number(a->type) && kn_type_is_number(b->type) ? KN_TYPE_DECIMAL : KN_TYPE_TEXT;
}

/* ---- Preparing one side ---- */

static int by_text(const void *arg, uint64_t a, uint64_t b)
{
    const kn_dictionary *dict = arg;
    return kn_string_compare(kn_dictionary_text(dict, (uint32_t)a), kn_dictionary_text(dict, (uint32_t)b));
}

static kn_status sort_as_text(const merging *m, side *s, kn_error *err)
{
    const kn_dictionary *dict = &s->column->dict;
    s->order = kn_alloc_array(m->ctx, dict->count, sizeof *s->order);
    if (!s->order) return kn_fail_memory(err, m->ctx, WHAT);
    for (uint32_t c = 0; c < dict->count; c++) {
        kn_string text = kn_dictionary_text(dict, c);
        uint64_t  key = 0;
        for (size_t i = 0; i < 8; i++) key = key << 8 | (i < text.size ? (uint8_t)text.data[i] : 0);
        s->order[c] = (kn_sort_record){key, c};
    }
    return kn_sort_records(m->ctx, s->order, dict->count, by_text, dict, err);
}

static kn_status read_decimals(const merging *m, side *s, char decimal, kn_error *err)
{
    const kn_dictionary *dict = &s->column->dict;
    s->decimals = kn_alloc_array(m->ctx, dict->count, sizeof *s->decimals);
    if (!s->decimals) return kn_fail_memory(err, m->ctx, WHAT);
    for (uint32_t c = 0; c < dict->count; c++)
        if (!kn_parse_declared_decimal(kn_value_trim(kn_dictionary_text(dict, c)), decimal, &s->decimals[c]))
            return kn_fail(err, KN_USAGE, "column \"%s\" has numbers with another decimal mark than '%c'",
                           s->column->name, decimal);
    return KN_OK;
}

static kn_status prepare(const merging *m, side *s, const kn_column *column, char decimal, kn_error *err)
{
    s->column = column;
    s->codes = kn_alloc_array(m->ctx, (size_t)column->dict.count + 1, sizeof *s->codes);
    if (!s->codes) return kn_fail_memory(err, m->ctx, WHAT);
    if (m->type == KN_TYPE_DECIMAL) return read_decimals(m, s, decimal, err);
    if (m->type == KN_TYPE_TEXT && column->type != KN_TYPE_TEXT) return sort_as_text(m, s, err);
    return KN_OK;
}

/* ---- Merging ---- */

static uint32_t code_at(const side *s, uint32_t position)
{
    return s->order ? (uint32_t)s->order[position].id : position;
}

static int compare(const merging *m, uint32_t a, uint32_t b)
{
    const side *x = &m->sides[0], *y = &m->sides[1];
    if (m->type == KN_TYPE_DECIMAL) return kn_decimal_compare(&x->decimals[a], &y->decimals[b]);
    if (m->type == KN_TYPE_TEXT)
        return kn_string_compare(kn_dictionary_text(&x->column->dict, a), kn_dictionary_text(&y->column->dict, b));
    int64_t p = x->column->dict.integers[a], q = y->column->dict.integers[b];
    return p < q ? -1 : p > q;
}

/* Appends a value to the union's dictionary, whose arrays have space for all of them. */
static void append(merging *m, const side *s, uint32_t code)
{
    kn_dictionary *dict = &m->out->dict;
    kn_string      text = kn_dictionary_text(&s->column->dict, code);
    uint64_t       at = dict->offsets[dict->count];
    if (text.size) memcpy(dict->bytes + at, text.data, text.size);
    if (dict->decimals) dict->decimals[dict->count] = s->decimals[code].nearest;
    if (dict->integers) dict->integers[dict->count] = s->column->dict.integers[code];
    dict->offsets[++dict->count] = at + text.size;
    dict->bytes[at + text.size] = '\0';
}

static void merge(merging *m)
{
    side    *x = &m->sides[0], *y = &m->sides[1];
    uint32_t i = 0, j = 0, n = x->column->dict.count, k = y->column->dict.count;
    while (i < n || j < k) {
        int order = i == n ? 1 : j == k ? -1 : compare(m, code_at(x, i), code_at(y, j));
        if (order <= 0) append(m, x, code_at(x, i));
        if (order > 0) append(m, y, code_at(y, j));
        if (order <= 0) x->codes[code_at(x, i++)] = m->out->dict.count - 1;
        if (order >= 0) y->codes[code_at(y, j++)] = m->out->dict.count - 1;
    }
    x->codes[n] = y->codes[k] = m->out->dict.count;
}

static kn_status make_dictionary(merging *m, kn_error *err)
{
    const kn_dictionary *a = &m->sides[0].column->dict, *b = &m->sides[1].column->dict;
    kn_dictionary       *dict = &m->out->dict;
    uint64_t             count = (uint64_t)a->count + b->count, bytes = a->offsets[a->count] + b->offsets[b->count];
    if (count >= UINT32_MAX)
        return kn_fail(err, KN_INPUT, "column \"%s\": too many different values", m->sides[0].column->name);
    bool decimals = m->type == KN_TYPE_DECIMAL, integers = !decimals && m->type != KN_TYPE_TEXT;
    dict->offsets = kn_alloc_array(m->ctx, (size_t)count + 1, sizeof *dict->offsets);
    dict->bytes = kn_alloc(m->ctx, bytes + 1);
    if (integers) dict->integers = kn_alloc_array(m->ctx, (size_t)count, sizeof *dict->integers);
    if (decimals) dict->decimals = kn_alloc_array(m->ctx, (size_t)count, sizeof *dict->decimals);
    if (!dict->offsets || !dict->bytes || (integers && !dict->integers) || (decimals && !dict->decimals))
        return kn_fail_memory(err, m->ctx, WHAT);
    dict->offsets[0] = 0;
    dict->bytes[0] = '\0';
    merge(m);
    return KN_OK;
}

void kn_column_union_free(kn_column_union *both)
{
    KN_FREE(both->column.name, both->column.dict.offsets, both->column.dict.bytes, both->column.dict.integers,
            both->column.dict.decimals, both->first, both->second);
    memset(both, 0, sizeof *both);
}

kn_status kn_column_union_make(kn_column_union *out, kn_context *ctx, const kn_column *first, const kn_column *second,
                               char decimal, kn_error *err)
{
    memset(out, 0, sizeof *out);
    merging m = {.ctx = ctx, .type = common_type(first, second), .out = &out->column};
    out->column = (kn_column){.type = m.type, .width = 4, .missing = first->missing + second->missing};
    out->column.name = kn_strndup(ctx, first->name, strlen(first->name));
    kn_status st = out->column.name ? prepare(&m, &m.sides[0], first, decimal, err) : kn_fail_memory(err, ctx, WHAT);
    if (st == KN_OK) st = prepare(&m, &m.sides[1], second, decimal, err);
    if (st == KN_OK) st = make_dictionary(&m, err);
    out->first = m.sides[0].codes;
    out->second = m.sides[1].codes;
    for (int i = 0; i < 2; i++) {
        KN_FREE(m.sides[i].decimals, m.sides[i].order);
    }
    if (st != KN_OK) kn_column_union_free(out);
    return st;
}
