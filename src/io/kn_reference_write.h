/* kn_reference_write.h: references in a release: the tables themselves, and the links of other tables to them. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_REFERENCE_WRITE_H
#define KN_REFERENCE_WRITE_H

#include "kn_arena.h"
#include "kn_database_write.h"
#include "kn_broader.h"

/* Writes every reference, its broader rows too; those that others refer to come first. */
KN_CHECK kn_status kn_references_write(const kn_database_sink *sink, kn_context *ctx, const kn_database *db, kn_error *err);

/* The type of a column that holds keys of a reference: that of the key, or text, where broader rows have other keys. */
const char *kn_reference_type(const kn_database *references, int reference);

/* The released links of a table of persons to references; `written`: per column its place, -1: it is left out. *count of them,
 * in the arena; NULL: out of memory. */
const kn_sink_link *kn_reference_links(kn_arena *arena, const kn_database *db, int table, const int *written, int *count);

#endif
