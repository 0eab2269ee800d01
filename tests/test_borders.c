/* test_borders.c: both borders against brute force over all subsets (10 columns), against a level-wise search (14), and
 * against planted sets (up to 256); both methods, 1, 2 and 8 threads; hitting sets against brute force; limits,
 * cancellation, failing memory.
 * SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_bitset.h"
#include "kn_borders.h"
#include "kn_dualize.h"
#include "kn_rng.h"
#include "wide_table.h"

static const int thread_counts[] = {1, 2, 8};

enum { MANY = 1 << 14 };

/* ---- Tables ---- */

static kn_freq *freq_of(kn_context *ctx, const int *values, int rows, int columns)
{
    kn_error  err = KN_ERROR_INIT;
    kn_table *table = NULL;
    kn_freq  *freq = NULL;
    int       all[256];
    for (int c = 0; c < columns; c++) all[c] = c;
    assert_ok(wide_table_build(&table, ctx, values, rows, columns, &err), err);
    assert_ok(kn_freq_of_table(&freq, ctx, table, all, columns, &err), err);
    kn_table_free(table);
    return freq;
}

static void random_values(kn_rng *rng, int *values, int rows, int columns)
{
    for (int c = 0; c < columns; c++) {
        uint64_t most = 1 + kn_rng_below(rng, 5);
        for (int r = 0; r < rows; r++) values[r * columns + c] = (int)kn_rng_below(rng, 1 + kn_rng_below(rng, most));
    }
    /* Copies, so that some rows are safe. */
    for (int r = 1; r < rows; r++)
        if (kn_rng_below(rng, 3) == 0)
            memcpy(values + r * columns, values + (int)kn_rng_below(rng, (uint64_t)r) * columns,
                   (size_t)columns * sizeof *values);
}

/* ---- The naive twin: sets are masks, classes come from comparing all pairs of rows ---- */

typedef struct twin {
    int rows, columns;
    int sizes[1024][64]; /* per mask, per row: the size of its class */
} twin;

static void twin_make(twin *t, const int *values, int rows, int columns)
{
    t->rows = rows;
    t->columns = columns;
    for (int mask = 0; mask < 1 << columns; mask++)
        for (int r = 0; r < rows; r++) {
            int n = 0;
            for (int s = 0; s < rows; s++) {
                bool same = true;
                for (int c = 0; c < columns; c++)
                    if (mask >> c & 1) same = same && values[r * columns + c] == values[s * columns + c];
                n += same;
            }
            t->sizes[mask][r] = n;
        }
}

/* docs/errata.md 1.1 word for word: all classes of the smallest size go first, a size only as a whole, never the last one. */
static bool twin_holds(const twin *t, int mask, int64_t k, int64_t budget)
{
    int64_t with_size[65] = {0}, gone = 0; /* rows in classes of each size */
    int     largest = 0;
    for (int r = 0; r < t->rows; r++) {
        int size = t->sizes[mask][r];
        with_size[size]++;
        if (size > largest) largest = size;
    }
    for (int size = 1; size <= largest; size++) {
        if (with_size[size] == 0) continue;
        if (size == largest || gone + with_size[size] > budget) return size >= k;
        gone += with_size[size];
    }
    return true; /* no rows */
}

/* A list of masks as a sorted list of sets. */
static kn_set_list to_sets(kn_context *ctx, const bool *in, int columns)
{
    kn_error    err = KN_ERROR_INIT;
    kn_set_list list;
    kn_set_list_init(&list, ctx, 1);
    for (int mask = 0; mask < 1 << columns; mask++) {
        uint64_t set = (uint64_t)mask;
        if (in[mask]) assert_true(kn_set_list_add(&list, &set));
    }
    assert_ok(kn_set_list_sort(&list, &err), err);
    return list;
}

static void twin_borders(const bool *holds, int columns, bool *maximal, bool *minimal)
{
    for (int mask = 0; mask < 1 << columns; mask++) {
        maximal[mask] = holds[mask];
        minimal[mask] = !holds[mask];
        for (int c = 0; c < columns; c++) {
            int other = mask ^ 1 << c;
            if (other > mask && holds[other]) maximal[mask] = false;
            if (other < mask && !holds[other]) minimal[mask] = false;
        }
    }
}

