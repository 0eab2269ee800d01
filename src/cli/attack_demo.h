/* attack_demo.h: `kanon attack --demo`. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_ATTACK_DEMO_H
#define CLI_ATTACK_DEMO_H

#include "cli.h"

/* Anonymizes the database that a release file describes (`database` replaces its input, if given) in three ways, in
 * memory, attacks each and prints the findings; returns the exit code. `k` 0: the release file's. */
int cli_attack_demo(const cli_common *common, const char *spec_path, const char *database, int64_t k);

#endif
