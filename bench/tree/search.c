/* search.c: how long the k^(m,n) searches take on records in the shape of TPC-H.
 *
 * usage: bench_tree RECORDS [method=gcs] [k=20] [m=3] [n=2] [g=2] [threads=2] [limit=SECONDS] [reference=1] [paths=1]
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kn_tree.h"
#include "tpch_records.h"

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void print_cut(const kn_records_plan *plan, const kn_vocabulary *v)
{
    int per_class[16] = {0};
    for (uint32_t u = 1; u < v->nodes; u++)
        if (plan->image[u] == u) per_class[v->cls[u]]++;
    printf("cut");
    for (int c = 0; c < v->class_count; c++) printf(" %s %d", v->class_names[c], per_class[c]);
    printf("\n");
}

int main(int argc, char **argv)
{
    if (argc < 2) return 2;
    kn_tree_problem    p = KN_TREE_PROBLEM_INIT;
    kn_context_options options = KN_CONTEXT_OPTIONS_INIT;
    kn_error           err = KN_ERROR_INIT;
    p.k = 20;
    p.m = 3;
    p.n = 2;
    options.threads = 2;
    for (int i = 2; i < argc; i++) {
        const char *value = strchr(argv[i], '=');
        if (!value++) return 2;
        double x = atof(value);
        switch (argv[i][0]) {
        case 'm':
            if (argv[i][1] == '=')
                p.m = (int)x;
            else
                p.method = value[0] == 'a' ? KN_METHOD_ACS : value[0] == 'o' ? KN_METHOD_OCS : KN_METHOD_GCS;
            break;
        case 'k': p.k = (int64_t)x; break;
        case 'n': p.n = (int)x; break;
        case 'g': p.g = (int)x; break;
        case 't': options.threads = (int)x; break;
        case 'l': p.time_limit = x; break;
        case 'r': p.reference = x > 0; break;
        case 'p': p.semantics = x > 0 ? KN_SEMANTICS_PATHS : KN_SEMANTICS_PAIRS; break;
        case 's': p.strict = x > 0; break;
        default: return 2;
        }
    }
    kn_context *ctx;
    if (kn_context_create(&ctx, &options, &err) != KN_OK) return 1;
    kn_records *records = tpch_records(ctx, atoll(argv[1]), 1);
    if (!records) return 1;
    p.records = records;
    double          bytes = (double)records->nodes * 8 + (double)(records->count + 1) * 8;
    kn_tree_result *result;
    double          begin = now();
    if (kn_tree_search(&result, ctx, &p, &err) != KN_OK) {
        fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    printf("%lld records, %.1f nodes each: %.2f s, found %d, complete %d, cost %.6g, %lld disassociations\n",
           (long long)records->count, (double)records->nodes / (double)records->count, now() - begin, result->found,
           result->complete, result->cost, result->plan ? (long long)result->plan->disassociation_count : 0);
    kn_tree_counters c = result->counters;
    printf("cuts %lld, passed %lld, intersections %lld, relations %lld, disassociations %lld\n", (long long)c.cuts,
           (long long)c.passed, (long long)c.intersections, (long long)c.relations, (long long)c.disassociations);
    printf("memory: forest %.1f MB, peak %.1f MB (%.2f x)\n", bytes / 1e6, (double)kn_context_memory_peak(ctx) / 1e6,
           (double)kn_context_memory_peak(ctx) / bytes);
    if (result->plan) print_cut(result->plan, records->vocabulary);
    kn_tree_result_free(result);
    kn_records_free(records);
    kn_context_free(ctx);
    return 0;
}
