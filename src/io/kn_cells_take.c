/* kn_cells_take.c: the rows of a table by columns, on all threads. Interface: kn_cells.h.
 *
 * A source gives one row after the other. They are collected, KN_CELL_ROWS at a time; while one thread asks the source for
 * the next ones, the others take the columns of those before. Which rows are together depends on their number alone, and
 * of several mistakes the first row's is reported: results and messages do not depend on threads.
 *
 * Cost: one copy of each text. Memory: two times KN_CELL_ROWS rows.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_alloc.h"
#include "kn_cells.h"
#include "kn_error.h"
#include "kn_parallel.h"

typedef struct taking {
    const kn_cells         *cells;
    const kn_catalog_table *table;
    const kn_cell_taker    *taker;
    kn_cell_rows            rows[2];
    int                     next;  /* of the two: the source fills it              */
    int64_t                *wrong; /* per column: a row that is not UTF-8, or -1 */
    bool                    more;
    kn_status               status; /* the source's */
    kn_error                error;
} taking;

static kn_status no_memory(const taking *t, kn_error *err)
{
    return kn_fail_memory(err, t->cells->ctx, t->cells->name);
}

/* A failure counts once the rows before it are taken. */
static void ask_source(taking *t)
{
    const kn_cell_rows *before = &t->rows[!t->next];
    kn_cell_rows       *r = &t->rows[t->next];
    kn_cell_sink        sink = kn_cell_rows_sink(r);
    if (!kn_cell_rows_begin(r, t->table->column_count, before->first + before->count))
        t->status = no_memory(t, &t->error);
    if (t->status != KN_OK) t->more = false;
    if (!t->more) return;
    t->status = t->cells->next(t->cells->state, t->table, &sink, KN_CELL_ROWS, &t->more, &t->error);
    if (t->status != KN_OK) t->more = false;
}

static kn_status step(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    taking *t = arg;
    (void)worker;
    for (int64_t i = begin; i < end; i++) {
        if (i == 0)
            ask_source(t);
        else
            KN_TRY(t->taker->column(t->taker->state, (int)i - 1, &t->rows[!t->next], &t->wrong[i - 1], err));
    }
    return KN_OK;
}

/* The first row's, and of one row the first column's. */
static kn_status report_wrong(const taking *t, kn_error *err)
{
    int column = -1;
    for (int c = 0; c < t->table->column_count; c++)
        if (t->wrong[c] >= 0 && (column < 0 || t->wrong[c] < t->wrong[column])) column = c;
    if (column < 0) return KN_OK;
    return kn_fail(err, KN_INPUT, "%s: table \"%s\", column \"%s\", row %lld: not UTF-8", t->cells->name,
                   t->table->name, t->table->columns[column].name,
                   (long long)(t->rows[!t->next].first + t->wrong[column] + 1));
}

static kn_status take_rows(taking *t, kn_error *err)
{
    KN_TRY(t->cells->begin(t->cells->state, t->table, err));
    t->more = true;
    ask_source(t);
    while (t->rows[t->next].count > 0) {
        t->next = !t->next;
        KN_TRY(kn_parallel_for(t->cells->ctx, t->table->column_count + 1, 1, step, t, err));
        KN_TRY(report_wrong(t, err));
        KN_TRY(t->taker->rows(t->taker->state, &t->rows[!t->next], err));
    }
    if (t->status != KN_OK && err) *err = t->error;
    return t->status;
}

kn_status kn_cells_take(const kn_cells *cells, const kn_catalog_table *table, const kn_cell_taker *taker, kn_error *err)
{
    taking    t = {.cells = cells, .table = table, .taker = taker, .status = KN_OK, .error = KN_ERROR_INIT};
    size_t    columns = (size_t)table->column_count;
    kn_status status = KN_ALLOC(cells->ctx, t.wrong, columns + 1) ? KN_OK : no_memory(&t, err);
    for (size_t i = 0; i < 2; i++) t.rows[i] = (kn_cell_rows){.ctx = cells->ctx, .what = cells->name};
    for (size_t c = 0; status == KN_OK && c < columns; c++) t.wrong[c] = -1;
    if (status == KN_OK) status = take_rows(&t, err);
    for (int i = 0; i < 2; i++) kn_cell_rows_free(&t.rows[i]);
    kn_free(t.wrong);
    return status;
}
