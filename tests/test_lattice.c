/* test_lattice.c: the methods that enumerate the lattice: each against exhaustive enumeration (good nodes, minimal nodes,
 * optimum, infeasible) for every model, and step by step against a twin that follows its definition (docs/errata.md 3) with
 * plain lists; threads, limits, failing memory, cancellation.
 * SPDX-License-Identifier: Apache-2.0 */
#include "lattice_testing.h"

#include <time.h>

#include "kn_alloc.h"

/* ---- All nodes of all sets of attributes, judged one by one ---- */

typedef struct facts {
    int     nodes; /* of the lattice, in lexicographic order */
    int     levels[MOST_NODES][MOST_QUASI];
    verdict of[1 << MOST_QUASI][MOST_NODES]; /* by set of attributes and node; levels of others are not looked at */
    bool    known[1 << MOST_QUASI][MOST_NODES];
} facts;

static void list_nodes(facts *f, const world *w)
{
    int levels[MOST_QUASI] = {0};
    memset(f, 0, sizeof *f);
    for (;;) {
        memcpy(f->levels[f->nodes++], levels, sizeof levels);
        int q = w->quasi_count - 1;
        while (q >= 0 && levels[q] == w->trees[q].height) levels[q--] = 0;
        if (q < 0) return;
        levels[q]++;
    }
}

/* The node with these levels for the attributes and 0 for the others. */
static const verdict *look_up(facts *f, world *w, uint64_t attributes, const int *levels)
{
    for (int i = 0; i < f->nodes; i++) {
        bool same = true;
        for (int q = 0; q < w->quasi_count; q++)
            same = same && f->levels[i][q] == ((attributes >> q & 1) ? levels[q] : 0);
        if (!same) continue;
        if (!f->known[attributes][i]) naive_judge(&f->of[attributes][i], w, attributes, levels);
        f->known[attributes][i] = true;
        return &f->of[attributes][i];
    }
    fail_msg("no such node");
    return NULL;
}

static uint64_t all_of(const world *w)
{
    return ((uint64_t)1 << w->quasi_count) - 1;
}

static int height_of(const int *levels)
{
    int height = 0;
    for (int q = 0; q < MOST_QUASI; q++) height += levels[q];
    return height;
}

static bool below(const int *a, const int *b)
{
    for (int q = 0; q < MOST_QUASI; q++)
        if (a[q] > b[q]) return false;
    return memcmp(a, b, MOST_QUASI * sizeof *a) != 0;
}

/* One level more of one attribute. */
static bool directly_below(const int *a, const int *b)
{
    return below(a, b) && height_of(b) == height_of(a) + 1;
}

static int top_height(const world *w)
{
    int height = 0;
    for (int q = 0; q < w->quasi_count; q++) height += w->trees[q].height;
    return height;
}

/* ---- What a twin did ---- */

enum { MOST_STEPS = 4096 };

typedef struct twin {
    int                    count;
    kn_step_kind           kinds[MOST_STEPS];
    uint64_t               attributes[MOST_STEPS];
    int                    levels[MOST_STEPS][MOST_QUASI];
    kn_fulldomain_counters counters;
    kn_subset_counters     sizes[MOST_QUASI];
} twin;

static void step(twin *t, kn_step_kind kind, uint64_t attributes, const int *levels)
{
    assert_true(t->count < MOST_STEPS);
    t->kinds[t->count] = kind;
    t->attributes[t->count] = attributes;
    for (int q = 0; q < MOST_QUASI; q++) t->levels[t->count][q] = (attributes >> q & 1) ? levels[q] : 0;
    t->count++;
    if (kind == KN_STEP_SCAN) t->counters.table_scans++;
    if (kind == KN_STEP_ROLLUP) t->counters.rollups++;
    if (kind == KN_STEP_PROJECT) t->counters.projections++;
    if (kind == KN_STEP_TEST_BAD || kind == KN_STEP_TEST_GOOD) t->counters.nodes_checked++;
}

static bool test_node(twin *t, facts *f, world *w, uint64_t attributes, const int *levels, bool possible)
{
    const verdict *v = look_up(f, w, attributes, levels);
    bool           good = possible ? v->possible : v->good;
    step(t, good ? KN_STEP_TEST_GOOD : KN_STEP_TEST_BAD, attributes, levels);
    return good;
}

/* ---- The twins ---- */

/* Binary search on the height; heights one by one where good is not upward closed. -1: there is no good node. */
static int twin_samarati(twin *t, facts *f, world *w)
{
    int low = 0, high = top_height(w), best = -1;
    while (low < high || best < 0) {
        int middle = monotone(w) ? (low + high) / 2 : low, found = -1;
        for (int i = 0; i < f->nodes && found < 0; i++) {
            if (height_of(f->levels[i]) != middle) continue;
            step(t, KN_STEP_SCAN, all_of(w), f->levels[i]);
            t->counters.candidates++;
            if (test_node(t, f, w, all_of(w), f->levels[i], false)) found = i;
        }
        if (found >= 0) {
            high = middle;
            best = found;
            if (!monotone(w)) break;
        } else {
            low = middle + 1;
            if (low > high) break;
        }
    }
    return best;
}

