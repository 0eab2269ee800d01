/* test_grouping.c: rows grouped attribute by attribute (kn_grouping.h), against a twin that takes one row after the other;
 * enough rows for several chunks, few and many groups, any number of threads, refused memory.
 * SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include <stdlib.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_grouping.h"
#include "kn_rng.h"

enum { ROWS = 70000, NODES = 5000, ATTRIBUTES = 3 };

/* What rows show: three attributes; nodes of one label in two of them. */
typedef struct setting {
    uint32_t     rows;
    uint32_t    *nodes[ATTRIBUTES];
    uint32_t     labels[NODES];
    kn_hierarchy h; /* only what the grouping looks at */
} setting;

static setting *make_setting(kn_rng *rng, uint32_t rows, uint32_t values)
{
    setting *s = calloc(1, sizeof *s);
    assert_non_null(s);
    s->rows = rows;
    for (uint32_t i = 0; i < NODES; i++) s->labels[i] = i % 3 == 0 ? i : i / 2;
    s->h = (kn_hierarchy){.leaves = values / 2, .label = s->labels}; /* the node `leaves` is a missing cell */
    for (int a = 0; a < ATTRIBUTES; a++) {
        s->nodes[a] = malloc(((size_t)rows + 1) * sizeof **s->nodes);
        assert_non_null(s->nodes[a]);
        for (uint32_t r = 0; r < rows; r++) s->nodes[a][r] = (uint32_t)kn_rng_below(rng, values);
    }
    return s;
}

static void free_setting(setting *s)
{
    for (int a = 0; a < ATTRIBUTES; a++) free(s->nodes[a]);
    free(s);
}

static kn_status group(kn_grouping *out, kn_context *ctx, const setting *s, kn_error *err)
{
    kn_status st = kn_grouping_make(out, ctx, s->rows, err);
    for (int a = 0; a < ATTRIBUTES && st == KN_OK; a++) st = kn_grouping_refine(out, s->nodes[a], &s->h, err);
    if (st == KN_OK) st = kn_grouping_list(out, err);
    if (st != KN_OK) kn_grouping_free(out);
    return st;
}

/* ---- The twin ---- */

static const setting *sorted_setting;

static uint32_t shown(const setting *s, int a, uint32_t row)
{
    return s->nodes[a][row] == s->h.leaves ? UINT32_MAX : s->labels[s->nodes[a][row]];
}

static int by_shown(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    for (int i = 0; i < ATTRIBUTES; i++) {
        uint32_t p = shown(sorted_setting, i, x), q = shown(sorted_setting, i, y);
        if (p != q) return p < q ? -1 : 1;
    }
    return x < y ? -1 : x > y;
}

/* The first row that shows the same as each, by sorting. */
static uint32_t *firsts_of(const setting *s)
{
    uint32_t *order = malloc(((size_t)s->rows + 1) * sizeof *order);
    uint32_t *first = malloc(((size_t)s->rows + 1) * sizeof *first);
    assert_non_null(order);
    assert_non_null(first);
    for (uint32_t r = 0; r < s->rows; r++) order[r] = r;
    sorted_setting = s;
    qsort(order, s->rows, sizeof *order, by_shown);
    for (uint32_t i = 0; i < s->rows; i++) {
        bool same = i > 0;
        for (int a = 0; a < ATTRIBUTES && same; a++) same = shown(s, a, order[i - 1]) == shown(s, a, order[i]);
        first[order[i]] = same ? first[order[i - 1]] : order[i];
    }
    free(order);
    return first;
}

