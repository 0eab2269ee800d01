/* kn_fd_data.c: a table in the form that the search for dependencies uses (kn_fd.h).
 *
 * Equal rows are one row with a weight; columns are sorted by falling number of values, so that the first columns of
 * a set split rows the most. Rows are in the lexicographic order of their columns from the fewest values to the most:
 * neighbours agree in many columns, which the exact search needs. Codes are stored row by row: following a few rows
 * through many columns stays in the cache. Columns equivalent to an earlier one, and constants, are set aside.
 *
 * Cost: one grouping of the table by all columns, then rows × columns, and rows for each two columns with the same
 * number of values. Memory: 8 bytes × different rows × columns.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_fd.h"
#include "kn_parallel.h"

#define WHAT "searching dependencies"

enum { ROWS = 1 << 14 /* of a range */ };

/* ---- Columns ---- */

/* Columns of the table by rising number of values; equal ones by falling position, so that the search has them in
 * order. */
static void sort_columns(int *columns, int count, const kn_table *table)
{
    for (int i = 1; i < count; i++)
        for (int j = i; j > 0; j--) {
            uint32_t a = kn_column_cardinality(&table->columns[columns[j - 1]]);
            uint32_t b = kn_column_cardinality(&table->columns[columns[j]]);
            if (a < b || (a == b && columns[j - 1] > columns[j])) break;
            int column = columns[j];
            columns[j] = columns[j - 1];
            columns[j - 1] = column;
        }
}

typedef struct chosen {
    int count;
    int at[KN_FD_COLUMNS]; /* position in the frequency set */
} chosen;

/* One look at a column, or at two, by all threads. `note` has space for every code of a. */
typedef struct looking {
    const kn_freq    *freq;
    int               a, b;
    _Atomic uint32_t *note;
    _Atomic uint32_t  values;
    atomic_bool       broken;
} looking;

static kn_status look(kn_context *ctx, looking *l, int64_t n, kn_range_fn fn, kn_error *err)
{
    return kn_parallel_for(ctx, n, ROWS, fn, l, err);
}

static kn_status clear_notes(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    looking *l = arg;
    (void)worker;
    (void)err;
    for (int64_t i = begin; i < end; i++) atomic_store_explicit(&l->note[i], 0, memory_order_relaxed);
    return KN_OK;
}

static kn_status note_codes(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    looking *l = arg;
    (void)worker;
    (void)err;
    for (int64_t i = begin; i < end; i++) {
        _Atomic uint32_t *note = &l->note[kn_freq_code(l->freq, i, l->a)];
        if (atomic_load_explicit(note, memory_order_relaxed) == 0) atomic_store_explicit(note, 1, memory_order_relaxed);
    }
    return KN_OK;
}

static kn_status count_notes(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    looking *l = arg;
    uint32_t values = 0;
    (void)worker;
    (void)err;
    for (int64_t i = begin; i < end; i++) values += atomic_load_explicit(&l->note[i], memory_order_relaxed);
    atomic_fetch_add_explicit(&l->values, values, memory_order_relaxed);
    return KN_OK;
}

/* How many different codes a column of the set has. */
static kn_status count_values(uint32_t *out, const kn_fd_data *d, int column, _Atomic uint32_t *note, uint32_t codes,
                              kn_error *err)
{
    looking l = {.freq = d->freq, .a = column, .note = note};
    KN_TRY(look(d->ctx, &l, codes, clear_notes, err));
    KN_TRY(look(d->ctx, &l, d->freq->classes, note_codes, err));
    KN_TRY(look(d->ctx, &l, codes, count_notes, err));
    *out = l.values;
    return KN_OK;
}

