/* test_verify_database.c: the verifier of databases: releases that the methods make are accepted, with and without a row
 * map, and their losses are the method's; what is asked wrongly, memory that is out, a call that is stopped. Promises
 * about sensitive values are compared with brute force in test_verify_promises.c.
 * SPDX-License-Identifier: Apache-2.0 */
#include "verify_database_testing.h"

static void test_releases(void **state)
{
    (void)state;
    kn_rng      rng;
    kn_context *ctx[2];
    int         made = 0;
    kn_rng_init(&rng, testing_seed(), 0);
    contexts(ctx);
    for (int round = 0; round < testing_rounds(30); round++) {
        world                 w;
        kn_relational_problem problem = random_problem(&rng);
        char                  privacy[40];
        snprintf(privacy, sizeof privacy, "[{k: %d}]", (int)problem.k);
        if (make_world(&w, ctx[0], &rng, &problem, privacy, -1, false)) {
            check_accepted(ctx, &w, true);
            check_accepted(ctx, &w, false);
            made++;
        }
        free_world(&w);
    }
    assert_true(made > testing_least(18));
    contexts_free(ctx);
}

/* dMiRaCle's promises, node by node, are never refused. */
static void test_diverse_releases(void **state)
{
    (void)state;
    static const char *const kinds[] = {"l-diversity: {kind: distinct, l: 2, ",
                                        "l-diversity: {kind: entropy, l: 1.7, ",
                                        "l-diversity: {kind: recursive, l: 2, c: 3, ",
                                        "t-closeness: {t: 0.4, ",
                                        "t-closeness: {distance: ordered, t: 0.3, ",
                                        "alpha-k: {alpha: 0.6, k: 2, ",
                                        "beta-likeness: {beta: 1.5, ",
                                        "beta-likeness: {kind: enhanced, beta: 2, ",
                                        "delta-disclosure: {delta: 2, "};
    kn_rng                   rng;
    kn_context              *ctx[2];
    int                      made = 0;
    kn_rng_init(&rng, testing_seed(), 1);
    contexts(ctx);
    for (int round = 0; round < testing_rounds(45); round++) {
        world                 w;
        kn_relational_problem problem = KN_RELATIONAL_PROBLEM_INIT;
        char                  privacy[200];
        problem.method = KN_METHOD_DMIRACLE;
        snprintf(privacy, sizeof privacy, "[{k: 2}, {%sattribute: #.s}}]", kinds[round % 9]);
        if (make_world(&w, ctx[0], &rng, &problem, privacy, below(&rng, 3), false)) {
            check_accepted(ctx, &w, true);
            kn_database_verify_report *r = verify(ctx, &w, w.out, false);
            /* Clusters that show the same tree are one class, so the method's own figure may be larger. */
            assert_true(r->largest_share > 0 ? w.counters.largest_share > 0 : w.counters.largest_share == 0);
            kn_database_verify_report_free(r);
            made++;
        }
        free_world(&w);
    }
    assert_true(made > testing_least(8));
    contexts_free(ctx);
}

/* ---- Anatomy ---- */

static void read_lists(world *w)
{
    for (int t = 0; t < w->data.tables; t++) {
        char name[32];
        snprintf(name, sizeof name, "t%d_sensitive", t);
        grid_read(&w->release.grid[w->release.tables++], w->out, name);
    }
}

/* Spoils a release by anatomy; false: not here. */
static bool spoil(world *w, texts *d, int way, kn_rng *rng)
{
    int   t = below(rng, w->data.tables);
    grid *g = &d->grid[t], *list = &d->grid[w->data.tables + t];
    if (g->rows == 0) return false;
    int row = below(rng, g->rows), entry = below(rng, list->rows);
    switch (way) {
    case 0: strcpy(list->cell[entry][column_of(list, "s")], "77"); return true;
    case 1: strcpy(list->cell[entry][column_of(list, "count")], "9"); return true;
    case 2: strcpy(list->cell[entry][column_of(list, "count")], "0"); return true;
    case 3: strcpy(list->cell[entry][column_of(list, "group")], "999"); return true;
    case 4: strcpy(g->cell[row][column_of(g, "group")], ""); return true;
    case 5: strcpy(g->cell[row][column_of(g, "group")], "999"); return true;
    case 6: strcpy(g->cell[row][column_of(g, "q0")], "*"); return true;
    case 7: list->rows--; return true;
    case 8: strcpy(list->name[0], "else"); return true;
    case 9: strcpy(list->table, "else"); return true;
    case 10: /* the column back in its table */
        strcpy(g->name[g->columns], "s");
        for (int i = 0; i < g->rows; i++) strcpy(g->cell[i][g->columns], "1");
        g->columns++;
        return true;
    case 11: /* twice what is there once */
        memcpy(list->cell[grid_add(list)], list->cell[entry], sizeof *list->cell);
        return true;
    default: /* a value that none of its rows may have */
        for (int i = 0; i < w->original.grid[t].rows; i++)
            if (strcmp(w->original.grid[t].cell[i][column_of(&w->original.grid[t], "s")], "3") == 0) return false;
        strcpy(list->cell[entry][column_of(list, "s")], "3");
        return true;
    }
}

