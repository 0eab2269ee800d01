/* kn_flat_search.c: GreedyCutSearch over flat records (Gkountouna, Terrovitis 2013, section III-D; docs/errata.md K9 to
 * K12), with the plan of the reference.
 *
 * Interface: kn_flat.h. RPDa of flat records (equations 7 and 8) is the sum of a term per value that occurs, divided by
 * the square of their number; a term depends on the value alone. Of the cuts of a step only those that are followed
 * are ever written down. Where classes weigh differently the terms are those of kn_tree_weights.h. Two cuts of a step are one where each lacks the value that the other's parent has specialized.
 *
 * Costs are compared by sums that were updated; where these are too close to tell, by their residues, and where these
 * differ by the sums as the reference adds them. Cost: for each cut that is followed the values of the cut, and
 * ValueCheck (kn_flat_check.c). Memory: 13 bytes per value of the hierarchies for each cut of two steps.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <float.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_bitset.h"
#include "kn_clock.h"
#include "kn_context.h"
#include "kn_cut.h"
#include "kn_error.h"
#include "kn_flat.h"

#define WHAT "searching the cuts"
#define NONE UINT32_MAX

/* What specializing a value changes. */
typedef struct change {
    double   total;
    uint64_t residue;
    uint64_t depths;
    uint32_t values, shown; /* more of them */
} change;

/* A cut of the step: one of those that are followed, with a value specialized. */
typedef struct option {
    const kn_flat_cut *from;
    uint32_t           value;
    double             cost; /* up to the tolerance */
} option;

typedef struct flat {
    kn_context            *ctx;
    const kn_tree_problem *problem;
    const kn_vocabulary   *v;
    const kn_tree_weights *weights; /* NULL: none */
    kn_tree_result        *result;
    kn_flat_check          check;
    double                *term; /* per value; 0 if it does not occur */
    uint64_t              *term_residue;
    change                *changes; /* per value that is not a leaf */
    uint64_t              *inverse; /* per number of values; 0: not yet known */
    double                 tolerance;
    kn_flat_cut           *cuts[2]; /* g each: those that are followed, and the next */
    int                    count, now;
    option                *best, *own; /* g each: of the step, of one cut; the best first */
    int                    best_count;
    uint32_t              *values; /* of the best of all */
    kn_cut                 found;
    kn_tree_cost           cost;
} flat;

static bool is_leaf(const flat *f, uint32_t value)
{
    return f->v->end[value] == value + 1;
}

/* ---- Costs ---- */

static uint64_t add_residues(uint64_t a, uint64_t b)
{
    return a + b >= KN_COST_PRIME ? a + b - KN_COST_PRIME : a + b;
}

static bool occurs(const flat *f, uint32_t value)
{
    return f->check.support[value] > 0;
}

static void find_terms(flat *f, const kn_cost_domain *domain)
{
    for (uint32_t u = 0; u < f->v->nodes; u++) {
        if (!occurs(f, u)) continue;
        f->term[u] = f->weights ? f->weights->term[u] : (double)f->check.support[u] / (double)domain[u].size;
        f->term_residue[u] =
            f->weights ? f->weights->residue[u] : kn_cost_times((uint64_t)f->check.support[u], domain[u].inverse);
    }
    for (uint32_t u = 0; u < f->v->nodes; u++) {
        change *c = &f->changes[u];
        *c = (change){0 - f->term[u], KN_COST_PRIME - f->term_residue[u], 0 - (uint64_t)f->v->depth[u], NONE,
                      0 - (uint32_t)occurs(f, u)};
        for (uint32_t child = u + 1; child < f->v->end[u]; child = f->v->end[child]) {
            c->total += f->term[child];
            c->residue = add_residues(c->residue % KN_COST_PRIME, f->term_residue[child]);
            c->depths += f->v->depth[child];
            c->values++;
            c->shown += occurs(f, child);
        }
    }
}

static uint64_t residue_of(flat *f, uint64_t sum, uint32_t shown)
{
    if (f->weights) return kn_cost_times(sum, f->weights->inverse);
    if (shown > 0 && f->inverse[shown] == 0) f->inverse[shown] = kn_cost_inverse(shown);
    return shown > 0 ? kn_cost_times(sum, kn_cost_times(f->inverse[shown], f->inverse[shown])) : 0;
}

static double quotient(const flat *f, double total, uint32_t shown)
{
    if (f->weights) return f->weights->total > 0 ? total / f->weights->total : 0;
    return shown > 0 ? total / ((double)shown * (double)shown) : 0;
}

