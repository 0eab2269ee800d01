/* kn_memory_batches.c: making batches from columns, and handing batches out. Interface: kn_memory_arrow.h.
 *
 * Batches made here are views: a column is one buffer, and each batch refers to its part of it, so nothing is copied.
 * What is handed out refers to the same buffers: every struct of it, including a column that a consumer moved out of
 * its batch, is a holder of the batches. The last holder frees them, on whichever thread that is.
 *
 * Cost: a few hundred bytes per batch and column. The hash is one pass at the speed of memory.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_arrow.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_hash.h"
#include "kn_memory_arrow.h"

enum { BATCH_ROWS = 1 << 16 };

/* ---- Freeing ---- */

void kn_batch_columns_free(const kn_batch_column *columns, int count)
{
    for (int i = 0; i < count; i++) {
        kn_free(columns[i].data);
        kn_free(columns[i].validity);
        kn_free(columns[i].offsets);
        kn_free(columns[i].bytes);
    }
}

void kn_batches_let_go(kn_batches *b)
{
    if (!b || atomic_fetch_sub(&b->holders, 1) > 1) return;
    for (size_t i = 0; i < b->count; i++)
        if (b->arrays[i].release) b->arrays[i].release(&b->arrays[i]);
    if (b->schema.release) b->schema.release(&b->schema);
    kn_batch_columns_free(b->columns, b->column_count);
    kn_arena_free(&b->room);
    kn_free(b->arrays);
    kn_free(b);
}

/* ---- Making ---- */

static void nothing_to_free(struct ArrowSchema *schema)
{
    schema->release = NULL;
}

static void nothing_to_end(struct ArrowArray *array)
{
    array->release = NULL;
}

static struct ArrowSchema schema_of(const char *format, const char *name)
{
    return (struct ArrowSchema){
        .format = format, .name = name, .flags = ARROW_FLAG_NULLABLE, .release = nothing_to_free};
}

static bool make_schema(kn_batches *b)
{
    size_t              count = (size_t)b->column_count;
    struct ArrowSchema *room = kn_arena_array_zero(&b->room, 2 * count, sizeof *room);
    b->schema = schema_of("+s", "");
    b->schema.flags = 0;
    b->schema.n_children = b->column_count;
    b->schema.children = kn_arena_array(&b->room, count, sizeof *b->schema.children);
    if (!room || !b->schema.children) return false;
    for (size_t i = 0; i < count; i++) {
        const kn_batch_column *c = &b->columns[i];
        char                  *name = kn_arena_strndup(&b->room, c->name, strlen(c->name));
        if (!name) return false;
        b->columns[i].name = name;
        room[2 * i] = schema_of(c->format, name);
        room[2 * i + 1] = schema_of(c->text_format, "");
        if (c->text_format) room[2 * i].dictionary = &room[2 * i + 1];
        b->schema.children[i] = &room[2 * i];
    }
    return true;
}

static int64_t nulls_of(const uint8_t *validity, int64_t rows)
{
    int64_t nulls = 0;
    for (int64_t i = 0; validity && i < rows; i++) nulls += !kn_arrow_bit(validity, i);
    return nulls;
}

/* One array of a batch with its buffers. */
static bool make_array(kn_batches *b, struct ArrowArray *out, int64_t length, int64_t buffers, const void *const *from)
{
    *out = (struct ArrowArray){.length = length, .n_buffers = buffers, .release = nothing_to_end};
    out->buffers = kn_arena_array(&b->room, (size_t)buffers, sizeof *out->buffers);
    if (out->buffers) memcpy(out->buffers, from, (size_t)buffers * sizeof *from);
    return out->buffers != NULL;
}

static bool make_column(kn_batches *b, struct ArrowArray *out, const kn_batch_column *c, int64_t first, int64_t rows)
{
    const uint8_t *validity = c->validity ? c->validity + first / 8 : NULL;
    const void    *buffers[] = {validity, (const char *)c->data + first * c->width};
    if (!make_array(b, out, rows, 2, buffers)) return false;
    out->null_count = nulls_of(validity, rows);
    if (!c->text_format) return true;
    out->dictionary = kn_arena_alloc(&b->room, sizeof *out->dictionary);
    return out->dictionary &&
           make_array(b, out->dictionary, c->entries, 3, (const void *const[]){NULL, c->offsets, c->bytes});
}

