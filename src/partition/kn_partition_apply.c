/* kn_partition_apply.c: partitions other rows by the cuts of an earlier search (kn_partition.h).
 *
 * Every row goes down the tree of cuts to one region. As in a search, the cells of a region are as narrow as its
 * current rows allow; so the same rows give the same plan.
 *
 * Cost: one pass over the rows of each region that is cut, as in a search; no frequency set is counted.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_mondrian.h"

#define WHAT "applying a recipe"

typedef struct applying {
    kn_context              *ctx;
    kn_space                 space;
    const kn_partition_tree *tree;
    kn_row_judge             judge;
    kn_regions               good, bad;
} applying;

static bool add(applying *a, kn_regions *to, kn_region region)
{
    return region.begin == region.end || kn_regions_add(to, a->ctx, region);
}

/* Moves rows that cannot be shown to the front; *rest: the others. */
static kn_status set_aside(applying *a, kn_region *rest, const bool *const *lacking, kn_error *err)
{
    for (int q = 0; lacking && q < a->space.count; q++)
        for (uint32_t p = 0; lacking[q] && p < a->space.dimensions[q].positions; p++) {
            if (!lacking[q][p]) continue;
            uint32_t at = kn_space_cut(&a->space, *rest, (kn_cut){q, p, p});
            if (!add(a, &a->bad, (kn_region){rest->begin, at, 0})) return kn_fail_memory(err, a->ctx, WHAT);
            rest->begin = at;
        }
    return KN_OK;
}

/* Ends a region that no cut divides: a class, or rows to suppress. */
static kn_status finish(applying *a, kn_region region, kn_error *err)
{
    bool holds = false;
    if (region.begin == region.end) return KN_OK;
    KN_TRY(kn_region_holds(&holds, &a->space, &a->judge, region, err));
    return add(a, holds ? &a->good : &a->bad, region) ? KN_OK : kn_fail_memory(err, a->ctx, WHAT);
}

/* A region and the cut that divides it; -1: none. */
typedef struct pending {
    kn_region region;
    int64_t   cut;
} pending;

static kn_status send_down(applying *a, kn_region all, kn_error *err)
{
    pending  *stack = NULL;
    size_t    capacity = 0, count = 0;
    kn_status st = KN_GROW(a->ctx, &stack, &capacity, 1) ? KN_OK : kn_fail_memory(err, a->ctx, WHAT);
    if (st == KN_OK) stack[count++] = (pending){all, a->tree->count > 0 ? 0 : -1};
    while (st == KN_OK && count > 0) {
        pending at = stack[--count];
        if (at.cut < 0 || at.region.begin == at.region.end) {
            st = finish(a, at.region, err);
            continue;
        }
        const kn_partition_cut *c = &a->tree->cuts[at.cut];
        uint32_t                middle = c->low > c->high
                                             ? at.region.begin
                                             : kn_space_cut(&a->space, at.region, (kn_cut){c->dimension, c->low, c->high});
        if (!KN_GROW(a->ctx, &stack, &capacity, count + 2)) {
            st = kn_fail_memory(err, a->ctx, WHAT);
            break;
        }
        stack[count++] = (pending){{middle, at.region.end, 0}, c->second};
        stack[count++] = (pending){{at.region.begin, middle, 0}, c->first};
    }
    kn_free(stack);
    return st;
}

static kn_status plan(kn_plan **out, applying *a, kn_error *err)
{
    KN_TRY(kn_regions_plan(out, &a->space, &a->good, NULL, err));
    for (size_t r = 0; r < a->bad.count; r++) {
        (*out)->suppressed += kn_space_size(&a->space, a->bad.items[r]);
        for (uint32_t i = a->bad.items[r].begin; i < a->bad.items[r].end; i++)
            (*out)->class_of_row[kn_space_row(&a->space, i)] = KN_CLASS_SUPPRESSED;
    }
    return KN_OK;
}

kn_status kn_partition_apply(kn_plan **out, kn_context *ctx, const kn_partition_problem *problem,
                             const kn_partition_tree *tree, const bool *const *lacking, kn_error *err)
{
    applying a = {.ctx = ctx, .tree = tree};
    *out = NULL;
    KN_TRY(kn_space_make(&a.space, ctx, problem, err));
    kn_region rest = {0, a.space.rows, 0};
    kn_status st = kn_region_judge_make(&a.judge, &a.space, problem, err);
    if (st == KN_OK) st = set_aside(&a, &rest, lacking, err);
    if (st == KN_OK) st = send_down(&a, rest, err);
    if (st == KN_OK) st = plan(out, &a, err);
    kn_row_judge_free(&a.judge);
    KN_FREE(a.good.items, a.bad.items);
    kn_space_free(&a.space);
    return st;
}
