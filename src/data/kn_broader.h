/* kn_broader.h: the broader rows that a release adds to a reference, and the hierarchy that they are.
 *
 * A reference (products, cities, tracks) says nothing about persons: it is released as it is. Rows that refer to it show its
 * keys; to say less, they refer to a broader row, which stands for several rows of the reference and shows only what all of
 * these share. Which groups of rows there are depends on the reference alone: rows with the same value of each of its `groups`,
 * narrowest first; where the last of these is a link to another reference, then rows whose target is below the same broader row
 * there (tracks of one album, of one artist). The last broader row stands for any row, or none, and shows nothing.
 *
 * Groups of one row and groups with the same rows as a narrower one are left out. The others are numbered by their first row in
 * the order of keys, then by size; their keys are the numbers after the largest key, or *1, *2, ... where keys are no numbers.
 *
 * Where no rows may be added (broader: labels), or a key has several columns, the groups are the same, and a label says what the rows
 * of one share: "artist: Jones", "album.artist: Jones" by a link, "*" for everything.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_BROADER_H
#define KN_BROADER_H

#include "kn_arena.h"
#include "kn_database.h"

typedef enum kn_reference_keys { KN_REFERENCE_NUMBERS, KN_REFERENCE_UUIDS, KN_REFERENCE_TEXTS } kn_reference_keys;

typedef struct kn_broader {
    kn_arena          arena;
    kn_reference_keys kind;
    uint32_t          rows;  /* of the reference                                                                 */
    uint32_t          count; /* of the broader rows; the last is that of everything                              */
    uint32_t          added; /* of these that a release adds: the last only where persons' rows refer to it        */
    bool              wanted; /* a release adds them                                                              */
    uint32_t         *above; /* per row, then per broader row: the broader row above; of the last: KN_ROW_NONE   */
    kn_string        *keys;  /* per broader row                                                                  */
    kn_string        *labels; /* per broader row                                                                 */
    kn_string        *cells; /* per broader row, column by column; data NULL: missing. In the table or the arena */
} kn_broader;

void kn_broader_free(kn_broader *broader); /* NULL is fine */

/* Adds the broader rows of every reference that a table of persons refers to, or a reference with such rows does. To be called
 * once the columns that are left out are known. KN_INPUT: groups that do not become broader, or are left out. */
KN_CHECK kn_status kn_references_widen(kn_database *db, kn_error *err);

/* The foreign key of a column to a reference; NULL: none. */
const kn_foreign_key *kn_reference_link(const kn_database_table *table, int column);

/* NAME and the ending, with as many underscores behind them as make it the name of no column. *out is freed by the caller. */
KN_CHECK kn_status kn_table_new_name(char **out, kn_context *ctx, const kn_table *table, const char *name,
                                     const char *ending, kn_error *err);

/* For the column of a quasi-identifier, the first of several: makes a key of several columns one (kn_tuple.h), and names the
 * column of its labels where it has them. */
KN_CHECK kn_status kn_reference_prepare(kn_database *db, int table, int column, kn_error *err);

/* The hierarchy of a column that refers to a reference, bound to it. Of several columns: of the first, once it holds all. KN_INPUT: a value is no key of the reference. */
KN_CHECK kn_status kn_reference_hierarchy(kn_hierarchy **out, const kn_database *db, int table, int column, kn_error *err);

/* Of a reference: is this column copied? */
static inline bool kn_reference_copied(const kn_database_column *column)
{
    return !column->old_key && !(column->has_role && column->role == KN_ROLE_IDENTIFIER);
}

#endif
