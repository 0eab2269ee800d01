/* kn_targets.h: what a run writes must not be what it reads, and must be what its name says. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_TARGETS_H
#define KN_TARGETS_H

#include <kanon/spec.h>

/* base: the path of the release, the prefix of the files beside it; NULL: it goes to a stream. KN_USAGE: it, one of
 * those files or the report would replace an input, a hierarchy, a key, the population, the queries or the release
 * file; or the report one of those; or kn_target_name_check refuses it. Paths are compared by the files that they
 * lead to. */
KN_CHECK kn_status kn_targets_check(kn_context *ctx, const kn_spec *spec, const char *base, kn_error *err);

/* For tables and records: does the output's name fit its content? KN_USAGE with a name that works. Nothing is opened.
 * (For a database this is checked when it is written.) */
KN_CHECK kn_status kn_target_name_check(const kn_spec *spec, kn_error *err);

/* Do two paths lead to the same existing file? */
bool kn_targets_same(const char *a, const char *b);

/* Does the output's name ask for columns (kanon/memory.h)? One in memory without an ending does. */
bool kn_target_has_columns(const kn_context *ctx, const kn_spec *spec);

/* Does the output's name mean Parquet, in one file or in parts? */
bool kn_target_is_parquet(const kn_spec *spec);
bool kn_target_in_parts(const kn_spec *spec);

/* Is the release to be written by an engine, where it says? */
bool kn_target_in_engine(const kn_spec *spec);

/* Does the output's name mean tab-separated cells? */
bool kn_target_has_tabs(const kn_spec *spec);

/* Is the release to be one table of a server or of a SQLite file? */
bool kn_target_is_table(const kn_spec *spec);

#endif
