/* test_tree_diverse.c: entropy and recursive l-diversity of sensitive classes in tree records: whichever value of each record
 * somebody looks at, the table's promise holds; searches agree with an attacker who tries everything, and with each other.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tree_testing.h"

#include "kn_model.h"
#include "kn_spread.h"

static kn_tree_promise random_promise(kn_rng *rng, const kn_vocabulary *v)
{
    kn_tree_promise p = {0, KN_MODEL_INIT};
    do p.cls = (uint16_t)kn_rng_below(rng, (uint64_t)v->class_count);
    while (!v->sensitive[p.cls]);
    p.model.kind = kn_rng_below(rng, 2) ? KN_MODEL_ENTROPY : KN_MODEL_RECURSIVE;
    p.model.l = (kn_ratio){1 + kn_rng_below(rng, 3), 1};
    if (p.model.kind == KN_MODEL_ENTROPY) p.model.l = (kn_ratio){10 + kn_rng_below(rng, 20), 10};
    p.model.c = (kn_ratio){1 + kn_rng_below(rng, 6), 2};
    return p;
}

/* ---- The definition ---- */

enum { PEOPLE = 5, VALUES = 4 };

/* Every choice of one value for each record; one without any has its own. Do all of them keep the table's promise? */
static bool every_choice(const kn_model *m, const unsigned *has, int count, int next, int64_t *rows)
{
    if (next < count) {
        bool fine = true;
        for (int v = 0; v < VALUES && fine; v++) {
            if (!(has[next] >> v & 1)) continue;
            rows[v]++;
            fine = every_choice(m, has, count, next + 1, rows);
            rows[v]--;
        }
        if (has[next] != 0) return fine;
        rows[VALUES + next]++;
        fine = every_choice(m, has, count, next + 1, rows);
        rows[VALUES + next]--;
        return fine;
    }
    int64_t      counts[VALUES + PEOPLE];
    uint32_t     codes[VALUES + PEOPLE];
    kn_histogram h = {codes, counts, 0, count};
    for (uint32_t v = 0; v < VALUES + PEOPLE; v++) {
        if (rows[v] == 0) continue;
        codes[h.values] = v;
        counts[h.values++] = rows[v];
    }
    return kn_model_satisfied(m, &h, NULL, NULL);
}

/* What holds of the counts holds of every choice; where each record has one value, of no other counts. */
static void test_every_choice_is_a_table(void **state)
{
    (void)state;
    kn_rng rng;
    int    fine = 0, bad = 0, stricter = 0;
    kn_rng_init(&rng, testing_seed(), 1);
    kn_context    *ctx = testing_context(1);
    const int      depths[] = {1};
    kn_vocabulary *v = tree_vocabulary(ctx, 1, depths, NULL);
    v->sensitive[0] = true;
    for (int i = 0; i < 20000; i++) {
        kn_model m = random_promise(&rng, v).model;
        unsigned has[PEOPLE];
        int      count = 1 + (int)kn_rng_below(&rng, PEOPLE);
        bool     single = kn_rng_below(&rng, 2) == 0, any = false;
        int64_t  with[VALUES], counts[VALUES], rows[VALUES + PEOPLE] = {0};
        size_t   values = 0;
        for (int t = 0; t < count; t++) {
            has[t] = single ? 1u << kn_rng_below(&rng, VALUES) : (unsigned)kn_rng_below(&rng, 1u << VALUES);
            any = any || has[t] != 0;
        }
        for (int u = 0; u < VALUES; u++) {
            with[u] = 0;
            for (int t = 0; t < count; t++) with[u] += has[t] >> u & 1;
            if (with[u] > 0) counts[values++] = with[u];
        }
        bool all = every_choice(&m, has, count, 0, rows), holds = kn_spread_holds(&m, counts, values, count);
        assert_int_equal(holds, naive_spread(&m, with, VALUES, count));
        if (single) assert_int_equal(holds, all);
        if (any && holds) assert_true(all);
        if (!any) assert_true(holds);
        fine += holds;
        bad += !holds;
        stricter += all && !holds;
    }
    print_message("hold %d, do not %d, though every choice does %d\n", fine, bad, stricter);
    assert_true(fine > 2000 && bad > 2000);
    kn_vocabulary_free(v);
    testing_context_free(ctx);
}

/* ---- Searches ---- */

static bool any_sensitive(const kn_vocabulary *v)
{
    for (int c = 0; c < v->class_count; c++)
        if (v->sensitive[c]) return true;
    return false;
}

