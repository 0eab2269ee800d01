/* kn_synthetic_folder.h: folders of made-up data that appear whole or not at all. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_SYNTHETIC_FOLDER_H
#define KN_SYNTHETIC_FOLDER_H

#include <kanon/context.h>

#include "kn_buffer.h"

/* Appends the text of file number `file`. */
typedef void (*kn_synthetic_file_fn)(const void *arg, int file, kn_buffer *to);

/* Writes the files `name(0)`, `name(1)`, ... until that is NULL into a folder, which must not exist, or be empty. */
KN_CHECK kn_status kn_synthetic_folder(kn_context *ctx, const char *folder, const char *(*name)(int file),
                                  kn_synthetic_file_fn text, const void *arg, kn_error *err);

/* Does a name look like a folder's? It ends with a slash, or its last part has no dot: to make folders called FILE.db or
 * FILE.json would surprise. */
bool kn_synthetic_folder_named(const char *name);

#endif
