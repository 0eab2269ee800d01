/* kn_items_cut.c: the finest cuts of items that are k^m-anonymous, class by class. Interface and algorithm: kn_items_cut.h.
 *
 * The labels of an entry stand in a slot of their own, which is as wide as its set: they are never more than its items. A node that may be
 * replaced knows the entries that show it. To try it, their new labels are put beside the old ones, children first; the combinations with a
 * child are counted depth first, and the first that is rare ends the trial.
 *
 * Memory: a few numbers per node of the hierarchy and per item of the class; per depth the entries that a prefix has.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_items_cut.h"

#include <string.h>

#include "kn_alloc.h"
#include "kn_context.h"
#include "kn_error.h"

#define WHAT "generalizing sets"

/* A node that may be replaced by its children, and the entries that show it. */
typedef struct candidate {
    double   gain; /* rows × leaves */
    uint32_t node;
    size_t   begin, count; /* in `shown_by` */
} candidate;

/* The labels that follow a prefix, with the entries that have each. */
typedef struct follower {
    uint32_t node;
    size_t   begin, count; /* in `entries` */
    int64_t  rows;
} follower;

typedef struct level {
    follower *followers;
    size_t    count, capacity;
    uint32_t *entries;
    size_t    entry_capacity;
} level;

struct kn_items_cut {
    kn_context           *ctx;
    kn_items_problem      problem;
    const kn_items_entry *entries;
    /* Per entry. */
    uint64_t *slots; /* where its labels begin */
    uint32_t *sizes;
    uint32_t *labels;
    size_t    slot_capacity, size_capacity, label_capacity;
    /* Candidates: a heap, the largest gain first. */
    candidate *heap;
    size_t     heap_count, heap_capacity;
    uint32_t  *shown_by;
    size_t     shown_count, shown_capacity;
    /* The trial: per entry that shows the node, its labels afterwards. */
    size_t   *trial_start;
    uint32_t *trial;
    int64_t  *trial_rows;
    uint32_t *trial_all; /* 0, 1, ... */
    size_t    start_capacity, trial_capacity, rows_capacity, all_capacity;
    uint32_t  node;   /* that is replaced */
    uint32_t *at;     /* per node: its place among the followers, from 1; all 0 between uses */
    level    *levels; /* m + 1 */
    bool      memory; /* it ran out */
};

kn_status kn_items_cut_create(kn_items_cut **out, kn_context *ctx, const kn_items_problem *problem, kn_error *err)
{
    size_t        nodes = (size_t)problem->hierarchy->nodes + 1;
    kn_items_cut *c = kn_alloc_zero(ctx, sizeof *c);
    *out = NULL;
    if (c) {
        c->ctx = ctx;
        c->problem = *problem;
        KN_ALLOC_ZERO(ctx, c->at, nodes);
        KN_ALLOC_ZERO(ctx, c->levels, (size_t)problem->m + 1);
    }
    if (!c || !c->at || !c->levels) {
        kn_items_cut_free(c);
        return kn_fail_memory(err, ctx, WHAT);
    }
    *out = c;
    return KN_OK;
}

void kn_items_cut_free(kn_items_cut *c)
{
    if (!c) return;
    for (int d = 0; c->levels && d <= c->problem.m; d++) KN_FREE(c->levels[d].followers, c->levels[d].entries);
    KN_FREE(c->slots, c->sizes, c->labels, c->heap, c->shown_by, c->trial_start, c->trial, c->trial_rows, c->trial_all,
            c->at, c->levels, c);
}

/* ---- Candidates ---- */

static bool before(const candidate *a, const candidate *b)
{
    return a->gain != b->gain ? a->gain > b->gain : a->node < b->node;
}

static bool push(kn_items_cut *c, candidate one)
{
    if (!KN_GROW(c->ctx, &c->heap, &c->heap_capacity, c->heap_count + 1)) return false;
    size_t at = c->heap_count++;
    for (; at > 0 && before(&one, &c->heap[(at - 1) / 2]); at = (at - 1) / 2) c->heap[at] = c->heap[(at - 1) / 2];
    c->heap[at] = one;
    return true;
}

static candidate pop(kn_items_cut *c)
{
    candidate top = c->heap[0], last = c->heap[--c->heap_count];
    size_t    at = 0;
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= c->heap_count) break;
        if (child + 1 < c->heap_count && before(&c->heap[child + 1], &c->heap[child])) child++;
        if (!before(&c->heap[child], &last)) break;
        c->heap[at] = c->heap[child];
        at = child;
    }
    c->heap[at] = last;
    return top;
}

/* ---- Counting ---- */

/* Is it below the node that is replaced? */
static bool is_new(const kn_items_cut *c, uint32_t node)
{
    return c->problem.hierarchy->parent[node] == c->node;
}

