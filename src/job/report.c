/* report.c: the public functions of kanon/report.h: a page is rendered in memory, then written at once, so that
 * the file appears whole or not at all. Memory: the page, some tens of kilobytes.
 * SPDX-License-Identifier: Apache-2.0 */
#include <kanon/report.h>

#include "kn_compliance.h"
#include "kn_context.h"
#include "kn_database_report.h"
#include "kn_job_publish.h"
#include "kn_options.h"
#include "kn_records_report.h"
#include "kn_release_report.h"
#include "kn_report.h"

/* The pages show figures of the original: only their owner may read them. */
enum { MODE = 0600 };

kn_status kn_report_write(kn_context *ctx, const char *path, const kn_report_input *input, kn_error *err)
{
    KN_SERVE(ctx, err);
    KN_OPTIONS(kn_report_input, KN_REPORT_INPUT_INIT, input, "report input", err);
    kn_buffer page;
    kn_buffer_init(&page, ctx);
    return kn_job_write_file(ctx, path, MODE, &page, kn_report_render(&page, input, err), err);
}

kn_status kn_release_report_write(kn_context *ctx, const char *path, const kn_spec *spec,
                                  const kn_release_result *result, const char *version, kn_error *err)
{
    KN_SERVE(ctx, err);
    kn_buffer page;
    kn_buffer_init(&page, ctx);
    return kn_job_write_file(ctx, path, MODE, &page, kn_release_report_render(&page, spec, result, version, err), err);
}

kn_status kn_database_report_write(kn_context *ctx, const char *path, const kn_spec *spec,
                                   const kn_database_result *result, const char *version, kn_error *err)
{
    KN_SERVE(ctx, err);
    kn_buffer page;
    kn_buffer_init(&page, ctx);
    return kn_job_write_file(ctx, path, MODE, &page, kn_database_report_render(&page, spec, result, version, err), err);
}

kn_status kn_records_report_write(kn_context *ctx, const char *path, const kn_spec *spec,
                                  const kn_records_result *result, const char *version, kn_error *err)
{
    KN_SERVE(ctx, err);
    kn_buffer page;
    kn_buffer_init(&page, ctx);
    return kn_job_write_file(ctx, path, MODE, &page, kn_records_report_render(&page, spec, result, version, err), err);
}

kn_status kn_compliance_write(kn_context *ctx, const char *path, const kn_compliance_input *input,
                              kn_compliance_summary *out, kn_error *err)
{
    enum { ANYBODY = 0 }; /* as the umask says */
    kn_compliance_summary own;
    if (!out) out = &own;
    KN_SERVE(ctx, err);
    KN_OPTIONS(kn_compliance_input, KN_COMPLIANCE_INPUT_INIT, input, "compliance input", err);
    kn_buffer page;
    kn_buffer_init(&page, ctx);
    kn_status st = kn_compliance_render(&page, input, out, err);
    return kn_job_write_file(ctx, path, out->is_public ? ANYBODY : MODE, &page, st, err);
}
