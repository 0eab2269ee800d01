/* test_advise.c: which method is chosen: the rule against a naive twin over made-up candidates; on random tables against the
 * methods run one by one; method: auto writes the bytes of the method it chose; refusals, limits, stopping, failing memory.
 * SPDX-License-Identifier: Apache-2.0 */
#include "folder_testing.h"

#include <fcntl.h>
#include <kanon/anonymize.h>
#include <kanon/generate.h>
#include <kanon/verify.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kn_context.h"
#include "kn_error.h"
#include "kn_job_advise.h"
#include "kn_rng.h"

static int set_up(void **state)
{
    (void)state;
    folder_set_up();
    return 0;
}

/* ---- The rule ---- */

typedef struct made_up {
    kn_advice_candidate answers[KN_METHODS]; /* by method                                   */
    kn_status           failures[KN_METHODS];
    int                 tried[KN_METHODS];
    kn_context         *ctx;
    bool                cancels; /* the context is cancelled instead of answering */
} made_up;

static kn_status answer(void *run, const kn_spec *spec, kn_advice_candidate *out, kn_arena *arena, kn_error *err)
{
    made_up *m = run;
    (void)arena;
    m->tried[spec->method]++;
    assert_true(spec->method_given && !spec->method_auto);
    if (m->cancels) kn_context_cancel(m->ctx);
    if (m->cancels) return kn_fail_cancelled(err);
    if (m->failures[spec->method] != KN_OK)
        return kn_fail(err, m->failures[spec->method], "%s says no", kn_method_name(spec->method));
    const kn_advice_candidate *a = &m->answers[spec->method];
    out->state = a->state;
    out->loss = a->loss;
    out->suppressed = a->suppressed;
    out->reason = a->state == KN_ADVICE_NONE ? "there is none" : (a->state == KN_ADVICE_LATE ? "late" : NULL);
    return KN_OK;
}

static kn_advisor advisor_of(kn_context *ctx, const kn_spec *spec, made_up *m)
{
    m->ctx = ctx;
    return (kn_advisor){.ctx = ctx, .spec = spec, .count = 10, .attempt = answer, .run = m};
}

/* Written from the header: of those with a release, kept before stopped, then loss, suppressed rows, order. */
static int naive_choice(const made_up *m)
{
    int best = -1;
    for (int pass = 0; pass < 2 && best < 0; pass++)
        for (int i = 0; i < KN_METHODS; i++) {
            const kn_advice_candidate *a = &m->answers[i], *b = best < 0 ? NULL : &m->answers[best];
            if (!m->tried[i] || m->failures[i] != KN_OK) continue;
            if (a->state != (pass == 0 ? KN_ADVICE_KEPT : KN_ADVICE_STOPPED)) continue;
            bool wins = !b || a->loss < b->loss || (isnan(b->loss) && !isnan(a->loss)) ||
                        ((a->loss == b->loss || (isnan(a->loss) && isnan(b->loss))) && a->suppressed < b->suppressed);
            if (wins) best = i;
        }
    return best;
}

static void random_answers(made_up *m, kn_rng *rng)
{
    static const kn_advice_state states[] = {KN_ADVICE_KEPT, KN_ADVICE_KEPT, KN_ADVICE_STOPPED, KN_ADVICE_LATE,
                                             KN_ADVICE_NONE};
    *m = (made_up){.ctx = NULL};
    for (int i = 0; i < KN_METHODS; i++) {
        m->answers[i].state = states[kn_rng_below(rng, 5)];
        m->answers[i].loss = kn_rng_below(rng, 8) == 0 ? NAN : (double)kn_rng_below(rng, 3) / 2;
        m->answers[i].suppressed = (int64_t)kn_rng_below(rng, 3);
        if (kn_rng_below(rng, 5) == 0) m->failures[i] = KN_USAGE;
    }
}

