/* test_tree.c: the fast k^(m,n) search: the synopsis of the paper's examples, the plans of the reference to the last
 * disassociation, every release against a brute-force attacker, threads, memory that runs out, time that runs out. */
#include "tree_testing.h"

#include "kn_synopsis.h"

#define FIG10                                                                                                          \
    "Hospital1(Gastritis),Hospital2(Flu(Pain killer),Bronchitis(Antibiotics))\n"                                       \
    "Hospital1(Bronchitis(Antibiotics),Gastritis),Hospital2(Flu(Pain killer),Bronchitis(Antibiotics))\n"               \
    "Hospital1(Flu(Pain killer)),Hospital2(Flu(Pain killer))\n"                                                        \
    "Hospital1(Bronchitis,Gastritis(Pain killer))"

/* ---- Fast and reference ---- */

static void check_same(const kn_tree_result *fast, const kn_tree_result *plain)
{
    assert_int_equal(fast->found, plain->found);
    assert_int_equal(fast->complete, plain->complete);
    if (!fast->found) {
        assert_null(fast->plan);
        return;
    }
    const kn_records_plan *a = fast->plan, *b = plain->plan;
    assert_int_equal(a->values, b->values);
    for (uint32_t v = 0; v < a->values; v++) assert_int_equal(a->image[v], b->image[v]);
    assert_int_equal(a->disassociation_count, b->disassociation_count);
    for (int64_t i = 0; i < a->disassociation_count; i++) {
        assert_int_equal(a->disassociations[i].ancestor, b->disassociations[i].ancestor);
        assert_int_equal(a->disassociations[i].descendant, b->disassociations[i].descendant);
    }
    assert_memory_equal(&fast->cost, &plain->cost, sizeof fast->cost);
}

static kn_tree_problem random_problem(kn_rng *rng, const kn_records *records)
{
    kn_tree_problem p = KN_TREE_PROBLEM_INIT;
    p.records = records;
    const kn_method methods[] = {KN_METHOD_ACS, KN_METHOD_GCS, KN_METHOD_OCS};
    p.method = methods[kn_rng_below(rng, 3)];
    p.k = 1 + (int64_t)kn_rng_below(rng, 5);
    p.m = 1 + (int)kn_rng_below(rng, 3);
    p.n = (int)kn_rng_below(rng, (uint64_t)(p.m * (p.m - 1) / 2) + 1);
    p.g = 1 + (int)kn_rng_below(rng, 3);
    p.semantics = kn_rng_below(rng, 3) == 0 ? KN_SEMANTICS_PATHS : KN_SEMANTICS_PAIRS;
    p.strict = kn_rng_below(rng, 3) == 0;
    p.level_domains = kn_rng_below(rng, 4) == 0;
    p.l = kn_rng_below(rng, 4) == 0 ? 1 + (int64_t)kn_rng_below(rng, 3) : 0;
    return p;
}

/* How much of what the random forests were meant to show they did. */
typedef struct tally {
    int found, disassociated, strict, paths, diverse;
} tally;

static void check_random(kn_context *ctx, kn_rng *rng, tally *t)
{
    tree_shape shape = {.classes = 4,
                        .height = 2,
                        .fanout = 3,
                        .records = 20 + (int)kn_rng_below(rng, 60),
                        .nodes = 4 + (int)kn_rng_below(rng, 10),
                        .least = 3 + (int)kn_rng_below(rng, 17),
                        .sensitive = kn_rng_below(rng, 3) == 0,
                        .negative = kn_rng_below(rng, 3) == 0};
    kn_error    err = KN_ERROR_INIT;
    kn_records *records = tree_random(ctx, rng, &shape);
    for (int repeat = 0; repeat < 2; repeat++) {
        kn_tree_problem problem = random_problem(rng, records);
        kn_tree_result *fast, *plain;
        assert_ok(kn_tree_search(&fast, ctx, &problem, &err), err);
        problem.reference = true;
        assert_ok(kn_tree_search(&plain, ctx, &problem, &err), err);
        check_same(fast, plain);
        if (fast->found) {
            kn_records *released = tree_release(ctx, records, fast->plan, true);
            assert_true(tree_holds(released, problem.k, problem.m, problem.n, problem.semantics, problem.l));
            kn_records_free(released);
            bool moved = fast->plan->disassociation_count > 0;
            t->found++;
            t->disassociated += moved;
            t->strict += moved && problem.strict;
            t->paths += moved && problem.semantics == KN_SEMANTICS_PATHS && problem.n > 1;
            t->diverse += problem.l > 1;
        }
        kn_tree_result_free(fast);
        kn_tree_result_free(plain);
    }
    kn_records_free(records);
}

static void test_reference_agrees(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(2);
    kn_rng      rng;
    tally       t = {0};
    uint64_t    seed = testing_seed();
    for (uint64_t i = 0; i < 1500; i++) {
        kn_rng_init(&rng, seed, i);
        check_random(ctx, &rng, &t);
    }
    print_message("found %d, disassociated %d, strict %d, paths %d, diverse %d\n", t.found, t.disassociated, t.strict,
                  t.paths, t.diverse);
    assert_true(t.found > 500 && t.disassociated > 100 && t.strict > 20 && t.paths > 10 && t.diverse > 5);
    testing_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reference_agrees),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
