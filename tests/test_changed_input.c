/* test_changed_input.c: an original that changes after the method read it and before the verifier does: files are told to have
 * changed and nothing is written; of a server both readings see one snapshot, and the release is that of it.
 * SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <ftw.h>
#include <kanon/anonymize.h>
#include <kanon/verify.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "testing.h"

static char folder[200];

static const char schema[] =
    "entity: {table: person, key: id}\n"
    "tables:\n"
    "  person: {key: id, attributes: {zip: {role: quasi}, job: {role: sensitive}}}\n"
    "  visit: {key: vid, parent: {table: person, column: id}, attributes: {ward: {role: quasi}, cost: {role: "
    "sensitive}}}\n";
static const char persons[] = "id,zip,job\n1,x,p\n2,x,q\n3,y,p\n4,y,r\n5,x,q\n";
static const char tables[] =
    "CREATE TABLE person(id INTEGER PRIMARY KEY, zip TEXT, job TEXT);"
    "INSERT INTO person VALUES (1,'x','p'),(2,'x','q'),(3,'y','p'),(4,'y','r'),(5,'x','q');"
    "CREATE TABLE visit(vid INTEGER PRIMARY KEY, id INTEGER, ward TEXT, cost INTEGER);"
    "INSERT INTO visit VALUES (1,1,'w',10),(2,1,'v',20),(3,2,'w',30),(4,3,'v',10),(5,4,'v',40),"
    "(6,5,'w',20);";

static const char *path_of(const char *name)
{
    static char path[300];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void put(const char *name, const char *text)
{
    FILE *f = fopen(path_of(name), "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static void execute(const char *sql)
{
    sqlite3 *db = NULL;
    assert_int_equal(sqlite3_open(path_of("in.db"), &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

/* ---- What changes ---- */

static void nobody(void)
{
}

static void change_folder(void)
{
    put("in/person.csv", "id,zip,job\n1,x,p\n2,x,other\n3,y,p\n4,y,r\n5,x,q\n");
}

static void change_sqlite(void)
{
    execute("UPDATE person SET job = 'other' WHERE id = 2");
}

/* In a column that is not released: no verifier looks at it. */
static void change_dropped(void)
{
    put("in.csv", "zip,name\nx,a\nx,other\ny,c\ny,d\n");
}

static void change_records(void)
{
    put("in.xml", "<records><record><A v=\"a\"/></record><record><A v=\"c\"/></record><record><A "
                  "v=\"a\"/></record><record><A v=\"b\"/></record></records>");
}

static bool psql(const char *sql)
{
    char command[2000];
    snprintf(command, sizeof command, "psql '%s' -q -v ON_ERROR_STOP=1 -c \"%s\"", getenv("KANON_TEST_POSTGRES"), sql);
    return system(command) == 0;
}

static void change_server(void)
{
    assert_true(psql("UPDATE changing.person SET job = 'other' WHERE id = 2"));
}

/* ---- When ---- */

typedef struct change {
    void (*make)(void);
    bool done;
} change;

/* The search ended: all is read, nothing is verified. */
static void on_progress(void *user, const kn_progress *p)
{
    change *c = user;
    bool    searched = strcmp(p->stage, "clustering") == 0 || strcmp(p->stage, "searching") == 0;
    if (c->done || !searched || !p->finished) return;
    c->done = true;
    c->make();
}

static kn_status release_on(int threads, const char *spec_text, void (*make)(void), kn_error *err)
{
    change             c = {make, false};
    kn_context_options options = KN_CONTEXT_OPTIONS_INIT;
    kn_context        *ctx = NULL;
    kn_spec           *spec = NULL;
    options.threads = threads;
    options.progress = on_progress;
    options.progress_user = &c;
    put("release.yaml", spec_text);
    assert_ok(kn_context_create(&ctx, &options, err), *err);
    assert_ok(kn_spec_read(&spec, ctx, path_of("release.yaml"), err), *err);
    assert_ok(kn_spec_check(spec, err), *err);
    kn_status st;
    if (kn_spec_shape(spec) == KN_SHAPE_DATABASE) {
        kn_database_result *r = NULL;
        st = kn_anonymize_database(&r, ctx, spec, NULL, err);
        kn_database_result_free(r);
    } else if (kn_spec_shape(spec) == KN_SHAPE_TABLE) {
        kn_release_result *r = NULL;
        st = kn_anonymize(&r, ctx, spec, NULL, err);
        kn_release_result_free(r);
    } else {
        kn_records_result *r = NULL;
        st = kn_anonymize_records(&r, ctx, spec, NULL, err);
        kn_records_result_free(r);
    }
    assert_true(c.done);
    kn_spec_free(spec);
    kn_context_free(ctx);
    return st;
}

static kn_status release(const char *spec_text, void (*make)(void), kn_error *err)
{
    return release_on(1, spec_text, make, err);
}

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *at)
{
    (void)info;
    (void)kind;
    (void)at;
    return remove(path);
}

