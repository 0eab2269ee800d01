/* take.c: the cells of several databases, at the same time → texts by number. Interface: kn_verify_sheets.h.
 *
 * A source gives one row after the other. They are collected, KN_CELL_ROWS at a time; while every source is asked for its next
 * rows, the columns of those before are taken, all on the threads that there are. Which rows are together depends on their
 * number alone. Of several mistakes the first database's is reported, and of that the first row's: so neither results
 * nor messages depend on threads, or on what is read beside.
 *
 * Cost: one copy of each text, and one look at it. Memory: for each database two times KN_CELL_ROWS rows; codes as in sheets.c.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_parallel.h"
#include "kn_utf8.h"
#include "kn_verify_sheets.h"

/* Rows of one table that follow each other. */
typedef struct batch {
    int          table; /* -1: there was none left */
    bool         last;  /* of the table            */
    kn_cell_rows rows;
} batch;

typedef struct stream {
    kn_vsheets               *sheets;
    const kn_vsheets_options *options;
    batch                     batches[2];
    int                       next;  /* of the two: the source fills it                   */
    int                       table; /* that the source is at; `count` of them: none      */
    bool                      begun; /* it gave rows of that                              */
    int64_t                   row;   /* of the table: the next one                        */
    int64_t                  *wrong; /* per column: a row that is not UTF-8, or -1        */
    kn_status                 asked; /* the source's: counts once the rows before are taken */
    kn_error                  refused;
    kn_status                 status;
    kn_error                  error;
    bool                      over;
} stream;

static kn_status no_memory(const stream *s, kn_error *err)
{
    return kn_fail_memory(err, s->sheets->ctx, "verifying a database");
}

/* ---- The source ---- */

static bool is_key(const kn_catalog_table *t, const char *column)
{
    for (int k = 0; k < t->key_count; k++)
        if (strcmp(t->key[k], column) == 0) return true;
    for (int l = 0; l < t->link_count; l++)
        for (int i = 0; i < t->links[l].count; i++)
            if (strcmp(t->links[l].columns[i], column) == 0) return true;
    return false;
}

static kn_status begin_table(stream *s, kn_error *err)
{
    kn_vsheets             *sheets = s->sheets;
    kn_vsheet              *sheet = &sheets->list[s->table];
    const kn_catalog_table *declared = sheet->declared;
    sheet->columns = kn_alloc_array_zero(sheets->ctx, (size_t)declared->column_count + 1, sizeof *sheet->columns);
    if (!sheet->columns) return no_memory(s, err);
    sheet->column_count = declared->column_count;
    for (int c = 0; c < sheet->column_count; c++) {
        kn_vsheet_column *column = &sheet->columns[c];
        column->name = declared->columns[c].name;
        column->text = declared->columns[c].text || is_key(declared, column->name);
        column->cells.width = 4;
    }
    if (sheet->column_count == 0)
        return kn_fail(err, KN_INPUT, "%s: table \"%s\" has no columns", sheets->cells->name, sheet->name);
    return sheets->cells->begin(sheets->cells->state, declared, err);
}

static void ask_source(stream *s)
{
    batch       *b = &s->batches[s->next];
    kn_cell_sink sink = kn_cell_rows_sink(&b->rows);
    bool         more = false, begin = !s->begun;
    b->table = -1;
    b->rows.count = 0;
    if (s->asked != KN_OK || s->table == s->sheets->count) return;
    if (begin) {
        s->row = 0;
        s->asked = begin_table(s, &s->refused);
    }
    s->begun = true;
    b->table = s->table;
    const kn_cells         *cells = s->sheets->cells;
    const kn_catalog_table *declared = s->sheets->list[s->table].declared;
    if (s->asked == KN_OK && !kn_cell_rows_begin(&b->rows, declared->column_count, s->row))
        s->asked = no_memory(s, &s->refused);
    if (s->asked == KN_OK) s->asked = cells->next(cells->state, declared, &sink, KN_CELL_ROWS, &more, &s->refused);
    s->row += b->rows.count;
    b->last = s->asked == KN_OK && !more;
    if (!b->last) return;
    s->begun = false;
    s->table++;
}

/* ---- Columns ---- */

enum { PIECE = 256 }; /* cells looked up together */

static kn_status take_column(stream *s, int column, kn_error *err)
{
    const batch        *b = &s->batches[!s->next];
    const kn_cell_rows *rows = &b->rows;
    kn_context         *ctx = s->sheets->ctx;
    kn_vsheet_column   *c = &s->sheets->list[b->table].columns[column];
    kn_vwords          *words = &c->cells.words;
    size_t              row = (size_t)rows->first;
    if (!kn_grow(ctx, &c->cells.codes, &c->capacity, row + (size_t)rows->count, sizeof(uint32_t)))
        return no_memory(s, err);
    uint32_t *codes = (uint32_t *)c->cells.codes + row, known = words->count;
    for (int64_t begin = 0; begin < rows->count; begin += PIECE) {
        kn_string texts[PIECE];
        char      rooms[PIECE][KN_NUMBER_TEXT];
        int       count = rows->count - begin < PIECE ? (int)(rows->count - begin) : PIECE;
        for (int i = 0; i < count; i++) texts[i] = kn_cell_rows_text(rows, column, begin + i, rooms[i]);
        if (!kn_vwords_add_all(words, ctx, texts, count, codes + begin)) return no_memory(s, err);
        if (words->count == known) continue;
        for (int i = 0; i < count; i++) { /* each text once: where it is new */
            if (codes[begin + i] != known) continue;
            known++;
            if (s->wrong[column] < 0 && kn_utf8_check(texts[i].data, texts[i].size) < texts[i].size)
                s->wrong[column] = begin + i;
        }
    }
    return KN_OK;
}

