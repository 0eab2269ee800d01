/* kn_schema_propose.h: which tables of a database are references, and why each table is where it is. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_SCHEMA_PROPOSE_H
#define KN_SCHEMA_PROPOSE_H

#include "kn_arena.h"
#include "kn_database.h"

/* Of tables that lead to no person, proposes those as references to which others refer, or which refer to such; sets the reason of
 * every table. Reasons are in the arena. */
KN_CHECK kn_status kn_schema_propose(kn_arena *arena, const kn_database *db, kn_schema_table *tables, int person,
                                     kn_error *err);

#endif
