/* kn_relational_internal.h: what the files of this module share: losses, clusters and the entry point of both
 * implementations. The reference (kn_miracle_reference.c) uses this header and nothing else of the module.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_RELATIONAL_INTERNAL_H
#define KN_RELATIONAL_INTERNAL_H

#include "kn_model.h"
#include "kn_relational.h"

/* ---- Losses ---- */

/* LM (Definition 7, and what rows weigh) before the division: cells are counted, `sum` is in units of kn_losses. Integers, so that neither
 * the order of summation nor rounding decides between equals. */
typedef struct kn_loss {
    uint64_t sum, cells;
} kn_loss;

typedef struct kn_losses {
    kn_context *ctx;
    uint64_t    unit;   /* the loss of a deleted cell                                                     */
    int         tables;
    int         width;  /* the most quasi-identifiers of any table, at least 1                            */
    int        *quasi;  /* per table: how many                                                            */
    int        *cells;  /* per table: what a row counts: its quasi-identifiers, and its weight            */
    /* Tables whose rows weigh. What is below a node is counted per such table, so that siblings are paired with those
     * that have as much to keep. */
    int         heavy;
    int        *heavy_table;
    uint64_t   *heavy_loss; /* of one row, beyond its quasi-identifiers                                   */
    bool       *carries;    /* per table: such a table is below it                                        */
    const kn_hierarchy **hierarchies; /* tables × width                                                   */
    uint64_t           **lm;          /* tables × width: per node of the hierarchy                        */
} kn_losses;

KN_CHECK kn_status kn_losses_make(kn_losses *out, kn_context *ctx, const kn_database *db, kn_error *err);
void               kn_losses_free(kn_losses *losses);

/* By sum / cells (0 where there are no cells): negative, 0, positive. */
int  kn_loss_compare(kn_loss a, kn_loss b);
bool kn_loss_above(kn_loss loss, uint64_t unit, kn_ratio threshold);

/* ---- Clusters ---- */

enum { KN_SLOTS = 3 };

/* A representative and its members. One block of memory. */
typedef struct kn_cluster {
    uint32_t  nodes;
    uint32_t  size; /* members */
    uint16_t *table;
    uint32_t *parent, *first_child, *child_count;
    uint32_t *values;  /* nodes × width: hierarchy nodes          */
    uint32_t *load;    /* nodes × heavy: rows below of each table that weighs */
    uint32_t *members; /* entities of the forest                  */
    uint32_t *rows;    /* size × nodes                            */
    /* The fast path's. */
    uint32_t *ids;    /* per node: interned subtree               */
    uint32_t  epoch;  /* of the store that gave them; 0: of none  */
    uint32_t  slot[KN_SLOTS]; /* its places when distances were computed ahead; KN_FOREST_NONE: changed since */
    struct kn_signature *signature; /* owned; NULL: none          */
} kn_cluster;

/* Two nodes that become one; parents come before their children, siblings in the order of `a`. */
typedef struct kn_pair {
    uint32_t a, b;
    uint32_t parent; /* index of a pair; KN_FOREST_NONE for the first */
} kn_pair;

KN_CHECK kn_status kn_cluster_of_entity(kn_cluster **out, kn_context *ctx, const kn_forest *forest,
                                        const kn_losses *losses, int64_t entity, kn_error *err);

/* The cluster of all members of both, with the nodes that `pairs` name: values become lowest common ancestors,
 * siblings are sorted again, equal ones in the order of `a`. The arguments are unchanged. */
KN_CHECK kn_status kn_cluster_merge(kn_cluster **out, kn_context *ctx, const kn_losses *losses, const kn_cluster *a,
                                    const kn_cluster *b, const kn_pair *pairs, uint32_t count, kn_error *err);
void               kn_cluster_free(kn_cluster *cluster); /* NULL is fine */

/* The cluster of `size` members with `count` nodes that stand for rows with equal quasi-identifiers in all of them, but
 * for the first, the person's own, which shows `root`. `nodes` has size × count nodes of the forest, each counted from
 * its entity's first; parents come before their children. */
KN_CHECK kn_status kn_cluster_of_nodes(kn_cluster **out, kn_context *ctx, const kn_forest *forest,
                                       const kn_losses *losses, const uint32_t *root, const uint32_t *members,
                                       uint32_t size, const uint32_t *nodes, uint32_t count, kn_error *err);

/* A class of a plan, whose values may have changed: siblings are sorted again. */
KN_CHECK kn_status kn_cluster_of_class(kn_cluster **out, kn_context *ctx, const kn_losses *losses,
                                       const kn_database_plan *plan, uint32_t class_number, kn_error *err);

/* A growing list that owns its clusters. */
typedef struct kn_cluster_list {
    kn_cluster **items;
    size_t       count, capacity;
} kn_cluster_list;

