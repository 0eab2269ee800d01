/* test_evaluate.c: numbers of lattice nodes, and classes of nodes: scanned, rolled up and projected, judged for every model
 * against a judge that compares rows one by one; plans.
 * SPDX-License-Identifier: Apache-2.0 */
#include "lattice_testing.h"

#include "kn_alloc.h"
#include "kn_evaluate.h"
#include "kn_lattice.h"

/* ---- Nodes ---- */

static int height_of(const int *levels, int count)
{
    int height = 0;
    for (int q = 0; q < count; q++) height += levels[q];
    return height;
}

static void nodes_are_numbered_in_order(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(1);
    kn_error    err = KN_ERROR_INIT;
    kn_rng      rng;
    kn_rng_init(&rng, testing_seed(), 0);
    for (int round = 0; round < testing_rounds(200); round++) {
        int        heights[5], quasi = 1 + pick(&rng, 5), before[5] = {-1}, levels[5], again[5];
        kn_lattice l;
        int64_t    count = 1, *starts = NULL;
        uint32_t  *nodes = NULL;
        for (int q = 0; q < quasi; q++) count *= 1 + (heights[q] = pick(&rng, 4));
        assert_ok(kn_lattice_make(&l, ctx, heights, quasi, &err), err);
        assert_int_equal(l.count, count);
        assert_true(l.nodes == (double)count);
        assert_int_equal(l.height, height_of(heights, quasi));
        for (int64_t node = 0; node < count; node++) {
            kn_lattice_levels(&l, node, levels);
            assert_true(kn_levels_compare(before, levels, quasi) < 0);
            assert_true(kn_levels_below(levels, heights, quasi));
            assert_int_equal(kn_lattice_node(&l, levels), node);
            for (int q = 0; q < quasi; q++) {
                int64_t up = kn_lattice_up(&l, node, q), down = kn_lattice_down(&l, node, q);
                assert_int_equal(kn_lattice_level(&l, node, q), levels[q]);
                assert_int_equal(up < 0, levels[q] == heights[q]);
                assert_int_equal(down < 0, levels[q] == 0);
                if (up >= 0) assert_int_equal(kn_lattice_down(&l, up, q), node);
            }
            memcpy(before, levels, sizeof before);
        }
        /* By height: from the list and by walking. */
        assert_ok(kn_lattice_by_height(&l, &starts, &nodes, &err), err);
        assert_int_equal(starts[l.height + 1], count);
        for (int h = 0; h <= l.height; h++) {
            bool more = kn_lattice_first(&l, h, levels);
            for (int64_t i = starts[h]; i < starts[h + 1]; i++) {
                assert_true(more);
                assert_int_equal(nodes[i], kn_lattice_node(&l, levels));
                assert_int_equal(height_of(levels, quasi), h);
                if (i > starts[h]) assert_true(nodes[i - 1] < nodes[i]);
                memcpy(again, levels, sizeof again);
                more = kn_lattice_next(&l, levels);
            }
            assert_false(more);
            assert_memory_equal(again, levels, (size_t)quasi * sizeof *levels);
        }
        assert_false(kn_lattice_first(&l, l.height + 1, levels));
        assert_false(kn_lattice_first(&l, -1, levels));
        kn_free(starts);
        kn_free(nodes);
        kn_lattice_free(&l);
    }
    testing_context_free(ctx);
}

static void large_lattices_have_no_numbers(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(1);
    kn_error    err = KN_ERROR_INIT;
    kn_lattice  l;
    int         heights[100], levels[100];
    for (int q = 0; q < 100; q++) heights[q] = 255;
    assert_ok(kn_lattice_make(&l, ctx, heights, 100, &err), err);
    assert_int_equal(l.count, -1);
    assert_true(l.nodes > 1e240 && l.nodes < 1e241);
    assert_true(kn_lattice_first(&l, 300, levels));
    assert_int_equal(levels[99], 255);
    assert_int_equal(levels[98], 45);
    assert_true(kn_lattice_next(&l, levels));
    assert_int_equal(levels[99], 254);
    assert_int_equal(levels[98], 46);
    kn_lattice_free(&l);
    heights[0] = KN_LATTICE_MAX - 1;
    assert_ok(kn_lattice_make(&l, ctx, heights, 1, &err), err);
    assert_int_equal(l.count, KN_LATTICE_MAX);
    kn_lattice_free(&l);
    heights[0] = KN_LATTICE_MAX;
    assert_ok(kn_lattice_make(&l, ctx, heights, 1, &err), err);
    assert_int_equal(l.count, -1);
    kn_lattice_free(&l);
    testing_context_free(ctx);
}

/* ---- Classes ---- */

