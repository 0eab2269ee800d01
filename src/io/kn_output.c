/* kn_output.c: files that appear whole or not at all, streams, and pieces made in parallel.
 *
 * A file: ".NAME.kanon-XXXXXX.tmp" beside the target, created exclusively with mode 0600; commit is flush, fsync,
 * rename, chmod, fsync of the folder, so that a temporary file is never open to others. The path is made absolute
 * first, so that a later chdir does no harm; a symbolic link is followed, so that its target is replaced and not the
 * link, unless another user may have planted it. A run that is killed leaves the temporary file, which the next run
 * removes (kn_output_place.c).
 *
 * A stream: SIGPIPE is blocked around writes and consumed if it was raised, since a library must not end its host.
 * Writes to pipes and terminals wait with poll and do not block, so that cancelling works while a reader sleeps.
 *
 * Pieces of a file are written by all threads, each at its place (pwrite): between the first piece and the last there may be
 * holes in a temporary file, never in one that is whole. Elsewhere one thread writes them in order.
 *
 * Cost: one copy through a 256 KiB buffer; larger writes go straight through. Limits: owner, links and extended
 * attributes of a replaced file are not carried over.
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE
#include "kn_output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "kn_alloc.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_memory.h"
#include "kn_names.h"
#include "kn_output_place.h"
#include "kn_parallel.h"

enum { BUFFER_SIZE = 1 << 18, MAX_NAME_KEPT = 200, POLL_MS = 100, TEMPORARY = 32 };

struct kn_output {
    kn_context        *ctx;
    char              *path;      /* as the user gave it, or "standard output": for messages    */
    char              *target;    /* absolute; NULL for a stream                                */
    char              *temporary; /* absolute; NULL for a stream, and once it has been renamed  */
    int                fd;
    bool               owned;   /* fd is ours to close                                          */
    bool               patient; /* may block for long: wait with poll                           */
    mode_t             mode;
    bool               memory;  /* the target is a name in memory (kn_memory.h)                 */
    bool               held;    /* ... of an object, and so is the temporary path               */
    kn_alias           alias;   /* of the temporary path of one, for messages                   */
    kn_memory_promise *promise; /* of the target's name                                 */
    int                error;   /* errno of the first failed write; ECANCELED: cancelled; 0: none */
    uint64_t           size;
    kn_output_consumer consumer; /* `take` NULL: there is none                                  */
    kn_status          refused;  /* by it, and why                                              */
    kn_error           why;
    size_t             used; /* bytes in the buffer */
    char               buffer[BUFFER_SIZE];
};

/* ---- Opening ---- */

/* Moves a descriptor beyond 0, 1 and 2: if the caller closed one of them, it must not become our file. */
static int above_standard(int fd)
{
    if (fd < 0 || fd > 2) return fd;
    int moved = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    int saved = errno;
    close(fd);
    errno = saved;
    return moved;
}

/* umask() can only be read by changing it for all threads, so it is read from /proc; if that fails, files stay
 * private. */
unsigned kn_output_umask(void)
{
    char    text[4096];
    int     fd = above_standard(open("/proc/self/status", O_RDONLY | O_CLOEXEC));
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (fd >= 0) close(fd);
    text[n < 0 ? 0 : n] = '\0';
    const char *line = strstr(text, "\nUmask:");
    return line ? (unsigned)strtoul(line + 7, NULL, 8) : 077;
}

static kn_status open_stream(kn_output *o, int fd, bool owned, kn_error *err)
{
    struct stat info;
    o->fd = fd;
    o->owned = owned;
    if (fd < 0 || fstat(fd, &info) != 0)
        return kn_fail(err, KN_IO, "%s: cannot be written: %s", o->path, strerror(errno));
    o->patient = !S_ISREG(info.st_mode);
    return KN_OK;
}

/* Sets the target: the absolute path of the file to make. Needs the folder to exist. The name itself is followed if
 * it is a link; if it becomes one later, it is replaced. */
