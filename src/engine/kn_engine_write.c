/* kn_engine_write.c: a release out of counted rows, written by the engine. Interface: kn_engine.h.
 *
 * The distinct combinations of all released columns with their counts, in their order, are the whole release: a stream repeats each as
 * often as it counts, in batches of the size that a release in memory has, and the engine writes what the stream gives. Neither side
 * holds the rows. Memory: one batch.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_arrow.h"
#include "kn_engine.h"
#include "kn_error.h"

#define WHAT "writing the release"

enum { BATCH_ROWS = 1 << 16, COUNTS = KN_ENGINE_COUNTS };

/* Counted rows that are being repeated: the next one, how much of it was given, and how many rows are left of a part. */
typedef struct repeating {
    const kn_batches *batches;
    const int64_t    *counts;
    int64_t           entries, at, used, left;
    const char       *message;
} repeating;

/* ---- One batch ---- */

/* Which entries a batch shows, in order, and how often. */
typedef struct share {
    int64_t first;
    int64_t used; /* of the first, before */
    int64_t rows;
} share;

static share take_rows(repeating *r)
{
    share   s = {.first = r->at, .used = r->used};
    int64_t most = r->left < BATCH_ROWS ? r->left : BATCH_ROWS;
    while (s.rows < most && r->at < r->entries) {
        int64_t there = r->counts[r->at] - r->used, taken = there < most - s.rows ? there : most - s.rows;
        s.rows += taken;
        r->used += taken;
        if (r->used < r->counts[r->at]) break;
        r->at++;
        r->used = 0;
    }
    r->left -= s.rows;
    return s;
}

#define REPEAT(type)                                                                                                   \
    for (int64_t row = 0, e = s->first, used = s->used; row < s->rows; e++, used = 0) {                                \
        int64_t n = r->counts[e] - used;                                                                               \
        for (type value = ((const type *)from)[e]; n > 0 && row < s->rows; n--) ((type *)to)[row++] = value;           \
    }

static void repeat_values(void *to, const void *from, int width, const repeating *r, const share *s)
{
    switch (width) {
    case 1: REPEAT(uint8_t); break;
    case 2: REPEAT(uint16_t); break;
    case 4: REPEAT(uint32_t); break;
    default: REPEAT(uint64_t); break;
    }
}

static int64_t repeat_validity(uint8_t *to, const uint8_t *from, const repeating *r, const share *s)
{
    int64_t nulls = 0;
    for (int64_t row = 0, e = s->first, used = s->used; row < s->rows; e++, used = 0) {
        bool valid = kn_arrow_bit(from, e);
        for (int64_t n = r->counts[e] - used; n > 0 && row < s->rows; n--, row++) {
            if (valid) to[row / 8] |= (uint8_t)(1 << (row % 8));
            nulls += !valid;
        }
    }
    return nulls;
}

static void end_lent(struct ArrowArray *array)
{
    array->release = NULL;
}

static void end_batch(struct ArrowArray *array)
{
    kn_arena *room = array->private_data;
    array->release = NULL;
    kn_arena_free(room);
    kn_free(room);
}

static bool repeat_column(struct ArrowArray *out, const repeating *r, int column, const share *s, kn_arena *room)
{
    const kn_batch_column *c = &r->batches->columns[column];
    void                  *data = kn_arena_array(room, (size_t)s->rows, (size_t)c->width);
    uint8_t               *validity = c->validity ? kn_arena_array_zero(room, (size_t)s->rows / 8 + 1, 1) : NULL;
    *out = (struct ArrowArray){.length = s->rows, .n_buffers = 2, .release = end_lent};
    out->buffers = kn_arena_array(room, 2, sizeof *out->buffers);
    if (room->failed) return false;
    repeat_values(data, c->data, c->width, r, s);
    if (validity) out->null_count = repeat_validity(validity, c->validity, r, s);
    out->buffers[0] = validity;
    out->buffers[1] = data;
    if (!c->text_format) return true;
    out->dictionary = kn_arena_alloc(room, sizeof *out->dictionary);
    if (out->dictionary) *out->dictionary = *r->batches->arrays[0].children[column]->dictionary;
    return out->dictionary != NULL;
}

static bool repeat_batch(struct ArrowArray *out, const repeating *r, const share *s, kn_arena *room)
{
    size_t             columns = (size_t)r->batches->column_count - COUNTS;
    struct ArrowArray *children = kn_arena_array_zero(room, columns + 1, sizeof *children);
    out->children = kn_arena_array_zero(room, columns + 1, sizeof *out->children);
    out->buffers = kn_arena_array_zero(room, 1, sizeof *out->buffers);
    out->length = s->rows;
    out->n_buffers = 1;
    out->n_children = (int64_t)columns;
    if (room->failed) return false;
    for (size_t c = 0; c < columns; c++) {
        out->children[c] = &children[c];
        if (!repeat_column(&children[c], r, (int)c, s, room)) return false;
    }
    return true;
}

