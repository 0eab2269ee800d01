/* kn_parallel.h: the context's thread pool.
 *
 * Work is cut into ranges that are handed out in ascending order. If ranges fail, the error of the lowest failing range
 * is returned, so that the message does not depend on the number of threads. A call from inside a range runs inline,
 * or with the help of threads that have nothing else to do (kn_parallel_share).
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_PARALLEL_H
#define KN_PARALLEL_H

#include <kanon/context.h>

/* One range [begin, end) on worker 0 <= worker < kn_context_threads(ctx). The same worker never runs two ranges at
 * once, so per-worker scratch needs no lock. */
typedef kn_status (*kn_range_fn)(void *arg, int64_t begin, int64_t end, int worker, kn_error *err);

/* Runs fn over [0, n) in ranges of `grain` (>= 1). KN_CANCELLED if the context was cancelled meanwhile. */
KN_CHECK kn_status kn_parallel_for(kn_context *ctx, int64_t n, int64_t grain, kn_range_fn fn, void *arg, kn_error *err);

/* The same for a range that may be too long for one thread, from inside it, on `worker`: threads that find no range of the
 * section it belongs to help. They are in no range then, so that they may use scratch of their own for it. Outside of any
 * section as kn_parallel_for, with worker 0. The ranges of one that is shared cannot share. */
KN_CHECK kn_status kn_parallel_share(kn_context *ctx, int worker, int64_t n, int64_t grain, kn_range_fn fn, void *arg,
                                     kn_error *err);

/* Ends the workers; the pool starts again on the next use. */
void kn_pool_stop(kn_context *ctx);

/* Is the calling thread one of the workers? */
bool kn_pool_has(kn_context *ctx);

#endif