static void assert_same(const kn_attribute_sets *got, const kn_set_list *want, const char *what)
{
    if (got->count != want->count)
        fail_msg("%s: %lld sets instead of %lld", what, (long long)got->count, (long long)want->count);
    assert_int_equal(got->words, want->words);
    if (got->count)
        assert_memory_equal(got->sets, want->sets, (size_t)got->count * (size_t)got->words * sizeof *got->sets);
}

static void check_complete(kn_context *ctx, const kn_freq *freq, const kn_borders_options *o, const bool *holds)
{
    static bool maximal[MANY], minimal[MANY];
    int         columns = freq->layout.columns;
    kn_error    err = KN_ERROR_INIT;
    kn_borders  b;
    assert_ok(kn_borders_find(&b, ctx, freq, o, &err), err);
    twin_borders(holds, columns, maximal, minimal);
    kn_set_list most = to_sets(ctx, maximal, columns), least = to_sets(ctx, minimal, columns);
    assert_same(&b.maximal, &most, "maximal");
    assert_same(&b.minimal_violating, &least, "minimal violating");
    assert_true(b.complete && b.maximal_complete && b.minimal_complete);
    assert_null(b.why_partial);
    assert_int_equal(b.minimal_up_to, columns);
    kn_set_list_free(&most);
    kn_set_list_free(&least);
    kn_borders_free(&b);
}

/* With a largest size: all minimal sets up to it, and maximal sets that are. */
static void check_sized(kn_context *ctx, const kn_freq *freq, const kn_borders_options *o, const bool *holds)
{
    static bool maximal[MANY], minimal[MANY];
    int         columns = freq->layout.columns;
    kn_error    err = KN_ERROR_INIT;
    kn_borders  b;
    assert_ok(kn_borders_find(&b, ctx, freq, o, &err), err);
    twin_borders(holds, columns, maximal, minimal);
    bool larger = false;
    for (int mask = 0; mask < 1 << columns; mask++) {
        bool out = minimal[mask] && __builtin_popcount((unsigned)mask) > o->max_size;
        larger |= out;
        if (out) minimal[mask] = false;
    }
    kn_set_list least = to_sets(ctx, minimal, columns);
    assert_same(&b.minimal_violating, &least, "minimal violating up to a size");
    assert_true(b.minimal_up_to >= (o->max_size < columns ? o->max_size : columns));
    for (int64_t i = 0; i < b.maximal.count; i++) assert_true(maximal[b.maximal.sets[i]]);
    if (larger) {
        assert_false(b.complete);
        assert_string_equal(b.why_partial, "larger sets were not looked at");
    }
    kn_set_list_free(&least);
    kn_borders_free(&b);
}

static void small_tables(void **state)
{
    (void)state;
    kn_rng      rng;
    static twin t;
    static bool holds[1024];
    static int  values[64 * 10];
    kn_context *contexts[3];
    kn_rng_init(&rng, testing_seed(), 1);
    for (int i = 0; i < 3; i++) contexts[i] = testing_context(thread_counts[i]);
    for (int round = 0; round < testing_rounds(60); round++) {
        int rows = 1 + (int)kn_rng_below(&rng, round % 3 == 0 ? 12 : 40), columns = 1 + (int)kn_rng_below(&rng, 10);
        random_values(&rng, values, rows, columns);
        twin_make(&t, values, rows, columns);
        kn_context *ctx = contexts[round % 3];
        kn_freq    *freq = freq_of(ctx, values, rows, columns);
        for (int64_t k = 1; k <= 6; k++)
            for (int b = 0; b < 5; b++) {
                int64_t budget = b == 0 ? 0 : b == 1 ? rows : (int64_t)kn_rng_below(&rng, (uint64_t)rows + 1);
                for (int mask = 0; mask < 1 << columns; mask++) holds[mask] = twin_holds(&t, mask, k, budget);
                kn_borders_options o = {.k = k, .budget = budget};
                for (int method = KN_BORDERS_AUTO; method <= KN_BORDERS_ADVANCE; method++) {
                    o.method = (kn_borders_method)method;
                    if (method == KN_BORDERS_WITNESS && budget > 0) continue;
                    o.max_size = 0;
                    check_complete(ctx, freq, &o, holds);
                    o.max_size = 1 + (int)kn_rng_below(&rng, 4);
                    check_sized(ctx, freq, &o, holds);
                }
            }
        kn_freq_free(freq);
    }
    for (int i = 0; i < 3; i++) testing_context_free(contexts[i]);
}

