/* kn_tree_search.c: AllCutSearch, GreedyCutSearch and OnlyCutSearch (Gkountouna, Terrovitis 2013, Algorithm 4 and
 * section III-D, with the readings of docs/errata.md K9 to K12).
 *
 * Interface: kn_tree.h. From {*} step by step to cuts with one more value specialized. The cuts of a step are
 * evaluated in parallel; their results are used in order, so that the plan does not depend on the number of threads.
 *
 * Flat records have a search of their own (kn_flat.h). If possible (kn_cut_state_fits), GCS and OCS keep the state of the cuts they follow and evaluate only what a
 * specialization changes; else each cut is evaluated separately.
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_clock.h"
#include "kn_context.h"
#include "kn_cut_state.h"
#include "kn_error.h"
#include "kn_flat.h"
#include "kn_parallel.h"
#include "kn_tree_reference.h"
#include "kn_tree_work.h"

enum { AT_ONCE = 256 };

/* Values that fewer than k records have together: a cut that is as fine there fails ValueCheck too. */
typedef struct rare_values {
    uint32_t *values;
    int       count;
} rare_values;

/* The state of a cut that may be followed. */
typedef struct kept_state {
    kn_cut_state *state;
    kn_tree_cost  cost;
    uint32_t      cut;
} kept_state;

typedef struct search {
    kn_context            *ctx;
    const kn_tree_problem *problem;
    const kn_vocabulary   *vocabulary;
    kn_synopsis           *synopsis;
    kn_cuts                cuts;
    kn_cost_domain        *domain;  /* |C(u)| per value */
    kn_tree_weights       *weights; /* NULL: none       */
    kn_combinations       *scratch; /* per worker */
    int                    workers;
    double                 deadline; /* 0: none */
    size_t                 first;    /* the current cuts */
    kn_outcome             outcomes[AT_ONCE];
    /* Cuts by what they change. */
    bool            fast;
    kn_candidate  **candidates; /* per worker */
    kept_state     *kept;       /* the g best of the step so far, in no order     */
    pthread_mutex_t keeping;    /* ... for who adds one                           */
    uint32_t       *room;       /* per worker, for a cut                          */
    kn_cut_state  **states;     /* of the cuts that are followed ... */
    uint32_t       *state_cut;  /* ... and which these are */
    size_t          state_count;
    rare_values    *rare;
    size_t          rare_count, rare_capacity;
    /* The best few of the step. */
    uint32_t     *followed;
    kn_tree_cost *costs;
    size_t        followed_count, followed_capacity, costs_capacity;
    /* The best of all. */
    uint32_t           best;
    kn_tree_cost       best_cost;
    kn_disassociation *best_list;
    size_t             best_count;
    kn_tree_result    *result;
} search;

/* ---- One cut ---- */

/* Replaces RPDa by what the cut costs where classes weigh differently. */
static void weigh(const search *s, const kn_cut *cut, kn_outcome *out)
{
    if (s->weights && out->followed) out->cost = kn_tree_weigh(s->weights, cut->values, cut->size, out->cost.relations);
}

static kn_status look_into(search *s, const bool *known, kn_projection *projection, kn_structure *structure,
                           kn_combinations *scratch, kn_outcome *out, kn_error *err)
{
    bool    ok = false;
    int64_t before = scratch->counted;
    out->counters.value_checks++;
    KN_TRY(kn_value_check(projection, scratch, s->problem, &ok, err));
    out->passed = ok;
    out->counters.intersections += scratch->counted - before;
    if (!ok) return KN_OK;
    out->counters.passed++;
    if (s->problem->how == KN_DISASSOCIATE_ANCESTOR) KN_TRY(kn_projection_split(projection, err));
    KN_TRY(kn_structure_make(structure, s->problem, s->synopsis, projection, known, err));
    KN_TRY(kn_fix_structure(structure, scratch, &out->followed, &out->counters, err));
    if (!out->followed) return KN_OK;
    KN_TRY(kn_rpda(&out->cost, structure, s->domain, err));
    out->solution = true;
    if (kn_tree_asks_diversity(s->problem)) KN_TRY(kn_diversity_check(structure, scratch, &out->solution, err));
    out->disassociations = structure->disassociations;
    out->count = structure->count;
    structure->disassociations = NULL;
    return KN_OK;
}

