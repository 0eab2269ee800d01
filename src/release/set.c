/* set.c: the files of a release as one set: its lock, what a killed run left, its commit. Interface: kn_set.h; the
 * steps of a commit are in set_steps.c, its journal in set_journal.c.
 *
 * Lock and journal are beside the real file of the release: an output that is a symbolic link is followed, so that
 * runs under both names exclude each other, and the files beside either name are replaced with the old release.
 *
 * The system's locks (flock) end with their process. On a file system without locks two runs do not exclude each
 * other; on NFS it depends on the server. A lock file that another user left can only be removed by hand.
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE
#include "kn_set.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "kn_alloc.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_memory.h"
#include "kn_names.h"
#include "kn_output_place.h"
#include "kn_set_steps.h"
#include "kn_table_name.h"

enum { WAIT_MS = 20, WAIT_TIMES = 500, NAME_KEPT = 200 };

struct kn_set {
    kn_context         *ctx;
    char               *output; /* as it was given; NULL: a stream                                       */
    char               *base;   /* prefix of the files beside the release                                */
    char               *beside; /* the same, absolute; NULL: its folder cannot be reached                 */
    char               *place;  /* absolute: the real file of the release                                */
    char               *locked; /* the lock's path; NULL: it is not held                                 */
    char               *journal;
    bool                memory; /* its names are in memory: no lock and no journal                        */
    int                 lock;
    kn_output          *outputs[KN_SET_ROLES];
    kn_database_writer *writer;
    kn_set_steps        steps;
    bool                unsettled; /* the transaction is committed, or nobody knows: no way back, the journal stays */
    char                note[600];
};

static const char *const suffixes[KN_SET_ROLES] = {
    [KN_SET_ROWMAP] = KN_ROWMAP_SUFFIX,          [KN_SET_RECIPE] = KN_RECIPE_SUFFIX,
    [KN_SET_LABELS] = KN_LABELS_SUFFIX,          [KN_SET_PRIVATE] = KN_PRIVATE_SUFFIX,
    [KN_SET_SUMMARY] = KN_SUMMARY_SUFFIX,        [KN_SET_RELEASE] = "",
    [KN_SET_CERTIFICATE] = KN_CERTIFICATE_SUFFIX};

static kn_status no_memory(const kn_set *s, kn_error *err)
{
    return kn_fail_memory(err, s->ctx, "writing the files of a release");
}

static char *join(kn_context *ctx, const char *base, const char *suffix)
{
    size_t room = strlen(base) + strlen(suffix) + 1;
    char  *path = kn_alloc(ctx, room);
    if (path) snprintf(path, room, "%s%s", base, suffix);
    return path;
}

/* ---- Where it stands ---- */

kn_status kn_set_base(char **out, kn_context *ctx, const char *output, kn_error *err)
{
    const char *file = kn_name_sqlite(output), *from = file ? file : output;
    if (kn_name_server(output)) {
        const char *schema = strrchr(output, '#');
        from = schema ? schema + 1 : "release";
        if (strchr(from, '/')) return kn_fail(err, KN_USAGE, "the name of a schema has no slash");
    }
    if (kn_name_engine(output)) { /* where that writes there may be no files of this machine */
        from = "memory:out";
        if (!kn_memory_is(ctx, from))
            return kn_fail(err, KN_USAGE, "what stands beside a release of an engine goes to memory: kn_memory_enable");
    }
    size_t size = strlen(from);
    while (size > 1 && from[size - 1] == '/') size--;
    *out = kn_strndup(ctx, from, size);
    if (*out && file && kn_table_kind_of(output) == KN_TABLE_SQLITE) {
        if (strchr(strrchr(*out, '#') ? strrchr(*out, '#') : "/", '/'))
            return kn_fail(err, KN_USAGE, "the name of a table has no slash here, and a release is no query");
        *strrchr(*out, '#') = '.'; /* FILE.TABLE.certificate.json */
    }
    return *out ? KN_OK : kn_fail_memory(err, ctx, "making a release");
}

/* The absolute path of a name, which is not followed itself. NULL, with errno 0: out of memory. */
static char *absolute(kn_context *ctx, const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    char        folder[PATH_MAX] = ".", full[PATH_MAX];
    if (slash && (size_t)(slash - path) + 1 >= sizeof folder) return NULL;
    if (slash) snprintf(folder, sizeof folder, "%.*s", (int)(slash - path) + 1, path);
    if (!realpath(folder, full)) return NULL;
    size_t room = strlen(full) + strlen(name) + 2;
    char  *out = kn_alloc(ctx, room);
    errno = 0;
    if (out) snprintf(out, room, "%s/%s", strcmp(full, "/") == 0 ? "" : full, name);
    return out;
}

