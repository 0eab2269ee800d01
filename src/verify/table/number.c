/* table/number.c: cells → numbers of texts, in the order in which rows first have them.
 *
 * Each worker numbers the texts of its pieces for itself, in the order in which it meets them. After each window the new
 * ones get their common number, piece by piece: since a worker takes pieces in their order, a text that no earlier piece
 * has is new to its worker there, and so common numbers are in the order of the rows, whatever the number of threads.
 * Only where a piece was scanned again, or in vain, they are put into that order at the end.
 *
 * Cost: a look-up per cell and a pass over the numbers of a window; while a column has few texts, short ones are looked
 * up by their words. Otherwise a cell equal to the one above it is recognized by its bytes. Memory: kn_vcolumn's.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_parallel.h"
#include "kn_verify_reader.h"

enum { BATCH = KN_VREADER_BATCH, GRAIN = 1 << 16 };

static kn_status no_memory(const kn_vreader *r, kn_error *err)
{
    return kn_fail_memory(err, r->ctx, "verifying");
}

/* ---- A worker's numbers ---- */

/* The cells of a column of a batch. */
typedef struct cells {
    kn_texts           *texts;
    const kn_csv_field *field; /* of the next record */
    uint32_t           *to;
    size_t              done, records;
} cells;

/* Cells whose text stands in the window as it is, as long as there are few; stops at any other. */
static bool number_quick(const kn_vreader *r, cells *c)
{
    for (; c->done < c->records && c->texts->quick; c->field += r->t->name_count, c->done++) {
        if (c->field->doubled) return true;
        kn_string text = {r->window + c->field->begin, c->field->size};
        uint32_t  id = text.size <= KN_VSHORT ? kn_texts_quick(c->texts, text) : KN_V_NONE;
        if (id == KN_V_NONE) id = kn_texts_add_short(c->texts, text);
        if (id == KN_V_NONE) return false;
        c->to[c->done] = id;
    }
    return true;
}

/* Any cell. */
static bool number_cell(const kn_vreader *r, kn_vworker *w, size_t column, cells *c, bool plain)
{
    kn_string text = {r->window + c->field->begin, c->field->size};
    bool      made = c->field->doubled || !plain;
    if (made) text = kn_vreader_cell(r, w, *c->field);
    if (!text.data) return false;
    if (w->above_id[column] == KN_V_NONE || !kn_string_equal(text, w->above[column])) {
        uint32_t id = made ? kn_texts_add(c->texts, text, true) : kn_texts_add_short(c->texts, text);
        if (id == KN_V_NONE) return false;
        w->above_id[column] = id;
        w->above[column] = c->texts->texts[id];
    }
    c->to[c->done++] = w->above_id[column];
    c->field += r->t->name_count;
    return true;
}

bool kn_vnumber_cells(kn_vreader *r, kn_vpiece *p, size_t records)
{
    kn_vworker *w = &r->workers[p->worker];
    size_t      columns = (size_t)r->t->column_count, from = (size_t)p->records / BATCH * BATCH * columns;
    bool        plain = r->opt->csv->encoding == KN_ENCODING_UTF8, good = true;
    if (!KN_GROW(r->ctx, &p->ids, &p->capacity, from + BATCH * columns + 1)) return false;
    for (size_t c = 0; good && c < columns; c++) {
        cells of = {.texts = &r->t->locals[(size_t)p->worker * columns + c],
                    .field = w->fields + r->place[c],
                    .to = p->ids + from + c * BATCH,
                    .records = records};
        while (good && of.done < records) {
            if (plain && of.texts->quick) good = number_quick(r, &of);
            if (good && of.done < records) good = number_cell(r, w, c, &of, plain);
        }
    }
    p->records += (int64_t)records;
    return good;
}

bool kn_vnumber_piece(const kn_vreader *r, kn_vpiece *p)
{
    size_t columns = (size_t)r->t->column_count;
    if (!p->known) p->known = kn_alloc_array(r->ctx, columns + 1, sizeof *p->known);
    for (size_t c = 0; p->known && c < columns; c++) p->known[c] = r->t->locals[(size_t)p->worker * columns + c].count;
    p->done = p->known != NULL;
    return p->done;
}

/* ---- Common numbers ---- */

static int width_for(uint32_t count)
{
    return count <= 1u << 8 ? 1 : count <= 1u << 16 ? 2 : 4;
}

/* Extends the column to all rows so far, in codes of at least the given width; the rows before `done` are widened. */
static bool widen(kn_vreader *r, kn_vcolumn *c, int width, int64_t done)
{
    if (width < c->width) width = c->width;
    void *codes = kn_realloc(r->ctx, c->codes, r->row_capacity * (size_t)width + 1);
    if (!codes) return false;
    c->codes = codes;
    kn_vcolumn old = *c;
    c->width = width;
    for (int64_t i = done; width > old.width && i-- > 0;) /* from the end: wider codes never overtake */
        kn_vcode_set(c, i, kn_vcode(&old, i));
    return true;
}

typedef struct merge {
    kn_vreader *r;
    int64_t     done;
    bool        more; /* rows than there is room for */
} merge;

/* Common numbers for a worker's texts of a column, up to its first `count`. */
static bool take_texts(kn_vreader *r, int worker, size_t column, uint32_t count)
{
    size_t          at = (size_t)worker * (size_t)r->t->column_count + column;
    const kn_texts *local = &r->t->locals[at];
    if (r->merged[at] >= count) return true;
    if (!KN_GROW(r->ctx, &r->common[at], &r->common_capacity[at], count)) return false;
    for (; r->merged[at] < count; r->merged[at]++) {
        uint32_t id = kn_texts_add(&r->t->texts[column], local->texts[r->merged[at]], false);
        if (id == KN_V_NONE) return false;
        r->common[at][r->merged[at]] = id;
    }
    return true;
}