static kn_status look_at(search *s, const kn_cut *cut, kn_combinations *scratch, kn_outcome *out, kn_error *err)
{
    bool *known = kn_alloc_array(s->ctx, cut->size, sizeof *known);
    if (!known) return kn_fail_memory(err, s->ctx, "looking at a cut");
    for (uint32_t i = 0; i < cut->size; i++) {
        uint16_t cls = s->vocabulary->cls[cut->values[i]];
        known[i] = cls == KN_VOCABULARY_NO_CLASS || !s->vocabulary->sensitive[cls];
    }
    kn_projection *projection = NULL;
    kn_structure   structure = {0};
    out->counters.cuts++;
    kn_status st = kn_projection_make(&projection, s->synopsis, cut->values, cut->size, known, err);
    if (st == KN_OK) st = look_into(s, known, projection, &structure, scratch, out, err);
    if (st == KN_OK) weigh(s, cut, out);
    kn_structure_free(&structure);
    kn_projection_free(projection);
    kn_free(known);
    return st;
}

/* Is it coarser than a value that is rare with others? */
static bool coarser(const search *s, const kn_cut *cut, uint32_t value)
{
    uint32_t low = 0, high = cut->size; /* the last value that is not after it  */
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (cut->values[middle] <= value)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 && cut->values[low - 1] != value && kn_vocabulary_covers(s->vocabulary, cut->values[low - 1], value);
}

static bool known_to_fail(const search *s, const kn_cut *cut)
{
    for (size_t i = 0; i < s->rare_count; i++) {
        bool fails = true;
        for (int j = 0; j < s->rare[i].count && fails; j++) fails = !coarser(s, cut, s->rare[i].values[j]);
        if (fails) return true;
    }
    return false;
}

static const kn_cut_state *state_of(const search *s, uint32_t cut)
{
    for (size_t i = 0; i < s->state_count; i++)
        if (s->state_cut[i] == cut) return s->states[i];
    return NULL;
}

static bool before(const search *s, kn_tree_cost cost, uint32_t cut, kn_tree_cost other_cost, uint32_t other)
{
    int order = kn_tree_cost_compare(cost, other_cost);
    return (order ? order : kn_cut_compare(&s->cuts, &s->cuts.cuts[cut], &s->cuts.cuts[other])) < 0;
}

/* Takes the place of the worst, or of none. Returns what is not kept. */
static kn_cut_state *exchange(search *s, kept_state new_one)
{
    kept_state *worst = s->kept;
    for (int i = 0; i < s->problem->g; i++) {
        if (!s->kept[i].state) {
            s->kept[i] = new_one;
            return NULL;
        }
        if (before(s, worst->cost, worst->cut, s->kept[i].cost, s->kept[i].cut)) worst = &s->kept[i];
    }
    if (!before(s, new_one.cost, new_one.cut, worst->cost, worst->cut)) return new_one.state;
    kn_cut_state *old = worst->state;
    *worst = new_one;
    return old;
}

/* The g best states so far are kept: those that will be followed are among them, in whatever order they come. */
static void keep_state(search *s, kept_state new_one)
{
    pthread_mutex_lock(&s->keeping);
    kn_cut_state *rest = exchange(s, new_one);
    pthread_mutex_unlock(&s->keeping);
    kn_cut_state_free(rest);
}

/* C + v + u: did C + u pass? Then only combinations with a child of u and a child of v remain: v. */
static uint32_t passed_since(const search *s, const kn_cut *cut, uint32_t *room)
{
    if (cut->from == UINT32_MAX || s->cuts.cuts[cut->from].from == UINT32_MAX) return UINT32_MAX;
    const kn_cut *parent = &s->cuts.cuts[cut->from];
    uint32_t      other = kn_cuts_find(&s->cuts, parent->from, cut->specialized, room);
    return other != UINT32_MAX && s->cuts.cuts[other].passed ? parent->specialized : UINT32_MAX;
}

