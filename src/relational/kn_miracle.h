/* kn_miracle.h: the parts of the fast path: interned subtrees, remembered costs, lower bounds.
 *
 * A lane is what one worker needs for one of a fixed number of pieces of work: its own memory of costs, its own
 * counters. The lane of a piece depends on positions alone, so neither results nor counters depend on
 * threads.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_MIRACLE_H
#define KN_MIRACLE_H

#include "kn_relational_internal.h"

/* ---- Interned subtrees ---- */

typedef struct kn_subtree {
    uint32_t value; /* of the root's (table, values) */
    uint32_t first, count; /* its children, in the store's pool */
    uint32_t cells; /* of all nodes, the root's included */
    uint64_t below; /* the sum of LM of all nodes but the root */
    uint16_t table;
} kn_subtree;

typedef struct kn_store {
    kn_context      *ctx;
    const kn_losses *losses;
    uint32_t         epoch;      /* ids are valid in one epoch only     */
    uint32_t        *values;     /* (1 + width) words each: table, values */
    uint32_t         value_count;
    size_t           value_capacity;
    kn_subtree      *trees;
    uint32_t         count;
    size_t           capacity;
    uint32_t        *pool; /* children */
    size_t           pool_count, pool_capacity;
    uint32_t        *value_slots, *tree_slots; /* KN_FOREST_NONE: free */
    size_t           value_mask, tree_mask;
} kn_store;

/* To be freed with kn_store_free even on failure. */
KN_CHECK kn_status kn_store_make(kn_store *out, kn_context *ctx, const kn_losses *losses, kn_error *err);
void               kn_store_free(kn_store *store);
void               kn_store_forget(kn_store *store); /* begins a new epoch: all ids become invalid */

/* Fills in cluster->ids unless they are of this epoch. Ids of equal subtrees are equal. */
KN_CHECK kn_status kn_store_intern(kn_store *store, kn_cluster *cluster, kn_error *err);

/* ---- Lower bounds ---- */

typedef struct kn_tree_bounds {
    kn_context      *ctx;
    const kn_losses *losses;
    uint8_t        **bucket; /* tables × width: per hierarchy node; KN_BUCKETS: the root          */
    uint8_t         *buckets; /* ...: how many are used */
    size_t          *base;   /* ...: where its nodes begin where those of all columns are counted */
    size_t           nodes;  /* of all of them                                                    */
    uint32_t        *drop;   /* per such node: how much less it costs than its parent             */
} kn_tree_bounds;

/* Values under different children of the root meet in the root alone; those children are distinguished by their bucket. */
#define KN_BUCKETS 16

typedef struct kn_signature {
    uint64_t  cells;
    uint32_t *nodes;  /* per table                                                               */
    uint64_t *own;    /* tables × width: the sum of LM                                           */
    uint64_t *table_own; /* per table: likewise                                                  */
    uint32_t *count;  /* tables × width × KN_BUCKETS: values in the bucket                       */
    uint64_t *least;  /* ... and the least LM of them                                            */
    /* Which hierarchy nodes, but for roots, have values at or below them, and how many; column by column. */
    uint32_t *spot_first; /* tables × width + 1 */
    uint32_t *spot;       /* counted over all columns */
    uint32_t *spot_count;
    bool      spotted;    /* false: they are not kept         */
    /* Per node of the tree, of what stands below it: cells, and the sum of their LM. Only with spots. */
    uint32_t *cells_below;
    uint64_t *own_below;
} kn_signature;

KN_CHECK kn_status kn_tree_bounds_make(kn_tree_bounds *out, kn_context *ctx, const kn_losses *losses, kn_error *err);
void               kn_tree_bounds_free(kn_tree_bounds *bounds);

/* Allocates one; without spots if there are 0 of them. Freed by kn_free. */
KN_CHECK kn_status kn_signature_create(kn_signature **out, const kn_tree_bounds *bounds, size_t spots, size_t nodes,
                                       kn_error *err);
void               kn_signature_fill(kn_signature *s, const kn_tree_bounds *bounds, const kn_cluster *cluster);

/* Both at once, with spots. `counts` holds bounds->nodes counters, all 0 between calls; `touched` is as long. */
KN_CHECK kn_status kn_signature_make(kn_signature **out, const kn_tree_bounds *bounds, const kn_cluster *cluster,
                                     uint32_t *counts, uint32_t *touched, kn_error *err);

