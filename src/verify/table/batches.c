/* table/batches.c: a table as Arrow batches → the distinct texts of each column, and the number of the text in every row.
 *
 * The verifier's own reader of Arrow batches: of io it uses the stream (kn_columnar.h), the checked buffers and the text of
 * one cell. Columns are read in parallel, each from its first row to its last, so texts are numbered in the order of
 * their first rows. A missing cell is the empty text, as in a CSV file; if the spec does not treat that as missing, such
 * a cell is refused.
 *
 * The batches of a table in memory are there anyway, and are read at once; those that DuckDB makes, a window at a time.
 *
 * Cost: one pass; numbers and dates have a small cache from values to text numbers, dictionaries a number per entry.
 * Memory: 4 bytes per cell of a column while it is read, then 1, 2 or 4; the distinct texts; the window.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>

#include "kn_alloc.h"
#include "kn_arrow.h"
#include "kn_columnar.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_memory.h"
#include "kn_parallel.h"
#include "kn_verify_internal.h"

enum { CACHE_BITS = 10, CHECK_EVERY = 1 << 16, WINDOW = 64 };

typedef struct cached {
    uint64_t key;
    uint32_t code; /* KN_V_NONE: an empty place */
} cached;

/* One column being read. */
typedef struct column {
    kn_vtable               *table;
    const char              *source, *name;
    int64_t                  child;
    bool                     encoded;
    kn_arrow_format          index, value;
    kn_texts                *texts;
    uint32_t                *codes;
    size_t                   capacity;
    bool                     empty;      /* the empty text is a missing cell */
    bool                     made;       /* DuckDB made the buffers: only what they show is the table's */
    cached                  *cache;      /* NULL: texts                      */
    const struct ArrowArray *dictionary; /* the one of `known`; NULL: none */
    uint32_t                *known;      /* per entry: its code, or KN_V_NONE */
    size_t                   known_capacity;
    uint8_t                 *marks; /* KN_VMARK_*; NULL: not wanted               */
    bool                     nulls, empties;
} column;

typedef struct reading {
    const kn_vread_options *options;
    kn_vtable              *table;
    const char             *name, *path;
    bool                    made; /* by DuckDB: its batches end with the window */
    struct ArrowArrayStream stream;
    struct ArrowSchema      schema;
    struct ArrowArray      *arrays; /* the window                       */
    size_t                  count, capacity;
    int64_t                 before;  /* rows before the window           */
    column                 *columns; /* that are kept                    */
    int                    *place;   /* per kept column: index of the child */
    uint8_t                *marks;   /* per kept column; NULL: not wanted */
} reading;

static kn_status no_memory(const kn_vtable *t, kn_error *err)
{
    return kn_fail_memory(err, t->ctx, "verifying");
}

static kn_status fail_cell(const column *c, const char *reason, kn_error *err)
{
    return kn_fail(err, KN_INPUT, "%.300s: column \"%.200s\": %s", c->source, c->name, reason);
}

/* ---- Cells ---- */

static kn_status add_text(const column *c, kn_string text, uint32_t *code, kn_error *err)
{
    *code = kn_texts_add(c->texts, text, true);
    return *code == KN_V_NONE ? no_memory(c->table, err) : KN_OK;
}

static kn_status missing_cell(column *c, uint32_t *code, kn_error *err)
{
    c->nulls = true;
    if (!c->empty) return fail_cell(c, KN_ARROW_NO_NULLS, err);
    return add_text(c, (kn_string){"", 0}, code, err);
}

static bool is_zero(const uint8_t *bytes, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        if (bytes[i] != 0) return false;
    return true;
}

static kn_status fixed_cell(column *c, const uint8_t *from, uint32_t *code, kn_error *err)
{
    kn_arrow_cell cell;
    kn_arrow_cell_text(&cell, &c->value, from);
    if (cell.reason) return fail_cell(c, cell.reason, err);
    if (cell.nan && c->marks) *c->marks |= KN_VMARK_HIDDEN; /* NaN has many bit patterns */
    if (cell.nan) return missing_cell(c, code, err);
    if (c->marks && c->value.kind == KN_ARROW_FLOAT && cell.size == 1 && cell.text[0] == '0' &&
        !is_zero(from, c->value.width))
        *c->marks |= KN_VMARK_ZERO;
    return add_text(c, (kn_string){cell.text, cell.size}, code, err);
}

