/* kn_parts.h: tables in several files: a folder of Parquet files, or a pattern. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_PARTS_H
#define KN_PARTS_H

#include "kn_database_write.h"
#include "kn_output.h"

/* Does the name end in the ending of a Parquet file (.parquet, .pq)? */
bool kn_parts_is_parquet(const char *name);

/* Is it the name of a folder that a release in parts gets: "NAME.parquet/"? */
bool kn_parts_is_output(const char *name);

/* Opens such a folder, which appears whole or not at all: it must not exist, or be empty. Parts are written into the
 * temporary folder kn_output_temporary(*out) (kn_parquet_write); nothing is written to the output itself. Both end
 * with the writer. */
KN_CHECK kn_status kn_parts_writer_open(kn_output **out, kn_database_writer **writer, kn_context *ctx, const char *name,
                                        kn_error *err);

/* The part of a path that is no pattern: the size of its last folder with the slash; the whole size if nothing in it is
 * a pattern. An existing file or folder is never a pattern. */
size_t kn_parts_root(const char *path);

/* Calls `fn` with every Parquet file below a folder until it returns false. The order is the system's. */
typedef bool (*kn_parts_fn)(void *arg, const char *path);
void kn_parts_each(const char *root, size_t size, kn_parts_fn fn, void *arg);

/* Is a path, which begins as the pattern does, one of those that it means? "**" stands for any folders, or none. */
bool kn_parts_matches(const char *pattern, const char *path);

/* A folder with Parquet files in it, and no table in CSV: one table in parts. */
bool kn_parts_folder(const char *path);

/* Is there a folder "column=value" between the root of a folder or pattern and its files? */
bool kn_parts_partitioned(const char *path);

#endif
