/* kn_csv_wave.c: records → ids, several pieces of the buffer at a time.
 *
 * Workers scan the pieces of a wave in parallel, each from where a record seems to begin: after the first line end
 * outside quotes, judged by the parity of the quotes before it. Afterwards the pieces are chained: a piece counts
 * only if it began exactly where the one before it ended; otherwise it is scanned again from there. So a stray quote
 * costs time, never correctness. Cells are interned column by column, while a column's dictionary is in the cache.
 *
 * A digest of the file's bytes, if one is wanted, is one more task beside the scans and the writing of ids.
 *
 * Cost: one pass; the wave holds up to 8 pieces of 512 KiB per thread. Of several faults the first in the file is
 * reported, whatever the number of threads.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "kn_alloc.h"
#include "kn_context.h"
#include "kn_csv_internal.h"
#include "kn_csv_write.h"
#include "kn_error.h"
#include "kn_interner.h"
#include "kn_parallel.h"
#include "kn_utf8.h"

kn_string kn_csv_cell_text(const kn_csv_reader *r, kn_csv_worker *w, kn_csv_field field)
{
    kn_string text = {r->buffer + field.begin, field.size};
    if (field.doubled) {
        kn_buffer_clear(&w->single);
        char *room = kn_buffer_reserve(&w->single, text.size);
        if (!room) return (kn_string){NULL, 0};
        text = (kn_string){room, kn_csv_undouble(room, text.data, text.size)};
    }
    if (r->opt->encoding != KN_ENCODING_UTF8 && !kn_plain_ascii(text.data, text.size)) {
        kn_buffer_clear(&w->utf8);
        char *room = kn_buffer_reserve(&w->utf8, 3 * text.size);
        if (!room) return (kn_string){NULL, 0};
        size_t size = kn_utf8_from_bytes(room, text.data, text.size, r->opt->encoding == KN_ENCODING_LATIN_1);
        text = (kn_string){room, size == SIZE_MAX ? 0 : size}; /* bytes without a meaning: check_bytes says where */
    }
    return text;
}

enum {
    TOGETHER = 64, /* texts that are interned at a time */
    STEP = 1 << 16 /* bytes of the digest               */
};

/* The cells of a column of a batch that have been interned so far. */
typedef struct cells {
    kn_interner        *interner;
    const kn_csv_field *field; /* of the next record */
    uint32_t           *ids;
    size_t              done, records;
} cells;

/* Cells of which each is found at once; stops at any other. `words`: see kn_near_words; neither do the interner's texts have more. The
 * buffer can be read behind each of them (KN_CSV_PADDING). All in local variables: reading a table is this loop above all. */
static inline void find_near(const kn_csv_reader *r, cells *c, int words)
{
    const kn_interner_near *near = c->interner->near;
    const kn_csv_field     *field = c->field;
    const char             *buffer = r->buffer;
    uint32_t               *ids = c->ids;
    size_t                  columns = (size_t)r->columns, done = c->done, records = c->records;
    int                     shift = c->interner->near_shift;
    for (; done < records; field += columns, done++) {
        kn_csv_field f = *field;
        if (f.doubled || f.size > (size_t)words * KN_NEAR_WORD) break;
        const kn_interner_near *slot = kn_near_find(near, shift, buffer + f.begin, f.size, words);
        if (!slot) break;
        ids[done] = slot->id;
    }
    c->field = field;
    c->done = done;
}

/* Cells that stand in the buffer as they are, while the column has few texts; stops at any other. */
static bool intern_near(const kn_csv_reader *r, cells *c)
{
    while (c->interner->near) {
        if (c->interner->near_longest <= KN_NEAR_WORD)
            find_near(r, c, 1);
        else if (c->interner->near_longest <= KN_NEAR_HALF)
            find_near(r, c, 2);
        else
            find_near(r, c, 4);
        if (c->done == c->records || c->field->doubled) break;
        uint32_t id = kn_intern_near(c->interner, (kn_string){r->buffer + c->field->begin, c->field->size});
        if (id == KN_ID_FAILED) return false;
        c->ids[c->done++] = id;
        c->field += r->columns;
    }
    return true;
}

/* One cell whatever it holds. */
static bool intern_one(kn_csv_reader *r, kn_csv_worker *w, cells *c)
{
    bool      plain = !c->field->doubled && r->opt->encoding == KN_ENCODING_UTF8 && !r->opt->guarded;
    kn_string text = kn_csv_cell_text(r, w, *c->field);
    if (!text.data) return false;
    if (r->opt->guarded) text = kn_csv_unguarded(text);
    uint32_t id = plain ? kn_intern_near(c->interner, text) : kn_intern(c->interner, text);
    c->ids[c->done++] = id;
    c->field += r->columns;
    return id != KN_ID_FAILED;
}

