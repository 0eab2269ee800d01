/* folder_testing.h: a folder of files for tests of whole runs: put, run, get. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FOLDER_TESTING_H
#define FOLDER_TESTING_H

#include "testing.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Waiting for the disk would take most of the time; tests/crash looks at what is synced and when. */
int fsync(int fd)
{
    (void)fd;
    return 0;
}

static char folder[4000]; /* of testing_file, with its slash */

/* To be called first. */
static inline void folder_set_up(void)
{
    const char *path = testing_file("first", "", 0);
    snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(path, '/') - path) + 1, path);
}

/* Good until seven others were asked for. */
static inline const char *path_of(const char *name)
{
    static char paths[8][4096];
    static int  next;
    char       *path = paths[next++ % 8];
    snprintf(path, sizeof paths[0], "%s%s", folder, name);
    return path;
}

static inline void put(const char *name, const char *text)
{
    testing_file(name, text, strlen(text));
}

/* What is in a file, to be freed; NULL: it is not there. */
static inline char *get_size(const char *name, size_t *size)
{
    *size = 0;
    return access(path_of(name), F_OK) == 0 ? testing_contents(path_of(name), size) : NULL;
}

static inline char *get(const char *name)
{
    size_t size;
    return get_size(name, &size);
}

#endif
