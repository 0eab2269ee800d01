/* kn_output_place.h: the place of an output: links that lead there, and what killed runs left there. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_OUTPUT_PLACE_H
#define KN_OUTPUT_PLACE_H

#include <kanon/context.h>

/* Follows every symbolic link of a path. KN_IO for one that another user could have planted: in a folder that others
 * may write to and whose files only their owners may remove (/tmp), a link that is neither the user's nor that of the
 * folder's owner. What cannot be read is left to the open call. */
KN_CHECK kn_status kn_place_check_links(kn_context *ctx, const char *path, kn_error *err);

/* Claims a new temporary file or folder: no other run removes it while a descriptor is open. false: one has just done so. */
bool kn_place_claim(int fd, const char *temporary);

/* Makes a temporary folder beside a path, named after it, and claims it: `*fd` is its claim until it is closed. What killed runs left
 * for that path is removed before. KN_IO: it cannot be made. */
KN_CHECK kn_status kn_place_folder(char **temporary, int *fd, kn_context *ctx, const char *path, kn_error *err);

/* Makes the name of a file or folder durable, by syncing its folder. false: errno says why not. A folder that
 * may be written but not read, or whose file system cannot do this, counts as done. */
bool kn_place_sync(const char *path);

/* Removes a file, or a folder and the files in it. A path that does not exist is not a failure; false: errno says why
 * not. */
bool kn_place_remove(const char *path);

/* The ending of the journal of a release whose files are getting their names: ".NAME" and this (kn_set.h). */
#define KN_JOURNAL_ENDING ".kanon-journal"

/* Removes the user's temporary files and folders that no running process has claimed: those of `folder`/`name`, of
 * which the first `keep` bytes are in their names, and those of files beside it named NAME.something. If there is a
 * journal of a release they are kept: its run was killed, and they are needed to complete or undo it. */
void kn_place_clean(const char *folder, const char *name, size_t keep);

#endif
