/* test_anonymize.c: whole runs: what is written and what is not, every refusal, random specs that verify themselves, the
 * same bytes on any number of threads, streams, failing memory.
 * SPDX-License-Identifier: Apache-2.0 */
#include "folder_testing.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <kanon/anonymize.h>
#include <math.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kn_buffer.h"
#include "kn_rng.h"

static int set_up(void **state)
{
    (void)state;
    folder_set_up();
    return sodium_init() < 0;
}

static const char *const outputs[] = {
    "out.csv", "out.csv.certificate.json", "out.csv.private.json", "out.csv.rowmap", "out.html", "out.page.html"};

static void remove_outputs(void)
{
    for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++) remove(path_of(outputs[i]));
}

static void assert_nothing_written(void)
{
    DIR *d = opendir(folder);
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d)) != NULL;) {
        if (strstr(e->d_name, ".tmp") || strncmp(e->d_name, "out", 3) == 0) fail_msg("%s is left", e->d_name);
    }
    closedir(d);
}

static unsigned mode_of(const char *name)
{
    struct stat info;
    assert_int_equal(stat(path_of(name), &info), 0);
    return info.st_mode & 07777;
}

/* Runs the release file "r.yaml" in the folder. */
static kn_status run_file(kn_context *ctx, kn_release_result **result, const kn_anonymize_options *options,
                          kn_error *err)
{
    kn_spec  *spec = NULL;
    kn_status st = kn_spec_read(&spec, ctx, path_of("r.yaml"), err);
    *result = NULL;
    if (st == KN_OK) st = kn_spec_check(spec, err);
    if (st == KN_OK) st = kn_anonymize(result, ctx, spec, options, err);
    kn_spec_free(spec);
    return st;
}

/* ---- A small table ---- */

static const char people[] = "name,zip,age,diagnosis,note\n"
                             "Ann,47901,21,flu,x\nBob,47902,22,cold,x\nCyd,47903,23,flu,y\n"
                             "Dan,47911,31,cold,x\nEve,47912,32,asthma,y\nFay,47913,33,flu,y\n"
                             "Gus,47990,80,rare,x\n";
static const char people_spec[] = "kanon: 1\ninput: in.csv\noutput: out.csv\n"
                                  "attributes:\n"
                                  "  name: {role: identifier}\n"
                                  "  zip: {role: quasi, type: text, hierarchy: {mask: right}}\n"
                                  "  age: {role: quasi, hierarchy: {ranges: [10, 20, 40]}}\n"
                                  "  diagnosis: {role: sensitive}\n"
                                  "privacy: [{k: 3}]\n"
                                  "suppression: {rows: 1}\n";

static void test_release(void **state)
{
    (void)state;
    kn_context          *ctx = testing_context(2);
    kn_error             err = KN_ERROR_INIT;
    kn_release_result   *r = NULL;
    kn_anonymize_options options = KN_ANONYMIZE_OPTIONS_INIT;
    options.version = "0.0.test";
    put("in.csv", people);
    put("r.yaml", people_spec);
    assert_ok(run_file(ctx, &r, &options, &err), err);
    assert_true(r->head.found && r->head.complete && r->optimal);
    assert_int_equal(r->rows_in, 7);
    assert_int_equal(r->rows, 7);
    assert_int_equal(r->head.suppressed, 1);
    assert_int_equal(r->head.classes, 2);
    assert_int_equal(r->head.k, 3);
    assert_int_equal(r->head.k_before, 1);
    assert_int_equal(r->level_count, 2);
    assert_int_equal(r->levels[0], 1);
    assert_int_equal(r->levels[1], 1);
    assert_int_equal(r->head.dropped_count, 1);
    assert_string_equal(r->head.dropped[0], "note");
    assert_int_equal(r->head.size_count, 1);
    assert_int_equal(r->head.sizes[0].size, 3);
    assert_int_equal(r->head.sizes[0].classes, 2);
    assert_int_equal(r->head.size_count_before, 1);
    assert_int_equal(r->head.sizes_before[0].size, 1);
    assert_int_equal(r->head.model_count, 1);
    assert_true(r->head.models[0].reached == 3 && r->head.models[0].original == 1);

    size_t size = 0;
    char  *release = get_size("out.csv", &size);
    assert_string_equal(release, "zip,age,diagnosis\n"
                                 "4790*,\"[20, 29]\",cold\n4790*,\"[20, 29]\",flu\n4790*,\"[20, 29]\",flu\n"
                                 "4791*,\"[30, 39]\",asthma\n4791*,\"[30, 39]\",cold\n4791*,\"[30, 39]\",flu\n*,*,*\n");
    unsigned char hash[crypto_hash_sha256_BYTES];
    char          digits[65];
    crypto_hash_sha256(hash, (unsigned char *)release, size);
    sodium_bin2hex(digits, sizeof digits, hash, sizeof hash);
    assert_string_equal(r->head.sha256, digits);
    free(release);
    assert_int_equal(mode_of("out.csv.private.json"), 0600);
    assert_null(get("out.csv.rowmap"));
    kn_release_result_free(r);
    remove_outputs();
    assert_nothing_written();
    testing_context_free(ctx);
}

/* ---- What stands beside it ---- */

static void assert_keys(const json_t *object, const char *const *keys)
{
    for (; *keys; keys++)
        if (!json_object_get(object, *keys)) fail_msg("no key %s", *keys);
}

