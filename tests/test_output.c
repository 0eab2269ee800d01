/* test_output.c: atomic output, streams, CSV writing: what is written, and what is left when writing fails. */
/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "testing.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <kanon/table.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kn_alloc.h"
#include "kn_builder.h"
#include "kn_csv_write.h"
#include "kn_error.h"
#include "kn_output.h"
#include "kn_parallel.h"
#include "kn_rng.h"

/* ---- Files ---- */

/* A new empty folder; valid until the next call. */
static const char *new_folder(void)
{
    static char path[200];
    static int  number;
    char        name[32];
    snprintf(name, sizeof name, "marker%d", number++);
    const char *marker = testing_file(name, "", 0);
    snprintf(path, sizeof path, "%s.d", marker);
    assert_int_equal(mkdir(path, 0755), 0);
    return path;
}

static const char *in_folder(const char *folder, const char *name)
{
    static char paths[8][600];
    static int  next;
    char       *path = paths[next++ % 8];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static int entries(const char *folder)
{
    DIR *d = opendir(folder);
    assert_non_null(d);
    int n = -2; /* . and .. */
    while (readdir(d)) n++;
    closedir(d);
    return n;
}

static void put(const char *path, const char *text)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

static void assert_content(const char *path, const char *expected)
{
    char *found = testing_contents(path, NULL);
    assert_string_equal(found, expected);
    free(found);
}

static unsigned mode_of(const char *path)
{
    struct stat info;
    assert_int_equal(stat(path, &info), 0);
    return info.st_mode & 0777;
}

/* ---- Atomic files ---- */

static void a_file_appears_on_commit(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(1);
    kn_error    err = KN_ERROR_INIT;
    const char *folder = new_folder(), *path = in_folder(folder, "release.csv");
    kn_output  *out = NULL;
    assert_ok(kn_output_open(&out, ctx, path, NULL, &err), err);
    kn_output_write(out, "first ", 6);
    kn_output_write(out, "second", 6);
    assert_false(kn_output_is_stream(out));
    assert_int_not_equal(access(path, F_OK), 0);

    /* What verification needs: the bytes, by path and by descriptor, in a private file. */
    assert_ok(kn_output_flush(out, &err), err);
    const char *temporary = kn_output_temporary(out);
    assert_content(temporary, "first second");
    assert_int_equal(mode_of(temporary), 0600);
    assert_non_null(strstr(temporary, "/.release.csv.kanon-"));
    char by_fd[13] = {0};
    assert_int_equal(pread(kn_output_fd(out), by_fd, 12, 0), 12);
    assert_string_equal(by_fd, "first second");

    kn_output_write(out, "!", 1);
    assert_ok(kn_output_commit(out, &err), err);
    assert_content(path, "first second!");
    assert_int_equal(entries(folder), 1);
    testing_context_free(ctx);
}

static void commit_text(kn_context *ctx, const char *path, unsigned mode, const char *text)
{
    kn_error          err = KN_ERROR_INIT;
    kn_output        *out = NULL;
    kn_output_options options = {mode};
    assert_ok(kn_output_open(&out, ctx, path, &options, &err), err);
    kn_output_write(out, text, strlen(text));
    assert_ok(kn_output_commit(out, &err), err);
}

static void modes_follow_umask_target_and_wish(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(1);
    const char *folder = new_folder(), *path = in_folder(folder, "x");
    mode_t      before = umask(027);
    commit_text(ctx, path, 0, "new");
    assert_int_equal(mode_of(path), 0640);
    umask(0);
    commit_text(ctx, in_folder(folder, "open"), 0, "new");
    assert_int_equal(mode_of(in_folder(folder, "open")), 0666);
    umask(before);
    assert_int_equal(chmod(path, 0604), 0);
    commit_text(ctx, path, 0, "kept");
    assert_int_equal(mode_of(path), 0604);
    commit_text(ctx, path, 0600, "asked");
    assert_int_equal(mode_of(path), 0600);
    assert_content(path, "asked");
    testing_context_free(ctx);
}

static void abort_leaves_the_target_untouched(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(1);
    kn_error    err = KN_ERROR_INIT;
    const char *folder = new_folder(), *path = in_folder(folder, "x");
    put(path, "old");
    kn_output *out = NULL;
    assert_ok(kn_output_open(&out, ctx, path, NULL, &err), err);
    kn_output_write(out, "new", 3);
    assert_ok(kn_output_flush(out, &err), err);
    assert_int_equal(entries(folder), 2);
    kn_output_abort(out);
    assert_content(path, "old");
    assert_int_equal(entries(folder), 1);
    kn_output_abort(NULL);
    testing_context_free(ctx);
}

static void large_and_small_writes_keep_their_order(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(1);
    kn_error    err = KN_ERROR_INIT;
    kn_rng      rng;
    kn_rng_init(&rng, testing_seed(), 0);
    const char *path = in_folder(new_folder(), "x");
    size_t      total = 3000000, at = 0, size;
    char       *all = malloc(total);
    assert_non_null(all);
    for (size_t i = 0; i < total; i++) all[i] = (char)kn_rng_next(&rng);
    kn_output *out = NULL;
    assert_ok(kn_output_open(&out, ctx, path, NULL, &err), err);
    while (at < total) {
        size_t n = kn_rng_below(&rng, kn_rng_below(&rng, 4) ? 100 : 700000);
        if (n > total - at) n = total - at;
        kn_output_write(out, all + at, n);
        at += n;
    }
    assert_ok(kn_output_commit(out, &err), err);
    char *found = testing_contents(path, &size);
    assert_int_equal(size, total);
    assert_memory_equal(found, all, total);
    free(found);
    free(all);
    testing_context_free(ctx);
}

static void expect_refused(kn_context *ctx, const char *path, kn_status status, const char *words)
{
    kn_error   err = KN_ERROR_INIT;
    kn_output *out = NULL;
    assert_int_equal(kn_output_open(&out, ctx, path, NULL, &err), status);
    assert_null(out);
    if (!strstr(err.message, words)) fail_msg("'%s' does not say '%s'", err.message, words);
}

static void paths_that_cannot_be_written_are_refused(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(1);
    const char *folder = new_folder();
    expect_refused(ctx, folder, KN_USAGE, "is a folder");
    expect_refused(ctx, "", KN_USAGE, "no name");
    expect_refused(ctx, in_folder(folder, "new/"), KN_USAGE, "name of a folder");
    expect_refused(ctx, in_folder(folder, "none/x"), KN_IO, "its folder does not exist");
    put(in_folder(folder, "file"), "");
    expect_refused(ctx, in_folder(folder, "file/x"), KN_IO, "not a directory");
    assert_int_equal(symlink("nowhere", in_folder(folder, "dangling")), 0);
    expect_refused(ctx, in_folder(folder, "dangling"), KN_IO, "leads nowhere");
    assert_int_equal(entries(folder), 2);

    /* Permissions do not hold the superuser back: be somebody else for a moment, inside the folder, because the
     * folders above may be closed to others. */
    bool super = geteuid() == 0;
    char before[4096];
    assert_non_null(getcwd(before, sizeof before));
    assert_int_equal(chdir(folder), 0);
    assert_int_equal(chmod(folder, 0555), 0);
    if (super) assert_int_equal(seteuid(65534), 0);
    expect_refused(ctx, "x", KN_IO, "cannot be created");
    if (super) assert_int_equal(seteuid(0), 0);
    assert_int_equal(chdir(before), 0);
    assert_int_equal(chmod(folder, 0755), 0);
    assert_int_equal(entries(folder), 2);
    testing_context_free(ctx);
}

static void links_lengths_and_folders(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(1);
    kn_error    err = KN_ERROR_INIT;
    const char *folder = new_folder();
    put(in_folder(folder, "real"), "old");
    assert_int_equal(symlink("real", in_folder(folder, "link")), 0);
    commit_text(ctx, in_folder(folder, "link"), 0, "through the link");
    struct stat info;
    assert_int_equal(lstat(in_folder(folder, "link"), &info), 0);
    assert_true(S_ISLNK(info.st_mode));
    assert_content(in_folder(folder, "real"), "through the link");

    char name[256];
    memset(name, 'n', 255);
    name[255] = '\0';
    commit_text(ctx, in_folder(folder, name), 0, "long");
    assert_content(in_folder(folder, name), "long");

    /* A relative path means the folder at the time of opening. */
    char before[4096];
    assert_non_null(getcwd(before, sizeof before));
    assert_int_equal(chdir(folder), 0);
    kn_output *out = NULL;
    assert_ok(kn_output_open(&out, ctx, "relative", NULL, &err), err);
    assert_int_equal(chdir(before), 0);
    kn_output_write(out, "here", 4);
    assert_ok(kn_output_commit(out, &err), err);
    assert_content(in_folder(folder, "relative"), "here");
    assert_int_equal(entries(folder), 4);
    testing_context_free(ctx);
}

/* ---- Failing writes ---- */

/* Runs `child` in a process of its own, where limits and descriptors can be changed; its value must be `expected`. */
static void in_child(int (*child)(const char *path), const char *path, int expected)
{
    fflush(NULL);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) _exit(child(path));
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (!WIFEXITED(status)) fail_msg("the child was ended by signal %d", WTERMSIG(status));
    assert_int_equal(WEXITSTATUS(status), expected);
}

