/* test_tree_absent.c: k^(m,n)-anonymity against somebody who also knows what a record has not (section III-G): the check
 * agrees with an attacker who tries every set of values, present and absent; a cut that fails has no finer one that holds;
 * fast and plain search give the same; the mirror classes of the paper do not protect.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tree_testing.h"

#include "kn_structure.h"
#include "kn_tree_work.h"
#include "tpch_records.h"

#define FIG10                                                                                                          \
    "Hospital1(Gastritis),Hospital2(Flu(Pain killer),Bronchitis(Antibiotics))\n"                                       \
    "Hospital1(Bronchitis(Antibiotics),Gastritis),Hospital2(Flu(Pain killer),Bronchitis(Antibiotics))\n"               \
    "Hospital1(Flu(Pain killer)),Hospital2(Flu(Pain killer))\n"                                                        \
    "Hospital1(Bronchitis,Gastritis(Pain killer))"

/* ---- One cut ---- */

/* What the search would say of a cut without disassociations. */
static bool accepted(kn_context *ctx, const kn_tree_problem *p, const uint32_t *cut, uint32_t size)
{
    kn_error             err = KN_ERROR_INIT;
    const kn_vocabulary *v = p->records->vocabulary;
    kn_synopsis         *synopsis;
    kn_projection       *projection;
    kn_structure         structure = {0};
    kn_combinations      scratch = {.ctx = ctx};
    kn_tree_counters     counters = {0};
    bool                 known[TREE_VALUES], ok = false;
    for (uint32_t i = 0; i < size; i++) known[i] = !tree_sensitive(v, cut[i]);
    assert_ok(kn_synopsis_make(&synopsis, ctx, p->records, &err), err);
    assert_ok(kn_projection_make(&projection, synopsis, cut, size, known, &err), err);
    assert_ok(kn_value_check(projection, &scratch, p, &ok, &err), err);
    if (ok) {
        assert_ok(kn_structure_make(&structure, p, synopsis, projection, known, &err), err);
        assert_ok(kn_fix_structure(&structure, &scratch, &ok, &counters, &err), err);
        if (ok && p->l > 0) assert_ok(kn_diversity_check(&structure, &scratch, &ok, &err), err);
    }
    kn_structure_free(&structure);
    kn_combinations_free(&scratch);
    kn_projection_free(projection);
    kn_synopsis_free(synopsis);
    return ok;
}

static bool holds(kn_context *ctx, const kn_tree_problem *p, const uint32_t *cut, uint32_t size)
{
    kn_error         err = KN_ERROR_INIT;
    kn_records_plan *plan;
    assert_ok(kn_records_plan_create(&plan, ctx, p->records->vocabulary, 0, &err), err);
    kn_records_plan_set_cut(plan, p->records->vocabulary, cut, size);
    kn_records *released = tree_release(ctx, p->records, plan);
    bool        answer = tree_holds_against(p->records, released, p->k, p->m, p->n, p->semantics, p->l);
    kn_records_free(released);
    kn_records_plan_free(plan);
    return answer;
}

/* A cut below `value`: itself, or a cut below each child. Sensitive leaves stay as they are. */
static void random_cut(kn_rng *rng, const kn_vocabulary *v, uint32_t value, uint32_t *cut, uint32_t *size)
{
    if (v->end[value] == value + 1 || (!tree_sensitive(v, value) && kn_rng_below(rng, value == 0 ? 8 : 3) == 0)) {
        cut[(*size)++] = value;
        for (uint32_t u = 1; value == 0 && u < v->nodes; u++)
            if (tree_sensitive(v, u) && v->end[u] == u + 1) cut[(*size)++] = u;
        return;
    }
    for (uint32_t c = value + 1; c < v->end[value]; c = v->end[c]) random_cut(rng, v, c, cut, size);
}

static kn_tree_problem random_problem(kn_rng *rng, const kn_records *records)
{
    kn_tree_problem p = tree_random_problem(rng, records);
    bool            sensitive = false;
    for (int c = 0; c < records->vocabulary->class_count; c++) sensitive |= records->vocabulary->sensitive[c];
    p.strict = false;
    if (sensitive &&
        kn_rng_below(rng, 2) == 0) { /* else few combinations are found often enough to be looked at for l */
        p.k = 1;
        p.l = 1 + (int64_t)kn_rng_below(rng, 3);
    } else if (p.k == 1) {
        p.k = 2;
    }
    return p;
}

static const tree_shape shapes[] = {{.classes = 2, .height = 2, .fanout = 3, .records = 14, .nodes = 8, .least = 4},
                                    {.classes = 3, .height = 1, .fanout = 2, .records = 20, .nodes = 9, .least = 8}};

