/* kn_asked.c: the best node, or that of samarati or datafly, by questions. Interface: kn_asked.h.
 *
 * "Enough" is upward closed: the rows of small classes become fewer further up. A node that lacks it is raised, column by column, as far
 * as it still does; what is below that highest node is excluded at once. Columns at the top take no part in a class, so the
 * highest node is often a projection: few columns that are too detailed together, whatever the others show.
 *
 * The best node: candidates in ascending order of their bound (kn_objective.h), until it exceeds the best loss; by class sizes, from
 * below, and every answer bounds the nodes above it.
 *
 * Cost: questions; between them O(nodes × attributes). Memory: 2 bits per node.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_asked.h"

#include <string.h>

#include "kn_alloc.h"
#include "kn_bitset.h"
#include "kn_clock.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_fulldomain_methods.h"
#include "kn_search.h"

#define WHAT "searching the lattice"

/* A node that was asked about, and what bounds those above it. */
typedef struct asked {
    int    *levels;
    kn_u128 squares;
    int64_t classes;
} asked;

typedef struct asking {
    kn_search             s; /* without an evaluator */
    const kn_node_oracle *oracle;
    const int            *low; /* of the problem; NULL: 0 */
    int                   count;
    uint64_t             *failed; /* not enough: downward closed   */
    uint64_t             *done;   /* asked about, or of no interest */
    asked                *enough; /* nodes that have it            */
    size_t                enough_count, enough_capacity;
    asked                *bounds;
    size_t                bound_count, bound_capacity;
    int                  *levels, *other, *shown; /* room for a node */
} asking;

static kn_status no_memory(const asking *a, kn_error *err)
{
    return kn_fail_memory(err, a->s.ctx, WHAT);
}

/* ---- What is known ---- */

static kn_status remember(asking *a, asked **list, size_t *count, size_t *capacity, const int *levels,
                          const kn_node_answer *answer, kn_error *err)
{
    size_t bytes = (size_t)a->count * sizeof *levels;
    int   *copy = kn_alloc(a->s.ctx, bytes + 1);
    if (!copy || !KN_GROW(a->s.ctx, list, capacity, *count + 1)) {
        kn_free(copy);
        return no_memory(a, err);
    }
    memcpy(copy, levels, bytes);
    (*list)[(*count)++] = (asked){copy, answer ? answer->squares : 0, answer ? answer->classes : 0};
    return KN_OK;
}

static void forget(asked *list, size_t count)
{
    for (size_t i = 0; i < count; i++) kn_free(list[i].levels);
    kn_free(list);
}

/* Every node at or below it. */
static void exclude_below(asking *a, const int *levels)
{
    int *at = a->shown;
    memset(at, 0, (size_t)a->count * sizeof *at);
    for (int q = 0; q < a->count;) {
        int64_t node = kn_lattice_node(&a->s.lattice, at);
        a->s.result->counters.nodes_marked += !kn_bitset_test(a->failed, (size_t)node);
        kn_bitset_set(a->failed, (size_t)node);
        for (q = 0; q < a->count && at[q] == levels[q]; q++) at[q] = 0;
        if (q < a->count) at[q]++;
    }
}

static bool known_enough(const asking *a, const int *levels)
{
    for (size_t i = 0; i < a->enough_count; i++)
        if (kn_levels_below(a->enough[i].levels, levels, a->count)) return true;
    return false;
}

/* The levels of the problem. */
static const int *real_levels(const asking *a, const int *levels)
{
    if (!a->low) return levels;
    for (int q = 0; q < a->count; q++) a->shown[q] = a->low[q] + levels[q];
    return a->shown;
}

/* ---- Questions ---- */

static kn_status check_time(asking *a, kn_error *err)
{
    kn_progress_add(a->s.ctx, 1);
    if (kn_cancelled(a->s.ctx)) return kn_fail_cancelled(err);
    a->s.late = a->s.late || kn_search_is_late(&a->s);
    return KN_OK;
}