static void test_beside(void **state)
{
    (void)state;
    static const char *const certificate_keys[] = {
        "shape", "method",     "options", "node",    "k",        "requested", "models",  "rows", "columns",
        "sizes", "suppressed", "classes", "metrics", "verified", "sha256",    "version", NULL};
    static const char *const not_public[] = {"counters", "lattice", "optimal",       "complete", "utility",
                                             "seed",     "chosen",  "missing_cells", "inputs",   NULL};
    static const char *const private_keys[] = {"seed",     "inputs",  "rows_in",  "release_sha256", "k_before",
                                               "counters", "lattice", "complete", "optimal",        NULL};
    static const char *const values[] = {"Ann",  "47901",    "rare",    "asthma", "flu",
                                         "4790", "[20, 29]", "note\"x", "98765",  NULL};
    kn_context              *ctx = testing_context(2);
    kn_error                 err = KN_ERROR_INIT;
    kn_release_result       *r = NULL;
    char                     text[2000];
    put("in.csv", people);
    snprintf(text, sizeof text,
             "%skeep-rowmap: true\nreport: out.html\npublic-report: out.page.html\nmethod: heuristic\noptions: {seed: "
             "98765}\n",
             people_spec);
    put("r.yaml", text);
    assert_ok(run_file(ctx, &r, NULL, &err), err);
    json_error_t why;
    char        *certificate = get("out.csv.certificate.json"), *private = get("out.csv.private.json");
    json_t      *c = json_loads(certificate, 0, &why), *p = json_loads(private, 0, &why);
    assert_non_null(c);
    assert_non_null(p);
    assert_keys(c, certificate_keys);
    assert_keys(p, private_keys);
    for (int i = 0; not_public[i]; i++) assert_null(json_object_get(c, not_public[i]));
    assert_string_equal(json_string_value(json_object_get(c, "sha256")), r->head.sha256);
    assert_string_equal(json_string_value(json_object_get(p, "release_sha256")), r->head.sha256);
    assert_string_equal(json_string_value(json_object_get(p, "seed")), "98765");
    assert_int_equal(json_integer_value(json_object_get(c, "k")), 3);
    assert_true(json_is_true(json_object_get(c, "verified")));
    assert_int_equal(json_array_size(json_object_get(c, "node")), 2);
    assert_null(json_object_get(json_object_get(c, "metrics"), "entropy"));
    json_t *metrics = json_object_get(p, "metrics");
    for (int m = 0; m < KN_METRICS; m++) {
        double value = json_number_value(json_object_get(metrics, kn_metric_name((kn_metric)m)));
        assert_true(fabs(value - r->metrics[m]) <= 1e-12 * fabs(value));
    }
    /* No value of the data, no seed, no digest of the original in what may be published. */
    const char *digest = json_string_value(json_object_get(json_array_get(json_object_get(p, "inputs"), 0), "sha256"));
    assert_int_equal(strlen(digest), 64);
    char *report = get("out.page.html");
    assert_non_null(report);
    assert_int_equal(mode_of("out.html"), 0600);
    for (int i = 0; values[i]; i++) {
        if (strstr(certificate, values[i])) fail_msg("the certificate holds %s", values[i]);
        if (strstr(report, values[i]) && i < 5) fail_msg("the report holds %s", values[i]);
        /* Where a report was asked for, it lists values of released columns. */
        if ((i == 0 || i == 7) && strstr(private, values[i])) fail_msg("the private file holds %s", values[i]);
    }
    assert_null(strstr(certificate, digest));
    assert_null(strstr(report, digest));
    assert_int_equal(mode_of("out.csv.rowmap"), 0600);
    char *map = get("out.csv.rowmap");
    assert_string_equal(map, "kanon-rowmap 1\n2\n1\n3\n5\n4\n6\n7\n");
    free(map);
    free(report);
    free(certificate);
    free(private);
    json_decref(c);
    json_decref(p);
    kn_release_result_free(r);
    /* A row map that is not kept does not stay from the run before. Without a report the private file holds no value. */
    put("r.yaml", people_spec);
    assert_ok(run_file(ctx, &r, NULL, &err), err);
    kn_release_result_free(r);
    assert_null(get("out.csv.rowmap"));
    private = get("out.csv.private.json");
    for (int i = 0; i < 8; i++)
        if (strstr(private, values[i])) fail_msg("the private file holds %s without a report", values[i]);
    free(private);
    remove_outputs();
    testing_context_free(ctx);
}

/* ---- Refusals ---- */

typedef struct refusal {
    const char *input; /* NULL: people */
    const char *spec;
    kn_status   status;
    const char *says;
} refusal;

#define HEAD "kanon: 1\ninput: in.csv\noutput: out.csv\n"
#define ROLES                                                                                                          \
    "attributes:\n  zip: {role: quasi, type: text, hierarchy: {mask: right}}\n  age: {role: quasi}\n"                  \
    "  diagnosis: {role: sensitive}\n"

