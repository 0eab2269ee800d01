/* test_output_place.c: links that somebody else laid, and what killed runs leave: for files, folders and SQLite files. */
/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "testing.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kn_folder.h"
#include "kn_output.h"
#include "kn_sqlite.h"

enum { SOMEBODY = 12345 };

/* A new empty folder of its own. */
static const char *new_folder(mode_t mode)
{
    static char paths[8][200];
    static int  number;
    char       *path = paths[number % 8], name[32];
    snprintf(name, sizeof name, "place%d", number++);
    snprintf(path, sizeof paths[0], "%s.d", testing_file(name, "", 0));
    assert_int_equal(mkdir(path, 0700), 0);
    assert_int_equal(chmod(path, mode), 0);
    return path;
}

static const char *in_folder(const char *folder, const char *name)
{
    static char paths[16][600];
    static int  next;
    char       *path = paths[next++ % 16];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static void put(const char *path)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fclose(f), 0);
}

static bool there(const char *path)
{
    struct stat info;
    return lstat(path, &info) == 0;
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

/* ---- Three kinds of outputs ---- */

typedef struct opened {
    kn_output       *file;
    kn_database_sink sink;
} opened;

typedef enum kind { FILE_KIND, FOLDER_KIND, SQLITE_KIND, KINDS } kind;

static kn_status open_kind(opened *o, kind k, kn_context *ctx, const char *path, kn_error *err)
{
    *o = (opened){0};
    if (k == FILE_KIND) return kn_output_open(&o->file, ctx, path, NULL, err);
    return k == FOLDER_KIND ? kn_folder_sink(&o->sink, ctx, path, err) : kn_sqlite_sink(&o->sink, ctx, path, err);
}

static void abort_kind(opened *o)
{
    if (o->file)
        kn_output_abort(o->file);
    else
        o->sink.abort(o->sink.state);
}

static kn_status commit_kind(opened *o, kn_error *err)
{
    if (o->file) return kn_output_commit(o->file, err);
    kn_status st = o->sink.finish ? o->sink.finish(o->sink.state, err) : KN_OK;
    return st == KN_OK ? o->sink.commit(o->sink.state, err) : st;
}

/* ---- Links ---- */

static void expect(kn_context *ctx, const char *path, bool refused)
{
    for (kind k = FILE_KIND; k < KINDS; k++) {
        kn_error  err = KN_ERROR_INIT;
        opened    o;
        kn_status st = open_kind(&o, k, ctx, path, &err);
        if (st == KN_OK) abort_kind(&o);
        bool strange = strstr(err.message, "another user") != NULL;
        if (strange != refused || (refused && st != KN_IO)) fail_msg("%d %s: %d %s", k, path, (int)st, err.message);
    }
}

static void a_link_of_somebody_else_in_a_sticky_folder_is_refused(void **state)
{
    (void)state;
    if (geteuid() != 0) skip(); /* nobody else can lay links as another user */
    kn_context *ctx = testing_context(1);
    const char *shared = new_folder(01777), *mine = new_folder(0755), *free_for_all = new_folder(0777);
    put(in_folder(mine, "victim"));
    const char *victim = in_folder(mine, "victim");
    /* Laid by somebody: to a file, to a folder on the way, to a file that is not there yet. */
    const char *link = in_folder(shared, "release.csv"), *way = in_folder(shared, "way"),
               *new = in_folder(shared, "new");
    assert_int_equal(symlink(victim, link) | symlink(mine, way) | symlink(in_folder(mine, "none"), new), 0);
    assert_int_equal(lchown(link, SOMEBODY, 0) | lchown(way, SOMEBODY, 0) | lchown(new, SOMEBODY, 0), 0);
    expect(ctx, link, true);
    expect(ctx, in_folder(way, "release"), true);
    expect(ctx, new, true);
    /* A link of the user's that leads to such a one, by an absolute path and by a relative one. */
    assert_int_equal(symlink(link, in_folder(mine, "far")), 0);
    expect(ctx, in_folder(mine, "far"), true);
    char relative[400];
    snprintf(relative, sizeof relative, "../%s/way/release", strrchr(shared, '/') + 1);
    assert_int_equal(symlink(relative, in_folder(mine, "near")), 0);
    expect(ctx, in_folder(mine, "near"), true);
    /* From where the user is. */
    int before = open(".", O_RDONLY | O_DIRECTORY);
    assert_int_equal(chdir(shared), 0);
    expect(ctx, "release.csv", true);
    expect(ctx, "./way/release", true);
    assert_int_equal(fchdir(before), 0);
    close(before);
    /* Laid by the user, by the owner of the folder, or where only friends may write. */
    assert_int_equal(lchown(link, 0, 0), 0);
    expect(ctx, link, false);
    assert_int_equal(lchown(link, SOMEBODY, 0) | chown(shared, SOMEBODY, 0), 0);
    expect(ctx, link, false);
    assert_int_equal(symlink(victim, in_folder(free_for_all, "x")) | lchown(in_folder(free_for_all, "x"), SOMEBODY, 0),
                     0);
    expect(ctx, in_folder(free_for_all, "x"), false);
    testing_context_free(ctx);
}

/* ---- Leftovers ---- */

/* A run that is killed while its output is open. */
static void kill_a_run(kind k, const char *path)
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        kn_context *ctx = NULL;
        opened      o;
        if (kn_context_create(&ctx, NULL, NULL) == KN_OK && open_kind(&o, k, ctx, path, NULL) == KN_OK) raise(SIGKILL);
        _exit(1);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

static void the_next_run_removes_what_a_killed_one_left(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(1);
    for (kind k = FILE_KIND; k < KINDS; k++) {
        const char *folder = new_folder(0755), *path = in_folder(folder, "release");
        kn_error    err = KN_ERROR_INIT;
        opened      o;
        for (int i = 1; i <= 3; i++) { /* each removes what the one before left */
            kill_a_run(k, path);
            assert_int_equal(entries(folder), 1);
        }
        assert_ok(open_kind(&o, k, ctx, path, &err), err);
        assert_ok(commit_kind(&o, &err), err);
        assert_int_equal(entries(folder), 1);
        assert_true(there(path));
    }
    testing_context_free(ctx);
}

static void a_living_run_keeps_what_is_its_own(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(1);
    for (kind k = FILE_KIND; k < KINDS; k++) {
        const char *folder = new_folder(0755), *path = in_folder(folder, "release");
        kn_error    err = KN_ERROR_INIT;
        opened      first, second;
        assert_ok(open_kind(&first, k, ctx, path, &err), err);
        kill_a_run(k, path); /* in between another one looks around, and dies */
        assert_int_equal(entries(folder), 2);
        assert_ok(open_kind(&second, k, ctx, path, &err), err);
        assert_int_equal(entries(folder), 2);
        abort_kind(&second);
        assert_ok(commit_kind(&first, &err), err);
        assert_int_equal(entries(folder), 1);
        assert_true(there(path));
    }
    testing_context_free(ctx);
}

static void only_leftovers_of_the_output_are_removed(void **state)
{
    (void)state;
    static const char *const gone[] = {".r.csv.kanon-Abc123.tmp", ".r.csv.rowmap.kanon-Abc123.tmp",
                                       ".r.csv.certificate.json.kanon-000000.tmp", ".r.csv.kanon-Abc123.tmp-journal",
                                       ".r.csv.kanon-Abc123.tmp-wal"};
    static const char *const kept[] = {
        ".r.csv2.kanon-Abc123.tmp",   ".r.kanon-Abc123.tmp",    ".r.csv.kanon-Abc12.tmp",  ".r.csv.kanon-Abc1234.tmp",
        ".r.csv.kanon-Abc12!.tmp",    "r.csv.kanon-Abc123.tmp", ".r.csv.kanon-Abc123.txt", ".r.csv.tmp",
        ".r.csv.kanon-Abc123.tmp.old"};
    kn_context *ctx = testing_context(1);
    kn_error    err = KN_ERROR_INIT;
    const char *folder = new_folder(0755);
    for (size_t i = 0; i < sizeof gone / sizeof *gone; i++) put(in_folder(folder, gone[i]));
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) put(in_folder(folder, kept[i]));
    /* A folder, a link or somebody else's file of such a name is none of ours. */
    assert_int_equal(mkdir(in_folder(folder, ".r.csv.kanon-folder.tmp"), 0700), 0);
    assert_int_equal(symlink("r.csv.kanon-Abc123.tmp", in_folder(folder, ".r.csv.kanon-linked.tmp")), 0);
    put(in_folder(folder, ".r.csv.kanon-others.tmp"));
    if (geteuid() == 0) assert_int_equal(chown(in_folder(folder, ".r.csv.kanon-others.tmp"), SOMEBODY, 0), 0);
    kn_output *o = NULL;
    assert_ok(kn_output_open(&o, ctx, in_folder(folder, "r.csv"), NULL, &err), err);
    kn_output_abort(o);
    for (size_t i = 0; i < sizeof gone / sizeof *gone; i++)
        if (there(in_folder(folder, gone[i]))) fail_msg("%s is still there", gone[i]);
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        if (!there(in_folder(folder, kept[i]))) fail_msg("%s was removed", kept[i]);
    assert_true(there(in_folder(folder, ".r.csv.kanon-folder.tmp")));
    assert_true(there(in_folder(folder, ".r.csv.kanon-linked.tmp")));
    assert_int_equal(there(in_folder(folder, ".r.csv.kanon-others.tmp")), geteuid() == 0);
    testing_context_free(ctx);
}

