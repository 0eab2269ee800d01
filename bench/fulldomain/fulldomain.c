/* fulldomain.c: every full-domain method on one table; run by bench/fulldomain/run.
 *
 *     bench_fulldomain TABLE HIERARCHIES COLUMN,COLUMN,... [--k N,N...] [--budget PERCENT,...] [--metric NAME]
 *                      [--methods NAME,...] [--threads N] [--limit SECONDS] [--repeat N] [--all] [--greedy] [--boxes]
 *                      [--node LEVEL,LEVEL,...] [--nodes N]
 *
 * HIERARCHIES: a folder with files whose names end in "_COLUMN.csv". A column without one gets ranges (numbers) or one
 * step to "*". Prints one line of JSON per method, k and budget: the fastest of --repeat runs, the counters, and the
 * memory that the search held at most (the table is in a context of its own). --greedy: in place of the heuristic, the
 * plain descent from the top that it is measured against; --boxes: in place of any method, the proof by boxes that
 * optimal uses, without its choice of method. --node: that node alone.
 * --nodes: the heuristic ends after so many counted ones.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kn_alloc.h"
#include "kn_fulldomain.h"
#include "kn_heuristic.h"
#include "kn_hierarchy.h"

enum { MOST_COLUMNS = 64, MOST_NUMBERS = 16 };

typedef struct settings {
    const char *table, *folder;
    char       *columns[MOST_COLUMNS];
    int         column_count, threads, repeat;
    double      ks[MOST_NUMBERS], budgets[MOST_NUMBERS], limit;
    int         k_count, budget_count;
    kn_metric   metric;
    bool        methods[KN_METHODS], all, greedy, boxes;
    double      levels[MOST_COLUMNS];
    int         node[MOST_COLUMNS], node_count, nodes;
} settings;

static _Noreturn void die(const char *what, const char *message)
{
    fprintf(stderr, "bench_fulldomain: %s: %s\n", what, message);
    exit(3);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* ---- The table ---- */

/* The file of a column in the folder; NULL: none. Freed by the caller. */
static char *hierarchy_file(const char *folder, const char *column)
{
    char           end[256], *path = NULL;
    DIR           *dir = opendir(folder);
    struct dirent *entry;
    snprintf(end, sizeof end, "_%s.csv", column);
    while (dir && !path && (entry = readdir(dir))) {
        size_t length = strlen(entry->d_name), tail = strlen(end);
        if (length < tail || strcmp(entry->d_name + length - tail, end) != 0) continue;
        size_t size = strlen(folder) + length + 2;
        path = malloc(size);
        if (!path) die("hierarchies", "out of memory");
        snprintf(path, size, "%s/%s", folder, entry->d_name);
    }
    if (dir) closedir(dir);
    return path;
}

static kn_hierarchy *make_hierarchy(kn_context *ctx, const settings *s, const kn_table *table, int column)
{
    static const char *const widths[] = {"5", "10", "20", "40"};
    kn_hierarchy_spec        spec = KN_HIERARCHY_SPEC_INIT;
    kn_error                 err = KN_ERROR_INIT;
    kn_hierarchy            *h = NULL;
    char                    *path = hierarchy_file(s->folder, kn_table_name(table, column));
    if (path) {
        spec.path = path;
    } else if (kn_table_type(table, column) == KN_TYPE_INTEGER) {
        spec.kind = KN_HIERARCHY_RANGES;
        spec.widths = widths;
        spec.width_count = 4;
    } else {
        spec.kind = KN_HIERARCHY_SUPPRESS;
    }
    if (kn_hierarchy_make(&h, ctx, table, column, &spec, false, &err) != KN_OK) die("hierarchy", err.message);
    free(path);
    return h;
}

/* ---- One run ---- */

typedef struct outcome {
    double                seconds;
    uint64_t              memory;
    kn_fulldomain_result *result;
    kn_context           *ctx;
} outcome;

static kn_status run_with(outcome *o, const kn_fulldomain_problem *problem, kn_heuristic_options options, kn_error *err)
{
    o->result = kn_alloc_zero(o->ctx, sizeof *o->result);
    if (!o->result) die("greedy", "out of memory");
    o->result->ctx = o->ctx;
    o->result->quasi_count = problem->quasi_count;
    o->result->counters.lattice = 1;
    for (int q = 0; q < problem->quasi_count; q++)
        o->result->counters.lattice *= kn_hierarchy_levels(problem->hierarchies[q]);
    return kn_heuristic_search_within(o->result, o->ctx, problem, &options, err);
}

