/* kn_folder.h: a folder of CSV files as a database: one file per table, NAME.csv. It has no catalog: the user
 * declares the keys. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_FOLDER_H
#define KN_FOLDER_H

#include <sys/types.h>

#include "kn_cells.h"
#include "kn_database_write.h"

/* The folder's files NAME.csv, NAME.csv.gz, NAME.csv.zst and NAME.tsv as tables. */
KN_CHECK kn_status kn_folder_cells(kn_cells **out, kn_context *ctx, const char *path, kn_error *err);

/* A new folder, or an existing empty one. */
KN_CHECK kn_status kn_folder_sink(kn_database_sink *out, kn_context *ctx, const char *path, kn_error *err);

/* Does a file of this name count as a table? */
bool kn_folder_is_table(const char *name);

/* What a released folder holds besides its tables. */
#define KN_FOLDER_CERTIFICATE "certificate.json"

/* Is it a file, on disk or in memory? */
bool kn_folder_is_file(const kn_context *ctx, const char *path);

#endif
