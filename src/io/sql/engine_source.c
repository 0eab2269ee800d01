/* sql/engine_source.c: reading a table of an engine (kanon/engine.h): its columns, and its distinct rows with their counts.
 * Interface: kn_engine_source.h.
 *
 * Only grouped rows are read: the engine sends as many as there are distinct combinations of the columns that are wanted.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_engine_source.h"

#include <string.h>

#include "kn_alloc.h"
#include "kn_arrow.h"
#include "kn_buffer.h"
#include "kn_connection.h"
#include "kn_engines.h"
#include "kn_error.h"

#define WHAT "reading a table of an engine"
#define COUNTS "(rows)" /* the column of counts */

/* The columns of a relation: those of a query without rows. */
static kn_status describe(struct ArrowSchema *out, const kn_connection *c, kn_context *ctx, const char *relation,
                          const char *name, kn_error *err)
{
    struct ArrowArrayStream stream;
    kn_buffer               sql;
    *out = (struct ArrowSchema){.release = NULL};
    kn_buffer_init(&sql, ctx);
    kn_buffer_format(&sql, "SELECT * FROM %s LIMIT 0", relation);
    const char *text = kn_buffer_text(&sql);
    kn_status   st = text ? kn_connection_query(&stream, c, ctx, text, name, err) : kn_fail_memory(err, ctx, WHAT);
    kn_buffer_free(&sql);
    if (st != KN_OK) return st;
    if (stream.get_schema(&stream, out) != 0 || !out->release)
        st = kn_fail(err, KN_INPUT, "%.300s: the engine does not say which columns there are", name);
    stream.release(&stream);
    return st;
}

static kn_status find_engine(const kn_connection **out, const char **relation, const kn_context *ctx, const char *name,
                             kn_error *err)
{
    *out = kn_engine_of(ctx, name, relation);
    if (*out) return KN_OK;
    return kn_fail(err, KN_USAGE, "%.300s: there is no engine of that name", name);
}

static bool is_wanted(const char *name, const char *const *columns, int count)
{
    for (int i = 0; i < count; i++)
        if (strcmp(columns[i], name) == 0) return true;
    return false;
}

/* The wanted columns that exist, as a list of names. */
static kn_status put_columns(kn_buffer *to, const kn_connection *c, const struct ArrowSchema *schema, const char *name,
                             const char *const *columns, int count, kn_error *err)
{
    bool first = true;
    for (int64_t i = 0; i < schema->n_children; i++) {
        const struct ArrowSchema *column = schema->children[i];
        kn_arrow_format           format;
        if (!column->name || !is_wanted(column->name, columns, count)) continue;
        if (!kn_arrow_format_parse(column->dictionary ? column->dictionary->format : column->format, &format))
            return kn_fail(err, KN_INPUT, "%.300s: column \"%.200s\" is of a type that kanon does not read", name,
                           column->name);
        if (!first) kn_buffer_add(to, ", ");
        kn_connection_put_name(to, c, column->name);
        first = false;
    }
    if (first) return kn_fail(err, KN_INPUT, "%.300s: there is none of the columns that are asked for", name);
    return KN_OK;
}

kn_status kn_engine_source_open(struct ArrowArrayStream *out, kn_context *ctx, const char *name,
                                const char *const *columns, int count, const char **counts, kn_error *err)
{
    const kn_connection *c;
    const char          *relation;
    struct ArrowSchema   schema;
    kn_buffer            list, sql;
    *out = (struct ArrowArrayStream){.release = NULL};
    KN_TRY(find_engine(&c, &relation, ctx, name, err));
    if (!counts || !columns || is_wanted(COUNTS, columns, count))
        return kn_fail(err, KN_USAGE,
                       "%.300s: the rows of this table stay where they are; this asks for each of them: use a file",
                       name);
    KN_TRY(describe(&schema, c, ctx, relation, name, err));
    kn_buffer_init(&list, ctx);
    kn_buffer_init(&sql, ctx);
    kn_status st = put_columns(&list, c, &schema, name, columns, count, err);
    if (st == KN_OK && kn_buffer_text(&list)) {
        kn_buffer_format(&sql, "SELECT %s, count(*) AS ", list.data);
        kn_connection_put_name(&sql, c, COUNTS);
        kn_buffer_format(&sql, " FROM %s GROUP BY %s", relation, list.data);
    }
    if (st == KN_OK && (!kn_buffer_text(&list) || !kn_buffer_text(&sql))) st = kn_fail_memory(err, ctx, WHAT);
    if (st == KN_OK) st = kn_connection_query(out, c, ctx, sql.data, name, err);
    if (st == KN_OK) *counts = COUNTS;
    kn_buffer_free(&list);
    kn_buffer_free(&sql);
    schema.release(&schema);
    return st;
}

kn_status kn_engine_source_names(kn_csv_names *out, kn_context *ctx, const char *name, kn_error *err)
{
    const kn_connection *c;
    const char          *relation;
    struct ArrowSchema   schema;
    *out = (kn_csv_names){.delimiter = ','};
    KN_TRY(find_engine(&c, &relation, ctx, name, err));
    KN_TRY(describe(&schema, c, ctx, relation, name, err));
    size_t room = (size_t)schema.n_children + 1;
    out->names = kn_alloc_array_zero(ctx, room, sizeof *out->names);
    out->unnamed = kn_alloc_array_zero(ctx, room, sizeof *out->unnamed);
    bool fine = out->names && out->unnamed;
    for (int64_t i = 0; fine && i < schema.n_children; i++) {
        const char *text = schema.children[i]->name ? schema.children[i]->name : "";
        fine = (out->names[i] = kn_strndup(ctx, text, strlen(text))) != NULL;
        out->count += fine;
    }
    schema.release(&schema);
    if (fine) return KN_OK;
    kn_csv_names_free(out);
    return kn_fail_memory(err, ctx, WHAT);
}
