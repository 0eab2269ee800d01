/* kn_apriori.c: Algorithm 2 ("finding S that respect a minimum k-anonymity", section 4.3), level by level.
 *
 * P holds the sets of one size that hold. Candidates of the next size are unions of two sets of P that differ in one
 * attribute each, if all their subsets of one attribute less are in P (line 13). Each candidate is evaluated once
 * (docs/errata.md 1.4; the letter evaluates it once per pair). A set without a larger one that holds goes to F (line 22).
 * Candidates that fail are the other border, since all their subsets hold. Cost: as many evaluations as sets with only good
 * subsets.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_apriori.h"

#include <stdlib.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_compare.h"
#include "kn_context.h"
#include "kn_error.h"

static bool push(kn_context *ctx, kn_mask_list *list, uint64_t mask)
{
    if (!KN_GROW(ctx, &list->masks, &list->capacity, (size_t)list->count + 1)) return false;
    list->masks[list->count++] = mask;
    return true;
}

void kn_apriori_free(kn_apriori_result *result)
{
    KN_FREE(result->maximal.masks, result->minimal_violating.masks);
    *result = (kn_apriori_result){0};
}

static int64_t find(const kn_mask_list *sorted, uint64_t mask)
{
    int64_t low = 0, high = sorted->count;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (sorted->masks[middle] == mask) return middle;
        if (sorted->masks[middle] < mask)
            low = middle + 1;
        else
            high = middle;
    }
    return -1;
}

static uint64_t highest_bit(uint64_t mask)
{
    return (uint64_t)1 << (63 - __builtin_clzll(mask));
}

static bool all_subsets_hold(const kn_mask_list *level, uint64_t candidate)
{
    for (uint64_t rest = candidate; rest; rest &= rest - 1)
        if (find(level, candidate & ~(rest & -rest)) < 0) return false;
    return true;
}

/* Unions of two sets of the level that agree but for their highest attribute: every candidate arises once. */
static bool make_candidates(kn_context *ctx, const kn_mask_list *level, kn_mask_list *candidates)
{
    candidates->count = 0;
    for (int64_t i = 0; i < level->count; i++) {
        uint64_t a = level->masks[i];
        for (int64_t j = i + 1; j < level->count; j++) {
            uint64_t b = level->masks[j];
            if ((a & ~highest_bit(a)) != (b & ~highest_bit(b)) || !all_subsets_hold(level, a | b)) continue;
            if (!push(ctx, candidates, a | b)) return false;
        }
        if (kn_cancelled(ctx)) return true;
    }
    if (candidates->count)
        qsort(candidates->masks, (size_t)candidates->count, sizeof *candidates->masks, kn_compare_u64);
    return true;
}

typedef struct apriori {
    kn_context        *ctx;
    kn_apriori_result *out;
    kn_mask_list       level, next, candidates;
    bool              *holds;    /* of the candidates */
    bool              *extended; /* of the level: a larger set holds */
    size_t             holds_capacity, extended_capacity;
} apriori;

/* Evaluates the candidates: those that hold become the next level. */
static kn_status evaluate(apriori *a, kn_apriori_test test, void *arg, kn_error *err)
{
    const char *what = "searching sets of columns";
    if (!KN_GROW(a->ctx, &a->holds, &a->holds_capacity, (size_t)a->candidates.count + 1) ||
        !KN_GROW(a->ctx, &a->extended, &a->extended_capacity, (size_t)a->level.count + 1))
        return kn_fail_memory(err, a->ctx, what);
    a->out->calls += a->candidates.count;
    KN_TRY(test(arg, a->candidates.masks, a->candidates.count, a->holds, err));
    a->next.count = 0;
    memset(a->extended, 0, (size_t)a->level.count * sizeof *a->extended);
    for (int64_t i = 0; i < a->candidates.count; i++) {
        uint64_t set = a->candidates.masks[i];
        if (!push(a->ctx, a->holds[i] ? &a->next : &a->out->minimal_violating, set))
            return kn_fail_memory(err, a->ctx, what);
        for (uint64_t rest = set; rest && a->holds[i]; rest &= rest - 1)
            a->extended[find(&a->level, set & ~(rest & -rest))] = true;
    }
    for (int64_t i = 0; i < a->level.count; i++)
        if (!a->extended[i] && !push(a->ctx, &a->out->maximal, a->level.masks[i]))
            return kn_fail_memory(err, a->ctx, what);
    kn_mask_list swap = a->level;
    a->level = a->next;
    a->next = swap;
    if (a->level.count) qsort(a->level.masks, (size_t)a->level.count, sizeof *a->level.masks, kn_compare_u64);
    return KN_OK;
}

static kn_status search(apriori *a, int columns, int max_size, kn_apriori_test test, void *arg, kn_error *err)
{
    if (!push(a->ctx, &a->level, 0)) return kn_fail_memory(err, a->ctx, "searching sets of columns");
    for (int c = 0; c < columns; c++)
        if (!push(a->ctx, &a->candidates, (uint64_t)1 << c))
            return kn_fail_memory(err, a->ctx, "searching sets of columns");
    for (int size = 1; a->level.count > 0; size++) {
        if (kn_cancelled(a->ctx)) return kn_fail_cancelled(err);
        if (max_size > 0 && size > max_size && a->candidates.count > 0) {
            a->out->complete = false;
            a->candidates.count = 0; /* the largest size that is searched              */
        }
        KN_TRY(evaluate(a, test, arg, err));
        if (!make_candidates(a->ctx, &a->level, &a->candidates))
            return kn_fail_memory(err, a->ctx, "searching sets of columns");
    }
    return KN_OK;
}

kn_status kn_apriori(kn_apriori_result *out, kn_context *ctx, int columns, int max_size, kn_apriori_test test,
                     void *arg, kn_error *err)
{
    *out = (kn_apriori_result){.complete = true};
    apriori   a = {.ctx = ctx, .out = out};
    kn_status st = search(&a, columns, max_size, test, arg, err);
    KN_FREE(a.level.masks, a.next.masks, a.candidates.masks, a.holds, a.extended);
    if (st != KN_OK) kn_apriori_free(out);
    return st;
}