static const refusal refusals[] = {
    {NULL, HEAD ROLES "privacy: [{k: 0}]\n", KN_INPUT, "k"},
    {NULL, HEAD ROLES "privacy: [{l-diversity: {attribute: diagnosis, kind: distinct, l: 5}}]\n", KN_INPUT,
     "diagnosis"},
    {"zip,age,diagnosis\n", HEAD ROLES "privacy: [{k: 2}]\n", KN_INPUT, "no rows"},
    {"", HEAD ROLES "privacy: [{k: 2}]\n", KN_INPUT, "empty"},
    {"zip,age,diagnosis\n*,5,a\n2,6,b\n", HEAD ROLES "privacy: [{k: 2}]\n", KN_INPUT, "\"zip\""},
    {"zip,age\n1,5\n2,6\n", HEAD ROLES "privacy: [{k: 2}]\n", KN_INPUT, "\"diagnosis\""},
    {NULL, HEAD ROLES "privacy: [{k: 2}]\nmissing: wildcard\n", KN_USAGE, "wildcard"},
    {NULL, HEAD ROLES "privacy: [{k: 2}]\nundeclared: refuse\n", KN_INPUT, "\"name\""},
    {NULL, "kanon: 1\ninput: in.csv\noutput: ./in.csv\n" ROLES "privacy: [{k: 2}]\n", KN_USAGE, "overwrite"},
    {NULL, "kanon: 1\ninput: in.csv\noutput: link.csv\n" ROLES "privacy: [{k: 2}]\n", KN_USAGE, "overwrite"},
    {NULL, "kanon: 1\ninput: in.csv\noutput: ./r.yaml\n" ROLES "privacy: [{k: 2}]\n", KN_USAGE, "overwrite"},
    {NULL, HEAD "report: ./in.csv\n" ROLES "privacy: [{k: 2}]\n", KN_USAGE, "overwrite"},
    {NULL, HEAD "report: ./out.csv\n" ROLES "privacy: [{k: 2}]\n", KN_USAGE, "overwrite"},
    {NULL, HEAD "report: out.csv.certificate.json\n" ROLES "privacy: [{k: 2}]\n", KN_USAGE, "overwrite"},
    {NULL, "kanon: 1\ninput: in.csv\noutput: nowhere/out.csv\n" ROLES "privacy: [{k: 2}]\n", KN_IO, "nowhere"},
    {NULL, "kanon: 1\ninput: none.csv\noutput: out.csv\n" ROLES "privacy: [{k: 2}]\n", KN_INPUT, "none.csv"},
    {NULL, HEAD "attributes:\n  age: {role: quasi, hierarchy: none.csv}\nprivacy: [{k: 2}]\n", KN_INPUT, "none.csv"},
    {NULL, HEAD "attributes:\n  age: {role: quasi, hierarchy: flat.csv}\nprivacy: [{k: 2}]\n", KN_INPUT, "flat.csv"},
    {NULL,
     HEAD "attributes:\n  zip: {role: quasi}\n  name: {role: identifier, pseudonym: {key-file: short.key}}\n"
          "privacy: [{k: 2}]\n",
     KN_INPUT, "short.key"},
    {"zip,id\n1,a1\n2,a2\n1,a3\n2,a4\n1,a5\n2,a6\n1,a7\n2,a8\n1,a9\n2,b1\n1,b2\n",
     HEAD "attributes:\n  zip: {role: quasi}\n  id: {role: keep}\nprivacy: [{k: 2}]\n", KN_INPUT, "\"id\""},
    {"zip,id\n1,aa\n2,aa\n1,ab\n2,ab\n1,ac\n2,ac\n1,ad\n2,ae\n1,af\n2,ag\n1,ah\n",
     HEAD "attributes:\n  zip: {role: quasi}\n  id: {role: keep}\nprivacy: [{k: 2}]\n", KN_INPUT, "free text"},
    {"zip,d\n1,*\n2,x\n",
     HEAD "attributes:\n  zip: {role: quasi}\n  d: {role: sensitive}\nprivacy: [{k: 2}]\nforce: true\n", KN_INPUT,
     "\"d\""},
    {NULL, HEAD "attributes:\n  zip: {role: quasi}\nprivacy: [{k-map: {k: 2}}]\n", KN_INPUT, "population"},
};

static void test_refusals(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(2);
    put("flat.csv", "21\n22\n23\n");
    put("short.key", "not enough");
    put("in.csv", people);
    assert_int_equal(symlink("in.csv", path_of("link.csv")), 0);
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        const refusal     *bad = &refusals[i];
        kn_error           err = KN_ERROR_INIT;
        kn_release_result *r = NULL;
        put("in.csv", bad->input ? bad->input : people);
        put("r.yaml", bad->spec);
        kn_status st = run_file(ctx, &r, NULL, &err);
        if (st != bad->status && !(bad->status == KN_INPUT && st == KN_USAGE) &&
            !(bad->status == KN_USAGE && st == KN_INPUT))
            fail_msg("%zu: status %d: %s", i, st, err.message);
        if (!strstr(err.message, bad->says)) fail_msg("%zu: says: %s", i, err.message);
        assert_null(r);
        assert_nothing_written();
        char *input = get("in.csv");
        assert_string_equal(input, bad->input ? bad->input : people);
        free(input);
    }
    unlink(path_of("link.csv"));
    testing_context_free(ctx);
}

static void test_read_only(void **state)
{
    (void)state;
    bool root = geteuid() == 0; /* may write anywhere but where nobody may */
    if (root && access("/sys", F_OK) != 0) skip();
    kn_context        *ctx = testing_context(1);
    kn_error           err = KN_ERROR_INIT;
    kn_release_result *r = NULL;
    char               spec[1000];
    snprintf(spec, sizeof spec, "kanon: 1\ninput: in.csv\noutput: %s/out.csv\n" ROLES "privacy: [{k: 2}]\n",
             root ? "/sys" : "closed");
    put("in.csv", people);
    put("r.yaml", spec);
    if (!root) assert_int_equal(mkdir(path_of("closed"), 0500), 0);
    assert_int_equal(run_file(ctx, &r, NULL, &err), KN_IO);
    assert_non_null(strstr(err.message, root ? "/sys/out.csv" : "closed/out.csv"));
    if (!root) assert_int_equal(rmdir(path_of("closed")), 0);
    testing_context_free(ctx);
}

