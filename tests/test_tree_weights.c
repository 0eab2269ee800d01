/* test_tree_weights.c: classes that weigh differently: the fast search against the plain one; the cost against its definition, and
 * the best cut against all cuts, by brute force; a class that weighs more is blurred less.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tree_testing.h"

#include <math.h>

#include "kn_tree_reference.h"

enum { MOST_CLASSES = 8, MOST_CUTS = 4000 };

typedef struct weighing {
    kn_ratio weights[MOST_CLASSES];
} weighing;

static weighing random_weights(kn_rng *rng)
{
    weighing w;
    for (int c = 0; c < MOST_CLASSES; c++)
        w.weights[c] = (kn_ratio){1 + kn_rng_below(rng, 40), 1 + kn_rng_below(rng, 4)};
    return w;
}

static double weight_of(const weighing *w, int c)
{
    return (double)w->weights[c].numerator / (double)w->weights[c].denominator;
}

/* How broad a value became: counted leaf by leaf. */
static double breadth(const kn_vocabulary *v, uint32_t value, uint32_t shown)
{
    int below = 0, all = 0;
    if (shown == 0) return 1;
    for (uint32_t u = 1; u < v->nodes; u++) {
        if (v->cls[u] != v->cls[value] || v->end[u] != u + 1) continue;
        all++;
        below += kn_vocabulary_covers(v, shown, u);
    }
    return (double)(below - 1) / all;
}

static int64_t relations(const kn_records *r)
{
    int64_t count = 0;
    for (int64_t t = 0; t < r->count; t++)
        for (uint64_t i = r->start[t]; i < r->start[t + 1]; i++)
            for (uint32_t p = r->parent[i]; p != KN_RECORDS_ROOT; p = r->parent[r->start[t] + p]) count++;
    return count;
}

/* The definition (kn_tree.h). `broad`, if not NULL: of one class alone. */
static double cost_of(kn_context *ctx, const kn_records *r, const kn_records_plan *plan, const weighing *w, int cls,
                      double *broad)
{
    kn_records *released = tree_release(ctx, r, plan);
    double      lost = 0, all = 0, own = 0;
    for (uint64_t i = 0; i < r->nodes; i++) {
        uint32_t value = r->value[i];
        int      c = r->vocabulary->cls[value];
        double   one = breadth(r->vocabulary, value, plan->image[value]);
        lost += weight_of(w, c) * one;
        all += weight_of(w, c);
        own += c == cls ? one : 0;
    }
    double  cost = all > 0 ? lost / all : 0;
    int64_t before = relations(r);
    if (before > 0) cost += 1 - (double)relations(released) / (double)before;
    if (broad) *broad = own;
    kn_records_free(released);
    return cost;
}

/* All nodes side by side; equal ones are one. */
static void flatten(kn_records *r)
{
    uint64_t to = 0, from = 0;
    for (int64_t t = 0; t < r->count; t++) {
        kn_record_node nodes[TREE_NODES];
        char           scratch[TREE_NODES * KN_RECORD_SCRATCH];
        uint32_t       size = 0;
        for (; from < r->start[t + 1]; from++) nodes[size++] = (kn_record_node){KN_RECORDS_ROOT, r->value[from]};
        size = kn_record_canonical(nodes, size, scratch);
        for (uint32_t i = 0; i < size; i++, to++) {
            r->parent[to] = KN_RECORDS_ROOT;
            r->value[to] = nodes[i].value;
        }
        r->start[t + 1] = to;
    }
    r->nodes = to;
}

/* ---- Fast and plain ---- */

static bool same_cuts(const kn_tree_result *a, const kn_tree_result *b)
{
    if (a->found != b->found || !a->found) return a->found == b->found;
    return memcmp(a->plan->image, b->plan->image, a->plan->values * sizeof *a->plan->image) == 0;
}

static bool same_plans(const kn_tree_result *a, const kn_tree_result *b)
{
    if (!same_cuts(a, b) || !a->found) return same_cuts(a, b);
    return a->plan->disassociation_count == b->plan->disassociation_count &&
           memcmp(&a->cost, &b->cost, sizeof a->cost) == 0 &&
           (a->plan->disassociation_count == 0 ||
            memcmp(a->plan->disassociations, b->plan->disassociations,
                   (size_t)a->plan->disassociation_count * sizeof *a->plan->disassociations) == 0);
}

