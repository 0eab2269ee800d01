/* kn_relational_cluster.c: representatives: made from a person, or from two representatives whose nodes were paired.
 *
 * The order of siblings is that of (table, values, what stands below); siblings that are equal in all of this keep
 * their order. So the tree alone determines the position of a node, and matching may break ties by position
 * (docs/errata.md M8).
 *
 * Cost: n log n comparisons of subtrees for n nodes, and size × n for the rows of the members.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_relational_internal.h"

#include <string.h>

#include "kn_alloc.h"
#include "kn_error.h"

/* ---- Trees in the order they come in, parents before children ---- */

typedef struct draft {
    const kn_losses *losses;
    uint32_t         nodes;
    int              width;
    const uint16_t  *table;
    const uint32_t  *parent; /* KN_FOREST_NONE for the first */
    const uint32_t  *values; /* nodes × width                */
    /* Made here. */
    uint32_t *begin;    /* nodes + 1: where a node's children stand in `children` */
    uint32_t *children; /* nodes                                                  */
    uint32_t *spare;    /* nodes: for sorting                                     */
    uint32_t *order;    /* nodes: the draft's node at each place of the result    */
} draft;

static int compare_subtrees(const draft *d, uint32_t x, uint32_t y)
{
    if (d->table[x] != d->table[y]) return d->table[x] < d->table[y] ? -1 : 1;
    const uint32_t *v = d->values + (size_t)x * (size_t)d->width, *w = d->values + (size_t)y * (size_t)d->width;
    for (int q = 0; q < d->width; q++)
        if (v[q] != w[q]) return v[q] < w[q] ? -1 : 1;
    uint32_t m = d->begin[x + 1] - d->begin[x], n = d->begin[y + 1] - d->begin[y];
    for (uint32_t i = 0; i < m && i < n; i++) {
        int c = compare_subtrees(d, d->children[d->begin[x] + i], d->children[d->begin[y] + i]);
        if (c) return c;
    }
    return m < n ? -1 : m > n;
}

/* Stable merge sort. */
static void sort_siblings(const draft *d, uint32_t *items, uint32_t count, uint32_t *spare)
{
    if (count < 2) return;
    uint32_t half = count / 2, i = 0, j = half, at = 0;
    sort_siblings(d, items, half, spare);
    sort_siblings(d, items + half, count - half, spare);
    memcpy(spare, items, count * sizeof *items);
    while (i < half && j < count) items[at++] = compare_subtrees(d, spare[i], spare[j]) <= 0 ? spare[i++] : spare[j++];
    while (i < half) items[at++] = spare[i++];
    while (j < count) items[at++] = spare[j++];
}

static kn_status draft_order(draft *d, kn_context *ctx, kn_error *err)
{
    size_t n = d->nodes;
    if (!KN_ALLOC_ZERO(ctx, d->begin, n * 4 + 1)) return kn_fail_memory(err, ctx, "making a representative");
    d->children = d->begin + n + 1;
    d->spare = d->children + n;
    d->order = d->spare + n;
    for (uint32_t v = 1; v < n; v++) d->begin[d->parent[v] + 1]++;
    for (uint32_t v = 0; v < n; v++) d->begin[v + 1] += d->begin[v];
    memcpy(d->spare, d->begin, n * sizeof *d->spare);
    for (uint32_t v = 1; v < n; v++) d->children[d->spare[d->parent[v]]++] = v;
    for (uint32_t v = d->nodes; v-- > 0;)
        sort_siblings(d, d->children + d->begin[v], d->begin[v + 1] - d->begin[v], d->spare);
    uint32_t filled = 1;
    d->order[0] = 0;
    for (uint32_t at = 0; at < n; at++) {
        uint32_t v = d->order[at];
        for (uint32_t i = d->begin[v]; i < d->begin[v + 1]; i++) d->order[filled++] = d->children[i];
    }
    return KN_OK;
}

/* ---- Clusters ---- */

static kn_cluster *cluster_alloc(kn_context *ctx, uint32_t nodes, uint32_t size, int width, int heavy)
{
    size_t      n = nodes, words = n * (4 + (size_t)width + (size_t)heavy) + size + n * size;
    kn_cluster *c = kn_alloc_zero(ctx, sizeof *c + words * sizeof(uint32_t) + n * sizeof(uint16_t));
    if (!c) return NULL;
    uint32_t *at = (uint32_t *)(void *)(c + 1);
    c->nodes = nodes;
    c->size = size;
    for (int i = 0; i < KN_SLOTS; i++) c->slot[i] = KN_FOREST_NONE;
    c->parent = at;
    c->first_child = c->parent + n;
    c->child_count = c->first_child + n;
    c->ids = c->child_count + n;
    c->values = c->ids + n;
    c->load = c->values + n * (size_t)width;
    c->members = c->load + n * (size_t)heavy;
    c->rows = c->members + size;
    c->table = (uint16_t *)(void *)(c->rows + n * size);
    return c;
}