/* Takes ownership of the cluster, even on failure. */
KN_CHECK kn_status kn_cluster_list_add(kn_cluster_list *list, kn_context *ctx, kn_cluster *cluster, kn_error *err);
kn_cluster        *kn_cluster_list_take(kn_cluster_list *list, size_t at); /* later ones move up      */
void               kn_cluster_list_free(kn_cluster_list *list);

/* ---- Promises ---- */

/* What a promise compares classes with, and memory to do it; both empty for l-diversity and alpha-k. Used by one thread. */
struct kn_promise_reference {
    bool         compares;
    kn_reference all;
    kn_scratch   scratch;
};

/* Does the model compare a class with the whole table? */
bool kn_promise_compares(kn_model_kind kind);

/* One per promise, of the rows that belong to persons. */
KN_CHECK kn_status kn_promise_references_make(kn_promise_reference **out, kn_context *ctx,
                                              const kn_relational_problem *problem, kn_error *err);
void               kn_promise_references_free(kn_promise_reference *references, int count); /* NULL is fine */

/* Do values keep the i-th promise? */
bool kn_promise_holds(const kn_relational_problem *problem, int i, const kn_histogram *h);

/* ---- Diversity ---- */

/* Scratch for the codes of one node. */
typedef struct kn_codes {
    uint32_t *codes;
    int64_t  *counts;
    size_t    code_capacity, count_capacity;
} kn_codes;

bool kn_codes_room(kn_codes *codes, kn_context *ctx, size_t need); /* false: out of memory */
void kn_codes_free(kn_codes *codes);

/* Sorts the first `count` codes and counts them; the result borrows from `room`. */
kn_histogram kn_codes_histogram(kn_codes *codes, uint32_t count);

/* Does every node keep every promise? `share` (may be NULL) is raised to the largest share of one value. */
KN_CHECK kn_status kn_cluster_diverse(bool *out, double *share, kn_context *ctx, const kn_relational_problem *problem,
                                      const kn_cluster *cluster, kn_codes *codes, kn_error *err);

/* KN_DIVERSITY_DISTANCE: is a person (of one member) infinitely far from a cluster whose nodes would become one with
 * theirs as `pairs` say? */
KN_CHECK kn_status kn_cluster_apart(bool *out, kn_context *ctx, const kn_relational_problem *problem,
                                    const kn_cluster *cluster, const kn_cluster *person, const kn_pair *pairs,
                                    uint32_t count, kn_codes *codes, kn_error *err);

/* ---- Both implementations ---- */

/* The order of persons (freed with kn_free): that of the forest, or shuffled. NULL: out of memory. */
uint32_t *kn_person_order(kn_context *ctx, int64_t entities, uint64_t seed);

typedef struct kn_relational_work {
    kn_context                  *ctx;
    const kn_relational_problem *problem;
    const kn_losses             *losses;
    int64_t                      k;       /* the one that classes must reach               */
    const uint32_t              *order;   /* entities in the order they are taken          */
    uint32_t                     most_children, most_depth;
    kn_cluster_list              done;    /* finished classes, in the order they finished  */
    kn_relational_counters      *counters;
} kn_relational_work;

/* The two operations that a clustering needs (section 4.2.1): how far entities are from a representative, and the
 * anonymization of both. */
typedef struct kn_anonymizer {
    void *self;
    KN_CHECK kn_status (*distances)(void *self, kn_loss *out, kn_cluster *representative, kn_cluster *const *entities,
                                    size_t count, kn_error *err);
    /* The nearest entity, of equal ones the first. */
    KN_CHECK kn_status (*nearest)(void *self, size_t *out, kn_cluster *representative, kn_cluster **entities,
                                  size_t count, kn_error *err);
    KN_CHECK kn_status (*merge)(void *self, kn_cluster **out, kn_cluster *a, kn_cluster *b, kn_error *err);
} kn_anonymizer;

/* Clusters all persons by problem->clustering, which is not cdgh (kn_relational_skeleton.c). Persons who are left
 * become one cluster of fewer than k in `left`. */
KN_CHECK kn_status kn_skeleton_cluster(kn_relational_work *work, const kn_anonymizer *by, kn_cluster_list *left,
                                       kn_error *err);

KN_CHECK kn_status kn_miracle_reference(kn_relational_work *work, kn_error *err);
KN_CHECK kn_status kn_miracle_fast(kn_relational_work *work, kn_error *err);

/* Finished classes → plan; classes with the same tree become one. */
KN_CHECK kn_status kn_relational_make_plan(kn_database_plan **out, kn_context *ctx, const kn_forest *forest, int width,
                                           const kn_cluster_list *classes, kn_error *err);

#endif
