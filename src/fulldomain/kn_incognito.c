/* kn_incognito.c: Incognito (LeFevre, DeWitt, Ramakrishnan 2005; docs/errata.md 3): basic, superroots and cube.
 *
 * For i = 1 .. attributes, each set of i attributes (a family) in lexicographic order: its candidates are the nodes
 * whose projections to i - 1 attributes were all good; they are walked from below (kn_walk.c). This is what joining
 * the good nodes of size i - 1 and pruning gives. Marks are transitive. The three variants differ only in the source
 * of the classes of a family's roots, its candidates without a candidate below:
 *   basic       a scan each;
 *   superroots  one scan at the componentwise minimum of the family's roots, rolled up to each;
 *   cube        one scan of all attributes at level 0; before anything else the sets of all smaller families, each by dropping one attribute from the smallest available set; every root is rolled up from its family's.
 * If a root is the node that was scanned or projected there is nothing to roll up.
 *
 * Where the requirements are not monotone, families of fewer than all attributes are pruned by their monotone part
 * alone (what is "possible"), and the last family tests each of its candidates.
 *
 * Limits: families and their nodes are enumerated: at most SUBSET_NODES over all subsets. The cube's sets are kept
 * while the search may keep them; further families are projected when they are needed.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "kn_alloc.h"
#include "kn_bitset.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_fulldomain_methods.h"
#include "kn_search.h"

#define WHAT "searching the lattice"

#define SUBSET_NODES 1e9
enum { MOST_ATTRIBUTES = 64 };

/* A set of columns and its nodes. */
typedef struct family {
    uint64_t   mask;
    int        count;
    int        attributes[MOST_ATTRIBUTES];
    kn_lattice lattice;
} family;

typedef struct incognito {
    kn_search   *search;
    int          quasi;
    uint64_t     binomials[MOST_ATTRIBUTES + 1][MOST_ATTRIBUTES + 1]; /* as far as they are needed     */
    uint64_t   **before, **now; /* bits of the good nodes of each family of size i - 1 and i, by rank  */
    uint64_t     before_count, now_count;
    kn_classes **cube; /* by bits of the family; NULL where there is none (any more)                   */
    size_t       cube_bytes;
    int         *zero; /* the bottom                                                                   */
} incognito;

/* ---- Families ---- */

static void make_binomials(incognito *g)
{
    for (int n = 0; n <= g->quasi; n++) {
        g->binomials[n][0] = 1;
        for (int k = 1; k <= n; k++)
            g->binomials[n][k] = g->binomials[n - 1][k - 1] + (k < n ? g->binomials[n - 1][k] : 0);
    }
}

/* The place of a set of columns among those of its size, in lexicographic order. */
static uint64_t rank_of(const incognito *g, const int *attributes, int count, int without)
{
    uint64_t rank = 0;
    int      left = count - (without >= 0), next = 0;
    for (int i = 0; i < count; i++) {
        if (i == without) continue;
        for (; next < attributes[i]; next++) rank += g->binomials[g->quasi - next - 1][left - 1];
        next++;
        left--;
    }
    return rank;
}

static void first_family(family *f, int size)
{
    f->count = size;
    for (int i = 0; i < size; i++) f->attributes[i] = i;
}

static bool next_family(family *f, int quasi)
{
    int i = f->count - 1;
    while (i >= 0 && f->attributes[i] == quasi - f->count + i) i--;
    if (i < 0) return false;
    f->attributes[i]++;
    for (int j = i + 1; j < f->count; j++) f->attributes[j] = f->attributes[j - 1] + 1;
    return true;
}

static uint64_t mask_of(const family *f)
{
    uint64_t mask = 0;
    for (int i = 0; i < f->count; i++) mask |= (uint64_t)1 << f->attributes[i];
    return mask;
}

static kn_status family_begin(incognito *g, family *f, kn_error *err)
{
    int heights[MOST_ATTRIBUTES];
    f->mask = mask_of(f);
    for (int i = 0; i < f->count; i++) heights[i] = g->search->lattice.heights[f->attributes[i]];
    return kn_lattice_make(&f->lattice, g->search->ctx, heights, f->count, err);
}

/* ---- Candidates ---- */

/* A node is a candidate if it is good without any one of its attributes. Visits the nodes in order, tracking the
 * numbers of their projections. */
static void find_candidates(const incognito *g, const family *f, uint64_t *candidates)
{
    const uint64_t *good[MOST_ATTRIBUTES];
    int64_t         weights[MOST_ATTRIBUTES][MOST_ATTRIBUTES]; /* [dropped][attribute]: stride in the smaller family */
    for (int d = 0; d < f->count; d++) {
        int64_t stride = 1;
        good[d] = g->before[rank_of(g, f->attributes, f->count, d)];
        for (int a = f->count - 1; a >= 0; a--) {
            weights[d][a] = a == d ? 0 : stride;
            if (a != d) stride *= f->lattice.heights[a] + 1;
        }
    }
    int levels[MOST_ATTRIBUTES] = {0};
    for (int64_t node = 0; node < f->lattice.count; node++) {
        bool all = true;
        for (int d = 0; d < f->count && all; d++) {
            int64_t smaller = 0;
            for (int a = 0; a < f->count; a++) smaller += levels[a] * weights[d][a];
            all = good[d] && kn_bitset_test(good[d], (size_t)smaller);
        }
        if (all) kn_bitset_set(candidates, (size_t)node);
        for (int a = f->count - 1; a >= 0; a--) {
            if (++levels[a] <= f->lattice.heights[a]) break;
            levels[a] = 0;
        }
    }
}

