/* test_heuristic.c: the anytime search: valid, repeatable, seldom worse than the optimum. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "kn_alloc.h"
#include "kn_heuristic.h"
#include "random_problem.h"

static kn_fulldomain_result *new_result(kn_context *ctx, const random_problem *p)
{
    kn_fulldomain_result *r = kn_alloc_zero(ctx, sizeof *r);
    assert_non_null(r);
    r->ctx = ctx;
    r->quasi_count = p->problem.quasi_count;
    r->good = -1;
    return r;
}

/* The node of a result, judged from the rows. */
static void assert_valid(const random_problem *p, const kn_fulldomain_result *r)
{
    kn_error      err = KN_ERROR_INIT;
    kn_evaluator *e = NULL;
    kn_classes   *set = NULL;
    kn_verdict    verdict;
    assert_ok(kn_evaluator_make(&e, p->ctx, &p->problem, &err), err);
    assert_ok(kn_classes_scan(&set, e, KN_ALL_ATTRIBUTES, r->best.levels, &err), err);
    assert_ok(kn_classes_judge(&verdict, e, set, &err), err);
    assert_true(verdict.good);
    assert_int_equal(verdict.sums.suppressed, r->best.suppressed);
    assert_int_equal(verdict.sums.classes, r->best.classes);
    assert_true(kn_quotient_compare(kn_objective_loss(p->objective, &verdict.sums), r->best.loss) == 0);
    kn_classes_free(set);
    kn_evaluator_free(e);
}

/* On lattices that can be enumerated: valid, never better than the optimum, and nearly always equal to it. */
static void test_against_the_optimum(void **state)
{
    kn_context *ctx = testing_context(2);
    kn_rng      rng;
    kn_error    err = KN_ERROR_INIT;
    int         cases = 0, reached = 0;
    (void)state;
    kn_rng_init(&rng, testing_seed(), 1);
    for (int i = 0; i < testing_rounds(120); i++) {
        random_problem p;
        kn_lattice     lattice;
        bool           sizes_only = i % 2 == 0;
        if (!random_problem_make(&p, ctx, &rng, (random_shape){200, 4, 10, 4, false, sizes_only})) continue;
        random_lattice(&lattice, &p);
        random_node          *nodes = random_enumerate(&p, &lattice);
        int64_t               best = random_best(&lattice, nodes);
        kn_fulldomain_result *r = new_result(ctx, &p);
        kn_heuristic_options  options = {.node_limit = 2000};
        p.problem.seed = (uint64_t)i;
        assert_ok(kn_heuristic_search_within(r, ctx, &p.problem, &options, &err), err);
        if (best < 0) assert_false(r->found);
        if (r->found) {
            assert_valid(&p, r);
            assert_true(kn_quotient_compare(r->best.loss, nodes[best].loss) >= 0);
        }
        if (best >= 0) {
            cases++;
            reached += r->found && kn_quotient_compare(r->best.loss, nodes[best].loss) == 0;
        }
        kn_fulldomain_result_free(r);
        free(nodes);
        kn_lattice_free(&lattice);
        random_problem_free(&p);
    }
    print_message("optimum reached in %d of %d cases\n", reached, cases);
    assert_true(reached * 20 >= cases * 19);
    testing_context_free(ctx);
}

static const random_shape wide = {
    .rows = 800, .quasi = 20, .values = 10, .levels = 5, .exact = true, .sizes_only = true};

static void make_wide(random_problem *p, kn_context *ctx, uint64_t seed, uint64_t stream)
{
    kn_rng rng;
    kn_rng_init(&rng, seed, stream);
    for (;;) { /* enough rows that something can be released */
        assert_true(random_problem_make(p, ctx, &rng, wide));
        if (p->table->rows >= 200) break;
        random_problem_free(p);
    }
    p->problem.budget = p->table->rows / 20;
    p->problem.suppressed = KN_SUPPRESSED_STAR;
}

