/* kn_walk.c: through a lattice from below, height by height: what bottom-up and each family of Incognito do.
 *
 * A candidate without a candidate below it is a root; the others follow from their specializations. The nodes of one
 * height do not depend on each other: marks only go up, and the classes of a node come from the height below. So
 * those that must be tested are counted in parallel, in waves, and recorded in order, as if they had been counted one
 * by one.
 *
 * Which of its specializations a node is rolled up from: all of them were tested and found bad, so any is possible;
 * it is the one whose step merges least, whose set is therefore among the smallest (kn_search_rank). This rule is
 * fixed, so it is known of each set how many nodes will use it: one without users is freed at once, the others with
 * their last user. If they exceed the limit, sets are not kept, and the nodes that need them are rolled up from
 * another specialization's, from the base, or counted from the rows if there is none.
 *
 * Cost: O(nodes × attributes) and the counting. Memory: the kept sets of two heights; 4 bytes and 2 bits per node.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "kn_alloc.h"
#include "kn_bitset.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_parallel.h"
#include "kn_search.h"

enum {
    WAVE_ITEMS = 512,
    WAVE_BYTES = 64 << 20, /* of the sets that a wave starts from            */
    PACK_ENTRIES = 1 << 14 /* sets of this many are packed while they are kept */
};

/* A set that nodes of the next height are rolled up from. */
typedef struct kept_set {
    kn_classes *set;   /* NULL: not kept                                          */
    int         users; /* nodes still to come                                     */
    bool        known; /* measuring: the node was counted, and these are its sums */
    kn_u128     squares;
    int64_t     classes;
} kept_set;

typedef struct wave_item {
    int64_t           node;
    int64_t           position; /* among the nodes of its height                      */
    int              *levels;   /* of all quasi-identifiers                           */
    const kn_classes *from;     /* rolled up from here; NULL: from the rows           */
    bool              ready;    /* `from` has its classes already                     */
    bool              keep;     /* the set may be used later                          */
    bool              done;     /* false: the time was over                           */
    kn_classes       *set;
    int64_t           classes; /* measuring: how many                                */
    kn_verdict        verdict;
} wave_item;

typedef struct walk_state {
    kn_search *search;
    kn_walk   *walk;
    int64_t   *starts; /* of the heights in `nodes` */
    uint32_t  *nodes;
    kept_set  *before, *now; /* parallel to the nodes of the height below and of this one */
    int64_t    before_count, now_count;
    size_t     kept_bytes;
    int64_t    released; /* nodes of this height whose sources have been released */
    wave_item *items;
    int       *levels; /* WAVE_ITEMS × quasi_count */
    int        item_count;
    size_t     wave_bytes;
} walk_state;

static bool is_candidate(const kn_walk *w, int64_t node)
{
    return !w->candidates || kn_bitset_test(w->candidates, (size_t)node);
}

/* The candidate specialization to roll the node up from; -1: the node is a root. */
static int64_t source_of(const walk_state *s, int64_t node)
{
    const kn_walk *w = s->walk;
    int64_t        found = -1;
    int            lowest = 0;
    for (int a = 0; a < w->lattice->quasi_count; a++) {
        int     level = kn_lattice_level(w->lattice, node, a), rank = s->search->ranks[w->attributes[a]][level];
        int64_t below = node - w->lattice->strides[a];
        if (level == 0 || !is_candidate(w, below) || (found >= 0 && rank >= lowest)) continue;
        found = below;
        lowest = rank;
    }
    return found;
}