/* ---- Cuts of a step ---- */

/* The values of an option, one after the other. */
typedef struct cursor {
    const kn_flat_cut *from;
    uint32_t           at, specialized, child;
} cursor;

static cursor values_of(const option *o)
{
    return (cursor){o->from, 0, o->value, NONE};
}

/* NONE: there are no more. */
static uint32_t next_value(const flat *f, cursor *c)
{
    if (c->child != NONE) {
        uint32_t value = c->child;
        c->child = f->v->end[value] < f->v->end[c->specialized] ? f->v->end[value] : NONE;
        return value;
    }
    if (c->at == c->from->size) return NONE;
    uint32_t value = c->from->values[c->at++];
    if (value != c->specialized) return value;
    c->child = value + 1;
    return next_value(f, c);
}

static kn_tree_cost exact(flat *f, const option *o)
{
    const change *more = &f->changes[o->value];
    cursor        c = values_of(o);
    double        total = 0;
    uint32_t      shown = o->from->shown + more->shown;
    for (uint32_t value; (value = next_value(f, &c)) != NONE;) total += f->term[value];
    uint64_t sum = add_residues(o->from->residue, more->residue);
    return (kn_tree_cost){quotient(f, total, shown), residue_of(f, sum, shown), 0};
}

static int compare_costs(flat *f, const option *a, const option *b)
{
    double difference = a->cost - b->cost;
    if (fabs(difference) > f->tolerance * (a->cost + b->cost)) return difference < 0 ? -1 : 1;
    const change *x = &f->changes[a->value], *y = &f->changes[b->value];
    uint64_t      one = residue_of(f, add_residues(a->from->residue, x->residue), a->from->shown + x->shown);
    uint64_t      other = residue_of(f, add_residues(b->from->residue, y->residue), b->from->shown + y->shown);
    return one == other ? 0 : kn_tree_cost_compare(exact(f, a), exact(f, b));
}

/* As kn_cut_compare has it. */
static int compare_cuts(const flat *f, const option *a, const option *b)
{
    const change *x = &f->changes[a->value], *y = &f->changes[b->value];
    uint32_t      size = a->from->size + x->values, other_size = b->from->size + y->values;
    uint64_t      deep = a->from->depths + x->depths, other_deep = b->from->depths + y->depths;
    if (size != other_size) return size > other_size ? -1 : 1;
    if (deep != other_deep) return deep > other_deep ? -1 : 1;
    if (a->from == b->from) return a->value > b->value ? -1 : a->value < b->value; /* a child comes after its parent */
    cursor   one = values_of(a), other = values_of(b);
    uint32_t value, other_value;
    do {
        value = next_value(f, &one);
        other_value = next_value(f, &other);
    } while (value == other_value && value != NONE);
    return value < other_value ? -1 : value > other_value;
}

/* Among the g best, in order. */
static void take(flat *f, option *list, int *count, option o)
{
    int at = *count, most = f->problem->g;
    while (at > 0) {
        int order = compare_costs(f, &o, &list[at - 1]);
        if ((order ? order : compare_cuts(f, &o, &list[at - 1])) >= 0) break;
        at--;
    }
    if (at >= most) return;
    int behind = (*count < most ? *count : most - 1) - at;
    memmove(list + at + 1, list + at, (size_t)behind * sizeof *list);
    list[at] = o;
    if (*count < most) ++*count;
}

/* The only value that `a` has specialized and `b` has not; NONE: there are several. */
static uint32_t only_difference(const flat *f, const kn_flat_cut *a, const kn_flat_cut *b)
{
    uint32_t found = NONE;
    for (size_t w = 0; w < kn_bitset_words(f->v->nodes); w++) {
        uint64_t bits = a->specialized[w] & ~b->specialized[w];
        if (bits == 0) continue;
        if (found != NONE || (bits & (bits - 1))) return NONE;
        found = (uint32_t)(w * 64 + (size_t)__builtin_ctzll(bits));
    }
    return found;
}