static bool make_batch(kn_batches *b, struct ArrowArray *out, int64_t first, int64_t rows)
{
    struct ArrowArray *columns = kn_arena_array(&b->room, (size_t)b->column_count, sizeof *columns);
    if (!columns || !make_array(b, out, rows, 1, (const void *const[]){NULL})) return false;
    out->n_children = b->column_count;
    out->children = kn_arena_array(&b->room, (size_t)b->column_count, sizeof *out->children);
    for (int i = 0; out->children && i < b->column_count; i++) {
        out->children[i] = &columns[i];
        if (!make_column(b, &columns[i], &b->columns[i], first, rows)) return false;
    }
    return out->children != NULL;
}

static bool make_all(kn_batches *b, int64_t rows)
{
    size_t count = (size_t)((rows + BATCH_ROWS - 1) / BATCH_ROWS);
    b->arrays = kn_alloc_array_zero(b->ctx, count + 1, sizeof *b->arrays);
    if (!b->arrays || !make_schema(b)) return false;
    for (; b->count < count; b->count++) {
        int64_t first = (int64_t)b->count * BATCH_ROWS, left = rows - first;
        if (!make_batch(b, &b->arrays[b->count], first, left < BATCH_ROWS ? left : BATCH_ROWS)) return false;
    }
    return true;
}

kn_status kn_batches_make(kn_batches **out, kn_context *ctx, const kn_batch_column *columns, int count, int64_t rows,
                          kn_error *err)
{
    kn_batches *b = kn_alloc_zero(ctx, sizeof *b);
    *out = NULL;
    if (b) kn_arena_init(&b->room, ctx);
    kn_batch_column *copy = b ? kn_arena_array(&b->room, (size_t)count, sizeof *copy) : NULL;
    if (!copy) {
        kn_batch_columns_free(columns, count);
        kn_free(b);
        return kn_fail_memory(err, ctx, "making a table in memory");
    }
    memcpy(copy, columns, (size_t)count * sizeof *copy);
    b->ctx = ctx;
    b->columns = copy;
    b->column_count = count;
    atomic_init(&b->holders, 1);
    if (make_all(b, rows)) {
        *out = b;
        return KN_OK;
    }
    kn_batches_let_go(b);
    return kn_fail_memory(err, ctx, "making a table in memory");
}

/* ---- Handing out ---- */

static kn_batches *hold(kn_batches *b)
{
    atomic_fetch_add(&b->holders, 1);
    return b;
}

static void release_schema(struct ArrowSchema *s)
{
    for (int64_t i = 0; i < s->n_children; i++) {
        if (s->children[i] && s->children[i]->release) s->children[i]->release(s->children[i]);
        kn_free(s->children[i]);
    }
    if (s->dictionary && s->dictionary->release) s->dictionary->release(s->dictionary);
    kn_free(s->dictionary);
    kn_free(s->children);
    s->release = NULL;
    kn_batches_let_go(s->private_data);
}

/* On failure the copy can still be released. A child that the producer left out or released is left out here too. */
static bool share_schema(kn_batches *b, struct ArrowSchema *out, const struct ArrowSchema *from)
{
    *out = *from;
    out->private_data = hold(b);
    out->release = release_schema;
    out->n_children = 0;
    out->dictionary = NULL;
    out->children = kn_alloc_array_zero(b->ctx, (size_t)from->n_children + 1, sizeof *out->children);
    bool good = out->children != NULL;
    for (int64_t i = 0; good && i < from->n_children; i++) {
        const struct ArrowSchema *child = from->children ? from->children[i] : NULL;
        out->children[out->n_children++] = kn_alloc_zero(b->ctx, sizeof *child);
        good = out->children[i] && (!child || !child->release || share_schema(b, out->children[i], child));
    }
    if (!good || !from->dictionary || !from->dictionary->release) return good;
    out->dictionary = kn_alloc_zero(b->ctx, sizeof *out->dictionary);
    return out->dictionary && share_schema(b, out->dictionary, from->dictionary);
}

static void release_array(struct ArrowArray *a)
{
    for (int64_t i = 0; i < a->n_children; i++) {
        if (a->children[i] && a->children[i]->release) a->children[i]->release(a->children[i]);
        kn_free(a->children[i]);
    }
    if (a->dictionary && a->dictionary->release) a->dictionary->release(a->dictionary);
    kn_free(a->dictionary);
    kn_free(a->children);
    a->release = NULL;
    kn_batches_let_go(a->private_data);
}

static bool share_array(kn_batches *b, struct ArrowArray *out, const struct ArrowArray *from)
{
    *out = *from;
    out->private_data = hold(b);
    out->release = release_array;
    out->n_children = 0;
    out->dictionary = NULL;
    out->children = kn_alloc_array_zero(b->ctx, (size_t)from->n_children + 1, sizeof *out->children);
    bool good = out->children != NULL;
    for (int64_t i = 0; good && i < from->n_children; i++) {
        const struct ArrowArray *child = from->children ? from->children[i] : NULL;
        out->children[out->n_children++] = kn_alloc_zero(b->ctx, sizeof *child);
        good = out->children[i] && (!child || !child->release || share_array(b, out->children[i], child));
    }
    if (!good || !from->dictionary || !from->dictionary->release) return good;
    out->dictionary = kn_alloc_zero(b->ctx, sizeof *out->dictionary);
    return out->dictionary && share_array(b, out->dictionary, from->dictionary);
}

