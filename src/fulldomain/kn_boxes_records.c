/* kn_boxes_records.c: counted nodes, and what they say of a box of nodes.
 *
 * For each attribute and level a set of bits has the records with at least that level, so that 64 records at a time are
 * held against a box: which lie above its lowest node (a node of the box may be below them), and in how many attributes
 * the box reaches beyond them. A record whose nodes below cannot be the best is a clause: the best node exceeds it in
 * some attribute. In none: the box is decided. In one: the box can be made smaller from below. What several clauses
 * without a common attribute cost at least adds up. Levels that alone cost too much make the box smaller from above.
 *
 * Cost: records / 64 × attributes. Memory: records × (levels of all attributes / 8 + 2 × attributes + 24) bytes.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "kn_alloc.h"
#include "kn_bitset.h"
#include "kn_boxes.h"
#include "kn_error.h"
#include "kn_lattice.h"

#define WHAT "searching the lattice"

enum { FIRST_WORDS = 8 };

/* ---- Making ---- */

static kn_status make_lows(kn_boxes *b, kn_error *err)
{
    b->lows = b->oracle->lows;
    b->gaps = b->oracle->gaps;
    if (!b->by_height) return KN_OK;
    if (!KN_ALLOC_ZERO(b->ctx, b->own_lows, 2 * b->level_count)) return kn_fail_memory(err, b->ctx, WHAT);
    for (int q = 0; q < b->quasi_count; q++)
        for (int level = 0; level <= b->heights[q]; level++)
            b->own_lows[b->oracle->offsets[q] + level] = (uint64_t)level;
    b->lows = b->own_lows;
    b->gaps = b->own_lows + b->level_count; /* 0 */
    return KN_OK;
}

kn_status kn_boxes_make(kn_boxes *b, kn_context *ctx, const kn_oracle *oracle, const kn_guess *guess,
                        const int *heights, bool by_height, kn_error *err)
{
    size_t size = (size_t)oracle->quasi_count;
    *b = (kn_boxes){.ctx = ctx, .oracle = oracle, .guess = guess, .heights = heights, .by_height = by_height};
    b->quasi_count = oracle->quasi_count;
    b->level_count = (size_t)(oracle->offsets[size - 1] + heights[size - 1] + 1);
    b->cells = by_height || oracle->problem->objective->cells;
    b->caution = 0.15;
    for (int q = 0; q < b->quasi_count; q++)
        if (heights[q] > KN_BOX_LEVEL_MOST)
            return kn_fail(err, KN_USAGE,
                           "a hierarchy has more than %d levels: too many for a lattice that is not enumerated",
                           KN_BOX_LEVEL_MOST + 1);
    if (!KN_ALLOC_ZERO(ctx, b->best, size) || !KN_ALLOC_ZERO(ctx, b->levels, size * (KN_BATCH + 2)) ||
        !KN_ALLOC_ZERO(ctx, b->gains, b->level_count) || !KN_ALLOC_ZERO(ctx, b->weights, size))
        return kn_fail_memory(err, ctx, WHAT);
    return make_lows(b, err);
}

void kn_boxes_free(kn_boxes *b)
{
    KN_FREE(b->own_lows, b->at_least, b->bad, b->record_levels, b->records, b->falls, b->unmet, b->best, b->levels,
            b->gains, b->weights);
    *b = (kn_boxes){0};
}

