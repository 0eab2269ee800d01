/* kn_database_known.h: a database, or a file, of what is known of persons: of a spec's tables and quasi-identifiers those that
 * it has. Columns that refer to references are none of them: their keys are those of one database.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_DATABASE_KNOWN_H
#define KN_DATABASE_KNOWN_H

#include <kanon/spec.h>

#include "kn_arena.h"
#include "kn_forest.h"

/* Reads it with the spec's types, every column without a hierarchy, and the trees of its persons. A path that names no database
 * is that of a file: the table of persons, whose rows need no key. Both are the caller's, even on failure. KN_INPUT: it has no
 * table of persons. */
KN_CHECK kn_status kn_database_read_known(kn_database **db, kn_forest **forest, kn_arena *arena, const char *path,
                                          const kn_csv_options *csv, const kn_spec *spec, kn_error *err);

/* Reads the tables that are given, and the trees of persons. */
KN_CHECK kn_status kn_database_read_trees(kn_database **db, kn_forest **forest, kn_context *ctx, const char *path,
                                          const kn_csv_options *csv, const char *entity, const kn_spec_table *tables,
                                          int count, kn_error *err);

/* A copy of a table with room for its attributes, but without any, and without links; NULL: out of memory. Then each attribute
 * without its hierarchy; `text`: as a text. */
kn_attribute *kn_known_table(kn_spec_table *to, kn_arena *arena, const kn_spec_table *from, kn_error *err);
void          kn_known_add(kn_spec_table *to, kn_attribute *list, const kn_attribute *a, bool text);

/* Gives a table the key that other rows refer to, and the parent, that `db` has, whose persons are chosen: a release may be a folder,
 * which has no catalog. Names are copied. */
KN_CHECK kn_status kn_known_keys(kn_spec_table *to, kn_arena *arena, const kn_database *db, kn_error *err);

/* How the files of a release are read: UTF-8 with a header, whatever the original was; in a folder an empty cell alone is missing. */
kn_csv_options kn_known_release_csv(const kn_spec *spec, const char *release);

/* Does a column hold keys of a reference, by the release file or by a catalog? */
bool kn_known_refers(const kn_spec *spec, const kn_spec_table *t, const kn_database *db, const char *column);

#endif
