/* schema.c: the picture of a schema as a file that appears whole or not at all. See kanon/database.h. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <kanon/database.h>

#include "kn_context.h"
#include "kn_output.h"
#include "kn_schema_svg.h"

kn_status kn_schema_write_svg(const kn_schema *schema, kn_context *ctx, const char *path, kn_error *err)
{
    KN_SERVE(ctx, err);
    kn_buffer  picture;
    kn_output *output = NULL;
    kn_buffer_init(&picture, ctx);
    kn_status status = kn_schema_svg(&picture, schema, err);
    if (status == KN_OK) status = kn_output_open(&output, ctx, path, NULL, err);
    if (status == KN_OK) {
        kn_output_write(output, picture.data, picture.size);
        status = kn_output_commit(output, err);
    }
    kn_buffer_free(&picture);
    return status;
}
