/* test_tree_reference.c: the plain k^(m,n) search: figures 5 to 7 and 10 to 13 of the paper, every release against a
 * brute-force attacker, and the holes of the printed algorithms (docs/errata.md K4, K5, K6).
 * SPDX-License-Identifier: Apache-2.0 */
#include "tree_testing.h"

#include "kn_tree_reference.h"

/* ---- The paper's figures ---- */

#define FIG2 "Hospital1(Gastritis),Hospital2(Flu(Pain killer),Bronchitis(Antibiotics))"
#define FIG10                                                                                                          \
    "Hospital1(Gastritis),Hospital2(Flu(Pain killer),Bronchitis(Antibiotics))\n"                                       \
    "Hospital1(Bronchitis(Antibiotics),Gastritis),Hospital2(Flu(Pain killer),Bronchitis(Antibiotics))\n"               \
    "Hospital1(Flu(Pain killer)),Hospital2(Flu(Pain killer))\n"                                                        \
    "Hospital1(Bronchitis,Gastritis(Pain killer))"

static const char *const leaves[] = {"Hospital1",    "Hospital2",  "Rea",         "Gaia",
                                     "Flu",          "Bronchitis", "Diarrhea",    "Gastritis",
                                     "Neurological", "Orthopedic", "Pain killer", "Antibiotics"};

typedef struct release_pair {
    kn_records *records, *twin; /* by kn_records_apply, and by hand */
    int64_t    *original_of;
} release_pair;

static release_pair release(kn_context *ctx, const kn_records *records, const kn_records_plan *plan)
{
    kn_error     err = KN_ERROR_INIT;
    release_pair r;
    assert_ok(kn_records_apply(&r.records, &r.original_of, ctx, records, plan, &err), err);
    r.twin = tree_release(ctx, records, plan);
    char mine[16384], theirs[16384];
    tree_print(r.twin, NULL, mine, sizeof mine);
    tree_print(r.records, r.original_of, theirs, sizeof theirs);
    assert_string_equal(theirs, mine);
    return r;
}

static void free_released(release_pair r)
{
    kn_records_free(r.records);
    kn_records_free(r.twin);
    kn_free(r.original_of);
}

static void check_figure(const char *original, const char *const *cut, int cut_size, const char *const (*sd)[2],
                         int sd_count, const char *expected)
{
    kn_context      *ctx = testing_context(1);
    kn_records      *records = tree_records(ctx, tree_hospital(ctx), original);
    kn_records_plan *plan = tree_plan(ctx, records->vocabulary, cut, cut_size, sd, sd_count);
    release_pair     r = release(ctx, records, plan);
    char             text[4096];
    tree_print(r.records, r.original_of, text, sizeof text);
    assert_string_equal(text, expected);
    free_released(r);
    kn_records_plan_free(plan);
    kn_records_free(records);
    testing_context_free(ctx);
}

static void test_figure_5(void **state)
{
    (void)state;
    static const char *const cut[] = {"Hospital1",    "Hospital2",   "Rea",        "Gaia",
                                      "Lung Disease", "Diarrhea",    "Gastritis",  "Neurological",
                                      "Orthopedic",   "Pain killer", "Antibiotics"};
    check_figure(FIG2, cut, 11, NULL, 0, "Hospital1(Gastritis),Hospital2(Lung Disease(Pain killer,Antibiotics))");
}

static void test_figure_6(void **state)
{
    (void)state;
    static const char *const sd[][2] = {{"Hospital2", "Pain killer"}};
    check_figure(FIG2, leaves, 12, sd, 1, "Hospital1(Gastritis),Hospital2(Flu,Bronchitis(Antibiotics)),Pain killer");
}

static void test_figure_7(void **state)
{
    (void)state;
    static const char *const sd[][2] = {{"Hospital2", "Bronchitis"}};
    check_figure(FIG2, leaves, 12, sd, 1, "Hospital1(Gastritis),Hospital2(Flu(Pain killer),Antibiotics),Bronchitis");
}

