/* kn_coded.h: a table that stays where it is as numbers: its distinct combinations in the engine, judged there at any levels.
 *
 *     kn_coded_open(&coded, &engine, csv, quasi, drop, err);   // every column's values; the combinations of their numbers
 *     kn_coded_map(&coded, column, map, levels, err);          // per level: the number that stands for a value
 *     kn_coded_sizes(&sizes, &coded, levels, err);             // classes of a node: how many there are of each size
 *     kn_coded_small(&small, &coded, levels, least, err);   // what the rows of small classes show
 *     kn_coded_read(&rows, &coded, levels, err);               // the node's frequency set
 *     kn_coded_put_table(&relation, &coded, levels, kept, count); // the rows themselves at the node
 *     kn_coded_close(&coded);
 *
 * For frequency sets that do not fit the memory: only the values of single columns come here, and what a node has. A value's number is
 * its place in the order of the engine; several that are one value to kanon (spellings) are one number at every level. At a level
 * the least number of those that are shown as the same stands for all of them. Every figure is a whole number and exact.
 *
 * Cost: one GROUP BY of the table, which the engine keeps; per question one GROUP BY of that.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_CODED_H
#define KN_CODED_H

#include "kn_engine.h"

/* A column: its values in the order of their numbers. */
typedef struct kn_coded_column {
    bool      quasi;
    kn_table *values;  /* one column; a row for each number */
    int64_t  *numbers; /* ascending                         */
    int64_t  *rows;    /* that have it, of those that take part */
    int64_t   count;
    int       levels;  /* once mapped; 0: not yet           */
    int64_t  *only;    /* per level: the number that stands for all values; -1: there are several */
    bool     *same;    /* per level: each stands for itself */
} kn_coded_column;

typedef struct kn_coded {
    kn_engine            *engine;
    const kn_csv_options *csv; /* whose columns are coded; borrowed                     */
    kn_coded_column      *columns;
    int                   count;
    int64_t               rows_in;       /* of the table                                */
    int64_t               rows;          /* that take part: without those with a missing quasi-identifier, if these are dropped */
    int64_t               missing_cells; /* of quasi-identifiers, in all of them        */
    int64_t               questions;     /* asked so far                                */
} kn_coded;

/* `quasi`: per column. `drop`: rows with a missing quasi-identifier take no part. KN_MEMORY: the values of a column do not fit, or the engine
 * has no room. Must be closed even on failure. */
KN_CHECK kn_status kn_coded_open(kn_coded *out, kn_engine *engine, const kn_csv_options *csv, const bool *quasi, bool drop,
                                 kn_error *err);
void               kn_coded_close(kn_coded *coded);

/* map[level × count + i]: the number that stands for the i-th value at that level. */
KN_CHECK kn_status kn_coded_map(kn_coded *coded, int column, const int64_t *map, int levels, kn_error *err);

/* `levels`: one per column, 0 of those that are no quasi-identifiers. Classes are those of the quasi-identifiers. Columns of the
 * answer: a size, and how many classes have it. */
KN_CHECK kn_status kn_coded_sizes(kn_numbers *out, kn_coded *coded, const int *levels, kn_error *err);

/* How many rows are in classes with fewer than `least`, of about one in `parts` of all classes: by a remainder of their numbers. There are
 * at least so many in all, and a GROUP BY of these alone is as much quicker. */
KN_CHECK kn_status kn_coded_part(int64_t *out, kn_coded *coded, const int *levels, int64_t least, int parts, kn_error *err);

/* Of the rows in classes with fewer than `least`: how many show what, column by column. Columns of the answer: one for each
 * quasi-identifier, of which a row has one number and otherwise -1; the rows. */
KN_CHECK kn_status kn_coded_small(kn_numbers *out, kn_coded *coded, const int *levels, int64_t least, kn_error *err);

/* The combinations of all columns at these levels: a number per column, and how many rows have it. NULL: without the quasi-identifiers,
 * which show their first value each; nothing needs to be mapped for that. */
KN_CHECK kn_status kn_coded_read(kn_numbers *out, kn_coded *coded, const int *levels, kn_error *err);

/* What stands behind FROM for the rows that take part: under their names the columns as those numbers, and `others` as they are. */
void kn_coded_put_table(kn_buffer *to, const kn_coded *coded, const int *levels, const char *const *others, int count);

#endif
