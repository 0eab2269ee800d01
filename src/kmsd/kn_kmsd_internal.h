/* kn_kmsd_internal.h: the state of a run of K-MSD, shared by its parts. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_KMSD_INTERNAL_H
#define KN_KMSD_INTERNAL_H

#include "kn_grouping.h"
#include "kn_kmsd.h"

typedef struct kn_kmsd_run {
    kn_context            *ctx;
    const kn_kmsd_problem *problem;
    uint32_t               rows;
    uint32_t               k;
    uint32_t             **nodes;      /* per quasi-identifier, per row: what it shows               */
    bool                  *suppressed; /* per row                                                    */
    kn_kmsd_counters      *counters;
    kn_grouping            kept; /* by `kept_by`, as long as nobody generalizes these; group_of NULL: none */
    uint64_t               kept_by;
} kn_kmsd_run;

/* The set of all quasi-identifiers. */
static inline uint64_t kn_kmsd_all(const kn_kmsd_run *run)
{
    int count = run->problem->quasi_count;
    return count == 64 ? UINT64_MAX : ((uint64_t)1 << count) - 1;
}

/* Groups rows by what they show in a set of columns; begins with the grouping that was kept, if that is by some of them. */
KN_CHECK kn_status kn_kmsd_group(kn_grouping *out, kn_kmsd_run *run, uint64_t attributes, kn_error *err);

/* Takes a grouping by these attributes over for the next kn_kmsd_group. */
void kn_kmsd_keep(kn_kmsd_run *run, kn_grouping *grouping, uint64_t attributes);

/* AG(X, Y) (Definition 8): in every group of equal X each attribute of Y becomes the group's lowest common ancestor.
 * *raised: rows whose cells changed, summed up over the attributes. */
KN_CHECK kn_status kn_kmsd_associate(kn_kmsd_run *run, uint64_t left, uint64_t right, int64_t *raised, kn_error *err);

/* Repeats AG over all associations until nothing changes (docs/errata.md R7). */
KN_CHECK kn_status kn_kmsd_repair(kn_kmsd_run *run, kn_error *err);

/* Classes that fail a model beyond k are suppressed within the budget, else merged with their neighbours until they hold;
 * *found false: not even one class of all rows holds. */
KN_CHECK kn_status kn_kmsd_merge(kn_kmsd_run *run, bool *found, kn_error *err);

/* The plan of what rows show. */
KN_CHECK kn_status kn_kmsd_plan(kn_plan **out, kn_kmsd_run *run, kn_error *err);

#endif
