/* kn_csv_read.c: reads CSV files into a table: opening, header, options, messages.
 *
 * Interface: kn_table_read_csv and kn_table_read_csv_files in kanon/table.h. The records themselves are read by
 * kn_csv_wave.c, the grammar is kn_csv_scan.h's. Limits: 65,535 columns; a record has at most 256 MiB.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_csv_read.h"

#include <stdio.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_columnar.h"
#include "kn_context.h"
#include "kn_csv_internal.h"
#include "kn_error.h"
#include "kn_nearest.h"
#include "kn_once.h"
#include "kn_options.h"
#include "kn_pages.h"
#include "kn_parallel.h"
#include "kn_source.h"
#include "kn_table_stream.h"
#include "kn_text_table.h"
#include "kn_utf8.h"

enum {
    PIECE_SIZE = 1 << 19,
    PIECES_PER_THREAD = 8, /* threads wait for each other at the end of a wave ... */
    PIECES_LIMITED = 4,    /* ... but a small memory must do, too                  */
    MAX_WAVE = 1 << 28,    /* positions in the buffer, which a long record doubles, fit in 31 bits */
    MANY_PIECES = 16,      /* that are freed by all threads */
    SNIFF_SIZE = 1 << 20,
    NAMES_SIZE = 1 << 14,  /* instead of a piece, for names alone */
    BATCH = 1024,          /* records that are interned at a time ... */
    BATCH_CELLS = 1 << 20, /* ... and at most this many cells         */
    MIN_BATCH = 8,
    FIRST_CELLS = 128 /* of the first record, to begin with */
};

static const char *const default_na[] = {"",     "NA",  "N/A", "n/a",  "NULL", "null",
                                         "Null", "NaN", "nan", "#N/A", "?",    NULL};

const char *const *kn_default_na(void)
{
    return default_na;
}

static kn_status fail_need(const kn_csv_reader *r, double need, kn_error *err)
{
    double limit = (double)r->ctx->memory_limit;
    if (need < limit) need = limit;
    return kn_fail(err, KN_MEMORY,
                   "%s: reading it needs about %.1f MB; the memory limit is %.1f MB; give a larger --memory-limit",
                   kn_source_name(r->source), need * 1.1 / 1e6, limit / 1e6);
}

kn_status kn_csv_fail_memory(kn_csv_reader *r, kn_error *err)
{
    uint64_t size = r->source ? kn_source_size(r->source) : 0, consumed = r->source ? kn_source_consumed(r->source) : 0;
    uint64_t limit = r->ctx->memory_limit;
    if (limit == 0 || size == 0 || consumed == 0)
        return kn_fail_memory(err, r->ctx, r->source ? kn_source_name(r->source) : "reading");
    return fail_need(r, (double)kn_context_memory_used(r->ctx) * (double)size / (double)consumed, err);
}

static const char *describe(const kn_csv_reader *r, kn_csv_fault fault, kn_csv_result result, char at)
{
    if (fault == KN_CSV_BYTES) {
        if (at == 0) return "a NUL byte; is this a text file?";
        if (r->opt->encoding == KN_ENCODING_UTF8) return "not valid UTF-8; name the encoding (--encoding)";
        return "a byte that has no meaning in Windows-1252";
    }
    switch (result) {
    case KN_CSV_TOO_FEW: return "this row has fewer cells than the header";
    case KN_CSV_TOO_MANY: return "this row has more cells than the header";
    case KN_CSV_AFTER_QUOTE: return "a closing quote must be followed by a delimiter or the end of the row";
    case KN_CSV_UNTERMINATED: return "the quote that opens here is never closed";
    case KN_CSV_TOO_LONG: return "a row longer than 256 MiB; is a closing quote missing?";
    case KN_CSV_OK:
    case KN_CSV_MORE: break;
    }
    return "unreadable";
}

