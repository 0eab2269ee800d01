/* test_steer.c: searches between bounds: every method on random tables against the nodes between the bounds, judged one by
 * one over the rows; a fixed node; bounds that are none.
 * SPDX-License-Identifier: Apache-2.0 */
#include "lattice_testing.h"

#include <math.h>

#include "kn_frontier.h"

enum { METHODS = KN_METHOD_DATAFLY + 1 };

typedef struct between {
    int     low[MOST_QUASI], high[MOST_QUASI];
    int     count;
    int     levels[MOST_NODES][MOST_QUASI];
    verdict of[MOST_NODES];
} between;

static void choose_bounds(between *b, const world *w, kn_rng *rng, bool fixed)
{
    memset(b, 0, sizeof *b);
    for (int q = 0; q < w->quasi_count; q++) {
        b->low[q] = pick(rng, w->trees[q].height + 1);
        b->high[q] = fixed ? b->low[q] : b->low[q] + pick(rng, w->trees[q].height - b->low[q] + 1);
        if (!fixed && pick(rng, 4) == 0) b->low[q] = 0;
    }
}

/* In lexicographic order. */
static void judge_all(between *b, world *w)
{
    int levels[MOST_QUASI];
    memcpy(levels, b->low, sizeof levels);
    for (;;) {
        memcpy(b->levels[b->count], levels, sizeof levels);
        naive_judge(&b->of[b->count++], w, ((uint64_t)1 << w->quasi_count) - 1, levels);
        int q = w->quasi_count - 1;
        for (; q >= 0 && levels[q] == b->high[q]; q--) levels[q] = b->low[q];
        if (q < 0) return;
        levels[q]++;
    }
}

static int height_of(const world *w, const int *levels)
{
    int height = 0;
    for (int q = 0; q < w->quasi_count; q++) height += levels[q];
    return height;
}

static kn_standing standing(const world *w, const between *b, int i)
{
    return (kn_standing){kn_objective_loss(w->objective, &b->of[i].sums), b->of[i].sums.suppressed, b->levels[i]};
}

/* -1: no node between the bounds is good. */
static int best_of(const world *w, const between *b, bool by_height)
{
    int best = -1;
    for (int i = 0; i < b->count; i++) {
        if (!b->of[i].good) continue;
        bool better = best < 0;
        if (!better && by_height)
            better = height_of(w, b->levels[i]) < height_of(w, b->levels[best]);
        else if (!better)
            better = kn_standing_compare(standing(w, b, i), standing(w, b, best), w->quasi_count) < 0;
        if (better) best = i;
    }
    return best;
}

static int find(const world *w, const between *b, const int *levels)
{
    for (int i = 0; i < b->count; i++)
        if (memcmp(b->levels[i], levels, (size_t)w->quasi_count * sizeof *levels) == 0) return i;
    return -1;
}

static int count_minimal(const world *w, const between *b)
{
    int count = 0;
    for (int i = 0; i < b->count; i++) {
        bool minimal = b->of[i].good;
        for (int j = 0; j < b->count && minimal; j++) {
            bool below = j != i && b->of[j].good;
            for (int q = 0; q < w->quasi_count; q++) below = below && b->levels[j][q] <= b->levels[i][q];
            minimal = !below;
        }
        count += minimal;
    }
    return count;
}

static bool is_exact(kn_method m)
{
    return m != KN_METHOD_SAMARATI && m != KN_METHOD_HEURISTIC && m != KN_METHOD_DATAFLY;
}

static void check_method(world *w, const between *b, kn_context *ctx, kn_method method)
{
    kn_error              err = KN_ERROR_INIT;
    kn_fulldomain_result *r = NULL;
    int                   best = best_of(w, b, method == KN_METHOD_SAMARATI);
    w->problem.method = method;
    w->problem.all_solutions = true;
    assert_ok(kn_fulldomain_search(&r, ctx, &w->problem, &err), err);
    /* Of some nodes that it has not counted the heuristic knows nothing, where good is not upward closed. */
    assert_true(r->complete || (method == KN_METHOD_HEURISTIC && !r->found && b->count > 1 && !monotone(w)));
    assert_int_equal((int)r->counters.lattice, b->count);
    if (method == KN_METHOD_DATAFLY && !monotone(w) && b->count > 1)
        assert_true(!r->found || best >= 0);
    else
        assert_int_equal(r->found, best >= 0);
    if (r->found) {
        int at = find(w, b, r->best.levels);
        assert_true(at >= 0 && b->of[at].good);
        assert_int_equal(r->best.suppressed, b->of[at].sums.suppressed);
        assert_int_equal(kn_quotient_compare(r->best.loss, kn_objective_loss(w->objective, &b->of[at].sums)), 0);
        if (is_exact(method) || method == KN_METHOD_SAMARATI) assert_int_equal(at, best);
    }
    if (is_exact(method)) assert_int_equal(r->solution_count, count_minimal(w, b));
    for (int64_t i = 0; i < r->solution_count; i++) assert_true(find(w, b, r->solutions[i].levels) >= 0);
    kn_fulldomain_result_free(r);
}