static void test_random_forests(void **state)
{
    (void)state;
    kn_context *contexts[2] = {testing_context(1), testing_context(2)};
    int         found = 0, others = 0, disassociated = 0, flat = 0;
    uint64_t    seed = testing_seed();
    for (int i = 0; i < testing_rounds(3000); i++) {
        kn_rng rng;
        kn_rng_init(&rng, seed, (uint64_t)i);
        kn_error        err = KN_ERROR_INIT;
        kn_context     *ctx = contexts[i % 2];
        tree_shape      shapes[] = {TREE_SHAPE_DISASSOCIATED,
                                    {4, 2, 3, 24, 12, 0, true, true, false, i % 4 == 0},
                                    {3, 2, 3, 40, 9, 16, true, false, true, false}};
        kn_records     *r = tree_random(ctx, &rng, &shapes[i % 3]);
        kn_tree_problem p = tree_random_problem(&rng, r);
        weighing        w = random_weights(&rng);
        kn_tree_result *fast = NULL, *unweighed = NULL, plain;
        if (i % 5 == 4) { /* flat records have a search of their own */
            flatten(r);
            p.m = p.m > 2 ? 2 : p.m;
            p.n = 0;
        }
        if (i % 3 != 0 && p.method == KN_METHOD_ACS) p.method = KN_METHOD_GCS; /* too many cuts */
        assert_ok(kn_tree_search(&unweighed, ctx, &p, &err), err);
        p.weights = w.weights;
        assert_ok(kn_tree_reference_search(&plain, ctx, &p, &err), err);
        assert_ok(kn_tree_search(&fast, ctx, &p, &err), err);
        assert_true(same_plans(fast, &plain));
        assert_int_equal(fast->found, unweighed->found);
        if (fast->found) {
            assert_close(cost_of(ctx, r, fast->plan, &w, 0, NULL), fast->cost);
            kn_records *released = tree_release(ctx, r, fast->plan);
            assert_true(tree_holds_against(r, released, p.k, p.m, p.n, p.semantics, p.l));
            kn_records_free(released);
            others += !same_cuts(fast, unweighed);
        }
        found += fast->found;
        disassociated += fast->found && fast->plan->disassociation_count > 0;
        flat += fast->found && i % 5 == 4;
        kn_tree_result_free(fast);
        kn_tree_result_free(unweighed);
        kn_records_plan_free(plain.plan);
        kn_records_free(r);
    }
    printf("found %d, other than without weights %d, with disassociations %d, flat %d\n", found, others, disassociated,
           flat);
    assert_true(found > testing_least(1500) && others > testing_least(60) && disassociated > testing_least(50) &&
                flat > testing_least(200));
    testing_context_free(contexts[0]);
    testing_context_free(contexts[1]);
}

/* ---- All cuts ---- */

typedef struct all_cuts {
    kn_context            *ctx;
    const kn_tree_problem *p;
    const weighing        *w;
    kn_records_plan       *plan;
    double                 best;
    int                    looked_at;
} all_cuts;

static void try_cut(all_cuts *a)
{
    kn_records *released = tree_release(a->ctx, a->p->records, a->plan);
    a->looked_at++;
    if (tree_holds_against(a->p->records, released, a->p->k, a->p->m, 0, a->p->semantics, 0)) {
        double cost = cost_of(a->ctx, a->p->records, a->plan, a->w, 0, NULL);
        if (cost < a->best) a->best = cost;
    }
    kn_records_free(released);
}

/* Every way to show the values from `u` on: it stands for all below it, or they for themselves. */
static void show_from(all_cuts *a, uint32_t u)
{
    const kn_vocabulary *v = a->p->records->vocabulary;
    if (a->looked_at > MOST_CUTS) return;
    if (u == v->nodes) {
        try_cut(a);
        return;
    }
    for (uint32_t i = u; i < v->end[u]; i++) a->plan->image[i] = u;
    show_from(a, v->end[u]);
    if (v->end[u] > u + 1) show_from(a, u + 1);
}

static void test_against_all_cuts(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(1);
    int         compared = 0, blurred = 0;
    uint64_t    seed = testing_seed();
    for (int i = 0; i < testing_rounds(3000); i++) {
        kn_rng rng;
        kn_rng_init(&rng, seed, (uint64_t)i);
        kn_error        err = KN_ERROR_INIT;
        tree_shape      shape = {3, 2, 2, 16, 6, 4, false, false, true, false};
        kn_records     *r = tree_random(ctx, &rng, &shape);
        kn_tree_problem p = tree_random_problem(&rng, r);
        weighing        w = random_weights(&rng);
        kn_tree_result *result = NULL;
        p.method = KN_METHOD_ACS;
        p.n = 0;
        p.l = 0;
        p.strict = false;
        p.weights = w.weights;
        all_cuts a = {ctx, &p, &w, NULL, INFINITY, 0};
        assert_ok(kn_records_plan_create(&a.plan, ctx, r->vocabulary, 0, &err), err);
        if (r->count >= p.k) show_from(&a, 0);
        if (a.looked_at <= MOST_CUTS) {
            assert_ok(kn_tree_search(&result, ctx, &p, &err), err);
            assert_int_equal(result->found, a.best < INFINITY);
            if (result->found) assert_close(result->cost, a.best);
            compared += result->found;
            blurred += result->found && result->cost > 0 && result->cost < 1;
            kn_tree_result_free(result);
        }
        kn_records_plan_free(a.plan);
        kn_records_free(r);
    }
    printf("compared %d, of which some but not all was blurred %d\n", compared, blurred);
    assert_true(compared > testing_least(1500) && blurred > testing_least(600));
    testing_context_free(ctx);
}

