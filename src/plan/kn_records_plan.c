/* kn_records_plan.c: what a method on tree records decides, and records under it.
 *
 * Interface: kn_records_plan.h. Cost of applying: the records once, per record the relations whose values it has, and
 * sorting. Records are worked on in parallel; the result does not depend on it. Paper: section II-D (definition 2, figures 5
 * to 7).
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_records_plan.h"

#include <string.h>

#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_parallel.h"
#include "kn_sort.h"

#define ROOT KN_RECORDS_ROOT
#define NONE UINT32_MAX
#define WHAT "applying a plan to tree records"

/* Of a sensitive class, whose values are published unchanged. */
static bool kept(const kn_vocabulary *v, uint32_t n)
{
    return v->cls[n] != KN_VOCABULARY_NO_CLASS && v->sensitive[v->cls[n]];
}

void kn_records_plan_set_cut(kn_records_plan *p, const kn_vocabulary *v, const uint32_t *cut, int64_t count)
{
    for (uint32_t n = 0; n < p->values; n++) p->image[n] = kept(v, n) && v->end[n] == n + 1 ? n : NONE;
    for (int64_t i = 0; i < count; i++)
        for (uint32_t n = cut[i]; n < v->end[cut[i]]; n++)
            if (!kept(v, n)) p->image[n] = cut[i];
}

kn_status kn_records_plan_create(kn_records_plan **out, kn_context *ctx, const kn_vocabulary *vocabulary,
                                 int64_t disassociation_count, kn_error *err)
{
    *out = NULL;
    kn_records_plan *p = kn_alloc_zero(ctx, sizeof *p);
    if (!p) return kn_fail_memory(err, ctx, "making a plan");
    p->ctx = ctx;
    p->values = vocabulary->nodes;
    p->disassociation_count = disassociation_count;
    p->image = kn_alloc_array(ctx, p->values, sizeof *p->image);
    p->disassociations = kn_alloc_array_zero(ctx, (size_t)disassociation_count + 1, sizeof *p->disassociations);
    if (!p->image || !p->disassociations) {
        kn_records_plan_free(p);
        return kn_fail_memory(err, ctx, "making a plan");
    }
    kn_records_plan_set_cut(p, vocabulary, &(uint32_t){0}, 1);
    *out = p;
    return KN_OK;
}

void kn_records_plan_free(kn_records_plan *p)
{
    if (!p) return;
    KN_FREE(p->image, p->disassociations, p->given_up, p->dropped, p->in_some, p->left_out, p->parent, p->some, p);
}

static const char *wrong_image(const kn_records_plan *p, const kn_vocabulary *v, uint32_t n)
{
    uint32_t image = p->image[n], above = n ? p->image[v->parent[n]] : NONE;
    if (kept(v, n)) return image == (v->end[n] == n + 1 ? n : NONE) ? NULL : "a sensitive value is not kept as it is";
    if (image == NONE)
        return v->end[n] == n + 1 ? "a leaf has no image" : above == NONE ? NULL : "a value below the cut has no image";
    if (image >= p->values || !kn_vocabulary_covers(v, image, n)) return "an image does not cover its value";
    if (p->image[image] != image) return "an image is not in the cut";
    if (image != n && above != image) return "values of one subtree have different images";
    return image == n && above != NONE ? "the cut passes a path twice" : NULL;
}

bool kn_records_plan_validate(const kn_records_plan *p, const kn_vocabulary *v, const char **reason)
{
    *reason = p->values == v->nodes ? NULL : "it is for another vocabulary";
    for (uint32_t n = 0; n < p->values && !*reason; n++) *reason = wrong_image(p, v, n);
    for (uint32_t n = 0; p->given_up && n < p->values && !*reason; n++)
        if (p->given_up[n] && (v->end[n] != n + 1 || kept(v, n)))
            *reason = "a value that is given up is not a known leaf";
    for (int64_t i = 0; i < p->disassociation_count && !*reason; i++) {
        kn_disassociation d = p->disassociations[i];
        if (d.ancestor >= p->values || d.descendant >= p->values || p->image[d.ancestor] != d.ancestor ||
            p->image[d.descendant] != d.descendant)
            *reason = "a relation is not between values of the cut";
    }
    return *reason == NULL;
}