static void twin_bottom_up(twin *t, facts *f, world *w, bool rollup)
{
    bool good[MOST_NODES] = {false};
    for (int height = 0; height <= top_height(w); height++)
        for (int i = 0; i < f->nodes; i++) {
            bool marked = false;
            if (height_of(f->levels[i]) != height) continue;
            t->counters.candidates++;
            for (int o = 0; o < f->nodes && monotone(w); o++)
                marked = marked || (good[o] && directly_below(f->levels[o], f->levels[i]));
            good[i] = marked;
            t->counters.nodes_marked += marked;
            if (marked) continue;
            step(t, rollup && height > 0 ? KN_STEP_ROLLUP : KN_STEP_SCAN, all_of(w), f->levels[i]);
            good[i] = test_node(t, f, w, all_of(w), f->levels[i], false);
        }
}

static int twin_datafly(twin *t, facts *f, world *w)
{
    int levels[MOST_QUASI] = {0};
    step(t, KN_STEP_SCAN, all_of(w), levels);
    for (;;) {
        t->counters.candidates++;
        if (test_node(t, f, w, all_of(w), levels, false)) break;
        int most = -1;
        for (int q = 0; q < w->quasi_count; q++)
            if (levels[q] < w->trees[q].height &&
                (most < 0 || naive_distinct(w, q, levels[q]) > naive_distinct(w, most, levels[most])))
                most = q;
        if (most < 0) return -1;
        levels[most]++;
        step(t, KN_STEP_ROLLUP, all_of(w), levels);
    }
    for (int i = 0; i < f->nodes; i++)
        if (memcmp(f->levels[i], levels, sizeof levels) == 0) return i;
    return -1;
}

/* Incognito: lists of nodes of some attributes. */
typedef struct some_node {
    uint64_t attributes;
    int      levels[MOST_QUASI]; /* 0 for the others */
    bool     root, queued, tested, marked, removed;
} some_node;

typedef struct node_list {
    int       count;
    some_node nodes[4 * MOST_NODES];
} node_list;

static void add_node(node_list *l, uint64_t attributes, const int *levels)
{
    some_node *n = &l->nodes[l->count++];
    assert_true(l->count <= 4 * MOST_NODES);
    *n = (some_node){.attributes = attributes};
    for (int q = 0; q < MOST_QUASI; q++) n->levels[q] = (attributes >> q & 1) ? levels[q] : 0;
}

static bool has_node(const node_list *l, uint64_t attributes, const int *levels)
{
    for (int i = 0; i < l->count; i++) {
        bool same = l->nodes[i].attributes == attributes && !l->nodes[i].removed;
        for (int q = 0; q < MOST_QUASI && same; q++)
            same = !(attributes >> q & 1) || l->nodes[i].levels[q] == levels[q];
        if (same) return true;
    }
    return false;
}

static int last_of(uint64_t attributes)
{
    return 63 - __builtin_clzll(attributes);
}

/* S of size i - 1 → C of size i: join those that agree on all but the last attribute, prune. */
static void join_and_prune(node_list *c, const node_list *s)
{
    c->count = 0;
    for (int a = 0; a < s->count; a++)
        for (int b = 0; b < s->count; b++) {
            const some_node *x = &s->nodes[a], *y = &s->nodes[b];
            int              p = last_of(x->attributes), q = last_of(y->attributes);
            uint64_t         common = x->attributes & ~((uint64_t)1 << p), joined = x->attributes | (uint64_t)1 << q;
            bool fits = !x->removed && !y->removed && p < q && common == (y->attributes & ~((uint64_t)1 << q));
            int  levels[MOST_QUASI];
            for (int i = 0; i < MOST_QUASI; i++) {
                fits = fits && (!(common >> i & 1) || x->levels[i] == y->levels[i]);
                levels[i] = i == q ? y->levels[q] : x->levels[i];
            }
            for (int i = 0; i < MOST_QUASI && fits; i++)
                if (joined >> i & 1) fits = has_node(s, joined & ~((uint64_t)1 << i), levels);
            if (fits) add_node(c, joined, levels);
        }
}

/* The next in the queue of a family: the lowest, of these the lexicographically first. */
static some_node *next_in_queue(node_list *c, uint64_t family)
{
    some_node *next = NULL;
    for (int i = 0; i < c->count; i++) {
        some_node *n = &c->nodes[i];
        if (n->attributes != family || !n->queued) continue;
        int order = next ? height_of(n->levels) - height_of(next->levels) : -1;
        for (int q = 0; q < MOST_QUASI && order == 0; q++) order = n->levels[q] - next->levels[q];
        if (order < 0) next = n;
    }
    return next;
}

