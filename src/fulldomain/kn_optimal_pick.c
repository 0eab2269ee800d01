/* kn_optimal_pick.c: which nodes the optimal search counts next.
 *
 * A batch has two kinds of picks, both guided by the model's predictions. The first are the nodes whose guessed loss
 * is least: they make the best loss known so far small early. The others are to rule out as many nodes as possible:
 * from a seed, a node that may still be the best, a walk climbs as long as the node reached is predicted to suppress
 * so many rows that it rules out the seed (kn_optimal_bound.c: high), and so all nodes between; or it descends as
 * long as the node reached is already too general (low). Of a few seeds the one that would rule out most is taken.
 * What a pick would rule out is not considered again in the same batch.
 *
 * Batches do not depend on the number of threads. Cost: batch × (seeds + 2) passes over the items, of which a sample
 * is used if there are many.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>

#include "kn_bitset.h"
#include "kn_optimal_internal.h"

enum { BEST_PICKS = 2, SEEDS = 12, SAMPLE = 8192 };

/* ---- Guessed losses ---- */

static bool cells(const kn_optimal *s)
{
    return s->problem->objective->cells;
}

static double guessed_low(const kn_optimal *s, const kn_optimal_item *item)
{
    if (cells(s)) return (double)item->low;
    double low = exp(kn_guess_low(&s->guess, (double)item->feature)) - 1;
    return low > (double)item->low ? low : (double)item->low;
}

/* The guessed loss of an item; infinite where it is guessed to be bad. */
static double guessed_loss(const kn_optimal *s, const kn_optimal_item *item)
{
    double low = guessed_low(s, item), suppressed = kn_guess_suppressed(&s->guess, (double)item->feature, 0);
    if (suppressed > (double)s->problem->budget) return INFINITY;
    double high = kn_bounds_guess_high(&s->oracle.bounds, low, suppressed);
    if (high < (double)item->high) high = (double)item->high;
    return kn_bounds_guess_join(&s->oracle.bounds, low, high);
}

/* ---- Climbing and descending ---- */

typedef struct pick {
    uint64_t packed;
    bool     down;  /* rules out what lies below, otherwise what lies above                  */
    double   value; /* down: suppressed rows (INFINITY: bad); else low; negative: nothing    */
    double   low;   /* down: that of the node                                                */
    int64_t  gain;
} pick;

/* The rows that a node reached by climbing is guessed to suppress; negative: not enough to rule out the seed. */
static double climb_value(const kn_optimal *s, const kn_optimal_item *seed, double low, double feature)
{
    double suppressed = kn_guess_suppressed(&s->guess, feature, 0);
    suppressed -= s->caution * suppressed;
    if (suppressed > (double)s->problem->budget) return INFINITY;
    if (!s->found) return -1;
    double high = kn_bounds_guess_high(&s->oracle.bounds, low, suppressed), by_rows = suppressed * (double)seed->gap;
    return kn_bounds_guess_join(&s->oracle.bounds, (double)seed->low, high > by_rows ? high : by_rows) >
                   (double)s->best_score
               ? suppressed
               : -1;
}

static double descend_value(const kn_optimal *s, const kn_optimal_item *seed, double feature)
{
    if (cells(s) || !s->found) return -1;
    double low = exp(kn_guess_low(&s->guess, feature)) - 1;
    low -= 0.5 * s->caution * low;
    return kn_bounds_guess_join(&s->oracle.bounds, low, (double)seed->high) > (double)s->best_score ? low : -1;
}

/* Moves from the seed in steps that change the feature least for what they add to the box of nodes ruled out. */
static void walk(const kn_optimal *s, const kn_optimal_item *seed, pick *p)
{
    double feature = (double)seed->feature, low = (double)seed->low;
    p->packed = seed->packed;
    for (;;) {
        int    chosen = -1;
        double least = INFINITY, value = 0;
        for (int q = 0; q < s->quasi_count; q++) {
            int level = kn_packed_level(s, p->packed, q), height = s->lattice.heights[q];
            int to = p->down ? level + 1 : level - 1;
            if (to < 0 || to > height) continue;
            const double *f = s->oracle.features + s->oracle.offsets[q];
            double        change = f[to] - f[level], room = p->down ? level + 2 : height - level + 2;
            double        cost = fabs(change) / log(room / (room - 1));
            if (cost >= least) continue;
            double there =
                p->down ? climb_value(s, seed, low, feature + change) : descend_value(s, seed, feature + change);
            if (there < 0) continue;
            least = cost;
            chosen = q;
            value = there;
        }
        if (chosen < 0) return;
        int           level = kn_packed_level(s, p->packed, chosen), to = p->down ? level + 1 : level - 1;
        const double *f = s->oracle.features + s->oracle.offsets[chosen];
        feature += f[to] - f[level];
        if (cells(s))
            low += (double)s->oracle.lows[s->oracle.offsets[chosen] + to] -
                   (double)s->oracle.lows[s->oracle.offsets[chosen] + level];
        p->packed += (uint64_t)(int64_t)(to - level) << s->shifts[chosen];
        p->value = value;
        p->low = low;
    }
}

static bool ruled_out(const kn_optimal *s, const pick *p, const kn_optimal_item *item)
{
    if (p->down) {
        if (!kn_packed_below(s, item->packed, p->packed)) return false;
        if (p->value == INFINITY || p->value < 0) return p->value > 0;
        double high = kn_bounds_guess_high(&s->oracle.bounds, p->low, p->value), by_rows = p->value * (double)item->gap;
        return kn_bounds_guess_join(&s->oracle.bounds, (double)item->low, high > by_rows ? high : by_rows) >
               (double)s->best_score;
    }
    if (!kn_packed_below(s, p->packed, item->packed)) return false;
    return p->value >= 0 && s->found &&
           kn_bounds_guess_join(&s->oracle.bounds, p->value, (double)item->high) > (double)s->best_score;
}

