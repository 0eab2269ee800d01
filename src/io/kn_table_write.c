/* kn_table_write.c: the bytes of a CSV file → the rows of one table. Interface: kn_table_write.h.
 *
 * The bytes come in pieces of any size; complete records go on to the sink at once. Memory: one piece and a record.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_table_write.h"

#include <stdio.h>

#include "kn_alloc.h"
#include "kn_context.h"
#include "kn_csv_scan.h"
#include "kn_error.h"

enum { MOST_COLUMNS = 65535, BATCH = 64, NAME = 48 };

struct kn_table_writer {
    kn_context      *ctx;
    kn_database_sink sink;
    kn_table_opener  opener;
    kn_alias         alias; /* of `path`, for readers */
    char             path[NAME];
    kn_output       *output;
    kn_buffer        bytes; /* not yet taken       */
    kn_buffer        plain; /* of one row: cells without doubled quotes */
    kn_csv_scanner  *scanner;
    kn_csv_field    *fields;
    kn_string       *cells;
    kn_sink_column  *columns;
    int              column_count;
};

static kn_status no_memory(const kn_table_writer *w, kn_error *err)
{
    return kn_fail_memory(err, w->ctx, "writing a table");
}

static kn_status mistake(kn_error *err)
{
    return kn_fail(err, KN_INTERNAL, "a mistake in kanon: a released row cannot be read back");
}

static kn_status take_names(kn_table_writer *w, size_t count, kn_error *err)
{
    w->cells = kn_alloc_array(w->ctx, count, sizeof *w->cells);
    w->columns = kn_alloc_array_zero(w->ctx, count, sizeof *w->columns);
    if (!w->cells || !w->columns) return no_memory(w, err);
    for (; w->column_count < (int)count; w->column_count++) {
        kn_csv_field field = w->fields[w->column_count];
        char        *name = kn_strndup(w->ctx, w->bytes.data + field.begin, field.size);
        if (!name) return no_memory(w, err);
        if (field.doubled) name[kn_csv_undouble(name, w->bytes.data + field.begin, field.size)] = '\0';
        w->columns[w->column_count].name = name;
    }
    kn_sink_table table = {.column_count = w->column_count, .columns = w->columns};
    KN_TRY(w->sink.table(w->sink.state, &table, err));
    kn_free(w->fields);
    w->fields = kn_alloc_array(w->ctx, count * BATCH, sizeof *w->fields);
    return w->fields ? KN_OK : no_memory(w, err);
}

static kn_status take_row(kn_table_writer *w, const kn_csv_field *fields, kn_error *err)
{
    size_t doubled = 0;
    for (int c = 0; c < w->column_count; c++) doubled += fields[c].doubled ? fields[c].size : 0;
    kn_buffer_clear(&w->plain);
    char *room = kn_buffer_reserve(&w->plain, doubled + 1); /* once: the cells point into it */
    if (!room) return no_memory(w, err);
    for (int c = 0; c < w->column_count; c++) {
        kn_string text = {w->bytes.data + fields[c].begin, fields[c].size};
        if (fields[c].doubled) {
            text = (kn_string){room, kn_csv_undouble(room, text.data, text.size)};
            room += text.size;
        }
        w->cells[c] = text.size > 0 ? text : (kn_string){NULL, 0};
    }
    return w->sink.row(w->sink.state, w->cells, err);
}

static kn_status take_rows(kn_table_writer *w, kn_error *err)
{
    size_t records = BATCH;
    while (records == BATCH) {
        kn_csv_result result = kn_csv_scan(w->scanner, w->bytes.size, w->column_count, w->fields, BATCH, &records);
        if (result != KN_CSV_OK && result != KN_CSV_MORE) return mistake(err);
        if (kn_cancelled(w->ctx)) return kn_fail_cancelled(err);
        for (size_t i = 0; i < records; i++) KN_TRY(take_row(w, w->fields + i * (size_t)w->column_count, err));
    }
    return KN_OK;
}

