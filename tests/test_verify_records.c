/* test_verify_records.c: the verifier of tree records against plain enumeration: every attacker, every map of nodes, every
 * assignment of records; mutations of releases; the paper's Figure 13.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kn_vocabulary_make.h"
#include "verify_records_mutations.h"

enum { FORESTS = TESTING_SANITIZED ? 200 : 1500, MUTATED = TESTING_SANITIZED ? 50 : 400 };

static kn_records_verify_report *verify(const problem *p, const kn_records *release, const int64_t *map)
{
    kn_error                  err = KN_ERROR_INIT;
    kn_records_verify_report *report = NULL;
    kn_records_verify_options options = KN_RECORDS_VERIFY_OPTIONS_INIT;
    options.map = map;
    options.map_count = release->count;
    assert_ok(verify_in_memory(&report, p->ctx, &p->spec, p->original, release, &options, &err), err);
    return report;
}

/* ---- Random forests ---- */

static int undecided; /* of all that were verified without a map */

/* What the twin says of the assignment is what the verifier says, unless it may be vague. */
static bool same_assignment(const problem *p, const trees *o, const trees *t, const int64_t *map,
                            const kn_records_verify_report *r, bool assigned)
{
    bool vague = r->assignment == KN_ASSIGNMENT_UNDECIDED && naive_vague(p, o, t, map);
    undecided += vague;
    if (vague) assert_false(r->ok);
    return vague || r->assignment == (assigned ? KN_ASSIGNMENT_PROVED : KN_ASSIGNMENT_REFUTED);
}

static void check_release(const problem *p, const trees *o, const trees *t, const int64_t *map,
                          const kn_records *release)
{
    kn_records_verify_report *r = verify(p, release, map);
    naive                     n = attack_all(p, t);
    bool                      assigned = naive_assignment(p, o, t, map);
    int64_t                   rare = p->spec.strict_structure ? rare_positions(p, o, t, hidden_class(p)) : 0;
    assert_true(r->decided);
    assert_int_equal(r->k, n.k);
    assert_int_equal(r->combinations, n.combinations);
    assert_int_equal(r->violations, n.violations);
    assert_true(same_assignment(p, o, t, map, r, assigned));
    if (r->assignment == KN_ASSIGNMENT_UNDECIDED) assigned = false;
    if (p->spec.model_count) {
        assert_true(fabs(r->largest_share - n.share) < 1e-12);
        assert_int_equal(r->models[0].classes, n.uniform);
        assert_int_equal(r->models[0].holds, n.uniform == 0);
    }
    assert_int_equal(r->ok, assigned && n.violations == 0 && n.uniform == 0 && rare == 0);
    if (assigned && !isnan(r->rpd)) {
        assert_true(fabs(r->rpd - naive_rpd(p, t)) < 1e-12);
        assert_true(fabs(r->rpd_original - naive_rpd(p, o)) < 1e-12);
    }
    assert_true(!assigned || !isnan(r->rpd));
    kn_records_verify_report_free(r);
}

static void random_forests(void **state)
{
    (void)state;
    kn_rng       rng;
    static trees o, t;
    int          good = 0;
    kn_rng_init(&rng, testing_seed(), 1);
    kn_context *ctx = testing_context(1);
    for (int i = 0; i < FORESTS; i++) {
        problem p;
        random_problem(&p, ctx, &rng, i % 4 ? 8 : RECORDS);
        read_records(&o, p.original);
        read_records(&t, p.release);
        check_release(&p, &o, &t, p.original_of, p.release);
        if (o.count <= 8) check_release(&p, &o, &t, NULL, p.release);
        kn_records_verify_report *r = verify(&p, p.release, p.original_of);
        assert_int_equal(r->assignment, KN_ASSIGNMENT_PROVED); /* a plan's release is what it says */
        good += r->ok;
        kn_records_verify_report_free(r);
        free_problem(&p);
    }
    assert_true(good > 20 && good < FORESTS - 20);
    testing_context_free(ctx);
}

/* ---- Mutations ---- */