/* Not found is an answer. An old release stays. */
static void test_not_found(void **state)
{
    (void)state;
    static const char *const specs[] = {
        HEAD ROLES "privacy: [{k: 8}]\n", /* fewer than k rows */
        HEAD ROLES
        "privacy: [{t-closeness: {attribute: diagnosis, distance: equal, t: 0.1}}, {k: 8}]\nsuppression: 0.5\n",
    };
    kn_context *ctx = testing_context(2);
    put("in.csv", people);
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
        kn_error           err = KN_ERROR_INIT;
        kn_release_result *r = NULL;
        put("r.yaml", specs[i]);
        assert_ok(run_file(ctx, &r, NULL, &err), err);
        assert_false(r->head.found);
        assert_non_null(r->head.reason);
        assert_true(strlen(r->head.reason) > 10);
        kn_release_result_free(r);
        assert_nothing_written();
        put("out.csv", "old");
        assert_ok(run_file(ctx, &r, NULL, &err), err);
        kn_release_result_free(r);
        char *old = get("out.csv");
        assert_string_equal(old, "old");
        free(old);
        remove_outputs();
    }
    testing_context_free(ctx);
}

static void test_force_and_dry_run(void **state)
{
    (void)state;
    kn_context          *ctx = testing_context(1);
    kn_error             err = KN_ERROR_INIT;
    kn_release_result   *r = NULL;
    kn_anonymize_options dry = KN_ANONYMIZE_OPTIONS_INIT;
    dry.dry_run = true;
    put("in.csv", "zip,id\n1,a1\n2,a2\n1,a3\n2,a4\n1,a5\n2,a6\n1,a7\n2,a8\n1,a9\n2,b1\n1,b2\n");
    put("r.yaml", HEAD "attributes:\n  zip: {role: quasi}\n  id: {role: keep}\nprivacy: [{k: 2}]\nforce: true\n");
    assert_ok(run_file(ctx, &r, &dry, &err), err);
    assert_true(r->head.found);
    assert_int_equal(r->head.k, 5);
    assert_string_equal(r->head.sha256, "");
    kn_release_result_free(r);
    assert_nothing_written();
    assert_ok(run_file(ctx, &r, NULL, &err), err);
    assert_true(r->head.found);
    kn_release_result_free(r);
    remove_outputs();
    testing_context_free(ctx);
}

/* ---- What no promise covers is told ---- */

static bool has_note(const kn_release_result *r, const char *text)
{
    for (int i = 0; i < r->head.note_count; i++)
        if (strstr(r->head.notes[i], text)) return true;
    return false;
}

static void test_notes(void **state)
{
    (void)state;
    kn_context          *ctx = testing_context(1);
    kn_error             err = KN_ERROR_INIT;
    kn_release_result   *r = NULL;
    kn_anonymize_options dry = KN_ANONYMIZE_OPTIONS_INIT;
    dry.dry_run = true;
    /* Class 1 shares its illness, class 2 has a missing one, class 3 two. No value of a or b is alone; rows 5 and 6, and
       7 and 8, have the same of both. */
    put("in.csv",
        "zip,town,illness,a,b\n"
        "1,A,flu,1,1\n1,B,flu,1,2\n1,C,flu,2,1\n2,D,,2,2\n2,E,,3,1\n2,F,flu,3,1\n3,G,flu,3,2\n3,A,cold,3,2\n");
    put("r.yaml", HEAD "attributes: {zip: {role: quasi, hierarchy: suppress}, town: quasi, illness: sensitive, a: "
                       "keep, b: keep}\nprivacy: [{k: 2}]\n"
                       "method: optimal\n");
    assert_ok(run_file(ctx, &r, &dry, &err), err);
    assert_int_equal(r->head.k, 2);
    assert_true(has_note(r, "\"illness\": 3 rows give their value away"));
    assert_true(has_note(r, "of 8 rows 4 stand alone"));
    assert_true(has_note(r, "\"town\" is * in every row"));
    assert_int_equal(r->head.note_count, 3);
    kn_release_result_free(r);
    /* A promise about the column takes the place of the note; what is missing counts in it. */
    put("r.yaml",
        HEAD "attributes: {zip: quasi, illness: sensitive, a: keep}\n"
             "privacy: [{k: 2}, {l-diversity: {attribute: illness, kind: distinct, l: 1}}]\nmethod: optimal\n");
    assert_ok(run_file(ctx, &r, &dry, &err), err);
    assert_true(has_note(r, "\"illness\": 2 missing cells count as one more value"));
    assert_true(has_note(r, "of 8 rows 2 stand alone"));
    assert_true(has_note(r, "\"zip\": no hierarchy was given; ranges of 2 were taken"));
    assert_int_equal(r->head.note_count, 3);
    kn_release_result_free(r);
    /* Suppressed rows that keep their sensitive cells are a class, too. */
    put("in.csv", "zip,illness\n1,flu\n1,cold\n2,flu\n2,cold\n3,pox\n4,pox\n");
    put("r.yaml", HEAD "attributes: {zip: quasi, illness: sensitive}\nprivacy: [{k: 2}]\n"
                       "suppression: {rows: 2}\nsuppressed: keep-sensitive\nmethod: optimal\n");
    assert_ok(run_file(ctx, &r, &dry, &err), err);
    assert_int_equal(r->head.suppressed, 2);
    assert_true(has_note(r, "\"illness\": 2 rows give their value away"));
    kn_release_result_free(r);
    /* Free text may hold anything; numbers are only numbers. */
    put("in.csv", "zip,report,cost\n1,ab,1\n1,ac,2\n1,ad,3\n1,ae,4\n1,af,5\n2,ag,6\n2,ag,7\n2,ag,8\n2,ag,9\n2,ag,10\n");
    put("r.yaml", HEAD "attributes: {zip: quasi, report: sensitive, cost: sensitive}\nprivacy: [{k: 2}]\n");
    assert_ok(run_file(ctx, &r, &dry, &err), err);
    assert_true(has_note(r, "\"report\" is published as it is"));
    assert_false(has_note(r, "\"cost\""));
    kn_release_result_free(r);
    testing_context_free(ctx);
}