/* Notes with each code of a the one of b that some row has with it (plus one), and compares the others with that. */
static kn_status compare_codes(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    looking *l = arg;
    bool     broken = atomic_load_explicit(&l->broken, memory_order_relaxed);
    (void)worker;
    (void)err;
    for (int64_t i = begin; i < end && !broken; i++) {
        _Atomic uint32_t *note = &l->note[kn_freq_code(l->freq, i, l->a)];
        uint32_t y = kn_freq_code(l->freq, i, l->b) + 1, had = atomic_load_explicit(note, memory_order_relaxed);
        if (had == 0) /* `had` becomes what another thread was faster with */
            atomic_compare_exchange_strong_explicit(note, &had, y, memory_order_relaxed, memory_order_relaxed);
        broken = had != 0 && had != y;
    }
    if (broken) atomic_store_explicit(&l->broken, true, memory_order_relaxed);
    return KN_OK;
}

/* Is the code of `b` a function of that of `a`? */
static kn_status determines(bool *out, const kn_fd_data *d, int a, int b, _Atomic uint32_t *note, uint32_t codes,
                            kn_error *err)
{
    looking l = {.freq = d->freq, .a = a, .b = b, .note = note};
    KN_TRY(look(d->ctx, &l, codes, clear_notes, err));
    KN_TRY(look(d->ctx, &l, d->freq->classes, compare_codes, err));
    *out = !l.broken;
    return KN_OK;
}

/* Adds a column to the constants, to an equivalent earlier one, or as a new one. */
static kn_status place_column(kn_fd_data *d, chosen *c, int at, int column, uint32_t codes, _Atomic uint32_t *note,
                              kn_error *err)
{
    uint32_t values;
    KN_TRY(count_values(&values, d, at, note, codes, err));
    if (values <= 1) {
        d->constants[d->constant_count++] = column;
        return KN_OK;
    }
    for (int i = 0; i < c->count; i++) {
        bool same = false;
        if (d->values[i] == values) KN_TRY(determines(&same, d, c->at[i], at, note, d->codes_of[i], err));
        if (!same) continue;
        d->members[i][d->member_count[i]++] = column; /* onto as many values: a bijection */
        return KN_OK;
    }
    d->values[c->count] = values;
    d->members[c->count][0] = column;
    d->member_count[c->count] = 1;
    d->codes_of[c->count] = codes;
    c->at[c->count++] = at;
    return KN_OK;
}

static kn_status choose_columns(chosen *c, kn_fd_data *d, const kn_table *table, const int *columns, int count,
                                kn_error *err)
{
    uint32_t most = 1;
    for (int i = 0; i < count; i++) {
        uint32_t codes = table->columns[columns[i]].dict.count + 1;
        if (codes > most) most = codes;
    }
    _Atomic uint32_t *note = kn_alloc_array(d->ctx, most, sizeof *note);
    kn_status         st = note ? KN_OK : kn_fail_memory(err, d->ctx, WHAT);
    for (int i = count - 1; i >= 0 && st == KN_OK; i--)
        st = place_column(d, c, i, columns[i], table->columns[columns[i]].dict.count + 1, note, err);
    kn_free(note);
    d->most_codes = most;
    d->columns = c->count;
    return st;
}

/* ---- Rows ---- */

typedef struct filling {
    kn_fd_data *data;
    chosen     *chosen;
} filling;

static kn_status fill_codes(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    const filling *f = arg;
    kn_fd_data    *d = f->data;
    (void)worker;
    (void)err;
    for (int64_t i = begin; i < end; i++)
        for (int c = 0; c < d->columns; c++)
            d->codes[(size_t)i * (size_t)d->columns + (size_t)c] = kn_freq_code(d->freq, i, f->chosen->at[c]);
    return KN_OK;
}