/* Each mutant is judged as the twin judges it, with the map and without. */
static void check_mutant(const problem *p, const trees *o, mutant *m, int number, int *rejected)
{
    kn_records *release = make_records(p->ctx, p->vocabulary, m->t);
    for (int mapped = 0; mapped < 2; mapped++) {
        const int64_t            *map = mapped ? m->map : NULL;
        kn_records_verify_report *r = verify(p, release, map);
        bool                      assigned = naive_assignment(p, o, m->t, map);
        if (!same_assignment(p, o, m->t, map, r, assigned))
            fail_msg("%s: the verifier says %s", mutations[number].name, kn_assignment_name(r->assignment));
        if (r->assignment == KN_ASSIGNMENT_UNDECIDED) assigned = false;
        naive n = attack_all(p, m->t);
        assert_int_equal(r->k, n.k);
        int64_t rare = p->spec.strict_structure ? rare_positions(p, o, m->t, hidden_class(p)) : 0;
        assert_int_equal(r->ok, assigned && n.violations == 0 && n.uniform == 0 && rare == 0);
        assert_true(r->ok || r->problem_count > 0 || r->assignment == KN_ASSIGNMENT_UNDECIDED);
        rejected[number] += !r->ok && mapped;
        kn_records_verify_report_free(r);
    }
    kn_records_free(release);
}

/* Drops some nodes with what is below them, unless something sensitive is among that. */
static void drop_some(problem *p, kn_rng *rng)
{
    const kn_records    *r = p->original;
    const kn_vocabulary *v = p->vocabulary;
    bool                *dropped = kn_alloc_array_zero(p->ctx, (size_t)r->nodes + 1, sizeof *dropped);
    assert_non_null(dropped);
    for (int64_t t = 0; t < r->count; t++)
        for (uint64_t i = r->start[t]; i < r->start[t + 1]; i++) {
            bool chosen = kn_rng_below(rng, 12) == 0;
            for (uint64_t j = i; chosen && j < r->start[t + 1]; j++)
                for (uint32_t a = (uint32_t)(j - r->start[t]); a != ROOT; a = r->parent[r->start[t] + a])
                    if (r->start[t] + a == i) chosen = chosen && !v->sensitive[v->cls[r->value[j]]];
            for (uint64_t j = i; chosen && j < r->start[t + 1]; j++)
                for (uint32_t a = (uint32_t)(j - r->start[t]); a != ROOT; a = r->parent[r->start[t] + a])
                    if (r->start[t] + a == i) dropped[j] = true;
        }
    p->plan->dropped = dropped;
}

/* Gives up some values of the plan's cut, in every record, and leaves out some records; sometimes single nodes, too. A random budget. */
static void suppress(problem *p, kn_rng *rng)
{
    const kn_vocabulary *v = p->vocabulary;
    kn_error             err = KN_ERROR_INIT;
    kn_records_plan     *plan = p->plan;
    plan->given_up = kn_alloc_array_zero(p->ctx, v->nodes, sizeof *plan->given_up);
    plan->left_out = kn_alloc_array_zero(p->ctx, (size_t)p->original->count + 1, sizeof *plan->left_out);
    assert_true(plan->given_up && plan->left_out);
    for (uint32_t u = 0; u < v->nodes; u++) {
        bool chosen = plan->image[u] == u && (u == 0 || !v->sensitive[v->cls[u]]) && kn_rng_below(rng, 4) == 0;
        for (uint32_t n = u; chosen && n < v->end[u]; n++)
            plan->given_up[n] = v->end[n] == n + 1 && plan->image[n] == u;
    }
    for (int64_t i = 0; i < p->original->count && kn_rng_below(rng, 2) == 0; i++)
        plan->left_out[i] = kn_rng_below(rng, 4) == 0;
    if (kn_rng_below(rng, 2)) drop_some(p, rng);
    kn_records_free(p->release);
    kn_free(p->original_of);
    assert_ok(kn_records_apply(&p->release, &p->original_of, p->ctx, p->original, plan, &err), err);
    p->spec.suppression = (kn_fraction){kn_rng_below(rng, 11) * 10, 100};
}

static void suppressed_forests(void **state)
{
    (void)state;
    kn_rng       rng;
    static trees o, t;
    int          proved = 0, refuted = 0, single = 0;
    undecided = 0;
    kn_rng_init(&rng, testing_seed(), 3);
    kn_context *ctx = testing_context(1);
    for (int i = 0; i < FORESTS; i++) {
        problem p;
        random_problem(&p, ctx, &rng, i % 4 ? 8 : RECORDS);
        suppress(&p, &rng);
        read_records(&o, p.original);
        read_records(&t, p.release);
        check_release(&p, &o, &t, p.original_of, p.release);
        if (o.count <= 8) check_release(&p, &o, &t, NULL, p.release);
        kn_records_verify_report *r = verify(&p, p.release, p.original_of);
        proved += r->assignment == KN_ASSIGNMENT_PROVED && (r->given_up > 0 || r->left_out > 0);
        single += r->assignment == KN_ASSIGNMENT_PROVED && r->given_up > 0 && p.plan->dropped;
        refuted += r->assignment == KN_ASSIGNMENT_REFUTED; /* beyond the budget */
        assert_int_equal(r->left_out, o.count - t.count);
        kn_records_verify_report_free(r);
        free_problem(&p);
    }
    print_message("suppressed within the budget %d, with single nodes %d, beyond it %d, undecided %d\n", proved, single,
                  refuted, undecided);
    assert_true(proved > FORESTS / 8 && refuted > FORESTS / 8 && single > FORESTS / 16 && undecided < FORESTS / 4);
    testing_context_free(ctx);
}

