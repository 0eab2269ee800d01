/* kn_samarati.c: Samarati's binary search on the height (2001; docs/errata.md 3).
 *
 * Where good is upward closed, a height has a good node if a lower one has. The nodes of the middle height are
 * counted from the rows and tested in lexicographic order until one is good; then only lower heights remain,
 * otherwise only higher ones. The answer is a good node of minimal height, the lexicographically lowest of that
 * height.
 *
 * Where the requirements are not monotone that halving would be wrong: heights are then searched one by one from
 * below, which gives the same kind of answer with more tests.
 *
 * A height of a large lattice has more nodes than can be counted (20 attributes with two levels: 184,756 in the middle).
 * From PLAIN_MOST nodes on the same answer is found by boxes (kn_boxes.c), by height instead of loss; if that takes too
 * long and there is no time limit, it is refused.
 *
 * Cost: one scan per tested node; at most log2(height) + 1 heights where good is upward closed.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "kn_alloc.h"
#include "kn_boxes.h"
#include "kn_clock.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_fulldomain_methods.h"
#include "kn_search.h"

#define WHAT "searching the lattice"

enum { PLAIN_MOST = 50000, FIRST = KN_BATCH };
#define WORK_MOST ((int64_t)1 << 30) /* classes gone through where there is no time limit */

/* One height: until a node is good. */
static kn_status look_at_height(kn_search *s, int height, int *levels, kn_verdict *verdict, bool *found, kn_error *err)
{
    *found = false;
    bool more = kn_lattice_first(&s->lattice, height, levels);
    while (more) {
        KN_TRY(kn_search_check(s, err));
        if (s->late) return KN_OK;
        kn_classes *set = NULL;
        KN_TRY(kn_search_scan(s, &set, s->all, levels, err));
        kn_status st = kn_search_test(s, verdict, set, s->all, levels, err);
        kn_classes_free(set);
        if (st != KN_OK) return st;
        s->result->counters.candidates++;
        kn_progress_add(s->ctx, 1);
        if (verdict->good) {
            *found = true;
            return KN_OK;
        }
        more = kn_lattice_next(&s->lattice, levels);
    }
    return KN_OK;
}

static kn_status halve(kn_search *s, int *levels, int *best, kn_verdict *best_verdict, bool *any, kn_error *err)
{
    bool   monotone = kn_evaluator_monotone(s->evaluator);
    size_t bytes = (size_t)s->problem->quasi_count * sizeof *levels;
    int    low = 0, high = s->lattice.height, found_at = -1;
    /* The top's height is only searched if no lower one was good. */
    while (low < high || found_at != low) {
        int        middle = monotone ? low + (high - low) / 2 : low;
        bool       found;
        kn_verdict verdict;
        KN_TRY(look_at_height(s, middle, levels, &verdict, &found, err));
        if (s->late) return KN_OK;
        if (found) {
            high = found_at = middle;
            memcpy(best, levels, bytes);
            *best_verdict = verdict;
            *any = true;
        } else {
            low = middle + 1;
            if (low > high) return KN_OK; /* the top is not good */
        }
    }
    return KN_OK;
}

static kn_status run(kn_search *s, int *levels, int *best, kn_error *err)
{
    kn_verdict verdict = {0};
    bool       any = false;
    KN_TRY(halve(s, levels, best, &verdict, &any, err));
    if (!any) return KN_OK;
    KN_TRY(kn_search_offer(s, best, &verdict, err));
    return kn_search_solution(s, best, &verdict, err);
}

static kn_status search_plainly(kn_fulldomain_result *result, kn_context *ctx, const kn_fulldomain_problem *problem,
                                kn_error *err)
{
    kn_search s;
    int      *levels = kn_alloc_array_zero(ctx, 2 * ((size_t)problem->quasi_count + 1), sizeof *levels);
    kn_status st = kn_search_begin(&s, ctx, problem, result, err);
    if (st == KN_OK && !levels) st = kn_fail_memory(err, ctx, WHAT);
    if (st == KN_OK) {
        kn_progress_begin(ctx, "searching", "nodes", 0);
        st = run(&s, levels, levels + problem->quasi_count + 1, err);
        kn_progress_end(ctx);
        result->complete = !s.late;
    }
    kn_free(levels);
    kn_search_end(&s);
    return st;
}

/* ---- Large lattices ---- */

typedef struct lowest {
    kn_fulldomain_result        *result;
    const kn_fulldomain_problem *problem;
    kn_oracle                    oracle;
    kn_guess                     guess;
    kn_boxes                     boxes;
    kn_region                   *whole;
    double                       deadline;
    int                         *heights; /* and space for the first nodes */
} lowest;

static kn_status count_nodes(void *arg, const int *levels, int count, kn_error *err)
{
    lowest    *s = arg;
    kn_outcome outcomes[KN_BATCH];
    KN_TRY(kn_oracle_count(&s->oracle, levels, outcomes, count, NULL, NULL, err));
    for (int i = 0; i < count; i++) {
        const int *own = levels + i * s->problem->quasi_count;
        kn_guess_add(&s->guess, own, kn_oracle_feature(&s->oracle, own), (double)outcomes[i].sums.suppressed,
                     (double)outcomes[i].low);
        KN_TRY(kn_boxes_learn(&s->boxes, own, &outcomes[i], err));
    }
    kn_guess_fit(&s->guess);
    kn_progress_add(s->result->ctx, (uint64_t)count);
    return KN_OK;
}

