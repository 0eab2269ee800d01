/* kn_folder_read.c: a folder of CSV files as a source of tables. Interface: kn_folder.h, kn_cells.h.
 *
 * Each file is a table with the file's name. Only visible files with a table's ending are read.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "kn_alloc.h"
#include "kn_cells.h"
#include "kn_error.h"
#include "kn_folder.h"
#include "kn_memory.h"

static const char *const endings[] = {".csv", ".csv.gz", ".csv.zst", ".tsv", ""}; /* the last: a table in memory */

typedef struct folder {
    kn_cells    cells;
    kn_context *ctx;
    char       *path;
} folder;

/* The length of the table's name in a file's; 0: not a table. */
static size_t table_of_file(const char *file)
{
    size_t size = strlen(file);
    for (size_t i = 0; i < sizeof endings / sizeof *endings - 1 && file[0] != '.'; i++) {
        size_t end = strlen(endings[i]);
        if (size > end && strcmp(file + size - end, endings[i]) == 0) return size - end;
    }
    return 0;
}

bool kn_folder_is_table(const char *name)
{
    return table_of_file(name) > 0;
}

static kn_status add_file(const folder *f, kn_catalog *catalog, const char *file, size_t name_size,
                          const kn_database_options *options, kn_error *err)
{
    char     *name = kn_strndup(f->ctx, file, name_size);
    kn_status status = KN_OK;
    if (!name)
        status = kn_fail_memory(err, f->ctx, f->path);
    else if (kn_catalog_wanted(options, name) && kn_catalog_find(catalog, name) >= 0)
        status = kn_fail(err, KN_INPUT, "%s: two files are table \"%s\"", f->path, name);
    else if (kn_catalog_wanted(options, name) && kn_catalog_add_table(catalog, name) < 0)
        status = kn_fail_memory(err, f->ctx, f->path);
    kn_free(name);
    return status;
}

/* Names in memory that begin with the folder's. Those that are not files are tables themselves. */
static kn_status list_memory(const folder *f, kn_catalog *catalog, const kn_database_options *options, kn_error *err)
{
    const char *slash = f->path[strlen(f->path) - 1] != '/' ? "/" : "";
    char       *prefix = kn_strformat(f->ctx, "%s%s", f->path, slash);
    kn_status   status = prefix ? KN_OK : kn_fail_memory(err, f->ctx, f->path);
    for (const char *name = NULL; status == KN_OK && (name = kn_memory_next(f->ctx, prefix, name)) != NULL;) {
        const char *file = name + strlen(prefix);
        size_t      size = table_of_file(file);
        if (size == 0 && *kn_memory_path(f->ctx, name) == '\0' && !strchr(file, '/')) size = strlen(file);
        if (size > 0) status = add_file(f, catalog, file, size, options, err);
    }
    kn_free(prefix);
    return status;
}

static kn_status list(void *state, kn_catalog *catalog, const kn_database_options *options, kn_error *err)
{
    const folder *f = state;
    if (kn_memory_is(f->ctx, f->path)) return list_memory(f, catalog, options, err);
    DIR      *dir = opendir(f->path);
    kn_status status = KN_OK;
    if (!dir)
        return kn_fail(err, errno == ENOENT ? KN_INPUT : KN_IO, "%s: the folder cannot be read: %s", f->path,
                       strerror(errno));
    for (struct dirent *entry; status == KN_OK && (entry = readdir(dir)) != NULL;) {
        size_t size = table_of_file(entry->d_name);
        if (size > 0) status = add_file(f, catalog, entry->d_name, size, options, err);
    }
    closedir(dir);
    return status;
}

/* The file of a table: the first ending that exists. */
static kn_status table_file(void *state, char **out, const char *table, kn_error *err)
{
    const folder *f = state;
    const char   *slash = *f->path && f->path[strlen(f->path) - 1] != '/' ? "/" : "";
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        *out = kn_strformat(f->ctx, "%s%s%s%s", f->path, slash, table, endings[i]);
        if (!*out) return kn_fail_memory(err, f->ctx, f->path);
        if (kn_folder_is_file(f->ctx, *out)) return KN_OK;
        kn_free(*out);
        *out = NULL;
    }
    return kn_fail(err, KN_IO, "%s: the file of table \"%s\" disappeared", f->path, table);
}