static void mutate(bool suppressing, uint64_t stream)
{
    kn_rng       rng;
    static trees o, t;
    int          tried[MUTATIONS] = {0}, rejected[MUTATIONS] = {0};
    kn_rng_init(&rng, testing_seed(), stream);
    kn_context *ctx = testing_context(1);
    for (int i = 0; i < MUTATED; i++) {
        problem p;
        random_problem(&p, ctx, &rng, 7);
        if (suppressing) suppress(&p, &rng);
        if (p.release->count == 0) p.spec.suppression.numerator = 0; /* nothing to spoil */
        read_records(&o, p.original);
        if (i % 2) p.spec.kmn.k = 1; /* otherwise k alone would reject most */
        if (i % 2) p.spec.model_count = 0;
        for (int number = 0; number < MUTATIONS; number++) {
            int64_t map[RECORDS + 2];
            read_records(&t, p.release);
            memcpy(map, p.original_of, (size_t)p.release->count * sizeof *map);
            mutant m = {&p, &rng, &t, map};
            if (!mutations[number].apply(&m)) continue;
            tried[number]++;
            check_mutant(&p, &o, &m, number, rejected);
        }
        free_problem(&p);
    }
    for (int i = 0; i < MUTATIONS; i++) {
        print_message("%-22s %4d tried, %4d rejected\n", mutations[i].name, tried[i], rejected[i]);
        assert_true(tried[i] > 5);
    }
    testing_context_free(ctx);
}

static void mutated_releases(void **state)
{
    (void)state;
    mutate(false, 2);
}

static void mutated_suppressed_releases(void **state)
{
    (void)state;
    mutate(true, 4);
}

/* ---- The paper's example ---- */

static const char hospital[] = "Flu;Lung Disease;Disease;*\nBronchitis;Lung Disease;Disease;*\n"
                               "Diarrhea;Stomach Disorder;Disease;*\nGastritis;Stomach Disorder;Disease;*\n"
                               "Neurological;Physiotherapy;Treatment;*\nOrthopedic;Physiotherapy;Treatment;*\n"
                               "Pain killer;Medicine;Treatment;*\nAntibiotics;Medicine;Treatment;*\n"
                               "Hospital1;General Hosp.;Medical Center;*\nHospital2;General Hosp.;Medical Center;*\n"
                               "Rea;Maternity Hosp.;Medical Center;*\nGaia;Maternity Hosp.;Medical Center;*\n";

static uint32_t value_of(const problem *p, const char *text)
{
    for (uint32_t n = 0; n < p->vocabulary->nodes; n++)
        if (kn_string_equal(kn_vocabulary_label(p->vocabulary, n), kn_string_of(text))) return n;
    fail_msg("no value");
    return 0;
}

/* "parent value; ..." is too much for a test: nodes as (parent, value). */
typedef struct line {
    int         record, parent;
    const char *value;
} line;

static void take_lines(const problem *p, trees *t, const line *lines, int count)
{
    t->count = 0;
    for (int i = 0; i < count; i++) {
        if (lines[i].record == t->count) t->tree[t->count++].size = 0;
        tree *r = &t->tree[t->count - 1];
        r->nodes[r->size++] =
            (kn_record_node){lines[i].parent < 0 ? ROOT : (uint32_t)lines[i].parent, value_of(p, lines[i].value)};
    }
    for (int i = 0; i < t->count; i++) canonical(&t->tree[i]);
}

static const line figure10[] = {
    {0, -1, "Hospital1"},  {0, 0, "Gastritis"},   {0, -1, "Hospital2"}, {0, 2, "Bronchitis"},  {0, 3, "Antibiotics"},
    {0, 2, "Flu"},         {0, 5, "Pain killer"}, {1, -1, "Hospital1"}, {1, 0, "Bronchitis"},  {1, 1, "Antibiotics"},
    {1, 0, "Gastritis"},   {1, -1, "Hospital2"},  {1, 4, "Bronchitis"}, {1, 5, "Antibiotics"}, {1, 4, "Flu"},
    {1, 7, "Pain killer"}, {2, -1, "Hospital1"},  {2, 0, "Flu"},        {2, 1, "Pain killer"}, {2, -1, "Hospital2"},
    {2, 3, "Flu"},         {2, 4, "Pain killer"}, {3, -1, "Hospital1"}, {3, 0, "Bronchitis"},  {3, 0, "Gastritis"},
    {3, 2, "Pain killer"},
};

