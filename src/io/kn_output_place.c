/* kn_output_place.c: who owns the links that lead to an output, and the temporary files around it?
 *
 * Links. In a folder like /tmp anybody may plant a link with the name that somebody is about to write to. Linux
 * refuses to follow it (fs.protected_symlinks), but an output's path is resolved here, by reading the links, and not
 * every system has that setting. The rule is Linux's.
 *
 * Leftovers. Every temporary file (".NAME.kanon-XXXXXX.tmp", made by kn_output.c) and folder (".NAME.kanon-XXXXXX",
 * made by kn_folder_write.c) is locked with flock by the run that makes it, until it has its name or is removed; the
 * system releases the lock when the run ends, however it ends. What can be locked therefore belongs to no running
 * process. Between creation and locking a file can be mistaken for a leftover: so its maker checks, once it is
 * locked, whether it still exists. On network file systems a lock may be invisible to other machines: nothing is
 * removed there.
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE
#include "kn_output_place.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "kn_alloc.h"
#include "kn_error.h"

/* ---- Links ---- */

enum { MOST_LINKS = 40 };

typedef struct following {
    kn_context *ctx;
    const char *asked; /* for messages */
    int         links;
} following;

static kn_status follow(following *f, const char *path, kn_error *err);

/* Does the link at `path` belong to another user, in a folder where anybody may create one? The folder is everything
 * up to the last slash. */
static bool is_strange(char *path, const struct stat *link)
{
    struct stat folder;
    char       *name = strrchr(path, '/') + 1, first = *name;
    *name = '\0';
    bool known = stat(path, &folder) == 0;
    *name = first;
    bool shared = known && (folder.st_mode & S_ISVTX) && (folder.st_mode & (S_IWOTH | S_IWGRP));
    return shared && link->st_uid != geteuid() && link->st_uid != folder.st_uid;
}

/* `path` is absolute and a link. */
static kn_status follow_link(following *f, char *path, const struct stat *link, kn_error *err)
{
    if (is_strange(path, link))
        return kn_fail(err, KN_IO,
                       "%s: a symbolic link of another user leads there, from a folder where anybody can create one",
                       f->asked);
    if (++f->links > MOST_LINKS) return KN_OK; /* the system gives a better message */
    char   *target = kn_alloc(f->ctx, 2 * PATH_MAX);
    ssize_t size = 0;
    if (!target) return kn_fail_memory(err, f->ctx, "opening the output");
    size_t folder = (size_t)(strrchr(path, '/') + 1 - path);
    memcpy(target, path, folder);
    size = readlink(path, target + folder, PATH_MAX - 1);
    kn_status st = KN_OK;
    if (size > 0) {
        target[folder + (size_t)size] = '\0';
        st = follow(f, target[folder] == '/' ? target + folder : target, err);
    }
    kn_free(target);
    return st;
}

/* Checks every prefix of an absolute path that ends before a slash, and the whole. */
static kn_status follow(following *f, const char *path, kn_error *err)
{
    size_t size = strlen(path);
    if (size >= PATH_MAX) return KN_OK;
    char *part = kn_strndup(f->ctx, path, size);
    if (!part) return kn_fail_memory(err, f->ctx, "opening the output");
    kn_status st = KN_OK;
    for (size_t end = 1; end <= size && st == KN_OK; end++) {
        struct stat info;
        if (path[end] != '/' && path[end] != '\0') continue;
        if (path[end - 1] == '/') continue;
        part[end] = '\0';
        bool there = lstat(part, &info) == 0;
        if (there && S_ISLNK(info.st_mode)) st = follow_link(f, part, &info, err);
        part[end] = path[end];
        if (!there) break;
    }
    kn_free(part);
    return st;
}

kn_status kn_place_check_links(kn_context *ctx, const char *path, kn_error *err)
{
    following f = {.ctx = ctx, .asked = path};
    if (path[0] == '/') return follow(&f, path, err);
    char *full = kn_alloc(ctx, PATH_MAX + strlen(path) + 2);
    if (!full) return kn_fail_memory(err, ctx, "opening the output");
    kn_status st = KN_OK;
    if (getcwd(full, PATH_MAX)) {
        size_t size = strlen(full);
        full[size] = '/';
        strcpy(full + size + 1, path);
        st = follow(&f, full, err);
    }
    kn_free(full);
    return st;
}

/* ---- Names ---- */

bool kn_place_sync(const char *path)
{
    char        folder[PATH_MAX] = ".";
    const char *slash = strrchr(path, '/');
    if (slash) {
        size_t size = slash == path ? 1 : (size_t)(slash - path);
        if (size >= sizeof folder) return true;
        memcpy(folder, path, size);
        folder[size] = '\0';
    }
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return true;
    bool synced = fsync(fd) == 0 || errno == EINVAL || errno == ENOTSUP;
    int  error = errno;
    close(fd);
    errno = error;
    return synced;
}

/* ---- Leftovers ---- */

bool kn_place_claim(int fd, const char *temporary)
{
    struct stat ours, there;
    while (flock(fd, LOCK_EX) != 0 && errno == EINTR) continue; /* without locks nothing is removed either */
    return fstat(fd, &ours) != 0 ||
           (lstat(temporary, &there) == 0 && there.st_dev == ours.st_dev && there.st_ino == ours.st_ino);
}

