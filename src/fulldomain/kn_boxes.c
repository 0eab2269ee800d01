/* kn_boxes.c: branch and bound over boxes of nodes: the optimal search of lattices that are not enumerated.
 *
 * The open boxes of a region are kept by their bounds. One is taken: the records make it smaller or decide it
 * (kn_boxes_records.c); for some a node is counted (kn_boxes_pick.c); the others are parted by a clause, a record that
 * the best node exceeds in one of some attributes: one box per attribute, without common nodes. When no box is open the
 * best node counted is the best one of the region; before that, no open node is better than the least bound.
 *
 * Most batches take the boxes with the largest bounds: the nodes counted for these are high, and decide many boxes below.
 * Every TURNS-th takes those with the least, so that the bound of what is open rises: it is what can be said when the
 * time is over. Of more than BOXES_MOST boxes only the former are taken, which is close to depth first.
 *
 * What a counted node would cover is asked of a sample of the open boxes, evenly spread over a list of them.
 *
 * Nodes are counted in batches that depend on earlier ones alone, so answers and counters do not depend on the number of
 * threads. Memory: open boxes × (4 × attributes + 20) bytes, and the records.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_boxes.h"

#include <string.h>

#include "kn_alloc.h"
#include "kn_context.h"
#include "kn_error.h"

#define WHAT "searching the lattice"

enum {
    BUCKETS = 1 << 12,
    BOXES_MOST = 1 << 20,
    VISITS_MOST = 1024,
    WAITING_MOST = 256,
    VISIT_WORK = 256,
    TURNS = 4,
    SAMPLE = 256
};

/* A box that waits to be looked at. */
typedef struct entry {
    uint64_t bound;
    uint32_t next;  /* slot of the next one in its bucket, + 1 */
    uint32_t place; /* in the list of open boxes               */
} entry;

struct kn_region {
    kn_boxes     *boxes;
    uint64_t      scale;            /* of bounds: the buckets are evenly spread up to it */
    uint32_t      buckets[BUCKETS]; /* slot of the first box, + 1 */
    int           least, most;      /* no bucket before and behind has any */
    int64_t       open, turn;
    int64_t      *reach;   /* kn_boxes */
    entry        *entries; /* by slot */
    size_t        entry_room;
    uint32_t     *list; /* slots of the open boxes, in any order */
    size_t        list_room;
    kn_box_level *sample; /* kn_boxes */
    kn_box_level *pool;   /* by slot: two nodes */
    size_t        pool_room, slot_count;
    uint32_t      free_slot;             /* + 1 */
    uint32_t      waiting[WAITING_MOST]; /* slots: for nodes that are being counted */
    int           waiting_count;
    kn_box_level *box; /* scratch: two nodes */
};

/* ---- Slots ---- */

static kn_box_level *slot_levels(const kn_region *r, uint32_t slot)
{
    return r->pool + (size_t)slot * 2 * (size_t)r->boxes->quasi_count;
}

static kn_status new_slot(kn_region *r, uint32_t *out, kn_error *err)
{
    size_t size = 2 * (size_t)r->boxes->quasi_count;
    if (r->free_slot > 0) {
        *out = r->free_slot - 1;
        r->free_slot = r->entries[*out].next;
        return KN_OK;
    }
    if (!KN_GROW(r->boxes->ctx, &r->pool, &r->pool_room, (r->slot_count + 1) * size) ||
        !KN_GROW(r->boxes->ctx, &r->entries, &r->entry_room, r->slot_count + 1) ||
        !KN_GROW(r->boxes->ctx, &r->list, &r->list_room, r->slot_count + 1))
        return kn_fail_memory(err, r->boxes->ctx, WHAT);
    *out = (uint32_t)r->slot_count++;
    return KN_OK;
}

static void free_slot(kn_region *r, uint32_t slot)
{
    r->entries[slot].next = r->free_slot;
    r->free_slot = slot + 1;
}

/* ---- The order ---- */

static int bucket_of(const kn_region *r, uint64_t bound)
{
    if (bound >= r->scale) return BUCKETS - 1;
    return (int)((kn_u128)bound * BUCKETS / r->scale);
}

static void note_reach(kn_region *r, uint32_t slot, int64_t by)
{
    const kn_boxes     *b = r->boxes;
    const kn_box_level *high = slot_levels(r, slot) + b->quasi_count;
    for (int q = 0; q < b->quasi_count; q++) r->reach[b->oracle->offsets[q] + high[q]] += by;
}

static void push(kn_region *r, uint32_t slot, uint64_t bound)
{
    int at = bucket_of(r, bound);
    note_reach(r, slot, 1);
    r->entries[slot] = (entry){bound, r->buckets[at], (uint32_t)r->open};
    r->list[r->open++] = slot;
    r->buckets[at] = slot + 1;
    if (at < r->least) r->least = at;
    if (at > r->most) r->most = at;
}

