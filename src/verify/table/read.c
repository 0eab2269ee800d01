/* table/read.c: CSV files → the distinct texts of each column and their number in every row.
 *
 * The verifier's own reader; of io it uses the sources and the tokenizer. A window of the file is divided into pieces
 * that are scanned in parallel, each from where a record seems to begin; then they are chained, and a piece that did
 * not begin where the previous one ended is scanned again. Each worker numbers texts for itself; after each window
 * the new ones get their common number. At the end texts are renumbered by the row that holds them first, so nothing
 * depends on the number of threads. The digest of the bytes is one more parallel task.
 *
 * Cost: one pass. Memory: 1, 2 or 4 bytes per cell, the distinct texts, a window of 1 MiB per thread. A cell equal to
 * the previous one in its column is recognized by its bytes, without hashing: sorted releases are read fastest.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_alloc.h"
#include "kn_columnar.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_parallel.h"
#include "kn_utf8.h"
#include "kn_verify_reader.h"

enum { PIECE = 1 << 18, PIECES_PER_THREAD = 4, BATCH = KN_VREADER_BATCH };

static kn_status no_memory(const kn_vreader *r, kn_error *err)
{
    return kn_fail_memory(err, r->ctx, "verifying");
}

/* ---- The window ---- */

kn_status kn_vreader_fill(kn_vreader *r, kn_error *err)
{
    size_t held = r->filled - r->at;
    if (r->at > 0) memmove(r->window, r->window + r->at, held);
    r->hashed -= r->at;
    r->at = 0;
    r->filled = held;
    if (held > KN_CSV_MAX_RECORD)
        return kn_fail_at(err, KN_INPUT, kn_source_name(r->source), (int64_t)r->line + 1, 0, "a row is too long");
    if (held > r->capacity / 2) {
        char *larger = kn_realloc(r->ctx, r->window, r->capacity * 2);
        if (!larger) return no_memory(r, err);
        r->window = larger;
        r->capacity *= 2;
    }
    size_t got = 0;
    KN_TRY(kn_source_read(r->source, r->window + held, r->capacity - held, &got, err));
    r->filled += got;
    r->ended = got < r->capacity - held;
    uint64_t consumed = kn_source_consumed(r->source);
    kn_progress_add(r->ctx, consumed - r->told);
    r->told = consumed;
    return KN_OK;
}

static const char *describe(const kn_vreader *r, const kn_vpiece *p)
{
    if (p->bytes) return r->opt->csv->encoding == KN_ENCODING_UTF8 ? "not valid UTF-8" : "not text of its encoding";
    switch (p->result) {
    case KN_CSV_TOO_FEW: return "this row has fewer cells than the header";
    case KN_CSV_TOO_MANY: return "this row has more cells than the header";
    case KN_CSV_AFTER_QUOTE: return "there is text after a closing quote";
    case KN_CSV_UNTERMINATED: return "a quote is never closed";
    default: return "this row cannot be read";
    }
}

kn_status kn_vreader_fail(kn_vreader *r, const kn_vpiece *p, size_t from, uint64_t line, kn_error *err)
{
    if (p->memory) return no_memory(r, err);
    line += kn_csv_count_lines(r->window + from, p->fault_at - from);
    return kn_fail_at(err, KN_INPUT, kn_source_name(r->source), (int64_t)line + 1, 0, "%s", describe(r, p));
}

size_t kn_vreader_wrong_byte(const kn_vreader *r, const char *text, size_t size)
{
    if (kn_plain_ascii(text, size)) return size;
    kn_encoding encoding = r->opt->csv->encoding;
    return encoding == KN_ENCODING_UTF8 ? kn_utf8_check(text, size)
                                        : kn_bytes_check(text, size, encoding == KN_ENCODING_LATIN_1);
}

/* ---- Pieces ---- */

