/* shim.c: preloaded into the program under test, makes the n-th step of writing fail or end the process.
 *
 * A step is making a folder, opening a file for writing, write, pwrite, ftruncate, fsync, fdatasync, chmod, rename or the
 * close of a file that was written, each below the folder KANON_CRASH_UNDER. KANON_CRASH_AT says which one (from 1),
 * KANON_CRASH_HOW what happens: ENOSPC or EIO (the call fails), KILL (the process ends by SIGKILL before the call), INT
 * (SIGINT is raised, then the call goes on). When it happens the file KANON_CRASH_MARK appears, so that the test knows
 * when n was past the last step. Calls that take an offset are exported under the names they have with 64 bits, for they
 * are compiled like those of the program (and of SQLite).
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

/* glibc's own header knows these under other names too; what is exported here is what the program calls. */
#define EXPORT __attribute__((visibility("default")))
int     open(const char *path, int flags, ...);
ssize_t write(int fd, const void *data, size_t size);
ssize_t pwrite(int fd, const void *data, size_t size, off_t at);

static atomic_long steps;

static bool below(const char *path)
{
    const char *folder = getenv("KANON_CRASH_UNDER");
    return folder && path && strncmp(path, folder, strlen(folder)) == 0;
}

/* Is this descriptor something below the folder? */
static bool lies_below(int fd)
{
    char link[64], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, path, sizeof path - 1);
    path[n < 0 ? 0 : n] = '\0';
    return below(path);
}

/* And open for writing? */
static bool written(int fd)
{
    int flags = fcntl(fd, F_GETFL);
    return flags >= 0 && (flags & O_ACCMODE) != O_RDONLY && lies_below(fd);
}

/* Counts a step; true where it must fail, with errno set. The mark says which call it was. */
static bool fails(const char *call)
{
    const char *at = getenv("KANON_CRASH_AT"), *how = getenv("KANON_CRASH_HOW"), *mark = getenv("KANON_CRASH_MARK");
    if (!at || !how || atomic_fetch_add(&steps, 1) + 1 != atol(at)) return false;
    if (mark) {
        long fd = syscall(SYS_openat, AT_FDCWD, mark, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
        if (fd >= 0) syscall(SYS_write, fd, call, strlen(call));
        if (fd >= 0) syscall(SYS_close, fd);
    }
    if (strcmp(how, "KILL") == 0) raise(SIGKILL);
    if (strcmp(how, "INT") == 0) {
        raise(SIGINT);
        return false;
    }
    errno = strcmp(how, "EIO") == 0 ? EIO : ENOSPC;
    return true;
}

EXPORT int open(const char *path, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(args, mode_t) : 0;
    va_end(args);
    if ((flags & O_ACCMODE) != O_RDONLY && below(path) && fails("open")) return -1;
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

EXPORT int mkostemps(char *path, int suffix, int flags)
{
    int (*real)(char *, int, int) = NULL;
    *(void **)&real = dlsym(RTLD_NEXT, "mkostemps");
    if (below(path) && fails("mkostemps")) return -1;
    return real(path, suffix, flags);
}

EXPORT int mkostemp(char *path, int flags)
{
    return mkostemps(path, 0, flags);
}

EXPORT char *mkdtemp(char *path)
{
    char *(*real)(char *) = NULL;
    *(void **)&real = dlsym(RTLD_NEXT, "mkdtemp");
    if (below(path) && fails("mkdtemp")) return NULL;
    return real(path);
}

EXPORT ssize_t write(int fd, const void *data, size_t size)
{
    if (written(fd) && fails("write")) return -1;
    return syscall(SYS_write, fd, data, size);
}

EXPORT ssize_t pwrite(int fd, const void *data, size_t size, off_t at)
{
    if (written(fd) && fails("pwrite")) return -1;
    return syscall(SYS_pwrite64, fd, data, size, at);
}

EXPORT int ftruncate(int fd, off_t size)
{
    if (written(fd) && fails("ftruncate")) return -1;
    return (int)syscall(SYS_ftruncate, fd, size);
}

/* Folders are synced, and get their permissions, through read-only descriptors. */
EXPORT int fsync(int fd)
{
    if (lies_below(fd) && fails("fsync")) return -1;
    return (int)syscall(SYS_fsync, fd);
}

EXPORT int fdatasync(int fd)
{
    if (lies_below(fd) && fails("fdatasync")) return -1;
    return (int)syscall(SYS_fdatasync, fd);
}

EXPORT int fchmod(int fd, mode_t mode)
{
    if (lies_below(fd) && fails("fchmod")) return -1;
    return (int)syscall(SYS_fchmod, fd, mode);
}

EXPORT int chmod(const char *path, mode_t mode)
{
    if (below(path) && fails("chmod")) return -1;
    return (int)syscall(SYS_fchmodat, AT_FDCWD, path, mode);
}

EXPORT int rename(const char *from, const char *to)
{
    if (below(to) && fails("rename")) return -1;
    return (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

EXPORT int close(int fd)
{
    bool failed = written(fd) && fails("close");
    int  error = errno, result = (int)syscall(SYS_close, fd); /* the descriptor is gone even where close fails */
    if (!failed) return result;
    errno = error;
    return -1;
}
