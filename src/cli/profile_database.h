/* profile_database.h: `kanon profile DATABASE`. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_PROFILE_DATABASE_H
#define CLI_PROFILE_DATABASE_H

#include "cli.h"

typedef struct cli_profile_database_options {
    const char *entity; /* the table of persons; NULL: guess              */
    const char *svg;    /* a picture; NULL: none                          */
    const char *spec;   /* a release file with the keys; NULL: none       */
} cli_profile_database_options;

/* Reads the database, prints its schema and what breaks the rules; returns the exit code. */
int cli_profile_database(const cli_common *common, const cli_table_options *input,
                         const cli_profile_database_options *options, const char *name);

#endif
