/* kn_feed.h: cells, row by row → a table; the tables of a source → a database. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_FEED_H
#define KN_FEED_H

#include "kn_builder.h"
#include "kn_cells.h"
#include "kn_database.h"

/* Reads all tables of a source: the user's declarations override its catalog, each table is read with the resulting
 * types (keys are text), and the keys are added to the database. `unread` may be NULL. */
KN_CHECK kn_status kn_database_read_cells(kn_database **out, const kn_cells *cells, const kn_database_options *options,
                                          const kn_database_unread *unread, kn_error *err);

/* ---- Rows → table ---- */

/* Takes cells row by row, or column by column, front to back. */
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

/* The next cell, as a sink of cells takes it; NULL data: missing. KN_INPUT: it is not UTF-8. */
KN_CHECK kn_status kn_feed_cell(void *feed, kn_string text, kn_error *err);

/* All rows of a table of a source. */
KN_CHECK kn_status kn_feed_all(kn_feed *feed, const kn_cells *cells, kn_error *err);

/* Makes the table and ends the feed, even on failure. */
KN_CHECK kn_status kn_feed_finish(kn_table **out, kn_feed *feed, const kn_builder_type *types,
                                  const kn_database_options *options, kn_error *err);
void               kn_feed_abort(kn_feed *feed);

#endif
