/* test_tree.c: the fast k^(m,n) search: the synopsis of the paper's examples, the plans of the reference to the last
 * disassociation, every release against a brute-force attacker, threads, memory that runs out, time that runs out.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tree_testing.h"

#include "kn_synopsis.h"
#include "tpch_records.h"

#define FIG10                                                                                                          \
    "Hospital1(Gastritis),Hospital2(Flu(Pain killer),Bronchitis(Antibiotics))\n"                                       \
    "Hospital1(Bronchitis(Antibiotics),Gastritis),Hospital2(Flu(Pain killer),Bronchitis(Antibiotics))\n"               \
    "Hospital1(Flu(Pain killer)),Hospital2(Flu(Pain killer))\n"                                                        \
    "Hospital1(Bronchitis,Gastritis(Pain killer))"

/* ---- The synopsis (Examples 4 and 5, Figures 11 and 12) ---- */

/* The node at the end of a path of labels "Hospital1/Gastritis". */
static uint32_t node_at(const uint32_t *parents, const uint32_t *values, uint32_t count, const kn_vocabulary *v,
                        const char *path)
{
    uint32_t at = UINT32_MAX;
    while (*path) {
        size_t   size = strcspn(path, "/");
        uint32_t value = tree_value(v, path, size), next = 0;
        while (next < count && (parents[next] != at || values[next] != value)) next++;
        if (next == count) return UINT32_MAX;
        at = next;
        path += size + (path[size] == '/');
    }
    return at;
}

/* Rows of Figure 10's records are sorted by their nodes; the paper counts the records from 1 as they are listed. */
static void check_records(const bool *rows, const char *expected)
{
    static const char numbers[] = "3241";
    char              text[8] = "";
    for (char number = '1'; number <= '4'; number++)
        if (rows[strchr(numbers, number) - numbers]) text[strlen(text)] = number;
    assert_string_equal(text, expected);
}

/* The records that have it. */
static void check_node(const kn_synopsis *s, const char *path, const char *expected)
{
    bool     rows[4] = {0};
    uint32_t node = node_at(s->parent, s->value, s->nodes, s->vocabulary, path);
    assert_true(node < s->nodes);
    for (uint32_t row = 0; row < s->rows.count; row++)
        for (uint64_t i = s->rows.start[row]; i < s->rows.start[row + 1]; i++)
            if (s->rows.members[i] == node) rows[row] = true;
    check_records(rows, expected);
}

/* The entry of a value in L: its records, and how many sidelinks it has. */
static void check_entry(const kn_synopsis *s, const char *label, const char *expected, uint32_t links)
{
    uint32_t value = tree_value_of(s->vocabulary, label);
    bool     rows[4] = {0};
    for (uint32_t row = 0; row < s->rows.count; row++)
        for (uint64_t i = s->value_start[row]; i < s->value_start[row + 1]; i++)
            if (kn_synopsis_value(s, i) == value) rows[row] = true;
    check_records(rows, expected);
    assert_int_equal(s->side_start[value + 1] - s->side_start[value], links);
    for (uint32_t i = s->side_start[value]; i < s->side_start[value + 1]; i++)
        assert_int_equal(s->value[s->side[i]], value);
}

static void test_synopsis(void **state)
{
    (void)state;
    kn_context  *ctx = testing_context(1);
    kn_error     err = KN_ERROR_INIT;
    kn_records  *records = tree_records(ctx, tree_hospital(ctx), FIG10);
    kn_synopsis *s;
    assert_ok(kn_synopsis_make(&s, ctx, records, &err), err);
    assert_int_equal(s->nodes, 12); /* Figure 11 */
    assert_int_equal(s->rows.count, 4);
    check_node(s, "Hospital1", "1234");
    check_node(s, "Hospital2", "123");
    check_node(s, "Hospital1/Gastritis", "124");
    check_node(s, "Hospital1/Bronchitis", "24");
    check_node(s, "Hospital1/Flu", "3");
    check_node(s, "Hospital1/Gastritis/Pain killer", "4");
    check_node(s, "Hospital1/Bronchitis/Antibiotics", "2");
    check_node(s, "Hospital1/Flu/Pain killer", "3");
    check_node(s, "Hospital2/Flu", "123");
    check_node(s, "Hospital2/Bronchitis", "12");
    check_node(s, "Hospital2/Flu/Pain killer", "123");
    check_node(s, "Hospital2/Bronchitis/Antibiotics", "12");
    check_entry(s, "Hospital1", "1234", 1);
    check_entry(s, "Hospital2", "123", 1);
    check_entry(s, "Bronchitis", "124", 2);
    check_entry(s, "Gastritis", "124", 1);
    check_entry(s, "Flu", "123", 2);
    check_entry(s, "Pain killer", "1234", 3);
    check_entry(s, "Antibiotics", "12", 2);
    for (uint32_t i = 0; i < s->nodes; i++) {
        assert_true(s->end[i] > i && s->end[i] <= s->nodes);
        if (s->parent[i] != KN_SYNOPSIS_ROOT) assert_true(s->parent[i] < i && s->end[s->parent[i]] >= s->end[i]);
    }
    kn_synopsis_free(s);
    kn_records_free(records);
    testing_context_free(ctx);
}

