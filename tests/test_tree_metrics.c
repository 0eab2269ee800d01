/* test_tree_metrics.c: RPD, ML², dML² and survival of tree records: the paper's Examples 1 and 3, and twins that list
 * every subtree of every record.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "tree_testing.h"

#include "kn_subtree_miner.h"
#include "kn_tree_reference.h"

/* ---- The paper's examples ---- */

static kn_tree_metrics measure(kn_context *ctx, const kn_records *records, const kn_records_plan *plan,
                               const kn_tree_metrics_options *options)
{
    kn_error        err = KN_ERROR_INIT;
    kn_records     *released;
    int64_t        *original_of;
    kn_tree_metrics metrics;
    assert_ok(kn_records_apply(&released, &original_of, ctx, records, plan, &err), err);
    assert_ok(kn_tree_measure(&metrics, ctx, records, released, original_of, options, &err), err);
    kn_records_free(released);
    kn_free(original_of);
    return metrics;
}

#define FIG2 "Hospital1(Gastritis),Hospital2(Flu(Pain killer),Bronchitis(Antibiotics))"

static void test_example_1(void **state)
{
    (void)state;
    static const char *const cut5[] = {"Hospital1",    "Hospital2",   "Rea",        "Gaia",
                                       "Lung Disease", "Diarrhea",    "Gastritis",  "Neurological",
                                       "Orthopedic",   "Pain killer", "Antibiotics"};
    static const char *const cut7[] = {"Hospital1",    "Hospital2",  "Rea",         "Gaia",
                                       "Flu",          "Bronchitis", "Diarrhea",    "Gastritis",
                                       "Neurological", "Orthopedic", "Pain killer", "Antibiotics"};
    static const char *const sd7[][2] = {{"Hospital2", "Bronchitis"}};
    kn_context              *ctx = testing_context(1);
    kn_records              *records = tree_records(ctx, tree_hospital(ctx), FIG2);
    kn_records_plan         *five = tree_plan(ctx, records->vocabulary, cut5, 11, NULL, 0);
    kn_records_plan         *seven = tree_plan(ctx, records->vocabulary, cut7, 12, sd7, 1);
    kn_tree_metrics_options  options = KN_TREE_METRICS_OPTIONS_INIT;
    options.level_domains = true;
    assert_float_equal(measure(ctx, records, five, &options).rpd, 0.00129, 0.000005);
    assert_float_equal(measure(ctx, records, seven, &options).rpd, 0.02259, 0.000005);
    /* By class (K2): 4 leaves, 2 groups each. */
    options.level_domains = false;
    assert_float_equal(measure(ctx, records, five, &options).rpd, (1.0 / 32 + 2 * 1.0 / (4 * 4 * 12)) / 3, 1e-15);
    kn_tree_metrics m = measure(ctx, records, seven, &options);
    assert_float_equal(m.rpd, (1.0 / 32 + 1.0 / (4 * 8 * 12) + 1.0 / 32 + 1.0 / 4) / 4, 1e-15);
    assert_float_equal(m.rpd_original, (1.0 / 32 + 2 * 1.0 / (4 * 8 * 12)) / 3, 1e-15);
    assert_true(isnan(m.ml2) && isnan(m.dml2));
    assert_int_equal(m.nodes_original, 7);
    assert_int_equal(m.nodes, 7);
    assert_int_equal(m.relations_original, 7);
    assert_int_equal(m.relations, 5);
    assert_float_equal(m.node_survival, 1, 0);
    /* Hospital2 above Bronchitis and Bronchitis above Antibiotics are gone. */
    assert_float_equal(m.relation_survival, 5.0 / 7, 1e-15);
    m = measure(ctx, records, five, &options);
    assert_int_equal(m.nodes, 6);
    assert_float_equal(m.node_survival, 5.0 / 7, 1e-15);
    assert_float_equal(m.relation_survival, 1, 0);
    kn_records_plan_free(five);
    kn_records_plan_free(seven);
    kn_records_free(records);
    testing_context_free(ctx);
}

