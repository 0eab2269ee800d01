/* kn_heuristic_internal.h: what kn_heuristic.c (the strategy) and kn_heuristic_known.c (what is known) share. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_HEURISTIC_INTERNAL_H
#define KN_HEURISTIC_INTERNAL_H

#include "kn_boxes.h"
#include "kn_heuristic.h"
#include "kn_optimal_internal.h"
#include "kn_rng.h"

enum { KN_ELITE = 8, KN_RECORDS = 128, KN_SEEN_MOST = 1 << 18 };

/* A counted node that rules out others. */
typedef struct kn_record {
    uint64_t low, high, lost;
} kn_record;

typedef struct kn_elite {
    kn_quotient loss;
    uint64_t    score;
    double      feature;
    int64_t     suppressed;
} kn_elite;

typedef struct kn_heuristic {
    kn_context                  *ctx;
    const kn_fulldomain_problem *problem;
    kn_fulldomain_result        *result;
    kn_heuristic_options         options;
    int                          quasi_count;
    const int                   *heights;
    int                         *heights_owned;
    kn_oracle                    oracle;
    kn_guess                     guess;
    kn_rng                       rng;
    double                       deadline;
    /* The best, and other good nodes unlike each other; [0] is the best. */
    int      elite_count;
    kn_elite elite[KN_ELITE];
    int     *elite_levels; /* KN_ELITE + 1 nodes */
    kn_node_sums best_sums;
    /* Ruling out. */
    int       record_count, record_next;
    kn_record records[KN_RECORDS];
    int      *record_levels;
    /* Nodes seen: a hash table of their levels as bytes. */
    uint8_t  *seen;
    uint32_t *slots; /* number + 1 */
    int64_t   seen_count;
    size_t    slot_count;
    /* Boxes: what is proved. */
    kn_boxes   boxes;
    kn_region *whole;      /* the lattice */
    bool       proved;     /* everything in it is decided */
} kn_heuristic;

KN_CHECK kn_status kn_known_make(kn_heuristic *h, kn_error *err);
void               kn_known_free(kn_heuristic *h);

/* Records a node; false: it was seen before. (Once too many have been seen, new ones are not recorded.) */
KN_CHECK kn_status kn_known_see(kn_heuristic *h, const int *levels, bool *is_new, kn_error *err);
bool               kn_known_seen(const kn_heuristic *h, const int *levels);

/* Is it known without counting that the node is bad or no better than the best? */
bool kn_known_ruled_out(const kn_heuristic *h, const int *levels);

/* Records the result of counting a node. Returns true if it is the best now. */
bool kn_known_learn(kn_heuristic *h, const int *levels, const kn_outcome *o);

#endif