/* 40,000 baskets, all different: which of the first 16 items each has are the bits of its number. One more is in every 300th, one
 * in two that are far apart when they are sorted, that with none of the first items and that with 15, and two in all. */
static kn_records *numbered_baskets(kn_context *ctx)
{
    enum { BITS = 16, RARE, ALL, ITEMS = ALL + 2, RECORDS = 40000 };
    kn_error    err = KN_ERROR_INIT;
    kn_records *records;
    uint64_t    at = 0;
    int         depths[1 + ITEMS] = {1};
    for (int i = 1; i <= ITEMS; i++) depths[i] = 2;
    kn_vocabulary *v = tree_vocabulary(ctx, 1 + ITEMS, depths, NULL);
    uint32_t       first = v->nodes - ITEMS;
    assert_ok(kn_records_create(&records, ctx, v, true, RECORDS, (uint64_t)RECORDS * ITEMS, &err), err);
    for (int64_t t = 0; t < RECORDS; t++) {
        for (uint32_t i = 0; i < ITEMS; i++) {
            bool has = i < BITS ? t >> i & 1 : i == BITS ? t % 300 == 299 : i >= ALL || t == 0 || t == 32767;
            if (!has) continue;
            records->parent[at] = KN_RECORDS_ROOT;
            records->value[at++] = first + i;
        }
        records->start[t + 1] = at;
    }
    records->nodes = at;
    return records;
}

/* Steps of one, two and three bytes. */
static void test_long_lists(void **state)
{
    (void)state;
    kn_context  *ctx = testing_context(1);
    kn_error     err = KN_ERROR_INIT;
    kn_records  *records = numbered_baskets(ctx);
    kn_synopsis *s;
    assert_ok(kn_synopsis_make(&s, ctx, records, &err), err);
    uint64_t members = 0, steps[3] = {0};
    for (uint32_t node = 0; node < s->nodes; node++) {
        int64_t before = -1;
        for (kn_list_reader list = kn_synopsis_list(s, node); kn_list_next(&list); members++) {
            assert_true((int64_t)list.row > before && list.row < s->rows.count);
            steps[list.row - before < 128 ? 0 : list.row - before < 1 << 14 ? 1 : 2]++;
            before = list.row;
            bool found = false;
            for (uint64_t i = s->rows.start[list.row]; i < s->rows.start[list.row + 1]; i++)
                found |= s->rows.members[i] == node;
            assert_true(found);
        }
    }
    assert_int_equal(members, s->rows.start[s->rows.count]);
    assert_true(steps[0] > 0 && steps[1] > 0 && steps[2] > 0);
    kn_synopsis_free(s);
    kn_records_free(records);
    testing_context_free(ctx);
}

/* Which rows have a value, or one below it: by their values, by their nodes, and by the sets. One of the baskets has more values
 * than are compared at a time. Returns how many sets there are. */
static size_t check_has(kn_context *ctx, const kn_records *records)
{
    kn_error     err = KN_ERROR_INIT;
    kn_synopsis *s;
    size_t       sets = 0;
    assert_ok(kn_synopsis_make(&s, ctx, records, &err), err);
    assert_ok(kn_synopsis_make_sets(s, &err), err);
    for (uint32_t u = 0; u < s->vocabulary->nodes; u++) {
        const uint64_t *set = kn_synopsis_set(s, u);
        sets += set != NULL;
        if (set) assert_int_equal(u != 0 && s->vocabulary->end[u] > u + 1, true);
        for (uint32_t row = s->rows.count; set && row < s->set_words * 64; row++)
            assert_false(kn_bitset_test(set, row));
        for (uint32_t row = 0; row < s->rows.count; row++) {
            bool found = false;
            for (uint64_t i = s->rows.start[row]; i < s->rows.start[row + 1]; i++)
                found |= kn_vocabulary_covers(s->vocabulary, u, s->value[s->rows.members[i]]);
            assert_int_equal(kn_synopsis_has(s, row, u, s->vocabulary->end[u]), found);
            if (set) assert_int_equal(kn_bitset_test(set, row), found);
        }
    }
    kn_synopsis_free(s);
    return sets;
}

