/* kn_heuristic.c: good nodes of lattices too large to enumerate; better ones the longer it runs.
 *
 * Nodes are counted as in the optimal search, and the same model predicts the result of counting
 * (kn_optimal_model.c), so that most of the work is done on predictions and only promising nodes are counted, in
 * parallel batches:
 *
 *   chains    a path from the bottom to the top on which each step removes much of what distinguishes rows for little loss; its nodes are counted where the guessed loss is least. The first is greedy, later ones have random
 *             weights.
 *   climbing  from a good node to the best of its neighbours: one attribute up or down a level, or one up and one down.
 *             Those with the least guessed loss are counted first.
 *   descent   from the top to the best direct specialization, as long as that is better: plain, but independent of
 *             guesses.
 *   restarts  a mixture of two of the best nodes, or one of them with some levels changed, moved to a minimum of the guessed loss; climbing starts again from there.
 *
 *   polishing all nodes near the best one: the best of these by kn_boxes.c.
 *   proving   the same with the whole lattice, a piece at a time: in the end the best node is proved to be the best of all,
 *             before that no node loses less than the least bound of what is open.
 *
 * Nodes seen, nodes below a bad one (where good is upward closed) and nodes whose lower bound is not below the best
 * loss are not counted. The answer is always a node that was counted and found good. If the top is not good and good is
 * upward closed, there is no good node.
 *
 * The method optimal proves first and most of the time. The method heuristic ends by itself after a number of restarts
 * without success and one turn of polishing and proving; with a time limit it goes on with these until the time is over or
 * everything is proved. What is done next depends on what was counted, never on the clock, so that more time only adds to
 * it. At the time limit (KN_HEURISTIC_SECONDS where there is none) the answer depends on how fast the machine is;
 * otherwise on the seed alone, not on the number of threads. Memory: the engine's, a byte per attribute for each of at
 * most KN_SEEN_MOST nodes, and that of kn_boxes.c.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_heuristic.h"

#include <math.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_clock.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_fulldomain_methods.h"
#include "kn_heuristic_internal.h"
#include "kn_lattice.h"

#define WHAT "searching the lattice"

enum { BATCH = 8, CLIMB_PATIENCE = 4, DESCENT_STEPS = 64, WORK_FIRST = 1 << 22, DESCENT_ROUND = 3 };

static bool late(const kn_heuristic *h)
{
    return h->deadline > 0 && kn_clock_seconds() >= h->deadline;
}

static bool over(const kn_heuristic *h)
{
    return h->proved || late(h) ||
           (h->options.node_limit > 0 && h->result->counters.nodes_checked >= h->options.node_limit);
}

/* ---- Counting ---- */

static bool skips(const void *arg, const kn_outcome *o, uint64_t low)
{
    const kn_heuristic *h = arg;
    if (o->high >= KN_BOUND_BAD) return true;
    return h->elite_count > 0 && kn_bounds_join(&h->oracle.bounds, low, o->high) > h->elite[0].score;
}

/* Counts nodes that have not been seen. */
static kn_status count(kn_heuristic *h, const int *levels, kn_outcome *outcomes, int n, kn_error *err)
{
    if (kn_cancelled(h->ctx)) return kn_fail_cancelled(err);
    for (int i = 0; i < n; i++) {
        bool is_new = false;
        KN_TRY(kn_known_see(h, levels + i * h->quasi_count, &is_new, err));
    }
    KN_TRY(kn_oracle_count(&h->oracle, levels, outcomes, n, skips, h, err));
    for (int i = 0; i < n; i++) {
        const int *own = levels + i * h->quasi_count;
        (void)kn_known_learn(h, own, &outcomes[i]);
        KN_TRY(kn_boxes_learn(&h->boxes, own, &outcomes[i], err));
    }
    kn_guess_fit(&h->guess);
    kn_progress_add(h->ctx, (uint64_t)n);
    return KN_OK;
}

static kn_status count_for_boxes(void *arg, const int *levels, int n, kn_error *err)
{
    kn_outcome outcomes[KN_BATCH];
    return count(arg, levels, outcomes, n, err);
}

static bool over_for_boxes(const void *arg)
{
    return over(arg);
}

/* ---- Guesses ---- */

/* The prediction for a node; `shift` moves the curve so that it passes through a counted node nearby. */
typedef struct sight {
    double feature, low, shift;
} sight;

