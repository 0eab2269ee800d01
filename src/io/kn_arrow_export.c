/* kn_arrow_export.c: a table → an Arrow stream.
 *
 * Interface: kn_table_export_arrow in kanon/arrow.h. Batches of rows are made one by one on request. Numbers, dates
 * and times are written out from the dictionary's values; text is a dictionary array whose indices are the table's
 * own codes.
 *
 * Who owns what: each array owns its buffers, so a consumer may move a column out of its batch and release both in
 * any order. A text column's dictionary is copied once per stream and shared by its batches through an atomic
 * reference count, so that small batches of a large table do not copy it each time. The stream shares the table. All
 * memory is the context's, which lives as long as any of it: the producer's program may free table and context at any
 * time.
 *
 * Cost: O(rows) per column and batch. Limits: a decimal is exported as the nearest double unless asked for as text.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_arrow.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_options.h"
#include "kn_table.h"

enum { BATCH_ROWS = 1 << 16 };

typedef enum form { FORM_INT64, FORM_INT32, FORM_DOUBLE, FORM_INDEX, FORM_PLAIN } form;

/* A text column's dictionary in Arrow's form. Owned by the stream and by each array that uses it. */
typedef struct shared {
    atomic_size_t holders;
    int64_t       count;
    void         *offsets; /* int32 or int64 each */
    char         *bytes;
} shared;

typedef struct out_column {
    const kn_column *column;
    form             form;
    const char      *format;      /* of the column; static                  */
    const char      *text_format; /* INDEX: of the dictionary; "u" or "U"   */
    bool             large;       /* offsets of 8 bytes                     */
    shared          *dictionary;  /* INDEX                                  */
} out_column;

typedef struct exporter {
    kn_context *ctx;
    kn_table   *table; /* shared */
    int64_t     batch_rows;
    int64_t     next_row;
    int         column_count;
    out_column *columns;
    const char *last_error; /* static; NULL: none */
} exporter;

/* What one array owns. */
typedef struct owned {
    const void *buffers[3];
    void       *blocks[3];  /* of these buffers, those to free */
    shared     *dictionary; /* whose bytes the buffers show     */
} owned;

static void let_go(shared *dictionary)
{
    if (!dictionary || atomic_fetch_sub(&dictionary->holders, 1) > 1) return;
    kn_free(dictionary->offsets);
    kn_free(dictionary->bytes);
    kn_free(dictionary);
}

/* ---- Schemas ---- */

static void release_schema(struct ArrowSchema *schema)
{
    for (int64_t i = 0; i < schema->n_children; i++) {
        struct ArrowSchema *child = schema->children[i];
        if (child && child->release) child->release(child);
        kn_free(child);
    }
    kn_free(schema->children);
    if (schema->dictionary && schema->dictionary->release) schema->dictionary->release(schema->dictionary);
    kn_free(schema->dictionary);
    kn_free(schema->private_data); /* the name */
    schema->release = NULL;
}

static bool begin_schema(exporter *ex, struct ArrowSchema *schema, const char *format, const char *name)
{
    *schema = (struct ArrowSchema){.format = format, .flags = ARROW_FLAG_NULLABLE};
    char *copy = kn_strndup(ex->ctx, name, strlen(name));
    if (!copy) return false;
    schema->name = copy;
    schema->private_data = copy;
    schema->release = release_schema;
    return true;
}

static bool column_schema(exporter *ex, struct ArrowSchema *schema, const out_column *c)
{
    if (!begin_schema(ex, schema, c->format, c->column->name)) return false;
    if (c->form != FORM_INDEX) return true;
    schema->dictionary = kn_alloc_zero(ex->ctx, sizeof *schema->dictionary);
    return schema->dictionary && begin_schema(ex, schema->dictionary, c->text_format, "");
}