static kn_status resolve(kn_output *o, bool is_link, kn_error *err)
{
    const char *slash = strrchr(o->path, '/');
    const char *name = slash ? slash + 1 : o->path;
    size_t      length = strlen(name);
    char       *full = kn_alloc(o->ctx, PATH_MAX + 1 + length + 1);
    char       *folder = slash ? kn_strndup(o->ctx, o->path, (size_t)(slash - o->path) + 1) : NULL;
    o->target = full;
    if (!full || (slash && !folder)) {
        kn_free(folder);
        return kn_fail_memory(err, o->ctx, "opening the output");
    }
    bool found = realpath(is_link ? o->path : slash ? folder : ".", full) != NULL;
    int  error = errno;
    kn_free(folder);
    if (!found)
        return kn_fail(
            err, KN_IO, "%s: its folder %s%s", o->path,
            error == ENOENT ? "does not exist" : "cannot be reached: ", error == ENOENT ? "" : strerror(error));
    if (is_link) return KN_OK;
    size_t at = strlen(full);
    if (full[at - 1] != '/') full[at++] = '/';
    memcpy(full + at, name, length + 1);
    return KN_OK;
}

/* Creates ".NAME.kanon-XXXXXX.tmp" in the target's folder. */
static kn_status create_temporary(kn_output *o, kn_error *err)
{
    char  *name = strrchr(o->target, '/') + 1;
    size_t keep = strlen(name), folder = (size_t)(name - o->target);
    if (keep > MAX_NAME_KEPT) /* a file name ends at 255 bytes; cut between characters */
        for (keep = MAX_NAME_KEPT; keep > 0 && ((unsigned char)name[keep] & 0xC0) == 0x80;) keep--;
    static const char ending[] = ".kanon-XXXXXX.tmp";
    o->temporary = kn_alloc(o->ctx, folder + 1 + keep + sizeof ending);
    if (!o->temporary) return kn_fail_memory(err, o->ctx, "opening the output");
    sprintf(o->temporary, "%.*s", (int)folder, o->target);
    kn_place_clean(o->temporary, name, keep);
    o->owned = true;
    do { /* again if another run took it for a leftover before it was claimed    */
        if (o->fd >= 0) close(o->fd);
        sprintf(o->temporary + folder, ".%.*s%s", (int)keep, name, ending);
        o->fd = above_standard(mkostemps(o->temporary, 4, O_CLOEXEC));
    } while (o->fd >= 0 && !kn_place_claim(o->fd, o->temporary));
    if (o->fd >= 0) return KN_OK;
    kn_status st = kn_fail(err, KN_IO, "%s: cannot be created: %s", o->path, strerror(errno));
    kn_free(o->temporary);
    o->temporary = NULL;
    return st;
}

static kn_status open_file(kn_output *o, const struct stat *existing, kn_error *err)
{
    const char *slash = strrchr(o->path, '/');
    if (slash && slash[1] == '\0') return kn_fail(err, KN_USAGE, "%s: is the name of a folder", o->path);
    struct stat link;
    bool        is_link = lstat(o->path, &link) == 0 && S_ISLNK(link.st_mode);
    if (!existing && is_link) return kn_fail(err, KN_IO, "%s: is a symbolic link that leads nowhere", o->path);
    KN_TRY(resolve(o, is_link, err));
    if (o->mode == 0) o->mode = existing ? existing->st_mode & 0777 : 0666 & ~kn_output_umask();
    return create_temporary(o, err);
}

static kn_status open_memory(kn_output *o, kn_error *err)
{
    o->memory = o->owned = true;
    o->target = kn_strndup(o->ctx, o->path, strlen(o->path));
    o->temporary = kn_alloc(o->ctx, TEMPORARY);
    if (!o->target || !o->temporary) return kn_fail_memory(err, o->ctx, "opening the output");
    o->fd = kn_memory_file();
    if (o->fd < 0) return kn_fail(err, KN_IO, "%s: cannot be created: %s", o->path, strerror(errno));
    snprintf(o->temporary, TEMPORARY, "/proc/self/fd/%d", o->fd);
    o->alias = (kn_alias){.path = o->temporary, .name = o->path};
    kn_alias_add(o->ctx, &o->alias);
    return KN_OK;
}

static kn_status open_path(kn_output *o, kn_error *err)
{
    struct stat info;
    KN_TRY(kn_place_check_links(o->ctx, o->path, err));
    if (stat(o->path, &info) != 0) {
        if (errno == ENOTDIR) return kn_fail(err, KN_IO, "%s: a part of this path is a file, not a directory", o->path);
        if (errno != ENOENT) return kn_fail(err, KN_IO, "%s: cannot be written: %s", o->path, strerror(errno));
        return open_file(o, NULL, err);
    }
    if (S_ISDIR(info.st_mode)) return kn_fail(err, KN_USAGE, "%s: is a folder, not a file", o->path);
    if (S_ISREG(info.st_mode)) return open_file(o, &info, err);
    return open_stream(o, above_standard(open(o->path, O_WRONLY | O_CLOEXEC | O_NOCTTY)), true, err);
}

