/* kn_carry_write.c: a release out of entries and of the kept cells that the engine sends, written as Parquet or CSV. Interface: kn_carry.h.
 *
 * The rows come in the order of the release, with the number of their entry; the entry says what the other columns show. What a
 * column's type is has to be known before its first row: cells are looked at until no type is possible, or one is certain. Suppressed rows
 * need nothing from the engine and come last.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_carry_csv.h"
#include "kn_context.h"
#include "kn_csv_write.h"
#include "kn_error.h"
#include "kn_parquet.h"

#define WHAT "writing the release"

static const char *const     formats[] = {"l", "tdD", "g"}; /* types that a column can have, and else text */
static const kn_parquet_type types[] = {KN_PARQUET_INTEGER, KN_PARQUET_DATE, KN_PARQUET_REAL, KN_PARQUET_TEXT};
enum { FORMATS = 3 };

/* ---- Rows from the engine ---- */

typedef struct incoming {
    const kn_carry         *carry;
    struct ArrowArrayStream stream;
    struct ArrowArray       batch;
    int                     first, count; /* its kept columns */
    bool                    numbered;     /* before them stands the entry */
    kn_arrow_view           entry, *views;
    kn_arrow_cell          *cells; /* one per column */
    int64_t                 row;   /* of the batch   */
} incoming;

static kn_status open_batch(incoming *in, kn_error *err)
{
    static const kn_arrow_format whole = {.kind = KN_ARROW_SIGNED, .width = 8};
    const struct ArrowArray     *b = &in->batch;
    const char *reason = b->n_children == in->count + in->numbered ? NULL : "a wrong number of columns";
    if (!reason && in->numbered) reason = kn_arrow_open(&in->entry, b->children[0], &whole, b->offset, b->length);
    for (int i = 0; !reason && i < in->count; i++)
        reason = kn_arrow_open(&in->views[i], b->children[i + in->numbered], &in->carry->columns[in->first + i].format,
                               b->offset, b->length);
    return reason ? kn_fail(err, KN_INPUT, "%.300s: %s", in->carry->engine->name, reason) : KN_OK;
}

/* *more: there is another row, in->row of the batch. */
static kn_status next_row(incoming *in, bool *more, kn_error *err)
{
    const kn_engine *e = in->carry->engine;
    *more = true;
    if (in->batch.release && ++in->row < in->batch.length) return KN_OK;
    do {
        if (in->batch.release) in->batch.release(&in->batch);
        in->batch = (struct ArrowArray){.release = NULL};
        in->row = 0;
        if (kn_cancelled(e->ctx)) return kn_fail_cancelled(err);
        int code = in->stream.get_next(&in->stream, &in->batch);
        if (code == ENOMEM) return kn_fail_memory(err, e->ctx, WHAT);
        const char *said = code ? in->stream.get_last_error(&in->stream) : NULL;
        if (code)
            return kn_fail(err, code == EIO ? KN_IO : KN_INPUT, "%.300s: %.400s", e->name,
                           said ? said : "its rows cannot be read");
        *more = in->batch.release != NULL;
    } while (*more && in->batch.length == 0);
    return *more ? open_batch(in, err) : KN_OK;
}

static kn_status text_of(kn_string *out, incoming *in, int i, kn_error *err)
{
    const char *reason =
        kn_carry_text(out, &in->cells[i], in->carry, in->first + i, &in->views[i], in->views[i].start + in->row);
    return reason ? kn_fail(err, KN_INPUT, "%.300s: column \"%.200s\": %s", in->carry->engine->name,
                            in->carry->columns[in->first + i].name, reason)
                  : KN_OK;
}

static void end_incoming(incoming *in)
{
    if (in->batch.release) in->batch.release(&in->batch);
    if (in->stream.release) in->stream.release(&in->stream);
    KN_FREE(in->views, in->cells);
}