/* Figures 10 to 12: the records that have a path, under Example 5's cut (K16). */
static void check_ids(const kn_records *records, const char *path, const char *expected)
{
    char   ids[64] = "", text[256];
    size_t size = strlen(path);
    for (int64_t t = 0; t < records->count; t++) {
        bool has = false;
        for (uint64_t i = records->start[t]; i < records->start[t + 1]; i++) {
            text[0] = 0;
            for (uint32_t u = (uint32_t)(i - records->start[t]); u != KN_RECORDS_ROOT;
                 u = records->parent[records->start[t] + u]) {
                char      before[200];
                kn_string label = kn_vocabulary_label(records->vocabulary, records->value[records->start[t] + u]);
                snprintf(before, sizeof before, "%s", text);
                snprintf(text, sizeof text, "/%.*s%s", label.size > 40 ? 40 : (int)label.size, label.data, before);
            }
            has |= strlen(text) == size && strcmp(text, path) == 0;
        }
        if (has) snprintf(ids + strlen(ids), sizeof ids - strlen(ids), "%d ", (int)t + 1);
    }
    assert_string_equal(ids, expected);
}

static void test_figures_10_to_12(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(1);
    kn_records *records = tree_records(ctx, tree_hospital(ctx), FIG10);
    check_ids(records, "/Hospital1", "1 2 3 4 ");
    check_ids(records, "/Hospital2", "1 2 3 ");
    check_ids(records, "/Hospital1/Gastritis", "1 2 4 ");
    check_ids(records, "/Hospital1/Bronchitis", "2 4 ");
    check_ids(records, "/Hospital2/Flu/Pain killer", "1 2 3 ");
    static const char *const cut[] = {"Hospital1",        "Hospital2",    "Rea",        "Gaia",        "Lung Disease",
                                      "Stomach Disorder", "Neurological", "Orthopedic", "Pain killer", "Antibiotics"};
    kn_records_plan         *plan = tree_plan(ctx, records->vocabulary, cut, 10, NULL, 0);
    kn_records              *projected = tree_release(ctx, records, plan);
    check_ids(projected, "/Hospital1/Stomach Disorder", "1 2 4 ");
    check_ids(projected, "/Hospital1/Stomach Disorder/Pain killer", "4 ");
    check_ids(projected, "/Hospital1/Lung Disease", "2 3 4 ");
    check_ids(projected, "/Hospital1/Lung Disease/Antibiotics", "2 ");
    check_ids(projected, "/Hospital1/Lung Disease/Pain killer", "3 ");
    check_ids(projected, "/Hospital2/Lung Disease", "1 2 3 ");
    check_ids(projected, "/Hospital2/Lung Disease/Pain killer", "1 2 3 ");
    check_ids(projected, "/Hospital2/Lung Disease/Antibiotics", "1 2 ");
    kn_records_free(projected);
    kn_records_plan_free(plan);
    kn_records_free(records);
    testing_context_free(ctx);
}

static void plan_labels(const kn_records_plan *plan, const kn_records *records, char *out, size_t room)
{
    out[0] = 0;
    for (uint32_t u = 0; u < plan->values; u++) {
        bool occurs = false;
        for (uint64_t i = 0; i < records->nodes; i++) occurs |= plan->image[records->value[i]] == u;
        kn_string label = kn_vocabulary_label(records->vocabulary, u);
        if (occurs) snprintf(out + strlen(out), room - strlen(out), "%.*s;", (int)label.size, label.data);
    }
}

