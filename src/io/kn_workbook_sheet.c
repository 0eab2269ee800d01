/* kn_workbook_sheet.c: the cells of one sheet as the bytes of a CSV file. Interface: kn_table_stream.h.
 *
 * The first row that is not empty has the names; rows without any cell are passed over. A number is spelled with at most
 * fifteen digits, which is what a spreadsheet holds; a number whose style is a date is an ISO date, with a time of day
 * if it has one. A cell that shows an error (#N/A) is refused. A formula's cell has the value saved with it.
 *
 * Cost: one pass; memory: the shared strings, one row.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_workbook_internal.h"

enum { ROOM = 40 };

typedef struct sheet {
    kn_workbook *book;
    kn_part      part;
    kn_csv_rows  csv;
    kn_buffer    row, text; /* texts of the row's cells; of the current one          */
    struct {
        size_t begin, size;
    } cells[KN_WORKBOOK_COLUMNS];
    int           used;   /* columns of the row, up to the last that is not empty */
    int           column; /* of the current cell                                  */
    long long     number; /* of the row                                           */
    long long     names;  /* that of the row with the names                       */
    char          type;   /* s: shared, t: text, b: boolean, e: error, d: ISO date, n: number */
    kn_cell_style style;
    int           phonetic;
    bool          inside; /* <v> or <t> */
} sheet;

/* ---- Numbers ---- */

static void date_of(long long day, char *out)
{
    long long z = day + 719468, era = (z >= 0 ? z : z - 146096) / 146097; /* days since 1970 → year, month, day */
    unsigned  doe = (unsigned)(z - era * 146097), yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
    unsigned  doy = doe - (365 * yoe + yoe / 4 - yoe / 100), mp = (5 * doy + 2) / 153;
    unsigned  d = doy - (153 * mp + 2) / 5 + 1, m = mp < 10 ? mp + 3 : mp - 9;
    snprintf(out, ROOM, "%04lld-%02u-%02u", (long long)yoe + era * 400 + (m <= 2), m, d);
}

/* A cell's number as text, by its style. Returns the size. */
static size_t number_text(const kn_workbook *b, const char *text, kn_cell_style style, char room[40])
{
    char  *end = NULL;
    double value = strtod(text, &end);
    if (end == text || !isfinite(value)) return 0;
    bool dated = style != KN_CELL_NUMBER && value >= 0 && value < 2958466; /* up to the year 9999 */
    if (dated) {
        long long seconds = llround(value * 86400), day = seconds / 86400;
        int       rest = (int)(seconds % 86400), size = 0;
        bool      time = style == KN_CELL_TIME && day == 0;
        /* Its first day is 1; 60 is a 29 February 1900 that there never was. */
        if (!time) date_of(b->from_1904 ? day - 24107 : day < 60 ? day - 25568 : day - 25569, room);
        if (!time) size = (int)strlen(room);
        if (time || rest > 0)
            size += snprintf(room + size, (size_t)(ROOM - size), "%s%02d:%02d:%02d", time ? "" : " ", rest / 3600,
                             rest / 60 % 60, rest % 60);
        return (size_t)size;
    }
    int size = snprintf(room, ROOM, "%.15g", value);
    for (int i = 0; i < size; i++)
        if (room[i] == ',') room[i] = '.'; /* of the host's locale */
    return (size_t)size;
}

/* ---- Cells ---- */

static void refuse(kn_part *p, const sheet *s, const char *what)
{
    if (p->status == KN_OK)
        kn_part_fail(
            p, kn_fail(p->err, KN_INPUT, "%s: row %lld, column %d: %s", s->book->name, s->number, s->column + 1, what));
}

/* "BC12" → 54. -1: no such place. */
static int column_of(const char *place)
{
    int column = 0;
    for (; *place >= 'A' && *place <= 'Z'; place++) {
        column = column * 26 + (*place - 'A' + 1);
        if (column > KN_WORKBOOK_COLUMNS) return -1;
    }
    return column - 1;
}

static void start_cell(kn_part *p, sheet *s, const char **attributes)
{
    const char *place = kn_part_attribute(attributes, "r"), *type = kn_part_attribute(attributes, "t"),
               *style = kn_part_attribute(attributes, "s");
    size_t index = style ? strtoul(style, NULL, 10) : 0;
    int    column = place ? column_of(place) : s->column + 1;
    bool   good = column > s->column && column < KN_WORKBOOK_COLUMNS;
    s->column = good ? column : s->column;
    if (!good) refuse(p, s, "the next cell is out of its place");
    s->style = index < s->book->style_count ? (kn_cell_style)s->book->styles[index] : KN_CELL_NUMBER;
    s->type = !type ? 'n' : strcmp(type, "inlineStr") == 0 ? 't' : strcmp(type, "str") == 0 ? 't' : *type;
    kn_buffer_clear(&s->text);
}