/* ---- What else is there ---- */

typedef enum kind { TABLE, HIDDEN, FOLDER, SPECIAL, OTHER, KINDS } kind;

static kind kind_of(DIR *dir, const char *name)
{
    struct stat info;
    if (fstatat(dirfd(dir), name, &info, AT_SYMLINK_NOFOLLOW) != 0) return SPECIAL;
    if (S_ISDIR(info.st_mode)) return FOLDER;
    if (!S_ISREG(info.st_mode)) return SPECIAL;
    if (name[0] == '.') return HIDDEN;
    return kn_folder_is_table(name) || strcmp(name, KN_FOLDER_CERTIFICATE) == 0 ? TABLE : OTHER;
}

static kind kind_in_memory(kn_context *ctx, const char *name, const char *rest)
{
    bool table = kn_folder_is_table(rest) || strcmp(rest, KN_FOLDER_CERTIFICATE) == 0;
    if (strchr(rest, '/')) return FOLDER;
    if (rest[0] == '.') return HIDDEN;
    return table || *kn_memory_path(ctx, name) == '\0' ? TABLE : OTHER;
}

/* Counts what is in the folder, by kind. */
static kn_status count_entries(int count[KINDS], kn_context *ctx, const char *path, kn_error *err)
{
    size_t size = strlen(path);
    for (const char *name = NULL; kn_memory_is(ctx, path) && (name = kn_memory_next(ctx, path, name)) != NULL;) {
        const char *rest = name + size + (path[size - 1] != '/');
        if (rest[-1] == '/') count[kind_in_memory(ctx, name, rest)]++;
    }
    if (kn_memory_is(ctx, path)) return KN_OK;
    DIR *dir = opendir(path);
    if (!dir) return kn_fail(err, KN_IO, "%s: the folder cannot be read: %s", path, strerror(errno));
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) count[kind_of(dir, entry->d_name)]++;
    closedir(dir);
    return KN_OK;
}

static kn_status extras(void *state, const kn_catalog *original, kn_extras_fn report, void *arg, kn_error *err)
{
    (void)original;
    const char              *path = ((const folder *)state)->path;
    static const char *const one[] = {"", "a hidden file", "a subfolder", "a link or special file",
                                      "a file that is no table of the release"};
    static const char *const many[] = {"", "hidden files", "subfolders", "links or special files",
                                       "files that are no tables of the release"};
    int                      count[KINDS] = {0};
    KN_TRY(count_entries(count, ((const folder *)state)->ctx, path, err));
    for (int k = HIDDEN; k < KINDS; k++) {
        char sentence[160];
        if (count[k] == 1) snprintf(sentence, sizeof sentence, "the folder holds %s", one[k]);
        if (count[k] > 1) snprintf(sentence, sizeof sentence, "the folder holds %d %s", count[k], many[k]);
        if (count[k] > 0) report(arg, sentence);
    }
    return KN_OK;
}

/* ---- The source ---- */

static void close_folder(void *state)
{
    folder *f = state;
    KN_FREE(f->path, f);
}

kn_status kn_folder_cells(kn_cells **out, kn_context *ctx, const char *path, kn_error *err)
{
    folder *f = kn_alloc_zero(ctx, sizeof *f);
    *out = NULL;
    if (!f) return kn_fail_memory(err, ctx, path);
    f->ctx = ctx;
    f->path = kn_strndup(ctx, path, strlen(path));
    f->cells = (kn_cells){ctx, f, f->path, list, NULL, NULL, table_file, extras, close_folder, false};
    if (f->path) {
        *out = &f->cells;
        return KN_OK;
    }
    close_folder(f);
    return kn_fail_memory(err, ctx, path);
}
