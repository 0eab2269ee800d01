/* partition.c: partitioning alone, timed; run by bench/scoreboard.
 *
 *     bench_partition TABLE COLUMN,COLUMN,... [--k N] [--method NAME] [--threads N] [--repeat N]
 *
 * Reads the table in a context of its own, so that the peak is what partitioning holds beside it. Columns are ordered by
 * their values. Prints one object of JSON: rows, bytes of the encoded table, seconds and processor seconds of the fastest
 * of --repeat runs, the memory held at most, counters.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <kanon/table.h>

#include "kn_partition.h"

enum { MOST_COLUMNS = 64 };

typedef struct settings {
    const char *table;
    char       *columns[MOST_COLUMNS];
    int         column_count, threads, repeat;
    int64_t     k;
    kn_method   method;
} settings;

static _Noreturn void die(const char *what, const char *message)
{
    fprintf(stderr, "bench_partition: %s: %s\n", what, message);
    exit(3);
}

static double clock_of(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
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

static void run(const settings *s, const kn_partition_problem *problem)
{
    kn_partition_counters counters = {0};
    double                seconds = 0, cpu = 0;
    uint64_t              peak = 0;
    for (int i = 0; i < s->repeat; i++) {
        kn_context *ctx = new_context(s->threads);
        kn_error    err = KN_ERROR_INIT;
        kn_plan    *plan = NULL;
        bool        found = false;
        double      start = clock_of(CLOCK_MONOTONIC), start_cpu = clock_of(CLOCK_PROCESS_CPUTIME_ID);
        if (kn_partition_search(&plan, &found, &counters, ctx, problem, &err) != KN_OK) die("search", err.message);
        double took = clock_of(CLOCK_MONOTONIC) - start;
        if (!found) die("search", "the whole table fails the requirement");
        if (i == 0 || took < seconds) {
            seconds = took;
            cpu = clock_of(CLOCK_PROCESS_CPUTIME_ID) - start_cpu;
        }
        peak = kn_context_memory_peak(ctx);
        kn_plan_free(plan);
        kn_context_free(ctx);
    }
    printf("{\"rows\": %" PRId64 ", \"k\": %" PRId64 ", \"encoded\": %" PRIu64 ", \"seconds\": %.6f, \"cpu\": %.6f",
           kn_table_rows(problem->table), s->k, kn_table_bytes(problem->table), seconds, cpu);
    printf(", \"peak\": %" PRIu64 ", \"regions\": %" PRId64 ", \"cuts\": %" PRId64 ", \"cuts_tried\": %" PRId64
           ", \"frequency_sets\": %" PRId64 ", \"depth\": %d}\n",
           peak, counters.regions, counters.cuts, counters.cuts_tried, counters.frequency_sets, counters.depth);
}

static settings arguments(int argc, char **argv)
{
    settings s = {.threads = 2, .repeat = 1, .k = 10, .method = KN_METHOD_MONDRIAN};
    if (argc < 3) die("usage", "TABLE COLUMNS [options]");
    s.table = argv[1];
    for (char *part = strtok(argv[2], ","); part && s.column_count < MOST_COLUMNS; part = strtok(NULL, ","))
        s.columns[s.column_count++] = part;
    for (int i = 3; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--k") == 0)
            s.k = atoll(argv[i + 1]);
        else if (strcmp(argv[i], "--threads") == 0)
            s.threads = atoi(argv[i + 1]);
        else if (strcmp(argv[i], "--repeat") == 0)
            s.repeat = atoi(argv[i + 1]);
        else if (strcmp(argv[i], "--method") != 0 || !kn_method_parse(argv[i + 1], &s.method))
            die(argv[i], "no such option");
    }
    return s;
}

int main(int argc, char **argv)
{
    settings                s = arguments(argc, argv);
    kn_error                err = KN_ERROR_INIT;
    kn_context             *ctx = new_context(s.threads);
    kn_table               *table = NULL;
    kn_csv_options          csv = KN_CSV_OPTIONS_INIT;
    int                     quasi[MOST_COLUMNS];
    const kn_hierarchy     *hierarchies[MOST_COLUMNS] = {NULL};
    bool                    ordered[MOST_COLUMNS] = {false};
    kn_model                model = KN_MODEL_INIT;
    kn_requirements_options options = {.models = &model, .model_count = 1, .entity = -1};
    kn_requirements        *requirements = NULL;
    if (kn_table_read_csv(&table, ctx, s.table, &csv, &err) != KN_OK) die("table", err.message);
    for (int q = 0; q < s.column_count; q++) {
        quasi[q] = kn_table_find(table, s.columns[q]);
        if (quasi[q] < 0) die(s.columns[q], "no such column");
    }
    model.k = s.k;
    if (kn_requirements_make(&requirements, ctx, table, &options, &err) != KN_OK) die("k", err.message);
    run(&s, &(kn_partition_problem){.table = table,
                                    .quasi_count = s.column_count,
                                    .quasi = quasi,
                                    .hierarchies = hierarchies,
                                    .ordered = ordered,
                                    .requirements = requirements,
                                    .method = s.method});
    kn_requirements_free(requirements);
    kn_table_free(table);
    kn_context_free(ctx);
    return 0;
}
