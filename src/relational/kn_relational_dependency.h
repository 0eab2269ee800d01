/* kn_relational_dependency.h: functional dependencies within the tables of a database are kept in its release.
 *
 * Rows that show the same left side must show the same right side. Where the classes of a plan do not have it so, the right sides
 * of such rows rise to the lowest value that all of them have in common (association generalization, as K-MSD-AG does it
 * in a table), until nothing changes: at the top everything holds. A column that is published as it is cannot rise.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_RELATIONAL_DEPENDENCY_H
#define KN_RELATIONAL_DEPENDENCY_H

#include "kn_database_plan.h"

/* Columns of one table, which are released. */
typedef struct kn_relational_dependency {
    int        table;
    int        left_count, right_count;
    const int *left, *right;
} kn_relational_dependency;

/* Replaces the plan by one in which right sides that are quasi-identifiers are kept; classes that then show the same become one.
 * `broken` (count) receives, per dependency, whether a column that is published as it is breaks it. */
KN_CHECK kn_status kn_relational_keep(kn_database_plan **plan, bool *broken, kn_context *ctx, const kn_forest *forest,
                                      const kn_relational_dependency *list, int count, kn_error *err);

#endif