/* Does a view contain only its text, or the first four bytes of it, and zeros after a short one? */
static bool is_plain_view(const uint8_t *record, kn_string text)
{
    if (text.size > 12) return memcmp(record + 4, text.data, 4) == 0;
    return is_zero(record + 4 + text.size, 12 - (int64_t)text.size);
}

/* The valid cell at an absolute index of an array of values. */
static kn_status value_cell(column *c, const kn_arrow_view *v, int64_t at, uint32_t *code, kn_error *err)
{
    const kn_arrow_format *f = &c->value;
    if (f->kind == KN_ARROW_UTF8 || f->kind == KN_ARROW_VIEW) {
        kn_string   text = {NULL, 0};
        const char *reason = kn_arrow_text_at(v, f, at, &text);
        c->empties = c->empties || text.size == 0;
        if (c->marks && !c->made && !reason && f->kind == KN_ARROW_VIEW &&
            !is_plain_view(v->data + at * f->width, text))
            *c->marks |= KN_VMARK_MORE;
        return reason ? fail_cell(c, reason, err) : add_text(c, text, code, err);
    }
    const uint8_t *from = v->data + at * f->width;
    if (!c->cache) return fixed_cell(c, from, code, err);
    uint64_t key = f->kind == KN_ARROW_BOOL ? kn_arrow_bit(v->data, at) : kn_arrow_load_unsigned(from, f->width);
    cached  *place = &c->cache[kn_hash_word(key) >> (64 - CACHE_BITS)];
    if (place->code == KN_V_NONE || place->key != key) {
        uint32_t fresh = 0;
        if (f->kind == KN_ARROW_BOOL)
            KN_TRY(add_text(c, kn_string_of(key ? "true" : "false"), &fresh, err));
        else
            KN_TRY(fixed_cell(c, from, &fresh, err));
        *place = (cached){key, fresh};
    }
    *code = place->code;
    return KN_OK;
}

/* Is there data behind a missing cell? There should be none. */
static bool is_hidden(const column *c, const kn_arrow_view *v, int64_t at)
{
    const kn_arrow_format *f = c->encoded ? &c->index : &c->value;
    if (!c->marks || c->made || f->kind == KN_ARROW_NULL) return false;
    if (f->kind == KN_ARROW_BOOL) return kn_arrow_bit(v->data, at);
    const uint8_t *from = v->data + at * f->width;
    if (f->kind == KN_ARROW_UTF8) return memcmp(from, from + f->width, (size_t)f->width) != 0;
    return !is_zero(from, f->width);
}

static kn_status null_cell(column *c, const kn_arrow_view *v, int64_t at, uint32_t *code, kn_error *err)
{
    if (is_hidden(c, v, at)) *c->marks |= KN_VMARK_HIDDEN;
    return missing_cell(c, code, err);
}

static kn_status row_cell(column *c, const kn_arrow_view *rows, const kn_arrow_view *dict, int64_t row, uint32_t *code,
                          kn_error *err)
{
    int64_t at = rows->start + row;
    bool    there = c->value.kind != KN_ARROW_NULL && kn_arrow_valid(rows, at);
    if (!c->encoded) return there ? value_cell(c, rows, at, code, err) : null_cell(c, rows, at, code, err);
    if (!kn_arrow_valid(rows, at)) return null_cell(c, rows, at, code, err);
    const uint8_t *from = rows->data + at * c->index.width;
    uint64_t       index = c->index.kind == KN_ARROW_SIGNED ? (uint64_t)kn_arrow_load_signed(from, c->index.width)
                                                            : kn_arrow_load_unsigned(from, c->index.width);
    if (index >= (uint64_t)dict->length) return fail_cell(c, "an index outside the dictionary", err);
    int64_t entry = dict->start + (int64_t)index;
    if (c->known[index] == KN_V_NONE) {
        bool valid = c->value.kind != KN_ARROW_NULL && kn_arrow_valid(dict, entry);
        KN_TRY(valid ? value_cell(c, dict, entry, &c->known[index], err) : missing_cell(c, &c->known[index], err));
    }
    *code = c->known[index];
    return KN_OK;
}