/* Room for one more record. */
static kn_status make_room(kn_boxes *b, kn_error *err)
{
    if ((size_t)b->record_count < b->room * 64) return KN_OK;
    size_t         room = b->room ? 2 * b->room : FIRST_WORDS, levels = b->level_count, size = (size_t)b->quasi_count;
    uint64_t      *at_least = kn_alloc_array_zero(b->ctx, levels * room, sizeof *at_least);
    uint64_t      *bad = kn_alloc_array_zero(b->ctx, room, sizeof *bad);
    uint64_t      *unmet = kn_alloc_array_zero(b->ctx, room, sizeof *unmet);
    kn_box_level  *record_levels = kn_alloc_array(b->ctx, room * 64, size * sizeof *record_levels);
    kn_box_record *records = kn_alloc_array(b->ctx, room * 64, sizeof *records);
    if (!at_least || !bad || !unmet || !record_levels || !records) {
        KN_FREE(at_least, bad, unmet, record_levels, records);
        return kn_fail_memory(err, b->ctx, WHAT);
    }
    for (size_t l = 0; l < levels && b->room; l++)
        memcpy(at_least + l * room, b->at_least + l * b->room, b->room * sizeof *at_least);
    if (b->room) {
        memcpy(bad, b->bad, b->room * sizeof *bad);
        memcpy(record_levels, b->record_levels, (size_t)b->record_count * size * sizeof *record_levels);
        memcpy(records, b->records, (size_t)b->record_count * sizeof *records);
    }
    KN_FREE(b->at_least, b->bad, b->unmet, b->record_levels, b->records);
    b->room = room;
    b->at_least = at_least;
    b->bad = bad;
    b->unmet = unmet;
    b->record_levels = record_levels;
    b->records = records;
    return KN_OK;
}

/* ---- Learning ---- */

static int height_of(const int *levels, int count)
{
    int height = 0;
    for (int q = 0; q < count; q++) height += levels[q];
    return height;
}

/* Does a good node come before the best one? */
static bool is_better(const kn_boxes *b, const int *levels, const kn_outcome *o, kn_quotient loss)
{
    if (!b->found) return true;
    if (b->by_height) return kn_levels_compare_by_height(levels, b->best, b->quasi_count) < 0;
    return kn_standing_compare((kn_standing){loss, o->sums.suppressed, levels},
                               (kn_standing){b->loss, b->suppressed, b->best}, b->quasi_count) < 0;
}

static void consider(kn_boxes *b, const int *levels, const kn_outcome *o)
{
    if (!o->good) return;
    kn_quotient loss = kn_objective_loss(b->oracle->problem->objective, &o->sums);
    if (!is_better(b, levels, o, loss)) return;
    b->found = true;
    b->loss = loss;
    b->suppressed = o->sums.suppressed;
    b->classes = o->sums.classes;
    b->score = b->by_height ? (uint64_t)height_of(levels, b->quasi_count) : kn_bounds_score(&b->oracle->bounds, loss);
    memcpy(b->best, levels, (size_t)b->quasi_count * sizeof *levels);
}

static kn_status keep_falls(kn_boxes *b, const uint64_t *falls, int64_t *out, kn_error *err)
{
    size_t size = b->level_count;
    if (!KN_GROW(b->ctx, &b->falls, &b->fall_room, (b->fall_count + 1) * size))
        return kn_fail_memory(err, b->ctx, WHAT);
    memcpy(b->falls + b->fall_count * size, falls, size * sizeof *falls);
    *out = (int64_t)b->fall_count++;
    return KN_OK;
}

kn_status kn_boxes_learn(kn_boxes *b, const int *levels, const kn_outcome *o, kn_error *err)
{
    KN_TRY(make_room(b, err));
    size_t   at = (size_t)b->record_count++, size = (size_t)b->quasi_count;
    uint64_t gap = 0;
    for (size_t q = 0; q < size; q++) {
        b->record_levels[at * size + q] = (kn_box_level)levels[q];
        gap += b->gaps[b->oracle->offsets[q] + levels[q]];
        for (int level = 0; level <= levels[q]; level++)
            kn_bitset_set(b->at_least + (size_t)(b->oracle->offsets[q] + level) * b->room, at);
    }
    kn_box_record r = {o->low, o->high, o->lost, -1};
    if (r.high >= KN_BOUND_BAD) {
        kn_bitset_set(b->bad, at);
    } else if (b->by_height) {
        r = (kn_box_record){.falls = -1};
    } else {
        if (r.high < r.lost * gap) r.high = r.lost * gap; /* no more than rows × star */
        if (o->falls) KN_TRY(keep_falls(b, o->falls, &r.falls, err));
    }
    b->records[at] = r;
    consider(b, levels, o);
    return KN_OK;
}

bool kn_box_counted(const kn_boxes *b, const int *levels)
{
    for (size_t w = 0; w * 64 < (size_t)b->record_count; w++) {
        uint64_t same = ~(uint64_t)0;
        for (int q = 0; q < b->quasi_count && same; q++) {
            same &= kn_box_at_least(b, q, levels[q])[w];
            if (levels[q] < b->heights[q]) same &= ~kn_box_at_least(b, q, levels[q] + 1)[w];
        }
        if (same) return true;
    }
    return false;
}