/* Does b come behind a? New labels come first, then by their first leaf. With `a` KN_NODE_NONE new ones alone begin. */
static bool follows(const kn_items_cut *c, uint32_t a, uint32_t b)
{
    const uint32_t *first = c->problem.hierarchy->first;
    if (a == KN_NODE_NONE) return is_new(c, b);
    if (is_new(c, a) != is_new(c, b)) return is_new(c, a);
    return first[b] > first[a];
}

/* The labels that follow `last` in these entries of the trial, and their rows. */
static void count_followers(kn_items_cut *c, level *to, const uint32_t *entries, size_t count, uint32_t last)
{
    to->count = 0;
    for (size_t i = 0; i < count; i++)
        for (size_t l = c->trial_start[entries[i]]; l < c->trial_start[entries[i] + 1]; l++) {
            uint32_t node = c->trial[l];
            if (!follows(c, last, node)) continue;
            if (c->at[node] == 0) {
                c->memory = !KN_GROW(c->ctx, &to->followers, &to->capacity, to->count + 1);
                if (c->memory) return;
                to->followers[to->count] = (follower){.node = node};
                c->at[node] = (uint32_t)++to->count;
            }
            to->followers[c->at[node] - 1].count++;
            to->followers[c->at[node] - 1].rows += c->trial_rows[entries[i]];
        }
}

/* The entries of each follower. */
static void list_entries(kn_items_cut *c, level *to, const uint32_t *entries, size_t count, uint32_t last)
{
    size_t total = 0;
    for (size_t i = 0; i < to->count; i++) {
        to->followers[i].begin = total;
        total += to->followers[i].count;
        to->followers[i].count = 0;
    }
    c->memory = !KN_GROW(c->ctx, &to->entries, &to->entry_capacity, total + 1);
    for (size_t i = 0; !c->memory && i < count; i++)
        for (size_t l = c->trial_start[entries[i]]; l < c->trial_start[entries[i] + 1]; l++) {
            if (!follows(c, last, c->trial[l])) continue;
            follower *f = &to->followers[c->at[c->trial[l]] - 1];
            to->entries[f->begin + f->count++] = entries[i];
        }
}

/* Is a combination rare that continues the one these entries have, with `depth` labels so far? Also where memory ran out or the run was
 * cancelled. */
static bool has_rare(kn_items_cut *c, int depth, const uint32_t *entries, size_t count, uint32_t last)
{
    level *to = &c->levels[depth];
    bool   rare = false, deeper = depth + 1 < c->problem.m;
    count_followers(c, to, entries, count, last);
    for (size_t i = 0; i < to->count; i++) rare = rare || to->followers[i].rows < c->problem.k;
    if (!rare && !c->memory && deeper) list_entries(c, to, entries, count, last);
    for (size_t i = 0; i < to->count; i++) c->at[to->followers[i].node] = 0;
    if (c->memory || kn_cancelled(c->ctx)) return true;
    for (size_t i = 0; !rare && deeper && i < to->count; i++)
        rare =
            has_rare(c, depth + 1, to->entries + to->followers[i].begin, to->followers[i].count, to->followers[i].node);
    return rare;
}

/* ---- Trying ---- */

static uint32_t child_of(const kn_hierarchy *h, uint32_t node, uint32_t leaf)
{
    while (h->parent[leaf] != node) leaf = h->parent[leaf];
    return leaf;
}

/* The labels of an entry with the node's children in its place. */
static void replace_label(kn_items_cut *c, uint32_t entry, size_t *size)
{
    const kn_items_problem *p = &c->problem;
    const kn_hierarchy     *h = p->hierarchy;
    uint32_t                set = c->entries[entry].set, last = KN_NODE_NONE;
    for (uint32_t i = 0; i < c->sizes[entry]; i++) {
        uint32_t label = c->labels[c->slots[entry] + i];
        if (label != c->node) {
            c->trial[(*size)++] = label;
            continue;
        }
        for (uint64_t l = p->start[set]; l < p->start[set + 1]; l++) {
            if (!kn_hierarchy_covers(h, c->node, p->leaves[l])) continue;
            uint32_t child = child_of(h, c->node, p->leaves[l]);
            if (child != last) c->trial[(*size)++] = child;
            last = child;
        }
    }
}