/* Figure 13 from its printed cut and disassociation: 2^(2,1), not 3^(2,1) as it says; and what 3^(2,1) is (K1). */
static void test_figure_13(void **state)
{
    (void)state;
    static const char *const cut[] = {"Hospital1", "Hospital2", "Rea",           "Gaia",    "Lung Disease",
                                      "Diarrhea",  "Gastritis", "Physiotherapy", "Medicine"};
    static const char *const sd[][2] = {{"Gastritis", "Medicine"}};
    check_figure(FIG10, cut, 9, sd, 1,
                 "Hospital1(Gastritis),Hospital2(Lung Disease(Medicine))\n"
                 "Hospital1(Lung Disease(Medicine),Gastritis),Hospital2(Lung Disease(Medicine))\n"
                 "Hospital1(Lung Disease(Medicine)),Hospital2(Lung Disease(Medicine))\n"
                 "Hospital1(Lung Disease,Gastritis,Medicine)");
    kn_context      *ctx = testing_context(1);
    kn_error         err = KN_ERROR_INIT;
    kn_records      *records = tree_records(ctx, tree_hospital(ctx), FIG10);
    kn_records_plan *plan = tree_plan(ctx, records->vocabulary, cut, 9, sd, 1);
    release_pair     r = release(ctx, records, plan);
    assert_true(tree_holds(r.records, 2, 2, 1, KN_SEMANTICS_PAIRS, 0));
    assert_false(tree_holds(r.records, 3, 2, 1, KN_SEMANTICS_PAIRS, 0));
    free_released(r);
    kn_records_plan_free(plan);

    kn_tree_problem problem = KN_TREE_PROBLEM_INIT;
    problem.records = records;
    problem.method = KN_METHOD_ACS;
    problem.k = 3;
    kn_tree_result result;
    char           text[512];
    assert_ok(kn_tree_reference_search(&result, ctx, &problem, &err), err);
    assert_true(result.found && result.complete);
    plan_labels(result.plan, records, text, sizeof text);
    assert_string_equal(text, "Hospital1;Hospital2;Disease;Medicine;");
    assert_int_equal(result.plan->disassociation_count, 0);
    assert_true(result.counters.cuts <= 126);
    r = release(ctx, records, result.plan);
    assert_true(tree_holds(r.records, 3, 2, 1, KN_SEMANTICS_PAIRS, 0));
    free_released(r);
    kn_records_plan_free(result.plan);
    kn_records_free(records);
    testing_context_free(ctx);
}

/* Figure 4's hierarchy has 126 cuts; with k = 1 every one is reached (K9). */
static void test_number_of_cuts(void **state)
{
    (void)state;
    kn_context     *ctx = testing_context(1);
    kn_error        err = KN_ERROR_INIT;
    kn_records     *records = tree_records(ctx, tree_hospital(ctx), FIG10);
    kn_tree_problem problem = KN_TREE_PROBLEM_INIT;
    kn_tree_result  result;
    problem.records = records;
    problem.method = KN_METHOD_ACS;
    problem.k = 1;
    assert_ok(kn_tree_reference_search(&result, ctx, &problem, &err), err);
    assert_int_equal(result.counters.cuts, 126);
    assert_int_equal(result.plan->disassociation_count, 0);
    kn_records_plan_free(result.plan);
    kn_records_free(records);
    testing_context_free(ctx);
}

/* ---- Algorithms 1 to 3 as printed, each hole open or closed ---- */

typedef struct printed {
    bool only_m;     /* K4: combinations of exactly m labels                     */
    bool forgets;    /* K5: StructureCheck starts from all records               */
    bool single_run; /* K6: FixStructure goes through all combinations once      */
} printed;

typedef struct printing {
    kn_context       *ctx;
    const kn_records *records;
    int64_t           k;
    int               m, n;
    printed           as;
    kn_records_plan  *plan; /* room for 64 disassociations */
    kn_records       *now;  /* the records under it        */
    uint32_t          values[16];
    int               value_count;
    bool              changed;
} printing;

/* Is the i-th value in a set? The first value is the highest bit, so that descending numbers are sets in order. */
static bool in_set(const printing *p, unsigned set, int i)
{
    return set >> (p->value_count - 1 - i) & 1;
}

static void release_again(printing *p)
{
    kn_records_free(p->now);
    p->now = tree_release(p->ctx, p->records, p->plan);
}

static int64_t relation_support(const printing *p, const uint32_t relation[2])
{
    int64_t support = 0;
    for (int64_t t = 0; t < p->now->count; t++) support += tree_has_relation(p->now, t, relation[0], relation[1]);
    return support;
}

/* Algorithm 2. */
static bool structure_check(const printing *p, unsigned cmn, const uint32_t (*cnr)[2], int count)
{
    bool clist[64];
    for (int64_t t = 0; t < p->now->count; t++) {
        clist[t] = true;
        for (int i = 0; i < p->value_count; i++)
            if (!p->as.forgets && in_set(p, cmn, i) && !tree_has_value(p->now, t, p->values[i])) clist[t] = false;
    }
    for (int j = 0; j < count; j++) {
        int64_t left = 0;
        for (int64_t t = 0; t < p->now->count; t++) {
            clist[t] = clist[t] && tree_has_relation(p->now, t, cnr[j][0], cnr[j][1]);
            left += clist[t];
        }
        if (left == 0) return true;
        if (left < p->k) return false;
    }
    return true;
}

