/* sql/server_rows.c: the lines of a server's COPY as Arrow batches. Interface: kn_server.h.
 *
 * Columns are texts, or whole numbers of 64 bits. Memory: one batch of 8,192 rows, fewer where cells are long.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_arena.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_postgres_internal.h"
#include "kn_server.h"

enum { ROWS = 8192, BYTES = 1 << 22 };

/* Of one batch. */
typedef struct cells {
    kn_buffer   bytes;   /* texts   */
    int32_t    *offsets; /* ...     */
    int64_t    *numbers; /* numbers */
    uint8_t    *validity;
    const void *buffers[3];
} cells;

typedef struct batch {
    kn_arena           room;
    int                count;
    cells             *columns;
    struct ArrowArray *arrays, **list;
    const void        *own[1];
    int64_t            rows;
    size_t             size;
} batch;

typedef struct rows {
    kn_pg            *pg;
    kn_server_column *columns;
    int               count;
    void (*ended)(kn_pg *pg);
    bool     open; /* rows may still come */
    batch   *now;
    int      at; /* the next cell's column */
    kn_error said;
} rows;

/* ---- One batch ---- */

static void end_batch(batch *b)
{
    for (int c = 0; c < b->count; c++) kn_buffer_free(&b->columns[c].bytes);
    kn_arena_free(&b->room);
    kn_free(b);
}

static void release_batch(struct ArrowArray *array)
{
    array->release = NULL;
    end_batch(array->private_data);
}

static void release_nothing(struct ArrowArray *array)
{
    array->release = NULL;
}

static batch *new_batch(const rows *r)
{
    kn_context *ctx = r->pg->ctx;
    batch      *b = kn_alloc_zero(ctx, sizeof *b);
    if (!b) return NULL;
    kn_arena_init(&b->room, ctx);
    size_t count = (size_t)r->count;
    b->columns = kn_arena_array_zero(&b->room, count + 1, sizeof *b->columns);
    b->arrays = kn_arena_array_zero(&b->room, count + 1, sizeof *b->arrays);
    b->list = kn_arena_array_zero(&b->room, count + 1, sizeof *b->list);
    for (int c = 0; c < r->count && !b->room.failed; c++, b->count++) {
        cells *column = &b->columns[c];
        kn_buffer_init(&column->bytes, ctx);
        column->validity = kn_arena_array_zero(&b->room, ROWS / 8, 1);
        if (r->columns[c].numbers)
            column->numbers = kn_arena_array_zero(&b->room, ROWS, sizeof *column->numbers);
        else
            column->offsets = kn_arena_array_zero(&b->room, ROWS + 1, sizeof *column->offsets);
    }
    if (!b->room.failed) return b;
    end_batch(b);
    return NULL;
}

/* Cells end without a NUL. */
static kn_status take_number(int64_t *out, kn_string text, kn_error *err)
{
    char digits[24] = "";
    if (text.size >= sizeof digits) return kn_fail(err, KN_IO, "the server sent a number that is too long");
    if (text.size > 0) memcpy(digits, text.data, text.size);
    *out = strtoll(digits, NULL, 10);
    return KN_OK;
}

static kn_status take_cell(void *state, kn_string text, kn_error *err)
{
    rows  *r = state;
    batch *b = r->now;
    cells *c = &b->columns[r->at++];
    if (text.data) c->validity[b->rows / 8] |= (uint8_t)(1 << (b->rows % 8));
    if (c->numbers) return take_number(&c->numbers[b->rows], text, err);
    if (text.size > (size_t)INT32_MAX - c->bytes.size) return kn_fail(err, KN_INPUT, "a text is too long");
    kn_buffer_append(&c->bytes, text.data, text.size);
    c->offsets[b->rows + 1] = (int32_t)c->bytes.size;
    b->size += text.size;
    return c->bytes.failed ? kn_fail_memory(err, r->pg->ctx, "reading a server's table") : KN_OK;
}

static void give_batch(struct ArrowArray *out, batch *b)
{
    for (int i = 0; i < b->count; i++) {
        cells *c = &b->columns[i];
        c->buffers[0] = c->validity;
        c->buffers[1] = c->numbers ? (const void *)c->numbers : c->offsets;
        c->buffers[2] = c->bytes.data ? c->bytes.data : "";
        b->arrays[i] = (struct ArrowArray){.length = b->rows,
                                           .null_count = -1,
                                           .n_buffers = c->numbers ? 2 : 3,
                                           .buffers = c->buffers,
                                           .release = release_nothing};
        b->list[i] = &b->arrays[i];
    }
    *out = (struct ArrowArray){.length = b->rows,
                               .n_buffers = 1,
                               .buffers = b->own,
                               .n_children = b->count,
                               .children = b->list,
                               .private_data = b,
                               .release = release_batch};
}

/* ---- The stream ---- */

