/* commit.c: the last stages of every release (kn_shape.h): what stands beside it, and the names of all of it.
 *
 * The release is verified and lies under a temporary name. What stands beside it is written and handed to the disk under
 * temporary names, too; only renames are left then, in this order:
 *
 *     row map, private file, summary, certificate, owner's report, public report, release
 *
 * so whoever sees the new release sees its certificate; in a folder the certificate is one of its files. A run that is
 * killed between two renames leaves the old release (or none), byte for byte; the certificate and the private file beside it
 * may then be those of the release that did not come, which shows: both hold the SHA-256 of the release they belong to. A
 * run that fails there takes back what it has renamed. A row map of the release that was replaced is removed last, if the
 * new one is not kept.
 *
 * Standard output, a pipe or a device cannot be taken back: the release was verified in a file without a name and is copied.
 * Nothing stands beside a stream, so there is no certificate; a note says so.
 */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kn_alloc.h"
#include "kn_beside.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_job_publish.h"
#include "kn_shape.h"
#include "kn_summary.h"

enum { ROWMAP, PRIVATE, SUMMARY, CERTIFICATE, REPORT, PAGE, BESIDE };

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

static kn_status write_private(kn_release_run *run, kn_output *to, kn_error *err)
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
                                   .digests = s->digests};
    if (run->originals.digests) KN_TRY(kn_digest_wait(run->originals.digests, &input.input_digests, err));
    run->shape->describe(run, &input);
    kn_buffer text;
    kn_buffer_init(&text, run->ctx);
    kn_status st = kn_private_render(&text, &input, err);
    if (st == KN_OK) kn_output_write(to, text.data, text.size);
    kn_buffer_free(&text);
    return st;
}

static kn_status write_beside(kn_release_run *run, kn_beside *all, kn_error *err)
{
    const char *folder = run->seal.folder ? run->shape->written(run) : NULL;
    KN_TRY(seal(run, err));
    if (run->spec->keep_rowmap) {
        KN_TRY(kn_beside_open(&all[ROWMAP], run->ctx, run->base, KN_ROWMAP_SUFFIX, 0600, err));
        KN_TRY(run->shape->map(run, all[ROWMAP].output, err));
    }
    if (run->summary) { /* it was written while the plan was there */
        kn_output *summary = run->summary;
        run->summary = NULL;
        KN_TRY(kn_beside_take(&all[SUMMARY], run->ctx, summary, run->base, KN_SUMMARY_SUFFIX, err));
    }
    KN_TRY(kn_beside_open(&all[PRIVATE], run->ctx, run->base, KN_PRIVATE_SUFFIX, 0600, err));
    KN_TRY(kn_beside_open(&all[CERTIFICATE], run->ctx, folder ? folder : run->base,
                          folder ? "/certificate.json" : KN_CERTIFICATE_SUFFIX, 0, err));
    KN_TRY(write_private(run, all[PRIVATE].output, err));
    KN_TRY(kn_job_certificate(all[CERTIFICATE].output, run->facts, &run->seal, err));
    for (int i = 0; i < BESIDE; i++) KN_TRY(kn_beside_settle(&all[i], err));
    return KN_OK;
}

/* Pages may go to streams; they are written as a whole by themselves. */
static kn_status write_pages(kn_release_run *run, kn_beside *all, kn_error *err)
{
    const char *report = run->spec->report, *page = run->spec->public_report;
    kn_status   st = KN_OK;
    if (report) {
        KN_TRY(kn_beside_before(&all[REPORT], run->ctx, report, err));
        st = run->shape->report(run, report, err);
        kn_beside_after(&all[REPORT]);
    }
    if (page && st == KN_OK) {
        KN_TRY(kn_beside_before(&all[PAGE], run->ctx, page, err));
        st = kn_job_public_page(page, run->facts, &run->seal, err);
        kn_beside_after(&all[PAGE]);
    }
    return st;
}

/* ---- Names ---- */

/* Hands the release to the disk; which file is it? `*known`: it is one, or a folder. */
static kn_status settle_release(kn_release_run *run, struct stat *file, bool *known, kn_error *err)
{
    const char *written = run->output ? NULL : run->shape->written(run);
    *known = written && stat(written, file) == 0;
    if (!run->output) return KN_OK;
    KN_TRY(kn_settle(run->output, run->base, err));
    if (fstat(kn_output_fd(run->output), file) != 0)
        return kn_fail(err, KN_IO, "%s: writing failed: %s", run->base, strerror(errno));
    *known = true;
    return KN_OK;
}

static kn_status name_release(kn_release_run *run, kn_error *err)
{
    kn_output *output = run->output;
    run->output = NULL;
    return output ? kn_output_commit(output, err) : run->shape->commit(run, err);
}

static kn_status commit_files(kn_release_run *run, kn_error *err)
{
    kn_beside   all[BESIDE] = {{0}};
    struct stat release = {0};
    bool        known = false;
    kn_status   st = settle_release(run, &release, &known, err);
    if (st == KN_OK) st = write_beside(run, all, err);
    if (st == KN_OK && kn_cancelled(run->ctx)) st = kn_fail_cancelled(err);
    for (int i = 0; i <= CERTIFICATE && st == KN_OK; i++) st = kn_beside_commit(&all[i], err);
    if (st == KN_OK) st = write_pages(run, all, err);
    if (st == KN_OK) st = name_release(run, err);
    /* What failed may be the last sync of the folder: a release that has its name keeps what stands beside it. */
    bool back = st != KN_OK && !(known && kn_has_name(run->base, &release));
    for (int i = 0; i < BESIDE; i++) kn_beside_end(&all[i], back);
    if (st != KN_OK) return st;
    if (!run->spec->keep_rowmap) kn_beside_remove(run->ctx, run->base, KN_ROWMAP_SUFFIX);
    if (!run->spec->summary && kn_spec_shape(run->spec) == KN_SHAPE_TABLE)
        kn_beside_remove(run->ctx, run->base, KN_SUMMARY_SUFFIX);
    return KN_OK;
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
    kn_beside  all[BESIDE] = {{0}};
    char      *buffer = kn_alloc(run->ctx, COPY);
    if (!buffer) return kn_fail_memory(err, run->ctx, "writing the release");
    kn_status st = seal(run, err);
    if (st == KN_OK) st = kn_output_open(&to, run->ctx, run->spec->output, NULL, err);
    if (st == KN_OK) st = copy_out(run, to, buffer, COPY, err);
    kn_free(buffer);
    if (st == KN_OK)
        st = kn_output_commit(to, err);
    else
        kn_output_abort(to);
    if (st == KN_OK) st = write_pages(run, all, err);
    for (int i = 0; i < BESIDE; i++) kn_beside_end(&all[i], false);
    if (st != KN_OK) return st;
    return kn_release_note(run, err, "the release went to a stream: no certificate%s was written",
                           run->spec->keep_rowmap ? ", private file or row map" : " or private file");
}

/* ---- Interface ---- */

kn_status kn_release_commit(kn_release_run *run, kn_error *err)
{
    return run->base ? commit_files(run, err) : commit_stream(run, err);
}

kn_status kn_release_report(kn_release_run *run, kn_error *err)
{
    return run->spec->report ? run->shape->report(run, run->spec->report, err) : KN_OK;
}
