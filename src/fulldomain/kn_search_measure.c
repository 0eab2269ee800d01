/* kn_search_measure.c: the best of the good nodes when a walk has ended: those that were marked must be measured.
 *
 * A marked node is good but its classes have not been counted. Lower bounds decide which to count (kn_objective.h):
 *   - cells (lm, ncp, prec, entropy): the bound follows from the levels alone. Nodes are taken in ascending order of it
 *     until none can be better than the best one. Their classes come from a scan of the bottom node and from sets measured
 *     before, of which a few are kept: the smallest one that lies below the node.
 *   - class sizes (dm, dm_star, c_avg): the bound comes from the classes of nodes below. The good nodes are walked from
 *     below once more; what a bound rules out rules out all above it.
 * All this is counted only as nodes_measured and keys: it is not part of the method itself.
 *
 * Nodes are measured in parallel batches of a fixed size, so that the counters do not depend on the threads.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "kn_alloc.h"
#include "kn_bitset.h"
#include "kn_error.h"
#include "kn_parallel.h"
#include "kn_search.h"

enum { BATCH = 32, POOL = 96 };

/* A set that nodes above it can be rolled up from. */
typedef struct pooled {
    kn_classes *set;
    int        *levels;
    int64_t     entries;
    size_t      bytes;
} pooled;

typedef struct measured {
    int              *levels;
    const kn_classes *from;
    bool              done;
    kn_classes       *set;
    kn_verdict        verdict;
} measured;

typedef struct queued {
    kn_u128  cost; /* the bound */
    int      height;
    uint32_t node;
} queued;

typedef struct measuring {
    kn_search *search;
    queued    *queue; /* a heap, the smallest first */
    int64_t    queue_count;
    pooled     pool[POOL + 1]; /* [0]: the bottom, which stays */
    int        pool_count, pool_next;
    size_t     pool_bytes;
    measured   batch[BATCH];
    int        batch_count;
    int       *levels; /* BATCH + POOL + 2 vectors */
} measuring;

/* ---- By cells: the queue ---- */

static bool earlier(const queued *a, const queued *b)
{
    if (a->cost != b->cost) return a->cost < b->cost;
    return a->height != b->height ? a->height < b->height : a->node < b->node;
}

static void sift(queued *queue, int64_t at, int64_t count)
{
    queued moved = queue[at];
    for (int64_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && earlier(&queue[child + 1], &queue[child])) child++;
        if (!earlier(&queue[child], &moved)) break;
        queue[at] = queue[child];
    }
    queue[at] = moved;
}

static kn_status make_queue(measuring *m, const uint64_t *nodes, kn_error *err)
{
    kn_search *s = m->search;
    size_t     words = kn_bitset_words((size_t)s->lattice.count);
    if (!KN_ALLOC(s->ctx, m->queue, kn_bitset_count(nodes, words) + 1))
        return kn_fail_memory(err, s->ctx, "measuring good nodes");
    for (int64_t node = 0; node < s->lattice.count; node++) {
        if (!kn_bitset_test(nodes, (size_t)node)) continue;
        kn_lattice_levels(&s->lattice, node, m->levels);
        queued added = {kn_objective_cells_of_node(s->problem->objective, m->levels), 0, (uint32_t)node};
        for (int q = 0; q < s->problem->quasi_count; q++) added.height += m->levels[q];
        m->queue[m->queue_count++] = added;
    }
    for (int64_t i = m->queue_count / 2; i-- > 0;) sift(m->queue, i, m->queue_count);
    return KN_OK;
}

static uint32_t pop(measuring *m)
{
    uint32_t node = m->queue[0].node;
    m->queue[0] = m->queue[--m->queue_count];
    if (m->queue_count > 0) sift(m->queue, 0, m->queue_count);
    return node;
}

/* ---- By cells: the pool ---- */