/* ---- Bounds ---- */

uint64_t kn_box_join(const kn_boxes *b, uint64_t low, uint64_t high)
{
    if (b->by_height) return high >= KN_BOUND_BAD ? KN_BOUND_BAD : low;
    return kn_bounds_join(&b->oracle->bounds, low, high);
}

/* 0: not known. */
static uint64_t fall_by_values(const kn_boxes *b, const kn_box_record *r, const kn_box_level *low)
{
    uint64_t sum = 0;
    if (r->falls < 0) return 0;
    const uint64_t *falls = b->falls + (size_t)r->falls * b->level_count;
    for (int q = 0; q < b->quasi_count; q++) sum += falls[b->oracle->offsets[q] + low[q]];
    return sum;
}

uint64_t kn_box_fall(const kn_boxes *b, const kn_box_record *r, const kn_box_level *low, uint64_t gap)
{
    uint64_t fall = fall_by_values(b, r, low), by_rows = r->lost * gap;
    if (fall < by_rows) fall = by_rows;
    return fall > r->high ? fall : r->high;
}

/* What going to a level costs the rows that are released at the record of box->fallen. */
static uint64_t rise(const kn_boxes *b, const kn_box *box, int q, int level)
{
    if (box->fallen < 0) return 0;
    const uint64_t *lows = b->lows + b->oracle->offsets[q];
    const uint64_t *falls = b->falls + (size_t)box->fallen * b->level_count + b->oracle->offsets[q];
    uint64_t        cost = lows[level] - lows[box->low[q]], less = falls[box->low[q]] - falls[level];
    return cost > less ? cost - less : 0;
}

uint64_t kn_box_bound_at(const kn_boxes *b, const kn_box *box, int q, int level)
{
    const uint64_t *lows = b->lows + b->oracle->offsets[q];
    uint64_t        bound = kn_box_join(b, box->low_loss + (lows[level] - lows[box->low[q]]), box->high_loss);
    if (bound < box->bound) bound = box->bound;
    if (box->fall == 0) return bound;
    uint64_t other = box->low_loss + box->fall + rise(b, box, q, level);
    return other > bound ? other : bound;
}

/* Negative: `low` comes before the best node by height and levels. */
static int compare_to_best(const kn_boxes *b, const kn_box_level *low)
{
    int higher = 0, first = 0;
    for (int q = 0; q < b->quasi_count; q++) {
        int difference = low[q] - b->best[q];
        higher += difference;
        if (first == 0) first = difference;
    }
    return higher != 0 ? higher : first;
}

/* Is it certain that no node above `low` is the best, if it loses at least so much and suppresses so many rows? */
static bool is_dead(const kn_boxes *b, uint64_t bound, uint64_t lost, const kn_box_level *low)
{
    if (bound >= KN_BOUND_BAD) return true;
    if (!b->found) return false;
    if (bound != b->score) return bound > b->score;
    if (b->by_height) return compare_to_best(b, low) >= 0;
    if (!b->oracle->bounds.exact || lost < (uint64_t)b->suppressed) return false;
    return lost > (uint64_t)b->suppressed || compare_to_best(b, low) >= 0;
}

/* ---- A box ---- */

/* What the lowest node loses at least, and what its rows cost at most where they are suppressed. */
static void sum_levels(const kn_boxes *b, kn_box *box)
{
    const int *offsets = b->oracle->offsets;
    box->low_loss = box->gap = box->low_gap = 0;
    for (int q = 0; q < b->quasi_count; q++) {
        box->low_loss += b->lows[offsets[q] + box->low[q]];
        box->gap += b->gaps[offsets[q] + box->high[q]];
        box->low_gap += b->gaps[offsets[q] + box->low[q]];
    }
    if (b->cells) return;
    for (size_t w = 0; w * 64 < (size_t)b->record_count; w++) { /* records below the lowest node */
        size_t   left = (size_t)b->record_count - w * 64;
        uint64_t below = left < 64 ? ((uint64_t)1 << left) - 1 : ~(uint64_t)0;
        for (int q = 0; q < b->quasi_count && below; q++)
            if (box->low[q] < b->heights[q]) below &= ~kn_box_at_least(b, q, box->low[q] + 1)[w];
        for (; below; below &= below - 1) {
            uint64_t low = b->records[w * 64 + (size_t)__builtin_ctzll(below)].low;
            if (low > box->low_loss) box->low_loss = low;
        }
    }
}

