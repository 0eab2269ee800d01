/* test_tree_suppress.c: values and records that are given up (kn_tree_suppress.c): random forests against the definition, the
 * plain search, a naive release, and everything that could have been given up.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tree_testing.h"

#include "kn_tree_work.h"

/* ---- The definition, naively ---- */

/* The records without what the plan gives up, node by node. */
static kn_records *naive_without(kn_context *ctx, const kn_records *r, const kn_records_plan *plan)
{
    kn_error    err = KN_ERROR_INIT;
    kn_records *out;
    uint64_t    at = 0;
    int64_t     count = 0;
    assert_ok(kn_records_create(&out, ctx, r->vocabulary, false, r->count, r->nodes, &err), err);
    for (int64_t t = 0; t < r->count; t++) {
        kn_record_node nodes[TREE_NODES];
        char           scratch[TREE_NODES * KN_RECORD_SCRATCH];
        uint32_t       size = 0, moved[TREE_NODES];
        if (plan->left_out && plan->left_out[t]) continue;
        for (uint32_t i = 0; i < r->start[t + 1] - r->start[t]; i++) {
            uint32_t value = r->value[r->start[t] + i], up = r->parent[r->start[t] + i];
            moved[i] = up == KN_RECORDS_ROOT ? up : moved[up];
            if (plan->given_up && plan->given_up[value]) continue;
            nodes[size] = (kn_record_node){moved[i], value};
            moved[i] = size++;
        }
        size = kn_record_canonical(nodes, size, scratch);
        for (uint32_t i = 0; i < size; i++, at++) {
            out->parent[at] = nodes[i].parent;
            out->value[at] = nodes[i].value;
        }
        out->start[++count] = at;
    }
    out->count = count;
    out->nodes = at;
    return out;
}

static bool shows(const kn_records *released, uint32_t value)
{
    for (uint64_t i = 0; i < released->nodes; i++)
        if (released->value[i] == value) return true;
    return false;
}

/* Nodes of the original at or above whose value nothing is shown. */
static int64_t naive_given_up(const kn_records *r, const kn_records *released)
{
    const kn_vocabulary *v = r->vocabulary;
    int64_t              count = 0;
    for (uint64_t i = 0; i < r->nodes; i++) {
        bool shown = false;
        for (uint32_t u = 0; u <= r->value[i]; u++)
            shown = shown || (kn_vocabulary_covers(v, u, r->value[i]) &&
                              (u == r->value[i] || !tree_sensitive(v, r->value[i])) && shows(released, u));
        count += !shown;
    }
    return count;
}

/* The released records as kn_records_apply makes them are those of the definition, in the order of original_of. */
static void check_applied(kn_context *ctx, const kn_records *r, const kn_records_plan *plan, const kn_records *naive)
{
    kn_error    err = KN_ERROR_INIT;
    kn_records *applied = NULL;
    int64_t    *original_of = NULL;
    assert_ok(kn_records_apply(&applied, &original_of, ctx, r, plan, &err), err);
    assert_int_equal(applied->count, naive->count);
    for (int64_t t = 0, at = 0; t < r->count; t++) {
        if (plan->left_out && plan->left_out[t]) continue;
        int64_t x = 0;
        while (x < applied->count && original_of[x] != t) x++;
        assert_true(x < applied->count);
        uint64_t size = naive->start[at + 1] - naive->start[at];
        assert_int_equal(applied->start[x + 1] - applied->start[x], size);
        for (uint64_t i = 0; i < size; i++) {
            assert_int_equal(applied->value[applied->start[x] + i], naive->value[naive->start[at] + i]);
            assert_int_equal(applied->parent[applied->start[x] + i], naive->parent[naive->start[at] + i]);
        }
        at++;
    }
    for (int64_t x = applied->count; x < r->count; x++) assert_true(plan->left_out && plan->left_out[original_of[x]]);
    kn_records_free(applied);
    kn_free(original_of);
}