/* K13: a leaf is on the lowest level wherever it stands: four equally frequent leaves have 1/4, whatever their depths. */
static void test_rpd_of_unbalanced_hierarchies(void **state)
{
    (void)state;
    static const int         depths[][8] = {{1, 2, 2, 2, 2}, {1, 2, 2, 3, 3, 3}, {1, 2, 2, 3, 3, 4, 4}};
    static const char *const labels[][8] = {
        {"A", "a", "b", "c", "d"}, {"A", "a", "B", "b", "c", "d"}, {"A", "a", "B", "b", "C", "c", "d"}};
    static const int sizes[] = {5, 6, 7};
    kn_context      *ctx = testing_context(1);
    for (int i = 0; i < 3; i++) {
        kn_records *records = tree_records(ctx, tree_vocabulary(ctx, sizes[i], depths[i], labels[i]), "a\nb\nc\nd");
        static const char *const as_it_is[] = {"a", "b", "c", "d"};
        kn_records_plan         *plan = tree_plan(ctx, records->vocabulary, as_it_is, 4, NULL, 0);
        kn_tree_metrics_options  options = KN_TREE_METRICS_OPTIONS_INIT;
        kn_tree_metrics          m = measure(ctx, records, plan, &options);
        assert_float_equal(m.rpd, 0.25, 1e-15);
        assert_float_equal(m.rpd_original, 0.25, 1e-15);
        kn_records_plan_free(plan);
        kn_records_free(records);
    }
    testing_context_free(ctx);
}

/* Examples 2 and 3: r → a → b with a generalized to A; then A above b disassociated too. */
static void test_example_3(void **state)
{
    (void)state;
    static const int         depths[] = {1, 2, 2, 1, 2, 2};
    static const char *const labels[] = {"A", "a", "aa", "B", "b", "bb"};
    static const char *const cut[] = {"A", "b", "bb"};
    static const char *const sd[][2] = {{"A", "b"}};
    kn_context              *ctx = testing_context(2);
    kn_error                 err = KN_ERROR_INIT;
    kn_records              *records = tree_records(ctx, tree_vocabulary(ctx, 6, depths, labels), "a(b)\na(b)");
    kn_tree_metrics_options  options = KN_TREE_METRICS_OPTIONS_INIT;
    options.mine = true;
    options.support = 1;
    for (int broken = 0; broken < 2; broken++) {
        kn_records_plan *plan = tree_plan(ctx, records->vocabulary, cut, 3, sd, broken);
        kn_records      *released = tree_release(ctx, records, plan);
        /* The level of the leaves: r → a has dtree 0.5, so that r → a → b has what is left. */
        uint32_t          image[] = {0, 1, 2, 3, 4, 5, 6};
        double            steps[] = {0, 0, 1, 1, 0, 0, 0};
        kn_mining_problem problem = {records, released, image, steps, 2, 3, false};
        kn_mining         mined;
        assert_ok(kn_subtree_mine(&mined, ctx, &problem, &err), err);
        assert_int_equal(mined.frequent, 2);
        assert_int_equal(mined.kept, 0);
        assert_float_equal(mined.distance - 0.5, broken ? 0.75 : 0.25, 1e-15);
        /* All levels: a, a → b, A, A → B. */
        kn_tree_metrics m = measure(ctx, records, plan, &options);
        assert_float_equal(m.ml2, broken ? 0.75 : 0.5, 1e-15);
        assert_float_equal(m.dml2, broken ? (0.5 + 0.75 + 0.5) / 4 : (0.5 + 0.25) / 4, 1e-15);
        kn_records_free(released);
        kn_records_plan_free(plan);
    }
    kn_records_free(records);
    testing_context_free(ctx);
}

/* ---- Twins: every subtree of every record as a text ---- */

enum { LARGEST = 4 }; /* nodes of a subtree */