/* ---- Fourteen columns against a level-wise search ---- */

static const int *row_values;
static int        row_columns;
static int        row_mask;

static int compare_rows(const void *a, const void *b)
{
    for (int c = 0; c < row_columns; c++) {
        if (!(row_mask >> c & 1)) continue;
        int x = row_values[*(const int *)a * row_columns + c], y = row_values[*(const int *)b * row_columns + c];
        if (x != y) return x < y ? -1 : 1;
    }
    return 0;
}

/* Rows in classes smaller than k, by sorting the rows. */
static int64_t sorted_risk(int rows, int mask, int64_t k)
{
    static int order[4096];
    int64_t    risk = 0;
    row_mask = mask;
    for (int r = 0; r < rows; r++) order[r] = r;
    qsort(order, (size_t)rows, sizeof *order, compare_rows);
    for (int first = 0, r = 0; r < rows; r++) {
        if (r + 1 < rows && compare_rows(&order[first], &order[r + 1]) == 0) continue;
        if (r + 1 - first < k) risk += r + 1 - first;
        first = r + 1;
    }
    return risk;
}

/* A set is looked at only if all sets with one column less hold, as in Algorithm 2. */
static void level_wise(bool *holds, const int *values, int rows, int columns, int64_t k, int64_t budget)
{
    row_values = values;
    row_columns = columns;
    for (int mask = 0; mask < 1 << columns; mask++) {
        bool candidate = true;
        for (int c = 0; c < columns; c++)
            if (mask >> c & 1) candidate = candidate && holds[mask ^ 1 << c];
        if (!candidate) {
            holds[mask] = false;
            continue;
        }
        int64_t risk = sorted_risk(rows, mask, k);
        holds[mask] = risk <= budget && risk < rows;
    }
}

static void medium_tables(void **state)
{
    (void)state;
    enum { ROWS = 400, COLUMNS = 14 };
    kn_rng      rng;
    static bool holds[1 << COLUMNS];
    static int  values[ROWS * COLUMNS];
    kn_rng_init(&rng, testing_seed(), 2);
    for (int round = 0; round < (TESTING_SANITIZED ? 2 : testing_rounds(6)); round++) {
        kn_context *ctx = testing_context(thread_counts[round % 3]);
        int         rows = 50 + (int)kn_rng_below(&rng, ROWS - 50);
        random_values(&rng, values, rows, COLUMNS);
        kn_freq *freq = freq_of(ctx, values, rows, COLUMNS);
        int64_t  k = 2 + (int64_t)kn_rng_below(&rng, 5);
        for (int b = 0; b < 2; b++) {
            kn_borders_options o = {.k = k, .budget = b ? (int64_t)kn_rng_below(&rng, (uint64_t)rows / 2) : 0};
            level_wise(holds, values, rows, COLUMNS, k, o.budget);
            for (int method = KN_BORDERS_AUTO; method <= KN_BORDERS_ADVANCE; method++) {
                o.method = (kn_borders_method)method;
                if (method != KN_BORDERS_WITNESS || b == 0) check_complete(ctx, freq, &o, holds);
            }
        }
        kn_freq_free(freq);
        testing_context_free(ctx);
    }
}

/* ---- Planted sets ---- */