/* ---- Definition 2 ---- */

/* A node leaves when its value is b and some a stands above it: to the parent of the topmost such a, so that none is above
 * it any more (there can be several only where classes are gone, at "*"). What stays is put below the lowest node above it
 * that stays. */
static uint32_t move_nodes(kn_record_node *nodes, uint32_t count, kn_disassociation relation, void *scratch)
{
    uint32_t *top = scratch, *stays = top + count; /* the topmost a at or above; the lowest that stays at or above */
    bool      changed = false;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t p = nodes[i].parent, above = p == ROOT ? ROOT : top[p];
        top[i] = above == ROOT && nodes[i].value == relation.ancestor ? i : above;
        if (above != ROOT && nodes[i].value == relation.descendant) {
            /* Nothing above the topmost a leaves, so its parent is where it was. */
            stays[i] = p == ROOT ? ROOT : stays[p];
            nodes[i].parent = nodes[above].parent;
            changed = true;
        } else {
            stays[i] = i;
            if (p != ROOT) nodes[i].parent = stays[p];
        }
    }
    return changed ? kn_record_canonical(nodes, count, scratch) : count;
}

/* The topmost a above a node, and which node leads from there to it; ROOT: none. */
static uint32_t topmost(const kn_record_node *nodes, uint32_t node, uint32_t ancestor, uint32_t *child)
{
    uint32_t found = ROOT;
    for (uint32_t p = nodes[node].parent, last = node; p != ROOT; last = p, p = nodes[p].parent)
        if (nodes[p].value == ancestor) {
            found = p;
            *child = last;
        }
    return found;
}

/* Every b that is below an a moves up beside the topmost, with all that is below it. (Where classes are gone "*" may be below
 * another "*", and move more than once.) */
static uint32_t move_subtrees(kn_record_node *nodes, uint32_t count, kn_disassociation relation, void *scratch)
{
    bool     changed = false;
    uint32_t a, child;
    for (uint32_t i = 0; i < count; i++)
        while (nodes[i].value == relation.descendant && (a = topmost(nodes, i, relation.ancestor, &child)) != ROOT) {
            nodes[i].parent = nodes[a].parent;
            changed = true;
        }
    return changed ? kn_record_canonical(nodes, count, scratch) : count;
}

/* Every child of a topmost a that leads to a b moves up beside it, with all that is below it; again while some b is below an a. */
static uint32_t move_children(kn_record_node *nodes, uint32_t count, kn_disassociation relation, void *scratch)
{
    for (;;) {
        uint32_t *from = scratch, child = ROOT; /* per node: the a that it leaves */
        bool      changed = false;
        for (uint32_t i = 0; i < count; i++) from[i] = ROOT;
        for (uint32_t i = 0; i < count; i++) {
            if (nodes[i].value != relation.descendant) continue;
            uint32_t a = topmost(nodes, i, relation.ancestor, &child);
            if (a == ROOT) continue;
            from[child] = a;
            changed = true;
        }
        if (!changed) return count;
        for (uint32_t i = 0; i < count; i++)
            if (from[i] != ROOT) nodes[i].parent = nodes[from[i]].parent;
        count = kn_record_canonical(nodes, count, scratch);
    }
}

uint32_t kn_record_disassociate(kn_record_node *nodes, uint32_t count, kn_disassociation relation, kn_disassociate how,
                                void *scratch)
{
    if (count == 0) return 0;
    if (how == KN_DISASSOCIATE_SUBTREE) return move_subtrees(nodes, count, relation, scratch);
    if (how == KN_DISASSOCIATE_ANCESTOR) return move_children(nodes, count, relation, scratch);
    return move_nodes(nodes, count, relation, scratch);
}

/* ---- Applying ---- */

typedef struct worker {
    kn_record_node *nodes;
    void           *scratch;
    uint32_t        capacity; /* nodes */
    uint32_t       *stamp;    /* per value: the last record that has it, counted from 1 */
} worker;