/* Lines 5 to 10 of Algorithm 3. */
static void fix_combination(printing *p, unsigned cmn, uint32_t (*cnr)[2], int count)
{
    while (count > 0 && !structure_check(p, cmn, (const uint32_t(*)[2])cnr, count)) {
        int least = -1;
        for (int j = 0; j < count; j++) {
            int64_t support = relation_support(p, cnr[j]);
            if (support > 0 && (least < 0 || support < relation_support(p, cnr[least]))) least = j;
        }
        assert_true(least >= 0 && p->plan->disassociation_count < 64);
        p->plan->disassociations[p->plan->disassociation_count++] = (kn_disassociation){cnr[least][0], cnr[least][1]};
        memmove(cnr + least, cnr + least + 1, (size_t)(--count - least) * sizeof *cnr);
        p->changed = true;
        release_again(p);
    }
}

static void fix_values(printing *p, unsigned cmn)
{
    uint32_t pairs[16][2], cnr[16][2];
    int      count = 0;
    for (int i = 0; i < p->value_count; i++)
        for (int j = 0; j < p->value_count; j++)
            if (i != j && in_set(p, cmn, i) && in_set(p, cmn, j)) {
                pairs[count][0] = p->values[i];
                pairs[count++][1] = p->values[j];
            }
    for (int size = 1; size <= p->n; size++)
        for (unsigned set = 0; set < 1u << count; set++) {
            if (__builtin_popcount(set) != size) continue;
            int chosen = 0;
            for (int j = 0; j < count; j++) {
                bool gone = false;
                for (int64_t s = 0; s < p->plan->disassociation_count; s++)
                    gone |= p->plan->disassociations[s].ancestor == pairs[j][0] &&
                            p->plan->disassociations[s].descendant == pairs[j][1];
                if ((set >> j & 1) && !gone) memcpy(cnr[chosen++], pairs[j], sizeof pairs[j]);
            }
            fix_combination(p, cmn, cnr, chosen);
        }
}

/* Algorithm 1, then Algorithm 3. false: ValueCheck fails. */
static bool run_printed(printing *p)
{
    int least = p->as.only_m ? p->m : 1;
    for (unsigned cm = 1; cm < 1u << p->value_count; cm++) {
        if (__builtin_popcount(cm) < least || __builtin_popcount(cm) > p->m) continue;
        int64_t support = 0;
        for (int64_t t = 0; t < p->now->count; t++) {
            bool all = true;
            for (int i = 0; i < p->value_count; i++)
                all = all && (!in_set(p, cm, i) || tree_has_value(p->now, t, p->values[i]));
            support += all;
        }
        if (support > 0 && support < p->k) return false;
    }
    do {
        p->changed = false;
        for (int size = least; size <= p->m; size++)
            for (unsigned cmn = (1u << p->value_count) - 1; cmn > 0; cmn--)
                if (__builtin_popcount(cmn) == size) fix_values(p, cmn);
    } while (p->changed && !p->as.single_run);
    return true;
}

/* Under the cut of all leaves: does the printed algorithm call it solved, and is it? */
typedef enum verdict { REFUSED, HOLDS, BROKEN } verdict;

static verdict try_printed(kn_context *ctx, const kn_records *records, int64_t k, int m, int n, printed as)
{
    const kn_vocabulary *v = records->vocabulary;
    kn_error             err = KN_ERROR_INIT;
    printing             p = {.ctx = ctx, .records = records, .k = k, .m = m, .n = n, .as = as};
    assert_ok(kn_records_plan_create(&p.plan, ctx, v, 64, &err), err);
    p.plan->disassociation_count = 0;
    for (uint32_t u = 0; u < v->nodes; u++) {
        p.plan->image[u] = v->end[u] == u + 1 ? u : UINT32_MAX;
        if (v->end[u] == u + 1 && p.value_count < 16) p.values[p.value_count++] = u;
    }
    release_again(&p);
    verdict answer = !run_printed(&p) ? REFUSED : tree_holds(p.now, k, m, n, KN_SEMANTICS_PAIRS, 0) ? HOLDS : BROKEN;
    kn_records_free(p.now);
    kn_records_plan_free(p.plan);
    return answer;
}

