/* kn_miracle.c: MiRaCle, MiRaCleX and dMiRaCle, fast: the plans of kn_miracle_reference.c at a fraction of its cost.
 *
 * - If siblings are matched by their own values, distances are computed from the clusters' arrays, level by level,
 * and stop as soon as they cannot win (kn_miracle_flat.c). If they are matched by whole subtrees, these are interned
 *   and the costs of pairs remembered (kn_miracle_store.c, kn_miracle_deep.c).
 * - A cluster whose lower bound (kn_miracle_bound.c) cannot win is skipped: a coarse bound first, more expensive ones
 * if it does not exclude. The most promising cluster goes first.
 * - The persons of a group are compared with all clusters in parallel, before the changes by earlier persons are
 * known; then they are placed one by one, and only clusters that changed meanwhile are compared again. Where nothing is
 * interned, the persons after them are compared while they are placed, with the clusters as they were before; and with runs (see
 * below) those after these loaded: three groups are at hand.
 * - Of two who follow each other the second mostly joins what the first has just made: in the order of trees they are
 * alike. So that cluster is measured first. With MANY_THREADS, what becomes of a cluster that begins with a person and
 * is joined by the next ones (a run) is made ahead for all persons, five times as many as are needed; placing then finds most
 * clusters ready. Results and counters are as without: what was made in vain is not counted.
 * - Where a new cluster may begin, one that is too far by its bound is not measured.
 * - Of a person's distances from the clusters before the group the nearest is kept: while that cluster is as it was, or another
 * is nearer, the unchanged ones are not looked at. The changed ones are on a list.
 *
 * What is left when all persons were placed is in kn_miracle_rest.c.
 *
 * Where subtrees are interned, each person of a group has a lane, for any number of threads.
 *
 * Memory: open clusters, finished ones (they are the plan), and for whole subtrees STORE_LIMIT of them or four times
 * those of the open clusters, and LANES memories of costs. What is known of the persons of three groups and the open clusters:
 * 72 bytes for each, in groups of MOST_GROUP or so few that MOST_KNOWN of a group are enough.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_miracle_state.h"

#include <string.h>

#include "kn_alloc.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_parallel.h"

kn_status kn_fast_sign(fast *f, kn_lane *lane, kn_cluster *c, kn_error *err)
{
    if (c->signature) return KN_OK;
    return kn_signature_make(&c->signature, &f->bounds, c, lane->counts, lane->touched, err);
}

static void drop_signature(kn_cluster *c)
{
    kn_free(c->signature);
    c->signature = NULL;
}

/* What a distance needs of each side. Interning is for one thread at a time. */
static kn_status make_ready(fast *f, kn_lane *lane, kn_cluster *c, kn_error *err)
{
    return f->flat ? kn_fast_sign(f, lane, c, err) : kn_store_intern(&f->store, c, err);
}

void kn_fast_forget(fast *f)
{
    kn_store_forget(&f->store);
    for (int i = 0; i < f->lane_count; i++) kn_lane_forget(&f->lanes[i]);
}

/* ---- Merging ---- */

kn_status kn_fast_merged(fast *f, kn_lane *lane, kn_cluster **out, kn_cluster *a, kn_cluster *b, kn_error *err)
{
    kn_context *ctx = f->work->ctx;
    *out = NULL;
    KN_TRY(make_ready(f, lane, a, err));
    KN_TRY(make_ready(f, lane, b, err));
    kn_pair *pairs = kn_alloc_array(ctx, a->nodes < b->nodes ? a->nodes : b->nodes, sizeof *pairs);
    if (!pairs) return kn_fail_memory(err, ctx, "pairing rows");
    uint32_t  count = kn_lane_pairs(lane, a, b, pairs);
    kn_status st = kn_cluster_merge(out, ctx, f->work->losses, a, b, pairs, count, err);
    kn_free(pairs);
    return st;
}

/* A class is finished: its signature is needed again only where classes are merged. */
kn_status kn_fast_finish(fast *f, kn_cluster *c, kn_error *err)
{
    if (f->work->problem->method != KN_METHOD_DMIRACLE) drop_signature(c);
    return kn_cluster_list_add(&f->work->done, f->work->ctx, c, err);
}

/* ---- Algorithm 2, lines 2 to 12 ---- */

