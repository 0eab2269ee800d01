/* kn_diagnose_sensitive.h: what the classes of persons of a database tell about sensitive columns. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_DIAGNOSE_SENSITIVE_H
#define KN_DIAGNOSE_SENSITIVE_H

#include <kanon/models.h>

#include "kn_arena.h"
#include "kn_forest.h"

/* One report per sensitive column, named TABLE.COLUMN, by tables; everything is in the arena. Persons are alike if their trees are; the
 * rows of such persons are matched one by one, and the figures are those of a table in which matched rows are a class. */
KN_CHECK kn_status kn_diagnose_sensitive(const kn_sensitive_report **out, int *count, kn_arena *arena, const kn_forest *forest,
                                         kn_error *err);

#endif