static bool table_schema(exporter *ex, struct ArrowSchema *schema)
{
    if (!begin_schema(ex, schema, "+s", "")) return false;
    schema->flags = 0;
    schema->children = kn_alloc_array_zero(ex->ctx, (size_t)ex->column_count, sizeof(struct ArrowSchema *));
    if (!schema->children) return false;
    for (int i = 0; i < ex->column_count; i++) {
        schema->children[i] = kn_alloc_zero(ex->ctx, sizeof **schema->children);
        if (!schema->children[i]) return false;
        schema->n_children = i + 1;
        if (!column_schema(ex, schema->children[i], &ex->columns[i])) return false;
    }
    return true;
}

/* ---- Arrays ---- */

static void release_array(struct ArrowArray *array)
{
    for (int64_t i = 0; i < array->n_children; i++) {
        struct ArrowArray *child = array->children[i];
        if (child && child->release) child->release(child);
        kn_free(child);
    }
    kn_free(array->children);
    if (array->dictionary && array->dictionary->release) array->dictionary->release(array->dictionary);
    kn_free(array->dictionary);
    owned *own = array->private_data;
    for (int i = 0; i < 3; i++) kn_free(own->blocks[i]);
    let_go(own->dictionary);
    kn_free(own);
    array->release = NULL;
}

/* An array without data; on failure there is nothing to release. */
static owned *begin_array(exporter *ex, struct ArrowArray *array, int64_t length, int64_t buffers)
{
    owned *own = kn_alloc_zero(ex->ctx, sizeof *own);
    *array = (struct ArrowArray){.length = length, .n_buffers = buffers};
    if (!own) return NULL;
    array->buffers = own->buffers;
    array->private_data = own;
    array->release = release_array;
    return own;
}

static void *add_buffer(exporter *ex, owned *own, int which, size_t size)
{
    own->buffers[which] = own->blocks[which] = kn_alloc_zero(ex->ctx, size);
    return own->blocks[which];
}

/* The bitmap, where the column has missing cells at all. */
static bool add_validity(exporter *ex, struct ArrowArray *array, owned *own, const kn_column *column, int64_t first)
{
    if (column->missing == 0) return true;
    uint8_t *bits = add_buffer(ex, own, 0, (size_t)(array->length + 7) / 8);
    if (!bits) return false;
    for (int64_t i = 0; i < array->length; i++) {
        if (kn_column_code(column, first + i) == column->dict.count)
            array->null_count++;
        else
            bits[i / 8] |= (uint8_t)(1 << (i % 8));
    }
    return true;
}

static bool add_values(exporter *ex, struct ArrowArray *array, owned *own, const out_column *c, int64_t first)
{
    const kn_dictionary *dict = &c->column->dict;
    size_t               width = c->form == FORM_INT32 || c->form == FORM_INDEX ? 4 : 8;
    void                *data = add_buffer(ex, own, 1, (size_t)array->length * width);
    if (!data) return false;
    for (int64_t i = 0; i < array->length; i++) {
        uint32_t code = kn_column_code(c->column, first + i);
        if (code == dict->count) continue; /* a null's place is zero */
        switch (c->form) {
        case FORM_INT64: ((int64_t *)data)[i] = dict->integers[code]; break;
        case FORM_INT32: ((int32_t *)data)[i] = (int32_t)dict->integers[code]; break;
        case FORM_DOUBLE: ((double *)data)[i] = dict->decimals[code]; break;
        case FORM_INDEX:
        case FORM_PLAIN: ((uint32_t *)data)[i] = code; break;
        }
    }
    return true;
}

static void store_offset(void *offsets, bool large, int64_t i, uint64_t offset)
{
    if (large)
        ((int64_t *)offsets)[i] = (int64_t)offset;
    else
        ((int32_t *)offsets)[i] = (int32_t)offset;
}

static bool add_plain_text(exporter *ex, struct ArrowArray *array, owned *own, const out_column *c, int64_t first)
{
    const kn_dictionary *dict = &c->column->dict;
    void                *offsets = add_buffer(ex, own, 1, (size_t)(array->length + 1) * (c->large ? 8 : 4));
    if (!offsets) return false;
    uint64_t size = 0;
    for (int64_t i = 0; i < array->length; i++) {
        uint32_t code = kn_column_code(c->column, first + i);
        if (code != dict->count) size += dict->offsets[code + 1] - dict->offsets[code];
        store_offset(offsets, c->large, i + 1, size);
    }
    char *bytes = add_buffer(ex, own, 2, size);
    if (!bytes) return false;
    for (int64_t i = 0; i < array->length; i++) {
        uint32_t code = kn_column_code(c->column, first + i);
        if (code == dict->count) continue;
        kn_string text = kn_dictionary_text(dict, code);
        if (text.size) memcpy(bytes, text.data, text.size);
        bytes += text.size;
    }
    return true;
}

