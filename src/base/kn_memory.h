/* kn_memory.h: what a context stores under the names "memory:NAME" (kanon/memory.h).
 *
 * Bytes are in anonymous files (memfd_create), so that code that reads a file by its path reads them too: the path is
 * that of the descriptor below /proc. Anything else, such as Arrow batches, is an object with a function that frees
 * it. Names may be looked up by any thread; they change only while the context is idle, and at the end of a run.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_MEMORY_H
#define KN_MEMORY_H

#include <kanon/memory.h>

/* Is it a name in memory, whether or not it exists? Always false in a context without such names. */
bool kn_memory_is(const kn_context *ctx, const char *name);

/* The path to read bytes from. For a name in memory: its file below /proc, valid as long as the name, or "", which is
 * never a file, if the name does not exist or holds no bytes. For anything else: the path itself. */
const char *kn_memory_path(const kn_context *ctx, const char *path);

/* Does this name exist, as bytes or as an object? */
bool kn_memory_there(const kn_context *ctx, const char *name);

/* A new anonymous file; -1: see errno. */
int kn_memory_file(void);

/* An object under a name. `end` frees it, also on failure. `kind` is compared by address: asking for another kind
 * gives NULL. */
typedef void (*kn_memory_end_fn)(void *object);
KN_CHECK kn_status kn_memory_adopt_object(kn_context *ctx, const char *name, const char *kind, void *object,
                                          kn_memory_end_fn end, kn_error *err);
void              *kn_memory_object(const kn_context *ctx, const char *name, const char *kind);

/* A name whose assignment cannot fail: whatever can fail is done beforehand. kn_memory_keep assigns it, to the `size` bytes
 * of a file that the context takes over, and that were charged (kn_memory_charge), or (`fd` -1) to the object of another name.
 * kn_memory_keep and kn_memory_break both end the promise; the latter accepts NULL. */
typedef struct kn_memory_promise kn_memory_promise;
KN_CHECK kn_status kn_memory_make_promise(kn_memory_promise **out, kn_context *ctx, const char *name, kn_error *err);
void               kn_memory_keep(kn_memory_promise *promise, int fd, uint64_t size, const char *from);
void               kn_memory_break(kn_memory_promise *promise);

/* Replaces the prefix `from` of all names that have it by `to`, which must not begin with `from`; frees what had the
 * new names. */
KN_CHECK kn_status kn_memory_rename(kn_context *ctx, const char *from, const char *to, kn_error *err);

#endif