static kn_status ask_enough(asking *a, const int *levels, bool *out, kn_error *err)
{
    *out = known_enough(a, levels);
    if (*out || kn_bitset_test(a->failed, (size_t)kn_lattice_node(&a->s.lattice, levels))) return KN_OK;
    KN_TRY(check_time(a, err));
    a->s.result->counters.projections++;
    KN_TRY(a->oracle->enough(a->oracle->state, real_levels(a, levels), out, err));
    return *out ? remember(a, &a->enough, &a->enough_count, &a->enough_capacity, levels, NULL, err) : KN_OK;
}

/* The highest level of a column at which the node still lacks it. */
static kn_status raise_column(asking *a, int *levels, int q, kn_error *err)
{
    int low = levels[q], high = a->s.lattice.heights[q];
    while (low < high && !a->s.late) {
        int  middle = high == a->s.lattice.heights[q] && low == levels[q] ? high : low + (high - low + 1) / 2;
        int  before = levels[q];
        bool enough = false;
        levels[q] = middle;
        kn_status st = ask_enough(a, levels, &enough, err);
        levels[q] = before;
        if (st != KN_OK) return st;
        if (enough)
            high = middle - 1;
        else
            low = levels[q] = middle;
    }
    return KN_OK;
}

/* Excludes a node that lacks it, and as much else as follows. Columns that show little go first. */
static kn_status exclude(asking *a, const int *levels, kn_error *err)
{
    uint64_t raised = 0;
    memcpy(a->other, levels, (size_t)a->count * sizeof *levels);
    for (int n = 0; n < a->count && !a->s.late; n++) {
        int next = -1;
        for (int q = 0; q < a->count; q++) {
            if (raised >> q & 1) continue;
            if (next < 0 || a->oracle->distinct[q][(a->low ? a->low[q] : 0) + levels[q]] <
                                a->oracle->distinct[next][(a->low ? a->low[next] : 0) + levels[next]])
                next = q;
        }
        raised |= (uint64_t)1 << next;
        KN_TRY(raise_column(a, a->other, next, err));
    }
    exclude_below(a, a->other);
    return KN_OK;
}

/* Nodes above an answer that cannot be better than the best. */
static void rule_out(asking *a, const asked *by)
{
    for (int64_t node = 0; node < a->s.lattice.count; node++) {
        if (kn_bitset_test(a->done, (size_t)node)) continue;
        kn_lattice_levels(&a->s.lattice, node, a->shown);
        if (kn_levels_below(by->levels, a->shown, a->count) &&
            !kn_search_promising(&a->s, a->shown, by->squares, by->classes))
            kn_bitset_set(a->done, (size_t)node);
    }
}

/* Asks about a node, and draws every conclusion. `compete`: it is one for the best. */
static kn_status judge(asking *a, const int *levels, bool compete, kn_node_answer *out, kn_error *err)
{
    int64_t     node = kn_lattice_node(&a->s.lattice, levels);
    kn_solution before = a->s.result->best;
    bool        found = a->s.result->found;
    *out = (kn_node_answer){.enough = false};
    KN_TRY(check_time(a, err));
    KN_TRY(a->oracle->judge(a->oracle->state, real_levels(a, levels), out, err));
    a->s.result->counters.nodes_checked++;
    kn_bitset_set(a->done, (size_t)node);
    if (!out->enough) {
        KN_TRY(exclude(a, levels, err));
    } else {
        if (!known_enough(a, levels))
            KN_TRY(remember(a, &a->enough, &a->enough_count, &a->enough_capacity, levels, NULL, err));
        if (!out->verdict.good && !out->verdict.possible) exclude_below(a, levels);
        if (out->verdict.good && compete) KN_TRY(kn_search_offer(&a->s, levels, &out->verdict, err));
    }
    if (!compete || a->s.problem->objective->cells) return KN_OK;
    KN_TRY(remember(a, &a->bounds, &a->bound_count, &a->bound_capacity, levels, out, err));
    bool better = a->s.result->found && (!found || kn_quotient_compare(before.loss, a->s.result->best.loss) != 0 ||
                                         before.suppressed != a->s.result->best.suppressed);
    for (size_t i = better ? 0 : a->bound_count - 1; a->s.result->found && i < a->bound_count; i++)
        rule_out(a, &a->bounds[i]);
    return KN_OK;
}