/* Writes `size` bytes in pieces of 1000 and commits; the status. */
static int write_much(const char *path, size_t size)
{
    kn_context *ctx = NULL;
    kn_output  *out = NULL;
    kn_error    err = KN_ERROR_INIT;
    char        piece[1000];
    memset(piece, 'x', sizeof piece);
    if (kn_context_create(&ctx, NULL, &err) != KN_OK) return 100;
    kn_status st = kn_output_open(&out, ctx, path, NULL, &err);
    if (st == KN_OK) {
        for (size_t at = 0; at < size; at += sizeof piece) kn_output_write(out, piece, sizeof piece);
        st = kn_output_commit(out, &err);
    }
    if (kn_context_memory_used(ctx) != 0) return 101;
    if (st != KN_OK && err.message[0] == '\0') return 102;
    kn_context_free(ctx);
    return (int)st;
}

static int child_file_limit(const char *path)
{
    struct rlimit limit = {500000, 500000};
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) return 103;
    return write_much(path, 2000000); /* SIGXFSZ has its default action: it would end the process */
}

static int child_full_stdout(const char *path)
{
    int fd = open("/dev/full", O_WRONLY);
    if (dup2(fd, STDOUT_FILENO) < 0) return 103;
    return write_much(path, 2000);
}

static int child_closed_stdout(const char *path)
{
    close(STDOUT_FILENO);
    return write_much(path, 2000);
}