/* KN_INPUT at a place of the buffer. */
static kn_status fail_place(const kn_csv_reader *r, size_t at, size_t from, uint64_t from_line, const char *what,
                            kn_error *err)
{
    uint64_t line = from_line + kn_csv_count_lines(r->buffer + from, at - from);
    size_t   begin = at; /* of the line: `from` is the start of a record, hence of a line */
    while (begin > from && r->buffer[begin - 1] != '\n' && r->buffer[begin - 1] != '\r') begin--;
    bool   utf8 = r->opt->encoding == KN_ENCODING_UTF8;
    size_t column = 1 + (utf8 ? kn_utf8_length(r->buffer + begin, at - begin) : at - begin);
    return kn_fail_at(err, KN_INPUT, kn_source_name(r->source), (int64_t)line + 1, (int64_t)column, "%s", what);
}

kn_status kn_csv_fail(kn_csv_reader *r, kn_csv_fault fault, kn_csv_result result, size_t at, size_t from,
                      uint64_t from_line, kn_error *err)
{
    if (fault == KN_CSV_MEMORY) return kn_csv_fail_memory(r, err);
    char byte = at < r->filled ? r->buffer[at] : '\n';
    return fail_place(r, at, from, from_line, describe(r, fault, result, byte), err);
}

size_t kn_csv_wrong_byte(const kn_csv_reader *r, const char *text, size_t size)
{
    if (r->opt->encoding == KN_ENCODING_UTF8) return kn_utf8_check(text, size);
    return kn_bytes_check(text, size, r->opt->encoding == KN_ENCODING_LATIN_1);
}

kn_status kn_csv_fill(kn_csv_reader *r, kn_error *err)
{
    size_t held = r->filled - r->at;
    kn_csv_digest(r);
    if (r->at > 0) memmove(r->buffer, r->buffer + r->at, held);
    r->at = 0;
    r->filled = r->hashed = held;
    if (held > KN_CSV_MAX_RECORD) return kn_csv_fail(r, KN_CSV_GRAMMAR, KN_CSV_TOO_LONG, 0, 0, r->line, err);
    if (held > r->capacity / 2) { /* a record that is longer than half a wave */
        char *larger = kn_realloc(r->ctx, r->buffer, r->capacity * 2 + KN_CSV_PADDING);
        if (!larger) return kn_csv_fail_memory(r, err);
        r->buffer = larger;
        r->capacity *= 2;
    }
    size_t got = 0;
    KN_TRY(kn_source_read(r->source, r->buffer + held, r->capacity - held, &got, err));
    r->filled += got;
    r->ended = got < r->capacity - held;
    return KN_OK;
}

/* A table that is no text file has its names, and its characters are known. */
static kn_status check_table(const kn_csv_reader *r, kn_error *err)
{
    const char *name = kn_source_name(r->source), *option = NULL;
    if (r->opt->no_header) option = "header";
    if (r->opt->encoding != KN_ENCODING_UTF8) option = "encoding";
    if (r->opt->delimiter && r->opt->delimiter != ',') option = "delimiter";
    return option ? kn_fail(err, KN_USAGE, "%s: not a text file: leave \"%s\" out", name, option) : KN_OK;
}

/* Opens a file, fills the buffer, passes the byte order mark, finds the delimiter. */
static kn_status open_file(kn_csv_reader *r, const char *path, kn_error *err)
{
    kn_source_free(r->source);
    r->source = NULL;
    r->at = r->filled = r->hashed = 0;
    r->line = 0;
    r->told = 0;
    r->ended = false;
    KN_TRY(kn_source_open(&r->source, r->ctx, path, err));
    char known = kn_source_delimiter(r->source);
    if (known) KN_TRY(check_table(r, err));
    if (!r->quiet) kn_progress_begin(r->ctx, "reading", "bytes", kn_source_size(r->source));
    KN_TRY(kn_csv_fill(r, err));
    const char *name = kn_source_name(r->source);
    if (r->filled == 0) return kn_fail(err, KN_INPUT, "%s: the file is empty", name);
    const unsigned char *b = (const unsigned char *)r->buffer;
    if (r->filled >= 2 && ((b[0] == 0xff && b[1] == 0xfe) || (b[0] == 0xfe && b[1] == 0xff)))
        return kn_fail_at(err, KN_INPUT, name, 1, 1, "the text is in UTF-16; convert it to UTF-8 first");
    if (r->filled >= 3 && b[0] == 0xef && b[1] == 0xbb && b[2] == 0xbf) r->at = 3;
    r->delimiter = known ? known : r->opt->delimiter;
    if (r->delimiter == 0) {
        size_t size = r->filled - r->at;
        bool   whole = r->ended && size <= SNIFF_SIZE;
        r->delimiter = kn_csv_sniff(r->buffer + r->at, size > SNIFF_SIZE ? SNIFF_SIZE : size, whole);
    }
    return KN_OK;
}