/* ".NAME[.something].kanon-XXXXXX", followed by ".tmp": a file; by ".old": one that was replaced. */
static bool is_temporary(const char *entry, const char *name, size_t keep, bool *file)
{
    static const char mark[] = ".kanon-";
    if (entry[0] != '.' || strncmp(entry + 1, name, keep) != 0 || entry[1 + keep] != '.') return false;
    const char *at = NULL;
    for (const char *c = entry + 1 + keep; (c = strstr(c, mark)) != NULL; c++) at = c;
    if (!at) return false;
    at += sizeof mark - 1;
    for (int i = 0; i < 6; i++, at++)
        if (!isalnum((unsigned char)*at)) return false;
    *file = strcmp(at, ".tmp") == 0 || strcmp(at, ".old") == 0;
    return *file || *at == '\0';
}

/* Is there a journal of a release that the file may belong to? For ".a.b.kanon-XXXXXX.tmp": of "a" or of "a.b". */
static bool is_journaled(int folder, const char *entry)
{
    char name[NAME_MAX + sizeof KN_JOURNAL_ENDING];
    for (size_t i = 1; entry[i]; i++) {
        struct stat info;
        if (entry[i] != '.') continue;
        memcpy(name, entry, i);
        strcpy(name + i, KN_JOURNAL_ENDING);
        if (fstatat(folder, name, &info, AT_SYMLINK_NOFOLLOW) == 0) return true;
    }
    return false;
}

/* Files that SQLite may have beside its own while a statement runs. */
static void remove_journals(int folder, const char *file)
{
    static const char *const endings[] = {"-journal", "-wal", "-shm"};
    char                     name[NAME_MAX + 16];
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        size_t size = strlen(file);
        memcpy(name, file, size);
        strcpy(name + size, endings[i]);
        (void)unlinkat(folder, name, 0);
    }
}

/* It contains only files. */
static void remove_content(int fd)
{
    int  copy = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    DIR *dir = copy < 0 ? NULL : fdopendir(copy);
    if (!dir && copy >= 0) close(copy);
    if (!dir) return;
    for (struct dirent *e; (e = readdir(dir)) != NULL;) (void)unlinkat(fd, e->d_name, 0);
    closedir(dir);
}

bool kn_place_remove(const char *path)
{
    if (unlink(path) == 0 || errno == ENOENT) return true;
    if (errno != EISDIR) return false;
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) return false;
    remove_content(fd);
    close(fd);
    return rmdir(path) == 0;
}

static void remove_unclaimed(int folder, const char *entry, bool file)
{
    struct stat info, there;
    int         fd = openat(folder, entry, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | (file ? 0 : O_DIRECTORY));
    if (fd < 0) return;
    if (fstat(fd, &info) == 0 && (file ? S_ISREG(info.st_mode) : S_ISDIR(info.st_mode)) && info.st_uid == geteuid() &&
        flock(fd, LOCK_EX | LOCK_NB) == 0 && fstatat(folder, entry, &there, AT_SYMLINK_NOFOLLOW) == 0 &&
        there.st_dev == info.st_dev && there.st_ino == info.st_ino) {
        if (!file) remove_content(fd);
        if (unlinkat(folder, entry, file ? 0 : AT_REMOVEDIR) == 0 && file) remove_journals(folder, entry);
    }
    close(fd);
}

/* May another machine have a run there whose locks are invisible here? */
static bool is_remote(int fd)
{
    static const unsigned long remote[] = {0x6969,     0x517B,     0xFF534D42, 0xFE534D42, 0x01021997,
                                           0x65735546, 0x5346414F, 0x73757245, 0x00C36400, 0x47504653};
    struct statfs              info;
    if (fstatfs(fd, &info) != 0) return true;
    for (size_t i = 0; i < sizeof remote / sizeof *remote; i++)
        if (((unsigned long)info.f_type & 0xFFFFFFFF) == remote[i]) return true;
    return false;
}

void kn_place_clean(const char *folder, const char *name, size_t keep)
{
    int  fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd < 0 || is_remote(fd) ? NULL : fdopendir(fd);
    if (!dir && fd >= 0) close(fd);
    if (!dir) return;
    for (struct dirent *e; (e = readdir(dir)) != NULL;) {
        bool file = false;
        if (is_temporary(e->d_name, name, keep, &file) && !is_journaled(dirfd(dir), e->d_name))
            remove_unclaimed(dirfd(dir), e->d_name, file);
    }
    closedir(dir);
}

kn_status kn_place_folder(char **temporary, int *fd, kn_context *ctx, const char *path, kn_error *err)
{
    enum { KEPT = 100 };
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    size_t      folder = (size_t)(name - path), keep = strnlen(name, KEPT);
    char       *made = kn_alloc(ctx, folder + keep + sizeof "...kanon-XXXXXX");
    *temporary = NULL;
    *fd = -1;
    if (!made) return kn_fail_memory(err, ctx, "writing a folder");
    snprintf(made, folder + 2, "%.*s", folder ? (int)folder : 1, folder ? path : ".");
    kn_place_clean(made, name, keep);
    bool there = false;
    do { /* again if another run took it for a leftover before it was claimed    */
        if (*fd >= 0) close(*fd);
        sprintf(made + folder, ".%.*s.kanon-XXXXXX", (int)keep, name);
        there = mkdtemp(made) != NULL;
        *fd = there ? open(made, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    } while (*fd >= 0 && !kn_place_claim(*fd, made));
    *temporary = made;
    if (*fd >= 0) return KN_OK;
    kn_status st = kn_fail(err, KN_IO, "%s: cannot be written: %s", path, strerror(errno));
    if (there) (void)rmdir(made);
    kn_free(made);
    *temporary = NULL;
    return st;
}