/* ---- The best node ---- */

static int sum_of(const asking *a, const int *levels)
{
    int sum = 0;
    for (int q = 0; q < a->count; q++) sum += levels[q];
    return sum;
}

/* The open node with the least bound, of equal ones the lowest; -1: none is left that can be better. */
static int64_t next_node(asking *a, int *levels)
{
    int64_t best = -1;
    kn_u128 least = 0;
    int     height = 0;
    for (int64_t node = 0; node < a->s.lattice.count; node++) {
        if (kn_bitset_test(a->failed, (size_t)node) || kn_bitset_test(a->done, (size_t)node)) continue;
        kn_lattice_levels(&a->s.lattice, node, levels);
        kn_u128 cost = a->s.problem->objective->cells ? kn_objective_cells_of_node(a->s.problem->objective, levels) : 0;
        int     sum = sum_of(a, levels);
        if (best >= 0 && (cost > least || (cost == least && sum >= height))) continue;
        best = node;
        least = cost;
        height = sum;
    }
    if (best < 0) return -1;
    kn_lattice_levels(&a->s.lattice, best, levels);
    if (!a->s.problem->objective->cells) return best;
    return kn_search_promising(&a->s, levels, 0, 0) ? best : -1;
}

static kn_status find_best(asking *a, kn_error *err)
{
    kn_node_answer answer;
    memcpy(a->levels, a->s.lattice.heights, (size_t)a->count * sizeof *a->levels);
    KN_TRY(judge(a, a->levels, true, &answer, err));
    while (!a->s.late && next_node(a, a->levels) >= 0) KN_TRY(judge(a, a->levels, true, &answer, err));
    a->s.result->optimal = !a->s.late && a->s.result->found;
    return KN_OK;
}

/* ---- Samarati, Datafly ---- */

static kn_status take(asking *a, const int *levels, const kn_node_answer *answer, kn_error *err)
{
    KN_TRY(kn_search_offer(&a->s, levels, &answer->verdict, err));
    return kn_search_solution(&a->s, levels, &answer->verdict, err);
}

/* The lowest height that has a good node, and its first one. */
static kn_status find_lowest(asking *a, kn_error *err)
{
    kn_node_answer answer;
    for (int height = 0; height <= a->s.lattice.height; height++)
        for (bool more = kn_lattice_first(&a->s.lattice, height, a->levels); more;
             more = kn_lattice_next(&a->s.lattice, a->levels)) {
            if (kn_bitset_test(a->failed, (size_t)kn_lattice_node(&a->s.lattice, a->levels))) continue;
            KN_TRY(judge(a, a->levels, false, &answer, err));
            if (a->s.late) return KN_OK;
            if (answer.verdict.good) return take(a, a->levels, &answer, err);
        }
    return KN_OK;
}

static kn_status climb(asking *a, kn_error *err)
{
    kn_node_answer answer;
    for (;;) {
        bool failed = kn_bitset_test(a->failed, (size_t)kn_lattice_node(&a->s.lattice, a->levels));
        answer = (kn_node_answer){.enough = false};
        if (!failed) KN_TRY(judge(a, a->levels, false, &answer, err));
        if (answer.verdict.good) return take(a, a->levels, &answer, err);
        int next = -1;
        for (int q = 0; q < a->count; q++) {
            int at = (a->low ? a->low[q] : 0) + a->levels[q];
            if (a->levels[q] == a->s.lattice.heights[q]) continue;
            if (next < 0 ||
                a->oracle->distinct[q][at] > a->oracle->distinct[next][(a->low ? a->low[next] : 0) + a->levels[next]])
                next = q;
        }
        if (next < 0 || a->s.late) return KN_OK;
        a->levels[next]++;
    }
}

/* ---- All of it ---- */

bool kn_method_asks(kn_method method)
{
    return kn_method_family(method) == KN_FAMILY_FULL_DOMAIN && method != KN_METHOD_HEURISTIC;
}