/* A cell's text without doubled quotes and in UTF-8; data NULL: out of memory. */
kn_string kn_vreader_cell(const kn_vreader *r, kn_vworker *w, kn_csv_field field)
{
    kn_string text = {r->window + field.begin, field.size};
    if (field.doubled) {
        kn_buffer_clear(&w->single);
        char *room = kn_buffer_reserve(&w->single, text.size + 1);
        if (!room) return (kn_string){NULL, 0};
        text = (kn_string){room, kn_csv_undouble(room, text.data, text.size)};
    }
    if (r->opt->csv->encoding != KN_ENCODING_UTF8 && !kn_plain_ascii(text.data, text.size)) {
        kn_buffer_clear(&w->utf8);
        char *room = kn_buffer_reserve(&w->utf8, 3 * text.size + 1);
        if (!room) return (kn_string){NULL, 0};
        size_t size = kn_utf8_from_bytes(room, text.data, text.size, r->opt->csv->encoding == KN_ENCODING_LATIN_1);
        text = (kn_string){room, size == SIZE_MAX ? 0 : size};
    }
    return text;
}

static bool number_cells(kn_vreader *r, kn_vpiece *p, kn_vworker *w, size_t records)
{
    kn_vtable *t = r->t;
    size_t     columns = (size_t)t->column_count;
    void      *ids = p->ids;
    if (!kn_grow(r->ctx, &ids, &p->capacity, ((size_t)p->records + records) * columns + 1, sizeof *p->ids))
        return false;
    p->ids = ids;
    bool plain = r->opt->csv->encoding == KN_ENCODING_UTF8;
    for (size_t c = 0; c < columns; c++) {
        kn_texts           *texts = &t->locals[(size_t)p->worker * columns + c];
        const kn_csv_field *field = w->fields + r->place[c];
        uint32_t           *to = p->ids + (size_t)p->records * columns + c;
        kn_string           above = w->above[c];
        uint32_t            id = w->above_id[c];
        for (size_t i = 0; i < records; i++, field += t->name_count, to += columns) {
            kn_string text = {r->window + field->begin, field->size};
            if (field->doubled || !plain) text = kn_vreader_cell(r, w, *field);
            if (!text.data) return false;
            if (id == KN_V_NONE || !kn_string_equal(text, above)) {
                id = kn_texts_add(texts, text, true);
                if (id == KN_V_NONE) return false;
                above = texts->texts[id];
            }
            *to = id;
        }
        w->above[c] = above;
        w->above_id[c] = id;
    }
    p->records += (int64_t)records;
    return true;
}

void kn_vreader_judge(const kn_vreader *r, kn_vpiece *p, const kn_csv_scanner *s)
{
    p->lines = s->lines;
    bool   fault = p->result != KN_CSV_OK && p->result != KN_CSV_MORE;
    size_t until = fault ? s->error_at : p->end,
           wrong = kn_vreader_wrong_byte(r, r->window + p->begin, until - p->begin);
    p->fault_at = until;
    if (p->begin + wrong < until) {
        p->bytes = true;
        p->fault_at = p->begin + wrong;
    }
}

/* A piece may be scanned twice. */
static bool clear_form(const kn_vreader *r, kn_vpiece *p)
{
    size_t   room = (size_t)r->t->column_count * KN_VFORM_KINDS + 1;
    int64_t *quoted = p->form.quoted ? p->form.quoted : kn_alloc_array(r->ctx, room, sizeof *quoted);
    p->form = (kn_vform){.quoted = quoted};
    if (quoted) memset(quoted, 0, room * sizeof *quoted);
    return quoted != NULL;
}

static void scan_piece(kn_vreader *r, kn_vpiece *p, int number)
{
    kn_vworker     *w = &r->workers[number];
    kn_csv_scanner *s = &w->scanner;
    kn_csv_scanner_init(s, r->window, r->filled, r->ended, r->t->delimiter, p->begin);
    p->worker = number;
    p->records = 0;
    p->more = p->memory = p->bytes = false;
    p->result = KN_CSV_OK;
    if (r->opt->form && !clear_form(r, p)) {
        p->memory = true;
        return;
    }
    size_t shaped = p->begin; /* the form of everything before it has been checked    */
    while (!kn_cancelled(r->ctx)) {
        size_t records = 0;
        p->result = kn_csv_scan(s, p->stop, r->t->name_count, w->fields, BATCH, &records);
        if (records > 0 && !number_cells(r, p, w, records)) {
            p->memory = true;
            return;
        }
        if (r->opt->form)
            kn_vform_take(&p->form, r->window, r->filled, r->t->delimiter, w->fields, records, r->t->name_count,
                          r->place, r->t->column_count, &shaped);
        if (p->result != KN_CSV_OK || records < BATCH) break;
    }
    p->more = p->result == KN_CSV_MORE;
    p->end = s->at;
    p->form.blank += r->opt->form && shaped < p->end; /* blank lines after the last record  */
    kn_vreader_judge(r, p, s);
    if (p->more) p->result = KN_CSV_OK;
}

