/* test_set.c: the files of a release as one set: names and modes, what the old set had, commits that fail, locks, and journals
 * that killed runs left or somebody else laid. Kills at every step are tests/crash.
 * SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "folder_testing.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "kn_set.h"
#include "kn_set_steps.h"

enum { SOMEBODY = 12345 };

static kn_context *ctx;

static void works(kn_status st)
{
    assert_int_equal(st, KN_OK);
}

static void clear(void)
{
    DIR *d = opendir(folder);
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d)) != NULL;)
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0 && unlinkat(dirfd(d), e->d_name, 0) != 0)
            assert_int_equal(unlinkat(dirfd(d), e->d_name, AT_REMOVEDIR), 0);
    closedir(d);
}

static bool is(const char *name, const char *text)
{
    char *found = get(name);
    bool  same = found ? text && strcmp(found, text) == 0 : !text;
    free(found);
    return same;
}

static int hidden_files(void)
{
    DIR *d = opendir(folder);
    int  n = 0;
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d)) != NULL;) n += strstr(e->d_name, ".kanon-") != NULL;
    closedir(d);
    return n;
}

static mode_t mode_of(const char *name)
{
    struct stat info;
    assert_int_equal(lstat(path_of(name), &info), 0);
    return info.st_mode & 0777;
}

static void write_role(kn_set *set, kn_set_role role, const char *path, const char *text)
{
    kn_output *o = NULL;
    kn_error   err = KN_ERROR_INIT;
    if (kn_set_create(set, &o, role, path, &err) != KN_OK) fail_msg("%s", err.message);
    kn_output_write(o, text, strlen(text));
}

static kn_set *open_set(const char *name)
{
    kn_set  *set = NULL;
    kn_error err = KN_ERROR_INIT;
    if (kn_set_open(&set, ctx, path_of(name), &err) != KN_OK) fail_msg("%s", err.message);
    write_role(set, KN_SET_RELEASE, NULL, "new");
    write_role(set, KN_SET_PRIVATE, NULL, "new private");
    write_role(set, KN_SET_CERTIFICATE, NULL, "new certificate");
    return set;
}

static void put_old(void)
{
    put("r.csv", "old");
    put("r.csv.certificate.json", "old certificate");
    put("r.csv.private.json", "old private");
    put("r.csv.rowmap", "old map");
    put("r.csv.summary.csv", "old summary");
}

static bool old_stands(void)
{
    return is("r.csv", "old") && is("r.csv.certificate.json", "old certificate") &&
           is("r.csv.private.json", "old private") && is("r.csv.rowmap", "old map") &&
           is("r.csv.summary.csv", "old summary");
}

/* ---- Commits ---- */

static void a_set_takes_the_place_of_another(void **state)
{
    (void)state;
    clear();
    put_old();
    kn_set *set = open_set("r.csv");
    write_role(set, KN_SET_REPORT, path_of("page.html"), "page");
    assert_true(old_stands());
    works(kn_set_commit(set, NULL));
    kn_set_end(set);
    assert_true(is("r.csv", "new") && is("r.csv.certificate.json", "new certificate"));
    assert_true(is("r.csv.private.json", "new private") && is("page.html", "page"));
    assert_true(is("r.csv.rowmap", NULL) && is("r.csv.summary.csv", NULL));
    assert_int_equal(mode_of("r.csv.private.json"), 0600);
    assert_int_equal(mode_of("page.html"), 0600);
    assert_int_equal(hidden_files(), 0);
}

static void a_set_that_is_not_committed_leaves_nothing(void **state)
{
    (void)state;
    clear();
    put_old();
    kn_set *set = open_set("r.csv");
    assert_true(hidden_files() > 1);
    kn_set_end(set);
    assert_true(old_stands());
    assert_int_equal(hidden_files(), 0);
}

/* A folder lies where a file of the set is to come: the steps before it are taken back. */
static void a_commit_that_fails_puts_the_old_set_back(void **state)
{
    (void)state;
    kn_error err = KN_ERROR_INIT;
    clear();
    put_old();
    kn_set *set = open_set("r.csv");
    write_role(set, KN_SET_PAGE, path_of("page.html"), "page");
    assert_int_equal(mkdir(path_of("page.html"), 0700), 0);
    assert_int_equal(kn_set_commit(set, &err), KN_IO);
    kn_set_end(set);
    assert_true(old_stands());
    assert_int_equal(hidden_files(), 0);
}

