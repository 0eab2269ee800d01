/* kn_context.c: creation and end of a context, cancellation, progress.
 *
 * A deadline is checked wherever cancellation is; without one that costs nothing.
 *
 * Progress is counted by an atomic add; the callback runs on the thread that called the library, at most ten times a
 * second: when it adds to the progress itself, and while it waits for its workers (kn_parallel.c).
 *
 * One call at a time: the thread whose call is served is the context's owner, which costs one compare and exchange per
 * call. After fork an owner in the parent means nothing in the child: the child's first call cleans up.
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE
#include "kn_context.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kn_clock.h"
#include "kn_engines.h"
#include "kn_error.h"
#include "kn_memory.h"
#include "kn_names.h"
#include "kn_options.h"
#include "kn_pages.h"
#include "kn_parallel.h"

enum { PROGRESS_INTERVAL_NS = 100000000, MAX_THREADS = 1024 };

static void *system_alloc(void *user, size_t size)
{
    (void)user;
    return malloc(size);
}

static void *system_resize(void *user, void *block, size_t old_size, size_t new_size)
{
    (void)user;
    (void)old_size;
    return realloc(block, new_size);
}

static void system_release(void *user, void *block, size_t size)
{
    (void)user;
    (void)size;
    free(block);
}

int kn_usable_processors(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0) {
        int n = CPU_COUNT(&set);
        if (n > 0) return n < MAX_THREADS ? n : MAX_THREADS;
    }
    return 1;
}

kn_status kn_context_create(kn_context **out, const kn_context_options *options, kn_error *err)
{
    *out = NULL;
    kn_context_options opt = KN_CONTEXT_OPTIONS_INIT;
    KN_TRY(kn_options_take(&opt, sizeof opt, options, "context options", err));
    if (opt.threads < 0 || opt.threads > MAX_THREADS)
        return kn_fail(err, KN_USAGE, "the number of threads must be between 1 and %d", MAX_THREADS);

    kn_allocator allocator = {system_alloc, system_resize, system_release, NULL};
    if (opt.allocator) allocator = *opt.allocator;
    kn_context *ctx = allocator.alloc(allocator.user, sizeof *ctx);
    if (!ctx) return kn_fail(err, KN_MEMORY, "out of memory");
    memset(ctx, 0, sizeof *ctx);
    ctx->allocator = allocator;
    ctx->memory_limit = opt.memory_limit;
    atomic_init(&ctx->held, KN_HOLD);
    atomic_init(&ctx->memory_peak, 0);
    atomic_init(&ctx->cancelled, false);
    atomic_init(&ctx->deadline_ns, 0);
    ctx->threads = opt.threads > 0 ? opt.threads : kn_usable_processors();
    ctx->progress = opt.progress;
    ctx->progress_user = opt.progress_user;
    atomic_init(&ctx->stage_done, 0);
    atomic_init(&ctx->pool, NULL);
    atomic_init(&ctx->owner, 0);
    atomic_init(&ctx->given_up, false);
    *out = ctx;
    return KN_OK;
}

void kn_context_let_go(kn_context *ctx, uint64_t what)
{
    if (atomic_fetch_sub_explicit(&ctx->held, what, memory_order_acq_rel) != what) return;
    kn_allocator allocator = ctx->allocator;
    allocator.release(allocator.user, ctx, sizeof *ctx);
}

/* ---- One call at a time ---- */

/* Never 0, and different from any other thread's, in this process and the one it was forked from. */
static uint64_t caller(void)
{
    return (uint64_t)getpid() << 32 | (uint32_t)gettid();
}

/* Cleans up after a call that the parent was running when this process was forked. */
static void begin_anew(kn_context *ctx)
{
    ctx->aliases = NULL;
    ctx->stage = NULL;
    ctx->depth = 0;
    ctx->in_callback = false;
    atomic_store_explicit(&ctx->deadline_ns, 0, memory_order_relaxed);
}

/* Makes this thread the owner; false: another one is. */
static bool own(kn_context *ctx)
{
    uint64_t owner = 0, me = caller();
    if (atomic_compare_exchange_strong(&ctx->owner, &owner, me)) return true;
    if (owner >> 32 == me >> 32) return false;
    if (!atomic_compare_exchange_strong(&ctx->owner, &owner, me)) return false;
    begin_anew(ctx);
    return true;
}

/* Workers and names in memory: a running call may need both. */
static void end_inside(kn_context *ctx)
{
    if (!own(ctx)) return; /* the running call does it   */
    kn_pool_stop(ctx);
    kn_memory_clear(ctx);
    kn_engines_clear(ctx);
    atomic_store(&ctx->owner, 0);
}

kn_status kn_context_serve(kn_context **served, kn_context *ctx, kn_error *err)
{
    bool mine = atomic_load(&ctx->owner) == caller();
    if (mine && ctx->in_callback)
        return kn_fail(err, KN_BUSY, "a progress callback cannot use the context that calls it");
    if (!mine && !own(ctx)) {
        if (kn_pool_has(ctx)) return KN_OK; /* a worker of the running call   */
        return kn_fail(err, KN_BUSY, "the context is serving a call of another thread: give each thread its own");
    }
    if (!mine) atomic_fetch_add_explicit(&ctx->held, KN_HOLD, memory_order_relaxed);
    ctx->depth++;
    *served = ctx;
    return KN_OK;
}