/* Three classes of two values each. */
static kn_vocabulary *small_vocabulary(kn_context *ctx)
{
    static const int         depths[] = {1, 2, 2, 1, 2, 2, 1, 2, 2};
    static const char *const labels[] = {"A", "a", "aa", "B", "b", "bb", "C", "c", "cc"};
    return tree_vocabulary(ctx, 9, depths, labels);
}

/* The printed algorithm with one hole open ends with a release that is not anonymous; with none open it does not; kanon's
 * holds, and shows the same values. */
static void check_hole(const char *text, int64_t k, int m, int n, printed hole)
{
    kn_context     *ctx = testing_context(1);
    kn_error        err = KN_ERROR_INIT;
    kn_records     *records = tree_records(ctx, small_vocabulary(ctx), text);
    kn_tree_problem problem = KN_TREE_PROBLEM_INIT;
    kn_tree_result  result;
    assert_int_equal(try_printed(ctx, records, k, m, n, hole), BROKEN);
    assert_int_equal(try_printed(ctx, records, k, m, n, (printed){false, false, false}), HOLDS);
    problem.records = records;
    problem.method = KN_METHOD_ACS;
    problem.k = k;
    problem.m = m;
    problem.n = n;
    assert_ok(kn_tree_reference_search(&result, ctx, &problem, &err), err);
    assert_true(result.found);
    for (uint64_t i = 0; i < records->nodes; i++)
        assert_int_equal(result.plan->image[records->value[i]], records->value[i]);
    assert_true(result.plan->disassociation_count > 0);
    release_pair r = release(ctx, records, result.plan);
    assert_true(tree_holds(r.records, k, m, n, KN_SEMANTICS_PAIRS, 0));
    free_released(r);
    kn_records_plan_free(result.plan);
    kn_records_free(records);
    testing_context_free(ctx);
}

/* Combinations of exactly m labels: two records of two labels are never looked at. */
static void test_hole_K4_fewer_labels_than_m(void **state)
{
    (void)state;
    check_hole("a(c)\n"
               "a,c",
               2, 3, 1, (printed){.only_m = true});
}

/* b above c is in two records, but only in one that has a: a known label that StructureCheck forgets. */
static void test_hole_K5_known_label_forgotten(void **state)
{
    (void)state;
    check_hole("a(b(c))\n"
               "a(b,c)\n"
               "b(c)",
               2, 3, 1, (printed){.forgets = true});
}

/* A disassociation takes relations away that a combination before it had found in enough records. */
static void test_hole_K6_no_second_run(void **state)
{
    (void)state;
    check_hole("aa(b(c),bb),cc\n"
               "b(c)\n"
               "aa(bb,c),b(cc)\n"
               "aa(b)",
               2, 3, 1, (printed){.single_run = true});
}

/* ---- Random forests ---- */

