/* kn_sizes.c: the histogram of class sizes. Small sizes, which are nearly all, are counted in an array (of many classes, in one
 * per slice of them, on all threads); the few large ones are sorted.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_freq.h"
#include "kn_parallel.h"
#include "kn_sort.h"

enum { SMALL = 4096, MOST_SLICES = 32, LEAST_CLASSES = 1 << 16 /* of a slice */ };

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
    *out = NULL;
    if (large == 0) return KN_OK;
    kn_sort_record *order = *out = kn_alloc_array(ctx, (size_t)large, sizeof *order);
    if (!order) return kn_fail_memory(err, ctx, "counting class sizes");
    int64_t at = 0;
    for (int64_t i = 0; i < count; i++)
        if (sizes[i] >= SMALL) order[at++] = (kn_sort_record){(uint64_t)sizes[i], (uint64_t)i};
    return kn_sort_records(ctx, order, (size_t)large, NULL, NULL, err);
}

typedef struct slice {
    int64_t classes[SMALL], rows[SMALL]; /* per size */
    int64_t large;
} slice;

typedef struct counting {
    const int64_t *sizes, *rows;
    int64_t        grain;
    slice         *slices;
} counting;

static kn_status count_range(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    const counting *c = arg;
    slice          *s = &c->slices[begin / c->grain];
    (void)worker;
    (void)err;
    for (int64_t i = begin; i < end; i++) {
        if (c->sizes[i] >= SMALL) {
            s->large++;
            continue;
        }
        s->classes[c->sizes[i]]++;
        s->rows[c->sizes[i]] += c->rows[i];
    }
    return KN_OK;
}

/* Counts the classes of each size: in slices[0]. *distinct: different sizes below SMALL. */
static kn_status count(slice **out, int64_t *distinct, kn_context *ctx, const int64_t *sizes, const int64_t *rows,
                       int64_t n, kn_error *err)
{
    counting c = {sizes, rows, n / MOST_SLICES + 1 > LEAST_CLASSES ? n / MOST_SLICES + 1 : LEAST_CLASSES, NULL};
    int64_t  slices = n > 0 ? (n + c.grain - 1) / c.grain : 1;
    slice   *all = *out = c.slices = kn_alloc_array_zero(ctx, (size_t)slices, sizeof *all);
    if (!all) return kn_fail_memory(err, ctx, "counting class sizes");
    KN_TRY(kn_parallel_for(ctx, n, c.grain, count_range, &c, err));
    for (int64_t i = 1; i < slices; i++) {
        all->large += all[i].large;
        for (int64_t s = 0; s < SMALL; s++) {
            all->classes[s] += all[i].classes[s];
            all->rows[s] += all[i].rows[s];
        }
    }
    *distinct = 0;
    for (int64_t s = 0; s < SMALL; s++) *distinct += all->classes[s] > 0;
    return KN_OK;
}

kn_status kn_size_histogram_make(kn_size_histogram *out, kn_context *ctx, const int64_t *sizes, const int64_t *rows,
                                 int64_t n, kn_error *err)
{
    *out = (kn_size_histogram){0, NULL, NULL, NULL};
    int64_t         distinct = 0;
    slice          *all = NULL;
    kn_sort_record *order = NULL;
    kn_status       st = count(&all, &distinct, ctx, sizes, rows, n, err);
    if (st == KN_OK) st = sort_large(&order, ctx, sizes, n, all->large, err);
    if (st == KN_OK) {
        size_t room = (size_t)(distinct + all->large) + 1;
        out->sizes = kn_alloc_array(ctx, room, sizeof *out->sizes);
        out->classes = kn_alloc_array(ctx, room, sizeof *out->classes);
        out->rows = kn_alloc_array(ctx, room, sizeof *out->rows);
        if (!out->sizes || !out->classes || !out->rows) st = kn_fail_memory(err, ctx, "counting class sizes");
    }
    for (int64_t s = 0; s < SMALL && st == KN_OK; s++)
        if (all->classes[s]) add(out, s, all->classes[s], all->rows[s]);
    for (int64_t i = 0; st == KN_OK && i < all->large; i++) add(out, (int64_t)order[i].key, 1, rows[order[i].id]);
    KN_FREE(order, all);
    if (st != KN_OK) kn_size_histogram_free(out);
    return st;
}
