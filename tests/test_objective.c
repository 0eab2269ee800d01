/* test_objective.c: metrics prepared for the search: values against a naive twin, the order of losses, and that bounds
 * are bounds.
 * SPDX-License-Identifier: Apache-2.0 */
#include "utility_testing.h"

#include "kn_alloc.h"
#include "kn_marginal.h"
#include "kn_objective.h"

/* The sums of a node with some classes suppressed, as a search would have them. */
static kn_node_sums sums_of(const world *w, const kn_objective *o, const int *levels, const int *class_of, int classes,
                            const bool *suppressed)
{
    kn_node_sums s = {0};
    for (int c = 0; c < classes; c++) {
        int64_t size = 0;
        for (int r = 0; r < w->rows; r++) size += class_of[r] == c;
        *(suppressed[c] ? &s.suppressed : &s.rows) += size;
        *(suppressed[c] ? &s.suppressed_squares : &s.squares) += (kn_u128)(size * size);
        s.classes += !suppressed[c];
    }
    for (int r = 0; r < w->rows && o->cells; r++)
        for (int q = 0; q < w->quasi_count && !suppressed[class_of[r]]; q++)
            s.cells += o->costs[q][(size_t)levels[q] * (o->codes[q] + 1) + kn_table_code(w->table, q, r)];
    return s;
}

static kn_objective *objective_of(kn_context *ctx, const world *w, kn_metric metric, const kn_ratio *weights, int64_t k)
{
    kn_error      err = KN_ERROR_INIT;
    kn_objective *o = NULL;
    assert_ok(kn_objective_make(&o, ctx, w->table, w->quasi, (const kn_hierarchy *const *)w->hierarchies,
                                w->quasi_count, weights, metric, k, &err),
              err);
    return o;
}

/* ---- Values ---- */

static void check_world(kn_context *ctx, const world *w, kn_rng *rng, kn_metric metric)
{
    kn_ratio weights[MOST_QUASI];
    int      k = 1 + (int)kn_rng_below(rng, 5);
    bool     weighted = kn_rng_below(rng, 2);
    random_weights(w, rng, weights);
    kn_objective *o = objective_of(ctx, w, metric, weighted ? weights : NULL, k);
    kn_quotient   last_loss = {0, 0};
    long double   last_value = 0;
    for (int round = 0; round < 6; round++) {
        int  levels[MOST_QUASI], class_of[MOST_ROWS];
        bool suppressed[MOST_ROWS];
        random_levels(w, rng, levels);
        int classes = twin_classes(w, levels, class_of);
        for (int c = 0; c < classes; c++) suppressed[c] = round > 0 && kn_rng_below(rng, 3) == 0;
        kn_node_sums s = sums_of(w, o, levels, class_of, classes, suppressed);
        kn_quotient  loss = kn_objective_loss(o, &s);
        long double  expected =
            twin_metric(w, metric, levels, class_of, classes, suppressed, weighted ? weights : NULL, k);
        assert_near(kn_objective_value(o, loss), expected, "metric");
        if (o->cells && s.suppressed == 0) assert_true(s.cells == kn_objective_cells_of_node(o, levels));
        /* Losses are in the order of the metric. */
        long double better = o->descending ? expected - last_value : last_value - expected;
        if (round > 0 && isfinite((double)better) && fabsl(better) > 1e-12L * (1 + fabsl(expected)))
            assert_true(better > 0 ? kn_quotient_compare(loss, last_loss) < 0
                                   : kn_quotient_compare(loss, last_loss) > 0);
        last_loss = loss;
        last_value = expected;
    }
    kn_objective_free(o);
}

static void values_agree_with_the_twin(void **state)
{
    (void)state;
    kn_rng      rng;
    kn_context *ctx = testing_context(2);
    kn_rng_init(&rng, testing_seed(), 0);
    for (int round = 0; round < testing_rounds(2000); round++) {
        world w;
        world_make(&w, ctx, &rng);
        for (kn_metric metric = 0; metric < KN_METRICS; metric++) check_world(ctx, &w, &rng, metric);
        world_free(&w);
    }
    testing_context_free(ctx);
}

/* ---- Bounds ---- */

typedef struct node_classes {
    int     levels[MOST_QUASI];
    int     class_of[MOST_ROWS];
    int     classes;
    kn_u128 squares;
} node_classes;

static node_classes classes_at(const world *w, const int *levels)
{
    node_classes n;
    memcpy(n.levels, levels, sizeof n.levels);
    n.classes = twin_classes(w, levels, n.class_of);
    n.squares = 0;
    for (int c = 0; c < n.classes; c++) {
        unsigned size = 0;
        for (int r = 0; r < w->rows; r++) size += n.class_of[r] == c;
        n.squares += (kn_u128)size * size;
    }
    return n;
}

/* Raises some levels at random. */
static void raise_levels(const world *w, kn_rng *rng, int *levels)
{
    for (int q = 0; q < w->quasi_count; q++)
        levels[q] += (int)kn_rng_below(rng, (uint64_t)(w->trees[q].height - levels[q]) + 1);
}

