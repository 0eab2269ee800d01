/* kn_dualize.c: minimal hitting sets (transversals) of a family of edges (kn_dualize.h).
 *
 * The depth-first search MMCS of Murakami and Uno ("Efficient algorithms for dualizing large-scale hypergraphs",
 * Discrete Applied Mathematics 170, 2014). A set S grows one column at a time from an edge it does not hit yet, the
 * one with the fewest candidates. Every column of S must keep an edge that it alone hits: S is otherwise not minimal
 * and neither is any set above it, so the branch ends. After a column's branch it is available again to its later
 * siblings: each minimal hitting set is found once, in the branch of its last column of each edge.
 *
 * Sets of edges are bitmaps. Per depth two of them are kept: the edges not hit, and the edges hit by exactly one
 * column. The edges that column u alone hits are "hit once" ∩ "having u". So a step costs at most |S| × edges / 64
 * words, and mostly far less, since one common bit ends a test.
 *
 * A new edge found during the search is disjoint from S and thus not hit anywhere on the path: one bit per depth. The
 * idea is HPIValid's (Birnick, Bläsius, Friedrich, Naumann, Papenbrock, Schirneck: "Hitting set enumeration with
 * partial information for unique column combination discovery", PVLDB 13(11), 2020). A single search stays exact with
 * edges that arrive this way, because it visits S \ {u} before it can reject S for u; searches over parts of the tree
 * do not see each other's edges, so callers that add edges in parallel must search until no part finds one
 * (kn_borders_advance.c).
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_dualize.h"

#include <string.h>

#include "kn_alloc.h"
#include "kn_bitset.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_parallel.h"

#define WHAT "searching sets of columns"

/* ---- Edges ---- */

kn_status kn_hitting_init(kn_hitting *h, kn_context *ctx, int columns, kn_error *err)
{
    int words = columns > 0 ? (int)kn_bitset_words((size_t)columns) : 1;
    *h = (kn_hitting){.ctx = ctx, .columns = columns, .words = words, .max_size = -1};
    kn_set_list_init(&h->edges, ctx, words);
    size_t n = (size_t)columns + 1;
    h->set = kn_alloc_array_zero(ctx, (size_t)words, sizeof *h->set);
    h->candidates = kn_alloc_array_zero(ctx, (size_t)words, sizeof *h->candidates);
    h->edge = kn_alloc_array_zero(ctx, (size_t)words, sizeof *h->edge);
    h->choices = kn_alloc_array_zero(ctx, n * (size_t)words, sizeof *h->choices);
    h->chosen = kn_alloc_array_zero(ctx, n, sizeof *h->chosen);
    if (h->set && h->candidates && h->edge && h->choices && h->chosen) return KN_OK;
    kn_hitting_free(h);
    return kn_fail_memory(err, ctx, WHAT);
}

void kn_hitting_free(kn_hitting *h)
{
    kn_set_list_free(&h->edges);
    KN_FREE(h->having, h->levels, h->set, h->candidates, h->edge, h->choices, h->chosen);
    *h = (kn_hitting){0};
}

/* Copies `rows` bitmaps of `from` words each into wider ones. */
static uint64_t *widen(kn_context *ctx, const uint64_t *old, int64_t rows, int64_t from, int64_t to)
{
    uint64_t *wide = kn_alloc_array_zero(ctx, (size_t)rows * (size_t)to + 1, sizeof *wide);
    for (int64_t r = 0; wide && old && r < rows; r++)
        memcpy(wide + r * to, old + r * from, (size_t)from * sizeof *wide);
    return wide;
}

static kn_status make_room(kn_hitting *h, int depth, int64_t edges, kn_error *err)
{
    int64_t need = (edges + 63) / 64, edge_words = h->edge_words;
    if (need > edge_words) edge_words = need > edge_words * 2 ? need : edge_words * 2;
    int levels = h->level_capacity;
    if (depth + 1 > levels) levels = depth + 1 > levels * 2 ? depth + 1 : levels * 2;
    if (edge_words > h->edge_words) {
        uint64_t *having = widen(h->ctx, h->having, h->columns, h->edge_words, edge_words);
        uint64_t *wide = widen(h->ctx, h->levels, (int64_t)h->level_capacity * 2, h->edge_words, edge_words);
        if (!having || !wide) {
            KN_FREE(having, wide);
            return kn_fail_memory(err, h->ctx, WHAT);
        }
        KN_FREE(h->having, h->levels);
        h->having = having;
        h->levels = wide;
        h->edge_words = edge_words;
    }
    if (levels > h->level_capacity) {
        uint64_t *longer =
            kn_realloc_array(h->ctx, h->levels, (size_t)levels * 2 * (size_t)edge_words + 1, sizeof *longer);
        if (!longer) return kn_fail_memory(err, h->ctx, WHAT);
        h->levels = longer;
        h->level_capacity = levels;
    }
    return KN_OK;
}

