/* test_requirements.c: the promises of a release: each model against a twin that counts row by row, every claim of
 * monotonicity against random merges, "nothing can do" against all ways to cut a table, entities by hand.
 * SPDX-License-Identifier: Apache-2.0 */
#include "requirements_testing.h"

/* ---- Every model, alone and together ---- */

static void every_model_equals_its_twin(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(1);
    kn_error    err = KN_ERROR_INIT;
    kn_rng      rng;
    int64_t     held = 0, failed = 0;
    kn_rng_init(&rng, testing_seed(), 1);
    for (int round = 0; round < testing_rounds(1500); round++) {
        sheet         s = random_sheet(ctx, &rng, MOST_ROWS);
        kn_hierarchy *h = read_hierarchy(ctx, &s);
        kn_model      models[4];
        int           count = 1 + (int)kn_rng_below(&rng, 4);
        bool          entity = kn_rng_below(&rng, 2);
        for (int i = 0; i < count; i++)
            models[i] = random_model(&rng, (kn_model_kind)kn_rng_below(&rng, KN_MODEL_KINDS));
        kn_requirements *r = make(ctx, &s, models, count, entity, h);
        for (int tries = 0; tries < 30 && r; tries++) {
            twin_class  c = {.rows = (uint32_t)kn_rng_next(&rng) & (uint32_t)kn_rng_next(&rng) & all_rows(&s)};
            shown_class shown;
            bool        holds = true;
            if (tries == 0) c.rows = all_rows(&s);
            c.unit = kn_rng_below(&rng, 2) ? 1 : 1000;
            c.population = (int64_t)kn_rng_below(&rng, 30) * c.unit + (int64_t)kn_rng_below(&rng, (uint64_t)c.unit);
            show(&shown, &s, r, &c);
            kn_requirements_scratch scratch;
            assert_ok(kn_requirements_scratch_make(&scratch, r, &err), err);
            for (int i = 0; i < r->model_count; i++) {
                const kn_model *m = &models[r->asked[i]];
                bool            one = twin_holds(&s, &c, m, entity);
                holds = holds && one;
                if (c.rows) assert_int_equal(kn_requirements_holds_one(r, i, &shown.view, &scratch), one);
            }
            assert_int_equal(kn_requirements_hold(r, &shown.view, &scratch), holds);
            if (holds) assert_true(kn_requirements_hold_monotone_part(r, &shown.view));
            if (holds)
                held++;
            else
                failed++;
            kn_requirements_scratch_free(&scratch);
        }
        kn_requirements_free(r);
        free_sheet(&s, h);
    }
    assert_true(held > testing_least(1000) && failed > testing_least(1000));
    testing_context_free(ctx);
}

/* ---- Good cuts of a table ---- */

/* A table cut into classes. A class may have no row, only people of the population. */
typedef struct cut {
    int        count;
    twin_class classes[MOST_ROWS];
} cut;

/* The requirements with room to ask them. */
typedef struct asker {
    kn_requirements        *r;
    kn_requirements_scratch scratch;
} asker;

/* r is NULL where the requirements must be refused. */
static asker asker_make(kn_context *ctx, const sheet *s, const kn_model *model, bool entity, kn_hierarchy *hierarchy)
{
    asker    a = {.r = make(ctx, s, model, 1, entity, hierarchy)};
    kn_error err = KN_ERROR_INIT;
    if (a.r) assert_ok(kn_requirements_scratch_make(&a.scratch, a.r, &err), err);
    return a;
}

static void asker_free(asker *a)
{
    kn_requirements_scratch_free(&a->scratch);
    kn_requirements_free(a->r);
    a->r = NULL;
}

static bool holds(const sheet *s, asker *a, const twin_class *c)
{
    shown_class shown;
    show(&shown, s, a->r, c);
    return kn_requirements_hold(a->r, &shown.view, &a->scratch);
}

/* Are the rows that must be suppressed within the budget? */
static bool is_good(const sheet *s, asker *a, const cut *c, int64_t budget)
{
    const kn_requirements *r = a->r;
    int64_t                sizes[MOST_ROWS], stay = 0, suppressed = 0;
    bool                   absent = false, fails[MOST_ROWS];
    for (int i = 0; i < c->count; i++) {
        fails[i] = !holds(s, a, &c->classes[i]);
        absent = absent || (fails[i] && r->absent_fails);
        if (!fails[i] && c->classes[i].rows) sizes[stay++] = twin_count(s, c->classes[i].rows, 0, -1, r->entity >= 0);
    }
    kn_average_cut smallest = kn_requirements_average_cut(r, sizes, stay);
    for (int i = 0; i < c->count; i++) {
        uint32_t rows = c->classes[i].rows;
        int64_t  persons = twin_count(s, rows, 0, -1, r->entity >= 0);
        bool     goes = fails[i] || persons < smallest.size || (persons == smallest.size && smallest.count-- > 0);
        if (goes) suppressed += __builtin_popcount(rows);
    }
    return !absent && suppressed <= budget;
}

/* The rows of the classes that fail the part that is always monotone. */
static uint32_t impossible_rows(const sheet *s, const kn_requirements *r, const cut *c)
{
    uint32_t rows = 0;
    for (int i = 0; i < c->count; i++) {
        shown_class shown;
        show(&shown, s, r, &c->classes[i]);
        if (!kn_requirements_hold_monotone_part(r, &shown.view)) rows |= c->classes[i].rows;
    }
    return rows;
}

