/* arrow_fuzz.h: what the fuzz targets of Arrow streams share: a producer whose streams follow from the input's bytes.
 *
 * Every buffer is a block of exactly its size, so that reading past it is seen. What is wrong is wrong in ways that the
 * interface lets a consumer notice: counts, offsets, indices, NULL pointers, released arrays, texts. Every struct is released
 * once.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ARROW_FUZZ_H
#define ARROW_FUZZ_H

#include <errno.h>
#include <kanon/arrow.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ROWS = 24, MAX_COLUMNS = 4, BLOCKS = 6 };

#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                                            \
            abort();                                                                                                   \
        }                                                                                                              \
    } while (0)

/* ---- The input ---- */

typedef struct input {
    const uint8_t *data;
    size_t         size;
} input;

static uint8_t take(input *in)
{
    if (in->size == 0) return 0;
    in->size--;
    return *in->data++;
}

static int64_t below(input *in, int64_t bound)
{
    return take(in) % bound;
}

/* True in one of `odds` cases; false once the input is used up, so that short inputs are right. */
static bool rarely(input *in, int odds)
{
    return take(in) % odds == odds - 1;
}

static void fill(input *in, void *to, size_t size)
{
    for (size_t i = 0; i < size; i++) ((uint8_t *)to)[i] = take(in);
}

/* ---- The producer ----
 * Structs stay until the end of the run, so that a second release is noticed; their blocks are freed by the first. */

typedef struct node {
    struct node       *next;
    struct ArrowSchema schema;
    struct ArrowArray  array;
    void              *blocks[BLOCKS];
    bool               released, child;
} node;

typedef struct producer {
    input      *in;
    node       *nodes;
    int         columns;
    const char *formats[MAX_COLUMNS];
    const char *values[MAX_COLUMNS]; /* of the dictionary; NULL: none */
    int         batches;
    node       *schema;
    bool        released;
} producer;

static void *block(size_t size)
{
    void *p = malloc(size ? size : 1);
    CHECK(p);
    return p;
}

static node *node_new(producer *p, bool child)
{
    node *n = calloc(1, sizeof *n);
    CHECK(n);
    n->next = p->nodes;
    n->child = child;
    p->nodes = n;
    return n;
}

static void node_drop(node *n)
{
    for (int i = 0; i < BLOCKS; i++) {
        free(n->blocks[i]);
        n->blocks[i] = NULL;
    }
}

static void release_schema(struct ArrowSchema *s)
{
    node *n = s->private_data;
    CHECK(!n->released && !n->child);
    n->released = true;
    node_drop(n);
    s->release = NULL;
}

static void release_array(struct ArrowArray *a)
{
    node *n = a->private_data;
    CHECK(!n->released && !n->child);
    n->released = true;
    for (int64_t i = 0; n->blocks[5] && i < MAX_COLUMNS; i++) { /* what the consumer did not move away */
        node *c = ((node **)n->blocks[5])[i];
        if (!c) continue;
        if (c->array.dictionary) node_drop(c->array.dictionary->private_data);
        node_drop(c);
    }
    node_drop(n);
    a->release = NULL;
}

static node *schema_new(producer *p, const char *format, bool child)
{
    node *n = node_new(p, child);
    n->schema = (struct ArrowSchema){.format = format, .release = release_schema, .private_data = n};
    return n;
}

static const char *const formats[] = {
    "n",     "b",    "c",        "C",  "s",   "S",         "i",      "I",           "l",   "L",   "e",    "f",
    "g",     "u",    "U",        "vu", "tdD", "tdm",       "tts",    "ttm",         "ttu", "ttn", "tss:", "tsm:UTC",
    "tsu:x", "tsn:", "d:9,2,32", "u",  "u",   "d:18,3,64", "d:38,5", "d:76,-3,256", "z",   "+s",  "d:",   "tD"};
static const int good_formats = 32;