/* "FOLDER/.NAME" and an ending. */
static char *hidden(kn_context *ctx, const char *place, const char *ending)
{
    const char *name = strrchr(place, '/') + 1;
    size_t      keep = strlen(name), room = strlen(place) + strlen(ending) + 2;
    if (keep > NAME_KEPT) /* a file name ends at 255 bytes; cut between characters */
        for (keep = NAME_KEPT; keep > 0 && ((unsigned char)name[keep] & 0xC0) == 0x80;) keep--;
    char *path = kn_alloc(ctx, room);
    if (path) snprintf(path, room, "%.*s.%.*s%s", (int)(name - place), place, (int)keep, name, ending);
    return path;
}

static kn_status find_place(kn_set *s, const char *output, kn_error *err)
{
    struct stat info;
    char        followed[PATH_MAX];
    KN_TRY(kn_set_base(&s->base, s->ctx, output, err));
    s->output = kn_strndup(s->ctx, output, strlen(output));
    if (!s->output) return no_memory(s, err);
    s->memory = kn_memory_is(s->ctx, s->base);
    if (s->memory) return KN_OK;
    s->beside = absolute(s->ctx, s->base);
    if (!s->beside) return errno ? KN_OK : no_memory(s, err); /* opening a file there reports why    */
    bool        link = lstat(s->beside, &info) == 0 && S_ISLNK(info.st_mode) && !kn_name_server(output);
    const char *place = link && realpath(s->beside, followed) ? followed : s->beside;
    s->place = kn_strndup(s->ctx, place, strlen(place));
    if (s->place) s->journal = hidden(s->ctx, s->place, KN_JOURNAL_ENDING);
    s->steps = (kn_set_steps){.ctx = s->ctx, .name = s->base, .journal = s->journal};
    return s->journal ? KN_OK : no_memory(s, err);
}

/* ---- The lock ---- */

static int open_lock(const char *path)
{
    int fd = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    if (fd >= 0 || errno != ENOENT) return fd;
    return open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
}

/* Tries once. 1: held; 0: another run has it, or had it and removed its file; -1: errno says what failed. */
static int try_lock(const char *path, int *out)
{
    struct stat ours, there;
    int         fd = open_lock(path);
    if (fd < 0) return errno == EEXIST ? 0 : -1;
    int  failed = flock(fd, LOCK_EX | LOCK_NB);
    bool held = failed == 0 || errno != EWOULDBLOCK; /* a file system without locks                  */
    if (held && fstat(fd, &ours) == 0 && lstat(path, &there) == 0 && ours.st_ino == there.st_ino &&
        ours.st_dev == there.st_dev) {
        *out = fd;
        return 1;
    }
    close(fd);
    errno = held ? EAGAIN : EWOULDBLOCK;
    return 0;
}

static void unlock(kn_set *s)
{
    if (s->lock < 0) return;
    unlink(s->locked);
    close(s->lock);
    s->lock = -1;
}

/* `patient`: waits for a run that is just committing. */
static kn_status take_lock(kn_set *s, bool patient, kn_error *err)
{
    s->locked = hidden(s->ctx, s->place, ".kanon-lock");
    if (!s->locked) return no_memory(s, err);
    for (int i = 0, tried = 0;; tried++) {
        int got = try_lock(s->locked, &s->lock);
        if (got > 0) return KN_OK;
        if (got < 0) break;
        if (kn_cancelled(s->ctx)) return kn_fail_cancelled(err);
        if (tried < 10) continue; /* its file may have been removed just then */
        if (!patient || i++ == WAIT_TIMES)
            return kn_fail(err, KN_IO, "%s: another run is writing this release; try again when it has ended", s->base);
        nanosleep(&(struct timespec){0, WAIT_MS * 1000000}, NULL);
    }
    int         error = errno;
    struct stat info;
    if (lstat(s->locked, &info) == 0)
        return kn_fail(err, KN_IO, "%s: %s is somebody else's: a run of theirs is writing this release, or was killed",
                       s->base, s->locked);
    if (error == EACCES || error == EROFS || error == EPERM || error == ENOENT)
        return KN_OK; /* no file can be created there: opening the output reports it */
    return kn_fail(err, KN_IO, "%s: cannot be locked: %s", s->base, strerror(error));
}

/* ---- What a killed run left ---- */

