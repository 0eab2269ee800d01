/* kn_sizes.c: the histogram of class sizes. Small sizes, which are nearly all, are counted in an array; the few large
 * ones are sorted.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_freq.h"
#include "kn_sort.h"

enum { SMALL = 4096 };

void kn_size_histogram_free(kn_size_histogram *histogram)
{
    KN_FREE(histogram->sizes, histogram->classes, histogram->rows);
    *histogram = (kn_size_histogram){0, NULL, NULL, NULL};
}

static void add(kn_size_histogram *h, int64_t size, int64_t classes, int64_t rows)
{
    if (h->count == 0 || h->sizes[h->count - 1] != size) {
        h->sizes[h->count] = size;
        h->classes[h->count] = h->rows[h->count] = 0;
        h->count++;
    }
    h->classes[h->count - 1] += classes;
    h->rows[h->count - 1] += rows;
}

/* The classes of SMALL and more, sorted by size. */
static kn_status sort_large(kn_sort_record **out, kn_context *ctx, const int64_t *sizes, int64_t count, int64_t large,
                            kn_error *err)
{
    kn_sort_record *order = *out = kn_alloc_array(ctx, (size_t)large, sizeof *order);
    if (!order) return kn_fail_memory(err, ctx, "counting class sizes");
    int64_t at = 0;
    for (int64_t i = 0; i < count; i++)
        if (sizes[i] >= SMALL) order[at++] = (kn_sort_record){(uint64_t)sizes[i], (uint64_t)i};
    return kn_sort_records(ctx, order, (size_t)large, NULL, NULL, err);
}

kn_status kn_size_histogram_make(kn_size_histogram *out, kn_context *ctx, const int64_t *sizes, const int64_t *rows,
                                 int64_t count, kn_error *err)
{
    *out = (kn_size_histogram){0, NULL, NULL, NULL};
    int64_t  large = 0, distinct = 0;
    int64_t *classes_of = kn_alloc_array_zero(ctx, SMALL, sizeof *classes_of);
    int64_t *rows_of = kn_alloc_array_zero(ctx, SMALL, sizeof *rows_of);
    for (int64_t i = 0; i < count && classes_of && rows_of; i++) {
        if (sizes[i] < SMALL) {
            distinct += classes_of[sizes[i]]++ == 0;
            rows_of[sizes[i]] += rows[i];
        } else {
            large++;
        }
    }
    kn_sort_record *order = NULL;
    kn_status       st = sort_large(&order, ctx, sizes, count, large, err);
    size_t          room = (size_t)(distinct + large);
    out->sizes = kn_alloc_array(ctx, room, sizeof *out->sizes);
    out->classes = kn_alloc_array(ctx, room, sizeof *out->classes);
    out->rows = kn_alloc_array(ctx, room, sizeof *out->rows);
    if (st == KN_OK && (!classes_of || !rows_of || !out->sizes || !out->classes || !out->rows))
        st = kn_fail_memory(err, ctx, "counting class sizes");
    for (int64_t s = 0; s < SMALL && st == KN_OK; s++)
        if (classes_of[s]) add(out, s, classes_of[s], rows_of[s]);
    for (int64_t i = 0; i < large && st == KN_OK; i++) add(out, (int64_t)order[i].key, 1, rows[order[i].id]);
    KN_FREE(order, classes_of, rows_of);
    if (st != KN_OK) kn_size_histogram_free(out);
    return st;
}
