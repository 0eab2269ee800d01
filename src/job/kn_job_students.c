/* kn_job_students.c: the synthetic database of students as a folder that appears whole or not at all. See
 * kanon/generate.h. */
#include <kanon/generate.h>

#include "kn_error.h"
#include "kn_folder.h"
#include "kn_output.h"
#include "kn_students.h"

static kn_status write_file(kn_context *ctx, const char *folder, int file, int64_t students, uint64_t seed,
                            kn_error *err)
{
    kn_buffer  text, path;
    kn_output *output = NULL;
    kn_buffer_init(&text, ctx);
    kn_buffer_init(&path, ctx);
    kn_buffer_format(&path, "%s/%s", folder, kn_students_file_name(file));
    kn_students_file(&text, file, students, seed);
    const char *name = kn_buffer_text(&path);
    kn_status   status = KN_OK;
    if (!name || text.failed)
        status = kn_fail_memory(err, ctx, "generating students");
    else
        status = kn_output_open(&output, ctx, name, NULL, err);
    if (status == KN_OK) {
        kn_output_write(output, text.data, text.size);
        status = kn_output_commit(output, err);
    }
    kn_buffer_free(&text);
    kn_buffer_free(&path);
    return status;
}

kn_status kn_generate_students(kn_context *ctx, const char *folder, int64_t students, uint64_t seed, kn_error *err)
{
    kn_database_sink sink;
    kn_status        status = KN_OK;
    if (students < 0 || students > 100000000) return kn_fail(err, KN_USAGE, "from 0 to 100 million students");
    KN_TRY(kn_folder_sink(&sink, ctx, folder, err));
    for (int file = 0; kn_students_file_name(file) && status == KN_OK; file++)
        status = write_file(ctx, sink.folder, file, students, seed, err);
    if (status == KN_OK) return sink.commit(sink.state, err);
    sink.abort(sink.state);
    return status;
}
