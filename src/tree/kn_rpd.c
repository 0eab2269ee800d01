/* kn_rpd.c: RPDa, the cost that guides the search (equations 7 and 8; docs/errata.md K2, K13, K14).
 *
 * Interface: kn_structure.h, kn_tree_cost.h. On the trie of the paths as they stand; supports are numbers of records. Paths
 * are added in preorder, children by value: the sum is the same to the last bit in every implementation. Cost: O(nodes of the
 * projection × depth + nodes of its rows).
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_structure.h"

#define WHAT "the cost of a cut"
#define NONE UINT32_MAX

typedef struct trie {
    kn_node_table nodes;
    uint32_t     *of_node; /* per node of the projection */
    int64_t      *support;
    uint32_t     *stamp;
} trie;

static bool insert_paths(trie *t, const kn_structure *s)
{
    const kn_projection *p = s->projection;
    for (uint32_t i = 0; i < p->nodes; i++) {
        const uint32_t *path = s->path + p->path_start[i];
        uint32_t        at = NONE, length = s->length[i];
        for (uint32_t j = 0; j < length; j++) {
            at = kn_node_table_child(&t->nodes, at, p->values[path[j]]);
            if (at == KN_NODE_TABLE_FULL) return false;
        }
        t->of_node[i] = at;
    }
    return true;
}

static void count_supports(trie *t, const kn_structure *s)
{
    const kn_rows *rows = &s->projection->rows;
    for (uint32_t row = 0; row < rows->count; row++)
        for (uint64_t i = rows->start[row]; i < rows->start[row + 1]; i++) {
            uint32_t node = t->of_node[rows->members[i]];
            if (t->stamp[node] == row + 1) continue;
            t->stamp[node] = row + 1;
            t->support[node] += rows->weight[row];
        }
}

/* Lists of children by value: nodes are put in front, the largest value first. child[count]: of the root. */
static bool link_children(kn_context *ctx, const kn_node_table *nodes, uint32_t values, uint32_t *child, uint32_t *next)
{
    uint32_t  n = nodes->count;
    uint32_t *starts = kn_alloc_array_zero(ctx, (size_t)values + 1 + n, sizeof *starts), *order;
    if (!starts) return false;
    order = starts + values + 1;
    for (uint32_t i = 0; i < n; i++) starts[nodes->value[i] + 1]++;
    for (uint32_t i = 0; i < values; i++) starts[i + 1] += starts[i];
    for (uint32_t i = 0; i < n; i++) order[starts[nodes->value[i]]++] = i;
    for (uint32_t i = 0; i <= n; i++) child[i] = NONE;
    for (uint32_t i = n; i-- > 0;) {
        uint32_t node = order[i], up = nodes->parent[node] == NONE ? n : nodes->parent[node];
        next[node] = child[up];
        child[up] = node;
    }
    kn_free(starts);
    return true;
}

typedef struct sum {
    const uint32_t       *value, *child, *next;
    const int64_t        *support;
    const kn_cost_domain *domain;
    double                total;
    uint64_t              residue, leaves;
    int64_t               relations;
} sum;

/* A path so far: the product of equation 7, and its divisor as a residue. */
typedef struct path {
    uint64_t depth;
    double   product;
    uint64_t inverse, depth_inverse; /* of the product; of the next node's depth */
    int64_t  supports;
} path;

/* The recursion is as deep as a record. */
static void add_paths(sum *s, uint32_t from, path at)
{
    uint64_t inverse = kn_cost_times(at.inverse, at.depth_inverse);
    path     below = {at.depth + 1, 0, 0, 0, 0};
    for (uint32_t i = s->child[from]; i != NONE; i = s->next[i]) {
        const kn_cost_domain *domain = &s->domain[s->value[i]];
        below.product = at.product * ((double)(at.depth + 1) * (double)domain->size);
        below.inverse = kn_cost_times(inverse, domain->inverse);
        below.supports = at.supports + s->support[i];
        s->relations += s->support[i] * (int64_t)at.depth;
        if (s->child[i] != NONE) {
            if (below.depth_inverse == 0) below.depth_inverse = kn_cost_inverse(at.depth + 2);
            add_paths(s, i, below);
            continue;
        }
        s->total += (double)below.supports / below.product;
        s->residue += kn_cost_times((uint64_t)below.supports, below.inverse);
        s->residue -= s->residue >= KN_COST_PRIME ? KN_COST_PRIME : 0;
        s->leaves++;
    }
}

kn_status kn_trie_rpda(kn_tree_cost *out, kn_context *ctx, const kn_node_table *nodes, const int64_t *support,
                       const kn_cost_domain *domain, uint32_t values, kn_error *err)
{
    size_t    n = (size_t)nodes->count + 1;
    uint32_t *child = kn_alloc_array(ctx, 2 * n, sizeof *child), *next = child ? child + n : NULL;
    if (!child || !link_children(ctx, nodes, values, child, next)) {
        kn_free(child);
        return kn_fail_memory(err, ctx, WHAT);
    }
    sum total = {nodes->value, child, next, support, domain, 0, 0, 0, 0};
    add_paths(&total, nodes->count, (path){0, 1, 1, 1, 0});
    *out = (kn_tree_cost){0, 0, total.relations};
    if (total.leaves > 0) {
        uint64_t share = kn_cost_times(kn_cost_inverse(nodes->count), kn_cost_inverse(total.leaves));
        *out = (kn_tree_cost){total.total / ((double)nodes->count * (double)total.leaves),
                              kn_cost_times(total.residue, share), total.relations};
    }
    kn_free(child);
    return KN_OK;
}

static kn_status measure(trie *t, kn_tree_cost *out, const kn_structure *s, const kn_cost_domain *domain, kn_error *err)
{
    if (!KN_ALLOC(s->ctx, t->of_node, (size_t)s->projection->nodes + 1)) return kn_fail_memory(err, s->ctx, WHAT);
    KN_TRY(kn_node_table_make(&t->nodes, s->ctx, 0, err));
    if (!insert_paths(t, s)) return kn_fail_memory(err, s->ctx, WHAT);
    size_t n = (size_t)t->nodes.count + 1;
    if (!KN_ALLOC_ZERO(s->ctx, t->support, n) || !KN_ALLOC_ZERO(s->ctx, t->stamp, n))
        return kn_fail_memory(err, s->ctx, WHAT);
    count_supports(t, s);
    return kn_trie_rpda(out, s->ctx, &t->nodes, t->support, domain, s->synopsis->vocabulary->nodes, err);
}

kn_status kn_rpda(kn_tree_cost *out, const kn_structure *s, const kn_cost_domain *domain, kn_error *err)
{
    trie      t = {0};
    kn_status st = measure(&t, out, s, domain, err);
    kn_node_table_free(&t.nodes);
    KN_FREE(t.of_node, t.support, t.stamp);
    return st;
}