static void test_rule(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(1);
    kn_error    err = KN_ERROR_INIT;
    kn_spec    *spec = NULL;
    kn_rng      rng;
    int         found = 0, refused = 0;
    kn_rng_init(&rng, testing_seed(), 0);
    assert_ok(kn_spec_create(&spec, ctx, &err), err);
    for (int round = 0; round < testing_rounds(3000); round++) {
        made_up    m;
        kn_advice  advice;
        kn_arena   arena;
        kn_advisor advisor = advisor_of(ctx, spec, &m);
        random_answers(&m, &rng);
        kn_arena_init(&arena, ctx);
        kn_status st = kn_advice_make(&advice, &advisor, &arena, &err);
        int       best = naive_choice(&m);
        if (st == KN_OK && best >= 0) {
            found++;
            assert_true(advice.found);
            assert_int_equal(advice.candidates[advice.chosen].method, best);
            assert_true(advice.sentence_count > 0);
            assert_int_equal(kn_advice_spec(&advice, spec).method, best);
        } else if (st == KN_OK) {
            assert_false(advice.found);
            assert_non_null(advice.reason);
        } else { /* all of them refused, and in their order the first says why */
            refused++;
            assert_int_equal(best, -1);
            assert_int_equal(st, KN_USAGE);
            assert_string_equal(err.message, "mondrian says no");
        }
        for (int i = 0; i < KN_METHODS; i++) assert_true(m.tried[i] <= 1);
        /* heuristic only where optimal has not gone through the lattice. */
        bool through =
            m.failures[KN_METHOD_OPTIMAL] == KN_OK && (m.answers[KN_METHOD_OPTIMAL].state == KN_ADVICE_KEPT ||
                                                       m.answers[KN_METHOD_OPTIMAL].state == KN_ADVICE_NONE);
        assert_int_equal(m.tried[KN_METHOD_HEURISTIC], !through);
        kn_arena_free(&arena);
    }
    assert_true(found > testing_least(1000));
    (void)refused;
    kn_spec_free(spec);
    testing_context_free(ctx);
}

static void test_failures(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(1);
    kn_error    err = KN_ERROR_INIT;
    kn_spec    *spec = NULL;
    made_up     m = {.cancels = true};
    kn_advisor  advisor = advisor_of(ctx, spec, &m);
    kn_advice   advice;
    kn_arena    arena;
    kn_arena_init(&arena, ctx);
    assert_ok(kn_spec_create(&spec, ctx, &err), err);
    advisor.spec = spec;
    /* Somebody asked to stop: that is no refusal of a candidate. */
    assert_int_equal(kn_advice_make(&advice, &advisor, &arena, &err), KN_CANCELLED);
    assert_int_equal(m.tried[KN_METHOD_OPTIMAL], 0);
    kn_context_reset_cancel(ctx);
    /* All refuse: the first's word. */
    memset(&m, 0, sizeof m);
    for (int i = 0; i < KN_METHODS; i++) m.failures[i] = KN_USAGE;
    assert_int_equal(kn_advice_make(&advice, &advisor, &arena, &err), KN_USAGE);
    assert_string_equal(err.message, "mondrian says no");
    /* A failure of the system or a wrong file is one of the whole; without a memory limit, so is memory. */
    static const kn_status whole[] = {KN_INPUT, KN_IO, KN_INTERNAL, KN_MEMORY};
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++) {
        memset(&m, 0, sizeof m);
        m.failures[KN_METHOD_MONDRIAN] = whole[i];
        assert_int_equal(kn_advice_make(&advice, &advisor, &arena, &err), whole[i]);
        assert_string_equal(err.message, "mondrian says no");
    }
    kn_arena_free(&arena);
    kn_spec_free(spec);
    testing_context_free(ctx);
}

static void test_memory_limit(void **state)
{
    (void)state;
    kn_context_options options = KN_CONTEXT_OPTIONS_INIT;
    kn_context        *ctx = NULL;
    kn_error           err = KN_ERROR_INIT;
    kn_spec           *spec = NULL;
    made_up            m = {.ctx = NULL};
    kn_advice          advice;
    kn_arena           arena;
    options.memory_limit = 1 << 20;
    assert_ok(kn_context_create(&ctx, &options, &err), err);
    assert_ok(kn_spec_create(&spec, ctx, &err), err);
    kn_arena_init(&arena, ctx);
    kn_advisor advisor = advisor_of(ctx, spec, &m);
    for (int i = 0; i < KN_METHODS; i++) m.answers[i].loss = 1;
    m.answers[KN_METHOD_MONDRIAN_BEST].loss = 0;
    m.failures[KN_METHOD_MONDRIAN_BEST] = KN_MEMORY; /* this one needs too much; the others do not */
    assert_ok(kn_advice_make(&advice, &advisor, &arena, &err), err);
    assert_int_equal(advice.candidates[advice.chosen].method, KN_METHOD_OPTIMAL);
    kn_arena_free(&arena);
    kn_spec_free(spec);
    testing_context_free(ctx);
}

