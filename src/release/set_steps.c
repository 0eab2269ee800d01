/* set_steps.c: putting a set of files in place step by step, and undoing it. Interface: kn_set_steps.h.
 *
 * Forward: old files that nothing replaces, the certificate among them, are set aside under their backups' names;
 * then the others are replaced, each after the old file got a second name, and the last comes last. Between these
 * three phases the folders are synced, so that a power failure keeps the order. Every step first checks whether it
 * was already taken, so that a killed run can be repeated from its beginning.
 *
 * Back: each old file gets its own name again, or the new one is removed where there was none; the certificate last.
 *
 * Nothing here follows a link at the end of a path: rename, link and unlink do not, and a file is opened only with
 * O_NOFOLLOW.
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE
#include "kn_set_steps.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_output_place.h"

/* ---- The list ---- */

static kn_status no_memory(const kn_set_steps *s, kn_error *err)
{
    return kn_fail_memory(err, s->ctx, "giving a release its names");
}

/* "FOLDER/.NAME.kanon-MARK.old"; a name is cut like those of temporary files. */
static char *backup_of(kn_context *ctx, const char *target, const char *mark)
{
    enum { KEPT = 200 };
    const char *name = strrchr(target, '/') + 1;
    size_t      room = strlen(target) + 24;
    char       *path = kn_alloc(ctx, room);
    if (path) snprintf(path, room, "%.*s.%.*s.kanon-%.6s.old", (int)(name - target), target, KEPT, name, mark);
    return path;
}

kn_status kn_set_steps_add(kn_set_steps *s, const char *temporary, const char *target, unsigned mode, uint64_t schema,
                           const char *mark, kn_error *err)
{
    struct stat  info = {0};
    kn_set_step *step = &s->list[s->count];
    if (s->count == KN_SET_STEPS) return kn_fail(err, KN_INTERNAL, "%s: too many files", s->name);
    if (temporary && lstat(temporary, &info) != 0)
        return kn_fail(err, KN_IO, "%s: the finished file is gone: %s", target, strerror(errno));
    *step = (kn_set_step){.mode = mode, .file = temporary ? info.st_ino : schema, .size = (uint64_t)info.st_size};
    s->count++;
    if (temporary) step->temporary = kn_strndup(s->ctx, temporary, strlen(temporary));
    if (target) step->target = kn_strndup(s->ctx, target, strlen(target));
    if (target) step->backup = backup_of(s->ctx, target, mark);
    bool ok = (!temporary || step->temporary) && (!target || (step->target && step->backup));
    return ok ? KN_OK : no_memory(s, err);
}

void kn_set_steps_free(kn_set_steps *s)
{
    for (int i = 0; i < s->count; i++) {
        kn_free(s->list[i].temporary);
        kn_free(s->list[i].target);
        kn_free(s->list[i].backup);
    }
    s->count = 0;
}

static bool is_new(const char *path, const kn_set_step *step)
{
    struct stat info;
    return lstat(path, &info) == 0 && info.st_ino == step->file &&
           (S_ISDIR(info.st_mode) || (uint64_t)info.st_size == step->size);
}

static bool is_there(const char *path)
{
    struct stat info;
    return lstat(path, &info) == 0;
}

bool kn_set_steps_ready(const kn_set_steps *s)
{
    for (int i = 0; i < s->count; i++) {
        const kn_set_step *step = &s->list[i];
        if (step->temporary && !is_new(step->temporary, step) && !is_new(step->target, step)) return false;
    }
    return s->count > 0;
}

bool kn_set_steps_done(const kn_set_steps *s)
{
    const kn_set_step *last = s->count > 0 ? &s->list[s->count - 1] : NULL;
    return last && last->target && is_new(last->target, last);
}

uint64_t kn_set_steps_schema(const kn_set_steps *s)
{
    for (int i = 0; i < s->count; i++)
        if (!s->list[i].target) return s->list[i].file;
    return 0;
}

/* ---- Forward ---- */

static kn_status fail(const kn_set_step *step, const char *what, kn_error *err)
{
    return kn_fail(err, KN_IO, "%s: %s: %s", step->target, what, strerror(errno));
}

static size_t folder_size(const char *path)
{
    return (size_t)(strrchr(path, '/') - path);
}

/* Each folder once, except where another comes in between. */
static kn_status sync_folders(const kn_set_steps *s, kn_error *err)
{
    const char *before = s->journal;
    if (!kn_place_sync(before))
        return kn_fail(err, KN_IO, "%s: its names may not outlast a power failure: %s", s->name, strerror(errno));
    for (int i = 0; i < s->count; i++) {
        const char *path = s->list[i].target;
        if (!path) continue;
        size_t size = folder_size(path);
        if (size == folder_size(before) && strncmp(path, before, size) == 0) continue;
        if (!kn_place_sync(path)) return fail(&s->list[i], "its name may not outlast a power failure", err);
        before = path;
    }
    return KN_OK;
}

