/* kn_demo_release.h: what the two files of kn_attack_demo share: the two ways to anonymize a database that fail. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_DEMO_RELEASE_H
#define KN_DEMO_RELEASE_H

#include "kn_database_plan.h"

/* Tables that are made k-anonymous together, persons first if there are several: a path of the snowflake, or one table. */
typedef struct kn_demo_join {
    int     table_count;
    int    *tables;
    int64_t rows; /* of their join, found by kn_demo_release */
} kn_demo_join;

/* What a reader of all these joins with their keys sees, as a plan (kn_demo.h says how it differs from a method's).
 * Rows of a join with fewer rows than k show "*". Every row that belongs to a person stays. */
KN_CHECK kn_status kn_demo_release(kn_database_plan **out, kn_context *ctx, const kn_forest *forest, kn_demo_join *joins,
                                   int join_count, int64_t k, kn_error *err);

#endif
