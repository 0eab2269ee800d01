/* kn_verify_sheets.h: the tables of a database as the verifier reads them: texts by number, column by column.
 *
 * A source gives names, declared keys and cells as texts (kn_cells.h); files of a folder are read by the verifier's
 * own reader (table/read.c). What is missing, which column is a key and what a text means is decided here and by the
 * callers.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_VERIFY_SHEETS_H
#define KN_VERIFY_SHEETS_H

#include "kn_cells.h"
#include "kn_verify_internal.h"

typedef struct kn_vsheet_column {
    const char *name;
    kn_vcolumn  cells;     /* texts that are not missing; code `count`: a missing cell             */
    int64_t     missing;   /* rows                                                                 */
    int64_t     respelled; /* texts with the same number, date or time as another                  */
    bool        blanks;    /* a missing cell is written with blanks                                */
    bool        text;      /* declared as text, or part of a declared key: never anything else     */
    size_t      capacity;
} kn_vsheet_column;

typedef struct kn_vsheet {
    const char             *name;
    int64_t                 rows;
    int                     column_count;
    kn_vsheet_column       *columns;
    const kn_catalog_table *declared;
    kn_vtable              *file; /* NULL: no file */
    int                     form_count;
    const char             *form[KN_VERIFY_PROBLEMS]; /* what is wrong with the form of a release's file */
} kn_vsheet;

typedef struct kn_vsheets {
    kn_context     *ctx;
    const kn_cells *cells;
    kn_catalog      catalog;
    kn_arena        arena;
    int             count;
    kn_vsheet      *list;
} kn_vsheets;

typedef struct kn_vsheets_options {
    const kn_spec_table *tables; /* read these only, in this order; NULL: all, by their names                             */
    int                  table_count;
    const kn_csv_options *csv;   /* of files; of other sources `na` alone, where it is given                              */
    bool                 empty;   /* an empty text is missing too, since the release cannot distinguish the two           */
    bool                 release; /* the form of files is noted, and spellings are compared                               */
    bool                 guarded; /* see kn_vread_options                                                                 */
} kn_vsheets_options;

/* Reads all tables. To be freed even on failure. KN_INPUT: no such table, or not UTF-8. Holds 1, 2 or 4 bytes per
 * cell and each column's different texts. */
KN_CHECK kn_status kn_vsheets_read(kn_vsheets *out, const kn_cells *cells, const kn_vsheets_options *options, kn_error *err);
void               kn_vsheets_free(kn_vsheets *sheets);

/* The same in two steps: what there is, then the tables of several databases, at the same time unless they are files. Of several
 * failures the first database's is reported. */
KN_CHECK kn_status kn_vsheets_open(kn_vsheets *out, const kn_cells *cells, const kn_vsheets_options *options, kn_error *err);
KN_CHECK kn_status kn_vsheets_fill(kn_vsheets *const *sheets, const kn_vsheets_options *const *options, int count,
                                   kn_error *err);

/* For kn_vsheets_fill: those that are no files (take.c); texts that mean "missing", and the width of codes, of a table whose
 * rows are read (sheets.c). */
KN_CHECK kn_status kn_vsheets_take(kn_vsheets *const *sheets, const kn_vsheets_options *const *options, int count,
                                   kn_error *err);
KN_CHECK kn_status kn_vsheet_settle(kn_vsheets *sheets, kn_vsheet *sheet, const kn_vsheets_options *options, kn_error *err);

int                kn_vsheets_find(const kn_vsheets *sheets, const char *name); /* -1: none */

/* One file as a table; `options->csv->na` says what is missing. *out belongs to `sheets`, which is then to be freed. */
KN_CHECK kn_status kn_vsheet_read_file(kn_vsheets *sheets, kn_vsheet *out, const char *path,
                                       const kn_vsheets_options *options, kn_error *err);

int kn_vsheet_find(const kn_vsheet *sheet, const char *column); /* -1: none */

/* Digits without a needless sign or zero; `exponent`: or with one as %g writes it. */
bool kn_v_plain_number(kn_string text, bool exponent);

/* Is every text a plain number without an exponent? Then no two of them have the same value. */
bool kn_vsheet_plain(const kn_vsheet_column *column);

static inline const char *kn_vsheet_name(const kn_vsheet *s, int column)
{
    return s->columns[column].name;
}

static inline uint32_t kn_vsheet_distinct(const kn_vsheet *s, int column)
{
    return s->columns[column].cells.count;
}

/* A row's text by its number; kn_vsheet_distinct: missing. */
static inline uint32_t kn_vsheet_code(const kn_vsheet *s, int column, int64_t row)
{
    return kn_vcode(&s->columns[column].cells, row);
}

/* Data NULL: missing. */
static inline kn_string kn_vsheet_text(const kn_vsheet *s, int column, uint32_t code)
{
    const kn_vcolumn *c = &s->columns[column].cells;
    return code < c->count ? kn_vtext(c, code) : (kn_string){NULL, 0};
}

#endif