/* The fault that ends the search for the first record: the first one, so the bytes before it are checked too. */
static kn_status bad_first_record(kn_csv_reader *r, kn_csv_result result, size_t at, kn_error *err)
{
    size_t wrong = r->at + kn_csv_wrong_byte(r, r->buffer + r->at, at - r->at);
    if (wrong < at) return kn_csv_fail(r, KN_CSV_BYTES, KN_CSV_OK, wrong, r->at, 0, err);
    if (result != KN_CSV_TOO_MANY) return kn_csv_fail(r, KN_CSV_GRAMMAR, result, at, r->at, 0, err);
    char what[40];
    snprintf(what, sizeof what, "more than %d columns", KN_CSV_MAX_COLUMNS);
    return fail_place(r, at, r->at, 0, what, err);
}

/* The first record of a file: its cells in the buffer, and where it begins and ends. */
typedef struct first_row {
    kn_csv_field *fields; /* owned */
    size_t        capacity;
    size_t        count; /* 0: the file has none */
    size_t        begin, end;
    uint64_t      end_line; /* line ends before `end` */
} first_row;

/* Where a cell of it begins, its quote included. */
static size_t cell_begin(const kn_csv_reader *r, kn_csv_field field)
{
    return field.begin > r->at && r->buffer[field.begin - 1] == '"' ? field.begin - 1 : field.begin;
}

/* Makes space for more cells of the first record. */
static kn_status grow_first_row(kn_csv_reader *r, first_row *row, kn_error *err)
{
    size_t capacity = row->capacity ? row->capacity * 8 : FIRST_CELLS;
    if (capacity > KN_CSV_MAX_COLUMNS) capacity = KN_CSV_MAX_COLUMNS;
    void *fields = kn_realloc_array(r->ctx, row->fields, capacity, sizeof *row->fields);
    if (!fields) return kn_csv_fail_memory(r, err);
    row->fields = fields;
    row->capacity = capacity;
    return KN_OK;
}

/* Fills the buffer until the first record is complete. */
static kn_status find_first_row(kn_csv_reader *r, first_row *row, kn_error *err)
{
    kn_csv_scanner *s = kn_alloc(r->ctx, sizeof *s);
    kn_status       st = s ? grow_first_row(r, row, err) : kn_csv_fail_memory(r, err);
    while (st == KN_OK) {
        kn_csv_scanner_init(s, r->buffer, r->filled, r->ended, r->delimiter, r->at);
        kn_csv_result result = kn_csv_scan_any(s, row->fields, row->capacity, &row->count);
        row->end = s->at;
        row->end_line = s->lines;
        if (result == KN_CSV_OK && (row->count > 0 || r->ended)) break;
        if (result == KN_CSV_OK || result == KN_CSV_MORE) /* OK: nothing but blank lines so far */
            st = kn_csv_fill(r, err);
        else if (result == KN_CSV_TOO_MANY && row->capacity < KN_CSV_MAX_COLUMNS)
            st = grow_first_row(r, row, err);
        else
            st = bad_first_record(r, result, s->error_at, err);
    }
    if (st == KN_OK && row->count > 0) row->begin = cell_begin(r, row->fields[0]);
    kn_free(s);
    return st;
}

