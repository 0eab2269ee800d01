/* sql/row_stream.c: cells → Arrow batches. Interface: kn_row_stream.h. Memory: one batch. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "kn_row_stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_arena.h"
#include "kn_buffer.h"
#include "kn_context.h"
#include "kn_error.h"

#define WHAT "reading rows"

enum { ROWS = 8192, BYTES = 1 << 22 };

typedef struct cells {
    int64_t     count;
    kn_buffer   bytes;   /* texts   */
    int32_t    *offsets; /* ...     */
    int64_t    *numbers; /* numbers */
    uint8_t    *validity;
    const void *buffers[3];
} cells;

struct kn_row_batch {
    kn_context        *ctx;
    kn_arena           room;
    int                count;
    cells             *columns;
    struct ArrowArray *arrays, **list;
    const void        *own[1];
    int64_t            rows;
    size_t             size;
};

typedef struct rows {
    kn_context    *ctx;
    kn_row_column *columns;
    int            count;
    kn_row_source  source;
} rows;

/* ---- One batch ---- */

static void end_batch(kn_row_batch *b)
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

static kn_row_batch *new_batch(const rows *r)
{
    kn_row_batch *b = kn_alloc_zero(r->ctx, sizeof *b);
    if (!b) return NULL;
    b->ctx = r->ctx;
    kn_arena_init(&b->room, r->ctx);
    size_t count = (size_t)r->count;
    b->columns = kn_arena_array_zero(&b->room, count + 1, sizeof *b->columns);
    b->arrays = kn_arena_array_zero(&b->room, count + 1, sizeof *b->arrays);
    b->list = kn_arena_array_zero(&b->room, count + 1, sizeof *b->list);
    for (int c = 0; c < r->count && !b->room.failed; c++, b->count++) {
        cells *column = &b->columns[c];
        kn_buffer_init(&column->bytes, r->ctx);
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

int64_t kn_row_batch_room(const kn_row_batch *b)
{
    return b->size < BYTES ? ROWS - b->rows : 0;
}

void kn_row_batch_rows(kn_row_batch *b, int64_t count)
{
    b->rows += count;
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

kn_status kn_row_batch_cell(kn_row_batch *b, int column, kn_string text, kn_error *err)
{
    cells  *c = &b->columns[column];
    int64_t row = c->count++;
    if (text.data) c->validity[row / 8] |= (uint8_t)(1 << (row % 8));
    if (c->numbers) return take_number(&c->numbers[row], text, err);
    if (text.size > (size_t)INT32_MAX - c->bytes.size) return kn_fail(err, KN_INPUT, "a text is too long");
    kn_buffer_append(&c->bytes, text.data, text.size);
    c->offsets[row + 1] = (int32_t)c->bytes.size;
    b->size += text.size;
    return c->bytes.failed ? kn_fail_memory(err, b->ctx, WHAT) : KN_OK;
}

static void give_batch(struct ArrowArray *out, kn_row_batch *b)
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

static int code_of(kn_status st)
{
    return st == KN_MEMORY ? ENOMEM : st == KN_CANCELLED ? ECANCELED : st == KN_IO ? EIO : EINVAL;
}

static int give_next(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
    rows         *r = stream->private_data;
    kn_row_batch *b = new_batch(r);
    kn_error     *said = r->source.said;
    *out = (struct ArrowArray){.release = NULL};
    kn_status st = !b                     ? kn_fail_memory(said, r->ctx, WHAT)
                   : kn_cancelled(r->ctx) ? kn_fail_cancelled(said)
                                          : r->source.fill(r->source.state, b, said);
    if (st == KN_OK && b->rows > 0)
        give_batch(out, b);
    else if (b)
        end_batch(b);
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
    struct ArrowSchema  *columns = kn_alloc_array_zero(r->ctx, (size_t)r->count, sizeof *columns);
    struct ArrowSchema **list = kn_alloc_array_zero(r->ctx, (size_t)r->count, sizeof *list);
    bool                 good = columns && list;
    *out = (struct ArrowSchema){.format = "+s", .name = "", .children = list, .release = end_schema};
    for (int c = 0; good && c < r->count; c++) {
        char *name = kn_strndup(r->ctx, r->columns[c].name, strlen(r->columns[c].name));
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
    const char *at = r->source.said->message, *name = r->source.name;
    size_t      size = name ? strlen(name) : 0;
    bool        named = size > 0 && strncmp(at, name, size) == 0 && at[size] == ':';
    return *at ? at + (named ? size + 2 : 0) : NULL;
}

static void end_columns(kn_row_column *columns, int count)
{
    for (int c = 0; c < count; c++) kn_free(columns[c].name);
    kn_free(columns);
}

static void end_rows(struct ArrowArrayStream *stream)
{
    rows *r = stream->private_data;
    stream->release = NULL;
    r->source.end(r->source.state);
    end_columns(r->columns, r->count);
    kn_free(r);
}

kn_status kn_row_stream(struct ArrowArrayStream *out, kn_context *ctx, kn_row_column *columns, int count,
                        const kn_row_source *source, kn_error *err)
{
    rows *r = kn_alloc_zero(ctx, sizeof *r);
    *out = (struct ArrowArrayStream){.release = NULL};
    if (!r) {
        end_columns(columns, count);
        source->end(source->state);
        return kn_fail_memory(err, ctx, WHAT);
    }
    *r = (rows){.ctx = ctx, .columns = columns, .count = count, .source = *source};
    *out = (struct ArrowArrayStream){give_schema, give_next, last_error, end_rows, r};
    return KN_OK;
}