static void check(const kn_grouping *g, const setting *s)
{
    uint32_t *first = firsts_of(s), groups = 0;
    uint32_t *sizes = calloc((size_t)s->rows + 1, sizeof *sizes);
    assert_non_null(sizes);
    for (uint32_t r = 0; r < s->rows; r++) { /* numbered by their first rows */
        uint32_t expected = first[r] == r ? groups++ : g->group_of[first[r]];
        assert_int_equal(g->group_of[r], expected);
        sizes[expected]++;
    }
    assert_int_equal(g->groups, groups);
    for (uint32_t i = 0; i < groups; i++) assert_int_equal(g->sizes[i], sizes[i]);
    uint32_t at = 0;
    for (uint32_t i = 0; i < groups; i++) {
        assert_int_equal(g->starts[i], at);
        for (uint32_t j = 0; j < sizes[i]; j++, at++) {
            assert_int_equal(g->group_of[g->members[at]], i);
            if (j > 0) assert_true(g->members[at - 1] < g->members[at]);
        }
    }
    assert_int_equal(at, s->rows);
    free(first);
    free(sizes);
}

/* How many groups would be smaller than that is counted without making them. */
static kn_status count_and_group(kn_grouping *out, kn_context *ctx, const setting *s, kn_error *err)
{
    kn_status st = kn_grouping_make(out, ctx, s->rows, err);
    for (int a = 0; a < ATTRIBUTES && st == KN_OK; a++) {
        uint32_t least = a == 0 ? 10 : 2;
        int64_t  counted = 0;
        st = kn_grouping_count(&counted, out, s->nodes[a], &s->h, least, err);
        if (st == KN_OK) st = kn_grouping_refine(out, s->nodes[a], &s->h, err);
        for (uint32_t j = 0; st == KN_OK && j < out->groups; j++) counted -= out->sizes[j] < least;
        assert_true(st != KN_OK || counted == 0);
        if (st == KN_OK) st = kn_grouping_list(out, err); /* each time in the same room */
    }
    if (st != KN_OK) kn_grouping_free(out);
    return st;
}

static void test_against_the_twin(void **state)
{
    static const uint32_t rows[] = {0, 1, 2, 1000, 16384, 16385, ROWS}, values[] = {2, 7, 60, NODES};
    (void)state;
    kn_rng rng;
    kn_rng_init(&rng, testing_seed(), 0);
    for (int threads = 1; threads <= 4; threads += 3)
        for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
            for (size_t v = 0; v < sizeof values / sizeof *values; v++) {
                kn_context *ctx = testing_context(threads);
                setting    *s = make_setting(&rng, rows[r], values[v]);
                kn_grouping g;
                kn_error    err = KN_ERROR_INIT;
                assert_int_equal(group(&g, ctx, s, &err), KN_OK);
                check(&g, s);
                kn_grouping_free(&g);
                assert_int_equal(count_and_group(&g, ctx, s, &err), KN_OK);
                check(&g, s);
                kn_grouping_free(&g);
                free_setting(s);
                testing_context_free(ctx);
            }
}

static void refuse_memory(kn_status (*run)(kn_grouping *, kn_context *, const setting *, kn_error *), uint32_t rows)
{
    kn_rng rng;
    kn_rng_init(&rng, testing_seed(), 1);
    setting  *s = make_setting(&rng, rows, 40);
    kn_status st = KN_MEMORY;
    for (int at = 0; st != KN_OK; at += testing_step()) {
        testing_allocator memory = {.refuse_at = -1};
        kn_context       *ctx = NULL;
        kn_error          err = KN_ERROR_INIT;
        kn_grouping       g;
        assert_int_equal(testing_refusing_context(&ctx, &memory, 1, &err), KN_OK);
        memory.refuse_at = memory.requests + at;
        st = run(&g, ctx, s, &err);
        assert_true(st == KN_OK || st == KN_MEMORY);
        if (st == KN_OK) check(&g, s);
        memory.refuse_at = -1;
        if (st == KN_OK) kn_grouping_free(&g);
        kn_context_free(ctx);
        assert_int_equal(memory.live, 0);
    }
    free_setting(s);
}

static void test_refused_memory(void **state)
{
    (void)state;
    refuse_memory(group, ROWS);
    refuse_memory(count_and_group, 17000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_the_twin),
        cmocka_unit_test(test_refused_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
