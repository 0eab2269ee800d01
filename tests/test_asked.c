/* test_asked.c: the search by questions against the search that has the rows: every method that asks, random tables, promises, metrics,
 * budgets and bounds; what an answer excludes is never good.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kn_asked.h"
#include "random_problem.h"

/* Answers from the rows, as an engine does from its own. */
typedef struct answering {
    const random_problem *p;
    kn_evaluator         *evaluator, *sizes;
    int                   questions;
} answering;

static kn_verdict judge_by(const kn_evaluator *e, const int *levels, int64_t *classes)
{
    kn_error    err = KN_ERROR_INIT;
    kn_classes *set = NULL;
    kn_verdict  verdict;
    assert_ok(kn_classes_scan(&set, e, KN_ALL_ATTRIBUTES, levels, &err), err);
    assert_ok(kn_classes_judge(&verdict, e, set, &err), err);
    *classes = kn_classes_count(set);
    kn_classes_free(set);
    return verdict;
}

static kn_status judge(void *state, const int *levels, kn_node_answer *out, kn_error *err)
{
    answering *a = state;
    (void)err;
    a->questions++;
    kn_verdict small = judge_by(a->sizes, levels, &out->classes);
    out->enough = small.good;
    out->squares = small.sums.squares + small.sums.suppressed_squares;
    if (out->enough) out->verdict = judge_by(a->evaluator, levels, &out->classes);
    return KN_OK;
}

static kn_status enough(void *state, const int *levels, bool *out, kn_error *err)
{
    kn_node_answer answer = {.enough = false};
    kn_status      st = judge(state, levels, &answer, err);
    *out = answer.enough;
    return st;
}

/* What each column shows at each level. */
static void count_shown(const random_problem *p, const kn_evaluator *e, uint32_t **distinct)
{
    for (int q = 0; q < p->problem.quasi_count; q++) {
        int levels = kn_hierarchy_levels(p->hierarchies[q]);
        distinct[q] = calloc((size_t)levels, sizeof **distinct);
        assert_non_null(distinct[q]);
        for (int l = 0; l < levels; l++) distinct[q][l] = kn_evaluator_distinct(e, q, l);
    }
}

static void assert_same_result(const kn_fulldomain_result *a, const kn_fulldomain_result *b, int quasi)
{
    assert_int_equal(a->found, b->found);
    assert_int_equal(a->complete, b->complete);
    if (!a->found) return;
    for (int q = 0; q < quasi; q++) assert_int_equal(a->best.levels[q], b->best.levels[q]);
    assert_int_equal(a->best.suppressed, b->best.suppressed);
    assert_int_equal(a->best.classes, b->best.classes);
    assert_int_equal(kn_quotient_compare(a->best.loss, b->best.loss), 0);
}

/* By one method, both ways; the number of questions. */
static int compare(random_problem *p, const kn_requirements *sizes, kn_method method)
{
    kn_error              err = KN_ERROR_INIT;
    kn_fulldomain_result *whole = NULL, *asked = NULL;
    kn_fulldomain_problem small = p->problem;
    uint32_t             *distinct[RANDOM_QUASI];
    answering             a = {.p = p};
    p->problem.method = method;
    small.requirements = sizes;
    small.suppressed = KN_SUPPRESSED_STAR;
    kn_fulldomain_problem full = p->problem;
    full.low = full.high = NULL;
    small.low = small.high = NULL;
    assert_ok(kn_evaluator_make(&a.evaluator, p->ctx, &full, &err), err);
    assert_ok(kn_evaluator_make(&a.sizes, p->ctx, &small, &err), err);
    count_shown(p, a.evaluator, distinct);
    kn_node_oracle oracle = {&a, enough, judge, (const uint32_t *const *)distinct};
    assert_ok(kn_fulldomain_search(&whole, p->ctx, &p->problem, &err), err);
    assert_ok(kn_fulldomain_ask(&asked, p->ctx, &p->problem, &oracle, &err), err);
    assert_same_result(whole, asked, p->problem.quasi_count);
    for (int q = 0; q < p->problem.quasi_count; q++) free(distinct[q]);
    kn_fulldomain_result_free(whole);
    kn_fulldomain_result_free(asked);
    kn_evaluator_free(a.evaluator);
    kn_evaluator_free(a.sizes);
    return a.questions;
}

