/* kn_miracle.h: the parts of the fast path: interned subtrees, remembered costs, lower bounds.
 *
 * A lane is what one worker needs for one of a fixed number of pieces of work: its own memory of costs, its own
 * counters. Which piece goes to which lane depends on positions alone, so neither results nor counters depend on
 * threads.
 */
#ifndef KN_MIRACLE_H
#define KN_MIRACLE_H

#include "kn_relational_internal.h"

/* ---- Interned subtrees ---- */

typedef struct kn_subtree {
    uint32_t value; /* of the root's (table, values) */
    uint16_t table;
    uint32_t first, count; /* its children, in the store's pool */
    uint64_t cells; /* of all nodes, the root's included */
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

/* Free it with kn_store_free whatever the answer. */
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
    size_t          *base;   /* ...: where its nodes begin where those of all columns are counted */
    size_t           nodes;  /* of all of them                                                    */
    uint32_t        *drop;   /* per such node: how much less it costs than its parent             */
} kn_tree_bounds;

/* Values under different children of the root meet in the root alone; those children are told apart by their bucket. */
#define KN_BUCKETS 16

typedef struct kn_signature {
    uint64_t  cells;
    uint32_t *nodes;  /* per table                                                               */
    uint64_t *own;    /* tables × width: the sum of LM                                           */
    uint32_t *count;  /* tables × width × KN_BUCKETS: values in the bucket                       */
    uint64_t *least;  /* ... and the least LM of them                                            */
    /* Which hierarchy nodes, but for roots, have values at or below them, and how many; column by column. */
    uint32_t *spot_first; /* tables × width + 1 */
    uint32_t *spot;       /* counted over all columns */
    uint32_t *spot_count;
    bool      spotted;    /* false: there is no room for them */
} kn_signature;

KN_CHECK kn_status kn_tree_bounds_make(kn_tree_bounds *out, kn_context *ctx, const kn_losses *losses, kn_error *err);
void               kn_tree_bounds_free(kn_tree_bounds *bounds);

/* Room for one; without spots if there are 0 of them. kn_free ends it. */
KN_CHECK kn_status kn_signature_create(kn_signature **out, const kn_tree_bounds *bounds, size_t spots, kn_error *err);
void               kn_signature_fill(kn_signature *s, const kn_tree_bounds *bounds, const kn_cluster *cluster);

/* Both at once, with spots. `counts` is room for bounds->nodes counters, all 0 between calls; `touched` for as many. */
KN_CHECK kn_status kn_signature_make(kn_signature **out, const kn_tree_bounds *bounds, const kn_cluster *cluster,
                                     uint32_t *counts, uint32_t *touched, kn_error *err);

/* Writes the spots of a signature into `counts`, and takes them out again. */
void kn_signature_spread(const kn_signature *s, const kn_tree_bounds *bounds, uint32_t *counts);
void kn_signature_clear(const kn_signature *s, const kn_tree_bounds *bounds, uint32_t *counts);

/* Whatever the matching, the loss of the two is at least this. */
kn_loss kn_signature_bound(const kn_tree_bounds *bounds, const kn_signature *representative,
                           const kn_signature *entity);

/* Likewise, mostly higher and dearer. One of the two has been spread into `counts`; `other` is the other, spotted. */
kn_loss kn_signature_fine_bound(const kn_tree_bounds *bounds, const kn_signature *representative,
                                const kn_signature *entity, const kn_signature *other, const uint32_t *counts);

/* ---- Losses of two values ---- */

/* For every column with a small hierarchy, the LM of the lowest common ancestor of any two nodes. */
typedef struct kn_tables {
    kn_context      *ctx;
    const kn_losses *losses;
    uint32_t       **loss; /* tables × width: nodes × nodes; NULL: too large                   */
    bool            *all;  /* per table: every quasi-identifier of it has one                  */
} kn_tables;

/* `cells`: how much there is to do, which decides what is worth tabulating. Free it whatever the answer. */
KN_CHECK kn_status kn_tables_make(kn_tables *out, kn_context *ctx, const kn_losses *losses, uint64_t cells,
                                  kn_error *err);
void               kn_tables_free(kn_tables *tables);

/* The own losses of one tuple of a table with each of `count` others; `x` and `ys` hold `width` nodes per tuple. */
void kn_tables_losses(const kn_tables *tables, int table, const uint32_t *x, const uint32_t *ys, uint32_t count,
                      uint64_t *out);

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
    kn_remembered            *pairs; /* of subtrees                     */
    size_t                    mask;
    char                     *stack; /* room of the matchings under way */
    size_t                    top;
    kn_signature             *signature; /* room */
    uint32_t                 *counts, *touched; /* room for spots */
    int64_t                   evaluations, distances, skipped;
} kn_lane;

KN_CHECK kn_status kn_lane_make(kn_lane *out, const kn_relational_work *work, const kn_store *store,
                                const kn_tables *tables, size_t places, kn_error *err);
void               kn_lane_free(kn_lane *lane);
void               kn_lane_forget(kn_lane *lane); /* with kn_store_forget */

/* The loss of the anonymization of two interned subtrees. */
kn_loss kn_lane_loss(kn_lane *lane, uint32_t a, uint32_t b);

/* The pairs of nodes that become one; `pairs` has room for the nodes of the smaller tree. Returns how many. */
uint32_t kn_lane_pairs(kn_lane *lane, const kn_cluster *a, const kn_cluster *b, kn_pair *pairs);

/* ---- Assignment ---- */

/* The cheapest assignment of `rows` <= `columns` rows, `cost` row by row; of equal ones the lexicographically first.
 * `room` holds kn_assign_room(columns) bytes. */
size_t kn_assign_room(size_t columns);
void   kn_assign(const int64_t *cost, uint32_t rows, uint32_t columns, uint32_t *column_of_row, void *room);

#endif