static void twin_family(twin *t, facts *f, world *w, node_list *c, uint64_t family, kn_method method)
{
    bool                last = family == all_of(w), possible = !last && !monotone(w), every = last && !monotone(w);
    int                 lowest[MOST_QUASI], zero[MOST_QUASI] = {0};
    bool                any = false;
    kn_subset_counters *size = &t->sizes[__builtin_popcountll(family) - 1];
    for (int i = 0; i < c->count; i++) {
        some_node *n = &c->nodes[i];
        if (n->attributes != family) continue;
        n->root = true;
        for (int o = 0; o < c->count; o++)
            if (c->nodes[o].attributes == family && below(c->nodes[o].levels, n->levels)) n->root = false;
        n->queued = n->root;
        size->candidates++;
        t->counters.candidates++;
        for (int q = 0; q < MOST_QUASI && n->root; q++)
            if (!any || n->levels[q] < lowest[q]) lowest[q] = n->levels[q];
        any = any || n->root;
    }
    if (any && method == KN_METHOD_INCOGNITO_SUPERROOTS) step(t, KN_STEP_SCAN, family, lowest);
    for (some_node *n; (n = next_in_queue(c, family)) != NULL;) {
        n->queued = false;
        if (n->marked && !every) continue;
        const int *base = method == KN_METHOD_INCOGNITO_CUBE ? zero : lowest;
        if (n->root && method == KN_METHOD_INCOGNITO)
            step(t, KN_STEP_SCAN, family, n->levels);
        else if (!n->root || memcmp(n->levels, base, sizeof zero) != 0)
            step(t, KN_STEP_ROLLUP, family, n->levels);
        bool good = test_node(t, f, w, family, n->levels, possible);
        n->tested = true;
        size->tested++;
        for (int i = 0; i < c->count; i++) {
            some_node *o = &c->nodes[i];
            if (o->attributes != family) continue;
            if (good && below(n->levels, o->levels)) o->marked = true;
            if ((!good || every) && !o->tested && directly_below(n->levels, o->levels)) o->queued = true;
        }
        n->removed = !good;
    }
    for (int i = 0; i < c->count; i++) {
        some_node *n = &c->nodes[i];
        if (n->attributes != family) continue;
        assert_true(n->tested || n->marked);
        t->counters.nodes_marked += !n->tested;
        size->good += !n->removed;
    }
}

/* The sets of `size` attributes, in lexicographic order of the lists: those whose reversed bits are largest. */
static int families_of(const world *w, int size, uint64_t *out)
{
    int count = 0;
    for (int reversed = (1 << w->quasi_count) - 1; reversed > 0; reversed--) {
        uint64_t mask = 0;
        for (int q = 0; q < w->quasi_count; q++)
            if (reversed >> (w->quasi_count - 1 - q) & 1) mask |= (uint64_t)1 << q;
        if (__builtin_popcountll(mask) == size) out[count++] = mask;
    }
    return count;
}

static void twin_incognito(twin *t, facts *f, world *w, kn_method method)
{
    static node_list s, c;
    uint64_t         families[1 << MOST_QUASI];
    int              zero[MOST_QUASI] = {0};
    if (method == KN_METHOD_INCOGNITO_CUBE) {
        step(t, KN_STEP_SCAN, all_of(w), zero);
        for (int size = w->quasi_count - 1; size >= 1; size--) {
            int count = families_of(w, size, families);
            for (int i = 0; i < count; i++) step(t, KN_STEP_PROJECT, families[i], zero);
        }
    }
    c.count = 0;
    for (int q = 0; q < w->quasi_count; q++)
        for (int level = 0; level <= w->trees[q].height; level++) {
            int levels[MOST_QUASI] = {0};
            levels[q] = level;
            add_node(&c, (uint64_t)1 << q, levels);
        }
    for (int size = 1; size <= w->quasi_count; size++) {
        int count = families_of(w, size, families);
        for (int i = 0; i < count; i++) twin_family(t, f, w, &c, families[i], method);
        memcpy(&s, &c, sizeof s);
        join_and_prune(&c, &s);
    }
}

/* ---- Comparing ---- */

static void same_steps(const kn_fulldomain_result *r, const twin *t, const world *w)
{
    for (int i = 0; i < t->count && i < r->trace_count; i++) {
        assert_int_equal(r->trace[i].kind, t->kinds[i]);
        assert_int_equal(r->trace[i].attributes, t->attributes[i]);
        assert_memory_equal(r->trace[i].levels, t->levels[i], (size_t)w->quasi_count * sizeof(int));
    }
    assert_int_equal(r->trace_count, t->count);
    assert_int_equal(r->counters.candidates, t->counters.candidates);
    assert_int_equal(r->counters.nodes_checked, t->counters.nodes_checked);
    assert_int_equal(r->counters.nodes_marked, t->counters.nodes_marked);
    assert_int_equal(r->counters.table_scans, t->counters.table_scans);
    assert_int_equal(r->counters.rollups, t->counters.rollups);
    assert_int_equal(r->counters.projections, t->counters.projections);
    for (int i = 0; i < r->counters.size_count; i++)
        assert_memory_equal(&r->counters.sizes[i], &t->sizes[i], sizeof t->sizes[i]);
}

