/* kn_beside.c: a piece of work on a thread of its own (see kn_beside.h). */
/* SPDX-License-Identifier: Apache-2.0 */
#include "kn_beside.h"

#include <signal.h>

#include "kn_meter.h"

static void *run(void *arg)
{
    kn_beside *beside = arg;
    uint64_t   begin = kn_meter_thread_ns();
    beside->run(beside->arg);
    beside->used = kn_meter_thread_ns() - begin;
    return NULL;
}

void kn_beside_start(kn_beside *beside, kn_context *ctx, void (*fn)(void *arg), void *arg)
{
    sigset_t all, before;
    *beside = (kn_beside){.ctx = ctx, .run = fn, .arg = arg, .since = kn_meter_read(ctx).span};
    /* The program's handlers of signals run on its own threads. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    beside->running = pthread_create(&beside->thread, NULL, run, beside) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    beside->pending = !beside->running;
}

void kn_beside_end(kn_beside *beside)
{
    if (beside->running) {
        pthread_join(beside->thread, NULL);
        kn_meter_join(beside->ctx, beside->since, beside->used);
    } else if (beside->pending) {
        beside->run(beside->arg);
    }
    beside->running = beside->pending = false;
}