/* ---- Batches ---- */

/* Batches usually share their dictionary. */
static bool is_same(const struct ArrowArray *a, const struct ArrowArray *b)
{
    bool same = a && a->length == b->length && a->offset == b->offset && a->n_buffers == b->n_buffers;
    for (int64_t i = 0; same && i < a->n_buffers; i++) same = a->buffers[i] == b->buffers[i];
    return same;
}

/* After all rows of a dictionary: does it contain what they show, and nothing else? */
static kn_status close_dictionary(column *c, kn_error *err)
{
    const struct ArrowArray *d = c->dictionary;
    c->dictionary = NULL;
    if (!d || !c->marks || c->made) return KN_OK;
    bool *seen = kn_alloc_array_zero(c->table->ctx, (size_t)c->texts->count + 1, sizeof *seen);
    if (!seen) return no_memory(c->table, err);
    for (int64_t i = 0; i < d->length; i++) {
        bool shown = c->known[i] != KN_V_NONE;
        if (!shown) *c->marks |= KN_VMARK_UNUSED;
        if (shown && seen[c->known[i]]) *c->marks |= KN_VMARK_TWICE;
        if (shown) seen[c->known[i]] = true;
    }
    kn_free(seen);
    return KN_OK;
}

/* Do the texts begin after the start of the buffer? */
static bool begins_late(const kn_arrow_view *v, const kn_arrow_format *f)
{
    if (v->start != 0) return true;
    return f->kind == KN_ARROW_UTF8 && v->length > 0 && kn_arrow_load_signed(v->data, f->width) != 0;
}

static kn_status open_dictionary(column *c, const struct ArrowArray *a, kn_arrow_view *dict, kn_error *err)
{
    const struct ArrowArray *d = a->dictionary;
    if (!d || d->dictionary) return fail_cell(c, "its dictionary is missing or has one of its own", err);
    const char *reason = kn_arrow_open(dict, d, &c->value, 0, d->length);
    if (reason) return fail_cell(c, reason, err);
    if (c->marks && !c->made && begins_late(dict, &c->value)) *c->marks |= KN_VMARK_MORE;
    if (is_same(c->dictionary, d)) return KN_OK;
    KN_TRY(close_dictionary(c, err));
    void *known = c->known;
    if (!kn_grow(c->table->ctx, &known, &c->known_capacity, (size_t)d->length + 1, sizeof *c->known))
        return no_memory(c->table, err);
    c->known = known;
    c->dictionary = d;
    for (int64_t i = 0; i < d->length; i++) c->known[i] = KN_V_NONE;
    return KN_OK;
}

static kn_status read_batch(column *c, const struct ArrowArray *batch, uint32_t *codes, kn_error *err)
{
    const struct ArrowArray *a = batch->children[c->child];
    kn_arrow_view            rows, dict = {.length = 0};
    const char *reason = kn_arrow_open(&rows, a, c->encoded ? &c->index : &c->value, batch->offset, batch->length);
    if (reason) return fail_cell(c, reason, err);
    if (c->marks && !c->made && begins_late(&rows, c->encoded ? &c->index : &c->value)) *c->marks |= KN_VMARK_MORE;
    if (c->encoded) KN_TRY(open_dictionary(c, a, &dict, err));
    for (int64_t row = 0; row < batch->length; row++) {
        if (row % CHECK_EVERY == 0 && kn_cancelled(c->table->ctx)) return kn_fail_cancelled(err);
        KN_TRY(row_cell(c, &rows, &dict, row, &codes[row], err));
    }
    return KN_OK;
}

/* Stores codes as narrowly as the number of texts allows. */
static kn_status narrow(column *c, kn_vcolumn *out, kn_error *err)
{
    int64_t rows = c->table->rows;
    out->texts = c->texts->texts;
    out->count = c->texts->count;
    out->width = out->count <= 256 ? 1 : out->count <= 65536 ? 2 : 4;
    if (out->width == 4) {
        out->codes = c->codes;
        c->codes = NULL;
        return KN_OK;
    }
    out->codes = kn_alloc_array(c->table->ctx, (size_t)rows + 1, (size_t)out->width);
    if (!out->codes) return no_memory(c->table, err);
    for (int64_t row = 0; row < rows; row++) {
        if (out->width == 1)
            ((uint8_t *)out->codes)[row] = (uint8_t)c->codes[row];
        else
            ((uint16_t *)out->codes)[row] = (uint16_t)c->codes[row];
    }
    return KN_OK;
}

