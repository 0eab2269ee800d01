/* kn_patient_files.c: synthetic patients as tree records: a file of them, or a folder with hierarchies and a release
 * file. See kanon/generate.h.
 *
 * Records are made in chunks, in parallel, and written in order: memory is a few chunks per thread.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <kanon/generate.h>
#include <string.h>

#include "kn_context.h"
#include "kn_error.h"
#include "kn_output.h"
#include "kn_patient_records.h"
#include "kn_synthetic_folder.h"

enum { CHUNK_RECORDS = 1024 };

typedef struct made_patients {
    kn_context     *ctx;
    kn_patient_form form;
    int64_t         records;
    uint64_t        seed;
} made_patients;

static kn_status make_chunk(void *arg, int64_t chunk, kn_buffer *to, kn_error *err)
{
    made_patients *made = arg;
    int64_t        first = chunk * CHUNK_RECORDS, left = made->records - first;
    int64_t        count = left < CHUNK_RECORDS ? left : CHUNK_RECORDS;
    for (int64_t i = 0; i < count; i++) kn_patient_record(to, made->form, first + i, made->seed);
    if (to->failed) return kn_fail_memory(err, made->ctx, "generating records");
    kn_progress_add(made->ctx, (uint64_t)count);
    return KN_OK;
}

/* What stands before the first record or behind the last. */
static kn_status write_edge(kn_output *output, const made_patients *made, void (*edge)(kn_buffer *, kn_patient_form),
                            kn_error *err)
{
    kn_buffer text;
    kn_buffer_init(&text, made->ctx);
    edge(&text, made->form);
    bool failed = text.failed;
    if (!failed) kn_output_write(output, text.data, text.size);
    kn_buffer_free(&text);
    return failed ? kn_fail_memory(err, made->ctx, "generating records") : KN_OK;
}

static kn_status write_records(kn_output *output, made_patients *made, kn_error *err)
{
    KN_TRY(write_edge(output, made, kn_patient_begin, err));
    kn_progress_begin(made->ctx, "generating", "records", (uint64_t)made->records);
    int64_t   chunks = (made->records + CHUNK_RECORDS - 1) / CHUNK_RECORDS;
    kn_status status = kn_output_pieces(output, chunks, make_chunk, made, err);
    kn_progress_end(made->ctx);
    return status == KN_OK ? write_edge(output, made, kn_patient_end, err) : status;
}

static kn_status write_file(const char *path, made_patients *made, kn_error *err)
{
    kn_output *output = NULL;
    KN_TRY(kn_output_open(&output, made->ctx, path, NULL, err));
    return kn_output_finish(output, write_records(output, made, err), err);
}

/* ---- A folder: the records first, then what stands beside them ---- */

static const char *file_name(int file)
{
    return file == 0 ? "patients.xml" : kn_patient_file_name(file - 1);
}

static void file_text(const void *arg, int file, kn_buffer *to)
{
    const made_patients *made = arg;
    if (file > 0) {
        kn_patient_file(to, file - 1);
        return;
    }
    kn_patient_begin(to, made->form);
    for (int64_t i = 0; i < made->records; i++) kn_patient_record(to, made->form, i, made->seed);
    kn_patient_end(to, made->form);
}

static bool ends_with(const char *text, const char *ending)
{
    size_t size = strlen(text), less = strlen(ending);
    return size >= less && strcmp(text + size - less, ending) == 0;
}

kn_status kn_generate_patient_records(kn_context *ctx, const char *target, int64_t records, uint64_t seed,
                                      kn_error *err)
{
    KN_SERVE(ctx, err);
    made_patients made = {ctx, KN_PATIENT_XML, records, seed};
    if (records < 0 || records > 1000000000) return kn_fail(err, KN_USAGE, "from 0 to 1 billion records");
    if (ends_with(target, ".jsonl") || ends_with(target, ".ndjson")) made.form = KN_PATIENT_JSON_LINES;
    if (made.form == KN_PATIENT_JSON_LINES || ends_with(target, ".xml") || strcmp(target, "-") == 0)
        return write_file(target, &made, err);
    if (!kn_synthetic_folder_named(target))
        return kn_fail(err, KN_USAGE, "%s: records are written to FILE.xml, FILE.jsonl or a folder, FOLDER/", target);
    return kn_synthetic_folder(ctx, target, file_name, file_text, &made, err);
}