static const line figure13[] = {
    {0, -1, "Hospital1"},   {0, 0, "Gastritis"},    {0, -1, "Hospital2"},   {0, 2, "Lung Disease"},
    {0, 3, "Medicine"},     {1, -1, "Hospital1"},   {1, 0, "Gastritis"},    {1, 0, "Lung Disease"},
    {1, 2, "Medicine"},     {1, -1, "Hospital2"},   {1, 4, "Lung Disease"}, {1, 5, "Medicine"},
    {2, -1, "Hospital1"},   {2, 0, "Lung Disease"}, {2, 1, "Medicine"},     {2, -1, "Hospital2"},
    {2, 3, "Lung Disease"}, {2, 4, "Medicine"},     {3, -1, "Hospital1"},   {3, 0, "Gastritis"},
    {3, 0, "Lung Disease"}, {3, 0, "Medicine"},
};

static void hospital_problem(problem *p, kn_context *ctx, kn_kmn kmn)
{
    static const char *const names[] = {"MedicalCenter", "Disease", "Treatment"};
    static const char *const values[] = {"Hospital1", "Flu", "Antibiotics"};
    kn_error                 err = KN_ERROR_INIT;
    kn_string                first[3];
    kn_vocabulary_leaves     leaves[3];
    const char              *path = testing_file("hospital.dgh", hospital, sizeof hospital - 1);
    *p = (problem){.ctx = ctx, .class_count = 3};
    for (int c = 0; c < 3; c++) {
        kn_hierarchy_spec h = KN_HIERARCHY_SPEC_INIT;
        h.path = path;
        p->classes[c] = (kn_spec_class){.name = names[c], .has_hierarchy = true, .hierarchy = h};
        first[c] = kn_string_of(values[c]);
        leaves[c] = (kn_vocabulary_leaves){1, &first[c]};
    }
    assert_ok(kn_vocabulary_make(&p->vocabulary, ctx, p->classes, 3, leaves, &err), err);
    trees t;
    take_lines(p, &t, figure10, sizeof figure10 / sizeof *figure10);
    p->original = make_records(ctx, p->vocabulary, &t);
    take_lines(p, &t, figure13, sizeof figure13 / sizeof *figure13);
    p->release = make_records(ctx, p->vocabulary, &t);
    set_spec(p, kmn, KN_SEMANTICS_PAIRS, false);
}

/* K1: {Hospital2, Gastritis} is in two records only. */
static void figure_13(void **state)
{
    (void)state;
    kn_context   *ctx = testing_context(1);
    problem       p;
    const int64_t map[] = {0, 1, 2, 3}, wrong[] = {1, 0, 2, 3};
    hospital_problem(&p, ctx, (kn_kmn){2, 2, 1});
    kn_records_verify_report *r = verify(&p, p.release, map);
    assert_true(r->ok);
    assert_int_equal(r->k, 2);
    assert_int_equal(r->violations, 0);
    assert_int_equal(r->nodes_original, 26);
    assert_int_equal(r->relations_original, 27);
    assert_int_equal(r->nodes, 22);
    assert_int_equal(r->relations, 20);
    kn_records_verify_report_free(r);
    r = verify(&p, p.release, NULL);
    assert_true(r->ok);
    kn_records_verify_report_free(r);
    r = verify(&p, p.release, wrong);
    assert_int_equal(r->assignment, KN_ASSIGNMENT_REFUTED);
    assert_false(r->ok);
    kn_records_verify_report_free(r);
    p.spec.kmn.k = 3;
    r = verify(&p, p.release, map);
    assert_false(r->ok);
    assert_int_equal(r->assignment, KN_ASSIGNMENT_PROVED);
    assert_int_equal(r->k, 2);
    assert_non_null(strstr(r->problems[1], "record 1: whoever knows nodes 2 and 3 finds 2 records, fewer than 3"));
    kn_records_verify_report_free(r);
    free_problem(&p);
    testing_context_free(ctx);
}

