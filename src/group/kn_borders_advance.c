/* kn_borders_advance.c: both borders by dualize and advance, for any budget.
 *
 * A set violates exactly when it hits the complement of every maximal set that holds. So with some maximal sets known,
 * the minimal hitting sets of their complements are the candidates for minimal violating sets (Gunopulos, Khardon,
 * Mannila, Saluja, Toivonen, Sharma: "Discovering all most specific sentences", ACM TODS 28(2), 2003). A candidate
 * that violates is a minimal violating set, as every set below it lies in a known maximal set. A candidate that holds
 * is extended column by column to a new maximal set, whose complement is a new edge that the candidate does not hit.
 * When no candidate holds any more, both borders are complete.
 *
 * Candidates are evaluated by partition refinement along the search's own path (kn_refine.c). The search is cut into
 * parts that run in parallel and add edges of their own as they go (kn_dualize.c). Afterwards all parts' edges are
 * put together and a new round begins; the round in which no part finds an edge has seen every candidate. A part ends
 * early when it has found its share of edges, so that others can use them. A round depends only on what was known at
 * its beginning, hence not on the number of threads.
 *
 * Cost: an evaluation for each minimal violating set, up to one per column for each maximal set, and a few searches.
 * Memory: the borders, and one refiner per worker. Limits: where the maximal sets are too many to list, the minimal
 * sets cannot all be found this way (kn_borders_witness.c can).
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "kn_alloc.h"
#include "kn_bitset.h"
#include "kn_borders_search.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_parallel.h"

#define WHAT "searching sets of columns"

enum { PARTS = 256, SHARE = 64 };

typedef struct worker {
    kn_hitting hitting;
    kn_refiner refiner;
    uint16_t  *path; /* the columns on the refiner's stack */
    uint64_t  *extended;
} worker;

typedef struct part {
    kn_set_list minimal, edges;
    bool        whole;
} part;

typedef struct engine {
    kn_border_search *search;
    kn_set_trie       known; /* minimal violating sets of earlier rounds */
    uint16_t         *order; /* columns in the order in which sets are extended */
    kn_set_list       cuts;  /* pairs (set, candidates): the parts of this round */
    part             *parts;
    int64_t           part_count;
    int64_t           share;
    worker           *workers;
    int               threads;
} engine;

typedef struct visit {
    engine *e;
    worker *w;
    part   *p;
} visit;

/* Puts the columns of `chosen` on the refiner's stack, reusing what is already there. */
static kn_status evaluate(worker *w, const uint16_t *chosen, int size, bool *holds, kn_error *err)
{
    kn_refiner *r = &w->refiner;
    int         same = 0;
    while (same < r->depth && same < size && w->path[same] == chosen[same]) same++;
    kn_refiner_pop(r, same);
    *holds = r->risk[r->depth] <= r->allowed;
    while (r->depth < size && *holds) {
        w->path[r->depth] = chosen[r->depth];
        KN_TRY(kn_refiner_push(r, chosen[r->depth], holds, err));
    }
    return KN_OK;
}

/* Extends the set on the stack to a maximal one; `edge` gets the columns that did not fit. */
static kn_status extend(engine *e, worker *w, const uint64_t *set, uint64_t *edge, kn_error *err)
{
    kn_border_search *s = e->search;
    kn_refiner       *r = &w->refiner;
    int               depth = r->depth;
    memcpy(w->extended, set, (size_t)s->words * sizeof *set);
    for (int i = 0; i < s->columns; i++) {
        size_t column = e->order[i];
        if (kn_bitset_test(set, column)) continue;
        bool holds = true;
        kn_bitset_set(w->extended, column);
        /* Known sets may be cheaper to check than the table. */
        if (e->known.count < kn_refiner_open(r) && kn_set_trie_has_subset(&e->known, w->extended)) {
            holds = false;
        } else {
            KN_TRY(kn_refiner_push(r, (int)column, &holds, err));
            if (!holds) kn_refiner_pop(r, r->depth - 1);
        }
        if (holds) continue;
        kn_bitset_clear(w->extended, column);
        kn_bitset_set(edge, column);
    }
    kn_refiner_pop(r, depth);
    return KN_OK;
}

