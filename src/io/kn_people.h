/* kn_people.h: the population of a database: everybody who may be in it, as persons with their rows.
 *
 * It has the table of persons and may lack others, of which nothing is then known. A table that it has has all quasi-identifiers.
 * Hierarchies that are built cover its values too, as those of a table and its population do.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_PEOPLE_H
#define KN_PEOPLE_H

#include <kanon/spec.h>

#include "kn_arena.h"
#include "kn_forest.h"

typedef struct kn_people {
    kn_arena     arena;
    kn_database *db;
    kn_forest   *forest;
    int         *tables; /* per table: its number in the database that is released                        */
    int          width;  /* the most quasi-identifiers of a table, at least 1                             */
    uint32_t   **leaves; /* table × width + place among its quasi-identifiers, which have the order of the other's: the
                            leaf of each code in the hierarchy of that column; freed with the rest        */
} kn_people;

/* Reads the spec's population; `empty`: an empty text is missing. *out NULL: it names none. */
KN_CHECK kn_status kn_people_read(kn_people **out, kn_context *ctx, const kn_spec *spec, bool empty, kn_error *err);
void               kn_people_free(kn_people *people); /* NULL is fine */

/* The population's column of a table's column; NULL: it has none, or there is no population. */
const kn_column *kn_people_column(const kn_people *people, const char *table, const char *column);

/* Makes the hierarchies of the database's quasi-identifiers over the values of both. Roles are set, no forest is built. KN_INPUT:
 * the population lacks a column, or one refers to a reference. */
KN_CHECK kn_status kn_people_widen(kn_people *people, kn_database *db, const kn_spec *spec, kn_error *err);

#endif
