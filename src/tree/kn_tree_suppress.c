/* kn_tree_suppress.c: rare values, single nodes and whole records are given up where that loses less than blurring everybody's.
 *
 * Interface: kn_tree_search_suppressing, kn_tree_lose (kn_tree_work.h); what suppression means: kn_tree.h.
 *
 * What is tried: nothing left out, and the oddest records left out: those with the most values, pairs of values and relations
 * that fewer than k records have (as many as the budget allows, equally odd ones together). For each of the two the values that at most t records have are given up:
 * t from the largest that the budget allows by halves down to 1, then by halving between the best t and the next lower one;
 * then those of fewer than k records: all of them, or class by class, the cheapest class first, while the budget allows. Each time the search runs on what is left. A value whose group is shown
 * anyway, for the others in it, was given up in vain: it comes back, and the search runs again. Of all that stay within the
 * budget the one with the least loss is taken, of equal ones the first; the search without suppression is the very first. That one is made finer by giving up
 * single nodes (kn_tree_single.c), its relations vanish from single records instead of all if that loses less (kn_single_detach.c), and so is the best of those that were tried since, each time before records are left out and at the end.
 *
 * The order of the records plays no part. Cost: as many searches, at most some thirty and the repetitions.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_clock.h"
#include "kn_compare.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_single.h"
#include "kn_spread.h"
#include "kn_tree_work.h"

#define WHAT "looking for what to suppress"
#define NONE UINT32_MAX

/* ---- What is lost ---- */

/* Does a released record show the image of a value? */
static kn_status find_shown(bool **out, kn_context *ctx, const kn_records *released, kn_error *err)
{
    *out = kn_alloc_array_zero(ctx, (size_t)released->vocabulary->nodes + 1, sizeof **out);
    if (!*out) return kn_fail_memory(err, ctx, WHAT);
    for (uint64_t i = 0; i < released->nodes; i++) (*out)[released->value[i]] = true;
    return KN_OK;
}

/* What an original record loses: `released` is the number of what became of it; -1: it is left out. `own` per value: the last record that
 * shows it, counted from 1. */
static void lose_record(kn_tree_loss *out, double *all, const kn_records *original, int64_t t,
                        const kn_records *released, int64_t as, const kn_records_plan *plan, const kn_ratio *weights,
                        const bool *shown, int64_t *own)
{
    const kn_vocabulary *v = original->vocabulary;
    for (uint64_t i = as < 0 ? 0 : released->start[as]; as >= 0 && i < released->start[as + 1]; i++)
        own[released->value[i]] = t + 1;
    out->left_out += as < 0;
    for (uint64_t i = original->start[t]; i < original->start[t + 1]; i++) {
        uint32_t value = original->value[i], image = plan->image[value];
        uint16_t cls = v->cls[value];
        bool     there = image != NONE && own[image] == t + 1;
        double   weight = kn_weight_of(weights, cls);
        out->given_up += as < 0 ? image == NONE || !shown[image] : !there;
        out->loss += weight * (there ? kn_breadth_of(v, image, cls) : 1);
        *all += weight;
    }
}

/* The breadth, and how much of the budget the plan takes. */
static kn_status count_lost(kn_tree_loss *out, kn_context *ctx, const kn_records *original, const kn_records *released,
                            const int64_t *original_of, const kn_records_plan *plan, const kn_ratio *weights,
                            kn_error *err)
{
    bool    *shown = NULL;
    double   all = 0;
    int64_t *as = kn_alloc_array(ctx, (size_t)original->count + 1, sizeof *as);
    int64_t *own = kn_alloc_array_zero(ctx, (size_t)original->vocabulary->nodes + 1, sizeof *own);
    *out = (kn_tree_loss){0, 0, 0};
    kn_status st = as && own ? find_shown(&shown, ctx, released, err) : kn_fail_memory(err, ctx, WHAT);
    for (int64_t t = 0; st == KN_OK && t < original->count; t++) as[original_of[t]] = t < released->count ? t : -1;
    for (int64_t t = 0; st == KN_OK && t < original->count; t++)
        lose_record(out, &all, original, t, released, as[t], plan, weights, shown, own);
    out->loss = all > 0 ? out->loss / all : 0;
    KN_FREE(shown, as, own);
    return st;
}