/* `column` as for kn_carry_rows. */
static kn_status open_incoming(incoming *in, const kn_carry *k, int column, const kn_carry_release *release,
                               kn_error *err)
{
    *in = (incoming){
        .carry = k, .first = column < 0 ? 0 : column, .count = column < 0 ? k->count : 1, .numbered = column < 0};
    in->views = kn_alloc_array_zero(k->engine->ctx, (size_t)in->count + 1, sizeof *in->views);
    in->cells = kn_alloc_array_zero(k->engine->ctx, (size_t)in->count + 1, sizeof *in->cells);
    if (!in->views || !in->cells) return kn_fail_memory(err, k->engine->ctx, WHAT);
    return kn_carry_rows(&in->stream, k, column, release, err);
}

/* ---- Types ---- */

/* Is the cell null in the release? */
static bool is_null(const kn_carry *k, kn_string text)
{
    return text.size == 0 && !*k->missing;
}

/* Is every cell of this column certain to have this type, since the engine's has? */
static bool is_certain(const kn_carry *k, int column, int format)
{
    const kn_arrow_format *f = &k->columns[column].format;
    bool                   whole = kn_arrow_is_integer(f) && (f->kind == KN_ARROW_SIGNED || f->width < 8);
    if (k->guarded || *k->missing) return false;
    return format == 0 ? whole : format == 1 ? f->kind == KN_ARROW_DATE : f->kind == KN_ARROW_FLOAT && f->width == 8;
}

/* Looks at the shown cells of a column: *out is the place of its type. */
static kn_status find_type(int *out, incoming *in, kn_error *err)
{
    const kn_carry *k = in->carry;
    bool            more = true, any = false, possible[FORMATS + 1] = {true, true, true, true};
    uint64_t        value = 0;
    int             first = 0;
    while (first < FORMATS && !(any && is_certain(k, in->first, first))) {
        kn_string text = {"", 0};
        KN_TRY(next_row(in, &more, err));
        if (!more) break;
        KN_TRY(text_of(&text, in, 0, err));
        if (is_null(k, text)) continue;
        any = true;
        for (int f = first; f < FORMATS; f++)
            possible[f] =
                possible[f] && !(k->guarded && kn_csv_guards(text)) && kn_arrow_value_of(formats[f], text, &value);
        while (!possible[first]) first++;
    }
    *out = any ? first : FORMATS;
    return KN_OK;
}

/* Of every kept column; a star is a text. */
static kn_status find_types(int *out, const kn_carry *k, const kn_carry_release *release, bool stars, kn_error *err)
{
    for (int i = 0; i < k->count; i++) {
        incoming in;
        out[i] = FORMATS;
        if (stars) continue;
        kn_status st = open_incoming(&in, k, i, release, err);
        if (st == KN_OK) st = find_type(&out[i], &in, err);
        end_incoming(&in);
        KN_TRY(st);
    }
    return KN_OK;
}

/* ---- Rows of the release ---- */

/* A column of the release. */
typedef struct released {
    const kn_batch_column *batch; /* NULL: it is kept                              */
    int                    kept;
    int                    type;  /* of a kept one: place in formats               */
    int32_t               *codes; /* per entry of the batch's dictionary: its code in the group; -1: none yet */
    int32_t                code;  /* of the run at the end of the group            */
    int64_t                begin; /* row of the group at which it began            */
} released;

typedef struct writing {
    kn_context             *ctx;
    const kn_carry         *carry;
    const kn_carry_release *release;
    incoming                in;
    released               *columns;
    kn_parquet_column      *named;
    kn_parquet             *file;
    kn_carry_csv            csv; /* instead, where there is an output for it          */
    size_t                  part;
    int64_t                 rows, file_rows; /* of the group, of the file before it    */
    int64_t                 last;            /* entry of the row before; -1: none in this group */
    int64_t                *left;            /* per entry: rows that are still to come */
    int64_t                 entries;
    kn_string              *before; /* the kept texts of the row before                */
    kn_buffer              *held;   /* their bytes                                     */
    kn_arena                room;   /* what the group's values borrow                  */
} writing;

static kn_status no_memory(const writing *w, kn_error *err)
{
    return kn_fail_memory(err, w->ctx, WHAT);
}

static void set_code(writing *w, int column, int32_t code)
{
    released *c = &w->columns[column];
    if (w->rows > c->begin && code == c->code) return;
    kn_parquet_run(w->file, column, c->code, w->rows - c->begin);
    c->code = code;
    c->begin = w->rows;
}