static void test_same_node(void **state)
{
    static const kn_method methods[] = {KN_METHOD_OPTIMAL, KN_METHOD_BOTTOM_UP_ROLLUP, KN_METHOD_INCOGNITO,
                                        KN_METHOD_SAMARATI, KN_METHOD_DATAFLY};
    kn_context            *ctx = testing_context(1);
    kn_error               err = KN_ERROR_INIT;
    kn_rng                 rng;
    double                 nodes = 0, questions = 0;
    (void)state;
    kn_rng_init(&rng, testing_seed(), 1);
    for (int i = 0; i < testing_rounds(120); i++) {
        random_problem   p;
        kn_requirements *sizes = NULL;
        int              low[RANDOM_QUASI], high[RANDOM_QUASI];
        if (!random_problem_make(&p, ctx, &rng, (random_shape){120, 4, 10, 4, false, random_below(&rng, 2) == 0}))
            continue;
        kn_model                k = {.kind = KN_MODEL_K, .k = p.requirements->k};
        kn_requirements_options options = {.models = &k, .model_count = 1, .entity = -1};
        assert_ok(kn_requirements_make(&sizes, ctx, p.table, &options, &err), err);
        for (int q = 0; q < p.problem.quasi_count; q++) {
            int height = (int)p.hierarchies[q]->height;
            low[q] = random_below(&rng, 4) == 0 ? random_below(&rng, height + 1) : 0;
            high[q] = low[q] + random_below(&rng, height - low[q] + 1);
            if (random_below(&rng, 2)) high[q] = height;
        }
        bool bounded = random_below(&rng, 3) == 0;
        p.problem.low = bounded ? low : NULL;
        p.problem.high = bounded ? high : NULL;
        for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
            int asked = compare(&p, sizes, methods[m]);
            if (methods[m] != KN_METHOD_OPTIMAL || bounded) continue;
            double all = 1;
            for (int q = 0; q < p.problem.quasi_count; q++) all *= kn_hierarchy_levels(p.hierarchies[q]);
            nodes += all;
            questions += asked;
        }
        kn_requirements_free(sizes);
        random_problem_free(&p);
    }
    printf("# optimal: %.0f questions about lattices of %.0f nodes\n", questions, nodes);
    testing_context_free(ctx);
}

/* A lattice of 4^6 nodes: far fewer questions than nodes. */
static void test_few_questions(void **state)
{
    kn_context *ctx = testing_context(1);
    kn_error    err = KN_ERROR_INIT;
    kn_rng      rng;
    (void)state;
    kn_rng_init(&rng, testing_seed(), 2);
    for (int i = 0; i < testing_rounds(4); i++) {
        random_problem   p;
        kn_requirements *sizes = NULL;
        if (!random_problem_make(&p, ctx, &rng, (random_shape){400, 6, 12, 3, true, true})) continue;
        kn_model                k = {.kind = KN_MODEL_K, .k = p.requirements->k};
        kn_requirements_options options = {.models = &k, .model_count = 1, .entity = -1};
        double                  all = 1;
        assert_ok(kn_requirements_make(&sizes, ctx, p.table, &options, &err), err);
        for (int q = 0; q < p.problem.quasi_count; q++) all *= kn_hierarchy_levels(p.hierarchies[q]);
        int asked = compare(&p, sizes, KN_METHOD_OPTIMAL);
        printf("# %d questions about a lattice of %.0f nodes\n", asked, all);
        assert_true(p.problem.objective->cells ? asked < all : asked < 4 * all);
        kn_requirements_free(sizes);
        random_problem_free(&p);
    }
    testing_context_free(ctx);
}

static void test_refused(void **state)
{
    kn_context           *ctx = testing_context(1);
    kn_error              err = KN_ERROR_INIT;
    kn_rng                rng;
    random_problem        p;
    kn_fulldomain_result *r = NULL;
    kn_node_oracle        none = {0};
    (void)state;
    kn_rng_init(&rng, testing_seed(), 3);
    while (!random_problem_make(&p, ctx, &rng, (random_shape){20, 2, 5, 2, false, true})) continue;
    p.problem.method = KN_METHOD_HEURISTIC;
    assert_int_equal(kn_fulldomain_ask(&r, ctx, &p.problem, &none, &err), KN_USAGE);
    assert_non_null(strstr(err.message, "heuristic"));
    assert_false(kn_method_asks(KN_METHOD_MONDRIAN));
    random_problem_free(&p);
    testing_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_same_node), cmocka_unit_test(test_few_questions),
                                       cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