/* The old file loses its name. */
static kn_status set_aside(const kn_set_step *step, kn_error *err)
{
    struct stat info;
    if (!step->target || lstat(step->target, &info) != 0 || S_ISDIR(info.st_mode) || is_new(step->target, step))
        return KN_OK;
    if (rename(step->target, step->backup) == 0) return KN_OK;
    return fail(step, "the file of an earlier release cannot be removed", err);
}

/* The old file gets a second name; on a file system without hard links it is renamed. */
static kn_status keep_old(const kn_set_step *step, kn_error *err)
{
    struct stat info;
    if (lstat(step->target, &info) != 0 || S_ISDIR(info.st_mode) || is_there(step->backup)) return KN_OK;
    if (link(step->target, step->backup) == 0 || rename(step->target, step->backup) == 0) return KN_OK;
    return fail(step, "the file of an earlier release cannot be kept", err);
}

/* Only files with their final name are readable by others. */
static kn_status open_to_others(const kn_set_step *step, kn_error *err)
{
    struct stat info;
    int         fd = open(step->target, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    bool        ok = fd >= 0 && fstat(fd, &info) == 0 && info.st_ino == step->file;
    ok = ok && ((info.st_mode & 07777) == step->mode || fchmod(fd, step->mode) == 0);
    int error = errno;
    if (fd >= 0) close(fd);
    errno = error;
    return ok ? KN_OK : fail(step, "cannot be given its permissions", err);
}

static kn_status put(const kn_set_step *step, kn_error *err)
{
    if (!step->temporary) return KN_OK;
    if (!is_new(step->target, step)) {
        KN_TRY(keep_old(step, err));
        if (rename(step->temporary, step->target) != 0)
            return fail(step, "the finished file cannot be given its name", err);
    }
    return open_to_others(step, err);
}

kn_status kn_set_steps_forward(const kn_set_steps *s, kn_set_commit_fn commit, void *arg, kn_error *err)
{
    const kn_set_step *last = &s->list[s->count - 1];
    if (kn_set_steps_done(s)) return open_to_others(last, err);
    KN_TRY(set_aside(last, err));
    for (int i = 0; i < s->count; i++)
        if (!s->list[i].temporary) KN_TRY(set_aside(&s->list[i], err));
    KN_TRY(sync_folders(s, err));
    for (int i = 0; i < s->count - 1; i++) {
        if (s->list[i].target) KN_TRY(put(&s->list[i], err));
        if (!s->list[i].target && commit) KN_TRY(commit(arg, err));
    }
    KN_TRY(sync_folders(s, err));
    KN_TRY(put(last, err));
    return sync_folders(s, err);
}

/* ---- Back ---- */

static kn_status put_back(const kn_set_step *step, kn_error *err)
{
    struct stat old, there;
    if (!step->target) return KN_OK;
    bool kept = lstat(step->backup, &old) == 0;
    if (kept && lstat(step->target, &there) == 0 && there.st_ino == old.st_ino) { /* it was not replaced yet */
        if (unlink(step->backup) != 0) return fail(step, "the file of an earlier release has a second name", err);
    } else if (kept && rename(step->backup, step->target) != 0) {
        return fail(step, "the file of an earlier release cannot be put back", err);
    } else if (!kept && step->temporary && is_new(step->target, step) && !kn_place_remove(step->target)) {
        return fail(step, "the new file cannot be removed", err);
    }
    if (step->temporary && is_new(step->temporary, step) && !kn_place_remove(step->temporary))
        return fail(step, "its temporary file cannot be removed", err);
    return KN_OK;
}

kn_status kn_set_steps_back(const kn_set_steps *s, kn_error *err)
{
    for (int i = 0; i < s->count - 1; i++) KN_TRY(put_back(&s->list[i], err));
    KN_TRY(sync_folders(s, err));
    if (s->count > 0) KN_TRY(put_back(&s->list[s->count - 1], err));
    KN_TRY(sync_folders(s, err));
    return kn_set_journal_remove(s, err);
}

kn_status kn_set_steps_finish(const kn_set_steps *s, kn_error *err)
{
    for (int i = 0; i < s->count; i++) {
        const kn_set_step *step = &s->list[i];
        if (step->backup && unlink(step->backup) != 0 && errno != ENOENT)
            return fail(step, "is complete, but the file of an earlier release cannot be removed", err);
    }
    return kn_set_journal_remove(s, err);
}
