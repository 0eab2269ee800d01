/* kn_zstd.c: decompressing zstd by its own library. Interface: kn_zstd.h; a build without it has kn_zstd_without.c. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "kn_zstd.h"

#include <zstd.h>

#include "kn_error.h"

/* A kn_zstd is the library's own stream: nothing else has to be kept. */

kn_status kn_zstd_open(kn_zstd **out, kn_context *ctx, const char *name, kn_error *err)
{
    *out = (kn_zstd *)ZSTD_createDStream();
    return *out ? KN_OK : kn_fail_memory(err, ctx, name);
}

void kn_zstd_free(kn_zstd *z)
{
    (void)ZSTD_freeDStream((ZSTD_DStream *)z);
}

bool kn_zstd_step(kn_zstd *z, const char *in, size_t size, size_t *taken, char *out, size_t room, size_t *made,
                  bool *ended)
{
    ZSTD_inBuffer  from = {in, size, 0};
    ZSTD_outBuffer to = {out, room, 0};
    size_t         left = ZSTD_decompressStream((ZSTD_DStream *)z, &to, &from);
    *taken = from.pos;
    *made = to.pos;
    *ended = left == 0;
    return !ZSTD_isError(left);
}