typedef struct applying {
    kn_context            *ctx;
    const kn_records      *records;
    const kn_records_plan *plan;
    worker                *workers;
    int                    worker_count;
    uint32_t              *size;  /* per record, of what is released                       */
    kn_record_node        *nodes; /* where the original's stand: a release is never larger  */
    kn_sort_record        *order;
} applying;

static bool reserve(applying *a, worker *w, uint32_t count)
{
    if (!w->stamp) {
        w->stamp = kn_alloc_array_zero(a->ctx, a->plan->values, sizeof *w->stamp);
        if (!w->stamp) return false;
    }
    if (count <= w->capacity) return true;
    KN_FREE(w->nodes, w->scratch);
    w->capacity = 0;
    w->nodes = kn_alloc_array(a->ctx, count, sizeof *w->nodes);
    w->scratch = kn_alloc_array(a->ctx, count, KN_RECORD_SCRATCH);
    if (!w->nodes || !w->scratch) return false;
    w->capacity = count;
    return true;
}

/* One record of the original → w->nodes; returns how many. */
static uint32_t apply_one(const applying *a, worker *w, int64_t record, uint32_t stamp)
{
    const kn_records *r = a->records;
    uint64_t          first = r->start[record];
    uint32_t          size = (uint32_t)(r->start[record + 1] - first);
    for (uint32_t i = 0; i < size; i++)
        w->nodes[i] = (kn_record_node){r->parent[first + i], a->plan->image[r->value[first + i]]};
    uint32_t count = kn_record_canonical(w->nodes, size, w->scratch);
    if (a->plan->disassociation_count == 0) return count;
    for (uint32_t i = 0; i < count; i++) w->stamp[w->nodes[i].value] = stamp;
    for (int64_t i = 0; i < a->plan->disassociation_count; i++) {
        kn_disassociation d = a->plan->disassociations[i];
        if (w->stamp[d.ancestor] == stamp && w->stamp[d.descendant] == stamp)
            count = kn_record_disassociate(w->nodes, count, d, a->plan->how, w->scratch);
    }
    return count;
}

static kn_status apply_range(void *arg, int64_t begin, int64_t end, int worker_number, kn_error *err)
{
    applying         *a = arg;
    worker           *w = &a->workers[worker_number];
    const kn_records *r = a->records;
    if (w->stamp) memset(w->stamp, 0, a->plan->values * sizeof *w->stamp);
    for (int64_t i = begin; i < end; i++) {
        if (!reserve(a, w, kn_records_size(r, i))) return kn_fail_memory(err, a->ctx, WHAT);
        a->size[i] = apply_one(a, w, i, (uint32_t)(i - begin) + 1);
        kn_record_node *to = a->nodes + r->start[i];
        if (a->size[i]) memcpy(to, w->nodes, a->size[i] * sizeof *to);
        uint64_t key = a->size[i] ? ((uint64_t)to[0].value + 1) << 32 : 0;
        if (a->size[i] > 1) key |= to[1].value + 1;
        a->order[i] = (kn_sort_record){key, (uint64_t)i};
    }
    return KN_OK;
}

/* By value and parent, node by node; a record that ends earlier comes first; equal ones in the order they came. */
static int compare_records(const void *arg, uint64_t x, uint64_t y)
{
    const applying       *a = arg;
    const kn_record_node *p = a->nodes + a->records->start[x], *q = a->nodes + a->records->start[y];
    uint32_t              n = a->size[x] < a->size[y] ? a->size[x] : a->size[y];
    for (uint32_t i = 0; i < n; i++) {
        if (p[i].value != q[i].value) return p[i].value < q[i].value ? -1 : 1;
        /* The root is the smallest parent. */
        if (p[i].parent != q[i].parent) return p[i].parent + 1 < q[i].parent + 1 ? -1 : 1;
    }
    if (a->size[x] != a->size[y]) return a->size[x] < a->size[y] ? -1 : 1;
    return x < y ? -1 : x > y;
}