kn_status kn_tree_breadth(double *out, kn_context *ctx, const kn_records *original, const kn_records *released,
                          const int64_t *original_of, const kn_records_plan *plan, const kn_ratio *weights,
                          kn_error *err)
{
    kn_tree_loss loss;
    kn_status    st = count_lost(&loss, ctx, original, released, original_of, plan, weights, err);
    *out = loss.loss;
    return st;
}

kn_status kn_tree_lose(kn_tree_loss *out, kn_context *ctx, const kn_records *records, const kn_records_plan *plan,
                       const kn_ratio *weights, kn_error *err)
{
    const kn_tree_metrics_options options = KN_TREE_METRICS_OPTIONS_INIT;
    kn_tree_metrics               metrics;
    kn_records                   *released = NULL;
    int64_t                      *original_of = NULL;
    *out = (kn_tree_loss){0, 0, 0};
    kn_status st = kn_records_apply(&released, &original_of, ctx, records, plan, err);
    if (st == KN_OK) st = kn_tree_measure(&metrics, ctx, records, released, original_of, &options, err);
    if (st == KN_OK) st = count_lost(out, ctx, records, released, original_of, plan, weights, err);
    if (st == KN_OK) out->loss = 1 - metrics.relation_survival + out->loss;
    kn_records_free(released);
    kn_free(original_of);
    return st;
}

/* ---- The search ---- */

/* A value that occurs: how often, among the records that are not left out. */
typedef struct rarity {
    int64_t  support, nodes;
    uint32_t value;
} rarity;

typedef struct suppressing {
    kn_context            *ctx;
    const kn_tree_problem *problem;
    const kn_vocabulary   *vocabulary;
    double                 deadline; /* 0: none */
    bool                  *given_up; /* per value: what is tried now                        */
    bool                  *left_out; /* per record                                          */
    bool                   leaving;  /* some are                                            */
    rarity                *rare;     /* the rarest first, sensitive ones aside              */
    uint32_t               count;
    uint32_t               tried; /* so many of them were given up in the last attempt */
    kn_tree_counters       counters;
    bool                   complete;
    kn_tree_result        *best; /* NULL: none found yet */
    kn_tree_loss           best_loss;
    bool                   refined; /* it was made finer by giving up single nodes */
} suppressing;

static bool out_of_time(const suppressing *s)
{
    return s->deadline > 0 && kn_clock_seconds() >= s->deadline;
}

/* Values that were given up in vain come back: whether there were any. */
static kn_status bring_back(suppressing *s, const kn_records *stay, const kn_records_plan *plan, bool *any,
                            kn_error *err)
{
    bool *shown = kn_alloc_array_zero(s->ctx, (size_t)s->vocabulary->nodes + 1, sizeof *shown);
    if (!shown) return kn_fail_memory(err, s->ctx, WHAT);
    *any = false;
    for (uint64_t i = 0; i < stay->nodes; i++) shown[plan->image[stay->value[i]]] = true;
    for (uint32_t u = 0; u < s->vocabulary->nodes; u++)
        if (s->given_up[u] && shown[plan->image[u]]) {
            s->given_up[u] = false;
            *any = true;
        }
    kn_free(shown);
    return KN_OK;
}

static kn_status search_what_stays(suppressing *s, kn_tree_result **out, bool *again, kn_error *err)
{
    kn_tree_problem inner = *s->problem;
    kn_records     *stay = NULL;
    int64_t        *original_of = NULL;
    *again = false;
    KN_TRY(kn_records_without(&stay, &original_of, s->ctx, s->problem->records,
                              (kn_records_lack){s->given_up, NULL, s->leaving ? s->left_out : NULL, NULL}, err));
    inner.records = stay;
    inner.spare_nodes = inner.spare_records = 0;
    if (s->deadline > 0) {
        double left = s->deadline - kn_clock_seconds();
        inner.time_limit = left > 1e-3 ? left : 1e-3;
    }
    kn_status st = kn_tree_search_once(out, s->ctx, &inner, err);
    if (st == KN_OK) {
        kn_tree_count(&s->counters, &(*out)->counters);
        s->complete = s->complete && (*out)->complete;
        if ((*out)->found) st = bring_back(s, stay, (*out)->plan, again, err);
    }
    if (st != KN_OK || *again) {
        kn_tree_result_free(*out);
        *out = NULL;
    }
    kn_free(original_of);
    kn_records_free(stay);
    return st;
}