/* Figure 5: 1/3 (1/(4·8) + 2/(4·4·12)) with |C(u)| per class. */
static void rpd_of_figure_5(void **state)
{
    (void)state;
    static const line figure5[] = {{0, -1, "Hospital1"},   {0, 0, "Gastritis"},   {0, -1, "Hospital2"},
                                   {0, 2, "Lung Disease"}, {0, 3, "Antibiotics"}, {0, 3, "Pain killer"}};
    kn_context       *ctx = testing_context(1);
    problem           p;
    trees             t;
    hospital_problem(&p, ctx, (kn_kmn){1, 2, 1});
    take_lines(&p, &t, figure5, 6);
    kn_records_free(p.release);
    p.release = make_records(ctx, p.vocabulary, &t);
    take_lines(&p, &t, figure10, 7);
    kn_records_free(p.original);
    p.original = make_records(ctx, p.vocabulary, &t);
    kn_records_verify_report *r = verify(&p, p.release, NULL);
    assert_true(r->ok);
    assert_true(fabs(r->rpd - (1.0 / 32 + 2.0 / (4 * 2 * 2 * 12)) / 3) < 1e-15);
    assert_true(fabs(r->rpd_original - (1.0 / 32 + 2.0 / (4 * 8 * 12)) / 3) < 1e-15);
    kn_records_verify_report_free(r);
    free_problem(&p);
    testing_context_free(ctx);
}

/* ---- Options, limits, failures ---- */

static void map_files(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        kn_status   status;
        bool        ok;
    } cases[] = {
        {"kanon-rowmap 1\n1\n2\n3\n4\n", KN_OK, true},     {"kanon-rowmap 1\r\n1\r\n2\r\n3\r\n4", KN_OK, true},
        {"kanon-rowmap 1\n2\n1\n3\n4\n", KN_OK, false},    {"kanon-rowmap 1\n1\n2\n3\n", KN_OK, false},
        {"kanon-rowmap 1\n1\n2\n3\n3\n", KN_OK, false},    {"kanon-rowmap 1\n1\n2\n3\n5\n", KN_OK, false},
        {"kanon-rowmap 1\n1\n2\n3\n0\n", KN_INPUT, false}, {"kanon-rowmap 1\n1\nx\n3\n4\n", KN_INPUT, false},
        {"kanon-rowmap 2\n1\n2\n3\n4\n", KN_INPUT, false}, {"", KN_INPUT, false},
    };
    kn_context *ctx = testing_context(1);
    problem     p;
    hospital_problem(&p, ctx, (kn_kmn){2, 2, 1});
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kn_error                  err = KN_ERROR_INIT;
        kn_records_verify_report *r = NULL;
        kn_records_verify_options options = KN_RECORDS_VERIFY_OPTIONS_INIT;
        options.map_path = testing_file("map", cases[i].text, strlen(cases[i].text));
        kn_status st = verify_in_memory(&r, ctx, &p.spec, p.original, p.release, &options, &err);
        assert_int_equal(st, cases[i].status);
        assert_int_equal(st == KN_OK && r->ok, cases[i].ok);
        kn_records_verify_report_free(r);
    }
    free_problem(&p);
    testing_context_free(ctx);
}

static void limits(void **state)
{
    (void)state;
    kn_context               *ctx = testing_context(1);
    kn_error                  err = KN_ERROR_INIT;
    problem                   p;
    kn_records_verify_report *r = NULL;
    kn_records_verify_options options = KN_RECORDS_VERIFY_OPTIONS_INIT;
    hospital_problem(&p, ctx, (kn_kmn){2, 2, 1});
    options.work_limit = 10;
    assert_ok(verify_in_memory(&r, ctx, &p.spec, p.original, p.release, &options, &err), err);
    assert_false(r->decided);
    assert_false(r->ok);
    assert_int_equal(r->outcome, KN_OUTCOME_UNDECIDED);
    assert_int_equal(r->problem_count, 0);
    assert_true(r->open_count > 0);
    assert_int_equal(r->k, 0);
    kn_records_verify_report_free(r);
    options.size = 3;
    assert_int_equal(verify_in_memory(&r, ctx, &p.spec, p.original, p.release, &options, &err), KN_USAGE);
    p.spec.kmn.m = 0;
    assert_int_equal(verify_in_memory(&r, ctx, &p.spec, p.original, p.release, NULL, &err), KN_USAGE);
    p.spec.kmn.m = 1;
    p.models[0] = (kn_model){.kind = KN_MODEL_T_EQUAL, .attribute = "Disease", .bound = {1, 2}};
    p.spec.model_count = 1;
    p.classes[1].sensitive = true;
    assert_ok(verify_in_memory(&r, ctx, &p.spec, p.original, p.release, NULL, &err), err);
    assert_false(r->ok); /* a promise that cannot be checked is not kept */
    kn_records_verify_report_free(r);
    p.spec.class_count = 0;
    assert_int_equal(verify_in_memory(&r, ctx, &p.spec, p.original, p.release, NULL, &err), KN_USAGE);
    free_problem(&p);
    testing_context_free(ctx);
}

