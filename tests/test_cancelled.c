/* test_cancelled.c: every job is stopped at its n-th look.
 *
 * The library asks now and then whether its work is still wanted (kn_cancelled), also within sorts and between the ranges
 * of a parallel loop. This program is linked so that each of these looks is counted, and the n-th is told to stop: without
 * that a request would have to arrive in the right microsecond. A job is first run to its end, which gives the number of
 * looks and the right answer; then again and again, stopped at one look after the other. A stopped job must say so, leave
 * nothing under the names of its output and no memory behind, and the same context must then give the right answer.
 * A time limit ends work at the same looks, and is tried in the same way.
 *
 * All methods of the three shapes, and what else searches: frontier, explain, advise, apply, verify, attack, measure,
 * dependencies, sets of columns, special uniques. Each is stopped at the first and the last look of every place in the code that
 * looks, and at some others drawn at random, by one thread and by three.
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE
#include <execinfo.h>
#include <kanon/advise.h>
#include <kanon/attack.h>
#include <kanon/catalogue.h>
#include <kanon/dependencies.h>
#include <kanon/explain.h>
#include <kanon/frontier.h>
#include <kanon/generate.h>
#include <kanon/measure.h>
#include <kanon/questions.h>
#include <kanon/recipe.h>
#include <kanon/risk.h>
#include <stdatomic.h>

#include "kn_context.h"
#include "kn_hash.h"
#include "kn_rng.h"
#include "kn_sort.h"
#include "memory_testing.h"

/* ---- Looks ---- */

static _Atomic int64_t looks;
static int64_t         stop_at = -1; /* the look that is told to stop; negative: none */
static bool            by_time;      /* told by a time limit that has passed, where there is one */

bool __real_kn_cancelled(const kn_context *ctx);
bool __wrap_kn_cancelled(const kn_context *ctx);

/* Where looks come from, found in a whole run by one thread: the functions that are on the stack, however often. */
typedef struct place {
    uint64_t functions;
    int64_t  first, last; /* looks */
} place;

enum { PLACES = 4096, DEPTH = 40 };
static place places[PLACES];
static int   place_count;
static bool  finding; /* places */

static void find_place(int64_t look)
{
    void    *stack[DEPTH];
    int      depth = backtrace(stack, DEPTH), p = 0;
    uint64_t functions = 0;
    for (int i = 0; i < depth; i++) {
        bool again = false; /* as in a recursion */
        for (int before = 0; before < i; before++) again |= stack[before] == stack[i];
        if (!again) functions += kn_hash_word((uintptr_t)stack[i]);
    }
    while (p < place_count && places[p].functions != functions) p++;
    if (p == PLACES) return;
    if (p == place_count) places[place_count++] = (place){functions, look, look};
    places[p].last = look;
}

/* Every look of the library comes here (tests/meson.build). */
bool __wrap_kn_cancelled(const kn_context *ctx)
{
    int64_t look = atomic_fetch_add(&looks, 1);
    if (finding) find_place(look);
    kn_context *running = (kn_context *)(uintptr_t)ctx;
    if (stop_at < 0 || look < stop_at) return __real_kn_cancelled(ctx);
    if (!by_time)
        kn_context_cancel(running);
    else if (atomic_load(&running->deadline_ns) > 0)
        atomic_store(&running->deadline_ns, 1);
    return __real_kn_cancelled(ctx);
}

/* A sort looks in its parallel parts, which a short one does not have: here each looks once before it begins. */
kn_status __real_kn_sort_records(kn_context *ctx, kn_sort_record *records, size_t count, kn_sort_tie_fn tie,
                                 const void *arg, kn_error *err);
kn_status __wrap_kn_sort_records(kn_context *ctx, kn_sort_record *records, size_t count, kn_sort_tie_fn tie,
                                 const void *arg, kn_error *err);

kn_status __wrap_kn_sort_records(kn_context *ctx, kn_sort_record *records, size_t count, kn_sort_tie_fn tie,
                                 const void *arg, kn_error *err)
{
    if (__wrap_kn_cancelled(ctx)) return kn_fail_cancelled(err);
    return __real_kn_sort_records(ctx, records, count, tie, arg, err);
}

