/* kn_recode.h: a plan and its table → the bytes of the release.
 *
 * Rows are sorted by all their released cells (equal rows are interchangeable, so nothing of the original order
 * remains) unless the order is to be kept; suppressed rows come last. Rows are made in parallel; the bytes do not
 * depend on the number of threads.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_RECODE_H
#define KN_RECODE_H

#include <kanon/spec.h>

#include "kn_output.h"
#include "kn_plan.h"

struct kn_batches;

typedef enum kn_released_kind { KN_RELEASED_QUASI, KN_RELEASED_COPY, KN_RELEASED_PSEUDONYM } kn_released_kind;

/* A column of the release, in the order of the table's columns. */
typedef struct kn_released_column {
    kn_released_kind     kind;
    int                  column;   /* of the table                                              */
    int                  quasi;    /* QUASI: which of the plan's                                */
    const unsigned char *key;      /* PSEUDONYM: 32 bytes; HMAC-SHA-256 of the value's text     */
    bool                 sensitive; /* COPY: shown in suppressed rows with keep-sensitive        */
    bool                 items;     /* COPY: "*" stands for any items, and is no value of the data */
} kn_released_column;

/* Of a counted table, where its rows went: for whoever carries further columns to them, in whose order these take part. */
typedef struct kn_recode_places {
    int64_t  *entries; /* per row of the table: which entry of the release shows it; -1: none. Room for all */
    int64_t   count;   /* entries                                                                          */
    int64_t   shown;   /* ... before those of suppressed rows                                              */
    int       others;  /* released columns that are no quasi-identifiers                                   */
    uint32_t *ranks;   /* per entry: of its class, then of its cells in the others; kn_alloc               */
} kn_recode_places;

typedef struct kn_recode_input {
    const kn_table            *table;
    const kn_plan             *plan;
    const kn_hierarchy *const *hierarchies; /* one per quasi-identifier of the plan; NULL: none */
    const kn_released_column  *columns;
    int                        column_count;
    kn_suppressed              suppressed;
    bool                       keep_order;
    bool                       levels; /* each quasi-identifier is of one level of its hierarchy */
    char                       delimiter;
    const char                *missing; /* how a missing cell is written; NULL: empty           */
    bool                       columns_wanted; /* the rows become Arrow batches, not CSV: in memory   */
    bool                       texts; /* ... whose columns are all of texts                     */
    bool                       parquet; /* ... or, of a file, Parquet                           */
    bool                       parts;   /* ... in parts: the output's temporary path is a folder */
    /* ... or batches of counted rows for somebody else, who takes them over, with a further column: the rows before; NULL: nobody */
    kn_status (*take)(void *arg, struct kn_batches *batches, kn_error *err);
    void *take_arg;
    bool                       guarded; /* kn_csv_guarded_cell                                  */
    bool                       counted; /* rows that show the same are one, with a column of counts behind the others; else
                                         * a row of a counted table is written as often as it stands for    */
    kn_recode_places          *places; /* is filled in; columns are still to come: what needs all of them is left to whoever
                                        * carries them. NULL: not wanted                        */
    int64_t                   *formulas; /* per column: is filled in with the released cells that a spreadsheet would
                                          * execute; NULL: not wanted                           */
} kn_recode_input;

/* Writes header and rows to `output`, which stays open. `map` receives the table row of each released row (kn_alloc;
 * freed by the caller), `*map_count` of them; NULL and 0 where rows are counted. KN_INPUT, naming the column, if a value of the data looks like what
 * only a release may contain: a row that is not suppressed but would be "*" wherever a suppressed row is, or two
 * different groups of a column that would be written alike. */
KN_CHECK kn_status kn_recode_write(kn_output *output, kn_context *ctx, const kn_recode_input *input, int64_t **map,
                                   int64_t *map_count, kn_error *err);

/* The released text of a cell, appended: also for the verifier's tests and reports. Ranges of numbers and dates are
 * closed intervals "[low, high]" (docs/hierarchies.md); sets are "{a;b;c}", with a member in quotes where it could be taken for another or for several; a missing cell is empty. */
void kn_cell_text(kn_buffer *to, const kn_plan *plan, const kn_cell *cell, const kn_column *column,
                  const kn_hierarchy *hierarchy);

#endif
