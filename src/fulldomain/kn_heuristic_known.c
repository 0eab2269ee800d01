/* kn_heuristic_known.c: what the heuristic search remembers: nodes seen, nodes that rule out others, the best ones.
 *
 * Nodes seen are kept as bytes in a hash table, at most KN_SEEN_MOST of them. The latest KN_RECORDS counted nodes
 * give bounds as in kn_optimal_bound.c: what is below a bad one is bad (if good is upward closed), and a node that by
 * its bounds is not better than the best one need not be counted. The elite are the best good nodes that differ from
 * each other in more than one level.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_heuristic_internal.h"
#include "kn_lattice.h"

#define WHAT "searching the lattice"

enum { FIRST_SLOTS = 1024 };

kn_status kn_known_make(kn_heuristic *h, kn_error *err)
{
    size_t size = (size_t)h->quasi_count;
    h->elite_levels = kn_alloc_array_zero(h->ctx, size * (KN_ELITE + 1) + 1, sizeof *h->elite_levels);
    h->record_levels = kn_alloc_array_zero(h->ctx, size * KN_RECORDS + 1, sizeof *h->record_levels);
    h->slots = kn_alloc_array_zero(h->ctx, FIRST_SLOTS, sizeof *h->slots);
    h->seen = kn_alloc_array(h->ctx, FIRST_SLOTS / 2 + 1, size + 1);
    h->slot_count = FIRST_SLOTS;
    return h->elite_levels && h->record_levels && h->slots && h->seen ? KN_OK : kn_fail_memory(err, h->ctx, WHAT);
}

void kn_known_free(kn_heuristic *h)
{
    KN_FREE(h->elite_levels, h->record_levels, h->slots, h->seen);
}

/* ---- Nodes seen ---- */

static bool same(const uint8_t *bytes, const int *levels, int count)
{
    for (int q = 0; q < count; q++)
        if (bytes[q] != levels[q]) return false;
    return true;
}

static uint64_t hash_levels(const int *levels, int count)
{
    uint64_t hash = 0;
    for (int q = 0; q < count; q++) hash = kn_hash_mix(hash ^ (uint64_t)(levels[q] + 1), 0x9e3779b97f4a7c15u) + hash;
    return kn_hash_word(hash);
}

/* The slot of the node, or the free one where it belongs. */
static size_t find_slot(const kn_heuristic *h, const int *levels)
{
    size_t size = (size_t)h->quasi_count, slot = hash_levels(levels, h->quasi_count) & (h->slot_count - 1);
    while (h->slots[slot] != 0 && !same(h->seen + (h->slots[slot] - 1) * size, levels, h->quasi_count))
        slot = (slot + 1) & (h->slot_count - 1);
    return slot;
}

bool kn_known_seen(const kn_heuristic *h, const int *levels)
{
    return h->slots[find_slot(h, levels)] != 0;
}

static kn_status grow(kn_heuristic *h, kn_error *err)
{
    size_t    size = (size_t)h->quasi_count, count = h->slot_count * 2;
    uint32_t *slots = kn_alloc_array_zero(h->ctx, count, sizeof *slots);
    uint8_t  *seen = slots ? kn_realloc_array(h->ctx, h->seen, count / 2 + 1, size + 1) : NULL;
    int      *levels = seen ? kn_alloc_array(h->ctx, size + 1, sizeof *levels) : NULL;
    if (seen) h->seen = seen;
    if (!levels) {
        kn_free(slots);
        return kn_fail_memory(err, h->ctx, WHAT);
    }
    kn_free(h->slots);
    h->slots = slots;
    h->slot_count = count;
    for (int64_t i = 0; i < h->seen_count; i++) {
        for (size_t q = 0; q < size; q++) levels[q] = h->seen[(size_t)i * size + q];
        h->slots[find_slot(h, levels)] = (uint32_t)i + 1;
    }
    kn_free(levels);
    return KN_OK;
}

kn_status kn_known_see(kn_heuristic *h, const int *levels, bool *is_new, kn_error *err)
{
    size_t slot = find_slot(h, levels);
    *is_new = h->slots[slot] == 0;
    if (!*is_new || h->seen_count >= KN_SEEN_MOST) return KN_OK;
    if ((size_t)h->seen_count * 2 + 2 > h->slot_count) {
        KN_TRY(grow(h, err));
        slot = find_slot(h, levels);
    }
    uint8_t *bytes = h->seen + h->seen_count * h->quasi_count;
    for (int q = 0; q < h->quasi_count; q++) bytes[q] = (uint8_t)levels[q];
    h->slots[slot] = (uint32_t)++h->seen_count;
    return KN_OK;
}

/* ---- Ruling out ---- */

