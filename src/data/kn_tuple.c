/* kn_tuple.c: the cells of several columns as one text. Interface: kn_tuple.h.
 *
 * Cost: one pass over the rows. Memory: the different texts, 4 bytes per row.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_tuple.h"

#include "kn_alloc.h"
#include "kn_builder.h"
#include "kn_error.h"

#define WHAT "reading a key of several columns"

bool kn_tuple_text(kn_buffer *out, const kn_table *table, const int *columns, int count, int64_t row)
{
    kn_buffer_clear(out);
    for (int i = 0; i < count; i++) {
        const kn_column *c = &table->columns[columns[i]];
        uint32_t         code = kn_column_code(c, row);
        if (code >= c->dict.count) return false;
        kn_string text = kn_dictionary_text(&c->dict, code);
        if (count > 1) kn_buffer_format(out, "%zu:", text.size);
        kn_buffer_append(out, text.data, text.size);
    }
    return true;
}

kn_string kn_tuple_part(kn_string text, int part)
{
    for (;; part--) {
        size_t size = 0, i = 0;
        while (i < text.size && text.data[i] != ':') size = size * 10 + (size_t)(text.data[i++] - '0');
        i++;
        if (part == 0) return (kn_string){text.data + i, size};
        text = (kn_string){text.data + i + size, text.size - i - size};
    }
}

static kn_status code_rows(kn_builder *b, kn_context *ctx, const kn_table *table, const int *columns, int count,
                           int label, kn_error *err)
{
    uint32_t *ids = kn_alloc_array(ctx, (size_t)table->rows + 1, sizeof *ids);
    int64_t   first = 0;
    kn_buffer text;
    kn_buffer_init(&text, ctx);
    kn_status st = ids ? KN_OK : kn_fail_memory(err, ctx, WHAT);
    for (int64_t row = 0; st == KN_OK && row < table->rows; row++) {
        ids[row] = KN_ID_MISSING;
        if ((label >= 0 && kn_tuple_text(&text, table, &label, 1, row)) ||
            kn_tuple_text(&text, table, columns, count, row))
            ids[row] =
                text.failed ? KN_ID_FAILED : kn_intern(kn_builder_interner(b, 0, 0), (kn_string){text.data, text.size});
        if (ids[row] == KN_ID_FAILED) st = kn_fail_memory(err, ctx, WHAT);
    }
    if (st == KN_OK) st = kn_builder_extend(b, table->rows, 0, &first, err);
    if (st == KN_OK) kn_builder_write(b, 0, first, ids, table->rows);
    kn_buffer_free(&text);
    kn_free(ids);
    return st;
}

kn_status kn_tuple_column(kn_context *ctx, kn_table *table, const int *columns, int count, int label, kn_error *err)
{
    kn_column      *c = &table->columns[columns[0]];
    kn_string       name = {c->name, strlen(c->name)};
    kn_builder_type text = {KN_TYPE_TEXT, NULL};
    kn_value_rules  rules = {.decimal = '.'};
    kn_builder     *b = NULL;
    kn_table       *made = NULL;
    KN_TRY(kn_builder_create(&b, ctx, &name, 1, 1, err));
    kn_status st = code_rows(b, ctx, table, columns, count, label, err);
    if (st != KN_OK) {
        kn_builder_free(b);
        return st;
    }
    KN_TRY(kn_builder_finish(&made, b, &text, &rules, err));
    kn_column old = *c;
    *c = made->columns[0];
    made->columns[0] = old;
    kn_table_free(made);
    return KN_OK;
}