static kn_status merge_range(void *arg, int64_t begin, int64_t end, int number, kn_error *err)
{
    (void)number;
    const merge *m = arg;
    kn_vreader  *r = m->r;
    size_t       columns = (size_t)r->t->column_count;
    for (int64_t c = begin; c < end; c++) {
        bool good = true;
        for (int i = 0; good && i < r->piece_count; i++)
            good = !r->pieces[i].done || take_texts(r, r->pieces[i].worker, (size_t)c, r->pieces[i].known[c]);
        for (int w = 0; good && w < r->worker_count; w++) /* what was found in vain, too */
            good = take_texts(r, w, (size_t)c, r->t->locals[(size_t)w * columns + (size_t)c].count);
        kn_vcolumn *column = &r->t->columns[c];
        int         width = width_for(r->t->texts[c].count);
        if (good && (width > column->width || m->more)) good = widen(r, column, width, m->done);
        if (!good) return no_memory(r, err);
    }
    return KN_OK;
}

/* Writes the common numbers of `count` cells. */
static void write_codes(const kn_vcolumn *column, int64_t row, const uint32_t *common, const uint32_t *ids,
                        int64_t count)
{
    uint8_t  *one = (uint8_t *)column->codes + row;
    uint16_t *two = (uint16_t *)column->codes + row;
    uint32_t *four = (uint32_t *)column->codes + row;
    if (column->width == 1)
        for (int64_t i = 0; i < count; i++) one[i] = (uint8_t)common[ids[i]];
    else if (column->width == 2)
        for (int64_t i = 0; i < count; i++) two[i] = (uint16_t)common[ids[i]];
    else
        for (int64_t i = 0; i < count; i++) four[i] = common[ids[i]];
}

static kn_status write_range(void *arg, int64_t begin, int64_t end, int number, kn_error *err)
{
    (void)number;
    (void)err;
    kn_vreader *r = arg;
    size_t      columns = (size_t)r->t->column_count;
    for (int64_t i = begin; i < end; i++) {
        const kn_vpiece *p = &r->pieces[i];
        for (int64_t done = 0; done < p->records; done += BATCH) {
            int64_t         count = p->records - done < BATCH ? p->records - done : BATCH;
            const uint32_t *ids = p->ids + (size_t)done * columns;
            for (size_t c = 0; c < columns; c++, ids += BATCH)
                write_codes(&r->t->columns[c], p->first_row + done, r->common[(size_t)p->worker * columns + c], ids,
                            count);
        }
    }
    return KN_OK;
}

/* Has a worker found a text that has no common number yet? */
static bool has_news(const kn_vreader *r)
{
    for (int i = 0; i < r->t->local_count; i++)
        if (r->merged[i] < r->t->locals[i].count) return true;
    return false;
}

kn_status kn_vnumber_rows(kn_vreader *r, int64_t done, kn_error *err)
{
    merge m = {r, done, (size_t)r->t->rows > r->row_capacity};
    if (m.more) {
        size_t wanted = r->row_capacity + r->row_capacity / 2;
        r->row_capacity = wanted > (size_t)r->t->rows ? wanted : (size_t)r->t->rows;
    }
    if (m.more || has_news(r)) KN_TRY(kn_parallel_for(r->ctx, r->t->column_count, 1, merge_range, &m, err));
    return kn_parallel_for(r->ctx, r->piece_count, 1, write_range, r, err);
}

/* ---- The end ---- */

/* Numbers a column's texts anew, by the rows that hold them first; texts that no row holds are gone. */
static bool renumber(kn_vreader *r, kn_vcolumn *column, kn_texts *all)
{
    uint32_t  *to = kn_alloc_array(r->ctx, (size_t)all->count + 1, sizeof *to);
    kn_string *texts = kn_alloc_array(r->ctx, (size_t)all->count + 1, sizeof *texts);
    uint32_t   seen = 0;
    if (!to || !texts) {
        kn_free(to);
        kn_free(texts);
        return false;
    }
    for (uint32_t i = 0; i < all->count; i++) to[i] = KN_V_NONE;
    for (int64_t row = 0; row < r->t->rows; row++) {
        uint32_t code = kn_vcode(column, row);
        if (to[code] == KN_V_NONE) {
            texts[seen] = all->texts[code];
            to[code] = seen++;
        }
        kn_vcode_set(column, row, to[code]);
    }
    kn_free(to);
    kn_free(all->texts);
    all->texts = texts;
    all->count = seen;
    return true;
}

static kn_status end_range(void *arg, int64_t begin, int64_t end, int number, kn_error *err)
{
    (void)number;
    kn_vreader *r = arg;
    for (int64_t c = begin; c < end; c++) {
        kn_vcolumn *column = &r->t->columns[c];
        kn_texts   *all = &r->t->texts[c];
        if (r->disordered && !renumber(r, column, all)) return no_memory(r, err);
        kn_free(all->slots);
        all->slots = NULL;
        column->texts = all->texts;
        column->count = all->count;
    }
    return KN_OK;
}

kn_status kn_vnumber_end(kn_vreader *r, kn_error *err)
{
    KN_TRY(kn_parallel_for(r->ctx, r->t->column_count, 1, end_range, r, err));
    for (int i = 0; i < r->t->local_count; i++) { /* only the bytes of the texts are still needed */
        kn_texts *local = &r->t->locals[i];
        KN_FREE(local->slots, local->texts, local->quick);
        local->slots = NULL;
        local->texts = NULL;
        local->quick = NULL;
    }
    return KN_OK;
}
