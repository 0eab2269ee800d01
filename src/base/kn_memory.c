/* kn_memory.c: names in memory. Interface: kn_memory.h, kanon/memory.h.
 *
 * A sorted list of entries, protected by a lock; a program has some dozens. An entry's name and path do not move
 * until it is freed. Cost: a binary search per lookup.
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE
#include "kn_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kn_alloc.h"
#include "kn_context.h"
#include "kn_error.h"

#define PREFIX "memory:"
#define WHAT "keeping something in memory"

typedef struct entry {
    char            *name;
    char             path[32]; /* below /proc; empty: an object */
    int              fd;       /* -1: an object                 */
    uint64_t         size;
    void            *map;  /* the bytes, once requested */
    const char      *kind; /* of the object             */
    void            *object;
    kn_memory_end_fn end;
} entry;

struct kn_memory {
    pthread_mutex_t lock;
    entry         **entries; /* by name */
    size_t          count, capacity;
    size_t          promised; /* places reserved for promises */
};

static bool prefixed(const char *name)
{
    return name && strncmp(name, PREFIX, sizeof PREFIX - 1) == 0 && name[sizeof PREFIX - 1];
}

/* ---- Entries ---- */

static void end_entry(kn_context *ctx, entry *e)
{
    if (!e) return;
    if (e->map) munmap(e->map, e->size);
    if (e->fd >= 0) {
        close(e->fd);
        kn_memory_discharge(ctx, e->size);
    }
    if (e->end) e->end(e->object);
    kn_free(e->name);
    kn_free(e);
}