/* By the values of a, of b, or of both (bits of `columns`); people of the population in some of the 12 cells. */
static cut cut_by(const sheet *s, int columns, const int64_t *population)
{
    cut c = {.count = columns == 1 ? 4 : columns == 2 ? 3 : 12};
    for (int r = 0; r < s->rows; r++) {
        int a = s->cell[r][0], b = s->cell[r][1];
        c.classes[columns == 1 ? a : columns == 2 ? b : a * 3 + b].rows |= (uint32_t)1 << r;
    }
    for (int i = 0; i < 12; i++) c.classes[columns == 1 ? i / 3 : columns == 2 ? i % 3 : i].population += population[i];
    for (int i = 0; i < c.count; i++) c.classes[i].unit = 1;
    return c;
}

static cut merge_randomly(const cut *fine, int most, kn_rng *rng)
{
    cut c = {.count = 1 + (int)kn_rng_below(rng, (uint64_t)most)};
    for (int i = 0; i < fine->count; i++) {
        int to = (int)kn_rng_below(rng, (uint64_t)c.count);
        c.classes[to].rows |= fine->classes[i].rows;
        c.classes[to].population += fine->classes[i].population;
    }
    for (int i = 0; i < c.count; i++) c.classes[i].unit = 1;
    return c;
}

/* What the worst class of the cut reaches; the average risk of those with at least so many persons. */
static double worst_of(const sheet *s, asker *a, const cut *c, int64_t least)
{
    const kn_requirements *r = a->r;
    double                 worst = NAN;
    int64_t                classes = 0, persons = 0;
    for (int i = 0; i < c->count; i++) {
        shown_class shown;
        if (c->classes[i].rows == 0) continue;
        show(&shown, s, r, &c->classes[i]);
        classes += shown.view.persons >= least;
        persons += shown.view.persons >= least ? shown.view.persons : 0;
        if (r->model_count == 0) continue;
        double reached = kn_requirements_reached(r, 0, &shown.view, &a->scratch);
        worst = kn_model_larger_is_stronger(r->models[0].kind) ? fmin(worst, reached) : fmax(worst, reached);
    }
    return r->has_average ? (double)classes / (double)persons : worst;
}

/* The strongest promise, to six digits, that a cut reaching this keeps. */
static void tighten(kn_model *m, double reached)
{
    if (!isfinite(reached)) return;
    if (m->kind == KN_MODEL_ENTROPY && reached > 1) m->l = (kn_ratio){(uint64_t)(reached * 1e6), 1000000};
    if (m->kind == KN_MODEL_RECURSIVE) m->c = (kn_ratio){(uint64_t)(reached * 1e6) + 1, 1000000};
    if (m->kind < KN_MODEL_T_EQUAL || m->kind == KN_MODEL_K_MAP) return;
    kn_ratio bound = {(uint64_t)(reached * 1e6) + 1, 1000000};
    bool     share = m->kind != KN_MODEL_BETA_BASIC && m->kind != KN_MODEL_BETA_ENHANCED && m->kind != KN_MODEL_DELTA;
    if (share && bound.numerator > bound.denominator) bound.numerator = bound.denominator;
    m->bound = bound;
    if (m->low.numerator > 0) m->low.numerator = 0;
}

/* One model, one cut, some coarser ones. Returns how often a good cut gave a bad one. `subsets`: from {a, b} to {a} and
 * {b} too. */
static int64_t check_claims(kn_context *ctx, const sheet *s, kn_model m, bool entity, bool suppressing, bool subsets,
                            kn_rng *rng)
{
    int64_t population[12], broken = 0, budget = suppressing ? 1 + (int64_t)kn_rng_below(rng, (uint64_t)s->rows) : 0;
    for (int i = 0; i < 12; i++) population[i] = (int64_t)kn_rng_below(rng, 12);
    cut           both = cut_by(s, 3, population), few = merge_randomly(&both, 4, rng), *fine = subsets ? &both : &few;
    kn_hierarchy *h = read_hierarchy(ctx, s);
    asker         a = asker_make(ctx, s, &m, entity, h);
    if (a.r && kn_rng_below(rng, 4)) { /* just good enough: then whatever gets worse is seen */
        tighten(&m, worst_of(s, &a, fine, suppressing ? 1 + (int64_t)kn_rng_below(rng, 3) : 1));
        asker_free(&a);
        a = asker_make(ctx, s, &m, entity, h);
    }
    bool monotone = a.r && kn_requirements_monotone(a.r, suppressing), good = a.r && is_good(s, &a, fine, budget);
    for (int to = 0; to < 6 && a.r; to++) {
        cut  coarse = subsets && to < 2 ? cut_by(s, to + 1, population) : merge_randomly(fine, fine->count, rng);
        bool stays = is_good(s, &a, &coarse, budget);
        if (monotone && good) assert_true(stays); /* upward closed; and good for {a, b} means good for {a} and {b} */
        broken += good && !stays;
        assert_int_equal(impossible_rows(s, a.r, &coarse) & ~impossible_rows(s, a.r, fine), 0);
    }
    asker_free(&a);
    kn_hierarchy_free(h);
    return broken;
}