/* Rows by value of column c, only values that several rows have; and the rows without which it would be constant. */
static kn_status cluster_column(kn_fd_data *d, int c, uint32_t codes, kn_error *err)
{
    kn_fd_clusters *k = &d->clusters[c];
    int64_t        *weights = kn_alloc_array_zero(d->ctx, codes, sizeof *weights);
    uint32_t       *at = kn_alloc_array_zero(d->ctx, (size_t)codes + 1, sizeof *at);
    kn_status       st = KN_OK;
    int64_t         most = 0;
    uint32_t        members = 0;
    if (!weights || !at) st = kn_fail_memory(err, d->ctx, WHAT);
    for (uint32_t i = 0; i < d->rows && st == KN_OK; i++) {
        uint32_t code = kn_fd_row(d, i)[c];
        at[code]++;
        weights[code] += d->freq->counts[i];
    }
    for (uint32_t v = 0; v < codes && st == KN_OK; v++) {
        if (weights[v] > most) most = weights[v];
        if (at[v] < 2) continue;
        k->count++;
        members += at[v];
    }
    if (st == KN_OK) {
        k->starts = kn_alloc_array(d->ctx, (size_t)k->count + 1, sizeof *k->starts);
        k->members = kn_alloc_array(d->ctx, (size_t)members + 1, sizeof *k->members);
        if (!k->starts || !k->members) st = kn_fail_memory(err, d->ctx, WHAT);
    }
    if (st == KN_OK) {
        uint32_t next = 0, cluster = 0;
        for (uint32_t v = 0; v < codes; v++) {
            uint32_t n = at[v];
            at[v] = n < 2 ? UINT32_MAX : next;
            if (n < 2) continue;
            k->starts[cluster++] = next;
            next += n;
        }
        k->starts[cluster] = next;
        for (uint32_t i = 0; i < d->rows; i++) {
            uint32_t code = kn_fd_row(d, i)[c];
            if (at[code] != UINT32_MAX) k->members[at[code]++] = i;
        }
        d->constant_error[c] = d->freq->rows - most;
    }
    KN_FREE(weights, at);
    return st;
}

static kn_status cluster_columns(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    const filling *f = arg;
    (void)worker;
    for (int64_t c = begin; c < end; c++) KN_TRY(cluster_column(f->data, (int)c, f->data->codes_of[c], err));
    return KN_OK;
}

static kn_status make(kn_fd_data *d, const kn_table *table, const int *columns, int count, kn_error *err)
{
    chosen  c = {0};
    filling f = {d, &c};
    int     sorted[KN_FD_COLUMNS];
    memcpy(sorted, columns, (size_t)count * sizeof *sorted);
    sort_columns(sorted, count, table);
    KN_TRY(kn_freq_of_table(&d->freq, d->ctx, table, sorted, count, err));
    if (d->freq->classes >= UINT32_MAX - 1)
        return kn_fail(err, KN_USAGE, "more than 2^32 different rows: too many to search");
    d->rows = (uint32_t)d->freq->classes;
    KN_TRY(choose_columns(&c, d, table, sorted, count, err));
    if (!KN_ALLOC(d->ctx, d->codes, (size_t)d->rows * (size_t)d->columns + 1)) return kn_fail_memory(err, d->ctx, WHAT);
    KN_TRY(kn_parallel_for(d->ctx, d->rows, ROWS, fill_codes, &f, err));
    kn_free(d->freq->keys);
    d->freq->keys = NULL;
    return kn_parallel_for(d->ctx, d->columns, 1, cluster_columns, &f, err);
}

kn_status kn_fd_data_make(kn_fd_data **out, kn_context *ctx, const kn_table *table, const int *columns, int count,
                          kn_error *err)
{
    *out = NULL;
    kn_fd_data *d = kn_alloc_zero(ctx, sizeof *d);
    if (!d) return kn_fail_memory(err, ctx, WHAT);
    d->ctx = ctx;
    kn_status st = make(d, table, columns, count, err);
    if (st != KN_OK)
        kn_fd_data_free(d);
    else
        *out = d;
    return st;
}

void kn_fd_data_free(kn_fd_data *data)
{
    if (!data) return;
    for (int c = 0; c < KN_FD_COLUMNS; c++) KN_FREE(data->clusters[c].starts, data->clusters[c].members);
    kn_freq_free(data->freq);
    KN_FREE(data->codes, data);
}