/* ---- What weighs more ---- */

/* Of flat records the best cut with a greater weight of a class blurs that class no more. */
static void test_heavier_is_kept(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(1);
    int         less = 0, compared = 0;
    uint64_t    seed = testing_seed();
    for (int i = 0; i < testing_rounds(600); i++) {
        kn_rng rng;
        kn_rng_init(&rng, seed, (uint64_t)i);
        kn_error        err = KN_ERROR_INIT;
        tree_shape      shape = {3, 2, 2, 20, 6, 6, false, false, true, false};
        kn_records     *r = tree_random(ctx, &rng, &shape);
        kn_tree_problem p = tree_random_problem(&rng, r);
        weighing        w = random_weights(&rng), heavier = w;
        kn_tree_result *light = NULL, *heavy = NULL;
        double          before = 0, after = 0;
        flatten(r);
        p.method = KN_METHOD_ACS;
        p.n = 0;
        p.weights = w.weights;
        assert_ok(kn_tree_search(&light, ctx, &p, &err), err);
        heavier.weights[0].numerator *= 50;
        p.weights = heavier.weights;
        assert_ok(kn_tree_search(&heavy, ctx, &p, &err), err);
        assert_int_equal(light->found, heavy->found);
        if (light->found) {
            (void)cost_of(ctx, r, light->plan, &w, 0, &before);
            (void)cost_of(ctx, r, heavy->plan, &w, 0, &after);
            assert_true(after <= before + 1e-9);
            less += after < before - 1e-9;
            compared++;
        }
        kn_tree_result_free(light);
        kn_tree_result_free(heavy);
        kn_records_free(r);
    }
    printf("compared %d, the heavier class blurred less in %d\n", compared, less);
    assert_true(compared > testing_least(300) && less >= testing_least(16));
    testing_context_free(ctx);
}

/* With a budget the loss that is compared is the weighted one, and the reference finds the same. */
static void test_suppression(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(1);
    int         found = 0, others = 0;
    uint64_t    seed = testing_seed();
    for (int i = 0; i < testing_rounds(300); i++) {
        kn_rng rng;
        kn_rng_init(&rng, seed, (uint64_t)i);
        kn_error        err = KN_ERROR_INIT;
        tree_shape      shape = {3, 2, 3, 24, 9, 8, true, false, true, false};
        kn_records     *r = tree_random(ctx, &rng, &shape);
        kn_tree_problem p = tree_random_problem(&rng, r);
        weighing        w = random_weights(&rng);
        kn_tree_result *fast = NULL, *slow = NULL, *unweighed = NULL;
        p.method = KN_METHOD_GCS;
        p.strict = false;
        p.spare_nodes = (int64_t)kn_rng_below(&rng, r->nodes / 3 + 2);
        p.spare_records = (int64_t)kn_rng_below(&rng, (uint64_t)r->count / 3 + 2);
        assert_ok(kn_tree_search(&unweighed, ctx, &p, &err), err);
        p.weights = w.weights;
        assert_ok(kn_tree_search(&fast, ctx, &p, &err), err);
        p.reference = true;
        assert_ok(kn_tree_search(&slow, ctx, &p, &err), err);
        assert_true(same_plans(fast, slow));
        assert_int_equal(fast->given_up, slow->given_up);
        assert_int_equal(fast->left_out, slow->left_out);
        found += fast->found;
        others += fast->found && !same_cuts(fast, unweighed);
        kn_tree_result_free(fast);
        kn_tree_result_free(slow);
        kn_tree_result_free(unweighed);
        kn_records_free(r);
    }
    printf("found %d, other than without weights %d\n", found, others);
    assert_true(found > testing_least(150) && others > testing_least(20));
    testing_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_forests),
        testing_alone(test_against_all_cuts),
        testing_alone(test_heavier_is_kept),
        testing_alone(test_suppression),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