/* ---- Jobs ---- */

typedef struct job job;

/* Does the work; *answer: what must be the same in every run that ends. */
typedef kn_status (*work)(kn_context *ctx, const job *j, uint64_t *answer, kn_error *err);

struct job {
    const char *name;
    const char *form; /* of the release file, if there is one */
    work        run;
};

static uint64_t bytes_in_memory(kn_context *ctx)
{
    uint64_t    sum = 0;
    kn_error    err = KN_ERROR_INIT;
    const void *bytes = NULL;
    size_t      size = 0;
    for (const char *n = kn_memory_next(ctx, "memory:out", NULL); n; n = kn_memory_next(ctx, "memory:out", n)) {
        if (strstr(n, ".private.json")) continue; /* holds seconds */
        assert_ok(kn_memory_get(&bytes, &size, ctx, n, &err), err);
        sum = sum * 31 + kn_hash_bytes(bytes, size) + size;
    }
    return sum;
}

static void forget_outputs(kn_context *ctx)
{
    for (const char *n; (n = kn_memory_next(ctx, "memory:out", NULL)) != NULL;) kn_memory_remove(ctx, n);
}

static kn_status spec_of_job(kn_spec **out, kn_context *ctx, const job *j, kn_error *err)
{
    char      text[4000];
    size_t    n = put_in_place(text, sizeof text, j->form, "memory:");
    kn_status st = kn_spec_read_text(out, ctx, text, n, NULL, err);
    return st == KN_OK ? kn_spec_check(*out, err) : st;
}

static kn_status release_it(kn_context *ctx, const job *j, uint64_t *answer, kn_error *err)
{
    kn_spec         *spec = NULL;
    kn_release_head *head = NULL;
    kn_status        st = spec_of_job(&spec, ctx, j, err);
    if (st == KN_OK) st = kn_anonymize_any(&head, ctx, spec, NULL, err);
    if (st == KN_OK && !head->found && !by_time) fail_msg("%s: %s", j->name, head->reason);
    if (st == KN_OK && !head->found && !head->reason) fail_msg("%s: no release, and no reason", j->name);
    if (st == KN_OK) *answer = bytes_in_memory(ctx);
    if (st != KN_OK && kn_memory_next(ctx, "memory:out", NULL)) fail_msg("%s: something was handed over", j->name);
    kn_release_head_free(head);
    kn_spec_free(spec);
    forget_outputs(ctx);
    return st;
}

/* Jobs on a release that is there: it is made without being stopped. */
static kn_status on_release(kn_context *ctx, const job *j, uint64_t *answer,
                            kn_status (*then)(kn_context *, kn_spec *, uint64_t *, kn_error *), kn_error *err)
{
    kn_spec         *spec = NULL;
    kn_release_head *head = NULL;
    int64_t          at = stop_at;
    bool             was_finding = finding;
    stop_at = -1;
    finding = false;
    kn_status st = spec_of_job(&spec, ctx, j, err);
    if (st == KN_OK) st = kn_anonymize_any(&head, ctx, spec, NULL, err);
    kn_release_head_free(head);
    assert_int_equal(st, KN_OK);
    stop_at = at;
    finding = was_finding;
    atomic_store(&looks, 0);
    st = then(ctx, spec, answer, err);
    kn_spec_free(spec);
    forget_outputs(ctx);
    return st;
}

static kn_status verified(kn_context *ctx, kn_spec *spec, uint64_t *answer, kn_error *err)
{
    kn_status                  st;
    kn_verify_report          *table = NULL;
    kn_database_verify_report *database = NULL;
    kn_records_verify_report  *records = NULL;
    switch (kn_spec_shape(spec)) {
    case KN_SHAPE_DATABASE: st = kn_verify_database(&database, ctx, spec, NULL, err); break;
    case KN_SHAPE_RECORDS: st = kn_verify_records(&records, ctx, spec, NULL, err); break;
    default: st = kn_verify(&table, ctx, spec, NULL, err); break;
    }
    *answer = st == KN_OK && (table ? table->ok : database ? database->ok : records->ok);
    kn_verify_report_free(table);
    kn_database_verify_report_free(database);
    kn_records_verify_report_free(records);
    return st;
}

