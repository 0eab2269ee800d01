/* kn_records_files.c: which files a collection of records consists of. Interface: kn_records_files.h.
 *
 * Cost: folders are listed, nothing is opened. Only files that say by their name that they hold records are taken from a folder,
 * and any other is refused: what nobody reads is missed by nobody.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_records_files.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "kn_error.h"
#include "kn_names.h"
#include "kn_once.h"

#define WHAT "listing files of records"

static bool ends_with(const char *path, size_t size, const char *ending)
{
    size_t n = strlen(ending);
    return size >= n && strncasecmp(path + size - n, ending, n) == 0;
}

static bool is_folder(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

static kn_records_form form_of_file(const char *path)
{
    size_t size = strlen(path);
    if (ends_with(path, size, ".gz")) size -= 3;
    if (ends_with(path, size, ".zst")) size -= 4;
    if (ends_with(path, size, ".xml")) return KN_RECORDS_XML;
    if (ends_with(path, size, ".json")) return KN_RECORDS_JSON;
    if (ends_with(path, size, ".jsonl") || ends_with(path, size, ".ndjson")) return KN_RECORDS_JSON_LINES;
    return KN_RECORDS_BASKETS;
}

static bool is_hidden(const char *name)
{
    return name[0] == '.' || name[0] == '_';
}

/* That of the file whose name comes first; a folder without files of records is a database. */
static kn_records_form form_of_folder(const char *path)
{
    char            first[NAME_MAX + 1] = "";
    kn_records_form form = KN_RECORDS_DATABASE;
    DIR            *dir = opendir(path);
    for (struct dirent *entry; dir && (entry = readdir(dir)) != NULL;) {
        kn_records_form own = form_of_file(entry->d_name);
        if (is_hidden(entry->d_name) || own == KN_RECORDS_BASKETS || strlen(entry->d_name) >= sizeof first) continue;
        if (first[0] && strcmp(first, entry->d_name) < 0) continue;
        memcpy(first, entry->d_name, strlen(entry->d_name) + 1);
        form = own;
    }
    if (dir) closedir(dir);
    return form;
}

kn_records_form kn_records_form_of(const char *path)
{
    size_t size = strlen(path);
    if (kn_name_sqlite(path) || kn_name_server(path))
        return KN_RECORDS_DATABASE; /* a table of one is no records either */
    if (is_folder(path)) return form_of_folder(path);
    return size > 0 && path[size - 1] == '/' ? KN_RECORDS_DATABASE : form_of_file(path);
}

/* ---- The list ---- */

static int by_bytes(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Makes room for one more: the list grows by doubling, what it leaves behind goes with the arena. */
static kn_status add(kn_records_files *out, kn_arena *arena, const char *path, kn_error *err)
{
    if ((out->count & (out->count - 1)) == 0) { /* 0 or a power of two: it is full */
        const char **paths = kn_arena_array(arena, out->count ? 2 * (size_t)out->count : 1, sizeof *paths);
        if (!paths) return kn_fail_memory(err, arena->ctx, WHAT);
        if (out->count) memcpy(paths, out->paths, (size_t)out->count * sizeof *paths);
        out->paths = paths;
    }
    out->paths[out->count++] = path;
    return KN_OK;
}

static kn_status add_entry(kn_records_files *out, kn_arena *arena, const char *folder, const char *name, kn_error *err)
{
    size_t before = strlen(folder), size = strlen(name);
    while (before > 1 && folder[before - 1] == '/') before--;
    char *path = kn_arena_alloc(arena, before + size + 2);
    if (!path) return kn_fail_memory(err, arena->ctx, WHAT);
    memcpy(path, folder, before);
    path[before] = '/';
    memcpy(path + before + 1, name, size + 1);
    if (is_folder(path))
        return kn_fail(err, KN_INPUT, "%s: a folder inside a folder of records; name it as an input of its own", path);
    if (form_of_file(path) == KN_RECORDS_BASKETS)
        return kn_fail(err, KN_INPUT,
                       "%s: in a folder only XML, JSON and JSON Lines are read (.xml, .json, .jsonl, .ndjson); move it "
                       "elsewhere, or list the files to be read",
                       path);
    return add(out, arena, path, err);
}

static kn_status add_folder(kn_records_files *out, kn_arena *arena, const char *path, kn_error *err)
{
    int       before = out->count;
    kn_status st = KN_OK;
    DIR      *dir = opendir(path);
    if (!dir) return kn_fail(err, KN_IO, "%s: the folder cannot be read: %s", path, strerror(errno));
    for (struct dirent *entry; st == KN_OK && (entry = readdir(dir)) != NULL;)
        if (!is_hidden(entry->d_name)) st = add_entry(out, arena, path, entry->d_name, err);
    closedir(dir);
    if (st == KN_OK && out->count == before)
        st = kn_fail(err, KN_INPUT, "%s: there are no files of records in this folder", path);
    if (st == KN_OK) qsort(out->paths + before, (size_t)(out->count - before), sizeof *out->paths, by_bytes);
    return st;
}

kn_status kn_records_files_list(kn_records_files *out, kn_arena *arena, const char *first, const char *const *more,
                                int more_count, kn_error *err)
{
    *out = (kn_records_files){0};
    for (int i = -1; i < more_count; i++) {
        const char *path = i < 0 ? first : more[i];
        KN_TRY(is_folder(path) ? add_folder(out, arena, path, err) : add(out, arena, path, err));
    }
    for (int i = 1; i < out->count; i++)
        if (kn_records_form_of(out->paths[i]) != kn_records_form_of(out->paths[0]))
            return kn_fail(err, KN_INPUT, "%s: its form is not that of %s; records of one release have one form",
                           out->paths[i], out->paths[0]);
    return kn_once_check(arena->ctx, out->paths, out->count, err);
}
