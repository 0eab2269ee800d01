/* evaluate.c: one method on the persons of a database as tree records, timed and measured; run by bench/tree/run.
 *
 *     bench_tree_evaluate RELEASE.yaml [--method gcs|ocs|acs|miracle|miracle-x] [--k N] [--m N] [--n N] [--g N] [--limit SECONDS]
 *                         [--support SHARE] [--largest N] [--semantics pairs|paths] [--threads N] [--repeat N] [--reference]
 *
 * Reads the database that the release file names, with its roles and hierarchies, makes the trees and the records (one node
 * per cell; see kn_records_of_database), searches and measures. Prints one object of JSON: records and nodes, the bytes of the
 * encoded records, seconds of loading, of the search (the fastest of --repeat; cpu: of all threads) and of measuring, the most memory that the
 * search held beside the records, counters, RPD, ML² and dML² (--support 0: not mined), nodes and relations left.
 *
 * MiRaCle runs on the same database. Its release becomes tree records by the rule that made the originals: the class's tree,
 * one node per cell, siblings of equal value merged; a cell that shows all of its hierarchy is its class's top, for its column
 * still says what it is; rows that it deletes are not there, and a person that it drops is a record without nodes.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <kanon/database.h>

#include "kn_alloc.h"
#include "kn_database_roles.h"
#include "kn_forest.h"
#include "kn_meter.h"
#include "kn_relational.h"
#include "kn_tree.h"

typedef struct settings {
    const char             *release, *method;
    kn_tree_problem         tree;
    kn_method               relational;
    bool                    miracle;
    kn_tree_metrics_options metrics;
    int                     threads, repeat;
} settings;

/* Everything that is loaded. */
typedef struct loaded {
    kn_context  *ctx;
    kn_spec     *spec;
    kn_database *db;
    kn_forest   *forest;
    kn_records  *records;
} loaded;

static _Noreturn void die(const char *what, const char *message)
{
    fprintf(stderr, "bench_tree_evaluate: %s: %s\n", what, message);
    exit(3);
}

