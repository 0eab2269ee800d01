/* kn_draft_records.c: a first release file for tree records. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "kn_draft.h"
#include "kn_error.h"

kn_status kn_draft_records(kn_drafting *d, kn_error *err)
{
    return kn_fail(err, KN_USAGE, "%s: records are not looked at yet", d->inputs[0]);
}