static bool add_dictionary(exporter *ex, struct ArrowArray *array, const out_column *c)
{
    array->dictionary = kn_alloc_zero(ex->ctx, sizeof *array->dictionary);
    if (!array->dictionary) return false;
    owned *own = begin_array(ex, array->dictionary, c->dictionary->count, 3);
    if (!own) return false;
    atomic_fetch_add(&c->dictionary->holders, 1);
    own->dictionary = c->dictionary;
    own->buffers[1] = c->dictionary->offsets;
    own->buffers[2] = c->dictionary->bytes;
    return true;
}

static bool column_array(exporter *ex, struct ArrowArray *array, const out_column *c, int64_t first, int64_t rows)
{
    owned *own = begin_array(ex, array, rows, c->form == FORM_PLAIN ? 3 : 2);
    if (!own || !add_validity(ex, array, own, c->column, first)) return false;
    if (c->form == FORM_PLAIN) return add_plain_text(ex, array, own, c, first);
    if (c->form == FORM_INDEX && !add_dictionary(ex, array, c)) return false;
    return add_values(ex, array, own, c, first);
}

static bool batch_array(exporter *ex, struct ArrowArray *array, int64_t first, int64_t rows)
{
    if (!begin_array(ex, array, rows, 1)) return false;
    array->children = kn_alloc_array_zero(ex->ctx, (size_t)ex->column_count, sizeof(struct ArrowArray *));
    if (!array->children) return false;
    for (int i = 0; i < ex->column_count; i++) {
        array->children[i] = kn_alloc_zero(ex->ctx, sizeof **array->children);
        if (!array->children[i]) return false;
        array->n_children = i + 1;
        if (!column_array(ex, array->children[i], &ex->columns[i], first, rows)) return false;
    }
    return true;
}

/* ---- The stream ---- */

static int stream_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
    exporter *ex = stream->private_data;
    ex->last_error = NULL;
    if (table_schema(ex, out)) return 0;
    if (out->release) out->release(out);
    ex->last_error = "out of memory, or the context's memory limit was reached";
    return ENOMEM;
}

static int stream_next(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
    exporter *ex = stream->private_data;
    ex->last_error = NULL;
    *out = (struct ArrowArray){.length = 0};
    int64_t rows = ex->table->rows - ex->next_row;
    if (rows > ex->batch_rows) rows = ex->batch_rows;
    if (rows == 0) return 0;
    if (!batch_array(ex, out, ex->next_row, rows)) {
        if (out->release) out->release(out);
        ex->last_error = "out of memory, or the context's memory limit was reached";
        return ENOMEM;
    }
    ex->next_row += rows;
    return 0;
}

static const char *stream_last_error(struct ArrowArrayStream *stream)
{
    return ((const exporter *)stream->private_data)->last_error;
}

static void exporter_free(exporter *ex)
{
    if (!ex) return;
    for (int i = 0; ex->columns && i < ex->column_count; i++) let_go(ex->columns[i].dictionary);
    kn_free(ex->columns);
    kn_table_free(ex->table);
    kn_free(ex);
}

static void stream_release(struct ArrowArrayStream *stream)
{
    exporter_free(stream->private_data);
    stream->private_data = NULL;
    stream->release = NULL;
}