/* ---- Random specs: every claim is held against the verifier's, so a difference anywhere is KN_INTERNAL ---- */

/* How the input is written. */
typedef struct dialect {
    char delimiter, decimal;
    bool header;
    bool own_na; /* missing cells are "?", and an empty cell is a value */
    bool two_files;
} dialect;

static void random_row(kn_rng *rng, kn_buffer *to, const dialect *d, int rows)
{
    static const char *const diseases[] = {"flu", "cold", "\"a,;\n b\"", "asthma", ""};
    char                     c = d->delimiter;
    kn_buffer_format(to, "p%d%c", (int)kn_rng_below(rng, (uint64_t)rows * 2 / 3 + 1), c);
    kn_buffer_format(to, "%05d%c", 2138 + (int)kn_rng_below(rng, 8) * 7, c);
    if (kn_rng_below(rng, 12))
        kn_buffer_format(to, "%d%c", 18 + (int)kn_rng_below(rng, 12) * 3, c);
    else
        kn_buffer_format(to, "%s%c", d->own_na ? "?" : "", c);
    kn_buffer_format(to, "19%02d-%02d-11%c", 60 + (int)kn_rng_below(rng, 4), 1 + (int)kn_rng_below(rng, 3), c);
    kn_buffer_format(to, "%s%c", kn_rng_below(rng, 2) ? "m" : "f", c);
    kn_buffer_format(to, "%d%c%s%c", 1 + (int)kn_rng_below(rng, 5), d->decimal, kn_rng_below(rng, 3) ? "50" : "5", c);
    kn_buffer_format(to, "%s%c", diseases[kn_rng_below(rng, 5)], c);
    kn_buffer_format(to, "%s%c", kn_rng_below(rng, 2) ? "north" : "\"south \"\"x\"", c);
    kn_buffer_format(to, "%d\n", 1 + (int)kn_rng_below(rng, 9));
}

static void random_people(kn_rng *rng, kn_buffer *to, const dialect *d, int rows)
{
    static const char *const names[] = {"id", "zip", "age", "born", "sex", "pay", "disease", "ward", "weight"};
    for (int c = 0; c < 9 && d->header; c++) kn_buffer_format(to, "%s%c", names[c], c < 8 ? d->delimiter : '\n');
    for (int i = 0; i < rows; i++) random_row(rng, to, d, rows);
}

static const char *pick(kn_rng *rng, const char *const *from, size_t count)
{
    return from[kn_rng_below(rng, count)];
}

#define PICK(rng, list) pick(rng, list, sizeof(list) / sizeof *(list))

static const char *const zips[] = {"{mask: right}", "{mask: left}", "zip.csv", "suppress"};
static const char *const ages[] = {", hierarchy: {ranges: [5, 10, 20]}", ", hierarchy: {breaks: [[20, 30, 40], [30]]}",
                                   ", hierarchy: suppress", "", ", hierarchy: {ranges: [5, 10]}, cuts: order"};
static const char *const borns[] = {", hierarchy: {calendar: [month, year]}",
                                    ", hierarchy: {calendar: [quarter, decade]}", "",
                                    ", hierarchy: {calendar: [month]}, cuts: order"};
static const char *const any_models[] = {"{k: 2}",
                                         "{k: 4}",
                                         "{k: 60}",
                                         "{max-risk: {risk: 0.3}}",
                                         "{max-risk: {risk: 0.01}}",
                                         "{average-risk: {risk: 0.2}}",
                                         "{k-map: {k: 6}}",
                                         "{delta-presence: {min: 0, max: 0.8}}",
                                         "{delta-presence: {min: 0.2, max: 0.9}}"};
static const char *const models[] = {
    "{l-diversity: {attribute: DISEASE, kind: distinct, l: 2}}",
    "{l-diversity: {attribute: DISEASE, kind: entropy, l: 1.5}}",
    "{l-diversity: {attribute: DISEASE, kind: recursive, l: 2, c: 3}}",
    "{t-closeness: {attribute: DISEASE, distance: equal, t: 0.4}}",
    "{t-closeness: {attribute: DISEASE, distance: hierarchical, t: 0.4}}",
    "{t-closeness: {attribute: PAY, distance: ordered, t: 0.3}}",
    "{alpha-k: {attribute: DISEASE, alpha: 0.7, k: 2}}",
    "{beta-likeness: {attribute: PAY, kind: basic, beta: 2}}",
    "{beta-likeness: {attribute: DISEASE, kind: enhanced, beta: 2}}",
    "{delta-disclosure: {attribute: PAY, delta: 2.5}}",
};
static const char *const methods[] = {"optimal",   "samarati", "bottom-up",        "incognito",   "datafly",
                                      "heuristic", "mondrian", "mondrian-relaxed", "mondrian-1d", "mondrian-best",
                                      "kmsd",      "kmsd-ag",  "mondrian-best"};
static const char *const choices[] = {"range", "entropy", "loss"};
static const char *const utilities[] = {"lm", "ncp", "prec", "entropy", "dm", "dm_star", "c_avg"};
static const char *const budgets[] = {"0", "0.1", "0.3", "{rows: 5}", "1"};
static const char *const modes[] = {"star", "drop", "keep-sensitive"};

