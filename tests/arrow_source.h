/* arrow_source.h: a producer of Arrow streams built by hand, for tests.
 *
 * Every buffer stands in a block of exactly its size, and a ledger is kept: each struct that is handed out must be
 * released exactly once, whatever happens.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ARROW_SOURCE_H
#define ARROW_SOURCE_H

#include "testing.h"

#include <kanon/arrow.h>
#include <stdlib.h>
#include <string.h>

/* ---- A producer ---- */

static struct {
    int64_t made, released;
} ledger;

static inline void drop_schema(struct ArrowSchema *s)
{
    ledger.released++;
    for (int64_t i = 0; i < s->n_children; i++) {
        if (s->children[i] && s->children[i]->release) s->children[i]->release(s->children[i]);
        free(s->children[i]);
    }
    free(s->children);
    if (s->dictionary) {
        if (s->dictionary->release) s->dictionary->release(s->dictionary);
        free(s->dictionary);
    }
    free(s->private_data);
    s->release = NULL;
}

/* private_data holds the copies of format and name. */
static inline struct ArrowSchema *schema(const char *format, const char *name)
{
    struct ArrowSchema *s = calloc(1, sizeof *s);
    size_t              f = strlen(format) + 1, n = name ? strlen(name) + 1 : 0;
    char               *copy = malloc(f + n);
    memcpy(copy, format, f);
    if (name) memcpy(copy + f, name, n);
    s->format = copy;
    s->name = name ? copy + f : NULL;
    s->private_data = copy;
    s->release = drop_schema;
    ledger.made++;
    return s;
}

static inline struct ArrowSchema *schema_add(struct ArrowSchema *parent, struct ArrowSchema *child)
{
    parent->children = realloc(parent->children, (size_t)(parent->n_children + 1) * sizeof child);
    parent->children[parent->n_children++] = child;
    return child;
}

static inline void drop_array(struct ArrowArray *a)
{
    ledger.released++;
    for (int64_t i = 0; i < a->n_children; i++) {
        if (a->children[i] && a->children[i]->release) a->children[i]->release(a->children[i]);
        free(a->children[i]);
    }
    free(a->children);
    if (a->dictionary) {
        if (a->dictionary->release) a->dictionary->release(a->dictionary);
        free(a->dictionary);
    }
    void **blocks = a->private_data; /* what there is to free, whatever the buffers say; NULL-terminated */
    for (int i = 0; i < 8; i++) free(blocks[i]);
    free(blocks);
    free(a->buffers);
    a->release = NULL;
}

static inline struct ArrowArray *array(int64_t length, int buffers)
{
    struct ArrowArray *a = calloc(1, sizeof *a);
    a->length = length;
    a->null_count = -1;
    a->n_buffers = buffers;
    a->buffers = calloc((size_t)buffers + 1, sizeof *a->buffers);
    a->private_data = calloc(8, sizeof(void *));
    a->release = drop_array;
    ledger.made++;
    return a;
}

/* An exact copy as buffer number i. */
static inline void buffer(struct ArrowArray *a, int i, const void *data, size_t size)
{
    void **blocks = a->private_data;
    blocks[i] = malloc(size ? size : 1);
    if (size) memcpy(blocks[i], data, size);
    a->buffers[i] = blocks[i];
}

static inline struct ArrowArray *array_add(struct ArrowArray *parent, struct ArrowArray *child)
{
    parent->children = realloc(parent->children, (size_t)(parent->n_children + 1) * sizeof child);
    parent->children[parent->n_children++] = child;
    return child;
}

/* A column of fixed width; `valid` is a string of '1' and '0' per row from the buffer's begin, or NULL. */
static inline struct ArrowArray *fixed(int64_t length, size_t width, const void *data, const char *valid)
{
    struct ArrowArray *a = array(length, 2);
    buffer(a, 1, data, (size_t)length * width);
    if (valid) {
        uint8_t bits[64] = {0};
        for (size_t i = 0; valid[i]; i++)
            if (valid[i] == '1') bits[i / 8] |= (uint8_t)(1 << (i % 8));
        buffer(a, 0, bits, (strlen(valid) + 7) / 8);
    }
    return a;
}

/* A column of utf8 from C strings; NULL is a null. */
static inline struct ArrowArray *utf8(int64_t length, const char *const *texts)
{
    struct ArrowArray *a = array(length, 3);
    int32_t            offsets[65] = {0};
    char               bytes[4096];
    uint8_t            bits[8] = {0};
    for (int64_t i = 0; i < length; i++) {
        size_t n = texts[i] ? strlen(texts[i]) : 0;
        if (n) memcpy(bytes + offsets[i], texts[i], n);
        offsets[i + 1] = offsets[i] + (int32_t)n;
        if (texts[i]) bits[i / 8] |= (uint8_t)(1 << (i % 8));
    }
    buffer(a, 0, bits, (size_t)(length + 7) / 8);
    buffer(a, 1, offsets, (size_t)(length + 1) * 4);
    buffer(a, 2, bytes, (size_t)offsets[length]);
    return a;
}

