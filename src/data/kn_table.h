/* kn_table.h: the inside of a table. See kanon/table.h for what the numbers mean. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_TABLE_H
#define KN_TABLE_H

#include <kanon/table.h>
#include <stdatomic.h>

#include "kn_string.h"

/* The distinct values of a column in their own order. */
typedef struct kn_dictionary {
    uint32_t  count;
    uint64_t *offsets;  /* count + 1 of them: value i is bytes[offsets[i] .. offsets[i + 1])                         */
    char     *bytes;    /* a spelling of each value from the input (the shortest, if several)                        */
    int64_t  *integers; /* INTEGER the value, DATE days, DATETIME microseconds since 1970 (UTC); else NULL           */
    double   *decimals; /* DECIMAL the nearest double; else NULL                                                     */
} kn_dictionary;

typedef struct kn_column {
    char         *name;
    kn_type       type;
    bool          unnamed;        /* its file has no name for it: it is named by position   */
    bool          ambiguous_date; /* stayed text because its dates can be read in two ways */
    bool          asked;          /* its type was asked for, not found                     */
    char          mark;           /* of decimal numbers, as it was read                    */
    int           width;          /* bytes per code: 1, 2, 4                               */
    void         *codes;          /* rows × width; dict.count means missing                */
    int64_t       missing;        /* rows                                                  */
    int64_t      *marginal;       /* rows of each value and, last, missing, where a row shows one value for several; NULL: as the rows say */
    int64_t       respelled;
    kn_dictionary dict;
} kn_column;

struct kn_table {
    kn_context *ctx;
    int64_t     rows; /* that it holds */
    int         column_count;
    kn_column  *columns; /* with counts one more, behind the others: their column */
    int64_t    *counts;  /* per row: how many equal rows it stands for, at least 1; NULL: itself */
    int64_t    *numbers; /* of the rows in the input, from 1, where some were left out; NULL: their places */
    int64_t     total;   /* their sum, at most KN_TABLE_MOST; without counts not used: kn_table_total */
    char        delimiter;
    atomic_int  shares; /* other owners: kn_table_free removes one, and frees if there is none       */
};

/* More rows than this are refused where they are counted: figures stay whole numbers that a double holds. */
#define KN_TABLE_MOST ((INT64_C(1) << 53) - 1)

/* How many rows a row stands for. */
static inline int64_t kn_table_weight(const kn_table *table, int64_t row)
{
    return table->counts ? table->counts[row] : 1;
}

/* The row's number in the input, from 1. */
static inline int64_t kn_table_number(const kn_table *table, int64_t row)
{
    return table->numbers ? table->numbers[row] : row + 1;
}

/* Columns in the array: a counted table's counts are the last of them. */
static inline int kn_table_all_columns(const kn_table *table)
{
    return table->column_count + (table->counts != NULL);
}

/* Frees the cells, once nobody will ask for one again: no rows are left; names and types of columns stay. Another owner keeps them. */
void kn_table_forget(kn_table *table);

/* Adds an owner, who calls kn_table_free too: for what refers to its cells and may outlive it. Any thread. */
kn_table *kn_table_share(const kn_table *table);

static inline uint32_t kn_column_code(const kn_column *column, int64_t row)
{
    switch (column->width) {
    case 1: return ((const uint8_t *)column->codes)[row];
    case 2: return ((const uint16_t *)column->codes)[row];
    default: return ((const uint32_t *)column->codes)[row];
    }
}

static inline kn_string kn_dictionary_text(const kn_dictionary *dict, uint32_t code)
{
    kn_string s = {dict->bytes + dict->offsets[code], (size_t)(dict->offsets[code + 1] - dict->offsets[code])};
    return s;
}

/* There is no column of that name; the nearest is suggested. "BEFORE no column ...": `before` may be "there is", "the release has".
 * "WHERE: there is no column ...". KN_INPUT. */
kn_status kn_table_no_column(const kn_table *table, const char *before, const char *name, kn_error *err);
kn_status kn_fail_column(const kn_table *table, const char *where, const char *name, kn_error *err);

/* Are there columns that are text only because the decimal mark of their numbers is a comma? */
bool kn_table_decimal_commas(const kn_table *table);

/* In such a table: is it one of them? */
bool kn_column_decimal_commas(const kn_column *column);

/* A column of text that a few values keep from being one of numbers or dates. */
typedef struct kn_nearly {
    uint32_t    others; /* different values that are no such number or date        */
    const char *format; /* of the dates (static); NULL: numbers                    */
    char        mark;   /* of the numbers: the column's, or a comma                */
} kn_nearly;

/* Is a column one of these? */
bool kn_column_nearly(kn_nearly *out, const kn_column *column);

/* The first row that shows one of the others, by its number in the input. */
int64_t kn_nearly_row(const kn_nearly *nearly, const kn_table *table, int column);

/* "column ... is of type ...; NEED", and what keeps it from a type that is needed: numbers, or dates, or either. KN_USAGE. */
kn_status kn_fail_type(const kn_column *column, bool numbers, bool dates, const char *need, kn_error *err);

/* How many different codes a column can hold: its values, and "missing" if there is a missing cell. */
static inline uint32_t kn_column_cardinality(const kn_column *column)
{
    return column->dict.count + (column->missing > 0);
}

#endif
