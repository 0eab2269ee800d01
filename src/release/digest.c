/* digest.c: SHA-256 of files on a separate thread, which costs no time if a processor is idle. See kn_digest.h.
 *
 * SHA-256 of one file cannot be split; at some 1.4 GB/s it takes as long as reading the table on two threads. If no
 * thread can be started the files are read in kn_digest_wait.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_digest.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "kn_alloc.h"
#include "kn_beside.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_memory.h"
#include "kn_sha256.h"

enum { PIECE = 1 << 18 };

struct kn_digest_job {
    kn_context        *ctx;
    const char *const *paths;
    int                count;
    kn_beside          beside;
    atomic_bool        stop;
    int                failed; /* path that could not be read; -1: none */
    int                error;
    unsigned char     *piece;
    const char       **texts;
    char (*digits)[KN_DIGEST_TEXT];
};

/* 0, or errno. */
static int digest_file(kn_digest_job *job, const char *path, char digits[KN_DIGEST_TEXT])
{
    kn_sha256 state;
    int       fd = open(kn_memory_path(job->ctx, path), O_RDONLY | O_CLOEXEC), error = 0;
    if (fd < 0) return errno;
    kn_sha256_begin(&state);
    while (error == 0 && !atomic_load(&job->stop)) {
        ssize_t n = read(fd, job->piece, PIECE);
        if (n == 0) break;
        if (n > 0) kn_sha256_add(&state, job->piece, (size_t)n);
        if (n < 0 && errno != EINTR) error = errno;
    }
    kn_sha256_text(&state, digits);
    close(fd);
    return error;
}

static void run(void *arg)
{
    kn_digest_job *job = arg;
    for (int i = 0; i < job->count && job->failed < 0 && !atomic_load(&job->stop); i++) {
        job->error = digest_file(job, job->paths[i], job->digits[i]);
        if (job->error) job->failed = i;
    }
}

kn_status kn_digest_start(kn_digest_job **out, kn_context *ctx, const char *const *paths, int count, kn_error *err)
{
    *out = NULL;
    kn_digest_job *job = kn_alloc_zero(ctx, sizeof *job);
    if (!job) return kn_fail_memory(err, ctx, "digests of the inputs");
    job->ctx = ctx;
    job->paths = paths;
    job->count = count;
    job->failed = -1;
    job->piece = kn_alloc(ctx, PIECE);
    job->texts = kn_alloc_array(ctx, (size_t)count, sizeof *job->texts);
    job->digits = kn_alloc_array_zero(ctx, (size_t)count, sizeof *job->digits);
    if (!job->piece || !job->texts || !job->digits) {
        kn_digest_free(job);
        return kn_fail_memory(err, ctx, "digests of the inputs");
    }
    for (int i = 0; i < count; i++) job->texts[i] = job->digits[i];
    kn_beside_start(&job->beside, ctx, run, job);
    *out = job;
    return KN_OK;
}

kn_status kn_digest_wait(kn_digest_job *job, const char *const **texts, kn_error *err)
{
    kn_beside_end(&job->beside);
    *texts = job->texts;
    if (job->failed < 0) return KN_OK;
    return kn_fail(err, KN_IO, "%s: cannot be read: %s", job->paths[job->failed], strerror(job->error));
}

void kn_digest_free(kn_digest_job *job)
{
    if (!job) return;
    atomic_store(&job->stop, true);
    kn_beside_end(&job->beside); /* at its next piece */
    kn_free(job->piece);
    kn_free(job->texts);
    kn_free(job->digits);
    kn_free(job);
}