/* One name of the header, kept in the arena in UTF-8. */
static kn_status header_name(kn_csv_reader *r, kn_csv_field field, kn_string *out, kn_error *err)
{
    const char *text = r->buffer + field.begin;
    size_t      size = field.size, wrong = kn_csv_wrong_byte(r, text, size);
    if (wrong < size) return kn_csv_fail(r, KN_CSV_BYTES, KN_CSV_OK, field.begin + wrong, r->at, 0, err);
    char *plain = kn_arena_bytes(&r->arena, size + 1);
    if (!plain) return kn_csv_fail_memory(r, err);
    if (field.doubled)
        size = kn_csv_undouble(plain, text, size);
    else
        memcpy(plain, text, size);
    char *name = plain;
    if (r->opt->encoding != KN_ENCODING_UTF8) {
        name = kn_arena_bytes(&r->arena, 3 * size + 1);
        if (!name) return kn_csv_fail_memory(r, err);
        size = kn_utf8_from_bytes(name, plain, size, r->opt->encoding == KN_ENCODING_LATIN_1);
    }
    name[size] = '\0';
    *out = (kn_string){name, size};
    return KN_OK;
}

static kn_status bad_header(kn_csv_reader *r, kn_csv_field field, const char *what, kn_error *err)
{
    return fail_place(r, cell_begin(r, field), r->at, 0, what, err);
}

static kn_status check_names(kn_csv_reader *r, const kn_csv_field *fields, kn_error *err)
{
    /* Sorting by an interner: equal names get equal ids. */
    kn_builder *names = NULL;
    kn_string   one = {"names", 5};
    KN_TRY(kn_builder_create(&names, r->ctx, &one, 1, 1, err));
    kn_status st = KN_OK;
    for (int c = 0; c < r->columns && st == KN_OK; c++) {
        uint32_t id = kn_intern(kn_builder_interner(names, 0, 0), r->names[c]);
        if (id == KN_ID_FAILED)
            st = kn_csv_fail_memory(r, err);
        else if (id != (uint32_t)c + 1)
            st = bad_header(r, fields[c], "two columns have this name; rename one", err);
    }
    kn_builder_free(names);
    return st;
}

/* "c1", "c2", ... by position; with underscores appended if another column has that name. */
static kn_status give_name(kn_csv_reader *r, int column, kn_error *err)
{
    char  *name = kn_arena_bytes(&r->arena, 16 + (size_t)r->columns);
    size_t size = name ? (size_t)snprintf(name, 16, "c%d", column + 1) : 0;
    if (!name) return kn_csv_fail_memory(r, err);
    r->names[column] = (kn_string){name, size};
    for (int c = 0; c < r->columns; c++) {
        if (c == column || !kn_string_equal(r->names[c], r->names[column])) continue;
        name[r->names[column].size++] = '_';
        name[r->names[column].size] = '\0';
        c = -1; /* check all of them again: each matches at most once, so this ends */
    }
    return KN_OK;
}

/* Takes the columns' names from the first file's first record. */
static kn_status first_header(kn_csv_reader *r, const kn_csv_field *fields, size_t count, kn_error *err)
{
    r->columns = (int)count;
    r->names = kn_arena_alloc(&r->arena, count * sizeof *r->names);
    r->unnamed = kn_arena_alloc(&r->arena, count * sizeof *r->unnamed);
    if (!r->names || !r->unnamed) return kn_csv_fail_memory(r, err);
    for (int c = 0; c < r->columns; c++) {
        r->names[c] = (kn_string){"", 0};
        if (!r->opt->no_header) KN_TRY(header_name(r, fields[c], &r->names[c], err));
        r->unnamed[c] = !r->opt->no_header && r->names[c].size == 0;
    }
    for (int c = 0; c < r->columns; c++)
        if (r->names[c].size == 0) KN_TRY(give_name(r, c, err));
    return r->opt->no_header ? KN_OK : check_names(r, fields, err);
}

/* A further file must have the same columns in the same order. */
static kn_status same_header(kn_csv_reader *r, const first_row *row, kn_error *err)
{
    if (row->count != (size_t)r->columns) {
        char what[80];
        snprintf(what, sizeof what, "%zu columns, but the first file has %d", row->count, r->columns);
        return fail_place(r, row->begin, r->at, 0, what, err);
    }
    for (int c = 0; c < r->columns && !r->opt->no_header; c++) {
        kn_string name;
        KN_TRY(header_name(r, row->fields[c], &name, err));
        if (r->unnamed[c] ? name.size > 0 : !kn_string_equal(name, r->names[c]))
            return bad_header(r, row->fields[c], "the first file has another column here", err);
    }
    return KN_OK;
}