/* Writes upper-case words as the names of columns: as they are, or c1, c2, ... where there is no header. */
static void add_named(kn_buffer *to, const dialect *d, const char *text)
{
    static const char *const upper[] = {"ID", "ZIP", "AGE", "BORN", "SEX", "PAY", "DISEASE", "WARD", "WEIGHT"};
    static const char *const lower[] = {"id", "zip", "age", "born", "sex", "pay", "disease", "ward", "weight"};
    while (*text) {
        int    found = -1;
        size_t n = 0;
        for (int i = 0; i < 9; i++)
            if (strncmp(text, upper[i], strlen(upper[i])) == 0 && strlen(upper[i]) > n) {
                found = i;
                n = strlen(upper[i]);
            }
        if (found < 0)
            kn_buffer_char(to, *text++);
        else if (d->header)
            kn_buffer_add(to, lower[found]);
        else
            kn_buffer_format(to, "c%d", found + 1);
        text += n;
    }
}

static const char *some_column(kn_rng *rng, const char *const *list, size_t count, bool cuts)
{
    const char *found = list[kn_rng_below(rng, count)];
    return cuts || !strstr(found, "cuts") ? found : list[0];
}

static void add_roles(kn_rng *rng, kn_buffer *to, const dialect *d, bool sensitive, bool cuts, bool distance)
{
    char line[200];
    snprintf(line, sizeof line, "attributes:\n  ZIP: {role: quasi, type: text, hierarchy: %s}\n", PICK(rng, zips));
    add_named(to, d, line);
    snprintf(line, sizeof line, "  AGE: {role: quasi%s}\n", some_column(rng, ages, sizeof ages / sizeof *ages, cuts));
    add_named(to, d, line);
    snprintf(line, sizeof line, "  BORN: {role: quasi%s}\n",
             some_column(rng, borns, sizeof borns / sizeof *borns, cuts));
    if (kn_rng_below(rng, 2)) add_named(to, d, line);
    if (kn_rng_below(rng, 2)) add_named(to, d, "  SEX: {role: quasi, weight: 3}\n");
    if (sensitive) {
        add_named(to, d,
                  distance ? "  DISEASE: {role: sensitive, hierarchy: {mask: right}}\n"
                           : "  DISEASE: {role: sensitive}\n");
        add_named(to, d, "  PAY: {role: sensitive}\n");
    }
    if (sensitive && kn_rng_below(rng, 2)) add_named(to, d, "  WARD: {role: keep}\n");
    if (sensitive && kn_rng_below(rng, 2)) add_named(to, d, "  WEIGHT: {role: weight}\n");
    uint64_t who = kn_rng_below(rng, 6);
    if (who == 0) add_named(to, d, "  ID: {role: identifier}\nentity: {key: ID}\n");
    if (who == 1) add_named(to, d, "  ID: {role: identifier, pseudonym: {key-file: key}}\n");
}

static void random_spec(kn_rng *rng, kn_buffer *to, const dialect *d)
{
    bool sensitive = kn_rng_below(rng, 5) > 0; /* else nothing but quasi-identifiers */
    kn_buffer_format(to, "kanon: 1\ninput: %s\noutput: out.csv\n", d->two_files ? "[in.csv, in2.csv]" : "in.csv");
    if (!d->header) kn_buffer_add(to, "header: false\n");
    if (d->decimal == ',') kn_buffer_add(to, "decimal: ','\n");
    if (d->own_na) kn_buffer_add(to, "na: ['?']\n");
    const char *first = sensitive && kn_rng_below(rng, 3) ? PICK(rng, models) : PICK(rng, any_models);
    const char *second = kn_rng_below(rng, 2) ? PICK(rng, any_models) : "", *method = PICK(rng, methods);
    bool        counted =
        strstr(first, "map") || strstr(first, "presence") || strstr(second, "map") || strstr(second, "presence");
    kn_method number = KN_METHOD_OPTIMAL;
    assert_true(kn_method_parse(method, &number));
    add_roles(rng, to, d, sensitive, kn_method_family(number) == KN_FAMILY_PARTITION, strstr(first, "hierarchical"));
    kn_buffer_add(to, "privacy: [");
    add_named(to, d, first);
    if (*second) kn_buffer_add(to, ", ");
    add_named(to, d, second);
    kn_buffer_add(to, "]\n");
    bool levels = kn_method_family(number) == KN_FAMILY_FULL_DOMAIN;
    if (levels && counted && kn_rng_below(rng, 4)) kn_buffer_add(to, "population: all.csv\n");
    kn_buffer_format(to, "force: true\nmethod: %s\nsuppression: %s\nsuppressed: %s\n", method, PICK(rng, budgets),
                     PICK(rng, modes));
    if (levels) kn_buffer_format(to, "utility: %s\n", PICK(rng, utilities));
    if (number == KN_METHOD_MONDRIAN || number == KN_METHOD_MONDRIAN_RELAXED)
        kn_buffer_format(to, "options: {choose: %s}\n", PICK(rng, choices));
    if (kn_rng_below(rng, 4) == 0) kn_buffer_add(to, "missing: drop\n");
    if (kn_rng_below(rng, 6) == 0) kn_buffer_add(to, "keep-order: true\n");
}

