/* kn_cells.h: an open source of tables: what it declares about them, and their cells row by row, as texts.
 *
 * Reading (kn_database_read) and verification both begin here. It knows nothing of types, of missing values other
 * than NULL, or of the keys that a user names; nothing is stored. Tables of a folder are files, which their readers
 * tokenize themselves.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_CELLS_H
#define KN_CELLS_H

#include "kn_buffer.h"
#include "kn_catalog.h"
#include "kn_extras.h"
#include "kn_number_text.h"
#include "kn_string.h"

/* Says which columns nobody will look at, except for those of keys. Where rows come from an engine their cells are not asked
 * for, and are all missing. */
typedef struct kn_database_unread {
    const void *arg;
    bool (*column)(const void *arg, const char *table, const char *column);
} kn_database_unread;

/* Receives the cells of a table, row by row, in the order of the catalog's columns. Data NULL: missing; a text is
 * valid until the call returns. It need not be UTF-8. */
typedef struct kn_cell_sink {
    void *state;
    kn_status (*cell)(void *state, kn_string text, kn_error *err);
    /* Numbers of a source that holds numbers. Both NULL: they come as texts (kn_number_text.h). */
    kn_status (*integer)(void *state, int64_t value, kn_error *err);
    kn_status (*real)(void *state, double value, kn_error *err);
} kn_cell_sink;

typedef struct kn_cells {
    kn_context *ctx;
    void       *state;
    const char *name; /* for messages; without a password */
    /* Fills the catalog with all tables, or those of the options. Tables that are files have no columns there. */
    kn_status (*list)(void *state, kn_catalog *catalog, const kn_database_options *options, kn_error *err);
    /* The rows of one table at a time: from the first on, then the next ones, at most so many. *more: there may be others.
     * One call at a time, from any thread. */
    kn_status (*begin)(void *state, const kn_catalog_table *table, kn_error *err);
    kn_status (*next)(void *state, const kn_catalog_table *table, const kn_cell_sink *sink, int64_t most, bool *more,
                      kn_error *err);
    /* The file of a table, to be freed. NULL: tables are not files, and there are rows instead. */
    kn_status (*file)(void *state, char **out, const char *table, kn_error *err);
    /* What there is besides the cells (kn_extras.h). `original`: whose declared types a release may have. */
    kn_status (*extras)(void *state, const kn_catalog *original, kn_extras_fn tell, void *arg, kn_error *err);
    void (*close)(void *state);
    bool extras_apart; /* `extras` may run on another thread while rows are read */
} kn_cells;

/* Opens a source by its name (kn_database_read). `snapshot`: of a server, as kn_input_mark_snapshot gives it; NULL:
 * the current state. In one transaction if the source has transactions. KN_USAGE: not the name of a database. */
KN_CHECK kn_status kn_cells_open(kn_cells **out, kn_context *ctx, const char *name, const char *snapshot, kn_error *err);
void               kn_cells_close(kn_cells *cells); /* NULL is fine */

/* ---- All rows of a table, by columns ---- */

enum { KN_CELL_ROWS = 8192 };

/* Where a text is, or a number. */
typedef struct kn_cell_place {
    uint64_t at;   /* the bits of a number */
    uint32_t size; /* or one of these      */
} kn_cell_place;
enum { KN_CELL_MOST = INT32_MAX }; /* bytes of a text */
#define KN_CELL_MISSING UINT32_MAX
#define KN_CELL_INTEGER (UINT32_MAX - 1)
#define KN_CELL_REAL    (UINT32_MAX - 2)

/* Rows that follow each other, at most KN_CELL_ROWS (kn_cell_rows.c). All zero but for ctx and what: none. */
typedef struct kn_cell_rows {
    kn_context    *ctx;
    const char    *what; /* is done, if memory runs out */
    int64_t        first, count;
    int            columns, column; /* column: of the next cell */
    kn_cell_place *places;          /* of each cell, row by row */
    size_t         capacity;
    kn_buffer      bytes;
} kn_cell_rows;

/* No rows yet; `first` will be the number of the first. false: out of memory. */
KN_CHECK bool kn_cell_rows_begin(kn_cell_rows *rows, int columns, int64_t first);
kn_cell_sink  kn_cell_rows_sink(kn_cell_rows *rows); /* adds cells; a row counts once it has all of them */
void          kn_cell_rows_free(kn_cell_rows *rows);

/* The i-th cell of a column, valid as long as the rows and `room` (of a number) are; data NULL: missing. */
kn_string kn_cell_rows_text(const kn_cell_rows *rows, int column, int64_t i, char room[KN_NUMBER_TEXT]);

/* Takes the cells of a column of such rows: several columns at a time, each front to back. *wrong: the first of the rows
 * whose text is not UTF-8, if there is one. Then, once all columns are taken, the rows themselves. */
typedef struct kn_cell_taker {
    void *state;
    kn_status (*column)(void *state, int column, const kn_cell_rows *rows, int64_t *wrong, kn_error *err);
    kn_status (*rows)(void *state, const kn_cell_rows *rows, kn_error *err);
} kn_cell_taker;

/* On all threads: while the source gives the next rows, the columns of those before are taken. KN_INPUT: a text is not
 * UTF-8. */
KN_CHECK kn_status kn_cells_take(const kn_cells *cells, const kn_catalog_table *table, const kn_cell_taker *taker,
                                 kn_error *err);

#endif