static void same_solution(const kn_solution *a, const world *w, facts *f, int node)
{
    const verdict *v = look_up(f, (world *)(uintptr_t)w, all_of(w), f->levels[node]);
    assert_memory_equal(a->levels, f->levels[node], (size_t)w->quasi_count * sizeof(int));
    assert_int_equal(a->suppressed, v->sums.suppressed);
    assert_int_equal(a->classes, v->sums.classes);
    assert_int_equal(kn_quotient_compare(a->loss, kn_objective_loss(w->objective, &v->sums)), 0);
}

/* Nodes are numbered lexicographically: of equal losses fewer suppressed rows, the lower height, the lower number. */
static bool better(world *w, facts *f, int a, int b)
{
    const verdict *x = look_up(f, w, all_of(w), f->levels[a]), *y = look_up(f, w, all_of(w), f->levels[b]);
    int            height = 0;
    int            order =
        kn_quotient_compare(kn_objective_loss(w->objective, &x->sums), kn_objective_loss(w->objective, &y->sums));
    if (order != 0) return order < 0;
    if (x->sums.suppressed != y->sums.suppressed) return x->sums.suppressed < y->sums.suppressed;
    for (int q = 0; q < w->quasi_count; q++) height += f->levels[a][q] - f->levels[b][q];
    return height != 0 ? height < 0 : a < b;
}

/* All good nodes, the minimal ones and the best of them. */
static void same_answer(const kn_fulldomain_result *r, world *w, facts *f)
{
    int     best = -1;
    int64_t good = 0, minimal = 0;
    for (int i = 0; i < f->nodes; i++) {
        const verdict *v = look_up(f, w, all_of(w), f->levels[i]);
        if (!v->good) continue;
        good++;
        if (best < 0 || better(w, f, i, best)) best = i;
        bool lower = false;
        for (int o = 0; o < f->nodes; o++)
            lower = lower || (below(f->levels[o], f->levels[i]) && look_up(f, w, all_of(w), f->levels[o])->good);
        if (lower) continue;
        assert_true(minimal < r->solution_count);
        same_solution(&r->solutions[minimal++], w, f, i);
    }
    assert_int_equal(r->found, best >= 0);
    assert_int_equal(r->optimal, best >= 0);
    assert_true(r->complete);
    assert_int_equal(r->good, good);
    assert_int_equal(r->solution_count, minimal);
    if (best >= 0) same_solution(&r->best, w, f, best);
}

static void same_result(const kn_fulldomain_result *a, const kn_fulldomain_result *b)
{
    size_t bytes = (size_t)a->quasi_count * sizeof(int);
    assert_int_equal(a->found, b->found);
    assert_int_equal(a->complete, b->complete);
    assert_int_equal(a->optimal, b->optimal);
    assert_int_equal(a->good, b->good);
    if (a->found) {
        assert_memory_equal(a->best.levels, b->best.levels, bytes);
        assert_int_equal(a->best.suppressed, b->best.suppressed);
        assert_int_equal(kn_quotient_compare(a->best.loss, b->best.loss), 0);
    }
    assert_int_equal(a->solution_count, b->solution_count);
    for (int64_t i = 0; i < a->solution_count; i++)
        assert_memory_equal(a->solutions[i].levels, b->solutions[i].levels, bytes);
    kn_fulldomain_counters x = a->counters, y = b->counters;
    assert_int_equal(x.candidates, y.candidates);
    assert_int_equal(x.nodes_checked, y.nodes_checked);
    assert_int_equal(x.nodes_marked, y.nodes_marked);
    assert_int_equal(x.table_scans, y.table_scans);
    assert_int_equal(x.rollups, y.rollups);
    assert_int_equal(x.projections, y.projections);
    assert_int_equal(x.nodes_measured, y.nodes_measured);
    assert_int_equal(x.keys, y.keys);
    assert_int_equal(a->trace_count, b->trace_count);
    for (int64_t i = 0; i < a->trace_count; i++) {
        assert_int_equal(a->trace[i].kind, b->trace[i].kind);
        assert_int_equal(a->trace[i].attributes, b->trace[i].attributes);
        assert_memory_equal(a->trace[i].levels, b->trace[i].levels, bytes);
    }
}

/* ---- Every method on random problems ---- */

static const kn_method methods[] = {KN_METHOD_SAMARATI,
                                    KN_METHOD_BOTTOM_UP,
                                    KN_METHOD_BOTTOM_UP_ROLLUP,
                                    KN_METHOD_INCOGNITO,
                                    KN_METHOD_INCOGNITO_SUPERROOTS,
                                    KN_METHOD_INCOGNITO_CUBE,
                                    KN_METHOD_DATAFLY};
enum { METHODS = sizeof methods / sizeof methods[0] };

static kn_fulldomain_result *search(kn_context *ctx, world *w, kn_method method)
{
    kn_fulldomain_result *r = NULL;
    kn_error              err = KN_ERROR_INIT;
    w->problem.method = method;
    assert_ok(kn_fulldomain_search(&r, ctx, &w->problem, &err), err);
    return r;
}

