/* kn_duckdb_source.h: "duckdb:FILE#table" and "duckdb:FILE?query=SELECT ..." as parts of a statement. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_DUCKDB_SOURCE_H
#define KN_DUCKDB_SOURCE_H

#include <kanon/context.h>

#include "kn_buffer.h"
#include "kn_string.h"

/* Words of a statement. */
void kn_duckdb_name(kn_buffer *to, const char *name); /* "a name" */
void kn_duckdb_text(kn_buffer *to, const char *text); /* 'a text' */

/* The file of a name, freed by kn_free; *out NULL: it has none ("duckdb:?query=..."). KN_IO: it does not exist. */
KN_CHECK kn_status kn_duckdb_source_file(char **out, kn_context *ctx, const char *name, kn_error *err);

/* What stands behind FROM. KN_USAGE: it names no table. */
KN_CHECK kn_status kn_duckdb_source_put(kn_buffer *to, kn_context *ctx, const char *name, kn_error *err);

/* Is it a query? */
bool kn_duckdb_source_query(const char *name);

#endif