static kn_status verify_it(kn_context *ctx, const job *j, uint64_t *answer, kn_error *err)
{
    return on_release(ctx, j, answer, verified, err);
}

static kn_status measured(kn_context *ctx, kn_spec *spec, uint64_t *answer, kn_error *err)
{
    kn_status                   st;
    kn_measure_report          *table = NULL;
    kn_database_measure_report *database = NULL;
    kn_records_measure_report  *records = NULL;
    switch (kn_spec_shape(spec)) {
    case KN_SHAPE_DATABASE: st = kn_measure_database(&database, ctx, spec, NULL, err); break;
    case KN_SHAPE_RECORDS: st = kn_measure_records(&records, ctx, spec, NULL, err); break;
    default: st = kn_measure(&table, ctx, spec, NULL, err); break;
    }
    *answer = st == KN_OK;
    kn_measure_report_free(table);
    kn_database_measure_report_free(database);
    kn_records_measure_report_free(records);
    return st;
}

static kn_status measure_it(kn_context *ctx, const job *j, uint64_t *answer, kn_error *err)
{
    return on_release(ctx, j, answer, measured, err);
}

static kn_status attacked(kn_context *ctx, kn_spec *spec, uint64_t *answer, kn_error *err)
{
    kn_attack_report *report = NULL;
    kn_attack_options options = KN_ATTACK_OPTIONS_INIT;
    options.external = "memory:adult.csv";
    options.release = "memory:out.csv";
    kn_status st = kn_attack(&report, ctx, spec, &options, err);
    *answer = st == KN_OK;
    kn_attack_report_free(report);
    return st;
}

static kn_status attack_it(kn_context *ctx, const job *j, uint64_t *answer, kn_error *err)
{
    return on_release(ctx, j, answer, attacked, err);
}

static kn_status find_frontier(kn_context *ctx, const job *j, uint64_t *answer, kn_error *err)
{
    kn_spec     *spec = NULL;
    kn_frontier *frontier = NULL;
    kn_status    st = spec_of_job(&spec, ctx, j, err);
    if (st == KN_OK) st = kn_frontier_find(&frontier, ctx, spec, err);
    *answer = st == KN_OK ? (uint64_t)frontier->point_count : 0;
    kn_frontier_free(frontier);
    kn_spec_free(spec);
    return st;
}

static kn_status explain_it(kn_context *ctx, const job *j, uint64_t *answer, kn_error *err)
{
    kn_spec        *spec = NULL;
    kn_explanation *explanation = NULL;
    kn_status       st = spec_of_job(&spec, ctx, j, err);
    if (st == KN_OK) st = kn_explain(&explanation, ctx, spec, err);
    *answer = st == KN_OK;
    kn_explanation_free(explanation);
    kn_spec_free(spec);
    return st;
}

static kn_status advise_on(kn_context *ctx, const job *j, uint64_t *answer, kn_error *err)
{
    kn_spec   *spec = NULL;
    kn_advice *advice = NULL;
    kn_status  st = spec_of_job(&spec, ctx, j, err);
    if (st == KN_OK) st = kn_advise(&advice, ctx, spec, err);
    *answer = st == KN_OK ? (uint64_t)advice->chosen : 0;
    kn_advice_free(advice);
    kn_spec_free(spec);
    return st;
}

