/* beside.c: kn_beside.h. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "kn_beside.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "kn_alloc.h"
#include "kn_error.h"

static char *join(kn_context *ctx, const char *base, const char *suffix)
{
    size_t room = strlen(base) + strlen(suffix) + 1;
    char  *path = kn_alloc(ctx, room);
    if (path) snprintf(path, room, "%s%s", base, suffix);
    return path;
}

kn_status kn_beside_take(kn_beside *b, kn_context *ctx, kn_output *output, const char *base, const char *suffix,
                         kn_error *err)
{
    b->output = output;
    b->path = join(ctx, base, suffix);
    if (!b->path) return kn_fail_memory(err, ctx, "writing beside the release");
    if (kn_output_is_stream(output) || fstat(kn_output_fd(output), &b->file) != 0)
        return kn_fail(err, KN_USAGE, "%s: exists and is not a file", b->path);
    return KN_OK;
}

kn_status kn_beside_open(kn_beside *b, kn_context *ctx, const char *base, const char *suffix, unsigned mode,
                         kn_error *err)
{
    kn_output *output = NULL;
    char      *path = join(ctx, base, suffix);
    if (!path) return kn_fail_memory(err, ctx, "writing beside the release");
    kn_status st = kn_output_open(&output, ctx, path, &(kn_output_options){.mode = mode}, err);
    kn_free(path);
    return st == KN_OK ? kn_beside_take(b, ctx, output, base, suffix, err) : st;
}

kn_status kn_settle(kn_output *output, const char *path, kn_error *err)
{
    KN_TRY(kn_output_flush(output, err));
    if (fsync(kn_output_fd(output)) != 0 && errno != EINVAL)
        return kn_fail(err, KN_IO, "%s: writing failed: %s", path, strerror(errno));
    return KN_OK;
}

kn_status kn_beside_settle(const kn_beside *b, kn_error *err)
{
    return b->output ? kn_settle(b->output, b->path, err) : KN_OK;
}

kn_status kn_beside_commit(kn_beside *b, kn_error *err)
{
    kn_output *output = b->output;
    b->output = NULL;
    return output ? kn_output_commit(output, err) : KN_OK;
}

bool kn_has_name(const char *path, const struct stat *file)
{
    struct stat now;
    return path && stat(path, &now) == 0 && now.st_dev == file->st_dev && now.st_ino == file->st_ino;
}

void kn_beside_end(kn_beside *b, bool back)
{
    kn_output_abort(b->output);
    if (back && kn_has_name(b->path, &b->file)) unlink(b->path);
    kn_free(b->path);
    *b = (kn_beside){0};
}

kn_status kn_beside_before(kn_beside *b, kn_context *ctx, const char *path, kn_error *err)
{
    b->path = join(ctx, path, "");
    if (!b->path) return kn_fail_memory(err, ctx, "writing beside the release");
    if (stat(path, &b->file) != 0) b->file = (struct stat){0};
    return KN_OK;
}

void kn_beside_after(kn_beside *b)
{
    struct stat now;
    if (b->path && stat(b->path, &now) == 0 && S_ISREG(now.st_mode) && !kn_has_name(b->path, &b->file)) {
        b->file = now;
        return;
    }
    kn_free(b->path); /* a stream, or nothing new */
    b->path = NULL;
}

void kn_beside_remove(kn_context *ctx, const char *base, const char *suffix)
{
    char *path = join(ctx, base, suffix);
    if (path) unlink(path);
    kn_free(path);
}
