/* kn_carry.h: kept columns stay in the engine, and are carried to the rows of a release (docs/big.md).
 *
 *     kn_carry_open(&carry, &engine, csv, kept, err);     // which of the columns are kept, and of which types they are
 *     kn_carry_group(&table, &carry, err);                // the combinations of the others, as counted rows; the engine keeps them
 *     kn_carry_numbers(&numbers, &carry, relation, err);  // ... or of rows in which these are numbers (kn_coded_put_table)
 *     kn_carry_give(&carry, &numbers, err);               // what is to be said of each combination that is shown
 *     kn_carry_alone(&rows, &carry, 2, err);              // asked about rows with these numbers
 *     kn_carry_write(&carry, &release, err);              // rows in their order, out of the engine into a file
 *     kn_carry_close(&carry);
 *
 * So a frequency set does not grow by columns that nobody generalizes, and a column that is different in every row never comes here but for
 * the rows that are being written. The engine joins every row with its combination and sorts; that its order is that of a release in
 * memory is checked row by row.
 *
 * Cost: the engine's: one GROUP BY, one sort of all rows with their kept cells. Memory: the combinations; a group of rows.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_CARRY_H
#define KN_CARRY_H

#include "kn_arena.h"
#include "kn_arrow.h"
#include "kn_engine.h"
#include "kn_output.h"

/* A kept column. */
typedef struct kn_carried {
    const char     *name;
    kn_arrow_format format; /* as the engine gives its cells   */
    int             place;  /* among the columns of the release */
} kn_carried;

typedef struct kn_carry {
    kn_engine         *engine; /* NULL: nothing is carried */
    kn_arena           arena;
    const char        *rows; /* what stands behind FROM for the rows: the engine's table, or one with numbers; in arena */
    kn_csv_options     csv; /* of the other columns, which are grouped           */
    int                all; /* columns of the release                            */
    kn_carried        *columns;
    int                count;
    const char *const *na; /* spellings of a missing cell                        */
    int                na_count;
    const char        *missing; /* how a missing cell is released                */
    bool               guarded; /* kn_csv_guards                                 */
} kn_carry;

/* `csv`: all columns of the release, in its order; `kept`: which of them are. Its other lists and `missing` are borrowed. Closed also on failure. */
KN_CHECK kn_status kn_carry_open(kn_carry *out, kn_engine *engine, const kn_csv_options *csv, const bool *kept, const char *missing,
                                 bool guarded, kn_error *err);
void               kn_carry_close(kn_carry *carry); /* all zero is fine */

/* The combinations of the other columns; the engine numbers them from 1 in the order of the table's rows. */
KN_CHECK kn_status kn_carry_group(kn_table **out, kn_carry *carry, kn_error *err);

/* The same, of the rows of another relation: the kept columns are those of the table, the others whole numbers. Columns of the answer: one for each
 * of the others; the rows. */
KN_CHECK kn_status kn_carry_numbers(kn_numbers *out, kn_carry *carry, const char *relation, kn_error *err);

/* Of a kept column, over all rows: cells that are not missing, different ones among them, and those that only one row has. */
typedef struct kn_carry_figures {
    int64_t present, distinct, unique;
} kn_carry_figures;

KN_CHECK kn_status kn_carry_figures_of(kn_carry_figures *out, const kn_carry *carry, int column, kn_error *err);

/* Is it a column of texts to the engine, which may be anything to kanon? */
bool kn_carry_is_text(const kn_carry *carry, int column);

/* Numbers of combinations, n0, and what belongs to them, n1, n2, ...; rows of others take no part in what follows. */
KN_CHECK kn_status kn_carry_give(const kn_carry *carry, const kn_numbers *numbers, kn_error *err);

/* How many rows are the only ones with their numbers n1 ... n`numbers` and their kept cells. */
KN_CHECK kn_status kn_carry_alone(int64_t *out, const kn_carry *carry, int numbers, kn_error *err);

/* What is released. n1 of a combination is its entry; rows are ordered by n2, then column by column. */
typedef struct kn_carry_release {
    const kn_batches *batches; /* the entries with their counts and places (kn_recode_input.take)            */
    int64_t           shown;   /* those before the suppressed rows', whose kept cells are "*"                */
    const kn_numbers *keys;    /* per entry: what n2, n3, ... are                                             */
    const int        *order;   /* by what rows of one n2 are ordered: a kept column, or -i for n(i); order_count of them */
    int               order_count;
    const bool       *starred; /* per column of the batches: is "*" in suppressed rows                       */
    const char       *starred_name; /* the last such column that is copied                                   */
    const char       *path, *name; /* as for kn_engine_write                                                 */
    bool              parts;
    kn_output        *output; /* CSV goes here instead, from batches of texts; NULL: Parquet is written        */
    char              delimiter; /* ... its cells are separated by this                                      */
    int64_t          *formulas; /* per kept column: is filled in with the cells that a spreadsheet would execute */
} kn_carry_release;

/* KN_INPUT: the table changed, or a row would look as if it were suppressed. KN_INTERNAL: the engine sorts otherwise than kanon. */
KN_CHECK kn_status kn_carry_write(kn_carry *carry, const kn_carry_release *release, kn_error *err);

/* What the files of kn_carry share: the released text of a kept cell, without the apostrophe of a guarded one; in `cell` where it is no text of the
 * engine's. NULL: success, else why there is none. */
const char *kn_carry_text(kn_string *out, kn_arrow_cell *cell, const kn_carry *carry, int column, const kn_arrow_view *view, int64_t at);

/* The kept cells of shown rows; `column` -1: the entry and all columns, in the order of the release, else that column, in any order. */
KN_CHECK kn_status kn_carry_rows(struct ArrowArrayStream *out, const kn_carry *carry, int column, const kn_carry_release *release,
                                 kn_error *err);

#endif
