/* settle.c: kn_release_settle (kanon/anonymize.h). */
/* SPDX-License-Identifier: Apache-2.0 */
#include <kanon/anonymize.h>

#include "kn_context.h"
#include "kn_set.h"

kn_status kn_release_settle(kn_context *ctx, const char *release, bool wait, char *note, kn_error *err)
{
    KN_SERVE(ctx, err);
    return kn_set_settle(ctx, release, wait, note, KN_SETTLE_NOTE, err);
}
