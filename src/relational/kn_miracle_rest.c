/* kn_miracle_rest.c: what becomes of clusters and persons that are left when all persons were placed: each is merged with the
 * nearest, found among many in parallel. Likewise the clusterings beside CDGH, and classes that break a promise.
 *
 * Cost: for each merge a distance to each of the others, less those that a lower bound excludes.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "kn_alloc.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_miracle_state.h"
#include "kn_parallel.h"

/* ---- Looking for the nearest among many ---- */

/* A lower bound of the distance of an item, whose signature is given, and the fixed one. */
static kn_loss bound_of_item(const fast *f, const kn_lane *lane, const kn_signature *s, size_t i, const candidate *best)
{
    const kn_signature *x = f->fixed_represents ? f->fixed_signature : s;
    const kn_signature *y = f->fixed_represents ? s : f->fixed_signature;
    return kn_fast_raised(f, lane, kn_signature_coarse_bound(&f->bounds, x, y), x, y, f->fixed_represents, i, best);
}

/* Compares the i-th item with the fixed one. Finished classes have no signature: one is made where it is needed. */
static kn_status look_at(fast *f, kn_lane *lane, size_t i, candidate *best, kn_error *err)
{
    kn_cluster *item = f->items[i];
    bool        own = item->signature != NULL, made = false;
    if (!own) kn_signature_fill(lane->signature, &f->bounds, item);
    bool chance = kn_better(bound_of_item(f, lane, own ? item->signature : lane->signature, i, best), i, best);
    if (chance && !own && f->flat) {
        kn_signature_clear(f->fixed_signature, &f->bounds, lane->counts);
        KN_TRY(kn_fast_sign(f, lane, item, err));
        kn_signature_spread(f->fixed_signature, &f->bounds, lane->counts);
        made = true;
        chance = kn_better(bound_of_item(f, lane, item->signature, i, best), i, best);
    }
    if (!chance)
        lane->skipped++;
    else if (f->fixed_represents)
        kn_try_distance(lane, f->fixed, item, i, best);
    else
        kn_try_distance(lane, item, f->fixed, i, best);
    if (!made) return KN_OK;
    kn_free(item->signature);
    item->signature = NULL;
    return KN_OK;
}

static kn_status look_in_piece(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    fast *f = arg;
    (void)worker;
    for (int64_t l = begin; l < end; l++) {
        kn_lane *lane = &f->lanes[l];
        size_t   from = f->item_first + (size_t)l * f->piece, to = from + f->piece;
        if (to > f->item_first + f->item_count) to = f->item_first + f->item_count;
        KN_TRY(kn_lane_room(lane, f->fixed->nodes, err));
        kn_signature_spread(f->fixed_signature, &f->bounds, lane->counts);
        for (size_t i = from; i < to; i++)
            if (!f->skip || !f->skip[i]) KN_TRY(look_at(f, lane, i, &f->nearest[l], err));
        kn_signature_clear(f->fixed_signature, &f->bounds, lane->counts);
    }
    return KN_OK;
}

/* Interns the fixed one and the items that are next, where whole subtrees are matched. */
static kn_status intern_items(fast *f, kn_cluster *fixed, kn_error *err)
{
    if (f->flat) return KN_OK;
    KN_TRY(kn_store_intern(&f->store, fixed, err));
    for (size_t i = 0; i < f->item_count; i++) KN_TRY(kn_store_intern(&f->store, f->items[f->item_first + i], err));
    return KN_OK;
}

/* The item (from `first` on, but for those to skip) that is nearest to `fixed`, which is the representative of the two
 * or the entity; of equal ones the first. SIZE_MAX: there is none. */