static void test_rows_with(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(2);
    kn_records *trees = tpch_records(ctx, 500, 11), *many = tpch_records(ctx, 40000, 12);
    kn_records *few = tpch_records(ctx, 5, 13), *baskets = numbered_baskets(ctx);
    assert_true(check_has(ctx, trees) > 0);
    assert_true(check_has(ctx, many) > 0); /* more than one thread takes at a time */
    assert_true(check_has(ctx, baskets) > 0);
    assert_int_equal(check_has(ctx, few), 0); /* they would take more than the rows */
    kn_records_free(few);
    kn_records_free(trees);
    kn_records_free(many);
    kn_records_free(baskets);
    testing_context_free(ctx);
}

static void check_projected(const kn_projection *p, const kn_vocabulary *v, const char *path, const char *expected)
{
    uint32_t values[TREE_VALUES];
    bool     rows[4] = {0};
    for (uint32_t i = 0; i < p->nodes; i++) values[i] = p->values[p->place[i]];
    uint32_t node = node_at(p->parent, values, p->nodes, v, path);
    assert_true(node < p->nodes);
    for (uint32_t row = 0; row < p->rows.count; row++)
        for (uint64_t i = p->rows.start[row]; i < p->rows.start[row + 1]; i++)
            if (p->rows.members[i] == node) rows[row] = true;
    check_records(rows, expected);
}

static void test_projection(void **state)
{
    (void)state;
    static const char *const cut[] = {"Hospital1",        "Hospital2",     "Maternity Hosp.", "Lung Disease",
                                      "Stomach Disorder", "Physiotherapy", "Pain killer",     "Antibiotics"};
    kn_context              *ctx = testing_context(1);
    kn_error                 err = KN_ERROR_INIT;
    kn_records              *records = tree_records(ctx, tree_hospital(ctx), FIG10);
    kn_vocabulary           *v = records->vocabulary;
    kn_synopsis             *s;
    kn_projection           *p;
    uint32_t                 values[8];
    for (int i = 0; i < 8; i++) values[i] = tree_value_of(v, cut[i]);
    assert_ok(kn_synopsis_make(&s, ctx, records, &err), err);
    assert_ok(kn_projection_make(&p, s, values, 8, NULL, &err), err);
    assert_int_equal(p->nodes, 10); /* Figure 12, with the relation of record 4 that it leaves out */
    assert_int_equal(p->rows.count, 4);
    check_projected(p, v, "Hospital1", "1234");
    check_projected(p, v, "Hospital2", "123");
    check_projected(p, v, "Hospital1/Stomach Disorder", "124");
    check_projected(p, v, "Hospital1/Lung Disease", "234");
    check_projected(p, v, "Hospital2/Lung Disease", "123");
    check_projected(p, v, "Hospital1/Stomach Disorder/Pain killer", "4");
    check_projected(p, v, "Hospital1/Lung Disease/Pain killer", "3");
    check_projected(p, v, "Hospital1/Lung Disease/Antibiotics", "2");
    check_projected(p, v, "Hospital2/Lung Disease/Pain killer", "123");
    check_projected(p, v, "Hospital2/Lung Disease/Antibiotics", "12");
    kn_projection_free(p);
    kn_synopsis_free(s);
    kn_records_free(records);
    testing_context_free(ctx);
}

/* ---- Figure 10 ---- */

static void check_image(const kn_tree_result *r, const kn_vocabulary *v, const char *leaf, const char *image)
{
    assert_int_equal(r->plan->image[tree_value_of(v, leaf)], tree_value_of(v, image));
}

/* K1: not Figure 13, which is not 3^(2,1)-anonymous. */
static void test_figure_10(void **state)
{
    (void)state;
    kn_context     *ctx = testing_context(2);
    kn_error        err = KN_ERROR_INIT;
    kn_records     *records = tree_records(ctx, tree_hospital(ctx), FIG10);
    kn_vocabulary  *v = records->vocabulary;
    kn_tree_problem problem = KN_TREE_PROBLEM_INIT;
    kn_tree_result *r;
    problem.records = records;
    problem.method = KN_METHOD_ACS;
    problem.k = 3;
    assert_ok(kn_tree_search(&r, ctx, &problem, &err), err);
    assert_true(r->found && r->complete);
    assert_int_equal(r->plan->disassociation_count, 0);
    check_image(r, v, "Hospital1", "Hospital1");
    check_image(r, v, "Hospital2", "Hospital2");
    check_image(r, v, "Flu", "Disease");
    check_image(r, v, "Gastritis", "Disease");
    check_image(r, v, "Pain killer", "Medicine");
    check_image(r, v, "Antibiotics", "Medicine");
    check_image(r, v, "Rea", "Rea"); /* nobody was there: it costs nothing, and finer is better */
    kn_tree_result_free(r);
    problem.k = 1; /* everything passes: Figure 4's hierarchy has 126 cuts (K9) */
    assert_ok(kn_tree_search(&r, ctx, &problem, &err), err);
    assert_int_equal(r->counters.cuts, 126);
    assert_int_equal(r->counters.passed, 126);
    kn_tree_result_free(r);
    problem.k = 5; /* of 4 records */
    assert_ok(kn_tree_search(&r, ctx, &problem, &err), err);
    assert_true(!r->found && r->complete && !r->plan);
    kn_tree_result_free(r);
    kn_records_free(records);
    testing_context_free(ctx);
}

