/* test_verify_group.c: the verifier's grouping on any number of threads against its definition: rows with equal keys, numbered as
 * they first appear; every allocation refused in turn. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include <stdlib.h>
#include <string.h>

#include "kn_rng.h"
#include "kn_verify_internal.h"

enum { PARTS = 3, MOST = 9 * 65536 + 500 };

static uint32_t parts[PARTS][MOST];
static bool     left_out[MOST];

static const kn_vkey keys[PARTS + 1] = {
    {.direct = parts[0]}, {.direct = parts[1]}, {.direct = parts[2]}, {.omit = left_out}};

/* The same parts as columns: of 1, 2 and 4 bytes per code, which stand for values, one for missing cells and one that leaves
 * the row out; the last in another order of rows. */
static uint32_t   translations[PARTS][100002];
static uint8_t    codes1[MOST];
static uint16_t   codes2[MOST];
static uint32_t   codes4[MOST];
static int64_t    places[MOST];
static kn_vcolumn columns[PARTS] = {
    {.width = 1, .codes = codes1}, {.width = 2, .codes = codes2}, {.width = 4, .codes = codes4}};

static const kn_vkey column_keys[PARTS + 1] = {{.omit = left_out},
                                               {.column = &columns[0], .translate = translations[0]},
                                               {.column = &columns[1], .translate = translations[1]},
                                               {.column = &columns[2], .translate = translations[2], .rows = places}};

static void make_columns(int64_t rows, uint32_t values)
{
    for (int i = 0; i < PARTS; i++) {
        columns[i].count = values + 2;
        for (uint32_t v = 0; v < values; v++) translations[i][v] = v;
        translations[i][values] = KN_V_MISSING;
        translations[i][values + 1] = KN_V_NONE;
    }
    for (int64_t row = 0; row < rows; row++) {
        places[row] = rows - 1 - row;
        for (int i = 0; i < PARTS; i++) {
            uint32_t part = parts[i][row], code = part == KN_V_MISSING ? values : part == KN_V_NONE ? values + 1 : part;
            kn_vcode_set(&columns[i], i == 2 ? places[row] : row, code);
        }
    }
}

static void make(kn_rng *rng, int64_t rows, uint64_t values)
{
    for (int64_t row = 0; row < rows; row++) {
        bool again = row > 0 && kn_rng_below(rng, 3) == 0;
        for (int i = 0; i < PARTS; i++)
            parts[i][row] = again                         ? parts[i][row - 1]
                            : kn_rng_below(rng, 500) == 0 ? KN_V_MISSING
                            : kn_rng_below(rng, 900) == 0 ? KN_V_NONE
                                                          : (uint32_t)kn_rng_below(rng, values);
        left_out[row] = kn_rng_below(rng, 50) == 0;
    }
}

static bool is_out(int64_t row)
{
    bool out = left_out[row];
    for (int i = 0; i < PARTS; i++) out = out || parts[i][row] == KN_V_NONE;
    return out;
}

static int compare(int64_t a, int64_t b)
{
    for (int i = 0; i < PARTS; i++)
        if (parts[i][a] != parts[i][b]) return parts[i][a] < parts[i][b] ? -1 : 1;
    return 0;
}

static int by_key(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    int     c = compare(x, y);
    return c ? c : x < y ? -1 : x > y;
}

/* Per row the first one with its key; -1: it is left out. */
static void first_rows(int64_t rows, int64_t *first)
{
    int64_t *order = calloc((size_t)rows + 1, sizeof *order), count = 0;
    for (int64_t row = 0; row < rows; row++) {
        first[row] = -1;
        if (!is_out(row)) order[count++] = row;
    }
    qsort(order, (size_t)count, sizeof *order, by_key);
    for (int64_t i = 0; i < count; i++)
        first[order[i]] = i > 0 && compare(order[i - 1], order[i]) == 0 ? first[order[i - 1]] : order[i];
    free(order);
}

