/* kn_csv_read.h: CSV files → table. The public functions are in kanon/table.h. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_CSV_READ_H
#define KN_CSV_READ_H

#include <kanon/table.h>

#include "kn_sha256.h"

/* kn_table_read_csv_files, and SHA-256 of the bytes of each file, taken as they are read by one thread beside those that scan; of
 * what is no plain text file the digest stays empty. NULL: none is wanted. */
KN_CHECK kn_status kn_csv_read_digested(kn_table **out, kn_context *ctx, const char *const *paths, int path_count,
                                        const kn_csv_options *options, char (*digests)[KN_SHA256_TEXT], kn_error *err);

/* For tests: the size of the pieces that workers scan (default 512 KiB); small ones make every boundary case common. */
KN_CHECK kn_status kn_csv_read_pieces(kn_table **out, kn_context *ctx, const char *const *paths, int path_count,
                                      const kn_csv_options *options, size_t piece_size, kn_error *err);

/* The names of a file's columns and its delimiter, without reading the rows. Freed by kn_csv_names_free. */
typedef struct kn_csv_names {
    char **names;
    bool  *unnamed; /* the file has none, and it is named by position   */
    int    count;
    char   delimiter;
} kn_csv_names;

KN_CHECK kn_status kn_csv_read_names(kn_csv_names *out, kn_context *ctx, const char *path,
                                     const kn_csv_options *options, kn_error *err);
void               kn_csv_names_free(kn_csv_names *names);

#endif