static kn_set_list planted_sets(kn_context *ctx, const wide_table *t)
{
    kn_error    err = KN_ERROR_INIT;
    kn_set_list list;
    kn_set_list_init(&list, ctx, (int)kn_bitset_words((size_t)t->columns));
    for (int i = 0; i < t->planted_count; i++) {
        uint64_t set[4] = {0};
        for (int j = 0; j < t->planted_size[i]; j++) kn_bitset_set(set, (size_t)t->planted[i][j]);
        assert_true(kn_set_list_add(&list, set));
    }
    assert_ok(kn_set_list_sort(&list, &err), err);
    /* Minimal by comparing all pairs. */
    int64_t kept = 0;
    for (int64_t i = 0; i < list.count; i++) {
        bool minimal = true;
        for (int64_t j = 0; j < list.count; j++)
            if (i != j && kn_bitset_subset(kn_set_list_get(&list, j), kn_set_list_get(&list, i), (size_t)list.words))
                minimal = false;
        if (minimal)
            memmove(list.sets + kept++ * list.words, kn_set_list_get(&list, i), (size_t)list.words * sizeof(uint64_t));
    }
    list.count = kept;
    return list;
}

/* A maximal set contains no planted set, and any further column completes one. */
static void check_maximal(const kn_attribute_sets *sets, const kn_set_list *planted, int columns)
{
    for (int64_t i = 0; i < sets->count; i++) {
        uint64_t set[4] = {0};
        memcpy(set, sets->sets + i * sets->words, (size_t)sets->words * sizeof *set);
        for (int c = -1; c < columns; c++) {
            if (c >= 0 && kn_bitset_test(set, (size_t)c)) continue;
            if (c >= 0) kn_bitset_set(set, (size_t)c);
            bool violates = false;
            for (int64_t j = 0; j < planted->count && !violates; j++)
                violates = kn_bitset_subset(kn_set_list_get(planted, j), set, (size_t)planted->words);
            if (c >= 0) kn_bitset_clear(set, (size_t)c);
            assert_int_equal(violates, c >= 0);
        }
    }
}

static void planted_tables(void **state)
{
    (void)state;
    static const wide_options shapes[] = {
        {.rows = 3000, .columns = 40, .k = 2, .planted = 10, .values = 6, .copies = 9},
        {.rows = 4000, .columns = 64, .k = 5, .planted = 14, .values = 4, .copies = 9},
        {.rows = 5000, .columns = 65, .k = 3, .planted = 60, .values = 30, .copies = 4},
        {.rows = 3000, .columns = 130, .k = 4, .planted = 12, .values = 3, .copies = 20},
        {.rows = 2000, .columns = 256, .k = 3, .planted = 8, .values = 9, .copies = 5},
    };
    uint64_t seed = testing_seed();
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        wide_options shape = shapes[i];
        wide_table   t;
        shape.seed = seed + i;
        assert_true(wide_table_make(&t, &shape));
        kn_borders first = {0};
        for (int n = 0; n < 3; n++) {
            kn_error           err = KN_ERROR_INIT;
            kn_context        *ctx = testing_context(thread_counts[n]);
            kn_freq           *freq = freq_of(ctx, t.values, t.rows, t.columns);
            kn_set_list        planted = planted_sets(ctx, &t);
            kn_borders_options o = {.k = shape.k, .max_sets = 2000};
            kn_borders         b;
            assert_ok(kn_borders_find(&b, ctx, freq, &o, &err), err);
            assert_int_equal(b.method, KN_BORDERS_WITNESS);
            assert_same(&b.minimal_violating, &planted, "planted");
            assert_true(b.minimal_complete);
            assert_true(b.maximal.count > 0);
            if (!b.complete) {
                assert_int_equal(b.maximal.count, 2000);
                assert_string_equal(b.why_partial, "there are more sets than may be listed");
            }
            check_maximal(&b.maximal, &planted, t.columns);
            if (n == 0) { /* the same with any number of threads, what was cut off included */
                size_t size = (size_t)b.maximal.count * (size_t)b.maximal.words * sizeof(uint64_t);
                first = b;
                first.maximal.sets = malloc(size);
                assert_non_null(first.maximal.sets);
                memcpy(first.maximal.sets, b.maximal.sets, size);
            } else {
                kn_set_list want = {
                    .words = first.maximal.words, .count = first.maximal.count, .sets = first.maximal.sets};
                assert_same(&b.maximal, &want, "maximal, other threads");
                assert_int_equal(b.evaluations, first.evaluations);
            }
            kn_borders_free(&b);
            kn_set_list_free(&planted);
            kn_freq_free(freq);
            testing_context_free(ctx);
        }
        free(first.maximal.sets);
        wide_table_free(&t);
    }
}