static void check_result(kn_context *ctx, const kn_tree_problem *p, const kn_tree_result *result)
{
    const kn_records *r = p->records;
    const char       *reason = NULL;
    assert_true(kn_records_plan_validate(result->plan, r->vocabulary, &reason));
    kn_records *stay = naive_without(ctx, r, result->plan), *released = tree_release(ctx, stay, result->plan);
    assert_true(tree_holds_against(r, released, p->k, p->m, p->n, p->semantics, p->l));
    assert_int_equal(naive_given_up(r, released), result->given_up);
    assert_int_equal(r->count - released->count, result->left_out);
    assert_true(result->given_up <= p->spare_nodes && result->left_out <= p->spare_records);
    for (uint32_t u = 0; result->plan->given_up && u < r->vocabulary->nodes; u++)
        if (result->plan->given_up[u]) assert_false(shows(released, result->plan->image[u]));
    check_applied(ctx, r, result->plan, released);
    kn_records_free(released);
    kn_records_free(stay);
}

static void assert_same(const kn_tree_result *a, const kn_tree_result *b, const kn_records *r)
{
    assert_int_equal(a->found, b->found);
    if (!a->found) return;
    assert_memory_equal(a->plan->image, b->plan->image, a->plan->values * sizeof *a->plan->image);
    assert_int_equal(a->plan->disassociation_count, b->plan->disassociation_count);
    assert_int_equal(a->given_up, b->given_up);
    assert_int_equal(a->left_out, b->left_out);
    assert_int_equal(a->plan->given_up != NULL, b->plan->given_up != NULL);
    assert_int_equal(a->plan->left_out != NULL, b->plan->left_out != NULL);
    if (a->plan->given_up) assert_memory_equal(a->plan->given_up, b->plan->given_up, a->plan->values);
    if (a->plan->left_out) assert_memory_equal(a->plan->left_out, b->plan->left_out, (size_t)r->count);
}

static double lost(kn_context *ctx, const kn_records *r, const kn_tree_result *result)
{
    kn_error     err = KN_ERROR_INIT;
    kn_tree_loss loss;
    assert_ok(kn_tree_lose(&loss, ctx, r, result->plan, NULL, &err), err);
    return loss.loss;
}

static void test_random_forests(void **state)
{
    (void)state;
    kn_context *contexts[2] = {testing_context(1), testing_context(2)};
    kn_rng      rng;
    int         found = 0, values = 0, records = 0, only = 0;
    uint64_t    seed = testing_seed();
    for (int i = 0; i < testing_rounds(300); i++) {
        kn_rng_init(&rng, seed, (uint64_t)i);
        kn_error        err = KN_ERROR_INIT;
        kn_context     *ctx = contexts[i % 2];
        tree_shape      shapes[] = {TREE_SHAPE_DISASSOCIATED,
                                    {3, 2, 3, 24, 9, 8, true, true, false, i % 4 == 0},
                                    {1, 2, 5, 40, 6, 16, false, false, true, false}};
        kn_records     *r = tree_random(ctx, &rng, &shapes[i % 3]);
        kn_tree_problem p = tree_random_problem(&rng, r), plain;
        kn_tree_result *fast = NULL, *slow = NULL, *without = NULL;
        if (p.method == KN_METHOD_ACS && i % 3 != 0) p.method = KN_METHOD_GCS;
        p.strict = false;
        plain = p;
        assert_ok(kn_tree_search(&without, ctx, &plain, &err), err);
        p.spare_nodes = (int64_t)kn_rng_below(&rng, r->nodes / 3 + 2);
        p.spare_records = (int64_t)kn_rng_below(&rng, (uint64_t)r->count / 3 + 2);
        assert_ok(kn_tree_search(&fast, ctx, &p, &err), err);
        p.reference = true;
        assert_ok(kn_tree_search(&slow, ctx, &p, &err), err);
        assert_same(fast, slow, r);
        if (fast->found) {
            check_result(ctx, &p, fast);
            if (without->found) assert_true(lost(ctx, r, fast) <= lost(ctx, r, without));
        } else {
            assert_false(without->found);
        }
        found += fast->found;
        values += fast->found && fast->plan->given_up != NULL;
        records += fast->found && fast->left_out > 0;
        only += fast->found && !without->found;
        kn_tree_result_free(fast);
        kn_tree_result_free(slow);
        kn_tree_result_free(without);
        kn_records_free(r);
    }
    printf("found %d, with values given up %d, with records left out %d, only by suppression %d\n", found, values,
           records, only);
    assert_true(found > testing_least(150) && values > testing_least(20) && records > testing_least(5));
    testing_context_free(contexts[0]);
    testing_context_free(contexts[1]);
}