static kn_status copy_flags(bool **to, kn_context *ctx, const bool *from, size_t count, kn_error *err)
{
    *to = kn_alloc_array(ctx, count + 1, sizeof **to);
    if (!*to) return kn_fail_memory(err, ctx, WHAT);
    memcpy(*to, from, count * sizeof **to);
    return KN_OK;
}

static bool any_flag(const bool *flags, size_t count)
{
    return memchr(flags, true, count) != NULL;
}

/* Do the sensitive values keep what is promised, if `with` of `stay` records have each of them? `counts`: scratch. */
static bool keeps_promises(const suppressing *s, const int64_t *with, int64_t stay, int64_t *counts)
{
    const kn_vocabulary   *v = s->vocabulary;
    const kn_tree_problem *p = s->problem;
    for (uint32_t u = 1; u < v->nodes && p->l > 0; u++)
        if (v->sensitive[v->cls[u]] && with[u] > stay / p->l) return false;
    for (int i = 0; i < p->promise_count; i++) {
        size_t values = 0;
        for (uint32_t u = 1; u < v->nodes; u++)
            if (v->cls[u] == p->promises[i].cls && with[u] > 0) counts[values++] = with[u];
        if (!kn_spread_holds(&p->promises[i].model, counts, values, stay)) return false;
    }
    return true;
}

/* Where absences may be known nothing at all may be, too (kn_tree.h): do all that stay keep what is promised of sensitive values?
 * The search counts that only while a value that may be absent is left. */
static kn_status check_all(const suppressing *s, bool *ok, kn_error *err)
{
    const kn_records    *r = s->problem->records;
    const kn_vocabulary *v = s->vocabulary;
    int64_t              stay = 0;
    bool                 absent = false;
    int64_t             *with = kn_alloc_array_zero(s->ctx, v->nodes, sizeof *with);
    int64_t             *last = kn_alloc_array_zero(s->ctx, v->nodes, sizeof *last);
    *ok = true;
    for (int64_t t = 0; with && last && t < r->count; t++) {
        bool stays = !(s->leaving && s->left_out[t]);
        stay += stays;
        for (uint64_t i = r->start[t]; i < r->start[t + 1]; i++) {
            uint32_t value = r->value[i];
            absent = absent || v->negative[v->cls[value]];
            with[value] += stays && last[value] != t + 1;
            last[value] = t + 1;
        }
    }
    if (with && last && absent) *ok = keeps_promises(s, with, stay, last); /* `last` is not needed any more */
    kn_status st = with && last ? KN_OK : kn_fail_memory(err, s->ctx, WHAT);
    KN_FREE(with, last);
    return st;
}

/* Is it within the budget, and better than the best so far? */
static kn_status judge(suppressing *s, kn_tree_result *found, kn_error *err)
{
    size_t       values = s->vocabulary->nodes, records = (size_t)s->problem->records->count;
    kn_tree_loss loss;
    bool         ok = true;
    if (kn_tree_asks_diversity(s->problem)) KN_TRY(check_all(s, &ok, err));
    if (!ok) return KN_OK;
    if (any_flag(s->given_up, values)) KN_TRY(copy_flags(&found->plan->given_up, s->ctx, s->given_up, values, err));
    if (s->leaving) KN_TRY(copy_flags(&found->plan->left_out, s->ctx, s->left_out, records, err));
    KN_TRY(kn_tree_lose(&loss, s->ctx, s->problem->records, found->plan, s->problem->weights, err));
    if (loss.given_up > s->problem->spare_nodes || loss.left_out > s->problem->spare_records) return KN_OK;
    if (s->best && loss.loss >= s->best_loss.loss) return KN_OK;
    kn_tree_result swap = *found; /* the caller frees what is not kept */
    if (s->best) {
        *found = *s->best;
        *s->best = swap;
    } else {
        s->best = kn_alloc(s->ctx, sizeof *s->best);
        if (!s->best) return kn_fail_memory(err, s->ctx, WHAT);
        *s->best = swap;
        found->plan = NULL;
    }
    s->best_loss = loss;
    s->refined = false;
    return KN_OK;
}