static void assert_groups(const kn_vgroups *g, int64_t rows, const int64_t *first)
{
    int64_t *sizes = calloc((size_t)rows + 1, sizeof *sizes);
    uint32_t count = 0;
    for (int64_t row = 0; row < rows; row++) {
        if (first[row] < 0) assert_int_equal(g->of_row[row], KN_V_NONE);
        if (first[row] == row) assert_int_equal(g->of_row[row], count++);
        if (first[row] >= 0) sizes[g->of_row[row]]++;
        if (first[row] >= 0) assert_int_equal(g->first[g->of_row[row]], first[row]);
    }
    assert_int_equal(g->count, count);
    for (uint32_t i = 0; i < count; i++) assert_int_equal(g->rows[i], sizes[i]);
    free(sizes);
}

static int by_size(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

/* Their sizes alone: the same, in any order. */
static void assert_sizes(const kn_vgroups *all, kn_context *ctx, int64_t rows, const kn_vkey *by)
{
    kn_error   err = KN_ERROR_INIT;
    kn_vgroups g;
    int64_t   *expected = malloc(((size_t)all->count + 1) * sizeof *expected);
    assert_ok(kn_vgroup_sizes(&g, ctx, rows, NULL, by, PARTS + 1, &err), err);
    assert_null(g.of_row);
    assert_int_equal(g.count, all->count);
    memcpy(expected, all->rows, (size_t)all->count * sizeof *expected);
    qsort(expected, all->count, sizeof *expected, by_size);
    qsort(g.rows, g.count, sizeof *g.rows, by_size);
    assert_memory_equal(g.rows, expected, (size_t)all->count * sizeof *expected);
    free(expected);
    kn_vgroups_free(&g);
}

static void groups_are_those_of_the_definition(void **state)
{
    static const int      threads[] = {1, 2, 3, 8};
    static const int64_t  rows[] = {0, 1, 65535, 65536, 65537, 131072, 3 * 65536 + 500, MOST};
    static const uint64_t values[] = {1, 4, 60, 100000};
    static int64_t        first[MOST];
    kn_rng                rng;
    (void)state;
    kn_rng_init(&rng, testing_seed(), 0);
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        /* The groups are compared in the other builds: here three sizes, by several threads. */
        if (TESTING_THREAD_SANITIZER && !testing_full() && r % 3 != 1) continue;
        make(&rng, rows[r], values[r % 4]);
        first_rows(rows[r], first);
        for (size_t t = TESTING_THREAD_SANITIZER ? 2 : 0; t < sizeof threads / sizeof *threads; t++) {
            kn_context *ctx = testing_context(threads[t]);
            kn_error    err = KN_ERROR_INIT;
            kn_vgroups  g;
            assert_ok(kn_vgroup(&g, ctx, rows[r], NULL, keys, PARTS + 1, &err), err);
            assert_groups(&g, rows[r], first);
            assert_sizes(&g, ctx, rows[r], keys);
            kn_vgroups_free(&g);
            if (values[r % 4] <= 60) { /* as many as a byte can tell apart */
                make_columns(rows[r], (uint32_t)values[r % 4]);
                assert_ok(kn_vgroup(&g, ctx, rows[r], NULL, column_keys, PARTS + 1, &err), err);
                assert_groups(&g, rows[r], first);
                assert_sizes(&g, ctx, rows[r], column_keys);
                kn_vgroups_free(&g);
            }
            testing_context_free(ctx);
        }
    }
}

static void memory_that_is_refused(void **state)
{
    kn_rng    rng;
    kn_status status = KN_MEMORY;
    int64_t   tries = 0;
    (void)state;
    kn_rng_init(&rng, testing_seed(), 1);
    make(&rng, 70000, 4);
    make_columns(70000, 4);
    for (; status != KN_OK; tries++) {
        testing_allocator memory = {.refuse_at = tries};
        kn_context       *ctx = NULL;
        kn_error          err = KN_ERROR_INIT;
        kn_vgroups        g = {0};
        status = testing_refusing_context(&ctx, &memory, 2, &err);
        if (status == KN_OK) status = kn_vgroup(&g, ctx, 70000, NULL, keys, PARTS + 1, &err);
        kn_vgroups_free(&g);
        if (status == KN_OK) status = kn_vgroup_sizes(&g, ctx, 70000, NULL, column_keys, PARTS + 1, &err);
        kn_vgroups_free(&g);
        kn_context_free(ctx);
        assert_int_equal(memory.live, 0);
        if (status != KN_OK) assert_int_equal(status, KN_MEMORY);
    }
    assert_true(tries > 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(groups_are_those_of_the_definition),
                                       cmocka_unit_test(memory_that_is_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
