/* test_skeletons.c: the clusterings beside CDGH, against twins that know nothing of trees of rows: persons with one row,
 * generalized values as sets of leaves, classes as lists of persons. What databases of several tables become by them is
 * tested with all else in test_miracle.c.
 * SPDX-License-Identifier: Apache-2.0 */
#include "relational_testing.h"

#include "kn_relational.h"

enum { MOST = 60, LEAVES = 8 };

/* The persons in the order in which they are taken. */
typedef struct crowd {
    const test_table *table;
    int               count, k, l; /* l: different sensitive values in a part, 0: any */
    const test_row   *row[MOST];
    int               class_of[MOST]; /* what the twin found; -1: none */
    int               classes;
} crowd;

/* ---- Values as sets of leaves ---- */

static unsigned under(const test_tree *tree, int leaf, int level)
{
    unsigned set = 0;
    for (int i = 0; i < tree->leaves; i++)
        if (strcmp(tree->path[i][level], tree->path[leaf][level]) == 0) set |= 1u << i;
    return set;
}

/* The smallest group that holds a set. */
static unsigned group_of(const test_tree *tree, unsigned set)
{
    int leaf = 0;
    while (!(set & 1u << leaf)) leaf++;
    for (int level = 0; level < tree->levels; level++)
        if ((set & ~under(tree, leaf, level)) == 0) return under(tree, leaf, level);
    fail();
    return 0;
}

/* What persons show together, as sets of leaves; `more` is one more, or -1. */
static void shown(const crowd *c, const bool *in, int more, unsigned *sets)
{
    for (int q = 0; q < c->table->quasi_count; q++) {
        sets[q] = 0;
        for (int p = 0; p < c->count; p++)
            if ((in && in[p]) || p == more) sets[q] |= 1u << c->row[p]->quasi[q];
        sets[q] = group_of(&c->table->trees[q], sets[q]);
    }
}

/* Leaves too many in the cells of persons and one more. All columns have as many leaves, so that this orders as LM does. */
static int loss(const crowd *c, const bool *in, int more)
{
    unsigned sets[MOST_QUASI];
    int      sum = 0;
    shown(c, in, more, sets);
    for (int q = 0; q < c->table->quasi_count; q++) sum += __builtin_popcount(sets[q]) - 1;
    return sum;
}

static int apart(const crowd *c, int a, int b)
{
    bool in[MOST] = {false};
    in[a] = true;
    return loss(c, in, b);
}

/* ---- Twins ---- */

static int left(const crowd *c)
{
    int count = 0;
    for (int p = 0; p < c->count; p++) count += c->class_of[p] < 0;
    return count;
}

/* Who without a class is farthest from (sign 1) or nearest to (-1) a person, of equal ones the first. */
static int extreme(const crowd *c, int from, int sign)
{
    int best = -1;
    for (int p = 0; p < c->count; p++)
        if (c->class_of[p] < 0 && (best < 0 || sign * (apart(c, from, p) - apart(c, from, best)) > 0)) best = p;
    return best;
}

static void members(const crowd *c, int class, bool *in)
{
    for (int p = 0; p < c->count; p++) in[p] = c->class_of[p] == class;
}

static void twin_k_member(crowd *c)
{
    int  last = 0;
    bool in[MOST];
    while (left(c) >= c->k) {
        last = extreme(c, last, 1);
        c->class_of[last] = c->classes;
        for (int size = 1; size < c->k; size++) {
            int best = -1;
            members(c, c->classes, in);
            for (int p = 0; p < c->count; p++)
                if (c->class_of[p] < 0 && (best < 0 || loss(c, in, p) < loss(c, in, best))) best = p;
            last = best;
            c->class_of[best] = c->classes;
        }
        c->classes++;
    }
    for (int p = 0; p < c->count; p++) { /* M3 */
        int best = 0, least = 0;
        if (c->class_of[p] >= 0) continue;
        for (int class = 0; class < c->classes; class ++) {
            members(c, class, in);
            if (class == 0 || loss(c, in, p) < least) {
                best = class;
                least = loss(c, in, p);
            }
        }
        c->class_of[p] = best;
    }
}

static void twin_around(crowd *c, int centre)
{
    c->class_of[centre] = c->classes;
    for (int size = 1; size < c->k; size++) c->class_of[extreme(c, centre, -1)] = c->classes;
    c->classes++;
}