typedef struct subtree {
    int      size;
    int      parent[LARGEST]; /* -1: the root */
    uint32_t value[LARGEST];
    char     text[96];
    int64_t  records[2], last[2];
} subtree;

typedef struct listing {
    const kn_vocabulary *vocabulary;
    kn_records          *sides[2]; /* at the level */
    int                  largest;
    bool                 embedded;
    subtree             *found;
    int                  count, capacity;
} listing;

/* The canonical text; false where siblings are equal. */
static bool write_subtree(const subtree *s, int parent, char *out, size_t room)
{
    int children[LARGEST], count = 0;
    for (int i = 0; i < s->size; i++) {
        if (s->parent[i] != parent) continue;
        int at = count++;
        for (; at > 0 && s->value[children[at - 1]] > s->value[i]; at--) children[at] = children[at - 1];
        children[at] = i;
        if (at > 0 && s->value[children[at - 1]] == s->value[i]) return false;
    }
    for (int i = 0; i < count; i++) {
        char below[96] = "";
        if (!write_subtree(s, children[i], below, sizeof below)) return false;
        snprintf(out + strlen(out), room - strlen(out), "%u(%.80s)", (unsigned)s->value[children[i]], below);
    }
    return true;
}

static void note(listing *l, int side, int64_t t, subtree *s)
{
    s->text[0] = 0;
    if (!write_subtree(s, -1, s->text, sizeof s->text)) return;
    int at = 0;
    while (at < l->count && strcmp(l->found[at].text, s->text) != 0) at++;
    if (at == l->count) {
        if (l->count == l->capacity) {
            l->capacity = 2 * l->capacity + 64;
            l->found = realloc(l->found, (size_t)l->capacity * sizeof *l->found);
            assert_non_null(l->found);
        }
        l->found[l->count++] = *s;
        l->found[at].records[0] = l->found[at].records[1] = 0;
        l->found[at].last[0] = l->found[at].last[1] = -1;
    }
    if (l->found[at].last[side] == t) return;
    l->found[at].last[side] = t;
    l->found[at].records[side]++;
}

/* Every way to hang the chosen nodes below each other or the root. */
static void hang(listing *l, int side, int64_t t, const uint32_t *chosen, subtree *s, int next)
{
    const kn_records *r = l->sides[side];
    if (next == s->size || next == LARGEST) {
        note(l, side, t, s);
        return;
    }
    uint32_t parent = r->parent[r->start[t] + chosen[next]];
    s->value[next] = r->value[r->start[t] + chosen[next]];
    if (l->embedded || parent == KN_RECORDS_ROOT) {
        s->parent[next] = -1;
        hang(l, side, t, chosen, s, next + 1);
    }
    for (int i = 0; i < next; i++)
        if (l->embedded ? tree_above(r, t, chosen[i], chosen[next]) : parent == chosen[i]) {
            s->parent[next] = i;
            hang(l, side, t, chosen, s, next + 1);
        }
}

static void choose(listing *l, int side, int64_t t, uint32_t *chosen, int count, uint32_t first)
{
    const kn_records *r = l->sides[side];
    if (count > 0) {
        subtree s = {.size = count};
        hang(l, side, t, chosen, &s, 0);
    }
    if (count >= l->largest || count >= LARGEST) return;
    for (uint32_t i = first; i < r->start[t + 1] - r->start[t]; i++) {
        chosen[count] = i;
        choose(l, side, t, chosen, count + 1, i + 1);
    }
}

/* What a released or original value shows at a depth. */
static uint32_t at_depth(const kn_vocabulary *v, uint32_t value, uint32_t depth)
{
    while (v->depth[value] > depth) value = v->parent[value];
    return value;
}

static kn_records *at_level(kn_context *ctx, const kn_records *records, uint32_t depth)
{
    kn_error         err = KN_ERROR_INIT;
    kn_records_plan *plan;
    assert_ok(kn_records_plan_create(&plan, ctx, records->vocabulary, 0, &err), err);
    for (uint32_t u = 0; u < plan->values; u++) plan->image[u] = at_depth(records->vocabulary, u, depth);
    kn_records *out = tree_release(ctx, records, plan);
    kn_records_plan_free(plan);
    return out;
}