/* What is left of a person who was placed. */
static void drop_person(group *g, int64_t i)
{
    kn_cluster_free(g->persons[i]);
    kn_cluster_free(g->replaced[i]);
    for (int r = 0; r < RUN; r++) kn_cluster_free(g->runs[i][r].cluster);
    g->persons[i] = g->replaced[i] = NULL;
    memset(g->runs[i], 0, sizeof g->runs[i]);
}

/* Costs that are remembered, and so what has to be computed, must not depend on who computes. */
static kn_lane *lane_of(const fast *f, int64_t i, int worker)
{
    return &f->lanes[f->flat ? worker : i];
}

static kn_status load_person(fast *f, group *g, int64_t i, int worker, kn_error *err)
{
    drop_person(g, i);
    KN_TRY(kn_cluster_of_entity(&g->persons[i], f->work->ctx, f->work->problem->forest, f->work->losses,
                                f->work->order[g->first + i], err));
    return kn_fast_sign(f, lane_of(f, i, worker), g->persons[i], err);
}

static kn_status load_persons(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    fast *f = arg;
    for (int64_t i = begin; i < end; i++) KN_TRY(load_person(f, f->now, i, worker, err));
    return KN_OK;
}

/* Compares one person with the clusters that were open when its group began. */
static kn_status look_ahead(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    fast  *f = arg;
    group *g = f->ahead;
    for (int64_t i = begin; i < end; i++) {
        kn_lane            *lane = lane_of(f, i, worker);
        const kn_signature *person = g->persons[i]->signature;
        known              *row = g->known + (size_t)i * g->slots;
        candidate           lowest = {{0, 0}, SIZE_MAX}, best = lowest;
        KN_TRY(kn_lane_room(lane, g->persons[i]->nodes, err));
        kn_signature_spread(person, &f->bounds, lane->counts);
        g->exact[i] = 0;
        for (size_t s = 0; s < g->slots; s++) {
            row[s] = (known){kn_signature_coarse_bound(&f->bounds, g->seen[s]->signature, person), false};
            if (kn_better(row[s].loss, s, &lowest)) lowest = (candidate){row[s].loss, s};
        }
        for (size_t round = 0; round <= g->slots; round++) {
            size_t s = round == 0 ? lowest.at : round - 1;
            if (s == SIZE_MAX || row[s].exact) continue;
            row[s].loss = kn_fast_raised(f, lane, row[s].loss, g->seen[s]->signature, person, false, s, &best);
            if (!kn_better(row[s].loss, s, &best)) continue;
            row[s].exact = kn_distance(lane, g->seen[s], g->persons[i], s, &best, &row[s].loss);
            g->exact[i] += row[s].exact;
            if (row[s].exact && kn_better(row[s].loss, s, &best)) best = (candidate){row[s].loss, s};
        }
        kn_signature_clear(person, &f->bounds, lane->counts);
        g->nearest[i] = best;
    }
    return KN_OK;
}

/* How far the i-th person of a group is from a cluster, to the end; the pair evaluations are not counted yet. */
static kn_status measure_next(kn_lane *lane, const group *g, int i, const kn_cluster *c, kn_loss *loss,
                              int64_t *evaluations, kn_error *err)
{
    int64_t before = lane->evaluations;
    KN_TRY(kn_lane_room(lane, g->persons[i]->nodes, err));
    (void)kn_lane_loss(lane, c, g->persons[i], &(kn_limit){0}, loss);
    *evaluations = lane->evaluations - before;
    lane->evaluations = before;
    return KN_OK;
}

/* If the i-th person begins a cluster, those after them mostly join it: what becomes of it then. */
static kn_status make_run(fast *f, group *g, int i, kn_lane *lane, kn_error *err)
{
    kn_cluster *c = g->persons[i];
    for (int r = 0; r < RUN && i + r < g->count; r++) {
        step   *s = &g->runs[i][r];
        int64_t before = lane->evaluations;
        if (r > 0) {
            KN_TRY(kn_fast_merged(f, lane, &s->cluster, c, g->persons[i + r], err));
            c = s->cluster;
        }
        s->merging = lane->evaluations - before;
        lane->evaluations = before;
        if (c->size >= f->work->k || i + r + 1 == g->count) break;
        KN_TRY(kn_fast_sign(f, lane, c, err));
        KN_TRY(measure_next(lane, g, i + r + 1, c, &s->loss, &s->measuring, err));
        s->measured = true;
    }
    return KN_OK;
}