static bool copy_dictionary(exporter *ex, out_column *c)
{
    const kn_dictionary *dict = &c->column->dict;
    shared              *copy = kn_alloc_zero(ex->ctx, sizeof *copy);
    if (!copy) return false;
    atomic_init(&copy->holders, 1);
    c->dictionary = copy;
    copy->count = dict->count;
    copy->offsets = kn_alloc_array(ex->ctx, (size_t)dict->count + 1, c->large ? 8 : 4);
    copy->bytes = kn_alloc(ex->ctx, (size_t)dict->offsets[dict->count]);
    if (!copy->offsets || !copy->bytes) return false;
    for (int64_t i = 0; i <= copy->count; i++) store_offset(copy->offsets, c->large, i, dict->offsets[i]);
    if (dict->offsets[dict->count]) memcpy(copy->bytes, dict->bytes, (size_t)dict->offsets[dict->count]);
    return true;
}

/* Offsets of 4 bytes are the most widely supported; 8 only if a batch, or the dictionary, needs them. */
static bool text_column(exporter *ex, out_column *c, bool plain)
{
    const kn_dictionary *dict = &c->column->dict;
    uint64_t             longest = 0;
    for (uint32_t i = 0; plain && i < dict->count; i++)
        if (dict->offsets[i + 1] - dict->offsets[i] > longest) longest = dict->offsets[i + 1] - dict->offsets[i];
    int64_t rows = ex->batch_rows < ex->table->rows ? ex->batch_rows : ex->table->rows;
    c->large = plain ? rows > 0 && longest > (uint64_t)(INT32_MAX / rows) : dict->offsets[dict->count] > INT32_MAX;
    c->text_format = c->large ? "U" : "u";
    c->form = plain ? FORM_PLAIN : FORM_INDEX;
    c->format = plain ? c->text_format : dict->count <= INT32_MAX ? "i" : "I";
    return plain || copy_dictionary(ex, c);
}

static bool choose_form(exporter *ex, out_column *c, const kn_arrow_export_options *options)
{
    switch (c->column->type) {
    case KN_TYPE_INTEGER: c->form = FORM_INT64, c->format = "l"; return true;
    case KN_TYPE_DATE: c->form = FORM_INT32, c->format = "tdD"; return true;
    case KN_TYPE_DATETIME: c->form = FORM_INT64, c->format = "tsu:UTC"; return true;
    case KN_TYPE_DECIMAL:
        if (options->decimal_text) break;
        c->form = FORM_DOUBLE, c->format = "g";
        return true;
    case KN_TYPE_AUTO:
    case KN_TYPE_TEXT: break;
    }
    return text_column(ex, c, options->plain_text);
}

static exporter *exporter_create(kn_context *ctx, const kn_table *table, const kn_arrow_export_options *options)
{
    exporter *ex = kn_alloc_zero(ctx, sizeof *ex);
    if (!ex) return NULL;
    ex->ctx = ctx;
    ex->table = kn_table_share(table);
    ex->batch_rows = options->batch_rows > 0 ? options->batch_rows : BATCH_ROWS;
    ex->columns = kn_alloc_array_zero(ctx, (size_t)kn_table_all_columns(table), sizeof *ex->columns);
    bool done = ex->columns != NULL;
    for (; done && ex->column_count < kn_table_all_columns(table); ex->column_count++) {
        out_column *c = &ex->columns[ex->column_count];
        c->column = &table->columns[ex->column_count];
        done = choose_form(ex, c, options);
    }
    if (done) return ex;
    exporter_free(ex);
    return NULL;
}

kn_status kn_table_export_arrow(struct ArrowArrayStream *out, const kn_table *table, kn_context *ctx,
                                const kn_arrow_export_options *options, kn_error *err)
{
    *out = (struct ArrowArrayStream){.release = NULL};
    KN_SERVE(ctx, err);
    kn_arrow_export_options chosen = KN_ARROW_EXPORT_OPTIONS_INIT;
    KN_TRY(kn_options_take(&chosen, sizeof chosen, options, "Arrow options", err));
    if (chosen.batch_rows < 0) return kn_fail(err, KN_USAGE, "Arrow options: the rows of a batch cannot be negative");
    exporter *ex = exporter_create(ctx, table, &chosen);
    if (!ex) return kn_fail_memory(err, ctx, "exporting an Arrow stream");
    out->get_schema = stream_schema;
    out->get_next = stream_next;
    out->get_last_error = stream_last_error;
    out->release = stream_release;
    out->private_data = ex;
    return KN_OK;
}