static bool make_trial(kn_items_cut *c, const candidate *u)
{
    const kn_items_problem *p = &c->problem;
    size_t                  size = 0, most = 0;
    c->node = u->node;
    for (size_t i = 0; i < u->count; i++) {
        uint32_t set = c->entries[c->shown_by[u->begin + i]].set;
        most += (size_t)(p->start[set + 1] - p->start[set]);
    }
    if (!KN_GROW(c->ctx, &c->trial_start, &c->start_capacity, u->count + 1) ||
        !KN_GROW(c->ctx, &c->trial_rows, &c->rows_capacity, u->count + 1) ||
        !KN_GROW(c->ctx, &c->trial_all, &c->all_capacity, u->count + 1) ||
        !KN_GROW(c->ctx, &c->trial, &c->trial_capacity, most + 1))
        return false;
    for (size_t i = 0; i < u->count; i++) {
        uint32_t entry = c->shown_by[u->begin + i];
        c->trial_start[i] = size;
        c->trial_rows[i] = c->entries[entry].rows;
        c->trial_all[i] = (uint32_t)i;
        replace_label(c, entry, &size);
    }
    c->trial_start[u->count] = size;
    return true;
}

/* The trial becomes what is shown; its new nodes that have children are the next candidates. */
static bool keep_trial(kn_items_cut *c, const candidate *u)
{
    level *to = &c->levels[0];
    for (size_t i = 0; i < u->count; i++) {
        uint32_t entry = c->shown_by[u->begin + i];
        c->sizes[entry] = (uint32_t)(c->trial_start[i + 1] - c->trial_start[i]);
        memcpy(c->labels + c->slots[entry], c->trial + c->trial_start[i], c->sizes[entry] * sizeof *c->labels);
    }
    count_followers(c, to, c->trial_all, u->count, KN_NODE_NONE);
    if (!c->memory) list_entries(c, to, c->trial_all, u->count, KN_NODE_NONE);
    for (size_t i = 0; i < to->count; i++) c->at[to->followers[i].node] = 0;
    for (size_t i = 0; !c->memory && i < to->count; i++) {
        const follower     *f = &to->followers[i];
        const kn_hierarchy *h = c->problem.hierarchy;
        candidate next = {(double)f->rows * (double)(h->last[f->node] - h->first[f->node]), f->node, c->shown_count,
                          f->count};
        if (f->node < h->leaves) continue;
        c->memory = !KN_GROW(c->ctx, &c->shown_by, &c->shown_capacity, c->shown_count + f->count);
        for (size_t e = 0; !c->memory && e < f->count; e++)
            c->shown_by[c->shown_count++] = c->shown_by[u->begin + to->entries[f->begin + e]];
        c->memory = c->memory || !push(c, next);
    }
    return !c->memory;
}

/* ---- A class ---- */

/* Every entry that has an item shows the root. */
static bool begin_class(kn_items_cut *c, const kn_items_entry *entries, size_t count)
{
    const kn_items_problem *p = &c->problem;
    uint64_t                size = 0;
    c->entries = entries;
    c->heap_count = c->shown_count = 0;
    c->memory = false;
    if (!KN_GROW(c->ctx, &c->slots, &c->slot_capacity, count + 1) ||
        !KN_GROW(c->ctx, &c->sizes, &c->size_capacity, count + 1) ||
        !KN_GROW(c->ctx, &c->shown_by, &c->shown_capacity, count + 1))
        return false;
    for (size_t i = 0; i < count; i++) {
        c->slots[i] = size;
        size += p->start[entries[i].set + 1] - p->start[entries[i].set];
        c->sizes[i] = size > c->slots[i];
        if (c->sizes[i] > 0) c->shown_by[c->shown_count++] = (uint32_t)i;
    }
    if (!KN_GROW(c->ctx, &c->labels, &c->label_capacity, (size_t)size + 1)) return false;
    for (size_t i = 0; i < c->shown_count; i++) c->labels[c->slots[c->shown_by[i]]] = p->hierarchy->nodes - 1;
    return push(c, (candidate){0, p->hierarchy->nodes - 1, 0, c->shown_count});
}

kn_status kn_items_cut_class(kn_items_cut *c, kn_items_entry *entries, size_t count, bool *shown, kn_error *err)
{
    *shown = false;
    if (!begin_class(c, entries, count)) return kn_fail_memory(err, c->ctx, WHAT);
    while (c->heap_count > 0) {
        candidate u = pop(c);
        c->memory = !make_trial(c, &u);
        if (!c->memory && !has_rare(c, 0, c->trial_all, u.count, KN_NODE_NONE)) {
            *shown = *shown || u.node == c->problem.hierarchy->nodes - 1;
            c->memory = !keep_trial(c, &u);
        }
        if (c->memory) return kn_fail_memory(err, c->ctx, WHAT);
        if (kn_cancelled(c->ctx)) return kn_fail_cancelled(err);
    }
    for (size_t i = 0; i < count; i++) {
        entries[i].labels = c->labels + c->slots[i];
        entries[i].count = c->sizes[i];
    }
    return KN_OK;
}