/* ---- What is known to be absent ---- */

static void check_absent(const problem *p, const trees *o, const trees *t, const int64_t *map, int *counts)
{
    kn_records               *release = make_records(p->ctx, p->vocabulary, t);
    kn_records_verify_report *r = verify(p, release, map);
    uint32_t                  image[256];
    naive                     lacking = {0}, n = attack_all(p, t);
    bool                      assigned = naive_assignment(p, o, t, map);
    int64_t                   rare = p->spec.strict_structure ? rare_positions(p, o, t, hidden_class(p)) : 0;
    if (naive_images(p, o, t, image)) n = attack_lacking(p, o, t, &lacking);
    assert_true(r->decided);
    assert_int_equal(r->k, lacking.k > 0 && (n.k == 0 || lacking.k < n.k) ? lacking.k : n.k);
    assert_int_equal(r->combinations, n.combinations);
    assert_int_equal(r->violations > 0, n.violations > 0 || lacking.violations > 0);
    bool uniform = n.uniform > 0 || lacking.uniform > 0;
    if (p->spec.model_count) {
        assert_true(fabs(r->largest_share - (n.share > lacking.share ? n.share : lacking.share)) < 1e-12);
        if (p->models[0].kind == KN_MODEL_DISTINCT)
            assert_true(fabs(r->models[0].reached * r->largest_share - 1) < 1e-12 || r->largest_share == 0);
        assert_int_equal(r->models[0].holds, !uniform);
        assert_int_equal(r->models[0].classes > 0, uniform);
    }
    assert_int_equal(r->ok, assigned && n.violations + lacking.violations == 0 && !uniform && rare == 0);
    assert_true(r->ok || r->problem_count > 0);
    counts[0] += r->ok;
    counts[1] += n.violations == 0 && lacking.violations > 0;
    counts[2] += p->spec.model_count > 0 && lacking.share > n.share;
    kn_records_verify_report_free(r);
    kn_records_free(release);
}

static void check_absences(int rounds, bool suppressing, uint64_t stream, int *counts)
{
    kn_rng       rng;
    static trees o, t;
    kn_context  *ctx = testing_context(1);
    kn_rng_init(&rng, testing_seed(), stream);
    for (int i = 0; i < rounds; i++) {
        problem p;
        random_absent_problem(&p, ctx, &rng, i % 8 ? 8 : 24, true);
        if (suppressing) suppress(&p, &rng);
        p.spec.kmn.m = 1 + (int)kn_rng_below(&rng, i % 8 ? 3 : 2);
        p.spec.kmn.n = (int)kn_rng_below(&rng, 3);
        if (i % 8 == 1) { /* three values on one path, and one that is absent */
            p.spec.kmn.m = 4;
            p.spec.kmn.n = 2;
            p.spec.semantics = KN_SEMANTICS_PATHS;
        }
        read_records(&o, p.original);
        read_records(&t, p.release);
        check_absent(&p, &o, &t, p.original_of, counts);
        for (int tries = 0; tries < 2; tries++) {
            int64_t map[RECORDS + 2];
            read_records(&t, p.release);
            memcpy(map, p.original_of, (size_t)p.release->count * sizeof *map);
            mutant m = {&p, &rng, &t, map};
            if (mutations[kn_rng_below(&rng, MUTATIONS)].apply(&m)) check_absent(&p, &o, &t, map, counts);
        }
        free_problem(&p);
    }
    print_message("ok %d, only absences found: too few %d, more alike %d\n", counts[0], counts[1], counts[2]);
    testing_context_free(ctx);
}

static void absent_values(void **state)
{
    (void)state;
    int counts[3] = {0};
    check_absences(testing_rounds(500), false, 3, counts);
    assert_true(counts[0] > testing_least(50) &&
                counts[1] >= testing_least(6)); /* the third kind is rare: every tenth seed has none */
}

/* ... where values of these classes, even all of them, are given up. */
static void absent_and_suppressed(void **state)
{
    (void)state;
    int counts[3] = {0};
    check_absences(testing_rounds(300), true, 5, counts);
    assert_true(counts[0] > testing_least(15) && counts[1] >= testing_least(1));
}