static uint64_t *not_hit(const kn_hitting *h, int depth)
{
    return h->levels + (int64_t)depth * 2 * h->edge_words;
}

static uint64_t *hit_once(const kn_hitting *h, int depth)
{
    return not_hit(h, depth) + h->edge_words;
}

static const uint64_t *having(const kn_hitting *h, int column)
{
    return h->having + (int64_t)column * h->edge_words;
}

kn_status kn_hitting_add(kn_hitting *h, const uint64_t *edge, kn_error *err)
{
    int64_t e = h->edges.count;
    KN_TRY(make_room(h, 0, e + 1, err));
    if (!kn_set_list_add(&h->edges, edge)) return kn_fail_memory(err, h->ctx, WHAT);
    for (int w = 0; w < h->words; w++)
        for (uint64_t rest = edge[w]; rest; rest &= rest - 1)
            kn_bitset_set(h->having + (w * 64 + __builtin_ctzll(rest)) * h->edge_words, (size_t)e);
    return KN_OK;
}

void kn_hitting_truncate(kn_hitting *h, int64_t count)
{
    for (int64_t e = count; e < h->edges.count; e++) {
        const uint64_t *edge = kn_set_list_get(&h->edges, e);
        for (int w = 0; w < h->words; w++)
            for (uint64_t rest = edge[w]; rest; rest &= rest - 1)
                kn_bitset_clear(h->having + (w * 64 + __builtin_ctzll(rest)) * h->edge_words, (size_t)e);
    }
    if (count < h->edges.count) h->edges.count = count;
}

/* ---- Search ---- */

static int64_t used_words(const kn_hitting *h)
{
    return (h->edges.count + 63) / 64;
}

static bool has_own_edge(const kn_hitting *h, int column, const uint64_t *once)
{
    const uint64_t *mine = having(h, column);
    for (int64_t w = 0, n = used_words(h); w < n; w++)
        if (once[w] & mine[w]) return true;
    return false;
}

/* Adds a column to the set, one level deeper. false: some column would no longer hit any edge alone; the caller
 * removes the column again in both cases. */
static bool push(kn_hitting *h, int column)
{
    const uint64_t *open = not_hit(h, h->size), *once = hit_once(h, h->size), *mine = having(h, column);
    uint64_t       *next_open = not_hit(h, h->size + 1), *next_once = hit_once(h, h->size + 1);
    for (int64_t w = 0, n = used_words(h); w < n; w++) {
        next_open[w] = open[w] & ~mine[w];
        next_once[w] = (once[w] & ~mine[w]) | (open[w] & mine[w]);
    }
    h->chosen[h->size++] = (uint16_t)column;
    kn_bitset_set(h->set, (size_t)column);
    for (int i = 0; i + 1 < h->size; i++)
        if (!has_own_edge(h, h->chosen[i], next_once)) return false;
    return true;
}

static void pop(kn_hitting *h)
{
    kn_bitset_clear(h->set, h->chosen[--h->size]);
}

/* The columns to branch on: those of the edge not hit with the fewest candidates. false: all edges are hit. */
static bool choose(const kn_hitting *h, uint64_t *choices)
{
    const uint64_t *open = not_hit(h, h->size);
    const uint64_t *best = NULL;
    size_t          fewest = SIZE_MAX;
    for (int64_t w = 0, n = used_words(h); w < n && fewest > 1; w++)
        for (uint64_t rest = open[w]; rest && fewest > 1; rest &= rest - 1) {
            const uint64_t *edge = kn_set_list_get(&h->edges, w * 64 + __builtin_ctzll(rest));
            size_t          count = 0;
            for (int i = 0; i < h->words; i++) count += (size_t)__builtin_popcountll(edge[i] & h->candidates[i]);
            if (count >= fewest) continue;
            fewest = count;
            best = edge;
        }
    for (int i = 0; best && i < h->words; i++) choices[i] = best[i] & h->candidates[i];
    return best != NULL;
}

