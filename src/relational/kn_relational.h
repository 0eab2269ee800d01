/* kn_relational.h: multi-relational k-anonymity by clustering (Nergiz, Clifton, Nergiz 2009: MiRaCle, MiRaCleX,
 * dMiRaCle; docs/errata.md 4): persons with all their rows, as trees, are grouped so that at least k show the same tree.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_RELATIONAL_H
#define KN_RELATIONAL_H

#include <kanon/spec.h>

#include "kn_database_plan.h"

/* The methods (kn_method), by how the rows of two persons are paired:
 *
 *     miracle          Algorithms 2 to 4: siblings by the cost of their whole subtrees
 *     miracle-x        Algorithm 5: by their own quasi-identifiers
 *     miracle-x-level  section 4.3, M14: equal at the lowest level
 *     dmiracle         Algorithm 6: miracle, then classes that break a promise are merged
 *
 * The three ways of section 5.2 to diversity (kn_diversity, dmiracle):
 *
 *     merge     Algorithm 6: classes that are not diverse are merged, each time one with the nearest
 *     distance  a person is infinitely far from a cluster if one of their rows would share a node with a member's row of the same value in a promised column and the node, with the person, would not keep the promise: they join the nearest cluster that is not infinitely far; if there is none they start one, and only if climit forbids that they join the nearest by LM. Classes have at least l members (and k). Clusters
 *               that are left and persons that are absorbed are joined by LM; classes that then lack diversity are
 *               merged as above
 *     suppress classes that are not diverse are dropped
 *
 * In each case every class of the plan keeps every promise (M13).
 */

/* A promise about a sensitive column: the values of every node of that table, over the members of its class. Models
 * that compare a class with the whole table compare it with all rows of the table that belong to persons. */
typedef struct kn_relational_promise {
    int      table, column;
    kn_model model; /* of a sensitive column: l-diversity, t-closeness, alpha-k, beta-likeness or delta-disclosure */
} kn_relational_promise;

typedef struct kn_promise_reference kn_promise_reference;

typedef struct kn_relational_problem {
    const kn_forest             *forest;
    kn_method                    method;    /* miracle, miracle-x, miracle-x-level or dmiracle                      */
    int64_t                      k;         /* at least 2 with dmiracle                                             */
    kn_ratio                     threshold; /* a person farther than this from every cluster begins a new one ...   */
    int64_t                      climit;    /* ... while there are fewer than this (M11); at least 1                */
    uint64_t                     seed;      /* 0: persons in the order of their trees; else shuffled                */
    kn_matching                  matching; /* exact: not for miracle-x-level                                        */
    kn_leftovers                 leftovers; /* of persons, or of a class without diversity: absorbed only where the
                                               class then still holds (M3, M13)                                     */
    kn_diversity                 repair;
    bool                         reference; /* run the plain algorithm: same plan, slowly                           */
    int                          promise_count; /* dmiracle; otherwise 0                                            */
    const kn_relational_promise *promises;
    kn_promise_reference        *references; /* per promise; kn_relational_search makes them for itself             */
    kn_clustering                clustering; /* threshold, climit and KN_DIVERSITY_DISTANCE are cdgh's              */
} kn_relational_problem;

#define KN_RELATIONAL_PROBLEM_INIT                                                                                     \
    {NULL, KN_METHOD_MIRACLE, 2, {1, 10}, 150, 0, KN_MATCHING_GREEDY, KN_LEFTOVERS_ABSORB, KN_DIVERSITY_MERGE, false, \
     0, NULL, NULL, KN_CLUSTERING_CDGH}

typedef struct kn_relational_counters {
    int64_t pair_evaluations; /* costs of two nodes that were computed, not remembered                            */
    int64_t distances;        /* of two trees, requested                                                          */
    int64_t skipped;          /* of them, those that a lower bound answered                                       */
    int64_t clusters;         /* begun                                                                            */
    int64_t cuts;             /* of top-down: tried, whether or not both parts kept what was promised             */
    int64_t merged;           /* remaining clusters that were merged, for size or for diversity                   */
    int64_t absorbed;         /* persons put into a finished class at the end                                     */
    int64_t suppressed;       /* persons                                                                          */
    double  largest_share;    /* of the members of a class that one sensitive value may belong to; 0 without promises */
} kn_relational_counters;

/* `*found` false: fewer persons than k, or no class could be made diverse (no plan then). The plan depends neither on
 * the number of threads nor on the order of rows; nor do the counters. KN_USAGE: options that make no sense. */
KN_CHECK kn_status kn_relational_search(kn_database_plan **out, bool *found, kn_relational_counters *counters,
                                        kn_context *ctx, const kn_relational_problem *problem, kn_error *err);

/* ---- What it cost ---- */

typedef struct kn_relational_table_loss {
    int64_t cells;   /* of quasi-identifiers, in the rows that belong to persons, and what these rows weigh */
    int64_t deleted; /* of them                                                    */
    double  lost;    /* sum over them: of a deleted cell 1                         */
    double  lm;      /* lost / cells; 0 without cells                              */
} kn_relational_table_loss;

typedef struct kn_relational_metrics {
    double                    lm; /* Definition 7 over the cells of the original (M10)                           */
    double                    lm_released; /* over the cells that are left: Definition 7 taken literally         */
    double                    dm; /* Definition 8; a dropped person costs all persons (M10)                      */
    int64_t                   cells, deleted;
    int                       table_count;
    kn_relational_table_loss *tables;
} kn_relational_metrics;

KN_CHECK kn_status kn_relational_measure(kn_relational_metrics **out, kn_context *ctx, const kn_forest *forest,
                                         const kn_database_plan *plan, kn_error *err);
void               kn_relational_metrics_free(kn_relational_metrics *metrics); /* NULL is fine */

#endif