/* The column's part of the window. */
static kn_status read_column(const reading *r, column *c, kn_error *err)
{
    int64_t at = r->before;
    if (!KN_GROW(c->table->ctx, &c->codes, &c->capacity, (size_t)c->table->rows + 1)) return no_memory(c->table, err);
    for (size_t b = 0; b < r->count; b++) {
        KN_TRY(read_batch(c, &r->arrays[b], c->codes + at, err));
        at += r->arrays[b].length;
    }
    return r->made ? close_dictionary(c, err) : KN_OK;
}

static kn_status read_columns(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    const reading *r = arg;
    (void)worker;
    for (int64_t i = begin; i < end; i++) KN_TRY(read_column(r, &r->columns[i], err));
    return KN_OK;
}

/* After the last window. */
static kn_status finish_columns(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    const reading *r = arg;
    (void)worker;
    for (int64_t i = begin; i < end; i++) {
        column *c = &r->columns[i];
        KN_TRY(close_dictionary(c, err));
        if (c->marks && c->nulls && c->empties) *c->marks |= KN_VMARK_EMPTY;
        KN_TRY(narrow(c, &r->table->columns[i], err));
        r->table->columns[i].mixed = c->nulls && c->empties;
    }
    return KN_OK;
}

/* ---- Columns ---- */

static kn_status open_column(column *c, const struct ArrowSchema *schema, kn_error *err)
{
    const struct ArrowSchema *values = schema->dictionary ? schema->dictionary : schema;
    c->encoded = schema->dictionary != NULL;
    bool good = (!c->encoded || (kn_arrow_format_parse(schema->format, &c->index) && kn_arrow_is_integer(&c->index))) &&
                kn_arrow_format_parse(values->format, &c->value) && values->n_children == 0 && !values->dictionary;
    if (!good) return fail_cell(c, "is of a type that kanon does not read", err);
    bool fixed = c->value.kind == KN_ARROW_BOOL ||
                 (c->value.width >= 1 && c->value.width <= 8 && c->value.kind != KN_ARROW_UTF8);
    if (!fixed) return KN_OK;
    c->cache = kn_alloc_array(c->table->ctx, (size_t)1 << CACHE_BITS, sizeof *c->cache);
    for (size_t i = 0; c->cache && i < (size_t)1 << CACHE_BITS; i++) c->cache[i].code = KN_V_NONE;
    return c->cache ? KN_OK : no_memory(c->table, err);
}

static kn_status open_columns(reading *r, kn_error *err)
{
    kn_vtable *t = r->table;
    kn_spec    missing = {.csv = *r->options->csv};
    r->columns = kn_arena_array_zero(&t->arena, (size_t)t->column_count + 1, sizeof *r->columns);
    if (!r->columns) return no_memory(t, err);
    for (int i = 0; i < t->column_count; i++) {
        column *c = &r->columns[i];
        *c = (column){.table = t,
                      .source = r->made ? r->name : "Arrow stream",
                      .name = t->names[r->place[i]].data,
                      .child = r->place[i],
                      .texts = &t->texts[i],
                      .made = r->made,
                      .marks = r->marks ? &r->marks[i] : NULL,
                      .empty = kn_v_is_missing(&missing, (kn_string){"", 0})};
        KN_TRY(open_column(c, r->schema.children[c->child], err));
    }
    return KN_OK;
}

static kn_status check_schema(const reading *r, kn_error *err)
{
    const struct ArrowSchema *s = &r->schema;
    if (!s->release || !s->format || strcmp(s->format, "+s") != 0 || s->n_children < 1 || !s->children)
        return kn_fail(err, KN_INPUT, "%s: not a stream of tables (a struct of columns)", r->name);
    for (int64_t i = 0; i < s->n_children; i++)
        if (!s->children[i] || !s->children[i]->release)
            return kn_fail(err, KN_INPUT, "%s: the schema of column %" PRId64 " is missing", r->name, i + 1);
    return KN_OK;
}

