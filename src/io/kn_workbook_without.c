/* kn_workbook_without.c: in the place of kn_workbook.c where kanon is built without minizip or expat. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "kn_error.h"
#include "kn_table_stream.h"

kn_status kn_workbook_stream(kn_table_stream *out, kn_context *ctx, const char *name, kn_error *err)
{
    (void)out;
    (void)ctx;
    return kn_fail(err, KN_USAGE,
                   "%s: kanon was built without spreadsheets; save the sheet as CSV (UTF-8), or build kanon with "
                   "minizip and expat (Debian: libminizip-dev, libexpat1-dev)",
                   name);
}