static void search(bool fixed, uint64_t stream)
{
    kn_context *ctx = testing_context(2);
    kn_rng      rng;
    kn_rng_init(&rng, testing_seed(), stream);
    int rounds = testing_rounds(200), found = 0, none = 0;
    for (int round = 0; round < rounds; round++) {
        world          w;
        static between b;
        if (!world_make(&w, ctx, &rng, round)) continue;
        choose_bounds(&b, &w, &rng, fixed);
        judge_all(&b, &w);
        w.problem.low = b.low;
        w.problem.high = b.high;
        *(best_of(&w, &b, false) >= 0 ? &found : &none) += 1;
        for (int m = 0; m < METHODS; m++) check_method(&w, &b, ctx, (kn_method)m);
        world_free(&w);
    }
    assert_true(found >= testing_least(40) && none >= testing_least(20));
    testing_context_free(ctx);
}

static void a_bounded_search_is_the_best_between_the_bounds(void **state)
{
    (void)state;
    search(false, 171);
}

static void a_fixed_node_is_that_node_or_none(void **state)
{
    (void)state;
    search(true, 172);
}

static void bounds_out_of_range_are_refused(void **state)
{
    (void)state;
    kn_context           *ctx = testing_context(1);
    kn_error              err = KN_ERROR_INIT;
    kn_rng                rng;
    world                 w;
    kn_fulldomain_result *r = NULL;
    kn_rng_init(&rng, testing_seed(), 173);
    while (!world_make(&w, ctx, &rng, 0)) continue;
    static const struct {
        int low, high;
    } wrong[] = {{-1, 0}, {1, 0}, {0, 100}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        int low[MOST_QUASI] = {0}, high[MOST_QUASI] = {0};
        low[w.quasi_count - 1] = wrong[i].low;
        high[w.quasi_count - 1] = wrong[i].high;
        w.problem.low = low;
        w.problem.high = high;
        assert_int_equal(kn_fulldomain_search(&r, ctx, &w.problem, &err), KN_USAGE);
        assert_null(r);
        assert_non_null(strstr(err.message, kn_table_name(w.table, w.quasi_count - 1)));
    }
    world_free(&w);
    testing_context_free(ctx);
}

/* ---- What fails at a node ---- */

static double worse(double a, double b, bool larger)
{
    return isnan(a) || (larger ? b < a : b > a) ? b : a;
}

static void check_explained(world *w, const kn_node_failures *f, const kn_failures *models, const int *levels)
{
    const kn_requirements *r = w->requirements;
    uint64_t               all = ((uint64_t)1 << w->quasi_count) - 1;
    verdict                v;
    kn_failures            expected[MOST_MODELS], any = {0};
    int64_t                classes = 0, held = 0, held_persons = 0;
    for (int m = 0; m < r->model_count; m++) expected[m] = (kn_failures){.worst = NAN};
    for (int row = 0; row < w->rows; row++) {
        bool        rows[MOST_ROWS], first = true, fails = false;
        shown_class c;
        for (int i = 0; i < w->rows; i++) {
            rows[i] = alike(w, all, levels, w->leaf[row], w->leaf[i]);
            first = first && !(rows[i] && i < row);
        }
        if (!first) continue;
        classes++;
        show_class(&c, w, rows, people_like(w, all, levels, w->leaf[row]));
        for (int m = 0; m < r->model_count; m++) {
            bool larger = kn_model_larger_is_stronger(r->models[m].kind);
            expected[m].worst = worse(expected[m].worst, kn_requirements_reached(r, m, &c.view, &w->scratch), larger);
            if (kn_requirements_holds_one(r, m, &c.view, &w->scratch)) continue;
            expected[m].classes++;
            expected[m].rows += c.view.rows;
            fails = true;
        }
        any.classes += fails;
        any.rows += fails ? c.view.rows : 0;
        held += !fails;
        held_persons += fails ? 0 : c.view.persons;
    }
    naive_judge(&v, w, all, levels);
    assert_int_equal(f->good, v.good);
    assert_int_equal(f->classes, classes);
    assert_int_equal(f->any.classes, any.classes);
    assert_int_equal(f->any.rows, any.rows);
    assert_int_equal(f->suppressed, v.sums.suppressed);
    assert_int_equal(f->average.rows, v.average_suppressed);
    assert_int_equal(f->average.classes, held - v.sums.classes);
    if (r->has_average && held > 0) assert_true(f->average.worst == (double)held / (double)held_persons);
    assert_int_equal(kn_quotient_compare(f->loss, kn_objective_loss(w->objective, &v.sums)), 0);
    for (int m = 0; m < r->model_count; m++) {
        assert_int_equal(models[m].classes, expected[m].classes);
        assert_int_equal(models[m].rows, expected[m].rows);
        assert_true(models[m].worst == expected[m].worst || (isnan(models[m].worst) && isnan(expected[m].worst)));
    }
}

