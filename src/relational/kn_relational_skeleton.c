/* kn_relational_skeleton.c: clusterings that may take the place of CDGH (Nergiz, Clifton, Nergiz 2009, section 4.2.1: any
 * clustering that needs no more than the distance of two entities and their anonymization), and the top-down one of
 * section 5.2.
 *
 * k-member  (Byun, Kamra, Bertino, Li 2007, figure 4): a class begins with the person farthest from the one who joined
 *           last, and takes the nearest to its representative until it has k. Fewer than k are left over.
 * mdav      (Domingo-Ferrer, Torra 2005, MDAV-generic): the person farthest from the centre, with the k - 1 nearest to
 *           them, is a class; so is the person farthest from them. From 3k - 1 on one class, from 2k - 1 on the rest
 *           is one. The centre is the anonymization of all who are in no class yet: trees have no mean.
 * r-gather  kn_relational_gather.c
 * top-down  (section 5.2, item 2): all persons are one cluster. A cluster of 2k or more is cut in two: whoever is nearer
 *           to the person farthest from its representative than to the person farthest from that one, and the others
 *           (as near to both: the smaller part); a part with fewer than k takes the nearest of the other part. The cut is made only if both parts keep every
 *           promise; otherwise the cluster is a class.
 *
 * Distances are (representative, entity), M6. Of equally far persons the first counts. Many persons are anonymized by
 * halves: the representative of the first half with that of the second.
 *
 * Cost: k-member and mdav O(persons^2) distances; top-down O(persons) distances and anonymizations for each level of
 * cuts, about log2(persons / k) of them where the parts are alike. Memory: the trees of all persons.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_relational_skeleton.h"

#include <string.h>

#include "kn_alloc.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_parallel.h"

/* ---- Classes ---- */

kn_status kn_skeleton_join(kn_skeleton *s, kn_cluster **class, kn_cluster *person, kn_error *err)
{
    kn_cluster *both = NULL;
    kn_status   st = s->by->merge(s->by->self, &both, *class, person, err);
    kn_cluster_free(person);
    KN_TRY(st);
    kn_cluster_free(*class);
    *class = both;
    return KN_OK;
}

kn_status kn_skeleton_finish(kn_skeleton *s, kn_cluster *class, kn_error *err)
{
    s->work->counters->clusters++;
    kn_progress_add(s->work->ctx, class->size);
    return kn_cluster_list_add(&s->work->done, s->work->ctx, class, err);
}

/* The person at a place leaves the list, and their loss with them. */
static kn_cluster *take(kn_skeleton *s, size_t at)
{
    kn_cluster *person = s->persons[at];
    s->count--;
    memmove(s->persons + at, s->persons + at + 1, (s->count - at) * sizeof(kn_cluster *));
    memmove(s->losses + at, s->losses + at + 1, (s->count - at) * sizeof *s->losses);
    return person;
}

static size_t farthest(const kn_loss *losses, size_t count)
{
    size_t at = 0;
    for (size_t i = 1; i < count; i++)
        if (kn_loss_compare(losses[i], losses[at]) > 0) at = i;
    return at;
}

static size_t nearest(const kn_loss *losses, size_t count)
{
    size_t at = 0;
    for (size_t i = 1; i < count; i++)
        if (kn_loss_compare(losses[i], losses[at]) < 0) at = i;
    return at;
}

static kn_status distances(kn_skeleton *s, kn_cluster *from, kn_error *err)
{
    return s->by->distances(s->by->self, s->losses, from, s->persons, s->count, err);
}

static kn_status person_again(kn_skeleton *s, kn_cluster **out, uint32_t entity, kn_error *err)
{
    return kn_cluster_of_entity(out, s->work->ctx, s->work->problem->forest, s->work->losses, entity, err);
}