static void check_one_node(const kn_fulldomain_result *r, world *w, facts *f, int node)
{
    assert_true(r->complete && !r->optimal);
    assert_int_equal(r->good, -1);
    assert_int_equal(r->found, node >= 0);
    assert_int_equal(r->solution_count, node >= 0);
    if (node < 0) return;
    same_solution(&r->best, w, f, node);
    same_solution(&r->solutions[0], w, f, node);
}

static void check_method(const kn_fulldomain_result *r, world *w, facts *f, kn_method method)
{
    static twin t;
    t = (twin){0};
    assert_true(r->counters.lattice == f->nodes);
    switch (method) {
    case KN_METHOD_SAMARATI: check_one_node(r, w, f, twin_samarati(&t, f, w)); break;
    case KN_METHOD_DATAFLY: check_one_node(r, w, f, twin_datafly(&t, f, w)); break;
    case KN_METHOD_BOTTOM_UP:
    case KN_METHOD_BOTTOM_UP_ROLLUP:
        twin_bottom_up(&t, f, w, method == KN_METHOD_BOTTOM_UP_ROLLUP);
        same_answer(r, w, f);
        break;
    default:
        twin_incognito(&t, f, w, method);
        same_answer(r, w, f);
        assert_int_equal(r->counters.size_count, w->quasi_count);
        break;
    }
    same_steps(r, &t, w);
}

/* Samarati: no good node has a smaller height. */
static void check_height(const kn_fulldomain_result *r, world *w, facts *f)
{
    int lowest = -1;
    for (int i = 0; i < f->nodes; i++)
        if (look_up(f, w, all_of(w), f->levels[i])->good &&
            (lowest < 0 || height_of(f->levels[i]) < height_of(f->levels[lowest])))
            lowest = i;
    assert_int_equal(r->found, lowest >= 0);
    if (lowest >= 0) assert_memory_equal(r->best.levels, f->levels[lowest], (size_t)w->quasi_count * sizeof(int));
}

static void check_invariants(kn_fulldomain_result *const *r)
{
    const kn_fulldomain_counters *plain = &r[1]->counters, *rollup = &r[2]->counters;
    const kn_fulldomain_counters *basic = &r[3]->counters, *super = &r[4]->counters, *cube = &r[5]->counters;
    assert_int_equal(plain->nodes_checked, rollup->nodes_checked);
    assert_int_equal(plain->nodes_checked, plain->table_scans);
    assert_int_equal(rollup->table_scans, 1);
    assert_int_equal(basic->nodes_checked, super->nodes_checked);
    assert_int_equal(basic->nodes_checked, cube->nodes_checked);
    assert_int_equal(cube->table_scans, 1);
    assert_true(super->table_scans <= basic->table_scans);
}

typedef struct tally {
    int64_t worlds, feasible, monotone, tied;
} tally;

static void check_world(kn_context *const *contexts, world *w, kn_rng *rng, tally *seen)
{
    static facts          f;
    kn_fulldomain_result *r[METHODS];
    list_nodes(&f, w);
    w->problem.trace = w->problem.all_solutions = true;
    for (int m = 0; m < METHODS; m++) {
        r[m] = search(contexts[0], w, methods[m]);
        check_method(r[m], w, &f, methods[m]);
    }
    check_height(r[0], w, &f);
    check_invariants(r);
    /* More threads, and less memory for kept sets: other roll-ups, the same nodes and answers. */
    int                   m = pick(rng, METHODS), threads = 1 + pick(rng, 2);
    kn_fulldomain_result *other = search(contexts[threads], w, methods[m]);
    same_result(other, r[m]);
    kn_fulldomain_result_free(other);
    w->problem.keep = 1;
    other = search(contexts[threads], w, methods[m]);
    if (methods[m] != KN_METHOD_SAMARATI && methods[m] != KN_METHOD_DATAFLY) same_answer(other, w, &f);
    assert_int_equal(other->counters.nodes_checked, r[m]->counters.nodes_checked);
    if (methods[m] == KN_METHOD_BOTTOM_UP_ROLLUP || methods[m] == KN_METHOD_INCOGNITO_CUBE)
        assert_int_equal(other->counters.table_scans, 1);
    kn_fulldomain_result_free(other);
    seen->worlds++;
    seen->feasible += r[1]->found;
    seen->monotone += monotone(w);
    for (int i = 0; i < METHODS; i++) kn_fulldomain_result_free(r[i]);
}

static void methods_agree_with_enumeration_and_twins(void **state)
{
    (void)state;
    kn_context *contexts[3] = {testing_context(1), testing_context(2), testing_context(8)};
    kn_rng      rng;
    tally       seen = {0};
    kn_rng_init(&rng, testing_seed(), 1);
    for (int round = 0; round < testing_rounds(1200); round++) {
        world w;
        if (!world_make(&w, contexts[0], &rng, round)) continue;
        check_world(contexts, &w, &rng, &seen);
        world_free(&w);
    }
    printf("%d problems, %d feasible, %d monotone\n", (int)seen.worlds, (int)seen.feasible, (int)seen.monotone);
    assert_true(seen.worlds > testing_least(600) && seen.feasible > testing_least(100) &&
                seen.feasible < seen.worlds - testing_least(100));
    assert_true(seen.monotone > testing_least(50) && seen.monotone < seen.worlds - testing_least(50));
    for (int i = 0; i < 3; i++) testing_context_free(contexts[i]);
}