static kn_status leaf(void *arg, const uint64_t *set, const uint16_t *chosen, int size, uint64_t *edge, bool *more,
                      kn_error *err)
{
    visit            *v = arg;
    kn_border_search *s = v->e->search;
    bool              holds = false;
    if (kn_cancelled(s->ctx)) return kn_fail_cancelled(err);
    if (kn_deadline_passed(&s->deadline)) {
        v->w->hitting.stop = true;
        return KN_OK;
    }
    if (kn_set_trie_has_subset(&v->e->known, set)) return KN_OK; /* itself: anything smaller would hit all edges too */
    KN_TRY(evaluate(v->w, chosen, size, &holds, err));
    kn_progress_add(s->ctx, 1);
    if (!holds) return kn_set_list_add(&v->p->minimal, set) ? KN_OK : kn_fail_memory(err, v->e->search->ctx, WHAT);
    KN_TRY(extend(v->e, v->w, set, edge, err));
    *more = true;
    if (!kn_set_list_add(&v->p->edges, edge)) return kn_fail_memory(err, v->e->search->ctx, WHAT);
    if (v->p->edges.count >= v->e->share) v->w->hitting.stop = true;
    return KN_OK;
}

static kn_status run_parts(void *arg, int64_t begin, int64_t end, int worker_index, kn_error *err)
{
    engine *e = arg;
    worker *w = &e->workers[worker_index];
    /* Only now: each worker fills its own, and one that gets no part needs none. */
    if (!w->refiner.freq)
        KN_TRY(kn_refiner_init(&w->refiner, e->search->ctx, e->search->freq, e->search->k, e->search->allowed, err));
    for (int64_t i = begin; i < end; i++) {
        visit v = {e, w, &e->parts[i]};
        w->hitting.visitor = (kn_hitting_visitor){&v, NULL, leaf};
        kn_hitting_truncate(&w->hitting, e->search->edges.count);
        /* From the root, so that what is evaluated does not depend on the previous part. */
        kn_refiner_pop(&w->refiner, 0);
        KN_TRY(kn_hitting_search(&w->hitting, kn_set_list_get(&e->cuts, 2 * i), kn_set_list_get(&e->cuts, 2 * i + 1),
                                 err));
        v.p->whole = !w->hitting.stop;
    }
    return KN_OK;
}

/* ---- Rounds ---- */

static void free_parts(engine *e)
{
    for (int64_t i = 0; e->parts && i < e->part_count; i++) {
        kn_set_list_free(&e->parts[i].minimal);
        kn_set_list_free(&e->parts[i].edges);
    }
    kn_free(e->parts);
    e->parts = NULL;
    kn_set_list_free(&e->cuts);
}

static kn_status cut(engine *e, kn_error *err)
{
    kn_border_search *s = e->search;
    kn_hitting_truncate(&e->workers[0].hitting, s->edges.count);
    KN_TRY(kn_hitting_split(&e->cuts, &e->workers[0].hitting, PARTS, err));
    e->part_count = e->cuts.count / 2;
    e->share = s->edges.count / 8 > SHARE ? s->edges.count / 8 : SHARE;
    e->parts = kn_alloc_array_zero(s->ctx, (size_t)e->part_count + 1, sizeof *e->parts);
    if (!e->parts) return kn_fail_memory(err, e->search->ctx, WHAT);
    for (int64_t i = 0; i < e->part_count; i++) {
        kn_set_list_init(&e->parts[i].minimal, s->ctx, s->words);
        kn_set_list_init(&e->parts[i].edges, s->ctx, s->words);
    }
    return KN_OK;
}

/* Several parts may have found the same edge; none of them is among the old ones, which every candidate hits. */
static kn_status add_edges(engine *e, kn_set_list *fresh, kn_error *err)
{
    kn_border_search *s = e->search;
    KN_TRY(kn_set_list_sort(fresh, err));
    if (!kn_set_list_add_all(&s->edges, fresh, fresh->count)) return kn_fail_memory(err, e->search->ctx, WHAT);
    for (int t = 0; t < e->threads; t++) {
        kn_hitting *h = &e->workers[t].hitting;
        kn_hitting_truncate(h, s->edges.count - fresh->count);
        for (int64_t i = 0; i < fresh->count; i++) KN_TRY(kn_hitting_add(h, kn_set_list_get(fresh, i), err));
    }
    return KN_OK;
}

