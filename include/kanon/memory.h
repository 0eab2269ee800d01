/* kanon/memory.h: inputs and outputs in memory instead of files.
 *
 * A context may hold bytes and tables under names of its own, "memory:NAME". Once it does, every function of the
 * library that takes the name of a file takes such a name: inputs, hierarchies, populations and queries of a spec, a
 * folder of tables ("memory:NAME/" for "memory:NAME/patients.csv" and its like), a file of records, a release, its
 * row map, a report. The files that accompany a release get names in memory too: "memory:out.certificate.json", ...
 * They all appear at once, after verification; nothing is written to disk.
 *
 * A table that is released to a name without an ending ("memory:out") becomes columns: Arrow batches that are made
 * directly from the release, verified and handed out unchanged. With an ending ("memory:out.csv") it becomes the
 * bytes of that file. Cells, certificate and public report are the same; the digest of columns is that of the CSV
 * file with the same cells (commas, LF, quotes only where needed). Counted rows have a column of int64 behind the
 * others.
 *
 *     kn_memory_put_arrow(ctx, "memory:patients", &stream, err);
 *     kn_spec_set_texts(spec, "input", (const char *const[]){"memory:patients"}, 1, "input", err);
 *     kn_spec_set_texts(spec, "output", (const char *const[]){"memory:out"}, 1, "output", err);
 *     ... kn_anonymize(&result, ctx, spec, NULL, err) ...
 *     kn_memory_get_arrow(&stream, ctx, "memory:out", NULL, err);
 *
 * Contents count against the context's memory limit, except a producer's Arrow batches, which still belong to the
 * producer. Names belong to a context: other contexts do not see them, and they end with it, or with the call that is
 * running then. Only one thread at a time may use them, and they must not be removed or cleared while another
 * thread's call is running.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KANON_MEMORY_H
#define KANON_MEMORY_H

#include <kanon/arrow.h>

#ifdef __cplusplus
extern "C" {
#endif

/* From now on "memory:NAME" refers to memory, also as an output. The functions that put something there call it
 * themselves; without it, a context treats such names as file names. */
KN_API KN_CHECK kn_status kn_memory_enable(kn_context *ctx, kn_error *err);

/* Copies bytes to a name: a CSV file, a hierarchy, records, a release file, compressed or not. Replaces what had that
 * name. KN_USAGE: not "memory:" and a name. */
KN_API KN_CHECK kn_status kn_memory_put(kn_context *ctx, const char *name, const void *bytes, size_t size, kn_error *err);

/* Keeps the batches of a stream, without copying them, as a table that every function that reads CSV files can read.
 * It is read as the CSV file with the same cells would be (docs/arrow.md). `stream` is consumed as by
 * kn_table_import_arrow; the batches are released when the name is removed, and must not change until then. */
KN_API KN_CHECK kn_status kn_memory_put_arrow(kn_context *ctx, const char *name, struct ArrowArrayStream *stream,
                                              kn_error *err);

/* The same for a table, whose columns are copied: it may be freed. */
KN_API KN_CHECK kn_status kn_memory_put_table(kn_context *ctx, const char *name, const kn_table *table, kn_error *err);

/* The bytes of a name, valid until it is removed or replaced. KN_INPUT: there is no such name, or it holds a table,
 * such as a release as columns. */
KN_API KN_CHECK kn_status kn_memory_get(const void **bytes, size_t *size, kn_context *ctx, const char *name, kn_error *err);

/* A table: a released one, another that holds batches, or any CSV file in memory, as a stream; its last owner calls
 * its release. Without options the existing batches are exported, and nothing is copied: stream, schemas and arrays
 * keep them alive, even when the name or the context ends. With options, and for CSV files, the table is read and
 * exported as by kn_table_export_arrow. In a release as columns texts are dictionaries with indices of 8, 16 or 32
 * bits; columns in which every cell is a whole number, a date or a number as Arrow's types spell it are int64, date32
 * or double; a missing cell is null. */
KN_API KN_CHECK kn_status kn_memory_get_arrow(struct ArrowArrayStream *out, kn_context *ctx, const char *name,
                                              const kn_arrow_export_options *options, kn_error *err);

/* Names in byte order: the first after `after` (NULL: the first of all) that begins with `prefix`; NULL: there is
 * none. Valid as long as what it names. */
KN_API const char *kn_memory_next(kn_context *ctx, const char *prefix, const char *after);

/* Removes a name and what it holds, if it exists. */
KN_API void kn_memory_remove(kn_context *ctx, const char *name);

/* Removes all names; the context is then as if it never had any. kn_context_free does this too. */
KN_API void kn_memory_clear(kn_context *ctx);

#ifdef __cplusplus
}
#endif

#endif