static kn_status resolve_journal(kn_set *s, kn_error *err)
{
    uint64_t schema = kn_set_steps_schema(&s->steps);
    bool     done = kn_set_steps_done(&s->steps), committed = schema == 0;
    if (!done && schema > 0 && !kn_name_server(s->output) && kn_table_kind_of(s->output) != KN_TABLE_SQLITE)
        return kn_fail(err, KN_IO, "%s: it is a server's; name it as it was named then: postgresql://...#%s", s->base,
                       s->base);
    if (!done && schema > 0) KN_TRY(kn_database_committed(&committed, s->ctx, s->output, schema, err));
    bool complete = done || (committed && kn_set_steps_ready(&s->steps));
    if (complete) KN_TRY(kn_set_steps_forward(&s->steps, NULL, NULL, err));
    KN_TRY(complete ? kn_set_steps_finish(&s->steps, err) : kn_set_steps_back(&s->steps, err));
    snprintf(s->note, sizeof s->note, "%.200s: a run ended while its release was getting its names; %s", s->base,
             complete ? "the release is complete now"
                      : "that release was undone, and what stood there before stands there again");
    return KN_OK;
}

/* The lock is held. */
static kn_status settle(kn_set *s, kn_error *err)
{
    struct stat info;
    kn_error    why = KN_ERROR_INIT;
    if (lstat(s->journal, &info) != 0) return KN_OK;
    KN_TRY(kn_set_journal_read(&s->steps, err));
    kn_status st = resolve_journal(s, &why);
    kn_set_steps_free(&s->steps);
    if (st == KN_OK || st == KN_CANCELLED || st == KN_MEMORY)
        return st == KN_OK ? st : kn_fail(err, st, "%s", why.message);
    return kn_fail(err, st, "a run ended while its release was getting its names, and that cannot be settled: %.600s",
                   why.message);
}

static kn_set *new_set(kn_context *ctx)
{
    kn_set *s = kn_alloc_zero(ctx, sizeof *s);
    if (!s) return NULL;
    s->ctx = ctx;
    s->lock = -1;
    return s;
}

kn_status kn_set_open(kn_set **out, kn_context *ctx, const char *output, kn_error *err)
{
    *out = new_set(ctx);
    if (!*out) return kn_fail_memory(err, ctx, "writing the files of a release");
    if (!output || strcmp(output, "-") == 0) return KN_OK;
    kn_set   *s = *out;
    kn_status st = find_place(s, output, err);
    if (st == KN_OK && !s->memory) st = kn_place_check_links(ctx, s->base, err);
    if (st == KN_OK && s->place) st = take_lock(s, false, err);
    if (st == KN_OK && s->place) st = settle(s, err);
    if (st == KN_OK) return KN_OK;
    kn_set_end(s);
    *out = NULL;
    return st;
}

kn_status kn_set_settle(kn_context *ctx, const char *output, bool wait, char *note, size_t note_size, kn_error *err)
{
    struct stat info;
    note[0] = '\0';
    if (!output || strcmp(output, "-") == 0) return KN_OK;
    kn_set *s = new_set(ctx);
    if (!s) return kn_fail_memory(err, ctx, "looking at a release");
    kn_status st = find_place(s, output, err);
    if (st == KN_USAGE) st = KN_OK; /* not the name of a release: reading it reports that */
    if (st == KN_OK && s->journal && lstat(s->journal, &info) == 0) {
        st = kn_place_check_links(ctx, s->base, err);
        if (st == KN_OK) st = take_lock(s, wait, err);
        if (st == KN_OK) st = settle(s, err);
        snprintf(note, note_size, "%s", s->note);
    }
    kn_set_end(s);
    return st;
}

/* ---- Its files ---- */

static bool is_private(kn_set_role role)
{
    return role <= KN_SET_REPORT;
}

kn_status kn_set_create(kn_set *s, kn_output **out, kn_set_role role, const char *path, kn_error *err)
{
    const char *folder = s->writer ? kn_database_writer_folder(s->writer) : NULL;
    char       *made = NULL;
    *out = NULL;
    if (!path) {
        bool inside = folder && role == KN_SET_CERTIFICATE;
        path = made = inside ? join(s->ctx, folder, "/certificate.json") : join(s->ctx, s->base, suffixes[role]);
        if (!made) return no_memory(s, err);
    }
    kn_status st = kn_output_open(out, s->ctx, path, &(kn_output_options){.mode = is_private(role) ? 0600 : 0}, err);
    s->outputs[role] = *out;
    if (st == KN_OK && kn_output_is_stream(*out) && role != KN_SET_REPORT && role != KN_SET_PAGE)
        st = kn_fail(err, KN_USAGE, "%s: exists and is not a file", path);
    kn_free(made);
    return st;
}

