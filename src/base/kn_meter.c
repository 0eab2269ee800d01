/* kn_meter.c: work and span (see kn_meter.h).
 *
 * A thread's processor clock costs a system call, 0.3 us; the wall clock a tenth of that. So the wall clock is read after each
 * range and the processor clock after those 50 us or more since it was last read. Of ranges between two readings the
 * longest took no more than its wall time, nor than all of them together: the smaller bound is taken. It is exact for a
 * range of 50 us, and otherwise at most as much too long as the machine took the processor away within these 50 us.
 *
 * Cost: two readings per thread and section, one per 50 us of ranges; nothing inside ranges.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_meter.h"

#include <time.h>

#include "kn_clock.h"
#include "kn_context.h"

enum { READ_NS = 50000 };

uint64_t kn_meter_thread_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void kn_meter_start(kn_context *ctx, const kn_meter_clocks *clocks)
{
    kn_meter *m = &ctx->meter;
    *m = (kn_meter){.on = true, .thread = pthread_self(), .clocks = {kn_meter_thread_ns, kn_clock_ns}};
    if (clocks) m->clocks = *clocks;
    m->mark = m->clocks.processor();
}

void kn_meter_stop(kn_context *ctx)
{
    ctx->meter.on = false;
}

/* What the calling thread did alone until now. */
static void count_alone(kn_meter *m, uint64_t now)
{
    m->sum.work += now - m->mark;
    m->sum.span += now - m->mark;
    m->mark = now;
}

kn_effort kn_meter_read(kn_context *ctx)
{
    kn_meter *m = &ctx->meter;
    if (!m->on) return (kn_effort){0, 0};
    if (!m->inside && pthread_equal(m->thread, pthread_self())) count_alone(m, m->clocks.processor());
    return m->sum;
}

void kn_meter_join(kn_context *ctx, uint64_t since, uint64_t used)
{
    if (!ctx->meter.on) return;
    kn_effort now = kn_meter_read(ctx);
    ctx->meter.sum.work += used;
    if (since + used > now.span) ctx->meter.sum.span = since + used;
}

bool kn_meter_enter(kn_context *ctx)
{
    kn_meter *m = &ctx->meter;
    if (!m->on || m->inside || !pthread_equal(m->thread, pthread_self())) return false;
    m->inside = true;
    return true;
}

void kn_meter_leave(kn_context *ctx, uint64_t work, uint64_t longest)
{
    ctx->meter.sum.work += work;
    ctx->meter.sum.span += longest;
    ctx->meter.inside = false;
}

void kn_meter_lapped(kn_context *ctx, const kn_laps *laps)
{
    count_alone(&ctx->meter, laps->begin);
    ctx->meter.mark = laps->end;
}

void kn_meter_waited(kn_context *ctx, uint64_t since)
{
    ctx->meter.mark += ctx->meter.clocks.processor() - since;
}

void kn_laps_begin(const kn_context *ctx, kn_laps *laps)
{
    const kn_meter_clocks *clocks = &ctx->meter.clocks;
    uint64_t               now = clocks->processor(), wall = clocks->wall();
    *laps = (kn_laps){.begin = now, .read = now, .end = now, .wall_read = wall, .wall_lap = wall};
}

/* Since they were last read. Others may have done all of it: then this thread spent nothing there. */
static bool has_shared(const kn_laps *laps)
{
    return laps->inside > 0 || laps->apart > 0;
}

static void read_processor(const kn_context *ctx, kn_laps *laps)
{
    uint64_t now = ctx->meter.clocks.processor(), used = now - laps->read;
    uint64_t longest = laps->slowest < used ? laps->slowest : used;
    if (has_shared(laps)) longest = used - laps->inside + laps->apart; /* the wall clock knows nothing of others */
    if (longest > laps->longest) laps->longest = longest;
    laps->read = now;
    laps->wall_read = laps->wall_lap;
    laps->slowest = laps->apart = laps->inside = 0;
}

void kn_laps_share(const kn_context *ctx, kn_laps *laps, uint64_t since, uint64_t work, uint64_t longest)
{
    uint64_t spent = ctx->meter.clocks.processor() - since;
    laps->inside += spent;
    laps->in_shared += spent;
    laps->apart += longest;
    laps->shared += work;
}

void kn_laps_next(const kn_context *ctx, kn_laps *laps)
{
    uint64_t wall = ctx->meter.clocks.wall(), took = wall - laps->wall_lap;
    laps->wall_lap = wall;
    if (took > laps->slowest) laps->slowest = took;
    if (wall - laps->wall_read >= READ_NS || has_shared(laps)) read_processor(ctx, laps);
}

void kn_laps_end(const kn_context *ctx, kn_laps *laps)
{
    if (laps->wall_lap != laps->wall_read) read_processor(ctx, laps);
    laps->end = laps->read;
}
