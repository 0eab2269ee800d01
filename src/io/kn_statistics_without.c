/* kn_statistics_without.c: in the place of kn_statistics.c where kanon is built without ReadStat. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "kn_error.h"
#include "kn_table_stream.h"

static kn_status refuse(const char *name, kn_error *err)
{
    return kn_fail(err, KN_USAGE,
                   "%s: kanon was built without files of SPSS, Stata and SAS; save it as CSV (UTF-8), or build kanon "
                   "with ReadStat (Debian: libreadstat-dev)",
                   name);
}

kn_status kn_statistics_stream(kn_table_stream *out, kn_context *ctx, const char *name, kn_error *err)
{
    (void)out;
    (void)ctx;
    return refuse(name, err);
}

kn_status kn_statistics_labels(kn_csv_rows *to, const char *name, kn_error *err)
{
    (void)to;
    return refuse(name, err);
}