/* The componentwise minimum of the roots, which is that of all candidates; there is at least one. */
static void find_superroot(const family *f, const uint64_t *candidates, int *levels)
{
    bool any = false;
    for (int64_t node = 0; node < f->lattice.count; node++) {
        if (candidates && !kn_bitset_test(candidates, (size_t)node)) continue;
        for (int a = 0; a < f->count; a++) {
            int level = kn_lattice_level(&f->lattice, node, a);
            if (!any || level < levels[a]) levels[a] = level;
        }
        any = true;
    }
}

/* ---- The cube ---- */

static void take_smaller(const incognito *g, uint64_t mask, const kn_classes **found)
{
    const kn_classes *set = g->cube[mask];
    if (set && (!*found || kn_classes_entries(set) < kn_classes_entries(*found))) *found = set;
}

/* The smallest available set with one more attribute or, if there is none, with any number more. */
static const kn_classes *cube_source(const incognito *g, uint64_t mask)
{
    const kn_classes *found = NULL;
    for (int q = 0; q < g->quasi; q++)
        if (!(mask >> q & 1)) take_smaller(g, mask | (uint64_t)1 << q, &found);
    if (found) return found;
    for (uint64_t more = mask; more < g->search->all;) {
        more = (more + 1) | mask; /* the next set that contains it */
        take_smaller(g, more, &found);
    }
    return found;
}

static kn_status cube_project(incognito *g, uint64_t mask, kn_error *err)
{
    KN_TRY(kn_search_project(g->search, &g->cube[mask], cube_source(g, mask), mask, g->zero, err));
    g->cube_bytes += kn_classes_bytes(g->cube[mask]);
    return KN_OK;
}

static void cube_drop(incognito *g, uint64_t mask)
{
    if (!g->cube[mask]) return;
    g->cube_bytes -= kn_classes_bytes(g->cube[mask]);
    kn_classes_free(g->cube[mask]);
    g->cube[mask] = NULL;
}

static kn_status cube_begin(incognito *g, kn_error *err)
{
    kn_search *s = g->search;
    g->cube = kn_alloc_array_zero(s->ctx, (size_t)s->all + 1, sizeof(kn_classes *));
    if (!g->cube) return kn_fail_memory(err, s->ctx, WHAT);
    KN_TRY(kn_search_scan(s, &g->cube[s->all], s->all, g->zero, err));
    g->cube_bytes = kn_classes_bytes(g->cube[s->all]);
    for (int size = g->quasi - 1; size >= 1; size--) {
        family f;
        first_family(&f, size);
        do {
            KN_TRY(kn_search_check(s, err));
            if (s->late || g->cube_bytes > s->keep) return KN_OK;
            KN_TRY(cube_project(g, mask_of(&f), err));
        } while (next_family(&f, g->quasi));
    }
    return KN_OK;
}

static void cube_end(incognito *g)
{
    for (uint64_t mask = 0; g->cube && mask <= g->search->all; mask++) kn_classes_free(g->cube[mask]);
    kn_free(g->cube);
}

/* ---- One family ---- */

/* The source of the roots' classes. The caller frees `scanned`. */
static kn_status make_base(incognito *g, const family *f, kn_walk *w, kn_classes **scanned, kn_error *err)
{
    kn_search *s = g->search;
    w->base_node = -1;
    if (s->problem->method == KN_METHOD_INCOGNITO_CUBE) {
        if (!g->cube[f->mask]) KN_TRY(cube_project(g, f->mask, err));
        w->base = g->cube[f->mask];
        w->base_node = 0;
    } else if (s->problem->method == KN_METHOD_INCOGNITO_SUPERROOTS) {
        int lowest[MOST_ATTRIBUTES] = {0}, levels[MOST_ATTRIBUTES] = {0};
        find_superroot(f, w->candidates, lowest);
        for (int a = 0; a < f->count; a++) levels[f->attributes[a]] = lowest[a];
        KN_TRY(kn_search_scan(s, scanned, f->mask, levels, err));
        w->base = *scanned;
        w->base_node = kn_lattice_node(&f->lattice, lowest);
    }
    return KN_OK;
}

static kn_status walk_family(incognito *g, const family *f, kn_walk *w, kn_error *err)
{
    kn_search          *s = g->search;
    kn_subset_counters *size = &s->result->counters.sizes[f->count - 1];
    kn_classes         *scanned = NULL;
    kn_status           st = make_base(g, f, w, &scanned, err);
    if (st == KN_OK) st = kn_search_walk(s, w, err);
    kn_classes_free(scanned);
    if (g->cube) cube_drop(g, f->mask);
    s->result->counters.candidates += w->candidate_count;
    size->candidates += w->candidate_count;
    size->tested += w->tested_count;
    size->good += w->good_count;
    if (st == KN_OK && w->last) st = kn_search_finish(s, w, err);
    return st;
}