/* Adds the visitor's edge in the middle of a search. */
static kn_status add_below(kn_hitting *h, kn_error *err)
{
    KN_TRY(kn_hitting_add(h, h->edge, err));
    size_t e = (size_t)h->edges.count - 1;
    for (int depth = 0; depth <= h->size; depth++) {
        /* A word that comes into use now was never written on this path. */
        if (e % 64 == 0) not_hit(h, depth)[e / 64] = hit_once(h, depth)[e / 64] = 0;
        kn_bitset_set(not_hit(h, depth), e);
        kn_bitset_clear(hit_once(h, depth), e);
    }
    return KN_OK;
}

/* Hits the remaining edges, if any. *open: there are some, and `choices` says how to continue. */
static kn_status settle(kn_hitting *h, uint64_t *choices, bool *open, kn_error *err)
{
    *open = choose(h, choices);
    while (!*open && !h->stop) {
        bool more = false;
        memset(h->edge, 0, (size_t)h->words * sizeof *h->edge);
        KN_TRY(h->visitor.leaf(h->visitor.arg, h->set, h->chosen, h->size, h->edge, &more, err));
        if (!more) return KN_OK;
        KN_TRY(add_below(h, err));
        *open = choose(h, choices);
    }
    return KN_OK;
}

static kn_status look_up(kn_hitting *h, kn_error *err)
{
    if (++h->steps % 256 != 0) return KN_OK;
    if (kn_cancelled(h->ctx)) return kn_fail_cancelled(err);
    if (kn_deadline_passed(h->deadline)) h->stop = true;
    return KN_OK;
}

static kn_status descend(kn_hitting *h, kn_error *err)
{
    KN_TRY(look_up(h, err));
    uint64_t *choices = h->choices + h->size * h->words;
    bool      open = false;
    KN_TRY(settle(h, choices, &open, err));
    if (!open || h->stop) return KN_OK;
    if (h->size == h->max_size) {
        h->cut = true;
        return KN_OK;
    }
    KN_TRY(make_room(h, h->size + 1, h->edges.count, err));
    for (int w = 0; w < h->words; w++) h->candidates[w] &= ~choices[w];
    for (int w = 0; w < h->words; w++)
        for (uint64_t rest = choices[w]; rest && !h->stop; rest &= rest - 1) {
            int  column = w * 64 + __builtin_ctzll(rest);
            bool good = push(h, column) && (!h->visitor.enter || h->visitor.enter(h->visitor.arg, h->set));
            if (good) KN_TRY(descend(h, err));
            pop(h);
            if (good) kn_bitset_set(h->candidates, (size_t)column);
        }
    for (int w = 0; w < h->words; w++) h->candidates[w] |= choices[w];
    return KN_OK;
}

/* Puts the search at a set: every edge counted anew. */
static kn_status place(kn_hitting *h, const uint64_t *set, const uint64_t *candidates, kn_error *err)
{
    int size = set ? (int)kn_bitset_count(set, (size_t)h->words) : 0;
    KN_TRY(make_room(h, size, h->edges.count, err));
    memset(h->set, 0, (size_t)h->words * sizeof *h->set);
    h->size = 0;
    memset(not_hit(h, 0), 0, (size_t)h->edge_words * 2 * sizeof *h->levels);
    for (int64_t e = 0; e < h->edges.count; e++) kn_bitset_set(not_hit(h, 0), (size_t)e);
    for (int column = 0; column < h->columns; column++) {
        if (set && kn_bitset_test(set, (size_t)column)) (void)push(h, column);
        if (!candidates) kn_bitset_set(h->candidates, (size_t)column);
    }
    if (candidates) memcpy(h->candidates, candidates, (size_t)h->words * sizeof *candidates);
    return KN_OK;
}

