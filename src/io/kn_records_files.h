/* kn_records_files.h: the files of one collection of records: those named, and those in the folders named. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_RECORDS_FILES_H
#define KN_RECORDS_FILES_H

#include <kanon/records.h>

#include "kn_arena.h"

typedef struct kn_records_files {
    const char **paths; /* in the arena, or as they were named */
    int          count;
} kn_records_files;

/* By the name (without .gz or .zst); of a folder: that of its first file. Never AUTO. */
kn_records_form kn_records_form_of(const char *path);

/* A folder's files are in the order of their names, byte by byte; hidden ones (a name that begins with "." or "_") are left out.
 * KN_INPUT: a folder has a file that is none of XML, JSON or JSON Lines, a folder of its own, or no file; files of different forms. */
KN_CHECK kn_status kn_records_files_list(kn_records_files *out, kn_arena *arena, const char *first,
                                         const char *const *more, int more_count, kn_error *err);

#endif