/* Excel writes which delimiter is meant into a first line of its own, sep=; and the like: it would be taken for the names. */
static bool says_delimiter(const kn_csv_reader *r, const first_row *row)
{
    const char *line = r->buffer + row->begin;
    size_t      size = row->end - row->begin;
    return size >= 5 && memcmp(line, "sep=", 4) == 0 && (size == 5 || line[5] == '\n' || line[5] == '\r');
}

/* Reads the names, or checks them, and leaves r->at at the first row of data. */
static kn_status read_header(kn_csv_reader *r, bool first, kn_error *err)
{
    first_row row = {0};
    kn_status st = find_first_row(r, &row, err);
    if (st == KN_OK && row.count == 0)
        st = kn_fail(err, KN_INPUT, "%s: the file has nothing but blank lines", kn_source_name(r->source));
    else if (st == KN_OK && says_delimiter(r, &row))
        st = fail_place(r, row.begin, r->at, 0, "this line says which delimiter is meant; delete it", err);
    else if (st == KN_OK && first)
        st = first_header(r, row.fields, row.count, err);
    else if (st == KN_OK)
        st = same_header(r, &row, err);
    kn_free(row.fields);
    if (st != KN_OK) return st;
    /* Blank lines before the first row are not rows, even with a single column. */
    r->line = r->opt->no_header ? kn_csv_count_lines(r->buffer + r->at, row.begin - r->at) : row.end_line;
    r->at = r->opt->no_header ? row.begin : row.end;
    return KN_OK;
}

static int find_name(const kn_csv_reader *r, const char *name)
{
    for (int c = 0; c < r->columns; c++)
        if (strcmp(r->names[c].data, name) == 0) return c;
    return -1;
}

static kn_status no_such_column(const kn_csv_reader *r, const char *name, kn_error *err)
{
    kn_nearest near = {.text = name};
    for (int c = 0; c < r->columns; c++) kn_nearest_try(&near, r->names[c].data);
    return kn_fail(err, KN_INPUT, "%s: there is no column \"%s\"%s%s%s", kn_source_name(r->source), name,
                   KN_MEANT(near));
}

static kn_status select_columns(kn_csv_reader *r, kn_error *err)
{
    int asked = r->opt->columns ? r->opt->column_count : r->columns, count = -1;
    r->select = kn_arena_alloc(&r->arena, ((size_t)(asked > 0 ? asked : 0) + 2) * sizeof *r->select);
    if (!r->select) return kn_csv_fail_memory(r, err);
    if (r->opt->count) {
        count = find_name(r, r->opt->count);
        if (count < 0) return no_such_column(r, r->opt->count, err);
    }
    for (int c = 0; c < asked; c++) {
        int place = r->opt->columns ? find_name(r, r->opt->columns[c]) : c;
        if (place < 0) return no_such_column(r, r->opt->columns[c], err);
        if (place == count) continue;
        for (int d = 0; d < r->selected && r->opt->columns; d++)
            if (r->select[d] == place)
                return kn_fail(err, KN_USAGE, "column \"%s\" is named twice", r->opt->columns[c]);
        r->select[r->selected++] = place;
    }
    if (r->selected < 1) return kn_fail(err, KN_USAGE, "no column is to be read");
    if (count >= 0) r->select[r->selected++] = count; /* behind all others */
    for (int t = 0; t < r->opt->type_count; t++)
        if (find_name(r, r->opt->types[t].column) < 0) return no_such_column(r, r->opt->types[t].column, err);
    return KN_OK;
}

/* The selected columns and the workers' scratch, once the columns are known. */
static kn_status prepare(kn_csv_reader *r, kn_error *err)
{
    KN_TRY(select_columns(r, err));
    r->batch = BATCH_CELLS / (size_t)r->columns;
    if (r->batch > BATCH) r->batch = BATCH;
    if (r->batch < MIN_BATCH) r->batch = MIN_BATCH;
    for (int w = 0; w < r->worker_count; w++) {
        r->workers[w].fields = kn_alloc_array(r->ctx, (size_t)r->columns * r->batch, sizeof *r->workers[w].fields);
        if (!r->workers[w].fields) return kn_csv_fail_memory(r, err);
    }
    return KN_OK;
}

