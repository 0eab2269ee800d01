/* kn_counter.h: counting nodes of the lattice if class sizes suffice: the fast engine of the optimal search.
 *
 * The quasi-identifiers are put into a few groups of a few thousand occurring combinations each. The base is the
 * table's distinct combinations: one small code per group and a number of rows. For each group and each choice of
 * levels of its attributes a table maps a base code to the number of its generalized combination, so that a key at
 * any node takes one look-up per group. Intermediate sets (rolled up, or with fewer groups) keep base codes too, one
 * per class: every set can be rolled up by the same tables.
 *
 * Class sizes are numbers of rows. With other promises besides k the answers are still bounds: what is suppressed
 * here is suppressed anyway. Sets are immutable and may be read by any thread; all other calls come from one thread
 * at a time.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_COUNTER_H
#define KN_COUNTER_H

#include "kn_fulldomain.h"

typedef struct kn_counter     kn_counter;
typedef struct kn_counter_set kn_counter_set;

typedef enum kn_counter_path {
    KN_COUNTER_AUTO,
    KN_COUNTER_DENSE, /* one counter per possible key, wherever possible                */
    KN_COUNTER_HASH
} kn_counter_path;

/* For tests, except the last; zeros are the defaults. */
typedef struct kn_counter_options {
    kn_counter_path path;
    uint32_t     group_codes; /* possible combinations of a group of more than one attribute     */
    uint64_t     key_space;   /* keys counted in one pass: more groups than that take more passes */
    bool         generic;     /* no fused loops for few groups                                   */
    int64_t      chunk;       /* every node is counted in pieces of so many entries; negative: none is */
    const double *features;   /* kn_optimal_model.c: levels of all quasi-identifiers, one after the other; borrowed.
                                 NULL: every node is counted from the base                       */
    const int *value_offsets; /* per quasi-identifier, for a job's `lost`: where its values begin, -1: not asked for; borrowed */
} kn_counter_options;

/* Can the engine count this problem at all (fewer than 2^32 - 1 rows, at most 64 quasi-identifiers)? */
bool kn_counter_possible(const kn_fulldomain_problem *problem);

/* Counts the table once. Borrows the problem. */
KN_CHECK kn_status kn_counter_make(kn_counter **out, kn_context *ctx, const kn_fulldomain_problem *problem,
                                const kn_counter_options *options, kn_error *err);
void               kn_counter_free(kn_counter *counter);

int                kn_counter_groups(const kn_counter *counter);
/* The group of a quasi-identifier. */
int                kn_counter_group_of(const kn_counter *counter, int quasi);
const kn_counter_set *kn_counter_base(const kn_counter *counter); /* all groups at level 0 */

/* The base with the groups of the bits of `groups` only (at most 64 groups can be chosen from). */
KN_CHECK kn_status kn_counter_project(kn_counter_set **out, kn_counter *counter, uint64_t groups, kn_error *err);
void               kn_counter_set_free(kn_counter_set *set);
int64_t            kn_counter_set_classes(const kn_counter_set *set);

/* The classes of a node by size: bucket j has those of fewer than ks[j] rows that are in no bucket before, the one behind the
 * last all others. */
typedef struct kn_size_buckets {
    int64_t rows, classes;
    kn_u128 squares, cost; /* of their cells, for those that are suppressed within the budget */
} kn_size_buckets;

/* One node to be counted. */
typedef struct kn_counter_job {
    const int         *levels; /* of all quasi-identifiers                                                         */
    const kn_counter_set *from;   /* of these or finer levels                                                         */
    bool               keep;   /* make the set                                                                     */
    kn_counter_set       *set;    /* the caller frees it; NULL without keep                                           */
    kn_node_sums       sums;   /* `cells` over the groups of the set, and only within the budget                   */
    kn_u128            excess; /* cells, the same: what suppressed rows cost more than if they were released       */
    int64_t            classes; /* suppressed ones too                                                             */
    uint32_t          *lost;    /* by value_offsets, zero: suppressed rows by value, where they are within the budget. The
                                   value is one of those that a row's cell may have had; NULL: not asked for       */
    const int64_t     *ks;      /* instead of sums and excess, where `buckets` is given: k_count of them, ascending */
    int                k_count;
    kn_size_buckets   *buckets; /* k_count + 1, zero                                                               */
    bool               split;   /* for the engine: counted in pieces                                               */
} kn_counter_job;

/* Counts several nodes in parallel. The answers do not depend on the number of threads. */
KN_CHECK kn_status kn_counter_run(kn_counter *counter, kn_counter_job *jobs, int64_t count, kn_error *err);

/* The same, with sets to count from (`from`) chosen and made by the engine. *rollups and *keys (classes gone through)
 * are added to. */
KN_CHECK kn_status kn_counter_run_from_best(kn_counter *counter, kn_counter_job *jobs, int64_t count, int64_t *rollups,
                                         int64_t *keys, kn_error *err);

#endif