/* All cuts that are one value finer than one that is followed, each once. */
static kn_status look_at_step(flat *f, bool *repeated, kn_error *err)
{
    kn_tree_counters *counters = &f->result->counters;
    f->best_count = 0;
    for (int i = 0; i < f->count; i++) {
        const kn_flat_cut *cut = &f->cuts[f->now][i];
        int                own = 0;
        if (kn_cancelled(f->ctx)) return kn_fail_cancelled(err);
        memset(repeated, 0, f->v->nodes * sizeof *repeated);
        for (int j = 0; j < i; j++) {
            uint32_t value = only_difference(f, &f->cuts[f->now][j], cut);
            if (value != NONE) repeated[value] = true;
        }
        for (uint32_t p = 0; p < cut->size; p++) {
            uint32_t u = cut->values[p];
            if (is_leaf(f, u) || repeated[u]) continue;
            counters->cuts++;
            counters->value_checks++;
            if (cut->fails[u]) continue;
            counters->passed++;
            const change *more = &f->changes[u];
            take(f, f->own, &own, (option){cut, u, quotient(f, cut->total + more->total, cut->shown + more->shown)});
        }
        for (int j = 0; j < own; j++) take(f, f->best, &f->best_count, f->own[j]);
    }
    return KN_OK;
}

/* ---- Cuts that are followed ---- */

static kn_status make_room(flat *f, kn_flat_cut *cut, kn_error *err)
{
    size_t n = f->v->nodes;
    if (cut->values) return KN_OK;
    if (KN_ALLOC(f->ctx, cut->values, n) && KN_ALLOC_ZERO(f->ctx, cut->specialized, kn_bitset_words(n)) &&
        KN_ALLOC_ZERO(f->ctx, cut->fails, n) && KN_ALLOC_ZERO(f->ctx, cut->shows, n) && KN_ALLOC(f->ctx, cut->below, n))
        return KN_OK;
    return kn_fail_memory(err, f->ctx, WHAT);
}

/* For the leaves below a value of the cut: its child above them. */
static void find_below(const flat *f, kn_flat_cut *cut, uint32_t value)
{
    const uint32_t *end = f->v->end;
    for (uint32_t i = value; i < end[value]; i++) cut->shows[i] = cut->below[i] = value;
    for (uint32_t child = value + 1; child < end[value]; child = end[child])
        for (uint32_t i = child; i < end[child]; i++) cut->below[i] = child;
}

static void add_up(const flat *f, kn_flat_cut *cut)
{
    cut->total = 0;
    cut->residue = cut->depths = cut->shown = 0;
    for (uint32_t i = 0; i < cut->size; i++) {
        uint32_t u = cut->values[i];
        cut->total += f->term[u];
        cut->residue = add_residues(cut->residue, f->term_residue[u]);
        cut->depths += f->v->depth[u];
        cut->shown += occurs(f, u);
    }
}

/* Is it the best of all so far? */
static void remember(flat *f, const kn_flat_cut *cut)
{
    kn_tree_cost cost = {quotient(f, cut->total, cut->shown), residue_of(f, cut->residue, cut->shown), 0};
    kn_cuts      all = {.vocabulary = f->v};
    kn_cut       this_one = {.size = cut->size, .values = cut->values};
    int          order = f->result->found ? kn_tree_cost_compare(cost, f->cost) : -1;
    if (order == 0) order = kn_cut_compare(&all, &this_one, &f->found);
    if (order >= 0) return;
    f->result->found = true;
    f->result->cost = cost.value;
    f->cost = cost;
    memcpy(f->values, cut->values, cut->size * sizeof *f->values);
    f->found = (kn_cut){.size = cut->size, .values = f->values};
}

static kn_status begin(flat *f, kn_error *err)
{
    kn_flat_cut *cut = &f->cuts[0][0];
    f->result->counters.cuts = f->result->counters.value_checks = 1;
    if (f->check.support[0] > 0 && f->check.support[0] < f->problem->k) return KN_OK;
    KN_TRY(make_room(f, cut, err));
    cut->size = 1;
    cut->values[0] = 0;
    find_below(f, cut, 0);
    add_up(f, cut);
    remember(f, cut);
    f->result->counters.passed = 1;
    f->count = 1;
    return is_leaf(f, 0) ? KN_OK : kn_flat_check_next(&f->check, cut, NONE, err);
}