static void pool_drop(measuring *m, int i)
{
    m->pool_bytes -= m->pool[i].bytes;
    kn_classes_free(m->pool[i].set);
    m->pool[i].set = NULL;
    m->pool[i].bytes = 0;
}

/* Takes ownership of a set; the oldest ones are dropped for it. */
static void pool_put(measuring *m, kn_classes *set, const int *levels)
{
    size_t bytes = kn_classes_bytes(set), quasi = (size_t)m->search->problem->quasi_count;
    int    at = 0;
    if (m->pool_count == 0) {
        m->pool_count = 1;
        m->pool_next = 1;
    } else {
        if (bytes > m->search->keep / 4) {
            kn_classes_free(set);
            return;
        }
        at = m->pool_next;
        m->pool_next = at == POOL ? 1 : at + 1;
        if (at == m->pool_count) m->pool_count++;
        pool_drop(m, at);
        for (int i = m->pool_next, n = 1; n < POOL && m->pool_bytes + bytes > m->search->keep;
             n++, i = i == POOL ? 1 : i + 1)
            if (i < m->pool_count) pool_drop(m, i);
        m->pool_bytes += bytes;
        m->pool[at].bytes = bytes;
    }
    pooled *p = &m->pool[at];
    p->set = set;
    p->levels = m->levels + (size_t)(BATCH + 1 + at) * quasi;
    memcpy(p->levels, levels, quasi * sizeof *levels);
    p->entries = kn_classes_entries(set);
}

static const pooled *pool_find(const measuring *m, const int *levels)
{
    const pooled *found = &m->pool[0];
    for (int i = 1; i < m->pool_count; i++) {
        const pooled *p = &m->pool[i];
        if (p->set && p->entries < found->entries &&
            kn_levels_below(p->levels, levels, m->search->problem->quasi_count))
            found = p;
    }
    return found;
}

/* ---- By cells: measuring ---- */

static kn_status measure_range(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    (void)worker;
    measuring    *m = arg;
    kn_evaluator *e = m->search->evaluator;
    for (int64_t i = begin; i < end && !kn_search_is_late(m->search); i++) {
        measured *b = &m->batch[i];
        KN_TRY(kn_classes_rollup(&b->set, e, b->from, b->levels, err));
        KN_TRY(kn_classes_judge(&b->verdict, e, b->set, err));
        b->done = true;
    }
    return KN_OK;
}

static kn_status run_batch(measuring *m, kn_error *err)
{
    kn_search *s = m->search;
    bool       large = false;
    for (int i = 0; i < m->batch_count; i++) large = large || kn_classes_entries(m->batch[i].from) > KN_CLASSES_SMALL;
    kn_status st = large ? measure_range(m, 0, m->batch_count, 0, err)
                         : kn_parallel_for(s->ctx, m->batch_count, 1, measure_range, m, err);
    for (int i = 0; i < m->batch_count && st == KN_OK; i++) {
        measured *b = &m->batch[i];
        if (!b->done) continue;
        s->result->counters.nodes_measured++;
        s->result->counters.keys += kn_classes_entries(b->from);
        if (!b->verdict.good) st = kn_fail(err, KN_INTERNAL, "a marked node is not good");
        if (st == KN_OK) st = kn_search_offer(s, b->levels, &b->verdict, err);
    }
    /* Only now: the batch's own sources may be among the sets that are dropped. */
    for (int i = 0; i < m->batch_count; i++) {
        measured *b = &m->batch[i];
        if (st == KN_OK && b->done)
            pool_put(m, b->set, b->levels);
        else
            kn_classes_free(b->set);
    }
    m->batch_count = 0;
    return st == KN_OK ? kn_search_check(s, err) : st;
}