/* Nodes (0,1,1) and (1,0,1) lose the same; the first is better, but (0,1,0) below it is good (and loses more), so that it is
 * only marked, while the second is tested. */
static void a_marked_node_can_win_a_tie(void **state)
{
    (void)state;
    static const char *const names[] = {"a", "b", "c"};
    static char              texts[3][4] = {"v00", "v01", "v02"};
    char                    *cells[] = {texts[0], texts[0], texts[0], texts[0], texts[1], texts[0],
                                        texts[1], texts[0], texts[1], texts[1], texts[1], texts[2]};
    kn_ratio                 weights[] = {{2, 1}, {2, 1}, {1, 1}};
    kn_context              *ctx = testing_context(1);
    kn_error                 err = KN_ERROR_INIT;
    kn_model                 k = {.kind = KN_MODEL_K, .k = 2};
    kn_requirements_options  options = {.models = &k, .model_count = 1, .entity = -1};
    world                    w = {.rows = 4, .quasi_count = 3, .quasi = {0, 1, 2}};
    const int                best[] = {0, 1, 1};
    w.table = build_table(ctx, names, 3, cells, 4);
    for (int q = 0; q < 3; q++) {
        w.trees[q] = (tree){.leaves = q < 2 ? 2 : 3, .height = 1, .depth = {1, 1, 1}};
        w.hierarchies[q] = parse_tree(ctx, &w.trees[q], w.table, q);
    }
    assert_ok(kn_requirements_make(&w.requirements, ctx, w.table, &options, &err), err);
    assert_ok(kn_requirements_scratch_make(&w.scratch, w.requirements, &err), err);
    assert_ok(kn_objective_make(&w.objective, ctx, w.table, w.quasi, (const kn_hierarchy *const *)w.hierarchies, 3,
                                weights, KN_METRIC_LM, 2, &err),
              err);
    w.problem = (kn_fulldomain_problem){.table = w.table,
                                        .quasi_count = 3,
                                        .quasi = w.quasi,
                                        .hierarchies = (const kn_hierarchy *const *)w.hierarchies,
                                        .requirements = w.requirements,
                                        .objective = w.objective,
                                        .budget = 2};
    for (int m = 1; m < 6; m++) {
        kn_fulldomain_result *r = search(ctx, &w, methods[m]);
        assert_true(r->optimal);
        assert_memory_equal(r->best.levels, best, sizeof best);
        assert_float_equal(kn_objective_value(w.objective, r->best.loss), 0.6, 1e-12);
        assert_true(r->counters.nodes_measured > 0);
        kn_fulldomain_result_free(r);
    }
    world_free(&w);
    testing_context_free(ctx);
}

/* ---- A larger table: other paths of the grouping, waves, time ---- */

typedef struct large_world {
    kn_table             *table;
    kn_hierarchy         *hierarchies[5];
    int                   quasi[5];
    kn_requirements      *requirements;
    kn_objective         *objective;
    kn_fulldomain_problem problem;
} large_world;

static void large_make(large_world *l, kn_context *ctx, int64_t rows, int64_t k, kn_metric metric, uint64_t seed)
{
    static const char *const names[5] = {"a", "b", "c", "d", "e"};
    kn_error                 err = KN_ERROR_INIT;
    kn_builder              *b = NULL;
    kn_string                texts[5];
    kn_builder_type          types[5];
    kn_rng                   rng;
    int64_t                  first = 0;
    uint32_t                *ids = malloc((size_t)rows * 5 * sizeof *ids);
    assert_non_null(ids);
    *l = (large_world){0};
    kn_rng_init(&rng, seed, 0);
    for (int c = 0; c < 5; c++) {
        texts[c] = kn_string_of(names[c]);
        types[c] = (kn_builder_type){KN_TYPE_INTEGER, NULL};
    }
    assert_ok(kn_builder_create(&b, ctx, texts, 5, 1, &err), err);
    for (int c = 0; c < 5; c++)
        for (int64_t r = 0; r < rows; r++) {
            char text[16];
            snprintf(text, sizeof text, "%d", pick(&rng, 1 + pick(&rng, 16 + 16 * c)));
            ids[c * rows + r] = kn_intern(kn_builder_interner(b, c, 0), kn_string_of(text));
        }
    assert_ok(kn_builder_extend(b, rows, 0, &first, &err), err);
    for (int c = 0; c < 5; c++) kn_builder_write(b, c, first, ids + c * rows, rows);
    free(ids);
    kn_value_rules rules = {'.', NULL};
    assert_ok(kn_builder_finish(&l->table, b, types, &rules, &err), err);
    static const char *const widths[] = {"2", "8", "32"};
    for (int c = 0; c < 5; c++) {
        kn_hierarchy_spec spec = KN_HIERARCHY_SPEC_INIT;
        spec.kind = KN_HIERARCHY_RANGES;
        spec.widths = widths;
        spec.width_count = 1 + c % 3;
        l->quasi[c] = c;
        assert_ok(kn_hierarchy_build(&l->hierarchies[c], ctx, &l->table->columns[c], &spec, &err), err);
    }
    kn_model                model = {.kind = KN_MODEL_K, .k = k};
    kn_requirements_options options = {.models = &model, .model_count = 1, .entity = -1};
    assert_ok(kn_requirements_make(&l->requirements, ctx, l->table, &options, &err), err);
    assert_ok(kn_objective_make(&l->objective, ctx, l->table, l->quasi, (const kn_hierarchy *const *)l->hierarchies, 5,
                                NULL, metric, k, &err),
              err);
    l->problem = (kn_fulldomain_problem){.table = l->table,
                                         .quasi_count = 5,
                                         .quasi = l->quasi,
                                         .hierarchies = (const kn_hierarchy *const *)l->hierarchies,
                                         .requirements = l->requirements,
                                         .objective = l->objective};
}

