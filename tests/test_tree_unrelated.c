/* test_tree_unrelated.c: k^(m,n)-anonymity against somebody who also knows that values of a record do not stand below others (section III-G): what
 * the search releases is attacked with every set of facts about every original record; fast and plain search give the same.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tree_testing.h"

#include "kn_tree_reference.h"

enum { PAIRS = 64, BONDS = 64, RECORDS = 64 };

/* ---- Every attacker ---- */

typedef struct attacker {
    const kn_tree_problem *p;
    const kn_records      *original, *released;
    const kn_records_plan *plan;
    uint32_t               pairs[PAIRS][2]; /* of the original: values, one above the other */
    int                    pair_count;
    uint64_t               own;               /* pairs of the target                          */
    uint32_t               bonds[BONDS][2];   /* relations that are shown, and ...            */
    uint64_t               stands_for[BONDS]; /* ... the pairs that each may stand for      */
    int                    bond_count;
    uint64_t               shows[RECORDS]; /* per released record: bonds                    */
    uint64_t               unrelated;      /* facts: pairs that the target does not have    */
    uint64_t               related;        /* ... and that it has                           */
    uint32_t               known[16];
    int                    known_count;
} attacker;

static int find_pair(const uint32_t (*pairs)[2], int count, uint32_t above, uint32_t below)
{
    for (int i = 0; i < count; i++)
        if (pairs[i][0] == above && pairs[i][1] == below) return i;
    return -1;
}

/* The pairs of a record's values, added to the list; as bits. */
static uint64_t pairs_of(const kn_records *r, int64_t t, uint32_t (*pairs)[2], int *count)
{
    uint64_t bits = 0;
    for (uint64_t i = r->start[t]; i < r->start[t + 1]; i++)
        for (uint32_t p = r->parent[i]; p != KN_RECORDS_ROOT; p = r->parent[r->start[t] + p]) {
            uint32_t above = r->value[r->start[t] + p], below = r->value[i];
            if (tree_sensitive(r->vocabulary, above) || tree_sensitive(r->vocabulary, below)) continue;
            int at = find_pair((const uint32_t(*)[2])pairs, *count, above, below);
            if (at < 0) {
                assert_true(*count < PAIRS);
                at = (*count)++;
                pairs[at][0] = above;
                pairs[at][1] = below;
            }
            bits |= UINT64_C(1) << at;
        }
    return bits;
}

static void look(attacker *a)
{
    for (int64_t t = 0; t < a->original->count; t++) (void)pairs_of(a->original, t, a->pairs, &a->pair_count);
    assert_true(a->released->count <= RECORDS);
    for (int64_t t = 0; t < a->released->count; t++) a->shows[t] = pairs_of(a->released, t, a->bonds, &a->bond_count);
    for (int b = 0; b < a->bond_count; b++)
        for (int i = 0; i < a->pair_count; i++)
            if (a->plan->image[a->pairs[i][0]] == a->bonds[b][0] && a->plan->image[a->pairs[i][1]] == a->bonds[b][1])
                a->stands_for[b] |= UINT64_C(1) << i;
}

/* Can the released record be the target's, by all that is known? */
static bool may_be(const attacker *a, int64_t t)
{
    for (int i = 0; i < a->known_count; i++)
        if (!tree_has_value(a->released, t, a->plan->image[a->known[i]])) return false;
    for (int i = 0; i < a->pair_count; i++)
        if ((a->related >> i & 1) &&
            !tree_has_relation(a->released, t, a->plan->image[a->pairs[i][0]], a->plan->image[a->pairs[i][1]]))
            return false;
    for (int b = 0; b < a->bond_count; b++)
        if ((a->shows[t] >> b & 1) && !(a->stands_for[b] & ~a->unrelated)) return false;
    return true;
}

static bool is_safe(const attacker *a)
{
    int64_t found = 0;
    for (int64_t t = 0; t < a->released->count; t++) found += may_be(a, t);
    return found == 0 || found >= a->p->k;
}

static bool knows(const attacker *a, uint32_t value)
{
    for (int i = 0; i < a->known_count; i++)
        if (a->known[i] == value) return true;
    return false;
}

