/* test_group.c: the group-by kernel against a naive count, on random tables of 1 to 40 columns; every path, 1, 2 and 8
 * threads, a hash that always collides; roll-up, fold, persons, weights, histograms, class sizes.
 * SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_builder.h"
#include "kn_freq.h"
#include "kn_rng.h"

enum { MOST_COLUMNS = 40 };

/* A random table kept twice: as kanon's, and as plain numbers (-1: missing). */
typedef struct sample {
    int       columns;
    int       rows;
    int      *values; /* rows × columns */
    kn_table *table;
} sample;

static void sample_free(sample *s)
{
    kn_table_free(s->table);
    free(s->values);
}

static kn_table *build(kn_context *ctx, const int *values, int rows, int columns)
{
    kn_error  err = KN_ERROR_INIT;
    kn_string names[MOST_COLUMNS] = {{NULL, 0}};
    char      name_text[MOST_COLUMNS][16];
    for (int c = 0; c < columns; c++) {
        snprintf(name_text[c], sizeof name_text[c], "c%d", c);
        names[c] = kn_string_of(name_text[c]);
    }
    kn_builder *b = NULL;
    assert_ok(kn_builder_create(&b, ctx, names, columns, 1, &err), err);
    uint32_t *all = malloc(((size_t)rows + 1) * (size_t)columns * sizeof *all);
    assert_non_null(all);
    for (int c = 0; c < columns; c++) {
        for (int r = 0; r < rows; r++) {
            char text[16];
            int  v = values[r * columns + c];
            snprintf(text, sizeof text, "%d", v);
            all[c * rows + r] = v < 0 ? KN_ID_MISSING : kn_intern(kn_builder_interner(b, c, 0), kn_string_of(text));
        }
    }
    int64_t first = 0;
    assert_ok(kn_builder_extend(b, rows, 0, &first, &err), err);
    for (int c = 0; c < columns; c++) kn_builder_write(b, c, first, all + c * rows, rows);
    free(all);
    kn_table *table = NULL;
    assert_ok(kn_builder_finish(&table, b, NULL, NULL, &err), err);
    const char *reason = NULL;
    if (!kn_table_validate(table, &reason)) fail_msg("%s", reason);
    return table;
}

/* Values are drawn with a skew, so that classes of all sizes occur. */
static sample sample_make(kn_context *ctx, kn_rng *rng, int columns, int rows, uint64_t most_values)
{
    sample s = {.columns = columns, .rows = rows, .values = malloc(((size_t)rows + 1) * (size_t)columns * sizeof(int))};
    assert_non_null(s.values);
    for (int c = 0; c < columns; c++) {
        uint64_t cardinality = 1 + kn_rng_below(rng, most_values);
        bool     missing = kn_rng_below(rng, 4) == 0;
        for (int r = 0; r < rows; r++) {
            uint64_t v = kn_rng_below(rng, 1 + kn_rng_below(rng, cardinality));
            s.values[r * columns + c] = missing && kn_rng_below(rng, 10) == 0 ? -1 : (int)v;
        }
    }
    s.table = build(ctx, s.values, rows, columns);
    return s;
}

/* ---- The naive twin: sort whole rows of plain numbers, count runs ---- */

typedef struct twin {
    int  classes;
    int *values; /* classes × width, in ascending order, missing last */
    int *counts;
} twin;

static int twin_width;

static int compare_rows(const void *a, const void *b)
{
    const int *x = *(const int *const *)a, *y = *(const int *const *)b;
    for (int i = 0; i < twin_width; i++) {
        unsigned u = (unsigned)x[i], v = (unsigned)y[i]; /* -1, missing, becomes the largest */
        if (u != v) return u < v ? -1 : 1;
    }
    return 0;
}

