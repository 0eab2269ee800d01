/* test_tree_same.c: the fast k^(m,n) search against the plain one: the same plan, cost and answer for every method and
 * option, on any number of threads; and what must hold between the methods.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tree_testing.h"

#include "kn_tree_reference.h"

static void assert_same(const kn_tree_result *fast, const kn_tree_result *plain)
{
    assert_int_equal(fast->found, plain->found);
    assert_int_equal(fast->complete, plain->complete);
    if (!fast->found) {
        assert_null(fast->plan);
        return;
    }
    const kn_records_plan *a = fast->plan, *b = plain->plan;
    assert_int_equal(a->values, b->values);
    assert_memory_equal(a->image, b->image, a->values * sizeof *a->image);
    assert_int_equal(a->disassociation_count, b->disassociation_count);
    if (a->disassociation_count > 0)
        assert_memory_equal(a->disassociations, b->disassociations,
                            (size_t)a->disassociation_count * sizeof *a->disassociations);
    assert_memory_equal(&fast->cost, &plain->cost, sizeof fast->cost); /* bit for bit */
}

/* Both ways; returns the plain one's number of disassociations, -1 where nothing was found. */
static int64_t compare(kn_context *ctx, const kn_tree_problem *p, double *cost)
{
    kn_error        err = KN_ERROR_INIT;
    kn_tree_result *fast = NULL, plain;
    assert_ok(kn_tree_reference_search(&plain, ctx, p, &err), err);
    assert_ok(kn_tree_search(&fast, ctx, p, &err), err);
    assert_same(fast, &plain);
    int64_t count = plain.found ? plain.plan->disassociation_count : -1;
    *cost = plain.cost;
    kn_tree_result_free(fast);
    kn_records_plan_free(plain.plan);
    return count;
}

static void test_random_forests(void **state)
{
    (void)state;
    kn_context *contexts[2] = {testing_context(1), testing_context(2)};
    kn_rng      rng;
    int         found = 0, disassociated = 0, several = 0, methods[3] = {0}, options[5] = {0};
    int64_t     most = 0;
    uint64_t    seed = testing_seed();
    for (int i = 0; i < testing_rounds(3000); i++) {
        /* One stream per forest, so that one can be looked at alone. */
        kn_rng_init(&rng, seed, (uint64_t)i);
        kn_context     *ctx = contexts[i % 2];
        tree_shape      shapes[] = {TREE_SHAPE_DISASSOCIATED,
                                    {4, 2, 3, 24, 12, 0, true, true, false, i % 4 == 0},
                                    {5, 1, 3, 48, 20, 16, true, true, true, i % 4 == 1}};
        kn_records     *records = tree_random(ctx, &rng, &shapes[i % 3]);
        kn_tree_problem p = tree_random_problem(&rng, records);
        double          cost;
        if (i % 3 != 0 && p.method == KN_METHOD_ACS) p.method = KN_METHOD_GCS; /* too many cuts */
        if (i % 3 == 2 && p.m == 3 && kn_rng_below(&rng, 4) == 0) {
            p.m = 4;
            p.n = 3;
        }
        int64_t count = compare(ctx, &p, &cost);
        found += count >= 0;
        disassociated += count > 0;
        if (count > most) most = count;
        several += count > 2;
        methods[p.method == KN_METHOD_ACS ? 0 : p.method == KN_METHOD_GCS ? 1 : 2]++;
        options[0] += p.semantics == KN_SEMANTICS_PATHS && p.n == 2;
        options[1] += p.strict && p.n > 0;
        options[2] += p.l > 1;
        options[3] += p.level_domains;
        for (int c = 0; c < records->vocabulary->class_count; c++)
            if (records->vocabulary->negative[c]) options[4]++;
        kn_records_free(records);
    }
    printf("found %d, with disassociations %d, with more than two %d, at most %d; acs %d, gcs %d, ocs %d; paths %d, "
           "strict %d, l %d, levels %d, negative %d\n",
           found, disassociated, several, (int)most, methods[0], methods[1], methods[2], options[0], options[1],
           options[2], options[3], options[4]);
    assert_true(found > testing_least(1500) && disassociated >= testing_least(200));
    for (int i = 0; i < 3; i++) assert_true(methods[i] > testing_least(200));
    for (int i = 0; i < 5; i++) assert_true(options[i] > testing_least(100));
    testing_context_free(contexts[0]);
    testing_context_free(contexts[1]);
}

static bool is_identity(const kn_tree_result *r, const kn_records *records)
{
    for (uint64_t i = 0; i < records->nodes; i++)
        if (r->plan->image[records->value[i]] != records->value[i]) return false;
    return r->plan->disassociation_count == 0;
}

