/* requirement.h: privacy models as people write them on the command line: NAME:key=value,key=value. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_REQUIREMENT_H
#define CLI_REQUIREMENT_H

#include <kanon/models.h>

#include "cli.h"

/* A parsed `--require`. `model` points into `text`; free it with cli_requirement_free. */
typedef struct cli_requirement {
    char    *text;
    kn_model model;
} cli_requirement;

/* Reads "l-diversity:kind=distinct,l=3,attribute=disease". `release`: accepts also the models for releases only
 * (k-map, delta-presence, max-risk, average-risk). No attribute is filled in if none is named. Returns 0, or the exit
 * code after reporting what is wrong; free it in both cases. */
int  cli_requirement_read(cli_requirement *out, const cli_command *command, const char *text, bool release);
void cli_requirement_free(cli_requirement *requirement);

/* Is it about one sensitive column? */
bool cli_requirement_of_column(kn_model_kind kind);

#endif
