/* kn_beside.h: files that stand beside a release: written and handed to the disk under temporary names first, so that only
 * renames are left; taken back where the release does not come after all.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_BESIDE_H
#define KN_BESIDE_H

#include <sys/stat.h>

#include "kn_output.h"

typedef struct kn_beside {
    kn_output  *output; /* NULL: none, or it has its name        */
    char       *path;   /* its name; NULL: it never had a file. Freed by kn_beside_end */
    struct stat file;   /* which file it is                      */
} kn_beside;

/* Opens BASE + SUFFIX; `mode` as for kn_output_open. KN_USAGE where something is there that is not a file. */
KN_CHECK kn_status kn_beside_open(kn_beside *beside, kn_context *ctx, const char *base, const char *suffix,
                                  unsigned mode, kn_error *err);

/* Takes over an output that was opened otherwise, under the name BASE + SUFFIX. */
KN_CHECK kn_status kn_beside_take(kn_beside *beside, kn_context *ctx, kn_output *output, const char *base,
                                  const char *suffix, kn_error *err);

/* Hands everything to the disk. */
KN_CHECK kn_status kn_beside_settle(const kn_beside *beside, kn_error *err);
KN_CHECK kn_status kn_settle(kn_output *output, const char *path, kn_error *err);

/* Gives it its name. */
KN_CHECK kn_status kn_beside_commit(kn_beside *beside, kn_error *err);

/* Ends it; `back`: a file that already has its name is removed again, if it is still the one. */
void kn_beside_end(kn_beside *beside, bool back);

/* Is the file the one that has this name? A failure before a rename leaves the old one there, which is not ours. */
bool kn_has_name(const char *path, const struct stat *file);

/* Around something else that writes a file as a whole: what stood there before, and whether there is a new one now, whatever
 * that call answered (a file may have its name although it could not be made to last). */
KN_CHECK kn_status kn_beside_before(kn_beside *beside, kn_context *ctx, const char *path, kn_error *err);
void               kn_beside_after(kn_beside *beside);

/* Removes BASE + SUFFIX: it belonged to a release that was replaced. */
void kn_beside_remove(kn_context *ctx, const char *base, const char *suffix);

#endif
