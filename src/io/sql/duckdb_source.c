/* sql/duckdb_source.c: names of tables and queries of DuckDB. Interface: kn_duckdb_source.h. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "kn_duckdb_source.h"

#include <string.h>
#include <sys/stat.h>

#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_names.h"
#include "kn_table_name.h"

#define WHAT "reading a table by DuckDB"

void kn_duckdb_name(kn_buffer *to, const char *name)
{
    kn_buffer_char(to, '"');
    kn_buffer_doubled(to, name, strlen(name));
    kn_buffer_char(to, '"');
}

void kn_duckdb_text(kn_buffer *to, const char *text)
{
    kn_buffer_char(to, '\'');
    for (; *text; text++) {
        if (*text == '\'') kn_buffer_char(to, '\'');
        kn_buffer_char(to, *text);
    }
    kn_buffer_char(to, '\'');
}

kn_status kn_duckdb_source_file(char **out, kn_context *ctx, const char *name, kn_error *err)
{
    kn_string   file = kn_table_file(name);
    struct stat info;
    *out = NULL;
    if (file.size == 0) return KN_OK;
    *out = kn_strndup(ctx, file.data, file.size);
    if (!*out) return kn_fail_memory(err, ctx, WHAT);
    if (stat(*out, &info) == 0) return KN_OK;
    kn_status st = kn_fail(err, KN_IO, "%s: there is no such file", *out);
    kn_free(*out);
    *out = NULL;
    return st;
}

/* "table", or "schema.table". */
static kn_status put_table(kn_buffer *to, kn_context *ctx, const char *name, kn_string said, kn_error *err)
{
    kn_string schema = {NULL, 0}, table = said;
    bool      parts = kn_table_parts(said, &schema, &table);
    if (!said.data || said.size == 0)
        return kn_fail(err, KN_USAGE, "%s: it names no table; write duckdb:FILE#TABLE or duckdb:FILE?query=SELECT",
                       name);
    char *of = parts ? kn_table_unquote(ctx, schema) : NULL, *which = kn_table_unquote(ctx, table);
    if (of) kn_duckdb_name(to, of);
    if (of) kn_buffer_char(to, '.');
    if (which) kn_duckdb_name(to, which);
    kn_status st = which && (!parts || of) ? KN_OK : kn_fail_memory(err, ctx, WHAT);
    KN_FREE(of, which);
    return st;
}

kn_status kn_duckdb_source_put(kn_buffer *to, kn_context *ctx, const char *name, kn_error *err)
{
    kn_string query = kn_table_name_split(name).query;
    if (!query.data) return put_table(to, ctx, name, kn_table_name_split(name).table, err);
    while (query.size > 0 && strchr(" ;\n\t\r", query.data[query.size - 1])) query.size--;
    kn_buffer_char(to, '(');
    kn_buffer_append(to, query.data, query.size);
    kn_buffer_add(to, "\n)"); /* it may end in a comment */
    return KN_OK;
}

bool kn_duckdb_source_query(const char *name)
{
    return kn_name_duckdb(name) && kn_table_name_split(name).query.data;
}
