/* sql/parts.c: tables in several files. Interface: kn_parts.h. Cost: the folders are listed, nothing is opened. */
/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "kn_parts.h"

#include <dirent.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "kn_folder.h"

enum { DEEPEST = 32 };

static bool ends_with(const char *name, const char *ending)
{
    size_t size = strlen(name), tail = strlen(ending);
    return size > tail && strcasecmp(name + size - tail, ending) == 0;
}

bool kn_parts_is_parquet(const char *name)
{
    return ends_with(name, ".parquet") || ends_with(name, ".pq");
}

bool kn_parts_is_output(const char *name)
{
    return ends_with(name, ".parquet/") || ends_with(name, ".pq/");
}

static bool is_folder(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

size_t kn_parts_root(const char *path)
{
    struct stat info;
    const char *mark = strpbrk(path, "*?[");
    if (!mark || stat(path, &info) == 0) return strlen(path);
    while (mark > path && mark[-1] != '/') mark--;
    return (size_t)(mark - path);
}

/* false: no more. */
static bool walk(char *path, size_t size, int depth, kn_parts_fn fn, void *arg)
{
    bool more = true;
    DIR *dir = opendir(size > 0 ? path : ".");
    for (struct dirent *entry; dir && more && (entry = readdir(dir)) != NULL;) {
        if (entry->d_name[0] == '.') continue;
        int added =
            snprintf(path + size, PATH_MAX - size, "%s%s", size > 0 && path[size - 1] != '/' ? "/" : "", entry->d_name);
        if (added < 0 || size + (size_t)added >= PATH_MAX) continue;
        if (is_folder(path)) {
            if (depth < DEEPEST) more = walk(path, size + (size_t)added, depth + 1, fn, arg);
        } else if (kn_parts_is_parquet(entry->d_name)) {
            more = fn(arg, path);
        }
    }
    path[size] = '\0';
    if (dir) closedir(dir);
    return more;
}

void kn_parts_each(const char *root, size_t size, kn_parts_fn fn, void *arg)
{
    char path[PATH_MAX];
    if (size >= sizeof path) return;
    memcpy(path, root, size);
    path[size] = '\0';
    (void)walk(path, size, 0, fn, arg);
}

static bool found(void *arg, const char *path)
{
    (void)path;
    *(bool *)arg = true;
    return false;
}

static bool has_text_tables(const char *path)
{
    bool any = false;
    DIR *dir = opendir(path);
    for (struct dirent *entry; dir && !any && (entry = readdir(dir)) != NULL;) any = kn_folder_is_table(entry->d_name);
    if (dir) closedir(dir);
    return any;
}

bool kn_parts_folder(const char *path)
{
    bool any = false;
    if (!is_folder(path) || has_text_tables(path)) return false;
    kn_parts_each(path, strlen(path), found, &any);
    return any;
}

typedef struct looking {
    size_t root;
    bool   partitioned;
} looking;

static bool look(void *arg, const char *path)
{
    looking    *l = arg;
    const char *end = strrchr(path, '/'), *mark = strchr(path + l->root, '=');
    l->partitioned = mark && end && mark < end;
    return false;
}

bool kn_parts_partitioned(const char *path)
{
    looking l = {.root = kn_parts_root(path)};
    if (path[l.root] == '\0' && !is_folder(path)) return false;
    kn_parts_each(path, l.root, look, &l);
    return l.partitioned;
}

bool kn_parts_matches(const char *pattern, const char *path)
{
    char   flat[PATH_MAX];
    size_t size = 0;
    bool   deep = strstr(pattern, "**/") != NULL;
    for (const char *c = pattern; *c && size + 1 < sizeof flat; c++) {
        flat[size++] = *c;
        if (strncmp(c, "**/", 3) == 0) c += 2; /* one star for any folders, or none */
    }
    flat[size] = '\0';
    return fnmatch(flat, path, deep ? 0 : FNM_PATHNAME) == 0;
}