void kn_vreader_digest(kn_vreader *r)
{
    if (!r->opt->digest) return;
    kn_sha256_add(&r->digest, r->window + r->hashed, r->filled - r->hashed);
    r->hashed = r->filled;
}

/* The first task is the digest, which cannot be cut. */
static kn_status scan_range(void *arg, int64_t begin, int64_t end, int number, kn_error *err)
{
    (void)err;
    kn_vreader *r = arg;
    for (int64_t i = begin; i < end; i++)
        if (i == 0)
            kn_vreader_digest(r);
        else
            scan_piece(r, &r->pieces[i - 1], number);
    return KN_OK;
}

static kn_status cut(kn_vreader *r, kn_error *err)
{
    size_t size = r->filled - r->at, quotes = 0;
    int    count = (int)((size + r->piece_size - 1) / r->piece_size);
    if (count > r->piece_capacity) {
        kn_vpiece *more = kn_realloc_array(r->ctx, r->pieces, (size_t)count, sizeof *more);
        if (!more) return no_memory(r, err);
        memset(more + r->piece_capacity, 0, (size_t)(count - r->piece_capacity) * sizeof *more);
        r->pieces = more;
        r->piece_capacity = count;
    }
    r->piece_count = count;
    for (int i = 0; i < count; i++) {
        kn_vpiece *p = &r->pieces[i];
        size_t     begin = r->at + (size_t)i * r->piece_size;
        p->stop = i + 1 < count ? begin + r->piece_size : r->filled;
        bool before = i > 0 && r->window[begin - 1] == '"';
        p->begin = i == 0 ? begin : kn_csv_guess_start(r->window, p->stop, begin - 1, (quotes - before) % 2 == 1);
        quotes += kn_csv_count_quotes(r->window + begin, p->stop - begin);
    }
    return KN_OK;
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
    int64_t     done, capacity;
} merge;

static kn_status merge_range(void *arg, int64_t begin, int64_t end, int number, kn_error *err)
{
    (void)number;
    const merge *m = arg;
    kn_vreader  *r = m->r;
    size_t       columns = (size_t)r->t->column_count;
    for (int64_t c = begin; c < end; c++) {
        kn_texts *all = &r->t->texts[c];
        for (int w = 0; w < r->worker_count; w++) {
            size_t    at = (size_t)w * columns + (size_t)c;
            kn_texts *local = &r->t->locals[at];
            void     *common = r->common[at];
            if (!kn_grow(r->ctx, &common, &r->common_capacity[at], local->count, sizeof **r->common))
                return no_memory(r, err);
            r->common[at] = common;
            for (; r->merged[at] < local->count; r->merged[at]++) {
                uint32_t id = kn_texts_add(all, local->texts[r->merged[at]], false);
                if (id == KN_V_NONE) return no_memory(r, err);
                r->common[at][r->merged[at]] = id;
            }
        }
        kn_vcolumn *column = &r->t->columns[c];
        int         width = width_for(all->count);
        if ((width > column->width || m->capacity) && !widen(r, column, width, m->done)) return no_memory(r, err);
    }
    return KN_OK;
}

static kn_status write_range(void *arg, int64_t begin, int64_t end, int number, kn_error *err)
{
    (void)number;
    (void)err;
    kn_vreader *r = arg;
    size_t      columns = (size_t)r->t->column_count;
    for (int64_t i = begin; i < end; i++) {
        const kn_vpiece *p = &r->pieces[i];
        for (size_t c = 0; p->records > 0 && c < columns; c++) {
            kn_vcolumn     *column = &r->t->columns[c];
            const uint32_t *common = r->common[(size_t)p->worker * columns + c], *id = p->ids + c;
            for (int64_t row = p->first_row; row < p->first_row + p->records; row++, id += columns)
                kn_vcode_set(column, row, common[*id]);
        }
    }
    return KN_OK;
}

