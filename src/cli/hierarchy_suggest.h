/* hierarchy_suggest.h: `kanon hierarchy suggest`, an action of cmd_hierarchy.c. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_HIERARCHY_SUGGEST_H
#define CLI_HIERARCHY_SUGGEST_H

#include "cli.h"

extern const cli_command cli_hierarchy_suggest;

#endif