static kn_status find_nearest(fast *f, size_t *out, kn_cluster *fixed, bool represents, kn_cluster **items,
                              size_t first, size_t count, const bool *skip, kn_error *err)
{
    kn_context *ctx = f->work->ctx;
    KN_TRY(kn_fast_sign(f, &f->lanes[0], fixed, err));
    f->fixed = fixed;
    f->fixed_signature = fixed->signature;
    f->fixed_represents = represents;
    f->items = items;
    f->skip = skip;
    for (int l = 0; l < LANES; l++) f->nearest[l] = (candidate){{0, 0}, SIZE_MAX};
    for (size_t begin = first; begin < count; begin += AT_ONCE) {
        if (kn_cancelled(ctx)) return kn_fail_cancelled(err);
        f->item_first = begin;
        f->item_count = count - begin < AT_ONCE ? count - begin : AT_ONCE;
        if (f->store.count > f->store_limit && count > AT_ONCE) kn_fast_forget(f);
        KN_TRY(intern_items(f, fixed, err));
        int lanes = f->item_count < ALONE ? 1 : LANES;
        f->piece = (f->item_count + (size_t)lanes - 1) / (size_t)lanes;
        KN_TRY(kn_parallel_for(ctx, lanes, 1, look_in_piece, f, err));
    }
    candidate best = f->nearest[0];
    for (int l = 1; l < LANES; l++)
        if (f->nearest[l].at != SIZE_MAX && kn_better(f->nearest[l].loss, f->nearest[l].at, &best))
            best = f->nearest[l];
    *out = best.at;
    return KN_OK;
}

/* ---- Merging ---- */

/* list[at] becomes its anonymization with `other`, which stays. */
static kn_status merge_into(fast *f, kn_lane *lane, kn_cluster_list *list, size_t at, kn_cluster *other, kn_error *err)
{
    kn_cluster *both;
    KN_TRY(kn_fast_merged(f, lane, &both, list->items[at], other, err));
    kn_cluster_free(list->items[at]);
    list->items[at] = both;
    return KN_OK;
}

/* The first of the list and the one nearest to it become one, at the first place. */
static kn_status merge_first(fast *f, kn_cluster_list *list, kn_error *err)
{
    size_t at;
    if (kn_cancelled(f->work->ctx)) return kn_fail_cancelled(err);
    KN_TRY(find_nearest(f, &at, list->items[0], true, list->items, 1, list->count, NULL, err));
    kn_cluster *other = kn_cluster_list_take(list, at);
    kn_status   st = merge_into(f, &f->lanes[0], list, 0, other, err);
    kn_cluster_free(other);
    KN_TRY(st);
    f->work->counters->merged++;
    return kn_fast_sign(f, &f->lanes[0], list->items[0], err);
}

/* ---- Algorithm 2, lines 13 to 20, and what is left (M3) ---- */

kn_status kn_rest_merge(fast *f, kn_error *err)
{
    while (f->open.count > 1) {
        KN_TRY(merge_first(f, &f->open, err));
        if (f->open.items[0]->size < f->work->k) continue;
        KN_TRY(kn_fast_finish(f, kn_cluster_list_take(&f->open, 0), err));
    }
    return KN_OK;
}

kn_status kn_rest_absorb(fast *f, kn_error *err)
{
    kn_relational_work *work = f->work;
    if (f->open.count == 0 || work->done.count == 0 || work->problem->leftovers == KN_LEFTOVERS_DROP) return KN_OK;
    const kn_cluster *left = f->open.items[0];
    for (uint32_t m = 0; m < left->size; m++) {
        kn_cluster *person;
        size_t      at;
        KN_TRY(kn_cluster_of_entity(&person, work->ctx, work->problem->forest, work->losses, left->members[m], err));
        kn_status st = find_nearest(f, &at, person, false, work->done.items, 0, work->done.count, NULL, err);
        if (st == KN_OK) st = merge_into(f, &f->lanes[0], &work->done, at, person, err);
        kn_cluster_free(person);
        KN_TRY(st);
        work->counters->absorbed++;
    }
    return KN_OK;
}

/* ---- For the clusterings beside CDGH ---- */

/* Measures how far the items of a piece are from the fixed one. */
static kn_status measure_piece(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    fast *f = arg;
    (void)worker;
    for (int64_t l = begin; l < end; l++) {
        kn_lane *lane = &f->lanes[l];
        size_t   from = f->item_first + (size_t)l * f->piece, to = from + f->piece;
        if (to > f->item_first + f->item_count) to = f->item_first + f->item_count;
        KN_TRY(kn_lane_room(lane, f->fixed->nodes, err));
        for (size_t i = from; i < to; i++) {
            if (f->flat) KN_TRY(kn_fast_sign(f, lane, f->items[i], err));
            kn_lane_loss(lane, f->fixed, f->items[i], &(kn_limit){0}, &f->measured[i]);
            lane->distances++;
        }
    }
    return KN_OK;
}