typedef struct sharing {
    kn_batches *batches;
    size_t      next;
    const char *last_error; /* static; NULL: none */
} sharing;

static int no_memory(sharing *s)
{
    s->last_error = "out of memory, or the context's memory limit was reached";
    return ENOMEM;
}

static int next_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
    sharing *s = stream->private_data;
    s->last_error = NULL;
    if (share_schema(s->batches, out, &s->batches->schema)) return 0;
    out->release(out);
    return no_memory(s);
}

static int next_array(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
    sharing *s = stream->private_data;
    s->last_error = NULL;
    *out = (struct ArrowArray){.length = 0};
    if (s->next == s->batches->count) return 0;
    if (share_array(s->batches, out, &s->batches->arrays[s->next])) {
        s->next++;
        return 0;
    }
    out->release(out);
    return no_memory(s);
}

static const char *last_error(struct ArrowArrayStream *stream)
{
    return ((const sharing *)stream->private_data)->last_error;
}

static void end_sharing(struct ArrowArrayStream *stream)
{
    sharing *s = stream->private_data;
    kn_batches_let_go(s->batches);
    kn_free(s);
    stream->release = NULL;
}

kn_status kn_batches_share(struct ArrowArrayStream *out, kn_context *ctx, kn_batches *b, kn_error *err)
{
    sharing *s = kn_alloc_zero(ctx, sizeof *s);
    if (!s) return kn_fail_memory(err, ctx, "exporting an Arrow stream");
    s->batches = hold(b);
    *out = (struct ArrowArrayStream){next_schema, next_array, last_error, end_sharing, s};
    return KN_OK;
}

/* ---- Did they change? ---- */

static uint64_t hash_part(uint64_t hash, const void *data, int64_t size)
{
    return data && size > 0 ? kn_hash_mix(hash ^ kn_hash_bytes(data, (size_t)size), 0x9e3779b97f4a7c15u) : hash;
}

/* Nothing here is checked yet: what cannot be read is skipped, and the reader reports what is wrong. */
static uint64_t hash_array(uint64_t hash, const struct ArrowArray *a, const struct ArrowSchema *s, int64_t skip,
                           int64_t rows)
{
    kn_arrow_format f;
    kn_arrow_view   v;
    if (!a || !s || !kn_arrow_format_parse(s->format, &f) || kn_arrow_open(&v, a, &f, skip, rows) || !v.data)
        return hash;
    int64_t first = v.start, end = v.start + rows;
    if (v.validity) hash = hash_part(hash, v.validity + first / 8, (end + 7) / 8 - first / 8);
    if (f.kind == KN_ARROW_UTF8) {
        int64_t from = kn_arrow_load_signed(v.data + first * f.width, f.width);
        int64_t to = kn_arrow_load_signed(v.data + end * f.width, f.width);
        if (from >= 0 && to > from) hash = hash_part(hash, v.bytes ? v.bytes + from : NULL, to - from);
        end++; /* one more offset than texts */
    }
    for (int64_t i = 0; f.kind == KN_ARROW_VIEW && i < v.piece_count; i++)
        hash = hash_part(hash, v.pieces[i], kn_arrow_load_signed(v.sizes + 8 * i, 8));
    if (f.width > 0) hash = hash_part(hash, v.data + first * f.width, (end - first) * f.width);
    if (f.kind == KN_ARROW_BOOL) hash = hash_part(hash, v.data + first / 8, (end + 7) / 8 - first / 8);
    return a->dictionary ? hash_array(hash, a->dictionary, s->dictionary, 0, a->dictionary->length) : hash;
}

uint64_t kn_batches_hash(const kn_batches *b)
{
    uint64_t hash = b->count;
    for (size_t i = 0; i < b->count; i++) {
        const struct ArrowArray *a = &b->arrays[i];
        hash = kn_hash_mix(hash ^ (uint64_t)a->length, 0x9e3779b97f4a7c15u);
        if (kn_arrow_check(a, 0) || a->n_children != b->schema.n_children || !a->children || !b->schema.children)
            continue;
        for (int64_t c = 0; c < a->n_children; c++)
            hash = hash_array(hash, a->children[c], b->schema.children[c], a->offset, a->length);
    }
    return hash;
}