static kn_status look_by_change(search *s, uint32_t number, int worker, kn_outcome *out, kn_error *err)
{
    const kn_cut *cut = &s->cuts.cuts[number];
    kn_cut_state *state;
    uint32_t      since = passed_since(s, cut, s->room + (size_t)worker * s->vocabulary->nodes);
    out->counters.cuts++;
    if (known_to_fail(s, cut)) {
        out->counters.value_checks++;
        return KN_OK;
    }
    KN_TRY(kn_candidate_look(s->candidates[worker], state_of(s, cut->from), cut->specialized, since, out, &state, err));
    weigh(s, cut, out);
    if (state) keep_state(s, (kept_state){state, out->cost, number});
    return KN_OK;
}

static kn_status look_at_range(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    search *s = arg;
    for (int64_t i = begin; i < end; i++) {
        kn_outcome *out = &s->outcomes[i];
        *out = (kn_outcome){0};
        if (s->deadline > 0 && s->result->found && kn_clock_seconds() > s->deadline) {
            out->late = true;
            continue;
        }
        uint32_t cut = (uint32_t)s->first + (uint32_t)i;
        if (s->fast)
            KN_TRY(look_by_change(s, cut, worker, out, err));
        else
            KN_TRY(look_at(s, &s->cuts.cuts[cut], &s->scratch[worker], out, err));
        kn_progress_add(s->ctx, 1);
    }
    return KN_OK;
}

/* ---- Steps ---- */

/* Among those that are followed: all (ACS), or the g best, in order. */
static kn_status follow(search *s, uint32_t cut, kn_tree_cost cost, kn_error *err)
{
    bool   all = s->problem->method == KN_METHOD_ACS;
    size_t at = s->followed_count, most = all ? SIZE_MAX : (size_t)s->problem->g;
    while (!all && at > 0 && before(s, cost, cut, s->costs[at - 1], s->followed[at - 1])) at--;
    if (at >= most) return KN_OK;
    if (!KN_GROW(s->ctx, &s->followed, &s->followed_capacity, s->followed_count + 1) ||
        !KN_GROW(s->ctx, &s->costs, &s->costs_capacity, s->followed_count + 1))
        return kn_fail_memory(err, s->ctx, "searching the cuts");
    size_t behind = s->followed_count - at;
    if (s->followed_count == most) behind--;
    memmove(s->followed + at + 1, s->followed + at, behind * sizeof *s->followed);
    memmove(s->costs + at + 1, s->costs + at, behind * sizeof *s->costs);
    s->followed[at] = cut;
    s->costs[at] = cost;
    if (s->followed_count < most) s->followed_count++;
    return KN_OK;
}

static kn_status remember_rare(search *s, kn_outcome *o, kn_error *err)
{
    if (!KN_GROW(s->ctx, &s->rare, &s->rare_capacity, s->rare_count + 1))
        return kn_fail_memory(err, s->ctx, "searching the cuts");
    s->rare[s->rare_count++] = (rare_values){o->rare, o->rare_count};
    o->rare = NULL;
    return KN_OK;
}

static kn_status take(search *s, uint32_t cut, kn_outcome *o, kn_error *err)
{
    kn_tree_result *r = s->result;
    kn_tree_count(&r->counters, &o->counters);
    if (o->late) r->complete = false;
    s->cuts.cuts[cut].passed = o->passed;
    if (o->rare) KN_TRY(remember_rare(s, o, err));
    if (!o->followed) return KN_OK;
    KN_TRY(follow(s, cut, o->cost, err));
    if (!o->solution || (r->found && !before(s, o->cost, cut, s->best_cost, s->best))) return KN_OK;
    r->found = true;
    r->cost = o->cost.value;
    s->best_cost = o->cost;
    s->best = cut;
    kn_free(s->best_list);
    s->best_list = o->disassociations;
    s->best_count = o->count;
    o->disassociations = NULL;
    return KN_OK;
}