static const char *some_format(input *in)
{
    int64_t i = below(in, rarely(in, 64) ? (int64_t)(sizeof formats / sizeof *formats) : good_formats);
    return formats[i];
}

static node *make_schema(producer *p)
{
    static const char *const names[] = {"a", "b", "c", "d", NULL, "", "a\xff", "a\"b`c'd", "(rows)", "A"};
    input                   *in = p->in;
    node                    *top = schema_new(p, rarely(in, 128) ? "i" : "+s", false);
    struct ArrowSchema     **children = block(MAX_COLUMNS * sizeof *children);
    top->blocks[0] = children;
    top->schema.children = children;
    top->schema.n_children = p->columns;
    for (int c = 0; c < p->columns; c++) {
        node *child = schema_new(p, p->formats[c], true);
        child->schema.name = rarely(in, 32) ? names[below(in, 10)] : names[c];
        children[c] = &child->schema;
        if (p->values[c]) {
            node *dictionary = schema_new(p, p->values[c], true);
            child->schema.dictionary = &dictionary->schema;
            if (rarely(in, 64)) dictionary->schema.dictionary = &schema_new(p, "u", true)->schema;
            if (rarely(in, 64)) dictionary->schema.release = NULL;
        }
        if (rarely(in, 64)) child->schema.release = NULL;
        if (rarely(in, 64)) child->schema.n_children = 1;
        if (rarely(in, 128)) children[c] = NULL;
    }
    return top;
}

static size_t fixed_width(const char *format)
{
    static const struct {
        const char *format;
        size_t      width;
    } widths[] = {{"c", 1}, {"C", 1},   {"s", 2},   {"S", 2},   {"e", 2},        {"i", 4},       {"I", 4},
                  {"f", 4}, {"tdD", 4}, {"tts", 4}, {"ttm", 4}, {"d:9,2,32", 4}, {"d:38,5", 16}, {"d:76,-3,256", 32}};
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++)
        if (strcmp(widths[i].format, format) == 0) return widths[i].width;
    return 8;
}

/* Numbers that are often small enough to be dates and times. */
static void fill_fixed(input *in, uint8_t *to, size_t width, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint8_t *one = to + i * width;
        int64_t  shape = below(in, 4);
        memset(one, 0, width);
        if (shape == 0) {
            fill(in, one, width);
        } else {
            uint32_t n = take(in);
            if (shape > 1) n |= (uint32_t)take(in) << 8;
            uint64_t scaled = shape == 3 ? (uint64_t)n * 86400000u : (uint64_t)n * 1000u;
            if (width < 8)
                memcpy(one, &n, width < 4 ? width : 4);
            else
                memcpy(one, &scaled, 8);
        }
    }
}

/* Texts: mostly letters, sometimes any bytes. */
static void fill_text(input *in, char *to, size_t size)
{
    bool any = rarely(in, 16);
    for (size_t i = 0; i < size; i++) {
        uint8_t byte = take(in);
        to[i] = any ? (char)byte : "0123456789-:.TZ aNAe"[byte % 20];
    }
}

static void make_text(input *in, node *n, bool large, int64_t all)
{
    size_t   size = (size_t)below(in, 100);
    char    *bytes = n->blocks[2] = block(size);
    uint8_t *offsets = n->blocks[1] = block((size_t)(all + 1) * (large ? 8 : 4));
    bool     wrong = rarely(in, 16);
    int64_t  at = 0;
    fill_text(in, bytes, size);
    for (int64_t i = 0; i <= all; i++) {
        int64_t left = (int64_t)size - at, step = below(in, 12);
        int64_t offset = wrong && rarely(in, 4) ? below(in, (int64_t)size + 3) - 2 : at;
        int32_t narrow = (int32_t)offset;
        memcpy(offsets + i * (large ? 8 : 4), large ? (void *)&offset : (void *)&narrow, large ? 8 : 4);
        at += step < left ? step : left;
    }
}

