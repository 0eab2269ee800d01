/* pdf.c: a page as PDF (pdf.h): an installed Chromium prints it.
 *
 * The browser gets a folder of its own that only the user can read: its profile, its home, a copy of the page, and the PDF that it
 * makes, which is then copied to a temporary name beside its target and renamed. No name is resolved; the page itself refuses
 * requests and scripts (scripts cannot be switched off: Chromium prints by one of its own). As root, Chromium runs only without its sandbox; what it opens is a page of ours. It is given two minutes.
 * The folder is removed whatever happens, except if this program is killed.
 * SPDX-License-Identifier: Apache-2.0
 */
#define _XOPEN_SOURCE 700 /* nftw, mkdtemp */
#include "pdf.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

enum { PATH_SIZE = 4096, PATIENCE = 120 /* seconds */ };

static kn_status fail(kn_error *err, const char *where, const char *what)
{
    err->status = KN_IO;
    (void)snprintf(err->message, sizeof err->message, "%.600s: %.300s", where, what);
    return KN_IO;
}

/* ---- Which browser ---- */

static char *find(const char *name)
{
    const char *path = getenv("PATH");
    char        full[PATH_SIZE];
    while (path && *path) {
        size_t size = strcspn(path, ":");
        int    n = snprintf(full, sizeof full, "%.*s/%s", (int)size, path, name);
        /* A name relative to the folder that the program happens to be in is not trusted. */
        if (*path == '/' && n > 0 && (size_t)n < sizeof full && access(full, X_OK) == 0) return strdup(full);
        path += size + (path[size] == ':');
    }
    return NULL;
}

char *cli_pdf_browser(kn_error *err)
{
    static const char *const names[] = {"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char *found = find(names[i]);
        if (found) return found;
    }
    err->status = KN_IO;
    (void)snprintf(err->message, sizeof err->message,
                   "--pdf: no Chromium is installed; install it (apt-get install chromium), or print the page from any "
                   "browser");
    return NULL;
}

/* ---- Files ---- */

static bool copy_bytes(int from, int to)
{
    char buffer[1 << 14];
    for (;;) {
        ssize_t n = read(from, buffer, sizeof buffer);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return n == 0;
        for (ssize_t at = 0; at < n;) {
            ssize_t put = write(to, buffer + at, (size_t)(n - at));
            if (put < 0 && errno != EINTR) return false;
            if (put > 0) at += put;
        }
    }
}

static bool copy_page(const char *page, const char *copy)
{
    int  from = open(page, O_RDONLY | O_CLOEXEC), to = open(copy, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    bool good = from >= 0 && to >= 0 && copy_bytes(from, to);
    if (from >= 0) (void)close(from);
    if (to >= 0) good = close(to) == 0 && good;
    return good;
}

/* Is it one? A browser that failed may have left nothing, or something else. */
static int open_pdf(const char *path)
{
    char start[5] = {0};
    int  fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && read(fd, start, sizeof start) == sizeof start && memcmp(start, "%PDF-", sizeof start) == 0 &&
        lseek(fd, 0, SEEK_SET) == 0)
        return fd;
    if (fd >= 0) (void)close(fd);
    return -1;
}

/* Gives the bytes their name, all at once. */
static kn_status place(int from, const char *output, bool mine, kn_error *err)
{
    char   temporary[PATH_SIZE];
    mode_t mask = umask(0);
    (void)umask(mask);
    int n = snprintf(temporary, sizeof temporary, "%s.XXXXXX", output);
    if (n < 0 || (size_t)n >= sizeof temporary) return fail(err, output, strerror(ENAMETOOLONG));
    int fd = mkstemp(temporary); /* mode 0600 */
    if (fd < 0) return fail(err, output, strerror(errno));
    bool good = copy_bytes(from, fd) && fchmod(fd, mine ? 0600 : 0666 & ~mask) == 0 && fsync(fd) == 0;
    int  why = errno;
    if (close(fd) != 0 && good) {
        good = false;
        why = errno;
    }
    if (good && rename(temporary, output) != 0) {
        good = false;
        why = errno;
    }
    if (good) return KN_OK;
    (void)unlink(temporary);
    return fail(err, output, strerror(why));
}

static int remove_one(const char *path, const struct stat *about, int kind, struct FTW *where)
{
    (void)about, (void)kind, (void)where;
    (void)remove(path);
    return 0;
}

/* ---- The browser ---- */

