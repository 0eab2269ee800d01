/* kn_extras.h: what a release holds beside its cells or nodes: whatever kanon's own sinks do not write.
 *
 * SQLite: other objects than plain tables and their keys, definitions with more in them than names, types and keys, free
 * pages, numbers in the header, files beside it; and last any byte that a fresh file with the same cells has not.
 * PostgreSQL: anything in the schema but tables, their keys and columns of the server's own types. Folders: any entry but
 * the tables' files and the certificate. Tree records: any difference from what is written for them.
 */
#ifndef KN_EXTRAS_H
#define KN_EXTRAS_H

#include <kanon/database.h>
#include <kanon/records.h>

/* Is told a sentence for each kind of thing that was found: without the names of what was found, which may be data. */
typedef void (*kn_extras_fn)(void *arg, const char *sentence);

/* Looks at a database by its name (kn_database_read). `original`: whose declared types a release may have. KN_IO, KN_INPUT: it
 * cannot be read. */
KN_CHECK kn_status kn_database_extras(kn_context *ctx, const char *name, const kn_database *original, kn_extras_fn tell,
                                      void *arg, kn_error *err);

/* The file of a table in a folder, to be freed; NULL in *out: the database is no folder, or has no such file. */
KN_CHECK kn_status kn_database_table_file(char **out, kn_context *ctx, const char *name, const char *table, kn_error *err);

/* Looks at the file that released records were read from: is it written as a release of these is? `original` and `classes` as for
 * reading: they say in which order siblings stand. */
KN_CHECK kn_status kn_records_extras(kn_context *ctx, const char *path, const kn_records *release,
                                     const kn_records *original, const kn_spec_class *classes, int class_count,
                                     kn_extras_fn tell, void *arg, kn_error *err);

/* Each kind by itself. */
KN_CHECK kn_status kn_sqlite_extras(kn_context *ctx, const char *path, const kn_database *original, kn_extras_fn tell,
                                    void *arg, kn_error *err);
KN_CHECK kn_status kn_postgres_extras(kn_context *ctx, const char *name, kn_extras_fn tell, void *arg, kn_error *err);
KN_CHECK kn_status kn_folder_extras(kn_context *ctx, const char *path, kn_extras_fn tell, void *arg, kn_error *err);

#endif
