/* wide_table.c: see wide_table.h. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "wide_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kn_builder.h"
#include "kn_error.h"
#include "kn_rng.h"

enum { MOST_COLUMNS = 256 };

typedef struct maker {
    const wide_options *o;
    wide_table         *t;
    kn_rng              rng;
    int                 values[MOST_COLUMNS]; /* ordinary values of each column */
    int                 next;                 /* row to write                   */
} maker;

static void random_row(maker *m, int *row)
{
    for (int c = 0; c < m->o->columns; c++)
        row[c] = (int)kn_rng_below(&m->rng, 1 + kn_rng_below(&m->rng, (uint64_t)m->values[c]));
}

static bool write_copies(maker *m, const int *row, int copies)
{
    for (int i = 0; i < copies; i++) {
        if (m->next == m->o->rows) return false;
        memcpy(m->t->values + (size_t)m->next++ * (size_t)m->o->columns, row, (size_t)m->o->columns * sizeof *row);
    }
    return true;
}

static int compare_ints(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

static bool write_family(maker *m, int family)
{
    int  row[MOST_COLUMNS];
    int  size = 2 + (int)kn_rng_below(&m->rng, WIDE_LARGEST - 1);
    int *set = m->t->planted[family];
    random_row(m, row);
    for (int n = 0; n < size;) {
        set[n] = (int)kn_rng_below(&m->rng, (uint64_t)m->o->columns);
        bool seen = false;
        for (int j = 0; j < n; j++) seen |= set[j] == set[n];
        if (!seen) n++;
    }
    qsort(set, (size_t)size, sizeof *set, compare_ints);
    m->t->planted_size[family] = size;
    for (int i = 0; i < size; i++) row[set[i]] = m->o->values + family;
    if (!write_copies(m, row, m->o->k > 1 ? 1 + (int)kn_rng_below(&m->rng, (uint64_t)m->o->k - 1) : 1)) return false;
    for (int i = 0; i < size; i++) {
        row[set[i]] = (int)kn_rng_below(&m->rng, (uint64_t)m->values[set[i]]);
        if (!write_copies(m, row, m->o->k)) return false;
        row[set[i]] = m->o->values + family;
    }
    return true;
}

static void shuffle(maker *m)
{
    int    row[MOST_COLUMNS];
    size_t columns = (size_t)m->o->columns, size = columns * sizeof *row;
    for (int i = m->o->rows - 1; i > 0; i--) {
        int *a = m->t->values + (size_t)i * columns;
        int *b = m->t->values + (size_t)kn_rng_below(&m->rng, (uint64_t)i + 1) * columns;
        memcpy(row, a, size);
        memmove(a, b, size);
        memcpy(b, row, size);
    }
}

bool wide_table_make(wide_table *out, const wide_options *options)
{
    maker m = {.o = options, .t = out};
    *out = (wide_table){.rows = options->rows, .columns = options->columns, .planted_count = options->planted};
    out->values = malloc(((size_t)options->rows * (size_t)options->columns + 1) * sizeof *out->values);
    if (!out->values) return false;
    kn_rng_init(&m.rng, options->seed, 0);
    for (int c = 0; c < options->columns; c++)
        m.values[c] = 2 + (int)kn_rng_below(&m.rng, (uint64_t)options->values - 1);
    for (int f = 0; f < options->planted; f++)
        if (!write_family(&m, f)) return false;
    while (m.next < options->rows) {
        int row[MOST_COLUMNS], left = options->rows - m.next;
        int copies = options->k + (int)kn_rng_below(&m.rng, (uint64_t)(options->copies - options->k) + 1);
        if (left - copies < options->k) copies = left; /* nothing too small is left over */
        random_row(&m, row);
        if (copies < options->k || !write_copies(&m, row, copies)) return false;
    }
    shuffle(&m);
    return true;
}

void wide_table_free(wide_table *table)
{
    free(table->values);
    table->values = NULL;
}

static bool intern_all(kn_builder *b, const int *values, int rows, int columns, uint32_t *ids)
{
    for (int c = 0; c < columns; c++)
        for (int r = 0; r < rows; r++) {
            char text[16];
            snprintf(text, sizeof text, "%d", values[(size_t)r * (size_t)columns + (size_t)c]);
            uint32_t id = kn_intern(kn_builder_interner(b, c, 0), kn_string_of(text));
            if (id == KN_ID_FAILED) return false;
            ids[(size_t)c * (size_t)rows + (size_t)r] = id;
        }
    return true;
}

kn_status wide_table_build(kn_table **out, kn_context *ctx, const int *values, int rows, int columns, kn_error *err)
{
    kn_string names[MOST_COLUMNS] = {{NULL, 0}};
    char      text[MOST_COLUMNS][16];
    for (int c = 0; c < columns; c++) {
        snprintf(text[c], sizeof text[c], "c%d", c);
        names[c] = kn_string_of(text[c]);
    }
    kn_builder *b = NULL;
    kn_status   st = kn_builder_create(&b, ctx, names, columns, 1, err);
    if (st != KN_OK) return st;
    int64_t   first = 0;
    uint32_t *ids = malloc(((size_t)rows * (size_t)columns + 1) * sizeof *ids);
    if (!ids || !intern_all(b, values, rows, columns, ids))
        st = kn_fail_memory(err, ctx, "building a wide table");
    else
        st = kn_builder_extend(b, rows, 0, &first, err);
    for (int c = 0; c < columns && st == KN_OK; c++)
        kn_builder_write(b, c, first, ids + (size_t)c * (size_t)rows, rows);
    free(ids);
    if (st == KN_OK) return kn_builder_finish(out, b, NULL, NULL, err);
    kn_builder_free(b);
    return st;
}
