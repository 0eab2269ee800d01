/* kn_tree_single.c: a plan is made finer, value by value, by giving up single nodes within the budget.
 *
 * Interface: kn_tree_refine (kn_single.h). Every value of the cut that has others below it is a candidate: what replacing it would gain, and how
 * many nodes it would take, is worked out (kn_single_repair.c). The one that gains most for each node given up (one more counts for each, so that what costs nothing comes
 * first, the larger gain before the smaller; of equal ones the smallest) is worked out again if the plan has changed since, and if it is still the first the cut is looked at as the search looks
 * at one: with relations, absences and all that is promised of sensitive values. It is taken if it holds, less is lost (or as much, and no node), and the budget allows it; its children are then candidates, too. A
 * candidate that gains nothing, costs too much or was looked at in vain is not tried again.
 *
 * The order of the records plays no part. Cost: one look at a cut for each candidate that is tried.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "kn_alloc.h"
#include "kn_clock.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_single.h"
#include "kn_tree_work.h"

#define WHAT "looking for nodes to give up"
#define NONE UINT32_MAX

typedef enum standing { UNKNOWN = 0, STALE, FRESH, OUT } standing;

typedef struct refining {
    kn_context            *ctx;
    const kn_tree_problem *problem;
    kn_tree_result        *best;
    kn_tree_loss          *loss;
    kn_tree_counters      *counters;
    double                 deadline;
    kn_repair              repair;
    uint8_t               *standing; /* per value */
    double                *merit;    /* gain for each node given up */
    uint32_t              *cut;
} refining;

/* ---- Plans ---- */

static bool copy_flags(bool **to, kn_context *ctx, const bool *from, size_t count)
{
    *to = NULL;
    if (!from) return true;
    *to = kn_alloc_array(ctx, count + 1, sizeof **to);
    if (*to) memcpy(*to, from, count * sizeof **to);
    return *to != NULL;
}

/* What the repaired plan leaves out, as its own copies. */
static kn_status copy_lack(refining *s, kn_records_plan *to, kn_error *err)
{
    const kn_records_plan *from = s->best->plan;
    const kn_records      *r = s->problem->records;
    bool                   ok = copy_flags(&to->given_up, s->ctx, from->given_up, r->vocabulary->nodes) &&
              copy_flags(&to->left_out, s->ctx, from->left_out, (size_t)r->count) &&
              copy_flags(&to->dropped, s->ctx, from->dropped, (size_t)r->nodes);
    if (ok && !to->dropped && s->repair.dropped_count > 0)
        ok = KN_ALLOC_ZERO(s->ctx, to->dropped, (size_t)r->nodes + 1) != NULL;
    if (!ok) return kn_fail_memory(err, s->ctx, WHAT);
    for (size_t i = 0; i < s->repair.dropped_count; i++) to->dropped[s->repair.dropped[i]] = true;
    return KN_OK;
}

/* Looks at the repaired cut; a result without a plan if it does not hold. */
static kn_status look(refining *s, uint32_t value, kn_tree_result **out, kn_error *err)
{
    kn_tree_problem inner = *s->problem;
    kn_records_plan lack = {.ctx = s->ctx};
    kn_records     *stay = NULL;
    int64_t        *original_of = NULL;
    inner.only = s->cut;
    inner.only_size = kn_repair_cut(&s->repair, value, s->cut);
    inner.spare_nodes = inner.spare_records = 0;
    inner.as_is = false;
    inner.time_limit = 0;
    kn_status st = copy_lack(s, &lack, err);
    if (st == KN_OK)
        st = kn_records_without(&stay, &original_of, s->ctx, s->problem->records,
                                (kn_records_lack){lack.given_up, lack.dropped, lack.left_out, NULL}, err);
    inner.records = stay;
    if (st == KN_OK) st = kn_tree_search_once(out, s->ctx, &inner, err);
    if (st == KN_OK && (*out)->found) {
        (*out)->plan->given_up = lack.given_up;
        (*out)->plan->dropped = lack.dropped;
        (*out)->plan->left_out = lack.left_out;
        lack.given_up = lack.dropped = lack.left_out = NULL;
    }
    KN_FREE(lack.given_up, lack.dropped, lack.left_out, original_of);
    kn_records_free(stay);
    return st;
}