static int child_closed_pipe(const char *path)
{
    int ends[2];
    signal(SIGPIPE, SIG_DFL);
    if (pipe(ends) != 0 || dup2(ends[1], STDOUT_FILENO) < 0) return 103;
    close(ends[0]);
    close(ends[1]);
    return write_much(path, 2000000);
}

static int child_file_without_stdout(const char *path)
{
    close(STDOUT_FILENO); /* the temporary file must not become standard output */
    kn_context *ctx = NULL;
    kn_output  *out = NULL;
    if (kn_context_create(&ctx, NULL, NULL) != KN_OK || kn_output_open(&out, ctx, path, NULL, NULL) != KN_OK)
        return 103;
    int fd = kn_output_fd(out);
    kn_output_abort(out);
    kn_context_free(ctx);
    return fd > 2 ? 0 : 104;
}

static void full_disks_and_closed_pipes_are_errors(void **state)
{
    (void)state;
    const char *folder = new_folder(), *path = in_folder(folder, "x");
    put(path, "old");
    in_child(child_file_limit, path, KN_IO);
    assert_content(path, "old");
    assert_int_equal(entries(folder), 1);
    in_child(child_full_stdout, "-", KN_IO);
    in_child(child_closed_stdout, "-", KN_IO);
    in_child(child_closed_pipe, "-", KN_IO);
    in_child(child_file_without_stdout, in_folder(folder, "y"), 0);
    assert_int_equal(write_much("/dev/full", 2000), KN_IO);
    assert_int_equal(write_much("/dev/null", 2000), KN_OK);
    struct stat info;
    assert_int_equal(stat("/dev/null", &info), 0);
    assert_true(S_ISCHR(info.st_mode));
}

