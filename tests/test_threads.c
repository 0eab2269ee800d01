/* test_threads.c: one call at a time, callbacks on the thread that called, cancelling from another one, fork, and many
 * contexts at once. */
/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "testing.h"

#include <kanon/kanon.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kn_context.h"
#include "kn_parallel.h"

static kn_context *context(int threads, kn_progress_fn progress, void *user)
{
    kn_context_options options = KN_CONTEXT_OPTIONS_INIT;
    kn_error           err = KN_ERROR_INIT;
    kn_context        *ctx = NULL;
    options.threads = threads;
    options.progress = progress;
    options.progress_user = user;
    assert_ok(kn_context_create(&ctx, &options, &err), err);
    return ctx;
}

static kn_table *table_of(kn_context *ctx, int64_t rows)
{
    kn_generate_options options = KN_GENERATE_OPTIONS_INIT;
    kn_error            err = KN_ERROR_INIT;
    kn_table           *table = NULL;
    options.rows = rows;
    assert_ok(kn_generate_table(&table, ctx, &options, &err), err);
    return table;
}

static kn_status diagnose(kn_context *ctx, const kn_table *table, int64_t *k, kn_error *err)
{
    static const char *const quasi[] = {"sex", "race"};
    kn_diagnose_options      options = KN_DIAGNOSE_OPTIONS_INIT;
    kn_diagnosis            *answer = NULL;
    options.quasi = quasi;
    options.quasi_count = 2;
    kn_status st = kn_diagnose(&answer, ctx, table, &options, err);
    if (st == KN_OK) *k = answer->k;
    kn_diagnosis_free(answer);
    return st;
}

/* ---- One call at a time ---- */

/* A stream whose second batch waits until somebody else tried the context. */
typedef struct meeting {
    kn_context             *ctx;
    struct ArrowArrayStream from;
    pthread_barrier_t       inside, tried;
    bool                    met;
    kn_status               others;
    char                    message[200];
    bool                    released;
} meeting;

static int meet_schema(struct ArrowArrayStream *s, struct ArrowSchema *out)
{
    meeting *m = s->private_data;
    return m->from.get_schema(&m->from, out);
}

static int meet_next(struct ArrowArrayStream *s, struct ArrowArray *out)
{
    meeting *m = s->private_data;
    if (!m->met) {
        m->met = true;
        pthread_barrier_wait(&m->inside);
        pthread_barrier_wait(&m->tried);
    }
    return m->from.get_next(&m->from, out);
}

static const char *meet_error(struct ArrowArrayStream *s)
{
    (void)s;
    return NULL;
}

static void meet_release(struct ArrowArrayStream *s)
{
    meeting *m = s->private_data;
    m->from.release(&m->from);
    m->released = true;
    s->release = NULL;
}

static void *try_too(void *arg)
{
    meeting  *m = arg;
    kn_error  err = KN_ERROR_INIT;
    kn_table *table = (kn_table *)(void *)m; /* must become NULL */
    pthread_barrier_wait(&m->inside);
    kn_generate_options options = KN_GENERATE_OPTIONS_INIT;
    m->others = kn_generate_table(&table, m->ctx, &options, &err);
    if (table) m->others = KN_OK;
    snprintf(m->message, sizeof m->message, "%.199s", err.message);
    pthread_barrier_wait(&m->tried);
    return NULL;
}

static void a_context_serves_one_call_at_a_time(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(2), *other = testing_context(1);
    kn_error    err = KN_ERROR_INIT;
    kn_table   *from = table_of(other, 100), *to = NULL;
    meeting     m = {.ctx = ctx};
    assert_ok(kn_table_export_arrow(&m.from, from, other, NULL, &err), err);
    pthread_barrier_init(&m.inside, NULL, 2);
    pthread_barrier_init(&m.tried, NULL, 2);
    struct ArrowArrayStream stream = {meet_schema, meet_next, meet_error, meet_release, &m};
    pthread_t               thread;
    assert_int_equal(pthread_create(&thread, NULL, try_too, &m), 0);
    assert_ok(kn_table_import_arrow(&to, ctx, &stream, NULL, &err), err);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(m.others, KN_BUSY);
    assert_non_null(strstr(m.message, "serving a call of another thread"));
    assert_int_equal(kn_table_rows(to), 100);
    int64_t k = 0;
    assert_ok(diagnose(ctx, to, &k, &err), err); /* and serves the next */
    kn_table_free(to);
    kn_table_free(from);
    pthread_barrier_destroy(&m.inside);
    pthread_barrier_destroy(&m.tried);
    testing_context_free(ctx);
    testing_context_free(other);
}

static int no_schema(struct ArrowArrayStream *s, struct ArrowSchema *out)
{
    (void)s, (void)out;
    return 1;
}

