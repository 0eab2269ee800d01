/* kn_mondrian_workload.h: which cut of a region lowers the error of a workload most. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_MONDRIAN_WORKLOAD_H
#define KN_MONDRIAN_WORKLOAD_H

#include "kn_space.h"

/* The problem's queries in positions. Made once, read by every worker. */
typedef struct kn_region_workload kn_region_workload;

KN_CHECK kn_status kn_region_workload_make(kn_region_workload **out, const kn_space *space,
                                           const kn_partition_problem *problem, kn_error *err);
void               kn_region_workload_free(kn_region_workload *workload);

/* One worker's scratch. */
typedef struct kn_cut_chooser kn_cut_chooser;

KN_CHECK kn_status kn_cut_chooser_make(kn_cut_chooser **out, const kn_space *space, const kn_region_workload *workload,
                                       kn_error *err);
void               kn_cut_chooser_free(kn_cut_chooser *chooser);

typedef struct kn_chosen_cut {
    kn_cut   cut;
    uint32_t first; /* rows that go to the first side                        */
    double   gain;  /* by how much the weighted expected error falls: above 0 */
} kn_chosen_cut;

enum { KN_CUTS_CHOSEN = 8 };

/* The cuts with at least `smallest` rows on both sides that lower the error, at most KN_CUTS_CHOSEN, the best first.
 * `spans` are the region's. `frequency_sets` is incremented. Returns how many; 0: no query is affected. */
int kn_choose_cuts(kn_cut_chooser *chooser, kn_region region, const kn_span *spans, uint64_t smallest,
                   kn_chosen_cut *cuts, int64_t *frequency_sets);

#endif