/* Which methods are tried for what. */
static void test_fit(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(1);
    kn_error    err = KN_ERROR_INIT;
    kn_spec    *spec = NULL;
    made_up     m = {.ctx = NULL};
    kn_advisor  advisor = advisor_of(ctx, NULL, &m);
    assert_ok(kn_spec_create(&spec, ctx, &err), err);
    advisor.spec = spec;
#define LEFT_OUT(method) (kn_advice_left_out(&advisor, method, KN_ADVICE_LEFT_OUT) != NULL)
    assert_false(LEFT_OUT(KN_METHOD_OPTIMAL) || LEFT_OUT(KN_METHOD_MONDRIAN_BEST) || LEFT_OUT(KN_METHOD_KMSD));
    assert_true(LEFT_OUT(KN_METHOD_KMSD_AG) && LEFT_OUT(KN_METHOD_MONDRIAN_WORKLOAD) && LEFT_OUT(KN_METHOD_INCOGNITO));
    assert_ok(kn_spec_set(spec, "dependencies", "[a -> b]", "test", &err), err);
    assert_ok(kn_spec_set(spec, "workload", "queries.sql", "test", &err), err);
    assert_false(LEFT_OUT(KN_METHOD_KMSD_AG) || LEFT_OUT(KN_METHOD_MONDRIAN_WORKLOAD));
    assert_ok(kn_spec_set(spec, "privacy", "[{k-map: {k: 5}}]", "test", &err), err);
    assert_true(LEFT_OUT(KN_METHOD_KMSD_AG) && LEFT_OUT(KN_METHOD_MONDRIAN) && !LEFT_OUT(KN_METHOD_OPTIMAL));
    assert_ok(kn_spec_set(spec, "privacy", "[{k: 5}]", "test", &err), err);
    assert_true(LEFT_OUT(KN_METHOD_DMIRACLE) && !LEFT_OUT(KN_METHOD_MIRACLE_X) && !LEFT_OUT(KN_METHOD_BITMAP));
    assert_ok(kn_spec_set(spec, "privacy", "[{k: 5}, {l-diversity: {kind: distinct, l: 2}}]", "test", &err), err);
    assert_true(!LEFT_OUT(KN_METHOD_DMIRACLE) && LEFT_OUT(KN_METHOD_MIRACLE_X));
    advisor.cuts = KN_CUTS_MANY - 1;
    assert_false(LEFT_OUT(KN_METHOD_ACS) || LEFT_OUT(KN_METHOD_GCS));
    advisor.cuts = KN_CUTS_MANY;
    assert_true(LEFT_OUT(KN_METHOD_ACS) && !LEFT_OUT(KN_METHOD_GCS) && !LEFT_OUT(KN_METHOD_OCS));
#undef LEFT_OUT
    kn_spec_free(spec);
    testing_context_free(ctx);
}

static void test_spec(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(1);
    kn_error    err = KN_ERROR_INIT;
    kn_spec    *spec = NULL;
    assert_ok(kn_spec_create(&spec, ctx, &err), err);
    assert_ok(kn_spec_set(spec, "method", "gcs", "test", &err), err);
    assert_int_equal(kn_spec_shape(spec), KN_SHAPE_RECORDS);
    assert_ok(kn_spec_set(spec, "method", "auto", "test", &err), err);
    assert_true(spec->method_auto && !spec->method_given);
    assert_int_equal(kn_spec_shape(spec), KN_SHAPE_TABLE);
    assert_ok(kn_spec_set_kmn(spec, (kn_kmn){3, 2, 1}, &err), err);
    assert_int_equal(kn_spec_shape(spec), KN_SHAPE_RECORDS);
    assert_ok(kn_spec_set(spec, "method", "kmsd", "test", &err), err);
    assert_true(!spec->method_auto && spec->method_given);
    kn_spec_free(spec);
    testing_context_free(ctx);
}

/* ---- Random tables ---- */

static void random_table(kn_rng *rng, const char *name)
{
    char   text[8000];
    size_t used = (size_t)snprintf(text, sizeof text, "age,zip,sex,disease,who\n");
    int    rows = 8 + (int)kn_rng_below(rng, 60);
    for (int i = 0; i < rows; i++)
        used +=
            (size_t)snprintf(text + used, sizeof text - used, "%d,4%d%d,%c,d%d,p%d\n", 20 + (int)kn_rng_below(rng, 12),
                             (int)kn_rng_below(rng, 3), (int)kn_rng_below(rng, 4), kn_rng_below(rng, 2) ? 'F' : 'M',
                             (int)kn_rng_below(rng, 4), (int)kn_rng_below(rng, (uint64_t)rows));
    put(name, text);
}

