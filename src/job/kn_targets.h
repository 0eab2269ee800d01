/* kn_targets.h: what a run writes must not be what it reads, and must be what its name says. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_TARGETS_H
#define KN_TARGETS_H

#include <kanon/spec.h>

/* base: the path of the release, with which the files beside it begin; NULL: it goes to a stream. KN_USAGE: it, one of
 * those files or the report would take the place of an input, a hierarchy, a key, the population, the queries or the
 * release file; or the report that of one of those; or kn_target_name_check refuses it. Paths are compared by the files
 * that they lead to. */
KN_CHECK kn_status kn_targets_check(kn_context *ctx, const kn_spec *spec, const char *base, kn_error *err);

/* Of a table or of records: does the output's name say what will stand in it? KN_USAGE with the name that works. Nothing is
 * opened. (A database is refused where it would be written.) */
KN_CHECK kn_status kn_target_name_check(const kn_spec *spec, kn_error *err);

/* Do two paths lead to one file, which is there? */
bool kn_targets_same(const char *a, const char *b);

/* Does the output's name ask for columns (kanon/memory.h)? One in memory without an ending does. */
bool kn_target_has_columns(const kn_context *ctx, const kn_spec *spec);

/* Does the output's name promise cells between tabs? */
bool kn_target_has_tabs(const kn_spec *spec);

#endif
