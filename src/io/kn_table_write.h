/* kn_table_write.h: a release that becomes one table of a server or of a SQLite file.
 *
 *     kn_table_writer_open(&table, &writer, ctx, target, &options, err);   // connects; nothing is changed yet
 *     kn_recode_write(kn_table_writer_output(table), ...);                 // CSV, with commas and the names first
 *     kn_table_writer_finish(table, err);                                  // readable, by kn_output_temporary's name
 *     kn_database_writer_commit(writer, err);                              // or kn_set_database and its commit
 *
 * All in one transaction, which stays open until the commit: a connection that ends before leaves nothing. An empty
 * cell is NULL. On a server a column is bigint if all its cells are integers, numeric if all are numbers, else text; in
 * a SQLite file integers are integers, cell by cell.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_TABLE_WRITE_H
#define KN_TABLE_WRITE_H

#include "kn_database_write.h"
#include "kn_output.h"
#include "kn_table_stream.h"

typedef struct kn_table_writer kn_table_writer;

typedef struct kn_table_target {
    bool               replace; /* a table that exists already */
    const char *const *inputs;  /* what is read: none of them is replaced */
    int                input_count;
    bool              *shared; /* set: does its file hold other tables? false on a server */
} kn_table_target;

/* The writer owns the table and ends it. KN_USAGE: a table of that name exists, or is an input. */
KN_CHECK kn_status kn_table_writer_open(kn_table_writer **out, kn_database_writer **writer, kn_context *ctx,
                                        const char *name, const kn_table_target *target, kn_error *err);

/* Where its bytes go. */
kn_output *kn_table_writer_output(const kn_table_writer *table);

/* All bytes are there. */
KN_CHECK kn_status kn_table_writer_finish(kn_table_writer *table, kn_error *err);

/* On a server: who runs statements within the transaction; NULL: it is a SQLite file. */
const kn_connection *kn_table_writer_connection(const kn_table_writer *table);

/* On a server, before any bytes: is each row repeated there as often as its last cell says, which is not written itself? */
void kn_table_writer_count(kn_table_writer *table, bool counted);

/* On a server, once it is finished: what stands behind FROM for the release. */
KN_CHECK kn_status kn_table_writer_relation(kn_buffer *to, const kn_table_writer *table, kn_error *err);

/* The sinks, and how what they wrote is read before the commit: one table and its rows. */
KN_CHECK kn_status kn_postgres_table_sink(kn_database_sink *out, kn_table_opener *opener, kn_context *ctx,
                                          const char *name, const kn_table_target *target, kn_error *err);
KN_CHECK kn_status kn_sqlite_table_sink(kn_database_sink *out, kn_table_opener *opener, kn_context *ctx,
                                        const char *name, const kn_table_target *target, kn_error *err);

#endif