static void test_anatomy(void **state)
{
    (void)state;
    kn_rng                   rng;
    kn_context              *ctx[2];
    int                      made = 0, spoiled = 0;
    static const char *const promises[] = {"[{k: 2}, {l-diversity: {attribute: #.s, kind: distinct, l: 2}}]",
                                           "[{k: 2}, {alpha-k: {attribute: #.s, alpha: 0.7, k: 2}}]",
                                           "[{k: 2}, {t-closeness: {attribute: #.s, distance: ordered, t: 0.5}}]",
                                           "[{k: 2}, {beta-likeness: {attribute: #.s, beta: 3}}]"};
    kn_rng_init(&rng, testing_seed(), 4);
    contexts(ctx);
    for (int round = 0; round < testing_rounds(20); round++) {
        world                 w;
        kn_relational_problem problem = KN_RELATIONAL_PROBLEM_INIT;
        problem.method = KN_METHOD_DMIRACLE;
        if (make_world(&w, ctx[0], &rng, &problem, promises[round % 4], below(&rng, 3), true)) {
            made++;
            kn_database_verify_report *r = verify(ctx, &w, w.out, true);
            if (!r->ok) print_problems(r);
            assert_true(r->ok);
            assert_int_equal(r->persons, w.persons);
            assert_true(r->k >= 2);
            int64_t cells = w.metrics->cells, deleted = w.metrics->deleted;
            assert_true(fabs(r->lm - (cells ? (double)deleted / (double)cells : 0)) < 1e-9);
            kn_database_verify_report_free(r);
            r = verify(ctx, &w, w.out, false); /* persons who show the same may be taken for each other */
            assert_true(r->ok || r->assignment == KN_ASSIGNMENT_UNDECIDED);
            kn_database_verify_report_free(r);
            read_lists(&w);
            for (int way = 0; way < 13; way++) {
                texts d = texts_copy(&w.release);
                if (spoil(&w, &d, way, &rng)) {
                    texts_write(&d, scratch("mutant"));
                    r = verify(ctx, &w, scratch("mutant"), true);
                    if (r->ok) fail_msg("spoiled in way %d and accepted", way);
                    spoiled++;
                    kn_database_verify_report_free(r);
                }
                grid_free(&d);
            }
        }
        free_world(&w);
    }
    assert_true(made > testing_least(5) && spoiled > testing_least(60));
    contexts_free(ctx);
}

/* ---- What is asked ---- */

static world fixed_world(kn_context *ctx)
{
    world  w;
    kn_rng rng;
    for (uint64_t seed = 1;; seed++) {
        kn_relational_problem problem = KN_RELATIONAL_PROBLEM_INIT;
        kn_rng_init(&rng, seed, 0);
        if (make_world(&w, ctx, &rng, &problem, "[{k: 2}]", -1, false) && w.data.tables >= 3) return w;
        free_world(&w);
    }
}

