/* kn_catalog.h: what a source of tables says of them before they are read, and the way their rows become tables.
 *
 * A source fills a catalog; what the user says of tables is laid over it; then each table is read with the types that
 * follow (keys are text) and the keys are put into the database. Everything in a catalog lies in its arena.
 */
#ifndef KN_CATALOG_H
#define KN_CATALOG_H

#include "kn_arena.h"
#include "kn_builder.h"
#include "kn_database.h"

typedef struct kn_catalog_column {
    const char *name;
    const char *declared; /* NULL: no type is declared                                */
    bool        not_null;
    bool        text;   /* declared as text: never inferred to be something else      */
    bool        joined; /* part of a key that joins tables, or of a primary key       */
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
} kn_catalog_table;

typedef struct kn_catalog {
    kn_context       *ctx;
    kn_arena          arena;
    int               table_count;
    kn_catalog_table *tables;
} kn_catalog;

void kn_catalog_init(kn_catalog *catalog, kn_context *ctx);
void kn_catalog_free(kn_catalog *catalog);

/* Each returns the index of what was added, or -1 when memory is out. Texts are copied. */
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

/* ---- A source ---- */

/* Where tables come from. `list` fills the catalog with all tables, or those of the options; `read` reads one with these
 * types (one per column). */
typedef struct kn_database_source {
    void       *state;
    const char *name; /* for messages; no password in it */
    kn_status (*list)(void *state, kn_catalog *catalog, const kn_database_options *options, kn_error *err);
    kn_status (*read)(void *state, kn_table **out, const kn_catalog_table *table, const kn_builder_type *types,
                      const kn_database_options *options, kn_error *err);
} kn_database_source;

/* Reads all tables of a source. */
KN_CHECK kn_status kn_database_read_source(kn_database **out, kn_context *ctx, const kn_database_source *source,
                                           const kn_database_options *options, kn_error *err);

/* Was this table asked for? (All are, where the options name none.) */
bool kn_catalog_wanted(const kn_database_options *options, const char *table);

/* ---- Rows → table ---- */

/* Takes cells row by row, front to back. */
typedef struct kn_feed {
    kn_context *ctx;
    kn_builder *builder;
    const char *source, *table; /* for messages */
    const kn_catalog_table *columns;
    int         column_count, column; /* of the next cell */
    int64_t     rows;                 /* finished            */
    int64_t     batch;                /* of them, not yet written */
    uint32_t   *ids;
} kn_feed;

KN_CHECK kn_status kn_feed_open(kn_feed *feed, kn_context *ctx, const char *source, const kn_catalog_table *table,
                                kn_error *err);

/* The next cell; NULL data: missing. KN_INPUT where it is not UTF-8. */
KN_CHECK kn_status kn_feed_cell(kn_feed *feed, kn_string text, kn_error *err);

/* Makes the table; the feed is ended, also on failure. */
KN_CHECK kn_status kn_feed_finish(kn_table **out, kn_feed *feed, const kn_builder_type *types,
                                  const kn_database_options *options, kn_error *err);
void               kn_feed_abort(kn_feed *feed);

#endif