static double twin_distance(const listing *l, const subtree *s, const kn_records_plan *plan)
{
    const kn_vocabulary *v = l->vocabulary;
    double               steps = 0;
    int                  relations = 0, broken = 0;
    uint32_t             shown[LARGEST];
    for (int i = 0; i < s->size; i++) {
        uint32_t image = plan->image[s->value[i]];
        shown[i] = image == UINT32_MAX ? s->value[i] : image;
        steps += v->depth[s->value[i]] - v->depth[shown[i]];
    }
    for (int i = 0; i < s->size; i++)
        for (int p = s->parent[i]; p >= 0; p = s->parent[p]) {
            bool there = false;
            for (int64_t t = 0; t < l->sides[1]->count; t++)
                there |= tree_has_relation(l->sides[1], t, shown[p], shown[i]);
            relations++;
            broken += !there;
        }
    return 0.5 * steps / s->size + (relations > 0 ? 0.5 * broken / relations : 0);
}

static void check_mining(kn_context *ctx, const kn_records *records, const kn_records *released,
                         const kn_records_plan *plan, const kn_tree_metrics_options *options, const kn_tree_metrics *m)
{
    const kn_vocabulary *v = records->vocabulary;
    int64_t              frequent = 0, kept = 0, threshold = (int64_t)ceil(options->support * (double)records->count);
    double               distance = 0;
    if (threshold < 1) threshold = 1;
    for (uint32_t depth = v->height[0]; depth > 0; depth--) {
        listing l = {.vocabulary = v, .largest = options->largest, .embedded = options->embedded};
        l.sides[0] = at_level(ctx, records, depth);
        l.sides[1] = at_level(ctx, released, depth);
        uint32_t chosen[TREE_NODES];
        for (int side = 0; side < 2; side++)
            for (int64_t t = 0; t < records->count; t++) choose(&l, side, t, chosen, 0, 0);
        for (int i = 0; i < l.count; i++) {
            if (l.found[i].records[0] < threshold) continue;
            frequent++;
            kept += l.found[i].records[1] >= threshold;
            distance += twin_distance(&l, &l.found[i], plan);
        }
        free(l.found);
        kn_records_free(l.sides[0]);
        kn_records_free(l.sides[1]);
    }
    assert_float_equal(m->ml2, frequent == 0 ? 0 : 1 - (double)kept / (double)frequent, 1e-12);
    assert_float_equal(m->dml2, frequent == 0 ? 0 : distance / (double)frequent, 1e-9);
}

static double twin_rpd(const kn_records *records, bool level_domains)
{
    const kn_vocabulary *v = records->vocabulary;
    double               sum = 0;
    for (int64_t t = 0; t < records->count; t++) {
        double   paths = 0;
        int      leaves = 0;
        uint64_t from = records->start[t], size = records->start[t + 1] - from;
        for (uint32_t i = 0; i < size; i++) {
            bool leaf = true;
            for (uint32_t j = 0; j < size; j++) leaf = leaf && records->parent[from + j] != i;
            if (!leaf) continue;
            double product = 1;
            for (uint32_t u = i; u != KN_RECORDS_ROOT; u = records->parent[from + u]) {
                uint32_t value = records->value[from + u];
                int      d = 0, domain = 0;
                for (uint32_t w = u; w != KN_RECORDS_ROOT; w = records->parent[from + w]) d++;
                for (uint32_t w = 0; w < v->nodes; w++)
                    if (w == 0 ? value == 0 : value != 0 && (level_domains || v->cls[w] == v->cls[value]))
                        domain += v->end[value] == value + 1
                                      ? v->end[w] == w + 1
                                      : v->depth[w] == v->depth[value] ||
                                            (v->depth[w] < v->depth[value] && v->end[w] == w + 1);
                product *= (double)d * domain;
            }
            paths += 1 / product;
            leaves++;
        }
        if (leaves > 0) sum += paths / leaves;
    }
    return records->count == 0 ? 0 : sum / (double)records->count;
}