/* From the buckets with the least or the largest bounds. */
static bool pop(kn_region *r, bool least, uint32_t *out)
{
    if (r->open == 0) return false;
    while (r->buckets[r->least] == 0) r->least++;
    while (r->buckets[r->most] == 0) r->most--;
    int at = least ? r->least : r->most;
    *out = r->buckets[at] - 1;
    r->buckets[at] = r->entries[*out].next;
    note_reach(r, *out, -1);
    uint32_t last = r->list[--r->open], place = r->entries[*out].place;
    r->list[place] = last;
    r->entries[last].place = place;
    return true;
}

/* Puts all boxes into new buckets once a good node is known: no bound that matters is larger than its score. */
static void rescale(kn_region *r)
{
    uint32_t all = 0;
    if (!r->boxes->found || r->scale != KN_BOUND_NOTHING) return;
    for (int i = 0; i < BUCKETS; i++)
        while (r->buckets[i] > 0) {
            uint32_t slot = r->buckets[i] - 1;
            r->buckets[i] = r->entries[slot].next;
            r->entries[slot].next = all;
            all = slot + 1;
        }
    memset(r->reach, 0, r->boxes->level_count * sizeof *r->reach);
    r->scale = r->boxes->score + 1;
    r->least = BUCKETS - 1;
    r->most = 0;
    r->open = 0;
    while (all > 0) {
        uint32_t slot = all - 1;
        all = r->entries[slot].next;
        push(r, slot, r->entries[slot].bound);
    }
}

/* ---- Making ---- */

void kn_region_free(kn_region *r)
{
    if (!r) return;
    KN_FREE(r->entries, r->list, r->sample, r->pool, r->box, r->reach, r);
}

kn_status kn_region_make(kn_region **out, kn_boxes *b, const int *low, const int *high, kn_error *err)
{
    size_t     size = (size_t)b->quasi_count;
    kn_region *r = *out = kn_alloc_zero(b->ctx, sizeof *r);
    uint32_t   slot = 0;
    if (!r) return kn_fail_memory(err, b->ctx, WHAT);
    r->boxes = b;
    r->scale = KN_BOUND_NOTHING;
    r->least = BUCKETS - 1;
    bool ok = KN_ALLOC(b->ctx, r->box, 2 * size) && KN_ALLOC_ZERO(b->ctx, r->reach, b->level_count) &&
              KN_ALLOC(b->ctx, r->sample, SAMPLE * 2 * size);
    kn_status st = ok ? new_slot(r, &slot, err) : kn_fail_memory(err, b->ctx, WHAT);
    if (st != KN_OK) {
        kn_region_free(r);
        *out = NULL;
        return st;
    }
    kn_box_level *levels = slot_levels(r, slot);
    for (size_t q = 0; q < size; q++) {
        levels[q] = (kn_box_level)low[q];
        levels[size + q] = (kn_box_level)high[q];
    }
    push(r, slot, 0);
    return KN_OK;
}

uint64_t kn_region_bound(const kn_region *r)
{
    uint64_t least = UINT64_MAX;
    int      at = r->least;
    if (r->open == 0) return least;
    while (r->buckets[at] == 0) at++;
    for (uint32_t next = r->buckets[at]; next > 0; next = r->entries[next - 1].next)
        if (r->entries[next - 1].bound < least) least = r->entries[next - 1].bound;
    return least;
}

/* ---- Parting ---- */

/* The attributes in which the box exceeds the record, the most expensive first: the boxes of the later ones are smaller. */
static int order_attributes(const kn_boxes *b, const kn_box *box, const kn_box_level *record, int *order)
{
    int count = 0;
    for (int q = 0; q < b->quasi_count; q++) {
        if (record[q] >= box->high[q]) continue;
        int at = count++;
        for (; at > 0; at--) {
            const uint64_t *mine = b->lows + b->oracle->offsets[q],
                           *other = b->lows + b->oracle->offsets[order[at - 1]];
            uint64_t cost = mine[record[q] + 1] - mine[box->low[q]],
                     before_it = other[record[order[at - 1]] + 1] - other[box->low[order[at - 1]]];
            if (before_it >= cost) break;
            order[at] = order[at - 1];
        }
        order[at] = q;
    }
    return count;
}

static kn_status push_part(kn_region *r, const kn_box *box, int q, int level, kn_error *err)
{
    const kn_boxes *b = r->boxes;
    size_t          size = (size_t)b->quasi_count;
    uint64_t        bound = kn_box_bound_at(b, box, q, level);
    uint32_t        slot = 0;
    if (b->found && bound > b->score) return KN_OK;
    KN_TRY(new_slot(r, &slot, err));
    kn_box_level *levels = slot_levels(r, slot);
    memcpy(levels, box->low, size * sizeof *levels);
    memcpy(levels + size, box->high, size * sizeof *levels);
    levels[q] = (kn_box_level)level;
    push(r, slot, bound);
    return KN_OK;
}

/* The box lies in r->box, since slots may move. */
static kn_status part(kn_region *r, kn_box *box, kn_error *err)
{
    const kn_boxes     *b = r->boxes;
    const kn_box_level *record = b->record_levels + (size_t)box->clause * (size_t)b->quasi_count;
    int                *order = b->levels + KN_BATCH * b->quasi_count, count = order_attributes(b, box, record, order);
    for (int i = 0; i < count; i++) {
        int q = order[i];
        KN_TRY(push_part(r, box, q, record[q] + 1, err));
        box->high[q] = record[q];
    }
    return KN_OK;
}

