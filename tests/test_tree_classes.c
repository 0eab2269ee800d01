/* test_tree_classes.c: somebody who knows the structure of a record and none of its values (docs/errata.md K21): up to m classes,
 * one node of each, and up to n relations between these nodes. Releases hide everybody from them where relations share nodes
 * (paths), or one relation is known; else they need not.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tree_testing.h"

typedef struct class_attack {
    const kn_records *records;
    int64_t           k;
    int               m, n;
    bool              paths;
    int               classes[4], class_count;
    int               relations[8][2], relation_count; /* of classes[] */
    uint32_t          node[4];
    int64_t           tried;
} class_attack;

static bool node_has_class(const kn_records *r, int64_t t, uint32_t node, int cls)
{
    return r->vocabulary->cls[r->value[r->start[t] + node]] == cls;
}

/* Paths: a node for each class, under which all relations hold. */
static bool assign(class_attack *a, int64_t t, int next)
{
    if (next == a->class_count) {
        for (int j = 0; j < a->relation_count; j++)
            if (!tree_above(a->records, t, a->node[a->relations[j][0]], a->node[a->relations[j][1]])) return false;
        return true;
    }
    for (uint32_t i = 0; i < a->records->start[t + 1] - a->records->start[t]; i++) {
        a->node[next] = i;
        if (node_has_class(a->records, t, i, a->classes[next]) && assign(a, t, next + 1)) return true;
    }
    return false;
}

/* Pairs: each relation by itself. */
static bool has_pairs(const class_attack *a, int64_t t)
{
    class_attack one = *a;
    one.relation_count = 0;
    if (!assign(&one, t, 0)) return false;
    for (int j = 0; j < a->relation_count; j++) {
        one.relation_count = 1;
        memcpy(one.relations[0], a->relations[j], sizeof one.relations[0]);
        if (!assign(&one, t, 0)) return false;
    }
    return true;
}

static bool safe(class_attack *a, int first)
{
    int64_t support = 0;
    for (int64_t t = 0; t < a->records->count; t++) support += a->paths ? assign(a, t, 0) : has_pairs(a, t);
    a->tried += support > 0;
    if (support > 0 && support < a->k) return false;
    for (int pair = first; pair < a->class_count * a->class_count && a->relation_count < a->n; pair++) {
        if (pair / a->class_count == pair % a->class_count) continue;
        a->relations[a->relation_count][0] = pair / a->class_count;
        a->relations[a->relation_count++][1] = pair % a->class_count;
        bool fine = safe(a, pair + 1);
        a->relation_count--;
        if (!fine) return false;
    }
    return true;
}

static bool holds(class_attack *a, int first)
{
    const kn_vocabulary *v = a->records->vocabulary;
    if (a->class_count > 0 && !safe(a, 0)) return false;
    for (int c = first; c < v->class_count && a->class_count < a->m; c++) {
        if (v->sensitive[c]) continue;
        a->classes[a->class_count++] = c;
        bool fine = holds(a, c + 1);
        a->class_count--;
        if (!fine) return false;
    }
    return true;
}

static void test_releases_hide_structure(void **state)
{
    (void)state;
    kn_context      *ctx = testing_context(1);
    kn_error         err = KN_ERROR_INIT;
    const tree_shape shapes[] = {TREE_SHAPE_DISASSOCIATED, TREE_SHAPE_RIGID};
    int64_t          tried = 0;
    int              found = 0, rare = 0, rounds = testing_rounds(900);
    for (int i = 0; i < rounds; i++) {
        kn_rng rng;
        kn_rng_init(&rng, testing_seed(), (uint64_t)i);
        kn_records     *records = tree_random(ctx, &rng, &shapes[i % 2]);
        kn_tree_problem p = tree_random_problem(&rng, records);
        kn_tree_result *result;
        p.how = (kn_disassociate)kn_rng_below(&rng, KN_DISASSOCIATES);
        if (p.n > 1) p.semantics = KN_SEMANTICS_PATHS;
        assert_ok(kn_tree_search(&result, ctx, &p, &err), err);
        if (result->found) {
            kn_records  *released = tree_release(ctx, records, result->plan);
            class_attack a = {
                .records = released, .k = p.k, .m = p.m, .n = p.n, .paths = p.semantics == KN_SEMANTICS_PATHS};
            assert_true(holds(&a, 0));
            tried += a.tried;
            found++;
            kn_records_free(released);
            class_attack before = {.records = records, .k = p.k, .m = p.m, .n = p.n, .paths = a.paths};
            rare += !holds(&before, 0);
        }
        kn_tree_result_free(result);
        kn_records_free(records);
    }
    print_message("%d releases, %lld structures found; %d originals do not hide it\n", found, (long long)tried, rare);
    assert_true(found > testing_least(500) && rare > testing_least(30) && tried > testing_least(1000));
    testing_context_free(ctx);
}

/* One record has an A above a B and a B above a C; the two Bs are different values, so three values do not tell. */
static void test_pairs_of_two_relations_do_not(void **state)
{
    (void)state;
    static const int         depths[] = {1, 2, 1, 2, 2, 1, 2};
    static const char *const labels[] = {"A", "a", "B", "b", "bb", "C", "c"};
    kn_context              *ctx = testing_context(1);
    kn_records              *records = tree_records(ctx, tree_vocabulary(ctx, 7, depths, labels),
                                                    "a(b),bb(c)\na(b),bb,c\na(b),bb,c\na,b,bb(c)\na,b,bb(c)");
    class_attack             pairs = {.records = records, .k = 2, .m = 3, .n = 2}, one = pairs, paths = pairs;
    one.n = 1;
    paths.paths = true;
    assert_true(tree_holds(records, 2, 3, 2, KN_SEMANTICS_PAIRS, 0));
    assert_false(holds(&pairs, 0));
    assert_true(holds(&one, 0));
    assert_true(holds(&paths, 0));
    kn_records_free(records);
    testing_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_releases_hide_structure),
        cmocka_unit_test(test_pairs_of_two_relations_do_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