/* RPDa by listing every path of every record. */
static double naive_cost(const kn_records *released, bool level_domains)
{
    const kn_vocabulary *v = released->vocabulary;
    static tree_path     paths[64 * TREE_NODES];
    int                  count = 0, nodes = 0, ends = 0;
    for (int64_t t = 0; t < released->count; t++)
        for (uint64_t i = released->start[t]; i < released->start[t + 1]; i++) {
            tree_path *p = &paths[count++];
            p->size = 0;
            for (uint32_t u = (uint32_t)(i - released->start[t]); u != KN_RECORDS_ROOT;
                 u = released->parent[released->start[t] + u])
                p->size++;
            int place = p->size;
            for (uint32_t u = (uint32_t)(i - released->start[t]); u != KN_RECORDS_ROOT;
                 u = released->parent[released->start[t] + u])
                p->values[--place] = released->value[released->start[t] + u];
        }
    qsort(paths, (size_t)count, sizeof *paths, tree_compare_paths);
    double sum = 0;
    for (int i = 0; i < count; i++) {
        if (i > 0 && tree_compare_paths(&paths[i - 1], &paths[i]) == 0) continue;
        nodes++;
        bool leaf = true;
        for (int j = 0; j < count; j++)
            leaf = leaf && !(paths[j].size > paths[i].size &&
                             memcmp(paths[j].values, paths[i].values, (size_t)paths[i].size * sizeof(uint32_t)) == 0);
        if (!leaf) continue;
        ends++;
        double supports = 0, product = 1;
        for (int d = 1; d <= paths[i].size; d++) {
            uint32_t value = paths[i].values[d - 1];
            int      domain = 0;
            for (int j = 0; j < count; j++)
                supports +=
                    paths[j].size == d && memcmp(paths[j].values, paths[i].values, (size_t)d * sizeof(uint32_t)) == 0;
            for (uint32_t u = 0; u < v->nodes; u++)
                if (u == 0 ? value == 0 : value != 0 && (level_domains || v->cls[u] == v->cls[value]))
                    domain += v->end[value] == value + 1 ? v->end[u] == u + 1
                                                         : v->depth[u] == v->depth[value] ||
                                                               (v->depth[u] < v->depth[value] && v->end[u] == u + 1);
            product *= (double)d * domain;
        }
        sum += supports / product;
    }
    return ends == 0 ? 0 : sum / nodes / ends;
}

/* No tell-tale position in fewer than k records (S1). */
static bool strict_holds(const kn_records *original, const kn_records *released, int64_t k)
{
    const kn_vocabulary *v = released->vocabulary;
    for (int64_t t = 0; t < released->count; t++)
        for (uint64_t i = released->start[t]; i < released->start[t + 1]; i++) {
            uint32_t value = released->value[i], parent = released->parent[i];
            uint32_t above = parent == KN_RECORDS_ROOT ? UINT32_MAX : released->value[released->start[t] + parent];
            if (value == 0 || above == 0) continue;
            bool usual = false;
            for (int64_t o = 0; o < original->count; o++)
                for (uint64_t j = original->start[o]; j < original->start[o + 1]; j++) {
                    uint32_t p = original->parent[j];
                    uint32_t c = p == KN_RECORDS_ROOT ? UINT32_MAX : original->value[original->start[o] + p];
                    usual |= v->cls[original->value[j]] == v->cls[value] &&
                             (c == UINT32_MAX ? above == c : above != UINT32_MAX && v->cls[c] == v->cls[above]);
                }
            if (usual) continue;
            int64_t records = 0;
            for (int64_t o = 0; o < released->count; o++) {
                bool has = false;
                for (uint64_t j = released->start[o]; j < released->start[o + 1]; j++) {
                    uint32_t p = released->parent[j];
                    uint32_t c = p == KN_RECORDS_ROOT ? UINT32_MAX : released->value[released->start[o] + p];
                    has |= released->value[j] == value && c == above;
                }
                records += has;
            }
            /* Below the root there may be nothing that moves a value that is not known. */
            int64_t with = 0;
            for (int64_t o = 0; o < released->count; o++) with += tree_has_value(released, o, value);
            if (above == UINT32_MAX && tree_sensitive(v, value) && with < k) continue;
            if (records < k) return false;
        }
    return true;
}

/* Under {*} only who has something that may be known and who has nothing can be told apart: the latter by knowing all
 * absences. */
static bool star_holds(const kn_records *records, const kn_tree_problem *p)
{
    const kn_vocabulary *v = records->vocabulary;
    int64_t              shown = 0, values = 0;
    bool                 occurs[TREE_VALUES] = {false}, all = true;
    for (int64_t t = 0; t < records->count; t++) {
        bool some = false;
        for (uint64_t i = records->start[t]; i < records->start[t + 1]; i++)
            some |= !tree_sensitive(v, records->value[i]);
        shown += some;
    }
    for (uint64_t i = 0; i < records->nodes; i++) occurs[records->value[i]] = !tree_sensitive(v, records->value[i]);
    for (uint32_t u = 1; u < v->nodes; u++) {
        values += occurs[u];
        all = all && (!occurs[u] || v->negative[v->cls[u]]);
    }
    int64_t empty = all && values > 0 && values <= p->m ? records->count - shown : 0;
    return records->count >= p->k && (shown == 0 || shown >= p->k) && (empty == 0 || empty >= p->k);
}