static kn_status make_builder(kn_csv_reader *r, kn_error *err)
{
    kn_string *names = kn_arena_alloc(&r->arena, ((size_t)r->selected + 1) * sizeof *names);
    if (!names) return kn_csv_fail_memory(r, err);
    for (int c = 0; c < r->selected; c++) names[c] = r->names[r->select[c]];
    KN_TRY(kn_builder_create(&r->builder, r->ctx, names, r->selected, r->worker_count, err));
    if (r->opt->count) kn_builder_set_count(r->builder, r->selected - 1);
    return KN_OK;
}

/* The user's types, by selected column, and the spellings of "missing"; then the table. */
static kn_status finish(kn_table **out, kn_csv_reader *r, const kn_timezone *zone, kn_error *err)
{
    const kn_csv_options *opt = r->opt;
    kn_builder_type      *types = kn_arena_alloc(&r->arena, ((size_t)r->selected + 1) * sizeof *types);
    int                   na_count = opt->na ? opt->na_count : 0;
    if (!opt->na)
        while (default_na[na_count]) na_count++;
    kn_string *na = kn_arena_alloc(&r->arena, ((size_t)na_count + 1) * sizeof *na);
    if (!types || !na) return kn_csv_fail_memory(r, err);
    for (int c = 0; c < r->selected; c++) {
        types[c] = (kn_builder_type){KN_TYPE_AUTO, NULL};
        for (int t = 0; t < opt->type_count; t++)
            if (strcmp(opt->types[t].column, r->names[r->select[c]].data) == 0)
                types[c] = (kn_builder_type){opt->types[t].type, opt->types[t].format};
    }
    /* Cells are compared without the spaces around them, so the spellings must have none either. */
    for (int i = 0; i < na_count; i++) na[i] = kn_value_trim(kn_string_of(opt->na ? opt->na[i] : default_na[i]));
    kn_builder_set_na(r->builder, na, na_count);
    kn_value_rules rules = {.decimal = opt->decimal, .timezone = zone};
    kn_builder    *builder = r->builder;
    uint64_t       need = kn_builder_needs(builder);
    r->builder = NULL;
    kn_status st = kn_builder_finish(out, builder, types, &rules, err);
    if (st == KN_MEMORY && r->ctx->memory_limit) return fail_need(r, (double)need, err);
    if (st != KN_OK) return st;
    (*out)->delimiter = r->delimiter;
    for (int c = 0; c < r->selected; c++) (*out)->columns[c].unnamed = r->unnamed[r->select[c]];
    return KN_OK;
}

static kn_status free_pieces(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    kn_csv_piece *pieces = arg;
    (void)worker;
    (void)err;
    for (int64_t i = begin; i < end; i++) {
        kn_free(pieces[i].ids);
        pieces[i].ids = NULL;
    }
    return KN_OK;
}

void kn_csv_reader_close(kn_csv_reader *r)
{
    if (!r->quiet) kn_progress_end(r->ctx);
    kn_source_free(r->source);
    kn_builder_free(r->builder);
    for (int w = 0; w < r->worker_count && r->workers; w++) {
        kn_free(r->workers[w].fields);
        kn_buffer_free(&r->workers[w].single);
        kn_buffer_free(&r->workers[w].utf8);
    }
    /* Giving many pages back takes the system a while; what a cancelled context leaves is freed below. */
    if (r->piece_capacity > MANY_PIECES)
        (void)!kn_parallel_for(r->ctx, r->piece_capacity, 1, free_pieces, r->pieces, NULL);
    (void)free_pieces(r->pieces, 0, r->piece_capacity, 0, NULL);
    KN_PAGES_FREE(r->ctx, r->workers, r->pieces, r->buffer);
    kn_arena_free(&r->arena);
}