kn_status kn_output_open(kn_output **out, kn_context *ctx, const char *path, const kn_output_options *options,
                         kn_error *err)
{
    *out = NULL;
    if (!path || path[0] == '\0') return kn_fail(err, KN_USAGE, "the output has no name");
    if (kn_name_server(path)) return kn_fail(err, KN_USAGE, "%s: is a database of a server, not a file", path);
    kn_output *o = kn_alloc(ctx, sizeof *o);
    if (!o) return kn_fail_memory(err, ctx, "opening the output");
    memset(o, 0, offsetof(kn_output, buffer));
    o->ctx = ctx;
    o->fd = -1;
    o->mode = options ? (mode_t)(options->mode & 07777) : 0;
    bool        standard = strcmp(path, "-") == 0;
    const char *called = standard ? "standard output" : path;
    o->path = kn_strndup(ctx, called, strlen(called));
    kn_status st = KN_OK;
    if (!o->path) {
        st = kn_fail_memory(err, ctx, "opening the output");
    } else if (standard) {
        fflush(stdout); /* what the program printed earlier comes first */
        st = open_stream(o, STDOUT_FILENO, false, err);
    } else if (kn_memory_is(ctx, path)) {
        st = open_memory(o, err);
    } else {
        st = open_path(o, err);
    }
    if (st != KN_OK) {
        kn_output_abort(o);
        return st;
    }
    *out = o;
    return KN_OK;
}

kn_status kn_output_open_consumer(kn_output **out, kn_context *ctx, const char *path, kn_output_consumer consumer,
                                  kn_error *err)
{
    kn_output *o = kn_alloc(ctx, sizeof *o);
    *out = NULL;
    if (!o) return kn_fail_memory(err, ctx, "opening the output");
    memset(o, 0, offsetof(kn_output, buffer));
    o->ctx = ctx;
    o->fd = -1;
    o->consumer = consumer;
    o->path = kn_strndup(ctx, path, strlen(path));
    o->temporary = kn_strndup(ctx, path, strlen(path));
    o->target = kn_strndup(ctx, path, strlen(path));
    if (o->path && o->temporary && o->target) {
        *out = o;
        return KN_OK;
    }
    kn_output_abort(o);
    return kn_fail_memory(err, ctx, "opening the output");
}

/* ---- Writing ---- */

/* Waits until a write of PIPE_BUF bytes will not block. false: cancelled. */
static bool wait_writable(kn_output *o)
{
    struct pollfd p = {.fd = o->fd, .events = POLLOUT};
    while (!kn_cancelled(o->ctx)) {
        int n = poll(&p, 1, POLL_MS);
        if (n > 0 || (n < 0 && errno != EINTR)) return true; /* a real error shows in the write */
    }
    return false;
}

static void write_through(kn_output *o, const char *data, size_t size)
{
    while (size > 0 && o->error == 0) {
        size_t piece = size;
        if (o->patient) {
            if (piece > PIPE_BUF) piece = PIPE_BUF;
            if (!wait_writable(o)) {
                o->error = ECANCELED;
                return;
            }
        }
        if (o->memory && !kn_memory_charge(o->ctx, piece)) {
            o->error = ENOMEM;
            return;
        }
        ssize_t n = write(o->fd, data, piece);
        if (o->memory && (size_t)(n > 0 ? n : 0) < piece) kn_memory_discharge(o->ctx, piece - (size_t)(n > 0 ? n : 0));
        if (n >= 0) {
            data += n;
            size -= (size_t)n;
            o->size += (uint64_t)n;
        } else if (errno != EINTR && errno != EAGAIN) {
            o->error = errno;
        }
    }
}

/* Signals of our own writes are blocked: SIGPIPE, and SIGXFSZ (a limit on file sizes). One that comes is consumed, one that was
 * already pending is left. */
typedef struct silence {
    sigset_t before, pending;
} silence;

static void silence_begin(silence *s)
{
    sigset_t ours;
    sigemptyset(&ours);
    sigaddset(&ours, SIGPIPE);
    sigaddset(&ours, SIGXFSZ);
    sigpending(&s->pending);
    pthread_sigmask(SIG_BLOCK, &ours, &s->before);
}