static outcome run_once(const settings *s, const kn_fulldomain_problem *problem)
{
    outcome            o = {0};
    kn_error           err = KN_ERROR_INIT;
    kn_context_options options = KN_CONTEXT_OPTIONS_INIT;
    options.threads = s->threads;
    if (kn_context_create(&o.ctx, &options, &err) != KN_OK) die("context", err.message);
    double    start = now();
    kn_heuristic_options limits = {.greedy = s->greedy, .prove = s->boxes, .node_limit = s->nodes};
    kn_status st = s->greedy || s->boxes || s->nodes > 0
                       ? run_with(&o, problem, limits, &err)
                       : kn_fulldomain_search(&o.result, o.ctx, problem, &err);
    if (st != KN_OK) die(kn_method_name(problem->method), err.message);
    o.seconds = now() - start;
    o.memory = kn_context_memory_peak(o.ctx);
    return o;
}

static void print_outcome(const settings *s, const kn_fulldomain_problem *p, double k, double budget, const outcome *o)
{
    const kn_fulldomain_result   *r = o->result;
    const kn_fulldomain_counters *c = &r->counters;
    printf("{\"method\": \"%s\", \"metric\": \"%s\", \"k\": %g, \"budget\": %g, \"rows\": %" PRId64,
           kn_method_name(p->method), kn_metric_name(s->metric), k, budget, p->table->rows);
    printf(", \"seconds\": %.6f, \"memory\": %" PRIu64 ", \"lattice\": %g", o->seconds, o->memory, c->lattice);
    printf(", \"candidates\": %" PRId64 ", \"checked\": %" PRId64 ", \"marked\": %" PRId64, c->candidates,
           c->nodes_checked, c->nodes_marked);
    printf(", \"measured\": %" PRId64 ", \"scans\": %" PRId64 ", \"rollups\": %" PRId64 ", \"projections\": %" PRId64,
           c->nodes_measured, c->table_scans, c->rollups, c->projections);
    printf(", \"boxes\": %" PRId64, c->boxes);
    if (r->bounded) printf(", \"bound\": %.12g", kn_objective_value(p->objective, r->bound));
    printf(", \"keys\": %" PRId64 ", \"found\": %s, \"complete\": %s, \"optimal\": %s", c->keys,
           r->found ? "true" : "false", r->complete ? "true" : "false", r->optimal ? "true" : "false");
    if (r->found) {
        printf(", \"loss\": %.12g, \"suppressed\": %" PRId64 ", \"node\": [",
               kn_objective_value(p->objective, r->best.loss), r->best.suppressed);
        for (int q = 0; q < p->quasi_count; q++) printf("%s%d", q > 0 ? ", " : "", r->best.levels[q]);
        printf("]");
    }
    if (s->all) printf(", \"solutions\": %" PRId64 ", \"good\": %" PRId64, r->solution_count, r->good);
    printf("}\n");
    fflush(stdout);
}

static void run_methods(const settings *s, kn_fulldomain_problem *problem, double k, double budget)
{
    for (int m = 0; m < KN_METHODS; m++) {
        outcome best = {0};
        if (!s->methods[m]) continue;
        problem->method = (kn_method)m;
        for (int i = 0; i < s->repeat; i++) {
            outcome o = run_once(s, problem);
            if (best.result && o.seconds >= best.seconds) {
                kn_fulldomain_result_free(o.result);
                kn_context_free(o.ctx);
                continue;
            }
            kn_fulldomain_result_free(best.result);
            kn_context_free(best.ctx);
            best = o;
        }
        print_outcome(s, problem, k, budget, &best);
        kn_fulldomain_result_free(best.result);
        kn_context_free(best.ctx);
    }
}

static void run_table(const settings *s, kn_context *ctx, const kn_table *table)
{
    int                 quasi[MOST_COLUMNS];
    const kn_hierarchy *hierarchies[MOST_COLUMNS];
    kn_error            err = KN_ERROR_INIT;
    for (int q = 0; q < s->column_count; q++) {
        quasi[q] = kn_table_find(table, s->columns[q]);
        if (quasi[q] < 0) die(s->columns[q], "no such column");
        hierarchies[q] = make_hierarchy(ctx, s, table, quasi[q]);
    }
    for (int i = 0; i < s->k_count; i++) {
        kn_model                model = KN_MODEL_INIT;
        kn_requirements_options options = {.models = &model, .model_count = 1, .entity = -1};
        kn_requirements        *requirements = NULL;
        kn_objective           *objective = NULL;
        model.k = (int64_t)s->ks[i];
        if (kn_requirements_make(&requirements, ctx, table, &options, &err) != KN_OK) die("k", err.message);
        if (kn_objective_make(&objective, ctx, table, quasi, hierarchies, s->column_count, NULL, s->metric, model.k,
                              &err) != KN_OK)
            die("metric", err.message);
        for (int b = 0; b < s->budget_count; b++) {
            kn_fulldomain_problem problem = {.table = table,
                                             .quasi_count = s->column_count,
                                             .quasi = quasi,
                                             .hierarchies = hierarchies,
                                             .requirements = requirements,
                                             .objective = objective,
                                             .budget =
                                                 (int64_t)((double)kn_table_rows(table) * s->budgets[b] / 100 + 1e-6),
                                             .time_limit = s->limit,
                                             .low = s->node_count > 0 ? s->node : NULL,
                                             .high = s->node_count > 0 ? s->node : NULL,
                                             .all_solutions = s->all};
            run_methods(s, &problem, s->ks[i], s->budgets[b]);
        }
        kn_objective_free(objective);
        kn_requirements_free(requirements);
    }
    for (int q = 0; q < s->column_count; q++) kn_hierarchy_free((kn_hierarchy *)(uintptr_t)hierarchies[q]);
}