/* ---- Fast and reference ---- */

static void check_same(const kn_tree_result *fast, const kn_tree_result *plain)
{
    assert_int_equal(fast->found, plain->found);
    assert_int_equal(fast->complete, plain->complete);
    if (!fast->found) {
        assert_null(fast->plan);
        return;
    }
    const kn_records_plan *a = fast->plan, *b = plain->plan;
    assert_int_equal(a->values, b->values);
    for (uint32_t v = 0; v < a->values; v++) assert_int_equal(a->image[v], b->image[v]);
    assert_int_equal(a->disassociation_count, b->disassociation_count);
    for (int64_t i = 0; i < a->disassociation_count; i++) {
        assert_int_equal(a->disassociations[i].ancestor, b->disassociations[i].ancestor);
        assert_int_equal(a->disassociations[i].descendant, b->disassociations[i].descendant);
    }
    assert_memory_equal(&fast->cost, &plain->cost, sizeof fast->cost);
    /* Of all cuts, not of the best alone. */
    assert_int_equal(fast->counters.cuts, plain->counters.cuts);
    assert_int_equal(fast->counters.passed, plain->counters.passed);
    assert_int_equal(fast->counters.disassociations, plain->counters.disassociations);
}

static kn_tree_problem random_problem(kn_rng *rng, const kn_records *records)
{
    kn_tree_problem p = KN_TREE_PROBLEM_INIT;
    p.records = records;
    const kn_method methods[] = {KN_METHOD_ACS, KN_METHOD_GCS, KN_METHOD_OCS};
    p.method = methods[kn_rng_below(rng, 3)];
    p.k = 1 + (int64_t)kn_rng_below(rng, 5);
    p.m = 1 + (int)kn_rng_below(rng, 3);
    p.n = (int)kn_rng_below(rng, (uint64_t)(p.m * (p.m - 1) / 2) + 1);
    p.g = 1 + (int)kn_rng_below(rng, 3);
    p.semantics = kn_rng_below(rng, 3) == 0 ? KN_SEMANTICS_PATHS : KN_SEMANTICS_PAIRS;
    p.strict = kn_rng_below(rng, 3) == 0;
    p.level_domains = kn_rng_below(rng, 4) == 0;
    p.l = kn_rng_below(rng, 4) == 0 ? 1 + (int64_t)kn_rng_below(rng, 3) : 0;
    return p;
}

/* How much of what the random forests were meant to show they did. */
typedef struct tally {
    int found, tried, disassociated, strict, paths, diverse;
} tally;

static void check_random(kn_context *ctx, kn_rng *rng, tally *t)
{
    tree_shape  shape = {.classes = 4,
                         .height = 2,
                         .fanout = 3,
                         .records = 20 + (int)kn_rng_below(rng, 60),
                         .nodes = 4 + (int)kn_rng_below(rng, 10),
                         .least = 3 + (int)kn_rng_below(rng, 17),
                         .sensitive = kn_rng_below(rng, 3) == 0,
                         .negative = kn_rng_below(rng, 3) == 0};
    kn_error    err = KN_ERROR_INIT;
    kn_records *records = tree_random(ctx, rng, &shape);
    for (int repeat = 0; repeat < 2; repeat++) {
        kn_tree_problem problem = random_problem(rng, records);
        kn_tree_result *fast, *plain;
        assert_ok(kn_tree_search(&fast, ctx, &problem, &err), err);
        problem.reference = true;
        assert_ok(kn_tree_search(&plain, ctx, &problem, &err), err);
        check_same(fast, plain);
        if (fast->found) {
            kn_records *released = tree_release(ctx, records, fast->plan);
            assert_true(
                tree_holds_against(records, released, problem.k, problem.m, problem.n, problem.semantics, problem.l));
            kn_records_free(released);
            bool tried = fast->counters.disassociations > 0;
            t->found++;
            t->tried += tried;
            t->disassociated += fast->plan->disassociation_count > 0;
            t->strict += tried && problem.strict;
            t->paths += tried && problem.semantics == KN_SEMANTICS_PATHS && problem.n > 1;
            t->diverse += problem.l > 1;
        }
        kn_tree_result_free(fast);
        kn_tree_result_free(plain);
    }
    kn_records_free(records);
}