static kn_status chain(kn_vreader *r, int64_t *rows, kn_error *err)
{
    size_t   at = r->at;
    uint64_t line = r->line;
    bool     waiting = false;
    for (int i = 0; i < r->piece_count; i++) {
        kn_vpiece *p = &r->pieces[i];
        if (waiting || at >= p->stop) {
            p->records = 0;
            continue;
        }
        if (p->begin != at) {
            p->begin = at;
            scan_piece(r, p, 0);
        }
        if (kn_cancelled(r->ctx)) return kn_fail_cancelled(err);
        if (p->memory || p->bytes || p->result != KN_CSV_OK) return kn_vreader_fail(r, p, at, line, err);
        p->first_row = *rows;
        *rows += p->records;
        if (r->opt->form) kn_vform_add(&r->t->form, &p->form, r->t->column_count);
        line += p->lines;
        at = p->end;
        waiting = p->more;
    }
    r->at = at;
    r->line = line;
    return KN_OK;
}

static kn_status read_window(kn_vreader *r, kn_error *err)
{
    KN_TRY(cut(r, err));
    KN_TRY(kn_parallel_for(r->ctx, r->piece_count + 1, 1, scan_range, r, err));
    int64_t done = r->t->rows;
    KN_TRY(chain(r, &r->t->rows, err));
    merge m = {r, done, 0};
    if ((size_t)r->t->rows > r->row_capacity) {
        size_t wanted = r->row_capacity + r->row_capacity / 2;
        r->row_capacity = wanted > (size_t)r->t->rows ? wanted : (size_t)r->t->rows;
        m.capacity = 1;
    }
    KN_TRY(kn_parallel_for(r->ctx, r->t->column_count, 1, merge_range, &m, err));
    return kn_parallel_for(r->ctx, r->piece_count, 1, write_range, r, err);
}

static kn_status read_records(kn_vreader *r, kn_error *err)
{
    while (!(r->at == r->filled && r->ended)) {
        KN_TRY(read_window(r, err));
        if (!r->ended) KN_TRY(kn_vreader_fill(r, err));
    }
    kn_vreader_digest(r);
    if (r->opt->form) r->t->form.wrapped = kn_source_wrapped(r->source);
    return KN_OK;
}

/* ---- Files ---- */

kn_status kn_vreader_file(kn_vreader *r, const char *path, bool first, kn_csv_field *fields, kn_error *err)
{
    kn_source_free(r->source);
    r->source = NULL;
    r->at = r->filled = r->hashed = 0;
    r->line = r->told = 0;
    r->ended = false;
    KN_TRY(kn_source_open(&r->source, r->ctx, path, err));
    if (!r->quiet) kn_progress_begin(r->ctx, "verifying", "bytes", kn_source_size(r->source));
    KN_TRY(kn_vreader_fill(r, err));
    if (r->filled == 0) return kn_fail(err, KN_INPUT, "%s: the file is empty", kn_source_name(r->source));
    if (r->filled >= 3 && memcmp(r->window, "\xef\xbb\xbf", 3) == 0) r->at = 3;
    kn_vreader_digest(r); /* before the header moves the window */
    return kn_vreader_header(r, first, fields, err);
}

static kn_status read_one(kn_vreader *r, const char *path, bool first, kn_csv_field *fields, kn_error *err)
{
    KN_TRY(kn_vreader_file(r, path, first, fields, err));
    KN_TRY(read_records(r, err));
    kn_progress_end(r->ctx);
    return KN_OK;
}

/* ---- The end: texts by first appearance ---- */

static kn_status renumber_range(void *arg, int64_t begin, int64_t end, int number, kn_error *err)
{
    (void)number;
    kn_vreader *r = arg;
    for (int64_t c = begin; c < end; c++) {
        kn_vcolumn *column = &r->t->columns[c];
        kn_texts   *all = &r->t->texts[c];
        uint32_t   *to = kn_alloc_array(r->ctx, (size_t)all->count + 1, sizeof *to);
        kn_string  *texts = kn_alloc_array(r->ctx, (size_t)all->count + 1, sizeof *texts);
        if (!to || !texts) {
            kn_free(to);
            kn_free(texts);
            return no_memory(r, err);
        }
        for (uint32_t i = 0; i < all->count; i++) to[i] = KN_V_NONE;
        uint32_t seen = 0;
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
        kn_free(all->slots);
        all->slots = NULL;
        all->texts = texts;
        all->count = seen;
        column->texts = texts;
        column->count = seen;
    }
    return KN_OK;
}