static double logit_of(const kn_heuristic *h, double suppressed)
{
    return log((suppressed + 0.5) / ((double)h->oracle.bounds.rows - suppressed + 0.5));
}

static sight look(const kn_heuristic *h, const int *levels)
{
    return (sight){kn_oracle_feature(&h->oracle, levels), (double)kn_oracle_sum(&h->oracle, h->oracle.lows, levels),
                   kn_guess_shift(&h->guess, levels)};
}

static double guessed_suppressed(const kn_heuristic *h, const sight *s)
{
    return kn_guess_suppressed(&h->guess, s->feature, s->shift);
}

/* Nodes predicted to be bad come after all others, the worst last. */
static double guessed_loss(const kn_heuristic *h, const sight *s)
{
    double suppressed = guessed_suppressed(h, s), low = s->low;
    if (!h->problem->objective->cells) low = exp(kn_guess_low(&h->guess, s->feature)) - 1;
    double over_budget = suppressed - (double)h->problem->budget;
    if (over_budget > 0.5) return 1e30 * (1 + over_budget);
    return kn_bounds_guess_join(&h->oracle.bounds, low, kn_bounds_guess_high(&h->oracle.bounds, low, suppressed));
}

/* One attribute up, one down; -1: none. */
typedef struct move {
    double guess;
    int    up, down;
} move;

static void apply_move(int *levels, const move *m)
{
    if (m->up >= 0) levels[m->up]++;
    if (m->down >= 0) levels[m->down]--;
}

static sight after_move(const kn_heuristic *h, const int *levels, sight s, const move *m)
{
    const kn_oracle *o = &h->oracle;
    if (m->up >= 0) {
        int at = o->offsets[m->up] + levels[m->up];
        s.feature += o->features[at + 1] - o->features[at];
        s.low += (double)o->lows[at + 1] - (double)o->lows[at];
        s.shift += kn_guess_shift_by(&h->guess, m->up, levels[m->up], levels[m->up] + 1);
    }
    if (m->down >= 0) {
        int at = o->offsets[m->down] + levels[m->down];
        s.feature += o->features[at - 1] - o->features[at];
        s.low += (double)o->lows[at - 1] - (double)o->lows[at];
        s.shift += kn_guess_shift_by(&h->guess, m->down, levels[m->down], levels[m->down] - 1);
    }
    return s;
}

/* All moves from a node with their guesses; `moves` has space for (q + 1)². */
static int all_moves(const kn_heuristic *h, const int *levels, sight s, move *moves)
{
    int n = 0;
    for (int up = -1; up < h->quasi_count; up++) {
        if (up >= 0 && levels[up] == h->heights[up]) continue;
        for (int down = -1; down < h->quasi_count; down++) {
            if (up == down || (down >= 0 && levels[down] == 0)) continue;
            moves[n] = (move){0, up, down};
            sight there = after_move(h, levels, s, &moves[n]);
            moves[n++].guess = guessed_loss(h, &there);
        }
    }
    return n;
}

/* ---- Climbing ---- */

/* The current node: a counted good one. */
typedef struct stand {
    int        *levels;
    kn_quotient loss;
    int64_t     suppressed;
} stand;

/* Is a counted good node better than the current one, which has these levels? */
static bool improves(const kn_heuristic *h, const stand *at, const int *at_levels, const int *levels,
                     const kn_outcome *o)
{
    kn_standing there = {kn_objective_loss(h->problem->objective, &o->sums), o->sums.suppressed, levels};
    return kn_standing_compare(there, (kn_standing){at->loss, at->suppressed, at_levels}, h->quasi_count) < 0;
}

static void go_to(const kn_heuristic *h, stand *at, const kn_outcome *o)
{
    at->loss = kn_objective_loss(h->problem->objective, &o->sums);
    at->suppressed = o->sums.suppressed;
}

/* The best moves first, as many as asked for; the rest stays as it is. */
static void best_first(move *moves, int n, int wanted)
{
    for (int i = 0; i < wanted && i < n; i++) {
        int best = i;
        for (int j = i + 1; j < n; j++)
            if (moves[j].guess < moves[best].guess) best = j;
        move m = moves[i];
        moves[i] = moves[best];
        moves[best] = m;
    }
}

