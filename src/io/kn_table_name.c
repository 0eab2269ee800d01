/* kn_table_name.c: names of tables that are part of something larger. Interface: kn_table_name.h. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "kn_table_name.h"

#include <strings.h>

#include "kn_alloc.h"
#include "kn_names.h"

/* Is the mark one of a table, or part of a password, or of the name of a SQLite file? */
static bool is_mark(const char *name, const char *mark)
{
    const char *at = kn_name_server(name) ? strrchr(name, '@') : NULL;
    if (kn_name_server(name)) return !(at && mark < at) && !strstr(name, "password=");
    return !kn_name_sqlite(name) || mark[1] == '"' || !strpbrk(mark, "./");
}

kn_name_parts kn_table_name_split(const char *name)
{
    kn_name_parts out = {.source = kn_string_of(name)};
    const char   *query = kn_name_query(name);
    const char   *mark = strrchr(name, '#');
    if (query) {
        out.source.size = (size_t)(query - name);
        out.query = kn_string_of(query + sizeof "?query=" - 1);
    } else if (mark && is_mark(name, mark)) {
        out.source.size = (size_t)(mark - name);
        out.table = kn_string_of(mark + 1);
    }
    return out;
}

static bool ends_with(kn_string text, const char *ending)
{
    size_t size = strlen(ending);
    return text.size > size && strncasecmp(text.data + text.size - size, ending, size) == 0;
}

static bool is_workbook(kn_string file)
{
    return ends_with(file, ".xlsx") || ends_with(file, ".xlsm");
}

kn_table_kind kn_table_kind_of(const char *name)
{
    kn_name_parts parts = kn_table_name_split(name);
    kn_string     schema, table;
    if (kn_name_sqlite(name)) return parts.query.data || parts.table.size > 0 ? KN_TABLE_SQLITE : KN_TABLE_TEXT;
    if (kn_name_server(name))
        return parts.query.data || kn_table_parts(parts.table, &schema, &table) ? KN_TABLE_SERVER : KN_TABLE_TEXT;
    if (is_workbook(parts.source) || is_workbook(kn_string_of(name))) return KN_TABLE_WORKBOOK;
    return kn_name_statistics(name) ? KN_TABLE_STATISTICS : KN_TABLE_TEXT;
}

kn_string kn_table_file(const char *name)
{
    const char *file = kn_name_file(name);
    kn_string   source = kn_table_name_split(name).source;
    if (kn_name_server(name)) return (kn_string){name, 0};
    if (file) return (kn_string){file, source.size - (size_t)(file - name)};
    return is_workbook(source) ? source : kn_string_of(name);
}

/* The size of a name at the beginning of a text: in quotes, or up to a dot. */
static size_t name_size(kn_string text)
{
    size_t size = 0;
    if (text.size == 0 || text.data[0] != '"') {
        while (size < text.size && text.data[size] != '.') size++;
        return size;
    }
    for (size = 1; size < text.size; size++) {
        if (text.data[size] != '"') continue;
        if (size + 1 == text.size || text.data[size + 1] != '"') return size + 1;
        size++;
    }
    return size;
}

bool kn_table_parts(kn_string text, kn_string *schema, kn_string *table)
{
    size_t size = text.data ? name_size(text) : 0;
    if (size == 0 || size + 1 >= text.size || text.data[size] != '.') return false;
    *schema = (kn_string){text.data, size};
    *table = (kn_string){text.data + size + 1, text.size - size - 1};
    return true;
}

char *kn_table_unquote(kn_context *ctx, kn_string name)
{
    bool   quoted = name.size >= 2 && name.data[0] == '"' && name.data[name.size - 1] == '"';
    char  *out = kn_strndup(ctx, name.data + quoted, name.size - (quoted ? 2 : 0));
    size_t to = 0;
    for (size_t i = 0; out && quoted && out[i]; i++) {
        out[to++] = out[i];
        if (out[i] == '"' && out[i + 1] == '"') i++;
    }
    if (out && quoted) out[to] = '\0';
    return out;
}