static twin twin_count(const sample *s, const int *columns, int width)
{
    int  *projected = malloc(((size_t)s->rows + 1) * (size_t)width * sizeof *projected);
    int **rows = malloc(((size_t)s->rows + 1) * sizeof *rows);
    twin  t = {0, malloc(((size_t)s->rows + 1) * (size_t)width * sizeof(int)),
               malloc(((size_t)s->rows + 1) * sizeof(int))};
    assert_true(projected && rows && t.values && t.counts);
    for (int r = 0; r < s->rows; r++) {
        rows[r] = projected + r * width;
        for (int c = 0; c < width; c++) rows[r][c] = s->values[r * s->columns + columns[c]];
    }
    twin_width = width;
    qsort(rows, (size_t)s->rows, sizeof *rows, compare_rows);
    for (int r = 0; r < s->rows; r++) {
        if (r == 0 || compare_rows(&rows[r - 1], &rows[r]) != 0) {
            memcpy(t.values + t.classes * width, rows[r], (size_t)width * sizeof(int));
            t.counts[t.classes++] = 0;
        }
        t.counts[t.classes - 1]++;
    }
    free(projected);
    free(rows);
    return t;
}

static void twin_free(twin *t)
{
    free(t->values);
    free(t->counts);
}

static int value_of(const kn_table *table, int column, uint32_t code)
{
    const kn_dictionary *dict = &table->columns[column].dict;
    return code == dict->count ? -1 : (int)dict->integers[code];
}

static void assert_same(const kn_freq *freq, const twin *t, const sample *s, const int *columns, int width)
{
    const char *reason = NULL;
    if (!kn_freq_validate(freq, &reason)) fail_msg("%s", reason);
    assert_int_equal(freq->classes, t->classes);
    assert_int_equal(freq->rows, s->rows);
    for (int64_t i = 0; i < freq->classes; i++) {
        assert_int_equal(freq->counts[i], t->counts[i]);
        for (int c = 0; c < width; c++)
            assert_int_equal(value_of(s->table, columns[c], kn_freq_code(freq, i, c)), t->values[i * width + c]);
    }
}

static uint64_t always_zero(const uint64_t *key, int words)
{
    (void)key;
    (void)words;
    return 0;
}

static int choose_columns(kn_rng *rng, int columns, int *out)
{
    int n = 0;
    for (int c = 0; c < columns; c++)
        if (columns == 1 || kn_rng_below(rng, 3) > 0) out[n++] = c;
    if (n == 0) out[n++] = 0;
    for (int i = n - 1; i > 0; i--) { /* in any order */
        int j = (int)kn_rng_below(rng, (uint64_t)i + 1), swap = out[i];
        out[i] = out[j];
        out[j] = swap;
    }
    return n;
}

static void every_path_equals_a_naive_count(void **state)
{
    (void)state;
    kn_rng rng;
    kn_rng_init(&rng, testing_seed(), 1);
    static const int thread_counts[] = {1, 2, 8};
    for (int round = 0; round < testing_rounds(120); round++) {
        kn_context *build_ctx = testing_context(1);
        int         columns = 1 + (int)kn_rng_below(&rng, MOST_COLUMNS), chosen[MOST_COLUMNS];
        int         rows = (int)kn_rng_below(&rng, round % 10 == 0 ? 3000 : 400);
        sample      s = sample_make(build_ctx, &rng, columns, rows, round % 3 == 0 ? 2000 : 6);
        int         width = choose_columns(&rng, columns, chosen);
        twin        t = twin_count(&s, chosen, width);
        for (int i = 0; i < 3; i++) {
            kn_context *ctx = testing_context(thread_counts[i]);
            for (int path = KN_GROUP_AUTO; path <= KN_GROUP_SPREAD; path++) {
                for (int how = 0; how < 3; how++) {
                    kn_group_options options = {
                        .hash = how == 1 ? always_zero : NULL, .path = (kn_group_path)path, .plain = how == 2};
                    kn_error err = KN_ERROR_INIT;
                    kn_freq *freq = NULL;
                    assert_ok(kn_freq_of_table_with(&freq, ctx, s.table, chosen, width, &options, &err), err);
                    assert_same(freq, &t, &s, chosen, width);
                    kn_freq_free(freq);
                }
            }
            testing_context_free(ctx);
        }
        twin_free(&t);
        sample_free(&s);
        testing_context_free(build_ctx);
    }
}

