/* test_ties.c: of equally good answers the one that the rules name, whatever the order of rows and the names of sensitive
 * values: full-domain searches against themselves on a shuffled table, tree searches against all cuts of a hierarchy.
 * SPDX-License-Identifier: Apache-2.0 */
#include "random_problem.h"
#include "tree_testing.h"

/* ---- Tables ---- */

/* The table with its rows in another order and the sensitive values under other names, which sort the other way. */
static kn_table *shuffled(kn_context *ctx, const kn_table *table, int quasi, kn_rng *rng)
{
    kn_error    err = KN_ERROR_INIT;
    kn_string   names[RANDOM_QUASI + 1];
    char        texts[RANDOM_QUASI + 1][8];
    kn_builder *b = NULL;
    kn_table   *out = NULL;
    int64_t     rows = table->rows, first = 0, *order = calloc((size_t)rows, sizeof *order);
    uint32_t   *ids = calloc((size_t)rows, sizeof *ids);
    assert_true(order && ids);
    for (int64_t r = 0; r < rows; r++) {
        int64_t at = (int64_t)kn_rng_below(rng, (uint64_t)r + 1);
        order[r] = order[at];
        order[at] = r;
    }
    for (int c = 0; c <= quasi; c++) {
        snprintf(texts[c], sizeof texts[c], c < quasi ? "q%d" : "s", c);
        names[c] = kn_string_of(texts[c]);
    }
    assert_ok(kn_builder_create(&b, ctx, names, quasi + 1, 1, &err), err);
    assert_ok(kn_builder_extend(b, rows, 0, &first, &err), err);
    for (int c = 0; c <= quasi; c++) {
        const kn_column *column = &table->columns[c];
        for (int64_t r = 0; r < rows; r++) {
            uint32_t  code = kn_column_code(column, order[r]);
            char      name[16];
            kn_string text = code < column->dict.count ? kn_dictionary_text(&column->dict, code) : kn_string_of("");
            if (c == quasi) {
                snprintf(name, sizeof name, "v%d", 9 - (int)code);
                text = kn_string_of(name);
            }
            ids[r] = code < column->dict.count ? kn_intern(kn_builder_interner(b, c, 0), text) : KN_ID_MISSING;
        }
        kn_builder_write(b, c, first, ids, rows);
    }
    assert_ok(kn_builder_finish(&out, b, NULL, NULL, &err), err);
    free(order);
    free(ids);
    return out;
}

static void assert_same_best(const kn_fulldomain_result *a, const kn_fulldomain_result *b, int quasi)
{
    assert_int_equal(a->found, b->found);
    if (!a->found) return;
    assert_memory_equal(a->best.levels, b->best.levels, (size_t)quasi * sizeof *a->best.levels);
    assert_int_equal(a->best.suppressed, b->best.suppressed);
    assert_int_equal(kn_quotient_compare(a->best.loss, b->best.loss), 0);
}

