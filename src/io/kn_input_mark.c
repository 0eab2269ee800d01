/* kn_input_mark.c: marks of inputs. Interface: kn_input_mark.h.
 *
 * A mark of files is a sum of hashes over name, inode, size and time of change: the order in which a folder lists
 * them does not matter. Cost: one system call per file.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_input_mark.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "kn_alloc.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_folder.h"
#include "kn_hash.h"
#include "kn_memory.h"
#include "kn_memory_arrow.h"
#include "kn_names.h"
#include "kn_parts.h"
#include "kn_postgres_internal.h"
#include "kn_table_name.h"

struct kn_input_mark {
    kn_context *ctx;
    char       *name;
    uint64_t    seen; /* of files    */
    bool        server;
    kn_pg       pg; /* of a server */
    char        snapshot[64];
    kn_alias    alias; /* of one table of it: readers of that name read the snapshot */
};

/* An empty file counts as none: SQLite makes and removes such logs. */
static uint64_t mark_file(int folder, const char *path)
{
    struct stat info;
    uint64_t    hash = kn_hash_bytes(path, strlen(path));
    if (fstatat(folder, path, &info, 0) != 0 || info.st_size == 0) return 0;
    const uint64_t facts[] = {(uint64_t)info.st_ino, (uint64_t)info.st_size, (uint64_t)info.st_mtim.tv_sec,
                              (uint64_t)info.st_mtim.tv_nsec};
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) hash = kn_hash_mix(hash ^ facts[i], 0x9e3779b97f4a7c15u);
    return kn_hash_word(hash);
}

static uint64_t mark_folder(const char *path)
{
    uint64_t sum = 0;
    DIR     *dir = opendir(path);
    for (struct dirent *entry; dir && (entry = readdir(dir)) != NULL;)
        if (kn_folder_is_table(entry->d_name)) sum += mark_file(dirfd(dir), entry->d_name);
    if (dir) closedir(dir);
    return sum;
}

/* A folder's names in memory, or one: their files below /proc, or what the batches hold. */
static uint64_t mark_memory(kn_context *ctx, const char *name)
{
    uint64_t sum = 0;
    bool     folder = name[strlen(name) - 1] == '/';
    for (const char *n = folder ? kn_memory_next(ctx, name, NULL) : name; n;
         n = folder ? kn_memory_next(ctx, name, n) : NULL) {
        const kn_batches *batches = kn_memory_batches(ctx, n);
        sum += batches ? kn_batches_hash(batches) : mark_file(AT_FDCWD, kn_memory_path(ctx, n));
    }
    return sum;
}

static bool mark_part(void *sum, const char *path)
{
    *(uint64_t *)sum += mark_file(AT_FDCWD, path);
    return true;
}

/* A folder or pattern of Parquet files: everything below its root. */
static uint64_t mark_parts(const char *name)
{
    uint64_t sum = 0;
    kn_parts_each(name, kn_parts_root(name), mark_part, &sum);
    return sum;
}

/* A file and what an engine writes beside it. */
static uint64_t mark_engine(const char *file, size_t size)
{
    static const char *const endings[] = {"", "-wal", "-journal", ".wal"};
    uint64_t                 sum = 0;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        char path[4096 + 16];
        snprintf(path, sizeof path, "%.*s%s", size < 4096 ? (int)size : 4096, file, endings[i]);
        sum += mark_file(AT_FDCWD, path);
    }
    return sum;
}

static uint64_t mark_files(kn_context *ctx, const char *name)
{
    kn_string   file = kn_table_file(name);
    char        path[4096];
    struct stat info;
    if (kn_memory_is(ctx, name)) return mark_memory(ctx, name);
    if (kn_name_file(name)) return mark_engine(file.data, file.size);
    if (kn_parts_folder(name) || name[kn_parts_root(name)]) return mark_parts(name);
    snprintf(path, sizeof path, "%.*s", (int)(file.size < sizeof path ? file.size : sizeof path), file.data);
    return stat(name, &info) == 0 && S_ISDIR(info.st_mode) ? mark_folder(name) : mark_file(AT_FDCWD, path);
}

kn_status kn_input_mark_take(kn_input_mark **out, kn_context *ctx, const char *name, kn_error *err)
{
    kn_input_mark *m = kn_alloc_zero(ctx, sizeof *m);
    kn_status      status = KN_OK;
    *out = NULL;
    if (!m) return kn_fail_memory(err, ctx, "reading");
    m->ctx = ctx;
    m->name = kn_strndup(ctx, name, strlen(name));
    m->server = kn_name_server(name);
    if (!m->name)
        status = kn_fail_memory(err, ctx, "reading");
    else if (!m->server)
        m->seen = mark_files(ctx, name);
    else
        status = kn_pg_open(&m->pg, ctx, name, NULL, err);
    if (status == KN_OK && m->server) status = kn_pg_export(&m->pg, m->snapshot, sizeof m->snapshot, err);
    if (status == KN_OK && m->server && kn_table_kind_of(name) == KN_TABLE_SERVER) {
        m->alias = (kn_alias){.path = m->name, .name = m->pg.name, .snapshot = m->snapshot};
        kn_alias_add(ctx, &m->alias);
    }
    if (status == KN_OK)
        *out = m;
    else
        kn_input_mark_free(m);
    return status;
}

void kn_input_mark_free(kn_input_mark *m)
{
    if (!m) return;
    if (m->alias.path) kn_alias_remove(m->ctx, &m->alias);
    if (m->pg.ctx) kn_pg_close(&m->pg);
    KN_FREE(m->name, m);
}

const char *kn_input_mark_snapshot(const kn_input_mark *m)
{
    return m && m->server ? m->snapshot : NULL;
}

bool kn_input_mark_changed(const kn_input_mark *m)
{
    return m && !m->server && mark_files(m->ctx, m->name) != m->seen;
}
