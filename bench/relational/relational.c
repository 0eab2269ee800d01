/* relational.c: one method on one database, measured stage by stage; run by bench/relational/run.
 *
 *     bench_relational RELEASE.yaml [--input DATABASE] [--schema NAME] [--method NAME] [--k N] [--threshold N/M]
 *                      [--climit N] [--seed N] [--matching greedy|exact] [--clustering NAME] [--complete] [--threads N]
 *                      [--repeat N] [--reference]
 *
 * Reads the database that the release file names (or --input), with its roles and hierarchies, builds the trees, searches
 * and measures. Prints one object of JSON: persons and nodes, the bytes of the encoded tables, seconds of each stage (the
 * least of --repeat searches), the memory held at most up to the end of each stage, counters, LM and DM.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <kanon/database.h>

#include "kn_bitmap.h"
#include "kn_database_roles.h"
#include "kn_forest.h"
#include "kn_relational.h"

typedef struct settings {
    const char           *release, *input, *schema, *method;
    kn_relational_problem problem;
    bool                  bitmap, complete;
    int                   threads, repeat;
} settings;

static _Noreturn void die(const char *what, const char *message)
{
    fprintf(stderr, "bench_relational: %s: %s\n", what, message);
    exit(3);
}

/* Seconds on the clock, and of all threads together on their processors. */
typedef struct duration {
    double wall, cpu;
} duration;

