/* test_tree_disassociate.c: the three ways to take a relation away (Gkountouna, Terrovitis 2013, section II-D): what moves, that
 * nothing else is lost, and searches that use them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tree_testing.h"

#define FIG2 "Hospital1(Gastritis),Hospital2(Flu(Pain killer),Bronchitis(Antibiotics))"

/* ---- The paper's tree ---- */

static void check(kn_context *ctx, const char *above, const char *below, kn_disassociate how, const char *expected)
{
    static const char *const cut[] = {"Hospital1",    "Hospital2",  "Rea",         "Gaia",
                                      "Flu",          "Bronchitis", "Diarrhea",    "Gastritis",
                                      "Neurological", "Orthopedic", "Pain killer", "Antibiotics"};
    const char *const        sd[1][2] = {{above, below}};
    kn_error                 err = KN_ERROR_INIT;
    kn_records              *records = tree_records(ctx, tree_hospital(ctx), FIG2), *released;
    kn_records_plan         *plan = tree_plan(ctx, records->vocabulary, cut, 12, sd, 1);
    char                     text[1024];
    plan->how = how;
    assert_ok(kn_records_apply(&released, NULL, ctx, records, plan, &err), err);
    tree_print(released, NULL, text, sizeof text);
    assert_string_equal(text, expected);
    kn_records_free(released);
    released = tree_release(ctx, records, plan);
    tree_print(released, NULL, text, sizeof text);
    assert_string_equal(text, expected);
    kn_records_free(released);
    kn_records_plan_free(plan);
    kn_records_free(records);
}

/* Figures 6 and 7, and the same relations in the two ways that section II-D mentions beside. */
static void test_figures_6_and_7(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(1);
    check(ctx, "Hospital2", "Pain killer", KN_DISASSOCIATE_NODE,
          "Hospital1(Gastritis),Hospital2(Flu,Bronchitis(Antibiotics)),Pain killer");
    check(ctx, "Hospital2", "Pain killer", KN_DISASSOCIATE_SUBTREE,
          "Hospital1(Gastritis),Hospital2(Flu,Bronchitis(Antibiotics)),Pain killer");
    check(ctx, "Hospital2", "Pain killer", KN_DISASSOCIATE_ANCESTOR,
          "Hospital1(Gastritis),Hospital2(Bronchitis(Antibiotics)),Flu(Pain killer)");
    check(ctx, "Hospital2", "Bronchitis", KN_DISASSOCIATE_NODE,
          "Hospital1(Gastritis),Hospital2(Flu(Pain killer),Antibiotics),Bronchitis");
    check(ctx, "Hospital2", "Bronchitis", KN_DISASSOCIATE_SUBTREE,
          "Hospital1(Gastritis),Hospital2(Flu(Pain killer)),Bronchitis(Antibiotics)");
    check(ctx, "Hospital2", "Bronchitis", KN_DISASSOCIATE_ANCESTOR,
          "Hospital1(Gastritis),Hospital2(Flu(Pain killer)),Bronchitis(Antibiotics)");
    testing_context_free(ctx);
}

/* ---- Random records ---- */

/* The cut of all leaves, or of "*" alone, where "*" is above "*". */
static kn_records_plan *random_plan(kn_context *ctx, kn_rng *rng, const kn_records *records)
{
    const kn_vocabulary *v = records->vocabulary;
    kn_error             err = KN_ERROR_INIT;
    kn_records_plan     *plan;
    uint32_t             cut[TREE_VALUES], size = 0;
    int64_t              count = 1 + (int64_t)kn_rng_below(rng, 4);
    for (uint32_t u = 0; u < v->nodes; u++) {
        if (v->end[u] == u + 1) cut[size++] = u;
    }
    assert_ok(kn_records_plan_create(&plan, ctx, v, count, &err), err);
    if (kn_rng_below(rng, 4) == 0) cut[0] = 0, size = 1;
    kn_records_plan_set_cut(plan, v, cut, size);
    for (int64_t i = 0; i < count; i++) /* of a pair that occurs, mostly */
        plan->disassociations[i] =
            (kn_disassociation){plan->image[cut[kn_rng_below(rng, size)]], plan->image[cut[kn_rng_below(rng, size)]]};
    for (int64_t t = 0, i = 0; t < records->count && i < count; t++)
        for (uint64_t j = records->start[t]; j < records->start[t + 1] && i < count; j++) {
            if (records->parent[j] == KN_RECORDS_ROOT || kn_rng_below(rng, 3)) continue;
            uint32_t above = records->value[records->start[t] + records->parent[j]];
            plan->disassociations[i++] = (kn_disassociation){plan->image[above], plan->image[records->value[j]]};
        }
    plan->how = (kn_disassociate)kn_rng_below(rng, KN_DISASSOCIATES);
    return plan;
}