static void check_result(kn_context *ctx, const kn_tree_problem *p, const kn_tree_result *result)
{
    const char *reason;
    assert_true(kn_records_plan_validate(result->plan, p->records->vocabulary, &reason));
    release_pair r = release(ctx, p->records, result->plan);
    assert_true(tree_holds_against(p->records, r.records, p->k, p->m, p->n, p->semantics, p->l));
    if (p->strict && p->method != KN_METHOD_OCS) assert_true(strict_holds(p->records, r.records, p->k));
    if (p->method == KN_METHOD_OCS) assert_int_equal(result->plan->disassociation_count, 0);
    assert_float_equal(result->cost, naive_cost(r.twin, p->level_domains), 1e-12);
    free_released(r);
}

static void test_random_forests(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(2);
    kn_error    err = KN_ERROR_INIT;
    kn_rng      rng;
    int         found = 0, disassociated = 0;
    kn_rng_init(&rng, testing_seed(), 0);
    for (int i = 0; i < 3000; i++) {
        tree_shape      shape = i % 4 == 1 ? TREE_SHAPE_RIGID
                                : i % 4    ? TREE_SHAPE_DISASSOCIATED
                                           : (tree_shape){3, 2, 2, 9, 9, 0, true, true, false, false};
        kn_records     *records = tree_random(ctx, &rng, &shape);
        kn_tree_problem p = tree_random_problem(&rng, records);
        kn_tree_result  result;
        assert_ok(kn_tree_reference_search(&result, ctx, &p, &err), err);
        assert_true(result.complete);
        if (p.l == 0 && p.method != KN_METHOD_OCS) assert_int_equal(result.found, star_holds(records, &p));
        if (result.found) {
            found++;
            disassociated += result.plan->disassociation_count > 0;
            check_result(ctx, &p, &result);
        }
        kn_records_plan_free(result.plan);
        kn_records_free(records);
    }
    printf("found %d, with disassociations %d\n", found, disassociated);
    assert_true(found > 1500 && disassociated >= 100);
    testing_context_free(ctx);
}

/* All records have the same values and the same relations, pair by pair; but only in the first do a, b and c stand on one
 * path (S2). */
static void test_paths_are_more_than_pairs(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(1);
    kn_error    err = KN_ERROR_INIT;
    kn_records *records =
        tree_records(ctx, small_vocabulary(ctx), "a(b(c),bb(c)),aa(b(c))\na(b,bb(c)),aa(b(c))\na(b,bb(c)),aa(b(c))");
    kn_tree_problem p = KN_TREE_PROBLEM_INIT;
    kn_tree_result  result;
    p.records = records;
    p.m = 3;
    p.n = 2;
    assert_true(tree_holds(records, 2, 3, 2, KN_SEMANTICS_PAIRS, 0));
    assert_false(tree_holds(records, 2, 3, 2, KN_SEMANTICS_PATHS, 0));
    for (int paths = 0; paths < 2; paths++) {
        p.semantics = paths ? KN_SEMANTICS_PATHS : KN_SEMANTICS_PAIRS;
        assert_ok(kn_tree_reference_search(&result, ctx, &p, &err), err);
        assert_true(result.found);
        release_pair r = release(ctx, records, result.plan);
        assert_int_equal(tree_holds(r.records, 2, 3, 2, KN_SEMANTICS_PATHS, 0), paths);
        free_released(r);
        kn_records_plan_free(result.plan);
    }
    kn_records_free(records);
    testing_context_free(ctx);
}

/* The cut {*} shows how deep a record is: "*" above "*" is a relation that goes where it is rare (K8). */
static void test_star_above_star(void **state)
{
    (void)state;
    kn_context     *ctx = testing_context(1);
    kn_error        err = KN_ERROR_INIT;
    kn_records     *records = tree_records(ctx, small_vocabulary(ctx), "a(b)\naa\nb\nbb\nc\ncc");
    kn_tree_problem p = KN_TREE_PROBLEM_INIT;
    kn_tree_result  result;
    char            text[256];
    p.records = records;
    p.k = 4;
    assert_ok(kn_tree_reference_search(&result, ctx, &p, &err), err);
    assert_true(result.found);
    release_pair r = release(ctx, records, result.plan);
    tree_print(r.records, r.original_of, text, sizeof text);
    assert_string_equal(text, "*\n*\n*\n*\n*\n*");
    assert_int_equal(result.plan->disassociation_count, 1);
    free_released(r);
    kn_records_plan_free(result.plan);
    p.method = KN_METHOD_OCS;
    assert_ok(kn_tree_reference_search(&result, ctx, &p, &err), err);
    assert_false(result.found);
    assert_null(result.plan);
    kn_records_free(records);
    testing_context_free(ctx);
}

