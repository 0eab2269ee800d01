/* kn_search.c: what the enumerating methods share: counters, trace, the best node, the time limit.
 *
 * Interface: kn_search.h. The best node is that of kn_standing_compare, so the result does not depend on the order in which
 * nodes are offered.
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE
#include "kn_search.h"

#include <string.h>

#include "kn_alloc.h"
#include "kn_clock.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_marginal.h"
#include "kn_parallel.h"

#define WHAT "searching the lattice"

static kn_status too_large(const kn_search *s, kn_error *err)
{
    const char *method = kn_method_name(s->problem->method), *other = kn_method_name(KN_METHOD_HEURISTIC);
    if (s->problem->quasi_count > 64)
        return kn_fail(err, KN_USAGE, "%s cannot search more than 64 quasi-identifiers; try the method %s", method,
                       other);
    return kn_fail(err, KN_USAGE, "%s cannot search a lattice of %.3g nodes (at most %d); try the method %s", method,
                   s->lattice.nodes, KN_LATTICE_MAX, other);
}

kn_status kn_search_begin(kn_search *s, kn_context *ctx, const kn_fulldomain_problem *problem,
                          kn_fulldomain_result *result, kn_error *err)
{
    *s = (kn_search){.ctx = ctx, .problem = problem, .result = result, .keep = problem->keep};
    if (s->keep == 0) s->keep = (size_t)256 << 20;
    int quasi = problem->quasi_count;
    if (problem->time_limit > 0) s->deadline = kn_clock_seconds() + problem->time_limit;
    int *heights = kn_alloc_array_zero(ctx, (size_t)quasi + 1, sizeof *heights);
    if (!heights) return kn_fail_memory(err, ctx, WHAT);
    for (int q = 0; q < quasi; q++) heights[q] = kn_hierarchy_levels(problem->hierarchies[q]) - 1;
    kn_status st = kn_lattice_make(&s->lattice, ctx, heights, quasi, err);
    kn_free(heights);
    if (st != KN_OK) return st;
    if (quasi > 64 || s->lattice.count < 0) return too_large(s, err);
    s->all = quasi == 64 ? UINT64_MAX : ((uint64_t)1 << quasi) - 1;
    return kn_evaluator_make(&s->evaluator, ctx, problem, err);
}

/* ---- Steps that merge little ---- */

/* Sums of the squared rows of the values that the column shows at each level. */
static kn_status sum_squares(kn_u128 *sums, const kn_search *s, int q, kn_error *err)
{
    const kn_hierarchy *h = s->problem->hierarchies[q];
    const kn_column    *column = &s->problem->table->columns[s->problem->quasi[q]];
    int64_t            *counts = kn_alloc_array_zero(s->ctx, (size_t)column->dict.count + 1, sizeof *counts);
    int64_t            *rows = kn_alloc_array(s->ctx, h->nodes, sizeof *rows);
    if (counts && rows) kn_marginal_count(counts, s->problem->table, s->problem->quasi[q]);
    for (uint32_t level = 0; level <= h->height && counts && rows; level++) {
        memset(rows, 0, h->nodes * sizeof *rows);
        for (uint32_t code = 0; code <= column->dict.count; code++)
            rows[kn_hierarchy_of_code(h, code, level)] += counts[code];
        sums[level] = 0;
        for (uint32_t node = 0; node < h->nodes; node++) sums[level] += (kn_u128)rows[node] * (kn_u128)rows[node];
    }
    bool fine = counts && rows;
    KN_FREE(counts, rows);
    return fine ? KN_OK : kn_fail_memory(err, s->ctx, WHAT);
}

typedef struct merging {
    int         attribute, level;
    kn_quotient by; /* squares after it / squares before it */
} merging;

static bool merges_less(const merging *a, const merging *b)
{
    int order = kn_quotient_compare(a->by, b->by);
    return order < 0 || (order == 0 && a->attribute < b->attribute); /* steps of one attribute never compete */
}

static kn_status sum_range(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    (void)worker;
    const kn_search *s = ((void **)arg)[0];
    kn_u128        **sums = ((void **)arg)[1];
    for (int64_t q = begin; q < end; q++) KN_TRY(sum_squares(sums[q], s, (int)q, err));
    return KN_OK;
}