/* Counts up to BATCH of the most promising moves from *next on. Returns whether one was better, and goes there. */
static kn_status step(kn_heuristic *h, stand *at, move *moves, int n, int *next, int *levels, bool *better,
                      kn_error *err)
{
    kn_outcome outcomes[BATCH];
    int        size = h->quasi_count, ready = 0;
    while (ready < BATCH && *next < n) {
        best_first(moves + *next, n - *next, 1);
        int *own = levels + ready * size;
        memcpy(own, at->levels, (size_t)size * sizeof *own);
        apply_move(own, &moves[(*next)++]);
        if (!kn_known_seen(h, own) && !kn_known_ruled_out(h, own)) ready++;
    }
    *better = false;
    if (ready == 0) return KN_OK;
    KN_TRY(count(h, levels, outcomes, ready, err));
    const int *best = at->levels;
    for (int i = 0; i < ready; i++) {
        if (!outcomes[i].good || !improves(h, at, best, levels + i * size, &outcomes[i])) continue;
        go_to(h, at, &outcomes[i]);
        best = levels + i * size;
    }
    *better = best != at->levels;
    if (*better) memcpy(at->levels, best, (size_t)size * sizeof *levels);
    return KN_OK;
}

static kn_status climb(kn_heuristic *h, stand *at, int patience, kn_error *err)
{
    size_t    size = (size_t)h->quasi_count;
    move     *moves = kn_alloc_array(h->ctx, (size + 1) * (size + 1), sizeof *moves);
    int      *levels = kn_alloc_array(h->ctx, size * BATCH + 1, sizeof *levels);
    kn_status st = moves && levels ? KN_OK : kn_fail_memory(err, h->ctx, WHAT);
    for (bool better = true; st == KN_OK && better && !over(h);) {
        sight s = look(h, at->levels);
        s.shift += logit_of(h, (double)at->suppressed) - logit_of(h, guessed_suppressed(h, &s));
        int n = all_moves(h, at->levels, s, moves), next = 0;
        better = false;
        for (int tries = 0; st == KN_OK && tries < patience && next < n && !better && !over(h); tries++)
            st = step(h, at, moves, n, &next, levels, &better, err);
    }
    KN_FREE(moves, levels);
    return st;
}

/* From one of the elite. */
static kn_status climb_from(kn_heuristic *h, int elite, int patience, kn_error *err)
{
    size_t size = (size_t)h->quasi_count;
    stand  at = {kn_alloc_array(h->ctx, size + 1, sizeof *at.levels), h->elite[elite].loss, h->elite[elite].suppressed};
    if (!at.levels) return kn_fail_memory(err, h->ctx, WHAT);
    memcpy(at.levels, h->elite_levels + (size_t)elite * size, size * sizeof *at.levels);
    kn_status st = climb(h, &at, patience, err);
    kn_free(at.levels);
    return st;
}

/* ---- Chains ---- */

/* All nodes of a path from the bottom to the top; `levels` has space for height + 1 nodes. */
static int make_chain(kn_heuristic *h, double noise, double *weights, int *levels)
{
    const kn_oracle *o = &h->oracle;
    int              size = h->quasi_count, n = 0;
    for (int q = 0; q < size; q++) weights[q] = noise > 0 ? exp(noise * kn_rng_normal(&h->rng)) : 1;
    memset(levels, 0, (size_t)size * sizeof *levels);
    for (;; n++) {
        int   *own = levels + n * size, chosen = -1;
        double most = 0;
        for (int q = 0; q < size; q++) {
            if (own[q] == h->heights[q]) continue;
            int    at = o->offsets[q] + own[q];
            double won = (o->features[at] - o->features[at + 1] + 1e-6) * weights[q], cost = 1;
            if (h->problem->objective->cells) cost = (double)(o->lows[at + 1] - o->lows[at]) + 1;
            if (chosen >= 0 && won / cost <= most) continue;
            most = won / cost;
            chosen = q;
        }
        if (chosen < 0) return n + 1;
        memcpy(own + size, own, (size_t)size * sizeof *own);
        own[size + chosen]++;
    }
}