/* Writes the spots of a signature into `counts`, and removes them again. */
void kn_signature_spread(const kn_signature *s, const kn_tree_bounds *bounds, uint32_t *counts);
void kn_signature_clear(const kn_signature *s, const kn_tree_bounds *bounds, uint32_t *counts);

/* For any matching, the loss of the two is at least this. */
kn_loss kn_signature_bound(const kn_tree_bounds *bounds, const kn_signature *representative,
                           const kn_signature *entity);

/* Likewise, lower and cheaper. */
kn_loss kn_signature_coarse_bound(const kn_tree_bounds *bounds, const kn_signature *representative,
                                  const kn_signature *entity);

/* Likewise, mostly higher and more expensive. One of the two has been spread into `counts`; `other` is the other,
 * spotted. */
kn_loss kn_signature_fine_bound(const kn_tree_bounds *bounds, const kn_signature *representative,
                                const kn_signature *entity, const kn_signature *other, const uint32_t *counts);

/* ---- Losses of two values ---- */

/* The LM of the lowest common ancestor of two nodes of one column's hierarchy. */
typedef struct kn_column_losses {
    const kn_hierarchy *hierarchy;
    const uint64_t     *lm;    /* per node                                                                           */
    uint32_t            inner; /* nodes that are not leaves                                                          */
    uint32_t           *above; /* per node: itself or, of a leaf, its parent, counted among the inner nodes          */
    uint32_t           *loss;  /* inner × inner; NULL: too large, hierarchies are asked                              */
} kn_column_losses;

typedef struct kn_tables {
    kn_context       *ctx;
    const kn_losses  *losses;
    kn_column_losses *columns; /* tables × width                                      */
    bool             *all;     /* per table: every quasi-identifier of it has a table */
} kn_tables;

/* `cells`: the amount of work, which decides what is worth tabulating. To be freed even on failure. */
KN_CHECK kn_status kn_tables_make(kn_tables *out, kn_context *ctx, const kn_losses *losses, uint64_t cells,
                                  kn_error *err);
void               kn_tables_free(kn_tables *tables);

static inline uint64_t kn_column_loss(const kn_column_losses *c, uint32_t x, uint32_t y)
{
    if (x == y) return c->lm[x];
    return c->loss ? c->loss[(size_t)c->above[x] * c->inner + c->above[y]] : c->lm[kn_hierarchy_lca(c->hierarchy, x, y)];
}

/* Adds the losses of one value with each of `count` others. */
void kn_column_losses_add(const kn_column_losses *column, uint32_t x, const uint32_t *ys, uint32_t count,
                          uint64_t *sums);

/* The own loss of two tuples of a table. */
static inline uint64_t kn_tuple_loss(const kn_tables *tables, uint32_t table, const uint32_t *x, const uint32_t *y)
{
    const kn_column_losses *columns = tables->columns + (size_t)table * (size_t)tables->losses->width;
    uint64_t                sum = 0;
    for (int q = 0; q < tables->losses->quasi[table]; q++) sum += kn_column_loss(&columns[q], x[q], y[q]);
    return sum;
}

/* ---- Lanes ---- */

typedef struct kn_remembered {
    uint64_t key; /* UINT64_MAX: free */
    uint64_t sum;
    uint64_t cells;
} kn_remembered;

typedef struct kn_lane {
    const kn_relational_work *work;
    const kn_store           *store;
    const kn_tables          *tables;
    kn_remembered            *pairs; /* of subtrees; NULL where subtrees are not interned */
    size_t                    mask;
    char                     *stack; /* memory of the current matchings   */
    size_t                    top;
    kn_pair                  *queue; /* current pairs of nodes          */
    size_t                    queue_capacity;
    kn_signature             *signature; /* scratch */
    uint32_t                 *counts, *touched; /* scratch for spots */
    bool                      sum_only; /* of equally cheap assignments any will do */
    int64_t                   evaluations, distances, skipped;
} kn_lane;

/* `places`: of the memory of costs; a power of two, or 0: none. */
KN_CHECK kn_status kn_lane_make(kn_lane *out, const kn_relational_work *work, const kn_store *store,
                                const kn_tables *tables, size_t places, kn_error *err);
void               kn_lane_free(kn_lane *lane);
void               kn_lane_forget(kn_lane *lane); /* with kn_store_forget */

/* Space to compare a tree of that many nodes with others. */
KN_CHECK kn_status kn_lane_room(kn_lane *lane, uint32_t nodes, kn_error *err);