static kn_context *alarmed;

static void on_alarm(int signal_number)
{
    (void)signal_number;
    kn_context_cancel(alarmed);
}

static void a_sleeping_reader_does_not_stop_cancelling(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(1);
    kn_error    err = KN_ERROR_INIT;
    const char *path = in_folder(new_folder(), "pipe");
    assert_int_equal(mkfifo(path, 0600), 0);
    int reader = open(path, O_RDONLY | O_NONBLOCK);
    assert_true(reader >= 0);
    kn_output *out = NULL;
    assert_ok(kn_output_open(&out, ctx, path, NULL, &err), err);
    assert_true(kn_output_is_stream(out));
    assert_null(kn_output_temporary(out));

    alarmed = ctx;
    struct sigaction act = {.sa_handler = on_alarm}, before;
    sigaction(SIGALRM, &act, &before);
    struct itimerval timer = {.it_value = {0, 200000}};
    setitimer(ITIMER_REAL, &timer, NULL);
    char piece[4000] = {0};
    for (int i = 0; i < 1000; i++) kn_output_write(out, piece, sizeof piece);
    assert_int_equal(kn_output_commit(out, &err), KN_CANCELLED);
    assert_non_null(strstr(err.message, "incomplete"));
    sigaction(SIGALRM, &before, NULL);
    close(reader);
    testing_context_free(ctx);
}

/* ---- Pieces ---- */

typedef struct numbered {
    kn_context *ctx;
    uint64_t    seed;
    int64_t     fail_from;
    bool        alone; /* that piece only */
} numbered;

/* Piece i: i, and a random number of dots. */
static kn_status numbered_piece(void *arg, int64_t piece, kn_buffer *to, kn_error *err)
{
    numbered *n = arg;
    bool      fails = n->fail_from >= 0 && (n->alone ? piece == n->fail_from : piece >= n->fail_from);
    if (fails) return kn_fail(err, KN_INPUT, "piece %lld", (long long)piece);
    kn_rng rng;
    kn_rng_init(&rng, n->seed, (uint64_t)piece);
    kn_buffer_format(to, "%lld ", (long long)piece);
    for (uint64_t dots = kn_rng_below(&rng, 3000); dots > 0; dots--) kn_buffer_char(to, '.');
    return to->failed ? kn_fail_memory(err, n->ctx, "a piece") : KN_OK;
}

static void pieces_are_written_in_order(void **state)
{
    (void)state;
    uint64_t seed = testing_seed();
    for (int threads = 1; threads <= 8; threads *= 2) {
        kn_context *ctx = testing_context(threads);
        kn_error    err = KN_ERROR_INIT;
        for (int64_t count = 0; count < 200; count = count * 2 + 1) {
            numbered   n = {ctx, seed, -1, false};
            kn_output *out = NULL;
            kn_buffer  expected;
            kn_buffer_init(&expected, ctx);
            for (int64_t i = 0; i < count; i++) assert_ok(numbered_piece(&n, i, &expected, &err), err);
            const char *path = testing_file("pieces", "", 0);
            assert_ok(kn_output_open(&out, ctx, path, NULL, &err), err);
            assert_ok(kn_output_pieces(out, count, numbered_piece, &n, &err), err);
            assert_ok(kn_output_commit(out, &err), err);
            assert_content(path, kn_buffer_text(&expected));
            kn_buffer_free(&expected);
        }
        numbered   n = {ctx, seed, 70, false};
        kn_output *out = NULL;
        assert_ok(kn_output_open(&out, ctx, testing_file("pieces", "", 0), NULL, &err), err);
        assert_int_equal(kn_output_pieces(out, 200, numbered_piece, &n, &err), KN_INPUT);
        assert_string_equal(err.message, "piece 70");
        kn_output_abort(out);
        testing_context_free(ctx);
    }
}