/* Is it better than the plan so far? Then it takes its place. */
static kn_status take(refining *s, uint32_t value, bool *taken, kn_error *err)
{
    kn_tree_result *found = NULL;
    kn_tree_loss    loss;
    *taken = false;
    KN_TRY(look(s, value, &found, err));
    kn_tree_count(s->counters, &found->counters);
    kn_status st = KN_OK;
    if (found->found) {
        st = kn_tree_lose(&loss, s->ctx, s->problem->records, found->plan, s->problem->weights, err);
        bool better = s->repair.dropped_count > 0 ? loss.loss < s->loss->loss : loss.loss <= s->loss->loss;
        *taken = st == KN_OK && better && loss.given_up <= s->problem->spare_nodes;
    }
    if (*taken) {
        kn_records_plan *old = s->best->plan;
        s->best->plan = found->plan;
        s->best->cost = found->cost;
        *s->loss = loss;
        found->plan = old; /* freed below */
    }
    kn_tree_result_free(found);
    return st;
}

/* ---- Candidates ---- */

static kn_status work_out(refining *s, uint32_t value, kn_error *err)
{
    bool possible = false;
    KN_TRY(kn_repair_try(&s->repair, value, s->problem->spare_nodes - s->loss->given_up, &possible, err));
    bool pays = s->repair.gain > 0 || (s->repair.gain >= 0 && s->repair.dropped_count == 0);
    s->standing[value] = possible && pays ? FRESH : OUT;
    s->merit[value] = s->repair.gain / (double)(s->repair.dropped_count + 1);
    return KN_OK;
}

/* The candidate of the greatest merit; NONE: there is none. */
static uint32_t first_of(const refining *s)
{
    uint32_t best = NONE;
    for (uint32_t u = 0; u < s->problem->records->vocabulary->nodes; u++) {
        if (s->standing[u] != STALE && s->standing[u] != FRESH) continue;
        if (best == NONE || s->merit[u] > s->merit[best]) best = u;
    }
    return best;
}

/* Those that are new become known, and the others out of date. */
static kn_status begin_step(refining *s, kn_error *err)
{
    uint32_t nodes = s->problem->records->vocabulary->nodes;
    KN_TRY(kn_repair_begin(&s->repair, s->best->plan, err));
    for (uint32_t u = 0; u < nodes; u++) {
        if (s->standing[u] == FRESH) s->standing[u] = STALE;
        if (s->standing[u] != OUT && !kn_repair_asks(&s->repair, u)) s->standing[u] = UNKNOWN;
        if (s->standing[u] != UNKNOWN || !kn_repair_asks(&s->repair, u)) continue;
        kn_status st = work_out(s, u, err);
        kn_repair_undo(&s->repair);
        if (st != KN_OK) return st;
    }
    return KN_OK;
}

/* One value more is replaced, or none can be. */
static kn_status do_step(refining *s, bool *taken, kn_error *err)
{
    KN_TRY(begin_step(s, err));
    *taken = false;
    for (uint32_t u; !*taken && (u = first_of(s)) != NONE;) {
        bool known = s->standing[u] == FRESH;
        if (kn_cancelled(s->ctx)) return kn_fail_cancelled(err);
        if (s->deadline > 0 && kn_clock_seconds() >= s->deadline) break;
        kn_status st = work_out(s, u, err);
        if (st == KN_OK && known) {
            s->standing[u] = OUT;
            st = take(s, u, taken, err);
        }
        kn_repair_undo(&s->repair);
        if (st != KN_OK) return st;
    }
    return KN_OK;
}

/* ---- Values of which nothing is left ---- */