static void under_both_names_of_a_link_it_is_one_set(void **state)
{
    (void)state;
    kn_set *second = NULL;
    clear();
    put_old();
    put("link.csv.certificate.json", "old certificate, too");
    assert_int_equal(symlink("r.csv", path_of("link.csv")), 0);
    kn_set *set = open_set("link.csv");
    assert_int_equal(kn_set_open(&second, ctx, path_of("r.csv"), NULL), KN_IO);
    works(kn_set_commit(set, NULL));
    kn_set_end(set);
    assert_true(is("r.csv", "new") && is("link.csv.certificate.json", "new certificate"));
    assert_true(is("r.csv.certificate.json", NULL) && is("r.csv.private.json", NULL));
    assert_int_equal(hidden_files(), 0);
}

/* ---- Locks ---- */

static void a_second_run_is_refused(void **state)
{
    (void)state;
    kn_error err = KN_ERROR_INIT;
    kn_set  *second = NULL;
    clear();
    put(".r.csv.kanon-lock", ""); /* that of a run which was killed */
    kn_set *set = open_set("r.csv");
    assert_int_equal(kn_set_open(&second, ctx, path_of("r.csv"), &err), KN_IO);
    assert_null(second);
    assert_non_null(strstr(err.message, "another run is writing this release"));
    kn_set_end(open_set("other.csv"));
    works(kn_set_commit(set, NULL));
    kn_set_end(set);
    kn_set_end(open_set("r.csv"));
    assert_int_equal(hidden_files(), 0);
}

/* ---- Journals ---- */

/* What a run leaves that is killed when its journal was written. */
static void leave_journal(const char *release, kn_set_steps *s)
{
    static const struct {
        const char *suffix, *text;
        unsigned    mode;
    } files[] = {
        {".private.json", "new private", 0600}, {"", "new", 0640}, {".certificate.json", "new certificate", 0640}};
    static char journal[4200];
    char        temporary[300], target[300];
    snprintf(journal, sizeof journal, "%s.%s.kanon-journal", folder, release);
    *s = (kn_set_steps){.ctx = ctx, .name = release, .journal = journal};
    snprintf(target, sizeof target, "%s.rowmap", release);
    works(kn_set_steps_add(s, NULL, path_of(target), 0, 0, "dddddd", NULL));
    for (int i = 0; i < 3; i++) {
        snprintf(temporary, sizeof temporary, ".%s%s.kanon-aaaaaa.tmp", release, files[i].suffix);
        snprintf(target, sizeof target, "%s%s", release, files[i].suffix);
        put(temporary, files[i].text);
        works(kn_set_steps_add(s, path_of(temporary), path_of(target), files[i].mode, 0, "eeeeee", NULL));
    }
    works(kn_set_journal_write(s, NULL));
}

static kn_status settle(const char *name, char *note)
{
    return kn_set_settle(ctx, path_of(name), true, note, 600, NULL);
}

static void a_journal_is_completed(void **state)
{
    (void)state;
    static const char *const names[] = {"r.csv", "r %41.csv", "r\n\x7f\xc3\xa4.csv"};
    for (int i = 0; i < 3; i++) {
        kn_set_steps s;
        char         note[600], name[300];
        clear();
        put_old();
        leave_journal(names[i], &s);
        kn_set_steps_free(&s);
        works(settle(names[i], note));
        assert_non_null(strstr(note, "complete now"));
        snprintf(name, sizeof name, "%s.certificate.json", names[i]);
        assert_true(is(names[i], "new") && is(name, "new certificate"));
        assert_int_equal(mode_of(names[i]), 0640);
        snprintf(name, sizeof name, "%s.rowmap", names[i]);
        assert_true(is(name, NULL));
        assert_int_equal(hidden_files(), 0);
        works(settle(names[i], note));
        assert_string_equal(note, "");
    }
}

/* From whatever step: a file of the new set is missing, and the old set is put back. */
static void a_journal_that_cannot_be_completed_is_undone(void **state)
{
    (void)state;
    for (int taken = 0; taken < 4; taken++) {
        kn_set_steps s;
        char         note[600];
        clear();
        put_old();
        leave_journal("r.csv", &s);
        const kn_set_step *map = &s.list[0], *private = &s.list[1], *release = &s.list[2], *last = &s.list[3];
        if (taken > 0) assert_int_equal(rename(map->target, map->backup), 0);
        if (taken > 0) assert_int_equal(rename(last->target, last->backup), 0);
        if (taken > 1) assert_int_equal(link(private->target, private->backup), 0);
        if (taken > 2) assert_int_equal(rename(private->temporary, private->target), 0);
        assert_int_equal(unlink(release->temporary), 0);
        kn_set_steps_free(&s);
        works(settle("r.csv", note));
        assert_non_null(strstr(note, "undone"));
        assert_true(old_stands());
        assert_int_equal(hidden_files(), 0);
    }
}