void kn_set_database(kn_set *s, kn_database_writer *writer)
{
    s->writer = writer;
}

/* ---- The commit ---- */

/* Streams and the certificate inside a folder have no name to wait for. */
static bool is_apart(const kn_set *s, int role)
{
    bool folder = s->writer && kn_database_writer_folder(s->writer);
    return kn_output_is_stream(s->outputs[role]) || (folder && role == KN_SET_CERTIFICATE);
}

static kn_status commit_apart(kn_set *s, bool all, kn_error *err)
{
    for (int role = 0; role < KN_SET_ROLES; role++) {
        kn_output *output = s->outputs[role];
        if (!output || !(all || is_apart(s, role))) continue;
        s->outputs[role] = NULL;
        KN_TRY(kn_output_commit(output, err));
    }
    return KN_OK;
}

/* What gets a name in memory gets it without fail, once all else is done. */
static kn_status prepare_memory(kn_set *s, kn_error *err)
{
    for (int role = 0; role < KN_SET_ROLES; role++)
        if (s->outputs[role] && kn_output_in_memory(s->outputs[role]) && !is_apart(s, role))
            KN_TRY(kn_output_prepare(s->outputs[role], err));
    return KN_OK;
}

/* A file beside this name that only the old set had. */
static kn_status add_old(kn_set *s, const char *base, int role, const char *mark, kn_error *err)
{
    struct stat info;
    char       *path = join(s->ctx, base, suffixes[role]);
    if (!path) return no_memory(s, err);
    const char *ours = s->outputs[role] ? kn_output_target(s->outputs[role]) : NULL;
    bool        old = lstat(path, &info) == 0 && !S_ISDIR(info.st_mode) && !(ours && strcmp(ours, path) == 0);
    kn_status   st = old ? kn_set_steps_add(&s->steps, NULL, path, 0, 0, mark, err) : KN_OK;
    kn_free(path);
    return st;
}

static kn_status add_old_files(kn_set *s, const char *mark, kn_error *err)
{
    static const int roles[] = {KN_SET_ROWMAP,  KN_SET_RECIPE,  KN_SET_LABELS,
                                KN_SET_PRIVATE, KN_SET_SUMMARY, KN_SET_CERTIFICATE};
    bool             two = strcmp(s->beside, s->place) != 0;
    for (size_t i = 0; i < sizeof roles / sizeof *roles; i++) {
        if (!s->outputs[roles[i]]) KN_TRY(add_old(s, s->beside, roles[i], mark, err));
        if (two) KN_TRY(add_old(s, s->place, roles[i], mark, err));
    }
    return KN_OK;
}

/* The six letters of a temporary name: ".NAME.kanon-XXXXXX.tmp". */
static const char *mark_of(const char *temporary)
{
    const char *mark = NULL;
    for (const char *c = temporary; (c = strstr(c, ".kanon-")) != NULL; c++) mark = c;
    return mark ? mark + strlen(".kanon-") : "000000";
}

static kn_status add_database(kn_set *s, const char *mark, kn_error *err)
{
    kn_database_place place;
    KN_TRY(kn_database_writer_sync(s->writer, &place, err));
    if (!place.temporary) return kn_set_steps_add(&s->steps, NULL, NULL, 0, place.schema, mark, err);
    char     *temporary = absolute(s->ctx, place.temporary), *target = absolute(s->ctx, place.target);
    kn_status st = temporary && target
                       ? kn_set_steps_add(&s->steps, temporary, target, place.mode, 0, mark_of(temporary), err)
                       : no_memory(s, err);
    kn_free(temporary);
    kn_free(target);
    return st;
}

/* Syncs everything and lists the steps. */
static kn_status list_steps(kn_set *s, kn_error *err)
{
    const char *mark = "000000";
    KN_TRY(prepare_memory(s, err));
    KN_TRY(commit_apart(s, false, err));
    for (int role = 0; role < KN_SET_ROLES; role++) {
        if (!s->outputs[role] || kn_output_in_memory(s->outputs[role])) continue;
        KN_TRY(kn_output_sync(s->outputs[role], err));
        mark = mark_of(kn_output_temporary(s->outputs[role]));
    }
    KN_TRY(add_old_files(s, mark, err));
    for (int role = 0; role < KN_SET_ROLES; role++) {
        kn_output *o = s->outputs[role];
        if (role == KN_SET_RELEASE && s->writer) KN_TRY(add_database(s, mark, err));
        if (!o || kn_output_in_memory(o)) continue;
        const char *temporary = kn_output_temporary(o);
        KN_TRY(
            kn_set_steps_add(&s->steps, temporary, kn_output_target(o), kn_output_mode(o), 0, mark_of(temporary), err));
    }
    return KN_OK;
}