/* The environment, with a home that is the folder. False: no memory. */
static bool make_environment(char ***out, char home[3][PATH_SIZE], const char *folder)
{
    static const char *const names[3] = {"HOME=", "XDG_CONFIG_HOME=", "XDG_CACHE_HOME="};
    size_t                   count = 0, kept = 0;
    while (environ[count]) count++;
    char **list = malloc((count + 4) * sizeof *list);
    if (!list) return false;
    for (size_t i = 0; i < count; i++) {
        bool ours = false;
        for (int n = 0; n < 3; n++) ours = ours || strncmp(environ[i], names[n], strlen(names[n])) == 0;
        if (!ours) list[kept++] = environ[i];
    }
    for (int n = 0; n < 3; n++) {
        (void)snprintf(home[n], PATH_SIZE, "%s%s", names[n], folder);
        list[kept++] = home[n];
    }
    list[kept] = NULL;
    *out = list;
    return true;
}

static bool start(pid_t *child, const char *browser, const char *folder)
{
    char profile[PATH_SIZE], print[PATH_SIZE], address[PATH_SIZE], home[3][PATH_SIZE], name[PATH_SIZE];
    char headless[] = "--headless", bare[] = "--no-pdf-header-footer", first[] = "--no-first-run",
         gpu[] = "--disable-gpu";
    char  quiet[] = "--disable-background-networking", nowhere[] = "--host-resolver-rules=MAP * ~NOTFOUND";
    char  extensions[] = "--disable-extensions";
    char  shared[] = "--disable-dev-shm-usage", root[] = "--no-sandbox";
    char *words[16], **environment;
    int   n = 0;
    posix_spawn_file_actions_t actions;
    (void)snprintf(name, sizeof name, "%s", browser);
    (void)snprintf(profile, sizeof profile, "--user-data-dir=%s/profile", folder);
    (void)snprintf(print, sizeof print, "--print-to-pdf=%s/page.pdf", folder);
    (void)snprintf(address, sizeof address, "%s/page.html", folder);
    char *const all[] = {name, headless, bare, first, gpu, quiet, nowhere, extensions, shared, profile, print};
    for (; n < (int)(sizeof all / sizeof *all); n++) words[n] = all[n];
    if (geteuid() == 0) words[n++] = root;
    words[n++] = address;
    words[n] = NULL;
    if (!make_environment(&environment, home, folder)) return false;
    bool good = posix_spawn_file_actions_init(&actions) == 0;
    if (good) {
        (void)posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
        (void)posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
        (void)posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
        good = posix_spawn(child, browser, &actions, NULL, words, environment) == 0;
        posix_spawn_file_actions_destroy(&actions);
    }
    free(environment);
    return good;
}

/* Waits until it ends, at most as long as our patience. */
static bool await(pid_t child)
{
    const struct timespec moment = {0, 20000000};
    int                   status = 0;
    for (int i = 0; i < PATIENCE * 50; i++) {
        pid_t ended = waitpid(child, &status, WNOHANG);
        if (ended == child) return WIFEXITED(status) && WEXITSTATUS(status) == 0;
        if (ended < 0 && errno != EINTR) return false;
        (void)nanosleep(&moment, NULL);
    }
    (void)kill(child, SIGKILL);
    (void)waitpid(child, &status, 0);
    return false;
}

kn_status cli_pdf_write(const char *browser, const char *page, const char *output, bool mine, kn_error *err)
{
    char        folder[PATH_SIZE / 2], copy[PATH_SIZE], made[PATH_SIZE];
    const char *temporary = getenv("TMPDIR");
    pid_t       child = 0;
    int         fd = -1;
    kn_status   st = KN_OK;
    (void)snprintf(folder, sizeof folder, "%.1900s/kanon-pdf-XXXXXX",
                   temporary && *temporary == '/' ? temporary : "/tmp");
    if (!mkdtemp(folder)) return fail(err, folder, strerror(errno)); /* mode 0700 */
    (void)snprintf(copy, sizeof copy, "%s/page.html", folder);
    (void)snprintf(made, sizeof made, "%s/page.pdf", folder);
    if (!copy_page(page, copy))
        st = fail(err, page, "cannot be read again, or copied for the browser");
    else if (!start(&child, browser, folder) || !await(child) || (fd = open_pdf(made)) < 0)
        st = fail(err, browser, "it made no PDF of the page, which is written; print that from any browser");
    else
        st = place(fd, output, mine, err);
    if (fd >= 0) (void)close(fd);
    (void)nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    return st;
}
