/* kn_source.h: bytes from a file, standard input, gzip or zstd, front to back; of other tables, the bytes of a CSV file. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_SOURCE_H
#define KN_SOURCE_H

#include "kn_buffer.h"

typedef struct kn_source kn_source;

/* Opens a path ("-": standard input), or a table by its name (kn_table_stream.h). Compression is recognized by the first
 * bytes. */
KN_CHECK kn_status kn_source_open(kn_source **out, kn_context *ctx, const char *path, kn_error *err);
void               kn_source_free(kn_source *source);

/* Reads up to `size` bytes; fewer only at the end of the input, where *got is 0 in the next call. Large reads of plain
 * files run in parallel. */
KN_CHECK kn_status kn_source_read(kn_source *source, char *buffer, size_t size, size_t *got, kn_error *err);

/* Appends the rest to `to`, but stops once that holds more than `most` bytes. */
KN_CHECK kn_status kn_source_read_all(kn_source *source, kn_buffer *to, size_t most, kn_error *err);

/* After everything is read: what a compressed file holds besides the data (a comment, a second member, a skipped
 * frame), in words; NULL: nothing. */
const char *kn_source_wrapped(const kn_source *source);

/* Is what is read the file's own bytes? */
bool kn_source_plain(const kn_source *source);

/* What stands between the cells; '\0': nobody knows, it is a text file. */
char kn_source_delimiter(const kn_source *source);

/* The name for messages (kn_path_name). */
const char *kn_source_name(const kn_source *source);

/* Bytes on disk (0: unknown) and how many of them have been consumed: for progress. */
uint64_t kn_source_size(const kn_source *source);
uint64_t kn_source_consumed(const kn_source *source);

#endif