/* Counts nodes of a chain: `spread` evenly, otherwise those with the least guessed loss. */
static kn_status count_chain(kn_heuristic *h, const int *chain, int n, bool spread, int *batch, kn_error *err)
{
    kn_outcome outcomes[BATCH];
    int        size = h->quasi_count, ready = 0;
    double     before = -INFINITY;
    for (int i = 0; i < BATCH && ready < BATCH; i++) {
        int    chosen = spread ? (int)((int64_t)i * (n - 1) / (BATCH - 1)) : -1;
        double least = INFINITY;
        for (int j = 0; !spread && j < n; j++) {
            sight  s = look(h, chain + j * size);
            double guess = guessed_loss(h, &s);
            if (guess <= before || guess >= least || kn_known_seen(h, chain + j * size)) continue;
            least = guess;
            chosen = j;
        }
        if (chosen < 0) break;
        if (!spread) before = least;
        const int *own = chain + chosen * size;
        bool       listed = kn_known_seen(h, own);
        for (int j = 0; j < ready; j++) listed = listed || kn_levels_compare(own, batch + j * size, size) == 0;
        if (listed || (!spread && kn_known_ruled_out(h, own))) continue;
        memcpy(batch + ready++ * size, own, (size_t)size * sizeof *own);
    }
    return ready > 0 ? count(h, batch, outcomes, ready, err) : KN_OK;
}

static kn_status run_chain(kn_heuristic *h, double noise, kn_error *err)
{
    size_t size = (size_t)h->quasi_count, height = 0;
    for (int q = 0; q < h->quasi_count; q++) height += (size_t)h->heights[q];
    int      *chain = kn_alloc_array(h->ctx, (height + 2) * size + 1, sizeof *chain);
    int      *batch = kn_alloc_array(h->ctx, BATCH * size + 1, sizeof *batch);
    double   *weights = kn_alloc_array(h->ctx, size + 1, sizeof *weights);
    kn_status st = chain && batch && weights ? KN_OK : kn_fail_memory(err, h->ctx, WHAT);
    if (st == KN_OK) {
        int n = make_chain(h, noise, weights, chain);
        if (noise == 0) st = count_chain(h, chain, n, true, batch, err);
        if (st == KN_OK && !over(h)) st = count_chain(h, chain, n, false, batch, err);
    }
    KN_FREE(chain, batch, weights);
    return st;
}

/* ---- Restarts ---- */

/* Goes to a minimum of the guessed loss. */
static void descend_guess(const kn_heuristic *h, int *levels, double shift, move *moves)
{
    sight s = look(h, levels);
    s.shift += shift;
    double here = guessed_loss(h, &s);
    for (int i = 0; i < DESCENT_STEPS; i++) {
        int n = all_moves(h, levels, s, moves);
        best_first(moves, n, 1);
        if (n == 0 || moves[0].guess >= here) return;
        here = moves[0].guess;
        s = after_move(h, levels, s, &moves[0]);
        apply_move(levels, &moves[0]);
    }
}

/* A new node from the best ones. */
static void vary(kn_heuristic *h, int *levels, int mother)
{
    int size = h->quasi_count;
    memcpy(levels, h->elite_levels + mother * size, (size_t)size * sizeof *levels);
    if (h->elite_count > 1 && kn_rng_below(&h->rng, 2) == 0) {
        const int *father = h->elite_levels + (int64_t)kn_rng_below(&h->rng, (uint64_t)h->elite_count) * size;
        for (int q = 0; q < size; q++)
            if (kn_rng_below(&h->rng, 2) == 0) levels[q] = father[q];
    }
    int changes = 1 + (int)kn_rng_below(&h->rng, 2 + (uint64_t)size / 8);
    for (int i = 0; i < changes; i++) {
        int q = (int)kn_rng_below(&h->rng, (uint64_t)size);
        levels[q] = (int)kn_rng_below(&h->rng, (uint64_t)h->heights[q] + 1);
    }
}

