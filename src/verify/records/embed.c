/* records/embed.c: can an original record, with values generalized and equal siblings merged, have become a released
 * one?
 *
 * Disassociation (Definition 2) moves a node only upwards, where it may be merged with an equal sibling: what is
 * above it afterwards was above it before. So there must be a map of the nodes onto the released ones that keeps
 * labels and in which the parent of a node's place is the root or the place of a node above it. The map is searched
 * node by node, parents first, free places before taken ones; a label with fewer nodes left than free places ends an
 * attempt.
 *
 * Where suppression may take single nodes a node for which there is no place at all is missing, unless it is sensitive. To leave one out that has a
 * place would help no other: it takes none away, for places may be shared, and is above more of them.
 *
 * Cost: O(nodes × depth) if each node has one possible place, which is nearly always so; else attempts, which are
 * counted.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_verify_records.h"

enum { MOST_STEPS = 2000000 }; /* for one pair of records */

#define MISSING (KN_V_NONE - 1) /* a node's place */

struct kn_vembed {
    kn_records_verifier *v;
    /* Per label, all KN_V_NONE or 0 between calls. */
    uint32_t *head; /* the last released node with it                    */
    uint32_t *free; /* free released nodes with it                       */
    uint32_t *left; /* nodes with it that have no place                  */
    /* Per released node. */
    uint32_t *next; /* the one before it with the same label             */
    uint32_t *taken;
    /* Per node. */
    uint32_t *place;
    bool     *second; /* it tries taken places    */
    /* The current records. */
    const uint32_t *parent, *label, *shown_parent, *shown_label;
    uint32_t        size, shown;
    bool            single; /* nodes may be missing */
};

kn_vembed *kn_vembed_create(kn_arena *room, kn_records_verifier *v, uint32_t largest)
{
    size_t     labels = (size_t)v->labels + 1, nodes = (size_t)largest + 1;
    kn_vembed *e = kn_arena_array_zero(room, 1, sizeof *e);
    if (!e) return NULL;
    e->v = v;
    e->single = v->spare_nodes > 0;
    e->head = kn_varray_none(room, labels);
    e->free = kn_arena_array_zero(room, labels, sizeof *e->free);
    e->left = kn_arena_array_zero(room, labels, sizeof *e->left);
    e->next = kn_arena_array(room, nodes, sizeof *e->next);
    e->taken = kn_arena_array(room, nodes, sizeof *e->taken);
    e->place = kn_arena_array(room, nodes, sizeof *e->place);
    e->second = kn_arena_array(room, nodes, sizeof *e->second);
    return room->failed ? NULL : e;
}

/* ---- The two records ---- */

static void open_records(kn_vembed *e, int64_t original, int64_t released)
{
    const kn_vforest *o = &e->v->raised, *r = &e->v->release;
    e->parent = o->parent + o->start[original];
    e->label = o->label + o->start[original];
    e->size = (uint32_t)(o->start[original + 1] - o->start[original]);
    e->shown_parent = r->parent + r->start[released];
    e->shown_label = r->label + r->start[released];
    e->shown = (uint32_t)(r->start[released + 1] - r->start[released]);
    for (uint32_t y = 0; y < e->shown; y++) {
        uint32_t l = e->shown_label[y];
        e->next[y] = e->head[l];
        e->head[l] = y;
        e->free[l]++;
        e->taken[y] = 0;
    }
}

static void close_records(kn_vembed *e)
{
    for (uint32_t y = 0; y < e->shown; y++) {
        e->head[e->shown_label[y]] = KN_V_NONE;
        e->free[e->shown_label[y]] = 0;
    }
    for (uint32_t x = 0; x < e->size; x++) e->left[e->label[x]] = 0;
}

static bool may_miss(const kn_vembed *e, uint32_t x)
{
    return e->single && !kn_vlabel_sensitive(e->v, e->label[x]);
}

/* false: the release shows a value that the original lacks, or lacks one that it must not. */
static bool labels_fit(kn_vembed *e)
{
    bool fits = true;
    for (uint32_t x = 0; x < e->size; x++) {
        e->place[x] = KN_V_NONE;
        e->left[e->label[x]]++;
        fits = fits && (e->head[e->label[x]] != KN_V_NONE || may_miss(e, x));
    }
    for (uint32_t y = 0; fits && y < e->shown; y++) fits = e->left[e->shown_label[y]] >= e->free[e->shown_label[y]];
    return fits;
}

/* ---- The search ---- */

static bool may_stand(const kn_vembed *e, uint32_t x, uint32_t y)
{
    uint32_t above = e->shown_parent[y];
    if (above == KN_V_NONE) return true;
    for (uint32_t p = e->parent[x]; p != KN_V_NONE; p = e->parent[p])
        if (e->place[p] == above) return true;
    return false;
}

/* The next place to try for x after the one it has; KN_V_NONE: there is none. */
static uint32_t next_place(kn_vembed *e, uint32_t x)
{
    uint32_t l = e->label[x], y = e->place[x] == KN_V_NONE ? e->head[l] : e->next[e->place[x]];
    for (;;) {
        for (; y != KN_V_NONE; y = e->next[y])
            if ((e->taken[y] > 0) == e->second[x] && may_stand(e, x, y)) return y;
        if (e->second[x]) return KN_V_NONE;
        e->second[x] = true;
        y = e->head[l];
    }
}

static void take(kn_vembed *e, uint32_t x, uint32_t y)
{
    uint32_t l = e->label[x];
    e->place[x] = y;
    if (y != MISSING && e->taken[y]++ == 0) e->free[l]--;
    e->left[l]--;
}

static void give_back(kn_vembed *e, uint32_t x)
{
    uint32_t y = e->place[x], l = e->label[x];
    if (y != MISSING && --e->taken[y] == 0) e->free[l]++;
    e->left[l]++;
}

/* A place to try for x, the next after the one it has; MISSING if none was ever found. */
static uint32_t choose(kn_vembed *e, uint32_t x)
{
    bool first = e->place[x] == KN_V_NONE;
    if (e->place[x] == MISSING) return KN_V_NONE;
    uint32_t y = next_place(e, x);
    return y == KN_V_NONE && first && may_miss(e, x) ? MISSING : y;
}

static bool search(kn_vembed *e, int64_t *work, bool *decided)
{
    int64_t  steps = 0;
    uint32_t x = 0;
    if (e->size > 0) e->second[0] = false;
    while (x < e->size) {
        if (++steps > MOST_STEPS) {
            *work += steps;
            *decided = false;
            return false;
        }
        if (e->place[x] != KN_V_NONE) give_back(e, x); /* it was tried, and what came after it failed  */
        uint32_t y = choose(e, x);
        if (y == KN_V_NONE) {
            e->place[x] = KN_V_NONE;
            if (x == 0) {
                *work += steps;
                return false;
            }
            x--;
            continue;
        }
        take(e, x, y);
        uint32_t l = e->label[x];
        if (e->free[l] > e->left[l]) continue; /* too few nodes are left for the free places: try the next */
        if (++x < e->size) e->second[x] = false;
    }
    *work += steps;
    return true;
}

bool kn_vembed_holds(kn_vembed *e, int64_t original, int64_t released, int64_t *work, bool *decided)
{
    open_records(e, original, released);
    bool holds = labels_fit(e) && search(e, work, decided);
    ++*work;
    close_records(e);
    return holds;
}