/* Every set of classes within the budget, where there are few; otherwise random ones. */
static bool choose_suppressed(const world *w, kn_rng *rng, const node_classes *n, int64_t budget, int round, bool *out)
{
    int64_t rows = 0;
    for (int c = 0; c < n->classes; c++) {
        out[c] = n->classes <= 6 ? (round >> c & 1) : kn_rng_below(rng, 4) == 0;
        for (int r = 0; r < w->rows; r++) rows += out[c] && n->class_of[r] == c;
    }
    return rows <= budget;
}

static void check_bounds(kn_context *ctx, const world *w, kn_rng *rng, kn_metric metric)
{
    kn_ratio weights[MOST_QUASI];
    random_weights(w, rng, weights);
    kn_objective *o = objective_of(ctx, w, metric, weights, 1 + (int64_t)kn_rng_below(rng, 5));
    int           levels[MOST_QUASI] = {0};
    random_levels(w, rng, levels);
    node_classes low = classes_at(w, levels); /* whose sizes are known */
    raise_levels(w, rng, levels);
    node_classes node = classes_at(w, levels); /* whose bound is asked for */
    raise_levels(w, rng, levels);
    node_classes above = classes_at(w, levels);
    int64_t      budget = (int64_t)kn_rng_below(rng, (uint64_t)w->rows + 1);
    kn_quotient  from_node = kn_objective_bound(o, node.levels, node.squares, node.classes, budget);
    kn_quotient  from_low = kn_objective_bound(o, node.levels, low.squares, low.classes, budget);
    assert_true(kn_quotient_compare(from_low, from_node) <= 0);
    for (int round = 0; round < testing_rounds(64); round++) {
        bool suppressed[MOST_ROWS];
        if (!choose_suppressed(w, rng, &above, budget, round, suppressed)) continue;
        kn_node_sums s = sums_of(w, o, above.levels, above.class_of, above.classes, suppressed);
        assert_true(kn_quotient_compare(from_node, kn_objective_loss(o, &s)) <= 0);
    }
    kn_objective_free(o);
}

static void bounds_are_below_every_loss(void **state)
{
    (void)state;
    kn_rng      rng;
    kn_context *ctx = testing_context(1);
    kn_rng_init(&rng, testing_seed(), 1);
    for (int round = 0; round < testing_rounds(2000); round++) {
        world w;
        world_make(&w, ctx, &rng);
        for (kn_metric metric = 0; metric < KN_METRICS; metric++) check_bounds(ctx, &w, &rng, metric);
        world_free(&w);
    }
    testing_context_free(ctx);
}

/* ---- Particular cases ---- */

static void exact_where_it_fits(void **state)
{
    (void)state;
    kn_context       *ctx = testing_context(1);
    const char *const names[] = {"a", "b"}, *const cells[] = {"1", "x", "2", "y", "3", "z", "1", "x"};
    kn_table     *t = NULL;
    kn_error      err = KN_ERROR_INIT;
    const kn_type types[] = {KN_TYPE_INTEGER, KN_TYPE_TEXT};
    assert_ok(make_table(&t, ctx, names, 2, cells, 4, types, &err), err);
    kn_hierarchy *h[] = {hierarchy_of(ctx, "1;low;*\n2;low;*\n3;high;*\n4;high;*\n", t, 0),
                         hierarchy_of(ctx, "x;*\ny;*\nz;*\n", t, 1)};
    const int     quasi[] = {0, 1};
    kn_ratio      weights[] = {{1, 2}, {3, 4}};
    kn_objective *o = NULL;
    assert_ok(kn_objective_make(&o, ctx, t, quasi, (const kn_hierarchy *const *)h, 2, weights, KN_METRIC_LM, 2, &err),
              err);
    /* Denominator 6 of thirds and halves, weights 2 : 3. */
    assert_int_equal(o->star[0], 12);
    assert_int_equal(o->star[1], 18);
    assert_int_equal(o->costs[0][1 * 4 + 0], 4); /* low: 1 of 3 */
    assert_int_equal(o->costs[0][2 * 4 + 0], 12);
    assert_int_equal((uint64_t)o->totals[0][1], 16);
    assert_int_equal((uint64_t)o->totals[1][1], 72);
    kn_objective_free(o);
    weights[0].numerator = weights[1].numerator = 0;
    assert_int_equal(
        kn_objective_make(&o, ctx, t, quasi, (const kn_hierarchy *const *)h, 2, weights, KN_METRIC_LM, 2, &err),
        KN_USAGE);
    kn_hierarchy_free(h[0]);
    kn_hierarchy_free(h[1]);
    kn_table_free(t);
    testing_context_free(ctx);
}