/* The same seed, the same nodes and the same work, whatever the number of threads. */
static void test_repeatable(void **state)
{
    enum { CONTEXTS = 4 };
    static const int counts[CONTEXTS] = {1, 2, 3, 8};
    kn_error         err = KN_ERROR_INIT;
    (void)state;
    for (uint64_t i = 0; i < 4; i++) {
        kn_context           *ctx = testing_context(1), *contexts[CONTEXTS];
        kn_fulldomain_result *results[CONTEXTS];
        random_problem        p;
        make_wide(&p, ctx, testing_seed(), 10 + i);
        p.problem.seed = i;
        for (int t = 0; t < CONTEXTS; t++) {
            kn_heuristic_options options = {.node_limit = 400};
            contexts[t] = testing_context(counts[t]);
            results[t] = new_result(contexts[t], &p);
            assert_ok(kn_heuristic_search_within(results[t], contexts[t], &p.problem, &options, &err), err);
            assert_int_equal(results[t]->found, results[0]->found);
            assert_int_equal(results[t]->counters.nodes_checked, results[0]->counters.nodes_checked);
            assert_int_equal(results[t]->counters.keys, results[0]->counters.keys);
            if (results[t]->found)
                assert_memory_equal(results[t]->best.levels, results[0]->best.levels,
                                    (size_t)p.problem.quasi_count * sizeof(int));
        }
        if (results[0]->found) assert_valid(&p, results[0]);
        for (int t = 0; t < CONTEXTS; t++) {
            kn_fulldomain_result_free(results[t]);
            testing_context_free(contexts[t]);
        }
        random_problem_free(&p);
        testing_context_free(ctx);
    }
}

/* More nodes never make it worse, and with some it is no worse than the plain descent. The latter holds for most tables, not for
 * each: these three are always the same. */
static void test_improves(void **state)
{
    kn_context *ctx = testing_context(2);
    kn_error    err = KN_ERROR_INIT;
    (void)state;
    for (uint64_t i = 0; i < 3; i++) {
        random_problem p;
        kn_quotient    before = {0, 0}; /* infinite */
        make_wide(&p, ctx, 1, 20 + i);
        for (int64_t limit = 20; limit <= 1280; limit *= 4) {
            kn_heuristic_options  options = {.node_limit = limit};
            kn_fulldomain_result *r = new_result(ctx, &p);
            assert_ok(kn_heuristic_search_within(r, ctx, &p.problem, &options, &err), err);
            assert_true(r->found);
            assert_true(kn_quotient_compare(r->best.loss, before) <= 0);
            before = r->best.loss;
            kn_fulldomain_result_free(r);
        }
        kn_heuristic_options  greedy = {.greedy = true};
        kn_fulldomain_result *r = new_result(ctx, &p);
        assert_ok(kn_heuristic_search_within(r, ctx, &p.problem, &greedy, &err), err);
        assert_true(r->found);
        assert_true(kn_quotient_compare(before, r->best.loss) <= 0);
        kn_fulldomain_result_free(r);
        random_problem_free(&p);
    }
    testing_context_free(ctx);
}

static void test_time_limit(void **state)
{
    kn_context           *ctx = testing_context(2);
    kn_error              err = KN_ERROR_INIT;
    kn_fulldomain_result *r = NULL;
    random_problem        p;
    (void)state;
    make_wide(&p, ctx, testing_seed(), 30);
    p.problem.method = KN_METHOD_HEURISTIC;
    p.problem.time_limit = 1e-9; /* the top is counted all the same */
    assert_ok(kn_fulldomain_search(&r, ctx, &p.problem, &err), err);
    assert_true(r->found);
    assert_false(r->complete);
    assert_false(r->optimal);
    assert_valid(&p, r);
    kn_fulldomain_result_free(r);
    random_problem_free(&p);
    testing_context_free(ctx);
}

