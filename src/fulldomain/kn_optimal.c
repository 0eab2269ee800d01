/* kn_optimal.c: the best node of the lattice for any metric, models and budget, proved.
 *
 * Where the best node alone is asked for: kn_heuristic.c and kn_boxes.c. With all solutions the lattice is kept in memory:
 * every node starts as an item with a lower bound of its loss. A batch of nodes is chosen (kn_optimal_pick.c) and
 * counted; each counted node may become the best one so far, raises the bounds of the nodes above and below it
 * (kn_optimal_bound.c), and items whose bound is above the best loss leave. When none is left the best one is the
 * optimum: the bounds are the proof. Of equal losses the best one is that of kn_standing_compare: an item whose bound
 * is the best loss stays as long as it may suppress fewer rows, or as many with lower levels. Then kn_optimal_all.c.
 *
 * Batches have a fixed size and are chosen from what earlier ones said, so results and counters do not depend on the
 * number of threads. Cost: per batch one pass over the items. Memory: 48 bytes per item, and the engine's. Limit:
 * KN_LATTICE_MAX nodes.
 *
 * With a time limit the clock is checked between batches.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "kn_alloc.h"
#include "kn_bitset.h"
#include "kn_clock.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_fulldomain_methods.h"
#include "kn_heuristic.h"
#include "kn_optimal_internal.h"

#define WHAT "searching the lattice"

enum { FIRST_PICKS = 12, MOST_PICKS = KN_ORACLE_MOST };

bool kn_optimal_late(const kn_optimal *s)
{
    return s->deadline > 0 && kn_clock_seconds() >= s->deadline;
}

/* ---- Setting up ---- */

static void search_free(kn_optimal *s)
{
    kn_lattice_free(&s->lattice);
    kn_oracle_free(&s->oracle);
    KN_FREE(s->shifts, s->items, s->taken, s->counted, s->levels, s->states, s->noted);
}

static int bits_for(int most)
{
    int bits = 0;
    while (most >> bits > 0) bits++;
    return bits;
}

/* Fields from the last quasi-identifier upwards, each with a spare bit. A lattice with numbers always fits: a field of
 * n levels takes at most 2 log2(n) bits. */
static kn_status make_fields(kn_optimal *s, kn_error *err)
{
    size_t count = (size_t)s->quasi_count + 1;
    if (!KN_ALLOC_ZERO(s->ctx, s->shifts, count) || !KN_ALLOC_ZERO(s->ctx, s->levels, count * MOST_PICKS))
        return kn_fail_memory(err, s->ctx, WHAT);
    int at = 0;
    for (int q = s->quasi_count - 1; q >= 0; q--) {
        s->shifts[q] = at;
        at += bits_for(s->lattice.heights[q]) + 1;
        s->spare |= (uint64_t)1 << (at - 1);
    }
    if (at > 64) return kn_fail(err, KN_INTERNAL, "the levels of a node do not fit into 64 bits");
    return KN_OK;
}

static kn_status set_up(kn_optimal *s, kn_error *err)
{
    const kn_fulldomain_problem *p = s->problem;
    int                         *heights = kn_alloc_array(s->ctx, (size_t)s->quasi_count + 1, sizeof *heights);
    if (!heights) return kn_fail_memory(err, s->ctx, WHAT);
    for (int q = 0; q < s->quasi_count; q++) heights[q] = (int)p->hierarchies[q]->height;
    kn_status st = kn_lattice_make(&s->lattice, s->ctx, heights, s->quasi_count, err);
    kn_free(heights);
    if (st != KN_OK) return st;
    s->result->counters.lattice = s->lattice.nodes;
    if (s->lattice.count < 0)
        return kn_fail(err, KN_USAGE,
                       "the lattice has %.3g nodes: more than all solutions can be listed of (%d); search for the best "
                       "one alone, or set bounds",
                       s->lattice.nodes, KN_LATTICE_MAX);
    KN_TRY(make_fields(s, err));
    KN_TRY(kn_oracle_make(&s->oracle, s->ctx, p, &s->result->counters, err));
    s->guess.rows = (double)kn_table_total(p->table);
    for (int q = 0; q < s->quasi_count; q++) s->guess.largest += s->oracle.features[s->oracle.offsets[q]];
    s->counted = kn_alloc_array_zero(s->ctx, kn_bitset_words((size_t)s->lattice.count), sizeof *s->counted);
    s->caution = 0.15;
    if (p->time_limit > 0) s->deadline = kn_clock_seconds() + p->time_limit;
    return s->counted ? KN_OK : kn_fail_memory(err, s->ctx, WHAT);
}

/* ---- The best so far ---- */

/* Does the best node come before this one, if their losses and suppressed rows are equal? */
static bool best_is_lower(const kn_optimal *s, uint32_t node)
{
    int height = 0, best = 0;
    for (int q = 0; q < s->quasi_count; q++) {
        height += kn_lattice_level(&s->lattice, node, q);
        best += kn_lattice_level(&s->lattice, s->best_node, q);
    }
    return best != height ? best < height : s->best_node < node;
}