/* Records with negative classes; every other time one class is sensitive. */
static kn_records *random_records(kn_context *ctx, kn_rng *rng)
{
    tree_shape shape = shapes[kn_rng_below(rng, 2)];
    shape.sensitive = kn_rng_below(rng, 2) == 0;
    kn_records    *records = tree_random(ctx, rng, &shape);
    kn_vocabulary *v = records->vocabulary;
    bool           all = kn_rng_below(rng, 3) == 0;
    for (int c = 0; c < v->class_count; c++)
        v->negative[c] = !v->sensitive[c] && (all || c == v->class_count - 1 || kn_rng_below(rng, 2) == 0);
    return records;
}

static void test_check_agrees_with_every_attacker(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(1);
    kn_rng      rng;
    uint64_t    seed = testing_seed();
    int         fine = 0, bad = 0, only_absent = 0;
    for (uint64_t i = 0; i < 4000; i++) {
        kn_rng_init(&rng, seed, i);
        kn_records     *records = random_records(ctx, &rng);
        kn_tree_problem p = random_problem(&rng, records);
        uint32_t        cut[TREE_VALUES], size = 0;
        p.method = KN_METHOD_OCS;
        random_cut(&rng, records->vocabulary, 0, cut, &size);
        bool answer = holds(ctx, &p, cut, size);
        assert_int_equal(accepted(ctx, &p, cut, size), answer);
        fine += answer;
        bad += !answer;
        if (!answer) { /* because of an absence? */
            for (int c = 0; c < records->vocabulary->class_count; c++) records->vocabulary->negative[c] = false;
            only_absent += holds(ctx, &p, cut, size);
        }
        kn_records_free(records);
    }
    print_message("hold %d, do not %d, for absences alone %d\n", fine, bad, only_absent);
    assert_true(fine > 200 && only_absent > 200);
    testing_context_free(ctx);
}

/* Diversity: many sensitive values, one or two for each record; a few others that records have or lack. */
static void test_shares_agree_with_every_attacker(void **state)
{
    (void)state;
    static const int depths[] = {1, 2, 2, 2, 1, 2, 2, 2, 2, 2, 2};
    kn_context      *ctx = testing_context(1);
    kn_error         err = KN_ERROR_INIT;
    kn_rng           rng;
    uint64_t         seed = testing_seed();
    int              fine = 0, only_absent = 0;
    for (uint64_t i = 0; i < 3000; i++) {
        kn_rng_init(&rng, seed, 30000 + i);
        kn_vocabulary *v = tree_vocabulary(ctx, 11, depths, NULL);
        kn_records    *records;
        int64_t        count = 8 + (int64_t)kn_rng_below(&rng, 9);
        uint64_t       at = 0;
        v->negative[0] = v->sensitive[1] = true;
        assert_ok(kn_records_create(&records, ctx, v, true, count, (uint64_t)count * 6, &err), err);
        for (int64_t t = 0; t < count; t++) {
            uint32_t sensitive = 6 + (uint32_t)kn_rng_below(&rng, 6);
            for (uint32_t u = 2; u < 12; u++) {
                if (u < 5 ? kn_rng_below(&rng, 3) == 0 : u != sensitive) continue;
                records->parent[at] = KN_RECORDS_ROOT;
                records->value[at++] = u;
            }
            records->start[t + 1] = at;
        }
        records->nodes = at;
        kn_tree_problem p = KN_TREE_PROBLEM_INIT;
        uint32_t        cut[TREE_VALUES], size = 0;
        p.records = records;
        p.method = KN_METHOD_OCS;
        p.k = 1;
        p.m = 1 + (int)kn_rng_below(&rng, 3);
        p.n = 0;
        p.l = 2;
        random_cut(&rng, v, 1, cut, &size);
        for (uint32_t u = 6; u < 12; u++) cut[size++] = u;
        bool answer = holds(ctx, &p, cut, size);
        assert_int_equal(accepted(ctx, &p, cut, size), answer);
        fine += answer;
        v->negative[0] = false;
        only_absent += !answer && holds(ctx, &p, cut, size);
        kn_records_free(records);
    }
    print_message("hold %d, do not for absences alone %d\n", fine, only_absent);
    assert_true(fine > 200 && only_absent > 200);
    testing_context_free(ctx);
}