static bool is_over(const void *arg)
{
    const lowest *s = arg;
    return s->deadline > 0 && kn_clock_seconds() >= s->deadline;
}

static kn_status set_up(lowest *s, kn_error *err)
{
    kn_context *ctx = s->result->ctx;
    size_t      size = (size_t)s->problem->quasi_count;
    if (s->problem->time_limit > 0) s->deadline = kn_clock_seconds() + s->problem->time_limit;
    if (!KN_ALLOC_ZERO(ctx, s->heights, size * (FIRST + 1))) return kn_fail_memory(err, ctx, WHAT);
    for (size_t q = 0; q < size; q++) s->heights[q] = kn_hierarchy_levels(s->problem->hierarchies[q]) - 1;
    KN_TRY(kn_oracle_make(&s->oracle, ctx, s->problem, &s->result->counters, err));
    KN_TRY(kn_guess_make(&s->guess, ctx, s->problem, s->oracle.offsets, s->oracle.features, err));
    KN_TRY(kn_boxes_make(&s->boxes, ctx, &s->oracle, &s->guess, s->heights, true, err));
    s->boxes.count = count_nodes;
    s->boxes.over = is_over;
    s->boxes.arg = s;
    return kn_region_make(&s->whole, &s->boxes, s->heights + size, s->heights, err); /* from the bottom: zeros */
}

static kn_status search_boxes(lowest *s, kn_error *err)
{
    int size = s->problem->quasi_count, *first = s->heights + size;
    if (kn_cancelled(s->result->ctx)) return kn_fail_cancelled(err);
    for (int i = 0; i < FIRST; i++) /* from the bottom to the top */
        for (int q = 0; q < size; q++) first[i * size + q] = s->heights[q] * i / (FIRST - 1);
    KN_TRY(count_nodes(s, first, FIRST, err));
    KN_TRY(kn_region_search(s->whole, s->deadline > 0 ? 0 : WORK_MOST, &s->result->complete, err));
    if (s->result->complete || s->deadline > 0) return KN_OK;
    return kn_fail(
        err, KN_USAGE,
        "%s has counted %lld of %.3g nodes and does not know yet which good one is the lowest; set a time limit "
        "to take the lowest that is found until then, or try the method %s",
        kn_method_name(s->problem->method), (long long)s->result->counters.nodes_checked, s->result->counters.lattice,
        kn_method_name(KN_METHOD_HEURISTIC));
}

static kn_status report(const lowest *s, kn_error *err)
{
    kn_fulldomain_result *r = s->result;
    const kn_boxes       *b = &s->boxes;
    size_t                size = (size_t)s->problem->quasi_count, copies = s->problem->all_solutions ? 2 : 1;
    kn_solution           found = {.suppressed = b->suppressed, .classes = b->classes, .loss = b->loss};
    r->found = b->found;
    r->counters.boxes = b->visits;
    r->counters.candidates = r->counters.nodes_checked;
    if (!b->found) return KN_OK;
    for (size_t i = 0; i < copies; i++) {
        kn_solution *to = &r->best;
        if (i > 0) to = r->solutions = kn_alloc_zero(r->ctx, sizeof *r->solutions);
        if (!to || !KN_ALLOC(r->ctx, found.levels, size)) return kn_fail_memory(err, r->ctx, WHAT);
        memcpy(found.levels, b->best, size * sizeof *found.levels);
        *to = found;
        r->solution_count = (int64_t)i;
    }
    return KN_OK;
}

kn_status kn_samarati_by_boxes(kn_fulldomain_result *result, const kn_fulldomain_problem *problem, kn_error *err)
{
    lowest *s = kn_alloc_zero(result->ctx, sizeof *s);
    if (!s) return kn_fail_memory(err, result->ctx, WHAT);
    s->result = result;
    s->problem = problem;
    kn_status st = set_up(s, err);
    if (st == KN_OK) {
        kn_progress_begin(result->ctx, "searching", "nodes", 0);
        st = search_boxes(s, err);
        kn_progress_end(result->ctx);
    }
    if (st == KN_OK) st = report(s, err);
    kn_region_free(s->whole);
    kn_boxes_free(&s->boxes);
    kn_guess_free(&s->guess);
    kn_oracle_free(&s->oracle);
    KN_FREE(s->heights, s);
    return st;
}

kn_status kn_samarati_search(kn_fulldomain_result *result, kn_context *ctx, const kn_fulldomain_problem *problem,
                             kn_error *err)
{
    bool linked = problem->requirements->linked && !problem->objective->cells; /* no bounds there */
    if (result->counters.lattice <= PLAIN_MOST || linked || problem->trace)
        return search_plainly(result, ctx, problem, err);
    return kn_samarati_by_boxes(result, problem, err);
}