static void test_reference_agrees(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(2);
    kn_rng      rng;
    tally       t = {0};
    uint64_t    seed = testing_seed();
    for (uint64_t i = 0; i < (uint64_t)testing_rounds(1700); i++) {
        kn_rng_init(&rng, seed, i);
        check_random(ctx, &rng, &t);
    }
    print_message("found %d, needing disassociation %d, ending with it %d, strict %d, paths %d, diverse %d\n", t.found,
                  t.tried, t.disassociated, t.strict, t.paths, t.diverse);
    assert_true(TESTING_SANITIZED || (t.found >= 2000 && t.tried >= 150 && t.disassociated >= 50 && t.strict >= 20 &&
                                      t.paths >= 10 && t.diverse >= 20));
    testing_context_free(ctx);
}

/* On orders of TPC-H, where much has to be disassociated. */
static void test_orders(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(2);
    kn_error    err = KN_ERROR_INIT;
    kn_rng      rng;
    uint64_t    seed = testing_seed();
    int         disassociated = 0;
    for (uint64_t i = 0; i < (TESTING_SANITIZED ? 8 : 16); i++) {
        kn_rng_init(&rng, seed, 1000 + i);
        kn_records     *records = tpch_records(ctx, 200 + (int64_t)kn_rng_below(&rng, 200), seed + i);
        kn_tree_problem problem = KN_TREE_PROBLEM_INIT;
        kn_tree_result *fast, *plain;
        assert_non_null(records);
        problem.records = records;
        problem.method = i % 4 == 0 ? KN_METHOD_OCS : KN_METHOD_GCS;
        problem.k = 2;
        problem.m = 2 + (int)kn_rng_below(&rng, 2);
        problem.n = problem.m == 2 ? 1 : 1 + (int)kn_rng_below(&rng, 3);
        problem.g = 1 + (int)kn_rng_below(&rng, 2);
        problem.semantics = i % 8 == 7 ? KN_SEMANTICS_PATHS : KN_SEMANTICS_PAIRS;
        problem.strict = i % 8 == 3;
        assert_ok(kn_tree_search(&fast, ctx, &problem, &err), err);
        problem.reference = true;
        assert_ok(kn_tree_search(&plain, ctx, &problem, &err), err);
        check_same(fast, plain);
        disassociated += fast->counters.disassociations > 0;
        kn_tree_result_free(fast);
        kn_tree_result_free(plain);
        kn_records_free(records);
    }
    print_message("needing disassociation: %d\n", disassociated);
    assert_true(disassociated > testing_least(3));
    testing_context_free(ctx);
}

/* Baskets of more values than a word has bits (k^m-anonymity); with relations asked for, too. */
static void test_large_baskets(void **state)
{
    (void)state;
    enum { ITEMS = 120, GROUP = 6, VALUES = 1 + ITEMS + ITEMS / GROUP, RECORDS = 40 };
    kn_context *ctx = testing_context(2);
    kn_error    err = KN_ERROR_INIT;
    kn_rng      rng;
    int         depths[VALUES], count = 0;
    depths[count++] = 1;
    for (int i = 0; i < ITEMS; i++) {
        if (i % GROUP == 0) depths[count++] = 2;
        depths[count++] = 3;
    }
    kn_vocabulary *v = tree_vocabulary(ctx, count, depths, NULL);
    kn_records    *records;
    uint64_t       at = 0;
    kn_rng_init(&rng, testing_seed(), 77);
    assert_ok(kn_records_create(&records, ctx, v, true, RECORDS, RECORDS * ITEMS, &err), err);
    for (int64_t t = 0; t < RECORDS; t++) {
        for (uint32_t u = 1; u < v->nodes; u++)
            if (v->end[u] == u + 1 && kn_rng_below(&rng, 100) < 70) {
                records->parent[at] = KN_RECORDS_ROOT;
                records->value[at++] = u;
            }
        records->start[t + 1] = at;
    }
    records->nodes = at;
    for (int n = 0; n < 2; n++) {
        kn_tree_problem problem = KN_TREE_PROBLEM_INIT;
        kn_tree_result *fast, *plain;
        problem.records = records;
        problem.k = 14;
        problem.n = n;
        problem.g = 1;
        assert_ok(kn_tree_search(&fast, ctx, &problem, &err), err);
        problem.reference = true;
        assert_ok(kn_tree_search(&plain, ctx, &problem, &err), err);
        check_same(fast, plain);
        assert_true(fast->found && fast->counters.cuts > 5);
        kn_tree_result_free(fast);
        kn_tree_result_free(plain);
    }
    kn_records_free(records);
    testing_context_free(ctx);
}

/* ---- Flat records ---- */

/* Sets of values of up to three classes with hierarchies of up to four levels; many values are equally frequent, so that
 * costs are equal too. */
