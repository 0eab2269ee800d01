/* kn_studio_choose.c: a studio that was started without a file: the folders of this machine, and opening what is chosen there
 * (kn_studio_question.h).
 *
 * Whoever has the token sees the names that the user sees; no file is read before it is opened.
 * SPDX-License-Identifier: Apache-2.0
 */
#define _DEFAULT_SOURCE /* realpath */
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kn_studio_question.h"

enum { MOST_ENTRIES = 1000 };

static int visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

/* One entry, or NULL: it is neither a file nor a folder, or its name is no UTF-8. */
static json_t *entry_json(int folder, const char *name)
{
    struct stat about;
    if (fstatat(folder, name, &about, 0) != 0 || !(S_ISREG(about.st_mode) || S_ISDIR(about.st_mode))) return NULL;
    return json_pack("{s:s, s:b, s:I}", "name", name, "folder", S_ISDIR(about.st_mode), "size",
                     (json_int_t)about.st_size);
}

kn_status kn_studio_answer_folder(kn_studio_question *q, kn_error *err)
{
    const char     *asked = kn_studio_text(q, "path");
    char            path[PATH_MAX];
    struct dirent **names = NULL;
    int             count = realpath(asked ? asked : ".", path) ? scandir(path, &names, visible, alphasort) : -1;
    DIR            *folder = count < 0 ? NULL : opendir(path);
    json_t         *entries = json_array();
    for (int i = 0; i < count; i++) {
        json_t *one = folder && i < MOST_ENTRIES ? entry_json(dirfd(folder), names[i]->d_name) : NULL;
        if (one) json_array_append_new(entries, one);
        free(names[i]);
    }
    free(names);
    if (folder) closedir(folder);
    if (folder)
        q->own = json_pack("{s:s, s:o, s:b}", "path", path, "entries", entries, "complete", count <= MOST_ENTRIES);
    if (q->own) return KN_OK;
    if (!folder) json_decref(entries);
    return kn_studio_error(err, KN_INPUT, "the folder cannot be read");
}

static bool ends_with(const char *text, const char *ending)
{
    size_t length = strlen(text), end = strlen(ending);
    return length >= end && strcmp(text + length - end, ending) == 0;
}

/* Below the working folder the name is a short one, as on a command line. */
static const char *shorten(const char *path)
{
    char   here[PATH_MAX];
    size_t length = getcwd(here, sizeof here) ? strlen(here) : 0;
    return length > 0 && strncmp(path, here, length) == 0 && path[length] == '/' && path[length + 1] ? path + length + 1
                                                                                                     : path;
}

kn_status kn_studio_choose(kn_studio_question *q, kn_error *err)
{
    kn_studio_session *s = q->job->owner->session;
    const char        *asked = kn_studio_text(q, "path");
    char               path[PATH_MAX + 1];
    struct stat        about;
    if (!asked) return kn_studio_error(err, KN_USAGE, "no file is named");
    if (!realpath(asked, path) || stat(path, &about) != 0)
        return kn_studio_error(err, KN_INPUT, "%s: there is no such file", asked);
    bool release = ends_with(path, ".yaml") || ends_with(path, ".yml");
    if (S_ISDIR(about.st_mode)) strcat(path, "/"); /* a folder of tables; realpath leaves room for it */
    if (release) {                                 /* paths in it are relative to its folder, as by the command */
        char *slash = strrchr(path, '/');
        *slash = '\0';
        if (chdir(path[0] ? path : "/") != 0)
            return kn_studio_error(err, KN_IO, "the folder of the release file cannot be entered");
        *slash = '/';
    }
    char input[PATH_MAX + sizeof "sqlite:"];
    bool sqlite = ends_with(path, ".db") || ends_with(path, ".sqlite") || ends_with(path, ".sqlite3");
    snprintf(input, sizeof input, "%s%s", sqlite ? "sqlite:" : "", shorten(path));
    bool chosen = kn_studio_session_choose(s, release ? NULL : input, release ? strrchr(path, '/') + 1 : NULL);
    return chosen ? KN_OK : kn_studio_error(err, KN_USAGE, "something is open already; start another studio for it");
}