kn_status kn_hitting_search(kn_hitting *h, const uint64_t *set, const uint64_t *candidates, kn_error *err)
{
    KN_TRY(place(h, set, candidates, err));
    h->stop = kn_deadline_passed(h->deadline);
    if (h->max_size >= 0 && h->size > h->max_size) {
        h->cut = true;
        return KN_OK;
    }
    return descend(h, err);
}

/* ---- Parts ---- */

/* Replaces one part by the parts below it; a part with nothing open stays. */
static kn_status split_one(kn_set_list *out, kn_hitting *h, const uint64_t *set, const uint64_t *candidates,
                           bool *grown, kn_error *err)
{
    KN_TRY(place(h, set, candidates, err));
    uint64_t *choices = h->choices + h->size * h->words;
    if (!choose(h, choices)) {
        bool kept = kn_set_list_add(out, set) && kn_set_list_add(out, candidates);
        return kept ? KN_OK : kn_fail_memory(err, h->ctx, WHAT);
    }
    *grown = true;
    KN_TRY(make_room(h, h->size + 1, h->edges.count, err));
    for (int w = 0; w < h->words; w++) h->candidates[w] &= ~choices[w];
    for (int w = 0; w < h->words; w++)
        for (uint64_t rest = choices[w]; rest; rest &= rest - 1) {
            int  column = w * 64 + __builtin_ctzll(rest);
            bool good = push(h, column);
            bool kept = !good || (kn_set_list_add(out, h->set) && kn_set_list_add(out, h->candidates));
            pop(h);
            if (!kept) return kn_fail_memory(err, h->ctx, WHAT);
            if (good) kn_bitset_set(h->candidates, (size_t)column);
        }
    return KN_OK;
}

kn_status kn_hitting_split(kn_set_list *out, kn_hitting *h, int64_t wanted, kn_error *err)
{
    KN_TRY(place(h, NULL, NULL, err));
    if (!kn_set_list_add(out, h->set) || !kn_set_list_add(out, h->candidates)) return kn_fail_memory(err, h->ctx, WHAT);
    for (bool grown = true; grown && out->count / 2 < wanted;) {
        grown = false;
        kn_set_list next;
        kn_set_list_init(&next, h->ctx, h->words);
        kn_status st = KN_OK;
        for (int64_t i = 0; i < out->count && st == KN_OK; i += 2)
            st = split_one(&next, h, kn_set_list_get(out, i), kn_set_list_get(out, i + 1), &grown, err);
        kn_set_list_free(out);
        *out = next;
        KN_TRY(st);
    }
    return KN_OK;
}

/* ---- All of them, in parallel ---- */

enum { PARTS = 512, BATCH = 32, LOOKS = 256 };

typedef struct dualizer {
    kn_context               *ctx;
    const kn_dualize_options *options;
    kn_set_list               parts; /* pairs (set, candidates) */
    int64_t                   first; /* part of this batch      */
    int64_t                   room;  /* sets that still fit     */
    kn_hitting               *workers;
    int                       threads;
    kn_set_list               found[BATCH];
    _Atomic int64_t           counts[BATCH]; /* of them, for the others to see */
    bool                      whole[BATCH];
} dualizer;

typedef struct collector {
    dualizer   *d;
    kn_hitting *h;
    int64_t     part; /* in the batch */
    int         worker;
    int64_t     looks; /* hitting sets shown to `keep` */
} collector;

/* Have the earlier parts found all that can be listed? Then this one has nothing to add. */
static bool too_late(const collector *c)
{
    int64_t before = 0;
    for (int64_t i = 0; i < c->part; i++) before += atomic_load_explicit(&c->d->counts[i], memory_order_relaxed);
    return before >= c->d->room;
}

static kn_status collect(void *arg, const uint64_t *set, const uint16_t *chosen, int size, uint64_t *edge, bool *more,
                         kn_error *err)
{
    (void)chosen, (void)size, (void)edge, (void)more;
    collector                *c = arg;
    const kn_dualize_options *o = c->d->options;
    bool                      keep = true;
    if (o->keep && c->looks++ == LOOKS) {
        c->h->stop = true;
        return KN_OK;
    }
    if (o->keep) KN_TRY(o->keep(o->keep_arg, set, c->worker, &keep, err));
    if (!keep) return KN_OK;
    kn_set_list *found = &c->d->found[c->part];
    if (found->count >= c->d->room || (found->count % 256 == 0 && too_late(c))) {
        c->h->stop = true;
        return KN_OK;
    }
    kn_progress_add(c->d->ctx, 1);
    if (!kn_set_list_add(found, set)) return kn_fail_memory(err, c->h->ctx, WHAT);
    atomic_store_explicit(&c->d->counts[c->part], found->count, memory_order_relaxed);
    return KN_OK;
}