static void make_views(input *in, node *n, int64_t all)
{
    int64_t  size = below(in, 60);
    uint8_t *views = n->blocks[1] = block((size_t)all * 16);
    n->blocks[2] = block((size_t)size);
    n->blocks[3] = block(8);
    fill_text(in, n->blocks[2], (size_t)size);
    memcpy(n->blocks[3], &size, 8);
    bool wrong = rarely(in, 16);
    for (int64_t i = 0; i < all; i++) {
        int32_t length = (int32_t)below(in, size > 12 ? size : 13), where[2] = {0, 0};
        if (length > 12) where[1] = (int32_t)below(in, size - length + 1);
        if (wrong && rarely(in, 4)) length = (int32_t)below(in, 80) - 4;
        if (wrong && rarely(in, 4)) where[below(in, 2)] = (int32_t)below(in, 80) - 4;
        memset(views + i * 16, 0, 16);
        memcpy(views + i * 16, &length, 4);
        if (length > 12)
            memcpy(views + i * 16 + 8, where, 8);
        else
            fill_text(in, (char *)views + i * 16 + 4, (size_t)(length > 0 ? length : 0));
    }
}

static int64_t buffer_count(const char *format)
{
    return format[0] == 'n' ? 0 : format[0] == 'u' || format[0] == 'U' ? 3 : strcmp(format, "vu") == 0 ? 4 : 2;
}

/* What a consumer can see is wrong. */
static void spoil(input *in, struct ArrowArray *a)
{
    if (!rarely(in, 24)) return;
    switch (below(in, 12)) {
    case 0: a->length = -1 - below(in, 3); break;
    case 1: a->length--; break;
    case 2: a->offset = -1; break;
    case 3: a->offset = INT64_MAX - below(in, 3); break;
    case 4: a->null_count = below(in, 30) - 4; break;
    case 5: a->n_buffers += 1; break;
    case 6: a->n_buffers = below(in, 3) - 1; break;
    case 7:
        if (a->n_buffers > 0) a->buffers[below(in, a->n_buffers)] = NULL;
        break;
    case 8: a->buffers = NULL; break;
    case 9: a->n_children = 1; break;
    case 10: a->release = NULL; break;
    default: a->length = INT64_MAX; break;
    }
}

static node *make_values(producer *p, const char *format, int64_t length)
{
    input  *in = p->in;
    node   *n = node_new(p, true);
    int64_t pad = rarely(in, 4) ? below(in, 10) : 0, all = pad + length;
    n->array = (struct ArrowArray){.length = length,
                                   .offset = pad,
                                   .null_count = -1,
                                   .n_buffers = buffer_count(format),
                                   .release = release_array,
                                   .private_data = n};
    if (rarely(in, 3)) {
        n->blocks[0] = block((size_t)(all + 7) / 8);
        fill(in, n->blocks[0], (size_t)(all + 7) / 8);
    }
    if (format[0] == 'u' || format[0] == 'U') {
        make_text(in, n, format[0] == 'U', all);
    } else if (strcmp(format, "vu") == 0) {
        make_views(in, n, all);
    } else if (format[0] == 'b') {
        n->blocks[1] = block((size_t)(all + 7) / 8);
        fill(in, n->blocks[1], (size_t)(all + 7) / 8);
    } else if (format[0] != 'n') {
        n->blocks[1] = block((size_t)all * fixed_width(format));
        fill_fixed(in, n->blocks[1], fixed_width(format), (size_t)all);
    }
    const void **buffers = n->blocks[4] = block(6 * sizeof *buffers);
    for (int i = 0; i < 6; i++) buffers[i] = i < 4 ? n->blocks[i] : NULL;
    n->array.buffers = buffers;
    return n;
}

