/* kn_table_stream.c: tables that are not text files, as the bytes of one. Interface: kn_table_stream.h. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "kn_table_stream.h"

#include "kn_context.h"
#include "kn_csv_write.h"
#include "kn_error.h"
#include "kn_utf8.h"

bool kn_table_named(const kn_context *ctx, const char *name)
{
    const kn_alias *alias = kn_alias_find(ctx, name);
    return (alias && alias->table) || kn_table_kind_of(name) != KN_TABLE_TEXT;
}

kn_status kn_table_stream_open(kn_table_stream *out, kn_context *ctx, const char *name, kn_error *err)
{
    const kn_alias *alias = kn_alias_find(ctx, name);
    *out = (kn_table_stream){0};
    if (alias && alias->table) {
        const kn_table_opener *opener = alias->table;
        return opener->open(out, opener->state, err);
    }
    switch (kn_table_kind_of(name)) {
    case KN_TABLE_SERVER: return kn_postgres_stream(out, ctx, name, alias ? alias->snapshot : NULL, err);
    case KN_TABLE_SQLITE: return kn_sqlite_stream(out, ctx, name, err);
    case KN_TABLE_WORKBOOK: return kn_workbook_stream(out, ctx, name, err);
    case KN_TABLE_STATISTICS: return kn_statistics_stream(out, ctx, name, err);
    case KN_TABLE_TEXT: break;
    }
    return kn_fail(err, KN_INTERNAL, "not a table");
}

static kn_status bad_cell(const kn_csv_rows *r, const char *what, kn_error *err)
{
    if (r->rows == 0) return kn_fail(err, KN_INPUT, "%s: the name of column %d: %s", r->source, r->column + 1, what);
    return kn_fail(err, KN_INPUT, "%s: column %d, row %lld: %s", r->source, r->column + 1, (long long)r->rows, what);
}

kn_status kn_csv_rows_cell(void *rows, kn_string text, kn_error *err)
{
    kn_csv_rows *r = rows;
    if (text.size > 0 && !kn_plain_ascii(text.data, text.size)) {
        if (memchr(text.data, 0, text.size)) return bad_cell(r, "a NUL byte, which no text has", err);
        if (kn_utf8_check(text.data, text.size) < text.size) return bad_cell(r, "not UTF-8", err);
    }
    if (r->column > 0) kn_buffer_char(r->to, ',');
    if (text.size > 0)
        kn_csv_cell(r->to, text, ',');
    else if (r->columns == 1)
        kn_buffer_add(r->to, "\"\""); /* an empty line would not be a row */
    if (++r->column < r->columns) return KN_OK;
    r->column = 0;
    r->rows++;
    kn_buffer_char(r->to, '\n');
    return r->to->failed ? kn_fail_memory(err, r->ctx, r->source) : KN_OK;
}