static void random_release(kn_rng *rng, const char *name)
{
    static const char *const metrics[] = {"lm", "ncp", "prec", "entropy", "dm", "c_avg"};
    static const char *const more[] = {"", ", {l-diversity: {kind: distinct, l: 2}}",
                                       ", {t-closeness: {t: 0.4, distance: equal}}", ", {max-risk: {risk: 0.3}}",
                                       ", {average-risk: {risk: 0.2}}"};
    static const char *const suppressed[] = {"star", "drop", "keep-sensitive"};
    char                     text[2000];
    snprintf(
        text, sizeof text,
        "kanon: 1\ninput: t.csv\noutput: out.csv\nattributes:\n"
        "  age: {role: quasi%s}\n  zip: {role: quasi, type: text, hierarchy: {mask: right}}\n  sex: {role: quasi}\n"
        "  disease: {role: sensitive}\nprivacy: [{k: %d}%s]\nsuppression: %s\nutility: %s\nmethod: auto\n"
        "suppressed: %s\n%s%s",
        kn_rng_below(rng, 2) ? ", hierarchy: {ranges: [3, 6]}" : "", 2 + (int)kn_rng_below(rng, 4),
        more[kn_rng_below(rng, 5)], kn_rng_below(rng, 2) ? "0" : "10%", metrics[kn_rng_below(rng, 6)],
        suppressed[kn_rng_below(rng, 3)], kn_rng_below(rng, 3) == 0 ? "entity: {key: who}\n" : "",
        kn_rng_below(rng, 4) == 0 ? "dependencies: [\"age -> sex\"]\noptions: {allow-broken: true}\n" : "");
    put(name, text);
}

static kn_spec *read_spec(kn_context *ctx, const char *name)
{
    kn_error err = KN_ERROR_INIT;
    kn_spec *spec = NULL;
    assert_ok(kn_spec_read(&spec, ctx, path_of(name), &err), err);
    assert_ok(kn_spec_check(spec, &err), err);
    return spec;
}

/* One method by itself, through the public API; NULL: it refuses. */
static kn_release_result *by_hand(kn_context *ctx, kn_method method, bool dry_run, const char *output)
{
    kn_error             err = KN_ERROR_INIT;
    kn_spec             *spec = NULL;
    kn_release_result   *result = NULL;
    kn_anonymize_options options = KN_ANONYMIZE_OPTIONS_INIT;
    options.dry_run = dry_run;
    assert_ok(kn_spec_read(&spec, ctx, path_of("r.yaml"), &err), err);
    assert_ok(kn_spec_set(spec, "method", kn_method_name(method), "test", &err), err);
    if (output) assert_ok(kn_spec_set(spec, "output", path_of(output), "test", &err), err);
    assert_ok(kn_spec_set(spec, "force", "true", "test", &err), err);
    kn_metric utility = spec->utility; /* by which candidates are compared, also those that cannot search by it */
    if (kn_method_family(method) != KN_FAMILY_FULL_DOMAIN)
        assert_ok(kn_spec_set(spec, "utility", "lm", "test", &err), err);
    kn_status st = kn_spec_check(spec, &err);
    assert_ok(kn_spec_set(spec, "utility", kn_metric_name(utility), "test", &err), err);
    if (st == KN_OK) (void)!kn_anonymize(&result, ctx, spec, &options, &err);
    kn_spec_free(spec);
    return result;
}

static double loss_of(const kn_release_result *r)
{
    return r->utility == KN_METRIC_PREC ? 1 - r->metrics[KN_METRIC_PREC] : r->metrics[r->utility];
}

/* Every candidate has the figures of its method run by hand; those that were left out for optimal's sake lose no less; the
 * best of all is chosen. */
static void check_table(kn_context *ctx, const kn_advice *advice)
{
    int    best = -1;
    double least = 0, optimal = NAN;
    for (int i = 0; i < advice->candidate_count; i++) {
        const kn_advice_candidate *c = &advice->candidates[i];
        kn_release_result         *r = by_hand(ctx, c->method, true, NULL);
        bool                       full_domain = kn_method_family(c->method) == KN_FAMILY_FULL_DOMAIN;
        if (c->state == KN_ADVICE_LEFT_OUT) {
            if (r && r->head.found && full_domain) assert_true(loss_of(r) >= optimal);
            kn_release_result_free(r);
            continue;
        }
        assert_non_null(r);
        assert_int_equal(c->state, r->head.found ? KN_ADVICE_KEPT : KN_ADVICE_NONE);
        if (r->head.found) {
            double loss = loss_of(r);
            if (c->method == KN_METHOD_OPTIMAL) optimal = loss;
            assert_true(c->loss == loss || (isnan(c->loss) && isnan(loss)));
            assert_int_equal(c->suppressed, r->head.suppressed);
            assert_int_equal(c->k, r->head.k);
            assert_int_equal(c->classes, r->head.classes);
            if (best < 0 || loss < least || (loss == least && c->suppressed < advice->candidates[best].suppressed)) {
                best = i;
                least = loss;
            }
        }
        kn_release_result_free(r);
    }
    assert_int_equal(advice->chosen, best);
}

