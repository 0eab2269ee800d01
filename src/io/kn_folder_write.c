/* kn_folder_write.c: a database → a folder of CSV files that appears whole or not at all. Interface: kn_folder.h.
 *
 * The files are written into a folder with a temporary name beside the target, which gets its name at the end: rename
 * replaces a folder only if it is empty, so no file of the user is ever lost. A run that is killed leaves the
 * temporary folder, which the next run removes (kn_output_place.c).
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kn_alloc.h"
#include "kn_csv_write.h"
#include "kn_error.h"
#include "kn_extras.h"
#include "kn_folder.h"
#include "kn_memory.h"
#include "kn_output.h"
#include "kn_output_place.h"

#define WHAT "writing a folder"

typedef struct folder_sink {
    kn_context *ctx;
    char       *target; /* without a slash at its end */
    char       *temporary;
    int         fd;   /* of the temporary folder: its claim */
    mode_t      mode; /* that the folder gets   */
    kn_output  *file; /* of the current table   */
    int         columns;
    bool        guarded; /* kn_database_writer_guard */
    bool        memory;  /* the folder is one of names in memory (kn_memory.h) */
    kn_buffer   line;
} folder_sink;

bool kn_folder_is_file(const kn_context *ctx, const char *path)
{
    struct stat info;
    if (kn_memory_is(ctx, path)) return kn_memory_there(ctx, path);
    return stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

static void sink_abort(void *state)
{
    folder_sink *s = state;
    kn_output_abort(s->file);
    for (const char *name; s->memory && s->temporary && (name = kn_memory_next(s->ctx, s->temporary, NULL)) != NULL;)
        kn_memory_remove(s->ctx, name);
    if (s->temporary && !s->memory) (void)kn_place_remove(s->temporary);
    if (s->fd >= 0) close(s->fd);
    kn_buffer_free(&s->line);
    KN_FREE(s->temporary, s->target, s);
}

/* What the names in a folder in memory begin with. */
static char *name_below(const folder_sink *s, const char *folder)
{
    size_t size = strlen(folder) + 2;
    char  *name = kn_alloc(s->ctx, size);
    if (name) snprintf(name, size, "%s/", folder);
    return name;
}

static bool safe_name(const char *name)
{
    return *name && name[0] != '.' && !strchr(name, '/');
}

static kn_status sink_table(void *state, const kn_sink_table *table, kn_error *err)
{
    folder_sink *s = state;
    if (!safe_name(table->name))
        return kn_fail(err, KN_INPUT, "%s: a table's name cannot be that of a file", s->target);
    char     *path = kn_strformat(s->ctx, "%s/%s.csv", s->temporary, table->name);
    kn_status status = path ? kn_output_open(&s->file, s->ctx, path, NULL, err) : kn_fail_memory(err, s->ctx, WHAT);
    kn_free(path);
    if (status != KN_OK) return status;
    s->columns = table->column_count;
    kn_buffer_clear(&s->line);
    for (int c = 0; c < table->column_count; c++) {
        if (s->guarded && kn_csv_formula(kn_string_of(table->columns[c].name)))
            return kn_fail(err, KN_INPUT,
                           "%s: a spreadsheet would execute the name of column %d of table \"%s\"; give it another",
                           s->target, c + 1, table->name);
        if (c > 0) kn_buffer_char(&s->line, ',');
        kn_csv_cell(&s->line, kn_string_of(table->columns[c].name), ',');
    }
    kn_buffer_char(&s->line, '\n');
    return KN_OK;
}

static kn_status flush_lines(folder_sink *s, kn_error *err)
{
    if (s->line.failed) return kn_fail_memory(err, s->ctx, WHAT);
    kn_output_write(s->file, s->line.data, s->line.size);
    kn_buffer_clear(&s->line);
    return KN_OK;
}

static kn_status sink_row(void *state, const kn_string *cells, kn_error *err)
{
    folder_sink *s = state;
    bool         bare = s->columns == 1 && cells[0].size == 0;
    for (int c = 0; c < s->columns; c++) {
        kn_string cell = cells[c];
        if (!cell.data) cell = (kn_string){"", 0}; /* missing */
        if (c > 0) kn_buffer_char(&s->line, ',');
        if (s->guarded)
            kn_csv_guarded_cell(&s->line, cell, ',');
        else
            kn_csv_cell(&s->line, cell, ',');
    }
    kn_buffer_add(&s->line, bare ? "\"\"\n" : "\n");
    return s->line.size > 1 << 18 ? flush_lines(s, err) : KN_OK;
}

static kn_status sink_table_end(void *state, kn_error *err)
{
    folder_sink *s = state;
    KN_TRY(flush_lines(s, err));
    kn_output *file = s->file;
    s->file = NULL;
    return kn_output_commit(file, err);
}

static kn_status sink_cells(void *state, kn_cells **out, kn_error *err)
{
    const folder_sink *s = state;
    return kn_folder_cells(out, s->ctx, s->temporary, err);
}

/* Some file systems cannot do this for folders and say EINVAL. */
static bool sync_folder(int fd)
{
    return fsync(fd) == 0 || errno == EINVAL || errno == ENOTSUP;
}

static kn_status sink_sync(void *state, kn_database_place *out, kn_error *err)
{
    folder_sink *s = state;
    if (!sync_folder(s->fd)) return kn_fail(err, KN_IO, "%s: cannot be written: %s", s->target, strerror(errno));
    out->temporary = s->temporary;
    out->target = s->target;
    out->mode = s->mode;
    return KN_OK;
}

static void sink_detach(void *state)
{
    folder_sink *s = state;
    kn_free(s->temporary);
    s->temporary = NULL;
    sink_abort(s); /* what is left of it */
}

/* The folder is readable by others only once it has its name. */
static kn_status give_name(folder_sink *s, kn_error *err)
{
    if (!sync_folder(s->fd) || rename(s->temporary, s->target) != 0)
        return kn_fail(err, KN_IO, "%s: cannot be written: %s", s->target, strerror(errno));
    kn_free(s->temporary);
    s->temporary = NULL;
    if (fchmod(s->fd, s->mode) != 0)
        return kn_fail(err, KN_IO, "%s: was written, but stays private: %s", s->target, strerror(errno));
    if (kn_place_sync(s->target)) return KN_OK;
    return kn_fail(err, KN_IO, "%s: was written, but may not outlast a power failure: %s", s->target, strerror(errno));
}

static kn_status give_name_in_memory(folder_sink *s, kn_error *err)
{
    char     *to = name_below(s, s->target), *from = name_below(s, s->temporary);
    kn_status status = to && from ? kn_memory_rename(s->ctx, from, to, err) : kn_fail_memory(err, s->ctx, WHAT);
    kn_free(to);
    kn_free(from);
    return status;
}

static kn_status sink_commit(void *state, kn_error *err)
{
    folder_sink *s = state;
    kn_status    status = s->memory ? give_name_in_memory(s, err) : give_name(s, err);
    sink_abort(s); /* what is left of it */
    return status;
}

/* Is the target free: nonexistent, or an empty folder? An empty one keeps its permissions. */
static kn_status check_target(folder_sink *s, kn_error *err)
{
    struct stat info;
    const char *slash = strrchr(s->target, '/'), *name = slash ? slash + 1 : s->target;
    int         entries = 0;
    if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || !*name)
        return kn_fail(err, KN_USAGE, "%s: a release needs a folder of its own: give it a name", s->target);
    if (lstat(s->target, &info) == 0 && S_ISLNK(info.st_mode))
        return kn_fail(err, KN_USAGE, "%s: is a symbolic link: name the folder itself", s->target);
    s->mode = 0777 & ~kn_output_umask();
    DIR *dir = opendir(s->target);
    if (!dir && errno == ENOENT) return KN_OK;
    if (!dir) return kn_fail(err, KN_IO, "%s: cannot be written: %s", s->target, strerror(errno));
    if (fstat(dirfd(dir), &info) == 0) s->mode = info.st_mode & 0777;
    while (readdir(dir) && entries <= 2) entries++;
    closedir(dir);
    return entries <= 2 ? KN_OK : kn_fail(err, KN_USAGE, "%s: the folder exists and is not empty", s->target);
}

