/* lists.h: --list-methods, --list-models and --list-metrics, the same in every command that has them. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_LISTS_H
#define CLI_LISTS_H

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

/* The privacy models that --require takes, as text: "k, l-diversity (kind=distinct, entropy or recursive), ..."; free
 * it. */
char *cli_model_names(bool release);

#endif