/* ---- Arguments ---- */

static int numbers(char *text, double *out, int most)
{
    int n = 0;
    for (char *part = strtok(text, ","); part && n < most; part = strtok(NULL, ",")) out[n++] = atof(part);
    return n;
}

static void take_methods(settings *s, char *text)
{
    memset(s->methods, 0, sizeof s->methods);
    for (char *part = strtok(text, ","); part; part = strtok(NULL, ",")) {
        kn_method m;
        if (!kn_method_parse(part, &m)) die(part, "no such method");
        s->methods[m] = true;
    }
}

static const kn_method full_domain[] = {KN_METHOD_OPTIMAL,          KN_METHOD_SAMARATI,  KN_METHOD_BOTTOM_UP,
                                        KN_METHOD_BOTTOM_UP_ROLLUP, KN_METHOD_INCOGNITO, KN_METHOD_INCOGNITO_SUPERROOTS,
                                        KN_METHOD_INCOGNITO_CUBE,   KN_METHOD_HEURISTIC, KN_METHOD_DATAFLY};

static settings arguments(int argc, char **argv)
{
    settings s = {.threads = 2, .repeat = 1, .ks = {5}, .k_count = 1, .budgets = {0, 5, 100}, .budget_count = 3};
    if (argc < 4) die("usage", "TABLE HIERARCHIES COLUMNS [options]");
    for (size_t m = 0; m < sizeof full_domain / sizeof *full_domain; m++) s.methods[full_domain[m]] = true;
    s.table = argv[1];
    s.folder = argv[2];
    for (char *part = strtok(argv[3], ","); part && s.column_count < MOST_COLUMNS; part = strtok(NULL, ","))
        s.columns[s.column_count++] = part;
    for (int i = 4; i < argc; i++) {
        char *value = i + 1 < argc ? argv[i + 1] : argv[i];
        bool  all = strcmp(argv[i], "--all") == 0, greedy = strcmp(argv[i], "--greedy") == 0,
              boxes = strcmp(argv[i], "--boxes") == 0;
        s.all = s.all || all;
        s.greedy = s.greedy || greedy;
        s.boxes = s.boxes || boxes;
        if (all || greedy || boxes) continue;
        if (strcmp(argv[i], "--k") == 0)
            s.k_count = numbers(value, s.ks, MOST_NUMBERS);
        else if (strcmp(argv[i], "--budget") == 0)
            s.budget_count = numbers(value, s.budgets, MOST_NUMBERS);
        else if (strcmp(argv[i], "--node") == 0)
            s.node_count = numbers(value, s.levels, MOST_COLUMNS);
        else if (strcmp(argv[i], "--threads") == 0)
            s.threads = atoi(value);
        else if (strcmp(argv[i], "--repeat") == 0)
            s.repeat = atoi(value);
        else if (strcmp(argv[i], "--nodes") == 0)
            s.nodes = atoi(value);
        else if (strcmp(argv[i], "--limit") == 0)
            s.limit = atof(value);
        else if (strcmp(argv[i], "--methods") == 0)
            take_methods(&s, value);
        else if (strcmp(argv[i], "--metric") != 0 || !kn_metric_parse(value, &s.metric))
            die(argv[i], "no such option");
        i++;
    }
    for (int q = 0; q < s.node_count; q++) s.node[q] = (int)s.levels[q];
    return s;
}

int main(int argc, char **argv)
{
    settings       s = arguments(argc, argv);
    kn_error       err = KN_ERROR_INIT;
    kn_context    *ctx = NULL;
    kn_table      *table = NULL;
    kn_csv_options csv = KN_CSV_OPTIONS_INIT;
    if (kn_context_create(&ctx, NULL, &err) != KN_OK) die("context", err.message);
    if (kn_table_read_csv(&table, ctx, s.table, &csv, &err) != KN_OK) die("table", err.message);
    run_table(&s, ctx, table);
    kn_table_free(table);
    kn_context_free(ctx);
    return 0;
}
