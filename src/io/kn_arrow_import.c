/* kn_arrow_import.c: an Arrow stream → a table.
 *
 * Interface: kn_table_import_arrow in kanon/arrow.h. The stream's schema is checked once; then each batch is checked
 * and read in chunks of rows, its columns in parallel, each column interning the texts of its cells. A
 * dictionary-encoded column interns each dictionary entry once per batch, unless the dictionary is much longer than
 * the batch. Columns keep a small cache value → id before the interner, so that repeated numbers and dates are not
 * converted to text again, and repeated short texts neither checked nor hashed again.
 *
 * Everything in a batch that can be checked is checked: lengths, offsets, counts of buffers and children, NULL
 * pointers, string offsets that run backwards, dictionary indices, UTF-8. The interface does not give the size of a
 * buffer: that lengths are true is the one thing a producer must be trusted with.
 *
 * Cost: O(cells); besides the growing table at most IDS_BYTES of ids, 24 KiB of cache per column and one id per
 * dictionary entry of the batch (at most twice as many as rows). Limits: one struct level; see docs/arrow.md for types.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_arrow.h"
#include "kn_builder.h"
#include "kn_context.h"
#include "kn_csv_write.h"
#include "kn_error.h"
#include "kn_hash.h"
#include "kn_nearest.h"
#include "kn_options.h"
#include "kn_parallel.h"

#define WHAT "reading an Arrow stream"

enum {
    CHUNK_ROWS = 1 << 16,
    IDS_BYTES = 1 << 24, /* of all columns' ids of a chunk, as far as CHUNK_LEAST allows */
    CHUNK_LEAST = 256,
    CACHE_BITS = 10
};

#define ISO_DATE "%Y-%m-%d"
#define ISO_DATETIME "%Y-%m-%dT%H:%M:%S%z"

typedef struct cached {
    uint64_t key;
    uint32_t id; /* KN_ID_MISSING: an empty place */
} cached;

enum { SHORT = 16 };

/* A text of 1 to SHORT bytes: its size and two words, which overlap, have all of them. */
typedef struct short_text {
    uint64_t low, high;
    uint32_t size, id; /* size 0: an empty place */
} short_text;

typedef struct column {
    int64_t         child;      /* which of the stream's            */
    char           *label;      /* its name, for messages too       */
    bool            encoded;    /* rows are indices                 */
    kn_arrow_format index;      /* of the rows, where encoded       */
    kn_arrow_format value;      /* of the rows or the dictionary    */
    kn_arrow_view   rows, dict; /* of the current batch             */
    uint32_t       *known;      /* dictionary entry → id + 1; 0: not yet looked up */
    size_t          known_capacity;
    bool            use_known;
    cached         *cache; /* 1 << CACHE_BITS places; NULL for text */
    short_text     *texts; /* the same of text                      */
    kn_interner    *interner;
    int64_t         nan_count;
    bool            counts; /* how many rows each stands for: never missing */
    bool            wide;   /* an unsigned value above the largest int64 was seen */
} column;

typedef struct import {
    kn_context           *ctx;
    kn_arrow_options      options;
    kn_string            *na;
    int                   na_count;
    bool                  no_nulls; /* the empty text, as which a null is released, is none of these */
    column               *columns;
    int                   column_count;
    int64_t               child_count; /* of the stream */
    uint32_t             *ids;         /* chunk_rows for each column */
    int64_t               chunk_rows;
    int64_t               chunk_first, chunk_size; /* the rows of the current batch */
    int64_t               batch;                   /* from 1 */
    kn_builder           *builder;
    kn_timezone          *zone;
    const kn_csv_options *csv;  /* a table instead of a CSV file; NULL: a plain stream      */
    const char           *name; /* in messages                                             */
    bool                  ours; /* the producer is kanon itself: its messages are all that is said */
    struct ArrowSchema    schema;
    struct ArrowArray     array;
} import;

/* A format string comes from the producer: only its printable beginning goes into a message. */
static kn_status fail_format(kn_error *err, const char *label, const char *format, const char *what)
{
    char   shown[41];
    size_t n = 0;
    for (; format && format[n] && n + 1 < sizeof shown; n++)
        shown[n] = format[n] >= ' ' && format[n] <= '~' ? format[n] : '?';
    shown[n] = '\0';
    return kn_fail(err, KN_INPUT, "Arrow stream: column \"%.200s\" has the format \"%s\": %s", label, shown, what);
}