static void many_rows_on_many_threads(void **state)
{
    (void)state;
    kn_rng rng;
    kn_rng_init(&rng, testing_seed(), 2);
    static const int thread_counts[] = {1, 2, 8};
    for (int round = 0; round < 4; round++) {
        kn_context *build_ctx = testing_context(2);
        /* few, many and very many classes; the last with keys of several words */
        static const int widths[] = {2, 4, 5, 12};
        sample           s = sample_make(build_ctx, &rng, widths[round], TESTING_SANITIZED ? 100000 : 300000,
                               round == 0   ? 20
                                         : round == 1 ? 60
                                                      : 3000);
        int              all[MOST_COLUMNS];
        for (int c = 0; c < s.columns; c++) all[c] = c;
        twin t = twin_count(&s, all, s.columns);
        for (int i = 0; i < 3; i++) {
            kn_context *ctx = testing_context(thread_counts[i]);
            kn_error    err = KN_ERROR_INIT;
            kn_freq    *freq = NULL;
            for (int path = KN_GROUP_BUCKETS; path <= KN_GROUP_SPREAD; path++) {
                kn_group_options how = {.path = (kn_group_path)path, .plain = thread_counts[i] == 2};
                assert_ok(kn_freq_of_table_with(&freq, ctx, s.table, all, s.columns, &how, &err), err);
                assert_same(freq, &t, &s, all, s.columns);
                kn_freq_free(freq);
            }
            assert_ok(kn_freq_of_table(&freq, ctx, s.table, all, s.columns, &err), err);
            assert_same(freq, &t, &s, all, s.columns);
            int64_t classes[5000];
            assert_ok(kn_freq_classify(freq, s.table, all, 1234, 5000, classes, &err), err);
            for (int r = 0; r < 5000; r++)
                for (int c = 0; c < s.columns; c++)
                    assert_int_equal(kn_freq_code(freq, classes[r], c), kn_table_code(s.table, c, 1234 + r));
            kn_freq_free(freq);
            testing_context_free(ctx);
        }
        twin_free(&t);
        sample_free(&s);
        testing_context_free(build_ctx);
    }
}

static void rolling_up_equals_counting_again(void **state)
{
    (void)state;
    kn_rng rng;
    kn_rng_init(&rng, testing_seed(), 3);
    for (int round = 0; round < testing_rounds(100); round++) {
        kn_context *ctx = testing_context(1 + round % 2);
        kn_error    err = KN_ERROR_INIT;
        int         columns = 1 + (int)kn_rng_below(&rng, 12), all[MOST_COLUMNS], kept[MOST_COLUMNS], kept_count = 0;
        sample      s = sample_make(ctx, &rng, columns, (int)kn_rng_below(&rng, 500), 40);
        kn_rollup   by[MOST_COLUMNS] = {{0}};
        uint32_t   *maps[MOST_COLUMNS] = {NULL};
        sample      coarse = {.columns = columns, .rows = s.rows};
        coarse.values = malloc(((size_t)s.rows + 1) * (size_t)columns * sizeof(int));
        assert_non_null(coarse.values);
        memcpy(coarse.values, s.values, (size_t)s.rows * (size_t)columns * sizeof(int));
        for (int c = 0; c < columns; c++) {
            all[c] = c;
            by[c].drop = kn_rng_below(&rng, 3) == 0;
            if (!by[c].drop) kept[kept_count++] = c;
            if (by[c].drop || kn_rng_below(&rng, 2)) continue;
            /* a map: codes → codes / 3, "missing" with its neighbours, as any other code */
            uint32_t cardinality = kn_column_cardinality(&s.table->columns[c]);
            maps[c] = malloc(((size_t)cardinality + 1) * sizeof **maps);
            assert_non_null(maps[c]);
            for (uint32_t code = 0; code < cardinality; code++) maps[c][code] = code / 3;
            by[c].map = maps[c];
            by[c].distinct = cardinality / 3 + 1;
            for (int r = 0; r < s.rows; r++)
                coarse.values[r * columns + c] = (int)maps[c][kn_table_code(s.table, c, r)];
        }
        kn_freq *fine = NULL, *up = NULL;
        assert_ok(kn_freq_of_table(&fine, ctx, s.table, all, columns, &err), err);
        assert_ok(kn_freq_rollup(&up, fine, by, &err), err);
        const char *reason = NULL;
        if (!kn_freq_validate(up, &reason)) fail_msg("%s", reason);
        twin t = twin_count(&coarse, kept, kept_count);
        assert_int_equal(up->classes, kept_count == 0 ? s.rows > 0 : t.classes);
        for (int64_t i = 0; i < up->classes && kept_count > 0; i++) {
            assert_int_equal(up->counts[i], t.counts[i]);
            for (int c = 0; c < kept_count; c++) {
                uint32_t code = kn_freq_code(up, i, c);
                int      value = by[kept[c]].map ? (int)code : value_of(s.table, kept[c], code);
                assert_int_equal(value, t.values[i * kept_count + c]);
            }
        }
        kn_freq *loose = NULL; /* the same classes in any order */
        assert_ok(kn_freq_rollup_unsorted(&loose, fine, by, &err), err);
        assert_int_equal(loose->classes, up->classes);
        assert_int_equal(loose->rows, up->rows);
        for (int64_t i = 0; i < loose->classes; i++) {
            int64_t at = kn_freq_find(up, loose->keys + i * loose->layout.words);
            assert_true(at >= 0);
            assert_int_equal(loose->counts[i], up->counts[at]);
        }
        kn_freq_free(loose);
        twin_free(&t);
        for (int c = 0; c < columns; c++) free(maps[c]);
        kn_freq_free(fine);
        kn_freq_free(up);
        free(coarse.values);
        sample_free(&s);
        testing_context_free(ctx);
    }
}