/* What is released is what path by path comes out; no relation that was named is left, none is new, and no value is lost. */
static void test_ways_on_random_records(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(1);
    kn_error    err = KN_ERROR_INIT;
    int         moved[KN_DISASSOCIATES] = {0}, rounds = testing_rounds(1500);
    for (int i = 0; i < rounds; i++) {
        kn_rng rng;
        kn_rng_init(&rng, testing_seed(), (uint64_t)i);
        tree_shape       shape = {4, 1, 2, 4, 14, 1, false, false, true, false};
        kn_records      *records = tree_random(ctx, &rng, &shape), *released, *plain, *kept;
        kn_records_plan *plan = random_plan(ctx, &rng, records);
        int64_t         *original_of;
        char             text[2][8192];
        assert_ok(kn_records_apply(&released, &original_of, ctx, records, plan, &err), err);
        plain = tree_release(ctx, records, plan);
        tree_print(released, original_of, text[0], sizeof text[0]);
        tree_print(plain, NULL, text[1], sizeof text[1]);
        assert_string_equal(text[0], text[1]);
        int64_t count = plan->disassociation_count;
        plan->disassociation_count = 0;
        kept = tree_release(ctx, records, plan);
        plan->disassociation_count = count;
        for (int64_t t = 0; t < plain->count; t++)
            for (uint32_t a = 0; a < records->vocabulary->nodes; a++) {
                assert_int_equal(tree_has_value(plain, t, a), tree_has_value(kept, t, a));
                for (uint32_t b = 0; b < records->vocabulary->nodes; b++)
                    if (tree_has_relation(plain, t, a, b)) assert_true(tree_has_relation(kept, t, a, b));
                for (int64_t s = 0; s < count; s++)
                    assert_false(tree_has_relation(plain, t, plan->disassociations[s].ancestor,
                                                   plan->disassociations[s].descendant));
            }
        tree_print(kept, NULL, text[0], sizeof text[0]);
        moved[plan->how] += strcmp(text[0], text[1]) != 0;
        kn_records_free(released);
        kn_records_free(plain);
        kn_records_free(kept);
        kn_free(original_of);
        kn_records_plan_free(plan);
        kn_records_free(records);
    }
    for (int how = 0; how < KN_DISASSOCIATES; how++) assert_true(moved[how] > testing_least(200));
    testing_context_free(ctx);
}

/* ---- Searches ---- */

static void test_searches(void **state)
{
    (void)state;
    kn_context      *contexts[2] = {testing_context(1), testing_context(2)};
    kn_error         err = KN_ERROR_INIT;
    const tree_shape shapes[] = {TREE_SHAPE_DISASSOCIATED, TREE_SHAPE_RIGID};
    int              found = 0, moved[KN_DISASSOCIATES] = {0}, rounds = testing_rounds(900);
    for (int i = 0; i < rounds; i++) {
        kn_rng rng;
        kn_rng_init(&rng, testing_seed(), 5000 + (uint64_t)i);
        kn_context     *ctx = contexts[i % 2];
        kn_records     *records = tree_random(ctx, &rng, i % 3 ? &shapes[0] : &shapes[1]);
        kn_tree_problem p = tree_random_problem(&rng, records);
        kn_tree_result *fast, *plain;
        p.how = (kn_disassociate)(i % KN_DISASSOCIATES);
        if (p.m == 1) p.m = 2;
        p.n = p.n == 0 ? 1 : p.n;
        assert_ok(kn_tree_search(&fast, ctx, &p, &err), err);
        p.reference = true;
        assert_ok(kn_tree_search(&plain, ctx, &p, &err), err);
        assert_int_equal(fast->found, plain->found);
        assert_int_equal(fast->counters.disassociations, plain->counters.disassociations);
        if (fast->found) {
            int64_t count = fast->plan->disassociation_count;
            assert_int_equal(fast->plan->how, p.how);
            assert_memory_equal(fast->plan->image, plain->plan->image, fast->plan->values * sizeof *fast->plan->image);
            assert_int_equal(count, plain->plan->disassociation_count);
            if (count)
                assert_memory_equal(fast->plan->disassociations, plain->plan->disassociations,
                                    (size_t)count * sizeof *fast->plan->disassociations);
            assert_memory_equal(&fast->cost, &plain->cost, sizeof fast->cost);
            kn_records *released = tree_release(ctx, records, fast->plan);
            assert_true(tree_keeps(records, released, &p));
            kn_records_free(released);
            found++;
            moved[p.how] += count > 0;
        }
        kn_tree_result_free(fast);
        kn_tree_result_free(plain);
        kn_records_free(records);
    }
    print_message("found %d, with relations taken away %d, %d, %d\n", found, moved[0], moved[1], moved[2]);
    for (int how = 0; how < KN_DISASSOCIATES; how++) assert_true(moved[how] > testing_least(10));
    testing_context_free(contexts[0]);
    testing_context_free(contexts[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        testing_alone(test_figures_6_and_7),
        testing_alone(test_ways_on_random_records),
        cmocka_unit_test(test_searches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