/* One leaf: nothing to tell apart, nothing to lose, except by suppression. */
static void a_single_leaf_costs_nothing(void **state)
{
    (void)state;
    kn_context       *ctx = testing_context(1);
    const char *const names[] = {"a"}, *const cells[] = {"x", NULL};
    kn_table *t = NULL;
    kn_error  err = KN_ERROR_INIT;
    assert_ok(make_table(&t, ctx, names, 1, cells, 2, NULL, &err), err);
    const kn_hierarchy *h = hierarchy_of(ctx, "x;*\n", t, 0);
    const int           quasi = 0;
    const kn_metric     metrics[] = {KN_METRIC_LM, KN_METRIC_NCP};
    for (int i = 0; i < 2; i++) {
        kn_objective *o = NULL;
        assert_ok(kn_objective_make(&o, ctx, t, &quasi, &h, 1, NULL, metrics[i], 2, &err), err);
        kn_node_sums root = {.rows = 2, .classes = 1, .squares = 4, .cells = o->totals[0][1]};
        kn_node_sums none = {.suppressed = 2, .suppressed_squares = 4};
        assert_true(kn_objective_value(o, kn_objective_loss(o, &root)) == 0);
        assert_true(kn_objective_value(o, kn_objective_loss(o, &none)) == 1);
        kn_objective_free(o);
    }
    kn_hierarchy_free((kn_hierarchy *)h);
    kn_table_free(t);
    testing_context_free(ctx);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    kn_context *plain = testing_context(1);
    kn_rng      rng;
    world       w;
    kn_rng_init(&rng, 7, 0);
    do world_make(&w, plain, &rng);
    while (w.rows == 0 && (world_free(&w), true));
    kn_status st = KN_MEMORY;
    for (int64_t at = 0; st != KN_OK; at++) {
        testing_allocator memory = {.refuse_at = at};
        kn_context       *ctx = NULL;
        kn_objective     *o = NULL;
        kn_error          err = KN_ERROR_INIT;
        st = testing_refusing_context(&ctx, &memory, 1, &err);
        if (st == KN_OK)
            st = kn_objective_make(&o, ctx, w.table, w.quasi, (const kn_hierarchy *const *)w.hierarchies, w.quasi_count,
                                   NULL, KN_METRIC_ENTROPY, 2, &err);
        if (st != KN_OK) assert_int_equal(st, KN_MEMORY);
        kn_objective_free(o);
        kn_context_free(ctx);
        assert_int_equal(memory.live, 0);
    }
    world_free(&w);
    testing_context_free(plain);
}

/* ---- Values of several columns, counted on all threads ---- */

/* One column of each width; the last has more values than are counted by pieces. */
static void marginals_are_those_of_the_twin(void **state)
{
    enum { ROWS = 300000, COLUMNS = 4 };
    static const uint32_t values[COLUMNS] = {7, 2000, 1, 5000};
    static const int      widths[COLUMNS] = {1, 2, 4, 4}, chosen[] = {3, 0, 2, 1};
    (void)state;
    for (int round = 0; round < 6; round++) {
        kn_context *ctx = testing_context(round % 3 + 1);
        kn_rng      rng;
        kn_column   columns[COLUMNS] = {0};
        int64_t    *weights = kn_alloc_array(ctx, ROWS, sizeof *weights), counts[5001], twin[5001];
        kn_table    table = {.ctx = ctx, .columns = columns, .column_count = COLUMNS, .rows = round == 2 ? 1000 : ROWS};
        kn_rng_init(&rng, testing_seed(), (uint64_t)round);
        for (int i = 0; i < ROWS; i++) weights[i] = (int64_t)kn_rng_below(&rng, 4);
        if (round > 3) table.counts = weights;
        for (int c = 0; c < COLUMNS; c++) {
            char *codes = kn_alloc_array(ctx, ROWS, (size_t)widths[c]);
            for (int i = 0; i < ROWS; i++) {
                uint64_t code = kn_rng_below(&rng, values[c] + 1); /* the last one: missing */
                memcpy(codes + (size_t)i * (size_t)widths[c], &code, (size_t)widths[c]);
            }
            columns[c].width = widths[c];
            columns[c].codes = codes;
            columns[c].dict.count = values[c];
        }
        kn_error      err = KN_ERROR_INIT;
        kn_marginals *marginals = NULL;
        assert_ok(kn_marginals_make(&marginals, ctx, &table, chosen, COLUMNS, &err), err);
        for (int i = 0; i < COLUMNS; i++) {
            for (int v = 0; v <= 5000; v++) counts[v] = twin[v] = v;
            kn_marginals_add(counts, marginals, i);
            kn_marginal_count(twin, &table, chosen[i]);
            assert_memory_equal(counts, twin, sizeof counts);
        }
        kn_marginals_free(marginals);
        for (int c = 0; c < COLUMNS; c++) kn_free(columns[c].codes);
        kn_free(weights);
        testing_context_free(ctx);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_agree_with_the_twin), cmocka_unit_test(bounds_are_below_every_loss),
        cmocka_unit_test(exact_where_it_fits),        cmocka_unit_test(a_single_leaf_costs_nothing),
        cmocka_unit_test(every_allocation_may_fail),  cmocka_unit_test(marginals_are_those_of_the_twin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