static node *make_column(producer *p, int c, int64_t length)
{
    input *in = p->in;
    node  *n = make_values(p, p->formats[c], length);
    if (p->values[c] ? !rarely(in, 64) : rarely(in, 128)) {
        int64_t entries = 1 + below(in, MAX_ROWS);
        node   *d = make_values(p, p->values[c] ? p->values[c] : "u", entries);
        n->array.dictionary = &d->array;
        size_t   width = fixed_width(p->formats[c]);
        uint8_t *indices = n->blocks[1];
        if (p->values[c] && !rarely(in, 8)) /* mostly indices that exist */
            for (int64_t i = 0; i < n->array.offset + length; i++) {
                uint8_t low = (uint8_t)(indices[(size_t)i * width] % entries);
                memset(indices + (size_t)i * width, 0, width);
                indices[(size_t)i * width] = low;
            }
        spoil(in, &d->array);
        if (rarely(in, 128)) d->array.dictionary = &make_values(p, "u", 1)->array;
    }
    spoil(in, &n->array);
    return n;
}

static int next_batch(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
    producer *p = stream->private_data;
    memset(out, 0, sizeof *out);
    if (p->batches == 0) return rarely(p->in, 64) ? EIO : 0;
    p->batches--;
    int64_t rows = below(p->in, MAX_ROWS), skip = rarely(p->in, 4) ? below(p->in, 5) : 0;
    node   *top = node_new(p, false);
    node  **columns = top->blocks[5] = block(MAX_COLUMNS * sizeof *columns);
    void  **children = top->blocks[0] = block(MAX_COLUMNS * sizeof *children);
    memset(columns, 0, MAX_COLUMNS * sizeof *columns);
    for (int c = 0; c < p->columns; c++) {
        columns[c] = make_column(p, c, rows + skip);
        children[c] = rarely(p->in, 128) ? NULL : &columns[c]->array;
    }
    top->blocks[1] = block(4 * sizeof(void *));
    memset(top->blocks[1], 0, 4 * sizeof(void *));
    top->array = (struct ArrowArray){.length = rows,
                                     .offset = skip,
                                     .n_buffers = 1,
                                     .buffers = top->blocks[1],
                                     .n_children = p->columns,
                                     .children = (struct ArrowArray **)children,
                                     .release = release_array,
                                     .private_data = top};
    if (rarely(p->in, 64)) {
        top->blocks[2] = block((size_t)(rows + skip + 7) / 8);
        fill(p->in, top->blocks[2], (size_t)(rows + skip + 7) / 8);
        top->array.buffers[0] = top->blocks[2];
    }
    spoil(p->in, &top->array);
    if (rarely(p->in, 128)) top->array.n_children = below(p->in, 6) - 1;
    if (!top->array.release) { /* that is the end of the stream, and nobody will come to fetch the rest */
        top->released = true;
        return 0;
    }
    *out = top->array;
    return 0;
}

static int get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
    producer *p = stream->private_data;
    if (rarely(p->in, 128)) return ENOSYS;
    p->schema = make_schema(p);
    *out = p->schema->schema;
    return 0;
}

static const char *last_error(struct ArrowArrayStream *stream)
{
    (void)stream;
    return "said the producer";
}

static void release_stream(struct ArrowArrayStream *stream)
{
    producer *p = stream->private_data;
    CHECK(!p->released);
    p->released = true;
    stream->release = NULL;
}

static void end_producer(producer *p)
{
    CHECK(p->released);
    while (p->nodes) {
        node *n = p->nodes;
        p->nodes = n->next;
        CHECK(n->child || n->released);
        node_drop(n);
        free(n);
    }
}

/* A stream of the next bytes of the input. */
static struct ArrowArrayStream make_stream(producer *p, input *in)
{
    *p = (producer){.in = in};
    p->columns = 1 + (int)below(in, MAX_COLUMNS);
    p->batches = (int)below(in, 4);
    for (int c = 0; c < p->columns; c++) {
        p->formats[c] = some_format(in);
        if (!rarely(in, 3)) continue;
        p->values[c] = p->formats[c];
        p->formats[c] = rarely(in, 64) ? "g" : formats[2 + below(in, 8)];
    }
    return (struct ArrowArrayStream){get_schema, next_batch, last_error, release_stream, p};
}

#endif