/* Evaluates the cuts from `from` to the last. */
static kn_status step(search *s, size_t from, kn_error *err)
{
    size_t to = s->cuts.count;
    s->followed_count = 0;
    for (s->first = from; s->first < to; s->first += AT_ONCE) {
        size_t n = to - s->first < AT_ONCE ? to - s->first : AT_ONCE;
        for (size_t i = 0; i < n; i++) s->outcomes[i] = (kn_outcome){0};
        kn_status st = kn_parallel_for(s->ctx, (int64_t)n, 1, look_at_range, s, err);
        for (size_t i = 0; i < n; i++) {
            if (st == KN_OK) st = take(s, (uint32_t)(s->first + i), &s->outcomes[i], err);
            KN_FREE(s->outcomes[i].disassociations, s->outcomes[i].rare);
        }
        if (st != KN_OK) return st;
    }
    return KN_OK;
}

static void free_states(kn_cut_state **states, size_t count)
{
    for (size_t i = 0; states && i < count; i++) kn_cut_state_free(states[i]);
    kn_free(states);
}

static void free_kept(search *s)
{
    for (size_t i = 0; s->kept && i < (size_t)s->problem->g; i++) {
        kn_cut_state_free(s->kept[i].state);
        s->kept[i].state = NULL;
    }
}

typedef struct settling {
    search        *s;
    kn_cut_state **states;
} settling;

static kn_status settle_range(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    settling *x = arg;
    size_t    n = x->s->followed_count;
    for (int64_t i = begin; i < end; i++) {
        size_t        which = (size_t)i % n;
        int           part = (int)((size_t)i / n);
        kn_cut_state *state = x->states[which];
        const kn_cut *cut = &x->s->cuts.cuts[x->s->followed[which]];
        if (part >= kn_cut_state_parts(state)) continue;
        KN_TRY(kn_cut_state_settle(state, part, x->s->candidates[worker], state_of(x->s, cut->from), cut->specialized,
                                   err));
    }
    return KN_OK;
}

/* Frees what settling does not need: the rows of the last cuts, and the states that no cut which is followed comes from. Then
 * the new states stand beside the old ones. */
static void free_unneeded(search *s)
{
    for (int i = 0; i < s->workers; i++) kn_candidate_forget_rows(s->candidates[i]);
    for (size_t i = 0; i < s->state_count; i++) {
        bool needed = false;
        for (size_t j = 0; j < s->followed_count; j++)
            needed = needed || s->cuts.cuts[s->followed[j]].from == s->state_cut[i];
        if (needed) continue;
        kn_cut_state_free(s->states[i]);
        s->states[i] = NULL;
    }
}

/* Takes the states of the cuts that are followed next, and forgets the others. */
static kn_status take_states(search *s, kn_error *err)
{
    size_t    n = s->followed_count;
    settling  x = {s, kn_alloc_array_zero(s->ctx, n + 1, sizeof *x.states)};
    uint32_t *cuts = kn_alloc_array(s->ctx, n + 1, sizeof *cuts);
    kn_status st = x.states && cuts ? KN_OK : kn_fail_memory(err, s->ctx, "searching the cuts");
    for (size_t i = 0; st == KN_OK && i < (size_t)s->problem->g; i++)
        for (size_t j = 0; j < n; j++)
            if (s->kept[i].state && s->kept[i].cut == s->followed[j]) {
                x.states[j] = s->kept[i].state;
                s->kept[i].state = NULL;
            }
    free_kept(s);
    free_unneeded(s);
    int parts = 0;
    for (size_t i = 0; st == KN_OK && i < n; i++)
        if (kn_cut_state_parts(x.states[i]) > parts) parts = kn_cut_state_parts(x.states[i]);
    if (st == KN_OK) st = kn_parallel_for(s->ctx, (int64_t)n * parts, 1, settle_range, &x, err);
    if (st != KN_OK) {
        free_states(x.states, n);
        kn_free(cuts);
        return st;
    }
    memcpy(cuts, s->followed, n * sizeof *cuts);
    free_states(s->states, s->state_count);
    kn_free(s->state_cut);
    s->states = x.states;
    s->state_cut = cuts;
    s->state_count = n;
    return KN_OK;
}