static kn_status try_it(suppressing *s, kn_error *err)
{
    kn_tree_result *found = NULL;
    bool            again = true;
    while (again) {
        if (s->best && out_of_time(s)) {
            s->complete = false;
            return KN_OK;
        }
        KN_TRY(search_what_stays(s, &found, &again, err));
    }
    kn_status st = found->found ? judge(s, found, err) : KN_OK;
    kn_tree_result_free(found);
    return st;
}

/* ---- What is tried ---- */

static int by_rarity(const void *a, const void *b)
{
    const rarity *x = a, *y = b;
    if (x->support != y->support) return x->support < y->support ? -1 : 1;
    return x->value < y->value ? -1 : x->value > y->value;
}

static kn_status count_rarities(suppressing *s, kn_error *err)
{
    const kn_records    *r = s->problem->records;
    const kn_vocabulary *v = s->vocabulary;
    int64_t             *last = kn_alloc_array_zero(s->ctx, (size_t)v->nodes + 1, sizeof *last);
    if (!last) return kn_fail_memory(err, s->ctx, WHAT);
    for (uint32_t u = 0; u < v->nodes; u++) s->rare[u] = (rarity){0, 0, u};
    for (int64_t t = 0; t < r->count; t++)
        for (uint64_t i = r->start[t]; i < r->start[t + 1] && !(s->leaving && s->left_out[t]); i++) {
            rarity *of = &s->rare[r->value[i]];
            of->nodes++;
            if (last[of->value] != t + 1) of->support++;
            last[of->value] = t + 1;
        }
    kn_free(last);
    s->count = 0;
    for (uint32_t u = 0; u < v->nodes; u++)
        if (s->rare[u].support > 0 && v->cls[u] != KN_VOCABULARY_NO_CLASS && !v->sensitive[v->cls[u]])
            s->rare[s->count++] = s->rare[u];
    qsort(s->rare, s->count, sizeof *s->rare, by_rarity);
    return KN_OK;
}

/* Gives up those that at most `most` records have. Was that better than all before? */
static kn_status try_rarest(suppressing *s, int64_t most, bool *better, kn_error *err)
{
    uint32_t     count = 0;
    bool         found = s->best != NULL;
    kn_tree_loss before = s->best_loss;
    memset(s->given_up, 0, s->vocabulary->nodes * sizeof *s->given_up);
    for (; count < s->count && s->rare[count].support <= most; count++) s->given_up[s->rare[count].value] = true;
    *better = false;
    if (count == 0 || count == s->tried) return KN_OK;
    s->tried = count;
    KN_TRY(try_it(s, err));
    *better = s->best && (!found || s->best_loss.loss < before.loss);
    return KN_OK;
}

static int64_t most_affordable(const suppressing *s)
{
    int64_t nodes = 0, most = 0;
    for (uint32_t i = 0; i < s->count; i++) {
        nodes += s->rare[i].nodes;
        if (nodes > s->problem->spare_nodes) break;
        if (i + 1 == s->count || s->rare[i + 1].support > s->rare[i].support) most = s->rare[i].support;
    }
    return most;
}

/* The class whose values of fewer than k records have the fewest nodes, by its weight, of those not yet taken; -1: none has any. */
static int cheapest_class(const suppressing *s, const bool *taken, int64_t *price)
{
    int    best = -1;
    double least = 0;
    for (int c = 0; c < s->vocabulary->class_count; c++) {
        int64_t nodes = 0;
        for (uint32_t i = 0; i < s->count && s->rare[i].support < s->problem->k; i++)
            if (s->vocabulary->cls[s->rare[i].value] == c) nodes += s->rare[i].nodes;
        double cost = (double)nodes * kn_weight_of(s->problem->weights, c);
        if (nodes == 0 || taken[c] || (best >= 0 && cost >= least)) continue;
        best = c;
        least = cost;
        *price = nodes;
    }
    return best;
}

static kn_status try_classes(suppressing *s, kn_error *err)
{
    int64_t left = s->problem->spare_nodes, price = 0;
    bool   *taken = kn_alloc_array_zero(s->ctx, (size_t)s->vocabulary->class_count + 1, sizeof *taken);
    if (!taken) return kn_fail_memory(err, s->ctx, WHAT);
    memset(s->given_up, 0, s->vocabulary->nodes * sizeof *s->given_up);
    for (int c; (c = cheapest_class(s, taken, &price)) >= 0 && price <= left; left -= price) {
        taken[c] = true;
        for (uint32_t i = 0; i < s->count && s->rare[i].support < s->problem->k; i++)
            if (s->vocabulary->cls[s->rare[i].value] == c) s->given_up[s->rare[i].value] = true;
    }
    kn_free(taken);
    return any_flag(s->given_up, s->vocabulary->nodes) ? try_it(s, err) : KN_OK;
}