static kn_status measure_all(void *self, kn_loss *out, kn_cluster *representative, kn_cluster *const *entities,
                             size_t count, kn_error *err)
{
    fast *f = self;
    KN_TRY(kn_fast_sign(f, &f->lanes[0], representative, err));
    f->fixed = representative;
    f->items = (kn_cluster **)(uintptr_t)entities;
    f->measured = out;
    for (size_t begin = 0; begin < count; begin += AT_ONCE) {
        if (kn_cancelled(f->work->ctx)) return kn_fail_cancelled(err);
        f->item_first = begin;
        f->item_count = count - begin < AT_ONCE ? count - begin : AT_ONCE;
        KN_TRY(intern_items(f, representative, err));
        int lanes = f->item_count < ALONE ? 1 : LANES;
        f->piece = (f->item_count + (size_t)lanes - 1) / (size_t)lanes;
        KN_TRY(kn_parallel_for(f->work->ctx, lanes, 1, measure_piece, f, err));
    }
    return KN_OK;
}

static kn_status nearest_entity(void *self, size_t *out, kn_cluster *representative, kn_cluster **entities,
                                size_t count, kn_error *err)
{
    return find_nearest(self, out, representative, true, entities, 0, count, NULL, err);
}

static kn_status merge_both(void *self, kn_cluster **out, kn_cluster *a, kn_cluster *b, kn_error *err)
{
    fast *f = self;
    return kn_fast_merged(f, &f->lanes[0], out, a, b, err);
}
kn_status kn_rest_cluster(fast *f, kn_error *err)
{
    const kn_anonymizer by = {f, measure_all, nearest_entity, merge_both};
    return kn_skeleton_cluster(f->work, &by, &f->open, err);
}

/* ---- Algorithm 6 ---- */

static kn_status diverse(fast *f, bool *good, const kn_cluster *c, kn_error *err)
{
    return kn_cluster_diverse(good, NULL, f->work->ctx, f->work->problem, c, &f->codes, err);
}

/* M13: the last class without diversity joins the nearest good class that stays good, or is dropped. */
static kn_status place_last(fast *f, kn_cluster *last, kn_error *err)
{
    kn_relational_work *work = f->work;
    bool               *tried = kn_alloc_zero(work->ctx, work->done.count + 1);
    if (!tried) return kn_fail_memory(err, work->ctx, "merging classes");
    kn_status st = KN_OK;
    bool      good = false;
    for (size_t round = 0; st == KN_OK && !good && round < work->done.count; round++) {
        size_t      at;
        kn_cluster *both = NULL;
        st = find_nearest(f, &at, last, false, work->done.items, 0, work->done.count, tried, err);
        if (st != KN_OK) break;
        tried[at] = true;
        st = kn_fast_merged(f, &f->lanes[0], &both, work->done.items[at], last, err);
        if (st == KN_OK) st = diverse(f, &good, both, err);
        if (st != KN_OK || !good) {
            kn_cluster_free(both);
            continue;
        }
        kn_cluster_free(work->done.items[at]);
        work->done.items[at] = both;
        work->counters->absorbed += last->size;
    }
    kn_free(tried);
    return st;
}

kn_status kn_rest_diversify(fast *f, kn_cluster_list *bad, kn_error *err)
{
    kn_relational_work *work = f->work;
    kn_cluster_list     all = work->done;
    kn_status           st = KN_OK;
    work->done = (kn_cluster_list){0};
    for (size_t i = 0; i < all.count; i++) {
        bool good = true;
        if (st == KN_OK) st = diverse(f, &good, all.items[i], err);
        if (st == KN_OK)
            st = kn_cluster_list_add(good ? &work->done : bad, work->ctx, all.items[i], err);
        else
            kn_cluster_free(all.items[i]);
    }
    kn_free(all.items);
    KN_TRY(st);
    if (work->problem->repair == KN_DIVERSITY_SUPPRESS) return KN_OK;
    while (bad->count > 1) {
        bool good;
        KN_TRY(merge_first(f, bad, err));
        KN_TRY(diverse(f, &good, bad->items[0], err));
        KN_TRY(kn_cluster_list_add(good ? &work->done : bad, work->ctx, kn_cluster_list_take(bad, 0), err));
    }
    if (bad->count == 0 || work->problem->leftovers == KN_LEFTOVERS_DROP) return KN_OK;
    return place_last(f, bad->items[0], err);
}