static bool is_barred(const fast *f, size_t at)
{
    return f->barred && f->barred[at];
}

/* The i-th person and the cluster that was changed last, which is mostly the nearest: measured to the end, ahead or now. */
static kn_status try_latest(fast *f, int i, kn_lane *lane, candidate *best, kn_error *err)
{
    const latest *l = &f->latest;
    int64_t       evaluations;
    if (!f->flat || l->at == SIZE_MAX || is_barred(f, l->at)) return KN_OK;
    const step *s = l->length > 0 && l->length <= RUN ? &f->now->runs[l->first][l->length - 1] : NULL;
    best->at = l->at;
    if (s && s->measured) {
        best->loss = s->loss;
        evaluations = s->measuring;
    } else {
        KN_TRY(measure_next(lane, f->now, i, f->open.items[l->at], &best->loss, &evaluations, err));
    }
    lane->evaluations += evaluations;
    lane->distances++;
    return KN_OK;
}

/* Is it certain that a cluster with this lower bound is not joined? It is too far where a new one may begin. */
static bool too_far(const fast *f, kn_loss bound)
{
    const kn_relational_problem *problem = f->work->problem;
    return (int64_t)f->open.count < problem->climit && kn_loss_above(bound, f->work->losses->unit, problem->threshold);
}

/* Measures what is open at a place, unless its lower bound says that it is not nearer than the best. Without the fine bound where
 * distances are cheap: of 125,000 it excluded 2,000, and for each person one would have to spread the signature first. */
static void try_open(fast *f, int i, kn_lane *lane, kn_loss bound, size_t at, candidate *best)
{
    const kn_cluster *c = f->open.items[at], *person = f->now->persons[i];
    if (too_far(f, bound)) return;
    if (f->flat) {
        kn_loss higher = kn_signature_bound(&f->bounds, c->signature, person->signature);
        if (kn_loss_compare(higher, bound) > 0) bound = higher;
    } else {
        bound = kn_fast_raised(f, lane, bound, c->signature, person->signature, false, at, best);
    }
    if (!kn_better(bound, at, best) || too_far(f, bound)) return;
    kn_loss loss;
    if (kn_distance(lane, c, person, at, best, &loss) && kn_better(loss, at, best)) *best = (candidate){loss, at};
}

/* The clusters that changed since the group was compared; the most promising first. */
static void try_changed(fast *f, int i, kn_lane *lane, candidate *best)
{
    const kn_signature *person = f->now->persons[i]->signature;
    const size_t        measured = f->flat ? f->latest.at : SIZE_MAX;
    candidate           lowest = {{0, 0}, SIZE_MAX};
    for (size_t c = 0; c < f->changed_count; c++) {
        changed *it = &f->changed[c];
        if (it->at == measured || is_barred(f, it->at)) continue;
        it->bound = kn_signature_coarse_bound(&f->bounds, f->open.items[it->at]->signature, person);
        if (kn_better(it->bound, it->at, &lowest)) lowest = (candidate){it->bound, it->at};
    }
    if (lowest.at == SIZE_MAX) return;
    try_open(f, i, lane, lowest.loss, lowest.at, best);
    for (size_t c = 0; c < f->changed_count; c++) {
        const changed *it = &f->changed[c];
        if (it->at == measured || it->at == lowest.at || is_barred(f, it->at)) continue;
        if (kn_better(it->bound, it->at, best)) try_open(f, i, lane, it->bound, it->at, best);
    }
}

/* The others, if the nearest of them has changed. */
static void try_unchanged(fast *f, int i, kn_lane *lane, candidate *best)
{
    const group *g = f->now;
    const known *row = g->known + (size_t)i * g->slots;
    for (int exact = 1; exact >= 0; exact--)
        for (size_t s = 0; s < g->slots; s++) {
            size_t at = g->place[s];
            if (at == KN_FOREST_NONE || row[s].exact != exact || is_barred(f, at) || !kn_better(row[s].loss, at, best))
                continue;
            if (exact)
                *best = (candidate){row[s].loss, at};
            else
                try_open(f, i, lane, row[s].loss, at, best);
        }
}

