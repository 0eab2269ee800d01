/* kn_fulldomain.h: full-domain generalization: one level of its hierarchy for each quasi-identifier.
 *
 * A node of the lattice is a vector of levels; its height is their sum. A node is good if the rows of the classes
 * that fail the requirements are within the budget for suppression (and the rest satisfies the table-level ones).
 * docs/errata.md 3 defines each algorithm; the counters let a reader compare them.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_FULLDOMAIN_H
#define KN_FULLDOMAIN_H

#include "kn_objective.h"
#include "kn_plan.h"
#include "kn_requirements.h"

typedef struct kn_fulldomain_problem {
    const kn_table            *table;
    int                        quasi_count;
    const int                 *quasi;       /* columns of the table                        */
    const kn_hierarchy *const *hierarchies; /* one each, bound to its column               */
    const kn_requirements     *requirements;
    const kn_population_set   *population; /* NULL: none                                   */
    const kn_objective        *objective;
    const int                 *low, *high; /* the levels that may be taken, both inclusive; NULL: all         */
    int64_t                    budget; /* rows that may be suppressed                      */
    kn_suppressed              suppressed;
    kn_method                  method;
    double                     time_limit; /* seconds; 0: none                             */
    uint64_t                   seed;       /* heuristic                                    */
    bool                       all_solutions;
    bool                       trace; /* keep the order in which nodes were tested         */
    size_t                     keep;  /* bytes of classes that the enumerating methods may keep for roll-ups beside those
                                         they work on; 0: 256 MiB. Less memory, more counting                */
} kn_fulldomain_problem;

/* Incognito: per size of subsets. */
typedef struct kn_subset_counters {
    int64_t candidates, tested, good;
} kn_subset_counters;

typedef struct kn_fulldomain_counters {
    double  lattice;       /* nodes there are, between the bounds (a double: there may be 10^20)       */
    int64_t candidates;    /* nodes generated                                                         */
    int64_t nodes_checked; /* whose classes were counted to see whether they are good                 */
    int64_t nodes_marked;  /* good or bad without counting                                            */
    int64_t table_scans;   /* frequency sets made from the rows                                       */
    int64_t rollups;       /* made from a finer set of the same attributes                            */
    int64_t projections;   /* made from a set of more attributes                                      */
    int64_t nodes_measured; /* counted again only to learn their loss                                 */
    int64_t keys;          /* classes visited by all of these: the work done                          */
    int64_t boxes;         /* sets of nodes looked at where the lattice is not enumerated             */
    int                 size_count; /* Incognito: quasi_count, else 0                                 */
    kn_subset_counters *sizes;
} kn_fulldomain_counters;

typedef struct kn_solution {
    int        *levels;
    int64_t     suppressed;
    int64_t     classes;
    kn_quotient loss;
} kn_solution;

/* How good a node is. Negative: `a` is better. The smaller loss; of equal ones, which are compared exactly, fewer
 * suppressed rows, then the lower height, then the lexicographically lower node: the best of some nodes does not
 * depend on the order in which they are compared. */
typedef struct kn_standing {
    kn_quotient loss;
    int64_t     suppressed;
    const int  *levels;
} kn_standing;

int kn_standing_compare(kn_standing a, kn_standing b, int quasi_count);

static inline kn_standing kn_standing_of(const kn_solution *s)
{
    return (kn_standing){s->loss, s->suppressed, s->levels};
}

/* One step of a search, for tests: which node of which attributes was obtained how. */
typedef enum kn_step_kind { KN_STEP_SCAN, KN_STEP_ROLLUP, KN_STEP_PROJECT, KN_STEP_TEST_BAD, KN_STEP_TEST_GOOD } kn_step_kind;
typedef struct kn_trace_step {
    kn_step_kind kind;
    uint64_t     attributes; /* bit q: quasi-identifier q takes part (more than 64 are never traced) */
    int         *levels;     /* quasi_count; 0 for those that do not                                */
} kn_trace_step;

typedef struct kn_fulldomain_result {
    kn_context            *ctx;
    bool                   found;    /* false: no good node (complete), or none in time; for datafly, if the
                                        requirements are not monotone: none on its path */
    bool                   complete; /* the search finished; false: the time limit ended it                    */
    bool                   optimal;  /* no good node has a smaller loss: proved                                */
    bool                   bounded;  /* `bound` is known: optimal and heuristic                                */
    kn_quotient            bound;    /* no good node has a smaller loss than this                              */
    int                    quasi_count;
    kn_solution            best;     /* by kn_standing_compare                                                 */
    int64_t                good;     /* number of good nodes; -1: the method does not know it                  */
    int64_t                solution_count; /* with all_solutions: the minimal good nodes, lexicographically; for
                                              samarati and datafly, which do not search for more, their node */
    kn_solution           *solutions;
    kn_fulldomain_counters counters;
    int64_t                trace_count;
    kn_trace_step         *trace;
} kn_fulldomain_result;

/* Searches. What the methods promise: optimal, bottom-up (both) and incognito (all three) the best node; samarati a
 * good node of minimal height, the lexicographically lowest of these; datafly and heuristic a good node.
 *
 * KN_USAGE: a lattice that the method cannot enumerate; bounds that are none of the hierarchies. Cancellation is KN_CANCELLED; a time limit is not a
 * failure. The answer "there is none" is not a failure either. */
KN_CHECK kn_status kn_fulldomain_search(kn_fulldomain_result **out, kn_context *ctx,
                                        const kn_fulldomain_problem *problem, kn_error *err);
void               kn_fulldomain_result_free(kn_fulldomain_result *result);

/* What fails at one node. */
typedef struct kn_failures {
    int64_t classes, rows; /* that fail; where rows stay linked, persons who look alike with all their rows are a class */
    double  worst;         /* what the worst class reaches (kn_requirements_reached); NAN: there is no class            */
} kn_failures;

typedef struct kn_node_failures {
    bool        good;
    bool        kept_fail; /* the budget allows it, but the suppressed rows, which show sensitive values, or those who
                              are absent fail                                                                           */
    int64_t     classes;   /* of the node                                                                               */
    kn_failures any;       /* of any promise about one class; `worst` is NAN                                            */
    kn_failures average;   /* beside these: what goes for the sake of average risk; `worst` is the risk before that     */
    int64_t     suppressed; /* rows that have to be suppressed: of both                                                 */
    kn_quotient loss;      /* if they are                                                                               */
} kn_node_failures;

/* `models` has space for those of the requirements, in their order. KN_USAGE: levels that are none of the hierarchies. */
KN_CHECK kn_status kn_fulldomain_explain(kn_node_failures *out, kn_failures *models, kn_context *ctx,
                                         const kn_fulldomain_problem *problem, const int *levels, kn_error *err);

/* The plan of one node. */
KN_CHECK kn_status kn_fulldomain_plan(kn_plan **out, kn_context *ctx, const kn_fulldomain_problem *problem,
                                      const int *levels, kn_error *err);

#endif
