/* kn_output.h: where results go: a file that appears whole or not at all, or a stream.
 *
 *     kn_output_open(&out, ctx, path, NULL, err);
 *     kn_output_write(out, data, size);          // as often as needed; a failure is remembered
 *     kn_output_flush(out, err); // only to read the temporary file before it is committed
 *     kn_output_commit(out, err);                // or kn_output_abort(out): either ends the output
 *
 * A file is written under a temporary name in the folder of its target (mode 0600) and renamed at the end, so a
 * reader sees the old file or the new one, and a failed run leaves the old one untouched. "-" is standard output; it
 * and an existing path that is neither a file nor a folder (/dev/null, a pipe) are streams: written directly, nothing
 * can be undone. An output is used by one thread at a time. Writing to a closed pipe is KN_IO, never a signal.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_OUTPUT_H
#define KN_OUTPUT_H

#include <kanon/context.h>

#include "kn_buffer.h"

typedef struct kn_output kn_output;

typedef struct kn_output_options {
    unsigned mode; /* permission bits of the new file; 0: those of the file it replaces, else 0666 less the umask */
} kn_output_options;

/* Opens an output; `options` may be NULL. KN_USAGE for a folder or an empty path; KN_IO where the target's folder is
 * missing or not writable. */
KN_CHECK kn_status kn_output_open(kn_output **out, kn_context *ctx, const char *path, const kn_output_options *options,
                                  kn_error *err);

/* Takes the bytes instead of a file: `take` is called by one thread at a time. */
typedef struct kn_output_consumer {
    void *state;
    kn_status (*take)(void *state, const char *data, size_t size, kn_error *err);
} kn_output_consumer;

/* An output whose bytes go to a consumer. `path`: under which they can be read again (kn_output_temporary). It has no
 * commit: it is ended by kn_output_abort. */
KN_CHECK kn_status kn_output_open_consumer(kn_output **out, kn_context *ctx, const char *path,
                                           kn_output_consumer consumer, kn_error *err);

/* Appends bytes. After a failure nothing more is written; flush and commit report it. */
void kn_output_write(kn_output *output, const void *data, size_t size);

/* Hands all bytes to the system and reports the first failure. */
KN_CHECK kn_status kn_output_flush(kn_output *output, kn_error *err);

/* Makes an output in memory, to which nothing was written, an object instead of bytes (kn_memory_adopt_object), which it is under
 * its temporary name from now on. `end` frees it, also on failure. */
KN_CHECK kn_status kn_output_hold(kn_output *output, const char *kind, void *object, void (*end)(void *object),
                                  kn_error *err);

/* Of an output in memory: whatever its commit needs is there, and it will not fail. Nothing may be written afterwards. */
KN_CHECK kn_status kn_output_prepare(kn_output *output, kn_error *err);

bool     kn_output_in_memory(const kn_output *output); /* its name is one in memory (kn_memory.h)                    */
bool     kn_output_is_stream(const kn_output *output); /* what was written cannot be undone                          */
const char *kn_output_temporary(
    const kn_output *output);              /* absolute path of the temporary file; NULL for a stream     */
int kn_output_fd(const kn_output *output); /* open for reading too, except a stream; kept by the output  */

/* For a commit of several files at once (kn_set.h): syncs everything; the final name and permissions; ends the output
 * and leaves the temporary file to the caller, who gives it its name. */
KN_CHECK kn_status kn_output_sync(kn_output *output, kn_error *err);
const char        *kn_output_target(const kn_output *output); /* absolute; NULL for a stream */
unsigned           kn_output_mode(const kn_output *output);
void               kn_output_detach(kn_output *output);

/* Syncs the rest and gives the file its name. Ends the output, even on failure: the temporary file is then removed
 * and the target unchanged. */
KN_CHECK kn_status kn_output_commit(kn_output *output, kn_error *err);

/* Commits if `made` is KN_OK; otherwise aborts and returns `made`. */
KN_CHECK kn_status kn_output_finish(kn_output *output, kn_status made, kn_error *err);

/* The permissions that new files and folders of the process do not get. */
unsigned kn_output_umask(void);

/* Removes the temporary file and ends the output; NULL is fine. */
void kn_output_abort(kn_output *output);

/* Makes one piece of the output as text. */
typedef kn_status (*kn_piece_fn)(void *arg, int64_t piece, kn_buffer *to, kn_error *err);

/* Makes pieces 0 .. count - 1 in parallel and writes them one behind the other: into a file in parallel too, elsewhere in their order.
 * Holds one piece per thread at a time. Of pieces that fail the first counts. */
KN_CHECK kn_status kn_output_pieces(kn_output *output, int64_t count, kn_piece_fn fn, void *arg, kn_error *err);

#endif
