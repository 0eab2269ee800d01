/* test_meter.c: work and span of made-up tasks, whose steps are counted by a clock of the test. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "kn_beside.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_meter.h"
#include "kn_parallel.h"
#include "kn_rng.h"

enum { STEP = 1000000 }; /* nanoseconds: longer than what the meter reads as one */

static _Thread_local uint64_t processor, wall;

static uint64_t processor_clock(void)
{
    return processor;
}

static uint64_t wall_clock(void)
{
    return wall;
}

static const kn_meter_clocks counted = {processor_clock, wall_clock};

static void work(uint64_t ns)
{
    processor += ns;
    wall += ns;
}

static void assert_effort(kn_effort found, uint64_t expected_work, uint64_t expected_span)
{
    assert_int_equal(found.work, expected_work);
    assert_int_equal(found.span, expected_span);
}

/* ---- Random programs ---- */

/* Steps, then children in a section, then steps. */
typedef struct task {
    kn_context  *ctx;
    uint64_t     before, after;
    int64_t      count, grain;
    struct task *children;
} task;

static kn_status run_children(void *arg, int64_t begin, int64_t end, int worker, kn_error *err);

static kn_status run(const task *t, kn_error *err)
{
    work(t->before);
    KN_TRY(kn_parallel_for(t->ctx, t->count, t->grain, run_children, (void *)(uintptr_t)t, err));
    work(t->after);
    return KN_OK;
}

static kn_status run_children(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    const task *t = arg;
    (void)worker;
    for (int64_t i = begin; i < end; i++) KN_TRY(run(&t->children[i], err));
    return KN_OK;
}

/* By the definition. */
static kn_effort effort_of(const task *t, bool inside)
{
    kn_effort sum = {t->before + t->after, t->before + t->after};
    bool      parallel = !inside && t->count > t->grain;
    uint64_t  longest = 0, range = 0;
    for (int64_t i = 0; i < t->count; i++) {
        kn_effort one = effort_of(&t->children[i], inside || parallel);
        sum.work += one.work;
        if (!parallel) sum.span += one.span;
        range = (i % t->grain == 0 ? 0 : range) + one.work;
        if (range > longest) longest = range;
    }
    if (parallel) sum.span += longest;
    return sum;
}

static void make(task *t, kn_context *ctx, kn_rng *rng, int depth)
{
    *t = (task){.ctx = ctx, .before = kn_rng_below(rng, 5) * STEP, .after = kn_rng_below(rng, 3) * STEP, .grain = 1};
    if (depth == 0) return;
    t->count = (int64_t)kn_rng_below(rng, 7);
    t->grain = 1 + (int64_t)kn_rng_below(rng, 4);
    t->children = calloc((size_t)t->count + 1, sizeof *t->children);
    for (int64_t i = 0; i < t->count; i++) make(&t->children[i], ctx, rng, depth - 1);
}

static void unmake(task *t)
{
    for (int64_t i = 0; i < t->count; i++) unmake(&t->children[i]);
    free(t->children);
}

static void random_programs_have_the_effort_of_the_definition(void **state)
{
    (void)state;
    static const int threads[] = {1, 2, 3, 8};
    for (size_t i = 0; i < sizeof threads / sizeof *threads; i++) {
        kn_context *ctx = testing_context(threads[i]);
        kn_error    err = KN_ERROR_INIT;
        kn_rng      rng;
        kn_rng_init(&rng, testing_seed(), 0);
        for (int round = 0; round < testing_rounds(150); round++) {
            task      top;
            kn_effort sum = {0, 0};
            make(&top, ctx, &rng, 4);
            kn_meter_start(ctx, &counted);
            for (int again = 0; again < 2; again++) {
                kn_effort once = effort_of(&top, false);
                assert_ok(run(&top, &err), err);
                sum.work += once.work;
                sum.span += once.span;
                assert_effort(kn_meter_read(ctx), sum.work, sum.span);
            }
            kn_meter_stop(ctx);
            unmake(&top);
        }
        testing_context_free(ctx);
    }
}

/* ---- Ranges that share ---- */

enum { OUTER = 12, INNER = 40 };

typedef struct sharer {
    kn_context *ctx;
    int64_t     least; /* the range that fails, or OUTER */
    bool        inside[8][2];
    uint8_t     done[OUTER][INNER];
} sharer;

typedef struct part {
    sharer *s;
    int64_t range;
    int     worker;
} part;

/* A worker in two ranges at once would use the same scratch twice; but the one that shares works on what it shares. */
static kn_status take_part(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    part *p = arg;
    if (worker != p->worker && (p->s->inside[worker][0] || p->s->inside[worker][1]))
        return kn_fail(err, KN_INTERNAL, "in two ranges");
    p->s->inside[worker][1] = true;
    for (int64_t i = begin; i < end; i++) {
        p->s->done[p->range][i]++;
        work((uint64_t)(1 + i % 3) * STEP);
    }
    p->s->inside[worker][1] = false;
    return begin >= 20 && p->range >= p->s->least ? kn_fail(err, KN_INPUT, "%d, %d", (int)p->range, (int)begin) : KN_OK;
}