/* Takes away levels that cost too much. */
static void lower_top(const kn_boxes *b, kn_box *box)
{
    if (!b->cells || !b->found) return;
    for (int q = 0; q < b->quasi_count; q++) {
        const uint64_t *lows = b->lows + b->oracle->offsets[q];
        uint64_t        rest = box->low_loss - lows[box->low[q]];
        while (box->high[q] > box->low[q] && rest + lows[box->high[q]] > b->score) box->high[q]--;
    }
}

/* The same with what is known to be suppressed. */
static bool lower_fallen(const kn_boxes *b, kn_box *box)
{
    bool changed = false;
    if (!b->found || box->fallen < 0) return false; /* the other costs do not fall on the way up */
    for (int q = 0; q < b->quasi_count; q++)
        while (box->high[q] > box->low[q] && box->low_loss + box->fall + rise(b, box, q, box->high[q]) > b->score) {
            box->high[q]--;
            changed = true;
        }
    return changed;
}

/* Of 64 records: which lie above the lowest node; of these, those that the box exceeds in some and in several attributes. */
static uint64_t above(const kn_boxes *b, const kn_box *box, size_t w, uint64_t *some, uint64_t *several)
{
    uint64_t unmet = ~(uint64_t)0;
    for (int q = 0; q < b->quasi_count; q++) {
        unmet &= kn_box_at_least(b, q, box->low[q])[w];
        if (!unmet) return 0;
    }
    *some = *several = 0;
    for (int q = 0; q < b->quasi_count; q++) {
        uint64_t beyond = ~kn_box_at_least(b, q, box->high[q])[w];
        *several |= *some & beyond;
        *some |= beyond;
    }
    return unmet;
}

static bool is_lowest(const kn_boxes *b, const kn_box *box, size_t record)
{
    size_t size = (size_t)b->quasi_count;
    return memcmp(b->record_levels + record * size, box->low, size * sizeof *box->low) == 0;
}

/* Of records that are not bad: those below which nothing in the box can be the best. */
static uint64_t as_good_as_bad(const kn_boxes *b, kn_box *box, size_t w, uint64_t soft, uint64_t some)
{
    uint64_t clauses = 0;
    for (; soft; soft &= soft - 1) {
        int                  bit = __builtin_ctzll(soft);
        const kn_box_record *r = &b->records[w * 64 + (size_t)bit];
        uint64_t             by_rows = r->lost * box->gap, high = r->high > by_rows ? r->high : by_rows;
        uint64_t             fall = kn_box_fall(b, r, box->low, box->low_gap);
        if (!(some >> bit & 1)) {
            if (high > box->high_loss) box->high_loss = high;
            if (r->lost > box->lost) box->lost = r->lost;
            if (fall > box->fall && b->cells) {
                box->fall = fall;
                box->fallen = fall == fall_by_values(b, r, box->low) ? r->falls : -1;
            }
        }
        if (is_lowest(b, box, w * 64 + (size_t)bit) ||
            is_dead(b, kn_box_join(b, box->low_loss, fall), r->lost, box->low))
            clauses |= (uint64_t)1 << bit;
    }
    return clauses;
}

/* A clause with one attribute left: the box begins above it. */
static void raise_bottom(const kn_boxes *b, kn_box *box, size_t record)
{
    const kn_box_level *levels = b->record_levels + record * (size_t)b->quasi_count;
    for (int q = 0; q < b->quasi_count; q++)
        if (levels[q] < box->high[q]) {
            if (levels[q] >= box->low[q]) box->low[q] = (kn_box_level)(levels[q] + 1);
            return;
        }
}

