/* kanon/context.h: the one object every job hangs from: memory, threads, progress, cancellation.
 *
 * A context serves one call at a time, of any thread (it brings its own workers), and answers others with KN_BUSY; only
 * kn_context_cancel may be called at any time, also from a signal handler. What was created with a context keeps it alive:
 * context, tables, results and exported Arrow data may be freed in any order and by any thread.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KANON_CONTEXT_H
#define KANON_CONTEXT_H

#include <kanon/status.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct kn_context kn_context;

/* Where memory comes from. `alloc` returns storage aligned to 16 bytes or NULL; `resize` behaves like realloc;
 * `release` is never called with NULL. All three are called from several threads at once, until the last of what was made
 * with the context is freed. */
typedef struct kn_allocator {
    void *(*alloc)(void *user, size_t size);
    void *(*resize)(void *user, void *block, size_t old_size, size_t new_size);
    void (*release)(void *user, void *block, size_t size);
    void *user;
} kn_allocator;

/* What a progress callback is told. `total` is 0 where it is not known. */
typedef struct kn_progress {
    const char *stage; /* "reading", "grouping", ... static strings */
    const char *unit;  /* "bytes", "rows", ...                      */
    uint64_t    done;
    uint64_t    total;
    double      seconds; /* since the stage began */
    bool        finished;
} kn_progress;

/* Called a few times a second at most, on the thread that called the library; of that context it may only cancel. */
typedef void (*kn_progress_fn)(void *user, const kn_progress *progress);

typedef struct kn_context_options {
    size_t              size;         /* sizeof(kn_context_options), set by the initializer */
    int                 threads;      /* 0: as many as the process may run on               */
    uint64_t            memory_limit; /* bytes; 0: none                                     */
    const kn_allocator *allocator;    /* NULL: malloc                                       */
    kn_progress_fn      progress;     /* NULL: silent                                       */
    void               *progress_user;
} kn_context_options;

#define KN_CONTEXT_OPTIONS_INIT {sizeof(kn_context_options), 0, 0, NULL, NULL, NULL}

/* Every struct of options has such an initializer, for programs that cannot use the macro: `size` is sizeof *options. It sets
 * the size and the defaults. */
KN_API void kn_context_options_init(kn_context_options *options, size_t size);

/* Creates a context. `options` may be NULL. Threads start on first use. */
KN_API KN_CHECK kn_status kn_context_create(kn_context **out, const kn_context_options *options, kn_error *err);

/* Gives the context up: its workers end, and it is freed with the last of what was made with it. NULL is fine. */
KN_API void kn_context_free(kn_context *ctx);

/* Asks all work in the context to stop; it returns KN_CANCELLED soon. Async-signal-safe. */
KN_API void kn_context_cancel(kn_context *ctx);

/* Takes a request to cancel back, so that the context can be used again. */
KN_API void kn_context_reset_cancel(kn_context *ctx);

KN_API int      kn_context_threads(const kn_context *ctx);
KN_API uint64_t kn_context_memory_used(const kn_context *ctx); /* bytes held now          */
KN_API uint64_t kn_context_memory_peak(const kn_context *ctx); /* the most held at a time */

#ifdef __cplusplus
}
#endif

#endif