static kn_records *flat_random(kn_context *ctx, kn_rng *rng)
{
    kn_error   err = KN_ERROR_INIT;
    tree_shape shape = {.height = 1 + (int)kn_rng_below(rng, 4), .fanout = 2 + (int)kn_rng_below(rng, 3)};
    int        depths[TREE_VALUES + 64], count = 0, classes = 1 + (int)kn_rng_below(rng, 3);
    for (int c = 0; c < classes; c++) tree_random_class(rng, &shape, 1, depths, &count);
    kn_vocabulary *v = tree_vocabulary(ctx, count, depths, NULL);
    int64_t        size = 4 + (int64_t)kn_rng_below(rng, 40), share = 3 + (int64_t)kn_rng_below(rng, 60);
    kn_records    *records;
    uint64_t       at = 0;
    assert_ok(kn_records_create(&records, ctx, v, true, size, (uint64_t)size * v->nodes, &err), err);
    for (int64_t t = 0; t < size; t++) {
        for (uint32_t u = 1; u < v->nodes; u++)
            if (v->end[u] == u + 1 && (int64_t)kn_rng_below(rng, 100 + 3 * u) < share) {
                records->parent[at] = KN_RECORDS_ROOT;
                records->value[at++] = u;
            }
        records->start[t + 1] = at;
    }
    records->nodes = at;
    return records;
}

static void test_flat_records(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(2);
    kn_error    err = KN_ERROR_INIT;
    kn_rng      rng;
    int         found = 0, many = 0, refused = 0;
    for (uint64_t i = 0; i < (uint64_t)testing_rounds(1500); i++) {
        kn_rng_init(&rng, testing_seed(), 5000 + i);
        kn_records     *records = flat_random(ctx, &rng);
        kn_tree_problem problem = KN_TREE_PROBLEM_INIT;
        kn_tree_result *fast, *plain;
        problem.records = records;
        problem.method = kn_rng_below(&rng, 3) ? KN_METHOD_GCS : KN_METHOD_OCS;
        problem.k = 1 + (int64_t)kn_rng_below(&rng, 5);
        problem.m = 1 + (int)kn_rng_below(&rng, 4);
        problem.n = problem.m > 1 ? (int)kn_rng_below(&rng, 2) : 0;
        problem.g = 1 + (int)kn_rng_below(&rng, 4);
        problem.strict = kn_rng_below(&rng, 4) == 0;
        problem.level_domains = kn_rng_below(&rng, 4) == 0;
        assert_ok(kn_tree_search(&fast, ctx, &problem, &err), err);
        problem.reference = true;
        assert_ok(kn_tree_search(&plain, ctx, &problem, &err), err);
        check_same(fast, plain);
        found += fast->found;
        many += fast->counters.cuts > 20;
        refused += fast->counters.cuts > fast->counters.passed;
        kn_tree_result_free(fast);
        kn_tree_result_free(plain);
        kn_records_free(records);
    }
    print_message("found %d, of many cuts %d, some refused %d\n", found, many, refused);
    assert_true(TESTING_SANITIZED || (found >= 1200 && many >= 150 && refused >= 700));
    testing_context_free(ctx);
}

/* 3,000 values in pairs of pairs: thousands of steps with hundreds of cuts each, of which few are written down. */
static void test_wide_baskets(void **state)
{
    (void)state;
    enum { ITEMS = 3000, RECORDS = 400, EACH = 40 };
    static int      depths[3 * ITEMS];
    kn_context     *ctx = testing_context(2);
    kn_error        err = KN_ERROR_INIT;
    kn_records     *records;
    kn_tree_result *r;
    uint64_t        at = 0;
    int             count = 0;
    depths[count++] = 1;
    for (int i = 0; i < ITEMS; i++) {
        if (i % 4 == 0) depths[count++] = 2;
        if (i % 2 == 0) depths[count++] = 3;
        depths[count++] = 4;
    }
    kn_vocabulary *v = tree_vocabulary(ctx, count, depths, NULL);
    assert_ok(kn_records_create(&records, ctx, v, true, RECORDS, RECORDS * EACH, &err), err);
    for (int64_t t = 0; t < RECORDS; t++) {
        /* Of every 75 values one, of all of which 5 records in a row have the same. */
        for (int i = 0; i < EACH; i++) {
            int      item = i * (ITEMS / EACH) + (int)(t / 5 + i) % (ITEMS / EACH);
            uint32_t place = (uint32_t)(2 + item / 4 + 1 + item / 2 + 1 + item);
            records->parent[at] = KN_RECORDS_ROOT;
            records->value[at++] = place;
            assert_int_equal(v->end[place], place + 1);
        }
        records->start[t + 1] = at;
    }
    records->nodes = at;
    for (int m = 1; m <= 2; m++) {
        kn_tree_problem problem = KN_TREE_PROBLEM_INIT;
        problem.records = records;
        problem.k = 5;
        problem.m = m;
        problem.n = 0;
        assert_ok(kn_tree_search(&r, ctx, &problem, &err), err);
        assert_true(r->found && r->complete && r->counters.cuts > 1000000);
        for (uint32_t u = 1; u < v->nodes; u++)
            if (v->end[u] == u + 1) assert_int_equal(r->plan->image[u], u);
        kn_tree_result_free(r);
    }
    kn_records_free(records);
    testing_context_free(ctx);
}

