/* dependencies.h: what the files of `kanon dependencies` share. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_DEPENDENCIES_H
#define CLI_DEPENDENCIES_H

#include <kanon/dependencies.h>

#include "cli.h"

/* The question and its answers. */
typedef struct cli_dependency_answers {
    cli_common           common;
    const kn_table      *table;
    int                  given_count; /* to be checked, in the order given */
    kn_dependency      **given;
    kn_dependency_check *checks;
    const char          *error; /* of the discovery, as written; NULL: exact */
    kn_discovery        *discovery; /* NULL: not asked for */
    kn_dependency_list  *found;     /* what it found */
    int64_t              each_count; /* with exceptions: each by itself, without constants */
    kn_dependency      **each;
    bool                 covered;   /* --cover */
    cli_list             closure_of;
    kn_name_list        *closure; /* NULL: not asked for */
    kn_dependency_list  *cover;   /* with --cover: of the functional dependencies below */
    /* What holds: given and found. */
    int                   held_count;
    const kn_dependency **held;
} cli_dependency_answers;

void cli_dependencies_print_text(const cli_dependency_answers *d);

#endif