/* method: auto: the chosen method's bytes, and a release that verifies. */
static void check_release(kn_context *ctx, const kn_spec *spec, const kn_advice *advice)
{
    kn_error           err = KN_ERROR_INIT;
    kn_release_result *result = NULL;
    assert_ok(kn_anonymize(&result, ctx, spec, NULL, &err), err);
    assert_int_equal(result->head.found, advice->found);
    assert_non_null(result->head.advice);
    assert_int_equal(result->head.advice->chosen, advice->chosen);
    if (result->head.found) {
        assert_int_equal(result->head.method, advice->candidates[advice->chosen].method);
        kn_release_result *hand = by_hand(ctx, result->head.method, false, "hand.csv");
        char              *a = get("out.csv"), *b = get("hand.csv"), *certificate = get("out.csv.certificate.json"),
             *private = get("out.csv.private.json");
        assert_string_equal(a, b);
        assert_non_null(strstr(certificate, "\"method\": \"auto\"")); /* what it chose is the owner's to know */
        assert_non_null(strstr(private, "\"by\": \"auto\""));
        free(private);
        assert_string_equal(result->head.sha256, hand->head.sha256);
        free(a);
        free(b);
        free(certificate);
        kn_release_result_free(hand);
    }
    kn_release_result_free(result);
}

static void test_tables(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(2);
    kn_error    err = KN_ERROR_INIT;
    kn_rng      rng;
    kn_rng_init(&rng, testing_seed(), 1);
    for (int round = 0; round < (TESTING_SANITIZED ? 10 : 60); round++) {
        kn_advice *advice = NULL;
        random_table(&rng, "t.csv");
        random_release(&rng, "r.yaml");
        kn_spec *spec = read_spec(ctx, "r.yaml");
        if (kn_advise(&advice, ctx, spec, &err) == KN_OK) {
            check_table(ctx, advice);
            check_release(ctx, spec, advice);
        } else { /* a column with one value, by chance */
            assert_int_equal(err.status, KN_INPUT);
        }
        kn_advice_free(advice);
        kn_spec_free(spec);
    }
    testing_context_free(ctx);
}

/* What cannot be kept is refused by all, and nothing is written. */
static void test_no_release(void **state)
{
    (void)state;
    kn_context        *ctx = testing_context(1);
    kn_error           err = KN_ERROR_INIT;
    kn_release_result *result = NULL;
    kn_advice         *advice = NULL;
    put("t.csv", "age,disease\n20,a\n21,b\n22,a\n");
    put("none.yaml", "kanon: 1\ninput: t.csv\noutput: none.csv\nattributes: {age: {role: quasi}, disease: {role: "
                     "sensitive}}\nprivacy: [{k: 5}]\nmethod: auto\n");
    kn_spec *spec = read_spec(ctx, "none.yaml");
    assert_ok(kn_advise(&advice, ctx, spec, &err), err);
    assert_false(advice->found);
    assert_int_equal(advice->chosen, -1);
    assert_non_null(advice->reason);
    assert_ok(kn_anonymize(&result, ctx, spec, NULL, &err), err);
    assert_false(result->head.found);
    assert_string_equal(result->head.reason, advice->reason);
    assert_int_equal(result->head.k_before, 1);
    assert_int_equal(access(path_of("none.csv"), F_OK), -1);
    kn_release_result_free(result);
    kn_advice_free(advice);
    kn_spec_free(spec);
    testing_context_free(ctx);
}

/* ---- Databases and trees ---- */

static const char tree_records[] =
    "<records>\n"
    "<record><A v=\"a1\"><B v=\"b1\"/></A></record>\n<record><A v=\"a1\"><B v=\"b2\"/></A></record>\n"
    "<record><A v=\"a2\"><B v=\"b1\"/></A></record>\n<record><A v=\"a2\"><B v=\"b2\"/></A></record>\n"
    "<record><A v=\"a1\"><B v=\"b1\"/></A></record>\n<record><A v=\"a2\"><B v=\"b1\"/></A></record>\n"
    "</records>\n";