static void test_order_and_names_decide_nothing(void **state)
{
    static const kn_method methods[] = {KN_METHOD_OPTIMAL, KN_METHOD_INCOGNITO, KN_METHOD_BOTTOM_UP_ROLLUP,
                                        KN_METHOD_SAMARATI, KN_METHOD_DATAFLY};
    kn_context            *ctx = testing_context(1);
    kn_error               err = KN_ERROR_INIT;
    kn_rng                 rng;
    int                    found = 0;
    (void)state;
    kn_rng_init(&rng, testing_seed(), 1);
    for (int i = 0; i < testing_rounds(150); i++) {
        random_problem p;
        if (!random_problem_make(&p, ctx, &rng, (random_shape){40, 3, 5, 4, false, i % 2 == 0})) continue;
        int                   quasi = p.problem.quasi_count, models = i % 2 == 0 ? 1 : 0;
        kn_table             *table = shuffled(ctx, p.table, quasi, &rng);
        kn_fulldomain_problem other = p.problem;
        kn_requirements      *requirements = NULL;
        kn_objective         *objective = NULL;
        while (models < RANDOM_MODELS && (p.models[models].kind != KN_MODEL_K || models == 0)) models++;
        kn_requirements_options options = {p.models, models, -1, NULL, false};
        assert_ok(kn_requirements_make(&requirements, ctx, table, &options, &err), err);
        assert_ok(kn_objective_make(&objective, ctx, table, p.quasi, p.problem.hierarchies, quasi, p.weights,
                                    p.objective->metric, p.models[0].k, &err),
                  err);
        other.table = table;
        other.requirements = requirements;
        other.objective = objective;
        for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
            kn_fulldomain_result *a = NULL, *b = NULL;
            p.problem.method = other.method = methods[m];
            assert_ok(kn_fulldomain_search(&a, ctx, &p.problem, &err), err);
            assert_ok(kn_fulldomain_search(&b, ctx, &other, &err), err);
            assert_same_best(a, b, quasi);
            found += a->found;
            kn_fulldomain_result_free(a);
            kn_fulldomain_result_free(b);
        }
        kn_objective_free(objective);
        kn_requirements_free(requirements);
        kn_table_free(table);
        random_problem_free(&p);
    }
    assert_true(found > testing_least(100));
    testing_context_free(ctx);
}

/* ---- Trees: flat records without relations, whose cost can be written down ---- */

typedef struct cut_list {
    uint32_t values[64][16];
    int      size[64], count;
} cut_list;

/* Every cut: each value of an open cut that is no leaf may make room for its children. */
static void list_cuts(const kn_vocabulary *v, cut_list *l)
{
    l->count = l->size[0] = 1;
    l->values[0][0] = 0;
    for (int i = 0; i < l->count; i++)
        for (int at = 0; at < l->size[i]; at++) {
            uint32_t value = l->values[i][at], new_cut[16];
            int      size = 0, known = -1;
            if (v->end[value] == value + 1) continue;
            for (int j = 0; j < l->size[i]; j++) {
                if (j != at) new_cut[size++] = l->values[i][j];
                for (uint32_t c = value + 1; j == at && c < v->end[value]; c = v->end[c]) new_cut[size++] = c;
            }
            for (int j = 0; j < l->count; j++)
                if (l->size[j] == size && memcmp(l->values[j], new_cut, (size_t)size * sizeof *new_cut) == 0) known = j;
            if (known >= 0) continue;
            assert_true(l->count < 64);
            l->size[l->count] = size;
            memcpy(l->values[l->count++], new_cut, (size_t)size * sizeof *new_cut);
        }
}

/* RPDa as a fraction: Σ support / domain / shown values². */
static void flat_cost(const kn_records *released, uint64_t *numerator, uint64_t *denominator)
{
    const kn_vocabulary *v = released->vocabulary;
    uint64_t             common = 27720, sum = 0, shown = 0; /* divided by 1 .. 12 */
    for (uint32_t u = 0; u < v->nodes; u++) {
        uint64_t support = 0, domain = 0;
        for (int64_t t = 0; t < released->count; t++) support += tree_has_value(released, t, u);
        for (uint32_t w = 1; w < v->nodes; w++)
            domain += v->end[u] == u + 1
                          ? v->end[w] == w + 1
                          : v->depth[w] == v->depth[u] || (v->depth[w] < v->depth[u] && v->end[w] == w + 1);
        if (support == 0) continue;
        sum += support * (common / (u == 0 ? 1 : domain));
        shown++;
    }
    *numerator = sum;
    *denominator = common * shown * shown;
}

static bool finer(const kn_vocabulary *v, const cut_list *l, int a, int b)
{
    int deeper = 0;
    if (l->size[a] != l->size[b]) return l->size[a] > l->size[b];
    for (int i = 0; i < l->size[a]; i++) deeper += (int)v->depth[l->values[a][i]] - (int)v->depth[l->values[b][i]];
    if (deeper != 0) return deeper > 0;
    for (int i = 0; i < l->size[a]; i++)
        if (l->values[a][i] != l->values[b][i]) return l->values[a][i] < l->values[b][i];
    return false;
}

