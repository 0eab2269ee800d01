/* advise.h: the state of a run of `kanon advise`, and what it shares with `kanon anonymize --method auto`. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_ADVISE_H
#define CLI_ADVISE_H

#include <kanon/advise.h>

#include "anonymize.h"

typedef struct cli_advising {
    int    argc; /* the arguments as given */
    char **argv;
    bool   has_output; /* the release file or an option says where the release goes */
} cli_advising;

/* For --method auto: prints a line with the methods that found a release and their losses, the chosen one first.
 * NULL: nothing. */
void cli_advice_print(const cli_value *advice, const char *chosen, FILE *out);

#endif