static kn_string value_of(kn_part *p, sheet *s, char room[ROOM])
{
    const char *text = kn_buffer_text(&s->text);
    kn_string   value = {text, s->text.size};
    if (!text || value.size == 0 || s->type == 't' || s->type == 'd') return value;
    if (s->type == 's') {
        char  *end = NULL;
        size_t index = strtoul(text, &end, 10);
        if (*end || index >= s->book->string_count) refuse(p, s, "a text that the workbook has not");
        return !*end && index < s->book->string_count ? s->book->strings[index] : (kn_string){"", 0};
    }
    if (s->type == 'b') return kn_string_of(*text == '1' || *text == 't' ? "true" : "false");
    if (s->type == 'e') refuse(p, s, "an error of the spreadsheet stands here; mend it there, or make the cell empty");
    value = (kn_string){room, number_text(s->book, text, s->style, room)};
    if (value.size == 0 && s->type != 'e') refuse(p, s, "not a number, though the workbook says so");
    return value;
}

static void end_cell(kn_part *p, sheet *s)
{
    char      room[ROOM];
    kn_string value = value_of(p, s, room);
    if (p->status != KN_OK || value.size == 0) return;
    for (; s->used <= s->column; s->used++) s->cells[s->used].begin = s->cells[s->used].size = 0;
    s->cells[s->column].begin = s->row.size;
    s->cells[s->column].size = value.size;
    kn_buffer_append(&s->row, value.data, value.size);
}

static void end_row(kn_part *p, sheet *s)
{
    kn_status status = s->row.failed || s->text.failed ? kn_fail_memory(p->err, p->ctx, s->book->name) : KN_OK;
    if (s->used == 0 && status == KN_OK) return;
    if (s->csv.columns == 0) {
        s->csv.columns = s->used;
        s->names = s->number;
    }
    if (status == KN_OK && s->used > s->csv.columns) {
        int beyond = s->csv.columns;
        while (s->cells[beyond].size == 0) beyond++;
        kn_part_fail(p,
                     kn_fail(p->err, KN_INPUT,
                             "%s: row %lld, column %d: a cell beyond the columns that have names, which are those of "
                             "row %lld, the first that is not empty; delete rows above the names",
                             s->book->name, s->number, beyond + 1, s->names));
        return;
    }
    for (int c = 0; c < s->csv.columns && status == KN_OK; c++) {
        kn_string text = {"", 0};
        if (c < s->used && s->cells[c].size > 0) text = (kn_string){s->row.data + s->cells[c].begin, s->cells[c].size};
        status = kn_csv_rows_cell(&s->csv, text, p->err);
    }
    if (status != KN_OK) kn_part_fail(p, status);
}

static void XMLCALL on_start(void *user, const char *element, const char **attributes)
{
    kn_part    *p = user;
    sheet      *s = p->user;
    const char *local = kn_part_local(element);
    if (strcmp(local, "row") == 0) {
        const char *number = kn_part_attribute(attributes, "r");
        s->number = number ? strtoll(number, NULL, 10) : s->number + 1;
        s->used = 0;
        s->column = -1;
        kn_buffer_clear(&s->row);
    }
    if (strcmp(local, "c") == 0) start_cell(p, s, attributes);
    if (strcmp(local, "rPh") == 0) s->phonetic++;
    s->inside = strcmp(local, "v") == 0 || (strcmp(local, "t") == 0 && s->phonetic == 0);
}

static void XMLCALL on_end(void *user, const char *element)
{
    kn_part    *p = user;
    sheet      *s = p->user;
    const char *local = kn_part_local(element);
    s->inside = false;
    if (strcmp(local, "rPh") == 0) s->phonetic--;
    if (strcmp(local, "c") == 0) end_cell(p, s);
    if (strcmp(local, "row") == 0) end_row(p, s);
}

static void XMLCALL on_text(void *user, const char *text, int size)
{
    kn_part *p = user;
    sheet   *s = p->user;
    if (s->inside) kn_buffer_append(&s->text, text, (size_t)size);
}

/* ---- The stream ---- */

static void close_sheet(void *state)
{
    sheet *s = state;
    kn_part_close(&s->part);
    kn_workbook_close(s->book);
    kn_buffer_free(&s->row);
    kn_buffer_free(&s->text);
    kn_free(s);
}

static kn_status more(void *state, kn_buffer *to, bool *ended, kn_error *err)
{
    sheet *s = state;
    s->csv.to = to;
    KN_TRY(kn_part_step(&s->part, err));
    *ended = s->part.ended;
    return s->row.failed || s->text.failed ? kn_fail_memory(err, s->book->ctx, s->book->name) : KN_OK;
}

kn_status kn_workbook_stream(kn_table_stream *out, kn_context *ctx, const char *name, kn_error *err)
{
    kn_workbook *book = NULL;
    KN_TRY(kn_workbook_open(&book, ctx, name, err));
    sheet *s = kn_alloc_zero(ctx, sizeof *s);
    if (!s) {
        kn_workbook_close(book);
        return kn_fail_memory(err, ctx, name);
    }
    s->book = book;
    s->column = -1;
    s->csv = (kn_csv_rows){.ctx = ctx, .source = book->name};
    kn_buffer_init(&s->row, ctx);
    kn_buffer_init(&s->text, ctx);
    kn_status status =
        kn_part_open(&s->part, ctx, book->name, book->zip, book->sheet_path, s, on_start, on_end, on_text, err);
    if (status == KN_OK)
        *out = (kn_table_stream){s, book->name, more, close_sheet};
    else
        close_sheet(s);
    return status;
}