/* The nearest open cluster of the i-th person of the group, or where a new one may begin any that is too far. Clusters keep
 * their order: places compare as slots do. */
static kn_status nearest_open(fast *f, int i, candidate *out, kn_error *err)
{
    const group        *g = f->now;
    kn_lane            *lane = lane_of(f, i, f->placing);
    const kn_signature *person = g->persons[i]->signature;
    candidate           best = {{0, 0}, SIZE_MAX}, ahead = g->nearest[i];
    const int64_t       before = lane->distances;
    KN_TRY(kn_lane_room(lane, g->persons[i]->nodes, err));
    KN_TRY(try_latest(f, i, lane, &best, err));
    size_t at = ahead.at == SIZE_MAX ? KN_FOREST_NONE : g->place[ahead.at];
    bool   there = at != KN_FOREST_NONE && !is_barred(f, at);
    if (there && kn_better(ahead.loss, at, &best)) best = (candidate){ahead.loss, at};
    if (!f->flat) kn_signature_spread(person, &f->bounds, lane->counts);
    try_changed(f, i, lane, &best);
    /* No other is nearer than the one that was nearest. */
    if (ahead.at != SIZE_MAX && !there && kn_better(ahead.loss, 0, &best) && !too_far(f, ahead.loss))
        try_unchanged(f, i, lane, &best);
    if (!f->flat) kn_signature_clear(person, &f->bounds, lane->counts);
    int64_t left = (int64_t)f->open.count - (lane->distances - before) - g->exact[i];
    lane->skipped += left > 0 ? left : 0;
    *out = best;
    return KN_OK;
}

/* Does the i-th person, if this is the nearest, begin a cluster? */
static bool begins(const fast *f, const candidate *best)
{
    const kn_relational_problem *problem = f->work->problem;
    return best->at == SIZE_MAX || (kn_loss_above(best->loss, f->work->losses->unit, problem->threshold) &&
                                    (int64_t)f->open.count < problem->climit);
}

/* KN_DIVERSITY_DISTANCE: from the nearest cluster to the nearest one that is not infinitely far, if it matters; none is
 * left where a new one may begin, and the nearest where all are. */
static kn_status nearest_allowed(fast *f, int i, candidate *best, kn_error *err)
{
    const kn_relational_problem *problem = f->work->problem;
    kn_context                  *ctx = f->work->ctx;
    const kn_cluster            *person = f->now->persons[i];
    candidate                    first = *best;
    bool                         apart = true;
    kn_status                    st = KN_OK;
    size_t                       before = f->barred_capacity;
    if (!KN_GROW(ctx, &f->barred, &f->barred_capacity, f->open.count + 1))
        return kn_fail_memory(err, ctx, "looking for clusters");
    if (f->barred_capacity > before) memset(f->barred + before, 0, f->barred_capacity - before);
    kn_pair *pairs = kn_alloc_array(ctx, person->nodes, sizeof *pairs);
    if (!pairs) return kn_fail_memory(err, ctx, "pairing rows");
    while (st == KN_OK && !begins(f, best)) {
        const kn_cluster *c = f->open.items[best->at];
        uint32_t          count = kn_lane_pairs(lane_of(f, i, f->placing), c, person, pairs);
        st = kn_cluster_apart(&apart, ctx, problem, c, person, pairs, count, &f->codes, err);
        if (st != KN_OK || !apart) break;
        f->barred[best->at] = true;
        st = nearest_open(f, i, best, err);
    }
    memset(f->barred, 0, f->open.count);
    if (best->at == SIZE_MAX && (int64_t)f->open.count >= problem->climit) *best = first;
    kn_free(pairs);
    return st;
}

/* ---- Which clusters are as they were ---- */

/* Room for the changes of a group, and those since it was compared. */
static kn_status begin_changes(fast *f, kn_error *err)
{
    if (!KN_GROW(f->work->ctx, &f->changed, &f->changed_capacity, f->open.count + (size_t)f->now->count + 1))
        return kn_fail_memory(err, f->work->ctx, "comparing persons with clusters");
    f->changed_count = 0;
    for (size_t at = 0; at < f->open.count; at++)
        if (f->open.items[at]->slot[f->now->which] == KN_FOREST_NONE) f->changed[f->changed_count++].at = at;
    return KN_OK;
}