static void claims_of_monotonicity(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(1);
    kn_rng      rng;
    kn_rng_init(&rng, testing_seed(), 2);
    for (int round = 0; round < testing_rounds(2000); round++) {
        sheet s = random_sheet(ctx, &rng, MOST_ROWS);
        for (int kind = 0; kind < KN_MODEL_KINDS; kind++) {
            kn_model m = random_model(&rng, (kn_model_kind)kind);
            for (int i = 0; i < 4; i++) check_claims(ctx, &s, m, i & 1, i >> 1, round % 2, &rng);
        }
        kn_table_free(s.table);
    }
    testing_context_free(ctx);
}

/* A "no" is no idle caution: each is shown right by an example. (The seed is fixed: there is something to be found.) */
static void claims_of_no_monotonicity(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(1);
    for (int i = 0; i < 4 * KN_MODEL_KINDS; i++) {
        kn_model_kind kind = (kn_model_kind)(i / 4);
        bool          entity = i & 1, suppressing = i >> 1 & 1;
        int64_t       broken = 0;
        kn_rng        rng;
        if (kind == KN_MODEL_AVERAGE_RISK && !entity) continue;
        if (kn_model_monotone(kind, entity || suppressing)) continue;
        kn_rng_init(&rng, 4, (uint64_t)i);
        for (int tries = 0; tries < 20000 && broken == 0; tries++) {
            sheet s = random_sheet(ctx, &rng, MOST_ROWS);
            broken = check_claims(ctx, &s, random_model(&rng, kind), entity, suppressing, false, &rng);
            kn_table_free(s.table);
        }
        if (broken == 0) fail_msg("%s %d %d: never seen to break", kn_model_name(kind), entity, suppressing);
    }
    testing_context_free(ctx);
}

/* docs/errata.md 3: {x, y} is good and {x, x, x, x} goes; together they are not. */
static void entropy_with_a_budget(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(1);
    kn_model    m = {.kind = KN_MODEL_ENTROPY, .attribute = "s", .l = {2, 1}};
    sheet       s = {.rows = 6, .values = 2};
    for (int r = 0; r < 6; r++) memcpy(s.cell[r], (int[]){r > 1, 0, r, r == 1, 0}, sizeof s.cell[r]);
    read_sheet(&s, ctx);
    asker   a = asker_make(ctx, &s, &m, false, NULL);
    int64_t nobody[12] = {0};
    cut     fine = cut_by(&s, 1, nobody), coarse = cut_by(&s, 2, nobody);
    assert_true(is_good(&s, &a, &fine, 4));
    assert_false(is_good(&s, &a, &coarse, 4));
    assert_false(is_good(&s, &a, &fine, 3));
    assert_true(kn_requirements_monotone(a.r, false));
    assert_false(kn_requirements_monotone(a.r, true));
    asker_free(&a);
    free_sheet(&s, NULL);
    testing_context_free(ctx);
}

/* ---- What nothing can satisfy ---- */

/* Is there a good way to cut these rows, none suppressed? All set partitions, by restricted growth. */
static bool some_cut(const sheet *s, asker *a, cut *c, uint32_t rows, int next)
{
    while (next < s->rows && !(rows >> next & 1)) next++;
    if (next == s->rows) return is_good(s, a, c, 0);
    for (int i = 0; i <= c->count; i++) {
        bool fresh = i == c->count;
        if (fresh) c->classes[c->count++] = (twin_class){.unit = 1};
        c->classes[i].rows |= (uint32_t)1 << next;
        bool found = some_cut(s, a, c, rows, next + 1);
        c->classes[i].rows &= ~((uint32_t)1 << next);
        if (fresh) c->count--;
        if (found) return true;
        if (fresh) break;
    }
    return false;
}

static bool some_release(const sheet *s, asker *a, bool suppressing)
{
    cut c = {.count = 0};
    for (uint32_t rows = all_rows(s); rows > 0; rows--) {
        if (some_cut(s, a, &c, rows, 0)) return true;
        if (!suppressing) break;
    }
    return false;
}

static void infeasible_means_that_nothing_can_do(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(1);
    kn_rng      rng;
    int64_t     unmet[2] = {0, 0}, missed = 0;
    kn_rng_init(&rng, testing_seed(), 3);
    for (int round = 0; round < testing_rounds(600); round++) {
        sheet         s = random_sheet(ctx, &rng, 6);
        kn_hierarchy *h = read_hierarchy(ctx, &s);
        for (int kind = 0; kind < KN_MODEL_KINDS; kind++) {
            if (kind == KN_MODEL_K_MAP || kind == KN_MODEL_PRESENCE) continue;
            kn_model m = random_model(&rng, (kn_model_kind)kind);
            asker    a = asker_make(ctx, &s, &m, round % 2, h);
            for (int suppressing = 0; suppressing < 2 && a.r; suppressing++) {
                kn_error  err = KN_ERROR_INIT;
                kn_status st = kn_requirements_feasible(a.r, s.table, NULL, suppressing, &err);
                bool      some = some_release(&s, &a, suppressing);
                assert_true(st == KN_OK || st == KN_UNMET);
                if (st == KN_UNMET) {
                    assert_false(some);
                    assert_true(strlen(err.message) > 10);
                    unmet[suppressing]++;
                }
                missed += st == KN_OK && !some;
                if (!suppressing && a.r->entity < 0) assert_int_equal(st == KN_OK, some); /* then it decides */
            }
            asker_free(&a);
        }
        free_sheet(&s, h);
    }
    assert_true(unmet[0] > testing_least(100) && unmet[1] > testing_least(50));
    print_message("infeasible: %lld and %lld; not seen beforehand: %lld\n", (long long)unmet[0], (long long)unmet[1],
                  (long long)missed);
    testing_context_free(ctx);
}