static const char tree_release[] = "kanon: 1\ninput: t.xml\noutput: out.xml\nclasses: {A: {value: \"@v\"}, B: {value: "
                                   "\"@v\"}}\nprivacy: [{k-mn: {k: 2, m: 2, n: 1}}]\nmethod: auto\n";

static void test_records(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(2);
    kn_error    err = KN_ERROR_INIT;
    put("t.xml", tree_records);
    put("t.yaml", tree_release);
    for (int with_support = 0; with_support < 2; with_support++) {
        kn_records_result *result = NULL, *hand = NULL;
        kn_spec           *spec = read_spec(ctx, "t.yaml");
        if (with_support) assert_ok(kn_spec_set(spec, "support", "0.2", "test", &err), err);
        assert_ok(kn_anonymize_records(&result, ctx, spec, NULL, &err), err);
        assert_true(result->head.found);
        assert_string_equal(result->head.advice->metric, with_support ? "dml2" : "rpd");
        double least = INFINITY;
        int    tried = 0;
        for (int i = 0; i < result->head.advice->candidate_count; i++) {
            const kn_advice_candidate *c = &result->head.advice->candidates[i];
            kn_spec                    own = kn_advice_spec(result->head.advice, spec);
            own.method = c->method;
            kn_anonymize_options options = KN_ANONYMIZE_OPTIONS_INIT;
            options.dry_run = true;
            assert_int_equal(c->state, KN_ADVICE_KEPT);
            tried++;
            assert_ok(kn_anonymize_records(&hand, ctx, &own, &options, &err), err);
            double loss = with_support ? hand->dml2 : hand->rpd;
            assert_true(c->loss == loss);
            if (loss < least) least = loss;
            kn_records_result_free(hand);
        }
        assert_int_equal(tried, 3); /* acs too: there are few cuts */
        assert_true(result->head.advice->candidates[result->head.advice->chosen].loss == least);
        char *a = get("out.xml"), *certificate = get("out.xml.certificate.json"),
             *private = get("out.xml.private.json");
        assert_non_null(strstr(certificate, "\"method\": \"auto\""));
        assert_non_null(strstr(private, "\"by\": \"auto\""));
        free(private);
        assert_ok(kn_spec_set(spec, "method", kn_method_name(result->head.method), "test", &err), err);
        assert_ok(kn_spec_set(spec, "output", path_of("hand.xml"), "test", &err), err);
        assert_ok(kn_spec_check(spec, &err), err);
        assert_ok(kn_anonymize_records(&hand, ctx, spec, NULL, &err), err);
        char *b = get("hand.xml");
        assert_string_equal(a, b);
        free(a);
        free(b);
        free(certificate);
        kn_records_result_free(hand);
        kn_records_result_free(result);
        kn_spec_free(spec);
    }
    testing_context_free(ctx);
}

static kn_spec *database_spec(kn_context *ctx, const char *method, const char *output)
{
    kn_error err = KN_ERROR_INIT;
    kn_spec *spec = NULL;
    char     target[4200];
    snprintf(target, sizeof target, "sqlite:%s", path_of(output));
    assert_ok(kn_spec_read(&spec, ctx, path_of("uni/release.yaml"), &err), err);
    assert_ok(kn_spec_set(spec, "method", method, "test", &err), err);
    const char *one = target;
    assert_ok(kn_spec_set_texts(spec, "output", &one, 1, "test", &err), err);
    assert_ok(kn_spec_set(spec, "seed", "7", "test", &err), err); /* of the keys too */
    assert_ok(kn_spec_check(spec, &err), err);
    return spec;
}

