/* kn_studio_browser.c: opens the page of a studio in the user's browser (kn_studio.h).
 *
 * The address holds a token. It is handed to the browser in a file that only the user can read, since the arguments of a
 * program can be seen by everybody on the machine; the file is removed once the page was loaded, or the studio ends.
 * SPDX-License-Identifier: Apache-2.0
 */
#define _DEFAULT_SOURCE /* mkstemps */
#include "kn_studio_browser.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* A page that leads to the address, in a file that only the user reads; false: there is none. It is where the session keeps its files,
 * or where temporary files are. */
static bool write_door(char *path, size_t size, const char *address)
{
    const char *folder = getenv("XDG_RUNTIME_DIR");
    if (!folder || !*folder) folder = getenv("TMPDIR");
    snprintf(path, size, "%s/kanon-studio-XXXXXX.html", folder && *folder ? folder : "/tmp");
    int fd = mkstemps(path, (int)strlen(".html"));
    if (fd < 0) return false;
    bool good = dprintf(fd,
                        "<!doctype html><title>kanon studio</title><meta http-equiv=\"refresh\" content=\"0;url=%s\">"
                        "<a href=\"%s\">kanon studio</a>\n",
                        address, address) > 0;
    good = close(fd) == 0 && good;
    if (!good) (void)unlink(path);
    return good;
}

static bool spawn(pid_t *child, char *path)
{
    char                       word[] = "xdg-open";
    char                      *words[] = {word, path, NULL};
    posix_spawn_file_actions_t actions;
    if (posix_spawn_file_actions_init(&actions) != 0) return false;
    (void)posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    (void)posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    bool good = posix_spawnp(child, word, &actions, NULL, words, environ) == 0;
    posix_spawn_file_actions_destroy(&actions);
    return good;
}

bool kn_studio_browser_start(kn_studio_browser *b, const char *address)
{
    if (b->child > 0 || !write_door(b->path, sizeof b->path, address)) return false;
    atomic_store(&b->written, true);
    if (spawn(&b->child, b->path)) return true;
    b->child = 0;
    kn_studio_browser_loaded(b);
    return false;
}

void kn_studio_browser_loaded(kn_studio_browser *b)
{
    if (atomic_exchange(&b->written, false)) (void)unlink(b->path);
}

void kn_studio_browser_end(kn_studio_browser *b)
{
    kn_studio_browser_loaded(b);
    if (b->child > 0) (void)waitpid(b->child, NULL, WNOHANG);
}
