/* kn_kmsd.h: K-MSD and K-MSD-AG (Huang, Song, Gao, Cai 2014, sections 5 and 6; docs/errata.md 2): k-anonymity built
 * attribute by attribute, and functional dependencies that survive it. Local recoding: rows are generalized, not
 * values.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_KMSD_H
#define KN_KMSD_H

#include <kanon/spec.h>

#include "kn_plan.h"
#include "kn_requirements.h"

/* X -> Y over quasi-identifiers: bit q of a side is the q-th of them. A multivalued dependency is kept the same way: after
 * association generalization X -> Y holds, hence X ->> Y. */
typedef struct kn_association {
    uint64_t left, right;
} kn_association;

typedef struct kn_kmsd_problem {
    const kn_table            *table;
    int                        quasi_count; /* at most 64                                                         */
    const int                 *quasi;
    const kn_hierarchy *const *hierarchies; /* one each, bound to its column                                      */
    const kn_requirements     *requirements;
    int64_t                    budget; /* rows that may be suppressed if a class fails a model beyond k            */
    int                        association_count; /* 0: K-MSD; otherwise K-MSD-AG, in the order listed            */
    const kn_association      *associations;
    bool                       changed_groups_only; /* AG only on groups whose X changed: the scope of the paper's Table 9 */
} kn_kmsd_problem;

typedef struct kn_kmsd_counters {
    int64_t steps;        /* values generalized by MDG                                       */
    int64_t groups;       /* that MDG examined                                               */
    int64_t associations; /* AG(X, Y) runs, repairs included                                 */
    int64_t repairs;      /* cells that repairs raised                                       */
    int64_t merged;       /* classes merged for models beyond k                              */
    uint64_t basis;       /* the attributes it began with: bit q                             */
} kn_kmsd_counters;

/* `*found` false: fewer rows than k, or already the whole table fails (no plan then). Equal input gives the same plan on
 * any number of threads. */
KN_CHECK kn_status kn_kmsd_search(kn_plan **out, bool *found, kn_kmsd_counters *counters, kn_context *ctx,
                                  const kn_kmsd_problem *problem, kn_error *err);

#endif