/* A value that makes room for its children never makes a cut hold that does not (n = 0: K12). */
static void test_finer_cuts_of_bad_ones_are_bad(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(1);
    kn_rng      rng;
    uint64_t    seed = testing_seed();
    int         tried = 0;
    for (uint64_t i = 0; i < 1500; i++) {
        kn_rng_init(&rng, seed, 10000 + i);
        kn_records          *records = random_records(ctx, &rng);
        const kn_vocabulary *v = records->vocabulary;
        kn_tree_problem      p = random_problem(&rng, records);
        uint32_t             cut[TREE_VALUES], size = 0;
        p.n = 0;
        p.l = 0;
        random_cut(&rng, v, 0, cut, &size);
        bool coarse = holds(ctx, &p, cut, size);
        for (uint32_t at = 0; at < size && !coarse; at++) {
            uint32_t finer[TREE_VALUES], count = 0;
            if (v->end[cut[at]] == cut[at] + 1) continue;
            for (uint32_t j = 0; j < size; j++) {
                if (j != at) finer[count++] = cut[j];
                for (uint32_t c = cut[at] + 1; j == at && c < v->end[cut[at]]; c = v->end[c]) finer[count++] = c;
            }
            assert_false(holds(ctx, &p, finer, count));
            tried++;
        }
        kn_records_free(records);
    }
    assert_true(tried > 200);
    testing_context_free(ctx);
}

/* ---- Searches ---- */

static void assert_same(const kn_tree_result *a, const kn_tree_result *b)
{
    assert_int_equal(a->found, b->found);
    assert_int_equal(a->counters.cuts, b->counters.cuts);
    assert_int_equal(a->counters.passed, b->counters.passed);
    assert_int_equal(a->counters.disassociations, b->counters.disassociations);
    if (!a->found) return;
    assert_memory_equal(a->plan->image, b->plan->image, a->plan->values * sizeof *a->plan->image);
    assert_int_equal(a->plan->disassociation_count, b->plan->disassociation_count);
    if (a->plan->disassociation_count > 0)
        assert_memory_equal(a->plan->disassociations, b->plan->disassociations,
                            (size_t)a->plan->disassociation_count * sizeof *a->plan->disassociations);
    assert_memory_equal(&a->cost, &b->cost, sizeof a->cost);
}

static void test_fast_is_plain(void **state)
{
    (void)state;
    kn_context *contexts[2] = {testing_context(1), testing_context(2)};
    kn_error    err = KN_ERROR_INIT;
    kn_rng      rng;
    uint64_t    seed = testing_seed();
    int         found = 0, moved = 0, dearer = 0;
    for (uint64_t i = 0; i < (TESTING_SANITIZED ? 300 : 1500); i++) {
        kn_rng_init(&rng, seed, 20000 + i);
        kn_context     *ctx = contexts[i % 2];
        kn_records     *records = random_records(ctx, &rng);
        kn_tree_problem p = random_problem(&rng, records);
        kn_tree_result *fast, *plain;
        p.strict = kn_rng_below(&rng, 4) == 0;
        assert_ok(kn_tree_search(&fast, ctx, &p, &err), err);
        p.reference = true;
        assert_ok(kn_tree_search(&plain, ctx, &p, &err), err);
        assert_same(fast, plain);
        if (fast->found) {
            kn_records *released = tree_release(ctx, records, fast->plan);
            assert_true(tree_holds_against(records, released, p.k, p.m, p.n, p.semantics, p.l));
            kn_records_free(released);
            found++;
            moved += fast->counters.disassociations > 0;
        }
        kn_tree_result_free(plain);
        p.reference = false;
        p.strict = false;
        for (int c = 0; c < records->vocabulary->class_count; c++) records->vocabulary->negative[c] = false;
        assert_ok(kn_tree_search(&plain, ctx, &p, &err), err);
        if (fast->found) assert_true(plain->found || p.l > 0 || p.method == KN_METHOD_OCS);
        dearer += fast->found && plain->found && memcmp(&fast->cost, &plain->cost, sizeof fast->cost) != 0;
        kn_tree_result_free(fast);
        kn_tree_result_free(plain);
        kn_records_free(records);
    }
    print_message("found %d, needing disassociation %d, other than without absences %d\n", found, moved, dearer);
    assert_true(TESTING_SANITIZED || (found > 700 && moved > 30 && dearer > 100));
    testing_context_free(contexts[0]);
    testing_context_free(contexts[1]);
}

