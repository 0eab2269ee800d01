/* kn_beside.h: a piece of work on a thread of its own, beside the pool's: for what cannot be divided and that nobody waits
 * for until later (a digest, a copy that one thread writes).
 *
 * Started and ended by the thread that runs the call. The piece may allocate and ask whether it was cancelled, but reports no
 * progress and starts no parallel section.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_BESIDE_H
#define KN_BESIDE_H

#include <kanon/context.h>
#include <pthread.h>

typedef struct kn_beside {
    kn_context *ctx;
    void (*run)(void *arg);
    void      *arg;
    pthread_t  thread;
    bool       running, pending; /* pending: no thread could be started */
    uint64_t   since, used;      /* for the meter (kn_meter.h)          */
} kn_beside;

/* Both are the caller's until kn_beside_end. If no thread can be started, kn_beside_end runs it. */
void kn_beside_start(kn_beside *beside, kn_context *ctx, void (*run)(void *arg), void *arg);

/* Waits for it. Nothing is done for one that was not started (zeroes), or was ended already. */
void kn_beside_end(kn_beside *beside);

#endif