static kn_status open(asking *a, kn_error *err)
{
    kn_search *s = &a->s;
    int       *heights = kn_alloc_array_zero(s->ctx, (size_t)a->count + 1, sizeof *heights);
    if (!heights) return no_memory(a, err);
    for (int q = 0; q < a->count; q++) heights[q] = kn_hierarchy_levels(s->problem->hierarchies[q]) - 1;
    kn_status st = kn_lattice_make(&s->lattice, s->ctx, heights, a->count, err);
    kn_free(heights);
    if (st != KN_OK) return st;
    if (a->count > 64 || s->lattice.count < 0)
        return kn_fail(err, KN_USAGE, "%s cannot search a lattice of %.3g nodes (at most %d) where the table is",
                       kn_method_name(s->problem->method), s->lattice.nodes, KN_LATTICE_MAX);
    size_t words = kn_bitset_words((size_t)s->lattice.count);
    a->failed = kn_alloc_array_zero(s->ctx, words, sizeof *a->failed);
    a->done = kn_alloc_array_zero(s->ctx, words, sizeof *a->done);
    a->levels = kn_alloc_array_zero(s->ctx, 3 * ((size_t)a->count + 1), sizeof *a->levels);
    if (!a->failed || !a->done || !a->levels) return no_memory(a, err);
    a->other = a->levels + a->count + 1;
    a->shown = a->other + a->count + 1;
    s->result->counters.lattice = s->lattice.nodes;
    if (s->problem->time_limit > 0) s->deadline = kn_clock_seconds() + s->problem->time_limit;
    return KN_OK;
}

static kn_status find(asking *a, kn_error *err)
{
    switch (a->s.problem->method) {
    case KN_METHOD_SAMARATI: return find_lowest(a, err);
    case KN_METHOD_DATAFLY: return climb(a, err);
    default: return find_best(a, err);
    }
}

static kn_status search(kn_fulldomain_result *r, kn_context *ctx, const kn_fulldomain_problem *p, const int *low,
                        const kn_node_oracle *oracle, kn_error *err)
{
    const kn_requirements none = {0}; /* the oracle has them */
    kn_fulldomain_problem own = *p;
    own.requirements = &none;
    asking a = {.s = {.ctx = ctx, .problem = &own, .result = r}, .oracle = oracle, .low = low, .count = p->quasi_count};
    kn_status st = open(&a, err);
    if (st == KN_OK) {
        kn_progress_begin(ctx, "searching", "questions", 0);
        st = find(&a, err);
        kn_progress_end(ctx);
        r->complete = !a.s.late;
    }
    forget(a.enough, a.enough_count);
    forget(a.bounds, a.bound_count);
    KN_FREE(a.failed, a.done, a.levels);
    kn_lattice_free(&a.s.lattice);
    return st;
}

static kn_status search_bounded(kn_fulldomain_result *r, kn_context *ctx, const kn_fulldomain_problem *p,
                                const kn_node_oracle *oracle, kn_error *err)
{
    kn_bounded b;
    KN_TRY(kn_bounded_make(&b, ctx, p, err));
    kn_status st = search(r, ctx, &b.problem, p->low, oracle, err);
    if (st == KN_OK) kn_bounded_translate(r, p->low);
    kn_bounded_free(&b);
    return st;
}

kn_status kn_fulldomain_ask(kn_fulldomain_result **out, kn_context *ctx, const kn_fulldomain_problem *problem,
                            const kn_node_oracle *oracle, kn_error *err)
{
    *out = NULL;
    if (!kn_method_asks(problem->method))
        return kn_fail(err, KN_USAGE, "method %s does not search by questions", kn_method_name(problem->method));
    kn_fulldomain_result *r = kn_alloc_zero(ctx, sizeof *r);
    if (!r) return kn_fail_memory(err, ctx, WHAT);
    r->ctx = ctx;
    r->quasi_count = problem->quasi_count;
    r->good = -1;
    kn_status st =
        problem->low ? search_bounded(r, ctx, problem, oracle, err) : search(r, ctx, problem, NULL, oracle, err);
    if (st != KN_OK) {
        kn_fulldomain_result_free(r);
        return st;
    }
    *out = r;
    return KN_OK;
}