static void large_free(large_world *l)
{
    kn_objective_free(l->objective);
    kn_requirements_free(l->requirements);
    for (int c = 0; c < 5; c++) kn_hierarchy_free(l->hierarchies[c]);
    kn_table_free(l->table);
}

static void large_tables_on_any_number_of_threads(void **state)
{
    (void)state;
    kn_context *contexts[3] = {testing_context(1), testing_context(2), testing_context(8)};
    kn_error    err = KN_ERROR_INIT;
    uint64_t    seed = testing_seed();
    for (int round = 0; round < (testing_full() || !TESTING_SANITIZED ? 2 : 1); round++) {
        large_world           l;
        kn_fulldomain_result *first = NULL;
        large_make(&l, contexts[0], TESTING_THREAD_SANITIZER ? 20000 : 70000, 20, round ? KN_METRIC_DM : KN_METRIC_NCP,
                   seed + (uint64_t)round);
        l.problem.budget = 2000;
        l.problem.all_solutions = true;
        for (int m = 2; m < 6; m++) {
            kn_fulldomain_result *by[3];
            if (round == 1 && methods[m] == KN_METHOD_INCOGNITO) continue; /* the slowest */
            l.problem.method = methods[m];
            /* Under a sanitizer, which makes this slow, on one thread and on eight. */
            for (int i = 0; i < 3; i += TESTING_SANITIZED ? 2 : 1) {
                assert_ok(kn_fulldomain_search(&by[i], contexts[i], &l.problem, &err), err);
                if (i == 0) continue;
                same_result(by[0], by[i]);
                kn_fulldomain_result_free(by[i]);
            }
            assert_true(by[0]->optimal);
            if (first) {
                assert_int_equal(by[0]->good, first->good);
                assert_int_equal(by[0]->solution_count, first->solution_count);
                assert_memory_equal(by[0]->best.levels, first->best.levels, 5 * sizeof(int));
                assert_int_equal(kn_quotient_compare(by[0]->best.loss, first->best.loss), 0);
                kn_fulldomain_result_free(by[0]);
            } else {
                first = by[0];
            }
        }
        kn_fulldomain_result_free(first);
        large_free(&l);
    }
    for (int i = 0; i < 3; i++) testing_context_free(contexts[i]);
}