/* The anonymization of one person or more, by halves; the persons stay. */
static kn_status gather(kn_skeleton *s, kn_cluster **out, kn_cluster *const *persons, size_t count, kn_error *err)
{
    kn_cluster *halves[2] = {NULL, NULL};
    size_t      first = count / 2;
    kn_status   st = KN_OK;
    *out = NULL;
    if (count == 1) return person_again(s, out, persons[0]->members[0], err);
    if (count > 1000 && kn_cancelled(s->work->ctx)) return kn_fail_cancelled(err);
    if (first > 1) st = gather(s, &halves[0], persons, first, err);
    if (st == KN_OK && count - first > 1) st = gather(s, &halves[1], persons + first, count - first, err);
    if (st == KN_OK)
        st = s->by->merge(s->by->self, out, halves[0] ? halves[0] : persons[0], halves[1] ? halves[1] : persons[first],
                          err);
    for (int i = 0; i < 2; i++) kn_cluster_free(halves[i]);
    return st;
}

/* All who are left become one cluster. */
static kn_status join_rest(kn_skeleton *s, kn_cluster **out, kn_error *err)
{
    kn_status st = KN_OK;
    *out = take(s, 0);
    while (st == KN_OK && s->count > 0) st = kn_skeleton_join(s, out, take(s, 0), err);
    if (st == KN_OK) return KN_OK;
    kn_cluster_free(*out);
    *out = NULL;
    return st;
}

/* ---- k-member ---- */

static kn_status grow_class(kn_skeleton *s, kn_cluster *class, uint32_t *last, kn_error *err)
{
    kn_status st = KN_OK;
    *last = class->members[0];
    while (st == KN_OK && class->size < s->k) {
        size_t at = 0;
        st = s->by->nearest(s->by->self, &at, class, s->persons, s->count, err);
        if (st != KN_OK) break;
        *last = s->persons[at]->members[0];
        st = kn_skeleton_join(s, &class, take(s, at), err);
    }
    if (st == KN_OK) return kn_skeleton_finish(s, class, err);
    kn_cluster_free(class);
    return st;
}

static kn_status k_member(kn_skeleton *s, kn_cluster_list *left, kn_error *err)
{
    uint32_t last = s->persons[0]->members[0];
    while (s->count >= s->k) {
        kn_cluster *from;
        KN_TRY(person_again(s, &from, last, err));
        kn_status st = distances(s, from, err);
        kn_cluster_free(from);
        KN_TRY(st);
        KN_TRY(grow_class(s, take(s, farthest(s->losses, s->count)), &last, err));
    }
    if (s->count == 0) return KN_OK;
    kn_cluster *rest;
    KN_TRY(join_rest(s, &rest, err));
    return kn_cluster_list_add(left, s->work->ctx, rest, err);
}

/* ---- mdav ---- */

/* A class of a person, who has left the list, and the k - 1 nearest to them. *antipode: who is farthest from them of the
 * others. */
static kn_status class_around(kn_skeleton *s, kn_cluster *class, size_t *antipode, kn_error *err)
{
    kn_status st = distances(s, class, err);
    while (st == KN_OK && class->size < s->k)
        st = kn_skeleton_join(s, &class, take(s, nearest(s->losses, s->count)), err);
    *antipode = farthest(s->losses, s->count);
    if (st == KN_OK) return kn_skeleton_finish(s, class, err);
    kn_cluster_free(class);
    return st;
}

static kn_status mdav(kn_skeleton *s, kn_error *err)
{
    kn_cluster *rest;
    while (s->count >= 2 * s->k) {
        bool        two = s->count >= 3 * s->k;
        kn_cluster *centre;
        size_t      antipode;
        KN_TRY(gather(s, &centre, s->persons, s->count, err));
        kn_status st = distances(s, centre, err);
        kn_cluster_free(centre);
        KN_TRY(st);
        KN_TRY(class_around(s, take(s, farthest(s->losses, s->count)), &antipode, err));
        if (two) KN_TRY(class_around(s, take(s, antipode), &antipode, err));
    }
    KN_TRY(join_rest(s, &rest, err));
    return kn_skeleton_finish(s, rest, err);
}

