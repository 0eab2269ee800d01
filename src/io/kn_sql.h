/* kn_sql.h: statements that SQLite and PostgreSQL understand alike. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_SQL_H
#define KN_SQL_H

#include "kn_buffer.h"
#include "kn_database_write.h"

/* A name in quotes. */
void kn_sql_name(kn_buffer *sql, const char *name);

/* SCHEMA.TABLE; `schema` NULL: TABLE. */
void kn_sql_table(kn_buffer *sql, const char *schema, const char *table);

/* SELECT or another verb with its first blank, and the columns of a table. */
void kn_sql_columns(kn_buffer *sql, const char *verb, const kn_catalog_table *table);

/* Appends a column's type, with a blank before it; nothing if it has none. */
typedef void (*kn_sql_type_fn)(kn_buffer *sql, const kn_sink_column *column);

/* CREATE TABLE with its keys and the reference to its parent. */
void kn_sql_create_table(kn_buffer *sql, const char *schema, const kn_sink_table *table, kn_sql_type_fn add_type);

/* INSERT INTO TABLE VALUES (?, ...). */
void kn_sql_insert(kn_buffer *sql, const char *table, int columns);

#endif
