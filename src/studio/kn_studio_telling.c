/* kn_studio_telling.c: what the table tells about a sensitive column as it is: the crowd of rows alike whose values say most
 * (kn_studio_question.h). The page explains promises about values by it.
 *
 * Rows are put into classes by a hash of their codes, and each class is counted value by value: one pass each, and for n rows
 * about 20 n bytes. Of the classes with several rows, the largest that has one value only is the example; where there is none,
 * the one in which a value is most in excess of its share of the whole table. Where no two rows are alike, columns are left out,
 * that with the most values first, until some are. Tables beyond MOST_ROWS are not looked at.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>
#include <string.h>

#include "kn_studio_question.h"

enum { MOST_ROWS = 4000000, LOOK_UP = 1 << 16 };

typedef struct crowd {
    int64_t  first, size;
    int64_t  most; /* rows of its most frequent value */
    uint32_t value;
    uint32_t values;
} crowd;

typedef struct telling {
    const kn_table      *table;
    const volatile bool *stop;
    int                 *columns;
    int                  column_count, about;
    int64_t              rows, crowd_count;
    int32_t             *crowd_of, *order, *slots; /* of rows; rows by crowd; of the hash: -1 free */
    uint64_t             mask;
    crowd               *crowds;
    int64_t             *total, *here; /* rows per value: of the table, of one crowd */
} telling;

static void end(telling *t)
{
    free(t->columns);
    free(t->crowd_of);
    free(t->order);
    free(t->slots);
    free(t->crowds);
    free(t->total);
    free(t->here);
}

static bool begin(telling *t)
{
    size_t rows = (size_t)t->rows, capacity = 64;
    size_t values = (size_t)kn_table_distinct(t->table, t->about) + 1;
    while (capacity < 2 * rows) capacity *= 2;
    t->mask = capacity - 1;
    t->crowd_of = malloc((rows + 1) * sizeof *t->crowd_of);
    t->order = malloc((rows + 1) * sizeof *t->order);
    t->slots = malloc(capacity * sizeof *t->slots);
    t->crowds = malloc((rows + 1) * sizeof *t->crowds);
    t->total = calloc(values, sizeof *t->total);
    t->here = calloc(values, sizeof *t->here);
    if (t->slots) memset(t->slots, 0xff, capacity * sizeof *t->slots);
    return t->crowd_of && t->order && t->slots && t->crowds && t->total && t->here;
}

static bool alike(const telling *t, int64_t a, int64_t b)
{
    for (int c = 0; c < t->column_count; c++)
        if (kn_table_code(t->table, t->columns[c], a) != kn_table_code(t->table, t->columns[c], b)) return false;
    return true;
}

static void place(telling *t, int64_t row)
{
    uint64_t hash = 0;
    for (int c = 0; c < t->column_count; c++) {
        hash = (hash ^ kn_table_code(t->table, t->columns[c], row)) * 0x9E3779B97F4A7C15u;
        hash ^= hash >> 29;
    }
    uint64_t at = hash & t->mask;
    while (t->slots[at] >= 0 && !alike(t, t->crowds[t->slots[at]].first, row)) at = (at + 1) & t->mask;
    if (t->slots[at] < 0) {
        t->crowds[t->crowd_count] = (crowd){.first = row};
        t->slots[at] = (int32_t)t->crowd_count++;
    }
    t->crowd_of[row] = t->slots[at];
    t->crowds[t->slots[at]].size++;
    t->total[kn_table_code(t->table, t->about, row)]++;
}

static bool stopped(const telling *t, int64_t at)
{
    return at % LOOK_UP == 0 && *t->stop;
}

/* Rows by crowd: `most` is where the next one of a crowd goes, until they are counted. */
static void arrange(telling *t)
{
    int64_t at = 0;
    for (int64_t i = 0; i < t->crowd_count; i++) {
        t->crowds[i].most = at;
        at += t->crowds[i].size;
    }
    for (int64_t r = 0; r < t->rows; r++) t->order[t->crowds[t->crowd_of[r]].most++] = (int32_t)r;
}

static void count_values(telling *t, crowd *one, const int32_t *rows)
{
    one->most = 0;
    for (int64_t i = 0; i < one->size; i++) {
        uint32_t value = kn_table_code(t->table, t->about, rows[i]);
        if (t->here[value]++ == 0) one->values++;
        if (t->here[value] > one->most) {
            one->most = t->here[value];
            one->value = value;
        }
    }
    for (int64_t i = 0; i < one->size; i++) t->here[kn_table_code(t->table, t->about, rows[i])] = 0;
}

/* How much a crowd would tell whoever reads it: rows beyond what the whole table lets one expect. */
static double excess(const telling *t, const crowd *one)
{
    double expected = (double)t->total[one->value] / (double)t->rows * (double)one->size;
    return one->size > 1 ? (double)one->most - expected : 0;
}

