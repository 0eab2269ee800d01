/* kn_parallel.c: a small pthread pool, started on first use and re-created after fork.
 *
 * The caller works too, as worker 0. Threads wait on a condition variable between jobs. When the caller has nothing
 * left to do it waits for the others and reports progress from time to time: only the caller runs callbacks. A thread that
 * is still waking up then is not waited for: it finds that the job is over.
 *
 * A range that shares its work puts a job on a list. Whoever waits, for a job or for the others, takes ranges of those.
 * The one that shared it returns when nobody works on it any more.
 *
 * Sleeping and being woken costs more than a short job, most of all on a virtual machine. So whoever waits looks around for
 * up to PATIENCE_NS before it sleeps, where its last wait was a short one and every thread can have a processor.
 *
 * After fork() the child has no threads but still the parent's pool structure: the pool remembers the process id that
 * started it, and a child sets the structure aside (its locks may be held by threads that do not exist) and starts
 * its own. The old one is freed with the context, since another thread may still be reading it.
 *
 * Why no OpenMP: libgomp's pool hangs in a forked child, which is how Spark's and Python's workers start.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_parallel.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "kn_alloc.h"
#include "kn_clock.h"
#include "kn_context.h"
#include "kn_error.h"

typedef struct job {
    kn_range_fn     fn;
    void           *arg;
    int64_t         n, grain;
    _Atomic int64_t next; /* start of the next range to hand out */
    atomic_bool     stop;

    bool measured; /* for the meter (kn_meter.h) */

    /* From inside a range; guarded by the pool's lock. */
    bool        shared;
    int         helpers; /* who work on it, without the one that shares it */
    struct job *next_shared;

    pthread_mutex_t lock; /* guards what follows */
    uint64_t        work, longest;
    int64_t         failed_at;
    kn_status       status;
    kn_error        error;
} job;

typedef struct worker {
    struct kn_pool *pool;
    pthread_t       thread;
    int             index;
    kn_laps        *laps; /* in the range it runs; NULL: not measured */
} worker;

typedef struct kn_pool {
    kn_context      *ctx;
    pid_t            pid;
    int              worker_count; /* threads started, without the caller */
    worker          *workers;
    bool             eager; /* each thread can have a processor: waiting may look around     */
    bool             hurry; /* the caller's last wait was short                              */
    pthread_mutex_t  lock;  /* guards changes of what follows */
    pthread_cond_t   wake, done, helped;
    pthread_t        caller;  /* of the running job                                           */
    job             *shared;  /* by ranges of the running job                                 */
    int              idle;    /* workers that sleep                                           */
    bool             awaits;  /* the caller waits for the workers                             */
    job             *job;     /* NULL: none that could be joined                              */
    int              to_wake; /* workers that it could use and nobody has woken yet           */
    _Atomic uint64_t generation;
    _Atomic int      running; /* workers that joined it */
    atomic_bool      quit;
    bool             busy;  /* a parallel_for is running: calls from inside it run inline   */
    struct kn_pool  *aside; /* the parent process's */
} kn_pool;

enum { LOOK_NS = 100000000, PATIENCE_NS = 50000, GLANCES = 16 };

/* ---- Waiting ---- */

