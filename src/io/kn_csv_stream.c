/* kn_csv_stream.c: CSV files, record by record → Arrow batches. Interface: kn_csv_stream.h.
 *
 * One thread reads, as whoever takes the batches has threads of its own. Memory: a window of 1 MiB, more where a record is longer, and
 * the batches that are taken.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_csv_stream.h"

#include <string.h>
#include <sys/stat.h>

#include "kn_alloc.h"
#include "kn_columnar.h"
#include "kn_context.h"
#include "kn_csv_internal.h"
#include "kn_error.h"
#include "kn_memory.h"
#include "kn_row_stream.h"
#include "kn_table_stream.h"

enum { WINDOW = 1 << 20, PIECES = 4 }; /* a reader's buffer has so many pieces */

typedef struct stream {
    kn_csv_reader      reader;
    const char *const *paths;
    int                count, next; /* the next file */
    int64_t            most;
    kn_csv_seen       *seen;
    double             size, before; /* bytes of all files, and of those that have been read */
    uint64_t           made;         /* bytes of text so far, of this file                    */
} stream;

bool kn_csv_stream_possible(const kn_context *ctx, const char *path)
{
    struct stat info;
    return strcmp(path, "-") != 0 && !kn_memory_is(ctx, path) && !kn_columnar_kind_of(ctx, path) &&
           !kn_table_named(ctx, path) && stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

/* ---- Records ---- */

/* How much of the files has been read: what stands in the window is read later. */
static void note_part(stream *s)
{
    const kn_csv_reader *r = &s->reader;
    double               waiting = s->made > 0 ? (double)(r->filled - r->at) / (double)s->made : 0;
    double               read = s->before + (double)kn_source_consumed(r->source) * (1 - waiting);
    s->seen->part = s->size > 0 && read < s->size ? read / s->size : 1;
}

static kn_status fill_window(stream *s, kn_error *err)
{
    kn_csv_reader *r = &s->reader;
    size_t         held = r->filled - r->at;
    KN_TRY(kn_csv_fill(r, err));
    s->made += r->filled - held;
    return KN_OK;
}

static kn_status add_column(stream *s, kn_row_batch *to, int column, size_t records, kn_error *err)
{
    kn_csv_reader      *r = &s->reader;
    kn_csv_worker      *w = &r->workers[0];
    const kn_csv_field *field = w->fields + r->select[column];
    for (size_t i = 0; i < records; i++, field += r->columns) {
        kn_string text = kn_csv_cell_text(r, w, *field);
        if (!text.data) return kn_csv_fail_memory(r, err);
        KN_TRY(kn_row_batch_cell(to, column, text, err));
    }
    return KN_OK;
}

/* Of several faults the first in the file is reported. */
static kn_status check_records(kn_csv_reader *r, kn_csv_result result, kn_error *err)
{
    const kn_csv_scanner *s = &r->workers[0].scanner;
    bool                  fault = result != KN_CSV_OK && result != KN_CSV_MORE;
    size_t                end = fault ? s->error_at : s->at;
    size_t                wrong = r->at + kn_csv_wrong_byte(r, r->buffer + r->at, end - r->at);
    if (wrong < end) return kn_csv_fail(r, KN_CSV_BYTES, KN_CSV_OK, wrong, r->at, r->line, err);
    return fault ? kn_csv_fail(r, KN_CSV_GRAMMAR, result, end, r->at, r->line, err) : KN_OK;
}

static kn_status add_records(stream *s, kn_row_batch *to, kn_error *err)
{
    kn_csv_reader  *r = &s->reader;
    kn_csv_scanner *scanner = &r->workers[0].scanner;
    size_t          records = 0, room = (size_t)kn_row_batch_room(to);
    kn_csv_scanner_init(scanner, r->buffer, r->filled, r->ended, r->delimiter, r->at);
    kn_csv_result result =
        kn_csv_scan(scanner, r->filled, r->columns, r->workers[0].fields, room < r->batch ? room : r->batch, &records);
    KN_TRY(check_records(r, result, err));
    for (int c = 0; c < r->selected; c++) KN_TRY(add_column(s, to, c, records, err));
    kn_row_batch_rows(to, (int64_t)records);
    s->seen->rows += (int64_t)records;
    r->at = scanner->at;
    r->line += scanner->lines;
    return result == KN_CSV_MORE ? fill_window(s, err) : KN_OK;
}

/* ---- Files ---- */

static kn_status next_file(stream *s, kn_error *err)
{
    kn_csv_reader *r = &s->reader;
    if (r->source) s->before += (double)kn_source_size(r->source);
    KN_TRY(kn_csv_reader_file(r, s->paths[s->next], s->next == 0, err));
    s->made = r->filled;
    s->next++;
    return KN_OK;
}

static kn_status fill(void *state, kn_row_batch *to, kn_error *err)
{
    stream        *s = state;
    kn_csv_reader *r = &s->reader;
    if (s->most > 0 && s->seen->rows >= s->most) return KN_OK;
    while (kn_row_batch_room(to) > 0) {
        if (kn_cancelled(r->ctx)) return kn_fail_cancelled(err);
        bool read = r->at == r->filled;
        if (read && r->ended && s->next == s->count) break;
        if (!read)
            KN_TRY(add_records(s, to, err));
        else
            KN_TRY(r->ended ? next_file(s, err) : fill_window(s, err));
    }
    note_part(s);
    return KN_OK;
}

static void end(void *state)
{
    stream *s = state;
    kn_csv_reader_close(&s->reader);
    kn_free(s);
}

/* ---- Opening ---- */

static kn_status make_columns(kn_row_column **out, const kn_csv_reader *r, kn_error *err)
{
    kn_row_column *columns = kn_alloc_array_zero(r->ctx, (size_t)r->selected + 1, sizeof *columns);
    bool           room = columns != NULL;
    for (int c = 0; room && c < r->selected; c++) {
        kn_string name = r->names[r->select[c]];
        columns[c].name = kn_strndup(r->ctx, name.data, name.size);
        room = columns[c].name != NULL;
    }
    *out = columns;
    if (room) return KN_OK;
    for (int c = 0; columns && c < r->selected; c++) kn_free(columns[c].name);
    kn_free(columns);
    return kn_fail_memory(err, r->ctx, "reading the names of the columns");
}

static kn_status begin(kn_row_column **columns, stream *s, kn_error *err)
{
    struct stat info;
    for (int i = 0; i < s->count; i++)
        if (stat(s->paths[i], &info) == 0) s->size += (double)info.st_size;
    KN_TRY(kn_csv_reader_open(&s->reader, err));
    KN_TRY(next_file(s, err));
    return make_columns(columns, &s->reader, err);
}

kn_status kn_csv_stream_open(struct ArrowArrayStream *out, kn_context *ctx, const char *const *paths, int count,
                             const kn_csv_options *options, int64_t most, kn_csv_seen *seen, kn_error *err)
{
    kn_row_column *columns = NULL;
    stream        *s = kn_alloc_zero(ctx, sizeof *s);
    *out = (struct ArrowArrayStream){.release = NULL};
    if (!s) return kn_fail_memory(err, ctx, "reading");
    *s = (stream){
        .reader = {.ctx = ctx, .opt = options, .piece_size = WINDOW / PIECES, .worker_count = 1, .quiet = true},
        .paths = paths,
        .count = count,
        .most = most,
        .seen = seen};
    kn_status st = begin(&columns, s, err);
    if (st != KN_OK) {
        end(s);
        return st;
    }
    kn_row_source source = {.state = s, .fill = fill, .end = end, .said = &seen->said};
    return kn_row_stream(out, ctx, columns, s->reader.selected, &source, err);
}