static kn_status run(search *s, kn_error *err)
{
    size_t from = 0;
    while (from < s->cuts.count && s->result->complete) {
        size_t to = s->cuts.count;
        KN_TRY(step(s, from, err));
        if (s->fast && s->followed_count > 0 && s->result->complete) KN_TRY(take_states(s, err));
        for (size_t i = 0; i < s->followed_count; i++) KN_TRY(kn_cuts_specialize(&s->cuts, s->followed[i], err));
        from = to;
    }
    return KN_OK;
}

/* ---- Beginning and end ---- */

static kn_status make_plan(search *s, const uint32_t *values, uint32_t size, kn_error *err)
{
    kn_tree_result *r = s->result;
    KN_TRY(kn_records_plan_create(&r->plan, s->ctx, s->vocabulary, (int64_t)s->best_count, err));
    kn_records_plan_set_cut(r->plan, s->vocabulary, values, size);
    r->plan->how = s->problem->how;
    if (s->best_count) memcpy(r->plan->disassociations, s->best_list, s->best_count * sizeof *s->best_list);
    return KN_OK;
}

static kn_status search_flat(search *s, kn_error *err)
{
    uint32_t *values, size;
    KN_TRY(kn_flat_search(s->result, s->problem, s->synopsis, s->domain, s->weights, s->deadline, &values, &size, err));
    kn_status st = values ? make_plan(s, values, size, err) : KN_OK;
    kn_free(values);
    return st;
}

/* Does some value that may be known belong to fewer than k records? Then they do not keep the promise. */
static kn_status has_rare_value(search *s, bool *rare, kn_error *err)
{
    const kn_records    *r = s->problem->records;
    const kn_vocabulary *v = s->vocabulary;
    int64_t             *support = kn_alloc_array_zero(s->ctx, v->nodes, sizeof *support);
    int64_t             *last = kn_alloc_array_zero(s->ctx, v->nodes, sizeof *last);
    kn_status            st = support && last ? KN_OK : kn_fail_memory(err, s->ctx, "searching the cuts");
    for (int64_t t = 0; st == KN_OK && t < r->count; t++)
        for (uint64_t i = r->start[t]; i < r->start[t + 1]; i++) {
            support[r->value[i]] += last[r->value[i]] != t + 1;
            last[r->value[i]] = t + 1;
        }
    *rare = false;
    for (uint32_t u = 1; st == KN_OK && u < v->nodes; u++)
        *rare = *rare || (support[u] > 0 && support[u] < s->problem->k && !v->sensitive[v->cls[u]]);
    KN_FREE(support, last);
    return st;
}

/* One cut and no other. */
static kn_status try_cut(search *s, const kn_cut *cut, bool unmoved, kn_error *err)
{
    kn_outcome outcome = {0};
    kn_status  st = look_at(s, cut, &s->scratch[0], &outcome, err);
    if (!unmoved) kn_tree_count(&s->result->counters, &outcome.counters);
    if (st == KN_OK && outcome.solution && (outcome.count == 0 || !unmoved)) {
        s->result->found = true;
        s->result->cost = outcome.cost.value;
        kn_progress_begin(s->ctx, "searching", "cuts", 1); /* nothing else is looked for */
        kn_progress_end(s->ctx);
        s->best_list = outcome.disassociations;
        s->best_count = outcome.count;
        outcome.disassociations = NULL;
        st = make_plan(s, cut->values, cut->size, err);
    }
    KN_FREE(outcome.disassociations, outcome.rare);
    return st;
}

/* The cut of all leaves, without any disassociation. Many flat records are left to their own search: to count all of their
 * combinations here would take longer. */
static kn_status try_as_is(search *s, kn_error *err)
{
    kn_cut leaves = {0};
    bool   rare = false;
    KN_TRY(has_rare_value(s, &rare, err));
    if (rare || (s->problem->k > 1 && kn_flat_fits(s->problem, s->synopsis))) return KN_OK;
    uint32_t *values = kn_alloc_array(s->ctx, s->vocabulary->nodes, sizeof *values);
    if (!values) return kn_fail_memory(err, s->ctx, "searching the cuts");
    for (uint32_t u = 0; u < s->vocabulary->nodes; u++)
        if (s->vocabulary->end[u] == u + 1) values[leaves.size++] = u;
    leaves.values = values;
    kn_status st = try_cut(s, &leaves, true, err);
    kn_free(values);
    return st;
}

