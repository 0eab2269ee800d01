/* kn_parts.h: tables in several files: a folder of Parquet files, or a pattern. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_PARTS_H
#define KN_PARTS_H

#include <stdbool.h>
#include <stddef.h>

/* Does the name end in the ending of a Parquet file (.parquet, .pq)? */
bool kn_parts_is_parquet(const char *name);

/* The part of a path that is no pattern: the size of its last folder with the slash; the whole size if nothing in it is
 * a pattern. An existing file or folder is never a pattern. */
size_t kn_parts_root(const char *path);

/* Calls `fn` with every Parquet file below a folder until it returns false. The order is the system's. */
typedef bool (*kn_parts_fn)(void *arg, const char *path);
void kn_parts_each(const char *root, size_t size, kn_parts_fn fn, void *arg);

/* A folder with Parquet files in it, and no table in CSV: one table in parts. */
bool kn_parts_folder(const char *path);

/* Is there a folder "column=value" between the root of a folder or pattern and its files? */
bool kn_parts_partitioned(const char *path);

#endif