/* What reads a table alone. */
static kn_status look_at_table(kn_context *ctx, const job *j, uint64_t *answer, kn_error *err)
{
    static const char *const columns[] = {"age", "sex", "race", "education"};
    kn_csv_options           csv = KN_CSV_OPTIONS_INIT;
    kn_sets_options          over = KN_SETS_OPTIONS_INIT;
    kn_risk_options          risky = KN_RISK_OPTIONS_INIT;
    kn_suda_options          special = KN_SUDA_OPTIONS_INIT;
    kn_discover_options      kept = KN_DISCOVER_OPTIONS_INIT;
    kn_table                *table = NULL;
    kn_profile              *profile = NULL;
    kn_sets_diagnosis       *sets = NULL;
    kn_risk                 *risk = NULL;
    kn_suda                 *suda = NULL;
    kn_discovery            *found = NULL;
    over.over = risky.quasi = special.quasi = columns;
    over.over_count = risky.quasi_count = special.quasi_count = 4;
    (void)j;
    kn_status st = kn_table_read_csv(&table, ctx, "memory:adult.csv", &csv, err);
    if (st == KN_OK) st = kn_profile_table(&profile, ctx, table, err);
    if (st == KN_OK) st = kn_diagnose_sets(&sets, ctx, table, &over, err);
    if (st == KN_OK) st = kn_risk_measure(&risk, ctx, table, &risky, err);
    if (st == KN_OK) st = kn_suda_search(&suda, ctx, table, &special, err);
    if (st == KN_OK) st = kn_discover_dependencies(&found, ctx, table, &kept, err);
    *answer = st == KN_OK;
    kn_discovery_free(found);
    kn_suda_free(suda);
    kn_risk_free(risk);
    kn_sets_diagnosis_free(sets);
    kn_profile_free(profile);
    kn_table_free(table);
    return st;
}

/* A recipe is made and kept without being stopped; then other rows are released by it. */
static kn_status apply_it(kn_context *ctx, const job *j, uint64_t *answer, kn_error *err)
{
    kn_spec           *spec = NULL;
    kn_release_head   *head = NULL;
    kn_recipe         *recipe = NULL;
    kn_release_result *result = NULL;
    const char        *input = "memory:adult.csv", *output = "memory:out2.csv";
    int64_t            at = stop_at;
    bool               was_finding = finding;
    stop_at = -1;
    finding = false;
    assert_ok(spec_of_job(&spec, ctx, j, err), *err);
    assert_ok(kn_anonymize_any(&head, ctx, spec, NULL, err), *err);
    assert_ok(kn_recipe_read(&recipe, ctx, "memory:out.csv.recipe.json", err), *err);
    assert_ok(kn_spec_set_texts(kn_recipe_spec(recipe), "input", &input, 1, "input", err), *err);
    assert_ok(kn_spec_set_texts(kn_recipe_spec(recipe), "output", &output, 1, "output", err), *err);
    assert_ok(kn_spec_check(kn_recipe_spec(recipe), err), *err);
    stop_at = at;
    finding = was_finding;
    atomic_store(&looks, 0);
    kn_status st = kn_apply(&result, ctx, recipe, NULL, err);
    *answer = st == KN_OK ? bytes_in_memory(ctx) : 0;
    if (st != KN_OK && kn_memory_next(ctx, "memory:out2", NULL)) fail_msg("%s: something was handed over", j->name);
    kn_release_result_free(result);
    kn_recipe_free(recipe);
    kn_release_head_free(head);
    kn_spec_free(spec);
    forget_outputs(ctx);
    return st;
}

/* ---- Each is stopped ---- */

/* Runs the job, stopped at that look. */
static void run_stopped(kn_context *ctx, const job *j, int64_t at, uint64_t wanted)
{
    kn_error err = KN_ERROR_INIT;
    uint64_t answer = 0;
    stop_at = at;
    atomic_store(&looks, 0);
    kn_status st = j->run(ctx, j, &answer, &err);
    if (st == KN_OK && answer != wanted && !by_time)
        fail_msg("%s, stopped at look %lld: another answer", j->name, (long long)at);
    if (st == KN_CANCELLED && !strstr(err.message, "stopped on request")) fail_msg("%s: %s", j->name, err.message);
    if (st != KN_OK && st != KN_CANCELLED)
        fail_msg("%s, stopped at look %lld: %d, %s", j->name, (long long)at, (int)st, err.message);
    stop_at = -1;
    kn_context_reset_cancel(ctx);
    assert_nothing_written();
}