static void twin_mdav(crowd *c)
{
    while (left(c) >= 2 * c->k) {
        bool two = left(c) >= 3 * c->k, all[MOST];
        int  from = -1;
        members(c, -1, all);
        for (int p = 0; p < c->count; p++)
            if (all[p] && (from < 0 || loss(c, all, p) > loss(c, all, from))) from = p;
        twin_around(c, from);
        if (two) twin_around(c, extreme(c, from, 1));
    }
    for (int p = 0; p < c->count; p++)
        if (c->class_of[p] < 0) c->class_of[p] = c->classes;
    c->classes++;
}

/* Parts are lists of persons, in the order in which cuts left them. */
static bool twin_keeps(const crowd *c, const int *part, int count)
{
    int seen = 0, different = 0;
    for (int i = 0; i < count; i++) {
        different += !(seen & 1 << c->row[part[i]]->sensitive);
        seen |= 1 << c->row[part[i]]->sensitive;
    }
    return count >= c->k && different >= c->l;
}

static void twin_cut(crowd *c, const int *part, int count)
{
    bool in[MOST] = {false};
    int  parts[2][MOST], sizes[2] = {0, 0}, a = 0, b = -1;
    for (int i = 0; i < count; i++) in[part[i]] = true;
    if (count >= 2 * c->k) {
        for (int i = 1; i < count; i++) /* all are within the whole, so that nobody is farther than the first */
            if (loss(c, in, part[i]) > loss(c, in, part[a])) a = i;
        for (int i = 0; i < count; i++)
            if (i != a && (b < 0 || apart(c, part[a], part[i]) > apart(c, part[a], part[b]))) b = i;
        bool second[MOST];
        for (int i = 0; i < count; i++) {
            int nearer = apart(c, part[b], part[i]) - apart(c, part[a], part[i]);
            second[i] = i != a && (i == b || nearer < 0 || (nearer == 0 && sizes[1] < sizes[0]));
            sizes[second[i]]++;
        }
        for (int side = 0; side < 2; side++)
            while (sizes[side] < c->k) {
                int best = -1, end = side ? b : a, other = side ? a : b;
                for (int i = 0; i < count; i++)
                    if (second[i] != (side == 1) && i != other &&
                        (best < 0 || apart(c, part[end], part[i]) < apart(c, part[end], part[best])))
                        best = i;
                second[best] = side == 1;
                sizes[side]++;
                sizes[!side]--;
            }
        sizes[0] = sizes[1] = 0;
        for (int i = 0; i < count; i++) parts[second[i]][sizes[second[i]]++] = part[i];
        if (twin_keeps(c, parts[0], sizes[0]) && twin_keeps(c, parts[1], sizes[1])) {
            twin_cut(c, parts[0], sizes[0]);
            twin_cut(c, parts[1], sizes[1]);
            return;
        }
    }
    for (int i = 0; i < count; i++) c->class_of[part[i]] = c->classes;
    c->classes++;
}

static void twin_top_down(crowd *c)
{
    int all[MOST];
    for (int p = 0; p < c->count; p++) all[p] = p;
    twin_cut(c, all, c->count);
}

/* ---- The radius of r-gather ---- */

/* Can centres have k persons each within a distance? Persons are moved along paths until none is left. */
static bool give(const crowd *c, const int *centres, int *of, bool *tried, int centre, int within)
{
    for (int p = 0; p < c->count; p++) {
        if (tried[p] || apart(c, centres[centre], p) > within) continue;
        tried[p] = true;
        if (of[p] < 0 || (centres[of[p]] != p && give(c, centres, of, tried, of[p], within))) {
            of[p] = centre;
            return true;
        }
    }
    return false;
}

static bool serves(const crowd *c, int within, int *centre_count)
{
    int  centres[MOST], of[MOST], count = 0;
    bool near[MOST] = {false};
    for (int p = 0; p < c->count; p++) {
        int others = 0;
        of[p] = -1;
        for (int q = 0; q < c->count; q++) others += apart(c, p, q) <= within;
        if (others < c->k) return false;
    }
    for (int p = 0; p < c->count; p++) {
        if (near[p]) continue;
        for (int q = 0; q < c->count; q++) near[q] |= apart(c, p, q) <= within;
        of[p] = count;
        centres[count++] = p;
    }
    *centre_count = count;
    for (int i = 0; i < count; i++)
        for (int size = 1; size < c->k; size++) {
            bool tried[MOST] = {false};
            for (int j = 0; j < count; j++) tried[centres[j]] = true;
            if (!give(c, centres, of, tried, i, within)) return false;
        }
    return true;
}