/* Orders of TPC-H: the same on any number of threads, and as the plain search has it. */
static void test_orders(void **state)
{
    (void)state;
    const int       threads[] = {1, 2, 8, 1};
    kn_tree_result *r[4];
    kn_context     *ctx[4];
    kn_records     *records[4];
    kn_error        err = KN_ERROR_INIT;
    for (int i = 0; i < 4; i++) {
        kn_tree_problem p = KN_TREE_PROBLEM_INIT;
        ctx[i] = testing_context(threads[i]);
        records[i] = tpch_records(ctx[i], 200, 5);
        assert_non_null(records[i]);
        for (int c = 0; c < records[i]->vocabulary->class_count; c++) records[i]->vocabulary->negative[c] = c % 2 == 1;
        p.records = records[i];
        p.k = 3;
        p.g = 1;
        p.reference = i == 3;
        assert_ok(kn_tree_search(&r[i], ctx[i], &p, &err), err);
        assert_true(r[i]->found && r[i]->counters.cuts > 10);
        assert_same(r[i], r[0]);
    }
    assert_int_equal(r[0]->counters.intersections, r[1]->counters.intersections);
    assert_int_equal(r[0]->counters.intersections, r[2]->counters.intersections);
    for (int i = 0; i < 4; i++) {
        kn_tree_result_free(r[i]);
        kn_records_free(records[i]);
        testing_context_free(ctx[i]);
    }
}

/* ---- Figure 10 ---- */

static void set_negative(const kn_records *records, const char *label)
{
    const kn_vocabulary *v = records->vocabulary;
    v->negative[v->cls[tree_value_of(v, label)]] = true;
}

static void check_release(kn_context *ctx, const kn_records *records, int64_t k, int m, int n, const char *expected)
{
    kn_error        err = KN_ERROR_INIT;
    kn_tree_problem p = KN_TREE_PROBLEM_INIT;
    kn_tree_result *r;
    char            text[1024];
    p.records = records;
    p.method = KN_METHOD_ACS;
    p.k = k;
    p.m = m;
    p.n = n;
    assert_ok(kn_tree_search(&r, ctx, &p, &err), err);
    assert_int_equal(r->found, expected != NULL);
    if (expected) {
        kn_records *released = tree_release(ctx, records, r->plan);
        tree_print(released, NULL, text, sizeof text);
        assert_string_equal(text, expected);
        assert_true(tree_holds_against(records, released, k, m, n, KN_SEMANTICS_PAIRS, 0));
        kn_records_free(released);
    }
    kn_tree_result_free(r);
}

/* Only the third record lacks Gastritis, only the third Bronchitis, only the fourth Flu: nothing of it is shown. */
static void test_figure_10(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(1);
    kn_records *records = tree_records(ctx, tree_hospital(ctx), FIG10);
    set_negative(records, "Disease");
    check_release(ctx, records, 2, 2, 1,
                  "Hospital1(Disease),Hospital2(Disease(Pain killer,Antibiotics))\n"
                  "Hospital1(Disease),Hospital2(Disease(Pain killer,Antibiotics)),Antibiotics\n"
                  "Hospital1(Disease(Pain killer)),Hospital2(Disease(Pain killer))\n"
                  "Hospital1(Disease(Pain killer))");
    kn_records_free(records);
    testing_context_free(ctx);
}

/* K18's mirror, as the class that it is: -Gastritis is raised to -Disease, Gastritis is shown, every combination with
 * mirror nodes is found twice; and one record alone lacks Gastritis. */
static void test_hole_K18_mirror_with_a_cut_of_its_own(void **state)
{
    (void)state;
    static const struct {
        int         depth;
        const char *label;
    } lines[] = {{1, "Hospital"},  {2, "Hospital1"}, {2, "Hospital2"}, {1, "Disease"},   {2, "Flu"},
                 {2, "Gastritis"}, {1, "-Disease"},  {2, "-Flu"},      {2, "-Gastritis"}};
    static const char *const cut[] = {"Hospital1", "Hospital2", "Flu", "Gastritis", "-Disease"};
    int                      depths[9];
    const char              *labels[9];
    for (int i = 0; i < 9; i++) {
        depths[i] = lines[i].depth;
        labels[i] = lines[i].label;
    }
    kn_context      *ctx = testing_context(1);
    kn_vocabulary   *v = tree_vocabulary(ctx, 9, depths, labels);
    kn_records      *mirrored = tree_records(ctx, v,
                                             "Hospital1(Flu,Gastritis)\n"
                                                  "Hospital1(Flu,Gastritis)\n"
                                                  "Hospital1(Gastritis),-Flu\n"
                                                  "Hospital1(Gastritis),-Flu\n"
                                                  "Hospital1(Flu),-Gastritis");
    kn_records_plan *plan = tree_plan(ctx, v, cut, 5, NULL, 0);
    kn_records      *released = tree_release(ctx, mirrored, plan);
    assert_true(tree_holds(released, 2, 1, 0, KN_SEMANTICS_PAIRS, 0));
    kn_records_free(released);
    kn_records_plan_free(plan);
    kn_records_free(mirrored);

    kn_records *records = tree_records(ctx, tree_vocabulary(ctx, 6, depths, labels),
                                       "Hospital1(Flu,Gastritis)\n"
                                       "Hospital1(Flu,Gastritis)\n"
                                       "Hospital1(Gastritis)\n"
                                       "Hospital1(Gastritis)\n"
                                       "Hospital1(Flu)");
    check_release(ctx, records, 2, 1, 0,
                  "Hospital1(Flu,Gastritis)\nHospital1(Flu,Gastritis)\nHospital1(Gastritis)\nHospital1(Gastritis)\n"
                  "Hospital1(Flu)");
    set_negative(records, "Disease");
    assert_false(tree_holds_against(records, records, 2, 1, 0, KN_SEMANTICS_PAIRS, 0));
    check_release(ctx, records, 2, 1, 0,
                  "Hospital1(Disease)\nHospital1(Disease)\nHospital1(Disease)\nHospital1(Disease)\nHospital1(Disease)");
    kn_records_free(records);
    testing_context_free(ctx);
}