static kn_status search_family(incognito *g, family *f, kn_error *err)
{
    kn_search *s = g->search;
    size_t     words = kn_bitset_words((size_t)f->lattice.count);
    uint64_t  *candidates = kn_alloc_array_zero(s->ctx, words, sizeof *candidates);
    kn_walk    w = {.lattice = &f->lattice, .attributes = f->attributes, .mask = f->mask, .candidates = candidates};
    w.last = f->count == g->quasi;
    w.exhaustive = w.last && !kn_evaluator_monotone(s->evaluator);
    w.possible = !w.last && !kn_evaluator_monotone(s->evaluator);
    w.good = kn_alloc_array_zero(s->ctx, words, sizeof *w.good);
    w.marked = kn_alloc_array_zero(s->ctx, words, sizeof *w.marked);
    kn_status st = candidates && w.good && w.marked ? KN_OK : kn_fail_memory(err, s->ctx, WHAT);
    bool      any = st == KN_OK;
    if (st == KN_OK && f->count == 1) {
        w.candidates = NULL;
    } else if (st == KN_OK) {
        find_candidates(g, f, candidates);
        any = kn_bitset_count(candidates, words) > 0;
        kn_progress_add(s->ctx, (uint64_t)f->lattice.count - kn_bitset_count(candidates, words));
    }
    if (any)
        st = walk_family(g, f, &w, err);
    else if (st == KN_OK && w.last)
        st = kn_search_finish(s, &w, err);
    if (w.good_count > 0) {
        g->now[rank_of(g, f->attributes, f->count, -1)] = w.good;
        w.good = NULL;
    }
    KN_FREE(candidates, w.good, w.marked);
    return st;
}

/* ---- Sizes ---- */

static void free_bits(uint64_t **bits, uint64_t count)
{
    for (uint64_t i = 0; bits && i < count; i++) kn_free(bits[i]);
    kn_free(bits);
}

static kn_status search_size(incognito *g, int size, kn_error *err)
{
    family f;
    g->now_count = g->binomials[g->quasi][size];
    g->now = kn_alloc_array_zero(g->search->ctx, g->now_count, sizeof(uint64_t *));
    if (!g->now) return kn_fail_memory(err, g->search->ctx, WHAT);
    first_family(&f, size);
    do {
        kn_status st = family_begin(g, &f, err);
        if (st == KN_OK) st = search_family(g, &f, err);
        kn_lattice_free(&f.lattice);
        if (st != KN_OK) return st;
        KN_TRY(kn_search_check(g->search, err));
    } while (!g->search->late && next_family(&f, g->quasi));
    free_bits(g->before, g->before_count);
    g->before = g->now;
    g->before_count = g->now_count;
    g->now = NULL;
    return KN_OK;
}

static kn_status search(incognito *g, kn_error *err)
{
    kn_search            *s = g->search;
    kn_fulldomain_result *r = s->result;
    if (!KN_ALLOC_ZERO(s->ctx, r->counters.sizes, (size_t)g->quasi + 1) ||
        !KN_ALLOC_ZERO(s->ctx, g->zero, (size_t)g->quasi + 1))
        return kn_fail_memory(err, s->ctx, WHAT);
    r->counters.size_count = g->quasi;
    make_binomials(g);
    KN_TRY(kn_search_rank(s, err));
    if (s->problem->method == KN_METHOD_INCOGNITO_CUBE) KN_TRY(cube_begin(g, err));
    for (int size = 1; size <= g->quasi && !s->late; size++) KN_TRY(search_size(g, size, err));
    r->complete = !s->late;
    return KN_OK;
}

kn_status kn_incognito_search(kn_fulldomain_result *result, kn_context *ctx, const kn_fulldomain_problem *problem,
                              kn_error *err)
{
    kn_search  s;
    incognito *g = kn_alloc_zero(ctx, sizeof *g);
    kn_status  st = kn_search_begin(&s, ctx, problem, result, err);
    if (st == KN_OK && !g) st = kn_fail_memory(err, ctx, WHAT);
    if (st == KN_OK) {
        double nodes = 1;
        for (int q = 0; q < problem->quasi_count; q++) nodes *= s.lattice.heights[q] + 2;
        if (nodes > SUBSET_NODES)
            st = kn_fail(err, KN_USAGE,
                         "%s cannot search the %.3g nodes of all sets of quasi-identifiers; try the method %s",
                         kn_method_name(problem->method), nodes, kn_method_name(KN_METHOD_HEURISTIC));
        g->search = &s;
        g->quasi = problem->quasi_count;
        if (st == KN_OK) {
            kn_progress_begin(ctx, "searching", "nodes", (uint64_t)nodes - 1);
            st = search(g, err);
            kn_progress_end(ctx);
        }
        cube_end(g);
        free_bits(g->before, g->before_count);
        free_bits(g->now, g->now_count);
        kn_free(g->zero);
    }
    kn_free(g);
    kn_search_end(&s);
    return st;
}
