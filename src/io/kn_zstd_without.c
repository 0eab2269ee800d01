/* kn_zstd_without.c: in the place of kn_zstd.c where kanon is built without zstd. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "kn_error.h"
#include "kn_zstd.h"

kn_status kn_zstd_open(kn_zstd **out, kn_context *ctx, const char *name, kn_error *err)
{
    (void)ctx;
    *out = NULL;
    return kn_fail(err, KN_INPUT, "%s: kanon was built without zstd; decompress the file first", name);
}

void kn_zstd_free(kn_zstd *z)
{
    (void)z;
}

bool kn_zstd_step(kn_zstd *z, const char *in, size_t size, size_t *taken, char *out, size_t room, size_t *made,
                  bool *ended)
{
    (void)z;
    (void)in;
    (void)size;
    (void)out;
    (void)room;
    *taken = *made = 0;
    *ended = false;
    return false;
}