/* The following cells that stand in the buffer as they are, of a column with many texts. */
static bool intern_together(const kn_csv_reader *r, cells *c)
{
    kn_string texts[TOGETHER];
    int       held = 0;
    for (; held < TOGETHER && c->done + (size_t)held < c->records && !c->field->doubled; c->field += r->columns)
        texts[held++] = (kn_string){r->buffer + c->field->begin, c->field->size};
    uint32_t *ids = c->ids + c->done;
    c->done += (size_t)held;
    return kn_intern_all(c->interner, texts, held, ids);
}

/* Interns one column of a batch of records; false: out of memory. */
static bool intern_column(kn_csv_reader *r, kn_csv_worker *w, kn_csv_piece *p, int selected, size_t records,
                          uint32_t *ids)
{
    bool  plain = r->opt->encoding == KN_ENCODING_UTF8 && !r->opt->guarded, ok = true;
    cells c = {.interner = kn_builder_interner(r->builder, selected, p->slot),
               .field = w->fields + r->select[selected],
               .ids = ids,
               .records = records};
    while (ok && c.done < records) {
        if (plain && c.interner->near) ok = intern_near(r, &c);
        if (ok && plain && c.interner->far) ok = intern_together(r, &c);
        if (ok && c.done < records) ok = intern_one(r, w, &c);
    }
    return ok;
}

static bool intern_batch(kn_csv_reader *r, kn_csv_worker *w, kn_csv_piece *p, size_t records)
{
    size_t batch_size = (size_t)r->selected * r->batch;
    size_t batches = (size_t)p->records / r->batch;
    if (!KN_GROW(r->ctx, &p->ids, &p->ids_capacity, (batches + 1) * batch_size)) return false;
    p->records += (int64_t)records;
    for (int c = 0; c < r->selected; c++)
        if (!intern_column(r, w, p, c, records, p->ids + batches * batch_size + (size_t)c * r->batch)) return false;
    return true;
}

/* Are the bytes of the piece up to `end` in its encoding? If not, that is the first fault. */
static void check_bytes(kn_csv_reader *r, kn_csv_piece *p, const kn_csv_scanner *s, size_t end)
{
    const char *text = r->buffer + p->begin;
    size_t      size = end - p->begin;
    if ((!s->seen.odd && end <= s->indexed) || kn_plain_ascii(text, size)) return;
    size_t wrong = kn_csv_wrong_byte(r, text, size);
    if (wrong == size) return;
    p->fault = KN_CSV_BYTES;
    p->fault_at = p->begin + wrong;
}

/* Scans and interns the records of a piece. Every batch but the last is full. */
static void scan_piece(kn_csv_reader *r, kn_csv_piece *p, int slot)
{
    kn_csv_worker  *w = &r->workers[slot];
    kn_csv_scanner *s = &w->scanner;
    kn_csv_scanner_init(s, r->buffer, r->filled, r->ended, r->delimiter, p->begin);
    p->slot = slot;
    p->records = 0;
    p->more = false;
    p->fault = KN_CSV_FINE;
    while (!kn_cancelled(r->ctx)) {
        size_t        records = 0;
        kn_csv_result result = kn_csv_scan(s, p->stop, r->columns, w->fields, r->batch, &records);
        if (records > 0 && !intern_batch(r, w, p, records)) {
            p->fault = KN_CSV_MEMORY;
            p->fault_at = p->begin;
            return;
        }
        if (result == KN_CSV_MORE) p->more = true;
        if (result != KN_CSV_OK && result != KN_CSV_MORE) {
            p->fault = KN_CSV_GRAMMAR;
            p->result = result;
            p->fault_at = s->error_at;
        }
        if (result != KN_CSV_OK || records < r->batch) break;
    }
    p->end = s->at;
    p->lines = s->lines;
    /* After a fault the end is unknown; what is before it is still checked, so that the first fault is found. */
    check_bytes(r, p, s, p->fault == KN_CSV_FINE ? p->end : p->fault_at);
}

static kn_status count_range(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    (void)worker;
    (void)err;
    kn_csv_reader *r = arg;
    for (int64_t i = begin; i < end; i++) {
        kn_csv_piece *p = &r->pieces[i];
        p->quotes = kn_csv_count_quotes(r->buffer + p->begin, p->stop - p->begin);
    }
    return KN_OK;
}

static void digest_until(kn_csv_reader *r, size_t end)
{
    if (r->digest) kn_sha256_add(r->digest, r->buffer + r->hashed, end - r->hashed);
    r->hashed = end;
}

void kn_csv_digest(kn_csv_reader *r)
{
    digest_until(r, r->filled);
}

/* The digest is the first task, since it cannot be cut. It ends when no piece is left to be scanned, and goes on while ids are
 * written: so no thread waits for it as long as there is something else to do. */
static kn_status scan_range(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    (void)err;
    kn_csv_reader *r = arg;
    for (int64_t i = begin; i < end; i++) {
        while (i == 0 && r->digest && r->hashed < r->filled && atomic_load(&r->unscanned) > 0)
            digest_until(r, r->filled - r->hashed < STEP ? r->filled : r->hashed + STEP);
        if (i == 0) continue;
        scan_piece(r, &r->pieces[i - 1], worker);
        atomic_fetch_sub(&r->unscanned, 1);
    }
    return KN_OK;
}

