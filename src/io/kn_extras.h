/* kn_extras.h: what a release holds besides its cells or nodes: whatever kanon's own sinks do not write.
 *
 * SQLite: objects other than plain tables and their keys, definitions with more than names, types and keys, free
 * pages, numbers in the header, files beside it; and finally any byte that differs from a fresh file with the same
 * cells. PostgreSQL: anything in the schema but tables, their keys and columns of the server's own types. Folders:
 * any entry but the tables' files and the certificate. Tree records: any difference from what is written for them.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_EXTRAS_H
#define KN_EXTRAS_H

#include <kanon/records.h>

#include "kn_catalog.h"

/* Receives a sentence for each kind of thing that was found, without the names of what was found, which may be data. */
typedef void (*kn_extras_fn)(void *arg, const char *sentence);

/* Checks the file that released records were read from: is it written as kanon writes them? `original` and `classes`
 * as for reading: they determine the order of siblings. */
KN_CHECK kn_status kn_records_extras(kn_context *ctx, const char *path, const kn_records *release,
                                     const kn_records *original, const kn_spec_class *classes, int class_count,
                                     kn_extras_fn tell, void *arg, kn_error *err);

/* Databases (called through kn_cells.h). `original`: whose declared types a release may have. KN_IO, KN_INPUT: it
 * cannot be read. */
KN_CHECK kn_status kn_sqlite_extras(kn_context *ctx, const char *path, const kn_catalog *original, kn_extras_fn tell,
                                    void *arg, kn_error *err);

#endif