static int stopped; /* runs that were */

/* At the first and the last look of every place, of a part of the places in `make test`. */
static void stop_at_places(kn_context *ctx, const job *j, kn_rng *rng, uint64_t wanted)
{
    for (int p = 0; p < place_count; p++) {
        if (!testing_full() && kn_rng_below(rng, TESTING_SANITIZED ? 80 : 16) != 0) continue;
        run_stopped(ctx, j, places[p].first, wanted);
        stopped++;
        if (places[p].last == places[p].first) continue;
        run_stopped(ctx, j, places[p].last, wanted);
        stopped++;
    }
}

/* At one look in each of some equal parts of the job. */
static void stop_anywhere(kn_context *ctx, const job *j, kn_rng *rng, int64_t all, uint64_t wanted)
{
    int64_t parts = testing_full() ? 1000 : TESTING_SANITIZED ? 2 : 5;
    if (parts > all) parts = all;
    for (int64_t i = 0; i < parts; i++) {
        int64_t from = all * i / parts, to = all * (i + 1) / parts;
        run_stopped(ctx, j, from + (int64_t)kn_rng_below(rng, (uint64_t)(to - from)), wanted);
        stopped++;
    }
}

static void stop_job(kn_context *ctx, const job *j, kn_rng *rng)
{
    kn_error err = KN_ERROR_INIT;
    uint64_t wanted = 0, answer = 0;
    bool     alone = kn_context_threads(ctx) == 1;
    stop_at = -1;
    place_count = 0;
    finding = alone;
    atomic_store(&looks, 0);
    assert_ok(j->run(ctx, j, &wanted, &err), err);
    finding = false;
    int64_t all = atomic_load(&looks);
    if (all == 0) fail_msg("%s never looks whether it is still wanted", j->name);
    if (alone) stop_at_places(ctx, j, rng, wanted);
    stop_anywhere(ctx, j, rng, all, wanted);
    assert_ok(j->run(ctx, j, &answer, &err), err);
    if (answer != wanted) fail_msg("%s: another answer after it was stopped", j->name);
}

/* ---- Data and requests ---- */

#define ADULT                                                                                                          \
    "input: @adult.csv\nprivacy: [{k: 4}%s]\nattributes:\n"                                                            \
    "  age: {role: quasi, type: integer, hierarchy: {ranges: [5, 10, 20, 40]}}\n  sex: {role: quasi}\n"                \
    "  race: {role: quasi}\n  education: {role: quasi}\n  salary-class: {role: sensitive}\n"

static void put_table(kn_context *ctx)
{
    kn_error            err = KN_ERROR_INIT;
    kn_generate_options options = KN_GENERATE_OPTIONS_INIT;
    options.rows = TESTING_SANITIZED ? 300 : 600;
    options.seed = 3;
    assert_ok(kn_generate_csv(ctx, path_of("adult.csv"), &options, &err), err);
    put_file(ctx, "adult.csv");
    put_both(ctx, "queries.sql", "SELECT COUNT(*) FROM t WHERE age <= 30;\n");
}

/* Threads make ranges of a loop end in another order. */
static void with_threads(void (*go)(kn_context *ctx, kn_rng *rng))
{
    kn_rng rng;
    kn_rng_init(&rng, testing_seed(), 0);
    stopped = 0;
    /* One thread races with nobody: the thread sanitizer gets the other ones. */
    for (int threads = TESTING_THREAD_SANITIZER ? 3 : 1; threads <= 3; threads += 2) {
        kn_context *ctx = testing_context(threads);
        go(ctx, &rng);
        kn_memory_clear(ctx);
        testing_context_free(ctx);
    }
    print_message("%d runs were stopped\n", stopped);
}