static kn_status search_cuts(search *s, kn_error *err)
{
    s->domain = kn_alloc_array(s->ctx, s->vocabulary->nodes, sizeof *s->domain);
    s->workers = kn_context_threads(s->ctx);
    s->scratch = kn_alloc_array_zero(s->ctx, (size_t)s->workers, sizeof *s->scratch);
    if (!s->domain || !s->scratch) return kn_fail_memory(err, s->ctx, "searching the cuts");
    for (int i = 0; i < s->workers; i++) s->scratch[i].ctx = s->ctx;
    kn_cost_domains(s->domain, s->vocabulary, s->problem->level_domains);
    KN_TRY(kn_tree_weights_make(&s->weights, s->ctx, s->problem, err));
    if (s->problem->time_limit > 0) s->deadline = kn_clock_seconds() + s->problem->time_limit;
    KN_TRY(kn_synopsis_make(&s->synopsis, s->ctx, s->problem->records, err));
    if (s->problem->as_is) return try_as_is(s, err);
    if (s->problem->only) {
        kn_cut cut = {.size = s->problem->only_size, .values = s->problem->only};
        return try_cut(s, &cut, false, err);
    }
    if (kn_flat_fits(s->problem, s->synopsis)) return search_flat(s, err);
    KN_TRY(kn_cuts_make(&s->cuts, s->ctx, s->vocabulary, err));
    kn_key_layout layout;
    s->fast = !s->synopsis->absence && kn_cut_state_fits(&layout, s->problem, s->synopsis);
    if (s->fast) KN_TRY(kn_synopsis_make_sets(s->synopsis, err));
    s->candidates = kn_alloc_array_zero(s->ctx, (size_t)s->workers, sizeof *s->candidates);
    if (s->fast) s->kept = kn_alloc_array_zero(s->ctx, (size_t)s->problem->g, sizeof *s->kept);
    s->room = kn_alloc_array(s->ctx, (size_t)s->workers * s->vocabulary->nodes, sizeof *s->room);
    if (!s->candidates || !s->room || (s->fast && !s->kept)) return kn_fail_memory(err, s->ctx, "searching the cuts");
    for (int i = 0; s->fast && i < s->workers; i++)
        KN_TRY(kn_candidate_make(&s->candidates[i], s->problem, s->synopsis, s->domain, layout, err));
    for (int i = 0; s->fast && i < s->workers; i++) kn_candidate_join(s->candidates[i], s->candidates, i);
    kn_progress_begin(s->ctx, "searching", "cuts", 0);
    kn_status st = run(s, err);
    kn_progress_end(s->ctx);
    if (st != KN_OK || !s->result->found) return st;
    const kn_cut *cut = &s->cuts.cuts[s->best];
    return make_plan(s, cut->values, cut->size, err);
}

static kn_status search_fast(kn_tree_result *out, kn_context *ctx, const kn_tree_problem *problem, kn_error *err)
{
    search *s = kn_alloc_zero(ctx, sizeof *s);
    if (!s) return kn_fail_memory(err, ctx, "searching the cuts");
    s->ctx = ctx;
    s->problem = problem;
    s->vocabulary = problem->records->vocabulary;
    s->result = out;
    pthread_mutex_init(&s->keeping, NULL);
    kn_status st = search_cuts(s, err);
    pthread_mutex_destroy(&s->keeping);
    for (int i = 0; s->scratch && i < s->workers; i++) kn_combinations_free(&s->scratch[i]);
    for (int i = 0; s->candidates && i < s->workers; i++) kn_candidate_free(s->candidates[i]);
    for (size_t i = 0; i < s->rare_count; i++) kn_free(s->rare[i].values);
    free_states(s->states, s->state_count);
    free_kept(s);
    KN_FREE(s->kept, s->room, s->candidates, s->state_cut, s->rare, s->scratch, s->domain, s->followed, s->costs,
            s->best_list);
    kn_tree_weights_free(s->weights);
    kn_cuts_free(&s->cuts);
    kn_synopsis_free(s->synopsis);
    kn_free(s);
    return st;
}

