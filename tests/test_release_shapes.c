/* test_release_shapes.c: kn_anonymize_database and kn_anonymize_records from a release file to files: every request for
 * memory refused in turn, cancellation, and the verifiers' public functions on what was written.
 * SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <dirent.h>
#include <ftw.h>
#include <kanon/anonymize.h>
#include <kanon/records.h>
#include <kanon/verify.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "testing.h"

static char folder[200];

static void put(const char *name, const char *text)
{
    char path[300];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

/* What lies in the folder, less what the test put there. */
static int others(void)
{
    static const char *const mine[] = {".",        "..",     "in",   "db.yaml", "lite.yaml", "anatomy.yaml",
                                       "xml.yaml", "in.xml", "d.csv"};
    DIR                     *d = opendir(folder);
    int                      count = 0;
    assert_non_null(d);
    for (struct dirent *e = readdir(d); e; e = readdir(d)) {
        bool known = false;
        for (size_t i = 0; i < sizeof mine / sizeof *mine; i++) known |= strcmp(e->d_name, mine[i]) == 0;
        count += !known;
    }
    closedir(d);
    return count;
}

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *at)
{
    (void)info;
    (void)kind;
    (void)at;
    return remove(path);
}

/* Removes the output and what stands beside it. */
static void clean(void)
{
    DIR *d = opendir(folder);
    assert_non_null(d);
    for (struct dirent *e = readdir(d); e; e = readdir(d)) {
        char path[500];
        if (strncmp(e->d_name, "out", 3) != 0) continue;
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        assert_int_equal(nftw(path, remove_one, 8, FTW_DEPTH | FTW_PHYS), 0);
    }
    closedir(d);
}

/* ---- The jobs ---- */

static const char schema[] =
    "entity: {table: person, key: id}\n"
    "tables:\n"
    "  person: {key: id, attributes: {zip: {role: quasi}, job: {role: sensitive}, name: {role: identifier}}}\n"
    "  visit: {key: vid, parent: {table: person, column: id}, attributes: {ward: {role: quasi}, cost: {role: "
    "sensitive}}}\n"
    "options: {seed: 3}\n";