static bool says_more(const telling *t, const crowd *one, const crowd *other)
{
    bool a = one->values == 1 && one->size > 1, b = other->values == 1 && other->size > 1;
    return a != b ? a : excess(t, one) > excess(t, other);
}

static json_t *answer(const telling *t, const crowd *best, int64_t alone, int64_t alone_rows, const char *about)
{
    json_t *names = json_array(), *cells = json_array();
    for (int c = 0; c < t->column_count; c++) {
        json_array_append_new(names, json_string(kn_table_name(t->table, t->columns[c])));
        json_array_append_new(
            cells, kn_studio_cell(t->table, t->columns[c], kn_table_code(t->table, t->columns[c], best->first)));
    }
    return json_pack("{s:s, s:I, s:I, s:I, s:I, s:o, s:I, s:o, s:o, s:I, s:I}", "about", about, "rows",
                     (json_int_t)t->rows, "classes", (json_int_t)t->crowd_count, "one_valued_classes",
                     (json_int_t)alone, "one_valued_rows", (json_int_t)alone_rows, "columns", names, "size",
                     (json_int_t)best->size, "cells", cells, "value", kn_studio_cell(t->table, t->about, best->value),
                     "most", (json_int_t)best->most, "overall", (json_int_t)t->total[best->value]);
}

/* Back to the beginning with a column less, if no two rows are alike in those there are. */
static bool fewer_columns(telling *t)
{
    int most = 0;
    if (t->crowd_count < t->rows || t->column_count < 2) return false;
    for (int c = 1; c < t->column_count; c++)
        if (kn_table_distinct(t->table, t->columns[c]) > kn_table_distinct(t->table, t->columns[most])) most = c;
    t->column_count--;
    memmove(t->columns + most, t->columns + most + 1, (size_t)(t->column_count - most) * sizeof *t->columns);
    memset(t->slots, 0xff, (size_t)(t->mask + 1) * sizeof *t->slots);
    memset(t->total, 0, ((size_t)kn_table_distinct(t->table, t->about) + 1) * sizeof *t->total);
    t->crowd_count = 0;
    return true;
}

static kn_status gather(telling *t, kn_error *err)
{
    for (int64_t r = 0; r < t->rows; r++) {
        if (stopped(t, r)) return kn_studio_error(err, KN_CANCELLED, "cancelled");
        place(t, r);
    }
    return KN_OK;
}

static kn_status look(telling *t, json_t **out, const char *about, kn_error *err)
{
    const crowd *best = NULL;
    int64_t      alone = 0, alone_rows = 0, at = 0;
    kn_status    st = gather(t, err);
    while (st == KN_OK && fewer_columns(t)) st = gather(t, err);
    if (st != KN_OK) return st;
    arrange(t);
    for (int64_t i = 0; i < t->crowd_count; i++) {
        crowd *one = &t->crowds[i];
        if (stopped(t, i)) return kn_studio_error(err, KN_CANCELLED, "cancelled");
        count_values(t, one, t->order + at);
        at += one->size;
        if (one->values == 1 && one->size > 1) {
            alone++;
            alone_rows += one->size;
        }
        if (!best || says_more(t, one, best)) best = one;
    }
    *out = answer(t, best, alone, alone_rows, about);
    return KN_OK;
}

kn_status kn_studio_answer_telling(kn_studio_question *q, kn_error *err)
{
    const char *about = kn_studio_text(q, "about");
    kn_status   st = kn_studio_need_table(q, err);
    if (st == KN_OK) st = kn_studio_need_names(q, err);
    if (st != KN_OK) return st;
    telling t = {.table = q->table->table, .stop = &q->job->stop, .rows = kn_table_rows(q->table->table)};
    t.about = about ? kn_table_find(t.table, about) : -1;
    if (t.about < 0) return kn_studio_error(err, KN_USAGE, "no column of the table is named to look at");
    if (t.rows == 0 || t.rows > MOST_ROWS)
        return kn_studio_error(err, KN_USAGE, "an example is looked for in tables of up to 4,000,000 rows");
    t.columns = malloc((size_t)q->name_count * sizeof *t.columns);
    if (!t.columns || !begin(&t)) {
        end(&t);
        return kn_studio_error(err, KN_MEMORY, "out of memory while looking for an example");
    }
    for (int i = 0; i < q->name_count && st == KN_OK; i++) {
        t.columns[t.column_count] = kn_table_find(t.table, q->names[i]);
        if (t.columns[t.column_count++] < 0) st = kn_studio_error(err, KN_USAGE, "the table has no such column");
    }
    if (st == KN_OK) st = look(&t, &q->own, about, err);
    end(&t);
    return st;
}
