/* kn_miracle_state.h: what kn_miracle.c and kn_miracle_rest.c know and share.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_MIRACLE_STATE_H
#define KN_MIRACLE_STATE_H

#include "kn_miracle.h"

enum {
    LANES = 16,
    MOST_GROUP = 128,
    MOST_KNOWN = 1 << 16,
    RUN = 5,
    MANY_THREADS = 8,
    ALONE = 64,
    AT_ONCE = 1 << 14,
    STORE_LIMIT = 1 << 16,
    MOST_PLACES = 1 << 15,
    LEAST_PLACES = 1 << 10,
    CACHE_LINE = 64
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
    int          which; /* of KN_SLOTS: the clusters' slot */
    kn_cluster  *persons[MOST_GROUP];
    candidate    nearest[MOST_GROUP]; /* of the clusters that were open: a slot                    */
    uint32_t     exact[MOST_GROUP];   /* how many distances from them are known                    */
    kn_cluster  *replaced[MOST_GROUP]; /* what each joined, as it was: others may still look at it     */
    step         runs[MOST_GROUP][RUN]; /* of clusters that begin with each                            */
    int64_t      first; /* in the order of persons */
    int          count;
    kn_cluster **seen; /* open clusters when it began: a cluster's slot is its place here */
    uint32_t    *place; /* of each slot: where the cluster is now; KN_FOREST_NONE: changed or finished  */
    size_t       seen_capacity, place_capacity, slots;
    known       *known; /* group × slots */
    size_t       known_capacity;
} group;

/* An open cluster that is not as it was when the group began. */
typedef struct changed {
    size_t  at;
    kn_loss bound; /* of the person that is placed */
} changed;

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
    group           groups[KN_SLOTS];
    group          *now, *ahead, *next; /* the one that is placed; that is compared; whose persons are loaded */
    latest          latest;
    changed        *changed;     /* since the group that is placed was compared            */
    size_t          changed_count, changed_capacity;
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

/* ---- Distances of several: the nearest ---- */

/* Is a loss at place `at` better than what was found? Of equal losses the first place wins. */
static inline bool kn_better(kn_loss loss, size_t at, const candidate *best)
{
    if (best->at == SIZE_MAX) return true;
    int c = kn_loss_compare(loss, best->loss);
    return c < 0 || (c == 0 && at < best->at);
}

/* The distance of a representative and an entity, the `at`-th of several. False: it is not better than what was found,
 * and *out only a lower bound that is not better either. */
static inline bool kn_distance(kn_lane *lane, const kn_cluster *representative, const kn_cluster *entity, size_t at,
                               const candidate *best, kn_loss *out)
{
    kn_limit limit = {best->at != SIZE_MAX, at < best->at, best->loss};
    if (!kn_lane_loss(lane, representative, entity, &limit, out)) return false;
    lane->distances++;
    return true;
}

/* Likewise, and the better of the two is the best. */
static inline void kn_try_distance(kn_lane *lane, const kn_cluster *representative, const kn_cluster *entity,
                                   size_t at, candidate *best)
{
    kn_loss loss;
    if (!kn_distance(lane, representative, entity, at, best, &loss))
        lane->skipped++;
    else if (kn_better(loss, at, best))
        *best = (candidate){loss, at};
}

/* Raises a coarse bound of the `at`-th of several until it is clear that it is not better than what was found.
 * The entity (or with `represents` the representative) has been spread into the lane's counts. */
static inline kn_loss kn_fast_raised(const fast *f, const kn_lane *lane, kn_loss bound, const kn_signature *x,
                                     const kn_signature *y, bool represents, size_t at, const candidate *best)
{
    const kn_signature *other = represents ? y : x;
    if (!kn_better(bound, at, best)) return bound;
    kn_loss higher = kn_signature_bound(&f->bounds, x, y);
    if (kn_loss_compare(higher, bound) > 0) bound = higher;
    if (!other->spotted || !kn_better(bound, at, best)) return bound;
    higher = kn_signature_fine_bound(&f->bounds, x, y, other, lane->counts);
    return kn_loss_compare(higher, bound) > 0 ? higher : bound;
}

/* ---- What placing and merging share (kn_miracle.c) ---- */

/* Makes a cluster's signature unless it has one. */
KN_CHECK kn_status kn_fast_sign(fast *f, kn_lane *lane, kn_cluster *c, kn_error *err);
void               kn_fast_forget(fast *f); /* all that was interned */

/* The anonymization of two clusters, which stay. */
KN_CHECK kn_status kn_fast_merged(fast *f, kn_lane *lane, kn_cluster **out, kn_cluster *a, kn_cluster *b,
                                  kn_error *err);
KN_CHECK kn_status kn_fast_finish(fast *f, kn_cluster *c, kn_error *err); /* takes a class, even on failure */

/* ---- Classes of what is left (kn_miracle_rest.c) ---- */

KN_CHECK kn_status kn_rest_cluster(fast *f, kn_error *err); /* by another clustering than cdgh   */
KN_CHECK kn_status kn_rest_merge(fast *f, kn_error *err); /* Algorithm 2, lines 13 to 20       */
KN_CHECK kn_status kn_rest_absorb(fast *f, kn_error *err); /* M3: who is left joins classes     */
KN_CHECK kn_status kn_rest_diversify(fast *f, kn_cluster_list *bad, kn_error *err); /* Algorithm 6 */

#endif
