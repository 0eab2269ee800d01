/* kn_output_place.h: the place of an output: links that lead there, and what killed runs left there. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_OUTPUT_PLACE_H
#define KN_OUTPUT_PLACE_H

#include <kanon/context.h>

/* Follows every symbolic link of a path. KN_IO for one that somebody else could have laid: in a folder that others may write
 * to and whose files only their owners may remove (/tmp), a link that is neither the user's nor that of the folder's owner.
 * What cannot be looked at is left to whoever opens it. */
KN_CHECK kn_status kn_place_check_links(kn_context *ctx, const char *path, kn_error *err);

/* Claims a new temporary file or folder: no other run removes it while a descriptor is open. false: one has just done so. */
bool kn_place_claim(int fd, const char *temporary);

/* Removes temporary files and folders of the user's that no living run has claimed: those of `folder`/`name`, of which the
 * first `keep` bytes stand in their names, and those of files beside it that are called NAME.something. */
void kn_place_clean(const char *folder, const char *name, size_t keep);

#endif