static kn_status take(void *state, const char *data, size_t size, kn_error *err)
{
    kn_table_writer *w = state;
    kn_buffer_append(&w->bytes, data, size);
    if (w->bytes.failed) return no_memory(w, err);
    kn_csv_scanner_init(w->scanner, w->bytes.data, w->bytes.size, false, ',', 0);
    if (!w->columns) {
        size_t        count = 0;
        kn_csv_result result = kn_csv_scan_any(w->scanner, w->fields, MOST_COLUMNS, &count);
        if (result == KN_CSV_MORE) return KN_OK;
        if (result != KN_CSV_OK || count == 0) return mistake(err);
        KN_TRY(take_names(w, count, err));
    }
    KN_TRY(take_rows(w, err));
    size_t left = w->bytes.size - w->scanner->at;
    memmove(w->bytes.data, w->bytes.data + w->scanner->at, left);
    w->bytes.size = left;
    return KN_OK;
}

kn_status kn_table_writer_finish(kn_table_writer *w, kn_error *err)
{
    KN_TRY(kn_output_flush(w->output, err));
    if (w->bytes.size > 0 || !w->columns) return mistake(err);
    return w->sink.table_end(w->sink.state, err);
}

kn_output *kn_table_writer_output(const kn_table_writer *w)
{
    return w->output;
}

/* ---- On a server ---- */

const kn_connection *kn_table_writer_connection(const kn_table_writer *w)
{
    return w->opener.connection.state ? &w->opener.connection : NULL;
}

void kn_table_writer_count(kn_table_writer *w, bool counted)
{
    w->opener.counted = counted;
}

kn_status kn_table_writer_relation(kn_buffer *to, const kn_table_writer *w, kn_error *err)
{
    return w->opener.relation(to, w->opener.state, err);
}

/* ---- As a sink of databases ---- */

static void free_writer(kn_table_writer *w)
{
    if (w->alias.path) kn_alias_remove(w->ctx, &w->alias);
    kn_output_abort(w->output);
    kn_buffer_free(&w->bytes);
    kn_buffer_free(&w->plain);
    for (int c = 0; c < w->column_count; c++) kn_free((void *)(uintptr_t)w->columns[c].name);
    KN_FREE(w->scanner, w->fields, w->cells, w->columns, w);
}

static void sink_abort(void *state)
{
    kn_table_writer *w = state;
    w->sink.abort(w->sink.state);
    free_writer(w);
}

static kn_status sink_commit(void *state, kn_error *err)
{
    kn_table_writer *w = state;
    kn_status        status = w->sink.commit(w->sink.state, err);
    free_writer(w);
    return status;
}

static kn_status sink_sync(void *state, kn_database_place *out, kn_error *err)
{
    kn_table_writer *w = state;
    return w->sink.sync(w->sink.state, out, err);
}

static kn_status open_sink(kn_table_writer *w, const char *name, const kn_table_target *target, kn_error *err)
{
    return kn_table_kind_of(name) == KN_TABLE_SQLITE
               ? kn_sqlite_table_sink(&w->sink, &w->opener, w->ctx, name, target, err)
               : kn_postgres_table_sink(&w->sink, &w->opener, w->ctx, name, target, err);
}

kn_status kn_table_writer_open(kn_table_writer **out, kn_database_writer **writer, kn_context *ctx, const char *name,
                               const kn_table_target *target, kn_error *err)
{
    kn_table_writer *w = kn_alloc_zero(ctx, sizeof *w);
    if (!w) return kn_fail_memory(err, ctx, "writing a table");
    w->ctx = ctx;
    kn_buffer_init(&w->bytes, ctx);
    kn_buffer_init(&w->plain, ctx);
    kn_status status = open_sink(w, name, target, err);
    if (status != KN_OK) {
        free_writer(w);
        return status;
    }
    snprintf(w->path, sizeof w->path, ".kanon-table-%p", (void *)w); /* a name that no file has */
    w->alias = (kn_alias){.path = w->path, .name = "the released table", .table = &w->opener};
    kn_alias_add(ctx, &w->alias);
    w->scanner = kn_alloc(ctx, sizeof *w->scanner);
    w->fields = kn_alloc_array(ctx, MOST_COLUMNS, sizeof *w->fields);
    if (!w->scanner || !w->fields) status = no_memory(w, err);
    if (status == KN_OK) status = kn_output_open_consumer(&w->output, ctx, w->path, (kn_output_consumer){w, take}, err);
    kn_database_sink own = {
        .state = w, .commit = sink_commit, .abort = sink_abort, .sync = sink_sync, .detach = sink_abort};
    if (status == KN_OK) status = kn_database_writer_around(writer, ctx, &own, err);
    if (status == KN_OK)
        *out = w;
    else
        sink_abort(w);
    return status;
}