static int set_up(void **state)
{
    char text[2000], path[300];
    (void)state;
    snprintf(folder, sizeof folder, "%s/kanon-shapes-XXXXXX", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
    if (!mkdtemp(folder)) return -1;
    snprintf(path, sizeof path, "%s/in", folder);
    if (mkdir(path, 0700) != 0) return -1;
    put("in/person.csv", "id,name,zip,job\n1,a,x,p\n2,b,x,q\n3,c,y,p\n4,d,y,r\n5,e,x,q\n");
    put("in/visit.csv", "vid,id,ward,cost\n1,1,w,10\n2,1,v,20\n3,2,w,30\n4,3,v,10\n5,4,v,40\n6,5,w,20\n7,9,w,1\n");
    snprintf(text, sizeof text, "kanon: 1\ninput: in/\noutput: out/\nprivacy: [{k: 2}]\nmethod: miracle-x\n%s", schema);
    put("db.yaml", text);
    snprintf(
        text, sizeof text,
        "kanon: 1\ninput: in/\noutput: sqlite:out\nprivacy: [{k: 2}]\nmethod: bitmap\nreport: out.html\nkeep-rowmap: "
        "true\n%s",
        schema);
    put("lite.yaml", text);
    snprintf(
        text, sizeof text,
        "kanon: 1\ninput: in/\noutput: out/\nprivacy: [{k: 2}, {l-diversity: {attribute: visit.cost, kind: distinct, "
        "l: 2}}]\n%.*s  anatomy: true\n  seed: 3\n",
        (int)(strstr(schema, "options:") - schema), schema);
    char *at = strstr(text, "  anatomy:");
    memmove(at + 9, at, strlen(at) + 1);
    memcpy(at, "options:\n", 9);
    put("anatomy.yaml", text);
    put("in.xml",
        "<records><record id=\"1\"><A v=\"a\"><B v=\"x\"/></A></record><record id=\"2\"><A v=\"b\"><B v=\"x\"/></A>"
        "</record><record id=\"3\"><A v=\"a\"><B v=\"y\"/></A></record><record id=\"4\"><A "
        "v=\"a\"/></record></records>");
    put("d.csv", "a;A1;*\nb;A1;*\n");
    put("xml.yaml",
        "kanon: 1\ninput: in.xml\noutput: out.xml\nclasses: {A: {value: \"@v\", hierarchy: d.csv}, B: {value: "
        "\"@v\"}}\nprivacy: [{k-mn: {k: 2, m: 2, n: 1}}]\noptions: {support: 0.5}\nreport: out.html\nkeep-rowmap: "
        "true\n");
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    return nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static kn_status release(kn_context *ctx, const kn_spec *spec, bool *found, kn_error *err)
{
    kn_status st;
    if (kn_spec_shape(spec) == KN_SHAPE_DATABASE) {
        kn_database_result *r = NULL;
        st = kn_anonymize_database(&r, ctx, spec, NULL, err);
        *found = r && r->found;
        kn_database_result_free(r);
    } else {
        kn_records_result *r = NULL;
        st = kn_anonymize_records(&r, ctx, spec, NULL, err);
        *found = r && r->found;
        kn_records_result_free(r);
    }
    return st;
}

/* From the files alone. */
static kn_status verify(kn_context *ctx, const kn_spec *spec, bool *ok, kn_error *err)
{
    kn_status st;
    if (kn_spec_shape(spec) == KN_SHAPE_DATABASE) {
        kn_database_verify_report *r = NULL;
        st = kn_verify_database(&r, ctx, spec, NULL, err);
        *ok = r && r->ok;
        kn_database_verify_report_free(r);
    } else {
        kn_records_verify_report *r = NULL;
        st = kn_verify_records(&r, ctx, spec, NULL, err);
        *ok = r && r->ok;
        kn_records_verify_report_free(r);
    }
    return st;
}

static kn_status run(kn_context *ctx, const char *name, bool *found, bool *ok, kn_error *err)
{
    char      path[300];
    kn_spec  *spec = NULL;
    kn_status st;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    *found = *ok = false;
    st = kn_spec_read(&spec, ctx, path, err);
    if (st == KN_OK) st = kn_spec_check(spec, err);
    if (st == KN_OK) st = release(ctx, spec, found, err);
    if (st == KN_OK && *found) st = verify(ctx, spec, ok, err);
    kn_spec_free(spec);
    return st;
}

static const char *const files[] = {"db.yaml", "lite.yaml", "anatomy.yaml", "xml.yaml"};
enum { FILES = sizeof files / sizeof *files };

static void test_refused_memory(void **state)
{
    (void)state;
    for (int f = 0; f < FILES; f++) {
        int64_t at = 0,
                step = (f == 0 || f == FILES - 1 ? 1 : 3) * testing_step(); /* what the others share is seen there */
        for (kn_status st = KN_MEMORY; st != KN_OK; at += step) {
            testing_allocator allocator = {.refuse_at = at};
            kn_context       *ctx = NULL;
            kn_error          err = KN_ERROR_INIT;
            bool              found = false, ok = false;
            st = testing_refusing_context(&ctx, &allocator, 1, &err);
            if (st == KN_OK) st = run(ctx, files[f], &found, &ok, &err);
            if (st != KN_OK && st != KN_MEMORY) fail_msg("%s, request %lld: %s", files[f], (long long)at, err.message);
            kn_context_free(ctx);
            assert_int_equal(allocator.live, 0);
            if (st != KN_OK && !found) assert_int_equal(others(), 0);
            if (st == KN_OK) assert_true(found && ok);
            clean();
        }
        print_message("%s: %lld requests\n", files[f], (long long)at);
    }
}

static void test_cancel(void **state)
{
    (void)state;
    for (int f = 0; f < FILES; f++) {
        kn_context *ctx = testing_context(2);
        kn_error    err = KN_ERROR_INIT;
        bool        found, ok;
        kn_context_cancel(ctx);
        assert_int_equal(run(ctx, files[f], &found, &ok, &err), KN_CANCELLED);
        assert_int_equal(others(), 0);
        kn_context_reset_cancel(ctx);
        assert_ok(run(ctx, files[f], &found, &ok, &err), err);
        assert_true(found && ok);
        clean();
        testing_context_free(ctx);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_refused_memory), cmocka_unit_test(test_cancel)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