static inline void pause_briefly(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

/* Looks for PATIENCE_NS whether what is awaited is there. */
static void look_around(bool (*there)(const kn_pool *pool, uint64_t seen), const kn_pool *pool, uint64_t seen)
{
    uint64_t until = kn_clock_ns() + PATIENCE_NS;
    do {
        for (int i = 0; i < GLANCES; i++) {
            if (there(pool, seen)) return;
            pause_briefly();
        }
        (void)sched_yield(); /* others may need the processor */
    } while (kn_clock_ns() < until);
}

static bool has_news(const kn_pool *pool, uint64_t seen)
{
    return atomic_load_explicit(&pool->generation, memory_order_relaxed) != seen ||
           atomic_load_explicit(&pool->quit, memory_order_relaxed);
}

static bool has_ended(const kn_pool *pool, uint64_t unused)
{
    (void)unused;
    return atomic_load_explicit(&pool->running, memory_order_relaxed) == 0;
}

/* Was the wait that began then a short one? */
static bool was_short(uint64_t began)
{
    return kn_clock_ns() - began < 2 * (uint64_t)PATIENCE_NS;
}

/* ---- Ranges ---- */

/* The next range; false: there is none. */
static bool take_range(kn_context *ctx, job *j, int64_t *begin)
{
    if (atomic_load_explicit(&j->stop, memory_order_relaxed) || kn_cancelled(ctx)) return false;
    *begin = atomic_fetch_add_explicit(&j->next, j->grain, memory_order_relaxed);
    return *begin < j->n;
}

static bool run_range(job *j, int64_t begin, int worker_index, kn_error *error)
{
    int64_t   end = j->n - begin > j->grain ? begin + j->grain : j->n;
    kn_status st = j->fn(j->arg, begin, end, worker_index, error);
    if (st == KN_OK) return true;
    atomic_store_explicit(&j->stop, true, memory_order_relaxed);
    pthread_mutex_lock(&j->lock);
    if (j->status == KN_OK || begin < j->failed_at) {
        j->status = st;
        j->failed_at = begin;
        j->error = *error;
    }
    pthread_mutex_unlock(&j->lock);
    return false;
}

/* Where the laps of the range that a worker runs are to be found. */
static kn_laps **laps_of(kn_context *ctx, int worker_index)
{
    kn_pool *pool = atomic_load_explicit(&ctx->pool, memory_order_relaxed);
    return worker_index == 0 ? &ctx->meter.laps : &pool->workers[worker_index - 1].laps;
}

static void run_measured(kn_context *ctx, job *j, int worker_index, kn_error *error)
{
    kn_laps laps;
    int64_t begin;
    bool    more = take_range(ctx, j, &begin);
    if (!more) return;
    kn_laps_begin(ctx, &laps);
    if (!j->shared) *laps_of(ctx, worker_index) = &laps;
    while (more) {
        more = run_range(j, begin, worker_index, error);
        kn_laps_next(ctx, &laps);
        more = more && take_range(ctx, j, &begin);
    }
    kn_laps_end(ctx, &laps);
    if (!j->shared) *laps_of(ctx, worker_index) = NULL;
    if (!j->shared && worker_index == 0) kn_meter_lapped(ctx, &laps);
    pthread_mutex_lock(&j->lock);
    j->work += kn_laps_work(&laps);
    if (laps.longest > j->longest) j->longest = laps.longest;
    pthread_mutex_unlock(&j->lock);
}

static void run_ranges(kn_context *ctx, job *j, int worker_index)
{
    kn_error error = KN_ERROR_INIT;
    if (j->measured) {
        run_measured(ctx, j, worker_index, &error);
        return;
    }
    for (int64_t begin; take_range(ctx, j, &begin);)
        if (!run_range(j, begin, worker_index, &error)) return;
}

/* Whoever is awake wakes two more, and these the next: one alone would be busy with 63 for longer than many a job takes. The
 * lock is held, and given back. */
static void wake_some(kn_pool *pool)
{
    int count = pool->to_wake < 2 ? pool->to_wake : 2;
    pool->to_wake -= count;
    pthread_mutex_unlock(&pool->lock);
    for (int i = 0; i < count; i++) pthread_cond_signal(&pool->wake);
}

/* ---- Helping ---- */

/* A job that is shared and has ranges left; the lock is held. */
static job *find_shared(const kn_pool *pool)
{
    for (job *j = pool->shared; j; j = j->next_shared)
        if (!atomic_load_explicit(&j->stop, memory_order_relaxed) &&
            atomic_load_explicit(&j->next, memory_order_relaxed) < j->n && !kn_cancelled(pool->ctx))
            return j;
    return NULL;
}

/* Takes ranges of it; the lock is held, but not meanwhile. */
static void help(kn_pool *pool, job *j, int worker_index)
{
    j->helpers++;
    pthread_mutex_unlock(&pool->lock);
    run_ranges(pool->ctx, j, worker_index);
    pthread_mutex_lock(&pool->lock);
    if (--j->helpers == 0) pthread_cond_broadcast(&pool->helped);
}

/* Sleeps until there is a job, and helps meanwhile; the lock is held. */
static void wait_for_news(kn_pool *pool, const worker *self, uint64_t seen)
{
    while (!has_news(pool, seen)) {
        job *j = find_shared(pool);
        if (j) {
            help(pool, j, self->index);
            continue;
        }
        pool->idle++;
        pthread_cond_wait(&pool->wake, &pool->lock);
        pool->idle--;
    }
}

static void *worker_main(void *arg)
{
    worker  *self = arg;
    kn_pool *pool = self->pool;
    uint64_t seen = 0;
    bool     hurry = false;
    for (;;) {
        uint64_t began = kn_clock_ns();
        if (hurry) look_around(has_news, pool, seen);
        pthread_mutex_lock(&pool->lock);
        wait_for_news(pool, self, seen);
        if (pool->quit) break;
        seen = pool->generation;
        job *j = pool->job;
        if (j) pool->running++;
        wake_some(pool);
        hurry = pool->eager && was_short(began);
        if (!j) continue;
        run_ranges(pool->ctx, j, self->index);
        pthread_mutex_lock(&pool->lock);
        if (--pool->running == 0) pthread_cond_signal(&pool->done);
        pthread_mutex_unlock(&pool->lock);
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

static void start_workers(kn_pool *pool, int wanted)
{
    /* Signals go to the application's threads, never to ours. */
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    for (int i = 0; i < wanted; i++) {
        worker *w = &pool->workers[i];
        w->pool = pool;
        w->index = i + 1;
        if (pthread_create(&w->thread, NULL, worker_main, w) != 0) break; /* fewer threads do the same work */
        pool->worker_count++;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void init_locks(kn_pool *pool)
{
    pthread_condattr_t steady;
    pthread_condattr_init(&steady);
    pthread_condattr_setclock(&steady, CLOCK_MONOTONIC);
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->wake, NULL);
    pthread_cond_init(&pool->helped, NULL);
    pthread_cond_init(&pool->done, &steady);
    pthread_condattr_destroy(&steady);
}

/* The pool, or NULL if it cannot be created: the work then runs on the caller alone. */
static kn_pool *pool_of(kn_context *ctx)
{
    kn_pool *aside = atomic_load_explicit(&ctx->pool, memory_order_relaxed);
    if (aside && aside->pid == getpid()) return aside;
    if (ctx->threads <= 1 || atomic_load_explicit(&ctx->given_up, memory_order_relaxed)) return NULL;
    kn_pool *pool = kn_alloc_zero(ctx, sizeof *pool);
    worker  *workers = kn_alloc_array_zero(ctx, (size_t)ctx->threads - 1, sizeof *workers);
    if (!pool || !workers) {
        KN_FREE(pool, workers);
        return NULL;
    }
    pool->ctx = ctx;
    pool->pid = getpid();
    pool->workers = workers;
    pool->aside = aside;
    pool->eager = ctx->threads <= kn_usable_processors();
    init_locks(pool);
    start_workers(pool, ctx->threads - 1);
    atomic_store_explicit(&ctx->pool, pool, memory_order_release);
    return pool;
}

bool kn_pool_has(kn_context *ctx)
{
    const kn_pool *pool = atomic_load_explicit(&ctx->pool, memory_order_acquire);
    if (!pool || pool->pid != getpid()) return false;
    for (int i = 0; i < pool->worker_count; i++)
        if (pthread_equal(pool->workers[i].thread, pthread_self())) return true;
    return false;
}

static void end_threads(kn_pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    pool->quit = true;
    pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->lock);
    for (int i = 0; i < pool->worker_count; i++) pthread_join(pool->workers[i].thread, NULL);
    pthread_mutex_destroy(&pool->lock);
    pthread_cond_destroy(&pool->wake);
    pthread_cond_destroy(&pool->helped);
    pthread_cond_destroy(&pool->done);
}

void kn_pool_stop(kn_context *ctx)
{
    kn_pool *pool = atomic_exchange(&ctx->pool, NULL);
    while (pool) {
        kn_pool *aside = pool->aside;
        if (pool->pid == getpid()) end_threads(pool);
        kn_free(pool->workers);
        kn_free(pool);
        pool = aside;
    }
}

/* Waits for the workers, and helps meanwhile; the lock is held. Progress is reported without it. */
static void wait_for_all(kn_pool *pool)
{
    while (pool->running > 0) {
        job *shared = find_shared(pool);
        if (shared) {
            help(pool, shared, 0);
            continue;
        }
        if (!pool->ctx->progress) {
            pthread_cond_wait(&pool->done, &pool->lock);
            continue;
        }
        struct timespec until;
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_nsec += LOOK_NS;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        if (pthread_cond_timedwait(&pool->done, &pool->lock, &until) != ETIMEDOUT) continue;
        pthread_mutex_unlock(&pool->lock);
        kn_progress_look(pool->ctx);
        pthread_mutex_lock(&pool->lock);
    }
}

/* The same, without sleeping at once where the last wait was short. */
static void await_workers(kn_pool *pool, bool measured)
{
    kn_context *ctx = pool->ctx;
    uint64_t    began = kn_clock_ns(), used = measured ? ctx->meter.clocks.processor() : 0;
    if (pool->hurry) {
        pthread_mutex_unlock(&pool->lock);
        look_around(has_ended, pool, 0);
        pthread_mutex_lock(&pool->lock);
    }
    pool->awaits = true;
    wait_for_all(pool);
    pool->awaits = false;
    pool->hurry = pool->eager && was_short(began);
    if (measured) kn_meter_waited(ctx, used);
}

/* The job has no more ranges to hand out: nobody joins it any more, and those who did are waited for. */
static void end_job(kn_pool *pool, const job *j)
{
    pthread_mutex_lock(&pool->lock);
    pool->job = NULL;
    pool->to_wake = 0;
    if (pool->running > 0) await_workers(pool, j->measured);
    pool->busy = false;
    pthread_mutex_unlock(&pool->lock);
}

/* Runs the job on the pool's threads and the caller. */
static void run_on_pool(kn_pool *pool, job *j)
{
    int64_t others = (j->n - 1) / j->grain; /* ranges but for the caller's first */
    pthread_mutex_lock(&pool->lock);
    pool->busy = true;
    pool->caller = pthread_self();
    pool->job = j;
    pool->generation++;
    pool->to_wake = others < pool->worker_count ? (int)others : pool->worker_count;
    wake_some(pool);
    run_ranges(pool->ctx, j, 0);
    end_job(pool, j);
}

kn_status kn_parallel_for(kn_context *ctx, int64_t n, int64_t grain, kn_range_fn fn, void *arg, kn_error *err)
{
    if (n <= 0) return KN_OK;
    if (grain < 1) grain = 1;
    job j = {.fn = fn, .arg = arg, .n = n, .grain = grain, .status = KN_OK};
    pthread_mutex_init(&j.lock, NULL);
    kn_pool *pool = n > grain ? pool_of(ctx) : NULL;
    j.measured = n > grain && kn_meter_enter(ctx);
    if (pool && !pool->busy)
        run_on_pool(pool, &j);
    else
        run_ranges(ctx, &j, 0);
    if (j.measured) kn_meter_leave(ctx, j.work, j.longest);
    pthread_mutex_destroy(&j.lock);
    if (j.status != KN_OK) {
        if (err) *err = j.error;
        return j.status;
    }
    if (kn_cancelled(ctx)) return kn_fail_cancelled(err);
    return KN_OK;
}

/* ---- Sharing ---- */

/* Is the calling thread this worker, in a range? */
static bool is_worker(const kn_pool *pool, int index)
{
    return pthread_equal(index == 0 ? pool->caller : pool->workers[index - 1].thread, pthread_self());
}

/* Puts a job where others see it, runs what they do not, and waits for them. */
static void run_shared(kn_pool *pool, job *j, int worker_index)
{
    pthread_mutex_lock(&pool->lock);
    int wanted = (int)((j->n - 1) / j->grain);
    j->next_shared = pool->shared;
    pool->shared = j;
    for (int i = 0; i < wanted && i < pool->idle; i++) pthread_cond_signal(&pool->wake);
    if (pool->awaits) pthread_cond_signal(&pool->done);
    pthread_mutex_unlock(&pool->lock);
    run_ranges(pool->ctx, j, worker_index);
    pthread_mutex_lock(&pool->lock);
    job **at = &pool->shared;
    while (*at != j) at = &(*at)->next_shared;
    *at = j->next_shared;
    while (j->helpers > 0) pthread_cond_wait(&pool->helped, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
}

kn_status kn_parallel_share(kn_context *ctx, int index, int64_t n, int64_t grain, kn_range_fn fn, void *arg,
                            kn_error *err)
{
    kn_pool *pool = atomic_load_explicit(&ctx->pool, memory_order_relaxed);
    if (pool && pool->pid != getpid()) pool = NULL;
    bool     inside = pool && pool->busy && is_worker(pool, index);
    bool     alone = !pool && ctx->meter.on && pthread_equal(ctx->meter.thread, pthread_self());
    kn_laps *laps = inside || alone ? *laps_of(ctx, alone ? 0 : index) : NULL;
    if (index == 0 && !laps && !(pool && pool->busy)) return kn_parallel_for(ctx, n, grain, fn, arg, err);
    uint64_t since = laps ? ctx->meter.clocks.processor() : 0;
    job      j = {.fn = fn, .arg = arg, .n = n, .grain = grain < 1 ? 1 : grain, .status = KN_OK};
    j.shared = true;
    j.measured = laps && n > grain;
    pthread_mutex_init(&j.lock, NULL);
    if (inside && n > grain)
        run_shared(pool, &j, index);
    else if (n > 0)
        run_ranges(ctx, &j, index);
    if (j.measured) kn_laps_share(ctx, laps, since, j.work, j.longest);
    pthread_mutex_destroy(&j.lock);
    if (j.status != KN_OK && err) *err = j.error;
    if (j.status != KN_OK) return j.status;
    return kn_cancelled(ctx) ? kn_fail_cancelled(err) : KN_OK;
}