static kn_string dictionary_text(const kn_batch_column *c, int64_t index)
{
    int     width = c->text_format[0] == 'U' ? 8 : 4;
    int64_t begin = kn_arrow_load_signed((const char *)c->offsets + index * width, width);
    int64_t end = kn_arrow_load_signed((const char *)c->offsets + (index + 1) * width, width);
    return (kn_string){c->bytes + begin, (size_t)(end - begin)};
}

kn_string kn_carry_entry_text(const kn_batch_column *c, int64_t entry)
{
    bool missing = c->validity && !kn_arrow_bit(c->validity, entry);
    if (missing) return (kn_string){"", 0};
    return dictionary_text(c, kn_arrow_load_signed((const char *)c->data + entry * c->width, c->width));
}

static int32_t entry_code(writing *w, int column, int64_t entry)
{
    released              *r = &w->columns[column];
    const kn_batch_column *c = r->batch;
    const char            *at = (const char *)c->data + entry * c->width;
    if (c->validity && !kn_arrow_bit(c->validity, entry)) return KN_PARQUET_NULL;
    if (!c->text_format) return kn_parquet_code(w->file, column, (kn_string){at, (size_t)c->width}, false);
    int64_t index = kn_arrow_load_signed(at, c->width);
    if (r->codes[index] < 0) r->codes[index] = kn_parquet_code(w->file, column, dictionary_text(c, index), true);
    return r->codes[index];
}

static void begin_group(writing *w)
{
    w->rows = 0;
    w->last = -1;
    for (int i = 0; i < w->carry->all; i++) {
        released *c = &w->columns[i];
        c->code = KN_PARQUET_NULL;
        c->begin = 0;
        for (int64_t j = 0; c->codes && j < c->batch->entries; j++) c->codes[j] = -1;
    }
}

static kn_status open_file(writing *w, kn_error *err)
{
    const kn_carry_release *r = w->release;
    char                   *path = r->parts ? kn_strformat(w->ctx, "%s/part-%05zu.parquet", r->path, w->part) : NULL;
    if (r->parts && !path) return no_memory(w, err);
    kn_status st = kn_parquet_open(&w->file, w->ctx, w->named, w->carry->all, r->parts ? path : r->path, r->name, err);
    kn_free(path);
    w->file_rows = 0;
    begin_group(w);
    return st;
}

static kn_status close_file(writing *w, kn_error *err)
{
    const kn_carry_release *r = w->release;
    kn_parquet             *file = w->file;
    w->file = NULL;
    KN_TRY(kn_parquet_close(file, err));
    if (!r->parts) return KN_OK;
    char *path = kn_strformat(w->ctx, "%s/part-%05zu.parquet", r->path, w->part++);
    if (!path) return no_memory(w, err);
    kn_status st = kn_columnar_sync(path, r->name, err);
    kn_free(path);
    return st;
}

static kn_status end_group(writing *w, kn_error *err)
{
    for (int i = 0; i < w->carry->all; i++) set_code(w, i, KN_PARQUET_NULL - 1); /* no code: ends the run */
    KN_TRY(kn_parquet_group(w->file, w->rows, err));
    w->file_rows += w->rows;
    kn_arena_free(&w->room);
    begin_group(w);
    return KN_OK;
}

/* Room for at least one more row. */
static kn_status make_room(writing *w, kn_error *err)
{
    if (!w->file) return open_file(w, err);
    if (w->rows < KN_PARQUET_GROUP) return KN_OK;
    KN_TRY(end_group(w, err));
    if (!w->release->parts || w->file_rows < KN_COLUMNAR_PART) return KN_OK;
    KN_TRY(close_file(w, err));
    return open_file(w, err);
}

static void put_entry(writing *w, int64_t entry)
{
    if (entry == w->last) return;
    w->last = entry;
    for (int i = 0; i < w->carry->all; i++)
        if (w->columns[i].batch) set_code(w, i, entry_code(w, i, entry));
}

/* ---- A row that is shown ---- */