/* Per value of the cut: is a node of it shown, and is each one that is dropped without any below it? */
static void look_at_values(const kn_records *r, const kn_records_plan *plan, bool *shown, bool *bare)
{
    for (uint32_t u = 0; u < r->vocabulary->nodes; u++) {
        shown[u] = false;
        bare[u] = true;
    }
    for (int64_t t = 0; t < r->count; t++)
        for (uint64_t i = r->start[t]; i < r->start[t + 1]; i++) {
            uint32_t image = plan->image[r->value[i]];
            bool     gone = (plan->left_out && plan->left_out[t]) || (plan->given_up && plan->given_up[r->value[i]]);
            bool     below = i + 1 < r->start[t + 1] && r->parent[i + 1] == (uint32_t)(i - r->start[t]);
            if (!gone && !plan->dropped[i]) shown[image] = true;
            if (!gone && plan->dropped[i] && below) bare[image] = false;
        }
}

/* A value that was given up node by node until none was left, and with nothing below them, is given up everywhere. */
static kn_status name_values(kn_context *ctx, const kn_records *r, kn_records_plan *plan, kn_error *err)
{
    size_t values = r->vocabulary->nodes;
    bool *shown = kn_alloc_array(ctx, values + 1, sizeof *shown), *bare = kn_alloc_array(ctx, values + 1, sizeof *bare);
    bool  single = false, any = false;
    kn_status st = shown && bare ? KN_OK : kn_fail_memory(err, ctx, WHAT);
    if (st == KN_OK && !plan->given_up && !KN_ALLOC_ZERO(ctx, plan->given_up, values + 1))
        st = kn_fail_memory(err, ctx, WHAT);
    if (st == KN_OK) look_at_values(r, plan, shown, bare);
    for (uint64_t i = 0; st == KN_OK && i < r->nodes; i++) {
        uint32_t image = plan->image[r->value[i]];
        if (!plan->dropped[i] || shown[image] || !bare[image]) continue;
        plan->given_up[r->value[i]] = true;
        plan->dropped[i] = false;
    }
    if (st == KN_OK && !KN_ALLOC_ZERO(ctx, plan->in_some, values + 1)) st = kn_fail_memory(err, ctx, WHAT);
    for (uint64_t i = 0; st == KN_OK && i < r->nodes; i++) {
        if (!plan->dropped[i]) continue;
        plan->in_some[r->value[i]] = single = true;
    }
    for (size_t u = 0; st == KN_OK && u < values; u++) any = any || plan->given_up[u];
    if (st == KN_OK && !single) {
        KN_FREE(plan->dropped, plan->in_some);
        plan->dropped = plan->in_some = NULL;
    }
    if (st == KN_OK && !any) {
        kn_free(plan->given_up);
        plan->given_up = NULL;
    }
    KN_FREE(shown, bare);
    return st;
}

kn_status kn_tree_refine(kn_tree_result *best, kn_tree_loss *loss, kn_tree_counters *counters, bool *complete,
                         kn_context *ctx, const kn_tree_problem *problem, double deadline, kn_error *err)
{
    size_t   values = (size_t)problem->records->vocabulary->nodes + 1;
    refining s = {
        .ctx = ctx, .problem = problem, .best = best, .loss = loss, .counters = counters, .deadline = deadline};
    bool taken = true;
    if (problem->records->count >= UINT32_MAX) return KN_OK;
    kn_status st = kn_repair_make(&s.repair, ctx, problem, err);
    if (st == KN_OK && (!KN_ALLOC_ZERO(ctx, s.standing, values) || !KN_ALLOC_ZERO(ctx, s.merit, values) ||
                        !KN_ALLOC(ctx, s.cut, values)))
        st = kn_fail_memory(err, ctx, WHAT);
    while (st == KN_OK && taken) {
        if (deadline > 0 && kn_clock_seconds() >= deadline) {
            *complete = false;
            break;
        }
        st = do_step(&s, &taken, err);
    }
    if (st == KN_OK && best->plan->dropped) st = name_values(ctx, problem->records, best->plan, err);
    kn_repair_free(&s.repair);
    KN_FREE(s.standing, s.merit, s.cut);
    return st;
}