/* Those before it may still be made, those behind it wait for their turn: none is waited for in vain, in a file or elsewhere. */
static void one_piece_that_fails_ends_all(void **state)
{
    (void)state;
    uint64_t seed = testing_seed();
    for (int threads = 1; threads <= 8; threads *= 2) {
        kn_context *ctx = testing_context(threads);
        for (int at = 0; at < 100; at++) {
            numbered    n = {ctx, seed, at / 2, true};
            kn_error    err = KN_ERROR_INIT;
            kn_output  *out = NULL;
            const char *path = at % 2 ? "/dev/null" : testing_file("alone", "", 0);
            char        expected[20];
            snprintf(expected, sizeof expected, "piece %d", at / 2);
            assert_ok(kn_output_open(&out, ctx, path, NULL, &err), err);
            assert_int_equal(kn_output_pieces(out, 50, numbered_piece, &n, &err), KN_INPUT);
            assert_string_equal(err.message, expected);
            kn_output_abort(out);
        }
        testing_context_free(ctx);
    }
}

static kn_status take_bytes(void *state, const char *data, size_t size, kn_error *err)
{
    (void)err;
    kn_buffer_append(state, data, size);
    return KN_OK;
}

/* Bytes before, between and behind pieces, of any size. */
static void write_between(kn_output *out, numbered *n, kn_rng *rng)
{
    kn_error err = KN_ERROR_INIT;
    for (int round = 0; round < 3; round++) {
        for (uint64_t words = kn_rng_below(rng, 2) * kn_rng_below(rng, 60000); words > 0; words--)
            kn_output_write(out, "between ", 8);
        assert_ok(kn_output_pieces(out, (int64_t)kn_rng_below(rng, 90), numbered_piece, n, &err), err);
    }
    kn_output_write(out, "end", 3);
}

/* Any thread writes a piece to its place in a file; a consumer, the twin, gets them in order. */
static void pieces_have_their_places(void **state)
{
    (void)state;
    uint64_t seed = testing_seed();
    for (int round = 0; round < 20; round++) {
        kn_context *ctx = testing_context(1 + round % 8);
        kn_error    err = KN_ERROR_INIT;
        numbered    n = {ctx, seed, -1, false};
        kn_output  *out = NULL;
        kn_buffer   expected;
        kn_rng      rng, same;
        kn_buffer_init(&expected, ctx);
        kn_rng_init(&rng, seed, (uint64_t)round);
        same = rng;
        assert_ok(kn_output_open_consumer(&out, ctx, "nowhere", (kn_output_consumer){&expected, take_bytes}, &err),
                  err);
        write_between(out, &n, &rng);
        assert_ok(kn_output_flush(out, &err), err);
        kn_output_abort(out);
        const char *path = testing_file("places", "", 0);
        assert_ok(kn_output_open(&out, ctx, path, NULL, &err), err);
        write_between(out, &n, &same);
        assert_ok(kn_output_commit(out, &err), err);
        assert_content(path, kn_buffer_text(&expected));
        kn_buffer_free(&expected);
        testing_context_free(ctx);
    }
}