static kn_status fail_column(const import *im, const column *c, const char *reason, kn_error *err)
{
    return kn_fail(err, KN_INPUT, "%.300s: column \"%.200s\", batch %" PRId64 ": %s", im->name, c->label, im->batch,
                   reason);
}

static kn_status fail_cell(const import *im, const column *c, int64_t row, const char *reason, kn_error *err)
{
    return kn_fail(err, KN_INPUT, "%.300s: column \"%.200s\", batch %" PRId64 ", row %" PRId64 ": %s", im->name,
                   c->label, im->batch, row + 1, reason);
}

static kn_status fail_producer(const import *im, struct ArrowArrayStream *stream, int code, const char *doing,
                               kn_error *err)
{
    char system[128];
    if (im->ours && code == ENOMEM) return kn_fail_memory(err, im->ctx, WHAT);
    if (strerror_r(code, system, sizeof system) != 0) snprintf(system, sizeof system, "error %d", code);
    const char *said = NULL;
    if ((im->ours || im->options.producer_messages) && stream->get_last_error) said = stream->get_last_error(stream);
    if (im->ours && said) return kn_fail(err, code == EIO ? KN_IO : KN_INPUT, "%.300s: %s", im->name, said);
    return kn_fail(err, KN_IO, "Arrow stream: the producer failed %s: %s%s%.500s", doing, system, said ? ": " : "",
                   said ? said : "");
}

/* ---- Schema ---- */

static kn_status fail_unsupported(kn_error *err, const char *label, const char *format)
{
    static const char *const kinds[][2] = {
        {"tD", "durations"}, {"ti", "intervals"}, {"z", "bytes"},   {"Z", "bytes"},     {"vz", "bytes"},
        {"w:", "bytes"},     {"+l", "lists"},     {"+L", "lists"},  {"+v", "lists"},    {"+w", "lists"},
        {"+s", "structs"},   {"+m", "maps"},      {"+u", "unions"}, {"+r", "run ends"},
    };
    const char *kind = NULL;
    for (size_t i = 0; format && i < sizeof kinds / sizeof *kinds && !kind; i++)
        if (strncmp(format, kinds[i][0], strlen(kinds[i][0])) == 0) kind = kinds[i][1];
    char what[120];
    snprintf(what, sizeof what,
             "kanon does not read such columns%s%s%s; leave it out, or make it text, numbers or dates",
             kind ? " (" : "", kind ? kind : "", kind ? ")" : "");
    return fail_format(err, label, format, what);
}

static kn_status parse_column(column *c, const struct ArrowSchema *schema, kn_error *err)
{
    if (!kn_arrow_format_parse(schema->format, &c->value)) return fail_unsupported(err, c->label, schema->format);
    if (schema->n_children != 0)
        return fail_format(err, c->label, schema->format, "columns of this type have no children");
    if (!schema->dictionary) return KN_OK;
    c->encoded = true;
    c->index = c->value;
    const struct ArrowSchema *dictionary = schema->dictionary;
    if (!kn_arrow_is_integer(&c->index))
        return fail_format(err, c->label, schema->format, "indices into a dictionary must be integers");
    if (!dictionary->release) return fail_format(err, c->label, schema->format, "its dictionary was released");
    if (dictionary->dictionary)
        return fail_format(err, c->label, schema->format, "its dictionary has a dictionary of its own");
    if (!kn_arrow_format_parse(dictionary->format, &c->value) || dictionary->n_children != 0)
        return fail_unsupported(err, c->label, dictionary->format);
    return KN_OK;
}

/* Columns without a name are named by position, as in a CSV file without a header. */
static kn_status name_column(import *im, column *c, const struct ArrowSchema *schema, kn_error *err)
{
    if (schema->name && schema->name[0]) {
        c->label = kn_strndup(im->ctx, schema->name, strlen(schema->name));
    } else {
        char place[32];
        int  n = snprintf(place, sizeof place, "c%" PRId64, c->child + 1);
        c->label = kn_strndup(im->ctx, place, (size_t)n);
    }
    if (!c->label) return kn_fail_memory(err, im->ctx, WHAT);
    if (kn_arrow_text_reason(kn_string_of(c->label)))
        return kn_fail(err, KN_INPUT, "Arrow stream: the name of column %" PRId64 " is not valid UTF-8", c->child + 1);
    return KN_OK;
}