/* error: errno of the write that failed; 0: none did. */
static void silence_end(const silence *s, int error)
{
    int came = error == EPIPE ? SIGPIPE : error == EFBIG ? SIGXFSZ : 0;
    if (came && !sigismember(&s->pending, came)) {
        struct timespec none = {0, 0};
        sigset_t        one;
        sigemptyset(&one);
        sigaddset(&one, came);
        while (sigtimedwait(&one, NULL, &none) < 0 && errno == EINTR) continue;
    }
    pthread_sigmask(SIG_SETMASK, &s->before, NULL);
}

static void write_quietly(kn_output *o, const char *data, size_t size)
{
    silence s;
    silence_begin(&s);
    write_through(o, data, size);
    silence_end(&s, o->error);
}

static void hand_on(kn_output *o, const char *data, size_t size)
{
    if (o->error) return; /* what was said first counts */
    if (!o->consumer.take) {
        write_quietly(o, data, size);
        return;
    }
    o->why = (kn_error)KN_ERROR_INIT;
    o->refused = o->consumer.take(o->consumer.state, data, size, &o->why);
    if (o->refused != KN_OK) o->error = EIO;
}

static void empty_buffer(kn_output *o)
{
    size_t used = o->used;
    o->used = 0;
    if (used > 0) hand_on(o, o->buffer, used);
}

void kn_output_write(kn_output *o, const void *data, size_t size)
{
    if (o->error || size == 0) return;
    if (size > BUFFER_SIZE - o->used) empty_buffer(o);
    if (size >= BUFFER_SIZE) {
        if (o->error == 0) hand_on(o, data, size);
    } else {
        memcpy(o->buffer + o->used, data, size);
        o->used += size;
    }
}

static kn_status failure(const kn_output *o, kn_error *err)
{
    if (o->error == 0) return KN_OK;
    if (o->refused != KN_OK) {
        if (err) *err = o->why;
        return o->refused;
    }
    if (o->error == ECANCELED && !o->target)
        return kn_fail(err, KN_CANCELLED, "stopped on request; the output is incomplete");
    if (o->error == ECANCELED) return kn_fail_cancelled(err);
    if (o->error == ENOMEM && o->memory) return kn_fail_memory(err, o->ctx, o->path);
    return kn_fail(err, KN_IO, "%s: writing failed: %s", o->path, strerror(o->error));
}

kn_status kn_output_flush(kn_output *o, kn_error *err)
{
    empty_buffer(o);
    return failure(o, err);
}

kn_status kn_output_hold(kn_output *o, const char *kind, void *object, void (*end)(void *object), kn_error *err)
{
    char name[TEMPORARY];
    snprintf(name, sizeof name, "memory:.kanon-%d.", o->fd); /* no other's while this one is open */
    KN_TRY(kn_memory_adopt_object(o->ctx, name, kind, object, end, err));
    memcpy(o->temporary, name, sizeof name);
    o->held = true;
    return KN_OK;
}

bool kn_output_in_memory(const kn_output *o)
{
    return o->memory;
}

bool kn_output_is_stream(const kn_output *o)
{
    return o->target == NULL;
}

const char *kn_output_temporary(const kn_output *o)
{
    return o->temporary;
}

int kn_output_fd(const kn_output *o)
{
    return o->fd;
}

const char *kn_output_target(const kn_output *o)
{
    return o->target;
}

unsigned kn_output_mode(const kn_output *o)
{
    return o->mode;
}

/* ---- The end ---- */

kn_status kn_output_sync(kn_output *o, kn_error *err)
{
    KN_TRY(kn_output_flush(o, err));
    if (o->target && !o->memory && fsync(o->fd) != 0)
        return kn_fail(err, KN_IO, "%s: writing failed: %s", o->path, strerror(errno));
    return KN_OK;
}

/* A second descriptor keeps the file until it has its name: only then may others read it. */
static kn_status rename_file(kn_output *o, int kept, kn_error *err)
{
    int fd = o->fd;
    o->fd = -1;
    if (close(fd) != 0 && errno != EINTR)
        return kn_fail(err, KN_IO, "%s: writing failed: %s", o->path, strerror(errno));
    if (rename(o->temporary, o->target) != 0)
        return kn_fail(err, KN_IO, "%s: the finished file cannot be given its name: %s", o->path, strerror(errno));
    kn_free(o->temporary);
    o->temporary = NULL;
    if (fchmod(kept, o->mode) != 0)
        return kn_fail(err, KN_IO, "%s: was written, but stays private: %s", o->path, strerror(errno));
    if (kn_place_sync(o->target)) return KN_OK;
    return kn_fail(err, KN_IO, "%s: was written, but may not outlast a power failure: %s", o->path, strerror(errno));
}

