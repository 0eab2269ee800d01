/* kn_absences.h: values that are known to be absent from a record (section III-G; kn_tree.h has the reading). */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_ABSENCES_H
#define KN_ABSENCES_H

#include "kn_combinations.h"

/* Values of the cut that can be known to be absent. */
typedef struct kn_absences {
    kn_row_items    items;  /* those of each row, ascending                                                     */
    const uint32_t *weight; /* per place: how many values must be known to be absent for it; 0: it never is    */
} kn_absences;

/* The rows of `entries` are those with something that is known: are those among them bad that lack values of the cut
 * which weigh up to `budget` together? Values that no row lacks or every row lacks are skipped. */
KN_CHECK kn_found kn_absences_check(kn_combinations *c, const kn_row_entry *entries, size_t count, int budget,
                                    const kn_badness *bad);

#endif