static void check(const char *input, const char *output, const char *rest, void (*make)(void))
{
    char     text[2000], name[300];
    kn_error err = KN_ERROR_INIT;
    snprintf(text, sizeof text, "kanon: 1\ninput: %s\noutput: %s\n%s", input, output, rest);
    snprintf(name, sizeof name, "%s", path_of(strchr(output, ':') ? strchr(output, ':') + 1 : output));
    assert_ok(release(text, nobody, &err), err);
    assert_int_equal(access(name, F_OK), 0);
    assert_int_equal(nftw(name, remove_one, 8, FTW_DEPTH | FTW_PHYS), 0);
    assert_int_equal(release(text, make, &err), KN_INPUT);
    if (!strstr(err.message, "changed while it was read; nothing was written")) fail_msg("%s", err.message);
    assert_int_not_equal(access(name, F_OK), 0);
}

/* ---- The tests ---- */

static void test_folder(void **state)
{
    char rest[1000];
    (void)state;
    snprintf(rest, sizeof rest, "privacy: [{k: 2}]\n%s", schema);
    put("in/person.csv", persons);
    check("in/", "out-folder/", rest, change_folder);
}

static void test_sqlite(void **state)
{
    char rest[1000];
    (void)state;
    snprintf(rest, sizeof rest, "privacy: [{k: 2}]\n%s", schema);
    execute(tables);
    check("sqlite:in.db", "sqlite:out.db", rest, change_sqlite);
}

/* The private file has the digest of what was read: on few threads it is taken while reading, on more the file is read again. */
static void test_digest(void **state)
{
    char     text[1000];
    kn_error err = KN_ERROR_INIT;
    (void)state;
    for (int threads = 1; threads <= 4; threads++) {
        snprintf(
            text, sizeof text,
            "kanon: 1\ninput: in.csv\noutput: out%d.csv\nattributes: {zip: {role: quasi}, name: {role: identifier}}\n"
            "privacy: [{k: 2}]\nmethod: optimal\n",
            threads);
        put("in.csv", "zip,name\nx,a\nx,b\ny,c\ny,d\n");
        kn_status st = release_on(threads, text, change_dropped, &err);
        snprintf(text, sizeof text, "out%d.csv", threads);
        assert_int_equal(access(path_of(text), F_OK) == 0, st == KN_OK);
        if (threads <= 2) {
            assert_ok(st, err);
        } else {
            assert_int_equal(st, KN_INPUT);
            if (!strstr(err.message, "changed while it was read; nothing was written")) fail_msg("%s", err.message);
        }
    }
}

static void test_records(void **state)
{
    (void)state;
    put("in.xml", "<records><record><A v=\"a\"/></record><record><A v=\"b\"/></record><record><A "
                  "v=\"a\"/></record><record><A v=\"b\"/></record></records>");
    check("in.xml", "out.xml", "classes: {A: {value: \"@v\"}}\nprivacy: [{k-mn: {k: 2, m: 1, n: 0}}]\n",
          change_records);
}

static void test_persons(void **state)
{
    char rest[1000];
    (void)state;
    snprintf(rest, sizeof rest, "privacy: [{k-mn: {k: 1, m: 1, n: 0}}]\nclasses: {job: {}, ward: {}}\n%s", schema);
    put("in/person.csv", persons);
    check("in/", "out.json", rest, change_folder);
}

static void test_server(void **state)
{
    char        text[2000];
    kn_error    err = KN_ERROR_INIT;
    const char *server = getenv("KANON_TEST_POSTGRES");
    (void)state;
    if (!server) skip();
    assert_int_equal(chdir(folder), 0); /* what stands beside a server's release is written here */
    assert_true(
        psql("DROP SCHEMA IF EXISTS changing, changed CASCADE; CREATE SCHEMA changing; SET search_path = changing;"));
    snprintf(text, sizeof text, "SET search_path = changing; %s", tables);
    assert_true(psql(text));
    snprintf(text, sizeof text, "kanon: 1\ninput: \"%s#changing\"\noutput: \"%s#changed\"\nprivacy: [{k: 2}]\n%s",
             server, server, schema);
    assert_ok(release(text, change_server, &err), err); /* what was read is what was verified */
    kn_context                *ctx = testing_context(1);
    kn_spec                   *spec = NULL;
    kn_database_verify_report *r = NULL;
    assert_ok(kn_spec_read(&spec, ctx, path_of("release.yaml"), &err), err);
    assert_ok(kn_spec_check(spec, &err), err);
    assert_ok(kn_verify_database(&r, ctx, spec, NULL, &err), err);
    assert_false(r->ok); /* it is not a release of what is there now */
    kn_database_verify_report_free(r);
    kn_spec_free(spec);
    testing_context_free(ctx);
    assert_true(psql("DROP SCHEMA changing, changed CASCADE"));
}

static int set_up(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "%s/kanon-changed-XXXXXX", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
    if (!mkdtemp(folder) || mkdir(path_of("in"), 0700) != 0) return -1;
    put("in/visit.csv", "vid,id,ward,cost\n1,1,w,10\n2,1,v,20\n3,2,w,30\n4,3,v,10\n5,4,v,40\n6,5,w,20\n");
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    if (chdir("/") != 0) return -1;
    return nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_folder),  cmocka_unit_test(test_sqlite),
                                       cmocka_unit_test(test_digest),  cmocka_unit_test(test_records),
                                       cmocka_unit_test(test_persons), cmocka_unit_test(test_server)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