/* ---- What a group is worth ---- */

/* One record has no x at all. Who knows one absence learns nothing from X, who knows two finds it. */
static void test_groups_weigh_what_they_hold(void **state)
{
    (void)state;
    static const int         depths[] = {1, 2, 2, 1, 2, 2, 2};
    static const char *const labels[] = {"A", "a", "aa", "X", "x", "xx", "nobody has it"};
    kn_context              *ctx = testing_context(1);
    kn_records *records = tree_records(ctx, tree_vocabulary(ctx, 7, depths, labels), "a,x\na,x\na,xx\na,xx\na");
    set_negative(records, "X");
    check_release(ctx, records, 2, 1, 0, "a,x\na,x\na,xx\na,xx\na");
    check_release(ctx, records, 2, 2, 0, "*\n*\n*\n*\n*");
    check_release(ctx, records, 3, 1, 0, "a,X\na,X\na,X\na,X\na");
    kn_records_free(records);
    testing_context_free(ctx);
}

/* A record without nodes: where everything may be known to be absent, nothing hides it. */
static void test_record_of_nothing(void **state)
{
    (void)state;
    static const int         depths[] = {1, 2, 1, 2};
    static const char *const labels[] = {"A", "a", "B", "b"};
    kn_context              *ctx = testing_context(1);
    kn_records              *records = tree_records(ctx, tree_vocabulary(ctx, 4, depths, labels), "a,b\na,b\na,b\n");
    assert_int_equal(records->count, 4);
    assert_int_equal(records->start[4], records->start[3]);
    set_negative(records, "A");
    check_release(ctx, records, 2, 2, 0, "*\n*\n*\n");
    set_negative(records, "B");
    check_release(ctx, records, 2, 1, 0, "*\n*\n*\n");
    check_release(ctx, records, 2, 2, 0, NULL);
    kn_records_free(records);
    testing_context_free(ctx);
}

/* ---- Memory ---- */

static void test_memory(void **state)
{
    (void)state;
    for (int kind = 0; kind < 3; kind++) {
        bool done = false;
        for (int64_t at = 0; !done; at++) {
            testing_allocator  memory = {.refuse_at = -1};
            kn_allocator       allocator = testing_failing_allocator(&memory);
            kn_context_options options = KN_CONTEXT_OPTIONS_INIT;
            kn_error           err = KN_ERROR_INIT;
            kn_context        *ctx;
            kn_tree_result    *r;
            options.threads = 1;
            options.allocator = &allocator;
            assert_ok(kn_context_create(&ctx, &options, &err), err);
            kn_records     *records = tree_records(ctx, tree_hospital(ctx), FIG10);
            kn_tree_problem problem = KN_TREE_PROBLEM_INIT;
            set_negative(records, "Disease");
            records->vocabulary->sensitive[2] = kind == 2;
            problem.records = records;
            problem.m = 3;
            problem.n = 2;
            problem.g = 1;
            problem.l = kind == 2 ? 2 : 0;
            problem.reference = kind == 1;
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
        cmocka_unit_test(test_check_agrees_with_every_attacker),
        cmocka_unit_test(test_shares_agree_with_every_attacker),
        cmocka_unit_test(test_finer_cuts_of_bad_ones_are_bad),
        cmocka_unit_test(test_fast_is_plain),
        cmocka_unit_test(test_orders),
        cmocka_unit_test(test_figure_10),
        cmocka_unit_test(test_hole_K18_mirror_with_a_cut_of_its_own),
        cmocka_unit_test(test_groups_weigh_what_they_hold),
        cmocka_unit_test(test_record_of_nothing),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