static kn_status share_range(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    sharer   *s = arg;
    kn_status st = KN_OK;
    s->inside[worker][0] = true;
    for (int64_t i = begin; i < end && st == KN_OK; i++) {
        part p = {s, i, worker};
        work(5 * STEP);
        st = kn_parallel_share(s->ctx, worker, INNER, 4, take_part, &p, err);
        work((uint64_t)i * STEP);
    }
    s->inside[worker][0] = false;
    return st;
}

/* Of 4 parts the longest takes 2 + 3 + 1 + 2 = 8 steps or 3 + 1 + 2 + 3 = 9: 9. All of them: 13 (1 + 2 + 3) + 1 = 79. */
static void what_is_shared_counts_by_its_longest_range(void **state)
{
    (void)state;
    static const int threads[] = {1, 2, 3, 8};
    for (size_t i = 0; i < 4 * (size_t)testing_rounds(50); i++) {
        sharer   s = {.ctx = testing_context(threads[i % 4]), .least = OUTER};
        kn_error err = KN_ERROR_INIT;
        kn_meter_start(s.ctx, &counted);
        assert_ok(kn_parallel_for(s.ctx, OUTER, 1, share_range, &s, &err), err);
        assert_effort(kn_meter_read(s.ctx), (OUTER * (5 + 79) + OUTER * (OUTER - 1) / 2) * STEP,
                      (5 + 9 + OUTER - 1) * STEP);
        for (int j = 0; j < OUTER * INNER; j++) assert_int_equal(s.done[j / INNER][j % INNER], 1);
        /* in no section: one of its own */
        part p = {&s, 0, 0};
        assert_ok(kn_parallel_share(s.ctx, 0, INNER, 4, take_part, &p, &err), err);
        assert_effort(kn_meter_read(s.ctx), (OUTER * (5 + 79) + OUTER * (OUTER - 1) / 2 + 79) * STEP,
                      (5 + 9 + OUTER - 1 + 9) * STEP);
        testing_context_free(s.ctx);
    }
}

static void the_first_failure_of_what_is_shared_is_told(void **state)
{
    (void)state;
    static const int threads[] = {1, 2, 3, 8};
    for (size_t i = 0; i < 4; i++) {
        sharer   s = {.ctx = testing_context(threads[i]), .least = 0};
        kn_error err = KN_ERROR_INIT;
        assert_int_equal(kn_parallel_for(s.ctx, OUTER, 1, share_range, &s, &err), KN_INPUT);
        assert_string_equal(err.message, "0, 20");
        testing_context_free(s.ctx);
    }
}

/* ---- What the clocks do not agree on ---- */

/* Each range takes 3 steps of a processor, and many more by the clock: the machine has other things to do. */
static kn_status interrupted(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    (void)arg, (void)end, (void)worker, (void)err;
    work(3 * STEP);
    wall += (uint64_t)(begin % 7) * 1000 * STEP;
    return KN_OK;
}

static void a_busy_machine_changes_nothing(void **state)
{
    (void)state;
    for (int threads = 1; threads <= 4; threads++) {
        kn_context *ctx = testing_context(threads);
        kn_error    err = KN_ERROR_INIT;
        kn_meter_start(ctx, &counted);
        wall += 5000 * (uint64_t)STEP;
        work(STEP);
        assert_ok(kn_parallel_for(ctx, 100, 1, interrupted, NULL, &err), err);
        assert_effort(kn_meter_read(ctx), 301 * STEP, 4 * STEP);
        testing_context_free(ctx);
    }
}

/* Ranges of 1 us, of which the 40th is interrupted. */
static kn_status short_ranges(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    (void)arg, (void)end, (void)worker, (void)err;
    work(1000);
    if (begin == 40) wall += 1000 * STEP;
    return KN_OK;
}

static void short_ranges_are_bounded_by_those_read_together(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(1);
    kn_error    err = KN_ERROR_INIT;
    kn_meter_start(ctx, &counted);
    assert_ok(kn_parallel_for(ctx, 40, 1, short_ranges, NULL, &err), err);
    assert_effort(kn_meter_read(ctx), 40000, 1000);
    assert_ok(kn_parallel_for(ctx, 1000, 1, short_ranges, NULL, &err), err);
    kn_effort found = kn_meter_read(ctx);
    assert_int_equal(found.work, 1040000);
    assert_in_range(found.span, 2000, 1000 + 50000);
    testing_context_free(ctx);
}

/* ---- Threads ---- */