/* The cluster at a place is about to be replaced, or is new. */
static void note_change(fast *f, const kn_cluster *old, size_t at)
{
    for (int i = 0; old && i < KN_SLOTS; i++)
        if (old->slot[i] != KN_FOREST_NONE) f->groups[i].place[old->slot[i]] = KN_FOREST_NONE;
    if (!old || old->slot[f->now->which] != KN_FOREST_NONE) f->changed[f->changed_count++].at = at;
}

/* The cluster at a place, which has changed, is finished: later ones move up. */
static void note_taken(fast *f, size_t at)
{
    size_t count = 0;
    for (size_t c = 0; c < f->changed_count; c++)
        if (f->changed[c].at != at) f->changed[count++].at = f->changed[c].at - (f->changed[c].at > at);
    f->changed_count = count;
    for (int i = 0; i < KN_SLOTS; i++) {
        const group *g = &f->groups[i];
        for (size_t s = 0; s < g->slots; s++) g->place[s] -= g->place[s] != KN_FOREST_NONE && g->place[s] > at;
    }
}

/* ---- Placing ---- */

/* The i-th person joins an open cluster. */
static kn_status join(fast *f, int i, size_t at, kn_error *err)
{
    latest     *l = &f->latest;
    kn_lane    *lane = lane_of(f, i, f->placing);
    step       *s = at == l->at && l->length > 0 && l->length < RUN ? &f->now->runs[l->first][l->length] : NULL;
    kn_cluster *both;
    l->length = at == l->at && l->length > 0 ? l->length + 1 : 0;
    if (s && s->cluster) {
        both = s->cluster;
        s->cluster = NULL;
        lane->evaluations += s->merging;
    } else {
        KN_TRY(kn_fast_merged(f, lane, &both, f->open.items[at], f->now->persons[i], err));
    }
    note_change(f, f->open.items[at], at);
    f->now->replaced[i] = f->open.items[at]; /* others may be looking at it */
    f->open.items[at] = both;
    return KN_OK;
}

static kn_status put(fast *f, int i, kn_error *err)
{
    candidate   best;
    kn_cluster *person = f->now->persons[i];
    kn_lane    *lane = lane_of(f, i, f->placing);
    KN_TRY(nearest_open(f, i, &best, err));
    if (f->work->problem->repair == KN_DIVERSITY_DISTANCE && f->work->problem->promise_count > 0)
        KN_TRY(nearest_allowed(f, i, &best, err));
    if (begins(f, &best)) {
        f->work->counters->clusters++;
        best.at = f->open.count;
        f->now->persons[i] = NULL;
        KN_TRY(kn_cluster_list_add(&f->open, f->work->ctx, person, err));
        note_change(f, NULL, best.at);
        f->latest.first = i;
        f->latest.length = 1;
    } else {
        KN_TRY(join(f, i, best.at, err));
    }
    f->latest.at = f->open.items[best.at]->size < f->work->k ? best.at : SIZE_MAX;
    if (f->open.items[best.at]->size >= f->work->k) {
        note_taken(f, best.at);
        return kn_fast_finish(f, kn_cluster_list_take(&f->open, best.at), err);
    }
    KN_TRY(kn_fast_sign(f, lane, f->open.items[best.at], err));
    return make_ready(f, lane, f->open.items[best.at], err);
}

static void fetch(const void *begin, const void *end)
{
    for (const char *at = begin; at < (const char *)end; at += CACHE_LINE) __builtin_prefetch(at);
}

/* Who is next was loaded by another thread: their tree and signature come while the one before is placed. */
static void fetch_person(const group *g, int i)
{
    if (i >= g->count) return;
    const kn_cluster *person = g->persons[i];
    fetch(person, person->table + person->nodes);
    fetch(person->signature, person->signature->cells_below + person->nodes);
}

static kn_status put_all(fast *f, kn_error *err)
{
    f->latest.length = 0; /* another group's run */
    KN_TRY(begin_changes(f, err));
    for (int i = 0; i < f->now->count; i++) {
        fetch_person(f->now, i + 1);
        KN_TRY(put(f, i, err));
    }
    return KN_OK;
}

/* ---- Groups ---- */

/* The group of persons from `first` on. */
static void choose_persons(const fast *f, group *g, int64_t first)
{
    int64_t left = f->work->problem->forest->entities - first;
    g->first = first;
    g->count = first < 0 || left < 0 ? 0 : left < f->group ? (int)left : f->group;
}