/* The certificate has its name: what is missing then was moved by somebody, and nothing is taken back. */
static void a_complete_set_is_never_undone(void **state)
{
    (void)state;
    kn_set_steps s;
    char         note[600];
    clear();
    leave_journal("r.csv", &s);
    for (int i = 1; i < 4; i++) assert_int_equal(rename(s.list[i].temporary, s.list[i].target), 0);
    assert_int_equal(unlink(s.list[1].target), 0);
    kn_set_steps_free(&s);
    works(settle("r.csv", note));
    assert_true(is("r.csv", "new") && is("r.csv.certificate.json", "new certificate"));
}

static void a_journal_that_was_not_written_whole_changes_nothing(void **state)
{
    (void)state;
    kn_set_steps s;
    char         note[600];
    clear();
    put_old();
    leave_journal("r.csv", &s);
    kn_set_steps_free(&s);
    char *text = get(".r.csv.kanon-journal");
    assert_non_null(text);
    text[strlen(text) - 4] = '\0'; /* "end" */
    assert_int_equal(truncate(path_of(".r.csv.kanon-journal"), (off_t)strlen(text)), 0);
    free(text);
    works(settle("r.csv", note));
    assert_true(old_stands());
    assert_true(is(".r.csv.kanon-journal", NULL));
    kn_set_end(open_set("r.csv")); /* which removes what was left */
    assert_int_equal(hidden_files(), 0);
}

static void a_journal_of_somebody_else_is_not_obeyed(void **state)
{
    (void)state;
    for (int how = 0; how < 3; how++) {
        kn_set_steps s;
        kn_set      *set = NULL;
        kn_error     err = KN_ERROR_INIT;
        char         note[600];
        clear();
        put_old();
        leave_journal("r.csv", &s);
        const char *journal = path_of(".r.csv.kanon-journal");
        if (how == 0) assert_int_equal(chmod(journal, 0620), 0);
        if (how == 1) assert_int_equal(rename(journal, path_of("elsewhere")), 0);
        if (how == 1) assert_int_equal(symlink("elsewhere", journal), 0);
        if (how == 2 && geteuid() == 0) assert_int_equal(chown(journal, SOMEBODY, SOMEBODY), 0);
        if (how == 2 && geteuid() != 0) assert_int_equal(link(journal, path_of("elsewhere")), 0);
        kn_set_steps_free(&s);
        assert_int_equal(kn_set_settle(ctx, path_of("r.csv"), true, note, sizeof note, &err), KN_IO);
        assert_non_null(strstr(err.message, "not a journal of yours"));
        assert_int_equal(kn_set_open(&set, ctx, path_of("r.csv"), NULL), KN_IO);
        assert_true(old_stands());
    }
}

/* Temporary files of a killed run are needed as long as its journal stands: an output beside it leaves them. */
static void other_outputs_leave_what_a_journal_needs(void **state)
{
    (void)state;
    kn_set_steps s;
    kn_output   *o = NULL;
    char         note[600];
    clear();
    leave_journal("r.csv", &s);
    kn_set_steps_free(&s);
    works(kn_output_open(&o, ctx, path_of("r"), NULL, NULL));
    kn_output_abort(o);
    works(kn_output_open(&o, ctx, path_of("r.csv"), NULL, NULL));
    kn_output_abort(o);
    works(settle("r.csv", note));
    assert_true(is("r.csv", "new") && is("r.csv.certificate.json", "new certificate"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_set_takes_the_place_of_another),
        cmocka_unit_test(a_set_that_is_not_committed_leaves_nothing),
        cmocka_unit_test(a_commit_that_fails_puts_the_old_set_back),
        cmocka_unit_test(under_both_names_of_a_link_it_is_one_set),
        cmocka_unit_test(a_second_run_is_refused),
        cmocka_unit_test(a_journal_is_completed),
        cmocka_unit_test(a_journal_that_cannot_be_completed_is_undone),
        cmocka_unit_test(a_complete_set_is_never_undone),
        cmocka_unit_test(a_journal_that_was_not_written_whole_changes_nothing),
        cmocka_unit_test(a_journal_of_somebody_else_is_not_obeyed),
        cmocka_unit_test(other_outputs_leave_what_a_journal_needs),
    };
    folder_set_up();
    ctx = testing_context(1);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    testing_context_free(ctx);
    return failed;
}