static void test_options(void **state)
{
    (void)state;
    kn_context                *ctx = testing_context(2);
    world                      w = fixed_world(ctx);
    kn_error                   err = KN_ERROR_INIT;
    kn_database_verify_report *r = NULL;
    kn_database_verify_options options = KN_DATABASE_VERIFY_OPTIONS_INIT;
    options.release = w.out;
    options.work_limit = 1;
    assert_ok(kn_verify_database(&r, ctx, w.spec, &options, &err), err);
    assert_int_equal(r->assignment, KN_ASSIGNMENT_UNDECIDED);
    assert_false(r->ok);
    assert_int_equal(r->outcome, KN_OUTCOME_UNDECIDED);
    assert_int_equal(r->problem_count, 0);
    assert_int_equal(r->open_count, 1);
    assert_true(fabs(r->lm - w.metrics->lm) < 1e-9);
    kn_database_verify_report_free(r);
    options.work_limit = 0;
    assert_ok(kn_verify_database(&r, ctx, w.spec, &options, &err), err);
    assert_true(r->ok);
    kn_database_verify_report_free(r);
    options.size = 1;
    assert_int_equal(kn_verify_database(&r, ctx, w.spec, &options, &err), KN_USAGE);
    assert_null(r);
    options.size = sizeof options;
    options.release = NULL; /* the spec's: not there */
    assert_int_not_equal(kn_verify_database(&r, ctx, w.spec, &options, &err), KN_OK);
    options.release = w.out;
    options.map_path = w.spec->path;
    assert_int_equal(kn_verify_database(&r, ctx, w.spec, &options, &err), KN_INPUT);
    options.map_path = NULL;
    assert_ok(kn_spec_set(w.spec, "dependencies", "[\"a ->> b\"]", "test", &err), err);
    assert_int_equal(kn_verify_database(&r, ctx, w.spec, &options, &err), KN_USAGE);
    assert_ok(kn_spec_set(w.spec, "dependencies", "[\"a -> b\"]", "test", &err), err);
    assert_ok(kn_verify_database(&r, ctx, w.spec, &options, &err), err);
    assert_false(r->ok); /* no table has both columns */
    kn_database_verify_report_free(r);
    assert_ok(kn_spec_set(w.spec, "dependencies", "[]", "test", &err), err);
    assert_ok(kn_spec_set(w.spec, "privacy", "[{k: 2}, {average-risk: {risk: 0.5}}]", "test", &err), err);
    assert_int_equal(kn_verify_database(&r, ctx, w.spec, &options, &err), KN_USAGE);
    assert_ok(kn_spec_set(w.spec, "privacy", "[{t-closeness: {attribute: t0.s, distance: hierarchical, t: 0.5}}]",
                          "test", &err),
              err);
    assert_int_equal(kn_verify_database(&r, ctx, w.spec, &options, &err), KN_USAGE); /* no hierarchy */
    assert_ok(kn_spec_set(w.spec, "privacy", "[{l-diversity: {attribute: s, l: 2}}]", "test", &err), err);
    assert_int_equal(kn_verify_database(&r, ctx, w.spec, &options, &err), KN_USAGE); /* of which table? */
    assert_ok(kn_spec_set(w.spec, "privacy", "[{l-diversity: {attribute: t9.s, l: 2}}]", "test", &err), err);
    assert_int_equal(kn_verify_database(&r, ctx, w.spec, &options, &err), KN_USAGE);
    free_world(&w);
    testing_context_free(ctx);
}

/* Maps in memory: in the order of the rows as they are read. */
static void test_map(void **state)
{
    (void)state;
    kn_context                *ctx = testing_context(2);
    world                      w = fixed_world(ctx);
    kn_error                   err = KN_ERROR_INIT;
    kn_database_verify_report *r = NULL;
    kn_database_verify_options options = KN_DATABASE_VERIFY_OPTIONS_INIT;
    grid                      *g = &w.release.grid[0], *o = &w.original.grid[0];
    int64_t                    map[PERSONS * 4];
    for (int row = 0; row < g->rows; row++)
        for (int i = 0; i < w.persons; i++)
            for (int p = 0; p < o->rows; p++)
                if (strcmp(g->cell[row][column_of(g, "id")], w.released_id[i]) == 0 &&
                    strcmp(o->cell[p][column_of(o, "id")], w.original_id[i]) == 0)
                    map[row] = p;
    options.release = w.out;
    options.map = map;
    options.map_count = w.persons;
    for (int wrong = 0; wrong < 5; wrong++) {
        int64_t keep = map[0];
        if (wrong == 1) map[0] = map[1];
        if (wrong == 2) map[0] = 1000;
        if (wrong == 3) map[0] = -1;
        options.map_count = wrong == 4 ? w.persons - 1 : w.persons;
        assert_ok(kn_verify_database(&r, ctx, w.spec, &options, &err), err);
        assert_int_equal(r->ok, wrong == 0);
        assert_int_equal(r->assignment, wrong == 0 ? KN_ASSIGNMENT_PROVED : KN_ASSIGNMENT_REFUTED);
        assert_int_equal(r->problem_count > 0, wrong != 0);
        kn_database_verify_report_free(r);
        map[0] = keep;
    }
    free_world(&w);
    testing_context_free(ctx);
}