static int compare_keys(const kn_numbers *keys, int i, int64_t a, int64_t b)
{
    int64_t x = keys->columns[i][a], y = keys->columns[i][b];
    return x < y ? -1 : x > y;
}

/* Is the row not before the last one? */
static bool in_order(const writing *w, int64_t before, int64_t entry, const kn_string *texts)
{
    const kn_carry_release *r = w->release;
    int                     c = compare_keys(r->keys, 0, before, entry);
    for (int i = 0; c == 0 && i < r->order_count; i++)
        c = r->order[i] >= 0 ? kn_string_compare(w->before[r->order[i]], texts[r->order[i]])
                             : compare_keys(r->keys, -r->order[i] - 2, before, entry);
    return c <= 0;
}

static bool is_star(kn_string text)
{
    return text.size == 1 && text.data[0] == '*';
}

/* Would it look as if it were suppressed? Its kept cells do. */
static bool looks_suppressed(const writing *w, int64_t entry)
{
    const kn_batches *b = w->release->batches;
    for (int i = 0; i < w->carry->all - w->carry->count; i++) {
        const kn_batch_column *c = &b->columns[i];
        if (!w->release->starred[i]) continue;
        if (!c->text_format || !is_star(kn_carry_entry_text(c, entry))) return false;
    }
    return true;
}

/* The value of a cell in a column of numbers or dates: the engine's where it has that type, else what its text says. */
static bool number_of(uint64_t *out, const writing *w, int kept, int type, kn_string text)
{
    const kn_arrow_format *f = &w->carry->columns[kept].format;
    const kn_arrow_view   *view = &w->in.views[kept];
    const uint8_t         *from = view->data + (view->start + w->in.row) * f->width;
    double                 fraction = 0;
    bool whole = type == 0 && kn_arrow_is_integer(f), day = type == 1 && f->kind == KN_ARROW_DATE && f->width == 4;
    if (whole || day) {
        *out = f->kind == KN_ARROW_UNSIGNED ? kn_arrow_load_unsigned(from, f->width)
                                            : (uint64_t)kn_arrow_load_signed(from, f->width);
        return true;
    }
    if (type != 2 || f->kind != KN_ARROW_FLOAT || f->width != 8) return kn_arrow_value_of(formats[type], text, out);
    memcpy(&fraction, from, sizeof fraction);
    fraction += 0.0; /* there is no negative zero */
    memcpy(out, &fraction, sizeof fraction);
    return true;
}

/* The bytes of a cell live as long as the group. */
static kn_status put_kept(writing *w, int kept, kn_string text, kn_error *err)
{
    int       column = w->carry->columns[kept].place;
    released *c = &w->columns[column];
    bool      guard = w->carry->guarded && kn_csv_guards(text);
    uint64_t  number = 0;
    if (is_null(w->carry, text)) {
        set_code(w, column, KN_PARQUET_NULL);
        return KN_OK;
    }
    if (c->type < FORMATS && !number_of(&number, w, kept, c->type, text))
        return kn_fail(err, KN_INPUT, "%.300s: column \"%.200s\" changed while it was read", w->carry->engine->name,
                       w->named[column].name);
    size_t size = c->type == FORMATS ? text.size + guard : c->type == 1 ? 4 : 8;
    char  *bytes = kn_arena_bytes(&w->room, size + 1);
    if (!bytes) return no_memory(w, err);
    if (guard) bytes[0] = '\'';
    if (c->type < FORMATS)
        memcpy(bytes, &number, size);
    else if (text.size > 0)
        memcpy(bytes + guard, text.data, text.size);
    set_code(w, column, kn_parquet_code(w->file, column, (kn_string){bytes, size}, false));
    return KN_OK;
}

/* Keeps the text for the next row's comparison. */
static kn_status remember(writing *w, int i, kn_string text, kn_error *err)
{
    kn_buffer_clear(&w->held[i]);
    kn_buffer_append(&w->held[i], text.data, text.size);
    w->before[i] = (kn_string){w->held[i].data, text.size};
    return w->held[i].failed ? no_memory(w, err) : KN_OK;
}