static void check_survival(const kn_records *original, const kn_records *released, const kn_records_plan *plan,
                           const kn_tree_metrics *m)
{
    int64_t nodes = 0, kept = 0, relations = 0, still = 0, after = 0;
    for (int64_t t = 0; t < original->count; t++)
        for (uint32_t i = 0; i < original->start[t + 1] - original->start[t]; i++) {
            uint32_t value = original->value[original->start[t] + i];
            nodes++;
            kept += plan->image[value] == value;
            for (uint32_t j = 0; j < original->start[t + 1] - original->start[t]; j++) {
                if (!tree_above(original, t, j, i)) continue;
                relations++;
                still += tree_has_relation(released, t, plan->image[original->value[original->start[t] + j]],
                                           plan->image[value]);
            }
        }
    for (int64_t t = 0; t < released->count; t++)
        for (uint32_t i = 0; i < released->start[t + 1] - released->start[t]; i++)
            for (uint32_t j = 0; j < released->start[t + 1] - released->start[t]; j++)
                after += tree_above(released, t, j, i);
    assert_int_equal(m->nodes_original, nodes);
    assert_int_equal(m->nodes, released->nodes);
    assert_int_equal(m->relations_original, relations);
    assert_int_equal(m->relations, after);
    assert_float_equal(m->node_survival, nodes == 0 ? 1 : (double)kept / (double)nodes, 1e-15);
    assert_float_equal(m->relation_survival, relations == 0 ? 1 : (double)still / (double)relations, 1e-15);
}

/* A random cut, and some relations that occur under it. */
static kn_records_plan *random_plan(kn_context *ctx, kn_rng *rng, const kn_records *records)
{
    const kn_vocabulary *v = records->vocabulary;
    kn_error             err = KN_ERROR_INIT;
    kn_records_plan     *plan;
    assert_ok(kn_records_plan_create(&plan, ctx, v, 3, &err), err);
    plan->disassociation_count = 0;
    for (uint32_t u = 0; u < v->nodes; u++) {
        uint32_t above = u == 0 ? UINT32_MAX : plan->image[v->parent[u]];
        bool     stop = v->end[u] == u + 1 || kn_rng_below(rng, u == 0 ? 12 : 4) == 0;
        plan->image[u] = above != UINT32_MAX ? above : stop ? u : UINT32_MAX;
    }
    for (int64_t i = 0, count = (int64_t)kn_rng_below(rng, 4); i < count && records->nodes > 0; i++) {
        int64_t  t = (int64_t)kn_rng_below(rng, (uint64_t)records->count);
        uint64_t size = records->start[t + 1] - records->start[t];
        if (size == 0) continue;
        uint64_t node = records->start[t] + kn_rng_below(rng, size);
        uint32_t parent = records->parent[node];
        if (parent == KN_RECORDS_ROOT) continue;
        plan->disassociations[plan->disassociation_count++] = (kn_disassociation){
            plan->image[records->value[records->start[t] + parent]], plan->image[records->value[node]]};
    }
    return plan;
}

