/* set_journal.c: the journal of a set of files that is getting its names. Interface: kn_set_steps.h.
 *
 * Text, mode 0600, a line for each step and "end" after the last, so that an incomplete one is recognized:
 *
 *     kanon-journal 1
 *     MODE FILE SIZE TEMPORARY TARGET BACKUP
 *     end
 *
 * Paths are absolute unless they are in the journal's own folder, which may be moved; "-" means none. Bytes that
 * could end a word are written as % and two digits. Following a journal renames and removes files: so it must belong
 * to the user, and nobody else may be able to write to it.
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kn_alloc.h"
#include "kn_buffer.h"
#include "kn_error.h"
#include "kn_output_place.h"
#include "kn_set_steps.h"

static const char title[] = "kanon-journal 1";

/* ---- Writing ---- */

static void add_path(const kn_set_steps *s, kn_buffer *text, const char *path)
{
    size_t folder = (size_t)(strrchr(s->journal, '/') + 1 - s->journal);
    if (!path) kn_buffer_add(text, " -");
    if (!path) return;
    if (strncmp(path, s->journal, folder) == 0 && !strchr(path + folder, '/')) path += folder;
    kn_buffer_char(text, ' ');
    for (; *path; path++) {
        unsigned char c = (unsigned char)*path;
        if (c <= ' ' || c == '%' || c == 0x7F)
            kn_buffer_format(text, "%%%02x", c);
        else
            kn_buffer_char(text, *path);
    }
}

static bool write_all(int fd, const char *data, size_t size)
{
    while (size > 0) {
        ssize_t n = write(fd, data, size);
        if (n < 0 && errno != EINTR) return false;
        if (n < 0) continue;
        data += n;
        size -= (size_t)n;
    }
    return fsync(fd) == 0;
}

static kn_status write_text(const kn_set_steps *s, const char *text, kn_error *err)
{
    int  fd = open(s->journal, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    bool ok = fd >= 0 && write_all(fd, text, strlen(text));
    int  error = errno;
    if (fd >= 0 && close(fd) != 0 && ok) {
        ok = false;
        error = errno;
    }
    if (ok && !kn_place_sync(s->journal)) {
        ok = false;
        error = errno;
    }
    if (ok) return KN_OK;
    if (fd >= 0) unlink(s->journal);
    return kn_fail(err, KN_IO, "%s: its journal cannot be written: %s", s->name, strerror(error));
}

kn_status kn_set_journal_write(const kn_set_steps *s, kn_error *err)
{
    kn_buffer text;
    kn_buffer_init(&text, s->ctx);
    kn_buffer_format(&text, "%s\n", title);
    for (int i = 0; i < s->count; i++) {
        const kn_set_step *step = &s->list[i];
        kn_buffer_format(&text, "%o %llu %llu", step->mode, (unsigned long long)step->file,
                         (unsigned long long)step->size);
        add_path(s, &text, step->temporary);
        add_path(s, &text, step->target);
        add_path(s, &text, step->backup);
        kn_buffer_char(&text, '\n');
    }
    kn_buffer_add(&text, "end\n");
    const char *whole = kn_buffer_text(&text);
    kn_status st = whole ? write_text(s, whole, err) : kn_fail_memory(err, s->ctx, "writing the journal of a release");
    kn_buffer_free(&text);
    return st;
}

kn_status kn_set_journal_remove(const kn_set_steps *s, kn_error *err)
{
    if ((unlink(s->journal) != 0 && errno != ENOENT) || !kn_place_sync(s->journal))
        return kn_fail(err, KN_IO, "%s: its journal cannot be removed: %s", s->name, strerror(errno));
    return KN_OK;
}

/* ---- Reading ---- */

/* Of a line: the next word, decoded, as a path; NULL: "-", or out of memory. */
static char *take_path(const kn_set_steps *s, char **line, bool *failed)
{
    char *word = strsep(line, " ");
    if (!word || strcmp(word, "-") == 0) return NULL;
    size_t folder = word[0] == '/' ? 0 : (size_t)(strrchr(s->journal, '/') + 1 - s->journal), size = folder;
    char  *path = kn_alloc(s->ctx, folder + strlen(word) + 1);
    *failed = *failed || !path;
    if (!path) return NULL;
    memcpy(path, s->journal, folder);
    for (const char *c = word; *c; c++) {
        bool coded = *c == '%' && isxdigit((unsigned char)c[1]) && isxdigit((unsigned char)c[2]);
        path[size++] = coded ? (char)strtoul((char[]){c[1], c[2], '\0'}, NULL, 16) : *c;
        if (coded) c += 2;
    }
    path[size] = '\0';
    return path;
}

static bool take_step(kn_set_steps *s, char *line, bool *failed)
{
    unsigned           mode = 0;
    unsigned long long file = 0, size = 0;
    int                used = 0;
    if (s->count == KN_SET_STEPS || sscanf(line, "%o %llu %llu %n", &mode, &file, &size, &used) != 3 || used == 0)
        return false;
    line += used;
    kn_set_step *step = &s->list[s->count++];
    *step = (kn_set_step){.mode = mode & 0777, .file = file, .size = size};
    step->temporary = take_path(s, &line, failed);
    step->target = take_path(s, &line, failed);
    step->backup = take_path(s, &line, failed);
    return !line && !step->target == !step->backup && (step->target || !step->temporary);
}

/* false: not whole, which is no failure. */
static bool take_text(kn_set_steps *s, char *text, bool *failed)
{
    char *line = strsep(&text, "\n");
    if (!line || strcmp(line, title) != 0) return false;
    while ((line = strsep(&text, "\n")) != NULL && strcmp(line, "end") != 0)
        if (!take_step(s, line, failed)) return false;
    return line != NULL;
}

static kn_status read_text(kn_set_steps *s, int fd, size_t size, kn_error *err)
{
    char  *text = kn_alloc(s->ctx, size + 1);
    size_t used = 0;
    bool   failed = !text, broken = false;
    while (text && used < size) {
        ssize_t n = read(fd, text + used, size - used);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) broken = n < 0;
        if (n <= 0) break;
        used += (size_t)n;
    }
    int error = errno;
    if (text && !broken) {
        text[used] = '\0';
        if (!take_text(s, text, &failed)) kn_set_steps_free(s);
    }
    kn_free(text);
    if (broken) return kn_fail(err, KN_IO, "%s: its journal cannot be read: %s", s->name, strerror(error));
    return failed ? kn_fail_memory(err, s->ctx, "reading the journal of a release") : KN_OK;
}

kn_status kn_set_journal_read(kn_set_steps *s, kn_error *err)
{
    enum { MOST = 1 << 20 };
    struct stat info;
    int         fd = open(s->journal, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 && errno == ENOENT) return KN_OK;
    if (fd < 0 && errno != EACCES && errno != ELOOP)
        return kn_fail(err, KN_IO, "%s: its journal cannot be read: %s", s->name, strerror(errno));
    bool ours = fd >= 0 && fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_uid == geteuid() &&
                info.st_nlink == 1 && (info.st_mode & 077) == 0 && info.st_size <= MOST;
    kn_status st = ours ? read_text(s, fd, (size_t)info.st_size, err)
                        : kn_fail(err, KN_IO,
                                  "%s: %s stands beside it, which is not a journal of yours: whoever wrote it has to "
                                  "complete the release, or remove it",
                                  s->name, s->journal);
    if (fd >= 0) close(fd);
    return st;
}