/* *done: this round has seen every candidate. */
static kn_status merge(engine *e, bool *done, kn_error *err)
{
    kn_border_search *s = e->search;
    kn_set_list       fresh;
    kn_set_list_init(&fresh, s->ctx, s->words);
    kn_status st = KN_OK;
    *done = true;
    for (int64_t i = 0; i < e->part_count && st == KN_OK; i++) {
        part *p = &e->parts[i];
        *done = *done && p->whole && p->edges.count == 0;
        bool ok = kn_set_list_add_all(&fresh, &p->edges, p->edges.count);
        for (int64_t j = 0; ok && j < p->minimal.count; j++) {
            const uint64_t *set = kn_set_list_get(&p->minimal, j);
            /* Two parts with different edges may find the same set. */
            if (kn_set_trie_has_subset(&e->known, set)) continue;
            ok = kn_set_list_add(&s->minimal, set) && kn_set_trie_add(&e->known, set);
        }
        if (!ok) st = kn_fail_memory(err, e->search->ctx, WHAT);
    }
    if (st == KN_OK) st = add_edges(e, &fresh, err);
    kn_set_list_free(&fresh);
    return st;
}

static kn_status run(engine *e, kn_error *err)
{
    kn_border_search *s = e->search;
    for (bool done = false; !done;) {
        for (int t = 0; t < e->threads; t++) e->workers[t].hitting.cut = false;
        KN_TRY(cut(e, err));
        KN_TRY(kn_parallel_for(s->ctx, e->part_count, 1, run_parts, e, err));
        KN_TRY(merge(e, &done, err));
        free_parts(e);
        if (done) break;
        s->late = kn_deadline_passed(&s->deadline);
        s->full = s->edges.count > s->max_sets || s->minimal.count > s->max_sets;
        if (s->late || s->full) break;
    }
    for (int t = 0; t < e->threads; t++) {
        s->cut |= e->workers[t].hitting.cut;
        atomic_fetch_add(&s->evaluations, e->workers[t].refiner.evaluations);
    }
    return KN_OK;
}

/* Columns with few codes first: they make larger maximal sets, hence smaller edges and fewer branches. */
static kn_status order_columns(engine *e, kn_error *err)
{
    kn_border_search *s = e->search;
    e->order = kn_alloc_array(s->ctx, (size_t)s->columns + 1, sizeof *e->order);
    if (!e->order) return kn_fail_memory(err, e->search->ctx, WHAT);
    int n = 0;
    for (int bits = 0; bits <= 32; bits++)
        for (int c = 0; c < s->columns; c++)
            if (s->freq->layout.fields[c].bits == bits) e->order[n++] = (uint16_t)c;
    return KN_OK;
}

static kn_status prepare(engine *e, kn_error *err)
{
    kn_border_search *s = e->search;
    KN_TRY(order_columns(e, err));
    e->threads = kn_context_threads(s->ctx);
    e->workers = kn_alloc_array_zero(s->ctx, (size_t)e->threads, sizeof *e->workers);
    if (!e->workers) return kn_fail_memory(err, e->search->ctx, WHAT);
    for (int i = 0; i < e->threads; i++) {
        worker *w = &e->workers[i];
        KN_TRY(kn_hitting_init(&w->hitting, s->ctx, s->columns, err));
        w->hitting.max_size = s->max_size;
        w->hitting.deadline = &s->deadline;
        w->path = kn_alloc_array(s->ctx, (size_t)s->columns + 1, sizeof *w->path);
        w->extended = kn_alloc_array(s->ctx, (size_t)s->words, sizeof *w->extended);
        if (!w->path || !w->extended) return kn_fail_memory(err, e->search->ctx, WHAT);
    }
    return KN_OK;
}

kn_status kn_borders_by_advance(kn_border_search *search, kn_error *err)
{
    engine e = {.search = search};
    kn_set_trie_init(&e.known, search->ctx, search->words);
    kn_set_list_init(&e.cuts, search->ctx, search->words);
    kn_progress_begin(search->ctx, "borders", "sets", 0);
    kn_status st = prepare(&e, err);
    if (st == KN_OK) st = run(&e, err);
    kn_progress_end(search->ctx);
    free_parts(&e);
    for (int i = 0; e.workers && i < e.threads; i++) {
        kn_hitting_free(&e.workers[i].hitting);
        kn_refiner_free(&e.workers[i].refiner);
        KN_FREE(e.workers[i].path, e.workers[i].extended);
    }
    KN_FREE(e.workers, e.order);
    kn_set_trie_free(&e.known);
    return st;
}