static kn_status check_batch(const reading *r, const struct ArrowArray *a, size_t number, kn_error *err)
{
    const char *reason = kn_arrow_check(a, 0);
    if (!reason && (a->n_children != r->schema.n_children || !a->children || a->n_buffers != 1))
        reason = "a wrong number of columns or buffers";
    for (int64_t row = 0; !reason && a->buffers[0] && row < a->length; row++)
        if (!kn_arrow_bit(a->buffers[0], a->offset + row)) reason = "a row itself is null";
    return reason ? kn_fail(err, KN_INPUT, "%s: batch %zu: %s", r->name, number, reason) : KN_OK;
}

/* Columns without a name are named by position, as in a CSV file. */
static kn_status name_columns(reading *r, kn_error *err)
{
    kn_vtable *t = r->table;
    size_t     count = (size_t)r->schema.n_children;
    size_t     most = r->options->all ? count : (size_t)r->options->column_count;
    t->name_count = (int)count;
    t->names = kn_arena_alloc(&t->arena, count * sizeof *t->names);
    t->unnamed = kn_arena_alloc(&t->arena, count * sizeof *t->unnamed);
    t->kept = kn_arena_alloc(&t->arena, count * sizeof *t->kept);
    r->place = kn_arena_alloc(&t->arena, (count + 1) * sizeof *r->place);
    if (!t->names || !t->unnamed || !t->kept || !r->place) return no_memory(t, err);
    for (size_t i = 0; i < count; i++) {
        const char *name = r->schema.children[i]->name;
        char        by_place[32];
        snprintf(by_place, sizeof by_place, "c%zu", i + 1);
        t->unnamed[i] = !name || !*name;
        if (t->unnamed[i]) name = by_place;
        char *copy = kn_arena_strndup(&t->arena, name, strlen(name));
        if (!copy) return no_memory(t, err);
        t->names[i] = kn_string_of(copy);
        t->kept[i] = -1;
        for (size_t j = 0; j < i; j++)
            if (kn_string_equal(t->names[i], t->names[j]))
                return kn_fail(err, KN_INPUT, "%s: columns %zu and %zu have the same name", r->name, j + 1, i + 1);
    }
    for (size_t i = 0; i < most + count; i++) { /* a digest covers all columns */
        int c = i >= most ? (int)(i - most) : r->options->all ? (int)i : kn_vtable_name(t, r->options->columns[i]);
        if (c < 0 || t->kept[c] >= 0 || (i >= most && !r->options->digest)) continue;
        r->place[t->column_count] = c;
        t->kept[c] = t->column_count++;
    }
    return KN_OK;
}

/* Checks what the batches in memory contain besides cells: names, metadata, and where each batch ends. */
static void look_around(const reading *r)
{
    const struct ArrowSchema *s = &r->schema;
    kn_vform                 *form = &r->table->form;
    bool                      metadata = s->metadata != NULL;
    for (int64_t i = 0; i < s->n_children; i++)
        metadata = metadata || s->children[i]->metadata ||
                   (s->children[i]->dictionary && s->children[i]->dictionary->metadata);
    if (metadata) form->wrapped = "metadata";
    for (size_t b = 1; b < r->count; b++) {
        int64_t length = r->arrays[b].length, first = r->arrays[0].length;
        form->uneven = form->uneven || length > first || (length < first && b + 1 < r->count);
    }
}

/* ---- Windows ---- */

static void end_window(reading *r)
{
    for (size_t b = 0; b < r->count; b++)
        if (r->arrays[b].release) r->arrays[b].release(&r->arrays[b]);
    r->count = 0;
    r->before = r->table->rows;
}

/* `code`: of the callback that failed. */
static kn_status fail_stream(reading *r, int code, kn_error *err)
{
    if (code == ENOMEM) return no_memory(r->table, err);
    const char *said = r->stream.get_last_error ? r->stream.get_last_error(&r->stream) : NULL;
    if (kn_cancelled(r->table->ctx)) return kn_fail_cancelled(err);
    return kn_fail(err, code == EIO ? KN_IO : KN_INPUT, "%.300s: %s", r->name, said ? said : "its rows cannot be read");
}

