/* kn_names.h: names of databases: "sqlite:FILE", "duckdb:FILE", "engine:NAME", "postgresql://..." or "postgres:...", their scheme in any
 * letter case; of files of statistics programs; and what other names say. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_NAMES_H
#define KN_NAMES_H

#include <kanon/status.h>
#include <stdbool.h>
#include <stddef.h>

const char *kn_name_sqlite(const char *name); /* the file; NULL: not such a name                             */
const char *kn_name_duckdb(const char *name); /* the same for a table or a query of DuckDB; NULL            */
const char *kn_name_engine(const char *name); /* "engine:NAME#TABLE" of an engine of the program; NULL       */
const char *kn_name_file(const char *name);   /* the file of any name whose scheme has one: of the first two; NULL     */
const char *kn_name_server(const char *name); /* what follows "postgresql:" or "postgres:"; NULL             */

/* "?query=" in the name of a database; NULL: it has no query. */
const char *kn_name_query(const char *name);

/* A file of SPSS, Stata or SAS, by its ending? And is one of these? Their codes and labels are kept beside a release. */
bool kn_name_statistics(const char *name);
bool kn_names_labelled(const char *const *names, int count);

/* Is this one of the words of a table's or column's name? In small letters; letter case does not count. Words are letters up to what
 * is none, or up to a capital behind a small letter: "birth" and "birthdate" are words of birthDate. */
bool kn_name_says(const char *name, const char *word);

#endif