static kn_status follow(flat *f, kn_flat_cut *cut, const option *o, kn_error *err)
{
    const kn_flat_cut *from = o->from;
    size_t             n = f->v->nodes;
    cursor             c = values_of(o);
    KN_TRY(make_room(f, cut, err));
    cut->size = 0;
    for (uint32_t value; (value = next_value(f, &c)) != NONE;) cut->values[cut->size++] = value;
    memcpy(cut->specialized, from->specialized, kn_bitset_words(n) * sizeof *cut->specialized);
    memcpy(cut->fails, from->fails, n * sizeof *cut->fails);
    memcpy(cut->shows, from->shows, n * sizeof *cut->shows);
    memcpy(cut->below, from->below, n * sizeof *cut->below);
    kn_bitset_set(cut->specialized, o->value);
    for (uint32_t child = o->value + 1; child < f->v->end[o->value]; child = f->v->end[child])
        find_below(f, cut, child);
    add_up(f, cut);
    remember(f, cut);
    return kn_flat_check_next(&f->check, cut, o->value, err);
}

static kn_status run(flat *f, double deadline, bool *repeated, kn_error *err)
{
    KN_TRY(begin(f, err));
    while (f->count > 0) {
        int64_t before = f->result->counters.cuts;
        if (deadline > 0 && kn_clock_seconds() > deadline) {
            f->result->complete = false;
            break;
        }
        KN_TRY(look_at_step(f, repeated, err));
        kn_progress_add(f->ctx, (uint64_t)(f->result->counters.cuts - before));
        for (int i = 0; i < f->best_count; i++) KN_TRY(follow(f, &f->cuts[!f->now][i], &f->best[i], err));
        f->now = !f->now;
        f->count = f->best_count;
    }
    f->result->counters.intersections = f->check.combinations.counted;
    return KN_OK;
}

/* ---- Beginning and end ---- */

bool kn_flat_fits(const kn_tree_problem *p, const kn_synopsis *s)
{
    if (p->method == KN_METHOD_ACS || kn_tree_asks_diversity(p) || s->absence || !s->value_start) return false;
    for (int c = 0; c < s->vocabulary->class_count; c++)
        if (s->vocabulary->sensitive[c]) return false;
    for (uint32_t i = 0; i < s->nodes; i++)
        if (s->parent[i] != KN_SYNOPSIS_ROOT) return false;
    return true;
}

static kn_status search(flat *f, const kn_synopsis *s, const kn_cost_domain *domain, double deadline, bool **repeated,
                        kn_error *err)
{
    size_t n = f->v->nodes, g = (size_t)f->problem->g;
    KN_TRY(kn_flat_check_make(&f->check, f->problem, s, err));
    f->tolerance = 8 * (double)(n + 8) * DBL_EPSILON;
    if (!KN_ALLOC_ZERO(f->ctx, f->term, n) || !KN_ALLOC_ZERO(f->ctx, f->term_residue, n) ||
        !KN_ALLOC(f->ctx, f->changes, n) || !KN_ALLOC_ZERO(f->ctx, f->inverse, n + 1) ||
        !KN_ALLOC(f->ctx, f->values, n) || !KN_ALLOC_ZERO(f->ctx, f->cuts[0], g) ||
        !KN_ALLOC_ZERO(f->ctx, f->cuts[1], g) || !KN_ALLOC(f->ctx, f->best, g) || !KN_ALLOC(f->ctx, f->own, g) ||
        !KN_ALLOC(f->ctx, *repeated, n))
        return kn_fail_memory(err, f->ctx, WHAT);
    find_terms(f, domain);
    kn_progress_begin(f->ctx, "searching", "cuts", 0);
    kn_status st = run(f, deadline, *repeated, err);
    kn_progress_end(f->ctx);
    return st;
}

kn_status kn_flat_search(kn_tree_result *result, const kn_tree_problem *problem, const kn_synopsis *synopsis,
                         const kn_cost_domain *domain, const kn_tree_weights *weights, double deadline,
                         uint32_t **values, uint32_t *size, kn_error *err)
{
    flat f = {
        .ctx = synopsis->ctx, .problem = problem, .v = synopsis->vocabulary, .weights = weights, .result = result};
    bool     *repeated = NULL;
    kn_status st = search(&f, synopsis, domain, deadline, &repeated, err);
    for (int i = 0; i < 2; i++) {
        for (int j = 0; f.cuts[i] && j < problem->g; j++) {
            kn_flat_cut *cut = &f.cuts[i][j];
            KN_FREE(cut->values, cut->specialized, cut->fails, cut->shows, cut->below);
        }
        kn_free(f.cuts[i]);
    }
    KN_FREE(repeated, f.term, f.term_residue, f.changes, f.inverse, f.best, f.own);
    kn_flat_check_free(&f.check);
    *values = NULL;
    *size = f.found.size;
    if (st == KN_OK && result->found)
        *values = f.values;
    else
        kn_free(f.values);
    return st;
}
