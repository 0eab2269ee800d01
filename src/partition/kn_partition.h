/* kn_partition.h: multidimensional partitioning (the Mondrian family; slides, second half; docs/errata.md 3.4 to 3.7).
 *
 * The rows are cut into regions until no allowable cut is left; each region is a class of the plan. A cut is allowable if
 * both sides satisfy every requirement. Nothing is suppressed unless the requirements fail for the whole table.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_PARTITION_H
#define KN_PARTITION_H

#include <kanon/spec.h>

#include "kn_plan.h"
#include "kn_requirements.h"

/* mondrian-workload: a COUNT query in the form that partitioning uses. A predicate asks for values of one
 * quasi-identifier: closed, disjoint, ascending intervals of its numbers (days, microseconds) where it has them and
 * no hierarchy, otherwise of positions (kn_space.h). Predicates on other columns only make the weight smaller. */
typedef struct kn_region_interval {
    double low, high;
} kn_region_interval;

typedef struct kn_region_predicate {
    int                       quasi; /* which quasi-identifier; each at most once in a query */
    int                       interval_count;
    const kn_region_interval *intervals;
} kn_region_predicate;

typedef struct kn_region_query {
    double                     weight;
    int                        predicate_count;
    const kn_region_predicate *predicates;
} kn_region_query;

/* A cut of a region: its first side are the records whose positions in a dimension lie in [low, high]. */
typedef struct kn_partition_cut {
    uint32_t begin, middle, end; /* records of the region, and where its second side begins                 */
    int      dimension;
    uint32_t low, high;          /* none: low above high                                                    */
    int64_t  first, second;      /* what cuts the sides; -1: nothing                                        */
} kn_partition_cut;

/* All cuts: the first is of the whole table; those of its sides come later. */
typedef struct kn_partition_tree {
    kn_partition_cut *cuts; /* freed by the caller */
    size_t            count, capacity;
} kn_partition_tree;

typedef struct kn_partition_problem {
    const kn_table            *table;
    int                        quasi_count;
    const int                 *quasi;       /* columns of the table                                                */
    const kn_hierarchy *const *hierarchies; /* NULL: the column is ordered by its values; a cell is then a range (numbers,
                                               dates) or a set (text). Given: cells are nodes, or with `ordered` true for
                                               the attribute, ranges or sets in leaf order                          */
    const bool                *ordered;     /* per quasi-identifier                                                */
    const kn_ratio            *weights;     /* per quasi-identifier; NULL: all 1                                    */
    const kn_requirements     *requirements;
    const kn_population_set   *population; /* NULL: none                                                            */
    kn_method                  method;
    kn_choose                  choose;
    double                     time_limit; /* seconds; 0: none                                                      */
    int                        query_count; /* mondrian-workload                                                     */
    const kn_region_query     *queries;
    kn_partition_tree         *tree; /* gets the cuts of mondrian and mondrian-workload; NULL: not wanted           */
} kn_partition_problem;

typedef struct kn_partition_counters {
    int64_t regions;       /* classes in the end                                     */
    int64_t cuts;          /* made                                                   */
    int64_t cuts_tried;    /* allowable or not                                       */
    int64_t frequency_sets; /* of one attribute in one region                        */
    int64_t improvements;  /* mondrian-best: changes of the partition that were kept */
    int     depth;         /* of the deepest region                                  */
} kn_partition_counters;

/* Partitions. `*found` false: the whole table fails the requirements (there is no plan then). The plan does not depend on
 * the number of threads. */
KN_CHECK kn_status kn_partition_search(kn_plan **out, bool *found, kn_partition_counters *counters, kn_context *ctx,
                                       const kn_partition_problem *problem, kn_error *err);

/* Partitions other rows by the cuts of an old search, whose positions are those of the problem's table now. Rows of regions that
 * fail the requirements, and rows with a position that `lacking` marks (per quasi-identifier, by leaf; NULL: none), are suppressed. */
KN_CHECK kn_status kn_partition_apply(kn_plan **out, kn_context *ctx, const kn_partition_problem *problem,
                                      const kn_partition_tree *tree, const bool *const *lacking, kn_error *err);

#endif