/* ---- Methods against each other, threads ---- */

static void test_all_cuts_are_no_worse(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(1);
    kn_error    err = KN_ERROR_INIT;
    kn_rng      rng;
    uint64_t    seed = testing_seed();
    int         better = 0;
    for (uint64_t i = 0; i < (uint64_t)testing_rounds(200); i++) {
        kn_rng_init(&rng, seed, 5000 + i);
        tree_shape      shape = {.classes = 3, .height = 2, .fanout = 3, .records = 40, .nodes = 8, .least = 10};
        kn_records     *records = tree_random(ctx, &rng, &shape);
        kn_tree_problem problem = random_problem(&rng, records);
        kn_tree_result *all, *few;
        problem.l = 0;
        problem.method = KN_METHOD_ACS;
        assert_ok(kn_tree_search(&all, ctx, &problem, &err), err);
        problem.method = KN_METHOD_GCS;
        assert_ok(kn_tree_search(&few, ctx, &problem, &err), err);
        assert_int_equal(all->found, few->found);
        if (all->found) assert_true(all->cost <= few->cost);
        better += all->found && all->cost < few->cost;
        problem.method = KN_METHOD_OCS;
        kn_tree_result_free(few);
        assert_ok(kn_tree_search(&few, ctx, &problem, &err), err);
        if (few->found) assert_int_equal(few->plan->disassociation_count, 0);
        kn_tree_result_free(all);
        kn_tree_result_free(few);
        kn_records_free(records);
    }
    print_message("ACS better than GCS in %d\n", better);
    testing_context_free(ctx);
}

static void check_counters(const kn_tree_counters *a, const kn_tree_counters *b)
{
    assert_int_equal(a->cuts, b->cuts);
    assert_int_equal(a->value_checks, b->value_checks);
    assert_int_equal(a->passed, b->passed);
    assert_int_equal(a->intersections, b->intersections);
    assert_int_equal(a->relations, b->relations);
    assert_int_equal(a->disassociations, b->disassociations);
}

static void test_threads(void **state)
{
    (void)state;
    const int       threads[] = {1, 2, 8};
    const kn_method methods[] = {KN_METHOD_GCS, KN_METHOD_OCS, KN_METHOD_GCS};
    for (int kind = 0; kind < 3; kind++) {
        kn_context     *ctx[3];
        kn_records     *records[3];
        kn_tree_result *r[3];
        kn_error        err = KN_ERROR_INIT;
        for (int i = 0; i < 3; i++) {
            ctx[i] = testing_context(threads[i]);
            records[i] = tpch_records(ctx[i], 800, 7);
            kn_tree_problem problem = KN_TREE_PROBLEM_INIT;
            problem.records = records[i];
            problem.method = methods[kind];
            problem.strict = kind == 2; /* each cut by itself */
            problem.k = 4;
            problem.m = 3;
            problem.n = 2;
            assert_ok(kn_tree_search(&r[i], ctx[i], &problem, &err), err);
            check_same(r[i], r[0]);
            check_counters(&r[i]->counters, &r[0]->counters);
        }
        for (int i = 0; i < 3; i++) {
            kn_tree_result_free(r[i]);
            kn_records_free(records[i]);
            testing_context_free(ctx[i]);
        }
    }
}

/* So many records that the rows of one cut are several threads' (KN_ROWS_SHARED). */
static void test_shared_rows(void **state)
{
    (void)state;
    const int       threads[] = {1, 2, 3, 8};
    kn_error        err = KN_ERROR_INIT;
    kn_context     *ctx[4];
    kn_records     *records[4];
    kn_tree_result *r[4];
    for (int i = 0; i < 4; i++) {
        ctx[i] = testing_context(threads[i]);
        records[i] = tpch_records(ctx[i], 40000, 17);
        kn_tree_problem problem = KN_TREE_PROBLEM_INIT;
        problem.records = records[i];
        problem.k = 40;
        problem.m = 3;
        problem.n = 2;
        assert_ok(kn_tree_search(&r[i], ctx[i], &problem, &err), err);
        check_same(r[i], r[0]);
        check_counters(&r[i]->counters, &r[0]->counters);
    }
    assert_true(r[0]->counters.disassociations > 0);
    for (int i = 0; i < 4; i++) {
        kn_tree_result_free(r[i]);
        kn_records_free(records[i]);
        testing_context_free(ctx[i]);
    }
}

