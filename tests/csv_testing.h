/* csv_testing.h: what the tests of CSV files and tables share: reading a text, comparing tables, checking a refusal. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CSV_TESTING_H
#define CSV_TESTING_H

#include "testing.h"

#include <kanon/table.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kn_csv_read.h"
#include "kn_table.h"

/* A value that no message may hold. Tests plant it in cells. */
#define MARKER "Zyxwv31415"

/* A string literal and its size, embedded NULs included. */
#define TEXT(literal) (literal), sizeof(literal) - 1

static inline void assert_valid(const kn_table *table)
{
    const char *reason = NULL;
    if (!kn_table_validate(table, &reason)) fail_msg("the table is not valid: %s", reason);
    for (int c = 0; c < table->column_count; c++) { /* no value is in the dictionary without being in a row */
        uint32_t count = table->columns[c].dict.count;
        bool    *used = calloc((size_t)count + 1, 1);
        assert_non_null(used);
        for (int64_t r = 0; r < table->rows; r++) used[kn_table_code(table, c, r)] = true;
        for (uint32_t v = 0; v < count; v++)
            if (!used[v]) fail_msg("column %d: value %u stands in no row", c, v);
        free(used);
    }
}

static inline kn_table *read_path(kn_context *ctx, const char *path, const kn_csv_options *options, size_t piece)
{
    kn_error  err = KN_ERROR_INIT;
    kn_table *table = NULL;
    assert_ok(kn_csv_read_pieces(&table, ctx, &path, 1, options, piece, &err), err);
    assert_valid(table);
    return table;
}

static inline kn_table *read_text(kn_context *ctx, const char *text, size_t size, const kn_csv_options *options)
{
    return read_path(ctx, testing_file("read.csv", text, size), options, 1 << 19);
}

/* The text of a cell as a C string; "(missing)" where it is. Overwritten by the eighth call after it. */
static inline const char *cell(const kn_table *table, int column, int64_t row)
{
    static char room[8][256];
    static int  next;
    char       *out = room[next++ % 8];
    size_t      size = 0;
    const char *text = kn_table_text(table, column, kn_table_code(table, column, row), &size);
    snprintf(out, sizeof room[0], "%.*s", text ? (int)size : 9, text ? text : "(missing)");
    return out;
}

static inline void assert_cell(const kn_table *table, int column, int64_t row, const char *expected)
{
    if (strcmp(cell(table, column, row), expected) != 0)
        fail_msg("column %d, row %lld: \"%s\" instead of \"%s\"", column, (long long)row, cell(table, column, row),
                 expected);
}

static inline void assert_dictionaries_equal(const kn_column *a, const kn_column *b)
{
    const kn_dictionary *x = &a->dict, *y = &b->dict;
    assert_string_equal(a->name, b->name);
    assert_int_equal(a->type, b->type);
    assert_int_equal(a->width, b->width);
    assert_int_equal(a->missing, b->missing);
    assert_int_equal(a->respelled, b->respelled);
    assert_int_equal(a->ambiguous_date, b->ambiguous_date);
    assert_int_equal(x->count, y->count);
    assert_memory_equal(x->offsets, y->offsets, (x->count + 1) * sizeof *x->offsets);
    if (x->offsets[x->count]) assert_memory_equal(x->bytes, y->bytes, x->offsets[x->count]);
    if (x->integers && x->count) assert_memory_equal(x->integers, y->integers, x->count * sizeof *x->integers);
    if (x->decimals && x->count) assert_memory_equal(x->decimals, y->decimals, x->count * sizeof *x->decimals);
}

/* Equal to the byte: codes, dictionaries, types, counts. */
static inline void assert_tables_equal(const kn_table *a, const kn_table *b)
{
    assert_int_equal(a->rows, b->rows);
    assert_int_equal(a->column_count, b->column_count);
    for (int c = 0; c < a->column_count; c++) {
        assert_dictionaries_equal(&a->columns[c], &b->columns[c]);
        if (a->rows > 0)
            assert_memory_equal(a->columns[c].codes, b->columns[c].codes,
                                (size_t)a->rows * (size_t)a->columns[c].width);
    }
}

/* Reading the file must fail with this status, at this place (0: none), with `words` in the message and the place in
 * front of it; whatever the pieces and threads. */
static inline void assert_path_refused(const char *path, const kn_csv_options *options, kn_status status, int64_t line,
                                       int64_t column, const char *words)
{
    static const size_t pieces[] = {1 << 19, 1, 3, 64};
    for (int way = 0; way < 8; way++) {
        kn_context *ctx = testing_context(way % 2 ? 2 : 1);
        kn_error    err = KN_ERROR_INIT;
        kn_table   *table = NULL;
        size_t      piece = options && options->delimiter == 0 ? 1 << 19 : pieces[way / 2]; /* sniffing wants to see */
        kn_status   st = kn_csv_read_pieces(&table, ctx, &path, 1, options, piece, &err);
        if (st == KN_OK) fail_msg("not refused (expected: %s)", words);
        assert_null(table);
        assert_int_equal(err.status, st);
        if (st != status || err.line != line || err.column != column || !strstr(err.message, words))
            fail_msg("status %d at %lld:%lld, \"%s\"; expected %d at %lld:%lld, \"%s\"", st, (long long)err.line,
                     (long long)err.column, err.message, status, (long long)line, (long long)column, words);
        if (strstr(err.message, MARKER)) fail_msg("a message holds a value: %s", err.message);
        char place[512];
        if (line > 0) {
            snprintf(place, sizeof place, "%s:%lld:%lld: ", path, (long long)line, (long long)column);
            if (strncmp(err.message, place, strlen(place)) != 0)
                fail_msg("\"%s\" does not begin with \"%s\"", err.message, place);
        }
        testing_context_free(ctx);
    }
}

static inline void assert_refused(const char *text, size_t size, const kn_csv_options *options, kn_status status,
                                  int64_t line, int64_t column, const char *words)
{
    assert_path_refused(testing_file("bad.csv", text, size), options, status, line, column, words);
}

#endif
