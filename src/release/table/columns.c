/* table/columns.c: the released columns as Arrow batches, instead of the bytes of a CSV file; kept in memory, or written as
 * Parquet. See kn_columns.h.
 *
 * A column is made directly from the classes and codes of its rows: an index per row into the texts that are shown,
 * in byte order. If all of them are numbers or dates in exactly the form of Arrow's types, the column is int64,
 * double or date32 instead, unless texts are asked for. A missing cell is null, unless the request gives it a non-empty text. Nothing in a batch
 * depends on a value that no row shows: no dictionary entry, no width of an index and no type.
 *
 * Cost: O(rows) per column, columns in parallel. Memory: 1, 2, 4 or 8 bytes per cell.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_columns.h"

#include <string.h>

#include "kn_alloc.h"
#include "kn_arrow.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_parallel.h"
#include "kn_parquet.h"
#include "kn_recode_row.h"
#include "kn_value.h"

static const char making[] = "making the columns of the release";

typedef struct making_all {
    kn_context            *ctx;
    const kn_recode_input *input;
    const kn_released     *released;
    const int64_t         *map;
    const int64_t         *times, *ends; /* of counted rows: kn_columns.h */
    int64_t                entries;      /* of the map                    */
    int64_t                count;
    kn_batch_column       *columns;
    struct building       *building; /* per column */
} making_all;

/* One column under construction. Ranks are those of its texts; an additional one, `star`, is for the cells of
 * suppressed rows. */
typedef struct building {
    const making_all        *all;
    const kn_released_texts *texts;
    kn_batch_column         *out;
    uint32_t                 star, ranks;
    uint32_t                *ids;   /* per rank: an id with that text; UINT32_MAX: the star         */
    uint32_t                *entry; /* per rank: 1 if a row shows it; then its index in the dictionary, or NULLED */
    kn_buffer                bytes; /* of the dictionary    */
    uint64_t                *ends;  /* per entry, in `bytes` */
    uint32_t                 entries;
    bool                     nulls;
} building;

#define NULLED UINT32_MAX

enum { PART = 1024, GRAIN = 1 << 15 };

/* ---- Cells ---- */

static void store(void *data, int width, int64_t i, uint64_t value)
{
    switch (width) {
    case 1: ((uint8_t *)data)[i] = (uint8_t)value; break;
    case 2: ((uint16_t *)data)[i] = (uint16_t)value; break;
    case 4: ((uint32_t *)data)[i] = (uint32_t)value; break;
    default: ((uint64_t *)data)[i] = value; break;
    }
}

static uint32_t load(const void *data, int width, int64_t i)
{
    switch (width) {
    case 1: return ((const uint8_t *)data)[i];
    case 2: return ((const uint16_t *)data)[i];
    default: return ((const uint32_t *)data)[i];
    }
}

/* Indices are signed. */
static int width_for(uint64_t count)
{
    return count <= 1u << 7 ? 1 : count <= 1u << 15 ? 2 : 4;
}

/* Some rows and their classes, looked up once for all columns. */
typedef struct part {
    int64_t  first;
    int      count;
    int64_t  rows[PART];
    uint32_t classes[PART];
} part;

static void find_rows(const making_all *a, part *p)
{
    int     lost = kn_recode_lost(a->input);
    int64_t entry = a->ends ? kn_recode_entry(a->ends, a->entries, p->first + lost) : 0;
    for (int i = 0; i < p->count; i++) {
        int64_t at = p->first + i + lost;
        if (a->ends && a->ends[entry] == at) entry++;
        if (a->ends) at = entry;
        p->rows[i] = a->map[at];
        p->classes[i] = a->input->plan->class_of_row[p->rows[i]];
        kn_recode_mistake(a->input, a->map, at, &p->rows[i], &p->classes[i]);
    }
}