/* The index of the first entry whose name is not less than this one. */
static size_t place_of(const struct kn_memory *m, const char *name)
{
    size_t low = 0, high = m->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (strcmp(m->entries[middle]->name, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static entry *find(const kn_context *ctx, const char *name)
{
    struct kn_memory *m = ctx->memory;
    if (!m || !prefixed(name)) return NULL;
    pthread_mutex_lock(&m->lock);
    size_t at = place_of(m, name);
    entry *e = at < m->count && strcmp(m->entries[at]->name, name) == 0 ? m->entries[at] : NULL;
    pthread_mutex_unlock(&m->lock);
    return e;
}

/* Takes ownership of the entry, also on failure; frees what had its name. */
static kn_status put_entry(kn_context *ctx, entry *e, kn_error *err)
{
    struct kn_memory *m = ctx->memory;
    pthread_mutex_lock(&m->lock);
    size_t at = place_of(m, e->name);
    entry *old = NULL;
    void  *entries = m->entries;
    bool   there = at < m->count && strcmp(m->entries[at]->name, e->name) == 0;
    bool   good = there || kn_grow(ctx, &entries, &m->capacity, m->count + m->promised + 1, sizeof *m->entries);
    m->entries = entries;
    if (there) {
        old = m->entries[at];
        m->entries[at] = e;
    } else if (good) {
        memmove(m->entries + at + 1, m->entries + at, (m->count - at) * sizeof *m->entries);
        m->entries[at] = e;
        m->count++;
    }
    pthread_mutex_unlock(&m->lock);
    end_entry(ctx, good ? old : e);
    return good ? KN_OK : kn_fail_memory(err, ctx, WHAT);
}

/* Takes the entry of this name out of the list; NULL: there is none. */
static entry *take_entry(kn_context *ctx, const char *name)
{
    struct kn_memory *m = ctx->memory;
    if (!m || !find(ctx, name)) return NULL;
    pthread_mutex_lock(&m->lock);
    size_t at = place_of(m, name);
    entry *e = m->entries[at];
    m->count--;
    memmove(m->entries + at, m->entries + at + 1, (m->count - at) * sizeof *m->entries);
    pthread_mutex_unlock(&m->lock);
    return e;
}

/* NULL: out of memory. */
static entry *new_entry(kn_context *ctx, const char *name)
{
    entry *e = kn_alloc_zero(ctx, sizeof *e);
    if (!e) return NULL;
    e->fd = -1;
    e->name = kn_strndup(ctx, name, strlen(name));
    if (e->name) return e;
    kn_free(e);
    return NULL;
}

/* ---- Names ---- */

kn_status kn_memory_enable(kn_context *ctx, kn_error *err)
{
    KN_SERVE(ctx, err);
    if (ctx->memory) return KN_OK;
    struct kn_memory *m = kn_alloc_zero(ctx, sizeof *m);
    if (!m) return kn_fail_memory(err, ctx, WHAT);
    if (pthread_mutex_init(&m->lock, NULL) != 0) {
        kn_free(m);
        return kn_fail(err, KN_INTERNAL, "a lock cannot be made");
    }
    ctx->memory = m;
    return KN_OK;
}

void kn_memory_clear(kn_context *ctx)
{
    struct kn_memory *m = ctx->memory;
    if (!m) return;
    for (size_t i = 0; i < m->count; i++) end_entry(ctx, m->entries[i]);
    pthread_mutex_destroy(&m->lock);
    kn_free(m->entries);
    kn_free(m);
    ctx->memory = NULL;
}

bool kn_memory_is(const kn_context *ctx, const char *name)
{
    return ctx->memory && prefixed(name);
}

bool kn_memory_there(const kn_context *ctx, const char *name)
{
    return find(ctx, name) != NULL;
}

const char *kn_memory_path(const kn_context *ctx, const char *path)
{
    const entry *e = find(ctx, path);
    if (!kn_memory_is(ctx, path)) return path;
    return e && e->fd >= 0 ? e->path : "";
}

const char *kn_memory_next(kn_context *ctx, const char *prefix, const char *after)
{
    struct kn_memory *m = ctx->memory;
    const char       *name = NULL;
    size_t            size = prefix ? strlen(prefix) : 0;
    if (!m) return NULL;
    pthread_mutex_lock(&m->lock);
    for (size_t i = after ? place_of(m, after) : 0; i < m->count && !name; i++)
        if ((!after || strcmp(m->entries[i]->name, after) > 0) &&
            strncmp(m->entries[i]->name, prefix ? prefix : "", size) == 0)
            name = m->entries[i]->name;
    pthread_mutex_unlock(&m->lock);
    return name;
}

void kn_memory_remove(kn_context *ctx, const char *name)
{
    end_entry(ctx, take_entry(ctx, name));
}

/* All new names are allocated before any is set: a failure changes nothing. */
kn_status kn_memory_rename(kn_context *ctx, const char *from, const char *to, kn_error *err)
{
    size_t size = strlen(from), count = 0, made = 0;
    for (const char *name = NULL; (name = kn_memory_next(ctx, from, name)) != NULL;) count++;
    char    **names = kn_alloc_array_zero(ctx, count + 1, sizeof *names);
    kn_status st = names ? KN_OK : kn_fail_memory(err, ctx, WHAT);
    for (const char *name = NULL; st == KN_OK && (name = kn_memory_next(ctx, from, name)) != NULL; made++) {
        size_t need = strlen(to) + strlen(name) - size + 1;
        names[made] = kn_alloc(ctx, need);
        if (names[made])
            snprintf(names[made], need, "%s%s", to, name + size);
        else
            st = kn_fail_memory(err, ctx, WHAT);
    }
    for (size_t i = 0; st == KN_OK && i < count; i++) {
        entry *e = take_entry(ctx, kn_memory_next(ctx, from, NULL));
        kn_free(e->name);
        e->name = names[i];
        names[i] = NULL;
        st = put_entry(ctx, e, err); /* cannot fail: the entry was in the list */
    }
    for (size_t i = 0; names && i < made; i++) kn_free(names[i]);
    kn_free(names);
    return st;
}

/* ---- Bytes and objects ---- */

int kn_memory_file(void)
{
    int fd = memfd_create("kanon", MFD_CLOEXEC);
    if (fd < 0 || fd > 2) return fd;
    int moved = fcntl(fd, F_DUPFD_CLOEXEC, 3), error = errno; /* 0, 1 and 2 are the program's, even if closed */
    close(fd);
    errno = error;
    return moved;
}

static void give_file(entry *e, int fd, uint64_t size)
{
    e->fd = fd;
    e->size = size;
    snprintf(e->path, sizeof e->path, "/proc/self/fd/%d", fd);
}

/* Gives bytes a name: the context takes over `fd`, also on failure; `size` bytes were charged (kn_memory_charge). */
static kn_status adopt(kn_context *ctx, const char *name, int fd, uint64_t size, kn_error *err)
{
    entry *e = new_entry(ctx, name);
    if (!e) {
        close(fd);
        kn_memory_discharge(ctx, size);
        return kn_fail_memory(err, ctx, WHAT);
    }
    give_file(e, fd, size);
    return put_entry(ctx, e, err);
}

kn_status kn_memory_adopt_object(kn_context *ctx, const char *name, const char *kind, void *object,
                                 kn_memory_end_fn end, kn_error *err)
{
    kn_status st = prefixed(name) ? kn_memory_enable(ctx, err)
                                  : kn_fail(err, KN_USAGE, "%.200s: a name in memory begins with \"memory:\"", name);
    entry    *e = st == KN_OK ? new_entry(ctx, name) : NULL;
    if (!e) {
        end(object);
        return st == KN_OK ? kn_fail_memory(err, ctx, WHAT) : st;
    }
    e->kind = kind;
    e->object = object;
    e->end = end;
    return put_entry(ctx, e, err);
}

/* ---- Promises ---- */

struct kn_memory_promise {
    kn_context *ctx;
    entry      *entry;
};

kn_status kn_memory_make_promise(kn_memory_promise **out, kn_context *ctx, const char *name, kn_error *err)
{
    struct kn_memory  *m = ctx->memory;
    kn_memory_promise *p = kn_alloc_zero(ctx, sizeof *p);
    *out = NULL;
    if (p) *p = (kn_memory_promise){ctx, new_entry(ctx, name)};
    if (p && p->entry) {
        pthread_mutex_lock(&m->lock);
        void *entries = m->entries;
        if (kn_grow(ctx, &entries, &m->capacity, m->count + m->promised + 1, sizeof *m->entries)) {
            m->promised++;
            *out = p;
        }
        m->entries = entries;
        pthread_mutex_unlock(&m->lock);
    }
    if (*out) return KN_OK;
    if (p) end_entry(ctx, p->entry);
    kn_free(p);
    return kn_fail_memory(err, ctx, WHAT);
}

/* Frees the promise and its reserved place; returns its entry, which the caller puts there or frees. */
static entry *end_promise(kn_memory_promise *p)
{
    entry *e = p->entry;
    pthread_mutex_lock(&p->ctx->memory->lock);
    p->ctx->memory->promised--;
    pthread_mutex_unlock(&p->ctx->memory->lock);
    kn_free(p);
    return e;
}

void kn_memory_keep(kn_memory_promise *p, int fd, uint64_t size, const char *from)
{
    kn_context *ctx = p->ctx;
    entry      *e = end_promise(p), *old = fd < 0 ? take_entry(ctx, from) : NULL;
    if (old) {
        e->kind = old->kind;
        e->object = old->object;
        e->end = old->end;
        old->end = NULL;
        end_entry(ctx, old);
    } else {
        give_file(e, fd, size);
    }
    (void)!put_entry(ctx, e, NULL);
}

void kn_memory_break(kn_memory_promise *p)
{
    if (!p) return;
    kn_context *ctx = p->ctx; /* read first: arguments are evaluated in any order */
    end_entry(ctx, end_promise(p));
}

void *kn_memory_object(const kn_context *ctx, const char *name, const char *kind)
{
    const entry *e = find(ctx, name);
    return e && e->kind && strcmp(e->kind, kind) == 0 ? e->object : NULL;
}

static int write_all(int fd, const char *bytes, size_t size)
{
    while (size > 0) {
        ssize_t n = write(fd, bytes, size);
        if (n < 0 && errno != EINTR) return errno;
        if (n > 0) {
            bytes += n;
            size -= (size_t)n;
        }
    }
    return 0;
}

kn_status kn_memory_put(kn_context *ctx, const char *name, const void *bytes, size_t size, kn_error *err)
{
    KN_SERVE(ctx, err);
    if (!prefixed(name)) return kn_fail(err, KN_USAGE, "%.200s: a name in memory begins with \"memory:\"", name);
    KN_TRY(kn_memory_enable(ctx, err));
    if (!kn_memory_charge(ctx, size)) return kn_fail_memory(err, ctx, WHAT);
    int fd = kn_memory_file(), error = fd < 0 ? errno : write_all(fd, bytes, size);
    if (error == 0) return adopt(ctx, name, fd, size, err);
    if (fd >= 0) close(fd);
    kn_memory_discharge(ctx, size);
    return kn_fail(err, KN_IO, "%.200s: cannot be kept in memory: %s", name, strerror(error));
}

kn_status kn_memory_get(const void **bytes, size_t *size, kn_context *ctx, const char *name, kn_error *err)
{
    *bytes = "";
    *size = 0;
    KN_SERVE(ctx, err);
    entry *e = find(ctx, name);
    if (!e) return kn_fail(err, KN_INPUT, "%.200s: there is nothing of this name in memory", name);
    if (e->fd < 0) return kn_fail(err, KN_INPUT, "%.200s: holds a table, not bytes", name);
    if (e->size == 0) return KN_OK;
    if (!e->map) {
        void *map = mmap(NULL, e->size, PROT_READ, MAP_SHARED, e->fd, 0);
        if (map == MAP_FAILED) return kn_fail_memory(err, ctx, WHAT);
        e->map = map;
    }
    *bytes = e->map;
    *size = e->size;
    return KN_OK;
}
