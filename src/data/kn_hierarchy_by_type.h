/* kn_hierarchy_by_type.h: the hierarchy of a column for which none was given. docs/hierarchies.md has the rule, which
 * src/verify derives again by itself.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_HIERARCHY_BY_TYPE_H
#define KN_HIERARCHY_BY_TYPE_H

#include "kn_arena.h"
#include "kn_hierarchy.h"

/* A rule for the column's values: RANGES, CALENDAR, MASK, or SUPPRESS where nothing else suits them. Its texts are in the
 * arena. It contains no value of the data and depends on nothing but the different values. */
KN_CHECK kn_status kn_hierarchy_by_type(kn_hierarchy_spec *out, kn_arena *arena, const kn_column *column,
                                        kn_error *err);

#endif
