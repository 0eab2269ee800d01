/* kn_context.h: the inside of a context. Only src/base includes the fields; other modules use the functions. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_CONTEXT_H
#define KN_CONTEXT_H

#include <kanon/context.h>
#include <pthread.h>
#include <stdatomic.h>

#include "kn_error.h"
#include "kn_meter.h"

struct kn_pool;
struct kn_memory;
struct kn_engine;

/* The name in messages of a path that the user never gave: the copy of a stream; and how a table of a server is read
 * while a call lasts. */
typedef struct kn_alias {
    const char      *path, *name;
    const char      *snapshot; /* of a server: the state to read; NULL: the current one                     */
    const void      *table;    /* one that is not committed yet (kn_table_stream.h); NULL: by its path     */
    struct kn_alias *next;
} kn_alias;

struct kn_context {
    kn_allocator     allocator;
    uint64_t         memory_limit; /* 0: none */
    _Atomic uint64_t held;         /* bytes of memory, and KN_HOLD for each other reason to stay alive; 0: freed */
    _Atomic uint64_t memory_peak;
    atomic_bool      cancelled;
    _Atomic uint64_t deadline_ns; /* work stops then as if cancelled; 0: none */
    int              threads;
    _Atomic(struct kn_pool *) pool; /* started on first use, and again after fork */
    kn_alias        *aliases;
    struct kn_engine *engines; /* of the program, by name; NULL: none               */
    struct kn_memory *memory; /* names in memory; NULL: such names mean files       */

    /* The running call. */
    _Atomic uint64_t owner;       /* process and thread that called; 0: none                       */
    int              depth;       /* the owner's: depth of public functions that call each other   */
    bool             in_callback; /* the owner's: a callback of the program is running             */
    atomic_bool      given_up;    /* the handle was freed: the last call ends workers and names          */

    kn_progress_fn   progress;
    void            *progress_user;
    const char      *stage; /* of the current stage; NULL between stages   */
    const char      *unit;
    uint64_t         stage_total;
    uint64_t         stage_start_ns;
    _Atomic uint64_t stage_done;
    kn_meter         meter;
    pthread_t        stage_thread;     /* the only one that calls back */
    uint64_t         progress_next_ns; /* no callback before this time */
};

/* A context lives as long as something is held: its handle, a running call, any byte of its memory. One number counts
 * all three, so that whoever releases the last one knows, without a lock. */
#define KN_HOLD (UINT64_C(1) << 56)

/* Releases this many bytes, or KN_HOLD; the context may be freed by this. */
void kn_context_let_go(kn_context *ctx, uint64_t what);

/* Adds an alias, which is borrowed until it is removed. Only while no call is running. */
void kn_alias_add(kn_context *ctx, kn_alias *alias);
void kn_alias_remove(kn_context *ctx, const kn_alias *alias);

/* The alias of a path; NULL: none. */
const kn_alias *kn_alias_find(const kn_context *ctx, const char *path);

/* The name of a path in messages: its alias, "(standard input)" for "-", or itself. */
const char *kn_path_name(const kn_context *ctx, const char *path);

/* Where the context's memory comes from, for what outlives the context (documents). */
kn_allocator kn_context_allocator(const kn_context *ctx);

/* True once kn_context_cancel was called or the deadline has passed; long loops ask every few thousand steps. */
bool kn_cancelled(const kn_context *ctx);

/* Only the first of the two. */
bool kn_cancel_requested(const kn_context *ctx);

/* Sets a deadline in seconds from now; work then ends with KN_CANCELLED. 0 or less: none. Only while no call is
 * running. */
void kn_deadline_set(kn_context *ctx, double seconds);

/* Was a memory limit given? */
bool kn_memory_limited(const kn_context *ctx);

/* KN_CANCELLED with its message. */
kn_status kn_fail_cancelled(kn_error *err);

/* A stage of work with a known (or 0: unknown) amount to do. Stages do not nest. Any worker may call `add`, but the
 * callback runs on the thread that called the library: when that adds something itself, or checks whether it is time. */
void kn_progress_begin(kn_context *ctx, const char *stage, const char *unit, uint64_t total);
void kn_progress_add(kn_context *ctx, uint64_t amount);
void kn_progress_look(kn_context *ctx);
void kn_progress_end(kn_context *ctx);

/* ---- One call at a time ---- */

/* A public function that takes a context begins with KN_SERVE (after `*out = NULL`): the context serves it until it
 * returns. While another thread's call or a callback of the program is running, the function returns KN_BUSY. Public
 * functions that call each other, on the same thread or on workers, are one call. */
#define KN_SERVE(ctx, err)                                                                                             \
    __attribute__((cleanup(kn_context_served))) kn_context *kn_served_ = NULL;                                         \
    KN_TRY(kn_context_serve(&kn_served_, (ctx), (err)))

KN_CHECK kn_status kn_context_serve(kn_context **served, kn_context *ctx, kn_error *err);
void               kn_context_served(kn_context **served);

/* How many processors this process may use; at least 1. */
int kn_usable_processors(void);

#endif
