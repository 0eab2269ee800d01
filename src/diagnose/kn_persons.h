/* kn_persons.h: whom somebody finds who knows some tables or columns of a database: persons alike in what is known.
 *
 * Of a person the rows of the known tables are known, with their known quasi-identifiers; each belongs to the nearest row above
 * it that is known, or to the person. Rows of other tables are not seen, but what is below them is. Persons are alike if these
 * trees are equal, in any order of siblings. With all tables that is Definition 9 of the multi-relational paper.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_PERSONS_H
#define KN_PERSONS_H

#include "kn_forest.h"

typedef struct kn_persons_known {
    int        table_count;
    const int *tables;
    int        only; /* of one table: this quasi-identifier alone (its place among them); -1: all of every table */
} kn_persons_known;

typedef struct kn_persons_found {
    int64_t classes;
    int64_t k;      /* persons of the smallest class        */
    int64_t unique; /* persons alone in theirs              */
    int64_t below;  /* persons in classes smaller than asked */
} kn_persons_found;

/* One answer for each. Linear in the nodes for each; several at a time on several threads, with the same answers.
 * Memory: 20 bytes per node of the largest tree, 4 per person and the distinct subtrees, for each thread. */
KN_CHECK kn_status kn_persons_count(kn_persons_found *found, kn_context *ctx, const kn_forest *forest,
                                    const kn_persons_known *known, int count, int64_t k, kn_error *err);

#endif