static void test_database(void **state)
{
    (void)state;
    kn_context         *ctx = testing_context(2);
    kn_error            err = KN_ERROR_INIT;
    kn_database_result *result = NULL, *hand = NULL;
    assert_ok(kn_generate_students(ctx, path_of("uni"), 30, 1, &err), err);
    kn_spec *spec = database_spec(ctx, "auto", "auto.db");
    assert_ok(kn_anonymize_database(&result, ctx, spec, NULL, &err), err);
    assert_true(result->head.found);
    double least = INFINITY;
    for (int i = 0; i < result->head.advice->candidate_count; i++) {
        const kn_advice_candidate *c = &result->head.advice->candidates[i];
        kn_anonymize_options       options = KN_ANONYMIZE_OPTIONS_INIT;
        options.dry_run = true;
        if (c->state == KN_ADVICE_LEFT_OUT) continue;
        kn_spec *own = database_spec(ctx, kn_method_name(c->method), "hand.db");
        assert_ok(kn_anonymize_database(&hand, ctx, own, &options, &err), err);
        assert_true(c->state == KN_ADVICE_KEPT && c->loss == hand->lm && c->suppressed == hand->head.suppressed);
        assert_int_equal(c->k, hand->head.k);
        assert_int_equal(c->classes, hand->head.classes);
        if (c->loss < least) least = c->loss;
        kn_database_result_free(hand);
        kn_spec_free(own);
    }
    assert_true(result->head.advice->candidates[result->head.advice->chosen].loss == least);
    kn_spec *own = database_spec(ctx, kn_method_name(result->head.method), "hand.db");
    assert_ok(kn_anonymize_database(&hand, ctx, own, NULL, &err), err);
    assert_int_equal(hand->head.k_before, result->head.k_before);
    struct stat x, y;
    assert_int_equal(stat(path_of("auto.db"), &x) + stat(path_of("hand.db"), &y), 0);
    assert_int_equal(x.st_size, y.st_size);
    /* More than there are: no method, nothing written, and what the original is like all the same. */
    kn_database_result *none = NULL;
    kn_spec            *many = database_spec(ctx, "auto", "none.db");
    assert_ok(kn_spec_set(many, "privacy", "[{k: 31}]", "test", &err), err);
    assert_ok(kn_spec_check(many, &err), err);
    assert_ok(kn_anonymize_database(&none, ctx, many, NULL, &err), err);
    assert_true(!none->head.found && none->head.reason && !none->head.advice->found);
    assert_int_equal(none->head.k_before, result->head.k_before);
    assert_int_equal(access(path_of("none.db"), F_OK), -1);
    kn_database_result_free(none);
    kn_spec_free(many);
    char *a = get("auto.db"), *b = get("hand.db");
    assert_memory_equal(a, b, (size_t)x.st_size);
    free(a);
    free(b);
    kn_database_result_free(hand);
    kn_database_result_free(result);
    kn_spec_free(own);
    kn_spec_free(spec);
    testing_context_free(ctx);
}

/* ---- Time ---- */

static void test_deadline(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(1);
    kn_deadline_set(ctx, 1e-9);
    while (!kn_cancelled(ctx)) continue;
    assert_false(kn_cancel_requested(ctx));
    kn_deadline_set(ctx, 0);
    assert_false(kn_cancelled(ctx));
    kn_deadline_set(ctx, 1e300); /* no clock goes that far */
    assert_false(kn_cancelled(ctx));
    kn_deadline_set(ctx, 1000);
    assert_false(kn_cancelled(ctx));
    kn_context_cancel(ctx);
    assert_true(kn_cancelled(ctx) && kn_cancel_requested(ctx));
    testing_context_free(ctx);
}

/* Hardly any time: an answer or a clear refusal, and the context works on. */
static void test_no_time(void **state)
{
    (void)state;
    static const char *const limits[] = {"0.000000001", "0.0001", "0.002"};
    kn_context              *ctx = testing_context(2);
    kn_error                 err = KN_ERROR_INIT;
    kn_generate_options      options = KN_GENERATE_OPTIONS_INIT;
    options.rows = 3000;
    assert_ok(kn_generate_csv(ctx, path_of("t.csv"), &options, &err), err);
    put("late.yaml", "kanon: 1\ninput: t.csv\noutput: late.csv\nattributes: {age: {role: quasi}, race: {role: quasi}, "
                     "education: {role: quasi}, occupation: {role: quasi}}\nprivacy: [{k: 5}]\nmethod: auto\n");
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        kn_spec           *spec = read_spec(ctx, "late.yaml");
        kn_advice         *advice = NULL;
        kn_release_result *result = NULL;
        assert_ok(kn_spec_set(spec, "time-limit", limits[i], "test", &err), err);
        assert_ok(kn_advise(&advice, ctx, spec, &err), err);
        assert_true(advice->found || (advice->reason && strstr(advice->reason, "time limit")));
        assert_false(kn_cancelled(ctx));
        for (int c = 0; i == 0 && c < advice->candidate_count; c++)
            if (advice->candidates[c].method == KN_METHOD_KMSD)
                assert_int_equal(advice->candidates[c].state, KN_ADVICE_LATE);
        assert_ok(kn_anonymize(&result, ctx, spec, NULL, &err), err);
        assert_true(result->head.found || result->head.reason);
        assert_int_equal(access(path_of("late.csv"), F_OK), result->head.found ? 0 : -1);
        remove(path_of("late.csv"));
        kn_release_result_free(result);
        kn_advice_free(advice);
        kn_spec_free(spec);
    }
    testing_context_free(ctx);
}

