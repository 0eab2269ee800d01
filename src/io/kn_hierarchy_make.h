/* kn_hierarchy_make.h: hierarchies over a table and its population. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_HIERARCHY_MAKE_H
#define KN_HIERARCHY_MAKE_H

#include "kn_arena.h"
#include "kn_hierarchy.h"

/* kn_hierarchy_make for a table and a population: a hierarchy that is built covers the values of both, one from a file
 * must have a leaf for every value of both. It is bound to the table's column. `population_leaves` (values + 1 entries,
 * freed by the caller) receives the leaf of each code of the population's column. `population` NULL: the same as
 * kn_hierarchy_make, and *population_leaves is NULL. */
KN_CHECK kn_status kn_hierarchy_make_over(kn_hierarchy **out, uint32_t **population_leaves, kn_context *ctx,
                                          const kn_table *table, int column, const kn_table *population,
                                          int population_column, const kn_hierarchy_spec *spec, bool show_values,
                                          kn_error *err);

/* The rule for a column without a hierarchy (kn_hierarchy_by_type), over the values of both; `population` may be NULL. Its
 * texts are in the arena. */
KN_CHECK kn_status kn_hierarchy_by_type_over(kn_hierarchy_spec *out, kn_arena *arena, const kn_column *column,
                                             const kn_column *population, char decimal, kn_error *err);

#endif