static void mark_released(struct ArrowArrayStream *s)
{
    *(bool *)s->private_data = true;
    s->release = NULL;
}

/* A stream is consumed, whatever happens. */
static void *import_too(void *arg)
{
    meeting                *m = arg;
    kn_error                err = KN_ERROR_INIT;
    kn_table               *table = NULL;
    bool                    released = false;
    struct ArrowArrayStream stream = {no_schema, NULL, meet_error, mark_released, &released};
    pthread_barrier_wait(&m->inside);
    m->others = kn_table_import_arrow(&table, m->ctx, &stream, NULL, &err);
    m->released = released;
    pthread_barrier_wait(&m->tried);
    return NULL;
}

static kn_status wait_inside(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    (void)end, (void)worker, (void)err;
    meeting *m = arg;
    if (begin > 0) return KN_OK;
    pthread_barrier_wait(&m->inside);
    pthread_barrier_wait(&m->tried);
    return KN_OK;
}

static kn_status hold(meeting *m, kn_error *err)
{
    KN_SERVE(m->ctx, err);
    return kn_parallel_for(m->ctx, 1, 1, wait_inside, m, err);
}

static void a_busy_context_releases_the_stream(void **state)
{
    (void)state;
    meeting   m = {.ctx = testing_context(1)};
    kn_error  err = KN_ERROR_INIT;
    pthread_t thread;
    pthread_barrier_init(&m.inside, NULL, 2);
    pthread_barrier_init(&m.tried, NULL, 2);
    assert_int_equal(pthread_create(&thread, NULL, import_too, &m), 0);
    assert_ok(hold(&m, &err), err);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(m.others, KN_BUSY);
    assert_true(m.released);
    pthread_barrier_destroy(&m.inside);
    pthread_barrier_destroy(&m.tried);
    testing_context_free(m.ctx);
}

/* Workers of a call may call public functions. */
static kn_status parse_in_worker(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    (void)end, (void)worker;
    char           text[40];
    kn_dependency *d = NULL;
    snprintf(text, sizeof text, "a%d -> b", (int)begin);
    kn_status st = kn_dependency_parse(&d, arg, text, err);
    kn_dependency_free(d);
    return st;
}

static kn_status parse_many(kn_context *ctx, kn_error *err)
{
    KN_SERVE(ctx, err);
    return kn_parallel_for(ctx, 200, 1, parse_in_worker, ctx, err);
}

static void calls_of_workers_belong_to_the_call(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(4);
    kn_error    err = KN_ERROR_INIT;
    for (int i = 0; i < testing_rounds(20); i++) assert_ok(parse_many(ctx, &err), err);
    testing_context_free(ctx);
}

/* ---- Freed while it is at work ---- */

static void *free_it(void *arg)
{
    meeting *m = arg;
    pthread_barrier_wait(&m->inside);
    kn_context_free(m->ctx);
    pthread_barrier_wait(&m->tried);
    return NULL;
}

static kn_status hold_and_work(meeting *m, kn_error *err)
{
    KN_SERVE(m->ctx, err);
    KN_TRY(kn_parallel_for(m->ctx, 8, 1, wait_inside, m, err));
    return kn_parallel_for(m->ctx, 200, 1, parse_in_worker, m->ctx, err); /* goes on to its end */
}

static void a_context_may_be_given_up_during_a_call(void **state)
{
    (void)state;
    for (int threads = 1; threads <= 4; threads += 3) {
        testing_allocator  memory = {.refuse_at = -1};
        kn_allocator       allocator = testing_failing_allocator(&memory);
        kn_context_options options = KN_CONTEXT_OPTIONS_INIT;
        meeting            m = {.ctx = NULL};
        kn_error           err = KN_ERROR_INIT;
        pthread_t          thread;
        options.threads = threads;
        options.allocator = &allocator;
        assert_ok(kn_context_create(&m.ctx, &options, &err), err);
        pthread_barrier_init(&m.inside, NULL, 2);
        pthread_barrier_init(&m.tried, NULL, 2);
        assert_int_equal(pthread_create(&thread, NULL, free_it, &m), 0);
        assert_ok(hold_and_work(&m, &err), err);
        assert_int_equal(pthread_join(thread, NULL), 0);
        assert_int_equal(memory.live, 0);
        pthread_barrier_destroy(&m.inside);
        pthread_barrier_destroy(&m.tried);
    }
}

/* ---- Callbacks ---- */

typedef struct listener {
    pthread_t   thread;
    kn_context *ctx;
    int         calls, elsewhere, finished;
    kn_status   nested;
} listener;

static void listen(void *user, const kn_progress *progress)
{
    listener *l = user;
    l->calls++;
    l->finished += progress->finished;
    l->elsewhere += !pthread_equal(l->thread, pthread_self());
    kn_table           *table = NULL;
    kn_generate_options options = KN_GENERATE_OPTIONS_INIT;
    l->nested = kn_generate_table(&table, l->ctx, &options, NULL);
    kn_table_free(table);
}