static kn_status take_row(writing *w, int64_t entry, kn_string *texts, kn_error *err)
{
    const kn_carry *k = w->carry;
    bool            stars = true;
    if (entry < 0 || entry >= w->release->shown || entry >= w->entries || w->left[entry]-- <= 0)
        return kn_fail(err, KN_INPUT, "%.300s: the table changed while it was read", k->engine->name);
    for (int i = 0; i < k->count; i++) {
        KN_TRY(text_of(&texts[i], &w->in, i, err));
        stars = stars && is_star(texts[i]);
        w->release->formulas[i] += kn_csv_formula(texts[i]);
    }
    if (stars && looks_suppressed(w, entry))
        return kn_fail(err, KN_INPUT,
                       "column \"%s\" of the data holds the value *, and a row would look as if it were "
                       "suppressed; write that value otherwise",
                       w->release->starred_name);
    return KN_OK;
}

static kn_status put_row(writing *w, kn_string *texts, int64_t *before, kn_error *err)
{
    int64_t entry = kn_arrow_load_signed(w->in.entry.data + (w->in.entry.start + w->in.row) * 8, 8);
    bool    text = w->release->output != NULL;
    KN_TRY(take_row(w, entry, texts, err));
    if (*before >= 0 && !in_order(w, *before, entry, texts))
        return kn_fail(err, KN_INTERNAL, "%.300s: the engine does not sort as kanon does", w->carry->engine->name);
    KN_TRY(text ? kn_carry_csv_row(&w->csv, entry, texts, err) : make_room(w, err));
    if (!text) put_entry(w, entry);
    for (int i = 0; i < w->carry->count; i++) {
        bool same = w->rows > 0 && *before >= 0 && kn_string_equal(w->before[i], texts[i]);
        if (!same && !text) KN_TRY(put_kept(w, i, texts[i], err));
        if (!same || *before < 0) KN_TRY(remember(w, i, texts[i], err));
    }
    *before = entry;
    w->rows++;
    return KN_OK;
}

static kn_status put_shown(writing *w, kn_error *err)
{
    kn_string *texts = kn_alloc_array(w->ctx, (size_t)w->carry->count + 1, sizeof *texts);
    int64_t    before = -1, left = 0;
    bool       more = true;
    kn_status  st = texts ? open_incoming(&w->in, w->carry, -1, w->release, err) : no_memory(w, err);
    while (st == KN_OK) {
        st = next_row(&w->in, &more, err);
        if (st != KN_OK || !more) break;
        st = put_row(w, texts, &before, err);
    }
    end_incoming(&w->in);
    kn_free(texts);
    for (int64_t e = 0; e < w->release->shown && e < w->entries; e++) left += w->left[e];
    if (st == KN_OK && left > 0)
        return kn_fail(err, KN_INPUT, "%.300s: the table changed while it was read", w->carry->engine->name);
    return st;
}

/* ---- Suppressed rows ---- */

static kn_status put_suppressed(writing *w, kn_error *err)
{
    static const kn_string star = {"*", 1};
    for (int64_t e = w->release->shown; e < w->entries; e++)
        while (w->left[e] > 0) {
            KN_TRY(make_room(w, err));
            int64_t most = KN_PARQUET_GROUP - w->rows, times = w->left[e] < most ? w->left[e] : most;
            put_entry(w, e);
            for (int i = 0; i < w->carry->count; i++) {
                int column = w->carry->columns[i].place;
                set_code(w, column, kn_parquet_code(w->file, column, star, false));
            }
            w->rows += times;
            w->left[e] -= times;
        }
    return KN_OK;
}

/* The same as CSV. */
static kn_status put_suppressed_text(writing *w, kn_error *err)
{
    kn_string *stars = kn_alloc_array(w->ctx, (size_t)w->carry->count + 1, sizeof *stars);
    kn_status  st = stars ? KN_OK : no_memory(w, err);
    for (int i = 0; stars && i < w->carry->count; i++) stars[i] = (kn_string){"*", 1};
    for (int64_t e = w->release->shown; e < w->entries; e++)
        for (; st == KN_OK && w->left[e] > 0; w->left[e]--) st = kn_carry_csv_row(&w->csv, e, stars, err);
    kn_free(stars);
    return st;
}

/* ---- All of it ---- */

