/* kn_memory.h: what a context holds under the names "memory:NAME" (kanon/memory.h).
 *
 * Bytes lie in files without a place on a disk (memfd_create), so that whoever reads a file by its path reads them too: the path
 * is that of their descriptor below /proc. Anything else, such as Arrow batches, is an object with a function that frees it.
 * Names may be looked up by any thread; they change only while nothing is under way in the context, and at the end of a run.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_MEMORY_H
#define KN_MEMORY_H

#include <kanon/memory.h>

/* Does the name stand for something in memory, there or not? Always false in a context without such names. */
bool kn_memory_is(const kn_context *ctx, const char *name);

/* Where the bytes of a path are: of a name in memory its file below /proc, which stays as long as the name; "", which no file is
 * called, where the name holds no bytes or is not there; of anything else the path itself. */
const char *kn_memory_path(const kn_context *ctx, const char *path);

/* Is there something of this name, bytes or an object? */
bool kn_memory_there(const kn_context *ctx, const char *name);

/* A new file without a place on a disk; -1: errno says why. */
int kn_memory_file(void);

/* Gives bytes their name: `fd` is the context's from now on, also on failure; `size` bytes were charged (kn_memory_charge). */
KN_CHECK kn_status kn_memory_adopt(kn_context *ctx, const char *name, int fd, uint64_t size, kn_error *err);

/* An object under a name. `end` frees it, also on failure. `kind` is a text by its address: whoever asks for another kind gets
 * NULL. */
typedef void (*kn_memory_end_fn)(void *object);
KN_CHECK kn_status kn_memory_adopt_object(kn_context *ctx, const char *name, const char *kind, void *object,
                                          kn_memory_end_fn end, kn_error *err);
void              *kn_memory_object(const kn_context *ctx, const char *name, const char *kind);

/* A name that will be given and cannot fail to be: whatever can fail is done beforehand. `kn_memory_keep` gives it, to bytes as
 * kn_memory_adopt does or (`fd` -1) to the object of another name; either of both ends the promise, NULL is fine for the latter. */
typedef struct kn_memory_promise kn_memory_promise;
KN_CHECK kn_status kn_memory_make_promise(kn_memory_promise **out, kn_context *ctx, const char *name, kn_error *err);
void               kn_memory_keep(kn_memory_promise *promise, int fd, uint64_t size, const char *from);
void               kn_memory_break(kn_memory_promise *promise);

/* Gives all names that begin with `from` the beginning `to` instead, which must not begin with `from`; what had those names ends. */
KN_CHECK kn_status kn_memory_rename(kn_context *ctx, const char *from, const char *to, kn_error *err);

#endif