typedef struct slow {
    kn_context *ctx;
    atomic_bool begun;
} slow;

/* Two ranges: the caller's ends when a worker has the other, which takes a while. */
static kn_status slow_range(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    (void)begin, (void)end, (void)err;
    slow *job = arg;
    while (worker == 0 && !atomic_load(&job->begun)) usleep(1000); /* polls: the worker says when */
    if (worker == 0) return KN_OK;
    atomic_store(&job->begun, true);
    for (int i = 0; i < 10; i++) {
        usleep(35000); /* in sum more than three of the intervals in which progress is reported */
        kn_progress_add(job->ctx, 1);
    }
    return KN_OK;
}

static kn_status slow_stage(kn_context *ctx, kn_error *err)
{
    KN_SERVE(ctx, err);
    slow job = {.ctx = ctx};
    kn_progress_begin(ctx, "waiting", "steps", 10);
    kn_status st = kn_parallel_for(ctx, 2, 1, slow_range, &job, err);
    kn_progress_end(ctx);
    return st;
}

static void callbacks_run_on_the_thread_that_called(void **state)
{
    (void)state;
    listener l = {.thread = pthread_self()};
    kn_error err = KN_ERROR_INIT;
    l.ctx = context(2, listen, &l);
    assert_ok(slow_stage(l.ctx, &err), err);
    assert_true(l.calls > l.finished); /* heard of while the caller waited for its workers */
    assert_int_equal(l.elsewhere, 0);
    assert_int_equal(l.nested, KN_BUSY); /* what a callback may not do is refused, not a deadlock */
    kn_table *table = table_of(l.ctx, 60000);
    int64_t   k = 0;
    assert_ok(diagnose(l.ctx, table, &k, &err), err);
    assert_true(l.finished >= 2);
    assert_int_equal(l.elsewhere, 0);
    kn_table_free(table);
    testing_context_free(l.ctx);
}

/* ---- Cancelling ---- */

static void *cancel_soon(void *arg)
{
    usleep(20000); /* so that the call is under way, mostly; it ends in either case */
    kn_context_cancel(arg);
    return NULL;
}

static kn_status endless(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    (void)arg, (void)begin, (void)end, (void)worker, (void)err;
    usleep(100); /* leaves the processor to whoever cancels */
    return KN_OK;
}

static kn_status endless_call(kn_context *ctx, kn_error *err)
{
    KN_SERVE(ctx, err);
    return kn_parallel_for(ctx, INT64_MAX / 2, 1, endless, NULL, err);
}

static void any_thread_cancels(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(3);
    kn_error    err = KN_ERROR_INIT;
    pthread_t   thread;
    assert_int_equal(pthread_create(&thread, NULL, cancel_soon, ctx), 0);
    assert_int_equal(endless_call(ctx, &err), KN_CANCELLED);
    assert_int_equal(pthread_join(thread, NULL), 0);
    kn_context_reset_cancel(ctx);
    kn_table *table = table_of(ctx, 100);
    kn_table_free(table);
    testing_context_free(ctx);
}

/* ---- fork ---- */

static bool child_works(kn_context *ctx, const kn_table *table, int64_t expected)
{
    int64_t  k = 0;
    kn_error err = KN_ERROR_INIT;
    return diagnose(ctx, table, &k, &err) == KN_OK && k == expected;
}

