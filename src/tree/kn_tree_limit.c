/* kn_tree_limit.c: records with too many combinations of values to be counted, reported before the search.
 *
 * Interface: kn_tree_work.h. An attacker who knows up to m of n values of a record knows one of C(n, 1) + … + C(n, m)
 * combinations, and all of them are counted by the search and again by the verifier. The values that matter are those
 * that a release may show: a value, or one above it, that at least k records have. Of these none is above another, so
 * the most that one record can show is found from its values upwards: a node shows itself, or what its children show.
 *
 * Cost: one pass over the records if none has many nodes; else two, with the path from each value to "*".
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_tree_work.h"

typedef struct reach {
    const kn_tree_problem *problem;
    int64_t               *support; /* per value: the records that have it or one below it */
    int64_t               *seen;    /* per value: the last record that did, counted from 1 */
    uint64_t              *shows;   /* per value of the current record                      */
    uint32_t              *touched; /* values of the current record and those above them    */
    uint32_t               count;
} reach;

/* Sets of up to m of n, as far as the limit. */
static double sets_of(uint64_t n, int m)
{
    double sets = 0, chosen = 1;
    for (int s = 1; s <= m && (uint64_t)s <= n && sets <= KN_TREE_MOST_SETS; s++) {
        chosen = chosen * (double)(n - (uint64_t)s + 1) / s;
        sets += chosen;
    }
    return sets;
}

static bool is_known(const kn_tree_problem *p, uint32_t value)
{
    const kn_vocabulary *v = p->records->vocabulary;
    return !kn_tree_asks_diversity(p) || v->cls[value] == KN_VOCABULARY_NO_CLASS || !v->sensitive[v->cls[value]];
}

/* The values of a record that may be known, and all those above them, each once. */
static void touch(reach *r, int64_t record, int64_t mark)
{
    const kn_records *x = r->problem->records;
    r->count = 0;
    for (uint64_t i = x->start[record]; i < x->start[record + 1]; i++) {
        if (!is_known(r->problem, x->value[i])) continue;
        for (uint32_t u = x->value[i]; u != UINT32_MAX && r->seen[u] != mark; u = x->vocabulary->parent[u]) {
            r->seen[u] = mark;
            r->shows[u] = 0;
            r->touched[r->count++] = u;
        }
    }
}

static int downwards(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? 1 : x > y ? -1 : 0;
}

/* The most values that the current record can show. Children come after their parents. */
static uint64_t most_shown(reach *r)
{
    const kn_vocabulary *v = r->problem->records->vocabulary;
    qsort(r->touched, r->count, sizeof *r->touched, downwards);
    for (uint32_t i = 0; i < r->count; i++) {
        uint32_t u = r->touched[i];
        if (r->shows[u] == 0 && r->support[u] >= r->problem->k) r->shows[u] = 1;
        if (v->parent[u] != UINT32_MAX) r->shows[v->parent[u]] += r->shows[u];
    }
    return r->count > 0 ? r->shows[0] : 0; /* those of "*" */
}

static kn_status look(reach *r, kn_error *err)
{
    const kn_records *x = r->problem->records;
    for (int64_t i = 0; i < x->count; i++) {
        touch(r, i, i + 1);
        for (uint32_t t = 0; t < r->count; t++) r->support[r->touched[t]]++;
    }
    memset(r->seen, 0, x->vocabulary->nodes * sizeof *r->seen);
    for (int64_t i = 0; i < x->count; i++) {
        if (sets_of(x->start[i + 1] - x->start[i], r->problem->m) <= KN_TREE_MOST_SETS) continue;
        touch(r, i, i + 1);
        uint64_t shown = most_shown(r);
        if (sets_of(shown, r->problem->m) > KN_TREE_MOST_SETS)
            return kn_fail(
                err, KN_INPUT,
                "record %lld: %llu values of it may be shown, and sets of up to %d of them are more than %d: too "
                "many to be counted; lower m, leave a class out, or split the record",
                (long long)i + 1, (unsigned long long)shown, r->problem->m, KN_TREE_MOST_SETS);
    }
    return KN_OK;
}

kn_status kn_tree_check_size(kn_context *ctx, const kn_tree_problem *problem, kn_error *err)
{
    const kn_records *x = problem->records;
    uint64_t          most = 0;
    for (int64_t i = 0; i < x->count; i++)
        if (x->start[i + 1] - x->start[i] > most) most = x->start[i + 1] - x->start[i];
    if (sets_of(most, problem->m) <= KN_TREE_MOST_SETS) return KN_OK;
    size_t    nodes = x->vocabulary->nodes;
    reach     r = {.problem = problem};
    kn_status st = KN_OK;
    if (KN_ALLOC_ZERO(ctx, r.support, nodes) && KN_ALLOC_ZERO(ctx, r.seen, nodes) && KN_ALLOC(ctx, r.shows, nodes) &&
        KN_ALLOC(ctx, r.touched, nodes))
        st = look(&r, err);
    else
        st = kn_fail_memory(err, ctx, "searching the cuts");
    KN_FREE(r.support, r.seen, r.shows, r.touched);
    return st;
}
