/* table/read.c: CSV files → the distinct texts of each column and their number in every row.
 *
 * The verifier's own reader; of io it uses the sources and the tokenizer. A window of the file is divided into pieces
 * that are scanned in parallel, each from where a record seems to begin; then they are chained, and a piece that did
 * not begin where the previous one ended is scanned again. Texts become numbers in number.c. The digest of the bytes is
 * one more parallel task.
 *
 * Cost: one pass. Memory: 1, 2 or 4 bytes per cell, the distinct texts, a window of 1 MiB per thread.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_alloc.h"
#include "kn_columnar.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_pages.h"
#include "kn_parallel.h"
#include "kn_utf8.h"
#include "kn_verify_reader.h"

enum {
    PIECE = 1 << 18,
    PIECES_PER_THREAD = 4,
    BATCH = KN_VREADER_BATCH,
    TOGETHER = 32 /* columns that are freed at a time */
};

static kn_status no_memory(const kn_vreader *r, kn_error *err)
{
    return kn_fail_memory(err, r->ctx, "verifying");
}

/* ---- The window ---- */

kn_status kn_vreader_fill(kn_vreader *r, kn_error *err)
{
    size_t held = r->filled - r->at;
    if (r->at > r->hashed) kn_vreader_digest(r); /* what leaves the window must be in it */
    if (r->at > 0) memmove(r->window, r->window + r->at, held);
    r->hashed -= r->at;
    r->at = 0;
    r->filled = held;
    if (held > KN_CSV_MAX_RECORD)
        return kn_fail_at(err, KN_INPUT, kn_source_name(r->source), (int64_t)r->line + 1, 0, "a row is too long");
    if (held > r->capacity / 2) {
        char *larger = kn_realloc(r->ctx, r->window, r->capacity * 2 + KN_VSHORT);
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

void kn_vreader_judge(const kn_vreader *r, kn_vpiece *p, const kn_csv_scanner *s)
{
    p->lines = s->lines;
    bool   fault = p->result != KN_CSV_OK && p->result != KN_CSV_MORE;
    size_t until = fault ? s->error_at : p->end,
           wrong = !s->seen.odd && until <= s->indexed
                       ? until - p->begin
                       : kn_vreader_wrong_byte(r, r->window + p->begin, until - p->begin);
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
    p->more = p->memory = p->bytes = p->done = false;
    p->result = KN_CSV_OK;
    if (r->opt->form && !clear_form(r, p)) {
        p->memory = true;
        return;
    }
    size_t shaped = p->begin; /* the form of everything before it has been checked    */
    while (!kn_cancelled(r->ctx)) {
        size_t records = 0;
        p->result = kn_csv_scan(s, p->stop, r->t->name_count, w->fields, BATCH, &records);
        if (records > 0 && !kn_vnumber_cells(r, p, records)) {
            p->memory = true;
            return;
        }
        if (r->opt->form)
            kn_vform_take(&p->form, r->window, r->filled, r->t->delimiter, w->fields, records, r->t->name_count,
                          r->place, r->t->column_count, &shaped);
        if (p->result != KN_CSV_OK || records < BATCH) break;
    }
    if (!kn_vnumber_piece(r, p)) {
        p->memory = true;
        return;
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
    for (int64_t i = begin; i < end; i++) {
        kn_vpiece *p = i > 0 ? &r->pieces[i - 1] : NULL;
        if (p)
            scan_piece(r, p, number);
        else
            kn_vreader_digest(r);
        if (p && r->bare) p->quotes = kn_csv_count_quotes(r->window + p->begin, p->stop - p->begin);
    }
    return KN_OK;
}

static kn_status count_range(void *arg, int64_t begin, int64_t end, int number, kn_error *err)
{
    (void)number;
    (void)err;
    kn_vreader *r = arg;
    for (int64_t i = begin; i < end; i++)
        r->pieces[i].quotes =
            kn_csv_count_quotes(r->window + r->pieces[i].begin, r->pieces[i].stop - r->pieces[i].begin);
    return KN_OK;
}

/* Counted before the scan, quotes tell where records begin; while there are none, nothing need be known. A wrong guess costs time
 * alone. */
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
        r->pieces[i].begin = r->at + (size_t)i * r->piece_size;
        r->pieces[i].stop = i + 1 < count ? r->pieces[i].begin + r->piece_size : r->filled;
    }
    if (!r->bare) KN_TRY(kn_parallel_for(r->ctx, count, 1, count_range, r, err));
    for (int i = 0; i < count; i++) {
        kn_vpiece *p = &r->pieces[i];
        if (r->bare) p->quotes = 0;
        bool before = i > 0 && r->window[p->begin - 1] == '"';
        if (i > 0) p->begin = kn_csv_guess_start(r->window, p->stop, p->begin - 1, (quotes - before) % 2 == 1);
        quotes += p->quotes;
    }
    return KN_OK;
}

/* ---- The whole ---- */

static kn_status chain(kn_vreader *r, int64_t *rows, kn_error *err)
{
    size_t   at = r->at;
    uint64_t line = r->line;
    bool     waiting = false;
    for (int i = 0; i < r->piece_count; i++) {
        kn_vpiece *p = &r->pieces[i];
        if (waiting || at >= p->stop) {
            r->disordered = r->disordered || p->records > 0;
            p->records = 0;
            continue;
        }
        if (p->begin != at) {
            r->disordered = true;
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
    r->bare = true;
    for (int i = 0; i < r->piece_count; i++) r->bare = r->bare && r->pieces[i].quotes == 0;
    int64_t done = r->t->rows;
    KN_TRY(chain(r, &r->t->rows, err));
    return kn_vnumber_rows(r, done, err);
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
    r->ended = r->bare = false;
    KN_TRY(kn_source_open(&r->source, r->ctx, path, err));
    if (!r->quiet) kn_progress_begin(r->ctx, "verifying", "bytes", kn_source_size(r->source));
    KN_TRY(kn_vreader_fill(r, err));
    if (r->filled == 0) return kn_fail(err, KN_INPUT, "%s: the file is empty", kn_source_name(r->source));
    if (r->filled >= 3 && memcmp(r->window, "\xef\xbb\xbf", 3) == 0) r->at = 3;
    return kn_vreader_header(r, first, fields, err);
}

static kn_status read_one(kn_vreader *r, const char *path, bool first, kn_csv_field *fields, kn_error *err)
{
    KN_TRY(kn_vreader_file(r, path, first, fields, err));
    KN_TRY(read_records(r, err));
    kn_progress_end(r->ctx);
    return KN_OK;
}

/* ---- The end ---- */

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
        kn_free(r->pieces[i].known);
    }
    kn_arena_free(&r->arena);
    kn_free(r->pieces);
    KN_PAGES_FREE(r->ctx, r->window);
}

kn_status kn_vreader_open(kn_vreader *r, kn_error *err)
{
    if (r->worker_count == 0) r->worker_count = kn_context_threads(r->ctx);
    r->piece_size = r->opt->piece ? r->opt->piece : PIECE;
    r->capacity = r->piece_size * PIECES_PER_THREAD * (size_t)r->worker_count;
    r->workers = kn_arena_array_zero(&r->arena, (size_t)r->worker_count, sizeof *r->workers);
    r->window = kn_alloc(r->ctx, r->capacity + KN_VSHORT);
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
    if (st == KN_OK) st = kn_vnumber_end(&r, err);
    if (st == KN_OK && options->digest) kn_sha256_text(&r.digest, r.t->sha256);
    if (st == KN_OK && options->guarded) kn_vtable_unguard(r.t);
    kn_vreader_close(&r);
    if (st != KN_OK) {
        kn_vtable_free(r.t);
        return st;
    }
    *out = r.t;
    return KN_OK;
}

void kn_vtable_free(kn_vtable *t)
{
    if (!t) return;
    for (int c = 0; t->columns && c < t->column_count; c += TOGETHER) {
        void *codes[TOGETHER];
        int   count = t->column_count - c < TOGETHER ? t->column_count - c : TOGETHER;
        for (int i = 0; i < count; i++) codes[i] = t->columns[c + i].codes;
        kn_pages_free_each(t->ctx, codes, (size_t)count);
    }
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