/* Of the process, whatever else the machine does. */
static double seconds_worked(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* ---- Time and cancellation ---- */

static void a_time_limit_gives_the_best_so_far(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(2);
    kn_error    err = KN_ERROR_INIT;
    large_world l;
    large_make(&l, ctx, 6000, 20, KN_METRIC_LM, 7);
    for (int m = 0; m < METHODS; m++) {
        kn_fulldomain_result *r = NULL;
        double                begin = seconds_worked();
        l.problem.method = methods[m];
        l.problem.time_limit = 1e-9;
        assert_ok(kn_fulldomain_search(&r, ctx, &l.problem, &err), err);
        assert_false(r->complete || r->optimal || r->found);
        assert_int_equal(r->good, -1);
        assert_true(seconds_worked() - begin < 5);
        kn_fulldomain_result_free(r);
        /* In between: whatever it has must be good. */
        l.problem.time_limit = 0.01;
        assert_ok(kn_fulldomain_search(&r, ctx, &l.problem, &err), err);
        if (r->found) assert_true(r->best.suppressed <= l.problem.budget);
        if (!r->complete) assert_false(r->optimal);
        kn_fulldomain_result_free(r);
        l.problem.time_limit = 1e6;
        assert_ok(kn_fulldomain_search(&r, ctx, &l.problem, &err), err);
        assert_true(r->complete && r->found);
        kn_fulldomain_result_free(r);
    }
    large_free(&l);
    testing_context_free(ctx);
}

static void cancel_it(void *user, const kn_progress *progress)
{
    kn_context **ctx = user;
    if (strcmp(progress->stage, "searching") == 0 && !progress->finished) kn_context_cancel(*ctx);
}

static void searches_can_be_cancelled(void **state)
{
    (void)state;
    kn_context_options options = KN_CONTEXT_OPTIONS_INIT;
    kn_context        *ctx = NULL;
    kn_error           err = KN_ERROR_INIT;
    large_world        l;
    options.threads = 2;
    options.progress = cancel_it;
    options.progress_user = &ctx;
    assert_ok(kn_context_create(&ctx, &options, &err), err);
    large_make(&l, ctx, 100000, 100000, KN_METRIC_LM, 8); /* only the top is good: a long way */
    for (int m = 0; m < METHODS; m++) {
        kn_fulldomain_result *r = NULL;
        l.problem.method = methods[m];
        kn_context_cancel(ctx);
        assert_int_equal(kn_fulldomain_search(&r, ctx, &l.problem, &err), KN_CANCELLED);
        assert_null(r);
        kn_context_reset_cancel(ctx);
        if (methods[m] != KN_METHOD_BOTTOM_UP) continue;
        /* Long enough for the callback to be called; it cancels. */
        assert_int_equal(kn_fulldomain_search(&r, ctx, &l.problem, &err), KN_CANCELLED);
        assert_null(r);
        kn_context_reset_cancel(ctx);
    }
    large_free(&l);
    testing_context_free(ctx);
}

/* ---- Memory ---- */

static void every_allocation_may_fail(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(1);
    kn_rng      rng;
    kn_rng_init(&rng, testing_seed(), 3);
    for (int round = 0, tried = 0; tried < METHODS; round++) {
        world w;
        if (!world_make(&w, ctx, &rng, round)) continue;
        if (w.quasi_count > 2) {
            world_free(&w);
            continue;
        }
        w.problem.method = methods[tried++];
        w.problem.trace = w.problem.all_solutions = true;
        for (int64_t refuse = 0;; refuse += testing_step()) {
            testing_allocator     memory = {.refuse_at = -1};
            kn_context           *poor = NULL;
            kn_error              err = KN_ERROR_INIT;
            kn_fulldomain_result *r = NULL;
            assert_ok(testing_refusing_context(&poor, &memory, 1, &err), err);
            memory.refuse_at = memory.requests + refuse;
            kn_status st = kn_fulldomain_search(&r, poor, &w.problem, &err);
            kn_fulldomain_result_free(r);
            kn_context_free(poor);
            assert_int_equal(memory.live, 0);
            if (st == KN_OK) break;
            assert_int_equal(st, KN_MEMORY);
            assert_null(r);
        }
        world_free(&w);
    }
    testing_context_free(ctx);
}

/* ---- What cannot be enumerated ---- */

static void large_lattices_are_refused(void **state)
{
    (void)state;
    kn_context         *ctx = testing_context(1);
    kn_error            err = KN_ERROR_INIT;
    large_world         l;
    int                 quasi[65];
    const kn_hierarchy *hierarchies[65];
    large_make(&l, ctx, 50, 2, KN_METRIC_DM, 9);
    for (int q = 0; q < 65; q++) {
        quasi[q] = 2;
        hierarchies[q] = l.hierarchies[2];
    }
    l.problem.quasi = quasi;
    l.problem.hierarchies = hierarchies;
    for (int m = 0; m < METHODS; m++) {
        kn_fulldomain_result *r = NULL;
        l.problem.method = methods[m];
        if (methods[m] == KN_METHOD_SAMARATI) { /* 5^12 nodes by boxes */
            l.problem.quasi_count = 12;
            assert_ok(kn_fulldomain_search(&r, ctx, &l.problem, &err), err);
            assert_true(r->found && r->complete);
            kn_fulldomain_result_free(r);
            continue;
        }
        l.problem.quasi_count = 65;
        assert_int_equal(kn_fulldomain_search(&r, ctx, &l.problem, &err), KN_USAGE);
        assert_non_null(strstr(err.message, "heuristic"));
        assert_non_null(strstr(err.message, kn_method_name(methods[m])));
        l.problem.quasi_count = 12; /* 5^12 nodes */
        assert_int_equal(kn_fulldomain_search(&r, ctx, &l.problem, &err), KN_USAGE);
        assert_non_null(strstr(err.message, "heuristic"));
        l.problem.quasi_count = 0;
        assert_int_equal(kn_fulldomain_search(&r, ctx, &l.problem, &err), KN_USAGE);
        assert_null(r);
    }
    large_free(&l);
    testing_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(methods_agree_with_enumeration_and_twins),
        cmocka_unit_test(a_marked_node_can_win_a_tie),
        cmocka_unit_test(large_tables_on_any_number_of_threads),
        cmocka_unit_test(a_time_limit_gives_the_best_so_far),
        cmocka_unit_test(searches_can_be_cancelled),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(large_lattices_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