static bool try_related(attacker *a, int from)
{
    if (!is_safe(a)) return false;
    if (__builtin_popcountll(a->unrelated) + __builtin_popcountll(a->related) == a->p->n) return true;
    for (int i = from; i < a->pair_count; i++) {
        if (!(a->own >> i & 1) || !knows(a, a->pairs[i][0]) || !knows(a, a->pairs[i][1])) continue;
        a->related |= UINT64_C(1) << i;
        bool fine = try_related(a, i + 1);
        a->related &= ~(UINT64_C(1) << i);
        if (!fine) return false;
    }
    return true;
}

/* Values that must be known: those that the target has and the ends of what is unrelated. */
static int values_known(const attacker *a)
{
    bool seen[TREE_VALUES] = {false};
    int  count = 0;
    for (int i = 0; i < a->known_count; i++) seen[a->known[i]] = true;
    for (int i = 0; i < a->pair_count; i++)
        if (a->unrelated >> i & 1) seen[a->pairs[i][0]] = seen[a->pairs[i][1]] = true;
    for (int u = 0; u < TREE_VALUES; u++) count += seen[u];
    return count;
}

static bool try_values(attacker *a, int64_t t, uint64_t from)
{
    const kn_records *r = a->original;
    if (!try_related(a, 0)) return false;
    for (uint64_t i = from; i < r->start[t + 1]; i++) {
        if (tree_sensitive(r->vocabulary, r->value[i]) || knows(a, r->value[i])) continue;
        a->known[a->known_count++] = r->value[i];
        bool fine = values_known(a) > a->p->m || try_values(a, t, i + 1);
        a->known_count--;
        if (!fine) return false;
    }
    return true;
}

static bool try_unrelated(attacker *a, int64_t t, int from)
{
    const kn_vocabulary *v = a->original->vocabulary;
    if (values_known(a) > a->p->m) return true;
    if (!try_values(a, t, a->original->start[t])) return false;
    if (__builtin_popcountll(a->unrelated) == a->p->n) return true;
    for (int i = from; i < a->pair_count; i++) {
        if ((a->own >> i & 1) || !v->unrelated[v->cls[a->pairs[i][1]]]) continue;
        a->unrelated |= UINT64_C(1) << i;
        bool fine = try_unrelated(a, t, i + 1);
        a->unrelated &= ~(UINT64_C(1) << i);
        if (!fine) return false;
    }
    return true;
}

/* Does nobody who knows something of an original record find between 1 and k - 1 released ones? */
static bool withstands(kn_context *ctx, const kn_tree_problem *p, const kn_records_plan *plan)
{
    attacker *a = calloc(1, sizeof *a);
    assert_non_null(a);
    kn_records *released = tree_release(ctx, p->records, plan);
    *a = (attacker){.p = p, .original = p->records, .released = released, .plan = plan};
    look(a);
    bool fine = true;
    for (int64_t t = 0; t < p->records->count && fine; t++) {
        a->own = pairs_of(p->records, t, a->pairs, &a->pair_count);
        fine = try_unrelated(a, t, 0);
    }
    free(a);
    kn_records_free(released);
    return fine;
}

/* ---- Random forests ---- */

static kn_records *random_records(kn_context *ctx, kn_rng *rng)
{
    static const tree_shape shapes[] = {
        {.classes = 3, .height = 1, .fanout = 2, .records = 16, .nodes = 8, .least = 6, .exact = true},
        {.classes = 2, .height = 2, .fanout = 2, .records = 14, .nodes = 8, .least = 4, .exact = true}};
    tree_shape shape = shapes[kn_rng_below(rng, 2)];
    shape.sensitive = kn_rng_below(rng, 4) == 0;
    kn_records    *records = tree_random(ctx, rng, &shape);
    kn_vocabulary *v = records->vocabulary;
    for (int c = 0; c < v->class_count; c++) v->unrelated[c] = !v->sensitive[c] && (c > 0 || kn_rng_below(rng, 2) == 0);
    return records;
}

static kn_tree_problem random_problem(kn_rng *rng, const kn_records *records)
{
    kn_tree_problem p = tree_random_problem(rng, records);
    p.k = 2 + (int64_t)kn_rng_below(rng, 2);
    p.m = 2 + (int)(kn_rng_below(rng, 4) == 0);
    p.n = 1 + (int)(p.m > 2 && kn_rng_below(rng, 2) == 0);
    p.method = kn_rng_below(rng, 3) == 0 ? KN_METHOD_ACS : KN_METHOD_GCS;
    p.how = (kn_disassociate)kn_rng_below(rng, KN_DISASSOCIATES);
    p.semantics = KN_SEMANTICS_PAIRS;
    p.strict = false;
    p.l = 0;
    return p;
}