static kn_status try_values(suppressing *s, kn_error *err)
{
    KN_TRY(count_rarities(s, err));
    int64_t most = most_affordable(s), rare = s->problem->k - 1, low = 0, high = 0;
    bool    better;
    s->tried = 0;
    for (int64_t t = most; t > 0; t /= 2) {
        KN_TRY(try_rarest(s, t, &better, err));
        if (better) high = t;
    }
    for (low = high / 2; high - low > 1;) {
        int64_t middle = low + (high - low) / 2;
        KN_TRY(try_rarest(s, middle, &better, err));
        if (better)
            high = middle;
        else
            low = middle;
    }
    if (most < rare) return try_classes(s, err); /* else they were all given up at once */
    return try_rarest(s, rare, &better, err);
}

/* ---- Which records ---- */

enum { MOST_PAIRS = 4000000 }; /* more take too long: then values alone decide */

#define RELATION (UINT64_C(1) << 63)

/* The values of a record, with m > 1 its pairs of values and with n > 0 its relations, each once, as keys: how many. `keys`
 * NULL: how many at most. Sensitive values are not known. */
static size_t list_keys(const suppressing *s, int64_t record, uint64_t *keys)
{
    const kn_records    *r = s->problem->records;
    const kn_vocabulary *v = s->vocabulary;
    uint64_t             from = r->start[record], size = r->start[record + 1] - from;
    size_t               count = 0, kept = 0;
    if (!keys) return (size_t)size * (s->problem->m > 1 ? (size_t)size + 1 : 1);
    for (uint64_t i = 0; i < size; i++) {
        uint64_t a = r->value[from + i];
        if (v->sensitive[v->cls[a]]) continue;
        keys[count++] = a << 32 | a;
        for (uint64_t j = 0; j < i && s->problem->m > 1; j++) {
            uint64_t b = r->value[from + j];
            if (a != b && !v->sensitive[v->cls[b]]) keys[count++] = a < b ? a << 32 | b : b << 32 | a;
        }
        for (uint32_t p = r->parent[from + i]; p != KN_RECORDS_ROOT && s->problem->n > 0; p = r->parent[from + p])
            if (!v->sensitive[v->cls[r->value[from + p]]])
                keys[count++] = RELATION | (uint64_t)r->value[from + p] << 32 | a;
    }
    qsort(keys, count, sizeof *keys, kn_compare_u64);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || keys[i] != keys[kept - 1]) keys[kept++] = keys[i];
    return kept;
}

/* Keys that fewer than k records have; `all` is sorted. */
static int64_t count_rare(const uint64_t *all, size_t count, const uint64_t *keys, size_t own, int64_t k)
{
    int64_t rare = 0;
    for (size_t i = 0; i < own; i++) {
        size_t low = 0, high = count;
        while (low < high) {
            size_t middle = low + (high - low) / 2;
            if (all[middle] < keys[i])
                low = middle + 1;
            else
                high = middle;
        }
        rare += low + (size_t)k > count || all[low + (size_t)k - 1] != keys[i];
    }
    return rare;
}

/* Per record: how much of it is rare. */
static kn_status count_oddities(const suppressing *s, int64_t *odd, kn_error *err)
{
    const kn_records *r = s->problem->records;
    size_t            total = 0, widest = 1, count = 0;
    suppressing       own = *s;
    kn_tree_problem   simple = *s->problem;
    for (int64_t t = 0; t < r->count; t++) total += list_keys(s, t, NULL);
    if (total > MOST_PAIRS) {
        simple.m = 1;
        simple.n = 0;
        own.problem = &simple;
    }
    total = 0;
    for (int64_t t = 0; t < r->count; t++) {
        size_t most = list_keys(&own, t, NULL);
        total += most;
        if (most > widest) widest = most;
    }
    uint64_t *all = kn_alloc_array(s->ctx, total + 1, sizeof *all);
    uint64_t *keys = kn_alloc_array(s->ctx, widest, sizeof *keys);
    if (all && keys) {
        for (int64_t t = 0; t < r->count; t++) count += list_keys(&own, t, all + count);
        qsort(all, count, sizeof *all, kn_compare_u64);
        for (int64_t t = 0; t < r->count; t++)
            odd[t] = count_rare(all, count, keys, list_keys(&own, t, keys), s->problem->k);
    }
    kn_status st = all && keys ? KN_OK : kn_fail_memory(err, s->ctx, WHAT);
    KN_FREE(all, keys);
    return st;
}