/* ---- Stopping ---- */

typedef struct stopper {
    kn_context *ctx;
    int         left;
} stopper;

static void stop_later(void *user, const kn_progress *progress)
{
    stopper *s = user;
    (void)progress;
    if (s->left-- == 0) kn_context_cancel(s->ctx);
}

static void test_cancel(void **state)
{
    (void)state;
    kn_rng rng;
    bool   through = false;
    kn_rng_init(&rng, 1, 2);
    random_table(&rng, "t.csv");
    random_release(&rng, "r.yaml");
    for (int n = 0; !through && n < 1000; n++) {
        stopper            s = {NULL, n};
        kn_context_options options = KN_CONTEXT_OPTIONS_INIT;
        kn_error           err = KN_ERROR_INIT;
        kn_release_result *result = NULL;
        options.progress = stop_later;
        options.progress_user = &s;
        options.threads = 1;
        remove(path_of("out.csv"));
        assert_ok(kn_context_create(&s.ctx, &options, &err), err);
        kn_spec  *spec = read_spec(s.ctx, "r.yaml");
        kn_status st = kn_anonymize(&result, s.ctx, spec, NULL, &err);
        through = s.left >= 0;
        if (st != KN_OK) assert_int_equal(st, KN_CANCELLED);
        if (st != KN_OK) assert_int_equal(access(path_of("out.csv"), F_OK), -1);
        if (through) assert_int_equal(st, KN_OK);
        kn_release_result_free(result);
        kn_spec_free(spec);
        testing_context_free(s.ctx);
    }
    assert_true(through);
}

/* ---- Failing memory ---- */

/* The n-th request and all later ones fail; true: it went through. */
static bool advise_without(int64_t n, const char *name)
{
    testing_allocator  allocator = {.refuse_at = n};
    kn_allocator       memory = testing_failing_allocator(&allocator);
    kn_context_options options = KN_CONTEXT_OPTIONS_INIT;
    kn_context        *ctx = NULL;
    kn_spec           *spec = NULL;
    kn_advice         *advice = NULL;
    kn_error           err = KN_ERROR_INIT;
    options.allocator = &memory;
    options.threads = 1;
    kn_status st = kn_context_create(&ctx, &options, &err);
    if (st == KN_OK) st = kn_spec_read(&spec, ctx, path_of(name), &err);
    if (st == KN_OK) st = kn_spec_set(spec, "output", "\"-\"", "test", &err);
    if (st == KN_OK) st = kn_spec_check(spec, &err);
    if (st == KN_OK) st = kn_advise(&advice, ctx, spec, &err);
    if (st != KN_OK && st != KN_MEMORY) fail_msg("%s, request %lld: %s", name, (long long)n, err.message);
    if (st == KN_OK) assert_true(advice->found);
    kn_advice_free(advice);
    kn_spec_free(spec);
    kn_context_free(ctx);
    assert_int_equal(allocator.live, 0);
    return st == KN_OK;
}

static void test_memory(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(1);
    kn_error    err = KN_ERROR_INIT;
    assert_ok(kn_generate_students(ctx, path_of("small"), 6, 1, &err), err);
    testing_context_free(ctx);
    put("t.csv", "age,zip,disease\n20,1,a\n21,2,b\n22,1,a\n23,2,b\n20,1,b\n24,1,a\n");
    put("m.yaml",
        "kanon: 1\ninput: t.csv\noutput: m.csv\nattributes: {age: {role: quasi}, zip: {role: quasi}, disease: "
        "{role: sensitive}}\nprivacy: [{k: 2}]\nmethod: auto\n");
    put("t.xml", tree_records);
    put("t.yaml", tree_release);
    static const char *const files[] = {"m.yaml", "t.yaml", "small/release.yaml"};
    /* Most of the requests are those of the methods, whose own tests refuse each: here every few. */
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        for (int64_t n = 0, step = 1; !advise_without(n, files[i]); n += step)
            if (n > 300) step = TESTING_SANITIZED ? 23 : 7;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rule),       testing_alone(test_failures),   cmocka_unit_test(test_memory_limit),
        testing_alone(test_fit),           testing_alone(test_spec),       cmocka_unit_test(test_tables),
        cmocka_unit_test(test_no_release), cmocka_unit_test(test_records), cmocka_unit_test(test_database),
        testing_alone(test_deadline),      cmocka_unit_test(test_no_time), cmocka_unit_test(test_cancel),
        testing_alone(test_memory),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