/* Counts the new node and its most promising neighbours, and climbs from the best of them. */
static kn_status settle(kn_heuristic *h, stand *at, move *moves, int *batch, kn_error *err)
{
    kn_outcome outcomes[BATCH];
    int        size = h->quasi_count, ready = 0, best = -1;
    int        n = all_moves(h, at->levels, look(h, at->levels), moves);
    best_first(moves, n, 2 * BATCH);
    for (int i = -1; i < n && i < 2 * BATCH && ready < BATCH; i++) {
        int *own = batch + ready * size;
        memcpy(own, at->levels, (size_t)size * sizeof *own);
        if (i >= 0) apply_move(own, &moves[i]);
        if (!kn_known_seen(h, own) && !kn_known_ruled_out(h, own)) ready++;
    }
    if (ready == 0) return KN_OK;
    KN_TRY(count(h, batch, outcomes, ready, err));
    for (int i = 0; i < ready; i++) {
        if (!outcomes[i].good) continue;
        if (best >= 0 && !improves(h, at, batch + best * size, batch + i * size, &outcomes[i])) continue;
        best = i;
        go_to(h, at, &outcomes[i]);
    }
    if (best < 0) return KN_OK;
    memcpy(at->levels, batch + best * size, (size_t)size * sizeof *at->levels);
    return climb(h, at, 2, err);
}

static kn_status restart(kn_heuristic *h, kn_error *err)
{
    if (h->elite_count == 0 || kn_rng_below(&h->rng, 4) == 0) return run_chain(h, 0.2 + kn_rng_double(&h->rng), err);
    size_t    size = (size_t)h->quasi_count;
    stand     at = {kn_alloc_array(h->ctx, size + 1, sizeof *at.levels), {0, 1}, 0};
    move     *moves = kn_alloc_array(h->ctx, (size + 1) * (size + 1), sizeof *moves);
    int      *batch = kn_alloc_array(h->ctx, (BATCH + 1) * size + 1, sizeof *batch);
    kn_status st = at.levels && moves && batch ? KN_OK : kn_fail_memory(err, h->ctx, WHAT);
    if (st == KN_OK) {
        int            mother = (int)kn_rng_below(&h->rng, (uint64_t)h->elite_count);
        const kn_elite from = h->elite[mother];
        vary(h, at.levels, mother);
        sight  there = look(h, h->elite_levels + mother * h->quasi_count);
        double shift = logit_of(h, (double)from.suppressed) - logit_of(h, guessed_suppressed(h, &there));
        descend_guess(h, at.levels, shift, moves);
        st = settle(h, &at, moves, batch, err);
    }
    KN_FREE(at.levels, moves, batch);
    return st;
}

/* ---- From the top ---- */

/* Counts the direct specializations of a node and goes to the best one if that is better. */
static kn_status descend_step(kn_heuristic *h, stand *at, int *levels, bool *better, kn_error *err)
{
    kn_outcome outcomes[KN_ORACLE_MOST];
    size_t     size = (size_t)h->quasi_count;
    int       *chosen = levels + size * KN_ORACLE_MOST; /* space for one more */
    *better = false;
    memcpy(chosen, at->levels, size * sizeof *chosen);
    for (int q = 0; q < h->quasi_count;) {
        int n = 0;
        for (; q < h->quasi_count && n < KN_ORACLE_MOST; q++) {
            if (at->levels[q] == 0) continue;
            memcpy(levels + (size_t)n * size, at->levels, size * sizeof *levels);
            levels[(size_t)n++ * size + (size_t)q]--;
        }
        if (n > 0) KN_TRY(count(h, levels, outcomes, n, err));
        for (int i = 0; i < n; i++) {
            const int *own = levels + (size_t)i * size;
            if (!outcomes[i].good || !improves(h, at, chosen, own, &outcomes[i])) continue;
            go_to(h, at, &outcomes[i]);
            memcpy(chosen, own, size * sizeof *levels);
            *better = true;
        }
    }
    if (*better) memcpy(at->levels, chosen, size * sizeof *levels);
    return KN_OK;
}

/* The plain descent. */
static kn_status descend_from_top(kn_heuristic *h, const kn_outcome *top, kn_error *err)
{
    size_t size = (size_t)h->quasi_count;
    int   *levels = kn_alloc_array(h->ctx, size * (KN_ORACLE_MOST + 2) + 1, sizeof *levels);
    if (!levels) return kn_fail_memory(err, h->ctx, WHAT);
    stand at = {levels + size * (KN_ORACLE_MOST + 1), kn_objective_loss(h->problem->objective, &top->sums),
                top->sums.suppressed};
    memcpy(at.levels, h->heights, size * sizeof *levels);
    kn_status st = KN_OK;
    for (bool better = true; better && st == KN_OK && !over(h);) st = descend_step(h, &at, levels, &better, err);
    kn_free(levels);
    return st;
}

