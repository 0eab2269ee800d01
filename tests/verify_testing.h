/* verify_testing.h: the verifier on texts that a test writes down. */
#ifndef VERIFY_TESTING_H
#define VERIFY_TESTING_H

#include <kanon/verify.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "testing.h"

/* Writes a file of the tests' folder; the same name again is the same file. */
static inline const char *file(const char *name, const char *text)
{
    static struct {
        const char *name, *path;
    } known[40];
    size_t i = 0;
    for (; known[i].name; i++) {
        if (strcmp(known[i].name, name) != 0) continue;
        FILE *f = fopen(known[i].path, "wb");
        assert_non_null(f);
        assert_true(fputs(text, f) >= 0 && fclose(f) == 0);
        return known[i].path;
    }
    assert_true(i + 1 < sizeof known / sizeof *known);
    known[i].name = name;
    return known[i].path = testing_file(name, text, strlen(text));
}

typedef struct verify_case {
    const char *yaml, *original, *release;
    const char *map, *summary; /* a row map's text and a summary's, or NULL */
    int64_t     work_limit;
    const int  *levels; /* claimed, or NULL */
    int         level_count;
} verify_case;

/* Verifies texts; the report is the caller's. */
static inline kn_status run_case(kn_verify_report **out, kn_context *ctx, const verify_case *c, kn_error *err)
{
    kn_spec          *spec = NULL;
    kn_verify_options options = KN_VERIFY_OPTIONS_INIT;
    const char       *originals[] = {file("original.csv", c->original)};
    options.originals = originals;
    options.original_count = 1;
    options.release = file("release.csv", c->release);
    options.map_path = c->map ? file("release.csv.rowmap", c->map) : NULL;
    options.summary = c->summary ? file("release.csv.summary.csv", c->summary) : NULL;
    options.work_limit = c->work_limit;
    options.levels = c->levels;
    options.level_count = c->level_count;
    *out = NULL;
    kn_status st = kn_spec_read(&spec, ctx, file("spec.yaml", c->yaml), err);
    if (st == KN_OK) st = kn_spec_check(spec, err);
    if (st == KN_OK) st = kn_verify(out, ctx, spec, &options, err);
    kn_spec_free(spec);
    return st;
}

static inline kn_status try_verify(kn_verify_report **out, kn_context *ctx, const char *yaml, const char *original,
                                   const char *release, const char *map, int64_t work_limit, kn_error *err)
{
    return run_case(out, ctx, &(verify_case){yaml, original, release, map, NULL, work_limit, NULL, 0}, err);
}

/* Is the text among the problems? */
static inline bool tells(const kn_verify_report *r, const char *text)
{
    for (int i = 0; i < r->problem_count; i++)
        if (strstr(r->problems[i], text)) return true;
    for (int i = 0; i < r->open_count; i++)
        if (strstr(r->open[i], text)) return true;
    return false;
}

static inline void show(const kn_verify_report *r)
{
    for (int i = 0; i < r->problem_count; i++) print_message("  %s\n", r->problems[i]);
}

/* `problem` NULL: it holds and is proved; otherwise the problem is told. */
static inline void expect_case(const verify_case *c, const char *problem)
{
    kn_context       *ctx = testing_context(2);
    kn_error          err = KN_ERROR_INIT;
    kn_verify_report *r = NULL;
    kn_status         st = run_case(&r, ctx, c, &err);
    if (st != KN_OK) fail_msg("%s\n%s", err.message, c->yaml);
    if (!problem && !r->ok) {
        show(r);
        fail_msg("%s is not ok:\n%s\n%s\n%s", c->map ? "with a map" : "without a map", c->yaml, c->original, c->release);
    }
    if (problem && (r->ok || !tells(r, problem))) {
        show(r);
        fail_msg("does not tell '%s':\n%s\n%s\n%s", problem, c->yaml, c->original, c->release);
    }
    kn_verify_report_free(r);
    testing_context_free(ctx);
}

static inline void expect(const char *yaml, const char *original, const char *release, const char *map,
                          const char *problem)
{
    expect_case(&(verify_case){.yaml = yaml, .original = original, .release = release, .map = map}, problem);
}

static inline void expect_error(const char *yaml, const char *original, const char *release, const char *map,
                                kn_status status, const char *message)
{
    kn_context       *ctx = testing_context(1);
    kn_error          err = KN_ERROR_INIT;
    kn_verify_report *r = NULL;
    assert_int_equal(try_verify(&r, ctx, yaml, original, release, map, 0, &err), status);
    if (!strstr(err.message, message)) fail_msg("'%s' is not in '%s'", message, err.message);
    assert_null(r);
    testing_context_free(ctx);
}

#define HEAD "kanon: 1\ninput: original.csv\noutput: release.csv\n"

#endif