static void test_random_releases(void **state)
{
    (void)state;
    kn_context *contexts[2] = {testing_context(1), testing_context(3)};
    kn_rng      rng;
    int         lost = 0, broken = 0;
    kn_rng_init(&rng, testing_seed(), 0);
    for (int i = 0; i < 500; i++) {
        kn_context             *ctx = contexts[i % 2];
        tree_shape              shape = {3, 2, 2, 10, 8, 0, false, i % 5 == 0, false, false};
        kn_records             *records = tree_random(ctx, &rng, &shape);
        kn_records_plan        *plan = random_plan(ctx, &rng, records);
        kn_tree_metrics_options options = KN_TREE_METRICS_OPTIONS_INIT;
        options.mine = true;
        options.level_domains = i % 3 == 0;
        options.embedded = i % 4 == 0;
        options.largest = 1 + (int)kn_rng_below(&rng, LARGEST);
        options.support = 0.1 + 0.4 * kn_rng_double(&rng);
        /* The twins see no negative nodes. */
        kn_records_plan *same = tree_plan(ctx, records->vocabulary, NULL, 0, NULL, 0);
        for (uint32_t u = 0; u < same->values; u++) same->image[u] = u;
        kn_records     *original = tree_release(ctx, records, same);
        kn_records     *released = tree_release(ctx, records, plan);
        kn_tree_metrics m = measure(ctx, records, plan, &options);
        assert_float_equal(m.rpd, twin_rpd(released, options.level_domains), 1e-12);
        assert_float_equal(m.rpd_original, twin_rpd(original, options.level_domains), 1e-12);
        check_survival(original, released, plan, &m);
        check_mining(ctx, original, released, plan, &options, &m);
        lost += m.ml2 > 0;
        broken += m.relation_survival < 1;
        kn_records_free(original);
        kn_records_free(released);
        kn_records_plan_free(same);
        kn_records_plan_free(plan);
        kn_records_free(records);
    }
    printf("mining loss in %d, lost relations in %d\n", lost, broken);
    assert_true(lost > 150 && broken > 30);
    testing_context_free(contexts[0]);
    testing_context_free(contexts[1]);
}

static void test_wrong_options(void **state)
{
    (void)state;
    kn_context             *ctx = testing_context(1);
    kn_error                err = KN_ERROR_INIT;
    kn_records             *records = tree_records(ctx, tree_hospital(ctx), FIG2);
    kn_tree_metrics_options options = KN_TREE_METRICS_OPTIONS_INIT;
    kn_tree_metrics         m;
    int64_t                 original_of[] = {0};
    options.mine = true;
    options.largest = 0;
    assert_int_equal(kn_tree_measure(&m, ctx, records, records, original_of, &options, &err), KN_USAGE);
    options.largest = 3;
    options.support = 1.5;
    assert_int_equal(kn_tree_measure(&m, ctx, records, records, original_of, &options, &err), KN_USAGE);
    options.support = 0.5;
    kn_context_cancel(ctx);
    assert_int_equal(kn_tree_measure(&m, ctx, records, records, original_of, &options, &err), KN_CANCELLED);
    kn_context_reset_cancel(ctx);
    assert_ok(kn_tree_measure(&m, ctx, records, records, original_of, &options, &err), err);
    assert_float_equal(m.ml2, 0, 0);
    assert_float_equal(m.dml2, 0, 0);
    kn_records_free(records);
    testing_context_free(ctx);
}

static void test_memory_failures(void **state)
{
    (void)state;
    kn_status status = KN_MEMORY;
    for (int64_t refuse_at = 0; status != KN_OK; refuse_at += testing_step()) {
        testing_allocator memory = {.refuse_at = -1};
        kn_error          err = KN_ERROR_INIT;
        kn_context       *ctx;
        assert_ok(testing_refusing_context(&ctx, &memory, 1, &err), err);
        kn_records             *records = tree_records(ctx, tree_hospital(ctx), FIG2);
        kn_tree_metrics_options options = KN_TREE_METRICS_OPTIONS_INIT;
        kn_tree_metrics         m;
        int64_t                 original_of[] = {0};
        options.mine = true;
        options.embedded = refuse_at % 2;
        memory.refuse_at = memory.requests + refuse_at;
        status = kn_tree_measure(&m, ctx, records, records, original_of, &options, &err);
        assert_true(status == KN_OK || status == KN_MEMORY);
        kn_records_free(records);
        kn_context_free(ctx);
        assert_int_equal(memory.live, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        testing_alone(test_example_1),     testing_alone(test_rpd_of_unbalanced_hierarchies),
        cmocka_unit_test(test_example_3),  cmocka_unit_test(test_random_releases),
        testing_alone(test_wrong_options), testing_alone(test_memory_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