/* ---- The whole ---- */

/* Does the step make the best one better? Then climbs from there. */
static kn_status and_climb(kn_heuristic *h, bool had, kn_quotient before, bool *better, kn_error *err)
{
    *better = h->elite_count > 0 && (!had || kn_quotient_compare(h->elite[0].loss, before) < 0);
    return *better && !over(h) ? climb_from(h, 0, CLIMB_PATIENCE, err) : KN_OK;
}

/* Restarts until so many in a row were in vain. */
static kn_status restarts(kn_heuristic *h, int most, kn_error *err)
{
    for (int vain = 0; vain < most && !over(h); vain++) {
        bool        had = h->elite_count > 0, better = false;
        kn_quotient before = had ? h->elite[0].loss : (kn_quotient){0, 1};
        KN_TRY(restart(h, err));
        KN_TRY(and_climb(h, had, before, &better, err));
        if (better) vain = -1;
    }
    return KN_OK;
}

/* The best node of those that differ from the best one by at most a level in each attribute. */
static kn_status polish(kn_heuristic *h, int64_t work, kn_error *err)
{
    size_t     size = (size_t)h->quasi_count;
    int       *low = kn_alloc_array(h->ctx, 2 * size + 1, sizeof *low), *high = low + size;
    kn_region *region = NULL;
    bool       done;
    if (!low) return kn_fail_memory(err, h->ctx, WHAT);
    for (size_t q = 0; q < size; q++) {
        low[q] = h->elite_levels[q] > 0 ? h->elite_levels[q] - 1 : 0;
        high[q] = h->elite_levels[q] < h->heights[q] ? h->elite_levels[q] + 1 : h->heights[q];
    }
    kn_status st = kn_region_make(&region, &h->boxes, low, high, err);
    if (st == KN_OK) st = kn_region_search(region, work, &done, err);
    kn_region_free(region);
    kn_free(low);
    return st;
}

/* After the first good nodes: restarts, polishing and proving in turn. What is done depends on what was counted alone, so
 * that more time only adds to it. */
static kn_status go_on(kn_heuristic *h, const kn_outcome *top, kn_error *err)
{
    bool    prove = h->options.prove, lasting = prove || h->problem->time_limit > 0 || h->options.node_limit > 0;
    int     vain = lasting ? 60 : 400 + 20 * h->quasi_count;
    int64_t work = prove ? WORK_FIRST : WORK_FIRST / 4;
    if (!over(h)) KN_TRY(kn_region_search(h->whole, prove ? work : work / 4, &h->proved, err));
    for (int round = 0; !over(h); round++, work += work / 4) {
        KN_TRY(restarts(h, prove && round > 0 ? 8 : vain, err));
        if (h->elite_count > 0 && !over(h)) KN_TRY(polish(h, work, err));
        if (!over(h)) KN_TRY(kn_region_search(h->whole, prove ? 4 * work : work, &h->proved, err));
        bool descent = lasting ? round == DESCENT_ROUND : true; /* long, and seldom of use */
        if (descent && !prove && top->good && !over(h)) KN_TRY(descend_from_top(h, top, err));
        if (!lasting) break;
    }
    return KN_OK;
}

static kn_status run(kn_heuristic *h, kn_error *err)
{
    kn_outcome top;
    KN_TRY(count(h, h->heights, &top, 1, err));
    if (!top.good && (h->oracle.monotone || !(h->result->counters.lattice > 1))) {
        h->result->complete = true;
        h->result->good = 0;
        return KN_OK;
    }
    if (h->options.greedy) {
        if (top.good) KN_TRY(descend_from_top(h, &top, err));
    } else {
        KN_TRY(run_chain(h, 0, err));
        if (h->elite_count > 0 && !over(h)) KN_TRY(climb_from(h, 0, CLIMB_PATIENCE, err));
        KN_TRY(go_on(h, &top, err));
    }
    /* Without a good node, and if good is not upward closed, nothing is known of the nodes that were not counted. */
    h->result->complete = h->proved || (!late(h) && h->elite_count > 0);
    h->result->optimal = h->proved && h->elite_count > 0;
    if (h->proved && h->elite_count == 0) h->result->good = 0;
    return KN_OK;
}