static void every_promise_is_explained_as_by_brute_force(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(2);
    kn_rng      rng;
    kn_rng_init(&rng, testing_seed(), 174);
    int rounds = testing_rounds(300), good = 0, bad = 0;
    for (int round = 0; round < rounds; round++) {
        world            w;
        int              levels[MOST_QUASI];
        kn_error         err = KN_ERROR_INIT;
        kn_node_failures f;
        kn_failures      models[MOST_MODELS];
        if (!world_make(&w, ctx, &rng, round)) continue;
        for (int q = 0; q < w.quasi_count; q++) levels[q] = pick(&rng, w.trees[q].height + 1);
        assert_ok(kn_fulldomain_explain(&f, models, ctx, &w.problem, levels, &err), err);
        check_explained(&w, &f, models, levels);
        *(f.good ? &good : &bad) += 1;
        levels[0] = 100;
        assert_int_equal(kn_fulldomain_explain(&f, models, ctx, &w.problem, levels, &err), KN_USAGE);
        world_free(&w);
    }
    assert_true(good >= testing_least(20) && bad >= testing_least(20));
    testing_context_free(ctx);
}

/* ---- The frontier ---- */

enum { MOST_KS = 6, MOST_POINTS = MOST_NODES * MOST_KS };

typedef struct naive_point {
    int64_t     k, suppressed;
    kn_quotient loss;
    int         levels[MOST_QUASI];
    int         height;
} naive_point;

/* The point of a node and a k: classes that are too small, or fail another promise, are suppressed. */
static naive_point naive_point_of(world *w, const int *levels, int64_t k, bool *any)
{
    const kn_requirements *r = w->requirements;
    uint64_t               all = ((uint64_t)1 << w->quasi_count) - 1;
    naive_point            p = {.k = k, .height = height_of(w, levels)};
    verdict                v = {0};
    int                    class_of[MOST_ROWS];
    for (int row = 0; row < w->rows; row++) {
        bool        rows[MOST_ROWS];
        shown_class c;
        for (class_of[row] = 0; !alike(w, all, levels, w->leaf[class_of[row]], w->leaf[row]); class_of[row]++) continue;
        for (int i = 0; i < w->rows; i++) rows[i] = alike(w, all, levels, w->leaf[row], w->leaf[i]);
        show_class(&c, w, rows, people_like(w, all, levels, w->leaf[row]));
        v.suppressed[row] = c.view.persons < k;
        for (int m = 0; m < r->model_count; m++)
            if (r->models[m].kind != KN_MODEL_K && !kn_requirements_holds_one(r, m, &c.view, &w->scratch))
                v.suppressed[row] = true;
    }
    naive_sums(w, levels, class_of, &v);
    kn_objective o = *w->objective;
    o.k = k;
    p.suppressed = v.sums.suppressed;
    p.loss = kn_objective_loss(&o, &v.sums);
    memcpy(p.levels, levels, sizeof p.levels);
    *any = v.sums.rows > 0 && v.sums.suppressed <= w->problem.budget;
    return p;
}

static bool naive_better(const naive_point *a, const naive_point *b, int quasi)
{
    int order = kn_quotient_compare(a->loss, b->loss);
    if (a->k < b->k || a->suppressed > b->suppressed || order > 0) return false;
    if (a->k > b->k || a->suppressed < b->suppressed || order < 0) return true;
    if (a->height != b->height) return a->height < b->height;
    for (int q = 0; q < quasi; q++)
        if (a->levels[q] != b->levels[q]) return a->levels[q] < b->levels[q];
    return false;
}

static int naive_frontier(world *w, const between *b, const int64_t *ks, int k_count, naive_point *all, bool *stays)
{
    int count = 0;
    for (int i = 0; i < b->count; i++)
        for (int j = 0; j < k_count; j++) {
            bool any;
            all[count] = naive_point_of(w, b->levels[i], ks[j], &any);
            count += any;
        }
    for (int i = 0; i < count; i++) {
        stays[i] = true;
        for (int o = 0; o < count && stays[i]; o++)
            stays[i] = o == i || !naive_better(&all[o], &all[i], w->quasi_count);
    }
    return count;
}

