/* test_lifetimes.c: whatever was made with a context is freed in any order, before it or after it, by any thread. */
/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "testing.h"

#include <errno.h>
#include <kanon/arrow.h>
#include <kanon/dependencies.h>
#include <kanon/diagnose.h>
#include <kanon/generate.h>
#include <kanon/models.h>
#include <kanon/spec.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

/* ---- Things that a garbage collector would hold ---- */

enum { CONTEXT, TABLE, STREAM, SCHEMA, BATCH, COLUMN, PROFILE, THINGS };

typedef struct things {
    testing_allocator       memory;
    kn_allocator            allocator;
    kn_context             *ctx;
    kn_table               *table;
    struct ArrowArrayStream stream;
    struct ArrowSchema      schema;
    struct ArrowArray       batch, column; /* the column was moved out of the batch */
    kn_profile             *profile;
} things;

static kn_table *make_table(kn_context *ctx, int64_t rows)
{
    kn_generate_options options = KN_GENERATE_OPTIONS_INIT;
    kn_error            err = KN_ERROR_INIT;
    kn_table           *table = NULL;
    options.rows = rows;
    options.missing = 0.1;
    assert_ok(kn_generate_table(&table, ctx, &options, &err), err);
    return table;
}

static void make(things *all)
{
    memset(all, 0, sizeof *all);
    all->memory.refuse_at = -1;
    all->allocator = testing_failing_allocator(&all->memory);
    kn_context_options      options = KN_CONTEXT_OPTIONS_INIT;
    kn_arrow_export_options small = KN_ARROW_EXPORT_OPTIONS_INIT;
    kn_error                err = KN_ERROR_INIT;
    options.threads = 2;
    options.allocator = &all->allocator;
    small.batch_rows = 8;
    assert_ok(kn_context_create(&all->ctx, &options, &err), err);
    all->table = make_table(all->ctx, 20);
    assert_ok(kn_table_export_arrow(&all->stream, all->table, all->ctx, &small, &err), err);
    assert_int_equal(all->stream.get_schema(&all->stream, &all->schema), 0);
    assert_int_equal(all->stream.get_next(&all->stream, &all->batch), 0);
    all->column = *all->batch.children[0];
    all->batch.children[0]->release = NULL;
    assert_ok(kn_profile_table(&all->profile, all->ctx, all->table, &err), err);
}

static void let_go(things *all, int which)
{
    switch (which) {
    case CONTEXT: kn_context_free(all->ctx); break;
    case TABLE: kn_table_free(all->table); break;
    case STREAM: all->stream.release(&all->stream); break;
    case SCHEMA: all->schema.release(&all->schema); break;
    case BATCH: all->batch.release(&all->batch); break;
    case COLUMN: all->column.release(&all->column); break;
    case PROFILE: kn_profile_free(all->profile); break;
    }
}

/* What is not freed yet must still be good to look at. */
static void look(things *all, unsigned freed)
{
    if (!(freed & 1u << TABLE)) assert_int_equal(kn_table_rows(all->table), 20);
    if (!(freed & 1u << TABLE)) assert_true(kn_table_validate(all->table, NULL));
    if (!(freed & 1u << SCHEMA)) assert_string_equal(all->schema.children[0]->name, "sex");
    if (!(freed & 1u << BATCH)) assert_int_equal(all->batch.children[1]->length, 8);
    if (!(freed & 1u << COLUMN)) assert_int_equal(((const int32_t *)all->column.dictionary->buffers[1])[0], 0);
    if (!(freed & 1u << PROFILE)) assert_string_equal(all->profile->column[0].name, "sex");
    struct ArrowArray more;
    if (!(freed & 1u << STREAM)) {
        assert_int_equal(all->stream.get_next(&all->stream, &more), 0);
        if (more.release) more.release(&more);
    }
}

/* The next order of the numbers, as in a dictionary; false behind the last. */
static bool next_order(int *order, int count)
{
    int i = count - 2;
    while (i >= 0 && order[i] > order[i + 1]) i--;
    if (i < 0) return false;
    int j = count - 1;
    while (order[j] < order[i]) j--;
    int held = order[i];
    order[i] = order[j], order[j] = held;
    for (int a = i + 1, b = count - 1; a < b; a++, b--) held = order[a], order[a] = order[b], order[b] = held;
    return true;
}

static void everything_is_freed_in_any_order(void **state)
{
    (void)state;
    int order[THINGS], orders = 0;
    for (int i = 0; i < THINGS; i++) order[i] = i;
    do {
        if (TESTING_SANITIZED && orders++ % 16) continue;
        things all;
        make(&all);
        unsigned freed = 0;
        for (int i = 0; i < THINGS; i++) {
            look(&all, freed);
            let_go(&all, order[i]);
            freed |= 1u << order[i];
        }
        assert_int_equal(all.memory.live, 0);
    } while (next_order(order, THINGS));
}

/* ---- By other threads ---- */

typedef struct freeing {
    things            *all;
    int                which;
    pthread_barrier_t *start;
} freeing;

static void *free_one(void *arg)
{
    const freeing *f = arg;
    pthread_barrier_wait(f->start);
    let_go(f->all, f->which);
    return NULL;
}