static void fill_part(const building *b, const part *p)
{
    const kn_released_texts *t = b->texts;
    bool                     shown = kn_recode_shown(b->all->input, t);
    for (int i = 0; i < p->count; i++) {
        uint32_t class_index = p->classes[i], rank = b->star;
        if (class_index != KN_CLASS_SUPPRESSED || shown)
            rank = kn_released_rank(t, t->kind == KN_RELEASED_QUASI ? t->ids_of_classes[class_index]
                                                                    : kn_column_code(t->column, p->rows[i]));
        store(b->out->data, b->out->width, p->first + i, rank);
    }
}

/* Fills in the rank of every row and column. */
static kn_status fill_range(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    const making_all *a = arg;
    part              p;
    (void)worker;
    (void)err;
    for (p.first = begin; p.first < end; p.first += p.count) {
        p.count = end - p.first < PART ? (int)(end - p.first) : PART;
        find_rows(a, &p);
        for (int c = 0; c < a->input->column_count; c++) fill_part(&a->building[c], &p);
    }
    kn_progress_add(a->ctx, (uint64_t)(end - begin));
    return KN_OK;
}

/* ---- Texts ---- */

/* Finds an id for each rank. If the star is not among the texts, it gets the last rank; its text is the dictionary's
 * first. */
static kn_status number_ranks(building *b, kn_error *err)
{
    const kn_released_texts *t = b->texts;
    b->star = t->star < t->count ? kn_released_rank(t, t->star) : t->distinct;
    b->ranks = t->distinct + 1;
    b->out->width = width_for(b->ranks);
    b->out->data = kn_alloc_array(b->all->ctx, (size_t)b->all->count + 1, (size_t)b->out->width);
    b->ids = kn_alloc_array(b->all->ctx, b->ranks, sizeof *b->ids);
    b->entry = kn_alloc_array_zero(b->all->ctx, b->ranks, sizeof *b->entry);
    b->ends = kn_alloc_array(b->all->ctx, (size_t)b->ranks + 1, sizeof *b->ends);
    if (!b->out->data || !b->ids || !b->entry || !b->ends) return kn_fail_memory(err, b->all->ctx, making);
    for (uint32_t id = t->count; id-- > 0;) b->ids[kn_released_rank(t, id)] = id;
    b->ids[t->distinct] = UINT32_MAX;
    return KN_OK;
}

static void add_entry(building *b, uint32_t rank)
{
    size_t begin = b->bytes.size;
    if (b->ids[rank] == UINT32_MAX)
        kn_buffer_char(&b->bytes, '*');
    else
        kn_released_cell(&b->bytes, b->texts, b->ids[rank], 0);
    if (b->bytes.size == begin && b->texts->missing.size == 0) {
        b->nulls = true;
        b->entry[rank] = NULLED;
        return;
    }
    b->ends[b->entries] = b->bytes.size;
    b->entry[rank] = b->entries++;
}

static kn_status make_entries(building *b, int64_t rows, kn_error *err)
{
    uint32_t own = b->ranks - 1;
    for (int64_t i = 0; i < rows; i++) b->entry[load(b->out->data, b->out->width, i)] = 1;
    if (b->entry[own]) add_entry(b, own);
    for (uint32_t rank = 0; rank < own; rank++)
        if (b->entry[rank]) add_entry(b, rank);
    return b->bytes.failed ? kn_fail_memory(err, b->all->ctx, making) : KN_OK;
}

static kn_string entry_text(const building *b, uint32_t entry)
{
    uint64_t begin = entry > 0 ? b->ends[entry - 1] : 0;
    return (kn_string){b->bytes.data + begin, (size_t)(b->ends[entry] - begin)};
}

/* ---- Numbers and dates ---- */

/* The type whose values are written exactly like these texts; NULL: none, or nothing is shown. */
static const char *type_of(const building *b, uint64_t *values)
{
    static const char *const formats[] = {"l", "tdD", "g"};
    for (size_t f = 0; b->entries > 0 && f < sizeof formats / sizeof *formats; f++) {
        uint32_t i = 0;
        while (i < b->entries && kn_arrow_value_of(formats[f], entry_text(b, i), &values[i])) i++;
        if (i == b->entries) return formats[f];
    }
    return NULL;
}