void kn_context_served(kn_context **served)
{
    kn_context *ctx = *served;
    if (!ctx || --ctx->depth > 0) return;
    atomic_store(&ctx->owner, 0);
    if (atomic_load(&ctx->given_up)) end_inside(ctx);
    kn_context_let_go(ctx, KN_HOLD);
}

void kn_context_free(kn_context *ctx)
{
    if (!ctx) return;
    atomic_store(&ctx->given_up, true);
    end_inside(ctx);
    kn_context_let_go(ctx, KN_HOLD);
}

void kn_context_cancel(kn_context *ctx)
{
    atomic_store_explicit(&ctx->cancelled, true, memory_order_relaxed);
}

void kn_context_reset_cancel(kn_context *ctx)
{
    atomic_store_explicit(&ctx->cancelled, false, memory_order_relaxed);
}

bool kn_cancel_requested(const kn_context *ctx)
{
    return atomic_load_explicit(&ctx->cancelled, memory_order_relaxed);
}

bool kn_context_has_own_memory(const kn_context *ctx)
{
    return ctx->allocator.alloc != system_alloc;
}

kn_allocator kn_context_allocator(const kn_context *ctx)
{
    return ctx->allocator;
}

bool kn_cancelled(const kn_context *ctx)
{
    if (kn_cancel_requested(ctx)) return true;
    uint64_t deadline = atomic_load_explicit(&ctx->deadline_ns, memory_order_relaxed);
    return deadline > 0 && kn_clock_ns() >= deadline;
}

void kn_deadline_set(kn_context *ctx, double seconds)
{
    enum { LONGEST = 1000000000 }; /* some thirty years: longer means no deadline  */
    uint64_t deadline = seconds > 0 && seconds < LONGEST ? kn_clock_ns() + (uint64_t)(seconds * 1e9) : 0;
    atomic_store_explicit(&ctx->deadline_ns, deadline, memory_order_relaxed);
}

kn_status kn_fail_cancelled(kn_error *err)
{
    return kn_fail(err, KN_CANCELLED, "stopped on request; nothing was written");
}

bool kn_memory_limited(const kn_context *ctx)
{
    return ctx->memory_limit > 0;
}

int kn_context_threads(const kn_context *ctx)
{
    return ctx->threads;
}

uint64_t kn_context_memory_used(const kn_context *ctx)
{
    return atomic_load_explicit(&ctx->held, memory_order_relaxed) & (KN_HOLD - 1);
}

uint64_t kn_context_memory_peak(const kn_context *ctx)
{
    return atomic_load_explicit(&ctx->memory_peak, memory_order_relaxed);
}

/* ---- Progress ---- */

static void report(kn_context *ctx, uint64_t now, bool finished)
{
    kn_progress p = {ctx->stage,
                     ctx->unit,
                     atomic_load_explicit(&ctx->stage_done, memory_order_relaxed),
                     ctx->stage_total,
                     (double)(now - ctx->stage_start_ns) / 1e9,
                     finished};
    ctx->in_callback = true;
    ctx->progress(ctx->progress_user, &p);
    ctx->in_callback = false;
}

void kn_progress_begin(kn_context *ctx, const char *stage, const char *unit, uint64_t total)
{
    if (!ctx->progress) return;
    ctx->stage_thread = pthread_self();
    ctx->stage = stage;
    ctx->unit = unit;
    ctx->stage_total = total;
    ctx->stage_start_ns = kn_clock_ns();
    ctx->progress_next_ns = ctx->stage_start_ns + PROGRESS_INTERVAL_NS;
    atomic_store(&ctx->stage_done, 0);
}

void kn_progress_look(kn_context *ctx)
{
    if (!ctx->progress || !ctx->stage || !pthread_equal(ctx->stage_thread, pthread_self())) return;
    uint64_t now = kn_clock_ns();
    if (now < ctx->progress_next_ns) return;
    ctx->progress_next_ns = now + PROGRESS_INTERVAL_NS;
    report(ctx, now, false);
}

void kn_progress_add(kn_context *ctx, uint64_t amount)
{
    if (!ctx->progress || !ctx->stage) return;
    atomic_fetch_add_explicit(&ctx->stage_done, amount, memory_order_relaxed);
    kn_progress_look(ctx);
}

void kn_progress_end(kn_context *ctx)
{
    if (!ctx->progress || !ctx->stage) return;
    report(ctx, kn_clock_ns(), true);
    ctx->stage = NULL;
}

/* ---- Names of paths ---- */

void kn_alias_add(kn_context *ctx, kn_alias *alias)
{
    alias->next = ctx->aliases;
    ctx->aliases = alias;
}

void kn_alias_remove(kn_context *ctx, const kn_alias *alias)
{
    kn_alias **at = &ctx->aliases;
    while (*at && *at != alias) at = &(*at)->next;
    if (*at) *at = alias->next;
}

const kn_alias *kn_alias_find(const kn_context *ctx, const char *path)
{
    const kn_alias *a = ctx->aliases;
    while (a && strcmp(a->path, path) != 0) a = a->next;
    return a;
}

const char *kn_path_name(const kn_context *ctx, const char *path)
{
    const kn_alias *alias = kn_alias_find(ctx, path);
    if (alias) return alias->name;
    if (kn_name_query(path)) return "the query"; /* whose words may be those of a person */
    return strcmp(path, "-") == 0 ? "(standard input)" : path;
}