/* Persons, weights and histograms of one class, counted row by row. */
static void check_class(const sample *s, const kn_freq *freq, int64_t i, const int *chosen, int width, int extra,
                        int64_t persons, double weight, const kn_class_histograms *h)
{
    int  distinct = 0, rows = 0;
    long sum = 0;
    int *seen = calloc(4096, sizeof *seen);
    assert_non_null(seen);
    for (int r = 0; r < s->rows; r++) {
        bool inside = true;
        for (int c = 0; c < width && inside; c++)
            inside = kn_table_code(s->table, chosen[c], r) == kn_freq_code(freq, i, c);
        if (!inside) continue;
        rows++;
        int v = s->values[r * s->columns + extra];
        if (seen[v + 1]++ == 0) distinct++;
        if (v >= 0) sum += v;
    }
    assert_int_equal(freq->counts[i], rows);
    assert_int_equal(persons, distinct);
    assert_true(weight == (double)sum);
    assert_int_equal(h->starts[i + 1] - h->starts[i], distinct);
    for (int64_t j = h->starts[i]; j < h->starts[i + 1]; j++) {
        assert_int_equal(h->counts[j], seen[value_of(s->table, extra, h->codes[j]) + 1]);
        if (j > h->starts[i]) assert_true(h->codes[j] > h->codes[j - 1]);
    }
    free(seen);
}

static void persons_weights_and_histograms(void **state)
{
    (void)state;
    kn_rng rng;
    kn_rng_init(&rng, testing_seed(), 4);
    for (int round = 0; round < testing_rounds(60); round++) {
        kn_context *ctx = testing_context(1 + round % 3);
        kn_error    err = KN_ERROR_INIT;
        int         columns = 2 + (int)kn_rng_below(&rng, 5), chosen[MOST_COLUMNS];
        sample      s = sample_make(ctx, &rng, columns, 1 + (int)kn_rng_below(&rng, 200), 5);
        int         extra = columns - 1, width = 1 + (int)kn_rng_below(&rng, (uint64_t)columns - 1);
        for (int c = 0; c < width; c++) chosen[c] = c;
        kn_freq            *a = NULL, *b = NULL, *c = NULL;
        int64_t            *persons = NULL;
        double             *weights = NULL;
        kn_class_histograms h;
        assert_ok(kn_freq_distinct(&a, &persons, ctx, s.table, chosen, width, extra, &err), err);
        assert_ok(kn_freq_histograms(&c, &h, ctx, s.table, chosen, width, extra, &err), err);
        if (kn_table_type(s.table, extra) == KN_TYPE_INTEGER) {
            assert_ok(kn_freq_weights(&b, &weights, ctx, s.table, chosen, width, extra, &err), err);
            for (int64_t i = 0; i < a->classes; i++)
                check_class(&s, a, i, chosen, width, extra, persons[i], weights[i], &h);
        } else {
            assert_int_equal(kn_freq_weights(&b, &weights, ctx, s.table, chosen, width, extra, &err), KN_INPUT);
        }
        kn_freq_free(a);
        kn_freq_free(b);
        kn_freq_free(c);
        kn_free(persons);
        kn_free(weights);
        kn_class_histograms_free(&h);
        sample_free(&s);
        testing_context_free(ctx);
    }
}