static bool wanted(const import *im, const char *name)
{
    if (!im->options.columns || (im->options.count && strcmp(im->options.count, name) == 0)) return true;
    for (int i = 0; i < im->options.column_count; i++)
        if (strcmp(im->options.columns[i], name) == 0) return true;
    return false;
}

static int by_label(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int by_key(const void *key, const void *element)
{
    return strcmp(key, *(const char *const *)element);
}

static kn_status no_such_column(const import *im, const char *name, kn_error *err)
{
    kn_nearest near = {.text = name};
    for (int64_t i = 0; i < im->child_count; i++)
        if (im->schema.children[i]->name) kn_nearest_try(&near, im->schema.children[i]->name);
    return kn_fail(err, im->csv ? KN_INPUT : KN_USAGE, "%.300s: there is no column \"%.200s\"%s%.200s%s", im->name,
                   name, KN_MEANT(near));
}

/* No two columns have the same name, and every requested column exists. */
static kn_status check_names(const import *im, kn_error *err)
{
    const char **labels = kn_alloc_array(im->ctx, (size_t)im->column_count + 1, sizeof *labels);
    if (!labels) return kn_fail_memory(err, im->ctx, WHAT);
    size_t count = (size_t)im->column_count;
    for (size_t i = 0; i < count; i++) labels[i] = im->columns[i].label;
    qsort(labels, count, sizeof *labels, by_label);
    kn_status st = KN_OK;
    for (size_t i = 1; i < count && st == KN_OK; i++)
        if (strcmp(labels[i - 1], labels[i]) == 0)
            st = kn_fail(err, KN_INPUT, "Arrow stream: two columns are named \"%.200s\"", labels[i]);
    for (int i = 0; im->options.columns && i < im->options.column_count && st == KN_OK; i++)
        if (!bsearch(im->options.columns[i], labels, count, sizeof *labels, by_key))
            st = no_such_column(im, im->options.columns[i], err);
    if (st == KN_OK && im->options.count && !bsearch(im->options.count, labels, count, sizeof *labels, by_key))
        st = no_such_column(im, im->options.count, err);
    if (st == KN_OK && im->options.count && count == 1)
        st = kn_fail(err, KN_USAGE, "Arrow stream: there is no column but that of counts");
    kn_free(labels);
    return st;
}

static kn_status check_top(const struct ArrowSchema *schema, kn_error *err)
{
    if (!schema->release) return kn_fail(err, KN_INPUT, "Arrow stream: its schema was released");
    if (!schema->format || strcmp(schema->format, "+s") != 0 || schema->dictionary)
        return kn_fail(err, KN_INPUT, "Arrow stream: not a stream of tables (a struct of columns, format \"+s\")");
    if (schema->n_children < 0 || schema->n_children > INT32_MAX - 1 || (schema->n_children > 0 && !schema->children))
        return kn_fail(err, KN_INPUT, "Arrow stream: its schema has a wrong number of columns");
    if (schema->n_children == 0) return kn_fail(err, KN_INPUT, "Arrow stream: there are no columns");
    return KN_OK;
}

static bool has_cache(const kn_arrow_format *format)
{
    return format->kind == KN_ARROW_BOOL || (format->width >= 1 && format->width <= 8 && format->kind != KN_ARROW_UTF8);
}

/* Texts of a dictionary are looked up once as it is. */
static bool has_texts(const column *c)
{
    return !c->encoded && (c->value.kind == KN_ARROW_UTF8 || c->value.kind == KN_ARROW_VIEW);
}

/* The columns of a CSV file come in the order in which they are asked for. */
static void order_as_asked(import *im)
{
    int done = 0;
    for (int i = 0; im->options.columns && i < im->options.column_count; i++)
        for (int c = done; c < im->column_count; c++) {
            if (strcmp(im->columns[c].label, im->options.columns[i]) != 0) continue;
            column found = im->columns[c];
            im->columns[c] = im->columns[done];
            im->columns[done++] = found;
            break;
        }
}

static kn_status read_schema(import *im, kn_error *err)
{
    KN_TRY(check_top(&im->schema, err));
    im->child_count = im->schema.n_children;
    im->columns = kn_alloc_array_zero(im->ctx, (size_t)im->child_count, sizeof *im->columns);
    if (!im->columns) return kn_fail_memory(err, im->ctx, WHAT);
    for (int64_t i = 0; i < im->child_count; i++) {
        const struct ArrowSchema *child = im->schema.children[i];
        if (!child || !child->release)
            return kn_fail(err, KN_INPUT, "Arrow stream: the schema of column %" PRId64 " is missing", i + 1);
        column *c = &im->columns[im->column_count];
        *c = (column){.child = i};
        kn_status st = name_column(im, c, child, err);
        if (st == KN_OK && wanted(im, c->label)) {
            im->column_count++;
            KN_TRY(parse_column(c, child, err));
            continue;
        }
        kn_free(c->label);
        c->label = NULL;
        KN_TRY(st);
    }
    KN_TRY(check_names(im, err));
    if (im->csv) order_as_asked(im);
    return KN_OK;
}

/* The storage that lives as long as the import, and the builder. */
static kn_status prepare(import *im, kn_error *err)
{
    im->chunk_rows = IDS_BYTES / 4 / im->column_count;
    if (im->chunk_rows > CHUNK_ROWS) im->chunk_rows = CHUNK_ROWS;
    if (im->chunk_rows < CHUNK_LEAST) im->chunk_rows = CHUNK_LEAST;
    im->ids = kn_alloc_array(im->ctx, (size_t)im->column_count * (size_t)im->chunk_rows, sizeof *im->ids);
    kn_string *names = kn_alloc_array(im->ctx, (size_t)im->column_count, sizeof *names);
    kn_status  st = im->ids && names ? KN_OK : kn_fail_memory(err, im->ctx, WHAT);
    for (int i = 0; i < im->column_count && st == KN_OK; i++) {
        column *c = &im->columns[i];
        names[i] = kn_string_of(c->label);
        if ((has_cache(&c->value) && !KN_ALLOC_ZERO(im->ctx, c->cache, (size_t)1 << CACHE_BITS)) ||
            (has_texts(c) && !KN_ALLOC_ZERO(im->ctx, c->texts, (size_t)1 << CACHE_BITS)))
            st = kn_fail_memory(err, im->ctx, WHAT);
    }
    if (st == KN_OK) st = kn_builder_create(&im->builder, im->ctx, names, im->column_count, 1, err);
    for (int i = 0; i < im->column_count && st == KN_OK; i++) {
        im->columns[i].interner = kn_builder_interner(im->builder, i, 0);
        im->columns[i].counts = im->options.count && strcmp(im->columns[i].label, im->options.count) == 0;
        if (im->columns[i].counts) kn_builder_set_count(im->builder, i);
    }
    kn_free(names);
    return st;
}

/* ---- Checking a batch ---- */

static kn_status open_column(import *im, column *c, kn_error *err)
{
    const struct ArrowArray *a = im->array.children[c->child];
    const char              *reason =
        kn_arrow_open(&c->rows, a, c->encoded ? &c->index : &c->value, im->array.offset, im->array.length);
    if (reason) return fail_column(im, c, reason, err);
    if (!c->encoded) {
        if (a->dictionary) return fail_column(im, c, "a dictionary that the schema does not have", err);
        return KN_OK;
    }
    if (!a->dictionary) return fail_column(im, c, "the dictionary is missing", err);
    if (a->dictionary->dictionary) return fail_column(im, c, "the dictionary has a dictionary of its own", err);
    reason = kn_arrow_open(&c->dict, a->dictionary, &c->value, 0, a->dictionary->length);
    if (reason) return fail_column(im, c, reason, err);
    /* A dictionary much longer than the batch (a producer may send a large one along with every small batch) is looked up
     * row by row: preparing a table for it each time would cost more than the rows. */
    c->use_known = c->dict.length <= 2 * im->array.length;
    if (!c->use_known || c->dict.length == 0) return KN_OK;
    void *known = c->known;
    if (!kn_grow(im->ctx, &known, &c->known_capacity, (size_t)c->dict.length, sizeof *c->known))
        return kn_fail_memory(err, im->ctx, WHAT);
    c->known = known;
    memset(c->known, 0, (size_t)c->dict.length * sizeof *c->known);
    return KN_OK;
}

static kn_status open_batch(import *im, kn_error *err)
{
    const struct ArrowArray *a = &im->array;
    const char              *reason = kn_arrow_check(a, 0);
    if (!reason && a->n_buffers != 1) reason = "a wrong number of buffers";
    if (!reason && (a->n_children != im->child_count || !a->children)) reason = "a wrong number of columns";
    if (!reason && a->dictionary) reason = "a dictionary that the schema does not have";
    if (!reason && a->null_count > 0 && !a->buffers[0]) reason = "nulls without a bitmap";
    if (reason) return kn_fail(err, KN_INPUT, "Arrow stream: batch %" PRId64 ": %s", im->batch, reason);
    const uint8_t *validity = a->buffers[0];
    for (int64_t i = 0; validity && i < a->length; i++)
        if (!kn_arrow_bit(validity, a->offset + i))
            return kn_fail(err, KN_INPUT, "Arrow stream: batch %" PRId64 ", row %" PRId64 ": the row itself is null",
                           im->batch, i + 1);
    for (int i = 0; i < im->column_count; i++) KN_TRY(open_column(im, &im->columns[i], err));
    return KN_OK;
}

/* ---- Cells ---- */

static bool is_na(const import *im, kn_string text)
{
    text = kn_value_trim(text);
    for (int i = 0; i < im->na_count; i++)
        if (kn_string_equal(text, im->na[i])) return true;
    return false;
}

static kn_status intern(const import *im, column *c, kn_string text, uint32_t *id, kn_error *err)
{
    *id = kn_intern(c->interner, text);
    return *id == KN_ID_FAILED ? kn_fail_memory(err, im->ctx, WHAT) : KN_OK;
}

static kn_status new_text_id(const import *im, column *c, kn_string text, int64_t row, uint32_t *id, kn_error *err)
{
    const char *reason = kn_arrow_text_reason(text);
    if (reason) return fail_cell(im, c, row, reason, err);
    *id = KN_ID_MISSING;
    if (im->csv && im->csv->guarded) text = kn_csv_unguarded(text);
    if (im->na_count > 0 && is_na(im, text)) return KN_OK;
    return intern(im, c, text, id, err);
}

static uint64_t load(const char *from, size_t size)
{
    uint64_t word = 0;
    if (size == 8)
        memcpy(&word, from, 8);
    else
        memcpy(&word, from, 4);
    return word;
}

static short_text short_text_of(kn_string t)
{
    const unsigned char *b = (const unsigned char *)t.data;
    size_t               n = t.size;
    if (n >= 8) return (short_text){load(t.data, 8), load(t.data + n - 8, 8), (uint32_t)n, 0};
    if (n >= 4) return (short_text){load(t.data, 4), load(t.data + n - 4, 4), (uint32_t)n, 0};
    return (short_text){b[0] | (uint64_t)b[n / 2] << 8 | (uint64_t)b[n - 1] << 16, 0, (uint32_t)n, 0};
}

static kn_status text_id(const import *im, column *c, const kn_arrow_view *v, int64_t at, int64_t row, uint32_t *id,
                         kn_error *err)
{
    kn_string   text = {NULL, 0};
    const char *reason = kn_arrow_bytes_at(v, &c->value, at, &text);
    if (reason) return fail_cell(im, c, row, reason, err);
    if (!c->texts || text.size == 0 || text.size > SHORT) return new_text_id(im, c, text, row, id, err);
    short_text  key = short_text_of(text);
    short_text *place = &c->texts[kn_hash_word(key.low ^ (key.high << 7 | key.size)) >> (64 - CACHE_BITS)];
    if (place->low != key.low || place->high != key.high || place->size != key.size) {
        KN_TRY(new_text_id(im, c, text, row, &key.id, err));
        *place = key;
    }
    *id = place->id;
    return KN_OK;
}

static kn_status truth_id(const import *im, column *c, bool value, uint32_t *id, kn_error *err)
{
    kn_string text = kn_string_of(value ? "true" : "false");
    *id = KN_ID_MISSING;
    return im->csv && is_na(im, text) ? KN_OK : intern(im, c, text, id, err);
}

static kn_status fixed_id(const import *im, column *c, const uint8_t *from, int64_t row, uint32_t *id, kn_error *err)
{
    kn_arrow_cell cell;
    kn_arrow_cell_text(&cell, &c->value, from);
    if (cell.reason) return fail_cell(im, c, row, cell.reason, err);
    c->wide |= cell.wide;
    *id = KN_ID_MISSING;
    if (cell.nan || (im->csv && !c->counts && is_na(im, (kn_string){cell.text, cell.size}))) return KN_OK;
    return intern(im, c, (kn_string){cell.text, cell.size}, id, err);
}

/* The id of the valid value at an absolute index of `v`, which holds values (rows, or a dictionary). */
static kn_status value_id(const import *im, column *c, const kn_arrow_view *v, int64_t at, int64_t row, uint32_t *id,
                          kn_error *err)
{
    if (c->value.kind == KN_ARROW_UTF8 || c->value.kind == KN_ARROW_VIEW) return text_id(im, c, v, at, row, id, err);
    const uint8_t *from = v->data + at * c->value.width;
    if (!c->cache) return fixed_id(im, c, from, row, id, err);
    uint64_t key =
        c->value.kind == KN_ARROW_BOOL ? kn_arrow_bit(v->data, at) : kn_arrow_load_unsigned(from, c->value.width);
    cached *place = &c->cache[kn_hash_word(key) >> (64 - CACHE_BITS)];
    if (place->id != KN_ID_MISSING && place->key == key) {
        *id = place->id;
        return KN_OK;
    }
    if (c->value.kind == KN_ARROW_BOOL)
        KN_TRY(truth_id(im, c, key != 0, id, err));
    else
        KN_TRY(fixed_id(im, c, from, row, id, err));
    *place = (cached){key, *id};
    return KN_OK;
}

/* A cell without a value is a missing one, if there is a text for it. */
static kn_status null_cell(const import *im, const column *c, int64_t row, kn_error *err)
{
    return im->no_nulls ? fail_cell(im, c, row, KN_ARROW_NO_NULLS, err) : KN_OK;
}

/* NaN becomes missing here and is counted per row, even if it is in a dictionary. */
static bool is_nan_at(const column *c, const kn_arrow_view *v, int64_t at)
{
    if (c->value.kind != KN_ARROW_FLOAT) return false;
    uint64_t bits = kn_arrow_load_unsigned(v->data + at * c->value.width, c->value.width);
    if (c->value.width == 8) return (bits & INT64_MAX) > UINT64_C(0x7ff0000000000000);
    if (c->value.width == 4) return (bits & INT32_MAX) > 0x7f800000u;
    return (bits & 0x7fff) > 0x7c00;
}

static kn_status encoded_id(const import *im, column *c, int64_t row, uint32_t *id, kn_error *err)
{
    const uint8_t *from = c->rows.data + (c->rows.start + row) * c->index.width;
    uint64_t       index = c->index.kind == KN_ARROW_SIGNED ? (uint64_t)kn_arrow_load_signed(from, c->index.width)
                                                            : kn_arrow_load_unsigned(from, c->index.width);
    if (index >= (uint64_t)c->dict.length) return fail_cell(im, c, row, "an index outside the dictionary", err);
    int64_t at = c->dict.start + (int64_t)index;
    *id = KN_ID_MISSING;
    if (c->value.kind == KN_ARROW_NULL || !kn_arrow_valid(&c->dict, at)) return null_cell(im, c, row, err);
    if (is_nan_at(c, &c->dict, at)) {
        c->nan_count++;
        return null_cell(im, c, row, err);
    }
    if (c->use_known && c->known[index]) {
        *id = c->known[index] - 1;
        return KN_OK;
    }
    KN_TRY(value_id(im, c, &c->dict, at, row, id, err));
    if (c->use_known) c->known[index] = *id + 1;
    return KN_OK;
}

/* One column's rows of the current chunk → ids. */
static kn_status read_column(const import *im, column *c, uint32_t *ids, kn_error *err)
{
    bool utf8 = !c->encoded && c->value.kind == KN_ARROW_UTF8;
    for (int64_t i = 0; i < im->chunk_size; i++) {
        int64_t row = im->chunk_first + i, at = c->rows.start + row;
        ids[i] = KN_ID_MISSING;
        if (!c->encoded && c->value.kind == KN_ARROW_NULL) {
            KN_TRY(null_cell(im, c, row, err));
            continue;
        }
        if (!kn_arrow_valid(&c->rows, at)) {
            /* A null has no text, but its offsets must be ascending like all others. */
            int width = c->value.width;
            if (utf8 && kn_arrow_load_signed(c->rows.data + (at + 1) * width, width) <
                            kn_arrow_load_signed(c->rows.data + at * width, width))
                return fail_cell(im, c, row, "text offsets that run backwards", err);
            KN_TRY(null_cell(im, c, row, err));
            continue;
        }
        if (c->encoded) {
            KN_TRY(encoded_id(im, c, row, &ids[i], err));
        } else if (is_nan_at(c, &c->rows, at)) {
            c->nan_count++;
            KN_TRY(null_cell(im, c, row, err));
        } else {
            KN_TRY(value_id(im, c, &c->rows, at, row, &ids[i], err));
        }
    }
    return KN_OK;
}

static kn_status read_columns(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    (void)worker;
    const import *im = arg;
    for (int64_t i = begin; i < end; i++) KN_TRY(read_column(im, &im->columns[i], im->ids + i * im->chunk_rows, err));
    return KN_OK;
}

static kn_status read_batch(import *im, kn_error *err)
{
    KN_TRY(open_batch(im, err));
    for (im->chunk_first = 0; im->chunk_first < im->array.length; im->chunk_first += im->chunk_size) {
        im->chunk_size = im->array.length - im->chunk_first;
        if (im->chunk_size > im->chunk_rows) im->chunk_size = im->chunk_rows;
        KN_TRY(kn_parallel_for(im->ctx, im->column_count, 1, read_columns, im, err));
        int64_t first;
        KN_TRY(kn_builder_extend(im->builder, im->chunk_size, 0, &first, err));
        for (int i = 0; i < im->column_count; i++)
            kn_builder_write(im->builder, i, first, im->ids + i * im->chunk_rows, im->chunk_size);
        kn_progress_add(im->ctx, (uint64_t)im->chunk_size);
    }
    return KN_OK;
}

/* ---- The whole ---- */

static kn_status read_stream(import *im, struct ArrowArrayStream *stream, kn_error *err)
{
    if (!stream->get_schema || !stream->get_next) return kn_fail(err, KN_USAGE, "Arrow stream: it has no callbacks");
    int code = stream->get_schema(stream, &im->schema);
    if (code != 0) {
        im->schema.release = NULL; /* what a failed call left behind is not ours */
        return fail_producer(im, stream, code, "giving its schema", err);
    }
    KN_TRY(read_schema(im, err));
    KN_TRY(prepare(im, err));
    for (im->batch = 1;; im->batch++) {
        if (kn_cancelled(im->ctx)) return kn_fail_cancelled(err);
        im->array = (struct ArrowArray){.length = 0};
        code = stream->get_next(stream, &im->array);
        if (code != 0) {
            im->array.release = NULL;
            return fail_producer(im, stream, code, "giving its next batch", err);
        }
        if (!im->array.release) return KN_OK;
        KN_TRY(read_batch(im, err));
        im->array.release(&im->array);
        im->array.release = NULL;
    }
}

static kn_builder_type column_type(const import *im, const column *c)
{
    for (int i = 0; im->csv && i < im->csv->type_count; i++)
        if (strcmp(im->csv->types[i].column, c->label) == 0 && im->csv->types[i].type != KN_TYPE_AUTO)
            return (kn_builder_type){im->csv->types[i].type, im->csv->types[i].format};
    if (im->csv) return (kn_builder_type){KN_TYPE_AUTO, NULL}; /* what the texts say, as the verifier reads them */
    switch (c->value.kind) {
    case KN_ARROW_SIGNED: return (kn_builder_type){KN_TYPE_INTEGER, NULL};
    case KN_ARROW_UNSIGNED: return (kn_builder_type){c->wide ? KN_TYPE_DECIMAL : KN_TYPE_INTEGER, NULL};
    case KN_ARROW_FLOAT:
    case KN_ARROW_DECIMAL: return (kn_builder_type){KN_TYPE_DECIMAL, NULL};
    case KN_ARROW_DATE: return (kn_builder_type){KN_TYPE_DATE, ISO_DATE};
    case KN_ARROW_TIMESTAMP: return (kn_builder_type){KN_TYPE_DATETIME, ISO_DATETIME};
    case KN_ARROW_UTF8:
    case KN_ARROW_VIEW: return (kn_builder_type){im->options.infer_text ? KN_TYPE_AUTO : KN_TYPE_TEXT, NULL};
    case KN_ARROW_NULL:
    case KN_ARROW_BOOL:
    case KN_ARROW_TIME: break;
    }
    return (kn_builder_type){KN_TYPE_TEXT, NULL};
}

static kn_status finish(import *im, kn_table **out, kn_error *err)
{
    kn_builder_type *types = kn_alloc_array(im->ctx, (size_t)im->column_count, sizeof *types);
    if (!types) return kn_fail_memory(err, im->ctx, WHAT);
    int64_t nan_count = 0;
    for (int i = 0; i < im->column_count; i++) {
        types[i] = column_type(im, &im->columns[i]);
        nan_count += im->columns[i].nan_count;
    }
    kn_value_rules rules = {.decimal = im->csv && im->csv->decimal ? im->csv->decimal : '.', .timezone = im->zone};
    kn_builder    *builder = im->builder;
    im->builder = NULL; /* finishing ends it */
    kn_status st = kn_builder_finish(out, builder, types, &rules, err);
    kn_free(types);
    if (st == KN_OK && im->options.nan_count) *im->options.nan_count = nan_count;
    return st;
}

static kn_status read_options(import *im, const kn_arrow_options *options, kn_error *err)
{
    im->options = (kn_arrow_options)KN_ARROW_OPTIONS_INIT;
    KN_TRY(kn_options_take(&im->options, sizeof im->options, options, "Arrow options", err));
    options = &im->options;
    if (options->columns && options->column_count <= 0)
        return kn_fail(err, KN_USAGE, "Arrow options: no column is asked for");
    if (options->timezone) KN_TRY(kn_timezone_open(&im->zone, im->ctx, options->timezone, err));
    if (!options->na) return KN_OK;
    int count = options->na_count;
    if (count < 0)
        for (count = 0; options->na[count];) count++;
    im->na = kn_alloc_array(im->ctx, (size_t)count, sizeof *im->na);
    if (!im->na) return kn_fail_memory(err, im->ctx, WHAT);
    for (int i = 0; i < count; i++) im->na[i] = kn_value_trim(kn_string_of(options->na[i])); /* as cells are */
    im->na_count = count;
    im->no_nulls = im->csv != NULL;
    for (int i = 0; i < count; i++) im->no_nulls = im->no_nulls && im->na[i].size > 0;
    return KN_OK;
}

/* Releases everything of the producer's, and what only reading needed. */
static void end_reading(import *im, struct ArrowArrayStream *stream)
{
    if (im->array.release) im->array.release(&im->array);
    if (im->schema.release) im->schema.release(&im->schema);
    if (stream->release) stream->release(stream);
    for (int i = 0; i < im->column_count; i++) {
        kn_free(im->columns[i].cache);
        kn_free(im->columns[i].texts);
        kn_free(im->columns[i].known);
    }
    kn_free(im->ids);
}

static kn_status import_stream(kn_table **out, kn_context *ctx, struct ArrowArrayStream *stream,
                               const kn_arrow_options *options, const kn_csv_options *csv, const char *name,
                               kn_error *err)
{
    KN_SERVE(ctx, err);
import im = {.ctx = ctx, .csv = csv, .name = name ? name: "Arrow stream", .ours = name != NULL };
    kn_status st = read_options(&im, options, err);
    kn_progress_begin(ctx, "reading", "rows", 0);
    if (st == KN_OK) st = read_stream(&im, stream, err);
    end_reading(&im, stream); /* before the table is finished: the producer may hold as much memory as it */
    kn_progress_end(ctx);
    if (st == KN_OK) st = finish(&im, out, err);
    kn_builder_free(im.builder);
    for (int i = 0; i < im.column_count; i++) kn_free(im.columns[i].label);
    kn_free(im.columns);
    kn_free(im.na);
    kn_timezone_free(im.zone);
    return st;
}

kn_status kn_table_import_arrow(kn_table **out, kn_context *ctx, struct ArrowArrayStream *stream,
                                const kn_arrow_options *options, kn_error *err)
{
    *out = NULL;
    if (!stream || !stream->release) return kn_fail(err, KN_USAGE, "Arrow stream: it was already released");
    kn_status st = import_stream(out, ctx, stream, options, NULL, NULL, err);
    if (stream->release) stream->release(stream); /* a busy context */
    return st;
}

kn_status kn_arrow_import_as_csv(kn_table **out, kn_context *ctx, struct ArrowArrayStream *stream,
                                 const kn_csv_options *csv, const char *name, kn_error *err)
{
    kn_csv_options   usual = KN_CSV_OPTIONS_INIT;
    kn_arrow_options options = KN_ARROW_OPTIONS_INIT;
    if (!csv) csv = &usual;
    options.columns = csv->columns;
    options.column_count = csv->column_count;
    options.infer_text = true;
    options.na = csv->na ? csv->na : kn_default_na();
    options.na_count = csv->na ? csv->na_count : -1;
    options.timezone = csv->timezone;
    options.count = csv->count;
    *out = NULL;
    return import_stream(out, ctx, stream, &options, csv, name, err);
}
