/* sql/connection_numbers.c: tables of whole numbers, out of an engine and into it. Interface: kn_connection.h.
 *
 * Numbers have no text and no dictionary: a query's columns are copied batch by batch into one array per column. Cost: 8 bytes per
 * number.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_arrow.h"
#include "kn_connection.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_memory_arrow.h"
#include "kn_text_table.h"

#define WHAT "reading numbers of an engine"

/* ---- Out of it ---- */

typedef struct reading {
    kn_context      *ctx;
    kn_numbers      *to;
    kn_arrow_format *formats;
    size_t           capacity;
} reading;

static const char no_numbers[] = "the engine gives no numbers";

void kn_numbers_free(kn_numbers *n)
{
    for (int c = 0; n->columns && c < n->count; c++) kn_free(n->columns[c]);
    kn_free(n->columns);
    *n = (kn_numbers){0};
}

static bool take_formats(reading *r, const struct ArrowSchema *schema)
{
    bool good = schema->n_children == r->to->count;
    for (int c = 0; good && c < r->to->count; c++)
        good = kn_arrow_format_parse(schema->children[c]->format, &r->formats[c]) && !schema->children[c]->dictionary &&
               kn_arrow_is_integer(&r->formats[c]);
    return good;
}

static bool grow(reading *r, size_t rows)
{
    size_t room = r->capacity;
    if (rows <= room) return true;
    while (room < rows) room = room > 0 ? 2 * room : 1024;
    for (int c = 0; c < r->to->count; c++) {
        int64_t *larger = kn_realloc(r->ctx, r->to->columns[c], room * sizeof *larger);
        if (!larger) return false;
        r->to->columns[c] = larger;
    }
    r->capacity = room;
    return true;
}

static kn_status take_batch(reading *r, const struct ArrowArray *batch, const char *what, kn_error *err)
{
    kn_numbers *to = r->to;
    if (batch->n_children != to->count) return kn_fail(err, KN_INPUT, "%.300s: %s", what, no_numbers);
    if (!grow(r, (size_t)(to->rows + batch->length) + 1)) return kn_fail_memory(err, r->ctx, WHAT);
    for (int c = 0; c < to->count; c++) {
        const kn_arrow_format *f = &r->formats[c];
        kn_arrow_view          view;
        if (kn_arrow_open(&view, batch->children[c], f, batch->offset, batch->length) != NULL)
            return kn_fail(err, KN_INPUT, "%.300s: %s", what, no_numbers);
        for (int64_t i = 0; i < batch->length; i++) {
            int64_t at = view.start + i;
            bool    there = kn_arrow_valid(&view, at);
            to->columns[c][to->rows + i] = there ? kn_arrow_load_signed(view.data + at * f->width, f->width) : 0;
        }
    }
    to->rows += batch->length;
    return KN_OK;
}

static kn_status take_stream(reading *r, struct ArrowArrayStream *stream, const char *what, kn_error *err)
{
    struct ArrowSchema schema = {.release = NULL};
    int                known = stream->get_schema(stream, &schema);
    bool               good = known == 0 && take_formats(r, &schema);
    kn_status          st = known == ENOMEM ? kn_fail_memory(err, r->ctx, WHAT)
                            : good          ? KN_OK
                                            : kn_fail(err, KN_INPUT, "%.300s: %s", what, no_numbers);
    for (bool more = true; more && st == KN_OK;) {
        struct ArrowArray batch = {.release = NULL};
        int               code = kn_cancelled(r->ctx) ? ECANCELED : stream->get_next(stream, &batch);
        const char       *message = code == 0 || code == ECANCELED ? NULL : stream->get_last_error(stream);
        if (code == ECANCELED)
            st = kn_fail_cancelled(err);
        else if (code != 0)
            st = kn_fail(err, code == ENOMEM ? KN_MEMORY : KN_INPUT, "%.300s: %.400s", what,
                         message ? message : no_numbers);
        more = batch.release != NULL;
        if (st == KN_OK && more) st = take_batch(r, &batch, what, err);
        if (batch.release) batch.release(&batch);
    }
    if (schema.release) schema.release(&schema);
    return st;
}

