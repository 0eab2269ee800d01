/* kn_database_roles.h: the roles of a database's columns, and its persons as records. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_DATABASE_ROLES_H
#define KN_DATABASE_ROLES_H

#include <kanon/records.h>

#include "kn_arena.h"
#include "kn_forest.h"
#include "kn_records.h"

/* Gives columns their roles and makes the hierarchies of quasi-identifiers (one without a hierarchy gets value -> *).
 * KN_INPUT: a table or column that does not exist, a quasi-identifier that is part of a key. */
KN_CHECK kn_status kn_database_roles(kn_database *db, const kn_spec_table *tables, int table_count, kn_error *err);

/* Gives a quasi-identifier without a hierarchy the one that its type suggests (kn_hierarchy_by_type.h), as those of a table
 * do: numbers and dates. *taken: it has one now, by *rule. Texts keep value -> *: whether all of them are equally long codes
 * would depend on where the release is written, since files do not distinguish an empty text from a missing cell. With a
 * `population` the rule is for its values too; NULL: there is none. */
KN_CHECK kn_status kn_database_by_type(bool *taken, kn_hierarchy_spec *rule, kn_arena *arena, kn_database *db, int table,
                                       const kn_attribute *attribute, const kn_column *population, kn_error *err);

/* Reads a database as the spec describes it, with roles and hierarchies, and the trees of its persons; `empty`: an empty text is
 * missing, in the population too. Both are the caller's, even on failure. KN_INPUT also where there are no persons. */
KN_CHECK kn_status kn_database_read_persons(kn_database **db, kn_forest **forest, kn_context *ctx, const char *input,
                                            const kn_spec *spec, bool empty, kn_error *err);

/* Adds the empty text to what `csv` counts as missing, for releases that cannot distinguish the two. *out is the list
 * that `csv` then points to: freed by the caller with kn_free after reading. */
KN_CHECK kn_status kn_csv_empty_is_missing(const char ***out, kn_context *ctx, const char *input, kn_csv_options *csv,
                                           kn_error *err);

/* The persons of a database as tree records (kn_records_read_database); `snapshot`: kn_database_options. *db (may be NULL) is the
 * database that their classes are columns of: the caller's. */
KN_CHECK kn_status kn_records_read_persons(kn_records **out, kn_database **db, kn_context *ctx, const char *input,
                                           const kn_spec *spec, const char *snapshot, kn_error *err);

/* The schema of a database that holds released records (kn_records_rows.h), as a release file would describe it: a folder has no
 * catalog. `columns` per class, of `db`, whose persons are chosen; cells are texts. NULL: out of memory. */
kn_spec_table *kn_records_schema(kn_arena *arena, const kn_database *db, const kn_class_column *columns, int count);

/* The records that such a database shows, as it was read by `tables`; `options` as for kn_records_read, with `released`. Its
 * persons become chosen, whose table is `entity`, and its columns get roles. */
KN_CHECK kn_status kn_records_read_shown(kn_records **out, kn_context *ctx, kn_database *db, const kn_spec_table *tables,
                                         const char *entity, const kn_records_options *options, kn_error *err);

#endif