/* The sizes the benchmark has: 60 columns and 100,000 rows, 100 columns and 20,000 rows. */
static void full_size(void **state)
{
    (void)state;
    static const wide_options shapes[] = {
        {.rows = 100000, .columns = 60, .k = 5, .planted = 60, .values = 12, .copies = 9},
        {.rows = 20000, .columns = 100, .k = 3, .planted = 80, .values = 12, .copies = 5},
    };
    uint64_t seed = testing_seed();
    for (size_t i = TESTING_SANITIZED ? 1 : 0; i < sizeof shapes / sizeof *shapes; i++) {
        kn_error           err = KN_ERROR_INIT;
        kn_context        *ctx = testing_context(2);
        wide_options       shape = shapes[i];
        kn_borders_options o = {.k = shape.k, .max_sets = 1000};
        wide_table         t;
        kn_borders         b;
        shape.seed = seed + i;
        assert_true(wide_table_make(&t, &shape));
        kn_freq    *freq = freq_of(ctx, t.values, t.rows, t.columns);
        kn_set_list planted = planted_sets(ctx, &t);
        assert_ok(kn_borders_find(&b, ctx, freq, &o, &err), err);
        assert_same(&b.minimal_violating, &planted, "planted");
        assert_true(b.minimal_complete && b.maximal.count > 0);
        check_maximal(&b.maximal, &planted, t.columns);
        kn_borders_free(&b);
        kn_set_list_free(&planted);
        kn_freq_free(freq);
        wide_table_free(&t);
        testing_context_free(ctx);
    }
}

/* ---- Hitting sets ---- */

static void hitting_sets(void **state)
{
    (void)state;
    kn_rng      rng;
    static bool hits[1 << 12], minimal[1 << 12];
    kn_rng_init(&rng, testing_seed(), 3);
    for (int round = 0; round < testing_rounds(400); round++) {
        kn_context *ctx = testing_context(thread_counts[round % 3]);
        kn_error    err = KN_ERROR_INIT;
        int         columns = 1 + (int)kn_rng_below(&rng, 12), edges = (int)kn_rng_below(&rng, 90);
        kn_set_list family, got;
        kn_set_list_init(&family, ctx, 1);
        kn_set_list_init(&got, ctx, 1);
        uint64_t density = kn_rng_below(&rng, 4);
        for (int e = 0; e < edges; e++) {
            uint64_t set = kn_rng_below(&rng, (uint64_t)1 << columns);
            for (uint64_t i = 0; i < density; i++) set |= kn_rng_below(&rng, (uint64_t)1 << columns);
            if (set == 0 && kn_rng_below(&rng, 20) != 0) continue;
            assert_true(kn_set_list_add(&family, &set));
        }
        for (int mask = 0; mask < 1 << columns; mask++) {
            hits[mask] = true;
            for (int64_t e = 0; e < family.count; e++) hits[mask] = hits[mask] && (family.sets[e] & (uint64_t)mask);
            minimal[mask] = hits[mask];
            for (int c = 0; c < columns; c++)
                if (mask >> c & 1 && hits[mask ^ 1 << c]) minimal[mask] = false;
        }
        kn_dualize_options o = {.max_size = round % 4 == 0 ? (int)kn_rng_below(&rng, 4) : -1, .max_sets = 1 << 20};
        if (round % 4 == 1) o.max_sets = (int64_t)kn_rng_below(&rng, 20);
        bool all = false, larger = false;
        for (int mask = 0; mask < 1 << columns; mask++) {
            bool out = o.max_size >= 0 && minimal[mask] && __builtin_popcount((unsigned)mask) > o.max_size;
            larger |= out;
            if (out) minimal[mask] = false;
        }
        assert_ok(kn_dualize(&got, &all, ctx, &family, columns, &o, &err), err);
        kn_set_list want = to_sets(ctx, minimal, columns);
        int64_t     found = got.count;
        assert_ok(kn_set_list_sort(&got, &err), err);
        assert_int_equal(got.count, found); /* each once */
        if (larger) assert_false(all);
        if (want.count > o.max_sets) {
            assert_false(all);
            assert_int_equal(found, o.max_sets);
            for (int64_t i = 0; i < found; i++) assert_true(minimal[got.sets[i]]);
        } else {
            kn_attribute_sets sets = {1, got.count, got.sets};
            assert_same(&sets, &want, "hitting sets");
            if (o.max_size < 0) assert_true(all);
        }
        kn_set_list_free(&want);
        kn_set_list_free(&got);
        kn_set_list_free(&family);
        testing_context_free(ctx);
    }
}

