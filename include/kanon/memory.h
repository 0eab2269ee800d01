/* kanon/memory.h: inputs and outputs that are in memory instead of files.
 *
 * A context may hold bytes and tables under names of its own, "memory:NAME". Once it does, every function of the library that
 * takes the name of a file takes such a name: inputs, hierarchies, populations and queries of a spec, a folder of tables
 * ("memory:NAME/" for "memory:NAME/patients.csv" and its like), a file of records, a release, its row map, a report. What a
 * release writes beside itself gets its name in memory too: "memory:out.certificate.json", ... All of it appears at once, after
 * it was verified; nothing is written to a disk.
 *
 * A table that is released to a name without an ending ("memory:out") comes out as columns: Arrow batches that are made straight from
 * what is released, verified as they are and handed over as they are. Released to a name with one ("memory:out.csv") it is the bytes
 * of that file. Cells, certificate and public report are the same; the digest of columns is that of the CSV file with the same cells
 * (commas, LF, quotes only where they must be).
 *
 *     kn_memory_put_arrow(ctx, "memory:patients", &stream, err);
 *     kn_spec_set_texts(spec, "input", (const char *const[]){"memory:patients"}, 1, "input", err);
 *     kn_spec_set_texts(spec, "output", (const char *const[]){"memory:out"}, 1, "output", err);
 *     ... kn_anonymize(&result, ctx, spec, NULL, err) ...
 *     kn_memory_get_arrow(&stream, ctx, "memory:out", NULL, err);
 *
 * What is held counts against the context's memory limit, the Arrow batches of a producer excepted: they stay the producer's. Names are the
 * context's own: another context does not see them, and they end with it, or with the call that is under way then. They are for
 * one thread at a time, and must not be removed or cleared while a call of another thread is under way.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KANON_MEMORY_H
#define KANON_MEMORY_H

#include <kanon/arrow.h>

#ifdef __cplusplus
extern "C" {
#endif

/* From now on "memory:NAME" names what is in memory, also as an output. Whatever puts something there does it by itself; a
 * context that was never asked knows no such names, and takes them for names of files. */
KN_API KN_CHECK kn_status kn_memory_enable(kn_context *ctx, kn_error *err);

/* Copies bytes there: a CSV file, a hierarchy, records, a release file, compressed or not. What had that name before ends.
 * KN_USAGE: not "memory:" and a name. */
KN_API KN_CHECK kn_status kn_memory_put(kn_context *ctx, const char *name, const void *bytes, size_t size, kn_error *err);

/* Keeps the batches of a stream, without copying them, as a table that every function can read which reads CSV files. It is
 * read as the CSV file with the same cells would be (docs/arrow.md). `stream` is consumed as by kn_table_import_arrow; the batches
 * are released when the name ends, and must not change meanwhile. */
KN_API KN_CHECK kn_status kn_memory_put_arrow(kn_context *ctx, const char *name, struct ArrowArrayStream *stream,
                                              kn_error *err);

/* The same of a table, whose columns are copied: it may be freed. */
KN_API KN_CHECK kn_status kn_memory_put_table(kn_context *ctx, const char *name, const kn_table *table, kn_error *err);

/* The bytes of a name, which stay until it ends or is given to something else. KN_INPUT: there is none; or it holds a table, such
 * as a release as columns. */
KN_API KN_CHECK kn_status kn_memory_get(const void **bytes, size_t *size, kn_context *ctx, const char *name, kn_error *err);

/* A table: a released one, another that holds batches, or any CSV file in memory, as a stream; whoever ends up with it calls its
 * release. Without options the batches that are there are handed out, and nothing is copied: stream, schemas and arrays keep them,
 * also when the name or the context ends. With options, and of CSV files, the table is read and exported as kn_table_export_arrow
 * does it. In a release as columns texts are dictionaries with indices of 8, 16 or 32 bits; columns in which every cell is a whole
 * number, a date or a number as Arrow's types spell it are int64, date32 or double; a missing cell is null. */
KN_API KN_CHECK kn_status kn_memory_get_arrow(struct ArrowArrayStream *out, kn_context *ctx, const char *name,
                                              const kn_arrow_export_options *options, kn_error *err);

/* Names in the order of their bytes: the first behind `after` (NULL: the first of all) that begins with `prefix`; NULL: there
 * is none. It stays as long as what it names. */
KN_API const char *kn_memory_next(kn_context *ctx, const char *prefix, const char *after);

/* Ends a name and what it holds; one that is not there is fine. */
KN_API void kn_memory_remove(kn_context *ctx, const char *name);

/* Ends all names; the context is then as one that never had any. kn_context_free does it by itself. */
KN_API void kn_memory_clear(kn_context *ctx);

#ifdef __cplusplus
}
#endif

#endif
