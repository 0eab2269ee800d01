/* kn_meter.h: work and span of what a context does: how far more processors could help.
 *
 * Work is the processor time of all its threads; span that of the longest chain of steps that wait for each other: what
 * the calling thread does alone, and of each parallel section (kn_parallel.h) its longest range. No number of processors
 * is faster than the span, and work / span is how many can be of use. Both are processor times, so that a busy machine
 * does not change them, nor does the number of threads (but where that decides into how many ranges something is cut).
 *
 * A section inside a range is run by the thread of that range, and so counts as a part of it; unless others may help
 * (kn_parallel_share): then its longest range counts. A section of one range is no section: those inside it count. Not
 * counted: threads of libraries (DuckDB), and waiting for files and servers.
 *
 * The meter counts for the thread that started it, between kn_meter_start and kn_meter_stop.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_METER_H
#define KN_METER_H

#include <kanon/context.h>
#include <pthread.h>

typedef struct kn_effort {
    uint64_t work, span; /* nanoseconds */
} kn_effort;

/* The two clocks, in nanoseconds: of the calling thread's processor time, and a cheap one that never runs slower. */
typedef struct kn_meter_clocks {
    uint64_t (*processor)(void);
    uint64_t (*wall)(void);
} kn_meter_clocks;

typedef struct kn_laps kn_laps;

typedef struct kn_meter {
    bool            on, inside; /* inside: a section is running */
    pthread_t       thread;
    uint64_t        mark; /* its processor time up to here is counted */
    kn_effort       sum;
    kn_meter_clocks clocks;
    kn_laps        *laps; /* of that thread in the section that is running */
} kn_meter;

void kn_meter_start(kn_context *ctx, const kn_meter_clocks *clocks); /* NULL: the machine's */
void kn_meter_stop(kn_context *ctx);

/* What was done since it was started; for the thread that did, outside of sections. {0, 0} if it was not. */
kn_effort kn_meter_read(kn_context *ctx);

/* A thread beside the pool: started when the span was `since`, joined now, with `used` of processor time. */
void     kn_meter_join(kn_context *ctx, uint64_t since, uint64_t used);
uint64_t kn_meter_thread_ns(void); /* the calling thread's processor time */

/* ---- For kn_parallel.c ---- */

/* One thread in a section. */
struct kn_laps {
    uint64_t begin, read, end;    /* processor: at the beginning, when it was last read; at the end */
    uint64_t wall_read, wall_lap; /* wall: then, and at the end of the last range        */
    uint64_t slowest;             /* wall: the longest range since then                  */
    uint64_t longest;             /* the longest range                                   */
    /* Sections inside its ranges that others may help with: */
    uint64_t apart, inside;     /* since `read`: their longest ranges; what this thread spent in them  */
    uint64_t shared, in_shared; /* the work in all of them; what this thread spent there               */
};

bool kn_meter_enter(kn_context *ctx); /* false: nothing of this section is to be measured */
void kn_meter_leave(kn_context *ctx, uint64_t work, uint64_t longest);

void kn_laps_begin(const kn_context *ctx, kn_laps *laps);
void kn_laps_next(const kn_context *ctx, kn_laps *laps); /* a range has ended */
void kn_laps_end(const kn_context *ctx, kn_laps *laps);

/* In a range, since the processor clock said `since`: a section that others may have helped with. */
void kn_laps_share(const kn_context *ctx, kn_laps *laps, uint64_t since, uint64_t work, uint64_t longest);

/* The work of these laps. */
static inline uint64_t kn_laps_work(const kn_laps *laps)
{
    return laps->end - laps->begin - laps->in_shared + laps->shared;
}

/* The calling thread's own laps: what it did before them it did alone. */
void kn_meter_lapped(kn_context *ctx, const kn_laps *laps);

/* The calling thread has been waiting for the others since its processor clock said so: that is no work. */
void kn_meter_waited(kn_context *ctx, uint64_t since);

#endif