/* ---- Limits and degenerate tables ---- */

static void expect_one(kn_context *ctx, const int *values, int rows, int columns, int64_t k, bool all_hold)
{
    kn_error           err = KN_ERROR_INIT;
    kn_freq           *freq = freq_of(ctx, values, rows, columns);
    kn_borders_options o = {.k = k};
    kn_borders         b;
    assert_ok(kn_borders_find(&b, ctx, freq, &o, &err), err);
    assert_true(b.complete);
    assert_int_equal(b.maximal.count, all_hold ? 1 : 0);
    assert_int_equal(b.minimal_violating.count, all_hold ? 0 : 1);
    if (all_hold) assert_int_equal(kn_bitset_count(b.maximal.sets, (size_t)b.maximal.words), columns);
    if (!all_hold) assert_int_equal(kn_bitset_count(b.minimal_violating.sets, (size_t)b.minimal_violating.words), 0);
    kn_borders_free(&b);
    kn_freq_free(freq);
}

static void degenerate(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(2);
    static int  equal[20 * 70], distinct[20 * 70];
    for (int i = 0; i < 20 * 70; i++) distinct[i] = i / 70;
    expect_one(ctx, equal, 0, 3, 5, true); /* nobody can be found */
    expect_one(ctx, equal, 1, 3, 1, true);
    expect_one(ctx, equal, 1, 3, 2, false);   /* k > rows: {} violates */
    expect_one(ctx, equal, 20, 70, 20, true); /* all equal */
    expect_one(ctx, equal, 20, 64, 21, false);
    expect_one(ctx, distinct, 20, 70, 1, true); /* k = 1 always holds */
    /* All distinct in every column: each single column violates, only {} holds. */
    kn_error err = KN_ERROR_INIT;
    kn_freq *freq = freq_of(ctx, distinct, 20, 70);
    for (int method = KN_BORDERS_AUTO; method <= KN_BORDERS_ADVANCE; method++) {
        kn_borders_options o = {.k = 2, .method = (kn_borders_method)method};
        kn_borders         b;
        assert_ok(kn_borders_find(&b, ctx, freq, &o, &err), err);
        assert_true(b.complete);
        assert_int_equal(b.minimal_violating.count, 70);
        assert_int_equal(b.maximal.count, 1);
        assert_int_equal(kn_bitset_count(b.maximal.sets, 2), 0);
        kn_borders_free(&b);
    }
    kn_freq_free(freq);
    testing_context_free(ctx);
}

static void refusals(void **state)
{
    (void)state;
    static int                      values[2 * 257];
    kn_context                     *ctx = testing_context(1);
    kn_freq                        *freq = freq_of(ctx, values, 2, 3);
    kn_borders                      b;
    static const kn_borders_options wrong[] = {
        {.k = 0},
        {.k = -1},
        {.k = 2, .budget = -1},
        {.k = 2, .max_size = -1},
        {.k = 2, .time_limit = -1},
        {.k = 2, .max_sets = -1},
        {.k = 2, .budget = 1, .method = KN_BORDERS_WITNESS},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        kn_error err = KN_ERROR_INIT;
        assert_int_equal(kn_borders_find(&b, ctx, freq, &wrong[i], &err), KN_USAGE);
        assert_true(strlen(err.message) > 10);
    }
    kn_freq_free(freq);
    testing_context_free(ctx);
}

/* A table in which nearly every row is a witness of a great many sets. */
static kn_freq *hard_table(kn_context *ctx, int rows, int columns)
{
    kn_rng rng;
    int   *values = malloc((size_t)rows * (size_t)columns * sizeof *values);
    assert_non_null(values);
    kn_rng_init(&rng, 7, 0);
    for (int i = 0; i < rows * columns; i++) values[i] = (int)kn_rng_below(&rng, 3);
    kn_freq *freq = freq_of(ctx, values, rows, columns);
    free(values);
    return freq;
}