/* With a time limit it goes on until the best node is proved: the optimum, whatever the seed. */
static void test_proves(void **state)
{
    kn_context *ctx = testing_context(2);
    kn_error    err = KN_ERROR_INIT;
    kn_rng      rng;
    (void)state;
    kn_rng_init(&rng, testing_seed(), 2);
    for (int i = 0; i < testing_rounds(40); i++) {
        random_problem        p;
        kn_lattice            lattice;
        kn_fulldomain_result *r = NULL;
        if (!random_problem_make(&p, ctx, &rng, (random_shape){200, 5, 10, 4, false, i % 2 == 0})) continue;
        random_lattice(&lattice, &p);
        random_node *nodes = random_enumerate(&p, &lattice);
        int64_t      best = random_best(&lattice, nodes);
        p.problem.method = KN_METHOD_HEURISTIC;
        p.problem.time_limit = 1000;
        p.problem.seed = (uint64_t)i;
        assert_ok(kn_fulldomain_search(&r, ctx, &p.problem, &err), err);
        assert_true(r->complete);
        assert_int_equal(r->found, best >= 0);
        assert_int_equal(r->optimal, best >= 0);
        if (best >= 0) {
            assert_int_equal(kn_lattice_node(&lattice, r->best.levels), best);
            assert_true(r->bounded && kn_quotient_compare(r->bound, r->best.loss) == 0);
        }
        kn_fulldomain_result_free(r);
        free(nodes);
        kn_lattice_free(&lattice);
        random_problem_free(&p);
    }
    testing_context_free(ctx);
}

/* Fewer rows than k: the top is bad, so every node is. */
static void test_none(void **state)
{
    kn_context           *ctx = testing_context(2);
    kn_error              err = KN_ERROR_INIT;
    kn_fulldomain_result *r = NULL;
    random_problem        p;
    (void)state;
    make_wide(&p, ctx, testing_seed(), 31);
    p.requirements->k = p.table->rows + 1;
    p.problem.method = KN_METHOD_HEURISTIC;
    p.problem.budget = p.table->rows - 1;
    assert_ok(kn_fulldomain_search(&r, ctx, &p.problem, &err), err);
    assert_false(r->found);
    assert_true(r->complete);
    assert_int_equal(r->good, 0);
    kn_fulldomain_result_free(r);
    random_problem_free(&p);
    testing_context_free(ctx);
}

static void test_allocation_failures(void **state)
{
    kn_context    *ctx = testing_context(1);
    random_problem p;
    kn_rng         rng;
    (void)state;
    kn_rng_init(&rng, 5, 0);
    assert_true(random_problem_make(&p, ctx, &rng, (random_shape){100, 4, 8, 4, true, true}));
    p.problem.budget = p.table->rows / 10;
    kn_status st = KN_MEMORY;
    for (int64_t at = 0; st != KN_OK; at += testing_step()) {
        testing_allocator     counted = {.refuse_at = at};
        kn_heuristic_options  limits = {.node_limit = 60};
        kn_context           *failing = NULL;
        kn_fulldomain_result *r = NULL;
        st = testing_refusing_context(&failing, &counted, 1, NULL);
        if (st == KN_OK) {
            r = kn_alloc_zero(failing, sizeof *r);
            st = r ? KN_OK : KN_MEMORY;
        }
        if (st == KN_OK) {
            r->ctx = failing;
            st = kn_heuristic_search_within(r, failing, &p.problem, &limits, NULL);
        }
        assert_true(st == KN_OK || st == KN_MEMORY);
        kn_fulldomain_result_free(r);
        kn_context_free(failing);
        assert_int_equal(counted.live, 0);
    }
    random_problem_free(&p);
    testing_context_free(ctx);
}

static void test_cancelled(void **state)
{
    kn_context           *ctx = testing_context(2);
    kn_fulldomain_result *r = NULL;
    kn_error              err = KN_ERROR_INIT;
    random_problem        p;
    (void)state;
    make_wide(&p, ctx, testing_seed(), 32);
    p.problem.method = KN_METHOD_HEURISTIC;
    kn_context_cancel(ctx);
    assert_int_equal(kn_fulldomain_search(&r, ctx, &p.problem, &err), KN_CANCELLED);
    kn_context_reset_cancel(ctx);
    random_problem_free(&p);
    testing_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_the_optimum), cmocka_unit_test(test_repeatable), cmocka_unit_test(test_improves),
        cmocka_unit_test(test_time_limit),          cmocka_unit_test(test_proves),     cmocka_unit_test(test_none),
        cmocka_unit_test(test_allocation_failures), cmocka_unit_test(test_cancelled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