/* The open clusters a group is compared with. */
static kn_status begin_group(fast *f, group *g, kn_error *err)
{
    kn_context *ctx = f->work->ctx;
    bool        forgot = f->store.count > f->store_limit;
    g->slots = f->open.count;
    if (!KN_GROW(ctx, &g->known, &g->known_capacity, (size_t)f->group * g->slots + 1) ||
        !KN_GROW(ctx, &g->seen, &g->seen_capacity, g->slots + 1) ||
        !KN_GROW(ctx, &g->place, &g->place_capacity, g->slots + 1))
        return kn_fail_memory(err, ctx, "comparing persons with clusters");
    if (forgot) kn_fast_forget(f);
    for (size_t s = 0; s < g->slots; s++) {
        g->seen[s] = f->open.items[s];
        g->seen[s]->slot[g->which] = g->place[s] = (uint32_t)s;
        KN_TRY(make_ready(f, &f->lanes[0], g->seen[s], err));
    }
    if (forgot) f->store_limit = f->store.count * 4 > STORE_LIMIT ? f->store.count * 4 : STORE_LIMIT;
    return KN_OK;
}

/* Loads persons, interns them, looks ahead, and then places them. */
static kn_status put_group(fast *f, int64_t first, kn_error *err)
{
    kn_context *ctx = f->work->ctx;
    group      *g = f->now = f->ahead = &f->groups[0];
    choose_persons(f, g, first);
    KN_TRY(begin_group(f, g, err));
    KN_TRY(kn_parallel_for(ctx, g->count, 1, load_persons, f, err));
    for (int i = 0; i < g->count; i++) KN_TRY(make_ready(f, &f->lanes[i], g->persons[i], err));
    KN_TRY(kn_parallel_for(ctx, g->count, 1, look_ahead, f, err));
    return put_all(f, err);
}

/* The first piece places persons; each of the others is about one of those after them: it looks ahead, makes a run, or
 * loads one. Without runs a person is loaded when they are compared, while their tree is in the processor's cache. */
static kn_status put_beside(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    fast   *f = arg;
    int64_t count = f->ahead->count;
    for (int64_t i = begin; i < end; i++) {
        if (i == 0) {
            f->placing = worker;
            KN_TRY(put_all(f, err));
        } else if (i <= count) {
            if (!f->runs) KN_TRY(load_person(f, f->ahead, i - 1, worker, err));
            KN_TRY(look_ahead(f, i - 1, i, worker, err));
        } else if (i <= 2 * count) {
            KN_TRY(make_run(f, f->ahead, (int)(i - 1 - count), &f->lanes[worker], err));
        } else {
            KN_TRY(load_person(f, f->next, i - 1 - 2 * count, worker, err));
        }
    }
    return KN_OK;
}

/* Likewise where nothing is interned, which two threads cannot do at a time: the next group is compared meanwhile, and with runs
 * the one after it loaded. `first` is the first person to be placed, negative where nobody is yet. */
static kn_status put_group_beside(fast *f, int64_t first, kn_error *err)
{
    int64_t number = first / f->group + KN_SLOTS;
    f->now = &f->groups[number % KN_SLOTS];
    f->ahead = &f->groups[(number + 1) % KN_SLOTS];
    f->next = &f->groups[(number + 2) % KN_SLOTS];
    choose_persons(f, f->now, first);
    choose_persons(f, f->ahead, first + f->group);
    choose_persons(f, f->next, first + 2 * f->group);
    KN_TRY(begin_group(f, f->ahead, err));
    int64_t pieces = 1 + f->ahead->count + (f->runs ? f->ahead->count + f->next->count : 0);
    return kn_parallel_for(f->work->ctx, pieces, 1, put_beside, f, err);
}

/* All persons, in their order. */
static kn_status put_persons(fast *f, kn_error *err)
{
    int64_t entities = f->work->problem->forest->entities;
    for (int i = 0; i < KN_SLOTS; i++) f->groups[i].which = i;
    f->latest.at = SIZE_MAX;
    for (int64_t first = f->runs ? -2 * f->group : f->flat ? -f->group : 0; first < entities; first += f->group) {
        if (kn_cancelled(f->work->ctx)) return kn_fail_cancelled(err);
        KN_TRY(f->flat ? put_group_beside(f, first, err) : put_group(f, first, err));
        kn_progress_add(f->work->ctx, (uint64_t)f->now->count);
    }
    return KN_OK;
}