static void assert_same(const kn_tree_result *a, const kn_tree_result *b)
{
    assert_int_equal(a->found, b->found);
    if (!a->found) return;
    assert_memory_equal(a->plan->image, b->plan->image, a->plan->values * sizeof *a->plan->image);
    assert_int_equal(a->plan->disassociation_count, b->plan->disassociation_count);
    assert_memory_equal(&a->cost, &b->cost, sizeof a->cost);
}

/* The release that is found keeps every promise against everybody; what nobody found is not the cut of all leaves; fast is plain. */
static void test_searches_agree_with_every_attacker(void **state)
{
    (void)state;
    static const tree_shape shapes[] = {{3, 1, 3, 16, 9, 6, true, true, true, false},
                                        {2, 2, 3, 20, 6, 8, true, false, true, false}};
    kn_context             *contexts[2] = {testing_context(1), testing_context(2)};
    kn_error                err = KN_ERROR_INIT;
    kn_rng                  rng;
    int                     found = 0, none = 0, dearer = 0, rounds = testing_rounds(600);
    for (int i = 0, tried = 0; tried < rounds; i++) {
        kn_rng_init(&rng, testing_seed(), 1000 + (uint64_t)i);
        kn_context     *ctx = contexts[i % 2];
        kn_records     *records = tree_random(ctx, &rng, &shapes[i % 2]);
        kn_tree_problem p = tree_random_problem(&rng, records);
        kn_tree_promise promises[2];
        kn_tree_result *fast, *plain, *free_of_it;
        if (!any_sensitive(records->vocabulary)) {
            kn_records_free(records);
            continue;
        }
        tried++;
        p.promises = promises;
        p.promise_count = 1 + (int)kn_rng_below(&rng, 2);
        for (int j = 0; j < p.promise_count; j++) promises[j] = random_promise(&rng, records->vocabulary);
        if (kn_rng_below(&rng, 2)) p.l = 0;
        if (kn_rng_below(&rng, 3) == 0) p.k = 1;
        if (kn_rng_below(&rng, 4) == 0 && !p.strict) p.spare_records = 2;
        p.as_is = kn_rng_below(&rng, 2) == 0;
        assert_ok(kn_tree_search(&fast, ctx, &p, &err), err);
        p.reference = true;
        assert_ok(kn_tree_search(&plain, ctx, &p, &err), err);
        assert_same(fast, plain);
        p.reference = false;
        if (fast->found) {
            kn_records *released;
            assert_ok(kn_records_apply(&released, NULL, ctx, records, fast->plan, &err), err);
            assert_true(tree_keeps(records, released, &p));
            kn_records_free(released);
        }
        found += fast->found;
        none += !fast->found;
        p.promise_count = 0;
        assert_ok(kn_tree_search(&free_of_it, ctx, &p, &err), err);
        if (fast->found && p.method == KN_METHOD_ACS && p.spare_records == 0 && !p.as_is)
            assert_true(free_of_it->found);
        dearer += fast->found && free_of_it->found && memcmp(&fast->cost, &free_of_it->cost, sizeof fast->cost) != 0;
        kn_tree_result_free(free_of_it);
        kn_tree_result_free(fast);
        kn_tree_result_free(plain);
        kn_records_free(records);
    }
    print_message("found %d, none %d, other than without the promise %d\n", found, none, dearer);
    assert_true(found > testing_least(100) && none > testing_least(50) && dearer > testing_least(10));
    testing_context_free(contexts[0]);
    testing_context_free(contexts[1]);
}

static void test_refusals(void **state)
{
    (void)state;
    kn_context     *ctx = testing_context(1);
    kn_error        err = KN_ERROR_INIT;
    kn_records     *records = tree_records(ctx, tree_hospital(ctx), "Hospital1(Flu)\nHospital1(Gastritis)");
    kn_tree_promise promise = {1, {.kind = KN_MODEL_T_EQUAL}};
    kn_tree_problem p = KN_TREE_PROBLEM_INIT;
    kn_tree_result *r;
    p.records = records;
    p.promises = &promise;
    p.promise_count = 1;
    assert_int_equal(kn_tree_search(&r, ctx, &p, &err), KN_USAGE);
    kn_records_free(records);
    testing_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        testing_alone(test_every_choice_is_a_table),
        cmocka_unit_test(test_searches_agree_with_every_attacker),
        testing_alone(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