/* Many runs on one output, each of which looks around while others are about to claim what they made. */
static void runs_side_by_side_do_not_hurt_each_other(void **state)
{
    (void)state;
    enum { RUNS = 4, TIMES = 150 };
    const char *folder = new_folder(0755), *path = in_folder(folder, "release.csv");
    pid_t       children[RUNS];
    for (int i = 0; i < RUNS; i++) {
        children[i] = fork();
        assert_true(children[i] >= 0);
        if (children[i] > 0) continue;
        kn_context *ctx = NULL;
        kn_output  *o = NULL;
        if (kn_context_create(&ctx, NULL, NULL) != KN_OK) _exit(2);
        for (int t = 0; t < TIMES; t++) {
            if (kn_output_open(&o, ctx, path, NULL, NULL) != KN_OK) _exit(3);
            kn_output_write(o, "x", 1);
            if (kn_output_flush(o, NULL) != KN_OK || access(kn_output_temporary(o), F_OK) != 0) _exit(4);
            if (t % 2)
                kn_output_abort(o);
            else if (kn_output_commit(o, NULL) != KN_OK)
                _exit(5);
        }
        _exit(0);
    }
    for (int i = 0; i < RUNS; i++) {
        int status = 0;
        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
    }
    assert_int_equal(entries(folder), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_link_of_somebody_else_in_a_sticky_folder_is_refused),
        cmocka_unit_test(the_next_run_removes_what_a_killed_one_left),
        cmocka_unit_test(a_living_run_keeps_what_is_its_own),
        cmocka_unit_test(only_leftovers_of_the_output_are_removed),
        cmocka_unit_test(runs_side_by_side_do_not_hurt_each_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