static void class_sizes_are_counted(void **state)
{
    (void)state;
    kn_rng rng;
    kn_rng_init(&rng, testing_seed(), 5);
    kn_context *ctx = testing_context(2);
    for (int round = 0; round < testing_rounds(50); round++) {
        int64_t  n = (int64_t)kn_rng_below(&rng, 3000);
        int64_t *sizes = malloc(((size_t)n + 1) * sizeof *sizes), *rows = malloc(((size_t)n + 1) * sizeof *rows);
        assert_true(sizes && rows);
        for (int64_t i = 0; i < n; i++) {
            sizes[i] = 1 + (int64_t)kn_rng_below(&rng, kn_rng_below(&rng, 3) ? 20 : 9000);
            rows[i] = sizes[i] + (int64_t)kn_rng_below(&rng, 3);
        }
        kn_error          err = KN_ERROR_INIT;
        kn_size_histogram h;
        assert_ok(kn_size_histogram_make(&h, ctx, sizes, rows, n, &err), err);
        int64_t classes = 0;
        for (int64_t i = 0; i < h.count; i++) {
            int64_t count = 0, sum = 0;
            for (int64_t j = 0; j < n; j++) {
                if (sizes[j] != h.sizes[i]) continue;
                count++;
                sum += rows[j];
            }
            assert_int_equal(h.classes[i], count);
            assert_int_equal(h.rows[i], sum);
            assert_true(count > 0 && (i == 0 || h.sizes[i] > h.sizes[i - 1]));
            classes += count;
        }
        assert_int_equal(classes, n);
        kn_size_histogram_free(&h);
        free(sizes);
        free(rows);
    }
    testing_context_free(ctx);
}

static void a_refused_allocation_frees_all_others(void **state)
{
    (void)state;
    kn_rng      rng;
    kn_context *build_ctx = testing_context(1);
    kn_rng_init(&rng, testing_seed(), 6);
    sample s = sample_make(build_ctx, &rng, 4, 2000, 300);
    int    all[] = {0, 1, 2, 3};
    for (int path = KN_GROUP_SINGLE; path <= KN_GROUP_SPREAD; path++) {
        for (int64_t refuse = 1;; refuse += testing_step()) {
            testing_allocator counts = {.refuse_at = refuse};
            kn_context       *ctx = NULL;
            kn_error          err = KN_ERROR_INIT;
            assert_ok(testing_refusing_context(&ctx, &counts, 1, &err), err);
            kn_freq         *freq = NULL;
            kn_group_options how = {.path = (kn_group_path)path};
            kn_status        st = kn_freq_of_table_with(&freq, ctx, s.table, all, 4, &how, &err);
            kn_freq_free(freq);
            kn_context_free(ctx);
            assert_int_equal(counts.live, 0);
            if (st == KN_OK) break;
            assert_int_equal(st, KN_MEMORY);
            if (path >= KN_GROUP_BUCKETS && refuse > 40) refuse += 17; /* 256 tables, all alike */
        }
    }
    sample_free(&s);
    testing_context_free(build_ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_path_equals_a_naive_count),  cmocka_unit_test(many_rows_on_many_threads),
        cmocka_unit_test(rolling_up_equals_counting_again), cmocka_unit_test(persons_weights_and_histograms),
        cmocka_unit_test(class_sizes_are_counted),          cmocka_unit_test(a_refused_allocation_frees_all_others),
    };
    return cmocka_run_group_tests_name("group", tests, NULL, NULL);
}