/* ---- The whole ---- */

static kn_status prepare(fast *f, kn_error *err)
{
    kn_relational_work *work = f->work;
    size_t              places = LEAST_PLACES;
    f->flat = kn_matches_values(work->problem);
    while (places < MOST_PLACES && places < work->problem->forest->nodes / 32) places *= 2;
    f->store_limit = STORE_LIMIT;
    KN_TRY(kn_store_make(&f->store, work->ctx, work->losses, err));
    KN_TRY(kn_tree_bounds_make(&f->bounds, work->ctx, work->losses, err));
    KN_TRY(kn_tables_make(&f->tables, work->ctx, work->losses, work->problem->forest->nodes * 2, err));
    int threads = kn_context_threads(work->ctx);
    f->group = f->flat ? MOST_GROUP : LANES;
    while (f->group > LANES && work->problem->climit > MOST_KNOWN / f->group) f->group /= 2;
    f->runs = f->flat && threads >= MANY_THREADS && work->problem->seed == 0;
    if (!(f->lanes = kn_alloc_array_zero(work->ctx, (size_t)(threads > LANES ? threads : LANES), sizeof *f->lanes)))
        return kn_fail_memory(err, work->ctx, "preparing bounds");
    f->lane_count = f->flat && threads > LANES ? threads : LANES;
    for (int i = 0; i < f->lane_count; i++) {
        KN_TRY(kn_lane_make(&f->lanes[i], work, &f->store, &f->tables, f->flat ? 0 : places, err));
        KN_TRY(kn_signature_create(&f->lanes[i].signature, &f->bounds, 0, 0, err));
        if (!KN_ALLOC_ZERO(work->ctx, f->lanes[i].counts, f->bounds.nodes + 1) ||
            !KN_ALLOC(work->ctx, f->lanes[i].touched, f->bounds.nodes + 1))
            return kn_fail_memory(err, work->ctx, "preparing bounds");
    }
    return KN_OK;
}

static void clean_up(fast *f, kn_cluster_list *bad)
{
    for (int i = 0; i < f->lane_count; i++) {
        f->work->counters->pair_evaluations += f->lanes[i].evaluations;
        f->work->counters->distances += f->lanes[i].distances + f->lanes[i].skipped;
        f->work->counters->skipped += f->lanes[i].skipped;
        kn_lane_free(&f->lanes[i]);
    }
    for (int i = 0; i < KN_SLOTS; i++) {
        for (int p = 0; p < MOST_GROUP; p++) drop_person(&f->groups[i], p);
        KN_FREE(f->groups[i].seen, f->groups[i].place, f->groups[i].known);
    }
    kn_cluster_list_free(&f->open);
    kn_cluster_list_free(bad);
    KN_FREE(f->barred, f->changed, f->lanes);
    kn_codes_free(&f->codes);
    kn_tree_bounds_free(&f->bounds);
    kn_tables_free(&f->tables);
    kn_store_free(&f->store);
}

static kn_status cluster(fast *f, kn_error *err)
{
    if (f->work->problem->clustering != KN_CLUSTERING_CDGH) {
        KN_TRY(kn_rest_cluster(f, err));
    } else {
        KN_TRY(put_persons(f, err));
        KN_TRY(kn_rest_merge(f, err));
    }
    return kn_rest_absorb(f, err);
}

kn_status kn_miracle_fast(kn_relational_work *work, kn_error *err)
{
    fast           *f = kn_alloc_zero(work->ctx, sizeof *f);
    kn_cluster_list bad = {0};
    if (!f) return kn_fail_memory(err, work->ctx, "clustering");
    f->work = work;
    kn_status st = prepare(f, err);
    kn_progress_begin(work->ctx, "clustering", "persons", (uint64_t)work->problem->forest->entities);
    if (st == KN_OK) st = cluster(f, err);
    if (st == KN_OK && work->problem->method == KN_METHOD_DMIRACLE) st = kn_rest_diversify(f, &bad, err);
    kn_progress_end(work->ctx);
    clean_up(f, &bad);
    kn_free(f);
    return st;
}