bool kn_optimal_dead(const kn_optimal *s, uint32_t node, uint64_t low, uint64_t high, uint64_t lost)
{
    if (high >= KN_BOUND_BAD) return true;
    if (!s->found) return false;
    uint64_t bound = kn_bounds_join(&s->oracle.bounds, low, high);
    if (bound != s->best_score) return bound > s->best_score;
    uint64_t suppressed = (uint64_t)s->best_sums.suppressed;
    if (!s->oracle.bounds.exact || lost < suppressed) return false;
    return lost > suppressed || best_is_lower(s, node);
}

static void consider(kn_optimal *s, const kn_outcome *o)
{
    if (!o->good) return;
    kn_quotient loss = kn_objective_loss(s->problem->objective, &o->sums);
    int         order = s->found ? kn_quotient_compare(loss, s->best_loss) : -1;
    if (order == 0) {
        int64_t more = o->sums.suppressed - s->best_sums.suppressed;
        order = more > 0 || (more == 0 && best_is_lower(s, o->node)) ? 1 : -1;
    }
    if (order > 0) return;
    s->found = true;
    s->best_node = o->node;
    s->best_loss = loss;
    s->best_score = kn_bounds_score(&s->oracle.bounds, loss);
    s->best_sums = o->sums;
}

/* ---- Counting ---- */

static bool skips(const void *arg, const kn_outcome *o, uint64_t low)
{
    const kn_optimal *s = arg;
    return !s->states && kn_optimal_dead(s, o->node, low, o->high, o->lost);
}

kn_status kn_optimal_count(kn_optimal *s, const uint32_t *nodes, kn_outcome *outcomes, int count, kn_error *err)
{
    for (int i = 0; i < count; i++) {
        int *levels = s->levels + i * s->quasi_count;
        kn_lattice_levels(&s->lattice, nodes[i], levels);
        outcomes[i] = (kn_outcome){.node = nodes[i], .packed = kn_packed_of(s, levels)};
        kn_bitset_set(s->counted, nodes[i]);
    }
    KN_TRY(kn_oracle_count(&s->oracle, s->levels, outcomes, count, skips, s, err));
    for (int i = 0; i < count; i++) {
        const int *levels = s->levels + i * s->quasi_count;
        kn_guess_add(&s->guess, levels, kn_oracle_feature(&s->oracle, levels), (double)outcomes[i].sums.suppressed,
                     (double)outcomes[i].low);
        consider(s, &outcomes[i]);
    }
    kn_guess_fit(&s->guess);
    return s->problem->all_solutions ? kn_optimal_note(s, outcomes, count, err) : KN_OK;
}

/* Predictions that were too optimistic make the next ones more cautious. */
static void learn(kn_optimal *s, int64_t before, int count)
{
    bool fruitful = before - s->item_count >= 2 * count;
    s->caution *= fruitful ? 0.95 : 1.1;
    if (s->caution < 0.05) s->caution = 0.05;
    if (s->caution > 0.6) s->caution = 0.6;
}

/* ---- The whole ---- */

static kn_status search_all(kn_optimal *s, kn_error *err)
{
    uint32_t   nodes[MOST_PICKS];
    kn_outcome outcomes[MOST_PICKS];
    int        count = kn_optimal_first_picks(s, nodes, FIRST_PICKS);
    bool       in_time = true;
    for (;;) {
        int64_t before = s->item_count;
        KN_TRY(kn_optimal_count(s, nodes, outcomes, count, err));
        KN_TRY(kn_optimal_apply(s, outcomes, count, err));
        learn(s, before, count);
        if (s->item_count == 0) break;
        in_time = !kn_optimal_late(s);
        if (!in_time) break;
        if (kn_cancelled(s->ctx)) return kn_fail_cancelled(err);
        count = kn_optimal_pick(s, s->taken, nodes);
    }
    s->result->complete = in_time;
    s->result->optimal = in_time && s->found;
    s->result->counters.nodes_marked = s->lattice.count - s->item_count - s->result->counters.nodes_checked;
    return KN_OK;
}

static kn_status report(kn_optimal *s, kn_error *err)
{
    kn_fulldomain_result *r = s->result;
    r->found = s->found;
    if (!s->found && r->complete) r->good = 0;
    if (!s->found) return KN_OK;
    if (!KN_ALLOC(s->ctx, r->best.levels, (size_t)s->quasi_count)) return kn_fail_memory(err, s->ctx, WHAT);
    kn_lattice_levels(&s->lattice, s->best_node, r->best.levels);
    r->best.suppressed = s->best_sums.suppressed;
    r->best.classes = s->best_sums.classes;
    r->best.loss = s->best_loss;
    r->bounded = r->optimal;
    r->bound = s->best_loss;
    return KN_OK;
}

kn_status kn_optimal_search(kn_fulldomain_result *result, kn_context *ctx, const kn_fulldomain_problem *problem,
                            kn_error *err)
{
    kn_heuristic_options options = {.prove = true};
    if (!problem->all_solutions) return kn_heuristic_search_within(result, ctx, problem, &options, err);
    kn_optimal s = {.ctx = ctx, .problem = problem, .result = result, .quasi_count = problem->quasi_count};
    kn_status  st = set_up(&s, err);
    if (st == KN_OK) st = kn_optimal_items(&s, err);
    if (st == KN_OK) st = search_all(&s, err);
    if (st == KN_OK && problem->all_solutions && result->complete) st = kn_optimal_all(&s, err);
    if (st == KN_OK) st = report(&s, err);
    search_free(&s);
    return st;
}