static kn_status check_options(const kn_csv_options *opt, kn_error *err)
{
    if (opt->delimiter == '"' || opt->delimiter == '\n' || opt->delimiter == '\r' ||
        (unsigned char)opt->delimiter >= 0x80)
        return kn_fail(err, KN_USAGE, "the delimiter must be one ASCII character other than a quote or a line end");
    if (opt->decimal != '.' && opt->decimal != ',')
        return kn_fail(err, KN_USAGE, "the decimal mark must be '.' or ','");
    for (int t = 0; t < opt->type_count; t++) {
        const char *reason = NULL;
        if (opt->types[t].format && !kn_format_check(opt->types[t].format, opt->types[t].type, &reason))
            return kn_fail(err, KN_USAGE, "the date format of column \"%s\": %s", opt->types[t].column, reason);
    }
    return KN_OK;
}

kn_status kn_csv_reader_open(kn_csv_reader *r, kn_error *err)
{
    kn_arena_init(&r->arena, r->ctx);
    KN_TRY(check_options(r->opt, err));
    if (r->worker_count == 0) r->worker_count = kn_context_threads(r->ctx);
    r->workers = kn_alloc_array_zero(r->ctx, (size_t)r->worker_count, sizeof *r->workers);
    size_t pieces = kn_memory_limited(r->ctx) ? PIECES_LIMITED : PIECES_PER_THREAD;
    r->capacity = r->piece_size * pieces * (size_t)r->worker_count;
    if (r->capacity > MAX_WAVE) r->capacity = MAX_WAVE;
    r->buffer = kn_alloc(r->ctx, r->capacity + KN_CSV_PADDING);
    if (!r->workers || !r->buffer) return kn_csv_fail_memory(r, err);
    for (int w = 0; w < r->worker_count; w++) {
        kn_buffer_init(&r->workers[w].single, r->ctx);
        kn_buffer_init(&r->workers[w].utf8, r->ctx);
    }
    return KN_OK;
}

kn_status kn_csv_reader_file(kn_csv_reader *r, const char *path, bool first, kn_error *err)
{
    KN_TRY(open_file(r, path, err));
    KN_TRY(read_header(r, first, err));
    return first ? prepare(r, err) : KN_OK;
}

/* One file; `digest`: of its bytes, where it is not compressed. */
static kn_status read_file(kn_csv_reader *r, const char *path, bool first, char *digest, kn_error *err)
{
    kn_sha256 state;
    kn_sha256_begin(&state);
    r->digest = digest ? &state : NULL;
    kn_status st = kn_csv_reader_file(r, path, first, err);
    if (st == KN_OK && first) st = make_builder(r, err);
    if (st == KN_OK && !kn_source_plain(r->source)) r->digest = NULL;
    if (st == KN_OK) st = kn_csv_read_records(r, err);
    if (st == KN_OK && r->digest) {
        kn_csv_digest(r);
        kn_sha256_text(&state, digest);
    }
    r->digest = NULL;
    return st;
}

static kn_status read_files(kn_table **out, kn_context *ctx, const char *const *paths, int path_count,
                            const kn_csv_options *options, size_t piece_size, char (*digests)[KN_SHA256_TEXT],
                            kn_error *err)
{
    kn_csv_reader r = {.ctx = ctx, .opt = options, .piece_size = piece_size};
    *out = NULL;
    if (path_count < 1) return kn_fail(err, KN_USAGE, "no input file was given");
    kn_timezone *zone = NULL;
    kn_status    st = kn_csv_reader_open(&r, err);
    if (st == KN_OK && r.opt->timezone) st = kn_timezone_open(&zone, ctx, r.opt->timezone, err);
    for (int i = 0; i < path_count && st == KN_OK; i++) {
        st = read_file(&r, paths[i], i == 0, digests ? digests[i] : NULL, err);
        kn_progress_end(ctx);
    }
    if (st == KN_OK) {
        KN_PAGES_FREE(ctx, r.buffer); /* the dictionaries may need the memory */
        r.buffer = NULL;
        st = finish(out, &r, zone, err);
    }
    kn_csv_reader_close(&r);
    kn_timezone_free(zone);
    return st;
}