/* A file that may not grow: the write that fails is found whoever makes it, and the output stays failed. */
static int child_limited_pieces(const char *path)
{
    struct rlimit limit = {300000, 300000};
    kn_context   *ctx = testing_context(4);
    kn_error      err = KN_ERROR_INIT;
    numbered      n = {ctx, 1, -1, false};
    kn_output    *out = NULL;
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0 || kn_output_open(&out, ctx, path, NULL, &err) != KN_OK) return 103;
    kn_status st = kn_output_pieces(out, 2000, numbered_piece, &n, &err);
    if (st != KN_IO || !strstr(err.message, "writing failed")) return 104;
    if (kn_output_flush(out, &err) != KN_IO) return 105;
    st = kn_output_commit(out, &err);
    kn_pool_stop(ctx);
    if (kn_context_memory_used(ctx) != 0) return 106;
    kn_context_free(ctx);
    return (int)st;
}

static void a_full_file_stops_the_pieces(void **state)
{
    (void)state;
    char        text[] = "as it was";
    const char *path = testing_file("full", text, sizeof text - 1);
    in_child(child_limited_pieces, path, KN_IO);
    assert_content(path, text);
}

static void a_failing_stream_stops_the_pieces(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(4);
    kn_error    err = KN_ERROR_INIT;
    numbered    n = {ctx, 1, -1, false};
    kn_output  *out = NULL;
    assert_ok(kn_output_open(&out, ctx, "/dev/full", NULL, &err), err);
    assert_int_equal(kn_output_pieces(out, INT64_MAX / 2, numbered_piece, &n, &err), KN_IO);
    assert_non_null(strstr(err.message, "/dev/full: writing failed"));
    kn_output_abort(out);
    testing_context_free(ctx);
}

/* ---- CSV ---- */

/* The naive twin: one cell from CSV text; *at moves behind the character that ended it, which is returned (0: the end).
 * The cell is written to `cell`. */
static char parse_cell(const char *data, size_t size, size_t *at, char delimiter, kn_buffer *cell)
{
    kn_buffer_clear(cell);
    if (*at < size && data[*at] == '"') {
        for (++*at;; ++*at) {
            assert_true(*at < size);
            if (data[*at] == '"') {
                if (*at + 1 >= size || data[*at + 1] != '"') break;
                ++*at;
            }
            kn_buffer_char(cell, data[*at]);
        }
        ++*at;
        assert_true(*at < size && (data[*at] == delimiter || data[*at] == '\n'));
    } else {
        for (; *at < size && data[*at] != delimiter && data[*at] != '\n'; ++*at) {
            assert_true(data[*at] != '"' && data[*at] != '\r');
            kn_buffer_char(cell, data[*at]);
        }
    }
    return *at < size ? data[(*at)++] : 0;
}

/* A text made of the characters that matter. */
static kn_string nasty(kn_rng *rng, char *room)
{
    static const char *const parts[] = {"\"", ",", ";",    "\t",           "\n", "\r", "\r\n",
                                        " ",  "a", "\"\"", "\xEF\xBB\xBF", "é",  "12"};
    size_t                   size = 0;
    for (uint64_t n = kn_rng_below(rng, 6); n > 0; n--) {
        const char *part = parts[kn_rng_below(rng, sizeof parts / sizeof *parts)];
        memcpy(room + size, part, strlen(part));
        size += strlen(part);
    }
    kn_string s = {room, size};
    return s;
}

static void rows_read_back_as_they_were(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(1);
    kn_rng      rng;
    kn_rng_init(&rng, testing_seed(), 1);
    kn_buffer text, cell;
    kn_buffer_init(&text, ctx);
    kn_buffer_init(&cell, ctx);
    for (int round = 0; round < testing_rounds(20000); round++) {
        char      delimiter = ",;\t|"[kn_rng_below(&rng, 4)];
        char      rooms[4][64];
        kn_string cells[4];
        int       count = 1 + (int)kn_rng_below(&rng, 4);
        for (int i = 0; i < count; i++) cells[i] = nasty(&rng, rooms[i]);
        kn_buffer_clear(&text);
        kn_csv_row(&text, cells, count, delimiter);
        assert_false(text.failed);
        assert_true(text.size > 1); /* never a blank line */
        assert_true(memcmp(text.data, "\xEF\xBB\xBF", text.size < 3 ? text.size : 3) != 0);
        size_t at = 0;
        for (int i = 0; i < count; i++) {
            char ended = parse_cell(text.data, text.size, &at, delimiter, &cell);
            assert_int_equal(ended, i < count - 1 ? delimiter : '\n');
            assert_int_equal(cell.size, cells[i].size);
            if (cell.size) assert_memory_equal(cell.data, cells[i].data, cell.size);
        }
        assert_int_equal(at, text.size);
    }
    kn_buffer_free(&text);
    kn_buffer_free(&cell);
    testing_context_free(ctx);
}