static kn_status gather(applying *a, kn_records **out, int64_t *original_of, kn_error *err)
{
    const kn_records *r = a->records;
    uint64_t          nodes = 0;
    for (int64_t i = 0; i < r->count; i++) nodes += a->size[i];
    KN_TRY(kn_records_create(out, a->ctx, r->vocabulary, false, r->count, nodes, err));
    uint64_t at = 0;
    for (int64_t i = 0; i < r->count; i++) {
        uint64_t              record = a->order[i].id;
        const kn_record_node *from = a->nodes + r->start[record];
        for (uint32_t n = 0; n < a->size[record]; n++, at++) {
            (*out)->parent[at] = from[n].parent;
            (*out)->value[at] = from[n].value;
        }
        (*out)->start[i + 1] = at;
        if (original_of) original_of[i] = (int64_t)record;
    }
    return KN_OK;
}

static kn_status apply(applying *a, kn_records **out, int64_t **original_of, kn_error *err)
{
    kn_context *ctx = a->ctx;
    size_t      count = (size_t)a->records->count + 1;
    a->worker_count = kn_context_threads(ctx);
    a->workers = kn_alloc_array_zero(ctx, (size_t)a->worker_count, sizeof *a->workers);
    if (!a->workers) a->worker_count = 0;
    a->size = kn_alloc_array(ctx, count, sizeof *a->size);
    a->nodes = kn_alloc_array(ctx, (size_t)a->records->nodes + 1, sizeof *a->nodes);
    a->order = kn_alloc_array(ctx, count, sizeof *a->order);
    if (original_of) *original_of = kn_alloc_array(ctx, count, sizeof **original_of);
    if (!a->workers || !a->size || !a->nodes || !a->order || (original_of && !*original_of))
        return kn_fail_memory(err, ctx, WHAT);
    KN_TRY(kn_parallel_for(ctx, a->records->count, 4096, apply_range, a, err));
    KN_TRY(kn_sort_records(ctx, a->order, (size_t)a->records->count, compare_records, a, err));
    return gather(a, out, original_of ? *original_of : NULL, err);
}

static kn_status apply_all(kn_records **out, int64_t **original_of, kn_context *ctx, const kn_records *records,
                           const kn_records_plan *plan, kn_error *err)
{
    applying  a = {.ctx = ctx, .records = records, .plan = plan};
    kn_status st = apply(&a, out, original_of, err);
    for (int i = 0; i < a.worker_count; i++) {
        KN_FREE(a.workers[i].nodes, a.workers[i].scratch, a.workers[i].stamp);
    }
    KN_FREE(a.workers, a.size, a.nodes, a.order);
    if (st != KN_OK && original_of) {
        kn_free(*original_of);
        *original_of = NULL;
    }
    return st;
}

/* What stays of the records first, then the plan on that. */
static kn_status apply_suppressing(kn_records **out, int64_t **original_of, kn_context *ctx, const kn_records *records,
                                   const kn_records_plan *plan, kn_error *err)
{
    kn_records *stay = NULL;
    int64_t    *stayed = NULL, *order = NULL;
    KN_TRY(kn_records_without(&stay, &stayed, ctx, records,
                              (kn_records_lack){plan->given_up, plan->dropped, plan->left_out, plan->parent}, err));
    kn_status st = apply_all(out, &order, ctx, stay, plan, err);
    if (st == KN_OK && original_of) {
        /* `stayed` is one entry per record: those that stay in the released order, the others where they are. */
        for (int64_t i = 0; i < stay->count; i++) order[i] = stayed[order[i]];
        if (stay->count > 0) memcpy(stayed, order, (size_t)stay->count * sizeof *stayed);
        *original_of = stayed;
        stayed = NULL;
    }
    KN_FREE(stayed, order);
    kn_records_free(stay);
    return st;
}

kn_status kn_records_apply(kn_records **out, int64_t **original_of, kn_context *ctx, const kn_records *records,
                           const kn_records_plan *plan, kn_error *err)
{
    *out = NULL;
    if (original_of) *original_of = NULL;
    if (plan->given_up || plan->dropped || plan->left_out || plan->parent)
        return apply_suppressing(out, original_of, ctx, records, plan, err);
    return apply_all(out, original_of, ctx, records, plan, err);
}