static kn_status check_options(const kn_tree_problem *p, kn_error *err)
{
    if (p->method != KN_METHOD_ACS && p->method != KN_METHOD_GCS && p->method != KN_METHOD_OCS)
        return kn_fail(err, KN_USAGE, "%s is not a method for tree records", kn_method_name(p->method));
    if (p->k < 1) return kn_fail(err, KN_USAGE, "k must be at least 1");
    if (p->m < 1) return kn_fail(err, KN_USAGE, "m must be at least 1");
    if (p->n < 0 || (int64_t)p->n > (int64_t)p->m * (p->m - 1) / 2)
        return kn_fail(err, KN_USAGE, "n must be between 0 and m (m - 1) / 2: %d values have no more relations", p->m);
    if (p->g < 1 && p->method != KN_METHOD_ACS) return kn_fail(err, KN_USAGE, "g must be at least 1");
    if (p->l < 0) return kn_fail(err, KN_USAGE, "l must be at least 1, or 0 for none");
    for (int i = 0; i < p->promise_count; i++)
        if (p->promises[i].model.kind != KN_MODEL_ENTROPY && p->promises[i].model.kind != KN_MODEL_RECURSIVE)
            return kn_fail(err, KN_USAGE, "%s is not a promise about trees", kn_model_name(p->promises[i].model.kind));
    if (p->spare_nodes < 0 || p->spare_records < 0)
        return kn_fail(err, KN_USAGE, "the suppression budget must not be negative");
    if (p->strict && kn_tree_suppresses(p))
        return kn_fail(err, KN_USAGE,
                       "strict-structure and a suppression budget exclude each other: what was below a value "
                       "that is given up is where only a moved node can be");
    const kn_vocabulary *v = p->records->vocabulary;
    for (int c = 0; c < v->class_count; c++) {
        if (!v->unrelated[c]) continue;
        if (p->strict || p->semantics == KN_SEMANTICS_PATHS || p->method == KN_METHOD_OCS || kn_tree_asks_diversity(p))
            return kn_fail(err, KN_USAGE,
                           "that values are known not to be related goes with relations one by one and methods acs and "
                           "gcs, and with no "
                           "strict structure and no promise about sensitive values");
        for (int o = 0; o < v->class_count; o++)
            if (v->negative[o])
                return kn_fail(
                    err, KN_USAGE,
                    "values that are known to be absent and such that are known not to be related exclude each other");
    }
    if (!(p->time_limit >= 0))
        return kn_fail(err, KN_USAGE, "the time limit must be a number of seconds, or 0 for none");
    return KN_OK;
}

kn_status kn_tree_search_once(kn_tree_result **out, kn_context *ctx, const kn_tree_problem *problem, kn_error *err)
{
    *out = NULL;
    kn_tree_result *r = kn_alloc_zero(ctx, sizeof *r);
    if (!r) return kn_fail_memory(err, ctx, "searching the cuts");
    r->complete = true;
    kn_status       st = KN_OK;
    kn_tree_problem inner = *problem;
    bool            enough = problem->k <= problem->records->count;
    if (enough && problem->as_is && !problem->only) st = search_fast(r, ctx, &inner, err);
    inner.as_is = false;
    if (st == KN_OK && enough && !r->found)
        st = problem->reference ? kn_tree_reference_search(r, ctx, &inner, err) : search_fast(r, ctx, &inner, err);
    if (st != KN_OK) {
        kn_tree_result_free(r);
        return st;
    }
    *out = r;
    return KN_OK;
}

kn_status kn_tree_search(kn_tree_result **out, kn_context *ctx, const kn_tree_problem *problem, kn_error *err)
{
    *out = NULL;
    KN_TRY(check_options(problem, err));
    KN_TRY(kn_tree_check_size(ctx, problem, err));
    return kn_tree_suppresses(problem) ? kn_tree_search_suppressing(out, ctx, problem, err)
                                       : kn_tree_search_once(out, ctx, problem, err);
}

void kn_tree_result_free(kn_tree_result *result)
{
    if (!result) return;
    kn_records_plan_free(result->plan);
    kn_free(result);
}
