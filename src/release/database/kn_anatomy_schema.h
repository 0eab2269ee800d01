/* kn_anatomy_schema.h: the tables and columns of an anatomized release. kn_anatomy.h describes their names. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_ANATOMY_SCHEMA_H
#define KN_ANATOMY_SCHEMA_H

#include "kn_arena.h"
#include "kn_database.h"

/* The sensitive column of the original that a list holds. */
typedef struct kn_anatomy_list_of {
    int table, column;
} kn_anatomy_list_of;

typedef struct kn_anatomy_schema {
    kn_context         *ctx;
    kn_arena            arena; /* of names and arrays */
    kn_database        *db; /* no rows: the original's tables, then the lists                                       */
    int                 tables;
    int               **column;  /* per table of the original and column of the release: the original's; -1: GROUP  */
    bool               *grouped; /* per table of the original: does it have a sensitive column?                     */
    int                 list_count;
    kn_anatomy_list_of *lists;
    const char         *group_name, *count_name;
} kn_anatomy_schema;

/* To be freed even on failure. */
KN_CHECK kn_status kn_anatomy_schema_make(kn_anatomy_schema *out, kn_context *ctx, const kn_database *original,
                                          kn_error *err);
void               kn_anatomy_schema_free(kn_anatomy_schema *schema);

#endif
