/* kn_hierarchy_make.h: hierarchies over a table and its population. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_HIERARCHY_MAKE_H
#define KN_HIERARCHY_MAKE_H

#include "kn_arena.h"
#include "kn_hierarchy.h"

/* The file of a hierarchy's population: a line "leaf;people" per leaf and no header, an empty leaf for the people whose cell is
 * missing. The table has one column and counted rows. `data` (NULL: the defaults): how the data are read, for the encoding, the
 * decimal mark, the time zone and the spellings of a missing cell; its first type, if it has one, is the leaves'. */
KN_CHECK kn_status kn_hierarchy_read_counts(kn_table **out, kn_context *ctx, const char *path, const kn_csv_options *data,
                                            kn_error *err);

/* kn_hierarchy_make for a table and a population: a hierarchy that is built covers the values of both, one from a file
 * must have a leaf for every value of both. It is bound to the table's column. `population_leaves` (values + 1 entries,
 * freed by the caller) receives the leaf of each code of the population's column. `population` NULL: the same as
 * kn_hierarchy_make, and *population_leaves is NULL. A population whose rows are counted becomes the hierarchy's own
 * (kn_hierarchy_people), and every value of the table must have people in it. The spec's `population` is not read. */
KN_CHECK kn_status kn_hierarchy_make_over(kn_hierarchy **out, uint32_t **population_leaves, kn_context *ctx,
                                          const kn_table *table, int column, const kn_table *population,
                                          int population_column, const kn_hierarchy_spec *spec, bool show_values,
                                          kn_error *err);

/* The rule for a column without a hierarchy (kn_hierarchy_by_type), over the values of both; `population` may be NULL. Its
 * texts are in the arena. */
KN_CHECK kn_status kn_hierarchy_by_type_over(kn_hierarchy_spec *out, kn_arena *arena, const kn_column *column,
                                             const kn_column *population, char decimal, kn_error *err);

#endif