static void test_every_attacker(void **state)
{
    (void)state;
    kn_context *contexts[2] = {testing_context(1), testing_context(2)};
    kn_rng      rng;
    uint64_t    seed = testing_seed();
    int         rounds = testing_rounds(600), found = 0, more = 0, needed = 0;
    for (int i = 0; i < rounds; i++) {
        kn_rng_init(&rng, seed, (uint64_t)i);
        kn_context     *ctx = contexts[i % 2];
        kn_error        err = KN_ERROR_INIT;
        kn_records     *records = random_records(ctx, &rng);
        kn_tree_problem p = random_problem(&rng, records);
        kn_tree_result *fast, plain, *without;
        assert_ok(kn_tree_search(&fast, ctx, &p, &err), err);
        assert_ok(kn_tree_reference_search(&plain, ctx, &p, &err), err);
        assert_int_equal(fast->found, plain.found);
        if (fast->found) {
            found++;
            assert_memory_equal(fast->plan->image, plain.plan->image, fast->plan->values * sizeof *fast->plan->image);
            assert_int_equal(fast->plan->disassociation_count, plain.plan->disassociation_count);
            if (fast->plan->disassociation_count > 0)
                assert_memory_equal(fast->plan->disassociations, plain.plan->disassociations,
                                    (size_t)fast->plan->disassociation_count * sizeof *plain.plan->disassociations);
            assert_true(withstands(ctx, &p, fast->plan));
            bool flags[64];
            int  classes = records->vocabulary->class_count;
            memcpy(flags, records->vocabulary->unrelated, (size_t)classes * sizeof *flags);
            memset(records->vocabulary->unrelated, 0, (size_t)classes * sizeof *flags);
            assert_ok(kn_tree_search(&without, ctx, &p, &err), err);
            memcpy(records->vocabulary->unrelated, flags, (size_t)classes * sizeof *flags);
            more += without->plan->disassociation_count < fast->plan->disassociation_count;
            needed += !withstands(ctx, &p, without->plan); /* the promise without it does not cover such knowledge */
            kn_tree_result_free(without);
        }
        kn_tree_result_free(fast);
        kn_records_plan_free(plain.plan);
        kn_records_free(records);
    }
    print_message("%d forests: %d released, %d of them with more disassociations, %d unsafe without\n", rounds, found,
                  more, needed);
    assert_true(found >= testing_least(200) && needed >= testing_least(40) && more >= testing_least(30));
    for (int i = 0; i < 2; i++) testing_context_free(contexts[i]);
}

/* All but one were treated for the flu in hospital 1: who was not is found by that. */
static void test_one_example(void **state)
{
    (void)state;
    static const char text[] = "Hospital1(Flu),Hospital2(Flu)\nHospital1(Flu),Hospital2(Flu)\nHospital1,Hospital2(Flu)"
                               "\nHospital1(Flu),Hospital2(Flu)";
    kn_context       *ctx = testing_context(1);
    kn_error          err = KN_ERROR_INIT;
    kn_records       *records = tree_records(ctx, tree_hospital(ctx), text);
    kn_tree_problem   p = KN_TREE_PROBLEM_INIT;
    kn_tree_result   *result;
    p.records = records;
    p.as_is = true;
    assert_ok(kn_tree_search(&result, ctx, &p, &err), err);
    assert_int_equal(result->plan->disassociation_count, 0);
    assert_false(withstands(ctx, &p, result->plan) && records->vocabulary->unrelated[1]);
    kn_tree_result_free(result);
    for (int c = 0; c < records->vocabulary->class_count; c++) records->vocabulary->unrelated[c] = true;
    assert_ok(kn_tree_search(&result, ctx, &p, &err), err);
    assert_true(result->found && withstands(ctx, &p, result->plan));
    kn_tree_result_free(result);
    p.strict = true;
    assert_int_equal(kn_tree_search(&result, ctx, &p, &err), KN_USAGE);
    kn_records_free(records);
    testing_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_one_example), cmocka_unit_test(test_every_attacker)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