static void await(pid_t child)
{
    int status = -1;
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void a_forked_child_goes_on(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(4);
    kn_error    err = KN_ERROR_INIT;
    kn_table   *table = table_of(ctx, 50000);
    int64_t     k = 0;
    assert_ok(diagnose(ctx, table, &k, &err), err);
    pid_t child = fork();
    if (child == 0) {
        bool  right = child_works(ctx, table, k);
        pid_t grandchild = right ? fork() : -1;
        if (grandchild == 0) _exit(child_works(ctx, table, k) ? 0 : 1);
        int status = -1;
        right = right && grandchild > 0 && waitpid(grandchild, &status, 0) == grandchild && status == 0;
        right = right && child_works(ctx, table, k);
        kn_table_free(table);
        kn_context_free(ctx);
        _exit(right ? 0 : 1);
    }
    await(child);
    assert_ok(diagnose(ctx, table, &k, &err), err);
    kn_table_free(table);
    testing_context_free(ctx);
}

static void *fork_meanwhile(void *arg)
{
    meeting *m = arg;
    pthread_barrier_wait(&m->inside);
    pid_t child = fork(); /* while the other thread's call is under way */
    if (child == 0) {
        kn_error            err = KN_ERROR_INIT;
        kn_table           *table = NULL;
        kn_generate_options options = KN_GENERATE_OPTIONS_INIT;
        options.rows = 20000;
        bool right = kn_generate_table(&table, m->ctx, &options, &err) == KN_OK && kn_table_rows(table) == 20000;
        _exit(right ? 0 : 1);
    }
    int status = -1;
    m->others = child > 0 && waitpid(child, &status, 0) == child && status == 0 ? KN_OK : KN_INTERNAL;
    pthread_barrier_wait(&m->tried);
    return NULL;
}

static void a_child_is_not_kept_busy_by_its_parent(void **state)
{
    (void)state;
    if (TESTING_THREAD_SANITIZER) skip(); /* it does not follow a fork of several threads */
    meeting   m = {.ctx = testing_context(4)};
    kn_error  err = KN_ERROR_INIT;
    pthread_t thread;
    pthread_barrier_init(&m.inside, NULL, 2);
    pthread_barrier_init(&m.tried, NULL, 2);
    assert_int_equal(pthread_create(&thread, NULL, fork_meanwhile, &m), 0);
    assert_ok(hold_and_work(&m, &err), err);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(m.others, KN_OK);
    pthread_barrier_destroy(&m.inside);
    pthread_barrier_destroy(&m.tried);
    testing_context_free(m.ctx);
}

/* ---- Many contexts ---- */

enum { MANY = 16 };

typedef struct runner {
    int         number;
    const char *folder;
    int64_t     k;
    kn_status   status;
    kn_error    err;
} runner;

static kn_status release_one(runner *r, kn_context *ctx, kn_spec *spec)
{
    char               output[600];
    kn_release_result *result = NULL;
    snprintf(output, sizeof output, "%s.%d", r->folder, r->number);
    const char *texts[] = {output};
    kn_status   st = kn_spec_set_texts(spec, "output", texts, 1, "output", &r->err);
    if (st == KN_OK) st = kn_spec_check(spec, &r->err);
    if (st == KN_OK) st = kn_anonymize(&result, ctx, spec, NULL, &r->err);
    if (st == KN_OK) r->k = result->head.k;
    kn_release_result_free(result);
    return st;
}

static void *run_alone(void *arg)
{
    runner            *r = arg;
    kn_context_options options = KN_CONTEXT_OPTIONS_INIT;
    kn_context        *ctx = NULL;
    kn_spec           *spec = NULL;
    const char *const  inputs[] = {r->folder};
    options.threads = 2;
    r->status = kn_context_create(&ctx, &options, &r->err);
    if (r->status == KN_OK) r->status = kn_spec_create(&spec, ctx, &r->err);
    if (r->status == KN_OK) r->status = kn_spec_set_texts(spec, "input", inputs, 1, "input", &r->err);
    if (r->status == KN_OK)
        r->status =
            kn_spec_set(spec, "attributes", "{a: {role: quasi}, b: {role: quasi}, c: {role: keep}}", "", &r->err);
    if (r->status == KN_OK) r->status = kn_spec_set(spec, "privacy", "[{k: 3}]", "privacy", &r->err);
    if (r->status == KN_OK) r->status = kn_spec_set(spec, "method", "mondrian", "method", &r->err);
    if (r->status == KN_OK) r->status = release_one(r, ctx, spec);
    kn_context_free(ctx);
    kn_spec_free(spec);
    return NULL;
}

static void sixteen_threads_with_a_context_each(void **state)
{
    (void)state;
    char   text[8000];
    size_t size = (size_t)snprintf(text, sizeof text, "a,b,c\n");
    for (int i = 0; i < 400; i++)
        size += (size_t)snprintf(text + size, sizeof text - size, "%d,%d,%d\n", i * 7 % 40, i * 11 % 23, i % 4);
    const char *path = testing_file("people.csv", text, size);
    pthread_t   threads[MANY];
    runner      runs[MANY];
    for (int i = 0; i < MANY; i++) {
        runs[i] = (runner){.number = i, .folder = path};
        assert_int_equal(pthread_create(&threads[i], NULL, run_alone, &runs[i]), 0);
    }
    for (int i = 0; i < MANY; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_ok(runs[i].status, runs[i].err);
        assert_true(runs[i].k >= 3 && runs[i].k == runs[0].k);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_context_serves_one_call_at_a_time),
        cmocka_unit_test(a_busy_context_releases_the_stream),
        cmocka_unit_test(calls_of_workers_belong_to_the_call),
        cmocka_unit_test(a_context_may_be_given_up_during_a_call),
        cmocka_unit_test(callbacks_run_on_the_thread_that_called),
        cmocka_unit_test(any_thread_cancels),
        cmocka_unit_test(a_forked_child_goes_on),
        cmocka_unit_test(a_child_is_not_kept_busy_by_its_parent),
        cmocka_unit_test(sixteen_threads_with_a_context_each),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