/* ---- The stream ---- */

static void end_schema(struct ArrowSchema *schema)
{
    schema->release = NULL;
}

/* Without counts and places; all else is the batches'. */
static int give_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
    const repeating *r = stream->private_data;
    *out = r->batches->schema;
    out->n_children -= COUNTS;
    out->release = end_schema;
    return 0;
}

static int give_next(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
    repeating *r = stream->private_data;
    *out = (struct ArrowArray){.release = NULL};
    if (r->left == 0 || r->at == r->entries) return 0;
    kn_arena *room = kn_alloc(r->batches->ctx, sizeof *room);
    if (room) {
        share s = take_rows(r);
        kn_arena_init(room, r->batches->ctx);
        if (repeat_batch(out, r, &s, room)) {
            out->private_data = room;
            out->release = end_batch;
            return 0;
        }
        kn_arena_free(room);
        kn_free(room);
    }
    r->message = "out of memory, or the memory limit was reached";
    return ENOMEM;
}

static const char *last_error(struct ArrowArrayStream *stream)
{
    return ((const repeating *)stream->private_data)->message;
}

static void end_stream(struct ArrowArrayStream *stream)
{
    stream->release = NULL;
}

/* ---- The release ---- */

/* At most so many rows, the next ones. */
static kn_status write_rows(kn_engine *e, repeating *r, int64_t most, const char *path, const char *name, kn_error *err)
{
    struct ArrowArrayStream stream = {give_schema, give_next, last_error, end_stream, r};
    r->left = most;
    kn_status st = kn_columnar_write_stream(e->connection, e->ctx, &stream, path, name, err);
    return r->message ? kn_fail_memory(err, e->ctx, WHAT) : st;
}

static kn_status write_parts(kn_engine *e, repeating *r, const char *folder, const char *name, kn_error *err)
{
    for (size_t part = 0; r->at < r->entries || part == 0; part++) {
        char *path = kn_strformat(e->ctx, "%s/part-%05zu.parquet", folder, part);
        if (!path) return kn_fail_memory(err, e->ctx, WHAT);
        kn_status st = write_rows(e, r, KN_COLUMNAR_PART, path, name, err);
        if (st == KN_OK) st = kn_columnar_sync(path, name, err);
        kn_free(path);
        KN_TRY(st);
    }
    return KN_OK;
}

kn_status kn_engine_write(kn_engine *e, const kn_batches *batches, const char *path, const char *name, bool parts,
                          kn_error *err)
{
    repeating r = {.batches = batches, .counts = batches->columns[batches->column_count - COUNTS].data};
    for (size_t b = 0; b < batches->count; b++) r.entries += batches->arrays[b].length;
    return parts ? write_parts(e, &r, path, name, err) : write_rows(e, &r, INT64_MAX, path, name, err);
}

/* ---- By the program's engine ---- */

#define ENTRIES "kanon_release"

static const char *target_of(const char *name)
{
    return strchr(name, '#') + 1;
}

kn_status kn_engine_write_there(kn_engine *e, const kn_batches *batches, const char *name, kn_error *err)
{
    kn_batches_lent         lent = {.batches = batches};
    struct ArrowArrayStream stream = kn_batches_lend(&lent);
    const int64_t          *counts = batches->columns[batches->column_count - COUNTS].data;
    int64_t                 rows = 0;
    kn_buffer               sql;
    for (size_t b = 0, i = 0; b < batches->count; b++)
        for (int64_t j = 0; j < batches->arrays[b].length; j++) rows += counts[i++];
    KN_TRY(kn_connection_put(e->connection, e->ctx, ENTRIES, &stream, name, err));
    kn_buffer_init(&sql, e->ctx);
    kn_buffer_add(&sql, "INSERT OVERWRITE DIRECTORY ");
    kn_connection_put_text(&sql, e->connection, target_of(name));
    kn_engine_put_spark(&sql, e->connection, batches, ENTRIES, rows);
    const char *text = kn_buffer_text(&sql);
    kn_status st = text ? kn_connection_run(e->connection, e->ctx, text, name, err) : kn_fail_memory(err, e->ctx, WHAT);
    kn_buffer_free(&sql);
    return st;
}

void kn_engine_put_target(kn_buffer *to, const kn_engine *e, const char *name)
{
    kn_connection_put_target(to, e->connection, target_of(name));
}
