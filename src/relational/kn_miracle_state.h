/* kn_miracle_state.h: what kn_miracle.c knows while it places persons.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_MIRACLE_STATE_H
#define KN_MIRACLE_STATE_H

#include "kn_miracle.h"

enum {
    LANES = 16,
    MOST_GROUP = 256,
    MOST_KNOWN = 1 << 16,
    RUN = 5,
    MANY_THREADS = 8,
    ALONE = 64,
    AT_ONCE = 1 << 14,
    STORE_LIMIT = 1 << 16,
    MOST_PLACES = 1 << 15,
    LEAST_PLACES = 1 << 10
};

/* What is known of the distance of a person and a cluster. */
typedef struct known {
    kn_loss loss;
    bool    exact; /* else a lower bound */
} known;

typedef struct candidate {
    kn_loss loss;
    size_t  at; /* SIZE_MAX: none yet */
} candidate;

/* A cluster of persons one behind the other, and its distance from the next. */
typedef struct step {
    kn_cluster *cluster; /* owned, but for the first's, who is alone in it; NULL: not made or taken */
    bool        measured;
    kn_loss     loss;
    int64_t     merging, measuring; /* pair evaluations: counted when it is used */
} step;

/* Persons that are placed one after the other, and what is known of them and the clusters before the first is. */
typedef struct group {
    int          parity; /* which of two: the clusters' slot */
    kn_cluster  *persons[MOST_GROUP];
    kn_cluster  *replaced[MOST_GROUP]; /* what each joined, as it was: others may still look at it     */
    step         runs[MOST_GROUP][RUN]; /* of clusters that begin with each                            */
    int64_t      first; /* in the order of persons */
    int          count;
    kn_cluster **seen; /* open clusters when it began: a cluster's slot is its place here */
    size_t       seen_capacity, slots;
    known       *known; /* group × slots */
    size_t       known_capacity;
} group;

/* The cluster that was changed last. */
typedef struct latest {
    size_t at;            /* its place; SIZE_MAX: it is finished                                        */
    int    first, length; /* the persons of the group who are all of it; length 0: they are not one run */
} latest;

typedef struct fast {
    kn_relational_work *work;
    bool                flat; /* siblings are matched by their own values: nothing is interned */
    kn_store            store;
    uint32_t            store_limit; /* of subtrees: beyond it all are forgotten */
    kn_tree_bounds      bounds;
    kn_tables           tables;
    kn_lane            *lanes; /* siblings matched by values: of each worker; otherwise of each person of a group */
    int                 lane_count;
    int                 group; /* persons                                  */
    bool                runs;  /* are made ahead                           */
    kn_codes            codes;
    bool               *barred; /* places of open clusters to skip; all false except in nearest_allowed              */
    size_t              barred_capacity;
    /* Placing persons. */
    kn_cluster_list open;
    group           groups[2];
    group          *now, *ahead; /* the one that is placed; the one that is compared       */
    latest          latest;
    int             placing;     /* the worker who does                                    */
    /* Looking for the nearest. */
    kn_cluster        **items;
    const bool         *skip;
    size_t              item_first, item_count, piece;
    const kn_cluster   *fixed;
    const kn_signature *fixed_signature;
    bool                fixed_represents;
    candidate           nearest[LANES];
    kn_loss            *measured; /* of each item: where all are asked for */
} fast;

#endif
