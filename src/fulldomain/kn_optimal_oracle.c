/* kn_optimal_oracle.c: counts nodes for the optimal search and the heuristic, for any requirements.
 *
 * If class sizes suffice, nodes are counted by kn_counter.h. Otherwise that engine gives bounds first (rows in
 * classes below k are suppressed anyway), and only nodes that the search still needs are judged by kn_evaluate.h,
 * rolled up from the finest set. If good is not upward closed, a bad node says nothing about those below unless its
 * monotone part fails.
 *
 * Nodes of one call are counted in parallel; the answers and counters do not depend on the number of threads.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_optimal_internal.h"
#include "kn_parallel.h"

#define WHAT "searching the lattice"

void kn_oracle_free(kn_oracle *o)
{
    kn_counter_free(o->counter);
    kn_classes_free(o->finest);
    kn_evaluator_free(o->evaluator);
    kn_falls_free(&o->falls);
    KN_FREE(o->offsets, o->features, o->lows, o->gaps, o->fallen, o->lost);
    *o = (kn_oracle){0};
}

/* ---- Making ---- */

static kn_status make_levels(kn_oracle *o, kn_error *err)
{
    const kn_fulldomain_problem *p = o->problem;
    if (!KN_ALLOC_ZERO(o->ctx, o->offsets, (size_t)o->quasi_count + 1)) return kn_fail_memory(err, o->ctx, WHAT);
    int levels = 0;
    for (int q = 0; q < o->quasi_count; q++) {
        o->offsets[q] = levels;
        levels += (int)p->hierarchies[q]->height + 1;
    }
    if (!KN_ALLOC_ZERO(o->ctx, o->features, (size_t)levels + 1) ||
        !KN_ALLOC_ZERO(o->ctx, o->lows, (size_t)levels + 1) || !KN_ALLOC_ZERO(o->ctx, o->gaps, (size_t)levels + 1))
        return kn_fail_memory(err, o->ctx, WHAT);
    KN_TRY(kn_guess_features(o->features, o->ctx, p, err));
    for (int q = 0; q < o->quasi_count; q++) {
        for (int level = 0; level <= (int)p->hierarchies[q]->height; level++) {
            o->lows[o->offsets[q] + level] = kn_bounds_low_of_level(&o->bounds, q, level);
            o->gaps[o->offsets[q] + level] = kn_bounds_gap_of_level(&o->bounds, q, level);
        }
    }
    return KN_OK;
}

static kn_status make_falls(kn_oracle *o, kn_error *err)
{
    KN_TRY(kn_falls_make(&o->falls, o->ctx, o->problem, err));
    if (!o->falls.gains) return KN_OK;
    size_t levels = (size_t)o->falls.level_count, values = (size_t)o->falls.value_count;
    bool   ok = KN_ALLOC(o->ctx, o->fallen, KN_ORACLE_MOST * levels + 1) &&
              KN_ALLOC(o->ctx, o->lost, KN_ORACLE_MOST * values + 1);
    return ok ? KN_OK : kn_fail_memory(err, o->ctx, WHAT);
}

static kn_status make_engines(kn_oracle *o, kn_error *err)
{
    const kn_fulldomain_problem *p = o->problem;
    if (kn_counter_possible(p)) {
        KN_TRY(make_falls(o, err));
        kn_counter_options options = {.features = o->features, .value_offsets = o->falls.value_offsets};
        KN_TRY(kn_counter_make(&o->counter, o->ctx, p, &options, err));
        o->counters->table_scans++;
        o->counters->keys += kn_table_total(p->table);
    }
    if (o->exact_sizes) return KN_OK;
    KN_TRY(kn_evaluator_make(&o->evaluator, o->ctx, p, err));
    o->monotone = kn_evaluator_monotone(o->evaluator);
    int *bottom = kn_alloc_array_zero(o->ctx, (size_t)o->quasi_count + 1, sizeof *bottom);
    if (!bottom) return kn_fail_memory(err, o->ctx, WHAT);
    kn_status st = kn_classes_scan(&o->finest, o->evaluator, KN_ALL_ATTRIBUTES, bottom, err);
    kn_free(bottom);
    o->counters->table_scans++;
    o->counters->keys += kn_table_total(p->table);
    return st;
}

kn_status kn_oracle_make(kn_oracle *o, kn_context *ctx, const kn_fulldomain_problem *p,
                         kn_fulldomain_counters *counters, kn_error *err)
{
    const kn_requirements *r = p->requirements;
    *o = (kn_oracle){.ctx = ctx, .problem = p, .counters = counters, .quasi_count = p->quasi_count};
    o->exact_sizes = r->k_only && r->entity < 0 && !r->has_average && kn_counter_possible(p);
    o->monotone =
        kn_requirements_monotone(r, p->budget > 0) && !(p->budget > 0 && p->suppressed == KN_SUPPRESSED_KEEP_SENSITIVE);
    kn_bounds_make(&o->bounds, p, o->exact_sizes);
    KN_TRY(make_levels(o, err));
    return make_engines(o, err);
}

/* ---- Counting ---- */