/* Everything that could be given up: the least loss of all sets of values within the budget. */
static double best_of_all(kn_context *ctx, const kn_tree_problem *p, const uint32_t *leaves, int count)
{
    double   best = INFINITY;
    kn_error err = KN_ERROR_INIT;
    bool     given_up[TREE_VALUES];
    for (uint32_t set = 0; set < 1u << count; set++) {
        kn_tree_problem inner = *p;
        kn_tree_result *result = NULL;
        kn_records     *stay = NULL;
        int64_t        *original_of = NULL;
        kn_tree_loss    loss;
        memset(given_up, 0, sizeof given_up);
        for (int i = 0; i < count; i++) given_up[leaves[i]] = set >> i & 1;
        assert_ok(kn_records_without(&stay, &original_of, ctx, p->records, given_up, NULL, &err), err);
        inner.records = stay;
        inner.spare_nodes = inner.spare_records = 0;
        assert_ok(kn_tree_search(&result, ctx, &inner, &err), err);
        if (result->found) {
            bool vain = false;
            for (int i = 0; i < count; i++)
                for (uint64_t n = 0; n < stay->nodes && given_up[leaves[i]]; n++)
                    vain = vain || result->plan->image[stay->value[n]] == result->plan->image[leaves[i]];
            result->plan->given_up = kn_alloc_array(ctx, sizeof given_up, sizeof *given_up);
            assert_non_null(result->plan->given_up);
            memcpy(result->plan->given_up, given_up, sizeof given_up);
            assert_ok(kn_tree_lose(&loss, ctx, p->records, result->plan, NULL, &err), err);
            if (!vain && loss.given_up <= p->spare_nodes && loss.loss < best) best = loss.loss;
        }
        kn_tree_result_free(result);
        kn_records_free(stay);
        kn_free(original_of);
    }
    return best;
}

static void test_against_all(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(1);
    kn_rng      rng;
    int         best = 0, helped = 0, all = 0;
    double      gained = 0, possible = 0;
    uint64_t    seed = testing_seed();
    for (int i = 0; i < testing_rounds(120); i++) {
        kn_rng_init(&rng, seed, (uint64_t)i);
        kn_error        err = KN_ERROR_INIT;
        tree_shape      shape = {2, 1, 4, 20, 6, 8, false, false, true, false};
        kn_records     *r = tree_random(ctx, &rng, &shape);
        kn_tree_problem p = tree_random_problem(&rng, r), plain;
        kn_tree_result *result = NULL, *without = NULL;
        uint32_t        leaves[TREE_VALUES];
        int             count = 0;
        p.method = KN_METHOD_GCS;
        p.strict = false;
        p.l = 0;
        for (uint32_t u = 1; u < r->vocabulary->nodes; u++)
            if (shows(r, u)) leaves[count++] = u;
        plain = p;
        p.spare_nodes = (int64_t)r->nodes / 4;
        if (count <= 8) {
            assert_ok(kn_tree_search(&without, ctx, &plain, &err), err);
            assert_ok(kn_tree_search(&result, ctx, &p, &err), err);
            double least = best_of_all(ctx, &p, leaves, count);
            assert_int_equal(result->found, least < INFINITY);
            if (result->found && without->found) {
                double loss = lost(ctx, r, result), before = lost(ctx, r, without);
                assert_true(loss >= least && loss <= before);
                all++;
                best += loss == least;
                helped += least < before;
                gained += before - loss;
                possible += before - least;
            }
            kn_tree_result_free(result);
            kn_tree_result_free(without);
        }
        kn_records_free(r);
    }
    printf("the best there is %d of %d; suppression helps in %d; %.0f %% of what it can gain\n", best, all, helped,
           possible > 0 ? 100 * gained / possible : 100);
    assert_true(all > testing_least(40) && gained >= 0.5 * possible);
    testing_context_free(ctx);
}

