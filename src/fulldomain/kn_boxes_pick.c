/* kn_boxes_pick.c: which node is counted for a box.
 *
 * If its highest node is predicted to suppress so many rows that nothing in the box can be the best, a node as far above
 * as that prediction holds is counted: it decides the box and what else lies below. Otherwise, if no clause is left to
 * part the box by, its lowest node may be the best: a node above it that is predicted to rule it out is counted, or the
 * lowest node itself. For metrics whose low part is not known from the levels, a node from which on everything is
 * predicted to be too general does the same from below. Predictions (kn_optimal_model.c) never decide a result.
 *
 * Above a box there are many nodes from which every step up would lose the prediction, and they rule out different things: a
 * proof is a cover of the lattice by counted nodes, and fewer are needed where each is chosen for what it covers. So the way
 * up is gone WALKS times, each time with other weights of the quasi-identifiers, and of the nodes reached the one is
 * counted that covers most of the open boxes (of a sample of these: what share of a box's nodes lies below).
 *
 * Cost of a pick: WALKS × (steps × quasi-identifiers + sample × quasi-identifiers).
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <string.h>

#include "kn_boxes.h"
#include "kn_hash.h"

enum { WALKS = 8, HALVINGS = 40 };

static const double widest_weight = 2; /* of a weight's logarithm */

/* A node on the way, and what it is to rule out. */
typedef struct way {
    double feature, shift;     /* of the node reached  */
    double seed_low, seed_gap; /* of what is ruled out */
    double seed_high;
    double enough; /* the guessed logit from which on it is ruled out */
} way;

/* Is what is to be ruled out too costly if so many rows are suppressed above it? */
static bool costs_too_much(const kn_boxes *b, const way *w, double suppressed)
{
    if (!b->found || b->by_height) return false;
    double high = kn_bounds_guess_high(&b->oracle->bounds, w->seed_low, suppressed), by_rows = suppressed * w->seed_gap;
    return kn_bounds_guess_join(&b->oracle->bounds, w->seed_low, high > by_rows ? high : by_rows) > (double)b->score;
}

/* How many rows must be suppressed: solved once, so that a step of the way takes no more than a comparison. */
static double enough_of(const kn_boxes *b, const way *w)
{
    double most = (double)b->oracle->problem->budget + 1; /* of 0 rows the model says half a row */
    double rows = (double)b->oracle->bounds.rows;
    if (costs_too_much(b, w, most)) {
        double least = 0;
        for (int i = 0; i < HALVINGS; i++) {
            double middle = (least + most) / 2;
            if (costs_too_much(b, w, middle))
                most = middle;
            else
                least = middle;
        }
    }
    most /= 1 - b->caution;
    return most < rows ? -log(rows / most - 1) : INFINITY;
}

static bool kills(const kn_boxes *b, const way *w)
{
    return kn_guess_logit(b->guess, w->feature, w->shift) > w->enough;
}

static bool is_too_general(const kn_boxes *b, const way *w)
{
    if (b->cells || !b->found) return false;
    double low = exp(kn_guess_low(b->guess, w->feature)) - 1;
    low -= 0.5 * b->caution * low;
    return kn_bounds_guess_join(&b->oracle->bounds, low, w->seed_high) > (double)b->score;
}

void kn_boxes_weigh(kn_boxes *b)
{
    for (int q = 0; q < b->quasi_count; q++) {
        const int64_t *reach = b->reach + b->oracle->offsets[q];
        double        *gains = b->gains + b->oracle->offsets[q], boxes = 1;
        for (int level = 0; level < b->heights[q]; level++) {
            double nodes = level + 1;
            boxes += (double)reach[level];
            gains[level] = log((nodes + 1) / nodes) + log((boxes + (double)reach[level + 1]) / boxes);
        }
    }
}

static double gain_below(const kn_boxes *b, int q, int level)
{
    double nodes = b->heights[q] - level + 1;
    return log((nodes + 1) / nodes);
}

/* Goes on in steps that change the feature least for what they add to what is ruled out. `weights`: NULL: 1 each. */
static void walk(const kn_boxes *b, way *w, const double *weights, int *levels, bool up)
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
            double    cost = fabs(change) / (up ? b->gains[at + levels[q]] : gain_below(b, q, levels[q]));
            if (weights) cost *= weights[q];
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
    return costs_too_much(b, w, suppressed);
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

static void copy_levels(const kn_boxes *b, const kn_box_level *from, int *levels)
{
    for (int q = 0; q < b->quasi_count; q++) levels[q] = from[q];
}

/* What share of the sample's boxes lies below the node, in boxes. */
static double covered(const kn_boxes *b, const int *levels)
{
    double              sum = 0;
    const kn_box_level *low = b->sample, *end = low + (size_t)b->sample_count * 2 * (size_t)b->quasi_count;
    for (; low < end; low += 2 * b->quasi_count) {
        const kn_box_level *high = low + b->quasi_count;
        double              share = 1;
        int                 q = 0;
        for (; q < b->quasi_count && low[q] <= levels[q]; q++)
            if (levels[q] < high[q]) share *= (double)(levels[q] - low[q] + 1) / (high[q] - low[q] + 1);
        if (q == b->quasi_count) sum += share;
    }
    return sum;
}

/* Between e^-2 and e^2 for each quasi-identifier: other ones for each walk and each number of records. */
static void draw_weights(const kn_boxes *b, int which, double *weights)
{
    for (int q = 0; q < b->quasi_count; q++) {
        uint64_t drawn = kn_hash_word(((uint64_t)b->record_count * WALKS + (uint64_t)which) << 16 ^ (uint64_t)q);
        weights[q] = exp(widest_weight * (2 * (double)(drawn >> 11) * 0x1p-53 - 1));
    }
}

/* A node that rules out what is below `from`; false: none is predicted to. */
static bool pick_above(const kn_boxes *b, const kn_box *box, const kn_box_level *from, int *levels)
{
    way    start = way_from(b, box, from, levels);
    int   *reached = b->levels + (KN_BATCH + 1) * b->quasi_count;
    double most = -1;
    start.enough = enough_of(b, &start);
    if (!kills(b, &start) || !may_kill(b, &start, levels)) return false;
    for (int i = 0; i < WALKS; i++) {
        way w = start;
        if (i > 0) draw_weights(b, i, b->weights);
        copy_levels(b, from, reached);
        walk(b, &w, i > 0 ? b->weights : NULL, reached, true);
        double covers = covered(b, reached);
        if (covers <= most || kn_box_counted(b, reached) || !may_kill(b, &w, reached)) continue;
        most = covers;
        memcpy(levels, reached, (size_t)b->quasi_count * sizeof *levels);
    }
    if (most >= 0) return true;
    copy_levels(b, from, levels);
    return !kn_box_counted(b, levels);
}

bool kn_box_pick(kn_boxes *b, const kn_box *box, int *levels)
{
    way w = way_from(b, box, box->low, levels);
    if (is_too_general(b, &w)) {
        walk(b, &w, NULL, levels, false);
        if (!kn_box_counted(b, levels)) return true;
    }
    if (pick_above(b, box, box->high, levels)) return true;
    if (box->clause >= 0) return false;
    if (pick_above(b, box, box->low, levels)) return true;
    copy_levels(b, box->low, levels);
    return true;
}