/* Sizes: everything, or bounds. */
static kn_status count_sizes(kn_oracle *oracle, const int *levels, kn_outcome *outcomes, int count, kn_error *err)
{
    const kn_fulldomain_problem *p = oracle->problem;
    kn_counter_job               jobs[KN_ORACLE_MOST];
    const kn_falls              *falls = &oracle->falls;
    for (int i = 0; i < count; i++) {
        jobs[i] = (kn_counter_job){.levels = levels + i * oracle->quasi_count};
        if (falls->gains) jobs[i].lost = oracle->lost + (size_t)i * (size_t)falls->value_count;
    }
    if (falls->gains) memset(oracle->lost, 0, (size_t)count * (size_t)falls->value_count * sizeof *oracle->lost);
    KN_TRY(kn_counter_run_from_best(oracle->counter, jobs, count, &oracle->counters->rollups, &oracle->counters->keys,
                                    err));
    for (int i = 0; i < count; i++) {
        kn_outcome *o = &outcomes[i];
        bool        within = jobs[i].sums.suppressed <= p->budget;
        bool        kept = p->suppressed == KN_SUPPRESSED_KEEP_SENSITIVE && jobs[i].sums.suppressed > 0;
        o->sums = jobs[i].sums;
        o->judged = oracle->exact_sizes || !within;
        o->good = oracle->exact_sizes && within && (!kept || jobs[i].sums.suppressed >= p->requirements->k);
        o->low = kn_bounds_low(&oracle->bounds, &jobs[i].sums, jobs[i].classes);
        o->high = within ? kn_bounds_high(&oracle->bounds, &jobs[i].sums, jobs[i].excess) : KN_BOUND_BAD;
        o->lost = (uint64_t)jobs[i].sums.suppressed;
        if (!falls->gains || !within || jobs[i].sums.suppressed == 0) continue;
        uint64_t *own = oracle->fallen + (size_t)i * (size_t)falls->level_count;
        kn_falls_of(oracle, jobs[i].levels, o->lost, jobs[i].lost, own);
        o->falls = own;
    }
    return KN_OK;
}

typedef struct judging {
    const kn_oracle *oracle;
    const int       *levels;
    kn_verdict      *verdicts;
    int64_t         *classes;
    const int       *which; /* of the nodes */
} judging;

static kn_status judge_range(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    const judging   *j = arg;
    const kn_oracle *o = j->oracle;
    (void)worker;
    for (int64_t i = begin; i < end; i++) {
        kn_classes *set = NULL;
        KN_TRY(kn_classes_rollup(&set, o->evaluator, o->finest, j->levels + j->which[i] * o->quasi_count, err));
        j->classes[i] = kn_classes_count(set);
        kn_status st = kn_classes_judge(&j->verdicts[i], o->evaluator, set, err);
        kn_classes_free(set);
        if (st != KN_OK) return st;
    }
    return KN_OK;
}

/* The verdict of the requirements replaces that of sizes alone. */
static void adopt(const kn_oracle *oracle, kn_outcome *o, const int *levels, const kn_verdict *verdict, int64_t classes)
{
    const kn_objective *objective = oracle->problem->objective;
    o->good = verdict->good;
    o->judged = true;
    o->sums = verdict->sums;
    if (!oracle->counter) o->low = kn_bounds_low(&oracle->bounds, &verdict->sums, classes);
    if (!verdict->possible || (oracle->monotone && !verdict->good)) {
        o->high = KN_BOUND_BAD;
    } else if (oracle->monotone) {
        /* For average risk a node below suppresses at least as many rows, but possibly others, which cost less. */
        kn_u128 excess = 0;
        o->lost = (uint64_t)o->sums.suppressed;
        if (oracle->problem->requirements->has_average) return;
        if (objective->cells)
            excess = kn_objective_loss(objective, &o->sums).numerator - kn_objective_cells_of_node(objective, levels);
        uint64_t high = kn_bounds_high(&oracle->bounds, &o->sums, excess);
        if (high > o->high) o->high = high;
    }
}

/* The nodes that sizes have not decided are judged. */
static kn_status judge(kn_oracle *oracle, const int *levels, kn_outcome *outcomes, int count, kn_oracle_skip skip,
                       const void *arg, kn_error *err)
{
    kn_verdict verdicts[KN_ORACLE_MOST];
    int64_t    classes[KN_ORACLE_MOST];
    int        which[KN_ORACLE_MOST], n = 0;
    for (int i = 0; i < count; i++) {
        kn_outcome *o = &outcomes[i];
        uint64_t    low = kn_oracle_sum(oracle, oracle->lows, levels + i * oracle->quasi_count);
        if (!o->judged && !(skip && skip(arg, o, low > o->low ? low : o->low))) which[n++] = i;
    }
    judging j = {oracle, levels, verdicts, classes, which};
    KN_TRY(kn_parallel_for(oracle->ctx, n, 1, judge_range, &j, err));
    for (int i = 0; i < n; i++)
        adopt(oracle, &outcomes[which[i]], levels + which[i] * oracle->quasi_count, &verdicts[i], classes[i]);
    oracle->counters->rollups += n;
    oracle->counters->keys += n * kn_classes_entries(oracle->finest);
    return KN_OK;
}

kn_status kn_oracle_count(kn_oracle *oracle, const int *levels, kn_outcome *outcomes, int count, kn_oracle_skip skip,
                          const void *arg, kn_error *err)
{
    for (int i = 0; i < count; i++) {
        outcomes[i].judged = outcomes[i].good = false;
        outcomes[i].low = outcomes[i].high = outcomes[i].lost = 0;
        outcomes[i].sums = (kn_node_sums){0};
        outcomes[i].falls = NULL;
    }
    if (oracle->counter) KN_TRY(count_sizes(oracle, levels, outcomes, count, err));
    if (!oracle->exact_sizes) KN_TRY(judge(oracle, levels, outcomes, count, skip, arg, err));
    oracle->counters->nodes_checked += count;
    return KN_OK;
}