/* ---- Average risk ---- */

static int by_size(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

/* Does the average hold if these stay? `outside`: what goes is one class more with these persons; -1: it is not. */
static bool average_holds(kn_ratio average, kn_u128 classes, kn_u128 persons, kn_u128 gone, int64_t outside)
{
    if (outside >= 0 && gone + (kn_u128)outside > 0) {
        classes++;
        persons += gone + (kn_u128)outside;
    }
    return classes * average.denominator <= persons * average.numerator;
}

/* From the smallest on, one by one. */
static kn_average_cut twin_average_cut(kn_ratio average, const int64_t *sizes, int64_t count, int64_t outside)
{
    kn_u128 all = 0, gone = 0;
    for (int64_t i = 0; i < count; i++) all += (kn_u128)sizes[i];
    for (int64_t begin = 0; begin < count + (outside >= 0); begin++) { /* sorted */
        if (average_holds(average, (kn_u128)(count - begin), all - gone, gone, outside)) {
            kn_average_cut go = {begin == 0 ? 0 : sizes[begin - 1], 0};
            for (int64_t i = 0; i < begin; i++) go.count += sizes[i] == go.size;
            return go;
        }
        if (begin < count) gone += (kn_u128)sizes[begin];
    }
    return (kn_average_cut){count == 0 && outside < 0 ? 0 : INT64_MAX, 0};
}

/* The fewest persons that any choice of classes gives up; none where all go. */
static int64_t fewest_given_up(kn_ratio average, const int64_t *sizes, int count, int64_t outside)
{
    int64_t fewest = INT64_MAX;
    for (unsigned stay = 1; stay < 1u << count; stay++) {
        kn_u128 persons = 0, gone = 0;
        for (int i = 0; i < count; i++) *(stay >> i & 1 ? &persons : &gone) += (kn_u128)sizes[i];
        if ((kn_u128)fewest <= gone) continue;
        if (average_holds(average, (kn_u128)__builtin_popcount(stay), persons, gone, outside)) fewest = (int64_t)gone;
    }
    return fewest;
}

static int64_t given_up(kn_average_cut go, const int64_t *sizes, int count)
{
    int64_t persons = 0;
    for (int i = 0; i < count; i++) persons += sizes[i] < go.size ? sizes[i] : 0;
    return persons + go.count * go.size;
}

/* No choice of classes gives up fewer persons than the smallest ones do. */
static void average_risk_gives_up_the_fewest(void **state)
{
    (void)state;
    kn_rng  rng;
    int64_t sizes[10], some = 0, part = 0;
    kn_rng_init(&rng, testing_seed(), 5);
    for (int round = 0; round < testing_rounds(6000); round++) {
        kn_requirements r = {.has_average = true, .average = {1 + kn_rng_below(&rng, 3), 4 + kn_rng_below(&rng, 20)}};
        int             count = 1 + (int)kn_rng_below(&rng, 10);
        int64_t         outside = round % 2 == 0 ? -1 : (int64_t)kn_rng_below(&rng, 3) * (int64_t)kn_rng_below(&rng, 9);
        for (int i = 0; i < count; i++) sizes[i] = 1 + (int64_t)kn_rng_below(&rng, 6 + (uint64_t)(round % 30));
        kn_average_cut go = outside < 0 ? kn_requirements_average_cut(&r, sizes, count)
                                        : kn_requirements_average_cut_together(&r, sizes, count, outside);
        int64_t        fewest = fewest_given_up(r.average, sizes, count, outside);
        int64_t        all = 0, of_size = 0;
        for (int i = 0; i < count; i++) all += sizes[i];
        for (int i = 0; i < count; i++) of_size += sizes[i] == go.size;
        if (go.size == INT64_MAX || given_up(go, sizes, count) == all) {
            assert_true(fewest == INT64_MAX);
            continue;
        }
        assert_int_equal(given_up(go, sizes, count), fewest);
        some += fewest > 0;
        part += go.count < of_size;
    }
    assert_true(some > testing_least(500) && part > testing_least(200));
}

static void average_risk_cuts_the_smallest(void **state)
{
    (void)state;
    kn_rng  rng;
    int64_t sizes[200], sorted[200], some = 0, all = 0;
    kn_rng_init(&rng, testing_seed(), 4);
    for (int round = 0; round < testing_rounds(30000); round++) {
        kn_requirements r = {.has_average = true, .average = {1, 2 + kn_rng_below(&rng, 50)}};
        int64_t         count = (int64_t)kn_rng_below(&rng, round % 10 == 0 ? 200 : 12);
        uint64_t        span = UINT64_C(1) << (1 + kn_rng_below(&rng, 10));
        for (int64_t i = 0; i < count; i++) {
            sizes[i] = 1 + (int64_t)kn_rng_below(&rng, span);
            if (round % 7 == 0) sizes[i] = INT64_MAX >> kn_rng_below(&rng, 62);
        }
        memcpy(sorted, sizes, sizeof sorted);
        qsort(sorted, (size_t)count, sizeof *sorted, by_size);
        kn_average_cut expected = twin_average_cut(r.average, sorted, count, -1);
        kn_average_cut go = kn_requirements_average_cut(&r, sizes, count);
        assert_int_equal(go.size, expected.size);
        assert_int_equal(go.count, expected.count);
        int64_t        outside = (int64_t)kn_rng_below(&rng, 3) * (int64_t)kn_rng_below(&rng, span);
        kn_average_cut both = twin_average_cut(r.average, sorted, count, outside);
        go = kn_requirements_average_cut_together(&r, sizes, count, outside);
        assert_int_equal(go.size, both.size);
        assert_int_equal(go.count, both.count);
        qsort(sizes, (size_t)count, sizeof *sizes, by_size);
        assert_memory_equal(sizes, sorted, (size_t)count * sizeof *sizes);
        some += expected.size > 0 && expected.size < INT64_MAX;
        all += expected.size == INT64_MAX;
    }
    assert_true(some > testing_least(1000) && all > testing_least(1000));
    kn_requirements none = {.has_average = false};
    assert_int_equal(kn_requirements_average_cut(&none, sizes, 1).size, 0);
}

/* ---- By hand ---- */

static void persons_by_hand(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(1);
    kn_error    err = KN_ERROR_INIT;
    /* Class x: Ann twice, Bob and Cid; class y: Ann and Dot; one row has no person, so does another: one person. */
    kn_table *t =
        read_text(ctx, "q,who,s\nx,ann,flu\nx,ann,flu\nx,bob,flu\nx,bob,hiv\nx,cid,gout\ny,ann,hiv\ny,dot,flu\n"
                       "y,,gout\ny,,gout\n");
    kn_ratio                half = {1, 2}, two_thirds = {2, 3}, little_less = {66, 100};
    kn_model                models[] = {{.kind = KN_MODEL_ALPHA_K, .attribute = "s", .bound = two_thirds},
                                        {.kind = KN_MODEL_K, .k = 3}};
    kn_requirements_options o = {models, 2, 1, NULL, false};
    kn_requirements        *r = NULL;
    kn_requirements_scratch scratch;
    assert_ok(kn_requirements_make(&r, ctx, t, &o, &err), err);
    assert_ok(kn_requirements_scratch_make(&scratch, r, &err), err);
    /* flu: ann, bob, dot; gout: cid and nobody; hiv: bob and ann */
    const kn_reference *reference = &r->references[0];
    assert_int_equal(reference->counts[0], 3);
    assert_int_equal(reference->counts[1], 2);
    assert_int_equal(reference->counts[2], 2);
    assert_int_equal(r->persons, 5);
    assert_int_equal(r->rows, 9);
    assert_false(r->k_only);
    /* Class x has 3 persons; two of them have the flu: 2/3, not 2/4. */
    static const uint32_t codes[] = {0, 1, 2};
    static const int64_t  counts[] = {2, 1, 1};
    kn_histogram          h = {codes, counts, 3, 4};
    kn_class_view         x = {5, 3, 0, 1, &h};
    assert_int_equal(r->asked[0], 1); /* the size first */
    assert_true(kn_requirements_hold(r, &x, &scratch));
    assert_true(fabs(kn_requirements_reached(r, 1, &x, &scratch) - 2.0 / 3) < 1e-15);
    r->models[1].bound = little_less;
    assert_false(kn_requirements_hold(r, &x, &scratch));
    r->models[1].bound = half;
    assert_false(kn_requirements_hold(r, &x, &scratch));
    r->models[1].bound = two_thirds;
    x.persons = 2; /* k = 3 */
    assert_false(kn_requirements_hold(r, &x, &scratch));
    kn_requirements_scratch_free(&scratch);
    kn_requirements_free(r);
    kn_table_free(t);
    testing_context_free(ctx);
}

/* Two good classes that share people are not good together: counts do not add up. */
static void shared_persons_break_merging(void **state)
{
    (void)state;
    kn_context      *ctx = testing_context(1);
    kn_model         m = {.kind = KN_MODEL_ENTROPY, .attribute = "s", .l = {2, 1}};
    sheet            s = {.rows = 8, .values = 2};
    static const int cells[8][COLUMNS] = {{0, 0, 1, 0, 0}, {0, 0, 2, 0, 0}, {0, 0, 3, 1, 0}, {0, 0, 4, 1, 0},
                                          {1, 0, 5, 0, 0}, {1, 0, 6, 0, 0}, {1, 0, 3, 1, 0}, {1, 0, 4, 1, 0}};
    memcpy(s.cell, cells, sizeof cells);
    read_sheet(&s, ctx);
    for (int entity = 0; entity < 2; entity++) {
        asker    a = asker_make(ctx, &s, &m, entity, NULL);
        int64_t  nobody[12] = {0};
        cut      fine = cut_by(&s, 1, nobody), coarse = cut_by(&s, 2, nobody);
        kn_error err = KN_ERROR_INIT;
        assert_true(is_good(&s, &a, &fine, 0));
        assert_int_equal(is_good(&s, &a, &coarse, 0), !entity);
        assert_int_equal(kn_requirements_monotone(a.r, false), !entity);
        /* The whole table fails, and yet there is a release. */
        assert_int_equal(kn_requirements_feasible(a.r, s.table, NULL, false, &err), KN_OK);
        asker_free(&a);
    }
    free_sheet(&s, NULL);
    testing_context_free(ctx);
}

static void presence_by_hand(void **state)
{
    (void)state;
    kn_context             *ctx = testing_context(1);
    kn_error                err = KN_ERROR_INIT;
    kn_table               *t = read_text(ctx, "q\nx\nx\ny\n");
    kn_model                models[] = {{.kind = KN_MODEL_PRESENCE, .low = {1, 4}, .bound = {1, 2}}};
    kn_requirements_options o = {models, 1, -1, NULL, false};
    kn_requirements        *r = NULL;
    assert_ok(kn_requirements_make(&r, ctx, t, &o, &err), err);
    static const struct {
        int64_t rows, population, unit;
        bool    holds;
    } cases[] = {{2, 4, 1, true},       {2, 8, 1, true},        {2, 9, 1, false}, {2, 3, 1, false}, {1, 0, 1, false},
                 {2, 4000, 1000, true}, {2, 3999, 1000, false}, {0, 5, 1, false}, {0, 0, 1, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kn_class_view view = {cases[i].rows, cases[i].rows, cases[i].population, cases[i].unit, NULL};
        assert_int_equal(kn_requirements_hold(r, &view, NULL), cases[i].holds);
    }
    assert_true(r->absent_fails && r->population && !r->k_only);
    int64_t           counts[] = {5, 0};
    kn_population_set p = {.unit = 1, .count = 2, .counts = counts, .total = 5};
    assert_int_equal(kn_requirements_feasible(r, t, &p, true, &err), KN_UNMET); /* 3 of 5 */
    assert_string_equal(err.message, "delta-presence: the table holds 0.6 of the population, which is more than max");
    counts[1] = 1;
    p.total = counts[0] + counts[1];
    assert_ok(kn_requirements_feasible(r, t, &p, true, &err), err);
    counts[1] = 8;
    p.total = counts[0] + counts[1];
    assert_int_equal(kn_requirements_feasible(r, t, &p, true, &err), KN_UNMET); /* 3 of 13 */
    kn_requirements_free(r);
    models[0] = (kn_model){.kind = KN_MODEL_PRESENCE, .low = {0, 1}, .bound = {1, 2}};
    assert_ok(kn_requirements_make(&r, ctx, t, &o, &err), err);
    kn_class_view nobody = {0, 0, 5, 1, NULL};
    assert_true(kn_requirements_hold(r, &nobody, NULL)); /* min = 0: to be known absent is allowed */
    counts[1] = 0;
    p.total = counts[0] + counts[1];
    assert_ok(kn_requirements_feasible(r, t, &p, true, &err), err); /* some may be suppressed */
    assert_int_equal(kn_requirements_feasible(r, t, &p, false, &err), KN_UNMET);
    kn_requirements_free(r);
    models[0] = (kn_model){.kind = KN_MODEL_K_MAP, .k = 6};
    assert_ok(kn_requirements_make(&r, ctx, t, &o, &err), err);
    assert_int_equal(kn_requirements_feasible(r, t, &p, true, &err), KN_UNMET);
    assert_string_equal(err.message, "k-map: the whole population has fewer than 6 people");
    assert_ok(kn_requirements_feasible(r, t, NULL, true, &err), err);
    kn_requirements_free(r);
    kn_table_free(t);
    testing_context_free(ctx);
}

static void sizes_and_risks(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(1);
    kn_error    err = KN_ERROR_INIT;
    kn_table   *t = read_text(ctx, "q,s\nx,a\nx,b\ny,a\ny,c\n");
    static const struct {
        kn_ratio risk;
        int64_t  k;
    } cases[] = {{{1, 1}, 1},    {{50, 100}, 2}, {{34, 100}, 3},
                 {{33, 100}, 4}, {{1, 3}, 3},    {{1, UINT64_MAX}, INT64_MAX}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kn_model models[] = {{.kind = KN_MODEL_MAX_RISK, .bound = cases[i].risk}, {.kind = KN_MODEL_K, .k = 2}};
        kn_requirements_options o = {models, 2, -1, NULL, false};
        kn_requirements        *r = NULL;
        assert_ok(kn_requirements_make(&r, ctx, t, &o, &err), err);
        assert_int_equal(r->k, cases[i].k > 2 ? cases[i].k : 2);
        assert_true(r->k_only);
        kn_requirements_free(r);
    }
    /* No model at all: any class will do. Average risk and entities need more than `k`. */
    kn_model                models[] = {{.kind = KN_MODEL_AVERAGE_RISK, .bound = {1, 2}},
                                        {.kind = KN_MODEL_AVERAGE_RISK, .bound = {1, 3}},
                                        {.kind = KN_MODEL_AVERAGE_RISK, .bound = {3, 4}}};
    kn_requirements_options o = {models, 0, -1, NULL, false};
    kn_requirements        *r = NULL;
    assert_ok(kn_requirements_make(&r, ctx, t, &o, &err), err);
    kn_class_view one = {1, 1, 0, 1, NULL};
    assert_true(r->k == 1 && r->k_only && kn_requirements_hold(r, &one, NULL));
    kn_requirements_free(r);
    kn_model k = {.kind = KN_MODEL_K, .k = 2};
    o = (kn_requirements_options){&k, 1, 0, NULL, false};
    assert_ok(kn_requirements_make(&r, ctx, t, &o, &err), err);
    assert_true(r->k == 2 && !r->k_only); /* rows do not tell how many persons there are */
    kn_requirements_free(r);
    o = (kn_requirements_options){models, 3, -1, NULL, false};
    assert_ok(kn_requirements_make(&r, ctx, t, &o, &err), err);
    assert_true(r->has_average && !r->k_only && r->average.denominator == 3); /* the strictest */
    kn_requirements_free(r);
    kn_table_free(t);
    testing_context_free(ctx);
}

/* ---- What is refused ---- */

static void refusals(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(1);
    kn_table *t = read_text(ctx, "q,who,s,same\nx,1,a,z\nx,1,b,z\ny,2,a,z\ny,3,,z\n"), *empty = read_text(ctx, "q,s\n");
    static const struct {
        kn_model    model;
        int         entity;
        kn_status   made, feasible;
        const char *message;
    } cases[] = {
        {{.kind = KN_MODEL_K, .k = 0}, -1, KN_USAGE, KN_OK, "k: k must be at least 1"},
        {{.kind = KN_MODEL_K_MAP, .k = 0}, -1, KN_USAGE, KN_OK, "k-map: k must be at least 1"},
        {{.kind = KN_MODEL_DISTINCT, .attribute = "no", .l = {2, 1}},
         -1,
         KN_INPUT,
         KN_OK,
         "l-diversity: there is no column \"no\""},
        {{.kind = KN_MODEL_DISTINCT, .attribute = "s", .l = {4, 1}},
         -1,
         KN_INPUT,
         KN_OK,
         "l-diversity: l is greater than the number of different values of column \"s\" (3)"},
        {{.kind = KN_MODEL_ENTROPY, .attribute = "s", .l = {301, 100}},
         -1,
         KN_INPUT,
         KN_OK,
         "l-diversity: l is greater than the number of different values of column \"s\" (3)"},
        {{.kind = KN_MODEL_T_EQUAL, .attribute = "same", .bound = {1, 2}},
         -1,
         KN_INPUT,
         KN_OK,
         "column \"same\" has the same value in all rows: no release can hide it"},
        {{.kind = KN_MODEL_T_HIERARCHICAL, .attribute = "s", .bound = {1, 2}},
         -1,
         KN_USAGE,
         KN_OK,
         "t-closeness: hierarchical distance on column \"s\" needs a hierarchy"},
        {{.kind = KN_MODEL_ALPHA_K, .attribute = "who", .bound = {1, 2}},
         1,
         KN_USAGE,
         KN_OK,
         "alpha-k: column \"who\" says whose row it is and cannot be sensitive"},
        {{.kind = KN_MODEL_K, .k = 5}, -1, KN_OK, KN_UNMET, "k: it needs at least 5 rows, and the table has 4"},
        {{.kind = KN_MODEL_K, .k = 4}, 1, KN_OK, KN_UNMET, "k: it needs at least 4 persons, and the table has 3"},
        {{.kind = KN_MODEL_K, .k = 4}, -1, KN_OK, KN_OK, NULL},
        {{.kind = KN_MODEL_MAX_RISK, .bound = {1, 5}},
         -1,
         KN_OK,
         KN_UNMET,
         "max-risk: it needs at least 5 rows, and the table has 4"},
        {{.kind = KN_MODEL_AVERAGE_RISK, .bound = {24, 100}},
         -1,
         KN_OK,
         KN_UNMET,
         "average-risk: it needs at least 5 rows, and the table has 4"},
        {{.kind = KN_MODEL_ALPHA_K, .attribute = "s", .bound = {33, 100}},
         -1,
         KN_OK,
         KN_UNMET,
         "alpha-k: alpha is smaller than 1 / number of different values of column \"s\""},
        {{.kind = KN_MODEL_ALPHA_K, .attribute = "s", .bound = {40, 100}},
         -1,
         KN_OK,
         KN_UNMET,
         "alpha-k: column \"s\" is too uneven: all rows together reach 0.5, and without suppression no release can do "
         "better"},
        {{.kind = KN_MODEL_RECURSIVE, .attribute = "s", .l = {3, 1}, .c = {2, 1}},
         -1,
         KN_OK,
         KN_UNMET,
         "l-diversity (recursive): column \"s\" is too uneven: all rows together reach 2, and without suppression no "
         "release can do better"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kn_requirements_options o = {&cases[i].model, 1, cases[i].entity, NULL, false};
        kn_requirements        *r = NULL;
        kn_error                err = KN_ERROR_INIT;
        assert_int_equal(kn_requirements_make(&r, ctx, t, &o, &err), cases[i].made);
        if (r) assert_int_equal(kn_requirements_feasible(r, t, NULL, false, &err), cases[i].feasible);
        if (cases[i].message) assert_string_equal(err.message, cases[i].message);
        kn_requirements_free(r);
    }
    kn_model                k = {.kind = KN_MODEL_K, .k = 2};
    kn_requirements_options o = {&k, 1, -1, NULL, false};
    kn_requirements        *r = NULL;
    kn_error                err = KN_ERROR_INIT;
    assert_int_equal(kn_requirements_make(&r, ctx, empty, &o, &err), KN_INPUT);
    assert_string_equal(err.message, "the table has no rows");
    o.entity = 4;
    assert_int_equal(kn_requirements_make(&r, ctx, t, &o, &err), KN_USAGE);
    o.entity = -1;
    assert_ok(kn_requirements_make(&r, ctx, t, &o, &err), err);
    assert_int_equal(kn_requirements_feasible(r, empty, NULL, true, &err), KN_USAGE);
    kn_requirements_free(r);
    kn_table_free(t);
    kn_table_free(empty);
    testing_context_free(ctx);
}

/* ---- Memory ---- */

static const kn_model all_models[] = {
    {.kind = KN_MODEL_T_HIERARCHICAL, .attribute = "s", .bound = {9, 10}},
    {.kind = KN_MODEL_T_ORDERED, .attribute = "u", .bound = {9, 10}},
    {.kind = KN_MODEL_T_EQUAL, .attribute = "u", .bound = {9, 10}},
    {.kind = KN_MODEL_ENTROPY, .attribute = "s", .l = {11, 10}},
    {.kind = KN_MODEL_RECURSIVE, .attribute = "s", .l = {2, 1}, .c = {9, 1}},
    {.kind = KN_MODEL_BETA_ENHANCED, .attribute = "u", .bound = {9, 1}},
    {.kind = KN_MODEL_BETA_BASIC, .attribute = "u", .bound = {9, 1}},
    {.kind = KN_MODEL_DELTA, .attribute = "u", .bound = {9, 1}},
    {.kind = KN_MODEL_ALPHA_K, .attribute = "u", .bound = {9, 10}, .k = 1},
    {.kind = KN_MODEL_DISTINCT, .attribute = "s", .l = {2, 1}},
    {.kind = KN_MODEL_PRESENCE, .bound = {1, 1}, .low = {0, 1}},
    {.kind = KN_MODEL_K_MAP, .k = 2},
    {.kind = KN_MODEL_AVERAGE_RISK, .bound = {1, 1}},
    {.kind = KN_MODEL_MAX_RISK, .bound = {1, 2}},
    {.kind = KN_MODEL_K, .k = 2},
};
enum { ALL_MODELS = sizeof all_models / sizeof *all_models };

/* Makes the requirements and asks them about the whole table; nothing is allocated while asking. */
static kn_status make_and_ask(kn_context *ctx, const sheet *s, const kn_hierarchy *hierarchy, bool entity,
                              const testing_allocator *counter, kn_error *err)
{
    const kn_hierarchy     *hierarchies[COLUMNS] = {[S] = hierarchy};
    kn_requirements_options o = {all_models, ALL_MODELS, entity ? PERSON : -1, hierarchies, false};
    kn_requirements        *r = NULL;
    kn_requirements_scratch scratch = {NULL, 0};
    kn_status               st = kn_requirements_make(&r, ctx, s->table, &o, err);
    if (st != KN_OK) return st;
    st = kn_requirements_feasible(r, s->table, NULL, false, err);
    if (st == KN_OK) st = kn_requirements_scratch_make(&scratch, r, err);
    if (st == KN_OK) {
        twin_class  c = {all_rows(s), 100, 1};
        shown_class shown;
        show(&shown, s, r, &c);
        int64_t before = counter->requests;
        assert_true(kn_requirements_hold(r, &shown.view, &scratch));
        assert_int_equal(counter->requests, before);
    }
    kn_requirements_scratch_free(&scratch);
    kn_requirements_free(r);
    return st;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    kn_context *plain = testing_context(1);
    sheet       s = {.rows = 8, .values = 3};
    for (int r = 0; r < 8; r++) memcpy(s.cell[r], (int[]){r % 2, 0, r % 5, r % 3, r % 4 - 1}, sizeof s.cell[r]);
    read_sheet(&s, plain);
    kn_hierarchy *h = read_hierarchy(plain, &s);
    for (int way = 0; way < 4; way++) { /* rows or persons; memory is gone, or missing for once */
        int64_t refused = 0;
        for (bool done = false; !done; refused += testing_step()) {
            testing_allocator counter = {.refuse_at = refused, .once = way >= 2};
            kn_context       *ctx = NULL;
            kn_error          err = KN_ERROR_INIT;
            kn_status         st = testing_refusing_context(&ctx, &counter, 1, &err);
            if (st == KN_OK) st = make_and_ask(ctx, &s, h, way % 2, &counter, &err);
            if (st != KN_OK && st != KN_MEMORY) fail_msg("%s", err.message);
            done = st == KN_OK && counter.requests <= refused;
            kn_context_free(ctx);
            assert_int_equal(counter.live, 0);
        }
        assert_true(refused > 30);
    }
    free_sheet(&s, h);
    testing_context_free(plain);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_model_equals_its_twin),
        cmocka_unit_test(claims_of_monotonicity),
        cmocka_unit_test(claims_of_no_monotonicity),
        cmocka_unit_test(entropy_with_a_budget),
        cmocka_unit_test(infeasible_means_that_nothing_can_do),
        cmocka_unit_test(average_risk_cuts_the_smallest),
        cmocka_unit_test(average_risk_gives_up_the_fewest),
        cmocka_unit_test(persons_by_hand),
        cmocka_unit_test(shared_persons_break_merging),
        cmocka_unit_test(presence_by_hand),
        cmocka_unit_test(sizes_and_risks),
        cmocka_unit_test(refusals),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