/* Three records lack x, three y, one both; and, of those who have q, all. */
static void absent_together(void **state)
{
    (void)state;
    static const char         baskets[] = "q\nq,x\nq,x\nq,y\nq,y\n";
    kn_context               *ctx = testing_context(1);
    kn_error                  err = KN_ERROR_INIT;
    kn_records_verify_options options = KN_RECORDS_VERIFY_OPTIONS_INIT;
    problem                   p = {.ctx = ctx, .class_count = 1};
    p.classes[0] = (kn_spec_class){.name = "Item", .negative = true, .hierarchy = KN_HIERARCHY_SPEC_INIT};
    options.original = testing_file("original.txt", baskets, sizeof baskets - 1);
    options.release = testing_file("release.txt", baskets, sizeof baskets - 1);
    for (int m = 1; m < 4; m++) {
        kn_records_verify_report *r = NULL;
        set_spec(&p, (kn_kmn){2, m, 0}, KN_SEMANTICS_PAIRS, false);
        assert_ok(kn_verify_records(&r, ctx, &p.spec, &options, &err), err);
        assert_int_equal(r->k, m == 1 ? 2 : 1);
        assert_int_equal(r->ok, m == 1);
        kn_records_verify_report_free(r);
    }
    testing_context_free(ctx);
}

/* One record of Figure 13 lacks Gastritis. Lung Disease stands for two values: who knows one of them to be absent can rule
 * out nobody, who knows both has no more to know. */
static void absent_in_figure_13(void **state)
{
    (void)state;
    kn_context   *ctx = testing_context(1);
    problem       p;
    const int64_t map[] = {0, 1, 2, 3};
    hospital_problem(&p, ctx, (kn_kmn){2, 2, 1});
    kn_records_verify_report *r = verify(&p, p.release, map);
    assert_true(r->ok && !r->absent);
    kn_records_verify_report_free(r);
    p.classes[1].negative = true;
    r = verify(&p, p.release, map);
    assert_true(!r->ok && r->absent && r->decided);
    assert_int_equal(r->k, 1);
    bool told = false;
    for (int i = 0; i < r->problem_count; i++)
        told |= strstr(r->problems[i], "record 3: whoever knows that 1 of the values shown is absent finds 1 record, "
                                       "fewer than 2") != NULL;
    assert_true(told);
    kn_records_verify_report_free(r);
    p.classes[1].negative = false;
    p.classes[2].negative = true; /* Medicine: everybody has some, for two values */
    r = verify(&p, p.release, map);
    assert_true(r->ok && r->absent);
    kn_records_verify_report_free(r);
    kn_records_verify_options options = KN_RECORDS_VERIFY_OPTIONS_INIT;
    kn_error                  err = KN_ERROR_INIT;
    options.work_limit = 50; /* enough for what is there, not for what is absent */
    options.map = map;
    options.map_count = 4;
    assert_ok(verify_in_memory(&r, ctx, &p.spec, p.original, p.release, &options, &err), err);
    assert_false(r->decided);
    assert_false(r->ok);
    assert_int_equal(r->k, 0);
    kn_records_verify_report_free(r);
    free_problem(&p);
    testing_context_free(ctx);
}

/* Read from files: what stands there is what counts. */
static void files(void **state)
{
    (void)state;
    static const char original[] = "a,b,c\na,b\nb,c\na,c\nd,a\nd,b\n", release[] = "AB\nAB,c\nAB,c\nAB,c\nAB,d\nAB,d\n",
                      wrong[] = "AB\nAB,c\nAB,c\nAB,c\nAB,d\nAB\n", dgh[] = "a;AB;*\nb;AB;*\nc;CD;*\nd;CD;*\n";
    kn_context               *ctx = testing_context(1);
    kn_error                  err = KN_ERROR_INIT;
    kn_records_verify_report *r = NULL;
    kn_records_verify_options options = KN_RECORDS_VERIFY_OPTIONS_INIT;
    kn_hierarchy_spec         h = KN_HIERARCHY_SPEC_INIT;
    h.path = testing_file("basket.dgh", dgh, sizeof dgh - 1);
    problem p = {.ctx = ctx, .class_count = 1};
    p.classes[0] = (kn_spec_class){.name = "Item", .has_hierarchy = true, .hierarchy = h};
    set_spec(&p, (kn_kmn){2, 2, 0}, KN_SEMANTICS_PAIRS, false);
    assert_int_equal(kn_verify_records(&r, ctx, &p.spec, NULL, &err), KN_USAGE);
    options.original = testing_file("baskets.txt", original, sizeof original - 1);
    options.release = testing_file("released.txt", release, sizeof release - 1);
    assert_ok(kn_verify_records(&r, ctx, &p.spec, &options, &err), err);
    assert_true(r->ok);
    assert_int_equal(r->k, 2);
    assert_int_equal(strlen(r->sha256), 64);
    kn_records_verify_report_free(r);
    p.spec.kmn.k = 3;
    assert_ok(kn_verify_records(&r, ctx, &p.spec, &options, &err), err);
    assert_false(r->ok);
    assert_int_equal(r->violations, 2); /* d, and d with AB */
    kn_records_verify_report_free(r);
    p.spec.kmn.k = 1;
    options.release = testing_file("wrong.txt", wrong, sizeof wrong - 1);
    assert_ok(kn_verify_records(&r, ctx, &p.spec, &options, &err), err);
    assert_int_equal(r->assignment, KN_ASSIGNMENT_REFUTED);
    kn_records_verify_report_free(r);
    options.release = "/nonexistent/release.txt";
    assert_int_not_equal(kn_verify_records(&r, ctx, &p.spec, &options, &err), KN_OK);
    assert_null(r);
    testing_context_free(ctx);
}