kn_status kn_connection_numbers(kn_numbers *out, int columns, const kn_connection *c, kn_context *ctx, const char *sql,
                                const char *what, kn_error *err)
{
    struct ArrowArrayStream stream;
    reading                 r = {.ctx = ctx, .to = out};
    *out = (kn_numbers){.count = columns};
    if (!sql) return kn_fail_memory(err, ctx, WHAT);
    KN_TRY(kn_connection_query(&stream, c, ctx, sql, what, err));
    out->columns = kn_alloc_array_zero(ctx, (size_t)columns + 1, sizeof *out->columns);
    r.formats = kn_alloc_array_zero(ctx, (size_t)columns + 1, sizeof *r.formats);
    kn_status st =
        out->columns && r.formats && grow(&r, 1) ? take_stream(&r, &stream, what, err) : kn_fail_memory(err, ctx, WHAT);
    stream.release(&stream);
    kn_free(r.formats);
    if (st != KN_OK) kn_numbers_free(out);
    return st;
}

/* ---- Into it ---- */

kn_status kn_connection_put_numbers(const kn_connection *c, kn_context *ctx, const char *name,
                                    const kn_numbers *numbers, const char *what, kn_error *err)
{
    size_t           count = (size_t)numbers->count;
    kn_batches      *batches = NULL;
    kn_batch_column *columns = kn_alloc_array_zero(ctx, count + 1, sizeof *columns);
    char(*names)[24] = kn_alloc_array_zero(ctx, count + 1, sizeof *names);
    bool room = columns && names;
    for (size_t i = 0; room && i < count; i++) {
        int64_t *copy = kn_alloc_array(ctx, (size_t)numbers->rows + 1, sizeof *copy);
        room = copy != NULL;
        if (room) memcpy(copy, numbers->columns[i], (size_t)numbers->rows * sizeof *copy);
        snprintf(names[i], sizeof names[i], "n%zu", i);
        columns[i] = (kn_batch_column){.name = names[i], .format = "l", .width = 8, .data = copy};
    }
    kn_status st = room ? kn_batches_make(&batches, ctx, columns, numbers->count, numbers->rows, err)
                        : kn_fail_memory(err, ctx, WHAT);
    if (!room && columns) kn_batch_columns_free(columns, numbers->count);
    if (st == KN_OK) {
        kn_batches_lent         lent = {.batches = batches};
        struct ArrowArrayStream rows = kn_batches_lend(&lent);
        st = kn_connection_put(c, ctx, name, &rows, what, err);
    }
    kn_batches_let_go(batches);
    KN_FREE(columns, names);
    return st;
}

kn_status kn_connection_texts(double *out, const kn_connection *c, kn_context *ctx, const char *relation,
                              const char *const *columns, int count, const char *what, kn_error *err)
{
    int64_t   bytes = 0;
    kn_buffer sql;
    *out = 0;
    if (count == 0) return KN_OK;
    kn_buffer_init(&sql, ctx);
    kn_buffer_add(&sql, "SELECT CAST(coalesce(sum(n), 0) AS BIGINT) FROM (");
    for (int i = 0; i < count; i++) {
        kn_buffer_add(&sql, i > 0 ? " UNION ALL SELECT sum(" : "SELECT sum(");
        kn_buffer_add(&sql, c->dialect == KN_DIALECT_POSTGRESQL ? "octet_length" : "strlen");
        kn_buffer_format(&sql, "(v) + %d) AS n FROM (SELECT DISTINCT CAST(", KN_TEXT_ITSELF);
        kn_connection_put_name(&sql, c, columns[i]);
        kn_buffer_format(&sql, " AS VARCHAR) AS v FROM (SELECT * FROM %s AS t LIMIT %d) AS s) AS d", relation,
                         KN_TEXT_SAMPLE);
    }
    kn_buffer_add(&sql, ") AS t");
    const char *text = kn_buffer_text(&sql);
    kn_status   st = text ? kn_connection_number(&bytes, c, ctx, text, what, err)
                          : kn_fail_memory(err, ctx, "looking at the first rows");
    kn_buffer_free(&sql);
    *out = (double)bytes;
    return st;
}
