/* kn_miracle.h: the parts of the fast path: interned subtrees, remembered costs, lower bounds.
 *
 * A lane is what one worker needs for one of a fixed number of pieces of work: its own memory of costs, its own counters.
 * Which piece goes to which lane depends on positions alone, so neither results nor counters depend on threads.
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

typedef struct kn_bounds {
    kn_context      *ctx;
    const kn_losses *losses;
    uint8_t        **bucket; /* tables × width: per hierarchy node; KN_BUCKETS: the root */
} kn_bounds;

/* Values under different children of the root meet in the root alone; those children are told apart by their bucket. */
#define KN_BUCKETS 16

typedef struct kn_signature {
    uint64_t  cells;
    uint32_t *nodes;  /* per table                                                               */
    uint64_t *own;    /* tables × width: the sum of LM                                           */
    uint32_t *count;  /* tables × width × KN_BUCKETS: values in the bucket                       */
    uint64_t *least;  /* ... and the least LM of them                                            */
} kn_signature;

KN_CHECK kn_status kn_bounds_make(kn_bounds *out, kn_context *ctx, const kn_losses *losses, kn_error *err);
void               kn_bounds_free(kn_bounds *bounds);

KN_CHECK kn_status kn_signature_create(kn_signature **out, const kn_bounds *bounds, kn_error *err); /* kn_free */
void               kn_signature_fill(kn_signature *s, const kn_bounds *bounds, const kn_cluster *cluster);

/* Whatever the matching, the loss of the two is at least this. */
kn_loss kn_signature_bound(const kn_bounds *bounds, const kn_signature *representative, const kn_signature *entity);

/* ---- Lanes ---- */

typedef struct kn_remembered {
    uint64_t key; /* UINT64_MAX: free */
    uint64_t sum;
    uint64_t cells;
} kn_remembered;

typedef struct kn_lane {
    const kn_relational_work *work;
    const kn_store           *store;
    kn_remembered            *pairs; /* of subtrees                     */
    kn_remembered            *owns;  /* of values; miracle-x only       */
    size_t                    mask;
    char                     *stack; /* room of the matchings under way */
    size_t                    top;
    kn_signature             *signature; /* room */
    int64_t                   evaluations, distances, skipped;
} kn_lane;

KN_CHECK kn_status kn_lane_make(kn_lane *out, const kn_relational_work *work, const kn_store *store, size_t places,
                                kn_error *err);
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