/* ---- What can go wrong ---- */

static void refuse(kn_context *ctx, kn_tree_problem problem)
{
    kn_error        err = KN_ERROR_INIT;
    kn_tree_result *r;
    assert_int_equal(kn_tree_search(&r, ctx, &problem, &err), KN_USAGE);
    assert_null(r);
    assert_true(err.message[0]);
}

static void test_options(void **state)
{
    (void)state;
    kn_context     *ctx = testing_context(1);
    kn_records     *records = tree_records(ctx, tree_hospital(ctx), FIG10);
    kn_tree_problem fine = KN_TREE_PROBLEM_INIT, p;
    fine.records = records;
    p = fine, p.k = 0, refuse(ctx, p);
    p = fine, p.m = 0, refuse(ctx, p);
    p = fine, p.n = -1, refuse(ctx, p);
    p = fine, p.n = 2, refuse(ctx, p);
    p = fine, p.m = 3, p.n = 4, refuse(ctx, p);
    p = fine, p.g = 0, refuse(ctx, p);
    p = fine, p.l = -1, refuse(ctx, p);
    p = fine, p.time_limit = -1, refuse(ctx, p);
    p = fine, p.method = KN_METHOD_MONDRIAN, refuse(ctx, p);
    kn_records_free(records);
    testing_context_free(ctx);
}

static void test_time_limit(void **state)
{
    (void)state;
    kn_context     *ctx = testing_context(2);
    kn_error        err = KN_ERROR_INIT;
    kn_records     *records = tpch_records(ctx, 500, 3);
    kn_tree_problem problem = KN_TREE_PROBLEM_INIT;
    kn_tree_result *r;
    problem.records = records;
    problem.time_limit = 1e-9;
    for (int i = 0; i < 3; i++) {
        problem.method = (const kn_method[]){KN_METHOD_ACS, KN_METHOD_GCS, KN_METHOD_OCS}[i];
        assert_ok(kn_tree_search(&r, ctx, &problem, &err), err);
        assert_true(r->found && !r->complete && r->plan);
        const char *reason;
        assert_true(kn_records_plan_validate(r->plan, records->vocabulary, &reason));
        kn_tree_result_free(r);
    }
    kn_context_cancel(ctx);
    problem.time_limit = 0;
    assert_int_equal(kn_tree_search(&r, ctx, &problem, &err), KN_CANCELLED);
    assert_null(r);
    kn_records_free(records);
    testing_context_free(ctx);
}

static void test_memory(void **state)
{
    (void)state;
    for (int kind = 0; kind < 3; kind++) {
        bool done = false;
        for (int64_t at = 0; !done; at += testing_step()) {
            testing_allocator memory = {.refuse_at = -1};
            kn_error          err = KN_ERROR_INIT;
            kn_context       *ctx;
            kn_tree_result   *r;
            assert_ok(testing_refusing_context(&ctx, &memory, 1, &err), err);
            kn_records     *records = tree_records(ctx, tree_hospital(ctx), FIG10);
            kn_tree_problem problem = KN_TREE_PROBLEM_INIT;
            problem.records = records;
            problem.method = kind == 1 ? KN_METHOD_ACS : KN_METHOD_GCS;
            problem.m = 3;
            problem.n = 2;
            problem.g = 1;
            problem.strict = kind > 0;
            problem.semantics = kind == 1 ? KN_SEMANTICS_PATHS : KN_SEMANTICS_PAIRS;
            memory.requests = 0;
            memory.refuse_at = at;
            kn_status st = kn_tree_search(&r, ctx, &problem, &err);
            memory.refuse_at = -1;
            done = st == KN_OK;
            if (!done) {
                assert_int_equal(st, KN_MEMORY);
                assert_null(r);
            }
            kn_tree_result_free(r);
            kn_records_free(records);
            kn_context_free(ctx);
            assert_int_equal(memory.live, 0);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_synopsis),
        cmocka_unit_test(test_long_lists),
        cmocka_unit_test(test_rows_with),
        cmocka_unit_test(test_projection),
        cmocka_unit_test(test_figure_10),
        cmocka_unit_test(test_reference_agrees),
        cmocka_unit_test(test_orders),
        cmocka_unit_test(test_large_baskets),
        cmocka_unit_test(test_all_cuts_are_no_worse),
        cmocka_unit_test(test_flat_records),
        cmocka_unit_test(test_wide_baskets),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_shared_rows),
        cmocka_unit_test(test_options),
        cmocka_unit_test(test_time_limit),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
