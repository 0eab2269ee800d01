/* kn_context.h: the inside of a context. Only src/base includes the fields; other modules use the functions. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_CONTEXT_H
#define KN_CONTEXT_H

#include <kanon/context.h>
#include <stdatomic.h>

struct kn_pool;

/* What messages call a path that the user never gave: the copy of a stream. */
typedef struct kn_alias {
    const char      *path, *name;
    struct kn_alias *next;
} kn_alias;

struct kn_context {
    kn_allocator     allocator;
    uint64_t         memory_limit; /* 0: none */
    _Atomic uint64_t memory_used;
    _Atomic uint64_t memory_peak;
    atomic_bool      cancelled;
    _Atomic uint64_t deadline_ns; /* work stops then as if cancelled; 0: none */
    int              threads;
    struct kn_pool  *pool; /* started on first use, forgotten after fork */
    kn_alias        *aliases;

    kn_progress_fn   progress;
    void            *progress_user;
    const char      *stage; /* of the stage under way; NULL between stages */
    const char      *unit;
    uint64_t         stage_total;
    uint64_t         stage_start_ns;
    _Atomic uint64_t stage_done;
    _Atomic uint64_t progress_next_ns; /* no callback before this time */
    atomic_flag      progress_busy;
};

/* Adds an alias, which is borrowed until it is removed; while nothing is under way in the context. */
void kn_alias_add(kn_context *ctx, kn_alias *alias);
void kn_alias_remove(kn_context *ctx, const kn_alias *alias);

/* What messages call a path: its alias, "(standard input)" for "-", or itself. */
const char *kn_path_name(const kn_context *ctx, const char *path);

/* Where the context's memory comes from, for what outlives the context (documents). */
kn_allocator kn_context_allocator(const kn_context *ctx);

/* True once kn_context_cancel was called or the deadline has passed; long loops ask every few thousand steps. */
bool kn_cancelled(const kn_context *ctx);

/* Only the first of the two: somebody asked to stop. */
bool kn_cancel_requested(const kn_context *ctx);

/* From now on work may take so many seconds; then it ends with KN_CANCELLED. 0 or less: as long as it likes. Only while
 * nothing is under way in the context. */
void kn_deadline_set(kn_context *ctx, double seconds);

/* Was a memory limit given? */
bool kn_memory_limited(const kn_context *ctx);

/* KN_CANCELLED with its message. */
kn_status kn_fail_cancelled(kn_error *err);

/* A stage of work with a known (or 0: unknown) amount to do. Stages do not nest; `add` may be called by any worker. */
void kn_progress_begin(kn_context *ctx, const char *stage, const char *unit, uint64_t total);
void kn_progress_add(kn_context *ctx, uint64_t amount);
void kn_progress_end(kn_context *ctx);

#endif
