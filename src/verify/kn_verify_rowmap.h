/* kn_verify_rowmap.h: which original each row, or record, of a release is: in memory, or from the file OUTPUT.rowmap. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_VERIFY_ROWMAP_H
#define KN_VERIFY_ROWMAP_H

#include <kanon/context.h>

/* KN_USAGE if a map is given both ways. */
KN_CHECK kn_status kn_vrowmap_once(const int64_t *given, const char *path, kn_error *err);

/* A copy of `given` (count numbers, from 0), or, if that is NULL, the file's content: the line "kanon-rowmap 1", then
 * numbers from 1, one per line. `*map` is freed by the caller, even on failure; numbers from a file are not negative,
 * but not checked otherwise. `what` names what is numbered in messages: "row". KN_INPUT with the line that is wrong. */
KN_CHECK kn_status kn_vrowmap_take(int64_t **map, int64_t *count, kn_context *ctx, const int64_t *given,
                                   int64_t given_count, const char *path, const char *what, kn_error *err);

#endif