static int64_t find_node(const uint32_t *nodes, int64_t count, int64_t node)
{
    int64_t low = 0, high = count;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (nodes[middle] < node)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* ---- One wave ---- */

static kn_status run_item(const walk_state *s, wave_item *item, kn_error *err)
{
    const kn_search *search = s->search;
    const kn_walk   *w = s->walk;
    if (!item->ready) {
        kn_status st = item->from ? kn_classes_rollup(&item->set, search->evaluator, item->from, item->levels, err)
                                  : kn_classes_scan(&item->set, search->evaluator, w->mask, item->levels, err);
        if (st != KN_OK) return st;
    }
    const kn_classes *set = item->ready ? item->from : item->set;
    KN_TRY(kn_classes_judge(&item->verdict, search->evaluator, set, err));
    if (w->measure) item->classes = kn_classes_count(set);
    bool good = w->possible ? item->verdict.possible : item->verdict.good;
    if (!item->keep || (good && !w->exhaustive)) {
        kn_classes_free(item->set);
        item->set = NULL;
    }
    if (item->set && kn_classes_entries(item->set) >= PACK_ENTRIES) KN_TRY(kn_classes_pack(item->set, err));
    item->done = true;
    kn_progress_add(search->ctx, 1);
    return KN_OK;
}

static kn_status run_range(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    (void)worker;
    walk_state *s = arg;
    for (int64_t i = begin; i < end && !kn_search_is_late(s->search); i++) KN_TRY(run_item(s, &s->items[i], err));
    return KN_OK;
}

static int64_t work_of(const walk_state *s, const wave_item *item)
{
    return item->from ? kn_classes_entries(item->from) : kn_table_total(s->search->problem->table);
}

static kn_status count_and_trace(walk_state *s, const wave_item *item, bool good, kn_error *err)
{
    kn_search              *search = s->search;
    kn_fulldomain_counters *c = &search->result->counters;
    uint64_t                mask = s->walk->mask;
    if (!item->ready) {
        c->table_scans += item->from == NULL;
        c->rollups += item->from != NULL;
        c->keys += work_of(s, item);
        KN_TRY(kn_search_trace(search, item->from ? KN_STEP_ROLLUP : KN_STEP_SCAN, mask, item->levels, err));
    }
    c->nodes_checked++;
    s->walk->tested_count++;
    return kn_search_trace(search, good ? KN_STEP_TEST_GOOD : KN_STEP_TEST_BAD, mask, item->levels, err);
}

static void keep_set(walk_state *s, wave_item *item)
{
    if (!item->set) return;
    size_t bytes = kn_classes_bytes(item->set);
    if (s->kept_bytes + bytes <= s->search->keep) {
        s->kept_bytes += bytes;
        s->now[item->position].set = item->set;
    } else {
        kn_classes_free(item->set);
    }
    item->set = NULL;
}

static kn_status record_measured(walk_state *s, wave_item *item, kn_error *err)
{
    kn_fulldomain_counters *c = &s->search->result->counters;
    kept_set               *kept = &s->now[item->position];
    const kn_node_sums     *sums = &item->verdict.sums;
    c->nodes_measured++;
    if (!item->ready) c->keys += work_of(s, item);
    kept->known = true;
    kept->squares = sums->squares + sums->suppressed_squares;
    kept->classes = item->classes;
    if (!item->verdict.good) return kn_fail(err, KN_INTERNAL, "a marked node is not good");
    return kn_search_offer(s->search, item->levels, &item->verdict, err);
}

static kn_status record_item(walk_state *s, wave_item *item, kn_error *err)
{
    kn_walk *w = s->walk;
    bool     good = w->possible ? item->verdict.possible : item->verdict.good;
    keep_set(s, item);
    if (w->measure) return record_measured(s, item, err);
    KN_TRY(count_and_trace(s, item, good, err));
    if (!good) return KN_OK;
    kn_bitset_set(w->good, (size_t)item->node);
    w->good_count++;
    if (!w->last) return KN_OK;
    KN_TRY(kn_search_offer(s->search, item->levels, &item->verdict, err));
    /* Marked and still tested (exhaustive): not minimal. */
    if (kn_bitset_test(w->marked, (size_t)item->node)) return KN_OK;
    return kn_search_solution(s->search, item->levels, &item->verdict, err);
}

static kn_status run_wave(walk_state *s, kn_error *err)
{
    if (s->item_count == 0) return KN_OK;
    bool      large = work_of(s, &s->items[0]) > KN_CLASSES_SMALL;
    int       count = s->item_count;
    kn_status st = KN_OK;
    if (large)
        st = run_range(s, 0, count, 0, err);
    else
        st = kn_parallel_for(s->search->ctx, count, 1, run_range, s, err);
    for (int i = 0; i < count && st == KN_OK; i++)
        if (s->items[i].done) st = record_item(s, &s->items[i], err);
    for (int i = 0; i < count; i++) kn_classes_free(s->items[i].set);
    s->item_count = 0;
    s->wave_bytes = 0;
    return st == KN_OK ? kn_search_check(s->search, err) : st;
}

/* ---- One height ---- */

/* A specialization's kept set. */
static const kn_classes *kept_below(const walk_state *s, int height, int64_t node)
{
    int64_t first = s->starts[height - 1];
    return s->before[find_node(s->nodes + first, s->starts[height] - first, node)].set;
}

/* The smallest set that is kept of a node directly below; NULL: none. */
static const kn_classes *any_kept_below(const walk_state *s, int height, int64_t node)
{
    const kn_walk    *w = s->walk;
    const kn_classes *found = NULL;
    for (int a = 0; a < w->lattice->quasi_count; a++) {
        int64_t below = kn_lattice_down(w->lattice, node, a);
        if (below < 0 || !is_candidate(w, below)) continue;
        const kn_classes *set = kept_below(s, height, below);
        if (set && (!found || kn_classes_entries(set) < kn_classes_entries(found))) found = set;
    }
    return found;
}

/* The source of the node's classes. */
static void choose_source(const walk_state *s, int height, wave_item *item)
{
    const kn_walk *w = s->walk;
    item->ready = w->base && w->base_node == item->node;
    item->from = item->ready ? w->base : NULL;
    if (item->ready || w->rescan) return;
    int64_t source = source_of(s, item->node);
    if (source >= 0) item->from = kept_below(s, height, source);
    if (source >= 0 && !item->from) item->from = any_kept_below(s, height, item->node);
    if (!item->from) item->from = w->base;
}

/* How many nodes would be rolled up from this one, and whether one of them is not marked yet. */
static int users_of(const walk_state *s, int64_t node, bool *wanted)
{
    const kn_walk *w = s->walk;
    int            users = 0;
    *wanted = false;
    for (int q = 0; q < w->lattice->quasi_count && !w->rescan; q++) {
        int64_t above = kn_lattice_up(w->lattice, node, q);
        if (above < 0 || !is_candidate(w, above) || source_of(s, above) != node) continue;
        users++;
        if (w->exhaustive || !kn_bitset_test(w->marked, (size_t)above)) *wanted = true;
    }
    return users;
}

static void release_kept(walk_state *s, kept_set *kept)
{
    if (!kept->set) return;
    s->kept_bytes -= kn_classes_bytes(kept->set);
    kn_classes_free(kept->set);
    kept->set = NULL;
}

/* Frees the sets of the height below that had their last user among the nodes of this one before position `end`. */
static void release_used(walk_state *s, int height, int64_t end)
{
    int64_t begin = s->released;
    s->released = end;
    if (height == 0 || s->walk->rescan) return;
    int64_t first = s->starts[height - 1], count = s->starts[height] - first;
    for (int64_t i = begin; i < end; i++) {
        int64_t node = s->nodes[s->starts[height] + i];
        int64_t source = is_candidate(s->walk, node) ? source_of(s, node) : -1;
        if (source < 0) continue;
        kept_set *kept = &s->before[find_node(s->nodes + first, count, source)];
        if (--kept->users == 0) release_kept(s, kept);
    }
}

static kn_status add_item(walk_state *s, int height, int64_t position, int64_t node, kn_error *err)
{
    kn_walk  *w = s->walk;
    wave_item item = {.node = node, .position = position};
    choose_source(s, height, &item);
    s->now[position].users = users_of(s, node, &item.keep);
    int64_t work = work_of(s, &item);
    bool    other = s->item_count > 0 && (work > KN_CLASSES_SMALL) != (work_of(s, &s->items[0]) > KN_CLASSES_SMALL);
    size_t  bytes = item.keep ? (size_t)work * 16 : 0;
    bool    full = s->item_count == WAVE_ITEMS || s->wave_bytes + bytes > WAVE_BYTES;
    if (s->item_count > 0 && (other || full)) {
        KN_TRY(run_wave(s, err));
        if (s->search->late) return KN_OK;
        release_used(s, height, position); /* needed by earlier nodes; so its source is chosen again              */
        choose_source(s, height, &item);
        bytes = item.keep ? (size_t)work_of(s, &item) * 16 : 0;
    }
    int quasi = s->search->problem->quasi_count;
    item.levels = s->levels + s->item_count * quasi;
    memset(item.levels, 0, (size_t)quasi * sizeof *item.levels);
    for (int a = 0; a < w->lattice->quasi_count; a++)
        item.levels[w->attributes[a]] = kn_lattice_level(w->lattice, node, a);
    s->items[s->item_count++] = item;
    s->wave_bytes += bytes;
    return KN_OK;
}

/* Marks a node that has a good or marked one directly below. */
static bool mark(kn_walk *w, int64_t node)
{
    for (int q = 0; q < w->lattice->quasi_count; q++) {
        int64_t below = kn_lattice_down(w->lattice, node, q);
        if (below < 0) continue;
        if (kn_bitset_test(w->good, (size_t)below) || kn_bitset_test(w->marked, (size_t)below)) {
            kn_bitset_set(w->marked, (size_t)node);
            return true;
        }
    }
    return false;
}

/* Measuring: can the node be better than the best so far? What is known of the nodes directly below bounds it; where one
 * of them was ruled out, so is this one. */
static bool promising(const walk_state *s, int height, int64_t node)
{
    const kn_walk *w = s->walk;
    kn_u128        squares = w->base_squares;
    int64_t        classes = w->base_classes;
    int            levels[64];
    for (int q = 0; q < w->lattice->quasi_count; q++) {
        int64_t below = kn_lattice_down(w->lattice, node, q);
        if (below < 0 || !is_candidate(w, below)) continue;
        int64_t         first = s->starts[height - 1];
        const kept_set *kept = &s->before[find_node(s->nodes + first, s->starts[height] - first, below)];
        if (!kept->known) return false;
        if (kept->squares > squares) squares = kept->squares;
        if (kept->classes < classes) classes = kept->classes;
    }
    kn_lattice_levels(w->lattice, node, levels);
    return kn_search_promising(s->search, levels, squares, classes);
}

static kn_status walk_height(walk_state *s, int height, kn_error *err)
{
    kn_walk *w = s->walk;
    int64_t  first = s->starts[height], count = s->starts[height + 1] - first;
    s->released = 0;
    for (int64_t i = 0; i < count; i++) {
        int64_t node = s->nodes[first + i];
        if (!is_candidate(w, node)) continue;
        w->candidate_count++;
        if (w->measure && !promising(s, height, node)) continue;
        bool marked = !w->measure && mark(w, node);
        if (marked && !w->exhaustive) {
            kn_bitset_set(w->good, (size_t)node);
            w->good_count++;
            s->search->result->counters.nodes_marked++;
            kn_progress_add(s->search->ctx, 1);
            continue;
        }
        KN_TRY(add_item(s, height, i, node, err));
        if (s->search->late) return KN_OK;
    }
    KN_TRY(run_wave(s, err));
    release_used(s, height, count);
    return KN_OK;
}

/* ---- The walk ---- */

static void free_kept(walk_state *s, kept_set **kept, int64_t count)
{
    for (int64_t i = 0; *kept && i < count; i++) release_kept(s, &(*kept)[i]);
    kn_free(*kept);
    *kept = NULL;
}

static kn_status run(walk_state *s, kn_error *err)
{
    kn_context *ctx = s->search->ctx;
    for (int h = 0; h <= s->walk->lattice->height && !s->search->late; h++) {
        s->now_count = s->starts[h + 1] - s->starts[h];
        if (!KN_ALLOC_ZERO(ctx, s->now, (size_t)s->now_count + 1))
            return kn_fail_memory(err, ctx, "searching the lattice");
        KN_TRY(walk_height(s, h, err));
        free_kept(s, &s->before, s->before_count);
        s->before = s->now;
        s->before_count = s->now_count;
        s->now = NULL;
    }
    return KN_OK;
}

kn_status kn_search_walk(kn_search *search, kn_walk *walk, kn_error *err)
{
    kn_context *ctx = search->ctx;
    walk_state  s = {.search = search, .walk = walk};
    size_t      quasi = (size_t)search->problem->quasi_count;
    s.items = kn_alloc_array(ctx, WAVE_ITEMS, sizeof *s.items);
    s.levels = kn_alloc_array(ctx, WAVE_ITEMS, (quasi ? quasi : 1) * sizeof *s.levels);
    kn_status st = s.items && s.levels ? KN_OK : kn_fail_memory(err, ctx, "searching the lattice");
    if (st == KN_OK) st = kn_lattice_by_height(walk->lattice, &s.starts, &s.nodes, err);
    if (st == KN_OK) st = run(&s, err);
    free_kept(&s, &s.before, s.before_count);
    free_kept(&s, &s.now, s.now_count);
    KN_FREE(s.starts, s.nodes, s.items, s.levels);
    return st;
}