/* Takes batches until the window is full. *ended: there are no more. */
static kn_status take_window(reading *r, bool *ended, kn_error *err)
{
    size_t number = 0;
    for (*ended = false; !*ended && (!r->made || r->count < WINDOW);) {
        if (kn_cancelled(r->table->ctx)) return kn_fail_cancelled(err);
        if (!KN_GROW(r->table->ctx, &r->arrays, &r->capacity, r->count + 1)) return no_memory(r->table, err);
        struct ArrowArray *a = &r->arrays[r->count];
        *a = (struct ArrowArray){.length = 0};
        int code = r->stream.get_next(&r->stream, a);
        if (code != 0) return fail_stream(r, code, err);
        *ended = !a->release;
        if (*ended) break;
        r->count++;
        KN_TRY(check_batch(r, a, ++number, err));
        r->table->rows += a->length;
    }
    return KN_OK;
}

static kn_status prepare(reading *r, kn_error *err)
{
    kn_vtable *t = r->table;
    int        code = r->stream.get_schema(&r->stream, &r->schema);
    if (code != 0) return fail_stream(r, code, err);
    KN_TRY(check_schema(r, err));
    const char *useless = r->options->text ? NULL : kn_columnar_useless(&r->schema, r->options->csv);
    if (useless) return kn_fail(err, KN_USAGE, "%s: %s", r->name, useless);
    KN_TRY(name_columns(r, err));
    size_t columns = (size_t)t->column_count;
    t->columns = kn_arena_array_zero(&t->arena, columns + 1, sizeof *t->columns);
    t->texts = kn_arena_array_zero(&t->arena, columns + 1, sizeof *t->texts);
    t->form.quoted = kn_arena_array_zero(&t->arena, columns * KN_VFORM_KINDS + 1, sizeof *t->form.quoted);
    if (r->options->form) r->marks = kn_arena_array_zero(&t->arena, columns + 1, sizeof *r->marks);
    if (t->arena.failed) return no_memory(t, err);
    t->form.marks = r->marks;
    for (size_t i = 0; i < columns; i++) kn_texts_init(&t->texts[i], t->ctx);
    return open_columns(r, err);
}

static bool is_parquet(const reading *r)
{
    return kn_columnar_kind_of(r->table->ctx, r->path) == KN_COLUMNAR_PARQUET;
}

/* ... under one name, which is no pattern. */
static bool has_bytes(const reading *r)
{
    struct stat info;
    return is_parquet(r) && stat(kn_memory_path(r->table->ctx, r->path), &info) == 0;
}

/* Of a file or of parts their bytes'; of a table in memory or of a pattern that of its cells. */
static kn_status digest(const reading *r, kn_error *err)
{
    if (!has_bytes(r)) return kn_vtable_digest(r->table, err);
    kn_vdigest_file(kn_memory_path(r->table->ctx, r->path), r->table->sha256);
    return KN_OK;
}

kn_status kn_vtable_take_names(kn_vtable *t, const char *const *all, int count, kn_error *err)
{
    kn_string *names = kn_arena_array(&t->arena, (size_t)count + 1, sizeof *names);
    bool      *unnamed = kn_arena_array_zero(&t->arena, (size_t)count + 1, sizeof *unnamed);
    int       *kept = kn_arena_array(&t->arena, (size_t)count + 1, sizeof *kept);
    if (t->arena.failed) return no_memory(t, err);
    for (int i = 0; i < count; i++) {
        int   at = kn_vtable_name(t, all[i]);
        char *name = kn_arena_strndup(&t->arena, all[i], strlen(all[i]));
        if (!name) return no_memory(t, err);
        names[i] = kn_string_of(name);
        kept[i] = at < 0 ? -1 : t->kept[at];
    }
    t->names = names;
    t->unnamed = unnamed;
    t->kept = kept;
    t->name_count = count;
    return KN_OK;
}