static void stop_tables(kn_context *ctx, kn_rng *rng)
{
    put_table(ctx);
    for (int m = 0; m < KN_CATALOGUE_METHODS; m++) {
        char form[3000];
        if (m != KN_CATALOGUE_AUTO && kn_method_shape((kn_method)m) != KN_SHAPE_TABLE) continue;
        const char *name = kn_catalogue_method(m)->name;
        snprintf(form, sizeof form,
                 "kanon: 1\nforce: true\noutput: @out.csv\nsuppression: 5%%\nkeep-rowmap: true\nmethod: %s\n%s" ADULT,
                 name, strcmp(name, "mondrian-workload") == 0 ? "workload: @queries.sql\n" : "",
                 m % 3 == 0 && kn_method_keeps((kn_method)m, KN_MODEL_DISTINCT)
                     ? ", {l-diversity: {attribute: salary-class, kind: distinct, l: 2}}"
                     : "");
        stop_job(ctx, &(job){name, form, release_it}, rng);
    }
}

/* A time limit may end with the best release so far, which is verified like any other, or with none and the reason. */
static void stop_by_time(kn_context *ctx, kn_rng *rng)
{
    put_table(ctx);
    by_time = true;
    for (int m = 0; m < KN_CATALOGUE_METHODS; m++) {
        char form[3000];
        if (m != KN_CATALOGUE_AUTO &&
            (kn_method_shape((kn_method)m) != KN_SHAPE_TABLE || !kn_method_uses((kn_method)m, "time-limit")))
            continue;
        const char *name = kn_catalogue_method(m)->name;
        snprintf(form, sizeof form,
                 "kanon: 1\nforce: true\noutput: @out.csv\nsuppression: 5%%\nmethod: %s\noptions: {time-limit: "
                 "100000}\n%s" ADULT,
                 name, strcmp(name, "mondrian-workload") == 0 ? "workload: @queries.sql\n" : "", "");
        stop_job(ctx, &(job){name, form, release_it}, rng);
    }
    by_time = false;
}

static void test_time_limit(void **state)
{
    (void)state;
    with_threads(stop_by_time);
}

static void test_tables(void **state)
{
    (void)state;
    with_threads(stop_tables);
}

static void stop_others(kn_context *ctx, kn_rng *rng)
{
    static const char sets[] =
        "kanon: 1\nforce: true\ninput: @lent.csv\noutput: @out.csv\nmethod: mondrian\nprivacy: [{k: 4}, {k-mn: {k: 2, "
        "m: 2, n: 0}}]\nattributes:\n  age: {role: quasi}\n  lent: {role: set, hierarchy: @titles.csv}\n";
    char optimal[3000], mondrian[3000], node[3000], lent[4000];
    int  n = sprintf(lent, "age,lent\n");
    for (int i = 0; i < 150; i++) n += sprintf(lent + n, "%d,t%d;t%d\n", 20 + i % 17, i % 5, i % 3);
    put_table(ctx);
    put_both(ctx, "lent.csv", lent);
    put_both(ctx, "titles.csv", "t0;a;*\nt1;a;*\nt2;b;*\nt3;b;*\nt4;b;*\n");
    snprintf(optimal, sizeof optimal,
             "kanon: 1\nforce: true\noutput: @out.csv\nsuppression: 5%%\nmethod: optimal\n" ADULT, "");
    snprintf(mondrian, sizeof mondrian,
             "kanon: 1\nforce: true\noutput: @out.csv\nkeep-recipe: true\nmethod: mondrian\n" ADULT, "");
    snprintf(node, sizeof node,
             "kanon: 1\nforce: true\noutput: @out.csv\nlevels: {age: 1, sex: 0, race: 0, education: 0}\n" ADULT, "");
    const job jobs[] = {
        {"verify", optimal, verify_it},       {"verify of regions", mondrian, verify_it},
        {"measure", mondrian, measure_it},    {"attack", mondrian, attack_it},
        {"frontier", optimal, find_frontier}, {"explain", node, explain_it},
        {"advise", optimal, advise_on},       {"apply", mondrian, apply_it},
        {"diagnosis", NULL, look_at_table},   {"a column of sets", sets, release_it},
        {"verify of sets", sets, verify_it},
    };
    for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++) stop_job(ctx, &jobs[i], rng);
}