static bool holds_by_rollup(const kn_freq *freq, const uint64_t *set, int64_t k)
{
    kn_error  err = KN_ERROR_INIT;
    kn_rollup by[256] = {{false, NULL, 0}};
    kn_freq  *sum = NULL;
    bool      holds = true;
    for (int c = 0; c < freq->layout.columns; c++) by[c].drop = !kn_bitset_test(set, (size_t)c);
    assert_ok(kn_freq_rollup(&sum, freq, by, &err), err);
    for (int64_t i = 0; i < sum->classes; i++) holds = holds && sum->counts[i] >= k;
    kn_freq_free(sum);
    return holds;
}

static void check_proven(const kn_borders *b, const kn_freq *freq, int64_t k)
{
    int columns = freq->layout.columns;
    for (int kind = 0; kind < 2; kind++) {
        const kn_attribute_sets *sets = kind ? &b->maximal : &b->minimal_violating;
        for (int64_t i = 0; i < sets->count && i < 30; i++) {
            uint64_t set[4] = {0};
            memcpy(set, sets->sets + i * sets->words, (size_t)sets->words * sizeof *set);
            assert_int_equal(holds_by_rollup(freq, set, k), kind);
            for (size_t c = 0; c < (size_t)columns; c++) {
                if (kn_bitset_test(set, c) == (kind == 1)) continue;
                set[c / 64] ^= (uint64_t)1 << (c % 64);
                assert_int_equal(holds_by_rollup(freq, set, k), !kind);
                set[c / 64] ^= (uint64_t)1 << (c % 64);
            }
        }
    }
}

/* A time limit: on a busy machine more of it, until something is found. */
static void find_in_time(kn_borders *b, kn_context *ctx, const kn_freq *freq, kn_borders_options *o)
{
    kn_error err = KN_ERROR_INIT;
    for (;; o->time_limit *= 2) {
        assert_ok(kn_borders_find(b, ctx, freq, o, &err), err);
        if (b->maximal.count > 0 || (o->method == KN_BORDERS_WITNESS && b->minimal_violating.count > 0)) break;
        assert_true(o->time_limit < 100);
        kn_borders_free(b);
    }
    assert_false(b->complete);
    assert_string_equal(b->why_partial, "the time limit was reached");
}

static void limits(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(2);
    kn_freq    *freq = hard_table(ctx, 600, 60);
    for (int method = KN_BORDERS_WITNESS; method <= KN_BORDERS_ADVANCE; method++) {
        kn_error           err = KN_ERROR_INIT;
        kn_borders_options o = {.k = 3, .time_limit = 0.5, .max_sets = 1 << 30, .method = (kn_borders_method)method};
        kn_borders         b;
        find_in_time(&b, ctx, freq, &o);
        check_proven(&b, freq, o.k);
        kn_borders_free(&b);
        o.time_limit = 0;
        o.max_sets = 500;
        assert_ok(kn_borders_find(&b, ctx, freq, &o, &err), err);
        assert_false(b.complete);
        assert_string_equal(b.why_partial, "there are more sets than may be listed");
        assert_true(b.minimal_violating.count <= 500 && b.maximal.count <= 500);
        check_proven(&b, freq, o.k);
        kn_borders_free(&b);
    }
    kn_freq_free(freq);
    testing_context_free(ctx);
}