void kn_cluster_free(kn_cluster *cluster)
{
    if (!cluster) return;
    KN_FREE(cluster->signature, cluster);
}

/* Bottom-up: children come after their parents. */
static void add_load(kn_cluster *c, const kn_losses *losses)
{
    size_t heavy = (size_t)losses->heavy;
    for (uint32_t v = c->nodes; heavy > 0 && v-- > 1;)
        for (size_t h = 0; h < heavy; h++)
            c->load[c->parent[v] * heavy + h] += c->load[v * heavy + h] + (c->table[v] == losses->heavy_table[h]);
}

/* The tree of an ordered draft; the caller adds members and rows. */
static kn_cluster *cluster_of_draft(kn_context *ctx, const draft *d, uint32_t size)
{
    kn_cluster *c = cluster_alloc(ctx, d->nodes, size, d->width, d->losses->heavy);
    if (!c) return NULL;
    uint32_t next = 1;
    c->parent[0] = KN_FOREST_NONE;
    for (uint32_t at = 0; at < d->nodes; at++) {
        uint32_t v = d->order[at];
        c->table[at] = d->table[v];
        memcpy(c->values + (size_t)at * (size_t)d->width, d->values + (size_t)v * (size_t)d->width,
               (size_t)d->width * sizeof *c->values);
        c->first_child[at] = next;
        c->child_count[at] = d->begin[v + 1] - d->begin[v];
        for (uint32_t i = 0; i < c->child_count[at]; i++) c->parent[next++] = at;
    }
    add_load(c, d->losses);
    return c;
}

kn_status kn_cluster_of_entity(kn_cluster **out, kn_context *ctx, const kn_forest *f, const kn_losses *losses,
                               int64_t entity, kn_error *err)
{
    *out = NULL;
    uint64_t  begin = f->start[entity];
    draft     d = {.losses = losses,
                   .nodes = (uint32_t)(f->start[entity + 1] - begin),
                   .width = losses->width,
                   .table = f->table + begin,
                   .parent = f->parent + begin};
    uint32_t *values = kn_alloc_array_zero(ctx, d.nodes, sizeof *values * (size_t)d.width);
    if (!values) return kn_fail_memory(err, ctx, "making a representative");
    for (uint32_t v = 0; v < d.nodes; v++)
        for (int q = 0; q < losses->quasi[d.table[v]]; q++)
            values[(size_t)v * (size_t)d.width + (size_t)q] = kn_forest_leaf(f, begin + v, q);
    d.values = values;
    kn_status st = draft_order(&d, ctx, err);
    if (st == KN_OK && !(*out = cluster_of_draft(ctx, &d, 1))) st = kn_fail_memory(err, ctx, "making a representative");
    if (st == KN_OK) {
        (*out)->members[0] = (uint32_t)entity;
        for (uint32_t at = 0; at < d.nodes; at++) (*out)->rows[at] = f->row[begin + d.order[at]];
    }
    KN_FREE(d.begin, values);
    return st;
}

kn_status kn_cluster_of_nodes(kn_cluster **out, kn_context *ctx, const kn_forest *f, const kn_losses *losses,
                              const uint32_t *root, const uint32_t *members, uint32_t size, const uint32_t *nodes,
                              uint32_t count, kn_error *err)
{
    *out = NULL;
    uint64_t  begin = f->start[members[0]];
    size_t    width = (size_t)losses->width, n = count, all = (size_t)(f->start[members[0] + 1] - begin);
    uint32_t *words = kn_alloc_zero(ctx, (n * (1 + width) + all) * sizeof(uint32_t) + n * sizeof(uint16_t));
    if (!words) return kn_fail_memory(err, ctx, "making a representative");
    uint32_t *parent = words, *values = parent + n, *place = values + n * width;
    uint16_t *table = (uint16_t *)(void *)(place + all);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t node = begin + nodes[i];
        place[nodes[i]] = i;
        table[i] = f->table[node];
        parent[i] = i == 0 ? KN_FOREST_NONE : place[f->parent[node]];
        for (size_t q = 0; q < (size_t)losses->quasi[table[i]]; q++)
            values[i * width + q] = i == 0 ? root[q] : kn_forest_leaf(f, node, (int)q);
    }
    draft     d = {losses, count, losses->width, table, parent, values, NULL, NULL, NULL, NULL};
    kn_status st = draft_order(&d, ctx, err);
    if (st == KN_OK && !(*out = cluster_of_draft(ctx, &d, size)))
        st = kn_fail_memory(err, ctx, "making a representative");
    for (uint32_t m = 0; st == KN_OK && m < size; m++) {
        (*out)->members[m] = members[m];
        for (uint32_t at = 0; at < count; at++)
            (*out)->rows[m * n + at] = f->row[f->start[members[m]] + nodes[m * n + d.order[at]]];
    }
    KN_FREE(d.begin, words);
    return st;
}

