/* test_wide.c: what all threads do together with many records or combinations, against the plain code: spans, counts and cuts of
 * a region (kn_space_wide.c), the row numbers that are kept (kn_space.c), rows at risk (kn_refine.c) and the histogram of class
 * sizes (kn_sizes.c); each the same on 1, 2, 3 and 8 threads.
 * SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include <stdlib.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_refine.h"
#include "kn_rng.h"
#include "kn_space.h"
#include "wide_table.h"

static const int thread_counts[] = {1, 2, 3, 8};

enum { THREAD_COUNTS = 4, DIMENSIONS = 3, ROUNDS = 6 };

/* ---- A space without a table ---- */

typedef struct points {
    kn_dimension   dimensions[DIMENSIONS];
    int64_t       *counts;
    uint32_t       rows;
    unsigned char *records;
} points;

enum { STRIDE = 12 };

static void make_points(points *p, kn_rng *rng)
{
    static const uint32_t positions[DIMENSIONS] = {60000, 3000, 40};
    static const size_t   offsets[DIMENSIONS] = {4, 8, 10};
    static const int      widths[DIMENSIONS] = {4, 2, 1};
    *p = (points){.rows = KN_WIDE_RECORDS - 1 + (uint32_t)kn_rng_below(rng, 3 * KN_WIDE_RECORDS)};
    bool counted = kn_rng_below(rng, 2) == 0;
    p->records = calloc(p->rows + 1u, STRIDE);
    p->counts = counted ? calloc(p->rows, sizeof *p->counts) : NULL;
    assert_true(p->records && (!counted || p->counts));
    for (int q = 0; q < DIMENSIONS; q++)
        p->dimensions[q] = (kn_dimension){.positions = positions[q], .offset = offsets[q], .width = widths[q]};
    for (uint32_t i = 0; i < p->rows; i++) {
        uint32_t wide = (uint32_t)kn_rng_below(rng, 1 + kn_rng_below(rng, positions[0]));
        uint16_t middle = (uint16_t)kn_rng_below(rng, positions[1] + 1);
        memcpy(p->records + (size_t)i * STRIDE, &i, sizeof i);
        memcpy(p->records + (size_t)i * STRIDE + 4, &wide, sizeof wide);
        memcpy(p->records + (size_t)i * STRIDE + 8, &middle, sizeof middle);
        p->records[(size_t)i * STRIDE + 10] = (unsigned char)kn_rng_below(rng, positions[2]);
        if (counted) p->counts[i] = 1 + (int64_t)kn_rng_below(rng, 5);
    }
}

static void free_points(points *p)
{
    free(p->records);
    free(p->counts);
}

/* A copy, in the context's memory. */
static kn_space space_of(kn_context *ctx, points *p)
{
    kn_space s = {.ctx = ctx, .count = DIMENSIONS, .dimensions = p->dimensions, .stride = STRIDE, .rows = p->rows};
    s.most_positions = 60001;
    s.counts = p->counts;
    s.table_rows = p->rows;
    s.records = kn_alloc_array(ctx, p->rows + 1u, STRIDE);
    assert_non_null(s.records);
    memcpy(s.records, p->records, (size_t)p->rows * STRIDE);
    return s;
}

static void check_found(const kn_space *s, kn_region region)
{
    kn_error  err = KN_ERROR_INIT;
    kn_span   plain[DIMENSIONS], wide[DIMENSIONS];
    uint32_t *counts = calloc(2 * (size_t)s->most_positions, sizeof *counts);
    assert_non_null(counts);
    kn_space_spans(s, region, plain);
    assert_ok(kn_space_spans_wide(s, region, wide, &err), err);
    assert_memory_equal(plain, wide, sizeof plain);
    for (int q = 0; q < DIMENSIONS; q++) {
        memset(counts, 0, 2 * (size_t)s->most_positions * sizeof *counts);
        kn_space_count(s, region, q, counts);
        assert_ok(kn_space_count_wide(s, region, q, counts + s->most_positions, &err), err);
        assert_memory_equal(counts, counts + s->most_positions, s->most_positions * sizeof *counts);
    }
    free(counts);
}