static void test_others(void **state)
{
    (void)state;
    with_threads(stop_others);
}

static void stop_databases(kn_context *ctx, kn_rng *rng)
{
    static const char *const tables[] = {"uni/students.csv", "uni/courses.csv", "uni/books.csv", "uni/course.dgh",
                                         "uni/book.dgh"};
    kn_error                 err = KN_ERROR_INIT;
    char                     form[2000];
    if (access(path_of("uni"), F_OK) != 0)
        assert_ok(kn_generate_students(ctx, path_of("uni/"), TESTING_SANITIZED ? 40 : 120, 1, &err), err);
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) put_file(ctx, tables[i]);
    for (int m = 0; m < KN_METHODS; m++) {
        if (kn_method_shape((kn_method)m) != KN_SHAPE_DATABASE) continue;
        const char *name = kn_catalogue_method(m)->name;
        snprintf(form, sizeof form,
                 "kanon: 1\nforce: true\ninput: @uni/\noutput: @out/\nprivacy: [{k: 3}%s]\noptions: {seed: 1}\n"
                 "method: %s\nentity: {table: students, key: Sid}\ntables:\n"
                 "  students: {key: Sid, attributes: {GPA: {role: sensitive}}}\n"
                 "  courses: {key: SCid, parent: {table: students, column: Sid}, attributes: {Course: {role: quasi, "
                 "hierarchy: @uni/course.dgh}, Grade: {role: sensitive}}}\n"
                 "  books: {parent: {table: courses, column: SCid}, attributes: {Book: {role: quasi, hierarchy: "
                 "@uni/book.dgh}, Price: {role: sensitive}}}\n",
                 strcmp(name, "dmiracle") == 0 ? ", {l-diversity: {attribute: GPA, l: 2}}" : "", name);
        stop_job(ctx, &(job){name, form, release_it}, rng);
    }
    stop_job(ctx, &(job){"verify of a database", form, verify_it}, rng);
    stop_job(ctx, &(job){"measure of a database", form, measure_it}, rng);
    stop_job(ctx, &(job){"advise on a database", form, advise_on}, rng);
}

static void test_databases(void **state)
{
    (void)state;
    with_threads(stop_databases);
}

static void stop_records(kn_context *ctx, kn_rng *rng)
{
    static const char *const more[] = {"", "suppression: 5%\n", "options: {semantics: paths}\n"};
    kn_error                 err = KN_ERROR_INIT;
    char                     form[2000];
    int                      turn = 0;
    if (access(path_of("patients.jsonl"), F_OK) != 0)
        assert_ok(kn_generate_patient_records(ctx, path_of("patients.jsonl"), TESTING_SANITIZED ? 60 : 300, 1, &err),
                  err);
    put_file(ctx, "patients.jsonl");
    for (int m = 0; m < KN_METHODS; m++) {
        if (kn_method_shape((kn_method)m) != KN_SHAPE_RECORDS) continue;
        snprintf(form, sizeof form,
                 "kanon: 1\nforce: true\ninput: @patients.jsonl\noutput: @out.jsonl\nmethod: %s\nkeep-rowmap: true\n%s"
                 "privacy: [{k-mn: {k: 3, m: 2, n: 1}}]\n"
                 "classes: {hospital: {value: name}, disease: {value: name}, drug: {value: name}}\n",
                 kn_catalogue_method(m)->name, more[turn++ % 3]);
        stop_job(ctx, &(job){kn_catalogue_method(m)->name, form, release_it}, rng);
    }
    stop_job(ctx, &(job){"verify of records", form, verify_it}, rng);
    stop_job(ctx, &(job){"measure of records", form, measure_it}, rng);
    stop_job(ctx, &(job){"advise on records", form, advise_on}, rng);
}

static void test_records(void **state)
{
    (void)state;
    with_threads(stop_records);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tables),    cmocka_unit_test(test_time_limit), cmocka_unit_test(test_others),
        cmocka_unit_test(test_databases), cmocka_unit_test(test_records),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