/* Writes tables, population and release file of one random run. */
static void random_files(kn_rng *rng, kn_buffer *spec)
{
    kn_buffer data;
    int       rows = 20 + (int)kn_rng_below(rng, 120);
    dialect   d = {kn_rng_below(rng, 3) ? ',' : ';', '.', kn_rng_below(rng, 5) > 0, kn_rng_below(rng, 4) == 0,
                 kn_rng_below(rng, 5) == 0};
    if (d.delimiter == ';' && kn_rng_below(rng, 2)) d.decimal = ',';
    kn_buffer_init(&data, spec->ctx);
    random_people(rng, &data, &d, rows);
    put("in.csv", kn_buffer_text(&data));
    kn_buffer everybody;
    kn_buffer_init(&everybody, spec->ctx);
    kn_buffer_add(&everybody, data.data);
    kn_buffer_clear(&data);
    random_people(rng, &data, &d, rows / 2 + 1);
    put("in2.csv", kn_buffer_text(&data));
    const char *more = d.header ? strchr(data.data, '\n') + 1 : data.data;
    kn_buffer_add(&everybody, more);
    for (int i = 0; i < rows; i++) random_row(rng, &everybody, &d, rows);
    put("all.csv", kn_buffer_text(&everybody));
    kn_buffer_clear(spec);
    random_spec(rng, spec, &d);
    put("r.yaml", kn_buffer_text(spec));
    kn_buffer_free(&data);
    kn_buffer_free(&everybody);
}

/* A table and what is asked of it, `asked` behind input and output: the release, which the caller frees. */
static kn_release_result *released(kn_context *ctx, const char *table, const char *asked)
{
    kn_error           err = KN_ERROR_INIT;
    kn_release_result *r = NULL;
    char               file[1000];
    snprintf(file, sizeof file, "kanon: 1\ninput: in.csv\noutput: out.csv\n%s", asked);
    put("in.csv", table);
    put("r.yaml", file);
    assert_ok(run_file(ctx, &r, NULL, &err), err);
    assert_true(r->head.found);
    remove_outputs();
    return r;
}

/* Nobody of the population may be known to be absent: the class of "*" is a class, however many rows may be suppressed. */
static void test_everything_starred(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(1);
    put("all.csv", "zip,age\n1,10\n2,20\n3,30\n4,40\n5,50\n6,60\n7,70\n8,80\n");
    kn_release_result *r =
        released(ctx, "zip,age\n1,10\n2,20\n3,30\n4,40\n",
                 "attributes: {zip: {role: quasi, hierarchy: suppress}, age: {role: quasi, hierarchy: suppress}}\n"
                 "privacy: [{delta-presence: {min: 0.2, max: 0.9}}]\npopulation: all.csv\nsuppression: 100%\n"
                 "suppressed: star\nforce: true\n");
    assert_int_equal(r->head.suppressed, 0);
    assert_int_equal(r->head.classes, 1);
    kn_release_result_free(r);
    testing_context_free(ctx);
}

/* ... and none is suppressed, not even one that the population does not have. */
static void test_stranger_to_the_population(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(1);
    put("all.csv", "sex\nF\nF\nF\nF\nF\n");
    kn_release_result *r =
        released(ctx, "sex\nM\nF\nF\n",
                 "attributes: {sex: quasi}\n"
                 "privacy: [{delta-presence: {min: 0.1, max: 0.8}}]\npopulation: all.csv\nsuppression: 50%\n"
                 "force: true\n");
    assert_int_equal(r->head.suppressed, 0);
    assert_int_equal(r->levels[0], 1);
    kn_release_result_free(r);
    testing_context_free(ctx);
}

/* Suppressed rows that stay are a class of persons, although they show no pseudonym. */
static void test_persons_without_a_pseudonym(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(1);
    put("key", "a key that is long enough for everybody");
    kn_release_result *r =
        released(ctx, "id,zip,ill\na,1,x\nb,1,y\nc,2,x\nd,3,y\n",
                 "entity: {key: id}\n"
                 "attributes: {id: {role: identifier, pseudonym: {key-file: key}}, ill: sensitive,\n"
                 "  zip: {role: quasi, hierarchy: suppress}}\n"
                 "privacy: [{k: 2}]\nsuppression: 50%\nsuppressed: keep-sensitive\nmethod: optimal\n");
    assert_int_equal(r->head.suppressed, 2);
    assert_int_equal(r->head.k, 2);
    kn_release_result_free(r);
    testing_context_free(ctx);
}

static void test_random(void **state)
{
    (void)state;
    kn_context *contexts[] = {testing_context(1), testing_context(2), testing_context(8)};
    kn_rng      rng;
    kn_buffer   spec;
    int         released = 0, none = 0, refused = 0;
    int         rounds = testing_rounds(200);
    kn_rng_init(&rng, testing_seed(), 0);
    kn_buffer_init(&spec, contexts[0]);
    put("key", "a key that is long enough for everybody");
    put("zip.csv", "02138;021**;*\n02145;021**;*\n02152;021**;*\n02159;021**;*\n02166;021**;*\n02173;021**;*\n"
                   "02180;021**;*\n02187;02187;*\n");
    for (int i = 0; i < rounds; i++) {
        char *first = NULL, *first_certificate = NULL;
        random_files(&rng, &spec);
        for (int t = 0; t < 3; t++) {
            kn_error           err = KN_ERROR_INIT;
            kn_release_result *r = NULL;
            kn_status          st = run_file(contexts[t], &r, NULL, &err);
            if (st == KN_USAGE || st == KN_INPUT) { /* a model twice, k-map without population, ... */
                assert_nothing_written();
                refused++;
                break;
            }
            if (st != KN_OK) fail_msg("%s\n%s", err.message, kn_buffer_text(&spec));
            released += r->head.found && t == 0;
            none += !r->head.found && t == 0;
            kn_release_result_free(r);
            char *release = get("out.csv"), *certificate = get("out.csv.certificate.json");
            remove_outputs();
            assert_nothing_written();
            if (t > 0 && release) {
                assert_string_equal(release, first);
                assert_string_equal(certificate, first_certificate);
            }
            free(first);
            free(first_certificate);
            first = release;
            first_certificate = certificate;
        }
        free(first);
        free(first_certificate);
    }
    print_message("%d releases, %d without, %d refused\n", released, none, refused);
    assert_true(released > testing_least(50) && none > testing_least(5) && refused < rounds / 2);
    kn_buffer_free(&spec);
    for (int t = 0; t < 3; t++) testing_context_free(contexts[t]);
}

