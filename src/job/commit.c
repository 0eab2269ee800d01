/* commit.c: the last stages of every release (kn_shape.h): the files beside it, and the names of all files.
 *
 * The release is verified and has a temporary name. The files beside it are written, and all get their names as one
 * set (kn_set.h).
 *
 * What went to standard output, a pipe or a device cannot be undone: the release was verified in an unnamed file and
 * is copied. There are no files beside a stream, so no certificate; a note says so.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_job_publish.h"
#include "kn_shape.h"

/* ---- What stands beside the release ---- */

static kn_status seal(kn_release_run *run, kn_error *err)
{
    kn_public_seal *s = &run->seal;
    s->version = run->options->version;
    s->file_count = run->file_count;
    s->names = run->file_names;
    if (run->digests) KN_TRY(kn_digest_wait(run->digests, &s->digests, err));
    if (!run->output) return KN_OK;
    if (run->digests) memcpy(run->head->sha256, s->digests[0], sizeof run->head->sha256);
    run->sha256 = run->head->sha256;
    s->file_count = 1;
    s->digests = &run->sha256;
    return KN_OK;
}

static kn_status put_map(kn_release_run *run, kn_error *err)
{
    kn_output *output = NULL;
    if (!run->spec->keep_rowmap) return KN_OK;
    KN_TRY(kn_set_create(run->set, &output, KN_SET_ROWMAP, NULL, err));
    return run->shape->map(run, output, err);
}

static kn_status put_private(kn_release_run *run, kn_error *err)
{
    const kn_public_seal *s = &run->seal;
    kn_private_input      input = {.spec = run->spec,
                                   .head = run->head,
                                   .version = run->options->version,
                                   .seed = run->seed,
                                   .input_count = run->originals.count,
                                   .inputs = run->originals.names,
                                   .file_count = s->file_count,
                                   .folder = s->folder,
                                   .files = s->names,
                                   .digests = s->digests,
                                   .input_digests = run->originals.texts};
    kn_buffer             text;
    if (run->originals.digests) {
        KN_TRY(kn_digest_wait(run->originals.digests, &input.input_digests, err));
        KN_TRY(kn_release_unchanged(run, err)); /* or they might be of other bytes, in columns that nobody verifies */
    }
    if (run->shape->describe) run->shape->describe(run, &input);
    kn_buffer_init(&text, run->ctx);
    kn_status st = kn_private_render(&text, &input, err);
    return kn_job_put(run->set, KN_SET_PRIVATE, NULL, &text, st, err);
}

static kn_status put_report(kn_release_run *run, kn_error *err)
{
    kn_buffer page;
    if (!run->spec->report) return KN_OK;
    kn_buffer_init(&page, run->ctx);
    kn_status st = run->shape->report(&page, run, err);
    return kn_job_put(run->set, KN_SET_REPORT, run->spec->report, &page, st, err);
}

static kn_status put_pages(kn_release_run *run, kn_error *err)
{
    KN_TRY(put_report(run, err));
    return kn_job_put_page(run->set, run->spec->public_report, run->facts, &run->seal, err);
}

/* ---- Streams ---- */

static kn_status copy_out(kn_release_run *run, kn_output *to, char *buffer, size_t size, kn_error *err)
{
    int fd = kn_output_fd(run->output);
    for (off_t at = 0;;) {
        ssize_t n = pread(fd, buffer, size, at);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return kn_fail(err, KN_IO, "the verified release cannot be read back: %s", strerror(errno));
        if (n == 0) return KN_OK;
        kn_output_write(to, buffer, (size_t)n);
        at += n;
    }
}

static kn_status commit_stream(kn_release_run *run, kn_error *err)
{
    enum { COPY = 1 << 18 };
    kn_output *to = NULL;
    char      *buffer = kn_alloc(run->ctx, COPY);
    if (!buffer) return kn_fail_memory(err, run->ctx, "writing the release");
    kn_status st = kn_output_open(&to, run->ctx, run->spec->output, NULL, err);
    if (st == KN_OK) st = copy_out(run, to, buffer, COPY, err);
    kn_free(buffer);
    if (st == KN_OK)
        st = kn_output_commit(to, err);
    else
        kn_output_abort(to);
    KN_TRY(st);
    KN_TRY(put_pages(run, err));
    KN_TRY(kn_set_commit(run->set, err));
    return kn_release_note(run, err, "the release went to a stream: no certificate%s was written",
                           run->spec->keep_rowmap ? ", private file or row map" : " or private file");
}

/* ---- Interface ---- */

kn_status kn_release_commit(kn_release_run *run, kn_error *err)
{
    KN_TRY(seal(run, err));
    if (!run->base) return commit_stream(run, err);
    KN_TRY(put_map(run, err));
    KN_TRY(put_private(run, err));
    KN_TRY(put_pages(run, err));
    KN_TRY(kn_job_put_certificate(run->set, run->facts, &run->seal, err));
    return kn_set_commit(run->set, err);
}

kn_status kn_release_report(kn_release_run *run, kn_error *err)
{
    kn_buffer page;
    if (!run->spec->report) return KN_OK;
    kn_buffer_init(&page, run->ctx);
    kn_status st = run->shape->report(&page, run, err);
    return kn_job_write_file(run->ctx, run->spec->report, 0600, &page, st, err);
}