static void test_cuts_like_enumeration(void **state)
{
    static const int depths[][10] = {{1, 2, 3, 3, 2, 3, 3}, {1, 2, 3, 4}, {1, 2, 2, 3, 4, 4, 4}, {1, 2, 3, 3, 2, 3, 2}};
    static const char *const labels[][10] = {{"A", "B", "a", "b", "C", "c", "d"},
                                             {"A", "B", "C", "a"},
                                             {"A", "a", "B", "C", "b", "c", "d"},
                                             {"A", "B", "a", "b", "C", "c", "d"}};
    static const int         sizes[] = {7, 4, 7, 7};
    kn_context              *ctx = testing_context(1);
    kn_error                 err = KN_ERROR_INIT;
    kn_rng                   rng;
    int                      tied = 0;
    (void)state;
    kn_rng_init(&rng, testing_seed(), 2);
    for (int i = 0; i < testing_rounds(300); i++) {
        int  shape = i % 4, leaves = shape == 1 ? 1 : 4, records = 2 + (int)kn_rng_below(&rng, 7);
        char text[256] = "";
        for (int r = 0; r < records; r++) {
            int some = 1 + (int)kn_rng_below(&rng, (1u << leaves) - 1), first = 1;
            for (int x = 0; x < leaves; x++)
                if (some >> x & 1) {
                    size_t at = strlen(text);
                    snprintf(text + at, sizeof text - at, "%s%c", first ? (r ? "\n" : "") : ",", 'a' + x);
                    first = 0;
                }
        }
        kn_records     *set = tree_records(ctx, tree_vocabulary(ctx, sizes[shape], depths[shape], labels[shape]), text);
        cut_list        l;
        int             best = -1;
        uint64_t        least[2] = {1, 0};
        kn_tree_problem p = KN_TREE_PROBLEM_INIT;
        p.records = set;
        p.k = 1 + (int64_t)kn_rng_below(&rng, 4);
        p.m = 1 + (int)kn_rng_below(&rng, 2);
        p.n = 0;
        p.method = KN_METHOD_ACS;
        list_cuts(set->vocabulary, &l);
        for (int c = 0; c < l.count && p.k <= set->count; c++) {
            kn_records_plan *plan = NULL;
            uint64_t         cost[2];
            assert_ok(kn_records_plan_create(&plan, ctx, set->vocabulary, 0, &err), err);
            kn_records_plan_set_cut(plan, set->vocabulary, l.values[c], l.size[c]);
            kn_records *released = tree_release(ctx, set, plan);
            if (tree_holds(released, p.k, p.m, 0, KN_SEMANTICS_PAIRS, 0)) {
                flat_cost(released, &cost[0], &cost[1]);
                bool less = best < 0 || cost[0] * least[1] < least[0] * cost[1];
                bool equal = best >= 0 && cost[0] * least[1] == least[0] * cost[1];
                tied += equal;
                if (less || (equal && finer(set->vocabulary, &l, c, best))) {
                    best = c;
                    memcpy(least, cost, sizeof least);
                }
            }
            kn_records_free(released);
            kn_records_plan_free(plan);
        }
        for (int reference = 0; reference < 2; reference++) {
            kn_tree_result *r = NULL;
            p.reference = reference;
            assert_ok(kn_tree_search(&r, ctx, &p, &err), err);
            assert_int_equal(r->found, best >= 0);
            for (int j = 0; best >= 0 && j < l.size[best]; j++)
                assert_int_equal(r->plan->image[l.values[best][j]], l.values[best][j]);
            kn_tree_result_free(r);
        }
        kn_records_free(set);
    }
    assert_true(tied > testing_least(100));
    testing_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order_and_names_decide_nothing),
        cmocka_unit_test(test_cuts_like_enumeration),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
