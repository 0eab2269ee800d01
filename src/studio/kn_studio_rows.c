/* kn_studio_rows.c: cells of the table for the page: a window of its rows, and how the values of each column are distributed.
 *
 * A window costs what its cells cost, wherever it is; a distribution one pass over the codes of its column. Long cells are
 * cut: the page shows them on one line.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kn_studio_session.h"

enum { LONGEST_CELL = 200, BARS = 20, FEW_VALUES = 20, LOOK_UP = 1 << 20 };

json_t *kn_studio_cell(const kn_table *table, int column, uint32_t code)
{
    static const char dots[] = "\xe2\x80\xa6";
    char              shortened[LONGEST_CELL + sizeof dots];
    size_t            length = 0;
    const char       *text = kn_table_text(table, column, code, &length);
    if (!text) return json_null();
    if (length > LONGEST_CELL) {
        size_t end = LONGEST_CELL;
        while (end > 0 && ((unsigned char)text[end] & 0xC0) == 0x80) end--; /* not inside a character */
        memcpy(shortened, text, end);
        memcpy(shortened + end, dots, sizeof dots - 1);
        text = shortened;
        length = end + sizeof dots - 1;
    }
    json_t *cell = json_stringn(text, length);
    return cell ? cell : json_string("\xef\xbf\xbd");
}

json_t *kn_studio_rows(const kn_table *table, int64_t offset, int64_t count)
{
    int64_t rows = kn_table_rows(table);
    int     columns = kn_table_columns(table);
    json_t *names = json_array(), *list = json_array();
    for (int c = 0; c < columns; c++) json_array_append_new(names, json_string(kn_table_name(table, c)));
    for (int64_t r = offset; r < rows && r < offset + count; r++) {
        json_t *row = json_array();
        for (int c = 0; c < columns; c++)
            json_array_append_new(row, kn_studio_cell(table, c, kn_table_code(table, c, r)));
        json_array_append_new(list, row);
    }
    return json_pack("{s:I, s:I, s:o, s:o}", "total", (json_int_t)rows, "offset", (json_int_t)offset, "columns", names,
                     "rows", list);
}

/* ---- Distributions ---- */

typedef struct column_counts {
    const kn_table *table;
    int             column;
    uint32_t        distinct;
    int64_t        *rows; /* per code */
} column_counts;

static json_t *bar(json_t *label, json_t *to, int64_t rows)
{
    json_t *out = json_pack("{s:o, s:I}", "label", label, "rows", (json_int_t)rows);
    if (to) json_object_set_new(out, "to", to);
    return out;
}

static int by_rows(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;
    if (x[0] != y[0]) return x[0] < y[0] ? 1 : -1;
    return (x[1] > y[1]) - (x[1] < y[1]);
}

/* The most frequent values, each a bar. */
static bool most_common(json_t *bars, const column_counts *c, int64_t *others)
{
    int64_t(*order)[2] = malloc(((size_t)c->distinct + 1) * sizeof *order);
    if (!order) return false;
    for (uint32_t i = 0; i < c->distinct; i++) {
        order[i][0] = c->rows[i];
        order[i][1] = i;
    }
    qsort(order, c->distinct, sizeof *order, by_rows);
    *others = 0;
    for (uint32_t i = 0; i < c->distinct; i++) {
        if (i < BARS)
            json_array_append_new(bars,
                                  bar(kn_studio_cell(c->table, c->column, (uint32_t)order[i][1]), NULL, order[i][0]));
        else
            *others += order[i][0];
    }
    free(order);
    return true;
}

static double number_of(const column_counts *c, uint32_t code, char decimal)
{
    char        text[64];
    size_t      length = 0;
    const char *cell = kn_table_text(c->table, c->column, code, &length);
    kn_type     type = kn_table_type(c->table, c->column);
    int         year, month, day;
    if (!cell || length >= sizeof text) return NAN;
    memcpy(text, cell, length);
    text[length] = '\0';
    if (type == KN_TYPE_DATE || type == KN_TYPE_DATETIME)
        return sscanf(text, "%4d-%2d-%2d", &year, &month, &day) == 3 ? year * 372.0 + month * 31 + day : NAN;
    char *mark = decimal == ',' ? strchr(text, ',') : NULL;
    if (mark) *mark = '.';
    return strtod(text, NULL);
}

/* Numbers, and dates that begin with their year: bars of equal width. Others: bars of equally many different values. The values
 * are in order. */
static void in_order(json_t *bars, const column_counts *c, char decimal)
{
    double   low = number_of(c, 0, decimal), high = number_of(c, c->distinct - 1, decimal);
    bool     numbers = isfinite(low) && isfinite(high) && high > low;
    uint32_t code = 0;
    if (!numbers) {
        low = 0;
        high = c->distinct;
    }
    for (int b = 0; b < BARS; b++) {
        double   end = low + (high - low) * (b + 1) / BARS;
        uint32_t first = code;
        int64_t  rows = 0;
        for (; code < c->distinct; code++) {
            double at = numbers ? number_of(c, code, decimal) : code;
            if (b < BARS - 1 && at >= end) break;
            rows += c->rows[code];
        }
        if (code > first)
            json_array_append_new(bars, bar(kn_studio_cell(c->table, c->column, first),
                                            kn_studio_cell(c->table, c->column, code - 1), rows));
        else if (numbers)
            json_array_append_new(bars, bar(json_null(), NULL, 0)); /* a gap is part of the picture */
    }
}

static json_t *describe(const column_counts *c, char decimal)
{
    kn_type type = kn_table_type(c->table, c->column);
    bool    ordered = type != KN_TYPE_TEXT && c->distinct > FEW_VALUES;
    int64_t others = 0;
    json_t *bars = json_array();
    if (ordered)
        in_order(bars, c, decimal);
    else if (!most_common(bars, c, &others)) {
        json_decref(bars);
        return NULL;
    }
    return json_pack("{s:s, s:b, s:o, s:I, s:I}", "name", kn_table_name(c->table, c->column), "ordered", ordered,
                     "bars", bars, "others", (json_int_t)others, "missing",
                     (json_int_t)kn_table_missing(c->table, c->column));
}

/* False: cancelled. */
static bool count_rows(column_counts *c, const volatile bool *stop)
{
    int64_t rows = kn_table_rows(c->table);
    for (int64_t r = 0; r < rows; r++) {
        if (r % LOOK_UP == 0 && *stop) return false;
        c->rows[kn_table_code(c->table, c->column, r)] += kn_table_count(c->table, r);
    }
    return true;
}

kn_status kn_studio_distributions(json_t **out, const kn_table *table, char decimal, const volatile bool *stop,
                                  kn_error *err)
{
    json_t   *columns = json_array();
    kn_status st = KN_OK;
    for (int i = 0; i < kn_table_columns(table) && st == KN_OK; i++) {
        column_counts c = {table, i, kn_table_distinct(table, i), NULL};
        c.rows = calloc((size_t)c.distinct + 1, sizeof *c.rows);
        if (!c.rows)
            st = kn_studio_error(err, KN_MEMORY, "out of memory while counting values");
        else if (!count_rows(&c, stop))
            st = kn_studio_error(err, KN_CANCELLED, "cancelled");
        else if (json_array_append_new(columns, describe(&c, decimal)) != 0)
            st = kn_studio_error(err, KN_MEMORY, "out of memory while counting values");
        free(c.rows);
    }
    if (st == KN_OK)
        *out = json_pack("{s:I, s:o}", "rows", (json_int_t)kn_table_total(table), "columns", columns);
    else
        json_decref(columns);
    return st;
}
