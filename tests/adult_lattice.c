/* adult_lattice.c: the optimal full-domain nodes of Adult (docs/errata.md 6) by every method that claims the optimum.
 *
 * adult_lattice FOLDER [METHOD ...]: FOLDER holds adult.csv and the hierarchies; without it all tests are skipped. Without
 * methods: optimal, and with KANON_TEST_FULL all that claim the optimum. Prints one TAP line per method, k, budget and metric,
 * with its counters and its time.
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kn_fulldomain.h"

enum { QUASI = 9 };

static const char *const names[QUASI] = {
    "sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation", "salary-class"};

typedef struct expected {
    int64_t     k;
    int         percent;
    int64_t     good;
    const char *lm;
    int         lm_node[QUASI];
    int64_t     lm_suppressed;
    int64_t     dm;
    int         dm_node[QUASI];
    int64_t     dm_suppressed;
} expected;

static const expected rows[] = {
    {2, 0, 136, "0.603684547886", {0, 4, 1, 1, 3, 2, 0, 2, 0}, 0, 19399310, {1, 1, 1, 1, 3, 2, 2, 1, 1}, 0},
    {2, 5, 8720, "0.175268596477", {0, 3, 0, 0, 1, 1, 1, 1, 0}, 1350, 4602798, {0, 0, 1, 2, 3, 2, 2, 1, 0}, 62},
    {2, 100, 12960, "0.166507717229", {0, 3, 0, 0, 1, 0, 0, 1, 0}, 2998, 4602798, {0, 0, 1, 2, 3, 2, 2, 1, 0}, 62},
    {5, 0, 87, "0.635543846704", {0, 4, 1, 1, 3, 2, 2, 1, 0}, 0, 33627534, {1, 1, 1, 2, 3, 2, 2, 1, 1}, 0},
    {5, 5, 5184, "0.269634662789", {0, 3, 0, 0, 2, 1, 1, 2, 0}, 1346, 7220555, {0, 0, 1, 2, 3, 2, 2, 1, 1}, 105},
    {5, 100, 12960, "0.227700323257", {0, 3, 0, 0, 2, 1, 1, 1, 0}, 2553, 7220555, {0, 0, 1, 2, 3, 2, 2, 1, 1}, 105},
    {10, 0, 65, "0.635543846704", {0, 4, 1, 1, 3, 2, 2, 1, 0}, 0, 55170356, {1, 1, 1, 1, 3, 2, 2, 2, 1}, 0},
    {10, 5, 3433, "0.317841605865", {0, 3, 0, 1, 2, 1, 1, 2, 0}, 1437, 10541769, {1, 0, 1, 2, 3, 2, 2, 1, 1}, 121},
    {50, 0, 30, "0.635543846704", {0, 4, 1, 1, 3, 2, 2, 1, 0}, 0, 70009068, {0, 4, 1, 1, 3, 2, 2, 1, 0}, 0},
    {50, 5, 1107, "0.462659912487", {0, 4, 0, 2, 2, 1, 1, 2, 0}, 1402, 29880636, {1, 0, 1, 2, 3, 2, 2, 2, 1}, 330},
};
enum { ROWS = sizeof rows / sizeof rows[0] };

static int tests;

static void die(const char *what, const kn_error *err)
{
    printf("Bail out! %s: %s\n", what, err->message);
    exit(3);
}

static double now(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static bool agrees(const kn_fulldomain_result *r, const kn_objective *o, const expected *e, bool dm)
{
    const int *node = dm ? e->dm_node : e->lm_node;
    char       value[64];
    if (!r->found || !r->complete || !r->optimal || (r->good >= 0 && r->good != e->good)) return false;
    if (memcmp(r->best.levels, node, sizeof e->lm_node) != 0) return false;
    if (r->best.suppressed != (dm ? e->dm_suppressed : e->lm_suppressed)) return false;
    double loss = kn_objective_value(o, r->best.loss);
    if (dm) return loss == (double)e->dm;
    snprintf(value, sizeof value, "%.12f", loss);
    return strcmp(value, e->lm) == 0;
}

static void run(kn_context *ctx, kn_fulldomain_problem *p, const kn_requirements *requirements,
                const kn_objective *objective, const expected *e, bool dm)
{
    kn_error              err = KN_ERROR_INIT;
    kn_fulldomain_result *r = NULL;
    p->requirements = requirements;
    p->objective = objective;
    p->budget = p->table->rows * e->percent / 100;
    if (getenv("KANON_KEEP")) p->keep = strtoull(getenv("KANON_KEEP"), NULL, 10);
    double begin = now(CLOCK_MONOTONIC), begin_cpu = now(CLOCK_PROCESS_CPUTIME_ID);
    if (kn_fulldomain_search(&r, ctx, p, &err) != KN_OK) die(kn_method_name(p->method), &err);
    double seconds = now(CLOCK_MONOTONIC) - begin, cpu = now(CLOCK_PROCESS_CPUTIME_ID) - begin_cpu;
    const kn_fulldomain_counters *c = &r->counters;
    printf("%sok %d - %s k=%d budget=%d%% %s # %.3f s, %.3f s of processor, good %lld, checked %lld, marked %lld, "
           "measured %lld, scans %lld, "
           "rollups %lld, projections %lld, keys %lld, peak %.1f MB\n",
           agrees(r, objective, e, dm) ? "" : "not ", ++tests, kn_method_name(p->method), (int)e->k, e->percent,
           dm ? "dm" : "lm", seconds, cpu, (long long)r->good, (long long)c->nodes_checked, (long long)c->nodes_marked,
           (long long)c->nodes_measured, (long long)c->table_scans, (long long)c->rollups, (long long)c->projections,
           (long long)c->keys, (double)kn_context_memory_peak(ctx) / 1e6);
    fflush(stdout);
    kn_fulldomain_result_free(r);
}

static void run_rows(kn_context *ctx, kn_fulldomain_problem *p)
{
    kn_error err = KN_ERROR_INIT;
    for (int i = 0; i < ROWS; i++) {
        kn_model                model = {.kind = KN_MODEL_K, .k = rows[i].k};
        kn_requirements_options options = {.models = &model, .model_count = 1, .entity = -1};
        kn_requirements        *requirements = NULL;
        if (kn_requirements_make(&requirements, ctx, p->table, &options, &err) != KN_OK) die("requirements", &err);
        for (int dm = 0; dm < 2; dm++) {
            kn_objective *objective = NULL;
            kn_metric     metric = dm ? KN_METRIC_DM : KN_METRIC_LM;
            if (kn_objective_make(&objective, ctx, p->table, p->quasi, p->hierarchies, QUASI, NULL, metric, rows[i].k,
                                  &err) != KN_OK)
                die("objective", &err);
            run(ctx, p, requirements, objective, &rows[i], dm);
            kn_objective_free(objective);
        }
        kn_requirements_free(requirements);
    }
}

static void run_methods(kn_context *ctx, kn_fulldomain_problem *p, int count, char **methods)
{
    static const kn_method exact[] = {KN_METHOD_BOTTOM_UP_ROLLUP, KN_METHOD_INCOGNITO, KN_METHOD_INCOGNITO_SUPERROOTS,
                                      KN_METHOD_INCOGNITO_CUBE, KN_METHOD_OPTIMAL};
    const char            *full = getenv("KANON_TEST_FULL");
    size_t                 first = full && strcmp(full, "0") != 0 ? 0 : sizeof exact / sizeof exact[0] - 1;
    for (size_t i = first; count == 0 && i < sizeof exact / sizeof exact[0]; i++) {
        p->method = exact[i];
        run_rows(ctx, p);
    }
    for (int i = 0; i < count; i++) {
        kn_error err = KN_ERROR_INIT;
        if (!kn_method_parse(methods[i], &p->method)) die("there is no such method", &err);
        run_rows(ctx, p);
    }
    printf("1..%d\n", tests);
}

int main(int argc, char **argv)
{
    kn_error           err = KN_ERROR_INIT;
    kn_context        *ctx = NULL;
    kn_context_options context_options = KN_CONTEXT_OPTIONS_INIT;
    kn_table          *table = NULL;
    kn_hierarchy      *hierarchies[QUASI];
    int                quasi[QUASI];
    kn_csv_options     csv = KN_CSV_OPTIONS_INIT;
    char               path[4096];
    snprintf(path, sizeof path, "%s/adult.csv", argc > 1 ? argv[1] : ".");
    FILE *there = fopen(path, "r");
    if (!there) {
        printf("1..0 # SKIP no adult.csv\n");
        return 0;
    }
    fclose(there);
    if (getenv("KANON_THREADS")) context_options.threads = atoi(getenv("KANON_THREADS"));
    if (kn_context_create(&ctx, &context_options, &err) != KN_OK) die("context", &err);
    if (kn_table_read_csv(&table, ctx, path, &csv, &err) != KN_OK) die("reading", &err);
    for (int q = 0; q < QUASI; q++) {
        kn_hierarchy_spec spec = KN_HIERARCHY_SPEC_INIT;
        snprintf(path, sizeof path, "%s/adult_hierarchy_%s.csv", argv[1], names[q]);
        spec.path = path;
        quasi[q] = kn_table_find(table, names[q]);
        if (kn_hierarchy_make(&hierarchies[q], ctx, table, quasi[q], &spec, false, &err) != KN_OK) die(names[q], &err);
    }
    kn_fulldomain_problem problem = {
        .table = table, .quasi_count = QUASI, .quasi = quasi, .hierarchies = (const kn_hierarchy *const *)hierarchies};
    run_methods(ctx, &problem, argc - 2, argv + 2);
    for (int q = 0; q < QUASI; q++) kn_hierarchy_free(hierarchies[q]);
    kn_table_free(table);
    kn_context_free(ctx);
    return 0;
}
