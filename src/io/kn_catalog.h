/* kn_catalog.h: what a source declares about its tables before they are read: names, types and keys, as texts.
 *
 * A source fills a catalog (kn_cells.h); readers override it by the user's declarations. Everything in a catalog is
 * in its arena.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_CATALOG_H
#define KN_CATALOG_H

#include <kanon/database.h>

#include "kn_arena.h"

typedef struct kn_catalog_column {
    const char *name;
    const char *declared; /* NULL: no type is declared                                */
    bool        not_null;
    bool        text;   /* declared as text: never inferred to be something else      */
    bool        joined; /* part of a key that joins tables, or of a primary key       */
    bool        old_key; /* refers to rows of persons by a foreign key that is left out */
    bool        unread;  /* nobody looks at its cells: a source gives none, all are missing */
} kn_catalog_column;

typedef struct kn_catalog_link {
    const char  *target;
    int          count;
    const char **columns;
    const char **target_columns; /* entries NULL: the target's key */
} kn_catalog_link;

typedef struct kn_catalog_table {
    const char        *name;
    int                column_count;
    kn_catalog_column *columns;
    int                key_count;
    const char       **key;
    int                link_count;
    kn_catalog_link   *links;
    bool               key_left_out; /* kn_database_table */
} kn_catalog_table;

typedef struct kn_catalog {
    kn_context       *ctx;
    kn_arena          arena;
    int               table_count;
    kn_catalog_table *tables;
} kn_catalog;

void kn_catalog_init(kn_catalog *catalog, kn_context *ctx);
void kn_catalog_free(kn_catalog *catalog);

/* Each returns the index of what was added, or -1 when memory runs out. Texts are copied. */
KN_CHECK int kn_catalog_add_table(kn_catalog *catalog, const char *name);
KN_CHECK int kn_catalog_add_column(kn_catalog *catalog, int table, const char *name, const char *declared, bool not_null,
                                   bool text);
KN_CHECK int kn_catalog_add_key(kn_catalog *catalog, int table, const char *column);
KN_CHECK int kn_catalog_add_link(kn_catalog *catalog, int table, const char *target);
KN_CHECK int kn_catalog_add_link_column(kn_catalog *catalog, int table, int link, const char *column,
                                        const char *target_column);

/* -1: none. */
int kn_catalog_find(const kn_catalog *catalog, const char *table);
int kn_catalog_find_column(const kn_catalog_table *table, const char *column);

/* Was this table requested? (All are if the options name none.) */
bool kn_catalog_wanted(const kn_database_options *options, const char *table);

#endif