static kn_status write_range(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    (void)worker;
    (void)err;
    kn_csv_reader *r = arg;
    int64_t        batch = (int64_t)r->batch;
    for (int64_t i = begin; i < end; i++) {
        if (i == 0) kn_csv_digest(r);
        if (i == 0) continue;
        const kn_csv_piece *p = &r->pieces[i - 1];
        const uint32_t     *ids = p->ids;
        for (int64_t done = 0; done < p->records; done += batch) {
            int64_t n = p->records - done < batch ? p->records - done : batch;
            for (int c = 0; c < r->selected; c++, ids += batch)
                kn_builder_write(r->builder, c, p->first_row + done, ids, n);
        }
    }
    return KN_OK;
}

/* Cuts [r->at, r->filled) into pieces and guesses where their first records begin. */
static kn_status cut_pieces(kn_csv_reader *r, kn_error *err)
{
    size_t size = r->filled - r->at;
    int    count = (int)((size + r->piece_size - 1) / r->piece_size);
    if (count > r->piece_capacity) {
        kn_csv_piece *more = kn_realloc_array(r->ctx, r->pieces, (size_t)count, sizeof *more);
        if (!more) return kn_csv_fail_memory(r, err);
        memset(more + r->piece_capacity, 0, (size_t)(count - r->piece_capacity) * sizeof *more);
        r->pieces = more;
        r->piece_capacity = count;
    }
    r->piece_count = count;
    for (int i = 0; i < count; i++) {
        r->pieces[i].begin = r->at + (size_t)i * r->piece_size;
        r->pieces[i].stop = i + 1 < count ? r->pieces[i].begin + r->piece_size : r->filled;
    }
    KN_TRY(kn_parallel_for(r->ctx, count, 1, count_range, r, err));
    size_t quotes = 0;
    for (int i = 0; i < count; i++) {
        kn_csv_piece *p = &r->pieces[i];
        /* From one byte earlier: a record may end exactly at the cut. */
        bool before = i > 0 && r->buffer[p->begin - 1] == '"';
        if (i > 0) p->begin = kn_csv_guess_start(r->buffer, p->stop, p->begin - 1, (quotes - before) % 2 == 1);
        quotes += p->quotes;
    }
    return KN_OK;
}

/* Accepts the pieces in order; one that began at the wrong place is scanned again from the right one. */
static kn_status chain_pieces(kn_csv_reader *r, kn_error *err)
{
    size_t   at = r->at;
    uint64_t line = r->line;
    int64_t  records = 0;
    for (int i = 0; i < r->piece_count; i++) records += r->pieces[i].records;
    /* More than enough where a piece is scanned again: if there is no memory for that, it is no failure. */
    (void)!kn_builder_reserve(r->builder, records, NULL);
    for (int i = 0; i < r->piece_count; i++) {
        kn_csv_piece *p = &r->pieces[i];
        if (at >= p->stop) { /* a record of an earlier piece spans all of this one        */
            if (p->records > 0) kn_builder_set_unused(r->builder);
            p->records = 0;
            continue;
        }
        if (p->begin != at) {
            if (p->records > 0) kn_builder_set_unused(r->builder);
            p->begin = at;
            scan_piece(r, p, 0);
        }
        if (kn_cancelled(r->ctx)) return kn_fail_cancelled(err);
        if (p->fault != KN_CSV_FINE) return kn_csv_fail(r, p->fault, p->result, p->fault_at, at, line, err);
        kn_status st = kn_builder_extend(r->builder, p->records, p->slot, &p->first_row, err);
        if (st != KN_OK) return st == KN_MEMORY ? kn_csv_fail_memory(r, err) : st;
        at = p->end;
        line += p->lines;
        if (p->more) { /* what follows waits for the next wave */
            for (int j = i + 1; j < r->piece_count; j++) {
                if (r->pieces[j].records > 0) kn_builder_set_unused(r->builder);
                r->pieces[j].records = 0;
            }
            break;
        }
    }
    r->at = at;
    r->line = line;
    return KN_OK;
}

static kn_status read_wave(kn_csv_reader *r, kn_error *err)
{
    KN_TRY(cut_pieces(r, err));
    atomic_store(&r->unscanned, r->piece_count);
    KN_TRY(kn_parallel_for(r->ctx, r->piece_count + 1, 1, scan_range, r, err));
    KN_TRY(chain_pieces(r, err));
    return kn_parallel_for(r->ctx, r->piece_count + 1, 1, write_range, r, err);
}

kn_status kn_csv_read_records(kn_csv_reader *r, kn_error *err)
{
    for (;;) {
        if (r->at == r->filled && r->ended) return KN_OK;
        KN_TRY(read_wave(r, err));
        uint64_t consumed = kn_source_consumed(r->source);
        kn_progress_add(r->ctx, consumed - r->told);
        r->told = consumed;
        if (!r->ended) KN_TRY(kn_csv_fill(r, err));
    }
}