kn_status kn_csv_read_pieces(kn_table **out, kn_context *ctx, const char *const *paths, int path_count,
                             const kn_csv_options *options, size_t piece_size, kn_error *err)
{
    *out = NULL;
    KN_OPTIONS(kn_csv_options, KN_CSV_OPTIONS_INIT, options, "CSV options", err);
    return read_files(out, ctx, paths, path_count, options, piece_size, NULL, err);
}

void kn_csv_names_free(kn_csv_names *names)
{
    for (int c = 0; c < names->count; c++) kn_free(names->names[c]);
    KN_FREE(names->names, names->unnamed);
    *names = (kn_csv_names){0};
}

static kn_status copy_names(kn_csv_names *out, const kn_csv_reader *r, kn_error *err)
{
    out->delimiter = r->delimiter;
    out->names = kn_alloc_array(r->ctx, (size_t)r->columns, sizeof *out->names);
    out->unnamed = kn_alloc_array(r->ctx, (size_t)r->columns, sizeof *out->unnamed);
    if (!out->names || !out->unnamed) return kn_fail_memory(err, r->ctx, "reading the names of the columns");
    for (; out->count < r->columns; out->count++) {
        kn_string name = r->names[out->count];
        out->names[out->count] = kn_strndup(r->ctx, name.data, name.size);
        if (!out->names[out->count]) return kn_fail_memory(err, r->ctx, "reading the names of the columns");
        out->unnamed[out->count] = r->unnamed[out->count];
    }
    return KN_OK;
}

kn_status kn_csv_read_names(kn_csv_names *out, kn_context *ctx, const char *path, const kn_csv_options *options,
                            kn_error *err)
{
    *out = (kn_csv_names){0};
    if (kn_columnar_kind_of(ctx, path)) return kn_columnar_read_names(out, ctx, path, options, err);
    /* A table elsewhere may be larger than the memory, and has no delimiter to be guessed from its rows. */
    kn_csv_reader r = {.ctx = ctx,
                       .opt = options,
                       .worker_count = 1, /* a wave for one, instead of one for all of them */
                       .piece_size = kn_memory_limited(ctx) && kn_table_named(ctx, path) ? NAMES_SIZE : PIECE_SIZE};
    kn_status     st = kn_csv_reader_open(&r, err);
    if (st == KN_OK) st = open_file(&r, path, err);
    if (st == KN_OK) st = read_header(&r, true, err);
    if (st == KN_OK) st = copy_names(out, &r, err);
    kn_csv_reader_close(&r);
    if (st != KN_OK) kn_csv_names_free(out);
    return st;
}

kn_status kn_csv_read_digested(kn_table **out, kn_context *ctx, const char *const *paths, int path_count,
                               const kn_csv_options *options, char (*digests)[KN_SHA256_TEXT], kn_error *err)
{
    *out = NULL;
    for (int i = 0; digests && i < path_count; i++) digests[i][0] = '\0';
    KN_SERVE(ctx, err);
    KN_OPTIONS(kn_csv_options, KN_CSV_OPTIONS_INIT, options, "CSV options", err);
    KN_TRY(kn_once_check(ctx, paths, path_count, err));
    for (int i = 0; i < path_count; i++)
        if (kn_columnar_kind_of(ctx, paths[i]))
            return kn_columnar_read_table(out, ctx, paths, path_count, options, err);
    if (options->grouped) KN_TRY(kn_text_files_group(out, ctx, paths, path_count, options, err));
    if (*out) return KN_OK;
    return read_files(out, ctx, paths, path_count, options, PIECE_SIZE, digests, err);
}

kn_status kn_table_read_csv_files(kn_table **out, kn_context *ctx, const char *const *paths, int path_count,
                                  const kn_csv_options *options, kn_error *err)
{
    return kn_csv_read_digested(out, ctx, paths, path_count, options, NULL, err);
}

kn_status kn_table_read_csv(kn_table **out, kn_context *ctx, const char *path, const kn_csv_options *options,
                            kn_error *err)
{
    return kn_table_read_csv_files(out, ctx, &path, 1, options, err);
}
