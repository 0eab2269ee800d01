/* schema.c: the picture of a schema as a file that appears whole or not at all. See kanon/database.h. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <kanon/database.h>

#include "kn_context.h"
#include "kn_job_publish.h"
#include "kn_schema_svg.h"

kn_status kn_schema_write_svg(const kn_schema *schema, kn_context *ctx, const char *path, kn_error *err)
{
    KN_SERVE(ctx, err);
    kn_buffer picture;
    kn_buffer_init(&picture, ctx);
    return kn_job_write_file(ctx, path, 0, &picture, kn_schema_svg(&picture, schema, err), err);
}
