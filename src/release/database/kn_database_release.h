/* kn_database_release.h: a plan of a database → the rows that are written: which rows stay, their parents, and what
 * their cells show.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_DATABASE_RELEASE_H
#define KN_DATABASE_RELEASE_H

#include "kn_database_plan.h"
#include "kn_database_write.h"

typedef struct kn_database_release kn_database_release;

/* Rows are numbered class by class, member by member; the writer gives them keys and an order that do not reveal it.
 * Both the database and the plan are borrowed. `seed` is that of the new keys. */
KN_CHECK kn_status kn_database_release_make(kn_database_release **out, kn_context *ctx, const kn_database *db,
                                            const kn_database_plan *plan, uint64_t seed, kn_error *err);
void               kn_database_release_free(kn_database_release *release); /* NULL is fine */

/* The writer's input; valid as long as the release. */
const kn_database_rows *kn_database_release_rows(const kn_database_release *release);

/* The original's row of a released row. */
uint32_t kn_database_release_original(const kn_database_release *release, int table, int64_t row);

#endif