/* Ranks by counting the steps that merge less: there are few. */
static void rank_steps(kn_search *s, kn_u128 *const *sums)
{
    for (int q = 0; q < s->lattice.quasi_count; q++)
        for (int level = 1; level <= s->lattice.heights[q]; level++) {
            merging one = {q, level, {sums[q][level], sums[q][level - 1]}};
            for (int o = 0; o < s->lattice.quasi_count; o++)
                for (int l = 1; l <= s->lattice.heights[o]; l++) {
                    merging other = {o, l, {sums[o][l], sums[o][l - 1]}};
                    s->ranks[q][level] += merges_less(&other, &one);
                }
        }
}

kn_status kn_search_rank(kn_search *s, kn_error *err)
{
    size_t    quasi = (size_t)s->lattice.quasi_count;
    kn_u128 **sums = kn_alloc_array_zero(s->ctx, quasi, sizeof(kn_u128 *));
    s->ranks = kn_alloc_array_zero(s->ctx, quasi, sizeof(int *));
    bool fine = sums && s->ranks;
    for (size_t q = 0; q < quasi && fine; q++) {
        size_t levels = (size_t)s->lattice.heights[q] + 1;
        sums[q] = kn_alloc_array_zero(s->ctx, levels, sizeof **sums);
        s->ranks[q] = kn_alloc_array_zero(s->ctx, levels, sizeof **s->ranks);
        fine = sums[q] && s->ranks[q];
    }
    void     *arg[] = {s, sums};
    kn_status st =
        fine ? kn_parallel_for(s->ctx, (int64_t)quasi, 1, sum_range, arg, err) : kn_fail_memory(err, s->ctx, WHAT);
    if (st == KN_OK) rank_steps(s, sums);
    for (size_t q = 0; q < quasi && sums; q++) kn_free(sums[q]);
    kn_free(sums);
    return st;
}

void kn_search_end(kn_search *s)
{
    for (int q = 0; q < s->lattice.quasi_count && s->ranks; q++) kn_free(s->ranks[q]);
    kn_free(s->ranks);
    kn_evaluator_free(s->evaluator);
    kn_lattice_free(&s->lattice);
}

bool kn_search_is_late(const kn_search *s)
{
    return s->late || (s->deadline > 0 && kn_clock_seconds() >= s->deadline);
}

kn_status kn_search_check(kn_search *s, kn_error *err)
{
    if (kn_cancelled(s->ctx)) return kn_fail_cancelled(err);
    s->late = kn_search_is_late(s);
    return KN_OK;
}

/* ---- Steps ---- */

kn_status kn_search_trace(kn_search *s, kn_step_kind kind, uint64_t attributes, const int *levels, kn_error *err)
{
    kn_fulldomain_result *r = s->result;
    if (!s->problem->trace) return KN_OK;
    if (!KN_GROW(s->ctx, &r->trace, &s->trace_capacity, (size_t)r->trace_count + 1))
        return kn_fail_memory(err, s->ctx, WHAT);
    int *copy = kn_alloc_array_zero(s->ctx, (size_t)r->quasi_count + 1, sizeof *copy);
    if (!copy) return kn_fail_memory(err, s->ctx, WHAT);
    for (int q = 0; q < r->quasi_count; q++)
        if (attributes >> q & 1) copy[q] = levels[q];
    r->trace[r->trace_count++] = (kn_trace_step){kind, attributes, copy};
    return KN_OK;
}

kn_status kn_search_scan(kn_search *s, kn_classes **out, uint64_t attributes, const int *levels, kn_error *err)
{
    KN_TRY(kn_search_trace(s, KN_STEP_SCAN, attributes, levels, err));
    s->result->counters.table_scans++;
    s->result->counters.keys += kn_table_total(s->problem->table);
    return kn_classes_scan(out, s->evaluator, attributes, levels, err);
}

kn_status kn_search_rollup(kn_search *s, kn_classes **out, const kn_classes *from, uint64_t attributes,
                           const int *levels, kn_error *err)
{
    KN_TRY(kn_search_trace(s, KN_STEP_ROLLUP, attributes, levels, err));
    s->result->counters.rollups++;
    s->result->counters.keys += kn_classes_entries(from);
    return kn_classes_rollup(out, s->evaluator, from, levels, err);
}