static double clock_seconds(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static duration now(void)
{
    return (duration){clock_seconds(CLOCK_MONOTONIC), clock_seconds(CLOCK_PROCESS_CPUTIME_ID)};
}

static duration since(duration start)
{
    duration end = now();
    return (duration){end.wall - start.wall, end.cpu - start.cpu};
}

/* The largest resident size of the process so far, in bytes; 0: unknown. */
static uint64_t resident(void)
{
    char               line[256];
    unsigned long long kib = 0;
    FILE              *file = fopen("/proc/self/status", "r");
    while (file && kib == 0 && fgets(line, sizeof line, file))
        if (sscanf(line, "VmHWM: %llu", &kib) != 1) kib = 0;
    if (file) fclose(file);
    return kib * 1024;
}

/* ---- Stages ---- */

static void told(const char *stage, duration took, kn_context *ctx)
{
    printf("\"%s\": {\"seconds\": %.6f, \"cpu\": %.6f, \"held\": %" PRIu64 ", \"peak\": %" PRIu64
           ", \"resident\": %" PRIu64 "}, ",
           stage, took.wall, took.cpu, kn_context_memory_used(ctx), kn_context_memory_peak(ctx), resident());
}

static kn_database *read_database(const settings *s, kn_context *ctx, const kn_spec *spec)
{
    kn_database_options options = KN_DATABASE_OPTIONS_INIT;
    kn_database        *db = NULL;
    kn_error            err = KN_ERROR_INIT;
    uint64_t            bytes = 0;
    options.tables = spec->tables;
    options.table_count = spec->table_count;
    options.schema = s->schema;
    options.csv = &spec->csv;
    duration start = now();
    if (kn_database_read(&db, ctx, s->input ? s->input : spec->inputs[0], &options, &err) != KN_OK)
        die("reading", err.message);
    told("read", since(start), ctx);
    for (int t = 0; t < kn_database_tables(db); t++) bytes += kn_table_bytes(kn_database_content(db, t));
    printf("\"encoded\": %" PRIu64 ", ", bytes);
    start = now();
    if (kn_database_choose(db, spec->entity_table, &err) != KN_OK) die("schema", err.message);
    if (kn_database_roles(db, spec->tables, spec->table_count, &err) != KN_OK) die("roles", err.message);
    told("roles", since(start), ctx);
    return db;
}

static kn_forest *build_forest(kn_context *ctx, const kn_database *db)
{
    kn_forest *forest = NULL;
    kn_error   err = KN_ERROR_INIT;
    duration   start = now();
    if (kn_forest_build(&forest, ctx, db, &err) != KN_OK) die("trees", err.message);
    told("forest", since(start), ctx);
    printf("\"persons\": %" PRId64 ", \"nodes\": %" PRIu64 ", \"subtrees\": %" PRIu32 ", ", forest->entities,
           forest->nodes, forest->subtrees);
    return forest;
}

static duration search_once(const settings *s, kn_context *ctx, kn_database_plan **plan, kn_relational_counters *c,
                            kn_bitmap_counters *bits)
{
    const kn_relational_problem *p = &s->problem;
    kn_error                     err = KN_ERROR_INIT;
    kn_status                    status;
    bool                         found = false;
    duration                     start = now(), took;
    if (s->bitmap) {
        kn_bitmap_problem problem = {p->forest, p->k, p->threshold, p->climit, p->seed, p->leftovers, s->complete};
        status = kn_bitmap_search(plan, &found, bits, ctx, &problem, &err);
    } else {
        status = kn_relational_search(plan, &found, c, ctx, p, &err);
    }
    took = since(start);
    if (status != KN_OK) die(s->method, err.message);
    if (!found) die(s->method, "no plan");
    return took;
}

static kn_database_plan *search(const settings *s, kn_context *ctx)
{
    kn_database_plan      *plan = NULL;
    kn_relational_counters c = {0};
    kn_bitmap_counters     bits = {0};
    duration               least = {0, 0};
    for (int i = 0; i < s->repeat; i++) {
        kn_database_plan_free(plan);
        duration took = search_once(s, ctx, &plan, &c, &bits);
        if (i == 0 || took.cpu < least.cpu) least = took;
    }
    told("search", least, ctx);
    if (s->bitmap) {
        printf("\"bits\": %" PRId64 ", \"repeated\": %" PRId64 ", \"bitmap_lm\": %.9g, \"bitmap_dm\": %.9g"
               ", \"conversion\": %.3f, ",
               bits.bits, bits.repeated, bits.lm, bits.dm, bits.conversion_seconds);
        c.distances = bits.distances;
        c.clusters = bits.clusters;
        c.merged = bits.merged;
        c.absorbed = bits.absorbed;
        c.suppressed = bits.suppressed;
    }
    printf("\"pair_evaluations\": %" PRId64 ", \"distances\": %" PRId64 ", \"skipped\": %" PRId64
           ", \"clusters\": %" PRId64 ", \"merged\": %" PRId64 ", \"absorbed\": %" PRId64 ", \"suppressed\": %" PRId64
           ", \"classes\": %" PRIu32 ", ",
           c.pair_evaluations, c.distances, c.skipped, c.clusters, c.merged, c.absorbed, c.suppressed, plan->classes);
    return plan;
}

static void measure(kn_context *ctx, const kn_forest *forest, const kn_database_plan *plan)
{
    kn_relational_metrics *m = NULL;
    kn_error               err = KN_ERROR_INIT;
    if (kn_relational_measure(&m, ctx, forest, plan, &err) != KN_OK) die("measuring", err.message);
    printf("\"lm\": %.9g, \"lm_released\": %.9g, \"dm\": %.9g, \"cells\": %" PRId64 ", \"deleted\": %" PRId64, m->lm,
           m->lm_released, m->dm, m->cells, m->deleted);
    kn_relational_metrics_free(m);
}

/* ---- Arguments ---- */

static kn_ratio ratio(const char *text)
{
    char         *rest;
    unsigned long a = strtoul(text, &rest, 10), b = 1;
    if (*rest == '/') b = strtoul(rest + 1, &rest, 10);
    if (*rest || b == 0) die(text, "not a fraction");
    return (kn_ratio){a, b};
}

static kn_clustering clustering(const char *name)
{
    for (int i = 0; i < KN_CLUSTERINGS; i++)
        if (strcmp(name, kn_clustering_name((kn_clustering)i)) == 0) return (kn_clustering)i;
    die(name, "no such clustering");
}

static bool take(settings *s, const char *name, const char *value)
{
    if (strcmp(name, "--input") == 0)
        s->input = value;
    else if (strcmp(name, "--schema") == 0)
        s->schema = value;
    else if (strcmp(name, "--method") == 0)
        s->method = value;
    else if (strcmp(name, "--k") == 0)
        s->problem.k = atoll(value);
    else if (strcmp(name, "--threshold") == 0)
        s->problem.threshold = ratio(value);
    else if (strcmp(name, "--climit") == 0)
        s->problem.climit = atoll(value);
    else if (strcmp(name, "--seed") == 0)
        s->problem.seed = strtoull(value, NULL, 10);
    else if (strcmp(name, "--matching") == 0)
        s->problem.matching = strcmp(value, "exact") == 0 ? KN_MATCHING_EXACT : KN_MATCHING_GREEDY;
    else if (strcmp(name, "--clustering") == 0)
        s->problem.clustering = clustering(value);
    else if (strcmp(name, "--threads") == 0)
        s->threads = atoi(value);
    else if (strcmp(name, "--repeat") == 0)
        s->repeat = atoi(value);
    else
        return false;
    return true;
}

static settings arguments(int argc, char **argv)
{
    settings s = {.method = "miracle-x", .threads = 2, .repeat = 1, .problem = KN_RELATIONAL_PROBLEM_INIT};
    if (argc < 2) die("usage", "RELEASE.yaml [options]");
    s.release = argv[1];
    s.problem.k = 5;
    for (int i = 2; i < argc; i++) {
        if (strcmp(argv[i], "--complete") == 0)
            s.complete = true;
        else if (strcmp(argv[i], "--reference") == 0)
            s.problem.reference = true;
        else if (i + 1 < argc && take(&s, argv[i], argv[i + 1]))
            i++;
        else
            die(argv[i], "no such option");
    }
    s.bitmap = strcmp(s.method, "bitmap") == 0;
    if (!s.bitmap && !kn_method_parse(s.method, &s.problem.method)) die(s.method, "no such method");
    return s;
}

int main(int argc, char **argv)
{
    settings           s = arguments(argc, argv);
    kn_error           err = KN_ERROR_INIT;
    kn_context_options options = KN_CONTEXT_OPTIONS_INIT;
    kn_context        *ctx = NULL;
    kn_spec           *spec = NULL;
    options.threads = s.threads;
    if (kn_context_create(&ctx, &options, &err) != KN_OK) die("context", err.message);
    if (kn_spec_read(&spec, ctx, s.release, &err) != KN_OK) die("release file", err.message);
    printf("{\"method\": \"%s\", \"k\": %" PRId64 ", \"threads\": %d, ", s.method, s.problem.k, s.threads);
    kn_database *db = read_database(&s, ctx, spec);
    kn_forest   *forest = build_forest(ctx, db);
    s.problem.forest = forest;
    kn_database_plan *plan = search(&s, ctx);
    measure(ctx, forest, plan);
    printf("}\n");
    kn_database_plan_free(plan);
    kn_forest_free(forest);
    kn_database_free(db);
    kn_spec_free(spec);
    kn_context_free(ctx);
    return 0;
}
