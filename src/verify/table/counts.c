/* table/counts.c: rows that represent several, in both files (kn_verify_internal.h).
 *
 * Counts of the original are read like a declared integer; rows with count 0 are left out, and so are texts that only
 * such rows have. A release must have one form: counts are bare digits without leading zeros, at least 1, and rows
 * that look alike are one row, so that neither can mark a person.
 *
 * Cost: one pass over the rows, and one per column if rows are left out; for a release one grouping by all columns.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>
#include <stdio.h>

#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_verify_internal.h"

#define WHAT "verifying"
#define MOST_ROWS ((INT64_C(1) << 53) - 1)

/* ---- The original ---- */

static kn_status fail_row(const char *where, int64_t row, const char *what, kn_error *err)
{
    return kn_fail(err, KN_INPUT, "%s; row %" PRId64 ": %s", where, row + 1, what);
}

/* Moves the kept rows together, and renumbers a column's texts in the order of their first rows. */
static kn_status keep_rows(kn_vtable *t, kn_vcolumn *column, const int64_t *rows, int64_t count, kn_error *err)
{
    uint32_t  *to = kn_varray_none(&t->arena, (size_t)column->count + 1), seen = 0;
    kn_string *texts = kn_arena_array(&t->arena, (size_t)column->count + 1, sizeof *texts);
    if (!to || !texts) return kn_fail_memory(err, t->ctx, WHAT);
    for (int64_t i = 0; i < count; i++) {
        uint32_t code = kn_vcode(column, rows[i]);
        if (to[code] == KN_V_NONE) {
            texts[seen] = column->texts[code];
            to[code] = seen++;
        }
        kn_vcode_set(column, i, to[code]);
    }
    column->texts = texts;
    column->count = seen;
    return KN_OK;
}

static kn_status leave_out(kn_vtable *t, kn_error *err)
{
    int64_t *rows = kn_alloc_array(t->ctx, (size_t)t->rows + 1, sizeof *rows), count = 0;
    if (!rows) return kn_fail_memory(err, t->ctx, WHAT);
    for (int64_t row = 0; row < t->rows; row++) {
        if (t->counts[row] == 0) continue;
        t->counts[count] = t->counts[row];
        rows[count++] = row;
    }
    kn_status st = KN_OK;
    for (int c = 0; c < t->column_count && st == KN_OK; c++) st = keep_rows(t, &t->columns[c], rows, count, err);
    t->rows = count;
    kn_free(rows);
    return st;
}

kn_status kn_verify_take_counts(const kn_verifier *v, kn_vtable *t, const kn_vcolumn *column, const char *where,
                                kn_error *err)
{
    bool none = false; /* what an engine counts is no cell that could be missing */
    t->counts = kn_arena_array(&t->arena, (size_t)t->rows + 1, sizeof *t->counts);
    if (!t->counts) return kn_fail_memory(err, v->ctx, WHAT);
    for (int64_t row = 0; row < t->rows; row++) {
        kn_string text = column->texts[kn_vcode(column, row)];
        int64_t   n = 0;
        if (!v->where && kn_v_is_missing(v->spec, text)) return fail_row(where, row, "the cell is missing", err);
        if (!kn_parse_declared_integer(kn_value_trim(text), &n)) return fail_row(where, row, "not an integer", err);
        if (n < 0) return fail_row(where, row, "a negative number", err);
        if (n > MOST_ROWS - t->total) return fail_row(where, row, "there are too many rows by here", err);
        t->counts[row] = n;
        t->total += n;
        none = none || n == 0;
    }
    return none ? leave_out(t, err) : KN_OK;
}

kn_status kn_verify_count_original(kn_verifier *v, const kn_attribute *a, kn_error *err)
{
    char where[300];
    snprintf(where, sizeof where, "the original: column \"%.200s\" counts rows", a->name);
    return kn_verify_take_counts(v, v->original, kn_vtable_column(v->original, a->name), where, err);
}

/* ---- The release ---- */

/* The value of bare digits; 0 for anything else. */
static int64_t digits_of(kn_string text)
{
    int64_t n = 0;
    if (text.size == 0 || text.size > 16 || text.data[0] == '0') return 0;
    for (size_t i = 0; i < text.size; i++) {
        if (text.data[i] < '0' || text.data[i] > '9') return 0;
        n = 10 * n + (text.data[i] - '0');
    }
    return n;
}

/* Rows that look alike must be one. */
static kn_status find_twins(kn_verifier *v, const kn_vcolumn *counts, kn_error *err)
{
    const kn_vtable *t = v->release;
    kn_vkey         *keys = kn_alloc_array_zero(v->ctx, (size_t)t->column_count + 1, sizeof *keys);
    kn_vgroups       g = {0};
    int              n = 0;
    if (!keys) return kn_fail_memory(err, v->ctx, WHAT);
    for (int c = 0; c < t->column_count; c++)
        if (&t->columns[c] != counts) keys[n++].column = &t->columns[c];
    kn_status st = kn_vgroup(&g, v->ctx, t->rows, NULL, keys, n, err);
    for (int64_t row = 0; st == KN_OK && (int64_t)g.count < t->rows && row < t->rows; row++) {
        if (g.first[g.of_row[row]] == row) continue;
        kn_vproblem(v->notes,
                    "row %" PRId64 " shows the same as row %" PRId64 " and is counted apart: that can mark a row",
                    row + 1, g.first[g.of_row[row]] + 1);
        break;
    }
    kn_vgroups_free(&g);
    kn_free(keys);
    return st;
}

kn_status kn_verify_count_release(kn_verifier *v, const kn_attribute *a, bool *readable, kn_error *err)
{
    kn_vtable        *t = v->release;
    const kn_vcolumn *column = kn_vtable_column(t, a->name);
    *readable = false;
    t->counts = kn_arena_array(&t->arena, (size_t)t->rows + 1, sizeof *t->counts);
    if (!t->counts) return kn_fail_memory(err, v->ctx, WHAT);
    for (int64_t row = 0; row < t->rows; row++) {
        t->counts[row] = digits_of(column->texts[kn_vcode(column, row)]);
        if (t->counts[row] == 0 || t->counts[row] > MOST_ROWS - t->total) {
            kn_vproblem(v->notes, "row %" PRId64 ", column \"%s\": not a number of rows as a release writes it",
                        row + 1, a->name);
            return KN_OK;
        }
        t->total += t->counts[row];
    }
    *readable = true;
    return find_twins(v, column, err);
}