static void compare_reports(const kn_records_verify_report *a, const kn_records_verify_report *b)
{
    assert_int_equal(a->ok, b->ok);
    assert_int_equal(a->k, b->k);
    assert_int_equal(a->combinations, b->combinations);
    assert_int_equal(a->violations, b->violations);
    assert_int_equal(a->problem_count, b->problem_count);
    for (int i = 0; i < a->problem_count; i++) assert_string_equal(a->problems[i], b->problems[i]);
    assert_true(a->rpd == b->rpd || (isnan(a->rpd) && isnan(b->rpd)));
}

static void threads(void **state)
{
    (void)state;
    uint64_t seed = testing_seed();
    for (int i = 0; i < 20; i++) {
        kn_records_verify_report *reports[2];
        kn_context               *contexts[2];
        problem                   problems[2];
        for (int n = 0; n < 2; n++) {
            kn_rng rng;
            kn_rng_init(&rng, seed, 100 + (uint64_t)i);
            contexts[n] = testing_context(n == 0 ? 1 : 5);
            random_absent_problem(&problems[n], contexts[n], &rng, RECORDS, i % 4 < 3);
            problems[n].spec.kmn.k = 4;
            reports[n] = verify(&problems[n], problems[n].release, i % 2 ? problems[n].original_of : NULL);
        }
        compare_reports(reports[0], reports[1]);
        for (int n = 0; n < 2; n++) {
            kn_records_verify_report_free(reports[n]);
            free_problem(&problems[n]);
            testing_context_free(contexts[n]);
        }
    }
}

static void memory_failures(void **state)
{
    (void)state;
    kn_context *own = testing_context(1);
    problem     p;
    hospital_problem(&p, own, (kn_kmn){3, 2, 1});
    p.classes[2].sensitive = true;
    p.classes[1].negative = true;
    p.models[0] = (kn_model){.kind = KN_MODEL_DISTINCT, .attribute = "Treatment", .l = {2, 1}};
    p.spec.model_count = 1;
    p.spec.strict_structure = true;
    const int64_t map[] = {0, 1, 2, 3};
    for (int way = 0; way < 2; way++) {
        kn_status st = KN_MEMORY;
        int64_t   at = 0;
        for (; st != KN_OK; at += testing_step()) {
            testing_allocator         memory = {.refuse_at = -1};
            kn_error                  err = KN_ERROR_INIT;
            kn_context               *ctx = NULL;
            kn_records_verify_report *r = NULL;
            kn_records_verify_options options = KN_RECORDS_VERIFY_OPTIONS_INIT;
            assert_ok(testing_refusing_context(&ctx, &memory, 1, &err), err);
            memory.refuse_at = memory.requests + at;
            options.map = way ? map : NULL;
            options.map_count = 4;
            st = verify_in_memory(&r, ctx, &p.spec, p.original, p.release, &options, &err);
            assert_true(st == KN_OK || st == KN_MEMORY);
            assert_true(st == KN_OK || !r);
            /* Where only a message found no room the report is still not ok. */
            assert_true(st != KN_OK || !r->ok);
            kn_records_verify_report_free(r);
            kn_context_free(ctx);
            assert_int_equal(memory.live, 0);
            if (st == KN_OK && memory.requests > memory.refuse_at && memory.refuse_at >= 0) st = KN_MEMORY;
        }
        assert_true(at > 50);
    }
    free_problem(&p);
    testing_context_free(own);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        testing_alone(random_forests),     testing_alone(suppressed_forests),
        testing_alone(mutated_releases),   testing_alone(mutated_suppressed_releases),
        testing_alone(figure_13),          testing_alone(rpd_of_figure_5),
        testing_alone(map_files),          testing_alone(limits),
        testing_alone(absent_values),      testing_alone(absent_and_suppressed),
        cmocka_unit_test(absent_together), testing_alone(absent_in_figure_13),
        cmocka_unit_test(files),           cmocka_unit_test(threads),
        testing_alone(memory_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
