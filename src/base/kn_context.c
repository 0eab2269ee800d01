/* kn_context.c: creation and end of a context, cancellation, progress.
 *
 * A deadline is a clock that is looked at wherever cancellation is asked for; without one that costs nothing.
 *
 * Progress is counted by an atomic add; the callback runs on whichever worker first passes the next due time, at most
 * ten times a second and never twice at once.
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE
#include "kn_context.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "kn_clock.h"
#include "kn_error.h"
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

static int usable_cpus(void)
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
    if (options) {
        if (options->size < sizeof opt) return kn_fail(err, KN_USAGE, "context options: the size field is not set");
        opt = *options;
    }
    if (opt.threads < 0 || opt.threads > MAX_THREADS)
        return kn_fail(err, KN_USAGE, "the number of threads must be between 1 and %d", MAX_THREADS);

    kn_allocator allocator = {system_alloc, system_resize, system_release, NULL};
    if (opt.allocator) allocator = *opt.allocator;
    kn_context *ctx = allocator.alloc(allocator.user, sizeof *ctx);
    if (!ctx) return kn_fail(err, KN_MEMORY, "out of memory");
    memset(ctx, 0, sizeof *ctx);
    ctx->allocator = allocator;
    ctx->memory_limit = opt.memory_limit;
    atomic_init(&ctx->memory_used, 0);
    atomic_init(&ctx->memory_peak, 0);
    atomic_init(&ctx->cancelled, false);
    atomic_init(&ctx->deadline_ns, 0);
    ctx->threads = opt.threads > 0 ? opt.threads : usable_cpus();
    ctx->progress = opt.progress;
    ctx->progress_user = opt.progress_user;
    atomic_init(&ctx->stage_done, 0);
    atomic_init(&ctx->progress_next_ns, 0);
    atomic_flag_clear(&ctx->progress_busy);
    *out = ctx;
    return KN_OK;
}

void kn_context_free(kn_context *ctx)
{
    if (!ctx) return;
    kn_pool_stop(ctx);
    kn_allocator allocator = ctx->allocator;
    allocator.release(allocator.user, ctx, sizeof *ctx);
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
    enum { LONGEST = 1000000000 }; /* some thirty years: beyond that there is none */
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
    return atomic_load_explicit(&ctx->memory_used, memory_order_relaxed);
}

uint64_t kn_context_memory_peak(const kn_context *ctx)
{
    return atomic_load_explicit(&ctx->memory_peak, memory_order_relaxed);
}

static void report(kn_context *ctx, uint64_t now, bool finished)
{
    kn_progress p = {ctx->stage,
                     ctx->unit,
                     atomic_load_explicit(&ctx->stage_done, memory_order_relaxed),
                     ctx->stage_total,
                     (double)(now - ctx->stage_start_ns) / 1e9,
                     finished};
    ctx->progress(ctx->progress_user, &p);
}

void kn_progress_begin(kn_context *ctx, const char *stage, const char *unit, uint64_t total)
{
    if (!ctx->progress) return;
    ctx->stage = stage;
    ctx->unit = unit;
    ctx->stage_total = total;
    ctx->stage_start_ns = kn_clock_ns();
    atomic_store(&ctx->stage_done, 0);
    atomic_store(&ctx->progress_next_ns, ctx->stage_start_ns + PROGRESS_INTERVAL_NS);
}

void kn_progress_add(kn_context *ctx, uint64_t amount)
{
    if (!ctx->progress || !ctx->stage) return;
    atomic_fetch_add_explicit(&ctx->stage_done, amount, memory_order_relaxed);
    uint64_t now = kn_clock_ns();
    if (now < atomic_load_explicit(&ctx->progress_next_ns, memory_order_relaxed)) return;
    if (atomic_flag_test_and_set_explicit(&ctx->progress_busy, memory_order_acquire)) return;
    atomic_store_explicit(&ctx->progress_next_ns, now + PROGRESS_INTERVAL_NS, memory_order_relaxed);
    report(ctx, now, false);
    atomic_flag_clear_explicit(&ctx->progress_busy, memory_order_release);
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

const char *kn_path_name(const kn_context *ctx, const char *path)
{
    for (const kn_alias *a = ctx->aliases; a; a = a->next)
        if (strcmp(a->path, path) == 0) return a->name;
    return strcmp(path, "-") == 0 ? "(standard input)" : path;
}