static double clock_of(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double now(void)
{
    return clock_of(CLOCK_MONOTONIC);
}

/* Of all threads. */
static double cpu(void)
{
    return clock_of(CLOCK_PROCESS_CPUTIME_ID);
}

static kn_context *new_context(int threads)
{
    kn_context_options options = KN_CONTEXT_OPTIONS_INIT;
    kn_error           err = KN_ERROR_INIT;
    kn_context        *ctx = NULL;
    options.threads = threads;
    if (kn_context_create(&ctx, &options, &err) != KN_OK) die("context", err.message);
    return ctx;
}

/* ---- Loading ---- */

static void load(loaded *l, const settings *s)
{
    kn_database_options options = KN_DATABASE_OPTIONS_INIT;
    kn_error            err = KN_ERROR_INIT;
    double              start = now();
    l->ctx = new_context(s->threads);
    if (kn_spec_read(&l->spec, l->ctx, s->release, &err) != KN_OK) die("release file", err.message);
    options.tables = l->spec->tables;
    options.table_count = l->spec->table_count;
    options.csv = &l->spec->csv;
    if (kn_database_read(&l->db, l->ctx, l->spec->inputs[0], &options, &err) != KN_OK) die("reading", err.message);
    if (kn_database_choose(l->db, l->spec->entity_table, &err) != KN_OK) die("schema", err.message);
    if (kn_database_roles(l->db, l->spec->tables, l->spec->table_count, &err) != KN_OK) die("roles", err.message);
    if (kn_forest_build(&l->forest, l->ctx, l->db, &err) != KN_OK) die("trees", err.message);
    if (kn_records_of_database(&l->records, l->ctx, l->forest, NULL, 0, &err) != KN_OK) die("records", err.message);
    const kn_records *r = l->records;
    uint64_t bytes = r->nodes * (sizeof *r->parent + sizeof *r->value) + (uint64_t)(r->count + 1) * sizeof *r->start;
    printf("\"records\": %" PRId64 ", \"nodes\": %" PRIu64 ", \"leaves\": %" PRIu32 ", \"encoded\": %" PRIu64
           ", \"loading\": %.3f, ",
           r->count, r->nodes, r->vocabulary->leaves[0], bytes, now() - start);
    fflush(stdout);
}

/* What only MiRaCle needs goes before the search, so that the process holds what a search on records holds. */
static void unload_database(loaded *l)
{
    kn_forest_free(l->forest);
    kn_database_free(l->db);
    l->forest = NULL;
    l->db = NULL;
}

/* ---- Trees ---- */

static void print_cut(const kn_records_plan *plan, const kn_vocabulary *v)
{
    printf("\"cut\": {");
    for (int c = 0; c < v->class_count; c++) {
        uint32_t count = 0;
        for (uint32_t u = v->top[c]; u < v->end[v->top[c]]; u++) count += plan->image[u] == u;
        printf("%s\"%s\": %" PRIu32, c ? ", " : "", v->class_names[c], count);
    }
    printf("}, ");
}

static void told_tree(const kn_tree_result *result, const kn_vocabulary *v)
{
    kn_tree_counters c = result->counters;
    printf("\"found\": %s, \"complete\": %s, \"cost\": %.9g, \"cuts\": %" PRId64 ", \"passed\": %" PRId64
           ", \"intersections\": %" PRId64 ", \"relations_counted\": %" PRId64 ", \"disassociations\": %" PRId64 ", ",
           result->found ? "true" : "false", result->complete ? "true" : "false", result->found ? result->cost : 0.0,
           c.cuts, c.passed, c.intersections, c.relations, result->plan ? result->plan->disassociation_count : 0);
    if (result->plan) print_cut(result->plan, v);
}

/* The released records; NULL: nothing was found. */
static kn_records *search_tree(const settings *s, kn_context *ctx, const kn_records *records, int64_t **original_of)
{
    kn_tree_problem problem = s->tree;
    kn_tree_result *result = NULL;
    kn_records     *released = NULL;
    kn_error        err = KN_ERROR_INIT;
    double          least = 0, least_cpu = 0;
    kn_effort       effort = {0, 0}; /* of the same run */
    problem.records = records;
    for (int i = 0; i < s->repeat; i++) {
        kn_tree_result_free(result);
        double start = now(), start_cpu = cpu(), seconds;
        kn_meter_start(ctx, NULL);
        if (kn_tree_search(&result, ctx, &problem, &err) != KN_OK) die(s->method, err.message);
        seconds = now() - start;
        if (i == 0 || seconds < least) {
            least = seconds;
            least_cpu = cpu() - start_cpu;
            effort = kn_meter_read(ctx);
        }
        kn_meter_stop(ctx);
    }
    printf("\"search\": %.3f, \"cpu\": %.3f, \"work\": %.3f, \"span\": %.3f, \"peak\": %" PRIu64 ", ", least, least_cpu,
           (double)effort.work * 1e-9, (double)effort.span * 1e-9, kn_context_memory_peak(ctx));
    told_tree(result, records->vocabulary);
    if (result->plan && kn_records_apply(&released, original_of, ctx, records, result->plan, &err) != KN_OK)
        die("release", err.message);
    kn_tree_result_free(result);
    return released;
}

/* ---- MiRaCle ---- */

/* What a node of a quasi-identifier's hierarchy is in the vocabulary. */
static uint32_t value_of(const kn_vocabulary *v, const kn_database *db, int table, int q, uint32_t node)
{
    const kn_database_table *t = &db->tables[table];
    const kn_hierarchy      *h = t->columns[t->quasi[q]].hierarchy;
    char                     name[256];
    int                      cls = 0;
    snprintf(name, sizeof name, "%s.%s", t->name, t->table->columns[t->quasi[q]].name);
    while (cls < v->class_count && strcmp(v->class_names[cls], name) != 0) cls++;
    if (cls == v->class_count) die(name, "no such class");
    if (node == kn_hierarchy_root(h)) return v->top[cls];
    uint32_t value = kn_vocabulary_find(v, cls, kn_hierarchy_text(h, node));
    if (value == UINT32_MAX) die(name, "a value is not in the vocabulary");
    return value;
}

/* The record that all members of a class show; returns how many nodes it has. */
static uint32_t class_record(kn_record_node *nodes, uint32_t *head, const loaded *l, const kn_database_plan *plan,
                             uint32_t c)
{
    uint64_t first = plan->node_start[c];
    uint32_t count = 0;
    for (uint32_t i = 0; i < kn_database_plan_nodes(plan, c); i++) {
        const uint32_t *values = plan->values + (first + i) * (uint64_t)plan->width;
        int             table = plan->table[first + i];
        uint32_t from = plan->parent[first + i] == KN_FOREST_NONE ? KN_RECORDS_ROOT : head[plan->parent[first + i]];
        uint32_t above = from;
        head[i] = from;
        for (int q = 0; q < l->db->tables[table].quasi_count; q++) {
            nodes[count] = (kn_record_node){above, value_of(l->records->vocabulary, l->db, table, q, values[q])};
            if (table != l->db->entity) {
                if (q == 0) head[i] = count;
                above = count;
            }
            count++;
        }
    }
    return count;
}

static kn_records *released_records(kn_context *ctx, const loaded *l, const kn_database_plan *plan)
{
    kn_error    err = KN_ERROR_INIT;
    kn_records *out = NULL;
    size_t      most = 1;
    for (uint32_t c = 0; c < plan->classes; c++)
        if (kn_database_plan_nodes(plan, c) > most) most = kn_database_plan_nodes(plan, c);
    size_t          room = most * (size_t)plan->width;
    kn_record_node *nodes = kn_alloc_array(ctx, room, sizeof *nodes);
    uint32_t       *head = kn_alloc_array(ctx, most, sizeof *head);
    void           *scratch = kn_alloc_array(ctx, room, KN_RECORD_SCRATCH);
    if (!nodes || !head || !scratch) die("release", "out of memory");
    /* A class's record never has more nodes than its members' originals. */
    if (kn_records_create(&out, ctx, l->records->vocabulary, false, l->records->count, l->records->nodes + room,
                          &err) != KN_OK)
        die("release", err.message);
    for (int pass = 0; pass < 2; pass++) { /* sizes first, then the nodes */
        for (uint32_t c = 0; c < plan->classes; c++) {
            uint32_t count = kn_record_canonical(nodes, class_record(nodes, head, l, plan, c), scratch);
            for (uint64_t m = plan->member_start[c]; m < plan->member_start[c + 1]; m++) {
                if (pass == 0) out->start[plan->members[m] + 1] = count;
                for (uint32_t i = 0; pass == 1 && i < count; i++) {
                    out->parent[out->start[plan->members[m]] + i] = nodes[i].parent;
                    out->value[out->start[plan->members[m]] + i] = nodes[i].value;
                }
            }
        }
        for (int64_t e = 0; pass == 0 && e < out->count; e++) out->start[e + 1] += out->start[e];
        if (out->start[out->count] > l->records->nodes + room) die("release", "it grew");
    }
    out->nodes = out->start[out->count];
    kn_free(nodes);
    kn_free(head);
    kn_free(scratch);
    return out;
}

static kn_records *search_miracle(const settings *s, kn_context *ctx, const loaded *l, int64_t **original_of)
{
    kn_relational_problem  problem = KN_RELATIONAL_PROBLEM_INIT; /* threshold 1/10, climit 150: the paper's */
    kn_relational_counters counters = {0};
    kn_relational_metrics *metrics = NULL;
    kn_database_plan      *plan = NULL;
    kn_records            *released = NULL;
    kn_error               err = KN_ERROR_INIT;
    bool                   found = false;
    double                 start = now(), start_cpu = cpu();
    problem.forest = l->forest;
    problem.method = s->relational;
    problem.k = s->tree.k;
    if (kn_relational_search(&plan, &found, &counters, ctx, &problem, &err) != KN_OK) die(s->method, err.message);
    printf("\"search\": %.3f, \"cpu\": %.3f, \"peak\": %" PRIu64
           ", \"found\": %s, \"complete\": true, \"clusters\": %" PRId64 ", \"suppressed\": %" PRId64 ", ",
           now() - start, cpu() - start_cpu, kn_context_memory_peak(ctx), found ? "true" : "false", counters.clusters,
           counters.suppressed);
    if (found) {
        if (kn_relational_measure(&metrics, ctx, l->forest, plan, &err) != KN_OK) die("measuring", err.message);
        printf("\"classes\": %" PRIu32 ", \"lm\": %.6g, \"cells\": %" PRId64 ", \"deleted\": %" PRId64 ", ",
               plan->classes, metrics->lm, metrics->cells, metrics->deleted);
        released = released_records(ctx, l, plan);
        *original_of = kn_alloc_array(ctx, (size_t)released->count + 1, sizeof **original_of);
        if (!*original_of) die("release", "out of memory");
        for (int64_t t = 0; t < released->count; t++) (*original_of)[t] = t;
    }
    kn_relational_metrics_free(metrics);
    kn_database_plan_free(plan);
    return released;
}

/* ---- What it cost ---- */

static void measure(const settings *s, kn_context *ctx, const kn_records *records, const kn_records *released,
                    const int64_t *original_of)
{
    kn_tree_metrics m;
    kn_error        err = KN_ERROR_INIT;
    const char     *reason = "";
    double          start = now();
    if (!kn_records_validate(released, &reason)) die("release", reason);
    if (kn_tree_measure(&m, ctx, records, released, original_of, &s->metrics, &err) != KN_OK)
        die("measuring", err.message);
    printf("\"measuring\": %.3f, \"rpd\": %.9g, \"rpd_original\": %.9g, ", now() - start, m.rpd, m.rpd_original);
    if (s->metrics.mine) printf("\"ml2\": %.9g, \"dml2\": %.9g, ", m.ml2, m.dml2);
    printf("\"nodes_released\": %" PRId64 ", \"node_survival\": %.6g, \"relation_survival\": %.6g, ", m.nodes,
           m.node_survival, m.relation_survival);
}

/* ---- Arguments ---- */

static void take_method(settings *s)
{
    s->miracle = strncmp(s->method, "miracle", 7) == 0;
    if (!kn_method_parse(s->method, s->miracle ? &s->relational : &s->tree.method)) die(s->method, "no such method");
}

static bool take(settings *s, const char *name, const char *value)
{
    if (strcmp(name, "--method") == 0)
        s->method = value;
    else if (strcmp(name, "--k") == 0)
        s->tree.k = atoll(value);
    else if (strcmp(name, "--m") == 0)
        s->tree.m = atoi(value);
    else if (strcmp(name, "--n") == 0)
        s->tree.n = atoi(value);
    else if (strcmp(name, "--g") == 0)
        s->tree.g = atoi(value);
    else if (strcmp(name, "--limit") == 0)
        s->tree.time_limit = atof(value);
    else if (strcmp(name, "--support") == 0)
        s->metrics.support = atof(value);
    else if (strcmp(name, "--largest") == 0)
        s->metrics.largest = atoi(value);
    else if (strcmp(name, "--semantics") == 0)
        s->tree.semantics = strcmp(value, "paths") == 0 ? KN_SEMANTICS_PATHS : KN_SEMANTICS_PAIRS;
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
    settings s = {.method = "gcs",
                  .tree = KN_TREE_PROBLEM_INIT,
                  .metrics = KN_TREE_METRICS_OPTIONS_INIT,
                  .threads = 2,
                  .repeat = 1};
    if (argc < 2) die("usage", "RELEASE.yaml [options]");
    s.release = argv[1];
    s.tree.k = 20;
    s.tree.m = 3;
    s.tree.n = 2;
    for (int i = 2; i < argc; i++) {
        if (strcmp(argv[i], "--reference") == 0)
            s.tree.reference = true;
        else if (i + 1 < argc && take(&s, argv[i], argv[i + 1]))
            i++;
        else
            die(argv[i], "no such option");
    }
    s.metrics.mine = s.metrics.support > 0;
    take_method(&s);
    return s;
}

int main(int argc, char **argv)
{
    settings s = arguments(argc, argv);
    loaded   l = {0};
    int64_t *original_of = NULL;
    printf("{\"method\": \"%s\", \"k\": %" PRId64 ", \"m\": %d, \"n\": %d, \"g\": %d, \"threads\": %d, ", s.method,
           s.tree.k, s.tree.m, s.tree.n, s.tree.g, s.threads);
    load(&l, &s);
    if (!s.miracle) unload_database(&l);
    kn_context *ctx = new_context(s.threads); /* the search's own: its peak is the search's */
    kn_records *released =
        s.miracle ? search_miracle(&s, ctx, &l, &original_of) : search_tree(&s, ctx, l.records, &original_of);
    if (released) measure(&s, ctx, l.records, released, original_of);
    printf("\"end\": true}\n");
    kn_records_free(released);
    kn_free(original_of);
    kn_context_free(ctx);
    kn_records_free(l.records);
    unload_database(&l);
    kn_spec_free(l.spec);
    kn_context_free(l.ctx);
    return 0;
}