static void everything_is_freed_at_once_by_other_threads(void **state)
{
    (void)state;
    for (int round = 0; round < testing_rounds(40); round++) {
        things            all;
        pthread_t         threads[THINGS];
        freeing           jobs[THINGS];
        pthread_barrier_t start;
        make(&all);
        assert_int_equal(pthread_barrier_init(&start, NULL, THINGS), 0);
        for (int i = 0; i < THINGS; i++) {
            jobs[i] = (freeing){&all, i, &start};
            assert_int_equal(pthread_create(&threads[i], NULL, free_one, &jobs[i]), 0);
        }
        for (int i = 0; i < THINGS; i++) assert_int_equal(pthread_join(threads[i], NULL), 0);
        pthread_barrier_destroy(&start);
        assert_int_equal(all.memory.live, 0);
    }
}

/* ---- Memory is counted as before ---- */

static void memory_that_outlives_the_handle_is_counted(void **state)
{
    (void)state;
    things all;
    make(&all);
    uint64_t before = kn_context_memory_used(all.ctx);
    assert_true(before > 0 && before < 1 << 20);
    all.batch.release(&all.batch);
    uint64_t after = kn_context_memory_used(all.ctx);
    assert_true(after < before);
    assert_true(kn_context_memory_peak(all.ctx) >= before && kn_context_memory_peak(all.ctx) < 1 << 20);
    for (int i = 0; i < THINGS; i++)
        if (i != BATCH && i != CONTEXT) let_go(&all, i);
    extern void kn_pool_stop(kn_context *);
    kn_pool_stop(all.ctx);
    assert_int_equal(kn_context_memory_used(all.ctx), 0);
    kn_context_free(all.ctx);
    assert_int_equal(all.memory.live, 0);
}

static void the_limit_holds_for_a_stream_after_its_context(void **state)
{
    (void)state;
    kn_context_options      options = KN_CONTEXT_OPTIONS_INIT;
    kn_arrow_export_options whole = KN_ARROW_EXPORT_OPTIONS_INIT;
    kn_error                err = KN_ERROR_INIT;
    kn_context             *ctx = NULL;
    struct ArrowArrayStream stream;
    struct ArrowArray       batch;
    options.threads = 1;
    options.memory_limit =
        5 << 19; /* room for the table while it is made, not for all its cells as int64 and int32 beside it */
    whole.batch_rows = 1 << 20;
    assert_ok(kn_context_create(&ctx, &options, &err), err);
    kn_table *table = make_table(ctx, 60000);
    assert_ok(kn_table_export_arrow(&stream, table, ctx, &whole, &err), err);
    kn_table_free(table);
    kn_context_free(ctx);
    assert_int_equal(stream.get_next(&stream, &batch), ENOMEM);
    assert_null(batch.release);
    assert_non_null(strstr(stream.get_last_error(&stream), "memory limit"));
    stream.release(&stream);
}

/* ---- A table that a stream shows does not change ---- */

static void a_shared_table_does_not_change(void **state)
{
    (void)state;
    kn_context             *ctx = testing_context(1);
    kn_error                err = KN_ERROR_INIT;
    kn_table               *table = make_table(ctx, 20);
    struct ArrowArrayStream stream;
    const char *const       columns[] = {"age", "sex"};
    assert_ok(kn_table_export_arrow(&stream, table, ctx, NULL, &err), err);
    assert_int_equal(kn_table_add_joined(table, columns, 2, "both", &err), KN_USAGE);
    assert_non_null(strstr(err.message, "Arrow stream"));
    stream.release(&stream);
    assert_ok(kn_table_add_joined(table, columns, 2, "both", &err), err);
    kn_table_free(table);
    testing_context_free(ctx);
}

/* ---- Specs, hierarchies, dependencies, reports ---- */

static void other_results_outlive_their_context_and_table(void **state)
{
    (void)state;
    kn_context       *ctx = testing_context(2);
    kn_error          err = KN_ERROR_INIT;
    kn_table         *table = make_table(ctx, 50);
    kn_spec          *spec = NULL;
    kn_hierarchy     *hierarchy = NULL;
    kn_dependency    *dependency = NULL;
    kn_model_report  *report = NULL;
    kn_hierarchy_spec made = KN_HIERARCHY_SPEC_INIT;
    kn_model_options  models = KN_MODEL_OPTIONS_INIT;
    const char *const quasi[] = {"age"}, *const sensitive[] = {"sex"};
    made.kind = KN_HIERARCHY_SUPPRESS;
    models.quasi = quasi, models.quasi_count = 1;
    models.sensitive = sensitive, models.sensitive_count = 1;
    assert_ok(kn_spec_create(&spec, ctx, &err), err);
    assert_ok(kn_hierarchy_make(&hierarchy, ctx, table, 0, &made, false, &err), err);
    assert_ok(kn_dependency_parse(&dependency, ctx, "age -> sex", &err), err);
    assert_ok(kn_diagnose_models(&report, ctx, table, &models, &err), err);
    kn_context_free(ctx);
    kn_table_free(table);
    assert_ok(kn_spec_set(spec, "privacy", "[{k: 5}]", "privacy", &err), err);
    assert_string_equal(report->sensitive[0].name, "sex");
    assert_int_equal(kn_hierarchy_levels(hierarchy), 2);
    kn_model_report_free(report);
    kn_spec_free(spec);
    kn_hierarchy_free(hierarchy);
    kn_dependency_free(dependency);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_is_freed_in_any_order),
        cmocka_unit_test(everything_is_freed_at_once_by_other_threads),
        cmocka_unit_test(memory_that_outlives_the_handle_is_counted),
        testing_alone(the_limit_holds_for_a_stream_after_its_context),
        testing_alone(a_shared_table_does_not_change),
        cmocka_unit_test(other_results_outlive_their_context_and_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