/* ---- One case ---- */

/* One rare value sends a class without groups to its name; given up, the others stay as they are. */
static void test_rare_value(void **state)
{
    (void)state;
    kn_context       *ctx = testing_context(1);
    kn_error          err = KN_ERROR_INIT;
    const int         depths[] = {1, 2, 2, 2};
    const char *const labels[] = {"Item", "bread", "milk", "caviar"};
    kn_records       *r =
        tree_records(ctx, tree_vocabulary(ctx, 4, depths, labels), "bread\nbread,milk\nbread,milk\nmilk,caviar");
    kn_tree_problem p = KN_TREE_PROBLEM_INIT;
    kn_tree_result *result = NULL;
    p.records = r;
    p.m = 2;
    p.n = 0;
    assert_ok(kn_tree_search(&result, ctx, &p, &err), err);
    assert_int_equal(result->plan->image[tree_value_of(r->vocabulary, "bread")], tree_value_of(r->vocabulary, "Item"));
    kn_tree_result_free(result);
    p.spare_nodes = 1;
    assert_ok(kn_tree_search(&result, ctx, &p, &err), err);
    assert_int_equal(result->plan->image[tree_value_of(r->vocabulary, "bread")], tree_value_of(r->vocabulary, "bread"));
    assert_int_equal(result->given_up, 1);
    assert_true(result->plan->given_up[tree_value_of(r->vocabulary, "caviar")]);
    kn_tree_result_free(result);
    p.spare_nodes = -1;
    assert_int_equal(kn_tree_search(&result, ctx, &p, &err), KN_USAGE);
    p.spare_nodes = 1;
    p.strict = true;
    assert_int_equal(kn_tree_search(&result, ctx, &p, &err), KN_USAGE);
    kn_records_free(r);
    testing_context_free(ctx);
}

static void test_memory(void **state)
{
    (void)state;
    kn_context *own = testing_context(1);
    kn_rng      rng;
    kn_rng_init(&rng, testing_seed(), 7);
    tree_shape      shape = {2, 1, 3, 12, 6, 10, false, false, true, false};
    kn_records     *r = tree_random(own, &rng, &shape);
    kn_tree_problem p = KN_TREE_PROBLEM_INIT;
    kn_status       st = KN_MEMORY;
    p.records = r;
    p.spare_nodes = (int64_t)r->nodes / 3;
    p.spare_records = 3;
    for (int64_t at = 0; st == KN_MEMORY; at += testing_step()) {
        testing_allocator memory = {.refuse_at = -1};
        kn_error          err = KN_ERROR_INIT;
        kn_tree_result   *result = NULL;
        kn_context       *ctx;
        assert_ok(testing_refusing_context(&ctx, &memory, 1, &err), err);
        memory.refuse_at = memory.requests + at;
        st = kn_tree_search(&result, ctx, &p, &err);
        if (st != KN_OK) assert_null(result);
        kn_tree_result_free(result);
        kn_context_free(ctx);
        assert_int_equal(memory.live, 0);
    }
    assert_int_equal(st, KN_OK);
    kn_records_free(r);
    testing_context_free(own);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_forests), cmocka_unit_test(test_against_all),
                                       cmocka_unit_test(test_rare_value), cmocka_unit_test(test_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