static kn_status scan_bottom(kn_search *s, kn_classes **out, kn_error *err)
{
    int *zero = kn_alloc_array_zero(s->ctx, (size_t)s->problem->quasi_count + 1, sizeof *zero);
    if (!zero) return kn_fail_memory(err, s->ctx, "measuring good nodes");
    s->result->counters.keys += kn_table_total(s->problem->table);
    kn_status st = kn_classes_scan(out, s->evaluator, s->all, zero, err);
    kn_free(zero);
    return st;
}

static kn_status measure_queue(measuring *m, kn_error *err)
{
    kn_search *s = m->search;
    int        quasi = s->problem->quasi_count;
    while ((m->queue_count > 0 || m->batch_count > 0) && !s->late) {
        if (m->batch_count == BATCH || m->queue_count == 0) {
            KN_TRY(run_batch(m, err));
            continue;
        }
        int *levels = m->levels + m->batch_count * quasi;
        kn_lattice_levels(&s->lattice, pop(m), levels);
        if (!kn_search_promising(s, levels, 0, 0)) {
            m->queue_count = 0; /* all that follow have a larger bound, or the same one and come later */
            continue;
        }
        if (m->pool_count == 0) {
            kn_classes *bottom = NULL;
            int        *zero = m->levels + BATCH * quasi; /* never written to */
            KN_TRY(scan_bottom(s, &bottom, err));
            pool_put(m, bottom, zero);
        }
        m->batch[m->batch_count++] = (measured){.levels = levels, .from = pool_find(m, levels)->set};
    }
    return KN_OK;
}

static kn_status measure_by_cells(kn_search *s, const uint64_t *nodes, kn_error *err)
{
    size_t     quasi = (size_t)s->problem->quasi_count;
    measuring *m = kn_alloc_zero(s->ctx, sizeof *m);
    if (!m) return kn_fail_memory(err, s->ctx, "measuring good nodes");
    m->search = s;
    m->levels = kn_alloc_array_zero(s->ctx, BATCH + POOL + 2, quasi * sizeof *m->levels);
    kn_status st = m->levels ? make_queue(m, nodes, err) : kn_fail_memory(err, s->ctx, "measuring good nodes");
    if (st == KN_OK) st = measure_queue(m, err);
    for (int i = 0; i < m->batch_count; i++) kn_classes_free(m->batch[i].set);
    for (int i = 0; i < m->pool_count; i++) kn_classes_free(m->pool[i].set);
    KN_FREE(m->queue, m->levels, m);
    return st;
}

/* ---- By class sizes ---- */

static kn_status measure_by_sizes(kn_search *s, const kn_walk *walked, kn_error *err)
{
    size_t      words = kn_bitset_words((size_t)s->lattice.count);
    kn_classes *bottom = NULL;
    kn_verdict  verdict;
    if (kn_bitset_count(walked->marked, words) == 0) return KN_OK;
    KN_TRY(scan_bottom(s, &bottom, err));
    kn_status st = kn_classes_judge(&verdict, s->evaluator, bottom, err);
    if (st == KN_OK) {
        kn_walk again = {.lattice = walked->lattice,
                         .attributes = walked->attributes,
                         .mask = walked->mask,
                         .candidates = walked->good,
                         .base = bottom,
                         .base_node = 0,
                         .exhaustive = true,
                         .measure = true};
        again.base_squares = verdict.sums.squares + verdict.sums.suppressed_squares;
        again.base_classes = kn_classes_count(bottom);
        st = kn_search_walk(s, &again, err);
    }
    kn_classes_free(bottom);
    return st;
}

kn_status kn_search_finish(kn_search *s, const kn_walk *walk, kn_error *err)
{
    kn_fulldomain_result *r = s->result;
    if (!s->late) r->good = walk->good_count;
    if (!s->late && !walk->exhaustive)
        KN_TRY(s->problem->objective->cells ? measure_by_cells(s, walk->marked, err) : measure_by_sizes(s, walk, err));
    r->complete = !s->late;
    r->optimal = r->complete && r->found;
    kn_search_sort_solutions(s);
    return KN_OK;
}