static void a_thread_beside_the_pool_counts_when_it_is_joined(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(2);
    kn_meter_start(ctx, &counted);
    work(2 * STEP);
    uint64_t since = kn_meter_read(ctx).span;
    work(3 * STEP);
    kn_meter_join(ctx, since, 3 * STEP); /* as long as what was done meanwhile */
    assert_effort(kn_meter_read(ctx), 8 * STEP, 5 * STEP);
    since = kn_meter_read(ctx).span;
    work(STEP);
    kn_meter_join(ctx, since, 10 * STEP); /* longer: it was waited for */
    assert_effort(kn_meter_read(ctx), 19 * STEP, 15 * STEP);
    kn_meter_stop(ctx);
    assert_effort(kn_meter_read(ctx), 0, 0);
    kn_meter_join(ctx, 0, STEP);
    assert_effort(kn_meter_read(ctx), 0, 0);
    testing_context_free(ctx);
}

static kn_status fail_at_three(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    (void)arg, (void)end, (void)worker;
    work(STEP);
    return begin == 3 ? kn_fail(err, KN_INPUT, "planted") : KN_OK;
}

static void failed_and_cancelled_sections_count_what_they_did(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(1);
    kn_error    err = KN_ERROR_INIT;
    kn_meter_start(ctx, &counted);
    assert_int_equal(kn_parallel_for(ctx, 10, 1, fail_at_three, NULL, &err), KN_INPUT);
    assert_effort(kn_meter_read(ctx), 4 * STEP, STEP);
    kn_context_cancel(ctx);
    assert_int_equal(kn_parallel_for(ctx, 10, 1, fail_at_three, NULL, &err), KN_CANCELLED);
    kn_context_reset_cancel(ctx);
    work(STEP);
    assert_effort(kn_meter_read(ctx), 5 * STEP, 2 * STEP);
    testing_context_free(ctx);
}

static void *section_elsewhere(void *arg)
{
    kn_error err = KN_ERROR_INIT;
    work(1000 * (uint64_t)STEP);
    assert_ok(kn_parallel_for(arg, 10, 1, interrupted, NULL, &err), err);
    kn_effort found = kn_meter_read(arg);
    assert_effort(found, STEP, STEP);
    return NULL;
}

static void only_the_thread_that_started_it_is_measured(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(2);
    pthread_t   other;
    kn_meter_start(ctx, &counted);
    work(STEP);
    (void)kn_meter_read(ctx);
    assert_int_equal(pthread_create(&other, NULL, section_elsewhere, ctx), 0);
    pthread_join(other, NULL);
    assert_effort(kn_meter_read(ctx), STEP, STEP);
    testing_context_free(ctx);
}

/* ---- Beside the pool ---- */

static void add_one(void *arg)
{
    work(7 * STEP);
    ++*(int *)arg;
}

static void a_piece_beside_the_pool_is_run_once(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(2);
    kn_beside   beside = {0};
    int         runs = 0;
    kn_beside_end(&beside); /* nothing was started */
    kn_meter_start(ctx, NULL);
    kn_beside_start(&beside, ctx, add_one, &runs);
    kn_beside_end(&beside);
    kn_beside_end(&beside);
    assert_int_equal(runs, 1);
    kn_effort found = kn_meter_read(ctx);
    assert_true(found.work >= beside.used && found.span >= beside.used);
    beside = (kn_beside){.ctx = ctx, .run = add_one, .arg = &runs, .pending = true}; /* no thread could be started */
    kn_beside_end(&beside);
    kn_beside_end(&beside);
    assert_int_equal(runs, 2);
    testing_context_free(ctx);
}

/* ---- The machine's clocks ---- */

static kn_status spin(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    (void)arg, (void)end, (void)worker, (void)err;
    volatile uint64_t sum = 0;
    for (int i = 0; i < 50000; i++) sum += (uint64_t)begin * (uint64_t)i;
    return sum == 1 ? KN_CANCELLED : KN_OK; /* never: it is used */
}

static void real_work_is_at_least_its_span(void **state)
{
    (void)state;
    for (int threads = 1; threads <= 2; threads++) {
        kn_context *ctx = testing_context(threads);
        kn_error    err = KN_ERROR_INIT;
        kn_meter_start(ctx, NULL);
        assert_ok(kn_parallel_for(ctx, 200, 1, spin, NULL, &err), err);
        kn_effort found = kn_meter_read(ctx);
        assert_true(found.span > 0);
        assert_true(found.work > 2 * found.span); /* of 200 ranges of one length */
        testing_context_free(ctx);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_shared_counts_by_its_longest_range),
        cmocka_unit_test(the_first_failure_of_what_is_shared_is_told),
        cmocka_unit_test(random_programs_have_the_effort_of_the_definition),
        cmocka_unit_test(a_busy_machine_changes_nothing),
        cmocka_unit_test(short_ranges_are_bounded_by_those_read_together),
        cmocka_unit_test(a_thread_beside_the_pool_counts_when_it_is_joined),
        cmocka_unit_test(failed_and_cancelled_sections_count_what_they_did),
        cmocka_unit_test(only_the_thread_that_started_it_is_measured),
        cmocka_unit_test(a_piece_beside_the_pool_is_run_once),
        cmocka_unit_test(real_work_is_at_least_its_span),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