static kn_status make_temporary(folder_sink *s, kn_error *err)
{
    return kn_place_folder(&s->temporary, &s->fd, s->ctx, s->target, err);
}

static kn_status open_in_memory(folder_sink *s, kn_error *err)
{
    static const char temporary[] = "memory:.kanon-folder";
    char             *below = name_below(s, s->target);
    bool              free = below && !kn_memory_next(s->ctx, below, NULL);
    s->memory = true;
    s->temporary = kn_strndup(s->ctx, temporary, sizeof temporary - 1);
    if (!below || !s->temporary) {
        kn_free(below);
        return kn_fail_memory(err, s->ctx, WHAT);
    }
    kn_free(below);
    return free ? KN_OK : kn_fail(err, KN_USAGE, "%s: the folder exists and is not empty", s->target);
}

kn_status kn_folder_sink(kn_database_sink *out, kn_context *ctx, const char *path, kn_error *err)
{
    size_t       size = strlen(path);
    folder_sink *s = kn_alloc_zero(ctx, sizeof *s);
    if (!s) return kn_fail_memory(err, ctx, WHAT);
    while (size > 1 && path[size - 1] == '/') size--;
    s->ctx = ctx;
    s->fd = -1;
    kn_buffer_init(&s->line, ctx);
    s->target = kn_strndup(ctx, path, size);
    bool      memory = kn_memory_is(ctx, path);
    kn_status status = s->target ? KN_OK : kn_fail_memory(err, s->ctx, WHAT);
    if (status == KN_OK && memory) status = open_in_memory(s, err);
    if (status == KN_OK && !memory) status = kn_place_check_links(ctx, s->target, err);
    if (status == KN_OK && !memory) status = check_target(s, err);
    if (status == KN_OK && !memory) status = make_temporary(s, err);
    if (status != KN_OK) {
        sink_abort(s);
        return status;
    }
    *out = (kn_database_sink){s,           s->temporary, sink_table,  sink_row,   sink_table_end,
                              NULL,        sink_cells,   sink_commit, sink_abort, NULL,
                              &s->guarded, sink_sync,    sink_detach, NULL,       NULL};
    return KN_OK;
}