static void quotes_only_where_needed(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(1);
    kn_buffer   text;
    kn_buffer_init(&text, ctx);
    const char *in[] = {" plain ", "semi;colon", "a,b", "say \"so\"", "two\nlines", "", "end\r"};
    kn_string   cells[7];
    for (int i = 0; i < 7; i++) cells[i] = kn_string_of(in[i]);
    kn_csv_row(&text, cells, 7, ',');
    assert_string_equal(kn_buffer_text(&text),
                        " plain ,semi;colon,\"a,b\",\"say \"\"so\"\"\",\"two\nlines\",,\"end\r\"\n");
    kn_buffer_clear(&text);
    kn_csv_row(&text, &cells[5], 1, ',');
    assert_string_equal(kn_buffer_text(&text), "\"\"\n");
    kn_buffer_free(&text);
    for (int c = 0; c < 256; c++)
        assert_int_equal(kn_csv_delimiter_ok((char)c), c > 0 && c < 128 && !strchr("\" \r\n", c));
    testing_context_free(ctx);
}

/* A table of `rows` × `columns` nasty texts; the texts themselves, row by row, go to `expected` (size, bytes). */
static kn_table *nasty_table(kn_context *ctx, uint64_t seed, int64_t rows, int columns, kn_string *texts, char *rooms)
{
    kn_error    err = KN_ERROR_INIT;
    kn_builder *builder = NULL;
    kn_string   names[3] = {kn_string_of("plain"), kn_string_of("with, comma"), kn_string_of("with \"quote\"")};
    uint32_t   *ids = malloc((size_t)rows * sizeof *ids);
    kn_rng      rng;
    kn_rng_init(&rng, seed, 2);
    assert_non_null(ids);
    assert_ok(kn_builder_create(&builder, ctx, names, columns, 1, &err), err);
    for (int64_t i = 0; i < rows * columns; i++) texts[i] = nasty(&rng, rooms + i * 64);
    int64_t first = 0;
    for (int c = 0; c < columns; c++)
        for (int64_t i = 0; i < rows; i++)
            if (texts[i * columns + c].size)
                (void)kn_intern(kn_builder_interner(builder, c, 0), texts[i * columns + c]);
    assert_ok(kn_builder_extend(builder, rows, 0, &first, &err), err);
    for (int c = 0; c < columns; c++) {
        for (int64_t i = 0; i < rows; i++) {
            kn_string t = texts[i * columns + c];
            ids[i] = t.size ? kn_intern(kn_builder_interner(builder, c, 0), t) : KN_ID_MISSING;
        }
        kn_builder_write(builder, c, first, ids, rows);
    }
    free(ids);
    kn_builder_type types[3] = {{KN_TYPE_TEXT, NULL}, {KN_TYPE_TEXT, NULL}, {KN_TYPE_TEXT, NULL}};
    kn_value_rules  rules = {.decimal = '.'};
    kn_table       *table = NULL;
    assert_ok(kn_builder_finish(&table, builder, types, &rules, &err), err);
    return table;
}

