/* kn_synthetic_folder.c: folders of made-up data that appear whole or not at all. Interface: kn_synthetic_folder.h. Memory is the largest
 * file.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kn_synthetic_folder.h"

#include <string.h>

#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_folder.h"
#include "kn_output.h"

static kn_status write_file(kn_context *ctx, const char *folder, const char *name, const kn_buffer *text, kn_error *err)
{
    kn_output *output = NULL;
    char      *path = text->failed ? NULL : kn_strformat(ctx, "%s/%s", folder, name);
    kn_status  status =
        path ? kn_output_open(&output, ctx, path, NULL, err) : kn_fail_memory(err, ctx, "generating data");
    kn_free(path);
    if (status != KN_OK) return status;
    kn_output_write(output, text->data, text->size);
    return kn_output_commit(output, err);
}

bool kn_synthetic_folder_named(const char *name)
{
    const char *slash = strrchr(name, '/');
    const char *last = slash ? slash + 1 : name;
    return *name != '\0' && (!strchr(last, '.') || strspn(last, ".") == strlen(last));
}

kn_status kn_synthetic_folder(kn_context *ctx, const char *folder, const char *(*name)(int file),
                              kn_synthetic_file_fn text, const void *arg, kn_error *err)
{
    kn_database_sink sink;
    kn_status        status = KN_OK;
    KN_TRY(kn_folder_sink(&sink, ctx, folder, err));
    for (int file = 0; name(file) && status == KN_OK; file++) {
        kn_buffer buffer;
        kn_buffer_init(&buffer, ctx);
        text(arg, file, &buffer);
        status = write_file(ctx, sink.folder, name(file), &buffer, err);
        kn_buffer_free(&buffer);
    }
    if (status == KN_OK) return sink.commit(sink.state, err);
    sink.abort(sink.state);
    return status;
}