/* ---- top-down ---- */

/* Persons one behind the other, and their anonymization. */
typedef struct part {
    size_t      begin, count;
    kn_cluster *all;
} part;

typedef struct cutting {
    kn_skeleton *s;
    kn_loss     *near[2]; /* of each person of the part from either end */
    bool        *second;  /* is the person in the second part?          */
    kn_cluster **moved;   /* scratch                                    */
    part        *parts;   /* a stack                                    */
    size_t       part_count, part_capacity;
    kn_codes     codes;
} cutting;

/* Persons at the ends are in their own part, those as near to either in the smaller one so far; a part with fewer than
 * k takes the nearest of the other. Returns how many the first has. */
static size_t choose_sides(cutting *c, size_t count, const size_t *ends)
{
    size_t in[2] = {0, 0};
    for (size_t i = 0; i < count; i++) {
        int nearer = kn_loss_compare(c->near[1][i], c->near[0][i]);
        c->second[i] = nearer < 0 || (nearer == 0 && in[1] < in[0]);
        if (i == ends[0] || i == ends[1]) c->second[i] = i == ends[1];
        in[c->second[i]]++;
    }
    for (int side = 0; side < 2; side++)
        while (in[side] < c->s->k) {
            size_t at = SIZE_MAX;
            for (size_t i = 0; i < count; i++)
                if (c->second[i] != (side == 1) && i != ends[!side] &&
                    (at == SIZE_MAX || kn_loss_compare(c->near[side][i], c->near[side][at]) < 0))
                    at = i;
            c->second[at] = side == 1;
            in[side]++;
            in[!side]--;
        }
    return in[0];
}

/* Puts the persons of the first part before the others. */
static void move_sides(cutting *c, kn_cluster **persons, size_t count, size_t first)
{
    size_t at[2] = {0, first};
    for (size_t i = 0; i < count; i++) c->moved[at[c->second[i]]++] = persons[i];
    memcpy(persons, c->moved, count * sizeof(kn_cluster *));
}

static kn_status choose_cut(cutting *c, const part *p, size_t *first, kn_error *err)
{
    kn_skeleton *s = c->s;
    kn_cluster **persons = s->persons + p->begin;
    size_t       ends[2];
    KN_TRY(s->by->distances(s->by->self, c->near[0], p->all, persons, p->count, err));
    ends[0] = farthest(c->near[0], p->count);
    KN_TRY(s->by->distances(s->by->self, c->near[0], persons[ends[0]], persons, p->count, err));
    c->near[0][ends[0]] = (kn_loss){0, 0};
    ends[1] = farthest(c->near[0], p->count);
    if (ends[1] == ends[0]) ends[1] = ends[0] == 0; /* all are alike */
    KN_TRY(s->by->distances(s->by->self, c->near[1], persons[ends[1]], persons, p->count, err));
    *first = choose_sides(c, p->count, ends);
    move_sides(c, persons, p->count, *first);
    return KN_OK;
}

static kn_status keeps_promises(cutting *c, bool *good, const kn_cluster *all, kn_error *err)
{
    *good = true;
    if (c->s->work->problem->promise_count == 0) return KN_OK;
    return kn_cluster_diverse(good, NULL, c->s->work->ctx, c->s->work->problem, all, &c->codes, err);
}

