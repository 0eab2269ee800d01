/* kn_folder_read.c: a folder of CSV files as a source of tables. Interface: kn_folder.h, kn_cells.h.
 *
 * Each file is a table with the file's name. Only visible files whose names end as those of tables do are looked at.
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

/* The length of the table's name in a file's; 0: it is no table. */
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

/* FOLDER/FILE; NULL: out of memory. */
static char *path_of(const folder *f, const char *file)
{
    kn_buffer path;
    kn_buffer_init(&path, f->ctx);
    kn_buffer_add(&path, f->path);
    if (path.size > 0 && f->path[strlen(f->path) - 1] != '/') kn_buffer_char(&path, '/');
    kn_buffer_add(&path, file);
    const char *text = kn_buffer_text(&path);
    char       *out = text ? kn_strndup(f->ctx, text, strlen(text)) : NULL;
    kn_buffer_free(&path);
    return out;
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

/* Names in memory that begin with the folder's. Those that are no files are tables by themselves. */
static kn_status list_memory(const folder *f, kn_catalog *catalog, const kn_database_options *options, kn_error *err)
{
    char     *prefix = path_of(f, "");
    kn_status status = prefix ? KN_OK : kn_fail_memory(err, f->ctx, f->path);
    for (const char *name = NULL; status == KN_OK && (name = kn_memory_next(f->ctx, prefix, name)) != NULL;) {
        const char *file = name + strlen(prefix);
        size_t      size = table_of_file(file);
        if (size == 0 && strcmp(kn_memory_path(f->ctx, name), name) == 0 && !strchr(file, '/')) size = strlen(file);
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

/* The file of a table: the first ending that is there. */
static char *file_of(const folder *f, const char *table, bool *there)
{
    kn_buffer name;
    char     *path = NULL;
    *there = false;
    for (size_t i = 0; i < sizeof endings / sizeof *endings && !*there; i++) {
        kn_buffer_init(&name, f->ctx);
        kn_buffer_add(&name, table);
        kn_buffer_add(&name, endings[i]);
        const char *text = kn_buffer_text(&name);
        kn_free(path);
        path = text ? path_of(f, text) : NULL;
        kn_buffer_free(&name);
        if (!path) return NULL;
        *there = kn_folder_is_file(f->ctx, path);
    }
    return path;
}

static kn_status table_file(void *state, char **out, const char *table, kn_error *err)
{
    const folder *f = state;
    bool          there = false;
    *out = file_of(f, table, &there);
    if (!*out) return kn_fail_memory(err, f->ctx, f->path);
    if (there) return KN_OK;
    kn_free(*out);
    *out = NULL;
    return kn_fail(err, KN_IO, "%s: the file of table \"%s\" went away", f->path, table);
}

static kn_status extras(void *state, const kn_catalog *original, kn_extras_fn tell, void *arg, kn_error *err)
{
    const folder *f = state;
    (void)original;
    return kn_folder_extras(f->ctx, f->path, tell, arg, err);
}

static void close_folder(void *state)
{
    folder *f = state;
    kn_free(f->path);
    kn_free(f);
}

kn_status kn_folder_cells(kn_cells **out, kn_context *ctx, const char *path, kn_error *err)
{
    folder *f = kn_alloc_zero(ctx, sizeof *f);
    *out = NULL;
    if (!f) return kn_fail_memory(err, ctx, path);
    f->ctx = ctx;
    f->path = kn_strndup(ctx, path, strlen(path));
    f->cells = (kn_cells){ctx, f, f->path, list, NULL, table_file, extras, close_folder};
    if (f->path) {
        *out = &f->cells;
        return KN_OK;
    }
    close_folder(f);
    return kn_fail_memory(err, ctx, path);
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
    return table || strcmp(kn_memory_path(ctx, name), name) == 0 ? TABLE : OTHER;
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

kn_status kn_folder_extras(kn_context *ctx, const char *path, kn_extras_fn tell, void *arg, kn_error *err)
{
    static const char *const one[] = {"", "a hidden file", "a subfolder", "a link or special file",
                                      "a file that is no table of the release"};
    static const char *const many[] = {"", "hidden files", "subfolders", "links or special files",
                                       "files that are no tables of the release"};
    int                      count[KINDS] = {0};
    KN_TRY(count_entries(count, ctx, path, err));
    for (int k = HIDDEN; k < KINDS; k++) {
        char sentence[160];
        if (count[k] == 1) snprintf(sentence, sizeof sentence, "the folder holds %s", one[k]);
        if (count[k] > 1) snprintf(sentence, sizeof sentence, "the folder holds %d %s", count[k], many[k]);
        if (count[k] > 0) tell(arg, sentence);
    }
    return KN_OK;
}
