/* requirement.h: privacy models as people write them on the command line: NAME:key=value,key=value. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_REQUIREMENT_H
#define CLI_REQUIREMENT_H

#include <kanon/models.h>

#include "cli.h"

/* What `--require` said. `text` owns what `model` points into; free it with cli_requirement_free. */
typedef struct cli_requirement {
    char    *text;
    kn_model model;
} cli_requirement;

/* Reads "l-diversity:kind=distinct,l=3,attribute=disease". `release`: also the models of releases alone (k-map,
 * delta-presence, max-risk, average-risk). No attribute is filled in where none is named. 0, or the exit code after
 * saying what is wrong; free it in both cases. */
int  cli_requirement_read(cli_requirement *out, const cli_command *command, const char *text, bool release);
void cli_requirement_free(cli_requirement *requirement);

/* Is it of one sensitive column? */
bool cli_requirement_of_column(kn_model_kind kind);

#endif