/* ---- Streams ---- */

static void test_streams(void **state)
{
    (void)state;
    kn_context        *ctx = testing_context(2);
    kn_error           err = KN_ERROR_INIT;
    kn_release_result *r = NULL;
    put("in.csv", people);
    put("r.yaml", people_spec);
    assert_ok(run_file(ctx, &r, NULL, &err), err);
    kn_release_result_free(r);
    char *expected = get("out.csv");
    remove_outputs();

    /* Standard input is a pipe, standard output a file. */
    int pipes[2], saved_in = dup(0), saved_out = dup(1);
    assert_int_equal(pipe(pipes), 0);
    assert_int_equal(write(pipes[1], people, strlen(people)), strlen(people));
    close(pipes[1]);
    int out = open(path_of("captured"), O_RDWR | O_CREAT | O_TRUNC, 0600);
    assert_true(out >= 0);
    kn_spec *spec = NULL;
    assert_ok(kn_spec_read(&spec, ctx, path_of("r.yaml"), &err), err);
    assert_ok(kn_spec_set(spec, "input", "'-'", "--input", &err), err);
    assert_ok(kn_spec_set(spec, "output", "'-'", "--output", &err), err);
    assert_ok(kn_spec_check(spec, &err), err);
    fflush(stdout);
    dup2(pipes[0], 0);
    dup2(out, 1);
    kn_status st = kn_anonymize(&r, ctx, spec, NULL, &err);
    dup2(saved_in, 0);
    dup2(saved_out, 1);
    close(saved_in);
    close(saved_out);
    close(pipes[0]);
    close(out);
    assert_ok(st, err);
    char *captured = get("captured");
    assert_string_equal(captured, expected);
    assert_true(r->head.note_count > 0);
    assert_nothing_written();
    free(captured);
    free(expected);
    kn_release_result_free(r);

    /* Messages call it standard input: what is not there, and where a reader stopped. */
    const char *header_end = strchr(people, '\n');
    char        unclosed[400];
    snprintf(unclosed, sizeof unclosed, "%.*s\n\"x", (int)(header_end - people), people);
    const char *const wrong[] = {"zip,age\n1\n", unclosed};
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(pipe(pipes), 0);
        assert_int_equal(write(pipes[1], wrong[i], strlen(wrong[i])), strlen(wrong[i]));
        close(pipes[1]);
        saved_in = dup(0);
        dup2(pipes[0], 0);
        st = kn_anonymize(&r, ctx, spec, NULL, &err);
        dup2(saved_in, 0);
        close(saved_in);
        close(pipes[0]);
        assert_int_equal(st, KN_INPUT);
        assert_non_null(strstr(err.message, "(standard input)"));
        assert_null(strstr(err.message, "/proc"));
    }
    assert_non_null(strstr(err.message, "(standard input):2:1"));
    kn_spec_free(spec);
    testing_context_free(ctx);
}

/* ---- Memory and cancelling ---- */

static void test_memory(void **state)
{
    (void)state;
    static const char spec[] = HEAD "attributes:\n  zip: {role: quasi, type: text, hierarchy: {mask: right}}\n"
                                    "  diagnosis: {role: sensitive}\n  age: {role: sensitive}\n  note: {role: keep}\n"
                                    "  name: {role: identifier, pseudonym: {key-file: key}}\n"
                                    "privacy: [{k: 2}, {l-diversity: {attribute: diagnosis, kind: distinct, l: 2}}]\n"
                                    "suppression: 0.3\nkeep-rowmap: true\n";
    put("in.csv", people);
    put("key", "a key that is long enough for everybody");
    put("r.yaml", spec);
    int64_t at = 0, step = testing_step();
    for (kn_status st = KN_MEMORY; st != KN_OK; at += step) {
        testing_allocator  allocator = {.refuse_at = at};
        kn_context        *ctx = NULL;
        kn_release_result *r = NULL;
        kn_error           err = KN_ERROR_INIT;
        st = testing_refusing_context(&ctx, &allocator, 1, &err);
        if (st == KN_OK) st = run_file(ctx, &r, NULL, &err);
        if (st != KN_OK && st != KN_MEMORY) fail_msg("request %lld: %s", (long long)at, err.message);
        kn_release_result_free(r);
        kn_context_free(ctx);
        assert_int_equal(allocator.live, 0);
        if (st != KN_OK) assert_nothing_written();
    }
    print_message("%lld requests\n", (long long)at);
    remove_outputs();
}

static void test_cancel(void **state)
{
    (void)state;
    kn_context        *ctx = testing_context(2);
    kn_error           err = KN_ERROR_INIT;
    kn_release_result *r = NULL;
    put("in.csv", people);
    put("r.yaml", people_spec);
    kn_context_cancel(ctx);
    assert_int_equal(run_file(ctx, &r, NULL, &err), KN_CANCELLED);
    assert_null(r);
    assert_nothing_written();
    kn_context_reset_cancel(ctx);
    testing_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_release),
        cmocka_unit_test(test_beside),
        cmocka_unit_test(test_refusals),
        testing_alone(test_read_only),
        cmocka_unit_test(test_not_found),
        cmocka_unit_test(test_force_and_dry_run),
        cmocka_unit_test(test_streams),
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_everything_starred),
        cmocka_unit_test(test_persons_without_a_pseudonym),
        cmocka_unit_test(test_stranger_to_the_population),
        testing_alone(test_notes),
        cmocka_unit_test(test_cancel),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