/* ---- Batches ---- */

typedef struct batch {
    int      count;
    uint32_t slots[KN_BATCH];              /* the boxes that the nodes are to rule out */
    uint64_t low[KN_BATCH], gap[KN_BATCH]; /* of their lowest nodes                    */
} batch;

static bool is_below(const kn_boxes *b, const kn_box_level *levels, const int *node)
{
    for (int q = 0; q < b->quasi_count; q++)
        if (levels[q] > node[q]) return false;
    return true;
}

/* Will the box be another one after the batch? */
static bool must_wait(const kn_boxes *b, const kn_box *box, const batch *k)
{
    const kn_box_level *levels = box->clause >= 0 ? box->high : box->low;
    for (int i = 0; i < k->count; i++)
        if (is_below(b, levels, b->levels + i * b->quasi_count)) return true;
    return false;
}

static kn_status visit(kn_region *r, uint32_t slot, batch *k, kn_error *err)
{
    kn_boxes *b = r->boxes;
    size_t    size = (size_t)b->quasi_count;
    kn_box    box = {.low = r->box, .high = r->box + size};
    b->visits++;
    memcpy(r->box, slot_levels(r, slot), 2 * size * sizeof *r->box);
    if (!kn_box_tighten(b, &box)) {
        free_slot(r, slot);
        return KN_OK;
    }
    if (box.bound < r->entries[slot].bound) box.bound = r->entries[slot].bound;
    bool wait = must_wait(b, &box, k), picked = !wait && kn_box_pick(b, &box, b->levels + k->count * b->quasi_count);
    if (!wait && !picked) {
        free_slot(r, slot);
        return part(r, &box, err);
    }
    if (picked) {
        k->low[k->count] = box.low_loss;
        k->gap[k->count] = box.low_gap;
        k->slots[k->count++] = slot;
    }
    memcpy(slot_levels(r, slot), r->box, 2 * size * sizeof *r->box);
    r->entries[slot].bound = box.bound;
    r->waiting[r->waiting_count++] = slot;
    return KN_OK;
}

/* Predictions that were too optimistic make the next ones more cautious. */
static void adapt(const kn_region *r, const batch *k)
{
    kn_boxes *b = r->boxes;
    for (int i = 0; i < k->count; i++) {
        const kn_box_record *own = &b->records[b->record_count - k->count + i];
        uint64_t             fall = kn_box_fall(b, own, slot_levels(r, k->slots[i]), k->gap[i]);
        uint64_t             bound = kn_box_join(b, k->low[i] > own->low ? k->low[i] : own->low, fall);
        b->caution *= bound >= KN_BOUND_BAD || (b->found && bound > b->score) ? 0.98 : 1.1;
        if (b->caution < 0.03) b->caution = 0.03;
        if (b->caution > 0.6) b->caution = 0.6;
    }
}

static void take_sample(kn_region *r)
{
    kn_boxes *b = r->boxes;
    size_t    size = 2 * (size_t)b->quasi_count;
    int64_t   count = r->open < SAMPLE ? r->open : SAMPLE;
    for (int64_t i = 0; i < count; i++)
        memcpy(r->sample + (size_t)i * size, slot_levels(r, r->list[i * r->open / count]), size * sizeof *r->sample);
    b->sample = r->sample;
    b->sample_count = (int)count;
}

static kn_status run_batch(kn_region *r, kn_error *err)
{
    kn_boxes *b = r->boxes;
    batch     k = {0};
    uint32_t  slot;
    bool      least = r->open < BOXES_MOST && r->turn++ % TURNS == 0;
    take_sample(r);
    kn_boxes_weigh(b);
    for (int i = 0; i < VISITS_MOST && k.count < KN_BATCH && r->waiting_count < WAITING_MOST && pop(r, least, &slot);
         i++)
        KN_TRY(visit(r, slot, &k, err));
    if (k.count > 0) {
        KN_TRY(b->count(b->arg, b->levels, k.count, err));
        adapt(r, &k);
    }
    while (r->waiting_count > 0) {
        slot = r->waiting[--r->waiting_count];
        push(r, slot, r->entries[slot].bound);
    }
    return KN_OK;
}

kn_status kn_region_search(kn_region *r, int64_t work, bool *done, kn_error *err)
{
    kn_boxes                     *b = r->boxes;
    const kn_fulldomain_counters *c = b->oracle->counters;
    int64_t                       end = work > 0 ? c->keys + b->visits * VISIT_WORK + work : INT64_MAX;
    b->reach = r->reach;
    for (*done = r->open == 0; !*done; *done = r->open == 0) {
        if (kn_cancelled(b->ctx)) return kn_fail_cancelled(err);
        if (b->over(b->arg) || c->keys + b->visits * VISIT_WORK >= end) return KN_OK;
        rescale(r);
        KN_TRY(run_batch(r, err));
    }
    return KN_OK;
}