/* Both sides are what the cut says, records outside stay, and none is lost or changed. */
static void check_cut(const kn_space *s, const points *p, kn_region region, kn_cut cut, uint32_t middle)
{
    const kn_dimension *d = &s->dimensions[cut.dimension];
    bool               *seen = calloc(p->rows, sizeof *seen);
    assert_non_null(seen);
    assert_in_range(middle, region.begin, region.end);
    for (uint32_t i = 0; i < p->rows; i++) {
        uint32_t row = kn_space_row(s, i);
        bool     inside = i >= region.begin && i < region.end;
        assert_true(row < p->rows && !seen[row]);
        seen[row] = true;
        if (inside)
            assert_int_equal(kn_space_goes_first(s, d, cut, i), i < middle);
        else
            assert_int_equal(row, i);
        assert_memory_equal(s->records + (size_t)i * STRIDE, p->records + (size_t)row * STRIDE, STRIDE);
    }
    free(seen);
}

static kn_cut random_cut(const points *p, kn_rng *rng)
{
    int      q = (int)kn_rng_below(rng, DIMENSIONS);
    uint32_t most = p->dimensions[q].positions, low = 0, high = (uint32_t)kn_rng_below(rng, most);
    if (kn_rng_below(rng, 3) == 0) low = (uint32_t)kn_rng_below(rng, high + 1);
    if (kn_rng_below(rng, 6) == 0) high = most; /* all, where low is 0 */
    return (kn_cut){q, low, high};
}

static void check_threads(points *p, kn_region region, kn_cut cut)
{
    unsigned char *first = NULL;
    kn_error       err = KN_ERROR_INIT;
    for (int t = 0; t < THREAD_COUNTS; t++) {
        kn_context *ctx = testing_context(thread_counts[t]);
        kn_space    s = space_of(ctx, p);
        uint32_t    middle = 0;
        check_found(&s, region);
        assert_ok(kn_space_cut_wide(&middle, &s, region, cut, &err), err);
        check_cut(&s, p, region, cut, middle);
        if (!first) {
            first = malloc((size_t)p->rows * STRIDE);
            assert_non_null(first);
            memcpy(first, s.records, (size_t)p->rows * STRIDE);
        }
        assert_memory_equal(first, s.records, (size_t)p->rows * STRIDE);
        assert_ok(kn_space_keep_rows(&s, &err), err);
        for (uint32_t i = 0; i < p->rows; i++)
            assert_memory_equal(s.records + (size_t)i * 4, first + (size_t)i * STRIDE, 4);
        kn_free(s.records);
        testing_context_free(ctx);
    }
    free(first);
}

static void test_regions(void **state)
{
    kn_rng rng;
    (void)state;
    kn_rng_init(&rng, testing_seed(), 1);
    for (int round = 0; round < ROUNDS; round++) {
        points p;
        make_points(&p, &rng);
        kn_region region = {0, p.rows, 0};
        if (round % 2 == 1) {
            region.begin = (uint32_t)kn_rng_below(&rng, p.rows / 8);
            region.end -= (uint32_t)kn_rng_below(&rng, p.rows / 8);
        }
        check_threads(&p, region, random_cut(&p, &rng));
        free_points(&p);
    }
}

/* ---- Rows at risk ---- */

enum { ROWS = 60000, COLUMNS = 5 };