static void check_verdict(const world *w, const kn_verdict *v, const verdict *naive, uint64_t attributes)
{
    bool all = attributes == ((uint64_t)1 << w->quasi_count) - 1;
    assert_int_equal(v->good, naive->good);
    if (!monotone(w)) assert_int_equal(v->possible, naive->possible);
    if (naive->good) assert_true(v->possible);
    assert_int_equal(v->sums.rows, naive->sums.rows);
    assert_int_equal(v->sums.suppressed, naive->sums.suppressed);
    assert_int_equal(v->sums.classes, naive->sums.classes);
    assert_true(v->sums.squares == naive->sums.squares);
    assert_true(v->sums.suppressed_squares == naive->sums.suppressed_squares);
    assert_int_equal(v->average_suppressed, naive->average_suppressed);
    if (all && v->good) assert_true(v->sums.cells == naive->sums.cells);
}

static void judge_and_check(const kn_evaluator *e, world *w, const kn_classes *set, uint64_t attributes,
                            const int *levels)
{
    kn_error   err = KN_ERROR_INIT;
    kn_verdict v;
    verdict    naive;
    assert_ok(kn_classes_judge(&v, e, set, &err), err);
    naive_judge(&naive, w, attributes, levels);
    check_verdict(w, &v, &naive, attributes);
    assert_true(kn_classes_count(set) <= kn_classes_entries(set));
    assert_true(kn_classes_bytes(set) > 0);
    int64_t classes = 0;
    for (int r = 0; r < w->rows; r++) {
        bool first = true;
        for (int o = 0; o < r; o++) first = first && !alike(w, attributes, levels, w->leaf[o], w->leaf[r]);
        classes += first;
    }
    assert_int_equal(kn_classes_count(set), classes);
}

/* One node of random attributes in three ways: scanned, rolled up and projected. */
static void check_node(const kn_evaluator *e, world *w, kn_rng *rng)
{
    kn_error    err = KN_ERROR_INIT;
    kn_classes *fine = NULL, *scanned = NULL, *rolled = NULL, *projected = NULL;
    uint64_t    all = ((uint64_t)1 << w->quasi_count) - 1, some = 1 + kn_rng_below(rng, all);
    int         low[MOST_QUASI], high[MOST_QUASI];
    for (int q = 0; q < w->quasi_count; q++) {
        high[q] = pick(rng, w->trees[q].height + 1);
        low[q] = pick(rng, high[q] + 1);
    }
    assert_ok(kn_classes_scan(&fine, e, pick(rng, 2) ? all : KN_ALL_ATTRIBUTES, low, &err), err);
    judge_and_check(e, w, fine, all, low);
    if (pick(rng, 2)) { /* put away: still good to start from */
        int64_t entries = kn_classes_entries(fine);
        assert_ok(kn_classes_pack(fine, &err), err);
        assert_int_equal(kn_classes_entries(fine), entries);
        assert_true(kn_classes_bytes(fine) > 0);
    }
    assert_ok(kn_classes_rollup(&rolled, e, fine, high, &err), err);
    judge_and_check(e, w, rolled, all, high);
    assert_ok(kn_classes_project(&projected, e, rolled, some, &err), err);
    judge_and_check(e, w, projected, some, high);
    assert_ok(kn_classes_scan(&scanned, e, some, high, &err), err);
    judge_and_check(e, w, scanned, some, high);
    assert_int_equal(kn_classes_entries(scanned), kn_classes_entries(projected));
    kn_classes_free(fine);
    kn_classes_free(scanned);
    kn_classes_free(rolled);
    kn_classes_free(projected);
}

static void classes_are_judged_as_row_by_row(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(2);
    kn_error    err = KN_ERROR_INIT;
    kn_rng      rng;
    int64_t     seen = 0;
    kn_rng_init(&rng, testing_seed(), 1);
    for (int round = 0; round < testing_rounds(12000); round++) {
        world         w;
        kn_evaluator *e = NULL;
        if (!world_make(&w, ctx, &rng, round)) continue;
        assert_ok(kn_evaluator_make(&e, ctx, &w.problem, &err), err);
        assert_int_equal(kn_evaluator_monotone(e), monotone(&w));
        for (int q = 0; q < w.quasi_count; q++)
            for (int level = 0; level <= w.trees[q].height; level++)
                assert_int_equal(kn_evaluator_distinct(e, q, level), naive_distinct(&w, q, level));
        for (int i = 0; i < 4; i++) check_node(e, &w, &rng);
        kn_evaluator_free(e);
        world_free(&w);
        seen++;
    }
    assert_true(seen > testing_least(6000));
    testing_context_free(ctx);
}

/* ---- Plans ---- */