static int check_frontier(world *w, const between *b, kn_context *ctx, kn_rng *rng)
{
    static naive_point  all[MOST_POINTS];
    static bool         stays[MOST_POINTS];
    kn_error            err = KN_ERROR_INIT;
    kn_frontier_result *r = NULL;
    int64_t             ks[MOST_KS], left = 0;
    int                 k_count = 1 + pick(rng, MOST_KS);
    for (int j = 0; j < k_count; j++) ks[j] = (j > 0 ? ks[j - 1] : 0) + 1 + pick(rng, 2);
    kn_status st = kn_frontier_search(&r, ctx, &w->problem, ks, k_count, &err);
    if (w->requirements->has_average || w->requirements->absent_fails ||
        (w->problem.suppressed == KN_SUPPRESSED_KEEP_SENSITIVE && w->problem.budget > 0)) {
        assert_int_equal(st, KN_USAGE);
        assert_null(r);
        return 0;
    }
    assert_ok(st, err);
    int count = naive_frontier(w, b, ks, k_count, all, stays);
    for (int i = 0; i < count; i++) {
        if (!stays[i]) continue;
        left++;
        bool found = false;
        for (int64_t n = 0; n < r->count; n++)
            found = found || (r->items[n].k == all[i].k && r->items[n].suppressed == all[i].suppressed &&
                              kn_quotient_compare(r->items[n].loss, all[i].loss) == 0 &&
                              memcmp(r->items[n].levels, all[i].levels, (size_t)w->quasi_count * sizeof(int)) == 0);
        assert_true(found);
    }
    assert_int_equal(r->count, left);
    kn_frontier_result_free(r);
    return (int)left;
}

static void the_frontier_is_that_of_brute_force(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(2);
    kn_rng      rng;
    kn_rng_init(&rng, testing_seed(), 175);
    int rounds = testing_rounds(300), points = 0, plain = 0;
    for (int round = 0; round < rounds; round++) {
        world          w;
        static between b;
        if (!world_make(&w, ctx, &rng, pick(&rng, 2) ? KN_MODEL_K : round)) continue;
        choose_bounds(&b, &w, &rng, false);
        judge_all(&b, &w);
        w.problem.low = b.low;
        w.problem.high = b.high;
        int found = check_frontier(&w, &b, ctx, &rng);
        points += found;
        plain += found > 0 && w.requirements->k_only;
        world_free(&w);
    }
    assert_true(points >= testing_least(200) && plain >= testing_least(10));
    testing_context_free(ctx);
}

/* ---- Memory ---- */

enum { BOUNDED, EXPLAINED, FRONTIER, ASKED };

static kn_status ask(int what, kn_context *ctx, world *w, kn_error *err)
{
    kn_fulldomain_result *r = NULL;
    kn_frontier_result   *f = NULL;
    kn_node_failures      node;
    kn_failures           models[MOST_MODELS];
    static const int64_t  ks[] = {1, 2, 4};
    kn_status             st;
    if (what == BOUNDED)
        st = kn_fulldomain_search(&r, ctx, &w->problem, err);
    else if (what == EXPLAINED)
        st = kn_fulldomain_explain(&node, models, ctx, &w->problem, w->problem.low, err);
    else
        st = kn_frontier_search(&f, ctx, &w->problem, ks, 3, err);
    assert_true(st == KN_OK || (!r && !f));
    kn_fulldomain_result_free(r);
    kn_frontier_result_free(f);
    return st;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(1);
    kn_rng      rng;
    kn_rng_init(&rng, testing_seed(), 176);
    for (int round = 0, tried = 0; tried < 2 * ASKED; round++) {
        world          w;
        static between b;
        if (!world_make(&w, ctx, &rng, round % 2 ? KN_MODEL_K : KN_MODEL_DISTINCT)) continue;
        choose_bounds(&b, &w, &rng, false);
        w.problem.low = b.low;
        w.problem.high = b.high;
        w.problem.suppressed = KN_SUPPRESSED_STAR;
        bool fits = w.quasi_count <= 2 && !w.requirements->has_average && !w.requirements->absent_fails;
        for (int64_t refuse = 0; fits; refuse += testing_step()) {
            testing_allocator memory = {.refuse_at = -1};
            kn_context       *poor = NULL;
            kn_error          err = KN_ERROR_INIT;
            assert_ok(testing_refusing_context(&poor, &memory, 1, &err), err);
            memory.refuse_at = memory.requests + refuse;
            kn_status st = ask(tried % ASKED, poor, &w, &err);
            kn_context_free(poor);
            assert_int_equal(memory.live, 0);
            if (st == KN_OK) break;
            assert_int_equal(st, KN_MEMORY);
        }
        tried += fits;
        world_free(&w);
    }
    testing_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bounded_search_is_the_best_between_the_bounds),
        cmocka_unit_test(a_fixed_node_is_that_node_or_none),
        testing_alone(bounds_out_of_range_are_refused),
        cmocka_unit_test(every_promise_is_explained_as_by_brute_force),
        cmocka_unit_test(the_frontier_is_that_of_brute_force),
        testing_alone(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