bool kn_known_ruled_out(const kn_heuristic *h, const int *levels)
{
    const kn_oracle *o = &h->oracle;
    uint64_t low = kn_oracle_sum(o, o->lows, levels), gap = kn_oracle_sum(o, o->gaps, levels), high = 0, lost = 0;
    for (int i = 0; i < h->record_count; i++) {
        const kn_record *r = &h->records[i];
        const int       *own = h->record_levels + i * h->quasi_count;
        uint64_t         by_rows = r->lost * gap, falls = r->high > by_rows ? r->high : by_rows;
        if ((falls > high || r->lost > lost) && kn_levels_below(levels, own, h->quasi_count)) {
            if (falls > high) high = falls;
            if (r->lost > lost) lost = r->lost;
        }
        if (r->low > low && kn_levels_below(own, levels, h->quasi_count)) low = r->low;
    }
    if (high >= KN_BOUND_BAD) return true;
    if (h->elite_count == 0) return false;
    uint64_t bound = kn_bounds_join(&o->bounds, low, high);
    if (bound != h->elite[0].score || !o->bounds.exact) return bound > h->elite[0].score;
    if (lost != (uint64_t)h->elite[0].suppressed) return lost > (uint64_t)h->elite[0].suppressed;
    return kn_levels_compare_by_height(levels, h->elite_levels, h->quasi_count) > 0;
}

static void record(kn_heuristic *h, const int *levels, const kn_outcome *o)
{
    int at = h->record_next;
    h->record_next = (at + 1) % KN_RECORDS;
    if (h->record_count < KN_RECORDS) h->record_count++;
    h->records[at] = (kn_record){o->low, o->high, o->high >= KN_BOUND_BAD ? 0 : o->lost};
    memcpy(h->record_levels + at * h->quasi_count, levels, (size_t)h->quasi_count * sizeof *levels);
}

/* ---- The elite ---- */

static int distance(const int *a, const int *b, int count)
{
    int sum = 0;
    for (int q = 0; q < count; q++) sum += a[q] > b[q] ? a[q] - b[q] : b[q] - a[q];
    return sum;
}

/* Negative: the first is better. */
static int compare(const kn_heuristic *h, kn_standing node, int at)
{
    kn_standing other = {h->elite[at].loss, h->elite[at].suppressed, h->elite_levels + at * h->quasi_count};
    return kn_standing_compare(node, other, h->quasi_count);
}

static void remove_elite(kn_heuristic *h, int at)
{
    size_t size = (size_t)h->quasi_count, behind = (size_t)(h->elite_count - at - 1);
    memmove(&h->elite[at], &h->elite[at + 1], behind * sizeof h->elite[0]);
    memmove(h->elite_levels + (size_t)at * size, h->elite_levels + (size_t)(at + 1) * size,
            behind * size * sizeof *h->elite_levels);
    h->elite_count--;
}

static bool enter_elite(kn_heuristic *h, const int *levels, const kn_outcome *o)
{
    size_t      size = (size_t)h->quasi_count;
    kn_quotient loss = kn_objective_loss(h->problem->objective, &o->sums);
    kn_standing node = {loss, o->sums.suppressed, levels};
    for (int i = h->elite_count - 1; i >= 0; i--) { /* of neighbours only the better one stays */
        if (distance(levels, h->elite_levels + (size_t)i * size, h->quasi_count) > 1) continue;
        if (compare(h, node, i) >= 0) return false;
        remove_elite(h, i);
    }
    int at = h->elite_count;
    while (at > 0 && compare(h, node, at - 1) < 0) at--;
    if (at == KN_ELITE) return false;
    if (h->elite_count == KN_ELITE) h->elite_count--;
    size_t behind = (size_t)(h->elite_count - at);
    memmove(&h->elite[at + 1], &h->elite[at], behind * sizeof h->elite[0]);
    memmove(h->elite_levels + (size_t)(at + 1) * size, h->elite_levels + (size_t)at * size,
            behind * size * sizeof *h->elite_levels);
    h->elite[at] = (kn_elite){loss, kn_bounds_score(&h->oracle.bounds, loss), kn_oracle_feature(&h->oracle, levels),
                              o->sums.suppressed};
    memcpy(h->elite_levels + (size_t)at * size, levels, size * sizeof *levels);
    h->elite_count++;
    if (at == 0) h->best_sums = o->sums;
    return at == 0;
}

bool kn_known_learn(kn_heuristic *h, const int *levels, const kn_outcome *o)
{
    kn_guess_add(&h->guess, levels, kn_oracle_feature(&h->oracle, levels), (double)o->sums.suppressed, (double)o->low);
    record(h, levels, o);
    return o->good && enter_elite(h, levels, o);
}