/* Few rows at risk, but each in very many ways: witnesses are tried first and given up. */
static void second_thoughts(void **state)
{
    (void)state;
    enum { ROWS = 6000, COLUMNS = 60, K = 3, SINGLE = 20 };
    kn_rng      rng;
    kn_context *ctx = testing_context(2);
    int        *values = malloc(sizeof *values * ROWS * COLUMNS);
    assert_non_null(values);
    kn_rng_init(&rng, testing_seed(), 5);
    for (int r = 0; r < ROWS; r++)
        for (int c = 0; c < COLUMNS; c++)
            values[r * COLUMNS + c] =
                r < SINGLE || (r - SINGLE) % K == 0 ? (int)kn_rng_below(&rng, 4) : values[(r - 1) * COLUMNS + c];
    kn_freq           *freq = freq_of(ctx, values, ROWS - (ROWS - SINGLE) % K, COLUMNS);
    kn_borders_options o = {.k = K, .time_limit = 1};
    kn_borders         b;
    find_in_time(&b, ctx, freq, &o);
    assert_int_equal(b.method, KN_BORDERS_ADVANCE);
    check_proven(&b, freq, K);
    kn_borders_free(&b);
    kn_freq_free(freq);
    free(values);
    testing_context_free(ctx);
}

/* ---- Cancellation and memory ---- */

static void cancel_soon(void *user, const kn_progress *progress)
{
    if (!progress->finished) kn_context_cancel(*(kn_context **)user);
}

static void cancellation(void **state)
{
    (void)state;
    kn_error           err = KN_ERROR_INIT;
    kn_context        *ctx = NULL;
    kn_context_options options = KN_CONTEXT_OPTIONS_INIT;
    options.threads = 2;
    options.progress = cancel_soon;
    options.progress_user = &ctx;
    assert_ok(kn_context_create(&ctx, &options, &err), err);
    kn_context *quiet = testing_context(1);
    kn_freq    *freq = hard_table(quiet, 600, 60);
    for (int method = KN_BORDERS_WITNESS; method <= KN_BORDERS_ADVANCE; method++) {
        kn_borders_options o = {.k = 3, .max_sets = 1 << 30, .method = (kn_borders_method)method};
        kn_borders         b;
        kn_context_reset_cancel(ctx);
        assert_int_equal(kn_borders_find(&b, ctx, freq, &o, &err), KN_CANCELLED); /* from the progress callback */
        assert_int_equal(kn_borders_find(&b, ctx, freq, &o, &err), KN_CANCELLED); /* from the start */
        assert_null(b.maximal.sets);
    }
    kn_freq_free(freq);
    testing_context_free(quiet);
    testing_context_free(ctx);
}

static void failing_memory(void **state)
{
    (void)state;
    enum { ROWS = 60, COLUMNS = 9 };
    kn_rng      rng;
    static int  values[ROWS * COLUMNS];
    kn_context *quiet = testing_context(1);
    kn_rng_init(&rng, testing_seed(), 4);
    random_values(&rng, values, ROWS, COLUMNS);
    kn_freq *freq = freq_of(quiet, values, ROWS, COLUMNS);
    for (int variant = 0; variant < 4; variant++) {
        int64_t refused = 0;
        for (kn_status st = KN_MEMORY; st != KN_OK; refused += testing_step()) {
            testing_allocator memory = {.refuse_at = refused};
            kn_error          err = KN_ERROR_INIT;
            kn_context       *ctx = NULL;
            st = testing_refusing_context(&ctx, &memory, 1, &err);
            if (st == KN_OK) {
                kn_borders_options o = {.k = 3, .method = variant % 2 ? KN_BORDERS_ADVANCE : KN_BORDERS_WITNESS};
                kn_borders         b;
                if (variant == 2) o.max_size = 2;
                if (variant == 3) o.budget = 5;
                freq->ctx = ctx; /* what is made from it is counted too */
                st = kn_borders_find(&b, ctx, freq, &o, &err);
                freq->ctx = quiet;
                if (st == KN_OK) assert_true(b.minimal_violating.count > 0);
                kn_borders_free(&b);
                kn_context_free(ctx);
            }
            assert_true(st == KN_OK || st == KN_MEMORY);
            assert_int_equal(memory.live, 0);
        }
        assert_true(refused > 20);
    }
    kn_freq_free(freq);
    testing_context_free(quiet);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hitting_sets),  cmocka_unit_test(degenerate),     cmocka_unit_test(small_tables),
        cmocka_unit_test(medium_tables), cmocka_unit_test(planted_tables), cmocka_unit_test(full_size),
        cmocka_unit_test(refusals),      cmocka_unit_test(limits),         cmocka_unit_test(second_thoughts),
        cmocka_unit_test(cancellation),  cmocka_unit_test(failing_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