static kn_status open_columns(writing *w, kn_error *err)
{
    const kn_carry   *k = w->carry;
    const kn_batches *b = w->release->batches;
    int              *kinds = kn_alloc_array_zero(w->ctx, (size_t)k->count + 1, sizeof *kinds);
    kn_status st = kinds ? find_types(kinds, k, w->release, w->entries > w->release->shown, err) : no_memory(w, err);
    for (int i = 0, kept = 0, other = 0; st == KN_OK && i < k->all; i++) {
        released *c = &w->columns[i];
        if (kept < k->count && k->columns[kept].place == i) {
            *c = (released){.kept = kept, .type = kinds[kept]};
            w->named[i] = (kn_parquet_column){k->columns[kept++].name, types[c->type]};
            continue;
        }
        c->batch = &b->columns[other++];
        char f = c->batch->format[0];
        w->named[i] = (kn_parquet_column){c->batch->name, c->batch->text_format ? KN_PARQUET_TEXT
                                                          : f == 'l'            ? KN_PARQUET_INTEGER
                                                          : f == 'g'            ? KN_PARQUET_REAL
                                                                                : KN_PARQUET_DATE};
        if (c->batch->text_format) c->codes = kn_alloc_array(w->ctx, (size_t)c->batch->entries + 1, sizeof *c->codes);
        if (c->batch->text_format && !c->codes) st = no_memory(w, err);
    }
    kn_free(kinds);
    return st;
}

static kn_status open_writing(writing *w, kn_error *err)
{
    const kn_carry   *k = w->carry;
    const kn_batches *b = w->release->batches;
    size_t            all = (size_t)k->all + 1, count = (size_t)k->count + 1;
    for (size_t i = 0; i < b->count; i++) w->entries += b->arrays[i].length;
    w->columns = kn_alloc_array_zero(w->ctx, all, sizeof *w->columns);
    w->named = kn_alloc_array_zero(w->ctx, all, sizeof *w->named);
    w->left = kn_alloc_array(w->ctx, (size_t)w->entries + 1, sizeof *w->left);
    w->before = kn_alloc_array_zero(w->ctx, count, sizeof *w->before);
    w->held = kn_alloc_array_zero(w->ctx, count, sizeof *w->held);
    if (!w->columns || !w->named || !w->left || !w->before || !w->held) return no_memory(w, err);
    for (int i = 0; i < k->count; i++) kn_buffer_init(&w->held[i], w->ctx);
    const int64_t *counts = b->columns[b->column_count - KN_ENGINE_COUNTS].data;
    if (w->entries > 0) memcpy(w->left, counts, (size_t)w->entries * sizeof *w->left);
    return w->release->output ? kn_carry_csv_open(&w->csv, k, w->release, err) : open_columns(w, err);
}

static void end_writing(writing *w)
{
    kn_parquet_abandon(w->file);
    kn_carry_csv_end(&w->csv);
    for (int i = 0; w->columns && i < w->carry->all; i++) kn_free(w->columns[i].codes);
    for (int i = 0; w->held && i < w->carry->count; i++) kn_buffer_free(&w->held[i]);
    KN_FREE(w->columns, w->named, w->left, w->before, w->held);
    kn_arena_free(&w->room);
}

static kn_status finish_file(writing *w, kn_error *err)
{
    if (!w->file) KN_TRY(open_file(w, err));
    KN_TRY(end_group(w, err));
    return close_file(w, err);
}

kn_status kn_carry_write(kn_carry *k, const kn_carry_release *release, kn_error *err)
{
    writing w = {.ctx = k->engine->ctx, .carry = k, .release = release};
    kn_arena_init(&w.room, w.ctx);
    for (int i = 0; i < k->count; i++) release->formulas[i] = 0;
    kn_status st = open_writing(&w, err);
    if (st == KN_OK) st = put_shown(&w, err);
    if (st == KN_OK) st = release->output ? put_suppressed_text(&w, err) : put_suppressed(&w, err);
    if (st == KN_OK) st = release->output ? kn_carry_csv_finish(&w.csv, err) : finish_file(&w, err);
    end_writing(&w);
    return st;
}