kn_status kn_search_project(kn_search *s, kn_classes **out, const kn_classes *from, uint64_t attributes,
                            const int *levels, kn_error *err)
{
    KN_TRY(kn_search_trace(s, KN_STEP_PROJECT, attributes, levels, err));
    s->result->counters.projections++;
    s->result->counters.keys += kn_classes_entries(from);
    return kn_classes_project(out, s->evaluator, from, attributes, err);
}

kn_status kn_search_test(kn_search *s, kn_verdict *out, const kn_classes *classes, uint64_t attributes,
                         const int *levels, kn_error *err)
{
    KN_TRY(kn_classes_judge(out, s->evaluator, classes, err));
    s->result->counters.nodes_checked++;
    return kn_search_trace(s, out->good ? KN_STEP_TEST_GOOD : KN_STEP_TEST_BAD, attributes, levels, err);
}

/* ---- What was found ---- */

static kn_status fill_solution(kn_search *s, kn_solution *to, const int *levels, const kn_verdict *v, kn_error *err)
{
    size_t quasi = (size_t)s->problem->quasi_count;
    if (!to->levels && !KN_ALLOC_ZERO(s->ctx, to->levels, quasi + 1)) return kn_fail_memory(err, s->ctx, WHAT);
    memcpy(to->levels, levels, quasi * sizeof *levels);
    to->suppressed = v->sums.suppressed;
    to->classes = v->sums.classes;
    to->loss = kn_objective_loss(s->problem->objective, &v->sums);
    return KN_OK;
}

kn_status kn_search_offer(kn_search *s, const int *levels, const kn_verdict *v, kn_error *err)
{
    kn_solution *best = &s->result->best;
    kn_standing  offered = {kn_objective_loss(s->problem->objective, &v->sums), v->sums.suppressed, levels};
    if (s->result->found && kn_standing_compare(offered, kn_standing_of(best), s->problem->quasi_count) >= 0)
        return KN_OK;
    KN_TRY(fill_solution(s, best, levels, v, err));
    s->result->found = true;
    return KN_OK;
}

bool kn_search_promising(const kn_search *s, const int *levels, kn_u128 squares, int64_t classes)
{
    const kn_fulldomain_problem *p = s->problem;
    if (!s->result->found) return true;
    if (p->requirements->linked && !p->objective->cells) return true; /* classes are suppressed in part: no bound */
    kn_quotient bound = kn_objective_bound(p->objective, levels, squares, classes, p->budget);
    int         order = kn_quotient_compare(bound, s->result->best.loss);
    if (order != 0) return order < 0;
    /* At best equally good: it may still suppress fewer rows, or as few with lower levels. Those above it are higher. */
    return s->result->best.suppressed > 0 ||
           kn_levels_compare_by_height(levels, s->result->best.levels, p->quasi_count) < 0;
}

kn_status kn_search_solution(kn_search *s, const int *levels, const kn_verdict *v, kn_error *err)
{
    kn_fulldomain_result *r = s->result;
    if (!s->problem->all_solutions) return KN_OK;
    if (!KN_GROW(s->ctx, &r->solutions, &s->solution_capacity, (size_t)r->solution_count + 1))
        return kn_fail_memory(err, s->ctx, WHAT);
    r->solutions[r->solution_count] = (kn_solution){.levels = NULL};
    KN_TRY(fill_solution(s, &r->solutions[r->solution_count], levels, v, err));
    r->solution_count++;
    return KN_OK;
}

/* They come height by height, each height in order: merging by insertion from the back would be quadratic, so heapsort. */
static void sift(kn_solution *list, int64_t at, int64_t count, int quasi)
{
    kn_solution moved = list[at];
    for (int64_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && kn_levels_compare(list[child].levels, list[child + 1].levels, quasi) < 0) child++;
        if (kn_levels_compare(moved.levels, list[child].levels, quasi) >= 0) break;
        list[at] = list[child];
    }
    list[at] = moved;
}

void kn_search_sort_solutions(kn_search *s)
{
    kn_solution *list = s->result->solutions;
    int64_t      count = s->result->solution_count;
    for (int64_t i = count / 2; i-- > 0;) sift(list, i, count, s->problem->quasi_count);
    for (int64_t end = count - 1; end > 0; end--) {
        kn_solution first = list[0];
        list[0] = list[end];
        list[end] = first;
        sift(list, 0, end, s->problem->quasi_count);
    }
}