/* The first row's, and of one row the first column's. */
static kn_status report_wrong(const stream *s, const batch *b, kn_error *err)
{
    const kn_catalog_table *table = s->sheets->list[b->table].declared;
    int                     column = -1;
    for (int c = 0; c < table->column_count; c++)
        if (s->wrong[c] >= 0 && (column < 0 || s->wrong[c] < s->wrong[column])) column = c;
    if (column < 0) return KN_OK;
    return kn_fail(err, KN_INPUT, "%s: table \"%s\", column \"%s\", row %lld: not UTF-8", s->sheets->cells->name,
                   table->name, table->columns[column].name, (long long)(b->rows.first + s->wrong[column] + 1));
}

static kn_status end_rows(stream *s, const batch *b, kn_error *err)
{
    kn_vsheet *sheet = &s->sheets->list[b->table];
    KN_TRY(report_wrong(s, b, err));
    sheet->rows += b->rows.count;
    if (!b->last) return KN_OK;
    for (int c = 0; c < sheet->column_count; c++) {
        kn_vwords *words = &sheet->columns[c].cells.words;
        sheet->columns[c].cells.count = words->count;
        kn_free(words->slots); /* what was needed to find them */
        words->slots = NULL;
    }
    return kn_vsheet_settle(s->sheets, sheet, s->options, err);
}

/* ---- All of them ---- */

typedef struct item {
    stream *stream;
    int     column; /* -1: its source is asked */
} item;

typedef struct taking {
    stream *streams;
    int     count;
    item   *items;
} taking;

static kn_status step(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    const taking *t = arg;
    (void)worker;
    for (int64_t i = begin; i < end; i++) {
        if (t->items[i].column < 0)
            ask_source(t->items[i].stream);
        else
            KN_TRY(take_column(t->items[i].stream, t->items[i].column, err));
    }
    return KN_OK;
}

/* What is done next: sources first. */
static int list_items(const taking *t)
{
    int count = 0;
    for (int i = 0; i < t->count; i++)
        if (!t->streams[i].over) t->items[count++] = (item){&t->streams[i], -1};
    for (int i = 0; i < t->count; i++) {
        stream      *s = &t->streams[i];
        const batch *b = &s->batches[!s->next];
        for (int c = 0; !s->over && b->rows.count > 0 && c < s->sheets->list[b->table].column_count; c++)
            t->items[count++] = (item){s, c};
    }
    return count;
}

static kn_status take_all(taking *t, kn_context *ctx, kn_error *err)
{
    for (int i = 0; i < t->count; i++) t->streams[i].next = 1; /* of the other, nothing is there yet */
    for (int count; (count = list_items(t)) > 0;) {
        KN_TRY(kn_parallel_for(ctx, count, 1, step, t, err));
        for (int i = 0; i < t->count; i++) {
            stream      *s = &t->streams[i];
            const batch *b = &s->batches[!s->next];
            if (s->over) continue;
            if (b->table >= 0) s->status = end_rows(s, b, &s->error);
            s->next = !s->next;
            s->over = s->status != KN_OK || s->batches[!s->next].table < 0;
            if (s->status != KN_OK && i == 0) return KN_OK; /* whatever the others have */
        }
    }
    return KN_OK;
}

static kn_status init_stream(stream *s, kn_error *err)
{
    int most = 0;
    for (int t = 0; t < s->sheets->count; t++)
        if (s->sheets->list[t].declared->column_count > most) most = s->sheets->list[t].declared->column_count;
    s->asked = s->status = KN_OK;
    s->refused = s->error = (kn_error)KN_ERROR_INIT;
    s->wrong = kn_alloc_array(s->sheets->ctx, (size_t)most + 1, sizeof *s->wrong);
    for (size_t i = 0; i < 2; i++)
        s->batches[i] = (batch){.table = -1, .rows = {.ctx = s->sheets->ctx, .what = "verifying a database"}};
    for (int c = 0; s->wrong && c < most; c++) s->wrong[c] = -1;
    return s->wrong ? KN_OK : no_memory(s, err);
}

static kn_status result_of(const stream *s, kn_error *err)
{
    kn_status status = s->status != KN_OK ? s->status : s->asked;
    if (status != KN_OK && err) *err = s->status != KN_OK ? s->error : s->refused;
    return status;
}

kn_status kn_vsheets_take(kn_vsheets *const *sheets, const kn_vsheets_options *const *options, int count, kn_error *err)
{
    kn_context *ctx = sheets[0]->ctx;
    taking      t = {.count = count};
    size_t      most = 0;
    for (int i = 0; i < count; i++)
        for (int k = 0; k < sheets[i]->count; k++) most += (size_t)sheets[i]->list[k].declared->column_count;
    t.streams = kn_alloc_array_zero(ctx, (size_t)count + 1, sizeof *t.streams);
    t.items = kn_alloc_array(ctx, most + (size_t)count + 1, sizeof *t.items);
    kn_status status = t.streams && t.items ? KN_OK : kn_fail_memory(err, ctx, "verifying a database");
    for (int i = 0; status == KN_OK && i < count; i++) {
        t.streams[i].sheets = sheets[i];
        t.streams[i].options = options[i];
        status = init_stream(&t.streams[i], err);
    }
    if (status == KN_OK) status = take_all(&t, ctx, err);
    for (int i = 0; status == KN_OK && i < count; i++) status = result_of(&t.streams[i], err);
    for (int i = 0; t.streams && i < count; i++) {
        for (int k = 0; k < 2; k++) kn_cell_rows_free(&t.streams[i].batches[k].rows);
        kn_free(t.streams[i].wrong);
    }
    KN_FREE(t.streams, t.items);
    return status;
}