/* What no good node loses less than: the best one's loss, or what is open. */
static void report_bound(const kn_heuristic *h)
{
    kn_fulldomain_result *r = h->result;
    uint64_t              open = h->whole ? kn_region_bound(h->whole) : 0;
    r->bounded = true;
    r->bound = h->elite[0].loss;
    if (h->proved || open >= h->elite[0].score) return;
    r->bound = kn_bounds_loss(&h->oracle.bounds, open);
}

static kn_status report(kn_heuristic *h, kn_error *err)
{
    kn_fulldomain_result *r = h->result;
    size_t                size = (size_t)h->quasi_count;
    r->found = h->elite_count > 0;
    r->counters.candidates = h->seen_count;
    r->counters.boxes = h->boxes.visits;
    if (h->proved && r->counters.lattice < 9e18)
        r->counters.nodes_marked = (int64_t)r->counters.lattice - r->counters.nodes_checked;
    if (!r->found) return KN_OK;
    report_bound(h);
    if (!KN_ALLOC(h->ctx, r->best.levels, size + 1)) return kn_fail_memory(err, h->ctx, WHAT);
    memcpy(r->best.levels, h->elite_levels, size * sizeof *r->best.levels);
    r->best.suppressed = h->best_sums.suppressed;
    r->best.classes = h->best_sums.classes;
    r->best.loss = h->elite[0].loss;
    return KN_OK;
}

static kn_status set_up(kn_heuristic *h, kn_error *err)
{
    const kn_fulldomain_problem *p = h->problem;
    double                       seconds = p->time_limit > 0 ? p->time_limit : h->options.without_limit;
    if (seconds > 0) h->deadline = kn_clock_seconds() + seconds;
    if (!KN_ALLOC(h->ctx, h->heights_owned, (size_t)h->quasi_count + 1)) return kn_fail_memory(err, h->ctx, WHAT);
    for (int q = 0; q < h->quasi_count; q++) h->heights_owned[q] = (int)p->hierarchies[q]->height;
    h->heights = h->heights_owned;
    kn_rng_init(&h->rng, p->seed, 0);
    KN_TRY(kn_known_make(h, err));
    KN_TRY(kn_oracle_make(&h->oracle, h->ctx, p, &h->result->counters, err));
    KN_TRY(kn_guess_make(&h->guess, h->ctx, p, h->oracle.offsets, h->oracle.features, err));
    KN_TRY(kn_boxes_make(&h->boxes, h->ctx, &h->oracle, &h->guess, h->heights, false, err));
    h->boxes.count = count_for_boxes;
    h->boxes.over = over_for_boxes;
    h->boxes.arg = h;
    int *bottom = kn_alloc_array_zero(h->ctx, (size_t)h->quasi_count + 1, sizeof *bottom);
    if (!bottom) return kn_fail_memory(err, h->ctx, WHAT);
    kn_status st = kn_region_make(&h->whole, &h->boxes, bottom, h->heights, err);
    kn_free(bottom);
    return st;
}

kn_status kn_heuristic_search_within(kn_fulldomain_result *result, kn_context *ctx,
                                     const kn_fulldomain_problem *problem, const kn_heuristic_options *options,
                                     kn_error *err)
{
    kn_heuristic *h = kn_alloc_zero(ctx, sizeof *h);
    if (!h) return kn_fail_memory(err, ctx, WHAT);
    h->ctx = ctx;
    h->problem = problem;
    h->result = result;
    h->options = *options;
    h->quasi_count = problem->quasi_count;
    kn_status st = set_up(h, err);
    if (st == KN_OK) {
        kn_progress_begin(ctx, "searching", "nodes", 0);
        st = run(h, err);
        kn_progress_end(ctx);
    }
    if (st == KN_OK) st = report(h, err);
    kn_region_free(h->whole);
    kn_boxes_free(&h->boxes);
    kn_guess_free(&h->guess);
    kn_oracle_free(&h->oracle);
    kn_known_free(h);
    KN_FREE(h->heights_owned, h);
    return st;
}

kn_status kn_heuristic_search(kn_fulldomain_result *result, kn_context *ctx, const kn_fulldomain_problem *problem,
                              kn_error *err)
{
    kn_heuristic_options options = {.without_limit = KN_HEURISTIC_SECONDS};
    return kn_heuristic_search_within(result, ctx, problem, &options, err);
}
