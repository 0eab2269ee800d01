/* kn_table_name.h: names of tables that are part of something larger.
 *
 *     postgresql://host/db#schema.table      sqlite:FILE#table      FILE.xlsx#Sheet
 *     postgresql://host/db?query=SELECT ...  sqlite:FILE?query=SELECT ...
 *     duckdb:FILE#table                      duckdb:FILE?query=SELECT ...   duckdb:?query=SELECT ...
 *
 * The mark is the last '#' of the name, but not one within a password; a query goes from "query=" to the end of the
 * name, as it is, whatever characters it has. A table of a SQLite file whose name has a dot or a slash is written in
 * double quotes: "sqlite:a#b.db" is a file.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_TABLE_NAME_H
#define KN_TABLE_NAME_H

#include <kanon/context.h>

#include "kn_string.h"

typedef struct kn_name_parts {
    kn_string source; /* everything before the mark                    */
    kn_string table;  /* behind '#'; data NULL: there is no '#'        */
    kn_string query;  /* behind "?query="; data NULL: there is none    */
} kn_name_parts;

/* Splits a name; nothing is copied, and a name without a mark is all source. It does not look at what the source is. */
kn_name_parts kn_table_name_split(const char *name);

typedef enum kn_table_kind {
    KN_TABLE_TEXT = 0, /* bytes: a CSV file, a stream; or no table at all (a database, a folder) */
    KN_TABLE_SQLITE,
    KN_TABLE_SERVER,
    KN_TABLE_WORKBOOK,  /* .xlsx, .xlsm                                    */
    KN_TABLE_STATISTICS /* .sav .zsav .por .dta .sas7bdat .xpt             */
} kn_table_kind;

/* By the name alone. On a server "#schema" is a database and "#schema.table" a table. */
kn_table_kind kn_table_kind_of(const char *name);

/* The file that a table is in, of a name of any kind: "FILE" of "sqlite:FILE#table" and of "FILE.xlsx#Sheet", all of
 * another name. Size 0: it is a server's. */
kn_string kn_table_file(const char *name);

/* "schema.table" → its two names; each may be written in double quotes, as in SQL. false: there is no dot. Either ends
 * within `text`; quotes are still in them (kn_table_unquote). */
bool kn_table_parts(kn_string text, kn_string *schema, kn_string *table);

/* A name without its quotes, freed by kn_free; NULL: out of memory. */
char *kn_table_unquote(kn_context *ctx, kn_string name);

#endif
