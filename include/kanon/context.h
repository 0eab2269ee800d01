/* kanon/context.h: the object that every job runs in: memory, threads, progress, cancellation.
 *
 * A context serves one call at a time, from any thread (it has its own workers); other calls return KN_BUSY. Only
 * kn_context_cancel may be called at any time, even from a signal handler. What was created with a context keeps it
 * alive: context, tables, results and exported Arrow data may be freed in any order and by any thread.
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
 * `release` is never called with NULL. All three are called from several threads at once, until everything that was
 * made with the context is freed. */
typedef struct kn_allocator {
    void *(*alloc)(void *user, size_t size);
    void *(*resize)(void *user, void *block, size_t old_size, size_t new_size);
    void (*release)(void *user, void *block, size_t size);
    void *user;
} kn_allocator;

/* What a progress callback receives. `total` is 0 if unknown. */
typedef struct kn_progress {
    const char *stage; /* "reading", "grouping", ... static strings */
    const char *unit;  /* "bytes", "rows", ...                      */
    uint64_t    done;
    uint64_t    total;
    double      seconds; /* since the stage began */
    bool        finished;
} kn_progress;

/* Called at most a few times a second, on the thread that called the library; the only call it may make on that
 * context is kn_context_cancel. */
typedef void (*kn_progress_fn)(void *user, const kn_progress *progress);

typedef struct kn_context_options {
    size_t              size;         /* sizeof(kn_context_options), set by the initializer */
    int                 threads;      /* 0: as many as processors are available             */
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

/* Ends the context's workers; the context is freed together with the last object that was made with it. NULL is fine. */
KN_API void kn_context_free(kn_context *ctx);

/* Asks all work in the context to stop; it returns KN_CANCELLED soon. Async-signal-safe. */
KN_API void kn_context_cancel(kn_context *ctx);

/* Clears a request to cancel, so that the context can be used again. */
KN_API void kn_context_reset_cancel(kn_context *ctx);

KN_API int      kn_context_threads(const kn_context *ctx);
KN_API uint64_t kn_context_memory_used(const kn_context *ctx); /* bytes held now          */
KN_API uint64_t kn_context_memory_peak(const kn_context *ctx); /* the maximum so far      */

#ifdef __cplusplus
}
#endif

#endif
