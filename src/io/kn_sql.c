/* kn_sql.c: statements that SQLite and PostgreSQL understand alike. Interface: kn_sql.h. Names may hold any
 * character: they are quoted, and quotes in them are doubled.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kn_sql.h"

#include <string.h>

void kn_sql_name(kn_buffer *sql, const char *name)
{
    kn_buffer_char(sql, '"');
    kn_buffer_doubled(sql, name, strlen(name));
    kn_buffer_char(sql, '"');
}

void kn_sql_table(kn_buffer *sql, const char *schema, const char *table)
{
    if (schema) {
        kn_sql_name(sql, schema);
        kn_buffer_char(sql, '.');
    }
    kn_sql_name(sql, table);
}

void kn_sql_columns(kn_buffer *sql, const char *verb, const kn_catalog_table *table)
{
    for (int c = 0; c < table->column_count; c++) {
        kn_buffer_add(sql, c ? ", " : verb);
        if (table->columns[c].unread)
            kn_buffer_add(sql, "NULL");
        else
            kn_sql_name(sql, table->columns[c].name);
    }
}

/* A key: the word before it and its columns in brackets. */
static void add_key(kn_buffer *sql, const char *word, const kn_sink_table *t, const int *columns, int count)
{
    kn_buffer_add(sql, word);
    for (int i = 0; i < count; i++) {
        kn_buffer_add(sql, i ? ", " : " (");
        kn_sql_name(sql, t->columns[columns[i]].name);
    }
    kn_buffer_char(sql, ')');
}

static void add_link(kn_buffer *sql, const char *schema, const kn_sink_table *t, const kn_sink_link *link)
{
    add_key(sql, ", FOREIGN KEY", t, link->columns, link->count);
    kn_buffer_add(sql, " REFERENCES ");
    kn_sql_table(sql, schema, link->target);
    for (int i = 0; i < link->count; i++) {
        kn_buffer_add(sql, i ? ", " : " (");
        kn_sql_name(sql, link->target_columns[i]);
    }
    kn_buffer_char(sql, ')');
}

void kn_sql_create_table(kn_buffer *sql, const char *schema, const kn_sink_table *t, kn_sql_type_fn add_type)
{
    kn_buffer_add(sql, "CREATE TABLE ");
    kn_sql_table(sql, schema, t->name);
    for (int c = 0; c < t->column_count; c++) {
        kn_buffer_add(sql, c ? ", " : " (");
        kn_sql_name(sql, t->columns[c].name);
        add_type(sql, &t->columns[c]);
        if (t->columns[c].not_null) kn_buffer_add(sql, " NOT NULL");
    }
    if (t->primary_count > 0) add_key(sql, ", PRIMARY KEY", t, t->primary, t->primary_count);
    for (int u = 0; u < t->unique_count; u++) add_key(sql, ", UNIQUE", t, t->unique[u], t->unique_sizes[u]);
    if (t->link.count > 0) add_link(sql, schema, t, &t->link);
    for (int i = 0; i < t->further_count; i++) add_link(sql, schema, t, &t->further[i]);
    kn_buffer_char(sql, ')');
}

void kn_sql_insert(kn_buffer *sql, const char *table, int columns)
{
    kn_buffer_add(sql, "INSERT INTO ");
    kn_sql_name(sql, table);
    for (int c = 0; c < columns; c++) kn_buffer_add(sql, c ? ", ?" : " VALUES (?");
    kn_buffer_char(sql, ')');
}