static kn_status run_parts(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    dualizer *d = arg;
    for (int64_t i = begin; i < end; i++) {
        kn_hitting *h = &d->workers[worker];
        collector   c = {d, h, i, worker, 0};
        h->visitor = (kn_hitting_visitor){&c, NULL, collect};
        h->cut = false;
        int64_t part = 2 * (d->first + i);
        KN_TRY(kn_hitting_search(h, kn_set_list_get(&d->parts, part), kn_set_list_get(&d->parts, part + 1), err));
        d->whole[i] = !h->stop && !h->cut;
    }
    return KN_OK;
}

static kn_status prepare(dualizer *d, const kn_set_list *edges, int columns, kn_error *err)
{
    d->threads = kn_context_threads(d->ctx);
    d->workers = kn_alloc_array_zero(d->ctx, (size_t)d->threads, sizeof *d->workers);
    if (!d->workers) return kn_fail_memory(err, d->ctx, WHAT);
    for (int i = 0; i < d->threads; i++) {
        kn_hitting *h = &d->workers[i];
        KN_TRY(kn_hitting_init(h, d->ctx, columns, err));
        h->deadline = d->options->deadline;
        h->max_size = d->options->max_size;
        for (int64_t e = 0; e < edges->count; e++) KN_TRY(kn_hitting_add(h, kn_set_list_get(edges, e), err));
    }
    return kn_hitting_split(&d->parts, &d->workers[0], PARTS, err);
}

/* Batches keep what is found but not needed small; the parts' order decides what is kept, so their size does not. */
static kn_status run_batches(kn_set_list *out, bool *all, dualizer *d, kn_error *err)
{
    int64_t parts = d->parts.count / 2, start = out->count;
    for (d->first = 0; d->first < parts; d->first += BATCH) {
        int64_t count = parts - d->first < BATCH ? parts - d->first : BATCH;
        d->room = d->options->max_sets - (out->count - start);
        KN_TRY(kn_parallel_for(d->ctx, count, 1, run_parts, d, err));
        for (int64_t i = 0; i < count; i++) {
            int64_t room = d->options->max_sets - (out->count - start);
            *all = *all && d->whole[i] && d->found[i].count <= room;
            if (!kn_set_list_add_all(out, &d->found[i], room))
                return kn_fail_memory(err, d->ctx, "listing sets of columns");
            kn_set_list_free(&d->found[i]);
            atomic_store(&d->counts[i], 0);
        }
        if (kn_deadline_passed(d->options->deadline) && d->first + count < parts) *all = false;
        if (!*all && (out->count - start >= d->options->max_sets || kn_deadline_passed(d->options->deadline))) break;
    }
    return KN_OK;
}

kn_status kn_dualize(kn_set_list *out, bool *all, kn_context *ctx, const kn_set_list *edges, int columns,
                     const kn_dualize_options *options, kn_error *err)
{
    *all = true;
    dualizer *d = kn_alloc_zero(ctx, sizeof *d);
    if (!d) return kn_fail_memory(err, ctx, WHAT);
    d->ctx = ctx;
    d->options = options;
    kn_set_list_init(&d->parts, ctx, edges->words);
    for (int i = 0; i < BATCH; i++) kn_set_list_init(&d->found[i], ctx, edges->words);
    kn_status st = prepare(d, edges, columns, err);
    kn_progress_begin(ctx, "maximal sets", "sets", 0);
    if (st == KN_OK) st = run_batches(out, all, d, err);
    kn_progress_end(ctx);
    for (int i = 0; i < BATCH; i++) kn_set_list_free(&d->found[i]);
    for (int i = 0; d->workers && i < d->threads; i++) kn_hitting_free(&d->workers[i]);
    kn_free(d->workers);
    kn_set_list_free(&d->parts);
    kn_free(d);
    return st;
}