static int by_number(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* The rows in classes smaller than k, by sorting what each shows in the first `depth` columns of `order`. */
static int64_t plain_risk(const int *values, const int *order, int depth, int64_t k)
{
    uint64_t *keys = calloc(ROWS, sizeof *keys);
    int64_t   risk = 0;
    assert_non_null(keys);
    for (int r = 0; r < ROWS; r++)
        for (int d = 0; d < depth; d++) keys[r] = keys[r] * 4096 + (uint64_t)values[r * COLUMNS + order[d]];
    qsort(keys, ROWS, sizeof *keys, by_number);
    for (int begin = 0, end; begin < ROWS; begin = end) {
        for (end = begin; end < ROWS && keys[end] == keys[begin];) end++;
        if (end - begin < k) risk += end - begin;
    }
    free(keys);
    return risk;
}

static void check_risk(const int *values, const int *order, int64_t k, int64_t allowed, int threads)
{
    kn_error    err = KN_ERROR_INIT;
    kn_context *ctx = testing_context(threads);
    kn_table   *table = NULL;
    kn_freq    *freq = NULL;
    kn_refiner  r = {0};
    int         all[COLUMNS] = {0, 1, 2, 3, 4};
    assert_ok(wide_table_build(&table, ctx, values, ROWS, COLUMNS, &err), err);
    assert_ok(kn_freq_of_table(&freq, ctx, table, all, COLUMNS, &err), err);
    assert_true(freq->classes > 1 << 15);
    assert_ok(kn_refiner_init(&r, ctx, freq, k, allowed, &err), err);
    /* Twice: what is taken off the stack leaves no trace. */
    for (int again = 0; again < 2; again++) {
        bool holds = true;
        kn_refiner_pop(&r, 0);
        for (int d = 0; holds && d < COLUMNS; d++) {
            int64_t risk = plain_risk(values, order, d + 1, k);
            assert_ok(kn_refiner_push(&r, order[d], &holds, &err), err);
            assert_int_equal(holds, risk <= allowed);
            if (holds) assert_int_equal(r.risk[d + 1], risk);
        }
    }
    kn_refiner_free(&r);
    kn_freq_free(freq);
    kn_table_free(table);
    testing_context_free(ctx);
}

static void test_rows_at_risk(void **state)
{
    static const int most[COLUMNS] = {2, 7, 300, 40, 12};
    kn_rng           rng;
    int             *values = calloc((size_t)ROWS * COLUMNS, sizeof *values);
    (void)state;
    assert_non_null(values);
    kn_rng_init(&rng, testing_seed(), 2);
    for (int round = 0; round < 3; round++) {
        int     order[COLUMNS] = {0, 1, 2, 3, 4};
        int64_t allowed[] = {0, ROWS / 3, ROWS};
        for (int i = 0; i < ROWS * COLUMNS; i++)
            values[i] = (int)kn_rng_below(&rng, 1 + kn_rng_below(&rng, (uint64_t)most[i % COLUMNS]));
        /* The last column parts nearly all rows, so that there are many combinations. */
        for (int i = 0; i < ROWS; i++)
            if (kn_rng_below(&rng, 4) > 0) values[i * COLUMNS + 2] = (int)kn_rng_below(&rng, 4000);
        for (int i = COLUMNS - 1; i > 0; i--) {
            int j = (int)kn_rng_below(&rng, (uint64_t)i + 1), held = order[i];
            order[i] = order[j];
            order[j] = held;
        }
        int64_t k = 2 + (int64_t)kn_rng_below(&rng, 5);
        for (int t = 0; t < THREAD_COUNTS; t++) check_risk(values, order, k, allowed[round], thread_counts[t]);
    }
    free(values);
}

/* ---- Sizes of classes ---- */

static void test_sizes(void **state)
{
    enum { CLASSES = 200000, MOST = 6000 };
    int64_t *sizes = calloc(CLASSES, sizeof *sizes), *rows = calloc(CLASSES, sizeof *rows);
    kn_rng   rng;
    (void)state;
    assert_true(sizes && rows);
    kn_rng_init(&rng, testing_seed(), 3);
    for (int i = 0; i < CLASSES; i++) {
        sizes[i] = 1 + (int64_t)kn_rng_below(&rng, 1 + kn_rng_below(&rng, MOST));
        rows[i] = sizes[i] + (int64_t)kn_rng_below(&rng, 3);
    }
    for (int t = 0; t < THREAD_COUNTS; t++) {
        kn_error          err = KN_ERROR_INIT;
        kn_context       *ctx = testing_context(thread_counts[t]);
        kn_size_histogram h;
        int64_t          *classes = calloc(2 * (MOST + 1), sizeof *classes), *sums = classes + MOST + 1, at = 0;
        assert_non_null(classes);
        for (int i = 0; i < CLASSES; i++) {
            classes[sizes[i]]++;
            sums[sizes[i]] += rows[i];
        }
        assert_ok(kn_size_histogram_make(&h, ctx, sizes, rows, CLASSES, &err), err);
        for (int s = 0; s <= MOST; s++) {
            if (classes[s] == 0) continue;
            assert_true(at < h.count);
            assert_int_equal(h.sizes[at], s);
            assert_int_equal(h.classes[at], classes[s]);
            assert_int_equal(h.rows[at], sums[s]);
            at++;
        }
        assert_int_equal(h.count, at);
        kn_size_histogram_free(&h);
        free(classes);
        testing_context_free(ctx);
    }
    free(sizes);
    free(rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_regions),
        cmocka_unit_test(test_rows_at_risk),
        cmocka_unit_test(test_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