/* Marks the oddest records. */
static kn_status leave_out(suppressing *s, kn_error *err)
{
    size_t   count = (size_t)s->problem->records->count;
    int64_t *odd = kn_alloc_array_zero(s->ctx, count + 1, sizeof *odd);
    int64_t *sorted = kn_alloc_array_zero(s->ctx, count + 1, sizeof *sorted);
    if (!odd || !sorted) {
        KN_FREE(odd, sorted);
        return kn_fail_memory(err, s->ctx, WHAT);
    }
    kn_status st = count_oddities(s, odd, err);
    if (st == KN_OK && count > 0) {
        memcpy(sorted, odd, count * sizeof *odd);
        qsort(sorted, count, sizeof *sorted, kn_compare_i64);
        size_t spare = (size_t)s->problem->spare_records < count ? (size_t)s->problem->spare_records : count;
        /* Those odder than the first that does not fit: equally odd ones stay or leave together. */
        int64_t limit = spare < count ? sorted[count - spare - 1] : 0;
        for (size_t t = 0; t < count; t++) s->left_out[t] = odd[t] > limit;
        s->leaving = any_flag(s->left_out, count);
    }
    KN_FREE(odd, sorted);
    return st;
}

/* Single nodes and relations of the best plan so far, unless it was done. */
static kn_status refine(suppressing *s, kn_error *err)
{
    if (!s->best || s->refined) return KN_OK;
    s->refined = true;
    if (s->problem->spare_nodes > 0)
        KN_TRY(
            kn_tree_refine(s->best, &s->best_loss, &s->counters, &s->complete, s->ctx, s->problem, s->deadline, err));
    return kn_tree_detach(s->best, &s->best_loss, &s->counters, s->ctx, s->problem, err);
}

static kn_status try_all(suppressing *s, kn_error *err)
{
    size_t values = (size_t)s->vocabulary->nodes + 1;
    s->given_up = kn_alloc_array_zero(s->ctx, values, sizeof *s->given_up);
    s->left_out = kn_alloc_array_zero(s->ctx, (size_t)s->problem->records->count + 1, sizeof *s->left_out);
    s->rare = kn_alloc_array(s->ctx, values, sizeof *s->rare);
    if (!s->given_up || !s->left_out || !s->rare) return kn_fail_memory(err, s->ctx, WHAT);
    KN_TRY(try_it(s, err));
    if (s->best && s->best_loss.loss <= 0) return KN_OK; /* nothing is lost */
    KN_TRY(refine(s, err));
    KN_TRY(try_values(s, err));
    KN_TRY(refine(s, err));
    KN_TRY(leave_out(s, err));
    if (!s->leaving) return KN_OK;
    memset(s->given_up, 0, values * sizeof *s->given_up);
    KN_TRY(try_it(s, err));
    KN_TRY(try_values(s, err));
    return refine(s, err);
}

kn_status kn_tree_search_suppressing(kn_tree_result **out, kn_context *ctx, const kn_tree_problem *problem,
                                     kn_error *err)
{
    suppressing s = {.ctx = ctx, .problem = problem, .vocabulary = problem->records->vocabulary, .complete = true};
    *out = NULL;
    if (problem->time_limit > 0) s.deadline = kn_clock_seconds() + problem->time_limit;
    kn_status st = try_all(&s, err);
    if (st == KN_OK && !s.best) { /* none: a result without a plan */
        s.best = kn_alloc_zero(ctx, sizeof *s.best);
        if (!s.best) st = kn_fail_memory(err, ctx, WHAT);
    }
    KN_FREE(s.given_up, s.left_out, s.rare);
    if (st != KN_OK) {
        kn_tree_result_free(s.best);
        return st;
    }
    s.best->counters = s.counters;
    s.best->complete = s.complete;
    s.best->given_up = s.best_loss.given_up;
    s.best->left_out = s.best_loss.left_out;
    *out = s.best;
    return KN_OK;
}