static kn_status commit_file(kn_output *o, kn_error *err)
{
    int kept = fcntl(o->fd, F_DUPFD_CLOEXEC, 3);
    if (kept < 0) return kn_fail(err, KN_IO, "%s: writing failed: %s", o->path, strerror(errno));
    kn_status st = kn_output_sync(o, err);
    if (st == KN_OK) st = rename_file(o, kept, err);
    close(kept);
    return st;
}

kn_status kn_output_prepare(kn_output *o, kn_error *err)
{
    KN_TRY(kn_output_flush(o, err));
    return o->promise ? KN_OK : kn_memory_make_promise(&o->promise, o->ctx, o->target, err);
}

static kn_status commit_memory(kn_output *o, kn_error *err)
{
    KN_TRY(kn_output_prepare(o, err));
    kn_memory_keep(o->promise, o->held ? -1 : o->fd, o->size, o->temporary);
    o->promise = NULL;
    if (o->held) return KN_OK;
    o->fd = -1;
    o->size = 0;
    return KN_OK;
}

kn_status kn_output_commit(kn_output *o, kn_error *err)
{
    kn_status st = kn_output_flush(o, err);
    if (st == KN_OK && o->memory)
        st = commit_memory(o, err);
    else if (st == KN_OK && o->target)
        st = commit_file(o, err);
    if (st == KN_OK && o->owned && !o->target) {
        int fd = o->fd;
        o->fd = -1;
        if (close(fd) != 0 && errno != EINTR)
            st = kn_fail(err, KN_IO, "%s: writing failed: %s", o->path, strerror(errno));
    }
    kn_output_abort(o);
    return st;
}

void kn_output_detach(kn_output *o)
{
    if (!o) return;
    if (o->owned && o->fd >= 0) close(o->fd);
    if (o->memory) kn_memory_discharge(o->ctx, o->size);
    if (o->alias.path) kn_alias_remove(o->ctx, &o->alias);
    kn_memory_break(o->promise);
    KN_FREE(o->temporary, o->target, o->path, o);
}

void kn_output_abort(kn_output *o)
{
    if (o && o->temporary && !o->memory && !o->consumer.take) unlink(o->temporary);
    if (o && o->held) kn_memory_remove(o->ctx, o->temporary); /* unless it has its name */
    kn_output_detach(o);
}

kn_status kn_output_finish(kn_output *o, kn_status made, kn_error *err)
{
    if (made == KN_OK) return kn_output_commit(o, err);
    kn_output_abort(o);
    return made;
}

/* ---- Pieces ---- */

/* All threads make pieces. Each piece has its turn when those before it have been made. In a file its place is known then, and who made it
 * writes it there, while its bytes are in the processor's cache and the next one has its turn; what goes elsewhere is written in the turn. */
typedef struct pieces {
    kn_output      *output;
    kn_piece_fn     fn;
    void           *arg;
    kn_buffer      *buffers; /* per worker */
    int64_t         workers;
    bool            places; /* is it a file of ours, into which any thread can write? */
    off_t           place;  /* of the piece whose turn it is: for who has it          */
    atomic_int      error;  /* errno of a write at a place                            */
    pthread_mutex_t lock;   /* guards what follows                                    */
    pthread_cond_t *turns;  /* of piece i: [i % workers], since no more are under way */
    int64_t         turn;
    bool            failed; /* there are no more turns */
} pieces;

/* Writes at a place of the file; 0, or errno. */
static int write_at(int fd, const char *data, size_t size, off_t place)
{
    silence s;
    int     error = 0;
    silence_begin(&s);
    while (size > 0 && error == 0) {
        ssize_t n = pwrite(fd, data, size, place);
        if (n > 0) {
            data += n;
            size -= (size_t)n;
            place += n;
        } else if (n == 0 || errno != EINTR) {
            error = n == 0 ? EIO : errno;
        }
    }
    silence_end(&s, error);
    return error;
}

static kn_status write_failed(const kn_output *o, int error, kn_error *err)
{
    return kn_fail(err, KN_IO, "%s: writing failed: %s", o->path, strerror(error));
}

