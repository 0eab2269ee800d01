/* kn_search.h: what the enumerating methods share: counting and tracing what they do, the best node so far, the time
 * limit; walking through a lattice from below; measuring what was only marked. Used by one thread, which uses the
 * context's workers.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_SEARCH_H
#define KN_SEARCH_H

#include "kn_evaluate.h"
#include "kn_lattice.h"

typedef struct kn_search {
    kn_context                  *ctx;
    const kn_fulldomain_problem *problem;
    kn_fulldomain_result        *result;
    kn_evaluator                *evaluator;
    kn_lattice                   lattice;  /* of all quasi-identifiers                           */
    uint64_t                     all;      /* their bits                                         */
    double                       deadline; /* of the monotonic clock; 0: none                    */
    bool                         late;     /* the time limit has passed: return what was found     */
    size_t                       keep;     /* bytes of kept sets                                 */
    int                        **ranks;    /* see kn_search_rank; NULL: not asked for            */
    size_t                       trace_capacity, solution_capacity;
} kn_search;

/* KN_USAGE: more than 64 quasi-identifiers or more than KN_LATTICE_MAX nodes. Must be ended even on failure. */
KN_CHECK kn_status kn_search_begin(kn_search *search, kn_context *ctx, const kn_fulldomain_problem *problem,
                                   kn_fulldomain_result *result, kn_error *err);
void               kn_search_end(kn_search *search);

/* Which step of an attribute merges how much, by the rows that values and nodes have: ranks[q][level]: the smaller,
 * the less the step from level - 1 to level reduces the number of classes. The set of the specialization by the step
 * of the smallest rank is the one to roll a node up from. One pass over the rows. */
KN_CHECK kn_status kn_search_rank(kn_search *search, kn_error *err);

/* Sets `late` once the time is over; KN_CANCELLED. */
KN_CHECK kn_status kn_search_check(kn_search *search, kn_error *err);
bool               kn_search_is_late(const kn_search *search); /* any worker */

/* Sets of classes, counted and traced. `levels` are those of all quasi-identifiers. */
KN_CHECK kn_status kn_search_scan(kn_search *search, kn_classes **out, uint64_t attributes, const int *levels,
                                  kn_error *err);
KN_CHECK kn_status kn_search_rollup(kn_search *search, kn_classes **out, const kn_classes *from, uint64_t attributes,
                                    const int *levels, kn_error *err);
KN_CHECK kn_status kn_search_project(kn_search *search, kn_classes **out, const kn_classes *from, uint64_t attributes,
                                     const int *levels, kn_error *err);
KN_CHECK kn_status kn_search_test(kn_search *search, kn_verdict *out, const kn_classes *classes, uint64_t attributes,
                                  const int *levels, kn_error *err);

KN_CHECK kn_status kn_search_trace(kn_search *search, kn_step_kind kind, uint64_t attributes, const int *levels,
                                   kn_error *err);

/* A good node of all quasi-identifiers: the best so far? */
KN_CHECK kn_status kn_search_offer(kn_search *search, const int *levels, const kn_verdict *verdict, kn_error *err);

/* Can a node be better than the best so far, given the squares and the number of all classes of nodes below it? */
bool kn_search_promising(const kn_search *search, const int *levels, kn_u128 squares, int64_t classes);

/* Adds a good node to the result's solutions, if all are requested; sorted by kn_search_sort_solutions. */
KN_CHECK kn_status kn_search_solution(kn_search *search, const int *levels, const kn_verdict *verdict, kn_error *err);
void               kn_search_sort_solutions(kn_search *search);

/* ---- From below: kn_walk.c ---- */

typedef struct kn_walk {
    const kn_lattice *lattice;    /* of the attributes that take part                                        */
    const int        *attributes; /* which these are, ascending                                              */
    uint64_t          mask;       /* the same as bits                                                        */
    const uint64_t   *candidates; /* bits, upward closed; NULL: all nodes                                    */
    bool              rescan;     /* every node is counted from the rows; otherwise from a specialization    */
    const kn_classes *base;       /* roots are rolled up from here; NULL: counted from the rows              */
    int64_t           base_node;  /* whose classes `base` has, if it is one of the lattice's; else -1        */
    bool              exhaustive; /* test every candidate: neither marks nor pruning                         */
    bool              possible;   /* test for what is possible instead of what is good                       */
    bool              last;       /* all quasi-identifiers: good nodes are solutions                         */
    bool              measure;    /* all candidates are good: only learn their losses (exhaustive)           */
    kn_u128           base_squares; /* measure: of all classes of `base`, and how many                       */
    int64_t           base_classes;
    /* Results; the bits belong to the caller, all 0 before. */
    uint64_t *good;               /* tested or marked                                                        */
    uint64_t *marked;             /* a good node lies below                                                  */
    int64_t   candidate_count, tested_count, good_count;
} kn_walk;

/* Heights ascending, each in lexicographic order: a candidate that is not marked is counted and tested; where it is good
 * all its generalizations are marked. Stops early where the search is late. */
KN_CHECK kn_status kn_search_walk(kn_search *search, kn_walk *walk, kn_error *err);

/* ---- After it: kn_search_measure.c ---- */

/* After the walk through all quasi-identifiers: finds the best of the good nodes, those that were only marked included,
 * and fills in what the result says of all of them. */
KN_CHECK kn_status kn_search_finish(kn_search *search, const kn_walk *walk, kn_error *err);

#endif