static uint32_t node_of(const kn_optimal *s, uint64_t packed)
{
    int64_t node = 0;
    for (int q = 0; q < s->quasi_count; q++) node += kn_packed_level(s, packed, q) * s->lattice.strides[q];
    return (uint32_t)node;
}

/* From a seed: where to go, and how much that would rule out. */
static void try_seed(const kn_optimal *s, const kn_optimal_item *seed, const uint8_t *taken, int64_t step, pick *p)
{
    double feature = (double)seed->feature, up = descend_value(s, seed, feature);
    *p = (pick){.packed = seed->packed, .down = true, .low = (double)seed->low};
    p->value = climb_value(s, seed, (double)seed->low, feature);
    if (up >= 0 && p->value != INFINITY) {
        p->down = false;
        p->value = up;
    }
    if (p->value >= 0) walk(s, seed, p);
    if (kn_bitset_test(s->counted, node_of(s, p->packed))) p->packed = seed->packed; /* a wrong guess */
    p->gain = 0;
    for (int64_t i = 0; i < s->item_count; i += step)
        if (!taken[i]) p->gain += ruled_out(s, p, &s->items[i]);
}

/* ---- A batch ---- */

/* The items that seeds are taken from: the least and the most general, and some anywhere. */
static int choose_seeds(const kn_optimal *s, const uint8_t *taken, int64_t step, int turn, int64_t *seeds)
{
    int64_t least = -1, most = -1, left = 0;
    for (int64_t i = 0; i < s->item_count; i += step) {
        if (taken[i]) continue;
        left++;
        if (least < 0 || s->items[i].low < s->items[least].low) least = i;
        if (most < 0 || s->items[i].low > s->items[most].low) most = i;
    }
    if (left == 0) return 0;
    seeds[0] = least;
    seeds[1] = most;
    for (int r = 2; r < SEEDS; r++) {
        uint64_t wanted = kn_hash_word((uint64_t)s->turn * 64 + (uint64_t)(turn * SEEDS + r)) % (uint64_t)left;
        int64_t  i = 0;
        for (; taken[i] || wanted-- > 0; i += step) continue;
        seeds[r] = i;
    }
    return SEEDS;
}

static void take(const kn_optimal *s, uint8_t *taken, const pick *p, uint32_t *nodes, int *count)
{
    uint32_t node = node_of(s, p->packed);
    for (int64_t i = 0; i < s->item_count; i++)
        if (s->items[i].packed == p->packed || ruled_out(s, p, &s->items[i])) taken[i] = 1;
    for (int i = 0; i < *count; i++)
        if (nodes[i] == node) return;
    nodes[(*count)++] = node;
}

static void pick_best(const kn_optimal *s, uint8_t *taken, uint32_t *nodes, int *count)
{
    for (int turn = 0; turn < BEST_PICKS; turn++) {
        int64_t best = -1;
        double  least = s->found ? (double)s->best_score : INFINITY;
        for (int64_t i = 0; i < s->item_count; i++) {
            if (taken[i]) continue;
            double loss = guessed_loss(s, &s->items[i]);
            if (loss < least) {
                least = loss;
                best = i;
            }
        }
        if (best < 0) return;
        pick p = {.packed = s->items[best].packed, .down = true, .value = -1};
        take(s, taken, &p, nodes, count);
    }
}

int kn_optimal_pick(kn_optimal *s, uint8_t *taken, uint32_t *nodes)
{
    int     count = 0;
    int64_t step = s->item_count / SAMPLE + 1;
    s->turn++;
    for (int64_t i = 0; i < s->item_count; i++) taken[i] = 0;
    pick_best(s, taken, nodes, &count);
    for (int turn = 0; turn < 4 * KN_BATCH && count < KN_BATCH; turn++) {
        int64_t seeds[SEEDS];
        pick    best = {.gain = -1}, p;
        int     n = choose_seeds(s, taken, step, turn, seeds);
        if (n == 0) break;
        for (int i = 0; i < n; i++) {
            try_seed(s, &s->items[seeds[i]], taken, step, &p);
            if (p.gain > best.gain) best = p;
        }
        take(s, taken, &best, nodes, &count);
        if (best.gain == 0) /* the guess does not even rule out its seed: it is counted itself */
            for (int i = 0; i < n; i++)
                if (s->items[seeds[i]].packed == best.packed) taken[seeds[i]] = 1;
    }
    return count;
}

/* ---- The first batch ---- */

/* Nodes on one path from the bottom to the top, on which each step reduces the feature much for little cost. */
int kn_optimal_first_picks(kn_optimal *s, uint32_t *nodes, int room)
{
    uint64_t packed = 0;
    int      count = 0, step = 0, height = s->lattice.height;
    for (;; step++) {
        /* As many as fit, evenly spread, the top among them. */
        if (step == height ||
            (int64_t)(step + 1) * (room - 1) / (height + 1) > (int64_t)step * (room - 1) / (height + 1))
            nodes[count++] = node_of(s, packed);
        if (step == height) return count;
        int    chosen = -1;
        double most = -1;
        for (int q = 0; q < s->quasi_count; q++) {
            int level = kn_packed_level(s, packed, q), at = s->oracle.offsets[q] + level;
            if (level == s->lattice.heights[q]) continue;
            double won = s->oracle.features[at] - s->oracle.features[at + 1] + 1e-6, cost = 1;
            if (cells(s)) cost = (double)(s->oracle.lows[at + 1] - s->oracle.lows[at]) + 1;
            if (won / cost <= most) continue;
            most = won / cost;
            chosen = q;
        }
        packed += (uint64_t)1 << s->shifts[chosen];
    }
}