/* ---- Limits and failures ---- */

static void test_time_limit_and_cancel(void **state)
{
    (void)state;
    kn_context     *ctx = testing_context(1);
    kn_error        err = KN_ERROR_INIT;
    kn_records     *records = tree_records(ctx, tree_hospital(ctx), FIG10);
    kn_tree_problem p = KN_TREE_PROBLEM_INIT;
    kn_tree_result  result;
    p.records = records;
    p.k = 1;
    p.method = KN_METHOD_ACS;
    p.time_limit = 1e-9;
    assert_ok(kn_tree_reference_search(&result, ctx, &p, &err), err);
    assert_true(result.found && !result.complete);
    assert_true(result.counters.cuts < 126);
    check_result(ctx, &p, &result);
    kn_records_plan_free(result.plan);
    kn_context_cancel(ctx);
    assert_int_equal(kn_tree_reference_search(&result, ctx, &p, &err), KN_CANCELLED);
    assert_null(result.plan);
    kn_context_reset_cancel(ctx);
    kn_records_free(records);
    testing_context_free(ctx);
}

static void test_more_wanted_than_there_are(void **state)
{
    (void)state;
    kn_context     *ctx = testing_context(1);
    kn_error        err = KN_ERROR_INIT;
    kn_records     *records = tree_records(ctx, tree_hospital(ctx), FIG10);
    kn_tree_problem p = KN_TREE_PROBLEM_INIT;
    kn_tree_result  result;
    p.records = records;
    p.k = 5;
    assert_ok(kn_tree_reference_search(&result, ctx, &p, &err), err);
    assert_true(!result.found && result.complete && result.plan == NULL);
    kn_records_free(records);
    testing_context_free(ctx);
}

static void test_memory_failures(void **state)
{
    (void)state;
    for (int method = 0; method < 2; method++) {
        kn_status status = KN_MEMORY;
        for (int64_t refuse_at = 0; status != KN_OK; refuse_at += testing_step()) {
            testing_allocator memory = {.refuse_at = -1};
            kn_error          err = KN_ERROR_INIT;
            kn_context       *ctx;
            assert_ok(testing_refusing_context(&ctx, &memory, 1, &err), err);
            kn_records     *records = tree_records(ctx, tree_hospital(ctx), FIG10);
            kn_tree_problem p = KN_TREE_PROBLEM_INIT;
            kn_tree_result  result;
            p.records = records;
            p.method = method ? KN_METHOD_ACS : KN_METHOD_GCS;
            p.m = 3;
            p.n = 2;
            p.strict = true;
            memory.refuse_at = memory.requests + refuse_at;
            status = kn_tree_reference_search(&result, ctx, &p, &err);
            assert_true(status == KN_OK || status == KN_MEMORY);
            kn_records_plan_free(result.plan);
            kn_records_free(records);
            kn_context_free(ctx);
            assert_int_equal(memory.live, 0);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        testing_alone(test_figure_5),
        testing_alone(test_figure_6),
        testing_alone(test_figure_7),
        testing_alone(test_figures_10_to_12),
        testing_alone(test_figure_13),
        testing_alone(test_number_of_cuts),
        testing_alone(test_hole_K4_fewer_labels_than_m),
        testing_alone(test_hole_K5_known_label_forgotten),
        testing_alone(test_hole_K6_no_second_run),
        cmocka_unit_test(test_random_forests),
        testing_alone(test_paths_are_more_than_pairs),
        testing_alone(test_star_above_star),
        testing_alone(test_time_limit_and_cancel),
        testing_alone(test_more_wanted_than_there_are),
        testing_alone(test_memory_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