/* Records that keep the promise stay as they are, but for flat ones, which have a search of their own; others are released as ever. */
static void test_as_is(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(1);
    kn_rng      rng;
    int         kept = 0, blurred = 0, others = 0;
    uint64_t    seed = testing_seed();
    for (int i = 0; i < testing_rounds(600); i++) {
        kn_rng_init(&rng, seed, (uint64_t)i);
        kn_error        err = KN_ERROR_INIT;
        tree_shape      shapes[] = {TREE_SHAPE_DISASSOCIATED, {3, 2, 3, 24, 9, 8, true, true, false, false}};
        kn_records     *records = tree_random(ctx, &rng, &shapes[i % 2]);
        kn_tree_problem p = tree_random_problem(&rng, records);
        kn_tree_result *plain = NULL, *result = NULL;
        if (i % 3 == 0) p.k = 1;
        if (i % 2 && p.method == KN_METHOD_ACS) p.method = KN_METHOD_GCS;
        assert_ok(kn_tree_search(&plain, ctx, &p, &err), err);
        p.as_is = true;
        assert_ok(kn_tree_search(&result, ctx, &p, &err), err);
        bool holds = records->count >= p.k && tree_holds_against(records, records, p.k, p.m, p.n, p.semantics, p.l);
        if (holds && (p.k == 1 || is_identity(result, records))) {
            assert_true(result->found && is_identity(result, records));
            kept++;
            blurred += !plain->found || !is_identity(plain, records);
        } else {
            assert_same(result, plain);
            others++;
            for (uint64_t n = 0, flat = 0; holds && n < records->nodes; n++) {
                flat += records->parent[n] != KN_RECORDS_ROOT;
                assert_int_equal(flat, 0);
            }
        }
        kn_tree_result_free(plain);
        kn_tree_result_free(result);
        kn_records_free(records);
    }
    printf("as they were %d, of which the search alone would blur %d; others %d\n", kept, blurred, others);
    assert_true(kept > testing_least(100) && others > testing_least(100) && (blurred > 0 || TESTING_SANITIZED));
    testing_context_free(ctx);
}

/* More records than stand side by side in one block, equal ones among them. */
static void test_many_records(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(2);
    kn_rng      rng;
    int         disassociated = 0;
    kn_rng_init(&rng, testing_seed(), 0);
    for (int i = 0; i < testing_rounds(8); i++) {
        tree_shape      shape = {3, 1, 2, 12000, 8, 9000, false, false, true, false};
        kn_records     *records = tree_random(ctx, &rng, &shape);
        kn_tree_problem p = KN_TREE_PROBLEM_INIT;
        double          cost;
        p.records = records;
        p.method = i % 4 == 3 ? KN_METHOD_OCS : KN_METHOD_GCS;
        p.m = 3;
        p.n = 2;
        p.k = 20 + (int64_t)kn_rng_below(&rng, 700);
        disassociated += compare(ctx, &p, &cost) > 0;
        kn_records_free(records);
    }
    printf("with disassociations %d\n", disassociated);
    testing_context_free(ctx);
}

/* Every cut that GCS and OCS see, ACS sees too; OCS's solutions are among those of ACS. */
static void test_acs_is_best(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(1);
    kn_rng      rng;
    kn_rng_init(&rng, testing_seed(), 0);
    int better = 0, compared = 0;
    for (int i = 0; i < testing_rounds(600); i++) {
        tree_shape      shape = {3, 2, 3, 40, 9, 20, true, false, true, false};
        kn_records     *records = tree_random(ctx, &rng, &shape);
        kn_tree_problem p = tree_random_problem(&rng, records);
        double          acs = 0, gcs = 0, ocs = 0;
        p.g = 1;
        p.method = KN_METHOD_ACS;
        int64_t all = compare(ctx, &p, &acs);
        p.method = KN_METHOD_GCS;
        int64_t greedy = compare(ctx, &p, &gcs);
        p.method = KN_METHOD_OCS;
        int64_t only = compare(ctx, &p, &ocs);
        if (all < 0) assert_true(greedy < 0);
        if (greedy >= 0) {
            assert_true(acs <= gcs);
            better += acs < gcs;
            compared++;
        }
        if (only >= 0) assert_true(all >= 0);
        if (only >= 0 && !p.strict) assert_true(acs <= ocs);
        kn_records_free(records);
    }
    printf("acs better than gcs in %d of %d\n", better, compared);
    assert_true(compared > testing_least(100) && (better > 0 || TESTING_SANITIZED));
    testing_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_forests),
        testing_alone(test_as_is),
        testing_alone(test_acs_is_best),
        cmocka_unit_test(test_many_records),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
