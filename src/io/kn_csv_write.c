/* kn_csv_write.c: writing CSV, cell by cell and whole tables.
 *
 * A table's rows are formatted in parallel in pieces of PIECE_ROWS rows and written in order. Whether any value of a
 * column needs quotes is looked up once per dictionary, so most cells are a plain copy. The file is atomic (kn_output.h).
 *
 * Cost: one pass over the dictionaries, one over the cells. Memory: a few pieces per thread.
 * Limits: a missing cell and an empty text are the same, an empty cell.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_csv_write.h"

#include <inttypes.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_output.h"
#include "kn_parallel.h"
#include "kn_table.h"

enum { PIECE_ROWS = 2048 };

bool kn_csv_delimiter_ok(char delimiter)
{
    unsigned char c = (unsigned char)delimiter;
    return c > 0 && c < 0x80 && c != '"' && c != '\n' && c != '\r' && c != ' ';
}

bool kn_csv_needs_quotes(kn_string text, char delimiter)
{
    for (size_t i = 0; i < text.size; i++) {
        char c = text.data[i];
        if (c == delimiter || c == '"' || c == '\n' || c == '\r') return true;
    }
    /* At the start of a file this would be read as a byte order mark. */
    return text.size >= 3 && memcmp(text.data, "\xEF\xBB\xBF", 3) == 0;
}

static void quoted(kn_buffer *to, const char *before, kn_string text)
{
    kn_buffer_char(to, '"');
    kn_buffer_add(to, before);
    kn_buffer_doubled(to, text.data, text.size);
    kn_buffer_char(to, '"');
}

void kn_csv_cell(kn_buffer *to, kn_string text, char delimiter)
{
    if (kn_csv_needs_quotes(text, delimiter))
        quoted(to, "", text);
    else
        kn_buffer_append(to, text.data, text.size);
}

/* ---- Spreadsheets ---- */

/* A sign, digits with points or commas among them, and perhaps an exponent. */
static bool signed_number(kn_string text)
{
    size_t at = 1, digits = 0;
    for (; at < text.size && (kn_is_digit(text.data[at]) || text.data[at] == '.' || text.data[at] == ','); at++)
        digits += kn_is_digit(text.data[at]);
    if (digits > 0 && at < text.size && (text.data[at] == 'e' || text.data[at] == 'E')) {
        at++;
        if (at < text.size && (text.data[at] == '-' || text.data[at] == '+')) at++;
        if (at == text.size) return false;
        while (at < text.size && kn_is_digit(text.data[at])) at++;
    }
    return digits > 0 && at == text.size;
}

bool kn_csv_formula(kn_string text)
{
    if (text.size < 2 || !memchr("=+-@\t\r", text.data[0], 6)) return false;
    return (text.data[0] != '+' && text.data[0] != '-') || !signed_number(text);
}

bool kn_csv_guards(kn_string text)
{
    size_t marks = 0;
    while (marks < text.size && text.data[marks] == '\'') marks++;
    return kn_csv_formula((kn_string){text.data + marks, text.size - marks});
}

void kn_csv_guarded_cell(kn_buffer *to, kn_string text, char delimiter)
{
    if (!kn_csv_guards(text)) {
        kn_csv_cell(to, text, delimiter);
    } else if (kn_csv_needs_quotes(text, delimiter)) {
        quoted(to, "'", text);
    } else {
        kn_buffer_char(to, '\'');
        kn_buffer_append(to, text.data, text.size);
    }
}

kn_string kn_csv_unguarded(kn_string text)
{
    bool guarded = text.size > 0 && text.data[0] == '\'' && kn_csv_guards(text);
    return guarded ? (kn_string){text.data + 1, text.size - 1} : text;
}

void kn_csv_row(kn_buffer *to, const kn_string *cells, int count, char delimiter)
{
    for (int i = 0; i < count; i++) {
        if (i > 0) kn_buffer_char(to, delimiter);
        kn_csv_cell(to, cells[i], delimiter);
    }
    if (count == 1 && cells[0].size == 0) kn_buffer_add(to, "\"\"");
    kn_buffer_char(to, '\n');
}

/* ---- Tables ---- */

typedef struct table_writer {
    const kn_table    *table;
    kn_context        *ctx;
    char               delimiter;
    bool              *quotes; /* per column: some value needs quotes */
    const kn_row_list *only;   /* NULL: all rows */
} table_writer;

static int64_t rows_to_write(const table_writer *w)
{
    return w->only ? w->only->count : w->table->rows;
}

static kn_status find_quotes(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    (void)worker;
    (void)err;
    table_writer *w = arg;
    for (int64_t c = begin; c < end; c++) {
        const kn_dictionary *dict = &w->table->columns[c].dict;
        bool                 found = false;
        for (uint32_t v = 0; v < dict->count && !found; v++)
            found = kn_csv_needs_quotes(kn_dictionary_text(dict, v), w->delimiter);
        w->quotes[c] = found;
    }
    return KN_OK;
}