static kn_status write_values(building *b, const uint64_t *values, const char *format, int64_t rows, kn_error *err)
{
    kn_batch_column *c = b->out;
    int              width = format[0] == 't' ? 4 : 8;
    void            *data = kn_alloc_array(b->all->ctx, (size_t)rows + 1, (size_t)width);
    if (!data) return kn_fail_memory(err, b->all->ctx, making);
    for (int64_t i = 0; i < rows; i++) {
        uint32_t entry = b->entry[load(c->data, c->width, i)];
        store(data, width, i, entry == NULLED ? 0 : values[entry]);
    }
    kn_free(c->data);
    c->data = data;
    c->width = width;
    c->format = format;
    return KN_OK;
}

/* ---- Dictionaries ---- */

static kn_status write_dictionary(building *b, kn_error *err)
{
    kn_batch_column *c = b->out;
    bool             large = b->bytes.size > INT32_MAX;
    c->offsets = kn_alloc_array_zero(b->all->ctx, (size_t)b->entries + 1, large ? 8 : 4);
    if (!c->offsets) return kn_fail_memory(err, b->all->ctx, making);
    for (uint32_t i = 0; i < b->entries; i++) store(c->offsets, large ? 8 : 4, i + 1, b->ends[i]);
    c->bytes = b->bytes.data;
    kn_buffer_init(&b->bytes, b->all->ctx);
    c->text_format = large ? "U" : "u";
    c->entries = b->entries;
    return KN_OK;
}

/* Converts ranks to dictionary indices, in as few bytes as possible. */
static kn_status write_indices(building *b, int64_t rows, kn_error *err)
{
    static const char *const formats[] = {[1] = "c", [2] = "s", [4] = "i"};
    kn_batch_column         *c = b->out;
    int                      width = width_for(b->entries);
    for (int64_t i = 0; i < rows; i++) { /* in place: narrower codes never overtake the reader */
        uint32_t entry = b->entry[load(c->data, c->width, i)];
        store(c->data, width, i, entry == NULLED ? 0 : entry);
    }
    void *less = width < c->width ? kn_realloc(b->all->ctx, c->data, ((size_t)rows + 1) * (size_t)width) : c->data;
    if (!less) return kn_fail_memory(err, b->all->ctx, making);
    c->data = less;
    c->width = width;
    c->format = formats[width];
    return write_dictionary(b, err);
}

static kn_status write_validity(building *b, int64_t rows, kn_error *err)
{
    kn_batch_column *c = b->out;
    if (!b->nulls) return KN_OK;
    c->validity = kn_alloc_array_zero(b->all->ctx, (size_t)rows / 8 + 1, 1);
    if (!c->validity) return kn_fail_memory(err, b->all->ctx, making);
    for (int64_t i = 0; i < rows; i++)
        if (b->entry[load(c->data, c->width, i)] != NULLED) c->validity[i / 8] |= (uint8_t)(1 << (i % 8));
    return KN_OK;
}

/* ---- Columns ---- */

static kn_status build(building *b, int64_t rows, kn_error *err)
{
    KN_TRY(make_entries(b, rows, err));
    KN_TRY(write_validity(b, rows, err));
    uint64_t *values = kn_alloc_array(b->all->ctx, (size_t)b->entries + 1, sizeof *values);
    if (!values) return kn_fail_memory(err, b->all->ctx, making);
    const char *type = b->all->input->texts ? NULL : type_of(b, values);
    kn_status   st = type ? write_values(b, values, type, rows, err) : write_indices(b, rows, err);
    kn_free(values);
    return st;
}

static kn_status build_range(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    const making_all *a = arg;
    (void)worker;
    for (int64_t c = begin; c < end; c++) KN_TRY(build(&a->building[c], a->count, err));
    return KN_OK;
}