static void check_table_file(kn_context *ctx, const char *path, char delimiter, const kn_string *texts, int64_t rows,
                             int columns)
{
    size_t    size, at = 0;
    char     *data = testing_contents(path, &size);
    kn_buffer cell;
    kn_buffer_init(&cell, ctx);
    const char *names[3] = {"plain", "with, comma", "with \"quote\""};
    for (int64_t i = -columns; i < rows * columns; i++) {
        kn_string expected = i < 0 ? kn_string_of(names[i + columns]) : texts[i];
        char      ended = parse_cell(data, size, &at, delimiter, &cell);
        assert_int_equal(ended, (i + columns + 1) % columns ? delimiter : '\n');
        assert_int_equal(cell.size, expected.size);
        if (cell.size) assert_memory_equal(cell.data, expected.data, cell.size);
    }
    assert_int_equal(at, size);
    kn_buffer_free(&cell);
    free(data);
}

static void tables_are_written_in_row_order(void **state)
{
    (void)state;
    uint64_t   seed = testing_seed();
    int64_t    sizes[] = {0, 1, 100, 50001};
    kn_string *texts = malloc(50001 * 3 * sizeof *texts);
    char      *rooms = malloc((size_t)50001 * 3 * 64);
    assert_true(texts && rooms);
    for (int threads = 1; threads <= 8; threads *= 2)
        for (int s = 0; s < 4; s++)
            for (int columns = 1; columns <= 3; columns += 2) {
                kn_context *ctx = testing_context(threads);
                kn_error    err = KN_ERROR_INIT;
                kn_table   *table = nasty_table(ctx, seed, sizes[s], columns, texts, rooms);
                const char *path = testing_file("table.csv", "", 0);
                char        delimiter = columns == 1 ? ',' : ';';
                assert_ok(kn_table_write_csv(table, ctx, path, delimiter, &err), err);
                check_table_file(ctx, path, delimiter, texts, sizes[s], columns);
                assert_int_equal(kn_table_write_csv(table, ctx, path, '"', &err), KN_USAGE);
                kn_table_free(table);
                testing_context_free(ctx);
            }
    free(texts);
    free(rooms);
}

static void no_allocation_failure_leaks(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(1);
    kn_string   texts[300];
    static char rooms[300 * 64];
    kn_table   *table = nasty_table(ctx, 5, 100, 3, texts, rooms);
    const char *folder = new_folder(), *path = in_folder(folder, "x");
    put(path, "old");
    kn_status st = KN_MEMORY;
    int64_t   tries = 0;
    for (; st != KN_OK; tries++) {
        testing_allocator memory = {.refuse_at = tries};
        kn_context       *failing = NULL;
        kn_error          err = KN_ERROR_INIT;
        st = testing_refusing_context(&failing, &memory, 1, &err);
        if (st == KN_OK) st = kn_table_write_csv(table, failing, path, ',', &err);
        kn_context_free(failing);
        assert_int_equal(memory.live, 0);
        assert_int_equal(entries(folder), 1);
        if (st == KN_OK) break;
        assert_int_equal(st, KN_MEMORY);
        assert_content(path, "old");
    }
    assert_true(tries > 5);
    check_table_file(ctx, path, ',', texts, 100, 3);
    kn_table_free(table);
    testing_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_appears_on_commit),
        cmocka_unit_test(modes_follow_umask_target_and_wish),
        cmocka_unit_test(abort_leaves_the_target_untouched),
        cmocka_unit_test(large_and_small_writes_keep_their_order),
        cmocka_unit_test(paths_that_cannot_be_written_are_refused),
        cmocka_unit_test(links_lengths_and_folders),
        cmocka_unit_test(full_disks_and_closed_pipes_are_errors),
        cmocka_unit_test(a_sleeping_reader_does_not_stop_cancelling),
        cmocka_unit_test(pieces_are_written_in_order),
        cmocka_unit_test(one_piece_that_fails_ends_all),
        cmocka_unit_test(pieces_have_their_places),
        cmocka_unit_test(a_full_file_stops_the_pieces),
        cmocka_unit_test(a_failing_stream_stops_the_pieces),
        cmocka_unit_test(rows_read_back_as_they_were),
        cmocka_unit_test(quotes_only_where_needed),
        cmocka_unit_test(tables_are_written_in_row_order),
        cmocka_unit_test(no_allocation_failure_leaks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