static kn_status take_line(rows *r, char *line, int size, kn_error *err)
{
    kn_cell_sink sink = {r, take_cell};
    r->at = 0;
    KN_TRY(kn_pg_take_line(r->pg, r->count, &sink, line, size, err));
    r->now->rows++;
    return KN_OK;
}

static kn_status fill(rows *r, kn_error *err)
{
    kn_pg *pg = r->pg;
    while (r->open && r->now->rows < ROWS && r->now->size < BYTES) {
        char *line = NULL;
        int   size = pg->pq.getCopyData(pg->conn, &line, 0);
        if (size < 0) r->open = false;
        if (size < -1) return kn_pg_fail(pg, NULL, err);
        if (size == -1) {
            kn_status st = kn_pg_copy_end(pg, err);
            r->ended(pg);
            return st;
        }
        kn_status st = take_line(r, line, size, err);
        pg->pq.freemem(line);
        KN_TRY(st);
    }
    return KN_OK;
}

static int code_of(kn_status st)
{
    return st == KN_MEMORY ? ENOMEM : st == KN_CANCELLED ? ECANCELED : st == KN_IO ? EIO : EINVAL;
}

static int give_next(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
    rows *r = stream->private_data;
    *out = (struct ArrowArray){.release = NULL};
    if (!r->open) return 0;
    r->now = new_batch(r);
    kn_status st = !r->now                    ? kn_fail_memory(&r->said, r->pg->ctx, "reading a server's table")
                   : kn_cancelled(r->pg->ctx) ? kn_fail_cancelled(&r->said)
                                              : fill(r, &r->said);
    if (st == KN_OK && r->now->rows > 0)
        give_batch(out, r->now);
    else if (r->now)
        end_batch(r->now);
    r->now = NULL;
    return st == KN_OK ? 0 : code_of(st);
}

static void keep_schema(struct ArrowSchema *schema)
{
    schema->release = NULL;
}

static void end_schema(struct ArrowSchema *schema)
{
    for (int64_t c = 0; c < schema->n_children; c++) kn_free((void *)(uintptr_t)schema->children[c]->name);
    KN_FREE(schema->children[0], (void *)schema->children);
    schema->release = NULL;
}

static int give_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
    rows                *r = stream->private_data;
    kn_context          *ctx = r->pg->ctx;
    struct ArrowSchema  *columns = kn_alloc_array_zero(ctx, (size_t)r->count, sizeof *columns);
    struct ArrowSchema **list = kn_alloc_array_zero(ctx, (size_t)r->count, sizeof *list);
    bool                 good = columns && list;
    *out = (struct ArrowSchema){.format = "+s", .name = "", .children = list, .release = end_schema};
    for (int c = 0; good && c < r->count; c++) {
        char *name = kn_strndup(ctx, r->columns[c].name, strlen(r->columns[c].name));
        good = name != NULL;
        columns[c] = (struct ArrowSchema){.format = r->columns[c].numbers ? "l" : "u",
                                          .name = name,
                                          .flags = ARROW_FLAG_NULLABLE,
                                          .release = keep_schema};
        list[c] = &columns[c];
        out->n_children++;
    }
    if (good) return 0;
    for (int64_t c = 0; c < out->n_children; c++) kn_free((void *)(uintptr_t)columns[c].name);
    KN_FREE(columns, (void *)list);
    out->release = NULL;
    return ENOMEM;
}

static const char *last_error(struct ArrowArrayStream *stream)
{
    const rows *r = stream->private_data;
    const char *at = r->said.message;
    size_t      size = r->pg->name ? strlen(r->pg->name) : 0;
    bool        named = size > 0 && strncmp(at, r->pg->name, size) == 0 && at[size] == ':'; /* who asks names it too */
    return *at ? at + (named ? size + 2 : 0) : NULL;
}

static void end_rows(struct ArrowArrayStream *stream)
{
    rows *r = stream->private_data;
    stream->release = NULL;
    while (r->open) {
        char *line = NULL;
        r->open = r->pg->pq.getCopyData(r->pg->conn, &line, 0) >= 0;
        r->pg->pq.freemem(line);
        if (r->open) continue;
        (void)!kn_pg_copy_end(r->pg, NULL);
        r->ended(r->pg);
    }
    for (int c = 0; c < r->count; c++) kn_free(r->columns[c].name);
    KN_FREE(r->columns, r);
}

kn_status kn_server_rows(struct ArrowArrayStream *out, kn_pg *pg, kn_server_column *columns, int count,
                         void (*ended)(kn_pg *pg), kn_error *err)
{
    rows *r = kn_alloc_zero(pg->ctx, sizeof *r);
    if (!r) return kn_fail_memory(err, pg->ctx, "reading a server's table");
    *r = (rows){.pg = pg, .columns = columns, .count = count, .ended = ended, .open = true, .said = KN_ERROR_INIT};
    *out = (struct ArrowArrayStream){give_schema, give_next, last_error, end_rows, r};
    return KN_OK;
}