static kn_status build_all(making_all *a, kn_error *err)
{
    int count = a->input->column_count;
    for (int c = 0; c < count; c++) {
        a->columns[c].name = a->released->columns[c].column->name;
        a->building[c] = (building){.all = a, .texts = &a->released->columns[c], .out = &a->columns[c]};
        kn_buffer_init(&a->building[c].bytes, a->ctx);
    }
    for (int c = 0; c < count; c++) KN_TRY(number_ranks(&a->building[c], err));
    kn_progress_begin(a->ctx, "writing", "rows", (uint64_t)a->count);
    kn_status st = kn_parallel_for(a->ctx, a->count, GRAIN, fill_range, a, err);
    if (st == KN_OK) st = kn_parallel_for(a->ctx, count, 1, build_range, a, err);
    kn_progress_end(a->ctx);
    return st;
}

/* The column of counts, behind the others. */
static kn_status put_counts(making_all *a, kn_batch_column *to, kn_error *err)
{
    const kn_table *table = a->input->table;
    int64_t        *data = kn_alloc_array(a->ctx, (size_t)a->count + 1, sizeof *data);
    if (!data) return kn_fail_memory(err, a->ctx, making);
    for (int64_t i = 0; i < a->count; i++) data[i] = a->times[i + kn_recode_lost(a->input)];
    *to = (kn_batch_column){
        .name = table->columns[table->column_count].name, .format = "l", .width = sizeof *data, .data = data};
    return KN_OK;
}

/* ... and, for somebody else, how many rows stand before each. */
static kn_status put_places(making_all *a, kn_batch_column *to, const char *name, kn_error *err)
{
    const int64_t *counts = to[-1].data;
    int64_t       *data = kn_alloc_array(a->ctx, (size_t)a->count + 1, sizeof *data), before = 0;
    if (!data || !name) {
        kn_free(data);
        return kn_fail_memory(err, a->ctx, making);
    }
    for (int64_t i = 0; i < a->count; before += counts[i++]) data[i] = before;
    *to = (kn_batch_column){.name = name, .format = "l", .width = sizeof *data, .data = data};
    return KN_OK;
}

kn_status kn_columns_put(kn_output *output, kn_context *ctx, const kn_recode_input *input, const kn_released *released,
                         const kn_released_rows *rows, kn_error *err)
{
    making_all  a = {.ctx = ctx,
                     .input = input,
                     .released = released,
                     .map = rows->map,
                     .times = rows->times,
                     .ends = rows->ends,
                     .entries = rows->entries};
    kn_batches *batches = NULL;
    size_t      columns = (size_t)input->column_count;
    int         all = input->column_count + input->counted + (input->take != NULL);
    char       *places =
        input->take ? kn_strformat(ctx, "(%s)", input->table->columns[input->table->column_count].name) : NULL;
    a.count = kn_released_row_count(rows) - kn_recode_lost(input);
    a.columns = kn_alloc_array_zero(ctx, (size_t)all, sizeof *a.columns);
    a.building = kn_alloc_array_zero(ctx, columns, sizeof *a.building);
    kn_status st = a.columns && a.building ? build_all(&a, err) : kn_fail_memory(err, ctx, making);
    if (st == KN_OK && input->counted) st = put_counts(&a, &a.columns[columns], err);
    if (st == KN_OK && input->take) st = put_places(&a, &a.columns[columns + 1], places, err);
    for (size_t c = 0; a.building && c < columns; c++) {
        kn_buffer_free(&a.building[c].bytes);
        kn_free(a.building[c].ids);
        kn_free(a.building[c].entry);
        kn_free(a.building[c].ends);
    }
    if (st == KN_OK)
        st = kn_batches_make(&batches, ctx, a.columns, all, a.count, err);
    else if (a.columns)
        kn_batch_columns_free(a.columns, all);
    kn_free(a.columns);
    kn_free(a.building);
    kn_free(places);
    if (st == KN_OK && input->take) return input->take(input->take_arg, batches, err);
    if (st != KN_OK || !input->parquet) return st == KN_OK ? kn_batches_put(output, batches, err) : st;
    const char *path = kn_output_temporary(output), *name = kn_path_name(ctx, kn_output_target(output));
    st = kn_parquet_write(ctx, batches, false, path, input->parts, name, err);
    kn_batches_let_go(batches);
    return st;
}