/* One pass over the records. false: the box is decided. *changed: it is smaller now. */
static bool ask_records(kn_boxes *b, kn_box *box, bool *changed)
{
    box->high_loss = box->lost = box->fall = 0;
    box->fallen = -1;
    for (size_t w = 0; w * 64 < (size_t)b->record_count; w++) {
        uint64_t some = 0, several = 0, unmet = above(b, box, w, &some, &several);
        uint64_t clauses = unmet & b->bad[w];
        if (unmet & ~b->bad[w]) clauses |= as_good_as_bad(b, box, w, unmet & ~b->bad[w], some);
        if (clauses & ~some) return false;
        for (uint64_t one = clauses & ~several; one; one &= one - 1) {
            raise_bottom(b, box, w * 64 + (size_t)__builtin_ctzll(one));
            *changed = true;
        }
        b->unmet[w] = clauses & several;
    }
    return true;
}

/* ---- Clauses ---- */

typedef struct clause {
    int64_t  record;
    uint64_t open, cost; /* attributes; the least that exceeding the record in one of them costs */
    uint64_t rise;       /* the same of the rows that are released at the record of box->fallen  */
} clause;

static clause clause_of(const kn_boxes *b, const kn_box *box, size_t record)
{
    const kn_box_level *levels = b->record_levels + record * (size_t)b->quasi_count;
    clause              c = {(int64_t)record, 0, UINT64_MAX, box->fallen < 0 ? 0 : UINT64_MAX};
    for (int q = 0; q < b->quasi_count; q++) {
        if (levels[q] >= box->high[q]) continue;
        const uint64_t *lows = b->lows + b->oracle->offsets[q];
        uint64_t        cost = lows[levels[q] + 1] - lows[box->low[q]];
        c.open |= (uint64_t)1 << (q & 63);
        if (cost < c.cost) c.cost = cost;
        if (c.rise == 0) continue;
        cost = rise(b, box, q, levels[q] + 1);
        if (cost < c.rise) c.rise = cost;
    }
    return c;
}

/* The latest clauses, those that cost most first. */
static int gather_clauses(const kn_boxes *b, const kn_box *box, clause *list)
{
    int count = 0;
    for (size_t w = kn_bitset_words((size_t)b->record_count); w-- > 0 && count < KN_BOX_CLAUSES;)
        for (uint64_t rest = b->unmet[w]; rest && count < KN_BOX_CLAUSES;) {
            int    bit = 63 - __builtin_clzll(rest), at = count++;
            clause c = clause_of(b, box, w * 64 + (size_t)bit);
            rest &= ~((uint64_t)1 << bit);
            for (; at > 0 && list[at - 1].cost < c.cost; at--) list[at] = list[at - 1];
            list[at] = c;
        }
    return count;
}

/* What clauses without a common attribute cost together; which one to part the box by: the one with the fewest
 * attributes, of these the one that costs most. */
static void ask_clauses(const kn_boxes *b, kn_box *box)
{
    clause   list[KN_BOX_CLAUSES];
    int      count = gather_clauses(b, box, list), fewest = 0;
    uint64_t used = 0, cost = 0, rises = 0;
    box->clause = -1;
    for (int i = 0; i < count; i++) {
        int open = __builtin_popcountll(list[i].open);
        if (box->clause < 0 || open < fewest) {
            fewest = open;
            box->clause = list[i].record;
            box->open = list[i].open;
        }
        if (list[i].open & used) continue;
        used |= list[i].open;
        cost += list[i].cost;
        rises += list[i].rise;
    }
    box->bound = kn_box_join(b, box->low_loss + (b->cells ? cost : 0), box->high_loss);
    if (box->fall > 0 && box->low_loss + box->fall + rises > box->bound) box->bound = box->low_loss + box->fall + rises;
}

bool kn_box_tighten(kn_boxes *b, kn_box *box)
{
    for (bool changed = true; changed;) {
        changed = false;
        sum_levels(b, box);
        lower_top(b, box);
        if (!ask_records(b, box, &changed)) return false;
        if (!changed) changed = lower_fallen(b, box);
        for (int q = 0; q < b->quasi_count && changed; q++)
            if (box->low[q] > box->high[q]) return false;
    }
    ask_clauses(b, box);
    return !is_dead(b, box->bound, box->lost, box->low);
}