/* Memory on the stack, until lane->top is restored. */
static inline void *kn_lane_push(kn_lane *lane, size_t size)
{
    void *block = lane->stack + lane->top;
    lane->top += (size + 15) & ~(size_t)15;
    return block;
}

/* Table look-ups count as computed. */
static inline void kn_lane_count(kn_lane *lane, uint32_t table, uint32_t count)
{
    if (!lane->tables->all[table]) lane->evaluations += count;
}

/* The limit: larger losses are not needed. */
typedef struct kn_limit {
    bool    limited; /* false: everything is */
    bool    equal;   /* the limit itself is */
    kn_loss loss;
} kn_limit;

static inline bool kn_limit_passed(const kn_limit *limit, kn_loss bound)
{
    if (!limit->limited) return false;
    int c = kn_loss_compare(bound, limit->loss);
    return c > 0 || (c == 0 && !limit->equal);
}

/* What is still to be paired of two trees: cells of both, and the LM of those of the representative. Whatever the
 * pairs, together they cost at least this (see kn_miracle_bound.c for why). */
static inline kn_loss kn_rest_bound(uint64_t cells_a, uint64_t own_a, uint64_t cells_b, uint64_t unit)
{
    uint64_t pairs = cells_a < cells_b ? cells_a : cells_b, deleted = (cells_a - pairs) * unit;
    return (kn_loss){(own_a > deleted ? own_a : deleted) + (cells_b - pairs) * unit, cells_a + cells_b - pairs};
}

/* ---- Matching siblings by their own values (kn_miracle_match.c) ---- */

/* Does the method use nothing else? */
bool kn_matches_values(const kn_relational_problem *problem);

/* Siblings of one table, one behind the other. */
typedef struct kn_siblings {
    uint32_t        count;
    const uint32_t *values; /* count × width                                      */
    const uint32_t *load;   /* count × heavy; NULL: nothing that weighs is below  */
} kn_siblings;

/* Siblings of the representative and of the other, as the method or, where nothing stands below them, any method pairs
 * them: pick[i] is the place in ys for the i-th of xs, or KN_FOREST_NONE. Both have a load or neither. */
void kn_match_values(kn_lane *lane, uint32_t table, const kn_siblings *xs, const kn_siblings *ys, uint32_t *pick);

/* ---- Trees whose siblings are matched so: straight from their arrays (kn_miracle_flat.c) ---- */

/* The loss of the anonymization of two signed clusters. False: it is beyond the limit, and *out a lower bound that is
 * too. The queue has space for the smaller tree. */
bool kn_flat_loss(kn_lane *lane, const kn_cluster *a, const kn_cluster *b, const kn_limit *limit, kn_loss *out);

/* The pairs of nodes that become one; `pairs` has space for the nodes of the smaller tree. Returns how many. */
uint32_t kn_flat_pairs(kn_lane *lane, const kn_cluster *a, const kn_cluster *b, kn_pair *pairs);

/* ---- Trees whose siblings are matched by whole subtrees: interned (kn_miracle_deep.c) ---- */

/* As above. */
bool     kn_deep_loss(kn_lane *lane, const kn_cluster *a, const kn_cluster *b, const kn_limit *limit, kn_loss *out);
uint32_t kn_deep_pairs(kn_lane *lane, const kn_cluster *a, const kn_cluster *b, kn_pair *pairs);

/* ---- Either ---- */

static inline bool kn_lane_loss(kn_lane *lane, const kn_cluster *a, const kn_cluster *b, const kn_limit *limit,
                                kn_loss *out)
{
    return lane->pairs ? kn_deep_loss(lane, a, b, limit, out) : kn_flat_loss(lane, a, b, limit, out);
}

static inline uint32_t kn_lane_pairs(kn_lane *lane, const kn_cluster *a, const kn_cluster *b, kn_pair *pairs)
{
    return lane->pairs ? kn_deep_pairs(lane, a, b, pairs) : kn_flat_pairs(lane, a, b, pairs);
}

/* ---- Assignment ---- */

/* The cheapest assignment of `rows` <= `columns` rows, `cost` row by row; of equal ones with `first` the lexicographically
 * first, otherwise any: the same for the same costs.
 * `room` holds kn_assign_room(columns) bytes. */
size_t kn_assign_room(size_t columns);
void   kn_assign(const int64_t *cost, uint32_t rows, uint32_t columns, bool first, uint32_t *column_of_row,
                 void *room);

#endif
