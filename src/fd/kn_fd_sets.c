/* kn_fd_sets.c: sets of columns as words: lists, pools of different ones, antichains, minimal hitting sets (kn_fd.h).
 *
 * Hitting sets by the depth-first search MMCS of Murakami and Uno ("Efficient algorithms for dualizing large-scale
 * hypergraphs", Discrete Applied Mathematics 170, 2014). The edges are the complements of the sets given. A set S
 * grows by a column of an edge it does not hit yet, and each of its columns must keep an edge that it alone hits. Per
 * depth the edges that still matter are copied next to each other: first those not hit, then those that each column
 * of S alone hits; edges hit twice are left out. A step costs the edges of its depth, in order through memory.
 * Memory: 8 bytes × edges × (size of the largest hitting set + 1) at most.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_compare.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_fd.h"
#include "kn_hash.h"

/* ---- The clock ---- */

void kn_fd_clock_start(kn_fd_clock *clock, kn_context *ctx, double seconds)
{
    clock->ctx = ctx;
    kn_deadline_start(&clock->deadline, seconds);
}

bool kn_fd_clock_passed(kn_fd_clock *clock)
{
    return kn_cancelled(clock->ctx) || kn_deadline_passed(&clock->deadline);
}

/* ---- Lists ---- */

bool kn_fd_list_add(kn_fd_list *list, kn_context *ctx, uint64_t set)
{
    if (list->count == list->capacity && !KN_GROW(ctx, &list->sets, &list->capacity, list->count + 1)) return false;
    list->sets[list->count++] = set;
    return true;
}

void kn_fd_list_sort(kn_fd_list *list)
{
    if (list->count > 1) qsort(list->sets, list->count, sizeof *list->sets, kn_compare_u64);
}

bool kn_fd_list_has(const kn_fd_list *list, uint64_t set)
{
    return list->count > 0 && bsearch(&set, list->sets, list->count, sizeof *list->sets, kn_compare_u64);
}

void kn_fd_list_free(kn_fd_list *list)
{
    kn_free(list->sets);
    *list = (kn_fd_list){0};
}

/* ---- Pools ---- */

static size_t slot_of(const uint64_t *slots, size_t count, uint64_t set)
{
    size_t at = (size_t)kn_hash_word(set) & (count - 1);
    while (slots[at] && slots[at] != set) at = (at + 1) & (count - 1);
    return at;
}

static bool pool_grow(kn_fd_pool *pool, kn_context *ctx)
{
    size_t    count = pool->slot_count ? pool->slot_count * 2 : 256;
    uint64_t *slots = kn_alloc_array_zero(ctx, count, sizeof *slots);
    if (!slots) return false;
    for (size_t i = 0; i < pool->list.count; i++) slots[slot_of(slots, count, pool->list.sets[i])] = pool->list.sets[i];
    kn_free(pool->slots);
    pool->slots = slots;
    pool->slot_count = count;
    return true;
}

bool kn_fd_pool_add(kn_fd_pool *pool, kn_context *ctx, uint64_t set, bool *added)
{
    *added = false;
    if (set == 0) return true;
    if (pool->list.count * 2 >= pool->slot_count && !pool_grow(pool, ctx)) return false;
    size_t at = slot_of(pool->slots, pool->slot_count, set);
    if (pool->slots[at]) return true;
    if (!kn_fd_list_add(&pool->list, ctx, set)) return false;
    pool->slots[at] = set;
    *added = true;
    return true;
}

bool kn_fd_pool_has(const kn_fd_pool *pool, uint64_t set)
{
    return set && pool->slot_count > 0 && pool->slots[slot_of(pool->slots, pool->slot_count, set)] == set;
}

void kn_fd_pool_free(kn_fd_pool *pool)
{
    kn_fd_list_free(&pool->list);
    kn_free(pool->slots);
    *pool = (kn_fd_pool){0};
}

bool kn_fd_maximal_add(kn_fd_list *maximal, kn_context *ctx, uint64_t set, bool *changed)
{
    *changed = false;
    for (size_t i = 0; i < maximal->count; i++)
        if ((set & ~maximal->sets[i]) == 0) return true;
    size_t kept = 0;
    for (size_t i = 0; i < maximal->count; i++)
        if (maximal->sets[i] & ~set) maximal->sets[kept++] = maximal->sets[i];
    maximal->count = kept;
    *changed = true;
    return kn_fd_list_add(maximal, ctx, set);
}