/* Cuts a part in two, if both may be parts; the second is the next on the stack. Otherwise it is a class. */
static kn_status cut_or_finish(cutting *c, part p, kn_error *err)
{
    kn_skeleton *s = c->s;
    part         halves[2] = {{0}};
    bool         good = false;
    kn_status    st = KN_OK;
    if (kn_cancelled(s->work->ctx)) st = kn_fail_cancelled(err);
    if (st == KN_OK && p.count >= 2 * s->k) {
        size_t first;
        s->work->counters->cuts++;
        st = choose_cut(c, &p, &first, err);
        good = st == KN_OK;
        for (int i = 0; good && i < 2; i++) {
            halves[i] = i == 0 ? (part){p.begin, first, NULL} : (part){p.begin + first, p.count - first, NULL};
            st = gather(s, &halves[i].all, s->persons + halves[i].begin, halves[i].count, err);
            if (st == KN_OK) st = keeps_promises(c, &good, halves[i].all, err);
            good = good && st == KN_OK;
        }
    }
    if (st == KN_OK && !good) {
        st = kn_skeleton_finish(s, p.all, err);
        p.all = NULL;
    }
    for (int i = 1; i >= 0; i--) {
        if (good)
            c->parts[c->part_count++] = halves[i];
        else
            kn_cluster_free(halves[i].all);
    }
    kn_cluster_free(p.all);
    return st;
}

static kn_status top_down(kn_skeleton *s, kn_error *err)
{
    kn_context *ctx = s->work->ctx;
    cutting     c = {.s = s};
    kn_status   st = KN_OK;
    if (!KN_ALLOC(ctx, c.near[0], s->count) || !KN_ALLOC(ctx, c.near[1], s->count) ||
        !KN_ALLOC(ctx, c.second, s->count) || !KN_ALLOC(ctx, c.moved, s->count) ||
        !KN_GROW(ctx, &c.parts, &c.part_capacity, 1)) {
        st = kn_fail_memory(err, ctx, "cutting clusters");
    } else {
        st = gather(s, &c.parts[0].all, s->persons, s->count, err);
        c.parts[0] = (part){0, s->count, c.parts[0].all};
        c.part_count = st == KN_OK;
    }
    while (st == KN_OK && c.part_count > 0) {
        if (!KN_GROW(ctx, &c.parts, &c.part_capacity, c.part_count + 1))
            st = kn_fail_memory(err, ctx, "cutting clusters");
        else
            st = cut_or_finish(&c, c.parts[--c.part_count], err);
    }
    for (size_t i = 0; i < c.part_count; i++) kn_cluster_free(c.parts[i].all);
    KN_FREE(c.near[0], c.near[1], c.second, c.moved, c.parts);
    kn_codes_free(&c.codes);
    return st;
}

/* ---- The whole ---- */

static kn_status load(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    kn_skeleton *s = arg;
    (void)worker;
    for (int64_t i = begin; i < end; i++) KN_TRY(person_again(s, &s->persons[i], s->work->order[i], err));
    return KN_OK;
}

static kn_status cluster(kn_skeleton *s, kn_cluster_list *left, kn_error *err)
{
    switch (s->work->problem->clustering) {
    case KN_CLUSTERING_K_MEMBER: return k_member(s, left, err);
    case KN_CLUSTERING_MDAV: return mdav(s, err);
    case KN_CLUSTERING_R_GATHER: return kn_skeleton_r_gather(s, err);
    default: return top_down(s, err);
    }
}

kn_status kn_skeleton_cluster(kn_relational_work *work, const kn_anonymizer *by, kn_cluster_list *left, kn_error *err)
{
    size_t      persons = (size_t)work->problem->forest->entities;
    kn_skeleton s = {.work = work, .by = by, .k = (size_t)work->k, .count = persons};
    kn_status   st = KN_OK;
    if (!KN_ALLOC_ZERO(work->ctx, s.persons, persons) || !KN_ALLOC(work->ctx, s.losses, persons))
        st = kn_fail_memory(err, work->ctx, "clustering");
    if (st == KN_OK) st = kn_parallel_for(work->ctx, (int64_t)persons, 64, load, &s, err);
    if (st == KN_OK) st = cluster(&s, left, err);
    for (size_t i = 0; s.persons && i < s.count; i++) kn_cluster_free(s.persons[i]);
    KN_FREE(s.persons, s.losses);
    return st;
}