kn_status kn_cluster_of_class(kn_cluster **out, kn_context *ctx, const kn_losses *losses, const kn_database_plan *plan,
                              uint32_t c, kn_error *err)
{
    *out = NULL;
    uint64_t  begin = plan->node_start[c];
    uint32_t  size = (uint32_t)kn_database_plan_size(plan, c);
    draft     d = {.losses = losses,
                   .nodes = kn_database_plan_nodes(plan, c),
                   .width = losses->width,
                   .table = plan->table + begin,
                   .parent = plan->parent + begin,
                   .values = plan->values + begin * (uint64_t)plan->width};
    kn_status st = draft_order(&d, ctx, err);
    if (st == KN_OK && !(*out = cluster_of_draft(ctx, &d, size)))
        st = kn_fail_memory(err, ctx, "making a representative");
    for (uint32_t m = 0; st == KN_OK && m < size; m++) {
        (*out)->members[m] = plan->members[plan->member_start[c] + m];
        for (uint32_t at = 0; at < d.nodes; at++)
            (*out)->rows[(size_t)m * d.nodes + at] = kn_database_plan_rows(plan, c, m)[d.order[at]];
    }
    kn_free(d.begin);
    return st;
}

static void fill_rows(kn_cluster *c, uint32_t first, const kn_cluster *from, const draft *d, const kn_pair *pairs,
                      bool second)
{
    memcpy(c->members + first, from->members, from->size * sizeof *c->members);
    for (uint32_t at = 0; at < c->nodes; at++) {
        const kn_pair *p = &pairs[d->order[at]];
        uint32_t       node = second ? p->b : p->a;
        for (uint32_t m = 0; m < from->size; m++)
            c->rows[(size_t)(first + m) * c->nodes + at] = from->rows[(size_t)m * from->nodes + node];
    }
}

kn_status kn_cluster_merge(kn_cluster **out, kn_context *ctx, const kn_losses *losses, const kn_cluster *a,
                           const kn_cluster *b, const kn_pair *pairs, uint32_t count, kn_error *err)
{
    *out = NULL;
    size_t    width = (size_t)losses->width, n = count;
    uint32_t *words = kn_alloc_zero(ctx, n * (1 + width) * sizeof(uint32_t) + n * sizeof(uint16_t));
    if (!words) return kn_fail_memory(err, ctx, "making a representative");
    uint32_t *parent = words, *values = words + n;
    uint16_t *table = (uint16_t *)(void *)(values + n * width);
    for (uint32_t i = 0; i < count; i++) {
        int t = a->table[pairs[i].a];
        table[i] = (uint16_t)t;
        parent[i] = pairs[i].parent;
        for (size_t q = 0; q < (size_t)losses->quasi[t]; q++)
            values[i * width + q] =
                kn_hierarchy_lca(losses->hierarchies[(size_t)t * width + q], a->values[pairs[i].a * width + q],
                                 b->values[pairs[i].b * width + q]);
    }
    draft     d = {losses, count, losses->width, table, parent, values, NULL, NULL, NULL, NULL};
    kn_status st = draft_order(&d, ctx, err);
    if (st == KN_OK && !(*out = cluster_of_draft(ctx, &d, a->size + b->size)))
        st = kn_fail_memory(err, ctx, "making a representative");
    if (st == KN_OK) {
        fill_rows(*out, 0, a, &d, pairs, false);
        fill_rows(*out, a->size, b, &d, pairs, true);
    }
    KN_FREE(d.begin, words);
    return st;
}

/* ---- Lists ---- */

kn_status kn_cluster_list_add(kn_cluster_list *list, kn_context *ctx, kn_cluster *cluster, kn_error *err)
{
    if (!KN_GROW(ctx, &list->items, &list->capacity, list->count + 1)) {
        kn_cluster_free(cluster);
        return kn_fail_memory(err, ctx, "collecting clusters");
    }
    list->items[list->count++] = cluster;
    return KN_OK;
}

kn_cluster *kn_cluster_list_take(kn_cluster_list *list, size_t at)
{
    kn_cluster *taken = list->items[at];
    list->count--;
    memmove(list->items + at, list->items + at + 1, (list->count - at) * sizeof(kn_cluster *));
    return taken;
}

void kn_cluster_list_free(kn_cluster_list *list)
{
    for (size_t i = 0; i < list->count; i++) kn_cluster_free(list->items[i]);
    kn_free(list->items);
    *list = (kn_cluster_list){0};
}
