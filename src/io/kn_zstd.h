/* kn_zstd.h: decompressing zstd; in a build without it (meson's option zstd), saying so. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_ZSTD_H
#define KN_ZSTD_H

#include <kanon/context.h>
#include <stddef.h>

typedef struct kn_zstd kn_zstd;

/* `name`: of the file, for messages. Freed by kn_zstd_free. */
KN_CHECK kn_status kn_zstd_open(kn_zstd **out, kn_context *ctx, const char *name, kn_error *err);
void               kn_zstd_free(kn_zstd *z);

/* Consumes *taken of the `size` bytes at `in`, produces *made, at most `room`, bytes at `out`; *ended: a frame is
 * complete, and all of it was returned. false: the data are damaged. */
bool kn_zstd_step(kn_zstd *z, const char *in, size_t size, size_t *taken, char *out, size_t room, size_t *made, bool *ended);

#endif
