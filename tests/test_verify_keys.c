/* test_verify_keys.c: the verifier of databases on keys of every shape: one or several columns, the parent's among them, or
 * none; orphans; from and to files and SQLite. Releases are accepted by search, and refused once a key or a cell of the SQLite
 * file is changed.
 * SPDX-License-Identifier: Apache-2.0 */
#include "database_testing.h"

#include <kanon/verify.h>
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "kn_database_release.h"
#include "kn_relational.h"
#include "testing.h"

static const char *scratch(const char *name)
{
    static char rooms[4][400];
    static int  next;
    char       *room = rooms[next++ % 4];
    snprintf(room, 400, "%s", testing_file("scratch", "", 0));
    snprintf(strrchr(room, '/') + 1, 100, "%s", name);
    return room;
}

static kn_spec spec_of(const rdb *r, const kn_model *k)
{
    kn_csv_options csv = KN_CSV_OPTIONS_INIT;
    kn_spec        spec = {
               .csv = csv, .entity_table = "persons", .model_count = 1, .models = k, .method = KN_METHOD_MIRACLE_X};
    spec.tables = r->spec;
    spec.table_count = r->tables;
    return spec;
}

/* false: there is no release. */
static bool release(kn_context *ctx, const kn_database *db, const char *target, uint64_t seed, double *lm)
{
    kn_error               err = KN_ERROR_INIT;
    kn_forest             *forest = NULL;
    kn_database_plan      *plan = NULL;
    kn_database_release   *made = NULL;
    kn_database_writer    *w = NULL;
    kn_relational_metrics *metrics = NULL;
    kn_relational_counters counters;
    kn_relational_problem  problem = KN_RELATIONAL_PROBLEM_INIT;
    bool                   found;
    assert_ok(kn_forest_build(&forest, ctx, db, &err), err);
    problem.forest = forest;
    problem.method = KN_METHOD_MIRACLE_X;
    assert_ok(kn_relational_search(&plan, &found, &counters, ctx, &problem, &err), err);
    if (found) {
        assert_ok(kn_relational_measure(&metrics, ctx, forest, plan, &err), err);
        *lm = metrics->lm;
        kn_relational_metrics_free(metrics);
        assert_ok(kn_database_release_make(&made, ctx, db, plan, seed, &err), err);
        assert_ok(kn_database_writer_open(&w, ctx, target, NULL, &err), err);
        assert_ok(kn_database_writer_write(w, kn_database_release_rows(made), &err), err);
        assert_ok(kn_database_writer_commit(w, &err), err);
        kn_database_release_free(made);
    }
    kn_database_plan_free(plan);
    kn_forest_free(forest);
    return found;
}

static bool verify(kn_context *ctx, const kn_spec *spec, const char *original, const char *released, double lm)
{
    kn_error                   err = KN_ERROR_INIT;
    kn_database_verify_report *r = NULL;
    kn_database_verify_options options = KN_DATABASE_VERIFY_OPTIONS_INIT;
    options.original = original;
    options.release = released;
    assert_ok(kn_verify_database(&r, ctx, spec, &options, &err), err);
    bool ok = r->ok;
    if (!isnan(lm)) {
        for (int i = 0; i < r->problem_count; i++) printf("  - %s\n", r->problems[i]);
        assert_true(ok);
        assert_true(fabs(r->lm - lm) < 1e-9);
    }
    kn_database_verify_report_free(r);
    return ok;
}

static bool change(const char *path, const char *statement)
{
    sqlite3 *db = NULL;
    if (sqlite3_open(path, &db) != SQLITE_OK) abort();
    bool done = sqlite3_exec(db, statement, NULL, NULL, NULL) == SQLITE_OK && sqlite3_changes(db) > 0;
    if (done && sqlite3_exec(db, "VACUUM", NULL, NULL, NULL) != SQLITE_OK)
        abort(); /* else it is refused for its form */
    sqlite3_close(db);
    return done;
}

/* Each of these breaks it, where it can be done at all. */
static int spoil(kn_context *ctx, const kn_spec *spec, const char *original, const char *path)
{
    static const char *const statements[] = {
        "UPDATE persons SET pid0 = 'x' WHERE pid0 = 1", "UPDATE persons SET pid0 = 100000 WHERE pid0 = 1",
        "UPDATE t1 SET up0 = 77777 WHERE rowid = 1",    "UPDATE t1 SET color = 'unheard of' WHERE rowid = 1",
        "DELETE FROM persons WHERE pid0 = 1",
    };
    int refused = 0;
    for (size_t i = 0; i < sizeof statements / sizeof *statements; i++) {
        char copy[400], command[1000], name[420];
        snprintf(copy, sizeof copy, "%s", scratch("spoiled.db"));
        snprintf(command, sizeof command, "cp '%.400s' '%.400s'", path, copy);
        if (system(command) != 0) abort();
        if (!change(copy, statements[i])) continue;
        snprintf(name, sizeof name, "sqlite:%s", copy);
        if (verify(ctx, spec, original, name, NAN)) fail_msg("accepted: %s", statements[i]);
        refused++;
    }
    return refused;
}

static void test_keys(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(2);
    kn_model    k = KN_MODEL_INIT;
    kn_rng      rng;
    int         made = 0, refused = 0;
    k.k = 2;
    kn_rng_init(&rng, testing_seed(), 0);
    for (int round = 0; round < 25; round++) {
        rdb    *r = rdb_random(&rng, 3 + (int)kn_rng_below(&rng, 20));
        kn_spec spec = spec_of(r, &k);
        char    file[400], in[420], out_file[400], out[420], folder[420], command[900];
        double  lm = 0;
        snprintf(file, sizeof file, "%s", scratch("keys.db"));
        snprintf(in, sizeof in, "sqlite:%s", file);
        snprintf(out_file, sizeof out_file, "%s", scratch("keys-out.db"));
        snprintf(out, sizeof out, "sqlite:%s", out_file);
        snprintf(folder, sizeof folder, "%s/", scratch("keys-out"));
        remove(file);
        rdb_write_sqlite(r, file);
        kn_database *db = rdb_read(ctx, r, in);
        if (release(ctx, db, out, kn_rng_next(&rng), &lm)) {
            made++;
            verify(ctx, &spec, in, out, lm);
            refused += spoil(ctx, &spec, in, out_file);
            release(ctx, db, folder, kn_rng_next(&rng), &lm);
            verify(ctx, &spec, in, folder, lm);
            snprintf(command, sizeof command, "rm -r '%s'", folder);
            if (system(command) != 0) abort();
        }
        kn_database_free(db);
        rdb_free(r);
    }
    assert_true(made > 15 && refused > 30);
    testing_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_keys)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
