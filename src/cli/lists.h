/* lists.h: --list-methods, --list-models and --list-metrics, the same in every command that has them. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_LISTS_H
#define CLI_LISTS_H

#include <kanon/catalogue.h>

#include "cli.h"

#define CLI_LIST_METHODS(common) {"--list-methods", CLI_FLAG, &(common).list_methods}
#define CLI_LIST_MODELS(common) {"--list-models", CLI_FLAG, &(common).list_models}
#define CLI_LIST_METRICS(common) {"--list-metrics", CLI_FLAG, &(common).list_metrics}

#define CLI_LIST_METHODS_HELP                                                                                          \
    "      --list-methods       every method: for which data, what it keeps, paper, cost, when\n"
#define CLI_LIST_MODELS_HELP "      --list-models        every privacy model: how it is written, what it says, when\n"
#define CLI_LIST_METRICS_HELP "      --list-metrics       every metric: of which data, what it says, when\n"

/* Prints the lists that were asked for, as text or JSON; false: none was. cli_parse calls it, so that a command needs
 * only the options above and their help. */
bool cli_lists_print(const cli_common *common);

/* What `kanon help WORD` knows beside commands and topics: the names of methods, models and metrics. */
enum { CLI_ENTRIES = KN_CATALOGUE_METHODS + KN_CATALOGUE_MODELS + KN_CATALOGUE_METRICS };
const char *cli_entry_name(int index); /* NULL: no more */

/* Prints what the catalogue says of all that have this name; false: nothing has. Upper case does not matter. */
bool cli_entry_print(const char *word);

/* The privacy models that --require takes, as text: "k, l-diversity (kind=distinct, entropy or recursive), ..."; free
 * it. */
char *cli_model_names(bool release);

#endif