/* Every class has somebody whom all its members are near. */
static void check_gathered(const crowd *c, const kn_database_plan *plan, const kn_relational_counters *counters)
{
    int within = 0, centres = 0;
    while (!serves(c, within, &centres)) within++;
    assert_int_equal(counters->clusters, centres);
    for (uint32_t class = 0; class < plan->classes && (int)plan->classes == centres; class ++) {
        bool some = false;
        for (int p = 0; p < c->count; p++) {
            bool all = plan->class_of_entity[p] == class;
            for (int q = 0; q < c->count; q++)
                all = all && (plan->class_of_entity[q] != class || apart(c, p, q) <= within);
            some |= all;
        }
        assert_true(some);
    }
}

/* ---- Random tables ---- */

static test_data random_table(kn_rng *rng, int persons)
{
    test_data   d = {.tables = 1};
    test_table *t = &d.table[0];
    *t = (test_table){.parent = -1, .quasi_count = 1 + below(rng, MOST_QUASI)};
    for (int q = 0; q < t->quasi_count; q++) do
            random_tree(&t->trees[q], rng);
        while (t->trees[q].leaves != LEAVES);
    for (int p = 0; p < persons; p++) {
        test_row *row = add_row(t);
        row->sensitive = below(rng, 4);
        for (int q = 0; q < t->quasi_count; q++) row->quasi[q] = below(rng, LEAVES);
    }
    return d;
}

static bool show_alike(const crowd *c, int a, int b)
{
    unsigned x[MOST_QUASI], y[MOST_QUASI];
    bool     in[MOST];
    members(c, c->class_of[a], in);
    shown(c, in, -1, x);
    members(c, c->class_of[b], in);
    shown(c, in, -1, y);
    return memcmp(x, y, (size_t)c->table->quasi_count * sizeof *x) == 0;
}

/* Classes that show the same are one. */
static void check_classes(const crowd *c, const kn_database_plan *plan, const kn_relational_counters *counters)
{
    assert_int_equal(counters->clusters, c->classes);
    for (int a = 0; a < c->count; a++)
        for (int b = 0; b < a; b++) {
            bool together = c->class_of[a] == c->class_of[b] || show_alike(c, a, b);
            assert_int_equal(plan->class_of_entity[a] == plan->class_of_entity[b], together);
        }
}

static void check_twin(kn_context *ctx, kn_rng *rng, kn_clustering clustering)
{
    static void (*const twins[KN_CLUSTERINGS])(crowd *) = {
        [KN_CLUSTERING_K_MEMBER] = twin_k_member,
        [KN_CLUSTERING_MDAV] = twin_mdav,
        [KN_CLUSTERING_TOP_DOWN] = twin_top_down,
    };
    int                    persons = 4 + below(rng, MOST - 3), sensitive = 2;
    test_data              d = random_table(rng, persons);
    test_forest            f = make_forest(ctx, &d, NULL);
    crowd                  c = {.table = &d.table[0], .count = persons, .k = 2 + below(rng, 3)};
    kn_relational_problem  problem = KN_RELATIONAL_PROBLEM_INIT;
    kn_relational_counters counters;
    kn_relational_promise  promise = {
         0, sensitive + d.table[0].quasi_count, {.kind = KN_MODEL_DISTINCT, .attribute = "s", .l = {2, 1}}};
    kn_database_plan *plan;
    kn_error          err = KN_ERROR_INIT;
    bool              found;
    problem.forest = f.forest;
    problem.method = (kn_method)(KN_METHOD_MIRACLE + below(rng, 3));
    problem.k = c.k;
    problem.clustering = clustering;
    if (clustering == KN_CLUSTERING_TOP_DOWN && below(rng, 2)) {
        problem.method = KN_METHOD_DMIRACLE;
        problem.promises = &promise;
        problem.promise_count = 1;
        c.l = 2;
    }
    for (int p = 0; p < persons; p++) {
        c.row[p] = &d.table[0].row[f.original[0][f.forest->row[f.forest->start[p]]]];
        c.class_of[p] = -1;
    }
    assert_ok(kn_relational_search(&plan, &found, &counters, ctx, &problem, &err), err);
    if (found) { /* else all persons together have one value */
        if (clustering == KN_CLUSTERING_R_GATHER) {
            check_gathered(&c, plan, &counters);
        } else {
            twins[clustering](&c);
            check_classes(&c, plan, &counters);
        }
    }
    assert_true(found || c.l > 0);
    kn_database_plan_free(plan);
    test_forest_free(&f);
    free_data(&d);
}

static void test_twins(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(2);
    uint64_t    seed = testing_seed();
    for (uint64_t round = 0; round < (uint64_t)testing_rounds(200); round++) {
        kn_rng rng;
        kn_rng_init(&rng, seed, round);
        check_twin(ctx, &rng, (kn_clustering)(1 + round % (KN_CLUSTERINGS - 1)));
    }
    testing_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_twins)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
