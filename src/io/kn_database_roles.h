/* kn_database_roles.h: what a request says of the columns of a database, and its persons as records. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_DATABASE_ROLES_H
#define KN_DATABASE_ROLES_H

#include <kanon/records.h>

#include "kn_database.h"

/* Gives columns their roles and makes the hierarchies of quasi-identifiers (one without a hierarchy gets value -> *).
 * KN_INPUT: a table or column that is not there, a quasi-identifier that is part of a key. */
KN_CHECK kn_status kn_database_roles(kn_database *db, const kn_spec_table *tables, int table_count, kn_error *err);

/* Reads an empty text as a missing cell, beside what `csv` calls one: for releases that cannot tell them apart. *out is the
 * list that `csv` then points to: the caller's, with kn_free once all is read. */
KN_CHECK kn_status kn_csv_empty_is_missing(const char ***out, kn_context *ctx, const char *input, kn_csv_options *csv,
                                           kn_error *err);

/* The persons of a database as tree records (kn_records_read_database); `snapshot`: kn_database_options. */
KN_CHECK kn_status kn_records_read_persons(kn_records **out, kn_context *ctx, const char *input, const kn_spec *spec,
                                           const char *snapshot, kn_error *err);

#endif