static void test_memory(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(1);
    world       w = fixed_world(ctx);
    kn_error    err = KN_ERROR_INIT;
    texts       bad = texts_copy(&w.release);
    char        mutated[400];
    strcpy(bad.grid[0].cell[0][column_of(&bad.grid[0], "s")], "77");
    snprintf(mutated, sizeof mutated, "%s", scratch("mutant"));
    texts_write(&bad, mutated);
    grid_free(&bad);
    for (int way = 0; way < 3; way++) {
        bool done = false;
        for (int64_t at = 0; !done; at += (at < 300 ? 1 : 5) * testing_step()) {
            testing_allocator          memory = {.refuse_at = at};
            kn_database_verify_options options = KN_DATABASE_VERIFY_OPTIONS_INIT;
            kn_database_verify_report *r = NULL;
            kn_context                *tight = NULL;
            options.release = way == 2 ? mutated : w.out;
            options.map_path = way ? w.map : NULL;
            if (testing_refusing_context(&tight, &memory, 1, &err) == KN_OK) {
                kn_status status = kn_verify_database(&r, tight, w.spec, &options, &err);
                done = status == KN_OK && memory.requests <= at;
                assert_true(status == KN_OK || status == KN_MEMORY);
                if (status == KN_OK) assert_int_equal(r->ok, way < 2);
                kn_database_verify_report_free(r);
                kn_context_free(tight);
            }
            assert_int_equal(memory.live, 0);
        }
    }
    free_world(&w);
    testing_context_free(ctx);
}

/* The same of an anatomy. */
static void test_anatomy_memory(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(1);
    world       w;
    kn_rng      rng;
    bool        found = false, done = false;
    for (uint64_t seed = 1; !found; seed++) { /* anatomy_world */
        kn_relational_problem problem = KN_RELATIONAL_PROBLEM_INIT;
        problem.method = KN_METHOD_DMIRACLE;
        kn_rng_init(&rng, seed, 0);
        found = make_world(&w, ctx, &rng, &problem, "[{k: 2}, {l-diversity: {attribute: #.s, kind: entropy, l: 1.5}}]",
                           1, true) &&
                w.data.tables >= 2;
        if (!found) free_world(&w);
    }
    for (int64_t at = 0; !done; at += (at < 300 ? 1 : 5) * testing_step()) {
        testing_allocator          memory = {.refuse_at = at};
        kn_database_verify_options options = KN_DATABASE_VERIFY_OPTIONS_INIT;
        kn_database_verify_report *r = NULL;
        kn_context                *tight = NULL;
        kn_error                   err = KN_ERROR_INIT;
        options.release = w.out;
        options.map_path = w.map;
        if (testing_refusing_context(&tight, &memory, 1, &err) == KN_OK) {
            kn_status status = kn_verify_database(&r, tight, w.spec, &options, &err);
            done = status == KN_OK && memory.requests <= at;
            assert_true(status == KN_OK || status == KN_MEMORY);
            if (status == KN_OK) assert_true(r->ok);
            kn_database_verify_report_free(r);
            kn_context_free(tight);
        }
        assert_int_equal(memory.live, 0);
    }
    free_world(&w);
    testing_context_free(ctx);
}

static void test_cancelled(void **state)
{
    (void)state;
    kn_context                *ctx = testing_context(2);
    world                      w = fixed_world(ctx);
    kn_error                   err = KN_ERROR_INIT;
    kn_database_verify_report *r = NULL;
    kn_database_verify_options options = KN_DATABASE_VERIFY_OPTIONS_INIT;
    options.release = w.out;
    kn_context_cancel(ctx);
    assert_int_equal(kn_verify_database(&r, ctx, w.spec, &options, &err), KN_CANCELLED);
    assert_null(r);
    free_world(&w);
    testing_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_releases),    cmocka_unit_test(test_diverse_releases),
        cmocka_unit_test(test_anatomy),     cmocka_unit_test(test_options),
        cmocka_unit_test(test_map),         testing_alone(test_memory),
        testing_alone(test_anatomy_memory), cmocka_unit_test(test_cancelled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
