/* table/digest.c: the digest of a table in memory is that of the CSV file with the same cells: a header, commas,
 * lines that end in LF, quotes only where a cell needs them. So a release has the same digest in a file and in
 * memory.
 *
 * Pieces of rows are formatted in parallel, while the previous pieces are digested in order.
 *
 * Cost: one pass over the cells. Memory: two pieces per thread.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_alloc.h"
#include "kn_buffer.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_parallel.h"
#include "kn_sha256.h"
#include "kn_verify_internal.h"

enum { PIECE_ROWS = 1 << 14 };

typedef struct digesting {
    const kn_vtable  *table;
    kn_arena          room;
    const kn_string **cells; /* per column of the file: its texts as CSV */
    kn_buffer        *made, *done;
    int64_t           first; /* row of made[0] */
    int64_t           made_count, done_count;
    kn_sha256         state;
} digesting;

static kn_status no_memory(const digesting *d, kn_error *err)
{
    return kn_fail_memory(err, d->table->ctx, "verifying");
}

/* A text in quotes, with quotes inside it doubled; `text` itself if it needs none. Data NULL: out of memory. */
static kn_string as_csv(kn_arena *room, kn_string text)
{
    if (!kn_vneeds_quotes(text, ',')) return text;
    char  *to = kn_arena_bytes(room, 2 * text.size + 2);
    size_t n = 0;
    if (!to) return (kn_string){NULL, 0};
    to[n++] = '"';
    for (size_t i = 0; i < text.size; i++) {
        if (text.data[i] == '"') to[n++] = '"';
        to[n++] = text.data[i];
    }
    to[n++] = '"';
    return (kn_string){to, n};
}

static kn_status prepare(digesting *d, kn_error *err)
{
    const kn_vtable *t = d->table;
    d->cells = kn_arena_array(&d->room, (size_t)t->name_count, sizeof *d->cells);
    if (!d->cells) return no_memory(d, err);
    for (int c = 0; c < t->name_count; c++) {
        const kn_vcolumn *column = &t->columns[t->kept[c]];
        kn_string        *cells = kn_arena_array(&d->room, (size_t)column->count + 1, sizeof *cells);
        if (!cells) return no_memory(d, err);
        for (uint32_t i = 0; i < column->count; i++) {
            cells[i] = as_csv(&d->room, column->texts[i]);
            if (!cells[i].data) return no_memory(d, err);
        }
        d->cells[c] = cells;
    }
    return KN_OK;
}

static kn_status digest_header(digesting *d, kn_error *err)
{
    const kn_vtable *t = d->table;
    for (int c = 0; c < t->name_count; c++) {
        kn_string name = as_csv(&d->room, t->names[c]);
        if (!name.data) return no_memory(d, err);
        if (c > 0) kn_sha256_add(&d->state, ",", 1);
        kn_sha256_add(&d->state, name.data, name.size);
    }
    kn_sha256_add(&d->state, "\n", 1);
    return KN_OK;
}

static void put_row(const digesting *d, int64_t row, kn_buffer *to)
{
    const kn_vtable *t = d->table;
    size_t           begin = to->size;
    for (int c = 0; c < t->name_count; c++) {
        kn_string cell = d->cells[c][kn_vcode(&t->columns[t->kept[c]], row)];
        char     *room = kn_buffer_reserve(to, cell.size + 1);
        if (!room) return;
        if (c > 0) *room++ = ',';
        memcpy(room, cell.data, cell.size);
        to->size += cell.size + (c > 0);
    }
    if (to->size == begin) kn_buffer_add(to, "\"\""); /* an empty line would be no row */
    kn_buffer_char(to, '\n');
}

/* The first task digests what the previous round made. */
static kn_status run_task(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    digesting *d = arg;
    (void)worker;
    for (int64_t i = begin; i < end; i++) {
        if (i == 0) {
            for (int64_t p = 0; p < d->done_count; p++) {
                kn_sha256_add(&d->state, d->done[p].data, d->done[p].size);
                kn_buffer_clear(&d->done[p]);
            }
            continue;
        }
        int64_t first = d->first + (i - 1) * PIECE_ROWS, last = first + PIECE_ROWS;
        if (last > d->table->rows) last = d->table->rows;
        for (int64_t row = first; row < last; row++) put_row(d, row, &d->made[i - 1]);
        if (d->made[i - 1].failed) return no_memory(d, err);
    }
    return KN_OK;
}

static kn_status digest_rows(digesting *d, int64_t pieces, kn_error *err)
{
    int64_t all = (d->table->rows + PIECE_ROWS - 1) / PIECE_ROWS, next = 0;
    do {
        d->made_count = all - next < pieces ? all - next : pieces;
        d->first = next * PIECE_ROWS;
        KN_TRY(kn_parallel_for(d->table->ctx, d->made_count + 1, 1, run_task, d, err));
        kn_buffer *filled = d->made;
        d->made = d->done;
        d->done = filled;
        d->done_count = d->made_count;
        next += d->made_count;
    } while (d->done_count > 0); /* the last round makes nothing and digests what is left */
    return KN_OK;
}

kn_status kn_vtable_digest(kn_vtable *t, kn_error *err)
{
    int64_t    pieces = 2 * (int64_t)kn_context_threads(t->ctx);
    kn_buffer *buffers = kn_alloc_array(t->ctx, (size_t)pieces * 2, sizeof *buffers);
    digesting  d = {.table = t, .room = {.ctx = t->ctx}, .made = buffers, .done = buffers ? buffers + pieces : NULL};
    if (!buffers) return no_memory(&d, err);
    for (int64_t i = 0; i < pieces * 2; i++) kn_buffer_init(&buffers[i], t->ctx);
    kn_sha256_begin(&d.state);
    kn_status st = prepare(&d, err);
    if (st == KN_OK) st = digest_header(&d, err);
    if (st == KN_OK) st = digest_rows(&d, pieces, err);
    if (st == KN_OK) kn_sha256_text(&d.state, t->sha256);
    for (int64_t i = 0; i < pieces * 2; i++) kn_buffer_free(&buffers[i]);
    kn_free(buffers);
    kn_arena_free(&d.room);
    return st;
}