/* false: a piece failed, and this one is no longer wanted. */
static bool await_turn(pieces *p, int64_t piece)
{
    pthread_mutex_lock(&p->lock);
    while (p->turn != piece && !p->failed) pthread_cond_wait(&p->turns[piece % p->workers], &p->lock);
    bool ours = !p->failed;
    pthread_mutex_unlock(&p->lock);
    return ours;
}

static void end_turn(pieces *p)
{
    pthread_mutex_lock(&p->lock);
    p->turn++;
    pthread_cond_signal(&p->turns[p->turn % p->workers]);
    pthread_mutex_unlock(&p->lock);
}

static kn_status end_turns(pieces *p, kn_status why)
{
    pthread_mutex_lock(&p->lock);
    p->failed = true;
    for (int64_t w = 0; w < p->workers; w++) pthread_cond_signal(&p->turns[w]);
    pthread_mutex_unlock(&p->lock);
    return why;
}

/* In the turn of a piece: writes it, or keeps its place. */
static kn_status take_turn(pieces *p, const kn_buffer *made, off_t *place, kn_error *err)
{
    *place = p->place;
    p->place += (off_t)made->size;
    if (p->places) return KN_OK;
    kn_output_write(p->output, made->data, made->size);
    return failure(p->output, err);
}

static kn_status put_piece(pieces *p, const kn_buffer *made, off_t place, kn_error *err)
{
    int error = write_at(p->output->fd, made->data, made->size, place);
    if (error == 0) return KN_OK;
    atomic_store(&p->error, error);
    return write_failed(p->output, error, err);
}

static kn_status run_piece(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    pieces    *p = arg;
    kn_buffer *made = &p->buffers[worker];
    for (int64_t i = begin; i < end; i++) {
        off_t place = 0;
        kn_buffer_clear(made);
        kn_status st = p->fn(p->arg, i, made, err);
        if (st != KN_OK) return end_turns(p, st);
        if (!await_turn(p, i)) return KN_OK;
        st = take_turn(p, made, &place, err);
        if (st != KN_OK) return end_turns(p, st);
        end_turn(p);
        if (p->places) st = put_piece(p, made, place, err);
        if (st != KN_OK) return end_turns(p, st);
    }
    return KN_OK;
}

/* What was written so far is then in the file. */
static bool has_places(kn_output *o)
{
    if (!o->target || o->memory || o->consumer.take) return false;
    empty_buffer(o);
    return o->error == 0;
}

static kn_status run_pieces(pieces *p, int64_t count, kn_error *err)
{
    kn_output *o = p->output;
    p->place = (off_t)o->size;
    pthread_mutex_init(&p->lock, NULL);
    for (int64_t w = 0; w < p->workers; w++) {
        kn_buffer_init(&p->buffers[w], o->ctx);
        pthread_cond_init(&p->turns[w], NULL);
    }
    kn_status st = kn_parallel_for(o->ctx, count, 1, run_piece, p, err);
    for (int64_t w = 0; w < p->workers; w++) {
        kn_buffer_free(&p->buffers[w]);
        pthread_cond_destroy(&p->turns[w]);
    }
    pthread_mutex_destroy(&p->lock);
    if (st == KN_CANCELLED && kn_output_is_stream(o))
        st = kn_fail(err, st, "stopped on request; the output is incomplete");
    if (p->places && st == KN_OK && lseek(o->fd, p->place, SEEK_SET) < 0) {
        p->error = errno;
        st = write_failed(o, errno, err);
    }
    if (p->places && st == KN_OK) o->size = (uint64_t)p->place;
    if (p->error) o->error = p->error;
    return st;
}

kn_status kn_output_pieces(kn_output *o, int64_t count, kn_piece_fn fn, void *arg, kn_error *err)
{
    pieces p = {.output = o, .fn = fn, .arg = arg, .workers = kn_context_threads(o->ctx), .places = has_places(o)};
    p.buffers = kn_alloc_array(o->ctx, (size_t)p.workers, sizeof *p.buffers);
    p.turns = kn_alloc_array(o->ctx, (size_t)p.workers, sizeof *p.turns);
    kn_status st =
        p.buffers && p.turns ? run_pieces(&p, count, err) : kn_fail_memory(err, o->ctx, "writing the output");
    KN_FREE(p.buffers, p.turns);
    return st;
}