static void table_cell(const table_writer *w, int c, int64_t row, kn_buffer *to)
{
    const kn_column *column = &w->table->columns[c];
    uint32_t         code = kn_column_code(column, row);
    kn_string        text = {NULL, 0};
    if (code < column->dict.count) text = kn_dictionary_text(&column->dict, code);
    if (w->quotes[c])
        kn_csv_cell(to, text, w->delimiter);
    else
        kn_buffer_append(to, text.data, text.size);
    if (text.size == 0 && kn_table_all_columns(w->table) == 1) kn_buffer_add(to, "\"\"");
}

static kn_status table_piece(void *arg, int64_t piece, kn_buffer *to, kn_error *err)
{
    table_writer *w = arg;
    int64_t       first = piece * PIECE_ROWS, end = first + PIECE_ROWS;
    if (end > rows_to_write(w)) end = rows_to_write(w);
    for (int64_t i = first; i < end; i++) {
        int64_t row = w->only ? w->only->rows[i] : i;
        if (w->only) kn_buffer_format(to, "%" PRId64 "%c", kn_table_number(w->table, row), w->delimiter);
        for (int c = 0; c < kn_table_all_columns(w->table); c++) {
            if (c > 0) kn_buffer_char(to, w->delimiter);
            table_cell(w, c, row, to);
        }
        kn_buffer_char(to, '\n');
    }
    if (to->failed) return kn_fail_memory(err, w->ctx, "writing a table");
    kn_progress_add(w->ctx, (uint64_t)(end - first));
    return KN_OK;
}

static kn_status write_header(const table_writer *w, kn_output *output, kn_error *err)
{
    kn_buffer line;
    kn_buffer_init(&line, w->ctx);
    if (w->only) kn_buffer_format(&line, "row%c", w->delimiter);
    for (int c = 0; c < kn_table_all_columns(w->table); c++) {
        kn_string name = kn_string_of(w->table->columns[c].name);
        if (c > 0) kn_buffer_char(&line, w->delimiter);
        kn_csv_cell(&line, name, w->delimiter);
        if (name.size == 0 && kn_table_all_columns(w->table) == 1) kn_buffer_add(&line, "\"\"");
    }
    kn_buffer_char(&line, '\n');
    kn_status st = line.failed ? kn_fail_memory(err, w->ctx, "writing a table") : KN_OK;
    if (st == KN_OK) kn_output_write(output, line.data, line.size);
    kn_buffer_free(&line);
    return st;
}

static kn_status write_rows(table_writer *w, kn_output *output, kn_error *err)
{
    int64_t rows = rows_to_write(w);
    KN_TRY(kn_parallel_for(w->ctx, kn_table_all_columns(w->table), 1, find_quotes, w, err));
    KN_TRY(write_header(w, output, err));
    kn_progress_begin(w->ctx, "writing", "rows", (uint64_t)rows);
    kn_status st = kn_output_pieces(output, (rows + PIECE_ROWS - 1) / PIECE_ROWS, table_piece, w, err);
    kn_progress_end(w->ctx);
    return st;
}

static kn_status write_table(const kn_table *table, kn_context *ctx, const char *path, char delimiter,
                             const kn_row_list *only, const kn_output_options *options, kn_error *err)
{
    if (!kn_csv_delimiter_ok(delimiter)) return kn_fail(err, KN_USAGE, "this character cannot be a CSV delimiter");
    if (table->column_count < 1) return kn_fail(err, KN_USAGE, "a table without columns cannot be written as CSV");
    table_writer w = {.table = table, .ctx = ctx, .delimiter = delimiter, .only = only};
    w.quotes = kn_alloc_array(ctx, (size_t)kn_table_all_columns(table), sizeof *w.quotes);
    if (!w.quotes) return kn_fail_memory(err, ctx, "writing a table");
    kn_output *output = NULL;
    kn_status  st = kn_output_open(&output, ctx, path, options, err);
    if (st == KN_OK) st = kn_output_finish(output, write_rows(&w, output, err), err);
    kn_free(w.quotes);
    return st;
}

kn_status kn_table_write_csv(const kn_table *table, kn_context *ctx, const char *path, char delimiter, kn_error *err)
{
    KN_SERVE(ctx, err);
    return write_table(table, ctx, path, delimiter, NULL, NULL, err);
}

kn_status kn_table_write_rows_csv(const kn_table *table, kn_context *ctx, const char *path, char delimiter,
                                  const kn_row_list *rows, kn_error *err)
{
    KN_SERVE(ctx, err);
    const kn_output_options private = {.mode = 0600};
    return write_table(table, ctx, path, delimiter, rows, &private, err);
}