static void check_plan(kn_context *ctx, world *w, const int *levels)
{
    kn_error    err = KN_ERROR_INIT;
    kn_plan    *plan = NULL;
    verdict     naive;
    const char *reason = NULL;
    uint64_t    all = ((uint64_t)1 << w->quasi_count) - 1;
    assert_ok(kn_fulldomain_plan(&plan, ctx, &w->problem, levels, &err), err);
    naive_judge(&naive, w, all, levels);
    if (!kn_plan_validate(plan, w->table, w->quasi, w->problem.hierarchies, &reason)) fail_msg("%s", reason);
    assert_int_equal(plan->suppressed, naive.sums.suppressed);
    assert_int_equal(plan->classes, naive.sums.classes);
    assert_int_equal(plan->level_count, w->quasi_count);
    assert_memory_equal(plan->levels, levels, (size_t)w->quasi_count * sizeof *levels);
    for (int r = 0; r < w->rows; r++) {
        uint32_t class_of = plan->class_of_row[r];
        assert_int_equal(class_of == KN_CLASS_SUPPRESSED, naive.suppressed[r]);
        for (int o = 0; o < r && !naive.suppressed[r]; o++)
            if (!naive.suppressed[o])
                assert_int_equal(plan->class_of_row[o] == class_of, alike(w, all, levels, w->leaf[o], w->leaf[r]));
        for (int q = 0; q < w->quasi_count && !naive.suppressed[r]; q++) {
            const kn_cell *cell = &plan->cells[class_of * (uint32_t)w->quasi_count + (uint32_t)q];
            if (levels[q] == 0) {
                assert_int_equal(cell->kind, KN_CELL_VALUE);
                assert_int_equal(cell->a, w->code[r][q]);
            } else {
                assert_int_equal(cell->kind, KN_CELL_NODE);
                assert_int_equal(cell->a, kn_hierarchy_of_code(w->hierarchies[q], w->code[r][q], (uint32_t)levels[q]));
            }
        }
    }
    kn_plan_free(plan);
}

static void plans_suppress_what_was_judged(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(2);
    kn_error    err = KN_ERROR_INIT;
    kn_rng      rng;
    kn_rng_init(&rng, testing_seed(), 2);
    for (int round = 0; round < testing_rounds(4000); round++) {
        world w;
        int   levels[MOST_QUASI];
        if (!world_make(&w, ctx, &rng, round)) continue;
        for (int i = 0; i < 3; i++) {
            for (int q = 0; q < w.quasi_count; q++) levels[q] = pick(&rng, w.trees[q].height + 1);
            check_plan(ctx, &w, levels);
        }
        kn_plan *plan = NULL;
        levels[0] = w.trees[0].height + 1;
        assert_int_equal(kn_fulldomain_plan(&plan, ctx, &w.problem, levels, &err), KN_USAGE);
        levels[0] = -1;
        assert_int_equal(kn_fulldomain_plan(&plan, ctx, &w.problem, levels, &err), KN_USAGE);
        world_free(&w);
    }
    testing_context_free(ctx);
}

/* ---- Memory ---- */

static kn_status evaluate_all(kn_context *ctx, world *w, kn_error *err)
{
    int           top[MOST_QUASI], zero[MOST_QUASI] = {0};
    kn_evaluator *e = NULL;
    kn_classes   *fine = NULL, *rolled = NULL, *projected = NULL;
    kn_verdict    v;
    kn_plan      *plan = NULL;
    for (int q = 0; q < w->quasi_count; q++) top[q] = w->trees[q].height > 1;
    kn_status st = kn_evaluator_make(&e, ctx, &w->problem, err);
    if (st == KN_OK) st = kn_classes_scan(&fine, e, KN_ALL_ATTRIBUTES, zero, err);
    if (st == KN_OK) st = kn_classes_pack(fine, err);
    if (st == KN_OK) st = kn_classes_rollup(&rolled, e, fine, top, err);
    if (st == KN_OK) st = kn_classes_project(&projected, e, rolled, 1, err);
    if (st == KN_OK) st = kn_classes_judge(&v, e, rolled, err);
    if (st == KN_OK) st = kn_classes_judge(&v, e, projected, err);
    kn_classes_free(fine);
    kn_classes_free(rolled);
    kn_classes_free(projected);
    kn_evaluator_free(e);
    if (st == KN_OK) st = kn_fulldomain_plan(&plan, ctx, &w->problem, top, err);
    kn_plan_free(plan);
    return st;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(1);
    kn_rng      rng;
    kn_rng_init(&rng, testing_seed(), 3);
    for (int round = 0; round < testing_rounds(40); round++) {
        world w;
        if (!world_make(&w, ctx, &rng, round)) continue;
        w.problem.suppressed = KN_SUPPRESSED_KEEP_SENSITIVE;
        w.problem.budget = w.rows;
        for (int64_t refuse = 0;; refuse += testing_step()) {
            testing_allocator memory = {.refuse_at = -1};
            kn_context       *poor = NULL;
            kn_error          err = KN_ERROR_INIT;
            assert_ok(testing_refusing_context(&poor, &memory, 1, &err), err);
            memory.refuse_at = memory.requests + refuse;
            kn_status st = evaluate_all(poor, &w, &err);
            kn_context_free(poor);
            assert_int_equal(memory.live, 0);
            if (st == KN_OK) break;
            assert_int_equal(st, KN_MEMORY);
        }
        world_free(&w);
    }
    testing_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        testing_alone(nodes_are_numbered_in_order),         testing_alone(large_lattices_have_no_numbers),
        cmocka_unit_test(classes_are_judged_as_row_by_row), cmocka_unit_test(plans_suppress_what_was_judged),
        testing_alone(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