/* If the answer is lost, the server is asked again. */
static kn_status commit_server(void *arg, kn_error *err)
{
    kn_set             *s = arg;
    kn_database_writer *writer = s->writer;
    bool                committed = false;
    s->writer = NULL;
    kn_status st = kn_database_writer_commit(writer, err);
    s->unsettled = true;
    if (st == KN_OK) return KN_OK;
    if (kn_database_committed(&committed, s->ctx, s->output, kn_set_steps_schema(&s->steps), NULL) == KN_OK)
        s->unsettled = committed;
    return committed ? KN_OK : st;
}

/* Closes what has its name. */
static void detach(kn_set *s)
{
    for (int role = 0; role < KN_SET_ROLES; role++) {
        kn_output_detach(s->outputs[role]);
        s->outputs[role] = NULL;
    }
    if (s->writer) kn_database_writer_detach(s->writer);
    s->writer = NULL;
}

static kn_status undo(kn_set *s, kn_status st, kn_error *err)
{
    kn_error why = KN_ERROR_INIT;
    if (!s->unsettled && kn_set_steps_back(&s->steps, &why) == KN_OK) return st;
    detach(s); /* the journal needs them */
    char first[300];
    snprintf(first, sizeof first, "%.290s", err ? err->message : "");
    return kn_fail(err, st, "%s; the next kanon command on this release completes it or puts the old one back", first);
}

/* The names in memory beside the release that only the old set may have. */
static kn_status list_old_names(kn_set *s, char *names[KN_SET_ROLES], kn_error *err)
{
    for (int role = 0; role < KN_SET_ROLES; role++) {
        if (!suffixes[role] || s->outputs[role] || (role == KN_SET_RELEASE && s->writer)) continue;
        names[role] = join(s->ctx, s->base, suffixes[role]);
        if (!names[role]) return no_memory(s, err);
    }
    return KN_OK;
}

/* All of it is made, and whatever can fail is done before a name is given; the certificate's is the last. */
static kn_status commit_memory(kn_set *s, kn_error *err)
{
    kn_database_writer *writer = s->writer;
    char               *old[KN_SET_ROLES] = {NULL};
    kn_status           st = list_old_names(s, old, err);
    if (st == KN_OK) st = prepare_memory(s, err);
    if (st == KN_OK && kn_cancelled(s->ctx)) st = kn_fail_cancelled(err);
    if (st == KN_OK) st = commit_apart(s, false, err);
    if (st == KN_OK && writer) {
        s->writer = NULL;
        st = kn_database_writer_commit(writer, err);
    }
    for (int role = 0; role < KN_SET_ROLES; role++) {
        if (st == KN_OK && old[role]) kn_memory_remove(s->ctx, old[role]);
        kn_free(old[role]);
    }
    return st == KN_OK ? commit_apart(s, true, err) : st;
}

kn_status kn_set_commit(kn_set *s, kn_error *err)
{
    if (!s->base) return commit_apart(s, true, err);
    if (s->memory) return commit_memory(s, err);
    if (!s->place) return kn_fail(err, KN_IO, "%s: its folder cannot be reached", s->base);
    KN_TRY(list_steps(s, err));
    if (kn_cancelled(s->ctx)) return kn_fail_cancelled(err);
    KN_TRY(kn_set_journal_write(&s->steps, err));
    kn_status st = kn_set_steps_forward(&s->steps, commit_server, s, err);
    if (st != KN_OK && !kn_set_steps_done(&s->steps)) return undo(s, st, err);
    for (int role = 0; role < KN_SET_ROLES; role++) {
        kn_output *output = s->outputs[role];
        if (!output || !kn_output_in_memory(output)) continue;
        s->outputs[role] = NULL;
        (void)!kn_output_commit(output, NULL);
    }
    detach(s);
    kn_status finished = kn_set_steps_finish(&s->steps, st == KN_OK ? err : NULL);
    return st != KN_OK ? st : finished;
}

void kn_set_end(kn_set *s)
{
    if (!s) return;
    for (int role = 0; role < KN_SET_ROLES; role++) kn_output_abort(s->outputs[role]);
    kn_database_writer_abort(s->writer);
    kn_set_steps_free(&s->steps);
    unlock(s);
    kn_free(s->locked);
    kn_free(s->journal);
    kn_free(s->place);
    kn_free(s->beside);
    kn_free(s->base);
    kn_free(s->output);
    kn_free(s);
}