typedef struct source {
    struct ArrowSchema *schema;
    struct ArrowArray  *batches[8];
    int                 batch_count, next;
    int                 schema_error, next_error; /* errno; next_error in place of the end of the stream */
} source;

static inline int source_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
    source *s = stream->private_data;
    if (s->schema_error) return s->schema_error;
    *out = *s->schema;
    free(s->schema);
    s->schema = NULL;
    return 0;
}

static inline int source_next(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
    source *s = stream->private_data;
    if (s->next == s->batch_count) {
        memset(out, 0, sizeof *out);
        return s->next_error;
    }
    *out = *s->batches[s->next];
    free(s->batches[s->next++]);
    return 0;
}

static inline const char *source_error(struct ArrowArrayStream *stream)
{
    (void)stream;
    return "the cat ate it";
}

static inline void source_release(struct ArrowArrayStream *stream)
{
    source *s = stream->private_data;
    if (s->schema) {
        s->schema->release(s->schema);
        free(s->schema);
    }
    for (; s->next < s->batch_count; s->next++) {
        s->batches[s->next]->release(s->batches[s->next]);
        free(s->batches[s->next]);
    }
    free(s);
    ledger.released++;
    stream->release = NULL;
}

static inline source *source_new(void)
{
    source *s = calloc(1, sizeof *s);
    s->schema = schema("+s", "");
    return s;
}

static inline struct ArrowArray *batch(source *s, int64_t rows)
{
    struct ArrowArray *a = array(rows, 1);
    s->batches[s->batch_count++] = a;
    return a;
}

static inline struct ArrowArrayStream stream_of(source *s)
{
    ledger.made++;
    return (struct ArrowArrayStream){source_schema, source_next, source_error, source_release, s};
}

/* Imports and checks that everything was released. */
static inline kn_status import_with(kn_table **out, kn_context *ctx, source *s, const kn_arrow_options *options,
                                    kn_error *err)
{
    struct ArrowArrayStream stream = stream_of(s);
    kn_status               st = kn_table_import_arrow(out, ctx, &stream, options, err);
    assert_null(stream.release);
    assert_int_equal(ledger.made, ledger.released);
    const char *reason = "";
    if (st == KN_OK && !kn_table_validate(*out, &reason)) fail_msg("not a valid table: %s", reason);
    if (st != KN_OK) assert_null(*out);
    return st;
}

/* One column in one batch. */
static inline source *single(const char *format, struct ArrowArray *column)
{
    source *s = source_new();
    schema_add(s->schema, schema(format, "x"));
    array_add(batch(s, column->length), column);
    return s;
}

/* ---- Looking at tables ---- */

static inline const char *cell(const kn_table *t, int column, int64_t row, char *out, size_t size)
{
    size_t      n = 0;
    const char *text = kn_table_text(t, column, kn_table_code(t, column, row), &n);
    if (!text) return NULL;
    assert_true(n < size);
    memcpy(out, text, n);
    out[n] = '\0';
    return out;
}

/* `expected` holds the cells of a column separated by bars; "-" is missing. */
static inline void check_column(const kn_table *t, int column, kn_type type, const char *expected)
{
    char all[4096] = "", one[1024];
    for (int64_t r = 0; r < kn_table_rows(t); r++) {
        const char *text = cell(t, column, r, one, sizeof one);
        if (r) strcat(all, "|");
        strcat(all, text ? text : "-");
    }
    assert_string_equal(all, expected);
    assert_string_equal(kn_type_name(kn_table_type(t, column)), kn_type_name(type));
}

/* A view of a text: in place up to 12 bytes, else in buffer `piece` at `offset`. */
static inline void put_view(char *record, const char *text, int32_t length, int32_t piece, int32_t offset)
{
    memset(record, 0, 16);
    memcpy(record, &length, 4);
    memcpy(record + 4, text, length > 12 ? 4 : (size_t)(length < 0 ? 0 : length));
    if (length > 12) {
        memcpy(record + 8, &piece, 4);
        memcpy(record + 12, &offset, 4);
    }
}

static inline struct ArrowSchema *encoded_schema(const char *index, const char *value)
{
    struct ArrowSchema *s = schema(index, "x");
    s->dictionary = schema(value, NULL);
    return s;
}

static inline struct ArrowArray *encoded(struct ArrowArray *indices, struct ArrowArray *dictionary)
{
    indices->dictionary = dictionary;
    return indices;
}

#endif