/* DuckDB reads only the columns that are wanted: the others are named too. */
static kn_status name_others(reading *r, kn_error *err)
{
    kn_csv_names names;
    if (!r->made || r->options->all || r->options->digest) return KN_OK;
    KN_TRY(kn_columnar_read_names(&names, r->table->ctx, r->path, r->options->csv, err));
    kn_status st = kn_vtable_take_names(r->table, (const char *const *)names.names, names.count, err);
    kn_csv_names_free(&names);
    return st;
}

static kn_status read_all(reading *r, kn_error *err)
{
    kn_vtable *t = r->table;
    KN_TRY(prepare(r, err));
    for (bool ended = false; !ended;) {
        KN_TRY(take_window(r, &ended, err));
        if (r->options->form && !r->made) look_around(r);
        KN_TRY(kn_parallel_for(t->ctx, t->column_count, 1, read_columns, r, err));
        if (r->made) end_window(r);
    }
    KN_TRY(kn_parallel_for(t->ctx, t->column_count, 1, finish_columns, r, err));
    if (r->options->digest) KN_TRY(digest(r, err));
    if (r->options->form && r->path && r->made && is_parquet(r)) KN_TRY(kn_vtable_look_parquet(t, r->path, err));
    if (r->options->guarded) kn_vtable_unguard(t);
    return r->path ? name_others(r, err) : KN_OK;
}

static void end_reading(reading *r)
{
    for (int i = 0; r->columns && i < r->table->column_count; i++)
        KN_FREE(r->columns[i].codes, r->columns[i].cache, r->columns[i].known);
    end_window(r);
    if (r->schema.release) r->schema.release(&r->schema);
    if (r->stream.release) r->stream.release(&r->stream);
    kn_free(r->arrays);
}

static kn_status open_stream(reading *r, kn_batches_lent *lent, const char *const *names, int count, kn_error *err)
{
    kn_context *ctx = r->table->ctx;
    bool        all = r->options->all || r->options->digest;
    r->made = kn_columnar_kind_of(ctx, names[0]) != KN_COLUMNAR_MEMORY;
    if (r->made)
        return kn_columnar_open(&r->stream, ctx, names, count, all ? NULL : r->options->columns,
                                all ? 0 : r->options->column_count, err);
    if (count != 1) return kn_fail(err, KN_USAGE, "%s: one table in memory is an input by itself", names[0]);
    lent->batches = kn_memory_batches(ctx, names[0]);
    r->stream = kn_batches_lend(lent);
    return KN_OK;
}

static kn_status run(kn_vtable **out, reading *r, kn_status st, kn_error *err)
{
    if (st == KN_OK) st = read_all(r, err);
    end_reading(r);
    if (st == KN_OK)
        *out = r->table;
    else
        kn_vtable_free(r->table);
    return st;
}

static kn_vtable *new_table(kn_context *ctx)
{
    kn_vtable *t = kn_alloc_zero(ctx, sizeof *t);
    if (!t) return NULL;
    t->ctx = ctx;
    t->delimiter = ',';
    kn_arena_init(&t->arena, ctx);
    return t;
}

kn_status kn_vtable_read_batches(kn_vtable **out, kn_context *ctx, const char *const *names, int count,
                                 const kn_vread_options *options, kn_error *err)
{
    kn_batches_lent lent = {.next = 0};
    reading r = {.options = options, .name = kn_path_name(ctx, names[0]), .path = names[0], .table = new_table(ctx)};
    *out = NULL;
    if (!r.table) return kn_fail_memory(err, ctx, "verifying");
    kn_progress_begin(ctx, "verifying", "rows", 0);
    kn_status st = run(out, &r, open_stream(&r, &lent, names, count, err), err);
    kn_progress_end(ctx);
    return st;
}

kn_status kn_vtable_read_stream(kn_vtable **out, kn_context *ctx, struct ArrowArrayStream *stream, const char *name,
                                const kn_vread_options *options, kn_error *err)
{
    reading r = {.options = options, .name = name, .made = true, .stream = *stream, .table = new_table(ctx)};
    *out = NULL;
    stream->release = NULL;
    if (r.table) return run(out, &r, KN_OK, err);
    r.stream.release(&r.stream);
    return kn_fail_memory(err, ctx, "verifying");
}
