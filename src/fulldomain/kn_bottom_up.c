/* kn_bottom_up.c: all good nodes, height by height from below (docs/errata.md 3), with and without roll-up.
 *
 * A node with a good node directly below is good and marked; any other is tested. Without roll-up each tested node is
 * counted from the rows; with it there is one scan, of the bottom, and each other tested node is summed up from a
 * direct specialization: all of these were tested and found bad, so their classes are available. If the requirements
 * are not monotone every node is tested.
 *
 * Then the best of the good nodes is found; see kn_search_measure.c.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_alloc.h"
#include "kn_bitset.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_fulldomain_methods.h"
#include "kn_search.h"

static kn_status walk(kn_search *s, kn_walk *w, kn_error *err)
{
    kn_classes *bottom = NULL;
    w->base_node = -1;
    if (!w->rescan) {
        int *zero = kn_alloc_array_zero(s->ctx, (size_t)s->problem->quasi_count + 1, sizeof *zero);
        if (!zero) return kn_fail_memory(err, s->ctx, "searching the lattice");
        kn_status st = kn_search_scan(s, &bottom, s->all, zero, err);
        kn_free(zero);
        if (st != KN_OK) return st;
        w->base = bottom;
        w->base_node = 0;
    }
    kn_status st = kn_search_walk(s, w, err);
    kn_classes_free(bottom);
    return st;
}

static kn_status search(kn_search *s, kn_error *err)
{
    size_t  words = kn_bitset_words((size_t)s->lattice.count);
    int    *attributes = kn_alloc_array(s->ctx, (size_t)s->problem->quasi_count + 1, sizeof *attributes);
    kn_walk w = {.lattice = &s->lattice, .attributes = attributes, .mask = s->all, .last = true};
    w.rescan = s->problem->method == KN_METHOD_BOTTOM_UP;
    w.exhaustive = !kn_evaluator_monotone(s->evaluator);
    w.good = kn_alloc_array_zero(s->ctx, words, sizeof *w.good);
    w.marked = kn_alloc_array_zero(s->ctx, words, sizeof *w.marked);
    kn_status st = attributes && w.good && w.marked ? KN_OK : kn_fail_memory(err, s->ctx, "searching the lattice");
    for (int q = 0; q < s->problem->quasi_count && st == KN_OK; q++) attributes[q] = q;
    if (st == KN_OK) st = kn_search_rank(s, err);
    if (st == KN_OK) st = walk(s, &w, err);
    s->result->counters.candidates = w.candidate_count;
    if (st == KN_OK) st = kn_search_finish(s, &w, err);
    KN_FREE(attributes, w.good, w.marked);
    return st;
}

kn_status kn_bottom_up_search(kn_fulldomain_result *result, kn_context *ctx, const kn_fulldomain_problem *problem,
                              kn_error *err)
{
    kn_search s;
    kn_status st = kn_search_begin(&s, ctx, problem, result, err);
    if (st == KN_OK) {
        kn_progress_begin(ctx, "searching", "nodes", (uint64_t)s.lattice.count);
        st = search(&s, err);
        kn_progress_end(ctx);
    }
    kn_search_end(&s);
    return st;
}