/* Keeps the bytes of texts; frees what was needed to find them. */
static void shed(kn_vtable *t)
{
    for (int i = 0; i < t->local_count; i++) {
        kn_free(t->locals[i].slots);
        kn_free(t->locals[i].texts);
        t->locals[i].slots = NULL;
        t->locals[i].texts = NULL;
    }
}

void kn_vreader_close(kn_vreader *r)
{
    if (!r->quiet) kn_progress_end(r->ctx);
    kn_source_free(r->source);
    for (int i = 0; r->workers && i < r->worker_count; i++) {
        kn_buffer_free(&r->workers[i].single);
        kn_buffer_free(&r->workers[i].utf8);
    }
    for (int i = 0; r->common && r->t && i < r->t->local_count; i++) kn_free(r->common[i]);
    for (int i = 0; i < r->piece_capacity; i++) {
        kn_free(r->pieces[i].ids);
        kn_free(r->pieces[i].form.quoted);
    }
    kn_arena_free(&r->arena);
    kn_free(r->pieces);
    kn_free(r->window);
}

kn_status kn_vreader_open(kn_vreader *r, kn_error *err)
{
    if (r->worker_count == 0) r->worker_count = kn_context_threads(r->ctx);
    r->piece_size = r->opt->piece ? r->opt->piece : PIECE;
    r->capacity = r->piece_size * PIECES_PER_THREAD * (size_t)r->worker_count;
    r->workers = kn_arena_array_zero(&r->arena, (size_t)r->worker_count, sizeof *r->workers);
    r->window = kn_alloc(r->ctx, r->capacity);
    r->t = kn_alloc_zero(r->ctx, sizeof *r->t);
    if (!r->workers || !r->window || !r->t) return no_memory(r, err);
    r->t->ctx = r->ctx;
    kn_arena_init(&r->t->arena, r->ctx);
    for (int i = 0; i < r->worker_count; i++) {
        kn_buffer_init(&r->workers[i].single, r->ctx);
        kn_buffer_init(&r->workers[i].utf8, r->ctx);
    }
    kn_sha256_begin(&r->digest);
    return KN_OK;
}

kn_status kn_vtable_read(kn_vtable **out, kn_context *ctx, const char *const *paths, int path_count,
                         const kn_vread_options *options, kn_error *err)
{
    *out = NULL;
    for (int i = 0; i < path_count; i++)
        if (kn_columnar_kind_of(ctx, paths[i]))
            return kn_vtable_read_batches(out, ctx, paths, path_count, options, err);
    kn_vreader    r = {.ctx = ctx, .arena = {.ctx = ctx}, .opt = options};
    kn_csv_field *fields = kn_alloc_array(ctx, KN_VREADER_COLUMNS, sizeof *fields);
    kn_status     st = fields ? kn_vreader_open(&r, err) : no_memory(&r, err);
    for (int i = 0; st == KN_OK && i < path_count; i++) st = read_one(&r, paths[i], i == 0, fields, err);
    kn_free(fields);
    if (st == KN_OK) st = kn_parallel_for(ctx, r.t->column_count, 1, renumber_range, &r, err);
    if (st == KN_OK && options->digest) kn_sha256_text(&r.digest, r.t->sha256);
    if (st == KN_OK && options->guarded) kn_vtable_unguard(r.t);
    kn_vreader_close(&r);
    if (st != KN_OK) {
        kn_vtable_free(r.t);
        return st;
    }
    shed(r.t);
    *out = r.t;
    return KN_OK;
}

void kn_vtable_free(kn_vtable *t)
{
    if (!t) return;
    for (int c = 0; t->columns && c < t->column_count; c++) kn_free(t->columns[c].codes);
    for (int c = 0; t->texts && c < t->column_count; c++) kn_texts_free(&t->texts[c]);
    for (int i = 0; t->locals && i < t->local_count; i++) kn_texts_free(&t->locals[i]);
    kn_arena_free(&t->arena);
    kn_free(t);
}

int kn_vtable_name(const kn_vtable *t, const char *name)
{
    for (int c = 0; c < t->name_count; c++)
        if (kn_string_equal(t->names[c], kn_string_of(name))) return c;
    return -1;
}

const kn_vcolumn *kn_vtable_column(const kn_vtable *t, const char *name)
{
    int c = kn_vtable_name(t, name);
    return c < 0 || t->kept[c] < 0 ? NULL : &t->columns[t->kept[c]];
}
