/* kn_boxes_pick.c: which node is counted for a box.
 *
 * If its highest node is predicted to suppress so many rows that nothing in the box can be the best, a node as far above
 * as that prediction holds is counted: it decides the box and what else lies below. Otherwise, if no clause is left to
 * part the box by, its lowest node may be the best: a node above it that is predicted to rule it out is counted, or the
 * lowest node itself. For metrics whose low part is not known from the levels, a node from which on everything is
 * predicted to be too general does the same from below. Predictions (kn_optimal_model.c) never decide a result.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <string.h>

#include "kn_boxes.h"

/* A node on the way, and what it is to rule out. */
typedef struct way {
    double feature, shift;     /* of the node reached  */
    double seed_low, seed_gap; /* of what is ruled out */
    double seed_high;
} way;

static bool kills(const kn_boxes *b, const way *w)
{
    const kn_bounds *bounds = &b->oracle->bounds;
    double           suppressed = kn_guess_suppressed(b->guess, w->feature, w->shift);
    suppressed -= b->caution * suppressed;
    if (suppressed > (double)b->oracle->problem->budget + 1) return true; /* of 0 rows the model says half a row */
    if (!b->found || b->by_height) return false;
    double high = kn_bounds_guess_high(bounds, w->seed_low, suppressed), by_rows = suppressed * w->seed_gap;
    return kn_bounds_guess_join(bounds, w->seed_low, high > by_rows ? high : by_rows) > (double)b->score;
}

static bool is_too_general(const kn_boxes *b, const way *w)
{
    if (b->cells || !b->found) return false;
    double low = exp(kn_guess_low(b->guess, w->feature)) - 1;
    low -= 0.5 * b->caution * low;
    return kn_bounds_guess_join(&b->oracle->bounds, low, w->seed_high) > (double)b->score;
}

/* What a step up adds to the nodes ruled out, and to the open boxes. */
static double gain_above(const kn_boxes *b, int q, int level)
{
    const int64_t *reach = b->reach + b->oracle->offsets[q];
    double         nodes = level + 1, boxes = 1;
    for (int l = 0; l <= level; l++) boxes += (double)reach[l];
    return log((nodes + 1) / nodes) + log((boxes + (double)reach[level + 1]) / boxes);
}

static double gain_below(const kn_boxes *b, int q, int level)
{
    double nodes = b->heights[q] - level + 1;
    return log((nodes + 1) / nodes);
}

/* Goes on in steps that change the feature least for what they add to what is ruled out. */
static void walk(const kn_boxes *b, way *w, int *levels, bool up)
{
    for (;;) {
        int    chosen = -1;
        double least = INFINITY;
        way    there = *w;
        for (int q = 0; q < b->quasi_count; q++) {
            int to = up ? levels[q] + 1 : levels[q] - 1;
            if (to < 0 || to > b->heights[q]) continue;
            const int at = b->oracle->offsets[q];
            double    change = b->oracle->features[at + to] - b->oracle->features[at + levels[q]];
            double    cost = fabs(change) / (up ? gain_above(b, q, levels[q]) : gain_below(b, q, levels[q]));
            if (cost >= least) continue;
            way next = *w;
            next.feature += change;
            next.shift += kn_guess_shift_by(b->guess, q, levels[q], to);
            if (up ? !kills(b, &next) : !is_too_general(b, &next)) continue;
            least = cost;
            chosen = q;
            there = next;
        }
        if (chosen < 0) return;
        levels[chosen] += up ? 1 : -1;
        *w = there;
    }
}

/* The fewest rows that a node counted below suppresses: this one suppresses no more. */
static double fewest_below(const kn_boxes *b, const int *levels)
{
    double fewest = INFINITY;
    for (size_t w = 0; w * 64 < (size_t)b->record_count; w++) {
        size_t   left = (size_t)b->record_count - w * 64;
        uint64_t below = left < 64 ? ((uint64_t)1 << left) - 1 : ~(uint64_t)0;
        for (int q = 0; q < b->quasi_count && below; q++)
            if (levels[q] < b->heights[q]) below &= ~kn_box_at_least(b, q, levels[q] + 1)[w];
        for (; below; below &= below - 1) {
            double lost = (double)b->records[w * 64 + (size_t)__builtin_ctzll(below)].lost;
            if (lost < fewest) fewest = lost;
        }
    }
    return fewest;
}

/* Can the node rule out anything, after what was counted below it? */
static bool may_kill(const kn_boxes *b, const way *w, const int *levels)
{
    double suppressed = fewest_below(b, levels);
    if (suppressed > (double)b->oracle->problem->budget) return true;
    if (!b->found || b->by_height) return false;
    double high = kn_bounds_guess_high(&b->oracle->bounds, w->seed_low, suppressed), by_rows = suppressed * w->seed_gap;
    return kn_bounds_guess_join(&b->oracle->bounds, w->seed_low, high > by_rows ? high : by_rows) > (double)b->score;
}

static way way_from(const kn_boxes *b, const kn_box *box, const kn_box_level *from, int *levels)
{
    way      w = {.seed_low = (double)box->low_loss, .seed_high = (double)box->high_loss};
    uint64_t gap = 0;
    for (int q = 0; q < b->quasi_count; q++) {
        levels[q] = from[q];
        gap += b->gaps[b->oracle->offsets[q] + from[q]];
    }
    w.seed_gap = (double)gap;
    w.feature = kn_oracle_feature(b->oracle, levels);
    w.shift = kn_guess_shift(b->guess, levels);
    return w;
}

/* A node that rules out what is below `from`; false: none is predicted to. */
static bool pick_above(const kn_boxes *b, const kn_box *box, const kn_box_level *from, int *levels)
{
    way start = way_from(b, box, from, levels), w = start;
    if (!kills(b, &w) || !may_kill(b, &w, levels)) return false;
    walk(b, &w, levels, true);
    if (!kn_box_counted(b, levels) && may_kill(b, &w, levels)) return true;
    (void)way_from(b, box, from, levels);
    return !kn_box_counted(b, levels);
}

bool kn_box_pick(kn_boxes *b, const kn_box *box, int *levels)
{
    way w = way_from(b, box, box->low, levels);
    if (is_too_general(b, &w)) {
        walk(b, &w, levels, false);
        if (!kn_box_counted(b, levels)) return true;
    }
    if (pick_above(b, box, box->high, levels)) return true;
    if (box->clause >= 0) return false;
    if (pick_above(b, box, box->low, levels)) return true;
    (void)way_from(b, box, box->low, levels);
    return true;
}