/* ---- Minimal hitting sets ---- */

typedef struct hitter {
    kn_fd_list  *out;
    kn_fd_clock *clock;
    size_t       edges;
    uint64_t    *level[KN_FD_COLUMNS + 1]; /* per depth: the edges that matter */
    /* Per depth, where they begin: [0] those not hit, [1..] those of each chosen column in order of choice, the end. */
    size_t   begin[KN_FD_COLUMNS + 1][KN_FD_COLUMNS + 2];
    int      max_size;
    bool     cut, stop, failed;
    unsigned steps;
} hitter;

static bool ready(hitter *h, int depth)
{
    if (!h->level[depth]) h->level[depth] = kn_alloc_array(h->clock->ctx, h->edges, sizeof *h->level[depth]);
    if (!h->level[depth]) h->failed = true;
    return !h->failed;
}

/* Adds a column at `depth`: fills in depth + 1; false if some column of the set has then no edge of its own. */
static bool choose(hitter *h, int depth, uint64_t column)
{
    const uint64_t *from = h->level[depth];
    const size_t   *begin = h->begin[depth];
    uint64_t       *to = h->level[depth + 1];
    size_t         *starts = h->begin[depth + 1], n = 0;
    for (int s = 0; s <= depth; s++) {
        starts[s] = n;
        for (size_t i = begin[s]; i < begin[s + 1]; i++)
            if (!(from[i] & column)) to[n++] = from[i];
        if (s > 0 && n == starts[s]) return false;
    }
    starts[depth + 1] = n;
    for (size_t i = begin[0]; i < begin[1]; i++)
        if (from[i] & column) to[n++] = from[i];
    starts[depth + 2] = n;
    return true;
}

/* The open edge with the fewest candidates. */
static uint64_t pick_edge(const hitter *h, int depth, uint64_t candidates)
{
    uint64_t best = 0;
    int      least = KN_FD_COLUMNS + 1;
    for (size_t i = h->begin[depth][0]; i < h->begin[depth][1] && least > 1; i++) {
        uint64_t edge = h->level[depth][i] & candidates;
        int      n = __builtin_popcountll(edge);
        if (n >= least) continue;
        least = n;
        best = edge;
    }
    return best;
}

static void hit(hitter *h, int depth, uint64_t set, uint64_t candidates)
{
    if (h->begin[depth][1] == h->begin[depth][0]) {
        if (!kn_fd_list_add(h->out, h->clock->ctx, set)) h->failed = true;
        return;
    }
    if (depth == h->max_size) {
        h->cut = true;
        return;
    }
    if (!ready(h, depth + 1)) return;
    if ((++h->steps & 1023) == 0) h->stop = kn_fd_clock_passed(h->clock);
    uint64_t branch = pick_edge(h, depth, candidates);
    candidates &= ~branch;
    while (branch && !h->stop && !h->failed) {
        uint64_t column = branch & -branch;
        branch &= ~column;
        if (choose(h, depth, column)) hit(h, depth + 1, set | column, candidates);
        candidates |= column;
    }
}

kn_status kn_fd_hitting(kn_fd_list *out, bool *cut, kn_fd_clock *clock, const kn_fd_list *sets, uint64_t universe,
                        int max_size, kn_error *err)
{
    hitter *h = kn_alloc_zero(clock->ctx, sizeof *h);
    *cut = false;
    if (!h) return kn_fail_memory(err, clock->ctx, "searching dependencies");
    h->out = out;
    h->clock = clock;
    h->edges = sets->count + 1;
    h->max_size = max_size;
    if (ready(h, 0)) {
        for (size_t i = 0; i < sets->count; i++) h->level[0][i] = universe & ~sets->sets[i];
        h->begin[0][1] = sets->count;
        hit(h, 0, 0, universe);
    }
    *cut = h->cut;
    bool failed = h->failed;
    for (int d = 0; d <= KN_FD_COLUMNS; d++) kn_free(h->level[d]);
    kn_free(h);
    return failed ? kn_fail_memory(err, clock->ctx, "searching dependencies") : KN_OK;
}
